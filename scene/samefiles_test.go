package scene_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/scene"
)

// builtGraphs is graphScene for a program: recorded by threads of the host, on both
// platforms.
func builtGraphs() *scene.Scene {
	s := onHost(graphScene())
	s.Class = "TestBuiltGraphs"
	return s
}

// What may differ between the files of two equal runs of one chip, by the end of their
// names: who wrote them, when that was, and how often the device had to wait for its host.
var differs = map[string]*regexp.Regexp{
	"chip_swimlane_records.json": regexp.MustCompile(`"stalls": \{[^}]*\}`),
	"host_phase_records.jsonl":   regexp.MustCompile(`"(pid|tid)": (\d+)`),
	".log":                       regexp.MustCompile(`\[T0x([0-9a-f]+)\]|\b(pid|tid)=(\d+)|wall_ns=\d+`),
}

// oneRun runs the scene in a process of its own. The files are by their names, without
// the process id, and without what may differ; and the process id.
func oneRun(t *testing.T, platform string) (files map[string][]byte, pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	cmd := exec.Command(self, "TestBuiltGraphs", "-p", platform, "--enable-chip-swimlane", "--enable-dep-gen", "--root", root)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(root, "outputs", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	pid = cmd.Process.Pid
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Replace(filepath.Base(path), "."+strconv.Itoa(pid)+".", ".PID.", 1)
		for end, may := range differs {
			if strings.HasSuffix(name, end) {
				text = may.ReplaceAllFunc(text, func(b []byte) []byte { return relative(b, pid) })
			}
		}
		files[name] = text
	}
	return files, pid
}

// relative is what may differ, ids of the process and its threads as distances from the
// former.
func relative(b []byte, pid int) []byte {
	for _, form := range []struct {
		number *regexp.Regexp
		base   int
	}{{regexp.MustCompile(`^\[T0x([0-9a-f]+)\]$`), 16}, {regexp.MustCompile(`^"?[pt]id"?(?:=|: )(\d+)$`), 10}} {
		if m := form.number.FindSubmatchIndex(b); m != nil {
			n, err := strconv.ParseInt(string(b[m[2]:m[3]]), form.base, 64)
			if err != nil {
				return b
			}
			return append(append(slices.Clone(b[:m[2]]), "PID+"+strconv.FormatInt(n-int64(pid), 10)...), b[m[3]:]...)
		}
	}
	return nil
}

// TestSameFiles: the files of two runs differ in the ids of their process and its threads,
// the time of day in the log, and the stalls of the capture; and in nothing else.
func TestSameFiles(t *testing.T) {
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		first, one := oneRun(t, platform)
		second, two := oneRun(t, platform)
		names := slices.Sorted(maps.Keys(first))
		if want := []string{"chip_swimlane_records.json", "deps.json", "deps_viewer.txt", "host.PID.log", "host_phase_records.jsonl", "merged_swimlane.json", "name_map_TestBuiltGraphs_basic.json"}; !slices.Equal(names, want) {
			t.Errorf("%s: the run leaves %v, want %v", platform, names, want)
		}
		if got := slices.Sorted(maps.Keys(second)); !slices.Equal(got, names) || one == two {
			t.Errorf("%s: processes %d and %d leave %v and %v", platform, one, two, names, got)
		}
		for name, text := range first {
			if !bytes.Equal(text, second[name]) {
				t.Errorf("%s: %s differs between equal runs:\n%.2000s\n%.2000s", platform, name, text, second[name])
			}
		}
		// The threads that recorded graphs have ids of their own.
		if phases := string(first["host_phase_records.jsonl"]); !strings.Contains(phases, `"pid": PID+0`) || !strings.Contains(phases, `"tid": PID+0`) || !strings.Contains(phases, `"tid": PID+1`) {
			t.Errorf("%s: %s", platform, phases)
		}
	}
}
