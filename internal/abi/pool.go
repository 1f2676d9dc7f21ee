package abi

import "sync/atomic"

// ActiveHead is the buffer that a pool fills, one cache line at the start of the
// pool (spec/device-abi.md §4). The AICPU writes it. CurrentBufPtr and
// CurrentBufSeq are published to the core (pointer before sequence); the
// counters are the AICPU's own until it has stopped.
type ActiveHead struct {
	CurrentBufPtr      atomic.Uint64 `abi:"current_buf_ptr"`      // device address, 0 = none
	CurrentBufSeq      atomic.Uint32 `abi:"current_buf_seq"`      // generation of the buffer
	TotalRecordCount   uint32        `abi:"total_record_count"`   // attempts
	DroppedRecordCount uint32        `abi:"dropped_record_count"` // of these, lost and counted
	_                  [44]byte      `abi:"reserved"`
}

// FreeQueue hands empty buffers to the device: a ring of one producer (host) and
// one consumer (AICPU) with free-running indices (spec/device-abi.md §4).
type FreeQueue struct {
	BufferPtrs [SlotCount]atomic.Uint64 `abi:"buffer_ptrs"`
	Head       atomic.Uint32            `abi:"head"` // consumer
	Tail       atomic.Uint32            `abi:"tail"` // producer
	_          [88]byte                 `abi:"reserved"`
}

// Pool is the state of one instance of a kind, 192 B.
type Pool struct {
	Head ActiveHead `abi:"head"`
	Free FreeQueue  `abi:"free"`
}

// PoolSize is the stride of every pool array; the others are offsets in a pool.
const (
	PoolSize        = 192
	PoolTotalOffset = 12 // of the two counters, which are adjacent
	PoolFreeOffset  = 64 // of the free queue
)

// FreeQueueLayout gives the offsets in a free queue of some number of slots.
type FreeQueueLayout struct{ Slots int }

// Slot is the offset of the slot that a free-running index uses.
func (l FreeQueueLayout) Slot(index uint32) uint64 { return uint64(index%uint32(l.Slots)) * 8 }

// Head is the offset of the consumer's index.
func (l FreeQueueLayout) Head() uint64 { return uint64(l.Slots) * 8 }

// Tail is the offset of the producer's index.
func (l FreeQueueLayout) Tail() uint64 { return uint64(l.Slots)*8 + 4 }

// ReadyEntry hands a full buffer to the host, 32 B (spec/device-abi.md §5).
type ReadyEntry struct {
	CoreIndex uint32  `abi:"core_index"` // the core of a task buffer, the pool of a phase buffer
	Kind      Kind    `abi:"kind"`
	BufferPtr uint64  `abi:"buffer_ptr"`
	BufferSeq uint32  `abi:"buffer_seq"`
	_         uint32  `abi:"reserved0"`
	_         [8]byte `abi:"reserved1"`
}

// ReadyEntrySize is the stride of a ready queue.
const ReadyEntrySize = 32

// Backpressure is how host and device slow each other down, 16 B
// (spec/device-abi.md §6). Flags are 0 or 1.
type Backpressure struct {
	RqFreezeActive atomic.Uint32 `abi:"rq_freeze_active"` // host → device: the push gate is closed
	RqContended    atomic.Uint32 `abi:"rq_contended"`     // device → host: a ready queue was full
	FqFreezeActive atomic.Uint32 `abi:"fq_freeze_active"` // host → device: the pop gate is closed
	FqContended    atomic.Uint32 `abi:"fq_contended"`     // device → host: a free queue was empty
}

// Offsets of the flags in a backpressure block.
const (
	RqFreezeActive = 0
	RqContended    = 4
	FqFreezeActive = 8
	FqContended    = 12
)
