package hostlog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// How processes and threads are shown, whoever draws them (spec/host-log.md §6.5).

// ProcessName names a process by the families of its spans.
func ProcessName(pid int, spans []*Span) string {
	foreign := true
	producers := map[string]bool{}
	for _, s := range spans {
		switch s.Family() {
		case Node:
			return fmt.Sprintf("simpler node (pid=%d)", pid)
		case External:
			if p := s.Producer(); p != "" {
				producers[p] = true
			}
		default:
			foreign = false
		}
	}
	switch {
	case !foreign:
		return fmt.Sprintf("simpler chip child (pid=%d)", pid)
	case len(producers) == 0:
		return fmt.Sprintf("external producer unattributed (pid=%d)", pid)
	}
	return fmt.Sprintf("external producer %s (pid=%d)", joined(producers), pid)
}

func joined(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), "/")
}

// Slots are the slots of the pipeline that invocations were in.
type Slots map[slotKey]int64

type slotKey struct {
	pid int
	inv uint64
}

// SlotsOf finds them: of the spans of an invocation the last in the order of the
// input counts.
func SlotsOf(spans []*Span) Slots {
	out := Slots{}
	for _, s := range spans {
		if s.Family() == External {
			continue
		}
		if v, ok := s.Attr("slot_id"); ok {
			if n, ok := v.Int(); ok {
				out[slotKey{s.PID, s.Inv}] = n
			}
		}
	}
	return out
}

// Of is the slot of a span's invocation.
func (s Slots) Of(x *Span) (slot int64, ok bool) {
	slot, ok = s[slotKey{x.PID, x.Inv}]
	return slot, ok
}

// PipelineSlots are the slots that a thread served side by side, ascending, nil if its
// spans belong on one lane: runs of several slots overlap on it, and those of each do
// not. External spans stay on the thread's own lane.
func PipelineSlots(spans []*Span, slots Slots) []int64 {
	var roots []*Span
	bySlot := map[int64][]*Span{}
	for _, s := range spans {
		if s.Family() == External {
			continue
		}
		n, ok := slots.Of(s)
		if !ok {
			return nil
		}
		of := bySlot[n]
		if s.Depth == 0 {
			of = append(of, s)
			roots = append(roots, s)
		}
		bySlot[n] = of // a slot counts without roots, too
	}
	if len(bySlot) < 2 || !overlapping(roots) {
		return nil
	}
	for _, of := range bySlot {
		if overlapping(of) {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(bySlot))
}

// overlapping reports whether some span ends behind the start of the next one.
func overlapping(spans []*Span) bool {
	spans = slices.SortedStableFunc(slices.Values(spans), func(a, b *Span) int { return cmp.Compare(a.TS, b.TS) })
	for i := 1; i < len(spans); i++ {
		if spans[i-1].End() > spans[i].TS {
			return true
		}
	}
	return false
}

// ThreadName names a thread by what its spans say.
func ThreadName(tid int64, spans []*Span) string {
	var recorder, submitter, facade, scheduler, worker, chip, ours bool
	workers, producers := map[string]bool{}, map[string]bool{}
	for _, s := range spans {
		switch attrWord(s, "host_phase_thread") {
		case "graph_record_worker":
			recorder = true
		case "graph_submit_main":
			submitter = true
		}
		family := s.Family()
		if family == External {
			if p := s.Producer(); p != "" {
				producers[p] = true
			}
			continue
		}
		ours = true
		chip = chip || family == Chip
		leaf := s.Leaf()
		switch role := attrWord(s, "role"); {
		case role == "facade" || leaf == "graph_build" || leaf == "submit":
			facade = true
		case role == "scheduler":
			scheduler = true
		case role == "worker":
			worker = true
			workers[attrWord(s, "worker_id")] = true
		case family == Node:
			worker = true
		}
	}
	switch {
	case recorder:
		return "graph record worker"
	case submitter:
		return "graph submit main"
	case facade:
		return "orchestrator / facade"
	case scheduler:
		return "scheduler"
	case worker:
		if id := joined(workers); len(workers) == 1 && id != "" {
			return "worker " + id
		}
		return "worker"
	case chip:
		return "chip child"
	case !ours && len(producers) > 0:
		return "ext " + joined(producers)
	}
	return "tid " + strconv.FormatInt(tid, 10)
}

// attrWord is an attribute as text, "" if it is not there.
func attrWord(s *Span, key string) string {
	v, ok := s.Attr(key)
	if !ok {
		return ""
	}
	if n, ok := v.Integer(); ok {
		return n
	}
	return v.Text()
}
