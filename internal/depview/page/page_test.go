package page_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/internal/depview"
	"swimlane/internal/depview/page"
	"swimlane/internal/graphviz"
	"swimlane/internal/parity"
)

// The cases of spec/deps.md §6.6, "Label".
func TestLabels(t *testing.T) {
	early := `"early_dispatch":true`
	for _, c := range []struct {
		name, deps string
		want       map[string]string
	}{
		{"alloc without edges", graph(nil, []string{edge(1, 2, "creator")}), map[string]string{"T0_1": "🔥 1 · alloc ↓0 ↑1"}},
		{"two allocs", graph([]string{task(3, "[-1,2,-1]")}, []string{edge(1, 3, "creator"), edge(2, 3, "creator")}),
			map[string]string{"T0_1": "🔥 1 · alloc ↓0 ↑1", "T0_2": "🔥 2 · alloc ↓0 ↑1", "T0_3": "3 ↓2 ↑0"}},
		{"an alloc and an early one", graph([]string{task(2, "[-1,2,-1]", early), task(3, "[-1,2,-1]")}, []string{edge(1, 3, "creator"), edge(2, 3, "creator")}),
			map[string]string{"T0_2": "🔥 2 ↓0 ↑1", "T0_3": "⭐ 3 ↓2 ↑0"}},
		{"an ordinary one among them", graph([]string{task(2, "[-1,2,-1]", early), task(3, "[-1,2,-1]"), task(4, "[-1,2,-1]")}, []string{edge(1, 4, "creator"), edge(2, 4, "creator"), edge(3, 4, "creator")}),
			map[string]string{"T0_4": "4 ↓3 ↑0"}},
		{"both marks", graph([]string{task(2, "[-1,2,-1]", early), task(3, "[-1,2,-1]", early)}, []string{edge(2, 3, "creator")}),
			map[string]string{"T0_3": "🔥⭐ 3 ↓1 ↑0"}},
		{"four blocks", graph([]string{task(1, "[-1,2,-1]", `"block_num":4`)}, nil), map[string]string{"T0_1": "1 ↓0 ↑0"}},
		{"dummy", graph([]string{task(1, "[-1,-1,-1]")}, nil), map[string]string{"T0_1": "1 · dummy ↓0 ↑0"}},
	} {
		html := plain(t, c.deps, nil)
		nodes, data := nodesOf(t, html), content(t, html)["nodes"].(map[string]any)
		for key, want := range c.want {
			if got := nodes[key].label; got != want {
				t.Errorf("%s: %s is labelled %q, want %q", c.name, key, got, want)
			}
			if got := data[key].(map[string]any)["label"]; got != want {
				t.Errorf("%s: the data of %s has the label %q, want %q", c.name, key, got, want)
			}
		}
	}
	named := nodesOf(t, plain(t, graph([]string{task(1, "[0,1,-1]")}, nil), map[int64]string{0: "QK", 1: "SF"}))
	if got, want := named["T0_1"].label, "1 · QK + SF ↓0 ↑0"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
}

// A long label has lines, whose texts together are the label.
func TestLongLabels(t *testing.T) {
	nodes := nodesOf(t, plain(t, graph([]string{task(7, "[0,1,2]")}, nil), map[int64]string{0: "SPMD_MIX_AIC", 1: "SPMD_MIX_AIV0", 2: "SPMD_MIX_AIV1"}))
	n := nodes["T0_7"]
	if want := "7 · SPMD_MIX_AIC + SPMD_MIX_AIV0 + SPMD_MIX_AIV1 ↓0 ↑0"; n.label != want || strings.Count(n.inner, "<tspan") != 4 {
		t.Errorf("%q in %d lines, want %q in 4", n.label, strings.Count(n.inner, "<tspan"), want)
	}
}

// The table "Node look" of spec/deps.md §6.6.
func TestLooks(t *testing.T) {
	html := plain(t, graph([]string{
		task(1, "[0,-1,-1]"), task(2, "[-1,1,-1]"), task(3, "[0,1,-1]"), task(4, "[-1,-1,-1]"), task(5, "[-1,3,4]", `"block_num":8`), `{"task_id":"6"}`,
	}, []string{edge(9, 1, "creator")}), nil)
	nodes := nodesOf(t, html)
	for key, want := range map[string]struct{ class, shape, fill string }{
		"T0_1": {"aic", `<rect class="shape" rx="6"`, "#66A3FF"},
		"T0_2": {"aiv", "<ellipse", "#FFB366"},
		"T0_3": {"mix", `<path class="shape" d="M`, "#66CC99"},
		"T0_4": {"other dummy", `<rect class="shape" rx="6"`, "#E0E0E0"},
		"T0_5": {"aiv spmd", "<ellipse", "#FFB366"},
		"T0_6": {"other submit", `<rect class="shape" rx="6"`, "#E0E0E0"},
		"T0_9": {"alloc", `<path class="shape" stroke-dasharray=`, "#EAEAEA"},
	} {
		n := nodes[key]
		if n.class != want.class || !strings.Contains(n.inner, want.shape) || !strings.Contains(n.inner, `fill="`+want.fill+`"`) {
			t.Errorf("%s is %q: %s\nwant %+v", key, n.class, n.inner, want)
		}
		spmd := strings.Contains(n.inner, `stroke="#C62828" stroke-width="1.5"`) && strings.Contains(n.inner, ">x8<title>SPMD block num: 8</title>")
		if spmd != (key == "T0_5") {
			t.Errorf("%s: SPMD %v", key, spmd)
		}
	}
	if got, want := content(t, html)["spmd"], map[string]any{"T0_5": 8.0}; !reflect.DeepEqual(got, want) {
		t.Errorf("spmd %v, want %v", got, want)
	}
}

func hints(t *testing.T, html, key, which string) string {
	t.Helper()
	n := content(t, html)["nodes"].(map[string]any)[key].(map[string]any)
	if which != "pred_by_hint" && which != "succ_by_hint" {
		return fmt.Sprint(n[which])
	}
	var list []string
	for _, pair := range n[which].([]any) {
		list = append(list, fmt.Sprint(pair.([]any)[0], " ", pair.([]any)[1]))
	}
	return strings.Join(list, ", ")
}

// The examples of spec/deps.md §6.6, "Embedded data", and worked example 1.
func TestEmbeddedData(t *testing.T) {
	html := plain(t, graph(
		[]string{task(2, "[1,-1,-1]"), task(3, "[2,-1,-1]"), task(4, "[1,-1,-1]"), task(5, "[9,-1,-1]")},
		[]string{edge(1, 5, "creator"), edge(2, 5, "creator"), edge(3, 5, "creator"), edge(4, 5, "creator"), edge(5, 1, "explicit")},
	), map[int64]string{1: "q_proj", 2: "k_proj", 9: "v_proj"})
	for which, want := range map[string]string{"fanin": "4", "fanout": "1", "name_hint": "v_proj", "pred_by_hint": "q_proj 2, alloc 1, k_proj 1", "succ_by_hint": "alloc 1"} {
		if got := hints(t, html, "T0_5", which); got != want {
			t.Errorf("T0_5: %s is %s, want %s", which, got, want)
		}
	}
	html = worked(t)
	if got, want := hints(t, html, "T1_3", "pred_by_hint"), "ADD 1, MUL 1"; got != want {
		t.Errorf("T1_3: %s, want %s", got, want)
	}
	if got, want := hints(t, html, "T1_2", "pred_by_hint"), "ADD_SCALAR 2"; got != want {
		t.Errorf("T1_2: %s, want %s", got, want)
	}
	if got, want := content(t, html)["spmd"], map[string]any{"T1_1": 4.0}; !reflect.DeepEqual(got, want) {
		t.Errorf("spmd %v, want %v", got, want)
	}
	if got, want := nodesOf(t, html)["T1_3"].label, "🔥 (1, 3) · ADD ↓2 ↑0"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
	if title := "<title>deps.json — 5 nodes, 6 edges</title>"; !strings.Contains(html, title) {
		t.Errorf("no %s", title)
	}
	// A task without a name goes by its function, one without anything is unknown.
	html = plain(t, graph([]string{task(1, "[-1,7,-1]"), `{"task_id":"2"}`}, nil), nil)
	if a, b := hints(t, html, "T0_1", "name_hint"), hints(t, html, "T0_2", "name_hint"); a != "f7" || b != "unknown" {
		t.Errorf("hints %q and %q", a, b)
	}
}

// worked is the page of worked example 1.
func worked(t *testing.T) string {
	t.Helper()
	r := func(local uint64) uint64 { return 1<<32 | local }
	return plain(t, graph([]string{task(0, "[-1,0,-1]"), task(r(0), "[-1,1,-1]"), task(r(1), "[-1,1,-1]", `"block_num":4`), task(r(2), "[2,-1,-1]"), task(r(3), "[-1,0,-1]", `"early_dispatch":true`)},
		[]string{edge(0, r(0), "creator"), edge(0, r(1), "creator"), edge(r(0), r(2), "creator"), edge(r(1), r(2), "creator"), edge(0, r(3), "creator"), edge(r(2), r(3), "creator")}),
		map[int64]string{0: "ADD", 1: "ADD_SCALAR", 2: "MUL"})
}

// The HTML rows of the table of spec/deps.md §6.5: hidden edges lie below all else, and
// fans count all edges.
func TestHiddenEdges(t *testing.T) {
	r := func(local uint64) uint64 { return 1<<32 | local }
	m := model(t, graph([]string{task(r(1), "[0,-1,-1]"), task(r(2), "[0,-1,-1]"), task(r(3), "[0,-1,-1]")},
		[]string{edge(r(1), r(2), "explicit"), edge(r(2), r(3), "explicit"), edge(r(1), r(3), "explicit")}), nil)
	for mode, want := range map[depview.Mode][]string{
		depview.Full:            {"(1, 1)→(1, 2) edge", "(1, 1)→(1, 3) edge", "(1, 2)→(1, 3) edge"},
		depview.Reduced:         {"(1, 1)→(1, 3) edge hidden", "(1, 1)→(1, 2) edge", "(1, 2)→(1, 3) edge"},
		depview.ReducedDataflow: {"(1, 1)→(1, 3) edge hidden", "(1, 1)→(1, 2) edge", "(1, 2)→(1, 3) edge"},
		depview.Omitted:         {"(1, 1)→(1, 2) edge hidden", "(1, 2)→(1, 3) edge hidden", "(1, 1)→(1, 3) edge"},
		depview.OmittedDataflow: {"(1, 1)→(1, 2) edge hidden", "(1, 2)→(1, 3) edge hidden", "(1, 1)→(1, 3) edge"},
	} {
		html := write(t, m.View(mode, nil), page.Options{})
		if got := edgesOf(t, html, m); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
		hidden := 0
		for _, e := range want {
			if strings.HasSuffix(e, "hidden") {
				hidden++
			}
		}
		d := content(t, html)
		if len(d["hidden"].([]any)) != hidden || d["shown"] != float64(3-hidden) {
			t.Errorf("%s: hidden %v, shown %v", mode, d["hidden"], d["shown"])
		}
		if title := fmt.Sprintf("<title>deps.json — 3 nodes, %d edges</title>", 3-hidden); !strings.Contains(html, title) {
			t.Errorf("%s: no %s", mode, title)
		}
		if got, want := nodesOf(t, html)["T1_3"].label, "(1, 3) ↓2 ↑0"; got != want {
			t.Errorf("%s: label %q, want %q", mode, got, want)
		}
	}
}

// The tensor view of spec/deps.md §6.6.
func TestTensorView(t *testing.T) {
	slice := `"tensor_id":"70","dtype":"FLOAT32","shape":[2,4],"start_offset":"8","strides":[16,1]`
	m := model(t, graph([]string{
		task(1, "[0,-1,-1]", `"args":[{"idx":0,"type":"OUTPUT"}]`),
		task(2, "[-1,1,-1]", `"args":[{"idx":0,"type":"INPUT",`+slice+`},{"idx":1,"type":"INOUT","tensor_id":"123456"},{"idx":2,"type":"OUTPUT"},{"idx":3,"type":"OUTPUT"}]`),
	}, []string{
		edge(1, 2, "creator", `"tensor_id":"70"`),
		edge(1, 2, "tensormap", `"tensor_id":"70","overlap":"other"`),
		edge(1, 2, "tensormap", `"tensor_id":"70","overlap":"covered"`),
		edge(3, 2, "explicit"),
	}, `{"tensor_id":"70","buffer_addr":"4096","version":0,"dtype":"FLOAT32","buffer_numel":"128"}`), nil)
	html := write(t, m.View(depview.Full, nil), page.Options{TensorInfo: true})
	nodes := nodesOf(t, html)
	text := func(key string) string {
		s := strings.ReplaceAll(nodes[key].inner, "</text>", "\n")
		return unescape.Replace(markup.ReplaceAllString(s, ""))
	}
	// The only OUTPUT of 1 takes the tensor that its consumer names.
	if got, want := text("T0_1"), "1 ↓0 ↑1\narg0 OUTPUT ? T0:float32\nstorage: 128 elems\nshape: [128]\nstrides: [1]\nstart_offset: 0 (elem)\n"; got != want {
		t.Errorf("task 1:\n%s\nwant\n%s", got, want)
	}
	input := "arg0 INPUT T0:float32\nstorage: 128 elems\nshape: [2, 4]\nstrides: [16, 1]\nstart_offset: 8 (elem)\n"
	inout := "arg1 INOUT T?e240:?\nstorage: ?\nshape: ?\nstrides: ?\nstart_offset: ?\n" // 123456 = 0x1e240
	if got, want := text("T0_2"), input+inout+"⭐"; !strings.HasPrefix(got, input+inout) {
		t.Errorf("task 2:\n%s\nwant\n%s…", got, want)
	}
	if got, want := text("T0_2"), "2 ↓2 ↑0\n"+inout+"arg2 OUTPUT (alloc)\narg3 OUTPUT (alloc)\n"; !strings.HasSuffix(got, want) {
		t.Errorf("task 2:\n%s\nwant …\n%s", got, want)
	}
	if got := text("T0_3"); got != "🔥 3 · alloc ↓0 ↑1\n" {
		t.Errorf("an alloc has no table: %s", got)
	}
	for s, want := range map[string]int{`fill="#EAF2FF"`: 2, `fill="#FFF2E5"`: 4, `<path class="edge"`: 3, `<path class="edge explicit"`: 1, `<text class="overlap"`: 1, ">other</text>": 1} {
		if got := strings.Count(html[strings.Index(html, "<svg"):strings.Index(html, "</svg>")], s); got != want {
			t.Errorf("%d × %s, want %d", got, s, want)
		}
	}
}

// Nothing is loaded from anywhere.
func TestSelfContained(t *testing.T) {
	html := worked(t)
	frame := dataElement.ReplaceAllString(html, "")
	for _, bad := range []string{`\bsrc\s*=`, `\bhref\s*=`, `https?:`, `//[a-z]+\.`, `@import`, `url\((?:[^#]|$)`, `\bfetch\(`, `XMLHttpRequest`, `\bimport\b`, `<link`, `<iframe`, `<object`, `<embed`} {
		for _, m := range regexp.MustCompile(bad).FindAllStringIndex(frame, -1) {
			t.Errorf("%s: …%s…", bad, frame[max(0, m[0]-30):min(len(frame), m[1]+30)])
		}
	}
	if !strings.Contains(html, `content="default-src 'none';`) {
		t.Error("the page does not forbid loading")
	}
}

// No name can leave the place it is written in.
func TestHostileNames(t *testing.T) {
	evil := []string{`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><b>`, `'--><!--`, "a\u2028b", "ctl\x01\x00end", `{{script}}`, `&lt;`, "]]>"}
	var tasks []string
	functions := map[int64]string{}
	for i, name := range evil {
		tasks = append(tasks, task(uint64(i), fmt.Sprintf("[%d,-1,-1]", i)))
		functions[int64(i)] = name
	}
	html := plain(t, graph(tasks, nil), functions)
	if n := strings.Count(strings.ToLower(html), "</script"); n != 2 {
		t.Errorf("%d ends of scripts, want 2", n)
	}
	if n := strings.Count(html, "<img"); n != 0 {
		t.Errorf("%d images", n)
	}
	if strings.ContainsAny(html, "\x00\x01") {
		t.Error("control characters")
	}
	data := content(t, html)["nodes"].(map[string]any)
	nodes := nodesOf(t, html)
	for i, name := range evil {
		key := fmt.Sprint("T0_", i)
		if got := data[key].(map[string]any)["name_hint"]; got != name {
			t.Errorf("name %q, want %q", got, name)
		}
		want := fmt.Sprintf("%d · %s ↓0 ↑0", i, strings.NewReplacer("\x00", "\uFFFD", "\x01", "\uFFFD").Replace(name))
		if got := nodes[key].label; got != want {
			t.Errorf("label %q, want %q", got, want)
		}
	}
}

func shared(t *testing.T, capture ...string) *depview.Model {
	t.Helper()
	dir := filepath.Join(append([]string{parity.Shared(t), "captures"}, capture...)...)
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	place, err := depview.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := depview.Load(place, depview.Options{Times: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCapturesWithOddNames(t *testing.T) {
	for _, dir := range []string{"names_special", "names_unicode"} {
		m := shared(t, "edge", dir)
		html := write(t, m.View(depview.Full, nil), page.Options{})
		if n := strings.Count(html, "</script"); n != 2 {
			t.Errorf("%s: %d ends of scripts, want 2", dir, n)
		}
		data := content(t, html)["nodes"].(map[string]any)
		if len(data) != m.Nodes() || m.Nodes() == 0 {
			t.Errorf("%s: data of %d nodes of %d", dir, len(data), m.Nodes())
		}
		for n := range m.Nodes() {
			key := fmt.Sprintf("T%d_%d", m.ID(int32(n))>>32, m.ID(int32(n))&0xffffffff)
			if got, want := data[key].(map[string]any)["name_hint"], m.Hint(int32(n)); got != want {
				t.Errorf("%s: %s is %q, want %q", dir, key, got, want)
			}
		}
	}
}

// Kernel times come with the records, in µs.
func TestTimes(t *testing.T) {
	m := shared(t, "gs_a2a3_tmr_mixed_l2")
	d := content(t, write(t, m.View(depview.Full, nil), page.Options{}))
	took := d["took"].([]any)
	if len(took) != m.Nodes() {
		t.Fatalf("%d times of %d tasks", len(took), m.Nodes())
	}
	timed := 0
	for n, v := range took {
		x := m.Timing(int32(n))
		switch {
		case x.Rows == 0 && v != nil:
			t.Errorf("task %d has the time %v and no row", n, v)
		case x.Rows > 0:
			timed++
			if want := float64(x.End-x.Start) / 1000; v != want {
				t.Errorf("task %d took %v µs, want %v", n, v, want)
			}
		}
	}
	if timed == 0 {
		t.Error("no task has a time")
	}
	if d := content(t, worked(t)); d["took"] != nil {
		t.Error("times without records")
	}
}

func TestSameBytes(t *testing.T) {
	for name, deps := range map[string]string{"svg": chains(40, 5), "canvas": chains(900, 5)} {
		v := model(t, deps, nil).View(depview.Reduced, nil)
		if a, b := write(t, v, page.Options{}), write(t, v, page.Options{}); a != b {
			t.Errorf("%s: two pages differ", name)
		}
	}
}

// chains is a graph of equal chains of tasks.
func chains(count, length int) string {
	var tasks, edges []string
	for c := range count {
		for i := range length {
			id := uint64(c*length + i)
			tasks = append(tasks, task(id, "[0,-1,-1]"))
			if i > 0 {
				edges = append(edges, edge(id-1, id, "creator"))
			}
		}
	}
	return graph(tasks, edges)
}

// Large graphs are packed and painted by the browser; what cannot be laid out opens on a
// neighbourhood.
func TestForms(t *testing.T) {
	large := model(t, chains(500, 5), nil).View(depview.Full, nil)
	for _, c := range []struct {
		form   string
		budget time.Duration
	}{{"canvas", 0}, {"near", time.Nanosecond}} {
		html := write(t, large, page.Options{Budget: c.budget})
		d := content(t, html)
		if d["view"] != c.form || strings.Contains(html, "<svg id=") || !strings.Contains(html, `data-packing="gzip"`) || !strings.Contains(html, `data-form="`+c.form+`"`) {
			t.Errorf("view %v, want %s, packed, without SVG", d["view"], c.form)
		}
		if n := len(d["key"].([]any)); n != 2500 {
			t.Errorf("%d keys", n)
		}
		if _, places := d["x"]; places != (c.form == "canvas") {
			t.Errorf("%s: places: %v", c.form, places)
		}
	}
	// The script reads lists without asking whether they are there.
	for key, v := range content(t, plain(t, graph([]string{task(1, "[0,-1,-1]")}, nil), nil)) {
		if v == nil {
			t.Errorf("%s is null", key)
		}
	}
	if n := len(nodesOf(t, write(t, model(t, graph(nil, nil), nil).View(depview.Full, nil), page.Options{}))); n != 0 {
		t.Errorf("%d nodes of an empty graph", n)
	}
}

// Whatever the engine, no node lies on another; with dot edges go along the direction.
func TestPlaces(t *testing.T) {
	m := shared(t, "a2a3sim_tmr_paged_attention_l4_deps")
	v := m.View(depview.Full, nil)
	for _, engine := range page.Engines {
		for _, direction := range page.Directions {
			if engine != "dot" && direction != "LR" {
				continue
			}
			html := write(t, v, page.Options{Engine: engine, Direction: direction})
			nodes := nodesOf(t, html)
			if len(nodes) != m.Nodes() {
				t.Fatalf("%s: %d nodes of %d: %v", engine, len(nodes), m.Nodes(), keysOf(nodes))
			}
			for a, p := range nodes {
				for b, q := range nodes {
					if a < b && abs(p.x-q.x) < 60 && abs(p.y-q.y) < 24 { // the least node is larger
						t.Errorf("%s %s: %s and %s are at %v, %v and %v, %v", engine, direction, a, b, p.x, p.y, q.x, q.y)
					}
				}
			}
			if engine != "dot" {
				continue
			}
			for e := range m.Edges() {
				a, b := m.Edge(int32(e))
				p, q := nodes[key(m, a)], nodes[key(m, b)]
				if d := map[string]float64{"LR": q.x - p.x, "RL": p.x - q.x, "TB": q.y - p.y, "BT": p.y - q.y}[direction]; d < 30 {
					t.Errorf("%s: the edge %s → %s goes %v along it", direction, m.Text(a), m.Text(b), d)
				}
			}
		}
	}
}

func key(m *depview.Model, n int32) string {
	return fmt.Sprintf("T%d_%d", m.ID(n)>>32, m.ID(n)&0xffffffff)
}

func abs(v float64) float64 { return max(v, -v) }

// Field report 79: a graph of dense layers, which no engine lays out in the time, still
// gives a page with all of it to search.
func TestField79DenseGraph(t *testing.T) {
	const nodes, fan = 2_500, 100
	var tasks, edges []string
	for n := range uint64(nodes) {
		tasks = append(tasks, task(n, "[0,-1,-1]"))
		for k := range uint64(fan) {
			if layer := n / fan * fan; layer >= fan {
				edges = append(edges, edge(layer-fan+k, n, "creator"))
			}
		}
	}
	d := content(t, plain(t, graph(tasks, edges), nil))
	if d["view"] != "near" || len(d["key"].([]any)) != nodes || len(d["pred"].([]any)) != (nodes-fan)*fan {
		t.Errorf("view %v with %d tasks and %d edges, want near, %d and %d", d["view"], len(d["key"].([]any)), len(d["pred"].([]any)), nodes, (nodes-fan)*fan)
	}
}

// Graphviz's circo gives the tasks of this graph no numbers for places. That is an error
// in one line, and no page.
func TestEngineFails(t *testing.T) {
	v := shared(t, "a2a3sim_hbg_paged_attention_medium_l4_deps").View(depview.Full, nil)
	var b bytes.Buffer
	_, err := page.Write(t.Context(), &b, v, page.Options{Engine: "circo", Direction: "LR", Budget: time.Minute})
	var f *graphviz.Failure
	if !errors.As(err, &f) || !strings.Contains(err.Error(), "another --engine may lay this graph out") || strings.Contains(err.Error(), "\n") || b.Len() > 0 {
		t.Errorf("error %v, %d bytes", err, b.Len())
	}
}
