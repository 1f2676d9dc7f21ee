package hbg_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// TestFullActivityBuffer: a scheduler that has no room for an idle record counts it.
func TestFullActivityBuffer(t *testing.T) {
	b := newAicoreBench(t, 1, abi.SchedPhases)
	tasks := []*hbg.Task{b.task(on(abi.AIC, 300))}
	for i := range 1199 {
		tasks = append(tasks, b.task(on(abi.AIC, 300), i))
	}
	b.run(graphOf(tasks...))
	a := of[abi.ActivityBuffer](b, abi.ActivityBuffers, 0)
	idle := of[abi.WorkerContext](b, abi.WorkerContexts, 1).IdleIterationCount
	if a.Committed != 1024 || a.Dropped == 0 || uint64(a.Committed+a.Dropped) != idle || idle < 1200 {
		t.Errorf("%d idle records are committed and %d dropped, of %d", a.Committed, a.Dropped, idle)
	}
	s := b.records.Schedulers.Streams[0]
	if n := b.records.kinds(); n["idle"] != 1024 || n["complete"] != 1200 {
		t.Errorf("records are %v", n)
	}
	if want := fmt.Sprintf("map[committed:%d dropped:%d truncated:true]", len(s.Records), a.Dropped); fmt.Sprint(s.Capture) != want {
		t.Errorf("capture is %v, want %s", s.Capture, want)
	}
	b.read("")
}

// TestWholeChip: 36 clusters, more tasks than cores.
func TestWholeChip(t *testing.T) {
	b := newAicoreBench(t, 36, abi.SchedPhases)
	b.threads = 5
	m := random(b, rand.New(rand.NewPCG(36, 1)), 600)
	b.run(m.graph)
	m.check(b)
	checkAicore(b, m)
	b.read(m.deps())
	last := b.records.Schedulers.Streams[len(b.records.Schedulers.Streams)-1]
	if len(b.records.Schedulers.Streams) != 36 || last.Scheduler != 35 || last.Worker != 106 || last.Physical != 106 {
		t.Errorf("%d streams, the last one of scheduler %d on core %d, physically %d", len(b.records.Schedulers.Streams), last.Scheduler, last.Worker, last.Physical)
	}
}

// TestNothingToDo: a graph without tasks, and one of allocations only.
func TestNothingToDo(t *testing.T) {
	for _, n := range []int{0, 5} {
		b := newAicoreBench(t, 2, abi.SchedPhases)
		var tasks []*hbg.Task
		for range n {
			tasks = append(tasks, &hbg.Task{Spec: &sim.Task{}, Alloc: true})
		}
		b.run(graphOf(tasks...))
		if got := b.records.kinds(); got["bootstrap"] != 2 || len(got) > 1 || len(b.records.Kernels) != 0 || len(b.records.Lifecycle) != 3 {
			t.Errorf("%d allocations: records are %v", n, got)
		}
		b.read("")
	}
}

// TestBlockAfterTheRun: what host and schedulers leave in the block, beside times.
func TestBlockAfterTheRun(t *testing.T) {
	b := newAicoreBench(t, 2, abi.Disabled)
	mix := &sim.Task{Kernels: [3]*sim.Kernel{kernel(7, abi.AIC, 10), kernel(8, abi.AIV, 10), kernel(9, abi.AIV, 10)}, Blocks: 2, SyncStart: true, Slot: 3}
	skipped := on(abi.AIV, 10)
	skipped.Predicate = func() bool { return false }
	graph := b.task(&sim.Task{}, 0)
	graph.Nodes = []*hbg.Task{b.task(&sim.Task{Kernels: [3]*sim.Kernel{kernel(7, abi.AIC, 10)}, Blocks: 5})}
	b.run(graphOf(&hbg.Task{Spec: &sim.Task{}, Alloc: true}, b.task(mix, 0), b.task(skipped, 1), b.task(&sim.Task{}, 1, 2), graph))
	for i, want := range []abi.TaskMetadata{
		{Flags: abi.TaskInline, TimingSlot: -1},
		{KernelIDs: [3]uint16{7, 8, 9}, ActiveMask: 7, Flags: abi.TaskExecutable | abi.TaskHasFanin | abi.TaskMIX | abi.TaskSPMD | abi.TaskSyncStart, BlockNum: 2, RequiredSubtasks: 6, TimingSlot: 2},
		{KernelIDs: [3]uint16{0, 1}, ActiveMask: 2, Flags: abi.TaskExecutable | abi.TaskHasFanin | abi.TaskPredicate, BlockNum: 1, RequiredSubtasks: 1, TimingSlot: -1},
		{Flags: abi.TaskInline | abi.TaskHasFanin, TimingSlot: -1},
		{Flags: abi.TaskInline | abi.TaskHasFanin, TimingSlot: -1},
		{KernelIDs: [3]uint16{7}, ActiveMask: 1, Flags: abi.TaskExecutable | abi.TaskHasFanin | abi.TaskSPMD, BlockNum: 5, RequiredSubtasks: 5, TimingSlot: -1},
	} {
		if got := *of[abi.TaskMetadata](b, abi.TaskMetadatas, i); got != want {
			t.Errorf("task %d is %+v, want %+v", i, got, want)
		}
		c := of[abi.TaskControl](b, abi.TaskControls, i)
		if c.State != abi.TaskDone || c.WakeListHead != abi.WakeListClosed || c.NextWaiter != -1 || c.WaitingProducer != -1 {
			t.Errorf("task %d is left as %+v", i, *c)
		}
		if got := *of[abi.TaskTrace](b, abi.TaskTraces, i); got != (abi.TaskTrace{}) {
			t.Errorf("task %d has a trace at level 0: %+v", i, got)
		}
	}
	c := of[abi.RunControl](b, abi.RunControls, 0)
	if got, want := [...]uint64{c.AicTaskCount, c.AivTaskCount, c.ActiveWorkerCount, c.SchedulerCount, c.ExpectedTaskCount, c.ResolvedTaskCount, c.ExecutedTaskCount,
		c.InlineCompletedCount, c.BootstrapArrivedCount, c.BootstrapComplete, c.ChipSwimlaneLevel, c.ErrorClaimed},
		[...]uint64{2, 2, 6, 2, 5, 5, 2, 3, 2, 1, 0, 0}; got != want {
		t.Errorf("the run counted %v, want %v", got, want)
	}
	for w, want := range []struct {
		kind               abi.CoreType
		physical, rank     int32
		cluster, scheduler uint64
		is                 uint64
	}{{abi.AIC, 0, 0, 0, 2, 0}, {abi.AIC, 1, 1, 1, 4, 0}, {abi.AIV, 36, 0, 0, 2, 1}, {abi.AIV, 37, 1, 0, 2, 0}, {abi.AIV, 38, 2, 1, 4, 1}, {abi.AIV, 39, 3, 1, 4, 0}} {
		k := of[abi.WorkerContext](b, abi.WorkerContexts, w)
		if k.CoreType != want.kind || k.PhysicalCoreID != want.physical || k.TypeRank != want.rank || k.ClusterIndex != want.cluster || k.SchedulerWorkerID != want.scheduler ||
			k.IsScheduler != want.is || (k.SchedulerIndex == want.cluster) != (want.is == 1) || k.ClusterWorkerIDs != [3]uint64{want.cluster, want.scheduler, want.scheduler + 1} {
			t.Errorf("worker %d is %+v, want %+v", w, *k, want)
		}
		for slot := range abi.PendingSlots {
			if s := of[abi.DispatchSlot](b, abi.DispatchSlots, w*abi.PendingSlots+slot); s.TaskID != abi.EmptySlot || s.Generation > 0 && s.Publication&0xFF != abi.PublicationFree {
				t.Errorf("slot %d of worker %d is left as %+v", slot, w, *s)
			}
		}
	}
	if k := of[abi.WorkerContext](b, abi.WorkerContexts, 6); k.Active != 0 || k.PhysicalCoreID != -1 || k.SchedulerIndex != abi.NoIndex {
		t.Errorf("worker 6, which there is not, is %+v", *k)
	}
}

// TestFailedRun: the error of a kernel names who ran it, and what was recorded by then
// is there.
func TestFailedRun(t *testing.T) {
	for _, core := range []abi.CoreType{abi.AIC, abi.AIV} {
		b := newAicoreBench(t, 2, abi.SchedPhases)
		bad := on(core, 1)
		bad.Kernels[core].Run = func(*sim.Call) uint64 { panic("out of cheese") }
		err := b.tryRun(graphOf(b.task(on(abi.AIC, 100)), b.task(on(abi.AIV, 100), 0), b.task(bad, 1), b.task(on(abi.AIV, 100), 2)))
		if err == nil || !strings.Contains(err.Error(), "AICore scheduler") || !strings.Contains(err.Error(), "out of cheese") {
			t.Errorf("the run ended with %v", err)
		}
		if b.report != nil || of[abi.RunControl](b, abi.RunControls, 0).ErrorClaimed != 1 {
			t.Error("the run reports as if it had not failed")
		}
		if len(b.records.Kernels) != 2 || len(b.records.Timings.Records) != 2 || b.records.kinds()["resolve"] != 2 {
			t.Errorf("rows are %v", b.records.Kernels)
		}
		b.read("")
	}
}

// TestRefusedGraphs: what AICore schedulers cannot run is an error that says why.
func TestRefusedGraphs(t *testing.T) {
	b := newAicoreBench(t, 2, abi.TaskTiming)
	waits, large, huge := on(abi.AIC, 1), on(abi.AIC, 1), on(abi.AIC, 1)
	waits.Wait, large.Blocks, huge.Kernels[0].ID = 5, 65536, 1024
	inner := b.task(&sim.Task{})
	inner.Nodes = []*hbg.Task{b.task(on(abi.AIC, 1))}
	outer := b.task(&sim.Task{})
	outer.Nodes = []*hbg.Task{inner}
	late := b.task(&sim.Task{})
	late.Nodes = []*hbg.Task{b.task(on(abi.AIC, 1), 1), b.task(on(abi.AIC, 1))}
	for want, g := range map[string]*hbg.Graph{
		"task 0x0 waits for 5 cycles beside its kernels: expected none":                      graphOf(b.task(waits)),
		"task 0x0 has 65536 subtasks: expected at most 65535":                                graphOf(b.task(large)),
		"task 0x0 has kernel k with the id 1024: expected 0 to 1023":                         graphOf(b.task(huge)),
		"task 0x1, at 1 of its list, waits for the one at 1: expected one before it":         graphOf(b.task(&sim.Task{}), b.task(&sim.Task{}, 1)),
		"task 0x0, at 0 of its list, waits for the one at -1: expected one before it":        graphOf(b.task(&sim.Task{}, -1)),
		"node 0 of graph task 0x1 is a graph task itself":                                    graphOf(b.task(&sim.Task{}), outer),
		"task 0x100000000, at 0 of its list, waits for the one at 1: expected one before it": graphOf(late),
	} {
		if err := b.tryRun(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}

// TestRefusedRuns: so are chips, threads and places of the block.
func TestRefusedRuns(t *testing.T) {
	b := newAicoreBench(t, 2, abi.TaskTiming)
	g := graphOf(b.task(on(abi.AIC, 1)))
	for want, change := range map[string]func(*hbg.AicoreConfig){
		"AICores of a2a3 do not schedule: expected a5": func(c *hbg.AicoreConfig) {
			costs := sim.A2A3Costs
			c.Chip, _ = sim.NewChip(abi.A2A3, 2, &costs)
		},
		"a run with 1 AICPU threads cannot be: expected 2 to 5":                           func(c *hbg.AicoreConfig) { c.Threads = 1 },
		"a run with 6 AICPU threads cannot be: expected 2 to 5":                           func(c *hbg.AicoreConfig) { c.Threads = 6 },
		"the scheduler state cannot begin at address 0x100000040: expected a multiple":    func(c *hbg.AicoreConfig) { c.State = aicoreMemory + 64 },
		"the scheduler state: 230912 bytes at device address 0x107ffff00 are outside the": func(c *hbg.AicoreConfig) { c.State = aicoreMemory + aicoreMemorySize - 256 },
		"capture level 5 is unknown":                                                      func(c *hbg.AicoreConfig) { c.Level = 5 },
	} {
		chip, err := sim.NewChip(abi.A5, 2, &b.costs)
		if err != nil {
			t.Fatal(err)
		}
		c := hbg.AicoreConfig{Chip: chip, Threads: 3, Space: b.memory.Space(), State: aicoreMemory, Level: b.level}
		change(&c)
		if _, err := hbg.RunAicore(c, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}

// TestProgressOfAicores: progress is told on the way.
func TestProgressOfAicores(t *testing.T) {
	b := newAicoreBench(t, 1, abi.Disabled)
	var told [][2]int
	b.progress = func(tasks, completed int) { told = append(told, [2]int{tasks, completed}) }
	tasks := []*hbg.Task{}
	for range 600 {
		tasks = append(tasks, b.task(on(abi.AIC, 1)))
	}
	b.run(graphOf(tasks...))
	if fmt.Sprint(told) != "[[600 256] [600 512]]" || b.report.Wall.End < b.report.End || b.report.Start >= b.report.End {
		t.Errorf("told %v, report %+v", told, *b.report)
	}
}
