package tmr_test

import (
	"cmp"
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
)

// row is a subtask with both views of it.
type row struct {
	core                int
	task                uint64
	token               uint32
	dispatch, finish    uint64
	receive, start, end uint64
}

// rows joins the records of a capture, by core in the order of their tokens.
func rows(t testing.TB, c *collector.Capture, cores int) (out []row) {
	t.Helper()
	for core := range cores {
		type key = uint32
		views := map[key]abi.AicpuTask{}
		for batch := range c.AicpuTasks(core) {
			for _, r := range batch {
				if _, twice := views[r.RegTaskID]; twice {
					t.Fatalf("core %d has token %d twice", core, r.RegTaskID)
				}
				views[r.RegTaskID] = r
			}
		}
		n := 0
		for batch := range c.AicoreTasks(core) {
			for _, r := range batch {
				v, ok := views[r.RegTaskID]
				if !ok {
					t.Fatalf("core %d: token %d has no scheduler's record", core, r.RegTaskID)
				}
				out = append(out, row{core, r.TaskTokenRaw, r.RegTaskID, v.DispatchTime, v.FinishTime, r.StartTime - uint64(r.ReceiveToStartCycles), r.StartTime, r.EndTime})
				n++
			}
		}
		if n != len(views) {
			t.Fatalf("core %d has %d records of its own and %d of its scheduler", core, n, len(views))
		}
	}
	return out
}

type span struct{ start, end uint64 }

func (s span) holds(at uint64) bool  { return s.start <= at && at <= s.end }
func (s span) contains(in span) bool { return s.start <= in.start && in.end <= s.end }

// edge is that a task waits for another.
type edge struct{ from, to uint64 }

// checkInvariants holds a capture against spec/collector.md §12.7. A task may
// be dispatched before a producer has finished where that is an early edge.
func checkInvariants(t *testing.T, b *bench, waits []edge, early map[edge]bool) {
	t.Helper()
	c, schedulers := b.capture.Capture, b.threads-1
	all := rows(t, c, 3*b.clusters)
	phases := make([][]abi.SchedPhase, schedulers)
	var dispatched sums
	clock := b.arch.ClockHz
	for thread := range schedulers {
		for batch := range c.SchedPhases(thread) {
			phases[thread] = append(phases[thread], batch...)
		}
		dispatched.add(checkPhases(t, thread, clock, phases[thread]))
	}
	// EarlyDispatch counts blocks, of one to three subtasks.
	if rest := len(all) - dispatched.subtasks; rest < dispatched.earlyBlocks || rest > 3*dispatched.earlyBlocks {
		t.Errorf("the schedulers dispatched %+v, and %d subtasks ran", dispatched, len(all))
	}
	ready, starts := map[uint64]uint64{}, map[uint64]uint64{} // earliest dispatch and start of a task
	done, ends := map[uint64]uint64{}, map[uint64]uint64{}    // last finish and end
	for i, r := range all {
		if !(r.dispatch <= r.receive && r.receive <= r.start && r.start <= r.end && r.end <= r.finish) {
			t.Errorf("core %d, token %d: dispatch %d, receive %d, start %d, end %d, finish %d are not in this order", r.core, r.token, r.dispatch, r.receive, r.start, r.end, r.finish)
		}
		if i > 0 && all[i-1].core == r.core && (all[i-1].token >= r.token || all[i-1].end > r.start) {
			t.Errorf("core %d: token %d from %d follows token %d until %d", r.core, r.token, r.start, all[i-1].token, all[i-1].end)
		}
		thread := abi.ClusterOf(r.core, b.clusters) % schedulers
		if !slices.ContainsFunc(phases[thread], func(p abi.SchedPhase) bool {
			return p.Kind == abi.Complete && (span{p.StartTime, p.EndTime}).holds(r.finish)
		}) {
			t.Errorf("core %d, token %d was seen to finish at %d, in no Complete of thread %d", r.core, r.token, r.finish, thread)
		}
		least(ready, r.task, r.dispatch)
		least(starts, r.task, r.start)
		done[r.task], ends[r.task] = max(done[r.task], r.finish), max(ends[r.task], r.end)
	}
	for _, e := range waits {
		finish, ran := done[e.from]
		dispatch, ok := ready[e.to]
		if !ran || !ok || finish <= dispatch {
			continue
		}
		b.early++
		if !early[e] || ends[e.from] > starts[e.to] {
			t.Errorf("task %#x was dispatched at %d and started at %d, before task %#x ended at %d and was seen to finish at %d; it may be placed early: %v",
				e.to, dispatch, starts[e.to], e.from, ends[e.from], finish, early[e])
		}
	}
}

func least(m map[uint64]uint64, k, v uint64) {
	if old, ok := m[k]; !ok || v < old {
		m[k] = v
	}
}

// sums are what schedulers say they dispatched.
type sums struct{ subtasks, earlyBlocks int }

func (s *sums) add(o sums) { s.subtasks += o.subtasks; s.earlyBlocks += o.earlyBlocks }

// checkPhases checks the phases of a thread and counts what it dispatched.
func checkPhases(t *testing.T, thread int, clock uint64, phases []abi.SchedPhase) (dispatched sums) {
	t.Helper()
	var outer []abi.SchedPhase
	checkRows(t, thread, clock, phases)
	for _, p := range phases {
		if p.StartTime > p.EndTime {
			t.Errorf("thread %d: %v ends at %d before it starts at %d", thread, p.Kind, p.EndTime, p.StartTime)
		}
		switch p.Kind {
		case abi.Resolve, abi.DummyTask, abi.PredicatedSkip, abi.DrainPrepare, abi.DrainPublish:
		default:
			outer = append(outer, p)
		}
		switch p.Kind {
		case abi.Dispatch, abi.DrainPublish:
			dispatched.subtasks += int(p.TasksProcessed)
		case abi.EarlyDispatch:
			dispatched.earlyBlocks += int(p.TasksProcessed)
		}
	}
	slices.SortStableFunc(outer, func(a, b abi.SchedPhase) int { return cmp.Compare(a.StartTime, b.StartTime) })
	for i := 1; i < len(outer); i++ {
		if a, b := outer[i-1], outer[i]; a.EndTime > b.StartTime {
			t.Errorf("thread %d: %v until %d overlaps %v from %d", thread, a.Kind, a.EndTime, b.Kind, b.StartTime)
		}
	}
	for _, p := range phases {
		var hosts []abi.PhaseKind
		switch p.Kind {
		case abi.Resolve:
			hosts = []abi.PhaseKind{abi.Complete, abi.Dummy}
		case abi.DrainPrepare, abi.DrainPublish:
			hosts = []abi.PhaseKind{abi.Drain}
		case abi.DummyTask, abi.PredicatedSkip:
			hosts = []abi.PhaseKind{abi.Dummy}
		default:
			continue
		}
		if !slices.ContainsFunc(outer, func(o abi.SchedPhase) bool {
			return slices.Contains(hosts, o.Kind) && (span{o.StartTime, o.EndTime}).contains(span{p.StartTime, p.EndTime})
		}) {
			t.Errorf("thread %d: %v from %d to %d is inside no %v", thread, p.Kind, p.StartTime, p.EndTime, hosts)
		}
	}
	return dispatched
}

// checkRows holds the phases of a thread, in the order of their emission, against
// what spec/collector.md §12.5 says of each kind.
func checkRows(t *testing.T, thread int, clock uint64, phases []abi.SchedPhase) {
	t.Helper()
	var depths *[abi.QueueShapes]int16 // at the end of the last record that has some
	iter, blocks := uint32(0), 0
	for i, p := range phases {
		complain := func(what string) { t.Errorf("thread %d, record %d: %+v: %s", thread, i, p, what) }
		if p.LoopIter < max(iter, 1) {
			complain("an iteration before that of the last record")
		}
		iter = p.LoopIter
		hits, misses := p.PhaseData[0], p.PhaseData[1] // of a Dispatch
		switch p.Kind {
		case abi.Complete, abi.AsyncPoll, abi.Dummy, abi.Dispatch:
			if depths != nil && p.SharedDepthAtStart != *depths {
				complain("does not begin with the depths with which the last one ended")
			}
			depths = &phases[i].SharedDepthAtEnd
		default:
			if p.SharedDepthAtStart != [abi.QueueShapes]int16{} || p.SharedDepthAtEnd != p.SharedDepthAtStart {
				complain("has depths")
			}
		}
		switch last := i == len(phases)-1; p.Kind {
		case abi.Resolve:
			if p.EndTime-p.StartTime < clock/1e6 {
				complain("shorter than 1 µs")
			}
		case abi.DummyTask, abi.PredicatedSkip:
			if p.StartTime != p.EndTime || p.TasksProcessed != 1 {
				complain("want a moment, and one task")
			}
		case abi.Dispatch:
			if p.TasksProcessed == 0 && (!last || p.StartTime != p.EndTime || hits+misses == 0) {
				complain("dispatches nothing: only the last record may, of no length and with pops")
			}
		case abi.DrainPrepare:
			if last || phases[i+1].Kind != abi.DrainPublish || phases[i+1].StartTime != p.EndTime || phases[i+1].TasksProcessed != p.TasksProcessed {
				complain("want the DrainPublish of the same subtasks where it ends")
			}
			blocks++
		case abi.Drain:
			if (p.TasksProcessed > 0) != (blocks > 0) {
				complain("blocks without batches, or the other way round")
			}
			blocks = 0
		case abi.AsyncPoll: // may be of none
		case abi.DrainPublish:
		default:
			if p.TasksProcessed == 0 {
				complain("processed nothing")
			}
		}
	}
}
