package depview

import (
	"math/bits"
	"slices"

	"swimlane/capture"
)

// A region is the bytes that a slice of a buffer takes: ranges from … to−1, in order,
// apart from each other. A region that is not exactly known is nil; one without bytes
// is not, but has no ranges.
type region []byteRange

type byteRange struct{ from, to uint64 }

// maxRuns bounds the ranges of one region (spec/deps.md §6.5).
const maxRuns = 10_000

// slice is a slice of a tensor, as far as a file tells.
type slice struct {
	tensor         int32 // index in Graph.Tensors, −1 = unknown
	dtype          capture.DType
	shape, strides capture.List
	offset         uint64
	placed         bool // offset is known
}

// consumerSlice is what the consumer of a row takes: what the row says, and where it
// does not, the argument in the slot that it names, which may be nil.
func (m *Model) consumerSlice(r *capture.DepsRow, arg *capture.DepsArg) slice {
	s := slice{tensor: -1, dtype: r.DType, shape: r.Shape, strides: r.Strides, offset: r.Offset, placed: r.Has&capture.HasOffset != 0}
	if r.Has&capture.HasTensorID != 0 {
		s.tensor = m.Tensor(r.Tensor)
	}
	if arg == nil {
		return s
	}
	if r.Has&capture.HasTensorID == 0 && arg.Has&capture.HasTensorID != 0 {
		s.tensor = m.Tensor(arg.Tensor)
	}
	if s.dtype == 0 {
		s.dtype = arg.DType
	}
	if s.shape == 0 {
		s.shape = arg.Shape
	}
	if s.strides == 0 {
		s.strides = arg.Strides
	}
	if !s.placed {
		s.offset, s.placed = arg.Offset, arg.Has&capture.HasOffset != 0
	}
	return s
}

// producerSlice is the slice that the producer of a row of the tensor map has written.
// Its element type is that of the tensor.
func (m *Model) producerSlice(r *capture.DepsRow) slice {
	s := slice{tensor: -1, shape: r.ProducerShape, strides: r.ProducerStrides, offset: r.ProducerOffset, placed: r.Has&capture.HasProducerOffset != 0}
	if r.Has&capture.HasTensorID != 0 {
		s.tensor = m.Tensor(r.Tensor)
	}
	if s.tensor >= 0 {
		s.dtype = m.Graph.Tensors[s.tensor].DType
	}
	return s
}

// region is the bytes of a slice, nil if they are not exactly known (spec/deps.md §6.5).
func (m *Model) region(s slice) region {
	if s.tensor < 0 || !s.placed || s.dtype == 0 {
		return nil
	}
	t := &m.Graph.Tensors[s.tensor]
	if t.Has&capture.HasAddr == 0 || t.Has&capture.HasNumel == 0 || t.DType != s.dtype {
		return nil
	}
	size := capture.ElementSize(m.Graph.DTypeName(s.dtype))
	high, bytes := bits.Mul64(t.Numel, size)
	if _, carry := bits.Add64(t.Addr, bytes, 0); size == 0 || high != 0 || carry != 0 {
		return nil
	}
	return runsOf(m.Graph.List(s.shape), m.Graph.List(s.strides), s.offset, t.Addr, t.Numel, size)
}

// runsOf enumerates the runs of a slice of a buffer of numel elements; nil if there are
// too many, or one leaves the buffer. The buffer ends below 2^64.
func runsOf(shape, strides []uint32, offset, addr, numel, size uint64) region {
	if len(shape) == 0 || len(shape) != len(strides) || slices.Contains(shape, 0) || slices.Contains(strides, 0) {
		return nil
	}
	run := uint64(1)
	outer := len(shape)
	for outer > 0 && uint64(strides[outer-1]) == run { // so run is below 2^32
		outer--
		run *= uint64(shape[outer])
	}
	runs := uint64(1)
	for _, n := range shape[:outer] {
		if runs *= uint64(n); runs > maxRuns {
			return nil
		}
	}
	out := make(region, 0, runs)
	at := make([]uint32, outer)
	for {
		from := offset
		for d, i := range at {
			step := uint64(i) * uint64(strides[d])
			if from > numel || step > numel-from {
				return nil
			}
			from += step
		}
		if from > numel || run > numel-from {
			return nil
		}
		out = append(out, byteRange{addr + from*size, addr + (from+run)*size})
		d := outer - 1
		for ; d >= 0; d-- {
			if at[d]++; at[d] < shape[d] {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return out.merged()
		}
	}
}

// merged sorts ranges and joins those that touch.
func (r region) merged() region {
	slices.SortFunc(r, func(a, b byteRange) int {
		switch {
		case a.from != b.from && a.from < b.from:
			return -1
		case a.from != b.from:
			return 1
		}
		return 0
	})
	out := r[:0]
	for _, x := range r {
		if n := len(out); n > 0 && x.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	return out
}

// and is what two regions share.
func (r region) and(o region) region {
	out := region{}
	for i, j := 0, 0; i < len(r) && j < len(o); {
		from, to := max(r[i].from, o[j].from), min(r[i].to, o[j].to)
		if from < to {
			out = append(out, byteRange{from, to})
		}
		if r[i].to < o[j].to {
			i++
		} else {
			j++
		}
	}
	return out
}

// or is what is in any of two regions.
func (r region) or(o region) region { return slices.Concat(r, o).merged() }

// covers reports whether all of o lies in r.
func (r region) covers(o region) bool {
	i := 0
	for _, x := range o {
		for i < len(r) && r[i].to < x.to {
			i++
		}
		if i == len(r) || r[i].from > x.from {
			return false
		}
	}
	return true
}
