// Package draw turns the timeline of one capture into a picture: the views,
// lanes, bars, arrows and counters of spec/converter.md.
//
// New lays everything out: which lanes there are, on which sub-lane a bar lies,
// which number it has, which arrows exist. What is left to the sections' Walk
// is arithmetic on row numbers and text, so that writers can produce ranges in
// parallel.
//
// Where the rules of the format would make a viewer lose or misplace something,
// the picture differs in the few ways that docs/differences.md lists.
package draw
