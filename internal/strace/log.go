package strace

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strconv"

	"swimlane/internal/hostlog"
)

// Keep says how much of a log is kept when it is read.
type Keep uint8

const (
	// KeepTimes keeps what tables are made of: no spans of dispatchers and foreign
	// producers, and attributes only of the outermost spans.
	KeepTimes Keep = iota
	// KeepRuns keeps all of the spans of runs.
	KeepRuns
	// KeepAll keeps everything.
	KeepAll
)

// Log is what host logs say.
type Log struct {
	hostlog.Summary
	chunks [][]hostlog.Span // in the order of the input
}

// Spans are the spans that were kept, in the order of the input.
func (l *Log) Spans() iter.Seq[*hostlog.Span] {
	return func(yield func(*hostlog.Span) bool) {
		for _, chunk := range l.chunks {
			for i := range chunk {
				if !yield(&chunk[i]) {
					return
				}
			}
		}
	}
}

// Runs are the invocations of the log.
func (l *Log) Runs() []hostlog.Invocation { return hostlog.InvocationsOf(l.Spans()) }

// chunk is how many spans lie together: one list of millions would be copied, and
// held twice, while it grows.
const chunk = 1 << 12

func (l *Log) add(s hostlog.Span) {
	last := len(l.chunks) - 1
	switch {
	case last < 0:
		l.chunks = append(l.chunks, nil) // grows, as most logs are small
		last++
	case len(l.chunks[last]) == chunk:
		l.chunks = append(l.chunks, make([]hostlog.Span, 0, chunk))
		last++
	}
	l.chunks[last] = append(l.chunks[last], s)
}

// deviceOnly are the attributes of a span of the device of which nothing else is kept.
const deviceOnly = "clk=dev"

// Read reads logs in their order, as hostlog.ReadAll does. Unless it is nil, progress is
// told how many bytes have been read.
func Read(keep Keep, stdin io.Reader, sources []string, progress func(bytes int64)) (*Log, error) {
	out := &Log{}
	r := hostlog.Reader{Progress: progress, Span: func(s *hostlog.Span) error {
		kept := *s
		if keep != KeepAll {
			if f := s.Family(); f == hostlog.Node || f == hostlog.External {
				return nil
			}
		}
		if keep == KeepTimes && s.Depth != 0 {
			kept.Attrs = ""
			if s.Device() {
				kept.Attrs = deviceOnly
			}
		}
		out.add(kept)
		return nil
	}}
	for _, source := range sources {
		if err := r.ReadSource(source, stdin); err != nil {
			return nil, err
		}
	}
	out.Summary = r.Summary
	return out, nil
}

// Nothing is what stands in the place of a table of a log without runs.
const Nothing = "No [STRACE] markers found."

// ranked are the callables, those with the most runs first.
func ranked(runs []hostlog.Invocation) []hostlog.Bucket {
	out := hostlog.Buckets(runs)
	slices.SortStableFunc(out, func(a, b hostlog.Bucket) int {
		return cmp.Compare(len(b.Invocations), len(a.Invocations))
	})
	return out
}

// label is what a callable is called, by its place in the ranking: the one that ran
// most is taken for the decoding of tokens, and one that ran once for the prefill.
func label(place int, b *hostlog.Bucket) string {
	switch n := len(b.Invocations); {
	case place == 0 && n > 1:
		return "decode"
	case n == 1:
		return "prefill"
	}
	return b.HID[:min(8, len(b.HID))]
}

// appendUS appends ns as µs with one decimal.
func appendUS(b []byte, ns float64) []byte { return strconv.AppendFloat(b, ns/1000, 'f', 1, 64) }

// us is ns as µs with one decimal.
func us(ns float64) string { return string(appendUS(nil, ns)) }
