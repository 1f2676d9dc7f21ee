package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"swimlane/internal/analysis/overhead"
	"swimlane/internal/console"
	"swimlane/internal/convert"
)

// overheadOptions are those of overhead, and of the ecosystem's tool.
type overheadOptions struct {
	in     convert.Input
	json   bool
	bridge bool
	alias  bool
	path   string // of the records, in the tool's spelling
}

func newOverhead(e *console.Env) *cobra.Command {
	o := &overheadOptions{in: convert.Input{Nameless: true, Pops: true, OneRun: true, NeedGraph: true, Analysis: true}}
	cmd := &cobra.Command{
		Use:   "overhead [CAPTURE]",
		Short: "Tell how much of the time is the scheduler's overhead, and where",
		Long: `overhead answers during which part of the makespan a free core stands beside work
that could run and was not placed. Everything else (busy cores, cores with nothing
ready) is not the scheduler's doing. Its six parts: the verdict; switching between
tasks on a core; how head and tail of tasks are spread; what the schedulers did with
their time; how much they add to the chain of tasks that determined the makespan.

It needs the task graph, and a capture of level 2 or more; part 5 needs level 3. Take
the graph in a run of its own (--enable-dep-gen): that run is slower. Times are µs.

Head here is the smaller of dispatch to start and the gap behind the task before,
never below 0; the table of stats takes dispatch to start as it is. CAPTURE is a
records file or a directory that holds one; without it the newest at any depth below
outputs/ is taken. With --verbose the number of tasks stands beside that of rows, and
what is read and found goes to the standard error.`,
		Example: `  swimlane overhead
  swimlane overhead outputs/TestPA_basic_20260416_151301 --deps-json graphs/deps.json
  swimlane overhead chip_swimlane_records.json --bridge --format json | jq .verdict`,
	}
	o.in.Flags(cmd)
	o.in.RunFlag(cmd)
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.bridge, "bridge", false, "let tasks that ran on no core (dummies, allocations, skipped ones) count as what they wait for themselves: a task behind one is ready when that is done, and not only when it is dispatched")
	format := console.Choose(cmd, "format", "form of the output", "text", "json")
	cmd.RunE = console.RunE(func(_ *cobra.Command, args []string) error {
		o.json = format.Value == "json"
		return o.run(e, console.First(args))
	})
	return cmd
}

// newOverheadAlias answers to the ecosystem's tool name with that tool's options
// (spec/sched-overhead.md §2).
func newOverheadAlias(e *console.Env) *cobra.Command {
	o := &overheadOptions{alias: true, in: convert.Input{Nameless: true, Pops: true, OneRun: true, NeedGraph: true, Analysis: true}}
	cmd := &cobra.Command{
		Use:   "sched_overhead_analysis",
		Short: "The former name of swimlane overhead, for scripts",
		Long: `sched_overhead_analysis is swimlane overhead under the name, with the options and in the
layout that scripts know. Without a path the newest chip_swimlane_records.json at any
depth below outputs/ is taken.`,
		Example: `  sched_overhead_analysis --chip-swimlane-records-json chip_swimlane_records.json --deps-json deps.json`,
	}
	cmd.Args = console.NoArguments
	f := cmd.Flags()
	f.Var(console.File(&o.in.DepsJSON), "deps-json", "task graph FILE (default: deps.json beside the records)")
	cmd.MarkFlagFilename("deps-json", "json", "gz")
	o.flags(cmd)
	cmd.RunE = console.RunE(func(*cobra.Command, []string) error { return o.run(e, "") })
	return cmd
}

func (o *overheadOptions) flags(cmd *cobra.Command) {
	cmd.Flags().Var(console.File(&o.path), "chip-swimlane-records-json", "the records FILE: CAPTURE, as the ecosystem's tool spells it")
	cmd.MarkFlagFilename("chip-swimlane-records-json", "json", "gz")
}

func (o *overheadOptions) run(e *console.Env, arg string) error {
	if o.path != "" {
		if arg != "" {
			return console.Usagef("CAPTURE and --chip-swimlane-records-json are both there: expected one of them")
		}
		arg = o.path
	}
	c, err := convert.Find(arg, &o.in)
	if err != nil {
		return err
	}
	if err := c.Read(e); err != nil {
		return err
	}
	if !o.json {
		fmt.Fprintln(e.Stdout, "Perf data:  "+c.Records)
		if _, err := os.Stat(c.Deps); err == nil {
			fmt.Fprintln(e.Stdout, "Deps JSON:  "+c.Deps)
		}
	}
	if err := overhead.CheckRecords(c.Timeline); err != nil {
		return err
	}
	if err := c.GraphError(); err != nil {
		return err
	}
	r, err := overhead.New(c.Timeline, c.Deps, overhead.Options{Bridge: o.bridge})
	if err != nil {
		return err
	}
	o.notes(e, c, r)
	if o.json {
		return r.JSON(e.Stdout)
	}
	return r.Text(e.Stdout, overhead.Form{Logical: o.in.Verbose, Narrow: o.alias})
}

// notes says what to keep in mind about the figures.
func (o *overheadOptions) notes(e *console.Env, c *convert.Capture, r *overhead.Report) {
	m := &c.Timeline.Rec.Meta
	if slices.Contains(m.CoCaptured, "dep_gen") {
		fmt.Fprintln(e.Stderr, "Warning: the capture was taken together with dep_gen, which adds work to each submit: the figures are those of a slower run. "+
			"Take the timing in a run without --enable-dep-gen, and pass the graph with --deps-json.")
	}
	if s := m.Stalls; s.Count > 0 {
		fmt.Fprintf(e.Stderr, "Note: what the capture itself cost: the device waited %d time(s) for the host to take records, %.1f us of real time in all\n", s.Count, float64(s.Ns)/1000)
	}
	if r.Behind > 0 && !o.alias {
		fmt.Fprintf(e.Stderr, "Note: what %s waited for lies behind tasks that ran on no core (dummies, allocations, skipped ones) and does not count in these figures; with --bridge it does\n",
			console.Count(int64(r.Behind), "task"))
	}
	if r.Undated > 0 {
		fmt.Fprintf(e.Stderr, "Note: %d scheduler record(s) have no start time; they count as 0 us\n", r.Undated)
	}
}
