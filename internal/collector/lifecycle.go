package collector

import (
	"errors"
	"fmt"
)

// host is what the collectors of all diagnostics have in common. O is what
// becomes of a run.
type host[O any] struct {
	mem    mapping
	region region
	ex     *exchange
	run    *life[O] // the last one begun
	ended  bool
}

// allocateRegion makes the region, all of it zero on the host's side.
func (h *host[O]) allocateRegion(size uint64) error {
	b, err := h.mem.allocate(int(size))
	if err != nil {
		return err
	}
	h.region = region{mem: &h.mem.mem, addr: b.addr, host: b.host}
	clear(b.host) // shared memory holds what was there before
	return nil
}

// DataBase is the device address of the region, for the kernel arguments:
// chip_swimlane_data_base or dep_gen_data_base.
func (h *host[O]) DataBase() uint64 { return h.region.addr }

var (
	errFinalized    = errors.New("the collector has been finalized")
	errStillRunning = errors.New("the run before it has not been stopped")
	errOver         = errors.New("this run is over: begin another one")
)

// mayBegin settles the last run, before its counters are reset for the next one.
func (h *host[O]) mayBegin() error {
	switch {
	case h.ended:
		return errFinalized
	case h.run == nil:
		return nil
	case h.run.state == started:
		return errStillRunning
	}
	h.run.Outcome()
	return nil
}

// begin makes a run the last one begun.
func (h *host[O]) begin(r *life[O], settle func() *O) {
	r.ex, r.before, r.settle = h.ex, h.ex.faults.snapshot(), settle
	h.run = r
}

// Finalize stops the collector if it still runs and gives everything back to the
// device. What runs have collected stays valid. A second call does nothing.
func (h *host[O]) Finalize() error {
	if h.ended {
		return nil
	}
	if h.run != nil {
		h.run.Outcome()
	}
	h.ended = true
	return h.mem.releaseAll()
}

// life is where a run is between its begin and its outcome.
type life[O any] struct {
	ex      *exchange
	off     bool // nothing is recorded
	state   runState
	before  Faults // what the collector's counters showed at the begin
	settle  func() *O
	outcome *O
}

type runState int

const (
	begun runState = iota
	started
	stopped
)

// Start lets the host's goroutines run. It must come before the launch of the
// device. Nothing happens at level 0, and when the run has been started.
func (l *life[O]) Start() error {
	switch {
	case l.off || l.state == started:
		return nil
	case l.state == stopped || l.outcome != nil:
		return errOver
	}
	if err := l.ex.start(); err != nil {
		return fmt.Errorf("start a %s run: %w", l.ex.mod.name(), err)
	}
	l.state = started
	return nil
}

// Stop collects what the device has handed over and ends the host's goroutines.
// The device must have finished. A second call does nothing.
func (l *life[O]) Stop() {
	if l.state == started {
		l.ex.stop()
		l.state = stopped
	}
}

// Outcome settles the run and returns what became of it, always the same. It
// stops the run if that has not been done.
func (l *life[O]) Outcome() *O {
	if l.outcome == nil {
		l.Stop()
		l.outcome = l.settle()
	}
	return l.outcome
}
