package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// drain makes all schedulers place a task together whose blocks must start
// together and did not fit into one thread's cores (spec/collector.md §12.6).
type drain struct {
	task    *task
	acks    int // threads that have stopped dispatching
	decided bool
	fits    bool
	left    int // threads that have staged their share
}

// called tells whether a drain waits for this thread.
func (s *scheduler) called() bool { return s.r.drain != nil && s.r.drain != s.drained }

// hopeless tells whether a task that must start together cannot be placed now:
// nothing has become idle since there was too little room, or a drain is under way.
func (r *runtime) hopeless(t *task) bool {
	return t != nil && t.sync() && (r.drain != nil || t.failed == r.freed+1)
}

// callDrain asks all threads to place a task.
func (s *scheduler) callDrain(t *task) {
	s.r.drain = &drain{task: t}
	s.r.kick(s.now())
}

// takePart is a thread's part in a drain: it waits for all others, and then places
// as many blocks as it can.
func (s *scheduler) takePart(d *drain) {
	s.drained = d
	s.spend(sim.SchedDrain)
	if d.acks++; d.acks == len(s.r.scheds) {
		s.decide(d)
	}
	for !d.decided {
		s.thread.Sleep(sim.Never)
	}
	if !d.fits {
		return
	}
	start, blocks := s.now(), 0
	for t := d.task; t.next < t.blocks; {
		free := s.places(t.shape, false, t.blocks-t.next)
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
		n := s.publish(batch, at)
		s.phase(&abi.SchedPhase{Kind: abi.DrainPublish, TasksProcessed: uint32(n)}, at, s.now())
		blocks += len(free)
	}
	s.t0p = s.now()
	s.phase(&abi.SchedPhase{Kind: abi.Drain, TasksProcessed: uint32(blocks)}, start, s.t0p)
	if d.left++; d.left == len(s.r.scheds) {
		s.r.drain = nil
		s.r.kick(s.now())
	}
}

// decide looks whether there is room on all threads together. If not, everyone
// goes on, and the task waits until something has become idle.
func (s *scheduler) decide(d *drain) {
	room := 0
	for _, other := range s.r.scheds {
		room += other.idlePlaces(d.task.shape)
	}
	d.decided, d.fits = true, room >= d.task.blocks
	if !d.fits {
		s.r.drain, d.task.failed = nil, s.r.freed+1
		s.r.sync[d.task.shape].push(d.task)
	}
	s.r.kick(s.now())
}
