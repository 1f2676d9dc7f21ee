package hbg

import (
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// aicoreSched is the program of the scheduler of a cluster (spec/collector.md §14).
type aicoreSched struct {
	r       *aicoreRun
	index   int
	thread  *sim.Thread
	context *abi.WorkerContext
	worker  uint64 // its core
	workers [abi.CoresPerCluster]*aicoreWorker
	inboxes [aicoreKinds][]*aicoreTask // what is ready, oldest first
	inline  []*aicoreTask              // ready, and run on no core
	held    *aicoreHold
	loop    uint64
	idle    *aicoreIdle // nil: the last iteration has done something
	debt    sim.Time    // for what is written already
	left    bool

	computing bool // a kernel of its own
}

// aicoreIdle is since when, and since which iteration, nothing has progressed.
type aicoreIdle struct {
	since sim.Time
	loop  uint64
}

func newAicoreSched(r *aicoreRun, index int) *aicoreSched {
	s := &aicoreSched{r: r, index: index}
	for lane, core := range r.Chip.Cluster(index) {
		s.workers[lane] = &aicoreWorker{core: core, lane: lane, own: lane == schedulerLane}
	}
	s.worker = uint64(s.workers[schedulerLane].core.Index)
	s.context = &r.contexts[s.worker]
	return s
}

func (s *aicoreSched) now() sim.Time { return s.thread.Now() }

func (s *aicoreSched) spend(k sim.Cost) {
	d := s.debt
	s.debt = 0
	s.thread.Advance(s.r.cost(k) + d)
}

// stamp reads the counter, if the level asks for it.
func (s *aicoreSched) stamp(level abi.Level) sim.Time {
	if s.r.Level >= level {
		s.spend(sim.CoreSample)
	}
	return s.now()
}

// note spends what it takes to write a line of a record.
func (s *aicoreSched) note(level abi.Level) bool {
	if s.r.Level < level {
		return false
	}
	s.spend(sim.CoreSchedRecord)
	return true
}

func (s *aicoreSched) counter(t sim.Time) uint64 { return s.r.Chip.Counter(t) }

func (s *aicoreSched) run(*sim.Thread) {
	s.r.await(s.thread, func() bool { return s.r.life.offered == s.r.Threads })
	s.bootstrap()
	for {
		begun := s.pass()
		if s.r.finished() {
			s.loop-- // not an iteration
			break
		}
		did := s.completions()
		did = s.gangService() || did
		did = s.fill() || did
		did = s.execute() || did
		if !did && s.idle == nil {
			s.idle = &aicoreIdle{begun, s.loop}
		}
	}
	s.busy()
	s.context.ProfilingLoopIter = s.loop
	s.left = true
	s.r.report.End = max(s.r.report.End, s.now())
	s.r.life.call(s.now())
}

// bootstrap classifies the tasks of the scheduler's share: those that wait for
// nothing are ready.
func (s *aicoreSched) bootstrap() {
	r := s.r
	start := s.stamp(abi.SchedPhases)
	s.spend(sim.CoreSchedBoot)
	initial := uint64(0)
	for i := s.index; i < len(r.tasks); i += len(r.scheds) {
		t := r.tasks[i]
		s.spend(sim.CoreSchedClassify)
		if t.of.Alloc || !r.settle(t) {
			continue
		}
		r.route(s, t)
		if !t.inline && r.initial(t) {
			initial++
		}
	}
	end := s.stamp(abi.SchedPhases)
	if s.note(abi.SchedPhases) {
		s.context.BootstrapStartCycles, s.context.TargetBootstrapStart = s.counter(start), s.counter(start)
		s.context.TargetBootstrapEnd, s.context.BootstrapTaskCount = s.counter(end), initial
	}
	r.control.BootstrapArrivedCount++
	if r.control.BootstrapArrivedCount == uint64(len(r.scheds)) {
		r.control.BootstrapScanComplete, r.control.BootstrapComplete = 1, 1
	}
	r.life.call(s.now())
	if r.finished() { // there is nothing to do
		r.wakeAll(s.now())
	}
}

// initial tells whether all producers of a task were complete from the beginning.
func (r *aicoreRun) initial(t *aicoreTask) bool {
	return !slices.ContainsFunc(t.producers, func(p int) bool { return !r.tasks[p].of.Alloc })
}

// period is how long an iteration takes in which nothing happens: a look at the slots
// and inboxes. In a model in which nothing takes time it must not stand still.
func (s *aicoreSched) period() sim.Time {
	p := s.r.cost(sim.CoreSchedLoop)
	if s.r.Level >= abi.SchedPhases {
		p += s.r.cost(sim.CoreSample) // an idle interval could open
	}
	return max(p, 1)
}

// pass begins an iteration, and tells when: now it can look at what there is. A
// scheduler that has found nothing sleeps, as the iterations that follow are like the
// last one until something changes that it looks at. It goes on with the first one
// that sees the change, and counts those that it slept through.
func (s *aicoreSched) pass() (begun sim.Time) {
	begun, period, n := s.now(), s.period(), sim.Time(1)
	if s.idle != nil && !s.r.spin {
		due := sim.Never
		for _, w := range s.workers {
			if !w.idle() && w.jobs[0].known {
				due = min(due, w.jobs[0].fin)
			}
		}
		if due > begun+period {
			woken := s.thread.Sleep(due)
			n = max(1, (s.now()-begun+period-1)/period)
			// A look at the moment of the change sees it only if it comes after it.
			if woken.At == begun+n*period && s.thread.Before(woken) {
				n++
			}
		}
	}
	s.loop += uint64(n)
	s.thread.Until(begun + n*period)
	return begun + (n-1)*period
}

// busy closes an idle interval: now there is something to do. No time passes, lest it
// be gone; what the record takes is spent with the next step.
func (s *aicoreSched) busy() {
	if s.idle == nil {
		return
	}
	record := abi.ActivityRecord{Start: s.counter(s.idle.since), End: s.counter(s.now()), LoopIter: uint32(s.idle.loop)}
	s.idle = nil
	s.context.IdleIterationCount++
	if s.r.Level < abi.SchedPhases {
		return
	}
	b := abi.View[abi.ActivityBuffer](s.r.mem, s.r.layout.Of(abi.ActivityBuffers, s.index))
	if b.Committed == abi.ActivityCapacity {
		b.Dropped++
		return
	}
	b.Records[b.Committed] = record
	b.Committed++
	s.debt += s.r.cost(sim.CoreSchedRecord)
}
