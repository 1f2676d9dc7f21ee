package transport_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/transport"
)

// at is the device's view.
func at(t testing.TB, d *transport.Device, addr uint64, n int) abi.Mem {
	t.Helper()
	mem, err := d.Space().At(addr, n)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// Every size and alignment around the ones that move words: the bytes are those
// of memcpy, and none beside them changes.
func TestCopiesTouchTheirBytesOnly(t *testing.T) {
	d := device(t, 256)
	m := transport.Shadow(d)
	mem := at(t, d, base, 256)
	pattern := make([]byte, 100)
	for i := range pattern {
		pattern[i] = byte(i + 1)
	}
	for off := 64; off < 64+16; off++ {
		for n := 0; n <= len(pattern); n++ {
			for i := range mem {
				mem[i] = 0xAA
			}
			want := bytes.Repeat([]byte{0xAA}, 256)
			copy(want[off:], pattern[:n])
			if err := m.CopyToDevice(base+uint64(off), pattern[:n]); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mem, want) {
				t.Fatalf("%d bytes to offset %d: %x", n, off, mem)
			}
			got := bytes.Repeat([]byte{0xBB}, n+2)
			if err := m.CopyFromDevice(got[1:n+1], base+uint64(off)); err != nil {
				t.Fatal(err)
			}
			if got[0] != 0xBB || got[n+1] != 0xBB || !bytes.Equal(got[1:n+1], pattern[:n]) {
				t.Fatalf("%d bytes from offset %d: %x", n, off, got)
			}
		}
	}
}

func TestCopiesStayInside(t *testing.T) {
	d := device(t, 128)
	m := transport.Shadow(d)
	if m.Register != nil {
		t.Error("memory that the host cannot map can be registered")
	}
	for _, c := range []struct {
		addr uint64
		n    int
	}{{base - 4, 4}, {base + 128, 4}, {base + 124, 8}, {0, 4}, {1<<64 - 4, 8}, {base, 129}} {
		refused(t, m.CopyToDevice(c.addr, make([]byte, c.n)), "outside the device's memory 0x100000…0x100080")
		refused(t, m.CopyFromDevice(make([]byte, c.n), c.addr), "outside the device's memory")
	}
}

// Writing one word back must not roll its neighbours back: the device counts in
// them all the while.
func TestWriteBackLeavesNeighboursAlone(t *testing.T) {
	const rounds = 20000
	for _, size := range []int{4, 8} {
		d := device(t, 64)
		m, mem := transport.Shadow(d), at(t, d, base, 64)
		var wg sync.WaitGroup
		for _, off := range []uint64{12, 24} { // around 16…19 or 16…23
			wg.Go(func() {
				for range rounds {
					mem.Word32(off).Add(1)
				}
			})
		}
		word := make([]byte, size)
		for i := range rounds {
			binary.LittleEndian.PutUint32(word, uint32(i))
			if err := m.CopyToDevice(base+16, word); err != nil {
				t.Fatal(err)
			}
		}
		wg.Wait()
		if a, b := mem.Word32(12).Load(), mem.Word32(24).Load(); a != rounds || b != rounds {
			t.Errorf("words beside %d bytes: %d and %d, want %d", size, a, b, rounds)
		}
		if got := mem.Word32(16).Load(); got != rounds-1 {
			t.Errorf("the word is %d, want %d", got, rounds-1)
		}
	}
}

// A word of 8 bytes is never seen half, alone or among others.
func TestWordsStayWhole(t *testing.T) {
	const rounds = 20000
	d := device(t, 64)
	m, mem := transport.Shadow(d), at(t, d, base, 64)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for i := range uint64(rounds) {
			mem.Word64(16).Store(i<<32 | i)
		}
	})
	alone, among, odd := make([]byte, 8), make([]byte, 64), make([]byte, 20)
	for range rounds {
		for _, c := range []struct {
			to   []byte
			from uint64
			at   int
		}{{alone, 16, 0}, {among, 0, 16}, {odd, 12, 4}} {
			if err := m.CopyFromDevice(c.to, base+c.from); err != nil {
				t.Fatal(err)
			}
			if v := binary.LittleEndian.Uint64(c.to[c.at:]); v>>32 != v&0xFFFFFFFF {
				t.Fatalf("%d bytes: the device stored the same word twice, the host reads %#x", len(c.to), v)
			}
		}
	}
}

// TestHostBesideRunningDevice runs every transfer of spec/collector.md §8 that
// happens while the device runs. The race detector judges it.
func TestHostBesideRunningDevice(t *testing.T) {
	const (
		entries = 3000 // three times around the queue
		queue   = 2
		pool    = 3
		buffers = 6
		size    = 32064 // AicpuTask, spec/device-abi.md §3
		counted = 32000
	)
	region, err := abi.NewRegion(abi.A2A3, 3)
	if err != nil {
		t.Fatal(err)
	}
	d := device(t, 1<<20)
	m := transport.Shadow(d)
	shared := alloc(t, m, int(region.TotalSize))
	for range buffers {
		if err := m.CopyToDevice(alloc(t, m, size), make([]byte, size)); err != nil { // zeros at pairing
			t.Fatal(err)
		}
	}
	first := shared + (region.TotalSize+63)/64*64

	var failed atomic.Bool // ends the other side; otherwise nobody stores it
	var wg sync.WaitGroup
	defer wg.Wait()
	defer failed.Store(true)
	wg.Go(func() { // the device: takes a buffer, fills it, hands it over
		mem := at(t, d, shared, int(region.TotalSize))
		free := abi.View[abi.Pool](mem, region.Pool(abi.KindAicpuTask, pool-1))
		contended := mem.Word32(region.Backpressure + abi.FqContended)
		tail := mem.Word32(region.Tail(queue))
		head := mem.Word32(region.Head(queue))
		*mem.U32(region.NumSchedPhaseThreads) = 4 // before anything that the host waits for
		for i := range uint32(entries) {
			for free.Free.Head.Load() == free.Free.Tail.Load() && !failed.Load() {
				contended.Store(1)
				runtime.Gosched()
			}
			slot := free.Free.Head.Load()
			addr := free.Free.BufferPtrs[slot%4].Load()
			free.Free.Head.Store(slot + 1)
			free.Head.CurrentBufPtr.Store(addr)
			free.Head.CurrentBufSeq.Store(i)
			free.Head.TotalRecordCount++

			buf, err := d.Space().At(addr, size)
			if err != nil {
				t.Error(err)
				failed.Store(true)
			}
			if failed.Load() {
				return
			}
			*buf.U32(0), *buf.U32(counted) = i, i+1
			at := tail.Load()
			for (at+1)%uint32(region.QueueSize) == head.Load() && !failed.Load() {
				runtime.Gosched()
			}
			e := abi.View[abi.ReadyEntry](mem, region.Entry(queue, at))
			e.CoreIndex, e.Kind, e.BufferPtr, e.BufferSeq = pool-1, abi.KindAicpuTask, addr, i
			tail.Store((at + 1) % uint32(region.QueueSize))
		}
	})

	pull := func(off uint64, n int) []byte {
		to := make([]byte, n)
		if err := m.CopyFromDevice(to, shared+off); err != nil {
			t.Fatal(err)
		}
		return to
	}
	pull32 := func(off uint64) uint32 { return binary.LittleEndian.Uint32(pull(off, 4)) }
	push32 := func(off uint64, v uint32) {
		if err := m.CopyToDevice(shared+off, binary.LittleEndian.AppendUint32(nil, v)); err != nil {
			t.Fatal(err)
		}
	}
	freeQueue := region.Pool(abi.KindAicpuTask, pool-1) + 64 // spec/device-abi.md §4
	var idle []uint64
	for i := range uint64(buffers) {
		idle = append(idle, first+i*((size+63)/64*64))
	}
	var head, freeTail uint32
	payload := make([]byte, size)
	for i := uint32(0); i < entries && !failed.Load(); {
		for len(idle) > 0 && freeTail-pull32(freeQueue+32) < 4 {
			if err := m.CopyToDevice(shared+freeQueue+8*uint64(freeTail%4), binary.LittleEndian.AppendUint64(nil, idle[0])); err != nil {
				t.Fatal(err)
			}
			idle = idle[1:]
			freeTail++
			push32(freeQueue+36, freeTail)
		}
		if bp := region.Backpressure; pull32(bp+abi.FqContended) != 0 {
			push32(bp+abi.FqFreezeActive, 1)
			push32(bp+abi.FqContended, 0)
			if n := pull32(region.NumSchedPhaseThreads); n != 4 {
				t.Fatalf("the device contends, but has %d phase threads, want 4", n)
			}
			push32(bp+abi.FqFreezeActive, 0)
		}
		tails := pull(region.Tails, 4*region.Threads) // the release test
		if binary.LittleEndian.Uint32(tails[4*queue:]) == head {
			runtime.Gosched()
			continue
		}
		entry := pull(region.Entry(queue, head), 32)
		addr := binary.LittleEndian.Uint64(entry[8:])
		if seq := binary.LittleEndian.Uint32(entry[16:]); seq != i || entry[0] != pool-1 {
			t.Fatalf("entry %d: %x", i, entry)
		}
		if err := m.CopyFromDevice(payload, addr); err != nil {
			t.Fatal(err)
		}
		if a, b := binary.LittleEndian.Uint32(payload), binary.LittleEndian.Uint32(payload[counted:]); a != i || b != i+1 {
			t.Fatalf("the buffer of entry %d has %d and %d", i, a, b)
		}
		idle = append(idle, addr)
		head = (head + 1) % uint32(region.QueueSize)
		push32(region.Head(queue), head)
		i++
	}
	wg.Wait()
	whole := make([]byte, region.TotalSize) // the device has stopped
	if err := m.CopyFromDevice(whole, shared); err != nil {
		t.Fatal(err)
	}
	if n := binary.LittleEndian.Uint32(whole[freeQueue-64+12:]); n != entries {
		t.Errorf("the pool counted %d, want %d", n, entries)
	}
}

func BenchmarkPullBuffer(b *testing.B) {
	const size = 32832 // AicoreTask, spec/device-abi.md §3
	d := device(b, 1<<20)
	m := transport.Shadow(d)
	addr, to := alloc(b, m, size), make([]byte, size)
	b.SetBytes(size)
	for b.Loop() {
		if err := m.CopyFromDevice(to, addr); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRegionPull is one look at an idle device: the two indices of all queues
// and two flags, by narrow reads and by a pull of the whole region.
func BenchmarkRegionPull(b *testing.B) {
	r, err := abi.NewRegion(abi.A5, 108)
	if err != nil {
		b.Fatal(err)
	}
	m := transport.Shadow(device(b, 1<<20))
	for name, sizes := range map[string][]int{"narrow": {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, "region": {int(r.TotalSize)}} {
		to := make([]byte, r.TotalSize)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, size := range sizes {
					if err := m.CopyFromDevice(to[:size], base); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkPullWord(b *testing.B) {
	m := transport.Shadow(device(b, 1<<20))
	to := make([]byte, 4)
	for b.Loop() {
		if err := m.CopyFromDevice(to, base+64); err != nil {
			b.Fatal(err)
		}
	}
}
