package hostlog

import (
	"strings"
	"unicode/utf8"
)

// The limits of the writer, in bytes of encoded text.
const (
	maxName   = 64
	maxAttrs  = 192
	maxRecord = 512 // with its end of line
)

const hexDigits = "0123456789ABCDEF"

// plain are the bytes that attribute text may hold as they are.
func plain(c byte) bool {
	return c >= 0x20 && c <= 0x7E && c != '%' && c != '[' && c != ']'
}

// plainName are the bytes that a name may hold as they are.
func plainName(c byte) bool { return plain(c) && c != ' ' && c != '=' }

// plainValue are the bytes that a value may hold as they are. A blank would end
// it. A colon would not, but is encoded in the values of other writers.
func plainValue(c byte) bool { return plain(c) && c != ' ' && c != ':' }

// field collects encoded text up to a limit. What does not fit ends it, and no
// %XX is ever cut.
type field struct {
	b     []byte
	start int // of the field in b
	limit int // of its length
	room  int // length of b up to which the field can be cut with a ~ behind it
	cut   bool
}

func newField(b []byte, limit int) field {
	return field{b: b, start: len(b), limit: limit, room: len(b)}
}

// add appends text, encoding each byte that is not plain.
func (f *field) add(text string, plain func(byte) bool) {
	for i := 0; i < len(text) && !f.cut; i++ {
		c := text[i]
		size := 1
		if !plain(c) {
			size = 3
		}
		if len(f.b)-f.start+size > f.limit {
			f.cut = true
			f.b = f.b[:f.room]
			if f.limit > 0 {
				f.b = append(f.b, '~')
			}
			return
		}
		if size == 1 {
			f.b = append(f.b, c)
		} else {
			f.b = append(f.b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
		if len(f.b)-f.start < f.limit {
			f.room = len(f.b)
		}
	}
}

// decode replaces each % with two hex digits by the byte that they are. If the
// bytes are then no UTF-8, each stands for a character of Latin-1.
func decode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	if out := decodeBy(text, func(b []byte, c byte) []byte { return append(b, c) }); utf8.Valid(out) {
		return string(out)
	}
	return string(decodeBy(text, func(b []byte, c byte) []byte { return utf8.AppendRune(b, rune(c)) }))
}

func decodeBy(text string, add func([]byte, byte) []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := unhex(text[i+1]), unhex(text[i+2])
			if high >= 0 && low >= 0 {
				out = add(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// unhex is the value of a hex digit of either case, −1 for another byte.
func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// valid replaces bytes that are no UTF-8.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
