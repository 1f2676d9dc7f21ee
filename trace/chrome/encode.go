package chrome

import (
	"strconv"

	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// chunkBytes is how much text a worker gathers before it hands it on: one item
// can stand for millions of arrows.
const chunkBytes = 1 << 20

// encoder formats events, one a line. It is one worker's sink.
type encoder struct {
	hand   func([]byte) []byte // passes text on and returns an empty buffer
	pic    *trace.Picture
	heads  []laneHead
	buf    []byte
	counts Counts
}

// laneHead is the part of an event that names its lane: ,"pid":P,"tid":T,"ts":
type laneHead []byte

func laneHeads(p *trace.Picture) []laneHead {
	heads := make([]laneHead, len(p.Lanes))
	for i, l := range p.Lanes {
		b := append([]byte(nil), `"pid":`...)
		b = appendUint(b, uint64(p.Processes[l.Process].PID))
		b = append(b, `,"tid":`...)
		b = appendUint(b, uint64(l.TID))
		heads[i] = append(b, `,"ts":`...)
	}
	return heads
}

func (e *encoder) Slice(s *trace.Slice) {
	e.counts.Slices++
	b := append(e.buf, ',', '\n', '{')
	if s.NameFirst {
		b = append(b, `"name":`...)
		b = jsonscan.AppendString(b, s.Name)
		b = append(b, `,"cat":"`...)
		b = append(b, s.Category...)
		b = append(b, `","ph":"X",`...)
		b = e.place(b, s)
		if s.Color != "" {
			b = append(b, `,"cname":"`...)
			b = append(b, s.Color...)
			b = append(b, '"')
		}
		b = append(b, `,"args":{`...)
		b = appendArgs(b, s.Args, s.Foreign)
		e.done(append(b, '}', '}'))
		return
	}
	b = append(b, `"args":{`...)
	b = appendArgs(b, s.Args, s.Foreign)
	b = append(b, '}')
	if s.Category != "" {
		b = append(b, `,"cat":"`...)
		b = append(b, s.Category...)
		b = append(b, '"')
	}
	if s.Color != "" {
		b = append(b, `,"cname":"`...)
		b = append(b, s.Color...)
		b = append(b, '"')
	}
	if s.ID != trace.NoID {
		b = append(b, `,"id":`...)
		b = appendInt(b, s.ID)
	}
	b = append(b, `,"name":`...)
	b = jsonscan.AppendString(b, s.Name)
	b = append(b, `,"ph":"X",`...)
	b = e.place(b, s)
	e.done(append(b, '}'))
}

// done ends an event.
func (e *encoder) done(b []byte) {
	if len(b) >= chunkBytes {
		b = e.hand(b)
	}
	e.buf = b
}

// place appends lane, start and length.
func (e *encoder) place(b []byte, s *trace.Slice) []byte {
	b = append(b, e.heads[s.Lane]...)
	b = AppendMicros(b, s.Start)
	b = append(b, `,"dur":`...)
	return AppendMicros(b, s.End-s.Start)
}

func (e *encoder) Flow(f *trace.Flow) {
	e.counts.Flows++
	category := f.Category
	if category == "" {
		category = "flow"
	}
	b := append(e.buf, ",\n{\"cat\":\""...)
	b = append(b, category...)
	b = append(b, `","id":`...)
	b = appendInt(b, f.ID)
	b = append(b, `,"name":"`...)
	b = append(b, f.Name...)
	b = append(b, `","ph":"s",`...)
	b = append(b, e.heads[f.From.Lane]...)
	b = AppendMicros(b, f.From.Time)
	b = flowTail(b, f, f.From.Bind)
	b = append(b, "},\n{\"cat\":\""...)
	b = append(b, category...)
	b = append(b, `","id":`...)
	b = appendInt(b, f.ID)
	b = append(b, `,"name":"`...)
	b = append(b, f.Name...)
	b = append(b, `","ph":"f",`...)
	b = append(b, e.heads[f.To.Lane]...)
	b = AppendMicros(b, f.To.Time)
	b = append(b, `,"bp":"e"`...)
	b = flowTail(b, f, f.To.Bind)
	e.done(append(b, '}'))
}

func flowTail(b []byte, f *trace.Flow, bind int64) []byte {
	if f.Counted {
		b = append(b, `,"input_task_count":`...)
		b = appendInt(b, f.InputTasks)
		b = append(b, `,"output_task_count":`...)
		b = appendInt(b, f.OutputTasks)
	}
	if bind != trace.NoID {
		b = append(b, `,"bind_id":`...)
		b = appendInt(b, bind)
	}
	if len(f.Args) > 0 {
		b = append(b, `,"args":{`...)
		b = append(appendArgs(b, f.Args, false), '}')
	}
	return b
}

func (e *encoder) Counter(c *trace.Counter) {
	e.counts.Counters++
	b := append(e.buf, ",\n{\"args\":{"...)
	b = appendArgs(b, c.Values, false)
	b = append(b, `},"cat":"`...)
	b = append(b, c.Category...)
	b = append(b, `","name":"`...)
	b = append(b, c.Name...)
	b = append(b, `","ph":"C","pid":`...)
	b = appendUint(b, uint64(e.pic.Processes[c.Process].PID))
	b = append(b, `,"tid":`...)
	b = appendUint(b, uint64(c.TID))
	b = append(b, `,"ts":`...)
	b = AppendMicros(b, c.Time)
	e.done(append(b, '}'))
}

// appendArgs appends the members of an object. Their keys are plain unless they are foreign.
func appendArgs(b []byte, args []trace.Arg, foreign bool) []byte {
	for i := range args {
		a := &args[i]
		if i > 0 {
			b = append(b, ',')
		}
		if foreign {
			b = append(jsonscan.AppendString(b, a.Key), ':')
		} else {
			b = append(b, '"')
			b = append(b, a.Key...)
			b = append(b, '"', ':')
		}
		switch a.Kind {
		case trace.Uint:
			b = appendUint(b, a.Num)
		case trace.Int:
			b = appendInt(b, int64(a.Num))
		case trace.Micros:
			b = AppendMicros(b, int64(a.Num))
		case trace.Text:
			b = jsonscan.AppendString(b, a.Text)
		case trace.Bool:
			b = strconv.AppendBool(b, a.Num != 0)
		case trace.Triple:
			b = append(b, '[')
			for k, v := range a.Three {
				if k > 0 {
					b = append(b, ',')
				}
				b = appendInt(b, int64(v))
			}
			b = append(b, ']')
		case trace.Number:
			b = append(b, a.Text...)
		case trace.Null:
			b = append(b, "null"...)
		case trace.JSON:
			b = append(b, a.Text...)
		}
	}
	return b
}

// AppendMicros appends ns as µs with three decimals, never in exponent form.
func AppendMicros(b []byte, ns int64) []byte {
	v := uint64(ns)
	if ns < 0 {
		b = append(b, '-')
		v = -v
	}
	us := v / 1000
	rest := v - 1000*us
	b = appendUint(b, us)
	tens := rest / 10
	return append(b, '.', pairs[2*(tens/10)+1], pairs[2*(tens%10)+1], '0'+byte(rest-10*tens))
}

const pairs = "0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// appendUint is strconv.AppendUint without the detour over a buffer of its own:
// half of a trace is numbers.
func appendUint(b []byte, v uint64) []byte {
	if v < 10 {
		return append(b, '0'+byte(v))
	}
	n := digits(v)
	from := len(b)
	b = append(b, "00000000000000000000"[:n]...)
	out := b[from : from+n]
	for v >= 100 {
		q := v / 100
		r := 2 * (v - 100*q)
		n -= 2
		out[n], out[n+1] = pairs[r], pairs[r+1]
		v = q
	}
	if v >= 10 {
		out[0], out[1] = pairs[2*v], pairs[2*v+1]
	} else {
		out[0] = '0' + byte(v)
	}
	return b
}

// digits is the number of decimal digits of v.
func digits(v uint64) int {
	n := 1
	for {
		switch {
		case v < 10:
			return n
		case v < 100:
			return n + 1
		case v < 1000:
			return n + 2
		case v < 10000:
			return n + 3
		}
		v /= 10000
		n += 4
	}
}

func appendInt(b []byte, v int64) []byte {
	if v < 0 {
		return appendUint(append(b, '-'), -uint64(v))
	}
	return appendUint(b, uint64(v))
}
