package main

import (
	"github.com/spf13/cobra"
)

// newConverterAlias answers to the ecosystem's tool name with that tool's
// options and words (spec/converter.md §8).
func newConverterAlias(e *env) *cobra.Command {
	o := &convertOptions{alias: true}
	o.mayLackDeps, o.stdin = true, e.stdin // a missing graph is a warning (spec/converter.md §8.3)
	cmd := &cobra.Command{
		Use:   "swimlane_converter [CAPTURE]",
		Short: "The former name of swimlane convert, for scripts",
		Long: `swimlane_converter is swimlane convert under the name, with the options and in the
words that scripts know. CAPTURE is a chip_swimlane_records.json, or a directory
that holds one; without it the newest outputs/*/chip_swimlane_records.json is
taken.`,
		Example: `  swimlane_converter
  swimlane_converter chip_swimlane_records.json -o trace.json --overhead`,
		Args:          atMostOne("CAPTURE"),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	o.flags(cmd)
	cmd.SetFlagErrorFunc(flagError)
	cmd.RunE = runE(func(cmd *cobra.Command, args []string) error { return convert(cmd.Context(), e, o, args) })
	return cmd
}
