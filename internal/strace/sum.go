package strace

import (
	"math"
	"math/bits"
	"slices"
)

// sum adds durations, which are not negative, exactly.
type sum struct {
	n      int
	hi, lo uint64
}

func (s *sum) add(ns int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(ns), 0)
	s.hi += carry
	s.n++
}

// whole is the mean without what is behind the point. There must be something to average.
func (s *sum) whole() int64 {
	q, _ := bits.Div64(s.hi, s.lo, uint64(s.n)) // less than 2⁶³, as all that was added is
	return int64(q)
}

// mean is the mean, 0 of nothing.
func (s *sum) mean() float64 {
	if s.n == 0 {
		return 0
	}
	return (math.Ldexp(float64(s.hi), 64) + float64(s.lo)) / float64(s.n)
}

// median is the one in the middle, or the mean of the two there, of a list that it
// sorts. The list must not be empty.
func median(list []int64) float64 {
	slices.Sort(list)
	mid := len(list) / 2
	if len(list)%2 == 1 {
		return float64(list[mid])
	}
	return float64(list[mid-1])/2 + float64(list[mid])/2
}
