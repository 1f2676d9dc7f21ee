package names

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonReader reads one JSON document strictly. encoding/json is not used because
// it lets through what spec/records.md §9 no. 15 refuses: it keeps the last of two
// equal keys, replaces bad UTF-8 and lone surrogates by U+FFFD, and nests 10,000
// deep.
type jsonReader struct {
	path  string
	data  []byte
	pos   int
	depth int
}

func (r *jsonReader) fail(offset int, format string, args ...any) error {
	return syntaxError(r.path, r.data, offset, format, args...)
}

// document reads a file that is exactly one value, which value reads.
func (r *jsonReader) document(value func() error) error {
	if len(byteOrderMark(r.data)) > 0 {
		return r.fail(0, "found a byte order mark; save the file as UTF-8 without one")
	}
	if r.space(); r.pos == len(r.data) {
		return r.fail(r.pos, "the file is empty; expected a JSON value")
	}
	if err := value(); err != nil {
		return err
	}
	if r.space(); r.pos < len(r.data) {
		return r.fail(r.pos, "found %s after the end of the JSON value; expected the end of the file", r.found())
	}
	return nil
}

// space skips white space.
func (r *jsonReader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// peek skips white space and returns the byte after it, 0 at the end of the file.
// A NUL byte in the file also reads as 0, which no value begins with.
func (r *jsonReader) peek() byte {
	if r.space(); r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

// found describes what stands at the position, for the "found" of an error.
func (r *jsonReader) found() string {
	switch c := r.peek(); {
	case r.pos == len(r.data):
		return "the end of the file"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case r.atNumber():
		rest := r.data[r.pos:min(len(r.data), r.pos+40)]
		n := 0
		for n < len(rest) && strings.IndexByte("+-.0123456789eE", rest[n]) >= 0 {
			n++
		}
		return "the number " + string(rest[:n])
	}
	if w := r.word(); w != "" {
		return w
	}
	c, size := utf8.DecodeRune(r.data[r.pos:])
	if c == utf8.RuneError && size == 1 {
		return "byte 0x" + strconv.FormatUint(uint64(r.data[r.pos]), 16) + " (not UTF-8)"
	}
	return strconv.QuoteRune(c)
}

// word returns the letters at the position, such as true, NaN or -Infinity.
func (r *jsonReader) word() string {
	end := r.pos
	if end < len(r.data) && r.data[end] == '-' {
		end++
	}
	for end < len(r.data) && end-r.pos < 20 && isLetter(r.data[end]) {
		end++
	}
	return string(r.data[r.pos:end])
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// enter goes one level deeper.
func (r *jsonReader) enter() error {
	if r.depth == maxDepth {
		return r.fail(r.pos, "nested deeper than %d levels", maxDepth)
	}
	r.depth++
	r.pos++
	return nil
}

// object reads an object. visit gets each key with its offset and must read the
// value.
func (r *jsonReader) object(visit func(key string, at int) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	seen := map[string]struct{}{}
	for first := true; ; first = false {
		c := r.peek()
		if first && c == '}' {
			break
		}
		if c != '"' {
			if c == '}' {
				return r.fail(r.pos, "found a comma before the closing '}'; remove the comma")
			}
			return r.fail(r.pos, "found %s; expected a key in double quotes", r.found())
		}
		at := r.pos
		key, err := r.str()
		if err != nil {
			return err
		}
		if _, ok := seen[key]; ok {
			return r.fail(at, "found the key %s a second time in one object; remove one of the two", quote(key))
		}
		seen[key] = struct{}{}
		if r.peek() != ':' {
			return r.fail(r.pos, "found %s after the key %s; expected ':'", r.found(), quote(key))
		}
		r.pos++
		if err := visit(key, at); err != nil {
			return err
		}
		if c := r.peek(); c == '}' {
			break
		} else if c != ',' {
			return r.fail(r.pos, "found %s after a value; expected ',' or '}'", r.found())
		}
		r.pos++
	}
	r.pos++
	r.depth--
	return nil
}

// array reads an array. visit must read one value.
func (r *jsonReader) array(visit func() error) error {
	if err := r.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		if c := r.peek(); c == ']' {
			if first {
				break
			}
			return r.fail(r.pos, "found a comma before the closing ']'; remove the comma")
		}
		if err := visit(); err != nil {
			return err
		}
		if c := r.peek(); c == ']' {
			break
		} else if c != ',' {
			return r.fail(r.pos, "found %s after a value; expected ',' or ']'", r.found())
		}
		r.pos++
	}
	r.pos++
	r.depth--
	return nil
}

// skip reads a value of any kind that nobody wants, as strictly as the others.
func (r *jsonReader) skip() error {
	switch c := r.peek(); {
	case c == '{':
		return r.object(func(string, int) error { return r.skip() })
	case c == '[':
		return r.array(r.skip)
	case c == '"':
		_, err := r.str()
		return err
	case r.atNumber():
		_, err := r.number()
		return err
	}
	switch w := r.word(); w {
	case "true", "false", "null":
		r.pos += len(w)
		return nil
	case "NaN", "-NaN", "Infinity", "-Infinity", "nan", "inf", "-inf":
		return r.fail(r.pos, "found %s, which JSON does not have; expected a value", w)
	}
	return r.fail(r.pos, "found %s; expected a value", r.found())
}

// null reads a null if one is next.
func (r *jsonReader) null() bool {
	if r.peek() == 'n' && r.word() == "null" {
		r.pos += len("null")
		return true
	}
	return false
}

func (r *jsonReader) atNumber() bool {
	c := r.peek()
	return isDigit(c) || c == '-' && !(r.pos+1 < len(r.data) && isLetter(r.data[r.pos+1]))
}

// number reads a number and returns its text.
func (r *jsonReader) number() (string, error) {
	start := r.pos
	digits := func() int {
		from := r.pos
		for r.pos < len(r.data) && isDigit(r.data[r.pos]) {
			r.pos++
		}
		return r.pos - from
	}
	at := func(set string) bool {
		return r.pos < len(r.data) && strings.IndexByte(set, r.data[r.pos]) >= 0
	}
	bad := func() error { return r.fail(start, "found a malformed number; expected one such as 12 or -0.5e3") }

	if at("-") {
		r.pos++
	}
	leadingZero := at("0")
	if n := digits(); n == 0 || n > 1 && leadingZero {
		return "", bad()
	}
	if at(".") {
		r.pos++
		if digits() == 0 {
			return "", bad()
		}
	}
	if at("eE") {
		r.pos++
		if at("+-") {
			r.pos++
		}
		if digits() == 0 {
			return "", bad()
		}
	}
	return string(r.data[start:r.pos]), nil
}

// str reads a string. The characters come out unchanged; what could not be written
// again as UTF-8 is refused.
func (r *jsonReader) str() (string, error) {
	open := r.pos
	r.pos++
	start := r.pos // of the piece not yet in buf
	var buf []byte
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		switch {
		case c == '"':
			piece := r.data[start:r.pos]
			r.pos++
			if buf == nil {
				return string(piece), nil
			}
			return string(append(buf, piece...)), nil
		case c == '\\':
			buf = append(buf, r.data[start:r.pos]...)
			char, err := r.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, char)
			start = r.pos
		case c < 0x20:
			return "", r.fail(r.pos, "found the control character %s inside a string; expected an escape such as \\n, or the closing '\"'", strconv.QuoteRune(rune(c)))
		case c < utf8.RuneSelf:
			r.pos++
		default:
			char, size := utf8.DecodeRune(r.data[r.pos:])
			if char == utf8.RuneError && size == 1 {
				return "", r.fail(r.pos, "found byte 0x%02x inside a string, which is not valid UTF-8; save the file as UTF-8", c)
			}
			r.pos += size
		}
	}
	return "", r.fail(open, "the string that begins here is not closed; the file may be cut off")
}

// escape reads one escape, both halves of a surrogate pair together.
func (r *jsonReader) escape() (rune, error) {
	at := r.pos
	r.pos++
	if r.pos == len(r.data) {
		return 0, r.fail(at, "the file ends inside an escape")
	}
	c := r.data[r.pos]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		r.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, r.fail(at, "found an unknown escape; expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
	}
	r.pos++
	first, ok := r.hex4()
	if !ok {
		return 0, r.fail(at, "found a \\u escape without four hexadecimal digits")
	}
	if !utf16.IsSurrogate(first) {
		return first, nil
	}
	if r.pos+1 < len(r.data) && r.data[r.pos] == '\\' && r.data[r.pos+1] == 'u' {
		r.pos += 2
		if second, ok := r.hex4(); ok {
			if char := utf16.DecodeRune(first, second); char != utf8.RuneError {
				return char, nil
			}
		}
	}
	return 0, r.fail(at, "found half of a surrogate pair (\\u%04x) without the other half; it stands for no character", first)
}

func (r *jsonReader) hex4() (rune, bool) {
	if len(r.data)-r.pos < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(r.data[r.pos:r.pos+4]), 16, 16)
	if err != nil {
		return 0, false
	}
	r.pos += 4
	return rune(v), true
}
