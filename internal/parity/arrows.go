package parity

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// endMove is how far an arrow's end that lies at or beyond the end of its
	// slice may be moved into it: one nanosecond, and the rounding.
	endMove = 0.0016

	// endOffset is how far before the end of a slice the reference lets some
	// arrows start, even if the slice is shorter.
	endOffset = 0.01
)

// arrowItem is an arrow as it is compared.
type arrowItem struct {
	*arrow
	ends      [2]*endItem // start, finish
	key       string
	violation bool
}

// endItem is one end of an arrow.
type endItem struct {
	*half
	lane lane
	key  string   // lane and what is bound, without times
	on   []*slice // ours: the slices this end may belong to; reference: see meant
}

// arrowItems prepares the arrows of one side.
func (c *comparison) arrowItems(s *side) []*arrowItem {
	out := make([]*arrowItem, 0, len(s.trace.arrows))
	for _, a := range s.trace.arrows {
		it := &arrowItem{arrow: a, violation: a.name == "hb_violation"}
		for i, h := range []*half{a.start, a.finish} {
			it.ends[i] = c.endItem(s, h)
		}
		ends := []string{it.ends[0].key, it.ends[1].key}
		if it.violation {
			// Such an arrow may point the other way round.
			slices.Sort(ends)
		}
		it.key = strings.Join(append(ends, a.name, a.start.cat, a.finish.cat,
			a.start.bp, a.finish.bp, a.start.in, a.start.out, a.finish.in, a.finish.out, a.start.args, a.finish.args), "\x00")
		out = append(out, it)
	}
	return out
}

func (c *comparison) endItem(s *side, h *half) *endItem {
	e := &endItem{half: h, lane: s.laneOfHalf(h)}
	e.key = e.lane.String()
	if h.bind != nil {
		l, _ := s.laneOf(h.bind)
		e.key += "\x00" + l.String() + "\x00" + h.bind.name
	}
	switch {
	case s == c.ref:
		e.on = meant(s, h)
	case h.bind != nil:
		e.on = []*slice{h.bind}
	default:
		e.on = s.at(h.lane, h.ts)
	}
	return e
}

// meant returns the slices of the reference that an end without a bind_id is
// meant for, where that can be told: a dispatch arrow ends at the kernel start
// of its Worker View slice, which overlapping slices don't share.
func meant(s *side, h *half) []*slice {
	if h.bind != nil || h.name != "dispatch" || !s.isView(h.lane.pid, "Worker View") {
		return nil
	}
	return slices.DeleteFunc(s.at(h.lane, h.ts), func(sl *slice) bool {
		setup, ok := floatArg(sl.args, "local_setup_us")
		return !ok || math.Abs(sl.start+setup-h.ts) > slop
	})
}

// arrows compares the arrows.
func (c *comparison) arrows() []string {
	var out []string
	ref, ours := slices.DeleteFunc(c.arrowItems(c.ref), c.cannotBeDrawn), c.arrowItems(c.ours)
	if c.SkipOurOwnForm {
		ours = slices.DeleteFunc(ours, c.cannotBeDrawn)
	} else {
		out = arrowForm(ours)
	}
	m := matcher[*arrowItem]{
		key:  func(it *arrowItem) string { return it.key },
		time: func(it *arrowItem) float64 { return min(it.start.ts, it.finish.ts) },
		same: c.sameArrow,
	}
	missing, extra := m.match(ref, ours)
	pairs, missing, extra := pairUp(missing, extra, func(it *arrowItem) string {
		lanes := []string{it.ends[0].lane.String(), it.ends[1].lane.String()}
		if it.violation {
			slices.Sort(lanes)
		}
		return it.name + "\x00" + strings.Join(lanes, "\x00")
	})
	for _, p := range pairs {
		out = append(out, fmt.Sprintf("arrow differs: reference %s, ours %s", p[0].describe(), p[1].describe()))
	}
	for _, it := range missing {
		out = append(out, "arrow missing: "+it.describe())
	}
	for _, it := range extra {
		out = append(out, "arrow unexpected: "+it.describe())
	}
	return out
}

// cannotBeDrawn tells whether an arrow of the reference has an end where there
// is no slice that could hold it.
func (c *comparison) cannotBeDrawn(it *arrowItem) bool {
	if it.name == "dependency" || it.violation {
		return false
	}
	for _, e := range it.ends {
		if e.bind == nil && !c.holds(e) {
			return true
		}
	}
	return false
}

// holds tells whether there is a slice for an end of the reference that names
// none.
func (c *comparison) holds(e *endItem) bool {
	if len(c.ref.at(e.half.lane, e.ts)) > 0 {
		return true
	}
	// Before a slice that is shorter than endOffset, the arrow's slice is known
	// all the same.
	for _, s := range c.ref.at(e.half.lane, e.ts+endOffset) {
		if c.beforeShort(e.ts, s) {
			return true
		}
	}
	if !c.UnknownKinds {
		return false
	}
	// A slice that only ours draws can hold it just as well.
	for id := range c.ours.onLane {
		if c.ours.fold(id) != e.lane {
			continue
		}
		for _, s := range c.ours.at(id, e.ts) {
			if s.cat == "scheduler" && s.cname == "generic_work" {
				return true
			}
		}
	}
	return false
}

// beforeShort tells whether the reference lets an arrow of a slice start
// before it, because the slice is shorter than the offset from its end.
func (c *comparison) beforeShort(ts float64, s *slice) bool {
	return s.end-s.start < endOffset+c.Tolerance && c.near(ts, s.end-endOffset)
}

// sameArrow tells whether two arrows with equal keys are equal.
func (c *comparison) sameArrow(ref, ours *arrowItem) bool {
	start, finish := ref.ends[0], ref.ends[1]
	early := start.ts - finish.ts
	straight := !ref.violation || c.SkipOurOwnForm || early <= 2*c.Tolerance
	turned := ref.violation && !c.SkipOurOwnForm && early > 0
	return straight && c.sameEnd(start, ours.ends[0]) && c.sameEnd(finish, ours.ends[1]) ||
		turned && c.sameEnd(start, ours.ends[1]) && c.sameEnd(finish, ours.ends[0])
}

// sameEnd tells whether two ends are equal: the same lane, slice and instant,
// or an instant to which the documented rules move it.
func (c *comparison) sameEnd(ref, ours *endItem) bool {
	if ref.key != ours.key {
		return false
	}
	if ref.bind != nil && !c.near(ref.bind.start, ours.bind.start) && !c.isRepeated(ref.bind) {
		return false
	}
	if len(ref.on) > 0 && !c.SkipOurOwnForm && !c.onMeant(ref, ours) {
		return false
	}
	if c.near(ref.ts, ours.ts) {
		return true
	}
	if c.SkipOurOwnForm {
		return false
	}
	return slices.ContainsFunc(ours.on, func(s *slice) bool {
		return c.movedIntoEnd(ref.ts, ours.ts, s) || c.movedToStart(ref.ts, ours.ts, s) ||
			ours.bind == s && c.movedAside(ref.ts, ours, s)
	})
}

// onMeant tells whether our end lies on one of the slices that the reference
// means.
func (c *comparison) onMeant(ref, ours *endItem) bool {
	return slices.ContainsFunc(ours.on, func(o *slice) bool {
		return slices.ContainsFunc(ref.on, func(r *slice) bool {
			return r.name == o.name && c.near(r.start, o.start) && c.near(r.end, o.end)
		})
	})
}

// movedIntoEnd: at the end of a slice an arrow would be bound to the next one,
// and beyond it to nothing.
func (c *comparison) movedIntoEnd(ref, ours float64, s *slice) bool {
	return ours < ref && ref-ours <= endMove+slop && s.end <= ref+c.Tolerance && s.contains(ours)
}

// movedToStart: on a slice shorter than the offset from its end.
func (c *comparison) movedToStart(ref, ours float64, s *slice) bool {
	return c.beforeShort(ref, s) && c.near(ours, s.start)
}

// movedAside: where another slice lies on top, the arrow would be bound to it.
func (c *comparison) movedAside(ref float64, ours *endItem, s *slice) bool {
	if ours.ts >= ref || !s.contains(ours.ts) || !s.contains(ref) {
		return false
	}
	return slices.ContainsFunc(c.ours.at(s.lane, ref), func(top *slice) bool {
		return top != s && top.start >= s.start && top.end <= s.end+slop && ours.ts <= top.start
	})
}

// arrowForm lists the arrows of ours that have an end outside of its slice.
func arrowForm(ours []*arrowItem) []string {
	var out []string
	for _, it := range ours {
		for _, e := range it.ends {
			switch {
			case e.bind != nil && e.bind.lane != e.half.lane:
				out = append(out, fmt.Sprintf("ours: arrow end on another lane than its slice %q: %s",
					e.bind.name, it.describe()))
			case e.bind != nil && !e.bind.contains(e.ts):
				out = append(out, fmt.Sprintf("ours: arrow end outside of its slice %q [%.4f, %.4f]: %s",
					e.bind.name, e.bind.start, e.bind.end, it.describe()))
			case len(e.on) == 0:
				out = append(out, "ours: arrow end at "+e.describe()+" outside of every slice: "+it.describe())
			}
		}
	}
	return out
}

func (e *endItem) describe() string {
	text := fmt.Sprintf("%s %.4f", e.lane, e.ts)
	if e.bind != nil {
		text += fmt.Sprintf(" (%s at %.4f)", e.bind.name, e.bind.start)
	}
	return text
}

func (it *arrowItem) describe() string {
	text := fmt.Sprintf("%s from %s to %s", it.name, it.ends[0].describe(), it.ends[1].describe())
	if it.start.in+it.start.out+it.finish.in+it.finish.out != "" {
		text += fmt.Sprintf(" counts in/out %s/%s and %s/%s",
			it.start.in, it.start.out, it.finish.in, it.finish.out)
	}
	return text
}
