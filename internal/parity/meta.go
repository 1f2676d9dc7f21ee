package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// processes compares the process names, and asks of ours that the processes
// stand in the order of their pids in every viewer, whether it obeys the sort
// index or not.
func (c *comparison) processes() []string {
	ref, ours := c.ref.trace.processes, c.ours.trace.processes
	pids := maps.Clone(ref)
	maps.Copy(pids, ours)
	var out []string
	for _, pid := range slices.Sorted(maps.Keys(pids)) {
		r, o := ref[pid], ours[pid]
		switch {
		case o == nil:
			out = append(out, fmt.Sprintf("process missing: pid %d %q", pid, r.name))
		case r == nil:
			out = append(out, fmt.Sprintf("process unexpected: pid %d %q", pid, o.name))
		case r.name != o.name:
			out = append(out, fmt.Sprintf("process name of pid %d: reference %q, ours %q", pid, r.name, o.name))
		}
		if o == nil || c.SkipOurOwnForm {
			continue
		}
		switch {
		case !o.named:
			out = append(out, fmt.Sprintf("ours: pid %d has no process name", pid))
		case o.sortIndex == nil:
			out = append(out, fmt.Sprintf("ours: pid %d has no process_sort_index", pid))
		case *o.sortIndex != pid:
			out = append(out, fmt.Sprintf("ours: pid %d has process_sort_index %d", pid, *o.sortIndex))
		}
	}
	return out
}

// lanes compares the sets of lanes, whether anything is drawn there or not,
// and asks of ours that the lanes of a process stand in the order of their
// numbers in every viewer.
func (c *comparison) lanes() []string {
	ref, ours := c.ref.lanes(), c.ours.lanes()
	var out []string
	for _, l := range sortedLanes(ref) {
		if !ours[l] {
			out = append(out, "lane missing: "+l.String())
		}
	}
	for _, l := range sortedLanes(ours) {
		if !ref[l] {
			out = append(out, "lane unexpected: "+l.String())
		}
	}
	if !c.SkipOurOwnForm {
		out = append(out, c.ours.laneOrder()...)
	}
	return out
}

// lanes returns the lanes that are named or hold slices.
func (s *side) lanes() map[lane]bool {
	out := map[lane]bool{}
	for id, t := range s.trace.threads {
		// A Scheduler View bar knows its core better than the number of its
		// lane does, see laneOf.
		if t.named && (s.onLane[id] == nil || !s.isSchedulerView(id.pid)) {
			out[s.fold(id)] = true
		}
	}
	for _, sl := range s.trace.slices {
		l, _ := s.laneOf(sl)
		out[l] = true
	}
	return out
}

func sortedLanes(set map[lane]bool) []lane {
	return slices.SortedFunc(maps.Keys(set), func(a, b lane) int {
		if a.pid != b.pid {
			return int(a.pid - b.pid)
		}
		return strings.Compare(a.name, b.name)
	})
}

// laneOrder lists the lanes whose sort index doesn't grow with their number.
// Equal indexes don't do: what viewers make of them has changed.
func (s *side) laneOrder() []string {
	ids := slices.SortedFunc(maps.Keys(s.trace.threads), func(a, b laneID) int {
		if a.pid != b.pid {
			return int(a.pid - b.pid)
		}
		return int(a.tid - b.tid)
	})
	var out []string
	for i, id := range ids {
		if i == 0 || ids[i-1].pid != id.pid {
			continue
		}
		before, here := s.trace.threads[ids[i-1]], s.trace.threads[id]
		if before.sortIndex >= here.sortIndex {
			out = append(out, fmt.Sprintf("ours: thread_sort_index of pid %d: tid %d %q has %d, tid %d %q has %d",
				id.pid, ids[i-1].tid, before.name, before.sortIndex, id.tid, here.name, here.sortIndex))
		}
	}
	return out
}

// counters compares the counter samples. Their lane means nothing: a counter
// track is known by process and name.
func (c *comparison) counters() []string {
	m := matcher[*counter]{
		key: func(k *counter) string {
			return strings.Join([]string{strconv.FormatInt(k.pid, 10), k.cat, k.name, k.args}, "\x00")
		},
		time: func(k *counter) float64 { return k.ts },
		same: func(ref, ours *counter) bool { return c.near(ref.ts, ours.ts) },
	}
	missing, extra := m.match(c.ref.trace.counters, c.ours.trace.counters)
	var out []string
	for _, k := range missing {
		out = append(out, "counter missing: "+k.describe())
	}
	for _, k := range extra {
		out = append(out, "counter unexpected: "+k.describe())
	}
	return out
}

func (k *counter) describe() string {
	return fmt.Sprintf("pid %d %s (cat %s) at %.4f: %s", k.pid, k.name, k.cat, k.ts, k.args)
}

// metadata compares the top-level metadata where the reference has it.
func (c *comparison) metadata() []string {
	if c.ref.trace.metadata == nil {
		return nil
	}
	return c.values("metadata", "", c.ref.trace.metadata, c.ours.trace.metadata)
}

// values compares two decoded values, key being the name of the last step.
func (c *comparison) values(path, key string, ref, ours any) []string {
	r, rok := ref.(map[string]any)
	o, ook := ours.(map[string]any)
	if rok && ook {
		keys := maps.Clone(r)
		maps.Copy(keys, o)
		var out []string
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			at := path + "." + k
			rv, inRef := r[k]
			ov, inOurs := o[k]
			if inRef && inOurs {
				out = append(out, c.values(at, k, rv, ov)...)
			} else {
				out = append(out, fmt.Sprintf("%s: reference %s, ours %s", at, shown(rv, inRef), shown(ov, inOurs)))
			}
		}
		return out
	}
	if canonical(ref) == canonical(ours) || slices.Contains(timeMetadata, key) && c.nearValues(ref, ours) {
		return nil
	}
	return []string{fmt.Sprintf("%s: reference %s, ours %s", path, canonical(ref), canonical(ours))}
}

// nearValues compares two values that are times.
func (c *comparison) nearValues(ref, ours any) bool {
	r, rok := ref.(json.Number)
	o, ook := ours.(json.Number)
	if !rok || !ook {
		return false
	}
	rf, rerr := parseFloat(r.String())
	of, oerr := parseFloat(o.String())
	return rerr == nil && oerr == nil && c.near(rf, of)
}
