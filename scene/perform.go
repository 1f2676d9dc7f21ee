package scene

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/sim"
)

// Options say how cases are run, and what is done with what they leave.
type Options struct {
	Platform   string
	Rounds     int
	SkipGolden bool
	Diagnostics
	Root     string // outputs/ is made there; "": nothing may be recorded
	Costs    *Costs // nil: those of the platform
	LogLevel string // see [Setup]
	Summary  bool   // print all of the converter's summary
	Devices  []int  // for a node, see [Setup]
}

// Performed is a case that was run.
type Performed struct {
	*Result
	Err         error    // why it failed, nil if it passed
	Prefix      string   // directory of its artifacts, "" if it has none
	Trace       string   // path of the trace, "" if there is none
	Traces      []string // of the dispatches of a node
	Views       []string // of the texts of task graphs
	Conversions int      // how many failed; the case may have passed all the same
}

// Perform runs a case as a command line does: it makes a directory for the
// artifacts if anything is recorded, converts what was recorded whether the case
// has passed or not, and prints what a reader should see.
func (s Selected) Perform(ctx context.Context, stdout, stderr io.Writer, o Options) *Performed {
	return s.performOn(ctx, console.New(nil, stdout, stderr), o)
}

func (s Selected) performOn(ctx context.Context, e *console.Env, o Options) *Performed {
	stdout, stderr := e.Stdout, e.Stderr
	p := &Performed{Result: &Result{}}
	fmt.Fprintf(stdout, "  %s ...\n", s.Label())
	e.OnStop(interrupt) // what is captured is kept; a conversion can be done again
	p.Err = s.perform(e, o, p)
	e.OnStop(nil)
	verdict, more := "PASSED", ""
	if p.Err != nil {
		verdict, more, _ = strings.Cut(fmt.Sprintf("FAILED: %v", p.Err), "\n")
	}
	fmt.Fprintf(stdout, "  %s ... %s\n", s.Label(), verdict)
	if more != "" { // the stack of a panic
		fmt.Fprintln(stderr, more)
	}
	s.print(stdout, p)
	for _, n := range p.Notes {
		fmt.Fprintln(stderr, "Warning: "+n)
	}
	if o.any() {
		if !sim.Interrupted() {
			s.convert(ctx, e, o, p)
		}
		printFiles(stdout, p)
	}
	return p
}

// perform runs the case and tells why it failed.
func (s Selected) perform(e *console.Env, o Options, p *Performed) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.any() {
		var err error
		if p.Prefix, err = makePrefix(s.Prefix(o.Root, time.Now())); err != nil {
			return err
		}
	}
	bar := console.NewProgress(e.Stderr)
	defer bar.Done()
	bar.Stage("running "+s.Label(), 0)
	var progress func(submitted, completed int)
	if report := bar.Part(); report != nil {
		progress = func(_, completed int) { report(int64(completed)) }
	}
	var err error
	p.Result, err = s.RunWith(Setup{
		Platform: o.Platform, Rounds: o.Rounds, SkipGolden: o.SkipGolden, Costs: o.Costs, LogLevel: o.LogLevel, Log: e.Stderr, Progress: progress, Devices: o.Devices,
		Call: CallConfig{EnableChipSwimlane: o.Swimlane, EnableDepGen: o.DepGen, OutputPrefix: p.Prefix},
	})
	if err != nil {
		// The label stands before it already.
		return errors.New(strings.TrimPrefix(err.Error(), s.Label()+": "))
	}
	return p.Golden
}

// print says what the run was.
func (s Selected) print(w io.Writer, p *Performed) {
	if s.Scene.Node != nil && len(p.Dispatches) > 0 {
		s.printNode(w, p)
	}
	if p.Submits == 0 {
		return
	}
	rounds := ""
	if p.Rounds > 1 {
		rounds = fmt.Sprintf(" in each of %d rounds", p.Rounds)
	}
	of := ""
	if s.Scene.Node != nil {
		of = " in the longest dispatch"
	}
	fmt.Fprintf(w, "    model   %s%s from the launch of the schedulers to their end%s: %s in %s\n", modelTime(p.Makespan), of, rounds,
		console.Count(int64(p.Tasks), "task"), console.Count(int64(p.Submits), "submit"))
	fmt.Fprintf(w, "    here    %.3f s\n", p.Wall.Seconds())
	for _, c := range p.Compared {
		fmt.Fprintf(w, "    golden  %q: %s, largest error %.3g\n", c.Name, console.Count(int64(c.Values), "value"), c.Worst)
	}
	if p.Err == nil && len(p.Compared) == 0 {
		fmt.Fprintln(w, "    golden  nothing was compared")
	}
}

// modelTime says that a time is no measured one.
func modelTime(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.3f µs of model time", float64(d.Nanoseconds())/1e3)
	}
	return fmt.Sprintf("%.3f ms of model time", float64(d.Nanoseconds())/1e6)
}

// convert draws what was recorded. A conversion that fails is a warning, and fails
// no case (spec/name-map.md §8).
func (s Selected) convert(ctx context.Context, e *console.Env, o Options, p *Performed) {
	if p.Prefix == "" {
		return
	}
	if s.Scene.Node != nil {
		s.convertRanks(ctx, e, o, p)
		return
	}
	if o.DepGen {
		if p.Graph == "" {
			fmt.Fprintf(e.Stderr, "Warning: [%s] deps.json not produced\n", s.FileLabel())
		} else {
			defer p.view(e, p.Graph, p.Names) // behind the conversion
		}
	}
	if o.Swimlane == 0 {
		return
	}
	if p.Records == "" {
		fmt.Fprintf(e.Stderr, "Warning: [%s] %s not produced; skipping conversion\n", s.FileLabel(), filepath.Join(p.Prefix, "chip_swimlane_records.json"))
		return
	}
	p.Trace = p.draw(ctx, e, o, p.Records, p.Names, !o.Summary)
}

// draw converts one capture, and counts if that fails. The result is the path of the
// trace, "" if there is none.
func (p *Performed) draw(ctx context.Context, e *console.Env, o Options, records, names string, quiet bool) string {
	trace := filepath.Join(filepath.Dir(records), "merged_swimlane.json")
	options := &convert.Options{Output: trace, Overhead: o.Overhead, Quiet: quiet}
	options.FuncNames = names
	if err := convert.Run(ctx, e, options, records); err != nil && (e.Stdout.Err() == nil || !errors.Is(err, e.Stdout.Err())) {
		p.Conversions++
		fmt.Fprintf(e.Stderr, "Warning: Failed to generate swimlane JSON: %v\n", err)
		return ""
	}
	return trace
}

// printFiles lists the artifacts; those of a node's dispatches by directory.
func printFiles(w io.Writer, p *Performed) {
	files := slices.Concat(p.Files(), p.Traces, p.Views)
	if p.Trace != "" {
		files = append(files, p.Trace)
	}
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(w, "    files   %s%c\n", p.Prefix, filepath.Separator)
	type directory struct{ files, bytes int64 }
	dirs := map[string]*directory{}
	for _, path := range files {
		st, err := os.Stat(path)
		if err != nil {
			continue
		}
		dir, err := filepath.Rel(p.Prefix, filepath.Dir(path))
		if err != nil || dir == "." {
			fmt.Fprintf(w, "              %-36s %s\n", filepath.Base(path), console.Size(st.Size()))
			continue
		}
		if dirs[dir] == nil {
			dirs[dir] = &directory{}
		}
		dirs[dir].files++
		dirs[dir].bytes += st.Size()
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		fmt.Fprintf(w, "              %-36s %s, %s\n", dir+string(filepath.Separator), console.Count(dirs[dir].files, "file"), console.Size(dirs[dir].bytes))
	}
}
