package collector

import "sync/atomic"

// lost is what the host lost of a pool after the device had handed it over.
type lost struct {
	records atomic.Uint64 // counted
	buffers atomic.Uint64 // with a number of records that could not be read
}

// faults counts what went wrong on the host's side, each kind of fault apart.
type faults struct {
	indices    atomic.Uint64 // queue indices out of range, per reading that found them so
	kind       atomic.Uint64 // ready entries of no known kind, or for no pool of the run
	unmapped   atomic.Uint64 // ready entries that name no buffer
	notHeld    atomic.Uint64 // ready entries that name a buffer which the device does not hold
	copies     atomic.Uint64 // buffers that could not be copied from the device
	transfers  atomic.Uint64 // words that could not be read or written; tried again
	allocation atomic.Uint64 // batches that could not be allocated
	retired    atomic.Uint64 // buffers taken out of use
	overfull   atomic.Uint64 // buffers whose count exceeds their capacity
	untaken    atomic.Uint64 // ready entries that were still in a queue after the stop
}

// gauge is a number that goes up and down, and its peak.
type gauge struct{ now, peak atomic.Int64 }

func (g *gauge) add(n int64) {
	now := g.now.Add(n)
	for peak := g.peak.Load(); now > peak && !g.peak.CompareAndSwap(peak, now); peak = g.peak.Load() {
	}
}

// transferFailed counts a word that could not be read or written, and reports the
// first of a run.
func (x *exchange) transferFailed(err error) {
	x.faults.transfers.Add(1)
	if x.troubled.CompareAndSwap(false, true) {
		x.log.printf(Error, "%s: %v", x.mod.name(), err)
	}
}

// Faults is what went wrong on the host's side of a run.
type Faults struct {
	Indices, Kind, Unmapped, NotHeld, Copies, Transfers, Allocations, Retired, Overfull, Untaken uint64
}

func (f *faults) snapshot() Faults {
	return Faults{
		Indices: f.indices.Load(), Kind: f.kind.Load(), Unmapped: f.unmapped.Load(), NotHeld: f.notHeld.Load(),
		Copies: f.copies.Load(), Transfers: f.transfers.Load(), Allocations: f.allocation.Load(),
		Retired: f.retired.Load(), Overfull: f.overfull.Load(), Untaken: f.untaken.Load(),
	}
}

// since is what was added to the counters.
func (f *faults) since(before Faults) Faults {
	now := f.snapshot()
	return Faults{
		Indices: now.Indices - before.Indices, Kind: now.Kind - before.Kind, Unmapped: now.Unmapped - before.Unmapped,
		NotHeld: now.NotHeld - before.NotHeld, Copies: now.Copies - before.Copies, Transfers: now.Transfers - before.Transfers,
		Allocations: now.Allocations - before.Allocations, Retired: now.Retired - before.Retired, Overfull: now.Overfull - before.Overfull,
		Untaken: now.Untaken - before.Untaken,
	}
}
