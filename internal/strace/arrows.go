package strace

import (
	"cmp"
	"slices"
	"strconv"

	"swimlane/internal/hostlog"
	"swimlane/trace"
)

// flows are the arrows from submits to dispatches, by the starts of the dispatches.
type flows struct {
	list []arrow
	keys map[int32]string // dispatch_key of each dispatch, by its place in spans
}

type arrow struct{ from, to trace.Point }

// taskKey is what a submit and its dispatches have in common.
type taskKey struct {
	pid       int
	run, slot string
}

// taskOf reads the key, if the span has one.
func taskOf(s *hostlog.Span) (k taskKey, ok bool) {
	run, ok := s.Attr("run_id")
	if !ok {
		return k, false
	}
	slot, ok := s.Attr("task_slot")
	if !ok {
		slot, ok = s.Attr("slot")
	}
	return taskKey{s.PID, plain(run), plain(slot)}, ok
}

// plain is a value as text, an integer in its shortest form.
func plain(v hostlog.Value) string {
	if digits, ok := v.Integer(); ok {
		return digits
	}
	return v.Text()
}

// attr is an attribute as text, or otherwise.
func attr(s *hostlog.Span, key, otherwise string) string {
	if v, ok := s.Attr(key); ok {
		return plain(v)
	}
	return otherwise
}

// newFlows finds the arrows. Spans are sorted by their starts.
func newFlows(spans []*hostlog.Span, lanes []int32, n int) *flows {
	out := &flows{keys: map[int32]string{}}
	submits := map[taskKey][]int32{}
	for i, s := range spans {
		if s.Leaf() == "submit" {
			if key, ok := taskOf(s); ok {
				submits[key] = append(submits[key], int32(i))
			}
		}
	}
	if len(submits) == 0 {
		return out
	}
	next := following(spans, lanes, n)
	for i, s := range spans {
		if s.Leaf() != "dispatch" {
			continue
		}
		key, ok := taskOf(s)
		if !ok {
			continue
		}
		list := submits[key]
		at, _ := slices.BinarySearchFunc(list, s.TS, func(k int32, ts int64) int {
			if spans[k].TS <= ts {
				return -1
			}
			return 1
		})
		if at == 0 {
			continue
		}
		from := list[at-1]
		// Inside the submit, and before anything else begins on its lane: there a viewer
		// looks for the bar that an arrow leaves.
		leave := min(max(spans[from].End()-1, spans[from].TS), s.TS, max(next[from]-1, spans[from].TS))
		out.list = append(out.list, arrow{
			trace.Point{Lane: lanes[from], Time: leave, Bind: trace.NoID},
			trace.Point{Lane: lanes[i], Time: s.TS, Bind: trace.NoID},
		})
		out.keys[int32(i)] = "dispatch:" + strconv.Itoa(s.PID) + ":" + key.run + ":" + key.slot + ":" +
			attr(s, "group_index", "-1") + ":" + attr(s, "worker_id", "-1") + ":" + attr(s, "dispatch_id", "0")
	}
	return out
}

// following is for each span when the next one begins on its lane, by the order in
// which a viewer takes them.
func following(spans []*hostlog.Span, lanes []int32, n int) []int64 {
	const never = 1<<63 - 1
	order := make([]int32, len(spans))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(lanes[a], lanes[b]), byImport(spans[a], spans[b]))
	})
	out := make([]int64, len(spans))
	for k, i := range order {
		out[i] = never
		if k+1 < len(order) && lanes[order[k+1]] == lanes[i] {
			out[i] = spans[order[k+1]].TS
		}
	}
	return out
}

func (f *flows) Len() int { return len(f.list) }

func (f *flows) Walk(from, to int, sink trace.Sink) {
	for i := from; i < to; i++ {
		sink.Flow(&trace.Flow{ID: int64(i + 1), Name: "task dispatch", Category: "host.scheduler", From: f.list[i].from, To: f.list[i].to})
	}
}
