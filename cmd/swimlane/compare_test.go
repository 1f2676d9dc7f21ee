package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/parity"
)

// decoded is the output of a command as JSON.
func decoded(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(stdoutOf(t, args...)), &out); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// at follows keys and places into a document.
func at(t *testing.T, doc any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			doc = doc.(map[string]any)[p]
		case int:
			doc = doc.([]any)[p]
		}
	}
	if doc == nil {
		t.Fatalf("nothing at %v", path)
	}
	return doc
}

// TestComparedFigures: what compare shows of two captures is what stats, overhead and
// critical-path show of each.
func TestComparedFigures(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	pairs := [][2]string{
		{"a2a3sim_tmr_paged_attention_l4_deps", "a5sim_tmr_paged_attention_l4_deps"},
		{"gs_a2a3_tmr_mix_spmd_l4", "gs_a2a3_tmr_drain_l4"},
		{"gs_a5_hbg_aicore_tiny_l4", "gs_a5_hbg_aicore_medium_l3"},
		{"a2a3sim_tmr_fanin_l4_deps", "gs_a2a3_hbg_graph_nodes_l4"}, // binary fractions: c/Hz·10⁶ is not c·10⁶/Hz
	}
	for _, pair := range pairs {
		a, b := copyCapture(t, filepath.Join(captures, pair[0])), copyCapture(t, filepath.Join(captures, pair[1]))
		both := decoded(t, "compare", a, b, "--format", "json")
		for side, dir := range map[string]string{"a": a, "b": b} {
			stats := decoded(t, "stats", dir, "--format", "json")
			over := decoded(t, "overhead", dir, "--format", "json")
			path := at(t, decoded(t, "critical-path", dir, "--format", "json"), "ranks", 0)
			same := func(what string, got, want any) {
				t.Helper()
				if got != want {
					t.Errorf("%s, %s of %s: %v, want %v", what, side, filepath.Base(dir), got, want)
				}
			}
			figure := func(section, name string) any {
				t.Helper()
				for _, f := range both[section].([]any) {
					if at(t, f, "name") == name {
						return at(t, f, side)
					}
				}
				t.Fatalf("compare has no %s", name)
				return nil
			}
			same("dispatch to finish", at(t, both, "dispatch_to_finish_us", side), stats["span_us"])
			same("makespan and window", at(t, both, "makespan_us", side), at(t, over, "verdict", "window_us"))
			same("makespan", at(t, both, "makespan_us", side), at(t, path, "makespan", "us"))
			same("floor", figure("critical_path", "floor (static path)"), at(t, path, "static", "length", "us"))
			same("compute", figure("critical_path", "compute on path"), at(t, path, "observed", "compute", "us"))
			same("stall", figure("critical_path", "stall on path"), at(t, path, "observed", "stall", "us"))
			for _, k := range []string{"data-wait", "core-wait", "front-gap"} {
				same(k, figure("critical_path", k), at(t, path, "observed", "stall_by_kind", k, "us"))
			}
			for _, e := range at(t, over, "verdict", "engines").([]any) {
				name := strings.ToUpper(at(t, e, "engine").(string)) + " overhead"
				same(name, figure("scheduler_overhead", name), at(t, e, "overhead_us"))
				same(name, figure("scheduler_overhead", name+" of window"), at(t, e, "overhead_percent"))
			}
			same("all", figure("scheduler_overhead", "all_overhead"), at(t, over, "verdict", "all_overhead_us"))
			same("has", figure("scheduler_overhead", "has_overhead of window"), at(t, over, "verdict", "has_overhead_percent"))
			same("head", figure("scheduler_overhead", "head, median"), at(t, over, "head_us", "p50"))
			same("head", figure("scheduler_overhead", "head, mean"), at(t, over, "head_us", "mean"))
			same("tail", figure("scheduler_overhead", "tail, mean"), at(t, over, "tail_us", "mean"))
			same("path", figure("scheduler_overhead", "scheduler on the latency path"), at(t, over, "critical_path", "scheduler_us"))
			for _, f := range stats["functions"].([]any) {
				name := at(t, f, "func_name")
				for _, g := range both["functions"].([]any) {
					if at(t, g, "name") != name {
						continue
					}
					same("count", at(t, g, "count_"+side), at(t, f, "count"))
					if g.(map[string]any)["mean_us"] != nil {
						same("mean", at(t, g, "mean_us", side), at(t, f, "avg_exec_us"))
					}
				}
			}
		}
	}
}

// TestComparedCaptures: captures of one scene with and without a graph, and of two
// levels; the graph of one serves both.
func TestComparedCaptures(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	for _, c := range []struct {
		a, b    string
		matched int
		notes   []string
	}{
		{"a2a3sim_tmr_chip_swimlane_l4", "a2a3sim_tmr_chip_swimlane_l4_deps", 5, []string{"A has no task graph: that of B is used"}},
		{"a2a3sim_tmr_vector_example_l4_deps", "a2a3sim_tmr_vector_example_l4", 5, []string{"B has no task graph: that of A is used"}},
		{"a2a3sim_hbg_graph_execution_l4__TestGraphExecutionHostBuildGraph_record_then_replay_1d",
			"a2a3sim_hbg_graph_execution_l4_deps__TestGraphExecutionHostBuildGraph_record_then_replay_1d", 13, nil},
		{"a2a3sim_hbg_vector_example_l1", "a2a3sim_hbg_vector_example_l4_deps", 4, []string{"A is of level 1 and B of level 4", "no scheduler overhead of A"}},
		{"a5sim_tmr_chip_swimlane_l1", "a5sim_tmr_chip_swimlane_l3", 5, []string{"A is of level 1 and B of level 3", "no scheduler overhead and no critical path of B: no task graph"}},
		{"a2a3sim_tmr_dummy_task_l4_deps__TestDummyTask_LongDummyChain", "a2a3sim_tmr_dummy_task_l4_deps__TestDummyTask_LongDummyChain", 2, []string{"what 1 task of A waited for lies behind", "what 1 task of B waited for lies behind"}},
	} {
		a, b := copyCapture(t, filepath.Join(captures, c.a)), copyCapture(t, filepath.Join(captures, c.b))
		both := decoded(t, "compare", a, b, "--format", "json")
		if got := at(t, both, "match", "matched"); got != float64(c.matched) {
			t.Errorf("%s, %s: %v tasks are matched, want %d", c.a, c.b, got, c.matched)
		}
		notes := fmt.Sprint(both["notes"])
		for _, n := range c.notes {
			if !strings.Contains(notes, n) {
				t.Errorf("%s, %s: the notes lack %q: %s", c.a, c.b, n, notes)
			}
		}
	}
}
