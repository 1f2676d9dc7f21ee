// Package outfile writes output files whole or not at all: beside their place
// first, renamed into it when they are complete.
//
// What is in the place before stays there until the rename, whatever fails. A
// device or a pipe, which cannot be renamed over, is written in place.
package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// ErrIsInput says that an output would overwrite a file that is being read.
var ErrIsInput = errors.New("the output is one of the inputs")

// ErrAbandoned says that the program is being stopped: nothing may be written any more.
var ErrAbandoned = errors.New("interrupted")

// Set knows the outputs that are being written, so that a program that is
// stopped can remove them. The zero value is ready for use, by several
// goroutines at once.
type Set struct {
	mu        sync.Mutex
	open      map[*File]bool
	abandoned bool
}

// Process is the set of those who are given none. A program that is stopped abandons
// it too.
var Process Set

// File is an output that is being written.
type File struct {
	file *os.File
	set  *Set
	path string // final place
	temp string // where it is until then; "" if it is written in place
}

// Create begins an output at path. It refuses a path that is one of inputs,
// whatever name it has there; inputs that do not exist are passed over.
func (s *Set) Create(path string, inputs ...string) (*File, error) {
	st, err := os.Stat(path)
	switch {
	case err == nil:
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(st, other) {
				return nil, fmt.Errorf("%w: %s; choose another path with -o", ErrIsInput, path)
			}
		}
		if st.IsDir() {
			return nil, fmt.Errorf("the output %s is a directory, expected a file path", path)
		}
		if !st.Mode().IsRegular() || isDescriptor(path) {
			return s.inPlace(path)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, createError(path, err)
	}
	return s.beside(path)
}

// isDescriptor reports whether path names an open file of the process rather
// than a place in a directory.
func isDescriptor(path string) bool {
	path = filepath.Clean(path)
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

func (s *Set) inPlace(path string) (*File, error) {
	// Outside the lock: a pipe opens only when somebody reads it.
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	return &File{file: f, path: path}, nil
}

// beside begins a file in the directory of path, where a rename is one step.
func (s *Set) beside(path string) (*File, error) {
	place, err := followLinks(path)
	if err != nil {
		return nil, createError(path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.abandoned {
		return nil, ErrAbandoned
	}
	f, err := createTemp(place)
	if err != nil {
		return nil, createError(path, err)
	}
	out := &File{file: f, set: s, path: place, temp: f.Name()}
	if s.open == nil {
		s.open = map[*File]bool{}
	}
	s.open[out] = true
	return out, nil
}

func createError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the output directory %s does not exist; create it, or choose another path with -o", filepath.Dir(path))
	}
	return fmt.Errorf("cannot write %s: %w; choose another path with -o", path, cause(err))
}

// followLinks returns the file that a chain of symbolic links ends at, whether
// it exists or not: renaming over a link would replace the link.
func followLinks(path string) (string, error) {
	for range 40 {
		// Not by text: ".." behind a link starts from where the link leads.
		dir, base := filepath.Split(path)
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link; what else is wrong with it shows when it is written
		}
		if !filepath.IsAbs(to) {
			to = dir + string(filepath.Separator) + to
		}
		path = to
	}
	return "", errors.New("too many levels of symbolic links")
}

// createTemp makes a new hidden file beside place. Unlike os.CreateTemp it
// leaves the permissions to the user's umask, as for any file a program makes.
func createTemp(place string) (*os.File, error) {
	base := filepath.Base(place)
	base = base[:min(len(base), 200)] // names end at 255 bytes
	for {
		name := filepath.Join(filepath.Dir(place), "."+base+"."+strconv.FormatUint(uint64(rand.Uint32()), 36)+".tmp")
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Write adds to the output. Like Commit it reports errors without a path: the
// one it writes to is not the one the user knows.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	return n, causeOf(err)
}

// Commit completes the output and puts it in its place.
func (f *File) Commit() error {
	if f.temp == "" {
		return causeOf(f.file.Close())
	}
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	if f.set.abandoned {
		return ErrAbandoned
	}
	delete(f.set.open, f)
	var err error
	if st, serr := os.Stat(f.path); serr == nil {
		err = f.file.Chmod(st.Mode().Perm())
	}
	if cerr := f.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.temp, f.path)
	}
	if err != nil {
		os.Remove(f.temp)
	}
	return causeOf(err)
}

// Discard removes an output that was not committed. After Commit it does nothing.
func (f *File) Discard() {
	if f.temp == "" {
		f.file.Close()
		return
	}
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	f.remove()
}

// remove needs the lock of the set.
func (f *File) remove() {
	if f.set.open[f] {
		delete(f.set.open, f)
		f.file.Close()
		os.Remove(f.temp)
	}
}

// Abandon removes all outputs that are not committed. None can be created or
// committed after it, so that it may be called while others write.
func (s *Set) Abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned = true
	for f := range s.open {
		f.remove()
	}
}

// cause is what went wrong without the operation and the path, which the
// caller names in the user's words.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

func causeOf(err error) error {
	if err == nil {
		return nil
	}
	return cause(err)
}
