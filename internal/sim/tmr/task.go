package tmr

import (
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// Task is what is submitted, Arg an argument of it, and Submitted what becomes of it.
type (
	Task      = sim.Task
	Arg       = sim.Arg
	Submitted = sim.Submitted
)

// TimingSlots is how many task-timing slots there are.
const TimingSlots = sim.TimingSlots

type state uint8

const (
	pending state = iota
	completed
	consumed
)

// task is a submitted task until it is consumed.
type task struct {
	aicpu.Task
	ring     *ring
	state    state
	retained []*task // producers that must stay until this one is released
	refs     int     // of its scope and of retaining consumers
	edges    int     // entries of the dependency pool
	heapEnd  uint64  // position in the heap of its ring behind its outputs
}

// newTask checks a spec for a chip of so many clusters.
func newTask(spec *Task, clusters int) (*task, error) {
	f, err := spec.Form(clusters)
	if err != nil {
		return nil, err
	}
	t := &task{}
	t.Init(spec, f)
	t.Of = t
	return t, nil
}

// of is the task that schedulers know by a part of it.
func of(t *aicpu.Task) *task { return t.Of.(*task) }
