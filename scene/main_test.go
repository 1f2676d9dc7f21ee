package scene_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"swimlane/internal/parity"
)

// asTest is a Go test of the scene of that program.
const asTest = `package main

import (
	"testing"

	"swimlane/scene/scenetest"
)

func TestDouble(t *testing.T) { scenetest.Run(t, doubled()) }
`

// TestProgramOfOnesOwn builds the program that docs/simulating.md shows, in a module
// of its own, and runs it, as a program and as a test.
func TestProgramOfOnesOwn(t *testing.T) {
	root := parity.Root(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "simulating.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(page)
	if shown == nil {
		t.Fatal("docs/simulating.md shows no program")
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": string(shown[1]), "go.sum": string(sums), "double_test.go": asTest,
		"go.mod": "module example.com/mine\n\ngo 1.26\n\nrequire swimlane v0.0.0\n\nreplace swimlane => " + root + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("go", "build", "-o", "mine", ".")
	out := run(filepath.Join(dir, "mine"), "TestDouble", "-p", "a5sim", "--enable-chip-swimlane", "2", "--enable-dep-gen")
	for _, want := range []string{"TestDouble::basic ... PASSED", "2 tasks in 2 submits", "Arrows: 1 of 1 edge", "1 case passed, 0 failed"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	files := func(want int, names ...string) {
		t.Helper()
		for _, name := range names {
			if found, _ := filepath.Glob(filepath.Join(dir, "outputs", "TestDouble_basic_*", name)); len(found) != want {
				t.Errorf("%d files %s, want %d", len(found), name, want)
			}
		}
	}
	files(1, "chip_swimlane_records.json", "deps.json", "deps_viewer.txt", "name_map_TestDouble_basic.json", "merged_swimlane.json", "host.*.log", "device.*.log")

	out = run("go", "test", "-v", "-count=1", "-run", "TestDouble", ".", "-platform", "a5sim", "-enable-chip-swimlane=3")
	for _, want := range []string{"--- PASS: TestDouble/basic/a5sim", "TestDouble::basic ... PASSED"} {
		if !strings.Contains(out, want) {
			t.Errorf("the test does not print %q:\n%s", want, out)
		}
	}
	files(2, "chip_swimlane_records.json", "merged_swimlane.json")
	files(1, "deps.json")
	out = run("go", "test", "-v", "-count=1", ".", "-rounds=2", "-enable-chip-swimlane", "-enable-dep-gen")
	for _, want := range []string{"--- PASS: TestDouble/basic/a2a3sim", "--- PASS: TestDouble/basic/a5sim", "dep_gen disabled: --rounds > 1", "in each of 2 rounds"} {
		if !strings.Contains(out, want) {
			t.Errorf("the test with rounds does not print %q:\n%s", want, out)
		}
	}
	files(2, "chip_swimlane_records.json")
}
