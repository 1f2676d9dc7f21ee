package producer_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// switchHost has one core whose AicpuTask buffer has sequence 7 and 3 records.
func switchHost(t *testing.T, w producer.Waiting) (*host, *producer.Thread, uint64) {
	h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
	h.cfg.Waiting = w
	h.give(abi.KindAicoreTask, 0, 1)
	buf := h.give(abi.KindAicpuTask, 0, 1)[0]
	thread := h.attach().Thread(1)
	h.pool(abi.KindAicpuTask, 0).Head.CurrentBufSeq.Store(7)
	for i := range uint32(3) {
		thread.Task(0, i+1, 10, 20)
	}
	if h.count(abi.KindAicpuTask, buf) != 3 {
		t.Fatal("the count does not follow the records")
	}
	return h, thread, buf
}

// The tests of this file are rows of spec/collector.md §15.

func TestSwitchBuffer(t *testing.T) {
	h, thread, old := switchHost(t, producer.Waiting{})
	next := h.alloc(abi.Buffers[abi.KindAicpuTask].Size)
	*h.mem.U32(next - devBase + 32000) = 999 // of its earlier life
	push(&h.pool(abi.KindAicpuTask, 0).Free, next)
	producer.SwitchTasks(thread, 0)
	if tail := h.mem.Word32(h.region.Tail(1)).Load(); tail != 1 {
		t.Errorf("queue tail %d, want 1", tail)
	}
	h.wantEntry(1, abi.KindAicpuTask, 0, old, 7)
	h.wantPool(abi.KindAicpuTask, 0, next, 8, 3, 0)
	if head := h.pool(abi.KindAicpuTask, 0).Free.Head.Load(); head != 2 {
		t.Errorf("free head %d, want 2: one at startup and one now", head)
	}
	if n := h.count(abi.KindAicpuTask, next); n != 0 {
		t.Errorf("the new buffer counts %d records, want 0", n)
	}
}

// TestSwitchNoneFree holds the pop gate closed: the full buffer goes, and none comes.
func TestSwitchNoneFree(t *testing.T) {
	c := &clock{}
	h, thread, old := switchHost(t, c.waiting(abi.Block))
	h.bp().FqFreezeActive.Store(1)
	producer.SwitchTasks(thread, 0)
	h.wantEntry(1, abi.KindAicpuTask, 0, old, 7)
	h.wantPool(abi.KindAicpuTask, 0, 0, 8, 3, 0)
	if producer.HasTasks(thread, 0) {
		t.Error("the thread still has the old buffer at hand")
	}
	if h.bp().FqContended.Load() != 1 {
		t.Error("the host was not asked for buffers")
	}
	if c.looks != 30 {
		t.Errorf("the thread gave up after %d s of freeze, want 30", c.looks)
	}
	s := thread.Stalls()
	if s.Count != 1 || s.Total.Seconds() != 30 || len(s.Kept) != 1 || s.Kept[0].Cause != producer.FreeQueue || !s.Kept[0].GaveUp {
		t.Errorf("stalls %+v, want one of 30 s that gave up on the free queue", s)
	}
	h.wantFaults(thread, 1)
	producer.SwitchTasks(thread, 0) // nothing to switch
	h.wantNoEntry(1)
	h.wantPool(abi.KindAicpuTask, 0, 0, 8, 3, 0)

	// Recovery: no active buffer, sequence 8, one free.
	next := h.give(abi.KindAicpuTask, 0, 1)[0]
	thread.Task(0, 4, 10, 20)
	h.wantPool(abi.KindAicpuTask, 0, next, 8, 4, 0)
	if n := h.count(abi.KindAicpuTask, next); n != 1 {
		t.Errorf("the new buffer counts %d records, want 1", n)
	}
}

func TestPopUnderFreeze(t *testing.T) {
	h, thread, _ := switchHost(t, producer.Waiting{Wait: func() { panic("waits") }})
	h.bp().FqFreezeActive.Store(1)
	next := h.give(abi.KindAicpuTask, 0, 1)[0]
	if !producer.PopTasks(thread, 0, 8) {
		t.Error("no buffer, although one is free")
	}
	h.wantPool(abi.KindAicpuTask, 0, next, 8, 3, 0)
	if h.bp().FqContended.Load() != 0 {
		t.Error("the host was asked for buffers without need")
	}
}

func TestStartupOnEmptyQueues(t *testing.T) {
	h := newHost(t, abi.A5, 3, abi.OrchPhases, 1<<20)
	h.cfg.Wait = func() { panic("waits") }
	for _, k := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} {
		h.pool(k, 1).Head.CurrentBufPtr.Store(77) // of an earlier run
		h.pool(k, 1).Head.CurrentBufSeq.Store(7)
	}
	d := h.attach()
	if d.Startup() == nil {
		t.Error("missing buffers are no error")
	}
	if err := d.InitPhases(2, 1); err == nil {
		t.Error("missing phase buffers are no error")
	}
	for k, n := range map[abi.Kind]int{abi.KindAicpuTask: 3, abi.KindAicoreTask: 3, abi.KindSchedPhase: 2, abi.KindOrchPhase: 1} {
		for i := range n {
			h.wantPool(k, i, 0, 0, 0, 0)
		}
	}
	if h.bp().FqContended.Load() != 0 {
		t.Error("startup asked the host for buffers")
	}
}

// TestTaskBufferFull: the record that fills a buffer hands it over.
func TestTaskBufferFull(t *testing.T) {
	h := newHost(t, abi.A2A3, 2, abi.ScheduleTiming, 1<<20)
	bufs := h.give(abi.KindAicpuTask, 1, 3)
	thread := h.attach().Thread(0)
	for i := range uint32(1000) {
		if i == 999 {
			h.wantNoEntry(0)
		}
		thread.Task(1, i+1, uint64(i)+100, uint64(i)+200)
	}
	h.wantEntry(0, abi.KindAicpuTask, 1, bufs[0], 0)
	h.wantPool(abi.KindAicpuTask, 1, bufs[1], 1, 1000, 0)
	if n := h.count(abi.KindAicpuTask, bufs[0]); n != 1000 {
		t.Errorf("count %d, want 1000", n)
	}
	for i, r := range recordsAt[abi.AicpuTask](h, abi.KindAicpuTask, bufs[0]) {
		if want := (abi.AicpuTask{DispatchTime: uint64(i) + 100, FinishTime: uint64(i) + 200, RegTaskID: uint32(i) + 1}); r != want {
			t.Fatalf("record %d is %+v, want %+v", i, r, want)
		}
	}
}

// TestPhaseCountBeforeFields: the count covers a slot before its fields are written.
func TestPhaseCountBeforeFields(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.SchedPhases, 8<<20)
	bufs := h.give(abi.KindSchedPhase, 0, 2)
	d := h.attach()
	if err := d.InitPhases(1, 0); err != nil {
		t.Fatal(err)
	}
	thread := d.Thread(0)
	slot := producer.AcquirePhase(thread)
	if n := h.count(abi.KindSchedPhase, bufs[0]); n != 1 || *slot != (abi.SchedPhase{}) {
		t.Errorf("count %d and slot %+v, want 1 and nothing written", n, *slot)
	}
	// Full at 16384: handed over by the record after.
	want := abi.SchedPhase{StartTime: 5000, EndTime: 5600, LoopIter: 42, Kind: abi.Dispatch, TasksProcessed: 3,
		PhaseData: [2]uint32{7, 2}, SharedDepthAtStart: [3]int16{1, 4, 0}, SharedDepthAtEnd: [3]int16{0, 2, 0}}
	for range 16383 {
		thread.SchedPhase(&want)
	}
	h.wantNoEntry(0)
	if got := recordsAt[abi.SchedPhase](h, abi.KindSchedPhase, bufs[0])[16383]; got != want {
		t.Errorf("the last record is %+v, want %+v", got, want)
	}
	thread.SchedPhase(&want)
	h.wantEntry(0, abi.KindSchedPhase, 0, bufs[0], 0)
	h.wantPool(abi.KindSchedPhase, 0, bufs[1], 1, 16385, 0)
	if n := h.count(abi.KindSchedPhase, bufs[1]); n != 1 {
		t.Errorf("the second buffer counts %d, want 1", n)
	}
}

// TestPhaseWithoutBuffer: the attempt is counted, and the loss, and the next one
// tries again.
func TestPhaseWithoutBuffer(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.SchedPhases, 2<<20)
	h.cfg.Policy = abi.Drop
	d := h.attach()
	if d.InitPhases(1, 0) == nil {
		t.Error("a missing buffer is no error")
	}
	d.Thread(0).SchedPhase(&abi.SchedPhase{LoopIter: 1})
	h.wantPool(abi.KindSchedPhase, 0, 0, 0, 1, 1)
	buf := h.give(abi.KindSchedPhase, 0, 1)[0]
	d.Thread(0).SchedPhase(&abi.SchedPhase{LoopIter: 2})
	h.wantPool(abi.KindSchedPhase, 0, buf, 0, 2, 1)
	if got := recordsAt[abi.SchedPhase](h, abi.KindSchedPhase, buf)[0].LoopIter; got != 2 {
		t.Errorf("the first record is of iteration %d, want 2", got)
	}
}
