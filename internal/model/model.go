// Package model writes the joined model of a capture as JSON, for scripts
// (spec/records.md §4.8): every time in µs on the picture's axis, task rows
// joined and sorted, absent values absent.
package model

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/jsonscan"
	"swimlane/timeline"
	"swimlane/trace"
)

// Write streams the model of t to w, one task, record or lane entry a line.
// metadata is the description of a host-orchestrated capture, nil if there is none.
func Write(w io.Writer, t *timeline.Timeline, metadata []trace.Field) error {
	m := &writer{t: t, w: bufio.NewWriterSize(w, 256<<10)}
	m.raw("{\n")
	m.key("chip_swimlane_level")
	m.raw(strconv.Itoa(t.Rec.Level))
	if t.Rec.Dialect.NamesRuntime {
		m.key("runtime")
		m.str(t.Rec.Meta.Runtime)
	}
	m.key("tasks")
	m.list(t.Rows.Len(), m.task)
	if p := t.Rec.Sched.Producer; p != "" {
		m.key("scheduler_task_producer")
		m.str(p)
	}
	if n := len(t.Rec.Streams); n > 0 {
		m.key("scheduler_records")
		m.list(n, m.records)
		if !t.Rec.Dialect.NamesRuntime { // the former name, for older scripts
			m.key("aicpu_scheduler_phases")
			m.list(n, m.records)
		}
		m.key("scheduler_streams")
		m.list(n, m.stream)
	}
	m.orchestrator()
	if n := len(t.Rec.Lifecycle); n > 0 {
		m.key("aicpu_lifecycle_records")
		m.list(n, m.lifecycle)
	}
	if n := len(t.Rec.Uploads); n > 0 {
		m.key("host_device_uploads")
		m.list(n, m.upload)
	}
	if launches := t.Rec.Launches; launches != nil {
		m.key("run_boundaries")
		m.list(len(launches), func(i int) {
			m.open('{')
			m.unsigned("launch_epoch", launches[i].Epoch)
			m.number("start_time_us", m.us(launches[i].Start))
			m.raw("}")
		})
	}
	if metadata != nil {
		m.key("timeline_metadata")
		m.open('{')
		for _, f := range metadata {
			m.field(f.Key)
			m.raw(string(f.JSON))
		}
		m.raw("}")
	}
	if c := t.Rec.Meta.CoreToThread; c != nil {
		m.key("core_to_thread")
		m.open('[')
		for _, v := range c {
			m.comma()
			m.raw(strconv.Itoa(int(v)))
		}
		m.raw("]")
	}
	m.raw("\n}\n")
	if m.err == nil {
		m.err = m.w.Flush()
	}
	return m.err
}

type writer struct {
	t     *timeline.Timeline
	w     *bufio.Writer
	buf   []byte
	keys  bool     // a top-level key was written
	first bool     // no entry of the innermost object or array was written
	names []string // keys of the object being written
	err   error
}

func (m *writer) raw(s string) {
	if m.err == nil {
		_, m.err = m.w.WriteString(s)
	}
}

func (m *writer) append(b []byte) {
	m.buf = b[:0]
	if m.err == nil {
		_, m.err = m.w.Write(b)
	}
}

func (m *writer) str(s string) { m.append(jsonscan.AppendString(m.buf[:0], s)) }

func (m *writer) key(name string) {
	if m.keys {
		m.raw(",\n")
	}
	m.keys = true
	m.raw(`"` + name + `": `)
}

func (m *writer) open(c byte) {
	m.raw(string(c))
	m.first = true
	if c == '{' {
		m.names = m.names[:0]
	}
}

func (m *writer) comma() {
	if !m.first {
		m.raw(",")
	}
	m.first = false
}

func (m *writer) field(name string) {
	m.names = append(m.names, name)
	m.comma()
	m.append(append(jsonscan.AppendString(m.buf[:0], name), ':'))
}

// further writes fields of the capture, which stand as "key":value,…, except
// those that the object has already.
func (m *writer) further(fields []byte) {
	if len(fields) == 0 {
		return
	}
	clash := false
	for _, name := range m.names {
		m.buf = append(jsonscan.AppendString(m.buf[:0], name), ':')
		clash = clash || bytes.Contains(fields, m.buf)
	}
	if !clash {
		m.comma()
		m.append(append(m.buf[:0], fields...))
		return
	}
	s := jsonscan.New(strings.NewReader("{" + string(fields) + "}"))
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return
		}
		if name := string(key); slices.Contains(m.names, name) {
			s.Skip()
		} else {
			m.field(name)
			m.append(s.Raw(m.buf[:0]))
		}
	}
}

func (m *writer) furtherAt(fields [][]byte, j int) {
	if fields != nil {
		m.further(fields[j])
	}
}

// list writes n entries, one a line.
func (m *writer) list(n int, entry func(i int)) {
	m.raw("[")
	for i := range n {
		if i > 0 {
			m.raw(",")
		}
		m.raw("\n")
		entry(i)
	}
	m.raw("]")
}

func (m *writer) integer(name string, v int64) {
	m.field(name)
	m.append(strconv.AppendInt(m.buf[:0], v, 10))
}

func (m *writer) unsigned(name string, v uint64) {
	m.field(name)
	m.append(strconv.AppendUint(m.buf[:0], v, 10))
}

func (m *writer) text(name, v string) {
	m.field(name)
	m.str(v)
}

// number writes µs in the shortest form that reads back exactly, without exponent.
func (m *writer) number(name string, v float64) {
	m.field(name)
	m.append(strconv.AppendFloat(m.buf[:0], v, 'f', -1, 64))
}

func (m *writer) us(cycles uint64) float64 { return m.t.Clock.Micros(cycles) }

func (m *writer) task(row int) {
	r := &m.t.Rows
	core := m.t.CoreOf(row)
	id := m.t.IDOf(row)
	start, end, receive := m.us(r.Start[row]), m.us(r.End[row]), m.us(r.Receive[row])
	m.open('{')
	m.unsigned("task_id", id)
	m.integer("func_id", int64(r.Func[row]))
	m.integer("core_id", int64(core.ID))
	m.text("core_type", core.Type)
	m.scope(id)
	m.number("start_time_us", start)
	m.number("end_time_us", end)
	m.number("duration_us", end-start)
	m.number("receive_time_us", receive)
	m.number("local_setup_us", start-receive)
	if r.Timed(row) {
		dispatch := m.us(r.Dispatch[row])
		m.number("dispatch_time_us", dispatch)
		m.number("finish_time_us", m.us(r.Finish[row]))
		m.number("propagation_us", receive-dispatch)
	}
	m.run(m.t.Tasks.RunOf(r.Task[row]))
	m.raw("}")
}

// scope writes where a task id belongs (spec/records.md §4.4, spec/newest.md §4.3).
func (m *writer) scope(id uint64) {
	ids := m.t.Rec.Dialect.IDs
	t := ids.Split(id)
	if ids != capture.Spaces {
		m.unsigned("ring_id", uint64(t.Ring))
		return
	}
	m.unsigned("id_space", uint64(t.Space))
	if t.Space == capture.SpaceSubTask {
		m.unsigned("parent_task_id", uint64(t.Parent))
	}
}

// run writes the run of a record, where records name one.
func (m *writer) run(run int32) {
	r := m.t.Rec.Runs[run]
	switch {
	case !r.Known:
	case m.t.Rec.Launches != nil:
		m.unsigned("launch_epoch", r.Epoch)
	default:
		m.unsigned("run_epoch", r.Epoch)
	}
}

func runAt(run []int32, j int) int32 {
	if run == nil {
		return 0
	}
	return run[j]
}

func (m *writer) records(n int) {
	p := &m.t.Rec.Streams[n].Phases
	m.list(p.Len(), func(j int) {
		m.open('{')
		m.text("phase", m.t.Rec.Kinds[p.Kind[j]].Name)
		m.number("start_time_us", m.us(p.Start[j]))
		m.number("end_time_us", m.us(p.End[j]))
		if p.Flags[j]&capture.HasLoop != 0 {
			m.integer("loop_iter", p.Loop[j])
		}
		if p.Flags[j]&capture.HasProcessed != 0 {
			m.integer("tasks_processed", p.Processed[j])
		}
		if p.Flags[j]&capture.HasTask != 0 {
			m.unsigned("task_id", p.Task[j])
		} else {
			m.field("task_id")
			m.raw("null")
		}
		m.run(runAt(p.Run, j))
		if p.Flags[j]&capture.HasDepths != 0 {
			m.depths("shared_at_start", p.Depth[j].Start)
			m.depths("shared_at_end", p.Depth[j].End)
		}
		m.furtherAt(p.Extra, j)
		m.raw("}")
	})
}

func (m *writer) depths(name string, d [3]int32) {
	m.field(name)
	m.open('[')
	for _, v := range d {
		m.comma()
		m.raw(strconv.Itoa(int(v)))
	}
	m.raw("]")
}

func (m *writer) stream(n int) {
	s := &m.t.Rec.Streams[n]
	if s.Raw != nil {
		m.raw(string(s.Raw))
		return
	}
	text := func(name, v string) {
		m.field(name)
		if v == "" {
			m.raw("null")
			return
		}
		m.str(v)
	}
	number := func(name string, v capture.OptInt) {
		m.field(name)
		if !v.Set {
			m.raw("null")
			return
		}
		m.raw(strconv.FormatInt(v.V, 10))
	}
	m.open('{')
	text("platform", s.Platform)
	text("runtime", s.Runtime)
	text("producer", s.Producer)
	number("scheduler_id", s.SchedulerID)
	number("worker_id", s.WorkerID)
	text("core_type", s.CoreType)
	number("physical_core_id", s.PhysicalCore)
	text("capture", "")
	m.raw("}")
}

func (m *writer) orchestrator() {
	lanes, source, host := m.t.Rec.DeviceOrc, "", false
	if len(lanes) > 0 {
		source = "aicpu"
	}
	if m.t.HostMode() {
		lanes, source, host = m.t.Rec.HostOrc, "host", true
	}
	if len(lanes) > 0 {
		m.key("aicpu_orchestrator_phases")
		m.list(len(lanes), func(l int) {
			s := &lanes[l]
			m.list(s.Len(), func(j int) {
				m.open('{')
				m.text("phase", "orch_submit")
				if host {
					m.number("start_time_us", float64(m.t.Host.Ns(s.Start[j]))/1000)
					m.number("end_time_us", float64(m.t.Host.Ns(s.End[j]))/1000)
				} else {
					m.number("start_time_us", m.us(s.Start[j]))
					m.number("end_time_us", m.us(s.End[j]))
				}
				m.integer("submit_idx", s.Index[j])
				if s.Has[j] {
					m.unsigned("task_id", s.Task[j])
				}
				if !host {
					m.run(runAt(s.Run, j))
					m.names = append(m.names, "kind") // phase stands for it (spec/records.md §4.5)
				}
				m.furtherAt(s.Extra, j)
				m.raw("}")
			})
		})
	}
	if source != "" {
		m.key("orchestrator_source")
		m.str(source)
	}
}

func (m *writer) lifecycle(i int) {
	l := &m.t.Rec.Lifecycle[i]
	m.open('{')
	if l.Thread.Set {
		m.integer("aicpu_thread_id", l.Thread.V)
	}
	m.integer("record_index", int64(i))
	for k, span := range l.Span {
		from, to := capture.LifecycleFields(k)
		for side, name := range [2]string{from, to} {
			if span[side] > 0 {
				m.number(name+"_time_us", m.us(span[side]))
			}
		}
	}
	if m.t.Rec.Launches != nil {
		m.run(l.Run)
	}
	m.further(l.Extra)
	m.raw("}")
}

func (m *writer) upload(i int) {
	u := &m.t.Rec.Uploads[i]
	m.open('{')
	if u.Fields != nil {
		m.names = append(m.names, "start_time_us", "end_time_us") // they follow
		m.further(u.Fields)
	} else {
		m.text("phase", u.Phase)
		m.integer("detail", u.Bytes)
	}
	m.number("start_time_us", float64(m.t.Host.Ns(u.Start))/1000)
	m.number("end_time_us", float64(m.t.Host.Ns(u.End))/1000)
	m.raw("}")
}
