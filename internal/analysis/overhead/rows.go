package overhead

import (
	"cmp"
	"slices"

	"swimlane/timeline"
)

// Switches is what switching cost on the cores of an engine: a core picks up a
// task that was waiting for it already (spec/sched-overhead.md §4). In cycles.
type Switches struct {
	Min, Max, Sum uint64 // of a core's total; cores without a switch count 0
	Events        int
	During        uint64 // part of Sum during which the engine had other work that was ready
}

// byCore lists the rows core by core, in each by start and then in the order of
// more, ties in place.
func byCore(t *timeline.Timeline, more func(a, b int32) int) []int32 {
	order := make([]int32, t.Rows.Len())
	for i := range order {
		order[i] = int32(i)
	}
	r := &t.Rows
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(r.Core[a], r.Core[b]); c != 0 {
			return c
		}
		if c := cmp.Compare(r.Start[a], r.Start[b]); c != 0 {
			return c
		}
		if more != nil {
			if c := more(a, b); c != 0 {
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	return order
}

// switches is part 2.
func (r *Report) switches(t *timeline.Timeline, s *sweep, work []steps) {
	rows := &t.Rows
	order := byCore(t, func(a, b int32) int {
		return cmp.Or(cmp.Compare(rows.End[a], rows.End[b]), cmp.Compare(rows.Dispatch[a], rows.Dispatch[b]))
	})
	total := make([]uint64, len(t.Cores))
	for k := 1; k < len(order); k++ {
		a, b := order[k-1], order[k]
		core := rows.Core[b]
		if rows.Core[a] != core || rows.Dispatch[b] >= rows.End[a] {
			continue
		}
		from, to := max(rows.End[a], s.w0), min(rows.Start[b], s.w1)
		if to <= from {
			continue
		}
		total[core] += to - from
		e := s.of[core]
		r.Engines[e].Events++
		r.Engines[e].During += work[e].during(to) - work[e].during(from)
	}
	first := make([]bool, len(r.Engines))
	for c, sum := range total {
		e := &r.Engines[s.of[c]]
		if !first[s.of[c]] {
			first[s.of[c]] = true
			e.Min = sum
		}
		e.Min, e.Max = min(e.Min, sum), max(e.Max, sum)
		e.Sum += sum
	}
	r.SwitchLow = slices.Min(total)
	for i := range r.Engines {
		r.SwitchHigh += r.Engines[i].Min
	}
}

// Percentiles are those of a Spread.
var Percentiles = [7]int{10, 25, 50, 75, 90, 95, 99}

// Spread is how a time is distributed over the rows, in cycles.
type Spread struct {
	N   int
	P   [7]uint64 // Percentiles
	Max uint64
	Sum uint64
}

func spread(values []uint64) Spread {
	n := len(values)
	s := Spread{N: n}
	if n == 0 {
		return s
	}
	slices.Sort(values)
	for i, p := range Percentiles {
		s.P[i] = values[min(n*p/100, n-1)]
	}
	s.Max = values[n-1]
	for _, v := range values {
		s.Sum += v
	}
	return s
}

// headAndTail are parts 3 and 4 (spec/sched-overhead.md §5).
func (r *Report) headAndTail(t *timeline.Timeline) {
	rows := &t.Rows
	heads, tails := make([]uint64, 0, rows.Len()), make([]uint64, 0, rows.Len())
	last := int32(-1)
	for _, row := range byCore(t, nil) {
		head := less(rows.Start[row], rows.Dispatch[row])
		if last >= 0 && rows.Core[last] == rows.Core[row] {
			head = min(head, less(rows.Start[row], rows.End[last]))
		}
		heads = append(heads, head)
		tails = append(tails, less(rows.Finish[row], rows.End[row]))
		last = row
	}
	r.Head, r.Tail = spread(heads), spread(tails)
}

// less is how much later a is than b, 0 if it is not.
func less(a, b uint64) uint64 {
	if a <= b {
		return 0
	}
	return a - b
}
