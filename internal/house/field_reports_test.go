package house_test

import (
	"go/ast"
	"go/token"
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

const fieldReports = "docs/field-reports.md"

var (
	reference    = regexp.MustCompile(`^(.*)/((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)(?:/(.+))?$`)
	reportHead   = regexp.MustCompile(`(?m)^(\d+)\. \*\*P[0-2]`)
	reportNumber = regexp.MustCompile(`\d+`)
)

// TestFieldReports holds the table of field reports against the tree: every row
// names tests, as package/Test or package/Test/subtest, and they are there.
func TestFieldReports(t *testing.T) {
	h := open(t)
	rows := tableOf(h.read(t, fieldReports), "Report")
	if len(rows) == 0 {
		t.Fatalf("%s has no table with the column Report", fieldReports)
	}
	last := 0
	for _, r := range rows {
		n, err := strconv.Atoi(r[0])
		if err != nil || n <= last {
			t.Errorf("%s: the report %q stands behind %d", fieldReports, r[0], last)
		}
		last = n
		if len(r) != 4 || slices.Contains(r, "") {
			t.Errorf("%s: report %d has not four cells: %q", fieldReports, n, r)
			continue
		}
		names := namesIn(r[3])
		if len(names) == 0 {
			t.Errorf("%s: report %d names no test", fieldReports, n)
		}
		for _, name := range names {
			if why := h.lacksTest(name); why != "" {
				t.Errorf("%s: report %d names the test %s: %s", fieldReports, n, name, why)
			}
		}
	}
}

// lacksTest says what is missing of a test, "" if nothing is.
func (h *house) lacksTest(name string) string {
	m := reference.FindStringSubmatch(name)
	if m == nil {
		return "expected package/Test or package/Test/subtest"
	}
	for _, f := range h.files {
		if !f.test || f.room != m[1] {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name != m[2] {
				continue
			}
			if m[3] == "" || hasString(fn, m[3]) {
				return ""
			}
			if _, err := os.Stat(filepath.Join(h.root, filepath.FromSlash(path.Join(m[1], "testdata/script", m[3]+".txtar")))); err == nil {
				return ""
			}
			return m[1] + " has the test, but not the subtest"
		}
	}
	return m[1] + " has no such test"
}

// hasString tells whether a string of the function is the given one.
func hasString(fn *ast.FuncDecl, text string) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil && s == text {
				found = true
			}
		}
		return !found
	})
	return found
}

func TestLacksTest(t *testing.T) {
	h := open(t)
	for name, there := range map[string]bool{
		"internal/house/TestLacksTest": true, "internal/house/TestLacksTest/a string": true, "cmd/swimlane/TestScripts/convert": true,
		"TestLacksTest": false, "internal/house/TestLacks": false, "internal/draw/TestLacksTest": false, "internal/house/TestLacksTest/a str" + "ong": false,
		"cmd/swimlane/TestScripts/con" + "vent": false, "house/TestLacksTest": false,
	} {
		if why := h.lacksTest(name); (why == "") != there {
			t.Errorf("%s: there: %v, want %v (%s)", name, !there, there, why)
		}
	}
	_ = "a string"
}

// TestEveryReportIsPlaced: each report is in the table, or in the last line with a reason.
func TestEveryReportIsPlaced(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(parity.Shared(t), "design", "field-reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	h := open(t)
	page := h.read(t, fieldReports)
	placed := map[string]int{}
	for _, r := range tableOf(page, "Report") {
		placed[r[0]]++
	}
	_, rest, ok := strings.Cut(page, "Not here:")
	if !ok {
		t.Fatalf("%s does not say what is not here", fieldReports)
	}
	for _, n := range reportNumber.FindAllString(rest, -1) {
		placed[n]++
	}
	for _, m := range reportHead.FindAllStringSubmatch(string(text), -1) {
		if placed[m[1]] != 1 {
			t.Errorf("%s places report %s %d times, want once", fieldReports, m[1], placed[m[1]])
		}
	}
}
