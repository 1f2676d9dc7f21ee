package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// drain makes all schedulers place a task together whose blocks must start
// together and did not fit into one thread's cores (spec/collector.md §12.6).
type drain struct {
	task  *task
	round *round
	left  int // threads that have staged their share
}

// round is one look whether there is room on all threads together. While there is
// not, everybody goes on without dispatching anything and looks again in the next
// iteration.
type round struct {
	acks    int // threads that have stopped dispatching
	decided bool
	fits    bool
}

// ask asks all threads to place a task. Not ok: a drain is under way.
func (s *scheduler) ask(t *task) bool {
	if s.r.drain != nil {
		return false
	}
	s.r.drain = &drain{task: t, round: &round{}}
	s.r.changed(s.now())
	return true
}

// takePart is a thread's part in a drain: it waits for all others, and when there
// is room places as many blocks as it can, and waits until all have done so.
func (s *scheduler) takePart(d *drain) {
	start, blocks := s.now(), 0
	s.spend(sim.SchedDrain)
	this := d.round
	if this.acks++; this.acks == len(s.r.scheds) {
		s.decide(d)
	}
	for !this.decided {
		s.thread.Sleep(sim.Never)
	}
	if !this.fits {
		return
	}
	for t := d.task; t.next < t.blocks; {
		free := s.places(t.shape, t.lanes, false, t.blocks-t.next)
		if len(free) == 0 {
			break
		}
		first := t.next
		t.next += len(free)
		begin := s.now()
		var batch []prepared
		for i, p := range free {
			batch = s.prepare(batch, t, first+i, p)
		}
		at := s.stamp()
		s.phase(&abi.SchedPhase{Kind: abi.DrainPrepare, TasksProcessed: uint32(len(batch))}, begin, at)
		n := s.publish(batch, &at)
		s.phase(&abi.SchedPhase{Kind: abi.DrainPublish, TasksProcessed: uint32(n)}, at, s.now())
		blocks += len(free)
	}
	if d.left++; d.left == len(s.r.scheds) {
		s.r.drain = nil
		s.wakeAll()
	}
	for s.r.drain == d {
		s.thread.Sleep(sim.Never)
	}
	s.t0p = s.now()
	s.phase(&abi.SchedPhase{Kind: abi.Drain, TasksProcessed: uint32(blocks)}, start, s.t0p)
}

// wakeAll ends the waits of a drain.
func (s *scheduler) wakeAll() {
	for _, other := range s.r.scheds {
		other.thread.Wake(s.now())
	}
	s.r.changed(s.now())
}

// decide ends a round.
func (s *scheduler) decide(d *drain) {
	room := 0
	for _, other := range s.r.scheds {
		room += other.idlePlaces(d.task.shape, d.task.lanes)
	}
	this := d.round
	this.decided, this.fits = true, room >= d.task.blocks
	if !this.fits {
		d.round = &round{}
	}
	s.wakeAll()
}
