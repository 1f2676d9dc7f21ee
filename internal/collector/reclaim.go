package collector

// reclaim takes back what the device still holds after it has stopped: buffers
// that it was filling, or had taken and lost. The heads of all pools are emptied,
// so that the next run finds no buffer of the last one; then each is given to
// reset. Buffers in free queues stay there. A freeze that nobody ended, and a call
// for one, end here.
func (x *exchange) reclaim(p *port, reset func(p *port, pool uint64) error) error {
	queued, err := x.queued(p)
	if err != nil {
		return err
	}
	l := x.mod.freeQueue()
	for _, q := range x.pools {
		q.next = nil
		head, err := p.load32(q.queue + l.Head())
		if err != nil {
			return err
		}
		if p.own32(q.queue+l.Tail())-head > uint32(l.Slots) { // a head that cannot be: begin anew behind it
			if err := p.store32(q.queue+l.Tail(), head); err != nil {
				return err
			}
		}
		if err := p.store64(q.current, 0); err != nil {
			return err
		}
		if err := reset(p, q.pool); err != nil {
			return err
		}
	}
	shard := 0
	x.mem.each(func(b *buffer) {
		if b.at.Load() == atDevice && !queued[b.addr] {
			x.put(shard%len(x.shards), b)
			shard++
		}
	})
	for _, g := range gates {
		for _, flag := range []uint64{g.active, g.contended} {
			if err := p.store32(x.mod.header().Backpressure+flag, 0); err != nil {
				return err
			}
		}
	}
	for queue := range x.queues {
		if err := x.rewind(p, queue); err != nil {
			return err
		}
	}
	return nil
}

// queued are the addresses of the buffers in free queues.
func (x *exchange) queued(p *port) (map[uint64]bool, error) {
	out := map[uint64]bool{}
	l := x.mod.freeQueue()
	for _, q := range x.pools {
		head, err := p.load32(q.queue + l.Head())
		if err != nil {
			return out, err
		}
		tail := p.own32(q.queue + l.Tail())
		if tail-head > uint32(l.Slots) { // nobody can say what is in it
			continue
		}
		for ; head != tail; head++ {
			out[p.host.Word64(q.queue+l.Slot(head)).Load()] = true
		}
	}
	return out, nil
}

// handedOver tells whether the device, which has stopped, gave a buffer back that
// it still names as the one it was filling.
func (b *buffer) handedOver(queued map[uint64]bool) bool {
	return b.at.Load() != atDevice || queued[b.addr]
}

// rewind empties a ready queue whose indices are out of range, or that still
// holds what could not be taken.
func (x *exchange) rewind(p *port, queue int) error {
	h := x.mod.header()
	tail, err := p.load32(h.Tail(queue))
	if err != nil || p.own32(h.Head(queue)) == tail && tail < uint32(h.QueueSize) {
		return err
	}
	if err := p.store32(h.Head(queue), 0); err != nil {
		return err
	}
	return p.store32(h.Tail(queue), 0)
}
