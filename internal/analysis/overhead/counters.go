package overhead

import (
	"slices"

	"swimlane/timeline"
)

// Engines are the core types that have counters, in their order.
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

// Compute returns nothing unless there is a graph with edges, there are rows,
// and every row has a dispatch time.
func Compute(t *timeline.Timeline) Steps {
	if t.Graph == nil || t.Graph.Edges() == 0 || t.Rows.Len() == 0 || !t.Timed() || t.Untimed > 0 {
		return Steps{}
	}
	var out Steps
	s := newSweep(t, newReadiness(t))
	var at [2]int
	for k, name := range Engines {
		if at[k] = slices.Index(s.engines, name); at[k] >= 0 {
			out.Cores[k] = s.cores[at[k]]
		}
	}
	s.walk(func(st *state, _ uint64) {
		one := State{At: st.at, All: s.all(st), Has: s.has(st)}
		for k, e := range at {
			if e >= 0 {
				one.Idle[k], one.Ready[k], one.Overhead[k] = s.idle(st, e), st.ready[e], s.overhead(st, e)
			}
		}
		out.States = append(out.States, one)
	})
	return out
}
