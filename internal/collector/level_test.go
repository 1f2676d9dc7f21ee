package collector_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/timeline"
)

// A level without the buffers or the threads for it is refused when the run begins.
func TestLevelsThatCannotBeMet(t *testing.T) {
	for _, v := range []struct {
		made    abi.Level
		threads int
		host    bool
		met     []abi.Level
		refused map[abi.Level]string
	}{
		{made: 0, threads: 2, met: []abi.Level{0}, refused: map[abi.Level]string{
			1: "level 1 cannot be met: the collector was made for level 0 and has no buffers for more"}},
		{made: 2, threads: 2, met: []abi.Level{0, 1, 2}, refused: map[abi.Level]string{
			3: "level 3 cannot be met: the collector was made for level 2 and has no buffers for more",
			4: "level 4 cannot be met: the collector was made for level 2 and has no buffers for more",
			5: "capture level 5 is unknown: expected 0 (off), 1 (task timing), 2 (schedule timing), 3 (scheduler phases) or 4 (orchestrator phases)"}},
		{made: 4, threads: 2, met: []abi.Level{0, 1, 2, 3, 4}},
		{made: 4, threads: 1, met: []abi.Level{0, 1, 2, 3}, refused: map[abi.Level]string{
			4: "level 4 cannot be met: the orchestrator needs an AICPU thread beside the scheduler's, and the run has 1"}},
		{made: 4, threads: 1, host: true, met: []abi.Level{0, 1, 2, 3, 4}},
	} {
		c := newChip(t, setup{size: 32 << 20, threads: v.threads, options: func(o *collector.Options) { o.Level, o.HostOrchestrated = v.made, v.host }})
		for level, want := range v.refused {
			run, err := c.host.Begin(collector.RunOptions{Level: level, Runtime: tmr})
			if run != nil || err == nil || err.Error() != "begin a swimlane run: "+want {
				t.Errorf("level %d: error %v, want %q", level, err, want)
			}
		}
		for _, level := range v.met {
			run, err := c.host.Begin(collector.RunOptions{Level: level, Runtime: tmr})
			if err != nil || run.Level() != level {
				t.Errorf("level %d of a collector for %d: %v", level, v.made, err)
				continue
			}
			if got := *c.region().U32(127012); got != uint32(level) { // spec/device-abi.md §7
				t.Errorf("the header says level %d, want %d", got, level)
			}
		}
	}
}

// act is a whole device: tasks on three cores, phases of one scheduler thread and
// submits of the orchestrator, the same at every level.
func (c *chip) act(d *producer.Device, tasks int) {
	c.t.Helper()
	s, o := d.Thread(0), d.Thread(1)
	d.AnnounceOrchestrator(1)
	for n := range tasks {
		at := dispatchOf(0, n)
		o.OrchPhase(&abi.OrchPhase{StartTime: at - 50, EndTime: at - 10, TaskID: abi.TaskID(0, uint32(n)), SubmitIdx: uint32(n)})
		s.SchedPhase(&abi.SchedPhase{StartTime: at, EndTime: at + 5, LoopIter: uint32(n), Kind: abi.Dispatch, TasksProcessed: 1})
	}
	o.FlushOrch()
	if err := d.PublishCores([]int8{0, 0, 0}); err != nil {
		c.t.Fatal(err)
	}
	c.play(d, tasks)
}

// Each level records what spec/collector.md §2.1 says, and all of it, from the
// device's call to the reader of the file; a run does not know of the level of
// the one before.
func TestEachLevelEndToEnd(t *testing.T) {
	const tasks = 40
	for _, f := range chips {
		for _, shadow := range []bool{false, true} {
			c := newChip(t, setup{size: 32 << 20, arch: f.arch, shadow: shadow, level: abi.OrchPhases})
			for _, level := range []abi.Level{4, 1, 3, 0, 2, 4, 0, 1} {
				t.Run(fmt.Sprintf("%s/shadow=%v/level=%d", f.arch.Name, shadow, level), func(t *testing.T) {
					c.t, c.level = t, level
					run := c.begin()
					d := c.launch()
					if level == 0 && d != nil {
						t.Fatal("a device at level 0")
					}
					if d != nil {
						c.act(d, tasks)
					}
					o := run.Outcome()
					checkSums(t, o)
					want := [abi.Kinds]int{}
					if level >= 1 {
						want[abi.KindAicoreTask] = 3 * tasks
					}
					if level >= 2 {
						want[abi.KindAicpuTask] = 3 * tasks
					}
					if level >= 3 {
						want[abi.KindSchedPhase] = tasks
					}
					if level >= 4 {
						want[abi.KindOrchPhase] = tasks
					}
					for kind, n := range want {
						if got := o.Capture.Count(abi.Kind(kind)); got != n {
							t.Errorf("%d records of kind %d, want %d", got, kind, n)
						}
						if got, want := o.Capture.Accounting.Kinds[kind], (collector.Account{Total: uint64(n), Collected: uint64(n)}); got != want {
							t.Errorf("kind %d: account %+v, want %+v", kind, got, want)
						}
					}
					if said := slices.Concat(saidOf(o.Notices, "warning"), saidOf(o.Notices, "error")); len(said) != 0 {
						t.Errorf("said %q", said)
					}
					path, err := o.Capture.Export(t.TempDir())
					if level == 0 {
						if err == nil || !strings.Contains(err.Error(), "level 0") {
							t.Errorf("export at level 0: %v", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					rec := readBack(t, path)
					phases, submits := 0, 0
					for _, s := range rec.Streams {
						phases += len(s.Phases.Start)
					}
					for _, s := range rec.DeviceOrc {
						submits += len(s.Start)
					}
					if rec.Level != int(level) || rec.Tasks.Len() != want[abi.KindAicoreTask] || len(rec.Sched.Reg) != want[abi.KindAicpuTask] ||
						phases != want[abi.KindSchedPhase] || submits != want[abi.KindOrchPhase] {
						t.Errorf("read back: level %d, %d kernels, %d times, %d phases, %d submits; want level %d and %v",
							rec.Level, rec.Tasks.Len(), len(rec.Sched.Reg), phases, submits, level, want)
					}
					text, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					for section, from := range map[string]abi.Level{
						"aicore_tasks": 1, "scheduler_tasks": 2, "scheduler_records": 3, "core_to_thread": 3, "aicpu_orchestrator_phases": 4, "capture_accounting": 1,
					} {
						if got := strings.Contains(string(text), `"`+section+`":`); got != (level >= from) {
							t.Errorf("section %s is there: %v", section, got)
						}
					}
				})
			}
			c.t = t
		}
	}
}

// readBack reads an exported file and joins it, without a word from either.
func readBack(t *testing.T, path string) *capture.Records {
	t.Helper()
	rec, err := capture.Read(path, capture.Options{Extras: true})
	if err != nil || len(rec.Warnings) > 0 {
		t.Fatal(err, rec.Warnings)
	}
	joined, err := capture.Read(path, capture.Options{}) // a join takes the rows
	if err != nil {
		t.Fatal(err)
	}
	if tl, err := timeline.New(joined, nil); err != nil || len(tl.Warnings) > 0 {
		t.Fatal(err, tl.Warnings)
	}
	return rec
}

// A file is complete without further care: what the host knows of the run is
// asked for when it begins, and what the device knows comes from its writers.
func TestFileIsComplete(t *testing.T) {
	c := newChip(t, setup{size: 32 << 20, cores: 6, level: abi.OrchPhases, shadow: true})
	run, err := c.host.Begin(collector.RunOptions{Level: abi.OrchPhases, Policy: abi.Drop, Runtime: tmr, CoCaptured: []string{"dep_gen"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	c.act(c.launch(), 10)
	run.Stalled(2, 3*time.Millisecond)
	run.Stalled(1, 345*time.Nanosecond)
	path, err := run.Outcome().Capture.Export(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec := readBack(t, path)
	if want := []string{"aic", "aic", "aiv", "aiv", "aiv", "aiv"}; !slices.Equal(rec.Meta.CoreTypes, want) {
		t.Errorf("core types %v, want %v", rec.Meta.CoreTypes, want)
	}
	if rec.Streams[0].Runtime != tmr || !slices.Equal(rec.Meta.CoCaptured, []string{"dep_gen"}) {
		t.Errorf("runtime %q, together with %v", rec.Streams[0].Runtime, rec.Meta.CoCaptured)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"policy": "drop"`, `"stalls": {"count": 3, "real_ns": 3000345}`, `"AICORE_TASK": {"total": 60, "collected": 60, "dropped": 0, "host_lost": 0, "unflushed": 0}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %s", want)
		}
	}
}

// Core types that are given win; without any, cores that are no clusters stay
// what the file calls them by default.
func TestCoreTypes(t *testing.T) {
	three, four := newChip(t, setup{size: 32 << 20}), newChip(t, setup{size: 32 << 20, cores: 4})
	for _, v := range []struct {
		c     *chip
		types []abi.CoreType
		want  []string
	}{
		{three, []abi.CoreType{abi.AIV, abi.AIV, abi.AIC}, []string{"aiv", "aiv", "aic"}},
		{three, nil, []string{"aic", "aiv", "aiv"}},
		{four, nil, []string{"aiv", "aiv", "aiv", "aiv"}},
	} {
		c := v.c
		run, err := c.host.Begin(collector.RunOptions{Level: abi.TaskTiming, CoreTypes: v.types})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		c.play(c.launch(), 1)
		path, err := run.Outcome().Capture.Export(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if got := readBack(t, path).Meta.CoreTypes; !slices.Equal(got, v.want) {
			t.Errorf("%d cores, types %v: the file says %v, want %v", c.cores, v.types, got, v.want)
		}
	}
}

// A run that the host orchestrates has no orchestrator on the device at level 4;
// its file has the host's records, its clock and how that relates to the device's.
func TestHostOrchestratedRun(t *testing.T) {
	c := newChip(t, setup{size: 32 << 20, level: abi.OrchPhases, options: func(o *collector.Options) { o.HostOrchestrated = true }})
	clock := collector.NewClockCorrelation(collector.ProviderSimSyscnt, abi.A2A3)
	run, err := c.host.Begin(collector.RunOptions{Level: abi.OrchPhases, Runtime: "host_build_graph", BootID: "7d1c2a64-0c0e", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(1000)
	sample := func(s *collector.AnchorSample) {
		at += 100
		s.HostBeforeNs, s.Raw, s.HostAfterNs = at, at/20, at+10
	}
	clock.Open(sample)
	pool := collector.NewHostPhasePool()
	for i := range uint64(3) {
		pool.Add(abi.HostPhase{StartNs: 2000 + 10*i, EndNs: 2005 + 10*i, Kind: uint32(collector.HostSubmitTask), Index: uint32(i), Payload: abi.TaskID(0, uint32(i))})
	}
	pool.Add(abi.HostPhase{StartNs: 2100, EndNs: 2150, Kind: uint32(collector.HostSMH2D), Payload: 4096})
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	c.act(c.launchThreads(2, 0), 5)
	clock.Close(sample)
	o := run.Outcome()
	if n := o.Capture.Count(abi.KindOrchPhase); n != 0 {
		t.Errorf("%d orchestrator phases of the device", n)
	}
	o.Capture.Host = pool.Take(3)
	path, err := o.Capture.Export(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec := readBack(t, path)
	m := &rec.Meta
	if m.OrchestratorSource != "host" || m.ClockDomain != "linux-boot-id:7d1c2a64-0c0e" || m.HostOriginNs != 2000 || m.TimelineOriginNs != 1105 ||
		m.TimelineRelation != "host_orchestration_precedes_device" || m.HostCapture == nil || m.HostCapture.Status != "complete" {
		t.Errorf("metadata %+v", m)
	}
	if len(rec.HostOrc) != 1 || !slices.Equal(rec.HostOrc[0].Start, []uint64{2000, 2010, 2020}) || len(rec.Uploads) != 1 || rec.Uploads[0].Bytes != 4096 {
		t.Errorf("host records %+v, uploads %+v", rec.HostOrc, rec.Uploads)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		`"clock_anchors": {`: 1, `"position": "pre_host_orchestration"`: 3, `"position": "post_device_execution"`: 3, `"provider": "sim_syscnt"`: 1,
		`"raw_device_timestamp": 55, "device_cycles": 55, "host_after_ns": 1110, "rtt_ns": 10`: 1, "aicpu_orchestrator_phases": 0,
	} {
		if got := strings.Count(string(text), want); got != n {
			t.Errorf("the file has %s %d times, want %d", want, got, n)
		}
	}
}

// The AICore schedulers of an a5 leave the pools empty; their sections come from
// the runtime, and the run's other figures stay.
func TestRuntimeSections(t *testing.T) {
	c := newChip(t, setup{size: 32 << 20, arch: abi.A5, shadow: true, level: abi.OrchPhases, options: func(o *collector.Options) { o.HostOrchestrated = true }})
	for _, level := range []abi.Level{1, 2, 3, 4} {
		run, err := c.host.Begin(collector.RunOptions{Level: level, Runtime: "host_build_graph"})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		c.launchThreads(0, 0) // whose threads only start and end the cores
		o := run.Outcome()
		if _, err := o.Capture.Export(t.TempDir()); !errors.Is(err, collector.ErrNoData) {
			t.Errorf("without sections: %v", err)
		}
		s := &o.Capture.Sections
		errs := []error{s.SetAicoreTasks(twoKernels())}
		if level >= 2 {
			errs = append(errs,
				s.SetSchedulerTasks(twoTimings()),
				s.SetLifecycle([]collector.LifecycleRow{{Thread: 1, Times: [14]uint64{1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}}))
		}
		if level >= 3 {
			errs = append(errs, s.SetSchedulerRecords([]collector.CoreStream{{Scheduler: 0, Worker: 2, PhysicalCore: 54, Phases: collector.CorePhaseColumns{
				Start: []uint64{900, 910}, End: []uint64{910, 960}, Loop: []uint64{1, 1}, Tasks: []uint64{1, 1}, Task: []uint64{0, 0},
				Kind: []collector.CorePhaseKind{collector.CoreStateProbe, collector.CoreDispatch},
			}}}))
		}
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		path, err := o.Capture.Export(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		rec := readBack(t, path)
		streams, lives := 0, 0
		if level >= 2 {
			lives = 1
		}
		if level >= 3 {
			streams = 1
		}
		if rec.Level != int(level) || rec.Tasks.Len() != 2 || rec.Sched.Present != (level >= 2) || len(rec.Lifecycle) != lives || len(rec.Streams) != streams {
			t.Errorf("level %d: read back level %d, %d kernels, times %v, %d lives, %d streams", level, rec.Level, rec.Tasks.Len(), rec.Sched.Present, len(rec.Lifecycle), len(rec.Streams))
		}
		if streams == 1 && (rec.Streams[0].Producer != "aicore" || rec.Streams[0].Runtime != "host_build_graph" || rec.Streams[0].Platform != "a5") {
			t.Errorf("stream %+v", rec.Streams[0])
		}
	}
}

// The counters of a device against what came, through the whole of a run: the
// vectors of spec/collector.md §6.3.
func TestReconcileVectors(t *testing.T) {
	const who = "ChipSwimlane reconcile: "
	for _, shadow := range []bool{false, true} {
		c := newChip(t, setup{size: 32 << 20, cores: 1, shadow: shadow})
		for _, v := range []struct {
			total, dropped uint32
			tasks          int
			account        collector.Account
			said           []string
		}{
			{2500, 0, 2500, collector.Account{Total: 2500, Collected: 2500}, nil},
			{10, 3, 7, collector.Account{Total: 10, Collected: 7, Dropped: 3}, []string{who + "3 PERF records dropped on device side."}},
			{10, 0, 9, collector.Account{Total: 10, Collected: 9, Dropped: 1},
				[]string{who + "PERF count mismatch (collected=9 + dropped=0 != device_total=10, silent_loss=1)"}},
			{10, 2, 9, collector.Account{Total: 10, Collected: 9, Dropped: 1},
				[]string{who + "2 PERF records dropped on device side.", who + "PERF count mismatch (collected=9 + dropped=2 != device_total=10, silent_loss=-1)"}},
		} {
			run := c.begin()
			c.play(c.launch(), v.tasks)
			m := c.region()
			*m.U32(127168 + 12), *m.U32(127168 + 16) = v.total, v.dropped // spec/device-abi.md §4, §8
			o := run.Outcome()
			checkSums(t, o)
			if got := o.Capture.Accounting.Kinds[abi.KindAicpuTask]; got != v.account {
				t.Errorf("%+v: account %+v", v, got)
			}
			want := collector.Bucket{Name: "PERF", Total: uint64(v.total), Dropped: uint64(v.dropped), Collected: uint64(v.tasks),
				SilentLoss: int64(v.total) - int64(v.dropped) - int64(v.tasks)}
			if got := o.Buckets[abi.KindAicpuTask]; got != want {
				t.Errorf("bucket %+v, want %+v", got, want)
			}
			var said []string
			for _, text := range saidOf(o.Notices, "warning") {
				if strings.HasPrefix(text, who) {
					said = append(said, text)
				}
			}
			wantSaid(t, said, v.said...)
		}
	}
}

// A device that dies leaves its last buffers behind: they are counted, and named
// one by one.
func TestLeftovers(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		c := newChip(t, setup{size: 32 << 20, shadow: shadow, level: abi.OrchPhases})
		run := c.begin()
		d := c.launch()
		s, o := d.Thread(0), d.Thread(1)
		d.AnnounceOrchestrator(1)
		for i := range 5 {
			s.SchedPhase(&abi.SchedPhase{LoopIter: uint32(i)})
			if i < 2 {
				o.OrchPhase(&abi.OrchPhase{SubmitIdx: uint32(i)})
			}
		}
		core := d.Core(1)
		for n := range 1003 {
			task(s, core, 1, n)
		}
		// spec/device-abi.md §8, for three cores
		m := c.region()
		pointer := func(pool uint64) uint64 { return m.Word64(pool).Load() }
		perf, aicore, sched, orch := pointer(127168+192), pointer(127744+192), pointer(128320), pointer(129088)
		out := run.Outcome()
		checkSums(t, out)
		for kind, want := range map[abi.Kind]collector.Account{
			abi.KindAicpuTask:  {Total: 1003, Collected: 1000, Unflushed: 3},
			abi.KindAicoreTask: {Total: 1003, Unflushed: 1003},
			abi.KindSchedPhase: {Total: 5, Unflushed: 5},
			abi.KindOrchPhase:  {Total: 2, Unflushed: 2},
		} {
			if got := out.Capture.Accounting.Kinds[kind]; got != want {
				t.Errorf("kind %d: account %+v, want %+v", kind, got, want)
			}
			if got := out.Buckets[kind].Leftovers; got != 1 {
				t.Errorf("kind %d: %d leftovers, want 1", kind, got)
			}
		}
		const who, failed = "ChipSwimlane reconcile: ", "after stop() — device flush failed"
		got := saidOf(out.Notices, "error")
		want := []string{
			fmt.Sprintf(who+"core 1 has un-flushed PERF buffer (current_buf_ptr=0x%x, count=3) "+failed, perf),
			fmt.Sprintf(who+"core 1 has un-flushed AICORE buffer (current_buf_ptr=0x%x, count=1003) "+failed, aicore),
			fmt.Sprintf(who+"thread 0 has un-flushed SCHED_PHASE buffer (current_buf_ptr=0x%x, count=5) "+failed, sched),
			fmt.Sprintf(who+"thread 0 has un-flushed ORCH_PHASE buffer (current_buf_ptr=0x%x, count=2) "+failed, orch),
			who + "1 core(s) had un-cleared PERF current_buf_ptr — see prior errors",
			who + "1 thread(s) had un-cleared SCHED_PHASE current_buf_ptr — see prior errors",
			who + "1 thread(s) had un-cleared ORCH_PHASE current_buf_ptr — see prior errors",
			who + "1 core(s) had un-cleared AICORE current_buf_ptr — see prior errors",
		}
		wantSaid(t, got, want...)
		// The loss is in the file, and in the next run there is nothing of it.
		path, err := out.Capture.Export(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := `"AICPU_TASK": {"total": 1003, "collected": 1000, "dropped": 0, "host_lost": 0, "unflushed": 3}`; !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %s", want)
		}
		run = c.begin()
		c.act(c.launch(), 30)
		out = run.Outcome()
		c.checkTasks(out.Capture, 30)
		if said := slices.Concat(saidOf(out.Notices, "warning"), saidOf(out.Notices, "error")); len(said) != 0 {
			t.Errorf("the next run said %q", said)
		}
	}
}

// What the device announces of its threads and cores is taken as far as it can be
// (spec/collector.md §6.2).
func TestPhaseMetadata(t *testing.T) {
	unused := func(sched, orch int) string {
		return fmt.Sprintf("the device announced %d scheduler and %d orchestrator threads, and there are 4 at most: its phase metadata is not used", sched, orch)
	}
	a, b := newChip(t, setup{size: 32 << 20, level: abi.OrchPhases}), newChip(t, setup{size: 32 << 20, shadow: true, level: abi.OrchPhases})
	for _, v := range []struct {
		sched, orch, cores uint32
		threads            []int8 // that the file has
		severity           collector.Severity
		said               string
	}{
		{1, 1, 3, []int8{0, 1, -1}, collector.Info, ""},
		{1, 0, 2, []int8{0, 1}, collector.Info, ""},
		{0, 1, 1, []int8{0}, collector.Info, ""},
		{4, 4, 72, append([]int8{0, 1}, slices.Repeat([]int8{-1}, 70)...), collector.Info, ""},
		{1, 1, 0, nil, collector.Info, ""},
		{1, 1, 73, nil, collector.Info, ""},
		{0, 0, 3, nil, collector.Info, "No phase profiling data found"},
		{5, 1, 3, nil, collector.Error, unused(5, 1)},
		{1, 5, 3, nil, collector.Error, unused(1, 5)},
		{1 << 31, 0, 3, nil, collector.Error, unused(1<<31, 0)},
	} {
		for _, c := range []*chip{a, b} {
			t.Run(fmt.Sprintf("%d,%d,%d/shadow=%v", v.sched, v.orch, v.cores, c.shadow), func(t *testing.T) {
				defer func(parent testing.TB) { c.t = parent }(c.t)
				c.t = t
				run := c.begin()
				c.play(c.launchThreads(0, 0), 1)
				m := c.region() // spec/device-abi.md §7, §8
				*m.U32(127016), *m.U32(127020), *m.U32(127024) = v.sched, v.orch, v.cores
				m[127028], m[127029] = 0, 1
				o := run.Outcome()
				if !slices.Equal(o.Capture.CoreToThread, v.threads) {
					t.Errorf("core_to_thread %v, want %v", o.Capture.CoreToThread, v.threads)
				}
				var said []string
				for _, s := range []collector.Severity{collector.Info, collector.Warning, collector.Error} {
					for _, text := range saidOf(o.Notices, s.String()) {
						if s != collector.Info || !strings.Contains(text, "counts match") {
							said = append(said, fmt.Sprintf("%v: %s", s, text))
						}
					}
				}
				if v.said == "" && len(said) > 0 || v.said != "" && (len(said) != 1 || !strings.HasPrefix(said[0], v.severity.String()+": "+v.said)) {
					t.Errorf("said %q, want %q", said, v.said)
				}
				c.checkTasks(o.Capture, 1)
				if _, err := o.Capture.Export(t.TempDir()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Swimlane and dep_gen record one launch in one device's memory.
func TestTwoDiagnosticsOfOneLaunch(t *testing.T) {
	c := newChip(t, setup{size: 96 << 20, level: abi.OrchPhases, shadow: true})
	deps, err := collector.NewDepGen(collector.DepGenOptions{Arch: c.arch, Threads: c.threads, Memory: c.faults.Ops()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := deps.Finalize(); err != nil {
			t.Error(err)
		}
	}()
	dir := t.TempDir()
	for i := range 3 {
		depRun, err := deps.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := depRun.Start(); err != nil {
			t.Fatal(err)
		}
		run := c.begin()
		d := c.launch()
		w, err := producer.AttachDepGen(producer.DepGenConfig{
			Region: deps.Layout(), Space: c.memory.Space(), RegionAddr: deps.DataBase(), Enable: abi.EnableSwimlane | abi.EnableDepGen,
		})
		if err != nil {
			t.Fatal(err)
		}
		w.Announce(1)
		for n := range 1500 {
			w.Submit(&producer.Submit{TaskID: uint64(n)})
		}
		w.Flush()
		c.act(d, 1500)
		if o := depRun.Outcome(); !o.Clean || o.Account.Collected != 1500 {
			t.Errorf("dep_gen: %+v, said %q", o.Account, o.Notices)
		}
		o := run.Outcome()
		c.checkTasks(o.Capture, 1500)
		if _, err := o.Capture.Export(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Error(err)
		}
	}
}
