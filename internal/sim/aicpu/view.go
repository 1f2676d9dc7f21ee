package aicpu

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// view is all that an iteration of a thread depends on, beside its own cores, as
// long as the thread finds nothing to do. While two views are equal, so are the
// iterations.
type view struct {
	done, drain, async, dummy bool
	ready                     [passes][abi.QueueShapes]bool // there are tasks
	mix                       [passes]lanes                 // of the first MIX task
	others                    [passes][abi.QueueShapes]bool // have idle cores for the first task
	early                     [passes][abi.QueueShapes]bool // there are candidates
	offers                    uint32                        // of candidates so far
	asyncs                    uint32                        // that something outside the cores was waited for, so far
	more                      uint32                        // of the runtime
	rings                     uint32                        // for its cores so far
}

// view is what a thread would see now.
func (r *Runtime) view(s *Scheduler) (v view) {
	v.done = r.Done()
	if s.More != nil {
		v.more = s.More()
	}
	v.drain = r.drain != nil
	v.async, v.asyncs = len(r.async) > 0, r.asyncs
	v.dummy = r.dummy.Len() > 0
	if len(s.clusters) == 0 {
		return v // it has no places for tasks
	}
	for p := range r.ready {
		for shape := range v.ready[p] {
			v.ready[p][shape] = r.ready[p][shape].Len() > 0
			v.early[p][shape] = r.early[p][shape].alive()
		}
		if first := r.ready[p][abi.ShapeMIX].first(); first != nil {
			v.mix[p] = first.Lanes
		}
		for shape := range v.others[p] {
			if p > 0 && shape != abi.ShapeMIX {
				v.others[p][shape] = v.others[0][shape]
			} else {
				v.others[p][shape] = r.othersIdle(s, shape, v.mix[p])
			}
		}
	}
	v.offers, v.rings = r.offers, s.rings
	return v
}

// Changed is called after every change of what views are made of. Sleepers whose
// view it changes wake up.
func (r *Runtime) Changed(now sim.Time) {
	for _, s := range r.all {
		if !s.asleep {
			s.disturbed = true
		} else if r.view(s) != s.seen {
			s.thread.Wake(now)
		}
	}
}

// Blind tells whether a thread that slept is still before the moment that woke it,
// and so sees what it saw when it fell asleep.
func (s *Scheduler) Blind() bool { return s.thread.Before(s.woken) }

func (s *Scheduler) finished() bool {
	if s.Blind() {
		return s.seen.done
	}
	return s.r.Done()
}

// Called tells whether a drain waits for this thread.
func (s *Scheduler) Called() bool {
	if s.Blind() {
		return s.seen.drain
	}
	return s.r.drain != nil
}

// Outstanding tells whether something beside the cores is waited for.
func (s *Scheduler) Outstanding() bool {
	if s.Blind() {
		return s.seen.async
	}
	return len(s.r.async) > 0
}

// DummiesReady tells whether there are tasks that run on no core.
func (s *Scheduler) DummiesReady() bool {
	if s.Blind() {
		return s.seen.dummy
	}
	return s.r.dummy.Len() > 0
}

// work tells whether a ready queue holds tasks.
func (s *Scheduler) work(pass, shape int) bool {
	if s.Blind() {
		return s.seen.ready[pass][shape]
	}
	return s.r.ready[pass][shape].Len() > 0
}

// uses are the lanes of the first task of a ready queue, if that decides where it
// goes.
func (s *Scheduler) uses(pass, shape int) lanes {
	if shape != abi.ShapeMIX {
		return 0
	}
	if s.Blind() {
		return s.seen.mix[pass]
	}
	if first := s.r.ready[pass][shape].first(); first != nil {
		return first.Lanes
	}
	return 0
}

// othersIdle tells whether another thread has idle cores for the first task of a
// ready queue.
func (s *Scheduler) othersIdle(pass, shape int) bool {
	if s.Blind() {
		return s.seen.others[pass][shape]
	}
	return s.r.othersIdle(s, shape, s.uses(pass, shape))
}

// offered tells whether there are candidates for early dispatch.
func (s *Scheduler) offered(pass, shape int) bool {
	if s.Blind() {
		return s.seen.early[pass][shape]
	}
	return s.r.early[pass][shape].alive()
}

// gated tells whether a subtask waits for its doorbell.
func (s *Scheduler) gated(o *sub) bool { return o.gated && (!o.rung || s.thread.Before(o.bell)) }

// idle lets iterations pass that are like the one that began at a time: nothing has
// changed in it, and so nothing will until another thread changes what this one
// sees, or a core's COND changes. The thread goes on at the beginning of the
// iteration in which that happens, as if it had never slept.
func (s *Scheduler) idle(began sim.Time, misses uint32) {
	from := s.Now()
	period := from - began
	if s.disturbed || s.r.Spin {
		return
	}
	next := sim.Never
	for _, c := range s.clusters {
		for i := range c.cores {
			if slot := &c.cores[i]; slot.running.task != nil {
				next = min(next, slot.core.Next(began)) // what was polled this time, it was polled after began
			}
		}
	}
	if s.Next != nil {
		next = min(next, s.Next())
	}
	if next <= from {
		return
	}
	s.seen, s.asleep = s.r.view(s), true
	s.woken = s.thread.Sleep(next)
	s.asleep = false
	if s.Now() == from {
		return
	}
	skipped := (s.Now() - from - 1) / period // what happens at the end of an iteration is seen in it
	if s.Skipped != nil && skipped > 0 {
		s.Skipped(int64(skipped), period)
	}
	s.thread.Rewind(from + skipped*period)
	s.iter += uint32(skipped)
	s.misses += uint32(skipped) * misses
}
