package producer

import "swimlane/internal/abi"

// Thread is the writer of one AICPU thread. Nil records nothing.
type Thread struct {
	level      abi.Level
	tasks      []Tasks      // by core
	dispatches []dispatches // by core
	cores      []core
	sched      *records[abi.SchedPhaseBuffer] // nil: no phases
	orch       *records[abi.OrchPhaseBuffer]  // nil: not the orchestrator
	port       port
}

// Level is what the run records. Times need to be sampled from level 2 on.
func (t *Thread) Level() abi.Level {
	if t == nil {
		return abi.Disabled
	}
	return t.level
}

// Dispatch counts a dispatch to a core, and may change the buffer that the core
// fills. It is called for each subtask when its payload is built, before the
// token is written to DATA_MAIN_BASE (spec/collector.md §2.4).
func (t *Thread) Dispatch(core int, token uint32) {
	if t == nil {
		return
	}
	t.dispatch(core, token)
}

func (t *Thread) dispatch(core int, token uint32) {
	d := &t.dispatches[core]
	n := *d.total
	if (n-d.first)%abi.AicoreBufferSize == 0 {
		t.cores[core].kernels.boundary(&t.port, token)
	}
	*d.total = n + 1
}

// Ack says that a COND event of the core named this token, ACK or FIN. It hands
// over the core's last buffer when the token proves that its records have landed
// (spec/collector.md §2.5). A runtime without this call hands it over a buffer
// later.
func (t *Thread) Ack(core int, token uint32) {
	if t == nil || t.dispatches[core].gate != token {
		return
	}
	t.cores[core].kernels.publishStash(&t.port) // a failure is tried again at the next rotation
}

// Task records when a task was dispatched to a core and seen to finish, from
// level 2 on. It is called after the task's resolve work (spec/collector.md §2.6).
func (t *Thread) Task(core int, token uint32, dispatch, finish uint64) {
	if t == nil || t.level < abi.ScheduleTiming {
		return
	}
	t.task(core, token, dispatch, finish)
}

func (t *Thread) task(core int, token uint32, dispatch, finish uint64) {
	w := &t.tasks[core]
	if w.n+1 == w.next { // Commit will attend to the pool
		w.pool.port = &t.port
	}
	r := w.Reserve()
	r.RegTaskID, r.DispatchTime, r.FinishTime = token, dispatch, finish
	w.Commit()
}

// Tasks is the writer of the records that [Thread.Task] writes for a core, nil
// below level 2. From now on it uses the ready queue of this thread.
func (t *Thread) Tasks(core int) *Tasks {
	if t == nil || t.level < abi.ScheduleTiming {
		return nil
	}
	w := &t.tasks[core]
	w.pool.port = &t.port
	return w
}

// SchedPhase records a phase of this thread, from level 3 on. A thread that
// InitPhases did not count records nothing, which is a fault.
func (t *Thread) SchedPhase(p *abi.SchedPhase) {
	if t == nil || t.level < abi.SchedPhases {
		return
	}
	t.schedPhase(p)
}

// schedPhase stays a call, so that SchedPhase is small enough to be inlined.
//
//go:noinline
func (t *Thread) schedPhase(p *abi.SchedPhase) {
	if t.sched == nil {
		t.port.faults.add("a phase of AICPU thread %d is not recorded: expected InitPhases before, with this thread among the schedulers", t.port.queue)
		return
	}
	if slot, ok := t.sched.acquire(&t.port); ok {
		t.sched.buf.Records[slot] = *p
	}
}

// OrchPhase records a submit of the orchestrator, at level 4. Until this thread is
// announced as the one that runs it nothing is recorded, which is a fault.
func (t *Thread) OrchPhase(p *abi.OrchPhase) {
	if t == nil || t.level < abi.OrchPhases {
		return
	}
	t.orchPhase(p)
}

// orchPhase stays a call, as schedPhase does.
//
//go:noinline
func (t *Thread) orchPhase(p *abi.OrchPhase) {
	if t.orch == nil {
		t.port.faults.add("a submit on AICPU thread %d is not recorded: expected InitPhases with an orchestrator before, and AnnounceOrchestrator for this thread", t.port.queue)
		return
	}
	if slot, ok := t.orch.acquire(&t.port); ok {
		t.orch.buf.Records[slot] = *p
	}
}

// Flush hands over what the buffers of these cores and of this thread hold
// (spec/collector.md §2.9). A thread calls it once at the end of its loop, with
// the cores it owns. A core commits the record of its last task after FIN, so
// nothing but the end of its loop proves that the record has landed: left returns
// when the core has left it. It may be nil if all cores have.
func (t *Thread) Flush(cores []int, left func(core int)) {
	if t == nil {
		return
	}
	for _, i := range cores {
		c := &t.cores[i]
		t.tasks[i].flush(&t.port)
		c.kernels.flushStash(&t.port) // before the active one: the queue keeps the order of sequences
		if left != nil {
			left(i)
		}
		c.kernels.flush(&t.port, t.level)
	}
	if t.sched != nil {
		t.sched.flush(&t.port)
	}
}

// FlushOrch hands over the orchestrator's records when orchestration has ended.
func (t *Thread) FlushOrch() {
	if t == nil || t.orch == nil {
		return
	}
	t.orch.flush(&t.port)
}

// Stalls are the waits of this thread. Only the thread itself may ask while it runs.
func (t *Thread) Stalls() Stalls {
	if t == nil {
		return Stalls{}
	}
	return t.port.stalls
}

// Faults is how many things went wrong that the writer could not mend, and the
// first of them.
func (t *Thread) Faults() (count uint64, first error) {
	if t == nil {
		return 0, nil
	}
	return t.port.faults.count, t.port.faults.first
}
