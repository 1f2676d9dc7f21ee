package hbg

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// Spaces of task ids (spec/records.md §0.3).
const (
	Global  = 0 // tasks that the orchestration submits
	InGraph = 1 // nodes expanded from a graph task: its local id · 1024 + the node
)

// Graph is what a host has built: all tasks of a run.
type Graph struct {
	Tasks []*Task // by local id; what is only allocated is among them
}

// Task is a task of the graph.
type Task struct {
	ID        uint64
	Spec      *sim.Task // of an allocation without kernels and arguments
	Form      sim.Form
	Args      []abi.Tensor // with the addresses of outputs
	Producers []int        // tasks of the same list that it waits for, each once, ascending
	Alloc     bool         // complete from the beginning
	Manual    bool         // submitted in a manual scope
	Nodes     []*Task      // of a graph task: what it is expanded to, in the order of their ids
}

// Count is how many tasks run: graph tasks do not, but their nodes do.
func (g *Graph) Count() (n int) {
	for _, t := range g.Tasks {
		switch {
		case t.Nodes != nil:
			n += len(t.Nodes)
		case !t.Alloc:
			n++
		}
	}
	return n
}

// check refuses a graph that no runtime can run. What can only be because nobody built
// it with [Build] is an error, lest it be run as something else.
func (g *Graph) check() error {
	for i, t := range g.Tasks {
		if err := t.earlier(i); err != nil {
			return err
		}
		if t.Nodes == nil {
			continue
		}
		if s := t.Spec; t.Alloc || t.Form.Shape != sim.ShapeDummy || s.Predicate != nil || s.Wait > 0 || s.Slot > 0 {
			return fmt.Errorf("graph task %#x is an allocation, or has kernels, a predicate, a wait or a timing slot of its own: expected none, as its nodes are all that runs of it", t.ID)
		}
		for k, n := range t.Nodes {
			if n.Nodes != nil {
				return fmt.Errorf("node %d of graph task %#x is a graph task itself: expected a task with kernels, or none", k, t.ID)
			}
			if err := n.earlier(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// earlier demands that all producers of a task come before it in its list: so no
// task waits for itself.
func (t *Task) earlier(index int) error {
	for _, p := range t.Producers {
		if p < 0 || p >= index {
			return fmt.Errorf("task %#x, at %d of its list, waits for the one at %d: expected one before it", t.ID, index, p)
		}
	}
	return nil
}
