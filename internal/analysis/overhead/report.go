package overhead

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/timeline"
)

// Options steer the report.
type Options struct {
	// Bridge lets tasks that ran on no core (dummies, allocations, skipped ones)
	// count as what they wait for themselves, so that a dependency on one hides no
	// overhead (spec/sched-overhead.md, questions 15, 16 and 18).
	Bridge bool
}

// Report is where the time went between tasks (spec/sched-overhead.md). Times are
// cycles; Micros turns them into µs.
type Report struct {
	Records string // path
	Deps    string // path
	Level   int
	AICore  bool // AICore schedulers made it
	Bridged bool

	Rows  int
	Tasks int
	// The window is from the first kernel start to the last kernel end.
	Window  uint64
	Engines []Engine // in alphabetical order
	All     uint64   // how long every engine had overhead
	Has     uint64   // how long some engine had work, and every such engine an idle core
	// SwitchLow and SwitchHigh bound what switching costs the makespan.
	SwitchLow, SwitchHigh uint64
	Head, Tail            Spread
	Phases                *Phases // of AICPU schedulers; nil without records of them
	Streams               *Streams
	Path                  Path
	Undated               int // scheduler records without a start, which count 0
	// Behind is how many tasks would wait for another task with Options.Bridge; 0 with it.
	Behind int

	rate timeline.Rate
	long bool // phases are explained in words
}

// Engine is what holds for the cores of one type.
type Engine struct {
	Type     string
	Cores    int
	Overhead uint64 // how long an idle core of it and ready work for it existed at once
	Switches
}

// Micros turns cycles into µs.
func (r *Report) Micros(cycles float64) float64 { return r.rate.Micros(cycles) }

func (r *Report) us(cycles uint64) float64 { return r.Micros(float64(cycles)) }

// Percent is the share of the window.
func (r *Report) Percent(cycles uint64) float64 { return share(float64(cycles), float64(r.Window)) }

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// ErrMixed says that a capture names two kinds of scheduler.
var ErrMixed = errors.New("mixed AICPU/AICore scheduler producers are unsupported")

// ErrNoTasks says that a capture has no rows.
var ErrNoTasks = errors.New("No tasks found in perf data") //lint:ignore ST1005 in the words of spec/sched-overhead.md §2

// CheckRecords says why a capture cannot be analysed, graph or not
// (spec/sched-overhead.md §2, checks 4 to 6). The capture holds one run.
func CheckRecords(t *timeline.Timeline) error {
	rec := t.Rec
	aicpu, aicore := false, false
	producer := func(name string) {
		aicpu = aicpu || name == capture.ProducerAICPU
		aicore = aicore || name == capture.ProducerAICore
	}
	producer(rec.Sched.Producer)
	for i := range rec.Streams {
		producer(rec.Streams[i].Producer)
	}
	switch {
	case aicpu && aicore:
		return ErrMixed
	case t.Rows.Len() == 0:
		return ErrNoTasks
	}
	return checkTimes(t)
}

// checkTimes demands the scheduler's times of every row.
func checkTimes(t *timeline.Timeline) error {
	var shown []string
	for row := range t.Rows.Core {
		if t.Rows.Timed(row) {
			continue
		}
		shown = append(shown, fmt.Sprintf("task=%d missing=dispatch_time_us,finish_time_us", t.IDOf(row)))
		if len(shown) == mostShown {
			break
		}
	}
	if shown == nil {
		return nil
	}
	why := "it was not written by the runtime, or by one built without the scheduler's dispatch and finish stamps"
	switch {
	case t.Rec.Level == 1:
		why = "its chip_swimlane_level is 1, which records kernels alone; the scheduler's times need level 2 or more"
	case t.Untimed > 0:
		why = "records were lost while it was captured, those of the scheduler among them"
	}
	return &TimesError{t.Rec.Source, strings.Join(shown, "; "), why}
}

// TimesError says that rows lack the scheduler's times, and why.
type TimesError struct {
	source, rows string
	Why          string
}

const mostShown = 5 // rows that the error names

func (e *TimesError) Error() string {
	return fmt.Sprintf(`%s is incompatible with the scheduler overhead analysis.
Missing required fields (showing up to %d tasks): %s
Why: %s.
How to fix: run the case again with --enable-chip-swimlane at level 2 or more, pass the new file, and verify
that its rows have dispatch_time_us and finish_time_us.
Note: plain conversion (swimlane convert) can still work with this file.`, e.source, mostShown, e.rows, e.Why)
}

// CycleError says that the tasks of a graph wait for one another in a circle.
type CycleError struct {
	Deps string
	Of   []string // ids as labels show them
	IDs  []uint64
}

func (e *CycleError) Error() string {
	const most = 8
	text := strings.Join(e.Of[:min(len(e.Of), most)], " -> ")
	if n := len(e.Of) - most; n > 0 {
		text += fmt.Sprintf(" -> … %d more", n)
	}
	return fmt.Sprintf("%s has a cycle of %d tasks: %s -> %s; a task graph has none, so the file is corrupt or of another version: capture it again with --enable-dep-gen",
		e.Deps, len(e.Of), text, e.Of[0])
}

// New makes the report of a capture that CheckRecords has nothing against and
// that has a graph. deps is what the graph's file is called.
func New(t *timeline.Timeline, deps string, opt Options) (*Report, error) {
	order, cycle := t.Graph.Order()
	if cycle != nil {
		e := &CycleError{Deps: deps, IDs: cycle}
		for _, id := range cycle {
			e.Of = append(e.Of, string(names.AppendTaskID(nil, t.Rec.Dialect.IDs, id)))
		}
		return nil, e
	}
	rate, err := timeline.RateOf(t.Rec)
	if err != nil {
		return nil, err
	}
	out := &Report{
		Records: t.Rec.Source, Deps: deps, Level: t.Rec.Level, Bridged: opt.Bridge, AICore: madeByAICore(t.Rec),
		Rows: t.Rows.Len(), Tasks: t.Tasks.Len(), rate: rate, long: t.Rec.Dialect.ExplainsPhases,
	}
	ready := newReadiness(t)
	if opt.Bridge {
		ready.bridge(order)
	} else {
		out.Behind = ready.behind(order)
	}
	s := newSweep(t, ready)
	work := out.verdict(s)
	out.switches(t, s, work)
	out.headAndTail(t)
	if out.AICore {
		out.streams(t)
	} else {
		out.phases(t)
	}
	if err := out.path(t, ready); err != nil {
		return nil, err
	}
	return out, nil
}

// step is how many tasks an engine could run from an instant on, and how long it
// could run any until then.
type step struct {
	at   uint64
	work bool
	sum  uint64
}

// steps is an engine's work over time.
type steps []step

// during is how long there was work before instant c.
func (s steps) during(c uint64) uint64 {
	i, exact := slices.BinarySearchFunc(s, c, func(x step, c uint64) int {
		switch {
		case x.at < c:
			return -1
		case x.at > c:
			return 1
		}
		return 0
	})
	if exact {
		return s[i].sum
	}
	if i == 0 {
		return 0
	}
	last := s[i-1]
	if last.work {
		return last.sum + c - last.at
	}
	return last.sum
}

// verdict is part 1. It returns the work of every engine.
func (r *Report) verdict(s *sweep) []steps {
	work := make([]steps, len(s.engines))
	for e, name := range s.engines {
		r.Engines = append(r.Engines, Engine{Type: name, Cores: s.cores[e]})
	}
	r.Window = s.w1 - s.w0
	s.walk(func(st *state, end uint64) {
		d := end - st.at
		if s.all(st) {
			r.All += d
		}
		if s.has(st) {
			r.Has += d
		}
		for e := range s.engines {
			if s.overhead(st, e) {
				r.Engines[e].Overhead += d
			}
			now := st.ready[e] > 0
			w := work[e]
			if n := len(w); n == 0 || w[n-1].work != now {
				sum := uint64(0)
				if n > 0 {
					if sum = w[n-1].sum; w[n-1].work {
						sum += st.at - w[n-1].at
					}
				}
				work[e] = append(w, step{st.at, now, sum})
			}
		}
	})
	return work
}

// Verdict is the judgement over the share of Has.
type Verdict int

// The verdicts of spec/sched-overhead.md §3.
const (
	ComputeBound Verdict = iota
	PartlyLimited
	SchedulerBound
)

// Verdict judges the capture.
func (r *Report) Verdict() Verdict {
	switch has := r.Percent(r.Has); {
	case has >= 25:
		return SchedulerBound
	case has >= 8:
		return PartlyLimited
	}
	return ComputeBound
}

// addCount adds counts that come from a file, which may be absurd.
func addCount(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
