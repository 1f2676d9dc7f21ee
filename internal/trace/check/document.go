package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// headSize is how much of a file the viewer looks at to guess its type
// (perfetto-facts §1 File shape, kGuessTraceMaxLookahead).
const headSize = 128

// A trace is one file while it is being checked.
type trace struct {
	s     scanner
	raw   rawEvent
	names *pool
	rep   Report
	finds findings

	world
	events   store
	flows    map[flowKey]flow
	embedded map[uint32]embeddedFlow // by event: flows written on slices
	sliceIDs []sliceID               // sorted, once something asks
	facts    factSets
}

func newTrace(r io.Reader) *trace {
	return &trace{
		s:     scanner{r: r, buf: make([]byte, windowSize), surrogateAt: -1},
		names: newPool(),
		world: newWorld(),
		flows: map[flowKey]flow{},
	}
}

// document reads the file from its first byte to its last.
func (t *trace) document() error {
	for t.s.end < headSize && t.s.fill() {
		// The guess is made on the first bytes alone.
	}
	if t.s.err != nil {
		return t.s.err
	}
	if err := guess(t.s.buf[:min(headSize, t.s.end)]); err != nil {
		return err
	}
	if t.s.peek() == '[' {
		if !t.eventArray(true) {
			return t.s.err
		}
	} else if err := t.object(); err != nil {
		return err
	}
	if t.s.peek() != 0 || t.s.pos < t.s.end {
		t.s.fail("not JSON: %q after the end of the trace", t.s.buf[t.s.pos])
	}
	return t.s.err
}

// guess says whether the viewer takes a file with this head for JSON.
func guess(head []byte) error {
	packed := bytes.Map(func(r rune) rune {
		if r == ' ' || '\t' <= r && r <= '\r' {
			return -1
		}
		return r
	}, head)
	switch {
	case bytes.HasPrefix(packed, []byte(`{"`)), bytes.HasPrefix(packed, []byte(`[{"`)):
		return nil
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return errors.New(`byte 0: a byte order mark: the viewer says "unknown trace type" and refuses the file`)
	case len(head) == 0:
		return errors.New(`byte 0: the file is empty: an empty trace is {"traceEvents":[]}`)
	case len(packed) == 0:
		return fmt.Errorf("byte 0: nothing but blanks in the first %d bytes: the viewer loads nothing of the file and says nothing", headSize)
	}
	return fmt.Errorf(`byte 0: the first %d bytes without blanks must start with {" or [{" but start with %q: the viewer says "unknown trace type" and refuses the file`,
		headSize, packed[:min(8, len(packed))])
}

// object reads the object form, which has to be complete.
func (t *trace) object() error {
	found := false
	t.s.enter()
	for n := 0; ; n++ {
		key, ok := t.s.member(n)
		if !ok {
			break
		}
		var sum tally
		switch {
		case string(key) == "traceEvents":
			found = true
			if t.s.peek() != '[' {
				return fmt.Errorf("byte %d: traceEvents is not an array: the viewer shows nothing of the file", t.s.offset())
			}
			ok = t.eventArray(false)
		case string(key) == "metadata":
			_, ok = t.s.value(&sum)
			if ok {
				ok = t.noSurrogates(sum.esc, "metadata")
			}
		default:
			_, ok = t.s.value(&sum)
		}
		if !ok {
			break
		}
	}
	if t.s.err != nil && t.s.cut {
		return fmt.Errorf("%w: the viewer refuses an object form that is cut off", t.s.err)
	}
	if t.s.err == nil && !found {
		return errors.New("byte 0: no traceEvents in the object: the viewer shows nothing of the file")
	}
	return t.s.err
}

// eventArray reads the array of events. If loose, it is the whole file and
// may be cut off (perfetto-facts §1 File shape).
func (t *trace) eventArray(loose bool) bool {
	s := &t.s
	s.enter()
	for n := 0; ; n++ {
		c := s.peek()
		if n > 0 && c == ',' {
			s.pos++
			if c = s.peek(); c == ']' {
				t.hitAt(ruleTrailingComma, "a comma before the closing bracket")
			}
		} else if n > 0 && c != ']' && c != 0 {
			return s.unexpected("',' or ']'")
		}
		if c == ']' {
			s.leave()
			return true
		}
		if loose && c == 0 && s.pos == s.end && s.err == nil {
			t.hitAt(ruleArrayCut, "the file ends here without the closing bracket")
			return true
		}
		start := s.offset()
		if !t.element() {
			if !loose || !s.cut {
				return false
			}
			s.err = nil
			s.pos = s.end
			t.hitAt(ruleEventCut, fmt.Sprintf("event %d starts at byte %d and ends with the file", t.rep.Events, start))
			return true
		}
	}
}

// hitAt records something about the file at the present byte.
func (t *trace) hitAt(r rule, text string) {
	if h := t.finds.hit(r); h != nil {
		h.say(fmt.Sprintf("byte %d", t.s.offset()), "%s", text)
	}
}

// element reads one element of traceEvents and takes it in.
func (t *trace) element() bool {
	if t.rep.Events == math.MaxUint32 {
		return t.s.fail("more than %d events", t.rep.Events)
	}
	if t.s.peek() != '{' {
		start, sum := t.s.offset(), tally{}
		if _, ok := t.s.value(&sum); !ok {
			return false
		}
		if h := t.finds.hit(ruleEventNotObject); h != nil {
			h.say(fmt.Sprintf("event %d (byte %d)", t.rep.Events, start), "not an object")
		}
		t.rep.Events++
		return true
	}
	if !t.event() {
		return false
	}
	if !t.noSurrogates(t.raw.outside.esc|t.raw.argSums.esc, "an event") {
		return false
	}
	t.rep.Events++
	t.admit(&t.raw)
	return true
}

// noSurrogates refuses the file if a string the viewer reads holds one. That
// it refuses the file is known of names; other strings go the same way there.
func (t *trace) noSurrogates(esc escapes, where string) bool {
	if esc&escSurrogate == 0 {
		return true
	}
	if t.s.err == nil {
		t.s.err = fmt.Errorf("byte %d: a surrogate pair as escapes in %s: the viewer refuses the whole file; write the character as UTF-8", t.s.surrogateAt, where)
	}
	return false
}
