package tmr

import (
	"errors"
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// Config is a run of the runtime on a chip.
type Config struct {
	Chip    *sim.Chip
	Threads int       // AICPU threads; the last one orchestrates
	Space   abi.Space // the chip's memory
	Heap    uint64    // address of memory for outputs: RingHeap bytes for each of the rings
	// RingHeap is the memory for the outputs of a ring's tasks that are not consumed,
	// a multiple of 1024 bytes. 0: 256 MiB.
	RingHeap uint64
	// Limits are the sizes of the rest of the runtime's memory.
	Limits Limits
	Device *producer.Device // nil: no swimlane
	DepGen *producer.DepGen // nil: no dep_gen
	// Progress is called now and then with how many tasks have been submitted and
	// completed; nil: it is not.
	Progress func(submitted, completed int)

	spin bool // idle threads do every iteration
}

// Report is what a run tells beside its records.
type Report struct {
	Submits, Tasks int      // submitted, allocs included; of these, tasks
	Start, End     sim.Time // from the launch of the schedulers to the end of the last one
	Wall           Span     // all that the device did for the run
	Phases         [phases]Span
	Steps          [steps]Total // of the orchestrator
	Slots          [TimingSlots]Span
}

// Span is a stretch of time: of a timing slot from the first dispatch to the last
// finish. Not Set: it did not begin.
type Span struct {
	Start, End sim.Time
	Set        bool
}

// runtime is what the threads share.
type runtime struct {
	Config
	level  abi.Level
	engine sim.Engine
	scheds []*scheduler
	orch   *Orchestrator
	ready  [passes][abi.QueueShapes]queue
	dummy  queue
	early  [passes][abi.QueueShapes]queue // may be placed before they are ready
	offers uint32                         // to early so far
	async  []*task                        // their kernels have finished, and something else has not
	drain  *drain
	rings  [Rings]ring

	submitted, completed int
	retired              sim.Time // when a task did last
	orchestrated         bool
	report               Report
}

// Run runs an orchestration and everything that it submits.
func Run(c Config, orchestrate func(*Orchestrator)) (*Report, error) {
	if c.Threads < abi.MinThreads || c.Threads > c.Chip.Arch.MaxThreads {
		return nil, fmt.Errorf("a run with %d AICPU threads cannot be: expected %d to %d", c.Threads, abi.MinThreads, c.Chip.Arch.MaxThreads)
	}
	if c.RingHeap == 0 {
		c.RingHeap = ringHeap
	}
	c.Limits.fill()
	r := &runtime{Config: c, level: c.Device.Level()}
	for i := range r.rings {
		r.rings[i] = ring{index: i, heap: heap{base: c.Heap + uint64(i)*c.RingHeap, size: c.RingHeap}}
	}
	if err := r.attach(); err != nil {
		return nil, err
	}
	begun := sim.Boot + r.cost(sim.Preamble)
	r.orch = newOrchestrator(r, c.Device.Thread(c.Threads-1))
	start := begun + r.orch.preparation()
	for i := range c.Threads - 1 {
		s := &scheduler{r: r, index: i, out: c.Device.Thread(i)}
		for k := i; k < c.Chip.Clusters(); k += c.Threads - 1 {
			s.adopt(k)
		}
		r.scheds = append(r.scheds, s)
	}
	for i, s := range r.scheds {
		s.thread = r.engine.Start(fmt.Sprintf("scheduler %d", i), start, s.run)
	}
	r.orch.thread = r.engine.Start("orchestrator", begun, func(*sim.Thread) { r.orch.run(orchestrate) })
	r.report.Start = start
	if err := r.engine.Run(); err != nil {
		r.flush()
		return nil, err
	}
	r.finish(begun)
	return &r.report, nil
}

// finish fills in what is known only when all threads have ended.
func (r *runtime) finish(begun sim.Time) {
	p := &r.report
	for _, s := range r.scheds {
		p.End = max(p.End, s.thread.Now())
	}
	post := max(p.End, r.orch.thread.Now()) // the last thing, by whoever is last
	end := post + r.cost(sim.PostOrch)
	p.Wall = Span{sim.Boot, end, true}
	p.Phases[Preamble] = Span{sim.Boot, begun, true}
	p.Phases[GraphBuild] = Span{begun, post, true}
	p.Phases[PostOrch] = Span{post, end, true}
	p.Phases[Sched] = Span{p.Start, p.End, true}
}

// attach begins the records of the cores and of the phases.
func (r *runtime) attach() error {
	for i, c := range r.Chip.Cores {
		c.Reset()
		c.Record(r.Device.Core(i))
	}
	if r.Device == nil {
		return nil
	}
	if err := errors.Join(r.Device.Startup(), r.Device.InitPhases(r.Threads-1, 1)); err != nil {
		return err
	}
	r.Device.AnnounceOrchestrator(r.Threads - 1)
	return nil
}

func (r *runtime) cost(k sim.Cost) sim.Time { return r.Chip.Costs[k].Ns }

// destination is the queue of a task whose producers have completed: that of
// dummies if it has no kernels, or its predicate says no at this moment.
func (r *runtime) destination(t *task) *queue {
	if t.shape == shapeDummy || t.spec.Predicate != nil && !t.spec.Predicate() {
		return &r.dummy
	}
	return &r.ready[t.pass()][t.shape]
}

// route puts a task whose producers have completed into its queue.
func (r *runtime) route(t *task, now sim.Time) {
	r.destination(t).push(t)
	r.changed(now)
}

// candidate offers a task whose producers are all finished or on cores for early
// dispatch.
func (r *runtime) candidate(t *task, now sim.Time) {
	if t.fanin == 0 || t.early.barred || t.early.open > 0 || t.early.queued {
		return
	}
	t.early.queued = true
	q := &r.early[t.pass()][t.shape]
	q.push(t)
	r.offers++
	r.changed(now)
	// Those that became ready meanwhile are looked at only when nothing is ready.
	if q.len() >= 2*q.kept+64 {
		q.keep((*task).waits)
	}
}

// published tells the consumers of a task that all of it is on cores.
func (r *runtime) published(t *task, now sim.Time) {
	if !t.opens() {
		return
	}
	for _, c := range t.consumers {
		c.early.open--
		r.candidate(c, now)
	}
}

// depths are the lengths of the shared queues, by shape.
func (r *runtime) depths() (d [abi.QueueShapes]int16) {
	for i := range d {
		d[i] = int16(min(r.ready[syncPass][i].len()+r.ready[normalPass][i].len(), 32767))
	}
	return d
}

// release drops a reference to a task, and consumes it when it was the last.
func (r *runtime) release(t *task, now sim.Time) {
	t.refs--
	r.consume(t, now)
}

// consume ends a completed task that nobody needs any more.
func (r *runtime) consume(t *task, now sim.Time) {
	if t.state != completed || t.refs > 0 {
		return
	}
	t.state = consumed
	t.args, t.consumers = nil, nil
	if t.ring.retire() {
		r.retired = now
	}
	r.orch.thread.Wake(now) // also for an entry of the tensor map that is free now
}

// dispatched notes that a task with a timing slot was dispatched.
func (r *Report) dispatched(slot int, at sim.Time) {
	if slot == 0 {
		return
	}
	if s := &r.Slots[slot-1]; !s.Set || at < s.Start {
		s.Start, s.Set = at, true
	}
}

// finished notes that it was seen to finish.
func (r *Report) finished(slot int, at sim.Time) {
	if slot != 0 {
		r.Slots[slot-1].End = max(r.Slots[slot-1].End, at)
	}
}
