package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/draw"
)

func newStats(e *console.Env) *cobra.Command {
	o := &convert.Input{}
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
	}
	o.Flags(cmd)
	o.RunFlag(cmd)
	format := console.Choose(cmd, "format", "form of the output", "text", "json", "csv")
	cmd.RunE = console.RunE(func(_ *cobra.Command, args []string) error {
		c, err := convert.Find(console.First(args), o)
		if err != nil {
			return err
		}
		if err := c.Read(e); err != nil {
			return err
		}
		table := stats.Compute(c.Timeline, c.Names.Map, draw.ThreadNames(c.Timeline))
		switch format.Value {
		case "json":
			return table.JSON(e.Stdout)
		case "csv":
			return table.CSV(e.Stdout)
		default:
			return table.Text(e.Stdout)
		}
	})
	return cmd
}
