package scene

import (
	"fmt"
	"iter"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// Call is one run of a kernel: a block of a task on a core.
type Call struct {
	Case    *Case
	Args    []Tensor // of the task; see [Use]
	Scalars []uint64
	Block   int // of Blocks
	Blocks  int // of the task
	Lane    int // which AIV of a cluster it is, 0 or 1; 0 on an AIC
	call    *sim.Call
}

// BF16 is a bfloat16.
type BF16 = sim.BF16

// ToBF16 rounds to the nearest bfloat16, halves to even.
func ToBF16(f float32) BF16 { return sim.ToBF16(f) }

// Element is a type that kernels compute with.
type Element = sim.Element

// View is a tensor as a matrix of rows: all but the last dimension, one behind the
// other. Rows are views of the chip's memory: what is written to them is written.
type View[E Element] struct{ v sim.View[E] }

// Row is row i, from 0 on. A row that there is not ends the run with an error.
func (v View[E]) Row(i int) []E { return v.v.Row(i) }

// Rows are the rows in their order, with their number.
func (v View[E]) Rows() iter.Seq2[int, []E] { return v.v.Rows() }

// Shape is the number of elements in each dimension.
func (v View[E]) Shape() (shape []int) {
	for _, n := range v.v.Shape() {
		shape = append(shape, int(n))
	}
	return shape
}

// Use is an argument of a kernel's call, from 0 on in the order of the task's. An
// argument that is none of that type ends the run with an error.
func Use[E Element](c *Call, arg int) View[E] { return View[E]{sim.Use[E](c.call, arg)} }

// DType is the type of a tensor's elements.
type DType uint8

// The types that kernels compute with.
const (
	Float32 DType = iota
	BFloat16
	Int32
)

var dtypes = [...]abi.DType{Float32: abi.Float32, BFloat16: abi.BFloat16, Int32: abi.Int32}

func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].String()
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// Tensor is a view of a buffer in the chip's memory, or the shape of an output that
// has none yet.
type Tensor struct {
	t     abi.Tensor
	space abi.Space // of the memory, where [Now] may look: in the tensors of a case and parts of them
}

// Now is what a tensor of the case, or a part of one, holds at this moment: what a
// predicate decides by. Another tensor, or another type of elements, ends the run
// with an error.
func Now[E Element](t Tensor) View[E] {
	v, err := sim.ViewOf[E](t.space, &t.t)
	if err != nil {
		panic(fmt.Sprintf("what the tensor holds now: %v", err))
	}
	return View[E]{v}
}

// Shape is the number of elements in each dimension.
func (t Tensor) Shape() (shape []int) {
	for _, n := range t.t.Shapes[:t.t.NDims] {
		shape = append(shape, int(n))
	}
	return shape
}

// Slice is the part of a tensor that begins at an index and has a shape. What does
// not lie inside it ends the run with an error.
func (t Tensor) Slice(start, shape []int) Tensor {
	part, err := sim.SliceTensor(t.t, start, shape)
	if err != nil {
		panic(err.Error())
	}
	return Tensor{part, t.space}
}

// Manual is the tensor without the dependencies that its uses would make.
func (t Tensor) Manual() Tensor {
	t.t.ManualDep = 1
	return t
}

// Shape is a tensor that a task will make.
func Shape(d DType, shape ...int) Tensor {
	if int(d) >= len(dtypes) {
		panic(fmt.Sprintf("%v is no type of elements", d))
	}
	t, err := sim.NewTensor(0, dtypes[d], shape...)
	if err != nil {
		panic(err.Error())
	}
	return Tensor{t: t}
}
