package capture

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"swimlane/internal/infile"
)

// input is an open file, unpacked if need be.
type input struct {
	io.Reader
	file  *os.File
	state infile.State // before the first read
}

func (i *input) Close() error { return i.file.Close() }

// changed refuses a file that is not any more what it was when it was opened. That
// counts more than whatever else is wrong with what was read.
func (i *input) changed() *Error {
	how := i.state.Changed()
	if how == "" {
		return nil
	}
	return &Error{File: i.file.Name(), Row: -1, Text: "it " + ErrChanged.Error() + " (" + how + ")", Hint: infile.Hint, Class: ErrChanged}
}

// open opens a file for reading. Content that starts like gzip is unpacked.
func open(path string) (*input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory, expected a file", path)
	}
	in := &input{Reader: f, file: f, state: infile.Now(f)}
	head := bufio.NewReaderSize(f, 16)
	if magic, _ := head.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(bufio.NewReaderSize(head, 64<<10))
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("cannot read %s: %w%s", path, err, infile.PackedHint(err))
		}
		in.Reader = z
		return in, nil
	}
	in.Reader = &headReader{head: head, rest: f}
	return in, nil
}

// headReader gives back the bytes that were looked at, then reads straight from
// the file: large reads must not go through a small buffer.
type headReader struct {
	head *bufio.Reader
	rest io.Reader
}

func (h *headReader) Read(p []byte) (int, error) {
	if n := h.head.Buffered(); n > 0 {
		return h.head.Read(p[:min(n, len(p))])
	}
	return h.rest.Read(p)
}

// plainPathError says it the way people do, and keeps the cause.
func plainPathError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && errors.Is(err, fs.ErrNotExist) {
		//lint:ignore ST1005 the text is that of spec/converter.md §8.3
		return fmt.Errorf("Input file not found: %s%w", p.Path, silent{err})
	}
	return err
}

// silent wraps an error whose text is said already.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

type progressReader struct {
	r      io.Reader
	n      int64
	report func(int64)
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.n += int64(n)
	p.report(p.n)
	return n, err
}
