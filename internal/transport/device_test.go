package transport_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/transport"
)

const base = 0x100000

func device(t testing.TB, size int) *transport.Device {
	t.Helper()
	d, err := transport.New(base, size)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func alloc(t testing.TB, m collector.Memory, size int) uint64 {
	t.Helper()
	addr, err := m.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func free(t testing.TB, m collector.Memory, addr uint64) {
	t.Helper()
	if err := m.Free(addr); err != nil {
		t.Fatal(err)
	}
}

// refused wants an error that says all of this.
func refused(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", says)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error %q does not say %q", err, s)
		}
	}
}

func TestAddressesAreAlignedAndReused(t *testing.T) {
	m := transport.Shadow(device(t, 1024))
	a, b, c := alloc(t, m, 1), alloc(t, m, 64), alloc(t, m, 65)
	if a != base || b != base+64 || c != base+128 {
		t.Fatalf("addresses %#x %#x %#x, want %#x and the next multiples of 64", a, b, c, base)
	}
	free(t, m, b)
	if again := alloc(t, m, 10); again != b {
		t.Errorf("a freed address came back as %#x, want %#x", again, b)
	}
	free(t, m, a)
	if next := alloc(t, m, 128); next != base+256 {
		t.Errorf("128 bytes went to %#x, want %#x behind all others: the first hole has 64", next, base+256)
	}
}

// Three neighbours freed in any order leave one hole that holds all of them.
func TestHolesGrowTogether(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		m := transport.Shadow(device(t, 5*64))
		var addrs [5]uint64
		for i := range addrs {
			addrs[i] = alloc(t, m, 64)
		}
		for _, i := range order {
			free(t, m, addrs[1+i])
		}
		if got := alloc(t, m, 3*64); got != addrs[1] {
			t.Errorf("freed in order %v: 192 bytes went to %#x, want %#x", order, got, addrs[1])
		}
	}
}

func TestExhaustion(t *testing.T) {
	d := device(t, 1024)
	m := transport.Shadow(d)
	a, b := alloc(t, m, 256), alloc(t, m, 512)
	free(t, m, a) // free: 256 and 256, apart
	_, err := m.Alloc(257)
	refused(t, err, "257 bytes", "512 of 1024 bytes are free", "largest hole has 256")
	if n, bytes := d.InUse(); n != 1 || bytes != 512 {
		t.Errorf("%d allocations of %d bytes after a failed one, want 1 of 512", n, bytes)
	}
	for _, size := range []int{0, -1, -1 << 63} {
		_, err := m.Alloc(size)
		refused(t, err, "expected 1 or more")
	}
	_, err = m.Alloc(1<<63 - 1)
	refused(t, err, "9223372036854775807 bytes")
	free(t, m, b)
	if got := alloc(t, m, 1024); got != base {
		t.Errorf("the whole memory is at %#x, want %#x", got, base)
	}
}

func TestFreeRefuses(t *testing.T) {
	m := transport.Shadow(device(t, 1024))
	a, b := alloc(t, m, 128), alloc(t, m, 128)
	free(t, m, a)
	for what, addr := range map[string]uint64{
		"freed": a, "inside an allocation": b + 64, "never allocated": base + 512, "outside": base - 64, "none": 0,
	} {
		t.Run(what, func(t *testing.T) { refused(t, m.Free(addr), "no allocation starts there") })
	}
}

func TestSizesOfDevices(t *testing.T) {
	for _, size := range []int{0, -64, 63, 100} {
		_, err := transport.New(base, size)
		refused(t, err, "multiple of 64")
		_, err = transport.NewShared(base, size)
		refused(t, err, "multiple of 64")
	}
	for _, at := range []uint64{0, 32} {
		_, err := transport.New(at, 64)
		refused(t, err, "cannot begin at address")
	}
}

// naive is an allocator that knows nothing but which cells of 64 bytes are taken.
type naive []bool

func (n naive) fit(cells int) (first int, ok bool) {
	run := 0
	for i, taken := range n {
		if run++; taken {
			run = 0
		}
		if run == cells {
			return i - cells + 1, true
		}
	}
	return 0, false
}

func (n naive) set(first, cells int, taken bool) {
	for i := range cells {
		n[first+i] = taken
	}
}

func TestAllocatorAgainstNaive(t *testing.T) {
	const cells = 200
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		d := device(t, cells*64)
		m, model := transport.Shadow(d), make(naive, cells)
		type live struct {
			addr uint64
			size int
		}
		var all []live
		full := 0
		for range 500 {
			if rng.IntN(5) < 3 {
				size := 1 + rng.IntN(20*64)
				need := (size + 63) / 64
				first, ok := model.fit(need)
				addr, err := m.Alloc(size)
				if ok != (err == nil) {
					t.Fatalf("%d bytes: error %v, but room: %v", size, err, ok)
				}
				if !ok {
					full++
					continue
				}
				if want := base + uint64(first)*64; addr != want {
					t.Fatalf("%d bytes went to %#x, the first place where they fit is %#x", size, addr, want)
				}
				model.set(first, need, true)
				all = append(all, live{addr, size})
			} else if len(all) > 0 {
				i := rng.IntN(len(all))
				l := all[i]
				all[i] = all[len(all)-1]
				all = all[:len(all)-1]
				free(t, m, l.addr)
				model.set(int(l.addr-base)/64, (l.size+63)/64, false)
			}
		}
		if full == 0 {
			t.Error("the memory was never full: the test is too easy")
		}
		bytes := 0
		for _, l := range all {
			bytes += l.size
		}
		if n, b := d.InUse(); n != len(all) || b != bytes {
			t.Errorf("%d allocations of %d bytes in use, want %d of %d", n, b, len(all), bytes)
		}
	}
}

// Goroutines that allocate, fill, check and free never see each other's bytes.
func TestAllocatorIsSafeForConcurrentUse(t *testing.T) {
	d := device(t, 64*64)
	m := transport.Mapped(d)
	var wg sync.WaitGroup
	for id := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(id), 0))
			for range 200 {
				size := 1 + rng.IntN(512)
				addr, err := m.Alloc(size)
				if err != nil {
					t.Error(err)
					return
				}
				mem, err := m.Register(addr, size)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range mem {
					mem[i] = byte(id)
				}
				for _, b := range mem {
					if b != byte(id) {
						t.Errorf("%d reads %d", id, b)
						return
					}
				}
				if err := m.Unregister(addr); err != nil {
					t.Error(err)
				}
				if err := m.Free(addr); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, _ := d.InUse(); n != 0 {
		t.Errorf("%d allocations are left", n)
	}
}

func TestMappedSharesMemory(t *testing.T) {
	d := device(t, 1024)
	m := transport.Mapped(d)
	if m.CopyToDevice != nil || m.CopyFromDevice != nil {
		t.Error("shared memory is copied")
	}
	alloc(t, m, 64)
	addr := alloc(t, m, 100)
	host, err := m.Register(addr, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(host) != 100 || cap(host) != 100 {
		t.Errorf("the host sees %d bytes of %d, want 100 of 100", len(host), cap(host))
	}
	there, err := d.Space().At(addr, 100)
	if err != nil {
		t.Fatal(err)
	}
	host[99], there[0] = 7, 8
	if there[99] != 7 || host[0] != 8 {
		t.Error("host and device do not see the same bytes")
	}
}

func TestMappedHoldsTheOrder(t *testing.T) {
	m := transport.Mapped(device(t, 1024))
	addr := alloc(t, m, 100)
	_, err := m.Register(addr+64, 1)
	refused(t, err, "cannot register device address 0x100040", "no allocation starts there")
	for _, size := range []int{0, -1, 101} {
		_, err := m.Register(addr, size)
		refused(t, err, "the allocation there has 100")
	}
	refused(t, m.Unregister(addr), "was not registered")
	if _, err := m.Register(addr, 50); err != nil {
		t.Fatal(err)
	}
	_, err = m.Register(addr, 50)
	refused(t, err, "sees it already")
	refused(t, m.Free(addr), "unregister it first")
	if err := m.Unregister(addr); err != nil {
		t.Fatal(err)
	}
	free(t, m, addr)
	refused(t, m.Unregister(addr), "no allocation starts there")
	if again := alloc(t, m, abi.Align); again != addr {
		t.Fatalf("the address came back as %#x, want %#x", again, addr)
	}
	if _, err := m.Register(addr, abi.Align); err != nil {
		t.Errorf("an address that came back cannot be registered: %v", err)
	}
}

// TestZero: only memory that was never in use is known to hold zeros.
func TestZero(t *testing.T) {
	d, err := transport.New(0x1000, 4096)
	if err != nil {
		t.Fatal(err)
	}
	m := transport.Mapped(d)
	alloc := func(size int) uint64 {
		t.Helper()
		addr, err := m.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	a, b := alloc(100), alloc(64)
	if !d.Zero(a) || !d.Zero(b) || d.Zero(a+64) || d.Zero(0x9000) {
		t.Error("new allocations are not known to hold zeros, or what is no allocation is")
	}
	if err := m.Free(a); err != nil {
		t.Fatal(err)
	}
	if again := alloc(64); again != a || d.Zero(again) {
		t.Errorf("%#x was in use before, as %#x, and is taken to hold zeros", again, a)
	}
	if c := alloc(128); !d.Zero(c) {
		t.Errorf("%#x was never in use", c)
	}
}
