package ranks

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLogNamedTwice: every run of a log that was read twice would be drawn twice.
func TestLogNamedTwice(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "host.1.log"), filepath.Join(dir, "host.2.log")
	for _, path := range []string{one, two} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := findLogs(dir, []string{one, two, dir + "/./host.1.log"})
	if err != nil || !slices.Equal(logs, []string{one, two}) {
		t.Errorf("got %q, %v; want each log once", logs, err)
	}
}
