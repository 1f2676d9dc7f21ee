package collector_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/transport/fault"
)

// valve lets a test hold the host's drain goroutines, over a transport that copies.
type valve struct {
	mu     sync.Mutex
	closed bool
	opened sync.Cond
}

func (c *chip) valve() *valve {
	v := &valve{}
	v.opened.L = &v.mu
	c.t.Cleanup(func() { v.set(false) }) // before the collector ends
	for q := range c.threads {
		c.faults.Add(c.word(fault.FromDevice, c.host.Layout().Tail(q), 4, fault.Rule{Before: func(fault.Call) {
			v.mu.Lock()
			defer v.mu.Unlock()
			for v.closed {
				v.opened.Wait()
			}
		}}))
	}
	return v
}

func (v *valve) set(closed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = closed
	v.opened.Broadcast()
}

// free waits until the free queue of a pool holds n buffers.
func (c *chip) free(kind abi.Kind, index int, n uint32) {
	c.t.Helper()
	q := &c.pool(kind, index).Free
	for end := time.Now().Add(20 * time.Second); q.Tail.Load()-q.Head.Load() < n; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			c.t.Fatalf("the free queue never held %d buffers", n)
		}
	}
}

// steady runs tasks on core 0 as fast as the host gives buffers.
func (r *rig) steady(tasks int) {
	r.t.Helper()
	for range tasks {
		r.free(abi.KindAicoreTask, 0, 1)
		r.free(abi.KindAicpuTask, 0, 1)
		r.task(0)
	}
}

// A core that was left without an empty buffer for a while exports no record of
// an earlier use of its last one.
func TestLateRotationExportsNothingStale(t *testing.T) {
	for _, level := range []abi.Level{abi.TaskTiming, abi.ScheduleTiming} {
		t.Run(fmt.Sprintf("level=%d", level), func(t *testing.T) {
			c := newSmallChip(t, setup{shadow: true, cores: 1, level: level, policy: abi.Drop})
			run := c.begin()
			r := c.launchRig()
			v := c.valve()
			r.steady(12 * 1024) // every buffer has been used
			v.set(true)
			for r.cores[0].Lost() < 1024 {
				r.task(0)
			}
			v.set(false)
			r.free(abi.KindAicoreTask, 0, 1)
			r.free(abi.KindAicpuTask, 0, 1)
			for range 10 {
				r.task(0)
			}
			r.flush()
			o := r.settle(run) // reads the file: a repeated key is refused
			lost := r.cores[0].Lost()
			if lost != 1024 {
				t.Fatalf("the core lost %d records, want those of one buffer", lost)
			}
			r.want(o, abi.KindAicoreTask, collector.Account{Total: r.made[abi.KindAicoreTask], Collected: r.made[abi.KindAicoreTask] - lost, Dropped: lost})
			for part := range o.Capture.AicoreTasks(0) {
				for i := range part {
					if got := part[i]; got != aicoreRecord(0, int(got.RegTaskID)-1) {
						t.Fatalf("record %+v, want %+v", got, aicoreRecord(0, int(got.RegTaskID)-1))
					}
				}
			}
		})
	}
}
