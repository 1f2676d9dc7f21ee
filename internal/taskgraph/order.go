package taskgraph

import "slices"

// Order returns the nodes so that every one stands behind its predecessors, in
// the order of their numbers where nothing else decides. A graph with a cycle has
// no such order: then it returns the ids of one cycle, each the predecessor of
// the next, and the last of the first. Edges from a node to itself do not count:
// nothing waits for itself.
func (g *Graph) Order() (order []int32, cycle []uint64) {
	n := int32(len(g.ids))
	waits := make([]int32, n)
	order = make([]int32, 0, n)
	for v := range n {
		for _, p := range g.Pred(v) {
			if p != v {
				waits[v]++
			}
		}
		if waits[v] == 0 {
			order = append(order, v)
		}
	}
	for i := 0; i < len(order); i++ {
		v := order[i]
		for _, s := range g.Succ(v) {
			if s == v {
				continue
			}
			if waits[s]--; waits[s] == 0 {
				order = append(order, s)
			}
		}
	}
	if len(order) == int(n) {
		return order, nil
	}
	return nil, g.cycle(waits)
}

// cycle follows predecessors among the nodes that still wait, each of which has
// one that waits too, until one comes again.
func (g *Graph) cycle(waits []int32) []uint64 {
	v := int32(slices.IndexFunc(waits, func(w int32) bool { return w > 0 }))
	at := make(map[int32]int)
	var path []int32
	for {
		if first, again := at[v]; again {
			path = path[first:]
			break
		}
		at[v] = len(path)
		path = append(path, v)
		for _, p := range g.Pred(v) {
			if p != v && waits[p] > 0 {
				v = p
				break
			}
		}
	}
	slices.Reverse(path)
	// It begins with the node of the smallest number, wherever the walk came in.
	first := slices.Index(path, slices.Min(path))
	ids := make([]uint64, 0, len(path))
	for i := range path {
		ids = append(ids, g.ids[path[(first+i)%len(path)]])
	}
	return ids
}

// Through bridges tasks that ran on no core (dummies, allocations, skipped ones),
// of which ran says no. For each of them it finds the best task that ran among
// those from which a path over such tasks alone leads to it: what waits for the
// task that ran on no core waits, in truth, for that one. −1 stands where there is
// none, and for tasks that ran. The best is the one that none of the others beats;
// beats must be a strict order. order is that of Order. The work grows with the
// number of edges, however many paths there are.
func (g *Graph) Through(order []int32, ran func(n int32) bool, beats func(a, b int32) bool) []int32 {
	best := make([]int32, len(g.ids))
	for i := range best {
		best[i] = -1
	}
	for _, v := range order {
		if ran(v) {
			continue
		}
		for _, p := range g.Pred(v) {
			if p == v {
				continue
			}
			if !ran(p) {
				p = best[p]
			}
			if p >= 0 && (best[v] < 0 || beats(p, best[v])) {
				best[v] = p
			}
		}
	}
	return best
}

// Producers calls visit for every task that ran and that v waits for, directly or
// over tasks that ran on no core, once each: its predecessors in order, those
// behind one that did not run in the place of that one. seen is scratch space that
// calls share, nil at first. Use Through where only the best of them counts: this
// looks at all of them for every v.
func (g *Graph) Producers(v int32, ran func(n int32) bool, seen *Seen, visit func(p int32)) {
	if len(seen.at) < len(g.ids) {
		seen.at = make([]int32, len(g.ids))
		seen.call = 0
	}
	seen.call++
	seen.at[v] = seen.call
	stack := seen.stack[:0]
	push := func(of int32) {
		for _, p := range slices.Backward(g.Pred(of)) {
			stack = append(stack, p)
		}
	}
	push(v)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen.at[p] == seen.call {
			continue
		}
		seen.at[p] = seen.call
		if ran(p) {
			visit(p)
		} else {
			push(p)
		}
	}
	seen.stack = stack
}

// Seen is what calls of Producers share.
type Seen struct {
	at    []int32 // the last call that came to a node
	call  int32
	stack []int32
}
