package draw

// Bar is an interval that wants a place on a lane.
type Bar struct{ Start, End int64 }

// Nesting is what the placer tells of a bar that it puts inside another one.
type Nesting struct {
	Outer int32
	Start int64
}

// Place runs the placer over bars and returns the sub-lane of each.
func Place(bars []Bar, flat, strict bool) (subs []int, lanes int, nested []Nesting, err error) {
	ivs := make([]interval, len(bars))
	for i, b := range bars {
		ivs[i] = interval{int32(i), b.Start, b.End}
	}
	subs = make([]int, len(bars))
	p := placer{flat: flat, strict: strict, inner: func(outer int32, start int64) {
		nested = append(nested, Nesting{outer, start})
	}}
	lanes, err = p.place(ivs, func(item int32, sub uint16) { subs[item] = int(sub) })
	return subs, lanes, nested, err
}
