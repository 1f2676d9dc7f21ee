package hbg_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// TestBuiltByTheHost: what an orchestration on the host has built, with an alloc, a
// dummy, and a graph that is recorded once and submitted twice, runs on AICores.
func TestBuiltByTheHost(t *testing.T) {
	const n = 8
	b := newAicoreBench(t, 2, abi.SchedPhases)
	x, y := b.vector(n), b.vector(n)
	for i, row := 0, b.ints(x); i < n; i++ {
		row[i] = int32(i)
	}
	// add adds its first argument and a number to its second one.
	add := &sim.Kernel{ID: 3, Name: "add", Type: abi.AIV, Run: func(c *sim.Call) uint64 {
		from, to := sim.Use[int32](c, 0).Row(0), sim.Use[int32](c, 1).Row(0)
		for i := range to {
			to[i] += from[i] + int32(c.Scalars[0])
		}
		return 400
	}}
	task := func(from, to abi.Tensor, number uint64) *sim.Task {
		return &sim.Task{Kernels: [3]*sim.Kernel{nil, add}, Args: []sim.Arg{{Type: abi.ArgInput, Tensor: from}, {Type: abi.ArgInOut, Tensor: to}}, Scalars: []uint64{number}}
	}
	shape, err := sim.NewTensor(0, abi.Int32, n)
	if err != nil {
		t.Fatal(err)
	}
	chip, err := sim.NewChip(abi.A5, b.clusters, &b.costs)
	if err != nil {
		t.Fatal(err)
	}
	built, err := hbg.Build(hbg.BuildConfig{Chip: chip, Heap: b.alloc(1 << 20), HeapSize: 1 << 20}, func(h *hbg.Host) {
		acc := h.Alloc(shape).Args[0]                       // 0
		h.Submit(task(x, acc, 1))                           // 1: acc = x + 1
		h.Submit(&sim.Task{Args: []sim.Arg{{Tensor: acc}}}) // 2
		for range 2 {                                       // 3, 4: acc = 2·acc + 7, by two nodes each
			h.Graph("twice", []sim.Arg{{Type: abi.ArgInOut, Tensor: acc}, {Type: abi.ArgInput, Tensor: x}}, func(p []abi.Tensor) {
				h.Submit(task(p[0], p[0], 3))
				h.Submit(task(p[1], p[0], 4))
			})
		}
		h.Submit(task(acc, y, 0)) // 5
	})
	if err != nil {
		t.Fatal(err)
	}
	b.run(built.Graph)
	want := make([]int32, n)
	for i := range want {
		v := int32(i) + 1
		for range 2 {
			v += v + 3
			v += int32(i) + 4
		}
		want[i] = v
	}
	if got := b.ints(y); !slices.Equal(got, want) {
		t.Errorf("the run made %v, want %v", got, want)
	}
	var ids []uint64
	for _, k := range b.records.Kernels {
		ids = append(ids, k[1])
	}
	if !slices.Equal(ids, []uint64{1, 5, 6, 7, 8, 9}) { // nodes of the first graph are 6 and 7
		t.Errorf("rows are of tasks %v", ids)
	}
	if b.hazards.Found != 0 {
		t.Errorf("hazards: %+v", b.hazards.First)
	}
	order := []uint64{5: b.records.of(5)["state_probe"].Start}
	for i, id := range []uint64{1, 6, 7, 8, 9} {
		order[i] = b.records.of(id)["state_probe"].Start
	}
	if !slices.IsSorted(order) {
		t.Errorf("tasks are probed at %v", order)
	}
	b.read("")
}
