package producer_test

import (
	"testing"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

const devBase = 0x1_0000_0000

// host is as much of a host as a producer needs: it lays out a region, gives
// buffers and takes them back. Buffers have the addresses buffer(0), buffer(1), …
// in the order of new.
type host struct {
	t      testing.TB
	space  abi.Space
	mem    abi.Mem
	region *abi.Region
	used   uint64
	cfg    producer.Config
}

func newHost(t testing.TB, arch *abi.Arch, cores int, level abi.Level, size int) *host {
	t.Helper()
	h := &host{t: t, mem: abi.NewMem(size)}
	var err error
	if h.space, err = abi.NewSpace(devBase, h.mem); err != nil {
		t.Fatal(err)
	}
	if h.region, err = abi.NewRegion(arch, cores); err != nil {
		t.Fatal(err)
	}
	h.cfg = producer.Config{
		Region: h.region, Space: h.space, RegionAddr: h.alloc(int(h.region.TotalSize)), RotationTable: h.alloc(8 * cores),
		Enable: 1 << 1, Cores: cores,
	}
	*h.mem.U32(h.region.NumCores) = uint32(cores)
	*h.mem.U32(h.region.Level) = uint32(level)
	return h
}

// alloc takes memory of the device. The region comes first and so begins at
// offset 0, which lets its offsets be used as they are.
func (h *host) alloc(n int) uint64 {
	addr := devBase + h.used
	h.used += uint64(n+63) / 64 * 64
	if h.used > uint64(len(h.mem)) {
		h.t.Fatalf("the test needs more than %d bytes", len(h.mem))
	}
	return addr
}

func (h *host) attach() *producer.Device {
	h.t.Helper()
	d, err := producer.Attach(h.cfg)
	if err != nil || d == nil {
		h.t.Fatalf("no device: %v", err)
	}
	return d
}

func (h *host) pool(k abi.Kind, i int) *abi.Pool {
	return abi.View[abi.Pool](h.mem, h.region.Pool(k, i))
}

func (h *host) bp() *abi.Backpressure {
	return abi.View[abi.Backpressure](h.mem, h.region.Backpressure)
}

// give puts n new buffers into the free queue of a pool.
func (h *host) give(k abi.Kind, i, n int) (addrs []uint64) {
	for range n {
		addrs = append(addrs, h.alloc(abi.Buffers[k].Size))
		push(&h.pool(k, i).Free, addrs[len(addrs)-1])
	}
	return addrs
}

func push(q *abi.FreeQueue, addr uint64) {
	tail := q.Tail.Load()
	q.BufferPtrs[tail%4].Store(addr)
	q.Tail.Store(tail + 1)
}

// take pops the next entry of a ready queue.
func (h *host) take(queue int) (abi.ReadyEntry, bool) {
	head := h.mem.Word32(h.region.Head(queue))
	i := head.Load()
	if i == h.mem.Word32(h.region.Tail(queue)).Load() {
		return abi.ReadyEntry{}, false
	}
	e := *abi.View[abi.ReadyEntry](h.mem, h.region.Entry(queue, i))
	head.Store((i + 1) % uint32(h.region.QueueSize))
	return e, true
}

// wantEntry takes an entry and compares it.
func (h *host) wantEntry(queue int, k abi.Kind, index uint32, addr uint64, seq uint32) {
	h.t.Helper()
	got, ok := h.take(queue)
	if want := (abi.ReadyEntry{CoreIndex: index, Kind: k, BufferPtr: addr, BufferSeq: seq}); !ok || got != want {
		h.t.Errorf("queue %d gives %+v (%v), want %+v", queue, got, ok, want)
	}
}

func (h *host) wantNoEntry(queue int) {
	h.t.Helper()
	if got, ok := h.take(queue); ok {
		h.t.Errorf("queue %d gives %+v, want nothing", queue, got)
	}
}

// fill leaves one queue with no free entry: usable are QueueSize-1.
func (h *host) fill(queue int) {
	tail := h.mem.Word32(h.region.Tail(queue)).Load()
	h.mem.Word32(h.region.Head(queue)).Store((tail + 1) % uint32(h.region.QueueSize))
}

func (h *host) count(k abi.Kind, addr uint64) uint32 {
	return *h.mem.U32(addr - devBase + uint64(abi.Buffers[k].Count))
}

func recordsAt[R any](h *host, k abi.Kind, addr uint64) []R {
	return abi.Views[R](h.mem, addr-devBase, abi.Buffers[k].Capacity)
}

// wantPool compares the words of a pool.
func (h *host) wantPool(k abi.Kind, i int, addr uint64, seq, total, dropped uint32) {
	h.t.Helper()
	p := h.pool(k, i)
	if a, s := p.Head.CurrentBufPtr.Load(), p.Head.CurrentBufSeq.Load(); a != addr || s != seq {
		h.t.Errorf("%s pool %d has buffer %#x of sequence %d, want %#x of %d", abi.Buffers[k].Name, i, a, s, addr, seq)
	}
	if p.Head.TotalRecordCount != total || p.Head.DroppedRecordCount != dropped {
		h.t.Errorf("%s pool %d counts %d records and %d dropped, want %d and %d", abi.Buffers[k].Name, i,
			p.Head.TotalRecordCount, p.Head.DroppedRecordCount, total, dropped)
	}
}

func (h *host) wantFaults(w interface{ Faults() (uint64, error) }, want uint64) {
	h.t.Helper()
	if n, err := w.Faults(); n != want {
		h.t.Errorf("%d faults, want %d; the first: %v", n, want, err)
	}
}

// clock is a clock that moves only while somebody waits: 1 s per look. On a
// look it may do what a host does.
type clock struct {
	looks int
	on    map[int]func()
}

func (c *clock) waiting(p abi.Policy) producer.Waiting {
	return producer.Waiting{
		Policy: p,
		Now:    func() time.Time { return time.Unix(1000+int64(c.looks), 0) },
		Wait: func() {
			c.looks++
			if do := c.on[c.looks]; do != nil {
				do()
			}
		},
	}
}
