package draw

import (
	"cmp"
	"slices"

	"swimlane/timeline"
	"swimlane/trace"
)

// flows lays out all arrows in the order of spec/converter.md §5. Every arrow
// starts and ends inside its own bars; one that has no bar at an end cannot be
// shown by a viewer, so it is left out and counted.
func (d *drawing) flows() {
	a := d.newAnchorage()
	if d.t.Graph != nil {
		d.pic.Report.Edges = d.t.Graph.Edges()
		d.dependencies(a, viewWorkers)
		if d.t.Timed() {
			d.dependencies(a, viewScheds)
		}
	}
	if !d.hasStreams || !d.t.Timed() {
		return
	}
	pub := d.publications()
	if d.t.Rec.Meta.CoreToThread != nil {
		d.completions(a, pub)
	}
	d.add(dispatchSection{d, d.number(2 * int64(d.t.Rows.Len())), pub})
	d.submitArrows(pub)
}

// number reserves n flow ids and returns the first.
func (d *drawing) number(n int64) int64 {
	first := d.flowID
	d.flowID += n
	return first
}

// dependencySection draws the edges of the graph in one view; an item is a
// predecessor.
type dependencySection struct {
	*drawing
	a     *anchorage
	v     view
	first []int64 // flow id of the first arrow per predecessor
}

func (d *drawing) dependencies(a *anchorage, v view) {
	g := d.t.Graph
	s := dependencySection{d, a, v, make([]int64, len(g.Preds())+1)}
	var preds, succs []anchor
	arrows := int64(0)
	for i, p := range g.Preds() {
		s.first[i] = d.flowID + arrows
		preds = d.ofNode(a, v, p, preds[:0])
		if len(preds) == 0 {
			continue
		}
		for _, q := range g.Succ(p) {
			succs = d.ofNode(a, v, q, succs[:0])
			if len(succs) == 0 {
				continue
			}
			arrows += int64(len(preds)) * int64(len(succs))
			if v == viewWorkers {
				d.pic.Report.Drawn++
			}
			for _, x := range preds {
				for _, y := range succs {
					if !d.violates(v, x, y) {
						continue
					}
					if v == viewWorkers {
						d.pic.Report.Violations++
					}
					if d.start(v, y) < d.start(v, x) {
						d.pic.Report.Reversed++
						d.noteReversed(v, x, y, g.ID(p), g.ID(q))
					}
				}
			}
		}
	}
	s.first[len(g.Preds())] = d.flowID + arrows
	d.number(arrows)
	d.pic.Report.Arrows += arrows
	d.add(s)
}

func (s dependencySection) Len() int { return len(s.t.Graph.Preds()) }

func (s dependencySection) Walk(from, to int, sink trace.Sink) {
	g := s.t.Graph
	var preds, succs []anchor
	for i := from; i < to; i++ {
		p := g.Preds()[i]
		id := s.first[i]
		if id == s.first[i+1] {
			continue
		}
		preds = s.ofNode(s.a, s.v, p, preds[:0])
		out := s.blocks(s.a, p)
		for _, q := range g.Succ(p) {
			succs = s.ofNode(s.a, s.v, q, succs[:0])
			if len(succs) == 0 {
				continue
			}
			in := s.blocks(s.a, q)
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

// publications finds, for every row, the scheduler bar that published it; −1 if
// there is none.
func (d *drawing) publications() []int32 {
	pub := make([]int32, d.t.Rows.Len())
	for row := range pub {
		pub[row] = -1
		th := d.t.CoreOf(row).Thread
		if !d.t.Rows.Timed(row) || th < 0 {
			continue
		}
		if int(th) < len(d.streams) {
			pub[row] = d.barAt(int(th), d.t.Rows.Dispatch[row], d.t.IDOf(row))
		}
		if pub[row] < 0 {
			d.pic.Report.Unbound["dispatch"] += 2
		} else {
			d.pic.Report.Arrows += 2
		}
	}
	return pub
}

// published is the place of a row's dispatch on the scheduler's lane.
func (d *drawing) published(row int, pub []int32) trace.Point {
	return d.recordPoint(int(d.t.CoreOf(row).Thread), pub[row], d.t.Clock.Ns(d.t.Rows.Dispatch[row]))
}

// dispatchSection draws the arrows from the scheduler to the two views of a row
// (spec/converter.md §5.4).
type dispatchSection struct {
	*drawing
	first int64
	pub   []int32
}

func (s dispatchSection) Len() int { return len(s.pub) }

func (s dispatchSection) Walk(from, to int, sink trace.Sink) {
	rows, clock := &s.t.Rows, &s.t.Clock
	for row := from; row < to; row++ {
		if s.pub[row] < 0 {
			continue
		}
		f := trace.Flow{ID: s.first + 2*int64(row), Name: "dispatch", From: s.published(row, s.pub)}
		start, end, inner := s.workerSpan(row)
		f.To = trace.Point{Lane: s.workerLane(row), Time: own(clock.Ns(rows.Start[row]), start, end, inner), Bind: trace.NoID}
		sink.Flow(&f)
		f.ID++
		f.To = s.at(viewScheds, anchor{row: int32(row)})
		sink.Flow(&f)
	}
}

// submitArrows draws the arrows from the orchestrator to the scheduler
// (spec/converter.md §5.5). A host orchestrator's clock does not say how far
// apart the two are, so it has none.
func (d *drawing) submitArrows(pub []int32) {
	if len(d.submits.lanes) == 0 || d.submits.host {
		return
	}
	s := submitArrowSection{d, d.number(int64(d.t.Rows.Len())), pub, make([]int32, d.t.Tasks.Len()), make([]int32, d.t.Tasks.Len())}
	for i := range s.record {
		s.record[i] = -1
	}
	for l := range d.submits.lanes {
		lane := &d.submits.lanes[l]
		for j, id := range lane.Task {
			if !lane.Has[j] {
				continue
			}
			if i := d.t.Tasks.Find(id); i >= 0 && s.record[i] < 0 {
				s.lane[i], s.record[i] = int32(l), int32(j)
			}
		}
	}
	for row := range d.t.Rows.Core {
		if d.t.Rows.Timed(row) && d.t.CoreOf(row).Thread >= 0 && s.record[d.t.Rows.Task[row]] >= 0 {
			if pub[row] < 0 {
				d.pic.Report.Unbound["submit→dispatch"]++
			} else {
				d.pic.Report.Arrows++
			}
		}
	}
	d.add(s)
}

type submitArrowSection struct {
	*drawing
	first        int64
	pub          []int32
	lane, record []int32 // per task: its first submit, record −1 if there is none
}

func (s submitArrowSection) Len() int { return len(s.pub) }

func (s submitArrowSection) Walk(from, to int, sink trace.Sink) {
	for row := from; row < to; row++ {
		task := s.t.Rows.Task[row]
		if s.pub[row] < 0 || s.record[task] < 0 {
			continue
		}
		l, j := int(s.lane[task]), int(s.record[task])
		start, end := s.submitSpan(l, j)
		sink.Flow(&trace.Flow{
			ID: s.first + int64(row), Name: "submit→dispatch",
			From: trace.Point{Lane: s.submitLane(l, j), Time: own(end, start, end, s.submits.inner[l][int32(j)]), Bind: trace.NoID},
			To:   s.published(row, s.pub),
		})
	}
}

// completed is a task with the complete record that retired it.
type completed struct {
	task int32
	row  int32 // the row that finished last
	timeline.Finish
}

// completions draws the arrows of spec/converter.md §5.3: from the bars of a
// task to the record that completed it, and on to what that record released.
func (d *drawing) completions(a *anchorage, pub []int32) {
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
	s := completeSection{d, a, list, make([]int64, len(list)+1)}
	var anchors []anchor
	n := int64(0)
	for i := range list {
		s.first[i] = d.flowID + n
		for v := range view(2) {
			anchors = d.ofTask(a, v, list[i].task, anchors[:0])
			n += int64(len(anchors))
		}
	}
	s.first[len(list)] = d.flowID + n
	d.number(n)
	d.pic.Report.Arrows += n
	d.add(s)
	if d.t.Graph != nil {
		d.releases(a, list, pub)
	}
}

type completeSection struct {
	*drawing
	a     *anchorage
	list  []completed
	first []int64
}

func (s completeSection) Len() int { return len(s.list) }

// beforeEnd is how far in front of a bar's end its completion arrow leaves, in ns.
const beforeEnd = 10

func (s completeSection) Walk(from, to int, sink trace.Sink) {
	rows, clock := &s.t.Rows, &s.t.Clock
	var anchors []anchor
	for i := from; i < to; i++ {
		c := &s.list[i]
		f := trace.Flow{ID: s.first[i], Name: "complete", To: s.completionPoint(c)}
		anchors = s.ofTask(s.a, viewWorkers, c.task, anchors[:0])
		for _, x := range anchors {
			start, end, inner := s.workerSpan(int(x.row))
			f.From = trace.Point{Lane: s.workerLane(int(x.row)), Time: own(end-beforeEnd, start, end, inner), Bind: int64(x.row)}
			sink.Flow(&f)
			f.ID++
		}
		anchors = s.ofTask(s.a, viewScheds, c.task, anchors[:0])
		for _, x := range anchors {
			start, end := clock.Ns(rows.Dispatch[x.row]), clock.Ns(rows.Finish[x.row])
			f.From = trace.Point{Lane: s.schedLane(int(x.row)), Time: own(end-beforeEnd, start, end, 0), Bind: s.schedID(int(x.row))}
			sink.Flow(&f)
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

// releases finds the complete records that make consumers ready: the one in
// which the last of a consumer's predecessors was completed.
func (d *drawing) releases(a *anchorage, list []completed, pub []int32) {
	g := d.t.Graph
	type record struct {
		end            uint64
		stream, record int32
	}
	var order []record
	byRecord := map[[2]int32][]int32{}
	for i := range list {
		key := [2]int32{list[i].Stream, list[i].Record}
		if len(byRecord[key]) == 0 {
			order = append(order, record{d.t.Rec.Streams[key[0]].Phases.End[key[1]], key[0], key[1]})
		}
		byRecord[key] = append(byRecord[key], int32(i))
	}
	slices.SortFunc(order, func(x, y record) int {
		return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.stream, y.stream), cmp.Compare(x.record, y.record))
	})
	count := make([]int32, g.Nodes())
	var out []release
	for _, r := range order {
		for _, i := range byRecord[[2]int32{r.stream, r.record}] {
			node := d.t.Tasks.Node[list[i].task]
			if node < 0 {
				continue
			}
			for _, q := range g.Succ(node) {
				if count[q]++; int(count[q]) != len(g.Pred(q)) {
					continue
				}
				row := d.firstDispatch(a, q)
				if row < 0 || d.t.CoreOf(int(row)).Thread < 0 || d.t.Rows.Dispatch[row] < r.end {
					continue
				}
				if pub[row] < 0 {
					d.pic.Report.Unbound["complete→ready"]++
					continue
				}
				out = append(out, release{r.stream, r.record, row})
			}
		}
	}
	d.pic.Report.Arrows += int64(len(out))
	d.add(releaseSection{d, d.number(int64(len(out))), pub, out})
}

// firstDispatch is the row of a node that was dispatched first, −1 if none was.
func (d *drawing) firstDispatch(a *anchorage, node int32) int32 {
	best := int32(-1)
	if task := a.task[node]; task >= 0 {
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
	pub   []int32
	list  []release
}

func (s releaseSection) Len() int { return len(s.list) }

func (s releaseSection) Walk(from, to int, sink trace.Sink) {
	for i := from; i < to; i++ {
		r := &s.list[i]
		end := s.t.Clock.Ns(s.t.Rec.Streams[r.stream].Phases.End[r.record])
		sink.Flow(&trace.Flow{
			ID: s.first + int64(i), Name: "complete→ready",
			From: s.recordPoint(int(r.stream), r.record, end-beforeEnd),
			To:   s.published(int(r.row), s.pub),
		})
	}
}
