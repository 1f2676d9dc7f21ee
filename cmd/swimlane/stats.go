package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/draw"
)

func newStats(e *env) *cobra.Command {
	o := &inputOptions{stdin: e.stdin}
	cmd := &cobra.Command{
		Use:   "stats [CAPTURE]",
		Short: "Print the times of a capture per function",
		Long: `stats prints, for every function, how often it ran, how long its kernels took, and
what came on top: the time from dispatch to kernel start (head), from kernel end
to finish (tail), and the two parts of the head (propagation to the core, local
setup). All times are µs. Scheduler times need a capture of level 2 or more.

The json form also has the idle time of every scheduler thread. CAPTURE is what
convert takes. With --verbose, what is read and found goes to the standard error.`,
		Example: `  swimlane stats
  swimlane stats outputs/TestPA_basic_20260416_151301 --format json | jq .span_us
  swimlane stats chip_swimlane_records.json --format csv > times.csv`,
		Args: atMostOne("CAPTURE"),
	}
	o.flags(cmd)
	o.orderFlag(cmd)
	format := choose(cmd, "format", "form of the output", "text", "json", "csv")
	cmd.RunE = runE(func(_ *cobra.Command, args []string) error {
		l, err := find(first(args), o)
		if err != nil {
			return err
		}
		if err := l.show(e, o, false); err != nil {
			return err
		}
		table := stats.Compute(l.timeline, l.names.Map, draw.ThreadNames(l.timeline))
		switch format.value {
		case "json":
			return table.JSON(e.stdout)
		case "csv":
			return table.CSV(e.stdout)
		default:
			return table.Text(e.stdout)
		}
	})
	return cmd
}
