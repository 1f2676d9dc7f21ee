// Package timeline joins the streams of one capture on one time axis
// (spec/records.md §4): kernel rows with their scheduler rows, scheduler
// phases, orchestrator records, host records.
//
// It is the only place where cycles become time. Times stay integer cycles
// until somebody asks; Clock.Ns then gives nanoseconds, rounded once, so that
// bars that touch in cycles touch everywhere.
//
// A Timeline is immutable once built and safe for concurrent use.
package timeline
