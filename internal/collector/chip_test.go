package collector_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
	"swimlane/internal/transport/fault"
)

// setup says what chip a test wants; the zero value is an a2a3 of three cores and
// two AICPU threads at level 2 in shared memory.
type setup struct {
	shadow  bool
	arch    *abi.Arch
	cores   int
	threads int
	shards  int
	level   abi.Level
	depths  collector.Depths
	size    int // bytes of device memory; 0: 256 MiB
	policy  abi.Policy
	waiting producer.Waiting
	options func(*collector.Options)
	sink    func(shard int, kind abi.Kind, index int, seq uint32, records []byte)
}

// chip is a device and its collector in one process.
type chip struct {
	setup
	t       testing.TB
	memory  *transport.Device
	faults  *fault.Memory // between the collector and the memory
	host    *collector.Swimlane
	said    *logbook
	current *producer.Device // of the last launch
}

// logbook keeps what a collector says while it works.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logbook) log(s collector.Severity, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%v: %s", s, text))
}

// count is the number of lines that contain a text.
func (l *logbook) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

const deviceBase = 0x1000_0000

func newChip(t testing.TB, s setup) *chip {
	t.Helper()
	if s.arch == nil {
		s.arch = abi.A2A3
	}
	if s.cores == 0 {
		s.cores = 3
	}
	if s.threads == 0 {
		s.threads = 2
	}
	if s.level == abi.Disabled {
		s.level = abi.ScheduleTiming
	}
	s.waiting.Policy = s.policy
	if s.size == 0 {
		s.size = 256 << 20
	}
	memory, err := transport.New(deviceBase, s.size)
	if err != nil {
		t.Fatal(err)
	}
	c := &chip{setup: s, t: t, memory: memory, said: &logbook{}}
	way := transport.Mapped(memory)
	if s.shadow {
		way = transport.Shadow(memory)
	}
	c.faults = fault.New(way)
	o := collector.Options{
		Arch: s.arch, Cores: s.cores, Threads: s.threads, Shards: s.shards, Level: s.level, Depths: s.depths,
		Memory: c.faults.Ops(), Log: c.said.log,
	}
	if s.options != nil {
		s.options(&o)
	}
	if c.host, err = collector.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.faults.Clear()
		if err := c.host.Finalize(); err != nil {
			t.Error(err)
		}
		if n, bytes := memory.InUse(); n != 0 {
			t.Errorf("%d allocations of %d bytes are left", n, bytes)
		}
		if err := memory.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// begin arms a run at the chip's level and starts the host.
func (c *chip) begin() *collector.Run {
	c.t.Helper()
	run, err := c.host.Begin(collector.RunOptions{Level: c.level, Policy: c.policy, Runtime: tmr, Sink: c.sink})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		c.t.Fatal(err)
	}
	return run
}

// launch attaches the device as its leader thread does.
func (c *chip) launch() *producer.Device {
	c.t.Helper()
	return c.launchThreads(c.threads-1, min(c.threads-1, 1))
}

// launchThreads is launch with so many threads that have phases.
func (c *chip) launchThreads(sched, orch int) *producer.Device {
	c.t.Helper()
	d, err := producer.Attach(producer.Config{
		Region: c.host.Layout(), Space: c.memory.Space(), RegionAddr: c.host.DataBase(), RotationTable: c.host.RotationTable(),
		Enable: abi.EnableSwimlane, Cores: c.cores, Waiting: c.waiting,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := d.InitPhases(sched, orch); err != nil {
		c.t.Fatal(err)
	}
	c.current = d
	return d
}

// The records of task n of a core, in cycles that say which task it was.
func dispatchOf(core, n int) uint64 { return uint64(core+1)<<40 | uint64(n)*100 + 1 }

func aicpuRecord(core, n int) abi.AicpuTask {
	at := dispatchOf(core, n)
	return abi.AicpuTask{DispatchTime: at, FinishTime: at + 90, RegTaskID: uint32(n + 1)}
}

func aicoreRecord(core, n int) abi.AicoreTask {
	at := dispatchOf(core, n)
	return abi.AicoreTask{StartTime: at + 20, EndTime: at + 80, TaskTokenRaw: abi.TaskID(uint32(core), uint32(n)), RegTaskID: uint32(n + 1), ReceiveToStartCycles: 10}
}

// task is one task from dispatch to finish, everything in one goroutine.
func task(t *producer.Thread, c *producer.Core, core, n int) {
	at, token := dispatchOf(core, n), uint32(n+1)
	t.Dispatch(core, token)
	c.Reserve()
	t.Ack(core, token)
	c.Commit(abi.TaskID(uint32(core), uint32(n)), token, at+10, at+20, at+80)
	t.Task(core, token, at, at+90)
}

// play runs tasks on every core in turn, as one scheduler thread with all its
// cores, and flushes.
func (c *chip) play(d *producer.Device, tasks int) {
	thread, cores, all := d.Thread(0), make([]*producer.Core, c.cores), make([]int, c.cores)
	for i := range cores {
		cores[i], all[i] = d.Core(i), i
	}
	for n := range tasks {
		for i, core := range cores {
			task(thread, core, i, n)
		}
	}
	thread.Flush(all, nil)
}

// checkTasks compares the task records of a capture with those of tasks 0…n−1 of
// every core.
func (c *chip) checkTasks(capture *collector.Capture, n int) {
	c.t.Helper()
	for core := range c.cores {
		var aicore []abi.AicoreTask
		for part := range capture.AicoreTasks(core) {
			aicore = append(aicore, part...)
		}
		var aicpu []abi.AicpuTask
		for part := range capture.AicpuTasks(core) {
			aicpu = append(aicpu, part...)
		}
		if len(aicore) != n || c.level >= abi.ScheduleTiming && len(aicpu) != n {
			c.t.Fatalf("core %d: %d AICore and %d AICPU records, want %d of each", core, len(aicore), len(aicpu), n)
		}
		for i := range aicore {
			if aicore[i] != aicoreRecord(core, i) {
				c.t.Fatalf("core %d: AICore record %d is %+v, want %+v", core, i, aicore[i], aicoreRecord(core, i))
			}
		}
		for i := range aicpu {
			if aicpu[i] != aicpuRecord(core, i) {
				c.t.Fatalf("core %d: AICPU record %d is %+v, want %+v", core, i, aicpu[i], aicpuRecord(core, i))
			}
		}
	}
}

// checkSums demands that every account adds up.
func checkSums(t testing.TB, o *collector.Outcome) {
	t.Helper()
	for kind, a := range o.Capture.Accounting.Kinds {
		if a.Total != a.Collected+a.Dropped+a.HostLost+a.Unflushed {
			t.Errorf("kind %d: %+v does not add up", kind, a)
		}
	}
}

// Every record arrives over both transports, on both architectures, at every
// level that has task records.
func TestEveryRecordArrives(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		for _, shadow := range []bool{false, true} {
			for _, level := range []abi.Level{abi.TaskTiming, abi.ScheduleTiming, abi.SchedPhases, abi.OrchPhases} {
				t.Run(fmt.Sprintf("%s/shadow=%v/level=%d", arch.Name, shadow, level), func(t *testing.T) {
					const tasks = 5000
					c := newChip(t, setup{arch: arch, shadow: shadow, level: level})
					run := c.begin()
					c.play(c.launch(), tasks)
					run.Stop()
					o := run.Outcome()
					checkSums(t, o)
					c.checkTasks(o.Capture, tasks)
					want := collector.Account{Total: 3 * tasks, Collected: 3 * tasks}
					if got := o.Capture.Accounting.Kinds[abi.KindAicoreTask]; got != want {
						t.Errorf("AICore account %+v, want %+v", got, want)
					}
					if level < abi.ScheduleTiming {
						want = collector.Account{}
					}
					if got := o.Capture.Accounting.Kinds[abi.KindAicpuTask]; got != want {
						t.Errorf("AICPU account %+v, want %+v", got, want)
					}
					if bad := slices.Concat(saidOf(o.Notices, "warning"), saidOf(o.Notices, "error")); len(bad) > 0 {
						t.Errorf("said %q", bad)
					}
					if o.Faults != (collector.Faults{}) {
						t.Errorf("faults %+v", o.Faults)
					}
				})
			}
		}
	}
}
