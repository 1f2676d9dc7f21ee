package depview_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/depview"
)

// shown lists the edges of a view, as "1>2".
func shown(v *depview.View) (list []string) {
	for e := range int32(v.Edges()) {
		if v.Shown(e) {
			p, s := v.Edge(e)
			list = append(list, v.Text(p)+">"+v.Text(s))
		}
	}
	return list
}

func edgesText(edges []string, source string) string {
	var rows []string
	for _, e := range edges {
		p, s, _ := strings.Cut(e, ">")
		own := source
		if s, of, ok := strings.Cut(s, " "); ok {
			rows = append(rows, fmt.Sprintf(`{"pred":%s,"succ":%s,"arg":0,"source":"%s"}`, p, s, of))
			continue
		}
		rows = append(rows, fmt.Sprintf(`{"pred":%s,"succ":%s,"source":"%s"}`, p, s, own))
	}
	return `{"tasks":[],"edges":[` + strings.Join(rows, ",") + `]}`
}

// TestReductionExamples are those of spec/deps.md §6.5.
func TestReductionExamples(t *testing.T) {
	for _, tt := range []struct {
		edges   []string
		removed []string
	}{
		{[]string{"1>2", "1>3", "2>4", "3>4"}, nil},
		{[]string{"1>2", "2>3", "3>4", "1>4"}, []string{"1>4"}},
		{[]string{"1>2", "2>3", "1>3 tensormap"}, []string{"1>3"}},
		{[]string{"1>2", "2>3", "3>4", "1>4 creator"}, nil},
		{[]string{"1>2", "2>3", "1>3 creator", "1>3 explicit"}, nil}, // one creator row protects the pair
	} {
		m := parse(t, edgesText(tt.edges, "explicit"))
		all := shown(m.View(depview.Full, nil))
		kept := slices.DeleteFunc(slices.Clone(all), func(e string) bool { return slices.Contains(tt.removed, e) })
		if got := shown(m.View(depview.Reduced, nil)); !slices.Equal(got, kept) {
			t.Errorf("%v reduced: got %v, want %v", tt.edges, got, kept)
		}
		if got := shown(m.View(depview.Omitted, nil)); !slices.Equal(got, tt.removed) {
			t.Errorf("%v omitted: got %v, want %v", tt.edges, got, tt.removed)
		}
	}
	for _, cycle := range [][]string{{"1>2", "2>1"}, {"1>1"}, {"1>2", "2>3", "1>3", "3>3"}} {
		m := parse(t, edgesText(cycle, "explicit"))
		for _, mode := range depview.Modes[1:] {
			v := m.View(depview.Mode(mode), nil)
			if !v.Cyclic || v.Mode != depview.Full || len(shown(v)) != len(cycle) || v.RedundantEdges() != 0 {
				t.Errorf("%v %s: got %v", cycle, mode, shown(v))
			}
			var out strings.Builder
			if v.WriteReduction(&out); out.Len() > 0 {
				t.Errorf("%v %s: %s", cycle, mode, out.String())
			}
		}
	}
}

// TestReductionText: the lines and figures of r1t1→r1t2→r1t3 with r1t1→r1t3.
func TestReductionText(t *testing.T) {
	m := parse(t, edgesText([]string{"4294967297>4294967298", "4294967298>4294967299", "4294967297>4294967299"}, "explicit"))
	for mode, want := range map[depview.Mode][]string{
		depview.Reduced:         {"Transitive reduction: removed 1 redundant edge(s) of 3 (2 kept)\n  - (1, 1) -> (1, 3)\n", "unique_task_edges: 2", "annotated_edges: 2"},
		depview.ReducedDataflow: {"Dataflow-verified transitive reduction: removed 1 redundant edge(s) of 3 (2 kept)\n  - (1, 1) -> (1, 3)\n", "unique_task_edges: 2"},
		depview.Omitted:         {"Redundant edges only: showing 1 redundant edge(s) of 3\n  - (1, 1) -> (1, 3)\n", "unique_task_edges: 1", "annotated_edges: 1"},
		depview.OmittedDataflow: {"Dataflow-verified redundant edges only: showing 1 redundant edge(s) of 3\n  - (1, 1) -> (1, 3)\n", "annotated_edges: 1"},
	} {
		v := m.View(mode, nil)
		var out strings.Builder
		if v.WriteReduction(&out); out.String() != want[0] {
			t.Errorf("%s: got %q", mode, out.String())
		}
		for _, line := range want[1:] {
			if !strings.Contains(textOf(t, v), line) {
				t.Errorf("%s: no %q in\n%s", mode, line, textOf(t, v))
			}
		}
	}
	_, block, _ := strings.Cut(textOf(t, m.View(depview.Omitted, nil)), "=== TASK (1, 1)")
	block, _, _ = strings.Cut(block, "\n\n")
	if !strings.Contains(block, "  -> (1, 3)") || strings.Contains(block, "  -> (1, 2)") {
		t.Errorf("the block of (1, 1): %s", block)
	}
}

// random makes a graph without cycles whose ids are in no order, some of whose tasks
// have entries, in another order. Pairs are ids; creator has those with a creator row.
func random(r *rand.Rand, n, edges int) (text string, pairs [][2]int, creator map[[2]int]bool) {
	id := r.Perm(n)
	creator = map[[2]int]bool{}
	var rows, entries []string
	for range edges {
		a, b := r.IntN(n), r.IntN(n)
		if a == b {
			continue
		}
		e := [2]int{id[min(a, b)], id[max(a, b)]}
		source := "tensormap"
		if r.IntN(8) == 0 {
			source = "creator"
			creator[e] = true
		}
		pairs = append(pairs, e)
		rows = append(rows, fmt.Sprintf(`{"pred":%d,"succ":%d,"source":"%s"}`, e[0], e[1], source))
	}
	for _, x := range r.Perm(n)[:r.IntN(n+1)] {
		entries = append(entries, fmt.Sprintf(`{"task_id":%d}`, id[x]))
	}
	return `{"tasks":[` + strings.Join(entries, ",") + `],"edges":[` + strings.Join(rows, ",") + `]}`, pairs, creator
}

// naive finds the edges that a longer path replaces, from the definition: by walking
// from every successor.
func naive(pairs [][2]int) map[[2]int]bool {
	next := map[int]map[int]bool{}
	for _, e := range pairs {
		if next[e[0]] == nil {
			next[e[0]] = map[int]bool{}
		}
		next[e[0]][e[1]] = true
	}
	redundant := map[[2]int]bool{}
	for u, succ := range next {
		seen := map[int]bool{} // reached over at least one other node
		var walk func(n int)
		walk = func(n int) {
			for s := range next[n] {
				if !seen[s] {
					seen[s] = true
					walk(s)
				}
			}
		}
		for s := range succ {
			walk(s)
		}
		for v := range succ {
			if seen[v] {
				redundant[[2]int{u, v}] = true
			}
		}
	}
	return redundant
}

func checkReduction(t *testing.T, r *rand.Rand, n, edges int) {
	t.Helper()
	text, pairs, creator := random(r, n, edges)
	m := parse(t, text)
	want := naive(pairs)
	for _, mode := range []depview.Mode{depview.Reduced, depview.Omitted} {
		v := m.View(mode, nil)
		if v.Cyclic {
			t.Fatal("a cycle was found where there is none")
		}
		for e := range int32(v.Edges()) {
			p, s := v.Edge(e)
			x := [2]int{int(v.ID(p)), int(v.ID(s))}
			gone := want[x] && !creator[x]
			if v.Redundant[e] != gone || v.Shown(e) != (gone == (mode == depview.Omitted)) {
				t.Fatalf("%s: edge %v is redundant %v, want %v", mode, x, v.Redundant[e], gone)
			}
		}
	}
}

// TestReductionAgainstNaive: small graphs of every density, and some of many blocks.
func TestReductionAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		n := 2 + r.IntN(40)
		checkReduction(t, r, n, r.IntN(n*4))
	}
	for _, size := range [][2]int{{1500, 4000}, {1500, 12000}, {3000, 3500}} {
		checkReduction(t, r, size[0], size[1])
	}
}

// The tensor of the dataflow examples: 128 × FLOAT32 at 4096.
const buffer = `"tensors":[{"tensor_id":"5247134848181355493","buffer_addr":"4096","version":0,"dtype":"FLOAT32","buffer_numel":"128"}]`

// flow is a graph of tasks that use one slot of one buffer. Tasks are "2 OUTPUT_EXISTING
// [2,4] [4,1] 0": id, type, shape, strides, offset.
type flow struct {
	tasks []string
	edges []string // "1>2 creator", "2>3 tensormap", "3>4 explicit"
}

func (f flow) text() string {
	type view struct{ kind, shape, strides, offset string }
	views := map[string]view{}
	var entries, rows []string
	for _, x := range f.tasks {
		w := strings.Fields(x)
		views[w[0]] = view{w[1], w[2], w[3], w[4]}
		entries = append(entries, fmt.Sprintf(`{"task_id":%s,"kernel_ids":[0,-1,-1],"args":[{"idx":0,"type":"%s","tensor_id":"5247134848181355493","dtype":"FLOAT32","shape":%s,"strides":%s,"start_offset":"%s"}]}`,
			w[0], w[1], w[2], w[3], w[4]))
	}
	for _, x := range f.edges {
		pair, source, _ := strings.Cut(x, " ")
		p, s, _ := strings.Cut(pair, ">")
		row := fmt.Sprintf(`{"pred":%s,"succ":%s,"source":"%s"`, p, s, source)
		if c := views[s]; source != "explicit" {
			row += fmt.Sprintf(`,"arg":0,"tensor_id":"5247134848181355493","consumer_dtype":"FLOAT32","consumer_shape":%s,"consumer_strides":%s,"consumer_start_offset":"%s"`, c.shape, c.strides, c.offset)
		}
		if c := views[p]; source == "tensormap" {
			row += fmt.Sprintf(`,"overlap":"covered","producer_shape":%s,"producer_strides":%s,"producer_start_offset":"%s"`, c.shape, c.strides, c.offset)
		}
		rows = append(rows, row+"}")
	}
	return `{"tasks":[` + strings.Join(entries, ",") + `],` + buffer + `,"edges":[` + strings.Join(rows, ",") + `]}`
}

var lifetime = flow{
	[]string{"2 OUTPUT_EXISTING [2,4] [4,1] 0", "3 INOUT [8] [1] 0", "4 INOUT [4,2] [2,1] 0"},
	[]string{"1>2 creator", "1>3 creator", "2>3 tensormap", "1>4 creator", "3>4 tensormap"},
}

// TestDataflowExamples are the lifetime and the reuse graph of spec/deps.md §6.5, and
// what each of the conditions refuses.
func TestDataflowExamples(t *testing.T) {
	same := flow{[]string{"2 OUTPUT_EXISTING [8] [1] 0", "3 INOUT [8] [1] 0", "4 INOUT [8] [1] 0"}, lifetime.edges}
	reuse := flow{
		[]string{"2 OUTPUT_EXISTING [8] [1] 0", "3 INOUT [8] [1] 0", "4 OUTPUT_EXISTING [8] [1] 0", "5 INOUT [8] [1] 0"},
		[]string{"1>2 creator", "1>3 creator", "2>3 tensormap", "1>4 creator", "3>4 explicit", "1>5 creator", "4>5 tensormap"},
	}
	change := func(from, to string) string {
		text := same.text()
		if !strings.Contains(text, from) {
			t.Fatalf("no %s in %s", from, text)
		}
		return strings.ReplaceAll(text, from, to)
	}
	task3 := func(kind string) string {
		f := same
		f.tasks = slices.Clone(same.tasks)
		f.tasks[1] = "3 " + kind
		return f.text()
	}
	with := func(tasks, edges []string) string { return flow{tasks, edges}.text() }
	for name, tt := range map[string]struct {
		text    string
		removed []string
	}{
		"only behind it is all covered":            {with([]string{"2 OUTPUT_EXISTING [8] [1] 0", "3 INOUT [9] [1] 0", "4 INOUT [9] [1] 0"}, same.edges), nil},
		"the producer holds it from another owner": {with(same.tasks, []string{"9>2 creator", "1>2 explicit", "1>3 creator", "2>3 tensormap", "1>4 creator", "3>4 tensormap"}), nil},
		"the consumer holds it from another owner": {with(same.tasks, []string{"1>2 creator", "1>3 creator", "2>3 tensormap", "9>4 creator", "3>4 tensormap"}), nil},
		"lifetime":                           {lifetime.text(), []string{"1>3"}},
		"the same views":                     {same.text(), []string{"1>3"}},
		"reuse":                              {reuse.text(), nil},
		"an INPUT":                           {task3("INPUT [8] [1] 0"), nil},
		"an OUTPUT_EXISTING":                 {task3("OUTPUT_EXISTING [8] [1] 0"), nil},
		"more than the producer has written": {task3("INOUT [9] [1] 0"), nil},
		"less than it":                       {task3("INOUT [4] [1] 2"), []string{"1>3"}},
		"elsewhere in the buffer":            {task3("INOUT [8] [1] 64"), nil},
		"past the buffer":                    {task3("INOUT [8] [1] 124"), nil},
		"another element type":               {change(`"consumer_dtype":"FLOAT32"`, `"consumer_dtype":"FLOAT16"`), nil},
		"no buffer size":                     {change(`"buffer_numel":"128"`, `"buffer_numel":"0"`), nil},
		"no arguments":                       {change(`"args":[{"idx":0`, `"args":[{"idx":1`), nil},
		"rows that rely on the arguments":    {change(`"consumer_dtype":"FLOAT32","consumer_shape":[8],"consumer_strides":[1],"consumer_start_offset":"0"`, `"x":0`), []string{"1>3"}},
	} {
		m := parse(t, tt.text)
		if got := shown(m.View(depview.OmittedDataflow, nil)); !slices.Equal(got, tt.removed) {
			t.Errorf("%s: removed %v, want %v", name, got, tt.removed)
		}
		all := shown(m.View(depview.Full, nil))
		kept := slices.DeleteFunc(all, func(e string) bool { return slices.Contains(tt.removed, e) })
		if got := shown(m.View(depview.ReducedDataflow, nil)); !slices.Equal(got, kept) {
			t.Errorf("%s: kept %v, want %v", name, got, kept)
		}
	}
	// Creator protection is that of the other two modes.
	if got := shown(parse(t, lifetime.text()).View(depview.Omitted, nil)); got != nil {
		t.Errorf("omitted: %v", got)
	}
}

// TestRegions is the table of byte regions of spec/deps.md §6.5.
func TestRegions(t *testing.T) {
	for _, tt := range []struct {
		shape, strides string
		offset         uint64
		dtype          string
		want           string
	}{
		{"[2,4]", "[4,1]", 0, "FLOAT32", "[4096,4128)"},
		{"[2,4]", "[16,1]", 8, "FLOAT32", "[4128,4144) [4192,4208)"},
		{"[4]", "[2]", 0, "FLOAT32", "[4096,4100) [4104,4108) [4112,4116) [4120,4124)"},
		{"[2,3,4]", "[32,4,1]", 0, "FLOAT32", "[4096,4144) [4224,4272)"},
		{"[8]", "[1]", 124, "FLOAT32", "unknown"},
		{"[8]", "[1]", 0, "FLOAT16", "unknown"},
		{"[8]", "[1]", 120, "FLOAT32", "[4576,4608)"},
		{"[2,2]", "[1,1]", 0, "FLOAT32", "[4096,4108)"}, // runs that share an element
		{"[]", "[]", 0, "FLOAT32", "unknown"},
		{"[0]", "[1]", 0, "FLOAT32", "unknown"},
		{"[2]", "[0]", 0, "FLOAT32", "unknown"},
		{"[2]", "[1,1]", 0, "FLOAT32", "unknown"},
		{"[101,100]", "[1,1]", 0, "FLOAT32", "unknown"}, // more than 10 000 runs would leave it too
		{"[4294967295,4294967295,4294967295]", "[4294967295,4294967295,4294967295]", 18446744073709551615, "FLOAT32", "unknown"},
	} {
		text := fmt.Sprintf(`{"tasks":[],%s,"edges":[{"pred":1,"succ":2,"arg":0,"source":"creator","tensor_id":"5247134848181355493","consumer_dtype":"%s","consumer_shape":%s,"consumer_strides":%s,"consumer_start_offset":"%d"}]}`,
			buffer, tt.dtype, tt.shape, tt.strides, tt.offset)
		if got := depview.RegionText(parse(t, text), 0); got != tt.want {
			t.Errorf("%s/%s/%d: got %s, want %s", tt.shape, tt.strides, tt.offset, got, tt.want)
		}
	}
	if capture.ElementSize("FLOAT32") != 4 || capture.ElementSize("BFLOAT16") != 2 || capture.ElementSize("INT64") != 8 || capture.ElementSize("BOOL") != 1 || capture.ElementSize("FP4") != 0 {
		t.Error("sizes of elements")
	}
}

// TestRegionsAgainstSets compares regions with sets of bytes.
func TestRegionsAgainstSets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	known := 0
	for range 2000 {
		var shape, strides []uint32
		for range 1 + r.IntN(3) {
			shape, strides = append(shape, uint32(1+r.IntN(4))), append(strides, uint32(1+r.IntN(12)))
		}
		if r.IntN(2) == 0 {
			strides[len(strides)-1] = 1
		}
		offset := uint64(r.IntN(30))
		got, ok := depview.RunBytes(shape, strides, offset, 100, 60, 2)
		want := map[uint64]bool{}
		fits := true
		at := make([]uint32, len(shape))
		for {
			e := offset
			for d := range at {
				e += uint64(at[d]) * uint64(strides[d])
			}
			fits = fits && e < 60
			want[100+2*e], want[101+2*e] = true, true
			d := len(at) - 1
			for ; d >= 0; d-- {
				if at[d]++; at[d] < shape[d] {
					break
				}
				at[d] = 0
			}
			if d < 0 {
				break
			}
		}
		if ok != fits {
			t.Fatalf("%v/%v/%d: known %v, want %v", shape, strides, offset, ok, fits)
		}
		if !ok {
			continue
		}
		known++
		if len(got) != len(want) {
			t.Fatalf("%v/%v/%d: %d bytes, want %d", shape, strides, offset, len(got), len(want))
		}
		for _, b := range got {
			if !want[b] {
				t.Fatalf("%v/%v/%d: byte %d", shape, strides, offset, b)
			}
		}
	}
	if known < 300 {
		t.Errorf("only %d regions", known)
	}
}

// TestRegionSets compares what regions share, hold together and cover with sets of bytes.
func TestRegionSets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	covered := 0
	for range 3000 {
		var sets [2]map[uint64]bool
		var ranges [2][][2]uint64
		for i := range sets {
			sets[i] = map[uint64]bool{}
			for range r.IntN(5) {
				from := uint64(r.IntN(30))
				to := from + 1 + uint64(r.IntN(12))
				ranges[i] = append(ranges[i], [2]uint64{from, to})
				for b := from; b < to; b++ {
					sets[i][b] = true
				}
			}
		}
		both, any, covers := depview.RegionSets(ranges[0], ranges[1])
		wantCovers := true
		for b := range uint64(50) {
			if slices.Contains(both, b) != (sets[0][b] && sets[1][b]) || slices.Contains(any, b) != (sets[0][b] || sets[1][b]) {
				t.Fatalf("%v: byte %d", ranges, b)
			}
			wantCovers = wantCovers && (sets[0][b] || !sets[1][b])
		}
		if covers != wantCovers {
			t.Fatalf("%v: covers %v", ranges, covers)
		}
		if covers && len(sets[1]) > 0 {
			covered++
		}
	}
	if covered < 100 {
		t.Errorf("only %d of the regions cover another", covered)
	}
}
