package hbg

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// aicoreClaim is a scheduler's claim to some blocks of a ready task.
type aicoreClaim struct {
	task          *aicoreTask
	first, blocks int
	stolen        bool
	probed        aicoreInterval
}

// aicoreInterval is a step of a scheduler.
type aicoreInterval struct {
	start, end sim.Time
	worker     uint64
	loop       uint64
}

// aicoreHold is a block of a MIX task that is claimed and waits for its cores.
type aicoreHold struct {
	claim aicoreClaim
	lanes sim.Lanes
}

// claim takes blocks of the first task of an inbox, the own one or another's. A task
// with more of them stays there for others.
func (s *aicoreSched) claim(from *aicoreSched, kind aicoreKind, blocks int) *aicoreClaim {
	in := &from.inboxes[kind]
	t := (*in)[0]
	c := &aicoreClaim{task: t, first: t.next, blocks: min(blocks, t.rest()), stolen: from != s}
	if t.next += c.blocks; t.rest() == 0 {
		if *in = (*in)[1:]; kind == kindMIX {
			s.r.wakeAll(s.now()) // the next one may fit where this one did not
		}
	}
	s.r.controls[t.index].State = abi.TaskDispatching
	return c
}

// probe is the look at slots and inbox that led to a claim.
func (s *aicoreSched) probe(c *aicoreClaim) {
	c.probed = aicoreInterval{start: s.stamp(abi.SchedPhases), worker: s.worker, loop: s.loop}
	s.spend(sim.CoreSchedProbe)
	if c.stolen {
		s.spend(sim.CoreSchedSteal)
	}
	c.probed.end = s.stamp(abi.SchedPhases)
}

// publish fills slots with the blocks of a claim, the cores of each in a row, and lets
// the cores see all of them at its end: stores are posted, and written back together.
// Done is the task whose slot is filled again, nil if it is an ordinary dispatch.
func (s *aicoreSched) publish(c *aicoreClaim, places [][]*aicoreWorker, done *aicoreTask) {
	r := s.r
	span := aicoreInterval{start: s.stamp(abi.SchedPhases), worker: s.worker, loop: s.loop}
	var jobs []*aicoreJob
	var on []*aicoreWorker
	for i, cores := range places {
		for _, w := range cores {
			s.spend(sim.CoreSchedDispatch)
			jobs, on = append(jobs, r.put(w, c.task, c.first+i, abi.PublicationFilling)), append(on, w)
		}
	}
	span.end = s.published(c.task)
	s.trace(c, span, done)
	for i, j := range jobs {
		r.open(on[i], j, span.end)
	}
}

// published is the moment at which a publication ends. What it takes to record it
// comes before: no core may see the slots earlier than dispatch_end says.
func (s *aicoreSched) published(t *aicoreTask) sim.Time {
	if s.r.Level >= abi.ScheduleTiming {
		s.spend(sim.CoreSample)
		if !t.published {
			s.note(abi.ScheduleTiming)
		}
	}
	s.r.dispatched(t.of.Spec.Slot, s.now())
	return s.now()
}

// trace stamps the publication of a task. Of a task that is published in parts only
// the first part is: a trace has one line for it, and what no core has seen before
// dispatch_end can not have started before.
func (s *aicoreSched) trace(c *aicoreClaim, span aicoreInterval, done *aicoreTask) {
	t, r := c.task, s.r
	if t.published {
		return
	}
	t.published = true
	trace := &r.traces[t.index]
	if r.Level >= abi.ScheduleTiming {
		trace.TaskID, trace.DispatchEnd = uint64(t.index), s.counter(span.end)
		if c.stolen {
			trace.ReadySource = abi.ReadyStolen
		}
	}
	if r.Level < abi.SchedPhases {
		return
	}
	trace.StateProbeSchedulerWorkerID = c.probed.worker
	trace.StateProbeStart, trace.StateProbeEnd = s.counter(c.probed.start), s.counter(c.probed.end)
	trace.DispatchSchedulerWorkerID, trace.DispatchStart, trace.DispatchLoopIter = span.worker, s.counter(span.start), span.loop
	if done == nil {
		return
	}
	trace.PublicationMode = abi.PublishedByRefill
	line := &r.traces[done.index]
	line.RefillSchedulerWorkerID, line.RefillStart, line.RefillEnd = span.worker, s.counter(span.start), s.counter(span.end)
	line.RefillTaskID, line.RefillLoopIter = uint64(t.index), span.loop
}

// reserved tells whether a core is kept for the MIX task that the scheduler holds.
func (s *aicoreSched) reserved(w *aicoreWorker) bool {
	return s.held != nil && s.held.lanes&(1<<w.lane) != 0
}

// fill gives free slots what is ready: first the block that is held, then MIX, then
// idle cores, then the slots behind what runs. While tasks are gathered that start
// together nothing else is published.
func (s *aicoreSched) fill() (did bool) {
	for s.r.gang == nil && s.fillMixed() {
		did = true
	}
	for _, kind := range []aicoreKind{kindAIC, kindAIV} {
		for s.r.gang == nil && s.fillSingle(kind, (*aicoreWorker).idle, true) {
			did = true
		}
	}
	for _, kind := range []aicoreKind{kindAIC, kindAIV} {
		for s.r.gang == nil && s.fillSingle(kind, (*aicoreWorker).room, false) {
			did = true
		}
	}
	return did
}

// fillSingle publishes blocks of the first task that needs one core each, on cores
// that a test likes: of the own inbox, or of another's.
func (s *aicoreSched) fillSingle(kind aicoreKind, test func(*aicoreWorker) bool, steal bool) bool {
	var places [][]*aicoreWorker
	for _, lane := range [...]int{0, 2, schedulerLane} { // a core that computes does not schedule: the own one last
		w := s.workers[lane]
		if (w.core.Type == abi.AIC) == (kind == kindAIC) && test(w) && !s.reserved(w) {
			places = append(places, []*aicoreWorker{w})
		}
	}
	if len(places) == 0 {
		return false
	}
	from := s.find(kind, steal, func(*aicoreTask) bool { return true })
	if from == nil {
		return false
	}
	s.busy()
	c := s.claim(from, kind, len(places))
	s.probe(c)
	s.publish(c, places[:c.blocks], nil)
	return true
}

// find is the scheduler whose inbox has a task first in it that a test likes: this
// one, or else the next one that has, if it may be stolen from.
func (s *aicoreSched) find(kind aicoreKind, steal bool, test func(*aicoreTask) bool) *aicoreSched {
	n := len(s.r.scheds)
	for i := range n {
		from := s.r.scheds[(s.index+i)%n]
		if in := from.inboxes[kind]; len(in) > 0 && test(in[0]) {
			return from
		}
		if !steal {
			break
		}
	}
	return nil
}

// fillMixed publishes a block of a task that uses several cores of the cluster. One of
// the own inbox is claimed as soon as one of its cores has room, and then held until
// all of them have, or tasks for one core would keep it out; a stolen one needs idle
// cores.
func (s *aicoreSched) fillMixed() bool {
	if s.held != nil {
		if !s.all(s.held.lanes, (*aicoreWorker).room) {
			return false
		}
		c := s.held.claim
		s.held = nil
		s.busy()
		s.publish(&c, [][]*aicoreWorker{s.on(c.task.lanes())}, nil)
		return true
	}
	from := s.find(kindMIX, false, func(t *aicoreTask) bool { return s.some(t.lanes(), (*aicoreWorker).room) })
	if from == nil {
		from = s.find(kindMIX, true, func(t *aicoreTask) bool { return s.all(t.lanes(), (*aicoreWorker).idle) })
	}
	if from == nil {
		return false
	}
	s.busy()
	c := s.claim(from, kindMIX, 1)
	s.probe(c)
	if !s.all(c.task.lanes(), (*aicoreWorker).room) {
		s.held = &aicoreHold{*c, c.task.lanes()}
		return true
	}
	s.publish(c, [][]*aicoreWorker{s.on(c.task.lanes())}, nil)
	return true
}

// on are the cores of the cluster on some lanes.
func (s *aicoreSched) on(lanes sim.Lanes) (cores []*aicoreWorker) {
	for lane, w := range s.workers {
		if lanes&(1<<lane) != 0 {
			cores = append(cores, w)
		}
	}
	return cores
}

// all tells whether all cores on some lanes are as a test likes, and some whether one is.
func (s *aicoreSched) all(lanes sim.Lanes, test func(*aicoreWorker) bool) bool {
	for _, w := range s.on(lanes) {
		if !test(w) {
			return false
		}
	}
	return true
}

func (s *aicoreSched) some(lanes sim.Lanes, test func(*aicoreWorker) bool) bool {
	for _, w := range s.on(lanes) {
		if test(w) {
			return true
		}
	}
	return false
}
