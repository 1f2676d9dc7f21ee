package check

import (
	"cmp"
	"math"
	"slices"
)

// A flowKey joins the points of one flow: all three have to agree
// (perfetto-facts §1 Flows).
type flowKey struct {
	id        uint64
	cat, name uint32
}

// ofSlice stands for cat and name in the keys of flows that are written on
// the slices themselves, which have an id alone.
const ofSlice = math.MaxUint32

// A flow is what the importer remembers under a key. JSON flows are never
// closed, so there is no end to it.
type flow struct {
	slice uint32 // where the next arrow leaves
	start uint32 // the event that began it
	used  bool   // some arrow was drawn
}

// An embeddedFlow is a bind_id with flow_in or flow_out on a slice.
type embeddedFlow struct {
	id      uint64
	in, out bool
}

// embed keeps the flow that a slice carries. It is called before the slice is
// added to the store.
func (t *trace) embed(e *rawEvent) {
	if !e.bind.hex || !e.flowIn && !e.flowOut {
		return
	}
	if t.embedded == nil {
		t.embedded = map[uint32]embeddedFlow{}
	}
	t.embedded[t.events.len()] = embeddedFlow{id: e.bind.flow, in: e.flowIn, out: e.flowOut}
}

func (t *trace) keyOf(ev *event) flowKey {
	return flowKey{id: uint64(ev.id), cat: ev.cat, name: ev.name}
}

// point replays one s, t or f.
func (t *trace) point(l *lane, i uint32, ev *event) {
	if ev.ph == 'f' && !ev.bp {
		t.hitEvent(ruleFlowNoBp, i, "no \"bp\":\"e\"")
		l.awaiting = append(l.awaiting, i)
		return
	}
	slice, ok := t.bind(l, i, ev)
	if !ok {
		t.unbound(i)
		return
	}
	t.repeats(i, slice)
	switch ev.ph {
	case 's':
		t.flowStart(t.keyOf(ev), i, slice)
	case 't':
		t.flowStep(t.keyOf(ev), i, slice)
	case 'f':
		t.flowEnd(t.keyOf(ev), i, slice)
	}
}

// bind returns the slice that a flow point binds to: the one on top of its
// lane's stack at this moment. The stack is not cleaned up first, so that is
// the slice started last, even if it has ended.
func (t *trace) bind(l *lane, i uint32, ev *event) (uint32, bool) {
	if len(l.stack) == 0 {
		t.hitEvent(ruleFlowNoSlice, i, "no slice on its lane")
		return 0, false
	}
	f := l.stack[len(l.stack)-1]
	got := t.events.at(f.ev)
	if ev.idKind != idNone {
		meant := sliceID{kind: ev.idKind, id: ev.dur}
		if got.idKind != meant.kind || got.id != meant.id {
			if want, ok := t.sliceWithID(meant); ok {
				t.hitEvent(ruleFlowBindID, i, "binds to slice %s, meant %s", t.at(f.ev), t.at(want))
				return f.ev, true
			}
		}
	}
	// Where the stack holds the slice, its ts is not after the point's.
	within := f.open || ev.ts < f.end || got.ts == f.end && ev.ts == f.end
	if !within {
		t.hitEvent(ruleFlowStaleSlice, i, "binds to slice %s, which ends at %s", t.at(f.ev), usText(f.end))
	}
	return f.ev, true
}

func (t *trace) flowStart(k flowKey, i, slice uint32) {
	if old, ok := t.flows[k]; ok {
		t.hitEvent(ruleFlowDuplicateStart, i, "the flow was begun by %s", t.at(old.start))
		return
	}
	t.flows[k] = flow{slice: slice, start: i}
}

// flowStep draws an arrow to slice and goes on from there.
func (t *trace) flowStep(k flowKey, i, slice uint32) {
	if t.flowEnd(k, i, slice) {
		f := t.flows[k]
		f.slice = slice
		t.flows[k] = f
	}
}

// flowEnd draws an arrow to slice. The flow stays, for more ends.
func (t *trace) flowEnd(k flowKey, i, slice uint32) bool {
	f, ok := t.flows[k]
	if !ok {
		t.lostEnd(k, i)
		return false
	}
	if !f.used {
		f.used = true
		t.flows[k] = f
	}
	from, to := t.events.at(f.slice), t.events.at(slice)
	switch {
	case f.slice == slice:
		t.hitEvent(ruleFlowToItself, i, "comes from the slice it goes to, %s", t.at(slice))
	case from.ts > to.ts && t.dependency(k):
		t.hitEvent(ruleFlowReversed, i, "from slice %s to slice %s", t.at(f.slice), t.at(slice))
	case from.ts > to.ts:
		t.hitEvent(ruleFlowTurned, i, "from slice %s to slice %s", t.at(f.slice), t.at(slice))
	}
	return true
}

// dependency reports whether an arrow says who waits for whom. Its head matters:
// such an arrow can be written from the earlier slice, and its true direction in
// the args of both.
func (t *trace) dependency(k flowKey) bool {
	name := string(t.names.get(k.name))
	return name == "dependency" || name == "hb_violation"
}

// lostEnd reports an end without a start and looks for what it lacks.
func (t *trace) lostEnd(k flowKey, i uint32) {
	h := t.finds.hit(ruleFlowEndWithoutStart)
	if h == nil {
		return
	}
	near, found := uint32(0), false
	for j := range t.events.len() {
		ev := t.events.at(j)
		if ev.ph != 's' || uint64(ev.id) != k.id {
			continue
		}
		if t.keyOf(ev) == k {
			h.say(t.at(i), "its s comes later in time or in the file, or binds to nothing: %s", t.at(j))
			return
		}
		if !found {
			near, found = j, true
		}
	}
	if found {
		h.say(t.at(i), "the s with its id has another name or cat: %s", t.at(near))
		return
	}
	h.say(t.at(i), "nothing before it began the flow")
}

// embeddedPoint replays the flow that a slice carries; it binds to that slice
// whatever else is on the lane.
func (t *trace) embeddedPoint(f embeddedFlow, slice uint32) {
	k := flowKey{id: f.id, cat: ofSlice, name: ofSlice}
	switch {
	case f.in && f.out:
		t.flowStep(k, slice, slice)
	case f.in:
		t.flowEnd(k, slice, slice)
	default:
		t.flowStart(k, slice, slice)
	}
}

// unfinishedFlows reports the starts that no arrow left.
func (t *trace) unfinishedFlows() {
	var starts []uint32
	for _, f := range t.flows {
		if !f.used {
			starts = append(starts, f.start)
		}
	}
	slices.Sort(starts)
	for _, i := range starts {
		t.hitEvent(ruleFlowUnfinished, i, "no t or f follows with its id, cat and name")
	}
}

// A sliceID is the id that a slice carries.
type sliceID struct {
	id   int64
	ev   uint32
	kind idKind
}

func (a sliceID) compare(b sliceID) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
}

// idsOfSlices returns the ids of all slices, sorted.
func (t *trace) idsOfSlices() []sliceID {
	if t.sliceIDs != nil {
		return t.sliceIDs
	}
	for i := range t.events.len() {
		if ev := t.events.at(i); ev.idKind != idNone && (ev.ph == 'X' || ev.ph == 'B') {
			t.sliceIDs = append(t.sliceIDs, sliceID{ev.id, i, ev.idKind})
		}
	}
	slices.SortFunc(t.sliceIDs, func(a, b sliceID) int {
		return cmp.Or(a.compare(b), cmp.Compare(a.ev, b.ev))
	})
	return t.sliceIDs
}

// sliceWithID returns the first slice that carries an id.
func (t *trace) sliceWithID(id sliceID) (uint32, bool) {
	ids := t.idsOfSlices()
	i, ok := slices.BinarySearchFunc(ids, id, sliceID.compare)
	if !ok {
		return 0, false
	}
	return ids[i].ev, true
}

// duplicateIDs reports slices whose id an earlier one has.
func (t *trace) duplicateIDs() {
	ids := t.idsOfSlices()
	for i := 1; i < len(ids); i++ {
		if ids[i].compare(ids[i-1]) == 0 {
			t.hitEvent(ruleDuplicateID, ids[i].ev, "the same id as %s", t.at(ids[i-1].ev))
		}
	}
}
