package collector

import (
	"fmt"

	"swimlane/internal/abi"
)

// module is one diagnostic on the exchange: the swimlane, or dep_gen. It says
// where things are and takes what was collected (spec/collector.md §3.4).
type module interface {
	name() string
	header() *abi.QueueHeader
	freeQueue() abi.FreeQueueLayout
	kinds() []kindSpec
	maxShards() int

	// pools are the free queues of the module, in the order of a pass over all of
	// them: kind 0 of each core, and so on. Indices are dense per kind.
	pools() []poolSpec
	// live tells which of a kind's pools take part, from counts that the device
	// may have written since.
	live(p *port) (func(kind, index int) bool, error)
	// resolve finds the pool that an entry is for, as an index into pools; -1 and
	// an error if there is none.
	resolve(e *abi.ReadyEntry) (pool int, err error)
	// collect takes the records of a buffer. It must not keep them. When it
	// returns true the buffer stays as it is until the device has stopped.
	collect(shard int, d *handoff) (hold bool)
}

// kindSpec is one kind of buffers.
type kindSpec struct {
	name   string
	buffer abi.Buffer
	batch  int // buffers per allocation where a free queue is empty
	target func(shards int) int
	option string // the depth option that gives this kind more buffers
}

// poolSpec is where the free queue of a pool is.
type poolSpec struct {
	kind, index int
	pool        uint64 // offset in the region
	queue       uint64 // of its free queue
	current     uint64 // of current_buf_ptr
}

// handoff is a full buffer on its way to the module.
type handoff struct {
	buf   *buffer
	pool  int
	kind  int
	index int
	seq   uint32
}

// records are the records that the buffer of a hand-off counts. A count beyond
// the capacity is cut.
func (h *handoff) records(spec *kindSpec) abi.Mem {
	b := &spec.buffer
	n := min(int(*h.buf.host.U32(uint64(b.Count))), b.Capacity)
	return h.buf.host[b.Records : b.Records+n*b.RecordSize]
}

// Severity of a message.
type Severity int

// The severities.
const (
	Info Severity = iota
	Warning
	Error
)

func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	}
	return "error"
}

// Logger receives what happens while the collector works. It is called from
// several goroutines.
type Logger func(s Severity, text string)

func (l Logger) printf(s Severity, format string, args ...any) {
	if l != nil {
		l(s, fmt.Sprintf(format, args...))
	}
}
