// Package fanin finds what a task depends on when it is submitted
// (spec/collector.md §12.2, spec/deps.md §4.1): the dependencies that it
// declares, the creators of its arguments, and the tasks that wrote before it to
// what it uses, which a tensor map remembers.
//
// A simulated orchestrator and the replay of dep_gen use the same routine: for
// the first producers retire and the map is bounded, for the second nothing ever
// retires.
package fanin
