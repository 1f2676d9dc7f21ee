package abi_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"swimlane/internal/abi"
)

// panics demands that f panics with a text that contains the given one.
func panics(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, text) {
			t.Errorf("panic %q, want one with %q", got, text)
		}
	}()
	f()
}

func TestNewMem(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 4096} {
		m := abi.NewMem(n)
		if len(m) != n || cap(m) != n {
			t.Errorf("NewMem(%d) has length %d and capacity %d", n, len(m), cap(m))
		}
		if at := uintptr(unsafe.Pointer(&m[0])); at%64 != 0 {
			t.Errorf("NewMem(%d) begins at %#x, which is no multiple of 64", n, at)
		}
		for i, b := range m {
			if b != 0 {
				t.Errorf("NewMem(%d) holds %d at %d", n, b, i)
			}
		}
	}
}

// TestWords: words lie where they are asked for, little-endian.
func TestAligned(t *testing.T) {
	mem := abi.NewMem(3000)
	for _, size := range []int{64, 512, 1024} {
		part := mem.Aligned(size)
		start := &mem[0]
		skip := 0
		for i := range mem { // where the part begins
			if &mem[i] == &part[0] {
				start, skip = &mem[i], i
			}
		}
		if uintptr(unsafe.Pointer(start))%uintptr(size) != 0 || skip >= size {
			t.Errorf("blocks of %d bytes begin %d bytes into the memory, at %p", size, skip, start)
		}
		if rest := 3000 - skip - len(part); len(part)%size != 0 || rest < 0 || rest >= size {
			t.Errorf("blocks of %d bytes: %d bytes from %d on, of 3000", size, len(part), skip)
		}
	}
	if part := mem.Aligned(1 << 20); len(part) != 0 {
		t.Errorf("3000 bytes hold %d bytes of blocks of a MiB", len(part))
	}
}

func TestWords(t *testing.T) {
	m := abi.NewMem(32)
	m.Word32(4).Store(0x04030201)
	m.Word64(8).Store(0x1817161514131211)
	*m.U32(28) = 0x24232221
	want := "00000000 01020304 1112131415161718 000000000000000000000000 21222324"
	if got := fmt.Sprintf("%x %x %x %x %x", []byte(m[:4]), []byte(m[4:8]), []byte(m[8:16]), []byte(m[16:28]), []byte(m[28:])); got != want {
		t.Errorf("bytes %s, want %s", got, want)
	}
	m[4] = 0xff
	if got := m.Word32(4).Load(); got != 0x040302ff {
		t.Errorf("the word at 4 is %#x, want 0x040302ff", got)
	}
}

func TestMemBounds(t *testing.T) {
	m := abi.NewMem(128)
	for _, off := range []uint64{125, 128, 132, 1 << 63, math.MaxUint64, math.MaxUint64 - 3} {
		panics(t, "outside 128 bytes", func() { m.Word32(off) })
		panics(t, "outside 128 bytes", func() { m.U32(off) })
	}
	for _, off := range []uint64{121, 124, 128, math.MaxUint64 - 7} {
		panics(t, "outside 128 bytes", func() { m.Word64(off) })
	}
	for _, off := range []uint64{1, 2, 123} {
		panics(t, "not aligned", func() { m.Word32(off) })
		panics(t, "not aligned", func() { m.U32(off) })
	}
	panics(t, "not aligned", func() { m.Word64(36) }) // phase_data of a record begins at 28 mod 64
	panics(t, "outside 128 bytes", func() { abi.View[abi.AicpuTask](m, 104) })
	panics(t, "outside 128 bytes", func() { abi.View[abi.AicpuTask](m, math.MaxUint64-31) })
	panics(t, "not aligned", func() { abi.View[abi.AicpuTask](m, 4) })
	panics(t, "not aligned", func() { abi.Views[abi.AicpuTask](m, 4, 2) })
	panics(t, "outside 128 bytes", func() { abi.Views[abi.AicpuTask](m, 32, 4) })
	// Numbers whose product with 32 is small or 0 again.
	for _, n := range []int{5, -1, 1 << 59, math.MinInt, 1<<59 + 1, math.MaxInt} {
		panics(t, "do not fit into 128 bytes", func() { abi.Views[abi.AicpuTask](m, 0, n) })
	}
	if got := len(abi.Views[abi.AicpuTask](m, 0, 4)); got != 4 {
		t.Errorf("%d records, want 4", got)
	}
	if got := len(abi.Views[abi.AicpuTask](m, 128, 0)); got != 0 {
		t.Errorf("%d records, want none", got)
	}
}

func TestViewsShareTheBytes(t *testing.T) {
	m := abi.NewMem(128)
	records := abi.Views[abi.AicpuTask](m, 32, 3)
	records[2].DispatchTime = 0xABCD
	if m[96] != 0xCD || m[97] != 0xAB {
		t.Errorf("bytes at 96 are % x, want cd ab", []byte(m[96:98]))
	}
	if got := abi.View[abi.AicpuTask](m, 96).DispatchTime; got != 0xABCD {
		t.Errorf("the view at 96 has dispatch time %#x, want 0xabcd", got)
	}
}

func TestSpace(t *testing.T) {
	mem := abi.NewMem(256)
	s, err := abi.NewSpace(0x100000, mem)
	if err != nil {
		t.Fatal(err)
	}
	if s.Base() != 0x100000 || s.Len() != 256 {
		t.Errorf("base %#x, length %d, want 0x100000 and 256", s.Base(), s.Len())
	}
	got, err := s.At(0x100040, 64)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 64 || cap(got) != 64 || &got[0] != &mem[64] {
		t.Errorf("At gives %d bytes, capacity %d, want the 64 bytes from 64 on and no more", len(got), cap(got))
	}
	for _, ok := range []struct {
		addr uint64
		n    int
	}{{0x100000, 256}, {0x100000, 0}, {0x100100, 0}, {0x1000ff, 1}} {
		if m, err := s.At(ok.addr, ok.n); err != nil || len(m) != ok.n {
			t.Errorf("%d bytes at %#x: %d bytes, %v", ok.n, ok.addr, len(m), err)
		}
	}
	for _, bad := range []struct {
		addr uint64
		n    int
	}{
		{0, 0}, {0, 64}, {0xfffff, 1}, {0xfffc0, 64}, {0x100000, 257}, {0x1000ff, 2}, {0x100100, 1}, {0x100101, 0},
		{0x100000, -1}, {0x100000, math.MinInt}, {0x100040, math.MaxInt}, {math.MaxUint64, 1}, {math.MaxUint64 - 63, 64},
	} {
		if m, err := s.At(bad.addr, bad.n); err == nil {
			t.Errorf("%d bytes at %#x are given: %d bytes", bad.n, bad.addr, len(m))
		}
	}
	_, err = s.At(0x100100, 64)
	if want := "64 bytes at device address 0x100100 are outside the device's memory 0x100000…0x100100"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestNewSpaceRefuses(t *testing.T) {
	mem := abi.NewMem(256)
	for name, c := range map[string]struct {
		base uint64
		mem  abi.Mem
		want string
	}{
		"null":           {0, mem, "expected a multiple of 64 other than 0"},
		"unaligned base": {0x100020, mem, "expected a multiple of 64 other than 0"},
		"wraps":          {math.MaxUint64 - 63, mem, "cannot begin at address 0xffffffffffffffc0"},
		"ends at 2^64":   {math.MaxUint64 - 255, mem, "cannot begin at address"},
		"unaligned here": {0x100000, mem[32:], "not aligned to 64 bytes here"},
	} {
		if _, err := abi.NewSpace(c.base, c.mem); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}
