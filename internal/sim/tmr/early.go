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
	singles := s.singles()
	order := [...]int{abi.ShapeMIX, singles[0], singles[1]}
	for _, behind := range []bool{false, true} {
		for _, shape := range order {
			if !behind || !s.othersIdle(shape) {
				blocks += s.fillEarly(&s.r.early[shape], shape, behind)
			}
		}
	}
	if blocks > 0 {
		s.t0p = s.now()
		s.phase(&abi.SchedPhase{Kind: abi.EarlyDispatch, TasksProcessed: uint32(blocks)}, start, s.t0p)
	}
	return blocks
}

// fillEarly gives places to tasks that are not ready.
func (s *scheduler) fillEarly(q *queue, shape int, behind bool) (blocks int) {
	for q.len() > 0 && !s.called() {
		free := s.places(shape, behind, len(s.r.Chip.Cores))
		if len(free) == 0 {
			break
		}
		s.spend(sim.SchedPop)
		t := q.pop()
		if t == nil { // another thread was faster
			break
		}
		t.early.queued = false
		if t.fanin == 0 || t.next == t.blocks { // meanwhile it became ready, or found its places
			continue
		}
		first, last := t.next, min(t.next+len(free), t.blocks)
		if t.next = last; last < t.blocks {
			s.spend(sim.SchedPush)
			s.r.candidate(t, s.now())
		}
		at := s.stamp()
		var batch []prepared
		for block := first; block < last; block++ {
			batch = s.prepare(batch, t, block, free[block-first])
		}
		s.publish(batch, at)
		blocks += last - first
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
		s.r.kick(s.now())
	}
	t.early.staged = nil
	if t.next < t.blocks {
		s.spend(sim.SchedPush)
		s.r.route(t, s.now())
	}
}
