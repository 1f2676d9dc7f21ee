package scene

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxElements is how many elements a tensor may have that comes from another process.
const maxElements = 1 << 30

// emptyData is a tensor of zeros. Shapes that cannot be are errors: they may come from another
// process.
func emptyData(name string, kind DType, shape []int) (Data, error) {
	d := Data{Name: name, Shape: append([]int(nil), shape...)}
	n := 1
	for _, s := range shape {
		if s < 1 || s > maxElements/n {
			return d, fmt.Errorf("tensor %q has the shape %v: expected at most %d elements, and some in each dimension", name, shape, maxElements)
		}
		n *= s
	}
	switch {
	case len(shape) == 0:
		return d, fmt.Errorf("tensor %q has no dimension", name)
	case kind == Float32:
		d.F32 = make([]float32, n)
	case kind == BFloat16:
		d.BF16 = make([]BF16, n)
	case kind == Int32:
		d.I32 = make([]int32, n)
	default:
		return d, fmt.Errorf("tensor %q has elements of type %d: expected %d to %d", name, kind, Float32, Int32)
	}
	return d, nil
}

// size is how many bytes the values take.
func (d *Data) size() int { return 4*len(d.F32) + 2*len(d.BF16) + 4*len(d.I32) }

// appendTo appends the values, little endian.
func (d *Data) appendTo(b []byte) []byte {
	for _, x := range d.F32 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	for _, x := range d.BF16 {
		b = binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	for _, x := range d.I32 {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// takeFrom takes the values from the front of what appendTo made, and returns the
// rest.
func (d *Data) takeFrom(b []byte) ([]byte, error) {
	if len(b) < d.size() {
		return nil, fmt.Errorf("tensor %q needs %d bytes, and there are %d", d.Name, d.size(), len(b))
	}
	for i := range d.F32 {
		d.F32[i], b = math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:]
	}
	for i := range d.BF16 {
		d.BF16[i], b = BF16(binary.LittleEndian.Uint16(b)), b[2:]
	}
	for i := range d.I32 {
		d.I32[i], b = int32(binary.LittleEndian.Uint32(b)), b[4:]
	}
	return b, nil
}
