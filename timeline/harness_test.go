package timeline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

type (
	object = map[string]any
	list   = []any
)

// build reads a records file given as text, and joins it with a graph.
func build(t *testing.T, records, deps string) *timeline.Timeline {
	t.Helper()
	tl, err := tryBuild(t, records, deps)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func tryBuild(t *testing.T, records, deps string) (*timeline.Timeline, error) {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	var graph *taskgraph.Graph
	if deps != "" {
		d, err := capture.ReadDepsFrom(strings.NewReader(deps), "deps.json")
		if err != nil {
			t.Fatal(err)
		}
		if graph, err = taskgraph.New(d); err != nil {
			t.Fatal(err)
		}
	}
	return timeline.New(rec, graph)
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// micros holds a time against the µs of the specification, and the ns beside it.
func micros(t *testing.T, what string, tl *timeline.Timeline, cycles uint64, want float64) {
	t.Helper()
	if got := tl.Clock.Micros(cycles); math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v µs, want %v", what, got, want)
	}
	if got, ns := tl.Clock.Ns(cycles), int64(math.Round(want*1000)); got != ns {
		t.Errorf("%s: %d ns, want %d", what, got, ns)
	}
}

// hostTime is micros for a host timestamp.
func hostTime(t *testing.T, what string, tl *timeline.Timeline, at uint64, want float64) {
	t.Helper()
	if got, ns := tl.Host.Ns(at), int64(math.Round(want*1000)); got != ns {
		t.Errorf("%s: %d ns, want %d", what, got, ns)
	}
}

// phases is a stream of the seeds' form, each record `kind start end`.
func stream(id int, records ...string) object {
	var out list
	for _, r := range records {
		var kind string
		var start, end uint64
		if _, err := fmt.Sscan(r, &kind, &start, &end); err != nil {
			panic(err)
		}
		out = append(out, object{"kind": kind, "start_cycles": start, "end_cycles": end, "loop_iter": 0, "tasks_processed": 0, "task_id": nil})
	}
	if out == nil {
		out = list{}
	}
	return object{"scheduler_id": id, "worker_id": id, "producer": "aicpu", "records": out, "metrics": list{}}
}

// level3 is a capture of streams; rows are core, task, dispatch, finish, and
// ran in between.
func level3(streams list, coreToThread []int, rows ...[4]uint64) object {
	tasks, sched := list{}, list{}
	for i, r := range rows {
		tasks = append(tasks, list{r[0], r[1], i, r[2], r[3]})
		sched = append(sched, list{r[0], i, r[2], r[3]})
	}
	meta := object{"clock_freq_hz": 1_000_000_000}
	if coreToThread != nil {
		meta["core_to_thread"] = coreToThread
	}
	return object{
		"chip_swimlane_level": 3, "metadata": meta, "aicore_tasks": tasks,
		"scheduler_tasks":   object{"schema_version": 1, "producer": "aicpu", "records": sched},
		"scheduler_records": object{"schema_version": 1, "streams": streams},
	}
}
