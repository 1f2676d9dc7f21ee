package house_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fence is one fenced block of a page.
type fence struct {
	language string
	lines    []string
}

func fences(page string) []fence {
	var out []fence
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\r\n")
		switch mark, isMark := strings.CutPrefix(line, "```"); {
		case isMark && inside:
			inside = false
		case isMark:
			inside = true
			out = append(out, fence{language: strings.TrimSpace(mark)})
		case inside:
			f := &out[len(out)-1]
			f.lines = append(f.lines, line)
		}
	}
	return out
}

// transcript is a command with what it prints; a line … stands for any lines.
type transcript struct {
	command string
	output  []string
}

// transcripts are the blocks called console: lines that begin with a prompt are
// commands, the others are what the terminal shows.
func transcripts(page string) []transcript {
	var out []transcript
	for _, f := range fences(page) {
		if f.language != "console" {
			continue
		}
		for _, line := range f.lines {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				out = append(out, transcript{command: command})
			} else if len(out) > 0 {
				t := &out[len(out)-1]
				t.output = append(t.output, line)
			}
		}
	}
	return out
}

const runProgram = "go run ./cmd/swimlane"

// TestReadmeBeginsWithTwoCommands: the first thing to try, and the tests.
func TestReadmeBeginsWithTwoCommands(t *testing.T) {
	h := open(t)
	f := fences(h.read(t, "README.md"))
	want := []string{runProgram + " convert testdata/small", "go test ./..."}
	if len(f) == 0 || !slices.Equal(f[0].lines, want) {
		t.Errorf("the first block of README.md is not %q", want)
	}
}

// TestTranscripts runs the commands that the pages show and compares what they print.
func TestTranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds and runs the program")
	}
	h := open(t)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "swimlane"), "./cmd/swimlane")
	build.Dir = h.root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := 0
	for _, page := range h.pages(t) {
		list := transcripts(h.read(t, page))
		if len(list) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			// The program writes beside its input: it gets a copy.
			work := t.TempDir()
			if err := os.CopyFS(filepath.Join(work, "testdata"), os.DirFS(filepath.Join(h.root, "testdata"))); err != nil {
				t.Fatal(err)
			}
			for _, x := range list {
				command := strings.Replace(x.command, runProgram, "swimlane", 1)
				if program, _, _ := strings.Cut(command, " "); !slices.Contains([]string{"swimlane", "cp", "grep"}, program) {
					continue
				}
				ran++
				sh := exec.Command("sh", "-c", command)
				sh.Dir = work
				sh.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
				out, err := sh.CombinedOutput()
				var printed []string
				if text := strings.TrimRight(string(out), "\n"); text != "" {
					printed = strings.Split(text, "\n")
				}
				if d := differs(x.output, printed); d != "" {
					t.Errorf("$ %s\n%s\n(%v) it prints:\n%s", x.command, d, err, out)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("the pages show no transcripts, so nothing was compared")
	}
}

// volatile is what may change without a word here: sizes of files, which follow every
// change of a format, the time of day, times of this machine, process ids, and the
// last digits of results, which are not the same on all processors.
var volatile = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(` *[0-9.]+ (bytes|kB|MB)`), " SIZE"},
	{regexp.MustCompile(`_[0-9]{8}_[0-9]{6}`), "_TIME"},
	{regexp.MustCompile(`here    [0-9.]+ s`), "here SECONDS"},
	{regexp.MustCompile(`(host|device)\.[0-9]+\.log`), "$1.PID.log"},
	{regexp.MustCompile(`largest error [0-9.e-]+`), "largest error SMALL"},
}

// differs compares what a page shows with what was printed.
func differs(shown, printed []string) string {
	plain := func(s string) string {
		s = strings.TrimRight(s, " ")
		for _, v := range volatile {
			s = v.what.ReplaceAllString(s, v.as)
		}
		return s
	}
	at := 0
	skip := false
	for _, line := range shown {
		if strings.TrimSpace(line) == "…" {
			skip = true
			continue
		}
		found := at
		if skip {
			for found < len(printed) && plain(printed[found]) != plain(line) {
				found++
			}
		}
		if found >= len(printed) || plain(printed[found]) != plain(line) {
			return fmt.Sprintf("the page shows %q, which is not printed at line %d", line, at+1)
		}
		at, skip = found+1, false
	}
	if !skip && at < len(printed) {
		return fmt.Sprintf("the page does not show line %d and on: %q", at+1, printed[at])
	}
	return ""
}

func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		equal          bool
	}{
		{"a|b", "a|b", true},
		{"a|…", "a|b|c", true},
		{"…|c", "a|b|c", true},
		{"a|…|c", "a|c", true},
		{"  3.1 kB: x", "  12 bytes: x", true},
		{"outputs/TestA_b_20260416_151301/host.12.log  3 kB", "outputs/TestA_b_20270101_000000/host.7.log    12 kB", true},
		{"outputs/TestA_b_20260416_151301", "outputs/TestA_c_20260416_151301", false},
		{"a", "a|b", false},
		{"a|b", "a", false},
		{"a|…|d", "a|b|c", false},
		{"…|b", "a|b|c", false},
	} {
		got := differs(strings.Split(c.shown, "|"), strings.Split(c.printed, "|"))
		if (got == "") != c.equal {
			t.Errorf("%q against %q: %q", c.shown, c.printed, got)
		}
	}
}
