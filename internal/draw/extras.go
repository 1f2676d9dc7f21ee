package draw

import (
	"strconv"

	"swimlane/internal/analysis/overhead"
	"swimlane/internal/jsonscan"
	"swimlane/timeline"
	"swimlane/trace"
)

// overhead adds the counters of spec/converter.md §7.
func (d *drawing) overhead() {
	steps := overhead.Compute(d.t)
	if len(steps.States) == 0 {
		return
	}
	process := d.procSched
	if !d.hasStreams {
		// Counters belong to process 2 even where no scheduler recorded anything;
		// the format describes that process only where one did.
		process = d.pic.process(pidScheduler, "")
	}
	s := overheadSection{d: d, process: process}
	var last [8]int64
	present := [8]bool{6: true, 7: true}
	for e, cores := range steps.Cores {
		present[3*e], present[3*e+1], present[3*e+2] = cores > 0, cores > 0, cores > 0
	}
	for i, st := range steps.States {
		for k, v := range counters(&st) {
			if present[k] && (i == 0 || v != last[k]) {
				s.points = append(s.points, point{st.At, v, uint8(k)})
			}
			last[k] = v
		}
	}
	d.pic.Report.OverheadPoints = len(s.points)
	d.add(s)
}

// counterTracks are the tracks in the order they are written.
var counterTracks = [8]struct {
	name string
	tid  uint32
}{
	{"oh_aic_idle", 9101}, {"oh_aic_ready", 9102}, {"oh_aic_overhead", 9103},
	{"oh_aiv_idle", 9111}, {"oh_aiv_ready", 9112}, {"oh_aiv_overhead", 9113},
	{"oh_all_overhead", 9121}, {"oh_has_overhead", 9122},
}

// counters gives the values of the tracks. Idle is negative where kernels of one
// core overlap: more of them run than there are cores.
func counters(st *overhead.State) [8]int64 {
	flag := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	v := [8]int64{6: flag(st.All), 7: flag(st.Has)}
	for e := range overhead.Engines {
		v[3*e], v[3*e+1], v[3*e+2] = int64(st.Idle[e]), int64(st.Ready[e]), flag(st.Overhead[e])
	}
	return v
}

type point struct {
	at    uint64
	value int64
	track uint8
}

type overheadSection struct {
	d       *drawing
	process int
	points  []point
}

func (s overheadSection) Len() int { return len(s.points) }

func (s overheadSection) Walk(from, to int, sink trace.Sink) {
	var value [1]trace.Arg
	for _, p := range s.points[from:to] {
		track := &counterTracks[p.track]
		value[0] = trace.Arg{Key: track.name, Kind: trace.Int, Num: uint64(p.value)}
		sink.Counter(&trace.Counter{
			Process: s.process, TID: track.tid, Time: s.d.t.Clock.Ns(p.at), Name: track.name, Category: "overhead", Values: value[:],
		})
	}
}

// metadata describes the picture as a whole (spec/records.md §4.8, §4.9,
// spec/newest.md §5.6).
func (d *drawing) metadata() {
	h, m := d.t.Host, &d.t.Rec.Meta
	text := func(s string) []byte { return jsonscan.AppendString(nil, s) }
	flag := func(b bool) []byte { return strconv.AppendBool(nil, b) }
	number := func(v uint64) []byte { return strconv.AppendUint(nil, v, 10) }
	add := func(key string, json []byte) {
		d.pic.Metadata = append(d.pic.Metadata, trace.Field{Key: key, JSON: json})
	}
	if d.t.Rec.Dialect.NamesRuntime {
		add("runtime", text(m.Runtime))
	}
	host := d.t.HostMode()
	if host || d.t.Placed {
		complete := !host || h.Complete
		status := "partial"
		if d.t.Whole() {
			status = "complete"
		}
		layout := "causal_composite"
		if d.t.Placed {
			layout = "containment_spliced"
		}
		add("layout", text(layout))
		add("trace_status", text(status))
		if host {
			relation := m.TimelineRelation
			if relation == "" {
				relation = "host_orchestration_precedes_device"
			}
			add("relation", text(relation))
			add("host_capture", d.hostCapture())
		}
		add("host_records_complete", flag(host && complete))
		add("cross_domain_latency_available", flag(d.t.Placed && complete))
		source, origin := d.t.Origins()
		add("source_timeline_origin_ns", number(source))
		add("timeline_origin_ns", number(origin))
		if !d.t.Placed {
			add("cross_domain_gap_unknown", flag(true))
			add("logical_seam_us", appendSeam(h.Seam))
		}
		if host && h.Missing {
			add("host_records_missing", flag(true))
		}
		if m.ClockDomain != "" {
			add("host_clock_domain_id", text(m.ClockDomain))
		}
	}
	if m.Collection != nil && !host && !d.t.Placed {
		status := "complete"
		if !m.Collection.Whole() {
			status = "partial"
		}
		add("trace_status", text(status))
	}
	if lost := d.recordsLost(); lost != nil {
		add("records_lost", lost)
	}
	if launches := d.t.Rec.Launches; launches != nil {
		b := []byte{'['}
		for i, l := range launches {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendUint(append(b, `{"launch_epoch":`...), l.Epoch, 10), `,"start_time_us":`...)
			b = append(append(b, appendSeam(d.t.Clock.Ns(l.Start))...), '}')
		}
		add("run_boundaries", append(b, ']'))
	}
	if m.Alignment != nil {
		if !host && !d.t.Placed {
			add("layout", text("device_relative"))
			add("cross_domain_latency_available", flag(false))
		}
		add("clock_alignment", m.Alignment.Raw)
	}
}

// appendSeam writes ns as µs with three decimals.
func appendSeam(ns int64) []byte {
	b := strconv.AppendInt(nil, ns/1000, 10)
	rest := strconv.Itoa(int(1000 + ns%1000))[1:]
	return append(append(b, '.'), rest...)
}

// hostCapture is the capture's own record with what contradicts it.
func (d *drawing) hostCapture() []byte {
	h, c := d.t.Host, d.t.Rec.Meta.HostCapture
	if c == nil {
		b := append([]byte(`{"status":"unknown","recorded_records":`), strconv.Itoa(h.Recorded)...)
		return append(b, `,"dropped_records":null,"error":"legacy_capture_status_missing"}`...)
	}
	if len(h.Errors) == 0 {
		return c.Raw
	}
	b := append([]byte(nil), c.Raw[:len(c.Raw)-1]...)
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = append(b, `"converter_validation_errors":[`...)
	for i, e := range h.Errors {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendString(b, e)
	}
	return append(b, "]}"...)
}

// Metadata describes a picture of t as a whole; nil if there is nothing to say.
func Metadata(t *timeline.Timeline) []trace.Field {
	d := drawing{t: t, pic: &Picture{}}
	d.metadata()
	return d.pic.Metadata
}
