package capture

// Producers of scheduler task timing.
const (
	ProducerAICPU  = "aicpu"
	ProducerAICore = "aicore"
)

// Records is one capture, as it stands in the file.
type Records struct {
	Source  string // path, as the caller named it
	Level   int    // 1–4, how much was collected
	Dialect Dialect
	Meta    Metadata
	// Runs are the runs that the records belong to, at least one: first the one
	// of records that name none, if there are such, then by ascending epoch.
	Runs []Run
	// Launches are the kernel launches that the file tells apart; nil if it does not.
	Launches []Launch
	// RunsReplaced: the records name runs too, which the launches stand in for.
	RunsReplaced bool

	Tasks     TaskRows
	Sched     SchedRows
	Kinds     []Kind // Phases.Kind is an index into it
	Streams   []Stream
	Lifecycle []Lifecycle
	DeviceOrc []Submits // lanes of device orchestrator records, times in cycles
	HostOrc   []Submits // lanes of host orchestrator records, times in ns, those without records left out
	Uploads   []Upload

	// HostListed: host_orchestrator_phases is not empty, if only of lanes without records.
	HostListed bool

	// Further are the top-level keys that no reader knows; nil unless asked for.
	Further []Field

	Loss     Loss
	Warnings []Warning
}

// Run identifies one run of the process that wrote a capture. Task ids and
// dispatch tokens start again with every run (spec/newest.md §3.3).
type Run struct {
	Epoch uint64
	Known bool // false: the records name no run, which is not run 0
}

// Metadata is what the metadata object says, unknown keys left out.
type Metadata struct {
	ClockHz      uint64   // device cycles per second, > 0; 0 only with Options.Clockless
	CoreTypes    []string // by core id; may be shorter than the cores in use
	CoreToThread []int32  // core id → scheduler thread, negative: none; nil if absent

	OrchestratorSource string
	TimelineRelation   string // "" if absent
	HostOriginNs       uint64 // host_orchestration_origin_ns, 0 if absent
	TimelineOriginNs   uint64 // host_timeline_origin_ns, 0 if absent
	ClockDomain        string // host_clock_domain_id
	HostCapture        *HostCapture
	Accounting         *Accounting // nil if the collector left none
	CoCaptured         []string    // diagnostics that ran in the same launch
	Stalls             Stalls      // what collecting cost, as far as it was counted
	Runtime            string      // "" if neither the file nor its streams name one
	Alignment          *Alignment  // nil if none is saved
	Collection         *Collection // nil unless the run was retained
	Origin             *Origin     // nil unless the file was written by Conversion.Write
	Further            []Field     // what has no place above; nil unless asked for
}

// Stalls are the times that the device had to wait for the host to take records
// from it (spec/collector.md §7.3), in real time.
type Stalls struct{ Count, Ns int64 }

// Field is a key of an object and the text of its value.
type Field struct {
	Key  string
	JSON []byte
}

// CoreType returns the type of a core: "aiv" for cores beyond the table (spec/records.md §4.4).
func (m *Metadata) CoreType(core int32) string {
	if int(core) < len(m.CoreTypes) {
		return m.CoreTypes[core]
	}
	return "aiv"
}

// Thread returns the scheduler thread that retired the tasks of a core, −1 if none is known.
func (m *Metadata) Thread(core int32) int32 {
	if int(core) < len(m.CoreToThread) {
		return max(m.CoreToThread[core], -1)
	}
	return -1
}

// Accounting is what the collector says became of the records (spec/collector.md §7.3).
type Accounting struct {
	Policy   string    // what the device did where its host was too slow: "block" or "drop"
	Accounts []Account // in the order of the file
}

// Account is what became of the records of one kind. A count that is missing is 0.
type Account struct {
	Kind                                           string
	Total, Collected, Dropped, HostLost, Unflushed int64
}

// Balanced reports whether every record that was made is in one of the parts.
func (a *Account) Balanced() bool {
	sum := int64(0)
	for _, n := range []int64{a.Collected, a.Dropped, a.HostLost, a.Unflushed} {
		if sum = addCount(sum, n); n < 0 {
			return false
		}
	}
	return sum == a.Total
}

// HostCapture is the completeness record of a host-orchestrated capture.
type HostCapture struct {
	Status   string
	Expected OptInt
	Recorded OptInt
	Dropped  OptInt
	Raw      []byte // the object's text, compact, in the order of the file
}

// OptInt is an integer that may be absent.
type OptInt struct {
	V   int64
	Set bool
}

// Loss is what the file itself says was lost.
type Loss struct {
	Accounting int64      // records, from metadata.capture_accounting
	Kinds      []KindLoss // the parts of Accounting, in the order of the file
	Streams    int64      // phase records, from the streams' capture objects
	Host       int64      // host submit records
	Retained   bool       // a run that was written in the background is not whole
	EndedEarly bool       // the run failed, and the collector says so
	Declared   bool       // any of these, or a stream marked truncated
}

// KindLoss is what a collector lost of one kind of records (spec/collector.md §7.3).
type KindLoss struct {
	Kind string // "AICORE_TASK", …
	N    int64
}

// TaskRows are the kernel rows of aicore_tasks, in file order.
type TaskRows struct {
	Core    []int32
	Task    []uint64
	Reg     []uint64 // dispatch token; with Core the join key
	Start   []uint64 // cycles
	End     []uint64
	Receive []uint64 // start − receive_to_start
	Run     []int32  // index into Records.Runs; nil: all belong to the first
}

// Len is the number of rows.
func (t *TaskRows) Len() int { return len(t.Core) }

// SchedRows are the rows of scheduler_tasks, in file order.
type SchedRows struct {
	Present  bool   // the section exists
	Producer string // ProducerAICPU or ProducerAICore, "" if no section says
	Core     []int32
	Reg      []uint64
	Dispatch []uint64 // cycles
	Finish   []uint64
	Run      []int32 // as in TaskRows
}

// Len is the number of rows.
func (t *SchedRows) Len() int { return len(t.Core) }

// Stream is what one scheduler recorded. Its position in Records.Streams is the
// thread index that core_to_thread refers to.
type Stream struct {
	Order        int  // place in the file
	Gap          bool // no such stream in the file; keeps the positions right
	Platform     string
	Runtime      string
	Producer     string
	CoreType     string
	SchedulerID  OptInt
	WorkerID     OptInt
	PhysicalCore OptInt
	Dropped      int64
	Truncated    bool
	Raw          []byte // the descriptive fields as an object, as the file has them; nil unless asked for, and where it has none
	Further      []byte // further keys as "key":value,…; nil unless asked for
	Phases       Phases
}

// GraphTasks are the tasks that a scheduler expanded to those of a graph: only beside
// them is it certain that a member's id means what it says.
func (r *Records) GraphTasks() map[uint64]bool {
	out := map[uint64]bool{}
	for i := range r.Streams {
		p := &r.Streams[i].Phases
		for j, k := range p.Kind {
			if k == KindGraphPrepare && p.Flags[j]&HasTask != 0 {
				out[p.Task[j]] = true
			}
		}
	}
	return out
}

// AICore reports whether an AICore scheduler wrote the stream.
func (s *Stream) AICore() bool { return s.Producer == ProducerAICore }

// Phases are the records of one stream, in file order.
type Phases struct {
	Kind      []uint16 // index into Records.Kinds
	Flags     []uint8
	Start     []uint64 // cycles
	End       []uint64
	Loop      []int64  // 0 if absent
	Processed []int64  // 0 if absent
	Task      []uint64 // valid with HasTask
	Depth     []Depths // nil if no record has any; valid with HasDepths
	Extra     [][]byte // further keys as "key":value,…; nil unless asked for. A depth array in it counts only without HasDepths
	Run       []int32  // as in TaskRows
	Pops      []Pops   // nil unless asked for, and if no record has any
}

// Pops are what a scheduler got out of the ready queues since its last dispatch
// record: tasks, and nothing (spec/records.md §2.6).
type Pops struct{ Hit, Miss int64 }

// Flags of a phase record.
const (
	HasTask uint8 = 1 << iota
	HasProcessed
	HasLoop
	HasDepths // both depth arrays, three entries each
)

// Depths are the shared ready queues (AIC, AIV, MIX) at a record's start and end.
type Depths struct{ Start, End [3]int32 }

// Len is the number of records.
func (p *Phases) Len() int { return len(p.Kind) }

// Submits are the records of one orchestrator lane, in file order.
type Submits struct {
	Index []int64  // submit_idx, 0 if absent
	Task  []uint64 // valid where HasTask
	Has   []bool   // the record names a task
	Start []uint64 // cycles, or host ns
	End   []uint64
	Run   []int32  // as in TaskRows; nil for host records
	Extra [][]byte // further keys as "key":value,…; nil unless asked for
}

// Len is the number of records.
func (s *Submits) Len() int { return len(s.Start) }

// Upload is one host-to-device copy of a host-orchestrated run.
type Upload struct {
	Phase      string
	Start, End uint64 // host ns
	Bytes      int64
	Fields     []byte // all keys but the times, as "key":value,…; nil unless asked for
}

// LifecycleNames are the intervals of one AICPU thread, in order (spec/records.md §2.8).
var LifecycleNames = [7]string{
	"handshake_partition", "topology_config", "context_publish", "bootstrap_wait",
	"register_release", "exit_signal", "exit_wait",
}

// lifecycleFields are the keys of the intervals' two ends, without the suffix _cycles.
var lifecycleFields = [7][2]string{
	{"handshake_start", "handshake_complete"},
	{"config_start", "topology_complete"},
	{"context_publish_start", "context_publish_complete"},
	{"bootstrap_wait_start", "bootstrap_complete"},
	{"register_release_start", "register_release_end"},
	{"exit_signal_start", "exit_signal_end"},
	{"exit_wait_start", "exit_wait_end"},
}

// LifecycleFields returns the names of an interval's two ends without the unit suffix.
func LifecycleFields(interval int) (from, to string) {
	return lifecycleFields[interval][0], lifecycleFields[interval][1]
}

// Lifecycle is one AICPU thread's life: ends of the intervals in cycles, 0 = did not happen.
type Lifecycle struct {
	Thread OptInt
	Span   [7][2]uint64
	Other  [2]uint64 // the first and the last of further times, in cycles, 0 = none; they are not drawn
	Run    int32     // launch, index into Records.Runs
	Extra  []byte    // further keys as "key":value,…; nil unless asked for
}
