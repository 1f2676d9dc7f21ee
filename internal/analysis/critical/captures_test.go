package critical_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/critical"
	"swimlane/internal/names"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// TestStoredReports holds the reports of all real captures against those of the
// format's tool: every line of it stands in ours, in the same order, but for the
// name of the tool and lines about files.
func TestStoredReports(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures")
	seen := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(e.Name(), "critical_path_stdout.txt") {
			return err
		}
		dir := filepath.Dir(filepath.Dir(path))
		if strings.Contains(dir, "large") && testing.Short() {
			return nil
		}
		seen++
		rel, _ := filepath.Rel(root, dir)
		t.Run(rel, func(t *testing.T) { compareReport(t, dir, string(parity.Unpacked(t, path))) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 52 {
		t.Errorf("found %d stored reports, expected 52 or more", seen)
	}
}

var under = regexp.MustCompile(`^Analyzed 1 rank\(s\) under (\S+)\n`)

func compareReport(t *testing.T, dir, want string) {
	records := filepath.Join(dir, capture.FileName)
	if _, err := os.Stat(records); err != nil {
		records += ".gz"
	}
	rec, err := capture.Read(records, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deps, err := capture.ReadDeps(capture.Beside(records, capture.DepsFileName), nil)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	named, err := names.Find(names.Request{Input: records, Level: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := compute(t, tl, critical.Options{Tolerance: critical.DefaultTolerance})
	checkTiling(t, r, critical.Options{Tolerance: critical.DefaultTolerance})
	label := under.FindStringSubmatch(want)
	if label == nil {
		t.Fatalf("the stored report begins with %.60q", want)
	}
	rank := critical.Rank{Result: r, Label: label[1], Names: named.Map}
	var b strings.Builder
	b.WriteString(label[0] + rank.Summary() + "\n" + critical.Title)
	if err := rank.Markdown(&b, 25); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(b.String(), "\n")
	for _, line := range strings.Split(strings.Replace(want, "python -m simpler_setup.tools.critical_path", "swimlane critical-path", 1), "\n") {
		if strings.HasPrefix(line, "Report written to: ") || strings.HasPrefix(line, "Perfetto trace written to: ") || line == "" {
			continue
		}
		at := 0
		for at < len(got) && got[at] != line {
			at++
		}
		if at == len(got) {
			t.Fatalf("the report lacks the line %q, or has it elsewhere", line)
		}
		got = got[at+1:]
	}
}
