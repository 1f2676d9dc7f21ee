package aicpu

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// drain makes all schedulers place a task together whose blocks must start
// together and did not fit into one thread's cores (spec/collector.md §12.6).
type drain struct {
	task  *Task
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
func (s *Scheduler) ask(t *Task) bool {
	if s.r.drain != nil {
		return false
	}
	s.r.drain = &drain{task: t, round: &round{}}
	s.r.Changed(s.Now())
	return true
}

// TakePart is a thread's part in a drain: it waits for all others, and when there
// is room places as many blocks as it can, and waits until all have done so.
func (s *Scheduler) TakePart() {
	d := s.r.drain
	start, blocks := s.Now(), 0
	s.Spend(sim.SchedDrain)
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
	for t := d.task; t.next < t.Blocks; {
		free := s.places(t.Shape, t.Lanes, false, t.Blocks-t.next)
		if len(free) == 0 {
			break
		}
		first := t.next
		t.next += len(free)
		begin := s.Now()
		var batch []prepared
		for i, p := range free {
			batch = s.prepare(batch, t, first+i, p)
		}
		at := s.stamp()
		s.Phase(&abi.SchedPhase{Kind: abi.DrainPrepare, TasksProcessed: uint32(len(batch))}, begin, at)
		n := s.publish(batch, &at)
		s.Phase(&abi.SchedPhase{Kind: abi.DrainPublish, TasksProcessed: uint32(n)}, at, s.Now())
		blocks += len(free)
	}
	if d.left++; d.left == len(s.r.scheds) {
		s.r.drain = nil
		s.wakeAll()
	}
	for s.r.drain == d {
		s.thread.Sleep(sim.Never)
	}
	s.Step(&abi.SchedPhase{Kind: abi.Drain, TasksProcessed: uint32(blocks)}, start)
}

// wakeAll ends the waits of a drain.
func (s *Scheduler) wakeAll() {
	for _, other := range s.r.scheds {
		other.thread.Wake(s.Now())
	}
	s.r.Changed(s.Now())
}

// decide ends a round.
func (s *Scheduler) decide(d *drain) {
	room := 0
	for _, other := range s.r.scheds {
		room += other.idlePlaces(d.task.Shape, d.task.Lanes)
	}
	this := d.round
	this.decided, this.fits = true, room >= d.task.Blocks
	if !this.fits {
		d.round = &round{}
	}
	s.wakeAll()
}
