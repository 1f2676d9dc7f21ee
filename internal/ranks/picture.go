package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"swimlane/internal/draw"
	"swimlane/internal/hostlog"
	"swimlane/trace"
)

// firstTID is where lanes that have no number of their own begin. Viewers take lane
// 0 for the process itself (spec/l3.md §12 D20).
const firstTID = 1000

// maxTID is the largest thread id that is the number of its lane. Larger ones, which no
// system gives but foreign producers may write, and 0 get numbers behind all others.
const maxTID = 1 << 30

// page is a picture of a few hundred slices that is held whole.
type page struct {
	trace.Picture
	bars bars
}

type bars []trace.Slice

func (s bars) Len() int { return len(s) }

func (s bars) Walk(from, to int, sink trace.Sink) {
	for i := from; i < to; i++ {
		b := s[i]
		sink.Slice(&b)
	}
}

func (p *page) done() *trace.Picture {
	if len(p.bars) > 0 {
		p.Sections = []trace.Section{p.bars}
	}
	return &p.Picture
}

func (p *page) process(pid uint32, name string) int {
	p.Processes = append(p.Processes, trace.Process{PID: pid, Name: name, Sort: int32(pid)})
	return len(p.Processes) - 1
}

func (p *page) lane(process int, tid uint32, name string) int32 {
	p.Lanes = append(p.Lanes, trace.Lane{Process: process, TID: tid, Name: name, Sort: int32(tid)})
	return int32(len(p.Lanes) - 1)
}

// row is a lane with its bars, before its numbers are known.
type row struct {
	name string
	tid  uint32
	bars []*trace.Slice
}

// rows adds the lanes of a process. Bars that overlap without nesting, which
// viewers lose, go to further lanes, numbered from next on.
func (p *page) rows(process int, all []row, next uint32) error {
	for _, r := range all {
		ends := make([][2]int64, len(r.bars))
		for i, b := range r.bars {
			ends[i] = [2]int64{b.Start, b.End}
		}
		subs, n, err := draw.Stack(ends)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		lanes := []int32{p.lane(process, r.tid, r.name)}
		for k := 1; k < n; k++ {
			lanes = append(lanes, p.lane(process, next, fmt.Sprintf("%s (%d)", r.name, k+1)))
			next++
		}
		for i, b := range r.bars {
			b.Lane = lanes[subs[i]]
		}
	}
	return nil
}

// span makes the bar of a host span.
func (p *Plan) span(s *hostlog.Span, args []trace.Arg) trace.Slice {
	return trace.Slice{Start: s.TS - p.Origin, End: s.End() - p.Origin, ID: trace.NoID, Name: []byte(s.Name), Category: "host", Args: args, Foreign: true}
}

func number(key string, v int64) trace.Arg {
	return trace.Arg{Key: key, Kind: trace.Int, Num: uint64(v)}
}

// Dispatchers is the picture of the processes beside the chips (spec/l3.md §10.4).
func (p *Plan) Dispatchers() (*trace.Picture, error) {
	var out page
	for i := range p.dispatchers {
		d := &p.dispatchers[i]
		process := out.process(uint32(i+1), d.label)
		rows, next := make([]row, len(d.lanes)), uint32(firstTID)
		for k, l := range d.lanes {
			rows[k].name = l.name
			if 0 < l.tid && l.tid <= maxTID {
				rows[k].tid = uint32(l.tid)
				next = max(next, rows[k].tid+1)
			}
		}
		for k := range rows {
			if rows[k].tid == 0 {
				rows[k].tid = next
				next++
			}
		}
		at := len(out.bars)
		for _, s := range d.spans {
			out.bars = append(out.bars, p.span(s, dispatcherArgs(s)))
		}
		for k := range d.spans {
			r := &rows[d.on[k]]
			r.bars = append(r.bars, &out.bars[at+k])
		}
		if err := out.rows(process, rows, next); err != nil {
			return nil, err
		}
	}
	return out.done(), nil
}

// dispatcherArgs are the arguments of a dispatcher's bar: attributes may overwrite
// the first ones.
func dispatcherArgs(s *hostlog.Span) []trace.Arg {
	args := []trace.Arg{{Key: "inv", Num: s.Inv}, number("os_pid", int64(s.PID)), number("os_tid", s.TID), number("depth", int64(s.Depth))}
	for key, v := range s.Items() {
		a := trace.Arg{Key: key}
		if n, ok := v.Integer(); ok {
			a.Kind, a.Text = trace.Number, []byte(n)
		} else {
			a.Kind, a.Text = trace.Text, []byte(v.Text())
		}
		if i := slices.IndexFunc(args, func(x trace.Arg) bool { return x.Key == a.Key }); i >= 0 {
			args[i] = a
		} else {
			args = append(args, a)
		}
	}
	return args
}

// bySpan is the order of the spans of a run: outer ones first.
func bySpan(a, b *hostlog.Span) int {
	return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur))
}

// Host is the picture of a rank's run on the host: its call tree, the phases of the
// device at their place, and the bound of that place (spec/l3.md §10.5–10.7).
func (p *Plan) Host(m *Member) (*trace.Picture, error) {
	var out page
	w, first := m.Pair.Window, p.layout.host(m.Rank)
	process := out.process(first, fmt.Sprintf("rank%d / Host", m.Rank))
	spans := slices.SortedStableFunc(slices.Values(m.spans), bySpan)
	all := make(bars, len(spans), len(w.spans)+2)
	tree := row{name: fmt.Sprintf("pid %d", w.PID), tid: firstTID}
	for i, s := range spans {
		all[i] = p.span(s, []trace.Arg{number("rank", int64(m.Rank)), {Key: "inv", Num: s.Inv}, number("os_pid", int64(s.PID)), number("depth", int64(s.Depth))})
		tree.bars = append(tree.bars, &all[i])
	}
	if err := out.rows(process, []row{tree}, firstTID+1); err != nil {
		return nil, err
	}
	process = out.process(first+1, fmt.Sprintf("rank%d / Device phases (placed)", m.Rank))
	all, phases := p.phases(m, all)
	if err := out.rows(process, phases, firstTID+uint32(len(phases))); err != nil {
		return nil, err
	}
	process = out.process(first+2, fmt.Sprintf("rank%d / Placement Bound", m.Rank))
	var args []trace.Arg
	for _, f := range m.Placement.fields() {
		args = append(args, trace.Arg{Key: f[0], Kind: trace.JSON, Text: []byte(f[1])})
	}
	slack := m.Placement.Slack()
	for i, b := range []struct {
		lane, name string
		start, dur int64
	}{
		{"outer window", fmt.Sprintf("%s (rank%d)", outerSpan, m.Rank), w.Start, w.Dur},
		{"placement slack", fmt.Sprintf("slack %.1f us", float64(slack)/1000), m.Placement.Low(), slack},
	} {
		lane := out.lane(process, firstTID+uint32(i), b.lane)
		all = append(all, trace.Slice{Lane: lane, Start: b.start - p.Origin, End: b.start - p.Origin + b.dur,
			ID: trace.NoID, Name: []byte(b.name), Category: "containment", Args: args})
	}
	out.bars = all
	return out.done(), nil
}

// phases appends the bars of the device's phases, and gives their lanes: one for
// each name.
func (p *Plan) phases(m *Member, all bars) (bars, []row) {
	w := m.Pair.Window
	var spans []*hostlog.Span
	for _, s := range w.spans {
		if s.Device() {
			spans = append(spans, s)
		}
	}
	slices.SortStableFunc(spans, bySpan)
	var out []row
	lane := map[string]int{}
	ownZero := len(w.Phases) > 0 && w.SlotsOnly()
	for _, s := range spans {
		args := []trace.Arg{number("rank", int64(m.Rank)), number("device_ts_ns", s.TS), number("slack_ns", m.Placement.Slack())}
		name := lastWord(s.Name)
		if ownZero && name != "device_wall" {
			args = append(args, trace.Arg{Key: "counts_from", Kind: trace.Text, Text: []byte("the first tagged dispatch")})
		}
		start := m.Placement.Phase(float64(s.TS)) - p.Origin
		all = append(all, trace.Slice{Start: start, End: start + s.Dur, ID: trace.NoID, Name: []byte(s.Name), Category: "host.device", Args: args})
		i, ok := lane[s.Name]
		if !ok {
			i = len(out)
			lane[s.Name] = i
			out = append(out, row{name: name, tid: firstTID + uint32(i)})
		}
		out[i].bars = append(out[i].bars, &all[len(all)-1])
	}
	return all, out
}

// Views is the picture of a rank's chip: the views of its capture, which must be
// drawn on the axis that Axis gave. Ranks must come in their order.
func (p *Plan) Views(m *Member, pic *draw.Picture) (*trace.Picture, error) {
	m.view = pic.Metadata
	out := pic.Picture
	out.Metadata = nil
	out.Processes = slices.Clone(out.Processes)
	for i := range out.Processes {
		q := &out.Processes[i]
		if q.PID >= stride {
			return nil, fmt.Errorf("single-Rank view pid %d does not fit the per-Rank stride %d", q.PID, stride)
		}
		q.PID += p.layout.views(m.Rank)
		q.Sort += int32(p.layout.views(m.Rank))
		if q.Name != "" {
			q.Name = fmt.Sprintf("rank%d / %s", m.Rank, q.Name)
		}
	}
	r := &renumbering{slices: p.slices, flows: p.flows, args: []trace.Arg{number("rank", int64(m.Rank)), number("slack_ns", m.Placement.Slack())}}
	r.bars = r.args
	if ns := m.Placement.Residual(); ns != 0 {
		r.bars = append(slices.Clone(r.args), number("residual_ns", ns))
	}
	p.slices += pic.SliceIDs
	p.flows += pic.FlowIDs
	out.Sections = nil
	for _, s := range pic.Sections {
		out.Sections = append(out.Sections, ofRank{s, r})
	}
	return &out, nil
}

// renumbering makes events of a capture those of a rank: numbers do not repeat
// between ranks, and all but counters say which rank it was and how far it may be
// off (spec/l3.md §10.8, §12 D8, D19). Bars also have the residual, which the slack
// does not contain.
type renumbering struct {
	slices, flows int64
	args, bars    []trace.Arg
}

type ofRank struct {
	trace.Section
	r *renumbering
}

func (s ofRank) Walk(from, to int, sink trace.Sink) {
	s.Section.Walk(from, to, &rankSink{s.r, sink, nil})
}

type rankSink struct {
	*renumbering
	sink trace.Sink
	args []trace.Arg
}

func (k *rankSink) Slice(s *trace.Slice) {
	own := *s
	if own.ID != trace.NoID {
		own.ID += k.slices
	}
	k.args = append(append(k.args[:0], s.Args...), k.bars...)
	own.Args = k.args
	k.sink.Slice(&own)
}

func (k *rankSink) Flow(f *trace.Flow) {
	own := *f
	own.ID += k.flows
	for _, end := range []*trace.Point{&own.From, &own.To} {
		if end.Bind != trace.NoID {
			end.Bind += k.slices
		}
	}
	own.Args = k.renumbering.args
	k.sink.Flow(&own)
}

func (k *rankSink) Counter(c *trace.Counter) { k.sink.Counter(c) }

// lastWord is what stands behind the last dot of a name.
func lastWord(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}
