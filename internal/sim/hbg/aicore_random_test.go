package hbg_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

const aicoreWidth = 24 // elements that a task of a random graph makes

// aicoreGraph is a random graph, and what must come of it.
type aicoreGraph struct {
	graph *hbg.Graph
	tasks []*aicoreMade // by dense index
}

// aicoreMade is a dense task.
type aicoreMade struct {
	out      abi.Tensor
	want     []int32
	waits    []int  // dense indices of the tasks that must be complete before it is ready
	runs     bool   // on cores
	alloc    bool   // complete from the beginning
	kernels  [3]int // runs of its kernels on each lane
	form     sim.Form
	resolves bool // it is resolved by a scheduler
}

// random makes a graph of n tasks: each folds the values of some earlier ones, modulo
// a prime so that numbers stay exact, into its own.
func random(b *aicoreBench, rng *rand.Rand, n int) *aicoreGraph {
	m := &aicoreGraph{}
	var list []*hbg.Task
	for i := range n {
		var from []int
		for range rng.IntN(4) {
			if i > 0 {
				from = append(from, max(0, i-1-rng.IntN(12)))
			}
		}
		if i > 0 && rng.IntN(40) == 0 { // many
			for range 20 {
				from = append(from, rng.IntN(i))
			}
		}
		slices.Sort(from)
		from = slices.Compact(from)
		switch {
		case rng.IntN(12) == 0:
			t := &hbg.Task{Spec: &sim.Task{}, Alloc: true}
			m.tasks = append(m.tasks, &aicoreMade{out: b.vector(aicoreWidth), want: make([]int32, aicoreWidth), alloc: true})
			list = append(list, t)
		case rng.IntN(15) == 0: // a graph task; its nodes are made below
			t := b.task(&sim.Task{}, from...)
			t.Nodes = make([]*hbg.Task, 1+rng.IntN(6))
			m.tasks = append(m.tasks, &aicoreMade{waits: from, resolves: true})
			list = append(list, t)
		default:
			t, d := m.fold(b, rng, from, from)
			m.tasks = append(m.tasks, d)
			list = append(list, t)
		}
	}
	m.nodes(b, rng, list)
	m.graph = graphOf(list...)
	return m
}

// nodes makes the nodes of graph tasks, whose dense indices come behind those of the list.
func (m *aicoreGraph) nodes(b *aicoreBench, rng *rand.Rand, list []*hbg.Task) {
	for i, t := range list {
		base := len(m.tasks)
		for k := range t.Nodes {
			var inner, waits []int
			for range rng.IntN(3) {
				if k > 0 {
					inner = append(inner, rng.IntN(k))
				}
			}
			slices.Sort(inner)
			inner = slices.Compact(inner)
			for _, p := range inner {
				waits = append(waits, base+p)
			}
			if waits == nil {
				waits = m.tasks[i].waits
			}
			var d *aicoreMade
			t.Nodes[k], d = m.fold(b, rng, inner, waits)
			m.tasks = append(m.tasks, d)
		}
		if t.Nodes != nil { // complete when all nodes are
			m.tasks[i].waits = nil
			for k := range t.Nodes {
				m.tasks[i].waits = append(m.tasks[i].waits, base+k)
			}
		}
	}
}

// fold makes a task that folds the values of those that it waits for.
func (m *aicoreGraph) fold(b *aicoreBench, rng *rand.Rand, producers, waits []int) (*hbg.Task, *aicoreMade) {
	d := &aicoreMade{out: b.vector(aicoreWidth), want: make([]int32, aicoreWidth), waits: waits, runs: true, resolves: true}
	spec := &sim.Task{Args: []sim.Arg{{Type: abi.ArgOutput, Tensor: d.out}}, Slot: max(0, rng.IntN(64)-64+sim.TimingSlots+1)}
	var in [][]int32
	for _, p := range waits {
		if m.tasks[p].want != nil { // not a graph task
			spec.Args = append(spec.Args, sim.Arg{Type: abi.ArgInput, Tensor: m.tasks[p].out})
			in = append(in, m.tasks[p].want)
		}
	}
	masks := [][3]bool{{true}, {false, true}, {false, true}, {true, true}, {true, true, true}, {false, true, true}, {false, false, true}, {true, false, true}}
	mask := masks[rng.IntN(len(masks))]
	switch rng.IntN(12) {
	case 0:
		mask = [3]bool{} // a dummy
	case 1:
		spec.Predicate = func() bool { return false }
	case 2:
		spec.Predicate = func() bool { return true }
	}
	if rng.IntN(4) == 0 {
		spec.Blocks = 1 + rng.IntN(9)
	}
	room := b.clusters
	if mask == masks[1] || mask == masks[6] {
		room = 2 * b.clusters
	}
	spec.SyncStart = rng.IntN(2) == 0 && spec.Blocks <= room
	cost := 1 + rng.Uint64N(900)
	lanes, n := 0, 0
	for _, used := range mask {
		if used {
			lanes++
		}
	}
	for lane, used := range mask {
		if used {
			spec.Kernels[lane] = foldKernel(d, lane, n, lanes, cost)
			n++
		}
	}
	d.runs = lanes > 0 && (spec.Predicate == nil || spec.Predicate())
	if d.runs {
		for k := range d.want {
			d.want[k] = folded(in, k)
		}
	}
	t := b.task(spec, producers...)
	d.form = t.Form
	return t, d
}

func folded(in [][]int32, k int) int32 {
	sum := int32(k + 1)
	for i, v := range in {
		sum += v[k] * int32(i+2)
	}
	return sum % 9973
}

// foldKernel computes the elements of one block on one lane of several.
func foldKernel(d *aicoreMade, lane, n, lanes int, cost uint64) *sim.Kernel {
	core := abi.AIV
	if lane == 0 {
		core = abi.AIC
	}
	return &sim.Kernel{ID: int32(lane), Name: fmt.Sprintf("fold%d", lane), Type: core, Run: func(c *sim.Call) uint64 {
		d.kernels[lane]++
		var in [][]int32
		for i := range c.Args[1:] {
			in = append(in, sim.Use[int32](c, i+1).Row(0))
		}
		out := sim.Use[int32](c, 0).Row(0)
		for k := c.Block*lanes + n; k < aicoreWidth; k += c.Blocks * lanes {
			out[k] = folded(in, k)
		}
		return cost + uint64(c.Block)*37%200
	}}
}

// check compares what was computed with what should be.
func (m *aicoreGraph) check(b *aicoreBench) {
	b.t.Helper()
	if b.hazards.Found != 0 {
		b.t.Errorf("%d pairs of tasks are not ordered, the first %+v", b.hazards.Found, b.hazards.First[0])
	}
	for i, d := range m.tasks {
		if d.want == nil {
			continue
		}
		if got := b.ints(d.out); !slices.Equal(got, d.want) {
			b.t.Errorf("task %d made %v, want %v", i, got, d.want)
		}
		for lane, n := range d.kernels {
			want := 0
			if d.runs && d.form.Kernels[lane] != nil {
				want = d.form.Blocks
			}
			if d.runs && d.form.Shape == abi.ShapeAIV { // a lone AIV1 is an AIV0
				n, want = d.kernels[1]+d.kernels[2], d.form.Blocks
			}
			if n != want {
				b.t.Errorf("lane %d of task %d ran %d blocks, want %d", lane, i, n, want)
			}
		}
	}
}

// deps is the graph as deps.json has it, with dense indices.
func (m *aicoreGraph) deps() string {
	var tasks, edges []string
	for i, d := range m.tasks {
		ids := sim.KernelIDs(d.form.Kernels)
		tasks = append(tasks, fmt.Sprintf(`{"task_id": "%d", "scope": "auto", "early_dispatch": false, "kernel_ids": [%d, %d, %d], "block_num": %d, "args": []}`,
			i, ids[0], ids[1], ids[2], max(d.form.Blocks, 1)))
		for _, p := range d.waits {
			edges = append(edges, fmt.Sprintf(`{"pred": "%d", "succ": "%d", "arg": 0, "source": "creator"}`, p, i))
		}
	}
	return fmt.Sprintf(`{"tasks": [%s], "tensors": [], "edges": [%s]}`, strings.Join(tasks, ","), strings.Join(edges, ","))
}

// TestRandomAicoreGraphs: every schedule computes the right values and keeps the
// invariants, whatever the costs, clusters and threads.
func TestRandomAicoreGraphs(t *testing.T) {
	all := map[string]int{}
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 14))
			b := newAicoreBench(t, 1+rng.IntN(6), abi.SchedPhases)
			b.threads, b.mapped = 2+rng.IntN(4), rng.IntN(2) == 0
			for k := range b.costs {
				b.costs[k].Ns = sim.Time(rng.IntN(int(2*b.costs[k].Ns + 1)))
			}
			m := random(b, rng, 150)
			b.run(m.graph)
			m.check(b)
			checkAicore(b, m)
			b.read(m.deps())
			for kind, n := range b.records.kinds() {
				all[kind] += n
			}
		})
	}
	for _, kind := range []string{"bootstrap", "state_probe", "dispatch", "worksteal", "refill", "complete", "resolve", "idle"} {
		if all[kind] < 20 {
			t.Errorf("only %d records of the kind %s in all runs: %v", all[kind], kind, all)
		}
	}
}
