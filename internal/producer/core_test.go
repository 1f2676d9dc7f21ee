package producer_test

import (
	"testing"

	"swimlane/internal/abi"
)

// TestCoreReserveCommit is the first row of spec/collector.md §15.
func TestCoreReserveCommit(t *testing.T) {
	h := newHost(t, abi.A2A3, 3, abi.TaskTiming, 1<<20)
	first := h.give(abi.KindAicoreTask, 2, 2)
	d := h.attach()
	c := d.Core(2)
	head := &h.pool(abi.KindAicoreTask, 2).Head
	if head.CurrentBufPtr.Load() != first[0] || head.CurrentBufSeq.Load() != 0 {
		t.Fatal("the core does not begin with the first buffer")
	}
	c.Reserve()
	head.CurrentBufPtr.Store(first[1])
	head.CurrentBufSeq.Store(1)
	c.Commit(0x1234, 17, 100, 120, 180)
	got := recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, first[0])[0]
	if want := (abi.AicoreTask{StartTime: 120, EndTime: 180, TaskTokenRaw: 0x1234, RegTaskID: 17, ReceiveToStartCycles: 20}); got != want {
		t.Errorf("the first buffer holds %+v, want %+v", got, want)
	}
	c.Reserve()
	c.Commit(0x1235, 18, 200, 220, 280)
	second := recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, first[1])[0]
	if second.RegTaskID != 18 || second.StartTime != 220 {
		t.Errorf("the second buffer begins with %+v, want token 18 from 220", second)
	}
	if next := recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, first[0])[1]; next != (abi.AicoreTask{}) {
		t.Errorf("the first buffer's second record is %+v, want none", next)
	}
	c.Commit(0x1236, 19, 1, 2, 3) // nothing is reserved
	if r := recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, first[1]); r[0].RegTaskID != 18 || r[1].StartTime != 0 {
		t.Error("a commit without a reservation wrote a record")
	}
}

// TestCoreSlotGuard: a core that gets no other buffer loses records and nothing else.
func TestCoreSlotGuard(t *testing.T) {
	h := newHost(t, abi.A5, 1, abi.TaskTiming, 1<<20)
	buf := h.give(abi.KindAicoreTask, 0, 1)[0]
	c := h.attach().Core(0)
	for i := range uint32(1030) {
		c.Reserve()
		c.Commit(uint64(i), i, 5, 10, 20)
	}
	if c.Lost() != 6 {
		t.Errorf("%d records found no slot, want 6", c.Lost())
	}
	for i, r := range recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, buf) {
		if r.RegTaskID != uint32(i) || r.StartTime != 10 {
			t.Fatalf("record %d is %+v", i, r)
		}
	}
	if h.count(abi.KindAicoreTask, buf) != 0 {
		t.Error("the core stamped the count, which is the AICPU's")
	}
}

func TestCoreWithoutBuffer(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	d := h.attach()
	if d.Startup() == nil {
		t.Error("the run began without buffers and does not say so")
	}
	c := d.Core(0)
	c.Reserve()
	c.Commit(1, 1, 1, 2, 3)
	if c.Lost() != 1 {
		t.Errorf("%d records lost, want 1", c.Lost())
	}
	// The AICPU finds one later.
	buf := h.give(abi.KindAicoreTask, 0, 1)[0]
	head := &h.pool(abi.KindAicoreTask, 0).Head
	head.CurrentBufPtr.Store(buf)
	head.CurrentBufSeq.Store(1)
	c.Reserve()
	c.Commit(2, 2, 1, 2, 3)
	if r := recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, buf)[0]; r.RegTaskID != 2 {
		t.Errorf("the late buffer holds %+v, want token 2", r)
	}
	h.wantFaults(c, 0)
}

// TestCoreHostile: numbers that cannot be are faults, not accidents.
func TestCoreHostile(t *testing.T) {
	for name, spoil := range map[string]func(h *host){
		"pool outside the memory":   func(h *host) { h.mem.Word64(h.cfg.RotationTable - devBase).Store(0xFFFF_FFFF_FFFF_FFC0) },
		"pool not aligned":          func(h *host) { h.mem.Word64(h.cfg.RotationTable - devBase).Store(devBase + 8) },
		"buffer outside the memory": func(h *host) { h.pool(abi.KindAicoreTask, 0).Head.CurrentBufPtr.Store(64) },
		"buffer partly outside":     func(h *host) { h.pool(abi.KindAicoreTask, 0).Head.CurrentBufPtr.Store(devBase + 1<<20 - 64) },
		"buffer not aligned":        func(h *host) { h.pool(abi.KindAicoreTask, 0).Head.CurrentBufPtr.Store(devBase + 4) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
			h.give(abi.KindAicoreTask, 0, 1)
			c := h.attach().Core(0)
			spoil(h)
			c.Reserve()
			c.Commit(1, 1, 1, 2, 3)
			if c.Lost() != 1 {
				t.Errorf("%d records lost, want 1", c.Lost())
			}
			h.wantFaults(c, 1)
		})
	}
}
