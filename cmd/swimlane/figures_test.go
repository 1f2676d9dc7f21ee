package main

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/parity"
)

// TestReferenceFigures compares the statistics of every capture that has a
// reference with the reference text: figure by figure, and for the captures
// whose references are of the same generation as the format the whole console
// output, line by line.
func TestReferenceFigures(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	found := 0
	err := filepath.WalkDir(captures, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "stats.txt" {
			return err
		}
		dir := filepath.Dir(filepath.Dir(path))
		name, err := filepath.Rel(captures, dir)
		if err != nil {
			return err
		}
		found++
		t.Run(filepath.ToSlash(name), func(t *testing.T) { compareFigures(t, dir, path) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Fatalf("no reference statistics in %s", captures)
	}
}

func compareFigures(t *testing.T, dir, reference string) {
	text, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	work := copyCapture(t, dir)
	want := readFigures(t, string(text))

	got := stdoutOf(t, "stats", filepath.Join(work, "chip_swimlane_records.json"))
	sameFigures(t, want, readFigures(t, got))

	if strings.HasPrefix(filepath.Base(dir), "gs_") {
		// References name files without directories.
		t.Chdir(work)
		sameLines(t, string(text), stdoutOf(t, "swimlane_converter", "chip_swimlane_records.json"))
		sameLines(t, block(string(text)), got)
	}
}

// stdoutOf is what a command that succeeds writes to its standard output.
func stdoutOf(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), args); code != 0 {
		t.Fatalf("swimlane %s: exit %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String()
}

// block is the statistics in the console output of a conversion.
func block(text string) string {
	from := strings.Index(text, "\n"+strings.Repeat("=", 140))
	to := strings.LastIndex(text, strings.Repeat("=", 110)+"\n")
	if from < 0 || to < from {
		return ""
	}
	return text[from : to+111]
}

// figures are the numbers of a statistics text by what they are of.
type figures map[string]string

var (
	row     = regexp.MustCompile(`^(-?\d+)\s+(\S.*?)\s+(\d+)((?:\s+(?:-?[\d.]+%?|-)){7})$`)
	total   = regexp.MustCompile(`^TOTAL\s+(\d+)\s+(\S+)\s+(\S+)$`)
	span    = regexp.MustCompile(`^(Total Test Time|AICore Observed Span): (\S+) us`)
	perTask = regexp.MustCompile(`Avg Exec = (\S+) us,\s+Avg Latency \(.*?\) = (\S+) us,\s+Exec/Latency = (\S+)%`)
)

var columns = []string{"Avg Exec", "Avg Latency", "Exec%", "Avg Head OH", "Avg Tail OH", "Avg Prop", "Avg Local"}

// readFigures reads a statistics text, of ours or another generation.
func readFigures(t *testing.T, text string) figures {
	t.Helper()
	f := figures{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := row.FindStringSubmatch(line); m != nil {
			f[m[1]+" name"], f[m[1]+" Count"] = m[2], m[3]
			for i, v := range strings.Fields(m[4]) {
				f[m[1]+" "+columns[i]] = strings.TrimSuffix(v, "%")
			}
		} else if m := total.FindStringSubmatch(line); m != nil {
			f["total count"], f["total exec"], f["total latency"] = m[1], m[2], m[3]
		} else if m := span.FindStringSubmatch(line); m != nil {
			f[m[1]] = m[2]
		} else if m := perTask.FindStringSubmatch(line); m != nil {
			f["avg exec"], f["avg latency"], f["exec/latency"] = m[1], m[2], m[3]
		}
	}
	if f["total count"] == "" {
		t.Errorf("no statistics in\n%s", text)
	}
	return f
}

func sameFigures(t *testing.T, want, got figures) {
	t.Helper()
	for key := range want {
		if _, ok := got[key]; !ok {
			t.Errorf("%s is missing, want %s", key, want[key])
		}
	}
	for key, g := range got {
		if w, ok := want[key]; !ok {
			t.Errorf("%s is %s, the reference has no such figure", key, g)
		} else if !sameFigure(w, g) {
			t.Errorf("%s is %s, want %s", key, g, w)
		}
	}
}

// sameFigure allows the last digit to differ by one: the reference sums
// rounded times, we sum cycles.
func sameFigure(want, got string) bool {
	if want == got {
		return true
	}
	w, werr := strconv.ParseFloat(want, 64)
	g, gerr := strconv.ParseFloat(got, 64)
	_, decimals, _ := strings.Cut(want, ".")
	step := math.Pow(10, -float64(len(decimals)))
	return werr == nil && gerr == nil && len(decimals) > 0 && math.Abs(w-g) < 1.5*step
}

var number = regexp.MustCompile(`-?\d+\.\d+`)

// sameLines compares texts line by line; figures as sameFigure does.
func sameLines(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(w) != len(g) {
		t.Errorf("%d lines, want %d:\n%s", len(g), len(w), got)
		return
	}
	for i := range w {
		wn, gn := number.FindAllString(w[i], -1), number.FindAllString(g[i], -1)
		same := len(wn) == len(gn) && number.ReplaceAllString(w[i], "#") == number.ReplaceAllString(g[i], "#") && len(w[i]) == len(g[i])
		for k := 0; same && k < len(wn); k++ {
			same = sameFigure(wn[k], gn[k])
		}
		if !same {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
}
