package critical_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/critical"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// row is a kernel row, in cycles.
type row struct {
	core       int
	task       uint64
	start, end uint64
}

// made is a capture of level 1 with its graph, which kernels may be named in.
func made(t *testing.T, rows []row, kernels map[uint64]int, edges ...[2]uint64) *timeline.Timeline {
	t.Helper()
	tasks := [][]uint64{}
	for i, r := range rows {
		tasks = append(tasks, []uint64{uint64(r.core), r.task, uint64(i), r.start, r.end, 0})
	}
	doc, err := json.Marshal(map[string]any{
		"chip_swimlane_level": 1, "metadata": map[string]any{"clock_freq_hz": 1_000_000, "core_types": []string{"aic", "aiv"}}, "aicore_tasks": tasks,
	})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := capture.ReadFrom(strings.NewReader(string(doc)), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &capture.Deps{}
	for _, id := range slices.Sorted(keys(kernels)) {
		d.Task = append(d.Task, id)
		d.Kernel = append(d.Kernel, [3]int32{int32(kernels[id]), -1, -1})
		d.Has = append(d.Has, capture.HasKernel)
		d.Block = append(d.Block, 1)
	}
	for _, e := range edges {
		d.Pred, d.Succ = append(d.Pred, e[0]), append(d.Succ, e[1])
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

func keys(m map[uint64]int) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func compute(t *testing.T, tl *timeline.Timeline, opt critical.Options) *critical.Result {
	t.Helper()
	r, err := critical.Compute(tl, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// walk is the observed path in short: task, kind, compute, stall.
func walk(r *critical.Result) string {
	var out []string
	for _, s := range r.Observed {
		out = append(out, fmt.Sprintf("%d %s %d+%d", r.T.Tasks.ID[s.Task], s.Kind, s.Compute, s.Stall))
	}
	return strings.Join(out, ", ")
}

func static(r *critical.Result) (ids []uint64) {
	for _, task := range r.Static {
		ids = append(ids, r.T.Tasks.ID[task])
	}
	return ids
}

// TestExample is the worked example of spec/sched-overhead.md §10.6, 7 cycles later: a
// start at cycle 0 is refused, and so is a second row with the same dispatch token.
func TestExample(t *testing.T) {
	tl := made(t, []row{{0, 1, 7, 17}, {1, 2, 7, 26}, {1, 3, 27, 37}}, map[uint64]int{1: 1, 2: 2, 3: 3}, [2]uint64{1, 3})
	r := compute(t, tl, critical.Options{Tolerance: critical.DefaultTolerance})
	if r.Makespan() != 30 || r.Floor != 20 || !slices.Equal(static(r), []uint64{1, 3}) || r.Edges != 1 {
		t.Errorf("makespan %d, floor %d over %v, %d edges", r.Makespan(), r.Floor, static(r), r.Edges)
	}
	if got, want := walk(r), "2 front-gap 19+0, 3 core-wait 10+1"; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
	rank := critical.Rank{Result: r, Label: "case", Names: names.NewMap("", map[int64]string{1: "kernel_a", 2: "kernel_b", 3: "kernel_c"})}
	if got, want := rank.Summary(), "[case] makespan=0.030ms  CPM=0.02ms(67%)  compute=96.7%  stall=3.3% (core-wait 3.3%)"; got != want {
		t.Errorf("summary\n got %s\nwant %s", got, want)
	}
	var b strings.Builder
	if err := rank.Markdown(&b, 25); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"- **static CPM path**: 0.020 ms (66.7% of makespan) over 2 tasks",
		"| kernel_b | 0.019 | 63.3% | 0.000 | 1 |",
		"| kernel_c | 0.010 | 33.3% | 0.001 | 1 |",
		"| 0 | kernel_b | 19.0 | 19.0 (63.33%) | 0.0 (0.00%) |  |",
		"| 1 | kernel_c | 10.0 | 10.0 (33.33%) | 1.0 (3.33%) | core-wait |",
		"  - tiling check: compute+stall = 30 ticks vs makespan 30 ticks (exact)",
		"| 1 | kernel_c(t3) | AIV_1 | 20.000 | 1.0 (3.33%) |  | core-wait | AIV_1, held by kernel_b(t2) |",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("the report lacks %s\n%s", line, b.String())
		}
	}
}

func TestFamily(t *testing.T) {
	for kernel, want := range map[string]string{
		"gate_0_aic": "gate", "hc_pre_fused_3_aic": "hc_pre_fused", "exp_up_mm_2": "exp_up_mm", "x_aiv": "x", "a_1_2": "a_1",
		"SPMD_READ_AIC": "SPMD_READ_AIC", "QK": "QK", "x2": "x2", "_7": "_7", "7": "7", "a_aic_3": "a_aic", "cid12": "cid12",
	} {
		if got := critical.Family(kernel); got != want {
			t.Errorf("family of %s is %s, want %s", kernel, got, want)
		}
	}
}

// TestRules looks at each rule of spec/sched-overhead.md §10.2 and §10.3 alone.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		rows   []row
		edges  [][2]uint64
		opt    critical.Options
		walk   string
		static []uint64
		edgesN int
	}{
		"front gap of a path that does not begin first": {
			rows: []row{{0, 1, 10, 12}, {1, 2, 15, 40}},
			walk: "2 front-gap 25+5", static: []uint64{2},
		},
		"several rows of a task count as one, and its first one waits for the core": {
			rows: []row{{0, 1, 10, 20}, {1, 2, 10, 30}, {0, 3, 22, 25}, {1, 3, 35, 50}},
			walk: "1 front-gap 10+0, 3 core-wait 28+2", static: []uint64{3},
		},
		"a task that starts on two cores at once waits for that which is held longer": {
			rows: []row{{0, 1, 10, 20}, {1, 2, 10, 30}, {0, 3, 35, 40}, {1, 3, 35, 40}},
			walk: "2 front-gap 20+0, 3 core-wait 5+5", static: []uint64{2},
		},
		"what ended within the tolerance is waited for": {
			rows: []row{{0, 1, 10, 22}, {1, 2, 20, 30}}, edges: [][2]uint64{{1, 2}}, opt: critical.Options{Tolerance: 2},
			walk: "1 front-gap 12+0, 2 data-wait 8+0", static: []uint64{1, 2}, edgesN: 1,
		},
		"what ended later is not": {
			rows: []row{{0, 1, 10, 22}, {1, 2, 20, 30}}, edges: [][2]uint64{{1, 2}}, opt: critical.Options{Tolerance: 1},
			walk: "2 front-gap 10+10", static: []uint64{1},
		},
		"a predecessor that starts with its successor does not count": {
			rows: []row{{0, 1, 10, 10}, {1, 2, 10, 11}}, edges: [][2]uint64{{1, 2}},
			walk: "2 front-gap 1+0", static: []uint64{2},
		},
		"of what ends at once the greater id as text counts": {
			rows: []row{{0, 9, 10, 20}, {1, 10, 10, 20}, {2, 11, 25, 30}}, edges: [][2]uint64{{9, 11}, {10, 11}},
			walk: "9 front-gap 10+0, 11 data-wait 5+5", static: []uint64{9, 11}, edgesN: 2,
		},
		"a dependency counts more than the core that the same task held": {
			rows: []row{{0, 1, 10, 20}, {0, 2, 25, 30}}, edges: [][2]uint64{{1, 2}},
			walk: "1 front-gap 10+0, 2 data-wait 5+5", static: []uint64{1, 2}, edgesN: 1,
		},
		"of tasks that end last at once the greater id as text": {
			rows: []row{{0, 9, 10, 20}, {1, 10, 15, 20}},
			walk: "9 front-gap 10+0", static: []uint64{9},
		},
		"a row that lies inside another one hides nothing": {
			rows: []row{{0, 1, 10, 40}, {0, 2, 15, 20}, {0, 3, 45, 50}},
			walk: "1 front-gap 30+0, 3 core-wait 5+5", static: []uint64{1},
		},
		"a dummy loses the dependency": {
			rows: []row{{0, 1, 10, 20}, {1, 3, 25, 30}}, edges: [][2]uint64{{1, 2}, {2, 3}},
			walk: "3 front-gap 5+15", static: []uint64{1},
		},
		"which a bridge brings back": {
			rows: []row{{0, 1, 10, 20}, {1, 3, 25, 30}}, edges: [][2]uint64{{1, 2}, {2, 3}}, opt: critical.Options{Bridge: true},
			walk: "1 front-gap 10+0, 3 data-wait 5+5", static: []uint64{1, 3}, edgesN: 1,
		},
	} {
		edges := c.edges
		r := compute(t, made(t, c.rows, nil, edges...), c.opt)
		if got := walk(r); got != c.walk {
			t.Errorf("%s: observed %s, want %s", name, got, c.walk)
		}
		if got := static(r); !slices.Equal(got, c.static) {
			t.Errorf("%s: static %v, want %v", name, got, c.static)
		}
		if r.Edges != c.edgesN {
			t.Errorf("%s: %d edges, want %d", name, r.Edges, c.edgesN)
		}
	}
}

// TestBridgeNames says which dummy lies between, also of several in a row.
func TestBridgeNames(t *testing.T) {
	tl := made(t, []row{{0, 1, 10, 20}, {1, 4, 25, 30}}, map[uint64]int{1: 0, 4: 0}, [2]uint64{1, 2}, [2]uint64{2, 3}, [2]uint64{3, 4}, [2]uint64{3, 2})
	rank := critical.Rank{Result: compute(t, tl, critical.Options{Bridge: true}), Label: "x"}
	step := rank.Figures().Observed.Steps[1]
	if w := step.Waited; w == nil || w.Label != "cid0(t1)" || w.Core != "AIC_0" || w.Via != "t3" {
		t.Errorf("waited for %+v", w)
	}
	var b strings.Builder
	rank.Markdown(&b, 5)
	if want := "| data-wait | cid0(t1) on AIC_0, through t3 |"; !strings.Contains(b.String(), want) {
		t.Errorf("the report lacks %s", want)
	}
	if got := compute(t, tl, critical.Options{}); got.Untimed != 1 || got.Bridged != 0 {
		t.Errorf("without a bridge: %d on tasks without rows, %d bridged", got.Untimed, got.Bridged)
	}
}

// oracle finds both paths by their definitions, with nothing but rows and edges.
type oracle struct {
	rows       []row
	start, end map[uint64]uint64
	preds      map[uint64]map[uint64]bool // kept
	tol        uint64
}

func naive(rows []row, edges [][2]uint64, opt critical.Options) *oracle {
	o := &oracle{rows, map[uint64]uint64{}, map[uint64]uint64{}, map[uint64]map[uint64]bool{}, opt.Tolerance}
	for _, r := range rows {
		if s, ok := o.start[r.task]; !ok || r.start < s {
			o.start[r.task] = r.start
		}
		o.end[r.task] = max(o.end[r.task], r.end)
	}
	pairs := map[[2]uint64]bool{}
	for _, e := range edges {
		pairs[e] = true
	}
	for opt.Bridge { // close over tasks without rows, until nothing is new
		n := len(pairs)
		for a := range pairs {
			for b := range pairs {
				if _, timed := o.end[a[1]]; !timed && a[1] == b[0] {
					pairs[[2]uint64{a[0], b[1]}] = true
				}
			}
		}
		if len(pairs) == n {
			break
		}
	}
	for e := range pairs {
		p, s := e[0], e[1]
		_, timedP := o.end[p]
		_, timedS := o.end[s]
		if timedP && timedS && p != s && o.end[p] <= o.start[s]+o.tol && o.start[p] < o.start[s] {
			if o.preds[s] == nil {
				o.preds[s] = map[uint64]bool{}
			}
			o.preds[s][p] = true
		}
	}
	return o
}

// longest is the length of the longest path that ends with a task, by trying all.
func (o *oracle) longest(s uint64) uint64 {
	var best uint64
	for p := range o.preds[s] {
		best = max(best, o.longest(p))
	}
	return best + o.end[s] - o.start[s]
}

// held is the task that held a core of s, and until when.
func (o *oracle) held(s uint64) (task, end uint64, ok bool) {
	for core := range 4 {
		var on []row
		for _, r := range o.rows {
			if r.core == core {
				on = append(on, r)
			}
		}
		slices.SortFunc(on, func(a, b row) int {
			for _, c := range [][2]uint64{{a.start, b.start}, {a.end, b.end}} {
				if c[0] != c[1] {
					if c[0] < c[1] {
						return -1
					}
					return 1
				}
			}
			return strings.Compare(text(a.task), text(b.task))
		})
		for i, r := range on {
			if r.task != s || r.start != o.start[s] || i == 0 {
				continue
			}
			greatest := on[0]
			for _, q := range on[:i] {
				if q.end > greatest.end {
					greatest = q
				}
			}
			if greatest.task == s || greatest.end > r.start+o.tol {
				continue
			}
			if !ok || greatest.end > end || greatest.end == end && text(greatest.task) > text(task) {
				task, end, ok = greatest.task, greatest.end, true
			}
		}
	}
	return task, end, ok
}

func text(id uint64) string { return strconv.FormatUint(id, 10) }

// walk is the observed path in the form of walk above.
func (o *oracle) walk() string {
	last := uint64(0)
	first := ^uint64(0)
	found := false
	for id := range o.end {
		first = min(first, o.start[id])
		if !found || o.end[id] > o.end[last] || o.end[id] == o.end[last] && text(id) > text(last) {
			last, found = id, true
		}
	}
	type step struct {
		id   uint64
		kind string
	}
	var path []step
	for at := last; ; {
		type choice struct {
			end  uint64
			id   uint64
			kind string
		}
		var all []choice
		for p := range o.preds[at] {
			all = append(all, choice{o.end[p], p, "data-wait"})
		}
		if task, end, ok := o.held(at); ok && o.start[task] < o.start[at] {
			all = append(all, choice{end, task, "core-wait"})
		}
		if len(all) == 0 {
			path = append(path, step{at, "front-gap"})
			break
		}
		best := slices.MaxFunc(all, func(a, b choice) int {
			if a.end != b.end {
				if a.end < b.end {
					return -1
				}
				return 1
			}
			return strings.Compare(text(a.id)+" "+a.kind, text(b.id)+" "+b.kind)
		})
		path = append(path, step{at, best.kind})
		at = best.id
	}
	slices.Reverse(path)
	frontier := first
	var out []string
	for _, s := range path {
		var stall, compute uint64
		if o.start[s.id] > frontier {
			stall = o.start[s.id] - frontier
		}
		if from := max(o.start[s.id], frontier); o.end[s.id] > from {
			compute = o.end[s.id] - from
		}
		frontier = max(frontier, o.end[s.id])
		out = append(out, fmt.Sprintf("%d %s %d+%d", s.id, s.kind, compute, stall))
	}
	return strings.Join(out, ", ")
}

// TestAgainstOracle holds both paths of made-up captures, with graphs that may go
// in circles, against their definitions.
func TestAgainstOracle(t *testing.T) {
	var cyclic, bridged, waits [2]int
	excess := 0
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 81))
		n := 1 + rnd.Uint64N(9)
		span := 1 + rnd.Uint64N(60)
		ids := rnd.Perm(130)[:n+3] // ids of one to three digits; the last three have no rows
		var rows []row
		for i := range n {
			for range 1 + rnd.IntN(2) {
				start := 1 + rnd.Uint64N(span)
				rows = append(rows, row{rnd.IntN(3), uint64(ids[i]), start, start + rnd.Uint64N(12)})
			}
		}
		var edges [][2]uint64
		for range rnd.IntN(20) {
			edges = append(edges, [2]uint64{uint64(ids[rnd.IntN(len(ids))]), uint64(ids[rnd.IntN(len(ids))])})
		}
		opt := critical.Options{Tolerance: rnd.Uint64N(3), Bridge: seed%2 == 1}
		tl := made(t, rows, nil, edges...)
		if _, cycle := tl.Graph.Order(); cycle != nil {
			cyclic[seed%2]++
		}
		r := compute(t, tl, opt)
		o := naive(rows, edges, opt)
		bridged[seed%2] += r.Bridged
		if got, want := walk(r), o.walk(); got != want {
			t.Fatalf("seed %d: observed\n got %s\nwant %s\n%v %v %+v", seed, got, want, rows, edges, opt)
		}
		var floor uint64
		kept := 0
		for id := range o.end {
			floor = max(floor, o.longest(id))
			kept += len(o.preds[id])
		}
		if floor > r.Makespan() {
			floor, excess = r.Makespan(), excess+1
		}
		if r.Floor != floor || r.Edges != kept {
			t.Fatalf("seed %d: floor %d and %d edges, want %d and %d", seed, r.Floor, r.Edges, floor, kept)
		}
		checkStatic(t, r, o)
		checkTiling(t, r, opt)
		waits[0] += len(r.Static) - 1
		waits[1] += len(r.Observed) - 1
	}
	if excess < 5 {
		t.Errorf("only %d captures have tasks that overlap beyond the makespan", excess)
	}
	if cyclic[0] < 300 || cyclic[1] < 300 || bridged[1] < 100 || bridged[0] != 0 || waits[0] < 400 || waits[1] < 1000 {
		t.Errorf("the captures are too plain: %v cyclic, %v bridged, %v waits", cyclic, bridged, waits)
	}
}

// checkStatic: the static path goes along kept dependencies and has the floor's length.
func checkStatic(t *testing.T, r *critical.Result, o *oracle) {
	t.Helper()
	var sum uint64
	for i, id := range static(r) {
		sum += o.end[id] - o.start[id]
		if i > 0 && !o.preds[id][static(r)[i-1]] {
			t.Fatalf("static path %v: no dependency in front of %d", static(r), id)
		}
	}
	if sum != r.Floor+r.Excess {
		t.Fatalf("static path %v has %d cycles, the floor is %d, beyond it %d", static(r), sum, r.Floor, r.Excess)
	}
}

// checkTiling: compute and stalls add up to the makespan, and the floor is never
// above it. What the static path has beyond is within the tolerance of each dependency.
func checkTiling(t *testing.T, r *critical.Result, opt critical.Options) {
	t.Helper()
	var sum, kinds uint64
	for _, s := range r.Observed {
		sum += s.Compute + s.Stall
	}
	for _, k := range critical.Kinds {
		kinds += r.ByKind[k]
	}
	if sum != r.Makespan() || r.Compute+r.Stall != sum || kinds != r.Stall {
		t.Fatalf("%d cycles of %d are explained, %d + %d, stalls %d", sum, r.Makespan(), r.Compute, r.Stall, kinds)
	}
	if room := uint64(len(r.Static)-1) * opt.Tolerance; r.Floor > r.Makespan() || r.Excess > room || r.Excess > 0 && r.Floor < r.Makespan() {
		t.Fatalf("floor %d and %d beyond, makespan %d, tolerance of all dependencies %d", r.Floor, r.Excess, r.Makespan(), room)
	}
}

// TestCircles: the edges that count never form a circle, as starts ascend along
// them; nothing walks in one.
func TestCircles(t *testing.T) {
	rows := []row{{0, 1, 10, 20}, {1, 2, 20, 30}, {0, 3, 30, 40}}
	all := [][2]uint64{{1, 2}, {2, 3}, {3, 1}, {2, 1}, {3, 2}, {1, 1}, {3, 9}, {9, 8}, {8, 9}, {8, 1}, {9, 3}}
	for _, opt := range []critical.Options{{}, {Bridge: true}, {Tolerance: 1 << 62, Bridge: true}} {
		r := compute(t, made(t, rows, nil, all...), opt)
		if got, want := walk(r), "1 front-gap 10+0, 2 data-wait 10+0, 3 data-wait 10+0"; got != want {
			t.Errorf("%+v: observed %s, want %s", opt, got, want)
		}
		if !slices.Equal(static(r), []uint64{1, 2, 3}) || r.Floor != 30 {
			t.Errorf("%+v: static %v, %d cycles", opt, static(r), r.Floor)
		}
	}
}

// TestLargeCircle: ten thousand tasks in one circle.
func TestLargeCircle(t *testing.T) {
	const n = 10_000
	var rows []row
	var edges [][2]uint64
	for i := range uint64(n) {
		rows = append(rows, row{int(i % 2), i, 1 + 10*i, 10 + 10*i})
		edges = append(edges, [2]uint64{i, (i + 1) % n}, [2]uint64{(i + 1) % n, i})
	}
	r := compute(t, made(t, rows, nil, edges...), critical.Options{Tolerance: 2, Bridge: true})
	if len(r.Static) != n || len(r.Observed) != n || r.Edges != n { // the last one goes from the first task to the last
		t.Errorf("%d tasks on the static path, %d on the observed one, %d edges", len(r.Static), len(r.Observed), r.Edges)
	}
	checkTiling(t, r, critical.Options{})
}

func TestNoRows(t *testing.T) {
	if _, err := critical.Compute(made(t, nil, nil), critical.Options{}); err == nil || !strings.Contains(err.Error(), "aicore_tasks of records.json is empty") {
		t.Errorf("error %v", err)
	}
}

// TestInstant: a makespan of no cycles has no percentages to divide by.
func TestInstant(t *testing.T) {
	rank := critical.Rank{Result: compute(t, made(t, []row{{0, 1, 5, 5}}, nil), critical.Options{}), Label: "x"}
	if got, want := rank.Summary(), "[x] makespan=0.000ms  CPM=0.00ms(0%)  compute=0.0%  stall=0.0% ()"; got != want {
		t.Errorf("summary %s, want %s", got, want)
	}
	if _, err := json.Marshal(rank.Figures()); err != nil {
		t.Error(err)
	}
}

// TestDispatch: a stall has a part before the dispatch of the task, where that is known.
func TestDispatch(t *testing.T) {
	rec, err := capture.ReadFrom(strings.NewReader(`{"chip_swimlane_level": 2, "metadata": {"clock_freq_hz": 1000000, "core_types": ["aic", "aiv"]},
"aicore_tasks": [[0, 1, 0, 10, 20, 1], [0, 2, 1, 50, 60, 1], [1, 3, 0, 70, 75, 1], [1, 4, 1, 90, 95, 1]],
"scheduler_tasks": {"schema_version": 1, "producer": "aicpu", "records": [[0, 0, 5, 21], [0, 1, 44, 61], [1, 0, 55, 76], [1, 1, 99, 99]]}}`), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deps := &capture.Deps{Pred: []uint64{1, 2, 3}, Succ: []uint64{2, 3, 4}}
	graph, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	r := compute(t, tl, critical.Options{})
	var got []string
	for _, s := range r.Observed {
		got = append(got, fmt.Sprintf("%d of %d", s.Before, s.Stall))
	}
	// Task 2 is dispatched at 44, 24 cycles into its stall; 3 before its stall begins; 4, against all sense, behind its end.
	if want := "0 of 0, 24 of 30, 0 of 10, 15 of 15"; strings.Join(got, ", ") != want || r.Before != 39 || r.Behind != 16 {
		t.Errorf("before dispatch: %s, want %s; %d before, %d behind", strings.Join(got, ", "), want, r.Before, r.Behind)
	}
	rank := critical.Rank{Result: r, Label: "x"}
	var b strings.Builder
	rank.Markdown(&b, 25)
	if want := "- of the stalls: 0.039 ms (45.9%) before the dispatch of the task that stalled, 0.016 ms (18.8%) behind it\n"; !strings.Contains(b.String(), want) {
		t.Errorf("the report lacks %s\n%s", want, b.String())
	}
}

// TestDenseBridge: a graph that would take days to bridge is refused within seconds,
// and costs nothing without a bridge: 20 layers of 400 tasks that ran on no core, each
// of which needs all of the layer before, and 400 tasks at both ends.
func TestDenseBridge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const wide, layers = 400, 20
	var rows []row
	var edges [][2]uint64
	for l := range uint64(layers + 2) {
		for i := range uint64(wide) {
			if l == 0 || l == layers+1 {
				rows = append(rows, row{int(i), l*wide + i, 1 + 100*l, 50 + 100*l})
			}
			for k := range uint64(wide) {
				if l > 0 {
					edges = append(edges, [2]uint64{(l-1)*wide + k, l*wide + i})
				}
			}
		}
	}
	tl := made(t, rows, nil, edges...)
	if _, err := critical.Compute(tl, critical.Options{Bridge: true}); err == nil || !strings.Contains(err.Error(), "leave out --bridge") {
		t.Errorf("error %v", err)
	}
	if r := compute(t, tl, critical.Options{}); r.Edges != 0 || r.Untimed != wide*wide {
		t.Errorf("%d edges, %d on tasks without rows", r.Edges, r.Untimed)
	}
}

func TestSeveralRuns(t *testing.T) {
	rec, err := capture.ReadFrom(strings.NewReader(`{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1000000, "runtime": "tensormap_and_ringbuffer"},
"aicore_tasks": [[0, 1, 0, 10, 20, 0, 4], [0, 1, 1, 30, 40, 0, 5]]}`), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := critical.Compute(tl, critical.Options{}); err == nil || err.Error() != "records of several runs: records.json holds 2 (epochs 4, 5), expected one" {
		t.Errorf("error %v", err)
	}
}
