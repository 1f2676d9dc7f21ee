package draw_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// What went wrong in other tools: ../shared/design/field-reports.md, by number.

// level1 is a capture of kernel rows only, at 1 GHz.
func level1(rows string) string {
	return `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic"]},"aicore_tasks":[` + rows + `]}`
}

// TestField1Overlap, and 4: bars that overlap stand on two lanes, whole.
func TestField1Overlap(t *testing.T) {
	d := convert(t, level1(`[0,1,0,100,200],[0,2,1,150,250]`), settings{})
	equalSlices(t, "lanes", d.laneNames(4), []string{"AIC_0", "AIC_0 (2)"})
	equalSlices(t, "bars", spans(d.inProcess(4)), []string{"task(t1) 4/10000 0–0.1", "task(t2) 4/10001 0.05–0.15"})
	equal(t, "moved", d.picture.Report.Moved, 1)
	for _, e := range d.events {
		if e.ph != "X" {
			t.Errorf("an event of kind %s: bars are complete events (report 4)", e.ph)
		}
	}
}

// TestField2SchedulerView: arrows are bound to the lane of their own bar.
func TestField2SchedulerView(t *testing.T) {
	m := &made{floating: true, threads: []int{0},
		rows:    []row{{id: 1, core: 0, dispatch: 100, receive: 110, start: 120, end: 190, finish: 200}, {id: 2, core: 0, dispatch: 150, receive: 195, start: 196, end: 250, finish: 260}},
		streams: []stream{{id: 0, records: []phase{{kind: "dispatch", start: 90, end: 160}}}}}
	d := m.draw(t, settings{deps: deps(t, nil, [2]uint64{1, 2})})
	equalSlices(t, "bars", spans(d.inProcess(3)), []string{"task(t1) 3/10000 0.01–0.11", "task(t2) 3/10001 0.06–0.17"})
	for _, a := range d.arrows() {
		if a.to.pid != 3 {
			continue
		}
		h, err := d.holder(a.to)
		if err != nil {
			t.Fatal(err)
		}
		want := "task(t2)"
		if a.name == "dispatch" && a.to.ts == 10 {
			want = "task(t1)"
		}
		equal(t, a.String()+" ends in", h.name, want)
	}
	d.seated()
}

// TestField5Epoch: counters of a long uptime neither nest bars that touch nor open gaps between them.
func TestField5Epoch(t *testing.T) {
	const start = 88932781237285536
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("[0,%d,%d,%d,%d]", i, i, start+258*i, start+258*(i+1)))
	}
	d := convert(t, strings.Replace(level1(strings.Join(rows, ",")), "1000000000", "50000000", 1), settings{})
	for i, e := range d.inProcess(4) {
		equal(t, "bar", span(e), fmt.Sprintf("task(t%d) 4/10000 %s–%s", i, us(int64(i)*5160), us(int64(i+1)*5160)))
	}
	equal(t, "lanes", len(d.laneNames(4)), 1)
}

// TestField6Micros: short kernels keep their length; no float format is involved.
func TestField6Micros(t *testing.T) {
	d := convert(t, level1(`[0,1,0,1000,1250]`), settings{})
	for _, want := range []string{`"ts":0.000,`, `"dur":0.250}`} {
		if !bytes.Contains(d.text, []byte(want)) {
			t.Errorf("the trace lacks %s:\n%s", want, d.text)
		}
	}
}

// TestField10Marks: a dummy without length that starts with another bar is a bar of its own.
func TestField10Marks(t *testing.T) {
	m := &made{streams: []stream{{id: 0, records: []phase{p("dummy", 1, 2).with(1, nil), p("dummy_task", 1, 1).with(1, 5), p("dummy_task", 1, 1).with(1, 6)}}}}
	d := m.draw(t, settings{})
	equalSlices(t, "marks", spans(d.inProcess(4)), []string{"dummy(t5) 4/19000 1–1.02", "dummy(t6) 4/19001 1–1.02"})
	equalSlices(t, "lanes", d.laneNames(4), []string{"AICPU_0", "AICPU_0 (2)"})
}

// TestField11DispatchAtZero: 0 is a time.
func TestField11DispatchAtZero(t *testing.T) {
	m := &made{floating: true, rows: []row{{id: 1, core: 0, dispatch: 0, receive: 10, start: 20, end: 30, finish: 40}}}
	d := m.draw(t, settings{})
	equalSlices(t, "bars", spans(d.inProcess(3)), []string{"task(t1) 3/10000 0–0.04"})
	equal(t, "dispatch in the args", jsonText(t, d.slice(3, "task(t1)").args["dispatch-time-us"]), "0.000")
}

// TestField12ColdTask: the zero is the least of all times, derived ones included.
func TestField12ColdTask(t *testing.T) {
	d := convert(t, level1(`[0,1,0,1000,1100,50]`), settings{})
	equalSlices(t, "bars", spans(d.inProcess(4)), []string{"task(t1) 4/10000 0–0.15"})
	equal(t, "args", jsonText(t, d.slice(4, "task(t1)").args),
		`{"duration-us":0.150,"event-hint":"Task:t1, FuncId:-1, CoreId:0","fanin-hint":"0: []","fanout-hint":"0: []","kernel-duration-us":0.100,"local_setup_us":0.050,"taskId":1}`)
}

// TestField13UnknownKind, and spec/converter.md §13 no. 7: unknown kinds are drawn and
// counted, old ones counted only.
func TestField13UnknownKind(t *testing.T) {
	m := &made{streams: []stream{{id: 0, records: []phase{p("frobnicate", 1, 2).with(3, nil), p("scan", 2, 3), p("poll", 3, 4), p("fanout", 4, 5),
		p("prestage", 5, 6), p("wire", 6, 7), p("wire", 7, 8), p("unknown", 8, 9)}}}}
	d := m.draw(t, settings{})
	equalSlices(t, "bars", spans(d.inProcess(2)), []string{"frobnicate(3) 2/30000 1–2", "unknown(0) 2/30000 8–9"})
	equal(t, "colour", d.slice(2, "frobnicate(3)").cname, "generic_work")
	r := &d.picture.Report
	equal(t, "unknown", fmt.Sprint(r.Unknown), "map[frobnicate:1 unknown:1]")
	equal(t, "old", fmt.Sprint(r.Legacy), "map[fanout:1 poll:1 prestage:1 scan:1 wire:2]")
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, "frobnicate") || r.Warnings[0].Count != 2 {
		t.Errorf("warnings %+v, want one that names frobnicate", r.Warnings)
	}
}

// TestField15OneTaskOnThreeCores: no bar overwrites another.
func TestField15OneTaskOnThreeCores(t *testing.T) {
	m := &made{types: map[int]string{0: "aic"}, rows: []row{r(5, 0, 1, 1.5, 2, 3), r(5, 1, 1.1, 1.6, 2, 4), r(5, 2, 1.2, 1.7, 2, 5), r(6, 1, 9, 9.5, 10, 11)}}
	// One block on cores of two types: every row has its arrow.
	d := m.draw(t, settings{deps: deps(t, []depTask{{5, [3]int{0, 1, 2}, 1}}, [2]uint64{5, 6})})
	equalSlices(t, "bars", spans(d.inProcess(4)), []string{
		"func_0_a(t5) 4/10000 1.5–3", "func_1_b(t5) 4/10010 1.6–4", "func_1_b(t5) 4/10020 1.7–5", "task(t6) 4/10010 9.5–11"})
	d.wantArrows(d.dependencies(4), arrow.String,
		"dependency 4/10000@1.5 → 4/10010@9.5", "dependency 4/10010@1.6 → 4/10010@9.5", "dependency 4/10020@1.7 → 4/10010@9.5")
	d.wantArrows(d.dependencies(3), arrow.String,
		"dependency 3/10000@1 → 3/10010@9", "dependency 3/10010@1.1 → 3/10010@9", "dependency 3/10020@1.2 → 3/10010@9")
	d.seated()
}

// TestField19Order: sort indexes are integers and say the order of the numbers.
func TestField19Order(t *testing.T) {
	m := &made{types: map[int]string{}}
	var want []string
	for c := range 72 {
		kind := "AIV"
		if c < 24 {
			kind, m.types[c] = "AIC", "aic"
		}
		want = append(want, fmt.Sprintf("%s_%d", kind, c))
		m.rows = append(m.rows, r(uint64(100-c), c, 1, 2, 3, 4))
	}
	d := m.draw(t, settings{})
	equalSlices(t, "lanes of the Worker View", d.laneNames(4), want)
	equalSlices(t, "lanes of the Scheduler View", d.laneNames(3), want)
	d.ordered()
}

// ordered: processes and lanes are numbered in the order in which they are to
// be shown, and the sort indexes say the same (field report 19); no lane has
// number 0 or that of a process (89).
func (d *drawn) ordered() {
	d.t.Helper()
	for pid := range d.process {
		equal(d.t, fmt.Sprintf("sort index of process %d", pid), d.sort[pid], pid)
	}
	for l, name := range d.lane {
		index, ok := d.laneSort[l]
		if !ok || index != l.tid {
			d.t.Errorf("sort index of lane %v (%s): %d, want its number", l, name, index)
		}
		if _, isPID := d.process[l.tid]; l.tid == 0 || isPID {
			d.t.Errorf("lane %v (%s) has the number of a process", l, name)
		}
	}
	for _, e := range d.events {
		if _, ok := d.lane[e.lane]; !ok && e.ph != "C" {
			d.t.Errorf("%s stands on lane %v, which has no name", e.name, e.lane)
		}
	}
}

func TestField20Violations(t *testing.T) {
	m := &made{floating: true, rows: []row{{id: 1, core: 0, dispatch: 95, receive: 100, start: 100, end: 300}, {id: 2, core: 1, dispatch: 240, receive: 250, start: 250, end: 400}}}
	edge := deps(t, nil, [2]uint64{1, 2})
	d := m.draw(t, settings{deps: edge})
	d.wantArrows(d.dependencies(4), arrow.String, "hb_violation 4/10000@0.005 → 4/10010@0.155")

	// The successor's bar starts first: the arrow starts there, and both bars say which way the edge goes.
	m.rows[1] = row{id: 2, core: 1, dispatch: 40, receive: 50, start: 50, end: 400}
	d = m.draw(t, settings{deps: edge})
	d.wantArrows(d.arrows(), arrow.counted, "hb_violation 4/10010@0.01 → 4/10000@0.06 out 1 in 1", "hb_violation 3/10010@0 → 3/10000@0.055 out 1 in 1")
	equal(t, "reversed", d.picture.Report.Reversed, 2)
	equal(t, "violations", d.picture.Report.Violations, 1)
	for _, pid := range []int64{3, 4} {
		pred, succ := d.slice(pid, "task(t1)"), d.slice(pid, "task(t2)")
		equal(t, "successors of the predecessor", pred.args["hb-violation-successors"], any("[t2]"))
		equal(t, "predecessors of the successor", succ.args["hb-violation-predecessors"], any("[t1]"))
		equal(t, "predecessors of the predecessor", pred.args["hb-violation-predecessors"], nil)
		equal(t, "successors of the successor", succ.args["hb-violation-successors"], nil)
	}
	d.seated()
}

// TestField21Blocks: one arrow per view, however many blocks.
func TestField21Blocks(t *testing.T) {
	m := &made{}
	for i := range 128 {
		m.rows = append(m.rows, r(1, i%16, 1, 1+float64(i)/100, 3, 3.001+float64(i)))
	}
	for i := range 64 {
		m.rows = append(m.rows, r(2, i%16, 500, 500+float64(i), 600, 601+float64(i)))
	}
	d := m.draw(t, settings{deps: deps(t, []depTask{{1, [3]int{-1, 0, -1}, 128}, {2, [3]int{-1, 1, -1}, 64}}, [2]uint64{1, 2})})
	d.wantArrows(d.arrows(), arrow.counted, "dependency 4/10000@1 → 4/10000@500 out 128 in 64", "dependency 3/10000@1 → 3/10000@500 out 128 in 64")
	equal(t, "bars", d.counts.Slices, 2*(128+64))
}

// TestField23Edges: edges come from the graph, all of them.
func TestField23Edges(t *testing.T) {
	m := &made{}
	var edges [][2]uint64
	for i := range uint64(64) {
		m.rows = append(m.rows, r(i, int(i), 1, 2, 3, 4+float64(i)))
		edges = append(edges, [2]uint64{i, 64})
	}
	m.rows = append(m.rows, r(64, 0, 100, 101, 102, 103))
	d := m.draw(t, settings{deps: deps(t, nil, edges...)})
	equal(t, "arrows of the Worker View", len(d.dependencies(4)), 64)
	equal(t, "arrows of the Scheduler View", len(d.dependencies(3)), 64)
	equal(t, "drawn", fmt.Sprintf("%d of %d", d.picture.Report.Drawn, d.picture.Report.Edges), "64 of 64")
	equal(t, "arrows reported", d.picture.Report.Arrows, 128)
}

// TestField26FlowToSecond: an arrow to a bar that had to move ends in that bar.
func TestField26FlowToSecond(t *testing.T) {
	d := convert(t, level1(`[0,1,0,100,200],[0,2,1,150,250]`), settings{deps: deps(t, nil, [2]uint64{1, 2})})
	d.wantArrows(d.arrows(), arrow.String, "hb_violation 4/10000@0 → 4/10001@0.05")
	a := d.arrows()[0]
	equal(t, "bound to", a.to.bind, d.slice(4, "task(t2)").id)
	d.seated()
}

// TestField30FlowIDs: one number for every arrow of the file.
func TestField30FlowIDs(t *testing.T) {
	m := &made{threads: []int{0, 0, 0, 0}, streams: []stream{{id: 0, records: []phase{p("dispatch", 0.5, 1.5), p("complete", 4, 6)}}},
		submits: [][]submit{{{1, 0, 100}, {2, 100, 200}}},
		rows:    []row{r(1, 0, 1, 2, 3, 4), r(2, 1, 1, 5, 6, 7), r(3, 2, 1, 2, 3, 4), r(4, 3, 1, 5, 6, 7)}}
	d := m.draw(t, settings{deps: deps(t, nil, [2]uint64{1, 2}, [2]uint64{3, 4})})
	seen := map[int64]bool{}
	for _, a := range d.arrows() {
		if seen[a.id] {
			t.Errorf("flow id %d is used twice", a.id)
		}
		seen[a.id] = true
	}
	equal(t, "arrows", int64(len(seen)), d.picture.Report.Arrows)
	equal(t, "arrows written", d.counts.Flows, d.picture.Report.Arrows)
}

// TestField89Numbers: no lane has number 0 or that of a process, whatever the cores' numbers.
func TestField89Numbers(t *testing.T) {
	m := &made{rows: []row{r(1, 0, 1, 2, 3, 4), r(2, 4, 1, 2, 3, 4)}, streams: []stream{{id: 0, records: []phase{p("complete", 1, 2)}}},
		submits: [][]submit{{{9, 0, 10}}}, life: []object{{"aicpu_thread_id": 0, "exit_wait_start_cycles": zero, "exit_wait_end_cycles": zero + 5}}}
	m.draw(t, settings{}).ordered()
}

// TestField96SameInstant: the s stands before the f in the file, and the f has bp "e" (95).
func TestField96SameInstant(t *testing.T) {
	m := &made{rows: []row{r(2, 0, 1, 2, 3, 4), r(1, 1, 1, 2, 3, 4)}}
	d := m.draw(t, settings{deps: deps(t, nil, [2]uint64{1, 2}, [2]uint64{2, 3})})
	d.wantArrows(d.arrows(), arrow.String, "hb_violation 4/10010@2 → 4/10000@2", "hb_violation 3/10010@1 → 3/10000@1")
	if s, f := bytes.Index(d.text, []byte(`"ph":"s"`)), bytes.Index(d.text, []byte(`"ph":"f","pid":4,"tid":10000,"ts":2.000,"bp":"e"`)); s < 0 || f < s {
		t.Errorf("the s stands at byte %d, the f at %d", s, f)
	}
}
