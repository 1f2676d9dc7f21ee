package names

import (
	"fmt"
	"strings"
)

// A SceneTest file declares its kernels in a class:
//
//	class TestPagedAttn(SceneTest):
//	    CALLABLE = {"orchestration": {…}, "incores": [{"func_id": 0, "name": "QK", …}, …]}
//
// What counts is the last assignment to CALLABLE among the statements of the class
// itself, in a class that is itself a statement of the file (spec/name-map.md §2).

// maxListed is how many classes a message lists.
const maxListed = 20

// A pyScope is where a statement stands.
type pyScope uint8

const (
	inFile  pyScope = iota
	inClass         // among the statements of a class that is a statement of the file
	inOther         // inside any other statement
)

// A pyClass is a class that is a statement of the file.
type pyClass struct {
	at      int  // of the word class
	name    span // of the class
	value   span // what the last CALLABLE = … assigns
	assigns bool // there is one, or something else gives CALLABLE a value
	strange int  // offset of the first use after it that may change the value, -1: none

	// While the class is read.
	open   bool
	indent int // the column of its statements, 0: not known yet, -1: they are on the line of the head
}

// A classList holds the first classes of a kind and their number.
type classList struct {
	first []pyClass
	n     int
}

func (c *classList) add(class pyClass) {
	if len(c.first) < maxListed {
		c.first = append(c.first, class)
	}
	c.n++
}

// list names the classes and their lines.
func (s *pySource) list(c classList) string {
	var b strings.Builder
	for i, class := range c.first {
		if i > 0 {
			b.WriteString(", ")
		}
		line, _ := position(s.data, class.at)
		fmt.Fprintf(&b, "%s (line %d)", s.className(class), line)
	}
	if more := c.n - len(c.first); more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

func (s *pySource) className(c pyClass) string {
	return excerpt(s.data[c.name.start:c.name.end], 60)
}

// indent measures how far the line at start is indented, as Python does: a tab goes
// to the next multiple of 8, a form feed begins anew, and of lines that backslashes
// join the first that is indented counts.
func (l *pyLexer) indent(start int) int {
	column, first := 0, 0
	for i := start; ; {
		switch c := l.at(i); {
		case c == ' ':
			column++
			i++
		case c == '\t':
			column = (column/8 + 1) * 8
			i++
		case c == '\f':
			column = 0
			i++
		case c == '\\' && l.lineEnd(i+1) > 0:
			if first == 0 {
				first = column
			}
			i += 1 + l.lineEnd(i+1)
		case first > 0:
			return first
		default:
			return column
		}
	}
}

// line finds out where the statements of a logical line stand that begins at start
// with the token t. The head of a class is stepped over; the token that follows is
// the one it returns.
func (s *kernelScan) line(l *pyLexer, start int, t pyToken) (pyToken, pyScope, error) {
	column := l.indent(start)
	switch {
	case column == 0:
		if err := s.endClass(); err != nil {
			return t, inOther, err
		}
		if l.is(t, "class") {
			return s.beginClass(l, t)
		}
		if l.isCompound(t) {
			return t, inOther, nil
		}
		return t, inFile, nil
	case s.class.open && s.class.indent == 0:
		s.class.indent = column
	}
	if s.class.open && s.class.indent == column && !l.isCompound(t) {
		return t, inClass, nil
	}
	return t, inOther, nil
}

// beginClass reads the head of a class, up to its colon.
func (s *kernelScan) beginClass(l *pyLexer, t pyToken) (pyToken, pyScope, error) {
	c := pyClass{at: t.start, strange: -1, open: true}
	t, err := l.next()
	if err != nil || t.kind != pyName {
		return t, inOther, err
	}
	for c.name = (span{t.start, t.end}); !(l.top() && l.is(t, ":")); {
		if t, err = l.next(); err != nil || t.kind == pyNewline || t.kind == pyEnd {
			return t, inOther, err
		}
	}
	if t, err = l.next(); err != nil {
		return t, inOther, err
	}
	if t.kind != pyNewline {
		c.indent = -1
	}
	s.class = c
	if l.isCompound(t) {
		return t, inOther, nil
	}
	return t, inClass, nil
}

// endClass files the class that was read, if any.
func (s *kernelScan) endClass() error {
	c := s.class
	s.class = pyClass{}
	if !c.open || !c.assigns {
		return nil
	}
	var err error
	if c.value, err = s.unwrap(c.value); err != nil {
		return err
	}
	written, err := s.isMapping(c.value)
	if err != nil {
		return err
	}
	lit, err := s.literal(c.value)
	switch {
	case err != nil:
		return err
	case written:
		s.written.add(c)
	case lit.kind == pyNone:
		s.none.add(c)
	default:
		s.unwritten.add(c)
	}
	return nil
}

// noteCallable keeps what a statement does to CALLABLE.
func (s *kernelScan) noteCallable(l *pyLexer, st pyStatement, scope pyScope) {
	c := &s.class
	switch {
	case scope != inClass:
		if st.callable && !st.extend && s.elsewhere < 0 {
			s.elsewhere = st.lead[0].start
		}
	case st.callable && !st.extend:
		c.value, c.assigns, c.strange = st.value, true, -1
	case l.is(st.lead[0], "CALLABLE") && l.changes(st, false):
		if !c.assigns {
			c.value, c.assigns = span{st.lead[0].start, st.end}, true
		}
		if c.strange < 0 {
			c.strange = st.lead[0].start
		}
	}
}

// readClasses takes the names from the one class of the file that has a CALLABLE.
// It reports false if there is no such class.
func (k *kernels) readClasses(s *kernelScan) (bool, error) {
	const want = `a dict written out there, such as {"incores": [{"func_id": 0, "name": "QK"}]}; the file is read, not run`
	unwritten := s.unwritten
	if unwritten.n == 0 {
		unwritten = s.none
	}
	switch {
	case s.written.n > 1:
		return false, s.fail(s.written.first[1].at,
			"found CALLABLE in %d classes: %s; expected one: put the class that ran into a file of its own, or pass a name map with --func-names",
			s.written.n, s.list(s.written))
	case s.written.n == 1:
		if s.unwritten.n > 0 {
			k.warnings = append(k.warnings, fmt.Sprintf(
				"%s: the names are those of class %s; the CALLABLE of other classes is not written out: %s",
				s.path, s.className(s.written.first[0]), s.list(s.unwritten)))
		}
		return true, k.class(s.pySource, s.written.first[0])
	case unwritten.n > 1:
		return false, s.fail(s.begin(unwritten.first[0].value),
			"found CALLABLE in %d classes, but not written out in any: %s; expected in one of them %s", unwritten.n, s.list(unwritten), want)
	case unwritten.n == 1:
		c := unwritten.first[0]
		return false, s.fail(s.begin(c.value), "found %s for the CALLABLE of class %s; expected %s", s.found(c.value), s.className(c), want)
	}
	return false, nil
}

// class reads the CALLABLE of a class.
func (k *kernels) class(src *pySource, c pyClass) error {
	name := src.className(c)
	var incores span
	has := false
	unpacked := -1 // offset of something whose keys are not known, and that may overwrite what came before it
	_, err := src.items(c.value, func(item span, key string, value span, ok bool) error {
		switch {
		case !ok:
			unpacked = item.start
		case key == "callables":
			return src.fail(item.start,
				"the CALLABLE of class %s describes a node: its numbers count the entries of \"callables\", which must not name kernels; "+
					"pass the file of the chip callable that ran, or a name map of level 2 with --func-names", name)
		case key == "incores":
			incores, has, unpacked = value, true, -1
		}
		return nil
	})
	if err != nil {
		return err
	}
	const want = `expected a list written out there, such as [{"func_id": 0, "name": "QK"}]; the file is read, not run`
	switch {
	case !has && unpacked >= 0:
		return src.fail(unpacked, "found no key \"incores\" in the CALLABLE of class %s, only what is unpacked here; %s", name, want)
	case !has:
		k.note(src, src.begin(c.value), "the CALLABLE of class %s has no key \"incores\"; there are no names", name)
	default:
		if err := k.list(src, incores, func(value span) error {
			return src.fail(src.begin(value), "found %s for \"incores\" in the CALLABLE of class %s; %s", src.found(value), name, want)
		}); err != nil {
			return err
		}
	}
	if unpacked >= 0 && has {
		k.note(src, unpacked, "what is unpacked here is not known, because the file is read, not run; it may replace the \"incores\" of class %s", name)
	}
	if c.strange >= 0 {
		k.changed(src, c.strange, "CALLABLE")
	}
	return nil
}

// note adds a warning with its place.
func (k *kernels) note(src *pySource, at int, format string, args ...any) {
	line, column := position(src.data, at)
	k.warnings = append(k.warnings, fmt.Sprintf("%s:%d:%d: %s", src.path, line, column, fmt.Sprintf(format, args...)))
}

// changed warns of a statement that may change what was read.
func (k *kernels) changed(src *pySource, at int, name string) {
	k.note(src, at, "what this statement does to %s is not known, because the file is read, not run; names may be missing", name)
}
