package draw_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"swimlane/internal/draw"
	"swimlane/internal/parity"
)

// room is the interval that a bar takes: one of no length takes 1 ns, so that
// it doesn't hide another one (field report 10).
func room(b draw.Bar) (int64, int64) { return b.Start, max(b.End, b.Start+1) }

// crowded finds two bars of one sub-lane that overlap without nesting, by
// looking at every pair. With strict, nested bars must not start together.
func crowded(bars []draw.Bar, subs []int, flat, strict bool) error {
	for i := range bars {
		for j := range bars[:i] {
			if subs[i] != subs[j] {
				continue
			}
			a, aEnd := room(bars[i])
			b, bEnd := room(bars[j])
			apart := aEnd <= b || bEnd <= a
			within := a >= b && aEnd <= bEnd || b >= a && bEnd <= aEnd
			switch {
			case apart:
			case flat:
				return fmt.Errorf("%v and %v share sub-lane %d and overlap", bars[i], bars[j], subs[i])
			case !within:
				return fmt.Errorf("%v and %v share sub-lane %d and overlap without nesting", bars[i], bars[j], subs[i])
			case strict && a == b:
				return fmt.Errorf("%v and %v share sub-lane %d and start together", bars[i], bars[j], subs[i])
			}
		}
	}
	return nil
}

// greedy is the naive assignment of spec/converter.md §4.6.
func greedy(bars []draw.Bar) []int {
	order := make([]int, len(bars))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(bars[i].Start - bars[j].Start) })
	subs := make([]int, len(bars))
	finish := []int64{0}
	for _, i := range order {
		sub := slices.IndexFunc(finish, func(at int64) bool { return at <= bars[i].Start })
		if sub < 0 {
			sub = len(finish)
			finish = append(finish, 0)
		}
		subs[i] = sub
		_, finish[sub] = room(bars[i])
	}
	return subs
}

// randomBars gives n bars; the shorter the axis, the more they collide.
func randomBars(rnd *rand.Rand, n int, least int64) []draw.Bar {
	axis, longest := 1+rnd.Int64N(400), 1+rnd.Int64N(60)
	bars := make([]draw.Bar, n)
	for i := range bars {
		start := rnd.Int64N(axis)
		bars[i] = draw.Bar{Start: start, End: start + least + rnd.Int64N(longest)}
	}
	return bars
}

func TestPlace(t *testing.T) {
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		flat := seed%3 == 0
		strict := seed%3 == 1
		bars := randomBars(rnd, rnd.IntN(150), int64(seed%2))
		subs, lanes, nested, err := draw.Place(bars, flat, strict)
		if err != nil {
			t.Fatal(err)
		}
		if err := crowded(bars, subs, flat, strict); err != nil {
			t.Fatalf("seed %d (flat %v, strict %v): %v", seed, flat, strict, err)
		}
		used := map[int]bool{}
		for _, s := range subs {
			used[s] = true
		}
		if len(used) != lanes {
			t.Fatalf("seed %d: %d sub-lanes used, %d counted", seed, len(used), lanes)
		}
		for s := range lanes {
			if !used[s] {
				t.Fatalf("seed %d: sub-lane %d of %d is empty", seed, s, lanes)
			}
		}
		if flat && len(nested) > 0 {
			t.Fatalf("seed %d: flat bars nest: %v", seed, nested)
		}
		if strict {
			checkNestings(t, seed, bars, subs, nested)
		}
	}
}

// checkNestings: arrows on a bar leave from before the first bar inside it, so
// each outer bar must be told of one that starts no later than any other.
func checkNestings(t *testing.T, seed uint64, bars []draw.Bar, subs []int, nested []draw.Nesting) {
	t.Helper()
	first := map[int32]int64{}
	for _, n := range nested {
		if old, ok := first[n.Outer]; !ok || n.Start < old {
			first[n.Outer] = n.Start
		}
	}
	for i, inner := range bars {
		for j, outer := range bars {
			_, innerEnd := room(inner)
			_, outerEnd := room(outer)
			if i == j || subs[i] != subs[j] || inner.Start <= outer.Start || innerEnd > outerEnd {
				continue
			}
			if at, ok := first[int32(j)]; !ok || at > inner.Start {
				t.Fatalf("seed %d: %v lies in %v, which was told of %v (%v)", seed, inner, outer, at, ok)
			}
		}
	}
}

// TestPlaceFlat: the Scheduler View's sub-lanes are specified (spec/converter.md §4.6).
func TestPlaceFlat(t *testing.T) {
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		bars := randomBars(rnd, rnd.IntN(200), int64(seed%2))
		subs, _, _, err := draw.Place(bars, true, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := greedy(bars); !slices.Equal(subs, want) {
			t.Fatalf("seed %d: sub-lanes %v, want %v of %v", seed, subs, want, bars)
		}
	}
}

func TestPlaceCases(t *testing.T) {
	for name, c := range map[string]struct {
		bars         []draw.Bar
		flat, strict bool
		want         []int
	}{
		"touching":                    {[]draw.Bar{{0, 10}, {10, 20}, {20, 30}}, false, true, []int{0, 0, 0}},
		"touching, flat":              {[]draw.Bar{{0, 10}, {10, 20}, {20, 30}}, true, false, []int{0, 0, 0}},
		"nested":                      {[]draw.Bar{{0, 10}, {2, 8}, {3, 4}, {8, 10}}, false, true, []int{0, 0, 0, 0}},
		"nested, flat":                {[]draw.Bar{{0, 10}, {2, 8}}, true, false, []int{0, 1}},
		"overlapping":                 {[]draw.Bar{{0, 10}, {5, 15}, {7, 9}, {12, 13}}, false, true, []int{0, 1, 0, 0}},
		"same start":                  {[]draw.Bar{{0, 5}, {0, 10}}, false, false, []int{0, 0}},
		"same start, strict":          {[]draw.Bar{{0, 5}, {0, 10}}, false, true, []int{1, 0}},
		"equal bars":                  {[]draw.Bar{{0, 5}, {0, 5}}, false, false, []int{0, 0}},
		"equal bars, strict":          {[]draw.Bar{{0, 5}, {0, 5}}, false, true, []int{0, 1}},
		"no length":                   {[]draw.Bar{{5, 5}, {5, 5}}, false, true, []int{0, 1}},
		"no length at a bar's start":  {[]draw.Bar{{5, 5}, {5, 9}}, false, true, []int{1, 0}},
		"no length at a bar's end":    {[]draw.Bar{{5, 9}, {9, 9}, {9, 12}}, false, true, []int{0, 1, 0}},
		"no length, flat":             {[]draw.Bar{{5, 5}, {5, 9}}, true, false, []int{0, 1}},
		"no length inside":            {[]draw.Bar{{5, 9}, {6, 6}}, false, true, []int{0, 0}},
		"a lane is free again":        {[]draw.Bar{{0, 10}, {1, 11}, {10, 12}, {11, 13}}, true, false, []int{0, 1, 0, 1}},
		"the first free lane is used": {[]draw.Bar{{0, 4}, {1, 3}, {2, 9}, {5, 6}}, true, false, []int{0, 1, 2, 0}},
		"unsorted":                    {[]draw.Bar{{10, 20}, {5, 15}, {0, 30}}, true, false, []int{2, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			subs, _, _, err := draw.Place(c.bars, c.flat, c.strict)
			if err != nil {
				t.Fatal(err)
			}
			equalSlices(t, "sub-lanes", subs, c.want)
		})
	}
}

// TestPlaceCrowd: many bars that overlap must not take quadratic time.
func TestPlaceCrowd(t *testing.T) {
	const n = 10_000
	shapes := map[string]func(i int64) draw.Bar{
		"staircase": func(i int64) draw.Bar { return draw.Bar{Start: i, End: i + n} },
		"equal":     func(int64) draw.Bar { return draw.Bar{Start: 5, End: 9} },
		"funnel":    func(i int64) draw.Bar { return draw.Bar{Start: i, End: 3*n - i} },
	}
	for name, shape := range shapes {
		for _, flat := range []bool{false, true} {
			bars := make([]draw.Bar, n)
			for i := range bars {
				bars[i] = shape(int64(i))
			}
			begin := parity.CPUTime()
			subs, lanes, _, err := draw.Place(bars, flat, !flat)
			if err != nil {
				t.Fatal(err)
			}
			if d := parity.CPUTime() - begin; d > 5*time.Second {
				t.Errorf("%s, flat %v: %v for %d bars", name, flat, d, n)
			}
			if flat || name != "funnel" {
				equal(t, name+" lanes", lanes, n)
			}
			if name == "funnel" && !flat {
				depth := map[int]int{}
				for _, s := range subs {
					depth[s]++
				}
				for s, d := range depth {
					// Viewers drop what nests deeper than 512 (field facts, "Depth limit").
					if d > 512 {
						t.Errorf("%d bars nest on sub-lane %d", d, s)
					}
				}
			}
		}
	}
}

// TestPlaceTooMany: no capture of a real run has so many bars at once.
func TestPlaceTooMany(t *testing.T) {
	bars := make([]draw.Bar, 1<<16)
	for i := range bars {
		bars[i] = draw.Bar{Start: 0, End: 10}
	}
	if _, lanes, _, err := draw.Place(bars, true, false); err != nil || lanes != 1<<16 {
		t.Errorf("%d bars: %d lanes, error %v", len(bars), lanes, err)
	}
	bars = append(bars, draw.Bar{Start: 3, End: 4})
	if _, _, _, err := draw.Place(bars, true, false); err == nil {
		t.Errorf("%d bars at once are accepted", len(bars))
	}
}
