package collector_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/timeline"
)

// hostKinds are the names of spec/collector.md §7.4, in the order of their values.
var hostKinds = strings.Fields("args arena_build static_arena gm_heap shared_mem runtime_init host_orch graph_upload relocate sm_h2d arena_h2d " +
	"host_view_close submit_task alloc_tensors record_node graph_submit build_definition")

func TestHostPhaseKinds(t *testing.T) {
	same(t, "number of kinds", len(hostKinds), 17)
	for kind, name := range append(slices.Clone(hostKinds), "unknown", "unknown") {
		k := collector.HostPhaseKind(kind)
		same(t, "name", k.String(), name)
		same(t, name, k.Submit(), name == "submit_task" || name == "alloc_tensors" || name == "graph_submit")
		same(t, name, k.Upload(), name == "graph_upload" || name == "sm_h2d" || name == "arena_h2d")
	}
	same(t, "the largest number", collector.HostPhaseKind(1<<32-1).String(), "unknown")
}

// TestHostPhasePool: 326 records of which 47 are submits (spec/collector.md §15).
func TestHostPhasePool(t *testing.T) {
	pool := collector.NewHostPhasePool()
	submits := []collector.HostPhaseKind{collector.HostSubmitTask, collector.HostAllocTensors, collector.HostGraphSubmit}
	for i := range 326 {
		r := abi.HostPhase{StartNs: uint64(10_000 - i), EndNs: 20_000, Index: uint32(i), Kind: uint32(collector.HostRecordNode)}
		if i%7 == 0 { // 47 of them
			r.Kind = uint32(submits[i%3])
		}
		pool.Add(r)
	}
	h := pool.Take(47)
	same(t, "submits", len(h.Submits), 47)
	same(t, "uploads", len(h.Uploads), 0)
	same(t, "pool", h.Pool, uint64(326))
	same(t, "dropped", h.Dropped, uint64(0))
	if !slices.IsSortedFunc(h.Submits, func(a, b abi.HostPhase) int { return int(a.StartNs) - int(b.StartNs) }) {
		t.Error("submits are not in the order of their start")
	}
}

func TestHostPhaseOverflow(t *testing.T) {
	const room = 512 * 24
	pool := collector.NewHostPhasePool()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range room / 4 {
				pool.Add(abi.HostPhase{StartNs: 7, Kind: uint32(collector.HostSubmitTask)})
			}
		})
	}
	wg.Wait()
	same(t, "dropped of a full pool", pool.Take(0).Dropped, uint64(0))
	for range 5 {
		pool.Add(abi.HostPhase{Kind: uint32(collector.HostSubmitTask)})
	}
	h := pool.Take(room + 5)
	same(t, "dropped", h.Dropped, uint64(5))
	same(t, "pool", h.Pool, uint64(room+5))
	same(t, "submits", len(h.Submits), room)
	for _, r := range h.Submits {
		if r.StartNs != 7 {
			t.Fatal("a record was lost or overwritten")
		}
	}
}

// hostRun is a level-4 capture of a run that the host orchestrated.
func hostRun(expected uint64) *collector.Capture {
	pool := collector.NewHostPhasePool()
	for _, r := range []abi.HostPhase{
		{StartNs: 100, EndNs: 110, Kind: uint32(collector.HostArgs)}, // earlier than all that is listed
		{StartNs: 900, EndNs: 950, Kind: uint32(collector.HostSubmitTask), Index: 1, Payload: 1<<32 | 1},
		{StartNs: 500, EndNs: 520, Kind: uint32(collector.HostAllocTensors), Index: 0, Payload: 7},
		{StartNs: 990, EndNs: 999, Kind: uint32(collector.HostArenaH2D), Payload: 3840},
		{StartNs: 980, EndNs: 985, Kind: uint32(collector.HostGraphUpload)},
	} {
		pool.Add(r)
	}
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, kernels(1, 1))
	s.Add(abi.KindAicpuTask, 0, 0, timings(1, 1))
	c := collector.NewCapture(abi.A2A3, abi.OrchPhases, 1, []*collector.Store{s}, []uint32{1})
	c.Runtime, c.Host, c.BootID = "host_build_graph", pool.Take(expected), "7d1c2a64-0c0e"
	return c
}

func TestHostOrchestratedFile(t *testing.T) {
	c := hostRun(2)
	c.Strict = true
	file := text(t, c)
	equalText(t, "file", file, `{
  "chip_swimlane_level": 4,
  "metadata": {
    "clock_freq_hz": 50000000,
    "num_cores": 1,
    "core_types": ["aiv"],
    "orchestrator_source": "host",
    "orchestrator_clock_domain": "host_monotonic_ns",
    "device_clock_domain": "device_syscnt_cycles",
    "host_timestamp_resolution_ns": 1,
    "host_timestamp_quantization_ns": 0,
    "host_orchestration_origin_ns": 500,
    "timeline_relation": "host_orchestration_precedes_device",
    "host_capture": {"status": "complete", "expected_records": 2, "recorded_records": 2, "pool_records": 5, "dropped_records": 0, "error": null},
    "host_clock_domain_id": "linux-boot-id:7d1c2a64-0c0e"
  },
  "aicore_tasks": [
    [0, 1, 1, 1001, 2001, 0]
  ],
  "scheduler_tasks": {
    "schema_version": 1,
    "producer": "aicpu",
    "records": [
    [0, 1, 501, 3001]
    ]
  },
  "scheduler_records": {
    "schema_version": 1,
    "streams": [
    ]
  },
  "host_orchestrator_phases": [[
      {"submit_idx": 0, "task_id": 7, "start_host_ns": 500, "end_host_ns": 520},
      {"submit_idx": 1, "task_id": 4294967297, "start_host_ns": 900, "end_host_ns": 950}
    ]],
  "host_device_uploads": [
      {"phase": "arena_h2d", "start_host_ns": 990, "end_host_ns": 999, "detail": 3840},
      {"phase": "graph_upload", "start_host_ns": 980, "end_host_ns": 985, "detail": 0}
    ]
}
`)
	rec, err := capture.ReadFrom(strings.NewReader(text(t, hostRun(2))), "run", capture.Options{})
	if err != nil || len(rec.Warnings) > 0 {
		t.Fatal(err, rec.Warnings)
	}
	tl, err := timeline.New(rec, nil)
	if err != nil || tl.Host == nil || len(tl.Losses) > 0 {
		t.Fatal(err, tl)
	}
	same(t, "uploads", len(rec.Uploads), 2)

	// At level 3 of such a run the submits are not armed, and at level 2 there is no place for them.
	c.Level = abi.ScheduleTiming
	same(t, "sections at level 2", keys(t, json.RawMessage(text(t, c))), []string{"chip_swimlane_level", "metadata", "aicore_tasks", "scheduler_tasks"})
	c.Level, c.Host.Submits = abi.SchedPhases, nil
	if got := text(t, c); strings.Contains(got, "host_orchestrator_phases") || !strings.Contains(got, `"host_orchestration_origin_ns": 980,`) {
		t.Errorf("without submits: %s", got)
	}
	c.Host.Uploads = nil
	if got := text(t, c); strings.Contains(got, "host_device_uploads") || !strings.Contains(got, `"host_orchestration_origin_ns": 0,`) {
		t.Errorf("without uploads: %s", got)
	}
}

func TestHostCaptureStatus(t *testing.T) {
	block := func(c *collector.Capture) string {
		return string(members(t, string(members(t, text(t, c))["metadata"]))["host_capture"])
	}
	same(t, "as expected", block(hostRun(2)),
		`{"status": "complete", "expected_records": 2, "recorded_records": 2, "pool_records": 5, "dropped_records": 0, "error": null}`)
	same(t, "one less", block(hostRun(3)),
		`{"status": "incomplete", "expected_records": 3, "recorded_records": 2, "pool_records": 5, "dropped_records": 0, "error": "record_count_mismatch"}`)
	c := hostRun(3)
	c.Host.Pool, c.Host.Dropped = 6, 1
	same(t, "overflow", block(c),
		`{"status": "dropped", "expected_records": 3, "recorded_records": 2, "pool_records": 6, "dropped_records": 1, "error": "pool_overflow"}`)
}
