// Package mark copies a trace file and renames the task bars that are not on a
// path, so that a viewer shows the path (spec/sched-overhead.md §10.5).
//
// It reads the file once for all copies and holds one event at a time, so a file
// may be of any size. Everything but the names of those bars is copied: keys keep
// their order, numbers their text. Copies are indented by two blanks.
package mark

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"swimlane/internal/jsonscan"
)

// Copy is one copy of a trace.
type Copy struct {
	W io.Writer
	// On reports whether a task is on the path, and so keeps its name.
	On func(task uint64) bool
}

// Options say which bars are meant and what they are called.
type Options struct {
	// Label appends the text of a task id.
	Label func(dst []byte, task uint64) []byte
	// Epoch is the run that the paths are of: bars that name another one are on
	// none. nil: whatever they name.
	Epoch *uint64
	// Progress is told how many bytes are read; nil: nobody is.
	Progress func(done int64)
}

const (
	process = "4"      // of the Worker View
	bars    = "taskId" // what the bar of a task has among its args
)

// maxEvent bounds what is held of one event.
const maxEvent = 16 << 20

// Trace copies the trace that r reads to all copies, and returns the tasks of any path
// that have a bar in the Worker View.
func Trace(ctx context.Context, r io.Reader, copies []Copy, opt Options) (map[uint64]bool, error) {
	c := &copier{Scanner: jsonscan.New(r), ctx: ctx, opt: opt, copies: copies, seen: map[uint64]bool{}}
	for _, to := range copies {
		c.out = append(c.out, bufio.NewWriterSize(to.W, 256<<10))
	}
	c.document()
	err := c.End()
	switch {
	case c.err != nil: // it ended the walk
		return nil, c.err
	case err != nil:
		return nil, err
	}
	c.buf = append(c.buf, '\n')
	c.flush()
	for _, out := range c.out {
		if err := out.Flush(); err != nil && c.err == nil {
			c.err = writeError{err}
		}
	}
	return c.seen, c.err
}

// writeError is a failure of a copy, not of what is copied.
type writeError struct{ error }

func (w writeError) Unwrap() error { return w.error }

// IsWrite reports whether an error is of writing a copy.
func IsWrite(err error) bool { return errors.As(err, new(writeError)) }

type copier struct {
	*jsonscan.Scanner
	ctx    context.Context
	opt    Options
	copies []Copy
	out    []*bufio.Writer
	buf    []byte // text that is the same in all copies
	label  []byte
	seen   map[uint64]bool
	err    error
}

// flush writes what all copies share.
func (c *copier) flush() {
	for _, out := range c.out {
		c.write(out, c.buf)
	}
	c.buf = c.buf[:0]
}

func (c *copier) write(out *bufio.Writer, b []byte) {
	if _, err := out.Write(b); err != nil && c.err == nil {
		c.err = writeError{err}
		c.Fail("cannot go on") // ends the walk; c.err is what counts
	}
}

// document copies the file: an object with the list of events, and anything else.
func (c *copier) document() {
	if c.Peek() != jsonscan.Object {
		c.Fail("found %s, expected an object with \"traceEvents\"", c.Peek())
		return
	}
	c.BeginObject()
	found := false
	first := true
	for key, ok := c.Key(); ok; key, ok = c.Key() {
		events := string(key) == "traceEvents"
		c.item(&first, 1, '{')
		c.key(key)
		if !events {
			c.value(2, true)
			continue
		}
		found = true
		if c.Peek() != jsonscan.Array {
			c.Fail("found %s, expected the list of events", c.Peek())
			return
		}
		c.events()
	}
	c.close(first, 0, '{', '}')
	if !found {
		c.Fail("found no \"traceEvents\", expected the list of events")
	}
}

func (c *copier) events() {
	c.BeginArray()
	first := true
	for n := 0; c.Elem(); n++ {
		c.item(&first, 2, '[')
		if c.Peek() == jsonscan.Object {
			c.event()
		} else {
			c.value(3, true)
		}
		if n%1024 == 0 {
			if err := c.ctx.Err(); err != nil && c.err == nil {
				c.err = err
				c.Fail("interrupted")
				return
			}
			if c.opt.Progress != nil {
				c.opt.Progress(c.Offset())
			}
		}
	}
	c.close(first, 1, '[', ']')
}

// event copies one event.
func (c *copier) event() {
	c.flush()
	c.BeginObject()
	first := true
	complete, worker, ofTask, otherRun := false, false, false, false
	var from, to int // the name in buf
	var task uint64
	for key, ok := c.Key(); ok; key, ok = c.Key() {
		c.item(&first, 3, '{')
		c.key(key)
		at := len(c.buf)
		switch string(key) {
		case "name":
			c.value(4, false)
			from, to = at, len(c.buf)
		case "ph":
			c.value(4, false)
			complete = string(c.buf[at:]) == `"X"`
		case "pid":
			c.value(4, false)
			worker = isProcess(c.buf[at:])
		case "args":
			if c.Peek() != jsonscan.Object {
				c.value(4, false)
				continue
			}
			task, ofTask, otherRun = c.args()
		default:
			c.value(4, false)
		}
	}
	c.close(first, 2, '{', '}')
	if c.Err() != nil || !complete || !worker || !ofTask || to == from {
		return
	}
	c.label = c.opt.Label(append(c.label[:0], "·("...), task)
	c.label = append(c.label, ')')
	label := jsonscan.AppendString(nil, c.label)
	for i, out := range c.out {
		c.write(out, c.buf[:from])
		if name := c.buf[from:to]; !otherRun && c.copies[i].On(task) {
			c.seen[task] = true
			c.write(out, name)
		} else {
			c.write(out, label)
		}
		c.write(out, c.buf[to:])
	}
	c.buf = c.buf[:0]
}

// isProcess reports whether the text of a number is that of the Worker View's process.
func isProcess(text []byte) bool {
	if string(text) == process {
		return true
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return err == nil && v == 4
}

// args copies the args of an event, and takes the task and the run from them.
func (c *copier) args() (task uint64, ofTask, otherRun bool) {
	c.BeginObject()
	first := true
	for key, ok := c.Key(); ok; key, ok = c.Key() {
		c.item(&first, 4, '{')
		c.key(key)
		at := len(c.buf)
		isTask, isRun := string(key) == bars, string(key) == "run_epoch"
		c.value(5, false)
		switch v, ok := integer(c.buf[at:]); {
		case isTask:
			task, ofTask = v, ok
		case isRun && ok && c.opt.Epoch != nil:
			otherRun = v != *c.opt.Epoch
		}
	}
	c.close(first, 3, '{', '}')
	return task, ofTask, otherRun
}

// integer reads a number, which may stand in quotes.
func integer(text []byte) (uint64, bool) {
	if n := len(text); n >= 2 && text[0] == '"' {
		text = text[1 : n-1]
	}
	v, err := strconv.ParseUint(string(text), 10, 64)
	return v, err == nil
}

// item begins an item of an object or a list, of the given depth.
func (c *copier) item(first *bool, depth int, open byte) {
	if *first {
		c.buf = append(c.buf, open)
	} else {
		c.buf = append(c.buf, ',')
	}
	*first = false
	c.newline(depth)
}

func (c *copier) newline(depth int) {
	c.buf = append(c.buf, '\n')
	for range depth {
		c.buf = append(c.buf, ' ', ' ')
	}
}

// close ends an object or a list, which may be empty.
func (c *copier) close(empty bool, depth int, open, shut byte) {
	if empty {
		c.buf = append(c.buf, open, shut)
		return
	}
	c.newline(depth)
	c.buf = append(c.buf, shut)
}

func (c *copier) key(key []byte) {
	c.buf = jsonscan.AppendString(c.buf, key)
	c.buf = append(c.buf, ':', ' ')
}

// value copies the next value, whose items stand at depth. What belongs to no
// event may be written on the way.
func (c *copier) value(depth int, free bool) {
	switch {
	case len(c.buf) < 64<<10:
	case free:
		c.flush()
	case len(c.buf) > maxEvent:
		c.Fail("found an event longer than %d MiB", maxEvent>>20)
		return
	}
	switch c.Peek() {
	case jsonscan.Object:
		c.BeginObject()
		first := true
		for key, ok := c.Key(); ok; key, ok = c.Key() {
			c.item(&first, depth, '{')
			c.key(key)
			c.value(depth+1, free)
		}
		c.close(first, depth-1, '{', '}')
	case jsonscan.Array:
		c.BeginArray()
		first := true
		for c.Elem() {
			c.item(&first, depth, '[')
			c.value(depth+1, free)
		}
		c.close(first, depth-1, '[', ']')
	case jsonscan.String:
		c.buf = jsonscan.AppendString(c.buf, c.Text())
	default:
		c.buf = c.Raw(c.buf)
	}
}

// Missing lists the tasks of a path that a trace has no bar of, in the words of
// spec/sched-overhead.md §10.5; "" if it has all of them.
func Missing(tasks []uint64, seen map[uint64]bool) string {
	const most = 5
	var lost []string
	n := 0
	for _, id := range tasks {
		if seen[id] {
			continue
		}
		if n++; n <= most {
			lost = append(lost, strconv.FormatUint(id, 10))
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("missing %d critical task(s): %s", n, strings.Join(lost, ", "))
}
