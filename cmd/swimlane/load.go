package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// inputOptions say which files a command reads. All commands that read a capture share them.
type inputOptions struct {
	funcNames, kernelConfig, depsJSON string
	streamOrder                       *choice // nil: id
	nameless                          bool    // names are not wanted
	verbose                           bool
}

// flags adds the options that convert shares with the ecosystem's tool.
func (o *inputOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.funcNames, "func-names", "", "name map `FILE` (name_map_*.json); wins over everything else")
	f.StringVarP(&o.kernelConfig, "kernel-config", "k", "", "kernel_config.py `FILE` to take function names from; it is parsed, never run")
	cmd.MarkFlagFilename("func-names", "json")
	cmd.MarkFlagFilename("kernel-config", "py")
	o.namelessFlags(cmd)
}

// namelessFlags leaves out the options that say where names are from.
func (o *inputOptions) namelessFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.depsJSON, "deps-json", "", "task graph `FILE` (default: deps.json beside the records)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print what is read and found")
	cmd.MarkFlagFilename("deps-json", "json", "gz")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"json", "gz"}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// orderFlag adds the option that no other tool has.
func (o *inputOptions) orderFlag(cmd *cobra.Command) {
	o.streamOrder = choose(cmd, "stream-order", "place scheduler streams by their scheduler id, or by appearance in the file", "id", "appearance")
}

// loaded is a capture with everything that belongs to it.
type loaded struct {
	records  string // path
	auto     bool   // found, not named
	deps     string // path; may not exist
	hasDeps  bool
	graph    *taskgraph.Graph // nil without a usable file
	edges    bool             // the graph's edges are usable
	names    names.Result
	nameless bool // names were not wanted
	timeline *timeline.Timeline
	warnings []capture.Warning
	printed  int      // warnings printed already
	inputs   []string // what no output may overwrite
}

// find looks for the files of a capture. Only names are read: they are small,
// and their mistakes quick to tell.
func find(arg string, o *inputOptions) (*loaded, error) {
	path, auto, err := capture.Locate(arg)
	if err != nil {
		return nil, err
	}
	l := &loaded{records: path, auto: auto, deps: o.depsJSON, nameless: o.nameless}
	if l.deps == "" {
		l.deps = capture.Beside(path, capture.DepsFileName)
	}
	l.inputs = []string{path, l.deps, o.funcNames, o.kernelConfig}
	if o.nameless {
		return l, nil
	}
	if l.names, err = names.Find(names.Request{Input: path, FuncNames: o.funcNames, KernelConfig: o.kernelConfig, Level: 2}); err != nil {
		return nil, err
	}
	if l.names.Map != nil {
		l.inputs = append(l.inputs, l.names.Map.Source)
	}
	return l, nil
}

// read reads records and graph, at the same time. Warnings are collected, in
// the order a reader of the console expects them.
func (l *loaded) read(o *inputOptions, p *progress, extras bool) error {
	p.stage("reading", sizeOf(l.records, l.deps))
	var deps *capture.Deps
	var depsErr error
	var both errgroup.Group
	both.Go(func() error {
		rec, err := capture.Read(l.records, capture.Options{
			StreamsByAppearance: o.streamOrder != nil && o.streamOrder.value == "appearance", Extras: extras, Progress: p.part(),
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
			l.hasDeps, l.edges = l.graph != nil, l.graph != nil && !deps.NoEdges
			deps.Task, deps.Kernel, deps.Pred, deps.Succ = nil, nil, nil, nil // the graph has them
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		if text, ok := pathText(err); ok {
			return fmt.Errorf("cannot read %s: %s", l.records, text)
		}
		return err
	}
	l.timeline.Attach(l.graph)
	for _, w := range l.names.Warnings {
		l.warn("names", 1, "%s", w)
	}
	l.warnings = append(l.warnings, l.timeline.Rec.Warnings...)
	l.warnings = append(l.warnings, l.timeline.Warnings...)
	l.depsWarnings(o, deps, depsErr)
	return nil
}

// pathText is what the system said of a file, without the file's name.
func pathText(err error) (string, bool) {
	var p *fs.PathError
	if errors.As(err, &p) && !errors.Is(err, fs.ErrNotExist) {
		return p.Err.Error(), true
	}
	return "", false
}

func (l *loaded) warn(code string, n int64, format string, args ...any) {
	l.warnings = append(l.warnings, capture.Warning{Code: code, Count: n, Text: fmt.Sprintf(format, args...)})
}

// depsWarnings says what is wrong with the graph (spec/records.md §5.2). What
// its absence means differs between the commands.
func (l *loaded) depsWarnings(o *inputOptions, deps *capture.Deps, err error) {
	switch {
	case err != nil:
		// Without the path, which the warning names itself.
		var e *capture.Error
		if errors.As(err, &e) {
			err = errors.New(e.Text)
		} else if text, ok := pathText(err); ok {
			err = errors.New(text)
		}
		l.warn("deps-unreadable", 1, "failed to read %s: %v", l.deps, err)
	case deps == nil && o.depsJSON != "":
		l.warn("deps-missing", 1, "--deps-json names %s, which does not exist", l.deps)
	case deps != nil && deps.NoEdges:
		l.warn("deps-without-edges", 1, "%s has no 'edges' array", l.deps)
	case deps != nil && deps.Skipped > 0:
		l.warn("deps-edges-skipped", deps.Skipped, "%s has %d edge(s) without two task ids; they were skipped", l.deps, deps.Skipped)
	}
}

// warnFunctionless says why figures stand under no function.
func (l *loaded) warnFunctionless() {
	if !l.hasDeps && l.timeline.Rows.Len() > 0 {
		l.warn("no-deps", 1, "no usable deps.json at %s; which function a task ran is unknown, so all are -1. "+
			"Run a dep_gen capture (--enable-dep-gen) and pass --deps-json <path> to tell them apart.", l.deps)
	}
}

// sizeOf is the size of all files together, 0 if that is no measure of what
// will be read from them.
func sizeOf(paths ...string) int64 {
	var n int64
	for _, path := range paths {
		st, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil || !st.Mode().IsRegular() || strings.HasSuffix(path, ".gz"):
			return 0
		default:
			n += st.Size()
		}
	}
	return n
}

// besideRecords is the default place of an output.
func (l *loaded) besideRecords(name string) (string, error) {
	if st, err := os.Stat(l.records); err == nil && !st.Mode().IsRegular() {
		return "", usageError{fmt.Errorf("%s is no regular file, so no output can lie beside it: name one with -o", l.records)}
	}
	return filepath.Join(filepath.Dir(l.records), name), nil
}
