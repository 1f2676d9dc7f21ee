package tmr_test

import (
	"sync"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
	"swimlane/internal/transport"
)

const (
	memoryBase = 0x1_0000_0000
	ringHeap   = 8 << 20
)

// bench is a chip with memory, and a host that collects what it records.
type bench struct {
	t        testing.TB
	arch     *abi.Arch
	clusters int
	threads  int
	level    abi.Level
	costs    sim.Costs
	shards   int
	limits   tmr.Limits
	noDeps   bool          // dep_gen is off, which is on at all levels but 0
	onlyDeps bool          // and on at level 0
	spin     bool          // idle threads do every iteration
	slow     time.Duration // the host waits so long before it copies anything

	memory  *transport.Device
	capture *collector.Outcome
	graph   *collector.DepGenOutcome
	stalls  int // waits of the device for its host
	early   int // dispatches before a producer had finished
}

func newBench(t testing.TB, arch *abi.Arch, clusters int, level abi.Level) *bench {
	t.Helper()
	b := &bench{t: t, arch: arch, clusters: clusters, threads: arch.DefaultThreads, level: level, costs: sim.DefaultCosts(arch), shards: 1}
	var err error
	if b.memory, err = transport.New(memoryBase, 256<<20); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.memory.Close() })
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

// host is the host's way to the memory: shared, or slow copies. The first slow copy
// of records takes as long as it takes the device to run out of buffers.
func (b *bench) host(starved func() bool) collector.Memory {
	if b.slow == 0 {
		return transport.Mapped(b.memory)
	}
	m := transport.Shadow(b.memory)
	copyFrom := m.CopyFromDevice
	var first sync.Once
	m.CopyFromDevice = func(to []byte, addr uint64) error {
		if len(to) > 64 { // records
			first.Do(func() {
				for range 5000 { // not for ever: the test sees whether the device has waited
					if starved() {
						break
					}
					time.Sleep(time.Millisecond)
				}
			})
			time.Sleep(b.slow)
		}
		return copyFrom(to, addr)
	}
	return m
}

// starved tells whether a device waits for a free buffer.
func (b *bench) starved(region, header uint64) bool {
	mem, err := b.memory.Space().At(region+header, 16)
	if err != nil {
		b.t.Error(err)
		return true
	}
	p := abi.View[abi.Backpressure](mem, 0)
	return p.FqContended.Load()|p.FqFreezeActive.Load() != 0
}

// run runs an orchestration and collects what it records.
func (b *bench) run(orchestrate func(*tmr.Orchestrator)) (*tmr.Report, error) {
	b.t.Helper()
	chip, err := sim.NewChip(b.arch, b.clusters, &b.costs)
	if err != nil {
		b.t.Fatal(err)
	}
	c := tmr.Config{Chip: chip, Threads: b.threads, Space: b.memory.Space(), Heap: b.alloc(tmr.Rings * ringHeap), RingHeap: ringHeap, Limits: b.limits}
	if b.spin {
		c.Spin()
	}
	enable := uint32(0)
	if b.level > abi.Disabled {
		enable |= abi.EnableSwimlane
	}
	if b.onlyDeps || b.level > abi.Disabled && !b.noDeps {
		enable |= abi.EnableDepGen
	}
	if enable&abi.EnableSwimlane != 0 {
		defer b.swimlane(&c, enable)()
	}
	if enable&abi.EnableDepGen != 0 {
		defer b.depGen(&c, enable)()
	}
	return tmr.Run(c, orchestrate)
}

// swimlane begins to collect records. What it returns ends that.
func (b *bench) swimlane(c *tmr.Config, enable uint32) (end func()) {
	b.t.Helper()
	cores := len(c.Chip.Cores)
	var swimlane *collector.Swimlane
	starved := func() bool { return b.starved(swimlane.DataBase(), swimlane.Layout().Backpressure) }
	swimlane, err := collector.New(collector.Options{
		Arch: b.arch, Cores: cores, Threads: b.threads, Level: b.level, Shards: b.shards, Memory: b.host(starved),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	run, err := swimlane.Begin(collector.RunOptions{Level: b.level, Runtime: "tensormap_and_ringbuffer"})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		b.t.Fatal(err)
	}
	if c.Device, err = producer.Attach(producer.Config{
		Region: swimlane.Layout(), Space: b.memory.Space(), RegionAddr: swimlane.DataBase(), RotationTable: swimlane.RotationTable(),
		Enable: enable, Cores: cores,
	}); err != nil {
		b.t.Fatal(err)
	}
	device := c.Device
	return func() {
		run.Stop()
		b.capture, b.stalls = run.Outcome(), device.Stalls().Count
		for kind, a := range b.capture.Capture.Accounting.Kinds {
			if a.Total != a.Collected {
				b.t.Errorf("kind %v: %+v, want everything collected", kind, a)
			}
		}
		if n, first := device.Faults(); n != 0 {
			b.t.Errorf("%d faults of the writers, the first %v", n, first)
		}
		swimlane.Finalize()
	}
}

// depGen begins to collect submits. What it returns ends that.
func (b *bench) depGen(c *tmr.Config, enable uint32) (end func()) {
	b.t.Helper()
	depGen, err := collector.NewDepGen(collector.DepGenOptions{Arch: b.arch, Threads: b.threads, Memory: b.host(func() bool { return true })})
	if err != nil {
		b.t.Fatal(err)
	}
	deps, err := depGen.Begin()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := deps.Start(); err != nil {
		b.t.Fatal(err)
	}
	if c.DepGen, err = producer.AttachDepGen(producer.DepGenConfig{
		Region: depGen.Layout(), Space: b.memory.Space(), RegionAddr: depGen.DataBase(), Enable: enable,
	}); err != nil {
		b.t.Fatal(err)
	}
	return func() {
		deps.Stop()
		b.graph = deps.Outcome()
		depGen.Finalize()
	}
}
