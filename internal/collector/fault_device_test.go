package collector_test

import (
	"fmt"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/transport/fault"
)

// onBoth runs a test over both transports.
func onBoth(t *testing.T, s setup, test func(t *testing.T, c *chip)) {
	for _, shadow := range []bool{false, true} {
		t.Run(fmt.Sprintf("shadow=%v", shadow), func(t *testing.T) {
			s.shadow = shadow
			test(t, newSmallChip(t, s))
		})
	}
}

// stray takes a buffer out of a pool's free queue and fills it with records, all
// by hand, and gives the entry that would hand it over.
func (r *rig) stray(kind abi.Kind, index, records int) abi.ReadyEntry {
	r.t.Helper()
	pool, shape := r.pool(kind, index), &abi.Buffers[kind]
	head := pool.Free.Head.Load()
	if head == pool.Free.Tail.Load() {
		r.t.Fatal("the free queue is empty")
	}
	addr := pool.Free.BufferPtrs[head%4].Load()
	pool.Free.Head.Store(head + 1)
	mem := r.buffer(kind, addr)
	clear(mem)
	const first = 1 << 20 // number of a task that no core gets to
	for i := range records {
		at := uint64(i * shape.RecordSize)
		switch kind {
		case abi.KindAicpuTask:
			*abi.View[abi.AicpuTask](mem, at) = aicpuRecord(index, first+i)
		case abi.KindAicoreTask:
			*abi.View[abi.AicoreTask](mem, at) = aicoreRecord(index, first+i)
		default: // both begin with the times
			*abi.View[abi.OrchPhase](mem, at) = abi.OrchPhase{StartTime: first + uint64(i), EndTime: first + uint64(i) + 1}
		}
	}
	*mem.U32(uint64(shape.Count)) = uint32(records)
	r.strays = append(r.strays, func() { pool.Head.TotalRecordCount += uint32(records) })
	r.made[kind] += uint64(records)
	return abi.ReadyEntry{CoreIndex: uint32(index), Kind: kind, BufferPtr: addr}
}

// Entries that cannot be are counted, their records charged to the host, and the
// run goes on (spec/collector.md §3.4).
func TestStrayEntries(t *testing.T) {
	const good, bad = 10, 5
	for _, c := range []struct {
		name   string
		level  abi.Level
		kind   abi.Kind
		spoil  func(r *rig, e *abi.ReadyEntry)
		faults collector.Faults
		says   string
		astray int // buffers that nobody can find before the next run
	}{
		{"kind 7", abi.ScheduleTiming, abi.KindAicpuTask, func(_ *rig, e *abi.ReadyEntry) { e.Kind = 7 }, collector.Faults{Kind: 1}, "invalid entry kind=7", 0},
		{"core out of range", abi.ScheduleTiming, abi.KindAicpuTask, func(_ *rig, e *abi.ReadyEntry) { e.CoreIndex = 3 }, collector.Faults{Kind: 1}, "invalid task entry: core=3 kind=0", 0},
		{"greatest core", abi.ScheduleTiming, abi.KindAicoreTask, func(_ *rig, e *abi.ReadyEntry) { e.CoreIndex = 1<<32 - 1 }, collector.Faults{Kind: 1}, "invalid task entry: core=4294967295 kind=3", 0},
		{"thread out of range", abi.OrchPhases, abi.KindSchedPhase, func(_ *rig, e *abi.ReadyEntry) { e.CoreIndex = 4 }, collector.Faults{Kind: 1}, "invalid phase entry: thread=4", 0},
		{"orchestrator out of range", abi.OrchPhases, abi.KindOrchPhase, func(_ *rig, e *abi.ReadyEntry) { e.CoreIndex = 4 }, collector.Faults{Kind: 1}, "invalid phase entry: thread=4", 0},
		{"buffer outside", abi.ScheduleTiming, abi.KindAicpuTask, func(_ *rig, e *abi.ReadyEntry) { e.BufferPtr = 0xDEAD000 }, collector.Faults{Unmapped: 1}, "no host mapping for dev_ptr=0xdead000", 1},
		{"buffer inside another", abi.ScheduleTiming, abi.KindAicpuTask, func(_ *rig, e *abi.ReadyEntry) { e.BufferPtr += 64 }, collector.Faults{Unmapped: 1}, "is 64 bytes inside a buffer", 1},
		{"the region", abi.OrchPhases, abi.KindSchedPhase, func(r *rig, e *abi.ReadyEntry) { e.BufferPtr = r.host.DataBase() }, collector.Faults{Unmapped: 1}, "no host mapping for dev_ptr=", 1},
		{"buffer of another kind", abi.ScheduleTiming, abi.KindAicpuTask, func(_ *rig, e *abi.ReadyEntry) { e.Kind = abi.KindAicoreTask }, collector.Faults{Kind: 1}, "it names a buffer for AicpuTask records", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, setup{level: c.level}, func(t *testing.T, chip *chip) {
				run := chip.begin()
				r := chip.launchRig()
				r.run(good / 2)
				r.phase()
				r.submit()
				e := r.stray(c.kind, 0, bad)
				c.spoil(r, &e)
				chip.publish(0, e)
				r.run(good / 2)
				r.flush()
				o := r.settle(run)
				if o.Faults != c.faults {
					t.Errorf("faults %+v, want %+v", o.Faults, c.faults)
				}
				for kind, lost := range r.lost(c.kind, bad) {
					if got := o.Capture.Accounting.Kinds[kind]; got.HostLost != lost || got.Dropped+got.Unflushed > 0 {
						t.Errorf("kind %d: %+v, want %d lost by the host and the others collected", kind, got, lost)
					}
				}
				if n := chip.said.count(c.says); n != 1 {
					t.Errorf("%d lines say %q, want 1: %q", n, c.says, chip.said.lines)
				}
				if p, _ := chip.host.Where(); p.Astray != c.astray || p.Retired > 0 {
					t.Errorf("buffers %+v, want %d astray", p, c.astray)
				}
				r.again()
			})
		})
	}
}

func (*rig) lost(kind abi.Kind, n uint64) (out [abi.Kinds]uint64) {
	out[kind] = n
	return out
}

// again begins a further run, which must find all buffers and lose nothing.
func (r *rig) again() {
	r.t.Helper()
	run, err := r.host.Begin(collector.RunOptions{Level: r.level, Runtime: tmr})
	if err != nil {
		r.t.Fatal(err)
	}
	if p, err := r.host.Where(); err != nil || p.Astray+p.Active > 0 {
		r.t.Errorf("buffers at the start of the next run: %+v: %v", p, err)
	}
	if err := run.Start(); err != nil {
		r.t.Fatal(err)
	}
	next := r.launchRig()
	next.run(1100)
	next.flush()
	o := next.settle(run)
	next.silent(o)
	next.checkTasks(o.Capture, 1100)
	if o.Faults != (collector.Faults{}) {
		r.t.Errorf("faults of the next run: %+v", o.Faults)
	}
}

// A buffer that is handed over twice is collected once.
func TestBufferTwice(t *testing.T) {
	onBoth(t, setup{shards: 1}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		e := r.stray(abi.KindAicpuTask, 1, 5)
		// Both before the host sees the first.
		c.publish(1, e)
		c.publish(1, e)
		r.run(10)
		r.flush()
		o := r.settle(run)
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 35, Collected: 35})
		if o.Faults != (collector.Faults{NotHeld: 1}) {
			t.Errorf("faults %+v, want one buffer that the device does not hold", o.Faults)
		}
		r.again()
	})
}

// An entry whose pointer has not arrived is none yet (spec/collector.md §4.2).
func TestTornEntry(t *testing.T) {
	c := newSmallChip(t, setup{shadow: true, shards: 1, threads: 1})
	run := c.begin()
	r := c.launchRig()
	e := r.stray(abi.KindAicpuTask, 1, 5)
	addr := e.BufferPtr
	e.BufferPtr = 0
	arrived := make(chan bool)
	at := c.host.Layout().Entry(0, 0)
	c.faults.Add(c.word(fault.FromDevice, at, 32, fault.Rule{Nth: 3, Before: func(fault.Call) {
		c.region().Word64(at + 8).Store(addr)
		close(arrived)
	}}))
	c.publish(0, e)
	<-arrived
	r.run(1200)
	r.flush()
	o := r.settle(run)
	r.silent(o)
	r.want(o, abi.KindAicpuTask, collector.Account{Total: 3605, Collected: 3605})
	if o.Faults != (collector.Faults{}) {
		t.Errorf("faults %+v", o.Faults)
	}
}

// A pointer that never arrives costs its own records only.
func TestEntryWithoutPointer(t *testing.T) {
	onBoth(t, setup{shards: 1, threads: 1}, func(t *testing.T, c *chip) {
		run := c.begin()
		r := c.launchRig()
		e := r.stray(abi.KindAicpuTask, 1, 5)
		e.BufferPtr = 0
		c.publish(0, e)
		r.run(1200)
		r.flush()
		o := r.settle(run)
		r.want(o, abi.KindAicpuTask, collector.Account{Total: 3605, Collected: 3600, HostLost: 5})
		if o.Faults != (collector.Faults{Unmapped: 1}) {
			t.Errorf("faults %+v, want one entry without a buffer", o.Faults)
		}
		r.again()
	})
}

// A queue whose indices cannot be is left alone until they can be again.
func TestCorruptIndices(t *testing.T) {
	for _, repaired := range []bool{true, false} {
		t.Run(fmt.Sprintf("repaired=%v", repaired), func(t *testing.T) {
			onBoth(t, setup{threads: 2}, func(t *testing.T, c *chip) {
				run := c.begin()
				r := c.launchRig()
				mem, l := c.region(), c.host.Layout()
				tail := mem.Word32(l.Tail(0))
				r.run(500)
				good := tail.Load()
				tail.Store(992) // spec/device-abi.md §1: entries are 0…991
				const says = "invalid queue indices for thread 0: head=0 tail=992 (max=992)"
				for end := time.Now().Add(time.Minute); c.said.count(says) == 0; {
					if time.Now().After(end) {
						t.Fatal("nobody noticed")
					}
				}
				// The other queue goes on.
				e := r.stray(abi.KindAicpuTask, 1, 5)
				c.publish(1, e)
				if repaired {
					tail.Store(good)
				}
				r.thread = c.current.Thread(1)
				r.run(1000)
				if repaired {
					r.thread = c.current.Thread(0)
				}
				r.flush()
				o := r.settle(run)
				if n := c.said.count(says); n != 1 || o.Faults.Indices == 0 {
					t.Errorf("%d lines say %q, want 1; faults %+v", n, says, o.Faults)
				}
				r.want(o, abi.KindAicpuTask, collector.Account{Total: 4505, Collected: 4505})
				r.want(o, abi.KindAicoreTask, collector.Account{Total: 4500, Collected: 4500})
				if want := map[bool]uint64{true: 0, false: 1}[repaired]; o.Faults.Untaken != want {
					t.Errorf("%d queues untaken, want %d", o.Faults.Untaken, want)
				}
				r.again()
			})
		})
	}
}

// A queue that is broken does not keep the device frozen: neither by its tail nor,
// in shared memory, by its head (spec/collector.md §4.6).
func TestBrokenQueueDoesNotFreeze(t *testing.T) {
	for _, broken := range []string{"tail", "head"} {
		t.Run(broken, func(t *testing.T) {
			onBoth(t, setup{threads: 2}, func(t *testing.T, c *chip) {
				if broken == "head" && c.shadow {
					return // the host has a head of its own, and does not see that of the device
				}
				run := c.begin()
				mem, l := c.region(), c.host.Layout()
				word := map[string]uint64{"tail": l.Tail(0), "head": l.Head(0)}[broken]
				mem.Word32(word).Store(5000)
				mem.Word32(l.Backpressure + abi.FqContended).Store(1)
				c.wait("DFX backpressure RELEASED", 1)
				mem.Word32(word).Store(0)
				r := c.launchRig()
				r.run(10)
				r.flush()
				r.silent(r.settle(run))
			})
		})
	}
}

// wait waits until so many lines have a text.
func (c *chip) wait(text string, lines int) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); c.said.count(text) < lines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.t.Errorf("nobody said %q", text)
			return
		}
	}
}

// A free queue whose head cannot be gets nothing; the device's limit ends its
// wait, and the others go on.
func TestCorruptFreeQueue(t *testing.T) {
	for _, policy := range []abi.Policy{abi.Block, abi.Drop} {
		t.Run(fmt.Sprintf("policy=%d", policy), func(t *testing.T) {
			onBoth(t, setup{policy: policy, waiting: patience(10*time.Millisecond, 40*time.Millisecond)}, func(t *testing.T, c *chip) {
				run := c.begin()
				r := c.launchRig()
				c.pool(abi.KindAicpuTask, 1).Free.Head.Store(1 << 31)
				r.run(1010)
				r.flush()
				o := r.settle(run)
				r.want(o, abi.KindAicpuTask, collector.Account{Total: 3030, Collected: 3020, Dropped: 10})
				if o.Faults.Retired+o.Faults.Kind+o.Faults.NotHeld > 0 {
					t.Errorf("faults %+v", o.Faults)
				}
				r.again()
			})
		})
	}
}

// A count beyond the capacity is cut, and noticed.
func TestCountBeyondCapacity(t *testing.T) {
	for level, kinds := range map[abi.Level][]abi.Kind{
		abi.TaskTiming: {abi.KindAicoreTask}, // more of them than of the others fit into a buffer
		abi.OrchPhases: {abi.KindAicpuTask, abi.KindSchedPhase, abi.KindOrchPhase},
	} {
		onBoth(t, setup{level: level, sink: discard}, func(t *testing.T, c *chip) {
			run := c.begin()
			r := c.launchRig()
			for _, kind := range kinds {
				shape := &abi.Buffers[kind]
				e := r.stray(kind, 0, shape.Capacity)
				*r.buffer(kind, e.BufferPtr).U32(uint64(shape.Count)) = 1<<32 - 1
				c.publish(0, e)
			}
			o := r.settle(run)
			for _, kind := range kinds {
				n := uint64(abi.Buffers[kind].Capacity)
				r.want(o, kind, collector.Account{Total: n, Collected: n})
			}
			if o.Faults != (collector.Faults{Overfull: uint64(len(kinds))}) {
				t.Errorf("faults %+v, want %d counts beyond the capacity", o.Faults, len(kinds))
			}
		})
	}
}
