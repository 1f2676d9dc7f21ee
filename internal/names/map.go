package names

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
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
	r := &jsonReader{path: source, data: data}
	err := r.document(func() error {
		return r.mapObject(func(key string) (err error) {
			switch key {
			case "level":
				m.Level, err = r.level()
			case "orchestrator_name":
				if !r.null() {
					m.Orchestrator, err = r.text(`"orchestrator_name"`, "a string or null")
				}
			case "callable_id_to_name":
				if !r.null() {
					err = r.callables(m)
				}
			default:
				err = r.skip()
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// mapObject reads the object that a name map is.
func (r *jsonReader) mapObject(field func(key string) error) error {
	if r.peek() != '{' {
		return r.unexpected("an object with the names of functions under \"callable_id_to_name\"")
	}
	return r.object(func(key string, _ int) error { return field(key) })
}

func (r *jsonReader) callables(m *Map) error {
	if r.peek() != '{' {
		return r.unexpected(`an object such as {"0": "QK"} for "callable_id_to_name"`)
	}
	return r.object(func(key string, _ int) error {
		name, err := r.text("the name of "+quote(key), "a string")
		if err == nil {
			m.add(key, name)
		}
		return err
	})
}

// unexpected refuses the value at the position. What is not JSON at all is reported
// as that.
func (r *jsonReader) unexpected(want string) error {
	r.space()
	at, found := r.pos, r.found()
	probe := *r
	if err := probe.skip(); err != nil && probe.pos == at {
		return err
	}
	return r.fail(at, "found %s; expected %s", found, want)
}

// text reads a string that what needs.
func (r *jsonReader) text(what, want string) (string, error) {
	if r.peek() != '"' {
		return "", r.unexpected(want + " for " + what)
	}
	return r.str()
}

// level reads the level a map states. A number in quotes is taken, as the numbers
// of other files are (spec/records.md §0.2); null means that none is stated.
func (r *jsonReader) level() (int, error) {
	if r.null() {
		return 0, nil
	}
	const want = `a whole number for "level", 2 for a chip or 3 for a node`
	at := r.pos
	found := r.found()
	var text string
	var err error
	switch c := r.peek(); {
	case c == '"':
		text, err = r.str()
		found = quote(text)
	case r.atNumber():
		text, err = r.number()
	default:
		return 0, r.unexpected(want)
	}
	if err != nil {
		return 0, err
	}
	level, err := strconv.Atoi(text)
	if err != nil || level < 1 || strconv.Itoa(level) != text {
		return 0, r.fail(at, "found %s; expected %s", found, want)
	}
	return level, nil
}

// errLevelKnown ends the reading of a map of which only the level is wanted.
var errLevelKnown = errors.New("level known")

// levelOf returns the level that a map states, 0 for none. It reads only as far as
// it must: one of several maps beside the input may be large, and only one is used.
func levelOf(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	f.Close()
	if err != nil {
		return 0, err
	}
	// The head may end inside the number: then the whole file has to tell.
	if level, end, err := parseLevel(path, head); errors.Is(err, errLevelKnown) && end < len(head) {
		return level, nil
	}
	data, err := readFile(path, mapFile, mapMissing)
	if err != nil {
		return 0, err
	}
	level, _, err := parseLevel(path, data)
	if errors.Is(err, errLevelKnown) {
		err = nil
	}
	return level, err
}

// parseLevel reads a map up to its level. The error is errLevelKnown when there was
// one, nil at the end of a map without; end is where reading stopped.
func parseLevel(path string, data []byte) (level, end int, err error) {
	r := &jsonReader{path: path, data: data}
	err = r.document(func() error {
		return r.mapObject(func(key string) (err error) {
			if key != "level" {
				return r.skip()
			}
			if level, err = r.level(); err != nil {
				return err
			}
			return errLevelKnown
		})
	})
	return level, r.pos, err
}
