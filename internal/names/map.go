package names

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"swimlane/internal/jsonscan"
)

// A Map gives names to the functions one level below the level it describes, and
// to that level's orchestrator (spec/name-map.md §1). A nil Map has no names.
type Map struct {
	Source       string // path it was read from
	Level        int    // 2: one chip, 3: one node; 0: the file states none
	Orchestrator string // "": none

	names map[int64]string
	// odd holds the entries whose key is not the decimal text of an integer. No
	// function id looks one up (spec/converter.md §2.2), so they name nothing, but
	// a list of the map shows them.
	odd []Entry
}

// An Entry is one name of a Map with its key as the file spells it.
type Entry struct {
	Key  string
	Name string
}

// NewMap makes a map that no file stands behind and that states no level.
func NewMap(orchestrator string, byID map[int64]string) *Map {
	m := &Map{Orchestrator: orchestrator, names: make(map[int64]string, len(byID))}
	for id, name := range byID {
		m.names[id] = name
	}
	return m
}

// Name returns the name of a function.
func (m *Map) Name(funcID int64) (string, bool) {
	if m == nil {
		return "", false
	}
	name, ok := m.names[funcID]
	return name, ok
}

// Len returns the number of entries.
func (m *Map) Len() int {
	if m == nil {
		return 0
	}
	return len(m.names) + len(m.odd)
}

// Sorted returns the entries in the order of their numbers; keys that are no
// numbers follow in the order of their text.
func (m *Map) Sorted() []Entry {
	if m == nil {
		return nil
	}
	ids := make([]int64, 0, len(m.names))
	for id := range m.names {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	entries := make([]Entry, 0, m.Len())
	for _, id := range ids {
		entries = append(entries, Entry{strconv.FormatInt(id, 10), m.names[id]})
	}
	odd := slices.Clone(m.odd)
	slices.SortFunc(odd, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return append(entries, odd...)
}

// add takes one entry of callable_id_to_name. Only the decimal text of a number is
// that number's key: "007" and "+7" are not the text of 7.
func (m *Map) add(key, name string) {
	if id, err := strconv.ParseInt(key, 10, 64); err == nil && strconv.FormatInt(id, 10) == key {
		m.names[id] = name
		return
	}
	m.odd = append(m.odd, Entry{key, name})
}

const (
	mapFile    = "name map"
	mapMissing = "Func names JSON not found"
)

// ReadMap reads a name map from a file.
func ReadMap(path string) (*Map, error) {
	data, err := readFile(path, mapFile, mapMissing)
	if err != nil {
		return nil, err
	}
	return ParseMap(path, data)
}

// ParseMap reads a name map from memory. source is the path that errors name.
func ParseMap(source string, data []byte) (*Map, error) {
	if len(data) > maxFileSize {
		return nil, tooLarge(source, mapFile)
	}
	m := &Map{Source: source, names: map[int64]string{}}
	s := jsonscan.New(bytes.NewReader(data))
	m.read(s)
	if err := s.End(); err != nil {
		return nil, scanError(source, err)
	}
	return m, nil
}

// read reads the object that a name map is.
func (m *Map) read(s *jsonscan.Scanner) {
	beginMap(s)
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "level":
			m.Level = readLevel(s)
		case "orchestrator_name":
			if !s.TakeNull() {
				m.Orchestrator = readText(s, `a string or null for "orchestrator_name"`)
			}
		case "callable_id_to_name":
			if !s.TakeNull() {
				m.readCallables(s)
			}
		default:
			s.Skip()
		}
	}
}

func (m *Map) readCallables(s *jsonscan.Scanner) {
	if expect(s, jsonscan.Object, `an object such as {"0": "QK"} for "callable_id_to_name"`) {
		s.BeginObject()
	}
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		id := string(key)
		m.add(id, readText(s, "a string for the name of "+quote(id)))
	}
}

func beginMap(s *jsonscan.Scanner) {
	if expect(s, jsonscan.Object, `an object with the names of functions under "callable_id_to_name"`) {
		s.BeginObject()
	}
}

// expect refuses the next value if it is of another kind.
func expect(s *jsonscan.Scanner, kind jsonscan.Kind, want string) bool {
	found := s.Peek()
	if found != kind {
		s.Fail("found %s, expected %s", found, want)
	}
	return found == kind
}

func readText(s *jsonscan.Scanner, want string) string {
	if !expect(s, jsonscan.String, want) {
		return ""
	}
	return string(s.Text())
}

// readLevel reads the level a map states. A number in quotes is taken, as the
// numbers of other files are (spec/records.md §0.2); null means that none is stated.
func readLevel(s *jsonscan.Scanner) int {
	if s.TakeNull() {
		return 0
	}
	kind := s.Peek()
	at, found := s.Offset(), kind.String()
	var text string
	switch kind {
	case jsonscan.String:
		text = string(s.Text())
		found = quote(text)
	case jsonscan.Number, jsonscan.True, jsonscan.False:
		text = string(s.Raw(nil))
		found = excerpt([]byte(text), 40)
	}
	level, err := strconv.Atoi(text)
	if err != nil || level < 1 || strconv.Itoa(level) != text {
		s.FailAt(at, `found %s, expected a whole number for "level", 2 for a chip or 3 for a node`, found)
		return 0
	}
	return level
}

// levelOf returns the level that a map states, 0 for none. It reads only as far as
// it must: one of several maps beside the input may be large, and only one is used.
func levelOf(path string) (int, error) {
	f, err := openFile(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.level()
}

// level reads as much of a map as tells its level.
func (f *file) level() (int, error) {
	in := &io.LimitedReader{R: f, N: maxFileSize + 1}
	level, err := scanLevel(jsonscan.New(in))
	if err := f.changed(); err != nil {
		return 0, err
	}
	if in.N == 0 {
		return 0, tooLarge(f.Name(), mapFile)
	}
	if err != nil {
		return 0, scanError(f.Name(), err)
	}
	return level, nil
}

// scanLevel reads a map up to its level, or to the end of a map without one.
func scanLevel(s *jsonscan.Scanner) (int, error) {
	beginMap(s)
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == "level" {
			level := readLevel(s)
			return level, s.Err()
		}
		s.Skip()
	}
	return 0, s.End()
}
