package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/draw"
	"swimlane/trace/chrome"
)

// noArrows is printed where there is no graph (spec/converter.md §8.3).
const noArrows = "  Flow events: 0 (no deps.json — re-run dep_gen and pass --deps-json to add arrows)"

// printSummary says on one screen what was read, drawn and lost.
func printSummary(w io.Writer, o *convertOptions, l *loaded, pic *draw.Picture, output string, counts chrome.Counts) error {
	t, r := l.timeline, &pic.Report
	table := stats.Compute(t, l.names.Map, draw.ThreadNames(t))
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	where := output
	if output == "-" {
		where = "the trace"
	}
	line("\n✓ Conversion complete")
	line("  Input:  %s", l.records)
	line("  Output: %s", output)
	line("          %s: %s slices, %s arrows, %s counter samples", size(counts.Bytes), thousands(counts.Slices), thousands(counts.Flows), thousands(counts.Counters))
	producer := table.Producer
	if producer == "" {
		producer = "none"
	}
	line("  Level:  %d (%s), scheduler timing by %s", table.Level, stats.Caption(table.Level), producer)
	line("  Tasks:  %s in %s rows on %d cores%s; %d lanes%s", thousands(int64(table.Tasks)), thousands(int64(table.Total.Count)),
		table.Cores, spmd(r.SPMD), r.Lanes, moved(r.Moved))
	if l.edges {
		line("  Arrows: %s of %s edges of the graph drawn%s", thousands(int64(r.Drawn)), thousands(int64(r.Edges)), violations(r))
	} else {
		line("%s", noArrows)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Unbound)) {
		line("          %s %s arrow(s) left out: no bar lies where they would start or end", thousands(r.Unbound[name]), name)
	}
	line("  Lost:   %s", losses(l))
	for _, name := range slices.Sorted(maps.Keys(r.Legacy)) {
		line("          %s record(s) of the old kind %s are not drawn", thousands(r.Legacy[name]), name)
	}
	if idle := table.IdleLine(); idle != "" {
		line("  Idle:   %s", idle)
	}
	line("  Warnings: %s", warningCounts(l))
	line("\nTo visualize: Open https://ui.perfetto.dev/ and drag in %s", where)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := table.Text(w); err != nil {
		return err
	}
	if o.alias {
		fmt.Fprintln(w, "\nScheduler-overhead deep-dive: run sched_overhead_analysis manually with a separately-captured deps.json (--enable-dep-gen).")
	}
	return nil
}

func spmd(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s SPMD", thousands(int64(n)))
}

func moved(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s overlapping bar(s) moved to sub-lanes", thousands(int64(n)))
}

func violations(r *draw.Report) string {
	if r.Violations == 0 {
		return ""
	}
	s := fmt.Sprintf(", %s violate happens-before", thousands(r.Violations))
	if r.Reversed > 0 {
		s += fmt.Sprintf(" (%s drawn against their edge: the successor starts first)", thousands(r.Reversed))
	}
	return s
}

// losses sums up what the file says was lost and what found no partner.
func losses(l *loaded) string {
	loss := &l.timeline.Rec.Loss
	var parts []string
	add := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, thousands(n)+" "+what)
		}
	}
	add(loss.Accounting, "records counted by the collector")
	add(loss.Streams, "scheduler phase records")
	add(loss.Host, "host submit records")
	add(l.timeline.Unmatched, "scheduler rows without kernel row")
	add(l.timeline.Untimed, "kernel rows without scheduler row")
	if len(parts) == 0 {
		if loss.Declared {
			return "some records, the file does not say how many"
		}
		return "nothing that the file knows of"
	}
	return strings.Join(parts, ", ")
}

func warningCounts(l *loaded) string {
	if len(l.warnings) == 0 {
		return "none"
	}
	count := map[string]int64{}
	for _, w := range l.warnings {
		count[w.Code] += w.Count
	}
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(count)) {
		if n := count[code]; n > 1 {
			parts = append(parts, fmt.Sprintf("%s ×%s", code, thousands(n)))
		} else {
			parts = append(parts, code)
		}
	}
	return strings.Join(parts, ", ")
}

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
