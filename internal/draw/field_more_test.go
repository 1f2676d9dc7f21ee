package draw_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/trace"
)

// More of what fields_test.go holds: ../shared/design/field-reports.md, by number.

// tokens calls look with every number of a JSON text, as it is written.
func tokens(t *testing.T, text []byte, look func(number string)) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	for {
		switch tok, err := dec.Token(); n := tok.(type) {
		case json.Number:
			look(n.String())
		default:
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestField7NoExponent: numbers are plain decimals, however large or small the times are.
func TestField7NoExponent(t *testing.T) {
	seen := 0
	for name, c := range map[string]struct{ clock, start, length uint64 }{
		"a zero above 2⁵³ ns":    {1_000_000_000, 1692108548132154500, 250},
		"a zero near the last":   {1_000_000_000, 1<<64 - 1000, 250},
		"a day at 1 kHz":         {1000, 1, 86_400_000},
		"a hundred days at 1 Hz": {1, 1, 8_640_000},
		"less than 1 ns":         {4_000_000_000, 88932781237285536, 1},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":%d,"core_types":["aic"]},"aicore_tasks":[[0,18446744073709551615,0,%d,%d,0]],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,0,%d,%d]]}}`, c.clock, c.start, c.start+c.length, c.start, c.start+c.length)
			d := convert(t, text, settings{deps: deps(t, nil, [2]uint64{1, 2}), overhead: true, idle: true})
			tokens(t, d.text, func(n string) {
				seen++
				if strings.ContainsAny(n, "eE+") {
					t.Errorf("the trace holds the number %s", n)
				}
			})
		})
	}
	if seen == 0 {
		t.Error("no numbers were looked at")
	}
}

// TestField8CloseInTime: the next kernel starts 49 ns later, at a large zero: same lane, same depth.
func TestField8CloseInTime(t *testing.T) {
	const b = 1692108548132442000
	d := convert(t, level1(fmt.Sprintf("[0,1,0,%d,%d],[0,2,1,%d,%d]", b, b+520, b+569, b+900)), settings{})
	equalSlices(t, "bars", spans(d.inProcess(4)), []string{"task(t1) 4/10000 0–0.52", "task(t2) 4/10000 0.569–0.9"})
	equal(t, "lanes", len(d.laneNames(4)), 1)
}

// TestField17Retires: FINs, the retires among them, and the rows that ended are numbers of their own.
func TestField17Retires(t *testing.T) {
	for name, c := range map[string]struct {
		processed any
		args      string
		bar       string
	}{
		"no task retired":  {0, `{"finish_rows_attributed":3,"finishes_processed":0,"loop_iter":0,"phase":"complete","tasks_processed":0}`, "complete(0)"},
		"one task retired": {1, `{"finish_rows_attributed":3,"finishes_processed":1,"loop_iter":0,"phase":"complete","tasks_processed":1}`, "complete(1)"},
		"not counted":      {absent, `{"finishes_processed":3,"loop_iter":0,"phase":"complete","tasks_processed":3}`, "complete(3)"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &made{threads: []int{0, 0, 0}, rows: []row{r(1, 0, 0.5, 1, 1, 2), r(1, 1, 0.5, 1, 1, 2.1), r(1, 2, 0.5, 1, 1, 2.2)},
				streams: []stream{{id: 0, records: []phase{p("complete", 2.5, 3.5).with(c.processed, nil)}}}}
			d := m.draw(t, settings{deps: deps(t, []depTask{{1, [3]int{-1, 0, -1}, 3}})})
			equal(t, "args", jsonText(t, d.slice(2, c.bar).args), c.args)
		})
	}
}

// whole is a capture of level 4 with arrows of every kind, and its graph.
func whole(t *testing.T) (*made, string) {
	t.Helper()
	sampled := p("complete", 3.4, 6)
	sampled.from, sampled.to = []int{1, 2, 3}, []int{4, 5, 6}
	other := p("dispatch", 0.5, 1.5)
	other.from, other.to = []int{0, 0, 0}, []int{1, 1, 1}
	return &made{threads: []int{0, 1, 0, 1}, types: map[int]string{0: "aic", 2: "aic"}, submits: [][]submit{{{1, 0, 100}, {2, 100, 200}, {3, 200, 210}, {4, 210, 300}}},
			streams: []stream{{id: 0, records: []phase{p("dispatch", 0.5, 1.5), sampled}}, {id: 1, records: []phase{other, p("complete", 3.5, 6.5)}}},
			rows:    []row{r(1, 0, 1, 2, 3, 4), r(2, 1, 1, 5, 6, 7), r(3, 2, 1, 2, 3, 4), r(4, 3, 1, 1.8, 2.5, 7)}},
		deps(t, []depTask{{1, [3]int{0, -1, -1}, 1}, {2, [3]int{-1, 1, -1}, 1}, {3, [3]int{0, -1, -1}, 1}, {4, [3]int{-1, 1, -1}, 1}}, [2]uint64{1, 2}, [2]uint64{3, 4})
}

// raw are the events of a trace as they stand in the file.
func (d *drawn) raw() []object {
	d.t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(d.text)))
	dec.UseNumber()
	var doc struct {
		TraceEvents []object `json:"traceEvents"`
	}
	if err := dec.Decode(&doc); err != nil {
		d.t.Fatal(err)
	}
	return doc.TraceEvents
}

// TestField31Halves, and 95: both ends have one category, name and id, beside
// the other members and not in args; only the f has bp, which is "e".
func TestField31Halves(t *testing.T) {
	m, graph := whole(t)
	d := m.draw(t, settings{deps: graph})
	starts, kinds := map[string]string{}, map[string]bool{}
	ends := 0
	for _, e := range d.raw() {
		ph, _ := e["ph"].(string)
		if ph == "B" || ph == "E" {
			t.Errorf("an event of kind %s", ph)
		}
		if ph != "s" && ph != "f" {
			continue
		}
		if _, ok := e["args"]; ok {
			t.Errorf("a flow has args, where nobody looks: %v", e)
		}
		id, ok := e["id"].(json.Number)
		key := fmt.Sprint(e["cat"], "/", e["name"])
		if !ok || e["cat"] == nil || e["name"] == nil {
			t.Errorf("a flow lacks its key: %v", e)
		}
		if bp, has := e["bp"]; has != (ph == "f") || has && bp != "e" {
			t.Errorf(`bp of %v, want "e" on the f and none on the s`, e)
		}
		if ph == "s" {
			starts[id.String()], kinds[e["name"].(string)] = key, true
			continue
		}
		ends++
		equal(t, "key of the f "+id.String(), key, starts[id.String()])
	}
	if len(kinds) < 5 || ends != len(starts) {
		t.Errorf("%d kinds of arrows, %d starts, %d ends; want 5 kinds and pairs", len(kinds), len(starts), ends)
	}
}

// TestField32WhatAnArrowMeans: an arrow is drawn from the end of the bar that
// its s lies in, so that must be the predecessor's; the bars' args name both.
func TestField32WhatAnArrowMeans(t *testing.T) {
	m, graph := whole(t)
	d := m.draw(t, settings{deps: graph})
	for _, pid := range []int64{3, 4} {
		arrows := d.dependencies(pid)
		equal(t, "arrows", len(arrows), 2)
		for _, a := range arrows {
			from, err1 := d.holder(a.from)
			to, err2 := d.holder(a.to)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			switch ends := from.name + " → " + to.name; ends {
			case "func_0_a(t1) → func_1_b(t2)", "func_0_a(t3) → func_1_b(t4)":
			case "func_1_b(t4) → func_0_a(t3)":
				equal(t, "name of the arrow against its edge", a.name, "hb_violation")
			default:
				t.Errorf("%s runs from %s", a.name, ends)
			}
		}
	}
	equal(t, "successors", d.slice(4, "func_0_a(t1)").args["fanout-hint"], any("1: [t2]"))
	equal(t, "predecessors", d.slice(4, "func_1_b(t2)").args["fanin-hint"], any("1: [t1]"))
	equal(t, "successors that did not wait", d.slice(4, "func_0_a(t3)").args["hb-violation-successors"], any("[t4]"))
	equal(t, "predecessors not waited for", d.slice(4, "func_1_b(t4)").args["hb-violation-predecessors"], any("[t3]"))
}

// TestField33NoFlows: arrows can be left out, and all that were are counted.
func TestField33NoFlows(t *testing.T) {
	all, none := part(t, draw.Only{}, trace.Selection{})
	if none != nil && none.Flows.Load() != 0 || len(all.arrows()) == 0 {
		t.Fatalf("%d arrows without a selection", len(all.arrows()))
	}
	d, left := part(t, draw.Only{}, trace.Selection{NoFlows: true})
	equal(t, "arrows drawn", len(d.arrows()), 0)
	equal(t, "arrows left out", left.Flows.Load(), int64(len(all.arrows())))
}

// TestField36Level1Names: with a graph and names a capture of kernel rows has
// names on every label, and a function that nobody knows is no number −1.
func TestField36Level1Names(t *testing.T) {
	m, err := names.ParseMap("name_map.json", []byte(`{"level":2,"callable_id_to_name":{"0":"QK"}}`))
	if err != nil {
		t.Fatal(err)
	}
	graph := deps(t, []depTask{{1, [3]int{0, -1, -1}, 1}, {2, [3]int{-1, 7, -1}, 1}, {3, [3]int{-1, -1, -1}, 1}}, [2]uint64{1, 2})
	for name, c := range map[string]struct {
		s    settings
		want []string
	}{
		"graph and names": {settings{deps: graph, names: m}, []string{"QK(t1)", "func_7_h(t2)", "task(t4)"}},
		"graph":           {settings{deps: graph}, []string{"func_0_a(t1)", "func_7_h(t2)", "task(t4)"}},
		"nothing":         {settings{}, []string{"task(t1)", "task(t2)", "task(t4)"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := convert(t, strings.Replace(level1(`[0,1,0,100,200],[1,2,1,250,300],[0,4,2,350,400]`), `["aic"]`, `["aic","aiv"]`, 1), c.s)
			for _, e := range d.events {
				if strings.Contains(e.name, "-1") {
					t.Errorf("a label is %s", e.name)
				}
			}
			for l, name := range d.lane {
				if strings.Contains(name, "-1") {
					t.Errorf("lane %v is named %s", l, name)
				}
			}
			have := map[string]bool{}
			for _, e := range d.inProcess(4) {
				have[e.name] = true
			}
			for _, want := range c.want {
				if !have[want] {
					t.Errorf("no bar %s, but %v", want, have)
				}
			}
		})
	}
}

// TestField61Shapes: the picture does not depend on the shape in which an old file says it.
func TestField61Shapes(t *testing.T) {
	const (
		five  = `"aicore_tasks":[[0,1,0,1100,1200],[0,2,1,1300,1400]]`
		six   = `"aicore_tasks":[[0,1,0,1100,1200,0],[0,2,1,1300,1400,0]]`
		aicpu = `"aicpu_tasks":[[0,0,1000,1210],[0,1,1250,1410]]`
		sched = `"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,0,1000,1210],[0,1,1250,1410]]}`
		old   = `"aicpu_scheduler_phases":[[{"kind":"scan","start_cycles":1001,"end_cycles":1002},{"kind":"poll","start_cycles":1002,"end_cycles":1003},
{"kind":"idle","start_cycles":1003,"end_cycles":1004},{"kind":"fanout","start_cycles":1004,"end_cycles":1005},{"kind":"prestage","start_cycles":1005,"end_cycles":1006},
{"kind":"complete","start_cycles":1211,"end_cycles":1215,"loop_iter":0,"tasks_processed":1}]]`
	)
	bars := []string{"task(t1) 4/10000 0.1–0.2", "task(t2) 4/10000 0.3–0.4"}
	both := append([]string{"task(t1) 3/10000 0–0.21", "task(t2) 3/10000 0.25–0.41"}, bars...)
	for name, c := range map[string]struct {
		level, sections string
		want            []string
	}{
		"aicpu_tasks":            {`"chip_swimlane_level":2`, six + "," + aicpu, both},
		"rows of five columns":   {`"chip_swimlane_level":2`, five + "," + sched, both},
		"rows of six columns":    {`"chip_swimlane_level":2`, six + "," + sched, both},
		"l2_swimlane_level":      {`"l2_swimlane_level":2`, five + "," + aicpu, both},
		"l2_perf_level":          {`"l2_perf_level":2`, five + "," + aicpu, both},
		"old phase names":        {`"l2_perf_level":3`, five + "," + aicpu + "," + old, append([]string{"complete(1) 2/30000 0.211–0.215", "idle(0) 2/30000 0.003–0.004"}, both...)},
		"all names of the level": {`"l2_perf_level":1,"l2_swimlane_level":1,"chip_swimlane_level":2`, six + "," + sched, both},
		"two names of the level": {`"l2_swimlane_level":2,"l2_perf_level":1`, six + "," + sched, both},
	} {
		t.Run(name, func(t *testing.T) {
			d := convert(t, `{`+c.level+`,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic"]},`+c.sections+`}`, settings{})
			have := map[string]bool{}
			for _, s := range spans(d.slices(func(*event) bool { return true })) {
				have[s] = true
			}
			for _, want := range c.want {
				if !have[want] {
					t.Errorf("no bar %s, but %v", want, have)
				}
			}
			if len(have) != len(c.want) {
				t.Errorf("bars %v, want %v", have, c.want)
			}
			if name == "old phase names" {
				equal(t, "counted, not drawn", fmt.Sprint(d.picture.Report.Legacy), "map[fanout:1 poll:1 prestage:1 scan:1]")
			}
		})
	}
}

// TestField94BindID: the picture is the same to a viewer that does not read
// bind_id: the bar in which an end lies is the one it names.
func TestField94BindID(t *testing.T) {
	m, graph := whole(t)
	d := m.draw(t, settings{deps: graph})
	named := 0
	for _, a := range d.arrows() {
		for _, e := range []event{a.from, a.to} {
			if e.bind < 0 {
				continue
			}
			named++
			blind := e
			blind.bind = -1
			with, err1 := d.holder(e)
			without, err2 := d.holder(blind)
			if err1 != nil || err2 != nil || with.id != without.id {
				t.Errorf("%v: its %s names bar %d and lies in bar %d (%v, %v)", a, e.ph, with.id, without.id, err1, err2)
			}
		}
	}
	if named == 0 {
		t.Error("no end names its bar; the test shows nothing")
	}
}

// TestField98Counters: counters have no id, and one name means one counter.
func TestField98Counters(t *testing.T) {
	m, graph := whole(t)
	d := m.draw(t, settings{deps: graph, overhead: true})
	lanes := map[string]string{}
	for _, e := range d.raw() {
		if e["ph"] != "C" {
			continue
		}
		if id, ok := e["id"]; ok {
			t.Errorf("the counter %v has the id %v", e["name"], id)
		}
		track, lane := fmt.Sprint(e["pid"], "/", e["name"]), fmt.Sprint(e["tid"])
		if old, ok := lanes[track]; ok && old != lane {
			t.Errorf("the counter %s stands on the lanes %s and %s, which a viewer joins", track, old, lane)
		}
		lanes[track] = lane
	}
	if len(lanes) < 3 {
		t.Errorf("counters %v, want the queues and the overhead", lanes)
	}
}

// TestField99Durations: every bar has a duration, even of length 0.
func TestField99Durations(t *testing.T) {
	m := &made{rows: []row{r(1, 0, 1, 1, 1, 1)}, streams: []stream{{id: 0, records: []phase{p("complete", 2, 2), p("dispatch", 2, 2)}}},
		submits: [][]submit{{{1, 0, 0}}}, life: []object{{"aicpu_thread_id": 0, "exit_wait_start_cycles": zero, "exit_wait_end_cycles": zero}}}
	captures := []*made{m}
	for seed := range uint64(20) {
		captures = append(captures, &randomCapture(seed).made)
	}
	bars := 0
	for _, m := range captures {
		for _, e := range m.draw(t, settings{idle: true}).raw() {
			if e["ph"] != "X" {
				continue
			}
			bars++
			if dur, ok := e["dur"].(json.Number); !ok || strings.HasPrefix(dur.String(), "-") {
				t.Errorf("the bar %v has the duration %v", e["name"], e["dur"])
			}
		}
	}
	if bars < 100 {
		t.Errorf("only %d bars were looked at", bars)
	}
}
