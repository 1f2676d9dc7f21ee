package collector_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/parity"
	"swimlane/internal/transport"
)

// coreState is a scheduler-state block that a test fills as a device does.
type coreState struct {
	t      testing.TB
	layout *abi.SchedulerState
	mem    abi.Mem
}

func newCoreState(t testing.TB, tasks int, level abi.Level) *coreState {
	t.Helper()
	layout, err := abi.NewSchedulerState(tasks, level, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &coreState{t, layout, abi.NewMem(int(layout.Size))}
	layout.Init(s.mem)
	return s
}

func (s *coreState) trace(i int) *abi.TaskTrace {
	return abi.View[abi.TaskTrace](s.mem, s.layout.Of(abi.TaskTraces, i))
}

func (s *coreState) control(i int) *abi.TaskControl {
	return abi.View[abi.TaskControl](s.mem, s.layout.Of(abi.TaskControls, i))
}

func (s *coreState) context(i int) *abi.WorkerContext {
	return abi.View[abi.WorkerContext](s.mem, s.layout.Of(abi.WorkerContexts, i))
}

func (s *coreState) activity(i int) *abi.ActivityBuffer {
	return abi.View[abi.ActivityBuffer](s.mem, s.layout.Of(abi.ActivityBuffers, i))
}

// sections makes the sections of a capture, and tells what the host said.
func (s *coreState) sections(c *collector.Capture) (said []string) {
	for _, n := range c.Sections.SetSchedulerState(s.layout, s.mem, c.Level) {
		if n.Severity != collector.Warning {
			s.t.Errorf("%v: %s: want a warning", n.Severity, n.Text)
		}
		said = append(said, n.Text)
	}
	return said
}

// coreFile is what the sections of spec/collector.md §7.6 hold.
type coreFile struct {
	Level    abi.Level `json:"chip_swimlane_level"`
	Metadata struct {
		CoreTypes []string `json:"core_types"`
	} `json:"metadata"`
	Kernels [][6]uint64 `json:"aicore_tasks"`
	Timings struct {
		Records [][4]uint64 `json:"records"`
	} `json:"scheduler_tasks"`
	Schedulers struct {
		Streams []struct {
			Scheduler uint64 `json:"scheduler_id"`
			Worker    uint64 `json:"worker_id"`
			Physical  int32  `json:"physical_core_id"`
			Records   []struct {
				Start uint64 `json:"start_cycles"`
				End   uint64 `json:"end_cycles"`
				Loop  uint64 `json:"loop_iter"`
				Kind  string `json:"kind"`
				Tasks uint64 `json:"tasks_processed"`
				Task  *int   `json:"task_id"`
			} `json:"records"`
		} `json:"streams"`
	} `json:"scheduler_records"`
	Lifecycle []map[string]uint64 `json:"aicpu_lifecycle_records"`
}

// device writes what a capture holds into a block, as the schedulers of
// spec/collector.md §14 would have left it.
func (f *coreFile) device(s *coreState) {
	for i, k := range f.Kernels {
		tr := s.trace(int(k[1]))
		tr.Valid, tr.WorkerID, tr.TaskID = 1, k[0], k[1]
		tr.KernelStart, tr.KernelEnd, tr.ReadyObserve = k[3], k[4], k[3]-k[5]
		if f.Level >= abi.ScheduleTiming {
			tr.DispatchEnd, tr.CompleteStart = f.Timings.Records[i][2], f.Timings.Records[i][3]
		}
	}
	for i, l := range f.Lifecycle {
		at := func(key string) uint64 { return l[key+"_cycles"] }
		*abi.View[abi.AicpuThreadLifecycleTrace](s.mem, s.layout.Of(abi.LifecycleTraces, i)) = abi.AicpuThreadLifecycleTrace{
			AicpuThreadID: l["aicpu_thread_id"], HandshakeStart: at("handshake_start"), HandshakeComplete: at("handshake_complete"),
			ConfigStart: at("config_start"), TopologyComplete: at("topology_complete"),
			ContextPublishStart: at("context_publish_start"), ContextPublishComplete: at("context_publish_complete"),
			BootstrapWaitStart: at("bootstrap_wait_start"), BootstrapComplete: at("bootstrap_complete"),
			RegisterReleaseStart: at("register_release_start"), RegisterReleaseEnd: at("register_release_end"),
			ExitSignalStart: at("exit_signal_start"), ExitSignalEnd: at("exit_signal_end"), ExitWaitStart: at("exit_wait_start"), ExitWaitEnd: at("exit_wait_end"),
		}
	}
	for _, stream := range f.Schedulers.Streams {
		w := s.context(int(stream.Worker))
		w.IsScheduler, w.SchedulerIndex, w.PhysicalCoreID = 1, stream.Scheduler, stream.Physical
		completed := -1 // the task completed last, whose slot a refill fills
		for _, r := range stream.Records {
			switch r.Kind {
			case "bootstrap":
				w.BootstrapStartCycles, w.TargetBootstrapEnd, w.BootstrapTaskCount = r.Start, r.End, r.Tasks
			case "idle":
				a := s.activity(int(stream.Scheduler))
				a.Records[a.Committed] = abi.ActivityRecord{Start: r.Start, End: r.End, LoopIter: uint32(r.Loop)}
				a.Committed++
			case "state_probe":
				tr := s.trace(*r.Task)
				tr.StateProbeSchedulerWorkerID, tr.StateProbeStart, tr.StateProbeEnd, tr.DispatchLoopIter = stream.Worker, r.Start, r.End, r.Loop
			case "dispatch", "worksteal":
				tr := s.trace(*r.Task)
				tr.DispatchSchedulerWorkerID, tr.DispatchStart, tr.DispatchEnd = stream.Worker, r.Start, r.End
				if r.Kind == "worksteal" {
					tr.ReadySource = 1
				}
			case "refill":
				s.trace(*r.Task).PublicationMode = 1
				tr := s.trace(completed)
				tr.RefillSchedulerWorkerID, tr.RefillStart, tr.RefillEnd, tr.RefillTaskID, tr.RefillLoopIter = stream.Worker, r.Start, r.End, uint64(*r.Task), r.Loop
			case "complete":
				completed = *r.Task
				tr := s.trace(completed)
				tr.CompleteSchedulerWorkerID, tr.CompleteStart, tr.CompleteEnd, tr.CompleteLoopIter = stream.Worker, r.Start, r.End, r.Loop
			case "resolve":
				k := s.control(*r.Task)
				k.SchedulerWorkerID, k.CompletionResolveStart, k.CompletionResolveEnd, k.CompletionResolveLoopIter = stream.Worker, r.Start, r.End, r.Loop
			}
		}
	}
}

// TestSchedulerStateOfCaptures: a block that says what a reference capture shows
// becomes that capture, byte for byte.
func TestSchedulerStateOfCaptures(t *testing.T) {
	for _, name := range []string{"tiny_l1", "tiny_l2", "tiny_l3", "medium_l3"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(parity.Shared(t), "captures", "gs_a5_hbg_aicore_"+name, collector.RecordsFile))
			if err != nil {
				t.Fatal(err)
			}
			var f coreFile
			if err := json.Unmarshal(want, &f); err != nil {
				t.Fatal(err)
			}
			s := newCoreState(t, len(f.Kernels), f.Level)
			f.device(s)
			c := collector.NewCapture(abi.A5, f.Level, len(f.Metadata.CoreTypes), nil, make([]uint32, len(f.Metadata.CoreTypes)))
			c.Runtime, c.CoreTypes, c.Strict = "host_build_graph", abi.CoreTypes(len(f.Metadata.CoreTypes)/3), true
			if said := s.sections(c); said != nil {
				t.Errorf("the host says %q", said)
			}
			equalText(t, "file", text(t, c), string(want))
		})
	}
}

// oneTask is a block with one task that worker 4 ran and scheduler 1 on worker 4 scheduled.
func oneTask(t testing.TB) *coreState {
	s := newCoreState(t, 2, abi.SchedPhases)
	w := s.context(4)
	w.IsScheduler, w.SchedulerIndex, w.PhysicalCoreID, w.BootstrapStartCycles, w.TargetBootstrapEnd, w.BootstrapTaskCount = 1, 1, 54, 800, 850, 1
	tr := s.trace(1)
	*tr = abi.TaskTrace{
		Valid: 1, WorkerID: 4, TaskID: 1, KernelStart: 1000, KernelEnd: 1500, ReadyObserve: 980,
		StateProbeSchedulerWorkerID: 4, StateProbeStart: 900, StateProbeEnd: 910,
		DispatchSchedulerWorkerID: 4, DispatchStart: 920, DispatchEnd: 960, DispatchLoopIter: 3,
		CompleteSchedulerWorkerID: 4, CompleteStart: 1510, CompleteEnd: 1520, CompleteLoopIter: 7,
	}
	k := s.control(1)
	k.SchedulerWorkerID, k.CompletionResolveStart, k.CompletionResolveEnd, k.CompletionResolveLoopIter = 4, 1530, 1540, 7
	a := s.activity(1)
	a.Committed, a.Records[0] = 1, abi.ActivityRecord{Start: 960, End: 1505, LoopIter: 4}
	*abi.View[abi.AicpuThreadLifecycleTrace](s.mem, s.layout.Of(abi.LifecycleTraces, 2)) = abi.AicpuThreadLifecycleTrace{AicpuThreadID: 2, HandshakeStart: 5}
	return s
}

// TestSchedulerStateRules: the row filter, the steps that did not happen, and what ends
// the making of sections (spec/collector.md §7.6).
func TestSchedulerStateRules(t *testing.T) {
	const row, timing, life, all = "[4, 1, 1, 1000, 1500, 20]", "[4, 1, 960, 1510]", `"handshake_start_cycles": 5,`, `"kind": "resolve"`
	for name, v := range map[string]struct {
		change func(*coreState)
		said   string
		has    []string
		lacks  []string
	}{
		"whole":                     {nil, "", []string{row, timing, life, all, `"aicpu_thread_id": 2`, `"committed": 6, "dropped": 0`, `"physical_core_id": 54`}, nil},
		"not valid":                 {func(s *coreState) { s.trace(1).Valid = 0 }, "", []string{`"aicore_tasks": []`, all}, []string{row, timing}},
		"no kernel":                 {func(s *coreState) { s.trace(1).KernelStart = 0 }, "", []string{all}, []string{row, timing}},
		"kernel ends before":        {func(s *coreState) { s.trace(1).KernelEnd = 999 }, "", []string{all}, []string{row, timing}},
		"kernel of no time":         {func(s *coreState) { s.trace(1).KernelEnd = 1000 }, "", []string{"[4, 1, 1, 1000, 1000, 20]", timing}, nil},
		"worker 107":                {func(s *coreState) { s.trace(1).WorkerID = 107 }, "", []string{"[107, 1, 1, 1000, 1500, 20]", "[107, 1, 960, 1510]"}, nil},
		"worker 108":                {func(s *coreState) { s.trace(1).WorkerID = 108 }, "", []string{all}, []string{row, timing, "108"}},
		"not observed":              {func(s *coreState) { s.trace(1).ReadyObserve = 0 }, "", []string{"[4, 1, 1, 1000, 1500, 0]"}, nil},
		"observed at the start":     {func(s *coreState) { s.trace(1).ReadyObserve = 1000 }, "", []string{"[4, 1, 1, 1000, 1500, 0]"}, nil},
		"observed behind it":        {func(s *coreState) { s.trace(1).ReadyObserve = 1001 }, "", []string{"[4, 1, 1, 1000, 1500, 0]"}, nil},
		"not dispatched":            {func(s *coreState) { s.trace(1).DispatchEnd = 0 }, "A5 HBG: incomplete Scheduler task timing for task id=1", []string{row}, []string{timing, life, all}},
		"complete before its end":   {func(s *coreState) { s.trace(1).CompleteStart = 1499 }, "A5 HBG: incomplete Scheduler task timing for task id=1", []string{row}, []string{timing, life, all}},
		"complete at its end":       {func(s *coreState) { s.trace(1).CompleteStart = 1500 }, "", []string{row, "[4, 1, 960, 1500]", life, all}, nil},
		"no probe":                  {func(s *coreState) { s.trace(1).StateProbeStart = 0 }, "", []string{all}, []string{"state_probe"}},
		"resolve ends before":       {func(s *coreState) { s.control(1).CompletionResolveEnd = 1529 }, "", []string{timing}, []string{all}},
		"resolve of no time":        {func(s *coreState) { s.control(1).CompletionResolveEnd = 1530 }, "", []string{`"start_cycles": 1530, "end_cycles": 1530, "loop_iter": 7, "kind": "resolve"`}, nil},
		"stolen":                    {func(s *coreState) { s.trace(1).ReadySource = 1 }, "", []string{`"loop_iter": 3, "kind": "worksteal"`}, []string{`"dispatch"`}},
		"refilled":                  {func(s *coreState) { s.trace(1).PublicationMode = 1 }, "", []string{timing, all}, []string{`"dispatch"`, `"worksteal"`}},
		"stolen and refilled":       {func(s *coreState) { s.trace(1).PublicationMode, s.trace(1).ReadySource = 1, 1 }, "", []string{timing, all}, []string{`"dispatch"`, `"worksteal"`}},
		"refills":                   {func(s *coreState) { refill(s.trace(0)) }, "", []string{`"start_cycles": 1550, "end_cycles": 1560, "loop_iter": 9, "kind": "refill", "tasks_processed": 1, "task_id": 1`}, nil},
		"scheduler 35":              {func(s *coreState) { s.context(4).SchedulerIndex = 35 }, "", []string{`"scheduler_id": 35`}, []string{`"idle"`}},
		"scheduler 36":              {func(s *coreState) { s.context(4).SchedulerIndex = 36 }, "worker 4 has the Scheduler index 36; expected fewer than 36", []string{row, timing, life}, []string{all}},
		"1024 idle":                 {func(s *coreState) { s.activity(1).Committed = 1024 }, "", []string{`"committed": 6, "dropped": 0`}, nil},
		"1025 idle":                 {func(s *coreState) { s.activity(1).Committed = 1025 }, "Scheduler 1 has committed 1025 idle records; expected at most 1024", []string{row, timing, life}, []string{all}},
		"idle records lost":         {func(s *coreState) { s.activity(1).Dropped = 3 }, "", []string{`"committed": 6, "dropped": 3, "truncated": true`}, nil},
		"a record of no scheduler":  {func(s *coreState) { s.trace(1).CompleteSchedulerWorkerID = 5 }, "worker 5 has the Scheduler index 18446744073709551615; expected fewer than 36", []string{timing, life}, []string{all}},
		"a record of no worker":     {func(s *coreState) { s.control(1).SchedulerWorkerID = 108 }, "a record of the Scheduler worker 108; expected fewer than 108", []string{timing, life}, []string{all}},
		"another scheduler's drops": {func(s *coreState) { drops(s) }, "", []string{`"scheduler_id": 0, "worker_id": 2, "core_type": "aiv", "physical_core_id": -1, "capture": {"committed": 0, "dropped": 2, "truncated": true}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := oneTask(t)
			if v.change != nil {
				v.change(s)
			}
			c := collector.NewCapture(abi.A5, abi.SchedPhases, 6, nil, make([]uint32, 6))
			c.Runtime = "host_build_graph"
			said := strings.Join(s.sections(c), "\n")
			if v.said == "" && said != "" || !strings.Contains(said, v.said) || strings.HasPrefix(v.said, "A5") && said != v.said {
				t.Errorf("the host says %q, want %q", said, v.said)
			}
			file := text(t, c)
			for _, part := range v.has {
				if !strings.Contains(file, part) {
					t.Errorf("%s is not in the file:\n%s", part, file)
				}
			}
			for _, part := range v.lacks {
				if strings.Contains(file, part) {
					t.Errorf("%s is in the file:\n%s", part, file)
				}
			}
		})
	}
}

func refill(tr *abi.TaskTrace) {
	tr.RefillSchedulerWorkerID, tr.RefillStart, tr.RefillEnd, tr.RefillTaskID, tr.RefillLoopIter = 4, 1550, 1560, 1, 9
}

func drops(s *coreState) {
	s.context(2).IsScheduler, s.context(2).SchedulerIndex = 1, 0
	s.activity(0).Dropped = 2
}

// TestSchedulerStateLevels: a level has the sections that it is for.
func TestSchedulerStateLevels(t *testing.T) {
	for level := abi.Disabled; level <= abi.OrchPhases; level++ {
		s := oneTask(t)
		var sections collector.Sections
		if said := sections.SetSchedulerState(s.layout, s.mem, level); said != nil {
			t.Errorf("level %d: the host says %v", level, said)
		}
		for _, v := range []struct {
			name string
			from abi.Level
			err  error
		}{
			{"aicore_tasks", 1, sections.SetAicoreTasks(collector.KernelColumns{})}, {"scheduler_tasks", 2, sections.SetSchedulerTasks(collector.TimingColumns{})},
			{"aicpu_lifecycle_records", 2, sections.SetLifecycle(nil)}, {"scheduler_records", 3, sections.SetSchedulerRecords(nil)},
		} {
			if set := v.err != nil; set != (level >= v.from) {
				t.Errorf("level %d: %s is set: %v", level, v.name, set)
			}
		}
	}
}

// TestSchedulerStateOfAnotherSize: a block that is none is a warning.
func TestSchedulerStateOfAnotherSize(t *testing.T) {
	s := oneTask(t)
	for _, v := range []struct {
		layout *abi.SchedulerState
		mem    abi.Mem
		want   string
	}{
		{s.layout, s.mem[:len(s.mem)-128], fmt.Sprintf("A5 HBG: the Scheduler state has %d bytes; expected %d", len(s.mem)-128, len(s.mem))},
		{newCoreState(t, 2, abi.ScheduleTiming).layout, newCoreState(t, 2, abi.ScheduleTiming).mem, "A5 HBG: the Scheduler state has no activity buffers; expected 36 at level 3"},
	} {
		var sections collector.Sections
		if said := sections.SetSchedulerState(v.layout, v.mem, abi.SchedPhases); len(said) != 1 || said[0].Text != v.want {
			t.Errorf("the host says %q, want %q", said, v.want)
		}
		if err := sections.SetAicoreTasks(collector.KernelColumns{}); err != nil {
			t.Errorf("a section is set: %v", err)
		}
	}
}

// TestSchedulerBlock: the block is zero, lies where the device wants it, and comes back
// whole, by whatever way the host reaches the memory.
func TestSchedulerBlock(t *testing.T) {
	for name, reach := range map[string]func(*transport.Device) collector.Memory{"mapped": transport.Mapped, "shadow": transport.Shadow} {
		t.Run(name, func(t *testing.T) {
			device, err := transport.New(0x1000_0040, 4<<20) // its first allocation is not on a multiple of 128
			if err != nil {
				t.Fatal(err)
			}
			defer device.Close()
			old, err := device.Space().At(0x1000_0040, 4<<20)
			if err != nil {
				t.Fatal(err)
			}
			for i := range old {
				old[i] = 0xA5 // of an earlier run
			}
			want := oneTask(t)
			block, err := collector.NewSchedulerBlock(reach(device), want.layout)
			if err != nil {
				t.Fatal(err)
			}
			mem, err := device.Space().At(block.Addr(), len(want.mem))
			if err != nil || block.Addr()%128 != 0 {
				t.Fatalf("the block is at %#x: %v", block.Addr(), err)
			}
			for i, v := range mem {
				if v != 0 {
					t.Fatalf("byte %d is %#x, want 0", i, v)
				}
			}
			copy(mem, want.mem)
			c := collector.NewCapture(abi.A5, abi.SchedPhases, 6, nil, make([]uint32, 6))
			if said := block.Sections(&c.Sections, c.Level); said != nil {
				t.Errorf("the host says %v", said)
			}
			direct := collector.NewCapture(abi.A5, abi.SchedPhases, 6, nil, make([]uint32, 6))
			want.sections(direct)
			equalText(t, "file", text(t, c), text(t, direct))
			if err := block.Free(); err != nil {
				t.Error(err)
			}
			if block.Free() != nil {
				t.Error("a block can be freed again")
			}
		})
	}
}

// TestSchedulerBlockFails: a device that gives no memory, and one that does not give the
// block back.
func TestSchedulerBlockFails(t *testing.T) {
	device, err := transport.New(0x1000_0000, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	broken := errors.New("the bus is broken")
	layout := newCoreState(t, 2, abi.SchedPhases).layout
	none := transport.Shadow(device)
	none.Alloc = func(int) (uint64, error) { return 0, broken }
	for _, m := range []collector.Memory{none, {}} {
		if _, err := collector.NewSchedulerBlock(m, layout); err == nil {
			t.Error("there is a block without memory")
		}
	}
	back := transport.Shadow(device)
	back.CopyFromDevice = func([]byte, uint64) error { return broken }
	block, err := collector.NewSchedulerBlock(back, layout)
	if err != nil {
		t.Fatal(err)
	}
	defer block.Free()
	var sections collector.Sections
	if said := block.Sections(&sections, abi.Disabled); said != nil {
		t.Errorf("level 0: the host says %v", said)
	}
	said := block.Sections(&sections, abi.SchedPhases)
	if len(said) != 1 || said[0].Severity != collector.Warning || said[0].Text != "A5 HBG: cannot copy the Scheduler state back: the bus is broken" {
		t.Errorf("the host says %v", said)
	}
	if err := sections.SetAicoreTasks(collector.KernelColumns{}); err != nil {
		t.Errorf("a section is set: %v", err)
	}
}

// TestSchedulerStateTwice: a section that is set already ends the making of others.
func TestSchedulerStateTwice(t *testing.T) {
	s := oneTask(t)
	var sections collector.Sections
	if err := sections.SetLifecycle(nil); err != nil {
		t.Fatal(err)
	}
	said := sections.SetSchedulerState(s.layout, s.mem, abi.SchedPhases)
	if len(said) != 1 || said[0].Text != "A5 HBG: section aicpu_lifecycle_records is set already; a runtime sets it once per run" {
		t.Errorf("the host says %v", said)
	}
	if err := sections.SetSchedulerTasks(collector.TimingColumns{}); err == nil {
		t.Error("the section before it is not set")
	}
	if err := sections.SetSchedulerRecords(nil); err != nil {
		t.Errorf("the section behind it is set: %v", err)
	}
}

// FuzzSchedulerState: whatever is in a block, the host ends with sections or warnings,
// and a file that can be written.
func FuzzSchedulerState(f *testing.F) {
	whole := oneTask(f)
	base := append([]byte(nil), whole.mem...)
	f.Add([]byte{}, uint8(3))
	f.Add([]byte{0x08, 0x01, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, uint8(3))
	f.Add([]byte(strings.Repeat("\xff", 4000)), uint8(4))
	f.Fuzz(func(t *testing.T, patches []byte, level uint8) {
		mem := abi.NewMem(len(base))
		copy(mem, base)
		// A patch is a place, a length and bytes.
		for len(patches) >= 5 {
			at := (int(patches[0]) | int(patches[1])<<8 | int(patches[2])<<16) % len(mem)
			n := min(int(patches[3]), len(patches)-4, len(mem)-at)
			copy(mem[at:], patches[4:4+n])
			patches = patches[4+n:]
		}
		c := collector.NewCapture(abi.A5, abi.Level(level%4)+1, 6, nil, make([]uint32, 6))
		for _, n := range c.Sections.SetSchedulerState(whole.layout, mem, c.Level) {
			if n.Severity != collector.Warning || !strings.HasPrefix(n.Text, "A5 HBG: ") {
				t.Errorf("the host says %v: %s", n.Severity, n.Text)
			}
		}
		var file any
		if err := json.Unmarshal([]byte(text(t, c)), &file); err != nil {
			t.Error(err)
		}
	})
}
