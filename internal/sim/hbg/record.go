package hbg

import (
	"fmt"
	"strings"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/sim"
)

// Limits of ids (spec/records.md §0.3): a node's number has ten bits, and the graph
// task's the rest of a local id.
const (
	nodeBits = 10
	maxNodes = 1 << nodeBits
	maxOuter = 1 << (32 - nodeBits)
)

// Addresses that stand for tensors while a graph is recorded: for what its
// arguments are, a piece of the address space each, and for what its nodes make.
const (
	paramBase = 1 << 56
	paramStep = 1 << 40
	madeBase  = 1 << 57
)

// definition is a recorded graph.
type definition struct {
	args  []abi.Tensor // those that it was recorded with
	nodes []*Task      // with tensors that stand for others
	size  uint64       // bytes of what its nodes make
}

// Graph submits a graph: a part of an orchestration that is a task to all others.
// Body is what the graph does with its arguments; it is called the first time that
// a graph with this key and arguments of these shapes is submitted, and what it
// submits then are the nodes of this one and of all later ones. Another thread of
// the host records them, while the orchestration goes on.
func (h *Host) Graph(key any, args []sim.Arg, body func(params []abi.Tensor)) sim.Submitted {
	if h.at.high != Global {
		fail("a graph is submitted in a graph: expected tasks only")
	}
	if len(h.at.tasks) >= maxOuter {
		fail("a graph is submitted as task %d: expected less than %d, as ids of nodes have no room for more", len(h.at.tasks), maxOuter)
	}
	start := h.now
	h.spend(sim.HostGraphSubmit)
	t := &Task{Spec: &sim.Task{Args: args}, Form: sim.Form{Shape: sim.ShapeDummy, Blocks: 1}}
	h.begin(t, args)
	h.wire(t)
	h.end(GraphSubmit, start, t)
	sign := signature(args, t.Args)
	d := h.graphs[key][sign]
	if d == nil {
		d = h.record(t, body)
		if h.graphs[key] == nil {
			h.graphs[key] = map[string]*definition{}
		}
		h.graphs[key][sign] = d
		h.nodes = append(h.nodes, len(d.nodes))
	}
	t.Nodes = d.instance(t, h.take(d.size))
	return sim.Submitted{ID: t.ID, Args: t.Args}
}

// signature is what graphs must have in common to share a definition: how they use
// arguments, of which shapes, and which of them are parts of one buffer.
func signature(args []sim.Arg, tensors []abi.Tensor) string {
	var b strings.Builder
	for i := range tensors {
		t := &tensors[i]
		j := firstOf(tensors, i)
		fmt.Fprintf(&b, "%d %d %v %v %d", args[i].Type, t.DType, t.Shapes[:t.NDims], t.Strides[:t.NDims], t.ManualDep)
		if j != i {
			fmt.Fprintf(&b, " %d %d", j, int64(t.StartOffset-tensors[j].StartOffset))
		}
		b.WriteByte(';')
	}
	return b.String()
}

// firstOf is the first of some tensors that has the buffer of one of them.
func firstOf(tensors []abi.Tensor, i int) int {
	for j := range i {
		if tensors[j].BufferAddr == tensors[i].BufferAddr {
			return j
		}
	}
	return i
}

// record runs the body of a graph, on a thread that records.
func (h *Host) record(outer *Task, body func(params []abi.Tensor)) *definition {
	writes, err := fanin.New(fanin.Options{Buckets: 64})
	if err != nil {
		panic(refusal{err})
	}
	d := &definition{args: outer.Args}
	params := make([]abi.Tensor, len(outer.Args))
	for i, t := range outer.Args {
		j := firstOf(outer.Args, i)
		t.BufferAddr, t.OwnerTaskID = paramBase+uint64(j)*paramStep, abi.NoOwner
		params[i] = t
	}
	h.workers++
	at := &space{high: InGraph, outer: uint32(outer.ID), worker: h.workers, writes: writes, manual: []bool{false}}
	main := h.now
	h.at, h.now = at, main+h.cost(sim.HostWorker)
	body(params)
	if len(at.tasks) == 0 {
		fail("a graph records no task: expected at least one")
	}
	start := h.now
	h.now += sim.Time(len(at.tasks)) * h.cost(sim.HostBuildDefinition)
	h.phase(Phase{Kind: BuildDefinition, Start: start, End: h.now, Detail: uint64(len(at.tasks)), Worker: at.worker})
	h.ended = max(h.ended, h.now)
	h.at, h.now = &h.run, main
	d.nodes, d.size = at.tasks, at.heap
	return d
}

// instance are the nodes of a graph task, whose arguments stand where those of the
// definition did, and with memory for what its nodes make.
func (d *definition) instance(outer *Task, heap uint64) []*Task {
	nodes := make([]*Task, len(d.nodes))
	id := func(node uint64) uint64 {
		return abi.TaskID(InGraph, uint32(outer.ID)<<nodeBits|uint32(node))
	}
	for i, n := range d.nodes {
		t := *n
		t.ID = id(uint64(i))
		t.Args = make([]abi.Tensor, len(n.Args))
		for k, a := range n.Args {
			if a.BufferAddr >= madeBase {
				a.BufferAddr += heap - madeBase
				a.OwnerTaskID = id(a.OwnerTaskID & (maxNodes - 1))
			} else {
				j := int((a.BufferAddr - paramBase) / paramStep)
				given := &outer.Args[j]
				a.BufferAddr, a.BufferSize, a.Version = given.BufferAddr, given.BufferSize, given.Version
				a.StartOffset += given.StartOffset - d.args[j].StartOffset
			}
			t.Args[k] = a
		}
		nodes[i] = &t
	}
	return nodes
}
