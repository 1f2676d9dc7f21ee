package draw

import (
	"cmp"
	"slices"

	"swimlane/timeline"
	"swimlane/trace"
)

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
