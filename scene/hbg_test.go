package scene_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/hostlog"
	"swimlane/scene"
)

// onHost is a scene whose graph the host builds.
func onHost(s *scene.Scene) *scene.Scene {
	s.Runtime = scene.HostBuildGraph
	return s
}

// metadata is what a capture says of the host.
type metadata struct {
	Source  string `json:"orchestrator_source"`
	Capture *struct {
		Status             string
		Expected, Recorded int
		Pool               int `json:"pool_records"`
	} `json:"host_capture"`
	Anchors *struct {
		Samples []struct {
			Before int64 `json:"host_before_ns"`
			After  int64 `json:"host_after_ns"`
			Cycles int64 `json:"device_cycles"`
		}
	} `json:"clock_anchors"`
}

func readMetadata(t *testing.T, path string) metadata {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Metadata metadata }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Metadata
}

// TestBuiltLevels: values, tasks and graph are the same as on the device at every level;
// what the host did, and the anchors of its clock, are there at level 4 only.
func TestBuiltLevels(t *testing.T) {
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		for level := range 5 {
			dir := t.TempDir()
			r, err := first(onHost(vectors(0))).Run(platform, scene.CallConfig{EnableChipSwimlane: level, EnableDepGen: level != 2, OutputPrefix: dir})
			if err != nil || r.Golden != nil || r.Tasks != 5 || r.Submits != 5 || r.Makespan <= 0 || len(r.Notes) > 0 || r.Device != "" {
				t.Fatalf("%s, level %d: %+v (%v)", platform, level, r, err)
			}
			if level != 2 {
				if d, err := capture.ReadDeps(r.Graph, nil); err != nil || len(d.Task) != 5 {
					t.Errorf("%s, level %d: graph %+v (%v)", platform, level, d, err)
				}
			}
			if (r.Phases != "") != (level == 4) {
				t.Errorf("%s, level %d: host phases %q", platform, level, r.Phases)
			}
			if level == 0 {
				continue
			}
			c, err := capture.Read(r.Records, capture.Options{})
			if err != nil || c.Level != level || c.Tasks.Len() != 5 || len(c.Warnings) > 0 || (len(c.HostOrc) > 0) != (level == 4) || len(c.DeviceOrc) > 0 {
				t.Errorf("%s, level %d: %v, records %+v", platform, level, err, c)
			}
			m := readMetadata(t, r.Records)
			if (m.Source == "host") != (level == 4) || (m.Capture != nil) != (level == 4) || (m.Anchors != nil) != (level == 4) {
				t.Errorf("%s, level %d: metadata %+v", platform, level, m)
			}
			if level == 4 && (m.Capture.Status != "complete" || m.Capture.Pool != 5+10) { // five submits, ten segments
				t.Errorf("%s: the host's part is %+v", platform, m.Capture)
			}
		}
	}
}

// TestBuiltLog: a run has the segments of its binding one behind the other, as the phase
// records have them, and no phases of the device; slots are there
// (spec/host-log.md §4.2, §4.4, §6.6).
func TestBuiltLog(t *testing.T) {
	dir := t.TempDir()
	r, err := first(onHost(slotted())).Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 4, OutputPrefix: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := hostlog.ReadAll(nil, dir)
	if err != nil || len(log.Warnings()) > 0 {
		t.Fatalf("%v, warnings %v", err, log.Warnings())
	}
	run := hostlog.Invocations(log.Spans)[0]
	f, err := os.Open(r.Phases)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var line struct {
		Pid     int
		Inv     uint64
		Clock   string
		Records []struct {
			Phase  string
			Start  int64 `json:"start_ns"`
			End    int64 `json:"end_ns"`
			Detail uint64
			Tid    int
		}
	}
	lines := bufio.NewScanner(f)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &line) != nil || lines.Scan() {
		t.Fatalf("%s holds %+v, want one line", r.Phases, line)
	}
	if root := run.Named("chip.run"); line.Pid != os.Getpid() || line.Inv != root.Inv || line.Clock != "host_monotonic_ns" {
		t.Errorf("the phases are of %d, run %d: want %d, %d", line.Pid, line.Inv, os.Getpid(), root.Inv)
	}
	bind := run.Named("chip.run.bind")
	at, submits := bind.TS, 0
	var names []string
	for _, p := range line.Records {
		if p.Phase == "submit_task" {
			if orch := run.Named("chip.run.bind.host_orch"); p.Start < orch.TS || p.End > orch.End() || p.Detail != uint64(submits) || p.Tid != line.Pid {
				t.Errorf("%+v: want the submit of task %d in host_orch, from %d to %d", p, submits, orch.TS, orch.End())
			}
			submits++
			continue
		}
		names = append(names, p.Phase)
		s := run.Named("chip.run.bind." + p.Phase)
		if s == nil || s.TS != p.Start || s.End() != p.End || s.Depth != 2 || s.TS < at || s.End() > bind.End() {
			t.Errorf("%+v: want a span like it in the log, after %d and until %d: %+v", p, at, bind.End(), s)
			continue
		}
		at = s.End()
	}
	if want := strings.Fields("args arena_build static_arena gm_heap runtime_init host_orch graph_upload shared_mem arena_h2d host_view_close"); !slices.Equal(names, want) || submits != 2 {
		t.Errorf("segments %v and %d submits, want %v and two", names, submits, want)
	}
	const wall = "chip.run.runner_run.device_wall"
	for _, s := range log.Spans {
		if strings.HasPrefix(s.Name, wall+".") && !strings.Contains(s.Name, "task_slot_") {
			t.Errorf("there is a phase of the device, %s", s.Name)
		}
	}
	three, last := run.Named(wall+".task_slot_3"), run.Named(wall+".task_slot_15")
	if three == nil || last == nil || three.TS != 0 || three.Dur < 20_000 || last.TS < three.End() { // the earliest is the zero
		t.Errorf("slots 3 and 15 are %+v and %+v, want one kernel of 20 µs after the other, from 0 on", three, last)
	}
	// The anchors lie at both ends, before the binding's first segment and after the
	// device, and tie the clocks together.
	samples := readMetadata(t, r.Records).Anchors.Samples
	if len(samples) != 6 || samples[0].Before < bind.TS || samples[2].After > run.Named("chip.run.bind.args").TS || samples[3].Before < run.Named("chip.run.runner_run").TS {
		t.Fatalf("samples %+v, want three before %+v and three in the run", samples, run.Named("chip.run.bind.args"))
	}
	ahead := (samples[0].Before+samples[0].After)/2 - samples[0].Cycles*20
	for _, s := range samples {
		if off := (s.Before+s.After)/2 - s.Cycles*20 - ahead; off < -20 || off > 20 {
			t.Errorf("%+v: the host is %d ns further ahead of the device than at first", s, off)
		}
	}
}

// TestBuiltFails: the task graph of a run that fails on the chip is there, and what was
// recorded; of an orchestration that fails there is what the host did until then.
func TestBuiltFails(t *testing.T) {
	cfg := func(dir string) scene.CallConfig {
		return scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: dir}
	}
	s := onHost(vectors(0))
	s.Callable.Incores[3].Run = func(*scene.Call) uint64 { panic("broken kernel") }
	dir := t.TempDir()
	r, err := first(s).Run(scene.A2A3Sim, cfg(dir))
	if err == nil || !strings.Contains(err.Error(), "broken kernel") {
		t.Errorf("error %v", err)
	}
	if d, err := capture.ReadDeps(r.Graph, nil); err != nil || len(d.Task) != 5 {
		t.Errorf("the graph is %+v (%v)", d, err)
	}
	if c, err := capture.Read(r.Records, capture.Options{}); err != nil || c.Tasks.Len() < 3 || len(c.HostOrc) != 1 || c.HostOrc[0].Len() != 5 {
		t.Errorf("records %+v (%v), want the three tasks before the one that fails, and five submits", c, err)
	}

	s = onHost(vectors(0))
	whole := s.Callable.Orchestration.Run
	s.Callable.Orchestration.Run = func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
		whole(o, c, args)
		panic("broken orchestration")
	}
	r, err = first(s).Run(scene.A2A3Sim, cfg(t.TempDir()))
	if err == nil || !strings.Contains(err.Error(), "broken orchestration") || r.Graph != "" {
		t.Errorf("error %v, graph %q", err, r.Graph)
	}
	if text, err := os.ReadFile(r.Phases); err != nil || bytes.Count(text, []byte(`"submit_task"`)) != 5 {
		t.Errorf("host phases %s (%v), want five submits", text, err)
	}
}

// graphScene is a scene with a graph, which copies twice.
func graphScene() *scene.Scene {
	s := vectors(0)
	copied := vectorKernel(7, "COPY", func(in []float32) float32 { return in[0] })
	g := &scene.Graph{Run: func(o *scene.Orchestrator, args []scene.Tensor) {
		_, made := o.Submit(scene.Task{AIV0: copied, Args: []scene.Arg{scene.In(args[0]), scene.Out(scene.Shape(scene.Float32, args[0].Shape()...))}})
		o.Submit(scene.Task{AIV0: copied, Args: []scene.Arg{scene.In(made[1]), scene.Into(args[1])}})
	}}
	s.Callable.Incores = []*scene.Incore{copied}
	s.Callable.Orchestration.Run = func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
		id, _ := o.Graph(g, scene.In(args[0]), scene.Into(args[1]))
		_, made := o.Graph(g, scene.In(args[1]), scene.Out(scene.Shape(scene.Float32, args[0].Shape()...)))
		o.Submit(scene.Task{AIV0: copied, Args: []scene.Arg{scene.In(made[1]), scene.Into(args[2])}, After: []scene.ID{id}})
	}
	s.Golden = func(_ *scene.Case, in []scene.Data) []scene.Data { return in[:1] }
	return s
}

// TestGraphs: a graph is a task with arguments and outputs, on the host only.
func TestGraphs(t *testing.T) {
	r, err := first(onHost(graphScene())).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "NUL", Rounds: 2})
	if err != nil || r.Golden != nil || r.Tasks != 3 || r.Submits != 3 || r.Rounds != 2 {
		t.Errorf("%+v (%v)", r, err)
	}
	_, err = first(graphScene()).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "NUL"})
	if err == nil || !strings.Contains(err.Error(), "the runtime tensormap_and_ringbuffer has no graphs: expected host_build_graph") {
		t.Errorf("error %v", err)
	}
}

// TestBuiltProgress: progress counts all that runs.
func TestBuiltProgress(t *testing.T) {
	s := onHost(slotted())
	kernel := s.Callable.Incores[0]
	s.Callable.Orchestration.Run = func(o *scene.Orchestrator, _ *scene.Case, _ []scene.Tensor) {
		for range 600 {
			o.Submit(scene.Task{AIV0: kernel})
		}
	}
	var seen []string
	if _, err := first(s).RunWith(scene.Setup{Platform: scene.A5Sim, LogLevel: "NUL", Progress: func(submitted, completed int) {
		seen = append(seen, fmt.Sprint(completed, "/", submitted))
	}}); err != nil || len(seen) != 2 {
		t.Errorf("progress %v (%v), want it twice", seen, err)
	}
	if files, _ := filepath.Glob("host_phase*"); len(files) > 0 {
		t.Errorf("%v is left without a prefix", files)
	}
}
