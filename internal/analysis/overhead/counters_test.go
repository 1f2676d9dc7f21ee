package overhead_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/overhead"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// row is a task row of spec/sched-overhead.md §8, in cycles.
type row struct {
	id, core, dispatch, start, end int
}

// zero is the cycle of time 0.
const zero = 1000

// build joins the rows. Types are by core; without edges there is no graph.
func build(t *testing.T, types []string, rows []row, edges ...[2]int) *timeline.Timeline {
	t.Helper()
	tasks, sched := [][]int{}, [][]int{}
	for i, r := range rows {
		tasks = append(tasks, []int{r.core, r.id, i, zero + r.start, zero + r.end})
		sched = append(sched, []int{r.core, i, zero + r.dispatch, zero + max(r.dispatch, r.end)})
	}
	doc, err := json.Marshal(map[string]any{
		"chip_swimlane_level": 2, "metadata": map[string]any{"clock_freq_hz": 1_000_000, "core_types": types},
		"aicore_tasks": tasks, "scheduler_tasks": map[string]any{"schema_version": 1, "producer": "aicpu", "records": sched},
	})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := capture.ReadFrom(strings.NewReader(string(doc)), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var graph *taskgraph.Graph
	if edges != nil {
		d := &capture.Deps{}
		for _, e := range edges {
			d.Pred, d.Succ = append(d.Pred, uint64(e[0])), append(d.Succ, uint64(e[1]))
		}
		if graph, err = taskgraph.New(d); err != nil {
			t.Fatal(err)
		}
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// values are those of the eight tracks, in the order of spec/converter.md §7.
func values(s *overhead.State) [8]int {
	return [8]int{s.Idle[0], s.Ready[0], flag(s.Overhead[0]), s.Idle[1], s.Ready[1], flag(s.Overhead[1]), flag(s.All), flag(s.Has)}
}

var tracks = [8]string{"aic_idle", "aic_ready", "aic_overhead", "aiv_idle", "aiv_ready", "aiv_overhead", "all", "has"}

// changes lists what changes when, as the specification does.
func changes(s overhead.Steps) []string {
	var out []string
	var last [8]int
	for i := range s.States {
		st := &s.States[i]
		var parts []string
		for k, v := range values(st) {
			if i == 0 || v != last[k] {
				parts = append(parts, fmt.Sprintf("%s %d", tracks[k], v))
			}
			last[k] = v
		}
		if parts != nil {
			out = append(out, fmt.Sprintf("%d: %s", int(st.At)-zero, strings.Join(parts, ", ")))
		}
	}
	return out
}

// TestChanges is the complete example of spec/sched-overhead.md §8 and §8.1.
func TestChanges(t *testing.T) {
	tl := build(t, []string{"aic", "aiv"}, []row{{1, 0, 0, 1, 10}, {2, 0, 8, 11, 20}, {3, 1, 12, 13, 18}, {4, 0, 24, 25, 40}, {4, 1, 24, 26, 38}},
		[2]int{1, 3}, [2]int{2, 4}, [2]int{3, 4}, [2]int{3, 4})
	steps := overhead.Compute(tl)
	want := []string{
		"1: aic_idle 0, aic_ready 0, aic_overhead 0, aiv_idle 1, aiv_ready 0, aiv_overhead 0, all 0, has 0",
		"10: aic_idle 1, aiv_ready 1, aiv_overhead 1, has 1", "11: aic_idle 0", "12: aiv_ready 0, aiv_overhead 0, has 0",
		"13: aiv_idle 0", "18: aiv_idle 1",
		"20: aic_idle 1, aic_ready 1, aic_overhead 1, aiv_ready 1, aiv_overhead 1, all 1, has 1",
		"24: aic_ready 0, aic_overhead 0, aiv_ready 0, aiv_overhead 0, all 0, has 0",
		"25: aic_idle 0", "26: aiv_idle 0", "38: aiv_idle 1",
	}
	if got := changes(steps); !slices.Equal(got, want) {
		t.Errorf("changes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := times(steps, 40), [4]int{4, 6, 4, 6}; got != want {
		t.Errorf("overhead of aic, aiv, all, has: %v, want %v", got, want)
	}
	if steps.Cores != [2]int{1, 1} {
		t.Errorf("cores %v", steps.Cores)
	}
}

// times sums how long aic, aiv, all and has overhead lasted, in a window that ends at end.
func times(s overhead.Steps, end int) (out [4]int) {
	for i := range s.States {
		st := &s.States[i]
		next := end + zero
		if i+1 < len(s.States) {
			next = int(s.States[i+1].At)
		}
		for k, on := range [4]bool{st.Overhead[0], st.Overhead[1], st.All, st.Has} {
			if on {
				out[k] += next - int(st.At)
			}
		}
	}
	return out
}

// TestTimes is the table of spec/sched-overhead.md §8.2, and field report 81.
func TestTimes(t *testing.T) {
	for name, c := range map[string]struct {
		types []string
		rows  []row
		edges [][2]int
		end   int
		want  [4]int // aic, aiv, all, has
	}{
		"one waits":                  {[]string{"aic"}, []row{{1, 0, 0, 0, 5}, {2, 0, 8, 8, 15}}, [][2]int{{1, 2}}, 15, [4]int{3, 0, 3, 3}},
		"a predecessor without rows": {[]string{"aic"}, []row{{2, 0, 8, 8, 15}}, [][2]int{{99, 2}}, 15, [4]int{}},
		"a MIX task counts twice":    {[]string{"aic", "aiv"}, []row{{1, 0, 0, 0, 5}, {2, 0, 8, 8, 15}, {2, 1, 10, 8, 15}}, [][2]int{{1, 2}}, 15, [4]int{3, 3, 3, 3}},
		"an edge to itself":          {[]string{"aic"}, []row{{1, 0, 0, 0, 5}, {2, 0, 8, 8, 15}}, [][2]int{{2, 2}}, 15, [4]int{}},
		"idle, nothing ready":        {[]string{"aic", "aic"}, []row{{1, 0, 0, 0, 100}, {2, 1, 0, 0, 10}}, [][2]int{{1, 3}}, 100, [4]int{}},
		"ready for 10 of 100":        {[]string{"aic", "aic"}, []row{{1, 0, 0, 0, 100}, {2, 1, 0, 0, 10}, {3, 1, 20, 20, 100}}, [][2]int{{2, 3}}, 100, [4]int{10, 0, 10, 10}},
		"ready, no core idle":        {[]string{"aic"}, []row{{1, 0, 0, 0, 10}, {2, 0, 5, 10, 50}, {3, 0, 50, 50, 100}}, [][2]int{{1, 3}}, 100, [4]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := times(overhead.Compute(build(t, c.types, c.rows, c.edges...)), c.end); got != c.want {
				t.Errorf("overhead of aic, aiv, all, has: %v, want %v", got, c.want)
			}
		})
	}
}

// TestNothing: no counters without edges, without rows, or where any row has no
// dispatch time (spec/converter.md §7).
func TestNothing(t *testing.T) {
	one := []row{{1, 0, 0, 0, 5}}
	for name, tl := range map[string]*timeline.Timeline{
		"no graph":  build(t, []string{"aic"}, one),
		"no edges":  build(t, []string{"aic"}, one, [][2]int{}...),
		"no rows":   build(t, nil, nil, [2]int{1, 2}),
		"no window": build(t, []string{"aic"}, []row{{1, 0, 5, 5, 5}}, [2]int{1, 2}),
	} {
		if s := overhead.Compute(tl); len(s.States) != 0 {
			t.Errorf("%s: %d states", name, len(s.States))
		}
	}
	lost := `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1,"capture_accounting":{"kinds":{"x":{"dropped":1}}}},
"aicore_tasks":[[0,1,1,5,9],[0,2,2,10,12]],"aicpu_tasks":[[0,1,4,10]]}`
	rec, err := capture.ReadFrom(strings.NewReader(lost), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := taskgraph.New(&capture.Deps{Pred: []uint64{1}, Succ: []uint64{2}})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	if s := overhead.Compute(tl); len(s.States) != 0 {
		t.Errorf("a row without dispatch: %d states", len(s.States))
	}
}

// naive answers one instant by looking at everything.
func naive(types []string, rows []row, edges [][2]int, w0, w1, at int) [8]int {
	clamp := func(c int) int { return min(max(c, w0), w1) }
	cores, running, ready := [2]map[int]bool{{}, {}}, [2]int{}, [2]int{}
	engine := map[string]int{"aic": 0, "aiv": 1}
	byTask := map[int][]row{}
	for _, r := range rows {
		e := engine[types[r.core]]
		cores[e][r.core] = true
		if r.start <= at && at < r.end {
			running[e]++
		}
		byTask[r.id] = append(byTask[r.id], r)
	}
	for id, mine := range byTask {
		dispatch, since := mine[0].dispatch, -1
		kinds := map[int]bool{}
		for _, r := range mine {
			dispatch = min(dispatch, r.dispatch)
			kinds[engine[types[r.core]]] = true
		}
		for _, e := range edges {
			if e[1] != id || e[0] == id {
				continue
			}
			for _, r := range byTask[e[0]] {
				since = max(since, r.end)
			}
		}
		if since >= 0 && clamp(since) <= at && at < clamp(dispatch) {
			for e := range kinds {
				ready[e]++
			}
		}
	}
	v, all, has, work := [8]int{}, true, true, false
	for e := range 2 {
		if len(cores[e]) == 0 {
			continue
		}
		idle := len(cores[e]) - running[e]
		over := idle > 0 && ready[e] > 0
		v[3*e], v[3*e+1], v[3*e+2] = idle, ready[e], flag(over)
		all = all && over
		if ready[e] > 0 {
			work = true
			has = has && idle > 0
		}
	}
	v[6], v[7] = flag(all), flag(has && work)
	return v
}

// TestAgainstInstants holds the steps against every single instant of random schedules.
func TestAgainstInstants(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 81))
		types := make([]string, 1+rnd.IntN(4))
		for i := range types {
			types[i] = []string{"aic", "aiv"}[rnd.IntN(2)]
		}
		var rows []row
		for id := range 1 + rnd.IntN(12) {
			for range 1 + rnd.IntN(2) {
				dispatch, start := rnd.IntN(60), rnd.IntN(60)
				rows = append(rows, row{id, rnd.IntN(len(types)), dispatch, start, start + rnd.IntN(20)})
			}
		}
		edges := [][2]int{{0, 1}}
		for range rnd.IntN(20) {
			edges = append(edges, [2]int{rnd.IntN(14), rnd.IntN(14)})
		}
		w0, w1 := rows[0].start, rows[0].end
		for _, r := range rows {
			w0, w1 = min(w0, r.start), max(w1, r.end)
		}
		states := overhead.Compute(build(t, types, rows, edges...)).States
		i := -1
		for at := w0; at < w1; at++ {
			for i+1 < len(states) && int(states[i+1].At)-zero <= at {
				i++
			}
			if i < 0 {
				t.Fatalf("seed %d: no state at %d", seed, at)
			}
			if got, want := values(&states[i]), naive(types, rows, edges, w0, w1, at); got != want {
				t.Fatalf("seed %d: at %d %v, want %v\n%v %v %v", seed, at, got, want, types, rows, edges)
			}
		}
		if n := len(states); n > 0 && (int(states[0].At)-zero != w0 || int(states[n-1].At)-zero >= w1) {
			t.Fatalf("seed %d: states from %d to %d in a window %d–%d", seed, states[0].At-zero, states[n-1].At-zero, w0, w1)
		}
	}
}
