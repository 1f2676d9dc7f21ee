// Package check reads a finished trace file (Chrome Trace Event JSON) and
// replays the import rules of Perfetto's JSON importer over it.
//
// It promises to list everything in the file that a viewer would drop, move
// or bind to the wrong slice, each with the rule, a count and a few places.
// It knows nothing about how the file was made and shares no code with the
// writers, so that a mistake of theirs cannot hide in here. The rules are
// those of ../shared/design/perfetto-facts.md, section 1; comments cite them
// as "perfetto-facts §1 <heading>".
//
// A file is read once, as a stream. What stays in memory is one small record
// per slice and flow point plus every distinct name once, never the text; no
// allocation is sized by a number found in the file.
package check

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Severity says what a finding costs the person who looks at the trace.
type Severity int

// The severities, worst first.
const (
	Drop Severity = iota // data is lost
	Move                 // drawn elsewhere, renamed or changed
	Bind                 // an arrow is lost, reversed or on a wrong slice
	Note                 // harmless but worth knowing; the file stays clean
)

// String returns the severity as one lower-case word.
func (s Severity) String() string {
	switch s {
	case Drop:
		return "drop"
	case Move:
		return "move"
	case Bind:
		return "bind"
	case Note:
		return "note"
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// A Finding is one rule that the file breaks.
type Finding struct {
	Rule     string // short stable slug, e.g. "slice-overlap"
	Severity Severity
	Count    int64    // how often: events, or lanes where the rule is about lanes
	Examples []string // the first few places, at most five
	Explain  string   // what the viewer does and what to do about it
}

// A Report is what a viewer would make of one file.
type Report struct {
	Events    int64 // elements of traceEvents
	Slices    int64 // X and B events that survive the importer's first look
	Flows     int64 // flow points: s, t and f events that survive it
	Counters  int64 // C events that survive it
	Metadata  int64 // M events
	Lanes     int64 // (pid, tid) pairs that are named or carry slices or marks
	Processes int64 // distinct pids

	// Findings are sorted by severity, worst first, then in a fixed order.
	Findings []Finding
}

// Clean reports whether nothing would be dropped, moved or bound wrongly:
// no finding is above Note.
func (r *Report) Clean() bool {
	for i := range r.Findings {
		if r.Findings[i].Severity < Note {
			return false
		}
	}
	return true
}

// JSON checks the trace in r. An error means that r is unreadable or not
// JSON, or that a viewer would refuse the file as a whole (or show nothing of
// it); it says which rule and at which byte.
func JSON(r io.Reader) (*Report, error) {
	t := newTrace(r)
	if err := t.document(); err != nil {
		return nil, err
	}
	t.replay()
	t.closing()
	return t.report(), nil
}

// File checks the trace file at path, which may be compressed with gzip; like
// the viewer it looks at the first bytes, not at the file's name.
func File(path string) (rep *Report, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	defer func() {
		if cerr := f.Close(); cerr != nil && err == nil {
			rep, err = nil, fmt.Errorf("check: %w", cerr)
		}
	}()
	rep, err = Stream(f)
	if err != nil {
		return nil, fmt.Errorf("check: %s: %w", path, err)
	}
	return rep, nil
}

// Stream checks a trace that may be compressed with gzip.
func Stream(in io.Reader) (*Report, error) {
	text, err := plain(in)
	if err != nil {
		return nil, err
	}
	return JSON(text)
}

// plain returns the JSON text in f, unpacked if f starts like a gzip file.
func plain(f io.Reader) (io.Reader, error) {
	br := bufio.NewReaderSize(f, 1<<16)
	magic, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return br, nil
	}
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, fmt.Errorf("gzip header: %w", err)
	}
	return zr, nil
}
