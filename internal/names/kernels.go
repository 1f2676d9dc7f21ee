package names

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"swimlane/internal/jsonscan"
)

const (
	kernelFile    = "kernel configuration"
	kernelMissing = "Kernel config file not found"
)

// maxKernelWarnings keeps a broken file from filling the screen.
const maxKernelWarnings = 100

// ReadKernelConfig takes names from the list KERNELS of a Python file, which is
// parsed for literals and never run. In a file without that list it takes them from
// the "incores" of the one class that has a CALLABLE, as SceneTest files do. A file
// named *.json holds the list KERNELS as JSON, alone or under the key "KERNELS"
// (spec/name-map.md, disagreement 6). It supplies no orchestrator name. The strings
// are warnings.
func ReadKernelConfig(path string) (*Map, []string, error) {
	data, err := readFile(path, kernelFile, kernelMissing)
	if err != nil {
		return nil, nil, err
	}
	return ParseKernelConfig(path, data)
}

// ParseKernelConfig is ReadKernelConfig for a file in memory. source is the path
// that errors name.
func ParseKernelConfig(source string, data []byte) (*Map, []string, error) {
	if len(data) > maxFileSize {
		return nil, nil, tooLarge(source, kernelFile)
	}
	k := &kernels{m: &Map{Source: source, names: map[int64]string{}}}
	var err error
	if strings.EqualFold(filepath.Ext(source), ".json") {
		err = k.readJSON(source, data)
	} else {
		err = k.readPython(&pySource{path: source, data: data})
	}
	if k.unsaid > 0 {
		k.warnings = append(k.warnings, fmt.Sprintf("%d more Kernel entries were skipped or have no name", k.unsaid))
	}
	if err != nil {
		return nil, k.warnings, err
	}
	return k.m, k.warnings, nil
}

// kernels collects the entries of a kernel configuration.
type kernels struct {
	m        *Map
	warnings []string
	unsaid   int // warnings beyond the limit
}

// A kernelEntry is what is known of one entry. A value that is absent counts as
// None; one that could only be known by running the file is pyOther.
type kernelEntry struct{ id, name pyLiteral }

func emptyEntry() kernelEntry {
	return kernelEntry{id: pyLiteral{kind: pyNone}, name: pyLiteral{kind: pyNone}}
}

// add takes an entry. The texts are those of spec/converter.md §8.2; an entry that
// is not understood gets the first of them, whatever it is that is not understood.
func (k *kernels) add(e kernelEntry, source []byte) {
	switch {
	case e.id.kind != pyInt || e.name.kind != pyText && e.name.kind != pyNone:
		k.warn("Kernel entry missing 'func_id', skipping: %s", excerpt(source, 80))
	case e.name.kind == pyNone:
		k.warn("Kernel entry for func_id=%d missing 'name', will use default naming", e.id.num)
	default:
		id, name := e.id.num, e.name.str
		if old, ok := k.m.names[id]; ok && old != name {
			k.warn("Kernel entry for func_id=%d found again, using the name %s instead of %s", id, quote(name), quote(old))
		}
		k.m.names[id] = name
	}
}

func (k *kernels) warn(format string, args ...any) {
	if len(k.warnings) == maxKernelWarnings {
		k.unsaid++
		return
	}
	k.warnings = append(k.warnings, fmt.Sprintf(format, args...))
}

func noKernels(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNoKernels, fmt.Sprintf(format, args...))
}

// A kernelScan finds the assignments to KERNELS in a Python file, and its classes
// with a CALLABLE.
type kernelScan struct {
	*pySource
	values   []span // the last KERNELS = … and the KERNELS += … after it
	indented int    // offset of an assignment that is not at the top level, -1: none
	strange  int    // offset of the first other use that may change the list, -1: none
	unread   bool   // such a use is at the top level

	class     pyClass   // the one being read
	written   classList // classes with a dict that is written out
	unwritten classList // classes with any other value
	none      classList // classes with None
	elsewhere int       // offset of an assignment to CALLABLE that is in no class of the file, -1: none
}

func (k *kernels) readPython(src *pySource) error {
	if err := src.check(); err != nil {
		return err
	}
	s := &kernelScan{pySource: src, indented: -1, strange: -1, elsewhere: -1}
	if err := s.file(); err != nil {
		return err
	}
	if len(s.values) == 0 && !s.unread {
		if found, err := k.readClasses(s); found || err != nil {
			return err
		}
	}
	if len(s.values) == 0 {
		return s.nothing()
	}
	for _, value := range s.values {
		if err := k.list(src, value, func(value span) error {
			return fmt.Errorf("%w: %w", ErrNoKernels, src.fail(src.begin(value),
				"found %s; expected a list of entries such as [{\"func_id\": 0, \"name\": \"QK\"}]; the file is read, not run",
				src.found(value)))
		}); err != nil {
			return err
		}
	}
	if s.strange >= 0 {
		k.changed(src, s.strange, "KERNELS")
	}
	return nil
}

// nothing is the error for a file that declares no kernels.
func (s *kernelScan) nothing() error {
	const want = "expected an assignment KERNELS = [...] that is not indented, or one class that is not indented with CALLABLE = {...}; the file is read, not run"
	for _, found := range []struct {
		at   int
		what string
	}{
		{s.indented, "found KERNELS only inside another statement"},
		{s.strange, "found KERNELS, but no list of entries assigned to it"},
		{s.elsewhere, "found CALLABLE, but not among the statements of such a class"},
	} {
		if found.at >= 0 {
			return fmt.Errorf("%w: %w", ErrNoKernels, s.fail(found.at, "%s; %s", found.what, want))
		}
	}
	return noKernels("%s has none; %s", s.path, want)
}

// file reads the logical lines of the file.
func (s *kernelScan) file() error {
	start := len(byteOrderMark(s.data)) // of the line
	l := &pyLexer{pySource: s.pySource, pos: start, end: len(s.data)}
	for {
		t, err := l.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case pyEnd:
			return s.endClass()
		case pyNewline:
		default:
			t, scope, err := s.line(l, start, t)
			for more := true; more && err == nil; {
				t, more, err = s.statement(l, t, scope)
			}
			if err != nil {
				return err
			}
			if t.kind == pyEnd {
				return s.endClass()
			}
		}
		start = l.pos
	}
}

// isCompound tells the statements that may have others on their line, which are
// then not at the top level.
func (l *pyLexer) isCompound(t pyToken) bool {
	if t.kind != pyName {
		return false
	}
	switch l.text(t) {
	case "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class", "async":
		return true
	}
	return false
}

// A pyStatement is what is noted of one statement.
type pyStatement struct {
	lead   [3]pyToken // its first tokens
	value  span       // what is right of the last =
	end    int        // of its last token
	extend bool       // it is a +=

	kernels, callable bool // KERNELS, CALLABLE is left of an = or a +=
}

// statement reads one simple statement, or the head of a compound one, that begins
// with the token t, and notes what it does to KERNELS and CALLABLE. It returns the
// token that follows, and whether that begins a further statement on the same line.
func (s *kernelScan) statement(l *pyLexer, t pyToken, scope pyScope) (next pyToken, more bool, err error) {
	var st pyStatement
	part, tokens := t, 0 // the first token since the last =, and how many since then
	annotated := false   // the part is KERNELS: … or CALLABLE: …
	for n := 0; t.kind != pyNewline && t.kind != pyEnd && !(l.top() && l.is(t, ";")); n++ {
		if n < len(st.lead) {
			st.lead[n] = t
		}
		st.end = t.end
		if n == 1 && (l.is(part, "KERNELS") || l.is(part, "CALLABLE")) {
			annotated = l.is(t, ":")
			st.extend = l.is(t, "+=")
		}
		if l.top() && l.is(t, "=") || n == 1 && st.extend {
			if tokens == 1 || annotated {
				st.kernels = st.kernels || l.is(part, "KERNELS")
				st.callable = st.callable || l.is(part, "CALLABLE")
			}
			st.value = span{t.end, t.end}
			tokens, annotated = 0, false
		} else {
			if tokens == 0 {
				part = t
			}
			st.value.end = t.end
			tokens++
		}
		if t, err = l.next(); err != nil {
			return t, false, err
		}
	}
	s.noteKernels(l, st, scope != inFile)
	s.noteCallable(l, st, scope)
	if l.is(t, ";") {
		if t, err = l.next(); err != nil {
			return t, false, err
		}
	}
	return t, t.kind != pyNewline && t.kind != pyEnd, nil
}

// noteKernels keeps what a statement does to KERNELS.
func (s *kernelScan) noteKernels(l *pyLexer, st pyStatement, nested bool) {
	switch {
	case st.kernels && nested && !st.extend:
		if s.indented < 0 {
			s.indented = st.lead[0].start
		}
	case st.kernels && !st.extend:
		s.values = append(s.values[:0], st.value)
		s.strange = -1
	case st.kernels && !nested && len(s.values) > 0:
		s.values = append(s.values, st.value)
	case l.is(st.lead[0], "KERNELS") && l.changes(st, nested):
		if s.strange < 0 {
			s.strange = st.lead[0].start
		}
		s.unread = s.unread || !nested
	}
}

// changes says whether a statement that begins with KERNELS or CALLABLE, and is no
// plain assignment, may change the value. Inside other statements only what clearly does
// counts, because the name may be another one there.
func (l *pyLexer) changes(st pyStatement, nested bool) bool {
	if st.lead[1].kind != pyOp || l.is(st.lead[1], ":") {
		return false
	}
	if !nested || st.extend {
		return true
	}
	switch l.text(st.lead[2]) {
	case "append", "extend", "insert":
		return l.is(st.lead[1], ".")
	}
	return false
}

// list takes the entries of a list or a tuple that is written out. Where the value is
// something else, refuse makes the error.
func (k *kernels) list(src *pySource, value span, refuse func(span) error) error {
	value, err := src.unwrap(value)
	if err != nil {
		return err
	}
	in, err := src.enclosed(value)
	if err != nil {
		return err
	}
	inside := in.span
	if in.char != '[' && in.char != '(' {
		// A tuple without parentheses.
		bare, err := src.hasComma(value)
		if err != nil {
			return err
		}
		if !bare {
			return refuse(value)
		}
		inside = value
	}
	return src.split(inside, func(element span) error {
		e, err := src.entry(element)
		if err == nil {
			k.add(e, src.data[element.start:element.end])
		}
		return err
	})
}

// found shows a value in a message.
func (s *pySource) found(value span) string {
	if found := excerpt(s.data[value.start:value.end], 60); found != "" {
		return found
	}
	return "nothing"
}

// begin returns where the first token of a piece stands.
func (s *pySource) begin(p span) int {
	if t, err := s.lex(p).next(); err == nil {
		return t.start
	}
	return p.start
}

// entry reads one element of the list: {"func_id": 0, "name": "QK"} or
// dict(func_id=0, name="QK").
func (s *pySource) entry(p span) (kernelEntry, error) {
	unknown := kernelEntry{}
	e := emptyEntry()
	ok, err := s.items(p, func(_ span, key string, value span, ok bool) (err error) {
		switch {
		case !ok:
			// Something is unpacked here, which may overwrite what came before it.
			e = unknown
		case key == "func_id":
			e.id, err = s.literal(value)
		case key == "name":
			e.name, err = s.literal(value)
		}
		return err
	})
	if !ok || err != nil {
		return unknown, err
	}
	return e, nil
}

// items calls visit for each item of a dict that is written out. ok is false for an
// item that is no pair of key and value; a key that is no string literal is "". It
// reports false if the piece is something else.
func (s *pySource) items(p span, visit func(item span, key string, value span, ok bool) error) (bool, error) {
	in, err := s.mapping(p)
	if err != nil || in.char == 0 {
		return false, err
	}
	item := s.displayItem
	if in.char == '(' {
		item = s.keywordItem
	}
	return true, s.split(in.span, func(i span) error {
		key, value, ok, err := item(i)
		if err != nil {
			return err
		}
		return visit(i, key, value, ok)
	})
}

// mapping looks into {...} or dict(...). The bracket is 0 if the piece is something
// else. {...} may be a set or a comprehension.
func (s *pySource) mapping(p span) (enclosure, error) {
	p, err := s.unwrap(p)
	if err != nil {
		return enclosure{}, err
	}
	l := s.lex(p)
	t, err := l.next()
	if err != nil {
		return enclosure{}, err
	}
	bracket := byte('{')
	if l.is(t, "dict") {
		bracket = '('
		p.start = t.end
	}
	in, err := s.enclosed(p)
	if err != nil || in.char != bracket {
		return enclosure{}, err
	}
	return in, nil
}

// isMapping says whether a value is a dict that is written out: neither a set nor a
// comprehension. The first item tells.
func (s *pySource) isMapping(p span) (bool, error) {
	in, err := s.mapping(p)
	if err != nil || in.char != '{' {
		return in.char == '(', err
	}
	l := s.lex(in.span)
	colon := false
	for n := 0; ; n++ {
		t, err := l.next()
		switch {
		case err != nil:
			return false, err
		case t.kind == pyEnd || l.top() && l.is(t, ","):
			return n == 0 || colon, nil
		case n == 0 && l.is(t, "**"):
			return true, nil
		case l.top() && l.is(t, "for"):
			return false, nil
		case l.top() && l.is(t, ":"):
			colon = true
		}
	}
}

// displayItem reads "key": value. It reports false when the item is something else;
// a key that is no string literal is "".
func (s *pySource) displayItem(p span) (key string, value span, ok bool, err error) {
	l := s.lex(p)
	for {
		t, err := l.next()
		if err != nil || t.kind == pyEnd {
			return "", span{}, false, err
		}
		if t.start == p.start && l.is(t, "**") {
			return "", span{}, false, nil
		}
		if l.top() && l.is(t, ":") {
			lit, err := s.literal(span{p.start, t.start})
			return lit.str, span{t.end, p.end}, true, err
		}
	}
}

// keywordItem reads key=value. It reports false when the item is something else.
func (s *pySource) keywordItem(p span) (key string, value span, ok bool, err error) {
	l := s.lex(p)
	name, err := l.next()
	if err != nil || name.kind != pyName {
		return "", span{}, false, err
	}
	t, err := l.next()
	if err != nil || !l.is(t, "=") {
		return "", span{}, false, err
	}
	return l.text(name), span{t.end, p.end}, true, nil
}

// readJSON reads the list as JSON.
func (k *kernels) readJSON(source string, data []byte) error {
	s := jsonscan.New(bytes.NewReader(data))
	found := false
	list := func() {
		found = true
		if expect(s, jsonscan.Array, `a list of entries such as [{"func_id": 0, "name": "QK"}]`) {
			s.BeginArray()
		}
		for s.Elem() {
			k.entryJSON(s, data)
		}
	}
	if s.Peek() == jsonscan.Object {
		s.BeginObject()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == "KERNELS" {
				list()
			} else {
				s.Skip()
			}
		}
	} else {
		list()
	}
	if err := s.End(); err != nil {
		return scanError(source, err)
	}
	if !found {
		return noKernels("%s has no key \"KERNELS\"", source)
	}
	return nil
}

// entryJSON reads one element of the list in data.
func (k *kernels) entryJSON(s *jsonscan.Scanner, data []byte) {
	e := kernelEntry{}
	kind := s.Peek()
	start := s.Offset()
	if kind == jsonscan.Object {
		e = emptyEntry()
		s.BeginObject()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			switch string(key) {
			case "func_id":
				e.id = literalJSON(s)
			case "name":
				e.name = literalJSON(s)
			default:
				s.Skip()
			}
		}
	} else {
		s.Skip()
	}
	if s.Err() == nil {
		k.add(e, data[start:s.Offset()])
	}
}

// literalJSON reads a value as the Python literal it corresponds to.
func literalJSON(s *jsonscan.Scanner) pyLiteral {
	switch s.Peek() {
	case jsonscan.String:
		return pyLiteral{kind: pyText, str: string(s.Text())}
	case jsonscan.Number:
		if num, err := strconv.ParseInt(string(s.Raw(nil)), 10, 64); err == nil {
			return pyLiteral{kind: pyInt, num: num}
		}
		return pyLiteral{}
	case jsonscan.Null:
		s.TakeNull()
		return pyLiteral{kind: pyNone}
	}
	s.Skip()
	return pyLiteral{}
}
