package draw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/internal/trace/mark"
	"swimlane/timeline"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// TestMarked: drawing a path is the same as drawing everything and taking the names
// away afterwards.
func TestMarked(t *testing.T) {
	dirs := []string{filepath.Join(parity.Root(t), "testdata", "small")}
	shared := filepath.Join(filepath.Dir(parity.Root(t)), "shared", "captures")
	for _, name := range []string{"a5sim_tmr_mixed_example_l4_deps__TestMixedExample_case1", "gs_a2a3_hbg_graph_nodes_l4", "a2a3sim_hbg_paged_attention_l4_deps"} {
		if _, err := os.Stat(filepath.Join(shared, name)); err == nil { // the small capture is enough elsewhere
			dirs = append(dirs, filepath.Join(shared, name))
		}
	}
	for _, dir := range dirs {
		rec, err := capture.Read(filepath.Join(dir, capture.FileName), capture.Options{})
		if err != nil {
			t.Fatal(err)
		}
		deps, err := capture.ReadDeps(filepath.Join(dir, capture.DepsFileName), nil)
		if err != nil {
			t.Fatal(err)
		}
		graph, err := taskgraph.New(deps)
		if err != nil {
			t.Fatal(err)
		}
		tl, err := timeline.New(rec, graph)
		if err != nil {
			t.Fatal(err)
		}
		pic, err := draw.New(tl, draw.Options{})
		if err != nil {
			t.Fatal(err)
		}
		write := func(p *trace.Picture) []byte {
			var b bytes.Buffer
			if _, err := chrome.Write(context.Background(), &b, p, chrome.Options{}); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		on := func(task int32) bool { return task%2 == 0 }
		marked := write(pic.Marked(on))
		var copied bytes.Buffer
		if _, err := mark.Trace(context.Background(), bytes.NewReader(write(pic.Trace())), []mark.Copy{{W: &copied, On: func(id uint64) bool { return on(tl.Tasks.Find(0, id)) }}},
			mark.Options{Label: func(b []byte, id uint64) []byte { return names.AppendTaskID(b, rec.Dialect.IDs, id) }}); err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(marked, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(copied.Bytes(), &b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: drawn and copied pictures differ", dir)
		}
		if n := strings.Count(string(marked), `"name":"·(`); n == 0 || n >= tl.Rows.Len() {
			t.Errorf("%s: %d of %d bars are marked", dir, n, tl.Rows.Len())
		}
	}
}
