package collector

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swimlane/internal/abi"
)

// testMemory is device memory that the host shares, or that it copies.
type testMemory struct {
	mu     sync.Mutex
	next   uint64
	blocks map[uint64]abi.Mem
	allocs int
	regs   int
	frees  []uint64
}

func newTestMemory() *testMemory {
	return &testMemory{next: 0x100000, blocks: map[uint64]abi.Mem{}}
}

func (m *testMemory) alloc(size int) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	addr := m.next
	m.next += uint64(size+abi.Align) &^ (abi.Align - 1)
	m.blocks[addr] = abi.NewMem(size)
	m.allocs++
	return addr, nil
}

func (m *testMemory) free(addr uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocks[addr] == nil {
		return fmt.Errorf("free of %#x, which is not allocated", addr)
	}
	delete(m.blocks, addr)
	m.frees = append(m.frees, addr)
	return nil
}

func (m *testMemory) at(addr uint64, n int) abi.Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	for base, mem := range m.blocks {
		if addr >= base && addr+uint64(n) <= base+uint64(len(mem)) {
			return mem[addr-base:][:n]
		}
	}
	panic(fmt.Sprintf("%d bytes at %#x are not allocated", n, addr))
}

func (m *testMemory) mapped() Memory {
	return Memory{Alloc: m.alloc, Free: m.free, Register: func(addr uint64, size int) (abi.Mem, error) {
		m.regs++
		return m.at(addr, size), nil
	}}
}

func (m *testMemory) shadow() Memory {
	return Memory{Alloc: m.alloc, Free: m.free,
		CopyToDevice:   func(addr uint64, from []byte) error { copy(m.at(addr, len(from)), from); return nil },
		CopyFromDevice: func(to []byte, addr uint64) error { copy(to, m.at(addr, len(to))); return nil },
	}
}

// testModule is a diagnostic with kinds of 32-byte records, four to a buffer, and
// one pool of each kind per queue.
type testModule struct {
	hdr     abi.QueueHeader
	slots   int
	targets []int
	most    int
	onTake  func(shard int, h *handoff) bool
}

const testQueueSize = 8

func newTestModule(queues, slots int, targets ...int) *testModule {
	m := &testModule{slots: slots, targets: targets, most: queues}
	h := abi.QueueHeader{Threads: queues, QueueSize: testQueueSize}
	h.Heads = uint64(queues) * testQueueSize * abi.ReadyEntrySize
	h.Tails = h.Heads + 4*uint64(queues)
	h.Backpressure = h.Tails + 4*uint64(queues)
	h.Size = (h.Backpressure + 16 + 63) &^ 63
	m.hdr = h
	m.onTake = func(int, *handoff) bool { return false }
	return m
}

func (m *testModule) size() int {
	return int(m.hdr.Size) + abi.PoolSize*m.hdr.Threads*len(m.targets)
}

func (m *testModule) name() string                   { return "Test" }
func (m *testModule) header() *abi.QueueHeader       { return &m.hdr }
func (m *testModule) freeQueue() abi.FreeQueueLayout { return abi.FreeQueueLayout{Slots: m.slots} }
func (m *testModule) maxShards() int                 { return m.most }

func (m *testModule) kinds() (out []kindSpec) {
	for k, target := range m.targets {
		out = append(out, kindSpec{
			name: fmt.Sprint("Kind", k), batch: 1, target: func(int) int { return target },
			buffer: abi.Buffer{RecordSize: 32, Capacity: 4, Count: 128, Size: 192},
		})
	}
	return out
}

func (m *testModule) pools() (out []poolSpec) {
	for k := range m.targets {
		for i := range m.hdr.Threads {
			at := m.hdr.Size + uint64(k*m.hdr.Threads+i)*abi.PoolSize
			out = append(out, poolSpec{kind: k, index: i, pool: at, current: at, queue: at + abi.PoolFreeOffset})
		}
	}
	return out
}

func (m *testModule) live(*port) (func(int, int) bool, error) {
	return func(int, int) bool { return true }, nil
}

func (m *testModule) resolve(e *abi.ReadyEntry) (int, error) {
	if int(e.Kind) >= len(m.targets) {
		return -1, fmt.Errorf("invalid entry kind=%d", e.Kind)
	}
	return int(e.Kind)*m.hdr.Threads + int(e.CoreIndex), nil
}

func (m *testModule) collect(shard int, h *handoff) bool { return m.onTake(shard, h) }

// testExchange makes an exchange whose lanes hold 64 buffers.
func testExchange(t *testing.T, mod *testModule, mem Memory, shards int, log Logger) *exchange {
	t.Helper()
	table := &mapping{mem: mem}
	block, err := table.allocate(mod.size())
	if err != nil {
		t.Fatal(err)
	}
	r := &region{mem: &table.mem, addr: block.addr, host: block.host}
	x, err := newExchange(mod, table, r, mod.hdr.Threads, shards, capacities{handoff: 4, done: 64, recycled: 64}, log)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// device plays the device on the memory of a shared exchange.
type device struct {
	x   *exchange
	mod *testModule
}

// pop takes a buffer from the free queue of a pool, 0 if there is none.
func (d device) pop(kind, index int) uint64 {
	q := d.x.pools[kind*d.mod.hdr.Threads+index].queue
	l := d.mod.freeQueue()
	head, tail := d.x.region.host.Word32(q+l.Head()), d.x.region.host.Word32(q+l.Tail())
	if head.Load() == tail.Load() {
		return 0
	}
	addr := d.x.region.host.Word64(q + l.Slot(head.Load())).Load()
	head.Add(1)
	return addr
}

// push hands a buffer over with a count.
func (d device) push(queue int, e abi.ReadyEntry, count uint32) bool {
	if b, err := d.x.mem.buffer(e.BufferPtr); err == nil {
		*b.host.U32(128) = count
	}
	head, tail := d.x.region.host.Word32(d.mod.hdr.Head(queue)), d.x.region.host.Word32(d.mod.hdr.Tail(queue))
	next := (tail.Load() + 1) % testQueueSize
	if next == head.Load() {
		return false
	}
	*abi.View[abi.ReadyEntry](d.x.region.host, d.mod.hdr.Entry(queue, tail.Load())) = e
	tail.Store(next)
	return true
}

// send pops a buffer of a pool and hands it over on the pool's own queue.
func (d device) send(t *testing.T, kind, index int) {
	t.Helper()
	addr := d.pop(kind, index)
	if addr == 0 {
		t.Fatal("the free queue is empty")
	}
	if !d.push(index, abi.ReadyEntry{CoreIndex: uint32(index), Kind: abi.Kind(kind), BufferPtr: addr}, 1) {
		t.Fatal("the ready queue is full")
	}
}

// lanes are the lengths of the lanes of a kind.
func (x *exchange) lanes(kind int) (out []int) {
	for _, s := range x.shards {
		out = append(out, s.recycled[kind].len())
	}
	return out
}

// Rebalancing on and off with the figures of spec/collector.md §15.
func TestRebalance(t *testing.T) {
	for _, c := range []struct {
		on               bool
		kind0, kind1     []int
		buffers, batches int
	}{
		{false, []int{6, 2, 2}, []int{3, 3, 9}, 10, 4},
		{true, []int{2, 2, 2}, []int{3, 3, 3}, 0, 0},
	} {
		mem := newTestMemory()
		x := testExchange(t, newTestModule(3, 1, 2, 3), mem.mapped(), 3, nil)
		x.rebalance = c.on
		for k, done := range [][]int{{6, 0, 0}, {0, 0, 9}} {
			for s, n := range done {
				b, err := x.mem.carve(k, 192, max(n, 1))
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					x.shards[s].done <- &b.buffers[i]
				}
			}
		}
		before := mem.allocs
		r := newReplenisher(x)
		if n := r.drainDone(); n != 15 {
			t.Errorf("rebalancing %v: %d buffers drained, want 15", c.on, n)
		}
		batches, err := r.fillLanes()
		if err != nil {
			t.Fatal(err)
		}
		grown := 0
		for _, b := range x.mem.table()[before:] {
			grown += len(b.buffers)
		}
		if got0, got1 := x.lanes(0), x.lanes(1); !slices.Equal(got0, c.kind0) || !slices.Equal(got1, c.kind1) {
			t.Errorf("rebalancing %v: lanes %v and %v, want %v and %v", c.on, got0, got1, c.kind0, c.kind1)
		}
		if batches != c.batches || grown != c.buffers || mem.allocs-before != c.batches {
			t.Errorf("rebalancing %v: %d buffers in %d batches, want %d in %d", c.on, grown, batches, c.buffers, c.batches)
		}
	}
}

// A warm lane is filled in batches of at least a free queue (spec/collector.md §15).
func TestWarmBatch(t *testing.T) {
	mem := newTestMemory()
	x := testExchange(t, newTestModule(1, 4, 6), mem.mapped(), 1, nil)
	r := newReplenisher(x)
	for _, want := range []int{6, 8} {
		before := mem.allocs
		if _, err := r.fillLanes(); err != nil {
			t.Fatal(err)
		}
		if got := x.lanes(0)[0]; got != want || mem.allocs-before != 1 {
			t.Errorf("lane holds %d after %d allocations, want %d after 1", got, mem.allocs-before, want)
		}
		x.take(0, 0)
		x.take(0, 0)
	}
}

// Buffers carved from one block resolve inside it and free it once.
func TestCarve(t *testing.T) {
	mem := newTestMemory()
	m := &mapping{mem: mem.mapped()}
	b, err := m.carve(0, 32, 3)
	if err != nil {
		t.Fatal(err)
	}
	if mem.allocs != 1 || mem.regs != 1 || b.stride != 64 {
		t.Errorf("%d allocations, %d registrations, stride %d; want 1, 1, 64", mem.allocs, mem.regs, b.stride)
	}
	if got := m.block(b.addr + 2*64 + 7); got != b {
		t.Errorf("the address lies in %v", got)
	}
	if _, err := m.buffer(b.addr + 2*64 + 7); err == nil {
		t.Error("an address inside a buffer was taken for a buffer")
	}
	released := 0
	for i := range b.buffers {
		if m.release(b.buffers[i].addr) == nil {
			released++
		}
	}
	if released != 1 || !slices.Equal(mem.frees, []uint64{b.addr}) {
		t.Errorf("released %d times, freed %x", released, mem.frees)
	}
	if _, err := m.buffer(b.addr); err == nil || err.Error() != fmt.Sprintf("no host mapping for dev_ptr=%#x", b.addr) {
		t.Errorf("after release: %v", err)
	}
	mem.next = b.addr // the allocator gives the address again
	again, err := m.carve(0, 32, 1)
	if err != nil || again.addr != b.addr || m.release(again.addr) != nil {
		t.Errorf("reuse of an address: %v", err)
	}
	if _, err := m.carve(0, 1<<39, 1<<30); err == nil {
		t.Error("a size that overflows was allocated")
	}
}

// Default shadows are zeroed on both sides; a failing push frees the block.
func TestDefaultShadow(t *testing.T) {
	mem := newTestMemory()
	ops := mem.shadow()
	m := &mapping{mem: ops}
	b, err := m.allocate(128)
	if err != nil || len(b.host) != 128 {
		t.Fatal(err)
	}
	b.host[5] = 1
	if mem.at(b.addr, 128)[5] != 0 {
		t.Error("the shadow is the device's memory")
	}
	broken := errors.New("bus error")
	m.mem.CopyToDevice = func(uint64, []byte) error { return broken }
	if _, err := m.allocate(64); !errors.Is(err, broken) || len(mem.frees) != 1 || len(m.table()) != 1 {
		t.Errorf("failing push: %v, %d freed", err, len(mem.frees))
	}
}

// Memory that is registered and copied holds zeros on both sides, too.
func TestRegisterWithCopies(t *testing.T) {
	mem := newTestMemory()
	ops := mem.shadow()
	ops.Register = func(_ uint64, size int) (abi.Mem, error) {
		m := abi.NewMem(size)
		m[7] = 0xA5 // of an earlier use
		return m, nil
	}
	m := &mapping{mem: ops}
	m.mem.Alloc = func(size int) (uint64, error) {
		addr, err := mem.alloc(size)
		mem.at(addr, size)[7] = 0x5A
		return addr, err
	}
	b, err := m.allocate(64)
	if err != nil || b.host[7] != 0 || mem.at(b.addr, 64)[7] != 0 {
		t.Errorf("host byte %#x, device byte %#x: %v", b.host[7], mem.at(b.addr, 64)[7], err)
	}
}

// The last buffers of a pool are held, and the others go back.
func TestHeldBuffers(t *testing.T) {
	x := testExchange(t, newTestModule(2, 4, 0), newTestMemory().mapped(), 1, nil)
	b, err := x.mem.carve(0, 192, 5)
	if err != nil {
		t.Fatal(err)
	}
	s := x.shards[0]
	for i, pool := range []int{0, 1, 0, 0, 0} {
		x.hold(s, &handoff{buf: &b.buffers[i], pool: pool, seq: uint32(i)})
	}
	var held []uint32
	for _, h := range s.held {
		held = append(held, h.seq)
	}
	if !slices.Equal(held, []uint32{1, 3, 4}) || len(s.done) != 2 {
		t.Errorf("held %v, %d went back; want [1 3 4] and 2", held, len(s.done))
	}
}

// A goroutine without work yields for at least 100 µs before it sleeps.
func TestIdlerYieldsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var i idler
		began := time.Now()
		i.wait()
		time.Sleep(100 * time.Microsecond)
		before := time.Now()
		i.wait()
		if slept := time.Since(before); slept != 0 {
			t.Errorf("slept %v after %v without work", slept, before.Sub(began))
		}
		time.Sleep(time.Millisecond)
		before = time.Now()
		i.wait()
		if slept := time.Since(before); slept != 10*time.Microsecond {
			t.Errorf("slept %v, want 10 µs", slept)
		}
		i.worked()
		before = time.Now()
		i.wait()
		if slept := time.Since(before); slept != 0 {
			t.Errorf("slept %v right after there was work", slept)
		}
	})
}

// One drain shard serves all queues; every queue is drained once.
func TestAllQueuesAreDrained(t *testing.T) {
	for _, shards := range []int{1, 2, 3} {
		mod := newTestModule(3, 4, 0)
		x := testExchange(t, mod, newTestMemory().mapped(), shards, nil)
		var mu sync.Mutex
		seen := map[int]int{} // index → shard
		mod.onTake = func(shard int, h *handoff) bool {
			mu.Lock()
			defer mu.Unlock()
			if _, twice := seen[h.index]; twice {
				t.Errorf("%d shards: queue %d came twice", shards, h.index)
			}
			seen[h.index] = shard
			return false
		}
		if err := x.start(); err != nil {
			t.Fatal(err)
		}
		for q := range 3 {
			device{x, mod}.send(t, 0, q)
		}
		x.stop()
		for q := range 3 {
			if shard, ok := seen[q]; !ok || shard != q%shards {
				t.Errorf("%d shards: queue %d came through shard %d (%v)", shards, q, shard, ok)
			}
		}
	}
}

// The idle report comes once per burst, and never before traffic.
func TestIdleReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		mod := newTestModule(1, 4, 0)
		x := testExchange(t, mod, newTestMemory().mapped(), 1, func(s Severity, text string) {
			mu.Lock()
			defer mu.Unlock()
			if s == Error {
				said = append(said, text)
			}
		})
		got := 0
		mod.onTake = func(int, *handoff) bool { got++; return false }
		for i := range x.shards {
			x.shards[i].handoff = make(chan handoff, 4)
		}
		x.threads.Go(func() { x.collectAll(0, x.shards[0]) })
		b, err := x.mem.carve(0, 192, 2)
		if err != nil {
			t.Fatal(err)
		}
		want := func(reports int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(said) != reports {
				t.Errorf("%d reports %q, want %d", len(said), said, reports)
			}
		}
		time.Sleep(3 * idleLimit)
		want(0) // silent from the start
		x.shards[0].handoff <- handoff{buf: &b.buffers[0]}
		time.Sleep(idleLimit - time.Second)
		want(0)
		time.Sleep(2 * time.Second)
		want(1)
		time.Sleep(5 * idleLimit)
		want(1)
		x.shards[0].handoff <- handoff{buf: &b.buffers[1]}
		close(x.shards[0].handoff)
		x.threads.Wait()
		if got != 2 {
			t.Errorf("%d buffers collected, want 2", got)
		}
		if want := "Test collector idle timeout after 30 seconds — staying alive until execution completes"; len(said) == 0 || said[0] != want {
			t.Errorf("report %q, want %q", said, want)
		}
	})
}

// A full hand-off holds the drain shard; nothing is lost and the order stays.
func TestFullHandOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mod := newTestModule(1, 4, 0)
		x := testExchange(t, mod, newTestMemory().mapped(), 1, nil)
		x.shards[0].handoff = make(chan handoff, 2)
		if _, err := newReplenisher(x).fillQueues(); err != nil {
			t.Fatal(err)
		}
		for seq := range uint32(3) {
			addr := device{x, mod}.pop(0, 0)
			device{x, mod}.push(0, abi.ReadyEntry{BufferPtr: addr, BufferSeq: seq}, 1)
		}
		d := newDrainer(x, 0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for d.step(0) {
			}
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the drain shard went on although the hand-off is full")
		default:
		}
		var order []uint32
		for range 3 {
			order = append(order, (<-x.shards[0].handoff).seq)
		}
		<-done
		if !slices.Equal(order, []uint32{0, 1, 2}) || x.faults.retired.Load() != 0 {
			t.Errorf("order %v, %d retired", order, x.faults.retired.Load())
		}
	})
}

// The freeze opens before the contended flag is cleared, and ends when queues are
// empty and free queues full (spec/collector.md §4.6).
func TestFreeze(t *testing.T) {
	for _, shards := range []int{1, 2, 3} {
		mod := newTestModule(3, 4, 0)
		var said []string
		x := testExchange(t, mod, newTestMemory().mapped(), shards, func(s Severity, text string) { said = append(said, fmt.Sprint(s, ": ", text)) })
		dev := device{x, mod}
		r := newReplenisher(x)
		flag := func(off uint64) uint32 { return x.region.host.Word32(mod.hdr.Backpressure + off).Load() }
		for i := range x.shards {
			x.shards[i].handoff = make(chan handoff, 16)
		}
		if _, err := r.fillQueues(); err != nil {
			t.Fatal(err)
		}
		dev.send(t, 0, 1)
		for dev.pop(0, 1) != 0 { // the device takes all that there is and wants more
		}
		x.region.host.Word32(mod.hdr.Backpressure + abi.FqContended).Store(1)
		r.tick()
		if flag(abi.FqFreezeActive) != 1 || flag(abi.FqContended) != 0 || flag(abi.RqFreezeActive) != 0 {
			t.Fatalf("%d shards: not frozen: %d %d", shards, flag(abi.FqFreezeActive), flag(abi.FqContended))
		}
		r.tick()
		if flag(abi.FqFreezeActive) != 1 {
			t.Fatalf("%d shards: thawed although a ready queue is not empty", shards)
		}
		d := newDrainer(x, 1%shards)
		if !d.step(1) || x.region.host.Word32(x.pools[1].queue+36).Load() != 4 {
			t.Fatalf("%d shards: the drain shard pushed into a free queue during a freeze", shards)
		}
		r.tick() // pushes
		if flag(abi.FqFreezeActive) != 1 {
			t.Fatalf("%d shards: thawed in the tick that pushed", shards)
		}
		r.tick() // nothing to push any more
		if flag(abi.FqFreezeActive) != 0 {
			t.Errorf("%d shards: still frozen", shards)
		}
		if addr := dev.pop(0, 1); addr == 0 {
			t.Errorf("%d shards: no buffer after the freeze", shards)
		}
		x.region.host.Word32(mod.hdr.Backpressure + abi.RqContended).Store(1)
		r.tick()
		for i, want := range []string{
			"warning: Test: DFX backpressure TRIGGERED: free-queue-empty, pop-gate freeze OPENED", "warning: Test: DFX backpressure RELEASED: ",
			"warning: Test: DFX backpressure TRIGGERED: ready-queue-full, push-gate freeze OPENED",
		} {
			if i >= len(said) || !strings.HasPrefix(said[i], want) {
				t.Errorf("%d shards: said %q, want %q at %d", shards, said, want, i)
			}
		}
	}
}

// A count of shards that cannot be is refused.
func TestShardCount(t *testing.T) {
	mod := newTestModule(3, 4, 0)
	mod.most = 2
	table := &mapping{mem: newTestMemory().mapped()}
	for _, c := range []struct{ queues, shards int }{{0, 1}, {4, 1}, {3, 0}, {3, 3}} {
		if _, err := newExchange(mod, table, &region{}, c.queues, c.shards, capacities{}, nil); err == nil {
			t.Errorf("%d queues with %d shards were accepted", c.queues, c.shards)
		}
	}
}
