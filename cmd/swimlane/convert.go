package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/convert"
)

const convertLong = `convert draws one capture as a trace that opens in https://ui.perfetto.dev, and
prints what it found.

CAPTURE is a chip_swimlane_records.json, or a directory that holds one; without
it the newest outputs/*/chip_swimlane_records.json is taken. The task graph
(deps.json) and the names (the only name_map*.json of chip level) are taken from
beside the records unless options name others. Files may be compressed with gzip;
an output called .gz is. CAPTURE may be - for the standard input, beside which
nothing is looked for; it needs -o.

CAPTURE may also be the records_e<epoch>.json of a retained run, or a directory
that holds only one of these, in it or in its swimlane-<k>/. Graph and names are
then looked for one directory above the records too, and the output is called
merged_swimlane_e<epoch>.json, as several runs lie in one directory.

CAPTURE may also be a directory of several ranks, rank0/d0/ and so on, with the
host.<pid>.log of the run, or the host_clock_alignment.<pid>.log beside the
records. The captures that belong together are merged into
l3_swimlane.json: those in dN of every rank (--dispatch), or those of a group
(--dispatch-id); a directory that holds only one such set needs neither. Each
rank is placed in the window that the host's log has for it. How far it may be
off is its slack; gaps between ranks that are smaller are undecided. A capture
whose sidecar does not say which run it is of goes where it fits best, or where
--rank-pid puts it. Graph and names are those beside the records of each rank.

The picture shows, one process each:
  Orchestrator       one bar per task submission, uploads of a host orchestrator
  Scheduler          what every scheduler thread did, and the shared ready queues
  Scheduler View     every task from dispatch to finish, per core
  Worker View        every kernel from receive to end, per core; dummies and allocations
  Graph Execution    expanded graphs
  AICPU Lifecycle    start and end of the AICPU threads
Arrows join submit, dispatch, kernel and completion of a task, and each task with
those that depend on it (needs deps.json).

Bars that overlap on one lane are put on further lanes, NAME (2), NAME (3), …,
because viewers drop or misplace them otherwise. The output is written beside
its place and renamed when it is complete.`

func newConvert(e *console.Env) *cobra.Command {
	o := &convert.Options{}
	cmd := &cobra.Command{
		Use:   "convert [CAPTURE]",
		Short: "Draw a capture as a trace for Perfetto",
		Long:  convertLong,
		Example: `  swimlane convert                                  # newest capture below outputs/
  swimlane convert outputs/TestPA_basic_20260416_151301
  swimlane convert chip_swimlane_records.json -o trace.json --overhead --idle
  swimlane convert records.json -k kernel_config.py --deps-json ../other/deps.json
  swimlane convert chip_swimlane_records.json -o trace.json.gz --quiet
  swimlane convert outputs/TestL3Vectors_2x2_20260416_151301 --dispatch d0 --rank 0,3-5`,
	}
	o.Flags(cmd)
	cmd.RunE = console.RunE(func(cmd *cobra.Command, args []string) error {
		return convert.Run(cmd.Context(), e, o, console.First(args))
	})
	return cmd
}
