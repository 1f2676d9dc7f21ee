package hbg_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// sameGraph runs one graph of 250 tasks.
func sameGraph(t *testing.T, change func(*aicoreBench)) *aicoreBench {
	t.Helper()
	b := newAicoreBench(t, 4, abi.SchedPhases)
	if change != nil {
		change(b)
	}
	m := random(b, rand.New(rand.NewPCG(5, 5)), 250)
	b.run(m.graph)
	m.check(b)
	return b
}

// TestSameBytesOfAicores: the file depends on the graph, the chip and the costs, and on
// nothing of the machine.
func TestSameBytesOfAicores(t *testing.T) {
	want := sameGraph(t, nil).file
	before := runtime.GOMAXPROCS(1)
	one := sameGraph(t, nil).file
	runtime.GOMAXPROCS(before)
	mapped := sameGraph(t, func(b *aicoreBench) { b.mapped = true }).file
	if !bytes.Equal(one, want) || !bytes.Equal(mapped, want) {
		t.Errorf("files differ: on one processor %v, mapped %v", !bytes.Equal(one, want), !bytes.Equal(mapped, want))
	}
	if other := sameGraph(t, func(b *aicoreBench) { b.costs[sim.CoreSchedProbe].Ns++ }).file; bytes.Equal(other, want) {
		t.Error("a cost changes nothing")
	}
}

// TestSleepIsSpinningOfAicores: a scheduler that sleeps while nothing changes records
// what one records that looks again and again.
func TestSleepIsSpinningOfAicores(t *testing.T) {
	for seed := range uint64(12) {
		var want []byte
		for _, spin := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(seed, 99))
			b := newAicoreBench(t, 1+rng.IntN(5), abi.SchedPhases)
			b.spin = spin
			for k := range b.costs {
				b.costs[k].Ns = sim.Time(rng.IntN(int(b.costs[k].Ns + 1)))
				if rng.IntN(8) == 0 {
					b.costs[k].Ns = 0
				}
			}
			m := random(b, rng, 80)
			b.run(m.graph)
			if want == nil {
				want = b.file
			} else if !bytes.Equal(b.file, want) {
				t.Errorf("seed %d: the file of a run that sleeps differs from that of one that spins", seed)
			}
		}
	}
}

// TestLevelsDoNotChangeTheScheduleOfAicores: where profiling costs nothing, all levels
// see the same run, and one without profiling is as long.
func TestLevelsDoNotChangeTheScheduleOfAicores(t *testing.T) {
	type result struct {
		report  hbg.Report
		kernels string
	}
	var want result
	for level := abi.OrchPhases + 1; level > 0; level-- {
		b := sameGraph(t, func(b *aicoreBench) { b.level, b.costs = level-1, b.costs.Free() })
		got := result{*b.report, fmt.Sprint(b.records.Kernels)}
		switch {
		case level == abi.OrchPhases+1:
			want = got
		case b.level == abi.Disabled && got.report != want.report, b.level > abi.Disabled && got != want:
			t.Errorf("level %d is not the run of level 4: it ends at %d, want %d; kernels are the same: %v", b.level, got.report.End, want.report.End, got.kernels == want.kernels)
		}
	}
	// What is recorded takes time, and a run without profiling pays for nothing.
	ends := map[abi.Level]sim.Time{}
	for level := range abi.OrchPhases {
		b := sameGraph(t, func(b *aicoreBench) { b.level = level })
		ends[level] = b.report.End
	}
	if ends[0] != want.report.End {
		t.Errorf("level 0 ends at %d, want %d as in a model where profiling is free", ends[0], want.report.End)
	}
	if ends[1] == ends[0] || ends[2] == ends[1] || ends[3] == ends[2] || ends[3] < ends[0] {
		t.Errorf("runs end at %v by level, want that each pays for its records", ends)
	}
}
