package chrome

import (
	"strconv"

	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// encoder formats events, one a line. It is one worker's sink.
type encoder struct {
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
		b = strconv.AppendUint(b, uint64(p.Processes[l.Process].PID), 10)
		b = append(b, `,"tid":`...)
		b = strconv.AppendUint(b, uint64(l.TID), 10)
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
		b = appendArgs(b, s.Args)
		e.buf = append(b, '}', '}')
		return
	}
	b = append(b, `"args":{`...)
	b = appendArgs(b, s.Args)
	b = append(b, `},"cat":"`...)
	b = append(b, s.Category...)
	b = append(b, '"')
	if s.Color != "" {
		b = append(b, `,"cname":"`...)
		b = append(b, s.Color...)
		b = append(b, '"')
	}
	if s.ID != trace.NoID {
		b = append(b, `,"id":`...)
		b = strconv.AppendInt(b, s.ID, 10)
	}
	b = append(b, `,"name":`...)
	b = jsonscan.AppendString(b, s.Name)
	b = append(b, `,"ph":"X",`...)
	b = e.place(b, s)
	e.buf = append(b, '}')
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
	b := append(e.buf, ",\n{\"cat\":\"flow\",\"id\":"...)
	b = strconv.AppendInt(b, f.ID, 10)
	b = append(b, `,"name":"`...)
	b = append(b, f.Name...)
	b = append(b, `","ph":"s",`...)
	b = append(b, e.heads[f.From.Lane]...)
	b = AppendMicros(b, f.From.Time)
	b = flowTail(b, f, f.From.Bind)
	b = append(b, "},\n{\"cat\":\"flow\",\"id\":"...)
	b = strconv.AppendInt(b, f.ID, 10)
	b = append(b, `,"name":"`...)
	b = append(b, f.Name...)
	b = append(b, `","ph":"f",`...)
	b = append(b, e.heads[f.To.Lane]...)
	b = AppendMicros(b, f.To.Time)
	b = append(b, `,"bp":"e"`...)
	b = flowTail(b, f, f.To.Bind)
	e.buf = append(b, '}')
}

func flowTail(b []byte, f *trace.Flow, bind int64) []byte {
	if f.Counted {
		b = append(b, `,"input_task_count":`...)
		b = strconv.AppendInt(b, f.InputTasks, 10)
		b = append(b, `,"output_task_count":`...)
		b = strconv.AppendInt(b, f.OutputTasks, 10)
	}
	if bind != trace.NoID {
		b = append(b, `,"bind_id":`...)
		b = strconv.AppendInt(b, bind, 10)
	}
	return b
}

func (e *encoder) Counter(c *trace.Counter) {
	e.counts.Counters++
	b := append(e.buf, ",\n{\"args\":{"...)
	b = appendArgs(b, c.Values)
	b = append(b, `},"cat":"`...)
	b = append(b, c.Category...)
	b = append(b, `","name":"`...)
	b = append(b, c.Name...)
	b = append(b, `","ph":"C","pid":`...)
	b = strconv.AppendUint(b, uint64(e.pic.Processes[c.Process].PID), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendUint(b, uint64(c.TID), 10)
	b = append(b, `,"ts":`...)
	b = AppendMicros(b, c.Time)
	e.buf = append(b, '}')
}

func appendArgs(b []byte, args []trace.Arg) []byte {
	for i := range args {
		a := &args[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, a.Key...)
		b = append(b, '"', ':')
		switch a.Kind {
		case trace.Uint:
			b = strconv.AppendUint(b, a.Num, 10)
		case trace.Int:
			b = strconv.AppendInt(b, int64(a.Num), 10)
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
				b = strconv.AppendInt(b, int64(v), 10)
			}
			b = append(b, ']')
		case trace.Null:
			b = append(b, "null"...)
		}
	}
	return b
}

// AppendMicros appends ns as µs with three decimals, never in exponent form.
func AppendMicros(b []byte, ns int64) []byte {
	if ns < 0 {
		b = append(b, '-')
		ns = -ns
	}
	us, rest := uint64(ns)/1000, uint64(ns)%1000
	b = strconv.AppendUint(b, us, 10)
	return append(b, '.', '0'+byte(rest/100), '0'+byte(rest/10%10), '0'+byte(rest%10))
}
