package overhead

import (
	"cmp"
	"slices"

	"swimlane/capture"
	"swimlane/timeline"
)

// outerPhases are what AICPU schedulers spend their time on, in report order
// (spec/sched-overhead.md §6.2), with their labels: the one of captures that do not
// name their runtime, and where they differ that of those that do (spec/newest.md §14).
var outerPhases = [...]struct{ name, label, long string }{
	{"complete", "Complete (poll handshake, completion handling)", ""},
	{"async_poll", "AsyncPoll (async-wait completion: SDMA/RoCE/URMA/CCU)", ""},
	{"state_probe", "StateProbe", "StateProbe (Scheduler-local Dispatch Slot / Ready state)"},
	{"dispatch", "Dispatch (pop queue, build payload, flush)", ""},
	{"worksteal", "Worksteal", "Worksteal (remote Inbox claim and dispatch)"},
	{"refill", "Refill", "Refill (completed Slot reuse)"},
	{"release", "Release (deferred producer release)", ""},
	{"dummy", "Dummy (dependency-only task resolution)", ""},
	{"early_dispatch", "EarlyDispatch (speculative staging)", ""},
	{"drain", "Drain (sync-start staging)", ""},
	{"graph_prepare", "GraphPrepare (Definition expansion)", ""},
	{"resolve", "Resolve (completion/dependency resolution)", ""},
	{"idle", "Idle (spinning, no progress — reconstructed from gaps)", ""},
}

const (
	phaseComplete = 0
	phaseDispatch = 3
	phaseResolve  = len(outerPhases) - 2
	phaseIdle     = len(outerPhases) - 1
)

// Phases is what AICPU schedulers did with their time.
type Phases struct {
	Threads []Thread
	Seen    [len(outerPhases)]bool // in any thread
	Fanout  Degrees                // of the tasks that ran
	Fanin   Degrees
}

// Thread is one scheduler thread. Times are cycles.
type Thread struct {
	Index    int
	Resolver bool // its role is resolution
	Loops    int64
	Finishes int64 // FINs: one for every sub-task
	Tasks    int64 // whose last row it retired
	Hit      int64 // tasks popped from ready queues
	Miss     int64 // empty pops
	Time     [len(outerPhases)]uint64
	Seen     [len(outerPhases)]bool
}

// Total is all its time, idle included.
func (t *Thread) Total() (sum uint64) {
	for _, d := range t.Time {
		sum += d
	}
	return sum
}

// Degrees are the numbers of neighbours of tasks.
type Degrees struct {
	Edges int64
	Max   int
}

// PhaseName is the name of a phase, by its number in report order.
func PhaseName(i int) string { return outerPhases[i].name }

// phases is part 5 of AICPU schedulers.
func (r *Report) phases(t *timeline.Timeline) {
	out := &Phases{}
	outer := outerOf(t.Rec.Kinds)
	for n := range t.Rec.Streams {
		if th, ok := r.thread(t, n, outer); ok {
			out.Threads = append(out.Threads, th)
		}
	}
	if len(out.Threads) == 0 {
		return
	}
	r.Phases = out
	byIndex := map[int32]*Thread{}
	for i := range out.Threads {
		th := &out.Threads[i]
		byIndex[int32(th.Index)] = th
		for p, seen := range th.Seen {
			out.Seen[p] = out.Seen[p] || seen
		}
	}
	out.attribute(t, byIndex)
	out.degrees(t, byIndex)
}

// outerOf maps the kinds of a file to phases, −1: records of it do not count.
func outerOf(kinds []capture.Kind) []int {
	out := make([]int, len(kinds))
	for k := range kinds {
		name := kinds[k].Name
		if k == capture.KindResolveStandalone {
			name = outerPhases[phaseResolve].name
		}
		out[k] = slices.IndexFunc(outerPhases[:phaseIdle], func(p struct{ name, label, long string }) bool { return p.name == name })
	}
	return out
}

// thread sums up the records of a stream; ok is false if none of them counts.
func (r *Report) thread(t *timeline.Timeline, n int, outer []int) (th Thread, ok bool) {
	p, s := &t.Rec.Streams[n].Phases, &t.Streams[n]
	th = Thread{Index: n, Resolver: s.Resolver}
	var counted []int32
	for j, k := range p.Kind {
		phase := outer[k]
		if phase < 0 || s.Nested != nil && s.Nested[j] { // its time is in the record around it
			continue
		}
		th.Seen[phase] = true
		th.Loops = max(th.Loops, p.Loop[j])
		switch phase {
		case phaseComplete:
			th.Finishes = addCount(th.Finishes, p.Processed[j])
		case phaseDispatch:
			if p.Pops != nil {
				th.Hit, th.Miss = addCount(th.Hit, p.Pops[j].Hit), addCount(th.Miss, p.Pops[j].Miss)
			}
		}
		ok = true
		if p.Start[j] == 0 { // of the archived form, where a time may be missing
			r.Undated++
			continue
		}
		th.Time[phase] += less(p.End[j], p.Start[j])
		counted = append(counted, int32(j))
	}
	slices.SortStableFunc(counted, func(a, b int32) int { return cmp.Compare(p.Start[a], p.Start[b]) })
	end := uint64(0)
	for i, j := range counted {
		if i > 0 {
			th.Time[phaseIdle] += less(p.Start[j], end)
		}
		end = max(end, p.End[j])
	}
	th.Seen[phaseIdle] = th.Time[phaseIdle] > 0
	return th, ok
}

// attribute counts every task once, on the thread that retired its last row.
func (f *Phases) attribute(t *timeline.Timeline, threads map[int32]*Thread) {
	some := false
	for i := range int32(t.Tasks.Len()) {
		best, last := int32(-1), uint64(0)
		for row, to := t.Tasks.Rows(i); row < to; row++ {
			th := t.Rec.Meta.Thread(t.CoreOf(row).ID)
			if th >= 0 && (best < 0 || t.Rows.Finish[row] > last) {
				best, last = th, t.Rows.Finish[row]
			}
		}
		if best < 0 {
			continue
		}
		some = true
		if th := threads[best]; th != nil {
			th.Tasks++
		}
	}
	if some {
		return
	}
	for _, th := range threads {
		th.Tasks = th.Finishes
	}
}

// degrees adds up the neighbours of the tasks that ran, as far as their thread is
// known. The graph is taken as it is: these are what the scheduler notifies and
// waits for, so nothing is bridged.
func (f *Phases) degrees(t *timeline.Timeline, threads map[int32]*Thread) {
	for i := range int32(t.Tasks.Len()) {
		first, _ := t.Tasks.Rows(i)
		node := t.Tasks.Node[i]
		if node < 0 || threads[t.Rec.Meta.Thread(t.CoreOf(first).ID)] == nil {
			continue
		}
		f.Fanout.add(node, t.Graph.Succ(node))
		f.Fanin.add(node, t.Graph.Pred(node))
	}
}

func (d *Degrees) add(node int32, others []int32) {
	n := len(others)
	for _, v := range others {
		if v == node {
			n--
		}
	}
	d.Edges += int64(n)
	d.Max = max(d.Max, n)
}

// Sum adds the threads of a role up.
func (f *Phases) Sum(want func(*Thread) bool) (s Thread) {
	for i := range f.Threads {
		th := &f.Threads[i]
		if !want(th) {
			continue
		}
		s.Loops, s.Finishes, s.Tasks = addCount(s.Loops, th.Loops), addCount(s.Finishes, th.Finishes), addCount(s.Tasks, th.Tasks)
		s.Hit, s.Miss = addCount(s.Hit, th.Hit), addCount(s.Miss, th.Miss)
		for p := range th.Time {
			s.Time[p] += th.Time[p]
			s.Seen[p] = s.Seen[p] || th.Seen[p]
		}
	}
	return s
}

// The threads that Sum can be asked for.
func all(*Thread) bool           { return true }
func schedules(th *Thread) bool  { return !th.Resolver }
func resolution(th *Thread) bool { return th.Resolver }

// Busiest is the phase that took the most time, idle left out; of equal ones the
// first in report order.
func (f *Phases) Busiest() int {
	s := f.Sum(all)
	best := -1
	for p := range phaseIdle {
		if s.Seen[p] && (best < 0 || s.Time[p] > s.Time[best]) {
			best = p
		}
	}
	return best
}

// perLoop is the time of a loop in cycles, 0 if none was counted.
func (t *Thread) perLoop() float64 {
	if t.Loops <= 0 {
		return 0
	}
	return float64(t.Total()) / float64(t.Loops)
}

// Streams is what AICore schedulers recorded (spec/sched-overhead.md §6.1).
type Streams struct {
	Count   int // of streams that have records
	Kinds   []KindTime
	Dropped int64
}

// KindTime is the time of one kind of record, over all streams.
type KindTime struct {
	Name    string
	Records int64
	Time    uint64
}

// streams is part 5 of AICore schedulers. Nothing is left out: no record of
// theirs lies inside another.
func (r *Report) streams(t *timeline.Timeline) {
	out := &Streams{}
	sums := make([]KindTime, len(t.Rec.Kinds))
	for n := range t.Rec.Streams {
		p := &t.Rec.Streams[n].Phases
		out.Dropped = addCount(out.Dropped, t.Rec.Streams[n].Dropped)
		if p.Len() > 0 {
			out.Count++
		}
		for j, k := range p.Kind {
			if k == capture.KindResolveStandalone {
				k = capture.KindResolve
			}
			sums[k].Records++
			if p.Start[j] == 0 {
				r.Undated++
				continue
			}
			sums[k].Time += less(p.End[j], p.Start[j])
		}
	}
	if out.Count == 0 {
		return
	}
	for k, s := range sums {
		if s.Records > 0 {
			s.Name = t.Rec.Kinds[k].Name
			out.Kinds = append(out.Kinds, s)
		}
	}
	slices.SortFunc(out.Kinds, func(a, b KindTime) int { return cmp.Compare(a.Name, b.Name) })
	r.Streams = out
}
