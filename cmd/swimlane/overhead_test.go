package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"swimlane/internal/parity"
)

// TestCountersAndReport: the steps of the counter tracks, added up, are the
// figures of the report.
func TestCountersAndReport(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	some := 0
	for _, name := range []string{
		"a2a3sim_tmr_paged_attention_medium_l4_deps", "a2a3sim_tmr_chip_swimlane_mixed_l4_deps", "a2a3sim_tmr_spmd_multiblock_mix_l4_deps",
		"a2a3sim_hbg_paged_attention_medium_l4_deps", "gs_a5_hbg_aicore_medium_l3", "gs_a2a3_tmr_mix_spmd_l4", "gs_a2a3_tmr_mixed_l2",
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "a2a3sim_tmr_paged_attention_medium_l4_deps" {
				t.Skip("large trace")
			}
			records := filepath.Join(copyCapture(t, filepath.Join(captures, name)), "chip_swimlane_records.json")
			trace := filepath.Join(t.TempDir(), "trace.json")
			stdoutOf(t, "convert", "-q", "--overhead", "-o", trace, records)
			text, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				TraceEvents []struct {
					Ph, Name string
					Ts       float64
					Args     map[string]any
				}
			}
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			var report struct {
				Verdict struct {
					Window  float64 `json:"window_us"`
					All     float64 `json:"all_overhead_us"`
					Has     float64 `json:"has_overhead_us"`
					Engines []struct {
						Engine string
						Time   float64 `json:"overhead_us"`
						Cores  int
					}
				}
			}
			if err := json.Unmarshal([]byte(stdoutOf(t, "overhead", "--format", "json", records)), &report); err != nil {
				t.Fatal(err)
			}
			v := &report.Verdict
			want := map[string]float64{"oh_all_overhead": v.All, "oh_has_overhead": v.Has}
			for _, e := range v.Engines {
				want["oh_"+e.Engine+"_overhead"] = e.Time
			}
			type track struct{ since, value, sum float64 }
			tracks := map[string]*track{}
			begin := math.Inf(1)
			for _, e := range doc.TraceEvents {
				if _, ok := want[e.Name]; e.Ph != "C" || !ok {
					continue
				}
				c := tracks[e.Name]
				if c == nil {
					c = &track{since: e.Ts}
					tracks[e.Name] = c
				}
				c.sum += c.value * (e.Ts - c.since)
				c.since, c.value = e.Ts, e.Args[e.Name].(float64)
				begin = min(begin, e.Ts)
			}
			for name, us := range want {
				c := tracks[name]
				if c == nil {
					t.Errorf("no track %s", name)
					continue
				}
				c.sum += c.value * (begin + v.Window - c.since)
				if math.Abs(c.sum-us) > 1e-6*max(1, us) { // the clocks of these captures tick in whole ns
					t.Errorf("%s: the track adds up to %v us, the report says %v", name, c.sum, us)
				}
				if us > 0 {
					some++
				}
			}
		})
	}
	if !testing.Short() && some < 12 {
		t.Errorf("%d tracks show any overhead, too few to prove anything", some)
	}
}
