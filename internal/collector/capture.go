package collector

import (
	"iter"
	"sync"

	"swimlane/internal/abi"
)

// Capture is all that one run has collected. It holds on to nothing of the
// collector, which may be armed for the next run or be gone. It must not be
// changed once it is written.
type Capture struct {
	Arch         *abi.Arch
	Level        abi.Level
	Runtime      string         // name of the runtime, for the scheduler streams
	Cores        int            // of the run
	CoreTypes    []abi.CoreType // by core; a missing one is AIV
	CoreToThread []int8         // scheduler thread by core, -1 for none; empty if the device published none
	OrchThreads  uint32         // num_orch_phase_threads as the device wrote it
	SchedDropped []uint32       // dropped_record_count of the scheduler phase pools, by pool

	Host     *HostPhases       // nil unless the host orchestrated the run
	Clock    *ClockCorrelation // nil unless one was started
	BootID   string            // identity of the host's clock, "" if unknown
	Sections Sections          // what the runtime recorded in its own way

	Accounting Accounting
	CoCaptured []string // other diagnostics of the same launch

	// Strict writes the file as other writers do, for comparison byte for byte:
	// without the metadata keys of our own, and without scheduler streams that have
	// drops and no records.
	Strict bool

	records records

	mu      sync.Mutex
	written map[string]bool // places that have the file
}

// newCapture returns the capture of a run with the records of all shards.
// Dispatched is total_record_count of each core's AicoreTask pool. The caller
// fills the exported fields.
func newCapture(arch *abi.Arch, level abi.Level, cores int, stores []*store, dispatched []uint32) *Capture {
	return &Capture{Arch: arch, Level: level, Cores: cores, records: merge(stores, cores, arch.MaxThreads, dispatched)}
}

// Accounting says where every record of a run went.
type Accounting struct {
	Policy     abi.Policy
	Kinds      [abi.Kinds]Account
	Stalls     Stalls
	EndedEarly bool // the run failed: what was under way has no records, or not all
}

// Account is the balance of one kind: Total is the sum of the others.
type Account struct {
	Total     uint64 // attempts, as the device counted them
	Collected uint64
	Dropped   uint64 // by the device, which had no buffer
	HostLost  uint64 // taken by the host and not delivered
	Unflushed uint64 // left in the device's buffers
}

// Stalls are the times that the device waited for the host.
type Stalls struct {
	Count  uint64
	RealNs uint64 // of the host's clock
}

// Count is the number of records of a kind that the device's pools delivered.
func (c *Capture) Count(kind abi.Kind) int { return c.records.counts[kind] }

// Slots says which slots of AicoreTask buffers did not become rows.
func (c *Capture) Slots() SlotReport { return c.records.slots }

// AicpuTasks are the records of a core in the order of its buffers, a stretch at
// a time. They must not be changed; so with all records of a Capture.
func (c *Capture) AicpuTasks(core int) iter.Seq[[]abi.AicpuTask] {
	return stretches[abi.AicpuTask](&c.records, abi.KindAicpuTask, core)
}

// AicoreTasks are the records of a core.
func (c *Capture) AicoreTasks(core int) iter.Seq[[]abi.AicoreTask] {
	return stretches[abi.AicoreTask](&c.records, abi.KindAicoreTask, core)
}

// SchedPhases are the records of a scheduler thread.
func (c *Capture) SchedPhases(thread int) iter.Seq[[]abi.SchedPhase] {
	return stretches[abi.SchedPhase](&c.records, abi.KindSchedPhase, thread)
}

// OrchPhases are the records of an orchestrator.
func (c *Capture) OrchPhases(pool int) iter.Seq[[]abi.OrchPhase] {
	return stretches[abi.OrchPhase](&c.records, abi.KindOrchPhase, pool)
}

// orchLanes is the number of orchestrator lanes in the file: a device that says
// none, or more than there can be, gets one for every thread (spec/collector.md §7.4).
func (c *Capture) orchLanes() int {
	if most := c.Arch.MaxThreads; c.OrchThreads == 0 || c.OrchThreads > uint32(most) {
		return most
	}
	return int(c.OrchThreads)
}

// schedDropped is what a scheduler thread dropped.
func (c *Capture) schedDropped(thread int) uint32 {
	if thread < len(c.SchedDropped) {
		return c.SchedDropped[thread]
	}
	return 0
}
