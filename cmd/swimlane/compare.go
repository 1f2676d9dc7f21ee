package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/analysis/compare"
	"swimlane/internal/analysis/critical"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/draw"
	"swimlane/timeline"
)

// compareOptions are what the command compare was asked for.
type compareOptions struct {
	in        convert.Input
	epochB    string
	top       int
	bridge    bool
	failAbove float64
	limited   bool // failAbove counts
	format    *console.Choice
}

func newCompare(e *console.Env) *cobra.Command {
	o := &compareOptions{in: convert.Input{OneRun: true, NewestNames: true}}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Put two captures side by side, before and after a change",
		Long: `compare prints the figures of two captures and how they differ: the makespan, the parts
of the critical path, the scheduler's overhead, the kernel times of every function, and
the tasks that moved most. Its figures are those of stats, overhead and critical-path.

Tasks belong together by their ids if the task graphs are equal. If not, by what they
run and everything that they depend on; what is left then by what it runs, in the order
of ids, where both sides have as many. If only one side has a graph and it lists all
tasks of the other, it serves both.

Kernel times scatter. Beside the medians stands where their difference lies, between
the far ends of what holds for each with a confidence of 95 %: a change within that is
called noise. That is about the kernels of these two runs; from run to run times differ
more, so compare several.

The exit code is 1 if an input cannot be used, or if the makespan grew by more than
--fail-above.`,
		Example: `  swimlane compare before after
  swimlane compare before after --fail-above 5
  swimlane compare before after --format json | jq .makespan_us.change_percent
  swimlane compare both.json both.json --run-epoch 4 --run-epoch-b 5`,
	}
	o.in.Flags(cmd)
	o.in.RunFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.epochB, "run-epoch-b", "", "the same for B alone")
	f.IntVar(&o.top, "top", 10, "rows of the tables of functions and tasks (default 10)")
	f.BoolVar(&o.bridge, "bridge", false, "let tasks that ran on no core (dummies, allocations, skipped ones) count as what they wait for themselves")
	f.Float64Var(&o.failAbove, "fail-above", 0, "exit with 1 if the makespan of B is longer than that of A by more than this many percent")
	for name, word := range map[string]string{"run-epoch-b": "EPOCH", "top": "N", "fail-above": "PERCENT"} {
		console.Word(cmd, name, word)
	}
	o.format = console.Choose(cmd, "format", "form of the output", "text", "json")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 || args[0] == "" || args[1] == "" {
			return fmt.Errorf("found %d argument(s): expected two captures, A and B", len(args))
		}
		if args[0] == console.Standard && args[1] == console.Standard {
			return fmt.Errorf("the standard input can be one capture, not both")
		}
		return nil
	}
	cmd.RunE = console.RunE(func(cmd *cobra.Command, args []string) error {
		o.limited = cmd.Flags().Changed("fail-above")
		return o.run(e, args[0], args[1])
	})
	return cmd
}

func (o *compareOptions) run(e *console.Env, pathA, pathB string) error {
	switch {
	case o.top < 0:
		return console.Usagef("--top is %d: expected no negative numbers", o.top)
	case math.IsNaN(o.failAbove) || math.IsInf(o.failAbove, 1):
		return console.Usagef("--fail-above is %g: expected a number of percent, such as 5", o.failAbove)
	case o.failAbove < 0:
		return console.Usagef("--fail-above is %g: expected no negative numbers", o.failAbove)
	}
	a, err := o.read(e, pathA, o.in)
	if err != nil {
		return err
	}
	in := o.in
	if o.epochB != "" {
		in.RunEpoch = o.epochB
	}
	b, err := o.read(e, pathB, in)
	if err != nil {
		return err
	}
	sideA, sideB := newSide(a), newSide(b)
	lend(sideA, a, sideB, b)
	lend(sideB, b, sideA, a)
	r, err := compare.New(sideA, sideB, compare.Options{Bridge: o.bridge, Tolerance: critical.DefaultTolerance, Threads: draw.ThreadNames})
	if err != nil {
		return err
	}
	if o.format.Value == "json" {
		err = r.JSON(e.Stdout)
	} else {
		err = r.Text(e.Stdout, o.top)
	}
	if err != nil {
		return err
	}
	if m := r.Makespan; o.limited && m.Percent() > o.failAbove {
		by := fmt.Sprintf("by %.2f%%", m.Percent())
		if m.A == 0 {
			by = "from nothing"
		}
		return fmt.Errorf("the makespan grew from %.2f us to %.2f us, %s, which is more than the %g%% of --fail-above", m.A, m.B, by, o.failAbove)
	}
	return nil
}

// read reads one side. Warnings of the two would look alike otherwise.
func (o *compareOptions) read(e *console.Env, path string, in convert.Input) (*convert.Capture, error) {
	c, err := convert.Find(path, &in)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(e.Stderr, "Reading "+c.Records)
	return c, c.Read(e)
}

func newSide(c *convert.Capture) *compare.Side {
	s := &compare.Side{Name: c.Records, Timeline: c.Timeline, Graph: c.Graph, Names: c.Names.Map}
	if c.Graph != nil {
		s.Deps = c.Deps
	}
	return s
}

// lend gives a side what only the other one has: the graph, if that can be of the
// same program; names, if the graphs are equal, since function ids mean something
// else in another program.
func lend(to *compare.Side, c *convert.Capture, from *compare.Side, of *convert.Capture) {
	if to.Graph == nil && from.Graph != nil && !from.BorrowedGraph && canBeOf(c.Timeline, of) {
		to.Graph, to.Deps, to.BorrowedGraph = from.Graph, from.Deps, true
		to.Timeline.Attach(to.Graph)
	}
	if to.Names == nil && from.Names != nil && !from.BorrowedNames && to.Graph != nil && from.Graph != nil && compare.SameGraph(to.Graph, from.Graph) {
		to.Names, to.BorrowedNames = from.Names, true
	}
}

// canBeOf reports whether the graph of a capture can be that of another one: it is of
// the same runtime and lists all tasks that ran.
func canBeOf(t *timeline.Timeline, of *convert.Capture) bool {
	if own := capture.OwnRuntime(t.Rec); own != "" && of.Runtime != "" && own != of.Runtime {
		return false
	}
	for _, id := range t.Tasks.ID {
		if _, ok := of.Graph.Node(id); !ok {
			return false
		}
	}
	return true
}
