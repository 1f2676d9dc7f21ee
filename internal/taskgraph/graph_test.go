package taskgraph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/taskgraph"
)

func read(t *testing.T, deps string) *taskgraph.Graph {
	t.Helper()
	d, err := capture.ReadDepsFrom(strings.NewReader(deps), "deps.json")
	if err != nil {
		t.Fatal(err)
	}
	g, err := taskgraph.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ids are the task ids of nodes.
func ids(g *taskgraph.Graph, nodes []int32) []uint64 {
	out := []uint64{}
	for _, n := range nodes {
		out = append(out, g.ID(n))
	}
	return out
}

func node(t *testing.T, g *taskgraph.Graph, id uint64) int32 {
	t.Helper()
	n, ok := g.Node(id)
	if !ok {
		t.Fatalf("task %d is not in the graph", id)
	}
	return n
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestR14 is example R14 of spec/records.md §7: order of first appearance,
// repeated pairs dropped.
func TestR14(t *testing.T) {
	const r = 8589934597
	g := read(t, `{"edges":[{"pred":"3","succ":"0"},{"pred":"0","succ":"4"},{"pred":"4","succ":"8589934597"},
{"pred":"0","succ":"8589934597"},{"pred":"0","succ":8589934597}]}`)
	equal(t, "predecessors", ids(g, g.Preds()), []uint64{3, 0, 4})
	equal(t, "successors of 3", ids(g, g.Succ(node(t, g, 3))), []uint64{0})
	equal(t, "successors of 0", ids(g, g.Succ(node(t, g, 0))), []uint64{4, r})
	equal(t, "successors of 4", ids(g, g.Succ(node(t, g, 4))), []uint64{r})
	equal(t, "successors of r2t5", ids(g, g.Succ(node(t, g, r))), []uint64{})
	// In the order of the edge map's predecessors, not of the edges (spec/converter.md §4.5).
	equal(t, "predecessors of r2t5", ids(g, g.Pred(node(t, g, r))), []uint64{0, 4})
	equal(t, "edges", g.Edges(), 4)
	equal(t, "nodes", g.Nodes(), 4)
}

func TestTasks(t *testing.T) {
	g := read(t, `{"tasks":[{"task_id":"1","kernel_ids":[5,7,8],"block_num":4},{"task_id":2,"kernel_ids":[-1,-1,-1]},{"task_id":3,"block_num":0},
{"task_id":4,"kernel_ids":[1,2],"block_num":2},{"task_id":1,"block_num":3}],"edges":[{"pred":9,"succ":1}]}`)
	for _, c := range []struct {
		id     uint64
		kernel [3]int32
		has    bool
		block  int32
	}{
		{1, [3]int32{5, 7, 8}, true, 3}, // of two entries of one task the later one counts
		{2, [3]int32{-1, -1, -1}, true, 1},
		{3, [3]int32{}, false, 1},
		{4, [3]int32{}, false, 2},
		{9, [3]int32{}, false, 0}, // an allocation node: no task, so not in the block map
	} {
		n := node(t, g, c.id)
		k, ok := g.Kernel(n)
		equal(t, fmt.Sprintf("kernels of %d", c.id), k, c.kernel)
		equal(t, fmt.Sprintf("kernels of %d known", c.id), ok, c.has)
		equal(t, fmt.Sprintf("blocks of %d", c.id), g.Block(n), c.block)
	}
	equal(t, "any kernels", g.HasKernels(), true)
	if _, ok := g.Node(7); ok {
		t.Error("task 7 is in the graph")
	}
}

// TestEmpty: an empty graph, and one without tasks, answer everything.
func TestEmpty(t *testing.T) {
	g := read(t, `{}`)
	if _, ok := g.Node(0); ok || g.Nodes() != 0 || g.Edges() != 0 || len(g.Preds()) != 0 || g.HasKernels() {
		t.Error("an empty graph is not empty")
	}
	g = read(t, `{"edges":[[0,0]]}`)
	equal(t, "block without tasks", g.Block(0), 0)
	_, ok := g.Kernel(0)
	equal(t, "kernel without tasks", ok, false)
	equal(t, "a task that waits for itself", ids(g, g.Succ(0)), []uint64{0})
}

// TestOldestEdges: pairs are edges too (spec/records.md §5.1); ids keep 64 bits, negative ones are folded (§5.2).
func TestOldestEdges(t *testing.T) {
	g := read(t, `{"edges":[[1,18446744073709551615],["9007199254740993","-2"],[1,2,3],["x",1]]}`)
	equal(t, "edges", g.Edges(), 2)
	equal(t, "successors of 1", ids(g, g.Succ(node(t, g, 1))), []uint64{1<<64 - 1})
	equal(t, "successors of 2^53+1", ids(g, g.Succ(node(t, g, 9007199254740993))), []uint64{1<<64 - 2})
}

// TestAgainstLists builds random graphs and compares with plain ordered lists.
func TestAgainstLists(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		tasks := 1 + rnd.IntN(200)
		shift := rnd.IntN(57)
		var d capture.Deps
		var order []uint64
		succ, pred := map[uint64][]uint64{}, map[uint64][]uint64{}
		edges := 0
		for range rnd.IntN(4 * tasks) {
			p, s := rnd.Uint64N(uint64(tasks))<<shift, rnd.Uint64N(uint64(tasks))<<shift
			d.Pred, d.Succ = append(d.Pred, p), append(d.Succ, s)
			if succ[p] == nil {
				order = append(order, p)
			}
			if !slices.Contains(succ[p], s) {
				succ[p] = append(succ[p], s)
				edges++
			}
		}
		for _, p := range order {
			for _, s := range succ[p] {
				pred[s] = append(pred[s], p)
			}
		}
		g, err := taskgraph.New(&d)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "edges", g.Edges(), edges)
		equal(t, "order", ids(g, g.Preds()), append([]uint64{}, order...))
		for n := range int32(g.Nodes()) {
			id := g.ID(n)
			equal(t, "node", node(t, g, id), n)
			equal(t, fmt.Sprintf("seed %d: successors of %d", seed, id), ids(g, g.Succ(n)), append([]uint64{}, succ[id]...))
			equal(t, fmt.Sprintf("seed %d: predecessors of %d", seed, id), ids(g, g.Pred(n)), append([]uint64{}, pred[id]...))
		}
	}
}
