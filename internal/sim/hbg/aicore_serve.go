package hbg

import (
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// completions serves the slots that have finished, each core's once, and what is
// ready and runs on no core.
func (s *aicoreSched) completions() (did bool) {
	if len(s.inline) > 0 { // of the bootstrap
		s.busy()
		s.resolveInline()
		did = true
	}
	for _, w := range s.workers {
		if j := w.done(s.now()); j != nil {
			s.busy()
			s.complete(w, j)
			did = true
		}
	}
	return did
}

// complete takes a slot that has finished. The one that is the last of its task
// completes it: the trace gets the times of this subtask, as they are what the
// completing scheduler finds in the slot (spec/device-abi.md §9). Others leave no
// record, because a trace has one line for each step.
func (s *aicoreSched) complete(w *aicoreWorker, j *aicoreJob) {
	r, t := s.r, j.task
	start := s.stamp(abi.ScheduleTiming)
	staged := r.slot(w.core.Index, j.slot).Staged
	r.take(w)
	s.spend(sim.CoreSchedComplete)
	r.completed(t.of.Spec.Slot, start)
	if t.left--; t.left > 0 {
		return
	}
	end := s.stamp(abi.SchedPhases)
	trace := &r.traces[t.index]
	if s.note(abi.TaskTiming) {
		trace.Valid, trace.TaskID, trace.WorkerID = 1, uint64(t.index), uint64(w.core.Index)
		trace.KernelStart, trace.KernelEnd, trace.ReadyObserve = staged.KernelStart, staged.KernelEnd, staged.ReadyObserve
	}
	if s.note(abi.ScheduleTiming) {
		trace.CompleteStart = s.counter(start)
	}
	if r.Level >= abi.SchedPhases {
		trace.CompleteEnd, trace.CompleteSchedulerWorkerID, trace.CompleteLoopIter = s.counter(end), s.worker, s.loop
	}
	r.control.ExecutedTaskCount++
	s.resolve(t)
	s.resolveInline()
	s.refill(w, t)
}

// resolve makes a task done and lets its waiters go on: each is ready, or waits for
// the next of its producers.
func (s *aicoreSched) resolve(t *aicoreTask) {
	r := s.r
	start := s.stamp(abi.SchedPhases)
	s.spend(sim.CoreSchedResolve)
	c := &r.controls[t.index]
	var waiters []*aicoreTask
	for next := c.WakeListHead; next >= 0; next = r.controls[next].NextWaiter {
		waiters = append(waiters, r.tasks[next])
	}
	c.State, c.WakeListHead = abi.TaskDone, abi.WakeListClosed
	for _, waiter := range slices.Backward(waiters) { // the last one in the list came first
		s.spend(sim.CoreSchedWaiter)
		w := &r.controls[waiter.index]
		w.NextWaiter = -1
		w.NextFaninIndex++
		if r.settle(waiter) {
			r.route(s, waiter)
		}
	}
	end := s.stamp(abi.SchedPhases)
	if s.note(abi.SchedPhases) {
		c.CompletionResolveStart, c.CompletionResolveEnd = s.counter(start), s.counter(end)
		c.SchedulerWorkerID, c.CompletionResolveLoopIter = s.worker, s.loop
	}
	r.control.ResolvedTaskCount++
	if r.Progress != nil && r.control.ResolvedTaskCount%progressEvery == 0 {
		r.Progress(int(r.control.ExpectedTaskCount), int(r.control.ResolvedTaskCount))
	}
	if r.finished() {
		r.wakeAll(s.now())
		r.life.call(s.now())
	}
}

// resolveInline resolves the tasks that need no core, also those that become ready by
// that. It is all that such a task leaves in the records.
func (s *aicoreSched) resolveInline() {
	for len(s.inline) > 0 {
		t := s.inline[0]
		s.inline = s.inline[1:]
		s.r.control.InlineCompletedCount++
		s.r.Hazards.Skip(t.order)
		s.resolve(t)
	}
}

// refill gives the core whose slot was just freed a task of the scheduler's own inbox
// at once. Tasks that need more than this core go first.
func (s *aicoreSched) refill(w *aicoreWorker, done *aicoreTask) {
	kind := kindAIV
	if w.core.Type == abi.AIC {
		kind = kindAIC
	}
	if s.r.gang != nil || s.reserved(w) || len(s.inboxes[kindMIX]) > 0 || len(s.inboxes[kind]) == 0 {
		return
	}
	c := s.claim(s, kind, 1)
	s.probe(c)
	s.publish(c, [][]*aicoreWorker{{w}}, done)
}

// leave lets others look again: they may take now what was left to this scheduler.
func (s *aicoreSched) leave() {
	if !slices.ContainsFunc(s.inboxes[:kindGang], func(in []*aicoreTask) bool { return len(in) > 0 }) {
		return
	}
	s.r.wakeAll(s.now())
}

// execute runs the oldest kernel in the own slots of the scheduler. It leaves no
// record but the kernel's own times: a gap in the scheduler's stream.
func (s *aicoreSched) execute() bool {
	w := s.workers[schedulerLane]
	for _, j := range w.jobs {
		if j.known {
			continue
		}
		if !j.open {
			return false
		}
		s.busy()
		s.r.runJob(w, j, s.now(), s.now())
		s.computing = true
		s.leave()
		s.thread.Until(j.fin)
		s.computing = false
		return true
	}
	return false
}
