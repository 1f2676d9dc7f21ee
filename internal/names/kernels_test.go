package names_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"swimlane/internal/names"
)

func skipping(entry string) string { return "Kernel entry missing 'func_id', skipping: " + entry }
func unnamed(id int) string {
	return fmt.Sprintf("Kernel entry for func_id=%d missing 'name', will use default naming", id)
}

type ids = map[int64]string

// checkKernels compares what a kernel configuration gives.
func checkKernels(t *testing.T, m *names.Map, warnings []string, want ids, wantWarnings []string) {
	t.Helper()
	if !reflect.DeepEqual(m.Sorted(), names.NewMap("", want).Sorted()) {
		t.Errorf("names %+q, want %+v", m.Sorted(), want)
	}
	if strings.Join(warnings, "\n") != strings.Join(wantWarnings, "\n") {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(wantWarnings, "\n"))
	}
	if m.Orchestrator != "" || m.Level != 0 {
		t.Errorf("orchestrator %q and level %d from a kernel configuration", m.Orchestrator, m.Level)
	}
}

// What one value of KERNELS gives.
func TestKernelValues(t *testing.T) {
	for _, tt := range []struct {
		value    string
		want     ids
		warnings []string
	}{
		{value: `[]`},
		{value: `()`},
		{value: `[{"func_id": 0, "name": "QK"}, {"func_id": 1, "name": "SF"},]`, want: ids{0: "QK", 1: "SF"}},
		{value: `({"func_id": 0, "name": "QK"},)`, want: ids{0: "QK"}},
		{value: `{"func_id": 0, "name": "QK"},`, want: ids{0: "QK"}},
		{value: `([{"func_id": 0, "name": "QK"}])`, want: ids{0: "QK"}},
		{value: `[({"func_id": (0), "name": ("Q" "K")})]`, want: ids{0: "QK"}},
		{value: `[dict(func_id=0, name="QK", n=[1])]`, want: ids{0: "QK"}},
		{value: "[  # one\n {'name': 'QK', # \"]\n\n 'func_id': 0}\n]", want: ids{0: "QK"}},

		// Numbers.
		{value: `[{"func_id": 0x1F, "name": "a"}, {"func_id": 0o17, "name": "b"}, {"func_id": 0B101, "name": "c"}, {"func_id": 1_000, "name": "d"}]`,
			want: ids{31: "a", 15: "b", 5: "c", 1000: "d"}},
		{value: `[{"func_id": -1, "name": "a"}, {"func_id": +2, "name": "b"}, {"func_id": - -3, "name": "c"}, {"func_id": 00, "name": "d"}, {"func_id": 0x_f, "name": "e"}]`,
			want: ids{-1: "a", 2: "b", 3: "c", 0: "d", 15: "e"}},
		{value: `[{"func_id": -9223372036854775808, "name": "min"}, {"func_id": 9223372036854775807, "name": "max"}]`,
			want: ids{-9223372036854775808: "min", 9223372036854775807: "max"}},
		{value: `[{"func_id": 9223372036854775808}]`, warnings: []string{skipping(`{"func_id": 9223372036854775808}`)}},
		{value: `[{"func_id": 010}]`, warnings: []string{skipping(`{"func_id": 010}`)}},
		{value: `[{"func_id": 1__0}]`, warnings: []string{skipping(`{"func_id": 1__0}`)}},
		{value: `[{"func_id": 1.0}]`, warnings: []string{skipping(`{"func_id": 1.0}`)}},
		{value: `[{"func_id": 1e3}]`, warnings: []string{skipping(`{"func_id": 1e3}`)}},
		{value: `[{"func_id": 1e-3}]`, warnings: []string{skipping(`{"func_id": 1e-3}`)}},
		{value: `[{"func_id": "0"}]`, warnings: []string{skipping(`{"func_id": "0"}`)}},
		{value: `[{"func_id": True}]`, warnings: []string{skipping(`{"func_id": True}`)}},
		{value: `[{"func_id": None}]`, warnings: []string{skipping(`{"func_id": None}`)}},
		{value: `[{"func_id": 1 + 1, "name": "a"}]`, warnings: []string{skipping(`{"func_id": 1 + 1, "name": "a"}`)}},
		{value: `[{"func_id": ~0}, {"func_id": (0,)}, {"func_id": FIRST}, {"func_id": f(0)}]`,
			warnings: []string{skipping(`{"func_id": ~0}`), skipping(`{"func_id": (0,)}`), skipping(`{"func_id": FIRST}`), skipping(`{"func_id": f(0)}`)}},

		// Strings.
		{value: `[{"func_id": 0, "name": 'a"b'}, {"func_id": 1, "name": "a'b"}, {"func_id": 2, "name": '''a'b"c'''}, {"func_id": 3, "name": """x"y"""}]`,
			want: ids{0: `a"b`, 1: `a'b`, 2: `a'b"c`, 3: `x"y`}},
		{value: "[{'func_id': 0, 'name': '''two\r\nlines'''}, {'func_id': 1, 'name': 'con\\\ntinued'}, {'func_id': 2, 'name': r'''a\\\rb'''}, {'func_id': 3, 'name': 'con\\\r\ntinued'}]",
			want: ids{0: "two\nlines", 1: "continued", 2: "a\\\nb", 3: "continued"}},
		{value: `[{"func_id": 0, "name": "a" 'b' """c""" r"\d"}]`, want: ids{0: `abc\d`}},
		{value: "[{'func_id': 0, 'name': 'a' # first half\n 'b'}]", want: ids{0: "ab"}},
		{value: `[{"func_id": 0, "name": r"a\n\"b"}, {"func_id": 1, "name": U"é"}, {"func_id": 2, "name": R'\x'}]`, want: ids{0: `a\n\"b`, 1: "é", 2: `\x`}},
		{value: `[{"func_id": 0, "name": "\n\t\\\'\"\a\b\f\r\v"}, {"func_id": 1, "name": "\x41\u00e9\U0001F680\101\0"}, {"func_id": 2, "name": "\d\é\18\477"}]`,
			want: ids{0: "\n\t\\'\"\a\b\f\r\v", 1: "Aé🚀A\x00", 2: "\\d\\é\x018\u013f"}},
		{value: `[{"func_id": 0, "name": ""}, {"func_id": 1, "name": ""''}, {"func_id": 2, "name": """"""}]`, want: ids{0: "", 1: "", 2: ""}},
		{value: `[{"func_id": 0, "name": "注意力"}]`, want: ids{0: "注意力"}},
		{value: `[{"func_id": 0, "name": b"a"}]`, warnings: []string{skipping(`{"func_id": 0, "name": b"a"}`)}},
		{value: `[{"func_id": 0, "name": "a" b"a"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "a" b"a"}`)}},
		{value: `[{"func_id": 0, "name": f"a"}]`, warnings: []string{skipping(`{"func_id": 0, "name": f"a"}`)}},
		{value: `[{"func_id": 0, "name": rB"a"}]`, warnings: []string{skipping(`{"func_id": 0, "name": rB"a"}`)}},
		{value: `[{"func_id": 0, "name": "\N{BULLET}"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "\N{BULLET}"}`)}},
		{value: `[{"func_id": 0, "name": "\x4"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "\x4"}`)}},
		{value: `[{"func_id": 0, "name": "\ud83d\ude80"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "\ud83d\ude80"}`)}},
		{value: `[{"func_id": 0, "name": "\U00110000"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "\U00110000"}`)}},
		{value: `[{"func_id": 0, "name": "a" + "b"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "a" + "b"}`)}},
		{value: `[{"func_id": 0, "name": "a".upper()}]`, warnings: []string{skipping(`{"func_id": 0, "name": "a".upper()}`)}},
		{value: `[{"func_id": 0, "name": "a" if X else "b"}]`, warnings: []string{skipping(`{"func_id": 0, "name": "a" if X else "b"}`)}},
		{value: `[{"func_id": 0, "name": 5}]`, warnings: []string{skipping(`{"func_id": 0, "name": 5}`)}},

		// What is missing.
		{value: `[{"name": "a"}, {"func_id": 3}, {"func_id": 4, "name": None}, {}]`, warnings: []string{skipping(`{"name": "a"}`), unnamed(3), unnamed(4), skipping(`{}`)}},
		{value: `[dict(name="a"), dict(func_id=3), dict()]`, warnings: []string{skipping(`dict(name="a")`), unnamed(3), skipping(`dict()`)}},

		// Other values are stepped over, whatever they are.
		{value: `[{"source": os.path.join(HERE, "a]}"), "func_id": 0, "x": lambda a, b={"name": "no"}: a[b], "name": "QK", "y": [i for i in range(3)], 5: {}, KEY: 1}]`, want: ids{0: "QK"}},
		{value: `[{"signature": [(1, "}"), {2: ']'}], "func_id": 0, "s": a[1:2], "name": "QK", "t": x if y else z, "c": (yield)}]`, want: ids{0: "QK"}},
		{value: `[{"f": f"{d["]"]}{{ {x!r:>{w}} ] {y:%H:%M}", "func_id": 0, "name": "QK"}]`, want: ids{0: "QK"}},
		{value: `[{"f": f'\N{LEFT CURLY BRACKET}' rf"\{x}" f"{a:=5}{(b:=5)}{c=}{'}'}", "func_id": 0, "name": "QK"}]`, want: ids{0: "QK"}},
		{value: `[{"g": {"func_id": 9, "name": "inner"}, "func_id": 0, "name": "QK"}]`, want: ids{0: "QK"}},
		{value: "[{'a': 1 + \\\n 2, 'func_id': 0, 'name': 'QK'}]", want: ids{0: "QK"}},
		{value: `[{"fu" "nc_id": 0, u'name': "QK"}]`, want: ids{0: "QK"}},
		{value: `[{"func_id": 5, "func_id": 0, "name": f(), "name": "QK"}]`, want: ids{0: "QK"}},

		// Entries that only running the file would tell.
		{value: `[{**base, "name": "a"}]`, warnings: []string{skipping(`{**base, "name": "a"}`)}},
		{value: `[{"func_id": 0, "name": "a", **base}]`, warnings: []string{skipping(`{"func_id": 0, "name": "a", **base}`)}},
		{value: `[{**base, "func_id": 0}]`, warnings: []string{skipping(`{**base, "func_id": 0}`)}},
		{value: `[{**base, "func_id": 0, "name": "a"}, dict(base, func_id=1, name="b")]`, want: ids{0: "a", 1: "b"}},
		{value: `[Kernel(func_id=0, name="a"), {0, 1}, 5, "x", None, *more]`,
			warnings: []string{skipping(`Kernel(func_id=0, name="a")`), skipping(`{0, 1}`), skipping(`5`), skipping(`"x"`), skipping(`None`), skipping(`*more`)}},
		{value: `[{"func_id": i, "name": "a"} for i in range(3)]`, warnings: []string{skipping(`{"func_id": i, "name": "a"} for i in range(3)`)}},
		{value: `[{"func_id": 0, "name": "a"} | extra]`, warnings: []string{skipping(`{"func_id": 0, "name": "a"} | extra`)}},
		{value: "[{\n  # no id\n  'name':\t'a\x1bb',\n}]", warnings: []string{skipping(`{ # no id 'name': 'a\x1bb', }`)}},
		{value: `[{"name": "` + strings.Repeat("é", 100) + `"}]`, warnings: []string{skipping(`{"name": "` + strings.Repeat("é", 67) + `...`)}},

		// Twice.
		{value: `[{"func_id": 0, "name": "a"}, {"func_id": 0, "name": "b"}, {"func_id": 0, "name": "b"}, {"func_id": 0}]`, want: ids{0: "b"},
			warnings: []string{`Kernel entry for func_id=0 found again, using the name "b" instead of "a"`, unnamed(0)}},
	} {
		t.Run(tt.value, func(t *testing.T) {
			m, warnings, err := names.ParseKernelConfig("k.py", []byte("KERNELS = "+tt.value+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			checkKernels(t, m, warnings, tt.want, tt.warnings)
		})
	}
}

// Which assignment of a file counts.
func TestKernelAssignments(t *testing.T) {
	const (
		a = `[{"func_id": 0, "name": "a"}]`
		b = `[{"func_id": 1, "name": "b"}]`
	)
	unknown := func(line, column int) []string {
		return []string{fmt.Sprintf("k.py:%d:%d: what this statement does to KERNELS is not known, because the file is read, not run; names may be missing", line, column)}
	}
	for _, tt := range []struct {
		name, file string
		want       ids
		warnings   []string
	}{
		{name: "no line end", file: "KERNELS = " + a, want: ids{0: "a"}},
		{name: "no spaces", file: "KERNELS=" + a, want: ids{0: "a"}},
		{name: "annotated", file: "KERNELS: list[dict[str, object]] = " + a, want: ids{0: "a"}},
		{name: "annotated without a value", file: "KERNELS = " + a + "\nKERNELS: list\n", want: ids{0: "a"}},
		{name: "the last wins", file: "KERNELS = " + a + "\nKERNELS = " + b + "\n", want: ids{1: "b"}},
		{name: "added to", file: "KERNELS = []\nKERNELS += " + a + "\nKERNELS += (" + b[1:len(b)-1] + ",)\n", want: ids{0: "a", 1: "b"}},
		{name: "added to, then replaced", file: "KERNELS = " + a + "\nKERNELS += " + a + "\nKERNELS = " + b, want: ids{1: "b"}},
		{name: "two targets", file: "A = KERNELS = B = " + a, want: ids{0: "a"}},
		{name: "after a semicolon", file: "import os; KERNELS = " + a + "; X = 1\n", want: ids{0: "a"}},
		{name: "byte order mark", file: "\xef\xbb\xbfKERNELS = " + a, want: ids{0: "a"}},
		{name: "form feed", file: "X = 1\n\fKERNELS = " + a, want: ids{0: "a"}},
		{name: "other line ends", file: "X = 1\r\nY = 2\rKERNELS = " + a + "\r\n", want: ids{0: "a"}},
		{name: "on the next line", file: "KERNELS = \\\n  " + a, want: ids{0: "a"}},
		{name: "comments and strings", file: "# KERNELS = " + b + "\n\"\"\"\nKERNELS = " + b + "\n\"\"\"\nKERNELS = " + a + " # KERNELS = " + b + "\n'KERNELS = []'\n", want: ids{0: "a"}},
		{name: "indented ones", file: "KERNELS = " + a + "\ndef f():\n    KERNELS = " + b + "\n    return KERNELS\n", want: ids{0: "a"}},
		{name: "on the line of another statement", file: "KERNELS = " + a + "\nif X: Y = 1; KERNELS = " + b + "\nelse: KERNELS = " + b + "\n", want: ids{0: "a"}},
		{name: "inside brackets", file: "KERNELS = " + a + "\nf(\nKERNELS = " + b + "\n)\n", want: ids{0: "a"}},
		{name: "other names", file: "KERNELS = " + a + "\nMY_KERNELS = " + b + "\nKERNELS2 = " + b + "\nx.KERNELS = " + b + "\nkernels = " + b + "\n", want: ids{0: "a"}},
		{name: "only read", file: "KERNELS = " + a + "\nfor k in KERNELS:\n    print(k)\nX = KERNELS[0]\nassert KERNELS == X\n", want: ids{0: "a"}},
		{name: "a whole program", file: "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\nfrom __future__ import annotations\nimport os\n\n@deco(x=1)\nclass A(B):\n    '''doc'''\n    def f(self, *, a: int = 3) -> str:\n        return f\"{self.x!r}\"\n\nROOT = os.path.dirname(__file__)\nKERNELS = " + a + "\nRUNTIME = {'aicpu': 3}\n", want: ids{0: "a"}},
		{name: "appended to", file: "KERNELS = " + a + "\nKERNELS.append({})\n", want: ids{0: "a"}, warnings: unknown(2, 1)},
		{name: "changed in a loop", file: "KERNELS = " + a + "\nfor i in range(3):\n    KERNELS.append({})\nKERNELS[0] = {}", want: ids{0: "a"}, warnings: unknown(3, 5)},
		{name: "changed, then replaced", file: "KERNELS = []\nKERNELS.append({})\nKERNELS = " + a, want: ids{0: "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, warnings, err := names.ParseKernelConfig("k.py", []byte(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			checkKernels(t, m, warnings, tt.want, tt.warnings)
		})
	}
}

func TestKernelErrors(t *testing.T) {
	const missing = "kernel_config.py missing KERNELS definition: "
	deep := func(n int) string {
		return "KERNELS = [{'x': " + strings.Repeat("(", n-2) + strings.Repeat(")", n-2) + "}]"
	}
	if _, _, err := names.ParseKernelConfig("k.py", []byte(deep(64))); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	for _, tt := range []struct {
		name, file, want string
		is               error
	}{
		{"empty", "", missing + "k.py has none; expected an assignment KERNELS = [...] that is not indented, or one class that is not indented with CALLABLE = {...}; the file is read, not run", names.ErrNoKernels},
		{"only imported", "from base import KERNELS\n", missing + "k.py has none", names.ErrNoKernels},
		{"in a comment", "# KERNELS = []\n", missing + "k.py has none", names.ErrNoKernels},
		{"indented", "X = 1\nif X:\n    KERNELS = []\n", missing + "k.py:3:5 (byte 16): found KERNELS only inside another statement; expected", names.ErrNoKernels},
		{"only added to", "KERNELS += []\n", missing + "k.py:1:1 (byte 0): found KERNELS, but no list", names.ErrNoKernels},
		{"only annotated", "KERNELS: list\n", missing + "k.py has none", names.ErrNoKernels},
		{"unpacked into", "KERNELS, X = [], 1\n", missing + "k.py:1:1 (byte 0): found KERNELS, but no list", names.ErrNoKernels},
		{"a call", "é = 1\nKERNELS = load('x')\n", missing + "k.py:2:11 (byte 17): found load('x'); expected a list of entries", names.ErrNoKernels},
		{"a sum", "KERNELS = [] + X", missing + "k.py:1:11 (byte 10): found [] + X; expected a list", names.ErrNoKernels},
		{"a mapping", "KERNELS = {'a': 1}", missing + "k.py:1:11 (byte 10): found {'a': 1}; expected a list", names.ErrNoKernels},
		{"a number", "KERNELS = ((5))", missing + "k.py:1:13 (byte 12): found 5; expected a list", names.ErrNoKernels},
		{"nothing", "KERNELS =\n", missing + "k.py:1:10 (byte 9): found nothing; expected a list", names.ErrNoKernels},
		{"the last is no list", "KERNELS = []\nKERNELS = X", missing + "k.py:2:11 (byte 23): found X;", names.ErrNoKernels},
		{"65 levels", deep(65), "k.py:1:80 (byte 79): nested deeper than 64 levels", names.ErrSyntax},
		{"a million brackets", "KERNELS = " + strings.Repeat("[", 1e6), "k.py:1:75 (byte 74): nested deeper than 64 levels", names.ErrSyntax},
		{"nested f-strings", "X = " + strings.Repeat("f'{", 1e5), "nested deeper than 64 levels", names.ErrSyntax},
		{"nested formats", "X = f'{a" + strings.Repeat(":{a", 1e5), "nested deeper than 64 levels", names.ErrSyntax},
		{"open bracket", "X = 1\nKERNELS = [{}\n", "k.py:2:11 (byte 16): the '[' that opens here is not closed; the file may be cut off", names.ErrSyntax},
		{"wrong bracket", "KERNELS = [{]}\n", "k.py:1:13 (byte 12): found ']'; expected '}' for the '{' at 1:12", names.ErrSyntax},
		{"extra bracket", "KERNELS = []]\n", "k.py:1:13 (byte 12): found ']', but no bracket is open", names.ErrSyntax},
		{"open string", "KERNELS = [\n  'abc\n]\n", "k.py:2:3 (byte 14): the string that begins here is not closed before the end of its line", names.ErrSyntax},
		{"open triple string", "KERNELS = []\nX = r'''abc", "k.py:2:5 (byte 17): the string that begins here is not closed; the file may be cut off", names.ErrSyntax},
		{"open field", "X = f'{a\nKERNELS = []", "k.py:1:7 (byte 6): the '{' that opens here is not closed", names.ErrSyntax},
		{"open format", "X = f'{a:b'\n", "k.py:1:10 (byte 9): the format that begins here is not closed by '}'", names.ErrSyntax},
		{"bad UTF-8", "# h\xe9\nKERNELS = []", "k.py:1:4 (byte 3): found byte 0xe9, which is not valid UTF-8; save the file as UTF-8", names.ErrSyntax},
		{"NUL", "X\x00", "k.py:1:2 (byte 1): found a NUL byte", names.ErrSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := names.ParseKernelConfig("k.py", []byte(tt.file))
			if err == nil || m != nil {
				t.Fatalf("accepted as %q", m.Sorted())
			}
			if !strings.Contains(err.Error(), tt.want) || !errors.Is(err, tt.is) {
				t.Errorf("error %q\nwant  %q (%v)", err, tt.want, tt.is)
			}
		})
	}
}

// The list as JSON, in place of Python.
func TestKernelJSON(t *testing.T) {
	const entries = `[{"func_id": 0, "name": "QK", "source": ["x"]}, {"name": "a"}, {"func_id": 3, "name": null}, 5, {"func_id": 1.0}, {"func_id": 1, "name": true}]`
	warnings := []string{skipping(`{"name": "a"}`), unnamed(3), skipping(`5`), skipping(`{"func_id": 1.0}`), skipping(`{"func_id": 1, "name": true}`)}
	for _, text := range []string{entries, `{"x": 1, "KERNELS": ` + entries + `}`} {
		m, got, err := names.ParseKernelConfig("k.JSON", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		checkKernels(t, m, got, ids{0: "QK"}, warnings)
	}
	for text, want := range map[string]string{
		`{}`:                 `kernel_config.py missing KERNELS definition: k.json has no key "KERNELS"`,
		`5`:                  `k.json:1:1 (byte 0): found a number, expected a list of entries`,
		`{"KERNELS": {}}`:    `k.json:1:13 (byte 12): found an object, expected a list of entries`,
		`[{"func_id": 0},]`:  `k.json:1:17 (byte 16): found "]", expected a value behind the comma`,
		`[{"a": 1, "a": 2}]`: `k.json:1:11 (byte 10): found the key "a" twice in one object`,
	} {
		if _, _, err := names.ParseKernelConfig("k.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

func TestKernelWarningsEnd(t *testing.T) {
	_, warnings, err := names.ParseKernelConfig("k.py", []byte("KERNELS = ["+strings.Repeat("0,", 1000)+"]"))
	if err != nil || len(warnings) != 101 || warnings[100] != "900 more Kernel entries were skipped or have no name" {
		t.Errorf("%d warnings, the last %q, error %v", len(warnings), warnings[len(warnings)-1], err)
	}
}

func TestReadKernelConfig(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "kernel_config.py")
	_, _, err := names.ReadKernelConfig(missing)
	if err == nil || err.Error() != "Kernel config file not found: "+missing || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	path := writeFile(t, dir, "k.py", "import os\nos.remove(__file__)\nKERNELS = [{'func_id': 2, 'name': 'PV'}]\n")
	m, warnings, err := names.ReadKernelConfig(path)
	if err != nil || m.Source != path {
		t.Fatalf("%+v, %v", m, err)
	}
	checkKernels(t, m, warnings, ids{2: "PV"}, nil)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file was run: %v", err)
	}
}
