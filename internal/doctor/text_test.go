package doctor_test

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/doctor"
)

func text(t *testing.T, r *doctor.Report, s doctor.Style) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestText: colours only where they are wanted; of several captures notes are counted,
// healthy ones have a line or none.
func TestText(t *testing.T) {
	bad := small(t).and(depsName, "-")
	one := look(t, bad.write(t))
	plain, coloured := text(t, one, doctor.Style{}), text(t, one, doctor.Style{Colour: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[33mwarning\x1b[0m") {
		t.Errorf("plain %q, coloured %q", plain, coloured)
	}
	if stripped := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[36m", "", "\x1b[0m", "").Replace(coloured); stripped != plain {
		t.Errorf("without its colours it reads\n%s\nnot\n%s", stripped, plain)
	}
	for line := range strings.Lines(plain) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 110 && strings.Count(strings.TrimSpace(line), " ") > 1 && strings.Contains(line, "why:") {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	for _, x := range []struct{ terminal, longest int }{{80, 80}, {60, 60}, {20, 50}, {300, 110}} {
		narrow, most := text(t, one, doctor.Style{Width: x.terminal}), 0
		for line := range strings.Lines(narrow) {
			if strings.HasPrefix(line, "           why:") {
				most = max(most, len([]rune(strings.TrimRight(line, "\n"))))
			}
		}
		if most > x.longest || most < x.longest-15 {
			t.Errorf("on a terminal of %d a reason's first line has %d characters, expected up to %d:\n%s", x.terminal, most, x.longest, narrow)
		}
		if got, want := strings.Join(strings.Fields(narrow), " "), strings.Join(strings.Fields(plain), " "); got != want {
			t.Errorf("on a terminal of %d it says\n%s\nnot\n%s", x.terminal, got, want)
		}
	}
	dir := bad.in("a").with(small(t).in("b"), bad.in("c")).write(t)
	r := look(t, dir)
	for _, x := range []struct {
		style   doctor.Style
		has, no []string
	}{
		{doctor.Style{}, []string{"/b/chip_swimlane_records.json: healthy\n", "why and what to do: as above", "3 captures: 1 healthy, 2 not; 0 errors, 2 warnings, 3 notes (-v shows notes)\n"}, []string{"no-trace"}},
		{doctor.Style{Brief: true}, []string{"/a/", "/c/"}, []string{"/b/", "no-trace"}},
		{doctor.Style{All: true}, []string{"no-trace", "graph: deps.json: 4 tasks, 4 edges, 4 with an arrow"}, []string{"-v shows"}},
	} {
		got := text(t, r, x.style)
		for _, s := range x.has {
			if !strings.Contains(got, s) {
				t.Errorf("%+v: it lacks %q:\n%s", x.style, s, got)
			}
		}
		for _, s := range x.no {
			if strings.Contains(got, s) {
				t.Errorf("%+v: it has %q:\n%s", x.style, s, got)
			}
		}
	}
}

// TestHostileNames: what a file says cannot disturb a terminal.
func TestHostileNames(t *testing.T) {
	dir := meta(t, `"co_captured": ["a\u001b[31mb"]`).write(t)
	if got := text(t, look(t, dir), doctor.Style{All: true}); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

// TestJSON: scripts find what the text says.
func TestJSON(t *testing.T) {
	dir := small(t).and(depsName, "-").write(t)
	var b strings.Builder
	if err := look(t, dir).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Healthy          bool
		Errors, Warnings int
		Examined         []struct {
			Path, Kind string
			Healthy    bool
			Parts      []struct{ Part, Text string }
			Findings   []struct {
				Severity, Code, File, Found, Why, Do string
				Count                                int
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Healthy || got.Errors != 0 || got.Warnings != 1 || len(got.Examined) != 1 {
		t.Fatalf("%s", b.String())
	}
	x := got.Examined[0]
	if x.Path != filepath.Join(dir, recordsName) || x.Kind != "capture" || x.Healthy || len(x.Parts) == 0 || len(x.Findings) != 2 {
		t.Fatalf("%+v", x)
	}
	if f := x.Findings[0]; f.Code != "no-deps" || f.Severity != "warning" || f.File != filepath.Join(dir, depsName) || f.Count != 3 || f.Found == "" || f.Why == "" || f.Do == "" {
		t.Errorf("%+v", f)
	}
}

// TestOneFile: a records file alone is examined with what lies beside it; what could be
// waited for without end is not read.
func TestOneFile(t *testing.T) {
	dir := small(t).and("other.json", small(t)[recordsName]).write(t)
	r := look(t, filepath.Join(dir, "other.json"))
	if len(r.Exams) != 1 || !r.Healthy() || !strings.Contains(of(r, "no-trace")[0].Do, "swimlane convert "+filepath.Join(dir, "other.json")) {
		t.Errorf("%s", listed(r))
	}
	dir = small(t).and(depsName, "pipe", "pipe.json", "pipe").write(t)
	if r := look(t, filepath.Join(dir, recordsName)); len(of(r, "irregular-file")) != 1 {
		t.Errorf("%s", listed(r))
	}
	if _, err := doctor.Look(filepath.Join(dir, "pipe.json"), console.NewProgress(io.Discard)); !errors.Is(err, doctor.ErrIrregular) {
		t.Errorf("of a pipe: %v", err)
	}
}

// TestNewest: the directory below outputs/ that was written to last, even if it has no records.
func TestNewest(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := doctor.Newest(); got != "" {
		t.Errorf("%q without outputs", got)
	}
	t.Chdir(files{"outputs/TestA_1/x": "", "outputs/TestB_2/x": "", "outputs/file": ""}.write(t))
	st := func(name string, hours int) { touch(t, filepath.Join("outputs", name), hoursAgo(hours)) }
	st("TestA_1", 1)
	st("TestB_2", 2)
	if got := doctor.Newest(); got != filepath.Join("outputs", "TestA_1") {
		t.Errorf("%q", got)
	}
	st("TestB_2", 1)
	if got := doctor.Newest(); got != filepath.Join("outputs", "TestB_2") {
		t.Errorf("of equal times %q", got)
	}
}
