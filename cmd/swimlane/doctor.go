package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/doctor"
)

func newDoctor(e *console.Env) *cobra.Command {
	var style doctor.Style
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Tell what is wrong or missing with a capture, why, and what to do",
		Long: `doctor looks at a capture and everything that lies beside it: records, task graph,
name maps, host logs, and in a directory of several ranks whether they can be merged.
It also looks at what other commands refuse: where the JSON breaks, how many rows are
whole before it, which rows contradict each other.

DIR is a directory with a capture, of several ranks, or with any number of these below
it; or a records file. Without it the directory below outputs/ that was written to
last is examined.

Every finding has a severity, a code that stays the same, what was found and where,
why it is so, and what to do:
  error    cannot be drawn or merged as it is
  warning  can be drawn, but something is missing, or figures mislead
  note     worth knowing; nothing is wrong

The exit code is 0 if everything is healthy, 1 if there are findings other than
notes, 2 for a wrong call, such as a DIR that does not exist.`,
		Example: `  swimlane doctor
  swimlane doctor outputs/TestPA_basic_20260416_151301
  swimlane doctor outputs --format json | jq '.examined[].findings[].code'`,
		Args: console.AtMostOne("DIR", "leave it out to take the newest below outputs/"),
	}
	f := cmd.Flags()
	f.BoolVarP(&style.All, "verbose", "v", false, "of several captures, too, list what is healthy, and notes")
	f.BoolVarP(&style.Brief, "quiet", "q", false, "list only what has findings other than notes")
	format := console.Choose(cmd, "format", "form of the output", "text", "json")
	cmd.RunE = console.RunE(func(_ *cobra.Command, args []string) error {
		if style.All && style.Brief {
			return console.Usagef("--quiet and --verbose are both there: expected one of them")
		}
		root := console.First(args)
		if root == "" {
			if root = doctor.Newest(); root == "" {
				return console.Usagef("no directory below outputs/ here: name one, or run a test with --enable-chip-swimlane first")
			}
		}
		if root == console.Standard {
			return console.Usagef("nothing lies beside the standard input: name a directory or a file")
		}
		p := console.NewProgress(e.Stderr)
		defer p.Done()
		r, err := doctor.Look(root, p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return console.Usagef("%s%s", notFound, root)
		case errors.Is(err, doctor.ErrIrregular):
			return console.Usagef("%s: %w", root, err)
		case err != nil:
			return err
		}
		p.Done()
		style.Colour, style.Width = e.Stdout.Colour(), e.Stdout.Width()
		if format.Value == "json" {
			err = r.JSON(e.Stdout)
		} else {
			err = r.Text(e.Stdout, style)
		}
		if err != nil {
			return err
		}
		if !r.Healthy() {
			return console.ErrSilent
		}
		return nil
	})
	return cmd
}
