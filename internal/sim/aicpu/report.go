package aicpu

import "swimlane/internal/sim"

// Report is what a run tells beside its records.
type Report struct {
	Submits, Tasks int      // submitted, allocs included; of these, tasks
	Start, End     sim.Time // from the launch of the schedulers to the end of the last one
	Wall           Span     // all that the device did for the run
	Slots          [sim.TimingSlots]Span
}

// Span is a stretch of time: of a timing slot from the first dispatch to the last
// finish. Not Set: it did not begin.
type Span struct {
	Start, End sim.Time
	Set        bool
}

// dispatched notes that a task with a timing slot was dispatched.
func (r *Report) dispatched(slot int, at sim.Time) {
	if slot == 0 {
		return
	}
	if s := &r.Slots[slot-1]; !s.Set || at < s.Start {
		s.Start, s.Set = at, true
	}
}

// finished notes that it was seen to finish.
func (r *Report) finished(slot int, at sim.Time) {
	if slot != 0 {
		r.Slots[slot-1].End = max(r.Slots[slot-1].End, at)
	}
}
