package aicpu

import (
	"fmt"
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// Runtime is what the threads of a run share. Who makes one fills in what is
// exported, and adds the threads.
type Runtime struct {
	Chip   *sim.Chip
	Space  abi.Space // the chip's memory
	Level  abi.Level
	Engine sim.Engine
	Report *Report
	// Hazards is told what runs when; nil: nobody asks.
	Hazards *sim.Hazards
	NoAcks  bool // AicoreTask buffers are not handed over when a core acknowledges (spec/collector.md §2.5)
	Spin    bool // idle threads do every iteration

	// Finish is called when the last subtask of a task has finished.
	Finish func(*Scheduler, *Task)
	// Popped is called when there is room in a shared queue; nil: nobody waits for it.
	Popped func(now sim.Time)
	// Done tells whether nothing is left to do.
	Done func() bool

	scheds []*Scheduler // those with cores
	all    []*Scheduler
	ready  [passes][abi.QueueShapes]Queue
	dummy  Queue
	early  [passes][abi.QueueShapes]Queue // may be placed before they are ready
	offers uint32                         // to early so far
	async  []*Task                        // their kernels have finished, and something else has not
	asyncs uint32                         // that came to async so far
	drain  *drain
}

// Add adds a thread that schedules the clusters first, first + step, …
func (r *Runtime) Add(out *producer.Thread, first, step int) *Scheduler {
	s := r.AddCoreless(fmt.Sprintf("scheduler %d", len(r.all)), out)
	for k := first; k < r.Chip.Clusters(); k += step {
		s.adopt(k)
	}
	r.scheds = append(r.scheds, s)
	return s
}

// AddCoreless adds a thread that schedules no clusters, and takes no part in drains.
func (r *Runtime) AddCoreless(name string, out *producer.Thread) *Scheduler {
	s := &Scheduler{Index: len(r.all), r: r, name: name, out: out}
	r.all = append(r.all, s)
	return s
}

// Launch starts the threads at a time; each runs its program.
func (r *Runtime) Launch(at sim.Time, program func(*Scheduler)) {
	for _, s := range r.all {
		s.thread = r.Engine.Start(s.name, at, func(*sim.Thread) { program(s) })
	}
	r.Report.Start = at
}

// Ended is when the last of the threads ended.
func (r *Runtime) Ended() (at sim.Time) {
	for _, s := range r.all {
		at = max(at, s.Now())
	}
	return at
}

// Flush hands over what threads have recorded that did not come to their end.
func (r *Runtime) Flush() {
	for _, s := range r.all {
		if !s.flushed {
			s.flush()
		}
	}
}

// Attach begins the records of the cores and of the phases of so many threads.
func (r *Runtime) Attach(d *producer.Device, schedulers, orchestrators int) error {
	for i, c := range r.Chip.Cores {
		c.Reset()
		c.Record(d.Core(i))
	}
	if d == nil {
		return nil
	}
	if err := d.Startup(); err != nil {
		return err
	}
	return d.InitPhases(schedulers, orchestrators)
}

// PublishCores tells the host which thread drives each core.
func (r *Runtime) PublishCores(d *producer.Device) error {
	threads := make([]int8, len(r.Chip.Cores))
	for i, c := range r.Chip.Cores {
		threads[i] = int8(c.Cluster % len(r.scheds))
	}
	return d.PublishCores(threads)
}

// Cost is how long a step takes.
func (r *Runtime) Cost(k sim.Cost) sim.Time { return r.Chip.Costs[k].Ns }

// Destination is the queue of a task whose producers have completed: that of
// dummies if it has no kernels, or its predicate says no at this moment.
func (r *Runtime) Destination(t *Task) *Queue {
	if t.Queue != nil {
		return t.Queue
	}
	if t.Shape == shapeDummy || t.Spec.Predicate != nil && !t.Spec.Predicate() {
		return &r.dummy
	}
	return &r.ready[t.pass()][t.Shape]
}

// Route puts a task whose producers have completed into its queue.
func (r *Runtime) Route(t *Task, now sim.Time) {
	r.Destination(t).Push(t)
	r.Changed(now)
}

// Wired ends the wiring of a task, and tells whether it waits for nothing. Then it
// is to be routed.
func (r *Runtime) Wired(t *Task, now sim.Time) (ready bool) {
	t.early.open--
	if t.Fanin--; t.Fanin > 0 {
		r.candidate(t, now)
		return false
	}
	return true
}

// candidate offers a task whose producers are all finished or on cores for early
// dispatch.
func (r *Runtime) candidate(t *Task, now sim.Time) {
	if t.Fanin == 0 || t.early.barred || t.early.open > 0 || t.early.queued {
		return
	}
	t.early.queued = true
	q := &r.early[t.pass()][t.Shape]
	q.Push(t)
	r.offers++
	r.Changed(now)
	// Those that became ready meanwhile are looked at only when nothing is ready.
	if q.Len() >= 2*q.kept+64 {
		q.keep((*Task).waits)
	}
}

// published tells the consumers of a task that all of it is on cores.
func (r *Runtime) published(t *Task, now sim.Time) {
	if !t.opens() {
		return
	}
	for _, c := range t.Consumers {
		c.early.open--
		r.candidate(c, now)
	}
}

// Await makes a task whose kernels have finished wait for what is outside the cores.
func (r *Runtime) Await(t *Task, now sim.Time) {
	t.due = now + r.Chip.Duration(t.Spec.Wait)
	r.async = append(r.async, t)
	r.asyncs++
	r.Changed(now)
}

// takeDue takes the tasks that wait no more.
func (r *Runtime) takeDue(now sim.Time) (due []*Task) {
	r.async = slices.DeleteFunc(r.async, func(t *Task) bool {
		if t.due <= now {
			due = append(due, t)
		}
		return t.due <= now
	})
	if len(due) > 0 {
		r.Changed(now)
	}
	return due
}

// depths are the lengths of the shared queues, by shape.
func (r *Runtime) depths() (d Depths) {
	for i := range d {
		d[i] = int16(min(r.ready[syncPass][i].Len()+r.ready[normalPass][i].Len(), 32767))
	}
	return d
}
