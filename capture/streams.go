package capture

import (
	"fmt"
	"strconv"

	"swimlane/internal/jsonscan"
)

// recordKeys are the keys of a phase record, exactly (spec/records.md §2.6).
const recordKeys = "['end_cycles', 'kind', 'loop_iter', 'start_cycles', 'task_id', 'tasks_processed']"

// epochRecordKeys are those of a record with a run identity (spec/newest.md §5.3).
const epochRecordKeys = "['end_cycles', 'kind', 'loop_iter', 'run_epoch', 'start_cycles', 'task_id', 'tasks_processed']"

const (
	keyStart = 1 << iota
	keyEnd
	keyLoop
	keyKind
	keyProcessed
	keyTask
	keyEpoch
	allRecordKeys = keyStart | keyEnd | keyLoop | keyKind | keyProcessed | keyTask
)

// schedulerRecords reads the streams of the seeds (spec/records.md §2.6).
func (d *reader) schedulerRecords() {
	s, v := d.s, &d.streamSect
	if k := s.Peek(); k != jsonscan.Object {
		v.notObject = k.String()
		s.Skip()
		return
	}
	d.object(func(key string) {
		switch key {
		case "schema_version":
			d.schemaVersion(v)
		case "streams":
			if v.list = s.Peek() == jsonscan.Array; !v.list {
				s.Skip()
				return
			}
			s.BeginArray()
			for i := 0; s.Elem(); i++ {
				if i >= maxLanes {
					s.Fail("found more than %d scheduler streams, expected one for each scheduler", maxLanes)
				}
				d.where = place{"scheduler_records.streams", i, "", -1}
				d.stream(i)
				d.back(place{"scheduler_records.streams", -1, "", -1})
			}
			d.back(place{"scheduler_records", -1, "", -1})
		default:
			s.Skip()
		}
	})
}

// phaseColumns collects the records of one stream.
type phaseColumns struct {
	kind            column[uint16]
	flags           column[uint8]
	start, end      column[uint64]
	loop, processed column[int64]
	task            column[uint64]
	epoch           column[uint64] // empty if the records name no run
}

func (c *phaseColumns) flat() Phases {
	return Phases{
		Kind: c.kind.flat(), Flags: c.flags.flat(), Start: c.start.flat(), End: c.end.flat(),
		Loop: c.loop.flat(), Processed: c.processed.flat(), Task: c.task.flat(),
	}
}

// stream reads one stream. Within it the shapes come first, then the records,
// then the metrics, whatever their order in the file.
func (d *reader) stream(i int) {
	s := d.s
	if k := s.Peek(); k != jsonscan.Object {
		d.badStream(d.newStreamErr(i, -1, k.String(), "scheduler_records.streams[%d] must be an object", i))
		s.Skip()
		return
	}
	st := Stream{Order: i}
	var cols phaseColumns
	var metrics metricList
	var desc descriptor
	var recordErr *Error
	records, shape := false, "no records"
	here := d.where
	d.object(func(key string) {
		defer d.back(here)
		switch key {
		case "records":
			d.where.part, d.where.row = "records", -1
			if records = s.Peek() == jsonscan.Array; records {
				recordErr = d.streamRecords(i, &cols)
				return
			}
			shape = "records that are " + s.Peek().String()
			s.Skip()
		case "metrics":
			d.where.part, d.where.row = "metrics", -1
			switch k := s.Peek(); k {
			case jsonscan.Array:
				d.streamMetrics(i, &metrics)
				return
			case jsonscan.Null:
			default:
				metrics.notArray = true
			}
			s.Skip()
		default:
			d.streamField(&st, &desc, key)
		}
	})
	if s.Err() != nil {
		if d.all != nil {
			d.all.cutRecords = int64(cols.kind.len())
		}
		return
	}
	if d.opt.Extras {
		st.Raw = desc.object()
	}
	st.Phases = cols.flat()
	st.Phases.Run = d.runs.column(cols.epoch.flat())
	switch {
	case !records || metrics.notArray:
		if records {
			shape = "metrics that are no array"
		}
		d.badStream(d.newStreamErr(i, -1, shape, "scheduler stream %d records/metrics must be arrays", i))
	case recordErr != nil:
		d.badStream(recordErr)
	default:
		d.badStream(d.applyMetrics(i, &st.Phases, &metrics))
	}
	d.streams = append(d.streams, st)
}

// descriptor is the text of a stream's descriptive fields, if that is asked for.
type descriptor struct {
	platform, runtime, producer, scheduler, worker, coreType, physicalCore, capture []byte
}

// object returns the fields as an object, null for a missing one (spec/records.md §2.6).
func (t *descriptor) object() []byte {
	var out []byte
	for _, f := range []struct {
		name string
		text []byte
	}{
		{"platform", t.platform},
		{"runtime", t.runtime},
		{"producer", t.producer},
		{"scheduler_id", t.scheduler},
		{"worker_id", t.worker},
		{"core_type", t.coreType},
		{"physical_core_id", t.physicalCore},
		{"capture", t.capture},
	} {
		out = appendKey(out, f.name)
		if f.text == nil {
			f.text = []byte("null")
		}
		out = append(out, f.text...)
	}
	return append(append([]byte{'{'}, out...), '}')
}

// streamField reads a descriptive field of a stream.
func (d *reader) streamField(st *Stream, t *descriptor, key string) {
	switch key {
	case "platform":
		st.Platform = d.keepText(&t.platform)
	case "runtime":
		st.Runtime = d.keepText(&t.runtime)
	case "producer":
		st.Producer = d.keepText(&t.producer)
	case "core_type":
		st.CoreType = d.keepText(&t.coreType)
	case "scheduler_id":
		st.SchedulerID = d.keepInt(&t.scheduler)
	case "worker_id":
		st.WorkerID = d.keepInt(&t.worker)
	case "physical_core_id":
		st.PhysicalCore = d.keepInt(&t.physicalCore)
	case "capture":
		d.streamCapture(st, &t.capture)
	default:
		d.keepField(&st.Further, []byte(key))
	}
}

// streamCapture reads what a stream says about its completeness.
func (d *reader) streamCapture(st *Stream, text *[]byte) {
	d.keepObject(text, func(key string, text *[]byte) {
		switch key {
		case "dropped":
			st.Dropped = max(d.keepCount(text), 0)
		case "truncated":
			st.Truncated = d.s.Peek() == jsonscan.True
			d.keep(text)
		default:
			d.keep(text)
		}
	})
}

// badStream remembers the first fault inside a stream; nil is none.
func (d *reader) badStream(e *Error) {
	if d.streamErr == nil {
		d.streamErr = e
	}
}

func (d *reader) newStreamErr(stream, row int, found, format string, args ...any) *Error {
	return &Error{File: d.file, Section: fmt.Sprintf("scheduler_records.streams[%d]", stream), Row: row, Class: ErrInvalid,
		Text: fmt.Sprintf(format, args...), Found: found}
}

// streamRecords reads the records of stream i and returns the first that breaks
// a rule. The first record shows whether the stream carries run identities.
func (d *reader) streamRecords(i int, c *phaseColumns) (first *Error) {
	s := d.s
	want, list := allRecordKeys, recordKeys
	var r phaseRecord
	s.BeginArray()
	for j := 0; s.Elem(); j++ {
		d.where.row = j
		at := s.Offset()
		if s.Peek() != jsonscan.Object {
			s.Skip()
			if first == nil || d.all != nil {
				d.badRecord(&first, "shape", d.newStreamErr(i, j, fmt.Sprintf("a value that is no object, byte %d", at), "scheduler stream %d record %d must contain exactly %s", i, j, list))
			}
			continue
		}
		keys, extra := d.phase(&r, false)
		if s.Err() != nil {
			return nil
		}
		if j == 0 && keys&keyEpoch != 0 {
			d.setIdentity("phase records with run_epoch")
			want, list = allRecordKeys|keyEpoch, epochRecordKeys
		}
		switch {
		case first != nil && d.all == nil:
		case keys != want || extra != "":
			found := "no key " + missingKey(want&^keys)
			switch {
			case extra != "":
				found = fmt.Sprintf("the key %.40q", extra)
			case keys&^want != 0:
				found = "the key \"run_epoch\""
			}
			d.badRecord(&first, "shape", d.newStreamErr(i, j, fmt.Sprintf("%s, byte %d", found, at), "scheduler stream %d record %d must contain exactly %s", i, j, list))
		case r.end < r.start:
			d.badRecord(&first, "interval", d.newStreamErr(i, j, fmt.Sprintf("start_cycles %d, end_cycles %d, byte %d", r.start, r.end, at), "scheduler stream %d record %d has a negative interval", i, j))
		default:
			c.add(&r)
			if want&keyEpoch != 0 {
				c.epoch.add(r.epoch)
			}
		}
	}
	return first
}

// missingKey names the first of the keys that a record lacks.
func missingKey(keys int) string {
	for _, k := range []struct {
		bit  int
		name string
	}{
		{keyStart, "start_cycles"}, {keyEnd, "end_cycles"}, {keyEpoch, "run_epoch"}, {keyLoop, "loop_iter"},
		{keyKind, "kind"}, {keyProcessed, "tasks_processed"}, {keyTask, "task_id"},
	} {
		if keys&k.bit != 0 {
			return strconv.Quote(k.name)
		}
	}
	return ""
}

// phaseRecord is one record while it is being read.
type phaseRecord struct {
	kind            uint16
	flags           uint8
	start, end      uint64
	loop, processed int64
	task            uint64
	epoch           uint64
	metric          metric
}

func (c *phaseColumns) add(r *phaseRecord) {
	c.kind.add(r.kind)
	c.flags.add(r.flags)
	c.start.add(r.start)
	c.end.add(r.end)
	c.loop.add(r.loop)
	c.processed.add(r.processed)
	c.task.add(r.task)
}

// phase reads one record. Archived records carry their metrics themselves and
// may lack any key. The first key that is none of the six comes back as extra.
func (d *reader) phase(r *phaseRecord, archived bool) (keys int, extra string) {
	s := d.s
	*r = phaseRecord{kind: KindMissing}
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return keys, extra
		}
		switch string(key) {
		case "start_cycles":
			keys |= keyStart
			r.start = d.phaseTime(archived)
		case "end_cycles":
			keys |= keyEnd
			r.end = d.phaseTime(archived)
		case "loop_iter":
			keys |= keyLoop
			if !s.TakeNull() {
				r.loop = s.Int64()
				r.flags |= HasLoop
			}
		case "kind":
			keys |= keyKind
			d.phaseKind(r)
		case "tasks_processed":
			keys |= keyProcessed
			if !s.TakeNull() {
				r.processed = s.Int64()
				r.flags |= HasProcessed
			}
		case "task_id":
			keys |= keyTask
			if !s.TakeNull() {
				r.task = s.Int().Wrap()
				r.flags |= HasTask
			}
		case "run_epoch":
			keys |= keyEpoch
			r.epoch = s.Uint64()
		default:
			if archived {
				d.metricField(key, &r.metric)
				continue
			}
			if extra == "" {
				extra = string(key)
			}
			s.Skip()
		}
	}
}

func (d *reader) phaseTime(archived bool) uint64 {
	if archived && d.s.TakeNull() {
		return 0
	}
	return d.s.Uint64()
}

func (d *reader) phaseKind(r *phaseRecord) {
	if d.s.TakeNull() {
		return
	}
	text := d.s.Text()
	if d.s.Err() != nil {
		return
	}
	k, ok := d.kinds.lookup(text)
	if !ok {
		d.s.Fail("found more than %d different kinds of phase records, expected a few dozen", maxKinds)
	}
	r.kind = k
}

// schedulerPhases reads the archived form (spec/records.md §2.7): one list of
// records for each AICPU thread slot, no rule about keys or intervals.
func (d *reader) schedulerPhases() {
	s := d.s
	if d.keys["scheduler_records"] {
		s.Skip() // ignored without a message where the present section exists
		return
	}
	if s.Peek() != jsonscan.Array {
		d.badPhases(-1, s.Peek())
		s.Skip()
		return
	}
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		if i >= maxLanes {
			s.Fail("found more than %d lists of scheduler phases, expected one for each thread", maxLanes)
		}
		st := Stream{Order: i, Producer: ProducerAICPU, CoreType: "aicpu", SchedulerID: OptInt{int64(i), true}, WorkerID: OptInt{int64(i), true}}
		d.where.list = i
		if !s.TakeNull() {
			d.phaseList(i, &st.Phases)
		}
		d.back(place{"aicpu_scheduler_phases", -1, "", -1})
		d.legacy = append(d.legacy, st)
	}
}

// phaseList reads the records of one archived list. They carry their metrics
// themselves, so there is nothing to merge.
func (d *reader) phaseList(i int, out *Phases) {
	s := d.s
	if s.Peek() != jsonscan.Array {
		d.badPhases(i, s.Peek())
		s.Skip()
		return
	}
	var cols phaseColumns
	var depth column[Depths]
	var extra column[[]byte]
	var pops column[Pops]
	anyDepth, anyExtra, anyPops := false, false, false
	var r phaseRecord
	s.BeginArray()
	for d.where.row = -1; s.Elem(); {
		d.where.row++
		if s.Peek() != jsonscan.Object {
			d.badPhases(i, s.Peek())
			s.Skip()
			continue
		}
		keys, _ := d.phase(&r, true)
		if s.Err() != nil {
			break
		}
		if r.metric.has == hasBoth {
			r.flags |= HasDepths
			anyDepth = true
		}
		cols.add(&r)
		depths := Depths{Start: r.metric.start, End: r.metric.end}
		depth.add(depths)
		if d.opt.Pops {
			var n Pops
			if r.metric.pops != nil {
				n, anyPops = *r.metric.pops, true
			}
			pops.add(n)
		}
		if d.opt.Extras {
			further := loneDepths(r.metric.extra, &depths, r.metric.has)
			if keys&keyEpoch != 0 {
				further = strconv.AppendUint(appendKey(further, "run_epoch"), r.epoch, 10)
			}
			extra.add(further)
			anyExtra = anyExtra || further != nil
		}
	}
	*out = cols.flat()
	if anyDepth {
		out.Depth = depth.flat()
	}
	if anyExtra {
		out.Extra = extra.flat()
	}
	if anyPops {
		out.Pops = pops.flat()
	}
}

func (d *reader) badPhases(list int, found jsonscan.Kind) {
	if d.legacyErr == nil {
		d.legacyErr = &Error{File: d.file, Section: "aicpu_scheduler_phases", Row: list, Class: ErrInvalid,
			Text: "aicpu_scheduler_phases must be an array of arrays of objects", Found: fmt.Sprintf("%s for %s, %s", found, &d.where, d.here())}
	}
}

// placeStreams puts every stream at the index its thread has: by scheduler_id
// when the ids are unique and small, otherwise in order of appearance
// (spec/records.md §9 no. 3, spec/newest.md §5.4).
func (d *reader) placeStreams() {
	found := d.streams
	if !d.keys["scheduler_records"] {
		found = d.legacy
	}
	if d.opt.StreamsByAppearance || !placeable(found) {
		d.out.Streams = found
		return
	}
	top := int64(-1)
	for i := range found {
		top = max(top, found[i].SchedulerID.V)
	}
	placed := make([]Stream, top+1)
	producer := commonProducer(found)
	for i := range placed {
		id := OptInt{int64(i), true}
		placed[i] = Stream{Gap: true, SchedulerID: id, WorkerID: id, Producer: producer}
	}
	for _, st := range found {
		placed[st.SchedulerID.V] = st
	}
	d.out.Streams = placed
}

func placeable(streams []Stream) bool {
	var seen [256]bool
	for i := range streams {
		id := streams[i].SchedulerID
		if !id.Set || id.V < 0 || id.V > 255 || seen[id.V] {
			return false
		}
		seen[id.V] = true
	}
	return true
}

func commonProducer(streams []Stream) string {
	if len(streams) == 0 {
		return ""
	}
	for i := range streams {
		if streams[i].Producer != streams[0].Producer {
			return ""
		}
	}
	return streams[0].Producer
}
