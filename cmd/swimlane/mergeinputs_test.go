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

// TestMergeOfABrokenNameMap: a name map that cannot be used is told of before anything
// is drawn, in the words of a merge, which takes no map of its own; that of a rank which
// is not drawn does no harm.
func TestMergeOfABrokenNameMap(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(parity.Shared(t), "captures", "l3", "swapped_groups"))); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "rank1", "d0", "name_map_x.json")
	if err := os.Remove(filepath.Join(filepath.Dir(broken), "name_map_TestL3_case1.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte(`{"level": 2,,}`), 0o666); err != nil {
		t.Fatal(err)
	}
	convert := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), append([]string{"convert", dir}, args...))
		return code, stdout.String(), stderr.String()
	}
	sub := filepath.Join(filepath.Dir(broken), "chip_swimlane_records.json")
	for _, id := range []string{"17:5", "17:6"} {
		code, stdout, stderr := convert("--dispatch-id", id, "-o", "-")
		if ofThis := code != 0; ofThis != strings.Contains(stderr, broken) {
			t.Fatalf("%s: exit %d, %s", id, code, stderr)
		} else if !ofThis {
			continue
		}
		want := "Error: " + broken + ":1:13 (byte 12): "
		if !strings.HasPrefix(stderr, want) || !strings.HasSuffix(stderr, " (it was found next to the input; repair or remove it)\n") {
			t.Errorf("%s, want %s… and what can be done", stderr, want)
		}
		if stdout != "" {
			t.Errorf("%d bytes were written before", len(stdout))
		}
		if code, _, stderr := convert("--dispatch-id", id, "--rank", "0", "-o", "-"); code != 0 {
			t.Errorf("rank 0 alone: exit %d, %s", code, stderr)
		}
		for _, file := range []string{broken, filepath.Join(filepath.Dir(broken), "name_map_y.json")} {
			if err := os.WriteFile(file, []byte(`{"level": 2}`), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		words := "next to " + sub + ": name_map_x.json, name_map_y.json; pass --func-names explicitly. A merge takes none: leave only one map there, or convert these records alone.\n"
		if code, _, stderr := convert("--dispatch-id", id, "-o", "-"); code != 0 || !strings.Contains(stderr, words) {
			t.Errorf("exit %d, %s, want …%s", code, stderr, words)
		}
		return
	}
	t.Error("no merge has refused the map")
}
