package convert

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/names"
	"swimlane/internal/outfile"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// Capture is a capture with everything that belongs to it. Find fills in the
// paths and the names, Read the rest.
type Capture struct {
	Records  string           // path
	Deps     string           // path; may not exist
	Graph    *taskgraph.Graph // nil without a usable file
	Names    names.Result
	Timeline *timeline.Timeline
	Original *capture.Records // as read, if that is asked for
	Runtime  string           // that the graph names, "" if it names none

	in       Input
	axis     func(*capture.Records) (*timeline.Placement, error) // nil: the capture's own
	auto     bool                                                // found, not named
	hasDeps  bool
	edges    bool // the graph's edges are usable
	foreign  bool // there is a graph, of another runtime
	graphErr error
	warnings []capture.Warning
	printed  int      // warnings printed already
	inputs   []string // what no output may overwrite
}

// Find looks for the files of a capture; arg is what Run takes. Only names are
// read: they are small, and their mistakes quick to tell.
func Find(arg string, o *Input) (*Capture, error) {
	c := &Capture{Records: arg, Deps: o.DepsJSON, in: *o}
	if !c.FromStdin() {
		var err error
		if c.Records, c.auto, err = o.locate(arg); err != nil {
			return nil, err
		}
		if c.Deps == "" {
			c.Deps = capture.Beside(c.Records, capture.DepsFileName)
		}
	}
	if _, err := os.Stat(c.Deps); o.DepsJSON != "" && !o.mayLackDeps && errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("Deps JSON not found: " + c.Deps) //lint:ignore ST1005 in the words of spec/converter.md §8.2 for the other files
	}
	c.inputs = []string{c.Records, c.Deps, o.FuncNames, o.KernelConfig}
	if o.Nameless || c.FromStdin() && o.FuncNames == "" && o.KernelConfig == "" {
		return c, nil
	}
	var err error
	path := c.Records
	if c.Names, err = names.Find(names.Request{Input: path, FuncNames: o.FuncNames, KernelConfig: o.KernelConfig, Level: 2, Newest: o.NewestNames, Merged: o.merged}); err != nil {
		return nil, err
	}
	if c.Names.Map != nil {
		c.inputs = append(c.inputs, c.Names.Map.Source)
	}
	return c, nil
}

// Read reads a capture for a command whose standard output is for scripts: all
// words go to the standard error.
func (c *Capture) Read(e *console.Env) error {
	v := newVerbose(e.Stderr, c.in.Verbose)
	p := console.NewProgress(e.Stderr)
	defer p.Done()
	v.input(c)
	if c.auto && !v.on {
		fmt.Fprintln(e.Stderr, "Reading "+c.Records)
	}
	if err := c.load(e.Stdin, p); err != nil {
		return err
	}
	if !c.in.KeepRecords && !c.in.NeedGraph { // a records file names no functions, and a command that needs a graph says more
		c.warnFunctionless()
	}
	p.Done()
	v.capture(c)
	c.printWarnings(e.Stderr)
	return nil
}

// load reads records and graph, at the same time. Warnings are collected, in
// the order a reader of the console expects them.
func (c *Capture) load(stdin io.Reader, p *console.Progress) error {
	p.Reading("reading", c.Records, c.Deps)
	var deps *capture.Deps
	var depsErr error
	var both errgroup.Group
	both.Go(func() error {
		opt := c.in.reading()
		opt.Progress = p.Part()
		rec, err := c.readRecords(stdin, opt)
		if err == nil {
			err = c.in.chooseRun(rec)
		}
		if err == nil {
			if c.in.KeepRecords {
				own := *rec // joining takes columns away
				c.Original = &own
			}
			var place *timeline.Placement
			if c.axis != nil {
				if place, err = c.axis(rec); err != nil {
					return err
				}
			}
			// The graph is the larger file as a rule: join while it is still being read.
			c.Timeline, err = timeline.JoinPlaced(rec, place)
		}
		return err
	})
	both.Go(func() error {
		if c.Deps == "" {
			return nil
		}
		if deps, depsErr = capture.ReadDeps(c.Deps, p.Part()); deps != nil {
			c.Graph, depsErr = taskgraph.New(deps)
			c.hasDeps, c.edges = c.Graph != nil, c.Graph != nil && !deps.NoEdges
			deps.Task, deps.Kernel, deps.Pred, deps.Succ = nil, nil, nil, nil // the graph has them
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		if choice := (runsError{}); c.in.Analysis && !errors.As(err, &choice) {
			reason := err.Error()
			if text, ok := console.PathText(err); ok {
				reason = text
			}
			reason = strings.TrimPrefix(reason, "cannot read "+c.Records+": ")
			return fmt.Errorf("failed to read perf JSON %s: %s", c.Records, reason)
		}
		if text, ok := console.PathText(err); ok {
			return fmt.Errorf("cannot read %s: %s", c.Records, text)
		}
		return err
	}
	foreign := c.otherRuntime(deps)
	if deps != nil && foreign == "" {
		c.Runtime = deps.Runtime
	}
	c.Timeline.Attach(c.Graph)
	c.warnPassedOver()
	for _, w := range c.Names.Warnings {
		c.warn("names", 1, "%s", w)
	}
	c.warnings = append(c.warnings, c.Timeline.Rec.Warnings...)
	c.warnings = append(c.warnings, c.Timeline.Warnings...)
	if c.in.NeedGraph {
		c.noGraph(deps, depsErr, foreign)
	}
	if foreign != "" && c.graphErr == nil {
		c.warn("graph-of-another-runtime", 1, "%s", foreign)
	}
	if c.graphErr == nil {
		c.depsWarnings(deps, depsErr)
	}
	c.warnForeignGraph()
	c.warnUnusedNames()
	c.warnLosses()
	c.warnSkew()
	return nil
}

// otherRuntime drops a graph whose ids mean other tasks because another runtime
// made them, and says so (spec/newest.md §12).
func (c *Capture) otherRuntime(deps *capture.Deps) string {
	own := capture.OwnRuntime(c.Timeline.Rec)
	if deps == nil || deps.Runtime == "" || own == "" || deps.Runtime == own {
		return ""
	}
	c.Graph, c.hasDeps, c.edges, c.foreign = nil, false, false, true
	return fmt.Sprintf("%s is a graph of the runtime '%.40s', the capture is one of '%s'; their task ids do not mean the same tasks, so it is not used",
		c.Deps, deps.Runtime, own)
}

// noGraph remembers why there is no usable graph, for a command that needs one.
func (c *Capture) noGraph(deps *capture.Deps, err error, foreign string) {
	switch {
	case err != nil:
		c.graphErr = fmt.Errorf("failed to read deps.json %s: %s", c.Deps, depsFault(err))
	case foreign != "":
		c.graphErr = errors.New(foreign)
	case deps == nil && c.Deps == "":
		c.graphErr = errors.New("nothing lies beside the standard input, and the task graph is needed: pass it with --deps-json <path>")
	case deps == nil:
		c.graphErr = fmt.Errorf("the task graph (DAG) is needed to know which tasks were ready, and there is no %s. "+
			"Capture it in a separate run of the same case with --enable-dep-gen, and pass --deps-json <path>", c.Deps)
	case deps.NoEdges:
		c.graphErr = fmt.Errorf("failed to read deps.json %s: it has no 'edges' array", c.Deps)
	}
}

// GraphError says why there is no usable graph; nil if there is one. The command
// must have asked for it with NeedGraph.
func (c *Capture) GraphError() error { return c.graphErr }

// FromStdin tells whether the capture is the standard input, which has nothing beside it.
func (c *Capture) FromStdin() bool { return c.Records == console.Standard }

func (c *Capture) readRecords(stdin io.Reader, opt capture.Options) (*capture.Records, error) {
	if !c.FromStdin() {
		return capture.Read(c.Records, opt)
	}
	in, err := unpacked(stdin)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", standardInput, err)
	}
	return capture.ReadFrom(in, standardInput, opt)
}

const standardInput = "the standard input"

// unpacked reads what may be compressed with gzip.
func unpacked(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := b.Peek(2); string(magic) == "\x1f\x8b" {
		return gzip.NewReader(b)
	}
	return b, nil
}

// Create begins an output of a command that reads the capture. It must be none of its files.
func (c *Capture) Create(e *console.Env, place string) (*console.Output, error) {
	out, err := e.Create(place, c.inputs)
	if err != nil {
		return nil, c.notOver(err)
	}
	return out, nil
}

// notOver says of an output that would overwrite an input what is wrong with
// the input first, if anything is: a trace that is drawn again is the better story.
func (c *Capture) notOver(err error) error {
	if st, serr := os.Stat(c.Records); errors.Is(err, outfile.ErrIsInput) && serr == nil && st.Mode().IsRegular() {
		if _, bad := capture.Read(c.Records, capture.Options{}); bad != nil {
			return bad
		}
	}
	return err
}

// besideRecords is the default place of an output.
func (c *Capture) besideRecords(name string) (string, error) {
	if c.FromStdin() {
		return "", console.Usagef("nothing lies beside the standard input: name an output with -o")
	}
	if st, err := os.Stat(c.Records); err == nil && !st.Mode().IsRegular() {
		return "", console.Usagef("%s is no regular file, so no output can lie beside it: name one with -o", c.Records)
	}
	return filepath.Join(filepath.Dir(c.Records), name), nil
}
