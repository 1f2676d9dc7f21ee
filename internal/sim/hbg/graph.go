package hbg

import (
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
