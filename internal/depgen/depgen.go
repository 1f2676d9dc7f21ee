package depgen

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"

	"swimlane/internal/collector"
	"swimlane/internal/fanin"
	"swimlane/internal/outfile"
	"swimlane/internal/producer"
)

// FileName is the name of the task graph in the directory of its capture.
const FileName = "deps.json"

// Summary is what a task graph holds.
type Summary struct {
	Path                  string // where it was written, "" to a writer
	Tasks, Tensors, Edges int
	slices                int // that tasks register as written
}

// Write makes the task graph of a run and writes it to deps.json in a directory,
// which is made if need be: beside its place first and renamed when it is
// complete. If the graph cannot be made, what was there stays.
func Write(dir string, out *collector.DepGenOutcome) (Summary, error) {
	if dir == "" {
		return Summary{}, fmt.Errorf("no %s: %w; choose an output prefix", FileName, ErrNoPath)
	}
	t, s, err := check(out)
	if err != nil {
		return Summary{}, err
	}
	return save(dir, s, t.write)
}

// save writes a task graph to its place.
func save(dir string, s Summary, write func(io.Writer, *Summary) error) (Summary, error) {
	path := filepath.Join(dir, FileName)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return Summary{}, fmt.Errorf("cannot make the directory of %s: %w: %w; choose another output prefix", FileName, ErrWrite, err)
	}
	files := &outfile.Process
	f, err := files.Create(path)
	if err != nil {
		return Summary{}, fmt.Errorf("no %s: %w: %w", FileName, ErrWrite, err)
	}
	defer f.Discard()
	if err := write(f, &s); err != nil {
		return Summary{}, fmt.Errorf("no %s: %w", path, err)
	}
	if err := f.Commit(); err != nil {
		return Summary{}, fmt.Errorf("no %s: %w: %w", path, ErrWrite, err)
	}
	s.Path = path
	return s, nil
}

// WriteTo makes the task graph of a run and writes it to w. It writes nothing if
// the graph cannot be made.
func WriteTo(w io.Writer, out *collector.DepGenOutcome) (Summary, error) {
	t, s, err := check(out)
	if err != nil {
		return Summary{}, err
	}
	if err := t.write(w, &s); err != nil {
		return Summary{}, fmt.Errorf("no task graph: %w", err)
	}
	return s, nil
}

// check refuses a capture that no graph can be made of.
func check(out *collector.DepGenOutcome) (*trace, Summary, error) {
	fail := func(err error) (*trace, Summary, error) {
		return nil, Summary{}, fmt.Errorf("no task graph: %w", err)
	}
	if !out.Clean {
		a := &out.Account
		return fail(fmt.Errorf("%w: %d of %d records were collected, %d dropped, %d lost by the host, %d not flushed; a part of a graph would be a wrong one",
			ErrNotClean, a.Collected, a.Total, a.Dropped, a.HostLost, a.Unflushed))
	}
	t := &trace{form: out.Form(), records: out.Records()}
	s, err := t.count()
	if err != nil {
		return fail(err)
	}
	return t, s, nil
}

// count checks all records.
func (t *trace) count() (s Summary, err error) {
	err = t.each(func(submit *producer.Submit) error {
		s.Tasks++
		s.slices += fanin.Registers(submit)
		return nil
	})
	return s, err
}

// write writes the graph of a trace that was counted.
func (t *trace) write(w io.Writer, s *Summary) error { return writeGraph(newFile(w), t.each, s) }

// writeGraph writes the graph of submits that were counted.
func writeGraph(f *file, each func(func(*producer.Submit) error) error, s *Summary) error {
	entries := 1 << bits.Len(uint(max(s.slices, 1)-1)) // nothing retires, so all of them may be there
	m, err := fanin.New(fanin.Options{Entries: entries, Buckets: min(max(entries, fanin.DefaultBuckets), 1<<20)})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInit, err)
	}
	f.section(`{"tasks":[`)
	if err := each(f.task); err != nil {
		return writing(f, err)
	}
	f.section(`],"tensors":[`)
	f.writeTensors()
	s.Tensors = len(f.tensors)
	f.section(`],"edges":[`)
	var task *producer.Submit
	row := func(r *fanin.Row) {
		f.edge(task, r)
		s.Edges++
	}
	err = each(func(submit *producer.Submit) error {
		task = submit
		m.Resolve(submit, row)
		if err := m.Register(submit); err != nil {
			return fmt.Errorf("%w: %w", ErrFanin, err)
		}
		return f.err
	})
	if err != nil {
		return writing(f, err)
	}
	f.section("]}\n")
	f.flush()
	return writing(f, f.err)
}

// writing marks an error of the writer.
func writing(f *file, err error) error {
	if f.err != nil {
		return fmt.Errorf("%w: %w", ErrWrite, f.err)
	}
	return err
}
