package hbg

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// schedulerLane is the lane of a cluster that schedules it: its lower-numbered AIV.
const schedulerLane = 1

// aicoreWorker is an executor: a core with two slots, which runs what is published
// there in the order in which it was. Nothing else decides what it does, so all times
// of a task are known as soon as it is published and those before it are known. Only
// the core that schedules is different: it runs a kernel when it comes to it.
type aicoreWorker struct {
	core  *sim.Core
	lane  int // of its cluster
	own   bool
	jobs  []*aicoreJob // oldest first, up to abi.PendingSlots
	taken [abi.PendingSlots]bool
	free  sim.Time // when it looks for the next one
}

// aicoreJob is a subtask in a slot.
type aicoreJob struct {
	task  *aicoreTask
	block int
	lane  int // the kernel's
	slot  int // of the worker
	open  bool
	known bool     // its times are
	seen  sim.Time // ready_observe
	start sim.Time
	end   sim.Time
	fin   sim.Time // when its slot shows that it has finished
}

func (w *aicoreWorker) idle() bool { return len(w.jobs) == 0 }
func (w *aicoreWorker) room() bool { return len(w.jobs) < abi.PendingSlots }

// put fills a slot of a worker, which must have room. Its core does not see it before
// it is published.
func (r *aicoreRun) put(w *aicoreWorker, t *aicoreTask, block int, state uint64) *aicoreJob {
	lane := w.lane
	if t.of.Form.Shape == abi.ShapeAIV { // any AIV plays the first one
		lane = 1
	}
	j := &aicoreJob{task: t, block: block, lane: lane}
	for w.taken[j.slot] {
		j.slot++
	}
	w.taken[j.slot] = true
	w.jobs = append(w.jobs, j)
	s := r.slot(w.core.Index, j.slot)
	s.TaskID, s.KernelID, s.SubtaskSlot, s.PendingSlot = int64(t.index), uint16(t.of.Form.Kernels[lane].ID), uint8(lane), uint8(j.slot)
	s.BlockNum, s.BlockIdx = uint16(t.of.Form.Blocks), uint32(block)
	s.Generation++
	publish(s, state)
	return j
}

// publish writes the publication word of a slot: the state in the low byte, the
// generation above it. The specification leaves open how the two are combined.
func publish(s *abi.DispatchSlot, state uint64) { s.Publication = uint64(s.Generation)<<8 | state }

// open lets the core see a slot at a time.
func (r *aicoreRun) open(w *aicoreWorker, j *aicoreJob, at sim.Time) {
	j.open = true
	publish(r.slot(w.core.Index, j.slot), abi.PublicationReady)
	if w.own {
		return
	}
	// Those before it are known: nothing is published behind a gate that is not open.
	r.runJob(w, j, max(at+r.cost(sim.CoreSlotObserve), w.free), at)
}

// runJob works out, now, the times of a job that its core sees at a time, and computes.
func (r *aicoreRun) runJob(w *aicoreWorker, j *aicoreJob, seen, now sim.Time) {
	j.seen, j.start = seen, seen+r.cost(sim.CoreSlotStart)
	j.end = j.start + r.Chip.Duration(j.task.kernel(r.Space, j.lane, j.block))
	r.Hazards.Ran(j.task.order, j.task.of.Form.Kernels[j.lane].Name, j.start, j.end, now)
	j.fin = j.end + r.cost(sim.CoreSlotFinish)
	if r.Level >= abi.TaskTiming {
		s := r.slot(w.core.Index, j.slot)
		s.Staged.Generation, s.Staged.ReadyObserve = uint64(s.Generation), r.Chip.Counter(j.seen)
		s.Staged.KernelStart, s.Staged.KernelEnd = r.Chip.Counter(j.start), r.Chip.Counter(j.end)
		j.fin += r.cost(sim.CoreStage)
	}
	w.free, j.known = j.fin, true
}

// done is the oldest job of a worker if its slot shows at a time that it has
// finished, or else nil.
func (w *aicoreWorker) done(at sim.Time) *aicoreJob {
	if w.idle() || !w.jobs[0].known || w.jobs[0].fin > at {
		return nil
	}
	return w.jobs[0]
}

// take empties the slot of the oldest job of a worker.
func (r *aicoreRun) take(w *aicoreWorker) {
	j := w.jobs[0]
	w.jobs, w.taken[j.slot] = w.jobs[1:], false
	s := r.slot(w.core.Index, j.slot)
	s.TaskID = abi.EmptySlot
	publish(s, abi.PublicationFree)
}
