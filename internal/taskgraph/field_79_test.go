package taskgraph_test

import (
	"slices"
	"testing"
	"time"

	"swimlane/capture"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
)

// TestField79Neighbours is report 79 of ../shared/design/field-reports.md: what a
// task needs and what needs it is told at once, however dense the graph is.
func TestField79Neighbours(t *testing.T) {
	const nodes, fanin = 5000, 200
	deps := &capture.Deps{}
	for n := range uint64(nodes) {
		for k := uint64(1); k <= fanin && k <= n; k++ {
			deps.Pred, deps.Succ = append(deps.Pred, n-k), append(deps.Succ, n)
		}
	}
	start := parity.CPUTime()
	g, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	n, ok := g.Node(2500)
	if !ok {
		t.Fatal("no task 2500")
	}
	ids := func(of []int32) (out []uint64) {
		for _, x := range of {
			out = append(out, g.ID(x))
		}
		slices.Sort(out)
		return out
	}
	need, needed, around := ids(g.Pred(n)), ids(g.Succ(n)), ids(g.Around([]int32{n}, 1))
	if took := parity.CPUTime() - start; took > time.Second {
		t.Errorf("it took %v, want less than 1 s", took)
	}
	if len(need) != fanin || need[0] != 2300 || need[fanin-1] != 2499 {
		t.Errorf("task 2500 needs %d tasks: %v", len(need), need)
	}
	if len(needed) != fanin || needed[0] != 2501 || needed[fanin-1] != 2700 {
		t.Errorf("%d tasks need task 2500: %v", len(needed), needed)
	}
	if len(around) != 2*fanin+1 {
		t.Errorf("%d tasks around task 2500, want %d", len(around), 2*fanin+1)
	}
}
