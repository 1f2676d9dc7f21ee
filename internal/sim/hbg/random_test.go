package hbg_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// op is a task: it adds up what it reads, elements modulo a prime, into a buffer or
// to what is there. Buffers are numbers.
type op struct {
	reads  []int
	writes int
	update bool // adds to what is there
	mask   [3]bool
	blocks int
	cost   uint64
	skip   bool // a predicate says no
	dummy  bool
	sync   bool // its blocks start together
	early  bool // consumers may be placed early
	wait   uint64
	alloc  bool // something is allocated before it
}

// step is a submit: of a task, or of a graph with some buffers.
type step struct {
	op    *op
	graph int // of program.graphs, if it is no op
	args  []int
}

// program is a random orchestration. A graph's ops use its arguments by number, and
// behind them what it makes itself.
type program struct {
	graphs [][]op
	steps  []step
}

const (
	buffers = 8
	params  = 3 // of a graph
	made    = 2 // buffers that it makes
)

var masks = [][3]bool{{true}, {false, true}, {true, true}, {true, true, true}, {false, true, true}, {false, false, true}, {true, false, true}}

func randomOp(rng *rand.Rand, of, clusters int) op {
	o := op{
		writes: rng.IntN(of), update: rng.IntN(2) == 0, mask: masks[rng.IntN(len(masks))], blocks: 1, cost: 1 + rng.Uint64N(400),
		skip: rng.IntN(10) == 0, dummy: rng.IntN(10) == 0, early: rng.IntN(3) > 0, alloc: rng.IntN(10) == 0,
	}
	if rng.IntN(4) == 0 {
		o.blocks = 1 + rng.IntN(30)
	}
	if rng.IntN(8) == 0 {
		o.wait = 1 + rng.Uint64N(200)
	}
	if room := clusters; o.blocks <= room {
		o.sync = rng.IntN(3) == 0
	}
	if o.dummy {
		o.skip, o.mask, o.wait = false, [3]bool{}, 0
	}
	for range rng.IntN(4) {
		if r := rng.IntN(of); r != o.writes && !slices.Contains(o.reads, r) {
			o.reads = append(o.reads, r)
		}
	}
	return o
}

func randomProgram(rng *rand.Rand, n, clusters int) *program {
	p := &program{}
	for range 4 {
		var ops []op
		for i := range made { // what it makes has values before it is read
			ops = append(ops, op{reads: []int{rng.IntN(params)}, writes: params + i, mask: masks[rng.IntN(2)], blocks: 1, cost: 50})
		}
		for range 1 + rng.IntN(9) {
			ops = append(ops, randomOp(rng, params+made, clusters))
		}
		p.graphs = append(p.graphs, ops)
	}
	for range n {
		if rng.IntN(5) == 0 {
			p.steps = append(p.steps, step{graph: rng.IntN(len(p.graphs)), args: rng.Perm(buffers)[:params]})
			continue
		}
		o := randomOp(rng, buffers, clusters)
		p.steps = append(p.steps, step{op: &o})
	}
	return p
}

// kernels are those of an op: block and lane say which elements one computes.
func (o *op) kernels() (k [3]*sim.Kernel) {
	lanes := 0
	for _, used := range o.mask {
		if used {
			lanes++
		}
	}
	n := 0
	for i, used := range o.mask {
		if !used {
			continue
		}
		core := abi.AIV
		if i == 0 {
			core = abi.AIC
		}
		at := n
		k[i] = &sim.Kernel{ID: int32(i), Name: core.String(), Type: core, Run: func(c *sim.Call) uint64 {
			to := sim.Use[int32](c, len(o.reads)).Row(0)
			for e := c.Block*lanes + at; e < width; e += c.Blocks * lanes {
				sum := int32(1)
				if o.update {
					sum += to[e]
				}
				for a := range o.reads {
					sum += sim.Use[int32](c, a).Row(0)[e] * int32(a+2)
				}
				to[e] = sum % 9973
			}
			return o.cost
		}}
		n++
	}
	return k
}

// apply does to values what an op does.
func (o *op) apply(values [][]int32) {
	if o.skip || o.dummy {
		return
	}
	to := values[o.writes]
	for e := range to {
		sum := int32(1)
		if o.update {
			sum += to[e]
		}
		for a, r := range o.reads {
			sum += values[r][e] * int32(a+2)
		}
		to[e] = sum % 9973
	}
}

// values are those of the buffers in the end, one step after the other.
func (p *program) values() [][]int32 {
	all := make([][]int32, buffers)
	for i := range all {
		for k := range width {
			all[i] = append(all[i], int32(i*31+k))
		}
	}
	for _, s := range p.steps {
		if s.op != nil {
			s.op.apply(all)
			continue
		}
		var local [][]int32
		for _, a := range s.args {
			local = append(local, all[a])
		}
		for range made {
			local = append(local, make([]int32, width))
		}
		for i := range p.graphs[s.graph] {
			p.graphs[s.graph][i].apply(local)
		}
	}
	return all
}

// edge is that a task waits for another; early: it may be dispatched before the other
// has finished.
type edge struct {
	from, to uint64
	early    bool
}

// user keeps track of who uses buffers.
type user struct {
	o  *op // nil: a graph, or a dummy of the test
	id uint64
}

// tracker declares the dependencies that nothing else makes: of a writer on those
// that read before.
type tracker struct {
	writer  []*user // of each buffer, the last one
	readers [][]*user
	waits   *[]edge
}

func newTracker(n int, waits *[]edge) *tracker {
	return &tracker{make([]*user, n), make([][]*user, n), waits}
}

// use adds a user, and tells whom it must declare.
func (t *tracker) use(u *user, reads []int, writes int) (declare []uint64) {
	wait := func(on *user) {
		if on != nil {
			e := edge{on.id, u.id, on.o != nil && on.o.early && u.o != nil && !u.o.skip && !u.o.dummy && !on.o.dummy}
			if !slices.Contains(*t.waits, e) {
				*t.waits = append(*t.waits, e)
			}
		}
	}
	for _, r := range reads {
		wait(t.writer[r])
		t.readers[r] = append(t.readers[r], u)
	}
	if writes < 0 {
		return nil
	}
	wait(t.writer[writes])
	if w := t.writer[writes]; w != nil { // by the tensor map only if it reads it too
		declare = append(declare, w.id)
	}
	for _, r := range t.readers[writes] {
		if r != u {
			wait(r)
			declare = append(declare, r.id)
		}
	}
	t.writer[writes], t.readers[writes] = u, nil
	return declare
}

// submit submits an op over some tensors.
func (o *op) submit(h *hbg.Host, t *tracker, tensors []abi.Tensor) {
	if o.alloc {
		h.Alloc(tensors[0])
	}
	task := &sim.Task{Kernels: o.kernels(), Blocks: o.blocks, SyncStart: o.sync, Early: o.early, Wait: o.wait}
	u := &user{o: o}
	for _, r := range o.reads {
		task.Args = append(task.Args, in(tensors[r]))
	}
	if o.update {
		task.Args = append(task.Args, inOut(tensors[o.writes]))
	} else {
		task.Args = append(task.Args, into(tensors[o.writes]))
	}
	if o.skip {
		task.Predicate = func() bool { return false }
	}
	// The id is known before: who is declared was submitted earlier.
	waits := t.waits
	var own []edge
	t.waits = &own
	task.Deps = after(t.use(u, o.reads, o.writes)...)
	u.id = h.Submit(task).ID
	t.waits = waits
	for _, e := range own {
		e.to = u.id
		*waits = append(*waits, e)
	}
}

// orchestration submits a program, and notes who waits for whom.
func (p *program) orchestration(tensors []abi.Tensor, waits *[]edge, bodies *int) func(*hbg.Host) {
	return func(h *hbg.Host) {
		t := newTracker(buffers, waits)
		for _, s := range p.steps {
			if s.op != nil {
				s.op.submit(h, t, tensors)
				continue
			}
			var args []sim.Arg
			for _, a := range s.args { // who read it before comes before a dummy that stands for a writer
				d := &user{o: &op{dummy: true}}
				deps := t.use(d, nil, a)
				mark := len(*waits)
				d.id = h.Submit(&sim.Task{Args: []sim.Arg{inOut(tensors[a])}, Deps: after(deps...)}).ID
				*waits = (*waits)[:max(0, mark-len(deps)-1)] // dummies have no rows
				args = append(args, inOut(tensors[a]))
			}
			ops := p.graphs[s.graph]
			g := h.Graph(s.graph, args, func(params []abi.Tensor) {
				*bodies++
				local := slices.Clone(params)
				var inner []edge // nodes of all instances have other ids
				t := newTracker(len(params)+made, &inner)
				for i := range ops {
					if o := &ops[i]; len(local) < len(params)+made {
						local = append(local, o.make(h, t, local))
					} else {
						o.submit(h, t, local)
					}
				}
			})
			for _, a := range s.args {
				t.writer[a], t.readers[a] = &user{id: g.ID}, nil
			}
		}
	}
}

// make submits an op whose result is made by the graph.
func (o *op) make(h *hbg.Host, t *tracker, tensors []abi.Tensor) abi.Tensor {
	like, err := sim.NewTensor(0, abi.Int32, width)
	if err != nil {
		panic(err)
	}
	u := &user{o: o}
	t.use(u, o.reads, o.writes)
	s := h.Submit(&sim.Task{Kernels: o.kernels(), Args: []sim.Arg{in(tensors[o.reads[0]]), out(like)}})
	u.id = s.ID
	return s.Args[1]
}

func (b *bench) buffers() (out []abi.Tensor) {
	for i := range buffers {
		out = append(out, b.tensor(func(k int) int32 { return int32(i*31 + k) }))
	}
	return out
}

// TestRandomGraphs: every schedule computes the right values and keeps the
// invariants, whatever the costs, cores and threads, on both architectures.
func TestRandomGraphs(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	seen := map[abi.PhaseKind]int{}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			arch := []*abi.Arch{abi.A2A3, abi.A5}[seed%2]
			b := newBench(t, arch, 1+rng.IntN(6), abi.OrchPhases)
			b.threads = 2 + rng.IntN(arch.MaxThreads-1)
			for k := range b.costs {
				b.costs[k].Ns = sim.Time(rng.IntN(int(2*b.costs[k].Ns + 1)))
			}
			p := randomProgram(rng, 120, b.clusters)
			tensors := b.buffers()
			var waits []edge
			bodies := 0
			b.run(p.orchestration(tensors, &waits, &bodies))
			for i, want := range p.values() {
				if got := b.ints(tensors[i]); !slices.Equal(got, want) {
					t.Errorf("buffer %d is %v, want %v", i, got, want)
				}
			}
			if bodies > len(p.graphs) {
				t.Errorf("%d graphs are recorded of %d that there are", bodies, len(p.graphs))
			}
			for kind, n := range b.checkInvariants(waits) {
				seen[kind] += n
			}
		})
	}
	for _, kind := range []abi.PhaseKind{
		abi.Complete, abi.Dispatch, abi.EarlyDispatch, abi.Drain, abi.DrainPrepare, abi.DrainPublish, abi.GraphPrepare, abi.ResolveStandalone, abi.AsyncPoll, abi.Dummy, abi.DummyTask,
	} {
		if seen[kind] == 0 && !testing.Short() {
			t.Errorf("no run has a record of the kind %v", kind)
		}
	}
}

// TestSleepIsSpinning: a thread that sleeps through iterations in which it finds
// nothing leaves the same records, to the cycle, as one that does every iteration.
func TestSleepIsSpinning(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var files [2][]byte
			var reports [2]hbg.Report
			for i := range files {
				rng := rand.New(rand.NewPCG(seed, 22))
				arch := []*abi.Arch{abi.A2A3, abi.A5}[rng.IntN(2)]
				b := newBench(t, arch, 1+rng.IntN(6), abi.OrchPhases)
				b.spin = i == 1
				b.threads = 2 + rng.IntN(arch.MaxThreads-1)
				step := sim.Time(1)
				if rng.IntN(2) == 0 {
					step = 50
				}
				for k := range b.costs {
					b.costs[k].Ns = sim.Time(rng.IntN(int(2*b.costs[k].Ns+1))) / step * step
				}
				p := randomProgram(rng, 60, b.clusters)
				var waits []edge
				bodies := 0
				reports[i] = *b.run(p.orchestration(b.buffers(), &waits, &bodies))
				files[i] = b.file()
				b.memory.Close()
			}
			if reports[0] != reports[1] || !bytes.Equal(files[0], files[1]) {
				t.Errorf("sleeping from %d to %d ns, spinning to %d ns, the records are the same: %v", reports[0].Start, reports[0].End, reports[1].End, bytes.Equal(files[0], files[1]))
			}
		})
	}
}

// sameProgram runs one program.
func (b *bench) sameProgram() *hbg.Report {
	p := randomProgram(rand.New(rand.NewPCG(77, 3)), 150, b.clusters)
	var waits []edge
	bodies := 0
	return b.run(p.orchestration(b.buffers(), &waits, &bodies))
}

// TestSameBytes: the file depends on the program, platform and costs, and on nothing
// of the machine.
func TestSameBytes(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		var want []byte
		for _, v := range []struct {
			procs, shards int
			slow          time.Duration
		}{{2, 1, 0}, {1, 1, 0}, {2, 2, 0}, {2, 3, 0}, {1, 4, 0}, {2, 1, 2 * time.Millisecond}} {
			b := newBench(t, arch, 4, abi.OrchPhases)
			b.shards, b.slow = v.shards, v.slow
			before := runtime.GOMAXPROCS(v.procs)
			b.sameProgram()
			runtime.GOMAXPROCS(before)
			if got := b.file(); want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: with %+v the file differs from the first one", arch.Name, v)
			}
		}
	}
}

// TestLevelsDoNotChangeTheSchedule: where profiling costs nothing, all levels see the
// same run, and one without profiling is as long.
func TestLevelsDoNotChangeTheSchedule(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		type result struct {
			report hbg.Report
			kernel string
			built  sim.Time
		}
		var want result
		for level := abi.OrchPhases + 1; level > 0; level-- {
			b := newBench(t, arch, 4, level-1)
			b.costs = b.costs.Free()
			got := result{report: *b.sameProgram(), built: b.built.End}
			if b.level > abi.Disabled {
				for core := range 12 {
					for batch := range b.capture.Capture.AicoreTasks(core) {
						for _, r := range batch {
							got.kernel += fmt.Sprintln(core, r)
						}
					}
				}
			} else {
				got.kernel = want.kernel
			}
			if level == abi.OrchPhases+1 {
				want = got
			} else if got != want {
				t.Errorf("%s: level %d is not the run of level 4: it ends at %d, want %d; kernels are the same: %v", arch.Name, b.level, got.report.End, want.report.End, got.kernel == want.kernel)
			}
		}
		b := newBench(t, arch, 4, abi.OrchPhases)
		if report := b.sameProgram(); report.End <= want.report.End || b.built.End <= want.built {
			t.Errorf("%s: with the costs of profiling the run ends at %d and the host at %d, without at %d and %d", arch.Name, report.End, b.built.End, want.report.End, want.built)
		}
	}
}
