package sim_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// The nearest bfloat16, found by trying its neighbours.
func TestBF16(t *testing.T) {
	for bits, want := range map[uint32]sim.BF16{
		0x3F800000: 0x3F80, // 1
		0x3F808000: 0x3F80, // half way to the next: to even
		0x3F818000: 0x3F82, // half way, odd below
		0x3F808001: 0x3F81,
		0xC0490FDB: 0xC049, // -π
		0x7F7FFFFF: 0x7F80, // the largest float32 rounds to infinity
		0x7F800000: 0x7F80,
		0x00000001: 0x0000,
		0x80000000: 0x8000,
	} {
		if got := sim.ToBF16(math.Float32frombits(bits)); got != want {
			t.Errorf("%#08x is %#04x, want %#04x", bits, got, want)
		}
	}
	if !math.IsNaN(float64(sim.ToBF16(math.Float32frombits(0x7F800001)).Float32())) {
		t.Error("a NaN with low bits only became a number")
	}
	if f := sim.BF16(0xC049).Float32(); f != -3.140625 {
		t.Errorf("0xC049 is %v, want -3.140625", f)
	}
}

func tensor(t *testing.T, addr uint64, d abi.DType, shape ...int) abi.Tensor {
	t.Helper()
	out, err := sim.NewTensor(addr, d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func slice(t *testing.T, from abi.Tensor, start, shape []int) abi.Tensor {
	t.Helper()
	out, err := sim.SliceTensor(from, start, shape)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSliceTensor(t *testing.T) {
	whole := tensor(t, 4096, abi.Float32, 4, 6, 8)
	if whole.BufferSize != 768 || whole.Extent != 192 || whole.Strides != [5]uint32{48, 8, 1} || whole.IsContiguous != 1 || whole.OwnerTaskID != abi.NoOwner {
		t.Errorf("the whole buffer is %+v", whole)
	}
	part := slice(t, whole, []int{1, 2, 4}, []int{2, 3, 4})
	// First element 1·48 + 2·8 + 4; extent 1 + 1·48 + 2·8 + 3.
	if part.StartOffset != 68 || part.Extent != 68 || part.Strides != whole.Strides || part.IsContiguous != 0 || part.BufferSize != 768 {
		t.Errorf("the slice is %+v", part)
	}
	if rows := slice(t, whole, []int{2, 1, 0}, []int{1, 3, 8}); rows.IsContiguous != 1 {
		t.Error("whole rows of one matrix are not contiguous")
	}
	inner := slice(t, part, []int{1, 0, 1}, []int{1, 1, 2})
	if inner.StartOffset != 68+48+1 || inner.Extent != 2 {
		t.Errorf("the slice of a slice is %+v", inner)
	}
	for _, bad := range [][2][]int{{{0, 0}, {1, 1}}, {{0, 0, 5}, {1, 1, 4}}, {{-1, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {0, 1, 1}}} {
		if _, err := sim.SliceTensor(whole, bad[0], bad[1]); err == nil {
			t.Errorf("the slice %v is no error", bad)
		}
	}
	for _, shape := range [][]int{{}, {1, 1, 1, 1, 1, 1}, {0}, {-2}, {1 << 20, 1 << 20}} {
		if _, err := sim.NewTensor(0, abi.Float32, shape...); err == nil {
			t.Errorf("the shape %v is no error", shape)
		}
	}
}

func TestView(t *testing.T) {
	mem := abi.NewMem(1 << 12)
	space, err := abi.NewSpace(0x1000, mem)
	if err != nil {
		t.Fatal(err)
	}
	all := abi.Views[int32](mem, 0, 192)
	for i := range all {
		all[i] = int32(i)
	}
	part := slice(t, tensor(t, 0x1000, abi.Int32, 4, 6, 8), []int{1, 2, 4}, []int{2, 3, 3})
	v, err := sim.ViewOf[int32](space, &part)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int32{{68, 69, 70}, {76, 77, 78}, {84, 85, 86}, {116, 117, 118}, {124, 125, 126}, {132, 133, 134}}
	n := 0
	for i, row := range v.Rows() {
		if i != n || !slices.Equal(row, want[i]) || !slices.Equal(v.Row(i), want[i]) {
			t.Errorf("row %d is %v and %v, want %v", i, row, v.Row(i), want[i])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d rows, want %d", n, len(want))
	}
	v.Row(0)[1] = -5
	if all[69] != -5 {
		t.Error("a view does not write to memory")
	}
	line := tensor(t, 0x1000, abi.Int32, 7)
	if v, err := sim.ViewOf[int32](space, &line); err != nil || len(v.Row(0)) != 7 {
		t.Errorf("a vector is no matrix of one row: %v", err)
	}
}

func TestViewRefused(t *testing.T) {
	space, err := abi.NewSpace(0x1000, abi.NewMem(1<<12))
	if err != nil {
		t.Fatal(err)
	}
	good := tensor(t, 0x1000, abi.Float32, 8, 16)
	for want, spoil := range map[string]func(*abi.Tensor){
		"FLOAT32":     func(x *abi.Tensor) { x.DType = abi.BFloat16 },
		"dimensions":  func(x *abi.Tensor) { x.NDims = 6 },
		"no elements": func(x *abi.Tensor) { x.Shapes[0] = 0 },
		"its buffer":  func(x *abi.Tensor) { x.StartOffset = 1 },
		"the 512 bytes of its buffer": func(x *abi.Tensor) {
			x.StartOffset, x.Shapes, x.Strides = 1<<64-1, [5]uint32{1<<32 - 1, 1}, [5]uint32{1<<32 - 1, 1}
		},
		"last dimension": func(x *abi.Tensor) { x.Strides, x.Shapes[0], x.Shapes[1] = [5]uint32{1, 8}, 8, 16 },
		"outside":        func(x *abi.Tensor) { x.BufferAddr = 0x1F00 },
	} {
		bad := good
		spoil(&bad)
		if _, err := sim.ViewOf[float32](space, &bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := sim.ViewOf[float32](space, &good); err != nil {
		t.Error(err)
	}
}
