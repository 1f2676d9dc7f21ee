package collector_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
)

// Device and host in two processes, which share memory and nothing else. The
// other process is this test binary again.
const (
	asDevice = "SWIMLANE_TEST_DEVICE" // the process is a device; the value is its order
	asHost   = "SWIMLANE_TEST_HOST"   // the process is a host
)

func TestMain(m *testing.M) {
	run := m.Run
	if text := os.Getenv(asDevice); text != "" {
		run = func() int { return finished(beDevice(text)) }
	} else if os.Getenv(asHost) != "" {
		run = func() int { return finished(beHost()) }
	}
	os.Exit(run())
}

func finished(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const (
	sharedBase = 0x2000_0000
	sharedSize = 192 << 20
	// The last page of the memory, which no allocation reaches, is where a device
	// notes what it has begun and done.
	diaryAt   = sharedBase + sharedSize - 4096
	procCores = 3
	procLanes = 3 // two scheduler threads and the orchestrator
)

// diary notes how many records of each kind and pool the device has begun and
// done to write. It survives the device.
type diary struct{ mem abi.Mem }

func diaryOf(s abi.Space) (diary, error) {
	mem, err := s.At(diaryAt, 4096)
	return diary{mem}, err
}

func (d diary) words(kind abi.Kind, index int) (begun, done *atomic.Uint32) {
	at := (uint64(kind)*procCores + uint64(index)) * 8
	return d.mem.Word32(at), d.mem.Word32(at + 4)
}

// note writes a record and notes it.
func (d diary) note(kind abi.Kind, index int, write func()) {
	begun, done := d.words(kind, index)
	begun.Add(1)
	write()
	done.Add(1)
}

// order is what a device is told.
type order struct {
	Region, Table uint64
	Tasks, Phases int           // per core, and per thread and orchestrator
	Timeout       time.Duration // of a wait of the device, half its deadline
	Stops         []int         // numbers of tasks behind which the device process stops itself, until somebody continues it
}

// beDevice is the device process. Its memory is file 3.
func beDevice(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	file := os.NewFile(3, "device memory")
	for _, size := range []int64{0, sharedSize / 2, 2 * sharedSize} {
		if err := file.Truncate(size); err == nil {
			return fmt.Errorf("the memory was truncated to %d bytes", size)
		}
	}
	m, err := transport.Open(file, sharedBase, sharedSize)
	if err != nil {
		return err
	}
	defer m.Close()
	var next atomic.Int32
	faults, err := o.play(m.Space(), func(n int) {
		if i := next.Load(); int(i) < len(o.Stops) && n == o.Stops[i] && next.CompareAndSwap(i, i+1) {
			runtime.LockOSThread()
			_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // this thread does not go on before it has stopped
			runtime.UnlockOSThread()
		}
	})
	fmt.Println(faults)
	return err
}

// play runs the device. between is called between two tasks, if not nil.
func (o *order) play(s abi.Space, between func(n int)) (faults uint64, err error) {
	notes, err := diaryOf(s)
	if err != nil {
		return 0, err
	}
	layout, err := abi.NewRegion(abi.A2A3, procCores)
	if err != nil {
		return 0, err
	}
	d, err := producer.Attach(producer.Config{
		Region: layout, Space: s, RegionAddr: o.Region, RotationTable: o.Table, Enable: abi.EnableSwimlane, Cores: procCores,
		Waiting: producer.Waiting{Timeout: o.Timeout, Deadline: 2 * o.Timeout},
	})
	if err != nil {
		return 0, err
	}
	if err := d.InitPhases(procLanes-1, 1); err != nil {
		return 0, err
	}
	if err := d.PublishCores([]int8{0, 1, 0}); err != nil {
		return 0, err
	}
	var running sync.WaitGroup
	for lane := range procLanes - 1 {
		running.Go(func() { o.lane(d, notes, lane, between) })
	}
	running.Go(func() {
		thread := d.Thread(procLanes - 1)
		d.AnnounceOrchestrator(procLanes - 1)
		for i := range o.Phases {
			r := orchRecord(i)
			notes.note(abi.KindOrchPhase, 0, func() { thread.OrchPhase(&r) })
		}
		thread.FlushOrch()
	})
	running.Wait()
	for lane := range procLanes {
		n, _ := d.Thread(lane).Faults()
		faults += n
	}
	return faults, nil
}

func (o *order) lane(d *producer.Device, notes diary, lane int, between func(n int)) {
	thread := d.Thread(lane)
	var mine []int
	var cores []*producer.Core
	for core := lane; core < procCores; core += procLanes - 1 {
		mine, cores = append(mine, core), append(cores, d.Core(core))
	}
	emitted := 0
	for n := range o.Tasks {
		for i, core := range mine {
			// As task does it.
			at, token := dispatchOf(core, n), uint32(n+1)
			notes.note(abi.KindAicoreTask, core, func() { thread.Dispatch(core, token) })
			cores[i].Reserve()
			thread.Ack(core, token)
			cores[i].Commit(abi.TaskID(uint32(core), uint32(n)), token, at+10, at+20, at+80)
			notes.note(abi.KindAicpuTask, core, func() { thread.Task(core, token, at, at+90) })
		}
		for ; emitted < o.Phases*(n+1)/o.Tasks; emitted++ {
			p := schedRecord(lane, emitted)
			notes.note(abi.KindSchedPhase, lane, func() { thread.SchedPhase(&p) })
		}
		if between != nil {
			between(n)
		}
	}
	thread.Flush(mine, nil)
}

// pair is a host in this process and the memory that it shares.
type pair struct {
	t      *testing.T
	memory *transport.Device
	host   *collector.Swimlane
	diary  diary
}

func newPair(t *testing.T) *pair {
	t.Helper()
	memory, err := transport.NewShared(sharedBase, sharedSize)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, memory: memory}
	if p.diary, err = diaryOf(memory.Space()); err != nil {
		t.Fatal(err)
	}
	if p.host, err = collector.New(hostOptions(memory)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.host.Finalize(); err != nil {
			t.Error(err)
		}
		if n, bytes := memory.InUse(); n != 0 {
			t.Errorf("%d allocations of %d bytes are left", n, bytes)
		}
		if err := memory.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func hostOptions(memory *transport.Device) collector.Options {
	return collector.Options{Arch: abi.A2A3, Cores: procCores, Threads: procLanes, Level: abi.OrchPhases, Memory: transport.Mapped(memory)}
}

func (p *pair) begin() *collector.Run {
	p.t.Helper()
	clear(p.diary.mem)
	run, err := p.host.Begin(collector.RunOptions{Level: abi.OrchPhases, Runtime: tmr})
	if err != nil {
		p.t.Fatal(err)
	}
	return run
}

// process is another process of this binary.
type process struct {
	*exec.Cmd
	out    bytes.Buffer // what it said on its standard error
	exited chan struct{}
	err    error // how, once it has
}

func start(t *testing.T, role, text string, prepare func(*exec.Cmd)) *process {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &process{Cmd: exec.CommandContext(t.Context(), name), exited: make(chan struct{})}
	c.Env = append(os.Environ(), role+"="+text)
	c.Stderr = &c.out
	prepare(c.Cmd)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.exited)
		c.err = c.Wait()
	}()
	return c
}

// launch starts a device process; faults are what its writers met, once it has
// ended.
func (p *pair) launch(o order) (c *process, faults *bytes.Buffer) {
	p.t.Helper()
	o.Region, o.Table = p.host.DataBase(), p.host.RotationTable()
	text, err := json.Marshal(o)
	if err != nil {
		p.t.Fatal(err)
	}
	faults = new(bytes.Buffer)
	return start(p.t, asDevice, string(text), func(c *exec.Cmd) {
		c.ExtraFiles, c.Stdout = []*os.File{p.memory.File()}, faults
	}), faults
}

// end waits for a process that ends by itself.
func (c *process) end(t *testing.T) {
	t.Helper()
	if <-c.exited; c.err != nil {
		t.Fatalf("%v: %s", c.err, c.out.String())
	}
}

// kill ends a process at once, and waits until it is gone.
func (c *process) kill(t *testing.T) {
	t.Helper()
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	<-c.exited
}

// until waits for a device to have begun so many AicpuTask records of core 0.
func (p *pair) until(device *process, n int) {
	p.t.Helper()
	begun, _ := p.diary.words(abi.KindAicpuTask, 0)
	for begun.Load() < uint32(n) {
		select {
		case <-device.exited:
			if begun.Load() < uint32(n) {
				p.t.Fatalf("the device ended at task %d, before %d: %v: %s", begun.Load(), n, device.err, device.out.String())
			}
		default:
			runtime.Gosched()
		}
	}
}

// check compares what came with what the diary of the device says: of each pool
// the first records, without a gap, and all of them if whole is true. A device
// that was killed has begun at most one record that it did not finish.
func (p *pair) check(o *collector.Outcome, whole bool) {
	t := p.t
	t.Helper()
	checkSums(t, o)
	var collected, begun, done [abi.Kinds]uint64
	read := func(kind abi.Kind, index int, n int) {
		b, d := p.diary.words(kind, index)
		collected[kind] += uint64(n)
		begun[kind] += uint64(b.Load())
		done[kind] += uint64(d.Load())
	}
	c := &chip{setup: setup{cores: procCores, threads: procLanes}, t: t}
	g := c.received(o.Capture, nil, nil)
	for core := range procCores {
		prefix(t, fmt.Sprintf("AicoreTask of core %d", core), g.aicore[core], func(i int) abi.AicoreTask { return aicoreRecord(core, i) }, len(g.aicore[core]))
		prefix(t, fmt.Sprintf("AicpuTask of core %d", core), g.aicpu[core], func(i int) abi.AicpuTask { return aicpuRecord(core, i) }, len(g.aicpu[core]))
		read(abi.KindAicoreTask, core, len(g.aicore[core]))
		read(abi.KindAicpuTask, core, len(g.aicpu[core]))
	}
	for lane := range procLanes - 1 {
		prefix(t, fmt.Sprintf("SchedPhase of thread %d", lane), g.sched[lane], func(i int) abi.SchedPhase { return schedRecord(lane, i) }, len(g.sched[lane]))
		read(abi.KindSchedPhase, lane, len(g.sched[lane]))
	}
	prefix(t, "OrchPhase", g.orch, orchRecord, len(g.orch))
	read(abi.KindOrchPhase, 0, len(g.orch))

	for kind, a := range o.Capture.Accounting.Kinds {
		name := abi.Buffers[kind].Name
		if a.Total < done[kind] || a.Total > begun[kind] || a.Collected != collected[kind] || a.HostLost != 0 {
			t.Errorf("%s: account %+v, want a total from %d to %d, %d collected and none lost by the host", name, a, done[kind], begun[kind], collected[kind])
		}
		if whole && (a.Collected != a.Total || begun[kind] != done[kind]) {
			t.Errorf("%s: account %+v of %d records, want all", name, a, done[kind])
		}
	}
	if o.Faults != (collector.Faults{}) {
		t.Errorf("faults of the host: %+v", o.Faults)
	}
	if !whole {
		p.checkFile(o)
	}
}

// checkFile demands that the exported file says what the accounts say.
func (p *pair) checkFile(o *collector.Outcome) {
	t := p.t
	t.Helper()
	path, err := o.Capture.Export(filepath.Join(t.TempDir(), "out"))
	if err == collector.ErrNoData {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// It stands on one line; the rest of the file takes long to read.
	_, rest, found := bytes.Cut(text, []byte(`"capture_accounting": `))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if !found {
		t.Fatal("the file has no capture_accounting")
	}
	type account struct {
		Total     uint64 `json:"total"`
		Collected uint64 `json:"collected"`
		Dropped   uint64 `json:"dropped"`
		HostLost  uint64 `json:"host_lost"`
		Unflushed uint64 `json:"unflushed"`
	}
	var accounting struct {
		Kinds map[string]account `json:"kinds"`
	}
	if err := json.Unmarshal(bytes.TrimSuffix(line, []byte(",")), &accounting); err != nil {
		t.Fatal(err)
	}
	for kind, name := range map[abi.Kind]string{
		abi.KindAicpuTask: "AICPU_TASK", abi.KindAicoreTask: "AICORE_TASK", abi.KindSchedPhase: "SCHED_PHASE", abi.KindOrchPhase: "ORCH_PHASE",
	} {
		if got, want := accounting.Kinds[name], account(o.Capture.Accounting.Kinds[kind]); got != want {
			t.Errorf("the file has %+v for %s, want %+v", got, name, want)
		}
	}
}

// fullOrder fills several buffers of each kind.
var fullOrder = order{Tasks: 6000, Phases: 20_000, Timeout: time.Minute}

// TestTwoProcesses: the device is another process, and all records come.
func TestTwoProcesses(t *testing.T) {
	p := newPair(t)
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		run := p.begin()
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		device, faults := p.launch(fullOrder)
		device.end(t)
		run.Stop()
		p.check(run.Outcome(), true)
		if got := strings.TrimSpace(faults.String()); got != "0" {
			t.Errorf("%s faults of the device, want 0", got)
		}
		if got := run.Outcome().Capture.Accounting.Kinds[abi.KindAicpuTask].Collected; got != procCores*6000 {
			t.Errorf("%d AicpuTask records, want %d", got, procCores*6000)
		}
	}
}

// TestKilledDevice: the device dies in the middle of its production. The host
// stops, keeps what it has got, and says what is missing. The next device finds
// everything in order.
func TestKilledDevice(t *testing.T) {
	for _, seed := range seeds(t, 1) {
		t.Logf("repeat with SWIMLANE_SEED=%d", seed)
		rng := rand.New(rand.NewPCG(seed, 5))
		p := newPair(t)
		for _, at := range []int{1, 900 + rng.IntN(200), rng.IntN(fullOrder.Tasks), fullOrder.Tasks - rng.IntN(10)} {
			run := p.begin()
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			device, _ := p.launch(fullOrder)
			p.until(device, at)
			device.kill(t)
			run.Stop()
			o := run.Outcome()
			t.Logf("killed at task %d: %s", at, o.Summary())
			p.check(o, false)
			if t.Failed() {
				return
			}
		}
		run := p.begin()
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		device, _ := p.launch(fullOrder)
		device.end(t)
		run.Stop()
		p.check(run.Outcome(), true)
	}
}

// TestStoppedDevice: a device that stands still for a while loses nothing.
func TestStoppedDevice(t *testing.T) {
	p := newPair(t)
	run := p.begin()
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	o := fullOrder
	o.Stops = []int{1000, 2000, 4000}
	device, _ := p.launch(o)
	stopped := 0
	for ended := false; !ended; time.Sleep(time.Millisecond) {
		select {
		case <-device.exited:
			ended = true
		default:
		}
		if stateOf(device) != "T" {
			continue
		}
		stopped++
		for p.queued() { // the host has nothing more to do
			runtime.Gosched()
		}
		if err := device.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if stopped < len(o.Stops) {
		t.Errorf("the device stopped %d times, want %d", stopped, len(o.Stops))
	}
	device.end(t)
	run.Stop()
	p.check(run.Outcome(), true)
}

// stateOf is the state of a process, of proc(5).
func stateOf(c *process) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	_, rest, found := strings.Cut(string(text), ") ")
	if err != nil || !found {
		return "X" // gone
	}
	return rest[:1]
}

// queued tells whether a ready queue holds anything.
func (p *pair) queued() bool {
	l := p.host.Layout()
	mem, err := p.memory.Space().At(p.host.DataBase(), int(l.TotalSize))
	if err != nil {
		p.t.Fatal(err)
	}
	for q := range procLanes {
		if mem.Word32(l.Head(q)).Load() != mem.Word32(l.Tail(q)).Load() {
			return true
		}
	}
	return false
}

// TestHostThatDoesNotServe: each wait of the device ends at its deadline; what it
// cannot record it counts. A host that comes late still gets what fitted.
func TestHostThatDoesNotServe(t *testing.T) {
	p := newPair(t)
	run := p.begin()
	// Four buffers per core: 4000 AicpuTask records and 4096 of the core.
	device, faults := p.launch(order{Tasks: 4002, Phases: 100, Timeout: time.Millisecond})
	device.end(t)
	if got := strings.TrimSpace(faults.String()); got == "0" || got == "" {
		t.Errorf("%q faults of the device, want some", got)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	run.Stop()
	o := run.Outcome()
	p.check(o, false)
	for kind, want := range [abi.Kinds]collector.Account{
		abi.KindAicpuTask:  {Total: 3 * 4002, Collected: 3 * 4000, Dropped: 3 * 2},
		abi.KindAicoreTask: {Total: 3 * 4002, Collected: 3 * 4002},
		abi.KindSchedPhase: {Total: 200, Collected: 200},
		abi.KindOrchPhase:  {Total: 100, Collected: 100},
	} {
		if got := o.Capture.Accounting.Kinds[kind]; got != want {
			t.Errorf("%s: account %+v, want %+v", abi.Buffers[kind].Name, got, want)
		}
	}
}

// beHost is a host process. It says where its memory is, and serves until it is
// killed.
func beHost() error {
	memory, err := transport.NewShared(sharedBase, sharedSize)
	if err != nil {
		return err
	}
	host, err := collector.New(hostOptions(memory))
	if err != nil {
		return err
	}
	run, err := host.Begin(collector.RunOptions{Level: abi.OrchPhases, Runtime: tmr})
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return err
	}
	fmt.Println(memory.File().Fd(), host.DataBase(), host.RotationTable())
	select {}
}

// TestKilledHost: the host dies while the device produces. The device's waits end
// at their limits, whatever the host left in the flags, and every record is
// counted.
func TestKilledHost(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		var said *bufio.Reader
		host := start(t, asHost, "yes", func(c *exec.Cmd) {
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			said = bufio.NewReader(out)
		})
		var fd uint
		// Dead after 2500 tasks, the host leaves at most 5 AicpuTask buffers per core.
		o := order{Tasks: 7100, Phases: 1000, Timeout: 100 * time.Microsecond}
		if _, err := fmt.Fscan(said, &fd, &o.Region, &o.Table); err != nil {
			t.Fatalf("%v: %s", err, host.out.String())
		}
		file, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", host.Process.Pid, fd), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		m, err := transport.Open(file, sharedBase, sharedSize)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		layout, err := abi.NewRegion(abi.A2A3, procCores)
		if err != nil {
			t.Fatal(err)
		}
		region, err := m.Space().At(o.Region, int(layout.TotalSize))
		if err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		faults, err := o.play(m.Space(), func(n int) {
			if n < 2500 {
				return
			}
			once.Do(func() {
				host.kill(t)
				if frozen {
					bp := abi.View[abi.Backpressure](region, layout.Backpressure)
					bp.RqFreezeActive.Store(1)
					bp.FqFreezeActive.Store(1)
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if faults == 0 {
			t.Error("the device met no fault")
		}
		notes, err := diaryOf(m.Space())
		if err != nil {
			t.Fatal(err)
		}
		for core := range procCores {
			for _, kind := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} {
				head := &abi.View[abi.Pool](region, layout.Pool(kind, core)).Head
				if _, done := notes.words(kind, core); head.TotalRecordCount != uint32(o.Tasks) || done.Load() != uint32(o.Tasks) {
					t.Errorf("core %d: %d records of kind %d counted, %d made, want %d", core, head.TotalRecordCount, kind, done.Load(), o.Tasks)
				}
				if kind == abi.KindAicpuTask && head.DroppedRecordCount == 0 {
					t.Errorf("core %d: no AicpuTask record is counted as dropped", core)
				}
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
