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
	"swimlane/internal/depgen"
	"swimlane/internal/sim"
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

// TestSameBytes: both files depend on the scene, platform and costs, and on nothing
// of the machine: not on processors or shards, nor on a host so slow that the device
// waits for buffers, in real time and not in its own (spec/collector.md §2.10). On
// one cluster a core fills more buffers than its free queue holds.
func TestSameBytes(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		ops, _ := randomOps(rand.New(rand.NewPCG(78, 1)), 1100, 1)
		var records, graph []byte
		for _, v := range []struct {
			procs, shards int
			slow          time.Duration
		}{{2, 1, 0}, {1, 4, 0}, {2, 3, 2 * time.Millisecond}, {1, 2, 2 * time.Millisecond}} {
			b := newBench(t, arch, 1, abi.OrchPhases)
			b.shards, b.slow = v.shards, v.slow
			before := runtime.GOMAXPROCS(v.procs)
			var ids []uint64
			random := orchestration(ops, b.buffers(), &ids)
			got := b.everything(func(o *tmr.Orchestrator) {
				o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 40)}, Blocks: 6000})
				o.Submit(&tmr.Task{Kernels: aiv(30), Blocks: 12_000})
				random(o)
			}).file
			runtime.GOMAXPROCS(before)
			var deps bytes.Buffer
			if _, err := depgen.WriteTo(&deps, b.graph); err != nil {
				t.Fatal(err)
			}
			if records == nil {
				records, graph = got, deps.Bytes()
				b.fullBuffers(abi.SlotCount+1, 1)
			}
			if !bytes.Equal(got, records) || !bytes.Equal(deps.Bytes(), graph) {
				t.Errorf("%s: with %+v the files are those of the first run: records %v, graph %v", arch.Name, v, bytes.Equal(got, records), bytes.Equal(deps.Bytes(), graph))
			}
			if v.slow > 0 && b.stalls == 0 {
				t.Errorf("%s: with %+v the device has never waited for a buffer", arch.Name, v)
			}
			b.memory.Close()
		}
	}
}

// fullBuffers checks that every core fills so many buffers of either kind, and the
// orchestrator so many of dep_gen.
func (b *bench) fullBuffers(core, graph int) {
	b.t.Helper()
	var n [3]int
	for _, r := range rows(b.t, b.capture.Capture, len(n)) {
		n[r.core]++
	}
	for i, n := range n {
		if n < core*abi.AicoreBufferSize {
			b.t.Errorf("core %d has %d records, want %d full buffers", i, n, core)
		}
	}
	if n := b.graph.Account.Total; int(n) < graph*abi.DepGenRecordsPerBuffer {
		b.t.Errorf("dep_gen has %d records, want %d full buffers", n, graph)
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
