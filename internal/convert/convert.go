package convert

import (
	"context"
	"io"
	"slices"
	"strings"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/draw"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// Run does what `swimlane convert CAPTURE` does with the options, and prints on e
// what that prints. arg is a records file, a directory that holds one, or the
// captures of several ranks, "" for
// the newest capture below outputs/, or console.Standard.
func Run(ctx context.Context, e *console.Env, o *Options, arg string) error {
	if err := o.check(arg); err != nil {
		return err
	}
	if o.ofRanks(arg) {
		return o.mergeRanks(ctx, e, arg)
	}
	in := o.Input
	in.mayLackDeps = o.Alias // that is a warning (spec/converter.md §8.3)
	c, err := Find(arg, &in)
	if err != nil {
		return err
	}
	place := o.Output
	if place == "" {
		if place, err = c.besideRecords(o.traceName(c.Records)); err != nil {
			return err
		}
	}
	out, err := c.Create(e, place)
	if err != nil {
		return err
	}
	defer out.Discard()
	var words io.Writer = e.Stdout
	if out.ToStdout() {
		words = e.Stderr
	}
	v := newVerbose(words, o.Verbose)
	v.plain = o.Alias
	p := console.NewProgress(e.Stderr)
	defer p.Done()

	v.input(c)
	if err := c.load(e.Stdin, p); err != nil {
		return err
	}
	c.warnArrowless()
	p.Done()
	v.capture(c)
	c.printWarnings(e.Stderr)
	v.drawing(c)
	only, err := o.part.only(c)
	if err != nil {
		return err
	}
	pic, err := draw.New(c.Timeline, draw.Options{Names: c.Names.Map, Overhead: o.Overhead, Idle: o.Idle, Only: only})
	if err != nil {
		return err
	}
	v.picture(c, pic)
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
	if err = out.Close(err); err != nil {
		return err
	}
	p.Done()
	c.warnings = append(c.warnings, pic.Report.Warnings...)
	o.part.warnEmpty(c, pic.Trace(), left, counts.Slices)
	c.warnOverhead(o, pic)
	c.printWarnings(e.Stderr)
	s := &summary{o, c, pic, left, out.Name(), counts, out.Written()}
	v.written(s)
	if o.Quiet {
		return nil
	}
	return s.print(words)
}

// traceName is the name of an output that was given none. The retained runs of a
// directory have one each; scripts find what the ecosystem's tool calls it.
func (o *Options) traceName(records string) string {
	if epoch, ok := capture.RetainedEpoch(records); ok && !o.Alias {
		return "merged_swimlane_e" + epoch + ".json"
	}
	return "merged_swimlane.json"
}

func writeTrace(ctx context.Context, out io.Writer, pic *trace.Picture, items int64, p *console.Progress) (chrome.Counts, error) {
	p.Stage("writing", items)
	return chrome.Write(ctx, out, pic, chrome.Options{Progress: p.Items()})
}
