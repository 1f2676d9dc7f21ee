package abi

import (
	"fmt"
	"strings"
)

// define is a constant as C code sees it: an int is written in decimal, a uint32
// in hexadecimal, a uint64 in decimal with its suffix.
type define struct {
	name  string // without the prefix of its group
	value any
	note  string
}

// defines are constants of one subject. With enum set they are an enum type of
// that name, otherwise macros.
type defines struct {
	title  string
	enum   string
	prefix string
	list   []define
}

// commonDefines are the constants that both architectures share.
func commonDefines() []defines {
	out := []defines{
		{title: "Sizes and times", prefix: "SWL_", list: []define{
			{"CORES_PER_BLOCKDIM", CoresPerCluster, "a cluster is one AIC and two AIV"},
			{"PROF_BUFFER_SIZE", ProfBufferSize, "records of a swl_aicpu_task_buffer"},
			{"AICORE_BUFFER_SIZE", AicoreBufferSize, "records of a swl_aicore_task_buffer"},
			{"PHASE_RECORDS_PER_THREAD", PhaseRecordsPerThread, "records of a phase buffer"},
			{"PROF_SLOT_COUNT", SlotCount, "slots of a free queue"},
			{"PROF_BUFFERS_PER_CORE", ProfBuffersPerCore, "AicpuTask buffers per core"},
			{"AICORE_BUFFERS_PER_CORE", AicoreBuffersPerCore, "AicoreTask buffers per core"},
			{"SCHED_BUFFERS_PER_THREAD", SchedBuffersPerThread, "SchedPhase buffers per thread"},
			{"ORCH_BUFFERS_PER_THREAD", OrchBuffersPerThread, "OrchPhase buffers of the one pool that has any"},
			{"READYQUEUE_BUFFERS_PER_THREAD", ReadyQueueBuffersPerThread, "a factor in READYQUEUE_SIZE, and no limit"},
			{"HOST_PHASE_RECORDS_PER_BUFFER", HostPhaseRecordsPerBuffer, ""},
			{"HOST_PHASE_BUFFERS", HostPhaseBuffers, ""},
			{"POOL_SIZE", PoolSize, "stride of every array of pools"},
			{"PROF_TIMEOUT_SECONDS", IdleSeconds, "after which the host reports an idle collector"},
			{"UPTIME_HZ", UptimeHz, "clock of event timestamps on a board"},
		}},
		{title: "Registers of a core, and the tokens in them", prefix: "SWL_", list: []define{
			{"REG_DATA_MAIN_BASE", RegDataMainBase, "AICPU to AICore: a token"},
			{"REG_COND", RegCond, "AICore to AICPU: SWL_ACK or SWL_FIN of it"},
			{"TASK_ID_MASK", uint32(TaskIDMask), ""},
			{"STATE_MASK", uint32(StateMask), "set: finished"},
			{"TOKEN_MAX", uint32(TokenMax), "the largest that names a task"},
			{"TOKEN_EXIT", uint32(TokenExit), "in DATA_MAIN_BASE: leave"},
			{"TOKEN_AICPU_IDLE", uint32(TokenAicpuIdle), ""},
			{"TOKEN_AICORE_EXITED", uint32(TokenAicoreExited), ""},
			{"TOKEN_AICORE_IDLE", uint32(TokenAicoreIdle), ""},
			{"EMPTY_SLOT", EmptySlot, "a slot without a task"},
		}},
		{title: "Bits of swl_*_kernel_args.enable_profiling_flag", prefix: "SWL_ENABLE_", list: []define{
			{"ARGS_DUMP", EnableArgsDump, ""},
			{"SWIMLANE", EnableSwimlane, ""},
			{"PMU", EnablePMU, ""},
			{"DEP_GEN", EnableDepGen, ""},
			{"SCOPE_STATS", EnableScopeStats, ""},
		}},
		{title: "Types of cores", enum: "swl_core_type", prefix: "SWL_CORE_", list: []define{
			{"AIC", int(AIC), ""},
			{"AIV", int(AIV), ""},
		}},
		{title: "Indices of swl_sched_phase.shared_depth_at_*", enum: "swl_shape", prefix: "SWL_SHAPE_", list: []define{
			{"AIC", ShapeAIC, ""},
			{"AIV", ShapeAIV, ""},
			{"MIX", ShapeMIX, ""},
			{"COUNT", QueueShapes, "QUEUE_SHAPES"},
		}},
		{title: "How much is recorded: swl_*_data_header.chip_swimlane_level", enum: "swl_level", prefix: "SWL_LEVEL_", list: []define{
			{"DISABLED", int(Disabled), ""},
			{"TASK_TIMING", int(TaskTiming), "AicoreTask records"},
			{"SCHEDULE_TIMING", int(ScheduleTiming), "and AicpuTask records"},
			{"SCHED_PHASES", int(SchedPhases), "and SchedPhase records"},
			{"ORCH_PHASES", int(OrchPhases), "and OrchPhase records"},
		}},
		{title: "Kinds of buffers: swl_ready_entry.kind", enum: "swl_kind", prefix: "SWL_KIND_", list: []define{
			{"AICPU_TASK", int(KindAicpuTask), ""},
			{"SCHED_PHASE", int(KindSchedPhase), ""},
			{"ORCH_PHASE", int(KindOrchPhase), ""},
			{"AICORE_TASK", int(KindAicoreTask), ""},
		}},
		phaseDefines(),
	}
	return append(out, depGenDefines()...)
}

// depGenDefines are the constants of dep_gen.
func depGenDefines() []defines {
	arguments := defines{title: "Uses of an argument: swl_dep_gen_record.arg_types", enum: "swl_arg_type", prefix: "SWL_ARG_"}
	for code, name := range argTypes {
		arguments.list = append(arguments.list, define{name, code, ""})
	}
	elements := defines{title: "Types of elements: swl_tensor.dtype", enum: "swl_dtype", prefix: "SWL_DTYPE_"}
	for code, d := range dtypes {
		elements.list = append(elements.list, define{d.name, code, ""})
	}
	return []defines{
		{title: "Capacities of dep_gen", prefix: "SWL_DEP_GEN_", list: []define{
			{"READYQUEUE_SIZE", DepGenReadyQueueSize, "entries of a ready queue; one stays empty"},
			{"INSTANCES", DepGenInstances, "states behind the header"},
			{"BUFFERS_PER_INSTANCE", DepGenBuffersPerInstance, ""},
			{"RECORDS_PER_BUFFER", DepGenRecordsPerBuffer, ""},
			{"INLINE_DEPS", DepGenInlineDeps, "dependencies in a swl_dep_gen_record"},
			{"OVERFLOW_DEPS", DepGenKinds.OverflowDeps, "in a swl_dep_gen_overflow"},
			{"NO_KINDS_OVERFLOW_DEPS", DepGenNoKinds.OverflowDeps, "in a swl_dep_gen_no_kinds_overflow"},
			{"MAX_TENSORS", DepGenMaxTensors, "arguments of a task"},
		}},
		{title: "Bits of flags in the records of dep_gen", prefix: "SWL_DEP_GEN_", list: []define{
			{"MANUAL_SCOPE", DepGenManualScope, "submitted in a manual scope"},
			{"HAS_OVERFLOW", DepGenHasOverflow, "a record that overflow records follow"},
			{"OVERFLOWED", DepGenOverflowed, "this is an overflow record"},
			{"LAST_OVERFLOW", DepGenLastOverflow, "and the last one of its task"},
			{"EARLY_DISPATCH", DepGenEarlyDispatch, "may be staged before its producers end"},
		}},
		{title: "Bits of the kind of a dependency", prefix: "SWL_DEP_", list: []define{
			{"WAIT", uint32(DepWait), "the producer has completed"},
			{"RETAIN", uint32(DepRetain), "the producer's outputs stay"},
		}},
		arguments,
		elements,
		{title: "swl_tensor.owner_task_id of a tensor that no task made", prefix: "SWL_", list: []define{
			{"NO_OWNER", NoOwner, "all ones"},
		}},
	}
}

// phaseDefines are the phase kinds under their names in files. The hole among
// them has none.
func phaseDefines() defines {
	d := defines{title: "Kinds of phases: swl_sched_phase.kind", enum: "swl_phase_kind", prefix: "SWL_PHASE_"}
	for k := range PhaseKind(len(phaseNames)) {
		switch {
		case k.String() == "unknown":
		case k == Dispatch:
			d.list = append(d.list, define{"DISPATCH", int(k), "phase_data: pops that found a task, pops that did not"})
		case k.NamesTask():
			d.list = append(d.list, define{strings.ToUpper(k.String()), int(k), "phase_data: local id, ring id"})
		default:
			d.list = append(d.list, define{strings.ToUpper(k.String()), int(k), ""})
		}
	}
	return d
}

// archPrefix is the prefix of what only this architecture has, or has with a value
// of its own.
func archPrefix(a *Arch) string { return "SWL_" + strings.ToUpper(a.Name) + "_" }

// archDefines are the constants that both architectures have, each with its own
// value.
func archDefines(a *Arch) defines {
	return defines{title: "Constants of " + a.Name, prefix: archPrefix(a), list: []define{
		{"MAX_BLOCKDIM", a.MaxClusters, "clusters"},
		{"MAX_CORES", a.MaxCores, ""},
		{"MAX_AICPU_THREADS", a.MaxThreads, "stride of every array per thread"},
		{"DEFAULT_AICPU_THREADS", a.DefaultThreads, ""},
		{"MAX_LAUNCH_THREADS", a.MaxLaunchThreads, ""},
		{"MAX_CORES_PER_THREAD", a.MaxCoresPerThread, ""},
		{"READYQUEUE_SIZE", a.ReadyQueueSize, "entries of a ready queue; one stays empty"},
		{"SYS_CNT_FREQ", a.ClockHz, "Hz of the system counter"},
		{"BACKPRESSURE_TIMEOUT", a.BackpressureCycles(), fmt.Sprintf("cycles: %d s", BackpressureSeconds)},
		{"SIM_REGISTER_BYTES", a.SimRegisterBytes, "register block of a simulated core"},
	}}
}

// schedulerDefines are those of the AICores that schedule, which only a5 has.
func schedulerDefines(a *Arch) []defines {
	if a != A5 {
		return nil
	}
	prefix := archPrefix(a)
	return []defines{
		{title: "Capacities and sizes of the state of AICores that schedule", prefix: prefix, list: []define{
			{"SCHEDULER_STATE_ALIGN", SchedulerStateAlign, ""},
			{"WORKER_CAPACITY", WorkerCapacity, ""},
			{"PENDING_SLOTS", PendingSlots, ""},
			{"CALLABLE_CAPACITY", CallableCapacity, ""},
			{"CORE_TYPES", SchedulerCoreTypes, ""},
			{"CLUSTER_CAPACITY", ClusterCapacity, ""},
			{"SCHEDULER_CAPACITY", SchedulerCapacity, ""},
			{"GANG_COHORTS", GangCohorts, ""},
			{"ACTIVITY_CAPACITY", ActivityCapacity, ""},
			{"COMPLETION_INBOX_SIZE", CompletionInboxSize, "bytes, as below"},
			{"READY_INBOX_SIZE", ReadyInboxSize, ""},
			{"READY_OWNER_STATE_SIZE", ReadyOwnerStateSize, ""},
			{"READY_DIRECTORY_SIZE", ReadyDirectorySize, ""},
			{"GANG_COORDINATOR_SIZE", GangCoordinatorSize, ""},
			{"GANG_COHORT_SIZE", GangCohortSize, ""},
			{"GANG_PARTICIPANT_SIZE", GangParticipantSize, ""},
			{"GANG_COMMAND_SIZE", GangCommandSize, ""},
		}},
		{title: "State of a swl_a5_dispatch_slot, in its publication", enum: "swl_a5_publication", prefix: prefix + "PUBLICATION_", list: []define{
			{"EMPTY", PublicationEmpty, ""},
			{"FREE", PublicationFree, ""},
			{"FILLING", PublicationFilling, ""},
			{"READY", PublicationReady, ""},
			{"GATED", PublicationGated, ""},
		}},
		{title: "Bits of swl_a5_task_metadata.flags", prefix: prefix + "TASK_FLAG_", list: []define{
			{"EXECUTABLE", TaskExecutable, ""},
			{"HAS_FANIN", TaskHasFanin, ""},
			{"MIX", TaskMIX, ""},
			{"SPMD", TaskSPMD, ""},
			{"SYNC_START", TaskSyncStart, ""},
			{"INLINE", TaskInline, ""},
			{"PREDICATE", TaskPredicate, ""},
		}},
		{title: "swl_a5_task_control.state", enum: "swl_a5_task_state", prefix: prefix + "TASK_", list: []define{
			{"BLOCKED", TaskBlocked, ""},
			{"READY", TaskReady, ""},
			{"DONE", TaskDone, ""},
			{"DISPATCHING", TaskDispatching, ""},
		}},
		{title: "swl_a5_task_control.wake_list_head, where it names no waiter", prefix: prefix + "WAKE_LIST_", list: []define{
			{"OPEN", WakeListOpen, ""},
			{"CLOSED", WakeListClosed, ""},
		}},
		{title: "swl_a5_task_trace.ready_source", enum: "swl_a5_ready_source", prefix: prefix, list: []define{
			{"READY_LOCAL", ReadyLocal, ""},
			{"READY_STOLEN", ReadyStolen, ""},
		}},
		{title: "swl_a5_task_trace.publication_mode", enum: "swl_a5_publication_mode", prefix: prefix, list: []define{
			{"PUBLISHED_BY_DISPATCH", PublishedByDispatch, ""},
			{"PUBLISHED_BY_REFILL", PublishedByRefill, ""},
		}},
	}
}
