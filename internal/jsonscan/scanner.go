// Package jsonscan reads JSON text strictly and in one pass.
//
// It is made for files that hold millions of short numeric rows: the caller
// walks the document with Key, Elem and the typed readers, nothing is built
// that the caller did not ask for, and memory is one window over the input
// whatever the size of the file.
//
// Strict means (spec/records.md §9 no. 15): no nesting deeper than the limit,
// no duplicate keys in one object, no byte order mark, no NaN or Infinity, no
// invalid UTF-8, no control characters in strings, nothing but white space
// behind the value. Integers are exact over the full 64-bit range and never
// pass through a float.
//
// The first failure sticks: every later call returns zero values, loops over
// Key and Elem end, and Err tells what was found where. A caller can therefore
// read a whole section and ask for the error once.
package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxDepth is the deepest nesting that is read; deeper input is refused.
const MaxDepth = 64

const (
	initialWindow = 256 << 10
	// maxToken bounds one string or number. The window only grows with bytes
	// that are really there, so a short file can never make it large.
	maxToken = 64 << 20
)

// Error is a failure at a place in the input.
type Error struct {
	Offset int64 // bytes before the place
	Line   int64 // counted from 1
	Column int64 // in bytes, counted from 1
	Msg    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d column %d (byte %d): %s", e.Line, e.Column, e.Offset, e.Msg)
}

// Kind is the kind of the next value.
type Kind byte

// The kinds of a JSON value. None means that there is no value, as after an error.
const (
	None Kind = iota
	Object
	Array
	String
	Number
	True
	False
	Null
)

func (k Kind) String() string {
	switch k {
	case Object:
		return "an object"
	case Array:
		return "an array"
	case String:
		return "a string"
	case Number:
		return "a number"
	case True:
		return "true"
	case False:
		return "false"
	case Null:
		return "null"
	}
	return "nothing"
}

// frame is one open object or array.
type frame struct {
	first bool // no element was read yet
	keys  keyTable
}

// Scanner walks one JSON value. It is not safe for concurrent use.
type Scanner struct {
	r       io.Reader
	buf     []byte
	pos     int // next byte
	end     int // bytes of buf that are filled
	off     int64
	lines   int64 // line feeds before buf[0]
	lineOff int64 // offset of the first byte of the line that buf[0] is in
	eof     bool
	depth   int
	frames  [MaxDepth]frame
	scratch []byte
	err     error
}

// New returns a scanner over r. The input must be one JSON value.
func New(r io.Reader) *Scanner {
	size := initialWindow
	if known, ok := r.(interface{ Len() int }); ok {
		size = min(size, max(known.Len()+1, 64)) // a short text in memory
	}
	return newSize(r, size)
}

func newSize(r io.Reader, window int) *Scanner {
	s := &Scanner{r: r, buf: make([]byte, window)}
	for s.end < 3 && s.fill() {
	}
	if bytes.HasPrefix(s.buf[:s.end], []byte("\xef\xbb\xbf")) {
		s.fail("found a byte order mark, expected a JSON value; save the file as UTF-8 without one")
	}
	return s
}

// Err returns the first failure: an *Error, or what the reader returned.
func (s *Scanner) Err() error { return s.err }

// Offset is the number of bytes before the next unread byte.
func (s *Scanner) Offset() int64 { return s.off + int64(s.pos) }

// Fail makes msg the error at the current place, unless one is set already.
func (s *Scanner) Fail(format string, args ...any) { s.fail(format, args...) }

// FailAt is Fail for a value that was just read and began at offset.
func (s *Scanner) FailAt(offset int64, format string, args ...any) {
	if s.err == nil && offset >= s.off && offset < s.Offset() {
		s.pos = int(offset - s.off)
	}
	s.fail(format, args...)
}

// ErrorAt returns an error for a place that was passed already. Only the offset is known there.
func (s *Scanner) ErrorAt(offset int64, format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", offset, fmt.Sprintf(format, args...))
}

func (s *Scanner) fail(format string, args ...any) {
	if s.err != nil {
		return
	}
	line := s.lines + int64(bytes.Count(s.buf[:s.pos], newline)) + 1
	start := s.lineOff
	if i := bytes.LastIndexByte(s.buf[:s.pos], '\n'); i >= 0 {
		start = s.off + int64(i) + 1
	}
	at := s.Offset()
	s.setErr(&Error{Offset: at, Line: line, Column: at - start + 1, Msg: fmt.Sprintf(format, args...)})
}

// setErr also empties the window, so that the hot paths need no test of their own.
func (s *Scanner) setErr(err error) {
	if s.err == nil {
		s.err = err
	}
	s.off += int64(s.pos)
	s.pos, s.end, s.eof = 0, 0, true
}

var newline = []byte{'\n'}

// fill brings more input behind the unread bytes. It reports whether any came.
func (s *Scanner) fill() bool {
	if s.eof {
		return false
	}
	if s.pos > 0 {
		used := s.buf[:s.pos]
		// Many files are one single line: looking backwards for its beginning would read everything twice.
		if n := bytes.Count(used, newline); n > 0 {
			s.lines += int64(n)
			s.lineOff = s.off + int64(bytes.LastIndexByte(used, '\n')) + 1
		}
		s.off += int64(s.pos)
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxToken {
			s.fail("found a single value longer than %d MiB", maxToken>>20)
			return false
		}
		grown := make([]byte, 2*len(s.buf))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	for empty := 0; ; empty++ {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.setErr(err)
				return false
			}
			return n > 0
		}
		if n > 0 {
			return true
		}
		if empty > 100 {
			s.setErr(io.ErrNoProgress)
			return false
		}
	}
}

// space skips white space and returns the next byte without taking it; 0 at the end of the input.
func (s *Scanner) space() byte {
	if s.pos < s.end && s.buf[s.pos] > ' ' {
		return s.buf[s.pos]
	}
	return s.spaceSlow()
}

func (s *Scanner) spaceSlow() byte {
	for {
		for i := s.pos; i < s.end; i++ {
			c := s.buf[i]
			if c > ' ' {
				s.pos = i
				return c
			}
			if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				s.pos = i
				if c == 0 {
					s.fail("found a zero byte, expected JSON text")
				}
				return c
			}
		}
		s.pos = s.end
		if !s.fill() {
			return 0
		}
	}
}

// Peek returns the kind of the next value without taking it.
func (s *Scanner) Peek() Kind {
	switch c := s.space(); c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	default:
		s.unexpected(c, "a value")
		return None
	}
}

func (s *Scanner) unexpected(c byte, expected string) {
	if s.err != nil {
		return
	}
	switch {
	case c == 0 && s.pos >= s.end:
		s.fail("found the end of the file, expected %s; the file is incomplete", expected)
	case c == 'N' || c == 'I':
		s.fail("found %s, expected %s; NaN and Infinity are not JSON", quote(s.ahead()), expected)
	default:
		s.fail("found %s, expected %s", quote(s.ahead()), expected)
	}
}

// incomplete is the end of a message about a value that the end of the file cuts.
func incomplete(cut bool) string {
	if cut {
		return "; the file is incomplete"
	}
	return ""
}

const quoted = 16 // bytes shown by quote

// ahead returns what comes next, as much as a message quotes, wherever the window ends.
func (s *Scanner) ahead() []byte {
	for s.end-s.pos < quoted && s.fill() {
	}
	return s.buf[s.pos:s.end]
}

// quote shows the beginning of b, cut at the first byte that ends a word.
func quote(b []byte) string {
	n := 0
	for n < len(b) && n < quoted && b[n] > ' ' && b[n] < 0x7f && b[n] != ',' && b[n] != ']' && b[n] != '}' {
		n++
	}
	if n == 0 {
		n = min(1, len(b))
	}
	return fmt.Sprintf("%q", b[:n])
}

// clip shortens text for a message.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }

// begin takes an opening bracket.
func (s *Scanner) begin(open byte, expected string) bool {
	if c := s.space(); c != open {
		s.unexpected(c, expected)
		return false
	}
	if s.depth >= MaxDepth {
		s.fail("found nesting deeper than %d", MaxDepth)
		return false
	}
	s.pos++
	f := &s.frames[s.depth]
	f.first = true
	if open == '{' {
		f.keys.open()
	}
	s.depth++
	return true
}

// BeginObject takes the opening brace. Follow it with calls of Key until that returns false.
func (s *Scanner) BeginObject() bool { return s.begin('{', "an object") }

// BeginArray takes the opening bracket. Follow it with calls of Elem until that returns false.
func (s *Scanner) BeginArray() bool { return s.begin('[', "an array") }

// Key takes the next key of the open object, with its colon. At the closing
// brace, which it takes, and after an error it returns false. The bytes are
// valid until the next call and must not be changed.
func (s *Scanner) Key() ([]byte, bool) {
	if s.err != nil {
		return nil, false
	}
	f := &s.frames[s.depth-1]
	c := s.space()
	if c == '}' {
		s.pos++
		s.depth--
		return nil, false
	}
	if !f.first {
		if c != ',' {
			s.unexpected(c, "',' or '}'")
			return nil, false
		}
		s.pos++
		c = s.space()
	}
	f.first = false
	if c != '"' {
		s.unexpected(c, "a key in double quotes")
		return nil, false
	}
	i := f.keys.match(s.buf[s.pos+1 : s.end])
	if i < 0 {
		return s.newKey(&f.keys)
	}
	key := f.keys.names[i]
	if f.keys.use(i) {
		s.fail("found the key %q twice in one object", clip(key))
		return nil, false
	}
	s.pos += len(key) + 2
	return key, s.colon()
}

// newKey takes a key that is not the expected one.
func (s *Scanner) newKey(t *keyTable) ([]byte, bool) {
	at := s.Offset()
	key, plain := s.str()
	if s.err != nil {
		return nil, false
	}
	if t.add(key, plain) {
		s.FailAt(at, "found the key %q twice in one object", clip(key))
		return nil, false
	}
	// The colon may lie behind the window; the key must survive that.
	s.scratch = append(s.scratch[:0], key...)
	return s.scratch, s.colon()
}

func (s *Scanner) colon() bool {
	c := s.space()
	if c != ':' {
		s.unexpected(c, "':' behind a key")
		return false
	}
	s.pos++
	return true
}

// Elem reports whether the open array has another element, which is next to
// be read. At the closing bracket, which it takes, it returns false.
func (s *Scanner) Elem() bool {
	if s.err != nil {
		return false
	}
	f := &s.frames[s.depth-1]
	c := s.space()
	if c == ']' {
		s.pos++
		s.depth--
		return false
	}
	if !f.first {
		if c != ',' {
			s.unexpected(c, "',' or ']'")
			return false
		}
		s.pos++
		if c = s.space(); c == ']' {
			s.unexpected(c, "a value behind the comma")
			return false
		}
	}
	f.first = false
	if c == 0 {
		s.unexpected(c, "a value or ']'")
		return false
	}
	return true
}

// End checks that nothing but white space is left and returns the first error of the whole walk.
func (s *Scanner) End() error {
	if s.err == nil {
		if c := s.space(); c != 0 && s.err == nil {
			s.fail("found %s behind the JSON value, expected the end of the file", quote(s.ahead()))
		}
	}
	return s.err
}
