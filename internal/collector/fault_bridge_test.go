package collector

import "fmt"

// Places says where the buffers of a collector are that does not work now.
type Places struct {
	Lanes, Queues, Active, Astray, InHand, Retired int // Astray: with the device, and in none of its pools' words
}

// Where looks for every buffer, and for buffers that are in two places or not
// where they say they are.
func (c *Swimlane) Where() (p Places, wrong error) {
	seen := map[*buffer]string{}
	note := func(b *buffer, at string) {
		if was := seen[b]; was != "" && wrong == nil {
			wrong = fmt.Errorf("the buffer %#x is %s and %s", b.addr, was, at)
		}
		seen[b] = at
	}
	for i, s := range c.ex.shards {
		for k, lane := range s.recycled {
			for _, b := range lane.free {
				if b.kind != k || b.at.Load() != atHost {
					wrong = fmt.Errorf("the buffer %#x of kind %d and place %d is in a lane of kind %d", b.addr, b.kind, b.at.Load(), k)
				}
				note(b, fmt.Sprintf("in lane %d", i))
				p.Lanes++
			}
		}
		if n := len(s.done) + len(s.held); n > 0 {
			wrong = fmt.Errorf("%d buffers are collected and not back in a lane", n)
		}
	}
	if err := c.region.pullAll(); err != nil {
		return p, err
	}
	l := c.mod.freeQueue()
	for i, q := range c.ex.pools {
		head, tail := c.region.host.Word32(q.queue+l.Head()).Load(), c.region.host.Word32(q.queue+l.Tail()).Load()
		for ; head != tail && tail-head <= uint32(l.Slots); head++ {
			b, err := c.mem.buffer(c.region.host.Word64(q.queue + l.Slot(head)).Load())
			if err != nil || b.kind != q.kind || b.at.Load() != atDevice {
				wrong = fmt.Errorf("slot %d of pool %d: %v, %+v", head, i, err, b)
				continue
			}
			note(b, fmt.Sprintf("in the free queue of pool %d", i))
			p.Queues++
		}
		if b, err := c.mem.buffer(c.region.host.Word64(q.current).Load()); err == nil && b.at.Load() == atDevice {
			note(b, fmt.Sprintf("being filled by pool %d", i))
			p.Active++
		}
	}
	c.mem.each(func(b *buffer) {
		switch b.at.Load() {
		case atHost:
			if seen[b] == "" {
				wrong = fmt.Errorf("the buffer %#x is free and in no lane", b.addr)
			}
		case atDevice:
			if seen[b] == "" {
				p.Astray++
			}
		case inHand:
			p.InHand++
		case retired:
			p.Retired++
		}
	})
	return p, wrong
}
