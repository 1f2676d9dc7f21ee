package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/parity"
)

// TestMergeKeepsItsInputs: no output may take the place of a file that a merge reads.
func TestMergeKeepsItsInputs(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(parity.Shared(t), "captures", "l3", "swapped_groups"))); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, pattern := range []string{"rank*/d*/*.json", "host.*.log"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			id, err := os.ReadFile(filepath.Join(filepath.Dir(file), "dispatch_identity.json"))
			if err == nil && !bytes.Contains(id, []byte(`"task_slot": 5`)) {
				continue // of the other submission
			}
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), []string{"convert", dir, "--dispatch-id", "17:5", "-o", file})
			after, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(before, after) {
				t.Fatalf("%s was overwritten", file)
			}
			if code == 0 {
				t.Errorf("-o %s: exit 0", file)
			}
			tried++
		}
	}
	if tried < 10 {
		t.Errorf("tried %d files", tried)
	}
}
