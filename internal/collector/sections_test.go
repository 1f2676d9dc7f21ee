package collector_test

import (
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/timeline"
)

func twoKernels() collector.KernelColumns {
	return collector.KernelColumns{Core: []uint32{0, 2}, Task: []uint64{0, 1}, Start: []uint64{1000, 1700}, End: []uint64{1500, 1900}, Receive: []uint64{28, 0}}
}

func twoTimings() collector.TimingColumns {
	return collector.TimingColumns{Core: []uint32{0, 2}, Task: []uint64{0, 1}, Dispatch: []uint64{960, 1650}, Finish: []uint64{1510, 1950}}
}

// coreScheduled is a capture whose tasks AICore schedulers ran.
func coreScheduled(t *testing.T, level abi.Level) *collector.Capture {
	t.Helper()
	c := collector.NewCapture(abi.A5, level, 3, nil, []uint32{2, 0, 0})
	c.Runtime = "host_build_graph"
	for _, err := range []error{
		c.Sections.SetAicoreTasks(twoKernels()),
		c.Sections.SetSchedulerTasks(twoTimings()),
		c.Sections.SetLifecycle([]collector.LifecycleRow{
			{Thread: 0, Times: [14]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}, {Thread: 1, Times: [14]uint64{1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
		}),
		c.Sections.SetSchedulerRecords([]collector.CoreStream{
			{Scheduler: 2, Worker: 7, PhysicalCore: -1, Dropped: 3},
			{Scheduler: 3, Worker: 9, PhysicalCore: 5}, // nothing to say
			{Scheduler: 0, Worker: 2, PhysicalCore: 54, Phases: collector.CorePhaseColumns{
				Start: []uint64{1510, 900, 900, 900, 800, 960},
				End:   []uint64{1530, 960, 960, 910, 850, 1510},
				Loop:  []uint64{1 << 32, 1, 1, 1, 0, 2},
				Kind: []collector.CorePhaseKind{
					collector.CoreRefill, collector.CoreWorksteal, collector.CoreDispatch, collector.CoreStateProbe, collector.CoreBootstrap, collector.CoreIdle,
				},
				Tasks: []uint64{1, 1, 1, 1, 2, 0},
				Task:  []uint64{1, 0, 0, 0, 77, 77},
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
        {"start_cycles": 1510, "end_cycles": 1530, "loop_iter": 4294967296, "kind": "refill", "tasks_processed": 1, "task_id": 1}
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
		"aicore_tasks":            func() error { return s.SetAicoreTasks(collector.KernelColumns{}) },
		"scheduler_tasks":         func() error { return s.SetSchedulerTasks(collector.TimingColumns{}) },
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

func TestUnevenColumns(t *testing.T) {
	var s collector.Sections
	kernels, timings := twoKernels(), twoTimings()
	kernels.End, timings.Finish = kernels.End[:1], nil
	for want, err := range map[string]error{
		"section aicore_tasks has columns of 2 and of 1 rows; expected equal lengths":    s.SetAicoreTasks(kernels),
		"section scheduler_tasks has columns of 2 and of 0 rows; expected equal lengths": s.SetSchedulerTasks(timings),
		"section scheduler_records has columns of 0 and of 1 rows; expected equal lengths": s.SetSchedulerRecords([]collector.CoreStream{
			{Phases: collector.CorePhaseColumns{Kind: []collector.CorePhaseKind{collector.CoreIdle}}},
		}),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := s.SetAicoreTasks(twoKernels()); err != nil { // nothing was set
		t.Error(err)
	}
}

func TestEmptySectionsOfARuntime(t *testing.T) {
	c := collector.NewCapture(abi.A5, abi.SchedPhases, 1, nil, nil)
	for _, err := range []error{
		c.Sections.SetAicoreTasks(collector.KernelColumns{}), c.Sections.SetSchedulerTasks(collector.TimingColumns{}), c.Sections.SetLifecycle(nil), c.Sections.SetSchedulerRecords(nil),
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
	same(t, "a kind that does not exist", collector.CorePhaseKind(200).String(), "unknown")
}
