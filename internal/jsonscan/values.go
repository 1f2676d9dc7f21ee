package jsonscan

import "strings"

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	switch k := s.Peek(); k {
	case True:
		return s.word("true")
	case False:
		s.word("false")
	case None:
	default:
		s.fail("found %s, expected true or false", k)
	}
	return false
}

// TakeNull takes a null if that is the next value.
func (s *Scanner) TakeNull() bool { return s.Peek() == Null && s.word("null") }

func (s *Scanner) word(w string) bool {
	for s.end-s.pos < len(w) && s.fill() {
	}
	if s.end-s.pos < len(w) || string(s.buf[s.pos:s.pos+len(w)]) != w {
		if s.err == nil {
			s.fail("found %s, expected %s%s", quote(s.ahead()), w, incomplete(strings.HasPrefix(w, string(s.buf[s.pos:s.end]))))
		}
		return false
	}
	s.pos += len(w)
	return true
}

// Skip takes the next value, checking all of it.
func (s *Scanner) Skip() {
	switch s.Peek() {
	case Object:
		s.BeginObject()
		for {
			if _, ok := s.Key(); !ok {
				return
			}
			s.Skip()
		}
	case Array:
		if s.skipRow() {
			return
		}
		s.BeginArray()
		for s.Elem() {
			s.Skip()
		}
	case String:
		s.str()
	case Number:
		b := s.buf[s.pos:s.end]
		if _, n := digits(b); n > 0 && n < len(b) && endsNumber(b[n]) {
			s.pos += n
			return
		}
		text, _ := s.numberText()
		s.pos += len(text)
	case True:
		s.word("true")
	case False:
		s.word("false")
	case Null:
		s.word("null")
	}
}

// skipRow takes a short array of plain integers, the most frequent thing to be
// skipped. When the next value is anything else it takes nothing.
func (s *Scanner) skipRow() bool {
	const longest = 256 // bounds what is looked at twice
	if s.depth >= MaxDepth {
		return false
	}
	b := s.buf[s.pos:min(s.end, s.pos+longest)]
	for i := 1; i < len(b); i++ {
		from := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		if i == from || i == len(b) || b[from] == '0' && i > from+1 {
			return false
		}
		switch b[i] {
		case ']':
			s.pos += i + 1
			return true
		case ',':
			i = skipBlank(b, i+1) - 1
		default:
			return false
		}
	}
	return false
}

// Raw takes the next value and appends its text, without the white space around it, to dst.
func (s *Scanner) Raw(dst []byte) []byte {
	switch s.Peek() {
	case Object:
		s.BeginObject()
		dst = append(dst, '{')
		for first := true; ; first = false {
			key, ok := s.Key()
			if !ok {
				return append(dst, '}')
			}
			if !first {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, key)
			dst = append(dst, ':')
			dst = s.Raw(dst)
		}
	case Array:
		s.BeginArray()
		dst = append(dst, '[')
		for first := true; s.Elem(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = s.Raw(dst)
		}
		return append(dst, ']')
	case String:
		text, _ := s.str()
		return AppendString(dst, text)
	case Number:
		text, _ := s.numberText()
		dst = append(dst, text...)
		s.pos += len(text)
	case True:
		s.word("true")
		dst = append(dst, "true"...)
	case False:
		s.word("false")
		dst = append(dst, "false"...)
	case Null:
		s.word("null")
		dst = append(dst, "null"...)
	}
	return dst
}
