package taskgraph_test

import (
	"slices"
	"testing"

	"swimlane/capture"
	"swimlane/internal/taskgraph"
)

func TestAround(t *testing.T) {
	// 1 → 2 → 3 → 4 and 5 → 3.
	g, err := taskgraph.New(&capture.Deps{Pred: []uint64{1, 2, 3, 5}, Succ: []uint64{2, 3, 4, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from []uint64
		n    int
		want []uint64
	}{
		{[]uint64{3}, 0, []uint64{3}},
		{[]uint64{3}, 1, []uint64{2, 3, 4, 5}},
		{[]uint64{3}, 2, []uint64{1, 2, 3, 4, 5}},
		{[]uint64{1}, 1, []uint64{1, 2}},
		{[]uint64{1, 4}, 1, []uint64{1, 2, 3, 4}},
		{[]uint64{1}, 99, []uint64{1, 2, 3, 4, 5}},
	} {
		var nodes []int32
		for _, id := range tt.from {
			n, _ := g.Node(id)
			nodes = append(nodes, n)
		}
		var got []uint64
		for _, n := range g.Around(nodes, tt.n) {
			got = append(got, g.ID(n))
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("%d around %v: %v, want %v", tt.n, tt.from, got, tt.want)
		}
	}
}

// TestChain: what a task needs and what needs it, all the way, but not what else
// those need.
func TestChain(t *testing.T) {
	// 1 → 2 → 3 → 4, 5 → 3, 2 → 6; 7 → 8 → 7 is a cycle.
	g, err := taskgraph.New(&capture.Deps{Pred: []uint64{1, 2, 3, 5, 2, 7, 8}, Succ: []uint64{2, 3, 4, 3, 6, 8, 7}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, want []uint64 }{
		{[]uint64{3}, []uint64{1, 2, 3, 4, 5}},
		{[]uint64{2}, []uint64{1, 2, 3, 4, 6}},
		{[]uint64{5}, []uint64{3, 4, 5}},
		{[]uint64{5, 6}, []uint64{1, 2, 3, 4, 5, 6}},
		{[]uint64{7}, []uint64{7, 8}},
		{nil, nil},
	} {
		var nodes []int32
		for _, id := range tt.from {
			n, _ := g.Node(id)
			nodes = append(nodes, n)
		}
		var got []uint64
		for _, n := range g.Chain(nodes) {
			got = append(got, g.ID(n))
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("the chain of %v: %v, want %v", tt.from, got, tt.want)
		}
	}
}
