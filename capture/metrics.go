package capture

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"swimlane/internal/jsonscan"
)

// metric is what the metrics of a stream say about one record.
type metric struct {
	index      jsonscan.Int
	start, end [3]int32
	has        uint8 // hasStart, hasEnd, oddStart, oddEnd
	popped     uint8 // hasHit, hasMiss
	extra      []byte
	pops       *Pops // nil without either
}

const (
	hasHit uint8 = 1 << iota
	hasMiss
)

const (
	hasStart uint8 = 1 << iota
	hasEnd
	oddStart // the key is there, but has no three depths
	oddEnd
	hasBoth = hasStart | hasEnd
	odd     = 2 // bits from a has to its odd
)

// metricList collects the metrics of a stream up to the first that breaks a rule
// of its own. Whether an index lies in the stream is known when the stream is complete.
type metricList struct {
	notArray bool
	good     column[metric]
	bad      *Error
	badIndex jsonscan.Int
	indexed  bool // bad has an index, which is looked at first
}

// streamMetrics reads the metrics of stream i.
func (d *reader) streamMetrics(i int, out *metricList) {
	s := d.s
	s.BeginArray()
	for d.where.row = -1; s.Elem(); {
		d.where.row++
		if out.bad != nil {
			s.Skip()
			continue
		}
		at := s.Offset()
		if k := s.Peek(); k != jsonscan.Object {
			s.Skip()
			out.bad = d.newStreamErr(i, -1, fmt.Sprintf("%s, byte %d", k, at), badMetric, i)
			continue
		}
		m, indexed, fixed := d.metric()
		switch {
		case !indexed:
			out.bad = d.newStreamErr(i, -1, fmt.Sprintf("no integer record_index, byte %d", at), badMetric, i)
		case len(fixed) > 0:
			slices.Sort(fixed)
			out.badIndex, out.indexed = m.index, true
			out.bad = d.newStreamErr(i, -1, fmt.Sprintf("the metric of record %s, byte %d", m.index, at),
				"scheduler stream %d metric overwrites fixed record fields: [%s]", i, strings.Join(fixed, ", "))
		default:
			out.good.add(m)
		}
	}
}

const badMetric = "scheduler stream %d has malformed metrics"

// metric reads one metric, and names those of its keys that belong to the record.
func (d *reader) metric() (m metric, indexed bool, fixed []string) {
	s := d.s
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return m, indexed, fixed
		}
		switch string(key) {
		case "record_index":
			if m.index, indexed = s.TryInt(); !indexed {
				s.Skip()
			}
		case "start_cycles", "end_cycles", "loop_iter", "kind", "tasks_processed", "task_id":
			fixed = append(fixed, "'"+string(key)+"'")
			s.Skip()
		default:
			d.metricField(key, &m)
		}
	}
}

// metricField reads one value of a metric: the queue depths, or one that no picture shows.
func (d *reader) metricField(key []byte, m *metric) {
	switch string(key) {
	case "shared_at_start":
		d.depthField("shared_at_start", &m.start, hasStart, m)
	case "shared_at_end":
		d.depthField("shared_at_end", &m.end, hasEnd, m)
	case "pop_hit":
		d.popField(key, hasHit, m)
	case "pop_miss":
		d.popField(key, hasMiss, m)
	default:
		d.keepField(&m.extra, key)
	}
}

// popField reads a number of pops, if that is asked for.
func (d *reader) popField(key []byte, has uint8, m *metric) {
	s := d.s
	if !d.opt.Pops || d.opt.Extras {
		d.keepField(&m.extra, key)
		return
	}
	if s.TakeNull() {
		return
	}
	n := s.Int64()
	if n < 0 {
		s.Fail("found %d for a number of pops, expected a count", n)
		return
	}
	if m.pops == nil {
		m.pops = &Pops{}
	}
	if m.popped |= has; has == hasHit {
		m.pops.Hit = n
	} else {
		m.pops.Miss = n
	}
}

func (d *reader) depthField(name string, out *[3]int32, has uint8, m *metric) {
	text, ok := d.depths(out)
	if ok {
		m.has |= has
		return
	}
	m.has |= has << odd
	if d.opt.Extras {
		m.extra = append(appendKey(m.extra, name), text...)
	}
}

// depths reads three queue depths; another number of them, or anything else, is
// no depths, of which the text is kept if that is asked for. The place of one
// beyond its range is the end of the array, which is known whichever way the
// array was read.
func (d *reader) depths(out *[3]int32) (text []byte, ok bool) {
	s := d.s
	var row [3]uint64
	if n, ok := s.Row(row[:]); ok {
		for k, v := range row[:n] {
			if v > math.MaxInt32 {
				s.Fail(badDepth, v)
				return nil, false
			}
			out[k] = int32(v)
		}
		if n < len(out) && d.opt.Extras {
			text = appendDepths(nil, out[:n])
		}
		return text, n == 3
	}
	if s.Peek() != jsonscan.Array {
		d.keep(&text)
		return text, false
	}
	n, good := 0, true
	beyond := ""
	s.BeginArray()
	for ; s.Elem(); n++ {
		if n > 0 && d.opt.Extras {
			text = append(text, ',')
		}
		k := s.Peek()
		if k != jsonscan.Number && k != jsonscan.String {
			d.keep(&text)
			good = false
			continue
		}
		v := s.Int()
		if d.opt.Extras {
			text = appendInt(text, v, k)
		}
		if v.Neg || v.Mag > math.MaxInt32 {
			if beyond == "" {
				beyond = v.String()
			}
			continue
		}
		if n < 3 {
			out[n] = int32(v.Mag)
		}
	}
	if beyond != "" {
		s.Fail(badDepth, beyond)
	}
	if d.opt.Extras {
		text = append(append([]byte{'['}, text...), ']')
	}
	return text, good && n == 3
}

func appendDepths(dst []byte, depths []int32) []byte {
	dst = append(dst, '[')
	for i, v := range depths {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ']')
}

// loneDepths adds to the further fields of a record the one depth array that it has.
func loneDepths(extra []byte, d *Depths, has uint8) []byte {
	name, depths := "shared_at_start", &d.Start
	switch has & hasBoth {
	case hasStart:
	case hasEnd:
		name, depths = "shared_at_end", &d.End
	default:
		return extra
	}
	if bytes.Contains(extra, appendKey(nil, name)) { // an earlier metric said something else
		return joinFields([][]byte{extra, appendDepths(appendKey(nil, name), depths[:])})
	}
	return appendDepths(appendKey(extra, name), depths[:])
}

const badDepth = "found the queue depth %v, expected at least 0 and at most 2147483647"

// applyMetrics merges the metrics of stream i into its records and returns the
// first that breaks a rule.
func (d *reader) applyMetrics(i int, p *Phases, list *metricList) *Error {
	outside := func(index jsonscan.Int) *Error {
		if _, ok := index.Uint64(); ok && index.Mag < uint64(p.Len()) {
			return nil
		}
		return d.newStreamErr(i, -1, fmt.Sprintf("%d records in the stream", p.Len()),
			"scheduler stream %d metric record_index %s is out of range", i, index)
	}
	merge := merger{p: p, keep: d.opt.Extras}
	metrics := list.good.flat()
	for k := range metrics {
		m := &metrics[k]
		if e := outside(m.index); e != nil {
			return e
		}
		merge.add(int(m.index.Mag), m)
	}
	merge.done()
	if list.indexed {
		if e := outside(list.badIndex); e != nil {
			return e
		}
	}
	return list.bad
}

// merger merges metrics into the records of one stream.
type merger struct {
	p      *Phases
	keep   bool             // fields that no picture shows are asked for
	half   []uint8          // per record, which of the two depth arrays it has; nil while every metric brings both
	extras map[int][][]byte // records whose extra fields come from several metrics
}

func (g *merger) add(j int, m *metric) {
	p := g.p
	if m.has&hasBoth != 0 && p.Depth == nil {
		p.Depth = make([]Depths, p.Len())
	}
	if m.has != 0 {
		if m.has&hasStart != 0 {
			p.Depth[j].Start = m.start
		}
		if m.has&hasEnd != 0 {
			p.Depth[j].End = m.end
		}
		g.mark(j, m.has)
	}
	if m.popped != 0 && p.Pops == nil {
		p.Pops = make([]Pops, p.Len())
	}
	if m.popped&hasHit != 0 {
		p.Pops[j].Hit = m.pops.Hit
	}
	if m.popped&hasMiss != 0 {
		p.Pops[j].Miss = m.pops.Miss
	}
	if m.extra == nil {
		return
	}
	if p.Extra == nil {
		p.Extra = make([][]byte, p.Len())
	}
	if p.Extra[j] == nil {
		p.Extra[j] = m.extra
		return
	}
	if g.extras == nil {
		g.extras = map[int][][]byte{}
	}
	if g.extras[j] == nil {
		g.extras[j] = [][]byte{p.Extra[j]}
	}
	g.extras[j] = append(g.extras[j], m.extra)
}

// mark sets HasDepths while both arrays of record j are there, be it from two metrics.
func (g *merger) mark(j int, has uint8) {
	p := g.p
	if has != hasBoth && g.half == nil {
		g.half = make([]uint8, p.Len())
		for k, f := range p.Flags {
			if f&HasDepths != 0 {
				g.half[k] = hasBoth
			}
		}
	}
	if g.half != nil {
		has = g.half[j]&^(has>>odd) | has&hasBoth
		g.half[j] = has
	}
	if has == hasBoth {
		p.Flags[j] |= HasDepths
	} else {
		p.Flags[j] &^= HasDepths
	}
}

// done joins what came in several metrics: a later value of the same key counts.
func (g *merger) done() {
	for j, parts := range g.extras {
		g.p.Extra[j] = joinFields(parts)
	}
	if !g.keep || g.p.Depth == nil {
		return
	}
	for j, has := range g.half {
		if has == hasStart || has == hasEnd {
			if g.p.Extra == nil {
				g.p.Extra = make([][]byte, g.p.Len())
			}
			g.p.Extra[j] = loneDepths(g.p.Extra[j], &g.p.Depth[j], has)
		}
	}
}

// joinFields joins lists of "key":value.
func joinFields(parts [][]byte) []byte {
	var order []string
	value := map[string][]byte{}
	for _, fields := range parts {
		eachField(append(append([]byte{'{'}, fields...), '}'), func(name string, text []byte) {
			if value[name] == nil {
				order = append(order, name)
			}
			value[name] = text
		})
	}
	var out []byte
	for k, name := range order {
		if k > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, name), ':')
		out = append(out, value[name]...)
	}
	return out
}

// eachField calls field for every key of an object that was read before.
func eachField(object []byte, field func(key string, value []byte)) {
	s := jsonscan.New(bytes.NewReader(object))
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return
		}
		name := string(key)
		field(name, s.Raw(nil))
	}
}
