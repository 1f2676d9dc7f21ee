package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/hostlog"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
)

// examineRecords looks at the capture of a records file; dir is what advice names.
func examineRecords(path, dir string, p *console.Progress) *Exam {
	x := &Exam{Path: path, Kind: OfCapture, dir: dir, target: path}
	if found, _, err := capture.Locate(dir); err == nil && found == path {
		x.target = dir
	}
	x.examine(path, p)
	x.named(path)
	own := filepath.Dir(path)
	x.unfinished(own)
	if logs, err := hostlog.Discover(own); err == nil {
		x.logs(logs, p)
	}
	x.hostPhases(own)
	x.otherTools(own)
	return x
}

// named tells of a name that is not looked for.
func (x *Exam) named(path string) {
	base := strings.TrimSuffix(filepath.Base(path), ".gz")
	_, retained := capture.RetainedEpoch(path)
	if base != capture.FileName && !retained && strings.HasPrefix(base, "l2_") {
		x.find(Finding{Code: "former-name", File: path, Found: base + ", which convert does not find in a directory"})
	}
}

// examine reads the capture as convert does, and looks closer where it is refused.
func (x *Exam) examine(path string, p *console.Progress) {
	c, err := convert.Examine(path, p)
	p.Done()
	if err == nil {
		x.accepted(c)
		return
	}
	x.refused(path, err)
	x.bareGraph(capture.Beside(path, capture.DepsFileName))
}

// bareGraph looks at a graph that no records are joined to.
func (x *Exam) bareGraph(file string) {
	d, err := capture.ReadDeps(file, nil)
	if d == nil && err == nil {
		return
	}
	var g *taskgraph.Graph
	if err == nil && !d.NoEdges {
		g, err = taskgraph.New(d)
	}
	switch {
	case err != nil:
		x.find(Finding{Code: "deps-unreadable", File: file, Found: asPath(err)})
	case g == nil:
		x.find(Finding{Code: "deps-without-edges", File: file, Found: "it has no 'edges' array"})
	default:
		x.ok("graph", fmt.Sprintf("%s: %s, %s", filepath.Base(file), console.Count(int64(g.Nodes()), "task"), console.Count(int64(g.Edges()), "edge")))
		ids := map[string]capture.IDLayout{capture.RuntimeTMR: capture.Rings, capture.RuntimeHBG: capture.Spaces}[d.Runtime]
		x.cycle(g, file, ids)
	}
}

// cycle looks for tasks that wait for each other.
func (x *Exam) cycle(g *taskgraph.Graph, file string, ids capture.IDLayout) {
	if _, cycle := g.Order(); cycle != nil {
		x.find(Finding{Code: "graph-cycle", File: file, Section: "edges", Count: int64(len(cycle)),
			Found: fmt.Sprintf("%d tasks wait for each other in a circle: %s", len(cycle), circle(cycle, ids))})
	}
}

// refused says what is wrong with a file that the reader refuses, and what is whole.
func (x *Exam) refused(path string, strict error) {
	x.diagnosed(path, strict, capture.Diagnose(path, capture.Options{}))
}

func (x *Exam) diagnosed(path string, strict error, d *capture.Diagnosis) {
	whole := wholeParts(d)
	switch {
	case d.Err == nil: // the reader accepts it, what follows does not
		x.find(Finding{Code: "axis", File: path, Found: strict.Error()})
		return
	case errors.Is(d.Err, capture.ErrChanged):
		x.find(Finding{Code: "file-changes", File: path, Found: asPath(d.Err)})
		return
	case missing(d.Err):
		x.find(Finding{Code: "no-records", File: path, Found: d.Err.Error()})
		return
	case d.Broken != nil:
		code := "json-broken"
		switch {
		case d.Broken.Hint != "": // the text ends too early
			code = "json-cut"
		case d.Bytes == 0: // wrong from its first byte on
			code, whole = "not-a-capture", "no records file begins like this"
		}
		f := Finding{Code: code, File: path, Section: d.Broken.Section, Found: strings.TrimPrefix(d.Broken.Text, "cannot read "+path+": ") + "; " + whole}
		if d.Broken.Row >= 0 {
			f.Rows = []int{d.Broken.Row}
		}
		x.find(f)
	case len(d.Faults) == 0:
		x.find(Finding{Code: "records-unreadable", File: path, Found: asPath(d.Err)})
		return
	}
	if kind := capture.Sniff(path); kind != "" && kind != capture.KindCapture {
		x.find(Finding{Code: "not-a-capture", File: path, Found: "this is " + kind + ", not a capture", Do: hintOf(d)})
		return
	}
	for _, f := range d.Faults {
		x.fault(path, f)
	}
	if d.Broken == nil {
		x.ok("whole", whole)
	}
}

// hintOf is what the reader says to do, "" if nothing.
func hintOf(d *capture.Diagnosis) string {
	for _, f := range d.Faults {
		if f.First.Hint != "" {
			return f.First.Hint
		}
	}
	return ""
}

// wholeParts says what of a file can be read.
func wholeParts(d *capture.Diagnosis) string {
	var parts []string
	if d.Level > 0 {
		parts = append(parts, fmt.Sprintf("level %d", d.Level))
	}
	there := map[string]bool{}
	for _, s := range d.Sections {
		there[s.Name] = true
		text := s.String()
		if s.Cut {
			text += " (broken here)"
		}
		parts = append(parts, text)
	}
	text := "nothing is whole before it"
	if d.Broken == nil {
		text = "no section"
	}
	if len(parts) > 0 {
		text = strings.Join(parts, ", ")
		if d.Broken != nil {
			text = "whole before it: " + text
		}
	}
	if lacks := lacking(d.Level, there); d.Broken != nil && len(lacks) > 0 {
		text += "; not reached: " + strings.Join(lacks, ", ")
	}
	return text
}

// lacking are the sections that a capture of the level should have and has not.
func lacking(level int, there map[string]bool) []string {
	var out []string
	for _, s := range []struct {
		level int
		names []string // any of them
	}{
		{1, []string{"aicore_tasks"}},
		{2, []string{"scheduler_tasks", "aicpu_tasks"}},
		{3, []string{"scheduler_records", "aicpu_scheduler_phases"}},
	} {
		if level >= s.level && !slices.ContainsFunc(s.names, func(name string) bool { return there[name] }) {
			out = append(out, s.names[0])
		}
	}
	return out
}

// fault tells of a rule that a file breaks.
func (x *Exam) fault(path string, f capture.Fault) {
	text := f.First.Text
	if f.First.Found != "" {
		text += " (found " + f.First.Found + ")"
	}
	if f.Count > 1 {
		text += fmt.Sprintf("; %s break this rule", console.Count(f.Count, "place"))
		if len(f.Rows) > 1 {
			text += ": rows " + numbers(f.Rows)
			if f.Count > int64(len(f.Rows)) {
				text += ", …"
			}
		}
	}
	finding := Finding{Code: strings.ReplaceAll(f.Step, " ", "-"), File: path, Section: f.First.Section, Rows: f.Rows, Count: f.Count, Found: text}
	if f.First.Hint != "" {
		finding.Do = f.First.Hint
	}
	x.find(finding)
}

func numbers(list []int) string {
	var texts []string
	for _, n := range list {
		texts = append(texts, fmt.Sprint(n))
	}
	return strings.Join(texts, ", ")
}

// accepted looks at a capture that can be drawn.
func (x *Exam) accepted(c *convert.Examined) {
	rec, t := c.Timeline.Rec, c.Timeline
	x.drawn, x.domain = true, rec.Meta.ClockDomain
	x.ok("records", fmt.Sprintf("%s: level %d (%s), %s of %s on %s%s; %s", filepath.Base(c.Records), rec.Level, stats.Caption(rec.Level),
		console.Count(int64(t.Rows.Len()), "row"), console.Count(int64(t.Tasks.Len()), "task"), console.Count(int64(len(t.Cores)), "core"), inStreams(rec), rec.Dialect.Label))
	skip := x.losses(c)
	for _, w := range c.Warnings {
		if !skip[w.Code] {
			x.warned(c, w)
		}
	}
	x.content(c)
	x.graph(c)
	x.names(c)
	names := ""
	if c.Names.Map != nil {
		names = c.Names.Map.Source
	}
	x.trace(c.Records, c.Deps, names)
}

// inStreams counts what a capture has beside tasks.
func inStreams(rec *capture.Records) (text string) {
	n, streams := int64(0), int64(0)
	for i := range rec.Streams {
		if k := rec.Streams[i].Phases.Len(); k > 0 {
			n += int64(k)
			streams++
		}
	}
	if n > 0 {
		text += fmt.Sprintf(", %s of %s", console.Count(n, "phase record"), console.Count(streams, "scheduler"))
	}
	if n := submits(rec); n > 0 {
		text += ", " + console.Count(n, "submit")
	}
	return text
}

// submits counts the records of the orchestrator.
func submits(rec *capture.Records) int64 {
	n := int64(rec.HostSubmits())
	for i := range rec.DeviceOrc {
		n += int64(rec.DeviceOrc[i].Len())
	}
	return n
}

// warned turns a warning of converting into a finding.
func (x *Exam) warned(c *convert.Examined, w capture.Warning) {
	f := Finding{Code: w.Code, File: c.Records, Count: w.Count, Found: w.Text}
	switch w.Code {
	case "names": // the reason decides what to do
		f.Code, f.File = "names-"+c.Names.Unused, filepath.Dir(c.Records)
	case "names-unused":
		f.File = c.Names.Map.Source
	case "no-deps":
		if warns(c, "deps-unreadable") || warns(c, "deps-without-edges") {
			return // there is one, and what is wrong with it was said
		}
		f.File, f.Found = c.Deps, c.NoGraph()
		if n := int64(c.Timeline.Rows.Len()); n > 0 {
			f.Count = n
			f.Found += fmt.Sprintf(": %s without a function, and no arrows", console.Count(n, "row"))
		}
	case "graph-mismatch":
		if warns(c, "deps-without-edges") {
			return
		}
		f.File = c.Deps
	case "deps-unreadable", "deps-without-edges", "deps-edges-skipped", "graph-of-another-runtime", "self-edges":
		f.File = c.Deps
	}
	x.find(f)
}

// warns reports whether converting has a warning of a code.
func warns(c *convert.Examined, code string) bool {
	return slices.ContainsFunc(c.Warnings, func(w capture.Warning) bool { return w.Code == code })
}

// content looks for what a capture of its level should have.
func (x *Exam) content(c *convert.Examined) {
	rec, t := c.Timeline.Rec, c.Timeline
	rows := t.Rows.Len()
	phases := int64(0)
	for i := range rec.Streams {
		phases += int64(rec.Streams[i].Phases.Len())
	}
	switch {
	case rows == 0:
		x.find(Finding{Code: "capture-empty", File: c.Records, Section: "aicore_tasks", Found: "no task row" + also(phases, submits(rec))})
	case rec.Level >= 3 && phases == 0:
		x.find(Finding{Code: "phases-empty", File: c.Records, Section: "scheduler_records", Found: fmt.Sprintf("level %d and no phase record, beside %s", rec.Level, console.Count(int64(rows), "task row"))})
	}
	if n := c.Picture.Report.NoRecords; len(n) > 0 {
		x.find(Finding{Code: "phases-of-thread", File: c.Records, Section: "scheduler_records", Count: int64(len(n)),
			Found: fmt.Sprintf("no phase record of scheduler %s %s, which retired tasks", plural(len(n), "thread"), numbers(n))})
	}
	if rec.Level >= 4 && rows > 0 && submits(rec) == 0 {
		x.find(Finding{Code: "submits-empty", File: c.Records, Found: "level 4 and no submit of an orchestrator"})
	}
	if rows > 0 && slices.Equal(t.Rows.Receive, t.Rows.Start) {
		x.find(Finding{Code: "receive-absent", File: c.Records, Section: "aicore_tasks", Count: int64(rows), Found: "no row has a time of receive"})
	}
	if with := slices.Sorted(slices.Values(rec.Meta.CoCaptured)); len(with) > 0 {
		for i := range with {
			with[i] = stats.Printable(with[i])
		}
		x.find(Finding{Code: "co-captured", File: c.Records, Section: "metadata.co_captured", Count: int64(len(with)), Found: "captured together with " + strings.Join(with, ", ")})
	}
	if n := len(rec.Runs); n > 1 {
		what := "run"
		if rec.Launches != nil {
			what = "kernel launch"
			if n > 1 {
				what = "kernel launche"
			}
		}
		x.find(Finding{Code: "several-runs", File: c.Records, Count: int64(n), Found: console.Count(int64(n), what) + " in one file"})
	}
}

func also(phases, submits int64) string {
	var parts []string
	if phases > 0 {
		parts = append(parts, console.Count(phases, "phase record"))
	}
	if submits > 0 {
		parts = append(parts, console.Count(submits, "submit"))
	}
	if len(parts) == 0 {
		return " and nothing else"
	}
	return ", but " + strings.Join(parts, " and ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}

// graph looks at what the task graph gives.
func (x *Exam) graph(c *convert.Examined) {
	if c.Graph == nil {
		return
	}
	t, r := c.Timeline, &c.Picture.Report
	if c.Edges() {
		x.ok("graph", fmt.Sprintf("%s: %s, %s, %s with an arrow", filepath.Base(c.Deps), console.Count(int64(c.Graph.Nodes()), "task"),
			console.Count(int64(r.Edges), "edge"), console.Thousands(int64(r.Drawn))))
	}
	if n := r.Edges - r.Drawn; n > 0 && t.Rows.Len() > 0 {
		do := ""
		if t.Rec.Level >= 3 {
			do = "nothing: graph tasks, allocations and skipped tasks without a record have no bar of their own"
		}
		x.find(Finding{Code: "edges-undrawn", File: c.Deps, Section: "edges", Count: int64(n),
			Found: fmt.Sprintf("%s of %s have no arrow: a task at an end has no bar", console.Thousands(int64(n)), console.Count(int64(r.Edges), "edge")), Do: do})
	}
	x.cycle(c.Graph, c.Deps, t.Rec.Dialect.IDs)
	if ran, all := c.KernelsRun(); ran < all && !warns(c, "graph-mismatch") && t.Rows.Len() > 0 {
		f := Finding{Code: "tasks-missing", File: c.Records, Section: "aicore_tasks", Count: int64(all - ran),
			Found: fmt.Sprintf("%s of the %s with kernels in %s have no record", console.Thousands(int64(all-ran)), console.Count(int64(all), "task"), filepath.Base(c.Deps))}
		if t.Rec.Loss.Declared || t.Unmatched > 0 {
			f.Severity, f.Why, f.Do = Warning, "the capture lost records, so these tasks ran and left none, or did not run", "see the other findings about records, and capture again"
		}
		x.find(f)
	}
	x.anonymous(c)
}

// circle shows a cycle of tasks, of a long one its beginning.
func circle(cycle []uint64, ids capture.IDLayout) string {
	const most = 8
	var text []byte
	for _, id := range cycle[:min(len(cycle), most)] {
		text = append(names.AppendTaskID(text, ids, id), " -> "...)
	}
	if n := len(cycle) - most; n > 0 {
		text = fmt.Appendf(text, "… %d more -> ", n)
	}
	return string(names.AppendTaskID(text, ids, cycle[0]))
}

// anonymous counts the rows of which the graph does not tell the function.
func (x *Exam) anonymous(c *convert.Examined) {
	n := c.Functionless()
	if n == 0 || !c.Graph.HasKernels() && (warns(c, "deps-without-edges") || warns(c, "graph-mismatch")) {
		return // what is wrong with the graph as a whole was said
	}
	t := c.Timeline
	expanded := int64(0) // rows of tasks that a graph task was expanded to
	for row, f := range t.Rows.Func {
		if f >= 0 {
			continue
		}
		id := t.IDOf(row)
		if outer, _, ok := t.Rec.Dialect.IDs.GraphMember(id); ok {
			_, listed := c.Graph.Node(id)
			if _, known := c.Graph.Node(outer); known && !listed {
				expanded++
			}
		}
	}
	if expanded > 0 {
		x.find(Finding{Code: "tasks-of-graphs", File: c.Deps, Section: "tasks", Count: expanded,
			Found: fmt.Sprintf("%s of tasks inside graph tasks, which %s does not list", console.Count(expanded, "row"), filepath.Base(c.Deps))})
	}
	if n -= expanded; n > 0 {
		x.find(Finding{Code: "tasks-anonymous", File: c.Deps, Section: "tasks", Count: n,
			Found: fmt.Sprintf("%s whose function %s does not tell", console.Count(n, "row"), filepath.Base(c.Deps))})
	}
}

// names looks at the names of functions.
func (x *Exam) names(c *convert.Examined) {
	if c.NamesErr != nil {
		x.find(Finding{Code: "names-unreadable", File: filepath.Dir(c.Records), Found: c.NamesErr.Error()})
		return
	}
	unnamed := map[int32]int64{}
	for _, f := range c.Timeline.Rows.Func {
		if f < 0 {
			continue
		}
		if _, ok := c.Names.Map.Name(int64(f)); !ok {
			unnamed[f]++
		}
	}
	if m := c.Names.Map; m != nil {
		level := "of no level"
		if m.Level > 0 {
			level = fmt.Sprintf("level %d", m.Level)
		}
		x.ok("names", fmt.Sprintf("%s: %s, %s", filepath.Base(m.Source), level, console.Count(int64(m.Len()), "name")))
	}
	if len(unnamed) == 0 || slices.ContainsFunc(c.Warnings, func(w capture.Warning) bool { return strings.HasPrefix(w.Code, "names") }) {
		return // there is none, or it was said why
	}
	var ids []int
	rows := int64(0)
	for f, n := range unnamed {
		ids = append(ids, int(f))
		rows += n
	}
	slices.Sort(ids)
	const most = 8
	text := fmt.Sprintf("%s without a name, in %s: %s", console.Count(int64(len(ids)), "function"), console.Count(rows, "row"), numbers(ids[:min(len(ids), most)]))
	if len(ids) > most {
		text += ", …"
	}
	x.find(Finding{Code: "functions-unnamed", File: filepath.Dir(c.Records), Count: int64(len(ids)), Found: text})
}
