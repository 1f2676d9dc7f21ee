package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"swimlane/internal/draw"
	"swimlane/internal/model"
)

func newRead(e *env) *cobra.Command {
	o := &inputOptions{nameless: true, stdin: e.stdin}
	var as formOptions
	place := toStdout
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
		Args: atMostOne("CAPTURE"),
	}
	o.namelessFlags(cmd)
	o.orderFlag(cmd)
	cmd.Flags().VarP(file(&place), "output", "o", "output FILE, - for standard output")
	cmd.MarkFlagFilename("output", "json", "gz")
	as.flags(cmd)
	cmd.RunE = runE(func(_ *cobra.Command, args []string) error {
		if err := as.check(cmd); err != nil {
			return err
		}
		o.keepRecords = as.wanted
		l, err := find(first(args), o)
		if err != nil {
			return err
		}
		out, err := e.create(place, l.inputs)
		if err != nil {
			return l.notOver(err)
		}
		defer out.discard()
		if err := l.show(e, o, true); err != nil {
			return err
		}
		if as.wanted {
			conv, err := as.convert(e, l)
			if err != nil {
				return err
			}
			if err := out.close(conv.Write(out)); err != nil {
				return err
			}
			l.noteCompanions(e.stderr, place)
			return nil
		}
		return out.close(model.Write(out, l.timeline, draw.Metadata(l.timeline)))
	})
	return cmd
}

// show reads a capture for a command whose standard output is for scripts: all
// words go to the standard error.
func (l *loaded) show(e *env, o *inputOptions, extras bool) error {
	v := newVerbose(e.stderr, o.verbose)
	p := newProgress(e.stderr)
	defer p.done()
	v.input(l)
	if l.auto && !v.on {
		fmt.Fprintln(e.stderr, "Reading "+l.records)
	}
	if err := l.read(o, p, extras); err != nil {
		return err
	}
	if !o.keepRecords { // a records file names no functions
		l.warnFunctionless()
	}
	p.done()
	v.capture(l)
	l.printWarnings(e.stderr)
	return nil
}
