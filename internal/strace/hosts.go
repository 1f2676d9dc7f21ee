package strace

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"swimlane/internal/hostlog"
	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// Hosts is the picture of the hosts' threads on their common clock
// (spec/host-log.md §6.5).
type Hosts struct {
	Picture *trace.Picture
	Host    int // spans of the log on the host's clock, all of them drawn
	Device  int // spans of the device, which stand beside the picture
}

// HostsPicture makes the picture of all spans of the log and of further steps.
func (l *Log) HostsPicture(phases *Phases) *Hosts {
	var host, device []*hostlog.Span
	for s := range l.Spans() {
		if s.Device() {
			device = append(device, s)
		} else {
			host = append(host, s)
		}
	}
	out := &Hosts{Host: len(host), Device: len(device)}
	host = append(host, phases.Spans...)
	slots := hostlog.SlotsOf(host)
	slices.SortStableFunc(host, func(a, b *hostlog.Span) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(device, func(a, b *hostlog.Span) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Inv, b.Inv), cmp.Compare(a.TS, b.TS), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Name, b.Name))
	})
	p := &trace.Picture{Unsorted: true, Document: []trace.Field{unit, {Key: "unalignedDeviceSpans", List: unaligned(device)}}}
	p.Document = append(p.Document, l.anchors()...)
	out.Picture = p
	lanes := layOut(p, host, device, slots)
	flows := newFlows(host, lanes, len(p.Lanes))
	p.Sections = []trace.Section{&hostBars{l, host, lanes, flows.keys}, flows}
	return out
}

// unaligned are the spans of the device as JSON.
func unaligned(spans []*hostlog.Span) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var b []byte
		var a args
		for _, s := range spans {
			b = jsonscan.AppendString(append(b[:0], `{"name":`...), s.Name)
			for _, n := range []struct {
				key   string
				value int64
			}{{"ts_ns", s.TS}, {"dur_ns", s.Dur}, {"pid", int64(s.PID)}, {"tid", s.TID}} {
				b = fmt.Appendf(b, `,"%s":%d`, n.key, n.value)
			}
			b = strconv.AppendUint(append(b, `,"inv":`...), s.Inv, 10)
			b = jsonscan.AppendString(append(b, `,"hid":`...), s.HID)
			b = strconv.AppendInt(append(b, `,"depth":`...), int64(s.Depth), 10)
			b = appendAttrs(append(b, `,"attrs":`...), &a, s)
			if b = append(b, '}'); !yield(b) {
				return
			}
		}
	}
}

// hostBars are the bars of the hosts' threads, by their starts.
type hostBars struct {
	log   *Log
	spans []*hostlog.Span
	lanes []int32
	keys  map[int32]string // of the dispatches that arrows lead to
}

func (h *hostBars) Len() int { return len(h.spans) }

func (h *hostBars) Walk(from, to int, sink trace.Sink) {
	var a args
	for i := from; i < to; i++ {
		s := h.spans[i]
		a.reset()
		a.span(s)
		a.put(trace.Arg{Key: "os_tid", Kind: trace.Int, Num: uint64(s.TID)})
		a.attributes(s)
		a.wall(h.log, s)
		if key, ok := h.keys[int32(i)]; ok {
			a.text("dispatch_key", key)
		}
		sink.Slice(&trace.Slice{Lane: h.lanes[i], Start: s.TS, End: s.End(), ID: trace.NoID, Name: []byte(s.Name), Args: a.list, Foreign: true})
	}
}
