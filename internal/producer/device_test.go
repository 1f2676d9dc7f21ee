package producer_test

import (
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

func TestAttachDisabled(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.OrchPhases, 1<<20)
	h.cfg.Enable = 1 | 4 | 8 | 16 // everything but the swimlane
	if d, err := producer.Attach(h.cfg); d != nil || err != nil {
		t.Errorf("without its bit: device %v, error %v", d, err)
	}
	h.cfg.Enable = 2
	*h.mem.U32(h.region.Level) = 0
	if d, err := producer.Attach(h.cfg); d != nil || err != nil {
		t.Errorf("level 0: device %v, error %v", d, err)
	}
	// The level is read at each launch.
	*h.mem.U32(h.region.Level) = 1
	if d := h.attach(); d.Level() != 1 {
		t.Errorf("level %d, want 1", d.Level())
	}
	for name, spoil := range map[string]func(c *producer.Config){
		"no region":          func(c *producer.Config) { c.RegionAddr = 0 },
		"region outside":     func(c *producer.Config) { c.RegionAddr = devBase + 1<<20 },
		"region not aligned": func(c *producer.Config) { c.RegionAddr = devBase + 8 },
		"table outside":      func(c *producer.Config) { c.RotationTable = 64 },
		"no cores":           func(c *producer.Config) { c.Cores = 0 },
		"too many cores":     func(c *producer.Config) { c.Cores = 2 },
		"level 5":            func(*producer.Config) { *h.mem.U32(h.region.Level) = 5 },
	} {
		c := h.cfg
		spoil(&c)
		if d, err := producer.Attach(c); d != nil || err == nil {
			t.Errorf("%s: device %v, error %v", name, d, err)
		}
	}
}

// TestNilWriters: a run without capture calls everything all the same.
func TestNilWriters(t *testing.T) {
	var d *producer.Device
	if d.Level() != abi.Disabled || d.Startup() != nil || d.InitPhases(3, 1) != nil || d.PublishCores([]int8{0}) != nil {
		t.Error("no device does something")
	}
	d.AnnounceOrchestrator(0)
	thread, core := d.Thread(0), d.Core(0)
	thread.Dispatch(0, 1)
	thread.Ack(0, 1)
	thread.Task(0, 1, 2, 3)
	thread.SchedPhase(&abi.SchedPhase{})
	thread.OrchPhase(&abi.OrchPhase{})
	thread.Flush([]int{0}, func(int) { t.Error("waits for a core") })
	thread.FlushOrch()
	core.Reserve()
	core.Commit(1, 2, 3, 4, 5)
	if n, err := thread.Faults(); thread.Level() != abi.Disabled || n != 0 || err != nil || thread.Stalls().Count != 0 {
		t.Error("no thread has done something")
	}
	if d.Stalls().Count != 0 {
		t.Error("a thread of no device has waited")
	}
	if n, err := core.Faults(); n != 0 || err != nil || core.Lost() != 0 {
		t.Error("no core has done something")
	}
	poll := producer.NewAsyncPoll(thread, func() [3]int16 { t.Error("samples"); return [3]int16{} })
	poll.Poll(1, 2, 3, 4, true)
	poll.Flush(1, 5)
	var g *producer.DepGen
	g.Announce(0)
	g.Submit(&producer.Submit{})
	g.Flush()
	if n, err := g.Faults(); n != 0 || err != nil || g.Startup() != nil || g.Stalls().Count != 0 {
		t.Error("no dep_gen writer has done something")
	}
}

// TestAttach looks at what a leader leaves behind (spec/collector.md §2.2).
func TestAttach(t *testing.T) {
	h := newHost(t, abi.A5, 3, abi.TaskTiming, 2<<20)
	var tasks, kernels []uint64
	for i := range 3 {
		tasks = append(tasks, h.give(abi.KindAicpuTask, i, 4)[0])
		kernels = append(kernels, h.give(abi.KindAicoreTask, i, 4)[0])
		*h.mem.U32(kernels[i] - devBase + 32768) = 77 // counts of an earlier life
		*h.mem.U32(tasks[i] - devBase + 32000) = 77
	}
	d := h.attach()
	if d.Startup() != nil {
		t.Errorf("startup: %v", d.Startup())
	}
	for i := range 3 {
		// aicore_task_pool(i) of a5 with 3 cores (spec/device-abi.md §8).
		if got, want := h.mem.Word64(h.cfg.RotationTable-devBase+8*uint64(i)).Load(), uint64(devBase+233728+192*i); got != want {
			t.Errorf("entry %d of the rotation table is %#x, want %#x", i, got, want)
		}
		h.wantPool(abi.KindAicpuTask, i, tasks[i], 0, 0, 0)
		h.wantPool(abi.KindAicoreTask, i, kernels[i], 0, 0, 0)
		if h.count(abi.KindAicpuTask, tasks[i]) != 0 || h.count(abi.KindAicoreTask, kernels[i]) != 0 {
			t.Errorf("the first buffers of core %d are not emptied", i)
		}
		if got := h.pool(abi.KindAicoreTask, i).Free.Head.Load(); got != 1 {
			t.Errorf("free head of core %d is %d, want 1", i, got)
		}
	}
	h.cfg.RotationTable = 0 // no table: the AICPU's part goes on
	if d := h.attach(); d.Thread(0) == nil || d.Core(0) != nil {
		t.Error("without a rotation table: want threads and no cores")
	}
}

func TestStartupNamesWhatIsMissing(t *testing.T) {
	h := newHost(t, abi.A2A3, 2, abi.TaskTiming, 1<<20)
	h.give(abi.KindAicpuTask, 0, 1)
	h.give(abi.KindAicpuTask, 1, 1)
	h.give(abi.KindAicoreTask, 0, 1)
	err := h.attach().Startup()
	if err == nil || !strings.Contains(err.Error(), "AicoreTask pool 1") || strings.Contains(err.Error(), "pool 0") {
		t.Errorf("startup error %v, want one about AicoreTask pool 1 only", err)
	}
}

// TestAttachResets: nothing of a run is left in the next.
func TestAttachResets(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	h.give(abi.KindAicoreTask, 0, 3)
	first := h.attach()
	play(first.Thread(0), first.Core(0), 1, 1030, func(uint32) bool { return true })
	h.pool(abi.KindAicoreTask, 0).Head.TotalRecordCount = 0 // the host's part
	next := h.give(abi.KindAicoreTask, 0, 1)[0]
	h.pool(abi.KindAicoreTask, 0).Free.Head.Store(3)
	second := h.attach()
	play(second.Thread(0), second.Core(0), 1, 1024, nil)
	h.wantPool(abi.KindAicoreTask, 0, next, 0, 1024, 0)
	h.wantNoEntry(0) // no stash, no count of the first run
	h.wantTokens(next, 1)
}

func TestInitPhases(t *testing.T) {
	h := newHost(t, abi.A2A3, 2, abi.OrchPhases, 8<<20)
	sched := append(h.give(abi.KindSchedPhase, 0, 1), h.give(abi.KindSchedPhase, 1, 1)...)
	orch := h.give(abi.KindOrchPhase, 0, 1)[0]
	d := h.attach()
	*h.mem.U32(127024) = 9
	if err := d.InitPhases(2, 1); err != nil {
		t.Fatal(err)
	}
	// Offsets of spec/device-abi.md §7.
	if s, o, n := *h.mem.U32(127016), *h.mem.U32(127020), *h.mem.U32(127024); s != 2 || o != 1 || n != 0 {
		t.Errorf("header says %d scheduler threads, %d orchestrators, %d cores, want 2, 1, 0", s, o, n)
	}
	for i := range uint64(72) {
		if h.mem[127028+i] != 0xFF {
			t.Fatalf("core %d has thread %d, want -1", i, int8(h.mem[127028+i]))
		}
	}
	h.wantPool(abi.KindSchedPhase, 0, sched[0], 0, 0, 0)
	h.wantPool(abi.KindSchedPhase, 1, sched[1], 0, 0, 0)
	h.wantPool(abi.KindOrchPhase, 0, orch, 0, 0, 0)
	if err := d.PublishCores([]int8{1, -1}); err != nil {
		t.Fatal(err)
	}
	if n := *h.mem.U32(127024); n != 2 || h.mem[127028] != 1 || h.mem[127029] != 0xFF {
		t.Errorf("%d cores on threads %d and %d, want 2 on 1 and -1", n, h.mem[127028], int8(h.mem[127029]))
	}
	if d.InitPhases(5, 0) == nil || d.InitPhases(-1, 0) == nil || d.InitPhases(1, 2) == nil || d.PublishCores(make([]int8, 73)) == nil {
		t.Error("numbers that cannot be are taken")
	}
	if *h.mem.U32(127016) != 2 {
		t.Error("a refused InitPhases changed the header")
	}

	// Only announced orchestrators record, only threads that were counted do.
	d.Thread(3).OrchPhase(&abi.OrchPhase{})
	d.Thread(2).SchedPhase(&abi.SchedPhase{})
	h.wantPool(abi.KindOrchPhase, 0, orch, 0, 0, 0)
	h.wantPool(abi.KindSchedPhase, 2, 0, 0, 0, 0)
	d.AnnounceOrchestrator(3)
	d.Thread(3).OrchPhase(&abi.OrchPhase{})
	h.wantPool(abi.KindOrchPhase, 0, orch, 0, 1, 0)
}

// TestLevels: what each level records, and that a record of a kind makes one.
func TestLevels(t *testing.T) {
	for level, want := range map[abi.Level]map[abi.Kind]uint32{
		1: {abi.KindAicoreTask: 1},
		2: {abi.KindAicoreTask: 1, abi.KindAicpuTask: 1},
		3: {abi.KindAicoreTask: 1, abi.KindAicpuTask: 1, abi.KindSchedPhase: 1},
		4: {abi.KindAicoreTask: 1, abi.KindAicpuTask: 1, abi.KindSchedPhase: 1, abi.KindOrchPhase: 1},
	} {
		h := newHost(t, abi.A5, 1, level, 8<<20)
		for k := range abi.Kind(abi.Kinds) {
			h.give(k, 0, 1)
		}
		d := h.attach()
		if err := d.InitPhases(1, 1); err != nil {
			t.Fatal(err)
		}
		if err := d.PublishCores([]int8{0}); err != nil {
			t.Fatal(err)
		}
		d.AnnounceOrchestrator(0)
		thread, c := d.Thread(0), d.Core(0)
		play(thread, c, 1, 1, nil)
		thread.Task(0, 1, 10, 20)
		thread.SchedPhase(&abi.SchedPhase{})
		thread.OrchPhase(&abi.OrchPhase{})
		thread.Flush([]int{0}, nil)
		thread.FlushOrch()
		got := map[abi.Kind]uint32{}
		for {
			e, ok := h.take(0)
			if !ok {
				break
			}
			got[e.Kind]++
		}
		for k := range abi.Kind(abi.Kinds) {
			if total := h.pool(k, 0).Head.TotalRecordCount; got[k] != want[k] || total != want[k] {
				t.Errorf("level %d: %d buffers and %d records of %s, want %d", level, got[k], total, abi.Buffers[k].Name, want[k])
			}
		}
		wantCores := uint32(0)
		if level >= 3 {
			wantCores = 1
		}
		if n := *h.mem.U32(233016); n != wantCores {
			t.Errorf("level %d: %d cores published, want %d", level, n, wantCores)
		}
	}
}

// TestStallsOfAllThreads: a run reports what each of its threads has waited.
func TestStallsOfAllThreads(t *testing.T) {
	c := &clock{}
	h := newHost(t, abi.A2A3, 2, abi.ScheduleTiming, 1<<20)
	h.cfg.Waiting = c.waiting(abi.Block)
	d := h.attach() // without buffers
	h.bp().FqFreezeActive.Store(1)
	d.Thread(0).Task(0, 1, 2, 3)
	d.Thread(2).Task(1, 1, 2, 3)
	if s := d.Stalls(); s.Count != 2 || s.Total.Seconds() != 60 || len(s.Kept) != 2 || s.Kept[1].Cause != producer.FreeQueue {
		t.Errorf("stalls %+v, want two of 30 s each", s)
	}
}

// TestPhasesWithoutPreparation: a phase that cannot be recorded is a fault, so that
// a forgotten call shows; below the level of phases it is none.
func TestPhasesWithoutPreparation(t *testing.T) {
	for level, want := range map[abi.Level]uint64{abi.ScheduleTiming: 0, abi.SchedPhases: 1, abi.OrchPhases: 2} {
		h := newHost(t, abi.A2A3, 1, level, 8<<20)
		h.give(abi.KindAicpuTask, 0, 1)
		h.give(abi.KindAicoreTask, 0, 1)
		d := h.attach()
		d.Thread(1).SchedPhase(&abi.SchedPhase{})
		d.Thread(1).OrchPhase(&abi.OrchPhase{})
		n, err := d.Faults()
		if n != want || (err != nil) != (want > 0) {
			t.Errorf("level %d: %d faults (%v), want %d", level, n, err, want)
		}
	}
}

// TestDisabledAllocatesNothing: a run without capture costs its device no memory.
func TestDisabledAllocatesNothing(t *testing.T) {
	var d *producer.Device
	thread, core, phase := d.Thread(0), d.Core(0), abi.SchedPhase{}
	if n := testing.AllocsPerRun(100, func() {
		thread.Dispatch(0, 1)
		core.Reserve()
		thread.Ack(0, 1)
		core.Commit(1, 1, 1, 2, 3)
		thread.Task(0, 1, 2, 3)
		thread.SchedPhase(&phase)
	}); n != 0 {
		t.Errorf("%v allocations a task", n)
	}
}
