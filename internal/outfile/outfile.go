// Package outfile writes output files whole or not at all: beside their place
// first, renamed into it when they are complete.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrIsInput says that an output would overwrite a file that is being read.
var ErrIsInput = errors.New("the output is one of the inputs")

// File is an output that is being written.
type File struct {
	*os.File
	path   string // final place
	temp   string // where it is until then; "" if it is written in place
	closed bool
}

// Create begins an output at path. It refuses a path that is one of inputs.
// A device or pipe is written in place.
func Create(path string, inputs ...string) (*File, error) {
	st, err := os.Stat(path)
	if err == nil {
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(st, other) {
				return nil, fmt.Errorf("%w: %s; choose another path with -o", ErrIsInput, path)
			}
		}
		if st.IsDir() {
			return nil, fmt.Errorf("the output %s is a directory, expected a file path", path)
		}
		if !st.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, err
			}
			return &File{File: f, path: path}, nil
		}
		// Renaming over a link would replace the link.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the output directory %s does not exist; create it, or choose another path with -o", filepath.Dir(path))
		}
		return nil, err
	}
	return &File{File: f, path: path, temp: f.Name()}, nil
}

// Commit completes the output and puts it in its place.
func (f *File) Commit() error {
	f.closed = true
	if f.temp == "" {
		return f.Close()
	}
	mode := os.FileMode(0o644)
	if st, err := os.Stat(f.path); err == nil {
		mode = st.Mode().Perm()
	}
	err := f.Chmod(mode)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.temp, f.path)
	}
	if err != nil {
		os.Remove(f.temp)
	}
	return err
}

// Discard removes an output that was not committed. After Commit it does nothing.
func (f *File) Discard() {
	if f.closed {
		return
	}
	f.closed = true
	f.Close()
	if f.temp != "" {
		os.Remove(f.temp)
	}
}
