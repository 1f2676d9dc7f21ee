package taskgraph_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"swimlane/capture"
	"swimlane/internal/taskgraph"
)

func graphOf(t *testing.T, edges [][2]uint64) *taskgraph.Graph {
	t.Helper()
	d := &capture.Deps{}
	for _, e := range edges {
		d.Pred, d.Succ = append(d.Pred, e[0]), append(d.Succ, e[1])
	}
	g, err := taskgraph.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOrder(t *testing.T) {
	for name, c := range map[string]struct {
		edges [][2]uint64
		cycle []uint64 // nil: there is none
	}{
		"empty":              {nil, nil},
		"to itself":          {[][2]uint64{{1, 1}, {1, 2}}, nil},
		"diamond":            {[][2]uint64{{1, 2}, {1, 3}, {2, 4}, {3, 4}, {1, 4}}, nil},
		"two":                {[][2]uint64{{7, 9}, {9, 7}}, []uint64{7, 9}},
		"three, and a tail":  {[][2]uint64{{5, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 6}}, []uint64{1, 2, 3}},
		"found from its end": {[][2]uint64{{9, 10}, {1, 2}, {2, 1}, {2, 9}}, []uint64{1, 2}},
	} {
		g := graphOf(t, c.edges)
		order, cycle := g.Order()
		if !slices.Equal(cycle, c.cycle) {
			t.Errorf("%s: cycle %v, want %v", name, cycle, c.cycle)
		}
		if c.cycle == nil && len(order) != g.Nodes() || c.cycle != nil && order != nil {
			t.Errorf("%s: order %v", name, order)
		}
	}
}

// TestOrderRandom: an order puts every edge forward; a cycle consists of edges; a
// graph whose edges all go up has none.
func TestOrderRandom(t *testing.T) {
	cyclic := 0
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		n := 2 + rnd.Uint64N(9)
		up := seed%2 == 0
		var edges [][2]uint64
		has := map[[2]uint64]bool{}
		for range rnd.IntN(14) {
			e := [2]uint64{rnd.Uint64N(n), rnd.Uint64N(n)}
			if up && e[0] > e[1] {
				e[0], e[1] = e[1], e[0]
			}
			edges, has[e] = append(edges, e), true
		}
		g := graphOf(t, edges)
		order, cycle := g.Order()
		if cycle != nil {
			cyclic++
			if up {
				t.Fatalf("seed %d: cycle %v in %v", seed, cycle, edges)
			}
			for i, id := range cycle {
				if next := cycle[(i+1)%len(cycle)]; !has[[2]uint64{id, next}] || id == next {
					t.Fatalf("seed %d: %v is no cycle of %v", seed, cycle, edges)
				}
			}
			continue
		}
		at := map[uint64]int{}
		for i, v := range order {
			at[g.ID(v)] = i
		}
		if len(at) != g.Nodes() {
			t.Fatalf("seed %d: order of %d nodes, want %d", seed, len(at), g.Nodes())
		}
		for e := range has {
			if e[0] != e[1] && at[e[0]] >= at[e[1]] {
				t.Fatalf("seed %d: %v stand the wrong way round", seed, e)
			}
		}
	}
	if cyclic < 50 {
		t.Errorf("only %d random graphs had a cycle", cyclic)
	}
}

// behind finds, by walking every path, the tasks that ran and that v waits for.
func behind(preds map[uint64][]uint64, ran map[uint64]bool, v uint64) map[uint64]bool {
	out := map[uint64]bool{}
	for _, p := range preds[v] {
		switch {
		case p == v:
		case ran[p]:
			out[p] = true
		default:
			maps.Copy(out, behind(preds, ran, p))
		}
	}
	return out
}

// TestBridges holds both ways to bridge tasks that did not run against a walk
// along every path.
func TestBridges(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		n := 2 + rnd.Uint64N(12)
		ran, rank, preds := map[uint64]bool{}, map[uint64]int{}, map[uint64][]uint64{}
		for i, r := range rnd.Perm(int(n)) {
			ran[uint64(i)], rank[uint64(i)] = rnd.IntN(2) == 0, r
		}
		var edges [][2]uint64
		for range rnd.IntN(30) {
			a, b := rnd.Uint64N(n), rnd.Uint64N(n)
			a, b = min(a, b), max(a, b)
			edges = append(edges, [2]uint64{a, b})
			preds[b] = append(preds[b], a)
		}
		g := graphOf(t, edges)
		order, _ := g.Order()
		isReal := func(v int32) bool { return ran[g.ID(v)] }
		best := g.Through(order, isReal, func(a, b int32) bool { return rank[g.ID(a)] > rank[g.ID(b)] })
		var seen taskgraph.Seen
		for v := range int32(g.Nodes()) {
			want := behind(preds, ran, g.ID(v))
			got := map[uint64]bool{}
			g.Producers(v, isReal, &seen, func(p int32) {
				if got[g.ID(p)] {
					t.Fatalf("seed %d: %d comes twice for %d", seed, g.ID(p), g.ID(v))
				}
				got[g.ID(p)] = true
			})
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d: %d waits for %v, want %v", seed, g.ID(v), got, want)
			}
			top := -1
			for id := range want {
				top = max(top, rank[id])
			}
			found := -1
			if best[v] >= 0 {
				found = rank[g.ID(best[v])]
			}
			if ran[g.ID(v)] {
				top = -1
			}
			if found != top {
				t.Fatalf("seed %d: the best behind %d has rank %d, want %d", seed, g.ID(v), found, top)
			}
		}
	}
}

// TestBridgesDense: layers of tasks that did not run, each waiting for all of the
// layer before, have more paths than could ever be walked.
func TestBridgesDense(t *testing.T) {
	const layers, wide = 40, 30
	var edges [][2]uint64
	for l := range uint64(layers) {
		for a := range uint64(wide) {
			for b := range uint64(wide) {
				edges = append(edges, [2]uint64{l*wide + a, (l+1)*wide + b})
			}
		}
	}
	g := graphOf(t, edges)
	order, cycle := g.Order()
	if cycle != nil {
		t.Fatal(cycle)
	}
	isReal := func(v int32) bool { return g.ID(v) < wide }
	best := g.Through(order, isReal, func(a, b int32) bool { return g.ID(a) > g.ID(b) })
	last, _ := g.Node(layers*wide + 3)
	if best[last] < 0 || g.ID(best[last]) != wide-1 {
		t.Errorf("behind the last layer: node %d", best[last])
	}
	var seen taskgraph.Seen
	count := 0
	g.Producers(last, isReal, &seen, func(int32) { count++ })
	if count != wide {
		t.Errorf("%d producers, want %d", count, wide)
	}
}
