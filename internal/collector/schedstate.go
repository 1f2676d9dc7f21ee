package collector

import (
	"fmt"

	"swimlane/internal/abi"
)

// SchedulerBlock is a scheduler-state block in a device's memory, for one run of
// AICore schedulers (spec/device-abi.md §9).
type SchedulerBlock struct {
	layout *abi.SchedulerState
	mem    mapping
	region region
}

// NewSchedulerBlock allocates a block, all of it zero.
func NewSchedulerBlock(m Memory, layout *abi.SchedulerState) (*SchedulerBlock, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	b := &SchedulerBlock{layout: layout, mem: mapping{mem: m}}
	// Allocations are aligned to less than the block must be.
	a, err := b.mem.allocate(int(layout.Size) + abi.SchedulerStateAlign - abi.Align)
	if err != nil {
		return nil, err
	}
	skip := -a.addr & (abi.SchedulerStateAlign - 1)
	b.region = region{mem: &b.mem.mem, addr: a.addr + skip, host: a.host[skip:][:layout.Size]}
	clear(b.region.host) // shared memory holds what was there before
	return b, nil
}

// Addr is the block's address on the device.
func (b *SchedulerBlock) Addr() uint64 { return b.region.addr }

// Sections copies the block back whole, and makes sections of it. The device must have
// ended.
func (b *SchedulerBlock) Sections(s *Sections, level abi.Level) []Notice {
	if level == abi.Disabled {
		return nil
	}
	if err := b.region.pullAll(); err != nil {
		return []Notice{{Warning, fmt.Sprintf("A5 HBG: cannot copy the Scheduler state back: %v", err)}}
	}
	return s.SetSchedulerState(b.layout, b.region.host, level)
}

// Free gives the block back to the device.
func (b *SchedulerBlock) Free() error { return b.mem.releaseAll() }

// SetSchedulerState makes the sections of a capture of the scheduler-state block of a
// run, as the host copied it back (spec/collector.md §7.6). Whatever is wrong with it
// is a warning, and the sections that remain are not set.
func (s *Sections) SetSchedulerState(layout *abi.SchedulerState, block abi.Mem, level abi.Level) []Notice {
	if level == abi.Disabled {
		return nil
	}
	r, err := openSchedulerState(layout, block, level)
	for _, section := range []struct {
		from abi.Level
		set  func(*Sections) error
	}{{abi.TaskTiming, r.kernels}, {abi.ScheduleTiming, r.timings}, {abi.ScheduleTiming, r.lifecycle}, {abi.SchedPhases, r.streams}} {
		if err == nil && level >= section.from {
			err = section.set(s)
		}
	}
	if err != nil {
		return []Notice{{Warning, "A5 HBG: " + err.Error()}}
	}
	return nil
}

// schedulerState is a block, as a host reads it. Nothing in it can be trusted.
type schedulerState struct {
	contexts []abi.WorkerContext
	controls []abi.TaskControl
	traces   []abi.TaskTrace
	life     []abi.AicpuThreadLifecycleTrace
	activity []abi.ActivityBuffer
}

func openSchedulerState(layout *abi.SchedulerState, block abi.Mem, level abi.Level) (r schedulerState, err error) {
	if uint64(len(block)) != layout.Size {
		return r, fmt.Errorf("the Scheduler state has %d bytes; expected %d", len(block), layout.Size)
	}
	r.activity = stateOf[abi.ActivityBuffer](layout, block, abi.ActivityBuffers)
	if level >= abi.SchedPhases && len(r.activity) == 0 {
		return r, fmt.Errorf("the Scheduler state has no activity buffers; expected %d at level %d", abi.SchedulerCapacity, level)
	}
	r.contexts = stateOf[abi.WorkerContext](layout, block, abi.WorkerContexts)
	r.controls = stateOf[abi.TaskControl](layout, block, abi.TaskControls)
	r.traces = stateOf[abi.TaskTrace](layout, block, abi.TaskTraces)
	r.life = stateOf[abi.AicpuThreadLifecycleTrace](layout, block, abi.LifecycleTraces)
	return r, nil
}

// stateOf are all elements of an array of the block.
func stateOf[T any](layout *abi.SchedulerState, block abi.Mem, array abi.SchedulerArray) []T {
	return abi.Views[T](block, layout.Arrays[array].Offset, layout.Arrays[array].Count)
}

// ran tells whether a trace is that of a task that has a row.
func ran(t *abi.TaskTrace) bool {
	return t.Valid != 0 && t.KernelStart != 0 && t.KernelEnd >= t.KernelStart && t.WorkerID < abi.WorkerCapacity
}

func (r *schedulerState) kernels(s *Sections) error {
	var c KernelColumns
	for i := range r.traces {
		t := &r.traces[i]
		if !ran(t) {
			continue
		}
		receive := uint64(0)
		if t.ReadyObserve != 0 && t.ReadyObserve <= t.KernelStart {
			receive = t.KernelStart - t.ReadyObserve
		}
		c.Core, c.Task = append(c.Core, uint32(t.WorkerID)), append(c.Task, uint64(i))
		c.Start, c.End, c.Receive = append(c.Start, t.KernelStart), append(c.End, t.KernelEnd), append(c.Receive, receive)
	}
	return s.SetAicoreTasks(c)
}

func (r *schedulerState) timings(s *Sections) error {
	var c TimingColumns
	for i := range r.traces {
		t := &r.traces[i]
		if !ran(t) {
			continue
		}
		if t.DispatchEnd == 0 || t.CompleteStart < t.KernelEnd {
			return fmt.Errorf("incomplete Scheduler task timing for task id=%d", i)
		}
		c.Core, c.Task = append(c.Core, uint32(t.WorkerID)), append(c.Task, uint64(i))
		c.Dispatch, c.Finish = append(c.Dispatch, t.DispatchEnd), append(c.Finish, t.CompleteStart)
	}
	return s.SetSchedulerTasks(c)
}

func (r *schedulerState) lifecycle(s *Sections) error {
	rows := []LifecycleRow{}
	for i := range r.life {
		t := &r.life[i]
		if t.HandshakeStart == 0 {
			continue
		}
		rows = append(rows, LifecycleRow{Thread: t.AicpuThreadID, Times: [len(lifecycleKeys)]uint64{
			t.HandshakeStart, t.HandshakeComplete, t.ConfigStart, t.TopologyComplete, t.ContextPublishStart, t.ContextPublishComplete,
			t.BootstrapWaitStart, t.BootstrapComplete, t.RegisterReleaseStart, t.RegisterReleaseEnd,
			t.ExitSignalStart, t.ExitSignalEnd, t.ExitWaitStart, t.ExitWaitEnd,
		}})
	}
	return s.SetLifecycle(rows)
}

// streams collects the records of each scheduler, by the worker that it runs on.
func (r *schedulerState) streams(s *Sections) error {
	c := streamCollector{schedulerState: r}
	for w := range r.contexts {
		k := &r.contexts[w]
		if k.IsScheduler == 0 {
			continue
		}
		worker := uint64(w)
		c.add(worker, CoreBootstrap, k.BootstrapStartCycles, k.TargetBootstrapEnd, 0, k.BootstrapTaskCount, 0)
		stream := c.of(worker)
		if stream == nil {
			break
		}
		a := &r.activity[stream.Scheduler]
		if a.Committed > abi.ActivityCapacity {
			return fmt.Errorf("Scheduler %d has committed %d idle records; expected at most %d", stream.Scheduler, a.Committed, abi.ActivityCapacity)
		}
		stream.Dropped = a.Dropped
		for _, v := range a.Records[:a.Committed] {
			c.add(worker, CoreIdle, v.Start, v.End, uint64(v.LoopIter), 0, 0)
		}
	}
	for i := range r.traces {
		t, k, id := &r.traces[i], &r.controls[i], uint64(i)
		c.add(t.StateProbeSchedulerWorkerID, CoreStateProbe, t.StateProbeStart, t.StateProbeEnd, t.DispatchLoopIter, 1, id)
		if t.PublicationMode != abi.PublishedByRefill {
			kind := CoreDispatch
			if t.ReadySource == abi.ReadyStolen {
				kind = CoreWorksteal
			}
			c.add(t.DispatchSchedulerWorkerID, kind, t.DispatchStart, t.DispatchEnd, t.DispatchLoopIter, 1, id)
		}
		c.add(t.CompleteSchedulerWorkerID, CoreComplete, t.CompleteStart, t.CompleteEnd, t.CompleteLoopIter, 1, id)
		c.add(t.RefillSchedulerWorkerID, CoreRefill, t.RefillStart, t.RefillEnd, t.RefillLoopIter, 1, t.RefillTaskID)
		c.add(k.SchedulerWorkerID, CoreResolve, k.CompletionResolveStart, k.CompletionResolveEnd, k.CompletionResolveLoopIter, 1, id)
	}
	if c.err != nil {
		return c.err
	}
	var streams []CoreStream
	for _, stream := range c.streams {
		if stream != nil {
			streams = append(streams, *stream)
		}
	}
	return s.SetSchedulerRecords(streams)
}

// streamCollector sorts records into the streams of workers, until one is of none.
type streamCollector struct {
	*schedulerState
	streams [abi.WorkerCapacity]*CoreStream
	err     error
}

// of is the stream of a worker, nil if that schedules nothing.
func (c *streamCollector) of(worker uint64) *CoreStream {
	if worker >= abi.WorkerCapacity {
		c.fail("a record of the Scheduler worker %d; expected fewer than %d", worker, abi.WorkerCapacity)
		return nil
	}
	if c.streams[worker] == nil {
		k := &c.contexts[worker]
		if k.SchedulerIndex >= abi.SchedulerCapacity {
			c.fail("worker %d has the Scheduler index %d; expected fewer than %d", worker, k.SchedulerIndex, abi.SchedulerCapacity)
			return nil
		}
		c.streams[worker] = &CoreStream{Scheduler: uint32(k.SchedulerIndex), Worker: uint32(worker), PhysicalCore: k.PhysicalCoreID}
	}
	return c.streams[worker]
}

func (c *streamCollector) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// add adds a record to the stream of a worker, unless it did not happen.
func (c *streamCollector) add(worker uint64, kind CorePhaseKind, start, end, loop, tasks, task uint64) {
	if start == 0 || end < start || c.err != nil {
		return
	}
	stream := c.of(worker)
	if stream == nil {
		return
	}
	p := &stream.Phases
	p.Start, p.End, p.Loop = append(p.Start, start), append(p.End, end), append(p.Loop, loop)
	p.Kind, p.Tasks, p.Task = append(p.Kind, kind), append(p.Tasks, tasks), append(p.Task, task)
}
