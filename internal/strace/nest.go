package strace

import (
	"cmp"
	"slices"

	"swimlane/internal/hostlog"
)

// byImport is the order in which a viewer takes slices of one lane: by start, and
// of equal ones the longest first.
func byImport(a, b *hostlog.Span) int {
	return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur))
}

// nesting are the ends of slices that are open on a lane, innermost last.
type nesting []int64

// takes adds a slice if it lies in those that are open, or beside them. Slices must
// come in the order of byImport.
func (n *nesting) takes(s *hostlog.Span) bool {
	for len(*n) > 0 && (*n)[len(*n)-1] <= s.TS {
		*n = (*n)[:len(*n)-1]
	}
	if len(*n) > 0 && (*n)[len(*n)-1] < s.End() {
		return false
	}
	*n = append(*n, s.End())
	return true
}

// maxRows is how many lanes overlapping spans get. What finds no place on them stays
// on the last, where a viewer may drop it: a picture of more lanes shows nothing.
const maxRows = 64

// rows spreads spans over lanes on which they nest, the first as full as can be,
// and returns the lane of each and how many there are.
func rows(spans []*hostlog.Span) (row []int, n int) {
	order := make([]int, len(spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return byImport(spans[a], spans[b]) })
	row = make([]int, len(spans))
	var lanes []nesting
	for _, i := range order {
		at := 0
		for at < len(lanes) && !lanes[at].takes(spans[i]) {
			at++
		}
		switch {
		case at == maxRows:
			at--
		case at == len(lanes):
			lanes = append(lanes, nesting{})
			lanes[at].takes(spans[i])
		}
		row[i] = at
	}
	return row, len(lanes)
}
