package capture_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"swimlane/capture"
)

func TestBuilds(t *testing.T) {
	root := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	touch := func(names ...string) {
		t.Helper()
		path := at(names...)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	touch("chip_swimlane_records.json")
	touch("deps.json")
	touch("rank1", "d0", "chip_swimlane_records.json.gz")
	touch("rank1", "d0", "deps.json.gz")
	touch("rank0", "d0", "l2_perf_records.json")
	touch("rank0", "d0", "deps.json")
	touch("rank0-old", "chip_swimlane_records.json") // between rank0 and rank1, and without a graph
	touch("rank2", "deps.json")
	touch("rank3", "other_records.json")
	usable, graphless, err := capture.Builds(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{at("chip_swimlane_records.json"), at("rank0", "d0", "l2_perf_records.json"), at("rank1", "d0", "chip_swimlane_records.json.gz")}
	if !slices.Equal(usable, want) || !slices.Equal(graphless, []string{at("rank0-old", "chip_swimlane_records.json")}) {
		t.Errorf("usable %v, without a graph %v", usable, graphless)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	if usable, _, err = capture.Builds(link); err != nil || len(usable) != 3 {
		t.Errorf("behind a link: %v %v", usable, err)
	}
	if _, _, err := capture.Builds(at("nothing")); err == nil {
		t.Error("a directory that is not there holds no captures without a word")
	}
}

func TestMergedBeside(t *testing.T) {
	dir := t.TempDir()
	records := filepath.Join(dir, "chip_swimlane_records.json")
	if got := capture.MergedBeside(records); got != "" {
		t.Errorf("found %s in an empty directory", got)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"merged_swimlane.json": 2, "merged_swimlane_a.json": 1, "merged_swimlane_b.json": 1, "merged_swimlane_old.json": 3, "merged.json": 0, "merged_swimlane.json.gz": 0,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "merged_swimlane_z.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := capture.MergedBeside(records); got != filepath.Join(dir, "merged_swimlane_b.json") {
		t.Errorf("found %s, want the newest", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "merged_swimlane_e7.json"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for epoch, want := range map[string]string{"7": filepath.Join(dir, "merged_swimlane_e7.json"), "8": ""} {
		if got := capture.MergedBeside(filepath.Join(dir, "records_e"+epoch+".json")); got != want {
			t.Errorf("for the retained run %s found %s, want %s", epoch, got, want)
		}
	}
}
