package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"swimlane/internal/trace/check"
)

func newCheck(e *env) *cobra.Command {
	cmd := &cobra.Command{
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
		Args: cobra.MinimumNArgs(1),
	}
	cmd.RunE = runE(func(_ *cobra.Command, args []string) error {
		clean := true
		for _, file := range args {
			var r *check.Report
			var err error
			if file == "-" {
				r, err = check.JSON(e.stdin)
			} else {
				r, err = check.File(file)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			printReport(e.stdout, file, r)
			clean = clean && r.Clean()
		}
		if !clean {
			return errSilent
		}
		return nil
	})
	return cmd
}

func printReport(w io.Writer, file string, r *check.Report) {
	verdict := "clean"
	if !r.Clean() {
		verdict = "a viewer would not show this trace as it is meant"
	}
	fmt.Fprintf(w, "%s: %s\n  %s events: %s slices, %s arrow ends, %s counter samples, %s names; %d lanes in %d processes\n", file, verdict,
		thousands(r.Events), thousands(r.Slices), thousands(r.Flows), thousands(r.Counters), thousands(r.Metadata), r.Lanes, r.Processes)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  %-5s %s ×%s: %s\n", f.Severity, f.Rule, thousands(f.Count), f.Explain)
		for _, x := range f.Examples {
			fmt.Fprintf(w, "        %s\n", x)
		}
	}
}
