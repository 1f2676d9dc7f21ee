// Package compare puts two captures side by side: before and after a change.
//
// It measures nothing itself. Its figures are those of the packages stats, overhead
// and critical; what it adds is which tasks and functions of the two belong together,
// and the differences.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"swimlane/internal/analysis/critical"
	"swimlane/internal/analysis/overhead"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// Side is one of the two captures.
type Side struct {
	Name     string // what the user calls it
	Timeline *timeline.Timeline
	Graph    *taskgraph.Graph // nil: none
	Names    *names.Map
	Deps     string // path of the graph
	// Borrowed: graph or names are those of the other side.
	BorrowedGraph, BorrowedNames bool

	Stats    *stats.Table
	Times    []stats.Times
	Critical *critical.Result
	Overhead *overhead.Report
	// NoOverhead says why there is no Overhead.
	NoOverhead string
	functions  map[int32]string
}

// Options steer the comparison.
type Options struct {
	Bridge    bool   // as in overhead and critical
	Tolerance uint64 // as in critical
	Threads   func(*timeline.Timeline) []string
}

// Change is a figure of both sides.
type Change struct {
	A, B float64
}

// Diff is by how much the figure grew.
func (c Change) Diff() float64 { return c.B - c.A }

// Percent is the growth in percent of A. Something that grew from nothing grew
// without bounds.
func (c Change) Percent() float64 {
	switch {
	case c.A == c.B:
		return 0
	case c.A == 0:
		return math.Inf(1)
	}
	return 100 * (c.B - c.A) / c.A
}

// Figure is a named Change.
type Figure struct {
	Name string
	Unit string // "us", "%" or ""
	Change
	// Part: of the figure before it that is none.
	Part bool
}

// Function is a function of both sides, or of one.
type Function struct {
	Name           string
	CountA, CountB int
	Total          Change // kernel time of all rows, µs
	Mean           Change // µs
	Median         Change // µs
	// NoiseLo and NoiseHi bound the difference of the medians, in µs: between the
	// intervals of the two. Sure says that they hold with confidence.
	NoiseLo, NoiseHi float64
	Sure             bool
}

// Verdict says what a difference of medians means.
func (f *Function) Verdict() string {
	switch {
	case f.CountA == 0:
		return "only in B"
	case f.CountB == 0:
		return "only in A"
	case f.Median.A == f.Median.B:
		return "same"
	case !f.Sure:
		return "too few"
	case f.NoiseLo <= 0 && f.NoiseHi >= 0:
		return "noise"
	case f.Median.B < f.Median.A:
		return "faster"
	}
	return "slower"
}

// Task is a task of both sides. Starts count from the first kernel start.
type Task struct {
	A, B     int32 // index into Timeline.Tasks
	Start    Change
	Duration Change
}

// Result is the comparison.
type Result struct {
	A, B     *Side
	Graphs   Graphs
	Match    Match
	Makespan Change // µs, from the first kernel start to the last kernel end
	Span     *Change
	Critical []Figure
	// Overhead is nil unless both sides have it.
	Overhead  []Figure
	Functions []Function // those whose kernel time changed most in all first
	Tasks     []Task     // matched, those that start most later or earlier first
	Notes     []string   // what to keep in mind
}

// New compares two captures.
func New(a, b *Side, opt Options) (*Result, error) {
	for _, s := range []*Side{a, b} {
		if err := s.measure(opt); err != nil {
			return nil, err
		}
	}
	r := &Result{A: a, B: b}
	r.Graphs = compareGraphs(a, b)
	r.nameFunctions()
	r.match()
	r.Makespan = r.cycles(a.Critical.Makespan(), b.Critical.Makespan())
	if a.Stats.Timed && b.Stats.Timed {
		r.Span = &Change{a.Stats.Micros(float64(a.Stats.Span)), b.Stats.Micros(float64(b.Stats.Span))}
	}
	r.critical()
	r.overhead()
	r.compareFunctions()
	r.compareTasks()
	r.note()
	return r, nil
}

func (s *Side) measure(opt Options) (err error) {
	t := s.Timeline
	s.Stats = stats.Compute(t, s.Names, opt.Threads(t))
	s.Times = stats.KernelTimes(t, s.Names)
	if s.Critical, err = critical.Compute(t, critical.Options{Tolerance: opt.Tolerance, Bridge: opt.Bridge}); err != nil {
		return err
	}
	if s.Graph == nil {
		s.NoOverhead = "no task graph"
		return nil
	}
	if err = overhead.CheckRecords(t); err == nil {
		s.Overhead, err = overhead.New(t, s.Deps, overhead.Options{Bridge: opt.Bridge})
	}
	if untimed := (*overhead.TimesError)(nil); errors.As(err, &untimed) { // in one line
		s.Overhead, s.NoOverhead = nil, "there are rows without the scheduler's times: "+untimed.Why
	} else if err != nil {
		s.Overhead, s.NoOverhead = nil, err.Error()
	}
	return nil
}

// us turns cycles into µs as the tables of functions and the scheduler's overhead do.
func (s *Side) us(cycles uint64) float64 { return s.Stats.Micros(float64(cycles)) }

func (r *Result) cycles(a, b uint64) Change { return Change{r.A.us(a), r.B.us(b)} }

// critical lists the figures of both observed paths and floors, where there is a graph.
func (r *Result) critical() {
	if r.A.Graph == nil || r.B.Graph == nil {
		return
	}
	a, b := r.A.Critical, r.B.Critical
	add := func(name string, x, y uint64) {
		r.Critical = append(r.Critical, Figure{Name: name, Unit: "us", Change: r.cycles(x, y)})
	}
	part := func(name string, x, y uint64) {
		r.Critical = append(r.Critical, Figure{Name: name, Unit: "us", Change: r.cycles(x, y), Part: true})
	}
	add("floor (static path)", a.Floor, b.Floor)
	add("compute on path", a.Compute, b.Compute)
	add("stall on path", a.Stall, b.Stall)
	for _, k := range critical.Kinds {
		part(k.String(), a.ByKind[k], b.ByKind[k])
	}
	if r.A.Timeline.Timed() && r.B.Timeline.Timed() {
		part("before dispatch", a.Before, b.Before)
		part("behind dispatch", a.Behind, b.Behind)
	}
	r.Critical = append(r.Critical, Figure{Name: "tasks on path", Change: Change{float64(len(a.Observed)), float64(len(b.Observed))}})
}

// overhead lists the figures of both overhead reports.
func (r *Result) overhead() {
	a, b := r.A.Overhead, r.B.Overhead
	if a == nil || b == nil {
		return
	}
	us := func(name string, x, y float64) {
		r.Overhead = append(r.Overhead, Figure{Name: name, Unit: "us", Change: Change{a.Micros(x), b.Micros(y)}})
	}
	both := func(name string, x, y uint64) {
		us(name, float64(x), float64(y))
		r.Overhead = append(r.Overhead, Figure{Name: name + " of window", Unit: "%", Change: Change{a.Percent(x), b.Percent(y)}})
	}
	for _, kind := range engines(a, b) {
		x, y := engine(a, kind), engine(b, kind)
		both(strings.ToUpper(kind)+" overhead", x.Overhead, y.Overhead)
	}
	both("all_overhead", a.All, b.All)
	both("has_overhead", a.Has, b.Has)
	for _, kind := range engines(a, b) {
		x, y := engine(a, kind), engine(b, kind)
		us(strings.ToUpper(kind)+" switches, all cores", float64(x.Sum), float64(y.Sum))
	}
	mean := func(s *overhead.Spread) float64 { return float64(s.Sum) / float64(max(s.N, 1)) }
	us("head, mean", mean(&a.Head), mean(&b.Head))
	us("head, median", float64(a.Head.P[median]), float64(b.Head.P[median]))
	us("tail, mean", mean(&a.Tail), mean(&b.Tail))
	us("tail, median", float64(a.Tail.P[median]), float64(b.Tail.P[median]))
	us("scheduler on the latency path", float64(a.Path.Sched), float64(b.Path.Sched))
}

// median is the place of the median in overhead.Percentiles.
var median = slices.Index(overhead.Percentiles[:], 50)

// engines are the core types of both reports, in order.
func engines(a, b *overhead.Report) []string {
	var out []string
	for _, r := range []*overhead.Report{a, b} {
		for _, e := range r.Engines {
			out = append(out, e.Type)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func engine(r *overhead.Report, kind string) overhead.Engine {
	for _, e := range r.Engines {
		if e.Type == kind {
			return e
		}
	}
	return overhead.Engine{}
}

// nameFunctions gives the functions of each side the names by which they are
// compared: their own, with the id where several have the same.
func (r *Result) nameFunctions() {
	twice := map[string]bool{}
	for _, s := range []*Side{r.A, r.B} {
		seen := map[string]bool{}
		for _, f := range s.Times {
			twice[f.Name] = twice[f.Name] || seen[f.Name]
			seen[f.Name] = true
		}
	}
	for _, s := range []*Side{r.A, r.B} {
		s.functions = map[int32]string{}
		for _, f := range s.Times {
			s.functions[f.ID] = f.Name
			if twice[f.Name] {
				s.functions[f.ID] = fmt.Sprintf("%s (%d)", f.Name, f.ID)
			}
		}
	}
}

func (r *Result) compareFunctions() {
	at := map[string]int{}
	find := func(name string) *Function {
		k, ok := at[name]
		if !ok {
			k = len(r.Functions)
			at[name] = k
			r.Functions = append(r.Functions, Function{Name: name})
		}
		return &r.Functions[k]
	}
	type interval struct {
		lo, hi float64
		sure   bool
	}
	var noise [2]map[string]interval
	for i, s := range []*Side{r.A, r.B} {
		noise[i] = map[string]interval{}
		for k := range s.Times { // in the order of Stats.Functions
			times, row := &s.Times[k], &s.Stats.Functions[k]
			name := s.functions[times.ID]
			f := find(name)
			lo, hi, sure := times.Interval()
			noise[i][name] = interval{s.us(lo), s.us(hi), sure}
			total, mean, med := s.Stats.Micros(float64(row.Exec)), s.Stats.AvgExec(row), s.Stats.Micros(times.Median())
			if i == 0 {
				f.CountA, f.Total.A, f.Mean.A, f.Median.A = row.Count, total, mean, med
			} else {
				f.CountB, f.Total.B, f.Mean.B, f.Median.B = row.Count, total, mean, med
			}
		}
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		if f.CountA > 0 && f.CountB > 0 {
			a, b := noise[0][f.Name], noise[1][f.Name]
			f.NoiseLo, f.NoiseHi, f.Sure = b.lo-a.hi, b.hi-a.lo, a.sure && b.sure
		}
	}
	slices.SortStableFunc(r.Functions, func(x, y Function) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Total.Diff()), math.Abs(x.Total.Diff())), cmp.Compare(x.Name, y.Name))
	})
}

func (r *Result) compareTasks() {
	for _, p := range r.Match.Pairs {
		a, b := &r.A.Critical.Tasks[p[0]], &r.B.Critical.Tasks[p[1]]
		r.Tasks = append(r.Tasks, Task{
			A: p[0], B: p[1],
			Start:    r.cycles(a.Start-r.A.Critical.First, b.Start-r.B.Critical.First),
			Duration: r.cycles(a.End-a.Start, b.End-b.Start),
		})
	}
	slices.SortStableFunc(r.Tasks, func(x, y Task) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Start.Diff()), math.Abs(x.Start.Diff())), cmp.Compare(x.A, y.A))
	})
}

// note says what makes figures differ that is not the program.
func (r *Result) note() {
	say := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	a, b := r.A.Timeline, r.B.Timeline
	if a.Rec.Level != b.Rec.Level {
		say("A is of level %d and B of level %d: recording more takes the device more time", a.Rec.Level, b.Rec.Level)
	}
	with := func(t *timeline.Timeline) bool { return slices.Contains(t.Rec.Meta.CoCaptured, "dep_gen") }
	if with(a) != with(b) {
		say("only %s was taken together with dep_gen, which slows every submit down", side(with(a)))
	}
	if len(a.Cores) != len(b.Cores) {
		say("A ran on %s and B on %d", count(len(a.Cores), "core"), len(b.Cores))
	}
	if a.Rec.Loss.Declared != b.Rec.Loss.Declared || a.Rec.Loss.Declared {
		lost := "A and B"
		if a.Rec.Loss.Declared != b.Rec.Loss.Declared {
			lost = side(a.Rec.Loss.Declared)
		}
		say("records of %s are missing", lost)
	}
	for i, s := range []*Side{r.A, r.B} {
		switch {
		case s.BorrowedGraph && s.BorrowedNames:
			say("%s has no task graph and no names: those of %s are used, whose graph lists all tasks of %[1]s", side(i == 0), side(i != 0))
		case s.BorrowedGraph:
			say("%s has no task graph: that of %s is used, which lists all tasks of %[1]s", side(i == 0), side(i != 0))
		case s.BorrowedNames:
			say("%s has no names: those of %s are used, as the graphs are equal", side(i == 0), side(i != 0))
		}
		switch {
		case s.Graph == nil:
			say("no scheduler overhead and no critical path of %s: %s", side(i == 0), s.NoOverhead)
		case s.NoOverhead != "":
			say("no scheduler overhead of %s: %s", side(i == 0), s.NoOverhead)
		case s.Overhead.Behind > 0:
			say("what %s of %s waited for lies behind tasks that ran on no core (dummies, allocations, skipped ones) and does not count as overhead: with --bridge it does", count(s.Overhead.Behind, "task"), side(i == 0))
		}
	}
}

func side(a bool) string {
	if a {
		return "A"
	}
	return "B"
}
