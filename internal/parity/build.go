package parity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fieldsOf says which fields an event of a phase has: the required ones, and
// after the bar those it may have.
var fieldsOf = map[string]string{
	"M": "name cat ph pid args | tid",
	"X": "name cat ph pid tid ts dur args | cname id",
	"C": "name cat ph pid ts args | tid",
	"s": "name cat ph pid tid ts id | bind_id input_task_count output_task_count args",
	"f": "name cat ph pid tid ts id bp | bind_id input_task_count output_task_count args",
}

// builder collects events into a trace.
type builder struct {
	trace *Trace
	flows map[string]*arrow
	binds []bindRef
}

// bindRef is a bind_id to be resolved once all slices are known.
type bindRef struct {
	half  *half
	ident string
}

func newBuilder() *builder {
	return &builder{
		trace: &Trace{
			processes: map[int64]*process{},
			threads:   map[laneID]*thread{},
			byIdent:   map[string]*slice{},
		},
		flows: map[string]*arrow{},
	}
}

// faultf notes something that makes the file unsound.
func (b *builder) faultf(format string, args ...any) {
	b.trace.faults = append(b.trace.faults, fmt.Sprintf(format, args...))
}

// readEvents reads the array of events, one at a time: a decoded tree of the
// whole file would take several times its size.
func (b *builder) readEvents(dec *json.Decoder) error {
	if err := expectDelim(dec, '['); err != nil {
		return err
	}
	for n := 0; dec.More(); n++ {
		var e event
		if err := dec.Decode(&e); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		b.add(n, &e)
	}
	return expectDelim(dec, ']')
}

// fields lists the fields that an event has.
func (e *event) fields() []string {
	var out []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"name", e.Name != nil}, {"cat", e.Cat != nil}, {"ph", e.Ph != nil},
		{"cname", e.Cname != nil}, {"bp", e.BP != nil}, {"pid", e.PID != nil},
		{"tid", e.TID != nil}, {"ts", e.TS != nil}, {"dur", e.Dur != nil},
		{"id", e.ID != nil}, {"bind_id", e.BindID != nil},
		{"input_task_count", e.In != nil}, {"output_task_count", e.Out != nil},
		{"args", e.Args != nil},
	} {
		if f.set {
			out = append(out, f.name)
		}
	}
	return out
}

// wellFormed tells whether an event has the fields of its kind and no others.
func (b *builder) wellFormed(n int, e *event) bool {
	spec, known := fieldsOf[value(e.Ph)]
	if !known {
		b.faultf("event %d: unexpected phase %q", n, value(e.Ph))
		return false
	}
	required, optional, _ := strings.Cut(spec, " | ")
	have := e.fields()
	ok := true
	for _, f := range strings.Fields(required) {
		if !slices.Contains(have, f) {
			b.faultf("event %d (ph %s %q): no %s", n, *e.Ph, value(e.Name), f)
			ok = false
		}
	}
	allowed := append(strings.Fields(required), strings.Fields(optional)...)
	for _, f := range have {
		if !slices.Contains(allowed, f) {
			b.faultf("event %d (ph %s %q): unexpected %s", n, *e.Ph, value(e.Name), f)
		}
	}
	return ok
}

// add takes one event.
func (b *builder) add(n int, e *event) {
	if !b.wellFormed(n, e) {
		return
	}
	switch *e.Ph {
	case "M":
		b.addMetadata(n, e)
	case "X":
		b.addSlice(e)
	case "C":
		b.trace.counters = append(b.trace.counters, &counter{
			pid: int64(*e.PID), name: *e.Name, cat: *e.Cat,
			ts: e.TS.float(), args: canonical(e.Args),
		})
	default:
		b.addHalf(n, e)
	}
}

// addMetadata takes a name or a sort index. Of two, the last one counts, as in
// the viewers; the reference names pid 1 twice and relies on that.
func (b *builder) addMetadata(n int, e *event) {
	if *e.Cat != "__metadata" {
		b.faultf("event %d: %s with cat %q", n, *e.Name, *e.Cat)
	}
	if len(e.Args) != 1 {
		b.faultf("event %d: %s with %d args", n, *e.Name, len(e.Args))
	}
	if wantTID := strings.HasPrefix(*e.Name, "thread_"); wantTID != (e.TID != nil) {
		b.faultf("event %d: %s with or without tid", n, *e.Name)
		return
	}
	name, isName := e.Args["name"].(string)
	index, isIndex := intArg(e.Args, "sort_index")
	switch {
	case *e.Name == "process_name" && isName:
		p := b.process(int64(*e.PID))
		p.name, p.named = name, true
	case *e.Name == "process_sort_index" && isIndex:
		b.process(int64(*e.PID)).sortIndex = &index
	case *e.Name == "thread_name" && isName:
		t := b.thread(laneID{int64(*e.PID), int64(*e.TID)})
		t.name, t.named = name, true
	case *e.Name == "thread_sort_index" && isIndex:
		b.thread(laneID{int64(*e.PID), int64(*e.TID)}).sortIndex = index
	default:
		b.faultf("event %d: unexpected metadata event %s %s", n, *e.Name, canonical(e.Args))
	}
}

func (b *builder) process(pid int64) *process {
	p := b.trace.processes[pid]
	if p == nil {
		p = &process{}
		b.trace.processes[pid] = p
	}
	return p
}

func (b *builder) thread(id laneID) *thread {
	t := b.trace.threads[id]
	if t == nil {
		t = &thread{}
		b.trace.threads[id] = t
	}
	return t
}

// addSlice takes an 'X' event.
func (b *builder) addSlice(e *event) {
	s := &slice{
		lane: laneID{int64(*e.PID), int64(*e.TID)},
		name: *e.Name, cat: *e.Cat, cname: value(e.Cname), ident: string(value(e.ID)),
		start: e.TS.float(), args: e.Args,
	}
	s.end = s.start + e.Dur.float()
	if s.end < s.start {
		b.faultf("slice %s at %.4f has a negative duration", s.name, s.start)
	}
	b.process(s.lane.pid)
	b.thread(s.lane)
	b.trace.slices = append(b.trace.slices, s)
	if s.ident == "" {
		return
	}
	if other := b.trace.byIdent[s.ident]; other != nil {
		b.faultf("slice id %s is used twice: %s and %s", s.ident, other.name, s.name)
	}
	b.trace.byIdent[s.ident] = s
}

// addHalf takes an 's' or an 'f' event and joins it with its other half.
func (b *builder) addHalf(n int, e *event) {
	h := &half{
		lane: laneID{int64(*e.PID), int64(*e.TID)}, ts: e.TS.float(),
		name: *e.Name, cat: *e.Cat, bp: value(e.BP),
		in: string(value(e.In)), out: string(value(e.Out)), args: canonical(e.Args),
	}
	if e.BindID != nil {
		b.binds = append(b.binds, bindRef{h, string(*e.BindID)})
	}
	id := string(*e.ID)
	a := b.flows[id]
	if a == nil {
		a = &arrow{id: id, name: h.name}
		b.flows[id] = a
		b.trace.arrows = append(b.trace.arrows, a)
	}
	end := &a.start
	if *e.Ph == "f" {
		end = &a.finish
	}
	if *end != nil {
		b.faultf("event %d: a second %q of arrow %s (%s)", n, *e.Ph, id, h.name)
		return
	}
	*end = h
}

// finish checks what only the whole file shows, and returns the trace.
func (b *builder) finish() *Trace {
	for _, r := range b.binds {
		r.half.bind = b.trace.byIdent[r.ident]
		if r.half.bind == nil {
			b.faultf("arrow %s at %.4f: bind_id %s names no slice", r.half.name, r.half.ts, r.ident)
		}
	}
	b.trace.arrows = slices.DeleteFunc(b.trace.arrows, func(a *arrow) bool {
		if a.start == nil || a.finish == nil {
			b.faultf("arrow %s (%s) has only one half", a.id, a.name)
			return true
		}
		if a.start.name != a.finish.name {
			b.faultf("arrow %s is called %q and %q", a.id, a.start.name, a.finish.name)
		}
		return false
	})
	return b.trace
}

// value returns what p points to, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
