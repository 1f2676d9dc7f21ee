package scenes_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"swimlane/scene"
)

// onThreads is the case as AICPU threads schedule it, whoever would do it otherwise.
func onThreads(c scene.Selected) scene.Selected {
	other := *c.Case
	other.Config.AicpuSchedulers = true
	return scene.Selected{Scene: c.Scene, Case: &other}
}

// TestAICores runs every small case on a5 as one whose graph the host builds and the
// AICores schedule: values, strict reading at every level, one row a task, the kinds of
// records (spec/records.md §2.11), the picture.
func TestAICores(t *testing.T) {
	cases, err := scene.Select(forOneChip(), scene.Selection{Platform: scene.A5Sim, Manual: scene.Exclude})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		want, ok := sizes[c.Label()]
		if !ok || want.rows > small || c.Case.Config.AicpuSchedulers {
			continue
		}
		t.Run(c.Label(), func(t *testing.T) {
			t.Parallel()
			built := *c.Scene
			built.Runtime = scene.HostBuildGraph
			s := scene.Selected{Scene: &built, Case: c.Case}
			for level := range 5 {
				if level == 0 || level == 4 || !testing.Short() {
					runOnAICores(t, s, level, want)
				}
			}
		})
	}
}

func runOnAICores(t *testing.T, s scene.Selected, level int, want size) {
	t.Helper()
	cfg := scene.CallConfig{EnableChipSwimlane: level, EnableDepGen: level == 4}
	if level > 0 {
		cfg.OutputPrefix = t.TempDir()
	}
	result, err := s.Run(scene.A5Sim, cfg)
	if err != nil {
		t.Fatalf("level %d: %v", level, err)
	}
	if result.Golden != nil || result.Tasks != want.tasks || result.Submits != want.submits || len(result.Notes) > 0 {
		t.Errorf("level %d: %d tasks in %d submits, want %d in %d; values %v; notes %q", level, result.Tasks, result.Submits, want.tasks, want.submits, result.Golden, result.Notes)
	}
	if level == 0 {
		return
	}
	rec := readCapture(t, result.Records)
	if rec.Level != level || len(rec.Warnings) > 0 || rec.Loss.Declared {
		t.Errorf("level %d: a capture of level %d, warnings %v", level, rec.Level, rec.Warnings)
	}
	rows := rec.Tasks.Len()
	timed, kinds := 0, map[string]int{}
	if level >= 2 {
		timed = rows
	}
	for i := range rec.Streams {
		p := &rec.Streams[i].Phases
		for _, k := range p.Kind {
			kinds[rec.Kinds[k].Name]++
		}
	}
	if rec.Sched.Len() != timed {
		t.Errorf("level %d: %d rows of schedulers, want %d", level, rec.Sched.Len(), timed)
	}
	if level < 3 {
		if len(rec.Streams) > 0 {
			t.Errorf("level %d: %d streams", level, len(rec.Streams))
		}
		return
	}
	published := kinds["dispatch"] + kinds["worksteal"] + kinds["refill"]
	if kinds["state_probe"] != rows || published != rows || kinds["complete"] != rows || kinds["resolve"] < rows || kinds["bootstrap"] == 0 || kinds["bootstrap"] > 36 {
		t.Errorf("level %d: %v for %d tasks on cores, want a probe, a publication, a complete and a resolve each, and a bootstrap for each scheduler", level, kinds, rows)
	}
	if level < 4 {
		return
	}
	r := join(t, s.Label(), rec, result.Graph, want)
	r.dir = cfg.OutputPrefix
	if expect := r.onCores(s, want); rows != expect {
		t.Errorf("%d rows, want one for each of %d tasks on cores", rows, expect)
	}
	r.checkOrder()
	if files, err := filepath.Glob(filepath.Join(r.dir, "name_map_*.json")); err != nil || len(files) != 1 {
		t.Fatalf("%d name maps (%v)", len(files), err)
	}
	p, report := r.draw()
	if report.Drawn != report.Edges-r.withoutRow() {
		t.Errorf("%d of %d edges have arrows, %d lead to tasks without a row", report.Drawn, report.Edges, r.withoutRow())
	}
	for lane, bars := range p.bars {
		r.checkNesting(fmt.Sprintf("%s %q", p.process[lane.Pid], p.lane[lane]), bars, lane.Pid == schedulerView)
	}
}

// onCores is how many tasks run on cores, by the graph and by what the scene says.
func (r *ran) onCores(s scene.Selected, want size) (n int) {
	if s.Scene.Class == "TestGraphExecutionHostBuildGraph" {
		return want.rows // the nodes are in no graph
	}
	for i := range r.deps.Task {
		if k := r.deps.Kernel[i]; max(k[0], k[1], k[2]) >= 0 {
			n++
		}
	}
	if s.Case.Name == "PredicateFalseSkips" {
		n--
	}
	return n
}

// withoutRow is how many edges of the graph have an end that no bar shows: a task that
// ran on no core. What only allocates, which the graph does not list, has a bar.
func (r *ran) withoutRow() (n int) {
	rows, listed := r.subtasks(), map[uint64]bool{}
	for _, id := range r.deps.Task {
		listed[id] = true
	}
	hidden := func(id uint64) bool { return listed[id] && len(rows[id]) == 0 }
	seen := map[[2]uint64]bool{}
	for i, pred := range r.deps.Pred {
		e := [2]uint64{pred, r.deps.Succ[i]}
		if !seen[e] && (hidden(e[0]) || hidden(e[1])) {
			n++
		}
		seen[e] = true
	}
	return n
}

// checkOrder holds the kernels against the graph: none starts before those that it
// needs have ended.
func (r *ran) checkOrder() {
	r.Helper()
	rows, ordered := r.subtasks(), 0
	for i, pred := range r.deps.Pred {
		before, after := rows[pred], rows[r.deps.Succ[i]]
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		ordered++
		if after[0].start < before[0].end {
			r.Errorf("task %d starts at %d, before task %d ends at %d", r.deps.Succ[i], after[0].start, pred, before[0].end)
		}
	}
	if ordered == 0 && r.graph.Edges() > 40 {
		r.Error("no edge was looked at")
	}
}
