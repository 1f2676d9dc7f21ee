package abi

import "slices"

// cName is the C name of what only this architecture has, or has in a form of
// its own.
func (a *Arch) cName(name string) string { return "swl_" + a.Name + "_" + name }

// Structs are the structures of an architecture, in an order in which C can
// declare them.
func Structs(a *Arch) []Struct {
	return slices.Concat(commonStructs(), archStructs(a), schedulerStructs(a))
}

// commonStructs are the same on both architectures.
func commonStructs() []Struct {
	out := []Struct{
		docOf[AicpuTask]("swl_aicpu_task", 32, "The scheduler's view of a task on a core. Written by the AICPU."),
		docOf[AicoreTask]("swl_aicore_task", 32, "The core's own view of a task. Written by the AICore; start_time 0 is a slot never written."),
		docOf[SchedPhase]("swl_sched_phase", 8, "A phase of a scheduler thread. phase_data is not 8-aligned: read it as two words, low first."),
		docOf[OrchPhase]("swl_orch_phase", 8, "A submit of the orchestrator on the device."),
		docOf[HostPhase]("swl_host_phase", 8, "A span of the host's orchestrator. In host memory only."),
	}
	out = append(out,
		bufferOf(out[0], ProfBufferSize, "The AICPU writes count after every record."),
		bufferOf(out[1], AicoreBufferSize, "The AICore fills it; the AICPU writes count just before it hands the buffer over."),
		bufferOf(out[2], PhaseRecordsPerThread, "The AICPU writes count before the fields of the record that it takes."),
		bufferOf(out[3], PhaseRecordsPerThread, "As swl_sched_phase_buffer."),
		bufferOf(out[4], HostPhaseRecordsPerBuffer, "In host memory only."),
	)
	out = append(out,
		docOf[ActiveHead]("swl_active_head", 64, "The buffer that a pool fills; one cache line. Written by the AICPU."),
		docOf[FreeQueue]("swl_free_queue", 64, "Empty buffers, host to device; free-running indices, slot = index mod 4."),
		docOf[Pool]("swl_pool", 64, "The state of one core or thread for one kind of record."),
		docOf[ReadyEntry]("swl_ready_entry", 32, "A full buffer, device to host."),
		docOf[Backpressure]("swl_backpressure", 4, "Flags, 0 or 1. Freezes are the host's; contended flags are the device's, cleared by the host."),
	)
	return append(out, depGenStructs()...)
}

// depGenStructs are those of dep_gen, its records in both forms.
func depGenStructs() []Struct {
	out := []Struct{
		docOf[DepGenState]("swl_dep_gen_state", 64, "The state of dep_gen. Unlike in a swl_pool, the free queue comes first."),
		docOf[Tensor]("swl_tensor", 64, "An argument: the view of a buffer, in elements from start_offset on. All zero for an OUTPUT."),
	}
	for _, f := range []*DepGenForm{DepGenKinds, DepGenNoKinds} {
		record := f.recordFields()
		out = append(out, record, f.overflowFields(), f.bufferFields(record))
	}
	return out
}

// archStructs are those that both architectures have, each in its own form.
func archStructs(a *Arch) []Struct {
	return []Struct{headerFields(a), depGenHeaderFields(a), kernelArgsFields(a)}
}

// schedulerStructs are those of the AICores that schedule, which only a5 has.
func schedulerStructs(a *Arch) []Struct {
	if a != A5 {
		return nil
	}
	return []Struct{
		docOf[RunControl]("swl_a5_run_control", 128, "The state of a run that AICores schedule."),
		docOf[AicpuThreadLifecycleTrace]("swl_a5_aicpu_thread_lifecycle_trace", 128, "When an AICPU thread reached each step; 0 is a step not taken."),
		docOf[WorkerContext]("swl_a5_worker_context", 128, "What a core knows of itself and of the block."),
		docOf[StagedTrace]("swl_a5_staged_trace", 128, "What an executor notes of a task."),
		docOf[DispatchSlot]("swl_a5_dispatch_slot", 128, "A place for one task at a core. publication is a state combined with the generation."),
		docOf[TaskMetadata]("swl_a5_task_metadata", 16, "What a task is."),
		docOf[TaskControl]("swl_a5_task_control", 128, "The state of a task and its waiting consumers."),
		docOf[TaskTrace]("swl_a5_task_trace", 128, "When each step of a task happened; a start of 0 is a step not taken."),
		docOf[ActivityRecord]("swl_a5_activity_record", 8, "An idle interval of a scheduler."),
		docOf[ActivityBuffer]("swl_a5_activity_buffer", 64, "The idle intervals of a scheduler; when it is full, only dropped counts."),
	}
}

func docOf[T any](name string, alignment int, doc string) Struct {
	s := structOf[T](name, alignment)
	s.Doc = doc
	return s
}

// bufferOf is a buffer of records, which ends with their number
// (spec/device-abi.md §3).
func bufferOf(record Struct, capacity int, doc string) Struct {
	b := builder{Struct{Name: record.Name + "_buffer", Doc: doc}}
	b.structure("records", record, capacity)
	b.field("count", "uint32_t")
	return b.padTo(Align)
}

// headerFields is the header of the swimlane's region (spec/device-abi.md §7).
func headerFields(a *Arch) Struct {
	b := builder{Struct{Name: a.cName("data_header"), Doc: "The start of the swimlane's region; the pools follow."}}
	b.queues(a, a.ReadyQueueSize)
	b.field("num_cores", "uint32_t")
	b.field("chip_swimlane_level", "uint32_t")
	b.field("num_sched_phase_threads", "uint32_t")
	b.shared()
	b.field("num_orch_phase_threads", "uint32_t")
	b.shared()
	b.field("num_phase_cores", "uint32_t")
	b.field("core_to_thread", "int8_t", a.MaxCores)
	b.structure("backpressure", structOf[Backpressure]("swl_backpressure", 4))
	return b.padTo(Align)
}
