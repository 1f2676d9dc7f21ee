package depview_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/depview"
	"swimlane/internal/names"
)

// FuzzViews shows anything that is a graph, in every way: nothing fails, figures agree
// with each other, and JSON is JSON.
func FuzzViews(f *testing.F) {
	for _, text := range []string{
		vector, lifetime.text(), `{"version":1,"edges":[[1,2],[2,3],[1,2]]}`, `{"edges":[[1,2],[2,1],[3,3]]}`, `{"runtime":"host_build_graph","edges":[["4611686031312289792",18446744073709551615]]}`,
		`{"runtime":"tensormap_and_ringbuffer","tasks":[{"task_id":"1099511627776","args":[{"idx":0,"type":"INOUT","dtype":"a\nb","shape":[0]}]}],"edges":[]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		graph, err := capture.ReadDepsDetailFrom(strings.NewReader(text), "deps.json")
		if err != nil {
			return
		}
		m, err := depview.New(graph, names.NewMap("", map[int64]string{0: "a"}), graph.Succ)
		if err != nil {
			t.Fatal(err)
		}
		full := m.View(depview.Full, nil)
		if full.ShownEdges() != m.Edges() || full.ShownRows() != len(graph.Pred) {
			t.Fatalf("%d of %d edges, %d of %d rows", full.ShownEdges(), m.Edges(), full.ShownRows(), len(graph.Pred))
		}
		for _, pair := range [][2]depview.Mode{{depview.Reduced, depview.Omitted}, {depview.ReducedDataflow, depview.OmittedDataflow}} {
			kept, gone := m.View(pair[0], nil), m.View(pair[1], nil)
			if kept.Cyclic != gone.Cyclic || !kept.Cyclic && kept.ShownEdges()+gone.ShownEdges() != m.Edges() {
				t.Fatalf("%s shows %d, %s %d of %d", pair[0], kept.ShownEdges(), pair[1], gone.ShownEdges(), m.Edges())
			}
			checkForms(t, kept)
			checkForms(t, gone)
		}
		checkForms(t, full)
		for n := range int32(min(m.Nodes(), 4)) {
			if again, err := m.Parse(m.Text(n)); err != nil && len(m.Warnings) == 0 {
				t.Fatalf("%s is no id of its own: %d, %v", m.Text(n), again, err)
			}
			checkForms(t, full.Near(n, 2, depview.All))
			last := int32(m.Nodes() - 1)
			if c, err := full.Chain(n, last); err == nil {
				checkForms(t, c)
			} else if n != last {
				t.Fatal(err)
			}
		}
	})
}

// checkForms writes both forms of a view.
func checkForms(t *testing.T, v interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
}) {
	t.Helper()
	var text, js strings.Builder
	if err := v.WriteText(&text); err != nil || !strings.HasSuffix(text.String(), "\n") {
		t.Fatalf("%v: %q", err, text.String())
	}
	if slices.Contains([]byte(text.String()), 0) {
		t.Fatalf("a zero byte in %q", text.String())
	}
	if err := v.WriteJSON(&js); err != nil || !json.Valid([]byte(js.String())) {
		t.Fatalf("%v: %s", err, js.String())
	}
}
