package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/parity"
)

// writeCapture makes a capture of the given numbers of functions and
// scheduler threads.
func writeCapture(t *testing.T, functions, threads int) string {
	t.Helper()
	dir := t.TempDir()
	var tasks, sched, deps, streams []string
	for i := range functions {
		at := 1000 + 100*i
		tasks = append(tasks, fmt.Sprintf("[0,%d,%d,%d,%d,5]", i, i, at, at+50))
		sched = append(sched, fmt.Sprintf("[0,%d,%d,%d]", i, at-10, at+60))
		deps = append(deps, fmt.Sprintf(`{"task_id":"%d","kernel_ids":[-1,%d,-1]}`, i, i))
	}
	for i := range threads {
		streams = append(streams, fmt.Sprintf(`{"producer":"aicpu","scheduler_id":%d,"metrics":[],"records":[
{"start_cycles":1000,"end_cycles":1010,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null},
{"start_cycles":%d,"end_cycles":%d,"loop_iter":0,"kind":"complete","tasks_processed":1,"task_id":null}]}`, i, 1100+100*i, 1110+100*i))
	}
	records := fmt.Sprintf(`{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000},"aicore_tasks":[%s],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[%s]},
"scheduler_records":{"schema_version":1,"streams":[%s]}}`, strings.Join(tasks, ","), strings.Join(sched, ","), strings.Join(streams, ","))
	for name, text := range map[string]string{
		"chip_swimlane_records.json": records,
		"deps.json":                  `{"tasks":[` + strings.Join(deps, ",") + `],"edges":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// screen is how many lines a summary may have.
const screen = 40

// TestSummaryFitsScreen: 40 lines, whatever the number of functions and threads.
// The functions that leave no room are counted.
func TestSummaryFitsScreen(t *testing.T) {
	for _, functions := range []int{0, 1, 7, 8, 9, 12, 13, 18, 50} {
		for _, threads := range []int{0, 1, 4, 12, 16, 17, 72} {
			out := stdoutOf(t, "convert", writeCapture(t, functions, threads))
			lines := strings.Count(out, "\n")
			if lines > screen {
				t.Errorf("%d functions, %d threads: %d lines, want at most %d\n%s", functions, threads, lines, screen, out)
			}
			f := readFigures(t, out)
			shown := 0
			for i := range functions {
				if f[fmt.Sprintf("%d Count", i)] == "1" {
					shown++
				}
			}
			if more := fmt.Sprintf("… and %d more functions", functions-shown); strings.Contains(out, "… and ") != (shown < functions) || shown < functions && !strings.Contains(out, more) {
				t.Errorf("%d functions, %d threads: %d are in the table\n%s", functions, threads, shown, out)
			}
			if shown < min(functions, 5) || threads <= 4 && shown < min(functions, 18) {
				t.Errorf("%d functions, %d threads: only %d are in the table", functions, threads, shown)
			}
			for i := range threads {
				if !strings.Contains(out, fmt.Sprintf("Sched_%d ", i)) {
					t.Errorf("%d functions, %d threads: the idle time of thread %d is missing", functions, threads, i)
				}
			}
			for _, label := range []string{"✓ Conversion complete", "  Input:  ", "  Output: ", "  Level:  3", "  Tasks:  ", "  Arrows: ", "  Lost:   ",
				"  Warnings: none", "\nTo visualize: Open https://ui.perfetto.dev/ and drag in "} {
				if strings.Count(out, label) != 1 {
					t.Errorf("%d functions, %d threads: not one %q", functions, threads, label)
				}
			}
			if (threads > 0) != strings.Contains(out, "  Idle:   ") {
				t.Errorf("%d threads: idle times there or missing wrongly\n%s", threads, out)
			}
			for line := range strings.Lines(out) {
				if len([]rune(line)) > 160 && !strings.Contains(line, os.TempDir()) {
					t.Errorf("long line %s", line)
				}
			}
		}
	}
}

// TestSummaryOfCaptures: the same for real ones.
func TestSummaryOfCaptures(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "*", "chip_swimlane_records.json*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, records := range dirs {
		out := stdoutOf(t, "convert", records, "-o", os.DevNull)
		if lines := strings.Count(out, "\n"); lines > screen {
			t.Errorf("%s: %d lines\n%s", records, lines, out)
		}
	}
}
