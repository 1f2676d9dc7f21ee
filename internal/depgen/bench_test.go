package depgen_test

import (
	"io"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/depgen"
	"swimlane/internal/producer"
)

// BenchmarkWrite has 100,000 submits of 8 arguments in an iteration: chains of
// tasks, each of which updates a tile that the one before it updated.
func BenchmarkWrite(b *testing.B) {
	const tasks, tiles = 100_000, 256
	out := newChip(b, abi.DepGenKinds).run(b, func(yield func(*producer.Submit) bool) {
		s := producer.Submit{KernelIDs: [3]int32{0, 1, -1}, Args: make([]producer.Arg, 8)}
		for id := range uint64(tasks) {
			s.TaskID = 2<<32 + id
			for i := range s.Args {
				s.Args[i] = in(vector(1<<32+1024*(id*8+uint64(i)), 256, abi.NoOwner))
			}
			s.Args[5].Tensor.OwnerTaskID = 1<<32 + id
			s.Args[6].Tensor.OwnerTaskID = 1<<32 + id + 1
			tile := vector(4096, 256*tiles, 0)
			tile.StartOffset, tile.Shapes[0] = 256*(id%tiles), 256
			s.Args[7] = inout(tile)
			if !yield(&s) {
				return
			}
		}
	}, true)
	b.ReportAllocs()
	for b.Loop() {
		s, err := depgen.WriteTo(io.Discard, out)
		if err != nil || s.Tasks != tasks || s.Edges != tasks*4-tiles {
			b.Fatalf("%+v, %v", s, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tasks, "ns/submit")
}

// BenchmarkFanIn64x64 has 64 tasks that write a part each, and 64 that read all.
func BenchmarkFanIn64x64(b *testing.B) {
	var list []producer.Submit
	whole := vector(4096, 64*16, abi.NoOwner)
	for id := range uint64(128) {
		a := in(whole)
		if id < 64 {
			a.Type, a.Tensor.StartOffset, a.Tensor.Shapes[0] = abi.ArgInOut, 16*id, 16
		}
		list = append(list, producer.Submit{TaskID: id, Args: []producer.Arg{a}})
	}
	out := collected(b, abi.DepGenKinds, list...)
	b.ReportAllocs()
	for b.Loop() {
		if s, err := depgen.WriteTo(io.Discard, out); err != nil || s.Edges != 64*64 {
			b.Fatalf("%+v, %v", s, err)
		}
	}
}
