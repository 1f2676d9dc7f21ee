package collector

import (
	"testing"

	"swimlane/internal/abi"
)

func TestSetDepths(t *testing.T) {
	d := DefaultDepths()
	if d != (Depths{8, 4, 6, 8}) { // spec/device-abi.md §1
		t.Fatalf("default depths %+v", d)
	}
	for _, text := range []string{"PROF_BUFFERS_PER_CORE=16", "AICORE_BUFFERS_PER_CORE=1", "SCHED_BUFFERS_PER_THREAD=4096", "ORCH_BUFFERS_PER_THREAD=2"} {
		if err := d.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if d != (Depths{16, 1, 4096, 2}) {
		t.Errorf("depths %+v", d)
	}
	before := d
	const names = "expected PROF_BUFFERS_PER_CORE, AICORE_BUFFERS_PER_CORE, SCHED_BUFFERS_PER_THREAD or ORCH_BUFFERS_PER_THREAD, then = and a number"
	for text, want := range map[string]string{
		"":                             `"" sets no pool depth: ` + names,
		"PROF_BUFFER_SIZE=2000":        `"PROF_BUFFER_SIZE=2000" sets no pool depth: ` + names,
		"prof_buffers_per_core=8":      `"prof_buffers_per_core=8" sets no pool depth: ` + names,
		"PROF_BUFFERS_PER_CORE":        `"PROF_BUFFERS_PER_CORE" sets no pool depth: ` + names,
		"PROF_BUFFERS_PER_CORE=":       "PROF_BUFFERS_PER_CORE=: expected a number of buffers from 1 to 4096",
		"PROF_BUFFERS_PER_CORE=0":      "PROF_BUFFERS_PER_CORE=0: expected a number of buffers from 1 to 4096",
		"PROF_BUFFERS_PER_CORE=4097":   "PROF_BUFFERS_PER_CORE=4097: expected a number of buffers from 1 to 4096",
		"ORCH_BUFFERS_PER_THREAD=8=9":  "ORCH_BUFFERS_PER_THREAD=8=9: expected a number of buffers from 1 to 4096",
		"ORCH_BUFFERS_PER_THREAD=many": "ORCH_BUFFERS_PER_THREAD=many: expected a number of buffers from 1 to 4096",
	} {
		if err := d.Set(text); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if d != before {
		t.Errorf("a refused depth was set: %+v", d)
	}
}

// The rings are those of spec/collector.md §3.3 at the protocol's depths.
func TestRings(t *testing.T) {
	d := DefaultDepths()
	if got := d.rings(abi.A2A3); got != (capacities{handoff: 992, done: 920, recycled: 576}) {
		t.Errorf("a2a3: %+v", got)
	}
	if got := d.rings(abi.A5); got != (capacities{handoff: 1456, done: 1366, recycled: 864}) {
		t.Errorf("a5: %+v", got)
	}
	if got := (&Depths{1, 1, 1, 1}).rings(abi.A2A3); got != d.rings(abi.A2A3) {
		t.Errorf("shallow pools: %+v", got)
	}
	if got := (&Depths{8, 20, 500, 8}).rings(abi.A2A3); got != (capacities{992, 72*(8+20) + 4*(500+8), 2000}) {
		t.Errorf("deep pools: %+v", got)
	}
}

// seeded is a collector on memory of its own, with the records' bytes left out
// where only counts matter.
func seeded(t *testing.T, o Options) *Swimlane {
	t.Helper()
	m := newTestMemory()
	o.Memory = m.mapped()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Finalize(); err != nil || len(m.blocks) != 0 {
			t.Errorf("%v, %d allocations are left", err, len(m.blocks))
		}
	})
	return c
}

// The free buffers that each lane should hold: the table of spec/collector.md §4.5.
func TestTargets(t *testing.T) {
	for _, v := range []struct {
		arch *abi.Arch
		want []int // AicpuTask, by number of shards from 1 on
	}{{abi.A2A3, []int{144, 72, 48, 36}}, {abi.A5, []int{216, 108, 72, 54, 44}}} {
		for i, want := range v.want {
			for _, cores := range []int{1, v.arch.MaxCores} { // does not matter
				c := seeded(t, Options{Arch: v.arch, Cores: cores, Threads: i + 1, Level: abi.TaskTiming})
				got := newReplenisher(c.ex).target
				if len(c.ex.shards) != i+1 || got[abi.KindAicpuTask] != want || got[abi.KindAicoreTask] != 1 || got[abi.KindSchedPhase] != 0 || got[abi.KindOrchPhase] != 0 {
					t.Errorf("%s with %d shards of %d: targets %v, want %d AicpuTask, 1 AicoreTask and no phases", v.arch.Name, len(c.ex.shards), i+1, got, want)
				}
			}
		}
	}
}

// Surplus buffers go to the lanes of spec/collector.md §5.1.
func TestSurplus(t *testing.T) {
	for _, v := range []struct {
		name           string
		opt            Options
		aicpu, sc, orc []int // by lane
	}{
		{"a2a3, all cores, four threads", Options{Arch: abi.A2A3, Cores: 72, Threads: 4, Level: 4},
			[]int{72, 72, 72, 72}, []int{2, 2, 2, 2}, []int{0, 0, 0, 4}},
		{"three cores are one cluster", Options{Arch: abi.A2A3, Cores: 3, Threads: 4, Level: 3},
			[]int{12, 0, 0, 0}, []int{2, 2, 2, 2}, []int{0, 0, 0, 0}},
		{"the cores of a fifth cluster, in part", Options{Arch: abi.A2A3, Cores: 14, Threads: 4, Level: 4},
			[]int{12 + 8, 12, 12, 12}, []int{2, 2, 2, 2}, []int{0, 0, 0, 4}},
		{"a core, two threads", Options{Arch: abi.A5, Cores: 1, Threads: 2, Level: 4},
			[]int{4, 0}, []int{2, 2}, []int{0, 4}},
		{"the host orchestrates", Options{Arch: abi.A5, Cores: 108, Level: 4, HostOrchestrated: true},
			[]int{96, 84, 84, 84, 84}, []int{2, 2, 2, 2, 2}, []int{0, 0, 0, 0, 0}},
		{"fewer shards than threads", Options{Arch: abi.A2A3, Cores: 9, Threads: 4, Shards: 3, Level: 4},
			[]int{12, 12, 12}, []int{4, 2, 2}, []int{4, 0, 0}},
		{"more shards than threads are as many", Options{Arch: abi.A2A3, Cores: 6, Threads: 2, Shards: 4, Level: 1},
			[]int{12, 12}, []int{2, 2}, []int{0, 0}},
		{"deeper pools", Options{Arch: abi.A2A3, Cores: 72, Threads: 1, Level: 4, Depths: Depths{13, 20, 5, 30}},
			[]int{9 * 72}, []int{1}, []int{26}},
	} {
		t.Run(v.name, func(t *testing.T) {
			c := seeded(t, v.opt)
			aicore := 0
			if d := v.opt.Depths.AicoreBuffersPerCore; d != 0 {
				aicore = (d - 4) * v.opt.Cores
			}
			if len(c.ex.shards) != len(v.aicpu) {
				t.Fatalf("%d shards, want %d", len(c.ex.shards), len(v.aicpu))
			}
			for i, s := range c.ex.shards {
				got := [abi.Kinds]int{}
				for k, lane := range s.recycled {
					got[k] = lane.len()
				}
				want := [abi.Kinds]int{abi.KindAicpuTask: v.aicpu[i], abi.KindSchedPhase: v.sc[i], abi.KindOrchPhase: v.orc[i], abi.KindAicoreTask: aicore}
				if got != want {
					t.Errorf("lane %d holds %v, want %v", i, got, want)
				}
			}
			if n := c.ex.faults.retired.Load(); n != 0 {
				t.Errorf("%d buffers found no lane", n)
			}
		})
	}
}
