package draw_test

import (
	"fmt"
	"strings"
	"testing"
)

// Arrows where the counters of cores and schedulers are skewed, or where bars
// leave no room: they must still start and end in their own bars.

// TestSkewedCounters: a dispatch behind the kernel's start, a finish before its
// end and a submit that returns late (spec/records.md §2.4 and R3). An arrow
// that ended before it starts would be lost (field report 20), so it is written
// from its earlier end.
func TestSkewedCounters(t *testing.T) {
	m := &made{threads: []int{0}, rows: []row{{id: 1, core: 0, dispatch: 5000, receive: 2000, start: 3000, end: 9000, finish: 8000}},
		streams: []stream{{id: 0, records: []phase{p("dispatch", 4.5, 5.2).with(1, nil), p("complete", 7.9, 8.5).with(1, nil)}}},
		submits: [][]submit{{{1, 1000, 6000}}}}
	d := m.draw(t, settings{})
	d.wantArrows(d.arrows(), arrow.String,
		"complete 2/30000@8 → 4/10000@8.99", "complete 3/10000@7.99 → 2/30000@8",
		"dispatch 4/10000@3 → 2/30000@5", "dispatch 2/30000@5 → 3/10000@5",
		"submit→dispatch 2/30000@5 → 1/4000@5.999")
	d.seated()
}

// TestDispatchAtTheEnd: A5 schedulers dispatch just as their record ends, which
// belongs to the record (spec/converter.md §11 no. 11); the arrow leaves from its last ns.
func TestDispatchAtTheEnd(t *testing.T) {
	m := &made{rows: []row{r(7, 0, 2, 2.5, 3, 4)},
		streams: []stream{{id: 0, producer: "aicore", records: []phase{p("dispatch", 1, 2).with(1, 7), p("complete", 2, 3).with(1, 6)}}}}
	d := m.draw(t, settings{})
	d.wantArrows(d.arrows("dispatch"), arrow.String, "dispatch 2/30000@1.999 → 4/10000@3", "dispatch 2/30000@1.999 → 3/10000@2")
	for _, a := range d.arrows("dispatch") {
		h, err := d.holder(a.from)
		if err != nil || h.name != "Dispatch(t7)" {
			t.Errorf("the arrow leaves from %s (%v)", h.name, err)
		}
	}
}

// TestNoBar: an arrow without a bar at one end is left out and counted.
func TestNoBar(t *testing.T) {
	m := &made{threads: []int{0, 5, -1}, rows: []row{r(1, 0, 5, 6, 7, 8), r(2, 1, 5, 6, 7, 8), r(3, 2, 5, 6, 7, 8)},
		streams: []stream{{id: 0, records: []phase{p("dispatch", 1, 2), p("complete", 8.5, 9.5)}}},
		submits: [][]submit{{{1, 0, 10}, {2, 10, 20}, {3, 20, 30}}}}
	d := m.draw(t, settings{})
	// Row 1 has no bar at its dispatch, row 2 a thread without a stream, row 3 no thread at all.
	d.wantArrows(d.arrows(), arrow.String, "complete 4/10000@7.99 → 2/30000@9", "complete 3/10000@8.99 → 2/30000@9")
	equal(t, "left out", fmt.Sprint(d.picture.Report.Unbound), "map[dispatch:4 submit→dispatch:2]")
	equal(t, "threads without records", fmt.Sprint(d.picture.Report.NoRecords), "[5]")
}

// TestViolatingPairs: the report names the first violated edges of the Worker View.
func TestViolatingPairs(t *testing.T) {
	m := &made{rows: []row{r(100, 0, 1, 2, 3, 10)}}
	var edges [][2]uint64
	var tasks []depTask
	for i := range 25 {
		id := uint64(101 + i)
		m.rows = append(m.rows, r(id, i+1, 5, 6+0.1*float64(i), 9, 12))
		edges = append(edges, [2]uint64{100, id})
		tasks = append(tasks, depTask{id, [3]int{-1, 0, -1}, 1})
	}
	report := m.draw(t, settings{deps: deps(t, tasks, edges...)}).picture.Report
	equal(t, "violations", report.Violations, 25)
	equal(t, "named", len(report.Violating), 20)
	equal(t, "first", fmt.Sprint(report.Violating[0]), "{100 101 4000}")
	equal(t, "last", fmt.Sprint(report.Violating[19]), "{100 120 2100}")
}

// TestBarsThatStartTogether: the bar that carries an arrow must not lie under
// one that starts with it. A viewer binds to the bar that started last.
func TestBarsThatStartTogether(t *testing.T) {
	rows := []row{r(1, 0, 5, 5.5, 6, 9)}
	for name, c := range map[string]struct {
		records []phase
		from    string // the bar that the arrow leaves from
		lanes   int
	}{
		"one without length": {[]phase{p("complete", 4.5, 4.5), p("dispatch", 4.5, 5.2)}, "dispatch(0)", 2},
		"a shorter one":      {[]phase{p("complete", 4.5, 4.7), p("dispatch", 4.5, 5.2)}, "dispatch(0)", 2},
		"a longer one":       {[]phase{p("complete", 4.5, 6), p("dispatch", 4.5, 5.2)}, "dispatch(0)", 2},
		"an equal one":       {[]phase{p("complete", 4.5, 5.2), p("dispatch", 4.5, 5.2)}, "dispatch(0)", 2},
		"one inside":         {[]phase{p("dispatch", 4.5, 5.2), p("idle", 4.6, 4.7)}, "dispatch(0)", 1},
		// Sub-phases of a drain stay on its lane (spec/converter.md §4.7). Where one
		// starts with it, the arrow can only leave from there.
		"a drain's part":           {[]phase{p("drain", 4, 6), p("drain_prepare", 4, 4.5), p("drain_publish", 5.5, 6)}, "drain_prepare(0)", 1},
		"a drain's part later":     {[]phase{p("drain", 4, 6), p("drain_prepare", 4.1, 4.5), p("drain_publish", 5.5, 6)}, "drain(0)", 1},
		"a drain's publishing":     {[]phase{p("drain", 4, 6), p("drain_prepare", 4, 4.5), p("drain_publish", 4.9, 6)}, "drain_publish(0)", 1},
		"an overlapping one":       {[]phase{p("complete", 4, 4.8), p("dispatch", 4.5, 5.2)}, "dispatch(0)", 2},
		"only another kind":        {[]phase{p("complete", 4, 5.2)}, "complete(0)", 1},
		"publishers are preferred": {[]phase{p("early_dispatch", 4, 5.2), p("complete", 4.8, 5.1)}, "early_dispatch(0)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := (&made{threads: []int{0}, rows: rows, streams: []stream{{id: 0, records: c.records}}}).draw(t, settings{})
			arrows := d.arrows("dispatch")
			equal(t, "arrows", len(arrows), 2)
			for _, a := range arrows {
				h, err := d.holder(a.from)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "the arrow leaves from", h.name, c.from)
			}
			equalSlices(t, "lanes", d.laneNames(2)[1:], []string{"Sched_0", "Sched_0 (2)"}[:c.lanes])
		})
	}
}

// TestSubmitsThatStartTogether: the arrow of a submit leaves from its own bar.
func TestSubmitsThatStartTogether(t *testing.T) {
	m := &made{threads: []int{0, 0}, rows: []row{r(1, 0, 5, 6, 7, 8), r(2, 1, 5, 6, 7, 8), r(3, 1, 5, 8, 8, 9)},
		streams: []stream{{id: 0, records: []phase{p("dispatch", 4, 6)}}},
		submits: [][]submit{{{1, 1000, 3000}, {2, 1000, 2000}, {3, 1500, 1800}}}}
	d := m.draw(t, settings{})
	equalSlices(t, "submits", spans(d.inProcess(1)), []string{"submit(t1) 1/4000 1–3", "submit(t2) 1/4001 1–2", "submit(t3) 1/4000 1.5–1.8"})
	// Of task 1 from before the bar that lies in its own.
	d.wantArrows(d.arrows("submit→dispatch"), arrow.String,
		"submit→dispatch 1/4000@1.499 → 2/30000@5", "submit→dispatch 1/4001@1.999 → 2/30000@5", "submit→dispatch 1/4000@1.799 → 2/30000@5")
	d.seated()
}

// TestEqualFinishes: of rows that finish together the first one says where the
// task was completed (spec/converter.md §5.3).
func TestEqualFinishes(t *testing.T) {
	m := &made{threads: []int{1, 0}, rows: []row{r(1, 0, 5, 6, 7, 8), r(1, 1, 5, 6, 7, 8)},
		streams: []stream{{id: 0, records: []phase{p("complete", 8, 10)}}, {id: 1, records: []phase{p("complete", 8, 11)}}}}
	for _, a := range m.draw(t, settings{}).arrows("complete") {
		equal(t, "completed on", a.to.tid, 30010)
	}
}

// TestReversedEdgesAreListedOnce: several arrows of one edge name its ends once.
func TestReversedEdgesAreListedOnce(t *testing.T) {
	m := &made{types: map[int]string{0: "aic"}, rows: []row{r(1, 0, 500, 501, 502, 503), r(1, 1, 500, 501, 502, 503)}}
	var edges [][2]uint64
	var want []string
	tasks := []depTask{{1, [3]int{0, 0, -1}, 1}}
	for i := range uint64(100) {
		id := 2 + i
		at := 1 + 4*float64(i)
		m.rows = append(m.rows, r(id, 0, at, at, at, at+1), r(id, 1, at, at, at, at+1))
		tasks = append(tasks, depTask{id, [3]int{0, 0, -1}, 1})
		edges = append(edges, [2]uint64{1, id})
		want = append(want, fmt.Sprintf("t%d", id))
	}
	d := m.draw(t, settings{deps: deps(t, tasks, edges...)})
	equal(t, "reversed", d.picture.Report.Reversed, 2*100*4)
	for _, e := range d.events {
		if e.ph != "X" || e.name != "func_0_a(t1)" {
			continue
		}
		equal(t, "successors of "+span(e), e.args["hb-violation-successors"], any("["+strings.Join(want, ", ")+"]"))
	}
	equal(t, "predecessors", d.inProcess(4)[10].args["hb-violation-predecessors"], any("[t1]"))
}

// TestSelfEdge: no viewer shows an arrow within one bar.
func TestSelfEdge(t *testing.T) {
	m := &made{rows: []row{r(1, 0, 1, 2, 3, 4), r(2, 0, 5, 6, 7, 8)}}
	d := m.draw(t, settings{deps: deps(t, nil, [2]uint64{1, 1}, [2]uint64{1, 2}, [2]uint64{2, 2})})
	d.wantArrows(d.arrows(), arrow.String, "dependency 4/10000@2 → 4/10000@6", "dependency 3/10000@1 → 3/10000@5")
	r := &d.picture.Report
	equal(t, "drawn", fmt.Sprintf("%d of %d, %d arrows", r.Drawn, r.Edges, r.Arrows), "1 of 3, 2 arrows")
	if len(r.Warnings) != 1 || r.Warnings[0].Count != 2 {
		t.Errorf("warnings %v, want one about two edges", r.Warnings)
	}
	equal(t, "successors still listed", d.slice(4, "task(t1)").args["fanout-hint"], any("2: [t1, t2]"))
}

// TestIdle draws the gaps of AICPU streams on demand (spec/converter.md §13 no. 6).
func TestIdle(t *testing.T) {
	m := &made{streams: []stream{
		{id: 0, records: []phase{p("complete", 1, 2), p("dummy_task", 2.5, 2.6), p("resolve", 1.2, 1.5), p("dispatch", 4, 5), p("fanin", 6, 7), p("release", 8, 9)}},
		{id: 1, records: []phase{p("complete", 1, 2), p("idle", 2, 3), p("dispatch", 4, 5)}},
		{id: 2, producer: "aicore", records: []phase{p("complete", 1, 2), p("dispatch", 4, 5)}},
	}}
	var idle []event
	d := m.draw(t, settings{idle: true})
	for _, e := range d.inProcess(2) {
		if e.name == "idle" {
			idle = append(idle, e)
		}
	}
	equalSlices(t, "bars", spans(idle), []string{"idle 2/30000 2–4", "idle 2/30000 5–6", "idle 2/30000 7–8"})
	for _, e := range idle {
		equal(t, "form", e.cname+" "+jsonText(t, e.args), `grey {"phase":"idle","reconstructed":true}`)
	}
	equal(t, "reported", d.picture.Report.IdleBars, 3)
	d.ordered()

	if d = m.draw(t, settings{}); strings.Contains(string(d.text), "reconstructed") {
		t.Error("idle bars are drawn without being asked for")
	}
}

// TestDeepNesting: viewers drop what nests deeper than 512.
func TestDeepNesting(t *testing.T) {
	var rows []string
	for i := range 1200 {
		rows = append(rows, fmt.Sprintf("[0,%d,%d,%d,%d]", i, i, 100+i, 5000-i))
	}
	d := convert(t, level1(strings.Join(rows, ",")), settings{})
	equal(t, "bars", len(d.inProcess(4)), 1200)
	equal(t, "lanes", len(d.laneNames(4)), 3)
}
