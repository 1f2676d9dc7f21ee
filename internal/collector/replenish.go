package collector

import (
	"fmt"
	"slices"

	"swimlane/internal/abi"
)

// replenisher keeps free buffers where they will be needed, and is the only one
// that freezes the device (spec/collector.md §4.4, §4.6).
type replenisher struct {
	*exchange
	*port
	hdr    *abi.QueueHeader
	target []int // per kind
	spent  bool  // the memory: one attempt to allocate more is enough for a pass
	failed bool  // an allocation failed, and that was said
}

func newReplenisher(x *exchange) *replenisher {
	r := &replenisher{exchange: x, port: newPort(x.region), hdr: x.mod.header()}
	for k := range x.kinds {
		want := 0
		if t := x.kinds[k].target; t != nil {
			want = t(len(x.shards))
		}
		if room := x.shards[0].recycled[k].room; want > room {
			x.log.printf(Warning, "%s: a lane of %s buffers holds %d, and cannot hold the %d it should", x.mod.name(), x.kinds[k].name, room, want)
			want = room
		}
		r.target = append(r.target, want)
	}
	return r
}

func (r *replenisher) run() {
	var idle idler
	for r.running.Load() {
		if r.tick() {
			idle.worked()
		} else {
			idle.wait()
		}
	}
}

// tick does everything once and tells whether there was anything to do.
func (r *replenisher) tick() bool {
	drained := r.drainDone()
	grown, err := r.fillLanes()
	if err != nil {
		r.growFailed(err)
	}
	pushed, err := r.refill()
	if err != nil {
		r.transferFailed(err)
	}
	if err := r.backpressure(); err != nil {
		r.transferFailed(err)
	}
	return drained > 0 || grown > 0 || pushed > 0
}

// growFailed reports the first allocation of a run that failed; it is tried again
// all the time.
func (r *replenisher) growFailed(err error) {
	if !r.failed {
		r.failed = true
		r.log.printf(Error, "%v; the run goes on with the buffers that there are", err)
	}
}

// drainDone brings collected buffers back into the recycled lanes.
func (r *replenisher) drainDone() (n int) {
	for origin, s := range r.shards {
		for more := true; more; {
			select {
			case b := <-s.done:
				r.bringBack(origin, b)
				n++
			default:
				more = false
			}
		}
	}
	return n
}

// bringBack puts a buffer into the lane of the shard that lacks most, looking
// first behind its own; without a lack it goes back where it came from.
func (r *replenisher) bringBack(origin int, b *buffer) {
	to, most := origin, 0
	if r.rebalance && r.target[b.kind] > 0 {
		for i := range r.shards {
			at := (origin + 1 + i) % len(r.shards)
			if lack := r.target[b.kind] - r.shards[at].recycled[b.kind].len(); lack > most {
				to, most = at, lack
			}
		}
	}
	b.at.Store(atHost)
	if !r.shards[to].recycled[b.kind].put(b) {
		r.put(origin, b)
	}
}

// fillLanes allocates where a lane is below its target.
func (r *replenisher) fillLanes() (batches int, err error) {
	for k, want := range r.target {
		for i, s := range r.shards {
			if have := s.recycled[k].len(); have < want {
				if err := r.grow(i, k, max(r.mod.freeQueue().Slots, want-have)); err != nil {
					return batches, err
				}
				batches++
			}
		}
	}
	return batches, nil
}

// fillQueues tops up every free queue, from any lane, and allocates where there
// is nothing left. It tells how many buffers it pushed.
func (r *replenisher) fillQueues() (pushed int, err error) {
	live, err := r.mod.live(r.port)
	if err != nil {
		return 0, err
	}
	r.spent = false
	for i, p := range r.pools {
		if !live(p.kind, p.index) {
			continue
		}
		n, err := r.fillQueue(p, i%len(r.shards))
		pushed += n
		if err != nil {
			return pushed, err
		}
	}
	return pushed, nil
}

// fillQueue tops up one free queue. What has to be allocated for it goes into the
// lane of its home shard first.
func (r *replenisher) fillQueue(p *pool, home int) (pushed int, err error) {
	return r.topUp(r.port, p, func(kind int) *buffer {
		b := r.takeAny(kind)
		if b == nil && !r.spent {
			if err := r.grow(home, kind, r.kinds[kind].batch); err != nil {
				r.spent = true
				r.growFailed(err)
			}
			b = r.takeAny(kind)
		}
		return b
	})
}

// refill tops up the free queues that were left short, now that there may be
// buffers. Nobody else would: a device that waits says so only once, one that
// drops says nothing, and neither hands over a buffer before it gets one.
func (r *replenisher) refill() (pushed int, err error) {
	for _, p := range r.pools {
		if !p.short.Load() || !r.hasFor(p) {
			continue
		}
		n, err := r.topUp(r.port, p, r.takeAny)
		pushed += n
		if err != nil {
			return pushed, err
		}
	}
	return pushed, nil
}

// hasFor tells whether there is a free buffer for a pool.
func (r *replenisher) hasFor(p *pool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next != nil || slices.ContainsFunc(r.shards, func(s *shard) bool { return s.recycled[p.kind].len() > 0 })
}

// gate is one of the two ways in which the device waits for the host.
type gate struct {
	active, contended uint64
	opened            string
}

var gates = [2]gate{
	{abi.RqFreezeActive, abi.RqContended, "ready-queue-full, push-gate freeze OPENED"},
	{abi.FqFreezeActive, abi.FqContended, "free-queue-empty, pop-gate freeze OPENED"},
}

// backpressure runs the freeze state machine once.
func (r *replenisher) backpressure() error {
	bp := r.hdr.Backpressure
	frozen := false
	for _, g := range gates {
		if r.own32(bp+g.active) != 0 {
			frozen = true
			continue
		}
		contended, err := r.load32(bp + g.contended)
		if err != nil {
			return err
		}
		if contended == 0 {
			continue
		}
		// Freeze first, clear then: a waiting lane sees one of the two at any time.
		if err := r.store32(bp+g.active, 1); err != nil {
			return err
		}
		frozen = true
		if err := r.store32(bp+g.contended, 0); err != nil {
			return err
		}
		r.log.printf(Warning, "%s: DFX backpressure TRIGGERED: %s", r.mod.name(), g.opened)
	}
	if !frozen {
		return nil
	}
	return r.release()
}

// release ends the freezes once every ready queue is empty and every free queue
// full.
func (r *replenisher) release() error {
	for q := range r.queues {
		tail, err := r.load32(r.hdr.Tail(q))
		if err != nil {
			return err
		}
		head, size := r.own32(r.hdr.Head(q)), uint32(r.hdr.QueueSize)
		if head != tail && head < size && tail < size { // a broken queue holds nobody up
			return nil
		}
	}
	if pushed, err := r.fillQueues(); err != nil || pushed > 0 {
		return err
	}
	bp := r.hdr.Backpressure
	for _, g := range gates {
		if r.own32(bp+g.active) == 0 {
			continue
		}
		if err := r.store32(bp+g.active, 0); err != nil {
			return err
		}
	}
	r.log.printf(Warning, "%s: DFX backpressure RELEASED: queues drained, free queues full", r.mod.name())
	return nil
}

// topUp fills a free queue from a source of free buffers, as far as they go, and
// tells how many it pushed.
func (x *exchange) topUp(p *port, q *pool, from func(kind int) *buffer) (pushed int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := false
	defer func() { q.short.Store(!full) }()
	l := x.mod.freeQueue()
	head, err := p.load32(q.queue + l.Head())
	if err != nil {
		return 0, err
	}
	for {
		tail := p.own32(q.queue + l.Tail())
		if used := tail - head; used >= uint32(l.Slots) { // full, or a head that cannot be
			if used > uint32(l.Slots) {
				x.faults.indices.Add(1)
			}
			full = true
			return pushed, nil
		}
		if q.next == nil {
			q.next = from(q.kind)
		}
		if q.next == nil {
			return pushed, nil
		}
		q.next.at.Store(atDevice) // before the device can see it, and hand it over
		err := p.store64(q.queue+l.Slot(tail), q.next.addr)
		if err == nil {
			err = p.store32(q.queue+l.Tail(), tail+1)
		}
		if err != nil {
			return pushed, fmt.Errorf("push a free %s buffer: %w", x.kinds[q.kind].name, err)
		}
		q.next = nil
		pushed++
	}
}
