package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/infile"
	"swimlane/internal/trace/check"
)

func newCheck(e *console.Env) *cobra.Command {
	notes := false
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Tell what a viewer would lose or misplace in a trace file",
		Long: `check reads trace files (Chrome Trace Event JSON, also .gz) and replays the rules by
which Perfetto imports them: which events it would drop, which slices it would
move to other lanes or cut, which arrows it would lose, turn round or hang on the
wrong slice. It works on traces of any tool. FILE may be - for standard input.

Every finding has a rule, a count, what to do, and the first places:
  drop   data is lost
  move   a slice is drawn elsewhere, renamed or changed
  bind   an arrow is lost, turned round or on a wrong slice
  note   harmless but worth knowing; shown with --verbose

The exit code is 1 if there are findings other than notes or a file cannot be
read as a trace, 0 otherwise.`,
		Example: `  swimlane check merged_swimlane.json
  swimlane convert records.json -o - 2>/dev/null | swimlane check -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no argument: expected at least one FILE, or - for standard input")
			}
			return nil
		},
		RunE: console.RunE(func(_ *cobra.Command, args []string) error {
			clean := true
			for _, file := range args {
				r, err := checkFile(e, file)
				if err != nil {
					// The others are worth a look all the same.
					fmt.Fprintln(e.Stderr, "Error: "+err.Error())
					clean = false
					continue
				}
				printReport(e.Stdout, file, r, notes)
				clean = clean && r.Clean()
			}
			if !clean {
				return console.ErrSilent
			}
			return nil
		}),
	}
	cmd.Flags().BoolVarP(&notes, "verbose", "v", false, "show notes too")
	return cmd
}

// notFound is what all commands say of an input that is not there.
const notFound = "Input file not found: "

func checkFile(e *console.Env, file string) (*check.Report, error) {
	if file == console.Standard {
		r, err := check.Stream(e.Stdin)
		if err != nil {
			err = fmt.Errorf("standard input: %w%s", err, infile.PackedHint(err))
		}
		return r, err
	}
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a directory, expected a trace file", file)
	}
	r, err := check.File(file)
	text, isPath := console.PathText(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New(notFound + file)
	case isPath:
		return nil, fmt.Errorf("cannot read %s: %s", file, text)
	case err != nil:
		// The command's name says already who is speaking.
		return nil, errors.New(strings.TrimPrefix(err.Error(), "check: ") + infile.PackedHint(err) + notTrace(file))
	}
	return r, nil
}

// notTrace says what a file is that is no trace, and what to do with it.
func notTrace(file string) string {
	switch kind := capture.Sniff(file); kind {
	case capture.KindCapture:
		return "; this is a capture: draw it with 'swimlane convert'"
	case capture.KindTaskGraph, capture.KindNameMap:
		return "; this is " + kind + ": it belongs beside a capture, which 'swimlane convert' draws"
	}
	return ""
}

func printReport(w io.Writer, file string, r *check.Report, notes bool) {
	verdict := "clean"
	if !r.Clean() {
		verdict = "a viewer would not show this trace as it is meant"
	}
	processes := "1 process"
	if r.Processes != 1 {
		processes = console.Thousands(r.Processes) + " processes"
	}
	fmt.Fprintf(w, "%s: %s\n  %s: %s, %s, %s, %s; %s in %s\n", file, verdict, console.Count(r.Events, "event"), console.Count(r.Slices, "slice"),
		console.Count(r.Flows, "arrow end"), console.Count(r.Counters, "counter sample"), console.Count(r.Metadata, "name"), console.Count(r.Lanes, "lane"), processes)
	hidden := 0
	for _, f := range r.Findings {
		if f.Severity == check.Note && !notes {
			hidden++
			continue
		}
		fmt.Fprintf(w, "  %-5s %s ×%s: %s\n", f.Severity, f.Rule, console.Thousands(f.Count), f.Explain)
		for _, x := range f.Examples {
			fmt.Fprintf(w, "        %s\n", stats.Printable(x))
		}
	}
	switch hidden {
	case 0:
	case 1:
		fmt.Fprintln(w, "  1 note (-v shows it)")
	default:
		fmt.Fprintf(w, "  %d notes (-v shows them)\n", hidden)
	}
}
