package convert

import (
	"fmt"
	"io"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/timeline"
)

// verbose prints what --verbose adds, in the order and the words of
// spec/converter.md §8.4. Without the flag it is quiet.
type verbose struct {
	w  io.Writer
	on bool
	// plain leaves out what the ecosystem's tool does not say.
	plain bool
}

func newVerbose(w io.Writer, on bool) *verbose { return &verbose{w: w, on: on} }

func (v *verbose) say(format string, args ...any) {
	if v.on {
		fmt.Fprintf(v.w, format+"\n", args...)
	}
}

// input says what will be read.
func (v *verbose) input(c *Capture) {
	if c.auto {
		v.say("Auto-selected latest file: %s", c.Records)
	}
	v.say("Reading performance data from: %s", c.Records)
}

// capture says what was read.
func (v *verbose) capture(c *Capture) {
	if !v.on {
		return
	}
	t := c.Timeline
	v.say("\n=== Performance Data ===")
	v.say("  L2 perf level: %d", t.Rec.Level)
	runtime := capture.OwnRuntime(t.Rec)
	if runtime == "" {
		runtime = "not named"
	}
	if !v.plain {
		v.say("  Form of the file: %s; runtime: %s", t.Rec.Dialect.Label, runtime)
	}
	v.say("  Task Count: %d", t.Rows.Len())
	if first, last, ok := kernelSpan(t); ok {
		v.say("  Time Range: %s us - %s us (span: %s us)", micros(first), micros(last), micros(last-first))
	}
	v.say("")
	v.records(t)
	if !c.in.Nameless {
		v.names(c)
	}
	v.graph(c)
}

// kernelSpan is the time from the first kernel start to the last end, in ns.
func kernelSpan(t *timeline.Timeline) (first, last int64, ok bool) {
	for row := range t.Rows.Start {
		start, end := t.Clock.Ns(t.Rows.Start[row]), t.Clock.Ns(t.Rows.End[row])
		if !ok || start < first {
			first = start
		}
		last, ok = max(last, end), true
	}
	return first, last, ok
}

func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

// records counts what the schedulers and orchestrators recorded.
func (v *verbose) records(t *timeline.Timeline) {
	threads, records := 0, 0
	for i := range t.Rec.Streams {
		if !t.Rec.Streams[i].Gap {
			threads++
			records += t.Rec.Streams[i].Phases.Len()
		}
	}
	if threads > 0 {
		v.say("  Scheduler threads: %d", threads)
		v.say("  Total phase records: %d", records)
	}
	lanes := orchestratorLanes(t)
	records, submitted := 0, 0
	for i := range lanes {
		records += lanes[i].Len()
		for _, named := range lanes[i].Has {
			if named {
				submitted++
			}
		}
	}
	if len(lanes) > 0 {
		v.say("  Orchestrator threads: %d", len(lanes))
		v.say("  Total orchestrator phase records: %d", records)
		v.say("  Orchestrator: %d tasks submitted", submitted)
	}
	if n := len(t.Rec.Meta.CoreToThread); n > 0 {
		v.say("  Core-to-thread mapping: %d cores", n)
	}
}

func orchestratorLanes(t *timeline.Timeline) []capture.Submits {
	if t.HostMode() {
		return t.Rec.HostOrc
	}
	return t.Rec.DeviceOrc
}

// names lists the function names and where they are from.
func (v *verbose) names(c *Capture) {
	m := c.Names.Map
	if m == nil {
		v.say("No func names")
		return
	}
	switch c.Names.How {
	case names.FromFuncNames:
		v.say("Loading func names from: %s", m.Source)
	case names.FromKernelConfig:
		v.say("Loading kernel config from: %s", m.Source)
	default:
		v.say("Auto-discovered func names from: %s", m.Source)
	}
	v.say("  Loaded %d func names", m.Len())
	for _, x := range m.Sorted() {
		v.say("    func_id=%s: %s", stats.Printable(x.Key), stats.Printable(x.Name))
	}
	if m.Orchestrator != "" {
		v.say("    orchestrator: %s", stats.Printable(m.Orchestrator))
	}
}

// graph says what the task graph gives.
func (v *verbose) graph(c *Capture) {
	g := c.Graph
	if g == nil {
		return
	}
	if c.edges {
		v.say("  Using deps.json edges (%d total) from %s", g.Edges(), c.Deps)
	}
	kernels := 0
	for n := range g.Nodes() {
		if _, ok := g.Kernel(int32(n)); ok {
			kernels++
		}
	}
	recovery := ""
	if c.Timeline.Rec.Level == 1 {
		recovery = " (level=1 name recovery)"
	}
	if kernels > 0 {
		v.say("  Using deps.json kernel_ids for %d tasks%s", kernels, recovery)
	}
}

// drawing says what will be drawn.
func (v *verbose) drawing(c *Capture) {
	v.say("Generating Chrome Trace JSON...")
	v.say("  Tasks: %d", c.Timeline.Rows.Len())
	v.say("  Function names: %d entries", c.Names.Map.Len())
	v.say("  Unique cores: %d", len(c.Timeline.Cores))
}

// picture says what was found while it was laid out.
func (v *verbose) picture(c *Capture, pic *draw.Picture) {
	if !v.on {
		return
	}
	t, r := c.Timeline, &pic.Report
	if c.edges {
		v.say("  Dependency flow events: %d edges (source: deps.json)", r.Drawn)
		v.strangers(t)
	}
	if r.SPMD > 0 {
		v.say("  SPMD tasks: %d logical task(s); dependency arrows independently anchor on each view's earliest visible slice per function", r.SPMD)
	}
	if r.Violations > 0 {
		v.say("  Happens-before violations: %d edge(s) flagged as 'hb_violation'", r.Violations)
		v.violating(t, r)
	}
	switch n := len(t.Rec.Meta.CoreToThread); {
	case n > 0:
		v.say("  Core-to-thread mapping: %d cores (from perf JSON)", n)
	case t.Timed() && len(t.Streams) > 0:
		for i := range t.Cores {
			if t.Cores[i].Thread >= 0 {
				n++
			}
		}
		v.say("  Core-to-thread mapping: %d cores (inferred via voting)", n)
	}
}

// violating lists the first violated edges.
func (v *verbose) violating(t *timeline.Timeline, r *draw.Report) {
	ids := t.Rec.Dialect.IDs
	for _, x := range r.Violating {
		v.say("    %s → %s: the successor starts %s us before the predecessor ends",
			names.AppendTaskID(nil, ids, x.Pred), names.AppendTaskID(nil, ids, x.Succ), micros(x.Overlap))
	}
	if more := r.Violations - int64(len(r.Violating)); more > 0 {
		v.say("    … and %s more", console.Thousands(more))
	}
}

// strangers names the edges from a task that is drawn to one that is not.
func (v *verbose) strangers(t *timeline.Timeline) {
	const most = 10
	found := 0
	text := func(id uint64) []byte { return names.AppendTaskID(nil, t.Rec.Dialect.IDs, id) }
	drawn := drawnTasks(t)
	for _, p := range t.Graph.Preds() {
		if !drawn(p) {
			continue
		}
		for _, q := range t.Graph.Succ(p) {
			if drawn(q) {
				continue
			}
			if found++; found <= most {
				pred, succ := t.Graph.ID(p), t.Graph.ID(q)
				v.say("Warning: Task %s (raw %d) references non-existent successor %s (raw %d)", text(pred), pred, text(succ), succ)
			}
		}
	}
	if found > most {
		v.say("  … and %d more edges to tasks that are not in the capture", found-most)
	}
}

// drawnTasks tells which tasks of the graph have bars among the workers: rows,
// markers, or the allocations, which the graph does not list as tasks.
func drawnTasks(t *timeline.Timeline) func(node int32) bool {
	shown := map[uint64]bool{}
	for i := range t.Rec.Streams {
		p := &t.Rec.Streams[i].Phases
		for j, k := range p.Kind {
			if t.Rec.Kinds[k].Class == capture.Marker && p.Flags[j]&capture.HasTask != 0 {
				shown[p.Task[j]] = true
			}
		}
	}
	for _, lane := range orchestratorLanes(t) {
		for j, id := range lane.Task {
			if !lane.Has[j] {
				continue
			}
			if n, ok := t.Graph.Node(id); ok {
				if _, kernel := t.Graph.Kernel(n); !kernel {
					shown[id] = true
				}
			}
		}
	}
	return func(node int32) bool {
		id := t.Graph.ID(node)
		for run := range int32(len(t.Rec.Runs)) {
			if t.Tasks.Find(run, id) >= 0 {
				return true
			}
		}
		return shown[id]
	}
}

// written says what the trace holds. Where there is no graph it says so even
// without the flag, if nothing that is printed later does.
func (v *verbose) written(s *summary) {
	overhead := int64(s.pic.Report.OverheadPoints)
	v.say("  Total events: %d", s.counts.Events()+s.metadata()-overhead)
	switch {
	case s.c.edges:
		v.say("  Flow events: %d", s.counts.Flows)
	case v.on || s.o.Alias:
		fmt.Fprintln(v.w, noArrows)
	}
	if overhead > 0 {
		v.say("  Overhead Analysis: %d counter points (8 tracks)", overhead)
	}
	v.say("JSON written to: %s", s.output)
}
