package tmr

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// Task is what is submitted, and Arg an argument of it.
type (
	Task = sim.Task
	Arg  = sim.Arg
)

// TimingSlots is how many task-timing slots there are.
const TimingSlots = sim.TimingSlots

const shapeDummy = sim.ShapeDummy

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
	f, err := spec.Form(clusters)
	if err != nil {
		return nil, err
	}
	t := &task{spec: spec, kernels: f.Kernels, lanes: f.Lanes, shape: f.Shape, blocks: f.Blocks, subtasks: f.Subtasks, left: f.Subtasks}
	t.early.barred = spec.Predicate != nil || t.shape == shapeDummy
	return t, nil
}

// sync tells whether all blocks must start together.
func (t *task) sync() bool { return t.blocks > 1 && t.spec.SyncStart && t.shape != shapeDummy }

// opens tells whether consumers may be placed although the task has not finished.
func (t *task) opens() bool { return t.spec.Early && t.given == t.subtasks && t.shape != shapeDummy }

// job is what a core runs for a block.
func (t *task) job(space abi.Space, lane, block int, token uint32) sim.Job {
	return sim.Job{Token: token, Task: t.id, Run: func() uint64 {
		return t.kernels[lane].Run(&sim.Call{
			Task: t.id, Args: t.args, Scalars: t.spec.Scalars, Block: block, Blocks: t.blocks, Lane: max(lane-1, 0), Space: space,
		})
	}}
}
