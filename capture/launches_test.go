package capture_test

import (
	"fmt"
	"slices"
	"testing"

	"swimlane/capture"
)

// Several kernel launches in one file (spec/newest.md §8).
func TestLaunches(t *testing.T) {
	file := func(boundaries, rows string) doc {
		return level1(rows).with("metadata", raw(`{"clock_freq_hz": 1000000000, "run_boundaries": `+boundaries+`}`))
	}
	rec := accept(t, file(`[[4,1000],[5,2000]]`, `[[0,7,1,1500,1600],[0,7,1,2500,2600],[1,8,2,1999,2100],[1,9,3,2000,2200]]`).String())
	if want := []capture.Launch{{Epoch: 4, Start: 1000}, {Epoch: 5, Start: 2000}}; !slices.Equal(rec.Launches, want) {
		t.Errorf("launches %v, want %v", rec.Launches, want)
	}
	if want := []capture.Run{{Epoch: 4, Known: true}, {Epoch: 5, Known: true}}; !slices.Equal(rec.Runs, want) {
		t.Errorf("runs %v, want %v", rec.Runs, want)
	}
	if want := []int32{0, 1, 0, 1}; !slices.Equal(rec.Tasks.Run, want) {
		t.Errorf("rows belong to %v, want %v", rec.Tasks.Run, want)
	}
	if rec.Dialect.IDs != capture.HighLow {
		t.Errorf("layout %d: launches say nothing about ids", rec.Dialect.IDs)
	}
	rows := `[[0,7,1,1500,1600]]`
	for _, tt := range []struct{ boundaries, rows, want string }{
		{`{}`, rows, "metadata.run_boundaries must be an array"},
		{`5`, rows, "metadata.run_boundaries must be an array"},
		{`[[4]]`, rows, "metadata.run_boundaries must contain [epoch, start_cycles] integer pairs"},
		{`[[4,1000,1]]`, rows, "metadata.run_boundaries must contain [epoch, start_cycles] integer pairs"},
		{`[["a",1000]]`, rows, "metadata.run_boundaries must contain [epoch, start_cycles] integer pairs"},
		{`[4]`, rows, "metadata.run_boundaries must contain [epoch, start_cycles] integer pairs"},
		{`[[-1,1000]]`, rows, "metadata.run_boundaries epochs and positive start_cycles must strictly increase"},
		{`[[4,0]]`, rows, "metadata.run_boundaries epochs and positive start_cycles must strictly increase"},
		{`[[4,1000],[4,1100]]`, rows, "metadata.run_boundaries epochs and positive start_cycles must strictly increase"},
		{`[[4,1000],[5,1000]]`, rows, "metadata.run_boundaries epochs and positive start_cycles must strictly increase"},
		{`[[4,1000],[5,2000]]`, `[[0,7,1,999,1600]]`, "device record precedes metadata.run_boundaries"},
		{`[[4,1000],[5,2000]]`, `[[0,7,1,1500,1600],[0,8,1,1700,1800]]`, "duplicate aicore_tasks join key: (4, 0, 1)"},
	} {
		refuse(t, file(tt.boundaries, tt.rows).String(), tt.want)
	}
	refuse(t, level1(rows).with("metadata", raw(`{"clock_freq_hz": 1, "run_boundaries": [[1,1]], "dropped_run_boundaries": 2}`)).String(),
		"dropped_run_boundaries is nonzero; capture fewer launches per profiling window")
	// Phases, submits and life cycles belong to launches too, and may be early.
	for section, value := range map[string]string{
		"scheduler_records":         fmt.Sprintf(`{"schema_version": 1, "streams": [{"records": [%s]}]}`, phase),
		"aicpu_orchestrator_phases": `[[{"submit_idx": 0, "task_id": 1, "start_cycles": 10, "end_cycles": 1200}]]`,
		"aicpu_lifecycle_records":   `[{"handshake_start_cycles": 10, "handshake_complete_cycles": 1200}]`,
	} {
		refuse(t, file(`[[4,1000]]`, rows).with(section, raw(value)).String(), "device record precedes metadata.run_boundaries")
	}
	if rec := accept(t, file(`[]`, rows).String()); rec.Launches != nil || len(rec.Runs) != 1 || rec.Runs[0].Known {
		t.Errorf("no boundaries: %v, %v", rec.Launches, rec.Runs)
	}
}
