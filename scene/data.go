package scene

import (
	"fmt"
	"math"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// Data is a tensor of the host: the values that go to the chip before a run and
// come back after it. One of the slices holds them, row by row.
type Data struct {
	Name  string
	Shape []int
	F32   []float32
	BF16  []BF16
	I32   []int32
	Check bool // compared with its golden values after the run
}

// kind is the type of the elements, and how many there are.
func (d *Data) kind() (DType, int, error) {
	n := 1
	for _, s := range d.Shape {
		n *= s
	}
	given, kind, count := 0, Float32, 0
	for k, have := range map[DType]int{Float32: len(d.F32), BFloat16: len(d.BF16), Int32: len(d.I32)} {
		if have > 0 {
			given++
			kind, count = k, have
		}
	}
	if given != 1 || count != n {
		return 0, 0, fmt.Errorf("tensor %q of the shape %v has %d, %d and %d values of float32, bfloat16 and int32: expected %d of one type",
			d.Name, d.Shape, len(d.F32), len(d.BF16), len(d.I32), n)
	}
	return kind, n, nil
}

// upload puts the values into the chip's memory.
func (d *Data) upload(space abi.Space, alloc func(int) (uint64, error)) (Tensor, error) {
	kind, n, err := d.kind()
	if err != nil {
		return Tensor{}, err
	}
	addr, err := alloc(n * dtypes[kind].Size())
	if err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", d.Name, err)
	}
	t, err := sim.NewTensor(addr, dtypes[kind], d.Shape...)
	if err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", d.Name, err)
	}
	return Tensor{t, space}, d.move(space, &t, false)
}

// move copies the values to the chip, or back.
func (d *Data) move(space abi.Space, t *abi.Tensor, back bool) error {
	switch {
	case len(d.F32) > 0:
		return move(space, t, d.F32, back)
	case len(d.BF16) > 0:
		return move(space, t, d.BF16, back)
	}
	return move(space, t, d.I32, back)
}

func move[E Element](space abi.Space, t *abi.Tensor, values []E, back bool) error {
	v, err := sim.ViewOf[E](space, t)
	if err != nil {
		return err
	}
	width := int(t.Shapes[t.NDims-1])
	for i, row := range v.Rows() {
		if part := values[i*width : (i+1)*width]; back {
			copy(part, row)
		} else {
			copy(row, part)
		}
	}
	return nil
}

// clone is a copy with values of its own.
func (d Data) clone() Data {
	d.F32 = append([]float32(nil), d.F32...)
	d.BF16 = append([]BF16(nil), d.BF16...)
	d.I32 = append([]int32(nil), d.I32...)
	return d
}

// at is an element as a number.
func (d *Data) at(i int) float64 {
	switch {
	case len(d.F32) > 0:
		return float64(d.F32[i])
	case len(d.BF16) > 0:
		return float64(d.BF16[i].Float32())
	}
	return float64(d.I32[i])
}

// Compared is a tensor that was compared with its golden values.
type Compared struct {
	Name   string
	Values int
	Worst  float64 // the largest distance of a value from its golden one
}

// compare tells how far values are from the golden ones, and where further than
// atol + rtol · |golden|.
func (d *Data) compare(golden *Data, rtol, atol float64) (Compared, error) {
	c := Compared{Name: d.Name}
	kind, n, err := d.kind()
	if err != nil {
		return c, err
	}
	if k, m, err := golden.kind(); err != nil {
		return c, fmt.Errorf("golden values: %w", err)
	} else if k != kind || m != n {
		return c, fmt.Errorf("the golden values of %q are %d of %v: expected %d of %v", d.Name, m, k, n, kind)
	}
	if kind == Int32 {
		rtol, atol = 0, 0 // integers are right or wrong
	}
	c.Values = n
	wrong, worst, where := 0, -1.0, 0
	for i := range n {
		got, want := d.at(i), golden.at(i)
		if got == want || math.IsNaN(got) && math.IsNaN(want) {
			continue
		}
		off := math.Abs(got - want)
		if math.IsNaN(off) {
			off = math.Inf(1)
		}
		c.Worst = max(c.Worst, off)
		if !math.IsInf(off, 1) && off <= atol+rtol*math.Abs(want) {
			continue
		}
		if wrong++; off > worst {
			worst, where = off, i
		}
	}
	if wrong == 0 {
		return c, nil
	}
	return c, fmt.Errorf("%d of %d values of %q are wrong, the worst is element %v: %v, expected %v (tolerance %g + %g·|expected|)",
		wrong, n, d.Name, d.index(where), d.at(where), golden.at(where), atol, rtol)
}

// index is where an element lies, in each dimension.
func (d *Data) index(i int) []int {
	at := make([]int, len(d.Shape))
	for k := len(at) - 1; k >= 0; k-- {
		at[k] = i % d.Shape[k]
		i /= d.Shape[k]
	}
	return at
}
