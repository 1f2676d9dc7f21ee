package producer

import "swimlane/internal/abi"

// AsyncPoll compacts the polls of a resolver thread into records that end where
// other phases begin (spec/collector.md §2.12). A runtime that writes a record
// per poll has no use for it.
type AsyncPoll struct {
	thread   *Thread
	sample   func() [abi.QueueShapes]int16
	active   bool
	cycles   uint64
	resolved uint32
	start    [abi.QueueShapes]int16
}

// NewAsyncPoll compacts the polls of a thread; sample gives the depths of the
// shared queues.
func NewAsyncPoll(t *Thread, sample func() [abi.QueueShapes]int16) *AsyncPoll {
	return &AsyncPoll{thread: t, sample: sample}
}

// Poll adds a poll from t0 to t1 that resolved so many waits or failed. If it
// did either, the record ends with it.
func (a *AsyncPoll) Poll(iter uint32, t0, t1 uint64, resolved uint32, failed bool) {
	if a.thread.Level() < abi.SchedPhases {
		return
	}
	if !a.active {
		a.active, a.start = true, a.sample()
	}
	a.cycles += t1 - t0
	a.resolved += resolved
	if resolved > 0 || failed {
		a.Flush(iter, t1)
	}
}

// Flush ends the record if there are polls: before the first slot of a resolve
// pass, before the first dummy of a dummy pass, and when the thread leaves.
func (a *AsyncPoll) Flush(iter uint32, end uint64) {
	if !a.active {
		return
	}
	a.thread.SchedPhase(&abi.SchedPhase{
		StartTime: end - min(a.cycles, end), EndTime: end, LoopIter: iter, Kind: abi.AsyncPoll, TasksProcessed: a.resolved,
		SharedDepthAtStart: a.start, SharedDepthAtEnd: a.sample(),
	})
	a.active, a.cycles, a.resolved = false, 0, 0
}
