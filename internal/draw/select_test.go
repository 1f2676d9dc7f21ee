package draw_test

import (
	"bytes"
	"context"
	"testing"

	"swimlane/internal/draw"
	"swimlane/internal/trace/check"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// selectCapture: task 1 on core 0 runs 100–200, task 2 on core 1 needs it and
// runs 250–350; one scheduler with queue depths.
const selectCapture = `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","aiv"],"core_to_thread":[0,0]},
"aicore_tasks":[[0,1,1,110,200,10],[1,2,1,260,350,10]],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,90,210],[1,1,240,360]]},
"scheduler_records":{"schema_version":1,"streams":[{"producer":"aicpu","scheduler_id":0,"records":[
{"start_cycles":80,"end_cycles":95,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null},
{"start_cycles":205,"end_cycles":215,"loop_iter":1,"kind":"complete","tasks_processed":1,"task_id":null},
{"start_cycles":230,"end_cycles":245,"loop_iter":2,"kind":"dispatch","tasks_processed":1,"task_id":null}],
"metrics":[{"record_index":0,"shared_at_start":[1,0,0],"shared_at_end":[0,2,0]},{"record_index":2,"shared_at_start":[0,2,0],"shared_at_end":[0,1,0]}]}]}}`

const selectDeps = `{"tasks":[{"task_id":"1","kernel_ids":[0,-1,-1],"block_num":1},{"task_id":"2","kernel_ids":[-1,1,-1],"block_num":1}],"edges":[{"pred":"1","succ":"2"}]}`

// part draws the capture above with a selection.
func part(t *testing.T, only draw.Only, s trace.Selection) (*drawn, *trace.Left) {
	t.Helper()
	whole := convert(t, selectCapture, settings{deps: selectDeps})
	pic, err := draw.New(whole.timeline, draw.Options{Only: only})
	if err != nil {
		t.Fatal(err)
	}
	p, left, err := trace.Select(pic.Trace(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := chrome.Write(context.Background(), &out, p, chrome.Options{}); err != nil {
		t.Fatal(err)
	}
	report, err := check.JSON(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity != check.Note {
			t.Errorf("a viewer would object: %s %q", f.Rule, f.Examples)
		}
	}
	d := &drawn{t: t, timeline: whole.timeline, picture: pic, text: out.Bytes()}
	d.parse()
	return d, left
}

// Time zero is cycle 80. The window is [100, 200) ns: kernel 1 (20–120) reaches
// into it and is clipped, kernel 2 (170–270) too.
func TestWindow(t *testing.T) {
	d, left := part(t, draw.Only{}, trace.Selection{Window: true, From: 100, To: 200})
	one, two := d.slice(4, "func_0_a(t1)"), d.slice(4, "func_1_b(t2)")
	if one.ts != 100 || one.end() != 120 || one.args["clipped"] != "start" {
		t.Errorf("t1: %d … %d, clipped %v; want 100 … 120, start", one.ts, one.end(), one.args["clipped"])
	}
	if two.ts != 170 || two.end() != 200 || two.args["clipped"] != "end" {
		t.Errorf("t2: %d … %d, clipped %v; want 170 … 200, end", two.ts, two.end(), two.args["clipped"])
	}
	if n := len(d.called("dispatch(1)")); n != 1 { // the first, 0–15, lies before the window
		t.Errorf("%d bars dispatch(1), want 1", n)
	}
	// The dependency starts at 20, before the window.
	if n := len(d.arrows("dependency")); n != 0 {
		t.Errorf("%d dependency arrows, want none", n)
	}
	// The queues' depths at the edge are those of the sample at 15.
	var samples []event
	for _, e := range d.events {
		if e.ph == "C" {
			samples = append(samples, e)
		}
	}
	if len(samples) != 2 || samples[0].ts != 100 || number(t, samples[0].args["AIV"]) != 2 || samples[1].ts != 165 || number(t, samples[1].args["AIV"]) != 1 {
		t.Errorf("samples %v", samples)
	}
	// Left out are one dispatch bar; clipped: both kernels, and both tasks in the Scheduler View.
	if left.Slices.Load() != 1 || left.Clipped.Load() != 4 || left.Flows.Load() == 0 || left.Counters.Load() != 1 {
		t.Errorf("left out %d bars (%d clipped), %d arrows, %d samples", left.Slices.Load(), left.Clipped.Load(), left.Flows.Load(), left.Counters.Load())
	}
}

func TestSelectLanes(t *testing.T) {
	for _, tt := range []struct {
		glob  string
		bars  int
		lanes int
	}{
		{"AIC_*", 2, 2}, // in both views
		{"Worker View/AI?_*", 2, 2},
		{"Sched_0", 3, 1},
		{"nothing", 0, 0},
		{"Worker View", 2, 3}, // with AICPU_0
		{"AIC*", 2, 3},        // AIC_0 in both views and AICPU_0, not what the AICPU's processes have
		{"", 7, 7},            // two cores in both views, AICPU_0, Sched_0 and the queue
	} {
		var globs []string
		if tt.glob != "" {
			globs = []string{"no lane", tt.glob}
		}
		d, left := part(t, draw.Only{}, trace.Selection{Lanes: globs})
		if n := len(d.slices(func(*event) bool { return true })); n != tt.bars || len(d.lane) != tt.lanes {
			t.Errorf("%q: %d bars on %d lanes, want %d on %d", tt.glob, n, len(d.lane), tt.bars, tt.lanes)
		}
		if left.Lanes != 7-tt.lanes {
			t.Errorf("%q: %d lanes left out, want %d", tt.glob, left.Lanes, 7-tt.lanes)
		}
	}
	if _, _, err := trace.Select(&trace.Picture{Lanes: []trace.Lane{{}}, Processes: []trace.Process{{}}}, trace.Selection{Lanes: []string{"["}}); err == nil {
		t.Error("a malformed glob is accepted")
	}
}

func TestSelectTasks(t *testing.T) {
	d, _ := part(t, draw.Only{Tasks: map[uint64]bool{2: true}}, trace.Selection{})
	if len(d.called("func_1_b(t2)")) != 2 || len(d.called("func_0_a(t1)")) != 0 {
		t.Error("not just t2 is drawn")
	}
	if n := len(d.arrows("dependency")); n != 0 {
		t.Errorf("%d arrows lead to a task that is not drawn", n)
	}
	d, _ = part(t, draw.Only{Funcs: []string{"no function", "func_0*"}}, trace.Selection{})
	if len(d.called("func_1_b(t2)")) != 0 || len(d.called("func_0_a(t1)")) != 2 {
		t.Error("not just func_0_a is drawn")
	}
	if d.picture.Report.HiddenRows != 1 {
		t.Errorf("%d rows hidden, want 1", d.picture.Report.HiddenRows)
	}
	d, left := part(t, draw.Only{}, trace.Selection{NoFlows: true})
	if len(d.arrows("dependency", "dispatch", "complete")) != 0 || left.Flows.Load() == 0 {
		t.Error("arrows are drawn though none are wanted")
	}
}

// TestNameFits: a slash is a letter like any other.
func TestNameFits(t *testing.T) {
	for _, x := range []struct {
		glob, name string
		want       bool
	}{
		{"*", "ns/a", true}, {"ns*", "ns/a", true}, {"ns/?", "ns/a", true}, {"ns/b", "ns/a", false}, {"QK*", "QK_spmd", true}, {"[", "[", false},
	} {
		equal(t, x.glob+" "+x.name, draw.NameFits(x.glob, x.name), x.want)
	}
}
