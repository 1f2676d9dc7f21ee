package depview_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/depview"
)

// edgeSet is a graph as tests see it.
type edgeSet map[int]map[int]bool

func edgesOf(pairs [][2]int) edgeSet {
	next := edgeSet{}
	for _, e := range pairs {
		if next[e[0]] == nil {
			next[e[0]] = map[int]bool{}
		}
		next[e[0]][e[1]] = true
	}
	return next
}

// distances are found by relaxing edges until nothing changes; up follows them backwards.
func (next edgeSet) distances(from int, up bool) map[int]int {
	d := map[int]int{from: 0}
	for changed := true; changed; {
		changed = false
		for a, list := range next {
			for b := range list {
				x, y := a, b
				if up {
					x, y = b, a
				}
				if at, ok := d[x]; ok {
					if old, seen := d[y]; !seen || old > at+1 {
						d[y], changed = at+1, true
					}
				}
			}
		}
	}
	return d
}

// paths lists all paths without repeated nodes.
func (next edgeSet) paths(from, to int) (all [][]int) {
	var path []int
	var walk func(n int)
	walk = func(n int) {
		path = append(path, n)
		defer func() { path = path[:len(path)-1] }()
		if n == to {
			all = append(all, slices.Clone(path))
			return
		}
		for s := range next[n] {
			if !slices.Contains(path, s) {
				walk(s)
			}
		}
	}
	walk(from)
	return all
}

// anyGraph is a random graph whose nodes are 0…n−1; edges may go anywhere if cycles are wanted.
func anyGraph(r *rand.Rand, n, edges int, cycles bool) (string, edgeSet) {
	var pairs [][2]int
	var rows []string
	for range edges {
		a, b := r.IntN(n), r.IntN(n)
		if !cycles {
			if a == b {
				continue
			}
			a, b = min(a, b), max(a, b)
		}
		pairs = append(pairs, [2]int{a, b})
		rows = append(rows, fmt.Sprintf(`[%d,%d]`, a, b))
	}
	var tasks []string
	for i := range n {
		tasks = append(tasks, fmt.Sprintf(`{"task_id":%d}`, i))
	}
	return `{"tasks":[` + strings.Join(tasks, ",") + `],"edges":[` + strings.Join(rows, ",") + `]}`, edgesOf(pairs)
}

// TestNearAgainstNaive compares levels and figures of both sides with distances that
// are found another way, on graphs with and without cycles.
func TestNearAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 300 {
		n := 1 + r.IntN(25)
		text, next := anyGraph(r, n, r.IntN(3*n), i%3 == 0)
		v := parse(t, text).View(depview.Full, nil)
		task := r.IntN(n)
		up, down := r.IntN(5)-1, r.IntN(5)-1 // −1 is all
		x := v.Near(int32(task), up, down)
		checkSide(t, &x.Up, next.distances(task, true), up)
		checkSide(t, &x.Down, next.distances(task, false), down)
		var out strings.Builder
		if err := x.WriteText(&out); err != nil || !strings.HasPrefix(out.String(), fmt.Sprintf("TASK %d kind=submit", task)) {
			t.Fatalf("%v: %s", err, out.String())
		}
		// The JSON form lists the edges among the listed tasks, each once.
		checkNearJSON(t, x, next, task)
	}
}

func checkSide(t *testing.T, got *depview.Side, distance map[int]int, levels int) {
	t.Helper()
	want := depview.Side{}
	byLevel := map[int][]int32{}
	for n, d := range distance {
		if d == 0 {
			continue
		}
		want.Total++
		want.Depth = max(want.Depth, d)
		if d == 1 {
			want.Direct++
		}
		if levels == depview.All || d <= levels {
			byLevel[d] = append(byLevel[d], int32(n))
		}
	}
	for d := 1; d <= len(byLevel); d++ {
		slices.Sort(byLevel[d])
		want.Levels = append(want.Levels, byLevel[d])
	}
	if got.Total != want.Total || got.Depth != want.Depth || got.Direct != want.Direct || fmt.Sprint(got.Levels) != fmt.Sprint(want.Levels) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func checkNearJSON(t *testing.T, x *depview.Near, next edgeSet, task int) {
	t.Helper()
	var out strings.Builder
	if err := x.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	type side struct {
		Direct, All, Farthest int
		Tasks                 []struct {
			Away int
			Task struct {
				ID string `json:"task_id"`
			}
		}
		Edges []struct{ Pred, Succ string }
	}
	var in struct {
		Needs    side
		NeededBy side `json:"needed_by"`
	}
	if err := json.Unmarshal([]byte(out.String()), &in); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	for up, s := range map[bool]side{true: in.Needs, false: in.NeededBy} {
		member := map[int]bool{task: true}
		for _, x := range s.Tasks {
			n, _ := strconv.Atoi(x.Task.ID)
			member[n] = true
		}
		want := 0
		for a, list := range next {
			for b := range list {
				// Edges that leave the side away from the task are the other side's.
				if member[a] && member[b] && (up && a != task || !up && b != task) {
					want++
				}
			}
		}
		if len(s.Edges) != want {
			t.Fatalf("%d edges, want %d in %s", len(s.Edges), want, out.String())
		}
	}
}

// TestChainAgainstNaive compares all figures with a list of all paths.
func TestChainAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	found, looped := 0, 0
	for i := range 1500 {
		n := 2 + r.IntN(8)
		text, next := anyGraph(r, n, r.IntN(3*n), i%4 == 0)
		v := parse(t, text).View(depview.Full, nil)
		a := r.IntN(n)
		b := (a + 1 + r.IntN(n-1)) % n
		c, err := v.Chain(int32(a), int32(b))
		if err != nil {
			t.Fatal(err)
		}
		all := next.paths(a, b)
		down, up := next.distances(a, false), next.distances(b, true)
		var out strings.Builder
		if err := c.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			reverse := next.distances(b, false)[a]
			if c.Path != nil || c.Reverse != reverse || !strings.Contains(out.String(), fmt.Sprintf("no path: %d does not need %d", b, a)) {
				t.Fatalf("%s %d→%d: a path %v, reverse %d", text, a, b, c.Path, c.Reverse)
			}
			continue
		}
		found++
		shortest, longest, count := math.MaxInt, 0, 0
		for _, p := range all {
			longest = max(longest, len(p)-1)
			switch {
			case len(p)-1 < shortest:
				shortest, count = len(p)-1, 1
			case len(p)-1 == shortest:
				count++
			}
		}
		if len(c.Path) != shortest || c.Shortest != uint64(count) {
			t.Fatalf("%s %d→%d: %d of length %d, want %d of %d", text, a, b, c.Shortest, len(c.Path), count, shortest)
		}
		at := int32(a)
		for _, e := range c.Path {
			p, s := v.Edge(e)
			if p != at {
				t.Fatalf("the path is broken at %d", at)
			}
			at = s
		}
		if at != int32(b) {
			t.Fatalf("the path ends at %d", at)
		}
		between, loop := 0, false
		var every []int32
		for x := range n {
			_, fromA := down[x]
			_, toB := up[x]
			if !fromA || !toB {
				continue
			}
			for s := range next[x] {
				_, back := next.distances(s, false)[x]
				loop = loop || back
			}
			if x == a || x == b {
				continue
			}
			between++
			if !slices.ContainsFunc(all, func(p []int) bool { return !slices.Contains(p, x) }) {
				every = append(every, int32(x))
			}
		}
		if c.Between != between || c.Looped != loop {
			t.Fatalf("%s %d→%d: %d between, looped %v, want %d, %v", text, a, b, c.Between, c.Looped, between, loop)
		}
		if loop {
			looped++
			continue
		}
		got := slices.Clone(c.Every)
		slices.Sort(got)
		if c.Paths != uint64(len(all)) || c.Longest != longest || !slices.Equal(got, every) {
			t.Fatalf("%s %d→%d: %d paths, longest %d, every %v, want %d, %d, %v", text, a, b, c.Paths, c.Longest, got, len(all), longest, every)
		}
	}
	if found < 300 || looped < 20 {
		t.Errorf("only %d chains, %d with cycles", found, looped)
	}
}

// TestChainOfManyPaths: 2^200 paths are counted as many, at once.
func TestChainOfManyPaths(t *testing.T) {
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf(`[%d,%d],[%d,%d],[%d,%d],[%d,%d]`, 3*i, 3*i+1, 3*i, 3*i+2, 3*i+1, 3*i+3, 3*i+2, 3*i+3))
	}
	v := parse(t, `{"edges":[`+strings.Join(rows, ",")+`]}`).View(depview.Full, nil)
	c, err := v.Chain(0, 600)
	if err != nil || c.Paths != math.MaxUint64 || c.Shortest != math.MaxUint64 || c.Longest != 400 || len(c.Every) != 199 {
		t.Fatalf("%v: %d paths, %d shortest, longest %d, %d everywhere", err, c.Paths, c.Shortest, c.Longest, len(c.Every))
	}
	var text, js strings.Builder
	c.WriteText(&text)
	c.WriteJSON(&js)
	if !strings.Contains(text.String(), "  paths          more than 10^19\n") || !strings.Contains(text.String(), " and 179 more\n") || !strings.Contains(js.String(), `"paths_exceeded": true`) {
		t.Errorf("got %s", text.String()[:400])
	}
	if _, err := v.Chain(5, 5); err == nil || !strings.Contains(err.Error(), "both ends of the chain are task 5") {
		t.Errorf("got %v", err)
	}
}

// TestParseIDs: every way in which users write the id of a task.
func TestParseIDs(t *testing.T) {
	const tmr, hbg = `"runtime":"tensormap_and_ringbuffer",`, `"runtime":"host_build_graph",`
	for _, tt := range []struct {
		runtime string
		id      uint64
		texts   []string
	}{
		{"", 42, []string{"42", "t42", "r0t42", "(0, 42)", "(0,42)", "0:42", "(0:42)", " 42 ", "QK(t42)", "QK(r0t42)", "TASK 42", "TASK (0, 42)", "0x2a"}},
		{"", 2<<32 | 7, []string{"r2t7", "(2, 7)", "2:7", "8589934599", "0x200000007", "func_0_a(r2t7)", "TASK (2, 7)"}},
		{tmr, 42, []string{"r0t42", "t42", "42", "(0, 42)", "0:42"}},
		{tmr, 2<<32 | 7, []string{"r2t7", "2:7"}},
		{hbg, 12, []string{"t12", "12", "(0, 12)", "0:12"}},
		{hbg, 4611686031312289792, []string{"g3t0", "4611686031312289792", "func(g3t0)"}},
		{hbg, 9223372036854775810, []string{"p2"}},
	} {
		m := parse(t, fmt.Sprintf(`{%s"tasks":[{"task_id":"%d"}],"edges":[]}`, tt.runtime, tt.id))
		for _, text := range tt.texts {
			if n, err := m.Parse(text); err != nil || n != 0 {
				t.Errorf("%s%s: %v", tt.runtime, text, err)
			}
		}
		if n, err := m.Parse(m.Text(0)); err != nil || n != 0 {
			t.Errorf("%s: its own text %s: %v", tt.runtime, m.Text(0), err)
		}
	}
	m := parse(t, `{"edges":[[4294967303,8589934599]]}`)
	for text, want := range map[string]string{
		"7":       "no task 7 (raw id 7) in dir/deps.json; did you mean (1, 7) or (2, 7)?",
		"9":       "no task 9 (raw id 9) in dir/deps.json; its ids go from (1, 7) to (2, 7)",
		"x":       `"x" is no task id: expected one as (2, 7), or r2t7, or 8589934599 (the raw number)`,
		"":        `"" is no task id`,
		"(1,)":    "is no task id",
		"1:2:3":   "is no task id",
		"(300,1)": "is no task id",
		"g3t0":    "is no task id",
		"t07":     "is no task id",
	} {
		if _, err := m.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestJoinPair(t *testing.T) {
	for in, want := range map[string]string{
		"deps --chain|a|b":           "deps|--chain=a -> b",
		"deps|--chain|(0, 1)|(2, 3)": "deps|--chain=(0, 1) -> (2, 3)",
		"deps|d.json|--chain|a|b|-o": "deps|d.json|--chain=a -> b|-o",
		"deps|--chain|a -> b|d.json": "deps|--chain|a -> b|d.json",
		"deps|--chain|a..b|d.json":   "deps|--chain|a..b|d.json",
		"deps|--chain|a b|d.json":    "deps|--chain|a b|d.json",
		"deps|--chain|a":             "deps|--chain|a",
		"deps|--chain|a|-o|x":        "deps|--chain|a|-o|x",
		"deps|--|--chain|a|b":        "deps|--|--chain|a|b",
	} {
		in = strings.Replace(in, " --chain", "|--chain", 1)
		if got := strings.Join(depview.JoinPair(strings.Split(in, "|")), "|"); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
