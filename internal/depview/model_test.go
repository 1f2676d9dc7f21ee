package depview_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/depview"
	"swimlane/internal/names"
)

// parse makes the model of a graph's text, without names and records.
func parse(t testing.TB, text string) *depview.Model {
	t.Helper()
	return parseNamed(t, text, nil)
}

func parseNamed(t testing.TB, text string, functions *names.Map) *depview.Model {
	t.Helper()
	graph, err := capture.ReadDepsDetailFrom(strings.NewReader(text), "dir/deps.json")
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	m, err := depview.New(graph, functions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func textOf(t testing.TB, v *depview.View) string {
	t.Helper()
	var b strings.Builder
	if err := v.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// vector is worked example 1 of spec/deps.md §6.4.
const vector = `{"tasks":[
{"task_id":"0","scope":"auto","early_dispatch":false,"kernel_ids":[-1,0,-1],"block_num":1,"args":[{"idx":0,"type":"OUTPUT"}]},
{"task_id":"4294967296","scope":"auto","early_dispatch":false,"kernel_ids":[-1,1,-1],"block_num":1,"args":[]},
{"task_id":"4294967297","scope":"auto","early_dispatch":false,"kernel_ids":[-1,1,-1],"block_num":4,"args":[]},
{"task_id":"4294967298","scope":"auto","early_dispatch":false,"kernel_ids":[2,-1,-1],"block_num":1,"args":[]},
{"task_id":"4294967299","scope":"auto","early_dispatch":true,"kernel_ids":[-1,0,-1],"block_num":1,"args":[]}],
"tensors":[{"tensor_id":"13451765318376212391","buffer_addr":"29204938752","version":0,"dtype":"FLOAT32","buffer_numel":"16384"}],
"edges":[
{"pred":"0","succ":"4294967296","arg":0,"source":"creator","tensor_id":"13451765318376212391"},
{"pred":"0","succ":"4294967297","arg":0,"source":"creator","tensor_id":"13451765318376212391"},
{"pred":"4294967296","succ":"4294967298","arg":0,"source":"creator","tensor_id":"13451765318376212391"},
{"pred":"4294967297","succ":"4294967298","arg":1,"source":"creator","tensor_id":"13451765318376212391"},
{"pred":"0","succ":"4294967299","arg":0,"source":"creator","tensor_id":"13451765318376212391"},
{"pred":"4294967298","succ":"4294967299","arg":1,"source":"creator","tensor_id":"13451765318376212391"}]}
`

const vectorText = `SUMMARY
  source_deps_json: dir/deps.json
  tasks: 5
  unique_task_edges: 6
  annotated_edges: 6
  tensors: 1
  perf_sidecar: no
  func_name_map: yes

TASK INDEX
TASK (0, 0) kind=submit func_id=[-1,0,-1] fanin=0 fanout=3
TASK (1, 0) kind=submit func_id=[-1,1,-1] fanin=1 fanout=1
TASK (1, 1) kind=submit func_id=[-1,1,-1] SPMD block num = 4 fanin=1 fanout=1
TASK (1, 2) kind=submit func_id=[2,-1,-1] fanin=2 fanout=1
TASK (1, 3) kind=submit func_id=[-1,0,-1] fanin=2 fanout=0

=== TASK (0, 0) kind=submit func_id=[-1,0,-1] ===
FANIN 0
FANOUT 3
  -> (1, 0)
  -> (1, 1)
  -> (1, 3)

=== TASK (1, 0) kind=submit func_id=[-1,1,-1] ===
FANIN 1
  <- (0, 0)
FANOUT 1
  -> (1, 2)

=== TASK (1, 1) kind=submit func_id=[-1,1,-1] SPMD block num = 4 ===
FANIN 1
  <- (0, 0)
FANOUT 1
  -> (1, 2)

=== TASK (1, 2) kind=submit func_id=[2,-1,-1] ===
FANIN 2
  <- (1, 0)
  <- (1, 1)
FANOUT 1
  -> (1, 3)

=== TASK (1, 3) kind=submit func_id=[-1,0,-1] ===
FANIN 2
  <- (0, 0)
  <- (1, 2)
FANOUT 0
`

func vectorNames() *names.Map {
	return names.NewMap("", map[int64]string{0: "ADD", 1: "ADD_SCALAR", 2: "MUL"})
}

// TestWorkedExample1 of spec/deps.md §6.4: the text, and that reducing removes nothing.
func TestWorkedExample1(t *testing.T) {
	m := parseNamed(t, vector, vectorNames())
	if got := textOf(t, m.View(depview.Full, nil)); got != vectorText {
		t.Errorf("got\n%s", got)
	}
	v := m.View(depview.Reduced, nil)
	if got := textOf(t, v); got != vectorText {
		t.Errorf("reduced: got\n%s", got)
	}
	var out strings.Builder
	if v.WriteReduction(&out); out.String() != "Transitive reduction: removed 0 redundant edge(s) of 6 (6 kept)\n" {
		t.Errorf("got %q", out.String())
	}
	if n, ok := m.Node(4294967299); !ok || m.Text(n) != "(1, 3)" || !m.Early(n) || m.Name(n) != "ADD" {
		t.Errorf("task (1, 3): %v", ok)
	}
}

// one is a graph of a single task, which an empty entry leaves out of tasks[].
func one(entry string) string {
	if entry == "" {
		return `{"tasks":[],"tensors":[],"edges":[{"pred":1,"succ":2}]}`
	}
	return `{"tasks":[` + entry + `],"tensors":[],"edges":[]}`
}

// TestWorkedExample2 is the table of single facts of spec/deps.md §6.4.
func TestWorkedExample2(t *testing.T) {
	mul := names.NewMap("", map[int64]string{2: "kernel_mul"})
	other := names.NewMap("", map[int64]string{3: "kernel_sub"})
	for _, tt := range []struct {
		graph string
		names *names.Map
		want  []string
		core  string
	}{
		{one(""), nil, []string{"TASK 1 kind=alloc func_id=none fanin=0 fanout=1\n", "=== TASK 1 kind=alloc func_id=none ===\n"}, ""},
		{one(`{"task_id":1,"kernel_ids":[-1,-1,-1]}`), nil, []string{"TASK 1 kind=dummy func_id=none fanin=0 fanout=0\n"}, ""},
		{one(`{"task_id":1,"kernel_ids":[-1,2,-1]}`), nil, []string{"TASK 1 kind=submit func_id=[-1,2,-1] fanin=0 fanout=0\n", "func_name_map: no\n"}, "aiv"},
		{one(`{"task_id":1,"kernel_ids":[-1,2,-1]}`), mul, []string{"func_name_map: yes\n"}, "aiv"},
		// Decision 5: a fallback is no name.
		{one(`{"task_id":1,"kernel_ids":[-1,2,-1]}`), other, []string{"func_name_map: no\n"}, "aiv"},
		{one(`{"task_id":1,"kernel_ids":[-1,2,-1],"block_num":4}`), nil, []string{"TASK 1 kind=submit func_id=[-1,2,-1] SPMD block num = 4 fanin=0 fanout=0\n"}, "aiv"},
		{one(`{"task_id":1,"kernel_ids":[0,1,2]}`), nil, []string{"func_id=[0,1,2] "}, "mix"},
		{one(`{"task_id":1,"kernel_ids":[0,1,-1]}`), nil, []string{"func_id=[0,1,-1] "}, "mix"},
		{one(`{"task_id":1,"kernel_ids":[-1,3,4]}`), nil, []string{"func_id=[-1,3,4] "}, "aiv"},
		{one(`{"task_id":1,"kernel_ids":[0,-1,-1]}`), nil, []string{"func_id=[0,-1,-1] "}, "aic"},
		// Files of before kernel_ids (§3.5): a submit without slot data.
		{one(`{"task_id":1}`), nil, []string{"TASK 1 kind=submit func_id=unknown fanin=0 fanout=0\n"}, ""},
		// Decision 7: a dummy alone is a task too.
		{`{"tasks":[{"task_id":7,"kernel_ids":[-1,-1,-1]}],"edges":[]}`, nil, []string{"  tasks: 1\n", "TASK 7 kind=dummy"}, ""},
		// Decision 8: pairs of the oldest files.
		{`{"version":1,"edges":[[1,2],[2,3],[1,2]]}`, nil, []string{"  tasks: 3\n", "  unique_task_edges: 2\n", "  annotated_edges: 3\n", "TASK 2 kind=alloc func_id=none fanin=1 fanout=1\n"}, ""},
		// §5: of several entries the last one wins.
		{`{"tasks":[{"task_id":1,"kernel_ids":[0,-1,-1]},{"task_id":1,"kernel_ids":[-1,5,-1]}],"edges":[]}`, nil, []string{"  tasks: 1\n", "func_id=[-1,5,-1] "}, "aiv"},
	} {
		m := parseNamed(t, tt.graph, tt.names)
		got := textOf(t, m.View(depview.Full, nil))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", tt.graph, want, got)
			}
		}
		if core := m.CoreType(0); core != tt.core {
			t.Errorf("%s: core type %q, want %q", tt.graph, core, tt.core)
		}
	}
}

// TestIDText: spec/deps.md §6.3, spec/newest.md §4.2 and §12.
func TestIDText(t *testing.T) {
	const tmr, hbg = `"runtime":"tensormap_and_ringbuffer",`, `"runtime":"host_build_graph",`
	for _, tt := range []struct {
		runtime string
		ids     []uint64
		want    []string
	}{
		{"", []uint64{7, 9}, []string{"7", "9"}},
		{"", []uint64{0, 1<<32 | 3}, []string{"(0, 0)", "(1, 3)"}},
		{"", []uint64{255<<32 | 4294967295}, []string{"(255, 4294967295)"}},
		{tmr, []uint64{7}, []string{"r0t7"}},
		{tmr, []uint64{7, 1<<33 + 5}, []string{"r0t7", "r2t5"}},
		{hbg, []uint64{12, 1<<32 | 9}, []string{"12", "9"}},
		{hbg, []uint64{12, 4611686031312289792, 4611686048492158981, 9223372036854775810}, []string{"t12", "g3t0", "g7t5", "p2"}},
	} {
		var entries []string
		for _, id := range tt.ids {
			entries = append(entries, fmt.Sprintf(`{"task_id":"%d"}`, id))
		}
		m := parse(t, `{`+tt.runtime+`"tasks":[`+strings.Join(entries, ",")+`],"edges":[]}`)
		for n, want := range tt.want {
			if got := m.Text(int32(n)); got != want {
				t.Errorf("%s%v: got %s, want %s", tt.runtime, tt.ids, got, want)
			}
		}
	}
	// Ids that no runtime mints are shown, and counted.
	for text, want := range map[string]string{
		`{` + hbg + `"tasks":[{"task_id":"18446744073709551615"}],"edges":[]}`: "task_id 0xffffffffffffffff has id space 3",
		`{` + tmr + `"tasks":[{"task_id":"1099511627776"}],"edges":[]}`:        "task_id 0x0000010000000000 has ring 256",
		`{"tasks":[{"task_id":"1099511627776"}],"edges":[]}`:                   "1 id in dir/deps.json with bits above the high byte",
		`{"runtime":"magic","tasks":[],"edges":[]}`:                            "names the runtime 'magic', which this version does not know",
	} {
		if m := parse(t, text); len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], want) {
			t.Errorf("%s: got %q", text, m.Warnings)
		}
	}
}

// TestUnlisted: what is said of tasks that ran and are not in the file. A graph task
// has an entry without kernels, and its members have none.
func TestUnlisted(t *testing.T) {
	for text, want := range map[string]string{
		`{"tasks":[{"task_id":"3","kernel_ids":[-1,0,-1]}],"edges":[]}`:                                         "1 task that ran and that x.json does not list: shown as alloc; it may be the graph of another run",
		`{"tasks":[{"task_id":"3","kernel_ids":[-1,-1,-1]}],"edges":[]}`:                                        "1 task that ran and that x.json does not list: shown as alloc; they may be expanded from graph tasks, or it is the graph of another run",
		`{"runtime":"host_build_graph","tasks":[{"task_id":"0","kernel_ids":[-1,-1,-1]}],"edges":[]}`:           "1 task that ran and that x.json does not list: shown as alloc; they may be expanded from graph tasks, or it is the graph of another run",
		`{"tasks":[{"task_id":"7","kernel_ids":[-1,-1,-1]},{"task_id":"3","kernel_ids":[0,-1,-1]}],"edges":[]}`: "",
	} {
		graph, err := capture.ReadDepsDetailFrom(strings.NewReader(text), "x.json")
		if err != nil {
			t.Fatal(err)
		}
		m, err := depview.New(graph, nil, []uint64{7})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Warnings, "; "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestNodeWords are the examples of labels and hints of spec/deps.md §6.6.
func TestNodeWords(t *testing.T) {
	m := parseNamed(t, `{"tasks":[{"task_id":2,"kernel_ids":[0,-1,-1],"early_dispatch":true},{"task_id":3,"kernel_ids":[9,-1,-1]},{"task_id":4,"kernel_ids":[5,6,6]},
		{"task_id":5,"kernel_ids":[-1,-1,-1]},{"task_id":6},{"task_id":7,"kernel_ids":[0,9,-1]}],
		"edges":[[1,3],[2,3],[1,4],[2,5],[3,5]]}`, names.NewMap("", map[int64]string{9: "v_proj", 0: "q_proj"}))
	for n, want := range []string{"alloc|true false", "q_proj|true false", "v_proj|false true", "f5 + f6|false false", "dummy|false false", "unknown|false false", "q_proj + v_proj|false false"} {
		if got := fmt.Sprintf("%s|%v %v", m.Hint(int32(n)), m.Fire(int32(n)), m.Star(int32(n))); got != want {
			t.Errorf("task %d: got %s, want %s", n+1, got, want)
		}
	}
	if plain := parse(t, `{"tasks":[{"task_id":1,"kernel_ids":[-1,8,-1]}],"edges":[]}`); plain.Hint(0) != "f8" || plain.Name(0) != "" {
		t.Errorf("without a map: %q", plain.Hint(0))
	}
}

// TestModelAgainstMaps compares edges, rows and fans with what maps find, on graphs
// with ids in any order and repeated pairs.
func TestModelAgainstMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		ids := make([]uint64, 1+r.IntN(30))
		for i := range ids {
			ids[i] = r.Uint64() >> (r.IntN(3) * 30)
		}
		var rows, entries []string
		type pair struct{ p, s uint64 }
		want := map[pair][]int32{}
		nodes := map[uint64]bool{}
		for i := range r.IntN(80) {
			e := pair{ids[r.IntN(len(ids))], ids[r.IntN(len(ids))]}
			rows = append(rows, fmt.Sprintf(`{"pred":"%d","succ":"%d"}`, e.p, e.s))
			want[e] = append(want[e], int32(i))
			nodes[e.p], nodes[e.s] = true, true
		}
		for range r.IntN(10) {
			id := ids[r.IntN(len(ids))]
			entries = append(entries, fmt.Sprintf(`{"task_id":"%d"}`, id))
			nodes[id] = true
		}
		m := parse(t, `{"tasks":[`+strings.Join(entries, ",")+`],"edges":[`+strings.Join(rows, ",")+`]}`)
		if m.Nodes() != len(nodes) || m.Edges() != len(want) {
			t.Fatalf("%d nodes and %d edges, want %d and %d", m.Nodes(), m.Edges(), len(nodes), len(want))
		}
		fanIn, last := map[uint64]int{}, pair{}
		for e := range int32(m.Edges()) {
			p, s := m.Edge(e)
			x := pair{m.ID(p), m.ID(s)}
			if fmt.Sprint(m.Rows(e)) != fmt.Sprint(want[x]) || m.Find(p, s) != e {
				t.Fatalf("edge %v: rows %v, want %v", x, m.Rows(e), want[x])
			}
			if e > 0 && (x.p < last.p || x.p == last.p && x.s <= last.s) {
				t.Fatalf("%v stands behind %v", x, last)
			}
			last = x
			fanIn[x.s]++
		}
		for n := range int32(m.Nodes()) {
			if m.FanIn(n) != fanIn[m.ID(n)] || len(m.In(n)) != m.FanIn(n) {
				t.Fatalf("fan-in %d of %d, want %d", m.FanIn(n), m.ID(n), fanIn[m.ID(n)])
			}
			for i, e := range m.In(n) {
				p, s := m.Edge(e)
				if q, _ := m.Edge(m.In(n)[max(i-1, 0)]); s != n || i > 0 && p <= q {
					t.Fatalf("edge %d reaches %d", e, n)
				}
			}
		}
	}
}
