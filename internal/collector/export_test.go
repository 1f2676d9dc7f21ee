package collector_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/timeline"
)

const tmr = "tensormap_and_ringbuffer"

// worked is the capture of spec/collector.md §7.7.
func worked(level abi.Level) *collector.Capture {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 1, 0, bytesOf(abi.AicoreTask{StartTime: 2600, EndTime: 3100, TaskTokenRaw: 4294967297, RegTaskID: 1, ReceiveToStartCycles: 35}))
	s.Add(abi.KindAicoreTask, 0, 0, bytesOf(abi.AicoreTask{StartTime: 1200, EndTime: 2200, TaskTokenRaw: 4294967296, RegTaskID: 1, ReceiveToStartCycles: 40}))
	if level >= abi.ScheduleTiming {
		s.Add(abi.KindAicpuTask, 0, 0, bytesOf(abi.AicpuTask{DispatchTime: 1100, FinishTime: 2260, RegTaskID: 1}))
		s.Add(abi.KindAicpuTask, 1, 0, bytesOf(abi.AicpuTask{DispatchTime: 2500, FinishTime: 3170, RegTaskID: 1}))
	}
	if level >= abi.SchedPhases {
		s.Add(abi.KindSchedPhase, 0, 0, bytesOf(
			abi.SchedPhase{StartTime: 1050, EndTime: 1130, LoopIter: 7, Kind: abi.Dispatch, TasksProcessed: 1, PhaseData: [2]uint32{1, 0}, SharedDepthAtStart: [3]int16{1, 0, 0}},
			abi.SchedPhase{StartTime: 2255, EndTime: 2300, LoopIter: 40, Kind: abi.Complete, TasksProcessed: 1, SharedDepthAtEnd: [3]int16{0, 1, 0}},
			abi.SchedPhase{StartTime: 2310, EndTime: 2310, LoopIter: 41, Kind: abi.DummyTask, TasksProcessed: 1, PhaseData: [2]uint32{9, 2}},
		))
	}
	if level >= abi.OrchPhases {
		s.Add(abi.KindOrchPhase, 0, 0, bytesOf(
			abi.OrchPhase{StartTime: 800, EndTime: 1000, TaskID: 4294967296, SubmitIdx: 0},
			abi.OrchPhase{StartTime: 1010, EndTime: 1040, TaskID: 4294967297, SubmitIdx: 1},
		))
	}
	c := collector.NewCapture(abi.A2A3, level, 3, []*collector.Store{s}, []uint32{1, 1, 0})
	c.Runtime = tmr
	c.CoreTypes = abi.CoreTypes(1)
	c.CoreToThread = []int8{0, 0, 0}
	c.OrchThreads = 1
	return c
}

// text writes a capture, which must be JSON.
func text(t *testing.T, c *collector.Capture) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatalf("no JSON: %s", b.String())
	}
	return b.String()
}

// equalText shows where two texts part.
func equalText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s: line %d:\n got %q\nwant %q", what, i+1, g[i], w[i])
			return
		}
	}
	t.Errorf("%s: %d lines, want %d", what, len(g), len(w))
}

// noLoss is the accounting of a capture without any.
const noLoss = `    "capture_accounting": {"policy": "block", "kinds": {` +
	`"AICPU_TASK": {"total": 0, "collected": 0, "dropped": 0, "host_lost": 0, "unflushed": 0}, ` +
	`"SCHED_PHASE": {"total": 0, "collected": 0, "dropped": 0, "host_lost": 0, "unflushed": 0}, ` +
	`"ORCH_PHASE": {"total": 0, "collected": 0, "dropped": 0, "host_lost": 0, "unflushed": 0}, ` +
	`"AICORE_TASK": {"total": 0, "collected": 0, "dropped": 0, "host_lost": 0, "unflushed": 0}}, ` +
	`"stalls": {"count": 0, "real_ns": 0}}`

func TestWorkedExample(t *testing.T) {
	example, err := os.ReadFile("testdata/worked_example.json")
	if err != nil {
		t.Fatal(err)
	}
	c := worked(abi.OrchPhases)
	c.Strict = true
	equalText(t, "as others write it", text(t, c), string(example))

	ours := strings.Replace(string(example), `    "core_to_thread": [0, 0, 0]`, `    "core_to_thread": [0, 0, 0],`+"\n"+noLoss, 1)
	equalText(t, "with the accounting", text(t, worked(abi.OrchPhases)), ours)
}

// keys are the members of an object, in order.
func keys(t *testing.T, object json.RawMessage) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, key.(string))
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// members are the values of an object.
func members(t *testing.T, object string) map[string]json.RawMessage {
	t.Helper()
	var out map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLevels(t *testing.T) {
	want := []string{"chip_swimlane_level", "metadata", "aicore_tasks", "scheduler_tasks", "scheduler_records", "aicpu_orchestrator_phases"}
	for level, n := range map[abi.Level]int{1: 3, 2: 4, 3: 5, 4: 6} {
		file := text(t, worked(level))
		same(t, "sections", keys(t, json.RawMessage(file)), want[:n])
		same(t, "level", string(members(t, file)["chip_swimlane_level"]), string(rune('0'+level)))
	}
	// Whatever was collected, the level says which sections there are.
	all := worked(abi.OrchPhases)
	all.Level = abi.TaskTiming
	equalText(t, "level 1", text(t, all), text(t, worked(abi.TaskTiming)))
}

func TestEmptySections(t *testing.T) {
	c := collector.NewCapture(abi.A5, abi.OrchPhases, 1, nil, nil)
	c.Clock = collector.NewClockCorrelation(collector.ProviderUnavailable, abi.A5)
	c.Strict = true
	equalText(t, "nothing but a correlation", text(t, c), `{
  "chip_swimlane_level": 4,
  "metadata": {
    "clock_freq_hz": 1000000000,
    "num_cores": 1,
    "core_types": ["aiv"],
    "clock_anchors": {
      "provider": "unavailable",
      "device_timestamp_unit": "syscnt_cycles",
      "raw_device_timestamp_unit": "unknown",
      "samples_per_position": 3,
      "samples": [
      ]
    }
  },
  "aicore_tasks": [],
  "scheduler_tasks": {
    "schema_version": 1,
    "producer": "aicpu",
    "records": [
    ]
  },
  "scheduler_records": {
    "schema_version": 1,
    "streams": [
    ]
  }
}
`)
}

func TestOrchestratorLanes(t *testing.T) {
	for said, lanes := range map[uint32]int{0: 4, 1: 1, 2: 2, 4: 4, 5: 4, math.MaxUint32: 4} {
		c := worked(abi.OrchPhases)
		c.OrchThreads = said
		_, got, _ := strings.Cut(text(t, c), `"aicpu_orchestrator_phases": `)
		want := `[
    [
      {"submit_idx": 0, "task_id": 4294967296, "start_cycles": 800, "end_cycles": 1000},
      {"submit_idx": 1, "task_id": 4294967297, "start_cycles": 1010, "end_cycles": 1040}
    ]` + strings.Repeat(",\n    []", lanes-1) + "\n  ]\n}\n"
		equalText(t, "lanes", got, want)
	}
}

// TestStreamsWithDropsOnly: a thread that lost all it recorded says so, unless
// the file is to be that of another writer (spec/collector.md, question 12).
func TestStreamsWithDropsOnly(t *testing.T) {
	c := worked(abi.SchedPhases)
	c.SchedDropped = []uint32{0, 0, 4}
	const stream = ",\n" + `      {"platform": "a2a3", "runtime": "tensormap_and_ringbuffer", "producer": "aicpu", "scheduler_id": 2, "worker_id": 2, ` +
		`"core_type": "aicpu", "physical_core_id": null, "capture": {"committed": 0, "dropped": 4, "truncated": true}, "records": [` + "\n" +
		`      ], "metrics": [` + "\n      ]}\n    ]\n  }\n}\n"
	if got := text(t, c); !strings.HasSuffix(got, stream) {
		t.Errorf("the file ends with %q", got[len(got)-len(stream):])
	}
	c.Strict = true
	if got := text(t, c); strings.Contains(got, `"scheduler_id": 2`) {
		t.Error("a stream without records in strict mode")
	}
	c.SchedDropped[0] = 3
	if got := text(t, c); !strings.Contains(got, `"capture": {"committed": 3, "dropped": 3, "truncated": true}, "records": [`+"\n        {") {
		t.Error("a stream with records and drops is not marked")
	}
}

func TestKindsAndTaskIDs(t *testing.T) {
	names := []string{"complete", "dispatch", "release", "unknown", "dummy", "early_dispatch", "resolve", "dummy_task", "drain", "drain_prepare",
		"drain_publish", "async_poll", "predicated_skip", "graph_prepare", "resolve_standalone", "unknown"}
	s := new(collector.Store)
	var phases []abi.SchedPhase
	for kind := range names {
		phases = append(phases, abi.SchedPhase{StartTime: 1, EndTime: 2, Kind: abi.PhaseKind(kind), PhaseData: [2]uint32{5, 6}})
	}
	s.Add(abi.KindSchedPhase, 1, 0, bytesOf(phases...))
	var file struct {
		SchedulerRecords struct {
			Streams []struct {
				Records []struct {
					Kind   string  `json:"kind"`
					TaskID *uint64 `json:"task_id"`
				} `json:"records"`
				Metrics []struct {
					Index int     `json:"record_index"`
					Hit   *uint32 `json:"pop_hit"`
					Miss  *uint32 `json:"pop_miss"`
				} `json:"metrics"`
			} `json:"streams"`
		} `json:"scheduler_records"`
	}
	if err := json.Unmarshal([]byte(text(t, collector.NewCapture(abi.A2A3, abi.SchedPhases, 1, []*collector.Store{s}, nil))), &file); err != nil {
		t.Fatal(err)
	}
	stream := file.SchedulerRecords.Streams[0]
	same(t, "records", len(stream.Records), len(names))
	same(t, "metrics", len(stream.Metrics), len(names))
	for kind, name := range names {
		r, m := stream.Records[kind], stream.Metrics[kind]
		same(t, "name", r.Kind, name)
		named := name == "dummy_task" || name == "predicated_skip" || name == "graph_prepare"
		if (r.TaskID != nil) != named || named && *r.TaskID != 6<<32|5 {
			t.Errorf("%s: task id %v", name, r.TaskID)
		}
		same(t, "index", m.Index, kind)
		if pops := name == "dispatch"; (m.Hit != nil) != pops || (m.Miss != nil) != pops || pops && (*m.Hit != 5 || *m.Miss != 6) {
			t.Errorf("%s: pops %v %v", name, m.Hit, m.Miss)
		}
	}
}

// TestLargestNumbers: plain decimals over the whole range.
func TestLargestNumbers(t *testing.T) {
	const u64, u32 = "18446744073709551615", "4294967295"
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, bytesOf(abi.AicoreTask{StartTime: math.MaxUint64, EndTime: math.MaxUint64, TaskTokenRaw: math.MaxUint64, RegTaskID: math.MaxUint32, ReceiveToStartCycles: math.MaxUint32}))
	s.Add(abi.KindAicpuTask, 0, 0, bytesOf(abi.AicpuTask{DispatchTime: math.MaxUint64, FinishTime: math.MaxUint64, RegTaskID: math.MaxUint32}))
	s.Add(abi.KindSchedPhase, 0, 0, bytesOf(abi.SchedPhase{
		StartTime: math.MaxUint64, EndTime: math.MaxUint64, LoopIter: math.MaxUint32, Kind: abi.GraphPrepare, TasksProcessed: math.MaxUint32,
		PhaseData: [2]uint32{math.MaxUint32, math.MaxUint32}, SharedDepthAtStart: [3]int16{32767, -1, -32768},
	}))
	s.Add(abi.KindOrchPhase, 0, 0, bytesOf(abi.OrchPhase{StartTime: math.MaxUint64, EndTime: math.MaxUint64, TaskID: math.MaxUint64, SubmitIdx: math.MaxUint32}))
	c := collector.NewCapture(abi.A2A3, abi.OrchPhases, 1, []*collector.Store{s}, []uint32{math.MaxUint32})
	c.SchedDropped = []uint32{math.MaxUint32}
	c.Accounting.Kinds[abi.KindSchedPhase] = collector.Account{Total: math.MaxUint64}
	file := text(t, c)
	for _, want := range []string{
		"\n    [0, " + u64 + ", " + u32 + ", " + u64 + ", " + u64 + ", " + u32 + "]\n",
		"\n    [0, " + u32 + ", " + u64 + ", " + u64 + "]\n",
		`{"start_cycles": ` + u64 + `, "end_cycles": ` + u64 + `, "loop_iter": ` + u32 + `, "kind": "graph_prepare", "tasks_processed": ` + u32 + `, "task_id": ` + u64 + "}\n",
		`"shared_at_start": [32767,-1,-32768], "shared_at_end": [0,0,0]}`,
		`{"submit_idx": ` + u32 + `, "task_id": ` + u64 + `, "start_cycles": ` + u64 + `, "end_cycles": ` + u64 + `}`,
		`"capture": {"committed": 1, "dropped": ` + u32 + `, "truncated": true}`,
		`"SCHED_PHASE": {"total": ` + u64 + `, "collected": 0`,
	} {
		if !strings.Contains(file, want) {
			t.Errorf("the file lacks %q:\n%s", want, file)
		}
	}
}

func TestGuards(t *testing.T) {
	empty := func() *collector.Capture { return collector.NewCapture(abi.A5, abi.OrchPhases, 3, nil, nil) }
	set := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	kernels := twoKernels()
	timings := twoTimings()
	for what, test := range map[string]struct {
		make func() *collector.Capture
		is   error
		text string
	}{
		"no run": {func() *collector.Capture { return new(collector.Capture) }, nil,
			"the capture is of no run (0 cores, level 0); initialize a collector at level 1 to 4 before the launch"},
		"level 0": {func() *collector.Capture { c := worked(abi.OrchPhases); c.Level = 0; return c }, nil,
			"the capture is of no run (3 cores, level 0); initialize a collector at level 1 to 4 before the launch"},
		"level 5": {func() *collector.Capture { c := worked(abi.OrchPhases); c.Level = 5; return c }, nil,
			"the capture is of no run (3 cores, level 5); initialize a collector at level 1 to 4 before the launch"},
		"two schedulers": {func() *collector.Capture {
			c := worked(abi.OrchPhases)
			set(c.Sections.SetSchedulerRecords(nil))
			set(c.Sections.SetAicoreTasks(kernels)) // would be refused next
			return c
		}, collector.ErrTwoSchedulers, "Both runtime and AICPU scheduler records are present; refusing ambiguous export"},
		"kernels twice": {func() *collector.Capture {
			c := worked(abi.OrchPhases)
			set(c.Sections.SetAicoreTasks(kernels))
			c.Host = new(collector.HostPhases) // would be refused later
			return c
		}, collector.ErrTwoTaskSources, "Both runtime and platform task records are present; refusing ambiguous export"},
		"timings twice": {func() *collector.Capture {
			c := worked(abi.OrchPhases)
			set(c.Sections.SetSchedulerTasks(timings))
			return c
		}, collector.ErrTwoTaskSources, "Both runtime and platform task records are present; refusing ambiguous export"},
		"nothing": {empty, collector.ErrNoData, "Warning: No performance data to export."},
		"nothing on the host": {func() *collector.Capture { c := empty(); c.Host = new(collector.HostPhases); return c },
			collector.ErrNoData, "Warning: No performance data to export."},
		"nothing but drops": {func() *collector.Capture { c := empty(); c.SchedDropped = []uint32{9}; return c },
			collector.ErrNoData, "Warning: No performance data to export."},
		"two orchestrators": {func() *collector.Capture { c := worked(abi.OrchPhases); c.Host = new(collector.HostPhases); return c },
			collector.ErrMixedClocks, "Both host and AICPU orchestrator records are present; refusing mixed clock-domain export"},
		"a runtime with quotes": {func() *collector.Capture { c := worked(abi.OrchPhases); c.Runtime = `a"b`; return c }, nil,
			`the name "a\"b" cannot be written into a capture; expected letters, digits, - and _`},
		"a diagnostic with a line end": {func() *collector.Capture {
			c := worked(abi.OrchPhases)
			c.CoCaptured = []string{"pmu", "a\n"}
			return c
		}, nil,
			`the name "a\n" cannot be written into a capture; expected letters, digits, - and _`},
	} {
		dir := filepath.Join(t.TempDir(), "deep", "er")
		c := test.make()
		path, err := c.Export(dir)
		if path != "" || err == nil || err.Error() != test.text || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: got %q, %v, want %s", what, path, err, test.text)
		}
		if _, err := os.Stat(filepath.Dir(dir)); err == nil {
			t.Errorf("%s: a directory was made", what)
		}
		var b bytes.Buffer
		if err := c.Write(&b); err == nil || err.Error() != test.text || b.Len() > 0 {
			t.Errorf("%s: Write gives %v and %d bytes", what, err, b.Len())
		}
	}
	// Each of these alone is worth a file.
	for what, fill := range map[string]func(c *collector.Capture){
		"a correlation": func(c *collector.Capture) {
			c.Clock = collector.NewClockCorrelation(collector.ProviderSimSyscnt, abi.A5)
		},
		"a host phase":    func(c *collector.Capture) { c.Host = &collector.HostPhases{Pool: 1} },
		"no kernels":      func(c *collector.Capture) { set(c.Sections.SetAicoreTasks(collector.KernelColumns{})) },
		"no timings":      func(c *collector.Capture) { set(c.Sections.SetSchedulerTasks(collector.TimingColumns{})) },
		"no lifecycle":    func(c *collector.Capture) { set(c.Sections.SetLifecycle(nil)) },
		"no core streams": func(c *collector.Capture) { set(c.Sections.SetSchedulerRecords(nil)) },
	} {
		c := empty()
		fill(c)
		if err := c.Write(new(bytes.Buffer)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// files are the names in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestExportWritesOnce: one file, one pass (field report 58).
func TestExportWritesOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs", "case")
	c := worked(abi.OrchPhases)
	path, err := c.Export(dir)
	if err != nil || path != filepath.Join(dir, "chip_swimlane_records.json") {
		t.Fatal(path, err)
	}
	want := text(t, c)
	equalText(t, "file", read(t, path), want)
	same(t, "files", files(t, dir), []string{"chip_swimlane_records.json"})

	// A second pass would replace what stands there now.
	if err := os.WriteFile(path, []byte("of a later run"), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Export(dir); err != nil || again != path {
		t.Fatal(again, err)
	}
	equalText(t, "file", read(t, path), "of a later run")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Export(dir); err != nil {
		t.Fatal(err)
	}
	equalText(t, "file that was gone", read(t, path), want)

	other := t.TempDir()
	if path, err = c.Export(other); err != nil {
		t.Fatal(err)
	}
	equalText(t, "another place", read(t, path), want)
	if _, err := worked(abi.TaskTiming).Export(other); err != nil {
		t.Fatal(err)
	}
	equalText(t, "another capture", read(t, path), text(t, worked(abi.TaskTiming)))
}

func TestExportThatFails(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := worked(abi.OrchPhases)
	if _, err := c.Export(filepath.Join(blocked, "below")); err == nil || !strings.Contains(err.Error(), "cannot make the directory") {
		t.Errorf("a directory below a file: %v", err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, collector.RecordsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Export(taken); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory in its place: %v", err)
	}
	same(t, "what is left", files(t, taken), []string{collector.RecordsFile})

	// A failure is no pass: what stood there stays, and the next try writes.
	full := filepath.Join(dir, "full")
	if err := os.Mkdir(full, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(full, collector.RecordsFile)
	if os.Symlink("/dev/full", path) == nil {
		if _, err := c.Export(full); err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), path) {
			t.Errorf("a full device: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		same(t, "what is left", files(t, full), nil)
	}
	if _, err := c.Export(full); err != nil {
		t.Error(err)
	}
	equalText(t, "file", read(t, path), text(t, c))
}

type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("the disk is gone")
	}
	return len(b), nil
}

func TestWriterThatFails(t *testing.T) {
	c, _, _ := large(20_000)
	var n counter
	if err := c.Write(&n); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{0, 300 << 10, int(n.n) - 1} {
		if err := c.Write(&failing{left}); err == nil || err.Error() != "the disk is gone" {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	if err := c.Write(&failing{int(n.n)}); err != nil {
		t.Error(err)
	}
}

// TestReadBack: our own reader takes the file without a word, and joins it.
func TestReadBack(t *testing.T) {
	rec, err := capture.ReadFrom(strings.NewReader(text(t, worked(abi.OrchPhases))), "run", capture.Options{})
	if err != nil || len(rec.Warnings) > 0 {
		t.Fatal(err, rec.Warnings)
	}
	same(t, "loss", rec.Loss.Declared, false)
	same(t, "kernels", rec.Tasks.Len(), 2)
	same(t, "runtime", rec.Streams[0].Runtime, tmr)
	tl, err := timeline.New(rec, nil)
	if err != nil || len(tl.Losses) > 0 || len(tl.Warnings) > 0 {
		t.Fatal(err, tl.Losses, tl.Warnings)
	}
	same(t, "dispatch", tl.Rows.Dispatch, []uint64{1100, 2500})
	same(t, "receive", tl.Rows.Receive, []uint64{1160, 2565})
}

// TestLossIsReadBack: a reader takes rows without partners as lost where the
// accounting says so.
func TestLossIsReadBack(t *testing.T) {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, kernels(1, 2))
	s.Add(abi.KindAicpuTask, 0, 0, timings(1, 3)) // the kernel of token 3 is missing
	s.Add(abi.KindAicoreTask, 1, 0, kernels(1, 4))
	s.Add(abi.KindAicpuTask, 1, 0, timings(1, 3)) // the times of token 4 are
	c := collector.NewCapture(abi.A2A3, abi.ScheduleTiming, 3, []*collector.Store{s}, []uint32{2, 4, 0})
	c.Accounting.Policy = abi.Drop
	c.Accounting.Kinds[abi.KindAicoreTask] = collector.Account{Total: 7, Collected: 6, HostLost: 1}
	c.Accounting.Kinds[abi.KindAicpuTask] = collector.Account{Total: 11, Collected: 6, Dropped: 2, Unflushed: 3}
	c.Accounting.Stalls = collector.Stalls{Count: 2, RealNs: 12345}
	c.CoCaptured = []string{"dep_gen", "pmu"}
	file := text(t, c)
	for _, want := range []string{
		`"policy": "drop"`, `"AICPU_TASK": {"total": 11, "collected": 6, "dropped": 2, "host_lost": 0, "unflushed": 3}`,
		`"stalls": {"count": 2, "real_ns": 12345}}` + ",\n" + `    "co_captured": ["dep_gen", "pmu"]` + "\n  },",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("the file lacks %s", want)
		}
	}
	rec, err := capture.ReadFrom(strings.NewReader(file), "run", capture.Options{})
	if err != nil || len(rec.Warnings) != 1 || rec.Warnings[0].Code != "kernel-rows-without-scheduler" {
		t.Fatal(err, rec.Warnings)
	}
	same(t, "co-captured", rec.Meta.CoCaptured, []string{"dep_gen", "pmu"})
	same(t, "kinds", rec.Loss.Kinds, []capture.KindLoss{{Kind: "AICPU_TASK", N: 5}, {Kind: "AICORE_TASK", N: 1}})
	same(t, "loss", rec.Loss.Accounting, int64(6))
	same(t, "declared", rec.Loss.Declared, true)
	tl, err := timeline.New(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "kernels without times", tl.Untimed, int64(1))
	same(t, "times without kernels", tl.Unmatched, int64(1))
}
