package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/parity"
	"swimlane/internal/trace/check"
)

// placedByOrder are the edge cases whose references place the single scheduler
// stream by order of appearance, which we do only when told to.
var placedByOrder = []string{"two_sibling_maps", "level2_and_level3_sibling_maps"}

// byOrder tells convert to place streams by order of appearance.
var byOrder = []string{"--stream-order", "appearance"}

// parityCase is one conversion of a real capture and its reference.
type parityCase struct {
	name      string
	dir       string   // the capture
	input     string   // the records file in it
	flags     []string // of convert
	reference string   // a file in dir/reference
	options   parity.Options
}

// TestParity converts every capture that has a reference trace and compares.
func TestParity(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	cases := append(captureCases(t, captures), edgeParityCases(t, captures)...)
	if len(cases) == 0 {
		t.Fatalf("no reference traces in %s", captures)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// run converts a copy of the capture and checks the result.
func (c parityCase) run(t *testing.T) {
	t.Helper()
	dir := copyCapture(t, c.dir)
	out := filepath.Join(dir, "out.json")
	args := append([]string{"convert", filepath.Join(dir, c.input), "-o", out}, c.flags...)
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), args); code != 0 {
		t.Fatalf("swimlane %s: exit %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	ref, err := parity.ReadFile(filepath.Join(c.dir, "reference", c.reference))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := parity.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parity.Compare(ref, ours, c.options) {
		t.Error(d)
	}
	report, err := check.File(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		// A name that holds a zero byte must survive in the file, whatever viewers make of it.
		if f.Severity != check.Note && !(c.name == "edge/names_special" && f.Rule == "string-nul") {
			t.Errorf("the viewer would object: %v, %v times: %v", f.Rule, f.Count, f.Examples)
		}
	}
}

// captureCases returns the cases of the recorded and rewritten captures.
func captureCases(t *testing.T, captures string) []parityCase {
	t.Helper()
	var out []parityCase
	for _, pattern := range []string{"a2a3sim_*", "a5sim_*", "gs_*"} {
		dirs, err := filepath.Glob(filepath.Join(captures, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			out = append(out, casesOf(dir, filepath.Base(dir), "chip_swimlane_records.json", nil, parity.Options{})...)
		}
	}
	return out
}

// lossy are the edge cases that lost records, which we mark.
var lossy = []string{"unmatched_scheduler_rows", "host_capture_partial"}

// edgeParityCases returns the edge cases that are drawn.
func edgeParityCases(t *testing.T, captures string) []parityCase {
	t.Helper()
	var out []parityCase
	for _, dir := range edgeDirs(t, captures) {
		want := readExpectation(t, dir)
		if want.exit != 0 {
			continue
		}
		name := filepath.Base(dir)
		var flags []string
		if slices.Contains(placedByOrder, name) {
			flags = byOrder
		}
		options := parity.Options{UnknownKinds: name == "unknown_phase_kinds", LossMarks: slices.Contains(lossy, name)}
		out = append(out, casesOf(dir, "edge/"+name, want.args[0], flags, options)...)
		if hasReference(dir, "trace_by_order.json.gz") {
			out = append(out, parityCase{"edge/" + name + "/by_order", dir, want.args[0],
				byOrder, "trace_by_order.json.gz", options})
		}
	}
	return out
}

// casesOf returns the cases of a capture, plain and with the overhead
// counters, as far as it has references for them.
func casesOf(dir, name, input string, flags []string, options parity.Options) []parityCase {
	var out []parityCase
	if hasReference(dir, "trace.json.gz") {
		out = append(out, parityCase{name, dir, input, flags, "trace.json.gz", options})
	}
	if hasReference(dir, "trace_overhead.json.gz") {
		out = append(out, parityCase{name + "/overhead", dir, input,
			append(slices.Clone(flags), "--overhead"), "trace_overhead.json.gz", options})
	}
	return out
}

func hasReference(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, "reference", name))
	return err == nil
}

// expectation is an expect.txt.
type expectation struct {
	args           []string // of the command, without its name
	exit           int
	output         string
	stdout, stderr []string // substrings
}

// readExpectation reads the expect.txt of an edge case.
func readExpectation(t *testing.T, dir string) expectation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expect.txt"))
	if err != nil {
		t.Fatal(err)
	}
	e := expectation{exit: -1}
	for line := range strings.Lines(string(data)) {
		// The blank at the end of `Error: ` belongs to the text.
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch {
		case key == "command":
			words := strings.Fields(value)
			if len(words) < 2 || words[0] != "swimlane_converter" {
				t.Fatalf("%s: unexpected command %q", dir, value)
			}
			e.args = words[1:]
		case key == "exit":
			if e.exit, err = strconv.Atoi(value); err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
		case key == "output":
			e.output = value
		case key == "stdout contains":
			e.stdout = append(e.stdout, value)
		case key == "stderr contains":
			e.stderr = append(e.stderr, value)
		case key == "note" || !ok && strings.TrimSpace(line) == "":
		default:
			t.Fatalf("%s: unexpected line %q in expect.txt", dir, line)
		}
	}
	if e.args == nil || e.exit < 0 || e.output == "" {
		t.Fatalf("%s: incomplete expect.txt", dir)
	}
	return e
}

// edgeDirs returns the directories of the edge cases.
func edgeDirs(t *testing.T, captures string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(captures, "edge/*/expect.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no edge cases in %s", captures)
	}
	for i, f := range files {
		files[i] = filepath.Dir(f)
	}
	return files
}

// TestEdgeCases runs the command of every edge case in a copy of its directory,
// under the former name of the program.
func TestEdgeCases(t *testing.T) {
	for _, dir := range edgeDirs(t, filepath.Join(parity.Shared(t), "captures")) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := readExpectation(t, dir)
			work := copyCapture(t, dir)
			before := filesIn(t, work)
			t.Chdir(work)
			args := append([]string{"swimlane_converter"}, want.args...)
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), args)
			if code != want.exit {
				t.Errorf("exit %d, want %d", code, want.exit)
			}
			for _, text := range want.stdout {
				if !strings.Contains(stdout.String(), text) {
					t.Errorf("stdout lacks %q", text)
				}
			}
			for _, text := range want.stderr {
				if !strings.Contains(stderr.String(), text) {
					t.Errorf("stderr lacks %q", text)
				}
			}
			var wrote []string // what is in the trace is a matter of TestParity
			if want.output != "none" {
				wrote = []string{"merged_swimlane.json"}
			}
			added := slices.DeleteFunc(filesIn(t, work), func(f string) bool { return slices.Contains(before, f) })
			if !slices.Equal(added, wrote) {
				t.Errorf("files written: %q, want %q", added, wrote)
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", stdout.String(), stderr.String())
			}
		})
	}
}

// copyCapture copies the inputs of a capture, which must not be written to,
// into a new directory; packed ones are unpacked under their plain name.
func copyCapture(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() { // above all the references
			continue
		}
		if err := copyPlain(filepath.Join(dir, e.Name()), to); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// copyPlain copies a file into a directory, unpacked.
func copyPlain(from, dir string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	var r io.Reader = in
	name, packed := strings.CutSuffix(filepath.Base(from), ".gz")
	if packed {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		defer z.Close()
		r = z
	}
	out, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, r)
	return err
}

// filesIn lists the files below a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, relErr := filepath.Rel(dir, path)
			out, err = append(out, rel), relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
