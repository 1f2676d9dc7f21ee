package page

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

func arrangeTest(nodes int, edges [][2]int32) *arranger {
	a := &arranger{engine: "dot", direction: "LR", apart: 0.2}
	for range nodes {
		a.size, a.shape = append(a.size, point{100, 26}), append(a.shape, "box")
	}
	for _, e := range edges {
		a.pred, a.succ = append(a.pred, e[0]), append(a.succ, e[1])
	}
	return a
}

// Components of one build are laid out once, and lie beside each other.
func TestPatterns(t *testing.T) {
	var edges [][2]int32
	const count = 200
	for c := range int32(count) { // diamonds, and between them single tasks
		n := c * 5
		edges = append(edges, [2]int32{n, n + 1}, [2]int32{n, n + 2}, [2]int32{n + 1, n + 3}, [2]int32{n + 2, n + 3})
	}
	a := arrangeTest(5*count, edges)
	p, err := a.arrange(context.Background(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.comps) != 2*count || len(a.patterns) != 2 {
		t.Errorf("%d components of %d builds, want %d of 2", len(a.comps), len(a.patterns), 2*count)
	}
	for i, b := range p.boxes {
		if b.x-50 < -1e-6 || b.y-13 < -1e-6 || b.x+50 > p.w+1e-6 || b.y+13 > p.h+1e-6 {
			t.Fatalf("node %d at %v, outside %v × %v", i, b, p.w, p.h)
		}
		for j, c := range p.boxes[:i] {
			if math.Abs(b.x-c.x) < 100 && math.Abs(b.y-c.y) < 26 {
				t.Fatalf("nodes %d and %d lie on each other: %v, %v", i, j, b, c)
			}
		}
	}
}

// A storage that many tasks in a row use has long edges; they follow from others and
// take no part in the layout, which keeps every task behind all that it needs.
func TestLongEdges(t *testing.T) {
	var edges [][2]int32
	const length = 300
	for i := int32(1); i < length; i++ {
		edges = append(edges, [2]int32{i - 1, i})
		if i > 1 {
			edges = append(edges, [2]int32{0, i})
		}
	}
	a := arrangeTest(length, edges)
	local := make([]int32, length)
	for i := range local {
		local[i] = int32(i)
	}
	a.split()
	kept, routed, _ := a.choose(&a.comps[0], local)
	if len(kept) != length-1 || routed {
		t.Fatalf("%d edges for Graphviz, routed %v; want the %d of the chain", len(kept), routed, length-1)
	}
	a.comps = nil
	p, err := a.arrange(context.Background(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edges {
		if p.boxes[e[1]].x <= p.boxes[e[0]].x+100 {
			t.Fatalf("task %d at %v is not behind %d at %v", e[1], p.boxes[e[1]], e[0], p.boxes[e[0]])
		}
	}
}

// The reduction keeps what is reachable, and none of what it keeps follows from the rest.
func TestReduce(t *testing.T) {
	seed := uint32(1)
	random := func(n uint32) int32 {
		seed = seed*1664525 + 1013904223
		return int32(seed >> 8 % n)
	}
	for range 200 {
		const n = 24
		set := map[[2]int32]bool{}
		for range 60 {
			x, y := random(n), random(n)
			if x != y {
				set[[2]int32{min(x, y), max(x, y)}] = true
			}
		}
		var edges [][2]int32
		for x := range int32(n) {
			for y := range int32(n) {
				if set[[2]int32{x, y}] {
					edges = append(edges, [2]int32{x, y})
				}
			}
		}
		a := arrangeTest(n, edges)
		c, local := &component{}, make([]int32, n)
		for i := range int32(n) {
			local[i] = i
			c.nodes = append(c.nodes, i)
		}
		for e := range edges {
			c.edges = append(c.edges, int32(e))
		}
		next := a.successors(c, local)
		order, acyclic := a.topological(c, next, local)
		if !acyclic {
			t.Fatal("a graph whose edges lead to larger numbers has a cycle")
		}
		kept := map[int32]bool{}
		for _, e := range a.reduce(c, order, next, local) {
			kept[e] = true
		}
		for e := range edges {
			// The edge is redundant if its ends are joined without it.
			seen := map[int32]bool{edges[e][0]: true}
			for again := true; again; {
				again = false
				for f, g := range edges {
					if f != e && seen[g[0]] && !seen[g[1]] {
						seen[g[1]], again = true, true
					}
				}
			}
			if redundant := seen[edges[e][1]]; redundant == kept[int32(e)] {
				t.Fatalf("edge %v of %v: redundant %v, kept %v", edges[e], edges, redundant, kept[int32(e)])
			}
		}
	}
}

func TestCycle(t *testing.T) {
	a := arrangeTest(3, [][2]int32{{0, 1}, {1, 2}, {2, 0}, {1, 1}})
	p, err := a.arrange(context.Background(), time.Minute)
	if err != nil || len(p.boxes) != 3 {
		t.Fatal(p, err)
	}
}

func TestTooMuch(t *testing.T) {
	var edges [][2]int32
	for i := int32(1); i <= maxComponent; i++ {
		edges = append(edges, [2]int32{i - 1, i})
	}
	if _, err := arrangeTest(maxComponent+1, edges).arrange(context.Background(), time.Minute); !errors.Is(err, errBudget) {
		t.Errorf("a component of %d tasks: %v", maxComponent+1, err)
	}
	edges = nil
	for i := range int32(300) {
		for j := range int32(300) {
			edges = append(edges, [2]int32{i, 300 + j})
		}
	}
	if _, err := arrangeTest(600, edges).arrange(context.Background(), time.Minute); !errors.Is(err, errBudget) {
		t.Errorf("a component of %d edges: %v", len(edges), err)
	}
}
