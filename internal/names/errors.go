package names

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"swimlane/internal/infile"
	"swimlane/internal/jsonscan"
)

// What errors.Is finds in the errors of this package. A file that is not there
// is fs.ErrNotExist.
var (
	// ErrSyntax is every refusal of a file's content; the error is a *SyntaxError.
	ErrSyntax = errors.New("malformed file")
	// ErrTooLarge is a file above the size limit.
	ErrTooLarge = errors.New("file too large")
	// ErrChanged is a file that was written to while it was read.
	ErrChanged = errors.New("changed while it was read")
	// ErrNoKernels is a kernel configuration without a list named KERNELS, and
	// without a class that has a CALLABLE.
	ErrNoKernels = errors.New("kernel_config.py missing KERNELS definition")
)

// maxFileSize is far above any map a program has names for, and far below what
// would hurt to hold in memory.
const maxFileSize = 64 << 20

// maxDepth is the nesting that spec/records.md §9 no. 15 allows in any input.
const maxDepth = jsonscan.MaxDepth

// A SyntaxError says what is wrong in a file and where.
type SyntaxError struct {
	Path   string
	Line   int // from 1
	Column int // from 1, in bytes
	Offset int // in bytes, from 0
	Msg    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d (byte %d): %s", e.Path, e.Line, e.Column, e.Offset, e.Msg)
}

// Unwrap makes every SyntaxError an ErrSyntax.
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

func syntaxError(path string, data []byte, offset int, format string, args ...any) error {
	line, column := position(data, offset)
	return &SyntaxError{Path: path, Line: line, Column: column, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// scanError makes the error of a scanner one that names the file. What the reader
// behind the scanner returned stays as it is.
func scanError(path string, err error) error {
	var at *jsonscan.Error
	if !errors.As(err, &at) {
		return err
	}
	return &SyntaxError{Path: path, Line: int(at.Line), Column: int(at.Column), Offset: int(at.Offset), Msg: at.Msg}
}

// position finds line and column of a byte in a Python file. It walks the file, so it is for the
// one place an error or a warning names, not for every token.
func position(data []byte, offset int) (line, column int) {
	line = 1
	start := len(byteOrderMark(data))
	for i := start; i < offset; i++ {
		if data[i] == '\n' || data[i] == '\r' && (i+1 >= len(data) || data[i+1] != '\n') {
			line, start = line+1, i+1
		}
	}
	if start > offset {
		start = offset
	}
	return line, offset - start + 1
}

const bom = "\xEF\xBB\xBF"

// byteOrderMark returns the UTF-8 byte order mark that data begins with, or nothing.
func byteOrderMark(data []byte) []byte {
	if len(data) >= len(bom) && string(data[:len(bom)]) == bom {
		return data[:len(bom)]
	}
	return nil
}

// notFound is an error with one of the fixed texts of spec/converter.md §8.2.
type notFound struct{ text string }

func (e *notFound) Error() string { return e.text }
func (e *notFound) Unwrap() error { return fs.ErrNotExist }

// readFile reads a whole file within the size limit. It also reads pipes, so that
// a shell's <(command) works. what names the file's role in errors, missing is the
// fixed text for a file that is not there.
func readFile(path, what, missing string) ([]byte, error) {
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &notFound{missing + ": " + path}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() && st.Size() > maxFileSize {
		return nil, tooLarge(path, what)
	}
	return f.content(what)
}

// file is an open file.
type file struct {
	*os.File
	state infile.State // before the first read
}

func openFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &file{f, infile.Now(f)}, nil
}

// changed refuses a file that is not any more what it was when it was opened.
func (f *file) changed() error {
	if how := f.state.Changed(); how != "" {
		return fmt.Errorf("%s %w (%s); %s", f.Name(), ErrChanged, how, infile.Hint)
	}
	return nil
}

// content reads the whole file.
func (f *file) content(what string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	if err := f.changed(); err != nil {
		return nil, err
	}
	if len(data) > maxFileSize {
		return nil, tooLarge(f.Name(), what)
	}
	return data, nil
}

func tooLarge(path, what string) error {
	return fmt.Errorf("%w: %s is above the 64 MiB a %s may have; check that it is the right file", ErrTooLarge, path, what)
}

// excerpt makes a piece of a file fit for a message: one line, no control
// characters, at most limit characters.
func excerpt(src []byte, limit int) string {
	var out []rune
	gap := false
	for i := 0; i < len(src) && len(out) <= limit; {
		r, n := utf8.DecodeRune(src[i:])
		i += n
		if unicode.IsSpace(r) {
			gap = len(out) > 0
			continue
		}
		if gap {
			out, gap = append(out, ' '), false
		}
		if unicode.IsPrint(r) {
			out = append(out, r)
		} else {
			out = append(out, []rune(strings.Trim(strconv.QuoteRune(r), "'"))...)
		}
	}
	if len(out) > limit {
		out = append(out[:limit-3], '.', '.', '.')
	}
	return string(out)
}

// quote shows a name or a key in a message, cut to a readable length.
func quote(s string) string {
	n := 0
	for i := range s {
		if n == 60 {
			return strconv.Quote(s[:i] + "...")
		}
		n++
	}
	return strconv.Quote(s)
}
