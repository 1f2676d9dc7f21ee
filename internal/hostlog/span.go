package hostlog

import (
	"iter"
	"strings"
)

// Span is one [STRACE] record: something that began, took a while and ended.
type Span struct {
	PID   int
	TID   int64
	Inv   uint64 // the run: unique with PID for chip spans; the run id for node spans; 0 = of a thread
	HID   string // hash of the callable: lower-case hex without 0x, compared as text
	Depth int    // nesting on its thread, 0 = outermost
	Name  string // dotted, decoded
	TS    int64  // start: of the host's monotonic clock, or for a device span of the run's device phases
	Dur   int64
	Attrs string // key=value items as they stand in the log, undecoded
}

// End is when the span ended.
func (s *Span) End() int64 { return s.TS + s.Dur }

// boundaries is a span of the host that tells about the device, in attributes with clk=dev.
const boundaries = "chip.run.runner_run.device_boundaries"

// Device tells whether the span happened on the device, whose times are not the
// host's. Boundaries of the device are an instant of the host (spec/newest.md §11).
func (s *Span) Device() bool {
	return strings.Contains(s.Attrs, "clk=dev") && s.Name != boundaries
}

// Family says who writes spans of such a name.
type Family uint8

// The families. Unknown names are kept like others.
const (
	Unknown  Family = iota
	Chip            // a run of one chip
	Core            // reserved
	Node            // a dispatcher, of whatever level
	External        // a foreign producer
)

func (f Family) String() string {
	switch f {
	case Chip:
		return "chip"
	case Core:
		return "core"
	case Node:
		return "node"
	case External:
		return "external"
	}
	return "unknown"
}

// FamilyOf is the family of a name: its first word decides.
func FamilyOf(name string) Family {
	first, _, _ := strings.Cut(name, ".")
	switch first {
	case "chip":
		return Chip
	case "core":
		return Core
	case "node", "network1", "network2", "network3":
		return Node
	case "ext":
		return External
	}
	return Unknown
}

// Family is the family of the span's name.
func (s *Span) Family() Family { return FamilyOf(s.Name) }

// Leaf is what a span of the node family says: the name without the word of the
// level. "" for other families.
func (s *Span) Leaf() string {
	if s.Family() != Node {
		return ""
	}
	_, leaf, _ := strings.Cut(s.Name, ".")
	return leaf
}

// Producer is who wrote an external span, "" if its name does not say or if it is
// none: the name needs a producer and something behind it.
func (s *Span) Producer() string {
	rest, ok := strings.CutPrefix(s.Name, "ext.")
	if !ok {
		return ""
	}
	producer, rest, _ := strings.Cut(rest, ".")
	if detail, _, _ := strings.Cut(rest, "."); detail == "" {
		return ""
	}
	return producer
}

// Value is the value of an attribute.
type Value struct {
	raw string // as it stands in the log
}

// Text is the value as text, decoded.
func (v Value) Text() string { return decode(v.raw) }

// Integer is the value in its shortest decimal form, if it is an integer, of
// whatever size.
func (v Value) Integer() (string, bool) {
	digits, minus := strings.CutPrefix(v.raw, "-")
	if digits == "" {
		return "", false
	}
	for i := range len(digits) {
		if !digit(digits[i]) {
			return "", false
		}
	}
	short := strings.TrimLeft(digits, "0")
	switch {
	case short == "":
		return "0", true
	case minus:
		return "-" + short, true
	}
	return short, true
}

// Uint is the value if it is an integer of 64 bits without a sign.
func (v Value) Uint() (uint64, bool) {
	text, ok := v.Integer()
	if !ok {
		return 0, false
	}
	n, end := number([]byte(text), 0)
	return n, end == len(text)
}

// Int is the value if it is an integer of 64 bits with a sign.
func (v Value) Int() (int64, bool) {
	text, ok := v.Integer()
	if !ok {
		return 0, false
	}
	digits, minus := strings.CutPrefix(text, "-")
	n, end := number([]byte(digits), 0)
	switch {
	case end != len(digits):
		return 0, false
	case minus:
		return -int64(n), n <= 1<<63
	}
	return int64(n), n < 1<<63
}

// Items are the attributes of a span in their order, repeated keys too. Text
// without a = is no attribute.
func (s *Span) Items() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for item := range strings.FieldsFuncSeq(s.Attrs, func(r rune) bool { return r < 128 && blank(byte(r)) }) {
			if key, value, ok := strings.Cut(item, "="); ok && !yield(key, Value{value}) {
				return
			}
		}
	}
}

// Attr is the value of a key, the last one if the key is repeated.
func (s *Span) Attr(key string) (Value, bool) {
	var found Value
	ok := false
	for k, v := range s.Items() {
		if k == key {
			found, ok = v, true
		}
	}
	return found, ok
}
