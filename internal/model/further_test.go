package model_test

import (
	"fmt"
	"strings"
	"testing"
)

// The descriptors are those of the file, and of spec/newest.md §5.4 where it has none.
func TestR1Streams(t *testing.T) {
	m, _ := read(t, r1, "")
	is(t, `{"capture":{"committed":2,"dropped":0,"truncated":false},"core_type":"aiv","physical_core_id":9,"platform":"a5",`+
		`"producer":"aicore","runtime":"host_build_graph","scheduler_id":2,"worker_id":6}`, m, "scheduler_streams", 2)
	for i := range 2 {
		is(t, fmt.Sprintf(`{"capture":null,"core_type":null,"physical_core_id":null,"platform":null,`+
			`"producer":"aicore","runtime":null,"scheduler_id":%d,"worker_id":%d}`, i, i), m, "scheduler_streams", i)
	}
	text, _ := write(t, r1, "")
	want := `{"platform":"a5","runtime":"host_build_graph","producer":"aicore","scheduler_id":2,"worker_id":6,"core_type":"aiv",` +
		`"physical_core_id":9,"capture":{"committed":2,"dropped":0,"truncated":false}}`
	if !strings.Contains(string(text), want) {
		t.Errorf("the order is not that of the page in\n%s", text)
	}
}

func level3(section string) string {
	return `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000000},"aicore_tasks":[],` + section + `}`
}

func streams(list string) string {
	return level3(`"scheduler_records":{"schema_version":1,"streams":[` + list + `]}`)
}

// spec/records.md §2.6: descriptions pass unvalidated.
func TestStreamsUnvalidated(t *testing.T) {
	m, _ := read(t, streams(`{"records":[]},
{"records":[],"platform":5,"runtime":["x"],"producer":"a\"b","scheduler_id":true,"worker_id":"7","core_type":null,
 "physical_core_id":{"die":1,"core":-2},"capture":{"dropped":"0","more":[1.50,null],"committed":18446744073709551616},"later":1},
{"records":[],"worker_id":18446744073709551615,"scheduler_id":"x","capture":"none"}`), "")
	is(t, `{"capture":null,"core_type":null,"physical_core_id":null,"platform":null,"producer":null,"runtime":null,`+
		`"scheduler_id":null,"worker_id":null}`, m, "scheduler_streams", 0)
	is(t, `{"capture":{"committed":18446744073709551616,"dropped":"0","more":[1.50,null]},"core_type":null,`+
		`"physical_core_id":{"core":-2,"die":1},"platform":5,"producer":"a\"b","runtime":["x"],`+
		`"scheduler_id":true,"worker_id":"7"}`, m, "scheduler_streams", 1)
	is(t, `"none"`, m, "scheduler_streams", 2, "capture")
	is(t, `"x"`, m, "scheduler_streams", 2, "scheduler_id")
	is(t, "18446744073709551615", m, "scheduler_streams", 2, "worker_id")
}

// spec/records.md §2.7: descriptors that no file has, and further keys of the records.
func TestListedPhases(t *testing.T) {
	m, _ := read(t, level3(`"aicpu_scheduler_phases":[[
{"kind":"dispatch","start_cycles":5,"end_cycles":9,"shared_at_end":[1,2,3],"new":{"a":[1]},"phase":"x","start_time_us":"y","pop_hit":null},
{"run_epoch":4}],[]]`), "")
	for i := range 2 {
		is(t, fmt.Sprintf(`{"capture":null,"core_type":"aicpu","physical_core_id":null,"platform":null,`+
			`"producer":"aicpu","runtime":null,"scheduler_id":%d,"worker_id":%d}`, i, i), m, "scheduler_streams", i)
	}
	is(t, `{"end_time_us":0.004,"new":{"a":[1]},"phase":"dispatch","pop_hit":null,"shared_at_end":[1,2,3],`+
		`"start_time_us":0,"task_id":null}`, m, "scheduler_records", 0, 0)
	is(t, "4", m, "scheduler_records", 0, 1, "run_epoch")
}

// spec/records.md §4.5: the depth arrays survive whatever their form. A later
// metric of the same record counts.
func TestDepths(t *testing.T) {
	const start, end = "shared_at_start", "shared_at_end"
	tests := []struct{ metrics, start, end string }{ // "": no such key
		{`{"shared_at_start":[1,2,3],"shared_at_end":[4,5,6]}`, "[1,2,3]", "[4,5,6]"},
		{`{"shared_at_start":[1,2,3]}`, "[1,2,3]", ""},
		{`{"shared_at_end":[1, 2,3]}`, "", "[1,2,3]"},
		{`{"shared_at_start":[1,2],"shared_at_end":[4,5,6]}`, "[1,2]", "[4,5,6]"},
		{`{"shared_at_start":[],"shared_at_end":[1,2,3,4]}`, "[]", "[1,2,3,4]"},
		{`{"shared_at_start":null,"shared_at_end":{"a":[1.5]}}`, "null", `{"a":[1.5]}`},
		{`{"shared_at_start":["7",null,[1]],"shared_at_end":"x"}`, `["7",null,[1]]`, `"x"`},
		{`{"shared_at_start":[1,2,3]},{"shared_at_end":[4,5,6]}`, "[1,2,3]", "[4,5,6]"},
		{`{"shared_at_start":[1,2,3]},{"shared_at_start":[7,8,9]}`, "[7,8,9]", ""},
		{`{"shared_at_start":[1,2,3],"shared_at_end":[4,5,6]},{"shared_at_start":[7,8,9]}`, "[7,8,9]", "[4,5,6]"},
		{`{"shared_at_start":[1,2,3],"shared_at_end":[4,5,6]},{"shared_at_start":[7]}`, "[7]", "[4,5,6]"},
		{`{"shared_at_start":[1,2,3],"shared_at_end":[4,5,6]},{"shared_at_start":[7]},{"shared_at_start":[7,8,9]}`, "[7,8,9]", "[4,5,6]"},
		{`{"shared_at_end":5},{"shared_at_end":[4,5,6]}`, "", "[4,5,6]"},
		{`{"shared_at_end":5},{"shared_at_end":6}`, "", "6"},
		{`{"shared_at_start":[1,2,3],"shared_at_end":[4]},{"shared_at_end":[4,5,6]}`, "[1,2,3]", "[4,5,6]"},
	}
	for _, tt := range tests {
		metrics := strings.ReplaceAll(tt.metrics, `{"shared`, `{"record_index":0,"shared`)
		m, _ := read(t, streams(`{"scheduler_id":0,"records":[
{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null},
{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null}],
"metrics":[{"record_index":1,"shared_at_start":[9,9,9],"shared_at_end":[9,9,9]},`+metrics+`,{"record_index":0,"z":1}]}`), "")
		record := at(t, m, "scheduler_records", 0, 0).(object)
		for key, want := range map[string]string{start: tt.start, end: tt.end} {
			if want == "" {
				lacks(t, record, key)
				continue
			}
			is(t, want, record, key)
		}
		is(t, "1", record, "z")
		is(t, "[9,9,9]", m, "scheduler_records", 0, 1, start)
		// Every key stands once.
		text, _ := write(t, streams(`{"scheduler_id":0,"records":[
{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null}],"metrics":[`+metrics+`]}`), "")
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, `{"phase"`) && (strings.Count(line, start) > 1 || strings.Count(line, end) > 1) {
				t.Errorf("%s: a key twice in %s", tt.metrics, line)
			}
		}
	}
}

// A metric cannot displace what the model says itself.
func TestMetricClash(t *testing.T) {
	text, _ := write(t, streams(`{"scheduler_id":0,"records":[
{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null}],
"metrics":[{"record_index":0,"phase":"x","in":{"phase":"y"},"end_time_us":[5],"run_epoch":3}]}`), "")
	want := `{"phase":"idle","start_time_us":0,"end_time_us":0.001,"loop_iter":0,"tasks_processed":0,"task_id":null,"in":{"phase":"y"},"run_epoch":3}`
	if !strings.Contains(string(text), want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}

// spec/records.md §4.6: other keys survive, beside those of R11.
func TestR11Further(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],
"aicpu_lifecycle_records":[{"aicpu_thread_id":0,"role":"leader","register_release_start_cycles":90,"register_release_end_cycles":91,
"exit_wait_start_cycles":0,"exit_wait_start_time_us":"kept","register_release_end_time_us":7,"record_index":9,"x_cycles":18446744073709551616,"y":[{}]},
{"aicpu_thread_id":{"a":1}},{"aicpu_thread_id":null}]}`, "")
	is(t, `{"aicpu_thread_id":0,"exit_wait_start_time_us":"kept","record_index":0,"register_release_end_time_us":0.001,`+
		`"register_release_start_time_us":0,"role":"leader","x_cycles":18446744073709551616,"y":[{}]}`, m, "aicpu_lifecycle_records", 0)
	is(t, `{"aicpu_thread_id":{"a":1},"record_index":1}`, m, "aicpu_lifecycle_records", 1)
	is(t, `{"aicpu_thread_id":null,"record_index":2}`, m, "aicpu_lifecycle_records", 2)
}

// spec/records.md §4.5: device orchestrator records keep their other keys.
func TestDeviceSubmits(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000000000},"aicore_tasks":[],
"aicpu_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_cycles":100,"end_cycles":110,"kind":"orch_alloc","phase":"x","bytes":4096},
{"submit_idx":1,"task_id":8,"start_cycles":120,"end_cycles":130}],[{"submit_idx":2,"start_cycles":140,"end_cycles":150,"start_host_ns":[5]}]]}`, "")
	is(t, `{"bytes":4096,"end_time_us":0.01,"phase":"orch_submit","start_time_us":0,"submit_idx":0,"task_id":7}`, m, "aicpu_orchestrator_phases", 0, 0)
	lacks(t, at(t, m, "aicpu_orchestrator_phases", 0, 1), "bytes", "kind")
	is(t, "[5]", m, "aicpu_orchestrator_phases", 1, 0, "start_host_ns")
	is(t, `"aicpu"`, m, "orchestrator_source")
}

// R9 and R10 with further keys in the host's records (spec/records.md §4.7).
func TestR9Further(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000000,"orchestrator_source":"host",
 "host_orchestration_origin_ns":1000,
 "host_capture":{"status":"complete","expected_records":2,"recorded_records":2,"pool_records":339,"dropped_records":0,"later":[1]}},
"aicore_tasks":[[0,7,1,100,110,0]],"aicpu_tasks":[[0,1,90,120]],
"aicpu_scheduler_phases":[[{"kind":"dispatch","start_cycles":80,"end_cycles":85}]],
"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1000,"end_host_ns":2000,"kind":"k","tid":12},
 {"submit_idx":1,"task_id":8,"start_host_ns":2000,"end_host_ns":3000}]],
"host_device_uploads":[{"phase":"graph_upload","start_host_ns":3000,"end_host_ns":4500,"detail":4096,"stream":{"id":"s"},"end_time_us":1},
 {"start_host_ns":3000,"end_host_ns":3000},{"detail":"many","phase":null,"start_host_ns":3000,"end_host_ns":3000}]}`, "")
	is(t, `{"end_time_us":1,"kind":"k","phase":"orch_submit","start_time_us":0,"submit_idx":0,"task_id":7,"tid":12}`,
		m, "aicpu_orchestrator_phases", 0, 0)
	is(t, `{"end_time_us":2,"phase":"orch_submit","start_time_us":1,"submit_idx":1,"task_id":8}`, m, "aicpu_orchestrator_phases", 0, 1)
	is(t, `{"detail":4096,"end_time_us":3.5,"phase":"graph_upload","start_time_us":2,"stream":{"id":"s"}}`, m, "host_device_uploads", 0)
	is(t, `{"end_time_us":2,"start_time_us":2}`, m, "host_device_uploads", 1) // absence is no value
	is(t, `{"detail":"many","end_time_us":2,"phase":null,"start_time_us":2}`, m, "host_device_uploads", 2)
	is(t, `"complete"`, m, "timeline_metadata", "trace_status")
	is(t, "339", m, "timeline_metadata", "host_capture", "pool_records")
	is(t, "[1]", m, "timeline_metadata", "host_capture", "later")
	near(t, 2, m, "scheduler_records", 0, 0, "start_time_us")
	near(t, 42, m, "tasks", 0, "finish_time_us")
}

// A run that a host record names is a further key like any other.
func TestHostRun(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":4,"metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000},"aicore_tasks":[],
"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1000,"end_host_ns":2000,"run_epoch":3}]]}`, "")
	is(t, "3", m, "aicpu_orchestrator_phases", 0, 0, "run_epoch")
}
