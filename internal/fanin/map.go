package fanin

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// The sizes of the runtime's map (spec/collector.md §12.1).
const (
	DefaultEntries = 65536
	DefaultBuckets = 4096
)

// ErrFull says that every entry of the map is of a live producer: wait until one
// retires.
var ErrFull = errors.New("the tensor map is full")

// Options shape a map.
type Options struct {
	Entries int                        // registered slices it holds at most; 0: DefaultEntries
	Buckets int                        // a power of two; 0: DefaultBuckets
	Live    func(producer uint64) bool // false: retired, which is for ever; nil: none retires
}

// Map remembers which task wrote last to which slice of which buffer. It is for
// one goroutine.
type Map struct {
	live    func(uint64) bool
	limit   int      // entries at most
	shift   int      // of a hash, to the number of its bucket
	buckets []int32  // a buffer, −1: none
	buffers []buffer // with entries, or not in use
	spare   int32    // first buffer that is not in use, −1: none
	pool    []entry  // grows up to limit
	slices  []region // of the entries
	free    int32    // first entry that is not in use, −1: none
	used    int
	hand    int // where the search for retired producers goes on

	nodes []node // of entries in indexes
	age   uint64 // of the newest of them
	found []int32

	arg   region // scratch of Resolve
	rows  []Row
	named named
}

// buffer is one to which slices are registered.
type buffer struct {
	addr        uint64
	next        int32 // of the same bucket, or not in use; −1: none
	newest      int32 // entry
	entries     int
	indexed     bool
	generations []generation // the index
}

// entry is a registered slice, or rather what most lookups need to pass it by:
// the rest is beside it. Entries of a buffer are linked, newest first.
type entry struct {
	start, end uint64 // of the region
	producer   uint64
	version    int32
	buffer     int32
	next, prev int32 // −1: none; next also links entries that are not in use
	inUse      bool
}

// New makes an empty map.
func New(o Options) (*Map, error) {
	if o.Entries == 0 {
		o.Entries = DefaultEntries
	}
	if o.Buckets == 0 {
		o.Buckets = DefaultBuckets
	}
	if o.Entries < 1 || o.Entries > math.MaxInt32 {
		return nil, fmt.Errorf("a tensor map of %d entries cannot be: expected 1 to %d", o.Entries, math.MaxInt32)
	}
	if o.Buckets < 1 || o.Buckets > math.MaxInt32 || o.Buckets&(o.Buckets-1) != 0 {
		return nil, fmt.Errorf("a tensor map of %d buckets cannot be: expected a power of two up to %d", o.Buckets, 1<<30)
	}
	m := &Map{live: o.Live, limit: o.Entries, shift: 64 - bits.TrailingZeros(uint(o.Buckets)), buckets: make([]int32, o.Buckets), free: -1, spare: -1}
	for i := range m.buckets {
		m.buckets[i] = -1
	}
	return m, nil
}

// Len is how many entries are in use; those of retired producers count until
// they are met.
func (m *Map) Len() int { return m.used }

func (m *Map) isLive(producer uint64) bool { return m.live == nil || m.live(producer) }

func (m *Map) bucket(addr uint64) *int32 { return &m.buckets[addr*0x9E3779B97F4A7C15>>m.shift] }

// registers tells whether an argument makes its task a producer that others find.
func registers(a *producer.Arg) bool {
	return (a.Type == abi.ArgInOut || a.Type == abi.ArgOutputExisting) && a.Tensor.ManualDep == 0
}

// Registers is how many entries a submit takes.
func Registers(s *producer.Submit) (n int) {
	if s.ManualScope {
		return 0
	}
	for i := range s.Args {
		if registers(&s.Args[i]) {
			n++
		}
	}
	return n
}

// Register makes the task the newest producer of what it writes, after
// [Map.Resolve]. If there is no room it registers nothing and returns an
// [ErrFull]; once a producer has retired it can be called again.
func (m *Map) Register(s *producer.Submit) error {
	need := Registers(s)
	if need > m.limit {
		return fmt.Errorf("task %#x writes to %d slices, and the tensor map holds %d in all; make it larger", s.TaskID, need, m.limit)
	}
	if m.limit-m.used < need {
		m.reclaim(need)
	}
	if room := m.limit - m.used; room < need {
		return fmt.Errorf("%w: task %#x needs %d entries, and %d of %d are free", ErrFull, s.TaskID, need, room, m.limit)
	}
	if need == 0 {
		return nil
	}
	for i := range s.Args {
		if registers(&s.Args[i]) {
			m.insert(&s.Args[i].Tensor, s.TaskID)
		}
	}
	return nil
}

func (m *Map) insert(t *abi.Tensor, producer uint64) {
	at := m.free
	if at >= 0 {
		m.free = m.pool[at].next
	} else {
		at = int32(len(m.pool))
		m.pool, m.slices = append(m.pool, entry{}), append(m.slices, region{})
	}
	m.used++
	r, home := &m.slices[at], m.home(t.BufferAddr)
	b := &m.buffers[home]
	r.set(t)
	m.pool[at] = entry{
		start: t.StartOffset, end: r.end, version: t.Version,
		producer: producer, buffer: home, inUse: true, next: b.newest, prev: -1,
	}
	if b.newest >= 0 {
		m.pool[b.newest].prev = at
	}
	b.newest = at
	b.entries++
	if b.indexed {
		m.plant(b, at)
	}
}

// find is a buffer with entries, −1 if there is none.
func (m *Map) find(addr uint64) int32 {
	at := *m.bucket(addr)
	for at >= 0 && m.buffers[at].addr != addr {
		at = m.buffers[at].next
	}
	return at
}

// home is a buffer that is about to get an entry.
func (m *Map) home(addr uint64) int32 {
	at := m.find(addr)
	if at >= 0 {
		return at
	}
	if at = m.spare; at >= 0 {
		m.spare = m.buffers[at].next
	} else {
		at = int32(len(m.buffers))
		m.buffers = append(m.buffers, buffer{})
	}
	b, head := &m.buffers[at], m.bucket(addr)
	*b = buffer{addr: addr, next: *head, newest: -1, generations: b.generations[:0]}
	*head = at
	return at
}

// leave takes a buffer that has no entries any more out of its bucket.
func (m *Map) leave(at int32) {
	link := m.bucket(m.buffers[at].addr)
	for *link != at {
		link = &m.buffers[*link].next
	}
	*link = m.buffers[at].next
	m.buffers[at].next, m.spare = m.spare, at
}

// remove takes an entry out of its buffer. What it says stays until the next
// insert.
func (m *Map) remove(at int32) {
	e := &m.pool[at]
	b := &m.buffers[e.buffer]
	if b.indexed {
		m.uproot(b, at)
	}
	if e.prev >= 0 {
		m.pool[e.prev].next = e.next
	} else {
		b.newest = e.next
	}
	if e.next >= 0 {
		m.pool[e.next].prev = e.prev
	}
	if b.entries--; b.entries == 0 {
		m.leave(e.buffer)
	}
	e.inUse, e.next = false, m.free
	m.free = at
	m.used--
}

// reclaim looks for entries of retired producers until so many are free, and
// goes round at most once.
func (m *Map) reclaim(need int) {
	if m.live == nil {
		return
	}
	for range len(m.pool) {
		if m.hand++; m.hand >= len(m.pool) {
			m.hand = 0
		}
		if e := &m.pool[m.hand]; e.inUse && !m.live(e.producer) {
			m.remove(int32(m.hand))
			if m.limit-m.used >= need {
				return
			}
		}
	}
}
