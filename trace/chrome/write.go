// Package chrome writes a picture in the Chrome Trace Event format, which
// Perfetto opens: one JSON object, one event a line.
//
// Times are µs with three decimals, written from integer ns and never through
// a float; the length of a slice is the difference of its rounded ends.
package chrome

import (
	"context"
	"io"
	"runtime"
	"strconv"
	"sync"

	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// Counts says what was written.
type Counts struct {
	Slices, Flows, Counters int64
	Bytes                   int64
}

// Events is the number of entries of traceEvents, without the names of processes and lanes.
func (c *Counts) Events() int64 { return c.Slices + 2*c.Flows + c.Counters }

// Options steer the writer.
type Options struct {
	Workers  int                   // parallel formatters; 0: one per processor
	Progress func(done, all int64) // items formatted so far
}

const itemsPerJob = 2048

// Write writes p to w. It stops early when ctx is cancelled.
func Write(ctx context.Context, w io.Writer, p *trace.Picture, opt Options) (Counts, error) {
	out := NewWriter(w)
	err := out.Picture(ctx, p, opt)
	if err == nil {
		err = out.Close(p.Metadata, p.Document)
	}
	return out.Counts(), err
}

// Writer writes several pictures into one document, one after another: whoever has
// many need not hold them all. Numbers of slices and arrows must not repeat; nor
// must those of lanes, or they are one.
type Writer struct {
	out    counter
	counts Counts
	opened bool
}

// NewWriter begins a document. Call Close at its end.
func NewWriter(w io.Writer) *Writer { return &Writer{out: counter{w: w}} }

// Counts says what was written so far.
func (d *Writer) Counts() Counts {
	d.counts.Bytes = d.out.n
	return d.counts
}

// Picture adds a picture, without its metadata and fields of the file. It stops early when ctx is cancelled.
func (d *Writer) Picture(ctx context.Context, p *trace.Picture, opt Options) error {
	if err := d.open(); err != nil {
		return err
	}
	if _, err := d.out.Write(header(p)); err != nil {
		return err
	}
	counts, err := body(ctx, &d.out, p, opt)
	d.counts.Slices += counts.Slices
	d.counts.Flows += counts.Flows
	d.counts.Counters += counts.Counters
	return err
}

// open writes what precedes the events. Every event begins with the comma behind
// the one before.
func (d *Writer) open() error {
	if d.opened {
		return nil
	}
	_, err := d.out.Write([]byte(`{"traceEvents":[`))
	d.opened, d.out.first = true, true
	return err
}

// Close ends the document, with what describes it as a whole and further fields of
// the file; nil if there is nothing to say.
func (d *Writer) Close(metadata, document []trace.Field) error {
	if err := d.open(); err != nil {
		return err
	}
	return footer(&d.out, metadata, document)
}

type counter struct {
	w     io.Writer
	n     int64
	first bool // the next event is the first of the document
}

func (c *counter) Write(b []byte) (int, error) {
	if c.first && len(b) > 0 && b[0] == ',' {
		c.first = false
		b = b[1:]
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// header names processes and lanes.
func header(p *trace.Picture) []byte {
	var b []byte
	meta := func(name string, pid uint32, tid int64, arg string) {
		b = append(b, ",\n{\"args\":{"...)
		b = append(b, arg...)
		b = append(b, `},"cat":"__metadata","name":"`...)
		b = append(b, name...)
		b = append(b, `","ph":"M","pid":`...)
		b = strconv.AppendUint(b, uint64(pid), 10)
		if tid >= 0 {
			b = append(b, `,"tid":`...)
			b = strconv.AppendInt(b, tid, 10)
		}
		b = append(b, '}')
	}
	named := func(s string) string { return `"name":` + string(jsonscan.AppendString(nil, s)) }
	sorted := func(i int32) string { return `"sort_index":` + strconv.Itoa(int(i)) }
	for _, q := range p.Processes {
		if q.Name == "" {
			continue
		}
		meta("process_name", q.PID, -1, named(q.Name))
		if !p.Unsorted {
			meta("process_sort_index", q.PID, -1, sorted(q.Sort))
		}
	}
	for _, l := range p.Lanes {
		pid := p.Processes[l.Process].PID
		meta("thread_name", pid, int64(l.TID), named(l.Name))
		if !p.Unsorted {
			meta("thread_sort_index", pid, int64(l.TID), sorted(l.Sort))
		}
	}
	return b
}

// footer writes what stands behind the events, and ends the document.
func footer(w io.Writer, metadata, document []trace.Field) error {
	b := []byte("\n]")
	for _, f := range document {
		b = append(b, ",\n"...)
		b = append(jsonscan.AppendString(b, f.Key), ':')
		if f.List == nil {
			b = append(b, f.JSON...)
			continue
		}
		b = append(b, '[')
		first := true
		for item := range f.List {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(append(b, '\n'), item...)
			if len(b) >= chunkBytes {
				if _, err := w.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
		b = append(b, "\n]"...)
	}
	if metadata != nil {
		b = append(b, ",\n\"metadata\":{"...)
		for i, f := range metadata {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '\n')
			b = jsonscan.AppendString(b, f.Key)
			b = append(b, ':')
			b = append(b, f.JSON...)
		}
		b = append(b, "\n}"...)
	}
	_, err := w.Write(append(b, "}\n"...))
	return err
}

// job is a range of items of one section; its text is committed in order. The
// channel is closed behind the last piece.
type job struct {
	section  trace.Section
	from, to int
	text     chan []byte
}

// body formats ranges of items in parallel and writes them in order. The number
// of ranges in flight and of pieces waiting in each is bounded, so memory is
// too, however much text one item makes.
func body(ctx context.Context, w io.Writer, p *trace.Picture, opt Options) (Counts, error) {
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	todo := make(chan *job)
	inOrder := make(chan *job, 2*workers)
	free := make(chan []byte, 3*workers+2)
	go dispatch(ctx, p, todo, inOrder)

	heads := laneHeads(p)
	counts := make([]Counts, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			e := &encoder{pic: p, heads: heads}
			empty := func() []byte {
				select {
				case b := <-free:
					return b[:0]
				default:
					return nil
				}
			}
			for j := range todo {
				e.hand = func(b []byte) []byte {
					select {
					case j.text <- b:
						return empty()
					case <-ctx.Done():
						return b[:0] // nobody will read it
					}
				}
				e.buf = empty()
				j.section.Walk(j.from, j.to, e)
				e.hand(e.buf)
				close(j.text)
			}
			counts[i] = e.counts
		})
	}
	err := commit(ctx, w, p, inOrder, free, opt.Progress)
	cancel()
	for range inOrder { // let the dispatcher end
	}
	wg.Wait()
	var sum Counts
	for _, c := range counts {
		sum.Slices += c.Slices
		sum.Flows += c.Flows
		sum.Counters += c.Counters
	}
	return sum, err
}

// dispatch cuts the sections into ranges.
func dispatch(ctx context.Context, p *trace.Picture, todo, inOrder chan<- *job) {
	defer close(inOrder)
	defer close(todo)
	for _, s := range p.Sections {
		for from := 0; from < s.Len(); from += itemsPerJob {
			j := &job{section: s, from: from, to: min(from+itemsPerJob, s.Len()), text: make(chan []byte, 2)}
			select {
			case inOrder <- j:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- j:
			case <-ctx.Done():
				return
			}
		}
	}
}

func commit(ctx context.Context, w io.Writer, p *trace.Picture, inOrder <-chan *job, free chan<- []byte, progress func(done, all int64)) error {
	var all, done int64
	for _, s := range p.Sections {
		all += int64(s.Len())
	}
	for {
		select {
		case j, ok := <-inOrder:
			if !ok {
				return ctx.Err()
			}
			if err := commitJob(ctx, w, j, free); err != nil {
				return err
			}
			if done += int64(j.to - j.from); progress != nil {
				progress(done, all)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// commitJob writes the pieces of one range.
func commitJob(ctx context.Context, w io.Writer, j *job, free chan<- []byte) error {
	for {
		select {
		case text, more := <-j.text:
			if !more {
				return nil
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
			select {
			case free <- text:
			default:
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
