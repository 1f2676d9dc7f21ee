package ranks

// layout says which process numbers a picture uses. Viewers order processes by
// them, so they are the layout (spec/l3.md §10.3): dispatchers, then three of each
// rank for the host, then a hundred of each rank for the views of its chip. With up
// to ten dispatchers and ranks up to 28 these are the fixed numbers of the format;
// beyond, the same formula makes room (§12 D21).
type layout struct {
	dispatchers int // numbers that are kept for them
	base        int // of the views of rank 0
}

// stride is how many process numbers the views of a rank have.
const stride = 100

func layoutOf(dispatchers, largestRank int) layout {
	d := max(10, dispatchers)
	return layout{d, stride * ((d + 4 + 3*largestRank + stride - 1) / stride)}
}

// host is the number of the first of three processes of a rank.
func (l layout) host(rank int) uint32 { return uint32(l.dispatchers + 1 + 3*rank) }

// views is what is added to the numbers of the views of a rank.
func (l layout) views(rank int) uint32 { return uint32(l.base + stride*rank) }
