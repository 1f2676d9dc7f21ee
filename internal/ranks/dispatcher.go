package ranks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
		d := dispatcher{pid: pid, label: hostlog.ProcessName(pid, of[pid]), spans: of[pid]}
		next = d.layOut(next)
		out = append(out, d)
	}
	return out
}

// layOut finds the lane of every span. next is the first number that no thread has;
// it returns the one behind those that it used.
func (d *dispatcher) layOut(next int64) int64 {
	slotOf := hostlog.SlotsOf(d.spans)
	threads := map[int64][]*hostlog.Span{}
	for _, s := range d.spans {
		threads[s.TID] = append(threads[s.TID], s)
	}
	type part struct {
		tid  int64
		slot int64 // −1: what is of no slot
	}
	number := map[part]int64{}
	on := map[int64][]*hostlog.Span{}
	split := map[int64]bool{}
	for _, tid := range slices.Sorted(maps.Keys(threads)) {
		slots := hostlog.PipelineSlots(threads[tid], slotOf)
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
			slot, _ := slotOf.Of(s)
			where[i] = number[part{s.TID, slot}]
			continue
		}
		on[s.TID] = append(on[s.TID], s)
	}
	for tid, spans := range on {
		d.lanes = append(d.lanes, hostLane{tid, hostlog.ThreadName(tid, spans)})
	}
	slices.SortFunc(d.lanes, func(a, b hostLane) int { return cmp.Compare(a.tid, b.tid) })
	for _, tid := range where {
		d.on = append(d.on, slices.IndexFunc(d.lanes, func(l hostLane) bool { return l.tid == tid }))
	}
	return next
}
