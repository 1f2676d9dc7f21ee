package hbg_test

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
	"swimlane/internal/transport"
)

const (
	memoryBase = 0x1_0000_0000
	heapSize   = 32 << 20
)

// bench is a chip with memory, and a host that builds graphs and collects what the
// chip records of them.
type bench struct {
	t        testing.TB
	arch     *abi.Arch
	clusters int
	threads  int
	level    abi.Level
	costs    sim.Costs
	shards   int
	spin     bool          // idle threads do every iteration
	slow     time.Duration // the host waits so long before it copies anything

	memory  *transport.Device
	heap    uint64
	built   *hbg.Built
	capture *collector.Outcome
}

func newBench(t testing.TB, arch *abi.Arch, clusters int, level abi.Level) *bench {
	t.Helper()
	b := &bench{t: t, arch: arch, clusters: clusters, threads: arch.DefaultThreads, level: level, costs: sim.DefaultCosts(arch), shards: 1}
	var err error
	if b.memory, err = transport.New(memoryBase, 128<<20); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.memory.Close() })
	b.heap = b.alloc(heapSize)
	return b
}

// alloc takes memory of the chip.
func (b *bench) alloc(n int) uint64 {
	b.t.Helper()
	addr, err := transport.Mapped(b.memory).Alloc(n)
	if err != nil {
		b.t.Fatal(err)
	}
	return addr
}

// host is the host's way to the memory: shared, or slow copies.
func (b *bench) host() collector.Memory {
	if b.slow == 0 {
		return transport.Mapped(b.memory)
	}
	m := transport.Shadow(b.memory)
	copyFrom := m.CopyFromDevice
	m.CopyFromDevice = func(to []byte, addr uint64) error {
		if len(to) > 64 { // records
			time.Sleep(b.slow)
		}
		return copyFrom(to, addr)
	}
	return m
}

func (b *bench) chip() *sim.Chip {
	b.t.Helper()
	chip, err := sim.NewChip(b.arch, b.clusters, &b.costs)
	if err != nil {
		b.t.Fatal(err)
	}
	return chip
}

// build builds a graph.
func (b *bench) build(orchestrate func(*hbg.Host)) error {
	b.t.Helper()
	var err error
	b.built, err = hbg.Build(hbg.BuildConfig{Chip: b.chip(), Heap: b.heap, HeapSize: heapSize, Record: b.level >= abi.OrchPhases}, orchestrate)
	return err
}

// run builds a graph, runs it and collects what it records.
func (b *bench) run(orchestrate func(*hbg.Host)) *hbg.Report {
	b.t.Helper()
	if err := b.build(orchestrate); err != nil {
		b.t.Fatal(err)
	}
	report, err := b.runBuilt()
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}

func (b *bench) runBuilt() (*hbg.Report, error) {
	b.t.Helper()
	return b.collect(func(c hbg.Config) (*hbg.Report, error) { return hbg.Run(c, b.built.Graph) })
}

// collect collects what a run records.
func (b *bench) collect(run func(hbg.Config) (*hbg.Report, error)) (*hbg.Report, error) {
	b.t.Helper()
	chip := b.chip()
	c := hbg.Config{Chip: chip, Threads: b.threads, Space: b.memory.Space()}
	if b.spin {
		c.Spin()
	}
	if b.level == abi.Disabled {
		return run(c)
	}
	swimlane, err := collector.New(collector.Options{Arch: b.arch, Cores: len(chip.Cores), Threads: b.threads, Level: b.level, Shards: b.shards, Memory: b.host()})
	if err != nil {
		b.t.Fatal(err)
	}
	defer swimlane.Finalize()
	collecting, err := swimlane.Begin(collector.RunOptions{Level: b.level, Runtime: "host_build_graph"})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := collecting.Start(); err != nil {
		b.t.Fatal(err)
	}
	if c.Device, err = producer.Attach(producer.Config{
		Region: swimlane.Layout(), Space: b.memory.Space(), RegionAddr: swimlane.DataBase(), RotationTable: swimlane.RotationTable(),
		Enable: abi.EnableSwimlane, Cores: len(chip.Cores),
	}); err != nil {
		b.t.Fatal(err)
	}
	report, err := run(c)
	collecting.Stop()
	b.capture = collecting.Outcome()
	for kind, a := range b.capture.Capture.Accounting.Kinds {
		if a.Total != a.Collected {
			b.t.Errorf("kind %v: %+v, want everything collected", kind, a)
		}
	}
	if n, first := c.Device.Faults(); n != 0 {
		b.t.Errorf("%d faults of the writers, the first %v", n, first)
	}
	return report, err
}

// stalls are real time, and the only thing in a file that may differ.
var stalls = regexp.MustCompile(`"stalls": \{[^}]*\}`)

// file is what is exported.
func (b *bench) file() []byte {
	b.t.Helper()
	if b.level == abi.Disabled {
		return nil
	}
	var file bytes.Buffer
	if err := b.capture.Capture.Write(&file); err != nil {
		b.t.Fatal(err)
	}
	return stalls.ReplaceAll(file.Bytes(), nil)
}

// phases are those of a thread, in the order of their emission.
func (b *bench) phases(thread int) (out []abi.SchedPhase) {
	for batch := range b.capture.Capture.SchedPhases(thread) {
		out = append(out, batch...)
	}
	return out
}

// row is a subtask with both views of it.
type row struct {
	core                int
	task                uint64
	token               uint32
	dispatch, finish    uint64
	receive, start, end uint64
}

// rows joins the records, by core in the order of their tokens.
func (b *bench) rows() (out []row) {
	b.t.Helper()
	for core := range 3 * b.clusters {
		views := map[uint32]abi.AicpuTask{}
		for batch := range b.capture.Capture.AicpuTasks(core) {
			for _, r := range batch {
				views[r.RegTaskID] = r
			}
		}
		n := 0
		for batch := range b.capture.Capture.AicoreTasks(core) {
			for _, r := range batch {
				v, ok := views[r.RegTaskID]
				if !ok {
					b.t.Fatalf("core %d: token %d has no scheduler's record", core, r.RegTaskID)
				}
				out = append(out, row{core, r.TaskTokenRaw, r.RegTaskID, v.DispatchTime, v.FinishTime, r.StartTime - uint64(r.ReceiveToStartCycles), r.StartTime, r.EndTime})
				n++
			}
		}
		if n != len(views) {
			b.t.Fatalf("core %d has %d records of its own and %d of its scheduler", core, n, len(views))
		}
	}
	return out
}

// byTask are the rows of each task.
func (b *bench) byTask() map[uint64][]row {
	out := map[uint64][]row{}
	for _, r := range b.rows() {
		out[r.task] = append(out[r.task], r)
	}
	return out
}

const width = 48 // elements of a buffer

// tensor is a buffer of the chip with values by position.
func (b *bench) tensor(value func(i int) int32) abi.Tensor {
	b.t.Helper()
	x, err := sim.NewTensor(b.alloc(4*width), abi.Int32, width)
	if err != nil {
		b.t.Fatal(err)
	}
	for k, row := 0, b.ints(x); k < width; k++ {
		row[k] = value(k)
	}
	return x
}

func (b *bench) ints(t abi.Tensor) []int32 {
	b.t.Helper()
	v, err := sim.ViewOf[int32](b.memory.Space(), &t)
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Row(0)
}

// busy is a kernel that does nothing for so many cycles.
func busy(core abi.CoreType, cycles uint64) *sim.Kernel {
	return &sim.Kernel{ID: int32(core), Name: "BUSY", Type: core, Run: func(*sim.Call) uint64 { return cycles }}
}

func aic(cycles uint64) [3]*sim.Kernel { return [3]*sim.Kernel{busy(abi.AIC, cycles)} }
func aiv(cycles uint64) [3]*sim.Kernel { return [3]*sim.Kernel{1: busy(abi.AIV, cycles)} }

func after(ids ...uint64) (deps []producer.Dep) {
	for _, id := range ids {
		deps = append(deps, producer.Dep{Producer: id})
	}
	return deps
}

func in(t abi.Tensor) sim.Arg    { return sim.Arg{Type: abi.ArgInput, Tensor: t} }
func inOut(t abi.Tensor) sim.Arg { return sim.Arg{Type: abi.ArgInOut, Tensor: t} }
func into(t abi.Tensor) sim.Arg  { return sim.Arg{Type: abi.ArgOutputExisting, Tensor: t} }
func out(t abi.Tensor) sim.Arg   { return sim.Arg{Type: abi.ArgOutput, Tensor: t} }
