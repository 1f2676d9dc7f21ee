package scene

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/sim"
)

// Main is the main function of a program that runs scenes, with the command line of
// `swimlane run`. It does not return.
func Main(scenes ...*Scene) {
	Worker(scenes...)
	console.Main(func(ctx context.Context, e *console.Env) int {
		cmd := newCommand(e, scenes, filepath.Base(os.Args[0]))
		cmd.Use = filepath.Base(os.Args[0]) + " [CLASS[::CASE]]..."
		cmd.CompletionOptions.DisableDefaultCmd = true
		return e.Run(ctx, cmd, JoinLevels(os.Args[1:]))
	})
}

// command is a command line.
type command struct {
	e      *console.Env
	scenes []*Scene
	Options
	swimlane                   *console.Choice
	platform, manual, logLevel *console.Choice
	runtime, level             *console.Choice
	cases                      []string
	devices, costs             string
	exitFirst, list, show      bool
}

// levelFlags are the flags whose value may stand in the next word.
var levelFlags = []string{"--enable-chip-swimlane", "--enable-l2-swimlane"}

// NotSimulated are the flags of diagnostics that no simulator has, and what they are.
func NotSimulated() map[string]string { return maps.Clone(refused) }

var refused = map[string]string{
	"enable-pmu":         "the counters of a core's performance monitor",
	"dump-args":          "dumps of arguments",
	"enable-dump-args":   "dumps of arguments",
	"enable-scope-stats": "statistics of scopes",
}

const commandLong = `%[1]s executes scenes on a simulated chip: a real task graph, with kernels that
compute real values, compared with golden ones. What is recorded on the way goes
the way of every device: writers on the chip, a collector on the host, files.

  %[1]s %[2]s --case %[3]s -p %[4]s --enable-chip-swimlane

Without CLASS all scenes run; --list shows them. Times are those of a model: sizes
are right, digits are not; --print-costs prints the model, --costs replaces it.

With a diagnostic on, each case gets outputs/<Class>_<case>_<time>/ in the root of
the Go module around the working directory, or else in that itself. There lie
  chip_swimlane_records.json   --enable-chip-swimlane, 1 to 4: 1 tasks of the cores,
                               2 and those of the schedulers, 3 and what schedulers
                               did, 4 and every submit; without a number it is 4
  deps.json                    --enable-dep-gen: the task graph
  deps_viewer.txt              the same as text, as swimlane deps writes it
  name_map_<label>.json        names of kernels and orchestrator
  merged_swimlane.json         the picture, for https://ui.perfetto.dev
  host.<pid>.log               spans of the host and phases of the device
  device.<pid>.log             what the orchestrator did, where it runs on the chip
  host_phase_records.jsonl     what the host did, where it builds the graph, at level 4
A scene of level 3 runs on several chips, each served by a process of its own: what
chip N records of its dispatch K lies in rankN/dK/, and l3_swimlane.json is the
picture of the chips together, or l3_swimlane_<which>.json if there are several.

Without one the log of the host goes to the standard error; --log-level warn hides
it. More than one round switches diagnostics off: times then come from that log.

The exit code is 0 if all cases passed, 1 if one failed, 2 for a wrong call.`

// NewCommand is the command `run` for scenes.
func NewCommand(e *console.Env, scenes []*Scene) *cobra.Command {
	return newCommand(e, scenes, "swimlane run")
}

func newCommand(e *console.Env, scenes []*Scene, name string) *cobra.Command {
	c := &command{e: e, scenes: scenes}
	class, first, platform := "CLASS", "NAME", A2A3Sim
	if len(scenes) > 0 && len(scenes[0].Cases) > 0 && len(scenes[0].Cases[0].Platforms) > 0 {
		class, first, platform = scenes[0].Class, scenes[0].Cases[0].Name, scenes[0].Cases[0].Platforms[0]
	}
	cmd := &cobra.Command{
		Use:   "run [CLASS[::CASE]]...",
		Short: "Run scenes on a simulated chip and draw what was recorded",
		Long:  fmt.Sprintf(commandLong, name, class, first, platform),
		Example: fmt.Sprintf(`  %[1]s --list
  %[1]s %[2]s --case %[3]s -p %[4]s --enable-chip-swimlane --enable-dep-gen
  %[1]s %[2]s::%[3]s -p %[4]s --enable-chip-swimlane=2
  %[1]s %[2]s -p %[4]s --rounds 20
  %[1]s --manual include -p %[4]s --log-level warn`, name, class, first, platform),
		RunE: console.RunE(func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) }),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return classes(scenes), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	c.platform = console.OptionP(cmd, "platform", "p", "PLATFORM", "a2a3sim or a5sim", Platforms...)
	f.StringVarP(&c.devices, "device", "d", "", "devices, as 0 or 4-7 or 0,2-4,7 (default: as many as a case needs)")
	console.Word(cmd, "device", "LIST")
	f.StringArrayVar(&c.cases, "case", nil, "cases to run: NAME, CLASS::NAME or CLASS::; may be repeated (default: all)")
	console.Word(cmd, "case", "SELECTOR")
	c.manual = console.Choose(cmd, "manual", "what becomes of cases that are run only on request", string(Exclude), string(Include), string(Only))
	f.IntVar(&c.Rounds, "rounds", 1, "run each case N times (default 1)")
	console.Word(cmd, "rounds", "N")
	f.BoolVar(&c.SkipGolden, "skip-golden", false, "do not compare values")
	c.swimlane = console.Option(cmd, "enable-chip-swimlane", "LEVEL", "record at LEVEL 0 to 4; 4 if there is none", "0", "1", "2", "3", "4")
	f.Lookup("enable-chip-swimlane").NoOptDefVal = "4"
	f.Var(c.swimlane, "enable-l2-swimlane", "former name of --enable-chip-swimlane")
	f.Lookup("enable-l2-swimlane").NoOptDefVal = "4"
	f.BoolVar(&c.DepGen, "enable-dep-gen", false, "record the task graph")
	f.BoolVar(&c.Overhead, "enable-swimlane-overhead", false, "add counter tracks to the picture: idle cores, ready tasks")
	f.Var(console.File(&c.costs), "costs", "JSON FILE with costs that replace those of the model; - for standard input")
	f.BoolVar(&c.show, "print-costs", false, "print the costs of the platform's model, and where they come from")
	f.StringVar(&c.Root, "root", "", "make outputs/ in DIR")
	console.Word(cmd, "root", "DIR")
	c.runtime = console.Option(cmd, "runtime", "RUNTIME", "only scenes of this runtime", TensormapAndRingbuffer, HostBuildGraph)
	c.level = console.Option(cmd, "level", "LEVEL", "only scenes of this level: 2 for one chip, 3 for a node", "2", "3")
	f.BoolVarP(&c.exitFirst, "exitfirst", "x", false, "stop at the first case that fails")
	c.logLevel = console.Option(cmd, "log-level", "LEVEL", "least level of the host's log: debug, info, timing, warn, error or null", "debug", "info", "timing", "warn", "error", "null")
	f.BoolVar(&c.list, "list", false, "list the scenes and their cases")
	for name, what := range refused {
		f.String(name, "", what)
		f.Lookup(name).NoOptDefVal = "on"
	}
	for _, name := range append(slices.Sorted(maps.Keys(refused)), "enable-l2-swimlane") {
		f.MarkHidden(name)
	}
	return cmd
}

// JoinLevels joins the flags whose value is optional with the word behind them, if
// that is a number: the level of `--enable-chip-swimlane 3` is 3
// (spec/collector.md §11.1).
func JoinLevels(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if slices.Contains(levelFlags, args[i]) && i+1 < len(args) {
			if _, err := strconv.Atoi(args[i+1]); err == nil && !strings.HasPrefix(args[i+1], "-") {
				out = append(out, args[i]+"="+args[i+1])
				i++
				continue
			}
		}
		out = append(out, args[i])
	}
	return out
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		if cmd.Flags().Changed(name) {
			return console.Usagef("--%s: %s are not simulated: leave it out", name, refused[name])
		}
	}
	if err := checkScenes(c.scenes); err != nil {
		return console.UsageError{Err: err}
	}
	if c.list {
		return c.printList(args)
	}
	if err := c.check(cmd); err != nil {
		return err
	}
	if c.show {
		costs, err := c.platformCosts()
		if err != nil {
			return err
		}
		return costs.Write(c.e.Stdout)
	}
	chosen, err := c.choose(args)
	if err != nil || len(chosen) == 0 {
		return err
	}
	if c.Root == "" {
		if c.Root, err = ProjectRoot("."); err != nil {
			return err
		}
	}
	for _, w := range c.ForRounds(c.Rounds) {
		fmt.Fprintln(c.e.Stderr, "Warning: "+w)
	}
	if c.Costs, err = c.platformCosts(); err != nil {
		return err
	}
	if n := len(c.Costs.replaced); n > 0 {
		fmt.Fprintf(c.e.Stdout, "Model: %s of %s replaced by %s\n", console.Count(int64(n), "cost"), c.Platform, c.costs)
	}
	c.Summary = len(chosen) == 1
	return c.perform(cmd.Context(), chosen)
}

// check refuses what cannot be asked for.
func (c *command) check(cmd *cobra.Command) error {
	c.Platform = c.platform.Value
	if c.Platform == "" {
		return console.Usagef("no platform: expected -p %s or -p %s", A2A3Sim, A5Sim)
	}
	if _, err := archOf(c.Platform); err != nil {
		return console.UsageError{Err: err}
	}
	if cmd.Flags().Changed("device") {
		var err error
		if c.Devices, err = ParseDevices(c.devices); err != nil {
			return console.UsageError{Err: err}
		}
	}
	if c.Rounds < 1 {
		return console.Usagef("--rounds is %d: expected at least 1", c.Rounds)
	}
	if c.swimlane.Value != "" {
		c.Swimlane = int(c.swimlane.Value[0] - '0')
	}
	if err := c.Check(); err != nil {
		return console.UsageError{Err: err}
	}
	c.LogLevel = c.logLevel.Value
	return nil
}

func (c *command) platformCosts() (*Costs, error) {
	costs, err := DefaultCosts(c.Platform)
	if err != nil || c.costs == "" {
		return costs, err
	}
	if c.costs == console.Standard {
		return costs, costs.Read(c.e.Stdin)
	}
	f, err := os.Open(c.costs)
	if err != nil {
		return nil, fmt.Errorf("--costs: %w", err)
	}
	defer f.Close()
	if err := costs.Read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", c.costs, err)
	}
	return costs, nil
}

// choose picks the cases. None and no error: everything was filtered out.
func (c *command) choose(args []string) ([]Selected, error) {
	scenes, err := c.filter(args)
	if err != nil {
		return nil, err
	}
	want := Selection{Platform: c.Platform, Cases: c.cases, Manual: Mode(c.manual.Value)}
	if len(scenes) == 0 {
		fmt.Fprintf(c.e.Stdout, "No scene is left with %s: nothing to run.\n", c.filters())
		return nil, nil
	}
	chosen, err := pick(scenes, want)
	if err != nil {
		return nil, c.selection(err)
	}
	for _, s := range chosen {
		if err := s.NeedDevices(c.Devices); err != nil {
			return nil, console.UsageError{Err: err}
		}
		if s.Scene.level() == 4 && c.Swimlane > 0 && c.Rounds == 1 {
			return nil, console.Usagef("%s: %s", s.Label(), networkRefused)
		}
	}
	return chosen, nil
}

// filter picks scenes by the words of a command line, CLASS or CLASS::CASE, and by
// what they are. Cases that are named there are asked for as --case does.
func (c *command) filter(args []string) (scenes []*Scene, err error) {
	for _, text := range c.cases {
		if text == "" || text == "::" {
			return nil, console.Usagef("--case is %q: expected NAME, CLASS::NAME or CLASS::", text)
		}
		if err := known(c.scenes, text); err != nil {
			return nil, c.selection(err)
		}
	}
	var named, whole []string // cases, and classes with all of theirs
	for _, text := range args {
		class, name, _ := strings.Cut(text, "::")
		i := slices.IndexFunc(c.scenes, func(s *Scene) bool { return s.Class == class })
		if i < 0 {
			return nil, c.selection(fmt.Errorf("unknown class '%s'%s. Available: %s", class, near(class, classes(c.scenes)), strings.Join(classes(c.scenes), ", ")))
		}
		if name != "" {
			if err := known(c.scenes, text); err != nil {
				return nil, c.selection(err)
			}
			named = append(named, text)
		} else {
			whole = append(whole, class+"::")
		}
		if !slices.Contains(scenes, c.scenes[i]) {
			scenes = append(scenes, c.scenes[i])
		}
	}
	if len(args) == 0 {
		scenes = slices.Clone(c.scenes)
	}
	if len(named) > 0 {
		c.cases = slices.Concat(c.cases, named, whole)
	}
	return slices.DeleteFunc(scenes, func(s *Scene) bool {
		return c.runtime.Value != "" && s.Runtime != c.runtime.Value || c.level.Value != "" && strconv.Itoa(s.level()) != c.level.Value
	}), nil
}

// filters are the flags that leave scenes out.
func (c *command) filters() string {
	var flags []string
	if c.runtime.Value != "" {
		flags = append(flags, "--runtime "+c.runtime.Value)
	}
	if c.level.Value != "" {
		flags = append(flags, "--level "+c.level.Value)
	}
	return strings.Join(flags, " and ")
}

// selection reports that nothing was selected as scripts know it
// (spec/name-map.md §6.3).
func (c *command) selection(err error) error {
	fmt.Fprintln(c.e.Stderr, "ERROR: "+err.Error())
	return console.UsageError{Err: console.ErrSilent}
}

func classes(scenes []*Scene) (names []string) {
	for _, s := range scenes {
		names = append(names, s.Class)
	}
	return names
}

// perform runs the cases, those of a runtime and level together.
func (c *command) perform(ctx context.Context, chosen []Selected) error {
	type group struct {
		runtime string
		level   int
	}
	var groups []group
	for _, s := range chosen {
		if g := (group{s.Scene.Runtime, s.Scene.level()}); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	var done []*Performed
	failed, conversions := 0, 0
	for _, g := range groups {
		fmt.Fprintf(c.e.Stdout, "=== Runtime: %s  Level: %d ===\n", g.runtime, g.level)
		for _, s := range chosen {
			if g != (group{s.Scene.Runtime, s.Scene.level()}) || failed > 0 && c.exitFirst || sim.Interrupted() {
				continue
			}
			p := s.performOn(ctx, c.e, c.Options)
			done = append(done, p)
			conversions += p.Conversions
			if p.Err != nil {
				failed++
			}
		}
	}
	c.printEnd(done, len(chosen), failed, conversions)
	if failed > 0 {
		return console.ErrSilent
	}
	return nil
}

// printEnd counts, and says what to do next.
func (c *command) printEnd(done []*Performed, chosen, failed, conversions int) {
	text := fmt.Sprintf("\n%s passed, %d failed", console.Count(int64(len(done)-failed), "case"), failed)
	if n := chosen - len(done); n > 0 {
		text += fmt.Sprintf(", %d not run", n)
	}
	if conversions > 0 {
		text += fmt.Sprintf("; %s failed", console.Count(int64(conversions), "conversion"))
	}
	fmt.Fprintln(c.e.Stdout, text)
	if len(done) == 0 {
		return
	}
	p := done[len(done)-1].first()
	if sim.Interrupted() && p.Records != "" {
		fmt.Fprintf(c.e.Stdout, "Next: 'swimlane convert %s' draws what was recorded until then\n", p.Prefix)
	}
	if failed > 0 || c.Rounds > 1 {
		return
	}
	switch {
	case p.Conversions > 0:
		fmt.Fprintf(c.e.Stdout, "Next: see the warning, then 'swimlane convert %s'\n", p.Prefix)
	case p.Trace != "" && p.Graph == "":
		fmt.Fprintf(c.e.Stdout, "Next: add --enable-dep-gen, or copy a deps.json of the same scene into %s and run 'swimlane convert' on it, for names and arrows\n", p.Prefix)
	case p.Trace != "" && !c.Summary:
		fmt.Fprintf(c.e.Stdout, "Next: drag %s into https://ui.perfetto.dev; 'swimlane stats %s' prints times per function\n", p.Trace, p.Prefix)
	case p.Trace != "":
		fmt.Fprintf(c.e.Stdout, "Next: 'swimlane convert %s --idle --overhead' draws more; 'swimlane stats %[1]s --format csv' is for scripts\n", p.Prefix)
	case p.Graph != "":
		fmt.Fprintf(c.e.Stdout, "Next: 'swimlane convert RECORDS --deps-json %s' joins the graph with records of the same scene\n", p.Graph)
	default:
		fmt.Fprintln(c.e.Stdout, "Next: add --enable-chip-swimlane --enable-dep-gen to see where the time goes; --log-level warn hides the log of the host")
	}
}

// printList lists scenes and cases, those that the other flags leave.
func (c *command) printList(args []string) error {
	scenes, err := c.filter(args)
	if err != nil {
		return err
	}
	shown := func(s *Scene) (cases []*Case) {
		for i := range s.Cases {
			k := &s.Cases[i]
			if (len(c.cases) == 0 || slices.ContainsFunc(c.cases, func(text string) bool { return matches(Selected{s, k}, text) })) &&
				(c.platform.Value == "" || slices.Contains(k.Platforms, c.platform.Value)) {
				cases = append(cases, k)
			}
		}
		return cases
	}
	width := 0
	for _, s := range scenes {
		for _, k := range shown(s) {
			width = max(width, len(k.Name))
		}
	}
	for _, s := range scenes {
		lines := ""
		for _, k := range shown(s) {
			manual := ""
			switch {
			case k.Manual.Everywhere:
				manual = "; on request only: --manual include"
			case len(k.Manual.On) > 0:
				manual = fmt.Sprintf("; on %s on request only: --manual include", strings.Join(k.Manual.On, " and "))
			}
			lines += fmt.Sprintf("  %-*s  %s%s\n", width, k.Name, strings.Join(k.Platforms, ", "), manual)
		}
		if lines == "" {
			continue
		}
		about := s.About
		if about != "" {
			about = ": " + about
		}
		if _, err := fmt.Fprintf(c.e.Stdout, "%s (%s, level %d)%s\n%s", s.Class, s.Runtime, s.level(), about, lines); err != nil {
			return err
		}
	}
	return nil
}
