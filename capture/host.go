package capture

import (
	"fmt"
	"strings"

	"swimlane/internal/jsonscan"
)

// submitLanes reads lanes of orchestrator records. Host lanes without records
// are dropped (spec/records.md §4.7), device lanes keep their position.
func (d *reader) submitLanes(section, from, to string, host bool) []Submits {
	s := d.s
	if s.Peek() != jsonscan.Array {
		s.Fail("found %s, expected %s to be an array of arrays", s.Peek(), section)
		return nil
	}
	var lanes []Submits
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		d.where.list = i
		d.out.HostListed = d.out.HostListed || host
		if s.Peek() != jsonscan.Array {
			s.Fail("%s[%d]: found %s, expected an array of records", section, i, s.Peek())
			return nil
		}
		if i >= maxLanes {
			s.Fail("found more than %d lanes in %s, expected a few", maxLanes, section)
			return nil
		}
		lane := d.submitLane(fmt.Sprintf("%s[%d]", section, i), from, to, host)
		if lane.Len() > 0 || !host {
			lanes = append(lanes, lane)
			d.laneAt = append(d.laneAt, i)
		}
		d.back(place{section, -1, "", -1})
	}
	return lanes
}

// maxLanes bounds lanes and streams: the longest real ones have one for each
// core, and millions of empty ones would cost far more memory than text.
const maxLanes = 1 << 16

// submit is one orchestrator record while it is being read.
type submit struct {
	index            int64
	task, start, end uint64
	named            bool
	epoch            uint64
	inRun            bool // the record names its run
	extra            []byte
}

func (d *reader) submitLane(section, from, to string, host bool) Submits {
	s := d.s
	var index column[int64]
	var task, start, end column[uint64]
	var has column[bool]
	var run column[int32]
	var extra column[[]byte]
	named := false // a record names its run
	anyExtra := false
	s.BeginArray()
	for j := 0; s.Elem(); j++ {
		d.where.row = j
		if s.Peek() != jsonscan.Object {
			s.Fail("%s[%d]: found %s, expected an object", section, j, s.Peek())
			return Submits{}
		}
		r := d.submit(from, to, host)
		if s.Err() != nil {
			break
		}
		index.add(r.index)
		task.add(r.task)
		has.add(r.named)
		start.add(r.start)
		end.add(r.end)
		named = named || r.inRun
		number := int32(unnamedRun)
		if r.inRun {
			number = d.runs.number(r.epoch)
		}
		run.add(number)
		if d.opt.Extras {
			extra.add(r.extra)
			anyExtra = anyExtra || r.extra != nil
		}
	}
	out := Submits{Index: index.flat(), Task: task.flat(), Has: has.flat(), Start: start.flat(), End: end.flat()}
	if named {
		out.Run = run.flat()
	}
	if anyExtra {
		out.Extra = extra.flat()
	}
	return out
}

func (d *reader) submit(from, to string, host bool) (r submit) {
	s := d.s
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return r
		}
		switch string(key) {
		case "submit_idx":
			if !s.TakeNull() {
				r.index = s.Int64()
			}
		case "task_id":
			if !s.TakeNull() {
				// A missing id is written as −1 by some writers.
				v := s.Int()
				r.named = v != jsonscan.Int{Mag: 1, Neg: true}
				r.task = v.Wrap()
			}
		case from:
			r.start = d.uint64OrNull()
		case to:
			r.end = d.uint64OrNull()
		case "run_epoch":
			if host { // no runtime writes that, and the host's part of a picture belongs to no run
				d.keepField(&r.extra, key)
				continue
			}
			d.setIdentity("orchestrator records with run_epoch")
			if !s.TakeNull() {
				r.epoch, r.inRun = s.Uint64(), true
			}
		default:
			d.keepField(&r.extra, key)
		}
	}
}

func (d *reader) uploads() {
	const section = "host_device_uploads"
	s := d.s
	if s.Peek() != jsonscan.Array {
		s.Fail("found %s, expected %s to be an array of objects", s.Peek(), section)
		return
	}
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		d.where.row = i
		if s.Peek() != jsonscan.Object {
			s.Fail("%s[%d]: found %s, expected an object", section, i, s.Peek())
			return
		}
		u := Upload{Phase: "upload"}
		if d.opt.Extras {
			u.Fields = []byte{}
		}
		d.object(func(key string) {
			switch key {
			case "start_host_ns":
				u.Start = d.uint64OrNull()
				return
			case "end_host_ns":
				u.End = d.uint64OrNull()
				return
			}
			if d.opt.Extras {
				u.Fields = appendKey(u.Fields, key)
			}
			switch key {
			case "phase":
				if t := d.keepText(&u.Fields); t != "" {
					u.Phase = t
				}
			case "detail":
				u.Bytes = d.keepInt(&u.Fields).V
			default:
				d.keep(&u.Fields)
			}
		})
		if s.Err() == nil {
			d.out.Uploads = append(d.out.Uploads, u)
		}
	}
}

// lifecycle reads the AICPU threads' lives (spec/records.md §2.8).
func (d *reader) lifecycle() {
	const section = "aicpu_lifecycle_records"
	s := d.s
	if s.Peek() != jsonscan.Array {
		d.bad(stepLifecycle, section, -1, s.Peek().String(), "aicpu_lifecycle_records must be an array of objects")
		s.Skip()
		return
	}
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		d.where.row = i
		if s.Peek() != jsonscan.Object {
			d.bad(stepLifecycle, section, i, fmt.Sprintf("%s in row %d", s.Peek(), i), "aicpu_lifecycle_records must be an array of objects")
			s.Skip()
			continue
		}
		var l Lifecycle
		d.object(func(key string) {
			if key == "aicpu_thread_id" {
				var text []byte
				if l.Thread = d.keepInt(&text); !l.Thread.Set && d.opt.Extras {
					l.Extra = append(appendKey(l.Extra, key), text...)
				}
				return
			}
			name, cycles := strings.CutSuffix(key, "_cycles")
			for k, f := range lifecycleFields {
				for side := range f {
					if cycles && name == f[side] {
						l.Span[k][side] = d.uint64OrNull()
						return
					}
				}
			}
			if cycles && s.Peek() == jsonscan.Number {
				d.otherTime(&l, key)
				return
			}
			d.keepField(&l.Extra, []byte(key))
		})
		if s.Err() == nil {
			d.out.Lifecycle = append(d.out.Lifecycle, l)
		}
	}
}

// otherTime reads a time of a thread's life that has no interval. Placement on a
// host's clock counts it (spec/l3.md §7.2).
func (d *reader) otherTime(l *Lifecycle, key string) {
	text := d.s.Raw(nil)
	if v, ok := jsonscan.ParseInt(text); ok && !v.Neg && v.Mag > 0 {
		if l.Other[0] == 0 || v.Mag < l.Other[0] {
			l.Other[0] = v.Mag
		}
		l.Other[1] = max(l.Other[1], v.Mag)
	}
	if d.opt.Extras {
		l.Extra = append(appendKey(l.Extra, key), text...)
	}
}

// HostMode reports whether the run was orchestrated by the host (spec/records.md §4.7).
func (r *Records) HostMode() bool {
	return r.Meta.OrchestratorSource == "host" || r.HostListed || r.HostSubmits() > 0 || r.Meta.HostCapture != nil
}

// hostSign is what in the file says so.
func (r *Records) hostSign() string {
	switch {
	case r.HostListed:
		return "host_orchestrator_phases"
	case r.Meta.HostCapture != nil:
		return "metadata.host_capture"
	}
	return "metadata.orchestrator_source"
}

// HostSubmits is the number of host submit records in the file.
func (r *Records) HostSubmits() int {
	n := 0
	for i := range r.HostOrc {
		n += r.HostOrc[i].Len()
	}
	return n
}

// HostOrigin is the host time that the host part of the picture starts at, in
// ns, 0 if there is none (spec/records.md §4.7).
func (r *Records) HostOrigin() uint64 {
	switch {
	case r.Meta.HostOriginNs > 0:
		return r.Meta.HostOriginNs
	case r.Meta.TimelineOriginNs > 0:
		return r.Meta.TimelineOriginNs
	}
	var origin uint64
	first := true
	for i := range r.HostOrc {
		lane := &r.HostOrc[i]
		for j := range lane.Start {
			if low := min(lane.Start[j], lane.End[j]); first || low < origin {
				origin, first = low, false
			}
		}
	}
	return origin
}

// checkHostRecords holds uploads and submits against the origin (spec/records.md §4.7).
func (d *reader) checkHostRecords() {
	origin := d.out.HostOrigin()
	for i := range d.out.Uploads {
		if u := &d.out.Uploads[i]; u.Start < origin || u.End < u.Start {
			d.bad(stepHost, "host_device_uploads", i, fmt.Sprintf("host_device_uploads[%d]", i),
				"invalid host device upload: origin=%d, start=%d, end=%d", origin, u.Start, u.End)
			return
		}
	}
	for i := range d.out.HostOrc {
		lane := &d.out.HostOrc[i]
		for j := range lane.Start {
			if lane.Start[j] < origin || lane.End[j] < lane.Start[j] {
				d.bad(stepHost, "host_orchestrator_phases", j, fmt.Sprintf("host_orchestrator_phases[%d][%d]", d.laneAt[i], j),
					"invalid host orchestrator phase: origin=%d, start=%d, end=%d", origin, lane.Start[j], lane.End[j])
				return
			}
		}
	}
}
