package collector

import (
	"slices"
	"time"
)

// collectAll is the goroutine of a collector shard: it gives every buffer to the
// module and hands it back (spec/collector.md §4.7). It ends when the hand-off is
// closed and empty.
func (x *exchange) collectAll(index int, s *shard) {
	watch := time.NewTimer(x.idleLimit)
	defer watch.Stop()
	traffic := false // since the last report
	for {
		d, open := s.next(watch, func() {
			if traffic {
				traffic = false
				x.log.printf(Error, "%s collector idle timeout after %d seconds — staying alive until execution completes",
					x.mod.name(), int(x.idleLimit.Seconds()))
			}
		})
		if !open {
			return
		}
		x.collectOne(index, s, &d)
		traffic = true
		watch.Reset(x.idleLimit)
	}
}

// next waits for the next buffer and calls idle whenever the watch rings.
func (s *shard) next(watch *time.Timer, idle func()) (d handoff, open bool) {
	for {
		select {
		case d, open = <-s.handoff:
			return d, open
		case <-watch.C:
			idle()
		}
	}
}

func (x *exchange) collectOne(index int, s *shard, d *handoff) {
	s.collected.Add(1)
	if *d.buf.host.U32(uint64(x.kinds[d.kind].buffer.Count)) > uint32(x.kinds[d.kind].buffer.Capacity) {
		x.faults.overfull.Add(1)
	}
	hold := x.mod.collect(index, d)
	x.flight.add(-1)
	if hold {
		x.hold(s, d)
		return
	}
	x.finish(s, d.buf)
}

// maxHeld is how many buffers of one pool wait for the stop.
const maxHeld = 2

// hold keeps a buffer as it is until the stop. Of each pool the last ones are
// kept, because it is the final one that a record may still land in.
func (x *exchange) hold(s *shard, d *handoff) {
	s.held = append(s.held, *d)
	oldest, n := -1, 0
	for i := range s.held {
		if s.held[i].pool == d.pool {
			if oldest < 0 {
				oldest = i
			}
			n++
		}
	}
	if n > maxHeld {
		x.finish(s, s.held[oldest].buf)
		s.held = slices.Delete(s.held, oldest, oldest+1)
	}
}

// finish hands a collected buffer back.
func (x *exchange) finish(s *shard, b *buffer) {
	select {
	case s.done <- b:
	default:
		x.log.printf(Error, "%s: the ring of collected buffers is full; one buffer is taken out of use", x.mod.name())
		x.retire(b)
	}
}
