package hbg_test

import (
	"cmp"
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// units are the tasks that have rows, or would if they were not skipped, by id; of a
// graph its nodes.
type units struct {
	tasks map[uint64]*hbg.Task
	of    map[uint64][]uint64 // nodes of a graph task
}

func (b *bench) units() units {
	u := units{map[uint64]*hbg.Task{}, map[uint64][]uint64{}}
	for _, t := range b.built.Graph.Tasks {
		for _, n := range t.Nodes {
			u.of[t.ID] = append(u.of[t.ID], n.ID)
			u.tasks[n.ID] = n
		}
		u.tasks[t.ID] = t
	}
	return u
}

// runs tells whether a task has kernels that run.
func runs(t *hbg.Task) bool {
	return t.Form.Shape != sim.ShapeDummy && (t.Spec.Predicate == nil || t.Spec.Predicate())
}

// checkInvariants holds a capture against spec/collector.md §12.7 and §13, and the
// dependencies that are known beside those of the graph. It counts records by kind.
func (b *bench) checkInvariants(waits []edge) map[abi.PhaseKind]int {
	b.t.Helper()
	units, rows := b.units(), b.byTask()
	b.checkRows(units, rows)
	b.checkSchedulers(rows)
	b.checkResolver(units)
	b.checkGraphs(rows)
	for _, t := range b.built.Graph.Tasks {
		for _, p := range t.Producers {
			from := b.built.Graph.Tasks[p]
			waits = append(waits, edge{from.ID, t.ID, from.Spec.Early})
		}
		for _, n := range t.Nodes {
			for _, p := range n.Producers {
				waits = append(waits, edge{t.Nodes[p].ID, n.ID, t.Nodes[p].Spec.Early})
			}
		}
	}
	if len(waits) == 0 {
		b.t.Error("nothing waits for anything")
	}
	all := func(id uint64) (out []row) {
		out = append(out, rows[id]...)
		for _, n := range units.of[id] {
			out = append(out, rows[n]...)
		}
		return out
	}
	for _, e := range waits {
		for _, from := range all(e.from) {
			for _, to := range all(e.to) {
				if from.finish > to.dispatch && (!e.early || from.end > to.start) {
					b.t.Errorf("task %#x was dispatched at %d and started at %d, before %#x ended at %d and was seen to finish at %d; it may be placed early: %v",
						e.to, to.dispatch, to.start, e.from, from.end, from.finish, e.early)
				}
			}
		}
	}
	count := map[abi.PhaseKind]int{}
	for thread := range b.threads {
		for _, p := range b.phases(thread) {
			count[p.Kind]++
		}
	}
	return count
}

// checkRows: each task has the rows of its blocks, each in order, and those of a core
// one after the other, inside of a Complete of its thread.
func (b *bench) checkRows(u units, rows map[uint64][]row) {
	b.t.Helper()
	for id, t := range u.tasks {
		want := 0
		if runs(t) {
			want = t.Form.Subtasks
		}
		if len(rows[id]) != want {
			b.t.Errorf("task %#x has %d rows, want %d", id, len(rows[id]), want)
		}
	}
	complete := make([][]abi.SchedPhase, b.threads-1)
	for thread := range complete {
		for _, p := range b.phases(thread) {
			if p.Kind == abi.Complete {
				complete[thread] = append(complete[thread], p)
			}
		}
	}
	all := b.rows()
	for i, r := range all {
		if !(r.dispatch <= r.receive && r.receive <= r.start && r.start <= r.end && r.end <= r.finish) {
			b.t.Errorf("%+v is not in this order", r)
		}
		if i > 0 && all[i-1].core == r.core && (all[i-1].token >= r.token || all[i-1].end > r.receive) {
			b.t.Errorf("%+v follows %+v", r, all[i-1])
		}
		thread := abi.ClusterOf(r.core, b.clusters) % (b.threads - 1)
		if !slices.ContainsFunc(complete[thread], func(p abi.SchedPhase) bool { return p.StartTime <= r.finish && r.finish <= p.EndTime }) {
			b.t.Errorf("%+v was seen to finish in no Complete of thread %d", r, thread)
		}
	}
}

// checkSchedulers: the records of the threads with cores.
func (b *bench) checkSchedulers(rows map[uint64][]row) {
	b.t.Helper()
	subtasks, earlyBlocks, completed, hits := 0, 0, 0, 0
	for thread := range b.threads - 1 {
		var depths *[abi.QueueShapes]int16
		var outer []abi.SchedPhase
		iter := uint32(1)
		list := b.phases(thread)
		for i, p := range list {
			n := int(p.TasksProcessed)
			if p.LoopIter < iter || p.StartTime > p.EndTime {
				b.t.Errorf("thread %d: %+v, after iteration %d", thread, p, iter)
			}
			iter = p.LoopIter
			switch p.Kind {
			case abi.Complete, abi.Dispatch:
				if depths != nil && p.SharedDepthAtStart != *depths {
					b.t.Errorf("thread %d: %+v does not begin with the depths %v of the last one", thread, p, *depths)
				}
				depths = &list[i].SharedDepthAtEnd
			default:
				if p.SharedDepthAtStart != [abi.QueueShapes]int16{} || p.SharedDepthAtEnd != [abi.QueueShapes]int16{} {
					b.t.Errorf("thread %d: %+v has depths", thread, p)
				}
			}
			switch p.Kind {
			case abi.Complete:
				completed += n
			case abi.Dispatch:
				subtasks, hits = subtasks+n, hits+int(p.PhaseData[0])
				if n == 0 && (i != len(list)-1 || p.StartTime != p.EndTime) {
					b.t.Errorf("thread %d: %+v dispatches nothing and is not the last record, of no length", thread, p)
				}
			case abi.DrainPublish:
				subtasks += n
			case abi.EarlyDispatch:
				earlyBlocks += n
			case abi.Drain, abi.DrainPrepare, abi.GraphPrepare:
			default:
				b.t.Errorf("thread %d has a record of the kind %v: want it of the resolver only", thread, p.Kind)
			}
			if p.Kind != abi.DrainPrepare && p.Kind != abi.DrainPublish {
				outer = append(outer, p)
			}
		}
		b.checkApart(thread, outer)
	}
	total, tasks := 0, 0
	for _, list := range rows {
		total += len(list)
		tasks++
	}
	if completed != total {
		b.t.Errorf("%d subtasks are completed of %d that ran", completed, total)
	}
	if rest := total - subtasks; rest < earlyBlocks || rest > 3*earlyBlocks {
		b.t.Errorf("%d subtasks and %d early blocks were dispatched, and %d subtasks ran", subtasks, earlyBlocks, total)
	}
	if earlyBlocks == 0 && hits < tasks { // each task is popped once at least
		b.t.Errorf("%d tasks were popped, and %d ran", hits, tasks)
	}
}

// checkApart: records do not overlap.
func (b *bench) checkApart(thread int, list []abi.SchedPhase) {
	b.t.Helper()
	slices.SortStableFunc(list, func(a, b abi.SchedPhase) int {
		return cmp.Or(cmp.Compare(a.StartTime, b.StartTime), cmp.Compare(a.EndTime, b.EndTime))
	})
	for i := 1; i < len(list); i++ {
		if a, c := list[i-1], list[i]; a.EndTime > c.StartTime {
			b.t.Errorf("thread %d: %v until %d overlaps %v from %d", thread, a.Kind, a.EndTime, c.Kind, c.StartTime)
		}
	}
}

// checkResolver: each task is resolved once, in records that are apart.
func (b *bench) checkResolver(u units) {
	b.t.Helper()
	ordinary, waiting, dummies := 0, 0, 0
	var marked []uint64
	for id, t := range u.tasks {
		switch {
		case t.Alloc || t.Nodes != nil:
		case !runs(t):
			dummies++
			if t.Form.Shape == sim.ShapeDummy && b.arch == abi.A2A3 {
				marked = append(marked, id)
			}
		case t.Spec.Wait > 0:
			waiting++
		default:
			ordinary++
		}
	}
	var outer []abi.SchedPhase
	var got []uint64
	sum := map[abi.PhaseKind]int{}
	for _, p := range b.phases(b.threads - 1) {
		sum[p.Kind] += int(p.TasksProcessed)
		switch p.Kind {
		case abi.ResolveStandalone, abi.AsyncPoll, abi.Dummy:
			if p.TasksProcessed == 0 && p.Kind != abi.AsyncPoll || p.StartTime > p.EndTime {
				b.t.Errorf("resolver: %+v", p)
			}
			outer = append(outer, p)
		case abi.DummyTask:
			got = append(got, p.TaskID())
			if p.StartTime != p.EndTime || p.TasksProcessed != 1 {
				b.t.Errorf("resolver: %+v: want a moment, and one task", p)
			}
		default:
			b.t.Errorf("the resolver has a record of the kind %v", p.Kind)
		}
	}
	b.checkApart(b.threads-1, outer)
	b.checkPolls(outer)
	if sum[abi.ResolveStandalone] != ordinary || sum[abi.AsyncPoll] != waiting || sum[abi.Dummy] != dummies {
		b.t.Errorf("%d tasks are resolved, %d by polls and %d as dummies: want %d, %d and %d", sum[abi.ResolveStandalone], sum[abi.AsyncPoll], sum[abi.Dummy], ordinary, waiting, dummies)
	}
	slices.Sort(got)
	slices.Sort(marked)
	if !slices.Equal(got, marked) {
		b.t.Errorf("DummyTask records of %#x, want %#x", got, marked)
	}
}

// checkPolls: polls without result are recorded when a pass begins, or at the end; and
// passes of an iteration come in the order of spec/collector.md §13: what has finished,
// a poll, dummies.
func (b *bench) checkPolls(outer []abi.SchedPhase) {
	b.t.Helper()
	place := map[abi.PhaseKind]int{abi.ResolveStandalone: 0, abi.AsyncPoll: 1, abi.Dummy: 2}
	for i, p := range outer {
		flushed := p.Kind == abi.AsyncPoll && p.TasksProcessed == 0
		if i+1 == len(outer) {
			continue
		}
		next := outer[i+1]
		if flushed && (next.Kind == abi.AsyncPoll || next.StartTime != p.EndTime || next.LoopIter != p.LoopIter) {
			b.t.Errorf("resolver: polls without result are recorded as %+v, and %+v follows: want a pass that begins there", p, next)
		}
		if !flushed && next.LoopIter == p.LoopIter && place[next.Kind] <= place[p.Kind] && (next.Kind != abi.AsyncPoll || next.TasksProcessed > 0) {
			b.t.Errorf("resolver: in one iteration %+v follows %+v", next, p)
		}
	}
}

// checkGraphs: all nodes of a graph are expanded, four at a time at most, and before
// one of them is dispatched.
func (b *bench) checkGraphs(rows map[uint64][]row) {
	b.t.Helper()
	nodes, until := map[uint64]int{}, map[uint64]uint64{}
	for thread := range b.threads - 1 {
		for _, p := range b.phases(thread) {
			if p.Kind != abi.GraphPrepare {
				continue
			}
			if p.TasksProcessed > 4 {
				b.t.Errorf("thread %d: %+v: want four nodes at most", thread, p)
			}
			nodes[p.TaskID()] += int(p.TasksProcessed)
			until[p.TaskID()] = max(until[p.TaskID()], p.EndTime)
		}
	}
	for _, t := range b.built.Graph.Tasks {
		if nodes[t.ID] != len(t.Nodes) {
			b.t.Errorf("%d nodes of task %#x are expanded, want %d", nodes[t.ID], t.ID, len(t.Nodes))
		}
		for i, n := range t.Nodes {
			if want := uint64(1)<<32 | t.ID<<10 | uint64(i); n.ID != want {
				b.t.Errorf("node %d of task %#x has the id %#x, want %#x", i, t.ID, n.ID, want)
			}
			for _, r := range rows[n.ID] {
				if r.dispatch < until[t.ID] {
					b.t.Errorf("node %#x was dispatched at %d, before its graph was expanded at %d", n.ID, r.dispatch, until[t.ID])
				}
			}
		}
	}
}
