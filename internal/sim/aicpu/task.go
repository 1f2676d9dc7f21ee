package aicpu

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// Task is a task as schedulers see it.
type Task struct {
	sim.Form
	ID        uint64
	Order     int // in which it was submitted
	Spec      *sim.Task
	Args      []abi.Tensor // with the addresses of outputs
	Fanin     int          // producers that have not completed, and one until the task is wired
	Consumers []*Task      // tasks that wait for it
	Queue     *Queue       // where it goes when it is ready; nil: to the dummies or to the cores
	Of        any          // what the runtime has of it beside this

	next  int // blocks are claimed up to it
	given int // subtasks that cores have
	left  int // subtasks that have not finished
	early early
	due   sim.Time // of Wait
}

// early is what it takes to place a task before its producers have finished.
type early struct {
	barred bool       // the task is none that may
	queued bool       // it waits for a place
	open   int        // producers that have not finished, and do not allow it or are not all on cores
	staged []prepared // subtasks that wait for their doorbell
}

const shapeDummy = sim.ShapeDummy

// Init makes a task of what is submitted.
func (t *Task) Init(spec *sim.Task, f sim.Form) {
	t.Spec, t.Form, t.left = spec, f, f.Subtasks
	t.early.barred = spec.Predicate != nil || t.Shape == shapeDummy
}

// sync tells whether all blocks must start together.
func (t *Task) sync() bool { return t.Blocks > 1 && t.Spec.SyncStart && t.Shape != shapeDummy }

// opens tells whether consumers may be placed although the task has not finished.
func (t *Task) opens() bool { return t.Spec.Early && t.given == t.Subtasks && t.Shape != shapeDummy }

// waits tells whether a candidate for early dispatch still is one.
func (t *Task) waits() bool { return t.Fanin > 0 && t.next < t.Blocks }

// Hold keeps a task from being ready until it is wired.
func (t *Task) Hold() { t.Fanin, t.early.open = 1, 1 }

// WaitFor makes a task wait for one that has not completed.
func (t *Task) WaitFor(p *Task) {
	t.Fanin++
	p.Consumers = append(p.Consumers, t)
	if !p.opens() {
		t.early.open++
	}
}

// job is what a core runs for a block.
func (t *Task) job(space abi.Space, lane, block int, token uint32) sim.Job {
	return sim.Job{Token: token, Task: t.ID, Run: func() uint64 {
		return t.Kernels[lane].Run(&sim.Call{
			Task: t.ID, Args: t.Args, Scalars: t.Spec.Scalars, Block: block, Blocks: t.Blocks, Lane: max(lane-1, 0), Space: space,
		})
	}}
}
