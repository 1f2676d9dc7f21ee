package collector_test

import (
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/timeline"
)

// coreScheduled is a capture whose tasks AICore schedulers ran.
func coreScheduled(t *testing.T, level abi.Level) *collector.Capture {
	t.Helper()
	c := collector.NewCapture(abi.A5, level, 3, nil, []uint32{2, 0, 0})
	c.Runtime = "host_build_graph"
	for _, err := range []error{
		c.Sections.SetAicoreTasks([]collector.KernelRow{
			{Core: 0, Task: 0, Start: 1000, End: 1500, Receive: 28}, {Core: 2, Task: 1, Start: 1700, End: 1900},
		}),
		c.Sections.SetSchedulerTasks([]collector.TimingRow{{Core: 0, Task: 0, Dispatch: 960, Finish: 1510}, {Core: 2, Task: 1, Dispatch: 1650, Finish: 1950}}),
		c.Sections.SetLifecycle([]collector.LifecycleRow{
			{Thread: 0, Times: [14]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}, {Thread: 1, Times: [14]uint64{1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
		}),
		c.Sections.SetSchedulerRecords([]collector.CoreStream{
			{Scheduler: 2, Worker: 7, PhysicalCore: -1, Dropped: 3},
			{Scheduler: 3, Worker: 9, PhysicalCore: 5}, // nothing to say
			{Scheduler: 0, Worker: 2, PhysicalCore: 54, Records: []collector.CorePhase{
				{Start: 1510, End: 1530, Loop: 9, Kind: collector.CoreRefill, Tasks: 1, Task: 1},
				{Start: 900, End: 960, Loop: 1, Kind: collector.CoreWorksteal, Tasks: 1},
				{Start: 900, End: 960, Loop: 1, Kind: collector.CoreDispatch, Tasks: 1},
				{Start: 900, End: 910, Loop: 1, Kind: collector.CoreStateProbe, Tasks: 1},
				{Start: 800, End: 850, Kind: collector.CoreBootstrap, Tasks: 2, Task: 77},
				{Start: 960, End: 1510, Loop: 2, Kind: collector.CoreIdle, Task: 77},
			}},
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Strict = true
	return c
}

const coreScheduledFile = `{
  "chip_swimlane_level": 3,
  "metadata": {
    "clock_freq_hz": 1000000000,
    "num_cores": 3,
    "core_types": ["aiv", "aiv", "aiv"]
  },
  "aicore_tasks": [
    [0, 0, 0, 1000, 1500, 28],
    [2, 1, 1, 1700, 1900, 0]
  ],
  "scheduler_tasks": {
    "schema_version": 1,
    "producer": "aicore",
    "records": [
      [0, 0, 960, 1510],
      [2, 1, 1650, 1950]
    ]
  },
  "scheduler_records": {
    "schema_version": 1,
    "streams": [
      {"platform": "a5", "runtime": "host_build_graph", "producer": "aicore", "scheduler_id": 0, "worker_id": 2, "core_type": "aiv", "physical_core_id": 54, "capture": {"committed": 6, "dropped": 0, "truncated": false}, "records": [
        {"start_cycles": 800, "end_cycles": 850, "loop_iter": 0, "kind": "bootstrap", "tasks_processed": 2, "task_id": null},
        {"start_cycles": 900, "end_cycles": 910, "loop_iter": 1, "kind": "state_probe", "tasks_processed": 1, "task_id": 0},
        {"start_cycles": 900, "end_cycles": 960, "loop_iter": 1, "kind": "dispatch", "tasks_processed": 1, "task_id": 0},
        {"start_cycles": 900, "end_cycles": 960, "loop_iter": 1, "kind": "worksteal", "tasks_processed": 1, "task_id": 0},
        {"start_cycles": 960, "end_cycles": 1510, "loop_iter": 2, "kind": "idle", "tasks_processed": 0, "task_id": null},
        {"start_cycles": 1510, "end_cycles": 1530, "loop_iter": 9, "kind": "refill", "tasks_processed": 1, "task_id": 1}
      ], "metrics": []},
      {"platform": "a5", "runtime": "host_build_graph", "producer": "aicore", "scheduler_id": 2, "worker_id": 7, "core_type": "aiv", "physical_core_id": -1, "capture": {"committed": 0, "dropped": 3, "truncated": true}, "records": [
      ], "metrics": []}
    ]
  },
  "aicpu_lifecycle_records": [
    {"aicpu_thread_id": 0, "handshake_start_cycles": 1, "handshake_complete_cycles": 2, "config_start_cycles": 3, "topology_complete_cycles": 4, "context_publish_start_cycles": 5, "context_publish_complete_cycles": 6, "bootstrap_wait_start_cycles": 7, "bootstrap_complete_cycles": 8, "register_release_start_cycles": 9, "register_release_end_cycles": 10, "exit_signal_start_cycles": 11, "exit_signal_end_cycles": 12, "exit_wait_start_cycles": 13, "exit_wait_end_cycles": 14},
    {"aicpu_thread_id": 1, "handshake_start_cycles": 1, "handshake_complete_cycles": 2, "config_start_cycles": 0, "topology_complete_cycles": 0, "context_publish_start_cycles": 5, "context_publish_complete_cycles": 6, "bootstrap_wait_start_cycles": 7, "bootstrap_complete_cycles": 8, "register_release_start_cycles": 9, "register_release_end_cycles": 10, "exit_signal_start_cycles": 11, "exit_signal_end_cycles": 12, "exit_wait_start_cycles": 13, "exit_wait_end_cycles": 14}
  ]
}
`

func TestSectionsOfARuntime(t *testing.T) {
	equalText(t, "file", text(t, coreScheduled(t, abi.SchedPhases)), coreScheduledFile)
	// Levels leave out what they do not have; the lifecycle is its producer's choice.
	_, lifecycle, _ := strings.Cut(coreScheduledFile, `"aicpu_lifecycle_records"`)
	for level, last := range map[abi.Level]string{abi.TaskTiming: `"scheduler_tasks"`, abi.ScheduleTiming: `"scheduler_records"`} {
		head, _, _ := strings.Cut(coreScheduledFile, last)
		want := strings.Replace(head+`"aicpu_lifecycle_records"`+lifecycle, `_level": 3`, `_level": `+string(rune('0'+level)), 1)
		equalText(t, "level", text(t, coreScheduled(t, level)), want)
	}
}

func TestSectionsReadBack(t *testing.T) {
	rec, err := capture.ReadFrom(strings.NewReader(text(t, coreScheduled(t, abi.SchedPhases))), "run", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "producer", rec.Sched.Producer, capture.ProducerAICore)
	same(t, "lives", len(rec.Lifecycle), 2)
	same(t, "loss", rec.Loss.Streams, int64(3))
	tl, err := timeline.New(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "dispatch", tl.Rows.Dispatch, []uint64{960, 1650})
	same(t, "unmatched", tl.Unmatched+tl.Untimed, int64(0))
}

func TestSectionsAreSetOnce(t *testing.T) {
	var s collector.Sections
	for name, set := range map[string]func() error{
		"aicore_tasks":            func() error { return s.SetAicoreTasks(nil) },
		"scheduler_tasks":         func() error { return s.SetSchedulerTasks(nil) },
		"aicpu_lifecycle_records": func() error { return s.SetLifecycle(nil) },
		"scheduler_records":       func() error { return s.SetSchedulerRecords(nil) },
	} {
		if err := set(); err != nil {
			t.Error(err)
		}
		if err := set(); err == nil || err.Error() != "section "+name+" is set already; a runtime sets it once per run" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmptySectionsOfARuntime(t *testing.T) {
	c := collector.NewCapture(abi.A5, abi.SchedPhases, 1, nil, nil)
	for _, err := range []error{
		c.Sections.SetAicoreTasks(nil), c.Sections.SetSchedulerTasks(nil), c.Sections.SetLifecycle(nil), c.Sections.SetSchedulerRecords(nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, got, _ := strings.Cut(text(t, c), `  "aicore_tasks"`)
	equalText(t, "sections", got, `: [],
  "scheduler_tasks": {
    "schema_version": 1,
    "producer": "aicore",
    "records": [
    ]
  },
  "scheduler_records": {
    "schema_version": 1,
    "streams": [
    ]
  },
  "aicpu_lifecycle_records": [
  ]
}
`)
}

func TestCorePhaseKinds(t *testing.T) {
	last := ""
	for kind, name := range []string{"bootstrap", "complete", "dispatch", "idle", "refill", "resolve", "state_probe", "worksteal"} {
		same(t, "name", collector.CorePhaseKind(kind).String(), name)
		if name <= last {
			t.Errorf("%s stands behind %s", name, last)
		}
		last = name
	}
}
