package collector_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport/fault"
)

// The region of an a2a3 run of three cores, in the numbers of
// spec/device-abi.md §7, §8.
const (
	regionCores  = 3
	queueHeads   = 126976
	queueTails   = 126992
	schedThreads = 127016
	orchThreads  = 127020
	coreToThread = 127028
	backpressure = 127100
	poolsFrom    = 127168
	poolCount    = 2*regionCores + 2*4
	regionEnd    = poolsFrom + poolCount*192
)

// payloads are the sizes of record buffers (spec/device-abi.md §3).
var payloads = []int{32064, 1048640, 524352, 32832}

// transferOf names what a copy moves while the device runs; "" is a copy that
// spec/collector.md §8 does not know.
func transferOf(c fault.Call, region uint64) string {
	off := int64(c.Addr - region)
	if c.Addr < region || off >= regionEnd {
		switch {
		case c.Op == fault.ToDevice:
			return "zeros"
		case slices.Contains(payloads, c.Size):
			return "payload"
		}
		return ""
	}
	inPool := (off - poolsFrom) % 192
	for _, known := range []struct {
		name string
		op   fault.Op
		size int
		ok   bool
	}{
		{"queue tail", fault.FromDevice, 4, off >= queueTails && off < queueTails+16},
		{"ready entry", fault.FromDevice, 32, off < queueHeads && off%32 == 0},
		{"phase threads", fault.FromDevice, 4, off == schedThreads || off == orchThreads},
		{"contended", fault.FromDevice, 4, off == backpressure+4 || off == backpressure+12},
		{"free head", fault.FromDevice, 4, off >= poolsFrom && inPool == 96},
		{"queue head", fault.ToDevice, 4, off >= queueHeads && off < queueHeads+16},
		{"freeze", fault.ToDevice, 4, off == backpressure || off == backpressure+8},
		{"contended cleared", fault.ToDevice, 4, off == backpressure+4 || off == backpressure+12},
		{"free slot", fault.ToDevice, 8, off >= poolsFrom && inPool >= 64 && inPool < 96 && inPool%8 == 0},
		{"free tail", fault.ToDevice, 4, off >= poolsFrom && inPool == 100},
	} {
		if known.op == c.Op && known.size == c.Size && known.ok {
			return known.name
		}
	}
	return ""
}

// smallDepths let the device run out of buffers.
var smallDepths = collector.Depths{ProfBuffersPerCore: 1, AicoreBuffersPerCore: 1, SchedBuffersPerThread: 1, OrchBuffersPerThread: 1}

// TestNarrowTransfers: while the device runs, the host moves what
// spec/collector.md §8 lists and nothing else, and each buffer once.
func TestNarrowTransfers(t *testing.T) {
	c := newChip(t, setup{shadow: true, cores: regionCores, threads: 2, level: abi.OrchPhases, depths: smallDepths})
	for round := range 2 {
		var mu sync.Mutex
		count := map[string]int{}
		var order []fault.Call
		for _, op := range []fault.Op{fault.ToDevice, fault.FromDevice} {
			c.faults.Add(fault.Rule{Op: op, Before: func(call fault.Call) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, call)
			}})
		}
		// 5500 tasks fill 5 AicpuTask and 5 AicoreTask buffers of a core, and part of
		// another; the phases and submits fill one and part of another.
		const tasks, more = 5500, 20_000
		run, err := c.host.Begin(collector.RunOptions{Level: c.level, Runtime: tmr})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		order = nil // the host has filled queues and lanes, and the device is not there yet
		mu.Unlock()
		m := c.operate(load{tasks: tasks, phases: more, submits: more}, &jitter{})
		run.Stop()
		calls := order
		c.faults.Clear()
		o := run.Outcome()
		c.check(o, nil, load{tasks: tasks}, m)

		zeroed := map[uint64]bool{}
		slot := map[uint64]bool{} // pools whose slot was written and whose tail was not yet
		for _, call := range calls {
			what := transferOf(call, c.host.DataBase())
			if what == "" {
				t.Fatalf("round %d: a copy of %d bytes at offset %d of the region (operation %d) while the device runs", round, call.Size, int64(call.Addr-c.host.DataBase()), call.Op)
			}
			count[what]++
			switch pool := (call.Addr - c.host.DataBase() - poolsFrom) / 192; what {
			case "zeros":
				if zeroed[call.Addr] {
					t.Errorf("the buffers at %#x were written twice", call.Addr)
				}
				zeroed[call.Addr] = true
			case "free slot":
				slot[pool] = true
			case "free tail":
				if !slot[pool] {
					t.Errorf("the free tail of pool %d was written before its slot", pool)
				}
				slot[pool] = false
			}
		}
		buffers := regionCores*(6+6) + 2 + 2
		for what, want := range map[string]int{"payload": buffers, "ready entry": buffers, "queue head": buffers, "free tail": count["free slot"]} {
			if count[what] != want {
				t.Errorf("round %d: %d transfers of a %s, want %d", round, count[what], what, want)
			}
		}
		for _, what := range []string{"queue tail", "free head", "contended"} {
			if count[what] == 0 {
				t.Errorf("round %d: no transfer of a %s", round, what)
			}
		}
	}
}

// ledger holds what the device wrote last into the words that it owns, and
// notices when they are otherwise.
type ledger struct {
	mem   abi.Mem // the region
	table abi.Mem // rotation table
	last  []byte
}

func (l *ledger) read() (out []byte) {
	out = append(out, l.mem[queueTails:queueTails+16]...)
	out = append(out, l.mem[schedThreads:backpressure]...) // with core_to_thread
	for pool := range poolCount {
		at := poolsFrom + pool*192
		out = append(out, l.mem[at:at+20]...) // current_buf_ptr, current_buf_seq, total, dropped
		out = append(out, l.mem[at+96:at+100]...)
	}
	return append(out, l.table...)
}

// step is a step of the device. It says what was rolled back since the last.
func (l *ledger) step(do func()) error {
	now := l.read()
	if l.last != nil && !bytes.Equal(now, l.last) {
		i := 0
		for now[i] == l.last[i] {
			i++
		}
		return fmt.Errorf("byte %d of the device's own words is %#x, and the device wrote %#x", i, now[i], l.last[i])
	}
	do()
	l.last = l.read()
	return nil
}

// steppedDevice is a device that makes its steps inside the transfers of the
// host: before each of them, and between its halves.
type steppedDevice struct {
	mu     sync.Mutex
	c      *chip
	ledger ledger
	rng    *rand.Rand
	d      *producer.Device
	cores  []*producer.Core
	stage  int
	n      int // tasks of each core; one more of the first next
	next   int
	phases int
	failed error
	done   chan struct{}
	during map[string]int // steps by the transfer they were made in
}

const steppedTasks = 5300

// hook makes steps in a transfer.
func (s *steppedDevice) hook(call fault.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil || s.stage == 4 {
		return
	}
	before := s.stage<<32 + s.n*regionCores + s.next
	s.failed = s.ledger.step(s.advance)
	if s.failed != nil || s.stage == 4 {
		close(s.done)
	}
	if s.stage<<32+s.n*regionCores+s.next != before {
		s.during[transferOf(call, s.c.host.DataBase())]++
	}
}

func (s *steppedDevice) advance() {
	thread := func() *producer.Thread { return s.d.Thread(0) }
	switch s.stage {
	case 0:
		s.d, s.failed = producer.Attach(producer.Config{
			Region: s.c.host.Layout(), Space: s.c.memory.Space(), RegionAddr: s.c.host.DataBase(), RotationTable: s.c.host.RotationTable(),
			Enable: abi.EnableSwimlane, Cores: regionCores, Waiting: producer.Waiting{Wait: func() { panic("the device waits") }},
		})
		for i := range regionCores {
			s.cores = append(s.cores, s.d.Core(i))
		}
		s.stage++
	case 1:
		if err := s.d.InitPhases(1, 1); err != nil {
			panic(err)
		}
		s.d.AnnounceOrchestrator(0)
		s.stage++
	case 2:
		for range 1 + s.rng.IntN(16) {
			if !s.mayRecord() {
				return
			}
			task(thread(), s.cores[s.next], s.next, s.n)
			for range 2 {
				p, o := schedRecord(0, s.phases), orchRecord(s.phases)
				thread().SchedPhase(&p)
				thread().OrchPhase(&o)
				s.phases++
			}
			if s.n == 1000 && s.next == 0 {
				if err := s.d.PublishCores([]int8{0, 0, 0}); err != nil {
					panic(err)
				}
			}
			if s.next++; s.next == regionCores {
				s.next = 0
				if s.n++; s.n == steppedTasks {
					s.stage++
					return
				}
			}
		}
	case 3:
		thread().Flush([]int{0, 1, 2}, nil)
		thread().FlushOrch()
		s.stage++
	}
}

// mayRecord tells whether every pool has a free buffer; else the device asks for
// them and waits.
func (s *steppedDevice) mayRecord() bool {
	for _, pool := range []int{s.next, regionCores + s.next, 2 * regionCores, 2*regionCores + 4} {
		q := &abi.View[abi.Pool](s.ledger.mem, uint64(poolsFrom+pool*192)).Free
		if q.Head.Load() == q.Tail.Load() {
			abi.View[abi.Backpressure](s.ledger.mem, backpressure).FqContended.Store(1)
			return false
		}
	}
	return true
}

// TestNothingIsRolledBack: the device advances all that it owns while the host is
// in the middle of its transfers, and the host writes none of it back.
func TestNothingIsRolledBack(t *testing.T) {
	for _, seed := range seeds(t, 2) {
		t.Logf("repeat with SWIMLANE_SEED=%d", seed)
		c := newChip(t, setup{shadow: true, cores: regionCores, threads: 2, level: abi.OrchPhases, depths: smallDepths})
		space := c.memory.Space()
		mem, err := space.At(c.host.DataBase(), regionEnd)
		if err != nil {
			t.Fatal(err)
		}
		table, err := space.At(c.host.RotationTable(), 8*regionCores)
		if err != nil {
			t.Fatal(err)
		}
		s := &steppedDevice{
			c: c, ledger: ledger{mem: mem, table: table}, rng: rand.New(rand.NewPCG(seed, 3)),
			done: make(chan struct{}), during: map[string]int{},
		}
		run := c.begin()
		for _, op := range []fault.Op{fault.ToDevice, fault.FromDevice} {
			c.faults.Add(fault.Rule{Op: op, Before: s.hook, Tear: s.hook})
		}
		<-s.done
		run.Stop()
		o := run.Outcome()
		if s.failed == nil {
			s.failed = s.ledger.step(func() {})
		}
		if s.failed != nil {
			t.Fatal(s.failed)
		}
		checkSums(t, o)
		c.checkTasks(o.Capture, steppedTasks)
		g := c.received(o.Capture, nil, nil)
		prefix(t, "SchedPhase", g.sched[0], func(i int) abi.SchedPhase { return schedRecord(0, i) }, 2*regionCores*steppedTasks)
		prefix(t, "OrchPhase", g.orch, orchRecord, 2*regionCores*steppedTasks)
		if want := []int8{0, 0, 0}; !slices.Equal(o.Capture.CoreToThread, want) {
			t.Errorf("core_to_thread %v, want %v", o.Capture.CoreToThread, want)
		}
		for kind, a := range o.Capture.Accounting.Kinds {
			if a.Collected != a.Total {
				t.Errorf("kind %d: %+v", kind, a)
			}
		}
		if o.Faults != (collector.Faults{}) {
			t.Errorf("faults %+v", o.Faults)
		}
		for _, what := range []string{
			"queue tail", "ready entry", "payload", "queue head", "free head", "free slot", "free tail",
			"contended", "contended cleared", "freeze", "phase threads",
		} {
			if s.during[what] == 0 {
				t.Errorf("the device made no step in a transfer of a %s: %v", what, s.during)
			}
		}
	}
}
