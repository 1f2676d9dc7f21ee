package abi

import "fmt"

// Arch holds the constants of one architecture (spec/device-abi.md §1). Treat
// the two that exist as read-only.
type Arch struct {
	Name              string // "a2a3" or "a5"
	MaxClusters       int    // MAX_BLOCKDIM: clusters of one AIC and two AIV
	MaxCores          int    // MAX_CORES: three per cluster
	MaxThreads        int    // MAX_AICPU_THREADS: stride of every per-thread array
	DefaultThreads    int    // AICPU threads when a run asks for 0
	MaxLaunchThreads  int    // physical bound of a launch; not used by the collector
	MaxCoresPerThread int    // MAX_CORES_PER_THREAD: one thread may own every core
	ReadyQueueSize    int    // READYQUEUE_SIZE: entries per ready queue; one stays empty
	ClockHz           uint64 // SYS_CNT_FREQ: the device clock, `clock_freq_hz`
	SimRegisterBytes  int    // register block of one simulated core
}

// The two architectures.
var (
	A2A3 = newArch(Arch{
		Name: "a2a3", MaxClusters: 24, MaxThreads: 4, DefaultThreads: 4, MaxLaunchThreads: 6,
		ClockHz: 50_000_000, SimRegisterBytes: 0x1400,
	})
	A5 = newArch(Arch{
		Name: "a5", MaxClusters: 36, MaxThreads: 5, DefaultThreads: 5, MaxLaunchThreads: 14,
		ClockHz: 1_000_000_000, SimRegisterBytes: 0x4000,
	})
)

func newArch(a Arch) *Arch {
	a.MaxCores = a.MaxClusters * CoresPerCluster
	a.MaxCoresPerThread = a.MaxCores
	a.ReadyQueueSize = a.MaxCores*ProfBuffersPerCore + 2*a.MaxThreads*ReadyQueueBuffersPerThread + a.MaxCores*AicoreBuffersPerCore
	return &a
}

// ArchOf returns the architecture of that name.
func ArchOf(name string) (*Arch, error) {
	switch name {
	case A2A3.Name:
		return A2A3, nil
	case A5.Name:
		return A5, nil
	}
	return nil, fmt.Errorf("architecture %q is unknown: expected a2a3 or a5", name)
}

// Constants that both architectures share (spec/device-abi.md §1).
const (
	CoresPerCluster            = 3         // CORES_PER_BLOCKDIM
	ProfBufferSize             = 1000      // PROF_BUFFER_SIZE: AicpuTask records per buffer
	AicoreBufferSize           = 1024      // AICORE_BUFFER_SIZE: AicoreTask records per buffer
	PhaseRecordsPerThread      = 16384     // PHASE_RECORDS_PER_THREAD: per sched-phase and per orch-phase buffer
	SlotCount                  = 4         // PROF_SLOT_COUNT: slots of a free queue
	ProfBuffersPerCore         = 8         // PROF_BUFFERS_PER_CORE
	AicoreBuffersPerCore       = 4         // AICORE_BUFFERS_PER_CORE
	SchedBuffersPerThread      = 6         // SCHED_BUFFERS_PER_THREAD
	OrchBuffersPerThread       = 8         // ORCH_BUFFERS_PER_THREAD
	ReadyQueueBuffersPerThread = 16        // READYQUEUE_BUFFERS_PER_THREAD
	BackpressureSeconds        = 30        // BACKPRESSURE_TIMEOUT
	IdleSeconds                = 30        // PROF_TIMEOUT_SECONDS: the collector reports an idle shard
	HostPhaseRecordsPerBuffer  = 512       // HOST_PHASE_RECORDS_PER_BUFFER
	HostPhaseBuffers           = 24        // HOST_PHASE_BUFFERS
	MinThreads                 = 2         // AICPU threads that a run may ask for, unless it asks for 0
	UptimeHz                   = 1_000_000 // clock of event timestamps on a board, UptimeUnit
	UptimeUnit                 = "device_uptime_us"
)

// BackpressureCycles is BACKPRESSURE_TIMEOUT: how long a device waits for a
// frozen host.
func (a *Arch) BackpressureCycles() uint64 { return BackpressureSeconds * a.ClockHz }

// Registers of a core, tokens and their states (spec/device-abi.md §1).
const (
	RegDataMainBase = 0 // AICPU → AICore: the token of a task
	RegCond         = 1 // AICore → AICPU: ACK or FIN of a token

	TaskIDMask = 0x7FFFFFFF
	StateMask  = 0x80000000 // set in COND: FIN

	TokenAicoreIdle   = 0x7FFFFFFF
	TokenAicoreExited = 0x7FFFFFFE
	TokenAicpuIdle    = 0x7FFFFFFD
	TokenExit         = 0x7FFFFFF0 // written to DATA_MAIN_BASE; first of the reserved range
	TokenMax          = 0x7FFFFFEF // the largest that names a task
	EmptySlot         = -1
)

// Ack is the COND value by which a core takes a task.
func Ack(token uint32) uint32 { return token & TaskIDMask }

// Fin is the COND value by which a core ends a task.
func Fin(token uint32) uint32 { return token&TaskIDMask | StateMask }

// CoreType is what a core computes with.
type CoreType int32

// The core types; their texts are those of `core_types`.
const (
	AIC CoreType = iota
	AIV
)

func (c CoreType) String() string {
	if c == AIC {
		return "aic"
	}
	return "aiv"
}

// CoreTypes are the types of the cores of a run of n clusters: first n AIC, then
// 2n AIV.
func CoreTypes(clusters int) []CoreType {
	out := make([]CoreType, clusters*CoresPerCluster)
	for i := clusters; i < len(out); i++ {
		out[i] = AIV
	}
	return out
}

// ClusterOf is the cluster of a core in a run of n clusters: cluster c is AIC
// core c and AIV cores n+2c and n+2c+1.
func ClusterOf(core, clusters int) int {
	if core < clusters {
		return core
	}
	return (core - clusters) / 2
}

// Shapes of a task, which index the depth snapshots.
const (
	ShapeAIC = iota
	ShapeAIV
	ShapeMIX
	QueueShapes
)

// Level says how much a capture records. Each includes the ones before it.
type Level uint32

// The levels (spec/device-abi.md §1).
const (
	Disabled       Level = iota
	TaskTiming           // AicoreTask records
	ScheduleTiming       // and AicpuTask records
	SchedPhases          // and phases of the scheduler threads
	OrchPhases           // and submits of the orchestrator
)

// ParseLevel refuses numbers that are no level.
func ParseLevel(n int) (Level, error) {
	if n < int(Disabled) || n > int(OrchPhases) {
		return 0, errLevel(int64(n))
	}
	return Level(n), nil
}

func errLevel(n int64) error {
	return fmt.Errorf("capture level %d is unknown: expected 0 (off), 1 (task timing), 2 (schedule timing), 3 (scheduler phases) or 4 (orchestrator phases)", n)
}

// Policy is what a device does when the host has not kept up
// (spec/collector.md §2.10).
type Policy uint8

// The policies. Block stops the device and asks the host to hurry; Drop never
// waits and never asks: it loses records and counts them.
const (
	Block Policy = iota
	Drop
)

func (p Policy) String() string {
	if p == Drop {
		return "drop"
	}
	return "block"
}

// Diagnostics that KernelArgs.enable_profiling_flag switches on.
const (
	EnableArgsDump uint32 = 1 << iota
	EnableSwimlane
	EnablePMU
	EnableDepGen
	EnableScopeStats
)
