package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/analysis/critical"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/names"
)

// criticalOptions are what the command critical-path was asked for.
type criticalOptions struct {
	convert.Input
	report   string
	top, tol int
	stdout   bool
	bridge   bool
	noTraces bool
	noFiles  bool
	format   *console.Choice
}

func newCriticalPath(e *console.Env) *cobra.Command {
	o := &criticalOptions{}
	o.OneRun, o.NewestNames = true, true
	cmd := &cobra.Command{
		Use:   "critical-path [CAPTURE]",
		Short: "Tell what the makespan consists of: the critical path and its stalls",
		Long: `critical-path finds two paths through a capture. The static one is the longest chain
of dependencies by kernel times alone: no number of cores makes the run shorter than
that. The observed one is what was really waited for, from the task that ended last
back to the start: the kernel times and the stalls on it add up to the makespan,
cycle by cycle. A task stalled for one that it depends on (data-wait), for the one
that held its core (core-wait), or before anything that was recorded (front-gap).

CAPTURE is a records file or a directory. All captures in the directory and below it
that have a deps.json beside them are analysed. Without it the newest at any depth below
outputs/ is taken. For each of them, beside its records:
  critical_path_report.md  the figures, every task on the observed path, and what
                           each stall waited for
  CPM_static.json, CPM_observed.json
                           pictures for https://ui.perfetto.dev in which tasks that
                           are not on the path have lost their function's name:
                           copies of merged_swimlane*.json if that is there,
                           otherwise drawn from the records

Level 1 is enough. The exit code is 2 if a merged_swimlane*.json cannot be used.`,
		Example: `  swimlane critical-path outputs/TestPA_basic_20260416_151301
  swimlane critical-path outputs/TestPA_basic_20260416_151301 --no-files --stdout
  swimlane critical-path --format json | jq '.ranks[0].observed.stall_by_kind'`,
	}
	o.Flags(cmd)
	o.RunFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.report, "report", reportName, "name of the report, which lies beside the records (default "+reportName+", of a retained run with its epoch)")
	f.IntVar(&o.top, "top", 25, "rows of the tables that are ordered by time (default 25)")
	f.IntVar(&o.tol, "tol", critical.DefaultTolerance, "how many cycles a task may start before what it waited for has ended (default 2)")
	f.BoolVar(&o.stdout, "stdout", false, "print the reports too")
	f.BoolVar(&o.bridge, "bridge", false, "follow dependencies through tasks without kernel rows (dummies, allocations, skipped tasks)")
	f.BoolVar(&o.noTraces, "no-traces", false, "write no pictures")
	f.BoolVar(&o.noFiles, "no-files", false, "write neither reports nor pictures")
	for name, word := range map[string]string{"report": "NAME", "top": "N", "tol": "N"} {
		console.Word(cmd, name, word)
	}
	o.format = console.Choose(cmd, "format", "form of the figures; json is printed, and no file is written", "text", "json")
	cmd.RunE = console.RunE(func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, console.First(args)) })
	return cmd
}

const reportName = "critical_path_report.md"

// isPicture reports whether a report of that name would be in the place of a picture that
// is written or read beside it.
func isPicture(name string) bool {
	for _, pattern := range []string{"CPM_static*.json", "CPM_observed*.json", "merged_swimlane*.json"} {
		if ok, _ := filepath.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// builds are the captures that are analysed, and what they lie below.
type builds struct {
	root    string
	records []string
}

// rankReport is what became of one capture.
type rankReport struct {
	*critical.Rank
	section string   // of the report
	written []string // files
}

func (o *criticalOptions) run(ctx context.Context, e *console.Env, arg string) error {
	switch name := o.report; {
	case name != filepath.Base(name) || name == "." || name == "..":
		return console.Usagef("--report must be a filename, not a path")
	case isPicture(name):
		return console.Usagef("--report %s is the name of a picture; choose another one", name)
	case o.top < 0:
		return console.Usagef("--top is %d: expected no negative numbers", o.top)
	case o.tol < 0:
		return console.Usagef("--tol is %d: expected no negative numbers", o.tol)
	}
	b, err := o.find(arg)
	if err != nil {
		return err
	}
	if o.DepsJSON != "" && len(b.records) > 1 {
		return console.Usagef("--deps-json names one graph, and there are %d captures under %s; name the records of one", len(b.records), b.root)
	}
	var ranks []rankReport
	failed, spoilt := false, false
	for _, records := range b.records {
		if arg == "" || len(b.records) > 1 {
			fmt.Fprintln(e.Stderr, "Reading "+records)
		}
		r, err := o.analyse(ctx, e, b.root, records)
		switch {
		case err == nil:
		case errors.As(err, new(badTrace)):
			fmt.Fprintln(e.Stderr, "Error: "+err.Error())
			fmt.Fprintf(e.Stderr, "Draw all of it again with 'swimlane convert %s', or leave the pictures out with --no-traces.\n", records)
			spoilt = true
		case len(b.records) == 1 || ctx.Err() != nil:
			return err
		default: // the others are worth a look all the same
			fmt.Fprintln(e.Stderr, "Error: "+err.Error())
			failed = true
			continue
		}
		ranks = append(ranks, r)
	}
	if err := o.print(e, b.root, ranks); err != nil {
		return err
	}
	switch {
	case failed:
		return console.ErrSilent
	case spoilt:
		return console.UsageError{Err: console.ErrSilent}
	}
	return nil
}

// find looks for the captures that are meant (spec/sched-overhead.md §10.1).
func (o *criticalOptions) find(arg string) (*builds, error) {
	root := arg
	switch arg {
	case console.Standard:
		return &builds{arg, []string{arg}}, nil
	case "":
		records, err := capture.NewestAnywhere() // as overhead does
		if err != nil {
			return nil, err
		}
		root = filepath.Dir(records)
	}
	st, err := os.Stat(root)
	switch {
	case err != nil:
		return nil, console.Usagef("path not found: %s", root)
	case !st.IsDir() && (!capture.IsBuildFile(root) || o.DepsJSON != ""):
		return &builds{filepath.Dir(root), []string{root}}, nil
	case !st.IsDir():
		root = filepath.Dir(root)
	}
	usable, graphless, err := capture.Builds(root)
	switch {
	case err != nil:
		return nil, err
	case len(usable) > 0:
		return &builds{root, usable}, nil
	case len(graphless) == 1 && o.DepsJSON != "":
		return &builds{root, graphless}, nil
	}
	// Retained runs have other names.
	if records, _, err := capture.Locate(root); err == nil {
		if _, kept := capture.RetainedEpoch(records); kept {
			return &builds{root, []string{records}}, nil
		}
	}
	hint := ""
	if n := len(graphless); n > 0 {
		hint = fmt.Sprintf("; found %s without a deps.json: run with --enable-dep-gen, or name the graph with --deps-json", console.Count(int64(n), "capture"))
	}
	return nil, console.Usagef("no rank found under %s: expected a directory with chip_swimlane_records.json (or l2_perf_records.json), deps.json "+
		"and, for names, name_map*.json%s", root, hint)
}

// rankLabel is the name of a capture in reports: its directory, as seen from the root.
func rankLabel(root, records string) string {
	if records == console.Standard {
		return records
	}
	dir := filepath.Dir(records)
	if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
		return rel
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// analyse reads one capture and writes what belongs beside it.
func (o *criticalOptions) analyse(ctx context.Context, e *console.Env, root, records string) (r rankReport, err error) {
	c, err := convert.Find(records, &o.Input)
	if err != nil {
		return r, err
	}
	if err := c.Read(e); err != nil {
		return r, err
	}
	if c.Graph == nil {
		return r, fmt.Errorf("no task graph can be used with %s: expected a deps.json beside it, of the same program, or one that --deps-json names", c.Records)
	}
	if c.Names.Map == nil {
		fmt.Fprintf(e.Stderr, "Warning: no name map for %s: kernels are called cid and their number\n", c.Records)
	}
	if _, cycle := c.Graph.Order(); cycle != nil {
		fmt.Fprintf(e.Stderr, "Warning: the tasks of %s wait for each other in a circle (%s): of their edges only those count that the times agree with\n",
			c.Deps, circle(c, cycle))
	}
	res, err := critical.Compute(c.Timeline, critical.Options{Tolerance: uint64(o.tol), Bridge: o.bridge})
	if err != nil {
		return r, err
	}
	r.Rank = &critical.Rank{Result: res, Label: rankLabel(root, records), Names: c.Names.Map}
	if o.format.Value == "json" {
		return r, nil
	}
	var section strings.Builder
	if err := r.Markdown(&section, o.top); err != nil {
		return r, err
	}
	r.section = section.String()
	if o.noFiles || c.FromStdin() {
		return r, nil
	}
	if err := o.writeReport(e, c, &r); err != nil || o.noTraces {
		return r, err
	}
	return r, drawPaths(ctx, e, c, &r)
}

func (o *criticalOptions) writeReport(e *console.Env, c *convert.Capture, r *rankReport) error {
	name := o.report
	if name == reportName {
		name = ofRun(c.Records, name)
	}
	out, err := c.Create(e, filepath.Join(filepath.Dir(c.Records), name))
	if err != nil {
		return fmt.Errorf("%w, or write no files with --no-files", err)
	}
	defer out.Discard()
	_, err = out.Write([]byte(critical.Title + r.section))
	if err := out.Close(err); err != nil {
		return err
	}
	r.written = append(r.written, "Report written to: "+out.Name())
	return nil
}

// ofRun is a name of a file beside a capture. Retained runs share a directory, so that
// the epoch of one stands in its names.
func ofRun(records, name string) string {
	epoch, ok := capture.RetainedEpoch(records)
	if !ok {
		return name
	}
	kind := filepath.Ext(name)
	return strings.TrimSuffix(name, kind) + "_e" + epoch + kind
}

// circle shows a cycle of tasks, of a long one its beginning.
func circle(c *convert.Capture, cycle []uint64) string {
	const most = 8
	var text []byte
	for _, id := range cycle[:min(len(cycle), most)] {
		text = append(names.AppendTaskID(text, c.Timeline.Rec.Dialect.IDs, id), " → "...)
	}
	if len(cycle) > most {
		return fmt.Sprintf("%s… %d in all", text, len(cycle))
	}
	return string(names.AppendTaskID(text, c.Timeline.Rec.Dialect.IDs, cycle[0]))
}

// print says what was found in all captures.
func (o *criticalOptions) print(e *console.Env, root string, ranks []rankReport) error {
	if o.format.Value == "json" {
		out := struct {
			Root  string              `json:"root"`
			Ranks []*critical.Figures `json:"ranks"`
		}{Root: root, Ranks: []*critical.Figures{}}
		for _, r := range ranks {
			out.Ranks = append(out.Ranks, r.Figures())
		}
		enc := json.NewEncoder(e.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(out)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Analyzed %d rank(s) under %s\n", len(ranks), root)
	for _, r := range ranks {
		b.WriteString(r.Summary() + "\n")
	}
	for _, r := range ranks {
		for _, line := range r.written {
			b.WriteString(line + "\n")
		}
	}
	if o.stdout {
		b.WriteString("\n" + critical.Title)
		for _, r := range ranks {
			b.WriteString(r.section)
		}
		b.WriteString("\n")
	}
	_, err := e.Stdout.Write([]byte(b.String()))
	return err
}
