package strace

import (
	"fmt"

	"swimlane/internal/hostlog"
	"swimlane/trace"
)

// Lanes of a run, by their thread ids. 0 would be read as the process's own number
// (decision D13). What overlaps gets further lanes behind these.
const (
	hostTID   = 1
	deviceTID = 2
)

// RunsPicture is the picture of runs: one process each, with a lane of the host
// and one of the device, whose clocks have nothing in common (spec/host-log.md §6.4).
// It also returns the number of bars.
func (l *Log) RunsPicture(runs []hostlog.Invocation) (*trace.Picture, int) {
	p := &trace.Picture{Unsorted: true, Document: append([]trace.Field{unit}, l.anchors()...)}
	labels := map[string]string{}
	for i, b := range ranked(runs) {
		labels[b.HID] = label(i, &b)
	}
	bars := &runBars{log: l}
	for i := range runs {
		v := &runs[i]
		p.Processes = append(p.Processes, trace.Process{PID: uint32(i + 1), Name: fmt.Sprintf("%s inv=%d (pid=%d)", labels[v.HID], v.Inv, v.PID)})
		bars.add(p, v)
	}
	p.Sections = []trace.Section{bars}
	return p, bars.Len()
}

// runBars are the bars of runs, run after run, in the order of the input.
type runBars struct {
	log   *Log
	spans []*hostlog.Span
	lanes []int32
}

// add gives the spans of a run lanes of the picture's last process.
func (r *runBars) add(p *trace.Picture, v *hostlog.Invocation) {
	var parts [2][]*hostlog.Span // of the host, of the device
	for _, s := range v.Spans {
		parts[clock(s)] = append(parts[clock(s)], s)
	}
	lane := func(tid uint32, name string) int32 {
		p.Lanes = append(p.Lanes, trace.Lane{Process: len(p.Processes) - 1, TID: tid, Name: name})
		return int32(len(p.Lanes) - 1)
	}
	names := [2]string{"host", "device (clk=dev)"}
	var row [2][]int
	var lanes [2][]int32
	for c, tid := range []uint32{hostTID, deviceTID} {
		lanes[c] = []int32{lane(tid, names[c])}
	}
	next := uint32(deviceTID)
	for c := range parts {
		var n int
		row[c], n = rows(parts[c])
		for k := 1; k < n; k++ {
			next++
			lanes[c] = append(lanes[c], lane(next, fmt.Sprintf("%s (%d)", names[c], k+1)))
		}
	}
	var at [2]int
	for _, s := range v.Spans {
		c := clock(s)
		r.spans = append(r.spans, s)
		r.lanes = append(r.lanes, lanes[c][row[c][at[c]]])
		at[c]++
	}
}

// clock is 0 for spans on the host's clock and 1 for those on the device's.
func clock(s *hostlog.Span) int {
	if s.Device() {
		return 1
	}
	return 0
}

func (r *runBars) Len() int { return len(r.spans) }

func (r *runBars) Walk(from, to int, sink trace.Sink) {
	var a args
	for i := from; i < to; i++ {
		s := r.spans[i]
		a.reset()
		a.span(s)
		a.wall(r.log, s)
		sink.Slice(&trace.Slice{Lane: r.lanes[i], Start: s.TS, End: s.End(), ID: trace.NoID, Name: []byte(s.Name), Args: a.list})
	}
}
