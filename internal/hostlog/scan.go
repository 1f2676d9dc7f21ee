package hostlog

import (
	"bytes"
	"math"
)

func digit(c byte) bool { return c >= '0' && c <= '9' }

// blank is whitespace. Lines are split before, so there are no line feeds.
func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// number reads decimal digits from i. The end is i if there are none, and −1 if
// the number has more than 64 bits.
func number(b []byte, i int) (n uint64, end int) {
	for ; i < len(b) && digit(b[i]); i++ {
		d := uint64(b[i] - '0')
		if n > (math.MaxUint64-d)/10 {
			return 0, -1
		}
		n = n*10 + d
	}
	return n, i
}

// digits is where the run of decimal digits at i ends.
func digits(b []byte, i int) int {
	for i < len(b) && digit(b[i]) {
		i++
	}
	return i
}

// hex is where the run of hex digits at i ends.
func hex(b []byte, i int) int {
	for i < len(b) && unhex(b[i]) >= 0 {
		i++
	}
	return i
}

// blanks is where the run of whitespace at i ends.
func blanks(b []byte, i int) int {
	for i < len(b) && blank(b[i]) {
		i++
	}
	return i
}

// word is where the run of bytes at i ends that are no whitespace.
func word(b []byte, i int) int {
	for i < len(b) && !blank(b[i]) {
		i++
	}
	return i
}

// trim takes whitespace from both ends.
func trim(b []byte) []byte {
	b = b[blanks(b, 0):]
	for len(b) > 0 && blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// fields reads the fields of a record, one after another. After the first that is
// not there nothing more is read.
type fields struct {
	b  []byte
	i  int
	ok bool
}

// key passes whitespace and the key with its =.
func (f *fields) key(key string) bool {
	if !f.ok {
		return false
	}
	i := blanks(f.b, f.i)
	if i == f.i || len(f.b)-i < len(key) || string(f.b[i:i+len(key)]) != key {
		f.ok = false
		return false
	}
	f.i = i + len(key)
	return true
}

// number reads a field of decimal digits, at most limit.
func (f *fields) number(key string, limit uint64) uint64 {
	if !f.key(key) {
		return 0
	}
	n, end := number(f.b, f.i)
	if end <= f.i || n > limit {
		f.ok = false
		return 0
	}
	f.i = end
	return n
}

// text reads a field up to where a run of its bytes ends, at least one byte.
func (f *fields) text(key string, run func([]byte, int) int) []byte {
	if !f.key(key) {
		return nil
	}
	start := f.i
	f.i = run(f.b, start)
	f.ok = f.i > start
	return f.b[start:f.i]
}

// ending says what follows a piece of text.
type ending uint8

const (
	endLine   ending = iota // the end of its line
	endMarker               // the marker of a record, on the same line
	endCut                  // more of the line, which was too long to be held at once
)

// line reads the records on one line, or on a piece of one.
type line struct {
	r   *Reader
	b   []byte
	end ending

	colon  int // the next colon at or behind where envelope last asked; len(b) if there is none
	lastCR int // the last carriage return before it, −1 if there is none
}

const (
	spanMark   = "[STRACE]"
	anchorMark = "[CLOCK_ANCHOR]"
	dropsMark  = "[HOSTLOG_DROPS]"
)

func at(b []byte, i int, text string) bool {
	return len(b)-i >= len(text) && string(b[i:i+len(text)]) == text
}

// bracket is the first [ at or behind i, len(b) if there is none.
func bracket(b []byte, i int) int {
	if n := bytes.IndexByte(b[i:], '['); n >= 0 {
		return i + n
	}
	return len(b)
}

// scan finds every record, left to right.
func (l *line) scan() error {
	l.colon = -1
	for i := bracket(l.b, 0); i < len(l.b); {
		if !at(l.b, i, spanMark) {
			l.companion(i)
			i = bracket(l.b, i+1)
			continue
		}
		next, err := l.span(i)
		if err != nil {
			return err
		}
		i = bracket(l.b, next)
	}
	return nil
}

// companion reads the record other than a span whose marker is at i, if one is.
func (l *line) companion(i int) {
	switch {
	case at(l.b, i, anchorMark):
		if l.end == endLine {
			l.anchor(i)
		}
	case at(l.b, i, dropsMark):
		l.drops(i)
	}
}

// span reads the record whose marker is at i, and says where to go on.
func (l *line) span(i int) (next int, err error) {
	next = i + len(spanMark)
	f := fields{b: l.b, i: next, ok: true}
	f.key("v=")
	version := f.i
	if f.i = digits(l.b, f.i); !f.ok || f.i == version {
		return next, nil
	}
	l.r.Heads++
	other := f.i != version+1 || l.b[version] != '1'

	var s Span
	s.PID = int(f.number("pid=", math.MaxInt))
	s.TID = int64(f.number("tid=", math.MaxInt64))
	s.Inv = f.number("inv=", math.MaxUint64)
	hid := f.text("hid=", hex)
	s.Depth = int(f.number("depth=", math.MaxInt))
	name := f.text("name=", word)
	s.TS = int64(f.number("ts=", math.MaxInt64))
	s.Dur = int64(f.number("dur=", math.MaxInt64))
	if !f.ok || s.Dur > math.MaxInt64-s.TS {
		return next, nil
	}

	end, closed := l.attributes(f.i)
	if !closed {
		return end, nil
	}
	if other {
		l.r.OtherVersions++
	}
	l.r.keep(&s, hid, name, trim(l.b[f.i:end]))
	l.r.spanOf(s.PID)
	if l.r.Span != nil {
		err = l.r.Span(&s)
	}
	return end, err
}

// attributes is where the attribute text from i ends, and whether its end is
// known. Other records in it are read on the way.
func (l *line) attributes(i int) (end int, closed bool) {
	for i = bracket(l.b, i); i < len(l.b); i = bracket(l.b, i+1) {
		if at(l.b, i, spanMark) || l.envelope(i) {
			return i, true
		}
		l.companion(i)
	}
	return len(l.b), l.end != endCut
}

// envelope tells whether the envelope of a record begins at i:
// [mono_ns=…][T0x…][LEVEL] function: and whitespace, or the end, behind it.
func (l *line) envelope(i int) bool {
	i = stamp(l.b, i)
	if i < 0 {
		return false
	}
	level := i
	for i < len(l.b) && l.b[i] >= 'A' && l.b[i] <= 'Z' {
		i++
	}
	if i == level || !at(l.b, i, "]") {
		return false
	}
	i++
	// Each colon of a line is looked for once, however many envelopes lack one.
	if l.colon < i {
		l.colon = len(l.b)
		l.lastCR = -1
		if n := bytes.IndexByte(l.b[i:], ':'); n >= 0 {
			l.colon = i + n
			l.lastCR = i + bytes.LastIndexByte(l.b[i:l.colon], '\r')
			if l.lastCR < i {
				l.lastCR = -1
			}
		}
	}
	if l.colon == len(l.b) || !l.blankAt(l.colon+1) {
		return false
	}
	// Whitespace, then the function: no carriage return in it.
	if i == l.colon || !blank(l.b[i]) {
		return false
	}
	function := i + 1
	if l.lastCR >= function {
		if blanks(l.b[:l.lastCR], i) < l.lastCR {
			return false
		}
		function = l.lastCR + 1
	}
	return function < l.colon
}

// blankAt tells whether whitespace is at i; the end of the line is.
func (l *line) blankAt(i int) bool {
	if i == len(l.b) {
		return l.end == endLine
	}
	return blank(l.b[i])
}

// stamp is where the level begins in an envelope at i, −1 if there is none.
func stamp(b []byte, i int) int {
	const mono, thread = "[mono_ns=", "][T0x"
	if !at(b, i, mono) {
		return -1
	}
	i += len(mono)
	end := digits(b, i)
	if end == i || !at(b, end, thread) {
		return -1
	}
	i = end + len(thread)
	end = hex(b, i)
	if end == i || !at(b, end, "][") {
		return -1
	}
	return end + len("][")
}

// anchor reads the clock anchor whose marker is at i. It counts only in the
// envelope of its own and with nothing behind it.
func (l *line) anchor(i int) {
	const before = "TIMING] clock_anchor: "
	var values [3]uint64
	end := i
	for n, key := range []string{anchorMark + " v=1 pid=", " mono_ns=", " wall_ns="} {
		if !at(l.b, end, key) {
			return
		}
		end += len(key)
		value, next := number(l.b, end)
		if next <= end || value > math.MaxInt64 {
			return
		}
		values[n], end = value, next
	}
	// What is behind it is looked at first: that leaves at most one marker of a line.
	rest := bytes.TrimLeft(l.b[end:], " \t")
	if len(rest) > 0 && string(rest) != "\r" {
		return
	}
	head := l.b[:i]
	from := bytes.LastIndex(head, []byte("[mono_ns="))
	if from < 0 || stamp(l.b, from) != i-len(before) || !bytes.HasSuffix(head, []byte(before)) {
		return
	}
	l.r.anchor(Anchor{PID: int(values[0]), MonoNS: int64(values[1]), WallNS: int64(values[2])})
}

// drops reads the drop report whose marker is at i.
func (l *line) drops(i int) {
	f := fields{b: l.b, i: i + len(dropsMark), ok: true}
	f.key("v=1") // and nothing behind the 1, as whitespace precedes the next key
	var d Drops
	d.PID = int(f.number("pid=", math.MaxInt))
	d.New = f.number("new=", math.MaxUint64)
	d.Total = f.number("total=", math.MaxUint64)
	d.QueueFull = f.number("queue_full=", math.MaxUint64)
	d.ClaimExhausted = f.number("claim_exhausted=", math.MaxUint64)
	d.OutputFailed = f.number("output_failed=", math.MaxUint64)
	d.NotAdmitted = f.number("not_admitted=", math.MaxUint64)
	if f.ok && (f.i < len(l.b) || l.end != endCut) {
		l.r.drop(d)
	}
}
