package strace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"swimlane/internal/hostlog"
	"swimlane/trace"
)

// thread is a thread of a process.
type thread struct {
	pid int
	tid int64
}

// layOut makes processes and lanes, and returns the lane of each span of the host.
func layOut(p *trace.Picture, host, device []*hostlog.Span, slots hostlog.Slots) []int32 {
	threads := map[thread][]int32{}
	for i, s := range host {
		k := thread{s.PID, s.TID}
		threads[k] = append(threads[k], int32(i))
	}
	order := slices.SortedFunc(maps.Keys(threads), func(a, b thread) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid))
	})
	processes := layOutProcesses(p, host, device)

	tids := newNumbers()
	for _, t := range order {
		tids.use(t.tid)
	}
	type lane struct {
		trace.Lane
		spans []int32
	}
	var all []lane
	add := func(t thread, tid uint32, name string, spans []int32) {
		all = append(all, lane{trace.Lane{Process: processes[t.pid], TID: tid, Name: name}, spans})
	}
	for _, t := range order {
		spans := threads[t]
		rest := spans
		for _, part := range split(host, spans, slots) {
			if part.external {
				rest = part.spans
				continue
			}
			rest = nil
			add(t, tids.next(), fmt.Sprintf("pipeline slot %d (tid %d)", part.slot, t.tid), part.spans)
		}
		if len(rest) > 0 {
			add(t, tids.fit(t.tid), laneName(host, rest, t.tid), rest)
		}
	}
	// What overlaps on a thread without nesting gets lanes of its own, as it would be
	// lost in a viewer: none of the rules above says where.
	for i, l := range all[:len(all):len(all)] {
		parts := apart(host, l.spans)
		all[i].spans = parts[0]
		for k, spans := range parts[1:] {
			further := lane{l.Lane, spans}
			further.TID, further.Name = tids.next(), fmt.Sprintf("%s (%d)", l.Name, k+2)
			all = append(all, further)
		}
	}
	slices.SortStableFunc(all, func(a, b lane) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.TID, b.TID))
	})
	out := make([]int32, len(host))
	for i, l := range all {
		p.Lanes = append(p.Lanes, l.Lane)
		for _, s := range l.spans {
			out[s] = int32(i)
		}
	}
	return out
}

// apart are the spans of a lane by the rows on which they nest.
func apart(host []*hostlog.Span, spans []int32) [][]int32 {
	row, n := rows(listed(host, spans))
	out := make([][]int32, n)
	for i, s := range spans {
		out[row[i]] = append(out[row[i]], s)
	}
	return out
}

// layOutProcesses makes a process for each pid with spans of the host, and returns
// the place of each.
func layOutProcesses(p *trace.Picture, host, device []*hostlog.Span) map[int]int {
	type about struct {
		drawn bool
		spans []*hostlog.Span
	}
	pids := map[int]*about{}
	for n, list := range [][]*hostlog.Span{host, device} {
		for _, s := range list {
			a := pids[s.PID]
			if a == nil {
				a = &about{}
				pids[s.PID] = a
			}
			a.drawn = a.drawn || n == 0
			a.spans = append(a.spans, s)
		}
	}
	numbers := newNumbers()
	sorted := slices.Sorted(maps.Keys(pids))
	for _, pid := range sorted {
		numbers.use(int64(pid))
	}
	out := map[int]int{}
	for _, pid := range sorted {
		a := pids[pid]
		if !a.drawn {
			continue
		}
		out[pid] = len(p.Processes)
		p.Processes = append(p.Processes, trace.Process{PID: numbers.fit(int64(pid)), Name: hostlog.ProcessName(pid, a.spans)})
	}
	return out
}

// numbers gives out ids that the format can hold: 1 to 2³²−1.
type numbers struct {
	used map[uint32]bool
	last uint32 // the largest
}

func newNumbers() *numbers { return &numbers{used: map[uint32]bool{}} }

func fits(n int64) bool { return n > 0 && n <= math.MaxUint32 }

func (n *numbers) use(id int64) {
	if fits(id) {
		n.used[uint32(id)] = true
		n.last = max(n.last, uint32(id))
	}
}

// next is an id that is not used, behind the largest while there are any.
func (n *numbers) next() uint32 {
	id := n.last + 1
	for id == 0 || n.used[id] {
		id++
	}
	n.used[id] = true
	n.last = id
	return id
}

// fit is an id itself, or one in its place if the format cannot hold it.
func (n *numbers) fit(id int64) uint32 {
	if fits(id) {
		return uint32(id)
	}
	return n.next()
}

// part is what goes to one lane of a thread that is split.
type part struct {
	spans    []int32
	slot     int64
	external bool
}

// split takes a thread apart by the slots of the pipeline that it served side by
// side. If there are none it returns nothing.
func split(host []*hostlog.Span, spans []int32, slots hostlog.Slots) []part {
	served := hostlog.PipelineSlots(listed(host, spans), slots)
	if served == nil {
		return nil
	}
	bySlot := map[int64][]int32{}
	var external []int32
	for _, i := range spans {
		if s := host[i]; s.Family() == hostlog.External {
			external = append(external, i)
		} else {
			slot, _ := slots.Of(s)
			bySlot[slot] = append(bySlot[slot], i)
		}
	}
	var out []part
	for _, slot := range served {
		out = append(out, part{spans: bySlot[slot], slot: slot})
	}
	if len(external) > 0 {
		out = append(out, part{spans: external, external: true})
	}
	return out
}

// listed are the spans with these indexes.
func listed(host []*hostlog.Span, spans []int32) []*hostlog.Span {
	out := make([]*hostlog.Span, len(spans))
	for k, i := range spans {
		out[k] = host[i]
	}
	return out
}

// laneName is what a lane is called, by what its spans say of themselves.
func laneName(host []*hostlog.Span, spans []int32, tid int64) string {
	return hostlog.ThreadName(tid, listed(host, spans))
}
