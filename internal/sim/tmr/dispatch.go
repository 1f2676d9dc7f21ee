package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// place is where a block of a task goes: the cores of a cluster that it uses.
type place struct {
	cores  []*slots
	behind bool // running tasks
}

// prepared is a subtask that is ready to be published.
type prepared struct {
	slot *slots
	sub  sub
}

// dispatch gives cores what is ready, and tells how many subtasks that was
// (spec/collector.md §12.6).
func (s *scheduler) dispatch() int {
	n := 0
	for _, shape := range []int{abi.ShapeMIX, abi.ShapeAIC, abi.ShapeAIV} {
		n += s.fill(&s.r.sync[shape], shape, false) // never behind running tasks: they would not start together
	}
	n += s.dispatchReady()
	if n > 0 {
		s.r.kick(s.now()) // what others may do depends on which cores are idle, and what is ready
		at := s.sample()
		s.dispatchRecord(s.t0p, s.now(), n, at)
	}
	return n
}

// dispatchReady fills idle cores first, then the places behind running tasks.
func (s *scheduler) dispatchReady() (n int) {
	queues := &s.r.ready
	n = s.fill(&queues[abi.ShapeMIX], abi.ShapeMIX, false)
	singles := s.singles()
	if queues[abi.ShapeMIX].len() == 0 {
		for _, shape := range singles {
			n += s.fill(&queues[shape], shape, false)
		}
	}
	if !s.othersIdle(abi.ShapeMIX) {
		n += s.fill(&queues[abi.ShapeMIX], abi.ShapeMIX, true)
	}
	if queues[abi.ShapeMIX].len() > 0 {
		return n
	}
	for _, shape := range singles {
		if !s.othersIdle(shape) {
			n += s.fill(&queues[shape], shape, true)
		}
	}
	return n
}

// singles are the shapes of one core, in the order in which the thread fills them.
func (s *scheduler) singles() [2]int {
	if s.index%2 == 1 {
		return [2]int{abi.ShapeAIV, abi.ShapeAIC}
	}
	return [2]int{abi.ShapeAIC, abi.ShapeAIV}
}

// othersIdle tells whether another thread has an idle core of a shape, or for MIX
// an idle cluster.
func (s *scheduler) othersIdle(shape int) bool {
	for _, other := range s.r.scheds {
		if other != s && other.idlePlaces(shape) > 0 {
			return true
		}
	}
	return false
}

// idlePlaces is how many blocks of a shape its idle cores can take.
func (s *scheduler) idlePlaces(shape int) (n int) {
	for i := range s.cores {
		for _, p := range clusterPlaces(&s.cores[i], shape) {
			if p.free(false) {
				n++
			}
		}
	}
	return n
}

// places are up to n places for blocks of a shape: idle cores, or those behind
// running tasks. They are good until the next call.
func (s *scheduler) places(shape int, behind bool, n int) []place {
	out := s.room[:0]
	for i := range s.cores {
		for _, p := range clusterPlaces(&s.cores[i], shape) {
			if len(out) < n && p.free(behind) {
				p.behind = behind
				out = append(out, p)
			}
		}
	}
	s.room = out
	return out
}

// clusterPlaces are where blocks of a shape go in a cluster.
func clusterPlaces(c *[abi.CoresPerCluster]*slots, shape int) []place {
	switch shape {
	case abi.ShapeMIX:
		return []place{{cores: c[:]}}
	case abi.ShapeAIC:
		return []place{{cores: c[:1]}}
	}
	return []place{{cores: c[1:2]}, {cores: c[2:]}}
}

// free tells whether all cores of a place can take a task.
func (p *place) free(behind bool) bool {
	for _, c := range p.cores {
		if !free(c, behind) {
			return false
		}
	}
	return true
}

// free tells whether a core can take a task: at once, or behind the one that it
// runs.
func free(c *slots, behind bool) bool {
	if behind {
		return c.acked && c.running.task != nil && c.waiting.task == nil
	}
	return c.running.task == nil
}

// fill gives places to the tasks of a queue, and tells how many subtasks that was.
func (s *scheduler) fill(q *queue, shape int, behind bool) (published int) {
	free := s.places(shape, behind, len(s.r.Chip.Cores))
	if len(free) == 0 {
		return 0
	}
	var batch []prepared
	popped := uint32(0)
	tries := q.len()
	for limit := len(free); limit > 0 && len(free) > 0 && !s.called(); limit-- {
		s.spend(sim.SchedPop)
		for tries--; tries > 0 && s.r.hopeless(q.first()); tries-- {
			q.push(q.pop()) // the next one may fit
			s.spend(sim.SchedPop)
		}
		if t := q.first(); t == nil || s.r.hopeless(t) {
			break
		}
		t := q.pop()
		popped++
		if t.sync() && t.blocks > len(free) {
			s.callDrain(t)
			break
		}
		first, last := s.claim(q, t, len(free))
		for block := first; block < last; block++ {
			batch = s.prepare(batch, t, block, free[0])
			free = free[1:]
		}
		if t.sync() { // for itself, so that its blocks start together
			published += s.publish(batch, s.stamp())
			batch = nil
		}
	}
	if popped == 0 {
		s.misses++
	}
	s.hits += popped
	if len(batch) > 0 {
		published += s.publish(batch, s.stamp())
	}
	return published
}

// prepare takes the cores of a place for a block.
func (s *scheduler) prepare(batch []prepared, t *task, block int, p place) []prepared {
	for i, slot := range p.cores {
		lane := i
		if t.shape == abi.ShapeAIV {
			lane = 1 // any AIV plays the first one
		}
		if t.kernels[lane] == nil {
			continue
		}
		s.spend(sim.SchedPrepare)
		o := sub{task: t, block: block, lane: lane, token: slot.tokens.Next()}
		if slot.dispatch > 0 && slot.dispatch%abi.AicoreBufferSize == 0 {
			s.observe(sim.SchedRotate, abi.TaskTiming)
		}
		slot.dispatch++
		s.out.Dispatch(slot.core.Index, o.token)
		if p.behind {
			slot.waiting = o
		} else {
			slot.running, slot.acked = o, false
		}
		batch = append(batch, prepared{slot, o})
	}
	return batch
}

// claim takes as many blocks of a task as there are places. What is left goes back
// to the queue at once, where other threads find it.
func (s *scheduler) claim(q *queue, t *task, places int) (first, last int) {
	first, last = t.next, min(t.next+places, t.blocks)
	t.next = last
	if last < t.blocks {
		s.spend(sim.SchedPush)
		q.push(t)
		s.r.kick(s.now())
	}
	return first, last
}

// stamp reads the counter.
func (s *scheduler) stamp() sim.Time {
	s.observe(sim.SchedSample, abi.ScheduleTiming)
	return s.now()
}

// publish writes the tokens of a batch, which all have one dispatch time. A task
// whose producers have not finished is gated.
func (s *scheduler) publish(batch []prepared, at sim.Time) int {
	for _, b := range batch {
		s.spend(sim.SchedPublish)
		t := b.sub.task
		s.r.report.dispatched(t.spec.Slot, s.now())
		o := &b.slot.running
		if o.token != b.sub.token {
			o = &b.slot.waiting
		}
		job := t.job(s.r.Space, b.sub.lane, b.sub.block, b.sub.token)
		if t.fanin > 0 {
			job.Gated, o.gated = true, true
			t.early.staged = append(t.early.staged, b)
		}
		o.dispatched = at
		b.slot.core.Give(s.now(), job)
		if t.given++; t.given == t.subtasks {
			s.r.published(t, s.now())
		}
	}
	return len(batch)
}
