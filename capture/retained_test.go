package capture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/capture"
)

func TestRetainedEpoch(t *testing.T) {
	for path, want := range map[string]string{
		"records_e7.json": "7", "run/swimlane-0/records_e18446744073709551615.json.gz": "18446744073709551615", "./records_e0.json": "0",
		capture.FileName: "", "records_e.json": "", "records_e7": "", "records_e7.json.tmp": "", "records_e7.json.gz.gz": "", "records_e7.gz": "",
		"records_e-7.json": "", "records_e7x.json": "", "xrecords_e7.json": "", "records_e7.json/deps.json": "",
	} {
		if epoch, ok := capture.RetainedEpoch(path); epoch != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", path, epoch, ok, want)
		}
	}
}

// A directory that holds one retained run is that run; one that holds several is
// refused with the list of them.
func TestLocateRetained(t *testing.T) {
	several := func(n int, epochs string, paths ...string) string {
		return fmt.Sprintf("run holds %d retained runs (%s); name the records file of one: %s", n, epochs, strings.Join(paths, ", "))
	}
	var many, first []string
	for epoch := 1; epoch <= 11; epoch++ {
		path := fmt.Sprintf("run/swimlane-2/records_e%d.json", epoch)
		many = append(many, path)
		first = append(first, path)
	}
	for _, tt := range []struct {
		name, arg string
		files     []string
		want      string // the file
		err       string
	}{
		{"in the session's directory", "run", []string{"run/swimlane-0/records_e7.json"}, "run/swimlane-0/records_e7.json", ""},
		{"the session's directory itself", "run/swimlane-0", []string{"run/swimlane-0/records_e7.json.gz"}, "run/swimlane-0/records_e7.json.gz", ""},
		{"packed and not is one", "run", []string{"run/swimlane-3/records_e7.json.gz", "run/swimlane-3/records_e7.json"}, "run/swimlane-3/records_e7.json", ""},
		{"the usual name comes first", "run", []string{"run/swimlane-0/records_e7.json", "run/chip_swimlane_records.json"}, "run/chip_swimlane_records.json", ""},
		{"unfinished and other files do not count", "run", []string{
			"run/swimlane-0/records_e7.json", "run/swimlane-0/records_e8.json.tmp", "run/swimlane-0/deps.json", "run/other/records_e9.json", "run/swimlane-0/records_e10.json/x",
		}, "run/swimlane-0/records_e7.json", ""},
		{"a pattern is a name", "r[u]n", []string{"r[u]n/swimlane-0/records_e7.json"}, "r[u]n/swimlane-0/records_e7.json", ""},
		{"two epochs", "run", []string{"run/swimlane-0/records_e10.json", "run/swimlane-0/records_e9.json"},
			"", several(2, "epochs 9, 10", "run/swimlane-0/records_e9.json", "run/swimlane-0/records_e10.json")},
		{"one epoch in two sessions", "run", []string{"run/swimlane-10/records_e1.json", "run/swimlane-9/records_e1.json.gz"},
			"", several(2, "epoch 1", "run/swimlane-9/records_e1.json.gz", "run/swimlane-10/records_e1.json")},
		{"many", "run", many, "", several(11, "epochs 1, 2, 3, 4, 5, 6, 7, 8 and 3 more", first[:8]...) + " and 3 more"},
		{"a run of ranks", "run", []string{"run/rank0/d0/chip_swimlane_records.json", "run/swimlane-0/records_e7.json"},
			"", "run is a directory of several ranks (rank0, …); name one rank's records file, as run/rank0/d0/chip_swimlane_records.json, " +
				"or that of a retained run: run/swimlane-0/records_e7.json"},
		{"one directory too high", ".", []string{"run/swimlane-0/records_e7.json"},
			"", "no chip_swimlane_records.json in the directory .; name the records file, or a directory that holds one: run/swimlane-0/records_e7.json"},
		{"where a run was started", "root", []string{"root/outputs/Case_1/chip_swimlane_records.json", "root/outputs/Case_2/swimlane-0/records_e7.json"},
			"", "no chip_swimlane_records.json in the directory root; name the records file, or a directory that holds one: " +
				"root/outputs/Case_1/chip_swimlane_records.json, root/outputs/Case_2/swimlane-0/records_e7.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, f := range tt.files {
				write(t, filepath.FromSlash(f), nil)
			}
			path, auto, err := capture.Locate(filepath.FromSlash(tt.arg))
			said := ""
			if err != nil {
				said = err.Error()
			}
			if filepath.ToSlash(path) != tt.want || auto || filepath.ToSlash(said) != tt.err {
				t.Errorf("got %s, %v, %v\nwant %s, %s", path, auto, err, tt.want, tt.err)
			}
			if strings.Contains(tt.err, "ranks") != errors.Is(err, capture.ErrRanks) {
				t.Errorf("%v: wrong class", err)
			}
		})
	}
}

// Retained runs are not chosen without being named, but they are spoken of.
func TestPassedOver(t *testing.T) {
	t.Chdir(t.TempDir())
	begin := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	at := func(hour int, path ...string) string {
		p := filepath.Join(append([]string{"outputs"}, path...)...)
		write(t, p, nil)
		when := begin.Add(time.Duration(hour) * time.Hour)
		if err := os.Chtimes(p, when, when); err != nil {
			t.Fatal(err)
		}
		return p
	}
	var want []capture.Passed
	check := func(records string) {
		t.Helper()
		if got := capture.PassedOver(records); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	chosen := at(5, "A", capture.FileName)
	at(1, "A", "swimlane-0", "records_e1.json")
	at(5, "A", "swimlane-0", "records_e2.json") // not newer
	at(2, "B", "rank0", "d0", capture.FileName)
	check(chosen)
	kept := at(7, "A", "swimlane-0", "records_e3.json.gz")
	at(6, "B", "swimlane-1", "records_e4.json")
	want = []capture.Passed{{Path: kept, Run: filepath.Join("outputs", "A"), Retained: true}}
	check(chosen)
	rank := at(8, "C", "rank1", "d0", capture.FileName)
	inRank := at(9, "C", "rank1", "d0", "swimlane-0", "records_e1.json")
	c := filepath.Join("outputs", "C")
	want = []capture.Passed{{Path: rank, Run: c}, {Path: inRank, Run: c, Retained: true}}
	check(chosen)
	if path, auto, err := capture.Locate(""); path != chosen || !auto || err != nil {
		t.Errorf("got %s, %v, %v", path, auto, err)
	}
	if err := os.Remove(chosen); err != nil {
		t.Fatal(err)
	}
	_, _, err := capture.Locate("")
	hint := "\nThere are captures of several ranks; draw them with 'swimlane convert " + c + "', or name one rank's records file, as " + rank +
		"\nThere are retained runs; name the records file of one, as " + inRank
	if err == nil || !strings.HasSuffix(err.Error(), hint) {
		t.Errorf("got %v, want %s", err, hint)
	}
}

// What belongs to a retained run lies beside it or one directory above.
func TestBesideRetained(t *testing.T) {
	t.Chdir(t.TempDir())
	records := filepath.Join("run", "swimlane-0", "records_e7.json")
	check := func(records, want string) {
		t.Helper()
		if got := capture.Beside(records, capture.DepsFileName); got != want {
			t.Errorf("%s: got %s, want %s", records, got, want)
		}
	}
	write(t, "deps.json", nil) // two above
	own := filepath.Join("run", "swimlane-0", "deps.json")
	check(records, own)
	above := filepath.Join("run", "deps.json")
	write(t, above+".gz", nil)
	check(records, above+".gz")
	write(t, above, nil)
	check(records, above)
	check(filepath.Join("run", "swimlane-0", capture.FileName), own) // only for retained runs
	write(t, own+".gz", nil)
	check(records, own+".gz")
	t.Chdir(filepath.Join("run", "swimlane-0"))
	check("records_e7.json.gz", "deps.json.gz")
	if err := os.Remove("deps.json.gz"); err != nil {
		t.Fatal(err)
	}
	check("records_e7.json.gz", filepath.Join("..", "deps.json"))
}
