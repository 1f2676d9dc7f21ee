package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// convertOptions are the options of convert.
type convertOptions struct {
	inputOptions
	output   string
	overhead bool
	idle     bool
	quiet    bool // only warnings and errors
	part     selectOptions
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
beside the records unless options name others. Files may be compressed with gzip;
an output called .gz is. CAPTURE may be - for the standard input, beside which
nothing is looked for; it needs -o.

CAPTURE may also be the records_e<epoch>.json of a retained run, or a directory
that holds only one of these, in it or in its swimlane-<k>/. Graph and names are
then looked for one directory above the records too, and the output is called
merged_swimlane_e<epoch>.json, as several runs lie in one directory.

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
	o.stdin = e.stdin
	cmd := &cobra.Command{
		Use:   "convert [CAPTURE]",
		Short: "Draw a capture as a trace for Perfetto",
		Long:  convertLong,
		Example: `  swimlane convert                                  # newest capture below outputs/
  swimlane convert outputs/TestPA_basic_20260416_151301
  swimlane convert chip_swimlane_records.json -o trace.json --overhead --idle
  swimlane convert records.json -k kernel_config.py --deps-json ../other/deps.json
  swimlane convert chip_swimlane_records.json -o trace.json.gz --quiet`,
		Args: atMostOne("CAPTURE"),
	}
	o.flags(cmd)
	o.orderFlag(cmd)
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print only warnings and errors")
	o.part.flags(cmd)
	cmd.Flags().BoolVar(&o.idle, "idle", false, "draw the gaps between the work of a scheduler thread as idle bars")
	cmd.RunE = runE(func(cmd *cobra.Command, args []string) error {
		if err := o.part.check(cmd); err != nil {
			return err
		}
		return convert(cmd.Context(), e, o, args)
	})
	return cmd
}

// flags adds the options that the ecosystem's tool has too.
func (o *convertOptions) flags(cmd *cobra.Command) {
	o.inputOptions.flags(cmd)
	f := cmd.Flags()
	f.VarP(file(&o.output), "output", "o", "output FILE, - for standard output (default: merged_swimlane.json beside the input)")
	f.BoolVar(&o.overhead, "overhead", false, "add counter tracks: idle cores, ready tasks, and where both exist (needs deps.json)")
	f.StringVar(&o.ranks.dispatch, "dispatch", "", "directory of several ranks: capture `dN` of every rank")
	f.StringVar(&o.ranks.dispatchID, "dispatch-id", "", "directory of several ranks: parent dispatch `RUN:TASK`")
	f.StringArrayVar(&o.ranks.hostLog, "host-log", nil, "directory of several ranks: host log `FILE`")
	f.StringArrayVar(&o.ranks.rankPID, "rank-pid", nil, "directory of several ranks: process of a rank")
	for _, name := range []string{"dispatch", "dispatch-id", "host-log", "rank-pid"} {
		f.MarkHidden(name)
	}
	cmd.MarkFlagFilename("output", "json", "gz")
}

// check refuses options that do not go with the input, or with each other.
func (o *convertOptions) check(arg string) error {
	if o.quiet && o.verbose {
		return usageError{errors.New("--quiet and --verbose are both there: expected one of them")}
	}
	if o.ranks.dispatch == "" && o.ranks.dispatchID == "" {
		return nil
	}
	if st, err := os.Stat(arg); arg != "" && err == nil && st.IsDir() {
		return nil
	}
	return errors.New("--dispatch and --dispatch-id are only valid when input is a dfx_outputs directory")
}

func convert(ctx context.Context, e *env, o *convertOptions, args []string) error {
	arg := first(args)
	if err := o.check(arg); err != nil {
		return err
	}
	l, err := find(arg, &o.inputOptions)
	if err != nil {
		return err
	}
	place := o.output
	if place == "" {
		if place, err = l.besideRecords(o.traceName(l.records)); err != nil {
			return err
		}
	}
	out, err := e.create(place, l.inputs)
	if err != nil {
		return l.notOver(err)
	}
	defer out.discard()
	var words io.Writer = e.stdout
	if out.toStdout() {
		words = e.stderr
	}
	v := newVerbose(words, o.verbose)
	v.plain = o.alias
	p := newProgress(e.stderr)
	defer p.done()

	v.input(l)
	if err := l.read(&o.inputOptions, p, false); err != nil {
		return err
	}
	l.warnArrowless()
	p.done()
	v.capture(l)
	l.printWarnings(e.stderr)
	v.drawing(l)
	only, err := o.part.only(l)
	if err != nil {
		return err
	}
	pic, err := draw.New(l.timeline, draw.Options{Names: l.names.Map, Overhead: o.overhead, Idle: o.idle, Only: only})
	if err != nil {
		return err
	}
	v.picture(l, pic)
	shown := pic.Trace()
	var left *trace.Left
	if s := o.part.selection(); !s.Empty() {
		if shown, left, err = trace.Select(shown, s); err != nil {
			return err
		}
		pic.Report.LossLanes = 0
		for _, lane := range shown.Lanes {
			if strings.HasSuffix(lane.Name, draw.LossSuffix) {
				pic.Report.LossLanes++
			}
		}
	}
	if part := o.part.fields(); part != nil {
		own := *shown
		own.Metadata = slices.Concat(own.Metadata, part)
		shown = &own
	}
	counts, err := writeTrace(ctx, out, shown, pic.Items(), p)
	if err = out.close(err); err != nil {
		return err
	}
	p.done()
	l.warnings = append(l.warnings, pic.Report.Warnings...)
	o.part.warnEmpty(l, pic.Trace(), left, counts.Slices)
	if o.overhead && !l.edges {
		l.warn("overhead-without-deps", 1, "--overhead needs deps.json for task readiness; no deps found, Overhead Analysis track skipped.")
	} else if o.overhead && pic.Report.OverheadPoints == 0 {
		l.warn("overhead-without-times", 1, "--overhead needs a graph with edges and the dispatch time of every task row; there are no such, Overhead Analysis track skipped.")
	}
	l.printWarnings(e.stderr)
	s := &summary{o, l, pic, left, out.name, counts, out.written()}
	v.written(s)
	if o.quiet {
		return nil
	}
	return s.print(words)
}

// traceName is the name of an output that was given none. The retained runs of a
// directory have one each; scripts find what the ecosystem's tool calls it.
func (o *convertOptions) traceName(records string) string {
	if epoch, ok := capture.RetainedEpoch(records); ok && !o.alias {
		return "merged_swimlane_e" + epoch + ".json"
	}
	return "merged_swimlane.json"
}

func writeTrace(ctx context.Context, out io.Writer, pic *trace.Picture, items int64, p *progress) (chrome.Counts, error) {
	opt := chrome.Options{}
	p.stage("writing", items)
	if report := p.part(); report != nil {
		opt.Progress = func(done, _ int64) { report(done) }
	}
	return chrome.Write(ctx, out, pic, opt)
}
