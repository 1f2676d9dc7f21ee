package draw_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/internal/parity"
)

// The two complete traces of spec/converter.md §10.

func testdata(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// listing is a listing of the specification, one event a line, as a trace.
func listing(t *testing.T, name string) *parity.Trace {
	t.Helper()
	var events []string
	for s := bufio.NewScanner(strings.NewReader(testdata(t, name))); s.Scan(); {
		events = append(events, s.Text())
	}
	tr, err := parity.Read(strings.NewReader(`{"traceEvents":[` + strings.Join(events, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// sameAs compares a trace with a listing, event by event, up to the documented differences.
func (d *drawn) sameAs(name string) {
	d.t.Helper()
	ours, err := parity.Read(bytes.NewReader(d.text))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, diff := range parity.Compare(listing(d.t, name), ours, parity.Options{}) {
		d.t.Error(diff)
	}
}

func drawC1(t *testing.T) *drawn {
	t.Helper()
	m, err := names.ParseMap("name_map.json", []byte(`{"level":2,"orchestrator_name":"PagedAttn","callable_id_to_name":{"0":"QK"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return convert(t, testdata(t, "c1.records.json"), settings{deps: testdata(t, "c1.deps.json"), names: m, overhead: true})
}

// TestC1 is example C1, complete, with what the text below it points out.
func TestC1(t *testing.T) {
	d := drawC1(t)
	d.sameAs("c1.jsonl")
	d.seated()

	// The Worker View anchor of r2t5 is core 2, its Scheduler View anchor core 1.
	d.wantArrows(d.dependencies(4), arrow.counted,
		"dependency 4/19002@0 → 4/10000@1.8 out 1 in 1",
		"dependency 4/10000@1.8 → 4/19000@4.9 out 1 in 1",
		"dependency 4/10000@1.8 → 4/10020@6 out 1 in 2",
		"dependency 4/19000@4.9 → 4/10020@6 out 1 in 2")
	d.wantArrows(d.dependencies(3), arrow.counted, "dependency 3/10000@1 → 3/10010@6 out 1 in 2")
	// Its completion is core 1's finish 8.4, on thread 0.
	d.wantArrows(d.arrows("complete"), arrow.String,
		"complete 4/10000@3.99 → 2/30000@4.2", "complete 3/10000@4.19 → 2/30000@4.2",
		"complete 4/10020@7.99 → 2/30000@8.4", "complete 3/10010@8.39 → 2/30000@8.4")
	// Every consumer has an allocation or dummy predecessor.
	equal(t, "complete→ready arrows", len(d.arrows("complete→ready")), 0)
	equal(t, "tid of the resolve", d.slice(2, "resolve(2)").tid, 30001)
	equal(t, "tid of the allocation", d.slice(4, "alloc(t3)").tid, 19002)
	equal(t, "its lane", d.lane[lane{4, 19002}], "AICPU_2")

	arrows := d.arrows()
	var ids []int64
	for _, a := range arrows {
		ids = append(ids, a.id)
	}
	slices.Sort(ids)
	for i, id := range ids {
		equal(t, "flow id", id, int64(i))
	}
	equal(t, "flows", len(ids), 18)
	r := &d.picture.Report
	equal(t, "edges", r.Edges, 4)
	equal(t, "edges drawn", r.Drawn, 4)
	equal(t, "arrows reported", r.Arrows, 18)
	equal(t, "counter samples of the overhead", r.OverheadPoints, 18)
	equal(t, "tasks of several blocks", r.SPMD, 1)
	equal(t, "warnings", len(r.Warnings), 0)
	equal(t, "slices written", d.counts.Slices, 20)
	equal(t, "flows written", d.counts.Flows, 18)
	equal(t, "counters written", d.counts.Counters, 20)
	equal(t, "bytes written", d.counts.Bytes, int64(len(d.text)))
}

// TestC1Order: what is drawn first is in the order of spec/converter.md §4, §5 and §7.
func TestC1Order(t *testing.T) {
	var want []string
	for line := range strings.Lines(testdata(t, "c1.jsonl")) {
		if !strings.Contains(line, "__metadata") {
			want = append(want, kindOf(t, line))
		}
	}
	var got []string
	for _, line := range strings.Split(string(drawC1(t).text), "\n") {
		line = strings.TrimSuffix(line, ",")
		if strings.HasPrefix(line, "{") && !strings.Contains(line, "__metadata") && !strings.Contains(line, "traceEvents") {
			got = append(got, kindOf(t, line))
		}
	}
	equalSlices(t, "order of events", got, want)
}

// kindOf names an event by what doesn't depend on rounding.
func kindOf(t *testing.T, line string) string {
	t.Helper()
	d := &drawn{t: t}
	d.text = []byte(`{"traceEvents":[` + micros3(line) + `]}`)
	d.parse()
	e := d.events[0]
	return fmt.Sprintf("%s %s %s %d/%d id %d bind %d", e.ph, e.cat, e.name, e.pid, e.tid, e.id, e.bind)
}

// micros3 rounds the times of an event of the specification to three decimals.
func micros3(line string) string {
	for _, key := range []string{`"ts":`, `"dur":`} {
		head, tail, ok := strings.Cut(line, key)
		if !ok {
			continue
		}
		end := strings.IndexAny(tail, ",}")
		var us float64
		fmt.Sscan(tail[:end], &us)
		line = head + key + fmt.Sprintf("%.3f", us) + tail[end:]
	}
	return line
}

// TestC1Statistics compares the table, character by character where the
// specification shows a line.
func TestC1Statistics(t *testing.T) {
	d := drawC1(t)
	m := names.NewMap("", map[int64]string{0: "QK"})
	var out bytes.Buffer
	if err := stats.Compute(d.timeline, m, draw.ThreadNames(d.timeline)).Text(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for want := range strings.Lines(testdata(t, "c1.stats.txt")) {
		if want = strings.TrimRight(want, "\n"); !slices.Contains(lines, want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

// TestC9 is example C9, complete; its streams stand in the order of the file.
func TestC9(t *testing.T) {
	d := convert(t, testdata(t, "c9.records.json"), settings{appearance: true})
	d.sameAs("c9.jsonl")
	equal(t, "flows", len(d.arrows()), 0) // nothing links the core to the stream
	equal(t, "exit signal", span(d.slice(6, "exit_signal")), "exit_signal 6/60001 0.091–0.092")
	equal(t, "task", span(d.slice(4, "task(t7)")), "task(t7) 4/10000 0.02–0.09")
	equal(t, "task", span(d.slice(3, "task(t7)")), "task(t7) 3/10000 0.025–0.095")
}

// TestC9Placed: placed by scheduler_id the lane moves, and those before it are named too.
func TestC9Placed(t *testing.T) {
	d := convert(t, testdata(t, "c9.records.json"), settings{})
	equalSlices(t, "scheduler lanes", d.laneNames(2), []string{"shared_ready_queue (global)", "Scheduler_0", "Scheduler_1", "Scheduler_9"})
	equal(t, "lane of the stream", d.lane[lane{2, 30020}], "Scheduler_9")
	equal(t, "its bar", span(d.slice(2, "ready_claim(t7)")), "ready_claim(t7) 2/30020 0.01–0.02")
	equalSlices(t, "worker lanes", d.laneNames(4), []string{"AIV_0", "AICPU_0", "AICPU_1", "AICPU_2"})
	equal(t, "process", d.process[2], "AICore Scheduler")
}

// TestC9Counts: the numbers of the listing.
func TestC9Counts(t *testing.T) {
	d := convert(t, testdata(t, "c9.records.json"), settings{appearance: true})
	equal(t, "lifecycle bars", len(d.inProcess(6)), 7)
	equal(t, "scheduler bars", len(d.inProcess(2)), 2)
	equal(t, "sort index of the queue lane is its number", d.laneSort[lane{2, 3999}], 3999)
}
