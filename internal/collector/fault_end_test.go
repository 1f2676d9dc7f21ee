package collector_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/transport/fault"
)

// A device that dies after any step: what it handed over is there, the rest is
// in its buffers, and the sums are right. The next run loses nothing.
func TestDeviceDies(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	onBoth(t, setup{level: abi.OrchPhases, cores: 2, depths: collector.DefaultDepths()}, func(t *testing.T, c *chip) {
		for range 4 {
			run := c.begin()
			r := c.launchRig()
			steps := rnd.IntN(9000)
			for range steps {
				switch rnd.IntN(8) {
				case 0:
					for range rnd.IntN(20) {
						r.phase()
					}
				case 1:
					for range rnd.IntN(20) {
						r.submit()
					}
				case 2: // a task that was dispatched only
					core := rnd.IntN(2)
					r.tasks[core]++
					r.thread.Dispatch(core, uint32(r.tasks[core]))
					r.cores[core].Reserve()
					r.cores[core].Commit(1, uint32(r.tasks[core]), 1, 2, 3)
					r.made[abi.KindAicoreTask]++
				default:
					r.task(rnd.IntN(2))
				}
			}
			run.Stop()
			o := run.Outcome()
			checkSums(t, o)
			for kind, a := range o.Capture.Accounting.Kinds {
				capacity := uint64(abi.Buffers[kind].Capacity)
				if a.Total != r.made[kind] || a.Dropped+a.HostLost > 0 {
					t.Errorf("%d steps, kind %d: %+v, want a total of %d, collected or unflushed", steps, kind, a, r.made[kind])
				}
				// One buffer a pool is being filled, and of kind 3 a full one may wait for its gate.
				pools := map[abi.Kind]uint64{abi.KindAicpuTask: 2, abi.KindSchedPhase: 1, abi.KindOrchPhase: 1, abi.KindAicoreTask: 4}[abi.Kind(kind)]
				if a.Unflushed > pools*capacity {
					t.Errorf("%d steps, kind %d: %+v, want at most %d buffers unflushed", steps, kind, a, pools)
				}
			}
		}
		rig := &rig{chip: c}
		rig.again()
	})
}

// A device that never flushes: its buffers are left over, and reported as the
// protocol says (spec/collector.md §6.3).
func TestNeverFlushes(t *testing.T) {
	onBoth(t, setup{level: abi.OrchPhases, cores: 1}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		r.run(1234)
		for range 7 {
			r.phase()
		}
		for range 5 {
			r.submit()
		}
		o := r.settle(run)
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 1234, Collected: 1000, Unflushed: 234})
		r.want(o, abi.KindAicoreTask, collector.Account{Total: 1234, Collected: 1024, Unflushed: 210})
		r.want(o, abi.KindSchedPhase, collector.Account{Total: 7, Unflushed: 7})
		r.want(o, abi.KindOrchPhase, collector.Account{Total: 5, Unflushed: 5})
		for kind, want := range map[abi.Kind]string{
			abi.KindAicpuTask:  "core 0 has un-flushed PERF buffer (current_buf_ptr=0x%x, count=234)",
			abi.KindSchedPhase: "thread 0 has un-flushed SCHED_PHASE buffer (current_buf_ptr=0x%x, count=7)",
			abi.KindOrchPhase:  "thread 0 has un-flushed ORCH_PHASE buffer (current_buf_ptr=0x%x, count=5)",
		} {
			r.said(o, collector.Error, "ChipSwimlane reconcile: "+fmt.Sprintf(want, c.pool(kind, 0).Head.CurrentBufPtr.Load())+" after stop() — device flush failed")
			if n := o.Buckets[kind].Leftovers; n != 1 {
				t.Errorf("kind %d: %d leftovers, want 1", kind, n)
			}
		}
		r.said(o, collector.Error, "ChipSwimlane reconcile: 1 core(s) had un-cleared PERF current_buf_ptr — see prior errors")
		r.said(o, collector.Error, "ChipSwimlane reconcile: 1 thread(s) had un-cleared SCHED_PHASE current_buf_ptr — see prior errors")
		r.said(o, collector.Error, "ChipSwimlane reconcile: 1 thread(s) had un-cleared ORCH_PHASE current_buf_ptr — see prior errors")
		r.said(o, collector.Warning, "ChipSwimlane reconcile: PERF count mismatch (collected=1000 + dropped=0 != device_total=1234, silent_loss=234)")
		r.again()
	})
}

// A device that dies between handing a buffer over and forgetting it: the buffer
// came, so nothing is left over.
func TestDeviceDiesBehindAnEntry(t *testing.T) {
	onBoth(t, setup{cores: 1, level: abi.SchedPhases}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		r.run(999)
		for range 10 {
			r.phase()
		}
		for kind, records := range map[abi.Kind]uint32{abi.KindAicpuTask: 999, abi.KindAicoreTask: 999, abi.KindSchedPhase: 10} {
			at := c.pool(kind, 0).Head.CurrentBufPtr.Load()
			*c.buffer(kind, at).U32(uint64(abi.Buffers[kind].Count)) = records
			c.publish(0, abi.ReadyEntry{Kind: kind, BufferPtr: at})
		}
		o := r.settle(run)
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 999, Collected: 999})
		r.want(o, abi.KindAicoreTask, collector.Account{Total: 999, Collected: 999})
		r.want(o, abi.KindSchedPhase, collector.Account{Total: 10, Collected: 10})
		r.silent(o)
		r.again()
	})
}

// A ready queue that is full at the flush: the device waits for its limit and
// drops what it cannot hand over.
func TestFullReadyQueueAtFlush(t *testing.T) {
	for _, policy := range []abi.Policy{abi.Block, abi.Drop} {
		t.Run(fmt.Sprintf("policy=%d", policy), func(t *testing.T) {
			c := newSmallChip(t, setup{shadow: true, cores: 1, level: abi.OrchPhases, policy: policy, waiting: patience(10*time.Millisecond, 40*time.Millisecond)})
			run := c.begin()
			v := c.valve()
			v.set(true)
			r := c.launchRig()
			r.run(1100) // one full buffer of each kind of task is handed over
			r.phase()
			r.submit()
			mem, l := c.region(), c.host.Layout()
			head := mem.Word32(l.Head(0)) // the device's view: the host keeps its own
			was := head.Load()
			head.Store((mem.Word32(l.Tail(0)).Load() + 1) % uint32(l.QueueSize))
			r.flush()
			head.Store(was)
			v.set(false)
			o := r.settle(run)
			r.want(o, abi.KindAicpuTask, collector.Account{Total: 1100, Collected: 1000, Dropped: 100})
			r.want(o, abi.KindAicoreTask, collector.Account{Total: 1100, Collected: 1024, Dropped: 76})
			r.want(o, abi.KindSchedPhase, collector.Account{Total: 1, Dropped: 1})
			r.want(o, abi.KindOrchPhase, collector.Account{Total: 1, Dropped: 1})
			r.said(o, collector.Warning, "ChipSwimlane reconcile: 100 PERF records dropped on device side.")
			if n, _ := r.thread.Faults(); n == 0 {
				t.Error("the device has counted no fault")
			}
			r.again()
		})
	}
}

// What the device counted as dropped and came all the same is not lost
// (spec/collector.md, disagreement 17); beside it a real loss of the host stays one.
func TestDroppedAndDelivered(t *testing.T) {
	onBoth(t, setup{cores: 2}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		r.run(1000)
		r.flush()
		c.pool(abi.KindAicpuTask, 0).Head.DroppedRecordCount += 1000 // it gave up at the push gate
		e := r.stray(abi.KindAicpuTask, 1, 7)
		e.Kind = 7
		c.publish(0, e)
		o := r.settle(run)
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 2007, Collected: 2000, HostLost: 7})
		// 1000 too many, and 7 too few.
		r.said(o, collector.Warning, "ChipSwimlane reconcile: PERF count mismatch (collected=2000 + dropped=1000 != device_total=2007, silent_loss=-993)")
		if got := o.Buckets[abi.KindAicpuTask].SilentLoss; got != -993 {
			t.Errorf("silent loss %d, want -993", got)
		}
	})
}

// A buffer that the device counted as dropped and the host then lost is lost once.
func TestDroppedAndLostByTheHost(t *testing.T) {
	c := newSmallChip(t, setup{cores: 1})
	run := c.begin()
	r := c.launchRig()
	e := r.stray(abi.KindAicpuTask, 0, 50)
	e.Kind = 9
	c.publish(0, e)
	r.run(10)
	r.flush()
	c.pool(abi.KindAicpuTask, 0).Head.DroppedRecordCount += 50
	o := r.settle(run)
	a := o.Capture.Accounting.Kinds[abi.KindAicpuTask]
	if a.Total != 60 || a.Collected != 10 || a.Dropped+a.HostLost != 50 {
		t.Errorf("account %+v, want 50 of 60 lost, once", a)
	}
}

// Level 1 marks the last buffer full: the records of its earlier lives are left
// out, and the file has each (core, token) once.
func TestLevel1LeavesEarlierLivesOut(t *testing.T) {
	onBoth(t, setup{level: abi.TaskTiming, cores: 1, shards: 1}, func(t *testing.T, c *chip) {
		const tasks = 9*1024 + 5 // there are 8 buffers, and there is no memory for more
		run := c.begin()
		c.faults.Add(fault.Rule{Op: fault.Alloc, Err: errBus})
		r := c.launchRig()
		r.run(tasks)
		r.flush()
		o := r.settle(run)
		r.checkTasks(o.Capture, tasks)
		rec := r.file(o)
		seen := map[[2]uint32]bool{}
		for i := range rec.Tasks.Len() {
			key := [2]uint32{uint32(rec.Tasks.Core[i]), uint32(rec.Tasks.Reg[i])}
			if seen[key] {
				t.Fatalf("core %d has token %d twice", key[0], key[1])
			}
			seen[key] = true
		}
		if len(seen) != tasks {
			t.Errorf("the file has %d tasks, want %d", len(seen), tasks)
		}
		r.silent(o)
	})
}

// The record of a core's last task may land after the host has read its buffer:
// it is read again after the stop (spec/collector.md §2.9).
func TestLastRecordLandsLate(t *testing.T) {
	for _, level := range []abi.Level{abi.TaskTiming, abi.ScheduleTiming} {
		onBoth(t, setup{level: level, cores: 1}, func(t *testing.T, c *chip) {
			const tasks = 1030
			run := c.begin()
			r := c.launchRig()
			r.run(tasks - 1)
			// The last task has finished, and its record is on its way.
			n := tasks - 1
			r.thread.Dispatch(0, tasks)
			r.cores[0].Reserve()
			r.thread.Ack(0, tasks)
			at := dispatchOf(0, n)
			r.thread.Task(0, tasks, at, at+90)
			r.made[abi.KindAicoreTask]++
			if level >= abi.ScheduleTiming {
				r.made[abi.KindAicpuTask]++
			}
			r.flush()
			run.Stop() // the host has read the buffer
			r.cores[0].Commit(abi.TaskID(0, uint32(n)), tasks, at+10, at+20, at+80)
			o := r.settle(run)
			r.checkTasks(o.Capture, tasks)
			r.silent(o)
		})
	}
}

// Small pools drop, and the notice names the option that helps; with that option
// raised nothing is dropped.
func TestDepthsThatHelp(t *testing.T) {
	for _, k := range []struct {
		kind   abi.Kind
		option string
		notice string
	}{
		{abi.KindAicpuTask, "PROF_BUFFERS_PER_CORE", "AICPU_TASK"},
		{abi.KindAicoreTask, "AICORE_BUFFERS_PER_CORE", "AICORE_TASK"},
		{abi.KindSchedPhase, "SCHED_BUFFERS_PER_THREAD", "SCHED_PHASE"},
		{abi.KindOrchPhase, "ORCH_BUFFERS_PER_THREAD", "ORCH_PHASE"},
	} {
		for _, raised := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/raised=%v", k.option, raised), func(t *testing.T) {
				depths := collector.Depths{ProfBuffersPerCore: 4, AicoreBuffersPerCore: 4, SchedBuffersPerThread: 4, OrchBuffersPerThread: 4}
				depth := 4
				if raised {
					depth = 12
					if err := depths.Set(fmt.Sprintf("%s=%d", k.option, depth)); err != nil {
						t.Fatal(err)
					}
				}
				// The host collects nothing and can allocate nothing: the device has what
				// the pools were given, of kernels four buffers more in the host's lane.
				c := newChip(t, setup{cores: 1, threads: 2, shards: 1, level: abi.OrchPhases, depths: depths, policy: abi.Drop, size: 64 << 20})
				g := newGate()
				c.sink = g.sink
				run := c.begin()
				c.faults.Add(fault.Rule{Op: fault.Alloc, Err: errBus})
				r := c.launchRig()
				for range 10 {
					if raised {
						c.free(k.kind, 0, 1)
					}
					r.fillBuffers(k.kind, 1)
				}
				close(g.open)
				r.flush()
				o := r.settle(run)
				a := o.Capture.Accounting.Kinds[k.kind]
				said := ""
				for _, n := range saidOf(o.Notices, "warning") {
					if strings.Contains(n, k.notice+" records were dropped") {
						said = n
					}
				}
				switch {
				case raised && (a.Dropped != 0 || said != ""):
					t.Errorf("with %s=%d: %+v, %q", k.option, depth, a, said)
				case !raised && (a.Dropped == 0 || !strings.Contains(said, fmt.Sprintf("raise %s (it is %d)", k.option, depth))):
					t.Errorf("with %s=%d: %+v, %q", k.option, depth, a, said)
				}
			})
		}
	}
}

// A run that records no phase gives the buffers back that its phase pools had
// taken: the fifth such run, and the one after it, have theirs.
func TestRunsWithoutPhases(t *testing.T) {
	onBoth(t, setup{level: abi.OrchPhases, cores: 1, policy: abi.Drop}, func(t *testing.T, c *chip) {
		for n := range 6 {
			run := c.begin()
			r := c.launchRig() // a missing first buffer is an error
			if n == 5 {
				r.fillBuffers(abi.KindOrchPhase, 1)
				r.fillBuffers(abi.KindSchedPhase, 1)
			}
			r.flush()
			run.Stop()
			o := run.Outcome()
			checkSums(t, o)
			r.silent(o)
		}
	})
}
