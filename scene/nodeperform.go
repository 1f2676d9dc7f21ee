package scene

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"swimlane/internal/console"
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

// convertRanks draws each capture of a node for itself.
func (s Selected) convertRanks(ctx context.Context, e *console.Env, o Options, p *Performed) {
	for i := range p.Dispatches {
		d := &p.Dispatches[i]
		if d.Dir == "" {
			continue
		}
		if o.DepGen && d.Graph == "" {
			fmt.Fprintf(e.Stderr, "Warning: [%s] %s not produced\n", s.FileLabel(), filepath.Join(d.Dir, "deps.json"))
		}
		if o.Swimlane == 0 {
			continue
		}
		if d.Records == "" {
			fmt.Fprintf(e.Stderr, "Warning: [%s] %s not produced; skipping conversion\n", s.FileLabel(), filepath.Join(d.Dir, "chip_swimlane_records.json"))
			continue
		}
		if trace := p.draw(ctx, e, o, d.Records, d.Names, true); trace != "" {
			p.Traces = append(p.Traces, trace)
		}
	}
	if len(p.Traces) > 0 {
		fmt.Fprintf(e.Stderr, "Note: each capture of %s is drawn for itself: merging the chips of a node into one picture is not built yet\n", s.Label())
	}
}

// first is what to look at next: the first capture of a node, or the case itself.
func (p *Performed) first() *Performed {
	for _, d := range p.Dispatches {
		if d.Dir == "" {
			continue
		}
		one := &Performed{Result: &Result{Records: d.Records, Graph: d.Graph, Names: d.Names}, Err: p.Err, Prefix: d.Dir}
		if trace := filepath.Join(d.Dir, "merged_swimlane.json"); slices.Contains(p.Traces, trace) {
			one.Trace = trace
		} else {
			one.Conversions = p.Conversions
		}
		return one
	}
	return p
}
