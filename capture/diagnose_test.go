package capture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/parity"
)

func whole(level int, sections ...string) string {
	return fmt.Sprintf(`{"chip_swimlane_level":%d,"metadata":{"clock_freq_hz":50000000}%s}`, level, strings.Join(append([]string{""}, sections...), ","))
}

// TestDiagnose: every rule that is broken is named once, with how often and where.
// The counts and rows are those that stand in the texts.
func TestDiagnose(t *testing.T) {
	const sched = `"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[%s]}`
	for _, x := range []struct {
		what, text string
		sections   string // with a star where the text breaks
		level      int
		faults     []string // step ×count rows
	}{
		{"good", whole(1, `"aicore_tasks":[[0,1,0,10,20,1],[0,2,1,30,40,1]]`), "metadata, aicore_tasks 2 rows", 1, nil},
		{"kernel rows that break three rules", whole(1, `"aicore_tasks":[[0,1,0,20,10],[0,2,1,30,40],[0,3],[0,4,2,60,50],[0,5,1,70,80],[0,6,3,5,9,5],[0,7,1,90,95]]`),
			"metadata, aicore_tasks 7 rows", 1,
			[]string{"kernel rows ×2 [0 3]", "kernel rows ×1 [2]", "kernel rows ×1 [5]", "kernel rows ×2 [4 6]"}},
		{"level and clock", `{"chip_swimlane_level":5,"metadata":{},"aicore_tasks":[]}`, "metadata, aicore_tasks 0 rows", 0, []string{"level ×1 []", "clock ×1 []"}},
		{"scheduler rows", whole(2, `"aicore_tasks":[[0,1,0,10,20]]`, fmt.Sprintf(sched, "[0,0,9,21],[0,1],[0,2,9,8],[0,0,9,21],[0,3,0,4]")),
			"metadata, aicore_tasks 1 row, scheduler_tasks 5 rows", 2,
			[]string{"scheduler shape ×1 [1]", "scheduler rows ×1 [3]", "scheduler rows ×2 [2 4]"}},
		{"no partner", whole(2, `"aicore_tasks":[[0,1,0,10,20],[0,2,1,30,40]]`, fmt.Sprintf(sched, "[0,0,9,21]")),
			"metadata, aicore_tasks 2 rows, scheduler_tasks 1 row", 2, []string{"partners ×1 []"}},
		{"streams", whole(3, `"scheduler_records":{"schema_version":1,"streams":[{"records":[`+
			phaseText(10, 20, "")+","+phaseText(30, 20, "")+","+phaseText(30, 40, `,"x":1`)+","+phaseText(50, 40, "")+`],"metrics":[]},{"records":[`+phaseText(9, 8, "")+`],"metrics":[]}]}`),
			"metadata, scheduler_records 5 rows", 3, []string{"streams ×3 [1 3]", "streams ×1 [2]"}},
		{"cut in a kernel row", `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1},"aicore_tasks":[[0,1,0,20,10],[0,2,1,30,40],[0,3`,
			"metadata, aicore_tasks 2 rows*", 2, []string{"kernel rows ×1 [0]"}},
		{"comma behind the last row", whole(1, `"aicore_tasks":[[0,1,0,10,20],[0,2,1,30,40],]`), "metadata, aicore_tasks 2 rows*", 1, nil},
		{"cut in a stream", whole(3, `"aicore_tasks":[]`, `"scheduler_records":{"schema_version":1,"streams":[{"records":[`+phaseText(1, 2, "")+`],"metrics":[]},{"records":[`+phaseText(3, 4, "")+","+phaseText(5, 6, "")+`,{"start_cy`),
			"metadata, aicore_tasks 0 rows, scheduler_records 3 rows*", 3, nil},
		{"cut in orchestrator records", whole(4, `"aicpu_orchestrator_phases":[[{"submit_idx":0,"start_cycles":1,"end_cycles":2}],[{"submit_idx":1,"start_cycles"`),
			"metadata, aicpu_orchestrator_phases 1 row*", 4, nil},
		{"cut and repeated", `{"metadata":{"clock_freq_hz":1},"aicore_tasks":[[0,1,0,10,20],[0,2,0,30,40]],"scheduler_tasks":{"records":[[0,0,9,21],[`,
			"metadata, aicore_tasks 2 rows, scheduler_tasks 1 row*", 0, []string{"kernel rows ×1 [1]"}},
		{"empty", "", "", 0, nil},
		{"no object", "[1]", "", 0, nil},
	} {
		t.Run(x.what, func(t *testing.T) {
			d := capture.DiagnoseFrom(strings.NewReader(x.text), "x.json", capture.Options{})
			var sections, faults []string
			for _, s := range d.Sections {
				text := s.String()
				if s.Cut {
					text += "*"
				}
				sections = append(sections, text)
			}
			for _, f := range d.Faults {
				faults = append(faults, fmt.Sprintf("%s ×%d %v", f.Step, f.Count, f.Rows))
			}
			if got := strings.Join(sections, ", "); got != x.sections || d.Level != x.level || !slices.Equal(faults, x.faults) {
				t.Errorf("level %d, %s, faults %q\nwant level %d, %s, %q", d.Level, got, faults, x.level, x.sections, x.faults)
			}
			agrees(t, d, x.text)
		})
	}
}

func phaseText(start, end int, more string) string {
	return fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null%s}`, start, end, more)
}

// agrees holds a diagnosis against what Read says of the same text.
func agrees(t *testing.T, d *capture.Diagnosis, text string) {
	t.Helper()
	_, err := capture.ReadFrom(strings.NewReader(text), d.File, capture.Options{})
	switch {
	case (err == nil) != (d.Err == nil):
		t.Errorf("it says %v, Read says %v", d.Err, err)
	case err == nil && (len(d.Faults) > 0 || d.Broken != nil):
		t.Errorf("Read accepts it, yet it has the faults %v, broken %v", d.Faults, d.Broken)
	case err != nil && err.Error() != d.Err.Error():
		t.Errorf("it says %v, Read says %v", d.Err, err)
	case errors.Is(err, capture.ErrSyntax) && d.Broken == nil:
		t.Error("no place where the text breaks")
	case err != nil && d.Broken == nil && !slices.ContainsFunc(d.Faults, func(f capture.Fault) bool { return f.First.Error() == err.Error() }):
		t.Errorf("what Read says is not among the faults: %v", err)
	}
}

// TestDiagnoseCutAnywhere: a capture that ends at any byte has a diagnosis, and the
// longer it is, the more whole rows it has.
func TestDiagnoseCutAnywhere(t *testing.T) {
	data, err := os.ReadFile("../testdata/small/chip_swimlane_records.json")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(string(data))
	last := int64(0)
	for n := range text {
		d := capture.DiagnoseFrom(strings.NewReader(text[:n]), "x.json", capture.Options{})
		if d.Broken == nil {
			t.Fatalf("cut at byte %d: %v", n, d.Err)
		}
		sum := int64(0)
		for _, s := range d.Sections {
			sum += max(s.Rows, 0)
		}
		if sum < last {
			t.Fatalf("cut at byte %d: %d whole rows, one byte before there were %d", n, sum, last)
		}
		last = sum
	}
}

// TestDiagnoseCaptures: what Read says of the made files that it refuses is what a
// diagnosis says first, and it finds nothing wrong with the others.
func TestDiagnoseCaptures(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "edge", "*", capture.FileName))
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for _, path := range dirs {
		text := string(parity.Unpacked(t, path))
		agrees(t, capture.DiagnoseFrom(strings.NewReader(text), path, capture.Options{}), text)
	}
}

// TestDiagnoseNothing: a file that cannot be opened has an error and nothing else.
func TestDiagnoseNothing(t *testing.T) {
	d := capture.Diagnose(filepath.Join(t.TempDir(), "none.json"), capture.Options{})
	if !errors.Is(d.Err, os.ErrNotExist) || d.Faults != nil || d.Sections != nil || d.Broken != nil {
		t.Errorf("%+v", d)
	}
}

// FuzzDiagnose: any bytes have a diagnosis that agrees with the reader.
func FuzzDiagnose(f *testing.F) {
	small, err := os.ReadFile("../testdata/small/chip_swimlane_records.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Add(small[:len(small)/2])
	f.Add([]byte(whole(2, `"aicore_tasks":[[0,1,0,20,10],[0,2,1,30,40],[0,3],[-1,4,1,5,6],[0,4,1,50,60]]`, `"aicpu_tasks":[[0,0,0,0],[0,0,1,2],[0,-1,1,2]]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		agrees(t, capture.DiagnoseFrom(strings.NewReader(string(data)), "x.json", capture.Options{}), string(data))
	})
}
