package abi

import "fmt"

// QueueHeader is where a diagnostic's header keeps its ready queues and its
// backpressure block. Offsets are bytes from the start of the region.
type QueueHeader struct {
	Threads      int    // ready queues, one per AICPU thread
	QueueSize    int    // entries per queue; one stays empty
	Queues       uint64 // [Threads][QueueSize] ReadyEntry
	Heads        uint64 // [Threads] u32, written by the host
	Tails        uint64 // [Threads] u32, written by the device
	Backpressure uint64
	Size         uint64 // of the header, padded to 64 B
}

// Entry is the offset of an entry of a queue.
func (h *QueueHeader) Entry(queue int, index uint32) uint64 {
	return h.Queues + (uint64(queue)*uint64(h.QueueSize)+uint64(index))*ReadyEntrySize
}

// Head is the offset of the index of a queue that the host advances.
func (h *QueueHeader) Head(queue int) uint64 { return h.Heads + 4*uint64(queue) }

// Tail is the offset of the index of a queue that the device advances.
func (h *QueueHeader) Tail(queue int) uint64 { return h.Tails + 4*uint64(queue) }

// Region is the shared memory of the swimlane: a header and four arrays of pools
// (spec/device-abi.md §7, §8). Its fields are offsets in it.
type Region struct {
	QueueHeader
	Arch      *Arch
	GridCores int // pools per core array: how far the arrays behind lie

	NumCores             uint64 // u32, host
	Level                uint64 // u32, host
	NumSchedPhaseThreads uint64 // u32, device
	NumOrchPhaseThreads  uint64 // u32, device
	NumPhaseCores        uint64 // u32, device
	CoreToThread         uint64 // [MaxCores] i8, device; -1 = no thread

	aicpuTask, aicoreTask, schedPhase, orchPhase uint64
	TotalSize                                    uint64 // of header and pools
}

// NewRegion lays out the region of a run. GridCores is how many pools each
// per-core array has: the run's cores, or the architecture's MaxCores where the
// device image was built for a fixed grid.
func NewRegion(a *Arch, gridCores int) (*Region, error) {
	if gridCores < 1 || gridCores > a.MaxCores {
		return nil, fmt.Errorf("%s: a region for %d cores cannot be: expected 1 to %d", a.Name, gridCores, a.MaxCores)
	}
	h := headerFields(a)
	r := &Region{
		Arch: a, GridCores: gridCores,
		QueueHeader:          h.queueHeader(),
		NumCores:             h.offset("num_cores"),
		Level:                h.offset("chip_swimlane_level"),
		NumSchedPhaseThreads: h.offset("num_sched_phase_threads"),
		NumOrchPhaseThreads:  h.offset("num_orch_phase_threads"),
		NumPhaseCores:        h.offset("num_phase_cores"),
		CoreToThread:         h.offset("core_to_thread"),
	}
	cores, threads := uint64(gridCores)*PoolSize, uint64(a.MaxThreads)*PoolSize
	r.aicpuTask = r.Size
	r.aicoreTask = r.aicpuTask + cores
	r.schedPhase = r.aicoreTask + cores
	r.orchPhase = r.schedPhase + threads
	r.TotalSize = r.orchPhase + threads
	return r, nil
}

// Pools is how many pools a kind has in the region.
func (r *Region) Pools(k Kind) int {
	switch k {
	case KindAicpuTask, KindAicoreTask:
		return r.GridCores
	}
	return r.Arch.MaxThreads
}

// Pool is the offset of a pool. The kind must be one of the four, and have that
// many pools: check what comes from the device first.
func (r *Region) Pool(k Kind, index int) uint64 {
	if index < 0 || index >= r.Pools(k) {
		panic(fmt.Sprintf("abi: pool %d of the %d of kind %d", index, r.Pools(k), k))
	}
	base := [Kinds]uint64{r.aicpuTask, r.schedPhase, r.orchPhase, r.aicoreTask}[k]
	return base + uint64(index)*PoolSize
}
