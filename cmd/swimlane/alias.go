package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/convert"
)

// newAlias answers to the name of a tool of the ecosystem.
func newAlias(e *console.Env, name string) *cobra.Command {
	if name == "sched_overhead_analysis" {
		return newOverheadAlias(e)
	}
	return newConverterAlias(e)
}

// newConverterAlias answers to the ecosystem's tool name with that tool's
// options and words (spec/converter.md §8).
func newConverterAlias(e *console.Env) *cobra.Command {
	o := &convert.Options{Alias: true}
	cmd := &cobra.Command{
		Use:   "swimlane_converter [CAPTURE]",
		Short: "The former name of swimlane convert, for scripts",
		Long: `swimlane_converter is swimlane convert under the name, with the options and in the
words that scripts know. CAPTURE is a chip_swimlane_records.json, or a directory
that holds one; without it the newest outputs/*/chip_swimlane_records.json is
taken.`,
		Example: `  swimlane_converter
  swimlane_converter chip_swimlane_records.json -o trace.json --overhead`,
	}
	o.Flags(cmd)
	cmd.RunE = console.RunE(func(cmd *cobra.Command, args []string) error {
		return convert.Run(cmd.Context(), e, o, console.First(args))
	})
	return cmd
}
