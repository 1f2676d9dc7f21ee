package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"swimlane/internal/graphviz"
)

// Limits of what is laid out; what is larger opens on a neighbourhood, which the
// browser lays out.
const (
	// maxComponent is how many tasks may hang together: Graphviz has not ended with
	// more within the budget on any graph tried, and the reduction takes its square in bits.
	maxComponent = 20_000
	// maxPatterns is how many different components are laid out.
	maxPatterns = 2_000
	// maxRouted is up to how many nodes and bends of long edges together Graphviz also
	// routes the edges of a component. Beyond that, edges which follow from others take no
	// part in its layout and all are drawn as plain curves: a storage with 256 users,
	// 258 steps apart, would else have 98,688 bends.
	maxRouted = 1_200
	// maxPrism is up to how many tasks overlaps are removed one by one; beyond that all is scaled.
	maxPrism = 100
	// maxEdges is how many edges of one component Graphviz is asked to order.
	maxEdges = 60_000
	// maxInterpreted is how much is laid out by the interpreter, in tasks, edges and
	// bends: it starts at once, where translating Graphviz takes a second, and is slow.
	maxInterpreted = 150
)

// errBudget says that a layout took too long.
var errBudget = errors.New("no layout within the budget")

// box is where a node lies: its centre, in px, y downwards.
type box struct{ x, y, w, h float64 }

// placed is a graph with places.
type placed struct {
	boxes  []box
	curves map[int][]graphviz.Point // by edge; others are drawn from side to side
	w, h   float64                  // everything lies within 0…w and 0…h
}

// arranger lays out a graph component by component. Components that are built alike,
// as those of a loop's iterations are, are laid out once.
type arranger struct {
	engine    string
	direction string
	route     bool    // Graphviz is to route edges where that is quick
	size      []point // of each node
	shape     []string
	apart     float64 // in inches, between tasks side by side
	pred      []int32 // of each edge
	succ      []int32

	comps    []component
	patterns []pattern
}

type point struct{ x, y float64 }

// component is a set of tasks that hang together, in the order of the graph.
type component struct {
	nodes   []int32
	edges   []int32 // numbers of edges
	pattern int
}

// pattern is how components of one build are laid out.
type pattern struct {
	dot    string
	routed bool
	work   int // tasks, edges and bends
	layout *graphviz.Layout
	w, h   float64
	shift  point // of Graphviz's places: to the lower left corner of all boxes
}

// arrange lays the graph out; errBudget when that would take longer than the budget. The
// time in which Graphviz is made ready does not count.
func (a *arranger) arrange(ctx context.Context, budget time.Duration) (*placed, error) {
	a.split()
	if err := a.describe(); err != nil {
		return nil, err
	}
	if err := a.layOut(ctx, budget); err != nil {
		return nil, err
	}
	return a.put(), nil
}

// split finds the components, in the order of their first nodes.
func (a *arranger) split() {
	parent := make([]int32, len(a.size))
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(x int32) int32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for i := range a.pred {
		p, s := find(a.pred[i]), find(a.succ[i])
		parent[max(p, s)] = min(p, s) // the root is the first node
	}
	number := make([]int32, len(a.size))
	for i := range a.size {
		root := find(int32(i))
		if root == int32(i) {
			number[i] = int32(len(a.comps))
			a.comps = append(a.comps, component{})
		}
		number[i] = number[root]
		c := &a.comps[number[i]]
		c.nodes = append(c.nodes, int32(i))
	}
	for i, p := range a.pred {
		c := &a.comps[number[p]]
		c.edges = append(c.edges, int32(i))
	}
}

// describe writes each component in DOT, with numbers of its own, and finds those that
// are alike.
func (a *arranger) describe() error {
	known := map[string]int{}
	local := make([]int32, len(a.size))
	var dot []byte
	for i := range a.comps {
		c := &a.comps[i]
		if len(c.nodes) > maxComponent {
			return errBudget
		}
		for k, n := range c.nodes {
			local[n] = int32(k)
		}
		edges, routed, bends := a.choose(c, local)
		if len(edges) > maxEdges {
			return errBudget
		}
		dot = a.dot(dot[:0], c, edges, local, routed)
		p, ok := known[string(dot)]
		if !ok {
			if p = len(a.patterns); p == maxPatterns {
				return errBudget
			}
			text := string(dot)
			known[text] = p
			a.patterns = append(a.patterns, pattern{dot: text, routed: routed, work: len(c.nodes) + len(edges) + bends})
		}
		c.pattern = p
	}
	return nil
}

// choose returns the edges that Graphviz is to see, whether it is to route them, and how
// many bends those have.
func (a *arranger) choose(c *component, local []int32) (edges []int32, routed bool, bends int) {
	small := a.route && len(c.nodes)+len(c.edges) <= maxRouted
	if a.engine != "dot" {
		return c.edges, small, 0
	}
	next := a.successors(c, local)
	order, acyclic := a.topological(c, next, local)
	if !acyclic {
		return c.edges, small, 0
	}
	rank := make([]int32, len(c.nodes))
	for _, n := range order {
		for _, e := range next[n] {
			s := local[a.succ[e]]
			rank[s] = max(rank[s], rank[n]+1)
		}
	}
	for _, e := range c.edges {
		bends += int(rank[local[a.succ[e]]]-rank[local[a.pred[e]]]) - 1
	}
	if len(c.nodes)+bends <= maxRouted {
		return c.edges, a.route && len(c.edges) <= maxRouted, bends
	}
	return a.reduce(c, order, next, local), false, 0
}

func (a *arranger) successors(c *component, local []int32) [][]int32 {
	next := make([][]int32, len(c.nodes))
	for _, e := range c.edges {
		p := local[a.pred[e]]
		next[p] = append(next[p], e)
	}
	return next
}

// topological returns the component's nodes, producers first.
func (a *arranger) topological(c *component, next [][]int32, local []int32) (order []int32, acyclic bool) {
	waits := make([]int32, len(c.nodes))
	for _, e := range c.edges {
		waits[local[a.succ[e]]]++
	}
	for n, w := range waits {
		if w == 0 {
			order = append(order, int32(n))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, e := range next[order[i]] {
			s := local[a.succ[e]]
			if waits[s]--; waits[s] == 0 {
				order = append(order, s)
			}
		}
	}
	return order, len(order) == len(c.nodes)
}

// reduce leaves out every edge whose consumer is also reached through others. No rank
// depends on such an edge.
func (a *arranger) reduce(c *component, order []int32, next [][]int32, local []int32) []int32 {
	words := (len(c.nodes) + 63) / 64
	reach := make([][]uint64, len(c.nodes))
	var kept []int32
	through := make([]uint64, words)
	for _, n := range slices.Backward(order) {
		clear(through)
		for _, e := range next[n] {
			for w, bits := range reach[local[a.succ[e]]] {
				through[w] |= bits
			}
		}
		all := slices.Clone(through)
		for _, e := range next[n] {
			s := local[a.succ[e]]
			if through[s/64]>>(s%64)&1 == 0 {
				kept = append(kept, e)
			}
			all[s/64] |= 1 << (s % 64)
		}
		reach[n] = all
	}
	slices.Sort(kept)
	return kept
}

// dot appends the component in Graphviz's language.
func (a *arranger) dot(b []byte, c *component, edges, local []int32, routed bool) []byte {
	splines := "false"
	if routed {
		splines = "true"
	}
	// Where many edges lie between few tasks they need room to be told apart.
	between := 0.6 + min(3, 0.05*float64(len(edges)/len(c.nodes)))
	b = append(b, "digraph{rankdir="+a.direction+";splines="+splines+";nodesep="...)
	b = strconv.AppendFloat(b, a.apart, 'f', 2, 64)
	b = append(b, ";ranksep="...)
	b = strconv.AppendFloat(b, between, 'f', 2, 64)
	// What the engines without layers lay on top of each other is moved apart; the better
	// way takes minutes for hundreds of tasks.
	apart := "prism"
	if len(c.nodes) > maxPrism {
		apart = "scale"
	}
	b = append(b, ";overlap="+apart+`;edge[dir=none]node[fixedsize=true,label=""]`...)
	for k, n := range c.nodes {
		const inch = 72
		b = strconv.AppendInt(b, int64(k), 10)
		b = append(b, "[shape="+a.shape[n]+",width="...)
		b = strconv.AppendFloat(b, a.size[n].x/inch, 'f', 4, 64)
		b = append(b, ",height="...)
		b = strconv.AppendFloat(b, a.size[n].y/inch, 'f', 4, 64)
		b = append(b, ']')
	}
	for _, e := range edges {
		b = strconv.AppendInt(b, int64(local[a.pred[e]]), 10)
		b = append(b, "->"...)
		b = strconv.AppendInt(b, int64(local[a.succ[e]]), 10)
		b = append(b, ';')
	}
	return append(b, '}')
}

// layOut lays the patterns out, side by side on all processors.
func (a *arranger) layOut(ctx context.Context, budget time.Duration) (err error) {
	first := make([]*component, len(a.patterns))
	for i := range slices.Backward(a.comps) {
		first[a.comps[i].pattern] = &a.comps[i]
	}
	var work []int // patterns that need Graphviz
	total := 0
	for i := range a.patterns {
		p := &a.patterns[i]
		if len(first[i].nodes) > 1 {
			work = append(work, i)
			total += p.work
			continue
		}
		p.layout = &graphviz.Layout{Nodes: make([]graphviz.Point, 1)}
		a.measure(p, first[i])
	}
	if len(work) == 0 {
		return nil
	}
	gv, err := graphviz.New(ctx, total <= maxInterpreted)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gv.Close()) }()
	limit, cancel := context.WithTimeoutCause(ctx, budget, errBudget)
	defer cancel()
	group, inner := errgroup.WithContext(limit)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range work {
		p, c := &a.patterns[i], first[i]
		group.Go(func() error {
			l, err := gv.Layout(inner, a.engine, []byte(p.dot), p.routed)
			if err != nil {
				return err
			}
			if len(l.Nodes) != len(c.nodes) {
				return fmt.Errorf("graphviz: %s: places for %d of %d tasks", a.engine, len(l.Nodes), len(c.nodes))
			}
			p.layout = l
			a.measure(p, c)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		if context.Cause(limit) == errBudget {
			return errBudget
		}
		return err
	}
	return nil
}

// measure finds the extent of a pattern, the lines of its edges included.
func (a *arranger) measure(p *pattern, c *component) {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	note := func(x, y float64) {
		lo, hi = point{min(lo.x, x), min(lo.y, y)}, point{max(hi.x, x), max(hi.y, y)}
	}
	for k, n := range c.nodes {
		at, size := p.layout.Nodes[k], a.size[n]
		note(at.X-size.x/2, at.Y-size.y/2)
		note(at.X+size.x/2, at.Y+size.y/2)
	}
	for _, curve := range p.layout.Curves {
		for _, at := range curve.Points {
			note(at.X, at.Y)
		}
	}
	p.shift, p.w, p.h = lo, hi.x-lo.x, hi.y-lo.y
}

// put lays the components beside each other in shelves, highest first and else in
// their order, so that the whole is about as wide as a screen.
func (a *arranger) put() *placed {
	const gap, aspect = 48, 1.7
	order := make([]int, len(a.comps))
	area, widest := 0.0, 0.0
	for i := range order {
		order[i] = i
		p := &a.patterns[a.comps[i].pattern]
		area += (p.w + gap) * (p.h + gap)
		widest = max(widest, p.w)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(a.patterns[a.comps[j].pattern].h, a.patterns[a.comps[i].pattern].h)
	})
	limit := max(widest, math.Sqrt(area*aspect))
	out := &placed{boxes: make([]box, len(a.size)), curves: map[int][]graphviz.Point{}}
	at, shelf := point{}, 0.0
	for _, i := range order {
		c := &a.comps[i]
		p := &a.patterns[c.pattern]
		if at.x > 0 && at.x+p.w > limit {
			at = point{0, at.y + shelf + gap}
			shelf = 0
		}
		a.place(out, c, p, at)
		out.w, out.h = max(out.w, at.x+p.w), max(out.h, at.y+p.h)
		shelf = max(shelf, p.h)
		at.x += p.w + gap
	}
	return out
}

// place puts one component, turning Graphviz's y round.
func (a *arranger) place(out *placed, c *component, p *pattern, at point) {
	turn := func(q graphviz.Point) graphviz.Point {
		return graphviz.Point{X: at.x + q.X - p.shift.x, Y: at.y + p.h - (q.Y - p.shift.y)}
	}
	for k, n := range c.nodes {
		q := turn(p.layout.Nodes[k])
		out.boxes[n] = box{q.X, q.Y, a.size[n].x, a.size[n].y}
	}
	if len(p.layout.Curves) == 0 {
		return
	}
	number := make(map[[2]int32]int32, len(c.edges))
	for _, e := range c.edges {
		number[[2]int32{a.pred[e], a.succ[e]}] = e
	}
	for _, curve := range p.layout.Curves {
		e, ok := number[[2]int32{c.nodes[curve.Tail], c.nodes[curve.Head]}]
		if !ok {
			continue
		}
		points := make([]graphviz.Point, len(curve.Points))
		for i, q := range curve.Points {
			points[i] = turn(q)
		}
		out.curves[int(e)] = points
	}
}
