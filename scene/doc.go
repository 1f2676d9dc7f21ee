// Package scene declares programs for a chip and the cases to run them with: the
// CALLABLE and CASES of spec/name-map.md §2 and §5 as Go values.
//
// A [Scene] has a class name, a runtime, the kernels and the orchestration that it
// consists of, cases, the tensors that go in and the values that must come out.
// [Select] picks the cases that a command line asks for; [Selected.Run] runs one on
// a simulated chip, records what a [CallConfig] asks for, and compares.
//
// Kernels are Go functions that compute real values and tell how long that takes in
// cycles of a core's clock. Times are those of a model (docs/simulating.md).
package scene
