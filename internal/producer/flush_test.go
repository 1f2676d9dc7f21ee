package producer_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
)

// TestFlush goes through spec/collector.md §2.9 with two cores and a phase buffer.
func TestFlush(t *testing.T) {
	h := newHost(t, abi.A2A3, 3, abi.OrchPhases, 8<<20)
	var tasks, kernels []uint64
	for i := range 3 {
		tasks = append(tasks, h.give(abi.KindAicpuTask, i, 1)...)
		kernels = append(kernels, h.give(abi.KindAicoreTask, i, 2)...)
	}
	phases := h.give(abi.KindSchedPhase, 1, 1)[0]
	h.give(abi.KindSchedPhase, 0, 1)
	orch := h.give(abi.KindOrchPhase, 0, 1)[0]
	d := h.attach()
	if err := d.InitPhases(2, 1); err != nil {
		t.Fatal(err)
	}
	thread := d.Thread(1)
	for k := range uint32(1030) { // core 2 rotates once, and its gate stays shut
		thread.Dispatch(2, k+1)
	}
	for range 7 {
		thread.Dispatch(0, 1)
		thread.Task(0, 1, 10, 20)
	}
	thread.SchedPhase(&abi.SchedPhase{Kind: abi.Complete})
	d.AnnounceOrchestrator(3)
	d.Thread(3).OrchPhase(&abi.OrchPhase{SubmitIdx: 5, TaskID: 9})

	var left []int
	thread.Flush([]int{0, 2}, func(core int) {
		left = append(left, core)
		if core == 2 {
			h.wantEntry(1, abi.KindAicpuTask, 0, tasks[0], 0)
			h.wantEntry(1, abi.KindAicoreTask, 0, kernels[0], 0)
			h.wantEntry(1, abi.KindAicoreTask, 2, kernels[4], 0)
			h.wantNoEntry(1) // not before the core has left
		}
	})
	if !slices.Equal(left, []int{0, 2}) {
		t.Errorf("the flush waited for cores %v, want 0 and 2", left)
	}
	h.wantEntry(1, abi.KindAicoreTask, 2, kernels[5], 1)
	h.wantEntry(1, abi.KindSchedPhase, 1, phases, 0)
	h.wantNoEntry(1)
	for addr, want := range map[uint64]uint32{kernels[0]: 7, kernels[4]: 1024, kernels[5]: 6} {
		if n := h.count(abi.KindAicoreTask, addr); n != want {
			t.Errorf("an AicoreTask buffer counts %d, want %d", n, want)
		}
	}
	h.wantPool(abi.KindAicpuTask, 0, 0, 0, 7, 0)
	h.wantPool(abi.KindAicpuTask, 2, tasks[2], 0, 0, 0) // empty: stays
	h.wantPool(abi.KindAicoreTask, 2, 0, 1, 1030, 0)
	h.wantPool(abi.KindAicoreTask, 1, kernels[2], 0, 0, 0) // not this thread's
	h.wantPool(abi.KindSchedPhase, 1, 0, 0, 1, 0)

	d.Thread(3).FlushOrch()
	h.wantEntry(3, abi.KindOrchPhase, 0, orch, 0)
	h.wantPool(abi.KindOrchPhase, 0, 0, 0, 1, 0)
	if got := recordsAt[abi.OrchPhase](h, abi.KindOrchPhase, orch)[0]; got.SubmitIdx != 5 || got.TaskID != 9 {
		t.Errorf("the submit is %+v, want 5 of task 9", got)
	}
	thread.Flush([]int{0, 2}, nil)
	h.wantNoEntry(1)
}

// TestFlushWithoutDispatches: from level 2 on an untouched buffer stays where it is.
func TestFlushWithoutDispatches(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.ScheduleTiming, 1<<20)
	h.give(abi.KindAicpuTask, 0, 1)
	buf := h.give(abi.KindAicoreTask, 0, 1)[0]
	thread := h.attach().Thread(0)
	thread.Flush([]int{0}, nil)
	h.wantNoEntry(0)
	h.wantPool(abi.KindAicoreTask, 0, buf, 0, 0, 0)
}

// TestFlushLevel1 marks the last buffer full, whatever the core has used of it.
func TestFlushLevel1(t *testing.T) {
	h := newHost(t, abi.A2A3, 1, abi.TaskTiming, 1<<20)
	buf := h.give(abi.KindAicoreTask, 0, 1)[0]
	d := h.attach()
	play(d.Thread(0), d.Core(0), 1, 5, nil)
	d.Thread(0).Flush([]int{0}, nil)
	h.wantEntry(0, abi.KindAicoreTask, 0, buf, 0)
	if n := h.count(abi.KindAicoreTask, buf); n != 1024 {
		t.Errorf("the buffer counts %d, want 1024", n)
	}
	r := recordsAt[abi.AicoreTask](h, abi.KindAicoreTask, buf)
	if r[4].StartTime != 100 || r[5].StartTime != 0 {
		t.Errorf("records 4 and 5 start at %d and %d, want 100 and 0", r[4].StartTime, r[5].StartTime)
	}
}

// TestFlushIntoFullQueue: what cannot go is dropped and counted, and no pool
// keeps it.
func TestFlushIntoFullQueue(t *testing.T) {
	for _, policy := range []abi.Policy{abi.Block, abi.Drop} {
		h := newHost(t, abi.A5, 1, abi.SchedPhases, 8<<20)
		c := &clock{}
		h.cfg.Waiting = c.waiting(policy)
		h.give(abi.KindAicpuTask, 0, 1)
		h.give(abi.KindAicoreTask, 0, 2)
		h.give(abi.KindSchedPhase, 0, 1)
		d := h.attach()
		if err := d.InitPhases(1, 0); err != nil {
			t.Fatal(err)
		}
		thread := d.Thread(0)
		for k := range uint32(1027) {
			thread.Dispatch(0, k+1)
		}
		thread.Task(0, 1, 10, 20)
		thread.SchedPhase(&abi.SchedPhase{})
		thread.SchedPhase(&abi.SchedPhase{})
		h.fill(0)
		tail := h.mem.Word32(h.region.Tail(0)).Load()
		thread.Flush([]int{0}, nil)
		h.wantPool(abi.KindAicpuTask, 0, 0, 0, 1, 1)
		h.wantPool(abi.KindAicoreTask, 0, 0, 1, 1027, 1027) // 1024 stashed and 3
		h.wantPool(abi.KindSchedPhase, 0, 0, 0, 2, 2)
		if got := h.mem.Word32(h.region.Tail(0)).Load(); got != tail {
			t.Errorf("queue tail %d, want it to stay at %d", got, tail)
		}
		want := map[abi.Policy]int{abi.Block: 30, abi.Drop: 0}[policy]
		if c.looks != want {
			t.Errorf("policy %d: the flush waited %d s, want %d, once for all buffers", policy, c.looks, want)
		}
		if got := h.bp().RqContended.Load(); got != 1-uint32(policy) {
			t.Errorf("policy %d: rq_contended is %d", policy, got)
		}
	}
}
