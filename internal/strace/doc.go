// Package strace says what host logs tell about the runs of chips: tables of their
// times, a tree of medians, whether preparations ran beside runs, and pictures of
// runs and of the hosts' threads (spec/host-log.md §5–§6).
//
// [Read] reads logs once and keeps what is asked for. What is made of them is data
// with two forms: text, to the letter of the specification, and JSON with whole
// nanoseconds, for scripts. Pictures are trace.Pictures.
//
// Times are nanoseconds of the host's monotonic clock, or for spans of the device
// of the run's device phases. Nothing places one on the axis of the other.
package strace
