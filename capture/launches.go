package capture

import (
	"fmt"
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
	found   string // what breaks it
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
		b.fault, b.found = badBoundaryList, s.Peek().String()
		s.Skip()
		return
	}
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		at := s.Offset()
		pair, ok := d.boundary()
		if b.fault != "" {
			continue
		}
		if !ok {
			b.fault, b.found = badBoundaryPair, fmt.Sprintf("another value for run_boundaries[%d], byte %d", i, at)
			continue
		}
		l := Launch{pair[0].Mag, pair[1].Mag}
		var after string
		wrong := pair[0].Neg || pair[1].Neg || l.Start == 0
		if i > 0 {
			last := b.list[i-1]
			wrong = wrong || l.Epoch <= last.Epoch || l.Start <= last.Start
			after = fmt.Sprintf(" after [%d, %d]", last.Epoch, last.Start)
		}
		if wrong {
			b.fault, b.found = badBoundaryOrder, fmt.Sprintf("[%s, %s]%s for run_boundaries[%d], byte %d", pair[0], pair[1], after, i, at)
			continue
		}
		b.list = append(b.list, l)
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
	fault := func(text, found string) { d.bad(stepRuntime, "metadata", -1, found, "%s", text) }
	switch {
	case b.fault == badBoundaryList:
		fault(b.fault, b.found)
		return
	case b.dropped != 0:
		fault(badBoundaryLoss, fmt.Sprint(b.dropped))
		return
	case b.fault != "":
		fault(b.fault, b.found)
		return
	case len(b.list) == 0 || len(b.list) > math.MaxInt32:
		return // nothing to split
	}
	if n := len(d.runs.epochs); n > 0 {
		d.warn("launches-over-runs", int64(n), "%s tells %d kernel launches apart and names %d run(s) in its records; the launches count", d.file, len(b.list), n)
		out.RunsReplaced = true
	}
	out.Dialect.Label += ", with several kernel launches"
	out.Launches = b.list
	out.Runs = nil
	for _, l := range b.list {
		out.Runs = append(out.Runs, Run{Epoch: l.Epoch, Known: true})
	}
	early := "" // the first record before the first launch
	launch := func(c uint64, where string, row int) int32 {
		run := b.at(c)
		if run < 0 && early == "" {
			early = fmt.Sprintf("%s at %d, the first launch at %d", fmt.Sprintf(where, row), c, b.list[0].Start)
		}
		return run
	}
	column := func(at []uint64, where string) []int32 {
		run := make([]int32, len(at))
		for i, c := range at {
			run[i] = launch(c, where, i)
		}
		if len(out.Runs) == 1 {
			return nil
		}
		return run
	}
	out.Tasks.Run = column(out.Tasks.Start, "aicore_tasks[%d]")
	sched := "scheduler_tasks.records[%d]"
	if d.keys["aicpu_tasks"] {
		sched = "aicpu_tasks[%d]"
	}
	out.Sched.Run = column(out.Sched.Dispatch, sched)
	for i := range out.Streams {
		of := fmt.Sprintf("record %%d of scheduler stream %d", i)
		if id := out.Streams[i].SchedulerID; id.Set { // streams with ids may stand elsewhere than in the file
			of = fmt.Sprintf("record %%d of scheduler %d", id.V)
		}
		out.Streams[i].Phases.Run = column(out.Streams[i].Phases.Start, of)
	}
	for i := range out.DeviceOrc {
		out.DeviceOrc[i].Run = column(out.DeviceOrc[i].Start, fmt.Sprintf("aicpu_orchestrator_phases[%d][%%d]", i))
	}
	for i := range out.Lifecycle {
		l := &out.Lifecycle[i]
		if first := l.first(); first > 0 {
			l.Run = launch(first, "aicpu_lifecycle_records[%d]", i)
		}
	}
	if early != "" {
		// Rows with a time of 0 break another rule, which is the better message.
		if d.errs[stepTasks] == nil && d.schedSigned.found == "" {
			fault(badBoundaryFirst, early)
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
