package timeline_test

import (
	"testing"

	"swimlane/capture"
	"swimlane/timeline"
)

// The worked examples of spec/records.md §7 that concern time and joining.

const r1 = `{"chip_swimlane_level":3,
"metadata":{"clock_freq_hz":1000000000,"num_cores":1,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],
"scheduler_tasks":{"schema_version":1,"producer":"aicore","records":[[0,7,115,185]]},
"scheduler_records":{"schema_version":1,"streams":[
 {"platform":"a5","runtime":"host_build_graph","producer":"aicore","scheduler_id":2,"worker_id":6,"core_type":"aiv","physical_core_id":9,
  "capture":{"committed":2,"dropped":0,"truncated":false},
  "records":[{"start_cycles":100,"end_cycles":110,"loop_iter":3,"kind":"ready_claim","tasks_processed":1,"task_id":7},
             {"start_cycles":111,"end_cycles":119,"loop_iter":3,"kind":"idle","tasks_processed":0,"task_id":null}],
  "metrics":[{"record_index":0,"claim_retries":2}]}]},
"aicpu_lifecycle_records":[{"aicpu_thread_id":1,
 "handshake_start_cycles":90,"handshake_complete_cycles":91,"config_start_cycles":92,"topology_complete_cycles":93,
 "context_publish_start_cycles":93,"context_publish_complete_cycles":94,"bootstrap_wait_start_cycles":95,"bootstrap_complete_cycles":96,
 "register_release_start_cycles":97,"register_release_end_cycles":98,"exit_signal_start_cycles":181,"exit_signal_end_cycles":182,
 "exit_wait_start_cycles":183,"exit_wait_end_cycles":184}]}`

func TestR1Level3(t *testing.T) {
	tl := build(t, r1, "")
	equal(t, "base", tl.Clock.Base, 90)
	equal(t, "rows", tl.Rows.Len(), 1)
	equal(t, "task", tl.IDOf(0), 7)
	micros(t, "receive", tl, tl.Rows.Receive[0], 0.02)
	micros(t, "start", tl, tl.Rows.Start[0], 0.03)
	micros(t, "end", tl, tl.Rows.End[0], 0.09)
	micros(t, "dispatch", tl, tl.Rows.Dispatch[0], 0.025)
	micros(t, "finish", tl, tl.Rows.Finish[0], 0.095)
	equal(t, "producer", tl.Rec.Sched.Producer, capture.ProducerAICore)
	const registerRelease = 4 // spec/records.md §2.8, in table order
	micros(t, "register release", tl, tl.Rec.Lifecycle[0].Span[registerRelease][0], 0.007)
	// The stream of scheduler 2 is placed at index 2 (spec/records.md §9 no. 3).
	equal(t, "streams", len(tl.Rec.Streams), 3)
	p := &tl.Rec.Streams[2].Phases
	equal(t, "extra of the first record", string(p.Extra[0]), `"claim_retries":2`)
	equal(t, "second record names a task", p.Flags[1]&capture.HasTask != 0, false)
}

const r2 = `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"core_types":["aiv"]},
"aicore_tasks":[[0,7,7,120,180,10]],"scheduler_tasks":{"schema_version":1,"producer":"aicore","records":[[0,7,115,185]]}}`

func TestR2Level2(t *testing.T) {
	for _, producer := range []string{"aicpu", "aicore"} {
		doc := replace(t, r2, `"producer":"aicore"`, `"producer":"`+producer+`"`)
		tl := build(t, doc, "")
		equal(t, "base", tl.Clock.Base, 110)
		micros(t, "receive", tl, tl.Rows.Receive[0], 0)
		micros(t, "start", tl, tl.Rows.Start[0], 0.01)
		micros(t, "dispatch", tl, tl.Rows.Dispatch[0], 0.005)
		micros(t, "finish", tl, tl.Rows.Finish[0], 0.075)
		equal(t, "producer", tl.Rec.Sched.Producer, producer)
	}
}

// TestR3Skew: the counters of cores and schedulers may be skewed.
func TestR3Skew(t *testing.T) {
	for _, c := range []struct {
		row              string
		dispatch, finish float64
	}{
		{"[0,7,125,185]", 0.015, 0.075}, // dispatch after the kernel's start
		{"[0,7,115,175]", 0.005, 0.065}, // finish before the kernel's end
	} {
		tl := build(t, replace(t, r2, "[0,7,115,185]", c.row), "")
		micros(t, c.row+" dispatch", tl, tl.Rows.Dispatch[0], c.dispatch)
		micros(t, c.row+" finish", tl, tl.Rows.Finish[0], c.finish)
		micros(t, c.row+" start", tl, tl.Rows.Start[0], 0.01)
	}
}

func TestR7Level1(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic"]},
"aicore_tasks":[[0,7,7,120,180],[5,3,3,100,130]]}`, "")
	equal(t, "base", tl.Clock.Base, 100)
	equal(t, "rows", tl.Rows.Len(), 2)
	equal(t, "first task", tl.IDOf(0), 3)
	equal(t, "its core", tl.CoreOf(0).ID, 5)
	equal(t, "its type", tl.CoreOf(0).Type, "aiv") // beyond core_types
	micros(t, "its start", tl, tl.Rows.Start[0], 0)
	micros(t, "its end", tl, tl.Rows.End[0], 0.03)
	equal(t, "second task", tl.IDOf(1), 7)
	equal(t, "its type", tl.CoreOf(1).Type, "aic")
	micros(t, "its start", tl, tl.Rows.Start[1], 0.02)
	micros(t, "its end", tl, tl.Rows.End[1], 0.08)
	for row := range 2 {
		equal(t, "receive is start", tl.Rows.Receive[row], tl.Rows.Start[row])
		equal(t, "scheduler times known", tl.Rows.Timed(row), false)
	}
	equal(t, "scheduler times known anywhere", tl.Timed(), false)
	equal(t, "producer", tl.Rec.Sched.Producer, "")
}

func TestR8Unmatched(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000},
"aicore_tasks":[[0,7,7,120,180,10]],"aicpu_tasks":[[0,7,115,185],[0,9,50,60],[3,1,70,80],[3,2,70,80]]}`, "")
	equal(t, "base", tl.Clock.Base, 50) // of a row that is dropped
	equal(t, "rows", tl.Rows.Len(), 1)
	micros(t, "receive", tl, tl.Rows.Receive[0], 0.06)
	micros(t, "dispatch", tl, tl.Rows.Dispatch[0], 0.065)
	equal(t, "unmatched", tl.Unmatched, 3)
	if len(tl.Warnings) != 1 {
		t.Fatalf("warnings: %v, want one", tl.Warnings)
	}
	// spec/records.md §4.4; `Warning: ` is put in front where it is printed.
	equal(t, "warning", tl.Warnings[0].Text, "3 Scheduler task timing record(s) had no matching AICore record "+
		"(producer=aicpu, top offenders: core 3: 2, core 0: 1); the missing AICore buffer(s) were dropped on rotation. "+
		"Bump PLATFORM_AICORE_BUFFERS_PER_CORE if you see this regularly.")
	equal(t, "count", tl.Warnings[0].Count, 3)
}

// TestUnmatchedTopThree: at most three cores, by count, ties by appearance.
func TestUnmatchedTopThree(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000},"aicore_tasks":[],
"scheduler_tasks":{"schema_version":1,"producer":"aicore","records":[[9,1,5,6],[4,1,5,6],[2,1,5,6],[2,2,5,6],[1,1,5,6]]}}`, "")
	equal(t, "warning", tl.Warnings[0].Text, "5 Scheduler task timing record(s) had no matching AICore record "+
		"(producer=aicore, top offenders: core 2: 2, core 9: 1, core 4: 1); the missing AICore buffer(s) were dropped on rotation. "+
		"Bump PLATFORM_AICORE_BUFFERS_PER_CORE if you see this regularly.")
}

const r9 = `{"chip_swimlane_level":4,
"metadata":{"clock_freq_hz":1000000,"orchestrator_source":"host","host_orchestration_origin_ns":1000,
 "host_capture":{"status":"complete","expected_records":1,"recorded_records":1,"pool_records":1,"dropped_records":0,"error":null}},
"aicore_tasks":[[0,7,1,100,110,0]],"aicpu_tasks":[[0,1,90,120]],
"aicpu_scheduler_phases":[[{"kind":"dispatch","start_cycles":80,"end_cycles":85}]],
"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1000,"end_host_ns":3000}]]}`

func TestR9HostComposite(t *testing.T) {
	tl := build(t, r9, "")
	equal(t, "host mode", tl.HostMode(), true)
	hostTime(t, "submit start", tl, tl.Rec.HostOrc[0].Start[0], 0)
	hostTime(t, "submit end", tl, tl.Rec.HostOrc[0].End[0], 2)
	equal(t, "seam", tl.Host.Seam, 2000)
	micros(t, "phase start", tl, tl.Rec.Streams[0].Phases.Start[0], 2)
	micros(t, "dispatch", tl, tl.Rows.Dispatch[0], 12)
	micros(t, "start", tl, tl.Rows.Start[0], 22)
	micros(t, "end", tl, tl.Rows.End[0], 32)
	micros(t, "finish", tl, tl.Rows.Finish[0], 42)
	equal(t, "complete", tl.Host.Complete, true)
	// "Did not happen" stays time zero: the host part is not added (§4.3).
	equal(t, "zero", tl.Clock.Ns(0), 0)
	equal(t, "zero in µs", tl.Clock.Micros(0), 0)
}

func TestR10HostCompleteness(t *testing.T) {
	two := `[[{"start_host_ns":1000,"end_host_ns":1500},{"start_host_ns":1500,"end_host_ns":2000}]]`
	for _, c := range []struct {
		name, capture, submits string
		complete, missing      bool
		errors                 []string
	}{
		{"complete", `{"status":"complete","expected_records":2,"recorded_records":2,"pool_records":339,"dropped_records":0,"error":null}`, two, true, false, nil},
		{"nothing recorded", `{"status":"complete","expected_records":1,"recorded_records":0,"dropped_records":0}`, `[]`, false, true,
			[]string{"expected_record_count_mismatch"}},
		{"other number recorded", `{"status":"complete","expected_records":2,"recorded_records":3,"dropped_records":0}`, two, false, false,
			[]string{"recorded_record_count_mismatch"}},
		{"both", `{"status":"complete","expected_records":9,"recorded_records":3,"dropped_records":0}`, two, false, false,
			[]string{"recorded_record_count_mismatch", "expected_record_count_mismatch"}},
		{"no expectation", `{"status":"complete","recorded_records":2,"dropped_records":0}`, two, false, false, []string{"expected_record_count_missing"}},
		{"no count of recorded ones", `{"status":"complete","expected_records":2,"dropped_records":0}`, two, true, false, nil},
		{"dropped", `{"status":"dropped","expected_records":2,"recorded_records":2,"dropped_records":1}`, two, false, false, nil},
		{"status says complete", `{"status":"complete","expected_records":2,"recorded_records":2,"dropped_records":1}`, two, false, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := build(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000,"host_capture":`+c.capture+`},
"host_orchestrator_phases":`+c.submits+`}`, "")
			equal(t, "complete", tl.Host.Complete, c.complete)
			equal(t, "missing", tl.Host.Missing, c.missing)
			equalSlices(t, "errors", tl.Host.Errors, c.errors)
		})
	}
}

// TestR11LifecycleAtOrigin: a value equal to the base is a time of 0, present.
func TestR11LifecycleAtOrigin(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000},"aicore_tasks":[[0,7,7,120,180,10]],
"aicpu_lifecycle_records":[{"aicpu_thread_id":0,"register_release_start_cycles":90,"register_release_end_cycles":91}]}`, "")
	equal(t, "base", tl.Clock.Base, 90)
	span := tl.Rec.Lifecycle[0].Span[4]
	equal(t, "field present", span[0], 90)
	micros(t, "start", tl, span[0], 0)
	micros(t, "end", tl, span[1], 0.001)
	micros(t, "receive", tl, tl.Rows.Receive[0], 0.02)
}

// TestR14Functions resolves function ids (spec/records.md §5.3).
func TestR14Functions(t *testing.T) {
	for _, c := range []struct {
		kernels  string
		aic, aiv int32
	}{
		{"[5,7,8]", 5, 7},
		{"[5,-1,8]", 5, 8},
		{"[-1,7,-1]", -1, 7},
		{"[-1,-1,-1]", -1, -1},
		{"[0,0,3]", 0, 0},
		{"[5,7]", -1, -1}, // not three: no entry of the kernel map (§5.2)
		{"null", -1, -1},
	} {
		tl := build(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1,"core_types":["aic","aiv"]},"aicore_tasks":[[0,1,0,5,6],[1,1,0,5,6],[1,2,1,7,8]]}`,
			`{"tasks":[{"task_id":"1","kernel_ids":`+c.kernels+`,"block_num":1}],"edges":[]}`)
		equal(t, c.kernels+" aic row", tl.Rows.Func[0], c.aic)
		equal(t, c.kernels+" aiv row", tl.Rows.Func[1], c.aiv)
		equal(t, "a task that is not in the graph", tl.Rows.Func[2], -1)
	}
}

// TestSPMDSet is the example of spec/converter.md §3.2, and the rule's other cases.
func TestSPMDSet(t *testing.T) {
	rows := `[[0,1,0,5,6],[1,1,0,5,6],[2,1,0,5,6],[0,2,1,7,8],[1,2,1,7,8],[0,3,2,9,10],[1,3,2,9,10],[0,4,3,9,10],[3,4,3,9,10],[0,5,5,9,10]]`
	records := `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1,"core_types":["aic","aic","aic","aiv"]},"aicore_tasks":` + rows + `}`
	for _, c := range []struct {
		deps string
		want []bool // tasks 1 … 5: 3 rows, 2 rows, 2 rows, 2 rows of two types, 1 row
	}{
		{`{"tasks":[{"task_id":1,"block_num":1},{"task_id":2,"block_num":4}],"edges":[]}`, []bool{false, true, true, false, false}},
		{`{"tasks":[{"task_id":5,"block_num":7},{"task_id":4,"block_num":0},{"task_id":3}],"edges":[]}`, []bool{true, true, false, false, true}},
		{`{"edges":[]}`, []bool{true, true, true, false, false}},
		{"", []bool{true, true, true, false, false}},
	} {
		equalSlices(t, c.deps, build(t, records, c.deps).Tasks.SPMD, c.want)
	}
}

// TestClockDirect: Clock is exported; the arithmetic holds without a capture.
func TestClockDirect(t *testing.T) {
	c := timeline.NewClock(90, 1_000_000_000, 0)
	equal(t, "ns", c.Ns(120), 30)
	equal(t, "µs", c.Micros(120), 0.03)
	equal(t, "span", c.Span(60), 60)
}
