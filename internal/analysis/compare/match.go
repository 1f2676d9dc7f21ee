package compare

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"

	"swimlane/internal/taskgraph"
)

// Graphs says how the task graphs of the two sides relate.
type Graphs struct {
	A, B           bool // there is one
	NodesA, NodesB int  // all tasks
	EdgesA, EdgesB int
	OnlyA, OnlyB   int // tasks that the other does not have, by id
	MoreA, MoreB   int // edges that the other does not have
	Kernels        int // tasks of both with other kernels or another number of blocks
}

// Equal reports whether both sides have the same graph: tasks, edges, what runs.
func (g *Graphs) Equal() bool {
	return g.A && g.B && g.OnlyA == 0 && g.OnlyB == 0 && g.MoreA == 0 && g.MoreB == 0 && g.Kernels == 0
}

// SameGraph reports whether two graphs are equal.
func SameGraph(a, b *taskgraph.Graph) bool {
	g := graphsOf(a, b)
	return g.Equal()
}

func compareGraphs(a, b *Side) Graphs { return graphsOf(a.Graph, b.Graph) }

func graphsOf(a, b *taskgraph.Graph) Graphs {
	g := Graphs{A: a != nil, B: b != nil}
	if g.A {
		g.NodesA, g.EdgesA = a.Nodes(), a.Edges()
	}
	if g.B {
		g.NodesB, g.EdgesB = b.Nodes(), b.Edges()
	}
	if !g.A || !g.B {
		return g
	}
	if a == b {
		return g
	}
	g.OnlyA, g.MoreA, g.Kernels = missing(a, b)
	g.OnlyB, g.MoreB, _ = missing(b, a)
	return g
}

// missing counts what of one graph is not in another.
func missing(of, in *taskgraph.Graph) (nodes, edges, kernels int) {
	there := make([]int32, of.Nodes())
	for n := range there {
		there[n] = -1
		if m, ok := in.Node(of.ID(int32(n))); ok {
			there[n] = m
		}
	}
	after := make([]int32, in.Nodes()) // n+1 of the last node of which it is a successor
	for n, m := range there {
		if m < 0 {
			nodes++
			edges += len(of.Succ(int32(n)))
			continue
		}
		for _, s := range in.Succ(m) {
			after[s] = int32(n) + 1
		}
		for _, s := range of.Succ(int32(n)) {
			if there[s] < 0 || after[there[s]] != int32(n)+1 {
				edges++
			}
		}
		x, hasX := of.Kernel(int32(n))
		y, hasY := in.Kernel(m)
		if hasX != hasY || x != y || of.Block(int32(n)) != in.Block(m) {
			kernels++
		}
	}
	return nodes, edges, kernels
}

// Match says which tasks of the two sides are the same.
type Match struct {
	Pairs [][2]int32 // indexes into Timeline.Tasks
	// How many of them were found how:
	ByID     int // the task id, where the graphs are equal or there is none
	ByBefore int // what they run and everything that they depend on, in the order of submits
	ByOrder  int // what they run, in the order of submits, where as many are left on both sides
	OnlyA    int // without a partner
	OnlyB    int
	// Unproven: the task ids are taken for the same without a graph that says so.
	Unproven bool
}

// match finds the tasks that belong together.
func (r *Result) match() {
	m := &r.Match
	a, b := &r.A.Timeline.Tasks, &r.B.Timeline.Tasks
	if r.Graphs.Equal() || !r.Graphs.A || !r.Graphs.B {
		for i, id := range a.ID {
			if k := b.Find(0, id); k >= 0 {
				m.Pairs = append(m.Pairs, [2]int32{int32(i), k})
			}
		}
		m.ByID = len(m.Pairs)
		m.Unproven = !r.Graphs.Equal()
	} else {
		r.matchBySignature()
	}
	m.OnlyA, m.OnlyB = a.Len()-len(m.Pairs), b.Len()-len(m.Pairs)
}

// matchBySignature pairs tasks of different graphs: first those that run the same and
// depend on the same, all the way back; then of what is left those that run the same,
// if both sides have as many of them. Equal ones are paired in the order of submits.
func (r *Result) matchBySignature() {
	m := &r.Match
	la, lb := newSignatures(r.A), newSignatures(r.B)
	doneA, doneB := make([]bool, len(la.order)), make([]bool, len(lb.order))
	pass := func(signA, signB []uint64, evenly bool) (found int) {
		groups := map[uint64]*[2][]int32{}
		collect := func(side int, l *signatures, sign []uint64, done []bool) {
			for _, task := range l.order {
				if done[task] {
					continue
				}
				g := groups[sign[task]]
				if g == nil {
					g = &[2][]int32{}
					groups[sign[task]] = g
				}
				g[side] = append(g[side], task)
			}
		}
		collect(0, la, signA, doneA)
		collect(1, lb, signB, doneB)
		for _, g := range groups {
			if evenly && len(g[0]) != len(g[1]) {
				continue
			}
			for i := range min(len(g[0]), len(g[1])) {
				m.Pairs = append(m.Pairs, [2]int32{g[0][i], g[1][i]})
				doneA[g[0][i]], doneB[g[1][i]] = true, true
				found++
			}
		}
		return found
	}
	m.ByBefore = pass(la.before, lb.before, false)
	m.ByOrder = pass(la.own, lb.own, true)
	slices.SortFunc(m.Pairs, func(x, y [2]int32) int { return cmp.Compare(x[0], y[0]) })
}

// signatures say by numbers what tasks run and depend on.
type signatures struct {
	order  []int32  // tasks in the order of submits
	own    []uint64 // per task: what it runs
	before []uint64 // and what everything runs that it depends on
}

func newSignatures(s *Side) *signatures {
	t, g := s.Timeline, s.Graph
	l := &signatures{own: make([]uint64, t.Tasks.Len()), before: make([]uint64, t.Tasks.Len())}
	for i := range t.Tasks.Len() {
		l.order = append(l.order, int32(i))
		l.own[i] = s.runs(int32(i))
		l.before[i] = l.own[i]
	}
	// Ids count up in the order of submits, ring by ring.
	slices.SortStableFunc(l.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(uint32(t.Tasks.ID[a]), uint32(t.Tasks.ID[b])), cmp.Compare(t.Tasks.ID[a], t.Tasks.ID[b]))
	})
	order, _ := g.Order()
	if order == nil { // it goes in circles: nothing lies before
		return l
	}
	node := make([]uint64, g.Nodes())
	task := make([]int32, g.Nodes())
	for i := range task {
		task[i] = -1
	}
	for i, n := range t.Tasks.Node {
		if n >= 0 {
			task[n] = int32(i)
		}
	}
	var preds []uint64
	for _, n := range order {
		own := uint64(0)
		if task[n] >= 0 {
			own = l.own[task[n]]
		}
		preds = preds[:0]
		for _, p := range g.Pred(n) {
			if p != n {
				preds = append(preds, node[p])
			}
		}
		slices.Sort(preds)
		node[n] = mixed(own, preds)
		if task[n] >= 0 {
			l.before[task[n]] = node[n]
		}
	}
	return l
}

// mixed is one number for several.
func mixed(own uint64, more []uint64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], own)
	h.Write(b[:])
	for _, v := range more {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	return h.Sum64()
}

// runs is a number for the functions that a task runs, and on what kinds of cores.
func (s *Side) runs(task int32) uint64 {
	t := s.Timeline
	from, to := t.Tasks.Rows(task)
	var what []string
	for row := from; row < to; row++ {
		what = append(what, t.CoreOf(row).Type+" "+s.functions[t.Rows.Func[row]])
	}
	slices.Sort(what)
	h := fnv.New64a()
	h.Write([]byte(strings.Join(slices.Compact(what), "\n")))
	return h.Sum64()
}
