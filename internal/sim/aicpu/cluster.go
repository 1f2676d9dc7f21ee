package aicpu

import (
	"math/bits"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

type lanes = sim.Lanes

const (
	laneAIC  = sim.LaneAIC
	laneAIV0 = sim.LaneAIV0
	laneAIV1 = sim.LaneAIV1
)

// cluster is what its scheduler knows of a cluster.
type cluster struct {
	cores [abi.CoresPerCluster]slots
	idle  lanes
}

// slots are the two tasks that a core may have (spec/collector.md §12.4).
type slots struct {
	core     *sim.Core
	owner    *Scheduler
	in       *cluster
	lane     lanes // of its cluster
	running  sub   // the one that the core has or will have first
	waiting  sub   // behind it
	acked    bool  // the core has acknowledged running
	tokens   producer.Tokens
	dispatch uint32 // how many there were
}

// sub is a subtask on a core; without a task there is none.
type sub struct {
	task       *Task
	block      int
	lane       int
	token      uint32
	gated      bool // it waits for a doorbell, or did
	rung       bool // the doorbell, at the moment bell
	bell       sim.Moment
	dispatched sim.Time
}

// set makes a subtask the running one; none: the core is idle.
func (c *slots) set(o sub, acked bool) {
	c.running, c.acked = o, acked
	if o.task == nil {
		c.in.idle |= c.lane
	} else {
		c.in.idle &^= c.lane
	}
}

// behind are the cores that can take a task behind the one that they run.
func (c *cluster) behind() (open lanes) {
	for i := range c.cores {
		if s := &c.cores[i]; s.running.task != nil && s.acked && s.waiting.task == nil {
			open |= s.lane
		}
	}
	return open
}

// mixed tells whether the cluster can take a block of a MIX task: all cores that it
// uses are idle, or else each is idle or can take it behind what it runs. A task
// that uses no core stands for any: the cores of every two of a cluster can be one.
func (c *cluster) mixed(uses lanes, behind bool) bool {
	open, must := c.idle, lanes(0)
	if behind {
		must = c.behind()
		open |= must
	}
	if uses == 0 {
		uses = open
	}
	return bits.OnesCount8(uint8(uses)) > 1 && uses&^open == 0 && (!behind || uses&must != 0)
}

// idlePlaces is how many blocks of a shape the idle cores of a thread can take; of
// a MIX task that uses some lanes, or of any.
func (s *Scheduler) idlePlaces(shape int, uses lanes) (n int) {
	for _, c := range s.clusters {
		switch shape {
		case abi.ShapeMIX:
			if c.mixed(uses, false) {
				n++
			}
		case abi.ShapeAIC:
			n += int(c.idle & laneAIC)
		default:
			n += bits.OnesCount8(uint8(c.idle &^ laneAIC))
		}
	}
	return n
}

// othersIdle tells whether another thread has idle cores for a block.
func (r *Runtime) othersIdle(s *Scheduler, shape int, uses lanes) bool {
	for _, other := range r.scheds {
		if other != s && other.idlePlaces(shape, uses) > 0 {
			return true
		}
	}
	return false
}

// place is where a block of a task goes: the cores of a cluster that it uses.
type place struct {
	in   *cluster
	uses lanes
}

// places are up to n places for blocks of a shape: idle cores, or those behind
// running tasks. They are good until the next call.
func (s *Scheduler) places(shape int, uses lanes, behind bool, n int) []place {
	out := s.room[:0]
	for _, c := range s.clusters {
		if len(out) >= n {
			break
		}
		if shape == abi.ShapeMIX {
			if c.mixed(uses, behind) {
				out = append(out, place{c, uses})
			}
			continue
		}
		open, wanted := c.idle, laneAIC
		if behind {
			open = c.behind()
		}
		if shape == abi.ShapeAIV { // any of them
			wanted = laneAIV0 | laneAIV1
		}
		for open &= wanted; open != 0 && len(out) < n; open &= open - 1 {
			out = append(out, place{c, open & -open})
		}
	}
	s.room = out
	return out
}
