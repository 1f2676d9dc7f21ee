package parity

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Corpus calls check with the arguments of every entry in the corpus of a fuzz
// target, testdata/fuzz/TARGET of the test's own package, and with the entry's
// line in a table. An entry without a line fails, and so does a line without an
// entry.
func Corpus[L any](t *testing.T, target string, lines map[string]L, check func(t *testing.T, args []string, line L)) {
	t.Helper()
	entries := CorpusEntries(t, target)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		line, ok := lines[name]
		if !ok {
			t.Errorf("%s of %s has no line in the table", name, target)
			continue
		}
		t.Run(name, func(t *testing.T) { check(t, entries[name], line) })
	}
	for name := range lines {
		if entries[name] == nil {
			t.Errorf("the table has a line for %s, but %s has no such entry", name, target)
		}
	}
}

// CorpusEntries are the arguments of every entry, by its name.
func CorpusEntries(t testing.TB, target string) map[string][]string {
	t.Helper()
	return CorpusEntriesIn(t, filepath.Join("testdata", "fuzz", target))
}

// CorpusEntriesIn is CorpusEntries for the corpus of another package.
func CorpusEntriesIn(t testing.TB, dir string) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, e := range entries {
		out[e.Name()] = corpusArgs(t, filepath.Join(dir, e.Name()))
	}
	return out
}

// corpusArgs are the arguments in a corpus file: strings and bytes as they are, other values as text.
func corpusArgs(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if lines[0] != "go test fuzz v1" || len(lines) < 2 {
		t.Fatalf("%s is no corpus file", path)
	}
	var args []string
	for _, line := range lines[1:] {
		kind, value, ok := strings.Cut(strings.TrimSuffix(line, ")"), "(")
		if !ok || !strings.HasSuffix(line, ")") {
			t.Fatalf("%s: %.80s is no argument", path, line)
		}
		if kind == "string" || kind == "[]byte" {
			if value, err = strconv.Unquote(value); err != nil {
				t.Fatalf("%s: %.80s: %v", path, line, err)
			}
		}
		args = append(args, value)
	}
	return args
}
