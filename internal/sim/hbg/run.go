package hbg

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// Config is a run of a graph on a chip by AICPU threads.
type Config struct {
	Chip    *sim.Chip
	Threads int              // AICPU threads; the last one resolves
	Space   abi.Space        // the chip's memory
	Device  *producer.Device // nil: no swimlane
	Hazards *sim.Hazards     // looks for tasks that nothing has ordered; nil: nobody asks
	// Progress is called now and then with how many tasks there are, and how many have
	// completed; nil: it is not.
	Progress func(submitted, completed int)

	spin bool // idle threads do every iteration
}

// Report is what a run tells beside its records. Submits and tasks are the host's.
type Report = aicpu.Report

// runtime is what the threads share.
type runtime struct {
	aicpu.Runtime
	config   Config
	finished []aicpu.Queue // by scheduler: tasks that the resolver has not seen
	prepare  []*graph      // whose nodes are to be expanded, one after the other in turn
	arrived  aicpu.Queue   // graph tasks whose producers have completed, before all nodes are expanded
	activate aicpu.Queue   // and after that
	resolver *resolver
	total    int // tasks of all kinds, those of graphs and their nodes
	resolved int
	ordered  int // tasks that have a place in the order of submits
	report   Report
}

// graph is a graph task while it runs.
type graph struct {
	task  aicpu.Task
	src   *Task
	nodes []*node
	first int // of the nodes in the order of submits
	left  int // nodes that have not completed; those that only allocate count as completed
}

// node is a task of a graph task.
type node struct {
	aicpu.Task
	graph *graph
}

// progressEvery is how many tasks complete between two reports of progress.
const progressEvery = 256

// Run runs a graph by AICPU threads. On a5 that is a variant of the runtime, beside the
// one whose schedulers are AICores (spec/collector.md §13, §14).
func Run(c Config, g *Graph) (*Report, error) {
	if c.Threads < abi.MinThreads || c.Threads > c.Chip.Arch.MaxThreads {
		return nil, fmt.Errorf("a run with %d AICPU threads cannot be: expected %d to %d", c.Threads, abi.MinThreads, c.Chip.Arch.MaxThreads)
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	r := newRuntime(c)
	if err := r.addThreads(); err != nil {
		return nil, err
	}
	r.Launch(sim.Boot+r.Cost(sim.Preamble), func(s *aicpu.Scheduler) {
		if s.Index == 0 { // the first one to run
			r.load(g)
		}
		r.run(s)
	})
	if err := r.Engine.Run(); err != nil {
		r.Flush()
		return nil, err
	}
	r.report.End = r.Ended()
	r.report.Wall = aicpu.Span{Start: sim.Boot, End: r.report.End + r.Cost(sim.PostOrch), Set: true}
	return &r.report, nil
}

func newRuntime(c Config) *runtime {
	r := &runtime{config: c, Runtime: aicpu.Runtime{Chip: c.Chip, Space: c.Space, Level: c.Device.Level(), NoAcks: true, Spin: c.spin, Hazards: c.Hazards}}
	r.Report, r.Finish = &r.report, r.finish
	r.Done = func() bool { return r.resolved == r.total }
	return r
}

// addThreads adds the schedulers and the resolver, and begins their records.
func (r *runtime) addThreads() error {
	d, schedulers := r.config.Device, r.config.Threads-1
	if err := r.Attach(d, r.config.Threads, 0); err != nil {
		return err
	}
	r.finished = make([]aicpu.Queue, schedulers)
	for i := range schedulers {
		s := r.Add(d.Thread(i), i, schedulers)
		s.More = r.graphWork
	}
	r.resolver = newResolver(r, r.AddCoreless("resolver", d.Thread(schedulers)))
	if d == nil {
		return nil
	}
	return r.PublishCores(d)
}

// run is the program of a thread.
func (r *runtime) run(s *aicpu.Scheduler) {
	if s == r.resolver.Scheduler {
		r.resolver.run()
		return
	}
	s.Iterate(func() bool { return r.iterate(s) })
	s.Leave()
}

// load takes the image of the graph: what waits for nothing is ready.
func (r *runtime) load(g *Graph) {
	tasks := make([]*aicpu.Task, len(g.Tasks))
	for i, src := range g.Tasks {
		if src.Alloc {
			continue
		}
		t := &aicpu.Task{}
		if src.Nodes != nil {
			g := &graph{src: src}
			t = &g.task
			t.Of, t.Queue = g, &r.arrived
			g.first, r.ordered = r.ordered, r.ordered+len(src.Nodes)
			for k, n := range src.Nodes {
				if n.Alloc {
					continue
				}
				g.left++
				// Not when it is expanded: what came later may have run by then.
				r.Hazards.Submit(g.first+k, n.ID, n.Form.Subtasks, n.Spec.Args, n.Args)
			}
			r.total += g.left
			r.prepare = append(r.prepare, g)
		}
		t.ID, t.Args = src.ID, src.Args
		t.Init(src.Spec, src.Form)
		r.order(t)
		t.Hold()
		tasks[i] = t
		r.total++
		for _, p := range src.Producers {
			if tasks[p] != nil {
				t.WaitFor(tasks[p])
			}
		}
	}
	for _, t := range tasks {
		if t != nil && r.Wired(t, r.report.Start) {
			r.Route(t, r.report.Start)
		}
	}
}

// order gives a task its place in the order of submits.
func (r *runtime) order(t *aicpu.Task) {
	t.Order = r.ordered
	r.ordered++
	r.Hazards.Submit(t.Order, t.ID, t.Subtasks, t.Spec.Args, t.Args)
}

// finish is called when the last subtask of a task has finished: it goes to the
// resolver, or waits for something else, which the resolver looks at.
func (r *runtime) finish(s *aicpu.Scheduler, t *aicpu.Task) {
	if t.Spec.Wait > 0 {
		r.Await(t, s.Now())
		return
	}
	r.hand(s, t)
}

// hand gives a task to the resolver.
func (r *runtime) hand(s *aicpu.Scheduler, t *aicpu.Task) {
	s.Spend(sim.SchedPush)
	r.finished[s.Index].Push(t)
	r.Changed(s.Now())
}

// iterate is an iteration of a scheduler (spec/collector.md §13). It tells whether it
// has done anything.
func (r *runtime) iterate(s *aicpu.Scheduler) bool {
	done := s.Poll(false)
	if s.Called() {
		s.TakePart()
		return true
	}
	if !s.Blind() {
		done += r.activateOne(s) + r.prepareSome(s)
	}
	return done+s.Dispatch()+s.DispatchEarly() > 0
}

// graphWork is what there is to do for graphs, as part of a scheduler's view.
func (r *runtime) graphWork() (bits uint32) {
	if len(r.prepare) > 0 {
		bits |= 1
	}
	if r.activate.Len() > 0 {
		bits |= 2
	}
	return bits
}

// activateOne lets the nodes of a graph task begin whose producers have completed.
func (r *runtime) activateOne(s *aicpu.Scheduler) (done int) {
	t := r.activate.Pop()
	if t == nil {
		return 0
	}
	r.Changed(s.Now())
	s.Spend(sim.SchedGraphActivate)
	g := t.Of.(*graph)
	for _, n := range g.nodes {
		if n != nil && r.Wired(&n.Task, s.Now()) {
			s.Spend(sim.SchedPush)
			r.Route(&n.Task, s.Now())
		}
	}
	if g.left == 0 { // nothing of it runs
		r.hand(s, t)
	}
	return 1
}

// slice is how many nodes a scheduler expands at a time.
const slice = 4

// prepareSome expands some nodes of a graph task.
func (r *runtime) prepareSome(s *aicpu.Scheduler) (done int) {
	if len(r.prepare) == 0 {
		return 0
	}
	g := r.prepare[0]
	r.prepare = r.prepare[1:]
	r.Changed(s.Now())
	start, n := s.Now(), 0
	for ; n < slice && len(g.nodes) < len(g.src.Nodes); n++ {
		s.Spend(sim.SchedGraphNode)
		g.expand()
	}
	if len(g.nodes) < len(g.src.Nodes) {
		r.prepare = append(r.prepare, g)
	} else if g.task.Queue = &r.activate; r.arrived.Remove(&g.task) {
		r.activate.Push(&g.task)
	}
	r.Changed(s.Now())
	p := abi.SchedPhase{Kind: abi.GraphPrepare, TasksProcessed: uint32(n)}
	p.SetTask(g.src.ID)
	s.Step(&p, start)
	return n
}

// expand makes the next node, nil for one that only allocates. It is held until the
// graph task is activated.
func (g *graph) expand() {
	src := g.src.Nodes[len(g.nodes)]
	if src.Alloc {
		g.nodes = append(g.nodes, nil)
		return
	}
	n := &node{graph: g}
	n.ID, n.Args, n.Of = src.ID, src.Args, n
	n.Init(src.Spec, src.Form)
	n.Order = g.first + len(g.nodes)
	n.Hold()
	for _, p := range src.Producers {
		if g.nodes[p] != nil {
			n.WaitFor(&g.nodes[p].Task)
		}
	}
	g.nodes = append(g.nodes, n)
}
