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

// checkInvariants holds a capture against spec/collector.md §12.7.
func checkInvariants(t *testing.T, b *bench, waits []edge) {
	t.Helper()
	c, schedulers := b.capture.Capture, b.threads-1
	all := rows(t, c, 3*b.clusters)
	phases := make([][]abi.SchedPhase, schedulers)
	dispatched := 0
	for thread := range schedulers {
		for batch := range c.SchedPhases(thread) {
			phases[thread] = append(phases[thread], batch...)
		}
		dispatched += checkPhases(t, thread, phases[thread])
	}
	if dispatched != len(all) {
		t.Errorf("the schedulers dispatched %d subtasks, and %d ran", dispatched, len(all))
	}
	ready := map[uint64]uint64{} // earliest dispatch of a task
	done := map[uint64]uint64{}  // last finish
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
		if first, ok := ready[r.task]; !ok || r.dispatch < first {
			ready[r.task] = r.dispatch
		}
		done[r.task] = max(done[r.task], r.finish)
	}
	for _, e := range waits {
		finish, ran := done[e.from]
		if dispatch, ok := ready[e.to]; ran && ok && finish > dispatch {
			t.Errorf("task %#x was dispatched at %d, before task %#x finished at %d", e.to, dispatch, e.from, finish)
		}
	}
}

// checkPhases checks the phases of a thread and counts what it dispatched.
func checkPhases(t *testing.T, thread int, phases []abi.SchedPhase) (dispatched int) {
	t.Helper()
	var outer []abi.SchedPhase
	for _, p := range phases {
		if p.StartTime > p.EndTime {
			t.Errorf("thread %d: %v ends at %d before it starts at %d", thread, p.Kind, p.EndTime, p.StartTime)
		}
		switch p.Kind {
		case abi.Resolve, abi.DummyTask, abi.PredicatedSkip:
		default:
			outer = append(outer, p)
		}
		if p.Kind == abi.Dispatch {
			dispatched += int(p.TasksProcessed)
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
