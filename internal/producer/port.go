package producer

import (
	"sync/atomic"
	"time"

	"swimlane/internal/abi"
)

// port is a writer's side of one ready queue, and how the writer waits. Only its
// writer uses it.
type port struct {
	Waiting
	queue      int
	entries    []abi.ReadyEntry
	head, tail *atomic.Uint32 // the host's index and ours, both inside [0, len(entries))
	bp         *abi.Backpressure
	stalls     Stalls
	faults     faults
	// alone: the host left a wait unanswered. Nothing is waited for again until a
	// queue shows that it lives; else a device without a host would wait out the
	// limit at every record.
	alone bool
}

func newPort(w Waiting, region abi.Mem, h *abi.QueueHeader, queue int) port {
	return port{
		Waiting: w.withDefaults(), queue: queue,
		entries: abi.Views[abi.ReadyEntry](region, h.Entry(queue, 0), h.QueueSize),
		head:    region.Word32(h.Head(queue)), tail: region.Word32(h.Tail(queue)),
		bp: abi.View[abi.Backpressure](region, h.Backpressure),
	}
}

// enqueue hands a buffer to the host. False: the entry was not published. An
// entry whose writer gives up at the push gate is published, and so delivered
// (spec/collector.md, disagreement 17).
func (p *port) enqueue(e abi.ReadyEntry) bool {
	tail, ok := p.waitSpace()
	if !ok {
		return false
	}
	p.entries[tail] = e // plain: the host reads it after it saw the new tail
	p.tail.Store((tail + 1) % uint32(len(p.entries)))
	if p.Policy == abi.Block {
		p.passGate()
	}
	return true
}

// space is our index, and whether the entry there is free. Indices that cannot
// be are a full queue.
func (p *port) space() (tail uint32, free bool) {
	size := uint32(len(p.entries))
	head, tail := p.head.Load(), p.tail.Load()
	return tail, head < size && tail < size && (tail+1)%size != head
}

// waitSpace waits for a free entry, also while a freeze is active.
func (p *port) waitSpace() (tail uint32, ok bool) {
	if tail, ok = p.space(); ok {
		p.alone = false
		return tail, true
	}
	if head, size := p.head.Load(), uint32(len(p.entries)); head >= size || tail >= size {
		p.faults.add("ready queue %d has head %d and tail %d: expected both below %d; it counts as full", p.queue, head, tail, size)
	}
	if p.Policy == abi.Drop || p.alone {
		return 0, false
	}
	p.bp.RqContended.Store(1) // once per wait
	start, limit := p.Now(), min(p.Timeout, p.Deadline)
	for !ok && p.Now().Sub(start) < limit {
		p.Wait()
		tail, ok = p.space()
	}
	p.end(ReadyQueue, start, !ok)
	return tail, ok
}

// passGate parks the writer while the host drains the ready queues.
func (p *port) passGate() {
	if p.bp.RqFreezeActive.Load() == 0 || p.alone {
		return
	}
	start, limit := p.Now(), min(p.Timeout, p.Deadline)
	for p.bp.RqFreezeActive.Load() != 0 {
		if p.Now().Sub(start) >= limit {
			p.end(PushGate, start, true)
			return
		}
		p.Wait()
	}
	p.end(PushGate, start, false)
}

// waitFree waits for an entry of a free queue. It takes one also while a freeze
// is active; the timeout runs only while it waits for the freeze to end.
func (p *port) waitFree(q *abi.FreeQueue) bool {
	if queued(q) {
		p.alone = false
		return true
	}
	if head, tail := q.Head.Load(), q.Tail.Load(); tail-head > abi.SlotCount {
		p.faults.add("a free queue has head %d and tail %d: expected at most %d between them; it counts as empty", head, tail, abi.SlotCount)
	}
	if p.Policy == abi.Drop || p.alone {
		return false
	}
	p.bp.FqContended.Store(1) // once per wait
	start := p.Now()
	for !queued(q) {
		if p.Now().Sub(start) >= p.Deadline || !p.passFreeze(start) {
			p.end(FreeQueue, start, true)
			return false
		}
		p.Wait()
	}
	p.end(FreeQueue, start, false)
	return true
}

// passFreeze waits for the host to end a freeze of the free queues. False: a
// limit ended the wait, the timeout or the deadline of the wait that began at
// start.
func (p *port) passFreeze(start time.Time) bool {
	if p.bp.FqFreezeActive.Load() == 0 {
		return true
	}
	for frozen := p.Now(); p.bp.FqFreezeActive.Load() != 0; p.Wait() {
		if now := p.Now(); now.Sub(frozen) >= p.Timeout || now.Sub(start) >= p.Deadline {
			return false
		}
	}
	return true
}

// queued tells whether a free queue holds a buffer. Indices further apart than
// it has slots hold none.
func queued(q *abi.FreeQueue) bool {
	n := q.Tail.Load() - q.Head.Load() // free-running, so the difference is right across the wrap
	return n != 0 && n <= abi.SlotCount
}

func (p *port) end(c Cause, start time.Time, gaveUp bool) {
	length := p.Now().Sub(start)
	p.stalls.add(Stall{Cause: c, Start: start, Length: length, GaveUp: gaveUp})
	p.alone = gaveUp
	if gaveUp {
		p.faults.add("the host left the %s of thread %d waiting for %v: it may have stopped, or it needs more buffers", c, p.queue, length)
	}
}
