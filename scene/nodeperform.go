package scene

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"swimlane/internal/console"
	"swimlane/internal/convert"
)

// printNode says what the chips ran.
func (s Selected) printNode(w io.Writer, p *Performed) {
	ranks := map[int]bool{}
	runs := map[int]bool{}
	for _, d := range p.Dispatches {
		ranks[d.Rank], runs[d.Run] = true, true
	}
	times := "es"
	if len(p.Dispatches) == 1 {
		times = ""
	}
	fmt.Fprintf(w, "    node    %s dispatch%s to %s, in %s of the orchestration\n",
		console.Thousands(int64(len(p.Dispatches))), times, console.Count(int64(len(ranks)), "chip"), console.Count(int64(len(runs)), "run"))
}

// convertRanks merges the captures that belong together, one picture for each set.
// What cannot be merged is drawn for itself (spec/l3.md §4.5).
func (s Selected) convertRanks(ctx context.Context, e *console.Env, o Options, p *Performed) {
	var captures []*Dispatch
	for i := range p.Dispatches {
		d := &p.Dispatches[i]
		if d.Dir == "" {
			continue
		}
		switch {
		case o.DepGen && d.Graph == "":
			fmt.Fprintf(e.Stderr, "Warning: [%s] %s not produced\n", s.FileLabel(), filepath.Join(d.Dir, "deps.json"))
		case o.DepGen:
			p.view(e, d.Graph, d.Names)
		}
		if o.Swimlane == 0 {
			continue
		}
		if d.Records == "" {
			fmt.Fprintf(e.Stderr, "Warning: [%s] %s not produced; skipping conversion\n", s.FileLabel(), filepath.Join(d.Dir, "chip_swimlane_records.json"))
			continue
		}
		captures = append(captures, d)
	}
	if len(captures) == 0 {
		return
	}
	merged := convert.MergeAll(ctx, e, &convert.Options{Overhead: o.Overhead, Quiet: true}, p.Prefix)
	p.Traces = merged.Outputs
	for _, err := range merged.Errors {
		if e.Stdout.Err() != nil && errors.Is(err, e.Stdout.Err()) {
			continue
		}
		p.Conversions++
		fmt.Fprintf(e.Stderr, "Warning: Failed to merge the captures of %s: %v\n", s.Label(), err)
	}
	if len(merged.Errors) > 0 && !spansLogged(o.LogLevel) {
		fmt.Fprintf(e.Stderr, "Note: with --log-level %s the host's log is without the spans that place the chips on one clock: leave it out, or make it timing or finer\n", o.LogLevel)
	}
	for _, d := range captures {
		if merged.Records[d.Records] {
			continue
		}
		if trace := p.draw(ctx, e, o, d.Records, d.Names, true); trace != "" {
			p.Traces = append(p.Traces, trace)
		}
	}
}

// first is what to look at next: the first capture of a node, or the case itself.
func (p *Performed) first() *Performed {
	for _, d := range p.Dispatches {
		if d.Dir == "" {
			continue
		}
		one := &Performed{Result: &Result{Records: d.Records, Graph: d.Graph, Names: d.Names}, Err: p.Err, Prefix: d.Dir}
		if len(p.Traces) > 0 {
			one.Trace = p.Traces[0]
		} else {
			one.Conversions = p.Conversions
		}
		return one
	}
	return p
}
