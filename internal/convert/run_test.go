package convert_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/trace/check"
)

// converted is what a conversion printed and wrote.
type converted struct{ stdout, stderr, trace string }

// small copies the capture of the README; its name map gets another name, by
// which it is not found.
func small(t *testing.T) (records, nameMap string) {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"chip_swimlane_records.json": "chip_swimlane_records.json", "deps.json": "deps.json", "name_map_small.json": "mine.json"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/small", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "chip_swimlane_records.json"), filepath.Join(dir, "mine.json")
}

// call runs a conversion in an environment of its own.
func call(t *testing.T, records string, run func(e *console.Env) error) converted {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if err := run(console.New(strings.NewReader(""), &stdout, &stderr)); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(filepath.Dir(records), "merged_swimlane.json")
	text, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := check.File(place); err != nil || !r.Clean() {
		t.Errorf("the trace is not clean: %v %v", r, err)
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	return converted{stdout.String(), stderr.String(), string(text)}
}

// TestRunIsTheCommand: options that are set print and write what the same
// options on a command line do, and the figures of the README.
func TestRunIsTheCommand(t *testing.T) {
	records, nameMap := small(t)
	byFlags := call(t, records, func(e *console.Env) error {
		o := &convert.Options{}
		cmd := &cobra.Command{Use: "convert", RunE: func(cmd *cobra.Command, args []string) error { return convert.Run(cmd.Context(), e, o, args[0]) }}
		o.Flags(cmd)
		cmd.SetArgs([]string{records, "--func-names", nameMap, "--overhead"})
		return cmd.ExecuteContext(t.Context())
	})
	direct := call(t, records, func(e *console.Env) error {
		return convert.Run(t.Context(), e, &convert.Options{Input: convert.Input{FuncNames: nameMap}, Overhead: true}, records)
	})
	if direct != byFlags {
		t.Errorf("got\n%s\nwant\n%s", direct.stdout, byFlags.stdout)
	}
	if direct.stderr != "" {
		t.Errorf("standard error: %s", direct.stderr)
	}
	for _, line := range []string{
		"\n✓ Conversion complete\n  Input:  " + records + "\n", "  Tasks:  2 in 3 rows on 3 cores, 1 SPMD; ", "  Arrows: 4 of 4 edges of the graph drawn\n",
		"\n0        QK               1           2.00 ", "\nTotal Test Time: 7.40 us (",
	} {
		if !strings.Contains(direct.stdout, line) {
			t.Errorf("%q is missing in\n%s", line, direct.stdout)
		}
	}
	if !strings.Contains(direct.trace, `"oh_has_overhead"`) {
		t.Error("the trace has no overhead tracks")
	}
}

// TestRunWithoutOptions: the zero value draws everything, without what has to be asked for.
func TestRunWithoutOptions(t *testing.T) {
	records, _ := small(t)
	got := call(t, records, func(e *console.Env) error { return convert.Run(t.Context(), e, &convert.Options{}, records) })
	if strings.Contains(got.stdout, "Not drawn") || strings.Contains(got.trace, `"selection"`) || strings.Contains(got.trace, "oh_") || strings.Contains(got.trace, "QK") {
		t.Errorf("a part was drawn, or what nobody asked for\n%s", got.stdout)
	}
}

// TestRunRefuses: a wrong call is told from an input that cannot be used.
func TestRunRefuses(t *testing.T) {
	records, nameMap := small(t)
	var stdout, stderr bytes.Buffer
	e := console.New(strings.NewReader(""), &stdout, &stderr)
	for _, x := range []struct {
		arg  string
		o    convert.Options
		want string
		call bool
	}{
		{records, convert.Options{Quiet: true, Input: convert.Input{Verbose: true}}, "--quiet and --verbose", true},
		{console.Standard, convert.Options{}, "nothing lies beside the standard input", true},
		{filepath.Join(filepath.Dir(records), "none.json"), convert.Options{}, "Input file not found: ", false},
		{records, convert.Options{Output: nameMap, Input: convert.Input{FuncNames: nameMap}}, "one of the inputs", false},
	} {
		err := convert.Run(context.Background(), e, &x.o, x.arg)
		if err == nil || !strings.Contains(err.Error(), x.want) || errors.As(err, &console.UsageError{}) != x.call {
			t.Errorf("%+v: %v, want %q, a wrong call: %v", x.o, err, x.want, x.call)
		}
	}
	if stdout.Len()+stderr.Len() > 0 {
		t.Errorf("it printed %s%s", stdout.String(), stderr.String())
	}
}
