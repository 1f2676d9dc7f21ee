package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/draw"
	"swimlane/internal/ranks"
	"swimlane/timeline"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// mergedName is the output of a merge that was given none.
const mergedName = "l3_swimlane.json"

// merge is a merge of ranks under way.
type merge struct {
	*ranks.Plan
	o        *Options
	in       Input // of each capture
	e        *console.Env
	root     string
	progress *console.Progress
	doc      *chrome.Writer
	figures  []rankFigures
}

// mergeRanks draws the captures of several ranks as one picture (spec/l3.md).
func (o *Options) mergeRanks(ctx context.Context, e *console.Env, root string) error {
	if o.FuncNames != "" || o.KernelConfig != "" || o.DepsJSON != "" {
		return errors.New("directory input auto-loads per-Rank name/dependency files; global overrides are not allowed")
	}
	if s := o.part.selection(); !s.Empty() || len(o.part.tasks) > 0 || len(o.part.fns) > 0 {
		return console.Usagef("%s is a directory of several ranks, of which --rank chooses: parts of one are drawn from its records file", root)
	}
	m := &merge{o: o, in: o.Input, e: e, root: root, progress: console.NewProgress(e.Stderr)}
	defer m.progress.Done()
	m.in.merged = true
	if err := m.plan(); err != nil {
		return err
	}
	inputs, err := m.inputs()
	if err != nil {
		return err
	}
	place := o.Output
	if place == "" {
		place = filepath.Join(root, mergedName)
	}
	if place != console.Standard {
		if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
			return err
		}
	}
	out, err := e.Create(place, inputs)
	if err != nil {
		return err
	}
	defer out.Discard()
	var words io.Writer = e.Stdout
	if out.ToStdout() {
		words = e.Stderr
	}
	m.pairings(newVerbose(words, o.Verbose))
	m.doc = chrome.NewWriter(out)
	err = m.write(ctx)
	var unreadable inputError
	if errors.As(err, &unreadable) { // which is nothing that is wrong with the output
		return unreadable.error
	}
	if err := out.Close(err); err != nil {
		return err
	}
	m.progress.Done()
	if o.Quiet {
		return nil
	}
	return m.print(words, out.Name())
}

// plan finds, pairs and places the captures.
func (m *merge) plan() error {
	choice, err := ranks.Choose(m.root, m.o.ranks.dispatch, m.o.ranks.dispatchID)
	if choice != nil && choice.Warning != "" {
		fmt.Fprintln(m.e.Stderr, "Warning: "+choice.Warning)
	}
	if err != nil {
		return err
	}
	if only := m.o.ranks.only; only != "" { // before anything large is read
		if err := choice.HasRanks(only); err != nil {
			return err
		}
	}
	if choice.Found && !m.o.Quiet {
		option := "--dispatch " + choice.Dispatch
		if choice.Dispatch == "" {
			option = "--dispatch-id " + choice.DispatchID
		}
		fmt.Fprintf(m.e.Stderr, "Note: merging %s, which is all that %s holds\n", option, m.root)
	}
	var files []string
	for _, c := range choice.Captures {
		files = append(files, c.Records)
	}
	m.progress.Reading("placing", files...)
	logs := func(files []string) func(int64) {
		m.progress.Reading("reading logs", files...)
		return m.progress.Part()
	}
	m.Plan, err = choice.Plan(ranks.Options{HostLogs: m.o.ranks.hostLog, Pins: m.o.ranks.rankPID, Reading: logs}, func(path string) (*capture.Records, error) {
		opt := m.o.reading()
		opt.Clockless = true // told of where the clock is needed
		opt.Progress = m.progress.Part()
		rec, err := capture.Read(path, opt)
		if text, ok := console.PathText(err); ok {
			return nil, fmt.Errorf("cannot read %s: %s", path, text)
		}
		return rec, err
	})
	m.progress.Done()
	for _, text := range m.Warnings {
		fmt.Fprintln(m.e.Stderr, "Warning: "+text)
	}
	if err != nil {
		return err
	}
	if m.o.ranks.only != "" {
		if err := m.Only(m.o.ranks.only); err != nil {
			return err
		}
	}
	return nil
}

// inputs are the files that no output may overwrite. A name map that is needed and
// cannot be used is an error, told before anything is drawn.
func (m *merge) inputs() ([]string, error) {
	drawn := map[string]bool{}
	for _, r := range m.Members {
		drawn[r.Records] = true
	}
	out := append([]string(nil), m.Logs...)
	for _, c := range m.Captures {
		out = append(out, c.Records, capture.Beside(c.Records, capture.DepsFileName), capture.Beside(c.Records, ranks.IdentityFile))
		found, err := Find(c.Records, &m.in)
		switch {
		case err == nil:
			out = append(out, found.inputs...)
		case drawn[c.Records]:
			return nil, err
		}
	}
	return out, nil
}

// write writes the picture, one rank after another (spec/l3.md §10.3).
func (m *merge) write(ctx context.Context) error {
	pic, err := m.Dispatchers()
	if err != nil {
		return err
	}
	if err := m.doc.Picture(ctx, pic, chrome.Options{}); err != nil {
		return err
	}
	for _, r := range m.Members {
		if err := m.writeRank(ctx, r); err != nil {
			return err
		}
	}
	return m.doc.Close(m.Metadata(), nil)
}

// inputError is what is wrong with an input that is read while the output is written.
type inputError struct{ error }

// writeRank reads a rank's capture again, draws it on the common axis and forgets it.
func (m *merge) writeRank(ctx context.Context, r *ranks.Member) error {
	c, err := Find(r.Records, &m.in)
	if err != nil {
		return inputError{err}
	}
	c.axis = func(rec *capture.Records) (*timeline.Placement, error) { return m.Axis(r, rec) }
	if err := c.load(nil, m.progress); err != nil {
		return inputError{err}
	}
	pic, err := draw.New(c.Timeline, draw.Options{Names: c.Names.Map, Overhead: m.o.Overhead, Idle: m.o.Idle})
	if err != nil {
		return inputError{err}
	}
	c.warnings = append(c.warnings, pic.Report.Warnings...)
	c.warnOverhead(m.o, pic)
	m.progress.Done()
	for _, w := range c.warnings {
		text := w.Text
		if w.Code != "names" { // which name the file themselves
			text = fmt.Sprintf("rank%d: %s", r.Rank, text)
		}
		fmt.Fprintln(m.e.Stderr, "Warning: "+text)
	}
	views, err := m.Views(r, pic)
	if err != nil {
		return err
	}
	host, err := m.Host(r)
	if err != nil {
		return err
	}
	m.figures = append(m.figures, figuresOf(m.Plan, r, c.Timeline))
	for _, p := range []*trace.Picture{views, host} {
		m.progress.Stage(fmt.Sprintf("writing rank %d", r.Rank), pic.Items())
		if err := m.doc.Picture(ctx, p, chrome.Options{Progress: m.progress.Items()}); err != nil {
			return err
		}
	}
	return nil
}

// pairings says which run each capture was found to be of.
func (m *merge) pairings(v *verbose) {
	for _, r := range m.Members {
		v.say("rank%d: %s is of pid %d inv %d (%s), placed within %.1f us, residual %.1f us", r.Rank, r.Records,
			r.Pair.Window.PID, r.Pair.Window.Inv, r.Pair.How(), float64(r.Placement.Slack())/1000, float64(r.Placement.Residual())/1000)
	}
}

// print says what was merged (spec/l3.md §10.11).
func (m *merge) print(w io.Writer, output string) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	var names []string
	for _, r := range m.Members {
		names = append(names, fmt.Sprintf("rank%d", r.Rank))
	}
	line("\n✓ Multi-Rank conversion complete")
	line("  Input:  %s", m.root)
	line("  Ranks:  %s", strings.Join(names, ", "))
	line("  Bound:  %s", bound(m.All))
	line("  Output: %s", output)
	line("\nTo visualize: Open https://ui.perfetto.dev/ and drag in %s", output)
	if !m.o.Alias {
		b.WriteString(rankTable(m.compared(), m.o.Verbose))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bound says how well the places of the ranks are known. Their records lie up to half
// of a residual beside them.
func bound(all []*ranks.Member) string {
	var slacks, reach, halves []int64
	for _, r := range all {
		slack, half := r.Placement.Slack(), (r.Placement.Residual()+1)/2
		slacks, reach, halves = append(slacks, slack), append(reach, slack+half), append(halves, half)
	}
	text := fmt.Sprintf("each Rank placed within %s us of its chip.run.runner_run window", fromTo(slacks))
	ns, several := ranks.Uncertainty(slacks)
	if several {
		text += fmt.Sprintf("; a cross-Rank gap under %.1f us is undecided", float64(ns)/1000)
	}
	if slices.Max(halves) >= shownNs {
		beside := fmt.Sprintf("lie up to %s us (half of the residual) beside that", fromTo(halves))
		if ns, _ := ranks.Uncertainty(reach); several {
			text += fmt.Sprintf("; of records, which %s, one under %.1f us", beside, float64(ns)/1000)
		} else {
			text += "; records " + beside
		}
	}
	return text
}

// shownNs is the least time that one decimal of µs shows.
const shownNs = 50

// fromTo writes ns as µs: the least and the greatest, one number if they are equal.
func fromTo(all []int64) string {
	least, most := slices.Min(all), slices.Max(all)
	text := fmt.Sprintf("%.1f", float64(least)/1000)
	if most != least {
		text += fmt.Sprintf("–%.1f", float64(most)/1000)
	}
	return text
}
