package depview_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/depview"
	"swimlane/internal/parity"
)

// references are the stored texts of a capture tree, by the directory of the capture.
func references(t *testing.T, name string) map[string]string {
	t.Helper()
	found := map[string]string{}
	root := filepath.Join(parity.Shared(t), "captures")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.TrimSuffix(d.Name(), ".gz") == name {
			found[filepath.Dir(filepath.Dir(path))] = string(parity.Unpacked(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 60 {
		t.Fatalf("only %d files called %s", len(found), name)
	}
	return found
}

// TestReferences holds the text of every capture against the stored ones, plain and
// reduced. What may differ is what docs/differences.md lists, and no more.
func TestReferences(t *testing.T) {
	for mode, name := range map[depview.Mode]string{depview.Full: "deps_viewer.txt", depview.Reduced: "deps_viewer_reduced.txt"} {
		alone, nodeNames := 0, 0
		for dir, want := range references(t, name) {
			if testing.Short() && strings.Contains(dir, "_large_") {
				continue
			}
			place, err := depview.Locate(dir)
			if err != nil {
				t.Fatal(err)
			}
			m, err := depview.Load(place, depview.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Sidecar == "" { // the reference says yes whenever it knows anything of a task
				want = strings.Replace(want, "perf_sidecar: yes", "perf_sidecar: no", 1)
				alone++
			}
			for _, w := range m.Warnings {
				switch {
				case strings.Contains(w, "it describes level 3 (its ids are the callables of a node, which must not name kernels)"):
					// The reference names kernels by the callables of a node.
					want = strings.Replace(want, "func_name_map: yes", "func_name_map: no", 1)
					nodeNames++
				case strings.HasPrefix(w, "12 tasks that ran and that ") && strings.HasSuffix(w, "expanded from graph tasks, shown as alloc") && strings.Contains(dir, "hbg_graph_execution_l4_deps"):
				default:
					t.Errorf("%s: %s", dir, w)
				}
			}
			// The references were made elsewhere.
			_, rest, _ := strings.Cut(want, "source_deps_json: ")
			m.Source, _, _ = strings.Cut(rest, "\n")
			var got bytes.Buffer
			if err := m.View(mode, nil).WriteText(&got); err != nil {
				t.Fatal(err)
			}
			if got.String() != want {
				t.Errorf("%s, %s: %s", dir, mode, firstDifference(got.String(), want))
			}
		}
		if alone != 4 || nodeNames != 1 {
			t.Errorf("%s: %d captures without records and %d with the names of a node, want 4 and 1", mode, alone, nodeNames)
		}
	}
}

// firstDifference shows the first lines in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got " + g[i] + ", want " + w[i]
		}
	}
	return "one text is longer"
}
