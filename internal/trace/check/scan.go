package check

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	// windowSize is how much of the file is looked at at a time. The window
	// grows only when a single token is longer.
	windowSize = 1 << 16
	// longestToken bounds the window.
	longestToken = 64 << 20
	// maxDepth is how deep arrays and objects may nest in a file.
	maxDepth = 64
)

// A kind is what a JSON value is.
type kind uint8

const (
	kindNone kind = iota
	kindString
	kindNumber
	kindBool
	kindNull
	kindObject
	kindArray
)

// An escapes tells what escapes a string holds.
type escapes uint8

const (
	escAny       escapes = 1 << iota // some escape at all
	escNul                           // \u0000
	escSurrogate                     // \ud800 to \udfff
)

// A value is one JSON value. raw and num.raw point into the window: they are
// good until the next token is read.
type value struct {
	kind kind
	esc  escapes
	yes  bool   // the value of a bool
	raw  []byte // a string without its quotes
	num  number
}

// A tally counts what the viewer treats specially inside a value.
type tally struct {
	nulls, bigs int64 // null, and integers that do not fit into int64
	esc         escapes
}

// A scanner reads strict JSON from a stream. Its first error sticks.
type scanner struct {
	r              io.Reader
	buf            []byte
	pos, end, mark int   // bytes before mark may be forgotten
	base           int64 // offset in the stream of buf[0]
	eof            bool
	depth          int
	surrogateAt    int64 // where the first surrogate escape stands
	cut            bool  // err is: the input ended too early
	err            error
	text, key      []byte // scratch
}

func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fail records an error at the present byte and returns false.
func (s *scanner) fail(format string, args ...any) bool {
	if s.err == nil {
		s.err = fmt.Errorf("byte %d: %s", s.offset(), fmt.Sprintf(format, args...))
	}
	return false
}

// unexpected records that something other than want stands here.
func (s *scanner) unexpected(want string) bool {
	if s.err != nil {
		return false
	}
	if s.pos < s.end {
		return s.fail("not JSON: found %q, want %s", s.buf[s.pos], want)
	}
	s.cut = true
	return s.fail("the file ends where %s should stand", want)
}

// fill reads more, keeping what stands from mark on. It returns false at the
// end of the input. Indexes into buf move; pos, end and mark move with them.
func (s *scanner) fill() bool {
	if s.eof || s.err != nil {
		return false
	}
	if s.mark > 0 {
		copy(s.buf, s.buf[s.mark:s.end])
		s.base += int64(s.mark)
		s.pos -= s.mark
		s.end -= s.mark
		s.mark = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= longestToken {
			return s.fail("found a single value longer than %d MiB", longestToken>>20)
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.err = fmt.Errorf("byte %d: %w", s.base+int64(s.end), err)
				return false
			}
		}
		if n > 0 || s.eof {
			return n > 0
		}
	}
	s.eof = true
	s.err = fmt.Errorf("byte %d: %w", s.base+int64(s.end), io.ErrNoProgress)
	return false
}

// peek skips blanks and returns the byte that follows, 0 at the end.
func (s *scanner) peek() byte {
	for {
		for s.pos < s.end {
			c := s.buf[s.pos]
			if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				return c
			}
			s.pos++
		}
		s.mark = s.pos
		if !s.fill() {
			return 0
		}
	}
}

// enter consumes the bracket that peek has just returned.
func (s *scanner) enter() bool {
	if s.depth >= maxDepth {
		return s.fail("nested deeper than %d", maxDepth)
	}
	s.depth++
	s.pos++
	return true
}

func (s *scanner) leave() {
	s.depth--
	s.pos++
}

// member reads the comma, key and colon before the nth member of an object.
// It returns false at the closing brace, which it consumes, or on an error.
// The key is good until the next token is read.
func (s *scanner) member(n int) ([]byte, bool) {
	c := s.peek()
	if c == '}' {
		s.leave()
		return nil, false
	}
	if n > 0 {
		if c != ',' {
			return nil, s.unexpected("',' or '}'")
		}
		s.pos++
		c = s.peek()
	}
	if c != '"' {
		return nil, s.unexpected("a key")
	}
	key, esc, ok := s.str()
	if !ok {
		return nil, false
	}
	if esc != 0 {
		key = s.unescape(key)
	}
	if s.pos < s.end && s.buf[s.pos] == ':' {
		s.pos++
		return key, true
	}
	// Looking for the colon may move the window away under the key.
	s.key = append(s.key[:0], key...)
	if s.peek() != ':' {
		return nil, s.unexpected("':'")
	}
	s.pos++
	return s.key, true
}

// element reads the comma before the nth element of an array. It returns
// false at the closing bracket, which it consumes, or on an error.
func (s *scanner) element(n int) bool {
	c := s.peek()
	if c == ']' {
		s.leave()
		return false
	}
	if n > 0 {
		if c != ',' {
			return s.unexpected("',' or ']'")
		}
		s.pos++
	}
	return true
}

// value reads one value of any kind; arrays and objects are read over. What
// the viewer treats specially is added to t.
func (s *scanner) value(t *tally) (v value, ok bool) {
	c := s.peek()
	switch {
	case c == '"':
		v.kind = kindString
		v.raw, v.esc, ok = s.str()
		t.esc |= v.esc
		return v, ok
	case c == '-' || '0' <= c && c <= '9':
		return s.numeral(t)
	case c == '{':
		v.kind = kindObject
		return v, s.enter() && s.passObject(t)
	case c == '[':
		v.kind = kindArray
		return v, s.enter() && s.passArray(t)
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return s.word(t)
	}
	return v, s.unexpected("a value")
}

func (s *scanner) passObject(t *tally) bool {
	for n := 0; ; n++ {
		if _, ok := s.member(n); !ok {
			return s.err == nil
		}
		if _, ok := s.value(t); !ok {
			return false
		}
	}
}

func (s *scanner) passArray(t *tally) bool {
	for n := 0; s.element(n); n++ {
		if _, ok := s.value(t); !ok {
			return false
		}
	}
	return s.err == nil
}

// numeral reads a number.
func (s *scanner) numeral(t *tally) (v value, ok bool) {
	s.mark = s.pos
	for {
		for s.pos < s.end && numeric[s.buf[s.pos]] {
			s.pos++
		}
		if s.pos < s.end || !s.fill() {
			break
		}
	}
	if s.err != nil {
		return v, false
	}
	raw := s.buf[s.mark:s.pos]
	if s.pos < s.end && s.buf[s.pos] == 'I' && string(raw) == "-" {
		return s.letters(t) // -Infinity
	}
	v.kind = kindNumber
	v.num, ok = parseNumber(raw)
	if !ok {
		if s.pos == s.end {
			s.cut = true // perhaps only its tail is missing
		}
		s.pos = s.mark
		return v, s.fail("not JSON: bad number %q", short(raw))
	}
	if v.num.integer {
		if _, fits := v.num.int64(); !fits {
			t.bigs++
		}
	}
	return v, true
}

// word reads true, false or null, and knows the words that are no JSON but
// that other tools write for numbers.
func (s *scanner) word(t *tally) (v value, ok bool) {
	s.mark = s.pos
	return s.letters(t)
}

// letters goes on with a word that begins at mark.
func (s *scanner) letters(t *tally) (v value, ok bool) {
	atEnd := false
	for s.pos-s.mark < 16 {
		if s.pos == s.end && !s.fill() {
			atEnd = true
			break
		}
		c := s.buf[s.pos] | 0x20
		if c < 'a' || c > 'z' {
			break
		}
		s.pos++
	}
	if s.err != nil {
		return v, false
	}
	raw := s.buf[s.mark:s.pos]
	switch string(raw) {
	case "true", "false":
		v.kind, v.yes = kindBool, raw[0] == 't'
		return v, true
	case "null":
		v.kind = kindNull
		t.nulls++
		return v, true
	case "NaN", "nan", "Infinity", "inf", "Inf", "-Infinity", "-Inf":
		s.pos = s.mark
		// perfetto-facts §1 Strings.
		return v, s.fail("%s is no JSON number: the viewer refuses the whole file", raw)
	}
	s.cut = atEnd
	s.pos = s.mark
	return v, s.fail("not JSON: bad word %q", short(raw))
}

// str reads a string and returns what stands between the quotes, as written.
func (s *scanner) str() ([]byte, escapes, bool) {
	s.mark = s.pos
	s.pos++
	var esc escapes
	for {
		for s.pos < s.end && !special[s.buf[s.pos]] {
			s.pos++
		}
		if s.pos == s.end {
			if !s.fill() {
				return nil, 0, s.unexpected("the end of a string")
			}
			continue
		}
		switch s.buf[s.pos] {
		case '"':
			raw := s.buf[s.mark+1 : s.pos]
			s.pos++
			return raw, esc, true
		case '\\':
			e, ok := s.escape()
			if !ok {
				return nil, 0, false
			}
			esc |= e
		default:
			return nil, 0, s.fail("not JSON: control character %#02x in a string", s.buf[s.pos])
		}
	}
}

// escape reads over one escape sequence and says of which kind it is.
func (s *scanner) escape() (escapes, bool) {
	for s.end-s.pos < 6 && s.fill() {
		// The longest escape is six bytes.
	}
	if s.end-s.pos < 2 {
		s.pos = s.end
		return 0, s.unexpected("an escape")
	}
	switch s.buf[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return escAny, true
	case 'u':
	default:
		return 0, s.fail("not JSON: bad escape \\%c", s.buf[s.pos+1])
	}
	if s.end-s.pos < 6 {
		s.pos = s.end
		return 0, s.unexpected("four hex digits")
	}
	u, ok := hex4(s.buf[s.pos+2 : s.pos+6])
	if !ok {
		return 0, s.fail("not JSON: bad escape %q", s.buf[s.pos:s.pos+6])
	}
	esc := escAny
	switch {
	case u == 0:
		esc |= escNul
	case u&0xf800 == 0xd800:
		esc |= escSurrogate
		if s.surrogateAt < 0 {
			s.surrogateAt = s.offset()
		}
	}
	s.pos += 6
	return esc, true
}

// decode makes v.raw the text of a string.
func (s *scanner) decode(v *value) {
	if v.esc != 0 {
		v.raw = s.unescape(v.raw)
	}
}

// unescape returns the text of a string that str has accepted, up to its
// first \u0000. The result is good until the next call.
func (s *scanner) unescape(raw []byte) []byte {
	out := s.text[:0]
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch c = raw[i]; c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			u, _ := hex4(raw[i+1 : i+5])
			i += 4
			if u == 0 {
				s.text = out
				return out
			}
			out = utf8.AppendRune(out, rune(u))
			continue
		}
		out = append(out, c)
	}
	s.text = out
	return out
}

func hex4(b []byte) (uint32, bool) {
	var u uint32
	for _, c := range b {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		u = u<<4 | uint32(d)
	}
	return u, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// short cuts what is quoted in an error or example.
func short(b []byte) string {
	const most = 60
	if len(b) <= most {
		return string(b)
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "..."
}

// special marks the bytes that end the plain part of a string, numeric those
// that can stand in a number.
var special, numeric = func() (special, numeric [256]bool) {
	for c := range 0x20 {
		special[c] = true
	}
	special['"'], special['\\'] = true, true
	for _, c := range []byte("0123456789+-.eE") {
		numeric[c] = true
	}
	return special, numeric
}()
