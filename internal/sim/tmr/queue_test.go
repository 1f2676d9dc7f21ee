package tmr

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
)

func ids(q *queue) (out []uint64) {
	for _, t := range q.tasks[q.head:] {
		out = append(out, t.id)
	}
	return out
}

// TestQueue: first in, first out, over many times its length, and what keep leaves.
func TestQueue(t *testing.T) {
	var q queue
	next, want := uint64(0), uint64(0)
	for round := range 3000 {
		for range round % 7 {
			q.push(&task{id: next})
			next++
		}
		for range round % 5 {
			if q.first() == nil {
				break
			}
			if got := q.pop(); got.id != want {
				t.Fatalf("task %d came out, want %d", got.id, want)
			}
			want++
		}
	}
	if q.len() != int(next-want) || len(q.tasks) > 2*q.len()+2048 {
		t.Errorf("%d tasks in a slice of %d, want %d in at most twice as much and 2048", q.len(), len(q.tasks), next-want)
	}
	q.keep(func(t *task) bool { return t.id%1000 == 0 })
	for _, id := range ids(&q) {
		if id < want || id%1000 != 0 {
			t.Errorf("task %d is left", id)
		}
	}
	for q.pop() != nil {
	}
	if q.len() != 0 || q.first() != nil {
		t.Error("an empty queue is not empty")
	}
}

// TestCandidatesAreDropped: tasks that became ready while they waited for an early
// place do not pile up, and none is there twice.
func TestCandidatesAreDropped(t *testing.T) {
	r := &runtime{}
	var live []uint64
	for i := range uint64(10_000) {
		c := &task{id: i, fanin: 1, blocks: 1, shape: abi.ShapeAIV}
		r.candidate(c, 0)
		r.candidate(c, 0)
		if i%1000 == 0 {
			live = append(live, i)
		} else {
			c.fanin = 0
		}
	}
	q := &r.early[normalPass][abi.ShapeAIV]
	if q.len() > 200 {
		t.Errorf("%d candidates are queued, want few more than the %d that still wait", q.len(), len(live))
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
