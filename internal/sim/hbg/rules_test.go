package hbg_test

import (
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// of are the records of a kind of a thread.
func (b *bench) of(thread int, kind abi.PhaseKind) (out []abi.SchedPhase) {
	for _, p := range b.phases(thread) {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// fiveNodes is a graph of five tasks in a chain, as the one of the real captures.
func fiveNodes(h *hbg.Host, key string, t abi.Tensor) sim.Submitted {
	return h.Graph(key, []sim.Arg{inOut(t)}, func(p []abi.Tensor) {
		for range 5 {
			h.Submit(&sim.Task{Kernels: aiv(50), Args: []sim.Arg{inOut(p[0])}})
		}
	})
}

// TestGraphPrepare: one slice an iteration, of four nodes at most, graphs in turn, from
// the first iteration on and before what the graphs wait for has finished, as in
// a2a3sim_hbg_graph_execution_l4. A dispatch in the same iteration begins where the
// slice ends.
func TestGraphPrepare(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	b.threads = 2
	b.run(func(h *hbg.Host) {
		first := h.Submit(&sim.Task{Kernels: aiv(10_000), Args: []sim.Arg{out(b.tensor(func(int) int32 { return 0 }))}})
		for _, key := range []string{"a", "b", "a"} {
			fiveNodes(h, key, first.Args[0])
		}
	})
	got := b.of(0, abi.GraphPrepare)
	if len(got) != 6 {
		t.Fatalf("%d slices, want two for each of three graphs", len(got))
	}
	for i, want := range []struct {
		tasks uint32
		task  uint64
	}{{4, 1}, {4, 2}, {4, 3}, {1, 1}, {1, 2}, {1, 3}} {
		if p := got[i]; p.TasksProcessed != want.tasks || p.TaskID() != want.task || p.LoopIter != uint32(i+1) {
			t.Errorf("slice %d is %+v, want %d nodes of task %d in iteration %d", i, p, want.tasks, want.task, i+1)
		}
	}
	if d := b.of(0, abi.Dispatch)[0]; d.LoopIter != 1 || d.StartTime != got[0].EndTime {
		t.Errorf("the first dispatch is %+v, want it in iteration 1 from %d on", d, got[0].EndTime)
	}
	if done := b.byTask()[0][0].finish; got[5].EndTime > done {
		t.Errorf("the last slice ends at %d, after the task before the graphs had finished at %d", got[5].EndTime, done)
	}
}

// TestActivation: graphs that become ready together are activated one an iteration.
func TestActivation(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	b.threads = 2
	b.run(func(h *hbg.Host) {
		first := h.Submit(&sim.Task{Kernels: aic(10_000), Args: []sim.Arg{out(b.tensor(func(int) int32 { return 0 }))}})
		for _, key := range []string{"a", "b"} { // they read it
			h.Graph(key, []sim.Arg{in(first.Args[0])}, func(p []abi.Tensor) {
				h.Submit(&sim.Task{Kernels: aiv(50), Args: []sim.Arg{in(p[0])}})
			})
		}
	})
	all := b.of(0, abi.Dispatch)
	if len(all) < 3 || all[1].LoopIter+1 != all[2].LoopIter || all[1].TasksProcessed != 1 || all[2].TasksProcessed != 1 {
		t.Errorf("dispatches %+v, want those of the two graphs in two iterations, one behind the other", all)
	}
}

// TestSpans: the span of a Dispatch begins with its iteration, although cores were
// polled before, unless something had finished.
func TestSpans(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	b.threads = 2
	for k := range b.costs {
		b.costs[k].Ns = 0
	}
	b.costs[sim.SchedLoop].Ns, b.costs[sim.SchedPoll].Ns, b.costs[sim.SchedSample].Ns = 2_000, 1_000, 400 // 100, 50 and 20 cycles
	var short, next uint64
	b.run(func(h *hbg.Host) {
		h.Submit(&sim.Task{Kernels: aic(100_000)}) // is polled all the time
		short = h.Submit(&sim.Task{Kernels: aiv(1000)}).ID
		next = h.Submit(&sim.Task{Kernels: aiv(1000), Deps: after(short)}).ID
	})
	at := b.byTask()[next][0].dispatch
	i := slices.IndexFunc(b.of(0, abi.Dispatch), func(p abi.SchedPhase) bool { return p.StartTime <= at && at <= p.EndTime })
	if i < 0 {
		t.Fatalf("nothing was dispatched at %d", at)
	}
	// The AIV is idle, so only the AIC is polled. The dispatch reads the counter once.
	if p := b.of(0, abi.Dispatch)[i]; p.EndTime-p.StartTime != 170 {
		t.Errorf("the dispatch is %+v: want 170 cycles, all of its iteration", p)
	}
	for _, p := range b.of(0, abi.Complete) {
		if p.EndTime-p.StartTime < 100 {
			t.Errorf("%+v: want it from the beginning of its iteration", p)
		}
	}
}

// TestResolverPasses: what has finished together is resolved in one pass, and what
// waits for it follows.
func TestResolverPasses(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		b := newBench(t, arch, 4, abi.SchedPhases)
		b.threads = 2
		var dummy, last uint64
		b.run(func(h *hbg.Host) {
			var ids []uint64
			for range 8 {
				ids = append(ids, h.Submit(&sim.Task{Kernels: aiv(5000)}).ID)
			}
			skipped := h.Submit(&sim.Task{Kernels: aiv(1), Deps: after(ids...), Predicate: func() bool { return false }}).ID
			dummy = h.Submit(&sim.Task{Deps: after(ids...)}).ID
			last = h.Submit(&sim.Task{Kernels: aic(5), Deps: after(skipped, dummy)}).ID
		})
		n := 0
		for _, p := range b.of(1, abi.ResolveStandalone) {
			n += int(p.TasksProcessed)
		}
		if n != 9 || len(b.of(1, abi.ResolveStandalone)) > 5 {
			t.Errorf("%s: %d tasks in %d passes, want eight in few, and the last one", arch.Name, n, len(b.of(1, abi.ResolveStandalone)))
		}
		dummies := b.of(1, abi.Dummy)
		if len(dummies) != 1 || dummies[0].TasksProcessed != 2 {
			t.Fatalf("%s: dummies %+v, want a record of two", arch.Name, dummies)
		}
		// The marker is there on a2a3 only, for what has no kernels only.
		marks := b.of(1, abi.DummyTask)
		if arch == abi.A5 && len(marks) != 0 || arch == abi.A2A3 && (len(marks) != 1 || marks[0].TaskID() != dummy || marks[0].StartTime < dummies[0].StartTime || marks[0].EndTime > dummies[0].EndTime) {
			t.Errorf("%s: DummyTask %+v, in %+v", arch.Name, marks, dummies)
		}
		if d := b.byTask()[last][0].dispatch; d < dummies[0].StartTime {
			t.Errorf("%s: what waits for the dummies was dispatched at %d, before %d", arch.Name, d, dummies[0].StartTime)
		}
	}
}

// TestPollsAreOneRecord: polls that find nothing are no records, but as long as the one
// that they become.
func TestPollsAreOneRecord(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.SchedPhases)
	b.threads = 2
	for k := range b.costs {
		b.costs[k].Ns = 0
	}
	b.costs[sim.SchedLoop].Ns, b.costs[sim.SchedPoll].Ns = 300, 100 // 5 of 20 cycles are of the poll
	var id uint64
	b.run(func(h *hbg.Host) {
		id = h.Submit(&sim.Task{Kernels: aiv(100), Wait: 10_000}).ID
		h.Submit(&sim.Task{Kernels: aic(1), Deps: after(id)})
	})
	polls := b.of(1, abi.AsyncPoll)
	if len(polls) != 1 || polls[0].TasksProcessed != 1 {
		t.Fatalf("polls %+v, want one record that resolves one task", polls)
	}
	// From its finish the task waits for 10000 cycles, a quarter of which is polled.
	if n := polls[0].EndTime - polls[0].StartTime; n < 2450 || n > 2550 {
		t.Errorf("the polls took %d cycles, want a quarter of 10000", n)
	}
	if f := b.byTask()[id][0].finish; polls[0].EndTime < f+10_000 || polls[0].EndTime > f+10_100 {
		t.Errorf("the polls end at %d, want 10000 cycles after %d", polls[0].EndTime, f)
	}
}

// TestRotation: buffers of a core's own records are handed over although this runtime
// does not say when a core has acknowledged (spec/collector.md §2.5).
func TestRotation(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	b.threads = 2
	const n = 3*abi.AicoreBufferSize + 5
	b.run(func(h *hbg.Host) {
		for range n {
			h.Submit(&sim.Task{Kernels: aic(2)})
		}
	})
	if got := b.capture.Capture.Count(abi.KindAicoreTask); got != n {
		t.Errorf("%d records of cores, want %d", got, n)
	}
}

// TestEmptyGraphRuns: graphs of which nothing runs end, and so does a run of nothing.
func TestEmptyGraphRuns(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	var last uint64
	b.run(func(h *hbg.Host) {
		g := h.Graph("allocs", nil, func([]abi.Tensor) { h.Alloc(b.tensor(func(int) int32 { return 0 })) })
		last = h.Submit(&sim.Task{Kernels: aic(2), Deps: after(g.ID)}).ID
	})
	if len(b.byTask()[last]) != 1 {
		t.Error("what waits for a graph of an alloc did not run")
	}
	b.run(func(*hbg.Host) {})
	if len(b.rows()) != 0 {
		t.Error("something ran")
	}
}

// TestSlots: timing slots are as the schedulers saw their tasks.
func TestSlots(t *testing.T) {
	b := newBench(t, abi.A2A3, 2, abi.ScheduleTiming)
	var id uint64
	r := b.run(func(h *hbg.Host) {
		id = h.Submit(&sim.Task{Kernels: aiv(700), Blocks: 3, Slot: 16}).ID
	})
	s, chip := r.Slots[15], b.chip()
	from, to := ^uint64(0), uint64(0)
	for _, row := range b.byTask()[id] {
		from, to = min(from, row.dispatch), max(to, row.finish)
	}
	if !s.Set || chip.Counter(s.Start) < from || chip.Counter(s.Start) > from+10 || chip.Counter(s.End) != to {
		t.Errorf("slot 15 is %d to %d, want the first dispatch soon after %d, and %d", chip.Counter(s.Start), chip.Counter(s.End), from, to)
	}
	if r.Wall.Start != sim.Boot || r.Start != sim.Boot+b.costs[sim.Preamble].Ns || r.Wall.End != r.End+b.costs[sim.PostOrch].Ns {
		t.Errorf("the report is %+v", r)
	}
}

// TestFailedRunKeepsRecords: a panic of a kernel, or of a predicate that is asked at
// first, is the run's error, and what was recorded is handed over.
func TestFailedRunKeepsRecords(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	broken := &sim.Kernel{Name: "BROKEN", Type: abi.AIC, Run: func(*sim.Call) uint64 { panic("broken kernel") }}
	if err := b.build(func(h *hbg.Host) {
		good := h.Submit(&sim.Task{Kernels: aic(100)}).ID
		h.Submit(&sim.Task{Kernels: [3]*sim.Kernel{broken}, Deps: after(good)})
	}); err != nil {
		t.Fatal(err)
	}
	chip := b.chip()
	if _, err := hbg.Run(hbg.Config{Chip: chip, Threads: 2, Space: b.memory.Space()}, b.built.Graph); err == nil || !strings.Contains(err.Error(), "broken kernel") {
		t.Errorf("error %v", err)
	}
	if err := b.build(func(h *hbg.Host) {
		h.Submit(&sim.Task{Kernels: aic(100), Predicate: func() bool { panic("broken predicate") }})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.runBuilt(); err == nil || !strings.Contains(err.Error(), "broken predicate") {
		t.Errorf("error %v", err)
	}
	if _, err := hbg.Run(hbg.Config{Chip: chip, Threads: 1}, b.built.Graph); err == nil || !strings.Contains(err.Error(), "1 AICPU threads") {
		t.Errorf("error %v", err)
	}
}

// TestHazardsOfGraphs: nodes come where their graph was submitted, behind what was before
// and in front of what came later. All of it runs at once here, and uses one tensor.
func TestHazardsOfGraphs(t *testing.T) {
	b := newBench(t, abi.A5, 4, abi.Disabled)
	x := b.tensor(func(int) int32 { return 0 })
	form, err := (&sim.Task{Kernels: aiv(100_000)}).Form(b.clusters)
	if err != nil {
		t.Fatal(err)
	}
	task := func() *hbg.Task {
		return &hbg.Task{Spec: &sim.Task{Kernels: aiv(100_000), Args: []sim.Arg{inOut(x)}}, Form: form, Args: []abi.Tensor{x}}
	}
	graph := func(nodes ...*hbg.Task) *hbg.Task {
		return &hbg.Task{Spec: &sim.Task{}, Form: sim.Form{Shape: sim.ShapeDummy, Blocks: 1}, Nodes: nodes}
	}
	g := graphOf(task(), graph(task(), task()), graph(task()), task())
	var order []uint64 // of submits
	for _, t := range g.Tasks {
		if t.Nodes == nil {
			order = append(order, t.ID)
		}
		for _, n := range t.Nodes {
			order = append(order, n.ID)
		}
	}
	var hazards sim.Hazards
	if _, err := hbg.Run(hbg.Config{Chip: b.chip(), Threads: 2, Space: b.memory.Space(), Hazards: &hazards}, g); err != nil {
		t.Fatal(err)
	}
	if hazards.Found != 10 { // each of five with each
		t.Errorf("%d pairs are found, want 10", hazards.Found)
	}
	for _, r := range hazards.First {
		if slices.Index(order, r.Earlier.Task) >= slices.Index(order, r.Later.Task) {
			t.Errorf("%#x is taken for earlier than %#x: want them as in %#x", r.Earlier.Task, r.Later.Task, order)
		}
	}
}
