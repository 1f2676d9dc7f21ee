package tmr_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/sim/tmr"
)

// stalls are real time, and the only thing in a file that may differ.
var stalls = regexp.MustCompile(`"stalls": \{[^}]*\}`)

// sameGraph runs one graph and gives what is exported.
func sameGraph(t *testing.T, b *bench) (*tmr.Report, []byte) {
	t.Helper()
	ops, _ := randomOps(rand.New(rand.NewPCG(77, 1)), 400, b.clusters)
	var ids []uint64
	report, err := b.run(orchestration(ops, b.buffers(), &ids))
	if err != nil {
		t.Fatal(err)
	}
	if b.level == abi.Disabled {
		return report, nil
	}
	var file bytes.Buffer
	if err := b.capture.Capture.Write(&file); err != nil {
		t.Fatal(err)
	}
	return report, stalls.ReplaceAll(file.Bytes(), nil)
}

// TestSameBytes: the file depends on the scene, platform and costs, and on nothing
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
			_, got := sameGraph(t, b)
			runtime.GOMAXPROCS(before)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: with %+v the file differs from the first one", arch.Name, v)
			}
		}
	}
}

// TestLevelsDoNotChangeTheSchedule: where profiling costs nothing, all levels see
// the same run, and one without profiling is as long.
func TestLevelsDoNotChangeTheSchedule(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		t.Run(arch.Name, func(t *testing.T) { levelsDoNotChangeTheSchedule(t, arch) })
	}
}

func levelsDoNotChangeTheSchedule(t *testing.T, arch *abi.Arch) {
	type result struct {
		report tmr.Report
		kernel string
	}
	var want result
	for level := abi.OrchPhases + 1; level > 0; level-- {
		b := newBench(t, arch, 4, level-1)
		b.costs = b.costs.Free()
		report, _ := sameGraph(t, b)
		got := result{report: *report}
		if b.level > abi.Disabled {
			for core := range 12 {
				for batch := range b.capture.Capture.AicoreTasks(core) {
					for _, r := range batch {
						got.kernel += fmt.Sprintln(core, r)
					}
				}
			}
		}
		switch {
		case level == abi.OrchPhases+1:
			want = got
		case b.level == abi.Disabled && got.report != want.report, b.level > abi.Disabled && got != want:
			t.Errorf("level %d is not the run of level 4: it ends at %d, want %d; kernels are the same: %v", b.level, got.report.End, want.report.End, got.kernel == want.kernel)
		}
	}
	// With the costs of profiling a run takes longer.
	b := newBench(t, arch, 4, abi.OrchPhases)
	if report, _ := sameGraph(t, b); report.End <= want.report.End {
		t.Errorf("with the costs of profiling the run ends at %d, without at %d", report.End, want.report.End)
	}
}
