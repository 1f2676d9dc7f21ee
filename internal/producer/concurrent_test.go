package producer_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"swimlane/internal/abi"
)

// aicore is a core with its two registers.
type aicore struct {
	data, cond atomic.Uint32
	changed    atomic.Uint32 // how often the AICPU has changed its buffer
	left       chan struct{}
}

func (a *aicore) waitFor(done func(cond uint32) bool) uint32 {
	for {
		if v := a.cond.Load(); done(v) {
			return v
		}
		runtime.Gosched()
	}
}

// TestConcurrent runs cores, a scheduler thread and a host as goroutines. Each
// core commits its record as late as it may: after FIN, and for the last task of
// a buffer only when the AICPU has changed the buffer. Every record must be in
// its buffer before the host sees it (-race finds it if not), exactly once.
func TestConcurrent(t *testing.T) {
	const cores, tasksPerCore, buffers = 3, 3*1024 + 100, 3
	h := newHost(t, abi.A2A3, cores, abi.ScheduleTiming, 2<<20)
	for i := range cores {
		h.give(abi.KindAicpuTask, i, buffers)
		h.give(abi.KindAicoreTask, i, buffers)
	}
	d := h.attach()
	var chip [cores]aicore
	var running sync.WaitGroup
	for i := range chip {
		a, w := &chip[i], d.Core(i)
		a.left = make(chan struct{})
		running.Go(func() {
			defer close(a.left)
			last := uint32(0)
			for {
				token := a.data.Load()
				if token == last {
					runtime.Gosched()
					continue
				}
				if last = token; token == abi.TokenExit {
					return
				}
				w.Reserve()
				a.cond.Store(abi.Ack(token))
				a.cond.Store(abi.Fin(token))
				for token%1024 == 0 && a.changed.Load() < token/1024 {
					runtime.Gosched()
				}
				w.Commit(uint64(token), token, 1, 2, 3)
			}
		})
	}
	var stopped atomic.Bool
	running.Go(func() { // the scheduler
		defer stopped.Store(true)
		thread := d.Thread(0)
		for token := uint32(1); token <= tasksPerCore; token++ {
			for i := range chip {
				thread.Dispatch(i, token)
				chip[i].changed.Store((token - 1) / 1024)
				chip[i].data.Store(token)
			}
			for i := range chip {
				id := chip[i].waitFor(func(v uint32) bool { return v == abi.Fin(token) })
				thread.Ack(i, id&abi.TaskIDMask)
				thread.Task(i, token, 1, 4)
			}
		}
		thread.Flush([]int{0, 1, 2}, func(core int) {
			chip[core].data.Store(abi.TokenExit)
			<-chip[core].left
		})
		if n, err := thread.Faults(); n != 0 {
			t.Errorf("%d faults: %v", n, err)
		}
	})

	var kernels, tasks [cores][]uint32
	collect := func() bool {
		e, ok := h.take(0)
		if !ok {
			return false
		}
		n := h.count(e.Kind, e.BufferPtr)
		if e.Kind == abi.KindAicoreTask {
			for slot, r := range recordsAt[abi.AicoreTask](h, e.Kind, e.BufferPtr)[:n] {
				if r.StartTime == 0 {
					t.Errorf("core %d: slot %d of buffer %d has no start", e.CoreIndex, slot, e.BufferSeq)
				}
				kernels[e.CoreIndex] = append(kernels[e.CoreIndex], r.RegTaskID)
			}
		} else {
			for _, r := range recordsAt[abi.AicpuTask](h, e.Kind, e.BufferPtr)[:n] {
				tasks[e.CoreIndex] = append(tasks[e.CoreIndex], r.RegTaskID)
			}
		}
		clear(recordsAt[[32]byte](h, e.Kind, e.BufferPtr)) // so that a record which is not written shows
		push(&h.pool(e.Kind, int(e.CoreIndex)).Free, e.BufferPtr)
		return true
	}
	for !stopped.Load() {
		if !collect() {
			runtime.Gosched()
		}
	}
	running.Wait()
	for collect() {
	}
	for i := range cores {
		for name, got := range map[string][]uint32{"core": kernels[i], "scheduler": tasks[i]} {
			if len(got) != tasksPerCore {
				t.Errorf("core %d: %d records of the %s, want %d", i, len(got), name, tasksPerCore)
			}
			for k, token := range got {
				if token != uint32(k)+1 {
					t.Fatalf("core %d: record %d of the %s has token %d", i, k, name, token)
				}
			}
		}
		h.wantPool(abi.KindAicpuTask, i, h.pool(abi.KindAicpuTask, i).Head.CurrentBufPtr.Load(), 3, tasksPerCore, 0)
	}
}
