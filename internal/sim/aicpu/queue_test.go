package aicpu

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

func ids(q *Queue) (out []uint64) {
	for _, t := range q.tasks[q.head:] {
		out = append(out, t.ID)
	}
	return out
}

// TestQueue: first in, first out, over many times its length, and what keep leaves.
func TestQueue(t *testing.T) {
	var q Queue
	next, want := uint64(0), uint64(0)
	for round := range 3000 {
		for range round % 7 {
			q.Push(&Task{ID: next})
			next++
		}
		for range round % 5 {
			if q.first() == nil {
				break
			}
			if got := q.Pop(); got.ID != want {
				t.Fatalf("task %d came out, want %d", got.ID, want)
			}
			want++
		}
	}
	if q.Len() != int(next-want) || len(q.tasks) > 2*q.Len()+2048 {
		t.Errorf("%d tasks in a slice of %d, want %d in at most twice as much and 2048", q.Len(), len(q.tasks), next-want)
	}
	q.keep(func(t *Task) bool { return t.ID%1000 == 0 })
	for _, id := range ids(&q) {
		if id < want || id%1000 != 0 {
			t.Errorf("task %d is left", id)
		}
	}
	for q.Pop() != nil {
	}
	if q.Len() != 0 || q.first() != nil {
		t.Error("an empty queue is not empty")
	}
}

// TestCandidatesAreDropped: tasks that became ready while they waited for an early
// place do not pile up, and none is there twice.
func TestCandidatesAreDropped(t *testing.T) {
	r := &Runtime{}
	var live []uint64
	for i := range uint64(10_000) {
		c := &Task{ID: i, Fanin: 1, Form: sim.Form{Blocks: 1, Shape: abi.ShapeAIV}}
		r.candidate(c, 0)
		r.candidate(c, 0)
		if i%1000 == 0 {
			live = append(live, i)
		} else {
			c.Fanin = 0
		}
	}
	q := &r.early[normalPass][abi.ShapeAIV]
	if q.Len() > 200 {
		t.Errorf("%d candidates are queued, want few more than the %d that still wait", q.Len(), len(live))
	}
	got := ids(q)
	for _, id := range live {
		if n := len(got); !slices.Contains(got, id) {
			t.Errorf("task %d of %d is gone", id, n)
		}
	}
	slices.Sort(got)
	if len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Error("a task is queued twice")
	}
}
