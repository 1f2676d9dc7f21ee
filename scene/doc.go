// Package scene declares programs for a chip and the cases to run them with: the
// CALLABLE and CASES of spec/name-map.md §2 and §5 as Go values.
//
// A [Scene] has a class name, a runtime, the kernels and the orchestration that it
// consists of, and cases. [Select] picks the cases that a command line asks for;
// [Callable.NameMap] and [Prefix] name what a run leaves behind.
package scene
