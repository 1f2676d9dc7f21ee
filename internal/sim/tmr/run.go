package tmr

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
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
	// Hazards looks for tasks that nothing has ordered; nil: nobody asks.
	Hazards *sim.Hazards
	// Progress is called now and then with how many tasks have been submitted and
	// completed; nil: it is not.
	Progress func(submitted, completed int)

	spin bool // idle threads do every iteration
}

// Report is what a run tells beside its records.
type Report struct {
	aicpu.Report
	Phases [phases]Span
	Steps  [steps]Total // of the orchestrator
}

// Span is a stretch of time.
type Span = aicpu.Span

// runtime is what the threads share.
type runtime struct {
	aicpu.Runtime
	Config
	scheds []*scheduler
	orch   *Orchestrator
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
	r := &runtime{Config: c, Runtime: aicpu.Runtime{Chip: c.Chip, Space: c.Space, Level: c.Device.Level(), Spin: c.spin, Hazards: c.Hazards}}
	r.Runtime.Report, r.Finish = &r.report.Report, r.finish
	r.Done = func() bool { return r.orchestrated && r.completed >= r.submitted }
	r.Popped = func(now sim.Time) { r.orch.thread.Wake(now) }
	for i := range r.rings {
		r.rings[i] = ring{index: i, heap: heap{base: c.Heap + uint64(i)*c.RingHeap, size: c.RingHeap}}
	}
	if err := r.Attach(c.Device, c.Threads-1, 1); err != nil {
		return nil, err
	}
	if c.Device != nil {
		c.Device.AnnounceOrchestrator(c.Threads - 1)
	}
	begun := sim.Boot + r.Cost(sim.Preamble)
	r.orch = newOrchestrator(r, c.Device.Thread(c.Threads-1))
	for i := range c.Threads - 1 {
		r.scheds = append(r.scheds, &scheduler{Scheduler: r.Add(c.Device.Thread(i), i, c.Threads-1), r: r})
	}
	r.Launch(begun+r.orch.preparation(), func(s *aicpu.Scheduler) { r.scheds[s.Index].run() })
	r.orch.thread = r.Engine.Start("orchestrator", begun, func(*sim.Thread) { r.orch.run(orchestrate) })
	if err := r.Engine.Run(); err != nil {
		r.flush()
		return nil, err
	}
	r.end(begun)
	return &r.report, nil
}

// end fills in what is known only when all threads have ended.
func (r *runtime) end(begun sim.Time) {
	p := &r.report
	p.End = r.Ended()
	post := max(p.End, r.orch.thread.Now()) // the last thing, by whoever is last
	end := post + r.Cost(sim.PostOrch)
	p.Wall = Span{Start: sim.Boot, End: end, Set: true}
	p.Phases[Preamble] = Span{Start: sim.Boot, End: begun, Set: true}
	p.Phases[GraphBuild] = Span{Start: begun, End: post, Set: true}
	p.Phases[PostOrch] = Span{Start: post, End: end, Set: true}
	p.Phases[Sched] = Span{Start: p.Start, End: p.End, Set: true}
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
	t.Args, t.Consumers = nil, nil
	if t.ring.retire() {
		r.retired = now
	}
	r.orch.thread.Wake(now) // also for an entry of the tensor map that is free now
}
