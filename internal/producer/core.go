package producer

import (
	"sync/atomic"

	"swimlane/internal/abi"
)

// noSeq is a sequence that no buffer has at the start of a run.
const noSeq = 0xFFFFFFFF

// Core is the writer of one AICore (spec/collector.md §2.3). Nil records nothing.
type Core struct {
	space    abi.Space
	entry    *atomic.Uint64  // of the rotation table
	head     *abi.ActiveHead // nil until the entry was read
	seq      uint32          // of the buffer that is being filled
	slots    []abi.AicoreTask
	used     int
	reserved *abi.AicoreTask
	lost     uint64
	faults   faults
}

// Reserve takes the slot of the task that the core has received. The core calls
// it before it writes ACK, so that the ACK of a task proves that the record of
// the task before has landed.
func (c *Core) Reserve() {
	if c == nil {
		return
	}
	c.reserve()
}

func (c *Core) reserve() {
	if c.head == nil || c.head.CurrentBufSeq.Load() != c.seq {
		c.follow()
	}
	used := c.used
	if used >= len(c.slots) {
		c.reserved = nil
		c.lost++
		return
	}
	c.reserved = &c.slots[used]
	c.used = used + 1
}

// follow finds the core's head the first time, and then takes over the buffer
// that the AICPU put there. The sequence is read first: the AICPU stores the
// pointer before it.
func (c *Core) follow() {
	if c.head == nil && !c.resolve() {
		return
	}
	seq := c.head.CurrentBufSeq.Load()
	if seq == c.seq {
		return
	}
	c.seq, c.used, c.slots = seq, 0, nil
	addr := c.head.CurrentBufPtr.Load()
	if addr == 0 {
		return
	}
	shape := &abi.Buffers[abi.KindAicoreTask]
	mem, err := c.space.At(addr, shape.Size)
	if err != nil || addr%abi.Align != 0 {
		c.faults.add("the core's buffer is at %#x: expected %d bytes of the device's memory from a multiple of %d; records are lost until the next buffer", addr, shape.Size, abi.Align)
		return
	}
	c.slots = abi.Views[abi.AicoreTask](mem, uint64(shape.Records), shape.Capacity)
}

func (c *Core) resolve() bool {
	addr := c.entry.Load()
	if addr == 0 {
		return false
	}
	mem, err := c.space.At(addr, abi.PoolSize)
	if err != nil || addr%abi.Align != 0 {
		c.faults.add("the rotation table names the pool %#x: expected %d bytes of the device's memory from a multiple of %d; records are lost", addr, abi.PoolSize, abi.Align)
		return false
	}
	c.head = abi.View[abi.ActiveHead](mem, 0)
	return true
}

// Commit writes the record of the task whose slot was reserved, to that slot
// even if the AICPU has changed the buffer since. The core calls it after it
// wrote FIN. Times are cycles: when the token was seen, and around the kernel.
func (c *Core) Commit(task uint64, token uint32, received, start, end uint64) {
	if c == nil || c.reserved == nil {
		return
	}
	r := c.reserved
	r.StartTime, r.EndTime, r.TaskTokenRaw = start, end, task
	r.RegTaskID, r.ReceiveToStartCycles = token, uint32(start-received)
	c.reserved = nil
}

// Lost is how many tasks found no slot. The protocol does not count them.
func (c *Core) Lost() uint64 {
	if c == nil {
		return 0
	}
	return c.lost
}

// Faults is how many things went wrong that the writer could not mend, and the
// first of them.
func (c *Core) Faults() (count uint64, first error) {
	if c == nil {
		return 0, nil
	}
	return c.faults.count, c.faults.first
}
