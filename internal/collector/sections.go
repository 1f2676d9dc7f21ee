package collector

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Sections are the parts of a capture that a runtime recorded by itself instead
// of through the pools: each is set once, or not at all (spec/collector.md §7.6).
type Sections struct {
	kernels   KernelColumns
	timings   TimingColumns
	lifecycle []LifecycleRow
	streams   []CoreStream

	hasKernels, hasTimings, hasLifecycle, hasStreams bool
}

// KernelColumns are aicore_tasks. Times are cycles, as in all sections; columns
// of one section have equal lengths.
type KernelColumns struct {
	Core       []uint32
	Task       []uint64 // task token and dispatch token in one
	Start, End []uint64
	Receive    []uint64 // cycles from receive to start
}

// TimingColumns are scheduler_tasks of AICore schedulers.
type TimingColumns struct {
	Core             []uint32
	Task             []uint64
	Dispatch, Finish []uint64
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
	Phases       CorePhaseColumns
}

// CorePhaseColumns are the records of an AICore scheduler.
type CorePhaseColumns struct {
	Start, End []uint64
	Loop       []uint64
	Kind       []CorePhaseKind
	Tasks      []uint64
	Task       []uint64 // unused for a bootstrap and for an idle
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
	return nameOf(k, "bootstrap", "complete", "dispatch", "idle", "refill", "resolve", "state_probe", "worksteal")
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

// even refuses columns of a section that do not have n rows each.
func even(name string, n int, others ...int) error {
	for _, other := range others {
		if other != n {
			return fmt.Errorf("section %s has columns of %d and of %d rows; expected equal lengths", name, n, other)
		}
	}
	return nil
}

// SetAicoreTasks sets aicore_tasks. Like the other sections the columns belong to
// the capture from then on.
func (s *Sections) SetAicoreTasks(c KernelColumns) error {
	const name = "aicore_tasks"
	if err := even(name, len(c.Core), len(c.Task), len(c.Start), len(c.End), len(c.Receive)); err != nil {
		return err
	}
	if err := once(&s.hasKernels, name); err != nil {
		return err
	}
	s.kernels = c
	return nil
}

// SetSchedulerTasks sets scheduler_tasks.
func (s *Sections) SetSchedulerTasks(c TimingColumns) error {
	const name = "scheduler_tasks"
	if err := even(name, len(c.Core), len(c.Task), len(c.Dispatch), len(c.Finish)); err != nil {
		return err
	}
	if err := once(&s.hasTimings, name); err != nil {
		return err
	}
	s.timings = c
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
	const name = "scheduler_records"
	for i := range streams {
		c := &streams[i].Phases
		if err := even(name, len(c.Start), len(c.End), len(c.Loop), len(c.Kind), len(c.Tasks), len(c.Task)); err != nil {
			return err
		}
	}
	if err := once(&s.hasStreams, name); err != nil {
		return err
	}
	s.streams = slices.DeleteFunc(streams, func(v CoreStream) bool { return len(v.Phases.Start) == 0 && v.Dropped == 0 })
	slices.SortStableFunc(s.streams, func(a, b CoreStream) int { return cmp.Compare(a.Worker, b.Worker) })
	for i := range s.streams {
		sort.Stable((*byTime)(&s.streams[i].Phases))
	}
	return nil
}

// byTime orders records by time and kind.
type byTime CorePhaseColumns

func (c *byTime) Len() int { return len(c.Start) }

func (c *byTime) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(c.Start[i], c.Start[j]), cmp.Compare(c.End[i], c.End[j]), strings.Compare(c.Kind[i].String(), c.Kind[j].String())) < 0
}

func (c *byTime) Swap(i, j int) {
	for _, column := range [][]uint64{c.Start, c.End, c.Loop, c.Tasks, c.Task} {
		column[i], column[j] = column[j], column[i]
	}
	c.Kind[i], c.Kind[j] = c.Kind[j], c.Kind[i]
}

// any tells whether anything is set.
func (s *Sections) any() bool { return s.hasKernels || s.hasTimings || s.hasLifecycle || s.hasStreams }
