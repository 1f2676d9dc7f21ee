package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/draw"
	"swimlane/internal/infile"
	"swimlane/internal/names"
	"swimlane/internal/trace/mark"
	"swimlane/trace/chrome"
)

// badTrace says that the merged trace beside a capture cannot be used.
type badTrace struct {
	dir string
	err error
}

func (b badTrace) Error() string {
	return fmt.Sprintf("invalid merged_swimlane*.json in %s: %v", b.dir, b.err)
}

func (b badTrace) Unwrap() error { return b.err }

// drawPaths writes the two pictures of a capture's paths, both or none
// (spec/sched-overhead.md §10.5).
func drawPaths(ctx context.Context, e *console.Env, c *convert.Capture, r *rankReport) error {
	static, observed := r.On()
	on := [2][]bool{static, observed}
	var outs [2]*console.Output
	dir := filepath.Dir(c.Records)
	for i, name := range []string{"CPM_static.json", "CPM_observed.json"} {
		out, err := c.Create(e, filepath.Join(dir, ofRun(c.Records, name)))
		if err != nil {
			return fmt.Errorf("%w, or draw no pictures with --no-traces", err)
		}
		defer out.Discard()
		outs[i] = out
	}
	p := console.NewProgress(e.Stderr)
	defer p.Done()
	var err error
	if merged := capture.MergedBeside(c.Records); merged != "" {
		err = copyMarked(ctx, merged, outs, on, r, p)
	} else {
		fmt.Fprintf(e.Stderr, "No merged_swimlane*.json in %s: the marked pictures are drawn from the records\n", dir)
		err = drawMarked(ctx, c, outs, on, p)
	}
	if err != nil {
		for _, out := range outs {
			out.Discard()
			if _, old := os.Stat(out.Name()); old == nil {
				fmt.Fprintf(e.Stderr, "Warning: %s is of an earlier call, and stays\n", out.Name())
			}
		}
		return err
	}
	for _, out := range outs {
		if err := out.Close(nil); err != nil {
			return err
		}
		r.written = append(r.written, "Perfetto trace written to: "+out.Name())
	}
	return nil
}

// copyMarked copies a merged trace twice.
func copyMarked(ctx context.Context, merged string, outs [2]*console.Output, on [2][]bool, r *rankReport, p *console.Progress) error {
	bad := func(err error) error { return badTrace{filepath.Dir(merged), err} }
	f, err := os.Open(merged)
	if err != nil {
		return bad(err)
	}
	defer f.Close()
	state := infile.Now(f)
	opt := mark.Options{Label: func(dst []byte, task uint64) []byte { return names.AppendTaskID(dst, r.T.Rec.Dialect.IDs, task) }}
	if run := r.T.Rec.Runs[0]; run.Known {
		opt.Epoch = &run.Epoch
	}
	if st, err := f.Stat(); err == nil {
		p.Stage("marking", st.Size())
		opt.Progress = p.Part()
	}
	var copies []mark.Copy
	for i, out := range outs {
		copies = append(copies, mark.Copy{W: out, On: func(task uint64) bool {
			k := r.T.Tasks.Find(0, task)
			return k >= 0 && on[i][k]
		}})
	}
	seen, err := mark.Trace(ctx, f, copies, opt)
	switch changed := state.Changed(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case changed != "":
		return bad(fmt.Errorf("%s changed while it was read (%s); %s", merged, changed, infile.Hint))
	case mark.IsWrite(err):
		return fmt.Errorf("cannot write the marked pictures: %w", err)
	case err != nil:
		return bad(fmt.Errorf("%s: %w", merged, err))
	}
	if lost := mark.Missing(r.Path(), seen); lost != "" {
		return bad(fmt.Errorf("the Worker View of %s is %s", filepath.Base(merged), lost))
	}
	return nil
}

// drawMarked draws the picture twice, at the same time: what one waits for of the disk
// the other computes in.
func drawMarked(ctx context.Context, c *convert.Capture, outs [2]*console.Output, on [2][]bool, p *console.Progress) error {
	pic, err := draw.New(c.Timeline, draw.Options{Names: c.Names.Map})
	if err != nil {
		return err
	}
	p.Stage("writing", 2*pic.Items())
	both, ctx := errgroup.WithContext(ctx)
	for i, out := range outs {
		opt := chrome.Options{Progress: p.Items()}
		both.Go(func() error {
			if _, err := chrome.Write(ctx, out, pic.Marked(func(task int32) bool { return on[i][task] }), opt); err != nil {
				return out.Close(err)
			}
			return nil
		})
	}
	return both.Wait()
}
