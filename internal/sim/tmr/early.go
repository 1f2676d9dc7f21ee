package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// dispatchEarly places tasks whose producers run, when nothing is ready. They wait
// on their cores for a doorbell (spec/collector.md §12.6).
func (s *scheduler) dispatchEarly() (blocks int) {
	if s.called() || s.r.anyReady() {
		return 0
	}
	start := s.now()
	for tries := s.r.early.len(); tries > 0; tries-- {
		s.spend(sim.SchedPop)
		t := s.r.early.pop()
		if t == nil {
			break
		}
		if t.fanin == 0 || t.next == t.blocks { // meanwhile it became ready, or found its places
			continue
		}
		free := s.places(t.shape, false, t.blocks-t.next)
		if len(free) == 0 {
			free = s.places(t.shape, true, t.blocks-t.next)
		}
		if len(free) == 0 {
			s.r.early.push(t)
			continue
		}
		first, last := s.claim(&s.r.early, t, len(free))
		at := s.stamp()
		var batch []prepared
		for block := first; block < last; block++ {
			batch = s.prepare(batch, t, block, free[block-first])
		}
		s.publish(batch, at)
		blocks += last - first
	}
	if blocks > 0 {
		s.t0p = s.now()
		s.phase(&abi.SchedPhase{Kind: abi.EarlyDispatch, TasksProcessed: uint32(blocks)}, start, s.t0p)
	}
	return blocks
}

// anyReady tells whether a queue holds a task that is ready.
func (r *runtime) anyReady() bool {
	for i := range r.ready {
		if r.ready[i].len()+r.sync[i].len() > 0 {
			return true
		}
	}
	return false
}

// ring opens the gates of a task that was placed early and is ready now. Blocks
// that found no place go the ordinary way.
func (s *scheduler) ring(t *task) {
	for _, b := range t.early.staged {
		s.spend(sim.SchedPublish)
		for _, o := range []*sub{&b.slot.running, &b.slot.waiting} {
			if o.task == t && o.token == b.sub.token {
				o.gated = false
			}
		}
		b.slot.core.Ring(s.now(), b.sub.token)
	}
	t.early.staged = nil
	s.r.kick(s.now())
	if t.next < t.blocks {
		s.spend(sim.SchedPush)
		s.r.route(t, s.now())
	}
}
