package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/draw"
)

func newStats(e *env) *cobra.Command {
	o := &inputOptions{}
	format := "text"
	cmd := &cobra.Command{
		Use:   "stats [CAPTURE]",
		Short: "Print the times of a capture per function",
		Long: `stats prints, for every function, how often it ran, how long its kernels took, and
what came on top: the time from dispatch to kernel start (head), from kernel end
to finish (tail), and the two parts of the head (propagation to the core, local
setup). All times are µs. Scheduler times need a capture of level 2 or more.`,
		Example: `  swimlane stats
  swimlane stats outputs/TestPA_basic_20260416_151301 --format json | jq .span_us
  swimlane stats chip_swimlane_records.json --format csv > times.csv`,
		Args: cobra.MaximumNArgs(1),
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", format, "text, json or csv")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = runE(func(_ *cobra.Command, args []string) error {
		if format != "text" && format != "json" && format != "csv" {
			return usageError{fmt.Errorf("invalid --format %q: expected text, json or csv", format)}
		}
		p := newProgress(e.stderr)
		defer p.done()
		l, err := load(first(args), o, p, false)
		if err != nil {
			return err
		}
		p.done()
		// Missing arrows concern no figure; names do.
		for _, w := range l.warnings {
			if w.Code != "no-deps" {
				fmt.Fprintln(e.stderr, "Warning: "+w.Text)
			}
		}
		table := stats.Compute(l.timeline, l.names.Map, draw.ThreadNames(l.timeline))
		switch format {
		case "json":
			return table.JSON(e.stdout)
		case "csv":
			return table.CSV(e.stdout)
		}
		if err := table.Text(e.stdout); err != nil {
			return err
		}
		if idle := table.IdleLine(); idle != "" {
			_, err = fmt.Fprintf(e.stdout, "Idle: %s\n", idle)
		}
		return err
	})
	return cmd
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
