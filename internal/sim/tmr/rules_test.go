package tmr_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// phases are those of a thread, in the order of their emission.
func (b *bench) phases(thread int) (out []abi.SchedPhase) {
	for batch := range b.capture.Capture.SchedPhases(thread) {
		out = append(out, batch...)
	}
	return out
}

// twoCores is a MIX task of an AIC and an AIV.
func twoCores(cycles uint64) [3]*sim.Kernel {
	return [3]*sim.Kernel{busy(abi.AIC, cycles), busy(abi.AIV, cycles)}
}

// TestMixTakesItsCores: the cores of a cluster that a MIX task does not use are free
// for others, and a MIX of the second AIV alone with the AIC uses just that one.
func TestMixTakesItsCores(t *testing.T) {
	for name, kernels := range map[string][3]*sim.Kernel{
		"AIC and AIV0": twoCores(50_000),
		"AIC and AIV1": {0: busy(abi.AIC, 50_000), 2: busy(abi.AIV, 50_000)},
		"both AIVs":    {1: busy(abi.AIV, 50_000), 2: busy(abi.AIV, 50_000)},
	} {
		b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
		var mix, single uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			mix = o.Submit(&tmr.Task{Kernels: kernels}).ID
			for range 200 { // until it runs
				o.Scope(func() {})
			}
			other := [3]*sim.Kernel{1: busy(abi.AIV, 100)}
			if name == "both AIVs" {
				other = [3]*sim.Kernel{busy(abi.AIC, 100)}
			}
			single = o.Submit(&tmr.Task{Kernels: other}).ID
		})
		byTask := b.byTask()
		if m, s := byTask[mix][0], byTask[single][0]; s.start < m.start || s.end > m.end {
			t.Errorf("%s: the single task ran from %d to %d, want within %d to %d", name, s.start, s.end, m.start, m.end)
		}
		used := map[int]bool{}
		for _, r := range byTask[mix] {
			used[r.core] = true
		}
		for lane, k := range kernels {
			if used[lane] != (k != nil) { // one cluster: cores and lanes have the same numbers
				t.Errorf("%s: it ran on cores %v", name, used)
			}
		}
	}
}

// TestMixBehind: of the cores of a block each that is idle starts it at once, and
// the others when they have ended what they run.
func TestMixBehind(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	var long, mix uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		long = o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 50_000)}}).ID
		for range 200 { // until it runs
			o.Scope(func() {})
		}
		mix = o.Submit(&tmr.Task{Kernels: twoCores(100)}).ID
	})
	byTask := b.byTask()
	end := byTask[long][0].end
	aic, aiv := byTask[mix][0], byTask[mix][1]
	if aic.dispatch > end || aic.start < end || aiv.end > end || aic.dispatch != aiv.dispatch {
		t.Errorf("the long task ended at %d, and the MIX task is %+v and %+v", end, aic, aiv)
	}
}

// TestSyncStartBehind: where a thread has no idle core, blocks that start together
// go behind running tasks if there is room for all of them.
func TestSyncStartBehind(t *testing.T) {
	b := newBench(t, abi.A2A3, 2, abi.SchedPhases)
	b.threads = 2
	var long, sync uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		long = o.Submit(&tmr.Task{Kernels: aiv(50_000), Blocks: 4}).ID
		for range 200 { // until it runs
			o.Scope(func() {})
		}
		sync = o.Submit(&tmr.Task{Kernels: aiv(100), Blocks: 3, SyncStart: true}).ID
	})
	byTask := b.byTask()
	end := byTask[long][0].end
	for _, r := range byTask[sync] {
		if r.dispatch > end || r.dispatch != byTask[sync][0].dispatch {
			t.Errorf("a block was dispatched at %d, the first at %d: want all at once, before %d", r.dispatch, byTask[sync][0].dispatch, end)
		}
	}
	if count, _ := b.kinds(); len(byTask[sync]) != 3 || count[abi.Drain] != 0 {
		t.Errorf("%d blocks ran, and there are %d drains: want 3 without a drain", len(byTask[sync]), count[abi.Drain])
	}
}

// TestEarlySyncStart is what the real captures of the local owner show
// (…sync_start_early_owner…): while the producer runs, one thread places all blocks
// of a consumer that start together, behind gates, and needs no drain.
func TestEarlySyncStart(t *testing.T) {
	for _, tt := range []struct{ threads, blocks int }{{2, 8}, {4, 4}} {
		b := newBench(t, abi.A2A3, 8, abi.OrchPhases)
		b.threads = tt.threads
		var first, second uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			o.ManualScope(func() {
				first = o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 20_000)}, Early: true}).ID
				second = o.Submit(&tmr.Task{Kernels: aiv(100), Blocks: tt.blocks, SyncStart: true, Deps: after(first)}).ID
			})
		})
		count, tasks := b.kinds()
		if count[abi.EarlyDispatch] != 1 || tasks[abi.EarlyDispatch] != tt.blocks || count[abi.Drain] != 0 || tasks[abi.Dispatch] != 1 {
			t.Errorf("%d threads: phases %v with %v tasks, want an EarlyDispatch of %d blocks and no Drain", tt.threads, count, tasks, tt.blocks)
		}
		byTask := b.byTask()
		end, cores := byTask[first][0].end, map[int]bool{}
		for _, r := range byTask[second] {
			cores[r.core] = true
			if r.dispatch != byTask[second][0].dispatch || r.dispatch > end || r.receive > end || r.start < end {
				t.Errorf("%d threads: block %+v of a consumer of a task that ended at %d", tt.threads, r, end)
			}
		}
		if len(cores) != tt.blocks {
			t.Errorf("%d threads: the blocks ran on %d cores, want %d", tt.threads, len(cores), tt.blocks)
		}
		checkInvariants(t, b, []edge{{first, second}}, map[edge]bool{{first, second}: true})
	}
}

// TestEarlySyncStartIsWhole: where not all blocks find a place none is placed early.
func TestEarlySyncStartIsWhole(t *testing.T) {
	b := newBench(t, abi.A2A3, 8, abi.OrchPhases)
	var first, second uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		first = o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 20_000)}, Early: true}).ID
		second = o.Submit(&tmr.Task{Kernels: aiv(100), Blocks: 16, SyncStart: true, Deps: after(first)}).ID
	})
	if count, tasks := b.kinds(); count[abi.EarlyDispatch] != 0 || tasks[abi.Drain] != 16 {
		t.Errorf("phases %v with %v tasks, want a Drain of 16 blocks and no EarlyDispatch", count, tasks)
	}
	checkInvariants(t, b, []edge{{first, second}}, nil)
}

// TestPops: an iteration of a thread whose cores are all idle looks in vain into six
// queues, as in the real captures of idle threads (…three_schedulers_idle: 48 in 8
// iterations, …paged_attention_unroll: 8634 in 1439); and a pop that leaves free cores is followed by one in vain.
func TestPops(t *testing.T) {
	b := newBench(t, abi.A2A3, 8, abi.SchedPhases)
	b.threads = 4
	b.mustRun(func(o *tmr.Orchestrator) { o.Submit(&tmr.Task{Kernels: aiv(5000)}) })
	worked := 0
	for thread := range 3 {
		phases := b.phases(thread)
		last := phases[len(phases)-1]
		if len(phases) == 1 { // the one after the loop
			if hits, misses := last.PhaseData[0], last.PhaseData[1]; hits != 0 || misses != 6*last.LoopIter {
				t.Errorf("thread %d was idle for %d iterations with %d pops and %d in vain, want 6 each", thread, last.LoopIter, hits, misses)
			}
			continue
		}
		worked++
		if p := phases[0]; p.Kind != abi.Dispatch || p.PhaseData[0] != 1 || p.PhaseData[1] != 6*p.LoopIter {
			t.Errorf("thread %d: the first record is %+v, want a Dispatch with 1 pop and 6 in vain an iteration", thread, p)
		}
	}
	if worked != 1 {
		t.Errorf("%d threads had work, want 1", worked)
	}
}

// TestPopsAddUp: where no task is put back, as many are popped as there are
// (spec/collector.md §12.7).
func TestPopsAddUp(t *testing.T) {
	b := newBench(t, abi.A5, 3, abi.SchedPhases)
	b.mustRun(func(o *tmr.Orchestrator) {
		var last []uint64
		for i := range 100 {
			kernels := aiv(100)
			if i%3 == 0 {
				kernels = [3]*sim.Kernel{busy(abi.AIC, 150)}
			}
			id := o.Submit(&tmr.Task{Kernels: kernels, Deps: after(last...)}).ID
			if last = append(last, id); i%4 == 0 {
				last = nil
			}
		}
	})
	hits := uint32(0)
	for thread := range b.threads - 1 {
		for _, p := range b.phases(thread) {
			if p.Kind == abi.Dispatch {
				hits += p.PhaseData[0]
			}
		}
	}
	if hits != 100 {
		t.Errorf("%d tasks were popped, want 100", hits)
	}
}

// TestAsyncHasNoResolve: the walk of a task that waited for something beside its
// kernels is in its AsyncPoll, however long (spec/collector.md §12.5, row 2).
func TestAsyncHasNoResolve(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	b.mustRun(func(o *tmr.Orchestrator) {
		first := o.Submit(&tmr.Task{Kernels: aiv(10), Wait: 5000}).ID
		for range 40 {
			o.Submit(&tmr.Task{Kernels: aiv(1), Deps: after(first)})
		}
	})
	longest := uint64(0)
	for _, p := range b.phases(0) {
		if p.Kind == abi.AsyncPoll && p.TasksProcessed == 1 {
			longest = max(longest, p.EndTime-p.StartTime)
		}
	}
	if count, _ := b.kinds(); count[abi.Resolve] != 0 || longest < 50 {
		t.Errorf("%d Resolve, and the AsyncPoll with a walk of 40 consumers took %d cycles: want none and 1 µs at least", count[abi.Resolve], longest)
	}
}

// TestDrainSpans: a thread's Drain is from when it stops dispatching until all
// blocks are placed, as in the real captures of a drain (…sync_start_drain…), also
// where others were faster and it placed none.
func TestDrainSpans(t *testing.T) {
	b := newBench(t, abi.A2A3, 6, abi.SchedPhases)
	b.mustRun(func(o *tmr.Orchestrator) {
		first := o.Submit(&tmr.Task{Kernels: aiv(500), Blocks: 2}).ID
		o.Submit(&tmr.Task{Kernels: aiv(100), Blocks: 7, SyncStart: true, Deps: after(first)})
	})
	published := uint64(0)
	for thread := range b.threads - 1 {
		for _, p := range b.phases(thread) {
			if p.Kind == abi.DrainPublish {
				published = max(published, p.EndTime)
			}
		}
	}
	var stopped []uint64
	drains, blocks := 0, uint32(0)
	for thread := range b.threads - 1 {
		for _, p := range b.phases(thread) {
			if p.Kind == abi.Drain {
				drains, blocks, stopped = drains+1, blocks+p.TasksProcessed, append(stopped, p.StartTime)
				if p.EndTime < published {
					t.Errorf("thread %d leaves the drain at %d, before the last block is placed at %d", thread, p.EndTime, published)
				}
			}
		}
	}
	for thread := range b.threads - 1 {
		for _, p := range b.phases(thread) {
			if p.Kind == abi.DrainPrepare && p.StartTime < slices.Max(stopped) {
				t.Errorf("thread %d places blocks at %d, and another dispatches until %d", thread, p.StartTime, slices.Max(stopped))
			}
		}
	}
	if drains != 3 || blocks != 7 {
		t.Errorf("%d drains of %d blocks, want 3 of 7", drains, blocks)
	}
}
