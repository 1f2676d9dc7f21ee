package draw_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

// The worked examples of spec/newest.md §17.

const newestN1 = `{"chip_swimlane_level":3,
 "metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000000,"num_cores":1,"core_types":["aiv"]},
 "aicore_tasks":[[0,7,7,120,180,10,0]],
 "scheduler_tasks":{"producer":"aicore","records":[[0,7,115,185,0]]},
 "scheduler_records":{"streams":[{"platform":"a5","producer":"aicore","scheduler_id":2,"worker_id":6,"core_type":"aiv","physical_core_id":9,
  "capture":{"committed":2,"dropped":0,"truncated":false},
  "records":[{"start_cycles":100,"end_cycles":110,"run_epoch":0,"loop_iter":0,"kind":"state_probe","tasks_processed":1,"task_id":7},
             {"start_cycles":111,"end_cycles":119,"run_epoch":0,"loop_iter":1,"kind":"idle","tasks_processed":0,"task_id":null}],
  "metrics":[{"record_index":0,"claim_retries":2}]}]},
 "aicpu_lifecycle_records":[{"aicpu_thread_id":0,"handshake_start_cycles":90,"register_release_start_cycles":97,"exit_wait_end_cycles":184}]}`

// called returns the bars of a name.
func (d *drawn) called(name string) (out []*event) {
	for i := range d.events {
		if e := &d.events[i]; e.ph == "X" && e.name == name {
			out = append(out, e)
		}
	}
	return out
}

func TestN1AICoreSchedulerWithRuns(t *testing.T) {
	d := convert(t, newestN1, settings{})
	if d.timeline.Clock.Base != 90 {
		t.Errorf("base %d, want 90", d.timeline.Clock.Base)
	}
	bars := d.called("task(t7)")
	if len(bars) != 2 {
		t.Fatalf("%d bars task(t7), want one in each view", len(bars))
	}
	for _, b := range bars {
		want := [2]int64{20, 90} // receive to end
		if b.pid == 3 {
			want = [2]int64{25, 95} // dispatch to finish
		}
		if got := [2]int64{b.ts, b.end()}; got != want {
			t.Errorf("pid %d: %v, want %v", b.pid, got, want)
		}
		if b.args["run_epoch"] != json.Number("0") {
			t.Errorf("pid %d: run_epoch %v, want 0", b.pid, b.args["run_epoch"])
		}
	}
	if d.process[2] != "AICore Scheduler" {
		t.Errorf("process 2 is %q", d.process[2])
	}
	for tid, name := range map[int64]string{30000: "Scheduler_0", 30010: "Scheduler_1", 30020: "Scheduler_6"} {
		if d.lane[lane{2, tid}] != name {
			t.Errorf("lane %d is %q, want %q", tid, d.lane[lane{2, tid}], name)
		}
	}
	if probe := d.called("StateProbe(t7)"); len(probe) != 1 || probe[0].tid != 30020 {
		t.Errorf("StateProbe(t7): %v", probe)
	}
	// The order of the arguments is part of the format.
	if !strings.Contains(string(d.text), `"args":{"phase":"state_probe","loop_iter":0,"tasks_processed":1,"run_epoch":0,"task_id":7}`) {
		t.Error("the arguments of StateProbe(t7) differ")
	}
	if d.metadata["runtime"] != "host_build_graph" {
		t.Errorf("metadata %v does not name the runtime", d.metadata)
	}
	for _, bad := range []struct{ old, new, want string }{
		{`"producer":"aicore","records"`, `"producer":"host","records"`, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
		{`[[0,7,115,185,0]]`, `[[0,7,115]]`, "scheduler_tasks.records must contain four- or five-column arrays"},
		{`[[0,7,7,120,180,10,0]]`, `[[3,18446744073709551615,7,120,180,10,0]]`,
			"task_id 0xffffffffffffffff has id space 3 (top two bits), which no real space takes; expected one of [0, 1, 2] -- " +
				"either the invalid sentinel or a corrupt record -- carried by an aicore_tasks row with core_id=3, run_epoch=0"},
	} {
		if _, err := tryConvert(t, strings.Replace(newestN1, bad.old, bad.new, 1), settings{}); err == nil || !strings.HasPrefix(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want %s", bad.new, err, bad.want)
		}
	}
}

const newestN2 = `{"chip_swimlane_level":2,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":50000000,"core_types":["aic","aiv"]},
 "aicore_tasks":[[0,7,1,1000,1100,0,11],[0,7,1,5000,5150,0,12],[1,8,1,1200,1300,0,11],[1,8,1,5210,5300,0,12]],
 "scheduler_tasks":{"producer":"aicpu","records":[[0,1,950,1150,11],[0,1,4950,5200,12],[1,1,1190,1310,11],[1,1,5201,5310,12]]}}`

// Two runs in one file: keys repeat, and no arrow crosses from one to the other.
func TestN2TwoRuns(t *testing.T) {
	d := convert(t, newestN2, settings{deps: `{"tasks":[],"edges":[{"pred":"7","succ":"8"}]}`})
	rows := &d.timeline.Rows
	var epochs []uint64
	var starts []int64
	for row := range rows.Core {
		epochs = append(epochs, d.timeline.Rec.Runs[d.timeline.Tasks.RunOf(rows.Task[row])].Epoch)
		starts = append(starts, d.timeline.Clock.Ns(rows.Start[row]))
	}
	if !slices.Equal(epochs, []uint64{11, 11, 12, 12}) || !slices.Equal(starts, []int64{1000, 5000, 81000, 85200}) {
		t.Errorf("runs %v start at %v", epochs, starts)
	}
	bars := d.called("task(r0t7)")
	if len(bars) != 4 {
		t.Fatalf("%d bars task(r0t7), want two in each view", len(bars))
	}
	for _, v := range []int64{3, 4} {
		n := 0
		for _, a := range d.arrows("dependency") {
			if a.from.pid != v {
				continue
			}
			n++
			from, err1 := d.holder(a.from)
			to, err2 := d.holder(a.to)
			if err1 != nil || err2 != nil || fmt.Sprint(from.args["run_epoch"]) != fmt.Sprint(to.args["run_epoch"]) {
				t.Errorf("an arrow leads from run %v to run %v", from.args["run_epoch"], to.args["run_epoch"])
			}
		}
		if n != 2 {
			t.Errorf("%d arrows in process %d, want one for each run", n, v)
		}
	}
	if r := d.picture.Report; r.Drawn != 1 || r.Edges != 1 {
		t.Errorf("%d of %d edges drawn, want 1 of 1", r.Drawn, r.Edges)
	}
	_, err := tryConvert(t, strings.Replace(newestN2, "[0,1,4950,5200,12],", "", 1), settings{})
	if want := "level 2 requires Scheduler task timing for every AICore task; missing 1 join key(s): (12, 0, 1)"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = tryConvert(t, strings.Replace(newestN2, "[0,7,1,5000,5150,0,12]", "[0,7,1,5000,5150,0,11]", 1), settings{})
	if want := "duplicate aicore_tasks join key: (11, 0, 1)"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Task ids by the rules of their runtime.
func TestN3TaskIDs(t *testing.T) {
	for _, tt := range []struct {
		runtime, id, label string
	}{
		{"host_build_graph", "12", "task(t12)"},
		{"host_build_graph", "4611686031312289792", "task(g3t0)"},
		{"host_build_graph", "4611686048492158981", "task(g7t5)"},
		{"host_build_graph", "9223372036854775810", "task(p2)"},
		{"host_build_graph", "4294967305", "task(t9)"},
		{"tensormap_and_ringbuffer", "4294967305", "task(r1t9)"},
		{"tensormap_and_ringbuffer", "7", "task(r0t7)"},
		{"tensormap_and_ringbuffer", "8589934597", "task(r2t5)"},
	} {
		d := convert(t, `{"chip_swimlane_level":1,"metadata":{"runtime":"`+tt.runtime+`","clock_freq_hz":1000000000},"aicore_tasks":[[0,`+tt.id+`,1,10,20,0,1]]}`, settings{})
		if len(d.called(tt.label)) != 1 {
			t.Errorf("%s id %s: no bar %s", tt.runtime, tt.id, tt.label)
		}
	}
}

// The numbers of example C13 of spec/converter.md with ids, names and keys of today.
func TestN4Graphs(t *testing.T) {
	const sub = uint64(1) << 62
	prepare := func(task, start, end int) string {
		return fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"run_epoch":1,"loop_iter":0,"kind":"graph_prepare","tasks_processed":1,"task_id":%d}`, start, end, task)
	}
	g := func(parent, local uint64) uint64 { return sub | parent<<32 | local }
	// 10 MHz: 0.1 µs a cycle; 100 cycles are added so that no time is 0.
	records := fmt.Sprintf(`{"chip_swimlane_level":3,"metadata":{"runtime":"host_build_graph","clock_freq_hz":10000000,"core_types":["aic","aiv"]},
"aicore_tasks":[[0,%d,1,122,130,1,1],[1,%d,1,134,140,1,1],[0,%d,2,155,160,1,1]],
"scheduler_tasks":{"producer":"aicpu","records":[[0,1,120,140,1],[1,1,132,150,1],[0,2,153,170,1]]},
"scheduler_records":{"streams":[{"producer":"aicpu","scheduler_id":0,"records":[%s,%s,%s],"metrics":[]}]}}`,
		g(3, 0), g(3, 1), g(7, 0), prepare(3, 110, 114), prepare(3, 115, 118), prepare(7, 150, 152))
	d := convert(t, records, settings{})

	for _, want := range []struct {
		name              string
		ts, end           int64
		count, prepare    string
		prepared, started string
	}{
		{"GraphExecution(t3, 2 visible sub-tasks)", 1000, 5000, "2", "2", "0.700", "1.000"},
		{"GraphExecution(t7, 1 visible sub-tasks)", 5000, 7000, "1", "1", "0.200", "4.300"},
	} {
		bars := d.called(want.name)
		if len(bars) != 1 {
			t.Fatalf("%d bars %s", len(bars), want.name)
		}
		b := bars[0]

		if b.ts != want.ts-1000 || b.end() != want.end-1000 {
			t.Errorf("%s: %d … %d, want %d … %d", want.name, b.ts, b.end(), want.ts-1000, want.end-1000)
		}
		for key, v := range map[string]string{
			"visible_sub_task_count": want.count, "prepare_slice_count": want.prepare, "prepare_duration_us": want.prepared,
			"execution_start_us": want.started, "run_epoch": "1", "synthetic_id_layout": "space1:(outer_task_id << 32) | sub_task_local_id",
		} {
			if fmt.Sprint(b.args[key]) != v {
				t.Errorf("%s: %s is %v, want %s", want.name, key, b.args[key], v)
			}
		}
	}
	if n := len(d.called("graph_prepare(1)")); n != 3 {
		t.Errorf("%d bars graph_prepare(1), want 3", n)
	}
}

func TestN5SkippedWithoutGraph(t *testing.T) {
	d := convert(t, `{"chip_swimlane_level":3,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":1000000000},"aicore_tasks":[],
"scheduler_tasks":{"producer":"aicpu","records":[]},
"scheduler_records":{"streams":[{"producer":"aicpu","scheduler_id":0,"records":[
{"start_cycles":2000,"end_cycles":2000,"run_epoch":0,"loop_iter":0,"kind":"predicated_skip","tasks_processed":1,"task_id":4294967298}],"metrics":[]}]}}`, settings{})
	bars := d.called("task(r1t2)")
	if len(bars) != 1 || bars[0].lane != (lane{4, 19000}) {
		t.Fatalf("task(r1t2): %v", bars)
	}
	if !strings.Contains(string(d.text), `"args":{"loop_iter":0,"task_id":4294967298,"event-hint":"task(r1t2)","predicated_pass":false,"run_epoch":0}`) {
		t.Errorf("args %v", bars[0].args)
	}
}

// A saved alignment puts the device on the host's axis (spec/newest.md §7, N6).
func TestN6SavedAlignment(t *testing.T) {
	const records = `{"chip_swimlane_level":4,"metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000000,"core_types":["aic"],
"orchestrator_source":"host","host_orchestration_origin_ns":1000000,
"host_capture":{"status":"complete","expected_records":1,"recorded_records":1,"dropped_records":0,"error":null}%s},
"aicore_tasks":[[0,7,1,1000500,1000600,0,1]],"scheduler_tasks":{"producer":"aicpu","records":[[0,1,1000400,1000650,1]]},
"scheduler_records":{"streams":[{"producer":"aicpu","scheduler_id":0,"records":[
{"start_cycles":1000300,"end_cycles":1000700,"run_epoch":1,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null}],"metrics":[]}]},
"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1000000,"end_host_ns":1000100}]],
"host_device_uploads":[{"phase":"sm_h2d","start_host_ns":1000200,"end_host_ns":1000300,"detail":1}]}`
	saved := `,"clock_alignment":{"status":"bounded","device_anchor_cycles":1000300,"host_anchor_ns":2000750,"host_anchor_min_ns":2000700,"host_anchor_max_ns":2003800}`
	for _, tt := range []struct {
		name, alignment string
		dispatch        int64 // ns
		layout          string
		submits         int
	}{
		{"saved", saved, 1_000_850, "containment_spliced", 1},
		{"none: uploads take part in the seam", "", 300 + 100, "causal_composite", 0},
		{"unavailable", `,"clock_alignment":{"status":"unavailable","reason":"no Host log available"}`, 400, "causal_composite", 0},
		{"invalid", strings.Replace(saved, "2000700", "2000800", 1), 400, "causal_composite", 0},
		{"before the host", strings.NewReplacer("2000750", "900000", "2000700", "900000").Replace(saved), 400, "causal_composite", 0},
	} {
		d := convert(t, fmt.Sprintf(records, tt.alignment), settings{})
		bars := d.called("task(t7)")
		if len(bars) != 2 || bars[1].ts != tt.dispatch {
			t.Errorf("%s: the dispatch is drawn at %v, want %d", tt.name, bars, tt.dispatch)
		}
		if d.metadata["layout"] != tt.layout {
			t.Errorf("%s: layout %v, want %s", tt.name, d.metadata["layout"], tt.layout)
		}
		if n := len(d.arrows("submit→dispatch")); n != tt.submits {
			t.Errorf("%s: %d arrows submit→dispatch, want %d", tt.name, n, tt.submits)
		}
		invalid := slices.ContainsFunc(d.timeline.Rec.Warnings, func(w capture.Warning) bool {
			return w.Text == "ignoring saved clock alignment: invalid clock_alignment bounds"
		})
		if invalid != (tt.name == "invalid") {
			t.Errorf("%s: warnings %v", tt.name, d.timeline.Rec.Warnings)
		}
		dropped := slices.ContainsFunc(d.timeline.Warnings, func(w capture.Warning) bool {
			return w.Text == "ignoring saved clock alignment: it puts cycle 1000300 before the host's origin, so it is not of this capture"
		})
		if dropped != (tt.name == "before the host") {
			t.Errorf("%s: warnings %v", tt.name, d.timeline.Warnings)
		}
	}
}

// TestN8Placement is example N8 of spec/newest.md §17 (R13 of spec/records.md):
// the mapping c − 175 ns, here as a saved alignment, for rows that name a run.
func TestN8Placement(t *testing.T) {
	for _, x := range []struct {
		name, host             string
		dispatch, start, epoch string
	}{
		{"the axis starts at the least time of the anchor", "", "", "0.925", "7"},
		{"the axis starts at the host's origin", `"orchestrator_source":"host","host_orchestration_origin_ns":1500,`, "0.325", "0.425", "7"},
	} {
		records := `{"chip_swimlane_level":2,"metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000000,` + x.host +
			`"clock_alignment":{"status":"bounded","device_anchor_cycles":1175,"host_anchor_ns":1000,"host_anchor_min_ns":1000,"host_anchor_max_ns":4000}},
			"aicore_tasks":[[0,7,1,2100,2200,0,7]],"scheduler_tasks":{"producer":"aicpu","records":[[0,1,2000,2300,7]]}`
		if x.host != "" {
			records += `,"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1500,"end_host_ns":1800}]]`
		}
		d := convert(t, records+"}", settings{})
		bar := d.slice(4, "task(t7)")
		equal(t, x.name+": start", us(bar.ts), x.start)
		equal(t, x.name+": run", bar.args["run_epoch"], any(json.Number(x.epoch)))
		if x.host != "" {
			equal(t, x.name+": dispatch", us(d.slice(3, "task(t7)").ts), x.dispatch)
			submit := d.slice(1, "submit(t7)")
			equal(t, x.name+": submit", us(submit.ts)+"–"+us(submit.end()), "0–0.3")
		}
	}
}

// Two kernel launches in one file: tokens and ids start again (spec/newest.md §8).
func TestLaunches(t *testing.T) {
	d := convert(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","aiv"],"run_boundaries":[[4,1000],[5,2000]]},
"aicore_tasks":[[0,7,1,1500,1600,0],[1,8,1,1700,1800,0],[0,7,1,2500,2600,0],[1,8,1,2700,2800,0]],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,1450,1650],[1,1,1660,1850],[0,1,2450,2650],[1,1,2660,2860]]}}`,
		settings{deps: `{"tasks":[],"edges":[{"pred":"7","succ":"8"}]}`})
	if d.process[7] != "Kernel Launches" {
		t.Errorf("process 7 is %q", d.process[7])
	}
	for _, want := range []struct {
		name    string
		ts, end int64
		epoch   json.Number
	}{{"Launch 4", 0, 850, "4"}, {"Launch 5", 1000, 1860, "5"}} {
		bars := d.called(want.name)
		if len(bars) != 1 || bars[0].ts != want.ts || bars[0].end() != want.end || bars[0].args["launch_epoch"] != want.epoch || bars[0].args["end_basis"] != "last_observed_record" {
			t.Errorf("%s: %v", want.name, bars)
		}
	}
	// Labels stay as they are without a runtime; every bar says its launch.
	if n := len(d.called("task(t7)")); n != 4 {
		t.Errorf("%d bars task(t7), want two in each view", n)
	}
	for i := range d.events {
		if e := &d.events[i]; e.ph == "X" && e.args["launch_epoch"] == nil {
			t.Errorf("%s does not say its launch", e.name)
		}
	}
	if n := len(d.arrows("dependency")); n != 4 {
		t.Errorf("%d arrows, want one for each launch and view", n)
	}
	if got := fmt.Sprint(d.metadata["run_boundaries"]); got != "[map[launch_epoch:4 start_time_us:0.000] map[launch_epoch:5 start_time_us:1.000]]" {
		t.Errorf("metadata %s", got)
	}
}

// hostOfTwoRuns is a host-orchestrated capture of two runs, whose clocks are aligned.
const hostOfTwoRuns = `{"chip_swimlane_level":4,"metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000000,"core_types":["aic"],
"orchestrator_source":"host","host_orchestration_origin_ns":1000000,
"host_capture":{"status":"complete","expected_records":3,"recorded_records":3,"dropped_records":0,"error":null},
"clock_alignment":{"status":"bounded","device_anchor_cycles":1000300,"host_anchor_ns":2000750,"host_anchor_min_ns":2000700,"host_anchor_max_ns":2003800}},
"aicore_tasks":[[0,7,1,1000500,1000600,0,11],[0,8,1,1002500,1002600,0,12],[0,7,2,1003500,1003600,0,12]],"scheduler_tasks":{"producer":"aicpu","records":[[0,1,1000400,1000650,11],[0,1,1002400,1002650,12],[0,2,1003400,1003650,12]]},
"scheduler_records":{"streams":[{"producer":"aicpu","scheduler_id":0,"records":[
{"start_cycles":1000300,"end_cycles":1000700,"run_epoch":11,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null},
{"start_cycles":1002300,"end_cycles":1002700,"run_epoch":12,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null},
{"start_cycles":1003300,"end_cycles":1003700,"run_epoch":12,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null}],"metrics":[]}]},
"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1000000,"end_host_ns":1000100,"run_epoch":5},{"submit_idx":1,"task_id":8,"start_host_ns":1000200,"end_host_ns":1000300},{"submit_idx":2,"task_id":7,"start_host_ns":1000400,"end_host_ns":1000500}]]}`

// TestHostSubmitsOfSeveralRuns: submits of the host name no run, whatever they
// say (spec/newest.md §3.1), and are of the runs in their order.
func TestHostSubmitsOfSeveralRuns(t *testing.T) {
	d := convert(t, hostOfTwoRuns, settings{})
	if got := d.arrows("submit→dispatch"); len(got) != 3 {
		t.Errorf("arrows %v, want one for each task", got)
	}
	for _, e := range d.inProcess(4) {
		if strings.HasPrefix(e.name, "alloc") {
			t.Errorf("%s is drawn, although every task ran", e.name)
		}
	}
	for _, e := range d.inProcess(1) {
		if e.args["run_epoch"] != nil {
			t.Errorf("%s names a run", e.name)
		}
	}
	equal(t, "runs", len(d.timeline.Rec.Runs), 2)
}

// TestRetainedRun: a run that was written in the background and is not whole is
// drawn as a part, and declares a loss (spec/newest.md §9).
func TestRetainedRun(t *testing.T) {
	const text = `{"chip_swimlane_level":2,"metadata":{"runtime":"tensormap_and_ringbuffer","collection":{"run_epoch":3,"not_received_buffers":2,"verdict":"%s"},"clock_freq_hz":1000},
		"aicore_tasks":[[0,7,1,10,20,0,3],[0,8,2,30,40,0,3]],"scheduler_tasks":{"producer":"aicpu","records":[[0,1,5,25,3]]}}`
	d := convert(t, fmt.Sprintf(text, "partial_safe"), settings{})
	equal(t, "trace_status", d.metadata["trace_status"], any("partial"))
	equal(t, "rows", len(d.inProcess(4)), 2)
	if _, err := tryConvert(t, fmt.Sprintf(text, "published"), settings{}); err == nil {
		t.Error("a whole run may lack the partner of a kernel row")
	}
	whole := strings.Replace(fmt.Sprintf(text, "published"), ",[0,8,2,30,40,0,3]", "", 1)
	equal(t, "trace_status of a whole run", convert(t, whole, settings{}).metadata["trace_status"], any("complete"))
}

// TestUploadsOnAlignedAxis: uploads without submits lie on the axis of the aligned
// device: it starts at the earlier of the first upload and the anchor's least time.
func TestUploadsOnAlignedAxis(t *testing.T) {
	d := convert(t, `{"chip_swimlane_level":1,"metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000000,
		"clock_alignment":{"status":"bounded","device_anchor_cycles":1000300,"host_anchor_ns":2000750,"host_anchor_min_ns":2000700,"host_anchor_max_ns":2003800}},
		"aicore_tasks":[[0,7,1,1000400,1000600,0,1]],"host_device_uploads":[{"phase":"sm_h2d","start_host_ns":2000200,"end_host_ns":2000300,"detail":1}]}`, settings{})
	upload, kernel := d.slice(1, "sm_h2d"), d.slice(4, "task(t7)")
	equal(t, "upload", us(upload.ts)+"–"+us(upload.end()), "0–0.1")
	equal(t, "kernel", us(kernel.ts)+"–"+us(kernel.end()), "0.65–0.85") // 2000850 and 2001050 ns
}
