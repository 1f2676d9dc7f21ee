package hbg

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// resolver is the thread that completes tasks: it lets those run that wait for them
// (spec/collector.md §13). It drives no cores.
type resolver struct {
	*aicpu.Scheduler
	r     *runtime
	polls polls
	last  [2]sim.Time // when the poll of this iteration began and ended, if there was one
}

// polls are the polls of async waits since the last record, which become one
// (spec/collector.md §2.12). Times are cycles.
type polls struct {
	active   bool
	cycles   uint64
	resolved int
	start    aicpu.Depths
}

// add adds a poll.
func (p *polls) add(start, end uint64, resolved int) {
	p.cycles += end - start
	p.resolved += resolved
}

// record is what is recorded of the polls at a time.
func (p *polls) record(end uint64) abi.SchedPhase {
	out := abi.SchedPhase{Kind: abi.AsyncPoll, EndTime: end, TasksProcessed: uint32(p.resolved), SharedDepthAtStart: p.start}
	if p.cycles <= end {
		out.StartTime = end - p.cycles
	}
	return out
}

func newResolver(r *runtime, s *aicpu.Scheduler) *resolver {
	p := &resolver{Scheduler: s, r: r}
	s.More = func() uint32 {
		for i := range r.finished {
			if r.finished[i].Len() > 0 {
				return 1
			}
		}
		return 0
	}
	s.Next, s.Skipped = s.NextDue, p.skipped
	return p
}

func (p *resolver) run() {
	p.Iterate(func() bool {
		p.last = [2]sim.Time{}
		return p.completed()+p.await()+p.dummies() > 0
	})
	p.flushPolls()
	p.Leave()
}

// counter is the time as the thread reads it.
func (p *resolver) counter(at sim.Time) uint64 { return p.r.Chip.Counter(at) }

// begin begins a pass that is recorded as a whole.
func (p *resolver) begin() (start sim.Time, depths aicpu.Depths) {
	start = p.Now()
	p.flushPolls()
	return start, p.Fresh()
}

// end records the pass.
func (p *resolver) end(k abi.PhaseKind, start sim.Time, depths aicpu.Depths, tasks int) {
	end := p.Fresh()
	p.Phase(&abi.SchedPhase{Kind: k, TasksProcessed: uint32(tasks), SharedDepthAtStart: depths, SharedDepthAtEnd: end}, start, p.Now())
}

// completed completes the tasks that the schedulers have seen to finish.
func (p *resolver) completed() (n int) {
	var start sim.Time
	var depths aicpu.Depths
	for i := range p.r.finished {
		q := &p.r.finished[i]
		for !p.Blind() && q.Len() > 0 {
			if n == 0 {
				start, depths = p.begin()
			}
			p.Spend(sim.SchedPop)
			t := q.Pop()
			p.r.Changed(p.Now())
			p.complete(t)
			n++
		}
	}
	if n > 0 {
		p.end(abi.ResolveStandalone, start, depths, n)
	}
	return n
}

// complete completes a task, and with the last node of a graph that too.
func (p *resolver) complete(t *aicpu.Task) {
	p.r.Hazards.Skip(t.Order)
	p.Resolve(t)
	p.count()
	if n, ok := t.Of.(*node); ok {
		if n.graph.left--; n.graph.left == 0 {
			p.complete(&n.graph.task)
		}
	}
}

func (p *resolver) count() {
	r := p.r
	r.resolved++
	if r.config.Progress != nil && r.resolved%progressEvery == 0 {
		r.config.Progress(r.total, r.resolved)
	}
	r.Changed(p.Now())
}

// await looks once at what tasks wait for beside their kernels.
func (p *resolver) await() (n int) {
	if !p.Outstanding() {
		return 0
	}
	if !p.polls.active {
		p.polls.active, p.polls.start = true, p.Fresh()
		p.Disturb() // the next iteration takes no sample
	}
	start := p.Now()
	for _, t := range p.Awaited() {
		p.complete(t)
		n++
	}
	end := p.Now()
	p.last = [2]sim.Time{start, end}
	p.polls.add(p.counter(start), p.counter(end), n)
	if n > 0 {
		p.flushPolls()
	}
	return n
}

// skipped counts the polls of iterations that the thread slept through.
func (p *resolver) skipped(n int64, period sim.Time) {
	if p.last == ([2]sim.Time{}) || p.r.Level < abi.SchedPhases {
		return
	}
	for range n {
		p.last[0] += period
		p.last[1] += period
		p.polls.add(p.counter(p.last[0]), p.counter(p.last[1]), 0)
	}
}

// flushPolls records the polls since the last time, as ending now.
func (p *resolver) flushPolls() {
	if !p.polls.active {
		return
	}
	out := p.polls.record(p.counter(p.Now()))
	p.polls = polls{}
	out.SharedDepthAtEnd = p.Fresh()
	p.Emit(&out)
}

// dummyBatch is how many dummies are taken at a time.
const dummyBatch = 8

// dummies completes the tasks that run on no core.
func (p *resolver) dummies() (n int) {
	var start sim.Time
	var depths aicpu.Depths
	for p.DummiesReady() {
		batch := p.PopDummies(dummyBatch)
		if len(batch) == 0 {
			break
		}
		if n == 0 {
			start, depths = p.begin()
		}
		for _, t := range batch {
			p.Observe(sim.SchedSample, abi.SchedPhases)
			at := p.Now()
			p.complete(t)
			n++
			// Who has kernels was skipped, which no record tells here.
			if t.Shape == sim.ShapeDummy && p.r.Chip.Arch == abi.A2A3 {
				o := abi.SchedPhase{Kind: abi.DummyTask, TasksProcessed: 1}
				o.SetTask(t.ID)
				p.Phase(&o, at, at)
			}
		}
	}
	if n > 0 {
		p.end(abi.Dummy, start, depths, n)
	}
	return n
}
