package producer_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// recycle is the shortest host there is: it gives each buffer back at once.
func (h *host) recycle(queue int) {
	for {
		e, ok := h.take(queue)
		if !ok {
			return
		}
		push(&h.pool(e.Kind, int(e.CoreIndex)).Free, e.BufferPtr)
	}
}

func benchThread(b *testing.B, level abi.Level) (*host, *producer.Device) {
	h := newHost(b, abi.A2A3, 1, level, 8<<20)
	h.give(abi.KindAicpuTask, 0, 3)
	h.give(abi.KindAicoreTask, 0, 3)
	h.give(abi.KindSchedPhase, 0, 3)
	d := h.attach()
	if err := d.InitPhases(1, 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return h, d
}

// BenchmarkDisabled is a whole task of a run without capture.
func BenchmarkDisabled(b *testing.B) {
	var d *producer.Device
	thread, core := d.Thread(0), d.Core(0)
	b.Run("Task", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			thread.Task(0, uint32(i), 1, 2)
		}
	})
	b.Run("Core", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			core.Reserve()
			core.Commit(1, uint32(i), 1, 2, 3)
		}
	})
	b.Run("SchedPhase", func(b *testing.B) {
		b.ReportAllocs()
		var p abi.SchedPhase
		for range b.N {
			thread.SchedPhase(&p)
		}
	})
}

func BenchmarkAicpuTask(b *testing.B) {
	h, d := benchThread(b, abi.ScheduleTiming)
	thread := d.Thread(0)
	for i, n := 0, 0; i < b.N; i++ {
		thread.Task(0, uint32(i), uint64(i), uint64(i)+10)
		if n++; n == 1000 {
			n = 0
			h.recycle(0)
		}
	}
}

// BenchmarkAicoreTask changes the buffer in place of the AICPU.
func BenchmarkAicoreTask(b *testing.B) {
	h, d := benchThread(b, abi.TaskTiming)
	core, head := d.Core(0), &h.pool(abi.KindAicoreTask, 0).Head
	for i, n := 0, 0; i < b.N; i++ {
		core.Reserve()
		core.Commit(uint64(i), uint32(i), uint64(i), uint64(i)+1, uint64(i)+10)
		if n++; n == 1024 {
			n = 0
			head.CurrentBufSeq.Add(1)
		}
	}
	if core.Lost() != 0 {
		b.Fatalf("%d records lost", core.Lost())
	}
}

// BenchmarkDispatch is what the AICPU does per task at level 1.
func BenchmarkDispatch(b *testing.B) {
	h, d := benchThread(b, abi.TaskTiming)
	thread := d.Thread(0)
	for i, n := 0, 0; i < b.N; i++ {
		thread.Dispatch(0, uint32(i))
		thread.Ack(0, uint32(i))
		if n++; n == 1000 {
			n = 0
			h.recycle(0)
		}
	}
}

func BenchmarkSchedPhase(b *testing.B) {
	h, d := benchThread(b, abi.SchedPhases)
	thread := d.Thread(0)
	p := abi.SchedPhase{StartTime: 5000, EndTime: 5600, LoopIter: 42, Kind: abi.Dispatch}
	for i, n := 0, 0; i < b.N; i++ {
		thread.SchedPhase(&p)
		if n++; n == 16384 {
			n = 0
			h.recycle(0)
		}
	}
}
