// Package sim simulates a chip: a clock, clusters of one AIC and two AIV, task
// registers with two slots a core, memory, and kernels that compute real values.
// What an AICPU thread does is a program of a runtime (internal/sim/tmr) that
// runs on a [Thread].
//
// Time is virtual and counts nanoseconds. It never reads real time, so a run is
// the same on every machine, however fast. Only one thread runs at a time, the
// one whose time is least, until it has to wait for another; threads at the same
// time run in the order in which they were made. A core needs no thread: when it
// takes a task, all that will happen on it follows.
//
// Where the device waits for the host that collects its records, no virtual time
// passes.
package sim
