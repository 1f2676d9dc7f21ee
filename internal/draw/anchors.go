package draw

import "swimlane/trace"

// view is one of the two views that show dependencies.
type view int

const (
	viewWorkers view = iota
	viewScheds
)

// anchor is a bar that an arrow of a task starts or ends at: a row, or a mark.
type anchor struct {
	row  int32 // −1 for a mark
	mark int32
}

// anchorage knows the anchors of every task (spec/converter.md §5.1, §6).
type anchorage struct {
	task []int32 // graph node → task with rows, −1 if it has none; nil if there are several runs
	// Rows that stand for tasks of several blocks, per view: those of task i are
	// pool[off[i]] … pool[off[i+1]−1]. Nil if there are no such tasks.
	off  [2][]int32
	pool [2][]int32
}

func (d *drawing) newAnchorage() *anchorage {
	a := &anchorage{}
	if g := d.t.Graph; g != nil && len(d.t.Rec.Runs) == 1 {
		a.task = make([]int32, g.Nodes())
		for n := range a.task {
			a.task[n] = -1
		}
		for i, n := range d.t.Tasks.Node {
			if n >= 0 {
				a.task[n] = int32(i)
			}
		}
	}
	if d.pic.Report.SPMD > 0 {
		for v := range a.off {
			d.blockAnchors(a, view(v))
		}
	}
	return a
}

// taskOf is the task of a node in a run, −1 if it has no rows there.
func (d *drawing) taskOf(a *anchorage, run, node int32) int32 {
	if a.task != nil {
		return a.task[node]
	}
	return d.t.Tasks.Find(run, d.t.Graph.ID(node))
}

// blockAnchors picks one row per function of every task of several blocks: the
// one whose bar starts first in the view, on the smaller core if they tie.
func (d *drawing) blockAnchors(a *anchorage, v view) {
	rows := &d.t.Rows
	start := func(row int32) uint64 {
		if v == viewWorkers {
			return rows.Receive[row]
		}
		if !rows.Timed(int(row)) {
			return ^uint64(0)
		}
		return rows.Dispatch[row]
	}
	a.off[v] = make([]int32, d.t.Tasks.Len()+1)
	best := map[int32]int{}
	for i := range d.t.Tasks.SPMD {
		if d.t.Tasks.SPMD[i] {
			clear(best)
			from, to := d.t.Tasks.Rows(int32(i))
			for row := int32(from); row < int32(to); row++ {
				at, ok := best[rows.Func[row]]
				if !ok {
					best[rows.Func[row]] = len(a.pool[v])
					a.pool[v] = append(a.pool[v], row)
					continue
				}
				old := a.pool[v][at]
				if s, t := start(row), start(old); s < t || s == t && rows.Core[row] < rows.Core[old] {
					a.pool[v][at] = row
				}
			}
		}
		a.off[v][i+1] = int32(len(a.pool[v]))
	}
}

// ofTask appends the anchors of a task that has rows.
func (d *drawing) ofTask(a *anchorage, v view, task int32, out []anchor) []anchor {
	if d.t.Tasks.SPMD[task] {
		for _, row := range a.pool[v][a.off[v][task]:a.off[v][task+1]] {
			out = d.visible(v, row, out)
		}
		return out
	}
	from, to := d.t.Tasks.Rows(task)
	for row := from; row < to; row++ {
		out = d.visible(v, int32(row), out)
	}
	return out
}

// visible appends a row unless the view does not show it.
func (d *drawing) visible(v view, row int32, out []anchor) []anchor {
	if v == viewScheds && !d.t.Rows.Timed(int(row)) || !d.rowKept(int(row)) {
		return out
	}
	return append(out, anchor{row: row})
}

// ofNode appends the anchors of a node of the graph: its rows, else, in the
// Worker View, its marks.
func (d *drawing) ofNode(a *anchorage, v view, run, node int32, out []anchor) []anchor {
	if task := d.taskOf(a, run, node); task >= 0 {
		return d.ofTask(a, v, task, out)
	}
	if v == viewWorkers && len(d.marks.list) > 0 {
		for _, m := range d.marks.byTask[runTask{run, d.t.Graph.ID(node)}] {
			if !d.taskKept(run, d.t.Graph.ID(node)) {
				continue
			}
			out = append(out, anchor{row: -1, mark: m})
		}
	}
	return out
}

// blocks is the number of blocks a node stands for at an arrow's end.
func (d *drawing) blocks(a *anchorage, run, node int32) int64 {
	task := d.taskOf(a, run, node)
	spmd := d.t.SPMDNode(node)
	if task >= 0 {
		spmd = d.t.Tasks.SPMD[task]
	}
	if !spmd {
		return 1
	}
	if b := d.t.Graph.Block(node); b > 0 {
		return int64(b)
	}
	if task < 0 {
		return 1
	}
	from, to := d.t.Tasks.Rows(task)
	return int64(to - from)
}

// start is when an anchor's bar starts, in ns.
func (d *drawing) start(v view, a anchor) int64 {
	switch {
	case a.row < 0:
		return d.marks.list[a.mark].start
	case v == viewWorkers:
		return d.t.Clock.Ns(d.t.Rows.Receive[a.row])
	default:
		return d.t.Clock.Ns(d.t.Rows.Dispatch[a.row])
	}
}

// at is the start of an anchor's bar as an arrow's end.
func (d *drawing) at(v view, a anchor) trace.Point {
	switch {
	case a.row < 0:
		return trace.Point{Lane: d.markLane(a.mark), Time: d.start(v, a), Bind: d.markID(a.mark)}
	case v == viewWorkers:
		return trace.Point{Lane: d.workerLane(int(a.row)), Time: d.start(v, a), Bind: int64(a.row)}
	default:
		return trace.Point{Lane: d.schedLane(int(a.row)), Time: d.start(v, a), Bind: d.schedID(int(a.row))}
	}
}

// violates reports whether the predecessor had not ended when the successor's
// bar starts. Rows are compared in cycles: rounding must not decide.
func (d *drawing) violates(v view, pred, succ anchor) bool {
	if pred.row >= 0 && succ.row >= 0 {
		if v == viewWorkers {
			return d.t.Rows.End[pred.row] > d.t.Rows.Receive[succ.row]
		}
		return d.t.Rows.Finish[pred.row] > d.t.Rows.Dispatch[succ.row]
	}
	return d.end(v, pred) > d.start(v, succ)
}

// end is when an anchor's bar ends, in ns.
func (d *drawing) end(v view, a anchor) int64 {
	switch {
	case a.row < 0:
		return d.marks.list[a.mark].end
	case v == viewWorkers:
		return d.t.Clock.Ns(d.t.Rows.End[a.row])
	default:
		return d.t.Clock.Ns(d.t.Rows.Finish[a.row])
	}
}

// noteReversed remembers, for the bars' args, that an arrow runs against its edge.
func (d *drawing) noteReversed(v view, pred, succ anchor, predID, succID uint64) {
	before, after := d.workers.before, d.workers.after
	if v == viewScheds {
		before, after = d.scheds.before, d.scheds.after
	}
	// The arrows of one edge follow each other, so a repeated task is the last one.
	note := func(list []uint64, id uint64) []uint64 {
		if n := len(list); n > 0 && list[n-1] == id {
			return list
		}
		return append(list, id)
	}
	if pred.row >= 0 {
		after[pred.row] = note(after[pred.row], succID)
	} else {
		m := &d.marks.list[pred.mark]
		m.after = note(m.after, succID)
	}
	if succ.row >= 0 {
		before[succ.row] = note(before[succ.row], predID)
	} else {
		m := &d.marks.list[succ.mark]
		m.before = note(m.before, predID)
	}
}
