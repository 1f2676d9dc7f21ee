package jsonscan

import (
	"bytes"
	"math/bits"
	"strconv"
)

// Int is an exact integer of 64 bits and a sign. Zero has no sign.
type Int struct {
	Mag uint64
	Neg bool
}

// Uint64 returns the value if it is not negative.
func (i Int) Uint64() (uint64, bool) { return i.Mag, !i.Neg || i.Mag == 0 }

// Int64 returns the value if it fits.
func (i Int) Int64() (int64, bool) {
	if i.Neg {
		return -int64(i.Mag), i.Mag <= 1<<63
	}
	return int64(i.Mag), i.Mag < 1<<63
}

// Wrap folds a negative value to unsigned 64 bits, as deps.json readers do (spec/deps.md §2).
func (i Int) Wrap() uint64 {
	if i.Neg {
		return -i.Mag
	}
	return i.Mag
}

func (i Int) String() string {
	t := strconv.FormatUint(i.Mag, 10)
	if i.Neg {
		return "-" + t
	}
	return t
}

// maxIntText is the longest text of an Int: a sign and the 20 digits of 2^64−1.
const maxIntText = 21

// ParseInt reads text as an integer of 64 bits with sign: digits without leading zeros.
func ParseInt(b []byte) (Int, bool) {
	var v Int
	if len(b) > 0 && b[0] == '-' {
		v.Neg = true
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 1 && b[0] == '0' {
		return Int{}, false
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return Int{}, false
		}
		hi, lo := bits.Mul64(v.Mag, 10)
		sum, carry := bits.Add64(lo, uint64(d), 0)
		if hi != 0 || carry != 0 {
			return Int{}, false
		}
		v.Mag = sum
	}
	v.Neg = v.Neg && v.Mag != 0
	return v, true
}

// digits reads the unsigned integer that b starts with and returns its length.
// It returns 0 for what needs a closer look: no digit, a leading zero, or more
// than 19 digits, which can exceed 64 bits.
func digits(b []byte) (v uint64, n int) {
	for n < len(b) {
		d := b[n] - '0'
		if d > 9 {
			break
		}
		v = v*10 + uint64(d)
		n++
	}
	if n > 19 || n > 1 && b[0] == '0' {
		return 0, 0
	}
	return v, n
}

// Row reads an array of at most len(dst) plain unsigned integers in one go and
// returns how many there were. When the next value is anything else, or lies
// across the edge of the window, it takes nothing and returns false: read it
// with BeginArray then.
func (s *Scanner) Row(dst []uint64) (int, bool) {
	if s.end-s.pos < 512 && !s.eof {
		s.fill()
	}
	b := s.buf[s.pos:s.end]
	i := skipBlank(b, 0)
	if i >= len(b) || b[i] != '[' || s.depth >= MaxDepth {
		return 0, false
	}
	i++
	for n := range dst {
		i = skipBlank(b, i)
		v, width := digits(b[i:])
		if width == 0 {
			return 0, false
		}
		dst[n] = v
		i = skipBlank(b, i+width)
		if i >= len(b) {
			return 0, false
		}
		switch b[i] {
		case ',':
			i++
		case ']':
			s.pos += i + 1
			return n + 1, true
		default:
			return 0, false
		}
	}
	return 0, false
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// Int reads an integer, written as a number or as a string of digits. A
// fraction, an exponent or a value beyond 64 bits is an error.
func (s *Scanner) Int() Int {
	v, ok := s.TryInt()
	if ok || s.err != nil {
		return v
	}
	kind := s.Peek()
	switch kind {
	case Number:
	case String:
		const shown = 40
		for s.end-s.pos <= shown && s.fill() { // the message must not depend on the window
		}
		if s.err != nil {
			return Int{}
		}
		b := s.buf[s.pos+1 : s.end]
		b = b[:min(len(b), shown)]
		if n := bytes.IndexByte(b, '"'); n >= 0 {
			b = b[:n]
		}
		s.fail("found the string %q, expected an integer", b)
		return Int{}
	default:
		s.fail("found %s, expected an integer", kind)
		return Int{}
	}
	if text, integer := s.numberText(); integer {
		s.fail("found %s, expected an integer of at most 64 bits", clip(text))
	} else {
		s.fail("found %s, expected an integer without fraction or exponent", clip(text))
	}
	return Int{}
}

// TryInt is Int, except that any other value is left where it is and false is
// returned. Text that is no JSON is an error here too.
func (s *Scanner) TryInt() (Int, bool) {
	switch s.Peek() {
	case Number:
		b := s.buf[s.pos:s.end]
		if v, n := digits(b); n > 0 && n < len(b) && endsNumber(b[n]) {
			s.pos += n
			return Int{Mag: v}, true
		}
		text, integer := s.numberText()
		if !integer {
			return Int{}, false
		}
		v, ok := ParseInt(text)
		if ok {
			s.pos += len(text)
		}
		return v, ok
	case String:
		b := s.buf[s.pos+1 : s.end]
		if v, n := digits(b); n > 0 && n < len(b) && b[n] == '"' {
			s.pos += n + 2
			return Int{Mag: v}, true
		}
		return s.tryIntText()
	}
	return Int{}, false
}

// tryIntText looks for an integer in the string at pos.
func (s *Scanner) tryIntText() (Int, bool) {
	for {
		b := s.buf[s.pos+1 : s.end]
		n := bytes.IndexByte(b[:min(len(b), maxIntText+1)], '"')
		if n >= 0 {
			v, ok := ParseInt(b[:n])
			if ok {
				s.pos += n + 2
			}
			return v, ok
		}
		if len(b) > maxIntText || !s.fill() {
			return Int{}, false
		}
	}
}

// numberText returns the text of the number at pos, without taking it, and
// whether it is an integer. After an error it returns nothing.
func (s *Scanner) numberText() (text []byte, integer bool) {
	for {
		b := s.buf[s.pos:s.end]
		i, whole, bad := scanNumber(b)
		if i == len(b) && !s.eof {
			s.fill() // moves the window even when nothing more comes
			continue
		}
		if s.err != nil {
			return nil, false
		}
		if bad || i < len(b) && !endsNumber(b[i]) {
			cut := i == len(b) && b[i-1]-'0' > 9 // what follows a sign, a point or an exponent
			s.fail("found %s, expected a number%s", quote(s.ahead()), incomplete(cut))
			return nil, false
		}
		return b[:i], whole
	}
}

// scanNumber returns how far b looks like a number, whether that is an integer,
// and whether a digit is missing or a zero too much.
func scanNumber(b []byte) (n int, whole, bad bool) {
	i := 0
	run := func() int {
		from := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		return i - from
	}
	whole = true
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	if width := run(); width == 0 || width > 1 && b[first] == '0' {
		bad = true
	}
	if i < len(b) && b[i] == '.' {
		whole = false
		i++
		bad = run() == 0 || bad
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		whole = false
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		bad = run() == 0 || bad
	}
	return i, whole, bad
}

func endsNumber(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// Uint64 reads an integer that must not be negative.
func (s *Scanner) Uint64() uint64 {
	s.space()
	at := s.Offset()
	v := s.Int()
	u, ok := v.Uint64()
	if !ok {
		s.FailAt(at, "found %s, expected an integer that is not negative", v)
		return 0
	}
	return u
}

// Int64 reads an integer of 64 bits with sign.
func (s *Scanner) Int64() int64 {
	s.space()
	at := s.Offset()
	v := s.Int()
	i, ok := v.Int64()
	if !ok {
		s.FailAt(at, "found %s, expected an integer of 64 bits with sign", v)
		return 0
	}
	return i
}
