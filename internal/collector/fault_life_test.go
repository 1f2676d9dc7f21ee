package collector_test

import (
	"strings"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/transport/fault"
)

// Calls in an order that cannot be are refused or do nothing; none harms a run.
func TestOrderOfCalls(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, c *chip) {
		refused := func(what string, err error, says string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want an error that says %q", what, err, says)
			}
		}
		begin := func() (*collector.Run, error) {
			return c.host.Begin(collector.RunOptions{Level: abi.ScheduleTiming})
		}
		run := c.begin()
		if err := run.Start(); err != nil {
			t.Errorf("second start: %v", err)
		}
		_, err := begin()
		refused("begin while a run goes on", err, "has not been stopped")
		r := c.launchRig()
		r.run(100)
		r.flush()
		run.Stop()
		run.Stop()
		refused("start after stop", run.Start(), "this run is over")
		o := run.Outcome()
		if run.Outcome() != o {
			t.Error("another outcome of the same run")
		}
		r.law(o)
		r.checkTasks(o.Capture, 100)

		second, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		third, err := begin() // instead of the second, which was not started
		if err != nil {
			t.Fatal(err)
		}
		refused("start of a run that was replaced", second.Start(), "this run is over")
		third.Outcome()
		refused("start of a run that was settled", third.Start(), "this run is over")
		fourth, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := c.host.Finalize(); err != nil {
				t.Error(err)
			}
		}
		refused("start after finalize", fourth.Start(), "over")
		_, err = begin()
		refused("begin after finalize", err, "has been finalized")
		fourth.Stop()
		r.checkTasks(o.Capture, 100) // what was collected stays
		if n, bytes := c.memory.InUse(); n != 0 {
			t.Errorf("%d allocations of %d bytes are left", n, bytes)
		}
	})
}

// Finalize ends a run that goes on, and its records stay.
func TestFinalizeWhileRunning(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		r.run(3000)
		r.flush()
		if err := c.host.Finalize(); err != nil {
			t.Fatal(err)
		}
		o := run.Outcome()
		checkSums(t, o)
		r.checkTasks(o.Capture, 3000)
	})
}

// What is still queued at the stop is collected, however far the host is behind
// (field report 56: also with the race detector).
func TestStopDuringDrain(t *testing.T) {
	onBoth(t, setup{depths: collector.DefaultDepths()}, func(t *testing.T, c *chip) {
		g := newGate()
		c.sink = g.sink
		run := c.begin()
		r := c.launchRig()
		r.run(4000) // the pools' own buffers hold so many
		r.flush()
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			run.Stop()
		}()
		select {
		case <-stopped:
			t.Error("the run ended before its records were collected")
		default:
		}
		close(g.open)
		<-stopped
		o := r.settle(run)
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 12000, Collected: 12000})
		r.want(o, abi.KindAicoreTask, collector.Account{Total: 12000, Collected: 12000})
		r.silent(o)
	})
}

// A host that was never started loses what it was given, and says so; the
// device's limit ends its waits.
func TestHostNeverStarted(t *testing.T) {
	onBoth(t, setup{cores: 1, waiting: patience(10*time.Millisecond, 40*time.Millisecond)}, func(t *testing.T, c *chip) {
		run, err := c.host.Begin(collector.RunOptions{Level: c.level, Runtime: tmr})
		if err != nil {
			t.Fatal(err)
		}
		r := c.launchRig()
		r.run(4100)
		r.flush()
		o := r.settle(run)
		// 4 buffers of either kind; no fifth comes. The core loses silently.
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 4100, HostLost: 4000, Dropped: 100})
		r.want(o, abi.KindAicoreTask, collector.Account{Total: 4100, HostLost: 4096, Dropped: 4})
		if got := o.Buckets[abi.KindAicpuTask].Dropped; got != 100 {
			t.Errorf("the device dropped %d, want 100", got)
		}
		s := r.thread.Stalls()
		if s.Count == 0 || !s.Kept[0].GaveUp {
			t.Errorf("stalls %+v, want waits that were given up", s)
		}
		r.again()
	})
}

// A host that runs and serves nothing is the same to the device.
func TestHostServesNothing(t *testing.T) {
	c := newSmallChip(t, setup{shadow: true, cores: 1, waiting: patience(10*time.Millisecond, 40*time.Millisecond)})
	run := c.begin()
	c.faults.Add(fault.Rule{Op: fault.FromDevice, Err: errBus})
	r := c.launchRig()
	r.run(4100)
	r.flush()
	run.Stop()
	c.faults.Clear()
	o := r.settle(run)
	r.want(o, abi.KindAicpuTask, collector.Account{Total: 4100, HostLost: 4000, Dropped: 100})
	r.want(o, abi.KindAicoreTask, collector.Account{Total: 4100, HostLost: 4100})
	r.again()
}

// Flags of backpressure that cannot be moved cost time, and no record.
func TestFailingFlags(t *testing.T) {
	for name, w := range map[string]struct {
		op  fault.Op
		off uint64
	}{
		"read contended": {fault.FromDevice, abi.FqContended}, "freeze": {fault.ToDevice, abi.FqFreezeActive}, "clear contended": {fault.ToDevice, abi.FqContended},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSmallChip(t, setup{shadow: true, cores: 1, shards: 1, threads: 1, policy: abi.Block})
			run := c.begin()
			at := c.host.Layout().Backpressure + w.off
			for n := 1; n <= 3; n++ {
				c.faults.Add(c.word(w.op, at, 4, fault.Rule{Nth: n, Err: errBus}))
			}
			mem := c.region()
			mem.Word32(c.host.Layout().Backpressure + abi.FqContended).Store(1)
			c.wait("DFX backpressure RELEASED", 1)
			// A flag that could not be cleared opens the freeze again.
			bp := abi.View[abi.Backpressure](mem, c.host.Layout().Backpressure)
			for end := time.Now().Add(20 * time.Second); bp.FqContended.Load()+bp.FqFreezeActive.Load() > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the device stays frozen")
				}
			}
			r := c.launchRig()
			r.run(5000)
			r.flush()
			o := r.settle(run)
			r.silent(o)
			r.checkTasks(o.Capture, 5000)
			if o.Faults.Transfers == 0 {
				t.Error("no failing transfer is counted")
			}
		})
	}
}

// A freeze, and a cry for buffers, of one run do not reach the next.
func TestFlagsOfTheLastRun(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, c *chip) {
		bp := abi.View[abi.Backpressure](c.region(), c.host.Layout().Backpressure)
		run := c.begin()
		r := c.launchRig()
		r.flush()
		r.settle(run)
		bp.FqContended.Store(1) // after the host's last look
		bp.RqContended.Store(1)
		if !c.shadow { // as if it had gone in the middle of one
			bp.FqFreezeActive.Store(1)
			bp.RqFreezeActive.Store(1)
		}
		run, err := c.host.Begin(collector.RunOptions{Level: c.level, Runtime: tmr})
		if err != nil {
			t.Fatal(err)
		}
		if bp.FqContended.Load()+bp.RqContended.Load()+bp.FqFreezeActive.Load()+bp.RqFreezeActive.Load() != 0 {
			t.Errorf("the next run begins with %+v", bp)
		}
		run.Outcome()
	})
}

// Counters that cannot be read do not cost the records that were collected.
func TestCountersUnreadable(t *testing.T) {
	c := newSmallChip(t, setup{shadow: true})
	run := c.begin()
	r := c.launchRig()
	r.run(1500)
	r.flush()
	c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: int(c.host.Layout().TotalSize), Nth: 1, Err: errBus})
	o := r.settle(run)
	r.checkTasks(o.Capture, 1500)
	r.silent(o) // a second try reads them

	run = c.begin()
	r = c.launchRig()
	r.run(1500)
	r.flush()
	c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: int(c.host.Layout().TotalSize), Err: errBus})
	run.Stop()
	o = run.Outcome()
	c.faults.Clear()
	checkSums(t, o)
	r.checkTasks(o.Capture, 1500)
	r.want(o, abi.KindAicoreTask, collector.Account{Total: 4500, Collected: 4500})
	r.said(o, collector.Error, "the device's counters cannot be read")
	if n := len(saidOf(o.Notices, "error")) + len(saidOf(o.Notices, "warning")); n != 1 {
		t.Errorf("%d notices, want 1: %q", n, o.Notices)
	}
	r.file(o)
	r.again()
}

// A device that drops records does not ask for buffers, and hands nothing over
// while it has none. It gets what comes back all the same.
func TestDropPolicyRecovers(t *testing.T) {
	onBoth(t, setup{cores: 1, policy: abi.Drop}, func(t *testing.T, c *chip) {
		g := newGate()
		c.sink = g.sink
		run := c.begin()
		c.faults.Add(fault.Rule{Op: fault.Alloc, Err: errBus})
		r := c.launchRig()
		r.run(14000) // the host has whatever there was
		tasks := c.pool(abi.KindAicpuTask, 0)
		if tasks.Head.DroppedRecordCount == 0 || r.cores[0].Lost() == 0 {
			t.Error("nothing was dropped")
		}
		close(g.open)
		c.free(abi.KindAicpuTask, 0, 1)
		c.free(abi.KindAicoreTask, 0, 1)
		dropped, lost := tasks.Head.DroppedRecordCount, r.cores[0].Lost()
		for range 3000 {
			c.free(abi.KindAicpuTask, 0, 1)
			c.free(abi.KindAicoreTask, 0, 1)
			r.task(0)
		}
		if now := tasks.Head.DroppedRecordCount; now != dropped {
			t.Errorf("%d more records were dropped although there were buffers", now-dropped)
		}
		if now := r.cores[0].Lost(); now > lost+1024 { // until the next rotation
			t.Errorf("the core lost %d more records, want at most one buffer's", now-lost)
		}
		r.flush()
		r.settle(run)
	})
}
