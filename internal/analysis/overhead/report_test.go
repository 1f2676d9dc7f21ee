package overhead_test

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/overhead"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// task is a row of an example, times in µs.
type task struct {
	id, core                     int
	dispatch, start, end, finish float64
}

// phase is a scheduler record, times in µs.
type phase struct {
	kind       string
	start, end float64
	loop       int
	processed  int
	pops       [2]int
	id         int // task id, 0: none
}

// example is a capture that is made up.
type example struct {
	level    int // 0: 3
	producer string
	types    []string // by core; nil: one aic
	threads  []int    // core_to_thread; nil: all cores on thread 0
	tasks    []task
	streams  [][]phase // by thread
	edges    [][2]int
}

// perMicro is the rate of the examples' clock.
const perMicro = 100

func cycles(us float64) int { return 100_000 + int(math.Round(us*perMicro)) }

func (x *example) document() map[string]any {
	if x.types == nil {
		x.types = []string{"aic"}
	}
	if x.threads == nil {
		x.threads = make([]int, len(x.types))
	}
	if x.level == 0 {
		x.level = 3
	}
	if x.producer == "" {
		x.producer = "aicpu"
	}
	tasks, sched := [][]int{}, [][]int{}
	for i, r := range x.tasks {
		tasks = append(tasks, []int{r.core, r.id, i, cycles(r.start), cycles(r.end), 0})
		sched = append(sched, []int{r.core, i, cycles(r.dispatch), cycles(r.finish)})
	}
	doc := map[string]any{
		"chip_swimlane_level": x.level,
		"metadata":            map[string]any{"clock_freq_hz": perMicro * 1_000_000, "core_types": x.types, "core_to_thread": x.threads},
		"aicore_tasks":        tasks,
	}
	if x.level > 1 {
		doc["scheduler_tasks"] = map[string]any{"schema_version": 1, "producer": x.producer, "records": sched}
	}
	var streams []map[string]any
	for n, list := range x.streams {
		var records, metrics []map[string]any
		for j, p := range list {
			r := map[string]any{"kind": p.kind, "start_cycles": cycles(p.start), "end_cycles": cycles(p.end), "loop_iter": p.loop, "tasks_processed": p.processed, "task_id": nil}
			if p.id > 0 {
				r["task_id"] = p.id
			}
			records = append(records, r)
			if p.pops != [2]int{} {
				metrics = append(metrics, map[string]any{"record_index": j, "pop_hit": p.pops[0], "pop_miss": p.pops[1]})
			}
		}
		if metrics == nil {
			metrics = []map[string]any{}
		}
		streams = append(streams, map[string]any{"producer": x.producer, "scheduler_id": n, "records": records, "metrics": metrics})
	}
	if streams != nil {
		doc["scheduler_records"] = map[string]any{"schema_version": 1, "streams": streams}
	}
	return doc
}

func (x *example) timeline(t testing.TB) *timeline.Timeline {
	t.Helper()
	text, err := json.Marshal(x.document())
	if err != nil {
		t.Fatal(err)
	}
	return join(t, string(text), x.edges)
}

func join(t testing.TB, records string, edges [][2]int) *timeline.Timeline {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{Pops: true})
	if err != nil {
		t.Fatal(err)
	}
	d := &capture.Deps{}
	for _, e := range edges {
		d.Pred, d.Succ = append(d.Pred, uint64(e[0])), append(d.Succ, uint64(e[1]))
	}
	graph, err := taskgraph.New(d)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func (x *example) report(t testing.TB, opt overhead.Options) *overhead.Report {
	t.Helper()
	tl := x.timeline(t)
	if err := overhead.CheckRecords(tl); err != nil {
		t.Fatal(err)
	}
	r, err := overhead.New(tl, "deps.json", opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func textOf(t testing.TB, r *overhead.Report, form overhead.Form) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b, form); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// micros is a length of cycles of an example.
func micros(c uint64) float64 { return float64(c) / perMicro }

// worked is the complete example of spec/sched-overhead.md §8.
var worked = example{
	types: []string{"aic", "aiv"},
	tasks: []task{{1, 0, 0, 1, 10, 11}, {2, 0, 8, 11, 20, 22}, {3, 1, 12, 13, 18, 18.5}, {4, 0, 24, 25, 40, 41}, {4, 1, 24, 26, 38, 39}},
	edges: [][2]int{{1, 3}, {2, 4}, {3, 4}, {3, 4}},
	streams: [][]phase{{
		{kind: "dispatch", start: 0, end: 0.5, loop: 1, processed: 1, pops: [2]int{1, 0}},
		{kind: "dispatch", start: 7.5, end: 8, loop: 30, processed: 1, pops: [2]int{1, 3}},
		{kind: "complete", start: 10.5, end: 11.5, loop: 42, processed: 1},
		{kind: "resolve", start: 10.8, end: 11.2, loop: 42, processed: 1},
		{kind: "dispatch", start: 11.5, end: 12, loop: 42, processed: 1, pops: [2]int{1, 2}},
		{kind: "complete", start: 18.2, end: 18.7, loop: 70, processed: 1},
		{kind: "complete", start: 22, end: 23, loop: 84, processed: 1},
		{kind: "dispatch", start: 23, end: 24, loop: 84, processed: 2, pops: [2]int{1, 1}},
		{kind: "complete", start: 38.5, end: 41, loop: 160, processed: 2},
	}},
}

// workedText is what §3 to §8 say of it, fixed lines included. Of the lines that
// the specification describes only, the words are those of the stored outputs.
const workedText = `
==========================================================================================
Part 1: Overhead verdict  (idle core + ready, undispatched work — share of makespan)
==========================================================================================
  Total tasks: 5   window: 39.0 us  (first start -> last end)
  Per-engine overhead: C (AIC) 10.3%  V (AIV) 15.4%
  System: all_overhead 10.3% (every engine blocked)  |  has_overhead 15.4% (every working engine starved)
  overhead(T) = idle T-core AND a ready, undispatched T-task (a MIX task counts for both).
  An engine with no ready work is NOT overhead — its idle is dependency-mandated progress.
  -> PARTIALLY SCHEDULER-LIMITED — overhead 15% of the makespan; the rest is compute + dependency-limited parallelism.

==========================================================================================
Part 2: aicore switch  (gap [prev_end, start] when dispatch < prev_end; PER CORE)
==========================================================================================
  Each switch is the core picking up an already-dispatched task (~sub-us). Reported
  per core (NOT summed over cores — switches overlap). A switch is 'overhead' when the
  engine has other ready work that instant, else 'independent'. makespan bound:
  lower = min over all cores, upper = sum of per-engine minima.

  Engine      Cores   min/core  mean/core   max/core  n events  us/event
  --------------------------------------------------------------------------
  C (AIC)         1      1.0us      1.0us      1.0us         1    1.00us
  V (AIV)         1      0.0us      0.0us      0.0us         0    0.00us

    C (AIC) switch split: 0% during overhead, 100% independent
  makespan switch bound: [0.00, 1.00] us  (0.00% .. 2.56% of makespan)

==========================================================================================
Part 3: Head OH statistics & distribution
==========================================================================================
  head = min(start - dispatch, start - last_task_end) per task (clamped at 0)

  Head OH distribution (N=5):
    P10       1.00 us
    P25       1.00 us
    P50       1.00 us
    P75       1.00 us
    P90       2.00 us
    P95       2.00 us
    P99       2.00 us
    Max:      2.00 us
    Mean:     1.20 us   Total:        6.0 us

==========================================================================================
Part 4: Tail OH distribution
==========================================================================================
  tail = finish - end per task

  Tail OH distribution (N=5):
    P10       0.50 us
    P25       1.00 us
    P50       1.00 us
    P75       1.00 us
    P90       2.00 us
    P95       2.00 us
    P99       2.00 us
    Max:      2.00 us
    Mean:     1.10 us   Total:        5.5 us

==========================================================================================
Part 5: AICPU scheduler loop breakdown
  1 scheduler threads
==========================================================================================

  Thread     Role         Loops      Tasks      ns/loop  Total (us)
  -----------------------------------------------------------------
  T0         S scheduler     160          4          256        41.0
  S SUM                      160          4          256        41.0
  FINs observed (Complete phase): 5

  Phase (summed over threads)                              Total (us) % of total  Avg/task (us)
  ---------------------------------------------------------------------------------------------
  Complete (poll handshake, completion handling)                  5.0      12.2%           1.25
  Dispatch (pop queue, build payload, flush)                      2.5       6.1%           0.62
  Idle (spinning, no progress — reconstructed from gaps)         33.5      81.7%           8.38

  Fanout (notify consumers): total edges=3, max_degree=1, avg_degree=0.8
  Fanin  (release producers): total edges=3, max_degree=2, avg_degree=0.8

  Pop: hit=4, miss=6, hit_rate=40.0%

  Avg scheduler loop iteration: 256 ns (S threads; approx FIN polling interval)

  Avg Tail OH = 1.1 us ~= 4.3 x avg loop iteration (256 ns)
  -> On average, a completed task waits ~4.3 S-thread loop iterations before FIN detection

  Key insight: Complete phase consumes ~12% of scheduler CPU.
  Fanout: avg_degree=0.8, max_degree=1.
  Fanin:  avg_degree=0.8, max_degree=2.
  Fanout traversal and atomic ops dominate the complete phase.
==========================================================================================

==========================================================================================
Part 6: Critical-path latency attribution
==========================================================================================
  Makespan-determining path: 1 hops, span 33.0 us
    Compute (exec) on path : 24.0 us (72.7%)
    Scheduler injected     : 8.0 us (24.2%)
    Other (dep wait on path): 1.0 us
  -> scheduler adds ~24.2% to the critical path's end-to-end latency.
==========================================================================================
`

func sameText(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(nothing)", "(nothing)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Errorf("line %d\n got %s\nwant %s", i+1, x, y)
		}
	}
}

func TestWorkedExample(t *testing.T) {
	r := worked.report(t, overhead.Options{})
	sameText(t, textOf(t, r, overhead.Form{Narrow: true}), workedText)
	// Question 6: the role column is as wide as what stands in it.
	wide := strings.NewReplacer("Role         Loops", "Role          Loops", "\n  "+strings.Repeat("-", 65)+"\n", "\n  "+strings.Repeat("-", 66)+"\n").Replace(workedText)
	sameText(t, textOf(t, r, overhead.Form{}), wide)
	// Question 5: what "Total tasks" counts is rows.
	logical := strings.Replace(wide, "Total tasks: 5   ", "Total tasks: 5 (4 logical)   ", 1)
	sameText(t, textOf(t, r, overhead.Form{Logical: true}), logical)
	// There is no producer without rows here, so nothing to bridge.
	sameText(t, textOf(t, worked.report(t, overhead.Options{Bridge: true}), overhead.Form{}), wide)
}

// TestOverheadTimes is the table of spec/sched-overhead.md §8.2, parts 1 and 2.
func TestOverheadTimes(t *testing.T) {
	for name, c := range map[string]struct {
		example
		aic, aiv, all, has float64
	}{
		"one waits":               {example{tasks: []task{{1, 0, 0, 0, 5, 5}, {2, 0, 8, 8, 15, 15}}, edges: [][2]int{{1, 2}}}, 3, 0, 3, 3},
		"a producer without rows": {example{tasks: []task{{2, 0, 8, 8, 15, 15}}, edges: [][2]int{{99, 2}}}, 0, 0, 0, 0},
		"a mix task": {example{types: []string{"aic", "aiv"}, tasks: []task{{1, 0, 0, 0, 5, 5}, {2, 0, 8, 8, 15, 15}, {2, 1, 10, 8, 15, 15}},
			edges: [][2]int{{1, 2}}}, 3, 3, 3, 3},
		// An engine has overhead while the other, which works too, has no core to spare.
		"all is less than each": {example{types: []string{"aic", "aic", "aiv"}, tasks: []task{{1, 0, 0, 0, 5, 5}, {2, 2, 0, 0, 20, 20}, {3, 1, 9, 9, 20, 20},
			{4, 2, 12, 20, 22, 22}}, edges: [][2]int{{1, 3}, {1, 4}}}, 4, 0, 0, 0},
	} {
		r := c.report(t, overhead.Options{})
		var got [2]float64
		for _, e := range r.Engines {
			got[slices.Index([]string{"aic", "aiv"}, e.Type)] = micros(e.Overhead)
		}
		if got != [2]float64{c.aic, c.aiv} || micros(r.All) != c.all || micros(r.Has) != c.has {
			t.Errorf("%s: %v, all %v, has %v; want %v, %v, all %v, has %v", name, got, micros(r.All), micros(r.Has), c.aic, c.aiv, c.all, c.has)
		}
	}
	x := example{types: []string{"aic", "aiv"}, tasks: []task{{1, 0, 0, 0, 10, 10}, {2, 0, 8, 12, 20, 20}, {3, 1, 0, 0, 10, 10}}}
	r := x.report(t, overhead.Options{})
	for i, want := range []overhead.Switches{{Min: 200, Max: 200, Sum: 200, Events: 1}, {}} {
		if r.Engines[i].Switches != want {
			t.Errorf("switches of %s: %+v, want %+v", r.Engines[i].Type, r.Engines[i].Switches, want)
		}
	}
	if micros(r.SwitchLow) != 0 || micros(r.SwitchHigh) != 2 {
		t.Errorf("bound [%v, %v], want [0, 2]", micros(r.SwitchLow), micros(r.SwitchHigh))
	}
	// A piece of a switch counts where other work of the engine is ready: 11 to 13 of 10 to 14.
	x = example{tasks: []task{{1, 0, 0, 0, 10, 10}, {2, 0, 8, 14, 20, 20}, {3, 0, 13, 20, 30, 30}, {5, 1, 0, 0, 11, 11}}, types: []string{"aic", "aic"}, edges: [][2]int{{5, 3}}}
	if e := x.report(t, overhead.Options{}).Engines[0]; micros(e.Sum) != 4 || micros(e.During) != 2 || e.Events != 1 {
		t.Errorf("a switch in parts: %+v", e.Switches)
	}
}

// TestHeadAndTail is the table of spec/sched-overhead.md §5: the rows in order of
// time have these heads and tails, here given in ascending order.
func TestHeadAndTail(t *testing.T) {
	for name, c := range map[string]struct {
		types []string
		tasks []task
		head  []float64
		tail  []float64
	}{
		"one":         {nil, []task{{1, 0, 10, 12, 20, 22}}, []float64{2}, []float64{2}},
		"busy":        {nil, []task{{1, 0, 0, 1, 10, 11}, {2, 0, 5, 12, 20, 21}}, []float64{1, 2}, []float64{1, 1}},
		"idle":        {nil, []task{{1, 0, 0, 1, 10, 11}, {2, 0, 12, 13, 20, 21}}, []float64{1, 1}, []float64{1, 1}},
		"overlapping": {nil, []task{{1, 0, 0, 1, 10, 11}, {2, 0, 5, 9, 16, 15}}, []float64{0, 1}, []float64{0, 1}},
		"two cores":   {[]string{"aic", "aic"}, []task{{1, 0, 0, 5, 10, 11}, {2, 1, 0, 3, 8, 9}}, []float64{3, 5}, []float64{1, 1}},
	} {
		x := example{types: c.types, tasks: c.tasks}
		r := x.report(t, overhead.Options{})
		for _, s := range []struct {
			what string
			got  overhead.Spread
			want []float64
		}{{"head", r.Head, c.head}, {"tail", r.Tail, c.tail}} {
			n, sum := len(s.want), 0.0
			for _, v := range s.want {
				sum += v
			}
			if s.got.N != n || micros(s.got.Sum) != sum || micros(s.got.Max) != s.want[n-1] || micros(s.got.P[0]) != s.want[0] || micros(s.got.P[6]) != s.want[n-1] {
				t.Errorf("%s: %s %+v, want %v", name, s.what, s.got, s.want)
			}
		}
	}
}

// TestThreads is the test data of spec/sched-overhead.md §6.2.
func TestThreads(t *testing.T) {
	type figures struct {
		role               string
		loops, tasks, fins int64
		total              float64
		phases             string // name and µs, in report order
	}
	one := []task{{1, 0, 0, 0.1, 0.5, 1.25}}
	for name, c := range map[string]struct {
		example
		want []figures
	}{
		"one task on two cores": {example{types: []string{"aic", "aiv"}, tasks: []task{{1, 0, 0, 0.1, 1, 1.25}, {1, 1, 0, 0.1, 1, 1.75}},
			streams: [][]phase{{{kind: "complete", start: 1, end: 2, loop: 1, processed: 2}}}}, []figures{{"S", 1, 1, 2, 1, "complete 1"}}},
		"on two threads": {example{types: []string{"aic", "aiv"}, threads: []int{0, 1}, tasks: []task{{1, 0, 0, 0.1, 1, 1.25}, {1, 1, 0, 0.1, 1, 1.75}},
			streams: [][]phase{{{kind: "complete", start: 1, end: 2, loop: 1, processed: 1}}, {{kind: "complete", start: 1, end: 2, loop: 1, processed: 1}}}},
			[]figures{{"S", 1, 0, 1, 1, "complete 1"}, {"S", 1, 1, 1, 1, "complete 1"}}},
		"no thread is known to serve the core": {example{threads: []int{-1}, tasks: one, streams: [][]phase{{{kind: "complete", start: 1, end: 2, processed: 3}}}},
			[]figures{{"S", 0, 3, 3, 1, "complete 1"}}},
		"a core without a thread beside one with": {example{types: []string{"aic", "aiv"}, threads: []int{0, -1}, tasks: []task{{1, 0, 0, 0.1, 1, 1.25}, {1, 1, 0, 0.1, 1, 1.75}, {2, 1, 2, 2, 3, 3}},
			streams: [][]phase{{{kind: "complete", start: 1, end: 2, processed: 2}}}}, []figures{{"S", 0, 1, 2, 1, "complete 1"}}},
		"a resolving thread": {example{tasks: one, streams: [][]phase{{{kind: "resolve", start: 1, end: 2, loop: 7}, {kind: "async_poll", start: 3, end: 5, loop: 9}, {kind: "dummy", start: 6, end: 7, loop: 9}}}},
			[]figures{{"P", 9, 1, 0, 6, "async_poll 2 dummy 1 resolve 1 idle 2"}}},
		"release": {example{tasks: one, streams: [][]phase{{{kind: "release", start: 1, end: 2, loop: 7, processed: 5}, {kind: "resolve", start: 2, end: 3, loop: 8}}}},
			[]figures{{"S", 8, 1, 0, 2, "release 1 resolve 1"}}},
		"standalone": {example{tasks: one, streams: [][]phase{{{kind: "dummy", start: 1, end: 2}, {kind: "resolve_standalone", start: 2, end: 2}}}},
			[]figures{{"P", 0, 1, 0, 1, "dummy 1 resolve 0"}}},
		"at the end": {example{tasks: one, streams: [][]phase{{{kind: "complete", start: 1, end: 2}, {kind: "resolve", start: 2, end: 2}}}},
			[]figures{{"S", 0, 1, 0, 1, "complete 1 resolve 0"}}},
		"nested": {example{tasks: one, streams: [][]phase{{{kind: "complete", start: 1, end: 5}, {kind: "resolve", start: 2, end: 4}, {kind: "dummy", start: 6, end: 9}, {kind: "resolve", start: 7, end: 8}}}},
			[]figures{{"S", 0, 1, 0, 8, "complete 4 dummy 3 idle 1"}}},
		"nested from the start": {example{tasks: one, streams: [][]phase{{{kind: "dummy", start: 1, end: 5}, {kind: "resolve", start: 1, end: 3}, {kind: "dispatch", start: 5, end: 6}}}},
			[]figures{{"S", 0, 1, 0, 5, "dispatch 1 dummy 4"}}},
		"what does not count": {example{tasks: one, streams: [][]phase{
			{{kind: "bootstrap", start: 1, end: 50}},
			{{kind: "drain", start: 1, end: 3}, {kind: "drain_prepare", start: 1, end: 2, loop: 99}, {kind: "drain_publish", start: 2, end: 3}, {kind: "dummy_task", start: 5, end: 6}, {kind: "scan", start: 5, end: 6},
				{kind: "idle", start: 3, end: 7}, {kind: "something_new", start: 5, end: 6}, {kind: "state_probe", start: 7, end: 8}, {kind: "worksteal", start: 8, end: 9}, {kind: "refill", start: 9, end: 11}}}},
			[]figures{{"S", 0, 0, 0, 10, "state_probe 1 worksteal 1 refill 2 drain 2 idle 4"}}},
	} {
		r := c.report(t, overhead.Options{})
		if len(r.Phases.Threads) != len(c.want) {
			t.Errorf("%s: %d threads, want %d", name, len(r.Phases.Threads), len(c.want))
			continue
		}
		for i := range c.want {
			th := &r.Phases.Threads[i]
			got := figures{role: "S", loops: th.Loops, tasks: th.Tasks, fins: th.Finishes, total: micros(th.Total())}
			if th.Resolver {
				got.role = "P"
			}
			var parts []string
			for p, seen := range th.Seen {
				if seen {
					parts = append(parts, overhead.PhaseName(p)+" "+formatMicros(th.Time[p]))
				} else if th.Time[p] != 0 {
					t.Errorf("%s: time of %s, which is not there", name, overhead.PhaseName(p))
				}
			}
			if got.phases = strings.Join(parts, " "); got != c.want[i] {
				t.Errorf("%s, thread %d:\n got %+v\nwant %+v", name, i, got, c.want[i])
			}
		}
	}
}

func formatMicros(c uint64) string {
	b, err := json.Marshal(micros(c))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestRolesAddUp: S (100 µs, 10 loops, 2 done), S (300, 30, 6), P (20, 200, 0).
func TestRolesAddUp(t *testing.T) {
	x := example{types: []string{"aic", "aic"}, threads: []int{0, 1}}
	for i := range 8 {
		core := 0
		if i >= 2 {
			core = 1
		}
		at := float64(i * 2)
		x.tasks = append(x.tasks, task{i + 1, core, at, at, at + 1, at + 1})
	}
	x.streams = [][]phase{{{kind: "complete", start: 1, end: 101, loop: 10}}, {{kind: "dispatch", start: 1, end: 301, loop: 30}}, {{kind: "async_poll", start: 1, end: 21, loop: 200}}}
	text := textOf(t, x.report(t, overhead.Options{}), overhead.Form{})
	for _, want := range []string{
		"  T0         S scheduler      10          2        10000       100.0\n",
		"  T2         P resolve       200          0          100        20.0\n",
		"  S SUM                       40          8        10000       400.0\n",
		"  P SUM                      200          0          100        20.0\n",
		"  Complete (poll handshake, completion handling)                100.0      23.8%          12.50\n" +
			"  AsyncPoll (async-wait completion: SDMA/RoCE/URMA/CCU)          20.0       4.8%           2.50\n" +
			"  Dispatch (pop queue, build payload, flush)                    300.0      71.4%          37.50\n\n",
		"  Avg scheduler loop iteration: 10000 ns (S threads; approx FIN polling interval)\n",
		"  Key insight: Dispatch phase consumes ~71% of scheduler CPU.\n  Pop hit_rate=0.0%: low hit rate suggests ready queue often empty.\n  Cache flush (dc cvac + dsb sy) is the dominant non-pop cost.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing\n%s\nin\n%s", want, text)
		}
	}
}

// TestPath is the table of spec/sched-overhead.md §7.
func TestPath(t *testing.T) {
	x := example{types: []string{"aic", "aic"}, tasks: []task{{1, 0, 0, 0, 5, 6}, {2, 1, 7, 7, 12, 13}}, edges: [][2]int{{1, 2}}}
	if p := x.report(t, overhead.Options{}).Path; p.Hops != 1 || micros(p.Exec) != 10 || micros(p.Sched) != 2 {
		t.Errorf("two tasks: %+v", p)
	}
	x = example{tasks: []task{{1, 0, 1, 3, 8, 9}}}
	if p := x.report(t, overhead.Options{}).Path; p.Hops != 0 || micros(p.Span()) != 8 || micros(p.Sched) != 2 || micros(p.Exec) != 5 {
		t.Errorf("one task: %+v", p)
	}
	// Equal ends: the greater id. Equal finishes: the first row.
	x = example{types: []string{"aic", "aic", "aic", "aic"}, tasks: []task{{1, 0, 0, 1, 5, 6}, {2, 1, 0, 2, 5, 6}, {3, 2, 6, 7, 9, 10}, {4, 3, 6, 8, 9, 10}}, edges: [][2]int{{1, 3}, {2, 3}}}
	if p := x.report(t, overhead.Options{}).Path; p.Hops != 1 || micros(p.Exec) != 2+3 || micros(p.Sched) != 2+2 {
		t.Errorf("ties: %+v", p)
	}
	x = example{tasks: []task{{1, 0, 5, 5, 5, 5}}}
	if text := textOf(t, x.report(t, overhead.Options{}), overhead.Form{}); !strings.Contains(text, "  (could not resolve a critical path from the DAG)\n") {
		t.Errorf("a path of no length:\n%s", text)
	}
}

// TestAICore is the AICore producer (spec/sched-overhead.md §6.1, §8.2).
func TestAICore(t *testing.T) {
	x := example{producer: "aicore", tasks: []task{{1, 0, 0, 1, 5, 6}}, streams: [][]phase{
		{{kind: "ready_claim", start: 1, end: 1.5}}, {{kind: "resolve_standalone", start: 1, end: 3}, {kind: "resolve", start: 2, end: 2.5}, {kind: "complete", start: 1, end: 4}}}}
	text := textOf(t, x.report(t, overhead.Options{}), overhead.Form{})
	for _, want := range []string{
		"Part 1: ", "Part 3: ", "Part 4: ", "Part 6: ", "\nPart 5: AICore scheduler phase breakdown\n", "\n  Scheduler streams: 2\n",
		"\n  complete         records=     1 total=     3.000 us\n  ready_claim      records=     1 total=     0.500 us\n  resolve          records=     2 total=     2.500 us\n  dropped=0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "AICPU") {
		t.Errorf("the title of the other producer in\n%s", text)
	}
	for _, producer := range []string{"aicpu", "aicore"} {
		for level := 2; level <= 4; level++ { // also where a higher level has no records: question 11
			x := example{level: level, producer: producer, tasks: []task{{1, 0, 0, 1, 5, 6}}}
			text := textOf(t, x.report(t, overhead.Options{}), overhead.Form{})
			notice := regexp.MustCompile(`(?m)^  .*unavailable at chip-swimlane Level (\d); Level >= 3`).FindStringSubmatch(text)
			if notice == nil || notice[1] != string(rune('0'+level)) || !strings.Contains(text, "Part 6: ") || strings.Contains(text, "Part 5: AICPU") != (producer == "aicpu") {
				t.Errorf("%s, level %d: notice %q in\n%s", producer, level, notice, text)
			}
		}
	}
}

// TestChecks: spec/sched-overhead.md §2, checks 4 to 6.
func TestChecks(t *testing.T) {
	mixed := example{tasks: []task{{1, 0, 0, 1, 5, 6}}, streams: [][]phase{{{kind: "idle", start: 1, end: 2}}}}
	doc := mixed.document()
	doc["scheduler_tasks"].(map[string]any)["producer"] = "aicore"
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := overhead.CheckRecords(join(t, string(text), nil)); !errors.Is(err, overhead.ErrMixed) || err.Error() != "mixed AICPU/AICore scheduler producers are unsupported" {
		t.Errorf("mixed producers: %v", err)
	}
	empty := example{}
	if err := overhead.CheckRecords(empty.timeline(t)); !errors.Is(err, overhead.ErrNoTasks) || err.Error() != "No tasks found in perf data" {
		t.Errorf("no rows: %v", err)
	}
	first := example{level: 1}
	for i := range 7 {
		first.tasks = append(first.tasks, task{i + 10, 0, 0, float64(i), float64(i), 0})
	}
	err = overhead.CheckRecords(first.timeline(t))
	if err == nil {
		t.Fatal("level 1 is accepted")
	}
	for _, want := range []string{"records.json is incompatible with the scheduler overhead analysis.\n",
		"Missing required fields (showing up to 5 tasks): task=10 missing=dispatch_time_us,finish_time_us; task=11 missing=", "level is 1", "Note: plain conversion"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "task=15") || !strings.Contains(err.Error(), "task=14") {
		t.Errorf("more or less than five tasks in %v", err)
	}
}

// TestCycle: question 17.
func TestCycle(t *testing.T) {
	x := worked
	x.edges = append(slices.Clone(x.edges), [2]int{4, 8}, [2]int{8, 3})
	_, err := overhead.New(x.timeline(t), "run/deps.json", overhead.Options{})
	var cycle *overhead.CycleError
	if !errors.As(err, &cycle) || !slices.Equal(cycle.IDs, []uint64{3, 4, 8}) || !strings.HasPrefix(err.Error(), "run/deps.json has a cycle of 3 tasks: t3 -> t4 -> t8 -> t3; ") {
		t.Errorf("a cycle: %v", err)
	}
}

// TestBridge: a dependency through tasks that ran on no core counts when asked for.
func TestBridge(t *testing.T) {
	// 1 ends at 5, 3 at 7; 20 and 21 are dummies, 2 waits for 21 only and is dispatched at 10.
	x := example{types: []string{"aic", "aic"}, tasks: []task{{1, 0, 0, 0, 5, 5}, {3, 1, 0, 0, 7, 7}, {2, 0, 10, 11, 15, 16}},
		edges: [][2]int{{1, 20}, {20, 21}, {3, 21}, {21, 2}}}
	plain, bridged := x.report(t, overhead.Options{}), x.report(t, overhead.Options{Bridge: true})
	if plain.Has != 0 || plain.Path.Hops != 0 || plain.Bridged {
		t.Errorf("without bridges: %v us, %+v", micros(plain.Has), plain.Path)
	}
	if micros(bridged.Has) != 3 || bridged.Path.Hops != 1 || micros(bridged.Path.Exec) != 4+7 || micros(bridged.Path.Sched) != 4 || !bridged.Bridged {
		t.Errorf("with bridges: %v us, %+v", micros(bridged.Has), bridged.Path)
	}
	if plain.Behind != 1 || bridged.Behind != 0 {
		t.Errorf("tasks behind those without rows: %d without bridges and %d with, expected 1 and 0", plain.Behind, bridged.Behind)
	}
	// What waits for nothing itself is nothing to bridge.
	alloc := example{types: x.types, tasks: x.tasks, edges: [][2]int{{20, 2}, {1, 2}}}
	if r := alloc.report(t, overhead.Options{}); r.Behind != 0 {
		t.Errorf("behind an allocation: %d tasks, expected none", r.Behind)
	}
	// A graph task is done when the last task expanded from it is, not when what it waited for is.
	const member = 1<<32 | 30<<10
	x = example{types: []string{"aic", "aic"}, tasks: []task{{1, 0, 0, 0, 5, 5}, {member, 0, 5, 5, 9, 9}, {member | 1, 1, 5, 5, 12, 12}, {2, 0, 14, 14, 15, 15}},
		edges: [][2]int{{1, 30}, {30, 2}}, streams: [][]phase{{{kind: "graph_prepare", start: 1, end: 2, id: 30}}}}
	if r := x.report(t, overhead.Options{Bridge: true}); micros(r.Has) != 2 || r.Path.Hops != 1 || micros(r.Path.Exec) != 1+7 {
		t.Errorf("behind a graph task: %v us, %+v", micros(r.Has), r.Path)
	}
	// AICore schedulers have no dummies: a task of theirs without kernels is a graph, whose members nothing tells.
	x.producer = "aicore"
	x.streams = [][]phase{{{kind: "idle", start: 1, end: 2}}}
	x.tasks[1].id, x.tasks[2].id = 40, 41
	for kernels, want := range map[[3]int32]float64{{-1, -1, -1}: 0, {-1, 7, -1}: 14 - 5} { // skipped, where it has one
		tl := x.timeline(t)
		graph, err := taskgraph.New(&capture.Deps{Pred: []uint64{1, 30}, Succ: []uint64{30, 2}, Task: []uint64{30}, Kernel: [][3]int32{kernels}, Block: []int32{1}, Has: []uint8{capture.HasKernel}})
		if err != nil {
			t.Fatal(err)
		}
		tl.Attach(graph)
		r, err := overhead.New(tl, "deps.json", overhead.Options{Bridge: true})
		if err != nil {
			t.Fatal(err)
		}
		// Of the time from 5 to 14 both cores ran until 9.
		if got := micros(r.Has); got != max(0, want-4) {
			t.Errorf("behind a task of AICore schedulers with kernels %v: %v us", kernels, got)
		}
	}
	x.producer = ""
	x.streams = [][]phase{{{kind: "graph_prepare", start: 1, end: 2, id: 30}}}
	x.tasks[1].id, x.tasks[2].id = member, member|1
	// Contradictory: a task of the graph waits for what waits for the graph.
	x.edges = append(x.edges, [2]int{2, member | 1})
	if _, err := overhead.New(x.timeline(t), "deps.json", overhead.Options{Bridge: true}); err == nil || !strings.Contains(err.Error(), "deps.json") {
		t.Errorf("a circle through a graph task: %v", err)
	}
}

// TestUndated: in the archived form a time may be missing. Such a record counts 0,
// makes no gap, and is counted.
func TestUndated(t *testing.T) {
	tl := join(t, `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000,"core_types":["aic"],"core_to_thread":[0]},
"aicore_tasks":[[0,1,1,1010,1020]],"aicpu_tasks":[[0,1,1005,1025]],
"aicpu_scheduler_phases":[[{"kind":"dispatch","end_cycles":1006,"loop_iter":9,"pop_hit":2,"pop_miss":3},{"kind":"dispatch","start_cycles":1000,"end_cycles":1005,"loop_iter":1,"pop_hit":1},
{"kind":"complete","start_cycles":1025,"end_cycles":1024,"loop_iter":2,"tasks_processed":1}]]}`, nil)
	r, err := overhead.New(tl, "deps.json", overhead.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Undated != 1 || len(r.Phases.Threads) != 1 {
		t.Fatalf("%d records without a start, threads %+v", r.Undated, r.Phases.Threads)
	}
	th := &r.Phases.Threads[0]
	if th.Total() != 5+20 || th.Loops != 9 || th.Hit != 3 || th.Miss != 3 || th.Finishes != 1 {
		t.Errorf("thread %+v", th)
	}
}
