package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/draw"
	"swimlane/internal/model"
	"swimlane/internal/outfile"
)

func newRead(e *env) *cobra.Command {
	o := &inputOptions{}
	output := "-"
	cmd := &cobra.Command{
		Use:   "read [CAPTURE]",
		Short: "Print the joined model of a capture as JSON, for scripts",
		Long: `read prints what convert draws, before it is drawn: one JSON object with the task
rows (kernel and scheduler times joined, sorted by task id), the scheduler
records, the orchestrator records and the host's, every time in µs from the
capture's zero. Values that a capture does not have are absent. One row a line,
so line tools work too; task ids are numbers of 64 bits.`,
		Example: `  swimlane read | jq '[.tasks[].duration_us] | add'
  swimlane read chip_swimlane_records.json -o model.json`,
		Args: cobra.MaximumNArgs(1),
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", output, "output `FILE`, - for standard output")
	cmd.RunE = runE(func(_ *cobra.Command, args []string) error {
		p := newProgress(e.stderr)
		defer p.done()
		l, err := load(first(args), o, p, true)
		if err != nil {
			return err
		}
		p.done()
		printWarnings(e.stderr, l.warnings)
		metadata := draw.Metadata(l.timeline)
		if output == "-" {
			return writeError("standard output", model.Write(e.stdout, l.timeline, metadata))
		}
		out, err := outfile.Create(output, l.inputs...)
		if err != nil {
			return err
		}
		defer out.Discard()
		if err = model.Write(out, l.timeline, metadata); err == nil {
			err = out.Commit()
		}
		return writeError(output, err)
	})
	return cmd
}
