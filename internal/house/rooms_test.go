package house_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const architecture = "docs/architecture.md"

// room is a row of the import table.
type room struct {
	all     bool
	imports []string
}

// table reads the import table: the rooms that exist, and those that are planned.
func table(t *testing.T, h *house) (rooms map[string]room, planned []string) {
	t.Helper()
	page := h.read(t, architecture)
	rooms = map[string]room{}
	for _, r := range tableOf(page, "Room") {
		names := namesIn(r[0])
		if len(r) != 3 || len(names) != 1 {
			t.Fatalf("%s: a row of the import table is not one room, its job and its imports: %q", architecture, r)
		}
		if _, twice := rooms[names[0]]; twice {
			t.Errorf("%s: %s is in the import table twice", architecture, names[0])
		}
		imports := namesIn(r[2])
		if len(imports) == 0 && r[2] != "–" && r[2] != "all" {
			t.Errorf("%s: the imports of %s are %q, expected names in backquotes, all, or –", architecture, names[0], r[2])
		}
		rooms[names[0]] = room{all: r[2] == "all", imports: imports}
	}
	if len(rooms) == 0 {
		t.Fatalf("%s has no table with the columns Room, Its one job, Imports", architecture)
	}
	for _, r := range tableOf(page, "Planned room") {
		planned = append(planned, namesIn(r[0])...)
	}
	return rooms, planned
}

// TestImportsFollowTheTable allows only the imports that the page lists.
func TestImportsFollowTheTable(t *testing.T) {
	h := open(t)
	rooms, _ := table(t, h)
	used := map[string]bool{}
	for _, f := range h.code() {
		r, ok := rooms[f.room]
		if !ok {
			continue // TestEveryPackageIsInTheTable says so
		}
		for _, to := range h.imports(f) {
			used[f.room+" "+to] = true
			if !r.all && !slices.Contains(r.imports, to) {
				t.Errorf("%s imports %s, which the table of %s does not allow to %s", f.path, to, architecture, f.room)
			}
		}
	}
	for name, r := range rooms {
		for _, to := range r.imports {
			if _, ok := rooms[to]; !ok {
				t.Errorf("%s: %s may import %s, which is no room of the table", architecture, name, to)
			}
			if !used[name+" "+to] {
				t.Logf("%s: %s may import %s and does not", architecture, name, to)
			}
		}
	}
}

// TestEveryPackageIsInTheTable compares the tree with the page, both ways.
func TestEveryPackageIsInTheTable(t *testing.T) {
	h := open(t)
	rooms, planned := table(t, h)
	here := h.rooms()
	for _, name := range here {
		if _, ok := rooms[name]; !ok {
			t.Errorf("the package %s is not in the import table of %s", name, architecture)
		}
		if slices.Contains(planned, name) {
			t.Errorf("%s lists %s as planned, but it exists", architecture, name)
		}
	}
	for name := range rooms {
		if !slices.Contains(here, name) {
			t.Errorf("%s lists the room %s, which does not exist", architecture, name)
		}
	}
}

// TestImportsOfTests lists what only tests import, and keeps the packages that
// serve tests out of the program.
func TestImportsOfTests(t *testing.T) {
	h := open(t)
	more := map[string][]string{} // by room, beyond what its code imports
	for _, f := range h.files {
		for _, to := range h.imports(f) {
			switch {
			case f.test && strings.HasPrefix(to, "cmd/"):
				t.Errorf("%s imports the program %s", f.path, to)
			case f.test && to != f.room && !slices.Contains(more[f.room], to):
				more[f.room] = append(more[f.room], to)
			}
		}
	}
	for _, f := range h.code() {
		for _, i := range f.ast.Imports {
			if i.Path.Value == `"testing"` && f.room != "internal/parity" && f.room != "scene/scenetest" {
				t.Errorf("%s imports testing and is no test", f.path)
			}
		}
		for _, to := range h.imports(f) {
			more[f.room] = slices.DeleteFunc(more[f.room], func(room string) bool { return room == to })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if list := more[name]; len(list) > 0 {
			slices.Sort(list)
			t.Logf("tests of %s also import %s", name, strings.Join(list, ", "))
		}
	}
}
