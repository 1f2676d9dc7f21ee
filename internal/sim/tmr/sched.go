package tmr

import (
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// scheduler is the program of a scheduler thread (spec/collector.md §12.5).
type scheduler struct {
	r      *runtime
	index  int
	out    *producer.Thread
	thread *sim.Thread

	clusters []*cluster
	iter     uint32
	t0p      sim.Time // start of the next record's span
	deferred []*task  // completed, and their references not dropped yet

	room   []place
	popped []*task
	asked  bool   // for a drain, in this iteration
	rings  uint32 // for its cores so far

	disturbed bool       // something changed in this iteration
	asleep    bool       // until its view changes or a COND does
	seen      view       // when it fell asleep
	woken     sim.Moment // when another thread ended that

	flushed      bool
	hits, misses uint32 // of pops, since the last Dispatch record
	end          depths // of the last record that has depths
	cached       depths
	cachedAt     uint32 // iteration of cached
}

type depths = [abi.QueueShapes]int16

// microsecond is how long a walk of consumers takes at least to be recorded.
const microsecond = sim.Time(1000)

// progressEvery is how many tasks complete between two reports of progress.
const progressEvery = 256

func (s *scheduler) adopt(index int) {
	c := &cluster{}
	for i, core := range s.r.Chip.Cluster(index) {
		c.cores[i] = slots{core: core, owner: s, in: c, lane: 1 << i}
		c.cores[i].set(sub{}, false)
	}
	s.clusters = append(s.clusters, c)
}

func (s *scheduler) now() sim.Time { return s.thread.Now() }

func (s *scheduler) spend(k sim.Cost) { s.thread.Advance(s.r.cost(k)) }

// observe spends what profiling takes at a level.
func (s *scheduler) observe(k sim.Cost, level abi.Level) {
	if s.r.level >= level {
		s.spend(k)
	}
}

func (s *scheduler) run(*sim.Thread) {
	s.end = s.fresh()
	for {
		s.disturbed, s.asked = s.blind(), false
		began := s.now()
		s.t0p = began
		s.spend(sim.SchedLoop)
		if s.done() {
			break // not an iteration: the captures do not count it
		}
		s.iter++
		misses := s.misses
		progress := s.step() || s.drainDeferred()
		if s.now() == began {
			s.thread.Advance(1) // a model in which nothing takes time must not stand still
		}
		if !progress {
			s.idle(began, s.misses-misses)
		}
	}
	for _, t := range s.deferred {
		s.releaseTask(t)
	}
	s.deferred = nil
	if s.hits+s.misses > 0 {
		at := s.sample()
		s.dispatchRecord(s.now(), s.now(), 0, at)
	}
	s.flush()
}

// flush hands over the records that the host does not have yet.
func (s *scheduler) flush() {
	var owned []int
	for _, c := range s.clusters {
		for i := range c.cores {
			owned = append(owned, c.cores[i].core.Index)
		}
	}
	s.out.Flush(owned, nil)
	s.flushed = true
}

// done tells whether there is nothing left to do in the run.
func (s *scheduler) done() bool {
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

// step is an iteration. It tells whether it has done anything.
func (s *scheduler) step() bool {
	finished := s.poll()
	finished += s.pollAsync()
	if s.called() {
		s.takePart(s.r.drain)
		return true
	}
	finished += s.dummies()
	return finished+s.dispatch()+s.dispatchEarly() > 0
}

// poll looks at the cores that run something, and takes what has finished.
func (s *scheduler) poll() (finished int) {
	polled := false
	for _, c := range s.clusters {
		for i := range c.cores {
			slot := &c.cores[i]
			if slot.running.task == nil || s.gated(&slot.running) {
				continue
			}
			polled = true
			s.spend(sim.SchedPoll)
			finished += s.event(slot)
		}
	}
	switch {
	case finished > 0:
		s.record(abi.Complete, s.t0p, finished, s.fresh())
	case polled:
		s.t0p = s.now()
	}
	return finished
}

// event acts on what COND of a core shows (spec/collector.md §12.4).
func (s *scheduler) event(slot *slots) (finished int) {
	token, fin, ok := slot.core.Cond(s.now())
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
	s.r.changed(s.now())
	s.observe(sim.SchedSample, abi.ScheduleTiming)
	finish := s.now()
	s.out.Ack(slot.core.Index, token)
	for _, o := range over {
		if o.task != nil {
			s.complete(slot, o, finish)
			finished++
		}
	}
	return finished
}

// complete counts a subtask that has finished.
func (s *scheduler) complete(slot *slots, o sub, finish sim.Time) {
	s.spend(sim.SchedComplete)
	t := o.task
	s.r.report.finished(t.spec.Slot, finish)
	if t.left--; t.left == 0 {
		if t.spec.Wait == 0 {
			s.resolve(t, true)
		} else {
			t.due = s.now() + s.r.Chip.Duration(t.spec.Wait)
			s.r.async = append(s.r.async, t)
			s.r.changed(s.now())
		}
	}
	s.observe(sim.SchedTaskRecord, abi.ScheduleTiming)
	chip := s.r.Chip
	s.out.Task(slot.core.Index, o.token, chip.Counter(o.dispatched), chip.Counter(finish))
}

// resolve completes a task: its consumers may run. The walk to them can be a
// record of its own.
func (s *scheduler) resolve(t *task, record bool) {
	start, open, consumers := s.now(), t.opens(), len(t.consumers)
	t.state = completed
	for _, c := range t.consumers {
		s.spend(sim.SchedResolve)
		if !open {
			c.early.open--
		}
		if c.fanin--; c.early.queued {
			s.r.changed(s.now()) // it may be no candidate any more
		}
		switch {
		case c.fanin > 0:
			s.r.candidate(c, s.now())
		case len(c.early.staged) > 0:
			s.ring(c)
		case c.next < c.blocks: // else another thread is about to publish the last ones
			s.spend(sim.SchedPush)
			s.r.route(c, s.now())
		}
	}
	chip := s.r.Chip
	if record && chip.Counter(s.now())-chip.Counter(start) >= chip.Counter(microsecond) {
		s.phase(&abi.SchedPhase{Kind: abi.Resolve, TasksProcessed: uint32(consumers)}, start, s.now())
	}
	s.r.completed++
	if s.r.Progress != nil && s.r.completed%progressEvery == 0 {
		s.r.Progress(s.r.submitted, s.r.completed)
	}
	if s.deferred = append(s.deferred, t); len(s.deferred) == releaseList {
		s.releaseAll()
	}
	s.r.changed(s.now())
}

// pollAsync looks once at what tasks wait for beside their kernels. It records no
// Resolve: the rows of spec/collector.md §12.5 that have one are those of cores and
// of dummies.
func (s *scheduler) pollAsync() (done int) {
	if !s.outstanding() {
		return 0
	}
	s.spend(sim.SchedPoll)
	var due []*task
	s.r.async = slices.DeleteFunc(s.r.async, func(t *task) bool {
		if t.due <= s.now() {
			due = append(due, t)
		}
		return t.due <= s.now()
	})
	s.disturbed = true // as long as there are any, every poll is a record
	if len(due) > 0 {
		s.r.changed(s.now())
	}
	for _, t := range due {
		s.resolve(t, false)
	}
	end := s.sample()
	if len(due) > 0 {
		end = s.fresh()
	}
	s.record(abi.AsyncPoll, s.t0p, len(due), end)
	return len(due)
}

// dummies completes tasks that run on no core (spec/collector.md §12.5, row 4).
func (s *scheduler) dummies() int {
	if !s.dummiesReady() {
		return 0
	}
	s.spend(sim.SchedPop)
	if s.blind() {
		return 0
	}
	batch := s.pop(&s.r.dummy, dummyBatch)
	if len(batch) == 0 {
		return 0
	}
	start := s.now()
	for _, t := range batch {
		s.observe(sim.SchedSample, abi.SchedPhases)
		at := s.now()
		s.resolve(t, true)
		kind := abi.DummyTask
		if t.spec.Predicate != nil {
			kind = abi.PredicatedSkip
		}
		p := abi.SchedPhase{Kind: kind, TasksProcessed: 1}
		p.SetTask(t.id)
		s.phase(&p, at, at)
	}
	s.record(abi.Dummy, start, len(batch), s.fresh())
	return len(batch)
}

// pop takes up to n tasks from a shared queue. They are good until the next call.
func (s *scheduler) pop(q *queue, n int) []*task {
	s.popped = s.popped[:0]
	for len(s.popped) < n && q.len() > 0 {
		s.popped = append(s.popped, q.pop())
	}
	if len(s.popped) > 0 {
		s.r.changed(s.now())
		s.r.orch.thread.Wake(s.now()) // it may wait for room
	}
	return s.popped
}

// drainDeferred drops the references of completed tasks when there is nothing
// better to do.
func (s *scheduler) drainDeferred() bool {
	n := len(s.deferred)
	if n == 0 {
		return false
	}
	start := s.now()
	s.releaseAll()
	s.t0p = s.now()
	s.phase(&abi.SchedPhase{Kind: abi.Release, TasksProcessed: uint32(n)}, start, s.t0p)
	return true
}

func (s *scheduler) releaseAll() {
	for _, t := range s.deferred {
		s.spend(sim.SchedRelease)
		s.releaseTask(t)
	}
	s.deferred = s.deferred[:0]
}

func (s *scheduler) releaseTask(t *task) {
	for _, p := range t.retained {
		s.r.release(p, s.now())
	}
	t.retained = nil
	s.r.consume(t, s.now())
}

// fresh samples the depths of the shared queues.
func (s *scheduler) fresh() depths {
	s.observe(sim.SchedDepth, abi.SchedPhases)
	s.cached, s.cachedAt = s.r.depths(), s.iter
	return s.cached
}

// sample is at most one sample an iteration.
func (s *scheduler) sample() depths {
	if s.cachedAt == s.iter && s.iter > 0 {
		return s.cached
	}
	return s.fresh()
}

// record emits a phase that has depths. It ends now, where the span of the next one
// begins.
func (s *scheduler) record(k abi.PhaseKind, start sim.Time, tasks int, end depths) {
	p := abi.SchedPhase{Kind: k, TasksProcessed: uint32(tasks), SharedDepthAtStart: s.end, SharedDepthAtEnd: end}
	s.end, s.t0p = end, s.now()
	s.phase(&p, start, s.t0p)
}

// dispatchRecord emits a Dispatch with the pops since the last one.
func (s *scheduler) dispatchRecord(start, end sim.Time, subtasks int, at depths) {
	p := abi.SchedPhase{Kind: abi.Dispatch, TasksProcessed: uint32(subtasks), SharedDepthAtStart: s.end, SharedDepthAtEnd: at}
	p.SetPops(s.hits, s.misses)
	s.end, s.hits, s.misses, s.t0p = at, 0, 0, end
	s.phase(&p, start, end)
}

func (s *scheduler) phase(p *abi.SchedPhase, start, end sim.Time) {
	if s.r.level < abi.SchedPhases {
		return
	}
	p.StartTime, p.EndTime, p.LoopIter = s.r.Chip.Counter(start), s.r.Chip.Counter(end), s.iter
	s.out.SchedPhase(p)
	s.spend(sim.SchedPhaseRecord)
}
