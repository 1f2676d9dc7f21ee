package capture_test

import (
	"strings"
	"testing"
)

// A message says what stands in the file instead and where, also where the words
// of the format do not.
func TestFound(t *testing.T) {
	named := raw(`{"clock_freq_hz": 1, "runtime": "host_build_graph"}`)
	archived := func(rows string) doc {
		return doc{"chip_swimlane_level": 2, "metadata": clock, "aicpu_tasks": raw(rows)}
	}
	launches := func(list, rows string) doc {
		if rows == "" {
			rows = "[]"
		}
		return level1(rows).with("metadata", raw(`{"clock_freq_hz": 1, "run_boundaries": `+list+`}`))
	}
	hostCapture := raw(`{"clock_freq_hz": 1, "host_capture": {}}`)
	lanes := raw(`[[{"submit_idx": 0}]]`)
	for _, tt := range []struct {
		name  string
		d     doc
		found string
	}{
		{"narrower row", level1(`[[0,7,7,5,6,0,4],[0,8,8,5,6,0]]`).with("metadata", named), "found 6 columns where row 0 has 7, byte "},
		{"wider row", level1(`[[0,7,7,5,6],[0,8,8,5,6,0,4]]`), "found 7 columns where row 0 has 5, byte "},
		{"far wider row", level1(`[[0,7,7,5,6],[0,8,8,5,6,0,4,1]]`), "found 8 columns, byte "},
		{"negative run of a kernel", level1(`[[0,7,7,5,6,0,-4]]`).with("metadata", named), "found run_epoch -4, byte "},
		{"negative run of a scheduler row", level2("[]", `[[0,7,5,6,-4]]`).with("metadata", named), "found run_epoch -4, byte "},
		{"three columns", level2("[]", `[[0,7,5,6],[0,8,5]]`), "found scheduler_tasks.records[1] with 3 columns, byte "},
		{"three archived columns", archived(`[[0,7,5,6],[0,8,5]]`), "found aicpu_tasks[1] with 3 columns, byte "},
		{"no archived row", archived(`[5]`), "found aicpu_tasks[0] that is no array, byte "},
		{"no archived rows", archived(`{}`), "found an object for aicpu_tasks"},
		{"archived timing", archived(`[[0,7,5,6],[0,8,6,5]]`), "found row 1 of aicpu_tasks with dispatch_cycles 6, finish_cycles 5"},
		{"archived keys", archived(`[[0,7,5,6],[0,7,6,7]]`), "found rows 0 and 1 of aicpu_tasks with (0, 7)"},
		{"kernels name runs", level2(`[[0,7,7,5,6,0,4]]`, `[[0,7,5,6]]`).with("metadata", named), "found run_epoch in aicore_tasks only, in " + fileName + ")"},
		{"scheduler rows name runs", level2(`[[0,7,7,5,6,0]]`, `[[0,7,5,6,4]]`).with("metadata", named), "found run_epoch in scheduler_tasks only, in " + fileName + ")"},
		{"missing key", level3(`[` + stream(`[`+strings.Replace(phase, `"loop_iter": 3, `, "", 1)+`]`, "[]") + `]`), `found no key "loop_iter", byte `},
		{"archived list", level1("[]").with("aicpu_scheduler_phases", raw(`[[{}, {}], 5]`)), "found a number for aicpu_scheduler_phases[1], byte "},
		{"archived record", level1("[]").with("aicpu_scheduler_phases", raw(`[[], [{}, 5]]`)), "found a number for aicpu_scheduler_phases[1][1], byte "},
		{"host capture", level1("[]").with("metadata", hostCapture, "aicpu_orchestrator_phases", lanes), "found aicpu_orchestrator_phases beside metadata.host_capture"},
		{"host lanes", level1("[]").with("aicpu_orchestrator_phases", lanes, "host_orchestrator_phases", lanes), "found aicpu_orchestrator_phases beside host_orchestrator_phases"},
		{"submit", level1("[]").with("host_orchestrator_phases", raw(`[[], [{"start_host_ns": 1, "end_host_ns": 1}, {"start_host_ns": 2, "end_host_ns": 1}]]`)), "found host_orchestrator_phases[1][1]"},
		{"launches", launches(`5`, ""), "found a number, in "},
		{"launch", launches(`[[4,1000],[5]]`, ""), "found another value for run_boundaries[1], byte "},
		{"launch before its time", launches(`[[4,1000],[5,900]]`, ""), "found [5, 900] after [4, 1000] for run_boundaries[1], byte "},
		{"first launch at 0", launches(`[[4,0]]`, ""), "found [4, 0] for run_boundaries[0], byte "},
		{"negative launch", launches(`[[-4,-1]]`, ""), "found [-4, -1] for run_boundaries[0], byte "},
		{"lost launches", launches(`[[4,1000]], "dropped_run_boundaries": 3`, ""), "found 3, in "},
		{"early kernel", launches(`[[4,1000]]`, `[[0,7,7,1000,1001],[0,8,8,999,1001]]`), "found aicore_tasks[1] at 999, the first launch at 1000"},
		{"early dispatch", launches(`[[4,1000]]`, "").with("scheduler_tasks", schedTasks("1", `"aicpu"`, `[[0,7,999,1001]]`)), "found scheduler_tasks.records[0] at 999, the first"},
		{"early archived dispatch", launches(`[[4,1000]]`, "").with("aicpu_tasks", raw(`[[0,7,999,1001]]`)), "found aicpu_tasks[0] at 999, the first"},
		{"early phase", launches(`[[4,1000]]`, "").with("scheduler_records", raw(`{"schema_version": 1, "streams": [{"scheduler_id": 2, "records": [`+phase+`]}]}`)), "found record 0 of scheduler 2 at 10, the first"},
		{"early phase of nobody", launches(`[[4,1000]]`, "").with("scheduler_records", raw(`{"schema_version": 1, "streams": [{"records": [`+phase+`]}]}`)), "found record 0 of scheduler stream 0 at 10, the first"},
		{"early submit", launches(`[[4,1000]]`, "").with("aicpu_orchestrator_phases", raw(`[[], [{"start_cycles": 1}]]`)), "found aicpu_orchestrator_phases[1][0] at 1, the first"},
		{"early life", launches(`[[4,1000]]`, "").with("aicpu_lifecycle_records", raw(`[{}, {"exit_wait_end_cycles": 1}]`)), "found aicpu_lifecycle_records[1] at 1, the first"},
		{"upload", level1("[]").with("host_device_uploads", raw(`[{}, {"start_host_ns": 2}]`)), "found host_device_uploads[1]"},
	} {
		if e := refuse(t, tt.d.String(), ""); e != nil && !strings.Contains(e.Error(), "("+tt.found) {
			t.Errorf("%s: %v does not say %s", tt.name, e, tt.found)
		}
	}
	// The words of a file that names its runtime know of the seventh column.
	refuse(t, level1(`[[0,7,7,5,6],[0,8,8,5,6,0,4]]`).with("metadata", named).String(), "aicore_tasks[1] must contain five, six or seven columns")
}
