package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// dispatchEarly places tasks whose producers run, when nothing is ready. They wait
// on their cores for a doorbell (spec/collector.md §12.6).
func (s *scheduler) dispatchEarly() (blocks int) {
	for shape := range abi.QueueShapes {
		if s.asked || s.work(normalPass, shape) {
			return 0
		}
	}
	start := s.now()
	for pass := range passes {
		blocks += s.inOrder(func(shape int, behind bool) int { return s.fillEarly(pass, shape, behind) },
			func(shape int) bool { return s.offered(pass, shape) },
			func(shape int) bool { return s.othersIdle(normalPass, shape) })
	}
	if blocks > 0 {
		s.t0p = s.now()
		s.phase(&abi.SchedPhase{Kind: abi.EarlyDispatch, TasksProcessed: uint32(blocks)}, start, s.t0p)
	}
	return blocks
}

// fillEarly gives places to tasks that are not ready, and tells how many blocks that
// was. One that must start together is placed whole or not at all.
func (s *scheduler) fillEarly(pass, shape int, behind bool) (blocks int) {
	q := &s.r.early[pass][shape]
	for s.offered(pass, shape) && len(s.places(shape, 0, behind, 1)) > 0 {
		s.spend(sim.SchedPop)
		if s.blind() {
			break
		}
		var free []place
		t := q.take(func(t *task) bool {
			free = s.places(shape, t.lanes, behind, t.blocks-t.next)
			return len(free) > 0 && (!t.sync() || len(free) == t.blocks)
		})
		if t == nil {
			break
		}
		t.early.queued = false
		first := t.next
		t.next += len(free)
		s.r.changed(s.now())
		if t.next < t.blocks {
			s.spend(sim.SchedPush)
			s.r.candidate(t, s.now())
		}
		at := s.stamp()
		var batch []prepared
		for i, p := range free {
			batch = s.prepare(batch, t, first+i, p)
		}
		s.publish(batch, &at)
		blocks += len(free)
	}
	return blocks
}

// ring opens the gates of a task that was placed early and is ready now. Blocks
// that found no place go the ordinary way.
func (s *scheduler) ring(t *task) {
	for _, b := range t.early.staged {
		s.spend(sim.SchedPublish)
		for _, o := range []*sub{&b.slot.running, &b.slot.waiting} {
			if o.task == t && o.token == b.sub.token {
				o.rung, o.bell = true, s.thread.Moment()
			}
		}
		b.slot.core.Ring(s.now(), b.sub.token)
		b.slot.owner.rings++
		s.r.changed(s.now())
	}
	t.early.staged = nil
	if t.next < t.blocks {
		s.spend(sim.SchedPush)
		s.r.route(t, s.now())
	}
}
