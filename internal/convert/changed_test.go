package convert

import (
	"os"
	"path/filepath"
	"testing"

	"swimlane/capture"
)

// TestGraphThatChanges: a graph that is written to while it is read is not used, and
// the warning says when it can be.
func TestGraphThatChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deps.json")
	if err := os.WriteFile(path, []byte(`{"edges": [`), 0o644); err != nil {
		t.Fatal(err)
	}
	deps, err := capture.ReadDeps(path, func(int64) {
		if err := os.Truncate(path, 2); err != nil {
			t.Fatal(err)
		}
	})
	c := &Capture{Deps: path}
	c.depsWarnings(deps, err)
	want := capture.Warning{Code: "deps-unreadable", Count: 1, Text: "failed to read " + path +
		": it changed while it was read (11 bytes at first, 2 now); it is still being written: read it when it is complete"}
	if len(c.warnings) != 1 || c.warnings[0] != want {
		t.Errorf("got %v, want %v", c.warnings, want)
	}
}
