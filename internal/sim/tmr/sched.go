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
	poked  bool // something happened in this iteration that may concern it

	cores    [][abi.CoresPerCluster]*slots // its clusters
	iter     uint32
	t0p      sim.Time // start of the next record's span
	deferred []*task  // completed, and their references not dropped yet

	room    []place
	drained *drain // the last drain that it took part in

	flushed      bool
	hits, misses uint32 // of pops, since the last Dispatch record
	end          depths // of the last record that has depths
	cached       depths
	cachedAt     uint32 // iteration of cached
}

type depths = [abi.QueueShapes]int16

// slots are the two tasks that a core may have.
type slots struct {
	core     *sim.Core
	running  sub // the one that the core has or will have first
	waiting  sub // behind it
	acked    bool
	tokens   producer.Tokens
	dispatch uint32 // how many there were
}

// microsecond is how long a walk of consumers takes at least to be recorded.
const microsecond = sim.Time(1000)

// progressEvery is how many tasks complete between two reports of progress.
const progressEvery = 256

// sub is a subtask on a core; without a task there is none.
type sub struct {
	task       *task
	block      int
	lane       int
	token      uint32
	gated      bool // it waits for a doorbell
	dispatched sim.Time
}

func (s *scheduler) adopt(cluster int) {
	var c [abi.CoresPerCluster]*slots
	for i, core := range s.r.Chip.Cluster(cluster) {
		c[i] = &slots{core: core}
	}
	s.cores = append(s.cores, c)
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
		s.iter++
		s.poked = false
		began := s.now()
		s.t0p = began
		s.spend(sim.SchedLoop)
		if s.done() {
			break
		}
		misses := s.misses
		if !s.step() && !s.drainDeferred() {
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
	for _, c := range s.cores {
		for _, slot := range c {
			owned = append(owned, slot.core.Index)
		}
	}
	s.out.Flush(owned, nil)
	s.flushed = true
}

// done tells whether there is nothing left to do in the run.
func (s *scheduler) done() bool {
	if !s.r.orchestrated || s.r.completed < s.r.submitted {
		return false
	}
	for _, c := range s.cores {
		for _, slot := range c {
			if slot.running.task != nil {
				return false
			}
		}
	}
	return true
}

// step is an iteration. It tells whether it has done anything.
func (s *scheduler) step() bool {
	finished := s.poll()
	finished += s.pollAsync()
	if d := s.r.drain; d != nil && d != s.drained {
		s.takePart(d)
		return true
	}
	finished += s.dummies()
	return finished+s.dispatch()+s.dispatchEarly() > 0
}

// idle lets iterations pass in which nothing can happen: all are as long as the
// one that began at a time. Whatever ends it ends it at the beginning of one.
func (s *scheduler) idle(began sim.Time, misses uint32) {
	period := s.now() - began
	if period <= 0 {
		s.thread.Advance(1) // a model in which nothing takes time must not stand still
		return
	}
	if s.poked || len(s.r.async) > 0 {
		return
	}
	next := sim.Never
	for _, c := range s.cores {
		for _, slot := range c {
			if slot.running.task != nil {
				next = min(next, slot.core.Next(began)) // what was polled this time, it was polled after began
			}
		}
	}
	from := s.now()
	if next <= from {
		return
	}
	s.thread.Sleep(next)
	skipped := (s.now() - from + period - 1) / period
	s.thread.Until(from + skipped*period)
	s.iter += uint32(skipped)
	s.misses += uint32(skipped) * misses
}

// poll looks at the cores that run something, and takes what has finished.
func (s *scheduler) poll() (finished int) {
	polled := false
	for _, c := range s.cores {
		for _, slot := range c {
			if slot.running.task == nil || slot.running.gated {
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
		slot.running, slot.waiting, slot.acked = sub{}, sub{}, false
	case second && token == slot.waiting.token:
		over[0] = slot.running
		slot.running, slot.waiting, slot.acked = slot.waiting, sub{}, true
	case token == slot.running.token && fin && !second:
		over[0] = slot.running
		slot.running, slot.acked = sub{}, false
	case token == slot.running.token && fin && slot.waiting.gated:
		over[0] = slot.running
		slot.running, slot.waiting, slot.acked = slot.waiting, sub{}, false
	case token == slot.running.token && !fin && !slot.acked:
		slot.acked = true
	default:
		return 0
	}
	s.observe(sim.SchedSample, abi.ScheduleTiming)
	finish := s.now()
	s.out.Ack(slot.core.Index, token)
	for _, o := range over {
		if o.task != nil {
			s.r.freed++
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
			s.resolve(t)
		} else {
			t.due = s.now() + s.r.Chip.Duration(t.spec.Wait)
			s.r.async = append(s.r.async, t)
			s.r.kick(s.now())
		}
	}
	s.observe(sim.SchedTaskRecord, abi.ScheduleTiming)
	chip := s.r.Chip
	s.out.Task(slot.core.Index, o.token, chip.Counter(o.dispatched), chip.Counter(finish))
}

// resolve completes a task: its consumers may run.
func (s *scheduler) resolve(t *task) {
	start, open, consumers := s.now(), t.opens(), len(t.consumers)
	t.state = completed
	for _, c := range t.consumers {
		s.spend(sim.SchedResolve)
		if !open {
			c.early.open--
		}
		switch c.fanin--; {
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
	if chip.Counter(s.now())-chip.Counter(start) >= chip.Counter(microsecond) {
		s.phase(&abi.SchedPhase{Kind: abi.Resolve, TasksProcessed: uint32(consumers)}, start, s.now())
	}
	s.r.completed++
	if s.r.Progress != nil && s.r.completed%progressEvery == 0 {
		s.r.Progress(s.r.submitted, s.r.completed)
	}
	if s.deferred = append(s.deferred, t); len(s.deferred) == releaseList {
		s.releaseAll()
	}
	if s.r.orchestrated && s.r.completed == s.r.submitted {
		s.r.kick(s.now())
	}
}

// pollAsync looks once at what tasks wait for beside their kernels.
func (s *scheduler) pollAsync() (done int) {
	if len(s.r.async) == 0 {
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
	for _, t := range due {
		s.resolve(t)
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
	n := 0
	var t0 sim.Time
	for ; n < dummyBatch; n++ {
		t := s.r.dummy.pop()
		if t == nil {
			break
		}
		s.spend(sim.SchedPop)
		if n == 0 {
			t0 = s.now()
		}
		s.observe(sim.SchedSample, abi.SchedPhases)
		at := s.now()
		s.resolve(t)
		kind := abi.DummyTask
		if t.spec.Predicate != nil {
			kind = abi.PredicatedSkip
		}
		p := abi.SchedPhase{Kind: kind, TasksProcessed: 1}
		p.SetTask(t.id)
		s.phase(&p, at, at)
	}
	if n > 0 {
		s.record(abi.Dummy, t0, n, s.fresh())
	}
	return n
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
