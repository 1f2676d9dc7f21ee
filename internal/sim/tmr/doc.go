// Package tmr is the runtime tensormap_and_ringbuffer on a simulated chip
// (spec/collector.md §12): an orchestrator on one AICPU thread submits tasks and
// finds their dependencies by what they read and write; the other threads, the
// schedulers, dispatch them to cores and resolve them when they have finished.
//
// What a thread does and in which order, and which phases it records, is that of
// spec/collector.md §12.5; how long each step takes is a row of [sim.Costs].
package tmr
