package convert

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/draw"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// noArrows is printed where there is no graph (spec/converter.md §8.3).
const noArrows = "  Flow events: 0 (no deps.json — re-run dep_gen and pass --deps-json to add arrows)"

// noTaskArrows is the same where the output's arrows are counted: there are others.
const noTaskArrows = "  Arrows: none between tasks (no deps.json — re-run dep_gen and pass --deps-json to add them)"

// summary is what a conversion read, drew and lost.
type summary struct {
	o      *Options
	c      *Capture
	pic    *draw.Picture
	left   *trace.Left // what was left out on request, nil if nothing was
	output string
	counts chrome.Counts
	// written is the size of the output, which may be packed.
	written int64
}

// tooLargeToDrag is the size of a trace beyond which the viewer's page is likely
// to run out of memory.
const tooLargeToDrag = 500e6

// screen is how many lines a summary may have.
const screen = 40

// print says it on one screen.
func (s *summary) print(w io.Writer) error {
	table := stats.Compute(s.c.Timeline, s.c.Names.Map, draw.ThreadNames(s.c.Timeline))
	if s.o.Alias {
		return s.printAlias(w, table)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	where := s.output
	if where == console.Standard {
		where = "the trace"
	}
	line("\n✓ Conversion complete")
	line("  Input:  %s", s.c.Records)
	line("  Output: %s (%s: %s, %s, %s)", s.output, console.Size(s.written),
		console.Count(s.counts.Slices, "slice"), console.Count(s.counts.Flows, "arrow"), console.Count(s.counts.Counters, "counter sample"))
	s.found(line, table)
	if text := s.leftOut(); text != "" {
		line("  Not drawn, as asked: %s", text)
	}
	line("\nTo visualize: Open https://ui.perfetto.dev/ and drag in %s", where)
	if s.counts.Bytes > tooLargeToDrag {
		line("  A browser holds about 2 GB, several times less as JSON: run 'trace_processor server http %s' and open the UI,", where)
		line("  or draw a part of it: --from/--to, --lane, --func, --task, --no-flows.")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	said := strings.Count(b.String(), "\n")
	if said+table.TextLines() > screen {
		return table.Short(w, screen-said)
	}
	return table.Text(w)
}

// printAlias says it in the words that scripts know (spec/converter.md §8.3).
func (s *summary) printAlias(w io.Writer, table *stats.Table) error {
	if _, err := fmt.Fprintf(w, "\n✓ Conversion complete\n  Input:  %s\n  Output: %s\n\nTo visualize: Open https://ui.perfetto.dev/ and drag in %s\n",
		s.c.Records, s.output, s.output); err != nil {
		return err
	}
	if err := table.Text(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nScheduler-overhead deep-dive: run sched_overhead_analysis manually with a separately-captured deps.json (--enable-dep-gen).")
	return err
}

// found says what is in the picture, and what is not.
func (s *summary) found(line func(string, ...any), table *stats.Table) {
	r := &s.pic.Report
	producer := table.Producer
	if producer == "" {
		producer = "nobody"
	}
	line("  Level:  %d (%s), scheduler timing by %s", table.Level, stats.Caption(table.Level), producer)
	if text := runs(s.c.Timeline.Rec); text != "" {
		line("  Runs:   %s", text)
	}
	line("  Tasks:  %s in %s on %s%s%s; %s%s", console.Thousands(int64(table.Tasks)), console.Count(int64(table.Total.Count), "row"),
		console.Count(int64(table.Cores), "core"), spmd(r.SPMD), functionless(s.c.functionless()), console.Count(int64(r.Lanes), "lane"), moved(r.Moved))
	switch {
	case s.c.edges:
		line("  Arrows: %s of %s of the graph drawn%s%s", console.Thousands(int64(r.Drawn)), console.Count(int64(r.Edges), "edge"), s.undrawn(), violations(r))
	case !s.o.Verbose: // it was said above otherwise
		line("%s", noTaskArrows)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Unbound)) {
		line("          %s left out: no bar lies where it would start or end%s", console.Count(r.Unbound[name], name+" arrow"), noRecords(r.NoRecords))
	}
	line("  Lost:   %s%s", losses(s.c), marked(r.LossLanes))
	if len(r.Legacy) > 0 {
		line("  Skipped: records of old kinds, which are not drawn: %s", counts(r.Legacy))
	}
	for i, part := range wrap(table.IdleTimes(), 110) {
		head := "  Idle:   "
		if i > 0 {
			head = "          "
		}
		line("%s%s", head, part)
	}
	line("  Warnings: %s", s.warnings())
}

// metadata is the number of events of the trace that name processes and lanes.
func (s *summary) metadata() int64 {
	n := 2 * int64(len(s.pic.Lanes))
	for i := range s.pic.Processes {
		if s.pic.Processes[i].Name != "" {
			n += 2
		}
	}
	return n
}

func spmd(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s SPMD", console.Thousands(int64(n)))
}

func functionless(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s without function", console.Count(n, "row"))
}

func noRecords(threads []int) string {
	if len(threads) == 0 {
		return ""
	}
	const most = 8
	var names []string
	for _, th := range threads[:min(len(threads), most)] {
		names = append(names, fmt.Sprint(th))
	}
	if len(threads) > most {
		names = append(names, "…")
	}
	thread := "thread"
	if len(threads) > 1 {
		thread = "threads"
	}
	return fmt.Sprintf(" (no records of scheduler %s %s)", thread, strings.Join(names, ", "))
}

func moved(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s moved to sub-lanes", console.Count(int64(n), "overlapping bar"))
}

// runs names the runs of a file that holds several.
func runs(rec *capture.Records) string {
	if len(rec.Runs) < 2 {
		return ""
	}
	what := "epochs"
	if rec.Launches != nil {
		what = "launches"
	}
	const most = 8
	var epochs []string
	for _, r := range rec.Runs[:min(len(rec.Runs), most)] {
		if !r.Known {
			epochs = append(epochs, "none named")
			continue
		}
		epochs = append(epochs, fmt.Sprint(r.Epoch))
	}
	if n := len(rec.Runs) - most; n > 0 {
		epochs = append(epochs, fmt.Sprintf("%s more", console.Thousands(int64(n))))
	}
	return fmt.Sprintf("%d (%s %s) on one axis; figures are of all together", len(rec.Runs), what, strings.Join(epochs, ", "))
}

// undrawn says why edges have no arrow.
func (s *summary) undrawn() (text string) {
	r := &s.pic.Report
	if n := int64(r.Edges - r.Drawn); n > 0 {
		text = fmt.Sprintf(", %s without a bar at an end", console.Thousands(n))
		if r.HiddenRows > 0 {
			text = fmt.Sprintf(", %s not asked for or without a bar at an end", console.Thousands(n))
		}
	}
	if s.left != nil {
		text += " (of the whole picture, not of the part)"
	}
	return text
}

func marked(lanes int) string {
	if lanes == 0 {
		return ""
	}
	return fmt.Sprintf("; marked on %s, named … (lost)", console.Count(int64(lanes), "lane"))
}

func violations(r *draw.Report) string {
	if r.Violations == 0 {
		return ""
	}
	violate := "violate"
	if r.Violations == 1 {
		violate = "violates"
	}
	s := fmt.Sprintf(", %s %s happens-before", console.Thousands(r.Violations), violate)
	if r.Reversed > 0 {
		s += fmt.Sprintf(" (%s drawn against their edge: the successor starts first)", console.Thousands(r.Reversed))
	}
	return s
}

// losses sums up what the file says was lost and what found no partner.
func losses(c *Capture) string {
	loss := &c.Timeline.Rec.Loss
	parts, _ := declaredLosses(loss)
	add := func(n int64, what, more string) {
		if n > 0 {
			parts = append(parts, console.Count(n, what)+more)
		}
	}
	add(c.Timeline.Unmatched, "scheduler row", " without kernel row")
	add(c.Timeline.Untimed, "kernel row", " without scheduler row")
	add(c.Timeline.SubmitGaps(), "submit record", " missing in their numbers")
	if loss.Retained {
		parts = append(parts, "what was not received of a retained run")
	}
	if loss.EndedEarly {
		parts = append(parts, "what was under way when the run failed")
	}
	if len(parts) == 0 {
		if loss.Declared {
			return "some records, the file does not say how many"
		}
		return "nothing that the file knows of"
	}
	return strings.Join(parts, ", ")
}

// warnings sums the warnings up by their short names.
func (s *summary) warnings() string {
	if len(s.c.warnings) == 0 {
		return "none"
	}
	byCode := map[string]int64{}
	for _, w := range s.c.warnings {
		byCode[w.Code] += w.Count
	}
	return counts(byCode)
}

func counts(of map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s ×%s", stats.Printable(name), console.Thousands(of[name])))
	}
	return strings.Join(parts, ", ")
}

// wrap joins parts with commas to lines of at most the given width.
func wrap(parts []string, width int) []string {
	var out []string
	for i, p := range parts {
		if i < len(parts)-1 {
			p += ","
		}
		if n := len(out) - 1; n >= 0 && utf8.RuneCountInString(out[n])+1+utf8.RuneCountInString(p) <= width {
			out[n] += " " + p
		} else {
			out = append(out, p)
		}
	}
	return out
}
