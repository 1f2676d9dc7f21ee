package draw

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"swimlane/internal/jsonscan"
	"swimlane/timeline"
	"swimlane/trace"
)

// lossBar marks where records of a lane are missing.
type lossBar struct {
	lane       int32
	start, end int64 // ns
	n          int64 // 0: not counted
	placed     bool
	kind       timeline.LossKind
}

// lossKey is a lane that lost records.
type lossKey struct {
	kind timeline.LossKind
	lane int32 // core id, stream or orchestrator lane
}

// losses are the marks of a picture. They lie on lanes of their own, NAME (lost),
// behind the sub-lanes of the lane that lost records, so that they neither hide
// bars nor take arrows.
type losses struct {
	on   map[lossKey][]lossBar
	bars []lossBar // with their lanes
}

// lossWords say what is missing, for one of it.
var lossWords = [...]string{
	timeline.LostKernel: "kernel row",
	timeline.LostTiming: "scheduler row",
	timeline.LostPhase:  "phase record",
	timeline.LostSubmit: "submit record",
}

// collectLosses turns what the timeline knows into bars that do not overlap.
func (d *drawing) collectLosses() {
	l := &d.losses
	l.on = map[lossKey][]lossBar{}
	for _, x := range d.t.Losses {
		b := lossBar{n: x.N, placed: x.Placed, kind: x.Kind, start: d.t.Clock.Ns(x.From), end: d.t.Clock.Ns(x.To)}
		if x.Kind == timeline.LostSubmit && d.t.HostMode() {
			b.start, b.end = d.t.Host.Ns(x.From), d.t.Host.Ns(x.To)
		}
		b.end = max(b.end, b.start+shortestMark)
		key := lossKey{x.Kind, x.Lane}
		l.on[key] = append(l.on[key], b)
	}
	for key, bars := range l.on {
		l.on[key] = mergeLosses(bars)
	}
}

// mergeLosses joins bars that overlap. One whose place is not known lies around
// the others.
func mergeLosses(bars []lossBar) []lossBar {
	slices.SortFunc(bars, func(a, b lossBar) int {
		if a.placed != b.placed {
			if a.placed {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	out := bars[:0]
	for _, b := range bars {
		if k := len(out) - 1; k >= 0 && out[k].placed == b.placed && b.start < out[k].end {
			out[k].end = max(out[k].end, b.end)
			if out[k].n += b.n; out[k].n < 0 { // counts come from a file
				out[k].n = math.MaxInt64
			}
			continue
		}
		out = append(out, b)
	}
	if !out[0].placed {
		for _, b := range out[1:] {
			out[0].start, out[0].end = min(out[0].start, b.start), max(out[0].end, b.end)
		}
	}
	return out
}

// lost reports whether a lane has marks.
func (d *drawing) lost(kind timeline.LossKind, lane int32) bool {
	return len(d.losses.on[lossKey{kind, lane}]) > 0
}

// markLosses puts the marks of a lane on the lane made for them.
func (d *drawing) markLosses(kind timeline.LossKind, of, lane int32) {
	for _, b := range d.losses.on[lossKey{kind, of}] {
		b.lane = lane
		d.losses.bars = append(d.losses.bars, b)
	}
	d.pic.Report.LossLanes++
}

// lostCores are the cores that lost rows, by ascending id.
func (d *drawing) lostCores(kind timeline.LossKind) []int32 {
	var out []int32
	for key := range d.losses.on {
		if key.kind == kind {
			out = append(out, key.lane)
		}
	}
	slices.Sort(out)
	return out
}

// markCores marks the cores of a view, whose groups have the core id as their place.
func (d *drawing) markCores(kind timeline.LossKind, groups []group) {
	for _, g := range groups {
		if g.lost {
			d.markLosses(kind, int32(g.at), g.lossLane)
		}
	}
}

type lossSection struct{ *drawing }

func (s lossSection) Len() int { return len(s.losses.bars) }

func (s lossSection) Walk(from, to int, sink trace.Sink) {
	for _, b := range s.losses.bars[from:to] {
		what, place := lossWords[b.kind], "known"
		if b.n != 1 {
			what += "s"
		}
		args := []trace.Arg{{Key: "lost", Kind: trace.Int, Num: uint64(b.n)}}
		name := strconv.AppendInt(nil, b.n, 10)
		if b.n == 0 {
			args[0].Kind = trace.Null
			name = append(name[:0], "some"...)
		}
		name = fmt.Appendf(name, " %s lost", what)
		if !b.placed {
			place = "unknown"
			name = append(name, " somewhere here"...)
		}
		args = append(args, trace.Arg{Key: "place", Kind: trace.Text, Text: []byte(place)})
		sink.Slice(&trace.Slice{
			Lane: b.lane, Start: b.start, End: b.end, ID: trace.NoID, Name: name, Category: "loss", Color: "black", Args: args,
		})
	}
}

// recordsLost is what the capture says it lost and what found no partner, by
// kind, as an object; nil if that is nothing.
func (d *drawing) recordsLost() []byte {
	loss := &d.t.Rec.Loss
	var b []byte
	add := func(what string, n int64) {
		key := append(jsonscan.AppendString(nil, what), ':')
		if n <= 0 || bytes.Contains(b, key) { // names of kinds come from a file
			return
		}
		if b = append(b, ','); len(b) == 1 {
			b[0] = '{'
		}
		b = strconv.AppendInt(append(b, key...), n, 10)
	}
	phases := false
	for _, k := range loss.Kinds {
		add(k.Kind, k.N)
		phases = phases || k.Kind == "SCHED_PHASE"
	}
	if !phases { // the collector counts those of the streams too
		add("SCHED_PHASE", loss.Streams)
	}
	add("host_submits", loss.Host)
	add("submits_missing_in_their_numbers", d.t.SubmitGaps())
	add("scheduler_rows_without_kernel_row", d.t.Unmatched)
	add("kernel_rows_without_scheduler_row", d.t.Untimed)
	if b == nil {
		return nil
	}
	return append(b, '}')
}
