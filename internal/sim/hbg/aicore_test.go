package hbg_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim/hbg"
)

// fanOut is the scenario of spec/collector.md §15: 35 tasks, of which 32 wait for one.
func fanOut(b *aicoreBench) *hbg.Graph {
	tasks := []*hbg.Task{b.task(on(abi.AIC, 1000)), b.task(on(abi.AIV, 700), 0)}
	var last []int
	for i := range 32 {
		tasks = append(tasks, b.task(on(abi.AIV, 500+uint64(i%7)*90), 1))
		last = append(last, 2+i)
	}
	return graphOf(append(tasks, b.task(on(abi.AIC, 400), last...))...)
}

// TestFanOut: the A5 HBG scenario of spec/collector.md §15.
func TestFanOut(t *testing.T) {
	b := newAicoreBench(t, 2, abi.SchedPhases)
	b.run(fanOut(b))
	if n := len(b.records.Kernels); n != 35 {
		t.Errorf("%d task rows, want 35", n)
	}
	n := b.records.kinds()
	for _, kind := range []string{"bootstrap", "state_probe", "dispatch", "complete", "resolve", "refill", "idle"} {
		if n[kind] == 0 {
			t.Errorf("there is no %s among %v", kind, n)
		}
	}
	if launches := n["dispatch"] + n["worksteal"] + n["refill"]; launches != 35 || n["state_probe"] != 35 {
		t.Errorf("%d launches and %d probes, want 35 of each: %v", launches, n["state_probe"], n)
	}
	b.read("")
}
