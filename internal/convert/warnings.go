package convert

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/draw"
)

func (c *Capture) warn(code string, n int64, format string, args ...any) {
	c.warnings = append(c.warnings, capture.Warning{Code: code, Count: n, Text: fmt.Sprintf(format, args...)})
}

// depsWarnings says what is wrong with the graph (spec/records.md §5.2). What
// its absence means differs between the commands.
func (c *Capture) depsWarnings(deps *capture.Deps, err error) {
	switch {
	case err != nil:
		c.warn("deps-unreadable", 1, "failed to read %s: %s", c.Deps, depsFault(err))
	case deps == nil && c.in.DepsJSON != "":
		c.warn("deps-missing", 1, "--deps-json names %s, which does not exist", c.Deps)
	case deps != nil && deps.NoEdges:
		c.warn("deps-without-edges", 1, "%s has no 'edges' array", c.Deps)
	case deps != nil && deps.Skipped > 0:
		c.warn("deps-edges-skipped", deps.Skipped, "%s has %d edge(s) without two task ids; they were skipped", c.Deps, deps.Skipped)
	}
}

// depsFault is what is wrong with a graph, without its path.
func depsFault(err error) string {
	var e *capture.Error
	if errors.As(err, &e) {
		if e.Hint != "" {
			return e.Text + "; " + e.Hint
		}
		return e.Text
	}
	if text, ok := console.PathText(err); ok {
		return text
	}
	return err.Error()
}

// warnFunctionless says why figures stand under no function.
func (c *Capture) warnFunctionless() {
	if !c.hasDeps && !c.foreign && c.Timeline.Rows.Len() > 0 {
		c.warn("no-deps", 1, "%s; which function a task ran is unknown, so all are -1. "+
			"Run a dep_gen capture (--enable-dep-gen) and pass --deps-json <path> to tell them apart.", c.noDeps())
	}
}

// warnArrowless says what a picture without a graph lacks (spec/converter.md §8.3).
func (c *Capture) warnArrowless() {
	if !c.edges && !c.foreign {
		c.warn("no-deps", 1, "%s; Perfetto trace will have no dependency arrows. "+
			"Run a dep_gen capture (--enable-dep-gen) and pass --deps-json <path> to add them.", c.noDeps())
	}
}

// noDeps says that there is no graph.
func (c *Capture) noDeps() string {
	if c.Deps == "" {
		return "no deps.json beside " + standardInput
	}
	return "no usable deps.json at " + c.Deps
}

// warnPassedOver names newer captures that the automatic choice does not take.
func (c *Capture) warnPassedOver() {
	if !c.auto {
		return
	}
	for _, p := range capture.PassedOver(c.Records) {
		if p.Retained {
			c.warn("retained-passed-over", 1, "a newer retained run was passed over: %s; name its records file, as %s", p.Run, p.Path)
		} else {
			c.warn("ranks-passed-over", 1, "a newer capture of several ranks was passed over: %[1]s; draw it with 'swimlane convert %[1]s', or name one rank's records file, as %[2]s", p.Run, p.Path)
		}
	}
}

// warnForeignGraph finds the graph of another program: it does not know the
// tasks of the capture, or the capture has few of its tasks. Low ids are in every
// graph, so one of the two is not enough. Tasks that were expanded from a graph
// task are in no file.
func (c *Capture) warnForeignGraph() {
	t := c.Timeline
	if c.Graph == nil {
		return
	}
	ids := t.Rec.Dialect.IDs
	prepared := t.Rec.GraphTasks()
	behind, members := c.membersBehind()
	expanded := func(id uint64) bool {
		if members && id > behind {
			return true
		}
		outer, _, ok := ids.GraphMember(id)
		if !ok {
			return false
		}
		_, known := c.Graph.Node(outer)
		return ids == capture.Spaces || prepared[outer] || len(t.Rec.Streams) == 0 && known
	}
	listed, all := 0, 0
	for i, id := range t.Tasks.ID {
		switch {
		case t.Tasks.Node[i] >= 0:
			listed++
			all++
		case !expanded(id):
			all++
		}
	}
	if 2*listed < all {
		c.warn("graph-mismatch", 1, "deps.json at %s lists %s of the capture's %s; it may be the graph of another program",
			c.Deps, console.Thousands(int64(listed)), console.Count(int64(all), "task"))
		return
	}
	if all == 0 || t.Rec.Loss.Declared || t.Unmatched > 0 {
		return // tasks may be missing
	}
	if ran, kernels := c.kernelsRun(); 2*ran < kernels {
		c.warn("graph-mismatch", 1, "the capture has %s of the %s with kernels in deps.json at %s; it may be the graph of another program",
			console.Thousands(int64(ran)), console.Count(int64(kernels), "task"), c.Deps)
	}
}

// membersBehind finds which ids may be members of a graph task where AICore schedulers
// ran it: they number members behind all that the host has built, and no id tells
// whose member it is.
func (c *Capture) membersBehind() (last uint64, ok bool) {
	if c.Timeline.Counted {
		return 0, false
	}
	for n := range int32(c.Graph.Nodes()) {
		last = max(last, c.Graph.ID(n))
		k, listed := c.Graph.Kernel(n)
		ok = ok || listed && max(k[0], k[1], k[2]) < 0
	}
	return last, ok
}

// kernelsRun counts the tasks of the graph that have kernels, and those of them
// that are in the capture.
func (c *Capture) kernelsRun() (ran, all int) {
	here := make([]bool, c.Graph.Nodes())
	for _, n := range c.Timeline.Tasks.Node {
		if n >= 0 {
			here[n] = true
		}
	}
	rec := c.Timeline.Rec
	for i := range rec.Streams { // a task that was skipped has a record and no row
		p := &rec.Streams[i].Phases
		for j, k := range p.Kind {
			if rec.Kinds[k].Class == capture.Marker && p.Flags[j]&capture.HasTask != 0 {
				if n, ok := c.Graph.Node(p.Task[j]); ok {
					here[n] = true
				}
			}
		}
	}
	for n := range int32(len(here)) {
		k, ok := c.Graph.Kernel(n)
		if !ok || max(k[0], k[1], k[2]) < 0 {
			continue
		}
		if all++; here[n] {
			ran++
		}
	}
	return ran, all
}

// warnOverhead says why the counters that were asked for are not there.
func (c *Capture) warnOverhead(o *Options, pic *draw.Picture) {
	if o.Overhead && !c.edges {
		c.warn("overhead-without-deps", 1, "--overhead needs deps.json for task readiness; no deps found, Overhead Analysis track skipped.")
	} else if o.Overhead && pic.Report.OverheadPoints == 0 {
		c.warn("overhead-without-times", 1, "--overhead needs a graph with edges and the dispatch time of every task row; there are no such, Overhead Analysis track skipped.")
	}
}

// warnUnusedNames finds the names of another program.
func (c *Capture) warnUnusedNames() {
	m := c.Names.Map
	if m == nil {
		return
	}
	functions := map[int32]bool{}
	for _, f := range c.Timeline.Rows.Func {
		if f < 0 || functions[f] {
			continue
		}
		if _, ok := m.Name(int64(f)); ok {
			return
		}
		functions[f] = true
	}
	switch n := len(functions); n {
	case 0:
	case 1:
		c.warn("names-unused", 1, "%s does not name the only function of this capture", m.Source)
	default:
		c.warn("names-unused", 1, "%s names none of the %s of this capture", m.Source, console.Count(int64(n), "function"))
	}
}

// warnLosses repeats what the file itself says was lost.
func (c *Capture) warnLosses() {
	loss := &c.Timeline.Rec.Loss
	if !loss.Declared {
		return
	}
	parts, n := declaredLosses(loss)
	if len(parts) == 0 && loss.Retained {
		return // the warning of its verdict says it
	}
	if loss.EndedEarly {
		c.warn("ended-early", 1, "the capture is not complete: the run failed, and of what was under way there are no records, or not all")
		if len(parts) == 0 {
			return
		}
	}
	what := "some records, the file does not say how many"
	if len(parts) > 0 {
		what = strings.Join(parts, ", ")
	}
	c.warn("records-lost", max(n, 1), "the capture is not complete: it says that it lost %s", what)
}

// declaredLosses are the parts of what a file says was lost, in words, and their sum.
func declaredLosses(loss *capture.Loss) (parts []string, n int64) {
	add := func(lost int64, what string) {
		if lost > 0 {
			parts = append(parts, console.Count(lost, what))
			if n += lost; n < 0 { // counts come from a file
				n = math.MaxInt64
			}
		}
	}
	phases := false
	for _, k := range loss.Kinds {
		add(k.N, stats.Printable(k.Kind)+" record")
		phases = phases || k.Kind == "SCHED_PHASE"
	}
	const most = 8
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("records of %s", console.Count(int64(more), "more kind")))
	}
	if !phases { // the collector counts those of the streams too
		add(loss.Streams, "scheduler phase record")
	}
	add(loss.Host, "host submit record")
	return parts, n
}

// skewNoticed is the contradiction, in ns, from which on counters count as
// skewed: a dispatch is stamped beside the write that the core sees, so shorter
// ones are in the nature of the thing.
const skewNoticed = 100

// warnSkew counts the rows whose times contradict each other.
func (c *Capture) warnSkew() {
	r, clock := &c.Timeline.Rows, &c.Timeline.Clock
	late := func(first, then uint64) bool { return first > then && clock.Ns(first)-clock.Ns(then) >= skewNoticed }
	n := int64(0)
	for row := range r.Core {
		if r.Timed(row) && (late(r.Dispatch[row], r.Receive[row]) || late(r.End[row], r.Finish[row])) {
			n++
		}
	}
	if n > 0 {
		was, they := "were", "before they ended"
		received := "after they were received"
		if n == 1 {
			was, they, received = "was", "before it ended", "after it was received"
		}
		c.warn("skewed-clocks", n, "%s %s dispatched %s or finished %s: the counters are skewed", console.Count(n, "row"), was, received, they)
	}
}

// functionless counts the rows without a function, where there is a graph that could name them.
func (c *Capture) functionless() (n int64) {
	if c.Graph == nil {
		return 0
	}
	for _, f := range c.Timeline.Rows.Func {
		if f < 0 {
			n++
		}
	}
	return n
}

// printWarnings prints those that were not printed yet.
func (c *Capture) printWarnings(w io.Writer) {
	for _, x := range c.warnings[c.printed:] {
		fmt.Fprintln(w, "Warning: "+x.Text)
	}
	c.printed = len(c.warnings)
}
