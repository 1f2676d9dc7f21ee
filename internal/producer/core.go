package producer

import (
	"sync/atomic"

	"swimlane/internal/abi"
)

// noSeq is a sequence that no buffer has at the start of a run.
const noSeq = 0xFFFFFFFF

// Core is the writer of one AICore (spec/collector.md §2.3). Nil records nothing.
type Core struct {
	current *atomic.Uint32        // current_buf_seq; unknown until the core has found its head
	buf     *abi.AicoreTaskBuffer // that is being filled
	seq     uint32                // of it
	used    uint32                // tasks that asked for a slot of it; the last one has slot used-1 if there is such a slot
	done    uint32                // used, when a record was committed last
	index   uint32                // of the core
	*coreRest
	_ [24]byte // a cache line for each core, which may have a goroutine of its own
}

// coreRest is what a record does not touch of a core.
type coreRest struct {
	unknown atomic.Uint32
	head    *abi.ActiveHead // nil until the entry was read
	entry   *atomic.Uint64  // of the rotation table
	space   abi.Space
	lost    uint64
	faults  faults
}

func newCore(index int, space abi.Space, entry *atomic.Uint64) *Core {
	c := &Core{seq: noSeq, index: uint32(index), coreRest: &coreRest{space: space, entry: entry}}
	c.current = &c.unknown
	return c
}

// Reserve takes the slot of the task that the core has received. The core calls
// it before it writes ACK, so that the ACK of a task proves that the record of
// the task before has landed.
func (c *Core) Reserve() {
	if c == nil {
		return
	}
	if c.current.Load() != c.seq {
		c.follow()
	}
	c.used++
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
	c.seq, c.used, c.done, c.buf = seq, 0, 0, nil
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
	c.buf = abi.View[abi.AicoreTaskBuffer](mem, 0)
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
	c.current = &c.head.CurrentBufSeq
	return true
}

// Commit writes the record of the task whose slot was reserved, to that slot
// even if the AICPU has changed the buffer since. The core calls it after it
// wrote FIN. Times are cycles: when the token was seen, and around the kernel.
func (c *Core) Commit(task uint64, token uint32, received, start, end uint64) {
	if c == nil {
		return
	}
	c.commit(task, token, received, start, end)
}

func (c *Core) commit(task uint64, token uint32, received, start, end uint64) {
	if c.done == c.used { // nothing is reserved
		return
	}
	n := c.used - 1
	c.done = c.used
	if c.buf == nil || n >= abi.AicoreBufferSize {
		c.lost++
		return
	}
	r := &c.buf.Records[n]
	r.EndTime, r.TaskTokenRaw = end, task
	r.RegTaskID, r.ReceiveToStartCycles = token, uint32(start-received)
	r.StartTime = start // last: a slot without it counts as not written
	if (n+c.index)%stride == 0 && n+ahead < abi.AicoreBufferSize {
		abi.PrefetchWrite(&c.buf.Records[n+ahead])
	}
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
