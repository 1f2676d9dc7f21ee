package convert

import (
	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/draw"
)

// Examined is a capture with all that Run would say of it before it writes.
type Examined struct {
	*Capture
	Picture  *draw.Picture
	Warnings []capture.Warning
	NamesErr error // why there are no names, where a map is there that cannot be read
}

// Examine reads and lays out the capture of a records file as Run does, but prints
// and writes nothing, and goes on without names where a name map cannot be read.
func Examine(records string, p *console.Progress) (*Examined, error) {
	out := &Examined{}
	var err error
	if out.Capture, err = Find(records, &Input{}); err != nil {
		out.NamesErr = err
		if out.Capture, err = Find(records, &Input{Nameless: true}); err != nil {
			return nil, err
		}
	}
	if err := out.load(nil, p); err != nil {
		return nil, err
	}
	out.warnArrowless()
	if out.Picture, err = draw.New(out.Timeline, draw.Options{Names: out.Names.Map}); err != nil {
		return nil, err
	}
	out.Warnings = append(out.warnings, out.Picture.Report.Warnings...)
	return out, nil
}

// NoGraph says that there is no usable graph.
func (c *Capture) NoGraph() string { return c.noDeps() }

// Edges reports whether the capture has a graph whose edges are usable.
func (c *Capture) Edges() bool { return c.edges }

// Functionless counts the rows without a function, where there is a graph that could name them.
func (c *Capture) Functionless() int64 { return c.functionless() }

// KernelsRun counts the tasks of the graph that have kernels, and those of them that
// are in the capture. There must be a graph.
func (c *Capture) KernelsRun() (ran, all int) { return c.kernelsRun() }
