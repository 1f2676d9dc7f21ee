package tmr_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// megabytes is the shape of an output.
func megabytes(t testing.TB, n int) abi.Tensor {
	t.Helper()
	x, err := sim.NewTensor(0, abi.Float32, n<<20/4)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestHeapBeginsAnew: an output that fits an empty heap finds room, wherever the
// last one ended.
func TestHeapBeginsAnew(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.Disabled)
	b.mustRun(func(o *tmr.Orchestrator) {
		for _, size := range []int{4, 6, 3, 7} { // of 8
			o.Scope(func() { o.Submit(&tmr.Task{Kernels: aiv(10), Args: []tmr.Arg{out(megabytes(t, size))}}) })
		}
	})
}

// TestNoDeadlockWhileTasksRetire: a wait of 800 ms is none, because a task retires
// every 100 ms (spec/collector.md §12.1: 500 ms without progress).
func TestNoDeadlockWhileTasksRetire(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.Disabled)
	report := b.mustRun(func(o *tmr.Orchestrator) {
		var last []uint64
		for range 8 {
			o.Scope(func() {
				last = []uint64{o.Submit(&tmr.Task{Kernels: aiv(5_000_000), Deps: after(last...), Args: []tmr.Arg{out(megabytes(t, 1))}}).ID}
			})
		}
		o.Scope(func() { o.Submit(&tmr.Task{Kernels: aiv(10), Args: []tmr.Arg{out(megabytes(t, 8))}}) })
	})
	if report.End-report.Start < 800_000_000 {
		t.Errorf("the run took %d ns, want at least 800 ms", report.End-report.Start)
	}
}

// TestFreeModel: a model in which nothing but kernels takes time comes to an end.
func TestFreeModel(t *testing.T) {
	b := newBench(t, abi.A2A3, 2, abi.OrchPhases)
	b.costs = sim.Costs{}
	report := b.mustRun(func(o *tmr.Orchestrator) {
		first := o.Submit(&tmr.Task{Kernels: aiv(100), Early: true, Wait: 50}).ID
		o.Submit(&tmr.Task{Kernels: aiv(100), Deps: after(first), Blocks: 9})
		o.Submit(&tmr.Task{Kernels: aiv(100), SyncStart: true, Blocks: 4})
	})
	if took := report.End - report.Start; took < 350*20 {
		t.Errorf("the run took %d ns, want at least the 350 cycles of its longest chain", took)
	}
}

// TestShortDrainIsRetried: while a drain finds too little room every thread goes on
// with what runs and tries again, and none dispatches anything: not even a task that
// must start together and would fit (spec/collector.md §12.5 row 3, §12.6).
func TestShortDrainIsRetried(t *testing.T) {
	b := newBench(t, abi.A2A3, 6, abi.SchedPhases)
	var small, all, single, long uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		long = o.Submit(&tmr.Task{Kernels: aiv(100_000)}).ID
		all = o.Submit(&tmr.Task{Kernels: aiv(10), Blocks: 12, SyncStart: true}).ID
		for range 20 { // until a drain has found too little room
			o.Scope(func() {})
		}
		small = o.Submit(&tmr.Task{Kernels: aiv(10), Blocks: 2, SyncStart: true}).ID
		single = o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 10)}}).ID
	})
	byTask := b.byTask()
	drained := byTask[all][0].dispatch
	if drained < byTask[long][0].end {
		t.Errorf("the drain placed blocks at %d, before the task on one of the cores ended at %d", drained, byTask[long][0].end)
	}
	for _, id := range []uint64{small, single} {
		if r := byTask[id][0]; r.dispatch < drained {
			t.Errorf("task %#x was dispatched at %d, during the drain that ended after %d", id, r.dispatch, drained)
		}
	}
	// Three threads took part, and only what reached the staging step is recorded. The
	// small task may find the cores of its thread just taken, and need a drain too.
	if count, tasks := b.kinds(); !(count[abi.Drain] == 3 && tasks[abi.Drain] == 12) && !(count[abi.Drain] == 6 && tasks[abi.Drain] == 14) {
		t.Errorf("%d drains of %d blocks, want 3 of 12, or 6 of 14", count[abi.Drain], tasks[abi.Drain])
	}
	checkInvariants(t, b, nil, nil)
}

// TestEarlyWhileWiring: producers finish, or get all their cores, at every moment
// of a consumer's submit.
func TestEarlyWhileWiring(t *testing.T) {
	for cycles := uint64(1); cycles < 200; cycles += 8 {
		b := newBench(t, abi.A2A3, 1, abi.Disabled)
		b.mustRun(func(o *tmr.Orchestrator) {
			var done []uint64
			for range 40 {
				done = append(done, o.Submit(&tmr.Task{Kernels: aiv(1)}).ID)
			}
			for range 1000 { // until they have finished
				o.Scope(func() {})
			}
			running := o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, cycles)}, Early: true}).ID
			late := o.Submit(&tmr.Task{Kernels: aiv(cycles), Early: true, Blocks: 4}).ID
			o.Submit(&tmr.Task{Kernels: aiv(10), Blocks: 2, Deps: after(append([]uint64{running, late}, done...)...)})
		})
		b.memory.Close()
	}
}

// TestResolveCounts: a task that is consumed while its consumers are told still
// says how many there were.
func TestResolveCounts(t *testing.T) {
	for cycles := uint64(3000); cycles < 8000; cycles += 500 {
		b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
		b.threads = 3
		x := b.floats(1, func(int) float32 { return 0 })
		b.mustRun(func(o *tmr.Orchestrator) {
			o.Submit(&tmr.Task{Kernels: aiv(cycles), Args: []tmr.Arg{into(x)}})
			for range 200 {
				o.Submit(&tmr.Task{Kernels: aiv(1), Args: []tmr.Arg{in(x)}})
			}
		})
		count, tasks := b.kinds()
		// A walk is recorded from 1 µs on, which takes seven consumers of 150 ns.
		if count[abi.Resolve] == 0 || tasks[abi.Resolve] < 7*count[abi.Resolve] {
			t.Errorf("kernel of %d cycles: %d Resolve records of %d consumers, want at least one, of 7 or more", cycles, count[abi.Resolve], tasks[abi.Resolve])
		}
		b.memory.Close()
	}
}
