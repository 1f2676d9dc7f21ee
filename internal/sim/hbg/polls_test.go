package hbg

import (
	"testing"

	"swimlane/internal/abi"
)

// TestPolls: the vectors of spec/collector.md §2.12.
func TestPolls(t *testing.T) {
	type poll struct {
		start, end uint64
		resolved   int
	}
	for _, v := range []struct {
		polls            []poll
		flush            uint64
		start, end, done uint64
	}{
		{[]poll{{100, 110, 0}, {150, 155, 0}, {200, 230, 2}}, 230, 185, 230, 2},
		{[]poll{{100, 110, 0}, {150, 155, 0}}, 400, 385, 400, 0},
		{[]poll{{10, 40, 0}}, 20, 0, 20, 0}, // more cycles than the counter has
	} {
		p := polls{start: [3]int16{1, 2, 3}}
		for _, one := range v.polls {
			p.add(one.start, one.end, one.resolved)
		}
		got := p.record(v.flush)
		want := abi.SchedPhase{Kind: abi.AsyncPoll, StartTime: v.start, EndTime: v.end, TasksProcessed: uint32(v.done), SharedDepthAtStart: [3]int16{1, 2, 3}}
		if got != want {
			t.Errorf("polls %v, flushed at %d: %+v, want %+v", v.polls, v.flush, got, want)
		}
	}
}
