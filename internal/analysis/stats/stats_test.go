package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// compute reads a capture and a graph, given as text, and sums it up.
func compute(t *testing.T, records, deps string, m *names.Map) *stats.Table {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "r.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var graph *taskgraph.Graph
	if deps != "" {
		d, err := capture.ReadDepsFrom(strings.NewReader(deps), "deps.json")
		if err != nil {
			t.Fatal(err)
		}
		if graph, err = taskgraph.New(d); err != nil {
			t.Fatal(err)
		}
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	threads := make([]string, len(tl.Streams))
	for n := range threads {
		threads[n] = fmt.Sprint("T", n)
	}
	return stats.Compute(tl, m, threads)
}

// words are the words of the first line that begins with a word.
func words(t *testing.T, out, first string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if w := strings.Fields(line); len(w) > 0 && w[0] == first {
			return strings.Join(w, " ")
		}
	}
	t.Fatalf("no line begins with %s:\n%s", first, out)
	return ""
}

// TestC17 is example C17 of spec/converter.md §10: no scheduler times. At level 3
// such a capture can only have lost them.
func TestC17(t *testing.T) {
	deps := `{"tasks":[{"task_id":1,"kernel_ids":[-1,0,-1]}],"edges":[]}`
	for level, c := range map[int]struct{ meta, caption string }{
		1: {`"clock_freq_hz":1000000000`, "AICore timing only"},
		3: {`"clock_freq_hz":1000000000,"capture_accounting":{"kinds":{"sched":{"dropped":1}}}`, "AICore + Scheduler task timing + scheduler phases"},
	} {
		tab := compute(t, fmt.Sprintf(`{"chip_swimlane_level":%d,"metadata":{%s},"aicore_tasks":[[0,1,1,2000,7000,500]]}`, level, c.meta), deps,
			names.NewMap("", map[int64]string{0: "kernel"}))
		out := text(t, tab.Text)
		if got, want := words(t, out, "0"), "0 kernel 1 5.00 - - - - - 0.50"; got != want {
			t.Errorf("level %d: %q, want %q", level, got, want)
		}
		if got, want := words(t, out, "TOTAL"), "TOTAL 1 5.00 -"; got != want {
			t.Errorf("level %d: %q, want %q", level, got, want)
		}
		for _, want := range []string{"\nAICore Observed Span: 5.50 us (", fmt.Sprintf("  Source chip_swimlane_level: %d (%s; recorded in", level, c.caption)} {
			if !strings.Contains(out, want) {
				t.Errorf("level %d lacks %q:\n%s", level, want, out)
			}
		}
		for _, not := range []string{"Total Test Time", "Task execution vs"} {
			if strings.Contains(out, not) {
				t.Errorf("level %d has %q:\n%s", level, not, out)
			}
		}
	}
}

// TestNoRows: neither span nor summary.
func TestNoRows(t *testing.T) {
	tab := compute(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1}}`, "", nil)
	out := text(t, tab.Text)
	if strings.Contains(out, "Span") || strings.Contains(out, "Total Test Time") || words(t, out, "TOTAL") != "TOTAL 0 0.00 -" {
		t.Errorf("without rows:\n%s", out)
	}
}

// TestCaptions are those of spec/records.md §2.1.
func TestCaptions(t *testing.T) {
	for level, want := range []string{"unknown", "AICore timing only", "AICore + Scheduler task timing",
		"AICore + Scheduler task timing + scheduler phases", "full collection with orchestrator phases", "unknown"} {
		if got := stats.Caption(level); got != want {
			t.Errorf("level %d: %q, want %q", level, got, want)
		}
	}
}

// near compares with a value that was summed up in floats.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestAgainstSums holds the columns of spec/converter.md §9 against plain float sums over the rows in µs.
func TestAgainstSums(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		const n = 60
		type sums struct{ count, exec, latency, head, tail, prop, local float64 }
		byID := map[int32]*sums{}
		var total sums
		var tasks, sched, kernels []string
		first, last := math.Inf(1), 0.0
		for i := range n {
			receive := 1000 + rnd.IntN(5000)
			start := receive + rnd.IntN(50)
			end := start + rnd.IntN(800)
			dispatch := max(1, receive-200+rnd.IntN(400))
			finish := max(dispatch, end-50+rnd.IntN(100))
			id := int32(rnd.IntN(5) - 1)
			tasks = append(tasks, fmt.Sprintf("[0,%d,%d,%d,%d,%d]", i, i, start, end, start-receive))
			sched = append(sched, fmt.Sprintf("[0,%d,%d,%d]", i, dispatch, finish))
			kernels = append(kernels, fmt.Sprintf(`{"task_id":%d,"kernel_ids":[-1,%d,-1]}`, i, id))
			us := func(cycles int) float64 { return float64(cycles) * 1e6 / 50e6 }
			if byID[id] == nil {
				byID[id] = &sums{}
			}
			for _, s := range []*sums{byID[id], &total} {
				s.count++
				s.exec += us(end - start)
				s.latency += us(finish - dispatch)
				s.head += us(start - dispatch)
				s.tail += us(finish - end)
				s.prop += us(receive - dispatch)
				s.local += us(start - receive)
			}
			first, last = min(first, us(dispatch)), max(last, us(finish))
		}
		tab := compute(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":50000000},"aicore_tasks":[`+strings.Join(tasks, ",")+
			`],"aicpu_tasks":[`+strings.Join(sched, ",")+`]}`, `{"tasks":[`+strings.Join(kernels, ",")+`],"edges":[]}`, nil)
		if len(tab.Functions) != len(byID) {
			t.Fatalf("%d functions, want %d", len(tab.Functions), len(byID))
		}
		for i := range tab.Functions {
			f := &tab.Functions[i]
			if i > 0 && f.ID <= tab.Functions[i-1].ID {
				t.Errorf("function %d stands behind %d", f.ID, tab.Functions[i-1].ID)
			}
			s := byID[f.ID]
			near(t, "count", float64(f.Count), s.count)
			near(t, "exec", tab.AvgExec(f), s.exec/s.count)
			near(t, "local", tab.AvgLocal(f), s.local/s.count)
			for _, c := range []struct {
				what string
				of   func(*stats.Function) (float64, bool)
				want float64
			}{
				{"latency", tab.AvgLatency, s.latency / s.count}, {"head", tab.AvgHead, s.head / s.count}, {"tail", tab.AvgTail, s.tail / s.count},
				{"propagation", tab.AvgProp, s.prop / s.count}, {"share", tab.ExecPercent, 100 * s.exec / s.latency},
			} {
				got, ok := c.of(f)
				if !ok {
					t.Errorf("no %s", c.what)
				}
				near(t, c.what, got, c.want)
			}
		}
		near(t, "total exec", tab.Micros(float64(tab.Total.Exec)), total.exec)
		near(t, "total latency", tab.Micros(float64(tab.Total.Latency)), total.latency)
		near(t, "span", tab.Micros(float64(tab.Span)), last-first)
		if tab.Tasks != n || tab.Cores != 1 || tab.Producer != "aicpu" || !tab.Timed {
			t.Errorf("table %+v", tab)
		}
	}
}

// TestLatencyOfZero: a share of nothing is 0.
func TestLatencyOfZero(t *testing.T) {
	tab := compute(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000},"aicore_tasks":[[0,1,1,5,5]],"aicpu_tasks":[[0,1,5,5]]}`, "", nil)
	out := text(t, tab.Text)
	if got, want := words(t, out, "-1"), "-1 func_-1_ 1 0.00 0.00 0.0% 0.00 0.00 0.00 0.00"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if strings.Contains(out, "Task execution vs") {
		t.Error("a summary although the total latency is 0")
	}
}

// TestThreads: idle times by thread; placeholders of missing streams are left out.
func TestThreads(t *testing.T) {
	record := func(kind string, start, end int) string {
		return fmt.Sprintf(`{"kind":%q,"start_cycles":%d,"end_cycles":%d,"loop_iter":0,"tasks_processed":0,"task_id":null}`, kind, start, end)
	}
	tab := compute(t, `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000},"scheduler_records":{"schema_version":1,"streams":[
{"scheduler_id":2,"records":[`+record("complete", 5, 10)+","+record("idle", 10, 13)+","+record("dispatch", 15, 20)+`]},
{"scheduler_id":0,"records":[`+record("complete", 5, 10)+","+record("dispatch", 15, 20)+`]}]}}`, "", nil)
	want := []stats.Thread{{Name: "T0", Busy: 10_000, Idle: 5000}, {Name: "T2", Busy: 10_000, Idle: 3000, Stated: true}}
	if fmt.Sprint(tab.Threads) != fmt.Sprint(want) {
		t.Errorf("threads %v, want %v", tab.Threads, want)
	}
}
