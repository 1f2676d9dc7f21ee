package main

import (
	"io"

	"github.com/spf13/cobra"
)

// env is where a command reads and writes.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// aliases are names of the ecosystem's tools that scripts may go on using.
var aliases = []string{"swimlane_converter"}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "swimlane",
		Short: "See where the time of an Ascend NPU task graph goes",
		Long: `swimlane reads the profiling captures of Ascend NPU runtimes and shows where the time goes:
which core ran what and when, what the schedulers did, who waited for whom.

  swimlane convert    draws a capture as a trace for https://ui.perfetto.dev
  swimlane stats      prints the times per function
  swimlane read       prints the joined model as JSON, for scripts
  swimlane check      tells what a viewer would lose or misplace in a trace file

A capture is a chip_swimlane_records.json, with deps.json (the task graph) and
name_map_*.json (function names) beside it if they were captured.`,
		Example: `  swimlane convert                                     # newest capture below outputs/
  swimlane convert outputs/TestPA_basic_20260416_151301
  swimlane stats chip_swimlane_records.json --format csv`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(newConvert(e), newConverterAlias(e), newStats(e), newRead(e), newCheck(e), newVersion(e))
	return root
}

// runE wraps a command's work: what fails inside is a failed input, unless it says otherwise.
func runE(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := work(cmd, args); err != nil {
			return failure{err}
		}
		return nil
	}
}
