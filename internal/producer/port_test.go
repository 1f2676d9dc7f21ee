package producer_test

import (
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// pressed is a run of one core at level 2 whose waits count, with n buffers for
// AicpuTask records.
func pressed(t *testing.T, policy abi.Policy, n int) (*host, *clock, *producer.Thread, []uint64) {
	h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
	c := &clock{on: map[int]func(){}}
	h.cfg.Waiting = c.waiting(policy)
	h.give(abi.KindAicoreTask, 0, 1)
	bufs := h.give(abi.KindAicpuTask, 0, n)
	return h, c, h.attach().Thread(0), bufs
}

func tasks(thread *producer.Thread, n int) {
	for range n {
		thread.Task(0, 1, 10, 20)
	}
}

func wantStall(t *testing.T, thread *producer.Thread, i int, cause producer.Cause, seconds int, gaveUp bool) {
	t.Helper()
	s := thread.Stalls()
	if len(s.Kept) <= i {
		t.Fatalf("%d stalls, want more than %d", len(s.Kept), i)
	}
	if k := s.Kept[i]; k.Cause != cause || k.Length != time.Duration(seconds)*time.Second || k.GaveUp != gaveUp {
		t.Errorf("stall %d is %v for %v (gave up: %v), want %v for %d s (%v)", i, k.Cause, k.Length, k.GaveUp, cause, seconds, gaveUp)
	}
}

// TestBlockUntilHostReacts stalls a thread on each of the three things there are.
func TestBlockUntilHostReacts(t *testing.T) {
	h, c, thread, bufs := pressed(t, abi.Block, 1)
	h.fill(0)
	bp := h.bp()
	head := h.mem.Word32(h.region.Head(0))
	c.on[2] = func() { // the host answers the full queue with a freeze, and takes the entry
		if bp.RqContended.Load() != 1 {
			t.Error("the full ready queue is not announced")
		}
		bp.RqFreezeActive.Store(1)
		bp.RqContended.Store(0)
		head.Store(h.mem.Word32(h.region.Tail(0)).Load())
	}
	c.on[5] = func() { // the thread is parked at the push gate: its entry is out
		h.wantEntry(0, abi.KindAicpuTask, 0, bufs[0], 0)
		bp.RqFreezeActive.Store(0)
	}
	c.on[7] = func() { // now it wants a buffer
		if bp.FqContended.Load() != 1 || bp.RqContended.Load() != 0 {
			t.Errorf("contended flags %d and %d, want only the free queue's", bp.RqContended.Load(), bp.FqContended.Load())
		}
		bp.FqFreezeActive.Store(1)
		bp.FqContended.Store(0)
		bufs = append(bufs, h.give(abi.KindAicpuTask, 0, 1)...)
	}
	c.on[9] = func() { bp.FqFreezeActive.Store(0) }
	tasks(thread, 1000)
	h.wantPool(abi.KindAicpuTask, 0, bufs[1], 1, 1000, 0)
	wantStall(t, thread, 0, producer.ReadyQueue, 2, false)
	wantStall(t, thread, 1, producer.PushGate, 3, false)
	s := thread.Stalls()
	if s.Count != 3 || s.Kept[2].Cause != producer.FreeQueue || s.Kept[2].GaveUp || s.Kept[2].Start != time.Unix(1005, 0) {
		t.Errorf("stalls %+v, want a third one on the free queue from 1005 s on", s)
	}
	if s.Total != time.Duration(c.looks)*time.Second {
		t.Errorf("stalled for %v, want all %d s", s.Total, c.looks)
	}
	h.wantFaults(thread, 0)
}

// TestReadyQueueTimeout: 30 s, then the buffer's records are dropped and it stays active.
func TestReadyQueueTimeout(t *testing.T) {
	h, _, thread, bufs := pressed(t, abi.Block, 2)
	h.fill(0)
	tasks(thread, 1000)
	h.wantPool(abi.KindAicpuTask, 0, bufs[0], 0, 1000, 1000)
	if n := h.count(abi.KindAicpuTask, bufs[0]); n != 0 {
		t.Errorf("the buffer counts %d, want 0", n)
	}
	wantStall(t, thread, 0, producer.ReadyQueue, 30, true)
	h.wantFaults(thread, 1)
	tasks(thread, 1)
	h.wantPool(abi.KindAicpuTask, 0, bufs[0], 0, 1001, 1000)
	if n := h.count(abi.KindAicpuTask, bufs[0]); n != 1 {
		t.Errorf("the buffer counts %d, want 1", n)
	}
}

// TestPushGateTimeout: the entry is out, so nothing is dropped (disagreement 17).
func TestPushGateTimeout(t *testing.T) {
	h, _, thread, bufs := pressed(t, abi.Block, 2)
	h.bp().RqFreezeActive.Store(1)
	tasks(thread, 1000)
	h.wantEntry(0, abi.KindAicpuTask, 0, bufs[0], 0)
	h.wantPool(abi.KindAicpuTask, 0, bufs[1], 1, 1000, 0)
	wantStall(t, thread, 0, producer.PushGate, 30, true)
	h.wantFaults(thread, 1)
}

// TestFreeQueueDeadline: a host that never reacts ends the wait after the
// deadline, not after the timeout, which is for freezes.
func TestFreeQueueDeadline(t *testing.T) {
	h, c, thread, _ := pressed(t, abi.Block, 1)
	tasks(thread, 1000)
	wantStall(t, thread, 0, producer.FreeQueue, 120, true)
	h.wantPool(abi.KindAicpuTask, 0, 0, 1, 1000, 0)
	// The host is gone: no record waits for it again.
	tasks(thread, 5)
	h.wantPool(abi.KindAicpuTask, 0, 0, 1, 1005, 5)
	if c.looks != 120 {
		t.Errorf("waited %d s, want 120", c.looks)
	}
	// It was only slow: what it gives is taken, and the next wait is one again.
	buf := h.give(abi.KindAicpuTask, 0, 1)[0]
	tasks(thread, 999)
	h.wantPool(abi.KindAicpuTask, 0, buf, 1, 2004, 5)
	tasks(thread, 1)
	wantStall(t, thread, 1, producer.FreeQueue, 120, true)
}

// TestFreezeTimeoutRunsPerFreeze: two freezes of 20 s are no freeze of 30 s.
func TestFreezeTimeoutRunsPerFreeze(t *testing.T) {
	h, c, thread, bufs := pressed(t, abi.Block, 1)
	freeze := func(v uint32) func() { return func() { h.bp().FqFreezeActive.Store(v) } }
	c.on[20], c.on[22], c.on[42] = freeze(0), freeze(1), freeze(0)
	c.on[45] = func() { bufs = append(bufs, h.give(abi.KindAicpuTask, 0, 1)...) }
	freeze(1)()
	tasks(thread, 1000)
	if len(bufs) != 2 {
		t.Fatalf("the thread gave up after %d s", c.looks)
	}
	h.wantPool(abi.KindAicpuTask, 0, bufs[1], 1, 1000, 0)
	h.wantFaults(thread, 0)
}

// TestDrop never waits, never asks and never parks; sums stay exact.
func TestDrop(t *testing.T) {
	h, c, thread, bufs := pressed(t, abi.Drop, 1)
	bp := h.bp()
	bp.RqFreezeActive.Store(1)
	bp.FqFreezeActive.Store(1)
	tasks(thread, 1005) // 5 find no buffer
	h.wantEntry(0, abi.KindAicpuTask, 0, bufs[0], 0)
	h.wantPool(abi.KindAicpuTask, 0, 0, 1, 1005, 5)
	next := h.give(abi.KindAicpuTask, 0, 1)[0]
	tasks(thread, 3)
	h.wantPool(abi.KindAicpuTask, 0, next, 1, 1008, 5)
	h.fill(0)
	tasks(thread, 997) // fills the buffer, which cannot go
	h.wantPool(abi.KindAicpuTask, 0, next, 1, 2005, 1005)
	if n := h.count(abi.KindAicpuTask, next); n != 0 {
		t.Errorf("the buffer counts %d, want 0", n)
	}
	if c.looks != 0 || thread.Stalls().Count != 0 {
		t.Errorf("it waited %d s in %d stalls", c.looks, thread.Stalls().Count)
	}
	if bp.RqContended.Load() != 0 || bp.FqContended.Load() != 0 {
		t.Error("it asked the host to hurry")
	}
}

// TestHostile: indices and addresses that cannot be are no buffer or a full
// queue, and a fault.
func TestHostile(t *testing.T) {
	end := uint64(devBase + 1<<20)
	for name, tt := range map[string]struct {
		spoil    func(h *host)
		dropped  uint32 // of 1001 records
		entries  int
		faults   uint64
		headGoes uint32 // how far the free queue's head is after all
	}{
		"slot outside":       {func(h *host) { push(&h.pool(0, 0).Free, end) }, 1, 1, 1, 2},
		"slot partly inside": {func(h *host) { push(&h.pool(0, 0).Free, end-64) }, 1, 1, 1, 2},
		"slot not aligned":   {func(h *host) { push(&h.pool(0, 0).Free, devBase+32) }, 1, 1, 1, 2},
		"slot empty":         {func(h *host) { push(&h.pool(0, 0).Free, 0) }, 1, 1, 1, 2},
		"tail too far":       {func(h *host) { h.pool(0, 0).Free.Tail.Store(6) }, 1, 1, 2, 1},
		"tail behind head":   {func(h *host) { h.pool(0, 0).Free.Tail.Store(0) }, 1, 1, 2, 1},
		"head of the queue":  {func(h *host) { h.mem.Word32(h.region.Head(0)).Store(992) }, 1000, 0, 1, 1},
		"tail of the queue":  {func(h *host) { h.mem.Word32(h.region.Tail(0)).Store(0xFFFFFFFF) }, 1000, 0, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h, _, thread, _ := pressed(t, abi.Drop, 1)
			tasks(thread, 999)
			tt.spoil(h)
			tasks(thread, 2)
			if got := h.pool(0, 0).Head.DroppedRecordCount; got != tt.dropped {
				t.Errorf("%d records dropped, want %d", got, tt.dropped)
			}
			if got := h.pool(0, 0).Free.Head.Load(); got != tt.headGoes {
				t.Errorf("free head %d, want %d", got, tt.headGoes)
			}
			h.wantFaults(thread, tt.faults)
			if tt.entries == 1 {
				if _, ok := h.take(0); !ok {
					t.Error("the full buffer was not handed over")
				}
			}
		})
	}
}

func TestStallsAreBounded(t *testing.T) {
	h, c, thread, bufs := pressed(t, abi.Block, 1)
	tasks(thread, 1000) // leaves no buffer, and waits for one
	for range 300 {
		push(&h.pool(abi.KindAicpuTask, 0).Free, bufs[0])
		tasks(thread, 1000)
		h.take(0)
	}
	s := thread.Stalls()
	if s.Count != 301 || len(s.Kept) != 256 || s.Total != time.Duration(c.looks)*time.Second {
		t.Errorf("%d stalls of %v with %d kept, want 301 of %d s with 256", s.Count, s.Total, len(s.Kept), c.looks)
	}
	h.wantPool(abi.KindAicpuTask, 0, 0, 301, 301_000, 0)
}
