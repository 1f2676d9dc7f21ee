package tmr_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// TestSmallLimits: graphs whose scopes end come through, with the right values,
// however little room there is, and sleep as they would spin.
func TestSmallLimits(t *testing.T) {
	const group = 5 // tasks of a scope
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var ends []sim.Time
			for _, limits := range []tmr.Limits{{}, {Window: group}, {DepPool: 120}, {TensorMap: group}, {Ready: 1}, {Window: group, DepPool: 120, TensorMap: group, Ready: 1}} {
				rng := rand.New(rand.NewPCG(seed, 21))
				arch := []*abi.Arch{abi.A2A3, abi.A5}[seed%2]
				b := newBench(t, arch, 1+rng.IntN(3), abi.OrchPhases)
				b.limits, b.threads = limits, 2+rng.IntN(arch.MaxThreads-1)
				ops, want := randomOps(rng, 100, b.clusters)
				for i := range ops {
					ops[i].alloc = false // an alloc takes a place in the window too
				}
				tensors := b.buffers()
				ids := make([]uint64, len(ops))
				report := b.mustRun(func(o *tmr.Orchestrator) {
					for i := 0; i < len(ops); i += group {
						o.Scope(func() { submitOps(o, ops, i, min(i+group, len(ops)), tensors, ids) })
					}
				})
				b.checkValues(tensors, want)
				waits, early := b.checkOps(ops, ids)
				checkInvariants(t, b, waits, early)
				ends = append(ends, report.Phases[tmr.Orch].End)
				b.memory.Close()
			}
			for _, i := range []int{1, 3, 5} {
				if ends[i] <= ends[0] {
					t.Errorf("with limits number %d the orchestration ended at %d ns, and at %d without: nobody waited", i, ends[i], ends[0])
				}
			}
		})
	}
}

// TestLimitDeadlocks: who waits for room that no task will make is told which it is
// after 500 ms (spec/collector.md §12.1).
func TestLimitDeadlocks(t *testing.T) {
	x, err := sim.NewTensor(0x1000, abi.Float32, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limits tmr.Limits
		want   string
		submit func(*tmr.Orchestrator)
	}{
		{tmr.Limits{Window: 3}, "deadlock: ring 0 has no room", func(o *tmr.Orchestrator) {
			for range 4 {
				o.Submit(&tmr.Task{Kernels: aiv(10)})
			}
		}},
		{tmr.Limits{TensorMap: 3}, "deadlock: the tensor map is full", func(o *tmr.Orchestrator) {
			for range 4 {
				o.Submit(&tmr.Task{Kernels: aiv(10), Args: []tmr.Arg{into(x)}})
			}
		}},
		{tmr.Limits{TensorMap: 3}, "writes to 4 slices", func(o *tmr.Orchestrator) {
			o.Submit(&tmr.Task{Kernels: aiv(10), Args: []tmr.Arg{into(x), into(x), into(x), into(x)}})
		}},
		{tmr.Limits{DepPool: 3}, "deadlock: the dependency pool of ring 0 is full: it holds 3 edges", func(o *tmr.Orchestrator) {
			first := o.Submit(&tmr.Task{Kernels: aiv(100_000)}).ID
			for range 4 {
				o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(first)})
			}
		}},
		{tmr.Limits{DepPool: 3}, "waits for more than 3 producers", func(o *tmr.Orchestrator) {
			var first []uint64
			for range 4 {
				first = append(first, o.Submit(&tmr.Task{Kernels: aiv(100_000)}).ID)
			}
			o.Submit(&tmr.Task{Kernels: aiv(10), Deps: after(first...)})
		}},
	} {
		b := newBench(t, abi.A2A3, 1, abi.Disabled)
		b.limits = tt.limits
		if _, err := b.run(tt.submit); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("limits %+v: error %v, want one with %q", tt.limits, err, tt.want)
		}
		b.memory.Close()
	}
}

// TestDepPoolOfCompleted: an edge to a producer that has completed takes no entry.
func TestDepPoolOfCompleted(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.Disabled)
	b.limits.DepPool = 1
	b.mustRun(func(o *tmr.Orchestrator) {
		first := o.Submit(&tmr.Task{Kernels: aiv(1)}).ID
		for range 1000 { // until it has finished
			o.Scope(func() {})
		}
		for range 5 {
			o.Submit(&tmr.Task{Kernels: aiv(1), Deps: after(first)})
		}
	})
}

// TestReadyLimit: who submits waits while the queue is full, and goes on when a task
// of it has been dispatched, long before any has finished.
func TestReadyLimit(t *testing.T) {
	b := newBench(t, abi.A2A3, 2, abi.OrchPhases)
	b.limits.Ready = 3
	b.mustRun(func(o *tmr.Orchestrator) {
		for range 30 {
			o.Submit(&tmr.Task{Kernels: aiv(2000)})
		}
	})
	deepest := int16(0)
	for thread := range b.threads {
		for batch := range b.capture.Capture.SchedPhases(thread) {
			for _, p := range batch {
				deepest = max(deepest, p.SharedDepthAtStart[abi.ShapeAIV], p.SharedDepthAtEnd[abi.ShapeAIV])
			}
		}
	}
	if deepest != 3 {
		t.Errorf("the queue held %d tasks at most, want 3", deepest)
	}
}

// TestTensorMapLearnsLate: an entry of a consumed task is live in the tensor map
// until all tasks before it in its ring are consumed too, and is no edge then either
// (spec/collector.md §12.2, steps 3 and 5). An entry that is met takes time.
func TestTensorMapLearnsLate(t *testing.T) {
	for _, first := range []uint64{100_000, 1} { // cycles of the task before it
		b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
		b.costs[sim.OrchEntry].Ns = 50_000
		x := b.floats(1, func(int) float32 { return 0 })
		var long, last uint64
		b.mustRun(func(o *tmr.Orchestrator) {
			o.Scope(func() { long = o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, first)}}).ID })
			o.Scope(func() { o.Submit(&tmr.Task{Kernels: aiv(1), Args: []tmr.Arg{into(x)}}) })
			for range 1000 { // until it is consumed
				o.Scope(func() {})
			}
			o.Scope(func() { last = o.Submit(&tmr.Task{Kernels: aiv(1), Args: []tmr.Arg{in(x)}}).ID })
		})
		var took uint64
		for batch := range b.capture.Capture.OrchPhases(0) {
			for _, p := range batch {
				if p.TaskID == last {
					took = p.EndTime - p.StartTime
				}
			}
		}
		if met := took >= 2500; met != (first > 1) {
			t.Errorf("behind a task of %d cycles: the last submit took %d cycles; it met an entry: %v", first, took, met)
		}
		if byTask := b.byTask(); first > 1 && byTask[last][0].dispatch > byTask[long][0].end {
			t.Error("the last task waited for the first one")
		}
		b.memory.Close()
	}
}
