package hbg

import (
	"iter"

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
			s.leave()
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
	from, blocks := s.find(kind, len(places), steal)
	if from == nil {
		return false
	}
	s.busy()
	c := s.claim(from, kind, blocks)
	s.probe(c)
	s.publish(c, places[:c.blocks], nil)
	return true
}

// find is the scheduler from whose inbox tasks can be taken that need one core each, and
// how many blocks of them, at most so many: this one, or else the next one that has more
// than it can place at once, if it may be stolen from.
func (s *aicoreSched) find(kind aicoreKind, most int, steal bool) (from *aicoreSched, blocks int) {
	if n := s.ready(kind, most); n > 0 {
		return s, n
	}
	if steal {
		for other := range s.others() {
			places := other.places(kind)
			if n := other.ready(kind, places+most) - places; n > 0 {
				return other, n
			}
		}
	}
	return nil, 0
}

// others are the other schedulers, the next one first.
func (s *aicoreSched) others() iter.Seq[*aicoreSched] {
	return func(yield func(*aicoreSched) bool) {
		n := len(s.r.scheds)
		for i := 1; i < n && yield(s.r.scheds[(s.index+i)%n]); i++ {
		}
	}
}

// ready is how many blocks an inbox holds, counted up to a number.
func (s *aicoreSched) ready(kind aicoreKind, most int) (n int) {
	for _, t := range s.inboxes[kind] {
		if n += t.rest(); n >= most {
			return most
		}
	}
	return n
}

// places is how many of the blocks in its inbox the scheduler will place itself in its
// next iteration, which others leave to it: on idle cores, and none while it computes.
func (s *aicoreSched) places(kind aicoreKind) (n int) {
	if s.computing {
		return 0
	}
	if kind == kindMIX {
		if in := s.inboxes[kind]; s.held == nil && len(in) > 0 && s.all(in[0].lanes(), (*aicoreWorker).idle) {
			n++
		}
		return n
	}
	for _, w := range s.workers {
		if (w.core.Type == abi.AIC) == (kind == kindAIC) && w.idle() && !s.reserved(w) {
			n++
		}
	}
	return n
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
	from := s.findMixed()
	if from == nil {
		return false
	}
	s.busy()
	c := s.claim(from, kindMIX, 1)
	s.probe(c)
	if !s.all(c.task.lanes(), (*aicoreWorker).room) {
		s.held = &aicoreHold{*c, c.task.lanes()}
		s.leave()
		return true
	}
	s.publish(c, [][]*aicoreWorker{s.on(c.task.lanes())}, nil)
	return true
}

// findMixed is the scheduler from whose inbox a block of a MIX task can be taken.
func (s *aicoreSched) findMixed() *aicoreSched {
	if in := s.inboxes[kindMIX]; len(in) > 0 && s.some(in[0].lanes(), (*aicoreWorker).room) {
		return s
	}
	for other := range s.others() {
		if places := other.places(kindMIX); other.ready(kindMIX, places+1) > places && s.all(other.inboxes[kindMIX][0].lanes(), (*aicoreWorker).idle) {
			return other
		}
	}
	return nil
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
