package fanin_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/fanin/naive"
)

// view is a slice of a buffer of 128 floats.
func view(start uint64, shape, strides []uint32) abi.Tensor {
	t := abi.Tensor{BufferAddr: 4096, BufferSize: 4 * 128, OwnerTaskID: abi.NoOwner, StartOffset: start, NDims: uint32(len(shape))}
	copy(t.Shapes[:], shape)
	copy(t.Strides[:], strides)
	return t
}

func line(start uint64, n uint32) abi.Tensor { return view(start, []uint32{n}, []uint32{1}) }

func changed(t abi.Tensor, change func(*abi.Tensor)) abi.Tensor {
	change(&t)
	return t
}

// TestOverlap has a case of each rule of spec/deps.md §4.1.1.
func TestOverlap(t *testing.T) {
	type s = []uint32
	for name, tt := range map[string]struct {
		arg, reg abi.Tensor
		want     fanin.Overlap
	}{
		"same slice":                           {line(0, 128), line(0, 128), fanin.Covered},
		"argument contains":                    {line(0, 128), line(5, 3), fanin.Covered},
		"argument is contained":                {line(5, 3), line(0, 128), fanin.Other},
		"ends overlap":                         {line(0, 10), line(9, 10), fanin.Other},
		"next to each other":                   {line(0, 10), line(10, 10), fanin.NoOverlap},
		"newer, and apart":                     {changed(line(0, 10), func(t *abi.Tensor) { t.Version = 1 }), line(50, 10), fanin.Other},
		"newer, and the same":                  {changed(line(0, 10), func(t *abi.Tensor) { t.Version = 1 }), line(0, 10), fanin.Other},
		"older than none: versions are signed": {line(0, 10), changed(line(50, 10), func(t *abi.Tensor) { t.Version = -1 }), fanin.Other},
		"rows of an array, side by side":       {view(0, s{4, 8}, s{16, 1}), view(8, s{4, 8}, s{16, 1}), fanin.NoOverlap},
		"rows of an array, contained":          {view(16, s{4, 8}, s{16, 1}), view(33, s{2, 7}, s{16, 1}), fanin.Covered},
		"rows of an array, one column out":     {view(16, s{4, 8}, s{16, 1}), view(33, s{2, 8}, s{16, 1}), fanin.Other},
		"interleaved in other strides":         {view(0, s{4, 8}, s{16, 1}), view(8, s{2, 8}, s{32, 1}), fanin.Other},
		"another dtype":                        {changed(line(0, 8), func(t *abi.Tensor) { t.DType = abi.Int32 }), line(0, 8), fanin.Other},
		"another rank":                         {view(0, s{1, 8}, s{8, 1}), line(0, 8), fanin.Other},
		"rank 0":                               {view(3, nil, nil), view(3, nil, nil), fanin.Other},
		"rank 0, another element":              {view(3, nil, nil), view(4, nil, nil), fanin.NoOverlap},
		"last stride is 2":                     {view(0, s{8}, s{2}), view(0, s{8}, s{2}), fanin.Other},
		"stride no multiple of the next":       {view(0, s{2, 2, 1}, s{16, 3, 1}), view(0, s{2, 2, 1}, s{16, 3, 1}), fanin.Other},
		"buffer no multiple of the first":      {view(0, s{2, 8}, s{24, 1}), view(0, s{2, 8}, s{24, 1}), fanin.Other},
		"size of elements unknown":             {changed(line(0, 8), func(t *abi.Tensor) { t.DType = 99 }), changed(line(0, 8), func(t *abi.Tensor) { t.DType = 99 }), fanin.Other},
		"leaves its row":                       {view(12, s{2, 8}, s{16, 1}), view(12, s{2, 8}, s{16, 1}), fanin.Other},
		"leaves the buffer":                    {line(124, 8), line(124, 8), fanin.Other},
		"another size of the buffer":           {line(0, 8), changed(line(0, 8), func(t *abi.Tensor) { t.BufferSize *= 2 }), fanin.Other},
		"empty in the middle":                  {view(5, s{0}, s{1}), line(0, 10), fanin.NoOverlap},
		"beside an empty one":                  {line(0, 10), view(5, s{4, 0}, s{16, 1}), fanin.NoOverlap},
		"a stride of 0":                        {view(0, s{2, 8}, s{0, 1}), view(0, s{2, 8}, s{0, 1}), fanin.Other},
		"more dimensions than there can be":    {changed(line(0, 8), func(t *abi.Tensor) { t.NDims = math.MaxUint32 }), line(0, 8), fanin.Other},
		"start beyond all numbers":             {line(math.MaxUint64-3, 8), line(math.MaxUint64-3, 8), fanin.Other},
		"reach beyond all numbers": {view(0, s{math.MaxUint32, math.MaxUint32, math.MaxUint32}, s{math.MaxUint32, math.MaxUint32, 1}),
			view(1<<40, s{2}, s{1}), fanin.Other},
	} {
		if got := fanin.Test(&tt.arg, &tt.reg); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestOverlapAgainstSets compares with sets of elements.
func TestOverlapAgainstSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for range 20000 {
		a, b := randomTensor(r), randomTensor(r)
		if r.IntN(3) > 0 {
			b.Strides, b.NDims, b.DType, b.Version = a.Strides, a.NDims, a.DType, a.Version
		}
		want := naive.Overlap(&a, &b)
		seen[want]++
		if got := fanin.Test(&a, &b).String(); got != want {
			t.Fatalf("%s, want %s\nargument   %+v\nregistered %+v", got, want, a, b)
		}
	}
	for _, word := range []string{"no_overlap", "covered", "other"} {
		if seen[word] < 500 {
			t.Errorf("only %d of 20000 pairs are %s", seen[word], word)
		}
	}
}

// randomTensor is a slice of one of three buffers of 48 bytes, mostly a regular one.
func randomTensor(r *rand.Rand) abi.Tensor {
	shapes := [][]uint32{{24, 12, 4, 1}, {24, 6, 1}, {12, 4, 1}, {6, 1}, {4, 1}, {3, 1}, {5, 1}, {1}, {1}, {2}, {6, 4, 1}, {1, 1}}
	strides := shapes[r.IntN(len(shapes))]
	t := abi.Tensor{BufferAddr: 4096 * uint64(1+r.IntN(3)), BufferSize: 48, OwnerTaskID: abi.NoOwner, NDims: uint32(len(strides)), DType: abi.Uint8}
	copy(t.Strides[:], strides)
	outer := uint32(48)
	for d, stride := range strides {
		n := max(outer/stride, 1)
		at := uint32(r.IntN(int(n)))
		t.Shapes[d] = 1 + uint32(r.IntN(int(n-at)))
		t.StartOffset += uint64(at * stride)
		outer = stride
	}
	switch r.IntN(30) {
	case 0:
		t.NDims = 0
	case 1:
		t.Shapes[0] = 0
	case 2:
		t.DType = abi.Float16
	case 3:
		t.StartOffset += uint64(r.IntN(20))
	case 4:
		t.Version = int32(r.IntN(3))
	}
	return t
}
