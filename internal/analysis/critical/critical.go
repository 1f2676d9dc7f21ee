// Package critical finds what a capture's makespan consists of: the path of
// dependencies that no number of cores could shorten, and the path that was
// really waited for (spec/sched-overhead.md §10).
//
// Everything is in cycles and exact: the compute and the stalls of the observed
// path add up to the makespan. Only kernel rows and the task graph are used, so a
// capture of level 1 is enough.
package critical

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"swimlane/timeline"
)

// Options steer the analysis.
type Options struct {
	// Tolerance is how many cycles a task may start before what it waited for has
	// ended: counters of cores are not perfectly in step.
	Tolerance uint64
	// Bridge counts dependencies through tasks without rows, such as dummies and
	// allocations (spec/sched-overhead.md, decision 15).
	Bridge bool
}

// DefaultTolerance is that of the format's tool.
const DefaultTolerance = 2

// Kind says what a task on the observed path waited for.
type Kind uint8

// The kinds of stalls, in the order of the format's notes.
const (
	DataWait Kind = iota // for a task that it depends on
	CoreWait             // for the task that ran on its core before
	FrontGap             // for nothing that was recorded
	kinds
)

func (k Kind) String() string { return [...]string{"data-wait", "core-wait", "front-gap"}[k] }

// Kinds are all of them.
var Kinds = []Kind{DataWait, CoreWait, FrontGap}

// None stands for a task, a core or a node that there is none of.
const None = -1

// Task is a task of the capture as the paths see it. Times are cycles.
type Task struct {
	Start, End uint64 // over all its rows
	First      int32  // the row that starts first
	Last       int32  // the row that ends last
}

// Step is a task on the observed path.
type Step struct {
	Task    int32 // index into Timeline.Tasks
	Kind    Kind
	Compute uint64 // cycles of the makespan that this task ran alone on the path
	Stall   uint64 // cycles in front of it
	// Before is the part of the stall in which the task was not dispatched yet. It
	// counts only with Timed: the capture has the dispatch of the task.
	Before uint64
	Timed  bool
	Core   int32 // index into Timeline.Cores, where it began
	// What it waited for; None for a front gap.
	Waited     int32 // task
	WaitedCore int32 // index into Timeline.Cores, where that task ran
	Via        int32 // node without rows that lies between, None if none does
}

// Result is what the makespan of a capture consists of.
type Result struct {
	T     *timeline.Timeline
	Tasks []Task // as Timeline.Tasks
	Edges int    // pairs of tasks of which one waited for the other
	// Skipped counts the dependencies between tasks with rows that time contradicts.
	Skipped int
	// Untimed counts the dependencies on tasks without rows, which are lost unless they are bridged.
	Untimed int
	Bridged int // of Edges, those through tasks without rows
	bridged bool

	First, Last uint64 // cycles: the earliest start, the latest end

	Static []int32 // the longest path by durations, as tasks, from first to last
	// Floor is its length in cycles, and never above the makespan: what tasks that
	// overlap within the tolerance would add beyond it is Excess.
	Floor, Excess uint64

	Observed []Step // from first to last
	Compute  uint64 // cycles of the makespan
	Stall    uint64
	ByKind   [kinds]uint64
	// Of the stalls of tasks whose dispatch is known: the parts before and behind it.
	Before, Behind uint64
}

// Makespan is the time from the earliest start to the latest end, in cycles.
func (r *Result) Makespan() uint64 { return r.Last - r.First }

// ErrNoRows says that a capture has no kernel rows, so that there is no path.
var ErrNoRows = errors.New("no kernel rows")

// ErrRuns says that a capture holds several runs, whose task ids repeat.
var ErrRuns = errors.New("records of several runs")

// Compute analyses a capture of one run with its task graph, which may be nil.
func Compute(t *timeline.Timeline, opt Options) (*Result, error) {
	if len(t.Rec.Runs) > 1 {
		return nil, fmt.Errorf("%w: %s holds %d (epochs %s), expected one", ErrRuns, t.Rec.Source, len(t.Rec.Runs), t.Rec.Epochs())
	}
	if t.Rows.Len() == 0 {
		return nil, fmt.Errorf("%w: aicore_tasks of %s is empty, expected at least one row", ErrNoRows, t.Rec.Source)
	}
	r := &Result{T: t, bridged: opt.Bridge, Tasks: make([]Task, t.Tasks.Len())}
	for i := range r.Tasks {
		r.Tasks[i] = taskOf(t, int32(i))
	}
	r.First, r.Last = r.Tasks[0].Start, r.Tasks[0].End
	for i := range r.Tasks {
		r.First, r.Last = min(r.First, r.Tasks[i].Start), max(r.Last, r.Tasks[i].End)
	}
	g := &graph{Result: r, opt: opt}
	if t.Graph != nil {
		g.taskOf = make([]int32, t.Graph.Nodes())
		for n := range g.taskOf {
			g.taskOf[n] = None
		}
		for i, n := range t.Tasks.Node {
			if n >= 0 {
				g.taskOf[n] = int32(i)
			}
		}
	}
	if err := g.static(); err != nil {
		return nil, err
	}
	if err := g.observed(); err != nil {
		return nil, err
	}
	r.tile()
	return r, nil
}

func taskOf(t *timeline.Timeline, i int32) Task {
	from, to := t.Tasks.Rows(i)
	rows := &t.Rows
	out := Task{Start: rows.Start[from], End: rows.End[from], First: int32(from), Last: int32(from)}
	for row := from + 1; row < to; row++ {
		if rows.Start[row] < out.Start {
			out.Start, out.First = rows.Start[row], int32(row)
		}
		if rows.End[row] > out.End {
			out.End, out.Last = rows.End[row], int32(row)
		}
	}
	return out
}

// static finds the longest path by durations over the dependencies that time
// agrees with. Starts ascend along every one of them, so the order of starts is
// an order of the graph, whatever cycles the file has.
func (g *graph) static() error {
	n := len(g.Tasks)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.Tasks[a].Start, g.Tasks[b].Start), g.compareID(a, b))
	})
	length := make([]uint64, n)
	before := make([]int32, n)
	end := int32(None)
	for _, s := range order {
		var longest uint64
		before[s] = None
		if err := g.preds(s, true, func(p, _ int32) {
			if before[s] == None || length[p] > longest {
				longest, before[s] = length[p], p
			}
		}); err != nil {
			return err
		}
		length[s] = longest + g.Tasks[s].End - g.Tasks[s].Start
		if end == None || length[s] > length[end] {
			end = s
		}
	}
	g.Floor = min(length[end], g.Makespan())
	g.Excess = length[end] - g.Floor
	for s := end; s != None; s = before[s] {
		g.Static = append(g.Static, s)
	}
	slices.Reverse(g.Static)
	return nil
}

// observed walks back from the task that ends last to what each task waited for.
// Every step leads to a task that started earlier, so the walk ends.
func (g *graph) observed() error {
	hold := g.holders()
	at := int32(0)
	for i := range g.Tasks {
		if cmp.Or(cmp.Compare(g.Tasks[i].End, g.Tasks[at].End), g.compareID(int32(i), at)) > 0 {
			at = int32(i)
		}
	}
	for {
		best, err := g.waitedFor(at, hold)
		if err != nil {
			return err
		}
		g.Observed = append(g.Observed, best)
		if best.Kind == FrontGap {
			break
		}
		at = best.Waited
	}
	slices.Reverse(g.Observed)
	return nil
}

// waitedFor chooses what a task waited for: of those it depends on and the one
// that held its core, what ended last; of several, the greatest id as text, then
// the greatest kind as text, which is data-wait.
func (g *graph) waitedFor(s int32, hold []holder) (Step, error) {
	rows := &g.T.Rows
	best := Step{Task: s, Kind: FrontGap, Core: rows.Core[g.Tasks[s].First], Waited: None, WaitedCore: None, Via: None}
	var end uint64
	if err := g.preds(s, false, func(p, via int32) {
		if best.Waited == None || cmp.Or(cmp.Compare(g.Tasks[p].End, end), g.compareID(p, best.Waited)) > 0 {
			end = g.Tasks[p].End
			best.Kind, best.Waited, best.WaitedCore, best.Via = DataWait, p, rows.Core[g.Tasks[p].Last], via
		}
	}); err != nil {
		return best, err
	}
	h := hold[s]
	if h.task == None || g.Tasks[h.task].Start >= g.Tasks[s].Start {
		return best, nil
	}
	if best.Waited == None || cmp.Or(cmp.Compare(h.end, end), g.compareID(h.task, best.Waited)) > 0 {
		best.Kind, best.Waited, best.WaitedCore, best.Via = CoreWait, h.task, h.core, None
		best.Core = h.core
	}
	return best, nil
}

// tile lays the observed path over the makespan without gaps and overlaps.
func (r *Result) tile() {
	frontier := r.First
	for i := range r.Observed {
		s := &r.Observed[i]
		t := &r.Tasks[s.Task]
		if t.Start > frontier {
			s.Stall = t.Start - frontier
		}
		if s.Timed = r.T.Rows.Timed(int(t.First)); s.Timed {
			if d := min(r.T.Rows.Dispatch[t.First], t.Start); d > frontier {
				s.Before = d - frontier
			}
			r.Before += s.Before
			r.Behind += s.Stall - s.Before
		}
		if from := max(t.Start, frontier); t.End > from {
			s.Compute = t.End - from
		}
		frontier = max(frontier, t.End)
		r.Compute += s.Compute
		r.Stall += s.Stall
		r.ByKind[s.Kind] += s.Stall
	}
}
