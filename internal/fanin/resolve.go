package fanin

import (
	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// Source is how a dependency came about.
type Source uint8

// The sources of a row.
const (
	Explicit  Source = iota // declared
	Creator                 // the producer made the argument's storage
	TensorMap               // the producer wrote to what the argument uses
)

func (s Source) String() string { return [...]string{"explicit", "creator", "tensormap"}[s] }

// Row is one reason for a task to depend on another.
type Row struct {
	Source   Source
	Overlap  Overlap     // of a TensorMap row
	Flags    abi.DepKind // what the task wants of the producer
	Arg      int         // slot of the argument, −1 of an Explicit row
	Producer uint64
	Slice    *Slice // the registered one, of a TensorMap row
}

// Resolve finds what a submitted task depends on, and takes slices that it
// supersedes out of the map. The result has each live producer once, in the order
// in which they were found, with all that is wanted of it; it is valid until the
// next call. Then row, unless it is nil, gets each row in the order of
// spec/deps.md §3.3; a row is valid until row returns. The task itself becomes a
// producer by [Map.Register].
func (m *Map) Resolve(s *producer.Submit, row func(*Row)) []producer.Dep {
	m.named.reset()
	m.rows = m.rows[:0]
	collect := row != nil
	for _, d := range s.Deps {
		if !m.isLive(d.Producer) {
			continue
		}
		if d.Kind == 0 {
			d.Kind = abi.DepWait | abi.DepRetain
		}
		m.once(Row{Source: Explicit, Flags: d.Kind, Arg: -1, Producer: d.Producer}, collect)
	}
	if !s.ManualScope {
		for i := range s.Args {
			m.argument(&s.Args[i], i, collect)
		}
	}
	if collect {
		for i := range m.rows {
			row(&m.rows[i])
		}
	}
	return m.named.deps
}

// argument does the creator step and the lookup step of an argument.
func (m *Map) argument(a *producer.Arg, slot int, collect bool) {
	if a.Type == abi.ArgOutput {
		return
	}
	t := &a.Tensor
	if t.OwnerTaskID != abi.NoOwner && m.isLive(t.OwnerTaskID) {
		m.once(Row{Source: Creator, Flags: abi.DepWait | abi.DepRetain, Arg: slot, Producer: t.OwnerTaskID}, collect)
	}
	if a.Type != abi.ArgInput && a.Type != abi.ArgInOut || t.ManualDep != 0 {
		return
	}
	home := m.find(t.BufferAddr)
	if home < 0 {
		return
	}
	m.arg.set(t)
	b := &m.buffers[home]
	if b.entries > many {
		if !b.indexed {
			m.index(b)
		}
		if found, ok := m.near(b, &m.arg); ok {
			for _, at := range found {
				m.compare(a, slot, at, collect)
			}
			return
		}
	}
	for at := b.newest; at >= 0; {
		next := m.pool[at].next
		m.compare(a, slot, at, collect)
		at = next
	}
}

// compare looks an argument up in one entry of its buffer.
func (m *Map) compare(a *producer.Arg, slot int, at int32, collect bool) {
	t, e := &a.Tensor, &m.pool[at]
	if m.live != nil && !m.live(e.producer) {
		m.remove(at)
		return
	}
	if t.Version <= e.version && (e.end <= t.StartOffset || m.arg.end <= e.start) {
		return // as the test would find, but sooner
	}
	o := m.arg.overlap(&m.slices[at])
	if o == NoOverlap {
		return
	}
	r := Row{Source: TensorMap, Overlap: o, Flags: abi.DepWait, Arg: slot, Producer: e.producer, Slice: &m.slices[at].Slice}
	m.named.name(r.Producer, r.Flags, len(m.rows))
	if collect {
		m.rows = append(m.rows, r)
	}
	if o == Covered && a.Type == abi.ArgInOut {
		m.remove(at)
	}
}

// once adds a row unless its producer is named already. Then what it wants is
// wanted by the row that named the producer.
func (m *Map) once(r Row, collect bool) {
	first, before := m.named.name(r.Producer, r.Flags, len(m.rows))
	switch {
	case !collect:
	case before:
		m.rows[first].Flags |= r.Flags
	default:
		m.rows = append(m.rows, r)
	}
}

// named are the producers of one task. It keeps its memory from task to task.
type named struct {
	deps  []producer.Dep
	first []int   // the row that named it
	slots []place // a hash table of deps, if there are more than few
	life  uint32  // of the slots in use; others count as empty
}

type place struct {
	life uint32
	dep  int32
}

// few producers are searched one after another.
const few = 16

func (n *named) reset() {
	n.deps, n.first = n.deps[:0], n.first[:0]
}

// name adds what is wanted of a producer. If it was named before, first is the
// row that did so.
func (n *named) name(producerID uint64, kind abi.DepKind, row int) (first int, before bool) {
	if i := n.find(producerID); i >= 0 {
		n.deps[i].Kind |= kind
		return n.first[i], true
	}
	n.deps = append(n.deps, producer.Dep{Producer: producerID, Kind: kind})
	n.first = append(n.first, row)
	switch count := len(n.deps); {
	case count == few+1 || count > few && 2*count > len(n.slots):
		n.rehash()
	case count > few:
		n.put(count - 1)
	}
	return row, false
}

func (n *named) find(producerID uint64) int {
	if len(n.deps) <= few {
		for i := range n.deps {
			if n.deps[i].Producer == producerID {
				return i
			}
		}
		return -1
	}
	for at := n.home(producerID); n.slots[at].life == n.life; at = (at + 1) & (len(n.slots) - 1) {
		if i := int(n.slots[at].dep); n.deps[i].Producer == producerID {
			return i
		}
	}
	return -1
}

// rehash empties the table, makes it large enough, and puts in all producers.
func (n *named) rehash() {
	size := max(len(n.slots), 4*few)
	for size < 2*len(n.deps) {
		size *= 2
	}
	if n.life++; size != len(n.slots) || n.life == 0 {
		n.slots, n.life = make([]place, size), 1
	}
	for i := range n.deps {
		n.put(i)
	}
}

func (n *named) put(i int) {
	at := n.home(n.deps[i].Producer)
	for n.slots[at].life == n.life {
		at = (at + 1) & (len(n.slots) - 1)
	}
	n.slots[at] = place{life: n.life, dep: int32(i)}
}

func (n *named) home(producerID uint64) int {
	return int(producerID*0x9E3779B97F4A7C15>>32) & (len(n.slots) - 1)
}
