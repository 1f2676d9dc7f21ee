package aicpu

import "testing"

// TestSlotIsLeastAndMost: threads tell of a slot in any order; it is from the first
// publication to the last finish (spec/host-log.md §4.5).
func TestSlotIsLeastAndMost(t *testing.T) {
	var r Report
	r.dispatched(5, 300)
	r.dispatched(5, 100)
	r.finished(5, 900)
	r.dispatched(5, 200)
	r.finished(5, 400)
	r.dispatched(0, 1) // of no slot
	r.finished(0, 2000)
	for i, s := range r.Slots {
		want := Span{}
		if i == 4 {
			want = Span{Start: 100, End: 900, Set: true}
		}
		if s != want {
			t.Errorf("slot %d is %+v, want %+v", i, s, want)
		}
	}
}
