package scene_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/scene"
)

// vectorsText is the text of the graph of vectors behind its summary: the six pairs of
// spec/deps.md §4.5.
const vectorsText = `
TASK INDEX
TASK (0, 0) kind=submit func_id=[-1,0,-1] fanin=0 fanout=3
TASK (1, 0) kind=submit func_id=[-1,1,-1] fanin=1 fanout=1
TASK (1, 1) kind=submit func_id=[-1,2,-1] fanin=1 fanout=1
TASK (1, 2) kind=submit func_id=[-1,3,-1] fanin=2 fanout=1
TASK (1, 3) kind=submit func_id=[-1,0,-1] fanin=2 fanout=0
`

// TestViews: a run that makes a graph leaves its text beside it, with the names of the
// case (spec/deps.md §6.7).
func TestViews(t *testing.T) {
	for _, level := range []int{0, 4} {
		o := everything(t.TempDir())
		o.Swimlane = level
		var out, problems bytes.Buffer
		p := first(vectors(0)).Perform(t.Context(), &out, &problems, o)
		want := filepath.Join(p.Prefix, "deps_viewer.txt")
		if p.Err != nil || len(p.Views) != 1 || p.Views[0] != want {
			t.Fatalf("level %d: %v, views %v", level, p.Err, p.Views)
		}
		text, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		sidecar := map[int]string{0: "no", 4: "yes"}[level]
		for _, part := range []string{"  source_deps_json: deps.json\n", "  unique_task_edges: 6\n", "  perf_sidecar: " + sidecar + "\n", "  func_name_map: yes\n", vectorsText} {
			if !strings.Contains(string(text), part) {
				t.Errorf("level %d: no %q in\n%s", level, part, text)
			}
		}
		if !strings.Contains(out.String(), "  deps_viewer.txt  ") || strings.Contains(problems.String(), "Warning") {
			t.Errorf("level %d: it prints\n%s%s", level, &out, &problems)
		}
	}
}

// TestViewThatFails is a warning, and the case passes.
func TestViewThatFails(t *testing.T) {
	root := t.TempDir()
	s := vectors(0)
	whole := s.Callable.Orchestration.Run
	s.Callable.Orchestration.Run = func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
		dirs, _ := filepath.Glob(filepath.Join(root, "outputs", "*"))
		if len(dirs) != 1 {
			t.Fatalf("directories %v, want one", dirs)
		}
		if err := os.Mkdir(filepath.Join(dirs[0], "deps_viewer.txt"), 0o777); err != nil {
			t.Fatal(err)
		}
		whole(o, c, args)
	}
	var out, problems bytes.Buffer
	p := first(s).Perform(t.Context(), &out, &problems, everything(root))
	if p.Err != nil || len(p.Views) != 0 || p.Trace == "" {
		t.Errorf("%v, views %v, trace %q: want a case that passed, with a trace and no text", p.Err, p.Views, p.Trace)
	}
	if !strings.Contains(problems.String(), "Warning: Failed to write "+filepath.Join(p.Prefix, "deps_viewer.txt")+": ") {
		t.Errorf("warnings:\n%s", &problems)
	}
}

// TestViewsOfRanks: on a node there is one text in the directory of every rank.
func TestViewsOfRanks(t *testing.T) {
	var out, problems bytes.Buffer
	p := caseOf(doomed(), "well").Perform(t.Context(), &out, &problems, everything(t.TempDir()))
	if p.Err != nil || len(p.Views) != 3 {
		t.Fatalf("%v, views %v, want three", p.Err, p.Views)
	}
	for rank := range 3 {
		dir := filepath.Join(p.Prefix, fmt.Sprintf("rank%d", rank), "d0")
		text, err := os.ReadFile(filepath.Join(dir, "deps_viewer.txt"))
		if err != nil || !strings.HasPrefix(string(text), fmt.Sprintf("SUMMARY\n  source_deps_json: rank%d/d0/deps.json\n", rank)) {
			t.Errorf("rank %d: %v, %.200s", rank, err, text)
		}
	}
	if strings.Contains(problems.String(), "Warning") {
		t.Errorf("warnings:\n%s", &problems)
	}
}
