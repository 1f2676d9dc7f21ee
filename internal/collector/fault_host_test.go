package collector_test

import (
	"errors"
	"fmt"
	"runtime"

	"sync/atomic"
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"

	"swimlane/internal/transport/fault"
)

// gate is a sink that holds the host until it is opened.
type gate struct {
	open    chan struct{}
	records atomic.Uint64
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) sink(_ int, kind abi.Kind, _ int, _ uint32, records []byte) {
	<-g.open
	g.records.Add(uint64(len(records) / abi.Buffers[kind].RecordSize))
}

// A host that cannot keep up and cannot get more memory holds the device, and
// nothing is lost.
func TestSlowHost(t *testing.T) {
	g := newGate()
	stalled := make(chan struct{})
	waits := 0
	onBoth(t, setup{sink: g.sink, waiting: producer.Waiting{Wait: func() {
		if waits++; waits == 1 {
			close(stalled)
		}
		time.Sleep(100 * time.Microsecond)
	}}}, func(t *testing.T, c *chip) {
		g.open, stalled, waits = make(chan struct{}), make(chan struct{}), 0
		g.records.Store(0)
		run := c.begin()
		c.faults.Add(fault.Rule{Op: fault.Alloc, Err: errors.New("out of memory")})
		go func() {
			defer close(g.open)
			<-stalled
			c.wait("DFX backpressure RELEASED", 1) // which gave the device nothing
		}()
		r := c.launchRig()
		r.run(6000)
		r.flush()
		o := r.settle(run)
		want := collector.Account{Total: 18000, Collected: 18000}
		r.want(o, abi.KindAicpuTask, want)
		r.want(o, abi.KindAicoreTask, want)
		r.silent(o)
		if got := g.records.Load(); got != 36000 {
			t.Errorf("%d records arrived, want 36000", got)
		}
		s := r.thread.Stalls()
		if s.Count == 0 || s.Kept[0].GaveUp || s.Kept[0].Cause != producer.FreeQueue {
			t.Errorf("stalls %+v, want waits for empty buffers", s)
		}
		if n := c.said.count("out of memory"); n != 1 || o.Faults.Allocations == 0 {
			t.Errorf("%d lines say that there is no memory, want 1; faults %+v", n, o.Faults)
		}
	})
}

// Whatever allocation fails, at whatever step, New gives everything back
// (spec/collector.md §5.5).
func TestFailingInitialisation(t *testing.T) {
	for _, c := range []struct {
		name   string
		shadow bool
		op     fault.Op
	}{
		{"alloc", false, fault.Alloc}, {"register", false, fault.Register}, {"alloc", true, fault.Alloc}, {"push", true, fault.ToDevice},
	} {
		t.Run(fmt.Sprintf("%s/shadow=%v", c.name, c.shadow), func(t *testing.T) {
			memory, err := transport.New(deviceBase, 64<<20)
			if err != nil {
				t.Fatal(err)
			}
			way := transport.Mapped(memory)
			if c.shadow {
				way = transport.Shadow(memory)
			}
			for n := 1; ; n++ {
				faults := fault.New(way)
				faults.Add(fault.Rule{Op: c.op, Nth: n, Err: errBus})
				host, err := collector.New(collector.Options{Arch: abi.A2A3, Cores: 3, Threads: 2, Level: abi.OrchPhases, Memory: faults.Ops()})
				if err == nil {
					// Region, rotation table, 3 pools of two kinds, 2 of the third and 1 of the
					// fourth, and the push of the whole region.
					if want := map[fault.Op]int{fault.Alloc: 11, fault.Register: 11, fault.ToDevice: 12}[c.op]; n != want+1 {
						t.Errorf("%d calls could fail, want %d", n-1, want)
					}
					if err := host.Finalize(); err != nil {
						t.Error(err)
					}
				} else if !errors.Is(err, errBus) || host != nil {
					t.Fatalf("call %d: %v, %v", n, host, err)
				}
				if left, bytes := memory.InUse(); left != 0 {
					t.Fatalf("call %d: %d allocations of %d bytes are left", n, left, bytes)
				}
				if err == nil {
					return
				}
			}
		})
	}
}

// A start that fails can be tried again. Lanes that cannot be filled are no reason
// to fail: the free queues are full.
func TestFailingStart(t *testing.T) {
	for op, want := range map[fault.Op]error{fault.Alloc: nil, fault.FromDevice: errBus, fault.ToDevice: nil} {
		c := newSmallChip(t, setup{shadow: true, depths: collector.DefaultDepths()})
		run, err := c.host.Begin(collector.RunOptions{Level: c.level, Runtime: tmr})
		if err != nil {
			t.Fatal(err)
		}
		c.faults.Add(fault.Rule{Op: op, Nth: 1, Err: errBus})
		if err := run.Start(); !errors.Is(err, want) {
			t.Errorf("start: %v, want %v", err, want)
		}
		if n := c.said.count("the run goes on with the buffers that there are"); want == nil && n != 1 {
			t.Errorf("a failed allocation was reported %d times", n)
		}
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		r := c.launchRig()
		r.run(1100)
		r.flush()
		o := r.settle(run)
		r.silent(o)
		r.checkTasks(o.Capture, 1100)
	}
}

// A transfer that fails is said once in each run.
func TestFailedTransferIsSaidInEachRun(t *testing.T) {
	c := newSmallChip(t, setup{shadow: true})
	for run := 1; run <= 2; run++ {
		failed := c.faults.Count(fault.FromDevice).Failed
		r := c.begin()
		c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: 4, Err: errBus})
		for c.faults.Count(fault.FromDevice).Failed < failed+10 {
			runtime.Gosched()
		}
		c.faults.Clear()
		r.Stop()
		if n := c.said.count(errBus.Error()); n != run {
			t.Errorf("after %d runs it was said %d times", run, n)
		}
	}
}
