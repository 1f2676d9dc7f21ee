package collector

import (
	"cmp"
	"iter"
	"slices"

	"swimlane/internal/abi"
)

// store keeps the records that one collector shard has taken, as the device laid
// them out. One goroutine writes it. The zero value is empty.
type store struct {
	free       abi.Mem // what is left of the last slab
	allocated  int     // bytes of all slabs
	runs       []run
	deliveries []delivery
}

// run is a stretch of records of one buffer.
type run struct {
	kind  abi.Kind
	index uint32 // core or pool
	seq   uint32 // of the buffer
	slot  uint32 // of the first record in its buffer; kept for AicoreTask only
	data  abi.Mem
}

func (r *run) len() int { return len(r.data) / abi.Buffers[r.kind].RecordSize }

// delivery is what an AicoreTask buffer that was taken claimed to hold.
type delivery struct {
	core  uint32
	seq   uint32
	slots uint32
}

// A slab is a sixteenth of what is there already: the waste stays below that
// share however much is collected, and nothing is ever moved.
const (
	slabShare = 16
	slabStep  = 8 << 10 // what the allocator rounds large blocks to
	minSlab   = 32 << 10
	maxSlab   = 1 << 20
)

// add copies the records of a buffer, count × record size bytes of one of the four
// kinds, and tells how many it kept: all, but for AicoreTask slots that were never
// written. A buffer that comes twice under one sequence counts each slot once.
func (s *store) add(kind abi.Kind, index int, seq uint32, records abi.Mem) (kept int) {
	if kind != abi.KindAicoreTask {
		s.keep(run{kind: kind, index: uint32(index), seq: seq}, records)
		return len(records) / abi.Buffers[kind].RecordSize
	}
	// A start of 0 means that the slot was never written (spec/device-abi.md §2.2).
	const size = aicoreTaskSize
	n := len(records) / size
	s.deliveries = append(s.deliveries, delivery{uint32(index), seq, uint32(n)})
	for from := 0; from < n; {
		if emptySlot(records, from) {
			from++
			continue
		}
		to := from + 1
		for to < n && !emptySlot(records, to) {
			to++
		}
		s.keep(run{kind: kind, index: uint32(index), seq: seq, slot: uint32(from)}, records[from*size:to*size])
		kept += to - from
		from = to
	}
	return kept
}

// replace adds a second reading of an AicoreTask buffer in place of the first,
// which may have caught a record on its way (spec/collector.md §2.9).
func (s *store) replace(index int, seq uint32, records abi.Mem) {
	s.runs = slices.DeleteFunc(s.runs, func(r run) bool {
		return r.kind == abi.KindAicoreTask && r.index == uint32(index) && r.seq == seq
	})
	s.add(abi.KindAicoreTask, index, seq, records)
}

const aicoreTaskSize = 32

// emptySlot tells whether a slot has start_time 0. The load is atomic: a core that
// was not waited for may be writing its last record.
func emptySlot(records abi.Mem, slot int) bool {
	return records.Word64(uint64(slot*aicoreTaskSize)).Load() == 0
}

// keep copies a stretch of records, in as many runs as it takes slabs.
func (s *store) keep(r run, records abi.Mem) {
	size := abi.Buffers[r.kind].RecordSize
	for len(records) > 0 {
		n := min(len(records), len(s.free)/size*size)
		if n == 0 {
			slab := min(max(s.allocated/slabShare/slabStep*slabStep, minSlab), maxSlab)
			s.free = abi.NewMem(slab - abi.Align) // which takes so much more to be aligned
			s.allocated += slab
			continue
		}
		r.data = s.free[:n:n]
		copy(r.data, records)
		s.runs = append(s.runs, r)
		s.free, records = s.free[n:], records[n:]
		if r.kind == abi.KindAicoreTask {
			r.slot += uint32(n / size)
		}
	}
}

// rotate gives away what was collected and begins anew. What was given away
// shares nothing with what comes.
func (s *store) rotate() *store {
	full := *s
	*s = store{}
	return &full
}

// records are the merged records of one run. They do not change.
type records struct {
	lists  [abi.Kinds][][]run // by core or pool
	counts [abi.Kinds]int
	slots  SlotReport
}

// SlotReport says which slots of AicoreTask buffers did not become rows
// (spec/collector.md §5.2).
type SlotReport struct {
	Empty   []EmptySlots // by buffer; what the device counts as written and nobody saw
	Trimmed int          // records beyond what the core was given: an earlier life of the buffer
}

// EmptySlots are the slots of one buffer that should hold a record and read as
// never written.
type EmptySlots struct {
	Core    int
	Seq     uint32 // of the buffer
	Skipped int    // empty slots
	Count   int    // slots that the buffer was said to hold
}

// merge puts the runs of all shards in order, without copying a record: by kind,
// core or pool, and sequence of the buffer, so that the number of shards leaves no
// trace. Dispatched is the total of each core's AicoreTask pool; of a core that
// is not in it nothing is trimmed. Indexes beyond the run's cores and pools are
// ignored. The stores stay as they are: more may be added, and merged again.
func merge(stores []*store, cores, pools int, dispatched []uint32) records {
	var all []run
	var deliveries []delivery
	for _, s := range stores {
		all = append(all, s.runs...)
		deliveries = append(deliveries, s.deliveries...)
	}
	// Stable: a buffer that could not be handed over keeps its sequence for what comes next.
	slices.SortStableFunc(all, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.index, b.index), cmp.Compare(a.seq, b.seq), cmp.Compare(a.slot, b.slot))
	})
	var out records
	for kind := range abi.Kind(abi.Kinds) {
		n := pools
		if kind == abi.KindAicpuTask || kind == abi.KindAicoreTask {
			n = cores
		}
		out.lists[kind] = make([][]run, n)
	}
	for from := 0; from < len(all); {
		kind, index := all[from].kind, all[from].index
		to := from + 1
		for to < len(all) && all[to].kind == kind && all[to].index == index {
			to++
		}
		list := all[from:to:to]
		from = to
		if int(index) >= len(out.lists[kind]) {
			continue
		}
		if kind == abi.KindAicoreTask {
			list = out.trim(list, dispatched)
		}
		out.lists[kind][index] = list
		for i := range list {
			out.counts[kind] += list[i].len()
		}
	}
	out.reportEmpty(deliveries, dispatched)
	return out
}

// limit is how many records a core can have written into the buffer of a
// sequence, given what it was dispatched in all (spec/collector.md §5.2).
func limit(total, seq uint32) uint32 {
	left := int64(total) - int64(seq)*abi.AicoreBufferSize
	return uint32(min(max(left, 0), abi.AicoreBufferSize))
}

// limitOf is limit for a core; where its total is not known, all may be written.
func limitOf(dispatched []uint32, core, seq uint32) uint32 {
	if int(core) >= len(dispatched) {
		return abi.AicoreBufferSize
	}
	return limit(dispatched[core], seq)
}

// trim cuts the runs of one core, which are in order, at the limit of their
// buffer and where they repeat slots.
func (r *records) trim(list []run, dispatched []uint32) []run {
	kept := list[:0]
	var next, last uint32 // the first slot not seen yet, and the sequence of its buffer
	for i, v := range list {
		if i == 0 || v.seq != last {
			next, last = 0, v.seq
		}
		from, end := max(v.slot, next), v.slot+uint32(v.len())
		if from >= end {
			continue
		}
		next = end
		if most := max(limitOf(dispatched, v.index, v.seq), from); end > most {
			r.slots.Trimmed += int(end - most)
			end = most
		}
		if from < end {
			v.data = v.data[(from-v.slot)*aicoreTaskSize : (end-v.slot)*aicoreTaskSize]
			v.slot = from
			kept = append(kept, v)
		}
	}
	return kept
}

// reportEmpty finds the slots that should be in the lists and are not.
func (r *records) reportEmpty(deliveries []delivery, dispatched []uint32) {
	slices.SortFunc(deliveries, func(a, b delivery) int {
		return cmp.Or(cmp.Compare(a.core, b.core), cmp.Compare(a.seq, b.seq), cmp.Compare(b.slots, a.slots))
	})
	// Of several readings of one buffer the longest says what it holds.
	deliveries = slices.CompactFunc(deliveries, func(a, b delivery) bool { return a.core == b.core && a.seq == b.seq })
	for _, d := range deliveries {
		cores := r.lists[abi.KindAicoreTask]
		if int(d.core) >= len(cores) {
			continue
		}
		list := cores[d.core]
		from, _ := slices.BinarySearchFunc(list, d.seq, func(v run, seq uint32) int { return cmp.Compare(v.seq, seq) })
		empty := int(min(d.slots, limitOf(dispatched, d.core, d.seq)))
		for _, v := range list[from:] {
			if v.seq != d.seq {
				break
			}
			empty -= v.len()
		}
		if empty > 0 {
			r.slots.Empty = append(r.slots.Empty, EmptySlots{Core: int(d.core), Seq: d.seq, Skipped: empty, Count: int(d.slots)})
		}
	}
}

// stretches are the records of a core or pool, in order, a stretch at a time.
func stretches[T any](r *records, kind abi.Kind, index int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		if index < 0 || index >= len(r.lists[kind]) {
			return
		}
		for i := range r.lists[kind][index] {
			v := &r.lists[kind][index][i]
			if !yield(abi.Views[T](v.data, 0, v.len())) {
				return
			}
		}
	}
}

// count is the number of records of one core or pool.
func (r *records) count(kind abi.Kind, index int) (n int) {
	if index < len(r.lists[kind]) {
		for i := range r.lists[kind][index] {
			n += r.lists[kind][index][i].len()
		}
	}
	return n
}
