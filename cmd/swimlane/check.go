package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/trace/check"
)

func newCheck(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Tell what a viewer would lose or misplace in a trace file",
		Long: `check reads trace files (Chrome Trace Event JSON, also .gz) and replays the rules by
which Perfetto imports them: which events it would drop, which slices it would
move to other lanes or cut, which arrows it would lose, turn round or hang on the
wrong slice. It works on traces of any tool. FILE may be - for standard input.

The exit code is 0 if nothing would be lost or misplaced, 1 otherwise. Notes do
not count.`,
		Example: `  swimlane check merged_swimlane.json
  swimlane convert records.json -o - 2>/dev/null | swimlane check -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no argument: expected at least one FILE, or - for standard input")
			}
			return nil
		},
		RunE: runE(func(_ *cobra.Command, args []string) error {
			clean := true
			for _, file := range args {
				r, err := checkFile(e, file)
				if err != nil {
					// The others are worth a look all the same.
					fmt.Fprintln(e.stderr, "Error: "+err.Error())
					clean = false
					continue
				}
				printReport(e.stdout, file, r)
				clean = clean && r.Clean()
			}
			if !clean {
				return errSilent
			}
			return nil
		}),
	}
}

// notFound is what all commands say of an input that is not there.
const notFound = "Input file not found: "

func checkFile(e *env, file string) (*check.Report, error) {
	if file == "-" {
		r, err := check.JSON(e.stdin)
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		return r, err
	}
	r, err := check.File(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New(notFound + file)
	case err != nil:
		// The command's name says already who is speaking.
		return nil, errors.New(strings.TrimPrefix(err.Error(), "check: "))
	}
	return r, nil
}

func printReport(w io.Writer, file string, r *check.Report) {
	verdict := "clean"
	if !r.Clean() {
		verdict = "a viewer would not show this trace as it is meant"
	}
	processes := "1 process"
	if r.Processes != 1 {
		processes = thousands(r.Processes) + " processes"
	}
	fmt.Fprintf(w, "%s: %s\n  %s: %s, %s, %s, %s; %s in %s\n", file, verdict, count(r.Events, "event"), count(r.Slices, "slice"),
		count(r.Flows, "arrow end"), count(r.Counters, "counter sample"), count(r.Metadata, "name"), count(r.Lanes, "lane"), processes)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  %-5s %s ×%s: %s\n", f.Severity, f.Rule, thousands(f.Count), f.Explain)
		for _, x := range f.Examples {
			fmt.Fprintf(w, "        %s\n", stats.Printable(x))
		}
	}
}
