package fanin_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/fanin/naive"
	"swimlane/internal/producer"
)

// strip is a slice of a buffer of 4096 elements.
func strip(start, n uint64, version int32) abi.Tensor {
	return changed(line(start, uint32(n)), func(t *abi.Tensor) { t.BufferSize, t.Version = 4*4096, version })
}

// TestManySlices compares lookups in a buffer with very many slices, of several
// versions and of producers that retire, with the slow way.
func TestManySlices(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		retired := map[uint64]bool{}
		live := func(p uint64) bool { return !retired[p] }
		m := newMap(t, fanin.Options{Live: live})
		var g naive.Graph
		most, edges := 0, 0
		for id := range uint64(1500) {
			n := 1 + r.Uint64N(6)
			if r.IntN(40) == 0 {
				n = 1 + r.Uint64N(400)
			}
			version := int32(0)
			if seed > 0 {
				version = int32(id / 600)
			}
			tensor := strip(r.Uint64N(4097-n), n, version)
			how := abi.ArgOutputExisting
			switch r.IntN(6) {
			case 0:
				how = abi.ArgInput
			case 1:
				how = abi.ArgInOut
			}
			s := submit(id, arg(how, tensor))
			rows, want := g.Submit(&s, live)
			i := 0
			deps := m.Resolve(&s, func(got *fanin.Row) {
				if i < len(rows) {
					sameRow(t, got, rows[i])
				}
				i++
			})
			found := map[uint64]abi.DepKind{}
			for _, d := range deps {
				found[d.Producer] = d.Kind
			}
			if i != len(rows) || !reflect.DeepEqual(found, want) {
				t.Fatalf("seed %d, task %d: %d rows and producers %v, want %d and %v", seed, id, i, deps, len(rows), want)
			}
			if err := m.Register(&s); err != nil {
				t.Fatal(err)
			}
			most, edges = max(most, m.Len()), edges+len(deps)
			if r.IntN(3) == 0 {
				retired[uint64(r.IntN(int(id)+1))] = true
			}
			delete(retired, id)
		}
		if most < 600 || edges < 500 {
			t.Errorf("seed %d: at most %d slices and %d edges: too few to be a test", seed, most, edges)
		}
	}
}

// BenchmarkLookup8192 looks up one of 8192 live slices that have no element in
// common, and all of them.
func BenchmarkLookup8192(b *testing.B) {
	const tiles = 8192
	whole := changed(line(0, 4*tiles), func(t *abi.Tensor) { t.BufferSize = 16 * tiles })
	for name, n := range map[string]uint32{"one": 4, "all": 4 * tiles} {
		b.Run(name, func(b *testing.B) {
			m := newMap(b, fanin.Options{})
			var s producer.Submit
			for id := range uint64(tiles) {
				s = submit(id, arg(abi.ArgOutputExisting, changed(whole, func(t *abi.Tensor) { t.StartOffset, t.Shapes[0] = 4*id, 4 })))
				if err := m.Register(&s); err != nil {
					b.Fatal(err)
				}
			}
			s = submit(tiles, arg(abi.ArgInput, changed(whole, func(t *abi.Tensor) { t.Shapes[0] = n })))
			for b.Loop() {
				if deps := m.Resolve(&s, nil); len(deps) != int(n/4) {
					b.Fatalf("%d producers, want %d", len(deps), n/4)
				}
			}
		})
	}
}
