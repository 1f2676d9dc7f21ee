package main

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

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/internal/outfile"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// inputOptions say which files a command reads. All commands that read a capture share them.
type inputOptions struct {
	funcNames, kernelConfig, depsJSON string
	streamOrder                       *choice // nil: id
	nameless                          bool    // names are not wanted
	mayLackDeps                       bool    // a graph that was named may be missing
	verbose                           bool
	keepRecords                       bool      // loaded.original is wanted
	stdin                             io.Reader // what the capture - is
}

// flags adds the options that convert shares with the ecosystem's tool.
func (o *inputOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(file(&o.funcNames), "func-names", "name map FILE (name_map_*.json); wins over everything else")
	f.VarP(file(&o.kernelConfig), "kernel-config", "k", "kernel_config.py or SceneTest FILE to take function names from; it is parsed, never run")
	cmd.MarkFlagFilename("func-names", "json")
	cmd.MarkFlagFilename("kernel-config", "py")
	o.namelessFlags(cmd)
}

// namelessFlags leaves out the options that say where names are from.
func (o *inputOptions) namelessFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(file(&o.depsJSON), "deps-json", "task graph FILE (default: deps.json beside the records)")
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
	foreign  bool             // there is a graph, of another runtime
	names    names.Result
	nameless bool // names were not wanted
	timeline *timeline.Timeline
	original *capture.Records // as read, if that is asked for
	runtime  string           // that the graph names, "" if it names none
	warnings []capture.Warning
	printed  int      // warnings printed already
	inputs   []string // what no output may overwrite
}

// find looks for the files of a capture. Only names are read: they are small,
// and their mistakes quick to tell.
func find(arg string, o *inputOptions) (*loaded, error) {
	l := &loaded{records: arg, deps: o.depsJSON, nameless: o.nameless}
	if !l.fromStdin() {
		var err error
		if l.records, l.auto, err = capture.Locate(arg); err != nil {
			return nil, err
		}
		if l.deps == "" {
			l.deps = capture.Beside(l.records, capture.DepsFileName)
		}
	}
	if _, err := os.Stat(l.deps); o.depsJSON != "" && !o.mayLackDeps && errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("Deps JSON not found: " + l.deps) //lint:ignore ST1005 in the words of spec/converter.md §8.2 for the other files
	}
	l.inputs = []string{l.records, l.deps, o.funcNames, o.kernelConfig}
	if o.nameless || l.fromStdin() && o.funcNames == "" && o.kernelConfig == "" {
		return l, nil
	}
	var err error
	path := l.records
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
		rec, err := l.readRecords(o, capture.Options{
			StreamsByAppearance: o.streamOrder != nil && o.streamOrder.value == "appearance", Extras: extras, Progress: p.part(),
		})
		if err == nil {
			if o.keepRecords {
				own := *rec // joining takes columns away
				l.original = &own
			}
			// The graph is the larger file as a rule: join while it is still being read.
			l.timeline, err = timeline.Join(rec)
		}
		return err
	})
	both.Go(func() error {
		if l.deps == "" {
			return nil
		}
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
	foreign := l.otherRuntime(deps)
	if deps != nil && foreign == "" {
		l.runtime = deps.Runtime
	}
	l.timeline.Attach(l.graph)
	l.warnPassedOver()
	for _, w := range l.names.Warnings {
		l.warn("names", 1, "%s", w)
	}
	l.warnings = append(l.warnings, l.timeline.Rec.Warnings...)
	l.warnings = append(l.warnings, l.timeline.Warnings...)
	if foreign != "" {
		l.warn("graph-of-another-runtime", 1, "%s", foreign)
	}
	l.depsWarnings(o, deps, depsErr)
	l.warnForeignGraph()
	l.warnUnusedNames()
	l.warnLosses()
	l.warnSkew()
	return nil
}

// otherRuntime drops a graph whose ids mean other tasks because another runtime
// made them, and says so (spec/newest.md §12).
func (l *loaded) otherRuntime(deps *capture.Deps) string {
	own := capture.OwnRuntime(l.timeline.Rec)
	if deps == nil || deps.Runtime == "" || own == "" || deps.Runtime == own {
		return ""
	}
	l.graph, l.hasDeps, l.edges, l.foreign = nil, false, false, true
	return fmt.Sprintf("%s is a graph of the runtime '%.40s', the capture is one of '%s'; their task ids do not mean the same tasks, so it is not used",
		l.deps, deps.Runtime, own)
}

// fromStdin tells whether the capture is the standard input, which has nothing beside it.
func (l *loaded) fromStdin() bool { return l.records == toStdout }

func (l *loaded) readRecords(o *inputOptions, opt capture.Options) (*capture.Records, error) {
	if !l.fromStdin() {
		return capture.Read(l.records, opt)
	}
	in, err := unpacked(o.stdin)
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

// notOver says of an output that would overwrite an input what is wrong with
// the input first, if anything is: a trace that is drawn again is the better story.
func (l *loaded) notOver(err error) error {
	if st, serr := os.Stat(l.records); errors.Is(err, outfile.ErrIsInput) && serr == nil && st.Mode().IsRegular() {
		if _, bad := capture.Read(l.records, capture.Options{}); bad != nil {
			return bad
		}
	}
	return err
}

// pathText is what the system said of a file, without the file's name.
func pathText(err error) (string, bool) {
	var p *fs.PathError
	if errors.As(err, &p) && !errors.Is(err, fs.ErrNotExist) {
		return p.Err.Error(), true
	}
	return "", false
}

// sizeOf is the size of all files together, 0 if that is no measure of what
// will be read from them.
func sizeOf(paths ...string) int64 {
	var n int64
	for _, path := range paths {
		if path == toStdout {
			return 0
		}
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
	if l.fromStdin() {
		return "", usageError{errors.New("nothing lies beside the standard input: name an output with -o")}
	}
	if st, err := os.Stat(l.records); err == nil && !st.Mode().IsRegular() {
		return "", usageError{fmt.Errorf("%s is no regular file, so no output can lie beside it: name one with -o", l.records)}
	}
	return filepath.Join(filepath.Dir(l.records), name), nil
}
