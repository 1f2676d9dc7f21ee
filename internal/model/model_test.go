package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/model"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// object is a JSON object of a model; numbers keep their text.
type object = map[string]any

// read joins a capture and returns the model that is written of it, and the warnings.
func read(t *testing.T, records, deps string) (object, []capture.Warning) {
	t.Helper()
	text, warnings := write(t, records, deps)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var m object
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("more than one value in\n%s", text)
	}
	return m, warnings
}

func write(t *testing.T, records, deps string) ([]byte, []capture.Warning) {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	var g *taskgraph.Graph
	if deps != "" {
		d, err := capture.ReadDepsFrom(strings.NewReader(deps), "deps.json")
		if err != nil {
			t.Fatal(err)
		}
		if g, err = taskgraph.New(d); err != nil {
			t.Fatal(err)
		}
	}
	tl, err := timeline.New(rec, g)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := model.Write(&b, tl, draw.Metadata(tl)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), append(rec.Warnings, tl.Warnings...)
}

// at follows keys and indexes into a model.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for i, p := range path {
		switch p := p.(type) {
		case string:
			o, ok := v.(object)
			if ok {
				v, ok = o[p]
			}
			if !ok {
				t.Fatalf("nothing at %v", path[:i+1])
			}
		case int:
			a, ok := v.([]any)
			if !ok || p >= len(a) {
				t.Fatalf("nothing at %v", path[:i+1])
			}
			v = a[p]
		}
	}
	return v
}

// near wants a number within 1e-9.
func near(t *testing.T, want float64, v any, path ...any) {
	t.Helper()
	n, ok := at(t, v, path...).(json.Number)
	got, err := n.Float64()
	if !ok || err != nil || math.Abs(got-want) > 1e-9 {
		t.Errorf("%v is %v, want %v", path, n, want)
	}
}

// is wants a value whose JSON text is the given one.
func is(t *testing.T, want string, v any, path ...any) {
	t.Helper()
	got, err := json.Marshal(at(t, v, path...))
	if err != nil || string(got) != want {
		t.Errorf("%v is %s, want %s", path, got, want)
	}
}

// lacks wants keys that are not there.
func lacks(t *testing.T, v any, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if x, ok := v.(object)[k]; ok {
			t.Errorf("%s is %v, want no such key", k, x)
		}
	}
}

// The numbered tests are the worked examples of spec/records.md §7.

const r1 = `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],
"scheduler_tasks":{"schema_version":1,"producer":"aicore","records":[[0,7,115,185]]},
"aicpu_lifecycle_records":[{"aicpu_thread_id":1,"handshake_start_cycles":90,"handshake_complete_cycles":91,
 "config_start_cycles":92,"topology_complete_cycles":93,"context_publish_start_cycles":93,"context_publish_complete_cycles":94,
 "bootstrap_wait_start_cycles":95,"bootstrap_complete_cycles":96,"register_release_start_cycles":97,"register_release_end_cycles":98,
 "exit_signal_start_cycles":181,"exit_signal_end_cycles":182,"exit_wait_start_cycles":183,"exit_wait_end_cycles":184}],
"scheduler_records":{"schema_version":1,"streams":[{"platform":"a5","runtime":"host_build_graph","producer":"aicore","scheduler_id":2,
 "worker_id":6,"core_type":"aiv","physical_core_id":9,"capture":{"committed":2,"dropped":0,"truncated":false},"records":[
 {"start_cycles":100,"end_cycles":110,"loop_iter":3,"kind":"ready_claim","tasks_processed":1,"task_id":7},
 {"start_cycles":111,"end_cycles":119,"loop_iter":3,"kind":"idle","tasks_processed":0,"task_id":null}],
 "metrics":[{"record_index":0,"claim_retries":2}]}]}}`

func TestR1(t *testing.T) {
	m, _ := read(t, r1, "")
	task := at(t, m, "tasks", 0)
	is(t, "7", task, "task_id")
	is(t, "-1", task, "func_id")
	is(t, `"aiv"`, task, "core_type")
	near(t, 0.02, task, "receive_time_us")
	near(t, 0.03, task, "start_time_us")
	near(t, 0.09, task, "end_time_us")
	near(t, 0.06, task, "duration_us")
	near(t, 0.01, task, "local_setup_us")
	near(t, 0.025, task, "dispatch_time_us")
	near(t, 0.095, task, "finish_time_us")
	near(t, -0.005, task, "propagation_us")
	is(t, `"aicore"`, m, "scheduler_task_producer")
	life := at(t, m, "aicpu_lifecycle_records", 0)
	near(t, 0, life, "handshake_start_time_us")
	near(t, 0.007, life, "register_release_start_time_us")
	near(t, 0.094, life, "exit_wait_end_time_us")
	is(t, "1", life, "aicpu_thread_id")
	is(t, "0", life, "record_index")
	lacks(t, life, "handshake_start_cycles")

	// The stream stands where its id says, behind empty ones.
	is(t, "[]", m, "scheduler_records", 0)
	is(t, "[]", m, "scheduler_records", 1)
	first, second := at(t, m, "scheduler_records", 2, 0), at(t, m, "scheduler_records", 2, 1)
	is(t, `"ready_claim"`, first, "phase")
	is(t, "2", first, "claim_retries")
	is(t, "7", first, "task_id")
	is(t, "3", first, "loop_iter")
	near(t, 0.01, first, "start_time_us")
	near(t, 0.02, first, "end_time_us")
	lacks(t, first, "kind", "start_cycles", "end_cycles", "shared_at_start")
	is(t, `"idle"`, second, "phase")
	is(t, "null", second, "task_id")
	is(t, "9", m, "scheduler_streams", 2, "physical_core_id")
	is(t, "6", m, "scheduler_streams", 2, "worker_id")
	is(t, "0", m, "scheduler_streams", 0, "scheduler_id")
	is(t, "null", m, "scheduler_streams", 0, "physical_core_id")
	is(t, "3", m, "chip_swimlane_level")
	lacks(t, m, "timeline_metadata", "core_to_thread", "aicpu_orchestrator_phases", "orchestrator_source", "host_device_uploads")
}

func TestR2(t *testing.T) {
	for _, producer := range []string{"aicpu", "aicore"} {
		m, _ := read(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],"scheduler_tasks":{"schema_version":1,"producer":"`+producer+`","records":[[0,7,115,185]]}}`, "")
		task := at(t, m, "tasks", 0)
		near(t, 0, task, "receive_time_us")
		near(t, 0.01, task, "start_time_us")
		near(t, 0.005, task, "dispatch_time_us")
		near(t, 0.075, task, "finish_time_us")
		is(t, `"`+producer+`"`, m, "scheduler_task_producer")
		lacks(t, m, "scheduler_records", "aicpu_scheduler_phases", "scheduler_streams")
	}
}

func TestR7(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180],[5,3,3,100,130]]}`, "")
	first, second := at(t, m, "tasks", 0), at(t, m, "tasks", 1)
	is(t, "3", first, "task_id")
	is(t, "5", first, "core_id")
	is(t, `"aiv"`, first, "core_type")
	near(t, 0, first, "start_time_us")
	near(t, 0, first, "receive_time_us")
	near(t, 0.03, first, "end_time_us")
	is(t, "7", second, "task_id")
	near(t, 0.02, second, "start_time_us")
	near(t, 0.02, second, "receive_time_us")
	near(t, 0.08, second, "end_time_us")
	lacks(t, first, "dispatch_time_us", "finish_time_us", "propagation_us")
	lacks(t, m, "scheduler_task_producer", "scheduler_records")
}

func TestR8(t *testing.T) {
	m, warnings := read(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],"aicpu_tasks":[[0,7,115,185],[0,9,50,60],[3,1,70,80],[3,2,70,80]]}`, "")
	if n := len(at(t, m, "tasks").([]any)); n != 1 {
		t.Errorf("%d tasks, want 1", n)
	}
	near(t, 0.06, m, "tasks", 0, "receive_time_us")
	near(t, 0.065, m, "tasks", 0, "dispatch_time_us")
	if len(warnings) != 1 || warnings[0].Count != 3 || !strings.Contains(warnings[0].Text, "producer=aicpu, top offenders: core 3: 2, core 0: 1") {
		t.Errorf("warnings %v", warnings)
	}
}

func TestR9(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000000,"core_types":["aiv"],"orchestrator_source":"host",
 "host_orchestration_origin_ns":1000,"host_clock_domain_id":"boot",
 "host_capture":{"status":"complete","expected_records":1,"recorded_records":1,"dropped_records":0,"error":null}},
"aicore_tasks":[[0,7,1,100,110,0]],"aicpu_tasks":[[0,1,90,120]],
"aicpu_scheduler_phases":[[{"kind":"dispatch","start_cycles":80,"end_cycles":85}]],
"host_orchestrator_phases":[[],[{"submit_idx":0,"task_id":7,"start_host_ns":1000,"end_host_ns":3000}]],
"host_device_uploads":[{"phase":"graph_upload","start_host_ns":3000,"end_host_ns":4500,"detail":4096}]}`, "")
	submit := at(t, m, "aicpu_orchestrator_phases", 0, 0) // the empty lane is dropped
	near(t, 0, submit, "start_time_us")
	near(t, 2, submit, "end_time_us")
	is(t, `"orch_submit"`, submit, "phase")
	is(t, "7", submit, "task_id")
	is(t, `"host"`, m, "orchestrator_source")
	near(t, 2, m, "scheduler_records", 0, 0, "start_time_us")
	near(t, 12, m, "tasks", 0, "dispatch_time_us")
	near(t, 22, m, "tasks", 0, "start_time_us")
	near(t, 32, m, "tasks", 0, "end_time_us")
	near(t, 42, m, "tasks", 0, "finish_time_us")
	upload := at(t, m, "host_device_uploads", 0)
	near(t, 2, upload, "start_time_us")
	near(t, 3.5, upload, "end_time_us")
	is(t, "4096", upload, "detail")
	meta := at(t, m, "timeline_metadata")
	is(t, `"complete"`, meta, "trace_status")
	is(t, `"causal_composite"`, meta, "layout")
	is(t, `"host_orchestration_precedes_device"`, meta, "relation")
	is(t, "true", meta, "host_records_complete")
	is(t, "false", meta, "cross_domain_latency_available")
	is(t, "1000", meta, "timeline_origin_ns")
	is(t, "true", meta, "cross_domain_gap_unknown")
	is(t, `"boot"`, meta, "host_clock_domain_id")
	near(t, 2, meta, "logical_seam_us")
	lacks(t, meta, "host_records_missing")
}

func TestR10(t *testing.T) {
	host := func(capture, submits string) object {
		m, _ := read(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000000,"host_orchestration_origin_ns":1000,
"host_capture":`+capture+`},"aicore_tasks":[],"host_orchestrator_phases":`+submits+`}`, "")
		return at(t, m, "timeline_metadata").(object)
	}
	meta := host(`{"status":"complete","expected_records":2,"recorded_records":2,"pool_records":339,"dropped_records":0}`,
		`[[{"submit_idx":0,"task_id":0,"start_host_ns":1000,"end_host_ns":1001},{"submit_idx":1,"task_id":1,"start_host_ns":1002,"end_host_ns":1003}]]`)
	is(t, `"complete"`, meta, "trace_status")
	is(t, "339", meta, "host_capture", "pool_records")
	lacks(t, meta["host_capture"], "converter_validation_errors")

	meta = host(`{"status":"complete","expected_records":1,"recorded_records":0,"dropped_records":0}`, `[]`)
	is(t, `"partial"`, meta, "trace_status")
	is(t, `["expected_record_count_mismatch"]`, meta, "host_capture", "converter_validation_errors")
	is(t, "true", meta, "host_records_missing")
	is(t, "false", meta, "host_records_complete")
}

func TestR11(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],
"aicpu_lifecycle_records":[{"aicpu_thread_id":0,"register_release_start_cycles":90,"register_release_end_cycles":91,"exit_wait_start_cycles":0}]}`, "")
	life := at(t, m, "aicpu_lifecycle_records", 0)
	near(t, 0, life, "register_release_start_time_us")
	near(t, 0.001, life, "register_release_end_time_us")
	near(t, 0.02, m, "tasks", 0, "receive_time_us")
	lacks(t, life, "exit_wait_start_time_us", "exit_wait_end_time_us", "handshake_start_time_us")
}

func TestR14(t *testing.T) {
	deps := `{"tasks":[{"task_id":"1","kernel_ids":[5,7,8]},{"task_id":"2","kernel_ids":[5,-1,8]},{"task_id":"3","kernel_ids":[-1,7,-1]}],"edges":[]}`
	m, _ := read(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","aiv"]},
"aicore_tasks":[[0,1,1,10,20],[1,1,1,10,20],[1,2,2,30,40],[0,3,3,30,40],[0,4,4,50,60]]}`, deps)
	for i, want := range []string{"5", "7", "8", "-1", "-1"} {
		is(t, want, m, "tasks", i, "func_id")
	}
}

// TestExact holds every µs value against the arithmetic of spec/records.md §4.3,
// bit by bit: 1e6/freq once, integer differences, one product.
func TestExact(t *testing.T) {
	for _, hz := range []uint64{30_000_000, 50_000_000, 1_000_000_000, 38_400_001, 3} {
		for _, base := range []uint64{1, 1000, 90_000_000_000_000_001} {
			rows := [5]uint64{base, base + 7, base + 1003, base + 1004, base + 10_000_019} // receive, dispatch, start, end, finish
			receive, dispatch, start, end, finish := rows[0], rows[1], rows[2], rows[3], rows[4]
			m, _ := read(t, fmt.Sprintf(`{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":%d},
"aicore_tasks":[[0,18446744073709551615,18446744073709551614,%d,%d,%d]],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,18446744073709551614,%d,%d]]}}`,
				hz, start, end, start-receive, dispatch, finish), "")
			scale := 1000000.0 / float64(hz)
			us := func(c uint64) float64 { return float64(c-base) * scale }
			task := at(t, m, "tasks", 0).(object)
			is(t, "18446744073709551615", task, "task_id")
			is(t, "4294967295", task, "ring_id")
			for key, want := range map[string]float64{
				"receive_time_us": us(receive), "dispatch_time_us": us(dispatch), "start_time_us": us(start), "end_time_us": us(end),
				"finish_time_us": us(finish), "duration_us": us(end) - us(start), "local_setup_us": us(start) - us(receive),
				"propagation_us": us(receive) - us(dispatch),
			} {
				got, err := strconv.ParseFloat(string(task[key].(json.Number)), 64)
				if err != nil || math.Float64bits(got) != math.Float64bits(want) {
					t.Errorf("%d Hz from %d: %s is %v, want %v", hz, base, key, got, want)
				}
				if strings.ContainsAny(string(task[key].(json.Number)), "eE") {
					t.Errorf("%s has an exponent: %v", key, task[key])
				}
			}
		}
	}
}

// TestHostShift: a time of 0 stays 0 where the host part shifts all others
// (spec/records.md §4.3).
func TestHostShift(t *testing.T) {
	m, _ := read(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":30000000,"orchestrator_source":"host"},
"aicore_tasks":[[0,7,1,100,110,0]],"aicpu_tasks":[[0,1,90,120]],
"aicpu_scheduler_phases":[[{"kind":"poll","start_cycles":0,"end_cycles":85}]],
"host_orchestrator_phases":[[{"submit_idx":0,"start_host_ns":1000,"end_host_ns":3001}]]}`, "")
	near(t, 0, m, "scheduler_records", 0, 0, "start_time_us")
	near(t, 2.001, m, "scheduler_records", 0, 0, "end_time_us") // cycle 85 is the base
	want := 2.001 + float64(100-85)*(1000000.0/30000000)
	got, _ := at(t, m, "tasks", 0, "start_time_us").(json.Number).Float64()
	if got != want {
		t.Errorf("start is %v, want %v", got, want)
	}
	is(t, `{"error":"legacy_capture_status_missing","dropped_records":null,"recorded_records":1,"status":"unknown"}`,
		reordered(at(t, m, "timeline_metadata", "host_capture")))
	lacks(t, at(t, m, "aicpu_orchestrator_phases", 0, 0), "task_id")
}

// reordered makes an object marshal in the order of these keys.
func reordered(v any) any {
	o := v.(object)
	return struct {
		Error    any `json:"error"`
		Dropped  any `json:"dropped_records"`
		Recorded any `json:"recorded_records"`
		Status   any `json:"status"`
	}{o["error"], o["dropped_records"], o["recorded_records"], o["status"]}
}

// TestLines: line tools get one row a line.
func TestLines(t *testing.T) {
	text, _ := write(t, r1, "")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `{"task_id":`) {
			line = strings.TrimRight(line, ",]\n")
			if !json.Valid([]byte(line)) {
				t.Errorf("not an object of its own: %s", line)
			}
			rows++
		}
	}
	if rows != 1 {
		t.Errorf("%d lines with a task, want 1", rows)
	}
}

// failing refuses everything after n bytes.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, fmt.Errorf("full")
	}
	return len(b), nil
}

func TestWriteError(t *testing.T) {
	rec, err := capture.ReadFrom(strings.NewReader(r1), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Write(&failing{100}, tl, nil); err == nil || err.Error() != "full" {
		t.Errorf("error %v, want full", err)
	}
}
