package hbg

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// AicoreConfig is a run of a graph on an a5 whose AICores schedule themselves
// (spec/collector.md §14).
type AicoreConfig struct {
	Chip    *sim.Chip
	Threads int       // AICPU threads, which only begin and end the run
	Space   abi.Space // the chip's memory
	// State is the address of the scheduler-state block of the run, laid out by
	// AicoreLayout: on a multiple of 128, zeroed. All that the run records is in it
	// afterwards, also of one that failed.
	State   uint64
	Level   abi.Level
	Hazards *sim.Hazards // looks for tasks that nothing has ordered; nil: nobody asks
	// Progress is called now and then with how many tasks there are and how many
	// have completed; nil: it is not.
	Progress func(tasks, completed int)

	spin bool // idle schedulers do every iteration
}

// aicoreRun is what the schedulers share.
type aicoreRun struct {
	AicoreConfig
	*aicoreBlock
	engine sim.Engine
	tasks  []*aicoreTask
	scheds []*aicoreSched
	life   aicoreLife
	gang   *aicoreGang
	report Report
	end    sim.Time // of the last AICPU thread
}

// AicoreLayout is the layout of the scheduler-state block for a graph. The runtime
// of the model puts nothing into dispatch payloads.
func AicoreLayout(g *Graph, level abi.Level) (*abi.SchedulerState, error) {
	return abi.NewSchedulerState(denseCount(g), level, 0, 1)
}

// RunAicore runs a graph. Start and end of its report are those of the schedulers.
func RunAicore(c AicoreConfig, g *Graph) (*Report, error) {
	switch {
	case c.Chip.Arch != abi.A5:
		return nil, fmt.Errorf("AICores of %s do not schedule: expected %s", c.Chip.Arch.Name, abi.A5.Name)
	case c.Threads < abi.MinThreads || c.Threads > c.Chip.Arch.MaxThreads:
		return nil, fmt.Errorf("a run with %d AICPU threads cannot be: expected %d to %d", c.Threads, abi.MinThreads, c.Chip.Arch.MaxThreads)
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	tasks, err := expand(g)
	if err != nil {
		return nil, err
	}
	block, err := openAicoreBlock(&c, g)
	if err != nil {
		return nil, err
	}
	r := &aicoreRun{AicoreConfig: c, aicoreBlock: block, tasks: tasks}
	r.load()
	begun := sim.Boot + r.cost(sim.Preamble)
	r.startLife(begun)
	for i := range c.Chip.Clusters() {
		r.scheds = append(r.scheds, newAicoreSched(r, i))
	}
	for i, s := range r.scheds {
		s.thread = r.engine.Start(fmt.Sprintf("AICore scheduler %d", i), begun, s.run)
	}
	if err := r.engine.Run(); err != nil {
		r.control.ErrorClaimed = 1
		return nil, err
	}
	r.report.Wall = aicpu.Span{Start: sim.Boot, End: r.end, Set: true}
	return &r.report, nil
}

func (r *aicoreRun) cost(k sim.Cost) sim.Time { return r.Chip.Costs[k].Ns }

// finished tells whether all tasks are complete.
func (r *aicoreRun) finished() bool {
	return r.control.ResolvedTaskCount == r.control.ExpectedTaskCount
}

// wakeAll lets all schedulers look again: something may concern them.
func (r *aicoreRun) wakeAll(at sim.Time) {
	for _, s := range r.scheds {
		s.thread.Wake(at)
	}
}

// route makes a task ready whose producers are complete: it goes to the inbox of
// the scheduler that it belongs to, where others may steal it. A task without
// kernels, or whose predicate says no at this moment, is for whoever found it.
func (r *aicoreRun) route(s *aicoreSched, t *aicoreTask) {
	r.controls[t.index].State = abi.TaskReady
	if t.predicate != nil && !t.predicate() {
		t.inline = true
	}
	if t.inline {
		s.inline = append(s.inline, t)
		return
	}
	in := &r.scheds[t.home(len(r.scheds))].inboxes[t.kind]
	*in = append(*in, t)
	r.wakeAll(s.now())
}

// settle lets a task wait for the first of its producers that is not complete: it
// becomes a waiter on that one's wake list. It tells whether there is none left.
func (r *aicoreRun) settle(t *aicoreTask) bool {
	c := &r.controls[t.index]
	for ; int(c.NextFaninIndex) < len(t.producers); c.NextFaninIndex++ {
		p := t.producers[c.NextFaninIndex]
		if list := &r.controls[p]; list.WakeListHead != abi.WakeListClosed {
			c.NextWaiter, c.WaitingProducer = list.WakeListHead, int32(p)
			list.WakeListHead = int64(t.index)
			return false
		}
	}
	c.WaitingProducer = -1
	return true
}

// dispatched notes that a task with a timing slot was published.
func (r *aicoreRun) dispatched(slot int, at sim.Time) {
	if slot == 0 {
		return
	}
	if s := &r.report.Slots[slot-1]; !s.Set || at < s.Start {
		s.Start, s.Set = at, true
	}
}

// completed notes that it was seen to finish.
func (r *aicoreRun) completed(slot int, at sim.Time) {
	if slot != 0 {
		r.report.Slots[slot-1].End = max(r.report.Slots[slot-1].End, at)
	}
}
