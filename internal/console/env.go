package console

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"swimlane/internal/outfile"
)

// Env is where a command reads and writes.
type Env struct {
	Stdin   io.Reader
	Stdout  *Stdout
	Stderr  io.Writer
	Outputs outfile.Set

	onStop atomic.Pointer[func()]
}

// OnStop sets what is done when a signal ends the program: a command that keeps what
// it has made until then begins to end, and is waited for a while. nil: nothing.
func (e *Env) OnStop(f func()) {
	if f == nil {
		e.onStop.Store(nil)
		return
	}
	e.onStop.Store(&f)
}

// New returns the environment of commands that use these streams.
func New(stdin io.Reader, stdout, stderr io.Writer) *Env {
	return &Env{Stdin: stdin, Stdout: &Stdout{w: stdout}, Stderr: stderr}
}

// Stdout is the standard output. It keeps the first error and writes nothing
// after it, so that a command can finish what matters more than its text.
type Stdout struct {
	w   io.Writer
	err error
}

func (s *Stdout) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		s.err = err
	}
	return n, err
}

// Colour reports whether colours may be used: it is a terminal, and the user does
// not object (https://no-color.org).
func (s *Stdout) Colour() bool {
	f, ok := s.w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Width is how many characters a line of the terminal has, 0 if it is none.
func (s *Stdout) Width() int {
	f, ok := s.w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Err is why nothing more is written, nil if all was.
func (s *Stdout) Err() error { return s.err }

// Standard stands for the standard input or output in the place of a file's name.
const Standard = "-"

// Output is what a command writes: a file, or the standard output.
type Output struct {
	io.Writer
	name string
	file *outfile.File
	size counter
	zip  *gzip.Writer // nil unless the name asks for it
}

// counter counts what passes through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// Create begins an output, before anything large is read: a place that cannot
// be written to should show at once. A name that ends in .gz is compressed.
func (e *Env) Create(name string, inputs []string) (*Output, error) {
	if name == "/dev/stdout" { // the same place, but opened anew it would overwrite itself
		name = Standard
	}
	if name == Standard {
		out := &Output{name: name, size: counter{w: e.Stdout}}
		out.Writer = &out.size
		return out, nil
	}
	f, err := e.Outputs.Create(name, inputs...)
	if err != nil {
		return nil, err
	}
	out := &Output{name: name, file: f, size: counter{w: f}}
	out.Writer = &out.size
	if strings.HasSuffix(name, ".gz") {
		// Only a bad level can fail.
		out.zip, _ = gzip.NewWriterLevel(&out.size, gzip.BestSpeed)
		out.Writer = out.zip
	}
	return out, nil
}

// Name is what the user calls the output.
func (o *Output) Name() string { return o.name }

// Written is the size of the output, complete once it is closed.
func (o *Output) Written() int64 { return o.size.n }

// ToStdout tells whether the output is the standard output.
func (o *Output) ToStdout() bool { return o.file == nil }

// Close puts a complete output in its place, or removes one that err befell.
func (o *Output) Close(err error) error {
	if o.file == nil {
		return err
	}
	if err == nil && o.zip != nil {
		err = o.zip.Close()
	}
	if err == nil {
		err = o.file.Commit()
	}
	o.file.Discard()
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", o.name, err)
	}
	return nil
}

// Discard removes an output that was not closed.
func (o *Output) Discard() {
	if o.file != nil {
		o.file.Discard()
	}
}
