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

// TestSmallSyncStartPasses: a task that must start together and fits does not wait
// for one that does not.
func TestSmallSyncStartPasses(t *testing.T) {
	b := newBench(t, abi.A2A3, 6, abi.SchedPhases)
	var small, long uint64
	b.mustRun(func(o *tmr.Orchestrator) {
		long = o.Submit(&tmr.Task{Kernels: aiv(100_000)}).ID
		o.Submit(&tmr.Task{Kernels: aiv(10), Blocks: 12, SyncStart: true})
		for range 20 { // until a drain has found too little room
			o.Scope(func() {})
		}
		small = o.Submit(&tmr.Task{Kernels: aiv(10), Blocks: 2, SyncStart: true}).ID
	})
	byTask := b.byTask()
	if r := byTask[small][0]; r.dispatch > byTask[long][0].end {
		t.Errorf("the small task was dispatched at %d, after the long one had ended at %d", r.dispatch, byTask[long][0].end)
	}
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
