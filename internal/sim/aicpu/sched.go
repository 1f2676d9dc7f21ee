package aicpu

import (
	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// Scheduler is an AICPU thread that looks at queues and cores in a loop.
type Scheduler struct {
	Index int
	// More is what an iteration depends on beside what all threads look at; nil: nothing.
	// Whoever changes it calls [Runtime.Changed].
	More func() uint32
	// Next is when something happens that the thread would see although nobody tells
	// it; nil: nothing does, but for its cores.
	Next func() sim.Time
	// Skipped is called when the thread slept through so many iterations, of so long
	// each; nil: it does not matter.
	Skipped func(n int64, period sim.Time)

	r      *Runtime
	name   string
	out    *producer.Thread
	thread *sim.Thread

	clusters []*cluster
	iter     uint32
	t0p      sim.Time // start of the next record's span

	room   []place
	popped []*Task
	asked  bool   // for a drain, in this iteration
	rings  uint32 // for its cores so far

	disturbed bool       // something changed in this iteration
	asleep    bool       // until its view changes or a COND does
	seen      view       // when it fell asleep
	woken     sim.Moment // when another thread ended that

	flushed      bool
	hits, misses uint32 // of pops, since the last Dispatch record
	end          Depths // of the last record that has depths
	cached       Depths
	cachedAt     uint32 // iteration of cached
}

// Depths are how many tasks are in the shared ready queues, by shape.
type Depths = [abi.QueueShapes]int16

func (s *Scheduler) adopt(index int) {
	c := &cluster{}
	for i, core := range s.r.Chip.Cluster(index) {
		c.cores[i] = slots{core: core, owner: s, in: c, lane: 1 << i}
		c.cores[i].set(sub{}, false)
	}
	s.clusters = append(s.clusters, c)
}

// Now is the time of the thread.
func (s *Scheduler) Now() sim.Time { return s.thread.Now() }

// Spend lets the time pass that a step takes.
func (s *Scheduler) Spend(k sim.Cost) { s.thread.Advance(s.r.Cost(k)) }

// SpanStart is where the span of the next record begins.
func (s *Scheduler) SpanStart() sim.Time { return s.t0p }

// Observe spends what profiling takes at a level.
func (s *Scheduler) Observe(k sim.Cost, level abi.Level) {
	if s.r.Level >= level {
		s.Spend(k)
	}
}

// Iterate repeats an iteration until nothing is left to do. The iteration tells
// whether it has done anything. While it does not, and nothing changes that it
// looks at, the thread sleeps: it goes on at the beginning of the iteration in which
// something does, as if it had done all of them.
func (s *Scheduler) Iterate(step func() (progress bool)) {
	s.end = s.Fresh()
	for {
		s.disturbed, s.asked = s.Blind(), false
		began := s.Now()
		s.t0p = began
		s.Spend(sim.SchedLoop)
		if s.done() {
			return // not an iteration: the captures do not count it
		}
		s.iter++
		misses := s.misses
		progress := step()
		if s.Now() == began {
			s.thread.Advance(1) // a model in which nothing takes time must not stand still
		}
		if !progress {
			s.idle(began, s.misses-misses)
		}
	}
}

// Leave records the pops that no record has yet, and hands over all records.
func (s *Scheduler) Leave() {
	if s.hits+s.misses > 0 {
		at := s.Sample()
		s.dispatchRecord(s.Now(), s.Now(), 0, at)
	}
	s.flush()
}

// flush hands over the records that the host does not have yet.
func (s *Scheduler) flush() {
	var owned []int
	for _, c := range s.clusters {
		for i := range c.cores {
			owned = append(owned, c.cores[i].core.Index)
		}
	}
	s.out.Flush(owned, nil)
	s.flushed = true
}

// done tells whether there is nothing left to do for this thread.
func (s *Scheduler) done() bool {
	if !s.finished() {
		return false
	}
	for _, c := range s.clusters {
		if c.idle != laneAIC|laneAIV0|laneAIV1 {
			return false
		}
	}
	return true
}

// Poll looks at the cores that run something, and takes what has finished. The span
// of the next record begins behind it: always if cores were polled, or only if it
// made a record.
func (s *Scheduler) Poll(always bool) (finished int) {
	polled := false
	for _, c := range s.clusters {
		for i := range c.cores {
			slot := &c.cores[i]
			if slot.running.task == nil || s.gated(&slot.running) {
				continue
			}
			polled = true
			s.Spend(sim.SchedPoll)
			finished += s.event(slot)
		}
	}
	switch {
	case finished > 0:
		s.Record(abi.Complete, s.t0p, finished, s.Fresh())
	case polled && always:
		s.t0p = s.Now()
	}
	return finished
}

// event acts on what COND of a core shows (spec/collector.md §12.4).
func (s *Scheduler) event(slot *slots) (finished int) {
	token, fin, ok := slot.core.Cond(s.Now())
	if !ok {
		return 0
	}
	var over [2]sub // in the order in which they are completed
	switch second := slot.waiting.task != nil; {
	case second && token == slot.waiting.token && fin:
		over = [2]sub{slot.waiting, slot.running}
		slot.waiting = sub{}
		slot.set(sub{}, false)
	case second && token == slot.waiting.token:
		over[0] = slot.running
		slot.set(slot.waiting, true)
		slot.waiting = sub{}
	case token == slot.running.token && fin && !second:
		over[0] = slot.running
		slot.set(sub{}, false)
	case token == slot.running.token && fin && s.gated(&slot.waiting):
		over[0] = slot.running
		slot.set(slot.waiting, false)
		slot.waiting = sub{}
	case token == slot.running.token && !fin && !slot.acked:
		slot.acked = true
	default:
		return 0
	}
	s.disturbed = true
	s.r.Changed(s.Now())
	s.Observe(sim.SchedSample, abi.ScheduleTiming)
	finish := s.Now()
	if !s.r.NoAcks {
		s.out.Ack(slot.core.Index, token)
	}
	for _, o := range over {
		if o.task != nil {
			s.complete(slot, o, finish)
			finished++
		}
	}
	return finished
}

// complete counts a subtask that has finished.
func (s *Scheduler) complete(slot *slots, o sub, finish sim.Time) {
	s.Spend(sim.SchedComplete)
	t := o.task
	s.r.Report.finished(t.Spec.Slot, finish)
	if t.left--; t.left == 0 {
		s.r.Finish(s, t)
	}
	s.Observe(sim.SchedTaskRecord, abi.ScheduleTiming)
	chip := s.r.Chip
	s.out.Task(slot.core.Index, o.token, chip.Counter(o.dispatched), chip.Counter(finish))
}

// Resolve tells the consumers of a completed task. Those that wait for nothing else
// may run.
func (s *Scheduler) Resolve(t *Task) {
	open := t.opens()
	for _, c := range t.Consumers {
		s.Spend(sim.SchedResolve)
		if !open {
			c.early.open--
		}
		if c.Fanin--; c.early.queued {
			s.r.Changed(s.Now()) // it may be no candidate any more
		}
		switch {
		case c.Fanin > 0:
			s.r.candidate(c, s.Now())
		case len(c.early.staged) > 0:
			s.ring(c)
		case c.next < c.Blocks: // else another thread is about to publish the last ones
			s.Spend(sim.SchedPush)
			s.r.Route(c, s.Now())
		}
	}
}

// Disturb keeps the thread awake in this iteration.
func (s *Scheduler) Disturb() { s.disturbed = true }

// Awaited looks once at what tasks wait for beside their kernels, and takes those
// that wait no more.
func (s *Scheduler) Awaited() []*Task {
	s.Spend(sim.SchedPoll)
	return s.r.takeDue(s.Now())
}

// NextDue is when the next task waits no more.
func (s *Scheduler) NextDue() sim.Time {
	next := sim.Never
	for _, t := range s.r.async {
		next = min(next, t.due)
	}
	return next
}

// PopDummies takes some of the tasks that run on no core. They are good until the
// next call.
func (s *Scheduler) PopDummies(n int) []*Task {
	s.Spend(sim.SchedPop)
	if s.Blind() {
		return nil
	}
	return s.pop(&s.r.dummy, n)
}

// pop takes up to n tasks from a shared queue. They are good until the next call.
func (s *Scheduler) pop(q *Queue, n int) []*Task {
	s.popped = s.popped[:0]
	for len(s.popped) < n && q.Len() > 0 {
		s.popped = append(s.popped, q.Pop())
	}
	if len(s.popped) > 0 {
		s.r.Changed(s.Now())
		if s.r.Popped != nil {
			s.r.Popped(s.Now())
		}
	}
	return s.popped
}

// Fresh samples the depths of the shared queues.
func (s *Scheduler) Fresh() Depths {
	s.Observe(sim.SchedDepth, abi.SchedPhases)
	s.cached, s.cachedAt = s.r.depths(), s.iter
	return s.cached
}

// Sample is at most one sample an iteration.
func (s *Scheduler) Sample() Depths {
	if s.cachedAt == s.iter && s.iter > 0 {
		return s.cached
	}
	return s.Fresh()
}

// Record emits a phase that has depths. It ends now, where the span of the next one
// begins.
func (s *Scheduler) Record(k abi.PhaseKind, start sim.Time, tasks int, end Depths) {
	p := abi.SchedPhase{Kind: k, TasksProcessed: uint32(tasks), SharedDepthAtStart: s.end, SharedDepthAtEnd: end}
	s.end, s.t0p = end, s.Now()
	s.Phase(&p, start, s.t0p)
}

// dispatchRecord emits a Dispatch with the pops since the last one.
func (s *Scheduler) dispatchRecord(start, end sim.Time, subtasks int, at Depths) {
	p := abi.SchedPhase{Kind: abi.Dispatch, TasksProcessed: uint32(subtasks), SharedDepthAtStart: s.end, SharedDepthAtEnd: at}
	p.SetPops(s.hits, s.misses)
	s.end, s.hits, s.misses, s.t0p = at, 0, 0, end
	s.Phase(&p, start, end)
}

// Step emits a phase without depths. It ends now, where the span of the next one
// begins.
func (s *Scheduler) Step(p *abi.SchedPhase, start sim.Time) {
	s.t0p = s.Now()
	s.Phase(p, start, s.t0p)
}

// Phase emits a phase. Its times are given.
func (s *Scheduler) Phase(p *abi.SchedPhase, start, end sim.Time) {
	if s.r.Level < abi.SchedPhases {
		return
	}
	p.StartTime, p.EndTime = s.r.Chip.Counter(start), s.r.Chip.Counter(end)
	s.Emit(p)
}

// Emit emits a phase whose times are in it.
func (s *Scheduler) Emit(p *abi.SchedPhase) {
	if s.r.Level < abi.SchedPhases {
		return
	}
	p.LoopIter = s.iter
	s.out.SchedPhase(p)
	s.Spend(sim.SchedPhaseRecord)
}
