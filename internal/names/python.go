package names

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The lexer below knows as much of Python as it takes to step over any expression
// without running it: where strings and comments end, which brackets belong
// together, where a statement ends. It does not check that a file is valid Python.

type pyKind uint8

const (
	pyEnd     pyKind = iota
	pyNewline        // the end of a logical line
	pyName
	pyNumber
	pyString // one literal with its prefix and quotes
	pyOp
)

type pyToken struct {
	kind       pyKind
	start, end int
}

type pyBracket struct {
	char byte
	at   int
}

// pySource is a whole Python file.
type pySource struct {
	path string
	data []byte
}

func (s *pySource) fail(offset int, format string, args ...any) error {
	return syntaxError(s.path, s.data, offset, format, args...)
}

// check refuses what Python refuses in any source file, so that the lexer need not
// look at single characters above ASCII.
func (s *pySource) check() error {
	if i := bytes.IndexByte(s.data, 0); i >= 0 {
		return s.fail(i, "found a NUL byte; expected Python source text in UTF-8")
	}
	if utf8.Valid(s.data) {
		return nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(s.data[i:])
		if r == utf8.RuneError && n == 1 {
			return s.fail(i, "found byte 0x%02x, which is not valid UTF-8; save the file as UTF-8", s.data[i])
		}
		i += n
	}
}

// span is a piece of the source: one expression, one element of a list.
type span struct{ start, end int }

// pyLexer reads the tokens of a piece of source.
type pyLexer struct {
	*pySource
	pos, end int
	open     []pyBracket
	outer    int  // brackets around this piece that open does not hold
	inside   bool // the piece lies inside a statement: line ends are space
	field    bool // the piece begins inside the braces of an f-string
}

// lex reads a piece of a statement whose brackets were already found balanced.
func (s *pySource) lex(p span) *pyLexer {
	return &pyLexer{pySource: s, pos: p.start, end: p.end, inside: true}
}

// text returns the source of a token.
func (l *pyLexer) text(t pyToken) string { return string(l.data[t.start:t.end]) }

// is says whether a token is this operator, name or number.
func (l *pyLexer) is(t pyToken, text string) bool {
	return t.kind != pyString && string(l.data[t.start:t.end]) == text
}

// top says whether the last token closed, or stands outside, all brackets.
func (l *pyLexer) top() bool { return len(l.open) == 0 }

func (l *pyLexer) at(i int) byte {
	if i < l.end {
		return l.data[i]
	}
	return 0
}

// lineEnd returns the length of the line end at i, 0 if there is none.
func (l *pyLexer) lineEnd(i int) int {
	switch {
	case l.at(i) == '\r' && l.at(i+1) == '\n':
		return 2
	case l.at(i) == '\r' || l.at(i) == '\n':
		return 1
	}
	return 0
}

// next returns the next token.
func (l *pyLexer) next() (pyToken, error) {
	for l.pos < l.end {
		c := l.data[l.pos]
		n := l.lineEnd(l.pos)
		switch {
		case c == ' ' || c == '\t' || c == '\f':
			l.pos++
		case c == '#':
			for l.pos < l.end && l.lineEnd(l.pos) == 0 {
				l.pos++
			}
		case c == '\\' && l.lineEnd(l.pos+1) > 0:
			l.pos += 1 + l.lineEnd(l.pos+1)
		case n > 0 && (l.inside || !l.top()):
			l.pos += n
		case n > 0:
			l.pos += n
			return pyToken{pyNewline, l.pos - n, l.pos}, nil
		default:
			return l.token()
		}
	}
	if !l.top() {
		b := l.open[len(l.open)-1]
		return pyToken{}, l.fail(b.at, "the %q that opens here is not closed; the file may be cut off", b.char)
	}
	return pyToken{pyEnd, l.end, l.end}, nil
}

// token reads the token that begins at the position.
func (l *pyLexer) token() (pyToken, error) {
	start := l.pos
	c := l.data[start]
	switch {
	case c == '"' || c == '\'':
		return l.str(start, "")
	case isDigit(c) || c == '.' && isDigit(l.at(start+1)):
		for l.pos < l.end && (isNameByte(l.data[l.pos]) || l.data[l.pos] == '.') {
			l.pos++
		}
		return pyToken{pyNumber, start, l.pos}, nil
	case isNameByte(c):
		for l.pos < l.end && isNameByte(l.data[l.pos]) {
			l.pos++
		}
		if q := l.at(l.pos); q == '"' || q == '\'' {
			if p := l.data[start:l.pos]; isStringPrefix(p) {
				return l.str(start, strings.ToLower(string(p)))
			}
		}
		return pyToken{pyName, start, l.pos}, nil
	}
	return l.operator()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isNameByte takes every character above ASCII as part of a name; which of them
// Python allows does not matter for finding the end.
func isNameByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c >= utf8.RuneSelf
}

func isStringPrefix(p []byte) bool {
	switch strings.ToLower(string(p[:min(len(p), 3)])) {
	case "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt":
		return true
	}
	return false
}

// operator reads an operator and keeps account of the brackets.
func (l *pyLexer) operator() (pyToken, error) {
	start := l.pos
	c := l.data[start]
	l.pos++
	switch c {
	case '(', '[', '{':
		if l.outer+len(l.open) >= maxDepth {
			return pyToken{}, l.fail(start, "nested deeper than %d levels", maxDepth)
		}
		l.open = append(l.open, pyBracket{c, start})
	case ')', ']', '}':
		if l.field && l.top() && c == '}' {
			break // the end of the field of an f-string
		}
		if l.top() {
			return pyToken{}, l.fail(start, "found %q, but no bracket is open", c)
		}
		b := l.open[len(l.open)-1]
		if want := closing(b.char); c != want {
			line, column := position(l.data, b.at)
			return pyToken{}, l.fail(start, "found %q; expected %q for the %q at %d:%d", c, want, b.char, line, column)
		}
		l.open = l.open[:len(l.open)-1]
	default:
		if l.field && l.top() && c == ':' {
			break // the format of a field, even where := would be read elsewhere
		}
		l.pos = start + l.operatorLength(start)
	}
	return pyToken{pyOp, start, l.pos}, nil
}

func (l *pyLexer) operatorLength(at int) int {
	s := string(l.data[at:min(l.end, at+3)])
	if len(s) == 3 {
		switch s {
		case "**=", "//=", ">>=", "<<=", "...":
			return 3
		}
	}
	if len(s) >= 2 {
		switch s[:2] {
		case "==", "!=", "<=", ">=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=", "**", "//", "<<", ">>":
			return 2
		}
	}
	return 1
}

func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// str reads a string literal. start is where its prefix begins, the position is at
// the first quote.
func (l *pyLexer) str(start int, prefix string) (pyToken, error) {
	quote := l.data[l.pos]
	width := 1
	if l.at(l.pos+1) == quote && l.at(l.pos+2) == quote {
		width = 3
	}
	l.pos += width
	fields := strings.ContainsAny(prefix, "ft")
	for l.pos < l.end {
		c := l.data[l.pos]
		switch {
		case c == quote && (width == 1 || l.at(l.pos+1) == quote && l.at(l.pos+2) == quote):
			l.pos += width
			return pyToken{pyString, start, l.pos}, nil
		case width == 1 && l.lineEnd(l.pos) > 0:
			return pyToken{}, l.fail(start, "the string that begins here is not closed before the end of its line")
		case c == '\\':
			l.backslash(fields, strings.Contains(prefix, "r"))
		case fields && c == '{' && l.at(l.pos+1) == '{':
			l.pos += 2
		case fields && c == '{':
			if err := l.replacement(quote, width, 1); err != nil {
				return pyToken{}, err
			}
		default:
			l.pos++
		}
	}
	return pyToken{}, l.fail(start, "the string that begins here is not closed; the file may be cut off")
}

// backslash steps over a backslash and what belongs to it. Also in raw strings it
// keeps a quote from ending the string.
func (l *pyLexer) backslash(fields, raw bool) {
	l.pos++
	switch {
	case fields && !raw && l.at(l.pos) == 'N' && l.at(l.pos+1) == '{':
		l.pos += 2 // the braces of a named character are no field
		for l.pos < l.end && isNamedCharByte(l.data[l.pos]) {
			l.pos++
		}
		if l.at(l.pos) == '}' {
			l.pos++
		}
	case fields && (l.at(l.pos) == '{' || l.at(l.pos) == '}'):
		// A backslash does not keep a brace from opening a field.
	case l.lineEnd(l.pos) > 0:
		l.pos += l.lineEnd(l.pos)
	case l.pos < l.end:
		l.pos++
	}
}

func isNamedCharByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == ' ' || c == '-' || c == '(' || c == ')'
}

// replacement reads a field of an f-string, braces included. Its expression may
// hold strings with the quotes of the string around it (Python 3.12).
func (l *pyLexer) replacement(quote byte, width, level int) error {
	open := l.pos
	in := &pyLexer{pySource: l.pySource, pos: open + 1, end: l.end, inside: true, field: true,
		outer: l.outer + len(l.open) + level}
	if in.outer > maxDepth {
		return l.fail(open, "nested deeper than %d levels", maxDepth)
	}
	for {
		outside := in.top() // of brackets in the expression
		t, err := in.next()
		switch {
		case err != nil:
			return err
		case t.kind == pyEnd:
			return l.fail(open, "the '{' that opens here is not closed; the file may be cut off")
		case outside && in.is(t, ":"):
			l.pos = in.pos
			return l.format(quote, width, level)
		case outside && in.is(t, "}"):
			l.pos = in.pos
			return nil
		}
	}
}

// format reads the format of a field up to its closing brace. It may hold fields.
func (l *pyLexer) format(quote byte, width, level int) error {
	start := l.pos
	for l.pos < l.end {
		switch c := l.data[l.pos]; {
		case c == '}':
			l.pos++
			return nil
		case c == '{':
			if err := l.replacement(quote, width, level+1); err != nil {
				return err
			}
		case width == 1 && (c == quote || l.lineEnd(l.pos) > 0):
			return l.fail(start, "the format that begins here is not closed by '}'")
		default:
			l.pos++
		}
	}
	return l.fail(start, "the format that begins here is not closed by '}'; the file may be cut off")
}

// A pyLiteral is the value of an expression as far as it can be known without
// running it.
type pyLiteral struct {
	kind pyLiteralKind
	num  int64
	str  string
}

type pyLiteralKind uint8

const (
	pyOther pyLiteralKind = iota // anything that would have to be run
	pyInt
	pyText
	pyNone
)

// literal reads an expression that is a number, a string or None, in any number of
// parentheses.
func (s *pySource) literal(p span) (pyLiteral, error) {
	p, err := s.unwrap(p)
	if err != nil {
		return pyLiteral{}, err
	}
	l := s.lex(p)
	t, err := l.next()
	if err != nil {
		return pyLiteral{}, err
	}
	var lit pyLiteral
	switch {
	case t.kind == pyString:
		var text []byte
		ok := true
		for ; t.kind == pyString && err == nil; t, err = l.next() {
			if ok {
				text, ok = appendPyString(text, l.data[t.start:t.end])
			}
		}
		if err != nil || !ok {
			return pyLiteral{}, err
		}
		lit = pyLiteral{kind: pyText, str: string(text)}
	case l.is(t, "None"):
		lit.kind = pyNone
		t, err = l.next()
	default:
		negative := false
		for ; (l.is(t, "-") || l.is(t, "+")) && err == nil; t, err = l.next() {
			negative = negative != l.is(t, "-")
		}
		if err != nil || t.kind != pyNumber {
			return pyLiteral{}, err
		}
		num, ok := pyInteger(negative, l.text(t))
		if !ok {
			return pyLiteral{}, nil
		}
		lit = pyLiteral{kind: pyInt, num: num}
		t, err = l.next()
	}
	if err != nil || t.kind != pyEnd {
		return pyLiteral{}, err
	}
	return lit, nil
}

// unwrap takes away parentheses that enclose the whole expression and make no
// tuple of it.
func (s *pySource) unwrap(p span) (span, error) {
	for {
		in, err := s.enclosed(p)
		if err != nil || in.char != '(' || in.comma || in.start == in.end {
			return p, err
		}
		p = in.span
	}
}

// enclosure is what a pair of brackets holds.
type enclosure struct {
	span
	char  byte // the opening bracket, 0: no pair encloses the whole piece
	comma bool // there are several elements, or a tuple of one
}

// enclosed looks into the pair of brackets that encloses the whole piece.
func (s *pySource) enclosed(p span) (enclosure, error) {
	l := s.lex(p)
	t, err := l.next()
	if err != nil || l.top() {
		return enclosure{}, err
	}
	in := enclosure{span: span{start: t.end}, char: s.data[t.start]}
	for !l.top() {
		if t, err = l.next(); err != nil {
			return enclosure{}, err
		}
		in.comma = in.comma || len(l.open) == 1 && l.is(t, ",")
	}
	in.end = t.start
	if t, err = l.next(); err != nil || t.kind != pyEnd {
		return enclosure{}, err
	}
	return in, nil
}

// hasComma says whether the piece is a tuple's inside.
func (s *pySource) hasComma(p span) (bool, error) {
	l := s.lex(p)
	for {
		t, err := l.next()
		if err != nil || t.kind == pyEnd {
			return false, err
		}
		if l.top() && l.is(t, ",") {
			return true, nil
		}
	}
}

// split calls visit for each element between the commas of a piece. A comma after
// the last element makes no further one. Those between the parameters of a lambda
// separate no elements.
func (s *pySource) split(p span, visit func(span) error) error {
	l := s.lex(p)
	element := span{-1, -1}
	lambdas := 0 // whose parameters the token is among
	for {
		t, err := l.next()
		if err != nil {
			return err
		}
		switch {
		case !l.top():
		case l.is(t, "lambda"):
			lambdas++
		case lambdas > 0 && l.is(t, ":"):
			lambdas--
		}
		if comma := l.top() && lambdas == 0 && l.is(t, ","); !comma && t.kind != pyEnd {
			if element.start < 0 {
				element.start = t.start
			}
			element.end = t.end
			continue
		}
		if element.start >= 0 {
			if err := visit(element); err != nil {
				return err
			}
		}
		if t.kind == pyEnd {
			return nil
		}
		element = span{-1, -1}
	}
}

// pyInteger reads a decimal, 0x, 0o or 0b literal. Go's syntax for these is
// Python's, except that Go reads 010 as octal and Python refuses it.
func pyInteger(negative bool, text string) (int64, bool) {
	if len(text) > 1 && text[0] == '0' && (isDigit(text[1]) || text[1] == '_') && strings.Trim(text, "0_") != "" {
		return 0, false
	}
	if negative {
		text = "-" + text
	}
	v, err := strconv.ParseInt(text, 0, 64)
	return v, err == nil
}

// appendPyString appends the value of one string literal. It reports false for
// bytes, for f-strings, for named characters, and for what has no UTF-8 form.
func appendPyString(dst, literal []byte) ([]byte, bool) {
	n := bytes.IndexAny(literal, `"'`)
	prefix := strings.ToLower(string(literal[:n]))
	if strings.ContainsAny(prefix, "bft") {
		return dst, false
	}
	body := literal[n:]
	width := 1
	if len(body) >= 6 && body[1] == body[0] && body[2] == body[0] {
		width = 3
	}
	body = body[width : len(body)-width]
	raw := prefix == "r"
	for i := 0; i < len(body); {
		c := body[i]
		switch {
		case c == '\r':
			// Python reads every line end of its source as a newline.
			dst = append(dst, '\n')
			i++
			if i < len(body) && body[i] == '\n' {
				i++
			}
		case c == '\\' && !raw:
			var ok bool
			if dst, i, ok = appendPyEscape(dst, body, i); !ok {
				return dst, false
			}
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst, true
}

// appendPyEscape appends the value of the escape at body[i] and returns the index
// after it.
func appendPyEscape(dst, body []byte, i int) ([]byte, int, bool) {
	i++
	if i == len(body) {
		return dst, i, false
	}
	c := body[i]
	i++
	if k := strings.IndexByte(`\'"abfnrtv`, c); k >= 0 {
		return append(dst, "\\'\"\a\b\f\n\r\t\v"[k]), i, true
	}
	digits, base := 0, 16
	switch c {
	case '\n':
		return dst, i, true
	case '\r':
		if i < len(body) && body[i] == '\n' {
			i++
		}
		return dst, i, true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case 'N':
		return dst, i, false
	case '0', '1', '2', '3', '4', '5', '6', '7':
		i--
		base = 8
		for digits < 3 && i+digits < len(body) && '0' <= body[i+digits] && body[i+digits] <= '7' {
			digits++
		}
	default:
		// Python keeps the backslash of an escape it does not know.
		return append(dst, '\\', c), i, true
	}
	if i+digits > len(body) {
		return dst, i, false
	}
	v, err := strconv.ParseUint(string(body[i:i+digits]), base, 32)
	if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return dst, i, false
	}
	return utf8.AppendRune(dst, rune(v)), i + digits, true
}
