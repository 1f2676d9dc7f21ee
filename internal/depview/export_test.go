package depview

import (
	"fmt"
	"strings"
)

// RegionText is the region of the consumer's slice of a row.
func RegionText(m *Model, row int) string {
	r := m.region(m.consumerSlice(&m.Graph.Rows[row], nil))
	if r == nil {
		return "unknown"
	}
	var list []string
	for _, x := range r {
		list = append(list, fmt.Sprintf("[%d,%d)", x.from, x.to))
	}
	return strings.Join(list, " ")
}

// RunBytes lists the bytes of a slice; false: they are not known.
func RunBytes(shape, strides []uint32, offset, addr, numel, size uint64) ([]uint64, bool) {
	r := runsOf(shape, strides, offset, addr, numel, size)
	return r.bytes(), r != nil
}

func (r region) bytes() (list []uint64) {
	for _, x := range r {
		for b := x.from; b < x.to; b++ {
			list = append(list, b)
		}
	}
	return list
}

// RegionSets are the bytes that two lists of ranges share and hold together, and whether
// the first covers the second.
func RegionSets(a, b [][2]uint64) (both, any []uint64, covers bool) {
	make := func(list [][2]uint64) (r region) {
		for _, x := range list {
			r = append(r, byteRange{x[0], x[1]})
		}
		return r.merged()
	}
	x, y := make(a), make(b)
	return x.and(y).bytes(), x.or(y).bytes(), x.covers(y)
}
