package ranks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"swimlane/internal/hostlog"
)

// dispatcher is a process beside the chips, with the spans that are drawn of it.
type dispatcher struct {
	pid   int
	label string
	lanes []hostLane
	on    []int // lane of each span
	spans []*hostlog.Span
}

// hostLane is a thread, or the part of one that served one pipeline slot.
type hostLane struct {
	tid  int64
	name string
}

// dispatchersOf sorts spans by process and finds the lanes of each (spec/host-log.md §6.5).
func dispatchersOf(spans []*hostlog.Span) []dispatcher {
	of := map[int][]*hostlog.Span{}
	largest := int64(0)
	for _, s := range spans {
		of[s.PID] = append(of[s.PID], s)
		largest = max(largest, s.TID)
	}
	next := largest + 1 // numbers for parts of threads
	var out []dispatcher
	for _, pid := range slices.Sorted(maps.Keys(of)) {
		d := dispatcher{pid: pid, label: label(pid, of[pid]), spans: of[pid]}
		next = d.layOut(next)
		out = append(out, d)
	}
	return out
}

// label names a process by the families of its spans.
func label(pid int, spans []*hostlog.Span) string {
	foreign := true
	producers := map[string]bool{}
	for _, s := range spans {
		switch s.Family() {
		case hostlog.Node:
			return fmt.Sprintf("simpler node (pid=%d)", pid)
		case hostlog.External:
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

// layOut finds the lane of every span. next is the first number that no thread has;
// it returns the one behind those that it used.
func (d *dispatcher) layOut(next int64) int64 {
	slot := map[uint64]int64{} // of an invocation
	threads := map[int64][]*hostlog.Span{}
	for _, s := range d.spans {
		threads[s.TID] = append(threads[s.TID], s)
		if s.Family() != hostlog.External {
			if v, ok := s.Attr("slot_id"); ok {
				if n, ok := v.Int(); ok {
					slot[s.Inv] = n
				}
			}
		}
	}
	type part struct {
		tid  int64
		slot int64 // −1: what is of no slot
	}
	number := map[part]int64{}
	on := map[int64][]*hostlog.Span{}
	split := map[int64]bool{}
	for _, tid := range slices.Sorted(maps.Keys(threads)) {
		slots := splitThread(threads[tid], slot)
		split[tid] = slots != nil
		for _, n := range slots {
			number[part{tid, n}] = next
			d.lanes = append(d.lanes, hostLane{next, fmt.Sprintf("pipeline slot %d (tid %d)", n, tid)})
			next++
		}
	}
	where := make([]int64, len(d.spans))
	for i, s := range d.spans {
		where[i] = s.TID
		if split[s.TID] && s.Family() != hostlog.External {
			where[i] = number[part{s.TID, slot[s.Inv]}]
			continue
		}
		on[s.TID] = append(on[s.TID], s)
	}
	for tid, spans := range on {
		d.lanes = append(d.lanes, hostLane{tid, laneName(tid, spans)})
	}
	slices.SortFunc(d.lanes, func(a, b hostLane) int { return cmp.Compare(a.tid, b.tid) })
	for _, tid := range where {
		d.on = append(d.on, slices.IndexFunc(d.lanes, func(l hostLane) bool { return l.tid == tid }))
	}
	return next
}

// splitThread returns the pipeline slots that a thread served side by side,
// ascending, nil if its spans belong on one lane.
func splitThread(spans []*hostlog.Span, slotOf map[uint64]int64) []int64 {
	var roots []*hostlog.Span
	bySlot := map[int64][]*hostlog.Span{}
	for _, s := range spans {
		if s.Family() == hostlog.External {
			continue
		}
		n, ok := slotOf[s.Inv]
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
	if len(bySlot) < 2 || !overlap(roots) {
		return nil
	}
	for _, of := range bySlot {
		if overlap(of) {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(bySlot))
}

// overlap reports whether some span ends behind the start of the next one.
func overlap(spans []*hostlog.Span) bool {
	spans = slices.SortedStableFunc(slices.Values(spans), func(a, b *hostlog.Span) int { return cmp.Compare(a.TS, b.TS) })
	for i := 1; i < len(spans); i++ {
		if spans[i-1].End() > spans[i].TS {
			return true
		}
	}
	return false
}

// laneName names a thread by what its spans say.
func laneName(tid int64, spans []*hostlog.Span) string {
	phase, roles, workers := map[string]bool{}, map[string]bool{}, map[string]bool{}
	chip, foreign, unnamed := false, true, false
	producers := map[string]bool{}
	for _, s := range spans {
		phase[text(s, "host_phase_thread")] = true
		family := s.Family()
		chip = chip || family == hostlog.Chip
		if family == hostlog.External {
			if p := s.Producer(); p != "" {
				producers[p] = true
			}
			continue
		}
		foreign = false
		role := text(s, "role")
		if leaf := s.Leaf(); role == "facade" || leaf == "graph_build" || leaf == "submit" {
			roles["facade"] = true
		} else if role == "scheduler" || role == "worker" {
			roles[role] = true
		} else if family == hostlog.Node {
			roles["worker"] = true
		}
		if role == "worker" {
			id := text(s, "worker_id")
			workers[id] = true
			unnamed = unnamed || id == ""
		}
	}
	switch {
	case phase["graph_record_worker"]:
		return "graph record worker"
	case phase["graph_submit_main"]:
		return "graph submit main"
	case roles["facade"]:
		return "orchestrator / facade"
	case roles["scheduler"]:
		return "scheduler"
	case roles["worker"]:
		if len(workers) == 1 && !unnamed {
			return "worker " + joined(workers)
		}
		return "worker"
	case chip:
		return "chip child"
	case foreign && len(producers) > 0:
		return "ext " + joined(producers)
	}
	return "tid " + strconv.FormatInt(tid, 10)
}

// text is an attribute as text, "" if it is not there.
func text(s *hostlog.Span, key string) string {
	v, ok := s.Attr(key)
	if !ok {
		return ""
	}
	if n, ok := v.Integer(); ok {
		return n
	}
	return v.Text()
}
