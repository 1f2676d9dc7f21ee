package overhead_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/overhead"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// The stored outputs are those of the tool of August. It counted other phases and
// began the critical path elsewhere (spec/sched-overhead.md §9). oracle computes,
// from the JSON and in floating point, what either generation counts: the stored
// outputs judge it, and it judges ours where ours differ from them.
type oracle struct {
	Threads []oracleThread
	phases  map[string]float64 // µs, over all threads
	tasks   float64
	total   float64
	span    float64
	exec    float64
	sched   float64
	hops    int
}

type oracleThread struct {
	index        int
	loops, tasks int
	total        float64
}

type rawCapture struct {
	Metadata struct {
		Hz      float64 `json:"clock_freq_hz"`
		Threads []int   `json:"core_to_thread"`
	} `json:"metadata"`
	Tasks  [][]float64 `json:"aicore_tasks"`
	AICPU  [][]float64 `json:"aicpu_tasks"`
	Phases [][]struct {
		Kind      string  `json:"kind"`
		Start     float64 `json:"start_cycles"`
		End       float64 `json:"end_cycles"`
		Loop      int     `json:"loop_iter"`
		Processed int     `json:"tasks_processed"`
	} `json:"aicpu_scheduler_phases"`
}

var (
	august = []string{"complete", "async_poll", "dispatch"}
	today  = []string{"complete", "async_poll", "state_probe", "dispatch", "worksteal", "refill", "release", "dummy", "early_dispatch", "drain", "graph_prepare", "resolve"}
)

// naively takes records of the kinds that count. oldSpan: the path begins with its
// first kernel, not with that one's dispatch.
func naively(raw *rawCapture, edges [][2]string, counts []string, oldSpan bool) *oracle {
	us := func(c float64) float64 { return c / raw.Metadata.Hz * 1e6 }
	out := &oracle{phases: map[string]float64{}}
	type key struct{ core, reg float64 }
	sched := map[key][]float64{}
	for _, r := range raw.AICPU {
		sched[key{r[0], r[1]}] = r
	}
	type joined struct {
		core                         int
		dispatch, start, end, finish float64
	}
	byTask := map[string][]joined{}
	for _, r := range raw.Tasks {
		s := sched[key{r[0], r[2]}]
		id := strconv.FormatFloat(r[1], 'f', 0, 64)
		byTask[id] = append(byTask[id], joined{int(r[0]), us(s[2]), us(r[3]), us(r[4]), us(s[3])})
	}
	retired := map[int]int{}
	for _, rows := range byTask {
		best, thread := math.Inf(-1), -1
		for _, r := range rows {
			if th := raw.Metadata.Threads[r.core]; th >= 0 && r.finish > best {
				best, thread = r.finish, th
			}
		}
		retired[thread]++
	}
	for n, list := range raw.Phases {
		th := oracleThread{index: n}
		records := slices.Clone(list)
		sort.SliceStable(records, func(a, b int) bool { return records[a].Start < records[b].Start })
		prev, seen := math.Inf(1), false
		for _, p := range records {
			kind := strings.TrimSuffix(p.Kind, "_standalone")
			nested := false
			if p.Kind == "resolve" {
				last := -1
				for i, q := range records {
					if (q.Kind == "complete" || q.Kind == "dummy") && q.Start <= p.Start {
						last = i
					}
				}
				nested = last >= 0 && p.End < records[last].End
			}
			if !slices.Contains(counts, kind) || nested {
				continue
			}
			seen = true
			th.loops = max(th.loops, p.Loop)
			d := us(max(0, p.End-p.Start))
			out.phases[kind] += d
			th.total += d
			if p.Start > prev {
				out.phases["idle"] += us(p.Start - prev)
				th.total += us(p.Start - prev)
			}
			if prev = max(prev, p.End); math.IsInf(prev, 1) {
				prev = p.End
			}
		}
		if !seen {
			continue
		}
		th.tasks = retired[n]
		out.tasks += float64(th.tasks)
		out.total += th.total
		out.Threads = append(out.Threads, th)
	}

	low := func(id string, of func(joined) float64) float64 {
		v := math.Inf(1)
		for _, r := range byTask[id] {
			v = min(v, of(r))
		}
		return v
	}
	end := func(id string) float64 { return -low(id, func(r joined) float64 { return -r.end }) }
	finish := func(id string) float64 { return -low(id, func(r joined) float64 { return -r.finish }) }
	start := func(id string) float64 { return low(id, func(r joined) float64 { return r.start }) }
	dispatch := func(id string) float64 { return low(id, func(r joined) float64 { return r.dispatch }) }
	number := func(id string) uint64 { v, _ := strconv.ParseUint(id, 10, 64); return v }
	var ids []string
	for id := range byTask {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(a, b int) bool { return number(ids[a]) < number(ids[b]) })
	preds := map[string][]string{}
	for _, e := range edges {
		if e[0] != e[1] && byTask[e[0]] != nil {
			preds[e[1]] = append(preds[e[1]], e[0])
		}
	}
	at := ids[0]
	for _, id := range ids {
		if finish(id) > finish(at) {
			at = id
		}
	}
	last, first := finish(at), start(at)
	for {
		out.exec += max(0, end(at)-start(at))
		best := ""
		for _, p := range preds[at] {
			if best == "" || end(p) > end(best) || end(p) == end(best) && number(p) > number(best) {
				best = p
			}
		}
		if best == "" {
			out.sched += max(0, start(at)-dispatch(at))
			if !oldSpan {
				first = min(first, dispatch(at))
			}
			break
		}
		out.sched += max(0, start(at)-end(best))
		out.hops++
		first = min(first, start(best))
		at = best
	}
	out.span = last - first
	return out
}

// phaseLine, threadLine and pathLines are those of the stored outputs.
var (
	threadLine = regexp.MustCompile(`^  T(\d+) +(\d+) +(\d+) +(\d+) +([\d.]+)$`)
	phaseLine  = regexp.MustCompile(`^  (Complete|AsyncPoll|Dispatch|Idle) \(.*\) +([\d.]+) +([\d.]+)% +([\d.]+)$`)
	ofPath     = regexp.MustCompile(`Makespan-determining path: (\d+) hops, span ([\d.]+) us\n.*: ([\d.]+) us .*\n.*: ([\d.]+) us`)
)

// shown tells whether text shows v with the given number of decimals; the tool's
// sums are floating point, so its last digit may be one off.
func shown(t *testing.T, what, text string, v float64) {
	t.Helper()
	within(t, what, text, v, 0.501)
}

// within allows so many units of the last digit.
func within(t *testing.T, what, text string, v, units float64) {
	t.Helper()
	got, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	unit := 1.0
	if _, frac, ok := strings.Cut(text, "."); ok {
		unit = math.Pow(10, -float64(len(frac)))
	}
	if math.Abs(got-v) > units*unit+1e-9*math.Abs(v) {
		t.Errorf("%s: the stored output has %s, computed %v", what, text, v)
	}
}

// near: two computations of one time, one of them in floating point.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
		t.Errorf("%s: %v, computed from the file %v", what, got, want)
	}
}

func TestStoredOutputs(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	found := 0
	err := filepath.WalkDir(captures, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "sched_overhead.txt" {
			return err
		}
		dir := filepath.Dir(filepath.Dir(path))
		name, err := filepath.Rel(captures, dir)
		if err != nil {
			return err
		}
		found++
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			if testing.Short() && strings.Contains(name, "_large_") {
				t.Skip("large capture")
			}
			compareStored(t, dir, path)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 61 {
		t.Errorf("%d stored outputs, expected 61 or more", found)
	}
}

// there is the path of a file that may be compressed.
func there(dir, name string) string {
	if p := filepath.Join(dir, name); exists(p) {
		return p
	}
	return filepath.Join(dir, name+".gz")
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// loadCapture reads a real capture with its graph.
func loadCapture(t *testing.T, dir string) *timeline.Timeline {
	t.Helper()
	rec, err := capture.Read(there(dir, "chip_swimlane_records.json"), capture.Options{Pops: true})
	if err != nil {
		t.Fatal(err)
	}
	deps, err := capture.ReadDeps(there(dir, "deps.json"), nil)
	if err != nil || deps == nil {
		t.Fatal(err, deps)
	}
	graph, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func compareStored(t *testing.T, dir, reference string) {
	stored := string(parity.Unpacked(t, reference))
	tl := loadCapture(t, dir)
	if err := overhead.CheckRecords(tl); err != nil {
		t.Fatal(err)
	}
	r, err := overhead.New(tl, "deps.json", overhead.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ours := textOf(t, r, overhead.Form{})
	cut := func(text, until string) []string {
		from, to := strings.Index(text, "Part 1: "), strings.Index(text, until)
		if from < 0 || to < from {
			t.Fatalf("no %q in\n%s", until, text)
		}
		return strings.Split(text[from:to], "\n")
	}
	// Parts 1 to 4 and the number of threads: every line.
	sameLines(t, cut(ours, "\n  Thread "), cut(stored, "\n  Thread "))
	// What §9 leaves as it was.
	kept := regexp.MustCompile(`(?m)^  (FINs observed|Fanout .*total|Fanin .*total|Pop:).*$`)
	sameLines(t, kept.FindAllString(ours, -1), kept.FindAllString(stored, -1))

	if b := overhead.PhaseName(r.Phases.Busiest()); slices.Contains(august, b) { // the insight is about the same phase
		insight := regexp.MustCompile(`(?m)^  (Key insight|Fanout: |Fanin: |Fan.*travers|Pop hit_rate|Cache flush).*$`)
		sameLines(t, insight.FindAllString(ours, -1), insight.FindAllString(stored, -1))
	}

	var raw rawCapture
	if err := json.Unmarshal(parity.Unpacked(t, there(dir, "chip_swimlane_records.json")), &raw); err != nil {
		t.Fatal(err)
	}
	var deps struct {
		Edges []struct{ Pred, Succ string }
	}
	if err := json.Unmarshal(parity.Unpacked(t, there(dir, "deps.json")), &deps); err != nil {
		t.Fatal(err)
	}
	var edges [][2]string
	for _, e := range deps.Edges {
		edges = append(edges, [2]string{e.Pred, e.Succ})
	}
	storedAgainst(t, stored, naively(&raw, edges, august, true))
	oursAgainst(t, r, naively(&raw, edges, today, false))
}

// storedAgainst holds the oracle against the stored output.
func storedAgainst(t *testing.T, stored string, n *oracle) {
	seen := 0
	for line := range strings.SplitSeq(stored, "\n") {
		if m := threadLine.FindStringSubmatch(line); m != nil {
			th := n.Threads[seen]
			seen++
			shown(t, "thread", m[1], float64(th.index))
			shown(t, "loops", m[2], float64(th.loops))
			shown(t, "tasks", m[3], float64(th.tasks))
			shown(t, "total", m[5], th.total)
		}
		if m := phaseLine.FindStringSubmatch(line); m != nil {
			d := n.phases[map[string]string{"Complete": "complete", "AsyncPoll": "async_poll", "Dispatch": "dispatch", "Idle": "idle"}[m[1]]]
			shown(t, m[1], m[2], d)
			if n.total > 0 {
				shown(t, m[1]+" %", m[3], 100*d/n.total)
			}
		}
	}
	if seen != len(n.Threads) {
		t.Errorf("the stored output has %d threads, computed %d", seen, len(n.Threads))
	}
	m := ofPath.FindStringSubmatch(stored)
	if m == nil {
		t.Fatalf("no path in\n%s", stored)
	}
	shown(t, "hops", m[1], float64(n.hops))
	shown(t, "span", m[2], n.span)
	shown(t, "exec", m[3], n.exec)
	shown(t, "scheduler", m[4], n.sched)
}

// oursAgainst holds the report against the oracle.
func oursAgainst(t *testing.T, r *overhead.Report, n *oracle) {
	if len(r.Phases.Threads) != len(n.Threads) {
		t.Fatalf("%d threads, computed %d", len(r.Phases.Threads), len(n.Threads))
	}
	sums := map[string]float64{}
	for i := range r.Phases.Threads {
		th, want := &r.Phases.Threads[i], n.Threads[i]
		if th.Index != want.index || th.Loops != int64(want.loops) || th.Tasks != int64(want.tasks) {
			t.Errorf("thread %d: %+v, computed %+v", i, th, want)
		}
		near(t, fmt.Sprintf("thread %d", i), r.Micros(float64(th.Total())), want.total)
		for p, d := range th.Time {
			sums[overhead.PhaseName(p)] += r.Micros(float64(d))
		}
	}
	for name, d := range sums {
		near(t, name, d, n.phases[name])
	}
	p := &r.Path
	if p.Hops != n.hops {
		t.Errorf("%d hops, computed %d", p.Hops, n.hops)
	}
	near(t, "span", r.Micros(float64(p.Span())), n.span)
	near(t, "exec", r.Micros(float64(p.Exec)), n.exec)
	near(t, "scheduler", r.Micros(float64(p.Sched)), n.sched)
}

var number = regexp.MustCompile(`^[(\[]?(\d+(?:\.\d+)?)(%|us|%\)|,|\]|)$`)

// sameLines compares word by word; numbers may differ by one in the last digit.
func sameLines(t *testing.T, ours, stored []string) {
	t.Helper()
	if len(ours) != len(stored) {
		t.Errorf("%d lines, the stored output has %d", len(ours), len(stored))
	}
	for i := range min(len(ours), len(stored)) {
		a, b := strings.Fields(ours[i]), strings.Fields(stored[i])
		same := len(a) == len(b)
		for k := 0; same && k < len(a); k++ {
			if a[k] == b[k] {
				continue
			}
			x, y := number.FindStringSubmatch(a[k]), number.FindStringSubmatch(b[k])
			if same = x != nil && y != nil && x[2] == y[2]; same {
				within(t, ours[i], y[1], value(t, x[1]), 1.001)
			}
		}
		if !same {
			t.Errorf("line\n got %s\nwant %s", ours[i], stored[i])
		}
	}
}

func value(t *testing.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
