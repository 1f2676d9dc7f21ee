package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/compare"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// task is a task with one row, in cycles of 1 MHz. It runs the kernel fn, and is
// dispatched a cycle before it starts.
type task struct {
	id         uint64
	core, fn   int
	start, end uint64
	needs      []uint64
}

func made(t *testing.T, name string, tasks ...task) *compare.Side {
	t.Helper()
	var rows, sched [][]uint64
	d := &capture.Deps{}
	for i, k := range tasks {
		rows = append(rows, []uint64{uint64(k.core), k.id, uint64(i), k.start, k.end, 0})
		sched = append(sched, []uint64{uint64(k.core), uint64(i), k.start - 1, k.end + 1})
		d.Task, d.Block = append(d.Task, k.id), append(d.Block, 1)
		d.Kernel, d.Has = append(d.Kernel, [3]int32{int32(k.fn), int32(k.fn), -1}), append(d.Has, capture.HasKernel)
		for _, p := range k.needs {
			d.Pred, d.Succ = append(d.Pred, p), append(d.Succ, k.id)
		}
	}
	doc, err := json.Marshal(map[string]any{
		"chip_swimlane_level": 2, "metadata": map[string]any{"clock_freq_hz": 1_000_000, "core_types": []string{"aic", "aiv"}},
		"aicore_tasks": rows, "scheduler_tasks": map[string]any{"schema_version": 1, "producer": "aicpu", "records": sched},
	})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := capture.ReadFrom(bytes.NewReader(doc), name, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return joined(t, name, rec, d, names.NewMap("", map[int64]string{0: "QK", 1: "SF", 2: "PV"}))
}

func joined(t *testing.T, name string, rec *capture.Records, deps *capture.Deps, m *names.Map) *compare.Side {
	t.Helper()
	s := &compare.Side{Name: name, Names: m}
	if deps != nil {
		var err error
		if s.Graph, err = taskgraph.New(deps); err != nil {
			t.Fatal(err)
		}
	}
	tl, err := timeline.New(rec, s.Graph)
	if err != nil {
		t.Fatal(err)
	}
	s.Timeline = tl
	return s
}

func compared(t *testing.T, a, b *compare.Side) *compare.Result {
	t.Helper()
	r, err := compare.New(a, b, compare.Options{Tolerance: 2, Threads: draw.ThreadNames})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pairs are the matched tasks, by their ids.
func pairs(r *compare.Result) string {
	var out []string
	for _, p := range r.Match.Pairs {
		out = append(out, fmt.Sprintf("%d=%d", r.A.Timeline.Tasks.ID[p[0]], r.B.Timeline.Tasks.ID[p[1]]))
	}
	return strings.Join(out, " ")
}

func figure(t *testing.T, of []compare.Figure, name string) compare.Change {
	t.Helper()
	for _, f := range of {
		if f.Name == name {
			return f.Change
		}
	}
	t.Fatalf("no figure %q in %+v", name, of)
	return compare.Change{}
}

// TestByHand: figures of two captures of one graph, computed by hand.
//
// A: QK on core 0 from 10 to 20, SF on core 1 from 25 to 40, PV on core 0 from 41 to 61.
// B: QK from 110 to 118, SF from 120 to 140, PV from 150 to 165. QK → SF → PV.
func TestByHand(t *testing.T) {
	a := made(t, "a", task{1, 0, 0, 10, 20, nil}, task{2, 1, 1, 25, 40, []uint64{1}}, task{3, 0, 2, 41, 61, []uint64{2}})
	b := made(t, "b", task{1, 0, 0, 110, 118, nil}, task{2, 1, 1, 120, 140, []uint64{1}}, task{3, 0, 2, 150, 165, []uint64{2}})
	r := compared(t, a, b)
	if !r.Graphs.Equal() || r.Match.ByID != 3 || r.Match.OnlyA+r.Match.OnlyB != 0 || r.Match.Unproven {
		t.Errorf("graphs %+v, match %+v", r.Graphs, r.Match)
	}
	if want := (compare.Change{A: 51, B: 55}); r.Makespan != want || math.Abs(r.Makespan.Percent()-100*4./51) > 1e-12 {
		t.Errorf("makespan %+v, %g %%", r.Makespan, r.Makespan.Percent())
	}
	if want := (compare.Change{A: 53, B: 57}); *r.Span != want { // from a dispatch one cycle before to a finish one behind
		t.Errorf("span %+v", *r.Span)
	}
	for name, want := range map[string]compare.Change{
		"floor (static path)": {A: 45, B: 43}, "compute on path": {A: 45, B: 43}, "stall on path": {A: 6, B: 12},
		"data-wait": {A: 6, B: 12}, "core-wait": {}, "front-gap": {}, "before dispatch": {A: 4, B: 10}, "behind dispatch": {A: 2, B: 2}, "tasks on path": {A: 3, B: 3},
	} {
		if got := figure(t, r.Critical, name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	// Ready and not dispatched: SF 20 → 24 and 118 → 119, PV 40 → 40 and 140 → 149; the cores are idle then.
	for name, want := range map[string]compare.Change{
		"AIV overhead": {A: 4, B: 1}, "AIC overhead": {A: 0, B: 9}, "has_overhead": {A: 4, B: 10}, "all_overhead": {},
		"head, mean": {A: 1, B: 1}, "tail, median": {A: 1, B: 1},
	} {
		if got := figure(t, r.Overhead, name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	var functions []string
	for _, f := range r.Functions {
		functions = append(functions, fmt.Sprintf("%s %g→%g %s", f.Name, f.Median.A, f.Median.B, f.Verdict()))
	}
	if got, want := strings.Join(functions, ", "), "PV 20→15 too few, SF 15→20 too few, QK 10→8 too few"; got != want {
		t.Errorf("functions %s, want %s", got, want)
	}
	var tasks []string
	for _, k := range r.Tasks {
		tasks = append(tasks, fmt.Sprintf("%d %+g %+g", a.Timeline.Tasks.ID[k.A], k.Start.Diff(), k.Duration.Diff()))
	}
	if got, want := strings.Join(tasks, ", "), "3 +9 -5, 2 -5 +5, 1 +0 -2"; got != want {
		t.Errorf("tasks %s, want %s", got, want)
	}
}

// runs are n tasks of one function, one behind the other, of the given lengths in turn.
func runs(n int, lengths ...uint64) []task {
	var out []task
	at := uint64(10)
	for i := range n {
		l := lengths[i%len(lengths)]
		out = append(out, task{uint64(i), 0, 0, at, at + l, nil})
		at += l + 5
	}
	return out
}

// TestVerdicts: what a difference of medians is called.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		a, b    []task
		lo, hi  float64
		verdict string
	}{
		// Of 12 times the interval is from the 3rd to the 10th: here 10 … 12.
		{runs(12, 10, 11, 12), runs(12, 20, 21, 22), 8, 12, "slower"},
		{runs(12, 20, 21, 22), runs(12, 10, 11, 12), -12, -8, "faster"},
		{runs(12, 10, 11, 12), runs(12, 10, 11, 14), -2, 4, "same"},
		{runs(12, 10, 20), runs(12, 10, 22), -10, 12, "noise"},
		{runs(5, 10), runs(12, 20), 10, 10, "too few"},
	} {
		f := compared(t, made(t, "a", c.a...), made(t, "b", c.b...)).Functions[0]
		if f.Verdict() != c.verdict || f.NoiseLo != c.lo || f.NoiseHi != c.hi {
			t.Errorf("%v → %v: %s, %g … %g; want %s, %g … %g", c.a[:3], c.b[:3], f.Verdict(), f.NoiseLo, f.NoiseHi, c.verdict, c.lo, c.hi)
		}
	}
	r := compared(t, made(t, "a", task{1, 0, 0, 10, 20, nil}), made(t, "b", task{1, 0, 1, 10, 20, nil}))
	if got := r.Functions[0].Name + " " + r.Functions[0].Verdict() + ", " + r.Functions[1].Name + " " + r.Functions[1].Verdict(); got != "QK only in A, SF only in B" {
		t.Error(got)
	}
}

// TestOtherGraphs: tasks of different graphs are matched by what they run and depend
// on; what is left by what it runs, if there are as many.
func TestOtherGraphs(t *testing.T) {
	a := made(t, "a",
		task{1, 0, 0, 10, 20, nil}, task{2, 0, 0, 20, 30, nil}, // two equal ones
		task{3, 1, 1, 30, 40, []uint64{1}}, task{4, 1, 2, 50, 60, []uint64{3}}, task{5, 0, 2, 60, 70, []uint64{2}}, task{6, 0, 1, 80, 90, nil})
	for _, c := range []struct {
		name  string
		b     []task
		pairs string
		match compare.Match
	}{
		{"renumbered", []task{
			{11, 0, 0, 10, 20, nil}, {12, 0, 0, 20, 30, nil}, {13, 1, 1, 30, 40, []uint64{11}}, {14, 1, 2, 50, 60, []uint64{13}}, {15, 0, 2, 60, 70, []uint64{12}}, {16, 0, 1, 80, 90, nil},
		}, "1=11 2=12 3=13 4=14 5=15 6=16", compare.Match{ByBefore: 6}},
		// A task more in front, and 4 depends on it too: 4 is matched by what it runs, as the only one left.
		{"one more", []task{
			{1, 0, 1, 5, 8, nil}, {2, 0, 0, 10, 20, nil}, {3, 0, 0, 20, 30, nil}, {4, 1, 1, 30, 40, []uint64{2}}, {5, 1, 2, 50, 60, []uint64{4, 1}}, {6, 0, 2, 60, 70, []uint64{3}}, {7, 0, 1, 80, 90, nil},
		}, "1=2 2=3 3=4 4=5 5=6 6=1", compare.Match{ByBefore: 5, ByOrder: 1, OnlyB: 1}},
		{"something else", []task{{1, 1, 0, 10, 20, nil}, {2, 1, 0, 20, 30, nil}}, "", compare.Match{OnlyA: 6, OnlyB: 2}},
	} {
		r := compared(t, a, made(t, "b", c.b...))
		if r.Graphs.Equal() {
			t.Errorf("%s: the graphs are equal", c.name)
		}
		got := r.Match
		if p := pairs(r); p != c.pairs {
			t.Errorf("%s: matched %s, want %s", c.name, p, c.pairs)
		}
		got.Pairs = nil
		if fmt.Sprint(got) != fmt.Sprint(c.match) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.match)
		}
	}
}

// TestGraphDifferences counts what one graph has and the other not.
func TestGraphDifferences(t *testing.T) {
	a := made(t, "a", task{1, 0, 0, 10, 20, nil}, task{2, 0, 0, 20, 30, []uint64{1}}, task{3, 0, 1, 30, 40, []uint64{1, 2}})
	b := made(t, "b", task{1, 0, 0, 10, 20, nil}, task{2, 0, 2, 20, 30, []uint64{1}}, task{4, 0, 1, 30, 40, []uint64{2}})
	g := compared(t, a, b).Graphs
	want := compare.Graphs{A: true, B: true, NodesA: 3, NodesB: 3, EdgesA: 3, EdgesB: 2, OnlyA: 1, OnlyB: 1, MoreA: 2, MoreB: 1, Kernels: 1}
	if g != want {
		t.Errorf("graphs %+v, want %+v", g, want)
	}
}

// TestItself: a capture compared with itself has changed nowhere.
func TestItself(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures")
	for _, name := range []string{
		"a2a3sim_tmr_paged_attention_unroll_l4_deps", "a5sim_hbg_vector_example_l1", "gs_a5_hbg_aicore_medium_l3", "a2a3sim_tmr_mixed_example_l4_deps__TestMixedExample_case2", "a2a3sim_tmr_paged_attention_medium_l4_deps",
	} {
		r := compared(t, real(t, root, name), real(t, root, name))
		all := []compare.Figure{{Name: "makespan", Change: r.Makespan}}
		all = append(append(all, r.Critical...), r.Overhead...)
		for _, f := range r.Functions {
			all = append(all, compare.Figure{Name: f.Name, Change: f.Median}, compare.Figure{Name: f.Name, Change: f.Total}, compare.Figure{Name: f.Name, Change: f.Mean})
			if v := f.Verdict(); v != "same" {
				t.Errorf("%s: %s is %s", name, f.Name, v)
			}
		}
		for _, k := range r.Tasks {
			all = append(all, compare.Figure{Name: "task", Change: k.Start}, compare.Figure{Name: "task", Change: k.Duration})
		}
		for _, f := range all {
			if f.Diff() != 0 || f.Percent() != 0 {
				t.Errorf("%s: %s changed from %g to %g", name, f.Name, f.A, f.B)
			}
		}
		if n := r.A.Timeline.Tasks.Len(); len(r.Match.Pairs) != n || len(r.Tasks) != n || r.Match.OnlyA+r.Match.OnlyB != 0 {
			t.Errorf("%s: %d of %d tasks are matched", name, len(r.Match.Pairs), n)
		}
		for i, p := range r.Match.Pairs {
			if p[0] != p[1] || int(p[0]) != i {
				t.Fatalf("%s: task %d is matched with %d", name, p[0], p[1])
			}
		}
	}
}

func real(t *testing.T, root, name string) *compare.Side {
	t.Helper()
	path := filepath.Join(root, name, capture.FileName)
	rec, err := capture.Read(path, capture.Options{})
	if err != nil {
		if rec, err = capture.Read(path+".gz", capture.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	deps, err := capture.ReadDeps(capture.Beside(path, capture.DepsFileName), nil)
	if err != nil {
		t.Fatal(err)
	}
	return joined(t, name, rec, deps, nil)
}

// TestRealPairs: the same scene on other platforms and runtimes.
func TestRealPairs(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures")
	for _, c := range []struct {
		a, b  string
		equal bool
		match int
	}{
		{"a2a3sim_tmr_vector_example_l4_deps", "a5sim_tmr_vector_example_l4_deps", true, 5},
		{"a2a3sim_tmr_chip_swimlane_l4_deps", "a5sim_tmr_chip_swimlane_l4_deps", true, 5},
		{"a5sim_tmr_paged_attention_l4_deps", "a5sim_tmr_paged_attention_unroll_l4_deps", false, -1},
		{"a2a3sim_hbg_vector_example_l4_deps", "a2a3sim_tmr_vector_example_l4_deps", false, 4},
	} {
		a, b := real(t, root, c.a), real(t, root, c.b)
		r := compared(t, a, b)
		if r.Graphs.Equal() != c.equal || c.match >= 0 && len(r.Match.Pairs) != c.match {
			t.Errorf("%s and %s: graphs %+v, %d tasks matched (%+v)", c.a, c.b, r.Graphs, len(r.Match.Pairs), r.Match)
		}
		n := len(r.Match.Pairs)
		if n+r.Match.OnlyA != a.Timeline.Tasks.Len() || n+r.Match.OnlyB != b.Timeline.Tasks.Len() || r.Match.ByID+r.Match.ByBefore+r.Match.ByOrder != n {
			t.Errorf("%s and %s: the counts of tasks do not add up: %+v", c.a, c.b, r.Match)
		}
		var partners []int32
		for _, p := range r.Match.Pairs {
			partners = append(partners, p[1])
		}
		slices.Sort(partners)
		if len(slices.Compact(partners)) != n {
			t.Errorf("%s and %s: a task has two partners", c.a, c.b)
		}
		var text bytes.Buffer
		if err := r.Text(&text, 10); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := r.JSON(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%s and %s: %v", c.a, c.b, err)
		}
	}
}
