package ranks

import (
	"fmt"
	"slices"

	"swimlane/internal/hostlog"
)

// setAxis finds the spans that are drawn and the time zero of the picture
// (spec/l3.md §10.1).
func (p *Plan) setAxis(all []hostlog.Span) error {
	paired := map[int]bool{}
	served := map[uint64]bool{} // runs that dispatched the captures, as far as the log says
	var lo, hi int64
	first := true
	reach := func(from, to int64) {
		if first {
			lo, hi, first = from, to, false
		}
		lo, hi = min(lo, from), max(hi, to)
	}
	for _, m := range p.Members {
		w := m.Pair.Window
		paired[w.PID] = true
		if w.Dispatch != nil && w.Dispatch.Run > 0 {
			served[uint64(w.Dispatch.Run)] = true
		}
		reach(m.Placement.Low(), w.Start+w.Dur)
		for _, s := range w.spans {
			if !s.Device() {
				m.spans = append(m.spans, s)
				reach(s.TS, s.End())
			}
		}
	}
	chosen := dispatcherSpans(all, paired, served, lo, hi)
	p.Origin = lo
	for _, s := range chosen {
		p.Origin = min(p.Origin, s.TS)
	}
	for _, m := range p.Members { // also where the log lost chip.run (spec/l3.md §12 D10)
		if m.host.First > 0 {
			p.Origin = min(p.Origin, int64(m.host.First))
		}
	}
	if p.Origin <= 0 {
		return fmt.Errorf("invalid shared timeline origin: %d", p.Origin)
	}
	p.dispatchers = dispatchersOf(chosen)
	p.layout = layoutOf(len(p.dispatchers), p.Members[len(p.Members)-1].Rank)
	return nil
}

// run is an invocation of a process, of whatever family.
type run struct {
	pid int
	inv uint64
}

// dispatcherSpans chooses what is drawn of processes that are no chip's, in the
// order of the input (spec/l3.md §10.2): whole invocations that reach into the
// window of the ranks, and of what is of none, span by span, all that reaches into
// the window that these widen. A run of a dispatcher that served the ranks reaches into
// their window from its first span to its last: where workers are slow to start, all
// dispatches have returned before the first of them runs, and nothing completes until
// the last one has ended.
func dispatcherSpans(all []hostlog.Span, paired map[int]bool, served map[uint64]bool, lo, hi int64) (out []*hostlog.Span) {
	candidate := func(s *hostlog.Span) bool {
		return !paired[s.PID] && !s.Device() && s.Family() != hostlog.Chip
	}
	overlaps := func(s *hostlog.Span) bool { return s.TS < hi && s.End() > lo }
	picked := map[run]bool{}
	lasts := map[run][2]int64{}
	for i := range all {
		s := &all[i]
		if s.Inv == 0 || !candidate(s) {
			continue
		}
		key := run{s.PID, s.Inv}
		if overlaps(s) {
			picked[key] = true
		}
		if served[s.Inv] && s.Family() == hostlog.Node {
			whole, ok := lasts[key]
			if !ok {
				whole[0] = s.TS
			}
			lasts[key] = [2]int64{min(whole[0], s.TS), max(whole[1], s.End())}
		}
	}
	for key, whole := range lasts {
		if whole[0] < hi && whole[1] > lo {
			picked[key] = true
		}
	}
	var chosen []int
	from, to := lo, hi
	for i := range all {
		if s := &all[i]; s.Inv != 0 && candidate(s) && picked[run{s.PID, s.Inv}] {
			chosen = append(chosen, i)
			from, to = min(from, s.TS), max(to, s.End())
		}
	}
	lo, hi = from, to
	for i := range all {
		if s := &all[i]; s.Inv == 0 && candidate(s) && overlaps(s) {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	for _, i := range chosen {
		out = append(out, &all[i])
	}
	return out
}
