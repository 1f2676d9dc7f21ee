package check

import (
	"math"
	"strconv"
)

// An instant is a ts or dur as the importer reads it.
type instant struct {
	state    state
	ns       int64
	lost     bool // digits are lost on the way
	exponent bool
}

// A state says whether a field is there and of use.
type state uint8

const (
	absent state = iota
	good
	bad        // not a number
	outOfRange // a number with no room
)

// A place number is a pid or tid. Numbers are kept as they are, strings that
// are no number get numbers above all of those.
type placeNumber struct {
	state state
	text  bool // written as a string
	n     uint64
}

// firstText is the number of the first pid or tid that is only text.
const firstText = 1 << 32

// An ident is an id or bind_id.
type ident struct {
	state state
	text  bool   // written as a string
	n     int64  // the integer, or the string's number in the pool
	flow  uint64 // what a flow makes of it
	hex   bool   // flow has a value: an integer, or a string of hex digits
}

// An argSummary is what the rules need to know of an event's args. Members
// come before ph in many files, so it is taken for every event alike.
type argSummary struct {
	members   int
	keys      []uint32 // names in the pool of those that are numbers
	badKey    uint32   // the first that is no number
	bads      int64
	name      uint32 // args.name
	nameKind  kind
	sort      int64 // args.sort_index
	sortState state
	facts     facts
}

// A rawEvent is one element of traceEvents as written.
type rawEvent struct {
	num     uint32 // index in traceEvents
	off     int64  // where it starts in the file
	ph      byte
	name    uint32
	named   bool
	cat     uint32
	ts, dur instant
	pid     placeNumber
	tid     placeNumber
	id      ident
	bind    ident
	bp      bool // "bp":"e"
	scope   byte // "s" of an instant, 0 if absent
	flowIn  bool
	flowOut bool
	args    argSummary
	argSums tally // of args
	outside tally // of everything else
}

// event reads the object that starts here into t.raw. It returns false on an
// error, which may be that the file ends here.
func (t *trace) event() bool {
	e := &t.raw
	*e = rawEvent{num: uint32(t.rep.Events), off: t.s.offset(), args: argSummary{keys: e.args.keys[:0]}}
	if !t.s.enter() {
		return false
	}
	for n := 0; ; n++ {
		key, ok := t.s.member(n)
		if !ok {
			return t.s.err == nil
		}
		if !t.field(e, key) {
			return false
		}
	}
}

// field reads the value of one member of an event.
func (t *trace) field(e *rawEvent, key []byte) bool {
	if string(key) == "args" {
		return t.readArgs(e)
	}
	var set func(*trace, *rawEvent, value)
	switch string(key) {
	case "ph":
		set = (*trace).setPh
	case "name":
		set = (*trace).setName
	case "cat":
		set = func(t *trace, e *rawEvent, v value) { e.cat = t.intern(v) }
	case "ts":
		set = func(_ *trace, e *rawEvent, v value) { e.ts = readInstant(v) }
	case "dur":
		set = func(_ *trace, e *rawEvent, v value) { e.dur = readInstant(v) }
	case "pid":
		set = func(t *trace, e *rawEvent, v value) { e.pid = t.readPlace(v) }
	case "tid":
		set = func(t *trace, e *rawEvent, v value) { e.tid = t.readPlace(v) }
	case "id":
		set = func(t *trace, e *rawEvent, v value) { e.id = t.readIdent(v) }
	case "bind_id":
		set = func(t *trace, e *rawEvent, v value) { e.bind = t.readIdent(v) }
	case "bp":
		set = func(_ *trace, e *rawEvent, v value) { e.bp = v.kind == kindString && string(v.raw) == "e" }
	case "s":
		set = (*trace).setScope
	case "flow_in":
		set = func(_ *trace, e *rawEvent, v value) { e.flowIn = v.yes }
	case "flow_out":
		set = func(_ *trace, e *rawEvent, v value) { e.flowOut = v.yes }
	}
	v, ok := t.s.value(&e.outside)
	if ok && set != nil {
		t.s.decode(&v)
		set(t, e, v)
	}
	return ok
}

func (t *trace) setPh(e *rawEvent, v value) {
	e.ph = 0
	if v.kind != kindString || len(v.raw) == 0 {
		return
	}
	e.ph = v.raw[0]
	if len(v.raw) > 1 {
		e.ph = '?' // no phase has two letters
	}
}

func (t *trace) setName(e *rawEvent, v value) {
	e.name, e.named = t.intern(v), v.kind == kindString
}

func (t *trace) setScope(e *rawEvent, v value) {
	e.scope = 't'
	if v.kind == kindString && len(v.raw) > 0 {
		e.scope = v.raw[0]
	}
}

// intern returns the number of a string, 0 for anything else.
func (t *trace) intern(v value) uint32 {
	if v.kind != kindString {
		return 0
	}
	return t.names.put(v.raw)
}

// readInstant reads a time: a number, or a string of one.
func readInstant(v value) instant {
	n := v.num
	switch v.kind {
	case kindNumber:
	case kindString:
		var ok bool
		if n, ok = parseNumber(v.raw); !ok {
			return instant{state: bad}
		}
	default:
		return instant{state: bad}
	}
	ns, lost, ok := n.nanoseconds()
	if !ok && !n.neg {
		return instant{state: outOfRange, exponent: n.exp}
	}
	if !ok {
		ns = math.MinInt64 // a negative time is dropped whatever it is
	}
	return instant{state: good, ns: ns, lost: lost, exponent: n.exp}
}

// readPlace reads a pid or tid (perfetto-facts §1 pid/tid).
func (t *trace) readPlace(v value) placeNumber {
	switch v.kind {
	case kindNumber:
		n, ok := v.num.int64()
		if !ok || n < 0 || n > math.MaxUint32 {
			return placeNumber{state: outOfRange}
		}
		return placeNumber{state: good, n: uint64(n)}
	case kindString:
		n, err := strconv.ParseUint(string(v.raw), 10, 32)
		if err != nil {
			n = firstText + uint64(t.intern(v))
		}
		return placeNumber{state: good, text: true, n: n}
	}
	return placeNumber{state: bad}
}

// readIdent reads an id as a flow does: an integer that fits into int64, or
// a string of hex digits (perfetto-facts §1 Flows).
func (t *trace) readIdent(v value) ident {
	switch v.kind {
	case kindNumber:
		n, ok := v.num.int64()
		if !ok {
			return ident{state: outOfRange}
		}
		return ident{state: good, n: n, flow: uint64(n), hex: true}
	case kindString:
		id := ident{state: good, text: true, n: int64(t.intern(v))}
		digits := v.raw
		if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
			digits = digits[2:]
		}
		if u, err := strconv.ParseUint(string(digits), 16, 64); err == nil {
			id.flow, id.hex = u, true
		}
		return id
	}
	return ident{state: bad}
}

// readArgs reads an event's args.
func (t *trace) readArgs(e *rawEvent) bool {
	if t.s.peek() != '{' {
		_, ok := t.s.value(&e.outside)
		return ok
	}
	if !t.s.enter() {
		return false
	}
	for n := 0; ; n++ {
		key, ok := t.s.member(n)
		if !ok {
			return t.s.err == nil
		}
		e.args.members++
		k := t.names.put(key)
		fact := factOf(key)
		isName, isSort := string(key) == "name", string(key) == "sort_index"
		v, ok := t.s.value(&e.argSums)
		if !ok {
			return false
		}
		t.s.decode(&v)
		e.args.note(k, v)
		if isName {
			e.args.name, e.args.nameKind = t.intern(v), v.kind
		}
		if isSort {
			e.args.setSort(v)
		}
		e.args.facts.note(fact, v)
	}
}

// note takes one member of args down as a counter would take it.
func (a *argSummary) note(key uint32, v value) {
	numeric := v.kind == kindNumber
	if v.kind == kindString {
		_, numeric = parseNumber(v.raw)
	}
	if numeric {
		a.keys = append(a.keys, key)
		return
	}
	if a.bads == 0 {
		a.badKey = key
	}
	a.bads++
}

func (a *argSummary) setSort(v value) {
	a.sortState = bad
	if v.kind == kindNumber {
		if n, ok := v.num.int64(); ok {
			a.sort, a.sortState = n, good
		}
	}
}
