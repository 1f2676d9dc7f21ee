package house_test

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// inRoom tells whether a room is one of the given ones or below one.
func inRoom(room string, rooms ...string) bool {
	for _, r := range rooms {
		if room == r || strings.HasPrefix(room, r+"/") {
			return true
		}
	}
	return false
}

var (
	// generation finds the tag or the nickname of a generation in a text.
	generation = regexp.MustCompile(`(?i)\bseed[- ]era\b|\barchived\b|\b(?-i:G[0-4S])\b`)
	// generationName finds it in an identifier, where words have no blanks between them.
	generationName = regexp.MustCompile(`(?i)seedera|archived|^g[0-4s]$|(?-i:^[gG][0-4S]($|[A-Z_])|[a-z0-9_]G[0-4S]($|[A-Z_]))`)
)

// TestNoGenerationOutsideCapture: generations of captures are told apart at the
// door; behind it the code follows the facts of a Dialect.
func TestNoGenerationOutsideCapture(t *testing.T) {
	h := open(t)
	for _, f := range h.code() {
		if inRoom(f.room, "capture") {
			continue
		}
		stringsIn(f, func(n ast.Node, text string) {
			if m := generation.FindString(text); m != "" {
				t.Errorf("%s: a string names the generation %q", h.place(f, n), m)
			}
		})
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && generationName.MatchString(id.Name) {
				t.Errorf("%s: the identifier %s names a generation", h.place(f, n), id.Name)
			}
			return true
		})
	}
}

func TestGenerationPatterns(t *testing.T) {
	for text, want := range map[string]bool{
		"GS": true, "a G3 file": true, "seed-era": true, "Archived shape": true, "the seed era": true,
		"G5": false, "LGS": false, "MiGS-1": false, "G1a": false, "gs": false, "bags": false,
	} {
		if got := generation.MatchString(text); got != want {
			t.Errorf("text %q: %v, want %v", text, got, want)
		}
	}
	for name, want := range map[string]bool{
		"G1": true, "gs": true, "readG3": true, "GSReader": true, "isSeedEra": true, "archivedRows": true, "g4": true,
		"flags": false, "G": false, "GC": false, "graph": false, "Gaps": false, "hashG5": false, "msgs": false, "GShape": false,
	} {
		if got := generationName.MatchString(name); got != want {
			t.Errorf("identifier %q: %v, want %v", name, got, want)
		}
	}
}

// knowsClock are the rooms that may know the rate of the device clock, and why.
var knowsClock = map[string]string{
	"capture":                 "reads it from the file",
	"timeline":                "turns cycles into time",
	"internal/analysis/stats": "sums are exact in cycles and become µs when they are shown",
	"bench/gen":               "writes captures",
	"internal/collector":      "writes it, and anchors hold the device's clock in cycles",
	"internal/abi":            "the rate is a constant of the architecture",
	"internal/sim":            "makes the clock: virtual time is in ns, the counter and the lengths of kernels in cycles",
}

// TestCyclesBecomeTimeInTimeline: who does not know the clock's rate cannot
// turn cycles into time.
func TestCyclesBecomeTimeInTimeline(t *testing.T) {
	h := open(t)
	seen := map[string]bool{}
	found := func(f *source, n ast.Node, what string) {
		seen[f.room] = true
		if knowsClock[f.room] == "" {
			t.Errorf("%s: %s is the rate of the device clock; let timeline.Clock turn cycles into time", h.place(f, n), what)
		}
	}
	for _, f := range h.code() {
		stringsIn(f, func(n ast.Node, text string) {
			if strings.Contains(text, "clock_freq") {
				found(f, n, "clock_freq_hz")
			}
		})
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Hz" || s.Sel.Name == "ClockHz") {
				found(f, n, s.Sel.Name)
			}
			return true
		})
	}
	for room := range knowsClock {
		if !seen[room] {
			t.Errorf("%s does not use the clock's rate any more; take it out of knowsClock and of %s", room, architecture)
		}
	}
}

// TestEventsAreFormattedInTrace: trace events are written by the writers and read by what checks them.
func TestEventsAreFormattedInTrace(t *testing.T) {
	h := open(t)
	for _, f := range h.code() {
		if inRoom(f.room, "trace", "internal/trace", "internal/parity") {
			continue
		}
		stringsIn(f, func(n ast.Node, text string) {
			if text == "ph" || strings.Contains(text, `"ph"`) {
				t.Errorf("%s: formats trace events, which is the writers' work", h.place(f, n))
			}
		})
	}
}

// TestUnsafe: views over shared bytes are made in one place.
func TestUnsafe(t *testing.T) {
	h := open(t)
	for _, f := range h.files {
		for _, i := range f.ast.Imports {
			if i.Path.Value == `"unsafe"` && f.room != "internal/abi" {
				t.Errorf("%s imports unsafe", f.path)
			}
		}
	}
}

const (
	maxFileLines     = 700
	maxFunctionLines = 120
)

// TestSizes finds files that hold more than one subject, and functions that do
// more than one thing.
func TestSizes(t *testing.T) {
	h := open(t)
	for _, f := range h.code() {
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines, at most %d; look for a second subject in it", f.path, f.lines, maxFileLines)
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := h.fset.Position(fn.End()).Line - h.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, at most %d", h.place(f, fn), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}
