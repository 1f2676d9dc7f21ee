package names

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swimlane/capture"
	"swimlane/internal/jsonscan"
)

// FindForGraph gets the names for a task graph in the order of spec/deps.md §6.3:
// --func-names, then the newest sibling name_map*.json, then none. Unlike Find it never
// fails: a map that cannot be used is worth a warning, and then there are no names. It
// also takes a flat object {id: name}.
func FindForGraph(req Request) Result {
	if req.FuncNames != "" {
		return req.forGraph(req.FuncNames, FromFuncNames)
	}
	if req.Input == "-" { // nothing lies beside the standard input
		return Result{}
	}
	for _, dir := range capture.Dirs(req.Input) {
		files, err := siblings(dir)
		if err != nil {
			return Result{Warnings: []string{fmt.Sprintf("cannot look for name maps beside %s: %v; pass --func-names explicitly.", req.Input, err)}}
		}
		if len(files) == 0 {
			continue
		}
		return req.newestOf(dir, files)
	}
	return Result{}
}

// Beside lists the name maps that lie beside an input, whether they are used or not.
func Beside(input string) (paths []string) {
	if input == "-" {
		return nil
	}
	for _, dir := range capture.Dirs(input) {
		files, _ := siblings(dir)
		for _, name := range files {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// newestOf uses the map of a directory that was written last, of those whose level fits.
func (req Request) newestOf(dir string, files []string) Result {
	type candidate struct {
		name string
		at   time.Time
	}
	var all []candidate
	for _, name := range files {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil {
			all = append(all, candidate{name, st.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(b.name, a.name)) })
	var fit []string
	others := map[int]bool{}
	for _, c := range all {
		// What level a map has that cannot be read is not known.
		if level, err := levelOf(filepath.Join(dir, c.name)); err != nil || req.fits(level) {
			fit = append(fit, c.name)
		} else {
			others[level] = true
		}
	}
	if len(fit) == 0 {
		return Result{Warnings: []string{req.otherLevelWarning("next to", files, others)}}
	}
	got := req.forGraph(filepath.Join(dir, fit[0]), FromSibling)
	if len(fit) > 1 {
		older := slices.Clone(fit[1:])
		slices.Sort(older)
		got.Warnings = append([]string{fmt.Sprintf("several name maps lie beside %s; using %s, the newest (not %s); pass --func-names to choose.",
			req.Input, fit[0], strings.Join(older, ", "))}, got.Warnings...)
	}
	return got
}

// forGraph reads a map for a graph.
func (req Request) forGraph(path, how string) Result {
	m, err := readMapOrFlat(path)
	switch {
	case err != nil:
		return Result{Warnings: []string{fmt.Sprintf("couldn't read %s: %s; functions have no names", path, strings.Join(strings.Fields(err.Error()), " "))}}
	case !req.fits(m.Level):
		return Result{Warnings: []string{fmt.Sprintf(
			"the names of %s are ignored: it describes level %d (%s), the data is of level %d; pass a name map of level %d.",
			path, m.Level, meaning(m.Level), req.Level, req.Level)}}
	}
	return Result{Map: m, How: how}
}

// readMapOrFlat reads a name map, or a flat object {id: name}.
func readMapOrFlat(path string) (*Map, error) {
	data, err := readFile(path, mapFile, mapMissing)
	if err != nil {
		return nil, err
	}
	m, err := ParseMap(path, data)
	if err != nil || m.Len() > 0 {
		return m, err
	}
	return parseFlat(m, data)
}

// parseFlat takes the names of a flat object into a map that has none.
func parseFlat(m *Map, data []byte) (*Map, error) {
	s := jsonscan.New(bytes.NewReader(data))
	s.BeginObject()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		id := string(key)
		if isNumber := id != "" && strings.Trim(id, "0123456789") == ""; isNumber && s.Peek() == jsonscan.String {
			m.add(id, string(s.Text()))
			continue
		}
		s.Skip()
	}
	if err := s.End(); err != nil {
		return nil, scanError(m.Source, err)
	}
	return m, nil
}
