package draw

import (
	"cmp"
	"slices"

	"swimlane/trace"
)

// edgeItem is a predecessor in one run. One graph applies to every run by
// itself: no arrow crosses runs (spec/newest.md §6.3).
type edgeItem struct {
	run  int32
	node int32
}

// edgeItems lists the predecessors run by run, in the order of the graph.
func (d *drawing) edgeItems() []edgeItem {
	g := d.t.Graph
	if len(d.t.Rec.Runs) == 1 {
		items := make([]edgeItem, len(g.Preds()))
		for i, n := range g.Preds() {
			items[i] = edgeItem{0, n}
		}
		return items
	}
	place := make([]int32, g.Nodes()) // in the order of the graph
	for i, n := range g.Preds() {
		place[n] = int32(i)
	}
	var items []edgeItem
	add := func(run, node int32) {
		if len(g.Succ(node)) > 0 {
			items = append(items, edgeItem{run, node})
		}
	}
	for i, n := range d.t.Tasks.Node {
		if n >= 0 {
			add(d.t.Tasks.RunOf(int32(i)), n)
		}
	}
	for i := range d.marks.list {
		if n, ok := g.Node(d.marks.list[i].task); ok && d.marks.list[i].named {
			add(d.marks.list[i].run, n)
		}
	}
	slices.SortFunc(items, func(a, b edgeItem) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(place[a.node], place[b.node]))
	})
	return slices.Compact(items)
}

// selfEdges counts the edges from a task to itself: no viewer shows an arrow within one bar.
func (d *drawing) selfEdges() (n int64) {
	if d.t.Graph == nil {
		return 0
	}
	for _, p := range d.t.Graph.Preds() {
		if slices.Contains(d.t.Graph.Succ(p), p) {
			n++
		}
	}
	return n
}

// dependencyPlan counts the arrows of one view. first is the number of the
// first arrow per item, from 0; its last entry is their sum.
type dependencyPlan struct {
	first                []int64
	edges                int
	violations, reversed int64
	violating            []Violation
}

// mostViolating is how many violated edges a report names.
const mostViolating = 20

func (d *drawing) dependencies(v view) dependencyPlan {
	g, a := d.t.Graph, d.plan.anchors
	items := d.plan.items
	out := dependencyPlan{first: make([]int64, len(items)+1)}
	drawn := make([]bool, g.Edges()) // in some run
	var preds, succs []anchor
	arrows := int64(0)
	for i, item := range items {
		p := item.node
		out.first[i] = arrows
		preds = d.ofNode(a, v, item.run, p, preds[:0])
		if len(preds) == 0 {
			continue
		}
		for k, q := range g.Succ(p) {
			if q == p {
				continue
			}
			succs = d.ofNode(a, v, item.run, q, succs[:0])
			if len(succs) == 0 {
				continue
			}
			arrows += int64(len(preds)) * int64(len(succs))
			drawn[g.FirstEdge(p)+k] = true
			for _, x := range preds {
				for _, y := range succs {
					if !d.violates(v, x, y) {
						continue
					}
					out.violations++
					if len(out.violating) < mostViolating {
						out.violating = append(out.violating, Violation{g.ID(p), g.ID(q), d.end(v, x) - d.start(v, y)})
					}
					if d.start(v, y) < d.start(v, x) {
						out.reversed++
						d.noteReversed(v, x, y, g.ID(p), g.ID(q))
					}
				}
			}
		}
	}
	out.first[len(items)] = arrows
	for _, yes := range drawn {
		if yes {
			out.edges++
		}
	}
	return out
}

// dependencySection draws the edges of the graph in one view; an item is a
// predecessor in one run.
type dependencySection struct {
	*drawing
	v     view
	first []int64 // flow id of the first arrow per item
}

func (s dependencySection) Len() int { return len(s.plan.items) }

func (s dependencySection) Walk(from, to int, sink trace.Sink) {
	g, a := s.t.Graph, s.plan.anchors
	var preds, succs []anchor
	for i := from; i < to; i++ {
		run, p := s.plan.items[i].run, s.plan.items[i].node
		id := s.first[i]
		if id == s.first[i+1] {
			continue
		}
		preds = s.ofNode(a, s.v, run, p, preds[:0])
		out := s.blocks(a, run, p)
		for _, q := range g.Succ(p) {
			if q == p {
				continue
			}
			succs = s.ofNode(a, s.v, run, q, succs[:0])
			if len(succs) == 0 {
				continue
			}
			in := s.blocks(a, run, q)
			for _, x := range preds {
				for _, y := range succs {
					f := trace.Flow{ID: id, Name: "dependency", From: s.at(s.v, x), To: s.at(s.v, y),
						Counted: true, InputTasks: in, OutputTasks: out}
					if s.violates(s.v, x, y) {
						f.Name = "hb_violation"
						if f.To.Time < f.From.Time {
							// Viewers draw from the earlier bar whatever the file says.
							f.From, f.To = f.To, f.From
						}
					}
					sink.Flow(&f)
					id++
				}
			}
		}
	}
}
