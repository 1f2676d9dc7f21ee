package scene_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/internal/console"
	"swimlane/scene"
)

// everything records all there is, below a directory.
func everything(root string) scene.Options {
	return scene.Options{Platform: scene.A2A3Sim, Rounds: 1, Root: root, Diagnostics: scene.Diagnostics{Swimlane: 4, DepGen: true}}
}

// TestPerformFailing: what was recorded of a case that fails is converted
// (spec/name-map.md §8).
func TestPerformFailing(t *testing.T) {
	stop := vectors(0)
	whole := stop.Callable.Orchestration.Run
	stop.Callable.Orchestration.Run = func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
		whole(o, c, args)
		panic("no more")
	}
	for _, v := range []struct {
		scene *scene.Scene
		want  string
	}{{vectors(1), `of 512 values of "out" are wrong`}, {stop, "no more"}} {
		var out, problems bytes.Buffer
		p := first(v.scene).Perform(t.Context(), &out, &problems, everything(t.TempDir()))
		if p.Err == nil || !strings.Contains(p.Err.Error(), v.want) || strings.Contains(p.Err.Error(), "TestVectors") {
			t.Errorf("%v, want %q, without the label", p.Err, v.want)
		}
		if !strings.Contains(out.String(), "  TestVectors::basic ... FAILED: ") {
			t.Errorf("it prints\n%s", &out)
		}
		for _, path := range []string{p.Records, p.Trace, p.HostLog} {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", v.want, err)
			}
		}
	}
}

// TestConversionThatFails is a warning, and the case passes.
func TestConversionThatFails(t *testing.T) {
	root := t.TempDir()
	s := vectors(0)
	whole := s.Callable.Orchestration.Run
	s.Callable.Orchestration.Run = func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
		dirs, _ := filepath.Glob(filepath.Join(root, "outputs", "*"))
		if len(dirs) != 1 {
			t.Fatalf("directories %v, want one", dirs)
		}
		if err := os.Mkdir(filepath.Join(dirs[0], "merged_swimlane.json"), 0o777); err != nil {
			t.Fatal(err)
		}
		whole(o, c, args)
	}
	var out, problems bytes.Buffer
	p := first(s).Perform(t.Context(), &out, &problems, everything(root))
	if p.Err != nil || p.Conversions != 1 || p.Trace != "" {
		t.Errorf("%v, %d conversions failed, trace %q: want a case that passed, one that failed, and none", p.Err, p.Conversions, p.Trace)
	}
	if !strings.Contains(problems.String(), "Warning: Failed to generate swimlane JSON: ") {
		t.Errorf("warnings:\n%s", &problems)
	}
}

// TestMergeThatFails: captures that cannot be merged are drawn for themselves.
func TestMergeThatFails(t *testing.T) {
	root := t.TempDir()
	s := doomed()
	whole := s.Node.Run
	s.Node.Run = func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
		dirs, _ := filepath.Glob(filepath.Join(root, "outputs", "*"))
		if len(dirs) != 1 {
			t.Fatalf("directories %v, want one", dirs)
		}
		if err := os.Mkdir(filepath.Join(dirs[0], "l3_swimlane.json"), 0o777); err != nil {
			t.Fatal(err)
		}
		whole(o, c, args)
	}
	var out, problems bytes.Buffer
	p := caseOf(s, "well").Perform(t.Context(), &out, &problems, everything(root))
	if p.Err != nil || p.Conversions != 1 {
		t.Errorf("%v, %d conversions failed: want a case that passed, and one", p.Err, p.Conversions)
	}
	if want := "Warning: Failed to merge the captures of TestDoomed::well: --dispatch d0: "; !strings.Contains(problems.String(), want) {
		t.Errorf("warnings:\n%s", &problems)
	}
	var drawn []string
	for _, path := range p.Traces {
		rel, _ := filepath.Rel(p.Prefix, path)
		drawn = append(drawn, rel)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(drawn) // they are done in any order
	if !slices.Equal(drawn, []string{"rank0/d0/merged_swimlane.json", "rank1/d0/merged_swimlane.json", "rank2/d0/merged_swimlane.json"}) {
		t.Errorf("drawn are %v", drawn)
	}
}

// TestPrefixes: a second run of the same second does not write over the first.
// TestMergeWithoutSpans: what a log level takes from a merge is said, once.
func TestMergeWithoutSpans(t *testing.T) {
	for level, says := range map[string]int{"": 0, "timing": 0, "debug": 0, "warn": 1, "null": 1} {
		o := everything(t.TempDir())
		o.LogLevel = level
		var out, problems bytes.Buffer
		p := caseOf(doomed(), "well").Perform(t.Context(), &out, &problems, o)
		if p.Err != nil || (p.Conversions > 0) != (says > 0) {
			t.Errorf("%s: %v, %d conversions failed", level, p.Err, p.Conversions)
		}
		if n := strings.Count(problems.String(), "with --log-level "+level+" the host's log is without the spans"); n != says {
			t.Errorf("%s: it is said %d times, want %d:\n%s", level, n, says, &problems)
		}
	}
}

func TestPrefixes(t *testing.T) {
	root := t.TempDir()
	var seen []string
	for range 4 {
		var out bytes.Buffer
		p := first(slotted()).Perform(t.Context(), &out, &out, everything(root))
		if p.Err != nil || slices.Contains(seen, p.Prefix) || filepath.Dir(p.Prefix) != filepath.Join(root, "outputs") {
			t.Errorf("%v; %s is a directory of an earlier one, or elsewhere", p.Err, p.Prefix)
		}
		seen = append(seen, p.Prefix)
		stamp := strings.TrimPrefix(filepath.Base(p.Prefix), "TestSlotted_basic_")[:15]
		if at, err := time.ParseInLocation("20060102_150405", stamp, time.Local); err != nil || time.Since(at) > time.Minute {
			t.Errorf("%s: %v", p.Prefix, err)
		}
	}
}

// TestRounds is the test data of spec/name-map.md §6.5, as far as it is simulated.
func TestRounds(t *testing.T) {
	for _, v := range []struct {
		rounds   int
		in, want scene.Diagnostics
		warnings string
	}{
		{2, scene.Diagnostics{Swimlane: 3, DepGen: true, Overhead: true}, scene.Diagnostics{},
			"chip swimlane disabled: --rounds > 1|dep_gen disabled: --rounds > 1|swimlane overhead disabled: --rounds > 1"},
		{1, scene.Diagnostics{Swimlane: 3}, scene.Diagnostics{Swimlane: 3}, ""},
		{2, scene.Diagnostics{Swimlane: 3}, scene.Diagnostics{}, "chip swimlane disabled: --rounds > 1"},
		{2, scene.Diagnostics{}, scene.Diagnostics{}, ""},
	} {
		got := v.in
		if w := strings.Join(got.ForRounds(v.rounds), "|"); got != v.want || w != v.warnings {
			t.Errorf("%d rounds of %+v: %+v, %q; want %+v, %q", v.rounds, v.in, got, w, v.want, v.warnings)
		}
	}
}

func TestParseDevices(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "4-7": {4, 5, 6, 7}, "0,2-4,7": {0, 2, 3, 4, 7}, "7,2-3,3": {2, 3, 7}, "1-1": {1}} {
		if got, err := scene.ParseDevices(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ",", "a", "-1", "1-", "-", "5-4", "1,,2", "0-99999", "1-2-3", "0x1"} {
		if got, err := scene.ParseDevices(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestJoinLevels(t *testing.T) {
	for in, want := range map[string]string{
		"run --enable-chip-swimlane 2 X":                                "run --enable-chip-swimlane=2 X",
		"run --enable-chip-swimlane X":                                  "run --enable-chip-swimlane X",
		"run --enable-chip-swimlane":                                    "run --enable-chip-swimlane",
		"run --enable-chip-swimlane -p a5sim":                           "run --enable-chip-swimlane -p a5sim",
		"run --enable-chip-swimlane -1":                                 "run --enable-chip-swimlane -1",
		"run --enable-chip-swimlane=3 2":                                "run --enable-chip-swimlane=3 2",
		"run --enable-l2-swimlane 9 --enable-dep-gen":                   "run --enable-l2-swimlane=9 --enable-dep-gen",
		"run -- --enable-chip-swimlane 2":                               "run -- --enable-chip-swimlane 2",
		"--enable-chip-swimlane 1 --rounds 2 --enable-chip-swimlane 10": "--enable-chip-swimlane=1 --rounds 2 --enable-chip-swimlane=10",
	} {
		if got := strings.Join(scene.JoinLevels(strings.Fields(in)), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestProjectRoot(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := scene.ProjectRoot(deep); err != nil || got != deep {
		t.Errorf("%q (%v), want %q: there is no module", got, err, deep)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{deep: root, root: root} {
		if got, err := scene.ProjectRoot(dir); err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q", dir, got, err, want)
		}
	}
}

// command runs a command line with scenes.
func command(args string, scenes ...*scene.Scene) (code int, out, problems string) {
	var stdout, stderr bytes.Buffer
	e := console.New(nil, &stdout, &stderr)
	code = e.Run(context.Background(), scene.NewCommand(e, scenes), scene.JoinLevels(strings.Fields(args)))
	return code, stdout.String(), stderr.String()
}

// TestNetworkScenes: a scene of level 4 with the swimlane is refused before anything
// runs, in the words of spec/l3.md §4.5; with more rounds nothing is recorded, and it
// is refused because no simulator has it.
func TestNetworkScenes(t *testing.T) {
	network := slotted()
	network.Class, network.Level = "TestNetwork", 4
	code, out, problems := command("-p a2a3sim --enable-chip-swimlane", slotted(), network)
	if code != 2 || out != "" || !strings.Contains(problems, "NETWORK1/L4 needs a node namespace") {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	code, out, _ = command("-p a2a3sim --log-level null", slotted(), network)
	if code != 1 || !strings.Contains(out, "TestSlotted::basic ... PASSED") || !strings.Contains(out, "FAILED: a scene of level 4 is not simulated") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if !strings.Contains(out, "Level: 2 ===\n") || !strings.Contains(out, "Level: 4 ===\n") {
		t.Errorf("two levels are not two groups:\n%s", out)
	}
}

// TestExitFirst stops at a case that fails.
func TestExitFirst(t *testing.T) {
	bad := vectors(1)
	for flags, want := range map[string]string{"-x": "0 cases passed, 1 failed, 1 not run", "": "1 case passed, 1 failed"} {
		code, out, _ := command("-p a2a3sim --log-level null "+flags, bad, slotted())
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%q: exit code %d, want 1 and %q\n%s", flags, code, want, out)
		}
	}
	if code, out, _ := command("-p a2a3sim --log-level null --skip-golden", bad); code != 0 || !strings.Contains(out, "nothing was compared") {
		t.Errorf("--skip-golden: exit code %d\n%s", code, out)
	}
}

// TestSlotRange: a slot that does not exist is refused by the submit
// (spec/host-log.md §4.5).
func TestSlotRange(t *testing.T) {
	for slot, ok := range map[scene.Slot]bool{-1: false, 0: true, 15: true, 16: false} {
		s := slotted()
		wait := s.Callable.Incores[0]
		s.Callable.Orchestration.Run = func(o *scene.Orchestrator, _ *scene.Case, _ []scene.Tensor) {
			o.Submit(scene.Task{AIV0: wait, Slot: &slot})
		}
		_, err := first(s).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "expected 0 to 15") {
			t.Errorf("slot %d: %v", slot, err)
		}
	}
}
