package collector

import (
	"errors"
	"fmt"
	"time"

	"swimlane/internal/abi"
)

// Options shape the pools of a collector; they hold for all its runs.
type Options struct {
	Arch      *abi.Arch
	Cores     int       // AICores of the runs
	Threads   int       // AICPU threads of the runs; 0: the architecture's default
	GridCores int       // pools per core array; 0: Cores (spec/device-abi.md §8)
	Level     abi.Level // the highest level of a run
	Depths    Depths    // zero: DefaultDepths
	Shards    int       // drain and collector goroutines; 0: one per thread
	// HostOrchestrated runs submit their tasks on the host, so no orchestrator
	// thread exists on the device and no pool is made for it.
	HostOrchestrated bool

	Memory    Memory
	Log       Logger        // may be nil
	IdleLimit time.Duration // a shard without traffic is reported after it; 0: 30 s
}

// Swimlane collects task and phase records of one chip.
type Swimlane struct {
	host[Outcome]
	opt    Options
	layout *abi.Region
	table  *block // rotation table
	mod    *swimlaneModule
}

// New allocates the region and the buffers, and writes what the device finds when
// it starts (spec/collector.md §5.1). On an error everything is given back.
func New(o Options) (*Swimlane, error) {
	c, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := c.allocate(); err != nil {
		return nil, errors.Join(fmt.Errorf("swimlane collector: %w", err), c.mem.releaseAll())
	}
	return c, nil
}

// prepare checks the options and fills in what they leave open.
func prepare(o Options) (*Swimlane, error) {
	fail := func(format string, args ...any) (*Swimlane, error) {
		return nil, fmt.Errorf("swimlane collector: "+format, args...)
	}
	if o.Arch == nil {
		return fail("no architecture is given")
	}
	if err := o.Memory.check(); err != nil {
		return fail("%w", err)
	}
	if o.Cores < 1 || o.Cores > o.Arch.MaxCores {
		return fail("%d cores cannot be: %s has 1 to %d", o.Cores, o.Arch.Name, o.Arch.MaxCores)
	}
	if o.Threads == 0 {
		o.Threads = o.Arch.DefaultThreads
	}
	if o.Threads < 1 || o.Threads > o.Arch.MaxThreads {
		return fail("%d AICPU threads cannot be: %s has 1 to %d", o.Threads, o.Arch.Name, o.Arch.MaxThreads)
	}
	if o.GridCores == 0 {
		o.GridCores = o.Cores
	}
	if o.GridCores < o.Cores {
		return fail("a grid of %d cores has no pools for %d cores", o.GridCores, o.Cores)
	}
	layout, err := abi.NewRegion(o.Arch, o.GridCores)
	if err != nil {
		return fail("%w", err)
	}
	if _, err := abi.ParseLevel(int(o.Level)); err != nil {
		return fail("%w", err)
	}
	if o.Depths == (Depths{}) {
		o.Depths = DefaultDepths()
	}
	if err := o.Depths.check(); err != nil {
		return fail("%w", err)
	}
	if o.Shards == 0 {
		o.Shards = min(o.Threads, o.Arch.MaxThreads)
	}
	if o.IdleLimit == 0 {
		o.IdleLimit = idleLimit
	}
	c := &Swimlane{opt: o, layout: layout}
	c.mem.mem = o.Memory
	c.mod = newSwimlaneModule(&c.opt, layout)
	return c, nil
}

// allocate makes the region, the buffers and the rotation table, seeds the queues
// and pushes the region to the device, once.
func (c *Swimlane) allocate() error {
	o := &c.opt
	err := c.allocateRegion(c.layout.TotalSize)
	if err != nil {
		return err
	}
	*c.region.host.U32(c.layout.NumCores) = uint32(o.Cores)
	*c.region.host.U32(c.layout.Level) = uint32(o.Level)
	unassign(c.region.host, c.layout)

	c.ex, err = newExchange(c.mod, &c.mem, &c.region, o.Threads, min(o.Shards, o.Threads), o.Depths.rings(o.Arch), o.Log)
	if err != nil {
		return err
	}
	c.ex.idleLimit = o.IdleLimit
	for _, p := range c.ex.pools {
		if err := c.seed(p); err != nil {
			return err
		}
	}
	if c.table, err = c.mem.allocate(o.Cores * 8); err != nil {
		return err
	}
	clear(c.table.host)
	return c.region.pushAll()
}

// unassign says that no core belongs to a thread yet.
func unassign(host abi.Mem, l *abi.Region) {
	threads := abi.Views[int8](host, l.CoreToThread, l.Arch.MaxCores)
	for i := range threads {
		threads[i] = -1
	}
}

// home is the shard whose lane the buffers of a pool begin in; no buffers are
// made for a pool that no run can use.
func (c *Swimlane) home(p *pool) (shard int, used bool) {
	shards := len(c.ex.shards)
	switch abi.Kind(p.kind) {
	case abi.KindSchedPhase:
		return p.index % shards, p.index < c.opt.Threads
	case abi.KindOrchPhase:
		return (c.opt.Threads - 1) % shards, p.index == 0 && c.opt.Level >= abi.OrchPhases && !c.opt.HostOrchestrated
	}
	return (p.index / abi.CoresPerCluster) % shards, true
}

// seed gives a pool the buffers of its kind's depth.
func (c *Swimlane) seed(p *pool) error {
	k := abi.Kind(p.kind)
	n, _ := c.opt.Depths.of(k)
	shard, used := c.home(p)
	if !used {
		return nil
	}
	return c.ex.seed(p, shard, n)
}

// RotationTable is the device address of the rotation table, for
// KernelArgs.chip_swimlane_aicore_rotation_table.
func (c *Swimlane) RotationTable() uint64 { return c.table.addr }

// Layout is where things are in the region.
func (c *Swimlane) Layout() *abi.Region { return c.layout }

// levelMet tells whether the pools have buffers for what a level records.
func (c *Swimlane) levelMet(l abi.Level) error {
	o := &c.opt
	switch {
	case l > o.Level:
		return fmt.Errorf("level %d cannot be met: the collector was made for level %d and has no buffers for more", l, o.Level)
	case l >= abi.OrchPhases && !o.HostOrchestrated && o.Threads < 2:
		return fmt.Errorf("level %d cannot be met: the orchestrator needs an AICPU thread beside the scheduler's, and the run has %d", l, o.Threads)
	}
	return nil
}
