package producer_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// TestAsyncPoll holds the vectors of spec/collector.md §2.12.
func TestAsyncPoll(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.SchedPhases, 2<<20)
	buf := h.give(abi.KindSchedPhase, 0, 1)[0]
	d := h.attach()
	if err := d.InitPhases(1, 0); err != nil {
		t.Fatal(err)
	}
	samples := int16(0)
	poll := producer.NewAsyncPoll(d.Thread(0), func() [3]int16 { samples++; return [3]int16{samples, 0, -samples} })
	poll.Flush(1, 50) // nothing yet

	poll.Poll(2, 100, 110, 0, false)
	poll.Poll(3, 150, 155, 0, false)
	poll.Poll(4, 200, 230, 2, false)

	poll.Poll(5, 100, 110, 0, false)
	poll.Poll(6, 150, 155, 0, false)
	poll.Flush(7, 400)
	poll.Flush(8, 500)

	poll.Poll(9, 600, 610, 0, true) // an error ends it as well
	poll.Poll(10, 10, 100, 0, false)
	poll.Flush(11, 50) // more cycles than there have been

	want := []abi.SchedPhase{
		{StartTime: 185, EndTime: 230, LoopIter: 4, TasksProcessed: 2, SharedDepthAtStart: [3]int16{1, 0, -1}, SharedDepthAtEnd: [3]int16{2, 0, -2}},
		{StartTime: 385, EndTime: 400, LoopIter: 7, SharedDepthAtStart: [3]int16{3, 0, -3}, SharedDepthAtEnd: [3]int16{4, 0, -4}},
		{StartTime: 600, EndTime: 610, LoopIter: 9, SharedDepthAtStart: [3]int16{5, 0, -5}, SharedDepthAtEnd: [3]int16{6, 0, -6}},
		{StartTime: 0, EndTime: 50, LoopIter: 11, SharedDepthAtStart: [3]int16{7, 0, -7}, SharedDepthAtEnd: [3]int16{8, 0, -8}},
	}
	if n := h.count(abi.KindSchedPhase, buf); int(n) != len(want) {
		t.Fatalf("%d records, want %d", n, len(want))
	}
	for i, w := range want {
		w.Kind = 11
		if got := recordsAt[abi.SchedPhase](h, abi.KindSchedPhase, buf)[i]; got != w {
			t.Errorf("record %d is %+v, want %+v", i, got, w)
		}
	}
}
