package producer

import (
	"sync/atomic"

	"swimlane/internal/abi"
)

// pool is the engine of one pool (spec/collector.md §2.7): the words it shares
// with the host, and the buffer it fills. The words are given one by one because
// dep_gen's pool has them in another order.
type pool struct {
	*hot
	active  buffer
	dropped *uint32
	free    *abi.FreeQueue
	current *atomic.Uint64
	seq     *atomic.Uint32
	space   abi.Space
	shape   *abi.Buffer
	kind    abi.Kind
	index   uint32 // of the pool, as ready entries name it
}

// hot is what a record touches of its pool.
type hot struct {
	n      int     // records in the active buffer
	count  *uint32 // in the active buffer; the host reads it once the buffer was published
	total  *uint32 // ours until the device has stopped, like dropped
	before uint32  // total without the n records, where each attempt is a record
}

// buffer is a record buffer of the device; the zero value is none.
type buffer struct {
	addr  uint64
	mem   abi.Mem
	count *uint32
}

func newPool(h *hot, region abi.Mem, off uint64, space abi.Space, k abi.Kind, index int) pool {
	v := abi.View[abi.Pool](region, off)
	h.total = &v.Head.TotalRecordCount
	return pool{
		hot: h, free: &v.Free, current: &v.Head.CurrentBufPtr, seq: &v.Head.CurrentBufSeq, dropped: &v.Head.DroppedRecordCount,
		space: space, shape: &abi.Buffers[k], kind: k, index: uint32(index),
	}
}

// prime takes the first buffer of a run. It never waits, because the host's
// threads may not be up yet; a queue without a buffer is left for the first
// record to try again.
func (p *pool) prime(f *faults) {
	p.current.Store(0)
	p.seq.Store(0)
	if !queued(p.free) {
		f.add("%s pool %d has no buffer at startup (free queue: head %d, tail %d): expected the host to fill the queue before the launch; records are lost until it does",
			p.shape.Name, p.index, p.free.Head.Load(), p.free.Tail.Load())
		return
	}
	p.take(0, f)
}

// take claims the next buffer of a queue that has one, as generation seq.
func (p *pool) take(seq uint32, f *faults) bool {
	b, ok := p.peek(f)
	p.free.Head.Store(p.free.Head.Load() + 1) // a slot without a buffer is used up too
	if !ok {
		return false
	}
	p.activate(b, seq)
	return true
}

// peek is the buffer in the next slot of a queue that has one.
func (p *pool) peek(f *faults) (buffer, bool) {
	addr := p.free.BufferPtrs[p.free.Head.Load()%abi.SlotCount].Load()
	mem, err := p.space.At(addr, p.shape.Size)
	if err != nil || addr%abi.Align != 0 {
		f.add("a free queue of %s pool %d holds the buffer address %#x: expected %d bytes of the device's memory from a multiple of %d; the slot counts as empty",
			p.shape.Name, p.index, addr, p.shape.Size, abi.Align)
		return buffer{}, false
	}
	return buffer{addr: addr, mem: mem, count: mem.U32(uint64(p.shape.Count))}, true
}

// activate makes a buffer the one to fill: emptied, and published pointer first,
// because the core looks at the sequence and then trusts the pointer.
func (p *pool) activate(b buffer, seq uint32) {
	*b.count = 0
	p.current.Store(b.addr)
	p.seq.Store(seq)
	p.active, p.count = b, b.count
	p.empty()
}

// deactivate leaves the pool without a buffer.
func (p *pool) deactivate() {
	p.current.Store(0)
	p.active, p.count = buffer{}, nil
	p.empty()
}

// empty begins a buffer, or goes on without one.
func (p *pool) empty() { p.n, p.before = 0, *p.total }

// pop takes the next empty buffer as generation seq, waiting for one as the
// policy says.
func (p *pool) pop(out *port, seq uint32) bool {
	return out.waitFree(p.free) && p.take(seq, &out.faults)
}

// switchBuffer hands the full buffer over and takes an empty one. If that fails
// after the first half, the pool has no buffer, and the next record tries again
// with the current sequence.
func (p *pool) switchBuffer(out *port) {
	if p.active.addr == 0 {
		return
	}
	seq := p.seq.Load()
	if !p.publish(out, p.active, seq) {
		*p.dropped += uint32(p.n)
		*p.count = 0
		p.empty()
		return
	}
	p.deactivate()
	p.seq.Store(seq + 1)
	p.pop(out, seq+1)
}

// flush hands over what the pool holds at the end of a run. An empty buffer stays
// where it is, which is no error.
func (p *pool) flush(out *port) {
	if p.n == 0 {
		return
	}
	if !p.publish(out, p.active, p.seq.Load()) {
		p.loseFlushed(out, uint32(p.n))
		*p.count = 0
	}
	p.deactivate()
}

func (p *pool) loseFlushed(out *port, records uint32) {
	*p.dropped += records
	out.faults.add("%s pool %d could not hand over its last %d records: ready queue %d is full", p.shape.Name, p.index, records, out.queue)
}

// publish hands a buffer over; its count must be stamped.
func (p *pool) publish(out *port, b buffer, seq uint32) bool {
	return out.enqueue(abi.ReadyEntry{CoreIndex: p.index, Kind: p.kind, BufferPtr: b.addr, BufferSeq: seq})
}

// lane is all that writing a record touches of a pool, one cache line: a thread
// with many pools has it in a dense array.
type lane[R any] struct {
	slots []R // of the active buffer; nil without one
	hot
	_ [8]byte
}

// records is a pool whose records this side writes itself.
type records[R any] struct {
	lane *lane[R]
	pool
}

func newRecords[R any](l *lane[R], region abi.Mem, off uint64, space abi.Space, k abi.Kind, index int) records[R] {
	return records[R]{lane: l, pool: newPool(&l.hot, region, off, space, k, index)}
}

// bind follows a change of the active buffer.
func (r *records[R]) bind() {
	r.lane.slots = nil
	if r.active.addr != 0 {
		r.lane.slots = abi.Views[R](r.active.mem, uint64(r.shape.Records), r.shape.Capacity)
	}
}

func (r *records[R]) prime(f *faults) {
	r.pool.prime(f)
	r.bind()
}

// refill finds a buffer for a record when there is none, or the active one is
// full. False: the record is lost, and counted.
func (r *records[R]) refill(out *port) bool {
	if r.active.addr == 0 {
		r.pop(out, r.seq.Load())
	} else {
		r.switchBuffer(out)
	}
	r.bind()
	if len(r.lane.slots) == 0 {
		*r.total++
		*r.dropped++
		return false
	}
	return true
}

// acquire counts a phase record and gives the slot to fill, or nil. The count
// is advanced before the fields are there (spec/collector.md §2.8).
func (r *records[R]) acquire(out *port) *R {
	if r.n >= len(r.lane.slots) && !r.refill(out) {
		return nil
	}
	n := r.n
	r.counted(n + 1)
	return &r.lane.slots[n]
}

// counted says that the buffer holds n records. total is written from before, not
// counted up: so a record waits for one counter of the last one, not for two.
func (h *hot) counted(n int) {
	h.n, *h.count, *h.total = n, uint32(n), h.before+uint32(n)
}

// Task records are 32 bytes: every four of them, the 128 bytes are fetched that
// the four after the next four will fill. Cores do so at different records,
// because many of them often fill their buffers in step, and the processor has
// only so many fetches in flight.
const (
	stride = 4
	ahead  = 2 * stride
)

// prefetch fetches what will be written soon, when n records have been.
func prefetch[R any](slots []R, n int) {
	if n+ahead < len(slots) {
		abi.PrefetchWrite(&slots[n+ahead])
	}
}

func (r *records[R]) flush(out *port) {
	r.pool.flush(out)
	r.bind()
}
