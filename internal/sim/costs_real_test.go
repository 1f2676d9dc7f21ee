package sim_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/hostlog"
	"swimlane/internal/parity"
	"swimlane/internal/sim"
)

// TestCostsOfRounds: what a host and an orchestrator take is what it took in the second
// round of a real log without profiling; what is chosen of it is right in sum.
func TestCostsOfRounds(t *testing.T) {
	log, err := hostlog.ReadAll(nil, filepath.Join(parity.Shared(t), "captures", "a2a3sim_tmr_strace_rounds20"))
	if err != nil {
		t.Fatal(err)
	}
	round := &hostlog.Invocations(log.Spans)[1]
	span := func(name string) *hostlog.Span {
		s := round.Named("chip.run." + name)
		if s == nil {
			t.Fatalf("the second round has no %s", name)
		}
		return s
	}
	const wall = "runner_run.device_wall"
	bind, runner := span("bind"), span("runner_run")
	costs := sim.A2A3Costs
	for name, v := range map[string]struct {
		costs  []sim.Cost
		times  int64
		want   int64
		within int64 // percent
	}{
		"config_validate":        {[]sim.Cost{sim.ConfigValidate}, 1, span(wall + ".config_validate").Dur, 0},
		"arena_wire":             {[]sim.Cost{sim.ArenaWire}, 1, span(wall + ".arena_wire").Dur, 0},
		"sm_reset":               {[]sim.Cost{sim.SmReset}, 1, span(wall + ".sm_reset").Dur, 0},
		"post_orch":              {[]sim.Cost{sim.PostOrch}, 1, span(wall + ".post_orch").Dur, 0},
		"bind.args of 3 tensors": {[]sim.Cost{sim.HostArg}, 3, span("bind.args").Dur, 10},
		"bind beside its args":   {[]sim.Cost{sim.HostBind}, 1, bind.Dur - span("bind.args").Dur, 5},
		"bind → runner_run":      {[]sim.Cost{sim.HostPrepare}, 1, runner.TS - bind.End(), 1},
		"slack of runner_run":    {[]sim.Cost{sim.HostLaunch, sim.HostComplete}, 1, runner.Dur - span(wall).Dur, 1},
		"validate":               {[]sim.Cost{sim.HostValidate}, 1, span("validate").Dur, 1},
	} {
		got := int64(0)
		for _, k := range v.costs {
			got += v.times * int64(costs[k].Ns)
		}
		if off := max(got-v.want, v.want-got); 100*off > v.within*v.want {
			t.Errorf("%s: %v take %d ns, want %d within %d %%", name, v.costs, got, v.want, v.within)
		}
	}
}

// TestCostsOfCaptures: from the receipt of a token to the start of a kernel, and a
// comparison of clocks, are as long as in real captures.
func TestCostsOfCaptures(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	ungated := int64(sim.A2A3Costs[sim.CorePayload].Ns + sim.A2A3Costs[sim.CoreStart].Ns)
	for name, rows := range map[string]int{
		"a2a3sim_tmr_paged_attention_medium_l4_deps/chip_swimlane_records.json.gz": 8192,
		"a2a3sim_tmr_spmd_multiblock_mix_l4_deps/chip_swimlane_records.json":       282,
	} {
		var file struct {
			Tasks [][]int64 `json:"aicore_tasks"` // the last column is receive → start
		}
		if err := json.Unmarshal(parity.Unpacked(t, filepath.Join(captures, name)), &file); err != nil {
			t.Fatal(err)
		}
		var waits []int64
		for _, row := range file.Tasks {
			waits = append(waits, row[len(row)-1]*int64(1e9/abi.A2A3.ClockHz))
		}
		slices.Sort(waits)
		if len(waits) != rows {
			t.Fatalf("%s has %d rows, want %d", name, len(waits), rows)
		}
		if median := waits[len(waits)/2]; max(median-ungated, ungated-median) > 20 {
			t.Errorf("%s: receive → start is %d ns in the median, and %d in the model: want them a tick apart at most", name, median, ungated)
		}
	}
	files, err := filepath.Glob(filepath.Join(captures, "a*sim_*", "chip_swimlane_records.json"))
	if err != nil {
		t.Fatal(err)
	}
	var trips []int
	for _, f := range files {
		for _, m := range regexp.MustCompile(`"rtt_ns": (\d+)`).FindAllSubmatch(parity.Unpacked(t, f), -1) {
			n, err := strconv.Atoi(string(m[1]))
			if err != nil {
				t.Fatal(err)
			}
			trips = append(trips, n)
		}
	}
	slices.Sort(trips)
	if n := len(trips); n < 6 || int(sim.A2A3Costs[sim.ClockAnchor].Ns) != trips[n/2] {
		t.Errorf("a comparison of clocks takes %d ns, and %v in captures: want the median", sim.A2A3Costs[sim.ClockAnchor].Ns, trips)
	}
}
