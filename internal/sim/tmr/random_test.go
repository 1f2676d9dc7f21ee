package tmr_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

const width = 48 // elements of each buffer of a random graph

// op is a task of a random graph: it adds the buffers that it reads, elements
// modulo a prime so that numbers stay exact, to a buffer or into a new value of it.
type op struct {
	reads  []int
	writes int
	update bool // adds to what is there
	mask   [3]bool
	blocks int
	cost   uint64
	skip   bool // a predicate says no
	dummy  bool
	scoped bool // in a scope of its own
	manual bool
	sync   bool   // its blocks start together
	early  bool   // consumers may be placed early
	wait   uint64 // cycles beside the kernels
	slot   int    // for timing, plus 1
	alloc  bool   // storage is made before it
	keeps  []int  // ops that must stay until this one is done with, and need not have finished
	preds  []int  // ops that must be done before, for the values to be right
}

// opKernel computes the elements of one block on one lane.
func opKernel(o *op, core abi.CoreType, lane, lanes int) *sim.Kernel {
	return &sim.Kernel{ID: int32(lane), Name: fmt.Sprintf("op%d", lane), Type: core, Run: func(c *sim.Call) uint64 {
		out := sim.Use[int32](c, len(o.reads)).Row(0)
		for i := c.Block*lanes + lane; i < width; i += c.Blocks * lanes {
			sum := int32(1)
			if o.update {
				sum += out[i]
			}
			for k := range o.reads {
				sum += sim.Use[int32](c, k).Row(0)[i] * int32(k+2)
			}
			out[i] = sum % 9973
		}
		return o.cost
	}}
}

func (o *op) kernels() (k [3]*sim.Kernel) {
	lanes := 0
	for _, used := range o.mask {
		if used {
			lanes++
		}
	}
	n := 0
	for i, used := range o.mask {
		if used {
			core := abi.AIV
			if i == 0 {
				core = abi.AIC
			}
			k[i] = opKernel(o, core, n, lanes)
			n++
		}
	}
	return k
}

// randomOps makes a graph over some buffers, and the values they have in the end.
func randomOps(rng *rand.Rand, n, clusters int) (ops []op, final [][]int32) {
	lastWrite := make([]int, buffers)
	readers := make([][]int, buffers) // since the last write
	for i := range buffers {
		lastWrite[i] = -1
		final = append(final, make([]int32, width))
		for k := range final[i] {
			final[i][k] = int32(i*31 + k)
		}
	}
	masks := [][3]bool{{true}, {false, true}, {true, true}, {true, true, true}, {false, true, true}, {false, false, true}, {true, false, true}}
	for i := range n {
		o := op{
			writes: rng.IntN(buffers), update: rng.IntN(2) == 0, mask: masks[rng.IntN(len(masks))], blocks: 1, cost: 1 + rng.Uint64N(400),
			skip: rng.IntN(10) == 0, dummy: rng.IntN(12) == 0, scoped: rng.IntN(4) == 0, manual: rng.IntN(8) == 0,
		}
		if rng.IntN(4) == 0 {
			o.blocks = 1 + rng.IntN(40)
		}
		o.early = rng.IntN(3) > 0
		if rng.IntN(15) == 0 {
			o.wait = rng.Uint64N(200)
		}
		room := clusters
		if o.mask == masks[1] || o.mask == masks[5] {
			room = 2 * clusters
		}
		if o.blocks = min(o.blocks, 1+rng.IntN(40)); o.blocks <= room {
			o.sync = rng.IntN(3) == 0
		}
		o.slot, o.alloc = max(0, rng.IntN(tmr.TimingSlots*4)-tmr.TimingSlots*3), rng.IntN(12) == 0
		if i > 0 && rng.IntN(6) == 0 {
			o.keeps = append(o.keeps, rng.IntN(i))
		}
		if o.dummy {
			o.skip, o.mask, o.wait = false, [3]bool{}, 0
		}
		for range rng.IntN(4) {
			if r := rng.IntN(buffers); r != o.writes && !slices.Contains(o.reads, r) {
				o.reads = append(o.reads, r)
			}
		}
		before := map[int]bool{}
		for _, r := range o.reads {
			before[lastWrite[r]] = true
		}
		before[lastWrite[o.writes]] = true
		for _, r := range readers[o.writes] { // there is no edge from a reader to the next writer
			before[r] = true
		}
		delete(before, -1)
		for p := range before {
			o.preds = append(o.preds, p)
		}
		slices.Sort(o.preds)
		for _, r := range o.reads {
			readers[r] = append(readers[r], i)
		}
		lastWrite[o.writes], readers[o.writes] = i, nil
		if !o.skip && !o.dummy {
			for k := range width {
				sum := int32(1)
				if o.update {
					sum += final[o.writes][k]
				}
				for a, r := range o.reads {
					sum += final[r][k] * int32(a+2)
				}
				final[o.writes][k] = sum % 9973
			}
		}
		ops = append(ops, o)
	}
	return ops, final
}

// orchestration submits random ops. Dependencies that the tensor map does not find
// are declared: from readers to the next writer, and in manual scopes all.
func orchestration(ops []op, buffers []abi.Tensor, ids *[]uint64) func(*tmr.Orchestrator) {
	return func(o *tmr.Orchestrator) {
		*ids = make([]uint64, len(ops))
		submitOps(o, ops, 0, len(ops), buffers, *ids)
	}
}

// submitOps submits ops from one to another, and notes their ids.
func submitOps(o *tmr.Orchestrator, ops []op, from, to int, buffers []abi.Tensor, ids []uint64) {
	for i := from; i < to; i++ {
		p := &ops[i]
		task := &tmr.Task{Kernels: p.kernels(), Blocks: p.blocks, SyncStart: p.sync, Early: p.early, Wait: p.wait, Slot: p.slot}
		for _, r := range p.reads {
			task.Args = append(task.Args, in(buffers[r]))
		}
		if p.update {
			task.Args = append(task.Args, inOut(buffers[p.writes]))
		} else {
			task.Args = append(task.Args, into(buffers[p.writes]))
		}
		for _, d := range p.preds {
			task.Deps = append(task.Deps, producer.Dep{Producer: ids[d]})
		}
		for _, d := range p.keeps {
			task.Deps = append(task.Deps, producer.Dep{Producer: ids[d], Kind: abi.DepRetain})
		}
		if p.alloc {
			o.Alloc(buffers[0])
		}
		if p.skip {
			task.Predicate = func() bool { return false }
		}
		submit := func() { ids[i] = o.Submit(task).ID }
		switch {
		case p.manual:
			o.ManualScope(submit)
		case p.scoped:
			o.Scope(submit)
		default:
			submit()
		}
	}
}

const buffers = 9

// buffers are those of a random graph with the values that they begin with.
func (b *bench) buffers() (tensors []abi.Tensor) {
	b.t.Helper()
	for i := range buffers {
		x, err := sim.NewTensor(b.alloc(4*width), abi.Int32, width)
		if err != nil {
			b.t.Fatal(err)
		}
		for k, row := 0, b.ints(x); k < width; k++ {
			row[k] = int32(i*31 + k)
		}
		tensors = append(tensors, x)
	}
	return tensors
}

func (b *bench) ints(t abi.Tensor) []int32 {
	b.t.Helper()
	v, err := sim.ViewOf[int32](b.memory.Space(), &t)
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Row(0)
}

// checkValues compares what is in buffers with what should be.
func (b *bench) checkValues(tensors []abi.Tensor, want [][]int32) {
	b.t.Helper()
	for i := range tensors {
		if got := b.ints(tensors[i]); !slices.Equal(got, want[i]) {
			b.t.Errorf("buffer %d is %v, want %v", i, got, want[i])
		}
	}
}

// checkOps checks how many subtasks ran, and tells which ops wait for which, and
// which of them need not have seen the other finish when they are dispatched.
func (b *bench) checkOps(ops []op, ids []uint64) (waits []edge, early map[edge]bool) {
	b.t.Helper()
	early = map[edge]bool{}
	subtasks := 0
	for i := range ops {
		for _, d := range ops[i].preds {
			e := edge{ids[d], ids[i]}
			waits = append(waits, e)
			early[e] = ops[d].early && !ops[i].skip
		}
		if !ops[i].skip {
			for _, k := range ops[i].kernels() {
				if k != nil {
					subtasks += ops[i].blocks
				}
			}
		}
	}
	if got := b.capture.Capture.Count(abi.KindAicoreTask); got != subtasks {
		b.t.Errorf("%d subtasks ran, want %d", got, subtasks)
	}
	return waits, early
}

// TestRandomGraphs: every schedule computes the right values and keeps the
// invariants, whatever the costs, cores and threads.
func TestRandomGraphs(t *testing.T) {
	earlyOnes := 0
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			arch := []*abi.Arch{abi.A2A3, abi.A5}[rng.IntN(2)]
			b := newBench(t, arch, 1+rng.IntN(6), abi.OrchPhases)
			b.threads = 2 + rng.IntN(arch.MaxThreads-1)
			for k := range b.costs {
				b.costs[k].Ns = sim.Time(rng.IntN(int(2*b.costs[k].Ns + 1)))
			}
			ops, want := randomOps(rng, 200, b.clusters)
			tensors := b.buffers()
			var ids []uint64
			if _, err := b.run(orchestration(ops, tensors, &ids)); err != nil {
				t.Fatal(err)
			}
			b.checkValues(tensors, want)
			waits, early := b.checkOps(ops, ids)
			checkInvariants(t, b, waits, early)
			earlyOnes += b.early
		})
	}
	if earlyOnes == 0 {
		t.Error("no task was dispatched before its producers had finished")
	}
}
