package aicpu

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// DispatchEarly places tasks whose producers run, when nothing is ready. They wait
// on their cores for a doorbell (spec/collector.md §12.6).
func (s *Scheduler) DispatchEarly() (blocks int) {
	for shape := range abi.QueueShapes {
		if s.asked || s.work(normalPass, shape) {
			return 0
		}
	}
	start := s.Now()
	for pass := range passes {
		blocks += s.inOrder(func(shape int, behind bool) int { return s.fillEarly(pass, shape, behind) },
			func(shape int) bool { return s.offered(pass, shape) },
			func(shape int) bool { return s.othersIdle(normalPass, shape) })
	}
	if blocks > 0 {
		s.Step(&abi.SchedPhase{Kind: abi.EarlyDispatch, TasksProcessed: uint32(blocks)}, start)
	}
	return blocks
}

// fillEarly gives places to tasks that are not ready, and tells how many blocks that
// was. One that must start together is placed whole or not at all.
func (s *Scheduler) fillEarly(pass, shape int, behind bool) (blocks int) {
	q := &s.r.early[pass][shape]
	for s.offered(pass, shape) && len(s.places(shape, 0, behind, 1)) > 0 {
		s.Spend(sim.SchedPop)
		if s.Blind() {
			break
		}
		var free []place
		t := q.take(func(t *Task) bool {
			free = s.places(shape, t.Lanes, behind, t.Blocks-t.next)
			return len(free) > 0 && (!t.sync() || len(free) == t.Blocks)
		})
		if t == nil {
			break
		}
		t.early.queued = false
		first := t.next
		t.next += len(free)
		s.r.Changed(s.Now())
		if t.next < t.Blocks {
			s.Spend(sim.SchedPush)
			s.r.candidate(t, s.Now())
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
func (s *Scheduler) ring(t *Task) {
	for _, b := range t.early.staged {
		s.Spend(sim.SchedPublish)
		for _, o := range []*sub{&b.slot.running, &b.slot.waiting} {
			if o.task == t && o.token == b.sub.token {
				o.rung, o.bell = true, s.thread.Moment()
			}
		}
		b.slot.core.Ring(s.Now(), b.sub.token)
		b.slot.owner.rings++
		s.r.Changed(s.Now())
	}
	t.early.staged = nil
	if t.next < t.Blocks {
		s.Spend(sim.SchedPush)
		s.r.Route(t, s.Now())
	}
}
