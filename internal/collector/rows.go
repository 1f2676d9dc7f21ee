package collector

import (
	"strconv"

	"swimlane/internal/abi"
)

// The sections of spec/collector.md §7.4 and §7.6. Whatever has a row per record
// works on the buffer itself.

// appendCoreRow begins a row of a core: a comma, the line and the core.
func appendCoreRow(b []byte, indent string, core uint32) []byte {
	b = append(append(b, ",\n"...), indent...)
	b = strconv.AppendUint(append(b, '['), uint64(core), 10)
	return append(b, ", "...)
}

func (c *Capture) writeAicoreTasks(o *output) {
	o.text(",\n  \"aicore_tasks\": [")
	var head []byte
	skip := 1 // the first row has no comma
	row := func(token, reg, start, end, receive uint64) {
		b := append(o.room(o.buf), head[skip:]...)
		skip = 0
		b = append(strconv.AppendUint(b, token, 10), ", "...)
		b = append(strconv.AppendUint(b, reg, 10), ", "...)
		b = append(strconv.AppendUint(b, start, 10), ", "...)
		b = append(strconv.AppendUint(b, end, 10), ", "...)
		o.buf = append(strconv.AppendUint(b, receive, 10), ']')
	}
	for core := range c.Cores {
		head = appendCoreRow(head[:0], "    ", uint32(core))
		for list := range c.AicoreTasks(core) {
			for i := range list {
				v := &list[i]
				row(v.TaskTokenRaw, uint64(v.RegTaskID), v.StartTime, v.EndTime, uint64(v.ReceiveToStartCycles))
			}
		}
	}
	k := &c.Sections.kernels
	for i, core := range k.Core {
		head = appendCoreRow(head[:0], "    ", core)
		row(k.Task[i], k.Task[i], k.Start[i], k.End[i], k.Receive[i])
	}
	if skip == 0 {
		o.text("\n  ")
	}
	o.text("]")
}

func (c *Capture) writeSchedulerTasks(o *output) {
	producer, indent := "aicpu", "    "
	if c.Sections.hasTimings {
		producer, indent = "aicore", "      "
	}
	o.text(",\n  \"scheduler_tasks\": {\n    \"schema_version\": 1,\n    \"producer\": \"" + producer + "\",\n    \"records\": [")
	var head []byte
	skip := 1
	row := func(reg, dispatch, finish uint64) {
		b := append(o.room(o.buf), head[skip:]...)
		skip = 0
		b = append(strconv.AppendUint(b, reg, 10), ", "...)
		b = append(strconv.AppendUint(b, dispatch, 10), ", "...)
		o.buf = append(strconv.AppendUint(b, finish, 10), ']')
	}
	for core := range c.Cores {
		head = appendCoreRow(head[:0], indent, uint32(core))
		for list := range c.AicpuTasks(core) {
			for i := range list {
				v := &list[i]
				row(uint64(v.RegTaskID), v.DispatchTime, v.FinishTime)
			}
		}
	}
	t := &c.Sections.timings
	for i, core := range t.Core {
		head = appendCoreRow(head[:0], indent, core)
		row(t.Task[i], t.Dispatch[i], t.Finish[i])
	}
	o.text("\n    ]\n  }")
}

// stream describes one scheduler.
type stream struct {
	producer     string
	scheduler    uint32
	worker       uint32
	coreType     string
	physicalCore string // a number or null
	committed    int
	dropped      uint32
}

func (c *Capture) writeSchedulerRecords(o *output) {
	o.text(",\n  \"scheduler_records\": {\n    \"schema_version\": 1,\n    \"streams\": [")
	first := true
	begin := func(s stream) {
		o.comma(&first)
		o.text("\n      {\"platform\": \"" + c.Arch.Name + `", "runtime": "` + c.Runtime + `", "producer": "` + s.producer + `", "scheduler_id": `)
		o.uint(uint64(s.scheduler))
		o.text(`, "worker_id": `)
		o.uint(uint64(s.worker))
		o.text(`, "core_type": "` + s.coreType + `", "physical_core_id": ` + s.physicalCore + `, "capture": {"committed": `)
		o.uint(uint64(s.committed))
		o.text(`, "dropped": `)
		o.uint(uint64(s.dropped))
		o.text(`, "truncated": ` + strconv.FormatBool(s.dropped != 0) + `}, "records": [`)
	}
	for thread := range c.Arch.MaxThreads {
		n, dropped := c.records.count(abi.KindSchedPhase, thread), c.schedDropped(thread)
		// Without records a stream still says what was lost; others leave it out.
		if n == 0 && (dropped == 0 || c.Strict) {
			continue
		}
		id := uint32(thread)
		begin(stream{producer: "aicpu", scheduler: id, worker: id, coreType: "aicpu", physicalCore: "null", committed: n, dropped: dropped})
		c.writePhases(o, thread)
		o.text("\n      ], \"metrics\": [")
		c.writeMetrics(o, thread)
		o.text("\n      ]}")
	}
	for i := range c.Sections.streams {
		s := &c.Sections.streams[i]
		begin(stream{
			producer: "aicore", scheduler: s.Scheduler, worker: s.Worker, coreType: "aiv",
			physicalCore: strconv.Itoa(int(s.PhysicalCore)), committed: len(s.Phases.Start), dropped: s.Dropped,
		})
		skip := 1
		p := &s.Phases
		for j, kind := range p.Kind {
			o.phase(&skip, p.Start[j], p.End[j], p.Loop[j], kind.String(), p.Tasks[j], p.Task[j], kind.namesTask())
		}
		o.text("\n      ], \"metrics\": []}")
	}
	o.text("\n    ]\n  }")
}

func (c *Capture) writePhases(o *output, thread int) {
	skip := 1
	for list := range c.SchedPhases(thread) {
		for i := range list {
			r := &list[i]
			o.phase(&skip, r.StartTime, r.EndTime, uint64(r.LoopIter), r.Kind.String(), uint64(r.TasksProcessed), r.TaskID(), r.Kind.NamesTask())
		}
	}
}

// phase writes the record of one scheduler phase.
func (o *output) phase(skip *int, start, end, loop uint64, kind string, tasks, task uint64, named bool) {
	b := append(o.room(o.buf), ",\n        {\"start_cycles\": "[*skip:]...)
	*skip = 0
	b = append(strconv.AppendUint(b, start, 10), `, "end_cycles": `...)
	b = append(strconv.AppendUint(b, end, 10), `, "loop_iter": `...)
	b = append(strconv.AppendUint(b, loop, 10), `, "kind": "`...)
	b = append(append(b, kind...), `", "tasks_processed": `...)
	b = append(strconv.AppendUint(b, tasks, 10), `, "task_id": `...)
	if named {
		b = strconv.AppendUint(b, task, 10)
	} else {
		b = append(b, "null"...)
	}
	o.buf = append(b, '}')
}

func (c *Capture) writeMetrics(o *output, thread int) {
	index, skip := uint64(0), 1
	for list := range c.SchedPhases(thread) {
		for i := range list {
			r := &list[i]
			b := append(o.room(o.buf), ",\n        {\"record_index\": "[skip:]...)
			b = strconv.AppendUint(b, index, 10)
			if r.Kind == abi.Dispatch {
				b = append(b, `, "pop_hit": `...)
				b = strconv.AppendUint(b, uint64(r.PhaseData[0]), 10)
				b = append(b, `, "pop_miss": `...)
				b = strconv.AppendUint(b, uint64(r.PhaseData[1]), 10)
			}
			b = appendDepths(append(b, `, "shared_at_start": [`...), &r.SharedDepthAtStart)
			b = appendDepths(append(b, `], "shared_at_end": [`...), &r.SharedDepthAtEnd)
			o.buf = append(b, "]}"...)
			index, skip = index+1, 0
		}
	}
}

func appendDepths(b []byte, depths *[abi.QueueShapes]int16) []byte {
	for i, v := range depths {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return b
}

func (c *Capture) writeOrchestrator(o *output) {
	o.text(",\n  \"aicpu_orchestrator_phases\": [\n")
	for lane := range c.orchLanes() {
		if lane > 0 {
			o.text(",\n")
		}
		o.text("    [")
		skip := 1
		for list := range c.OrchPhases(lane) {
			for i := range list {
				v := &list[i]
				o.submit(&skip, uint64(v.SubmitIdx), v.TaskID, v.StartTime, v.EndTime, `, "start_cycles": `, `, "end_cycles": `)
			}
		}
		if skip == 0 {
			o.text("\n    ")
		}
		o.text("]")
	}
	o.text("\n  ]")
}

func writeHostSubmits(o *output, submits []abi.HostPhase) {
	o.text(",\n  \"host_orchestrator_phases\": [[")
	skip := 1
	for i := range submits {
		v := &submits[i]
		o.submit(&skip, uint64(v.Index), v.Payload, v.StartNs, v.EndNs, `, "start_host_ns": `, `, "end_host_ns": `)
	}
	o.text("\n    ]]")
}

// submit writes the record of one task that an orchestrator submitted.
func (o *output) submit(skip *int, index, task, start, end uint64, startKey, endKey string) {
	b := append(o.room(o.buf), ",\n      {\"submit_idx\": "[*skip:]...)
	*skip = 0
	b = append(strconv.AppendUint(b, index, 10), `, "task_id": `...)
	b = append(strconv.AppendUint(b, task, 10), startKey...)
	b = append(strconv.AppendUint(b, start, 10), endKey...)
	o.buf = append(strconv.AppendUint(b, end, 10), '}')
}

func writeHostUploads(o *output, uploads []abi.HostPhase) {
	o.text(",\n  \"host_device_uploads\": [")
	first := true
	for i := range uploads {
		v := &uploads[i]
		o.comma(&first)
		o.text("\n      {\"phase\": \"" + HostPhaseKind(v.Kind).String() + `", "start_host_ns": `)
		o.uint(v.StartNs)
		o.text(`, "end_host_ns": `)
		o.uint(v.EndNs)
		o.text(`, "detail": `)
		o.uint(v.Payload)
		o.text("}")
	}
	o.text("\n    ]")
}

func writeLifecycle(o *output, rows []LifecycleRow) {
	o.text(",\n  \"aicpu_lifecycle_records\": [")
	first := true
	for i := range rows {
		o.comma(&first)
		o.text("\n    {\"aicpu_thread_id\": ")
		o.uint(rows[i].Thread)
		for k, name := range lifecycleKeys {
			o.text(`, "` + name + `_cycles": `)
			o.uint(rows[i].Times[k])
		}
		o.text("}")
	}
	o.text("\n  ]")
}
