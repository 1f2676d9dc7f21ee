package collector_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport/fault"
)

// discard is a sink for runs whose records nobody reads.
func discard(int, abi.Kind, int, uint32, []byte) {}

// fillBuffers writes n full buffers of a kind to pool 0, and tells how many
// records those are.
func (r *rig) fillBuffers(kind abi.Kind, n int) uint64 {
	records := n * abi.Buffers[kind].Capacity
	for range records {
		switch kind {
		case abi.KindAicpuTask, abi.KindAicoreTask:
			r.task(0)
		case abi.KindSchedPhase:
			r.phase()
		case abi.KindOrchPhase:
			r.submit()
		}
	}
	return uint64(records)
}

// Field report 40: an entry is acknowledged after its records are safe. If they
// cannot be read they are charged, and the buffer goes on.
func TestField40FailingCopyOfTheThirdEntry(t *testing.T) {
	for kind := range abi.Kind(abi.Kinds) {
		t.Run(abi.Buffers[kind].Name, func(t *testing.T) {
			c := newSmallChip(t, setup{shadow: true, cores: 1, shards: 1, level: abi.OrchPhases, sink: discard})
			run := c.begin()
			r := c.launchRig()
			size := abi.Buffers[kind].Size
			heads := 0
			c.faults.Add(c.word(fault.ToDevice, c.host.Layout().Head(0), 4, fault.Rule{Before: func(fault.Call) { heads++ }}))
			c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: size, Nth: 3, Err: errBus, Before: func(call fault.Call) {
				if kind == abi.KindSchedPhase || kind == abi.KindOrchPhase { // no other kind is handed over
					if heads != 2 {
						t.Errorf("the third buffer is read when the head moved %d times, want 2", heads)
					}
				}
				c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: size, From: call.Addr, To: call.Addr + 1, Err: errBus})
			}})
			total := r.fillBuffers(kind, 4)
			r.flush()
			o := r.settle(run)
			one := uint64(abi.Buffers[kind].Capacity)
			r.want(o, kind, collector.Account{Total: total, Collected: total - one, HostLost: one})
			if p, _ := c.host.Where(); p.Astray+p.Retired > 0 {
				t.Errorf("buffers %+v: some are out of circulation", p)
			}
		})
	}
}

// Field report 42: no record crosses buffers, however late the core stores the
// last one of a buffer.
func TestField42RecordsStayInTheirBuffer(t *testing.T) {
	onBoth(t, setup{cores: 1}, func(t *testing.T, c *chip) {
		const tasks = 10*1024 + 7
		run := c.begin()
		r := c.launchRig()
		core, thread := r.cores[0], r.thread
		commit := func(n int) {
			at := dispatchOf(0, n)
			core.Commit(abi.TaskID(0, uint32(n)), uint32(n+1), at+10, at+20, at+80)
		}
		for n := range tasks {
			// The next task is dispatched, and may change the buffer, between the FIN of
			// the last one and its record.
			thread.Dispatch(0, uint32(n+1))
			if n > 0 {
				commit(n - 1)
			}
			core.Reserve()
			thread.Ack(0, uint32(n+1))
			at := dispatchOf(0, n)
			thread.Task(0, uint32(n+1), at, at+90)
		}
		commit(tasks - 1)
		r.made[abi.KindAicpuTask], r.made[abi.KindAicoreTask] = tasks, tasks
		r.flush()
		o := r.settle(run)
		r.checkTasks(o.Capture, tasks) // each one once, with its own times
		r.silent(o)
		if n := len(o.Capture.Slots().Empty); n > 0 {
			t.Errorf("%d buffers have slots without a start", n)
		}
	})
}

// Field report 43: slots that were never written are reported once per buffer;
// what is not counted is not looked at.
func TestField43OneNoticePerBuffer(t *testing.T) {
	for _, zeros := range [][]int{{500}, {0, 1, 2, 700, 1023}} {
		onBoth(t, setup{cores: 1}, func(t *testing.T, c *chip) {
			run := c.begin()
			r := c.launchRig()
			full := r.stray(abi.KindAicoreTask, 0, 1024)
			for _, i := range zeros {
				abi.View[abi.AicoreTask](r.buffer(abi.KindAicoreTask, full.BufferPtr), uint64(i)*32).StartTime = 0
			}
			part := r.stray(abi.KindAicoreTask, 0, 100) // the other slots are empty
			part.BufferSeq = 1
			c.publish(0, full)
			c.publish(0, part)
			r.countStrays()
			c.pool(abi.KindAicoreTask, 0).Head.CurrentBufPtr.Store(0) // as a flush leaves it
			run.Stop()
			o := run.Outcome()
			checkSums(t, o)
			n := uint64(len(zeros))
			r.want(o, abi.KindAicoreTask, collector.Account{Total: 1124, Collected: 1124 - n, Dropped: n})
			r.said(o, collector.Warning, fmt.Sprintf("Core 0: skipped %d AICore record slot(s) with start_time=0 (race-window write or recycled-buffer tail). buf seq=0 count=1024", n))
			r.said(o, collector.Warning, "record slot(s) with start_time=0")
		})
	}
}

// Field report 44: one record of each kind arrives as it was written.
func TestField44OneRecordOfEachKind(t *testing.T) {
	onBoth(t, setup{cores: 1, level: abi.OrchPhases}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		r.task(0)
		r.phase()
		r.submit()
		r.flush()
		o := r.settle(run)
		for kind := range abi.Kind(abi.Kinds) {
			r.want(o, kind, collector.Account{Total: 1, Collected: 1})
		}
		r.checkTasks(o.Capture, 1)
		for part := range o.Capture.SchedPhases(0) {
			if want := (abi.SchedPhase{StartTime: 1, EndTime: 2, LoopIter: 1, Kind: abi.Complete}); part[0] != want {
				t.Errorf("phase %+v, want %+v", part[0], want)
			}
		}
		for part := range o.Capture.OrchPhases(0) {
			if want := (abi.OrchPhase{StartTime: 1, EndTime: 2}); part[0] != want {
				t.Errorf("submit %+v, want %+v", part[0], want)
			}
		}
	})
}

// Field report 46: what a run is set to does not come from the one before.
func TestField46NothingLeaksIntoTheNextRun(t *testing.T) {
	onBoth(t, setup{level: abi.OrchPhases}, func(t *testing.T, c *chip) {
		for _, level := range []abi.Level{abi.OrchPhases, abi.Disabled, abi.TaskTiming, abi.OrchPhases, abi.ScheduleTiming, abi.Disabled} {
			run, err := c.host.Begin(collector.RunOptions{Level: level, Runtime: tmr})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			r := c.launchRig()
			if got := r.thread.Level(); got != level {
				t.Fatalf("the device records level %d, want %d", got, level)
			}
			if level > abi.Disabled {
				r.run(1100)
				r.phase()
				r.submit()
				r.flush()
			}
			run.Stop()
			o := run.Outcome()
			checkSums(t, o)
			r.silent(o)
			for kind, a := range o.Capture.Accounting.Kinds {
				if a.Collected != r.made[kind] || a.Total != a.Collected {
					t.Errorf("level %d, kind %d: %+v, want %d collected", level, kind, a, r.made[kind])
				}
			}
			if level < abi.SchedPhases && (o.Capture.OrchThreads != 0 || len(o.Capture.CoreToThread) > 0) {
				t.Errorf("level %d: the capture has phase metadata of another run: %d, %v", level, o.Capture.OrchThreads, o.Capture.CoreToThread)
			}
		}
	})
}

// Field report 48: arming a run leaves the accounts of the last one as they are.
func TestField48ArmBeforeTheOutcomeWasRead(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, c *chip) {
		first := c.begin()
		r := c.launchRig()
		r.run(1500)
		r.flush()
		first.Stop()
		second := c.begin()
		next := c.launchRig()
		next.run(200)
		o := first.Outcome() // while the second run goes on
		checkSums(t, o)
		want := collector.Account{Total: 4500, Collected: 4500}
		r.want(o, abi.KindAicpuTask, want)
		r.want(o, abi.KindAicoreTask, want)
		r.checkTasks(o.Capture, 1500)
		next.flush()
		o = next.settle(second)
		next.checkTasks(o.Capture, 200)
	})
}

// Field report 49: a producer at full speed on one core with a pool of four
// loses nothing, or what it says.
func TestField49FastProducer(t *testing.T) {
	const records = 1_000_000
	for _, policy := range []abi.Policy{abi.Block, abi.Drop} {
		t.Run(fmt.Sprintf("policy=%d", policy), func(t *testing.T) {
			onBoth(t, setup{cores: 1, policy: policy, sink: discard}, func(t *testing.T, c *chip) {
				run := c.begin()
				r := c.launchRig()
				for n := range uint32(records) {
					r.thread.Task(0, n+1, uint64(n), uint64(n)+1)
				}
				r.made[abi.KindAicpuTask] = records
				r.flush()
				o := r.settle(run)
				a := o.Capture.Accounting.Kinds[abi.KindAicpuTask]
				if a.HostLost+a.Unflushed > 0 || policy == abi.Block && a.Dropped > 0 {
					t.Errorf("account %+v, want no loss but what a dropping device counts", a)
				}
				if counted := o.Buckets[abi.KindAicpuTask].Dropped; a.Dropped != counted {
					t.Errorf("%d records are missing, and the device counted %d", a.Dropped, counted)
				}
			})
		})
	}
}

// Field report 50: a device that blocks loses nothing while its host stands
// still, and the wait is recorded.
func TestField50StallIsRecorded(t *testing.T) {
	const pause = time.Second
	// The clock of the device's waits: it moves on by the pause when the host does.
	g := newGate()
	start := time.Unix(1000, 0)
	now := start
	c := newSmallChip(t, setup{cores: 1, sink: g.sink, waiting: producer.Waiting{
		Now: func() time.Time { return now },
		Wait: func() {
			if now == start {
				now = start.Add(pause)
				close(g.open)
			}
			runtime.Gosched()
		},
	}})
	run := c.begin()
	c.faults.Add(fault.Rule{Op: fault.Alloc, Err: errBus}) // else the host would give it new buffers
	r := c.launchRig()
	r.run(20000)
	r.flush()
	s := r.thread.Stalls()
	run.Stalled(s.Count, s.Total)
	o := r.settle(run)
	r.want(o, abi.KindAicpuTask, collector.Account{Total: 20000, Collected: 20000})
	r.want(o, abi.KindAicoreTask, collector.Account{Total: 20000, Collected: 20000})
	if got := o.Capture.Accounting.Stalls; got.RealNs != uint64(pause) || got.Count == 0 {
		t.Errorf("the capture has stalls %+v, want the pause", got)
	}
	if s.Total != pause || !s.Kept[0].Start.Equal(start) || s.Kept[0].Length != pause || s.Kept[0].GaveUp {
		t.Errorf("stalls %+v, want the pause as the first", s)
	}
}

// Field report 51: a collector can be started and stopped again, and ended twice.
func TestField51StartStopStartStop(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, c *chip) {
		for n := range 3 {
			run := c.begin()
			r := c.launchRig()
			r.run(1100 + n)
			r.flush()
			o := r.settle(run)
			r.silent(o)
			r.checkTasks(o.Capture, 1100+n)
		}
		for range 2 {
			if err := c.host.Finalize(); err != nil {
				t.Error(err)
			}
		}
	})
}

// BenchmarkField52Producers is field report 52: one writer per buffer, so the
// cost of a record does not grow with the number of producers. A record's ns are
// those of the processors that there are.
func BenchmarkField52Producers(b *testing.B) {
	for _, producers := range []int{1, 4, 8, 16} {
		b.Run(fmt.Sprint(producers), func(b *testing.B) {
			c := newChip(b, setup{cores: 18, threads: 4, sink: discard})
			run := c.begin()
			d := c.launch()
			threads := min(producers, 4)
			each := (b.N + producers - 1) / producers
			b.ResetTimer()
			var all sync.WaitGroup
			for t := range threads {
				all.Go(func() {
					for n := range uint32(each) {
						for core := t; core < producers; core += threads {
							d.Thread(t).Task(core, n+1, uint64(n), uint64(n)+1)
						}
					}
				})
			}
			all.Wait()
			elapsed := b.Elapsed()
			b.StopTimer()
			run.Stop()
			b.ReportMetric(float64(elapsed.Nanoseconds())*float64(min(threads, runtime.GOMAXPROCS(0)))/float64(each*producers), "ns/record")
		})
	}
}

// Field report 54: what was lost stands in the file, by kind.
func TestField54LossIsInTheFile(t *testing.T) {
	c := newSmallChip(t, setup{shadow: true, cores: 1, policy: abi.Drop})
	run := c.begin()
	v := c.valve()
	v.set(true)
	r := c.launchRig()
	r.run(4500) // the free queues hold buffers for 4000 and 4096
	r.flush()
	v.set(false)
	o := r.settle(run)
	r.want(o, abi.KindAicpuTask, collector.Account{Total: 4500, Collected: 4000, Dropped: 500})
	r.want(o, abi.KindAicoreTask, collector.Account{Total: 4500, Collected: 4096, Dropped: 404})
	rec := r.file(o)
	lost := map[string]int64{}
	for _, k := range rec.Loss.Kinds {
		lost[k.Kind] = k.N
	}
	if !rec.Loss.Declared || lost["AICPU_TASK"] != 500 || lost["AICORE_TASK"] != 404 {
		t.Errorf("a reader finds %+v, want 500 and 404 records lost", rec.Loss)
	}
}

// Field report 55: what is ready is collected at the stop, however little it is.
func TestField55ThreeRecordsThenStop(t *testing.T) {
	onBoth(t, setup{cores: 1, level: abi.OrchPhases}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		for range 3 {
			r.task(0)
			r.phase()
			r.submit()
		}
		r.flush()
		o := r.settle(run)
		for kind := range abi.Kind(abi.Kinds) {
			r.want(o, kind, collector.Account{Total: 3, Collected: 3})
		}
		r.silent(o)
	})
}

// Field report 58: a run that ended early has its file too, and only one.
func TestField58OneFilePerRun(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		r.run(1100) // and no flush
		if err := c.host.Finalize(); err != nil {
			t.Fatal(err)
		}
		o, dir := run.Outcome(), t.TempDir()
		var first os.FileInfo
		for range 2 {
			path, err := o.Capture.Export(dir)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = info
			} else if !os.SameFile(first, info) || !first.ModTime().Equal(info.ModTime()) {
				t.Error("the second export wrote the file again")
			}
		}
		if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
			t.Errorf("files %q, want one", names)
		}
	})
}
