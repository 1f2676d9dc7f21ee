package draw

import (
	"cmp"
	"fmt"
	"slices"
)

// interval is a bar that wants a place on a lane, in ns.
type interval struct {
	item       int32
	start, end int64
}

// width is the room a bar takes: a viewer draws nothing shorter than 1 ns
// reliably, and two bars that start together must not hide each other.
func (iv interval) right() int64 { return max(iv.end, iv.start+1) }

// placer puts the bars of one lane on sub-lanes, so that on each of them they
// nest or do not touch.
type placer struct {
	// flat: never nest; first lane that is free (the Scheduler View's rule).
	flat bool
	// strict: a bar may nest only in one that starts earlier. Lanes whose bars
	// carry arrows need it: an arrow binds to the last bar that started.
	strict bool
	// loose exempts bars from strict, where it is set: they belong on the lane
	// of the bar around them.
	loose func(item int32) bool
	// inner is told of the first bar that nests in another one.
	inner func(outer int32, start int64)
}

const maxSublanes = 1 << 16

// maxDepth is how deep bars nest; viewers drop what lies deeper than 512.
const maxDepth = 500

// place orders the bars by start and gives each the first sub-lane that takes it.
func (p placer) place(bars []interval, set func(item int32, sub uint16)) (lanes int, err error) {
	slices.SortFunc(bars, func(a, b interval) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		if !p.flat {
			if c := cmp.Compare(b.end, a.end); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.item, b.item)
	})
	return p.placeSorted(bars, set)
}

// Stack places bars [start, end] of one lane, in ns, on sub-lanes, so that on each of
// them they nest or do not touch: the sub-lane of every bar, and how many there are.
func Stack(bars [][2]int64) (subs []uint16, lanes int, err error) {
	subs = make([]uint16, len(bars))
	all := make([]interval, len(bars))
	for i, b := range bars {
		all[i] = interval{int32(i), b[0], b[1]}
	}
	lanes, err = placer{}.place(all, func(i int32, sub uint16) { subs[i] = sub })
	return subs, lanes, err
}

// nestDepth bounds the sub-lanes that are tried for nesting; beyond, a bar takes a free one.
const nestDepth = 32

func (p placer) placeSorted(bars []interval, set func(item int32, sub uint16)) (lanes int, err error) {
	var open [][]interval // bars that have not ended, per sub-lane
	var free freeTree     // when each sub-lane is free
	for _, b := range bars {
		sub := free.first(b.start)
		if !p.flat {
			for k := 0; k < min(sub, nestDepth, len(open)); k++ {
				if p.nests(&open[k], b) {
					sub = k
					break
				}
			}
		}
		if sub >= maxSublanes {
			return 0, fmt.Errorf("more than %d bars of one lane overlap at %d ns; this is no capture of a real run", maxSublanes, b.start)
		}
		if !p.flat {
			for len(open) <= sub {
				open = append(open, nil)
			}
			open[sub] = append(pop(open[sub], b.start), b)
		}
		free.set(sub, b.right())
		set(b.item, uint16(sub))
		lanes = max(lanes, sub+1)
	}
	return lanes, nil
}

func pop(stack []interval, at int64) []interval {
	for len(stack) > 0 && stack[len(stack)-1].right() <= at {
		stack = stack[:len(stack)-1]
	}
	return stack
}

func (p placer) nests(stack *[]interval, b interval) bool {
	*stack = pop(*stack, b.start)
	if len(*stack) == 0 {
		return true
	}
	top := (*stack)[len(*stack)-1]
	if b.right() > top.right() || len(*stack) >= maxDepth {
		return false
	}
	if p.strict && b.start <= top.start && (p.loose == nil || !p.loose(b.item)) {
		return false
	}
	if p.inner != nil {
		p.inner(top.item, b.start)
	}
	return true
}

// freeTree finds the first sub-lane that is free at a time, in logarithmic time:
// captures with thousands of overlapping bars must not take forever.
type freeTree struct {
	n    int     // sub-lanes in use
	size int     // leaves, a power of two
	low  []int64 // smallest free time below each node
}

const never = int64(1) << 62

func (f *freeTree) first(at int64) int {
	if f.size == 0 || f.low[1] > at {
		return f.n
	}
	i := 1
	for i < f.size {
		if i *= 2; f.low[i] > at {
			i++
		}
	}
	return i - f.size
}

func (f *freeTree) set(lane int, at int64) {
	if lane >= f.size {
		f.resize(lane + 1)
	}
	f.n = max(f.n, lane+1)
	i := lane + f.size
	f.low[i] = max(at, f.low[i]&^never) // a nested bar does not free its lane early
	for i /= 2; i >= 1; i /= 2 {
		f.low[i] = min(f.low[2*i], f.low[2*i+1])
	}
}

func (f *freeTree) resize(n int) {
	size := 4
	for size < n {
		size *= 2
	}
	low := make([]int64, 2*size)
	for i := range low {
		low[i] = never
	}
	copy(low[size:], f.low[min(len(f.low), f.size):])
	for i := size - 1; i >= 1; i-- {
		low[i] = min(low[2*i], low[2*i+1])
	}
	f.size, f.low = size, low
}
