package draw_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/names"
)

// Examples C6 to C18 of spec/converter.md §10.

func TestC6ResolverThread(t *testing.T) {
	sampled := func(x phase, from, to []int) phase { x.from, x.to = from, to; return x }
	m := &made{threads: []int{0}, streams: []stream{{id: 1, records: []phase{
		sampled(p("resolve_standalone", 1, 2).with(1, nil), []int{1, 2, 3}, []int{4, 5, 6}),
		sampled(p("async_poll", 2, 3), []int{4, 5, 6}, []int{7, 8, 9}),
		sampled(p("dummy", 3, 4), []int{7, 8, 9}, []int{10, 11, 12}),
	}}}}
	d := m.draw(t, settings{})
	equalSlices(t, "bars", spans(d.inProcess(2)), []string{"resolve(1) 2/30010 1–2", "async_poll(0) 2/30010 2–3", "dummy(0) 2/30010 3–4"})
	equal(t, "args of the resolve", jsonText(t, d.slice(2, "resolve(1)").args),
		`{"loop_iter":0,"phase":"resolve","shared_at_end (aic,aiv,mix)":[4,5,6],"shared_at_start (aic,aiv,mix)":[1,2,3],"tasks_processed":1}`)
	var samples []string
	for _, e := range d.events {
		if e.ph == "C" {
			equal(t, "counter", e.name+" "+e.cat, "shared_ready_queue queue")
			equal(t, "its place", e.lane, lane{2, 3999})
			samples = append(samples, us(e.ts)+" "+jsonText(t, e.args))
		}
	}
	equalSlices(t, "samples", samples, []string{`2 {"AIC":4,"AIV":5,"MIX":6}`, `3 {"AIC":7,"AIV":8,"MIX":9}`, `4 {"AIC":10,"AIV":11,"MIX":12}`})
	equalSlices(t, "lanes", d.laneNames(2), []string{"shared_ready_queue (global)", "Sched_0", "Sched_1"})
}

// TestQueueSamples: which bars sample the queues where the stream does not only resolve.
func TestQueueSamples(t *testing.T) {
	var records []phase
	for i, kind := range []string{"complete", "dispatch", "resolve", "async_poll", "dummy", "release", "idle", "frobnicate"} {
		x := p(kind, float64(i), float64(i)+0.5)
		x.from, x.to = []int{0, 0, 0}, []int{i, i, i}
		records = append(records, x)
	}
	short := p("complete", 20, 21)
	short.from, short.to = []int{1, 2}, []int{1, 2} // not three entries
	records = append(records, short)
	d := (&made{streams: []stream{{id: 0, records: records}}}).draw(t, settings{})
	var samples []string
	for _, e := range d.events {
		if e.ph == "C" {
			samples = append(samples, us(e.ts))
		}
	}
	equalSlices(t, "samples at", samples, []string{"0.5", "1.5"})
}

func TestC7NestedResolve(t *testing.T) {
	for name, c := range map[string]struct {
		resolve phase
		tid     int64
	}{
		"nested":               {p("resolve", 2, 3), 30001},
		"ends with its parent": {p("resolve", 1, 4), 30000},
		"standalone":           {p("resolve_standalone", 2, 3), 30000},
	} {
		t.Run(name, func(t *testing.T) {
			d := (&made{streams: []stream{{id: 0, records: []phase{p("complete", 1, 4), c.resolve}}}}).draw(t, settings{})
			equal(t, "complete", d.slice(2, "complete(0)").tid, 30000)
			resolve := d.slice(2, "resolve(0)")
			if c.tid == 30000 {
				// One of the two starts and ends with the other; it may have to give way to a sub-lane.
				name := d.lane[resolve.lane]
				equal(t, "lane of the resolve", strings.TrimSuffix(name, " (2)"), "Sched_0")
				return
			}
			equal(t, "resolve", resolve.tid, c.tid)
			equal(t, "its lane", d.lane[resolve.lane], "Sched_0")
			equalSlices(t, "lanes", d.laneNames(2), []string{"shared_ready_queue (global)", "Sched_0", "Sched_0"})
		})
	}
}

func TestC8AICoreLane(t *testing.T) {
	task := func(kind string, start float64, id int) phase { return p(kind, start, start+1).with(1, id) }
	m := &made{streams: []stream{{id: 4, worker: 36, physical: 26, producer: "aicore", records: []phase{
		p("complete", 1, 4).with(1, 23), task("resolve", 2, 23), task("state_probe", 4, 5), task("dispatch", 5, 5),
		task("worksteal", 6, 7), task("refill", 7, 9),
	}}}}
	d := m.draw(t, settings{appearance: true})
	equal(t, "process", d.process[2], "AICore Scheduler")
	equalSlices(t, "lanes", d.laneNames(2), []string{"shared_ready_queue (global)", "Scheduler_26"})
	var bars []string
	for _, e := range d.onLane(lane{2, 30000}) {
		bars = append(bars, e.name+" "+jsonText(t, e.args["task_id"]))
	}
	equalSlices(t, "bars", bars, []string{"Completion(t23) 23", "Resolve(t23) 23", "StateProbe(t5) 5", "Dispatch(t5) 5", "Worksteal(t7) 7", "Refill(t9) 9"})
	equal(t, "bars in all", len(d.inProcess(2)), 6)
	equal(t, "phase of the completion", d.slice(2, "Completion(t23)").args["phase"], any("complete"))

	// Placed by id, the lane is the one of scheduler 4 and others stand before it.
	d = m.draw(t, settings{})
	equalSlices(t, "lanes by id", d.laneNames(2), []string{"shared_ready_queue (global)", "Scheduler_0", "Scheduler_1", "Scheduler_2", "Scheduler_3", "Scheduler_26"})
	equal(t, "lane", d.slice(2, "Refill(t9)").tid, 30040)
}

// TestSchedulerNames: process and lanes by producer (spec/converter.md §4.7).
func TestSchedulerNames(t *testing.T) {
	for name, c := range map[string]struct {
		streams []stream
		process string
		lanes   []string
	}{
		"aicpu":             {[]stream{{id: 0}, {id: 1}}, "AICPU Scheduler", []string{"Sched_0", "Sched_1"}},
		"aicore":            {[]stream{{id: 0, producer: "aicore", physical: 7}, {id: 1, producer: "aicore"}}, "AICore Scheduler", []string{"Scheduler_7", "Scheduler_1"}},
		"both":              {[]stream{{id: 0, producer: "aicore", physical: 7}, {id: 1}}, "AICPU Scheduler", []string{"Scheduler_7", "Sched_1"}},
		"placed by id":      {[]stream{{id: 2}}, "AICPU Scheduler", []string{"Sched_0", "Sched_1", "Sched_2"}},
		"ids beyond a byte": {[]stream{{id: 300}}, "AICPU Scheduler", []string{"Sched_300"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := (&made{streams: c.streams}).draw(t, settings{})
			equal(t, "process", d.process[2], c.process)
			equalSlices(t, "lanes", d.laneNames(2)[1:], c.lanes)
		})
	}
}

func TestC10Dummies(t *testing.T) {
	const one, two, three = 1<<32 | 1, 2<<32 | 1, 3<<32 | 1
	m := &made{threads: []int{0, 1, 2}, streams: []stream{{id: 0}, {id: 3},
		{id: 1, records: []phase{p("dummy_task", 1, 1).with(1, one)}},
		{id: 2, records: []phase{p("dummy_task", 2, 2).with(1, two)}}},
		submits: [][]submit{{{three, 3000, 4000}}}}
	none := [3]int{-1, -1, -1}
	d := m.draw(t, settings{deps: deps(t, []depTask{{one, none, 1}, {two, none, 1}}, [2]uint64{one, two})})
	equalSlices(t, "worker lanes", d.laneNames(4), []string{"AICPU_0", "AICPU_1", "AICPU_2", "AICPU_3"})
	equal(t, "first", d.lane[lane{4, 19000}], "AICPU_0")
	equalSlices(t, "bars", spans(d.inProcess(4)), []string{"dummy(r1t1) 4/19001 1–1.02", "dummy(r2t1) 4/19002 2–2.02", "alloc(r3t1) 4/19003 3–4"})
	d.wantArrows(d.arrows(), arrow.counted, "dependency 4/19001@1 → 4/19002@2 out 1 in 1")
	equalSlices(t, "scheduler lanes", d.laneNames(2)[1:], []string{"Sched_0", "Sched_1", "Sched_2", "Sched_3"})
}

func TestC11DummyWithoutRecord(t *testing.T) {
	const id = 1<<32 | 1
	m := &made{streams: []stream{{id: 0}}, submits: [][]submit{{{id, 1000, 2000}, {id, 2000, 3000}}}}
	d := m.draw(t, settings{deps: deps(t, []depTask{{id, [3]int{-1, -1, -1}, 1}})})
	equal(t, "bars in the Worker View", len(d.inProcess(4)), 0)
	w := d.picture.Report.Warnings
	if len(w) != 1 || !strings.Contains(w[0].Text, "dummy(r1t1) has no dummy_task scheduler record") {
		t.Errorf("warnings %v, want one about dummy(r1t1)", w)
	}
}

// TestGraphTaskIsNoDummy: a graph task runs nothing itself and has no dummy
// record; its bar is that of the Graph Execution view.
func TestGraphTaskIsNoDummy(t *testing.T) {
	const id = 1
	m := &made{streams: []stream{{id: 0, records: []phase{p("graph_prepare", 1, 2).with(1, id)}}}, submits: [][]submit{{{id, 0, 500}}}}
	d := m.draw(t, settings{deps: deps(t, []depTask{{id, [3]int{-1, -1, -1}, 1}})})
	if w := d.picture.Report.Warnings; len(w) != 0 {
		t.Errorf("warnings %v, want none", w)
	}
	equal(t, "bars in the Worker View", len(d.inProcess(4)), 0)
}

func TestC12PredicatedSkip(t *testing.T) {
	const skip, consumer = 1<<32 | 2, 1<<32 | 3
	m := &made{streams: []stream{{id: 0, records: []phase{p("predicated_skip", 2, 2).with(1, skip)}}},
		submits: [][]submit{{{skip, 1000, 1500}}}, rows: []row{r(consumer, 0, 3, 3.5, 4, 5)}}
	d := m.draw(t, settings{deps: deps(t, []depTask{{skip, [3]int{21, -1, -1}, 2}}, [2]uint64{skip, consumer}),
		names: names.NewMap("", map[int64]string{21: "exp_gate_mm"})})
	marker := d.slice(4, "exp_gate_mm_spmd(r1t2)")
	equal(t, "marker", span(marker), "exp_gate_mm_spmd(r1t2) 4/19000 2–2.02")
	equal(t, "colour", marker.cname, "")
	equal(t, "args", jsonText(t, marker.args), `{"event-hint":"exp_gate_mm_spmd(r1t2)","loop_iter":0,"predicated_pass":false,"task_id":4294967298}`)
	d.wantArrows(d.dependencies(4), arrow.counted, "dependency 4/19000@2 → 4/10000@3.5 out 2 in 1")
	equal(t, "bars in the Worker View", len(d.inProcess(4)), 2)

	d = m.draw(t, settings{})
	d.slice(4, "task(r1t2)")
	equal(t, "bars without a graph", len(d.inProcess(4)), 2)
}

func TestC13Graphs(t *testing.T) {
	graph := func(start, end float64, id int) phase { return p("graph_prepare", start, end).with(1, id) }
	m := &made{
		streams: []stream{{id: 0, records: []phase{graph(1, 1.4, 3), graph(1.5, 1.8, 3), graph(5, 5.2, 7)}}},
		rows:    []row{r(1<<32|3072, 0, 2, 2.1, 2.2, 3), r(1<<32|3073, 1, 3.2, 3.3, 3.4, 4), r(1<<32|7168, 0, 5.3, 5.4, 5.5, 6)}}
	fn := [3]int{-1, 0, -1}
	d := m.draw(t, settings{deps: deps(t, []depTask{{1<<32 | 3072, fn, 1}, {1<<32 | 3073, fn, 1}, {1<<32 | 7168, fn, 1}})})
	equalSlices(t, "lanes", d.laneNames(5), []string{"Graph_0"})
	equalSlices(t, "bars", spans(d.inProcess(5)), []string{
		"GraphExecution(t3, 2 visible in-graph tasks) 5/5000 1–5", "GraphExecution(t7, 1 visible in-graph tasks) 5/5000 5–7"})
	var args []string
	for _, e := range d.inProcess(5) {
		equal(t, "category and colour", e.cat+" "+e.cname, "graph_execution rail_animation")
		args = append(args, jsonText(t, e.args))
	}
	equalSlices(t, "args", args, []string{
		`{"execution_duration_us":3.000,"execution_start_us":2.000,"outer_task_id":3,"prepare_duration_us":0.700,"prepare_slice_count":2,` +
			`"synthetic_id_layout":"ring1:(outer_task_id \u003c\u003c 10) | in_graph_local_id","visible_in_graph_local_id_max":1,"visible_in_graph_local_id_min":0,"visible_in_graph_task_count":2}`,
		`{"execution_duration_us":1.700,"execution_start_us":5.300,"outer_task_id":7,"prepare_duration_us":0.200,"prepare_slice_count":1,` +
			`"synthetic_id_layout":"ring1:(outer_task_id \u003c\u003c 10) | in_graph_local_id","visible_in_graph_local_id_max":0,"visible_in_graph_local_id_min":0,"visible_in_graph_task_count":1}`})
	equalSlices(t, "bars of the scheduler", names1(d.inProcess(2)), []string{"graph_prepare(1)", "graph_prepare(1)", "graph_prepare(1)"})
	d.slice(4, "func_0_a(r1t3072)")
}

const c14 = `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000,"core_types":["aiv"],"core_to_thread":[0]},
"aicore_tasks":[[0,1,1,12,20,1],[0,2,2,24,30,1]],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,10,21],[0,2,22,32]]},
"scheduler_records":{"schema_version":1,"streams":[{"producer":"aicpu","scheduler_id":0,"worker_id":0,"core_type":"aicpu","physical_core_id":null,
"records":[{"kind":"dispatch","start_cycles":9,"end_cycles":11,"loop_iter":0,"tasks_processed":1,"task_id":null},
{"kind":"complete","start_cycles":19,"end_cycles":20,"loop_iter":0,"tasks_processed":1,"task_id":null},
{"kind":"dispatch","start_cycles":20,"end_cycles":20,"loop_iter":0,"tasks_processed":1,"task_id":null},
{"kind":"complete","start_cycles":21,"end_cycles":22,"loop_iter":0,"tasks_processed":1,"task_id":null},
{"kind":"complete","start_cycles":31,"end_cycles":33,"loop_iter":0,"tasks_processed":1,"task_id":null}],"metrics":[]}]}}`

func TestC14Ready(t *testing.T) {
	edge := deps(t, nil, [2]uint64{1, 2})
	// Task 2 is dispatched just as the record ends that released it. Nothing else lies there, so the
	// arrow ends in that record too, a ns before its end.
	d := convert(t, c14, settings{deps: edge})
	d.wantArrows(d.arrows("complete→ready"), arrow.String, "complete→ready 2/30000@12.99 → 2/30000@12.999")
	equal(t, "left out", len(d.picture.Report.Unbound), 0)
	completes := d.slices(func(e *event) bool { return e.name == "complete(1)" })
	equal(t, "rows attributed to the first", jsonText(t, completes[0].args["finish_rows_attributed"]), "0")
	equal(t, "rows attributed to the second", jsonText(t, completes[1].args["finish_rows_attributed"]), "1")
	equal(t, "the dispatch without length", span(d.slices(func(e *event) bool { return e.ts == 11000 && e.pid == 2 })[0]), "dispatch(1) 2/30000 11–11")

	// With a dispatch record at that instant the arrow ends there.
	d = convert(t, strings.Replace(c14, `"start_cycles":20,"end_cycles":20`, `"start_cycles":22,"end_cycles":23`, 1), settings{deps: edge})
	d.wantArrows(d.arrows("complete→ready"), arrow.String, "complete→ready 2/30000@12.99 → 2/30000@13")
	d.seated()
}

func TestC14Overlap(t *testing.T) {
	records := strings.NewReplacer("[0,2,2,24,30,1]", "[0,2,2,22,30,1]", "[0,2,22,32]", "[0,2,20,32]").Replace(c14)
	d := convert(t, records, settings{deps: deps(t, nil, [2]uint64{1, 2})})
	equal(t, "complete→ready arrows", len(d.arrows("complete→ready")), 0)
	equal(t, "lanes", strings.Join(d.laneNames(3), ", "), "AIV_0, AIV_0 (2)")
	equalSlices(t, "bars", spans(d.inProcess(3)), []string{"task(t1) 3/10000 1–12", "task(t2) 3/10001 11–23"})
	d.wantArrows(d.dependencies(3), arrow.String, "hb_violation 3/10000@1 → 3/10001@11")
	d.wantArrows(d.dependencies(4), arrow.String, "dependency 4/10000@2 → 4/10000@12")
	d.seated()
}

const c15 = `{"chip_swimlane_level":4,
"metadata":{"clock_freq_hz":1000000,"orchestrator_source":"host","host_orchestration_origin_ns":1000,
 "host_capture":{"status":"complete","expected_records":1,"recorded_records":1,"pool_records":1,"dropped_records":0,"error":null}},
"aicore_tasks":[[0,7,1,100,110,0]],"aicpu_tasks":[[0,1,90,120]],
"aicpu_scheduler_phases":[[{"kind":"dispatch","start_cycles":80,"end_cycles":85,"tasks_processed":1},{"kind":"dispatch","start_cycles":89,"end_cycles":91,"tasks_processed":1}]],
"host_orchestrator_phases":[[{"submit_idx":0,"task_id":7,"start_host_ns":1000,"end_host_ns":3000}]],
"host_device_uploads":[{"phase":"graph_upload","start_host_ns":3000,"end_host_ns":4500,"detail":4096}]}`

func TestC15HostComposite(t *testing.T) {
	d := convert(t, c15, settings{})
	equal(t, "Worker View", span(d.slice(4, "task(t7)")), "task(t7) 4/10000 22–32")
	equal(t, "Scheduler View", span(d.slice(3, "task(t7)")), "task(t7) 3/10000 12–42")
	equal(t, "dispatch", span(d.inProcess(2)[0]), "dispatch(1) 2/30000 2–7")
	equal(t, "process", d.process[1], "Host Orchestrator")
	equal(t, "sort index", d.sort[1], 1)
	equal(t, "host lane", d.lane[lane{1, 4000}], "Host_0")
	equal(t, "upload lane", d.lane[lane{1, 4100}], "H2D")
	equal(t, "submit", span(d.slice(1, "submit(t7)")), "submit(t7) 1/4000 0–2")
	upload := d.slice(1, "graph_upload")
	equal(t, "upload", span(upload), "graph_upload 1/4100 2–3.5")
	equal(t, "its bytes", jsonText(t, upload.args), `{"bytes":4096}`)
	equal(t, "its form", upload.cat+" "+upload.cname, "host_h2d thread_state_iowait")
	equalSlices(t, "AICPU lanes", d.laneNames(4), []string{"AIV_0", "AICPU_0", "AICPU_1"})
	// Both from where the row was dispatched; no arrow from the host, whose clock is another one.
	d.wantArrows(d.arrows(), arrow.String, "dispatch 2/30000@12 → 4/10000@22", "dispatch 2/30000@12 → 3/10000@12")
	equal(t, "layout", d.metadata["layout"], any("causal_composite"))
	equal(t, "metadata", jsonText(t, d.metadata), `{"cross_domain_gap_unknown":true,"cross_domain_latency_available":false,`+
		`"host_capture":{"dropped_records":0,"error":null,"expected_records":1,"pool_records":1,"recorded_records":1,"status":"complete"},`+
		`"host_records_complete":true,"layout":"causal_composite","logical_seam_us":2.000,"relation":"host_orchestration_precedes_device",`+
		`"source_timeline_origin_ns":1000,"timeline_origin_ns":1000,"trace_status":"complete"}`)
}

// TestC15Partial: contradictions are listed in the metadata (spec/records.md §4.7, §4.8).
func TestC15Partial(t *testing.T) {
	for name, c := range map[string]struct{ old, new, status, capture string }{
		"mismatch": {`"expected_records":1`, `"expected_records":3`, "partial",
			`{"converter_validation_errors":["expected_record_count_mismatch"],"dropped_records":0,"error":null,"expected_records":3,"pool_records":1,"recorded_records":1,"status":"complete"}`},
		"no record of completeness": {`"host_capture":{"status":"complete","expected_records":1,"recorded_records":1,"pool_records":1,"dropped_records":0,"error":null}`,
			`"timeline_relation":"side_by_side","host_clock_domain_id":"boot \"7\""`, "partial",
			`{"dropped_records":null,"error":"legacy_capture_status_missing","recorded_records":1,"status":"unknown"}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := convert(t, strings.Replace(c15, c.old, c.new, 1), settings{})
			equal(t, "status", d.metadata["trace_status"], any(c.status))
			equal(t, "complete", d.metadata["host_records_complete"], any(false))
			equal(t, "host_capture", jsonText(t, d.metadata["host_capture"]), c.capture)
			if strings.Contains(c.new, "side_by_side") {
				equal(t, "relation", d.metadata["relation"], any("side_by_side"))
				equal(t, "clock domain", d.metadata["host_clock_domain_id"], any(`boot "7"`))
			}
		})
	}
}

// TestUploadsAlone: uploads without orchestrator lanes have a process of their own name.
func TestUploadsAlone(t *testing.T) {
	d := convert(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000,"host_timeline_origin_ns":1000},
"host_device_uploads":[{"phase":"sm_h2d","start_host_ns":2000,"end_host_ns":3000,"detail":5},{"start_host_ns":2500,"end_host_ns":3500},{"phase":"arena_h2d","start_host_ns":3000,"end_host_ns":3000}]}`, settings{})
	equal(t, "process", d.process[1], "Host Prepare")
	equalSlices(t, "bars", spans(d.inProcess(1)), []string{"sm_h2d 1/4100 1–2", "upload 1/4101 1.5–2.5", "arena_h2d 1/4100 2–2"})
	equalSlices(t, "lanes", d.laneNames(1), []string{"H2D", "H2D (2)"})
	equal(t, "metadata", len(d.metadata), 0)
}

func TestC16SmallPins(t *testing.T) {
	// The interval starts at time zero, which another row defines.
	d := convert(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000},
"aicpu_lifecycle_records":[{"aicpu_thread_id":1,"handshake_start_cycles":5,"handshake_complete_cycles":7}]}`, settings{})
	equalSlices(t, "bars", spans(d.inProcess(6)), []string{"handshake_partition 6/60001 0–2"})

	m := &made{untimed: true, floating: true, rows: []row{r(7, 0, 0, 1, 2, 3)}}
	d = m.draw(t, settings{deps: deps(t, nil, [2]uint64{7, 8}), overhead: true})
	equal(t, "counter samples", d.counts.Counters, 0)
	equal(t, "points", d.picture.Report.OverheadPoints, 0)

	m = &made{rows: []row{r(7, 0, 10, 10.5, 11, 12)}, streams: []stream{{id: 0, records: []phase{p("dispatch", 9, 10)}}, {id: 1, records: []phase{p("dispatch", 10, 11)}}}}
	d = m.draw(t, settings{})
	// The arrow leaves from thread 0 although thread 1's record starts at that instant.
	d.wantArrows(d.arrows("dispatch"), arrow.String, "dispatch 2/30000@9.999 → 4/10000@11", "dispatch 2/30000@9.999 → 3/10000@10")
}

// TestLifecycle: an interval that did not end, or ended before it started, is not drawn (§4.1).
func TestLifecycle(t *testing.T) {
	d := convert(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000},"aicore_tasks":[[0,1,1,5,6,0]],
"aicpu_lifecycle_records":[{"handshake_start_cycles":0,"handshake_complete_cycles":9,"config_start_cycles":9,"topology_complete_cycles":0,
"context_publish_start_cycles":9,"context_publish_complete_cycles":8,"bootstrap_wait_start_cycles":5,"bootstrap_complete_cycles":5,
"register_release_start_cycles":9,"register_release_end_cycles":9},{"aicpu_thread_id":7},{"aicpu_thread_id":7,"exit_wait_start_cycles":9,"exit_wait_end_cycles":10}]}`, settings{})
	equalSlices(t, "bars", spans(d.inProcess(6)), []string{"handshake_partition 6/60000 0–4", "register_release 6/60000 4–4", "exit_wait 6/60007 4–5"})
	equalSlices(t, "lanes", d.laneNames(6), []string{"AICPU Thread 0", "AICPU Thread 7"})
	equal(t, "args", jsonText(t, d.slice(6, "exit_wait").args), `{"aicpu_thread_id":7}`)
}

// TestC18Names: an explicit map wins over the sibling (spec/converter.md §8.2).
func TestC18Names(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	input := write("chip_swimlane_records.json", "{}")
	write("name_map_case.json", `{"level":2,"callable_id_to_name":{"0":"sibling"}}`)
	other := write("other.json", `{"level":2,"callable_id_to_name":{"0":"other"}}`)
	m := &made{rows: []row{r(7, 0, 1, 2, 3, 4)}}
	for explicit, want := range map[string]string{"": "sibling(t7)", other: "other(t7)"} {
		found, err := names.Find(names.Request{Input: input, FuncNames: explicit, Level: 2})
		if err != nil {
			t.Fatal(err)
		}
		d := m.draw(t, settings{deps: deps(t, []depTask{{7, [3]int{-1, 0, -1}, 1}}), names: found.Map})
		d.slice(4, want)
		d.slice(3, want)
	}
}

// TestLabels is the table of spec/converter.md §2.3, on bars.
func TestLabels(t *testing.T) {
	const r2t18 = 2<<32 | 18
	for _, c := range []struct {
		fn    int
		names map[int64]string
		id    uint64
		block int
		want  string
	}{
		{16, map[int64]string{16: "fa_fused_aic"}, r2t18, 2, "fa_fused_aic_spmd(r2t18)"},
		{16, map[int64]string{16: "fa_fused_aic"}, r2t18, 1, "fa_fused_aic(r2t18)"},
		{-1, nil, r2t18, 2, "task_spmd(r2t18)"},
		{0, map[int64]string{0: "spmd_write_aiv"}, 0, 2, "spmd_write_aiv(t0)"},
		{0, map[int64]string{0: "SPMDKernel"}, 0, 2, "SPMDKernel(t0)"},
		{1, map[int64]string{0: "QK"}, 2<<32 | 5, 2, "func_1_b_spmd(r2t5)"},
		{26, nil, 7, 1, "func_26_aa(t7)"},
		{0, nil, 1<<32 | 3073, 1, "func_0_a(r1t3073)"},
		{0, map[int64]string{0: "tmpl<T>(x)"}, 1, 2, "tmpl<T>_spmd(x)(t1)"},
	} {
		m := &made{rows: []row{r(c.id, 0, 1, 2, 3, 4)}}
		d := m.draw(t, settings{deps: deps(t, []depTask{{c.id, [3]int{-1, c.fn, -1}, c.block}}), names: names.NewMap("", c.names)})
		var got []string
		for _, e := range d.events {
			if e.ph == "X" {
				got = append(got, e.name)
			}
		}
		equalSlices(t, "labels", slices.Compact(got), []string{c.want})
	}
}
