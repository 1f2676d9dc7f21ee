package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// inputOptions say which files a command reads. All commands that read a capture share them.
type inputOptions struct {
	funcNames, kernelConfig, depsJSON string
	streamOrder                       string
	verbose                           bool
}

func (o *inputOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.funcNames, "func-names", "", "name map `FILE` (name_map_*.json); wins over everything else")
	f.StringVarP(&o.kernelConfig, "kernel-config", "k", "", "kernel_config.py `FILE` to take function names from; it is parsed, never run")
	f.StringVar(&o.depsJSON, "deps-json", "", "task graph `FILE` (default: deps.json beside the records)")
	f.StringVar(&o.streamOrder, "stream-order", "id", "place scheduler streams by their scheduler `id`, or by appearance in the file")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print what is read and found")
}

// loaded is a capture with everything that belongs to it.
type loaded struct {
	records   string // path
	auto      bool   // found, not named
	deps      string // path; may not exist
	hasDeps   bool
	graph     *taskgraph.Graph // nil without usable edges and tasks
	edges     bool             // the graph's edges are usable
	names     names.Result
	timeline  *timeline.Timeline
	warnings  []capture.Warning
	inputs    []string
	bytesRead int64
}

// load reads records, graph and names. Warnings are collected, in the order a
// reader of the console expects them.
func load(arg string, o *inputOptions, p *progress, extras bool) (*loaded, error) {
	if o.streamOrder != "id" && o.streamOrder != "appearance" {
		return nil, usageError{fmt.Errorf("invalid --stream-order %q: expected id or appearance", o.streamOrder)}
	}
	path, auto, err := capture.Locate(arg)
	if err != nil {
		return nil, err
	}
	l := &loaded{records: path, auto: auto, deps: o.depsJSON}
	if l.deps == "" {
		l.deps = capture.Beside(path, capture.DepsFileName)
	}
	// Names are small and their mistakes quick to find: they come first.
	if l.names, err = names.Find(names.Request{Input: path, FuncNames: o.funcNames, KernelConfig: o.kernelConfig, Level: 2}); err != nil {
		return nil, err
	}
	l.inputs = []string{path, l.deps, o.kernelConfig}
	if l.names.Map != nil {
		l.inputs = append(l.inputs, l.names.Map.Source)
	}
	p.stage("reading", sizeOf(path)+sizeOf(l.deps))
	var deps *capture.Deps
	var depsErr error
	var both errgroup.Group
	both.Go(func() error {
		rec, err := capture.Read(path, capture.Options{
			StreamsByAppearance: o.streamOrder == "appearance", Extras: extras, Progress: p.part(),
		})
		if err == nil {
			// The graph is the larger file as a rule: join while it is still being read.
			l.timeline, err = timeline.Join(rec)
		}
		return err
	})
	both.Go(func() error {
		if deps, depsErr = capture.ReadDeps(l.deps, p.part()); deps != nil {
			l.graph, depsErr = taskgraph.New(deps)
			l.hasDeps, l.edges = true, !deps.NoEdges && l.graph != nil
			deps.Task, deps.Kernel, deps.Pred, deps.Succ = nil, nil, nil, nil // the graph has them
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	l.timeline.Attach(l.graph)
	rec := l.timeline.Rec
	l.bytesRead = sizeOf(path) + sizeOf(l.deps)
	for _, w := range l.names.Warnings {
		l.warnings = append(l.warnings, capture.Warning{Code: "names", Count: 1, Text: w})
	}
	l.warnings = append(l.warnings, rec.Warnings...)
	l.warnings = append(l.warnings, l.timeline.Warnings...)
	l.depsWarnings(o, deps, depsErr)
	return l, nil
}

// depsWarnings says why there are no arrows (spec/records.md §5.2, spec/converter.md §8.3).
func (l *loaded) depsWarnings(o *inputOptions, deps *capture.Deps, err error) {
	warn := func(code string, n int64, format string, args ...any) {
		l.warnings = append(l.warnings, capture.Warning{Code: code, Count: n, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case err != nil:
		var e *capture.Error
		if errors.As(err, &e) {
			err = errors.New(e.Text)
		}
		warn("deps-unreadable", 1, "failed to read %s: %v", l.deps, err)
	case deps != nil && deps.NoEdges:
		warn("deps-without-edges", 1, "%s has no 'edges' array", l.deps)
	case deps != nil && deps.Skipped > 0:
		warn("deps-edges-skipped", deps.Skipped, "%s has %d edge(s) without two task ids; they were skipped", l.deps, deps.Skipped)
	}
	if !l.edges {
		warn("no-deps", 1, "no usable deps.json at %s; Perfetto trace will have no dependency arrows. "+
			"Run a dep_gen capture (--enable-dep-gen) and pass --deps-json <path> to add them.", l.deps)
		if o.depsJSON != "" && deps == nil && err == nil {
			warn("no-deps", 1, "--deps-json names %s, which does not exist", l.deps)
		}
	}
}

func sizeOf(path string) int64 {
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return 0
}

func beside(path, name string) string { return filepath.Join(filepath.Dir(path), name) }
