package tmr_test

import (
	"fmt"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// The schedules of this file are made by hand, one for each step of
// spec/collector.md §12.6. Tasks take at least 100 µs, and what schedulers do less
// than that, so a task that may not be dispatched yet is told from one that is by
// whole kernels.

const long = 5000 // cycles at 50 MHz: 100 µs

func aic(cycles uint64) [3]*sim.Kernel { return [3]*sim.Kernel{busy(abi.AIC, cycles)} }

// settle is long enough for what was submitted to run, and for its cores to have
// acknowledged it.
func settle(o *tmr.Orchestrator) {
	for range 100 {
		o.Scope(func() {})
	}
}

// cluster is where a task of one core ran.
func (b *bench) cluster(r row) int { return abi.ClusterOf(r.core, b.clusters) }

// oneCluster is a chip of a cluster and one scheduler.
func oneCluster(t *testing.T) *bench {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	b.threads = 2
	return b
}

// twoClusters is a chip of two, each with a scheduler of its own.
func twoClusters(t *testing.T) *bench {
	b := newBench(t, abi.A2A3, 2, abi.SchedPhases)
	b.threads = 3
	return b
}

// TestMixLeftKeepsIdleCores is step 2: while a MIX task is left over, single tasks do
// not take idle cores, of either kind.
func TestMixLeftKeepsIdleCores(t *testing.T) {
	for _, tt := range []struct {
		full abi.CoreType // both slots of these cores are taken
		wait [3]*sim.Kernel
	}{{abi.AIC, aiv(10)}, {abi.AIV, aic(10)}} {
		b := oneCluster(t)
		var mix, single uint64
		var first []uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			kernels, blocks := aic(long), 1
			if tt.full == abi.AIV {
				kernels, blocks = aiv(long), 2
			}
			for range 2 { // running, and behind
				first = append(first, o.Submit(&tmr.Task{Kernels: kernels, Blocks: blocks}).ID)
				settle(o)
			}
			mix = o.Submit(&tmr.Task{Kernels: twoCores(10)}).ID
			single = o.Submit(&tmr.Task{Kernels: tt.wait}).ID
		})
		byTask := b.byTask()
		if second := byTask[first[1]][0]; second.dispatch > byTask[first[0]][0].end {
			t.Fatalf("%v: the second task was dispatched at %d, not behind the first one: the schedule is not that of the test", tt.full, second.dispatch)
		}
		m, s := byTask[mix][0], byTask[single][0]
		if m.dispatch < byTask[first[0]][0].end || s.dispatch < m.dispatch {
			t.Errorf("%v: the single task was dispatched at %d, the MIX task at %d when a slot was free: want it not before", tt.full, s.dispatch, m.dispatch)
		}
	}
}

// TestMixLeftKeepsPendingSlots is step 5: nor slots behind running tasks.
func TestMixLeftKeepsPendingSlots(t *testing.T) {
	for _, tt := range []struct {
		full abi.CoreType
		wait [3]*sim.Kernel
	}{{abi.AIC, aiv(10)}, {abi.AIV, aic(10)}} {
		b := oneCluster(t)
		full, open, blocks := aic(long), aiv(3*long), 2
		if tt.full == abi.AIV {
			full, open, blocks = aiv(long), aic(3*long), 1
		}
		var mix, single, free uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			o.Submit(&tmr.Task{Kernels: open, Blocks: blocks})
			for range 2 {
				id := o.Submit(&tmr.Task{Kernels: full, Blocks: 3 - blocks}).ID
				free = id
				settle(o)
			}
			mix = o.Submit(&tmr.Task{Kernels: twoCores(10)}).ID
			single = o.Submit(&tmr.Task{Kernels: tt.wait}).ID
		})
		byTask := b.byTask()
		m, s := byTask[mix][0], byTask[single][0]
		if start := byTask[free][0].start; m.dispatch < start || s.dispatch < m.dispatch {
			t.Errorf("%v: the single task was dispatched at %d, the MIX task at %d, and the task whose slot it takes started at %d: want it last", tt.full, s.dispatch, m.dispatch, start)
		}
	}
}

// TestPendingOnlyIfNoOtherIsIdle is steps 4 and 5: a task goes behind a running one
// only if no other thread has idle cores for it, even if that one is away for long.
func TestPendingOnlyIfNoOtherIsIdle(t *testing.T) {
	for name, tt := range map[string]struct{ busy, ready [3]*sim.Kernel }{
		"MIX": {aic(20 * long), twoCores(10)},
		"AIC": {aic(20 * long), aic(10)},
		"AIV": {[3]*sim.Kernel{1: busy(abi.AIV, 20*long), 2: busy(abi.AIV, 20*long)}, aiv(10)},
	} {
		b := twoClusters(t)
		b.costs[sim.SchedResolve].Ns = 100_000 // the walk below takes 400 µs
		var held, walked, ready uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			held = o.Submit(&tmr.Task{Kernels: tt.busy}).ID
			settle(o)
			walked = o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, long), busy(abi.AIV, long), busy(abi.AIV, long)}}).ID
			ready = o.Submit(&tmr.Task{Kernels: tt.ready, Deps: after(walked)}).ID
			for range 3 { // of whom it also tells, and who wait for another task
				o.Submit(&tmr.Task{Kernels: aiv(1), Deps: after(walked, held)})
			}
		})
		byTask := b.byTask()
		h, w, r := byTask[held][0], byTask[walked][0], byTask[ready][0]
		if b.cluster(h) == b.cluster(w) || h.end < w.end+4*long {
			t.Fatalf("%s: the task that takes long ran on cluster %d until %d, the other one on %d until %d: the schedule is not that of the test", name, b.cluster(h), h.end, b.cluster(w), w.end)
		}
		if b.cluster(r) != b.cluster(w) || r.dispatch < w.finish+3*long || r.dispatch > h.end {
			t.Errorf("%s: it was dispatched to cluster %d at %d, want to the idle cluster %d after the walk that began at %d", name, b.cluster(r), r.dispatch, b.cluster(w), w.finish)
		}
	}
}

// TestOddThreadsBeginWithAIV is step 3: of what is ready, a thread fills its AICs
// first, and one of an odd index its AIVs.
func TestOddThreadsBeginWithAIV(t *testing.T) {
	whole := func(cycles uint64) [3]*sim.Kernel {
		return [3]*sim.Kernel{busy(abi.AIC, cycles), busy(abi.AIV, cycles), busy(abi.AIV, cycles)}
	}
	seen := map[int]bool{}
	for _, order := range []string{"short first", "long first"} {
		b := twoClusters(t)
		var gate, cube, vector uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			if order == "long first" {
				o.Submit(&tmr.Task{Kernels: whole(20 * long)})
				settle(o)
			}
			gate = o.Submit(&tmr.Task{Kernels: whole(long)}).ID
			if order == "short first" {
				settle(o)
				o.Submit(&tmr.Task{Kernels: whole(20 * long)})
			}
			// Both are ready when the thread of the gate's cluster goes on.
			cube = o.Submit(&tmr.Task{Kernels: aic(10), Deps: after(gate)}).ID
			vector = o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(gate)}).ID
		})
		byTask := b.byTask()
		c, v := byTask[cube][0], byTask[vector][0]
		thread := b.cluster(c) // there are as many threads
		if at := b.cluster(byTask[gate][0]); b.cluster(c) != at || b.cluster(v) != at {
			t.Fatalf("%s: the tasks ran on clusters %d and %d, the gate on %d", order, b.cluster(c), b.cluster(v), at)
		}
		seen[thread] = true
		if odd := thread%2 == 1; (v.dispatch < c.dispatch) != odd || v.dispatch == c.dispatch {
			t.Errorf("%s: thread %d dispatched AIC at %d and AIV at %d", order, thread, c.dispatch, v.dispatch)
		}
	}
	if len(seen) != 2 {
		t.Errorf("the gate was on threads %v, want both: the schedules are not those of the test", seen)
	}
}

// TestEarlyOnlyIfNothingIsReady: as long as a queue holds a task that finds no place
// nothing is placed early, though there is an idle core for it.
func TestEarlyOnlyIfNothingIsReady(t *testing.T) {
	for _, waiting := range []int{0, 1} {
		b := oneCluster(t)
		var first, second uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			o.ManualScope(func() {
				first = o.Submit(&tmr.Task{Kernels: aic(long), Early: true}).ID
				settle(o)
				for range 1 + waiting { // one goes behind it
					o.Submit(&tmr.Task{Kernels: aic(long)})
				}
				settle(o)
				second = o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(first)}).ID
			})
		})
		byTask := b.byTask()
		end, dispatch := byTask[first][0].end, byTask[second][0].dispatch
		if early := dispatch < end; early != (waiting == 0) {
			t.Errorf("%d tasks wait for a place: the consumer was dispatched at %d, and its producer ended at %d", waiting, dispatch, end)
		}
	}
}

// TestFinishIsWhenItWasSeen: the finish time is taken when a core shows that it has
// finished, before anything is done about it (spec/collector.md §2.6), and so is that
// of a timing slot (spec/host-log.md §4.5).
func TestFinishIsWhenItWasSeen(t *testing.T) {
	b := oneCluster(t)
	b.costs[sim.SchedComplete].Ns, b.costs[sim.SchedResolve].Ns = 200_000, 400_000
	var first uint64
	report := b.mustRun(func(o *tmr.Orchestrator) {
		first = o.Submit(&tmr.Task{Kernels: aiv(long), Slot: 1}).ID
		o.Submit(&tmr.Task{Kernels: aiv(long), Deps: after(first)})
	})
	r := b.byTask()[first][0]
	if r.finish < r.end || r.finish > r.end+100 { // 2 µs: an iteration or two
		t.Errorf("the kernel ended at %d and was seen to finish at %d, want within 100 cycles", r.end, r.finish)
	}
	if got := uint64(report.Slots[0].End) / 20; got != r.finish {
		t.Errorf("the slot ends at cycle %d, want %d", got, r.finish)
	}
}

// TestPendingIsCompletedFirst: where one look shows that both tasks of a core have
// finished, both are given its time, and the pending one's record is first
// (spec/collector.md §2.6, §12.4).
func TestPendingIsCompletedFirst(t *testing.T) {
	b := oneCluster(t)
	b.costs[sim.SchedLoop].Ns = 200_000 // between two looks
	b.mustRun(func(o *tmr.Orchestrator) {
		o.Submit(&tmr.Task{Kernels: aic(3 * long)}) // 300 µs: a look sees it run
		o.Submit(&tmr.Task{Kernels: aic(10)})
	})
	var got []abi.AicpuTask
	for batch := range b.capture.Capture.AicpuTasks(0) {
		got = append(got, batch...)
	}
	if len(got) != 2 || got[0].RegTaskID != 2 || got[1].RegTaskID != 1 || got[0].FinishTime != got[1].FinishTime {
		t.Errorf("the records are %+v, want tokens 2 and 1 with one finish time", got)
	}
}

// TestResolveFromOneMicrosecond: a walk to the consumers is a record from 1 µs on, in
// cycles (spec/collector.md §12.5, row 1).
func TestResolveFromOneMicrosecond(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		tick := sim.Time(1_000_000_000 / arch.ClockHz)
		for _, tt := range []struct {
			walk sim.Time
			want int
		}{{1000 - tick, 0}, {1000, 1}, {1000 + tick, 1}} {
			b := newBench(t, arch, 1, abi.SchedPhases)
			b.costs[sim.SchedResolve].Ns, b.costs[sim.SchedPush].Ns = tt.walk, 0
			b.mustRun(func(o *tmr.Orchestrator) {
				first := o.Submit(&tmr.Task{Kernels: aiv(long)}).ID
				o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(first)})
			})
			if count, tasks := b.kinds(); count[abi.Resolve] != tt.want || tasks[abi.Resolve] != tt.want {
				t.Errorf("%s: a walk of %d ns to one consumer: %d records of %d consumers, want %d", arch.Name, tt.walk, count[abi.Resolve], tasks[abi.Resolve], tt.want)
			}
			b.memory.Close()
		}
	}
}

// TestReleaseList: completed tasks are put on a list of 256, which is emptied at once
// when it is full, and otherwise when there is nothing else to do: then that is a
// record (spec/collector.md §12.3, §12.5 row 7).
func TestReleaseList(t *testing.T) {
	for tasks, want := range map[int][]int{255: {255}, 256: nil, 257: {1}, 300: {44}} {
		b := oneCluster(t)
		b.mustRun(func(o *tmr.Orchestrator) {
			o.Submit(&tmr.Task{Kernels: aic(40 * long)}) // so that the run goes on
			// The gate is one of them. The thread has something to do until all dummies are done.
			gate := o.Submit(&tmr.Task{Kernels: aiv(20 * long)}).ID
			for range tasks - 1 {
				o.Submit(&tmr.Task{Deps: []producer.Dep{{Producer: gate}}})
			}
		})
		var got []int
		for _, p := range b.phases(0) {
			if p.Kind == abi.Release {
				got = append(got, int(p.TasksProcessed))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d tasks: released %v at a time when there was nothing else to do, want %v", tasks, got, want)
		}
	}
}

// TestSlotsOverTasksAndThreads: a timing slot is from the first publication of all its
// tasks to the last time that one of them was seen to finish, whichever thread had
// it (spec/host-log.md §4.5).
func TestSlotsOverTasksAndThreads(t *testing.T) {
	for name, cycles := range map[string][2]uint64{"first ends last": {4 * long, long}, "second ends last": {long, 4 * long}} {
		b := twoClusters(t)
		var ids [2]uint64
		report := b.mustRun(func(o *tmr.Orchestrator) {
			for i := range ids {
				ids[i] = o.Submit(&tmr.Task{Kernels: aic(cycles[i]), Slot: 3}).ID
				settle(o)
			}
		})
		byTask := b.byTask()
		first, second := byTask[ids[0]][0], byTask[ids[1]][0]
		if b.cluster(first) == b.cluster(second) || second.dispatch <= first.dispatch+100 || second.dispatch > first.end {
			t.Fatalf("%s: the tasks are %+v and %+v, want one for each thread, apart and overlapping", name, first, second)
		}
		s := report.Slots[2]
		// The records have the time of the batch, the slot that of the register's write.
		if start := uint64(s.Start) / 20; start < first.dispatch || start > first.dispatch+50 {
			t.Errorf("%s: the slot begins at cycle %d, want %d or soon after it", name, start, first.dispatch)
		}
		if end := uint64(s.End) / 20; end != max(first.finish, second.finish) {
			t.Errorf("%s: the slot ends at cycle %d, want %d", name, end, max(first.finish, second.finish))
		}
	}
}
