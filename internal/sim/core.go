package sim

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// Core is an AICore. It runs the tasks that it is given one after the other; a
// second may be given while the first one runs (spec/collector.md §2.3, §12.4).
// Nothing else decides what a core does, so all times of a task are known as soon
// as the task before it and its gate are.
type Core struct {
	Index   int
	Type    abi.CoreType
	Cluster int

	chip   *Chip
	writer *producer.Core // nil: no records
	jobs   [2]job         // the last ones, oldest first
	n      int
	known  int  // how many of them have times
	free   Time // when the core looks for the next task
}

// Job is a task as a core gets it.
type Job struct {
	Token uint32
	Task  uint64                // its id
	Gated bool                  // it waits for a doorbell
	Run   func() uint64         // computes, and tells how many cycles of the counter that takes
	Ran   func(start, end Time) // told when that was; nil: nobody
}

// job is a job and what becomes of it.
type job struct {
	Job
	written, bell Time // token, doorbell
	ack, fin      Time // when COND shows it
	receive       Time
	start, end    Time
}

// Record lets the core write its records, nil for none. It is called before the
// first task of a run.
func (c *Core) Record(w *producer.Core) { c.writer = w }

// Reset forgets the tasks of an earlier run.
func (c *Core) Reset() { c.n, c.known, c.free = 0, 0, 0 }

// Give writes a job's token to the core at a time. The core must have room: fewer
// than two jobs, or an oldest one that has finished by then.
func (c *Core) Give(at Time, j Job) {
	if c.n == len(c.jobs) {
		if c.known == 0 || c.jobs[0].fin > at {
			panic(fmt.Sprintf("sim: core %d is given token %d at %d ns, while tokens %d and %d are on it", c.Index, j.Token, at, c.jobs[0].Token, c.jobs[1].Token))
		}
		c.jobs[0] = c.jobs[1]
		c.n--
		c.known--
	}
	c.jobs[c.n] = job{Job: j, written: at, bell: Never}
	c.n++
	c.settle()
}

// Ring opens the gate of a job at a time.
func (c *Core) Ring(at Time, token uint32) {
	for i := range c.jobs[:c.n] {
		if j := &c.jobs[i]; j.Token == token && j.Gated && j.bell == Never {
			j.bell = at
			c.settle()
			return
		}
	}
	panic(fmt.Sprintf("sim: core %d has no gated token %d to ring for", c.Index, token))
}

// settle works out the times of the jobs that nothing holds up any more, and runs
// them.
func (c *Core) settle() {
	for c.known < c.n {
		j := &c.jobs[c.known]
		if j.Gated && j.bell == Never {
			return
		}
		c.known++
		c.run(j)
	}
}

func (c *Core) run(j *job) {
	chip := c.chip
	j.receive = max(j.written+chip.cost(CoreReceive), c.free)
	j.ack = j.receive + chip.cost(CorePayload)
	if j.Gated {
		j.ack = max(j.ack, j.bell+chip.cost(CoreDoorbell))
	}
	c.writer.Reserve()
	j.start = j.ack + chip.cost(CoreStart)
	j.end = j.start + chip.Duration(max(j.Run(), 1))
	if j.Ran != nil {
		j.Ran(j.start, j.end)
	}
	j.fin = j.end + chip.cost(CoreFinish)
	c.free = j.fin
	if c.writer != nil {
		c.free += chip.cost(CoreRecord)
	}
	c.writer.Commit(j.Task, j.Token, chip.Counter(j.receive), chip.Counter(j.start), chip.Counter(j.end))
}

// Cond is what COND shows at a time: the token of the last task that the core has
// acknowledged, and whether it has finished. Not ok: it has acknowledged none.
func (c *Core) Cond(at Time) (token uint32, fin, ok bool) {
	for i := c.known - 1; i >= 0; i-- {
		if j := &c.jobs[i]; j.ack <= at {
			return j.Token, j.fin <= at, true
		}
	}
	return 0, false, false
}

// Next is when COND changes next after a time, as far as is known; Never if that
// takes something else to happen first.
func (c *Core) Next(after Time) Time {
	for i := range c.jobs[:c.known] {
		for _, t := range []Time{c.jobs[i].ack, c.jobs[i].fin} {
			if t > after {
				return t
			}
		}
	}
	return Never
}
