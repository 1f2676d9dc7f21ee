package scenes_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/internal/trace/check"
	"swimlane/timeline"
	"swimlane/trace/chrome"
)

// The processes of a trace (docs/formats/trace.md).
const (
	orchestrator  = 1
	scheduler     = 2
	schedulerView = 3
	workerView    = 4
	graphView     = 5 // if graphs ran
)

// laneID is a lane by its numbers.
type laneID struct{ Pid, Tid int }

// traceEvent is an event as a viewer reads it.
type traceEvent struct {
	laneID
	Ph, Name, Cat string
	Ts, Dur       float64 // µs
	Args          map[string]any
}

// from and to are the event's ends in ns, which times in a trace are multiples of.
func (e *traceEvent) from() int64 { return int64(math.Round(e.Ts * 1000)) }
func (e *traceEvent) to() int64   { return e.from() + int64(math.Round(e.Dur*1000)) }

// picture is a trace that was written and read again.
type picture struct {
	process map[int]string
	lane    map[laneID]string
	bars    map[laneID][]traceEvent
	arrows  map[string]map[int]int // by name and the process where they begin
}

// checkPicture draws the run and holds the trace against the records and the graph.
func (r *ran) checkPicture() {
	r.Helper()
	p, report := r.draw()
	r.checkLanes(p)
	r.checkBars(p)
	r.checkArrows(p, report)
	for lane, bars := range p.bars {
		r.checkNesting(fmt.Sprintf("%s %q", p.process[lane.Pid], p.lane[lane]), bars, lane.Pid == schedulerView)
	}
}

// nameMap is the only name map of the run.
func (r *ran) nameMap() *names.Map {
	r.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "name_map_*.json"))
	if err != nil || len(files) != 1 {
		r.Fatalf("%d name maps (%v), want one", len(files), err)
	}
	m, err := names.ReadMap(files[0])
	if err != nil {
		r.Fatal(err)
	}
	return m
}

func (r *ran) draw() (*picture, draw.Report) {
	r.Helper()
	pic, text := drawn(r.T, r.Timeline, r.nameMap())
	report, err := check.JSON(bytes.NewReader(text))
	if err != nil {
		r.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity != check.Note { // records of no length, and arrows that viewers turn, as docs/formats/trace.md says
			r.Errorf("a viewer would object: %s ×%d: %q", f.Rule, f.Count, f.Examples)
		}
	}
	return parsePicture(r.T, text), pic.Report
}

// drawn is the picture of a run, and the text of its trace.
func drawn(t *testing.T, tl *timeline.Timeline, m *names.Map) (*draw.Picture, []byte) {
	t.Helper()
	pic, err := draw.New(tl, draw.Options{Names: m})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := chrome.Write(context.Background(), &text, pic.Trace(), chrome.Options{}); err != nil {
		t.Fatal(err)
	}
	return pic, text.Bytes()
}

// parsePicture reads a trace.
func parsePicture(t *testing.T, text []byte) *picture {
	t.Helper()
	var doc struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	p := &picture{map[int]string{}, map[laneID]string{}, map[laneID][]traceEvent{}, map[string]map[int]int{}}
	for _, e := range doc.TraceEvents {
		switch e.Ph {
		case "M":
			if e.Name == "process_name" {
				p.process[e.Pid] = e.Args["name"].(string)
			} else if e.Name == "thread_name" {
				p.lane[e.laneID] = e.Args["name"].(string)
			}
		case "X":
			p.bars[e.laneID] = append(p.bars[e.laneID], e)
		case "s":
			if p.arrows[e.Name] == nil {
				p.arrows[e.Name] = map[int]int{}
			}
			p.arrows[e.Name][e.Pid]++
		}
	}
	return p
}

// on are the bars of a process.
func (p *picture) on(pid int) (out []traceEvent) {
	for lane, bars := range p.bars {
		if lane.Pid == pid {
			out = append(out, bars...)
		}
	}
	return out
}

// marks are the tasks that the Worker View shows although they ran on no core, with
// how often: dummies, skipped tasks and allocs. Where the host has built the graph,
// graph tasks and skipped ones are not among them.
func (r *ran) marks() map[uint64]int {
	out := map[uint64]int{}
	for _, kind := range []string{"dummy_task", "predicated_skip"} {
		for _, p := range r.phases(kind) {
			out[p.task]++
		}
	}
	rows := r.subtasks()
	for _, lane := range slices.Concat(r.Rec.DeviceOrc, r.Rec.HostOrc) {
		for _, id := range lane.Task {
			if out[id] == 0 && len(rows[id]) == 0 && !(r.hosted() && r.isTask(id)) {
				out[id]++
			}
		}
	}
	return out
}

// checkLanes: the four processes of a run on a device, and a lane for each core that
// ran something, each scheduler thread and the orchestrator.
func (r *ran) checkLanes(p *picture) {
	r.Helper()
	want := map[int]string{orchestrator: p.process[orchestrator], scheduler: "AICPU Scheduler", schedulerView: "Scheduler View", workerView: "Worker View"}
	if at := "AICPU "; r.hosted() && p.process[orchestrator] != "Host Orchestrator" || !r.hosted() && !strings.HasPrefix(p.process[orchestrator], at) {
		r.Errorf("the orchestrator is %q: want it on the host where there are host records, and after %q else", p.process[orchestrator], at)
	}
	if len(r.phases("graph_prepare")) > 0 {
		want[graphView] = "Graph Execution"
	}
	if !maps.Equal(p.process, want) {
		r.Errorf("processes %v, want %v", p.process, want)
	}
	got := map[int][]string{}
	for lane, name := range p.lane {
		if _, _, further := strings.Cut(name, " ("); !further {
			got[lane.Pid] = append(got[lane.Pid], name)
		}
	}
	var onCores, threads []string
	for _, rows := range r.subtasks() {
		for _, core := range cores(rows) {
			onCores = append(onCores, fmt.Sprintf("%s_%d", strings.ToUpper(r.Rec.Meta.CoreTypes[core]), core))
		}
	}
	slices.Sort(onCores)
	onCores = slices.Compact(onCores)
	served := map[int32]bool{}
	for _, thread := range r.Rec.Meta.CoreToThread {
		served[thread] = true
	}
	for thread := range served {
		threads = append(threads, fmt.Sprintf("Sched_%d", thread))
	}
	lanes := 1
	if r.hosted() { // a lane for uploads too, and a thread that resolves and serves no core
		threads = append(threads, fmt.Sprintf("Sched_%d", len(served)))
		lanes = 2
	}
	workers := slices.Clone(onCores)
	for thread := range len(threads) + 1 { // the orchestrator is the last one
		workers = append(workers, fmt.Sprintf("AICPU_%d", thread))
	}
	for pid, want := range map[int][]string{schedulerView: onCores, workerView: workers, scheduler: threads} {
		slices.Sort(want)
		if names := slices.Compact(slices.Sorted(slices.Values(got[pid]))); !slices.Equal(names, want) {
			r.Errorf("%s: lanes %q, want %q", p.process[pid], names, want)
		}
	}
	if len(got[orchestrator]) != lanes {
		r.Errorf("orchestrator lanes %q, want %d", got[orchestrator], lanes)
	}
}

// checkBars: a bar for each record, under the name that it has.
func (r *ran) checkBars(p *picture) {
	r.Helper()
	submits, marks := 0, 0
	for _, lane := range slices.Concat(r.Rec.DeviceOrc, r.Rec.HostOrc) {
		submits += lane.Len()
	}
	submits += len(r.Rec.Uploads)
	for _, n := range r.marks() {
		marks += n
	}
	for pid, want := range map[int]int{orchestrator: submits, schedulerView: r.Rows.Len(), workerView: r.Rows.Len() + marks} {
		if got := len(p.on(pid)); got != want {
			r.Errorf("%s: %d bars, want %d", p.process[pid], got, want)
		}
	}
	graphs := p.on(graphView)
	if len(graphs) != len(r.GraphRuns()) {
		r.Errorf("%d bars of graphs, want %d", len(graphs), len(r.GraphRuns()))
	}
	for _, bar := range graphs {
		if !strings.HasPrefix(bar.Name, "GraphExecution(") || !strings.HasSuffix(bar.Name, ", 4 visible in-graph tasks)") {
			r.Errorf("a graph is the bar %q: want it to say that four of its tasks are visible", bar.Name)
		}
	}
	want, got := map[string]int{}, map[string]int{}
	for i := range r.Rec.Streams {
		for _, k := range r.Rec.Streams[i].Phases.Kind {
			if kind := r.Rec.Kinds[k]; kind.Class == capture.Bar {
				want[strings.TrimSuffix(kind.Name, "_standalone")]++
			} else if kind.Class != capture.Marker {
				r.Errorf("records of the kind %q, which is in no table or not written any more", kind.Name)
			}
		}
	}
	for _, bar := range p.on(scheduler) {
		got[bar.Args["phase"].(string)]++
	}
	if !maps.Equal(got, want) {
		r.Errorf("phases %v are drawn, want %v", got, want)
	}
	if r.Rows.Len() > 0 && (want["complete"] == 0 || want["dispatch"]+want["drain_publish"]+want["early_dispatch"] == 0) {
		r.Errorf("phases %v: want complete, and some that dispatch", want)
	}
	// Every function that ran is there under its name.
	labels := map[string]bool{}
	for _, bar := range p.on(workerView) {
		name, _, _ := strings.Cut(bar.Name, "(")
		labels[name] = true
	}
	all := r.nameMap()
	for i, f := range r.Rows.Func {
		if r.hosted() && r.IDOf(i)>>32 == 1 { // the graph names no nodes
			continue
		}
		name, ok := all.Name(int64(f))
		if !ok || !slices.ContainsFunc(slices.Collect(maps.Keys(labels)), func(l string) bool { return strings.Contains(l, name) }) {
			r.Fatalf("row %d ran the function %d, named %q: want a bar with that name, there are %q", i, f, name, slices.Sorted(maps.Keys(labels)))
		}
	}
}

// checkArrows counts dependencies: each edge of deps.json has one for each pair of
// anchors (spec/converter.md §5.1, §5.2). Of one block each row is an anchor, of
// several each kind of cores, as all AIVs count as the first (spec/records.md §5.3);
// a task that ran on no core has one in the Worker View.
func (r *ran) checkArrows(p *picture, report draw.Report) {
	r.Helper()
	rows, marks := r.subtasks(), r.marks()
	anchors := func(id uint64, pid int) int {
		if len(rows[id]) == 0 && pid == workerView {
			return marks[id]
		} else if len(rows[id]) == 0 {
			return 0
		}
		n, _ := r.graph.Node(id)
		kernels, _ := r.graph.Kernel(n)
		lanes := 0
		for lane, k := range kernels {
			if k >= 0 && (lane < 2 || r.graph.Block(n) == 1 || kernels[1] < 0) {
				lanes++
			}
		}
		return lanes
	}
	for _, pid := range []int{schedulerView, workerView} {
		want := 0
		for _, from := range r.graph.Preds() {
			for _, to := range r.graph.Succ(from) {
				want += anchors(r.graph.ID(from), pid) * anchors(r.graph.ID(to), pid)
			}
		}
		got := p.arrows["dependency"][pid] + p.arrows["hb_violation"][pid]
		if got != want {
			r.Errorf("%s: %d dependency arrows, want %d for the %d edges of the graph", p.process[pid], got, want, r.graph.Edges())
		}
		if n := p.arrows["hb_violation"][pid]; n > 0 && !early[r.label] {
			r.Errorf("%s: %d arrows against time", p.process[pid], n)
		}
	}
	// From the scheduler to each row in both views, and from the submit.
	if got, want := p.arrows["dispatch"][scheduler], 2*r.Rows.Len(); got != want {
		r.Errorf("%d dispatch arrows, want %d", got, want)
	}
	if len(report.Unbound) > 0 || len(report.NoRecords) > 0 || len(report.Warnings) > 0 && !r.dummiesUntold() {
		r.Errorf("arrows without a bar: %v; threads without records: %v; warnings %v", report.Unbound, report.NoRecords, report.Warnings)
	}
}

// checkNesting: bars of a lane lie inside each other or apart. Apart always: if
// asked for.
func (r *ran) checkNesting(where string, bars []traceEvent, apart bool) {
	r.Helper()
	slices.SortStableFunc(bars, func(a, b traceEvent) int {
		return cmp.Or(cmp.Compare(a.from(), b.from()), cmp.Compare(b.to(), a.to()))
	})
	var open []int64 // ends of the bars that have not ended
	for i := range bars {
		from, to := bars[i].from(), bars[i].to()
		for len(open) > 0 && open[len(open)-1] <= from {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && (apart || to > open[len(open)-1]) {
			r.Errorf("%s: %q from %d to %d ns overlaps a bar until %d", where, bars[i].Name, from, to, open[len(open)-1])
		}
		open = append(open, to)
	}
}
