package draw_test

import (
	"slices"
	"testing"
)

// Examples C2 to C5 of spec/converter.md §10: anchors, violations, completion.

// at is a row of C2: one core of a task.
type at struct {
	core int
	row  row
}

// std is the default row of C2, moved by c µs where the example says so.
func std(core int, dispatch, receive, start, end float64) at {
	return at{core, r(0, core, dispatch, receive, start, end)}
}

// c2 is one line of the table of C2.
type c2 struct {
	name       string
	pred, succ []at
	types      map[int]string
	blocks     *[2]int // nil: no block map
	kernels    [2][3]int
	worker     int // pairs
	scheds     int
	in, out    int64
	finish     []int64 // tids that Worker View arrows end at
	arrows     []string
}

func span4(from, step int, f func(i int) at) []at {
	var out []at
	for i := range 4 {
		out = append(out, f(from+step*i))
	}
	return out
}

func c2Cases() []c2 {
	plain := func(core int) at { return std(core, 10, 10.5, 11, 20) }
	// Where the table gives only the receive, the kernel starts 0.5 µs later.
	received := func(core int, us float64) at { return std(core, us-0.5, us, us+0.5, us+10) }
	ones := [2][3]int{{-1, 0, -1}, {-1, 0, -1}}
	mixed := [2][3]int{{1, 2, -1}, {1, 2, -1}}
	return []c2{
		{name: "cores 0–3 to core 10", types: nil, kernels: ones, blocks: &[2]int{4, 1},
			pred: span4(0, 1, func(c int) at {
				return std(c, 10+float64(c), 10.5+float64(c), 11+float64(c), 20+float64(c))
			}),
			succ: []at{plain(10)}, worker: 1, scheds: 1, out: 4, in: 1,
			arrows: []string{"hb_violation 4/10000@10.5 → 4/10100@10.5", "hb_violation 3/10000@10 → 3/10100@10"}},
		// All times 1 µs later than in the table, where some are negative.
		{name: "to an SPMD task on cores 26 and 33", kernels: ones, blocks: &[2]int{1, 2},
			pred: []at{std(0, 1, 0.4, 0.5, 0.9)},
			succ: []at{std(26, 1.2, 1, 2.44, 4.02), std(33, 1.1, 1.06, 2.14, 3.92)}, worker: 1, scheds: 1, out: 1, in: 2,
			arrows: []string{"dependency 4/10000@0.4 → 4/10260@1", "hb_violation 3/10000@1 → 3/10330@1.1"}},
		{name: "SPMD to SPMD", kernels: ones, blocks: &[2]int{4, 4}, pred: span4(0, 1, plain),
			succ: span4(0, 1, func(c int) at {
				return std(c, 30+float64(c), 30.5+float64(c), 31+float64(c), 40+float64(c))
			}),
			worker: 1, scheds: 1, out: 4, in: 4,
			arrows: []string{"dependency 4/10000@10.5 → 4/10000@30.5", "dependency 3/10000@10 → 3/10000@30"}},
		{name: "two functions each", kernels: mixed, blocks: &[2]int{3, 3}, types: map[int]string{0: "aic", 4: "aic"},
			pred: []at{plain(0), plain(1), plain(3)},
			succ: []at{received(4, 30.5), received(5, 30.6), received(7, 30.8)}, worker: 4, scheds: 4, out: 3, in: 3,
			finish: []int64{10040, 10050}},
		{name: "one function to two", kernels: mixed, blocks: &[2]int{16, 24}, types: map[int]string{0: "aic"},
			pred: []at{plain(24), plain(30)},
			succ: []at{received(0, 30.5), received(24, 30.6), received(27, 30.8)}, worker: 2, scheds: 2, out: 16, in: 24,
			finish: []int64{10000, 10240}},
		{name: "MIX of one block each", kernels: mixed, blocks: &[2]int{1, 1}, types: map[int]string{0: "aic", 3: "aic"},
			pred: []at{plain(0), plain(1), plain(2)},
			succ: []at{received(3, 30.5), received(4, 30.6), received(5, 30.8)}, worker: 9, scheds: 9, out: 1, in: 1,
			finish: []int64{10030, 10040, 10050}},
		{name: "no block map", pred: []at{plain(0), plain(1), plain(2)}, succ: []at{plain(10)}, worker: 1, scheds: 1, out: 3, in: 1,
			arrows: []string{"hb_violation 4/10000@10.5 → 4/10100@10.5", "hb_violation 3/10000@10 → 3/10100@10"}},
		{name: "aic cores to aiv cores", kernels: [2][3]int{{3, -1, -1}, {-1, 4, -1}}, blocks: &[2]int{8, 16},
			types: map[int]string{1: "aic", 4: "aic", 7: "aic"}, pred: []at{plain(1), plain(4), plain(7)},
			succ:   []at{received(24, 30), received(26, 30), received(28, 30), received(30, 30), received(32, 30), received(34, 30), received(36, 30), received(38, 30)},
			worker: 1, scheds: 1, out: 8, in: 16, finish: []int64{10240}},
	}
}

func TestC2Anchors(t *testing.T) {
	for _, c := range c2Cases() {
		t.Run(c.name, func(t *testing.T) {
			m := &made{types: c.types}
			for i, rows := range [][]at{c.pred, c.succ} {
				for _, x := range rows {
					x.row.id = uint64(100 * (i + 1))
					m.rows = append(m.rows, x.row)
				}
			}
			var tasks []depTask
			if c.blocks != nil {
				tasks = []depTask{{100, c.kernels[0], c.blocks[0]}, {200, c.kernels[1], c.blocks[1]}}
			}
			d := m.draw(t, settings{deps: deps(t, tasks, [2]uint64{100, 200})})
			d.seated()
			worker, scheds := d.dependencies(4), d.dependencies(3)
			equal(t, "Worker View pairs", len(worker), c.worker)
			equal(t, "Scheduler View pairs", len(scheds), c.scheds)
			for _, a := range append(slices.Clone(worker), scheds...) {
				equal(t, a.String()+": output_task_count", a.from.out, c.out)
				equal(t, a.String()+": input_task_count", a.from.in, c.in)
			}
			if c.arrows != nil {
				d.wantArrows(append(worker, scheds...), arrow.String, c.arrows...)
			}
			if c.finish != nil {
				var tids []int64
				for _, a := range worker {
					tids = append(tids, a.to.tid)
				}
				slices.Sort(tids)
				equalSlices(t, "Worker View arrows end at tids", slices.Compact(tids), c.finish)
			}
		})
	}
}

// TestC2AnchorChoice: the earliest bar per function, the smaller core on a tie,
// in each view by that view's own start.
func TestC2AnchorChoice(t *testing.T) {
	m := &made{types: map[int]string{2: "aic", 7: "aic", 9: "aic"}, rows: []row{
		r(1, 9, 1, 1.5, 2, 3),
		r(2, 5, 9.9, 10, 11, 20), r(2, 0, 9.5, 10, 11, 20), r(2, 2, 9.0, 12, 13, 20), r(2, 7, 10.0, 11, 12, 20),
	}}
	d := m.draw(t, settings{deps: deps(t, []depTask{{1, [3]int{0, -1, -1}, 1}, {2, [3]int{1, 2, -1}, 4}}, [2]uint64{1, 2})})
	d.wantArrows(d.dependencies(4), arrow.counted,
		"dependency 4/10090@1.5 → 4/10000@10 out 1 in 4", "dependency 4/10090@1.5 → 4/10070@11 out 1 in 4")
	d.wantArrows(d.dependencies(3), arrow.counted,
		"dependency 3/10090@1 → 3/10000@9.5 out 1 in 4", "dependency 3/10090@1 → 3/10020@9 out 1 in 4")
}

// TestC2SameCoreTwice: two blocks of one task on one core; the bar that starts first is the anchor.
func TestC2SameCoreTwice(t *testing.T) {
	m := &made{rows: []row{r(1, 0, 1, 1.5, 2, 3), r(2, 4, 20, 20.5, 21, 22), r(2, 4, 10, 10.5, 11, 12)}}
	d := m.draw(t, settings{deps: deps(t, []depTask{{1, [3]int{-1, 0, -1}, 1}, {2, [3]int{-1, 1, -1}, 2}}, [2]uint64{1, 2})})
	d.wantArrows(d.dependencies(4), arrow.counted, "dependency 4/10000@1.5 → 4/10040@10.5 out 1 in 2")
	d.wantArrows(d.dependencies(3), arrow.counted, "dependency 3/10000@1 → 3/10040@10 out 1 in 2")
	for _, a := range d.dependencies(4) {
		h, err := d.holder(a.to)
		if err != nil || h.ts != 10500 {
			t.Errorf("the arrow ends in %v (%v), want the bar from 10.5", span(h), err)
		}
	}
}

func TestC3Violation(t *testing.T) {
	m := &made{rows: []row{r(100, 0, 10, 10.5, 11, 20), r(200, 1, 15, 19, 22, 30)}}
	d := m.draw(t, settings{deps: deps(t, []depTask{{100, [3]int{-1, 0, -1}, 1}, {200, [3]int{-1, 0, -1}, 1}}, [2]uint64{100, 200})})
	d.wantArrows(d.arrows(), arrow.String, "hb_violation 4/10000@10.5 → 4/10010@19", "hb_violation 3/10000@10 → 3/10010@15")
	equal(t, "violations reported", d.picture.Report.Violations, 1)
	equal(t, "reversed", d.picture.Report.Reversed, 0)
	for _, e := range d.inProcess(4) {
		for _, key := range []string{"hb-violation-successors", "hb-violation-predecessors"} {
			if _, ok := e.args[key]; ok {
				t.Errorf("%s of %s, whose arrow runs along its edge", key, e.name)
			}
		}
	}
}

// c4 is the SPMD task of C2's second line, with the records that complete it.
func c4(t *testing.T, streams []stream) *drawn {
	t.Helper()
	m := &made{threads: make([]int, 34), streams: streams,
		rows: []row{r(100, 26, 0.2, 0, 1.44, 3.02), r(100, 33, 0.1, 0.06, 1.14, 2.92)}}
	return m.draw(t, settings{deps: deps(t, []depTask{{100, [3]int{-1, 0, -1}, 2}})})
}

func TestC4Completion(t *testing.T) {
	d := c4(t, []stream{{id: 0, records: []phase{p("complete", 3.5, 4.5).with(absent, nil)}}})
	d.wantArrows(d.arrows("complete"), arrow.String, "complete 4/10260@3.01 → 2/30000@4.02", "complete 3/10330@3.91 → 2/30000@4.02")
	bar := d.slice(2, "complete(2)")
	// Without tasks_processed the attributed rows stand for it (spec/converter.md §4.7).
	equal(t, "args", jsonText(t, bar.args), `{"finishes_processed":2,"loop_iter":0,"phase":"complete","tasks_processed":2}`)
	d.seated()
}

func TestC4WithoutStreams(t *testing.T) {
	equal(t, "complete arrows", len(c4(t, nil).arrows("complete")), 0)
}

// TestC4Next: a finish between two complete records belongs to the next, and the arrow ends at its start.
func TestC4Next(t *testing.T) {
	d := c4(t, []stream{{id: 0, records: []phase{p("complete", 3.5, 3.6), p("complete", 4.2, 4.5)}}})
	d.wantArrows(d.arrows("complete"), arrow.String, "complete 4/10260@3.01 → 2/30000@4.2", "complete 3/10330@3.91 → 2/30000@4.2")
	equal(t, "unbound", len(d.picture.Report.Unbound), 1) // no dispatch record
}

func TestC5CompletionCounts(t *testing.T) {
	m := &made{threads: []int{0, 0}, rows: []row{r(1, 0, 0.5, 1, 1, 2), r(1, 1, 0.5, 1, 1, 2.5)},
		streams: []stream{{id: 0, records: []phase{p("complete", 2.5, 3.5).with(2, nil)}}}}
	d := m.draw(t, settings{})
	bar := d.slice(2, "complete(2)")
	equal(t, "args", jsonText(t, bar.args), `{"finish_rows_attributed":2,"finishes_processed":2,"loop_iter":0,"phase":"complete","tasks_processed":2}`)
}
