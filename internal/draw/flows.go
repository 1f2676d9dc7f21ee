package draw

import (
	"slices"
	"sort"
	"sync"

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
			if i := d.submitted(s.record, runAt(lane.Run, j), id); i >= 0 {
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

// submitted is the task that a submit is of, −1 if it has one already or did not
// run. A submit of the host names no run: of several runs it is of the first whose
// task has none yet.
func (d *drawing) submitted(record []int32, run int32, id uint64) int32 {
	if !d.submits.host {
		if i := d.t.Tasks.Find(run, id); i >= 0 && record[i] < 0 {
			return i
		}
		return -1
	}
	of := d.tasksOf(id)
	i := sort.Search(len(of), func(i int) bool { return record[of[i]] < 0 }) // they are given out in order
	if i == len(of) {
		return -1
	}
	return of[i]
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
