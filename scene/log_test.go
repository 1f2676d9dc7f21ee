package scene_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
	"swimlane/scene"
)

// slotted is a chain of two kernels of 20 µs in the slots 3 and 15.
func slotted() *scene.Scene {
	wait := &scene.Incore{FuncID: 4, Name: "WAIT", Core: scene.AIV, Run: func(*scene.Call) uint64 { return 36_000 }} // at 1.8 GHz: 20 µs
	return &scene.Scene{
		Class: "TestSlotted", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{wait},
			Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, _ *scene.Case, _ []scene.Tensor) {
				three, last := scene.Slot(3), scene.Slot(15)
				a, _ := o.Submit(scene.Task{AIV0: wait, Blocks: 2, Slot: &three})
				o.Submit(scene.Task{AIV0: wait, After: []scene.ID{a}, Slot: &last})
			}},
		},
		Cases: []scene.Case{{Name: "basic", Platforms: []string{scene.A2A3Sim, scene.A5Sim}, Config: scene.Config{Clusters: 2}}},
	}
}

// TestHostLog: a run is a tree of spans as spec/host-log.md §4.2 has it, in a log that
// is read without a warning.
func TestHostLog(t *testing.T) {
	dir := t.TempDir()
	r, err := first(slotted()).RunWith(scene.Setup{Platform: scene.A2A3Sim, Call: scene.CallConfig{OutputPrefix: dir}})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, fmt.Sprintf("host.%d.log", os.Getpid())); r.HostLog != want {
		t.Errorf("the host's log is %q, want %q", r.HostLog, want)
	}
	log, err := hostlog.ReadAll(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if w := log.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
	all := hostlog.Invocations(log.Spans)
	if len(all) != 1 {
		t.Fatalf("%d runs, want one", len(all))
	}
	run := &all[0]
	span := func(name string) *hostlog.Span {
		s := run.Named(name)
		if s == nil {
			t.Fatalf("there is no %s", name)
		}
		return s
	}
	const run0, wall = "chip.run", "chip.run.runner_run.device_wall"
	for _, v := range []struct {
		name, within string
		depth        int
	}{
		{"chip.run.bind", run0, 1}, {"chip.run.runner_run", run0, 1}, {"chip.run.claim_release", run0, 1}, {"chip.run.validate", run0, 1},
		{"chip.run.bind.args", "chip.run.bind", 2}, {"chip.run.bind.prebuilt", "chip.run.bind", 2},
		{wall + ".preamble", wall, 3}, {wall + ".graph_build", wall, 3}, {wall + ".config_validate", wall + ".graph_build", 3},
		{wall + ".arena_wire", wall + ".graph_build", 3}, {wall + ".sm_reset", wall + ".graph_build", 3},
		{wall + ".orch", wall + ".graph_build", 3}, {wall + ".sched", wall + ".graph_build", 3}, {wall + ".post_orch", wall, 3},
		{wall + ".task_slot_3", wall + ".sched", 3}, {wall + ".task_slot_15", wall + ".sched", 3},
	} {
		s, in := span(v.name), span(v.within)
		if s.Depth != v.depth || s.TS < in.TS || s.End() > in.End() {
			t.Errorf("%s (depth %d, %d to %d ns) is not in %s (%d to %d ns), at depth %d", v.name, s.Depth, s.TS, s.End(), v.within, in.TS, in.End(), v.depth)
		}
		if s.Device() != strings.HasPrefix(v.name, wall) {
			t.Errorf("%s is on the wrong clock", v.name)
		}
	}
	if span(wall).Dur > span("chip.run.runner_run").Dur {
		t.Error("the device ran longer than its host saw it run")
	}
	three, last := span(wall+".task_slot_3"), span(wall+".task_slot_15")
	if three.Dur < 20_000 || last.Dur < 20_000 || last.TS < three.End() {
		t.Errorf("slots 3 and 15 are %d+%d and %d+%d ns, want one kernel of 20 µs after the other", three.TS, three.Dur, last.TS, last.Dur)
	}
	for _, s := range log.Spans {
		if _, ok := log.Wall(&s); ok == s.Device() {
			t.Errorf("%s has a time of day: %v", s.Name, ok)
		}
	}
	if id, _ := span(run0).Attr("run_epoch"); id.Text() == "0" {
		t.Error("the run has no epoch")
	}
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("device.%d.log", os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	orch := span(wall + ".orch")
	var start, end uint64
	var cost float64
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	at := strings.Index(lines[len(lines)-1], "orch_start=")
	if at < 0 {
		t.Fatalf("the log of the device ends with %q", lines[len(lines)-1])
	}
	if _, err := fmt.Sscanf(lines[len(lines)-1][at:], "orch_start=%d orch_end=%d orch_cost=%fus", &start, &end, &cost); err != nil {
		t.Errorf("%q: %v", lines[len(lines)-1], err)
	}
	if int64(end-start)*20 != orch.Dur || cost*1e3 < float64(orch.Dur-20) || cost*1e3 > float64(orch.Dur+20) {
		t.Errorf("orchestration took %d cycles, %f µs; its span is %d ns", end-start, cost, orch.Dur)
	}
}

// TestTimingSlotsAlways: the slots are reported with everything off, for every round.
func TestTimingSlotsAlways(t *testing.T) {
	var text bytes.Buffer
	r, err := first(slotted()).RunWith(scene.Setup{Platform: scene.A5Sim, Rounds: 3, Log: &text})
	if err != nil {
		t.Fatal(err)
	}
	log, err := hostlog.ReadAll(bytes.NewReader(text.Bytes()), "-")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(hostlog.Invocations(log.Spans)); n != 3 || r.Rounds != 3 {
		t.Errorf("%d runs in the log and %d in the result, want 3", n, r.Rounds)
	}
	slots := map[string]int{}
	var runs []hostlog.Span
	for _, s := range log.Spans {
		if i := strings.Index(s.Name, "task_slot_"); i >= 0 {
			slots[s.Name[i:]]++
		}
		if s.Depth == 0 {
			runs = append(runs, s)
		}
	}
	if len(slots) != 2 || slots["task_slot_3"] != 3 || slots["task_slot_15"] != 3 {
		t.Errorf("slots %v, want 3 and 15 three times", slots)
	}
	if !slices.IsSortedFunc(runs, func(a, b hostlog.Span) int { return int(a.End() - b.TS) }) {
		t.Errorf("runs overlap: %+v", runs)
	}
	if r.Records != "" || len(r.Files()) > 0 {
		t.Errorf("files: %v, want none", r.Files())
	}
	if _, err := first(slotted()).RunWith(scene.Setup{Platform: scene.A5Sim, Rounds: 2, Call: scene.CallConfig{EnableDepGen: true, OutputPrefix: t.TempDir()}}); err == nil {
		t.Error("two rounds with dep_gen are no error")
	}
	text.Reset()
	if _, err := first(slotted()).RunWith(scene.Setup{Platform: scene.A5Sim, LogLevel: "WARN", Log: &text}); err != nil || text.Len() > 0 {
		t.Errorf("%v, and a log above the threshold: %s", err, &text)
	}
}

// TestClockAnchors: the samples say that the counter of the chip and the clock of the
// host are one, cycles = ns · frequency / 10⁹, as in the ecosystem's simulator
// (spec/collector.md §7.5), but for how much later than the first this run is.
func TestClockAnchors(t *testing.T) {
	r, err := first(slotted()).Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 1, CaptureClockAnchors: true, OutputPrefix: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.Records)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Metadata struct {
			Anchors struct {
				Provider string
				Samples  []struct {
					Position string
					Before   int64 `json:"host_before_ns"`
					After    int64 `json:"host_after_ns"`
					Cycles   int64 `json:"device_cycles"`
				}
			} `json:"clock_anchors"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	samples := file.Metadata.Anchors.Samples
	if file.Metadata.Anchors.Provider != "sim_syscnt" || len(samples) != 6 {
		t.Fatalf("%+v, want six samples of sim_syscnt", file.Metadata.Anchors)
	}
	ahead := (samples[0].Before+samples[0].After)/2 - samples[0].Cycles*20
	for _, s := range samples {
		if off := (s.Before+s.After)/2 - s.Cycles*20 - ahead; off < -20 || off > 20 {
			t.Errorf("%+v: the host is %d ns further ahead of the device than at first", s, off)
		}
	}
	without, err := first(slotted()).Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 1, OutputPrefix: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(without.Records); err != nil || bytes.Contains(text, []byte("clock_anchors")) {
		t.Errorf("anchors that nobody asked for (%v)", err)
	}
}

// TestCosts: a run takes what a table of costs says.
func TestCosts(t *testing.T) {
	s := first(slotted())
	plain, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "NUL"})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := scene.DefaultCosts(scene.A2A3Sim)
	if err != nil {
		t.Fatal(err)
	}
	if err := costs.Read(strings.NewReader(`{"core.start": {"ns": 100060, "source": "a test: 0.1 ms more"}}`)); err != nil {
		t.Fatal(err)
	}
	slow, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "NUL", Costs: costs})
	if err != nil {
		t.Fatal(err)
	}
	if more := slow.Makespan - plain.Makespan; more < 199_000 || more > 210_000 { // two kernels, one after the other
		t.Errorf("the run takes %v more, want about 0.2 ms", more)
	}
	if _, err := s.RunWith(scene.Setup{Platform: scene.A5Sim, Costs: costs}); err == nil {
		t.Error("the costs of another platform are no error")
	}
}

// TestSignatures: what does not fit a signature is refused.
func TestSignatures(t *testing.T) {
	for _, v := range []struct {
		change func(*scene.Scene)
		want   string // "" = no error
	}{
		{func(s *scene.Scene) {
			s.Callable.Orchestration.Signature = []scene.Direction{scene.Reads, scene.Reads, scene.Writes}
			s.Callable.Incores[0].Signature = []scene.Direction{scene.Reads, scene.Reads, scene.Writes}
		}, ""},
		{func(s *scene.Scene) { s.Callable.Orchestration.Signature = []scene.Direction{scene.Reads} }, "expected the 1 of the orchestration's signature"},
		{func(s *scene.Scene) { s.Callable.Incores[1].Signature = []scene.Direction{scene.Reads} }, `"ADD_ONE" has 2 arguments: expected the 1`},
		{func(s *scene.Scene) {
			s.Callable.Incores[1].Signature = []scene.Direction{scene.Reads, scene.ReadWrites}
		}, `argument 1 that is OUT: expected INOUT`},
	} {
		s := vectors(0)
		v.change(s)
		_, err := first(s).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "NUL"})
		if (err == nil) != (v.want == "") || err != nil && !strings.Contains(err.Error(), v.want) {
			t.Errorf("%v, want %q", err, v.want)
		}
	}
}
