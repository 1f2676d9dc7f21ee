package tmr_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// everything is what a run reports and all its records as bytes.
type everything struct {
	report tmr.Report
	file   []byte
}

func (b *bench) everything(orchestrate func(*tmr.Orchestrator)) everything {
	b.t.Helper()
	report := b.mustRun(orchestrate)
	if b.level == abi.Disabled {
		return everything{*report, nil}
	}
	var file bytes.Buffer
	if err := b.capture.Capture.Write(&file); err != nil {
		b.t.Fatal(err)
	}
	return everything{*report, stalls.ReplaceAll(file.Bytes(), nil)}
}

// TestSleepIsSpinning: a thread that sleeps through iterations in which it finds
// nothing leaves the same records, to the cycle, as one that does every iteration.
// Few values of costs make things happen at the same time.
func TestSleepIsSpinning(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var runs [2]everything
			for i := range runs {
				rng := rand.New(rand.NewPCG(seed, 11))
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
				ops, _ := randomOps(rng, 120, b.clusters)
				var ids []uint64
				runs[i] = b.everything(orchestration(ops, b.buffers(), &ids))
				b.memory.Close()
			}
			if runs[0].report != runs[1].report || !bytes.Equal(runs[0].file, runs[1].file) {
				t.Errorf("sleeping from %d to %d ns, spinning to %d ns, the records are the same: %v",
					runs[0].report.Start, runs[0].report.End, runs[1].report.End, bytes.Equal(runs[0].file, runs[1].file))
			}
		})
	}
}
