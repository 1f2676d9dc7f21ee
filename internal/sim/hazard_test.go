package sim_test

import (
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// part is the part of a matrix of 8 × 8 elements that begins somewhere.
func part(t *testing.T, row, col, rows, cols int) abi.Tensor {
	t.Helper()
	whole, err := sim.NewTensor(0x1000, abi.Float32, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.SliceTensor(whole, []int{row, col}, []int{rows, cols})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHazards(t *testing.T) {
	const in, inout, into, nodep = abi.ArgInput, abi.ArgInOut, abi.ArgOutputExisting, abi.ArgNoDep
	all := part(t, 0, 0, 8, 8)
	type ran struct {
		order      int
		use        abi.ArgType
		tensor     abi.Tensor
		start, end sim.Time
	}
	for name, v := range map[string]struct {
		runs []ran
		want int
	}{
		"one after the other":                    {[]ran{{0, into, all, 0, 10}, {1, in, all, 10, 20}}, 0},
		"a reader too early":                     {[]ran{{0, into, all, 0, 10}, {1, in, all, 9, 20}}, 1},
		"a writer while another reads":           {[]ran{{0, in, all, 0, 10}, {1, inout, all, 5, 20}}, 1},
		"two readers":                            {[]ran{{0, in, all, 0, 10}, {1, in, all, 5, 20}}, 0},
		"a reader that was over before":          {[]ran{{1, in, all, 0, 10}, {0, into, all, 20, 30}}, 1},
		"rows":                                   {[]ran{{0, into, part(t, 0, 0, 2, 8), 0, 10}, {1, into, part(t, 2, 0, 2, 8), 0, 10}}, 0},
		"rows that touch":                        {[]ran{{0, into, part(t, 0, 0, 3, 8), 0, 10}, {1, in, part(t, 2, 0, 2, 8), 0, 10}}, 1},
		"columns":                                {[]ran{{0, into, part(t, 0, 0, 8, 4), 0, 10}, {1, into, part(t, 0, 4, 8, 4), 0, 10}}, 0},
		"columns that touch":                     {[]ran{{0, into, part(t, 0, 0, 8, 5), 0, 10}, {1, in, part(t, 0, 4, 8, 4), 0, 10}}, 1},
		"tiles":                                  {[]ran{{0, into, part(t, 0, 0, 4, 4), 0, 10}, {1, into, part(t, 4, 4, 4, 4), 0, 10}, {2, into, part(t, 0, 4, 4, 4), 0, 10}}, 0},
		"who says that there is no dependency":   {[]ran{{0, into, all, 0, 10}, {1, nodep, all, 5, 20}}, 0},
		"blocks of a task":                       {[]ran{{0, inout, all, 0, 10}, {0, inout, all, 0, 12}}, 0},
		"a pair of tasks counts once":            {[]ran{{0, inout, all, 0, 10}, {1, inout, all, 5, 12}, {1, inout, all, 6, 12}}, 1},
		"a task that another one is long behind": {[]ran{{0, inout, all, 0, 10}, {1, in, all, 10, 20}, {2, in, all, 10, 40}, {3, inout, all, 30, 50}}, 1},
	} {
		var h sim.Hazards
		subtasks, first := map[int]int{}, map[int]ran{}
		for _, r := range v.runs {
			subtasks[r.order]++
			first[r.order] = r
		}
		for order := range len(subtasks) {
			r := first[order]
			h.Submit(order, uint64(order), subtasks[order], []sim.Arg{{Type: r.use}}, []abi.Tensor{r.tensor})
		}
		for _, r := range v.runs {
			h.Ran(r.order, "K", r.start, r.end, 0)
		}
		if h.Found != v.want || len(h.First) != v.want {
			t.Errorf("%s: %d found, %v; want %d", name, h.Found, h.First, v.want)
		}
	}
}

// TestHazardsAreForgotten: a long chain in one buffer finds nothing, and a late
// mistake in it is found.
func TestHazardsAreForgotten(t *testing.T) {
	var h sim.Hazards
	all := part(t, 0, 0, 8, 8)
	const n, window = 20_000, 16
	submit := func(i int, use abi.ArgType) {
		h.Submit(i, uint64(i), 1, []sim.Arg{{Type: use}}, []abi.Tensor{all})
	}
	for i := range window {
		submit(i, abi.ArgInOut)
	}
	for i := range n {
		submit(i+window, abi.ArgInOut)
		if i%3 == 1 {
			h.Skip(i)
			continue
		}
		h.Ran(i, "K", sim.Time(10*i), sim.Time(10*i+10), sim.Time(10*i))
	}
	if h.Found != 0 {
		t.Fatalf("%d found in a chain", h.Found)
	}
	for i := n; i < n+window-1; i++ {
		h.Skip(i)
	}
	h.Ran(n+window-1, "LATE", 10*(n-2)+1, 10*n, 0)
	if h.Found != 1 || !strings.Contains(h.First[0].String(0), "task t20015 (LATE) writes its argument 0 from 199.98") {
		t.Errorf("%d found: %v", h.Found, h.First)
	}
}
