package collector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sections are the parts of a capture that a runtime recorded by itself instead
// of through the pools: each is set once, or not at all (spec/collector.md §7.6).
type Sections struct {
	kernels   []KernelRow
	timings   []TimingRow
	lifecycle []LifecycleRow
	streams   []CoreStream

	hasKernels, hasTimings, hasLifecycle, hasStreams bool
}

// KernelRow is a row of aicore_tasks. Times are cycles, as in all sections.
type KernelRow struct {
	Core    uint32
	Task    uint64 // task token and dispatch token in one
	Start   uint64
	End     uint64
	Receive uint64 // cycles from receive to start
}

// TimingRow is a row of scheduler_tasks of an AICore scheduler.
type TimingRow struct {
	Core     uint32
	Task     uint64
	Dispatch uint64
	Finish   uint64
}

// LifecycleRow is the life of one AICPU thread; a time of 0 did not happen.
type LifecycleRow struct {
	Thread uint64
	Times  [len(lifecycleKeys)]uint64 // in the order in which they happen
}

var lifecycleKeys = [...]string{
	"handshake_start", "handshake_complete", "config_start", "topology_complete", "context_publish_start", "context_publish_complete",
	"bootstrap_wait_start", "bootstrap_complete", "register_release_start", "register_release_end",
	"exit_signal_start", "exit_signal_end", "exit_wait_start", "exit_wait_end",
}

// CoreStream is what one AICore scheduler did.
type CoreStream struct {
	Scheduler    uint32
	Worker       uint32 // core that it runs on
	PhysicalCore int32
	Dropped      uint32 // idle records without room
	Records      []CorePhase
}

// CorePhase is one record of an AICore scheduler.
type CorePhase struct {
	Start, End uint64
	Loop       uint32
	Kind       CorePhaseKind
	Tasks      uint64
	Task       uint64 // not of a bootstrap, nor of an idle
}

// CorePhaseKind is what an AICore scheduler was doing.
type CorePhaseKind uint8

// The kinds of records of an AICore scheduler.
const (
	CoreBootstrap CorePhaseKind = iota
	CoreComplete
	CoreDispatch
	CoreIdle
	CoreRefill
	CoreResolve
	CoreStateProbe
	CoreWorksteal
)

func (k CorePhaseKind) String() string {
	return [...]string{"bootstrap", "complete", "dispatch", "idle", "refill", "resolve", "state_probe", "worksteal"}[k]
}

// namesTask tells whether a record of this kind has a task.
func (k CorePhaseKind) namesTask() bool { return k != CoreBootstrap && k != CoreIdle }

func once(set *bool, name string) error {
	if *set {
		return fmt.Errorf("section %s is set already; a runtime sets it once per run", name)
	}
	*set = true
	return nil
}

// SetAicoreTasks sets aicore_tasks. Like the other sections the rows belong to
// the capture from then on.
func (s *Sections) SetAicoreTasks(rows []KernelRow) error {
	if err := once(&s.hasKernels, "aicore_tasks"); err != nil {
		return err
	}
	s.kernels = rows
	return nil
}

// SetSchedulerTasks sets scheduler_tasks.
func (s *Sections) SetSchedulerTasks(rows []TimingRow) error {
	if err := once(&s.hasTimings, "scheduler_tasks"); err != nil {
		return err
	}
	s.timings = rows
	return nil
}

// SetLifecycle sets aicpu_lifecycle_records.
func (s *Sections) SetLifecycle(rows []LifecycleRow) error {
	if err := once(&s.hasLifecycle, "aicpu_lifecycle_records"); err != nil {
		return err
	}
	s.lifecycle = rows
	return nil
}

// SetSchedulerRecords sets scheduler_records and puts it in order: streams by
// worker, records by time and kind. Streams without records and drops are left out.
func (s *Sections) SetSchedulerRecords(streams []CoreStream) error {
	if err := once(&s.hasStreams, "scheduler_records"); err != nil {
		return err
	}
	s.streams = slices.DeleteFunc(streams, func(v CoreStream) bool { return len(v.Records) == 0 && v.Dropped == 0 })
	slices.SortStableFunc(s.streams, func(a, b CoreStream) int { return cmp.Compare(a.Worker, b.Worker) })
	for _, v := range s.streams {
		slices.SortStableFunc(v.Records, func(a, b CorePhase) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), strings.Compare(a.Kind.String(), b.Kind.String()))
		})
	}
	return nil
}

// any tells whether anything is set.
func (s *Sections) any() bool { return s.hasKernels || s.hasTimings || s.hasLifecycle || s.hasStreams }
