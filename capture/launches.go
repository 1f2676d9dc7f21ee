package capture

import (
	"math"
	"sort"

	"swimlane/internal/jsonscan"
)

// Launch is one kernel launch of a window that holds several (spec/newest.md
// §8). Ids and tokens start again with every launch: each is a run of its own,
// Records.Runs[i] being the one of Launches[i].
type Launch struct {
	Epoch uint64
	Start uint64 // cycles; a device record belongs to the last launch that starts at or before it
}

// boundaries are metadata.run_boundaries while they are being read.
type boundaries struct {
	set     bool
	fault   string // the first rule that is broken
	list    []Launch
	dropped int64
}

const (
	badBoundaryList  = "metadata.run_boundaries must be an array"
	badBoundaryPair  = "metadata.run_boundaries must contain [epoch, start_cycles] integer pairs"
	badBoundaryOrder = "metadata.run_boundaries epochs and positive start_cycles must strictly increase"
	badBoundaryLoss  = "dropped_run_boundaries is nonzero; capture fewer launches per profiling window"
	badBoundaryFirst = "device record precedes metadata.run_boundaries"
)

func (d *reader) runBoundaries() {
	s, b := d.s, &d.bounds
	b.set = true
	if s.Peek() != jsonscan.Array {
		b.fault = badBoundaryList
		s.Skip()
		return
	}
	s.BeginArray()
	for s.Elem() {
		pair, ok := d.boundary()
		switch {
		case b.fault != "":
		case !ok:
			b.fault = badBoundaryPair
		case pair[0].Neg || pair[1].Neg || pair[1].Mag == 0:
			b.fault = badBoundaryOrder
		default:
			l := Launch{pair[0].Mag, pair[1].Mag}
			if n := len(b.list); n > 0 && (l.Epoch <= b.list[n-1].Epoch || l.Start <= b.list[n-1].Start) {
				b.fault = badBoundaryOrder
			}
			b.list = append(b.list, l)
		}
	}
}

// boundary reads one pair of integers; anything else is passed over.
func (d *reader) boundary() (pair [2]jsonscan.Int, ok bool) {
	s := d.s
	if s.Peek() != jsonscan.Array {
		s.Skip()
		return pair, false
	}
	n, ok := 0, true
	s.BeginArray()
	for ; s.Elem(); n++ {
		v, integer := s.TryInt()
		if !integer {
			s.Skip()
			ok = false
		}
		if n < 2 {
			pair[n] = v
		}
	}
	return pair, ok && n == 2
}

// settleLaunches gives every device record its launch.
func (d *reader) settleLaunches() {
	b, out := &d.bounds, d.out
	if !b.set {
		return
	}
	fault := func(text string) { d.bad(stepRuntime, "metadata", -1, "", "%s", text) }
	switch {
	case b.fault == badBoundaryList:
		fault(b.fault)
		return
	case b.dropped != 0:
		fault(badBoundaryLoss)
		return
	case b.fault != "":
		fault(b.fault)
		return
	case len(b.list) == 0 || len(b.list) > math.MaxInt32:
		return // nothing to split
	}
	out.Launches = b.list
	out.Runs = nil
	for _, l := range b.list {
		out.Runs = append(out.Runs, Run{Epoch: l.Epoch, Known: true})
	}
	early := false
	column := func(at []uint64) []int32 {
		run := make([]int32, len(at))
		for i, c := range at {
			run[i] = b.at(c)
			early = early || run[i] < 0
		}
		if len(out.Runs) == 1 {
			return nil
		}
		return run
	}
	out.Tasks.Run = column(out.Tasks.Start)
	out.Sched.Run = column(out.Sched.Dispatch)
	for i := range out.Streams {
		out.Streams[i].Phases.Run = column(out.Streams[i].Phases.Start)
	}
	for i := range out.DeviceOrc {
		out.DeviceOrc[i].Run = column(out.DeviceOrc[i].Start)
	}
	for i := range out.Lifecycle {
		l := &out.Lifecycle[i]
		if first := l.first(); first > 0 {
			l.Run = b.at(first)
			early = early || l.Run < 0
		}
	}
	if early {
		// Rows with a time of 0 break another rule, which is the better message.
		if d.errs[stepTasks] == nil && d.schedSigned.found == "" {
			fault(badBoundaryFirst)
		}
		out.Launches = nil
		out.Runs = []Run{{}}
		out.Tasks.Run, out.Sched.Run = nil, nil
	}
}

// at is the last launch that starts at or before cycle c, −1 if none does.
func (b *boundaries) at(c uint64) int32 {
	return int32(sort.Search(len(b.list), func(i int) bool { return b.list[i].Start > c })) - 1
}

// first is the smallest time of a life-cycle record, 0 if nothing happened.
func (l *Lifecycle) first() uint64 {
	var first uint64
	for _, span := range l.Span {
		for _, c := range span {
			if c > 0 && (first == 0 || c < first) {
				first = c
			}
		}
	}
	return first
}
