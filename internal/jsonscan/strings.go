package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Text reads a string. The bytes are valid until the next call.
func (s *Scanner) Text() []byte {
	if k := s.Peek(); k != String {
		if k != None {
			s.fail("found %s, expected a string", k)
		}
		return nil
	}
	text, _ := s.str()
	return text
}

// plainLen returns how many bytes at the start of b stand for themselves inside
// a string: ASCII but quotes, backslashes and control characters. It looks at
// eight bytes at a time. Each term below sets the top bit of a byte that is no
// plain one; a borrow can spoil bytes above such a byte only, and the lowest one counts.
func plainLen(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		odd := x | (x - ones*0x20) | ((x ^ ones*'"') - ones) | ((x ^ ones*'\\') - ones)
		if odd &= tops; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// str takes the string whose opening quote is at pos, and reports whether it
// consists of plain characters only.
func (s *Scanner) str() (text []byte, plain bool) {
	from := 1
	for {
		b := s.buf[s.pos:s.end]
		i := from + plainLen(b[from:])
		if i < len(b) {
			if b[i] == '"' {
				s.pos += i + 1
				return b[1:i], true
			}
			return s.strSlow(i), false
		}
		from = i
		if !s.fill() {
			s.cutString()
			return nil, false
		}
	}
}

func (s *Scanner) cutString() {
	if s.err == nil {
		s.fail("found the end of the file inside a string; the file is incomplete")
	}
}

// strSlow takes a string that holds escapes, bytes beyond ASCII or an error. Its
// first from bytes, the quote included, are known to be plain.
func (s *Scanner) strSlow(from int) []byte {
	n := s.closingQuote(from)
	if n < 0 {
		return nil
	}
	raw := s.buf[s.pos+1 : s.pos+n]
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\':
			var used int
			out, used = unescape(out, raw[i:])
			if used == 0 {
				s.pos += 1 + i
				s.fail("found %s, expected an escape sequence of JSON", quote(raw[i:min(len(raw), i+6)]))
				return nil
			}
			i += used
		case c < 0x20:
			s.pos += 1 + i
			s.fail("found the control character 0x%02x inside a string, expected it escaped", c)
			return nil
		case c < utf8.RuneSelf:
			n := plainLen(raw[i:])
			out = append(out, raw[i:i+n]...)
			i += n
		default:
			r, size := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && size == 1 {
				s.pos += 1 + i
				s.fail("found the byte 0x%02x inside a string, expected UTF-8", c)
				return nil
			}
			out = append(out, raw[i:i+size]...)
			i += size
		}
	}
	s.pos += n + 1
	return out
}

// closingQuote returns the distance from the opening quote at pos to its closing
// one, which lies at from or behind it.
func (s *Scanner) closingQuote(from int) int {
	for i := from; ; {
		for i < s.end-s.pos {
			switch s.buf[s.pos+i] {
			case '"':
				return i
			case '\\':
				i++
			}
			i++
		}
		// An escape may reach over the edge; go on behind it once more input is here.
		if !s.fill() {
			s.cutString()
			return -1
		}
	}
}

// unescape appends what the escape at the start of b stands for and returns its length, 0 if it is none.
func unescape(out, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return out, 0
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(from) {
		if b[1] == from[i] {
			return append(out, to[i]), 2
		}
	}
	r, ok := hex4(b)
	if !ok {
		return out, 0
	}
	if r < 0xd800 || r > 0xdfff {
		return utf8.AppendRune(out, r), 6
	}
	if len(b) < 12 || r > 0xdbff {
		return out, 0
	}
	low, ok := hex4(b[6:])
	if !ok || low < 0xdc00 || low > 0xdfff {
		return out, 0
	}
	return utf8.AppendRune(out, 0x10000+(r-0xd800)<<10+(low-0xdc00)), 12
}

// hex4 reads the escape of four hexadecimal digits at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(v), err == nil
}

// AppendString appends text as a JSON string. Everything but quotes,
// backslashes and control characters stands for itself.
func AppendString[T []byte | string](dst []byte, text T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}
