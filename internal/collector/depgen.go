package collector

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"swimlane/internal/abi"
)

// DepGenOptions shape the collector of dep_gen, the record of what tasks were
// submitted with.
type DepGenOptions struct {
	Arch      *abi.Arch
	Threads   int             // AICPU threads of the runs; 0: the architecture's default
	Form      *abi.DepGenForm // of the records; nil: abi.DepGenKinds
	Buffers   int             // pre-allocated; 0: abi.DepGenBuffersPerInstance
	Memory    Memory
	Log       Logger        // may be nil
	IdleLimit time.Duration // 0: 30 s
}

// DepGen collects the submits of one chip. The order of records is that in which
// the orchestrator wrote them, so there is one shard (spec/collector.md §10).
type DepGen struct {
	host[DepGenOutcome]
	opt    DepGenOptions
	layout *abi.DepGenRegion
	mod    *depGenModule
}

// NewDepGen allocates the region and the buffers. On an error everything is given
// back.
func NewDepGen(o DepGenOptions) (*DepGen, error) {
	fail := func(err error) (*DepGen, error) { return nil, fmt.Errorf("dep_gen collector: %w", err) }
	if o.Arch == nil {
		return fail(errors.New("no architecture is given"))
	}
	if err := o.Memory.check(); err != nil {
		return fail(err)
	}
	if o.Threads == 0 {
		o.Threads = o.Arch.DefaultThreads
	}
	if o.Form == nil {
		o.Form = abi.DepGenKinds
	}
	if o.Buffers == 0 {
		o.Buffers = abi.DepGenBuffersPerInstance
	}
	if o.Buffers < 1 || o.Buffers > maxDepth {
		return fail(fmt.Errorf("%d buffers cannot be: expected 1 to %d", o.Buffers, maxDepth))
	}
	if o.IdleLimit == 0 {
		o.IdleLimit = idleLimit
	}
	d := &DepGen{opt: o, layout: abi.NewDepGenRegion(o.Arch, o.Form)}
	d.mem.mem = o.Memory
	if err := d.allocate(); err != nil {
		return fail(errors.Join(err, d.mem.releaseAll()))
	}
	return d, nil
}

func (d *DepGen) allocate() error {
	err := d.allocateRegion(d.layout.TotalSize)
	if err != nil {
		return err
	}
	*d.region.host.U32(d.layout.NumInstances) = abi.DepGenInstances
	d.mod = &depGenModule{layout: d.layout}
	room := max(d.opt.Buffers, 16)
	d.ex, err = newExchange(d.mod, &d.mem, &d.region, d.opt.Threads, 1, capacities{handoff: abi.DepGenReadyQueueSize, done: room, recycled: room}, d.opt.Log)
	if err != nil {
		return err
	}
	d.ex.idleLimit = d.opt.IdleLimit
	if err := d.ex.seed(d.ex.pools[0], 0, d.opt.Buffers); err != nil {
		return err
	}
	return d.region.pushAll()
}

// Layout is where things are in the region.
func (d *DepGen) Layout() *abi.DepGenRegion { return d.layout }

// depGenModule is dep_gen on the exchange.
type depGenModule struct {
	layout *abi.DepGenRegion
	take   func(h *handoff)
}

func (m *depGenModule) name() string             { return "dep_gen" }
func (m *depGenModule) header() *abi.QueueHeader { return &m.layout.QueueHeader }
func (m *depGenModule) freeQueue() abi.FreeQueueLayout {
	return abi.FreeQueueLayout{Slots: abi.SlotCount}
}
func (m *depGenModule) maxShards() int { return 1 }

func (m *depGenModule) kinds() []kindSpec {
	return []kindSpec{{name: "DepGen", buffer: m.layout.Form.Buffer(), batch: 1}}
}

func (m *depGenModule) pools() []poolSpec {
	at := m.layout.State
	return []poolSpec{{pool: at, queue: at, current: at + abi.DepGenCurrentOffset}}
}

func (m *depGenModule) live(*port) (func(kind, index int) bool, error) {
	return func(int, int) bool { return true }, nil
}

func (m *depGenModule) resolve(e *abi.ReadyEntry) (int, error) {
	if e.CoreIndex >= abi.DepGenInstances {
		return -1, fmt.Errorf("invalid dep_gen entry: instance=%d", e.CoreIndex)
	}
	return 0, nil
}

func (m *depGenModule) collect(_ int, h *handoff) bool {
	m.take(h)
	return false
}

// DepGenRun is one launch and the submits that were collected of it. Its methods
// are for one goroutine.
type DepGenRun struct {
	life[DepGenOutcome]
	d       *DepGen
	buffers []abi.Mem // copies, of the collector goroutine until the stop
	records uint64    // that have come
}

// Begin arms a run; the one before it must have been stopped.
func (d *DepGen) Begin() (*DepGenRun, error) {
	fail := func(err error) (*DepGenRun, error) { return nil, fmt.Errorf("begin a dep_gen run: %w", err) }
	if err := d.mayBegin(); err != nil {
		return fail(err)
	}
	if d.run != nil {
		if err := d.ex.reclaim(newPort(&d.region), d.resetCounters); err != nil {
			return fail(err)
		}
	}
	r := &DepGenRun{d: d}
	d.begin(&r.life, r.settle)
	d.mod.take = r.take
	return r, nil
}

// resetCounters empties dropped, total and overflow, which follow the sequence.
func (d *DepGen) resetCounters(p *port, state uint64) error {
	for i := range uint64(3) {
		if err := p.store32(state+abi.DepGenDroppedOffset+4*i, 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *DepGenRun) take(h *handoff) {
	spec := &r.d.ex.kinds[0]
	records := h.records(spec)
	copied := abi.NewMem(spec.buffer.Records + len(records))
	copy(copied, h.buf.host[:len(copied)])
	r.buffers = append(r.buffers, copied)
	r.records += uint64(len(records) / spec.buffer.RecordSize)
}

// DepGenOutcome is what became of a run.
type DepGenOutcome struct {
	Account Account // of records: submits, and the overflow records of long chains
	Submits uint64  // by the device's counter
	Clean   bool    // every record is there; without that no graph can be made
	Faults  Faults
	Notices []Notice

	form    *abi.DepGenForm
	buffers []abi.Mem
}

// Form is that of the records.
func (o *DepGenOutcome) Form() *abi.DepGenForm { return o.form }

// Records are the records in the order in which the orchestrator wrote them: the
// buffer that holds one, and its slot, for [abi.DepGenForm.Record] and
// [abi.DepGenForm.Overflow].
func (o *DepGenOutcome) Records() iter.Seq2[abi.Mem, int] {
	return func(yield func(abi.Mem, int) bool) {
		b := o.form.Buffer()
		for _, m := range o.buffers {
			for slot := range (len(m) - b.Records) / b.RecordSize {
				if !yield(m, slot) {
					return
				}
			}
		}
	}
}

const depGenReconcile = "dep_gen reconcile: " // begins what a reconcile says

// settle is the reconcile of spec/collector.md §10; unlike the swimlane's it is
// binding.
func (r *DepGenRun) settle() *DepGenOutcome {
	d, ex := r.d, r.d.ex
	o := &DepGenOutcome{form: d.opt.Form, buffers: r.buffers, Faults: ex.faults.since(r.before)}
	if r.state != stopped {
		ex.writeOff()
	}
	capacity := uint64(ex.kinds[0].buffer.Capacity)
	q, adrift := ex.pools[0], &ex.lost[0]
	k := poolCount{
		collected:   r.records,
		hostLost:    q.lost.records.Swap(0) + adrift.records.Swap(0),
		mayHaveLost: (q.lost.buffers.Swap(0) + adrift.buffers.Swap(0)) * capacity,
	}
	var said notices
	if err := d.region.pullAll(); err != nil {
		said.add(Error, depGenReconcile+"the device's counters cannot be read, so nothing is known of losses: %v", err)
		k.total = k.collected + k.hostLost
	} else {
		r.reconcile(o, &k, &said)
	}
	o.Account, _ = k.balance()
	o.Notices = said
	return o
}

// reconcile compares what came with the device's counters, which have been read.
func (r *DepGenRun) reconcile(o *DepGenOutcome, k *poolCount, said *notices) {
	state := abi.View[abi.DepGenState](r.d.region.host, r.d.layout.State)
	overflow := uint64(state.TotalOverflowRecordCount)
	o.Submits = uint64(state.TotalRecordCount)
	k.total, k.dropped = o.Submits+overflow, uint64(state.DroppedRecordCount)
	p := newPort(&r.d.region)
	queued, err := r.ex.queued(p)
	if err != nil {
		said.add(Error, depGenReconcile+"%v", err)
	}
	if k.active = state.CurrentBufPtr.Load() != 0; k.active {
		if b, err := r.d.mem.buffer(state.CurrentBufPtr.Load()); err != nil {
			said.add(Error, depGenReconcile+"the active buffer: %v", err)
		} else if b.handedOver(queued) {
			k.active = false
		} else if count, err := p.count(b, &r.ex.kinds[0].buffer); err != nil {
			said.add(Error, depGenReconcile+"%v", err)
		} else if count > 0 {
			k.unflushed = min(uint64(count), uint64(r.ex.kinds[0].buffer.Capacity))
			said.add(Error, depGenReconcile+"un-flushed buffer (current_buf_ptr=0x%x, count=%d) — device flush failed", b.addr, count)
		}
	}
	if k.dropped > 0 {
		said.add(Error, depGenReconcile+"%d records dropped on device side: their tasks and edges are unknown, so no graph can be made", k.dropped)
	}
	silent := int64(k.total - k.collected - k.dropped)
	if silent != 0 {
		said.add(Error, depGenReconcile+"record count mismatch (collected=%d + dropped=%d != device_total=%d + overflow=%d, silent_loss=%d)",
			k.collected, k.dropped, o.Submits, overflow, silent)
	} else if k.dropped+k.unflushed == 0 {
		said.add(Info, depGenReconcile+"counts match (collected=%d, dropped=%d, device_total=%d, overflow=%d)", k.collected, k.dropped, o.Submits, overflow)
	}
	o.Clean = r.state == stopped && silent == 0 && k.dropped == 0 && k.unflushed == 0 // nobody took what a host that was not started was given
}
