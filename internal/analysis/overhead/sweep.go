package overhead

import (
	"cmp"
	"slices"

	"swimlane/timeline"
)

// state is what holds from one instant to the next.
type state struct {
	at             uint64 // cycles
	running, ready []int  // by engine
	engines        int    // that have overhead
	working        int    // engines with ready work
	starved        int    // those of them that have no idle core
}

// change is something that begins or ends on an engine.
type change struct {
	at             uint64
	engine         int32
	running, ready int32
}

// sweep walks along the time of a capture, from one instant at which something
// changes to the next (spec/sched-overhead.md §3). Nothing is sampled.
type sweep struct {
	engines []string // types of cores that have rows, in alphabetical order
	cores   []int    // cores of each that have rows
	of      []int32  // engine of a core, by index into Timeline.Cores
	w0, w1  uint64   // the window: first kernel start, last kernel end; cycles
	changes []change // by time
}

// newSweep prepares the walk. Every row must have a dispatch time, and there must be rows.
func newSweep(t *timeline.Timeline, r *readiness) *sweep {
	s := &sweep{w0: slices.Min(t.Rows.Start), w1: slices.Max(t.Rows.End)}
	for i := range t.Cores {
		s.engines = append(s.engines, t.Cores[i].Type)
	}
	slices.Sort(s.engines)
	s.engines = slices.Compact(s.engines)
	s.cores = make([]int, len(s.engines))
	for i := range t.Cores {
		e, _ := slices.BinarySearch(s.engines, t.Cores[i].Type)
		s.of = append(s.of, int32(e))
		s.cores[e]++
	}
	s.rows(t)
	s.waits(t, r)
	slices.SortFunc(s.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return s
}

// rows adds when cores start and stop running.
func (s *sweep) rows(t *timeline.Timeline) {
	s.changes = make([]change, 0, 4*t.Rows.Len())
	for i, a := range t.Rows.Start {
		e := s.of[t.Rows.Core[i]]
		if b := t.Rows.End[i]; b > a {
			s.changes = append(s.changes, change{at: a, engine: e, running: 1}, change{at: b, engine: e, running: -1})
		}
	}
}

// waits adds when tasks become ready and when they are dispatched, once for
// every engine that a task has rows on.
func (s *sweep) waits(t *timeline.Timeline, r *readiness) {
	clamp := func(c uint64) uint64 { return min(max(c, s.w0), s.w1) }
	seen := make([]int32, len(s.engines)) // the last task that has rows on the engine, from 1
	for i := range int32(t.Tasks.Len()) {
		from, to := t.Tasks.Rows(i)
		dispatch := clamp(slices.Min(t.Rows.Dispatch[from:to]))
		p := r.producer(i)
		if p < 0 {
			continue // what it waited for left no trace: it counts as ready when it is dispatched
		}
		ready := clamp(r.end[p])
		if dispatch <= ready {
			continue
		}
		for row := from; row < to; row++ {
			if e := s.of[t.Rows.Core[row]]; seen[e] != i+1 {
				seen[e] = i + 1
				s.changes = append(s.changes, change{at: ready, engine: e, ready: 1}, change{at: dispatch, engine: e, ready: -1})
			}
		}
	}
}

// idle is the number of cores of an engine that run nothing. It is negative
// where kernels of one core overlap: more of them run than there are cores.
func (s *sweep) idle(st *state, e int) int { return s.cores[e] - st.running[e] }

// overhead: an idle core of the engine, and ready work for it.
func (s *sweep) overhead(st *state, e int) bool { return st.ready[e] > 0 && s.idle(st, e) > 0 }

// all: every engine has overhead.
func (s *sweep) all(st *state) bool { return st.engines == len(s.engines) }

// has: there is work, and every engine that has some has an idle core.
func (s *sweep) has(st *state) bool { return st.working > 0 && st.starved == 0 }

// walk calls visit for every instant at which something changes, and for the first
// of the window, with what holds from then on until end.
func (s *sweep) walk(visit func(st *state, end uint64)) {
	st := &state{running: make([]int, len(s.engines)), ready: make([]int, len(s.engines))}
	count := func(e int, by int) {
		if st.ready[e] > 0 {
			st.working += by
			if s.idle(st, e) > 0 {
				st.engines += by
			} else {
				st.starved += by
			}
		}
	}
	i := 0
	for st.at = s.w0; st.at < s.w1; {
		for ; i < len(s.changes) && s.changes[i].at <= st.at; i++ {
			c := &s.changes[i]
			count(int(c.engine), -1)
			st.running[c.engine] += int(c.running)
			st.ready[c.engine] += int(c.ready)
			count(int(c.engine), 1)
		}
		end := s.w1
		if i < len(s.changes) {
			end = min(end, s.changes[i].at)
		}
		visit(st, end)
		st.at = end
	}
}
