package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"swimlane/internal/outfile"
)

// env is where a command reads and writes.
type env struct {
	stdin   io.Reader
	stdout  *console
	stderr  io.Writer
	outputs outfile.Set
}

func newEnv(stdin io.Reader, stdout, stderr io.Writer) *env {
	return &env{stdin: stdin, stdout: &console{w: stdout}, stderr: stderr}
}

// console is the standard output. It keeps the first error and writes nothing
// after it, so that a command can finish what matters more than its text.
type console struct {
	w   io.Writer
	err error
}

func (c *console) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		c.err = err
	}
	return n, err
}

// output is what a command writes: a file, or the standard output.
type output struct {
	io.Writer
	name string // as the user knows it
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

const toStdout = "-"

// create begins an output, before anything large is read: a place that cannot
// be written to should show at once. A name that ends in .gz is compressed.
func (e *env) create(name string, inputs []string) (*output, error) {
	if name == "/dev/stdout" { // the same place, but opened anew it would overwrite itself
		name = toStdout
	}
	if name == toStdout {
		out := &output{name: name, size: counter{w: e.stdout}}
		out.Writer = &out.size
		return out, nil
	}
	f, err := e.outputs.Create(name, inputs...)
	if err != nil {
		return nil, err
	}
	out := &output{name: name, file: f, size: counter{w: f}}
	out.Writer = &out.size
	if strings.HasSuffix(name, ".gz") {
		// Only a bad level can fail.
		out.zip, _ = gzip.NewWriterLevel(&out.size, gzip.BestSpeed)
		out.Writer = out.zip
	}
	return out, nil
}

// written is the size of the output, complete once it is closed.
func (o *output) written() int64 { return o.size.n }

func (o *output) toStdout() bool { return o.file == nil }

// close puts a complete output in its place, or removes one that err befell.
func (o *output) close(err error) error {
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

// discard removes an output that was not closed.
func (o *output) discard() {
	if o.file != nil {
		o.file.Discard()
	}
}
