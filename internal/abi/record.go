package abi

// Kind is the kind of a record buffer, as ready entries name it.
type Kind uint32

// The kinds of the swimlane region (spec/device-abi.md §3).
const (
	KindAicpuTask  Kind = iota // per core: when the AICPU dispatched a task and saw it finish
	KindSchedPhase             // per scheduler thread
	KindOrchPhase              // pool 0 only: the orchestrator
	KindAicoreTask             // per core: when the kernel ran
	Kinds          = 4
)

// AicpuTask is the scheduler's view of one task on one core, 32 B
// (spec/device-abi.md §2.1). Times are cycles of the system counter.
type AicpuTask struct {
	DispatchTime uint64   `abi:"dispatch_time"`
	FinishTime   uint64   `abi:"finish_time"` // when the COND event that finished the task was processed
	RegTaskID    uint32   `abi:"reg_task_id"` // the dispatch token, which joins it with AicoreTask
	_            [12]byte `abi:"reserved"`
}

// AicoreTask is the core's own view of one task, 32 B (spec/device-abi.md §2.2).
type AicoreTask struct {
	StartTime            uint64 `abi:"start_time"` // after the ACK, immediately before the kernel; 0 in a slot never written
	EndTime              uint64 `abi:"end_time"`
	TaskTokenRaw         uint64 `abi:"task_token_raw"` // ring or space in the high half, local id in the low one
	RegTaskID            uint32 `abi:"reg_task_id"`
	ReceiveToStartCycles uint32 `abi:"receive_to_start_cycles"`
}

// TaskID packs a ring (or id space) and a local id.
func TaskID(ring, local uint32) uint64 { return uint64(ring)<<32 | uint64(local) }

// SchedPhase is one phase of a scheduler thread, 64 B (spec/device-abi.md §2.3).
// What PhaseData means depends on the kind; it starts at 28 and so can only be
// read as two words.
type SchedPhase struct {
	StartTime          uint64             `abi:"start_time"`
	EndTime            uint64             `abi:"end_time"`
	LoopIter           uint32             `abi:"loop_iter"`
	Kind               PhaseKind          `abi:"kind"`
	TasksProcessed     uint32             `abi:"tasks_processed"`
	PhaseData          [2]uint32          `abi:"phase_data"`
	SharedDepthAtStart [QueueShapes]int16 `abi:"shared_depth_at_start"` // AIC, AIV, MIX
	SharedDepthAtEnd   [QueueShapes]int16 `abi:"shared_depth_at_end"`
	_                  [16]byte           `abi:"reserved"`
}

// SetPops fills the union of a Dispatch: pops since the thread's last Dispatch
// that found a task, and that found none.
func (p *SchedPhase) SetPops(hit, miss uint32) { p.PhaseData = [2]uint32{hit, miss} }

// SetTask fills the union of a phase that names a task.
func (p *SchedPhase) SetTask(id uint64) { p.PhaseData = [2]uint32{uint32(id), uint32(id >> 32)} }

// TaskID is the task that the union names.
func (p *SchedPhase) TaskID() uint64 { return TaskID(p.PhaseData[1], p.PhaseData[0]) }

// PhaseKind is what a scheduler thread was doing.
type PhaseKind uint32

// The phase kinds. 3 is a hole and never written.
const (
	Complete          PhaseKind = 0
	Dispatch          PhaseKind = 1
	Release           PhaseKind = 2
	Dummy             PhaseKind = 4
	EarlyDispatch     PhaseKind = 5
	Resolve           PhaseKind = 6
	DummyTask         PhaseKind = 7
	Drain             PhaseKind = 8
	DrainPrepare      PhaseKind = 9
	DrainPublish      PhaseKind = 10
	AsyncPoll         PhaseKind = 11
	PredicatedSkip    PhaseKind = 12
	GraphPrepare      PhaseKind = 13
	ResolveStandalone PhaseKind = 14
)

var phaseNames = [...]string{
	Complete: "complete", Dispatch: "dispatch", Release: "release", 3: "unknown", Dummy: "dummy", EarlyDispatch: "early_dispatch",
	Resolve: "resolve", DummyTask: "dummy_task", Drain: "drain", DrainPrepare: "drain_prepare", DrainPublish: "drain_publish",
	AsyncPoll: "async_poll", PredicatedSkip: "predicated_skip", GraphPrepare: "graph_prepare", ResolveStandalone: "resolve_standalone",
}

// String is the name in files; kinds that do not exist are all `unknown`.
func (k PhaseKind) String() string {
	if int(k) < len(phaseNames) {
		return phaseNames[k]
	}
	return "unknown"
}

// NamesTask tells whether the union of a record of this kind is a task id.
func (k PhaseKind) NamesTask() bool {
	return k == DummyTask || k == PredicatedSkip || k == GraphPrepare
}

// OrchPhase is one submit of the orchestrator on the device, 32 B
// (spec/device-abi.md §2.4).
type OrchPhase struct {
	StartTime uint64 `abi:"start_time"`
	EndTime   uint64 `abi:"end_time"`
	TaskID    uint64 `abi:"task_id"`
	SubmitIdx uint32 `abi:"submit_idx"`
	_         uint32 `abi:"reserved"`
}

// HostPhase is a span of the host's orchestrator, 40 B, in host memory only
// (spec/device-abi.md §2.5). Times are ns of the monotonic clock.
type HostPhase struct {
	StartNs  uint64 `abi:"start_ns"`
	EndNs    uint64 `abi:"end_ns"`
	Payload  uint64 `abi:"payload"`
	Kind     uint32 `abi:"kind"`
	Index    uint32 `abi:"index"`
	ThreadID uint32 `abi:"thread_id"`
	_        uint32 `abi:"reserved"`
}

// Buffer is the shape of a record buffer: records and a count, in either order,
// padded to 64 B (spec/device-abi.md §3, §10).
type Buffer struct {
	Name       string // of the kind
	RecordSize int    // bytes
	Capacity   int    // records
	Records    int    // offset of the first record
	Count      int    // offset of the u32 that counts them
	Size       int    // bytes of the whole buffer
}

func countLast(name string, recordSize, capacity int) Buffer {
	end := recordSize * capacity
	return Buffer{Name: name, RecordSize: recordSize, Capacity: capacity, Count: end, Size: align(end+4, 64)}
}

// Buffers are the buffers of the swimlane region, by kind. Host and device must
// agree on them, so they are no option.
var Buffers = [Kinds]Buffer{
	KindAicpuTask:  countLast("AicpuTask", 32, ProfBufferSize),
	KindSchedPhase: countLast("AicpuSchedPhase", 64, PhaseRecordsPerThread),
	KindOrchPhase:  countLast("AicpuOrchPhase", 32, PhaseRecordsPerThread),
	KindAicoreTask: countLast("AicoreTask", 32, AicoreBufferSize),
}

// HostPhaseBuffer is a buffer of the host's own phases; no device sees it.
var HostPhaseBuffer = countLast("HostPhase", 40, HostPhaseRecordsPerBuffer)

// AicpuTaskBuffer is a buffer of [KindAicpuTask]. The AICPU counts every record
// that it has written.
type AicpuTaskBuffer struct {
	Records [ProfBufferSize]AicpuTask `abi:"records"`
	Count   uint32                    `abi:"count"`
	_       [60]byte                  `abi:"reserved"`
}

// AicoreTaskBuffer is a buffer of [KindAicoreTask]. The core fills it; the AICPU
// counts its records when it hands it over.
type AicoreTaskBuffer struct {
	Records [AicoreBufferSize]AicoreTask `abi:"records"`
	Count   uint32                       `abi:"count"`
	_       [60]byte                     `abi:"reserved"`
}

// SchedPhaseBuffer is a buffer of [KindSchedPhase]. The AICPU counts a record
// before it has written it.
type SchedPhaseBuffer struct {
	Records [PhaseRecordsPerThread]SchedPhase `abi:"records"`
	Count   uint32                            `abi:"count"`
	_       [60]byte                          `abi:"reserved"`
}

// OrchPhaseBuffer is a buffer of [KindOrchPhase], counted as a SchedPhaseBuffer.
type OrchPhaseBuffer struct {
	Records [PhaseRecordsPerThread]OrchPhase `abi:"records"`
	Count   uint32                           `abi:"count"`
	_       [60]byte                         `abi:"reserved"`
}

// align is n rounded up to a multiple of another number.
func align[T int | uint64](n, to T) T { return (n + to - 1) / to * to }
