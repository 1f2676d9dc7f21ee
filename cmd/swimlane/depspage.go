package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"swimlane/internal/console"
	"swimlane/internal/depview"
	"swimlane/internal/depview/page"
	"swimlane/internal/graphviz"
)

// page writes the view as a page, closes out, and says so on words.
func (o *depsOptions) page(e *console.Env, view *depview.View, out *console.Output, words io.Writer) error {
	p := console.NewProgress(e.Stderr)
	defer p.Done()
	p.Stage("laying out", int64(page.Budget/time.Millisecond))
	stop := tick(p.Part())
	result, err := page.Write(context.Background(), out, view, page.Options{
		Engine: o.engine.Value, Direction: o.direction.Value, TensorInfo: o.tensors, Budget: page.Budget,
	})
	stop()
	p.Done()
	if f := (*graphviz.Failure)(nil); errors.As(err, &f) { // before anything was written
		out.Discard()
		return err
	}
	if err = out.Close(err); err != nil {
		return err
	}
	edges := fmt.Sprintf("%d edges", result.Edges)
	if hidden := result.Edges - result.Shown; view.Redundant != nil {
		fmt.Fprintf(words, "HTML layout preserves all %d edge(s); %d unselected edge(s) are colored as background\n", result.Edges, hidden)
		if hidden > 0 {
			edges = fmt.Sprintf("%d visible edges, %d layout edges", result.Shown, result.Edges)
		}
	}
	fmt.Fprintf(words, "Wrote %s (%d nodes, %s, engine=%s, format=html)\n", out.Name(), result.Nodes, edges, o.engine.Value)
	if result.Near {
		fmt.Fprintf(e.Stderr, "Note: no layout of the whole graph with --engine %s within %d s; the page opens on the neighbourhood of one task, and finds every other\n",
			o.engine.Value, page.Budget/time.Second)
	}
	return nil
}

// tick reports the milliseconds that have passed until the function it returns is called.
func tick(report func(int64)) (stop func()) {
	if report == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for start := time.Now(); ; {
			select {
			case <-done:
				return
			case now := <-t.C:
				report(min(now.Sub(start), page.Budget).Milliseconds())
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
