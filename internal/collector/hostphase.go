package collector

import (
	"cmp"
	"slices"
	"sync/atomic"

	"swimlane/internal/abi"
)

// HostPhaseKind is what the host was doing in a host phase. The numbers never
// leave the process; the names do (spec/collector.md §7.4).
type HostPhaseKind uint32

// The kinds of host phases.
const (
	HostArgs HostPhaseKind = iota
	HostArenaBuild
	HostStaticArena
	HostGMHeap
	HostSharedMem
	HostRuntimeInit
	HostOrch
	HostGraphUpload
	HostRelocate
	HostSMH2D
	HostArenaH2D
	HostViewClose
	HostSubmitTask
	HostAllocTensors
	HostRecordNode
	HostGraphSubmit
	HostBuildDefinition
	hostPhaseKinds
)

var hostPhaseNames = [hostPhaseKinds]string{
	HostArgs: "args", HostArenaBuild: "arena_build", HostStaticArena: "static_arena", HostGMHeap: "gm_heap", HostSharedMem: "shared_mem",
	HostRuntimeInit: "runtime_init", HostOrch: "host_orch", HostGraphUpload: "graph_upload", HostRelocate: "relocate", HostSMH2D: "sm_h2d",
	HostArenaH2D: "arena_h2d", HostViewClose: "host_view_close", HostSubmitTask: "submit_task", HostAllocTensors: "alloc_tensors",
	HostRecordNode: "record_node", HostGraphSubmit: "graph_submit", HostBuildDefinition: "build_definition",
}

// String is the name in files; kinds that do not exist are all `unknown`.
func (k HostPhaseKind) String() string {
	if k < hostPhaseKinds {
		return hostPhaseNames[k]
	}
	return "unknown"
}

// Submit tells whether a phase of this kind is one task of the orchestrator.
func (k HostPhaseKind) Submit() bool {
	return k == HostSubmitTask || k == HostAllocTensors || k == HostGraphSubmit
}

// Upload tells whether a phase of this kind copies to the device.
func (k HostPhaseKind) Upload() bool {
	return k == HostGraphUpload || k == HostSMH2D || k == HostArenaH2D
}

// HostPhasePool holds what a host that orchestrates records of itself: as many
// records as it has room for, and the number of those that came too late.
type HostPhasePool struct {
	next    atomic.Uint64 // records so far, those without room included
	buffers [abi.HostPhaseBuffers][abi.HostPhaseRecordsPerBuffer]abi.HostPhase
}

// NewHostPhasePool returns an empty pool.
func NewHostPhasePool() *HostPhasePool { return new(HostPhasePool) }

const hostPhaseRoom = abi.HostPhaseBuffers * abi.HostPhaseRecordsPerBuffer

// Add records a phase. Several goroutines may add at once: each takes a place of its own.
func (p *HostPhasePool) Add(r abi.HostPhase) {
	if n := p.next.Add(1) - 1; n < hostPhaseRoom {
		p.buffers[n/abi.HostPhaseRecordsPerBuffer][n%abi.HostPhaseRecordsPerBuffer] = r
	}
}

// HostPhases are what a pool held when the run was over.
type HostPhases struct {
	Submits  []abi.HostPhase // by start
	Uploads  []abi.HostPhase // in the order in which they were recorded
	Expected uint64          // tasks that the orchestrator says it submitted
	Pool     uint64          // phases of every kind, whether there was room or not
	Dropped  uint64          // of these, without room
}

// Records are what the pool holds, by start. Nobody may add any more.
func (p *HostPhasePool) Records() (out []abi.HostPhase) {
	for n := range min(p.next.Load(), hostPhaseRoom) {
		out = append(out, p.buffers[n/abi.HostPhaseRecordsPerBuffer][n%abi.HostPhaseRecordsPerBuffer])
	}
	byStart(out)
	return out
}

func byStart(list []abi.HostPhase) {
	slices.SortStableFunc(list, func(a, b abi.HostPhase) int { return cmp.Compare(a.StartNs, b.StartNs) })
}

// dropped is how many records came when there was no room.
func (p *HostPhasePool) dropped() uint64 { return max(p.next.Load(), hostPhaseRoom) - hostPhaseRoom }

// Take sorts out what the pool holds; expected is the number of tasks that the
// orchestrator says it submitted. Nobody may add any more.
func (p *HostPhasePool) Take(expected uint64) *HostPhases {
	h := &HostPhases{Expected: expected, Pool: p.next.Load(), Dropped: p.dropped()}
	for n := range min(h.Pool, hostPhaseRoom) {
		r := p.buffers[n/abi.HostPhaseRecordsPerBuffer][n%abi.HostPhaseRecordsPerBuffer]
		switch kind := HostPhaseKind(r.Kind); {
		case kind.Submit():
			h.Submits = append(h.Submits, r)
		case kind.Upload():
			h.Uploads = append(h.Uploads, r)
		}
	}
	byStart(h.Submits)
	return h
}

// origin is the first start among submits and uploads, 0 if there are none.
func (h *HostPhases) origin() uint64 {
	if len(h.Submits)+len(h.Uploads) == 0 {
		return 0
	}
	origin := ^uint64(0)
	for _, r := range h.Submits {
		origin = min(origin, r.StartNs)
	}
	for _, r := range h.Uploads {
		origin = min(origin, r.StartNs)
	}
	return origin
}

// outcome is the status of host_capture and its error, "" for none.
func (h *HostPhases) outcome() (status, failure string) {
	switch {
	case h.Dropped > 0:
		return "dropped", "pool_overflow"
	case uint64(len(h.Submits)) != h.Expected:
		return "incomplete", "record_count_mismatch"
	}
	return "complete", ""
}
