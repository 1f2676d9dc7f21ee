package tmr

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// Task is what is submitted.
type Task struct {
	Kernels [abi.CoresPerCluster]*sim.Kernel // on the AIC and the AIVs of a cluster; none at all: a dummy
	Args    []Arg
	Scalars []uint64
	Deps    []producer.Dep // declared ones
	Blocks  int            // ≤ 0 is 1
	// Predicate decides, when the last dependency has finished, whether the task
	// runs; nil: it does.
	Predicate func() bool
	// SyncStart: all blocks start together. There must be room for them on the chip.
	SyncStart bool
	// Early: consumers may be placed on cores before the task has finished, as soon
	// as all of it has been dispatched.
	Early bool
	Wait  uint64 // cycles that it takes beside its kernels, until something outside the cores is done
	Slot  int    // task-timing slot + 1; 0: none
}

// Arg is an argument of a task. An output has the shape and type of the tensor
// that the task makes; its address is chosen at submit.
type Arg struct {
	Type   abi.ArgType
	Tensor abi.Tensor
}

// TimingSlots is how many task-timing slots there are (spec/host-log.md §4.5).
const TimingSlots = 16

// shapeDummy is the shape of a task without kernels, beside those of abi.
const shapeDummy = abi.QueueShapes

type state uint8

const (
	pending state = iota
	completed
	consumed
)

// task is a submitted task until it is consumed.
type task struct {
	id        uint64
	ring      *ring
	spec      *Task
	args      []abi.Tensor
	kernels   [abi.CoresPerCluster]*sim.Kernel
	lanes     lanes // those with kernels
	shape     int
	blocks    int // claimed up to next
	next      int
	subtasks  int
	given     int // subtasks that cores have
	left      int // subtasks that have not finished
	state     state
	fanin     int // producers that have not completed, and one until the task is wired
	consumers []*task
	retained  []*task // producers that must stay until this one is released
	refs      int     // of its scope and of retaining consumers
	early     early
	due       sim.Time // of Wait
	edges     int      // entries of the dependency pool
	heapEnd   uint64   // position in the heap of its ring behind its outputs
}

// early is what it takes to place a task before its producers have finished.
type early struct {
	barred bool       // the task is none that may
	queued bool       // it waits for a place
	open   int        // producers that have not finished, and do not allow it or are not all on cores
	staged []prepared // subtasks that wait for their doorbell
}

// newTask checks a spec for a chip of so many clusters.
func newTask(spec *Task, clusters int) (*task, error) {
	t := &task{spec: spec, kernels: spec.Kernels, blocks: max(spec.Blocks, 1)}
	if t.kernels[0] == nil && t.kernels[1] == nil { // a lone AIV1 is an AIV0
		t.kernels[1], t.kernels[2] = t.kernels[2], nil
	}
	used := 0
	for lane, k := range t.kernels {
		if k == nil {
			continue
		}
		used++
		t.lanes |= 1 << lane
		if (k.Type == abi.AIC) != (lane == 0) {
			return nil, fmt.Errorf("kernel %s for an %v is on lane %d of a task: expected an AIC on lane 0, AIVs on lanes 1 and 2", k.Name, k.Type, lane)
		}
	}
	switch {
	case used == 0:
		t.shape = shapeDummy
	case used > 1:
		t.shape = abi.ShapeMIX
	case t.kernels[0] != nil:
		t.shape = abi.ShapeAIC
	default:
		t.shape = abi.ShapeAIV
	}
	t.subtasks = used * t.blocks
	t.left = t.subtasks
	if t.sync() {
		room := clusters
		if t.shape == abi.ShapeAIV {
			room = 2 * clusters
		}
		if t.blocks > room {
			return nil, fmt.Errorf("a task of %d blocks that start together does not fit: expected at most %d on %d clusters", t.blocks, room, clusters)
		}
	}
	t.early.barred = spec.Predicate != nil || t.shape == shapeDummy
	if used == 0 && spec.Wait > 0 {
		return nil, fmt.Errorf("a task without kernels waits for %d cycles: expected a kernel, or no wait", spec.Wait)
	}
	if spec.Slot < 0 || spec.Slot > TimingSlots {
		return nil, fmt.Errorf("a task has the timing slot %d: expected 0 to %d", spec.Slot-1, TimingSlots-1)
	}
	return t, nil
}

// sync tells whether all blocks must start together.
func (t *task) sync() bool { return t.blocks > 1 && t.spec.SyncStart && t.shape != shapeDummy }

// opens tells whether consumers may be placed although the task has not finished.
func (t *task) opens() bool { return t.spec.Early && t.given == t.subtasks && t.shape != shapeDummy }

// kernelIDs are those of the spec, as a graph shows them.
func (t *task) kernelIDs() (ids [3]int32) {
	for i, k := range t.kernels {
		ids[i] = -1
		if k != nil {
			ids[i] = k.ID
		}
	}
	return ids
}

// job is what a core runs for a block.
func (t *task) job(space abi.Space, lane, block int, token uint32) sim.Job {
	return sim.Job{Token: token, Task: t.id, Run: func() uint64 {
		return t.kernels[lane].Run(&sim.Call{
			Args: t.args, Scalars: t.spec.Scalars, Block: block, Blocks: t.blocks, Lane: max(lane-1, 0), Space: space,
		})
	}}
}
