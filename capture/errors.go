package capture

import (
	"errors"
	"fmt"
	"strings"

	"swimlane/internal/infile"
	"swimlane/internal/jsonscan"
)

// The classes of failure an *Error wraps.
var (
	// ErrSyntax: the file is not the JSON this package reads (cut off, malformed, too deep, …).
	ErrSyntax = errors.New("not readable as JSON")
	// ErrInvalid: the JSON is fine, what it says breaks a rule of the format.
	ErrInvalid = errors.New("invalid capture")
	// ErrChanged: the file was written to while it was read.
	ErrChanged = errors.New("changed while it was read")
	// ErrUnsupported: a form of capture that this reader does not know.
	ErrUnsupported = errors.New("unsupported capture")
)

// Error says why a file was refused.
type Error struct {
	File    string // as the caller named it
	Section string // top-level key, "" for the file as a whole
	Row     int    // index in the section, −1 if the section as a whole is meant
	Text    string // the rule that was broken, in the words of the format
	Found   string // what stands in the file instead, with its place
	Hint    string // what to do, if there is something to do
	Class   error  // one of the Err values above
	cause   error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Text)
	var where []string
	if e.Found != "" {
		where = append(where, "found "+e.Found)
	}
	if !strings.HasPrefix(e.Text, e.File+": ") && !strings.HasPrefix(e.Text, cannotRead+e.File+": ") {
		where = append(where, "in "+e.File)
	}
	if len(where) > 0 {
		b.WriteString(" (" + strings.Join(where, ", ") + ")")
	}
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap gives the class and, where there is one, the cause.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Class, e.cause}
	}
	return []error{e.Class}
}

// Warning is something odd that did not stop the reader.
type Warning struct {
	Code  string // stable short name, for counting
	Count int64
	Text  string // one sentence in plain words
}

const cannotRead = "cannot read "

// syntaxError turns what the scanner said into an *Error.
func (d *reader) syntaxError(err error) error {
	return syntaxError(d.file, d.where, err)
}

// cutHint says what to do with a file that ends too early.
func cutHint(at *jsonscan.Error) string {
	if strings.Contains(at.Msg, "incomplete") {
		return "the writer was interrupted or the file is still being written; capture again"
	}
	return ""
}

func syntaxError(file string, where place, err error) error {
	var at *jsonscan.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("cannot read %s: %w%s", file, err, infile.PackedHint(err))
	}
	text := cannotRead + file + ": " + at.Error()
	if in := where.String(); in != "" {
		text += " (" + in + ")"
	}
	return &Error{File: file, Section: where.section, Row: where.row, Text: text, Hint: cutHint(at), Class: ErrSyntax, cause: err}
}
