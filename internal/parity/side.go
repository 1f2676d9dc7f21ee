package parity

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// lane is a lane as the comparison knows it: sub-lanes count as their main
// lane. The names of the processes are compared once, by pid.
type lane struct {
	pid  int64
	name string
}

func (l lane) String() string { return fmt.Sprintf("pid %d %s", l.pid, l.name) }

// subLane matches a name of ours for a sub-lane.
var subLane = regexp.MustCompile(`^(.+) \(([0-9]+)\)$`)

// coreOf finds the core in an event hint.
var coreOf = regexp.MustCompile(`CoreId:([0-9]+)$`)

// The numbers of the reference's lanes that its rules are made of.
const (
	firstCoreTID   = 10000 // core c is at firstCoreTID + 10c, its sub-lanes follow
	firstStreamTID = 30000 // stream n is at firstStreamTID + 10n, its nested lane follows
	tidStep        = 10
)

// side is one of the two traces, with what depends on its form.
type side struct {
	trace   *Trace
	ownForm bool // sub-lanes are known by name, not by number
	onLane  map[laneID]*laneSlices
}

func newSide(t *Trace, ownForm bool) *side {
	s := &side{trace: t, ownForm: ownForm, onLane: map[laneID]*laneSlices{}}
	for _, sl := range t.slices {
		l := s.onLane[sl.lane]
		if l == nil {
			l = &laneSlices{}
			s.onLane[sl.lane] = l
		}
		l.slices = append(l.slices, sl)
	}
	for _, l := range s.onLane {
		l.index()
	}
	return s
}

// dropUnknownKinds removes the slices for phase kinds that are in no table.
// They stay in onLane: an arrow that they hold is one that can be drawn.
func (s *side) dropUnknownKinds() {
	t := *s.trace
	t.slices = slices.DeleteFunc(slices.Clone(t.slices), func(sl *slice) bool {
		return sl.cat == "scheduler" && sl.cname == "generic_work"
	})
	s.trace = &t
}

// dropLossMarks removes the bars that show where records were lost, their lanes,
// and the numbers in the metadata.
func (s *side) dropLossMarks() {
	t := *s.trace
	t.slices = slices.DeleteFunc(slices.Clone(t.slices), func(sl *slice) bool { return sl.cat == "loss" })
	t.threads = maps.Clone(t.threads)
	maps.DeleteFunc(t.threads, func(id laneID, th *thread) bool {
		marks := strings.HasSuffix(th.name, " (lost)")
		if marks {
			delete(s.onLane, id)
		}
		return marks
	})
	if m, ok := t.metadata.(map[string]any); ok {
		m = maps.Clone(m)
		delete(m, "records_lost")
		t.metadata = m
	}
	s.trace = &t
}

// isView tells whether a process has a certain name, alone or in a merged
// trace.
func (s *side) isView(pid int64, names ...string) bool {
	p := s.trace.processes[pid]
	if p == nil {
		return false
	}
	_, view, merged := strings.Cut(p.name, " / ")
	return slices.Contains(names, p.name) || merged && slices.Contains(names, view)
}

func (s *side) isSchedulerView(pid int64) bool { return s.isView(pid, "Scheduler View") }

// fold returns the lane that a number stands for.
func (s *side) fold(id laneID) lane {
	if s.ownForm {
		name, _ := splitSubLane(s.nameOf(id))
		return lane{id.pid, name}
	}
	switch {
	case s.isSchedulerView(id.pid) && id.tid >= firstCoreTID:
		return s.foldCore(id.pid, (id.tid-firstCoreTID)/tidStep)
	case s.isView(id.pid, "AICPU Scheduler") && id.tid >= firstStreamTID && id.tid%tidStep == 1:
		// By number, not by name: the reference names this lane after the
		// stream's index even where the main lane has another number in its
		// name.
		return lane{id.pid, s.nameOf(laneID{id.pid, id.tid - 1})}
	}
	return lane{id.pid, s.nameOf(id)}
}

// foldCore returns the Scheduler View lane of a core in the reference, which
// names at most its first two sub-lanes, and alike.
func (s *side) foldCore(pid, core int64) lane {
	base := firstCoreTID + tidStep*core
	for tid := base; tid < base+tidStep; tid++ {
		if t := s.trace.threads[laneID{pid, tid}]; t != nil && t.named {
			return lane{pid, t.name}
		}
	}
	return lane{pid, fmt.Sprintf("core %d without a name", core)}
}

// laneOf returns the lane of a slice and its sub-lane, counted from 0. Only a
// Scheduler View bar has a sub-lane that matters.
func (s *side) laneOf(sl *slice) (lane, int64) {
	if !s.isSchedulerView(sl.lane.pid) {
		return s.fold(sl.lane), 0
	}
	if s.ownForm {
		name, sub := splitSubLane(s.nameOf(sl.lane))
		return lane{sl.lane.pid, name}, sub
	}
	// The core comes from the hint: with ten or more sub-lanes, the numbers
	// of the reference run into those of the next core.
	x, ok := executionOf(sl)
	if !ok {
		return s.fold(sl.lane), (sl.lane.tid - firstCoreTID) % tidStep
	}
	return s.foldCore(sl.lane.pid, x.core), sl.lane.tid - firstCoreTID - tidStep*x.core
}

// laneOfHalf returns the lane of an arrow's end.
func (s *side) laneOfHalf(h *half) lane {
	if h.bind != nil && h.bind.lane == h.lane {
		l, _ := s.laneOf(h.bind)
		return l
	}
	return s.fold(h.lane)
}

// nameOf returns the name of a lane as written.
func (s *side) nameOf(id laneID) string {
	if t := s.trace.threads[id]; t != nil && t.named {
		return t.name
	}
	return fmt.Sprintf("tid %d without a name", id.tid)
}

// splitSubLane takes the number of a sub-lane, counted from 0, off a name of
// ours.
func splitSubLane(name string) (string, int64) {
	m := subLane.FindStringSubmatch(name)
	if m == nil {
		return name, 0
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil || n < 2 {
		return name, 0
	}
	return m[1], n - 1
}

// execution names the rows of a task on a core in one view. The reference
// remembers lane and id by this pair, so of several rows only the last one's
// survive.
type execution struct {
	pid  int64
	task string
	core int64
}

// executionOf returns the execution that a slice shows, if it shows one.
func executionOf(s *slice) (execution, bool) {
	task, ok := s.args["taskId"]
	if !ok {
		return execution{}, false
	}
	hint, _ := s.args["event-hint"].(string)
	m := coreOf.FindStringSubmatch(hint)
	if m == nil {
		return execution{}, false
	}
	core, err := strconv.ParseInt(m[1], 10, 64)
	return execution{s.lane.pid, canonical(task), core}, err == nil
}

// repeatedExecutions finds the tasks that run more than once on a core.
func repeatedExecutions(t *Trace) map[execution]bool {
	seen := map[execution]bool{}
	for _, s := range t.slices {
		if x, ok := executionOf(s); ok {
			_, again := seen[x]
			seen[x] = again
		}
	}
	return seen
}

// isRepeated tells whether a slice shows a task that runs more than once on
// its core.
func (c *comparison) isRepeated(s *slice) bool {
	x, ok := executionOf(s)
	return ok && c.repeated[x]
}

// laneSlices finds the slices of one lane by time.
type laneSlices struct {
	slices []*slice  // by start
	maxEnd []float64 // the latest end up to here
}

func (l *laneSlices) index() {
	sort.SliceStable(l.slices, func(i, j int) bool { return l.slices[i].start < l.slices[j].start })
	for _, s := range l.slices {
		end := s.end
		if n := len(l.maxEnd); n > 0 {
			end = max(end, l.maxEnd[n-1])
		}
		l.maxEnd = append(l.maxEnd, end)
	}
}

// at returns the slices that contain an instant, both ends included.
func (s *side) at(id laneID, ts float64) []*slice {
	l := s.onLane[id]
	if l == nil {
		return nil
	}
	var out []*slice
	i := sort.Search(len(l.slices), func(i int) bool { return l.slices[i].start > ts+slop })
	for i--; i >= 0 && l.maxEnd[i] >= ts-slop; i-- {
		if l.slices[i].contains(ts) {
			out = append(out, l.slices[i])
		}
	}
	return out
}

// contains tells whether an instant lies in a slice, both ends included.
func (s *slice) contains(ts float64) bool { return s.start-slop <= ts && ts <= s.end+slop }
