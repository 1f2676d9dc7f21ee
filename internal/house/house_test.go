package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/parity"
)

// source is one Go file of the tree.
type source struct {
	path  string // from the root, with slashes
	room  string // its directory
	test  bool
	ast   *ast.File
	lines int
}

// house is the tree as the tests see it.
type house struct {
	root   string
	module string
	fset   *token.FileSet
	files  []*source
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// open parses the tree.
func open(t *testing.T) *house {
	t.Helper()
	h := &house{root: parity.Root(t), fset: token.NewFileSet()}
	m := moduleLine.FindStringSubmatch(h.read(t, "go.mod"))
	if m == nil {
		t.Fatal("go.mod names no module")
	}
	h.module = m[1]
	err := filepath.WalkDir(h.root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && file != h.root && (name == "testdata" || strings.ContainsAny(name[:1], "._")) {
			return filepath.SkipDir
		}
		if e.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(h.fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(h.root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		h.files = append(h.files, &source{
			path: rel, room: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"),
			ast: parsed, lines: h.fset.File(parsed.FileStart).LineCount(),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// read returns a text file of the tree.
func (h *house) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// code are the files that are no tests.
func (h *house) code() []*source {
	return slices.DeleteFunc(slices.Clone(h.files), func(f *source) bool { return f.test })
}

// rooms are the directories with Go files that are no tests.
func (h *house) rooms() []string {
	var out []string
	for _, f := range h.code() {
		if !slices.Contains(out, f.room) {
			out = append(out, f.room)
		}
	}
	return out
}

// imports are the rooms that a file imports.
func (h *house) imports(f *source) []string {
	var out []string
	for _, i := range f.ast.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		if room, ours := strings.CutPrefix(name, h.module+"/"); ours {
			out = append(out, room)
		}
	}
	return out
}

// place is where a node stands.
func (h *house) place(f *source, n ast.Node) string {
	return f.path + ":" + strconv.Itoa(h.fset.Position(n.Pos()).Line)
}

// stringsIn calls look with every string literal of a file.
func stringsIn(f *source, look func(n ast.Node, text string)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				look(lit, text)
			}
		}
		return true
	})
}

// row is a row of a table in a page.
type row []string

// tableOf returns the rows of the table of a page whose first column has the
// given heading; none if the page has no such table.
func tableOf(page, heading string) []row {
	var out []row
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		var cells row
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		switch {
		case cells[0] == heading:
			inside = true
		case inside && strings.Trim(cells[0], "-: ") != "":
			out = append(out, cells)
		}
	}
	return out
}

var quoted = regexp.MustCompile("`([^`]+)`")

// namesIn are the texts between backquotes.
func namesIn(cell string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}
