// Package aicpu is what the runtimes of a simulated chip share whose schedulers are
// AICPU threads (spec/collector.md §12.4 to §12.6, §13): clusters of cores with two
// slots each, ready queues, dispatch with its drain and early placing, polling, and
// the records of it all. A runtime adds how tasks become known, what happens when
// one has finished, and which steps an iteration of its threads has.
//
// An idle thread sleeps, and leaves the same records as one that does every
// iteration: see [Scheduler.Iterate].
package aicpu
