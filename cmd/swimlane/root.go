package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"swimlane/internal/console"
)

// aliases are names of the ecosystem's tools that scripts may go on using.
var aliases = []string{"swimlane_converter", "sched_overhead_analysis"}

func newRoot(e *console.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "swimlane",
		Short: "See where the time of an Ascend NPU task graph goes",
		Long: `swimlane reads the profiling captures of Ascend NPU runtimes and shows where the time goes:
which core ran what and when, what the schedulers did, who waited for whom.

  swimlane run            makes a capture without an NPU: runs scenes on a simulated chip
  swimlane convert        draws a capture as a trace for https://ui.perfetto.dev
  swimlane stats          prints the times per function
  swimlane overhead       tells how much of the time is the scheduler's overhead, and where
  swimlane critical-path  tells what the makespan consists of
  swimlane compare        puts two captures side by side, before and after a change
  swimlane read           prints the joined model as JSON, for scripts
  swimlane strace         prints what the host's logs tell about runs, and draws it
  swimlane deps           shows the task graph: who needs whom, and why
  swimlane check          tells what a viewer would lose or misplace in a trace file
  swimlane doctor         tells what is wrong or missing with captures, why, and what to do

A capture is a chip_swimlane_records.json, with deps.json (the task graph) and
name_map_*.json (function names) beside it if they were captured.

The exit code is 0 on success, 1 if an input cannot be used, 2 for a wrong call.`,
		Example: `  swimlane convert                                     # newest capture below outputs/
  swimlane convert outputs/TestPA_basic_20260416_151301
  swimlane stats chip_swimlane_records.json --format csv`,
		Args: knownCommand,
	}
	showVersion := root.Flags().BoolP("version", "v", false, "version for swimlane")
	root.RunE = console.RunE(func(cmd *cobra.Command, _ []string) error {
		if *showVersion {
			return printVersion(e)
		}
		return cmd.Help()
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.AddCommand(newRun(e), newConvert(e), newStats(e), newOverhead(e), newCriticalPath(e), newCompare(e), newRead(e), newStrace(e), newDeps(e), newCheck(e), newDoctor(e), newVersion(e), newCompletion(e))
	alias := newConverterAlias(e)
	alias.Hidden = true
	root.AddCommand(alias)
	return root
}

// newHelp is cobra's help command, except that an unknown command is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 && target == cmd.Root() {
				return knownCommand(cmd.Root(), args)
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// knownCommand refuses what is no command, with the commands there are.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", near[0])
	}
	if _, err := os.Stat(args[0]); err == nil {
		hint = fmt.Sprintf("; did you mean '%s convert %s'?", cmd.CommandPath(), args[0])
	}
	return fmt.Errorf("unknown command %q: expected %s%s", args[0], console.OrList(known), hint)
}
