package house_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages are README.md and everything in docs.
func (h *house) pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(h.root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, err := filepath.Rel(h.root, f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

var link = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)

// TestLinksLead follows the links of the pages that stay inside the tree.
func TestLinksLead(t *testing.T) {
	h := open(t)
	for _, page := range h.pages(t) {
		for _, m := range link.FindAllStringSubmatch(h.read(t, page), -1) {
			to := m[1]
			if to == "" || strings.Contains(to, "://") {
				continue
			}
			at := path.Join(path.Dir(page), to)
			if strings.HasPrefix(at, "..") {
				t.Errorf("%s: the link %s leads out of the tree", page, to)
				continue
			}
			if _, err := os.Stat(filepath.Join(h.root, filepath.FromSlash(at))); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", page, to, err)
			}
		}
	}
}

// testName finds the names of tests in a page.
var testName = regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Z][A-Za-z0-9_]*)")

// TestNamedTestsExist holds the tests that pages name against the tree, above
// all those in the table of field reports.
func TestNamedTestsExist(t *testing.T) {
	h := open(t)
	have := map[string]bool{}
	for _, f := range h.files {
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				have[fn.Name.Name] = true
			}
		}
	}
	for _, page := range h.pages(t) {
		for _, m := range testName.FindAllStringSubmatch(h.read(t, page), -1) {
			if !have[m[1]] {
				t.Errorf("%s names the test %s, which does not exist", page, m[1])
			}
		}
	}
}

// TestDifferencesNameRules: every documented difference from the reference is
// undone by a rule of the comparison, and the page says by which.
func TestDifferencesNameRules(t *testing.T) {
	const page = "docs/differences.md"
	h := open(t)
	declared := map[string]bool{}
	for _, f := range h.code() {
		if f.room != "internal/parity" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					declared[id.Name] = true
				}
			case *ast.Field:
				for _, id := range n.Names {
					declared[id.Name] = true
				}
			}
			return true
		})
	}
	rows := tableOf(h.read(t, page), "Rule")
	if len(rows) == 0 {
		t.Fatalf("%s has no table with the column Rule", page)
	}
	for _, r := range rows {
		names := namesIn(r[0])
		if len(names) == 0 {
			t.Errorf("%s: a row names no rule: %q", page, r)
		}
		for _, name := range names {
			if !declared[name] {
				t.Errorf("%s names the rule %s, which internal/parity does not declare", page, name)
			}
		}
	}
}
