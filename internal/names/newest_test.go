package names_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swimlane/internal/names"
)

// TestFindForGraph: spec/deps.md §6.3 and decision 4; maps of another level stay out
// (spec/name-map.md, question 3), and nothing fails.
func TestFindForGraph(t *testing.T) {
	type file struct {
		name, text string
		age        int // seconds
	}
	for _, tt := range []struct {
		name      string
		files     []file
		funcNames string
		label     string // name of function 7
		warnings  []string
	}{
		{name: "none"},
		{name: "the bare name", files: []file{{"name_map.json", `{"callable_id_to_name":{"7":"kernel_add"}}`, 0}}, label: "kernel_add"},
		{name: "a flat map", files: []file{{"name_map.json", `{"7":"flat","x":"y","8":5}`, 0}}, label: "flat"},
		{name: "the newest of several", files: []file{{"name_map_a.json", `{"7":"new"}`, 1}, {"name_map_b.json", `{"7":"old"}`, 100}, {"name_map_c.json", `{"7":"older"}`, 200}}, label: "new",
			warnings: []string{"several name maps lie beside DIR/deps.json; using name_map_a.json, the newest (not name_map_b.json, name_map_c.json); pass --func-names to choose."}},
		{name: "the later name of two as new", files: []file{{"name_map_a.json", `{"7":"a"}`, 1}, {"name_map_b.json", `{"7":"b"}`, 1}}, label: "b",
			warnings: []string{"several name maps lie beside DIR/deps.json; using name_map_b.json, the newest (not name_map_a.json); pass --func-names to choose."}},
		{name: "one of a node is none of several", files: []file{{"name_map_a.json", `{"level":2,"callable_id_to_name":{"7":"chip"}}`, 9}, {"name_map_b.json", `{"level":3,"callable_id_to_name":{"7":"node"}}`, 1}}, label: "chip"},
		{name: "only one of a node", files: []file{{"name_map_b.json", `{"level":3,"callable_id_to_name":{"7":"node"}}`, 1}},
			warnings: []string{"sibling name map ignored next to DIR/deps.json: name_map_b.json; it describes level 3 (its ids are the callables of a node, which must not name kernels), the data is of level 2."}},
		{name: "broken", files: []file{{"name_map.json", `{"7":`, 0}},
			warnings: []string{"couldn't read DIR/name_map.json: DIR/name_map.json:1:6 (byte 5): found the end of the file, expected a value; the file is incomplete; functions have no names"}},
		{name: "named", files: []file{{"name_map.json", `{"7":"sibling"}`, 0}, {"other.json", `{"7":"explicit"}`, 0}}, funcNames: "other.json", label: "explicit"},
		{name: "named and missing", files: []file{{"name_map.json", `{"7":"sibling"}`, 0}}, funcNames: "other.json",
			warnings: []string{"couldn't read DIR/other.json: Func names JSON not found: DIR/other.json; functions have no names"}},
		{name: "named, of a node", files: []file{{"l3.json", `{"level":3,"callable_id_to_name":{"7":"node"}}`, 0}}, funcNames: "l3.json",
			warnings: []string{"the names of DIR/l3.json are ignored: it describes level 3 (its ids are the callables of a node, which must not name kernels), the data is of level 2; pass a name map of level 2."}},
		{name: "a full map is not flat", files: []file{{"name_map.json", `{"callable_id_to_name":{"8":"other"},"7":"x"}`, 0}}},
	} {
		dir, now := t.TempDir(), time.Now()
		for _, f := range tt.files {
			path := writeFile(t, dir, f.name, f.text)
			at := now.Add(-time.Duration(f.age) * time.Second)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		req := names.Request{Input: filepath.Join(dir, "deps.json"), Level: 2}
		if tt.funcNames != "" {
			req.FuncNames = filepath.Join(dir, tt.funcNames)
		}
		got := names.FindForGraph(req)
		label, _ := got.Map.Name(7)
		said := strings.ReplaceAll(strings.Join(got.Warnings, "\n"), dir, "DIR")
		if label != tt.label || said != strings.Join(tt.warnings, "\n") {
			t.Errorf("%s: got %q and %s", tt.name, label, said)
		}
	}
	if got := names.FindForGraph(names.Request{Input: "-"}); got.Map != nil || got.Warnings != nil {
		t.Errorf("beside the standard input: %+v", got)
	}
}
