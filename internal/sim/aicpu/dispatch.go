package aicpu

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// prepared is a subtask that is ready to be published.
type prepared struct {
	slot *slots
	sub  sub
}

// Dispatch gives cores what is ready, and tells how many subtasks that was
// (spec/collector.md §12.6).
func (s *Scheduler) Dispatch() (n int) {
	for pass := range passes {
		n += s.inOrder(func(shape int, behind bool) int { return s.fill(pass, shape, behind) },
			func(shape int) bool { return s.work(pass, shape) },
			func(shape int) bool { return s.othersIdle(pass, shape) })
		if s.asked {
			break
		}
	}
	if n > 0 {
		s.dispatchRecord(s.t0p, s.Now(), n, s.Sample())
	}
	return n
}

// inOrder goes through the shapes: idle cores first, then the places behind running
// tasks, and everywhere MIX first. What is left of MIX keeps the others away from
// cores that it needs. It ends when the thread has asked for a drain.
func (s *Scheduler) inOrder(fill func(shape int, behind bool) int, left, othersIdle func(shape int) bool) (n int) {
	n = fill(abi.ShapeMIX, false)
	singles := s.singles()
	if !s.asked && !left(abi.ShapeMIX) {
		for _, shape := range singles {
			if !s.asked {
				n += fill(shape, false)
			}
		}
	}
	if !s.asked && !othersIdle(abi.ShapeMIX) {
		n += fill(abi.ShapeMIX, true)
	}
	if s.asked || left(abi.ShapeMIX) {
		return n
	}
	for _, shape := range singles {
		if !s.asked && !othersIdle(shape) {
			n += fill(shape, true)
		}
	}
	return n
}

// singles are the shapes of one core, in the order in which the thread fills them.
func (s *Scheduler) singles() [2]int {
	if s.Index%2 == 1 {
		return [2]int{abi.ShapeAIV, abi.ShapeAIC}
	}
	return [2]int{abi.ShapeAIC, abi.ShapeAIV}
}

// everywhere is more than the places that there can be.
const everywhere = 1 << 20

// fill gives places to the tasks of a queue until there are no more of either, and
// tells how many subtasks that was.
func (s *Scheduler) fill(pass, shape int, behind bool) (published int) {
	for !s.asked {
		free := len(s.places(shape, s.uses(pass, shape), behind, everywhere))
		if free == 0 {
			break
		}
		s.Spend(sim.SchedPop)
		var tasks []*Task
		if !s.Blind() {
			tasks = s.pop(&s.r.ready[pass][shape], free)
		}
		if len(tasks) == 0 {
			s.misses++
			break
		}
		s.hits += uint32(len(tasks))
		published += s.place(tasks, behind)
	}
	return published
}

// place prepares the blocks of popped tasks as far as there is room, and publishes
// them. What is left goes back to the queue, where other threads find it.
func (s *Scheduler) place(tasks []*Task, behind bool) (published int) {
	var batch []prepared
	for _, t := range tasks {
		free := s.places(t.Shape, t.Lanes, behind, t.Blocks-t.next)
		if s.asked || t.sync() && len(free) < t.Blocks {
			published += s.publish(batch, nil)
			batch = nil
			if s.asked || !s.ask(t) {
				s.back(t)
			}
			s.asked = true
			continue
		}
		first := t.next
		if t.next += len(free); t.next < t.Blocks {
			s.back(t)
		}
		for i, p := range free {
			batch = s.prepare(batch, t, first+i, p)
		}
		if t.sync() { // for itself
			published += s.publish(batch, nil)
			batch = nil
		}
	}
	return published + s.publish(batch, nil)
}

// back puts a task with blocks left behind the others of its queue.
func (s *Scheduler) back(t *Task) {
	s.Spend(sim.SchedPush)
	s.r.ready[t.pass()][t.Shape].Push(t)
	s.r.Changed(s.Now())
}

// prepare takes the cores of a place for a block. A core that is idle will run its
// subtask next, and any other behind what it runs.
func (s *Scheduler) prepare(batch []prepared, t *Task, block int, p place) []prepared {
	for i := range p.in.cores {
		slot, lane := &p.in.cores[i], i
		if p.uses&slot.lane == 0 {
			continue
		}
		if t.Shape == abi.ShapeAIV {
			lane = 1 // any AIV plays the first one
		}
		s.Spend(sim.SchedPrepare)
		o := sub{task: t, block: block, lane: lane, token: slot.tokens.Next()}
		if slot.dispatch > 0 && slot.dispatch%abi.AicoreBufferSize == 0 {
			s.Observe(sim.SchedRotate, abi.TaskTiming)
		}
		slot.dispatch++
		s.out.Dispatch(slot.core.Index, o.token)
		if slot.running.task == nil {
			slot.set(o, false)
		} else {
			slot.waiting = o
		}
		s.r.Changed(s.Now())
		batch = append(batch, prepared{slot, o})
	}
	return batch
}

// stamp reads the counter.
func (s *Scheduler) stamp() sim.Time {
	s.Observe(sim.SchedSample, abi.ScheduleTiming)
	return s.Now()
}

// publish writes the tokens of a batch, which all have one dispatch time: a given
// one, or now. A task whose producers have not finished is gated.
func (s *Scheduler) publish(batch []prepared, given *sim.Time) int {
	if len(batch) == 0 {
		return 0
	}
	var at sim.Time
	if given != nil {
		at = *given
	} else {
		at = s.stamp()
	}
	for _, b := range batch {
		s.Spend(sim.SchedPublish)
		t := b.sub.task
		s.r.Report.dispatched(t.Spec.Slot, s.Now())
		o := &b.slot.running
		if o.token != b.sub.token {
			o = &b.slot.waiting
		}
		job := t.job(s.r.Space, b.sub.lane, b.sub.block, b.sub.token)
		if s.r.Hazards != nil {
			job.Ran = func(start, end sim.Time) {
				s.r.Hazards.Ran(t.Order, t.Kernels[b.sub.lane].Name, start, end, s.Now())
			}
		}
		if t.Fanin > 0 {
			job.Gated, o.gated = true, true
			t.early.staged = append(t.early.staged, b)
		}
		o.dispatched = at
		b.slot.core.Give(s.Now(), job)
		if t.given++; t.given == t.Subtasks {
			s.r.published(t, s.Now())
		}
	}
	return len(batch)
}
