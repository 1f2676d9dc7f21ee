// Package ranks merges the captures of the chips of a node into one picture
// (spec/l3.md).
//
// Each chip counts cycles of its own. Where they lie on the host's clock stands in
// the host's log only: the span chip.run.runner_run of a run is a window on the
// host's clock that encloses all device work, and device_wall with its phases is a
// timeline of the device in ns. [Choose] finds the captures that belong together,
// [Choice.Plan] pairs each with a run of the log, joins its cycles to the device's
// timeline and places that in the window; the room that is left there is its slack.
// A [Plan] then gives the pictures, one after another, and what describes them all.
//
// Two passes keep memory bounded: Plan reads each capture once and keeps a few
// numbers of it; for drawing it is read again, one rank at a time.
package ranks
