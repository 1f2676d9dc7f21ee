package hostlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"swimlane/internal/infile"
)

const (
	firstBuffer = 64 << 10
	// maxLine is how much of a line is held at once. A longer line is read in
	// pieces, and a record that is longer by itself counts as incomplete.
	maxLine = 1 << 20
	// overlap is what two pieces have in common, lest a record other than a span is cut.
	overlap = 1 << 10
	// maxInterned is how many names, and how many hashes, a reader keeps to share them.
	maxInterned = 1 << 12
)

// Records is what was read from host logs, spans in the order of the input.
type Records struct {
	Spans []Span
	Summary
}

// ReadAll reads sources in their order. A source is a file, a directory, which
// stands for its host.*.log, or - for stdin. With an error it returns what it has
// read until then.
func ReadAll(stdin io.Reader, sources ...string) (*Records, error) {
	out := &Records{}
	r := Reader{Span: func(s *Span) error {
		out.Spans = append(out.Spans, *s)
		return nil
	}}
	var err error
	for _, source := range sources {
		if err = r.ReadSource(source, stdin); err != nil {
			break
		}
	}
	out.Summary = r.Summary
	return out, err
}

// Reader reads logs, one after another, and hands out their spans. What it keeps
// does not grow with the number of spans. The zero value is ready for use.
type Reader struct {
	// Span, if it is set, is called with every span, in order. It may keep a copy
	// but not the pointer. An error ends the reading and is returned.
	Span func(*Span) error
	// Progress, if it is set, is called now and then with how many bytes have been
	// read, of all logs together and as they come: packed ones before they are unpacked.
	Progress func(bytes int64)
	Summary

	read        int64 // bytes
	hids, names interned
	attrs       string // of the last span
}

// Discover lists the logs directly in a directory, the files host.*.log, sorted.
func Discover(dir string) ([]string, error) { return discover(dir, "host.") }

// DiscoverExtracts lists the files host_clock_alignment.*.log directly in a
// directory, sorted: what a runtime repeats of its log beside a capture, the one run
// that the capture is of (spec/newest.md §11).
func DiscoverExtracts(dir string) ([]string, error) { return discover(dir, "host_clock_alignment.") }

func discover(dir, prefix string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || !strings.HasSuffix(rest, ".log") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			continue
		}
		out = append(out, path)
	}
	return out, nil
}

// ReadSource reads a file, the logs of a directory, or for - stdin.
func (r *Reader) ReadSource(source string, stdin io.Reader) error {
	if source == "-" {
		return r.Read("standard input", stdin)
	}
	st, err := os.Stat(source)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return r.readFile(source)
	}
	files, err := Discover(source)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s is a directory but holds no host.*.log files", source)
	}
	for _, file := range files {
		if err := r.readFile(file); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file. One that is written to meanwhile is no error: logs grow
// as long as their process lives.
func (r *Reader) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	state := infile.Now(f)
	if err := r.Read(path, f); err != nil {
		return err
	}
	if how := state.Changed(); how != "" {
		r.changed = append(r.changed, Warning{"log-changed", 1,
			fmt.Sprintf("%s changed while it was read (%s); %s", path, how, infile.Hint)})
	}
	return nil
}

// Read reads a log from a stream, unpacking it if it is packed with gzip. The
// name is for messages.
func (r *Reader) Read(name string, in io.Reader) error {
	if r.Progress != nil {
		in = &counter{in, r}
	}
	head := bufio.NewReaderSize(in, 4<<10)
	in = head
	if magic, _ := head.Peek(3); bytes.Equal(magic, []byte{0x1f, 0x8b, 8}) {
		z, err := gzip.NewReader(head)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w%s", name, err, infile.PackedHint(err))
		}
		in = z
	}
	failed, err := r.lines(in)
	if failed {
		return fmt.Errorf("cannot read %s: %w%s", name, err, infile.PackedHint(err))
	}
	return err
}

// counter reports what is read.
type counter struct {
	in io.Reader
	r  *Reader
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.r.read += int64(n)
	c.r.Progress(c.r.read)
	return n, err
}

// lines reads the lines of a stream. It tells errors of the stream from those of
// the caller's Span.
func (r *Reader) lines(in io.Reader) (failed bool, err error) {
	buf := make([]byte, firstBuffer)
	held, idle := 0, 0 // bytes in buf, none of them a line feed
	for {
		if held == len(buf) {
			if len(buf) < maxLine {
				buf = append(buf, make([]byte, len(buf))...)
			} else if held, err = r.piece(buf); err != nil {
				return false, err
			}
		}
		n, readErr := in.Read(buf[held:])
		begin, end := 0, held
		held += n
		for {
			feed := bytes.IndexByte(buf[end:held], '\n')
			if feed < 0 {
				break
			}
			end += feed
			if err := r.line(buf[begin:end], endLine); err != nil {
				return false, err
			}
			end++
			begin = end
		}
		held = copy(buf, buf[begin:held])
		if idle++; n > 0 {
			idle = 0
		}
		switch {
		case readErr == io.EOF:
			return false, r.line(buf[:held], endLine)
		case readErr != nil:
			// What came is read, as it is when a file ends too early.
			return true, errors.Join(readErr, r.line(buf[:held], endLine))
		case idle == 100:
			return true, io.ErrNoProgress
		}
	}
}

// piece reads as much of a long line as buf holds, and leaves in it what the
// next piece begins with: the last span record, or if that is all there is, what
// another record could begin in.
func (r *Reader) piece(buf []byte) (held int, err error) {
	cut := bytes.LastIndex(buf, []byte(spanMark))
	if cut > 0 {
		err = r.line(buf[:cut], endMarker)
	} else {
		err = r.line(buf, endCut)
		cut = len(buf) - overlap
	}
	return copy(buf, buf[cut:]), err
}

func (r *Reader) line(b []byte, end ending) error {
	l := line{r: r, b: b, end: end}
	return l.scan()
}

// keep gives a span its texts. Names and hashes come again and again, so spans
// share them.
func (r *Reader) keep(s *Span, hid, name, attrs []byte) {
	s.HID = r.hids.text(hid, func(b []byte) string { return string(bytes.ToLower(b)) })
	s.Name = r.names.text(name, func(b []byte) string { return decode(valid(b)) })
	if string(attrs) != r.attrs {
		r.attrs = valid(attrs)
	}
	s.Attrs = r.attrs
}

// interned are texts by the bytes that they were read from.
type interned map[string]string

func (m *interned) text(b []byte, read func([]byte) string) string {
	if len(b) > maxName {
		return read(b)
	}
	if s, ok := (*m)[string(b)]; ok {
		return s
	}
	if *m == nil || len(*m) == maxInterned {
		*m = interned{}
	}
	s := read(b)
	(*m)[string(b)] = s
	return s
}
