package tmr

import "swimlane/internal/fanin"

// Sizes of the runtime's memory (spec/collector.md §12.1).
const (
	Rings       = 4
	ringHeap    = 256 << 20
	outputAlign = 1024
	dummyBatch  = 8
	releaseList = 256
)

// Limits are what there is room for beside outputs; 0 stands for the runtime's own
// size. Who submits waits while there is none.
type Limits struct {
	Window    int // tasks of a ring that are not consumed; 16384
	DepPool   int // edges that tasks of a ring have to producers, until they are consumed; 16384
	TensorMap int // registered slices, until their tasks are consumed; 65536
	Ready     int // tasks in a queue; 65536
}

func (l *Limits) fill() {
	for limit, own := range map[*int]int{&l.Window: 16384, &l.DepPool: 16384, &l.TensorMap: fanin.DefaultEntries, &l.Ready: 65536} {
		if *limit <= 0 {
			*limit = own
		}
	}
}

// ring holds the tasks of a depth of scopes until they are consumed, in the order
// in which they were submitted, and the memory of their outputs.
type ring struct {
	index int
	tasks []*task // from the oldest that is not consumed
	next  uint32  // local id
	heap  heap
	edges int // entries of the dependency pool that are in use
}

// alive is the local id of the oldest task that is not consumed: the ring's
// last_task_alive (spec/collector.md §12.1).
func (r *ring) alive() uint32 { return r.next - uint32(len(r.tasks)) }

// heap gives out memory in a circle. Positions count on and on.
type heap struct {
	base, size uint64
	head, tail uint64 // positions: of what is in use
}

// take is the address of n bytes. Not ok: there is no room until more is released.
func (h *heap) take(n uint64) (addr uint64, ok bool) {
	if h.head == h.tail && h.tail%h.size != 0 { // nothing is in use: begin at the start
		h.tail += h.size - h.tail%h.size
		h.head = h.tail
	}
	at := h.tail
	if at%h.size+n > h.size { // it must not be split
		at += h.size - at%h.size
	}
	if n > h.size || at+n-h.head > h.size {
		return 0, false
	}
	h.tail = at + n
	return h.base + at%h.size, true
}

// retire forgets the consumed tasks at the beginning and tells whether there were
// any.
func (r *ring) retire() bool {
	n := 0
	for n < len(r.tasks) && r.tasks[n].state == consumed {
		r.heap.head = r.tasks[n].heapEnd
		r.edges -= r.tasks[n].edges
		r.tasks[n] = nil
		n++
	}
	r.tasks = r.tasks[n:]
	return n > 0
}
