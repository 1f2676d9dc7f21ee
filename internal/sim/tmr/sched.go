package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// scheduler is the program of a scheduler thread (spec/collector.md §12.5).
type scheduler struct {
	*aicpu.Scheduler
	r        *runtime
	deferred []*task // completed, and their references not dropped yet
}

// microsecond is how long a walk of consumers takes at least to be recorded.
const microsecond = sim.Time(1000)

// progressEvery is how many tasks complete between two reports of progress.
const progressEvery = 256

func (s *scheduler) run() {
	s.Iterate(func() bool { return s.step() || s.drainDeferred() })
	for _, t := range s.deferred {
		s.releaseTask(t)
	}
	s.deferred = nil
	s.Leave()
}

// step is an iteration. It tells whether it has done anything.
func (s *scheduler) step() bool {
	finished := s.Poll(true)
	finished += s.pollAsync()
	if s.Called() {
		s.TakePart()
		return true
	}
	finished += s.dummies()
	return finished+s.Dispatch()+s.DispatchEarly() > 0
}

// finish is called when the last subtask of a task has finished.
func (r *runtime) finish(by *aicpu.Scheduler, t *aicpu.Task) {
	if t.Spec.Wait > 0 {
		r.Await(t, by.Now())
		return
	}
	r.scheds[by.Index].resolve(of(t), true)
}

// resolve completes a task: its consumers may run. The walk to them can be a
// record of its own.
func (s *scheduler) resolve(t *task, record bool) {
	s.r.Config.Hazards.Skip(t.Order)
	start, consumers := s.Now(), len(t.Consumers)
	t.state = completed
	s.Resolve(&t.Task)
	chip := s.r.Config.Chip
	if record && chip.Counter(s.Now())-chip.Counter(start) >= chip.Cycles(microsecond) {
		s.Phase(&abi.SchedPhase{Kind: abi.Resolve, TasksProcessed: uint32(consumers)}, start, s.Now())
	}
	s.r.completed++
	if s.r.Progress != nil && s.r.completed%progressEvery == 0 {
		s.r.Progress(s.r.submitted, s.r.completed)
	}
	if s.deferred = append(s.deferred, t); len(s.deferred) == releaseList {
		s.releaseAll()
	}
	s.r.Changed(s.Now())
}

// pollAsync looks once at what tasks wait for beside their kernels. It records no
// Resolve: the rows of spec/collector.md §12.5 that have one are those of cores and
// of dummies.
func (s *scheduler) pollAsync() (done int) {
	if !s.Outstanding() {
		return 0
	}
	start := s.SpanStart()
	due := s.Awaited()
	s.Disturb() // as long as there are any, every poll is a record
	for _, t := range due {
		s.resolve(of(t), false)
	}
	end := s.Sample()
	if len(due) > 0 {
		end = s.Fresh()
	}
	s.Record(abi.AsyncPoll, start, len(due), end)
	return len(due)
}

// dummies completes tasks that run on no core (spec/collector.md §12.5, row 4).
func (s *scheduler) dummies() int {
	if !s.DummiesReady() {
		return 0
	}
	batch := s.PopDummies(dummyBatch)
	if len(batch) == 0 {
		return 0
	}
	start := s.Now()
	for _, t := range batch {
		s.Observe(sim.SchedSample, abi.SchedPhases)
		at := s.Now()
		s.resolve(of(t), true)
		kind := abi.DummyTask
		if t.Spec.Predicate != nil {
			kind = abi.PredicatedSkip
		}
		p := abi.SchedPhase{Kind: kind, TasksProcessed: 1}
		p.SetTask(t.ID)
		s.Phase(&p, at, at)
	}
	s.Record(abi.Dummy, start, len(batch), s.Fresh())
	return len(batch)
}

// drainDeferred drops the references of completed tasks when there is nothing
// better to do.
func (s *scheduler) drainDeferred() bool {
	n := len(s.deferred)
	if n == 0 {
		return false
	}
	start := s.Now()
	s.releaseAll()
	s.Step(&abi.SchedPhase{Kind: abi.Release, TasksProcessed: uint32(n)}, start)
	return true
}

func (s *scheduler) releaseAll() {
	for _, t := range s.deferred {
		s.Spend(sim.SchedRelease)
		s.releaseTask(t)
	}
	s.deferred = s.deferred[:0]
}

func (s *scheduler) releaseTask(t *task) {
	for _, p := range t.retained {
		s.r.release(p, s.Now())
	}
	t.retained = nil
	s.r.consume(t, s.Now())
}
