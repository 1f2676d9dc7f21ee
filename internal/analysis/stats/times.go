package stats

import (
	"cmp"
	"math"
	"slices"

	"swimlane/internal/names"
	"swimlane/timeline"
)

// Times are the kernel times of one function, in cycles, ascending.
type Times struct {
	ID     int32 // as in Function
	Name   string
	Sorted []uint64
}

// KernelTimes lists the kernel times of every function, in the order of Table.Functions.
func KernelTimes(t *timeline.Timeline, m *names.Map) []Times {
	at := map[int32]int{}
	var out []Times
	for row, id := range t.Rows.Func {
		k, ok := at[id]
		if !ok {
			k = len(out)
			at[id] = k
			out = append(out, Times{ID: id, Name: m.Function(int64(id))})
		}
		out[k].Sorted = append(out[k].Sorted, t.Rows.End[row]-t.Rows.Start[row])
	}
	for i := range out {
		slices.Sort(out[i].Sorted)
	}
	slices.SortFunc(out, func(a, b Times) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Median is the middle time, or the mean of the two in the middle.
func (x *Times) Median() float64 {
	n := len(x.Sorted)
	if n == 0 {
		return 0
	}
	return (float64(x.Sorted[(n-1)/2]) + float64(x.Sorted[n/2])) / 2
}

// confidence is what the interval of a median has at least.
const confidence = 0.95

// Interval is where the median of the function lies with a confidence of 95 % or
// more, if the times are independent: between the k-th shortest and the k-th longest
// time, whatever their distribution, since a time is above the median as often as a
// coin shows heads. Fewer than six times have no such interval: then it is from the
// shortest to the longest, and sure is false.
func (x *Times) Interval() (lo, hi uint64, sure bool) {
	n := len(x.Sorted)
	if n == 0 {
		return 0, 0, false
	}
	k := ranksBelow(n)
	sure = k > 0
	k = max(k, 1)
	return x.Sorted[k-1], x.Sorted[n-k], sure
}

// ranksBelow is the largest k for which fewer than k of n coins show heads in at most
// 2.5 % of all throws; 0 if there is none.
func ranksBelow(n int) int {
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for k := 0; ; k++ {
		heads, _ := math.Lgamma(float64(k + 1))
		tails, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(all - heads - tails - float64(n)*math.Ln2)
		if sum > (1-confidence)/2 || 2*(k+1) > n+1 {
			return k
		}
	}
}
