// Package scenetest runs scenes as Go tests, with flags like those of `swimlane run`:
//
//	func TestPagedAttention(t *testing.T) { scenetest.Run(t, scenes.PagedAttention()) }
//
//	go test ./scenes -count=1 -run TestPagedAttention -platform a5sim -enable-chip-swimlane=3
//
// It is imported by tests only: it adds its flags to the test binary.
package scenetest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/scene"
)

// level is a flag whose value may be left out.
type level int

func (l *level) String() string   { return strconv.Itoa(int(*l)) }
func (l *level) IsBoolFlag() bool { return true }
func (l *level) Set(text string) error {
	if text == "true" { // nothing
		text = "4"
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 4 {
		return fmt.Errorf("expected 0 to 4, or nothing for 4")
	}
	*l = level(n)
	return nil
}

// words is a flag that may be repeated.
type words []string

func (w *words) String() string        { return strings.Join(*w, ",") }
func (w *words) Set(text string) error { *w = append(*w, text); return nil }

// refused is a flag of what no simulator has.
type refused string

func (r refused) String() string   { return "" }
func (r refused) IsBoolFlag() bool { return true }
func (r refused) Set(string) error {
	return fmt.Errorf("%s are not simulated: leave it out", string(r))
}

var (
	platform  = flag.String("platform", "", "run scenes on this platform, a2a3sim or a5sim, only (default: on each simulator of a case)")
	manual    = flag.String("manual", "exclude", "cases that are run only on request: exclude, include or only")
	rounds    = flag.Int("rounds", 1, "run each case so often")
	golden    = flag.Bool("skip-golden", false, "do not compare values")
	depGen    = flag.Bool("enable-dep-gen", false, "record the task graph")
	overhead  = flag.Bool("enable-swimlane-overhead", false, "add counter tracks to the picture")
	logLevel  = flag.String("log-level", "", "least level of the host's log: debug, info, timing, warn, error or null (default: warn where nothing is recorded)")
	devices   = flag.String("device", "", "devices for the chips of a node, as 0 or 4-7 or 0,2-4,7 (default: as many as a case needs)")
	costs     = flag.String("costs", "", "JSON file with costs that replace those of the model")
	swimlane  level
	cases     words
	available = []string{scene.A2A3Sim, scene.A5Sim}
)

func init() {
	flag.Var(&swimlane, "enable-chip-swimlane", "record at a level, 0 to 4; without a value 4")
	flag.Var(&swimlane, "enable-l2-swimlane", "former name of -enable-chip-swimlane")
	flag.StringVar(devices, "d", "", "short for -device")
	flag.Var(&cases, "case", "cases to run: NAME, CLASS::NAME or CLASS::; may be repeated")
	for name, what := range scene.NotSimulated() {
		flag.Var(refused(what), name, "not simulated")
	}
}

// Main is TestMain for tests of scenes of level 3, whose chips are served by processes
// of their own: these are the test binary again, and get no further than here. It must
// know all such scenes.
//
//	func TestMain(m *testing.M) { scenetest.Main(m, scenes.All()...) }
func Main(m *testing.M, scenes ...*scene.Scene) {
	scene.Worker(scenes...)
	os.Exit(m.Run())
}

// Run runs the cases of a scene that the flags of the test binary select, each as a
// subtest. Artifacts go to outputs/ in the root of the module. Without -platform a
// case runs on every simulator that it names.
func Run(t *testing.T, s *scene.Scene) {
	t.Helper()
	if flag.NArg() > 0 {
		t.Fatalf("unexpected argument %q: a level stands behind =, as -enable-chip-swimlane=3", flag.Arg(0))
	}
	o := scene.Options{Rounds: *rounds, SkipGolden: *golden, LogLevel: *logLevel,
		Diagnostics: scene.Diagnostics{Swimlane: int(swimlane), DepGen: *depGen, Overhead: *overhead}}
	if o.Rounds < 1 {
		t.Fatalf("-rounds is %d: expected at least 1", o.Rounds)
	}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	if *devices != "" {
		var err error
		if o.Devices, err = scene.ParseDevices(*devices); err != nil {
			t.Fatal(err)
		}
	}
	recorded := o.Diagnostics != (scene.Diagnostics{})
	for _, w := range o.ForRounds(o.Rounds) {
		t.Log("Warning: " + w)
	}
	switch {
	case o.LogLevel == "" && !recorded:
		o.LogLevel = "warn" // the log would be on the standard error
	case recorded:
		var err error
		if o.Root, err = scene.ProjectRoot("."); err != nil {
			t.Fatal(err)
		}
	}
	mode, err := scene.ParseMode(*manual)
	if err != nil {
		t.Fatal(err)
	}
	platforms := available
	if *platform != "" {
		platforms = []string{*platform}
	}
	ran := 0
	for _, p := range platforms {
		o.Platform = p
		o.Costs = model(t, p)
		chosen, err := scene.Select([]*scene.Scene{s}, scene.Selection{Platform: p, Cases: cases, Manual: mode})
		if err != nil {
			t.Log(err)
			continue
		}
		for _, c := range chosen {
			ran++
			t.Run(c.Case.Name+"/"+p, func(t *testing.T) { perform(t, c, o) })
		}
	}
	if ran == 0 {
		t.Skipf("no case of %s is left to run", s.Class)
	}
}

// model is the model of a platform.
func model(t *testing.T, platform string) *scene.Costs {
	t.Helper()
	c, err := scene.DefaultCosts(platform)
	if err != nil {
		t.Fatal(err)
	}
	if *costs == "" {
		return c
	}
	f, err := os.Open(*costs)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := c.Read(f); err != nil {
		t.Fatalf("%s: %v", *costs, err)
	}
	return c
}

func perform(t *testing.T, c scene.Selected, o scene.Options) {
	if !slices.Contains(c.Case.Platforms, o.Platform) {
		t.Skipf("%s does not run on %s", c.Label(), o.Platform)
	}
	var text strings.Builder
	p := c.Perform(t.Context(), &text, &text, o)
	t.Log("\n" + text.String())
	if p.Err != nil {
		t.Errorf("SceneTest case failed: %s: %v", c.Label(), p.Err)
	}
}
