package abi

import (
	"fmt"
	"math"
)

// On a5 with host_build_graph, AICores schedule themselves and record into one
// block that is allocated for the run (spec/device-abi.md §9). The host zeroes
// and initialises it, and copies it back whole when the run is over: no word of
// it is published to the host while the device works, so none has an atomic
// type here. How the schedulers share it among themselves is the device's own
// business.
//
// Fields tagged `reserved` are padding, or words of the runtime that profiling
// does not look at.

// Capacities of the block.
const (
	SchedulerStateAlign = 128  // of the block and of most arrays in it
	WorkerCapacity      = 108  // WORKER_CAPACITY: every core of an a5
	PendingSlots        = 2    // PENDING_SLOTS: tasks a worker holds
	CallableCapacity    = 1024 // CALLABLE_CAPACITY
	SchedulerCoreTypes  = 2    // CORE_TYPES
	SchedulerCapacity   = 36   // SCHEDULER_CAPACITY: one per cluster
	ClusterCapacity     = 36   // CLUSTER_CAPACITY
	GangCohorts         = 2    // GANG_COHORTS
	ActivityCapacity    = 1024 // ACTIVITY_CAPACITY: idle records per scheduler
)

// Bytes of the elements that profiling does not look into.
const (
	CompletionInboxSize = 64
	ReadyInboxSize      = 128
	ReadyOwnerStateSize = 128
	ReadyDirectorySize  = 1664
	GangCoordinatorSize = 256
	GangCohortSize      = 128
	GangParticipantSize = 128
	GangCommandSize     = 128
)

// RunControl is the state of the run, 384 B.
type RunControl struct {
	AicTaskCount           uint64   `abi:"aic_task_count"`
	AivTaskCount           uint64   `abi:"aiv_task_count"`
	ActiveWorkerCount      uint64   `abi:"active_worker_count"`
	ExpectedTaskCount      uint64   `abi:"expected_task_count"`
	InlineCompletedCount   uint64   `abi:"inline_completed_count"`
	_                      [80]byte `abi:"reserved0"`
	SchedulerCount         uint64   `abi:"scheduler_count"`
	ExecutedTaskCount      uint64   `abi:"executed_task_count"`
	ResolvedTaskCount      uint64   `abi:"resolved_task_count"`
	BootstrapArrivedCount  uint64   `abi:"bootstrap_arrived_count"`
	BootstrapComplete      uint64   `abi:"bootstrap_complete"`
	_                      [64]byte `abi:"reserved1"`
	BootstrapScanComplete  uint64   `abi:"bootstrap_scan_complete"`
	SchedulerTimeoutCycles uint64   `abi:"scheduler_timeout_cycles"`
	ChipSwimlaneLevel      uint64   `abi:"chip_swimlane_level"`
	_                      [8]byte  `abi:"reserved2"`
	ErrorClaimed           uint64   `abi:"error_claimed"`
	SchedulerError         uint64   `abi:"scheduler_error"`
	ErrorTaskID            uint64   `abi:"error_task_id"`
	ErrorCoreID            uint64   `abi:"error_core_id"`
	_                      [40]byte `abi:"reserved3"`
	ErrorSite              uint64   `abi:"error_site"`
	_                      [48]byte `abi:"reserved4"`
}

// AicpuThreadLifecycleTrace is when an AICPU thread reached each step, 128 B.
// That thread writes it, from ScheduleTiming on; 0 is a step it did not take.
type AicpuThreadLifecycleTrace struct {
	AicpuThreadID          uint64  `abi:"aicpu_thread_id"`
	HandshakeStart         uint64  `abi:"handshake_start"`
	HandshakeComplete      uint64  `abi:"handshake_complete"`
	ConfigStart            uint64  `abi:"config_start"`      // thread 0 only
	TopologyComplete       uint64  `abi:"topology_complete"` // thread 0 only
	ContextPublishStart    uint64  `abi:"context_publish_start"`
	ContextPublishComplete uint64  `abi:"context_publish_complete"`
	BootstrapWaitStart     uint64  `abi:"bootstrap_wait_start"`
	BootstrapComplete      uint64  `abi:"bootstrap_complete"`
	RegisterReleaseStart   uint64  `abi:"register_release_start"`
	RegisterReleaseEnd     uint64  `abi:"register_release_end"`
	ExitSignalStart        uint64  `abi:"exit_signal_start"`
	ExitSignalEnd          uint64  `abi:"exit_signal_end"`
	ExitWaitStart          uint64  `abi:"exit_wait_start"`
	ExitWaitEnd            uint64  `abi:"exit_wait_end"`
	_                      [8]byte `abi:"reserved"`
}

// NoIndex is the value of an index in a WorkerContext that nobody has set.
const NoIndex = math.MaxUint64

// WorkerContext is what a worker, that is a core, knows of itself and of the
// block, 1024 B.
type WorkerContext struct {
	CoreType                   CoreType  `abi:"core_type"`
	PhysicalCoreID             int32     `abi:"physical_core_id"` // −1 = not known
	TypeRank                   int32     `abi:"type_rank"`
	Active                     int32     `abi:"active"`
	RunControlOffset           uint64    `abi:"run_control_offset"`
	TaskControlsOffset         uint64    `abi:"task_controls_offset"`
	_                          [16]byte  `abi:"reserved0"`
	SchedulerStateBaseAddress  uint64    `abi:"scheduler_state_base_address"`
	_                          [8]byte   `abi:"reserved1"`
	TraceCellsOffset           uint64    `abi:"trace_cells_offset"`
	_                          [8]byte   `abi:"reserved2"`
	GraphTaskCount             uint64    `abi:"graph_task_count"`
	WorkerIndex                uint64    `abi:"worker_index"`
	_                          [24]byte  `abi:"reserved3"`
	AicpuLifecycleTracesOffset uint64    `abi:"aicpu_lifecycle_traces_offset"`
	_                          [24]byte  `abi:"reserved4"`
	ActivityBuffersOffset      uint64    `abi:"activity_buffers_offset"`
	WorkerContextsOffset       uint64    `abi:"worker_contexts_offset"`
	_                          [40]byte  `abi:"reserved5"`
	TargetBootstrapStart       uint64    `abi:"target_bootstrap_start"`
	TargetBootstrapEnd         uint64    `abi:"target_bootstrap_end"`
	_                          [64]byte  `abi:"reserved6"`
	SchedulerCount             uint64    `abi:"scheduler_count"`
	ClusterCount               uint64    `abi:"cluster_count"`
	ClusterIndex               uint64    `abi:"cluster_index"`       // or NoIndex, as the next two
	SchedulerIndex             uint64    `abi:"scheduler_index"`     // of the activity buffer
	SchedulerWorkerID          uint64    `abi:"scheduler_worker_id"` // the worker that schedules this one
	IsScheduler                uint64    `abi:"is_scheduler"`
	ClusterWorkerIDs           [3]uint64 `abi:"cluster_worker_ids"`
	ProfilingLoopIter          uint64    `abi:"profiling_loop_iter"`
	_                          [16]byte  `abi:"reserved7"`
	BootstrapTaskCount         uint64    `abi:"bootstrap_task_count"`
	_                          [104]byte `abi:"reserved8"`
	IdleIterationCount         uint64    `abi:"idle_iteration_count"`
	_                          [144]byte `abi:"reserved9"`
	BootstrapStartCycles       uint64    `abi:"bootstrap_start_cycles"`
	_                          [368]byte `abi:"reserved10"`
}

// StagedTrace is what an executor notes of a task in its slot; the scheduler that
// completes the task carries it into the TaskTrace. 128 B.
type StagedTrace struct {
	Generation     uint64   `abi:"generation"`
	KernelStart    uint64   `abi:"kernel_start"`
	KernelEnd      uint64   `abi:"kernel_end"`
	ReadyScanStart uint64   `abi:"ready_scan_start"`
	ReadyObserve   uint64   `abi:"ready_observe"`
	_              [88]byte `abi:"reserved"`
}

// DispatchSlot is a place for one task at a worker, 256 B. Publication is one of
// the publication states combined with the generation.
type DispatchSlot struct {
	TaskID      int64       `abi:"task_id"` // EmptySlot = none
	_           [32]byte    `abi:"reserved0"`
	KernelID    uint16      `abi:"kernel_id"`
	SubtaskSlot uint8       `abi:"subtask_slot"`
	_           [2]byte     `abi:"reserved1"`
	PendingSlot uint8       `abi:"pending_slot"`
	BlockNum    uint16      `abi:"block_num"`
	Generation  uint32      `abi:"generation"`
	BlockIdx    uint32      `abi:"block_idx"`
	_           [8]byte     `abi:"reserved2"`
	Publication uint64      `abi:"publication"`
	_           [56]byte    `abi:"reserved3"`
	Staged      StagedTrace `abi:"staged"`
}

// The publication states of a slot.
const (
	PublicationEmpty = iota
	PublicationFree
	PublicationFilling
	PublicationReady
	PublicationGated
)

// TaskMetadata is what a task is, 16 B.
type TaskMetadata struct {
	KernelIDs        [3]uint16 `abi:"kernel_ids"`
	ActiveMask       uint8     `abi:"active_mask"`
	Flags            uint8     `abi:"flags"`
	BlockNum         uint16    `abi:"block_num"`
	RequiredSubtasks uint16    `abi:"required_subtasks"`
	TimingSlot       int32     `abi:"timing_slot"`
}

// Flags of a task.
const (
	TaskExecutable = 1 << iota
	TaskHasFanin
	TaskMIX
	TaskSPMD
	TaskSyncStart
	TaskInline
	TaskPredicate
)

// TaskControl is the state of a task and its list of waiting consumers, 128 B.
type TaskControl struct {
	State                     int64    `abi:"state"`
	WakeListHead              int64    `abi:"wake_list_head"` // first waiter, or WakeListOpen, or WakeListClosed
	_                         [48]byte `abi:"reserved0"`
	NextWaiter                int64    `abi:"next_waiter"` // −1 = none
	NextFaninIndex            int32    `abi:"next_fanin_index"`
	WaitingProducer           int32    `abi:"waiting_producer"` // −1 = none
	CompletionResolveStart    uint64   `abi:"completion_resolve_start"`
	CompletionResolveEnd      uint64   `abi:"completion_resolve_end"`
	ReadyPublish              uint64   `abi:"ready_publish"`
	SchedulerWorkerID         uint64   `abi:"scheduler_worker_id"`
	CompletionResolveLoopIter uint64   `abi:"completion_resolve_loop_iter"`
	_                         [8]byte  `abi:"reserved1"`
}

// The states of a task.
const (
	TaskBlocked = iota
	TaskReady
	TaskDone
	TaskDispatching
)

// Heads of a wake list that name no waiter.
const (
	WakeListOpen   = -1
	WakeListClosed = -2
)

// TaskTrace is when each step of a task happened, 384 B. The schedulers that
// dispatch, complete and refill write a line of it each. A step happened if its
// start is not 0; a worker id of 0 says nothing.
type TaskTrace struct {
	Valid                       uint64   `abi:"valid"`
	ReadySource                 uint64   `abi:"ready_source"` // ReadyLocal or ReadyStolen
	WorkerID                    uint64   `abi:"worker_id"`
	TaskID                      uint64   `abi:"task_id"`
	StateProbeSchedulerWorkerID uint64   `abi:"state_probe_scheduler_worker_id"`
	StateProbeStart             uint64   `abi:"state_probe_start"`
	StateProbeEnd               uint64   `abi:"state_probe_end"`
	PublicationMode             uint64   `abi:"publication_mode"` // PublishedByDispatch or PublishedByRefill
	KernelStart                 uint64   `abi:"kernel_start"`
	KernelEnd                   uint64   `abi:"kernel_end"`
	CompletionEnd               uint64   `abi:"completion_end"`
	ReadyScanStart              uint64   `abi:"ready_scan_start"`
	ReadyObserve                uint64   `abi:"ready_observe"`
	CompletionBookkeepingEnd    uint64   `abi:"completion_bookkeeping_end"`
	CompletionID                uint64   `abi:"completion_id"`
	CompletionInboxIndex        uint64   `abi:"completion_inbox_index"`
	ReadyTransition             uint64   `abi:"ready_transition"`
	_                           [32]byte `abi:"reserved0"`
	AicoreEntry                 uint64   `abi:"aicore_entry"`
	HandshakePublish            uint64   `abi:"handshake_publish"`
	RegisterRelease             uint64   `abi:"register_release"`
	DispatchStart               uint64   `abi:"dispatch_start"`
	DispatchEnd                 uint64   `abi:"dispatch_end"`
	DispatchSchedulerWorkerID   uint64   `abi:"dispatch_scheduler_worker_id"`
	DispatchLoopIter            uint64   `abi:"dispatch_loop_iter"`
	CompleteStart               uint64   `abi:"complete_start"`
	CompleteEnd                 uint64   `abi:"complete_end"`
	CompleteSchedulerWorkerID   uint64   `abi:"complete_scheduler_worker_id"`
	CompleteLoopIter            uint64   `abi:"complete_loop_iter"`
	RefillSchedulerWorkerID     uint64   `abi:"refill_scheduler_worker_id"`
	RefillStart                 uint64   `abi:"refill_start"`
	RefillEnd                   uint64   `abi:"refill_end"`
	RefillTaskID                uint64   `abi:"refill_task_id"`
	RefillLoopIter              uint64   `abi:"refill_loop_iter"`
	_                           [24]byte `abi:"reserved1"`
	DescriptorCacheObserved     uint64   `abi:"descriptor_cache_observed"`
	_                           [56]byte `abi:"reserved2"`
}

// Where a dispatched task was found, and what published it.
const (
	ReadyLocal  = 0
	ReadyStolen = 1

	PublishedByDispatch = 0
	PublishedByRefill   = 1
)

// ActivityRecord is an idle interval of a scheduler, 24 B.
type ActivityRecord struct {
	Start    uint64 `abi:"start"`
	End      uint64 `abi:"end"`
	LoopIter uint32 `abi:"loop_iter"`
	_        uint32 `abi:"reserved"`
}

// ActivityBuffer holds the idle intervals of a scheduler, 24,640 B. Once it is
// full the scheduler counts in Dropped; Committed above its capacity is damage.
type ActivityBuffer struct {
	Committed uint32                           `abi:"committed"`
	Dropped   uint32                           `abi:"dropped"`
	_         [8]byte                          `abi:"reserved0"`
	Records   [ActivityCapacity]ActivityRecord `abi:"records"`
	_         [48]byte                         `abi:"reserved1"`
}

// SchedulerArray names one of the arrays of the block.
type SchedulerArray int

// The arrays, in their order in the block.
const (
	RunControls SchedulerArray = iota
	LifecycleTraces
	WorkerContexts
	DispatchPayloads
	DispatchSlots
	CallableAddresses
	TaskMetadatas
	TaskControls
	CompletionInboxes
	ReadyInboxes
	ReadyOwnerStates
	ReadyDirectories
	GangCoordinators
	GangCohortStates
	GangParticipants
	GangCommands
	TaskTraces
	ActivityBuffers
	SchedulerArrays = 18
)

// SchedulerSpan is where one array of the block lies.
type SchedulerSpan struct {
	Offset uint64 // from the start of the block
	Count  int    // elements
	Size   int    // bytes of one
	Align  int    // of the array's start
}

// SchedulerState is the layout of the block of a run.
type SchedulerState struct {
	Arrays [SchedulerArrays]SchedulerSpan
	Size   uint64 // of the block, a multiple of SchedulerStateAlign
}

// NewSchedulerState lays out the block for so many tasks. Activity buffers are
// there from SchedPhases on. What a dispatch payload is the runtime decides; where
// nobody needs one its size may be 0.
func NewSchedulerState(taskCount int, level Level, dispatchPayloadSize, dispatchPayloadAlign int) (*SchedulerState, error) {
	// A dense task index is the low half of a task id (spec/device-abi.md §13); with
	// that bound no sum below overflows.
	const limit = math.MaxUint32
	if taskCount < 0 || uint64(taskCount) > limit {
		return nil, fmt.Errorf("scheduler state for %d tasks cannot be: expected 0 to %d", taskCount, uint64(limit))
	}
	if level > OrchPhases {
		return nil, errLevel(int64(level))
	}
	size, alignment := dispatchPayloadSize, dispatchPayloadAlign
	if alignment < 1 || alignment > SchedulerStateAlign || alignment&(alignment-1) != 0 {
		return nil, fmt.Errorf("dispatch payloads cannot be aligned to %d bytes: expected a power of two from 1 to %d, the alignment of the scheduler state", alignment, SchedulerStateAlign)
	}
	if size < 0 || uint64(size) > limit || size%alignment != 0 {
		return nil, fmt.Errorf("a dispatch payload of %d bytes cannot be: expected a multiple of its alignment %d from 0 to %d", size, alignment, uint64(limit))
	}
	activity := 0
	if level >= SchedPhases {
		activity = SchedulerCapacity
	}
	s := &SchedulerState{Arrays: [SchedulerArrays]SchedulerSpan{
		RunControls:       {Count: 1, Size: 384, Align: 128},
		LifecycleTraces:   {Count: A5.MaxThreads, Size: 128, Align: 128},
		WorkerContexts:    {Count: WorkerCapacity, Size: 1024, Align: 128},
		DispatchPayloads:  {Count: WorkerCapacity * PendingSlots, Size: size, Align: alignment},
		DispatchSlots:     {Count: WorkerCapacity * PendingSlots, Size: 256, Align: 128},
		CallableAddresses: {Count: CallableCapacity, Size: 8, Align: 8},
		TaskMetadatas:     {Count: taskCount, Size: 16, Align: 16},
		TaskControls:      {Count: taskCount, Size: 128, Align: 128},
		CompletionInboxes: {Count: WorkerCapacity, Size: CompletionInboxSize, Align: 64},
		ReadyInboxes:      {Count: SchedulerCoreTypes * WorkerCapacity, Size: ReadyInboxSize, Align: 128},
		ReadyOwnerStates:  {Count: SchedulerCapacity, Size: ReadyOwnerStateSize, Align: 128},
		ReadyDirectories:  {Count: 1, Size: ReadyDirectorySize, Align: 128},
		GangCoordinators:  {Count: 1, Size: GangCoordinatorSize, Align: 128},
		GangCohortStates:  {Count: GangCohorts, Size: GangCohortSize, Align: 128},
		GangParticipants:  {Count: GangCohorts * ClusterCapacity, Size: GangParticipantSize, Align: 128},
		GangCommands:      {Count: ClusterCapacity, Size: GangCommandSize, Align: 128},
		TaskTraces:        {Count: taskCount, Size: 384, Align: 128},
		ActivityBuffers:   {Count: activity, Size: 24640, Align: 64},
	}}
	for i := range s.Arrays {
		span := &s.Arrays[i]
		span.Offset = align(s.Size, uint64(span.Align))
		s.Size = span.Offset + uint64(span.Count)*uint64(span.Size)
	}
	s.Size = align(s.Size, SchedulerStateAlign)
	return s, nil
}

// Of is the offset of an element of an array, which must have that many.
func (s *SchedulerState) Of(array SchedulerArray, index int) uint64 {
	span := s.Arrays[array]
	if index < 0 || index >= span.Count {
		panic(fmt.Sprintf("abi: element %d of the %d of scheduler array %d", index, span.Count, array+1))
	}
	return span.Offset + uint64(index)*uint64(span.Size)
}

// Init gives a zeroed block the values that are not 0 when a run begins.
func (s *SchedulerState) Init(m Mem) {
	for i := range s.Arrays[WorkerContexts].Count {
		w := View[WorkerContext](m, s.Of(WorkerContexts, i))
		w.PhysicalCoreID = -1
		w.ClusterIndex, w.SchedulerIndex, w.SchedulerWorkerID = NoIndex, NoIndex, NoIndex
		w.ClusterWorkerIDs = [3]uint64{NoIndex, NoIndex, NoIndex}
	}
	for i := range s.Arrays[DispatchSlots].Count {
		View[DispatchSlot](m, s.Of(DispatchSlots, i)).TaskID = EmptySlot
	}
	for i := range s.Arrays[TaskControls].Count {
		c := View[TaskControl](m, s.Of(TaskControls, i))
		c.WakeListHead, c.NextWaiter, c.WaitingProducer = WakeListOpen, -1, -1
	}
}
