package producer

import "swimlane/internal/abi"

// SwitchTasks changes the AicpuTask buffer of a core, full or not.
func SwitchTasks(t *Thread, core int) {
	w := t.Tasks(core)
	w.pool.switchBuffer(&t.port)
	w.bind()
}

// PopTasks takes an AicpuTask buffer for a core as generation seq.
func PopTasks(t *Thread, core int, seq uint32) bool { return t.cores[core].tasks.pop(&t.port, seq) }

// HasTasks tells whether the thread has a buffer for a core's AicpuTask records at hand.
func HasTasks(t *Thread, core int) bool {
	w := t.Tasks(core)
	return w.buf != w.pool.scratch
}

// AcquirePhase takes the slot of a phase record and leaves it unwritten.
func AcquirePhase(t *Thread) *abi.SchedPhase {
	slot, _ := t.sched.acquire(&t.port)
	return &t.sched.buf.Records[slot]
}
