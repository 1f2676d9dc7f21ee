package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/depview"
	"swimlane/internal/depview/page"
	"swimlane/internal/names"
)

func model(t testing.TB, deps string, functions map[int64]string) *depview.Model {
	t.Helper()
	g, err := capture.ReadDepsDetailFrom(strings.NewReader(deps), "deps.json")
	if err != nil {
		t.Fatal(err)
	}
	var m *names.Map
	if functions != nil {
		m = names.NewMap("", functions)
	}
	v, err := depview.New(g, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// task is an entry of tasks[].
func task(id uint64, slots string, more ...string) string {
	return fmt.Sprintf(`{"task_id":"%d","kernel_ids":%s%s}`, id, slots, strings.Join(append([]string{""}, more...), ","))
}

// edge is a row of edges[].
func edge(pred, succ uint64, source string, more ...string) string {
	return fmt.Sprintf(`{"pred":"%d","succ":"%d","arg":0,"source":"%s"%s}`, pred, succ, source, strings.Join(append([]string{""}, more...), ","))
}

func graph(tasks, edges []string, tensors ...string) string {
	return fmt.Sprintf(`{"tasks":[%s],"tensors":[%s],"edges":[%s]}`, strings.Join(tasks, ","), strings.Join(tensors, ","), strings.Join(edges, ","))
}

func write(t testing.TB, v *depview.View, o page.Options) string {
	t.Helper()
	if o.Engine == "" {
		o.Engine = page.Engines[0]
	}
	if o.Direction == "" {
		o.Direction = page.Directions[0]
	}
	if o.Budget == 0 {
		o.Budget = 10 * page.Budget // tests may share a slow machine
	}
	var b bytes.Buffer
	r, err := page.Write(t.Context(), &b, v, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Nodes != v.Nodes() || r.Shown != v.ShownEdges() || r.Edges != v.Edges() {
		t.Errorf("%+v of a view of %d tasks, %d of %d edges", r, v.Nodes(), v.ShownEdges(), v.Edges())
	}
	return b.String()
}

// plain writes the page of a graph with default options.
func plain(t testing.TB, deps string, functions map[int64]string) string {
	t.Helper()
	return write(t, model(t, deps, functions).View(depview.Full, nil), page.Options{})
}

var dataElement = regexp.MustCompile(`<script type="application/json" id="graph-data" data-packing="(none|gzip)">([^<]*)</script>`)

// content is what is embedded in a page.
func content(t testing.TB, html string) map[string]any {
	t.Helper()
	m := dataElement.FindAllStringSubmatch(html, -1)
	if len(m) != 1 {
		t.Fatalf("%d elements with data", len(m))
	}
	text := []byte(m[0][2])
	if m[0][1] == "gzip" {
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[0][2])))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	d := map[string]any{}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// node is a node of the SVG.
type node struct {
	class string
	inner string // markup
	label string // text, without markup
	x, y  float64
}

var (
	nodeElement  = regexp.MustCompile(`<g class="node ([^"]*)" id="([^"]*)" data-n="\d+" transform="translate\(([-\d.]+) ([-\d.]+)\)">`)
	labelElement = regexp.MustCompile(`<text class="label"[^>]*>(.*?)</text>`)
	markup       = regexp.MustCompile(`<[^>]*>`)
)

// nodesOf are the nodes of a page's SVG by their ids.
func nodesOf(t testing.TB, html string) map[string]node {
	t.Helper()
	out := map[string]node{}
	at := nodeElement.FindAllStringSubmatchIndex(html, -1)
	for i, m := range at {
		end := strings.Index(html, "</svg>")
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		n := node{class: html[m[2]:m[3]], inner: html[m[1]:end]}
		if _, err := fmt.Sscan(html[m[6]:m[7]], &n.x); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(html[m[8]:m[9]], &n.y); err != nil {
			t.Fatal(err)
		}
		if l := labelElement.FindStringSubmatch(n.inner); l != nil {
			n.label = unescape.Replace(markup.ReplaceAllString(l[1], ""))
		}
		out[html[m[4]:m[5]]] = n
	}
	return out
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&")

var edgeElement = regexp.MustCompile(`<path class="(edge[^"]*)" data-e="(\d+)" d="([^"]*)"`)

// edgesOf are the classes of the edges in the order in which they are drawn, as "pred→succ class".
func edgesOf(t testing.TB, html string, m *depview.Model) []string {
	t.Helper()
	var out []string
	for _, e := range edgeElement.FindAllStringSubmatch(html, -1) {
		var n int32
		if _, err := fmt.Sscan(e[2], &n); err != nil {
			t.Fatal(err)
		}
		p, s := m.Edge(n)
		out = append(out, m.Text(p)+"→"+m.Text(s)+" "+e[1])
	}
	return out
}

func keysOf[V any](m map[string]V) []string {
	var list []string
	for k := range maps.Keys(m) {
		list = append(list, k)
	}
	return list
}
