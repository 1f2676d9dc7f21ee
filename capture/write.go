package capture

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"swimlane/internal/jsonscan"
)

// Write writes the file, in the layout of spec/collector.md §7. What Lost names
// is written as well as the form can; nobody should want that.
func (c *Conversion) Write(w io.Writer) error {
	o := &recordWriter{Conversion: c, w: bufio.NewWriterSize(w, 256<<10)}
	o.raw("{\n  ")
	o.key("chip_swimlane_level")
	o.int(int64(c.rec.Level))
	o.metadata()
	o.tasks()
	o.sched()
	o.streams()
	o.submits("aicpu_orchestrator_phases", c.rec.DeviceOrc, "start_cycles", "end_cycles", false)
	o.hostSubmits()
	o.uploads()
	o.lifecycle()
	for _, f := range c.rec.Further {
		o.section(f.Key)
		o.put(f.JSON)
	}
	o.raw("\n}\n")
	if o.err == nil {
		o.err = o.w.Flush()
	}
	return o.err
}

// recordWriter writes one file.
type recordWriter struct {
	*Conversion
	w   *bufio.Writer
	buf []byte
	err error
}

func (o *recordWriter) put(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

func (o *recordWriter) raw(s string) {
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

func (o *recordWriter) int(v int64) { o.buf = strconv.AppendInt(o.buf[:0], v, 10); o.put(o.buf) }

func (o *recordWriter) text(s string) {
	o.buf = jsonscan.AppendString(o.buf[:0], s)
	o.put(o.buf)
}

func (o *recordWriter) key(name string) {
	o.text(name)
	o.raw(": ")
}

func (o *recordWriter) section(name string) {
	o.raw(",\n  ")
	o.key(name)
}

// between separates the entries of a list.
func (o *recordWriter) between(i int, sep string) {
	if i > 0 {
		o.raw(sep)
	}
}

// run is the run that a record names in the form, if it names one.
func (o *recordWriter) run(run []int32, j int) (epoch uint64, named bool) {
	if o.rec.Launches != nil {
		return 0, false
	}
	i := int32(0)
	if run != nil {
		i = run[j]
	}
	if r := o.rec.Runs[i]; r.Known {
		return r.Epoch, o.form == FormNewest
	}
	return o.epoch, o.form == FormNewest && len(o.rec.Runs) == 1
}

// metadataOrder is the order in which runtimes write the keys (spec/collector.md
// §7.3, spec/newest.md §3.2); others follow.
var metadataOrder = []string{
	"runtime", "collection", "clock_freq_hz", "num_cores", "core_types", "orchestrator_source", "orchestrator_clock_domain",
	"device_clock_domain", "host_timestamp_resolution_ns", "host_timestamp_quantization_ns", "host_orchestration_origin_ns",
	"timeline_relation", "host_capture", "host_clock_domain_id", "host_timeline_origin_ns", "clock_anchors", "core_to_thread",
	"capture_accounting", "co_captured", "clock_alignment", "run_boundaries", "converted_from",
}

func (o *recordWriter) metadata() {
	fields := append(o.metadataFields(), o.rec.Meta.Further...)
	place := func(f Field) int {
		if i := slices.Index(metadataOrder, f.Key); i >= 0 {
			return i
		}
		return len(metadataOrder)
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return place(a) - place(b) })
	o.section("metadata")
	o.raw("{")
	for i, f := range fields {
		o.between(i, ",")
		o.raw("\n    ")
		o.key(f.Key)
		o.put(f.JSON)
	}
	o.raw("\n  }")
}

// metadataFields are the keys that have a typed place.
func (o *recordWriter) metadataFields() (out []Field) {
	m := &o.rec.Meta
	add := func(key string, text []byte) { out = append(out, Field{key, text}) }
	text := func(key, v string) {
		if v != "" {
			add(key, jsonscan.AppendString(nil, v))
		}
	}
	number := func(key string, v uint64) {
		if v != 0 {
			add(key, strconv.AppendUint(nil, v, 10))
		}
	}
	texts := func(key string, v []string) {
		if v != nil {
			add(key, appendList(v, jsonscan.AppendString[string]))
		}
	}
	number("clock_freq_hz", m.ClockHz)
	texts("core_types", m.CoreTypes)
	if m.CoreToThread != nil {
		add("core_to_thread", appendList(m.CoreToThread, func(b []byte, v int32) []byte { return strconv.AppendInt(b, int64(v), 10) }))
	}
	text("orchestrator_source", m.OrchestratorSource)
	text("timeline_relation", m.TimelineRelation)
	number("host_orchestration_origin_ns", m.HostOriginNs)
	number("host_timeline_origin_ns", m.TimelineOriginNs)
	text("host_clock_domain_id", m.ClockDomain)
	if m.HostCapture != nil {
		add("host_capture", m.HostCapture.Raw)
	}
	texts("co_captured", m.CoCaptured)
	if m.Alignment != nil {
		add("clock_alignment", m.Alignment.Raw)
	}
	if o.rec.Launches != nil && o.form == FormSeed {
		add("run_boundaries", appendList(o.rec.Launches, func(b []byte, l Launch) []byte {
			b = strconv.AppendUint(append(b, '['), l.Epoch, 10)
			b = strconv.AppendUint(append(b, ", "...), l.Start, 10)
			return append(b, ']')
		}))
	}
	if o.form == FormNewest {
		text("runtime", o.runtime)
	}
	if from := o.convertedFrom(); from != nil {
		add("converted_from", from)
	}
	return out
}

// convertedFrom holds what the form has no place for, nil if there is nothing.
func (o *recordWriter) convertedFrom() (text []byte) {
	from := o.rec.Meta.Origin
	if o.form == FormSeed {
		if o.runtime != "" && !slices.ContainsFunc(o.rec.Streams, func(s Stream) bool { return !s.Gap }) { // streams name it too
			text = jsonscan.AppendString(appendKey(text, "runtime"), o.runtime)
		}
		switch run := o.rec.Runs[0]; {
		case o.assumed: // it was none of the capture's
		case run.Known && o.rec.Launches == nil:
			text = strconv.AppendUint(appendKey(text, "run_epoch"), run.Epoch, 10)
		case from != nil && from.HasRun:
			text = strconv.AppendUint(appendKey(text, "run_epoch"), from.Epoch, 10)
		}
	}
	if o.form == FormNewest && o.assumed {
		text = strconv.AppendBool(appendKey(text, "run_epoch_assumed"), true)
	}
	if o.keepsSeam() {
		text = strconv.AppendBool(appendKey(text, "uploads_in_seam"), o.rec.Dialect.SeamCountsUploads)
	}
	if text == nil {
		return nil
	}
	return append(append([]byte{'{'}, text...), '}')
}

func appendList[T any](list []T, appendOne func([]byte, T) []byte) []byte {
	b := []byte{'['}
	for i, v := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendOne(b, v)
	}
	return append(b, ']')
}

// row writes a row of integers, which stands in line prefix.
func (o *recordWriter) row(i int, prefix string, values ...uint64) {
	o.between(i, ",")
	o.raw(prefix)
	b := append(o.buf[:0], '[')
	for k, v := range values {
		if k > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendUint(b, v, 10)
	}
	o.buf = append(b, ']')
	o.put(o.buf)
}

func (o *recordWriter) tasks() {
	t := &o.rec.Tasks
	o.section("aicore_tasks")
	o.raw("[")
	var row [7]uint64
	for i := range t.Core {
		id, _ := o.mapID(t.Task[i])
		row = [7]uint64{uint64(t.Core[i]), id, t.Reg[i], t.Start[i], t.End[i], t.Start[i] - t.Receive[i]}
		n := 6
		if epoch, named := o.run(t.Run, i); named {
			row[6], n = epoch, 7
		}
		o.row(i, "\n    ", row[:n]...)
	}
	if len(t.Core) > 0 {
		o.raw("\n  ")
	}
	o.raw("]")
}

func (o *recordWriter) schemaVersion() {
	if o.form == FormSeed {
		o.key("schema_version")
		o.raw("1,\n    ")
	}
}

func (o *recordWriter) sched() {
	t := &o.rec.Sched
	if !t.Present {
		return
	}
	o.section("scheduler_tasks")
	o.raw("{\n    ")
	o.schemaVersion()
	o.key("producer")
	o.text(t.Producer)
	o.raw(",\n    ")
	o.key("records")
	o.raw("[")
	var row [5]uint64
	for i := range t.Core {
		row = [5]uint64{uint64(t.Core[i]), t.Reg[i], t.Dispatch[i], t.Finish[i]}
		n := 4
		if epoch, named := o.run(t.Run, i); named {
			row[4], n = epoch, 5
		}
		o.row(i, "\n      ", row[:n]...)
	}
	if len(t.Core) > 0 {
		o.raw("\n    ")
	}
	o.raw("]\n  }")
}

func (o *recordWriter) streams() {
	streams := slices.DeleteFunc(slices.Clone(o.rec.Streams), func(s Stream) bool { return s.Gap })
	if len(streams) == 0 {
		return
	}
	slices.SortFunc(streams, func(a, b Stream) int { return a.Order - b.Order })
	o.section("scheduler_records")
	o.raw("{\n    ")
	o.schemaVersion()
	o.key("streams")
	o.raw("[")
	for i := range streams {
		o.between(i, ",")
		o.raw("\n      {")
		o.streamHead(&streams[i])
		o.key("records")
		o.raw("[")
		o.records(&streams[i].Phases)
		o.raw("], ")
		o.key("metrics")
		o.raw("[")
		o.metrics(&streams[i].Phases)
		o.raw("]}")
	}
	o.raw("\n    ]\n  }")
}

// streamHead writes the descriptive fields of a stream.
func (o *recordWriter) streamHead(s *Stream) {
	d := descriptor{
		platform: textOrNil(s.Platform), producer: textOrNil(s.Producer), coreType: textOrNil(s.CoreType),
		scheduler: s.SchedulerID.text(), worker: s.WorkerID.text(), physicalCore: s.PhysicalCore.text(),
	}
	text := d.object()
	if s.Raw != nil {
		text = s.Raw
	}
	eachField(text, func(key string, value []byte) {
		if key != "runtime" {
			o.key(key)
			o.put(value)
			o.raw(", ")
			return
		}
		if o.form == FormSeed {
			o.key(key)
			if s.Runtime == "" {
				value = orNull(textOrNil(o.runtime))
			}
			o.put(value)
			o.raw(", ")
		}
	})
	if s.Further != nil {
		o.put(s.Further)
		o.raw(", ")
	}
}

func textOrNil(s string) []byte {
	if s == "" {
		return nil
	}
	return jsonscan.AppendString(nil, s)
}

func (v OptInt) text() []byte {
	if !v.Set {
		return nil
	}
	return strconv.AppendInt(nil, v.V, 10)
}

func orNull(b []byte) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

func (o *recordWriter) records(p *Phases) {
	for j := range p.Kind {
		o.between(j, ",")
		b := append(o.buf[:0], "\n        {\"start_cycles\": "...)
		b = strconv.AppendUint(b, p.Start[j], 10)
		b = strconv.AppendUint(append(b, ", \"end_cycles\": "...), p.End[j], 10)
		if epoch, named := o.run(p.Run, j); named {
			b = strconv.AppendUint(append(b, ", \"run_epoch\": "...), epoch, 10)
		}
		b = appendOpt(append(b, ", \"loop_iter\": "...), p.Loop[j], p.Flags[j]&HasLoop != 0)
		b = append(b, ", \"kind\": "...)
		if p.Kind[j] == KindMissing {
			b = append(b, "null"...)
		} else {
			b = jsonscan.AppendString(b, o.rec.Kinds[p.Kind[j]].Name)
		}
		b = appendOpt(append(b, ", \"tasks_processed\": "...), p.Processed[j], p.Flags[j]&HasProcessed != 0)
		b = append(b, ", \"task_id\": "...)
		if p.Flags[j]&HasTask != 0 {
			id, _ := o.mapID(p.Task[j])
			b = strconv.AppendUint(b, id, 10)
		} else {
			b = append(b, "null"...)
		}
		o.buf = append(b, '}')
		o.put(o.buf)
	}
	if p.Len() > 0 {
		o.raw("\n      ")
	}
}

func appendOpt(b []byte, v int64, set bool) []byte {
	if !set {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, v, 10)
}

// metrics writes what a stream knows of its records beyond their own keys.
func (o *recordWriter) metrics(p *Phases) {
	n := 0
	for j := range p.Kind {
		depths := p.Flags[j]&HasDepths != 0
		further := p.Extra != nil && p.Extra[j] != nil
		if !depths && !further {
			continue
		}
		o.between(n, ",")
		n++
		b := append(o.buf[:0], "\n        {\"record_index\": "...)
		b = strconv.AppendInt(b, int64(j), 10)
		if further {
			b = append(append(b, ", "...), p.Extra[j]...)
		}
		if depths {
			b = appendDepths(append(b, ", \"shared_at_start\": "...), p.Depth[j].Start[:])
			b = appendDepths(append(b, ", \"shared_at_end\": "...), p.Depth[j].End[:])
		}
		o.buf = append(b, '}')
		o.put(o.buf)
	}
	if n > 0 {
		o.raw("\n      ")
	}
}

func (o *recordWriter) hostSubmits() {
	lanes := o.rec.HostOrc
	if len(lanes) == 0 && o.rec.HostListed {
		lanes = make([]Submits, 1) // an empty lane is what shows the host's mode
	}
	o.submits("host_orchestrator_phases", lanes, "start_host_ns", "end_host_ns", true)
}

func (o *recordWriter) submits(section string, lanes []Submits, from, to string, host bool) {
	if len(lanes) == 0 {
		return
	}
	o.section(section)
	o.raw("[")
	for i := range lanes {
		s := &lanes[i]
		o.between(i, ",")
		o.raw("\n    [")
		for j := range s.Start {
			o.between(j, ",")
			b := append(o.buf[:0], "\n      {\"submit_idx\": "...)
			b = append(strconv.AppendInt(b, s.Index[j], 10), ", \"task_id\": "...)
			if s.Has[j] {
				id, _ := o.mapID(s.Task[j])
				b = strconv.AppendUint(b, id, 10)
			} else {
				b = append(b, "-1"...)
			}
			b = strconv.AppendUint(append(appendSpacedKey(b, from), ' '), s.Start[j], 10)
			b = strconv.AppendUint(append(appendSpacedKey(b, to), ' '), s.End[j], 10)
			if epoch, named := o.run(s.Run, j); named && !host {
				b = strconv.AppendUint(append(b, ", \"run_epoch\": "...), epoch, 10)
			}
			if s.Extra != nil && s.Extra[j] != nil {
				b = append(append(b, ", "...), s.Extra[j]...)
			}
			o.buf = append(b, '}')
			o.put(o.buf)
		}
		if s.Len() > 0 {
			o.raw("\n    ")
		}
		o.raw("]")
	}
	o.raw("\n  ]")
}

func appendSpacedKey(b []byte, key string) []byte {
	return append(jsonscan.AppendString(append(b, ", "...), key), ':')
}

func (o *recordWriter) uploads() {
	ups := o.rec.Uploads
	if len(ups) == 0 {
		return
	}
	o.section("host_device_uploads")
	o.raw("[")
	for i := range ups {
		u := &ups[i]
		o.between(i, ",")
		b := append(o.buf[:0], "\n    {\"start_host_ns\": "...)
		b = strconv.AppendUint(b, u.Start, 10)
		b = strconv.AppendUint(append(b, ", \"end_host_ns\": "...), u.End, 10)
		if len(u.Fields) > 0 {
			b = append(append(b, ", "...), u.Fields...)
		}
		o.buf = append(b, '}')
		o.put(o.buf)
	}
	o.raw("\n  ]")
}

func (o *recordWriter) lifecycle() {
	lives := o.rec.Lifecycle
	if len(lives) == 0 {
		return
	}
	o.section("aicpu_lifecycle_records")
	o.raw("[")
	for i := range lives {
		l := &lives[i]
		o.between(i, ",")
		var fields []byte
		if l.Thread.Set {
			fields = strconv.AppendInt(appendKey(fields, "aicpu_thread_id"), l.Thread.V, 10)
		}
		for k, span := range l.Span {
			for side, name := range lifecycleFields[k] {
				if span[side] > 0 {
					fields = strconv.AppendUint(appendKey(fields, name+"_cycles"), span[side], 10)
				}
			}
		}
		if l.Extra != nil {
			if fields != nil {
				fields = append(fields, ',')
			}
			fields = append(fields, l.Extra...)
		}
		o.raw("\n    {")
		o.put(fields)
		o.raw("}")
	}
	o.raw("\n  ]")
}
