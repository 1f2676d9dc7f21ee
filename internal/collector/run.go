package collector

import (
	"fmt"
	"time"

	"swimlane/internal/abi"
)

// RunOptions say what one run records, and what only the host knows of it for
// the file.
type RunOptions struct {
	Level      abi.Level         // 0: nothing
	Policy     abi.Policy        // of the device
	Runtime    string            // name of the runtime, which scheduler streams carry
	CoreTypes  []abi.CoreType    // by core; nil: those of whole clusters (spec/device-abi.md §1)
	CoCaptured []string          // other diagnostics of the launch
	BootID     string            // of the host's clock, see [ReadBootID]; written only with Clock or Host
	Clock      *ClockCorrelation // nil: none; the caller opens it before Start and closes it before Stop
	// Sink takes the records instead of the capture, as raw bytes in the layout of
	// their kind; AicoreTask slots that were never written are among them, and at
	// level 1 slots of an earlier life of a core's last buffer. A record that lands
	// after its buffer was handed over is not seen. It must not keep the bytes. Each
	// shard calls it from a goroutine of its own.
	Sink func(shard int, kind abi.Kind, index int, seq uint32, records []byte)
}

// Run is one launch of the device and what was collected of it. Its methods are
// for one goroutine.
type Run struct {
	life[Outcome]
	c      *Swimlane
	opt    RunOptions
	failed bool
	shards []*runShard
	stalls Stalls
}

// runShard is what one collector shard knows of a run; only its goroutine writes
// it.
type runShard struct {
	store store
	pools []poolTally
}

// poolTally is what a shard has collected of one pool.
type poolTally struct {
	records uint64                            // where a sink takes them; without those in slots
	slots   [abi.AicoreBufferSize / 64]uint64 // which were written of the last AicoreTask buffer that a sink took
	last    uint32                            // the highest sequence
	any     bool
}

// note says that a buffer of that sequence has come.
func (t *poolTally) note(seq uint32) {
	if !t.any || seq > t.last {
		t.last, t.any = seq, true
	}
}

// take counts what a sink took. Slots at the end of a core's last buffer may be
// of an earlier life of it; only the device's total says which, when it has
// stopped (spec/collector.md §5.2).
func (t *poolTally) take(kind abi.Kind, seq uint32, data abi.Mem) {
	n := len(data) / abi.Buffers[kind].RecordSize
	if kind != abi.KindAicoreTask || seq != t.last {
		t.records += uint64(written(kind, data))
		return
	}
	t.records += t.upTo(abi.AicoreBufferSize)
	clear(t.slots[:])
	for i, task := range abi.Views[abi.AicoreTask](data, 0, n) {
		if task.StartTime != 0 {
			t.slots[i/64] |= 1 << (i % 64)
		}
	}
}

// upTo is how many of the first slots of the last buffer were written.
func (t *poolTally) upTo(limit uint32) (n uint64) {
	for i := range limit {
		n += t.slots[i/64] >> (i % 64) & 1
	}
	return n
}

// Begin arms a run. The run before it must have been stopped; what it collected
// stays with it. A level that cannot be met is an error.
func (c *Swimlane) Begin(o RunOptions) (*Run, error) {
	fail := func(err error) (*Run, error) { return nil, fmt.Errorf("begin a swimlane run: %w", err) }
	if _, err := abi.ParseLevel(int(o.Level)); err != nil {
		return fail(err)
	}
	if err := c.levelMet(o.Level); err != nil {
		return fail(err)
	}
	if err := o.check(c.opt.Cores); err != nil {
		return fail(err)
	}
	if err := c.mayBegin(); err != nil {
		return fail(err)
	}
	if err := c.reset(o.Level); err != nil {
		return fail(err)
	}
	c.ex.flight.peak.Store(0)
	r := &Run{c: c, opt: o, life: life[Outcome]{off: o.Level == abi.Disabled}}
	for range c.ex.shards {
		r.shards = append(r.shards, &runShard{pools: make([]poolTally, len(c.ex.pools))})
	}
	c.begin(&r.life, r.settle)
	c.mod.sink = r.collect
	return r, nil
}

// check refuses what could not be written into the file after the run.
func (o *RunOptions) check(cores int) error {
	if o.Level >= abi.SchedPhases && o.Runtime == "" && o.Sink == nil {
		return fmt.Errorf("level %d records scheduler streams, which name their runtime; give its name", o.Level)
	}
	if n := len(o.CoreTypes); n != 0 && n != cores {
		return fmt.Errorf("%d core types are given for %d cores; give one for each core, or none", n, cores)
	}
	return checkNames(append([]string{o.Runtime}, o.CoCaptured...))
}

// describe gives a capture what was known of the run at its begin.
func (r *Run) describe(c *Capture) {
	o := &r.opt
	c.Runtime, c.CoreTypes, c.CoCaptured, c.BootID, c.Clock = o.Runtime, o.CoreTypes, o.CoCaptured, o.BootID, o.Clock
	if c.CoreTypes == nil && c.Cores%abi.CoresPerCluster == 0 {
		c.CoreTypes = abi.CoreTypes(c.Cores / abi.CoresPerCluster)
	}
	c.Accounting.Policy, c.Accounting.Stalls, c.Accounting.EndedEarly = o.Policy, r.stalls, r.failed
}

// Stalled adds waits of the device's writers for the host, in the host's time. A
// device in the same process has the figures when it has finished; they must be
// given before the outcome is asked for.
func (r *Run) Stalled(count int, total time.Duration) {
	r.stalls.Count += uint64(count)
	r.stalls.RealNs += uint64(total)
}

// Failed says that the device has not come to the end of the run: its records are
// not all there, and that is nobody's fault but its own.
func (r *Run) Failed() { r.failed = true }

// reset gives the device the level of the next run and sets back what the last
// run left (spec/collector.md §5.3). The device does not run, so the host may
// write what the device owns otherwise.
func (c *Swimlane) reset(level abi.Level) error {
	p, l := newPort(&c.region), c.layout
	if err := p.store32(l.Level, uint32(level)); err != nil {
		return err
	}
	if c.run == nil {
		return nil // everything is as it was made
	}
	for _, off := range []uint64{l.NumSchedPhaseThreads, l.NumOrchPhaseThreads, l.NumPhaseCores} {
		if err := p.store32(off, 0); err != nil {
			return err
		}
	}
	unassign(c.region.host, l)
	if err := p.push(l.CoreToThread, l.Arch.MaxCores); err != nil {
		return err
	}
	if err := c.ex.reclaim(p, resetCounters); err != nil {
		return err
	}
	for _, k := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} { // beyond the run's cores
		for i := c.opt.Cores; i < l.GridCores; i++ {
			if err := resetCounters(p, l.Pool(k, i)); err != nil {
				return err
			}
		}
	}
	clear(c.table.host) // a core that looks early must not find a pool of the last run
	if err := p.pushBlock(c.table); err != nil {
		return err
	}
	// The start leaves out phase pools, which the device has not announced yet.
	r := newReplenisher(c.ex)
	for _, q := range c.ex.pools {
		if shard, used := c.home(q); used {
			if _, err := r.fillQueue(q, shard); err != nil {
				return err
			}
		}
	}
	return nil
}

// resetCounters empties total and dropped of a pool, which are adjacent.
func resetCounters(p *port, pool uint64) error {
	for i := range uint64(2) {
		if err := p.store32(pool+abi.PoolTotalOffset+4*i, 0); err != nil {
			return err
		}
	}
	return nil
}

// Level is what the run records.
func (r *Run) Level() abi.Level { return r.opt.Level }

// collect takes a buffer, on the goroutine of its shard.
func (r *Run) collect(shard int, h *handoff) (hold bool) {
	s := r.shards[shard]
	data := h.records(&r.c.ex.kinds[h.kind])
	kind := abi.Kind(h.kind)
	t := &s.pools[h.pool]
	t.note(h.seq)
	if r.opt.Sink != nil {
		r.opt.Sink(shard, kind, h.index, h.seq, data)
		t.take(kind, h.seq, data)
		return false
	}
	// A record that is missing may still be on its way (spec/collector.md §2.9):
	// look again after the stop.
	return s.store.add(kind, h.index, h.seq, data)*abi.Buffers[kind].RecordSize < len(data)
}

// written counts the records that were written: all, but for AicoreTask slots
// without a start.
func written(kind abi.Kind, data abi.Mem) (n int) {
	if kind != abi.KindAicoreTask {
		return len(data) / abi.Buffers[kind].RecordSize
	}
	tasks := abi.Views[abi.AicoreTask](data, 0, len(data)/abi.Buffers[kind].RecordSize)
	for i := range tasks {
		if tasks[i].StartTime != 0 {
			n++
		}
	}
	return n
}
