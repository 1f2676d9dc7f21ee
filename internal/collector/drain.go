package collector

import (
	"errors"
	"fmt"
	"runtime"

	"swimlane/internal/abi"
)

// copyTries is how often the copy of a buffer is tried before its records are
// given up.
const copyTries = 3

// drainer takes buffers out of the ready queues of one shard
// (spec/collector.md §4.2).
type drainer struct {
	*exchange
	*port
	index  int // of the shard
	hdr    *abi.QueueHeader
	queues []int
	broken []bool // per queue: its indices are known to be out of range
}

func newDrainer(x *exchange, index int) *drainer {
	d := &drainer{exchange: x, port: newPort(x.region), index: index, hdr: x.mod.header(), broken: make([]bool, x.queues)}
	for q := index; q < x.queues; q += len(x.shards) {
		d.queues = append(d.queues, q)
	}
	return d
}

func (d *drainer) run() {
	var idle idler
	for d.running.Load() {
		if d.pass() {
			idle.worked()
		} else {
			idle.wait()
		}
	}
	// What was handed over before the stop. A word that could not be moved looks
	// like an empty queue; it is tried again before its queue is given up.
	for quiet := 0; quiet < copyTries; quiet++ {
		for d.pass() {
			quiet = 0
		}
	}
	d.writeOffAll()
}

// writeOff charges what the device handed over to a host that was never started.
func (x *exchange) writeOff() {
	for i := range x.shards {
		newDrainer(x, i).writeOffAll()
	}
}

func (d *drainer) writeOffAll() {
	for _, q := range d.queues {
		d.writeOffQueue(q)
	}
}

// together is how many buffers a drain goroutine hands on before it lets others
// run: on few processors the collector goroutine then finds them in the caches,
// and they come back before many others are in use.
const together = 8

// pass empties the queues once and tells whether anything was in them.
func (d *drainer) pass() (found bool) {
	for _, q := range d.queues {
		for n := 1; d.step(q); n++ {
			found = true
			if n%together == 0 {
				runtime.Gosched()
			}
		}
	}
	return found
}

// indices reads where a queue begins and ends.
func (d *drainer) indices(q int) (head, tail uint32, ok bool) {
	head = d.own32(d.hdr.Head(q))
	tail, err := d.load32(d.hdr.Tail(q))
	if err != nil {
		d.transferFailed(err)
		return 0, 0, false
	}
	if size := uint32(d.hdr.QueueSize); head >= size || tail >= size {
		d.faults.indices.Add(1)
		if !d.broken[q] {
			d.broken[q] = true
			d.log.printf(Error, "invalid queue indices for thread %d: head=%d tail=%d (max=%d)", q, head, tail, size)
		}
		return 0, 0, false
	}
	d.broken[q] = false
	return head, tail, true
}

// step takes the next buffer of a queue, if there is one. The queue's head moves
// only after the records are where the host can keep them: until then the entry
// can be tried again.
func (d *drainer) step(q int) bool {
	head, tail, ok := d.indices(q)
	if !ok || head == tail {
		return false
	}
	e, err := d.entry(d.hdr.Entry(q, head))
	if err != nil {
		d.transferFailed(err)
		return false
	}
	if e.BufferPtr == 0 && d.running.Load() { // the tail was seen before the entry
		return false
	}
	next, takeErr := d.accept(&e)
	if !d.advance(q, head) {
		return false
	}
	if next.buf != nil && !next.buf.at.CompareAndSwap(atDevice, inHand) {
		d.faults.notHeld.Add(1)
		takeErr = errNotHeld
	}
	if takeErr != nil {
		d.log.printf(Error, "%s: ready entry for index %d, kind %d, sequence %d: %v", d.mod.name(), e.CoreIndex, e.Kind, e.BufferSeq, takeErr)
		d.giveUp(next, takeErr)
		return true
	}
	d.flight.add(1)
	if bp := d.hdr.Backpressure; d.own32(bp+abi.RqFreezeActive) == 0 && d.own32(bp+abi.FqFreezeActive) == 0 {
		if _, err := d.topUp(d.port, d.pools[next.pool], d.free); err != nil {
			d.transferFailed(err)
		}
	}
	d.shards[d.index].handoff <- next
	return true
}

// free is a free buffer of the shard's own lane; a drain goroutine never
// allocates.
func (d *drainer) free(kind int) *buffer { return d.take(d.index, kind) }

// errNotHeld says that an entry names a buffer that is accounted for elsewhere.
var errNotHeld = errors.New("the device does not hold this buffer")

// accept finds the buffer of an entry and copies it. The handoff holds as much
// as was found, whatever the error.
func (d *drainer) accept(e *abi.ReadyEntry) (next handoff, err error) {
	if next, err = d.find(e); err != nil {
		return next, err
	}
	for range copyTries {
		if err = d.pull(next.buf); err == nil {
			return next, nil
		}
	}
	d.faults.copies.Add(1)
	return next, err
}

// find finds the buffer of an entry, and the pool that it comes from.
func (d *drainer) find(e *abi.ReadyEntry) (next handoff, err error) {
	next = handoff{pool: -1, seq: e.BufferSeq}
	pool, poolErr := d.mod.resolve(e)
	if poolErr == nil {
		next.pool, next.kind, next.index = pool, d.pools[pool].kind, d.pools[pool].index
	}
	b, err := d.mem.buffer(e.BufferPtr)
	if err != nil {
		d.faults.unmapped.Add(1)
		return next, err
	}
	if b.at.Load() != atDevice {
		d.faults.notHeld.Add(1)
		return next, errNotHeld
	}
	next.buf = b
	if poolErr == nil && b.kind != next.kind {
		poolErr = fmt.Errorf("it names a buffer for %s records", d.kinds[b.kind].name)
	}
	if poolErr != nil {
		d.faults.kind.Add(1)
	}
	return next, poolErr
}

// advance moves the head of a queue behind an entry.
func (d *drainer) advance(q int, head uint32) bool {
	if err := d.store32(d.hdr.Head(q), (head+1)%uint32(d.hdr.QueueSize)); err != nil {
		d.transferFailed(err)
		return false
	}
	return true
}

// giveUp charges an entry that could not be taken and puts its buffer back into
// circulation.
func (d *drainer) giveUp(next handoff, err error) {
	b := next.buf
	switch {
	case errors.Is(err, errNotHeld): // its records are accounted for elsewhere
	case b == nil:
		d.chargeUnknown(next.pool, 1)
	default:
		account := &d.lost[b.kind]
		if next.pool >= 0 && next.kind == b.kind {
			account = &d.pools[next.pool].lost
		}
		d.charge(account, b)
		d.put(d.index, b)
	}
}

// chargeUnknown notes that a pool has lost buffers of unknown contents; without
// a pool any kind may have.
func (d *drainer) chargeUnknown(pool int, buffers uint64) {
	if pool >= 0 {
		d.pools[pool].lost.buffers.Add(buffers)
		return
	}
	for i := range d.lost {
		d.lost[i].buffers.Add(buffers)
	}
}

// charge counts the records of a lost buffer, if its count can be read.
func (d *drainer) charge(account *lost, b *buffer) {
	spec := &d.kinds[b.kind].buffer
	count, err := d.count(b, spec)
	if err != nil {
		account.buffers.Add(1)
		return
	}
	account.records.Add(uint64(min(count, uint32(spec.Capacity))))
}

// writeOffQueue charges what is still in a queue after the last pass, and takes the
// buffers back.
func (d *drainer) writeOffQueue(q int) {
	head, tail, ok := d.indices(q)
	if !ok { // nobody can say what is in it
		d.faults.untaken.Add(1)
		d.chargeUnknown(-1, uint64(d.hdr.QueueSize-1))
		return
	}
	if head != tail {
		d.log.printf(Error, "%s: ready queue %d still holds entries (head=%d tail=%d) that could not be taken; their records are lost", d.mod.name(), q, head, tail)
	}
	for ; head != tail; head = (head + 1) % uint32(d.hdr.QueueSize) {
		d.faults.untaken.Add(1)
		e, err := d.entry(d.hdr.Entry(q, head))
		if err != nil {
			d.chargeUnknown(-1, 1)
			continue
		}
		next, err := d.find(&e)
		if next.buf != nil && !next.buf.at.CompareAndSwap(atDevice, inHand) {
			err = errNotHeld
		}
		d.giveUp(next, err)
	}
}
