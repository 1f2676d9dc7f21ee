package tmr

import (
	"errors"
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// deadlock is how long an orchestrator waits for tasks to retire.
const deadlock = sim.Time(500_000_000)

// Orchestrator submits tasks. Its methods are called by the orchestration only.
type Orchestrator struct {
	r      *runtime
	thread *sim.Thread
	out    *producer.Thread
	tasks  *fanin.Map
	scopes []scope
	index  uint32 // of the next submit or alloc
	submit producer.Submit
	alive  [Rings]uint32 // of each ring, as the tensor map knows it

	flushed bool
}

// scope is an open scope: the tasks of it hold a reference each.
type scope struct {
	manual bool
	tasks  []*task
}

func newOrchestrator(r *runtime, out *producer.Thread) *Orchestrator {
	return &Orchestrator{r: r, out: out}
}

func (o *Orchestrator) spend(k sim.Cost) { o.pass(stepOf[k], o.r.Cost(k)) }

// pass lets time pass for a step of a submit.
func (o *Orchestrator) pass(s Step, d sim.Time) {
	o.r.report.Steps[s].add(d)
	o.thread.Advance(d)
}

func (o *Orchestrator) run(orchestrate func(*Orchestrator)) {
	r := o.r
	tasks, err := fanin.New(fanin.Options{Entries: r.Limits.TensorMap, Live: o.live})
	if err != nil {
		o.thread.Fail(err)
	}
	o.tasks = tasks
	for _, p := range preparations {
		start := o.thread.Now()
		o.thread.Advance(r.Cost(p.cost))
		r.report.Phases[p.phase] = Span{Start: start, End: o.thread.Now(), Set: true}
	}
	if r.DepGen != nil {
		r.DepGen.Announce(r.Threads - 1)
	}
	start := o.thread.Now()
	o.Scope(func() { orchestrate(o) })
	r.report.Phases[Orch] = Span{Start: start, End: o.thread.Now(), Set: true}
	if err := o.flush(); err != nil {
		o.thread.Fail(err)
	}
	r.orchestrated = true
	r.Changed(o.thread.Now())
}

// flush hands over the records that the host does not have yet.
func (o *Orchestrator) flush() error {
	o.flushed = true
	o.out.FlushOrch()
	o.r.DepGen.Flush()
	return o.r.PublishCores(o.r.Device)
}

// live tells whether the tensor map takes a producer for live. It learns of those
// that are consumed when all before them are, and a task of their ring is submitted.
func (o *Orchestrator) live(id uint64) bool {
	ring := id >> 32
	return ring < Rings && uint32(id) >= o.alive[ring]
}

// find is a task that has not been consumed.
func (o *Orchestrator) find(id uint64) *task {
	ring, local := id>>32, uint32(id)
	if ring >= Rings {
		return nil
	}
	r := &o.r.rings[ring]
	i := int(local) - (int(r.next) - len(r.tasks))
	if i < 0 || i >= len(r.tasks) || r.tasks[i].state == consumed {
		return nil
	}
	return r.tasks[i]
}

// Scope runs a part of the orchestration in a scope of its own: what is submitted
// there may be consumed once the scope has ended.
func (o *Orchestrator) Scope(body func()) { o.scope(scope{}, body) }

// ManualScope is a scope in which tasks depend on what they declare and on nothing
// else.
func (o *Orchestrator) ManualScope(body func()) { o.scope(scope{manual: true}, body) }

func (o *Orchestrator) scope(s scope, body func()) {
	o.spend(sim.OrchScope)
	o.scopes = append(o.scopes, s)
	body()
	o.spend(sim.OrchScope)
	last := len(o.scopes) - 1
	for _, t := range o.scopes[last].tasks {
		o.r.release(t, o.thread.Now())
	}
	o.scopes = o.scopes[:last]
}

// begin gives a task its place: id, ring, and the memory of its outputs. It waits
// for tasks to retire while there is none.
func (o *Orchestrator) begin(t *task, args []Arg) {
	r := &o.r.rings[min(len(o.scopes)-1, Rings-1)]
	t.ring, t.Order = r, int(o.index)
	size := uint64(0)
	for i := range args {
		if args[i].Type == abi.ArgOutput {
			size += align(args[i].Tensor.BufferSize)
		}
	}
	if size > r.heap.size {
		o.thread.Fail(fmt.Errorf("a task has %d bytes of outputs: expected at most %d, the heap of its ring", size, r.heap.size))
	}
	var addr uint64
	o.await("ring %d has no room for a task with %d bytes of outputs", func() (ok bool) {
		if len(r.tasks) >= o.r.Limits.Window {
			return false
		}
		addr, ok = r.heap.take(size)
		return ok
	}, r.index, size)
	t.ID = abi.TaskID(uint32(r.index), r.next)
	r.next++
	t.heapEnd = r.heap.tail
	r.tasks = append(r.tasks, t)
	t.refs = 1 // of the scope
	s := &o.scopes[len(o.scopes)-1]
	s.tasks = append(s.tasks, t)
	t.Args = make([]abi.Tensor, len(args))
	for i := range args {
		t.Args[i] = args[i].Tensor
		if args[i].Type == abi.ArgOutput {
			o.spend(sim.OrchAlloc)
			t.Args[i].BufferAddr, t.Args[i].OwnerTaskID = addr, t.ID
			addr += align(args[i].Tensor.BufferSize)
		}
	}
}

func align(n uint64) uint64 { return (n + outputAlign - 1) / outputAlign * outputAlign }

// await waits until there is room.
func (o *Orchestrator) await(format string, room func() bool, args ...any) {
	since := o.thread.Now()
	for !room() {
		limit := max(since, o.r.retired) + deadlock
		if o.thread.Now() >= limit {
			o.thread.Fail(fmt.Errorf("deadlock: "+format+", and for 500 ms no task has retired: end scopes earlier, or submit less at a time", args...))
		}
		asleep := o.thread.Now()
		o.thread.Sleep(limit)
		o.r.report.Steps[StepWait].add(o.thread.Now() - asleep)
	}
}

// Submit submits a task. Its outputs are arguments of the task that it returns.
func (o *Orchestrator) Submit(spec *Task) Submitted {
	start := o.thread.Now()
	t, err := newTask(spec, o.r.Config.Chip.Clusters())
	if err != nil {
		o.thread.Fail(err)
	}
	o.spend(sim.OrchSubmit)
	o.begin(t, spec.Args)
	s := &o.submit
	*s = producer.Submit{
		TaskID: t.ID, ManualScope: o.scopes[len(o.scopes)-1].manual, Args: s.Args[:0], EarlyDispatch: spec.Early, Deps: spec.Deps, KernelIDs: sim.KernelIDs(t.Kernels), BlockNum: int32(t.Blocks),
	}
	for i := range spec.Args {
		o.spend(sim.OrchArg)
		s.Args = append(s.Args, producer.Arg{Type: spec.Args[i].Type, Tensor: t.Args[i]})
	}
	if o.r.DepGen != nil {
		o.r.DepGen.Submit(s)
		o.pass(StepProfile, o.r.Cost(sim.DepGenSubmit)+sim.Time(len(s.Args))*o.r.Cost(sim.DepGenArg))
	}
	o.r.Config.Hazards.Submit(t.Order, t.ID, t.Subtasks, spec.Args, t.Args)
	o.r.submitted++
	o.r.report.Tasks++
	o.wire(t, s)
	o.record(start, t.ID)
	return Submitted{ID: t.ID, Args: t.Args}
}

// wire finds the producers of a task and lets it run when they have completed.
func (o *Orchestrator) wire(t *task, s *producer.Submit) {
	o.alive[t.ring.index] = t.ring.alive()
	deps := o.tasks.Resolve(s, func(*fanin.Row) { o.spend(sim.OrchEntry) })
	o.register(s)
	t.Hold()
	for _, d := range deps {
		p := o.find(d.Producer)
		if p == nil || p == t {
			continue
		}
		o.spend(sim.OrchEdge)
		waits := p.state == pending && d.Kind&abi.DepWait != 0
		if waits {
			o.takeEdge(t)
		}
		if p.state == consumed { // meanwhile
			continue
		}
		if d.Kind&abi.DepRetain != 0 {
			p.refs++
			t.retained = append(t.retained, p)
		}
		if p.state == pending && d.Kind&abi.DepWait != 0 {
			t.WaitFor(&p.Task)
		}
	}
	if !o.r.Wired(&t.Task, o.thread.Now()) {
		return
	}
	o.spend(sim.SchedPush)
	q := o.r.Destination(&t.Task)
	o.await("a ready queue is full: it holds %d tasks", func() bool { return q.Len() < o.r.Limits.Ready }, o.r.Limits.Ready)
	q.Push(&t.Task)
	o.r.Changed(o.thread.Now())
}

// register makes a task a producer in the tensor map. While that is full it looks
// in all rings for tasks that have retired.
func (o *Orchestrator) register(s *producer.Submit) {
	err := o.tasks.Register(s)
	if err != nil && !errors.Is(err, fanin.ErrFull) {
		o.thread.Fail(err)
	}
	o.await("the tensor map is full", func() bool {
		if err != nil {
			for i := range o.r.rings {
				o.alive[i] = o.r.rings[i].alive()
			}
			err = o.tasks.Register(s)
		}
		return err == nil
	})
}

// takeEdge takes an entry of the dependency pool for a task's edge to a producer
// that has not completed.
func (o *Orchestrator) takeEdge(t *task) {
	limit := o.r.Limits.DepPool
	if t.edges >= limit {
		o.thread.Fail(fmt.Errorf("task %#x waits for more than %d producers: expected at most so many, the dependency pool of its ring", t.ID, limit))
	}
	o.await("the dependency pool of ring %d is full: it holds %d edges", func() bool { return t.ring.edges < limit }, t.ring.index, limit)
	t.ring.edges++
	t.edges++
}

// Alloc makes tensors that no task computes: their storage has an owner that is
// complete at once.
func (o *Orchestrator) Alloc(tensors ...abi.Tensor) Submitted {
	start := o.thread.Now()
	o.spend(sim.OrchSubmit)
	args := make([]Arg, len(tensors))
	for i := range tensors {
		args[i] = Arg{Type: abi.ArgOutput, Tensor: tensors[i]}
	}
	t := &task{state: completed}
	o.begin(t, args)
	o.record(start, t.ID)
	return Submitted{ID: t.ID, Args: t.Args}
}

// record ends a submit or an alloc.
func (o *Orchestrator) record(start sim.Time, id uint64) {
	o.r.report.Submits++
	if o.r.Level >= abi.OrchPhases {
		chip := o.r.Config.Chip
		o.out.OrchPhase(&abi.OrchPhase{StartTime: chip.Counter(start), EndTime: chip.Counter(o.thread.Now()), TaskID: id, SubmitIdx: o.index})
		o.spend(sim.OrchRecord)
	}
	o.index++
}
