package capture

import (
	"strconv"

	"swimlane/internal/jsonscan"
)

// metadata reads the metadata object (spec/records.md §2.2).
func (d *reader) metadata() {
	s, m := d.s, &d.out.Meta
	if s.Peek() != jsonscan.Object {
		s.Fail("found %s, expected metadata to be an object", s.Peek())
		return
	}
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return
		}
		name := string(key)
		if s.TakeNull() {
			continue
		}
		text := d.metadataField(name)
		if d.opt.Extras && text != nil {
			m.Further = append(m.Further, Field{name, text})
		}
	}
}

// metadataField reads one value of the metadata. The text of what has no typed
// place is returned, if that is asked for.
func (d *reader) metadataField(name string) (text []byte) {
	s, m := d.s, &d.out.Meta
	switch name {
	case "clock_freq_hz":
		d.clock = s.Int()
	case "core_types":
		m.CoreTypes = d.coreTypes()
	case "core_to_thread":
		m.CoreToThread = d.coreToThread()
	case "orchestrator_source":
		m.OrchestratorSource = d.text()
	case "timeline_relation":
		m.TimelineRelation = d.text()
	case "host_orchestration_origin_ns":
		m.HostOriginNs = s.Uint64()
	case "host_timeline_origin_ns":
		m.TimelineOriginNs = s.Uint64()
	case "host_clock_domain_id":
		m.ClockDomain = d.text()
	case "runtime":
		d.runtime()
	case "host_capture":
		d.hostCapture()
	case "capture_accounting":
		d.accounting(&text)
	case "co_captured":
		m.CoCaptured = d.strings()
	case "clock_alignment":
		d.clockAlignment()
	case "collection":
		d.collection(&text)
	case "run_boundaries":
		d.runBoundaries()
	case "dropped_run_boundaries":
		n := d.optInt()
		if d.bounds.dropped = n.V; !n.Set { // what is no number may be any
			d.bounds.dropped = 1
		}
	case "converted_from":
		d.origin()
	case "num_cores", "orchestrator_clock_domain", "device_clock_domain", "host_timestamp_resolution_ns",
		"host_timestamp_quantization_ns", "clock_anchors":
		d.keep(&text) // informational, or not consumed by offline tools
	default:
		d.unknown = append(d.unknown, "metadata."+name)
		d.keep(&text)
	}
	return text
}

// runtime reads the runtime's name. Whatever stands there names the layout of the
// ids, so what is no name is none that is known, and not an absent one.
func (d *reader) runtime() {
	if d.s.Peek() == jsonscan.String {
		d.out.Meta.Runtime = string(d.s.Text())
	} else {
		d.out.Meta.Runtime = string(d.s.Raw(nil))
	}
	d.hasRuntime = true
}

// table demands an array. Of another value every core would be drawn as of the
// default kind, or without its scheduler, and nobody would know.
func (d *reader) table(name string) bool {
	k := d.s.Peek()
	if k != jsonscan.Array {
		d.s.Fail("found %s, expected metadata.%s to be an array", k, name)
	}
	return k == jsonscan.Array
}

// coreTypes interns the two words, so that a table of many cores costs nothing.
func (d *reader) coreTypes() []string {
	words := map[string]string{}
	var out []string
	if !d.table("core_types") {
		return nil
	}
	d.s.BeginArray()
	for d.s.Elem() {
		t := d.s.Text()
		w, ok := words[string(t)]
		if !ok {
			w = string(t)
			words[w] = w
		}
		out = append(out, w)
	}
	return out
}

// maxThreads bounds the thread indexes of core_to_thread: the picture has a
// lane for every thread up to the largest, and a chip has a handful.
const maxThreads = 1024

func (d *reader) coreToThread() []int32 {
	if !d.table("core_to_thread") {
		return nil
	}
	var out []int32
	d.s.BeginArray()
	for d.s.Elem() {
		at := d.s.Offset()
		thread := d.int32("a scheduler thread index")
		if thread >= maxThreads {
			d.s.FailAt(at, "metadata.core_to_thread[%d]: found %d, expected a scheduler thread index below %d", len(out), thread, maxThreads)
		}
		out = append(out, thread)
	}
	return out
}

func (d *reader) strings() []string {
	if d.s.Peek() != jsonscan.Array {
		d.s.Skip()
		return nil
	}
	var out []string
	d.s.BeginArray()
	for d.s.Elem() {
		out = append(out, d.text())
	}
	return out
}

// hostCapture keeps the object's text beside its numbers: the picture's metadata repeats it.
func (d *reader) hostCapture() {
	if d.s.Peek() != jsonscan.Object {
		d.s.Skip() // only an object selects host mode
		return
	}
	h := &HostCapture{Raw: []byte{'{'}}
	d.s.BeginObject()
	for {
		key, ok := d.s.Key()
		if !ok {
			break
		}
		if len(h.Raw) > 1 {
			h.Raw = append(h.Raw, ',')
		}
		h.Raw = append(jsonscan.AppendString(h.Raw, key), ':')
		switch string(key) {
		case "status":
			if d.s.Peek() == jsonscan.String {
				h.Status = string(d.s.Text())
				h.Raw = jsonscan.AppendString(h.Raw, h.Status)
				continue
			}
		case "expected_records":
			h.Expected = d.rawCount(h)
			continue
		case "recorded_records":
			h.Recorded = d.rawCount(h)
			continue
		case "dropped_records":
			h.Dropped = d.rawCount(h)
			continue
		}
		h.Raw = d.s.Raw(h.Raw)
	}
	h.Raw = append(h.Raw, '}')
	d.out.Meta.HostCapture = h
}

// rawCount reads a count and appends its text.
func (d *reader) rawCount(h *HostCapture) OptInt {
	switch d.s.Peek() {
	case jsonscan.Number:
		n := OptInt{V: d.s.Int64(), Set: true}
		h.Raw = strconv.AppendInt(h.Raw, n.V, 10)
		return n
	case jsonscan.String:
		text := d.s.Text()
		h.Raw = jsonscan.AppendString(h.Raw, text)
		v, ok := jsonscan.ParseInt(text)
		if i, fits := v.Int64(); ok && fits {
			return OptInt{V: i, Set: true}
		}
		return OptInt{}
	}
	h.Raw = d.s.Raw(h.Raw)
	return OptInt{}
}

// accounting sums the losses that the collector counted (spec/collector.md §7.3).
func (d *reader) accounting(text *[]byte) {
	kinds := false
	all := &Accounting{}
	d.out.Meta.Accounting = all
	defer func() {
		if !kinds {
			d.warn("accounting-unreadable", 1, "metadata.capture_accounting of %s has no object \"kinds\"; what it says of losses is not understood", d.file)
		}
	}()
	d.keepObject(text, func(key string, text *[]byte) {
		switch key {
		case "kinds":
		case "ended_early":
			d.out.Loss.EndedEarly = d.keepBool(text)
			return
		case "policy":
			all.Policy = d.keepText(text)
			return
		case "stalls":
			d.keepObject(text, func(key string, text *[]byte) {
				switch key {
				case "count":
					d.out.Meta.Stalls.Count = max(d.keepCount(text), 0)
				case "real_ns":
					d.out.Meta.Stalls.Ns = max(d.keepCount(text), 0)
				default:
					d.keep(text)
				}
			})
			return
		default:
			d.keep(text)
			return
		}
		kinds = d.s.Peek() == jsonscan.Object
		d.keepObject(text, func(kind string, text *[]byte) {
			a := Account{Kind: kind}
			d.keepObject(text, func(key string, text *[]byte) {
				part := map[string]*int64{"total": &a.Total, "collected": &a.Collected, "dropped": &a.Dropped, "host_lost": &a.HostLost, "unflushed": &a.Unflushed}[key]
				if part == nil {
					d.keep(text)
					return
				}
				*part = d.keepCount(text)
			})
			all.Accounts = append(all.Accounts, a)
			lost := addCount(addCount(addCount(0, a.Dropped), a.HostLost), a.Unflushed)
			if lost > 0 {
				l := &d.out.Loss
				l.Accounting = addCount(l.Accounting, lost)
				l.Kinds = append(l.Kinds, KindLoss{kind, lost})
			}
		})
	})
}

// appendKey begins a field in a list of "key":value.
func appendKey[T string | []byte](dst []byte, key T) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return append(jsonscan.AppendString(dst, key), ':')
}

func appendInt(dst []byte, v jsonscan.Int, kind jsonscan.Kind) []byte {
	if kind == jsonscan.String {
		return jsonscan.AppendString(dst, v.String())
	}
	return append(dst, v.String()...)
}

// The readers below append the text of what they read, if that is asked for.

// keepField passes over a value.
func (d *reader) keepField(dst *[]byte, key []byte) {
	if d.opt.Extras {
		*dst = appendKey(*dst, key)
	}
	d.keep(dst)
}

// keep passes over a value, appending no key.
func (d *reader) keep(dst *[]byte) {
	if d.opt.Extras {
		*dst = d.s.Raw(*dst)
		return
	}
	d.s.Skip()
}

// keepText reads like text.
func (d *reader) keepText(dst *[]byte) string {
	if !d.opt.Extras {
		return d.text()
	}
	if d.s.Peek() != jsonscan.String {
		d.keep(dst)
		return ""
	}
	text := string(d.s.Text())
	*dst = jsonscan.AppendString(*dst, text)
	return text
}

// keepInt reads like optInt.
func (d *reader) keepInt(dst *[]byte) OptInt {
	if !d.opt.Extras {
		return d.optInt()
	}
	var v jsonscan.Int
	kind := d.s.Peek()
	if kind == jsonscan.Number {
		v = d.s.Int()
	} else {
		var ok bool
		if v, ok = d.s.TryInt(); !ok {
			d.keep(dst)
			return OptInt{}
		}
	}
	*dst = appendInt(*dst, v, kind)
	i, ok := v.Int64()
	if !ok {
		return OptInt{}
	}
	return OptInt{V: i, Set: true}
}

// keepCount reads a number of records; a value that is no integer counts as 0. A
// number that is too large is refused: taking it for none would hide a loss.
func (d *reader) keepCount(dst *[]byte) int64 {
	if d.s.Peek() != jsonscan.Number {
		return d.keepInt(dst).V
	}
	n := d.s.Int64()
	if d.opt.Extras {
		*dst = strconv.AppendInt(*dst, n, 10)
	}
	return n
}

// keepBool reads true or false; any other value is passed over and false.
func (d *reader) keepBool(dst *[]byte) bool {
	if k := d.s.Peek(); k != jsonscan.True && k != jsonscan.False {
		d.keep(dst)
		return false
	}
	b := d.s.Bool()
	if d.opt.Extras {
		*dst = strconv.AppendBool(*dst, b)
	}
	return b
}

// keepObject walks an object; any other value is passed over.
func (d *reader) keepObject(dst *[]byte, field func(key string, dst *[]byte)) {
	if d.s.Peek() != jsonscan.Object {
		d.keep(dst)
		return
	}
	var fields []byte
	d.object(func(key string) {
		if d.opt.Extras {
			fields = appendKey(fields, key)
		}
		field(key, &fields)
	})
	if d.opt.Extras {
		*dst = append(append(append(*dst, '{'), fields...), '}')
	}
}

// object walks an object; any other value is passed over.
func (d *reader) object(field func(key string)) {
	if d.s.Peek() != jsonscan.Object {
		d.s.Skip()
		return
	}
	d.s.BeginObject()
	for {
		key, ok := d.s.Key()
		if !ok {
			return
		}
		field(string(key))
	}
}
