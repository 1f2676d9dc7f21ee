package draw

import (
	"cmp"
	"slices"
	"sync"

	"swimlane/timeline"
	"swimlane/trace"
)

// arrowPlan is what the arrows' layout found out, before they are numbered. Its
// parts are computed side by side.
type arrowPlan struct {
	anchors  *anchorage
	items    []edgeItem  // predecessors whose edges are drawn
	pub      []int32     // scheduler bar that published each row, −1 if there is none
	done     []completed // tasks with the record that completed them
	deps     [2]dependencyPlan
	releases []release
	unready  int64 // releases without a bar to end at
}

// planRows prepares what needs no lanes.
func (d *drawing) planRows() {
	if !d.hasStreams || !d.t.Timed() {
		return
	}
	d.plan.pub = d.publications()
	if d.t.Rec.Meta.CoreToThread != nil {
		d.plan.done = d.completed()
	}
}

// flows lays out all arrows in the order of spec/converter.md §5. Every arrow
// starts and ends inside its own bars; one that has no bar at an end cannot be
// shown by a viewer, so it is left out and counted.
func (d *drawing) flows() {
	p, r := &d.plan, &d.pic.Report
	p.anchors = d.newAnchorage()
	var plans sync.WaitGroup
	if d.t.Graph != nil {
		r.Edges = d.t.Graph.Edges()
		p.items = d.edgeItems()
		plans.Go(func() { p.deps[viewWorkers] = d.dependencies(viewWorkers) })
		if d.t.Timed() {
			plans.Go(func() { p.deps[viewScheds] = d.dependencies(viewScheds) })
		}
		if p.done != nil {
			p.releases, p.unready = d.released()
		}
	}
	plans.Wait()
	for v := range p.deps {
		if dep := &p.deps[v]; dep.first != nil {
			base := d.number(dep.first[len(dep.first)-1])
			for i := range dep.first {
				dep.first[i] += base
			}
			r.Reversed += dep.reversed
			r.Arrows += dep.first[len(dep.first)-1] - base
			d.add(dependencySection{d, view(v), dep.first})
		}
	}
	r.Violating = p.deps[viewWorkers].violating
	r.Drawn, r.Violations = p.deps[viewWorkers].edges, p.deps[viewWorkers].violations
	if n := d.selfEdges(); n > 0 {
		d.warn("self-edges", n, "%d edge(s) of the graph lead from a task to itself; they are not drawn.", n)
	}
	if p.pub != nil {
		if p.done != nil {
			d.completions()
			r.Arrows += int64(len(p.releases))
			d.add(releaseSection{d, d.number(int64(len(p.releases)))})
		}
		d.dispatches()
		d.submitArrows()
	}
	if p.unready > 0 {
		r.Unbound["complete→ready"] = p.unready
	}
}

// number reserves n flow ids and returns the first.
func (d *drawing) number(n int64) int64 {
	first := d.flowID
	d.flowID += n
	return first
}

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

// forward passes an arrow on, from its earlier end to its later one. Skewed
// counters can put a dispatch behind the kernel's start, or a finish before its
// end; viewers lose an arrow that ends before it starts, and draw from the
// earlier bar whatever the file says.
func forward(sink trace.Sink, f *trace.Flow) {
	if f.From.Time <= f.To.Time {
		sink.Flow(f)
		return
	}
	turned := *f // the caller goes on with f
	turned.From, turned.To = f.To, f.From
	sink.Flow(&turned)
}

// publications finds, for every row, the scheduler bar that published it; −1 if
// there is none, −2 if the row's scheduler is not known or the row not drawn.
func (d *drawing) publications() []int32 {
	pub := make([]int32, d.t.Rows.Len())
	for row := range pub {
		pub[row] = noThread
		th := d.t.CoreOf(row).Thread
		if !d.t.Rows.Timed(row) || th < 0 || !d.rowKept(row) {
			continue
		}
		pub[row] = noBar
		if int(th) < len(d.streams) {
			pub[row] = d.barAt(int(th), d.t.Rows.Dispatch[row], d.t.IDOf(row))
		}
	}
	return pub
}

const (
	noBar    = -1
	noThread = -2
)

// published is the place of a row's dispatch on the scheduler's lane.
func (d *drawing) published(row int) trace.Point {
	return d.recordPoint(int(d.t.CoreOf(row).Thread), d.plan.pub[row], d.t.Clock.Ns(d.t.Rows.Dispatch[row]))
}

// dispatchSection draws the arrows from the scheduler to the two views of a row
// (spec/converter.md §5.4).
type dispatchSection struct {
	*drawing
	first int64
}

func (d *drawing) dispatches() {
	n, lost := int64(0), int64(0)
	for _, bar := range d.plan.pub {
		switch {
		case bar >= 0:
			n += 2
		case bar == noBar:
			lost += 2
		}
	}
	if lost > 0 {
		d.pic.Report.Unbound["dispatch"] = lost
		d.pic.Report.NoRecords = d.silentThreads()
	}
	d.pic.Report.Arrows += n
	d.add(dispatchSection{d, d.number(2 * int64(len(d.plan.pub)))})
}

// silentThreads are the scheduler threads that timed rows name and that recorded nothing.
func (d *drawing) silentThreads() (out []int) {
	seen := map[int32]bool{}
	for row, bar := range d.plan.pub {
		th := d.t.CoreOf(row).Thread
		if bar != noBar || seen[th] {
			continue
		}
		seen[th] = true
		if int(th) >= len(d.t.Rec.Streams) || d.t.Rec.Streams[th].Gap {
			out = append(out, int(th))
		}
	}
	slices.Sort(out)
	return out
}

func (s dispatchSection) Len() int { return len(s.plan.pub) }

func (s dispatchSection) Walk(from, to int, sink trace.Sink) {
	rows, clock := &s.t.Rows, &s.t.Clock
	for row := from; row < to; row++ {
		if s.plan.pub[row] < 0 {
			continue
		}
		f := trace.Flow{ID: s.first + 2*int64(row), Name: "dispatch", From: s.published(row)}
		start, end, inner := s.workerSpan(row)
		f.To = trace.Point{Lane: s.workerLane(row), Time: own(clock.Ns(rows.Start[row]), start, end, inner), Bind: trace.NoID}
		forward(sink, &f)
		f.ID++
		f.To = s.at(viewScheds, anchor{row: int32(row)})
		forward(sink, &f)
	}
}

// submitArrows draws the arrows from the orchestrator to the scheduler
// (spec/converter.md §5.5). A host orchestrator's clock says how far apart
// the two are only where it is aligned with the device's.
func (d *drawing) submitArrows() {
	comparable := !d.submits.host || d.t.Placed && d.t.Host.Complete
	if len(d.submits.lanes) == 0 || !comparable {
		return
	}
	s := submitArrowSection{d, d.number(int64(d.t.Rows.Len())), make([]int32, d.t.Tasks.Len()), make([]int32, d.t.Tasks.Len())}
	for i := range s.record {
		s.record[i] = -1
	}
	for l := range d.submits.lanes {
		lane := &d.submits.lanes[l]
		for j, id := range lane.Task {
			if !lane.Has[j] {
				continue
			}
			if i := d.t.Tasks.Find(runAt(lane.Run, j), id); i >= 0 && s.record[i] < 0 {
				s.lane[i], s.record[i] = int32(l), int32(j)
			}
		}
	}
	for row, bar := range d.plan.pub {
		if s.record[d.t.Rows.Task[row]] < 0 {
			continue
		}
		switch {
		case bar >= 0:
			d.pic.Report.Arrows++
		case bar == noBar:
			d.pic.Report.Unbound["submit→dispatch"]++
		}
	}
	d.add(s)
}

type submitArrowSection struct {
	*drawing
	first        int64
	lane, record []int32 // per task: its first submit, record −1 if there is none
}

func (s submitArrowSection) Len() int { return len(s.plan.pub) }

func (s submitArrowSection) Walk(from, to int, sink trace.Sink) {
	for row := from; row < to; row++ {
		task := s.t.Rows.Task[row]
		if s.plan.pub[row] < 0 || s.record[task] < 0 {
			continue
		}
		l, j := int(s.lane[task]), int(s.record[task])
		start, end := s.submitSpan(l, j)
		forward(sink, &trace.Flow{
			ID: s.first + int64(row), Name: "submit→dispatch",
			From: trace.Point{Lane: s.submitLane(l, j), Time: own(end, start, end, s.submits.inner[l][int32(j)]), Bind: trace.NoID},
			To:   s.published(row),
		})
	}
}

// completed is a task with the complete record that retired it.
type completed struct {
	task int32
	row  int32 // the row that finished last
	timeline.Finish
}

// completed finds the record that completed each task (spec/converter.md §5.3).
func (d *drawing) completed() []completed {
	var list []completed
	for i := range int32(d.t.Tasks.Len()) {
		from, to := d.t.Tasks.Rows(i)
		last := -1
		for row := from; row < to; row++ {
			if d.t.Rows.Timed(row) && (last < 0 || d.t.Rows.Finish[row] > d.t.Rows.Finish[last]) {
				last = row
			}
		}
		if last < 0 {
			continue
		}
		if f, ok := d.t.FinishOf(last); ok {
			list = append(list, completed{i, int32(last), f})
		}
	}
	return list
}

// completions draws the arrows from the bars of a task to the record that
// completed it.
func (d *drawing) completions() {
	list := d.plan.done
	s := completeSection{d, make([]int64, len(list)+1)}
	var anchors []anchor
	n := int64(0)
	for i := range list {
		s.first[i] = d.flowID + n
		for v := range view(2) {
			anchors = d.ofTask(d.plan.anchors, v, list[i].task, anchors[:0])
			n += int64(len(anchors))
		}
	}
	s.first[len(list)] = d.flowID + n
	d.number(n)
	d.pic.Report.Arrows += n
	d.add(s)
}

type completeSection struct {
	*drawing
	first []int64
}

func (s completeSection) Len() int { return len(s.plan.done) }

// beforeEnd is how far in front of a bar's end its completion arrow leaves, in ns.
const beforeEnd = 10

func (s completeSection) Walk(from, to int, sink trace.Sink) {
	rows, clock := &s.t.Rows, &s.t.Clock
	var anchors []anchor
	for i := from; i < to; i++ {
		c := &s.plan.done[i]
		f := trace.Flow{ID: s.first[i], Name: "complete", To: s.completionPoint(c)}
		anchors = s.ofTask(s.plan.anchors, viewWorkers, c.task, anchors[:0])
		for _, x := range anchors {
			start, end, inner := s.workerSpan(int(x.row))
			f.From = trace.Point{Lane: s.workerLane(int(x.row)), Time: own(end-beforeEnd, start, end, inner), Bind: int64(x.row)}
			forward(sink, &f)
			f.ID++
		}
		anchors = s.ofTask(s.plan.anchors, viewScheds, c.task, anchors[:0])
		for _, x := range anchors {
			start, end := clock.Ns(rows.Dispatch[x.row]), clock.Ns(rows.Finish[x.row])
			f.From = trace.Point{Lane: s.schedLane(int(x.row)), Time: own(end-beforeEnd, start, end, 0), Bind: s.schedID(int(x.row))}
			forward(sink, &f)
			f.ID++
		}
	}
}

// completionPoint is where a task's completion lies on the scheduler's lane.
func (d *drawing) completionPoint(c *completed) trace.Point {
	at := d.t.Rec.Streams[c.Stream].Phases.Start[c.Record]
	if c.Inside {
		at = d.t.Rows.Finish[c.row]
	}
	return d.recordPoint(int(c.Stream), c.Record, d.t.Clock.Ns(at))
}

// release is an arrow complete→ready.
type release struct {
	stream, record int32
	row            int32 // the consumer's row that was dispatched first
}

// released finds the complete records that make consumers ready: the one in
// which the last of a consumer's predecessors was completed.
func (d *drawing) released() (out []release, unbound int64) {
	g, list, pub := d.t.Graph, d.plan.done, d.plan.pub
	type done struct {
		end  uint64
		item int32
		run  int32
	}
	order := make([]done, len(list)) // run by run, in the order of the records' ends
	for i := range list {
		order[i] = done{d.t.Rec.Streams[list[i].Stream].Phases.End[list[i].Record], int32(i), d.t.Tasks.RunOf(list[i].task)}
	}
	slices.SortFunc(order, func(x, y done) int {
		if x.run != y.run {
			return int(x.run - y.run)
		}
		if c := cmp.Compare(x.end, y.end); c != 0 {
			return c
		}
		a, b := &list[x.item], &list[y.item]
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Record, b.Record), cmp.Compare(x.item, y.item))
	})
	count := make([]int32, g.Nodes())
	var counted []int32
	for i, o := range order {
		if i > 0 && o.run != order[i-1].run {
			for _, q := range counted {
				count[q] = 0
			}
			counted = counted[:0]
		}
		c := &list[o.item]
		node := d.t.Tasks.Node[c.task]
		if node < 0 {
			continue
		}
		for _, q := range g.Succ(node) {
			if count[q] == 0 && len(d.t.Rec.Runs) > 1 {
				counted = append(counted, q)
			}
			if count[q]++; int(count[q]) != len(g.Pred(q)) {
				continue
			}
			row := d.firstDispatch(d.plan.anchors, o.run, q)
			if row < 0 || d.t.CoreOf(int(row)).Thread < 0 || d.t.Rows.Dispatch[row] < o.end {
				continue
			}
			if pub[row] < 0 {
				if pub[row] == noBar {
					unbound++
				}
				continue
			}
			out = append(out, release{c.Stream, c.Record, row})
		}
	}
	return out, unbound
}

// firstDispatch is the row of a node that was dispatched first, −1 if none was.
func (d *drawing) firstDispatch(a *anchorage, run, node int32) int32 {
	best := int32(-1)
	if task := d.taskOf(a, run, node); task >= 0 {
		from, to := d.t.Tasks.Rows(task)
		for row := from; row < to; row++ {
			if d.t.Rows.Timed(row) && (best < 0 || d.t.Rows.Dispatch[row] < d.t.Rows.Dispatch[best]) {
				best = int32(row)
			}
		}
	}
	return best
}

type releaseSection struct {
	*drawing
	first int64
}

func (s releaseSection) Len() int { return len(s.plan.releases) }

func (s releaseSection) Walk(from, to int, sink trace.Sink) {
	for i := from; i < to; i++ {
		r := &s.plan.releases[i]
		end := s.t.Clock.Ns(s.t.Rec.Streams[r.stream].Phases.End[r.record])
		forward(sink, &trace.Flow{
			ID: s.first + int64(i), Name: "complete→ready",
			From: s.recordPoint(int(r.stream), r.record, end-beforeEnd),
			To:   s.published(int(r.row)),
		})
	}
}
