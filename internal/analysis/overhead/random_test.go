package overhead_test

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/analysis/overhead"
	"swimlane/internal/parity"
)

// made is a random capture of a few dozen cycles with its graph.
func made(rnd *rand.Rand) (types []string, rows []row, edges [][2]int) {
	types = make([]string, 1+rnd.IntN(4))
	for i := range types {
		types[i] = []string{"aic", "aiv"}[rnd.IntN(2)]
	}
	for id := range 1 + rnd.IntN(14) {
		for range 1 + rnd.IntN(2) {
			start := rnd.IntN(60)
			rows = append(rows, row{id, rnd.IntN(len(types)), max(0, start-rnd.IntN(25)+4), start, start + rnd.IntN(20)})
		}
	}
	edges = [][2]int{{0, 1}}
	for range rnd.IntN(20) { // upwards: no cycle
		a, b := rnd.IntN(16), rnd.IntN(16)
		edges = append(edges, [2]int{min(a, b), max(a, b)})
	}
	return types, rows, edges
}

// slow sums parts 1 and 2 up cycle by cycle. The engines are aic and aiv.
func slow(types []string, rows []row, edges [][2]int) (over [2]int, all, has int, switches [2]overhead.Switches, low, high int) {
	w0, w1 := rows[0].start, rows[0].end
	for _, r := range rows {
		w0, w1 = min(w0, r.start), max(w1, r.end)
	}
	at := func(c int) [8]int { return naive(types, rows, edges, w0, w1, c) }
	for c := w0; c < w1; c++ {
		v := at(c)
		over[0] += v[2]
		over[1] += v[5]
		all += v[6]
		has += v[7]
	}
	low = -1
	perCore := [2][]int{}
	for core, kind := range types {
		e := map[string]int{"aic": 0, "aiv": 1}[kind]
		var mine []row
		for _, r := range rows {
			if r.core == core {
				mine = append(mine, r)
			}
		}
		if mine == nil {
			continue
		}
		slices.SortStableFunc(mine, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.dispatch, b.dispatch))
		})
		total := 0
		for i := 1; i < len(mine); i++ {
			a, b := mine[i-1], mine[i]
			if b.dispatch >= a.end || b.start <= a.end {
				continue
			}
			switches[e].Events++
			for c := a.end; c < b.start; c++ {
				total++
				if at(c)[3*e+1] > 0 {
					switches[e].During++
				}
			}
		}
		perCore[e] = append(perCore[e], total)
		if low < 0 || total < low {
			low = total
		}
	}
	for e, totals := range perCore {
		if totals == nil {
			continue
		}
		switches[e].Min, switches[e].Max = uint64(slices.Min(totals)), uint64(slices.Max(totals))
		for _, v := range totals {
			switches[e].Sum += uint64(v)
		}
		high += slices.Min(totals)
	}
	return over, all, has, switches, low, high
}

// TestAgainstCycles holds parts 1 and 2 against every single cycle of random captures.
func TestAgainstCycles(t *testing.T) {
	events := 0
	for seed := range uint64(400) {
		types, rows, edges := made(rand.New(rand.NewPCG(seed, 83)))
		r, err := overhead.New(build(t, types, rows, edges...), "deps.json", overhead.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		over, all, has, switches, low, high := slow(types, rows, edges)
		if int(r.All) != all || int(r.Has) != has || int(r.SwitchLow) != low || int(r.SwitchHigh) != high {
			t.Fatalf("seed %d: all %d has %d bound [%d, %d], want %d, %d, [%d, %d]\n%v %v %v", seed, r.All, r.Has, r.SwitchLow, r.SwitchHigh, all, has, low, high, types, rows, edges)
		}
		for _, e := range r.Engines {
			k := slices.Index([]string{"aic", "aiv"}, e.Type)
			if int(e.Overhead) != over[k] || e.Switches != switches[k] {
				t.Fatalf("seed %d: %s %d %+v, want %d %+v\n%v %v %v", seed, e.Type, e.Overhead, e.Switches, over[k], switches[k], types, rows, edges)
			}
			events += e.Events
			if r.All > e.Overhead {
				t.Fatalf("seed %d: all %d is more than %d of %s", seed, r.All, e.Overhead, e.Type)
			}
		}
		within := func(c uint64) bool { p := r.Percent(c); return p >= 0 && p <= 100 }
		if !within(r.All) || !within(r.Has) || !within(r.SwitchLow) {
			t.Fatalf("seed %d: shares %v %v %v", seed, r.Percent(r.All), r.Percent(r.Has), r.Percent(r.SwitchLow))
		}
	}
	if events < 100 {
		t.Errorf("%d switches in all, too few to prove anything", events)
	}
}

// TestBridgeRandom: bridging tasks without rows is the same as a graph with direct
// edges between those that have some.
func TestBridgeRandom(t *testing.T) {
	more := 0
	for seed := range uint64(1500) {
		types, rows, edges := made(rand.New(rand.NewPCG(seed, 84)))
		ran := map[int]bool{}
		kept := rows[:0:0]
		for _, r := range rows {
			if r.id%3 != 1 { // every third task becomes a dummy
				kept = append(kept, r)
				ran[r.id] = true
			}
		}
		var direct [][2]int
		var from func(of, at int)
		from = func(of, at int) {
			for _, e := range edges {
				if e[1] != at || e[0] == at {
					continue
				}
				if ran[e[0]] {
					direct = append(direct, [2]int{e[0], of})
				} else {
					from(of, e[0])
				}
			}
		}
		for id := range ran {
			from(id, id)
		}
		if direct == nil {
			continue
		}
		plain, err := overhead.New(build(t, types, kept, edges...), "deps.json", overhead.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := overhead.New(build(t, types, kept, edges...), "deps.json", overhead.Options{Bridge: true})
		if err != nil {
			t.Fatal(err)
		}
		want, err := overhead.New(build(t, types, kept, direct...), "deps.json", overhead.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Engines, want.Engines) || got.All != want.All || got.Has != want.Has || got.Path != want.Path {
			t.Fatalf("seed %d: %+v\nwith direct edges %+v\n%v %v %v", seed, got, want, types, kept, edges)
		}
		if got.Has != plain.Has {
			more++
		}
	}
	if more < 20 {
		t.Errorf("bridges changed the figures of %d captures, too few to prove anything", more)
	}
}

// TestRealCaptures: the captures of the other producers and levels, which have no
// stored output, give all parts and shares that can be.
func TestRealCaptures(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "gs_*"))
	if err != nil || len(dirs) < 10 {
		t.Fatal(dirs, err)
	}
	aicore := 0
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tl := loadCapture(t, dir)
			err := overhead.CheckRecords(tl)
			if tl.Rec.Level == 1 {
				if err == nil || !strings.Contains(err.Error(), "level is 1") {
					t.Errorf("level 1: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, bridge := range []bool{false, true} {
				r, err := overhead.New(tl, "deps.json", overhead.Options{Bridge: bridge})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range r.Engines {
					if p := r.Percent(e.Overhead); r.All > e.Overhead || p < 0 || p > 100 || e.Min > e.Max || e.During > e.Sum {
						t.Errorf("bridge %v: %+v of %d", bridge, e, r.Window)
					}
				}
				if r.Rows != r.Head.N || r.Rows != r.Tail.N || !r.Path.Found || r.Path.Span() < r.Path.Exec {
					t.Errorf("bridge %v: %d rows, %+v %+v %+v", bridge, r.Rows, r.Head, r.Tail, r.Path)
				}
				if records := tl.Rec.Level > 2; (r.Phases != nil) != (records && !r.AICore) || (r.Streams != nil) != (records && r.AICore) {
					t.Errorf("level %d, AICore %v: phases %v, streams %v", tl.Rec.Level, r.AICore, r.Phases, r.Streams)
				}
				if r.AICore {
					aicore++
				}
			}
		})
	}
	if aicore < 6 {
		t.Errorf("%d reports of AICore schedulers, expected those of 3 captures", aicore)
	}
}
