package scene

import (
	"fmt"
	"slices"
)

// NodeOrchestrator is what a node's orchestration submits tasks to. What a submit
// refuses ends the run with an error.
type NodeOrchestrator struct {
	run   *nodeRun
	index int // of the run, from 0 on
}

// Run is which run of the case this is, from 0 on.
func (o *NodeOrchestrator) Run() int { return o.index }

// NodeTensor is a tensor of the node: it lies with the dispatcher, and travels to the
// workers that use it and back.
type NodeTensor struct{ t *nodeTensor }

// nodeTensor is such a tensor, with who used it last.
type nodeTensor struct {
	data    Data
	writer  *nodeTask   // the last one, nil if there is none
	readers []*nodeTask // since then
}

// NodeArg is an argument of a node's task.
type NodeArg struct {
	t *nodeTensor
	d Direction
}

// In is the tensor as an argument that is read.
func (t NodeTensor) In() NodeArg { return NodeArg{t.t, Reads} }

// Out is the tensor as an argument that is written and not read: a chip gets it
// full of zeros.
func (t NodeTensor) Out() NodeArg { return NodeArg{t.t, Writes} }

// InOut is the tensor as an argument that is read and written.
func (t NodeTensor) InOut() NodeArg { return NodeArg{t.t, ReadWrites} }

// NodeTask is what is submitted: a callable, with its arguments. It waits for the
// tasks that write what it reads, and for those that use what it writes.
type NodeTask struct {
	Callable *NodeCallable
	Worker   int // that runs a chip callable, from 0 on
	Args     []NodeArg
	// Group are the members of a group: a chip callable on several workers, one each,
	// every one with arguments of its own. Worker and Args are not used then. The task
	// has ended when all members have.
	Group []NodeMember
	After []NodeID // declared dependencies, of this run
}

// NodeMember is one member of a group.
type NodeMember struct {
	Worker int
	Args   []NodeArg
}

// NodeID names a submitted task.
type NodeID struct{ task *nodeTask }

// nodeTask is a submitted task.
type nodeTask struct {
	run      uint64
	slot     int // which submit of the run it was, from 0 on
	callable int
	k        *NodeCallable
	digest   string
	members  []*nodeMember
	group    bool

	// Of the scheduler:
	after     []*nodeTask // still to be counted
	waits     int         // tasks that have not ended
	consumers []*nodeTask
	left      int // members that have not ended
	ended     bool
}

// nodeMember is what one worker does of a task.
type nodeMember struct {
	task   *nodeTask
	index  int // in the group
	worker int // of a sub-worker it is known when it begins
	args   []NodeArg
}

// Alloc makes a tensor of zeros.
func (o *NodeOrchestrator) Alloc(name string, d DType, shape ...int) NodeTensor {
	data, err := emptyData(name, d, shape)
	if err != nil {
		panic(err.Error())
	}
	return NodeTensor{&nodeTensor{data: data}}
}

// Submit submits a task.
func (o *NodeOrchestrator) Submit(t NodeTask) NodeID {
	r := o.run
	began := r.log.now()
	task, err := r.task(t)
	if err != nil {
		panic(err.Error())
	}
	task.slot = r.submitted
	r.submitted++
	r.sched.submit(task)
	r.log.submit(r.id, task, began)
	return NodeID{task}
}

// task checks what is submitted, and finds what it has to wait for.
func (r *nodeRun) task(t NodeTask) (*nodeTask, error) {
	at := slices.Index(r.node.Callables, t.Callable)
	if at < 0 || t.Callable == nil {
		return nil, fmt.Errorf("the task uses a callable that is none of the scene's %d", len(r.node.Callables))
	}
	task := &nodeTask{run: r.id, callable: at, k: t.Callable, digest: r.digests[at], group: len(t.Group) > 0}
	members := t.Group
	if !task.group {
		members = []NodeMember{{t.Worker, t.Args}}
	} else if t.Callable.Sub != nil {
		return nil, fmt.Errorf("sub-worker %q is submitted as a group: expected a chip callable", t.Callable.name(at))
	}
	if t.Callable.Sub != nil && r.config.SubWorkers == 0 {
		return nil, fmt.Errorf("sub-worker %q is submitted, and the case has none: expected SubWorkers of at least 1", t.Callable.name(at))
	}
	for i, m := range members {
		if err := r.member(task, m); err != nil {
			return nil, fmt.Errorf("callable %q, member %d: %w", t.Callable.name(at), i, err)
		}
		task.members = append(task.members, &nodeMember{task: task, index: i, worker: m.Worker, args: m.Args})
	}
	if err := task.aliases(); err != nil {
		return nil, fmt.Errorf("callable %q: %w", t.Callable.name(at), err)
	}
	task.left = len(task.members)
	for _, d := range t.After {
		if d.task == nil {
			return nil, fmt.Errorf("callable %q is declared to come after no task", t.Callable.name(at))
		}
		task.wait(d.task)
	}
	for _, m := range task.members {
		for _, a := range m.args {
			task.uses(a)
		}
	}
	return task, nil
}

// member refuses a member that cannot run.
func (r *nodeRun) member(task *nodeTask, m NodeMember) error {
	if task.k.Chip != nil && (m.Worker < 0 || m.Worker >= r.config.DeviceCount) {
		return fmt.Errorf("it is for worker %d: expected 0 to %d", m.Worker, r.config.DeviceCount-1)
	}
	if task.k.Sub != nil && m.Worker != 0 {
		return fmt.Errorf("a sub-worker is named %d: expected none, any of them runs it", m.Worker)
	}
	for i, a := range m.Args {
		if a.t == nil {
			return fmt.Errorf("argument %d is no tensor", i)
		}
	}
	if task.k.Chip == nil || task.k.Chip.Orchestration.Signature == nil {
		return nil
	}
	want := task.k.Chip.Orchestration.Signature
	if len(want) != len(m.Args) {
		return fmt.Errorf("it has %d arguments: expected the %d of the orchestration's signature", len(m.Args), len(want))
	}
	for i, a := range m.Args {
		if a.d != want[i] {
			return fmt.Errorf("argument %d is %s: expected %s, as in the orchestration's signature", i, a.d, want[i])
		}
	}
	return nil
}

// aliases refuses a tensor that is written and stands among the arguments twice: each
// of them is a tensor of its own on a chip, and workers of a group run at once.
func (t *nodeTask) aliases() error {
	seen := map[*nodeTensor]Direction{}
	for _, m := range t.members {
		for _, a := range m.args {
			if had, twice := seen[a.t]; twice && (had != Reads || a.d != Reads) {
				return fmt.Errorf("tensor %q is written, and is an argument twice: expected it once, InOut if it is read too", a.t.data.Name)
			}
			seen[a.t] = a.d
		}
		// Two workers of one name would run one after the other, and not be a group.
		for _, other := range t.members[:m.index] {
			if other.worker == m.worker {
				return fmt.Errorf("two members of the group are for worker %d: expected one each", m.worker)
			}
		}
	}
	return nil
}

// wait makes the task wait for another one.
func (t *nodeTask) wait(other *nodeTask) {
	if other != nil && other != t && !slices.Contains(t.after, other) {
		t.after = append(t.after, other)
	}
}

// uses makes the task wait for what used an argument before, and notes the use.
func (t *nodeTask) uses(a NodeArg) {
	t.wait(a.t.writer)
	if a.d == Reads {
		a.t.readers = append(a.t.readers, t)
		return
	}
	for _, r := range a.t.readers {
		t.wait(r)
	}
	a.t.writer, a.t.readers = t, nil
}
