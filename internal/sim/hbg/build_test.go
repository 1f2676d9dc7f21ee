package hbg_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// like is the shape of an output.
func like(t testing.TB, shape ...int) abi.Tensor {
	t.Helper()
	x, err := sim.NewTensor(0, abi.Int32, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func part(t testing.TB, x abi.Tensor, start, n int) abi.Tensor {
	t.Helper()
	p, err := sim.SliceTensor(x, []int{start}, []int{n})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBuildWires: dependencies are those of declared tasks, of creators and of the
// tensor map, each once; allocs are nobody's producers, as they are complete.
func TestBuildWires(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	x := b.tensor(func(int) int32 { return 0 })
	err := b.build(func(h *hbg.Host) {
		alloc := h.Alloc(like(t, width))                                                                                    // 0
		a := h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{out(like(t, width)), inOut(alloc.Args[0])}})               // 1
		half := h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{inOut(part(t, x, 0, width/2))}})                        // 2
		h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{inOut(part(t, x, width/2, width/2))}})                          // 3
		h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(a.Args[0]), in(x)}, Deps: after(half.ID, half.ID)})          // 4
		h.ManualScope(func() { h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(x)}, Deps: after(a.ID)}) })           // 5
		h.Submit(&sim.Task{Deps: []producer.Dep{{Producer: half.ID, Kind: abi.DepRetain}}, Args: []sim.Arg{in(a.Args[1])}}) // 6
	})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int{nil, nil, nil, nil, {1, 2, 3}, {1}, {1}}
	for i, task := range b.built.Graph.Tasks {
		if !slices.Equal(task.Producers, want[i]) {
			t.Errorf("task %d waits for %d, want %d", i, task.Producers, want[i])
		}
		if task.ID != uint64(i) || task.Alloc != (i == 0) || task.Manual != (i == 5) {
			t.Errorf("task %d is %+v", i, task)
		}
	}
	if b.built.Submits != 7 || b.built.Tasks != 6 || b.built.Graph.Count() != 6 {
		t.Errorf("%d submits of %d tasks, %d to run: want 7, 6 and 6", b.built.Submits, b.built.Tasks, b.built.Graph.Count())
	}
	n := 0
	for s := range b.built.Recorded() {
		n++
		if task := b.built.Graph.Tasks[s.TaskID]; len(s.Args) != len(task.Args) || s.ManualScope != task.Manual || s.BlockNum != 1 {
			t.Errorf("dep_gen has %+v", s)
		}
	}
	if n != 6 {
		t.Errorf("dep_gen has %d submits, want those of the six tasks", n)
	}
}

// TestOutputsAreApart: outputs have memory of their own, in pieces of 1024 bytes.
func TestOutputsAreApart(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.Disabled)
	seen := map[uint64]bool{}
	note := func(list []abi.Tensor) {
		for _, x := range list {
			if seen[x.BufferAddr] || x.BufferAddr%1024 != 0 {
				t.Errorf("an output at %#x: want one of its own, at a multiple of 1024", x.BufferAddr)
			}
			seen[x.BufferAddr] = true
		}
	}
	err := b.build(func(h *hbg.Host) {
		note(h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{out(like(t, 1)), out(like(t, 300))}}).Args)
		note(h.Alloc(like(t, 7)).Args)
		for range 2 {
			h.Graph("g", nil, func([]abi.Tensor) {
				h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{out(like(t, 300)), out(like(t, 2))}})
			})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, outer := range b.built.Graph.Tasks[2:] {
		note(outer.Nodes[0].Args)
	}
	if len(seen) != 7 {
		t.Errorf("%d outputs, want 7", len(seen))
	}
}

// TestRecordOnce: a graph is recorded when its key and the shapes of its arguments are
// new, and the nodes of each have its own tensors.
func TestRecordOnce(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	var tensors []abi.Tensor
	for range 4 {
		tensors = append(tensors, b.tensor(func(int) int32 { return 0 }))
	}
	flat := like(t, width/2, 2)
	flat.BufferAddr = b.alloc(4 * width)
	bodies := map[string]int{}
	graph := func(h *hbg.Host, key string, x, y abi.Tensor) sim.Submitted {
		return h.Graph(key, []sim.Arg{in(x), inOut(y)}, func(p []abi.Tensor) {
			bodies[key]++
			a := h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(p[0]), out(like(t, 8))}})
			h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(a.Args[1]), inOut(p[1])}})
			h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{inOut(part(t, p[1], 1, 3))}})
		})
	}
	err := b.build(func(h *hbg.Host) {
		graph(h, "a", tensors[0], tensors[1])                               // recorded
		graph(h, "a", tensors[2], tensors[3])                               // again
		graph(h, "b", tensors[0], tensors[1])                               // of another key
		graph(h, "a", part(t, tensors[0], 0, 9), part(t, tensors[1], 2, 9)) // of other shapes
		graph(h, "a", part(t, tensors[0], 9, 9), part(t, tensors[1], 20, 9))
		graph(h, "a", tensors[0], tensors[0]) // one buffer
		graph(h, "a", tensors[1], tensors[1])
		graph(h, "a", part(t, tensors[0], 0, 9), part(t, tensors[0], 4, 9))  // parts of one, which overlap
		graph(h, "a", part(t, tensors[0], 0, 9), part(t, tensors[0], 20, 9)) // and which do not
		graph(h, "a", part(t, tensors[1], 7, 9), part(t, tensors[1], 11, 9)) // as before the last
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"a": 5, "b": 1}; !reflect.DeepEqual(bodies, want) {
		t.Errorf("bodies ran %v times, want %v", bodies, want)
	}
	for i, want := range []struct{ x, y, from uint64 }{
		{tensors[0].BufferAddr, tensors[1].BufferAddr, 1}, {tensors[2].BufferAddr, tensors[3].BufferAddr, 1}, {tensors[0].BufferAddr, tensors[1].BufferAddr, 1},
		{tensors[0].BufferAddr, tensors[1].BufferAddr, 3}, {tensors[0].BufferAddr, tensors[1].BufferAddr, 21},
		{tensors[0].BufferAddr, tensors[0].BufferAddr, 1}, {tensors[1].BufferAddr, tensors[1].BufferAddr, 1},
		{tensors[0].BufferAddr, tensors[0].BufferAddr, 5}, {tensors[0].BufferAddr, tensors[0].BufferAddr, 21}, {tensors[1].BufferAddr, tensors[1].BufferAddr, 12},
	} {
		n := b.built.Graph.Tasks[i].Nodes
		if len(n) != 3 || n[0].Args[0].BufferAddr != want.x || n[1].Args[1].BufferAddr != want.y || n[1].Args[0].BufferAddr != n[0].Args[1].BufferAddr ||
			n[2].Args[0].BufferAddr != want.y || n[2].Args[0].StartOffset != want.from || n[2].Args[0].BufferSize != 4*width {
			t.Errorf("graph %d has nodes with the tensors %+v", i, n)
			continue
		}
		producers := [][]int{nil, {0}, {1}}
		for k := range n {
			if !slices.Equal(n[k].Producers, producers[k]) {
				t.Errorf("node %d of graph %d waits for %d, want %d", k, i, n[k].Producers, producers[k])
			}
			if id := uint64(1)<<32 | uint64(i)<<10 | uint64(k); n[k].ID != id {
				t.Errorf("node %d of graph %d has the id %#x, want %#x", k, i, n[k].ID, id)
			}
		}
	}
}

// TestWhatGraphsShare: graphs share what was recorded if their arguments are used alike, and
// are alike in all but where they lie; else nodes would have tensors that are none of theirs.
func TestWhatGraphsShare(t *testing.T) {
	at := uint64(1 << 20)
	tensor := func(d abi.DType, shape ...int) abi.Tensor {
		x, err := sim.NewTensor(at, d, shape...)
		if err != nil {
			t.Fatal(err)
		}
		at += 1 << 20
		return x
	}
	columns := func() abi.Tensor { // 4 × 2 of 4 × 4
		x, err := sim.SliceTensor(tensor(abi.Int32, 4, 4), []int{0, 0}, []int{4, 2})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	plain := func() abi.Tensor { return tensor(abi.Int32, 4, 2) }
	manual := func() abi.Tensor { x := plain(); x.ManualDep = 1; return x }
	floats := func() abi.Tensor { return tensor(abi.Float32, 4, 2) }
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	type argument struct {
		name string
		use  abi.ArgType
		make func() abi.Tensor
	}
	all := []argument{
		{"read", abi.ArgInput, plain}, {"updated", abi.ArgInOut, plain}, {"written", abi.ArgOutputExisting, plain}, {"of another type", abi.ArgInput, floats},
		{"with other strides", abi.ArgInput, columns}, {"with declared dependencies", abi.ArgInput, manual},
	}
	bodies := map[string]int{}
	if err := b.build(func(h *hbg.Host) {
		for range 2 {
			for _, v := range all {
				h.Graph("g", []sim.Arg{{Type: v.use, Tensor: v.make()}}, func(p []abi.Tensor) {
					bodies[v.name]++
					h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(p[0])}})
				})
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if bodies[v.name] != 1 {
			t.Errorf("a graph with an argument that is %s is recorded %d times, want once", v.name, bodies[v.name])
		}
	}
	for i, task := range b.built.Graph.Tasks {
		got, want := task.Nodes[0].Args[0], task.Spec.Args[0].Tensor
		if got.BufferAddr != want.BufferAddr || got.DType != want.DType || got.Shapes != want.Shapes || got.Strides != want.Strides || got.ManualDep != want.ManualDep {
			t.Errorf("the node of graph %d, %s, uses %+v, want %+v", i, all[i%len(all)].name, got, want)
		}
	}
	// Which arguments are parts of one buffer is a part of what they are.
	x, y := plain(), plain()
	var buffers [][]uint64
	n := 0
	if err := b.build(func(h *hbg.Host) {
		for _, args := range [][]sim.Arg{{in(x), in(y), in(x)}, {in(x), in(y), in(y)}, {in(x), in(x), in(y)}, {in(y), in(x), in(x)}} {
			h.Graph("g", args, func(p []abi.Tensor) {
				n++
				h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(p[0]), in(p[1]), in(p[2])}})
			})
		}
	}); err != nil || n != 3 { // the last one is as the second
		t.Errorf("recorded %d times (%v), want three times", n, err)
	}
	for _, task := range b.built.Graph.Tasks {
		var list []uint64
		for _, a := range task.Nodes[0].Args {
			list = append(list, a.BufferAddr)
		}
		buffers = append(buffers, list)
	}
	if want := [][]uint64{{x.BufferAddr, y.BufferAddr, x.BufferAddr}, {x.BufferAddr, y.BufferAddr, y.BufferAddr}, {x.BufferAddr, x.BufferAddr, y.BufferAddr}, {y.BufferAddr, x.BufferAddr, x.BufferAddr}}; !reflect.DeepEqual(buffers, want) {
		t.Errorf("nodes use buffers %#x, want %#x", buffers, want)
	}
	// Two arguments are not one with more dimensions.
	n = 0
	if err := b.build(func(h *hbg.Host) {
		for _, args := range [][]sim.Arg{{in(plain()), in(plain())}, {in(plain())}, {in(plain()), in(plain())}} {
			h.Graph("g", args, func(p []abi.Tensor) {
				n++
				h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(p[len(p)-1])}})
			})
		}
	}); err != nil || n != 2 {
		t.Errorf("recorded %d times (%v), want twice", n, err)
	}
}

// TestRefusedGraphTasks: what only who makes a graph by hand can do to a graph task is
// refused by both runtimes, and not left out.
func TestRefusedGraphTasks(t *testing.T) {
	yes := func() bool { return true }
	for want, change := range map[string]func(outer *hbg.Task){
		"graph task 0x1 is an allocation, or has kernels, a predicate": func(outer *hbg.Task) { outer.Spec = &sim.Task{Predicate: yes} },
		"a wait or a timing slot of its own":                           func(outer *hbg.Task) { outer.Spec = &sim.Task{Wait: 1} },
		"timing slot of its own: expected none":                        func(outer *hbg.Task) { outer.Spec = &sim.Task{Slot: 1} },
		"as its nodes are all that runs of it":                         func(outer *hbg.Task) { outer.Alloc = true },
		"has kernels":                                                  func(outer *hbg.Task) { outer.Form.Shape = abi.ShapeAIV },
		"waits for the one at 2: expected one before it":               func(outer *hbg.Task) { outer.Producers = []int{2} },
		"node 0 of graph task 0x1 is a graph task itself":              func(outer *hbg.Task) { outer.Nodes[0].Nodes = outer.Nodes[1:] },
		"task 0x100000401, at 1 of its list, waits for the one at 1":   func(outer *hbg.Task) { outer.Nodes[1].Producers = []int{1} },
	} {
		b := newAicoreBench(t, 1, abi.Disabled)
		outer := b.task(&sim.Task{}, 0)
		outer.Nodes = []*hbg.Task{b.task(on(abi.AIV, 1)), b.task(on(abi.AIV, 1), 0)}
		g := graphOf(b.task(on(abi.AIC, 1)), outer)
		change(outer)
		chip, err := sim.NewChip(abi.A5, 1, &b.costs)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hbg.Run(hbg.Config{Chip: chip, Threads: 2, Space: b.memory.Space()}, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("AICPU threads: %v, want %q", err, want)
		}
		if err := b.tryRun(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("AICores: %v, want %q", err, want)
		}
	}
}

// TestPhasesOfGraphs: phases are like those of a2a3sim_hbg_graph_execution_l4: nodes and
// definitions are of a thread for each recording, which begins behind its submit, and
// submits that record nothing have none.
func TestPhasesOfGraphs(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	x := b.tensor(func(int) int32 { return 0 })
	if err := b.build(func(h *hbg.Host) {
		h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{inOut(x)}})
		for _, key := range []string{"a", "b", "a"} {
			fiveNodes(h, key, x)
		}
	}); err != nil {
		t.Fatal(err)
	}
	type phase struct {
		kind   hbg.PhaseKind
		detail uint64
		worker int
	}
	var got []phase
	segments := map[hbg.PhaseKind]hbg.Phase{}
	ends := map[int]sim.Time{} // by worker
	submitted := map[int]sim.Time{}
	for _, p := range b.built.Phases {
		if p.Segment() {
			segments[p.Kind] = p
			continue
		}
		got = append(got, phase{p.Kind, p.Detail, p.Worker})
		if p.Start < ends[p.Worker] || p.End < p.Start {
			t.Errorf("%+v begins before the last phase of its thread ended at %d", p, ends[p.Worker])
		}
		ends[p.Worker] = p.End
		if p.Kind == hbg.GraphSubmit {
			submitted[int(p.Detail)] = p.End
		}
		if at := submitted[p.Worker]; p.Worker > 0 && p.Start < at+b.costs[sim.HostWorker].Ns { // graphs 1 and 2 are of the workers 1 and 2
			t.Errorf("%+v begins, want it after the submit until %d and the wake-up of a thread", p, at)
		}
	}
	want := []phase{{hbg.SubmitTask, 0, 0}, {hbg.GraphSubmit, 1, 0}, {hbg.GraphSubmit, 2, 0}, {hbg.GraphSubmit, 3, 0}, {hbg.BuildDefinition, 5, 1}, {hbg.BuildDefinition, 5, 2}}
	for w := range 2 {
		for node := range 5 {
			want = append(want, phase{hbg.RecordNode, uint64(w + 1 + node), w + 1})
		}
	}
	order := func(a, b phase) int {
		return 1000*(int(a.kind)-int(b.kind)) + 100*(a.worker-b.worker) + int(a.detail) - int(b.detail)
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("phases %v, want %v", got, want)
	}
	if orch := segments[hbg.HostOrch]; orch.End < max(ends[0], ends[1], ends[2]) || orch.Start >= ends[0] {
		t.Errorf("the orchestration is %+v, want it until all threads ended at %v", orch, ends)
	}
	if up := segments[hbg.GraphUpload]; up.Detail != 4112 { // two definitions of five nodes, as in the captures
		t.Errorf("%d bytes of definitions are copied, want 4112", up.Detail)
	}
	at := sim.Time(0)
	for _, k := range []hbg.PhaseKind{hbg.Args, hbg.ArenaBuild, hbg.StaticArena, hbg.GMHeap, hbg.RuntimeInit, hbg.HostOrch, hbg.GraphUpload, hbg.SharedMem, hbg.ArenaH2D, hbg.HostViewClose} {
		p, ok := segments[k]
		if !ok || p.Start < at {
			t.Errorf("segment %d is %+v, want it after %d", k, p, at)
		}
		at = p.End
	}
	if b.built.End < at {
		t.Errorf("the host ends at %d, before its last segment at %d", b.built.End, at)
	}
}

// TestBuildRefuses: what cannot be built is an error that says why, and what was built
// before is there.
func TestBuildRefuses(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	x := b.tensor(func(int) int32 { return 0 })
	node := func(h *hbg.Host) func([]abi.Tensor) {
		return func([]abi.Tensor) { h.Submit(&sim.Task{Kernels: aiv(1)}) }
	}
	for want, f := range map[string]func(h *hbg.Host){
		"the heap is full": func(h *hbg.Host) {
			for range 5 {
				h.Alloc(like(t, 2<<20))
			}
		},
		"neither one of the graph nor made in it": func(h *hbg.Host) {
			h.Graph("g", nil, func([]abi.Tensor) { h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(x)}}) })
		},
		"a graph is submitted in a graph": func(h *hbg.Host) {
			h.Graph("g", nil, func([]abi.Tensor) { h.Graph("h", nil, node(h)) })
		},
		"a graph records no task": func(h *hbg.Host) { h.Graph("g", nil, func([]abi.Tensor) {}) },
		"more than 1024 nodes": func(h *hbg.Host) {
			h.Graph("g", nil, func(p []abi.Tensor) {
				for range 1025 {
					node(h)(p)
				}
			})
		},
		"declares that it depends on task 0x7": func(h *hbg.Host) { h.Submit(&sim.Task{Kernels: aiv(1), Deps: after(7)}) },
		"declares that it depends on task 0x0": func(h *hbg.Host) { // of the run, by a node
			h.Graph("g", nil, func([]abi.Tensor) { h.Submit(&sim.Task{Kernels: aiv(1), Deps: after(0)}) })
		},
		"timing slot 20":           func(h *hbg.Host) { h.Submit(&sim.Task{Kernels: aiv(1), Slot: 21}) },
		"orchestrator: panic: own": func(*hbg.Host) { panic("own") },
	} {
		err := b.build(func(h *hbg.Host) {
			h.Submit(&sim.Task{Kernels: aiv(1)})
			f(h)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if b.built == nil || b.built.Submits < 1 || len(b.built.Phases) < 6 {
			t.Errorf("%q: %+v is left, want what was built before", want, b.built)
		}
	}
}
