package gen

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

type record struct {
	Start     uint64 `json:"start_cycles"`
	End       uint64 `json:"end_cycles"`
	Kind      string `json:"kind"`
	Processed int    `json:"tasks_processed"`
}

type capture struct {
	Level    int `json:"chip_swimlane_level"`
	Metadata struct {
		CoreTypes    []string `json:"core_types"`
		CoreToThread []int    `json:"core_to_thread"`
	} `json:"metadata"`
	Aicore    [][]uint64 `json:"aicore_tasks"`
	Scheduler struct {
		Version int        `json:"schema_version"`
		Records [][]uint64 `json:"records"`
	} `json:"scheduler_tasks"`
	Phases struct {
		Version int `json:"schema_version"`
		Streams []struct {
			Records []record         `json:"records"`
			Metrics []map[string]any `json:"metrics"`
		} `json:"streams"`
	} `json:"scheduler_records"`
	Orchestrator [][]struct {
		ID  uint64 `json:"task_id"`
		End uint64 `json:"end_cycles"`
	} `json:"aicpu_orchestrator_phases"`
}

type graph struct {
	Tasks []struct {
		ID   uint64           `json:"task_id,string"`
		Args []map[string]any `json:"args"`
	} `json:"tasks"`
	Tensors []json.RawMessage `json:"tensors"`
	Edges   []struct {
		Pred uint64 `json:"pred,string"`
		Succ uint64 `json:"succ,string"`
	} `json:"edges"`
}

func read(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
}

// Sizes with every remainder that changes how groups are divided.
var sizes = []int{MinTasks, 200, 201, 211, 1000, 1003}

func TestCapture(t *testing.T) {
	for _, n := range sizes {
		dir := t.TempDir()
		if err := Write(dir, Options{Tasks: n, Seed: 7, Deps: true}); err != nil {
			t.Fatal(err)
		}
		var c capture
		var g graph
		read(t, filepath.Join(dir, RecordsFile), &c)
		read(t, filepath.Join(dir, DepsFile), &g)
		read(t, filepath.Join(dir, NameMapFile), new(any))
		if c.Level != 4 || c.Scheduler.Version != 1 || c.Phases.Version != 1 {
			t.Errorf("%d tasks: level %d, versions %d and %d", n, c.Level, c.Scheduler.Version, c.Phases.Version)
		}
		if len(c.Metadata.CoreTypes) != 24 || len(c.Metadata.CoreToThread) != 24 || len(c.Phases.Streams) != 3 {
			t.Errorf("%d tasks: wrong machine", n)
		}
		if len(c.Orchestrator) != 1 || len(c.Orchestrator[0]) != n {
			t.Errorf("%d tasks: want one lane with a submit for each", n)
		}
		times := checkRows(t, n, &c)
		checkPhases(t, n, &c)
		checkGraph(t, n, &g, times)
	}
}

// row is one joined task row.
type row struct{ start, end, dispatch, finish uint64 }

// checkRows joins the two tables and checks the times. It returns the rows by
// task id.
func checkRows(t *testing.T, n int, c *capture) map[uint64]row {
	if len(c.Aicore) != n || len(c.Scheduler.Records) != n {
		t.Fatalf("%d tasks: %d aicore rows, %d scheduler rows", n, len(c.Aicore), len(c.Scheduler.Records))
	}
	sched := map[[2]uint64][]uint64{}
	for _, r := range c.Scheduler.Records {
		sched[[2]uint64{r[0], r[1]}] = r
	}
	submitted := map[uint64]uint64{}
	for _, o := range c.Orchestrator[0] {
		submitted[o.ID] = o.End
	}
	times := map[uint64]row{}
	var core, free uint64
	for _, a := range c.Aicore {
		s := sched[[2]uint64{a[0], a[2]}]
		if s == nil {
			t.Fatalf("%d tasks: no scheduler row for %v", n, a)
		}
		if a[0] != core {
			core, free = a[0], 0
		}
		receive := a[3] - a[5]
		if receive < free || a[3] > a[4] || a[5] >= a[3] {
			t.Errorf("%d tasks: %v overlaps or ends before it starts", n, a)
		}
		if s[2] > receive || s[3] < a[4] || submitted[a[1]] == 0 || submitted[a[1]] > s[2] {
			t.Errorf("%d tasks: %v is not submitted, dispatched and finished in order (%v)", n, a, s)
		}
		thread := c.Metadata.CoreToThread[core]
		if !inside(c.Phases.Streams[thread].Records, "dispatch", s[2]) || !inside(c.Phases.Streams[thread].Records, "complete", s[3]) {
			t.Errorf("%d tasks: no record of thread %d contains the times of %v", n, thread, s)
		}
		free = a[4]
		times[a[1]] = row{a[3], a[4], s[2], s[3]}
	}
	if len(times) != n {
		t.Errorf("%d tasks: %d ids", n, len(times))
	}
	return times
}

func inside(records []record, kind string, at uint64) bool {
	for _, r := range records {
		if r.Kind == kind && r.Start <= at && at <= r.End {
			return true
		}
	}
	return false
}

func checkPhases(t *testing.T, n int, c *capture) {
	records, processed := 0, map[string]int{}
	for i, s := range c.Phases.Streams {
		records += len(s.Records)
		if len(s.Metrics) != len(s.Records) {
			t.Errorf("%d tasks: stream %d has %d metrics for %d records", n, i, len(s.Metrics), len(s.Records))
		}
		var free uint64
		for _, r := range s.Records {
			if r.Start < free || r.End < r.Start {
				t.Errorf("%d tasks: stream %d: %v overlaps or ends before it starts", n, i, r)
			}
			free = r.End
			processed[r.Kind] += r.Processed
		}
	}
	if records != Phases(n) || n%4 == 0 && records != n/2 {
		t.Errorf("%d tasks: %d phase records, %d promised", n, records, Phases(n))
	}
	if len(processed) != 2 || processed["dispatch"] != n || processed["complete"] != n {
		t.Errorf("%d tasks: records account for %v", n, processed)
	}
}

func checkGraph(t *testing.T, n int, g *graph, times map[uint64]row) {
	if len(g.Tasks) != n || len(g.Edges) != Edges(n) || len(g.Tensors) < n {
		t.Errorf("%d tasks: graph has %d tasks, %d edges (%d promised)", n, len(g.Tasks), len(g.Edges), Edges(n))
	}
	for _, task := range g.Tasks {
		if _, ok := times[task.ID]; !ok || len(task.Args) == 0 {
			t.Errorf("%d tasks: graph task %d has no row or no arguments", n, task.ID)
		}
	}
	seen := map[[2]uint64]bool{}
	late := 0
	for _, e := range g.Edges {
		key := [2]uint64{e.Pred, e.Succ}
		pred, succ := times[e.Pred], times[e.Succ]
		if seen[key] || e.Pred >= e.Succ || pred.end == 0 || succ.end == 0 {
			t.Errorf("%d tasks: bad edge %v", n, key)
		}
		seen[key] = true
		if pred.finish > succ.dispatch {
			late++
		}
	}
	if late > 2+len(g.Edges)/50 {
		t.Errorf("%d tasks: %d of %d edges have a predecessor that finishes after its successor is dispatched", n, late, len(g.Edges))
	}
}

func TestSeed(t *testing.T) {
	files := func(o Options) (all [][]byte) {
		dir := t.TempDir()
		if err := Write(dir, o); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{RecordsFile, DepsFile, NameMapFile} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && (o.Deps || name != DepsFile) {
				t.Fatal(err)
			}
			all = append(all, data)
		}
		return all
	}
	first := files(Options{Tasks: 200, Seed: 1, Deps: true})
	again := files(Options{Tasks: 200, Seed: 1, Deps: true})
	other := files(Options{Tasks: 200, Seed: 2, Deps: true})
	bare := files(Options{Tasks: 200, Seed: 1})
	for i := range first {
		if !bytes.Equal(first[i], again[i]) {
			t.Errorf("file %d differs between two runs", i)
		}
		if i < 2 && bytes.Equal(first[i], other[i]) {
			t.Errorf("file %d does not depend on the seed", i)
		}
	}
	if !bytes.Equal(first[0], bare[0]) || bare[1] != nil {
		t.Error("without Deps: want the same records and no graph")
	}
}

func TestTooSmall(t *testing.T) {
	if err := Write(t.TempDir(), Options{Tasks: MinTasks - 1}); err == nil {
		t.Error("no error")
	}
}
