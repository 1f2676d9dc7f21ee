package strace

import (
	"strconv"

	"swimlane/internal/hostlog"
	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// args are the args of an event: each key has one value, the one put last, at the
// place of the first.
type args struct {
	list  []trace.Arg
	place map[string]int // of list, once it is long
}

func (a *args) reset() { a.list, a.place = a.list[:0], nil }

// long is how many keys are looked for one by one.
const long = 32

func (a *args) put(x trace.Arg) {
	if a.place == nil && len(a.list) > long {
		a.place = make(map[string]int, 2*long)
		for i := range a.list {
			a.place[a.list[i].Key] = i
		}
	}
	if a.place != nil {
		i, ok := a.place[x.Key]
		if ok {
			a.list[i] = x
			return
		}
		a.place[x.Key] = len(a.list)
	} else {
		for i := range a.list {
			if a.list[i].Key == x.Key {
				a.list[i] = x
				return
			}
		}
	}
	a.list = append(a.list, x)
}

func (a *args) text(key, value string) {
	a.put(trace.Arg{Key: key, Kind: trace.Text, Text: []byte(value)})
}

// span puts what all events say of their span.
func (a *args) span(s *hostlog.Span) {
	a.put(trace.Arg{Key: "inv", Num: s.Inv})
	a.text("hid", s.HID)
	a.put(trace.Arg{Key: "depth", Num: uint64(s.Depth)})
	a.text("attrs", s.Attrs)
}

// attributes puts all attributes of a span, integers as numbers.
func (a *args) attributes(s *hostlog.Span) {
	for key, v := range s.Items() {
		switch digits, ok := v.Integer(); {
		case !ok:
			a.text(key, v.Text())
		default:
			a.put(number(key, v, digits))
		}
	}
}

func number(key string, v hostlog.Value, digits string) trace.Arg {
	if n, ok := v.Int(); ok {
		return trace.Arg{Key: key, Kind: trace.Int, Num: uint64(n)}
	}
	if n, ok := v.Uint(); ok {
		return trace.Arg{Key: key, Kind: trace.Uint, Num: n}
	}
	return trace.Arg{Key: key, Kind: trace.Number, Text: []byte(digits)}
}

// wall puts the wall time of a span's start, if its process says it.
func (a *args) wall(l *Log, s *hostlog.Span) {
	if ns, ok := l.Wall(s); ok {
		a.text("wall_ts_ns", strconv.FormatInt(ns, 10))
		a.text("wall_time", hostlog.FormatWall(ns))
	}
}

// anchors is the field clockAnchors of a trace, nothing if there are none.
func (l *Log) anchors() []trace.Field {
	all := l.Anchors()
	if len(all) == 0 {
		return nil
	}
	b := []byte{'['}
	for i, a := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"pid":`...)
		b = strconv.AppendInt(b, int64(a.PID), 10)
		b = append(b, `,"mono_ns":"`...)
		b = strconv.AppendInt(b, a.MonoNS, 10)
		b = append(b, `","wall_ns":"`...)
		b = strconv.AppendInt(b, a.WallNS, 10)
		b = append(b, `"}`...)
	}
	return []trace.Field{{Key: "clockAnchors", JSON: append(b, ']')}}
}

// unit is the field that says in what unit a viewer shows times.
var unit = trace.Field{Key: "displayTimeUnit", JSON: []byte(`"ms"`)}

// appendAttrs appends the attributes of a span as a JSON object, the raw text first.
func appendAttrs(b []byte, a *args, s *hostlog.Span) []byte {
	a.reset()
	a.text("raw", s.Attrs)
	a.attributes(s)
	b = append(b, '{')
	for i := range a.list {
		x := &a.list[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendString(b, x.Key), ':')
		switch x.Kind {
		case trace.Int:
			b = strconv.AppendInt(b, int64(x.Num), 10)
		case trace.Uint:
			b = strconv.AppendUint(b, x.Num, 10)
		case trace.Number:
			b = append(b, x.Text...)
		default:
			b = jsonscan.AppendString(b, x.Text)
		}
	}
	return append(b, '}')
}
