package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/bench/gen"
)

// TestMadeTree: the trees that merges are measured with are what they claim to be, whole
// ranks in windows with room of 400 µs, 40 µs apart.
func TestMadeTree(t *testing.T) {
	root := t.TempDir()
	o := gen.TreeOptions{Ranks: 5, Distinct: 2, Options: gen.Options{Tasks: 500, Seed: 3, Deps: true}}
	if err := gen.WriteTree(root, o); err != nil {
		t.Fatal(err)
	}
	bars, metadata, stdout, stderr, code := converted(t, root)
	if code != 0 || strings.Contains(stderr, "Warning") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if metadata["dispatch_id"] != "1:0" || metadata["rank_count"] != 5.0 || metadata["cross_rank_uncertainty_ns"] != 800_000.0 || metadata["trace_status"] != "complete" {
		t.Errorf("%v", metadata)
	}
	const bound = "  Bound:  each Rank placed within 400.0 us of its chip.run.runner_run window; a cross-Rank gap under 800.0 us is undecided; " +
		"of records, which lie up to 1.0 us (half of the residual) beside that, one under 802.0 us\n"
	if !strings.Contains(stdout, bound) {
		t.Errorf("no %q in\n%s", bound, stdout)
	}
	rows := map[int]int{}
	window := map[int]float64{}
	for _, b := range bars {
		if b.Ph == "X" && b.PID%100 == 4 && b.PID > 100 && b.Args["taskId"] != nil {
			rows[b.PID]++
		}
		if b.Name == "chip.run.runner_run" {
			window[(b.PID-11)/3] = b.TS
		}
	}
	for r := range 5 {
		if rows[104+100*r] != 500 || window[r]-window[0] != 40*float64(r) {
			t.Errorf("rank %d: %d rows, the window begins %v µs behind that of rank 0", r, rows[104+100*r], window[r]-window[0])
		}
	}
	// A rank whose capture is another one's differs from it in its sidecar and log only.
	at := func(rank string) os.FileInfo {
		st, err := os.Stat(filepath.Join(root, rank, "d0", gen.RecordsFile))
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	if !os.SameFile(at("rank0"), at("rank4")) || os.SameFile(at("rank0"), at("rank1")) {
		t.Error("ranks 0 and 4 should share a capture, 0 and 1 not")
	}
}
