package parity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The args by which ours tells the true direction of an edge whose successor
// starts first, because such an arrow can only be drawn the other way round.
const (
	successorsArg   = "hb-violation-successors"   // on the predecessor
	predecessorsArg = "hb-violation-predecessors" // on the successor
)

// hbMark says whether a slice of ours has one of those args.
type hbMark int

const (
	hbForbidden hbMark = iota
	hbOptional
	hbRequired
)

// hbMarks holds the marks of a reference slice.
type hbMarks struct{ successors, predecessors hbMark }

// reversedEdges finds the slices of the reference that take part in an edge
// whose successor starts before its predecessor.
func reversedEdges(t *Trace, repeated map[execution]bool, tolerance float64) map[*slice]hbMarks {
	rows := map[execution][]*slice{}
	for _, s := range t.slices {
		if x, ok := executionOf(s); ok && repeated[x] {
			rows[x] = append(rows[x], s)
		}
	}
	out := map[*slice]hbMarks{}
	mark := func(s *slice, m hbMark, predecessor bool) {
		if s == nil {
			return
		}
		candidates := []*slice{s}
		if x, ok := executionOf(s); ok && repeated[x] {
			// The id may be that of another execution.
			candidates, m = rows[x], hbOptional
		}
		for _, s := range candidates {
			marks := out[s]
			if predecessor {
				marks.successors = max(marks.successors, m)
			} else {
				marks.predecessors = max(marks.predecessors, m)
			}
			out[s] = marks
		}
	}
	for _, a := range t.arrows {
		early := a.start.ts - a.finish.ts
		if a.name != "hb_violation" || early <= 0 {
			continue
		}
		m := hbRequired
		if early <= 2*tolerance {
			m = hbOptional // after rounding both may start together
		}
		mark(a.start.bind, m, true)
		mark(a.finish.bind, m, false)
	}
	return out
}

// sliceItem is a slice as it is compared.
type sliceItem struct {
	*slice
	lane   lane
	sub    string // sub-lane, "" where it doesn't matter
	key    string
	values []float64 // the args that are times
	marks  hbMarks   // reference: what ours may have, ours: what it has
}

// sliceItems prepares the slices of one side.
func (c *comparison) sliceItems(s *side) []*sliceItem {
	out := make([]*sliceItem, 0, len(s.trace.slices))
	for _, sl := range s.trace.slices {
		it := &sliceItem{slice: sl, marks: c.reversed[sl]}
		var sub int64
		it.lane, sub = s.laneOf(sl)
		if s.isSchedulerView(sl.lane.pid) && !c.isRepeated(sl) {
			it.sub = strconv.FormatInt(sub, 10)
		}
		exact := sl.args
		if s.ownForm {
			exact = it.takeMarks()
		} else if !c.SkipOurOwnForm {
			exact = s.withResidual(exact)
		}
		var times []string
		for _, k := range timeArgs {
			if v, ok := floatArg(exact, k); ok {
				it.values = append(it.values, v)
				times = append(times, k)
			}
		}
		if len(times) > 0 {
			exact = maps.Clone(exact)
			for _, k := range times {
				delete(exact, k)
			}
		}
		it.key = strings.Join([]string{
			it.lane.String(), it.sub, sl.name, sl.cat, sl.cname,
			strconv.FormatBool(sl.ident != ""), strings.Join(times, ","), canonical(exact),
		}, "\x00")
		out = append(out, it)
	}
	return out
}

// withResidual adds what bars of ours that were placed with the records of a rank say
// beside the slack, and the reference says in the metadata only: residual_ns, if it is
// not 0.
func (s *side) withResidual(args map[string]any) map[string]any {
	rank, ok := intArg(args, "rank")
	_, placed := args["slack_ns"]
	_, phase := args["device_ts_ns"] // a phase of the log, whose place has no residual
	if !ok || !placed || phase {
		return args
	}
	document, _ := s.trace.metadata.(map[string]any)
	list, _ := document["ranks"].([]any)
	for _, x := range list {
		of, _ := x.(map[string]any)
		if n, ok := intArg(of, "rank"); !ok || n != rank {
			continue
		}
		placement, _ := of["placement"].(map[string]any)
		join, _ := placement["join"].(map[string]any)
		if ns, ok := intArg(join, "residual_ns"); ok && ns != 0 {
			args = maps.Clone(args)
			args["residual_ns"] = join["residual_ns"]
		}
	}
	return args
}

// takeMarks notes the two args of a reversed edge and returns the others.
func (it *sliceItem) takeMarks() map[string]any {
	exact := it.args
	take := func(key string) hbMark {
		if _, ok := it.args[key].(string); !ok {
			return hbForbidden
		}
		if len(exact) == len(it.args) {
			exact = maps.Clone(exact)
		}
		delete(exact, key)
		return hbRequired
	}
	it.marks = hbMarks{successors: take(successorsArg), predecessors: take(predecessorsArg)}
	return exact
}

// fits tells whether ours has an arg where it must and only where it may.
func (m hbMark) fits(ours hbMark) bool { return m == hbOptional || m == ours }

// sameSlice tells whether two slices with equal keys are equal.
func (c *comparison) sameSlice(ref, ours *sliceItem) bool {
	if !c.near(ref.start, ours.start) || !c.near(ref.end, ours.end) {
		return false
	}
	for i, v := range ref.values {
		if !c.near(v, ours.values[i]) {
			return false
		}
	}
	return c.SkipOurOwnForm ||
		ref.marks.successors.fits(ours.marks.successors) &&
			ref.marks.predecessors.fits(ours.marks.predecessors)
}

// slices compares the slices.
func (c *comparison) slices() []string {
	m := matcher[*sliceItem]{
		key:  func(it *sliceItem) string { return it.key },
		time: func(it *sliceItem) float64 { return it.start },
		same: c.sameSlice,
	}
	missing, extra := m.match(c.sliceItems(c.ref), c.sliceItems(c.ours))
	var out []string
	pairs, missing, extra := pairUp(missing, extra, func(it *sliceItem) string {
		return it.lane.String() + "\x00" + it.name
	})
	for _, p := range pairs {
		out = append(out, fmt.Sprintf("slice differs: %s %q at %.4f: %s",
			p[0].lane, p[0].name, p[0].start, c.explain(p[0], p[1])))
	}
	for _, it := range missing {
		out = append(out, "slice missing: "+it.describe())
	}
	for _, it := range extra {
		out = append(out, "slice unexpected: "+it.describe())
	}
	return out
}

func (it *sliceItem) describe() string {
	return fmt.Sprintf("%s %q [%.4f, %.4f] cat %q cname %q args %s",
		it.lane, it.name, it.start, it.end, it.cat, it.cname, canonical(it.args))
}

// explain lists what differs between two slices of one lane and name.
func (c *comparison) explain(ref, ours *sliceItem) string {
	var out []string
	add := func(what string, differs bool, ref, ours any) {
		if differs {
			out = append(out, fmt.Sprintf("%s reference %v, ours %v", what, ref, ours))
		}
	}
	add("start", !c.near(ref.start, ours.start), ref.start, ours.start)
	add("end", !c.near(ref.end, ours.end), ref.end, ours.end)
	add("cat", ref.cat != ours.cat, ref.cat, ours.cat)
	add("cname", ref.cname != ours.cname, ref.cname, ours.cname)
	add("has an id:", (ref.ident == "") != (ours.ident == ""), ref.ident != "", ours.ident != "")
	add("sub-lane", ref.sub != ours.sub, ref.sub, ours.sub)
	keys := maps.Clone(ref.args)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, ours.args)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		r, inRef := ref.args[k]
		o, inOurs := ours.args[k]
		differs := inRef != inOurs || canonical(r) != canonical(o)
		if slices.Contains(timeArgs, k) && inRef && inOurs {
			rv, rok := floatArg(ref.args, k)
			ov, ook := floatArg(ours.args, k)
			differs = rok != ook || rok && !c.near(rv, ov) || !rok && differs
		}
		add("args."+k, differs, shown(r, inRef), shown(o, inOurs))
	}
	if len(out) == 0 { // only an arg of a reversed edge can be left
		out = append(out, "args of a reversed edge: reference has such an edge here and ours doesn't say so")
	}
	return strings.Join(out, "; ")
}

// shown writes an arg for a message.
func shown(v any, present bool) string {
	if !present {
		return "absent"
	}
	return canonical(v)
}
