package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/outfile"
	"swimlane/trace/chrome"
)

// convertOptions are the options of convert.
type convertOptions struct {
	inputOptions
	output   string
	overhead bool
	idle     bool
	ranks    rankOptions
	alias    bool // called by the name of the ecosystem's tool
}

// rankOptions concern directories of several ranks.
type rankOptions struct {
	dispatch, dispatchID string
	hostLog, rankPID     []string
}

const convertLong = `convert draws one capture as a trace that opens in https://ui.perfetto.dev, and
prints what it found.

CAPTURE is a chip_swimlane_records.json, or a directory that holds one; without
it the newest outputs/*/chip_swimlane_records.json is taken. The task graph
(deps.json) and the names (the only name_map*.json of chip level) are taken from
beside the records unless options name others. Files may be compressed with gzip.

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

func newConvert(e *env) *cobra.Command {
	o := &convertOptions{}
	cmd := &cobra.Command{
		Use:   "convert [CAPTURE]",
		Short: "Draw a capture as a trace for Perfetto",
		Long:  convertLong,
		Example: `  swimlane convert                                  # newest capture below outputs/
  swimlane convert outputs/TestPA_basic_20260416_151301
  swimlane convert chip_swimlane_records.json -o trace.json --overhead --idle
  swimlane convert records.json -k kernel_config.py --deps-json ../other/deps.json
  swimlane convert records.json -o - | gzip > trace.json.gz`,
		Args: cobra.MaximumNArgs(1),
	}
	o.flags(cmd)
	cmd.RunE = runE(func(cmd *cobra.Command, args []string) error { return convert(cmd.Context(), e, o, args) })
	return cmd
}

// newConverterAlias answers to the ecosystem's tool name with that tool's options.
func newConverterAlias(e *env) *cobra.Command {
	o := &convertOptions{alias: true}
	cmd := &cobra.Command{
		Use:    "swimlane_converter [CAPTURE]",
		Short:  "The former name of convert, for scripts",
		Hidden: true,
		Args:   cobra.MaximumNArgs(1),
	}
	o.flags(cmd)
	cmd.RunE = runE(func(cmd *cobra.Command, args []string) error { return convert(cmd.Context(), e, o, args) })
	return cmd
}

func (o *convertOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "output `FILE`, - for standard output (default: merged_swimlane.json beside the input)")
	o.inputOptions.flags(f)
	f.BoolVar(&o.overhead, "overhead", false, "add counter tracks: idle cores, ready tasks, and where both exist (needs deps.json)")
	f.BoolVar(&o.idle, "idle", false, "draw the gaps between the work of a scheduler thread as idle bars")
	f.StringVar(&o.ranks.dispatch, "dispatch", "", "directory of several ranks: capture dN of every rank")
	f.StringVar(&o.ranks.dispatchID, "dispatch-id", "", "directory of several ranks: parent dispatch RUN:TASK")
	f.StringArrayVar(&o.ranks.hostLog, "host-log", nil, "directory of several ranks: host log `FILE`")
	f.StringArrayVar(&o.ranks.rankPID, "rank-pid", nil, "directory of several ranks: process of a rank")
	for _, name := range []string{"dispatch", "dispatch-id", "host-log", "rank-pid"} {
		f.MarkHidden(name)
	}
	cmd.MarkFlagFilename("output", "json")
	cmd.MarkFlagFilename("func-names", "json")
	cmd.MarkFlagFilename("deps-json", "json", "gz")
	cmd.MarkFlagFilename("kernel-config", "py")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"json", "gz"}, cobra.ShellCompDirectiveFilterFileExt
	}
}

func convert(ctx context.Context, e *env, o *convertOptions, args []string) error {
	arg := first(args)
	if o.ranks.dispatch != "" || o.ranks.dispatchID != "" {
		if st, err := os.Stat(arg); arg == "" || err != nil || !st.IsDir() {
			return errors.New("--dispatch and --dispatch-id are only valid when input is a dfx_outputs directory")
		}
	}
	p := newProgress(e.stderr)
	defer p.done()
	l, err := load(arg, &o.inputOptions, p, false)
	if err != nil {
		return err
	}
	pic, err := draw.New(l.timeline, draw.Options{Names: l.names.Map, Overhead: o.overhead, Idle: o.idle})
	if err != nil {
		return err
	}
	l.warnings = append(l.warnings, pic.Report.Warnings...)
	if o.overhead && !l.edges {
		l.warnings = append(l.warnings, capture.Warning{Code: "overhead-without-deps", Count: 1,
			Text: "--overhead needs deps.json for task readiness; no deps found, Overhead Analysis track skipped."})
	}
	output := o.output
	if output == "" {
		output = beside(l.records, "merged_swimlane.json")
	}
	counts, err := writeTrace(ctx, e, output, l.inputs, pic, p)
	if err != nil {
		return err
	}
	p.done()
	console := e.stdout
	if output == "-" {
		console = e.stderr
	}
	printWarnings(e.stderr, l.warnings)
	return printSummary(console, o, l, pic, output, counts)
}

func writeTrace(ctx context.Context, e *env, output string, inputs []string, pic *draw.Picture, p *progress) (chrome.Counts, error) {
	opt := chrome.Options{}
	if p.w != nil {
		p.stage("writing", pic.Items())
		report := p.part()
		opt.Progress = func(done, _ int64) { report(done) }
	}
	if output == "-" {
		counts, err := chrome.Write(ctx, e.stdout, pic.Trace(), opt)
		return counts, writeError("standard output", err)
	}
	out, err := outfile.Create(output, inputs...)
	if err != nil {
		return chrome.Counts{}, err
	}
	defer out.Discard()
	counts, err := chrome.Write(ctx, out, pic.Trace(), opt)
	if err == nil {
		err = out.Commit()
	}
	return counts, writeError(output, err)
}

func writeError(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w; nothing was left behind", where, err)
}

func printWarnings(w io.Writer, warnings []capture.Warning) {
	for _, x := range warnings {
		fmt.Fprintln(w, "Warning: "+x.Text)
	}
}
