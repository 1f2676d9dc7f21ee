package tmr_test

import (
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// busy is a kernel that only takes time.
func busy(core abi.CoreType, cycles uint64) *sim.Kernel {
	return &sim.Kernel{Name: core.String(), Type: core, Run: func(*sim.Call) uint64 { return cycles }}
}

func aiv(cycles uint64) [3]*sim.Kernel { return [3]*sim.Kernel{1: busy(abi.AIV, cycles)} }

func after(ids ...uint64) (deps []producer.Dep) {
	for _, id := range ids {
		deps = append(deps, producer.Dep{Producer: id})
	}
	return deps
}

// kinds are how many phases of each kind there are, and how many tasks they say
// they processed.
func (b *bench) kinds() (count, tasks map[abi.PhaseKind]int) {
	count, tasks = map[abi.PhaseKind]int{}, map[abi.PhaseKind]int{}
	for thread := range b.threads {
		for batch := range b.capture.Capture.SchedPhases(thread) {
			for _, p := range batch {
				count[p.Kind]++
				tasks[p.Kind] += int(p.TasksProcessed)
			}
		}
	}
	return count, tasks
}

// byTask are the rows of each task.
func (b *bench) byTask() map[uint64][]row {
	out := map[uint64][]row{}
	for _, r := range rows(b.t, b.capture.Capture, 3*b.clusters) {
		out[r.task] = append(out[r.task], r)
	}
	return out
}

func (b *bench) mustRun(orchestrate func(*tmr.Orchestrator)) *tmr.Report {
	b.t.Helper()
	report, err := b.run(orchestrate)
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}

// TestSyncStart: a task whose blocks fit one thread's cores starts there; one that
// needs more is placed by all threads together, its blocks at the same time.
func TestSyncStart(t *testing.T) {
	b := newBench(t, abi.A2A3, 6, abi.OrchPhases) // two clusters for each of three schedulers
	var small, large uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		small = o.Submit(&tmr.Task{Kernels: aiv(100), Blocks: 4, SyncStart: true}).ID
		large = o.Submit(&tmr.Task{Kernels: aiv(100), Blocks: 12, SyncStart: true, Deps: after(small)}).ID
	})
	byTask := b.byTask()
	if n := len(byTask[small]); n != 4 {
		t.Errorf("the small task ran %d blocks, want 4", n)
	}
	cores := map[int]bool{}
	var first, last uint64 = 1 << 63, 0
	for _, r := range byTask[large] {
		cores[r.core] = true
		first, last = min(first, r.start), max(last, r.start)
	}
	if len(cores) != 12 || last > first+100 {
		t.Errorf("the large task ran on %d cores, its blocks started within %d cycles: want all 12, before the first has finished", len(cores), last-first)
	}
	count, tasks := b.kinds()
	if count[abi.Drain] != 3 || tasks[abi.Drain] != 12 || tasks[abi.DrainPublish] != 12 || tasks[abi.DrainPrepare] != 12 {
		t.Errorf("phases %v with %v tasks, want three drains of 12 blocks", count, tasks)
	}
	if tasks[abi.Dispatch] != 4 {
		t.Errorf("%d subtasks in Dispatch records, want the 4 of the small task only", tasks[abi.Dispatch])
	}
	checkInvariants(t, b, []edge{{small, large}}, nil)

	b = newBench(t, abi.A2A3, 2, abi.Disabled)
	if _, err := b.run(func(o *tmr.Orchestrator) {
		o.Submit(&tmr.Task{Kernels: aiv(1), Blocks: 5, SyncStart: true})
	}); err == nil || !strings.Contains(err.Error(), "expected at most 4 on 2 clusters") {
		t.Errorf("error %v for 5 blocks on 4 cores", err)
	}
}

// TestSyncStartWaitsForRoom: while another task holds cores there is too little
// room; it starts when they are idle.
func TestSyncStartWaitsForRoom(t *testing.T) {
	b := newBench(t, abi.A5, 2, abi.SchedPhases)
	var long, all uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		long = o.Submit(&tmr.Task{Kernels: aiv(100_000)}).ID
		all = o.Submit(&tmr.Task{Kernels: aiv(10), Blocks: 4, SyncStart: true}).ID
	})
	byTask := b.byTask()
	for _, r := range byTask[all] {
		if r.dispatch < byTask[long][0].end {
			t.Errorf("a block was dispatched at %d, before the task that holds a core ended at %d", r.dispatch, byTask[long][0].end)
		}
	}
	if len(byTask[all]) != 4 {
		t.Errorf("%d blocks ran, want 4", len(byTask[all]))
	}
	checkInvariants(t, b, nil, nil)
}

// TestPredicate: it is asked when the last dependency has finished, and a task
// that it refuses is a PredicatedSkip.
func TestPredicate(t *testing.T) {
	for _, yes := range []bool{true, false} {
		b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
		flag := b.floats(1, func(int) float32 { return -1 })
		set := &sim.Kernel{Name: "set", Type: abi.AIV, Run: func(c *sim.Call) uint64 {
			sim.Use[float32](c, 0).Row(0)[0] = map[bool]float32{true: 1, false: 0}[yes]
			return 10
		}}
		var guarded, last uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			first := o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{1: set}, Args: []tmr.Arg{into(flag)}}).ID
			guarded = o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(first), Predicate: func() bool { return b.values(flag)[0] == 1 }}).ID
			last = o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(guarded)}).ID
		})
		byTask := b.byTask()
		if ran := len(byTask[guarded]) == 1; ran != yes || len(byTask[last]) != 1 {
			t.Errorf("predicate %v: the task ran: %v, its consumer in %d rows", yes, ran, len(byTask[last]))
		}
		count, _ := b.kinds()
		if want := map[bool]int{true: 0, false: 1}[yes]; count[abi.PredicatedSkip] != want || count[abi.Dummy] != want {
			t.Errorf("predicate %v: phases %v, want %d PredicatedSkip in as many Dummy", yes, count, want)
		}
	}
}

// TestDummyBarrier: a dummy joins eight tasks in front of eight.
func TestDummyBarrier(t *testing.T) {
	b := newBench(t, abi.A5, 2, abi.OrchPhases)
	var waits []edge
	report := b.mustRun(func(o *tmr.Orchestrator) {
		var before []uint64
		for range 8 {
			before = append(before, o.Submit(&tmr.Task{Kernels: aiv(300)}).ID)
		}
		barrier := o.Submit(&tmr.Task{Deps: after(before...)}).ID
		for range 8 {
			id := o.Submit(&tmr.Task{Kernels: aiv(300), Deps: after(barrier)}).ID
			for _, p := range before {
				waits = append(waits, edge{p, id})
			}
		}
	})
	if report.Tasks != 17 {
		t.Errorf("%d tasks, want 17", report.Tasks)
	}
	count, tasks := b.kinds()
	if count[abi.DummyTask] != 1 || tasks[abi.Dummy] != 1 || tasks[abi.Dispatch] != 16 {
		t.Errorf("phases %v with %v tasks, want one dummy and 16 dispatched", count, tasks)
	}
	checkInvariants(t, b, waits, nil)
}

// TestAsync: a task that waits for something beside its kernel is complete only
// then, and one AsyncPoll says so among those that do not.
func TestAsync(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	var first, second uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		first = o.Submit(&tmr.Task{Kernels: aiv(10), Wait: 500}).ID
		second = o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(first)}).ID
	})
	byTask := b.byTask()
	if from, to := byTask[first][0].finish, byTask[second][0].dispatch; to < from+500 {
		t.Errorf("the consumer was dispatched at %d, %d cycles after the kernel was seen to finish: want at least 500", to, to-from)
	}
	count, tasks := b.kinds()
	if count[abi.AsyncPoll] < 2 || tasks[abi.AsyncPoll] != 1 {
		t.Errorf("phases %v with %v tasks, want several AsyncPoll of one task", count, tasks)
	}
	checkInvariants(t, b, []edge{{first, second}}, nil)
}

// TestAlloc: storage has an owner, which tasks do not wait for and the graph shows.
func TestAlloc(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	shape := b.floats(256, func(int) float32 { return 0 })
	var made, task tmr.Submitted
	report := b.mustRun(func(o *tmr.Orchestrator) {
		made = o.Alloc(shape, shape)
		task = o.Submit(vector(addOne, in(shape), into(made.Args[1])))
	})
	if report.Submits != 2 || report.Tasks != 1 || made.ID != 0 || task.ID != 1 {
		t.Errorf("%d submits of %d tasks, ids %d and %d: want 2 of 1, ids 0 and 1", report.Submits, report.Tasks, made.ID, task.ID)
	}
	// Packed at 1024 bytes.
	if a, b := made.Args[0], made.Args[1]; b.BufferAddr != a.BufferAddr+1024 || a.OwnerTaskID != 0 || b.OwnerTaskID != 0 {
		t.Errorf("the tensors are %+v and %+v", a, b)
	}
	if v := b.values(made.Args[1]); v[0] != 1 || v[255] != 1 {
		t.Errorf("the storage holds %v and %v, want 1", v[0], v[255])
	}
	if n := b.capture.Capture.Count(abi.KindOrchPhase); n != 2 {
		t.Errorf("%d submit records, want 2: an alloc is one", n)
	}
}

// TestTimingSlots: they are measured at every level.
func TestTimingSlots(t *testing.T) {
	for _, level := range []abi.Level{abi.Disabled, abi.OrchPhases} {
		b := newBench(t, abi.A2A3, 2, level)
		report := b.mustRun(func(o *tmr.Orchestrator) {
			a := o.Submit(&tmr.Task{Kernels: aiv(1000), Blocks: 2, Slot: 1}).ID
			o.Submit(&tmr.Task{Kernels: aiv(1000), Deps: after(a), Slot: 16})
		})
		first, last := report.Slots[0], report.Slots[15]
		if !first.Set || first.End-first.Start < 20_000 || !last.Set || last.Start < first.End {
			t.Errorf("level %d: slots 0 and 15 are %+v and %+v, want one kernel of 20 µs each, one after the other", level, first, last)
		}
		if i := slices.IndexFunc(report.Slots[1:15], func(s tmr.Span) bool { return s.Set }); i >= 0 {
			t.Errorf("level %d: slot %d is set", level, i+1)
		}
	}
	for _, slot := range []int{-1, 17} {
		b := newBench(t, abi.A2A3, 1, abi.Disabled)
		if _, err := b.run(func(o *tmr.Orchestrator) { o.Submit(&tmr.Task{Slot: slot}) }); err == nil {
			t.Errorf("slot %d is no error", slot-1)
		}
	}
}

// TestRingExhaustion: a scope that submits more than its ring holds and never ends
// is a deadlock, which is reported after 500 ms of virtual time; the same tasks in
// scopes that end are none.
func TestRingExhaustion(t *testing.T) {
	half := func(b *bench) abi.Tensor {
		x, err := sim.NewTensor(0, abi.Float32, ringHeap/2/4-256)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	b := newBench(t, abi.A2A3, 1, abi.Disabled)
	_, err := b.run(func(o *tmr.Orchestrator) {
		for range 3 {
			o.Submit(&tmr.Task{Kernels: aiv(10), Args: []tmr.Arg{out(half(b))}})
		}
	})
	if err == nil || !strings.Contains(err.Error(), "deadlock: ring 0 has no room") {
		t.Errorf("error %v, want a deadlock of ring 0", err)
	}
	b = newBench(t, abi.A2A3, 1, abi.Disabled)
	b.mustRun(func(o *tmr.Orchestrator) {
		for range 20 {
			o.Scope(func() { o.Submit(&tmr.Task{Kernels: aiv(10), Args: []tmr.Arg{out(half(b))}}) })
		}
	})
}

// TestErrors end a run and name what is wrong.
func TestErrors(t *testing.T) {
	for want, orchestrate := range map[string]func(*tmr.Orchestrator){
		"is on lane 0":              func(o *tmr.Orchestrator) { o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{0: busy(abi.AIV, 1)}}) },
		"orchestrator: panic: oops": func(*tmr.Orchestrator) { panic("oops") },
		"kernel uses argument 3 of 0": func(o *tmr.Orchestrator) {
			o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{1: {Type: abi.AIV, Run: func(c *sim.Call) uint64 { sim.Use[float32](c, 3); return 1 }}}})
		},
	} {
		b := newBench(t, abi.A5, 1, abi.Disabled)
		if _, err := b.run(orchestrate); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
