package check

import (
	"fmt"
	"math"
	"strings"
)

// admit does with one event what the importer's tokenizer does: it drops the
// event, or takes it in with the numbers it will have from then on.
func (t *trace) admit(e *rawEvent) {
	if (e.outside.esc|e.argSums.esc)&escNul != 0 {
		t.hit(ruleStringNul, e, "a string holds \\u0000")
	}
	switch e.ph {
	case 0:
		t.hit(rulePhMissing, e, "no ph")
		return
	case 'M':
		t.rep.Metadata++
		t.metadata(e)
		return
	case 'X', 'B', 'E', 'i', 'I', 'R', 's', 't', 'f', 'C':
	case 'b', 'n', 'e', 'P':
		t.hit(rulePhUnreplayed, e, "ph %q", string(e.ph))
		return
	default:
		t.hit(rulePhUnknown, e, "unknown ph")
		return
	}
	if !t.timed(e) || e.ph == 'X' && !t.lasting(e) {
		return
	}
	if e.ph == 'C' {
		t.rep.Counters++
		t.counter(e)
		return
	}
	if (e.ph == 'i' || e.ph == 'I' || e.ph == 'R') && e.scope != 0 && e.scope != 't' {
		t.args(e) // drawn on a track of the process or of the trace
		return
	}
	t.place(e)
}

// timed checks ts (perfetto-facts §1 Time).
func (t *trace) timed(e *rawEvent) bool {
	ts := &e.ts
	switch {
	case ts.state == absent:
		t.hit(ruleTsMissing, e, "no ts")
	case ts.state == bad:
		t.hit(ruleTsNotNumber, e, "ts is not a number")
	case ts.state == outOfRange:
		t.hit(ruleTsRange, e, "ts is beyond 63 bits of nanoseconds")
	case ts.ns < 0:
		t.hit(ruleTsNegative, e, "ts %s", usText(ts.ns))
	default:
		t.precise(e, ts, "ts")
		return true
	}
	return false
}

// lasting checks the dur of an X.
func (t *trace) lasting(e *rawEvent) bool {
	dur := &e.dur
	switch {
	case dur.state == absent:
		t.hit(ruleDurMissing, e, "no dur")
	case dur.state == bad:
		t.hit(ruleDurNotNumber, e, "dur is not a number")
	case dur.state == outOfRange, dur.ns > math.MaxInt64-e.ts.ns:
		t.hit(ruleDurRange, e, "the end is beyond 63 bits of nanoseconds")
	case dur.ns < 0:
		t.hit(ruleDurNegative, e, "dur %s", usText(dur.ns))
	default:
		t.precise(e, dur, "dur")
		if dur.ns == 0 {
			t.hit(ruleZeroLength, e, "dur 0")
		}
		return true
	}
	return false
}

func (t *trace) precise(e *rawEvent, in *instant, what string) {
	if in.lost {
		t.hit(ruleTimePrecision, e, "%s becomes %s", what, usText(in.ns))
	}
	if in.exponent {
		t.hit(ruleTimeExponent, e, "%s has an exponent", what)
	}
}

// args states what happens to args that the viewer keeps.
func (t *trace) args(e *rawEvent) {
	if n := e.argSums.bigs; n > 0 {
		t.hit(ruleArgUint64, e, "%d integers beyond int64 in args", n)
		t.finds[ruleArgUint64].count += n - 1
	}
	if n := e.argSums.nulls; n > 0 {
		t.hit(ruleArgNull, e, "%d nulls in args", n)
		t.finds[ruleArgNull].count += n - 1
	}
}

// pidOf returns the pid that the event ends up with.
func (t *trace) pidOf(e *rawEvent) uint64 {
	switch {
	case e.pid.state == absent:
		t.hit(rulePidMissing, e, "no pid")
	case e.pid.state != good:
		t.hit(rulePidRange, e, "pid becomes 0")
	case e.pid.text:
		t.hit(rulePidString, e, "pid is a string")
	}
	return e.pid.n
}

// laneOfEvent returns the lane that the event ends up on.
func (t *trace) laneOfEvent(e *rawEvent) uint32 {
	pid := t.pidOf(e)
	switch {
	case e.tid.state != absent && e.tid.state != good:
		t.hit(ruleTidRange, e, "tid becomes 0, then the pid")
	case e.tid.text:
		t.hit(rulePidString, e, "tid is a string")
	}
	if e.tid.n != 0 {
		i := t.lane(laneKey{pid, e.tid.n})
		t.lanes[i].ownTid = t.lanes[i].ownTid || e.tid.n == pid
		return i
	}
	i := t.lane(laneKey{pid, pid})
	if l := &t.lanes[i]; !l.zeroTid && (pid != 0 || e.tid.state == absent) {
		l.zeroTid = true
		t.hit(ruleTidZero, e, "the lane's tid becomes %s", t.placeText(pid))
	}
	return i
}

// metadata reads an M event.
func (t *trace) metadata(e *rawEvent) {
	switch string(t.names.get(e.name)) {
	case "process_name":
		p := t.process(t.pidOf(e))
		if e.args.nameKind != kindString {
			t.hit(ruleMetadataUnread, e, "args.name is not a string")
			return
		}
		if p.named && p.name != e.args.name {
			t.hit(ruleProcessRenamed, e, "%q, but event %d said %q", short(t.names.get(e.args.name)), p.namedAt, short(t.names.get(p.name)))
		}
		p.named, p.name, p.namedAt = true, e.args.name, e.num
	case "thread_name":
		l := &t.lanes[t.laneOfEvent(e)]
		if e.args.nameKind != kindString {
			t.hit(ruleMetadataUnread, e, "args.name is not a string")
			return
		}
		if l.named && l.name != e.args.name {
			t.hit(ruleLaneRenamed, e, "%q, but event %d said %q", short(t.names.get(e.args.name)), l.namedAt, short(t.names.get(l.name)))
		}
		l.named, l.name, l.namedAt = true, e.args.name, e.num
	case "process_sort_index":
		if p := t.process(t.pidOf(e)); t.sortIndex(e) {
			p.sort = e.args.sort
		}
	case "thread_sort_index":
		if i := t.laneOfEvent(e); t.sortIndex(e) {
			t.lanes[i].sort = e.args.sort
		}
	}
}

// sortIndex reports whether the sort index is read (field report 19).
func (t *trace) sortIndex(e *rawEvent) bool {
	if e.args.sortState != good {
		t.hit(ruleSortIndexUnread, e, "args.sort_index is not an integer")
		return false
	}
	return true
}

// counter takes in a C event (perfetto-facts §1 Counters).
func (t *trace) counter(e *rawEvent) {
	pid := t.pidOf(e)
	t.process(pid).drawn = true
	if e.args.members == 0 {
		t.hit(ruleCounterEmpty, e, "no args")
	}
	if n := e.args.bads; n > 0 {
		t.hit(ruleCounterValue, e, "%d values of args are no numbers, the first is %q", n, short(t.names.get(e.args.badKey)))
		t.finds[ruleCounterValue].count += n - 1
	}
	key := counterKey{pid: pid, name: e.name}
	num := int64(0)
	switch {
	case e.id.state == good && e.id.text:
		t.hit(ruleCounterID, e, "id %q", short(t.names.get(uint32(e.id.n))))
		key.id = e.id.n
	case e.id.state == good:
		num = e.id.n
	}
	for _, key.key = range e.args.keys {
		c, ok := t.counters[key]
		switch {
		case !ok:
			t.counters[key] = counter{tid: e.tid.n, id: num}
		case !c.merged && (c.tid != e.tid.n || c.id != num):
			c.merged = true
			t.counters[key] = c
			t.hit(ruleCounterMerged, e, "key %q has come with another tid or id before", short(t.names.get(key.key)))
		}
	}
}

// place puts a slice, mark or flow point on its lane and keeps it for the
// replay.
func (t *trace) place(e *rawEvent) {
	ev := event{num: e.num, off: e.off, ph: e.ph, name: e.name, ts: e.ts.ns, lane: t.laneOfEvent(e)}
	switch e.ph {
	case 's', 't', 'f':
		if !t.flowPoint(e, &ev) {
			return
		}
		t.events.add(ev)
		return
	case 'I', 'R':
		ev.ph = 'i'
	case 'X':
		ev.dur = e.dur.ns
	}
	t.args(e)
	if ev.ph != 'E' {
		l := &t.lanes[ev.lane]
		if l.slices == 0 {
			t.process(l.key.pid).drawn = true
			l.first = t.events.len()
		}
		l.slices++
		if e.name == 0 {
			t.hit(ruleNameMissing, e, "no name")
		}
	}
	if ev.ph == 'X' || ev.ph == 'B' {
		t.rep.Slices++
		t.embed(e)
		ev.facts = t.facts.number(e.args.facts)
		if e.id.state == good {
			ev.id, ev.idKind = e.id.n, idKindOf(e.id)
		}
	}
	t.events.add(ev)
}

// flowPoint takes in an s, t or f (perfetto-facts §1 Flows).
func (t *trace) flowPoint(e *rawEvent, ev *event) bool {
	if !e.id.hex {
		t.hit(ruleFlowIDInvalid, e, "id is missing or neither an integer of 63 bits nor hex digits")
		return false
	}
	t.rep.Flows++
	if e.id.text {
		t.hit(ruleFlowIDString, e, "id %q is read as %d", short(t.names.get(uint32(e.id.n))), e.id.flow)
	}
	switch {
	case e.args.members == 0:
	case e.args.members == e.args.facts.len():
		ev.facts = t.facts.number(e.args.facts) // its slice may have them too
	default:
		t.hit(ruleFlowArgs, e, "%d args", e.args.members)
	}
	ev.id, ev.cat, ev.bp = int64(e.id.flow), e.cat, e.bp
	if e.bind.state == good {
		ev.dur, ev.idKind = e.bind.n, idKindOf(e.bind)
	}
	return true
}

// hit records a finding about an event while it is being read.
func (t *trace) hit(r rule, e *rawEvent, format string, args ...any) {
	if h := t.finds.hit(r); h != nil {
		h.say(t.rawText(e), format, args...)
	}
}

// rawText says where and what an event is, as far as it is written.
func (t *trace) rawText(e *rawEvent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "event %d (byte %d): %s %q", e.num, e.off, phText(e.ph), short(t.names.get(e.name)))
	if e.pid.state == good {
		b.WriteString(" pid " + t.placeText(e.pid.n))
	}
	if e.tid.state == good {
		b.WriteString(" tid " + t.placeText(e.tid.n))
	}
	if e.ts.state == good {
		b.WriteString(" ts " + usText(e.ts.ns))
	}
	return b.String()
}

func phText(ph byte) string {
	if ph <= ' ' || ph > '~' {
		return "?"
	}
	return string(ph)
}
