// Package parity compares a trace of ours with a stored reference trace of the
// same capture. It serves the tests only.
//
// Both pictures must be equal as multisets of events, whatever their order.
// What may differ is a fixed list of documented differences, and each of them
// is undone by a rule of this package that names it; there is no general
// leniency:
//
//   - Times are compared by start and end, within the rounding to whole
//     nanoseconds; everything else is exact.
//   - A lane is known by its process and its name. Sub-lanes, which the
//     reference numbers (and leaves partly unnamed or names twice) and we name
//     `<lane> (2)`, count as their main lane, except that the sub-lane of a
//     Scheduler View bar is specified and is compared by its number.
//   - Ids of slices and arrows are the producer's own: an arrow is compared by
//     the two slices and instants that it joins.
//   - An arrow of ours starts and ends inside its slices, and points forward in
//     time; an arrow that could not be drawn at all is left out.
//   - Sort indexes of the reference are not compared; ours must put processes
//     and lanes in the order of their numbers.
package parity

import (
	"fmt"
	"math"
)

// defaultTolerance covers the rounding of our times to whole nanoseconds, in
// microseconds.
const defaultTolerance = 0.0006

// slop covers what float64 arithmetic does to a sum of two times.
const slop = 1e-6

// sectionCap bounds the lines of one kind of difference, so that a flood of
// one kind doesn't hide the others.
const sectionCap = 10

// Options adjusts a comparison.
type Options struct {
	// Tolerance is the largest difference of two equal times, in
	// microseconds; 0 stands for 0.0006. Merged traces need 0.001.
	Tolerance float64

	// UnknownKinds accepts scheduler slices of ours for phase kinds that are
	// in no table, which the reference doesn't draw.
	UnknownKinds bool

	// LossMarks accepts bars and lanes of ours that show where records were lost,
	// which the reference doesn't draw.
	LossMarks bool

	// SkipOurOwnForm compares two reference traces: what only ours must
	// fulfil isn't asked of the second.
	SkipOurOwnForm bool
}

// Compare returns the differences between a reference trace and ours, in a
// stable order and a bounded number of lines; none means that they are equal.
func Compare(reference, ours *Trace, o Options) []string {
	if o.Tolerance == 0 {
		o.Tolerance = defaultTolerance
	}
	c := &comparison{
		Options: o,
		ref:     newSide(reference, false),
		ours:    newSide(ours, !o.SkipOurOwnForm),
	}
	c.repeated = repeatedExecutions(reference)
	c.reversed = reversedEdges(reference, c.repeated, o.Tolerance)
	if o.UnknownKinds {
		c.ours.dropUnknownKinds()
	}
	if o.LossMarks {
		c.ours.dropLossMarks()
	}

	var out []string
	out = append(out, capped("faults", c.faults())...)
	out = append(out, capped("process differences", c.processes())...)
	out = append(out, capped("lane differences", c.lanes())...)
	out = append(out, capped("slice differences", c.slices())...)
	out = append(out, capped("counter differences", c.counters())...)
	out = append(out, capped("arrow differences", c.arrows())...)
	out = append(out, capped("metadata differences", c.metadata())...)
	return out
}

// comparison is the state of one Compare.
type comparison struct {
	Options
	ref, ours *side
	repeated  map[execution]bool
	reversed  map[*slice]hbMarks
}

// near tells whether two times are equal.
func (c *comparison) near(a, b float64) bool {
	return math.Abs(a-b) <= c.Tolerance+slop/1000
}

// faults lists what is wrong with either file by itself.
func (c *comparison) faults() []string {
	var out []string
	for _, f := range c.ref.trace.faults {
		out = append(out, "reference: "+f)
	}
	for _, f := range c.ours.trace.faults {
		out = append(out, "ours: "+f)
	}
	return out
}

// capped cuts a list of differences and says how many were cut.
func capped(what string, list []string) []string {
	if len(list) <= sectionCap {
		return list
	}
	rest := len(list) - sectionCap
	return append(list[:sectionCap:sectionCap], fmt.Sprintf("… and %d more %s", rest, what))
}
