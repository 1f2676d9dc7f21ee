package timeline

import (
	"cmp"
	"math"
	"slices"

	"swimlane/capture"
)

// LossKind says which records are missing.
type LossKind uint8

// The kinds of records that can be missing.
const (
	LostKernel LossKind = iota // rows of aicore_tasks; Lane is a core id
	LostTiming                 // rows of scheduler_tasks; Lane is a core id
	LostPhase                  // phase records; Lane is a stream
	LostSubmit                 // orchestrator records; Lane is an orchestrator lane
)

// Loss is a place where records are known to be missing. One with a partner or
// with neighbours in a sequence has a place; of others only the number is known.
type Loss struct {
	Kind LossKind
	Lane int32
	N    int64 // how many, 0 if nobody counted
	// From and To are the times between which the missing records lie: cycles, or
	// host ns for submits of the host.
	From, To uint64
	Placed   bool // false: anywhere on the lane, and From and To are its ends
}

func (t *Timeline) lose(l Loss) {
	l.From, l.To = min(l.From, l.To), max(l.From, l.To)
	t.Losses = append(t.Losses, l)
}

// loseUnmatched: a scheduler row without a kernel row says when the kernel ran.
func (t *Timeline) loseUnmatched(match []int32) {
	q := &t.Rec.Sched
	for s, row := range match {
		if row < 0 {
			t.lose(Loss{Kind: LostKernel, Lane: q.Core[s], N: 1, From: q.Dispatch[s], To: q.Finish[s], Placed: true})
		}
	}
}

// loseUntimed: a kernel row without a scheduler row says when it was scheduled.
func (t *Timeline) loseUntimed(row int32) {
	k := &t.Rec.Tasks
	t.lose(Loss{Kind: LostTiming, Lane: k.Core[row], N: 1, From: k.Receive[row], To: k.End[row], Placed: true})
}

// taskLoss reports whether the capture shows or says that task rows are missing.
func (t *Timeline) taskLoss() bool {
	for _, k := range t.Rec.Loss.Kinds {
		if k.Kind == "AICORE_TASK" || k.Kind == "AICPU_TASK" {
			return true
		}
	}
	return t.Unmatched > 0 || t.Untimed > 0
}

// counted reports whether dispatch tokens count what a core was given. AICore
// schedulers use the task id instead (spec/records.md §2.3).
func (t *Timeline) counted() bool {
	rec := t.Rec
	if rec.Sched.Present {
		return rec.Sched.Producer != capture.ProducerAICore
	}
	for i, reg := range rec.Tasks.Reg { // nothing says who scheduled
		if reg != rec.Tasks.Task[i] {
			return true
		}
	}
	return false
}

// longestGap is the number of missing tokens beyond which tokens do not count
// what was dispatched.
const longestGap = math.MaxInt32

// loseTokens finds the gaps in the dispatch tokens of every core, in a capture
// that is known to lack rows: neither section has anything of those tasks. The
// orders are those of the rows' keys.
func (t *Timeline) loseTokens(kOrder, qOrder []int32) {
	if !t.taskLoss() || !t.Counted {
		return
	}
	rec := t.Rec
	k, q := rec.Tasks.Keys(), rec.Sched.Keys()
	var last struct {
		core, run int32
		reg       uint64
		from      uint64
		until     uint64
	}
	seen := false
	for a, b := 0, 0; a < len(kOrder) || b < len(qOrder); {
		side := 0 // −1: the kernel row comes first, 1: the scheduler row, 0: they are partners
		switch {
		case a == len(kOrder):
			side = 1
		case b == len(qOrder):
			side = -1
		default:
			side = k.Compare(kOrder[a], q, qOrder[b])
		}
		key, row := k, int32(0)
		from, until := uint64(math.MaxUint64), uint64(0)
		if side >= 0 {
			key, row = q, qOrder[b]
			from, until = rec.Sched.Dispatch[row], rec.Sched.Finish[row]
			b++
		}
		if side <= 0 {
			key, row = k, kOrder[a]
			from, until = min(from, rec.Tasks.Receive[row]), max(until, rec.Tasks.End[row])
			a++
		}
		core, run, reg := key.Core[row], int32(0), key.Reg[row]
		if key.Run != nil {
			run = key.Run[row]
		}
		// Tokens that rise while time falls count something else.
		if seen && core == last.core && run == last.run && reg-last.reg-1 > 0 && reg-last.reg-1 <= longestGap && from >= last.from {
			l := Loss{Kind: LostKernel, Lane: core, N: int64(reg - last.reg - 1), From: last.until, To: from, Placed: true}
			t.lose(l)
			if rec.Sched.Len() > 0 {
				l.Kind = LostTiming
				t.lose(l)
			}
		}
		last.core, last.run, last.reg, last.from, last.until = core, run, reg, from, until
		seen = true
	}
}

// loseStreams marks the schedulers that dropped phase records. An AICore
// scheduler drops idle records only, once its buffer of them is full
// (spec/device-abi.md §9); of the others nobody knows where.
func (t *Timeline) loseStreams(base, last uint64) {
	for n := range t.Rec.Streams {
		s := &t.Rec.Streams[n]
		if s.Dropped == 0 && !s.Truncated {
			continue
		}
		l := Loss{Kind: LostPhase, Lane: int32(n), N: s.Dropped, From: base, To: last}
		first, end, idle := stretch(&s.Phases)
		if first > 0 {
			l.From, l.To = first, end
		}
		if s.AICore() && idle > 0 {
			l.From, l.Placed = idle, true
		}
		t.lose(l)
	}
}

// stretch is the time from the first record to the end of the last, and the end
// of the last idle one, 0 if there is none.
func stretch(p *capture.Phases) (first, end, idle uint64) {
	for j := range p.Start {
		if first == 0 || p.Start[j] < first {
			first = p.Start[j]
		}
		end = max(end, p.End[j])
		if p.Kind[j] == capture.KindIdle {
			idle = max(idle, p.End[j])
		}
	}
	return first, end, idle
}

// loseSubmits finds the gaps in the numbers of the only orchestrator lane, and
// what else the capture says is missing there.
func (t *Timeline) loseSubmits() {
	lanes, expected := t.Rec.DeviceOrc, int64(0)
	for _, k := range t.Rec.Loss.Kinds {
		if k.Kind == "ORCH_PHASE" {
			expected = k.N
		}
	}
	if t.HostMode() {
		lanes, expected = t.Rec.HostOrc, t.Rec.Loss.Host
		if c := t.Rec.Meta.HostCapture; c != nil && c.Expected.Set {
			expected = max(expected, c.Expected.V-int64(t.Host.Recorded))
		}
	}
	if len(lanes) != 1 || lanes[0].Len() == 0 {
		return // several lanes may share one sequence
	}
	s := &lanes[0]
	found := t.submitGaps(s)
	if expected > found {
		first, end := s.Start[0], s.End[0]
		for j := range s.Start {
			first, end = min(first, s.Start[j]), max(end, s.End[j])
		}
		t.lose(Loss{Kind: LostSubmit, N: expected - found, From: first, To: end})
	}
}

// submitGaps marks the numbers that no submit of a run has, which count from 0
// (spec/collector.md §12), and returns how many there are.
func (t *Timeline) submitGaps(s *capture.Submits) (found int64) {
	order := make([]int32, s.Len())
	for j := range order {
		order[j] = int32(j)
	}
	run := func(j int32) int32 {
		if s.Run == nil {
			return 0
		}
		return s.Run[j]
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(run(a), run(b)), cmp.Compare(s.Index[a], s.Index[b]))
	})
	for k, j := range order {
		gap, l := s.Index[j], Loss{Kind: LostSubmit, From: s.Start[j], To: s.Start[j], Placed: true}
		if k > 0 && run(order[k-1]) == run(j) && s.Index[order[k-1]] >= 0 {
			before := order[k-1]
			gap -= s.Index[before] + 1
			l.From = s.End[before]
		}
		if gap <= 0 || gap > longestGap || s.Index[j] < 0 {
			continue
		}
		l.N = gap
		t.lose(l)
		found += gap
	}
	return found
}

// SubmitGaps is the number of submits that are missing in the numbers of the
// others, in a capture that declares no loss of submits.
func (t *Timeline) SubmitGaps() (n int64) {
	declared := t.Rec.Loss.Host > 0
	for _, k := range t.Rec.Loss.Kinds {
		declared = declared || k.Kind == "ORCH_PHASE"
	}
	if declared {
		return 0
	}
	for _, l := range t.Losses {
		if l.Kind == LostSubmit && l.Placed {
			n += l.N
		}
	}
	return n
}
