package draw_test

import (
	"maps"
	"testing"
)

// zero is the cycle of time 0 in made captures. They tick at 1 GHz, so that a
// cycle is a ns and the µs of the worked examples are exact.
const zero = 1_000_000

// made is a capture in the terms of the worked examples. Times are ns.
type made struct {
	level   int // 0: the least level that holds what there is
	types   map[int]string
	threads []int // core_to_thread
	rows    []row
	streams []stream
	phases  [][]object // the archived form, times already in cycles
	submits [][]submit
	life    []object
	meta    object
	// floating: time 0 is whatever comes first; otherwise a scheduler row
	// without a partner, which is not drawn, puts it at cycle zero
	// (spec/records.md §4.2).
	floating bool
	untimed  bool // level 1
}

// row is the shorthand of spec/converter.md §10. A finish of 0 is 1 µs behind the end.
type row struct {
	id                                    uint64
	core                                  int
	dispatch, receive, start, end, finish int64
}

// stream is a scheduler's list of records.
type stream struct {
	id       int
	producer string // "aicpu" if empty
	worker   int
	physical any
	records  []phase
}

// phase is one record. Times are ns.
type phase struct {
	kind       string
	start, end int64
	tasks      any // tasks_processed: 0 if nil, absent if "absent"
	task       any // task_id
	loop       int
	from, to   []int // depths of the shared queues
}

type submit struct {
	task       any
	start, end int64
}

const absent = "absent"

// us1 turns the µs of the specification into ns.
func us1(us float64) int64 {
	ns := us * 1000
	if ns < 0 {
		return -int64(-ns + 0.5)
	}
	return int64(ns + 0.5)
}

// r is a row of the worked examples, times in µs.
func r(id uint64, core int, dispatch, receive, start, end float64) row {
	return row{id: id, core: core, dispatch: us1(dispatch), receive: us1(receive), start: us1(start), end: us1(end)}
}

// p is a record of the worked examples, times in µs.
func p(kind string, start, end float64) phase {
	return phase{kind: kind, start: us1(start), end: us1(end)}
}

func (x phase) with(tasks, task any) phase {
	x.tasks, x.task = tasks, task
	return x
}

func (m *made) text(t *testing.T) string {
	t.Helper()
	doc := object{}
	meta := object{"clock_freq_hz": 1_000_000_000}
	maps.Copy(meta, m.meta)
	cores := 0
	for _, x := range m.rows {
		cores = max(cores, x.core+1)
	}
	if cores <= 4096 {
		types := make([]string, cores)
		for c := range types {
			types[c] = "aiv"
			if k, ok := m.types[c]; ok {
				types[c] = k
			}
		}
		meta["core_types"] = types
	}
	if m.threads != nil {
		meta["core_to_thread"] = m.threads
	}
	doc["metadata"] = meta
	tasks, sched := list{}, list{}
	for i, x := range m.rows {
		finish := x.finish
		if finish == 0 {
			finish = x.end + 1000
		}
		tasks = append(tasks, list{x.core, x.id, i, zero + x.start, zero + x.end, x.start - x.receive})
		sched = append(sched, list{x.core, i, zero + x.dispatch, zero + finish})
	}
	if !m.floating {
		sched = append(sched, list{0, len(m.rows) + 1, zero, zero})
	}
	doc["aicore_tasks"] = tasks
	level := 1
	if !m.untimed {
		level = 2
		if m.phases != nil {
			doc["aicpu_tasks"] = sched
		} else {
			doc["scheduler_tasks"] = object{"schema_version": 1, "producer": "aicpu", "records": sched}
		}
	}
	if m.phases != nil {
		level = 3
		doc["aicpu_scheduler_phases"] = m.phases
	}
	if m.streams != nil {
		level = 3
		doc["scheduler_records"] = object{"schema_version": 1, "streams": m.streamObjects()}
	}
	if m.submits != nil {
		level = 4
		doc["aicpu_orchestrator_phases"] = m.submitObjects()
	}
	if m.life != nil {
		doc["aicpu_lifecycle_records"] = m.life
	}
	if m.level > 0 {
		level = m.level
	}
	doc["chip_swimlane_level"] = level
	return jsonText(t, doc)
}

func (m *made) streamObjects() list {
	out := list{}
	for _, s := range m.streams {
		records, metrics := list{}, list{}
		for j, x := range s.records {
			tasks := x.tasks
			switch tasks {
			case nil:
				tasks = 0
			case absent:
				tasks = nil
			}
			records = append(records, object{"kind": x.kind, "start_cycles": zero + x.start, "end_cycles": zero + x.end,
				"loop_iter": x.loop, "tasks_processed": tasks, "task_id": x.task})
			if x.from != nil {
				metrics = append(metrics, object{"record_index": j, "shared_at_start": x.from, "shared_at_end": x.to})
			}
		}
		producer, coreType := s.producer, "aicpu"
		if producer == "" {
			producer = "aicpu"
		} else {
			coreType = "aiv"
		}
		out = append(out, object{"platform": "a2a3", "runtime": "tensormap_and_ringbuffer", "producer": producer,
			"scheduler_id": s.id, "worker_id": s.worker, "core_type": coreType, "physical_core_id": s.physical,
			"capture": object{"committed": len(records), "dropped": 0, "truncated": false}, "records": records, "metrics": metrics})
	}
	return out
}

func (m *made) submitObjects() list {
	out := list{}
	for _, lane := range m.submits {
		records := list{}
		for i, x := range lane {
			o := object{"submit_idx": i, "start_cycles": zero + x.start, "end_cycles": zero + x.end}
			if x.task != nil {
				o["task_id"] = x.task
			}
			records = append(records, o)
		}
		out = append(out, records)
	}
	return out
}

// depTask is a task of deps.json.
type depTask struct {
	id      uint64
	kernels [3]int
	block   int
}

// deps is the text of a deps.json.
func deps(t *testing.T, tasks []depTask, edges ...[2]uint64) string {
	t.Helper()
	ts, es := list{}, list{}
	for _, x := range tasks {
		ts = append(ts, object{"task_id": x.id, "kernel_ids": x.kernels, "block_num": x.block})
	}
	for _, e := range edges {
		es = append(es, object{"pred": e[0], "succ": e[1], "arg": 0})
	}
	doc := object{"edges": es}
	if tasks != nil {
		doc["tasks"] = ts
	}
	return jsonText(t, doc)
}

// draw converts the capture.
func (m *made) draw(t *testing.T, s settings) *drawn {
	t.Helper()
	s.unmarked = true // the row at cycle zero counts as one whose kernel row was lost
	return convert(t, m.text(t), s)
}
