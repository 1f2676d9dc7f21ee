package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/hostlog"
	"swimlane/internal/strace"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// straceOptions are what the command strace was asked for.
type straceOptions struct {
	runs, swimlane     string // traces to write
	phases             []string
	rounds, tree       bool
	overlap, hidden    bool
	format             *console.Choice
	keep               strace.Keep
	runsFile, hostFile *console.Output
	text               io.Writer // where the report goes
	progress           *console.Progress
	files              []string // the logs, those of directories too
	log                *strace.Log
	invocations        []hostlog.Invocation
}

// report is a table in two forms.
type report interface{ Text(io.Writer) error }

func newStrace(e *console.Env) *cobra.Command {
	var o straceOptions
	cmd := &cobra.Command{
		Use:   "strace LOG...",
		Short: "Print what the host's logs tell about runs, and draw it",
		Long: `strace reads host logs (host.<pid>.log) and prints how long runs took and what they
consist of. LOG is a file of any name, so what a program wrote to its standard error
will do, packed with gzip or not; a directory stands for the host.*.log directly in
it; - is the standard input. Several are read one after another.

One report is printed, the first of these that is asked for:
  --assert-native-overlap  whether each native run was prepared while the one
                           before it ran; exit code 2 if not
  --rounds-table           a row for each run of the callable that ran most
  --tree                   what runs consist of, with medians
  otherwise                mean times of all stages, for each callable

Two pictures for https://ui.perfetto.dev can be made beside it:
  --trace-out              one process a run, with a lane of the host and one of
                           the device
  --swimlane               one lane a thread of the hosts, on their common clock,
                           with arrows from submits to dispatches. Times of the
                           device cannot be placed on it; they stand in the file
                           as unalignedDeviceSpans

Nothing that stands in a log is an error; what is incomplete is a warning. Lines for
people are passed over.`,
		Example: `  swimlane run TestVectorExample -p a2a3sim --rounds 20 2> log; swimlane strace log --rounds-table
  swimlane strace outputs/TestPA_basic_20260416_151301 --tree
  swimlane strace outputs/TestPA_basic_20260416_151301 --swimlane host.json --host-phase-records outputs/TestPA_basic_20260416_151301/host_phase_records.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no argument: expected at least one LOG, or - for standard input")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.Var(console.File(&o.runs), "trace-out", "write a trace with one process a run to FILE")
	flags.Var(console.File(&o.swimlane), "swimlane", "write a trace of the hosts' threads to FILE")
	flags.StringArrayVar(&o.phases, "host-phase-records", nil, "with --swimlane: also draw the steps in FILE, a host_phase_records.jsonl; may be repeated")
	console.Word(cmd, "host-phase-records", "FILE")
	flags.BoolVar(&o.rounds, "rounds-table", false, "print a row for each run")
	flags.BoolVar(&o.tree, "tree", false, "print what runs consist of")
	flags.BoolVar(&o.overlap, "assert-native-overlap", false, "fail unless each run was prepared while the one before it ran")
	flags.BoolVar(&o.hidden, "require-hidden-prepare", false, "with --assert-native-overlap: and unless it was ready before that one ended")
	o.format = console.Choose(cmd, "format", "form of the report", "text", "json")
	cmd.MarkFlagFilename("trace-out", "json", "gz")
	cmd.MarkFlagFilename("swimlane", "json", "gz")
	cmd.MarkFlagFilename("host-phase-records", "jsonl", "gz")
	cmd.RunE = console.RunE(func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) })
	return cmd
}

func (o *straceOptions) run(ctx context.Context, e *console.Env, logs []string) error {
	for _, log := range logs {
		if files, err := hostlog.Discover(log); err == nil {
			o.files = append(o.files, files...)
		} else {
			o.files = append(o.files, log)
		}
	}
	if err := o.create(e, logs); err != nil {
		return err
	}
	defer o.discard()
	o.progress = console.NewProgress(e.Stderr)
	defer o.progress.Done()
	o.progress.Reading("reading", o.files...)
	var err error
	if o.log, err = strace.Read(o.keep, e.Stdin, logs, o.progress.Part()); err != nil {
		return readError(err)
	}
	o.progress.Done()
	for _, w := range o.log.Warnings() {
		fmt.Fprintln(e.Stderr, "warning: "+w.Text)
	}
	o.invocations = o.log.Runs()
	if len(o.invocations) == 0 {
		for _, file := range o.files {
			if kind := capture.Sniff(file); kind != "" {
				fmt.Fprintf(e.Stderr, "Note: %s is %s, expected a host's log (host.<pid>.log)\n", file, kind)
			}
		}
	}
	if err := o.report(e); err != nil {
		return err
	}
	if err := o.drawRuns(ctx); err != nil {
		return err
	}
	return o.drawHosts(ctx, e)
}

// create begins the outputs, and decides how much of the logs must be kept.
func (o *straceOptions) create(e *console.Env, logs []string) error {
	if slices.Contains(o.phases, "") {
		return console.Usagef("--host-phase-records is empty: expected --host-phase-records FILE")
	}
	if o.runs != "" && filepath.Clean(o.runs) == filepath.Clean(o.swimlane) {
		return console.Usagef("--trace-out and --swimlane both name %s, which can take one of them", o.runs)
	}
	inputs := slices.Concat(o.phases, o.files, logs)
	o.text = e.Stdout
	for _, x := range []struct {
		flag, name string
		out        **console.Output
		keep       strace.Keep
	}{{"--trace-out", o.runs, &o.runsFile, strace.KeepRuns}, {"--swimlane", o.swimlane, &o.hostFile, strace.KeepAll}} {
		if x.name == "" {
			continue
		}
		out, err := e.Create(x.name, inputs)
		if err != nil {
			o.discard()
			return errors.New(strings.Replace(err.Error(), "with -o", "with "+x.flag, 1))
		}
		if out.ToStdout() {
			o.text = e.Stderr
		}
		*x.out, o.keep = out, x.keep
	}
	return nil
}

func (o *straceOptions) discard() {
	for _, out := range []*console.Output{o.runsFile, o.hostFile} {
		if out != nil {
			out.Discard()
		}
	}
}

// readError is an error of reading logs in the words of all commands.
func readError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		if errors.Is(err, fs.ErrNotExist) {
			return errors.New(notFound + p.Path)
		}
		return fmt.Errorf("cannot read %s: %w", p.Path, p.Err)
	}
	return err
}

// report prints the report that is asked for. A standard output that takes no more
// is for Env.Run to tell: pictures are made all the same.
func (o *straceOptions) report(e *console.Env) error {
	var r report
	switch {
	case o.overlap:
		overlap, err := strace.NewOverlap(o.invocations, o.hidden)
		if err != nil {
			fmt.Fprintf(e.Stderr, "native overlap assertion failed: %v\n", err)
			return console.UsageError{Err: console.ErrSilent} // the code is 2, and all is said
		}
		r = overlap
	case o.rounds:
		r = strace.NewRounds(o.invocations)
	case o.tree:
		r = strace.NewTrees(o.invocations)
	default:
		r = strace.NewStages(o.invocations)
	}
	if o.format.Value == "json" {
		enc := json.NewEncoder(o.text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		enc.Encode(r)
	} else {
		r.Text(o.text)
	}
	return nil
}

// drawRuns writes --trace-out.
func (o *straceOptions) drawRuns(ctx context.Context) error {
	if o.runsFile == nil {
		return nil
	}
	p, n := o.log.RunsPicture(o.invocations)
	if err := o.write(ctx, o.runsFile, p); err != nil {
		return err
	}
	fmt.Fprintf(o.text, "Wrote Chrome trace: %s (%d spans)\n", o.runs, n)
	return nil
}

// drawHosts writes --swimlane.
func (o *straceOptions) drawHosts(ctx context.Context, e *console.Env) error {
	if o.hostFile == nil {
		return nil
	}
	phases, err := o.log.ReadPhases(o.phases)
	if err != nil {
		return readError(err)
	}
	if phases.Dropped > 0 {
		fmt.Fprintf(e.Stderr, "warning: %d phase-record pass(es) had no matching chip.run.bind span in this log and were dropped — is the log from the same run as the artifact?\n", phases.Dropped)
	}
	hosts := o.log.HostsPicture(phases)
	if err := o.write(ctx, o.hostFile, hosts.Picture); err != nil {
		return err
	}
	fmt.Fprintf(o.text, "Wrote host swimlane: %s (%d host spans, %d unaligned device spans", o.swimlane, hosts.Host, hosts.Device)
	if n := len(phases.Spans); n > 0 {
		fmt.Fprintf(o.text, ", %d host phase records", n)
	}
	if phases.Present > 0 {
		fmt.Fprintf(o.text, ", %d segment(s) already in the log", phases.Present)
	}
	fmt.Fprintln(o.text, ")")
	return nil
}

func (o *straceOptions) write(ctx context.Context, out *console.Output, p *trace.Picture) error {
	o.progress.Stage("writing", 0)
	_, err := chrome.Write(ctx, out, p, chrome.Options{Progress: o.progress.Items()})
	o.progress.Done()
	return out.Close(err)
}
