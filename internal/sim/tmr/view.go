package tmr

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
	rings                     uint32                        // for its cores so far
}

// view is what a thread would see now.
func (r *runtime) view(s *scheduler) (v view) {
	v.done = r.orchestrated && r.completed >= r.submitted
	v.drain = r.drain != nil
	v.async = len(r.async) > 0
	v.dummy = r.dummy.len() > 0
	for p := range r.ready {
		for shape := range v.ready[p] {
			v.ready[p][shape] = r.ready[p][shape].len() > 0
			v.early[p][shape] = r.early[p][shape].alive()
		}
		if first := r.ready[p][abi.ShapeMIX].first(); first != nil {
			v.mix[p] = first.lanes
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

// changed is called after every change of what views are made of. Sleepers whose
// view it changes wake up.
func (r *runtime) changed(now sim.Time) {
	for _, s := range r.scheds {
		if !s.asleep {
			s.disturbed = true
		} else if r.view(s) != s.seen {
			s.thread.Wake(now)
		}
	}
}

// blind tells whether a thread that slept is still before the moment that woke it,
// and so sees what it saw when it fell asleep.
func (s *scheduler) blind() bool { return s.thread.Before(s.woken) }

func (s *scheduler) finished() bool {
	if s.blind() {
		return s.seen.done
	}
	return s.r.orchestrated && s.r.completed >= s.r.submitted
}

// called tells whether a drain waits for this thread.
func (s *scheduler) called() bool {
	if s.blind() {
		return s.seen.drain
	}
	return s.r.drain != nil
}

// outstanding tells whether something beside the cores is waited for.
func (s *scheduler) outstanding() bool {
	if s.blind() {
		return s.seen.async
	}
	return len(s.r.async) > 0
}

func (s *scheduler) dummiesReady() bool {
	if s.blind() {
		return s.seen.dummy
	}
	return s.r.dummy.len() > 0
}

// work tells whether a ready queue holds tasks.
func (s *scheduler) work(pass, shape int) bool {
	if s.blind() {
		return s.seen.ready[pass][shape]
	}
	return s.r.ready[pass][shape].len() > 0
}

// uses are the lanes of the first task of a ready queue, if that decides where it
// goes.
func (s *scheduler) uses(pass, shape int) lanes {
	if shape != abi.ShapeMIX {
		return 0
	}
	if s.blind() {
		return s.seen.mix[pass]
	}
	if first := s.r.ready[pass][shape].first(); first != nil {
		return first.lanes
	}
	return 0
}

// othersIdle tells whether another thread has idle cores for the first task of a
// ready queue.
func (s *scheduler) othersIdle(pass, shape int) bool {
	if s.blind() {
		return s.seen.others[pass][shape]
	}
	return s.r.othersIdle(s, shape, s.uses(pass, shape))
}

// offered tells whether there are candidates for early dispatch.
func (s *scheduler) offered(pass, shape int) bool {
	if s.blind() {
		return s.seen.early[pass][shape]
	}
	return s.r.early[pass][shape].alive()
}

// gated tells whether a subtask waits for its doorbell.
func (s *scheduler) gated(o *sub) bool { return o.gated && (!o.rung || s.thread.Before(o.bell)) }

// idle lets iterations pass that are like the one that began at a time: nothing has
// changed in it, and so nothing will until another thread changes what this one
// sees, or a core's COND changes. The thread goes on at the beginning of the
// iteration in which that happens, as if it had never slept.
func (s *scheduler) idle(began sim.Time, misses uint32) {
	from := s.now()
	period := from - began
	if s.disturbed || s.r.spin {
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
	if next <= from {
		return
	}
	s.seen, s.asleep = s.r.view(s), true
	s.woken = s.thread.Sleep(next)
	s.asleep = false
	if s.now() == from {
		return
	}
	skipped := (s.now() - from - 1) / period // what happens at the end of an iteration is seen in it
	s.thread.Rewind(from + skipped*period)
	s.iter += uint32(skipped)
	s.misses += uint32(skipped) * misses
}
