package collector_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
	"swimlane/internal/transport/fault"
)

// facts are the numbers of spec/device-abi.md §1, §7 and §8 that the tests here
// go by.
type facts struct {
	arch                    *abi.Arch
	cores, threads          int // the most
	heads, tails, bp, sizes uint64
	numCores                uint64 // and the five words behind it
	coreToThread            uint64
}

var chips = []facts{
	{abi.A2A3, 72, 4, 126976, 126992, 127100, 127168, 127008, 127028},
	{abi.A5, 108, 5, 232960, 232980, 233128, 233152, 233000, 233020},
}

// record notes the sizes of a collector's allocations.
func record(into *[]int) func(o *collector.Options) {
	return func(o *collector.Options) {
		alloc := o.Memory.Alloc
		o.Memory.Alloc = func(size int) (uint64, error) {
			*into = append(*into, size)
			return alloc(size)
		}
	}
}

// The device finds what spec/collector.md §5.1 says when it starts.
func TestWhatTheDeviceFinds(t *testing.T) {
	type want struct {
		cores, threads, grid int // as asked for
		level                abi.Level
		host                 bool
	}
	for _, f := range chips {
		cases := []want{
			{1, 2, 0, 4, false}, {3, 1, 0, 1, false}, {3, 0, 0, 4, true}, {5, 2, f.cores, 0, false}, {f.cores, 1, 0, 2, false},
		}
		for i, w := range cases {
			shadow := i%2 == 0
			t.Run(fmt.Sprintf("%s/shadow=%v/%+v", f.arch.Name, shadow, w), func(t *testing.T) {
				var sizes []int
				c := newChip(t, setup{size: 96 << 20, shadow: shadow, arch: f.arch, cores: w.cores, options: func(o *collector.Options) {
					o.Threads, o.GridCores, o.Level, o.HostOrchestrated = w.threads, w.grid, w.level, w.host
					record(&sizes)(o)
				}})
				threads, grid := w.threads, w.grid
				if threads == 0 {
					threads = f.threads // spec/device-abi.md §1
				}
				if grid == 0 {
					grid = w.cores
				}
				total := f.sizes + uint64(2*grid+2*f.threads)*192
				if got := c.host.Layout().TotalSize; got != total {
					t.Fatalf("the region has %d bytes, want %d", got, total)
				}
				m := c.region()
				wantSizes := []int{int(total), 8 * w.cores}

				// The header: three fields, all else 0.
				header := slices.Clone(m[:f.sizes])
				if got := *m.U32(f.numCores); got != uint32(w.cores) {
					t.Errorf("num_cores %d", got)
				}
				if got := *m.U32(f.numCores + 4); got != uint32(w.level) {
					t.Errorf("level %d", got)
				}
				for i := range f.cores {
					if got := int8(m[f.coreToThread+uint64(i)]); got != -1 {
						t.Errorf("core_to_thread[%d] is %d", i, got)
					}
				}
				clear(header[f.numCores : f.numCores+8])
				clear(header[f.coreToThread : f.coreToThread+uint64(f.cores)])
				if i := slices.IndexFunc(header, func(b byte) bool { return b != 0 }); i >= 0 {
					t.Errorf("byte %d of the header is not 0", i)
				}

				// The pools: four buffers each in the queue, or nothing.
				seen := map[uint64]bool{}
				pools := func(what string, at uint64, n, used, size, depth int) {
					for i := range n {
						p := m[at+uint64(i)*192:][:192]
						for b := range 4 {
							addr := p.Word64(64 + 8*uint64(b)).Load()
							switch {
							case i >= used && addr != 0:
								t.Errorf("%s pool %d has a buffer", what, i)
							case i >= used:
							case addr%64 != 0 || addr < deviceBase || seen[addr]:
								t.Errorf("%s pool %d: buffer %d is at %#x", what, i, b, addr)
							}
							seen[addr] = true
						}
						tail := *p.U32(100)
						if i < used && tail != 4 || i >= used && tail != 0 {
							t.Errorf("%s pool %d: tail %d", what, i, tail)
						}
						rest := slices.Clone(p)
						clear(rest[64:96])
						clear(rest[100:104])
						if slices.Max(rest) != 0 {
							t.Errorf("%s pool %d: % x", what, i, p)
						}
						if i < used {
							wantSizes = append(wantSizes, depth*size)
						}
					}
				}
				at := f.sizes
				pools("AicpuTask", at, grid, w.cores, 32064, 8)
				at += uint64(grid) * 192
				pools("AicoreTask", at, grid, w.cores, 32832, 4)
				at += uint64(grid) * 192
				pools("SchedPhase", at, f.threads, threads, 1048640, 6)
				at += uint64(f.threads) * 192
				orchestrators := 0
				if w.level == 4 && !w.host {
					orchestrators = 1
				}
				pools("OrchPhase", at, f.threads, orchestrators, 524352, 8)

				slices.Sort(sizes)
				slices.Sort(wantSizes)
				if !slices.Equal(sizes, wantSizes) {
					t.Errorf("allocated %v, want %v", sizes, wantSizes)
				}
			})
		}
	}
}

// Shared memory holds what was there before, and a slot that no core has written
// must not show the record of another collector.
func TestBuffersBeginEmpty(t *testing.T) {
	memory, err := transport.New(deviceBase, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range []int{1000, 3} {
		host, err := collector.New(collector.Options{Arch: abi.A2A3, Cores: 1, Threads: 2, Level: abi.ScheduleTiming, Memory: transport.Mapped(memory)})
		if err != nil {
			t.Fatal(err)
		}
		run, err := host.Begin(collector.RunOptions{Level: abi.ScheduleTiming})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		d, err := producer.Attach(producer.Config{
			Region: host.Layout(), Space: memory.Space(), RegionAddr: host.DataBase(), RotationTable: host.RotationTable(),
			Enable: abi.EnableSwimlane, Cores: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		thread, core := d.Thread(0), d.Core(0)
		for n := range written {
			task(thread, core, 0, n)
		}
		thread.Dispatch(0, uint32(written+1)) // two tasks that the core never ends
		thread.Dispatch(0, uint32(written+2))
		thread.Flush([]int{0}, nil)
		o := run.Outcome()
		if got := o.Capture.Count(abi.KindAicoreTask); got != written {
			t.Errorf("%d AICore records, want %d", got, written)
		}
		if e := o.Capture.Slots().Empty; len(e) != 1 || e[0].Skipped != 2 {
			t.Errorf("empty slots %+v, want 2", e)
		}
		n := uint64(written)
		if got := o.Capture.Accounting.Kinds[abi.KindAicoreTask]; got != (collector.Account{Total: n + 2, Collected: n, Dropped: 2}) {
			t.Errorf("account %+v", got)
		}
		if err := host.Finalize(); err != nil {
			t.Error(err)
		}
	}
	if n, _ := memory.InUse(); n != 0 {
		t.Errorf("%d allocations are left", n)
	}
}

// The lanes are filled to their targets before the launch (spec/collector.md
// §4.5, the example below the table).
func TestLanesAtStart(t *testing.T) {
	const aicpu, aicore = 32064, 32832
	four := []int{4 * aicore, 4 * aicore, 4 * aicore, 4 * aicore}
	for _, v := range []struct {
		cores int
		want  []int
	}{
		{72, four},
		{3, append([]int{24 * aicpu, 36 * aicpu, 36 * aicpu, 36 * aicpu}, four...)},
	} {
		var sizes []int
		c := newChip(t, setup{size: 96 << 20, cores: v.cores, threads: 4, options: record(&sizes)})
		sizes = nil
		c.begin().Stop()
		slices.Sort(sizes)
		slices.Sort(v.want)
		if !slices.Equal(sizes, v.want) {
			t.Errorf("%d cores: allocated %v, want %v", v.cores, sizes, v.want)
		}
	}
}

// Pools may be deeper than the protocol's, of any kind, and with one shard for
// all cores: the rings follow.
func TestDeepPools(t *testing.T) {
	for _, d := range []collector.Depths{
		{ProfBuffersPerCore: 1, AicoreBuffersPerCore: 1, SchedBuffersPerThread: 1, OrchBuffersPerThread: 1},
		{ProfBuffersPerCore: 8, AicoreBuffersPerCore: 20, SchedBuffersPerThread: 6, OrchBuffersPerThread: 8},
		{ProfBuffersPerCore: 24, AicoreBuffersPerCore: 4, SchedBuffersPerThread: 6, OrchBuffersPerThread: 8},
	} {
		c := newChip(t, setup{size: 96 << 20, cores: 72, threads: 4, shards: 1, depths: d})
		run := c.begin()
		c.play(c.launch(), 1100)
		o := run.Outcome()
		checkSums(t, o)
		c.checkTasks(o.Capture, 1100)
		if o.Faults != (collector.Faults{}) {
			t.Errorf("%+v: faults %+v", d, o.Faults)
		}
	}
}

// The device finds its pools where the host has them, whichever grid was chosen,
// for the fewest and for the most cores.
func TestGrids(t *testing.T) {
	for _, f := range chips {
		for i, v := range []struct{ cores, grid int }{{1, 0}, {1, f.cores}, {5, 6}, {f.cores, 0}, {6, f.cores}} {
			shadow := i%2 == 0
			t.Run(fmt.Sprintf("%s/shadow=%v/%+v", f.arch.Name, shadow, v), func(t *testing.T) {
				tasks := 1030 // more than a buffer
				if v.cores == f.cores {
					tasks = 20
				}
				c := newChip(t, setup{size: 96 << 20, shadow: shadow, arch: f.arch, cores: v.cores, level: abi.SchedPhases, options: func(o *collector.Options) { o.GridCores = v.grid }})
				run := c.begin()
				d := c.launch()
				d.Thread(0).SchedPhase(&abi.SchedPhase{StartTime: 1, EndTime: 2})
				c.play(d, tasks)
				o := run.Outcome()
				checkSums(t, o)
				c.checkTasks(o.Capture, tasks)
				if n := o.Capture.Count(abi.KindSchedPhase); n != 1 {
					t.Errorf("%d phases, want 1", n)
				}
				if said := slices.Concat(saidOf(o.Notices, "warning"), saidOf(o.Notices, "error")); len(said) != 0 {
					t.Errorf("said %q", said)
				}
			})
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	memory, err := transport.New(deviceBase, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	shared, copied := transport.Mapped(memory), transport.Shadow(memory)
	for want, change := range map[string]func(o *collector.Options){
		"no architecture is given":                                  func(o *collector.Options) { o.Arch = nil },
		"0 cores cannot be: a2a3 has 1 to 72":                       func(o *collector.Options) { o.Cores = 0 },
		"73 cores cannot be: a2a3 has 1 to 72":                      func(o *collector.Options) { o.Cores = 73 },
		"109 cores cannot be: a5 has 1 to 108":                      func(o *collector.Options) { o.Arch, o.Cores = abi.A5, 109 },
		"-1 AICPU threads cannot be: a2a3 has 1 to 4":               func(o *collector.Options) { o.Threads = -1 },
		"5 AICPU threads cannot be: a2a3 has 1 to 4":                func(o *collector.Options) { o.Threads = 5 },
		"6 AICPU threads cannot be: a5 has 1 to 5":                  func(o *collector.Options) { o.Arch, o.Threads = abi.A5, 6 },
		"a grid of 2 cores has no pools for 3 cores":                func(o *collector.Options) { o.GridCores = 2 },
		"a region for 73 cores cannot be: expected 1 to 72":         func(o *collector.Options) { o.GridCores = 73 },
		"capture level 5 is unknown: expected 0 (off), 1":           func(o *collector.Options) { o.Level = 5 },
		"PROF_BUFFERS_PER_CORE is 4097: expected 1 to 4096 buffers": func(o *collector.Options) { o.Depths = collector.Depths{4097, 1, 1, 1} },
		"SCHED_BUFFERS_PER_THREAD is -1: expected 1 to 4096":        func(o *collector.Options) { o.Depths = collector.Depths{1, 1, -1, 1} },
		"ORCH_BUFFERS_PER_THREAD is 0: expected 1 to 4096": func(o *collector.Options) {
			o.Depths = collector.Depths{ProfBuffersPerCore: 1, AicoreBuffersPerCore: 1, SchedBuffersPerThread: 1}
		},
		"-1 collector shards cannot be: expected 1 to 4":                  func(o *collector.Options) { o.Shards = -1 },
		"the memory operations alloc and free are mandatory":              func(o *collector.Options) { o.Memory.Alloc = nil },
		"without copies the host needs the operation register to see":     func(o *collector.Options) { o.Memory.Register = nil },
		"one of the two copies is missing: memory is either shared":       func(o *collector.Options) { o.Memory = copied; o.Memory.CopyToDevice = nil },
		"allocate 24 bytes of device memory: the table finds no room":     func(o *collector.Options) { failAlloc(o, 24) },
		"allocate 256512 bytes of device memory: the table finds no room": func(o *collector.Options) { failAlloc(o, 256512) },
	} {
		o := collector.Options{Arch: abi.A2A3, Cores: 3, Threads: 2, Level: abi.TaskTiming, Memory: shared}
		change(&o)
		c, err := collector.New(o)
		if c != nil || err == nil || !strings.HasPrefix(err.Error(), "swimlane collector: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if n, _ := memory.InUse(); n != 0 {
			t.Fatalf("%s: %d allocations are left", want, n)
		}
	}
}

func failAlloc(o *collector.Options, size int) {
	alloc := o.Memory.Alloc
	o.Memory.Alloc = func(n int) (uint64, error) {
		if n == size {
			return 0, errors.New("the table finds no room")
		}
		return alloc(n)
	}
}

// A run that is settled without a start has nothing, and says of nothing that it
// is wrong; what was settled before stays when the collector ends.
func TestRunWithoutStart(t *testing.T) {
	c := newChip(t, setup{size: 32 << 20})
	run := c.begin()
	run.Stop()
	idle, err := c.host.Begin(collector.RunOptions{Level: abi.TaskTiming})
	if err != nil {
		t.Fatal(err)
	}
	idle.Stop()
	if o := idle.Outcome(); o.Capture.Accounting.Kinds != [abi.Kinds]collector.Account{} || len(saidOf(o.Notices, "error"))+len(saidOf(o.Notices, "warning")) != 0 {
		t.Errorf("a run without a start: %+v, said %q", o.Capture.Accounting, o.Notices)
	}
	if err := c.host.Finalize(); err != nil {
		t.Error(err)
	}
	if run.Outcome() == nil {
		t.Error("the outcome of an old run is gone")
	}
	if _, err := c.host.Begin(collector.RunOptions{Level: abi.TaskTiming}); err == nil || err.Error() != "begin a swimlane run: the collector has been finalized" {
		t.Errorf("begin after the end: %v", err)
	}
}

func TestRunOptionsRefused(t *testing.T) {
	c := newChip(t, setup{size: 32 << 20, level: abi.OrchPhases})
	for want, o := range map[string]collector.RunOptions{
		"capture level 5 is unknown": {Level: 5},
		"level 3 records scheduler streams, which name their runtime; give its name":               {Level: abi.SchedPhases},
		"2 core types are given for 3 cores; give one for each core, or none":                      {Level: abi.TaskTiming, CoreTypes: abi.CoreTypes(1)[:2]},
		`the name "a b" cannot be written into a capture; expected letters, digits, - and _`:       {Level: abi.TaskTiming, Runtime: "a b"},
		"the name \"dep gen\" cannot be written into a capture; expected letters, digits, - and _": {Level: abi.TaskTiming, CoCaptured: []string{"pmu", "dep gen"}},
	} {
		run, err := c.host.Begin(o)
		if run != nil || err == nil || !strings.HasPrefix(err.Error(), "begin a swimlane run: "+want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	c.begin().Stop() // none of them stands in the way
}

// Without the device's counters what came is all that is known: nothing of it is
// lost, and nothing is claimed.
func TestCountersThatCannotBeRead(t *testing.T) {
	for _, tries := range []int{1, 0} {
		c := newChip(t, setup{size: 32 << 20, shadow: true})
		run := c.begin()
		c.play(c.launch(), 2000)
		c.faults.Add(failPull(c, tries))
		o := run.Outcome()
		c.checkTasks(o.Capture, 2000)
		for _, kind := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} {
			if got := o.Capture.Accounting.Kinds[kind]; got != (collector.Account{Total: 6000, Collected: 6000}) {
				t.Errorf("tries %d, kind %d: account %+v", tries, kind, got)
			}
		}
		want := []string{"ChipSwimlane reconcile: the device's counters cannot be read, so nothing is known of its losses: no way"}
		if tries == 1 { // the second one reads them
			want = nil
		}
		wantSaid(t, append(saidOf(o.Notices, "error"), saidOf(o.Notices, "warning")...), want...)
	}
}

// failPull fails the pull of the whole region, the nth or each.
func failPull(c *chip, nth int) fault.Rule {
	return fault.Rule{Op: fault.FromDevice, Size: int(c.host.Layout().TotalSize), Nth: nth, Err: errors.New("no way")}
}

// A begin or a start that failed can be tried again, and then nothing of the
// failure is left.
func TestBeginAndStartTryAgain(t *testing.T) {
	c := newChip(t, setup{size: 64 << 20, shadow: true, level: abi.SchedPhases, threads: 1})
	for _, op := range []fault.Op{fault.ToDevice, fault.FromDevice} {
		// Ever later calls fail, until none of a begin and a start does.
		for nth := 1; ; nth += 3 {
			before := c.faults.Count(op).Failed
			c.faults.Add(fault.Rule{Op: op, Nth: nth, Err: errors.New("no way")})
			var run *collector.Run
			tries := 0
			for ; run == nil; tries++ {
				run, _ = c.host.Begin(collector.RunOptions{Level: c.level, Runtime: tmr})
			}
			for ; run.Start() != nil; tries++ {
			}
			c.faults.Clear()
			failed := c.faults.Count(op).Failed - before
			c.play(c.launchThreads(0, 0), 1001)
			o := run.Outcome()
			c.checkTasks(o.Capture, 1001)
			if said := slices.Concat(saidOf(o.Notices, "warning"), saidOf(o.Notices, "error")); len(said) != 0 {
				t.Fatalf("operation %d, call %d: said %q", op, nth, said)
			}
			if failed == 0 {
				if tries != 1 || nth == 1 {
					t.Errorf("operation %d, call %d: %d tries", op, nth, tries)
				}
				break
			}
		}
	}
	if n, _ := c.memory.InUse(); n > 40 {
		t.Errorf("%d allocations: buffers are not used again", n)
	}
}

// What a device left of a freeze does not hold up the next run.
func TestFreezesEndWithTheRun(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		c := newChip(t, setup{size: 32 << 20, shadow: shadow})
		c.begin().Stop()
		m := c.region()
		for i := range uint64(4) {
			m.Word32(127100 + 4*i).Store(1) // spec/device-abi.md §7
		}
		if _, err := c.host.Begin(collector.RunOptions{Level: abi.TaskTiming}); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(4) {
			if v := m.Word32(127100 + 4*i).Load(); v != 0 {
				t.Errorf("flag %d is %d when a run begins", i, v)
			}
		}
	}
}

// A fixed grid has pools beyond the cores of the run; a device image for it may
// count there. Counters and rotation table begin each run empty.
func TestGridBeginsEmpty(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		c := newChip(t, setup{size: 32 << 20, shadow: shadow, options: func(o *collector.Options) { o.GridCores = 5 }})
		c.begin().Stop()
		l := c.host.Layout()
		mem := c.region()
		for _, k := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} {
			head := abi.View[abi.ActiveHead](mem, l.Pool(k, 4))
			head.TotalRecordCount, head.DroppedRecordCount = 7, 3
		}
		table, err := c.memory.Space().At(c.host.RotationTable(), 3*8)
		if err != nil {
			t.Fatal(err)
		}
		table.Word64(8).Store(0xDEAD)
		c.begin().Stop()
		for _, k := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} {
			if head := abi.View[abi.ActiveHead](mem, l.Pool(k, 4)); head.TotalRecordCount != 0 || head.DroppedRecordCount != 0 {
				t.Errorf("shadow %v, kind %d: %d records, %d dropped", shadow, k, head.TotalRecordCount, head.DroppedRecordCount)
			}
		}
		if got := table.Word64(8).Load(); got != 0 {
			t.Errorf("shadow %v: the rotation table holds %#x", shadow, got)
		}
	}
}
