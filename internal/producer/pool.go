package producer

import (
	"sync/atomic"

	"swimlane/internal/abi"
)

// pool is the engine of one pool (spec/collector.md §2.7): the words it shares
// with the host, and the buffer it fills. The words are given one by one because
// dep_gen's pool has them in another order.
type pool struct {
	n       *uint32 // records in the active buffer, where their writer counts them
	active  buffer
	total   *uint32 // ours until the device has stopped, like dropped
	dropped *uint32
	free    *abi.FreeQueue
	current *atomic.Uint64
	seq     *atomic.Uint32
	space   abi.Space
	shape   *abi.Buffer
	kind    abi.Kind
	index   uint32 // of the pool, as ready entries name it
}

// buffer is a record buffer of the device; the zero value is none.
type buffer struct {
	addr  uint64
	mem   abi.Mem
	count *uint32
}

func newPool(n *uint32, region abi.Mem, off uint64, space abi.Space, k abi.Kind, index int) pool {
	v := abi.View[abi.Pool](region, off)
	return pool{
		n: n, free: &v.Free, current: &v.Head.CurrentBufPtr, seq: &v.Head.CurrentBufSeq,
		total: &v.Head.TotalRecordCount, dropped: &v.Head.DroppedRecordCount,
		space: space, shape: &abi.Buffers[k], kind: k, index: uint32(index),
	}
}

// prime takes the first buffer of a run. It never waits, because the host's
// threads may not be up yet; a queue without a buffer is left for the first
// record to try again.
func (p *pool) prime(f *faults) {
	p.deactivate()
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
	p.active, *p.n = b, 0
}

// deactivate leaves the pool without a buffer.
func (p *pool) deactivate() {
	p.current.Store(0)
	p.active, *p.n = buffer{}, 0
}

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
		*p.dropped += *p.n
		*p.active.count, *p.n = 0, 0
		return
	}
	p.deactivate()
	p.seq.Store(seq + 1)
	p.pop(out, seq+1)
}

// flush hands over what the pool holds at the end of a run. An empty buffer stays
// where it is, which is no error.
func (p *pool) flush(out *port) {
	if p.active.addr == 0 || *p.n == 0 {
		return
	}
	if !p.publish(out, p.active, p.seq.Load()) {
		p.loseFlushed(out, *p.n)
		*p.active.count = 0
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

// records is a pool of phase records, in buffers of the form B.
type records[B any] struct {
	buf *B // the active buffer; nil without one
	pool
}

func newRecords[B any](region abi.Mem, off uint64, space abi.Space, k abi.Kind, index int) records[B] {
	return records[B]{pool: newPool(new(uint32), region, off, space, k, index)}
}

// bind follows a change of the active buffer.
func (r *records[B]) bind() {
	r.buf = nil
	if r.active.addr != 0 {
		r.buf = abi.View[B](r.active.mem, 0)
	}
}

func (r *records[B]) prime(f *faults) {
	r.pool.prime(f)
	r.bind()
}

// acquire counts a record and gives the index of the slot to fill, if there is
// one. The count is advanced before the fields are there (spec/collector.md §2.8).
func (r *records[B]) acquire(out *port) (slot uint32, ok bool) {
	*r.total++
	if r.active.addr == 0 {
		r.pop(out, r.seq.Load())
		r.bind()
	} else if *r.n == uint32(r.shape.Capacity) {
		r.switchBuffer(out)
		r.bind()
	}
	if r.active.addr == 0 {
		*r.dropped++
		return 0, false
	}
	slot = *r.n
	*r.n++
	*r.active.count = *r.n
	return slot, true
}

func (r *records[B]) flush(out *port) {
	r.pool.flush(out)
	r.bind()
}
