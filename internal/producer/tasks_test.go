package producer_test

import (
	"fmt"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// TestTasks writes records of every core through its own writer and through the
// thread in turn: first without a buffer, then through two and a bit.
func TestTasks(t *testing.T) {
	for core := range 5 { // cores look ahead at different records
		t.Run(fmt.Sprint(core), func(t *testing.T) {
			h := newHost(t, abi.A2A3, 5, abi.ScheduleTiming, 1<<20)
			h.cfg.Policy = abi.Drop
			thread := h.attach().Thread(2)
			w := thread.Tasks(core)
			token := uint32(0)
			write := func() {
				if token++; token%3 == 0 {
					thread.Task(core, token, uint64(token)+100, uint64(token)+200)
					return
				}
				r := w.Reserve()
				r.RegTaskID, r.DispatchTime, r.FinishTime = token, uint64(token)+100, uint64(token)+200
				w.Commit()
			}
			for range 4 {
				write()
			}
			h.wantPool(abi.KindAicpuTask, core, 0, 0, 4, 4)
			bufs := h.give(abi.KindAicpuTask, core, 3)
			for n := 1; n <= 2010; n++ {
				write()
				if n == 1 || n == 999 {
					h.wantPool(abi.KindAicpuTask, core, bufs[0], 0, uint32(4+n), 4)
					if got := h.count(abi.KindAicpuTask, bufs[0]); got != uint32(n) {
						t.Errorf("the buffer counts %d records, want %d", got, n)
					}
				}
			}
			h.wantPool(abi.KindAicpuTask, core, bufs[2], 2, 2014, 4)
			h.wantEntry(2, abi.KindAicpuTask, uint32(core), bufs[0], 0)
			h.wantEntry(2, abi.KindAicpuTask, uint32(core), bufs[1], 1)
			h.wantNoEntry(2)
			next := uint32(5)
			for i, n := range []uint32{1000, 1000, 10} {
				if got := h.count(abi.KindAicpuTask, bufs[i]); got != n {
					t.Errorf("buffer %d counts %d records, want %d", i, got, n)
				}
				for slot, r := range recordsAt[abi.AicpuTask](h, abi.KindAicpuTask, bufs[i])[:n] {
					if want := (abi.AicpuTask{DispatchTime: uint64(next) + 100, FinishTime: uint64(next) + 200, RegTaskID: next}); r != want {
						t.Fatalf("buffer %d, record %d is %+v, want %+v", i, slot, r, want)
					}
					next++
				}
			}
		})
	}
}

// TestTasksOfAnotherThread: a core's full buffer goes to the queue of the thread
// that drives it now.
func TestTasksOfAnotherThread(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
	bufs := h.give(abi.KindAicpuTask, 0, 3)
	d := h.attach()
	for range 1000 {
		d.Thread(0).Task(0, 1, 10, 20)
	}
	w := d.Thread(3).Tasks(0)
	for range 1000 {
		*w.Reserve() = abi.AicpuTask{RegTaskID: 2}
		w.Commit()
	}
	h.wantEntry(0, abi.KindAicpuTask, 0, bufs[0], 0)
	h.wantEntry(3, abi.KindAicpuTask, 0, bufs[1], 1)
}

// TestTasksOff: no writer where nothing is recorded.
func TestTasksOff(t *testing.T) {
	var off *producer.Thread
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	h.give(abi.KindAicoreTask, 0, 1)
	for name, thread := range map[string]*producer.Thread{"no thread": off, "level 1": h.attach().Thread(0)} {
		if thread.Tasks(0) != nil {
			t.Errorf("%s has a writer of AicpuTask records", name)
		}
	}
}
