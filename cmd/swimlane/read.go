package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/draw"
	"swimlane/internal/model"
)

func newRead(e *console.Env) *cobra.Command {
	o := &convert.Input{Nameless: true, Extras: true}
	var as formOptions
	place := console.Standard
	cmd := &cobra.Command{
		Use:   "read [CAPTURE]",
		Short: "Print the joined model of a capture as JSON, for scripts",
		Long: `read prints what convert draws, before it is drawn: one JSON object with the task
rows (kernel and scheduler times joined, sorted by task id), the scheduler
records, the orchestrator records and the host's, every time in µs from the
capture's zero. Values that a capture does not have are absent. One row a line,
so line tools work too; task ids are numbers of 64 bits. Functions are ids, -1
without a task graph.

With --as it prints the capture itself, in one of two forms of records file: gs
has schema_version 1 and is what older tools read, newest is what today's runtimes
write. The picture stays the same, but for what the two write differently: ids and
labels of tasks, runs, names of AICore schedulers' lanes. If a form cannot hold all
of a capture, nothing is written, and the message says what would be lost.

CAPTURE is what convert takes. An output called .gz is compressed. With --verbose,
what is read and found goes to the standard error.`,
		Example: `  swimlane read | jq '[.tasks[].duration_us] | add'
  swimlane read chip_swimlane_records.json -o model.json
  swimlane read chip_swimlane_records.json --as gs -o older/chip_swimlane_records.json`,
	}
	o.Flags(cmd)
	cmd.Flags().VarP(console.File(&place), "output", "o", "output FILE, - for standard output")
	cmd.MarkFlagFilename("output", "json", "gz")
	as.flags(cmd)
	cmd.RunE = console.RunE(func(_ *cobra.Command, args []string) error {
		if err := as.check(cmd); err != nil {
			return err
		}
		o.KeepRecords = as.wanted
		c, err := convert.Find(console.First(args), o)
		if err != nil {
			return err
		}
		out, err := c.Create(e, place)
		if err != nil {
			return err
		}
		defer out.Discard()
		if err := c.Read(e); err != nil {
			return err
		}
		if as.wanted {
			conv, err := as.convert(e, c)
			if err != nil {
				return err
			}
			if err := out.Close(conv.Write(out)); err != nil {
				return err
			}
			noteCompanions(e.Stderr, c, place)
			return nil
		}
		return out.Close(model.Write(out, c.Timeline, draw.Metadata(c.Timeline)))
	})
	return cmd
}
