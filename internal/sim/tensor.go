package sim

import (
	"fmt"
	"iter"
	"math"

	"swimlane/internal/abi"
)

// BF16 is a bfloat16: the upper half of a float32.
type BF16 uint16

// ToBF16 rounds to the nearest bfloat16, halves to even.
func ToBF16(f float32) BF16 {
	u := math.Float32bits(f)
	if f != f {
		return BF16(u>>16 | 0x40) // stays a NaN
	}
	return BF16((u + 0x7FFF + u>>16&1) >> 16)
}

// Float32 is the value of a bfloat16.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// Element is a type that kernels compute with.
type Element interface{ float32 | BF16 | int32 }

// dtype is the type of a tensor with such elements.
func dtype[E Element]() abi.DType {
	var e E
	switch any(e).(type) {
	case float32:
		return abi.Float32
	case BF16:
		return abi.BFloat16
	}
	return abi.Int32
}

// NewTensor describes a whole buffer of contiguous elements.
func NewTensor(addr uint64, d abi.DType, shape ...int) (abi.Tensor, error) {
	t := abi.Tensor{BufferAddr: addr, OwnerTaskID: abi.NoOwner, NDims: uint32(len(shape)), DType: d, IsContiguous: 1}
	if len(shape) < 1 || len(shape) > len(t.Shapes) {
		return t, fmt.Errorf("a tensor of %d dimensions cannot be: expected 1 to %d", len(shape), len(t.Shapes))
	}
	elements := uint64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		n := shape[i]
		if n < 1 || elements*uint64(n) > math.MaxUint32 {
			return t, fmt.Errorf("a tensor of the shape %v cannot be: expected at least 1 in each dimension, and fewer than 2^32 elements", shape)
		}
		t.Shapes[i], t.Strides[i] = uint32(n), uint32(elements)
		elements *= uint64(n)
	}
	t.Extent = elements
	t.BufferSize = elements * uint64(d.Size())
	return t, nil
}

// SliceTensor is the part of a tensor that begins at an index and has a shape.
func SliceTensor(t abi.Tensor, start, shape []int) (abi.Tensor, error) {
	n := int(t.NDims)
	if len(start) != n || len(shape) != n {
		return t, fmt.Errorf("a slice from %v of the shape %v: expected %d dimensions", start, shape, n)
	}
	extent := uint64(1)
	for i := range n {
		if start[i] < 0 || shape[i] < 1 || start[i]+shape[i] > int(t.Shapes[i]) {
			return t, fmt.Errorf("a slice from %v of the shape %v: expected to stay inside %v", start, shape, t.Shapes[:n])
		}
		t.StartOffset += uint64(start[i]) * uint64(t.Strides[i])
		extent += uint64(shape[i]-1) * uint64(t.Strides[i])
	}
	for i, s := range shape {
		t.Shapes[i] = uint32(s)
	}
	t.Extent = extent
	t.IsContiguous = 0
	if contiguous(&t) {
		t.IsContiguous = 1
	}
	return t, nil
}

func contiguous(t *abi.Tensor) bool {
	want := uint32(1)
	for i := int(t.NDims) - 1; i >= 0; i-- {
		if t.Shapes[i] != 1 && t.Strides[i] != want {
			return false
		}
		want *= t.Shapes[i]
	}
	return true
}

// View is a tensor's elements, as a kernel sees them: a matrix of rows, the last
// dimension. Rows are views of the device's memory.
type View[E Element] struct {
	data   []E // from the first element to the last one
	shape  []uint32
	stride []uint32
}

// ViewOf is the view of a tensor in a chip's memory. The type must be that of its
// elements, and those of the last dimension must lie side by side.
func ViewOf[E Element](s abi.Space, t *abi.Tensor) (View[E], error) {
	var v View[E]
	if want := dtype[E](); t.DType != want {
		return v, fmt.Errorf("a tensor of %v elements is used as one of %v", t.DType, want)
	}
	n := int(t.NDims)
	if n < 1 || n > len(t.Shapes) {
		return v, fmt.Errorf("a tensor of %d dimensions: expected 1 to %d", n, len(t.Shapes))
	}
	size := uint64(t.DType.Size())
	last, fits := t.StartOffset, true
	for i := range n {
		if t.Shapes[i] == 0 {
			return v, fmt.Errorf("a tensor of the shape %v has no elements", t.Shapes[:n])
		}
		step := uint64(t.Shapes[i]-1) * uint64(t.Strides[i]) // both fit 32 bits
		last += step
		fits = fits && last >= step
	}
	if !fits || last >= t.BufferSize/size {
		return v, fmt.Errorf("a tensor from element %d of the shape %v and the strides %v: expected to stay inside the %d bytes of its buffer",
			t.StartOffset, t.Shapes[:n], t.Strides[:n], t.BufferSize)
	}
	if t.Shapes[n-1] > 1 && t.Strides[n-1] != 1 {
		return v, fmt.Errorf("a tensor with the strides %v: expected 1 in the last dimension", t.Strides[:n])
	}
	count := int(last - t.StartOffset + 1)
	mem, err := s.At(t.BufferAddr+t.StartOffset*size, count*int(size))
	if err != nil {
		return v, err
	}
	return View[E]{abi.Views[E](mem, 0, count), t.Shapes[:n], t.Strides[:n]}, nil
}

// Shape is the number of elements in each dimension.
func (v View[E]) Shape() []uint32 { return v.shape }

// Rows are the rows in their order, with their number.
func (v View[E]) Rows() iter.Seq2[int, []E] {
	return func(yield func(int, []E) bool) {
		last := len(v.shape) - 1
		width, index, at := int(v.shape[last]), make([]uint32, last), 0
		for n := 0; ; n++ {
			if !yield(n, v.data[at:at+width:at+width]) {
				return
			}
			i := last - 1
			for ; i >= 0; i-- {
				at += int(v.stride[i])
				if index[i]++; index[i] < v.shape[i] {
					break
				}
				at -= int(index[i]) * int(v.stride[i])
				index[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}

// Row is row i of a matrix, or of the matrices one behind the other. A row that
// there is not ends the run with an error.
func (v View[E]) Row(i int) []E {
	last, at, rest := len(v.shape)-1, 0, i
	for d := last - 1; d >= 0; d-- {
		n := int(v.shape[d])
		at += rest % n * int(v.stride[d])
		rest /= n
	}
	if i < 0 || rest != 0 {
		panic(fmt.Sprintf("row %d of a tensor of the shape %v: expected 0 to %d", i, v.shape, v.rows()-1))
	}
	width := int(v.shape[last])
	return v.data[at : at+width : at+width]
}

func (v View[E]) rows() int {
	n := 1
	for _, s := range v.shape[:len(v.shape)-1] {
		n *= int(s)
	}
	return n
}
