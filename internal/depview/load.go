package depview

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/timeline"
)

// Standard stands for the standard input in the place of a graph file.
const Standard = "-"

// Place is where the files of a graph are.
type Place struct {
	Graph   string // path as the user would write it, or Standard
	Records string // the records that belong to it, "" if there are none
	Auto    bool   // found without being named
}

// Locate turns what the user named into the files of a graph: a graph file, a records
// file beside one, or a directory that holds one. An empty argument is the newest graph
// anywhere below outputs/ (spec/deps.md §6.1).
func Locate(arg string) (Place, error) {
	switch arg {
	case "":
		return newest()
	case Standard:
		return Place{Graph: Standard}, nil
	}
	st, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Place{}, fmt.Errorf("%s not found.", arg)
	case err != nil:
		return Place{}, err
	case st.IsDir():
		return locateIn(arg)
	}
	base := strings.TrimSuffix(filepath.Base(arg), ".gz")
	if _, retained := capture.RetainedEpoch(arg); retained || base == capture.FileName {
		return besideRecords(arg)
	}
	return besideGraph(arg), nil
}

func besideGraph(graph string) Place {
	p := Place{Graph: graph}
	if records := capture.Beside(graph, capture.FileName); isFile(records) {
		p.Records = records
	}
	return p
}

func besideRecords(records string) (Place, error) {
	p := Place{Graph: capture.Beside(records, capture.DepsFileName), Records: records}
	if !isFile(p.Graph) {
		return Place{}, fmt.Errorf("%s is a capture without a task graph: no %s beside it; run once with --enable-dep-gen, or name the graph", records, capture.DepsFileName)
	}
	return p, nil
}

// graphIn is the graph of a directory, "" if it has none.
func graphIn(dir string) string {
	for _, name := range []string{capture.DepsFileName, capture.DepsFileName + ".gz"} {
		if p := filepath.Join(dir, name); isFile(p) {
			return p
		}
	}
	return ""
}

func locateIn(dir string) (Place, error) {
	if p := graphIn(dir); p != "" {
		return besideGraph(p), nil
	}
	var found []string
	const most = 5
	for _, deep := range []string{"*", filepath.Join("*", "*")} {
		dirs, _ := fs.Glob(os.DirFS(dir), filepath.ToSlash(deep))
		for _, d := range dirs {
			if p := graphIn(filepath.Join(dir, filepath.FromSlash(d))); p != "" {
				found = append(found, p)
			}
		}
	}
	hint := "; name the graph, or a directory that holds one"
	if len(found) > 0 {
		list := strings.Join(found[:min(len(found), most)], ", ")
		if len(found) > most {
			list += fmt.Sprintf(" and %d more", len(found)-most)
		}
		hint = "; name one of " + list
	}
	return Place{}, fmt.Errorf("no %s in the directory %s%s", capture.DepsFileName, dir, hint)
}

// newest is the graph below outputs/ that was written last.
func newest() (Place, error) {
	best := ""
	var when time.Time
	// What cannot be listed holds nothing that could be read.
	_ = filepath.WalkDir("outputs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.TrimSuffix(d.Name(), ".gz") != capture.DepsFileName {
			return nil
		}
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && (best == "" || !st.ModTime().Before(when)) {
			best, when = path, st.ModTime()
		}
		return nil
	})
	if best == "" {
		return Place{}, errors.New("No deps.json given and no candidate found under ./outputs/.")
	}
	p := besideGraph(best)
	p.Auto = true
	return p, nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// Options say what is joined to a graph.
type Options struct {
	FuncNames string    // name map; "": the newest that lies beside the graph
	Stdin     io.Reader // the graph, if its place is Standard
	Times     bool      // the times of tasks are wanted, not only which have run
	// Progress returns a function that is told how many bytes of one of the files are
	// read; nil: nobody wants to know.
	Progress func() func(bytes int64)
}

// Load reads a graph and what lies beside it. Only an unusable graph is an error; what
// else cannot be used is left out, and the model's Warnings say so.
func Load(place Place, o Options) (*Model, error) {
	if o.Progress == nil {
		o.Progress = func() func(int64) { return nil }
	}
	var graph *capture.DepsDetail
	var side sidecar
	var both errgroup.Group
	both.Go(func() (err error) {
		graph, err = readGraph(place.Graph, o)
		return err
	})
	both.Go(func() error {
		if place.Records != "" {
			side.read(place.Records, o)
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	if graph.NoEdges && len(graph.Task) == 0 && len(graph.Tensors) == 0 {
		switch kind := capture.Sniff(place.Graph); kind {
		case capture.KindCapture:
			p, err := besideRecords(place.Graph)
			if err != nil {
				return nil, err
			}
			return Load(p, o)
		case capture.KindTrace, capture.KindNameMap:
			return nil, fmt.Errorf("%s is %s, expected a task graph (%s)", place.Graph, kind, capture.DepsFileName)
		}
		return nil, fmt.Errorf("%s has neither an 'edges' array nor tasks: expected a task graph (%s)", graph.Source, capture.DepsFileName)
	}
	warnings := side.fit(graph)
	found := names.FindForGraph(names.Request{Input: place.Graph, FuncNames: o.FuncNames, Level: 2})
	m, err := New(graph, found.Map, side.ran())
	if err != nil {
		return nil, err
	}
	m.Warnings = slices.Concat(warnings, found.Warnings, m.Warnings)
	if side.rec != nil {
		m.Sidecar = place.Records
		if m.Runtime == "" {
			m.Runtime = capture.OwnRuntime(side.rec)
		}
	}
	if side.timeline != nil {
		m.join(side.timeline)
	}
	return m, nil
}

func readGraph(path string, o Options) (*capture.DepsDetail, error) {
	if path == Standard {
		const name = "the standard input"
		in := bufio.NewReaderSize(o.Stdin, 64<<10)
		if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
			return capture.ReadDepsDetailFrom(in, name)
		}
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		return capture.ReadDepsDetailFrom(z, name)
	}
	g, err := capture.ReadDepsDetail(path, o.Progress())
	if err == nil && g == nil {
		err = fmt.Errorf("%s not found.", path)
	}
	return g, err
}

// sidecar is the records file beside a graph.
type sidecar struct {
	path     string
	rec      *capture.Records // nil: not usable
	ids      []uint64
	timeline *timeline.Timeline // nil: times are not wanted
	err      error
}

func (s *sidecar) read(path string, o Options) {
	s.path = path
	if s.rec, s.err = capture.Read(path, capture.Options{Progress: o.Progress()}); s.err != nil {
		return
	}
	s.ids = s.rec.Tasks.Task // joining takes the column away
	if s.ids == nil {
		s.ids = []uint64{}
	}
	if o.Times {
		if s.timeline, s.err = timeline.New(s.rec, nil); s.err != nil {
			s.rec = nil
		}
	}
}

// fit drops records that cannot be used, and says why.
func (s *sidecar) fit(graph *capture.DepsDetail) (warnings []string) {
	switch {
	case s.path == "":
		return nil
	case s.err != nil:
		s.rec, s.timeline = nil, nil
		return []string{fmt.Sprintf("couldn't read %s: %v; the view is made without it", s.path, oneLine(s.err))}
	}
	if own := capture.OwnRuntime(s.rec); graph.Runtime != "" && own != "" && own != graph.Runtime {
		s.rec, s.timeline = nil, nil
		return []string{fmt.Sprintf("%s is a graph of the runtime '%.40s', %s is a capture of '%s'; their task ids do not mean the same tasks, so the times are not used",
			graph.Source, graph.Runtime, s.path, own)}
	}
	if len(s.rec.Runs) > 1 && s.timeline != nil {
		warnings = append(warnings, fmt.Sprintf("%s holds %d runs (epochs %s), whose task ids mean the same tasks of this graph; times are those of the first", s.path, len(s.rec.Runs), s.rec.Epochs()))
	}
	return warnings
}

// ran are the tasks that have rows, nil without records.
func (s *sidecar) ran() []uint64 {
	if s.rec == nil {
		return nil
	}
	return s.ids
}

// oneLine is the text of an error in one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
