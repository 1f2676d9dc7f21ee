package depview

import (
	"strconv"
	"strings"

	"swimlane/capture"
)

// appendWhy appends why a row's edge exists, in a line.
func (m *Model) appendWhy(b []byte, row int32) []byte {
	r := &m.Graph.Rows[row]
	b = append(b, r.Source.String()...)
	if r.Arg >= 0 {
		b = strconv.AppendInt(append(b, " arg"...), int64(r.Arg), 10)
		n, _ := m.Node(m.Graph.Succ[row])
		if arg := m.Arg(n, r.Arg); arg != nil {
			b = append(append(b, ' '), arg.Type.String()...)
		}
	}
	if r.Has&capture.HasTensorID != 0 {
		b = append(append(b, ' '), m.TensorName(r.Tensor)...)
	}
	b = m.appendSlice(b, r.DType, r.Shape, r.Strides, r.Offset, r.Has&capture.HasOffset != 0)
	if r.Overlap != capture.OverlapNone {
		b = append(append(b, ", overlap "...), r.Overlap.String()...)
	}
	if r.ProducerShape != 0 || r.ProducerStrides != 0 || r.Has&capture.HasProducerOffset != 0 {
		b = append(b, ", written as"...)
		b = m.appendSlice(b, 0, r.ProducerShape, r.ProducerStrides, r.ProducerOffset, r.Has&capture.HasProducerOffset != 0)
	}
	b = append(b, ", "...)
	return appendFlags(b, r)
}

// appendFlags appends the flags of a row. Where the file states none they are those that
// the source has always had.
func appendFlags(b []byte, r *capture.DepsRow) []byte {
	flags, stated := r.EdgeFlags()
	switch flags {
	case 0:
		b = append(b, "no flags"...)
	case capture.FlagWait:
		b = append(b, "wait"...)
	case capture.FlagRetain:
		b = append(b, "retain"...)
	default:
		b = append(b, "wait+retain"...)
	}
	if !stated {
		b = append(b, " (not stated)"...)
	}
	return b
}

// appendSlice appends a slice, each part with a blank in front.
func (m *Model) appendSlice(b []byte, dtype capture.DType, shape, strides capture.List, offset uint64, placed bool) []byte {
	if dtype != 0 {
		b = append(append(b, ' '), printable(m.Graph.DTypeName(dtype))...)
	}
	if shape != 0 {
		b = appendSizes(append(b, ' '), m.Graph.List(shape))
	}
	if strides != 0 {
		b = appendSizes(append(b, " strides "...), m.Graph.List(strides))
	}
	if placed {
		b = strconv.AppendUint(append(b, " offset "...), offset, 10)
	}
	return b
}

// appendArg appends an argument of a task, in a line.
func (m *Model) appendArg(b []byte, a *capture.DepsArg) []byte {
	b = strconv.AppendInt(append(b, "arg"...), int64(a.Idx), 10)
	b = append(append(b, ' '), a.Type.String()...)
	if a.Has&capture.HasTensorID != 0 {
		b = append(append(b, ' '), m.TensorName(a.Tensor)...)
	} else {
		b = append(b, " (storage of its own)"...)
	}
	return m.appendSlice(b, a.DType, a.Shape, a.Strides, a.Offset, a.Has&capture.HasOffset != 0)
}

func appendSizes(b []byte, sizes []uint32) []byte {
	b = append(b, '[')
	for i, n := range sizes {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return append(b, ']')
}

// printable keeps a text of a file from breaking a line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// appendCalled appends what a task is called behind its id: its name, or its kind.
func (m *Model) appendCalled(b []byte, n int32) []byte {
	return append(append(b, ' '), printable(m.Hint(n))...)
}
