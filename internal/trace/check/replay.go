package check

import (
	"cmp"
	"fmt"
	"slices"
)

// maxStack is how deep slices nest on a lane before the importer drops more
// (perfetto-facts §1 Overlap on one tid).
const maxStack = 512

// An idKind says what an event's id or bind_id is, so that 1 and "1" differ.
type idKind uint8

const (
	idNone idKind = iota
	idInt
	idText
)

func idKindOf(id ident) idKind {
	if id.text {
		return idText
	}
	return idInt
}

// An event is what the replay needs of a slice, mark, end or flow point.
type event struct {
	ts     int64
	dur    int64 // ns of an X; of a flow point its bind_id
	id     int64 // of a slice, or of a flow point as the key has it
	off    int64
	num    uint32
	lane   uint32
	name   uint32
	cat    uint32 // of a flow point
	facts  uint32 // of a slice, or of a flow point that has no other args; 0: none
	ph     byte   // X B E i s t f
	idKind idKind // what id is on a slice, dur on a flow point
	bp     bool
}

// A store holds the events in file order. It grows by chunks, as one slice of
// many millions would be copied and held twice while it grows.
type store struct{ chunks [][]event }

const chunkBits = 14

func (s *store) add(ev event) {
	last := len(s.chunks) - 1
	switch {
	case last < 0:
		s.chunks = append(s.chunks, nil) // grows, as most traces are small
		last++
	case len(s.chunks[last]) == 1<<chunkBits:
		s.chunks = append(s.chunks, make([]event, 0, 1<<chunkBits))
		last++
	}
	s.chunks[last] = append(s.chunks[last], ev)
}

func (s *store) at(i uint32) *event { return &s.chunks[i>>chunkBits][i&(1<<chunkBits-1)] }

func (s *store) len() uint32 {
	last := len(s.chunks) - 1
	if last < 0 {
		return 0
	}
	return uint32(last<<chunkBits + len(s.chunks[last]))
}

// A turn is an event's place in the order of processing. It is small so that
// sorting rarely has to look at the events themselves.
type turn struct {
	ts   int64
	ev   uint32
	rank uint8
}

// order returns the events as the importer's sorter hands them on: by ts,
// then E, then X by longer duration, then the rest in file order
// (perfetto-facts §1 Order of equal timestamps).
func (t *trace) order() []turn {
	turns := make([]turn, 0, t.events.len())
	for i := range t.events.len() {
		ev := t.events.at(i)
		rank := uint8(2)
		switch {
		case ev.ph == 'E':
			rank = 0
		case ev.ph == 'X' && ev.dur > 0:
			rank = 1
		}
		turns = append(turns, turn{ev.ts, i, rank})
	}
	slices.SortFunc(turns, func(a, b turn) int {
		if c := cmp.Compare(a.ts, b.ts); c != 0 {
			return c
		}
		if c := cmp.Compare(a.rank, b.rank); c != 0 {
			return c
		}
		if a.rank == 1 {
			if c := cmp.Compare(t.events.at(b.ev).dur, t.events.at(a.ev).dur); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.ev, b.ev)
	})
	return turns
}

// A frame is a slice on the stack of a lane.
type frame struct {
	ev   uint32
	end  int64
	open bool // begun by a B whose E has not come; end means nothing yet
}

// replay runs the importer's slice and flow trackers over the events.
func (t *trace) replay() {
	for _, turn := range t.order() {
		ev := t.events.at(turn.ev)
		l := &t.lanes[ev.lane]
		switch ev.ph {
		case 'E':
			t.end(l, turn.ev, ev)
		case 's', 't', 'f':
			t.point(l, turn.ev, ev)
		default:
			t.begin(l, turn.ev, ev)
		}
	}
	for i := range t.lanes {
		for _, f := range t.lanes[i].awaiting {
			t.unbound(f)
		}
		for _, f := range t.lanes[i].stack {
			if f.open {
				t.hitEvent(ruleBeginUnclosed, f.ev, "no E closes it")
			}
		}
	}
	t.unfinishedFlows()
}

// begin starts a slice on its lane: an X, a B, or an instant, which is a
// slice of length 0 to the importer.
func (t *trace) begin(l *lane, i uint32, ev *event) {
	t.closeEnded(l, ev.ts)
	open, end := ev.ph == 'B', ev.ts+ev.dur
	if over := l.enclosing(); over != nil && !open && over.end < end {
		// Dropped before v57, since then on an overflow track; either way it
		// is not on this lane, and flows do not find it (field report 26).
		t.hitEvent(ruleOverlap, i, "ends at %s, inside it ends %s at %s", usText(end), t.at(over.ev), usText(over.end))
		return
	}
	if len(l.stack) >= maxStack {
		t.hitEvent(ruleTooDeep, i, "%d slices are open on its lane", len(l.stack))
		return
	}
	l.stack = append(l.stack, frame{ev: i, end: end, open: open})
	for _, f := range l.awaiting {
		t.repeats(f, i)
		t.flowEnd(t.keyOf(t.events.at(f)), f, i)
	}
	l.awaiting = l.awaiting[:0]
	if f, ok := t.embedded[i]; ok {
		t.embeddedPoint(f, i)
	}
}

// enclosing returns the innermost slice on the stack that has an end.
func (l *lane) enclosing() *frame {
	for i := len(l.stack) - 1; i >= 0; i-- {
		if !l.stack[i].open {
			return &l.stack[i]
		}
	}
	return nil
}

// closeEnded takes slices off the stack that have ended by ts. Intervals are
// closed left, open right. An open slice inside one that has ended is cut.
func (t *trace) closeEnded(l *lane, ts int64) {
	for i := len(l.stack) - 1; i >= 0; i-- {
		f := &l.stack[i]
		if f.open {
			continue
		}
		if f.end > ts {
			return
		}
		for _, inner := range l.stack[i+1:] {
			t.hitEvent(ruleBeginCut, inner.ev, "cut at %s, where %s ends", usText(f.end), t.at(f.ev))
		}
		l.stack = l.stack[:i]
	}
}

// end closes the innermost open slice of a lane.
func (t *trace) end(l *lane, i uint32, ev *event) {
	t.closeEnded(l, ev.ts)
	at := len(l.stack) - 1
	for at >= 0 && !l.stack[at].open {
		at--
	}
	if at < 0 {
		t.hitEvent(ruleEndWithoutBegin, i, "no B is open on its lane")
		return
	}
	f := &l.stack[at]
	if name := t.events.at(f.ev).name; ev.name != 0 && ev.name != name {
		t.hitEvent(ruleEndMismatch, i, "closes %s", t.at(f.ev))
	}
	f.open, f.end = false, ev.ts
	if at == len(l.stack)-1 {
		l.stack = l.stack[:at]
		return
	}
	in := l.stack[at+1]
	t.hitEvent(ruleOverlap, in.ev, "ends at %s, but %s around it at %s", usText(in.end), t.at(f.ev), usText(ev.ts))
}

// hitEvent records a finding about an event during the replay.
func (t *trace) hitEvent(r rule, i uint32, format string, args ...any) {
	if h := t.finds.hit(r); h != nil {
		h.say(t.at(i), format, args...)
	}
}

// at says where and what an event is.
func (t *trace) at(i uint32) string {
	ev := t.events.at(i)
	k := t.lanes[ev.lane].key
	return fmt.Sprintf("event %d (byte %d): %s %q pid %s tid %s ts %s", ev.num, ev.off, phText(ev.ph),
		short(t.names.get(ev.name)), t.placeText(k.pid), t.placeText(k.tid), usText(ev.ts))
}
