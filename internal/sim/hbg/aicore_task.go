package hbg

import (
	"fmt"
	"math"
	"math/bits"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// aicoreKind says which inbox a ready task goes to.
type aicoreKind int

const (
	kindAIC aicoreKind = iota
	kindAIV
	kindMIX
	kindGang // tasks whose blocks start together
	aicoreKinds
)

// aicoreTask is a task under its dense index, which is its id in the block and in
// all records (spec/device-abi.md §13, 7). Those of the graph's list come first, so
// their dense indices are their local ids; nodes of graph tasks follow. A graph task
// itself is complete when all its nodes are.
type aicoreTask struct {
	index     int
	of        *Task
	producers []int // dense indices
	kind      aicoreKind
	inline    bool // runs on no core: no kernels, a graph task, or a predicate that said no
	predicate func() bool
	order     int // in which it was submitted

	next      int // blocks that have cores, or are about to
	left      int // subtasks that have not finished
	published bool
}

// home is the scheduler that classifies the task and in whose inbox it is ready.
func (t *aicoreTask) home(schedulers int) int { return t.index % schedulers }

// rest is how many blocks have no cores.
func (t *aicoreTask) rest() int { return t.of.Form.Blocks - t.next }

func (t *aicoreTask) lanes() sim.Lanes { return t.of.Form.Lanes }

// kernel runs a block of the task on a lane, and tells how many cycles that takes.
func (t *aicoreTask) kernel(space abi.Space, lane, block int) uint64 {
	f := &t.of.Form
	return max(1, f.Kernels[lane].Run(&sim.Call{
		Task: uint64(t.index), Args: t.of.Args, Scalars: t.of.Spec.Scalars, Block: block, Blocks: f.Blocks, Lane: max(lane-1, 0), Space: space,
	}))
}

// denseCount is how many dense indices a graph has.
func denseCount(g *Graph) int {
	n := len(g.Tasks)
	for _, t := range g.Tasks {
		n += len(t.Nodes)
	}
	return n
}

// expand makes dense tasks of a graph that was checked.
func expand(g *Graph) ([]*aicoreTask, error) {
	var all []*aicoreTask
	add := func(t *Task) (*aicoreTask, error) {
		d, err := newAicoreTask(len(all), t)
		all = append(all, d)
		return d, err
	}
	for _, t := range g.Tasks {
		d, err := add(t)
		if err != nil {
			return nil, err
		}
		d.producers = append(d.producers, t.Producers...)
	}
	order := 0
	for i, t := range g.Tasks {
		all[i].order = order
		order++
		if len(t.Nodes) == 0 {
			continue
		}
		base, outer, inner := len(all), all[i], make([]bool, len(t.Nodes))
		for _, node := range t.Nodes {
			d, err := add(node)
			if err != nil {
				return nil, err
			}
			d.order = order
			order++
			if node.Alloc {
				continue
			}
			for _, p := range node.Producers {
				inner[p] = true // not a last one
				if !t.Nodes[p].Alloc {
					d.producers = append(d.producers, base+p)
				}
			}
			if len(d.producers) == 0 {
				d.producers = append(d.producers, t.Producers...)
			}
		}
		var last []int
		for k, node := range t.Nodes {
			if !inner[k] && !node.Alloc {
				last = append(last, base+k)
			}
		}
		if last != nil {
			outer.producers = last
		}
	}
	return all, nil
}

// newAicoreTask checks whether AICores can schedule a task.
func newAicoreTask(index int, t *Task) (*aicoreTask, error) {
	d := &aicoreTask{index: index, of: t, inline: t.Alloc || t.Nodes != nil || t.Form.Shape == sim.ShapeDummy}
	if t.Spec != nil && !t.Alloc && t.Nodes == nil {
		d.predicate = t.Spec.Predicate
	}
	if d.inline {
		d.predicate = nil
		return d, nil
	}
	f := &t.Form
	switch {
	case t.Spec.Wait > 0:
		return d, fmt.Errorf("task %#x waits for %d cycles beside its kernels: expected none, as AICore schedulers see nothing but their slots", t.ID, t.Spec.Wait)
	case f.Subtasks > math.MaxUint16:
		return d, fmt.Errorf("task %#x has %d subtasks: expected at most %d", t.ID, f.Subtasks, math.MaxUint16)
	}
	for _, k := range f.Kernels {
		if k != nil && (k.ID < 0 || k.ID >= abi.CallableCapacity) {
			return d, fmt.Errorf("task %#x has kernel %s with the id %d: expected 0 to %d", t.ID, k.Name, k.ID, abi.CallableCapacity-1)
		}
	}
	d.left = f.Subtasks
	switch {
	case t.Spec.Sync():
		d.kind = kindGang
	case bits.OnesCount8(uint8(f.Lanes)) > 1:
		d.kind = kindMIX
	case f.Lanes == sim.LaneAIC:
		d.kind = kindAIC
	default:
		d.kind = kindAIV
	}
	return d, nil
}

// metadata is what the host tells the schedulers of a task.
func (t *aicoreTask) metadata() (m abi.TaskMetadata) {
	m.TimingSlot = -1
	if len(t.producers) > 0 {
		m.Flags |= abi.TaskHasFanin
	}
	if t.inline {
		m.Flags |= abi.TaskInline
		return m
	}
	f := &t.of.Form
	for i, k := range f.Kernels {
		if k != nil {
			m.KernelIDs[i] = uint16(k.ID)
		}
	}
	m.ActiveMask, m.BlockNum, m.RequiredSubtasks = uint8(f.Lanes), uint16(f.Blocks), uint16(f.Subtasks)
	m.TimingSlot = int32(t.of.Spec.Slot) - 1
	m.Flags |= abi.TaskExecutable
	for flag, is := range map[uint8]bool{
		abi.TaskMIX: bits.OnesCount8(uint8(f.Lanes)) > 1, abi.TaskSPMD: f.Blocks > 1, abi.TaskSyncStart: t.kind == kindGang, abi.TaskPredicate: t.predicate != nil,
	} {
		if is {
			m.Flags |= flag
		}
	}
	return m
}
