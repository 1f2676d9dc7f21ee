package collector

import (
	"fmt"

	"swimlane/internal/abi"
)

// Outcome is what became of a run.
type Outcome struct {
	Buckets [abi.Kinds]Bucket // by kind
	Faults  Faults
	// MostInFlight is the most buffers that were taken from the device and not yet
	// collected at one time.
	MostInFlight int
	Notices      []Notice
	// Capture is complete but for what the runtime records outside the pools: set
	// Host and Sections where there are such.
	Capture *Capture
}

// settle reads the device's counters, now that it has stopped, and balances them
// with what came (spec/collector.md §6.2, §6.3).
func (r *Run) settle() *Outcome {
	c, ex := r.c, r.c.ex
	var said notices
	counted := r.countersRead(&said)
	if r.state == stopped {
		r.readHeld(&said)
	}
	p := newPort(&c.region)
	counts := make([]poolCount, len(ex.pools))
	leftovers := make([]int, abi.Kinds)
	var dispatched []uint32
	var queued map[uint64]bool
	if counted {
		var err error
		if queued, err = ex.queued(p); err != nil {
			said.add(Error, "ChipSwimlane reconcile: %v", err)
		}
		dispatched = make([]uint32, c.opt.Cores)
		for i, q := range ex.pools {
			head := abi.View[abi.ActiveHead](c.region.host, q.pool)
			counts[i] = poolCount{total: uint64(head.TotalRecordCount), dropped: uint64(head.DroppedRecordCount), active: head.CurrentBufPtr.Load() != 0}
			if abi.Kind(q.kind) == abi.KindAicoreTask {
				dispatched[q.index] = head.TotalRecordCount
			}
		}
	}
	stores := make([]*store, len(r.shards))
	for i, s := range r.shards {
		stores[i] = s.store.rotate()
	}
	capture := newCapture(c.opt.Arch, r.opt.Level, c.opt.Cores, stores, dispatched)
	r.describe(capture)
	if counted {
		r.phaseMetadata(capture, &said)
	}
	for i, q := range ex.pools {
		k := &counts[i]
		k.collected = uint64(capture.records.count(abi.Kind(q.kind), q.index))
		for _, s := range r.shards {
			t := &s.pools[i]
			k.collected += t.records + t.upTo(limitOf(dispatched, uint32(q.index), t.last))
		}
		k.hostLost = q.lost.records.Swap(0)
		k.mayHaveLost = q.lost.buffers.Swap(0) * uint64(ex.kinds[q.kind].buffer.Capacity)
		if !counted {
			k.total = k.collected + k.hostLost
		}
		if k.active {
			if r.leftover(p, q, k, queued, &said) {
				leftovers[q.kind]++
			}
		}
	}
	o := &Outcome{Capture: capture, Faults: ex.faults.since(r.before), MostInFlight: int(ex.flight.peak.Load())}
	r.balance(o, counts, leftovers, &said)
	if r.failed {
		said = nil // all of it follows from that
		said.add(Warning, "the run ended early: of what was under way then there are no records, or not all")
	} else {
		r.report(o, counted, &said)
		r.reportSlots(capture, &said)
	}
	o.Notices = said
	return o
}

// countersRead refreshes the host's image of the device's counters, now that the
// device has stopped, and tells whether that could be done. What a host that was
// never started did not take is charged first.
func (r *Run) countersRead(said *notices) bool {
	if r.opt.Level == abi.Disabled {
		return false
	}
	if r.state != stopped {
		r.c.ex.writeOff()
	}
	if err := r.c.region.pullAll(); err != nil {
		said.add(Error, "ChipSwimlane reconcile: the device's counters cannot be read, so nothing is known of its losses: %v", err)
		return false
	}
	return true
}

// phaseMetadata reads what the device has written into the header.
func (r *Run) phaseMetadata(capture *Capture, said *notices) {
	host, l := r.c.region.host, r.c.layout
	sched, orch, cores := *host.U32(l.NumSchedPhaseThreads), *host.U32(l.NumOrchPhaseThreads), *host.U32(l.NumPhaseCores)
	threads := uint32(l.Arch.MaxThreads)
	capture.OrchThreads = orch
	switch {
	case sched == 0 && orch == 0:
		if r.opt.Level >= abi.SchedPhases {
			said.add(Info, "No phase profiling data found: the device announced no scheduler and no orchestrator thread")
		}
		return
	case sched > threads || orch > threads:
		said.add(Error, "the device announced %d scheduler and %d orchestrator threads, and there are %d at most: its phase metadata is not used", sched, orch, threads)
		return
	}
	if cores > 0 && cores <= uint32(l.Arch.MaxCores) {
		capture.CoreToThread = append([]int8(nil), abi.Views[int8](host, l.CoreToThread, int(cores))...)
	}
	for t := range l.Arch.MaxThreads {
		capture.SchedDropped = append(capture.SchedDropped, abi.View[abi.ActiveHead](host, l.Pool(abi.KindSchedPhase, t)).DroppedRecordCount)
	}
}

// leftover looks into the buffer that a pool was filling when the device stopped.
func (r *Run) leftover(p *port, q *pool, k *poolCount, queued map[uint64]bool, said *notices) bool {
	head := abi.View[abi.ActiveHead](r.c.region.host, q.pool)
	kind := abi.Kind(q.kind)
	b, err := r.c.mem.buffer(head.CurrentBufPtr.Load())
	if err != nil {
		said.add(Error, "ChipSwimlane reconcile: %s %d: the active %s buffer: %v", buckets[kind].unit, q.index, buckets[kind].name, err)
		return false
	}
	if b.handedOver(queued) {
		k.active = false
		return false
	}
	left := func(addr uint64, count uint32) bool {
		if count > 0 {
			said.add(Error, "ChipSwimlane reconcile: %s %d has un-flushed %s buffer (current_buf_ptr=0x%x, count=%d) after stop() — device flush failed",
				buckets[kind].unit, q.index, buckets[kind].name, addr, count)
		}
		return count > 0
	}
	if kind == abi.KindAicoreTask {
		// The device stamps its count only when it hands the buffer over, and does
		// not count dispatches by buffer: what is missing is in there.
		return left(b.addr, limit(uint32(k.total), head.CurrentBufSeq.Load()))
	}
	count, err := p.count(b, &abi.Buffers[kind])
	if err != nil {
		said.add(Error, "ChipSwimlane reconcile: %v", err)
		return false
	}
	k.unflushed = uint64(min(count, uint32(abi.Buffers[kind].Capacity)))
	return left(b.addr, count)
}

// balance fills in buckets and accounts.
func (r *Run) balance(o *Outcome, counts []poolCount, leftovers []int, said *notices) {
	ex := r.c.ex
	var sums [abi.Kinds]poolCount
	for kind := range abi.Kind(abi.Kinds) {
		// What could not be charged to a pool is charged to those that miss something.
		adrift := &ex.lost[kind]
		records, unknown := adrift.records.Swap(0), adrift.buffers.Swap(0)*uint64(ex.kinds[kind].buffer.Capacity)
		account := &o.Capture.Accounting.Kinds[kind]
		contradictions := 0
		for i, q := range ex.pools {
			if abi.Kind(q.kind) != kind {
				continue
			}
			k := counts[i]
			missing := k.total - min(k.total, k.collected+k.dropped+k.hostLost+k.unflushed)
			known := min(missing, records)
			k.hostLost += known
			records -= known
			k.mayHaveLost += min(missing-known, unknown)
			unknown -= min(missing-known, unknown)
			a, contradiction := k.balance()
			if contradiction {
				contradictions++
			}
			account.add(a)
			sums[kind].total += k.total
			sums[kind].dropped += k.dropped
			sums[kind].collected += k.collected
		}
		s := &sums[kind]
		o.Buckets[kind] = newBucket(buckets[kind].name, s.total, s.dropped, s.collected, leftovers[kind])
		if contradictions > 0 {
			said.add(Error, "ChipSwimlane reconcile: %d %s(s) gave more %s records than the device counted: its counters are damaged, or it handed a buffer over twice",
				contradictions, buckets[kind].unit, buckets[kind].name)
		}
	}
}

// report says what the accounts show, and the buckets if the device's counters
// are known.
func (r *Run) report(o *Outcome, counted bool, said *notices) {
	for kind := range abi.Kind(abi.Kinds) {
		b, name := &o.Buckets[kind], &buckets[kind]
		if name.optional && b.Total+b.Dropped+b.Collected == 0 {
			continue
		}
		if counted {
			b.report(said, name.unit)
		}
		depth, option := r.c.opt.Depths.of(kind)
		o.Capture.Accounting.Kinds[kind].advise(said, accountNames[kind], r.opt.Policy, depth, option)
	}
}

// maxSlotNotices is how many buffers with empty slots are named one by one.
const maxSlotNotices = 16

// reportSlots names buffers with slots that should have been written, once each.
func (r *Run) reportSlots(capture *Capture, said *notices) {
	empty := capture.Slots().Empty
	for i, e := range empty {
		if i == maxSlotNotices {
			said.add(Warning, "%d more buffers have AICore record slots with start_time=0", len(empty)-i)
			break
		}
		said.add(Warning, "Core %d: skipped %d AICore record slot(s) with start_time=0 (race-window write or recycled-buffer tail). buf seq=%d count=%d",
			e.Core, e.Skipped, e.Seq, e.Count)
	}
	if n := capture.Slots().Trimmed; n > 0 {
		said.add(Info, "%d AICore record slots of an earlier life of their buffers were left out", n)
	}
}

// readHeld reads the buffers again in which records were missing, and puts them
// back into circulation.
func (r *Run) readHeld(said *notices) {
	p, ex := newPort(&r.c.region), r.c.ex
	for i, s := range ex.shards {
		for _, h := range s.held {
			if err := p.pull(h.buf); err != nil {
				said.add(Warning, "a buffer with missing records cannot be read again: %v", err)
			} else {
				r.shards[i].store.replace(h.index, h.seq, h.records(&ex.kinds[h.kind]))
			}
			ex.put(i, h.buf)
		}
		s.held = nil
	}
}

// Summary is one line on what came and what was lost.
func (o *Outcome) Summary() string {
	var all Account
	for _, a := range o.Capture.Accounting.Kinds {
		all.add(a)
	}
	return fmt.Sprintf("%d of %d records collected, %d dropped, %d lost by the host, %d not flushed", all.Collected, all.Total, all.Dropped, all.HostLost, all.Unflushed)
}
