package trace

import (
	"path"
	"strings"
	"sync"
	"sync/atomic"
)

// Selection says which part of a picture is wanted.
type Selection struct {
	// Window keeps what lies in [From, To), in ns. Bars that reach into it are
	// clipped and marked; an arrow needs both ends inside; counters start with
	// the value they have at the edge.
	Window   bool
	From, To int64
	// Lanes are globs on the names of lanes (AIC_*), or of process and lane (Worker
	// View/AIC_*), or the name of a process; what one of them fits is kept, without
	// any all.
	// Counters belong to no lane and stay.
	Lanes []string
	// NoFlows leaves all arrows out.
	NoFlows bool
}

// Empty reports whether everything is wanted.
func (s *Selection) Empty() bool { return !s.Window && len(s.Lanes) == 0 && !s.NoFlows }

// Left counts what a selection left out of a picture. The counts are complete
// when the picture has been written.
type Left struct {
	Slices, Clipped, Flows, Counters atomic.Int64
	Lanes                            int
}

// Select returns the selected part of p.
func Select(p *Picture, s Selection) (*Picture, *Left, error) {
	left := &Left{}
	out := *p
	keep := make([]int32, len(p.Lanes)) // new number of each lane, −1 if it is left out
	out.Lanes = nil
	for i, l := range p.Lanes {
		ok, err := s.lane(p, l)
		if err != nil {
			return nil, nil, err
		}
		keep[i] = -1
		if ok {
			keep[i] = int32(len(out.Lanes))
			out.Lanes = append(out.Lanes, l)
		}
	}
	left.Lanes = len(p.Lanes) - len(out.Lanes)
	out.Processes = append([]Process(nil), p.Processes...)
	if len(s.Lanes) > 0 {
		used := make([]bool, len(p.Processes))
		for _, l := range out.Lanes {
			used[l.Process] = true
		}
		for i := range out.Processes {
			if !used[i] {
				out.Processes[i].Name = "" // nothing of it is shown but counters
			}
		}
	}
	sel := &selector{Selection: s, keep: keep, left: left}
	out.Sections = nil
	if edge := sel.edges(p); len(edge) > 0 {
		out.Sections = append(out.Sections, edge)
	}
	for _, sec := range p.Sections {
		out.Sections = append(out.Sections, selected{sec, sel})
	}
	return &out, left, nil
}

// lane tells whether a lane is wanted.
func (s *Selection) lane(p *Picture, l Lane) (bool, error) {
	for _, glob := range s.Lanes {
		if ok, err := laneFits(glob, p.Processes[l.Process].Name, l.Name); ok || err != nil {
			return ok, err
		}
	}
	return len(s.Lanes) == 0, nil
}

func laneFits(glob, process, name string) (bool, error) {
	switch {
	case glob == process: // no glob: AIC* must not mean the AICPU's processes
		return true, nil
	case strings.Contains(glob, "/"):
		name = process + "/" + name
	}
	if ok, err := path.Match(glob, name); ok || err != nil {
		return ok, err
	}
	// What lies behind a lane, NAME (2) or NAME (lost), belongs to it.
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") {
		return path.Match(glob, name[:i])
	}
	return false, nil
}

type selector struct {
	Selection
	keep []int32
	left *Left
}

// selected is a section of which only the selected events are passed on.
type selected struct {
	Section
	sel *selector
}

func (s selected) Walk(from, to int, sink Sink) {
	s.Section.Walk(from, to, &selectSink{s.sel, sink})
}

type selectSink struct {
	*selector
	sink Sink
}

func (k *selectSink) Slice(s *Slice) {
	lane := k.keep[s.Lane]
	if lane < 0 {
		k.left.Slices.Add(1)
		return
	}
	own := *s
	own.Lane = lane
	if k.Window {
		if s.Start >= k.To || s.End <= k.From && s.Start < k.From {
			k.left.Slices.Add(1)
			return
		}
		own.Start, own.End = max(s.Start, k.From), min(s.End, k.To)
		mark := ""
		switch {
		case own.Start > s.Start && own.End < s.End:
			mark = "both"
		case own.Start > s.Start:
			mark = "start"
		case own.End < s.End:
			mark = "end"
		}
		if mark != "" {
			k.left.Clipped.Add(1)
			own.Args = append(own.Args[:len(own.Args):len(own.Args)], Arg{Key: "clipped", Kind: Text, Text: []byte(mark)})
		}
	}
	k.sink.Slice(&own)
}

func (k *selectSink) Flow(f *Flow) {
	from, to := k.keep[f.From.Lane], k.keep[f.To.Lane]
	inside := func(t int64) bool { return !k.Window || k.From <= t && t < k.To }
	if k.NoFlows || from < 0 || to < 0 || !inside(f.From.Time) || !inside(f.To.Time) {
		k.left.Flows.Add(1)
		return
	}
	own := *f
	own.From.Lane, own.To.Lane = from, to
	k.sink.Flow(&own)
}

func (k *selectSink) Counter(c *Counter) {
	if k.Window && (c.Time < k.From || c.Time >= k.To) {
		k.left.Counters.Add(1)
		return
	}
	k.sink.Counter(c)
}

// edges finds the last sample of every counter before the window, to be shown
// at its edge.
func (k *selector) edges(p *Picture) edgeSection {
	if !k.Window {
		return nil
	}
	found := &edgeSink{before: k.From, last: map[edgeKey]*Counter{}}
	for _, sec := range p.Sections {
		sec.Walk(0, sec.Len(), found)
	}
	var out edgeSection
	for _, key := range found.order {
		c := *found.last[key]
		if c.Time < k.From {
			c.Time = k.From
			out = append(out, c)
		}
	}
	return out
}

type edgeKey struct {
	process int
	name    string
}

type edgeSink struct {
	mu     sync.Mutex
	before int64
	last   map[edgeKey]*Counter
	order  []edgeKey
}

func (*edgeSink) Slice(*Slice) {}
func (*edgeSink) Flow(*Flow)   {}

func (e *edgeSink) Counter(c *Counter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := edgeKey{c.Process, c.Name}
	old, ok := e.last[key]
	if c.Time > e.before {
		return
	}
	if ok && old.Time > c.Time {
		return
	}
	if !ok {
		e.order = append(e.order, key)
	}
	own := *c
	own.Values = append([]Arg(nil), c.Values...)
	e.last[key] = &own
}

// edgeSection holds the counters at a window's edge.
type edgeSection []Counter

func (s edgeSection) Len() int { return len(s) }

func (s edgeSection) Walk(from, to int, sink Sink) {
	for i := from; i < to; i++ {
		c := s[i]
		sink.Counter(&c)
	}
}
