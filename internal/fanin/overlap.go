package fanin

import (
	"math"
	"math/bits"

	"swimlane/internal/abi"
)

// Overlap is how a new argument lies to a registered slice of the same buffer.
type Overlap uint8

// The results of the test.
const (
	NoOverlap Overlap = iota // no element in common
	Covered                  // the new argument contains the registered slice
	Other                    // they may have elements in common
)

func (o Overlap) String() string { return [...]string{"no_overlap", "covered", "other"}[o] }

// dims is how many dimensions a tensor has at most.
const dims = len(abi.Tensor{}.Shapes)

// Slice is a part of a buffer, in elements: the registered one of a row.
type Slice struct {
	BufferAddr  uint64
	StartOffset uint64
	Version     int32
	DType       abi.DType
	NDims       uint8
	Shapes      [dims]uint32
	Strides     [dims]uint32
}

// region is a slice with what the test needs of it.
type region struct {
	Slice
	end     uint64       // behind its last element; StartOffset if it has none
	elems   uint64       // of the whole buffer
	pos     [dims]uint64 // where it starts along each axis of the buffer; valid if regular
	regular bool         // a block of the buffer seen as an array with these strides
}

// set describes a tensor. One that breaks the rules of its structure is no
// regular one, whatever else is in it.
func (r *region) set(t *abi.Tensor) {
	r.Slice = Slice{
		BufferAddr: t.BufferAddr, StartOffset: t.StartOffset, Version: t.Version, DType: t.DType,
		NDims: uint8(min(t.NDims, uint32(dims))), Shapes: t.Shapes, Strides: t.Strides,
	}
	r.end = math.MaxUint64 // of more dimensions than there can be
	if t.NDims <= uint32(dims) {
		r.end = r.reach()
	}
	r.elems = 0
	if size := t.DType.Size(); size > 0 {
		r.elems = t.BufferSize / uint64(size)
	}
	r.regular = t.NDims <= uint32(dims) && r.decompose()
}

// reach is the end of the range of elements that the slice lies in. Where that
// is no 64-bit number it is the largest one.
func (r *region) reach() uint64 {
	last, carry := r.StartOffset, uint64(0)
	for d := range int(r.NDims) {
		if r.Shapes[d] == 0 {
			return r.StartOffset
		}
		if last, carry = bits.Add64(last, uint64(r.Shapes[d]-1)*uint64(r.Strides[d]), 0); carry != 0 {
			return math.MaxUint64
		}
	}
	if last == math.MaxUint64 {
		return last
	}
	return last + 1
}

// decompose finds the place of the slice in the array that the strides make of
// the buffer, and whether there is one.
func (r *region) decompose() bool {
	n := int(r.NDims)
	if n == 0 || r.Strides[n-1] != 1 || r.elems == 0 || r.Strides[0] == 0 || r.elems%uint64(r.Strides[0]) != 0 {
		return false
	}
	rest, size := r.StartOffset, r.elems/uint64(r.Strides[0])
	for d := range n {
		stride := uint64(r.Strides[d])
		if d > 0 {
			if stride == 0 || uint64(r.Strides[d-1])%stride != 0 {
				return false
			}
			size = uint64(r.Strides[d-1]) / stride
		}
		if r.pos[d] = rest / stride; r.pos[d] > size || uint64(r.Shapes[d]) > size-r.pos[d] {
			return false
		}
		rest %= stride
	}
	return true
}

// overlap tests a new argument against a registered slice of the same buffer
// (spec/deps.md §4.1.1).
func (r *region) overlap(e *region) Overlap {
	if r.Version > e.Version {
		return Other
	}
	if r.StartOffset >= e.end || e.StartOffset >= r.end || r.end == r.StartOffset || e.end == e.StartOffset {
		return NoOverlap
	}
	if !r.regular || !e.regular || r.DType != e.DType || r.NDims != e.NDims || r.elems != e.elems {
		return Other
	}
	for d := range int(r.NDims) {
		if r.Strides[d] != e.Strides[d] {
			return Other
		}
	}
	covered := true
	for d := range int(r.NDims) {
		from, to := r.pos[d], r.pos[d]+uint64(r.Shapes[d])
		eFrom, eTo := e.pos[d], e.pos[d]+uint64(e.Shapes[d])
		if from >= eTo || eFrom >= to {
			return NoOverlap
		}
		covered = covered && from <= eFrom && eTo <= to
	}
	if covered {
		return Covered
	}
	return Other
}

// Test is the overlap test for a new argument and a registered one of the same
// buffer.
func Test(argument, registered *abi.Tensor) Overlap {
	var r, e region
	r.set(argument)
	e.set(registered)
	return r.overlap(&e)
}
