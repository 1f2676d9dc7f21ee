package timeline

import (
	"cmp"
	"slices"
	"sort"

	"swimlane/capture"
)

// Stream is what the rules derive from the records of one scheduler.
type Stream struct {
	// Nested marks the resolve records that lie inside another record of the
	// stream (spec/converter.md §3.4); nil if there is none.
	Nested []bool
	// Resolver: the stream's role is resolution (§3.5).
	Resolver bool
	// Completes are the complete records by run and start; their ends may overlap.
	Completes []int32
	// Finishes counts, for each record, the task rows that a complete record
	// is found to have retired (§3.6); nil without core_to_thread.
	Finishes []int32
	// IdleNs is the time between work, in ns.
	IdleNs int64
	// BusyNs is the time from the first work record to the last, less IdleNs.
	BusyNs int64
	// Gaps are the idle times as pairs of cycles; nil if the stream records idle itself.
	Gaps [][2]uint64
	// RecordsIdle is set when the stream has idle records of its own.
	RecordsIdle bool
}

// HasNested reports whether any record is nested.
func (s *Stream) HasNested() bool { return s.Nested != nil }

func (t *Timeline) scanStreams() {
	rec := t.Rec
	t.Streams = make([]Stream, len(rec.Streams))
	top := -1
	for _, th := range rec.Meta.CoreToThread {
		top = max(top, int(th))
	}
	for n := range rec.Streams {
		if rec.Streams[n].Phases.Len() > 0 {
			top = max(top, n)
		}
		t.nested(n)
		t.role(n)
		t.idle(n)
	}
	t.Threads = top + 1
	if top < 0 {
		t.Threads = len(rec.Streams)
	}
	if rec.Meta.CoreToThread != nil {
		t.countFinishes()
	}
}

// byStart returns the records of the wanted kinds ordered by start, ties in file order.
func byStart(p *capture.Phases, want func(kind uint16) bool) []int32 {
	var out []int32
	sorted := true
	for j, k := range p.Kind {
		if want(k) {
			if len(out) > 0 && p.Start[out[len(out)-1]] > p.Start[j] {
				sorted = false
			}
			out = append(out, int32(j))
		}
	}
	if !sorted {
		slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(p.Start[a], p.Start[b]) })
	}
	return out
}

// lastAt returns the last of the records, ordered by start, that starts at or before cycle c; −1 if none.
func lastAt(p *capture.Phases, order []int32, c uint64) int {
	lo, hi := 0, len(order)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); p.Start[order[m]] <= c {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// nested finds the resolve records inside a parent: the end must be strictly
// before the parent's, the start may be equal.
func (t *Timeline) nested(n int) {
	p, s := &t.Rec.Streams[n].Phases, &t.Streams[n]
	s.Completes = byStart(p, func(k uint16) bool { return k == capture.KindComplete })
	if p.Run != nil {
		slices.SortStableFunc(s.Completes, func(a, b int32) int { return cmp.Compare(p.Run[a], p.Run[b]) })
	}
	parents := byStart(p, func(k uint16) bool { return t.Rec.Kinds[k].Parent })
	for j, k := range p.Kind {
		if k != capture.KindResolve || t.Rec.Dialect.NoNestedResolve {
			continue
		}
		if i := lastAt(p, parents, p.Start[j]); i >= 0 && p.End[j] < p.End[parents[i]] {
			if s.Nested == nil {
				s.Nested = make([]bool, p.Len())
			}
			s.Nested[j] = true
		}
	}
}

func (t *Timeline) role(n int) {
	p, s := &t.Rec.Streams[n].Phases, &t.Streams[n]
	resolves, works, standalone := false, false, false
	for j, k := range p.Kind {
		kind := &t.Rec.Kinds[k]
		resolves = resolves || kind.Resolves
		works = works || kind.Work
		standalone = standalone || k == capture.KindResolveStandalone || k == capture.KindResolve && (s.Nested == nil || !s.Nested[j])
	}
	named, others := false, false
	for _, th := range t.Rec.Meta.CoreToThread {
		named = named || int(th) == n
		others = others || th >= 0
	}
	s.Resolver = resolves && !works && (standalone || others && !named)
}

// idle sums the gaps between work records, ordered by start and measured from
// the running maximum end (spec/converter.md §4.7). Where the scheduler records
// its idle time itself, that is taken instead.
func (t *Timeline) idle(n int) {
	p, s := &t.Rec.Streams[n].Phases, &t.Streams[n]
	work := byStart(p, func(k uint16) bool { return t.Rec.Kinds[k].Outer() })
	var recorded, first, end uint64
	for j, k := range p.Kind {
		if k == capture.KindIdle {
			s.RecordsIdle = true
			if p.End[j] > p.Start[j] {
				recorded += p.End[j] - p.Start[j]
			}
		}
	}
	var gaps, between uint64 // between: from one run to the next, when nobody is idle
	started, run := false, int32(0)
	runOf := func(j int32) int32 {
		if p.Run == nil {
			return 0
		}
		return p.Run[j]
	}
	for _, j := range work {
		if s.Nested != nil && s.Nested[j] || p.Start[j] == 0 {
			continue // an archived record without a start says nothing about gaps
		}
		switch {
		case !started:
			first, started = p.Start[j], true
		case p.Start[j] <= end:
		case runOf(j) != run:
			between += p.Start[j] - end
		default:
			gaps += p.Start[j] - end
			if !s.RecordsIdle && !t.Rec.Streams[n].AICore() {
				s.Gaps = append(s.Gaps, [2]uint64{end, p.Start[j]})
			}
		}
		end = max(end, p.Start[j], p.End[j]) // archived records may end before they start
		run = runOf(j)
	}
	s.IdleNs = t.Clock.Span(gaps)
	if started {
		s.BusyNs = t.Clock.Span(end - first - gaps - between)
	}
	if s.RecordsIdle {
		s.IdleNs = t.Clock.Span(recorded)
	}
}

// Finish is where a task row was retired: a complete record of a stream.
type Finish struct {
	Stream, Record int32
	Inside         bool // the finish lies within the record; otherwise the record is the next one
}

// FinishOf finds the complete record that retired a row (spec/converter.md §3.6).
func (t *Timeline) FinishOf(row int) (Finish, bool) {
	if !t.Rows.Timed(row) {
		return Finish{}, false
	}
	th := t.Rec.Meta.Thread(t.CoreOf(row).ID)
	if th < 0 || int(th) >= len(t.Streams) {
		return Finish{}, false
	}
	p := &t.Rec.Streams[th].Phases
	order := ofRun(p, t.Streams[th].Completes, t.Tasks.RunOf(t.Rows.Task[row]))
	c := t.Rows.Finish[row]
	i := lastAt(p, order, c)
	if i >= 0 && c <= p.End[order[i]] {
		return Finish{th, order[i], true}, true
	}
	if i+1 < len(order) {
		return Finish{th, order[i+1], false}, true
	}
	return Finish{}, false
}

// ofRun cuts the records of one run out of records ordered by run. Records that
// name no run belong to the first.
func ofRun(p *capture.Phases, order []int32, run int32) []int32 {
	if p.Run == nil {
		if run == 0 {
			return order
		}
		return nil
	}
	from := sort.Search(len(order), func(i int) bool { return p.Run[order[i]] >= run })
	to := sort.Search(len(order), func(i int) bool { return p.Run[order[i]] > run })
	return order[from:to]
}

func (t *Timeline) countFinishes() {
	for n := range t.Streams {
		t.Streams[n].Finishes = make([]int32, t.Rec.Streams[n].Phases.Len())
	}
	for row := range t.Rows.Core {
		if f, ok := t.FinishOf(row); ok {
			t.Streams[f.Stream].Finishes[f.Record]++
		}
	}
}

// assignThreads finds the scheduler thread of every core: from core_to_thread,
// or by voting of dispatch records (spec/converter.md §3.8).
func (t *Timeline) assignThreads() {
	if t.Rec.Meta.CoreToThread != nil {
		for i := range t.Cores {
			t.Cores[i].Thread = t.Rec.Meta.Thread(t.Cores[i].ID)
		}
		return
	}
	if !t.Timed() || len(t.Streams) == 0 {
		return
	}
	type ballot struct{ votes, first int }
	ballots := make([][]ballot, len(t.Cores))
	var cover []cover
	var voter []int32 // the stream of each
	for n := range t.Streams {
		if c := newCover(&t.Rec.Streams[n].Phases); len(c.order) > 0 {
			cover = append(cover, c)
			voter = append(voter, int32(n))
		}
	}
	if len(cover) > mostVoters {
		t.warn("no-vote", 1, "%d scheduler streams dispatch tasks and core_to_thread is missing: which of them serves a core is not guessed among more than %d", len(cover), mostVoters)
		return
	}
	cast := 0
	for row := range t.Rows.Core {
		if !t.Rows.Timed(row) {
			continue
		}
		for n := range cover {
			if !cover[n].holds(t.Rows.Dispatch[row]) {
				continue
			}
			c := t.Rows.Core[row]
			if ballots[c] == nil {
				ballots[c] = make([]ballot, len(cover))
			}
			cast++
			b := &ballots[c][n]
			if b.votes == 0 {
				b.first = cast
			}
			b.votes++
		}
	}
	for c, bs := range ballots {
		best := -1
		for n, b := range bs {
			if b.votes > 0 && (best < 0 || b.votes > bs[best].votes || b.votes == bs[best].votes && b.first < bs[best].first) {
				best = n
			}
		}
		if best >= 0 {
			t.Cores[c].Thread = voter[best]
		}
	}
}

// mostVoters bounds the streams that vote: a chip has a handful, and every one is
// asked about every row.
const mostVoters = 1024

// cover answers whether any dispatch record of a stream holds a cycle.
type cover struct {
	p      *capture.Phases
	order  []int32
	maxEnd []uint64 // of the records up to here
}

func newCover(p *capture.Phases) cover {
	c := cover{p: p, order: byStart(p, func(k uint16) bool { return k == capture.KindDispatch })}
	c.maxEnd = make([]uint64, len(c.order))
	var end uint64
	for i, j := range c.order {
		end = max(end, p.End[j])
		c.maxEnd[i] = end
	}
	return c
}

func (c *cover) holds(at uint64) bool {
	i := lastAt(c.p, c.order, at)
	return i >= 0 && at <= c.maxEnd[i]
}
