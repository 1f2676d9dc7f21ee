package producer_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// play runs tasks one after another on core 0: dispatch, reserve, ACK, FIN,
// commit. The ACK hook of tasks that late names is left to the caller.
func play(thread *producer.Thread, c *producer.Core, from, to uint32, late func(token uint32) bool) {
	for k := from; k <= to; k++ {
		thread.Dispatch(0, k)
		c.Reserve()
		if late == nil || !late(k) {
			thread.Ack(0, k)
		}
		c.Commit(uint64(k), k, 90, 100, 200)
	}
}

// wantTokens compares the tokens of a full AicoreTask buffer.
func (h *host) wantTokens(addr uint64, first uint32) {
	h.t.Helper()
	for i, r := range recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, addr) {
		if r.RegTaskID != first+uint32(i) || r.StartTime == 0 {
			h.t.Fatalf("slot %d holds %+v, want token %d", i, r, first+uint32(i))
		}
	}
}

// TestRotation: the buffer changes with dispatch 1025, and the full one is
// handed over with the ACK of that task, however late.
func TestRotation(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	bufs := h.give(abi.KindAicoreTask, 0, 3)
	d := h.attach()
	thread, c := d.Thread(2), d.Core(0)
	play(thread, c, 1, 1024, nil)
	h.wantPool(abi.KindAicoreTask, 0, bufs[0], 0, 1024, 0)

	play(thread, c, 1025, 1300, func(token uint32) bool { return token == 1025 })
	h.wantPool(abi.KindAicoreTask, 0, bufs[1], 1, 1300, 0)
	h.wantNoEntry(2)
	if n := h.count(abi.KindAicoreTask, bufs[0]); n != 0 {
		t.Errorf("the stashed buffer counts %d records before its gate opened, want 0", n)
	}
	thread.Ack(0, 1024) // not the gate
	h.wantNoEntry(2)
	thread.Ack(0, 1025)
	h.wantEntry(2, abi.KindAicoreTask, 0, bufs[0], 0)
	if n := h.count(abi.KindAicoreTask, bufs[0]); n != 1024 {
		t.Errorf("the buffer counts %d records, want 1024", n)
	}
	h.wantTokens(bufs[0], 1)
	thread.Ack(0, 1025) // a second event of the same task
	h.wantNoEntry(2)
}

// TestRotationWithoutAcks is a runtime that does not call Ack: the next rotation
// hands the buffer over, in the order of sequences.
func TestRotationWithoutAcks(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	bufs := h.give(abi.KindAicoreTask, 0, 4)
	d := h.attach()
	thread, c := d.Thread(0), d.Core(0)
	always := func(uint32) bool { return true }
	play(thread, c, 1, 2048, always)
	h.wantNoEntry(0)
	play(thread, c, 2049, 2049, always)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[0], 0)
	play(thread, c, 2050, 3073, always)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[1], 1)
	h.wantTokens(bufs[1], 1025)

	thread.Flush([]int{0}, nil)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[2], 2)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[3], 3)
	h.wantPool(abi.KindAicoreTask, 0, 0, 3, 3073, 0)
	h.wantFaults(thread, 0)
}

// TestRotationWithoutBuffer keeps the old buffer: records are lost and not counted.
func TestRotationWithoutBuffer(t *testing.T) {
	for name, zero := range map[string]bool{"empty queue": false, "empty slot": true} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
			h.cfg.Policy = abi.Drop
			buf := h.give(abi.KindAicoreTask, 0, 1)[0]
			d := h.attach()
			thread, c := d.Thread(0), d.Core(0)
			if zero {
				push(&h.pool(abi.KindAicoreTask, 0).Free, 0)
			}
			play(thread, c, 1, 1030, nil)
			h.wantPool(abi.KindAicoreTask, 0, buf, 0, 1030, 0)
			h.wantNoEntry(0)
			if c.Lost() != 6 {
				t.Errorf("%d records lost, want 6", c.Lost())
			}
			if n, _ := thread.Faults(); n == 0 {
				t.Error("no fault is counted")
			}
			// 1030 dispatches fill a buffer of 1024, not more.
			thread.Flush([]int{0}, nil)
			h.wantEntry(0, abi.KindAicoreTask, 0, buf, 0)
			if n := h.count(abi.KindAicoreTask, buf); n != 1024 {
				t.Errorf("the flushed buffer counts %d, want 1024", n)
			}
		})
	}
}

// TestStashThatCannotGo: its records are dropped, and it serves as the new buffer.
func TestStashThatCannotGo(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	h.cfg.Policy = abi.Drop
	bufs := h.give(abi.KindAicoreTask, 0, 3)
	d := h.attach()
	thread, c := d.Thread(0), d.Core(0)
	h.fill(0)
	play(thread, c, 1, 2048, nil) // the ACK of 1025 found the queue full
	h.wantPool(abi.KindAicoreTask, 0, bufs[1], 1, 2048, 0)
	play(thread, c, 2049, 2049, nil)
	h.wantPool(abi.KindAicoreTask, 0, bufs[0], 2, 2049, 1024)
	if head := h.pool(abi.KindAicoreTask, 0).Free.Head.Load(); head != 2 {
		t.Errorf("free head %d, want 2: the third buffer stays in the queue", head)
	}
	h.mem.Word32(h.region.Head(0)).Store(h.mem.Word32(h.region.Tail(0)).Load()) // the host empties the queue
	play(thread, c, 2050, 3073, nil)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[1], 1)
	h.wantTokens(bufs[1], 1025)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[0], 2) // by the ACK of 3073
	h.wantTokens(bufs[0], 2049)
	h.wantPool(abi.KindAicoreTask, 0, bufs[2], 3, 3073, 1024)
}

// TestRotationAfterAMissedOne: the sequence says at which dispatch a buffer
// begins, so that a count taken from it covers no slot of an earlier life.
func TestRotationAfterAMissedOne(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
	h.cfg.Policy = abi.Drop
	bufs := h.give(abi.KindAicoreTask, 0, 1)
	d := h.attach()
	thread, c := d.Thread(0), d.Core(0)
	play(thread, c, 1, 3*1024, nil) // the second and third 1024 find no slot
	h.wantPool(abi.KindAicoreTask, 0, bufs[0], 0, 3*1024, 0)
	bufs = append(bufs, h.give(abi.KindAicoreTask, 0, 1)...)
	play(thread, c, 3*1024+1, 3*1024+5, nil)
	h.wantPool(abi.KindAicoreTask, 0, bufs[1], 3, 3*1024+5, 0)
	thread.Flush([]int{0}, nil)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[0], 0)
	h.wantEntry(0, abi.KindAicoreTask, 0, bufs[1], 3)
	if n := h.count(abi.KindAicoreTask, bufs[1]); n != 5 {
		t.Errorf("the flushed buffer counts %d, want 5", n)
	}
}

// TestRotationPastABadSlot: a slot without a buffer costs one rotation, not all.
func TestRotationPastABadSlot(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
	h.cfg.Policy = abi.Drop
	h.give(abi.KindAicoreTask, 0, 1)
	d := h.attach()
	thread, c := d.Thread(0), d.Core(0)
	push(&h.pool(abi.KindAicoreTask, 0).Free, 0xDEAD0)
	good := h.give(abi.KindAicoreTask, 0, 1)[0]
	play(thread, c, 1, 2*1024+5, nil)
	h.wantPool(abi.KindAicoreTask, 0, good, 2, 2*1024+5, 0)
	if c.Lost() != 1024 {
		t.Errorf("%d records lost, want the 1024 of one rotation", c.Lost())
	}
}
