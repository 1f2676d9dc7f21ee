// Package overhead measures where an idle core and a ready, undispatched task
// of its kind exist at the same time: the scheduler's overhead.
package overhead

import (
	"cmp"
	"slices"

	"swimlane/timeline"
)

// Engines are the core types that are told apart, in report order.
var Engines = [2]string{"aic", "aiv"}

// State is what holds from one instant to the next (spec/converter.md §7).
type State struct {
	At       uint64 // cycles
	Idle     [2]int // cores of the engine that run nothing
	Ready    [2]int // tasks for the engine that are ready and not dispatched
	Overhead [2]bool
	All, Has bool // every engine, or every engine with waiting work, has overhead
}

// Steps is the course of a capture.
type Steps struct {
	Cores  [2]int // distinct cores that ran something; 0: the engine is absent
	States []State
}

type change struct {
	at             uint64
	engine         int
	running, ready int
}

// Compute returns nothing unless there is a graph with edges, there are rows,
// and every row has a dispatch time.
func Compute(t *timeline.Timeline) Steps {
	if t.Graph == nil || t.Graph.Edges() == 0 || t.Rows.Len() == 0 || !t.Timed() || t.Untimed > 0 {
		return Steps{}
	}
	var out Steps
	for _, c := range t.Cores {
		if e := engine(c.Type); e >= 0 {
			out.Cores[e]++
		}
	}
	w0, w1 := t.Rows.Start[0], t.Rows.End[0]
	for i := range t.Rows.Start {
		w0, w1 = min(w0, t.Rows.Start[i]), max(w1, t.Rows.End[i])
	}
	changes := rowChanges(t)
	changes = append(changes, waitChanges(t, w0, w1)...)
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	out.replay(changes, w0, w1)
	return out
}

func engine(coreType string) int { return slices.Index(Engines[:], coreType) }

// rowChanges is when cores start and stop running.
func rowChanges(t *timeline.Timeline) []change {
	out := make([]change, 0, 2*t.Rows.Len())
	for i := range t.Rows.Start {
		e := engine(t.CoreOf(i).Type)
		if a, b := t.Rows.Start[i], t.Rows.End[i]; e >= 0 && b > a {
			out = append(out, change{at: a, engine: e, running: 1}, change{at: b, engine: e, running: -1})
		}
	}
	return out
}

// waitChanges is when tasks become ready and when they are dispatched.
func waitChanges(t *timeline.Timeline, w0, w1 uint64) []change {
	clamp := func(c uint64) uint64 { return min(max(c, w0), w1) }
	n := t.Tasks.Len()
	end := make([]uint64, n)
	for i := range end {
		from, to := t.Tasks.Rows(int32(i))
		end[i] = slices.Max(t.Rows.End[from:to])
	}
	var out []change
	for i := range int32(n) {
		from, to := t.Tasks.Rows(i)
		dispatch := clamp(slices.Min(t.Rows.Dispatch[from:to]))
		ready, waits := uint64(0), false
		if node := t.Tasks.Node[i]; node >= 0 {
			for _, p := range t.Graph.Pred(node) {
				if p == node {
					continue
				}
				if k := t.Tasks.Find(t.Tasks.RunOf(i), t.Graph.ID(p)); k >= 0 {
					ready, waits = max(ready, end[k]), true
				}
			}
		}
		ready = clamp(ready)
		if !waits || dispatch <= ready {
			continue
		}
		var kinds [2]bool
		for row := from; row < to; row++ {
			if e := engine(t.CoreOf(row).Type); e >= 0 {
				kinds[e] = true
			}
		}
		for e, yes := range kinds {
			if yes {
				out = append(out, change{at: ready, engine: e, ready: 1}, change{at: dispatch, engine: e, ready: -1})
			}
		}
	}
	return out
}

// replay walks the changes from w0 to before w1.
func (s *Steps) replay(changes []change, w0, w1 uint64) {
	var running, ready [2]int
	emit := func(at uint64) {
		st := State{At: at, All: true, Has: true}
		work := false
		for e := range Engines {
			if s.Cores[e] == 0 {
				continue
			}
			st.Idle[e], st.Ready[e] = s.Cores[e]-running[e], ready[e]
			st.Overhead[e] = st.Idle[e] > 0 && ready[e] > 0
			st.All = st.All && st.Overhead[e]
			if ready[e] > 0 {
				work = true
				st.Has = st.Has && st.Idle[e] > 0
			}
		}
		st.All = st.All && s.Cores != [2]int{}
		st.Has = st.Has && work
		s.States = append(s.States, st)
	}
	i := 0
	apply := func(at uint64) {
		for ; i < len(changes) && changes[i].at == at; i++ {
			running[changes[i].engine] += changes[i].running
			ready[changes[i].engine] += changes[i].ready
		}
	}
	for at := w0; at < w1; {
		apply(at)
		emit(at)
		if i >= len(changes) {
			break
		}
		at = changes[i].at
	}
}
