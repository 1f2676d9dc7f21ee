package names_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"swimlane/internal/names"
	"swimlane/internal/parity"
)

// sceneTest is a test file as people write them. Every CALLABLE but the one of the
// class itself is a decoy.
const sceneTest = `#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Paged attention.

class TestOld(SceneTestCase):
    CALLABLE = {"incores": [{"func_id": 0, "name": "docstring of the file"}]}
"""
from __future__ import annotations

import torch
from pathlib import Path
from harness import D, SceneTestCase, scene_test

HERE = Path(__file__).parent
KERNEL_DIR = HERE / "kernels"  # CALLABLE = {"incores": []}


def make(name):
    CALLABLE = {"incores": [{"func_id": 0, "name": "local of a function"}]}
    return CALLABLE if name else None


@scene_test(
    level=2,
    runtime="tensormap_and_ringbuffer",
)
class TestPagedAttn(
    SceneTestCase,
    metaclass=Meta,  # class Other: CALLABLE = {}
):
    '''The scene.

    CALLABLE = {"incores": [{"func_id": 0, "name": "docstring of the class"}]}
    '''

    RTOL = 1e-3

    # CALLABLE = {"incores": [{"func_id": 0, "name": "comment"}]}
    CALLABLE = {
        "orchestration": {
            "source": str(KERNEL_DIR / "orchestration" / "paged_attn.cpp"),
            "function_name": "build_graph",
            "name": "PagedAttn",
            "signature": [D.IN, D.IN, D.OUT],
        },
        "incores": [
            {
                "func_id": 0,
                "source": f"{KERNEL_DIR}/aic/{'qk'}_{{matmul}}.cpp",  # "name": "comment"
                "core_type": "aic",
                "name": "QK",
                "signature": [D.IN, D.IN, D.OUT],
            },
            {"func_id": 1, "source": Path(HERE, "softmax.cpp"), "core_type": "aiv", "name": "SF",
             "extra_include_dirs": [HERE / d for d in ("include", "common]}")]},
            dict(func_id=2, source=KERNEL_DIR / 'pv.cpp', core_type="aic", name="PV"),
            {"func_id": 3, "source": make("online_update"), "core_type": "aiv", "name":
             "UP", "golden": lambda self, *args, **kwargs: {"name": "no"}},
            {"func_id": 4, "source": "noop.cpp", "core_type": "aiv"},
            {"name": "no id", "source": "x.cpp", "core_type": "aiv"},
        ],
    }

    CASES = [
        {
            "name": "basic",
            "platforms": ["a2a3sim", "a2a3"],
            "config": {"aicpu_thread_num": 4},
            "params": {"CALLABLE": {"incores": []}, "batch": 1},
        },
    ]

    def generate_args(self, params):
        CALLABLE = {"incores": [{"func_id": 0, "name": "local of a method"}]}
        text = "CALLABLE = {'incores': []}"
        if params:
            self.CALLABLE = CALLABLE
        return text, self.CALLABLE["incores"]

    def compute_golden(self, args, params):
        alias = TestPagedAttn.CALLABLE
        """
    CALLABLE = {"incores": [{"func_id": 0, "name": "string in a method"}]}
"""
        class CALLABLE:
            CALLABLE = {"incores": [{"func_id": 0, "name": "nested class"}]}

        return alias, CALLABLE, f"CALLABLE = {params!r}"


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
`

var sceneWarnings = []string{unnamed(4), skipping(`{"name": "no id", "source": "x.cpp", "core_type": "aiv"}`)}

func TestSceneTest(t *testing.T) {
	want := ids{0: "QK", 1: "SF", 2: "PV", 3: "UP"}
	for name, text := range map[string]string{
		"as it is":         sceneTest,
		"other line ends":  strings.ReplaceAll(sceneTest, "\n", "\r\n"),
		"old line ends":    strings.ReplaceAll(sceneTest, "\n", "\r"),
		"tabs":             strings.ReplaceAll(sceneTest, "    ", "\t"),
		"one space":        strings.ReplaceAll(sceneTest, "    ", " "),
		"byte order mark":  "\xef\xbb\xbf" + sceneTest,
		"local KERNELS":    sceneTest + "\ndef f():\n    KERNELS = []\n    KERNELS.append(1)\n",
		"imported KERNELS": sceneTest + "\nfrom base import KERNELS\n",
	} {
		t.Run(name, func(t *testing.T) {
			m, warnings, err := names.ParseKernelConfig("k.py", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			// In the skipped entry, spaces of any kind are one space.
			checkKernels(t, m, warnings, want, sceneWarnings)
		})
	}
	m, warnings, err := names.ParseKernelConfig("k.py", []byte(sceneTest+"KERNELS = [{'func_id': 0, 'name': 'list'}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	checkKernels(t, m, warnings, ids{0: "list"}, nil)
}

// What one value of CALLABLE gives.
func TestCallableValues(t *testing.T) {
	at := func(column int, format string, args ...any) string {
		return fmt.Sprintf("k.py:2:%d: ", column) + fmt.Sprintf(format, args...)
	}
	const (
		none   = `the CALLABLE of class A has no key "incores"; there are no names`
		unpack = `what is unpacked here is not known, because the file is read, not run; it may replace the "incores" of class A`
	)
	for _, tt := range []struct {
		value    string
		want     ids
		warnings []string
	}{
		{value: `{"incores": [{"func_id": 0, "name": "QK"}, {"func_id": 1, "name": "SF"}]}`, want: ids{0: "QK", 1: "SF"}},
		{value: `{'inc' "ores": ({"func_id": 0x10, 'name': r"Q\K"},), }`, want: ids{16: `Q\K`}},
		{value: `({"incores": ([{"func_id": 0, "name": "QK"}])})`, want: ids{0: "QK"}},
		{value: `dict(incores=[dict(func_id=0, name="QK"), {"func_id": 1, "name": "SF"}], orchestration=dict(name="O"))`, want: ids{0: "QK", 1: "SF"}},
		{value: `{"incores": []}`},
		{value: `{"incores": ()}`},
		{value: `{"orchestration": {"name": "O", "incores": [{"func_id": 0, "name": "inner"}], "callables": []}, "incores": [{"func_id": 1, "name": "SF", "callables": 1}]}`, want: ids{1: "SF"}},
		{value: `{"incores": [{"func_id": 0, "name": "a"}], "incores": [{"func_id": 1, "name": "b"}]}`, want: ids{1: "b"}},
		{value: `{"x": lambda a, b, *c, **d: (a, b), "y": [i for i in range(3)], "z": x if y else z, K: f(1, "}"), "incores": [{"func_id": 0, "name": "QK"}], "f": f"{d["]"]}}}"}`, want: ids{0: "QK"}},
		{value: `{"golden": lambda a, b=lambda c, **d: 0, **e: 0, "incores": [{"f": lambda a, **b: 0, "func_id": 0, "name": "QK"}]}`, want: ids{0: "QK"}},
		{value: `{**BASE, "incores": [{"func_id": 0, "name": "QK"}]}`, want: ids{0: "QK"}},
		{value: `dict(BASE, incores=[{"func_id": 0, "name": "QK"}])`, want: ids{0: "QK"}},

		// Entries, with the warnings of KERNELS.
		{value: `{"incores": [{"func_id": 0, "name": "a"}, {"func_id": 0, "name": "b"}, {"func_id": 0, "name": "b"}]}`, want: ids{0: "b"},
			warnings: []string{`Kernel entry for func_id=0 found again, using the name "b" instead of "a"`}},
		{value: `{"incores": [{"func_id": 3}, {"name": "x"}, {"func_id": 4, "name": None}, *more, make(1), {"func_id": N, "name": "n"}, {"func_id": 5, "name": f"{n}"}, {**x}]}`,
			warnings: []string{unnamed(3), skipping(`{"name": "x"}`), unnamed(4), skipping(`*more`), skipping(`make(1)`),
				skipping(`{"func_id": N, "name": "n"}`), skipping(`{"func_id": 5, "name": f"{n}"}`), skipping(`{**x}`)}},
		{value: `{"incores": [{"func_id": i, "name": "a"} for i in range(3)]}`, warnings: []string{skipping(`{"func_id": i, "name": "a"} for i in range(3)`)}},

		// Nothing, or not all, is known.
		{value: `{}`, warnings: []string{at(14, none)}},
		{value: `dict()`, warnings: []string{at(14, none)}},
		{value: `{"orchestration": {"name": "O"}, INCORES: [], "Incores": []}`, warnings: []string{at(14, none)}},
		{value: `{"incores": [{"func_id": 0, "name": "QK"}], **more}`, want: ids{0: "QK"}, warnings: []string{at(58, unpack)}},
		{value: `dict(incores=[{"func_id": 0, "name": "QK"}], **more)`, want: ids{0: "QK"}, warnings: []string{at(59, unpack)}},
	} {
		t.Run(tt.value, func(t *testing.T) {
			m, warnings, err := names.ParseKernelConfig("k.py", []byte("class A:\n  CALLABLE = "+tt.value+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			checkKernels(t, m, warnings, tt.want, tt.warnings)
		})
	}
}

// Which class and which assignment count.
func TestCallableClasses(t *testing.T) {
	const (
		a = `{"incores": [{"func_id": 0, "name": "a"}]}`
		b = `{"incores": [{"func_id": 1, "name": "b"}]}`
	)
	changes := func(line, column int) []string {
		return []string{fmt.Sprintf("k.py:%d:%d: what this statement does to CALLABLE is not known, because the file is read, not run; names may be missing", line, column)}
	}
	wantA := ids{0: "a"}
	for _, tt := range []struct {
		name, file string
		want       ids
		warnings   []string
	}{
		{name: "one line", file: "class A: CALLABLE = " + a, want: wantA},
		{name: "one line, no spaces", file: "class A:CALLABLE=" + a + "\n", want: wantA},
		{name: "one line of several", file: "class A(B): X = 1; CALLABLE = " + a + "; Y = 2\nZ = 3\n", want: wantA},
		{name: "one line over several", file: "class A: CALLABLE = {\n'incores': [\n{'func_id': 0,\n'name': 'a'}]}\n", want: wantA},
		{name: "one line after another", file: "class A: CALLABLE = " + a + "\nclass B: pass\nclass C: X = 1\n", want: wantA},
		{name: "several on a line", file: "class A:\n  X = 1; CALLABLE = " + a + "; Y = 2\n", want: wantA},
		{name: "annotated", file: "class A:\n  CALLABLE: ClassVar[dict[str, object]] = " + a, want: wantA},
		{name: "annotated without a value", file: "class A:\n  CALLABLE: dict\n  CALLABLE = " + a + "\n  CALLABLE: dict\n", want: wantA},
		{name: "two targets", file: "class A:\n  X = CALLABLE = Y = " + a, want: wantA},
		{name: "the last wins", file: "class A:\n  CALLABLE = " + b + "\n  CALLABLE = f()\n  CALLABLE = " + a + "\n", want: wantA},
		{name: "bases and keywords", file: "class A[T: (int, str) = int](B[T], C.D, metaclass=M, x={1: 2}, y=lambda: 0):\n  CALLABLE = " + a, want: wantA},
		{name: "decorators", file: "@f\n@g(x={'a': 1},\n   CALLABLE=" + b + ")\n\n# c\nclass A:\n  CALLABLE = " + a, want: wantA},
		{name: "head over several lines", file: "class \\\n  A \\\n  (B,\nC) : # c\n\n# c\n  CALLABLE = " + a, want: wantA},
		{name: "no line end behind the head", file: "class B:", want: nil},
		{name: "on the next line", file: "class A:\n  CALLABLE = \\\n" + a + "\n", want: wantA},
		{name: "byte order mark", file: "\xef\xbb\xbfclass A:\n  CALLABLE = " + a, want: wantA},

		// Indentation.
		{name: "a tab", file: "class A:\n\tCALLABLE = " + a, want: wantA},
		{name: "one space", file: "class A:\n def f():\n  CALLABLE = " + b + "\n CALLABLE = " + a, want: wantA},
		{name: "much", file: "class A:\n" + strings.Repeat(" ", 200) + "CALLABLE = " + a, want: wantA},
		{name: "other than that of methods", file: "class A:\n   def f():\n       CALLABLE = " + b + "\n   CALLABLE = " + a + "\n   def g():\n    CALLABLE = " + b + "\n", want: wantA},
		{name: "tab and eight spaces", file: "class A:\n\tX = 1\n        CALLABLE = " + a, want: wantA},
		{name: "spaces swallowed by a tab", file: "class A:\n   \tX = 1\n\tCALLABLE = " + a, want: wantA},
		{name: "tab below spaces", file: "class A:\n    def f():\n\tCALLABLE = " + b + "\n    CALLABLE = " + a, want: wantA},
		{name: "comments at any column", file: "class A:\n      # c\n  X = 1\n# c\n    # c\n  CALLABLE = " + a, want: wantA},
		{name: "blank lines", file: "class A:\n\n \t \n  X = 1\n\n \n  CALLABLE = " + a, want: wantA},
		{name: "strings at column 0", file: "class A:\n  '''\nclass B: CALLABLE = " + b + "\n'''\n  X = [\n1\n]\n  CALLABLE = " + a, want: wantA},
		{name: "form feed", file: "\fclass A:\n\f  X = 1\n \f  CALLABLE = " + a, want: wantA},
		{name: "joined lines", file: "class A:\n  \\\n    CALLABLE = " + a + "\n  X = 1\n", want: wantA},

		// What does not count.
		{name: "deeper", file: "class A:\n  if X:\n    CALLABLE = " + b + "\n  else: CALLABLE = " + b + "\n  for i in x: Y = 1; CALLABLE = " + b + "\n  CALLABLE = " + a + "\n  class B: CALLABLE = " + b + "\n  def f(self): CALLABLE = " + b + "\n  async def g(self): CALLABLE = " + b + "\n", want: wantA},
		{name: "nested class", file: "class A:\n  class B(C):\n    CALLABLE = " + b + "\n  CALLABLE = " + a + "\n  class D:\n    CALLABLE = " + b + "\n", want: wantA},
		{name: "class in another statement", file: "if X:\n  class B:\n    CALLABLE = " + b + "\nelse:\n  class C: CALLABLE = " + b + "\ndef f():\n  class D:\n    CALLABLE = " + b + "\nclass A:\n  CALLABLE = " + a, want: wantA},
		{name: "aliases", file: "class A:\n  CALLABLE = " + a + "\n  def f(self, CALLABLE=" + b + "):\n    CALLABLE = " + b + "\n    C = CALLABLE\n    CALLABLE += 1\n    A.CALLABLE = " + b + "\nCALLABLE = " + b + "\nCALLABLE.update(X)\n", want: wantA},
		{name: "other names", file: "class A:\n  CALLABLE = " + a + "\n  MY_CALLABLE = " + b + "\n  CALLABLES = " + b + "\n  x.CALLABLE = " + b + "\n  callable = " + b + "\n  X: CALLABLE = " + b + "\n", want: wantA},
		{name: "only read", file: "class A:\n  CALLABLE = " + a + "\n  X = CALLABLE['incores']\n  print(CALLABLE)\n", want: wantA},
		{name: "inside brackets", file: "class A:\n  CALLABLE = " + a + "\n  f(\n  CALLABLE = " + b + "\n  )\n", want: wantA},
		{name: "after a line class", file: "class A: CALLABLE = " + a + "\nif X:\n  CALLABLE = " + b + "\n", want: wantA},
		{name: "after the class", file: "class A:\n  CALLABLE = " + a + "\nX = 1\nif X:\n  CALLABLE = " + b + "\nwith X:\n  CALLABLE = " + b + "\n", want: wantA},
		{name: "inherited", file: "class A:\n  CALLABLE = " + a + "\nclass B(A):\n  CASES = []\n", want: wantA},
		{name: "names like keywords", file: "classA = 1\nclass_ = {}\nclass A:\n  CALLABLE = " + a, want: wantA},

		// Classes whose value is not known.
		{name: "none elsewhere", file: "class B:\n  CALLABLE: dict = None\nclass A(B):\n  CALLABLE = " + a, want: wantA},
		{name: "not known elsewhere", file: "class A:\n  CALLABLE = " + a + "\nclass B:\n  CALLABLE = make(1)\nclass C: CALLABLE = A.CALLABLE\nclass D: CALLABLE = {1, 2}\nclass E: CALLABLE = {k: 1 for k in X}\nclass F: CALLABLE = {} | {}\nclass G: CALLABLE = {},\nclass H: CALLABLE, X = {}, 1\n", want: wantA,
			warnings: []string{"k.py: the names are those of class A; the CALLABLE of other classes is not written out: B (line 3), C (line 5), D (line 6), E (line 7), F (line 8), G (line 9), H (line 10)"}},

		// Statements that may change the value.
		{name: "item assigned", file: "class A:\n  CALLABLE = " + a + "\n  CALLABLE['incores'] = 1\n  CALLABLE.clear()\n", want: wantA, warnings: changes(3, 3)},
		{name: "added to", file: "class A: CALLABLE = " + a + "; CALLABLE |= X", want: wantA, warnings: changes(1, 65)},
		{name: "plus", file: "class A:\n  CALLABLE = " + a + "\n  CALLABLE += X", want: wantA, warnings: changes(3, 3)},
		{name: "changed, then replaced", file: "class A:\n  CALLABLE = {}\n  CALLABLE.update(X)\n  CALLABLE = " + a, want: wantA},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, warnings, err := names.ParseKernelConfig("k.py", []byte(tt.file))
			if tt.want == nil {
				if !errors.Is(err, names.ErrNoKernels) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkKernels(t, m, warnings, tt.want, tt.warnings)
		})
	}
}

func TestCallableErrors(t *testing.T) {
	const (
		missing = "kernel_config.py missing KERNELS definition: "
		want    = "expected an assignment KERNELS = [...] that is not indented, or one class that is not indented with CALLABLE = {...}; the file is read, not run"
		dict    = `expected a dict written out there, such as {"incores": [{"func_id": 0, "name": "QK"}]}; the file is read, not run`
		list    = `expected a list written out there, such as [{"func_id": 0, "name": "QK"}]; the file is read, not run`
		several = "; expected one: put the class that ran into a file of its own, or pass a name map with --func-names"
		node    = ` describes a node: its numbers count the entries of "callables", which must not name kernels; pass the file of the chip callable that ran, or a name map of level 2 with --func-names`
	)
	many := strings.Repeat("class A: CALLABLE = {}\n", 100)
	var first20 []string
	for i := 1; i <= 20; i++ {
		first20 = append(first20, fmt.Sprintf("A (line %d)", i))
	}
	deep := func(n int) string {
		return "class A:\n CALLABLE = " + strings.Repeat("{'a': ", n) + strings.Repeat("}", n)
	}
	if _, _, err := names.ParseKernelConfig("k.py", []byte(deep(64))); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	for _, tt := range []struct {
		name, file, want string
		is               error
	}{
		{"no attribute", "class A:\n  CASES = []\n", missing + "k.py has none; " + want, names.ErrNoKernels},
		{"at the top level", "X = 1\nCALLABLE = {}\nclass A: pass", missing + "k.py:2:1 (byte 6): found CALLABLE, but not among the statements of such a class; " + want, names.ErrNoKernels},
		{"deeper", "class A:\n  if X:\n    CALLABLE = {}\n", missing + "k.py:3:5 (byte 21): found CALLABLE, but not among the statements of such a class; " + want, names.ErrNoKernels},
		{"in a compound line", "class A:\n  if X: CALLABLE = {}\n", missing + "k.py has none; " + want, names.ErrNoKernels},
		{"in a method", "class A:\n  def f(self):\n    CALLABLE = {}\n", missing + "k.py:3:5 (byte 28): found CALLABLE, but", names.ErrNoKernels},
		{"nested class", "class A:\n  class B:\n    CALLABLE = {}\n", missing + "k.py:3:5 (byte 24): found CALLABLE, but", names.ErrNoKernels},
		{"class in a function", "def f():\n  class B:\n    CALLABLE = {}\n", missing + "k.py:3:5 (byte 24): found CALLABLE, but", names.ErrNoKernels},
		{"only annotated", "class A:\n  CALLABLE: dict\n", missing + "k.py has none; ", names.ErrNoKernels},
		{"strings and comments", "class A:\n  'CALLABLE = {}'\n  # CALLABLE = {}\n  '''\n  CALLABLE = {}\n'''\n", missing + "k.py has none; ", names.ErrNoKernels},
		{"KERNELS comes first", "KERNELS = f()\nclass A: CALLABLE = {}\n", missing + "k.py:1:11 (byte 10): found f(); expected a list of entries", names.ErrNoKernels},
		{"KERNELS added to", "class A: CALLABLE = {}\nKERNELS += []\n", missing + "k.py:2:1 (byte 23): found KERNELS, but no list", names.ErrNoKernels},
		{"KERNELS in a class", "class A: KERNELS = []\n", missing + "k.py:1:10 (byte 9): found KERNELS only inside another statement; " + want, names.ErrNoKernels},

		{"two classes", "class A:\n  CALLABLE = {}\n\n@d\nclass B(C):\n  CALLABLE: dict = {'callables': []}\n", "k.py:5:1 (byte 29): found CALLABLE in 2 classes: A (line 1), B (line 5)" + several, names.ErrSyntax},
		{"the same name twice", "class A: CALLABLE = {}\nclass A: CALLABLE = dict()\nclass B: CALLABLE = f()\n", "k.py:2:1 (byte 23): found CALLABLE in 2 classes: A (line 1), A (line 2)" + several, names.ErrSyntax},
		{"many classes", many, "k.py:2:1 (byte 23): found CALLABLE in 100 classes: " + strings.Join(first20, ", ") + " and 80 more" + several, names.ErrSyntax},

		{"level 3", "class TestL3:\n  CALLABLE = {\n    'orchestration': run_dag,\n    'callables': [{'name': 'v', 'incores': [{'func_id': 0, 'name': 'a'}]}],\n  }\n", "k.py:4:5 (byte 63): the CALLABLE of class TestL3" + node, names.ErrSyntax},
		{"level 3 without a list", "class A: CALLABLE = dict(callables=f())", "k.py:1:26 (byte 25): the CALLABLE of class A" + node, names.ErrSyntax},
		{"level 3 with incores", "class A: CALLABLE = {'incores': 5, 'callables': []}", "k.py:1:36 (byte 35): the CALLABLE of class A" + node, names.ErrSyntax},

		{"incores a variable", "class A:\n  CALLABLE = {\n    'incores': INCORES,\n  }\n", `k.py:3:16 (byte 39): found INCORES for "incores" in the CALLABLE of class A; ` + list, names.ErrSyntax},
		{"incores a call", "class A: CALLABLE = dict(incores=make(1, [2]))", `k.py:1:34 (byte 33): found make(1, [2]) for "incores" in the CALLABLE of class A; ` + list, names.ErrSyntax},
		{"incores a sum", "class A: CALLABLE = {'incores': [{}] + [{}]}", `k.py:1:33 (byte 32): found [{}] + [{}] for "incores"`, names.ErrSyntax},
		{"incores an item", "class A: CALLABLE = {'incores': [{}][0:]}", `k.py:1:33 (byte 32): found [{}][0:] for "incores"`, names.ErrSyntax},
		{"incores None", "class A: CALLABLE = {'incores': (None)}", `k.py:1:34 (byte 33): found None for "incores"`, names.ErrSyntax},
		{"incores a dict", "class A: CALLABLE = {'incores': {'func_id': 0}}", `k.py:1:33 (byte 32): found {'func_id': 0} for "incores"`, names.ErrSyntax},
		{"incores nothing", "class A: CALLABLE = {'incores': }", `k.py:1:32 (byte 31): found nothing for "incores"`, names.ErrSyntax},
		{"only unpacked", "class A: CALLABLE = {'x': 1, **BASE}", `k.py:1:30 (byte 29): found no key "incores" in the CALLABLE of class A, only what is unpacked here; ` + list, names.ErrSyntax},
		{"only copied", "class A: CALLABLE = dict(BASE)", `k.py:1:26 (byte 25): found no key "incores"`, names.ErrSyntax},

		{"a call", "class A:\n  é = 1\n  CALLABLE = make(1)\n", "k.py:3:14 (byte 31): found make(1) for the CALLABLE of class A; " + dict, names.ErrSyntax},
		{"the last is a call", "class A:\n  CALLABLE = {}\n  CALLABLE = X\n", "k.py:3:14 (byte 38): found X for the CALLABLE of class A; " + dict, names.ErrSyntax},
		{"None", "class A: CALLABLE = None", "k.py:1:21 (byte 20): found None for the CALLABLE of class A; " + dict, names.ErrSyntax},
		{"nothing", "class A: CALLABLE =\n", "k.py:1:20 (byte 19): found nothing for the CALLABLE", names.ErrSyntax},
		{"a set", "class A: CALLABLE = {'incores'}", "k.py:1:21 (byte 20): found {'incores'} for the CALLABLE", names.ErrSyntax},
		{"a comprehension", "class A: CALLABLE = {k: [] for k in X}", "k.py:1:21 (byte 20): found {k: [] for k in X} for the CALLABLE", names.ErrSyntax},
		{"a union", "class A: CALLABLE = {'incores': []} | X", "k.py:1:21 (byte 20): found {'incores': []} | X for the CALLABLE", names.ErrSyntax},
		{"a tuple", "class A: CALLABLE = {'incores': []},", "k.py:1:21 (byte 20): found {'incores': []}, for the CALLABLE", names.ErrSyntax},
		{"unpacked into", "class A: CALLABLE, X = {}, {}", "k.py:1:10 (byte 9): found CALLABLE, X = {}, {} for the CALLABLE", names.ErrSyntax},
		{"calls", "class A: CALLABLE = f()\nclass B: CALLABLE = g()\nclass C: CALLABLE = None\n", "k.py:1:21 (byte 20): found CALLABLE in 2 classes, but not written out in any: A (line 1), B (line 2); expected in one of them a dict written out", names.ErrSyntax},

		{"65 levels", deep(65), "k.py:2:397 (byte 405): nested deeper than 64 levels", names.ErrSyntax},
		{"open bracket", "class A:\n  CALLABLE = {'incores': [\n", "k.py:2:26 (byte 34): the '[' that opens here is not closed; the file may be cut off", names.ErrSyntax},
		{"open head", "class A(\n  CALLABLE = {}\n", "k.py:1:8 (byte 7): the '(' that opens here is not closed", names.ErrSyntax},
		{"no colon", "class A\n  CALLABLE = {}\n", missing + "k.py:2:3 (byte 10): found CALLABLE, but", names.ErrNoKernels},
		{"no name", "class :\n  CALLABLE = {}\n", missing + "k.py:2:3 (byte 10): found CALLABLE, but", names.ErrNoKernels},
		{"cut off", "class", missing + "k.py has none", names.ErrNoKernels},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := names.ParseKernelConfig("k.py", []byte(tt.file))
			if err == nil || m != nil {
				t.Fatalf("accepted as %q", m.Sorted())
			}
			if !strings.HasPrefix(err.Error(), tt.want) || !errors.Is(err, tt.is) {
				t.Errorf("error %q\nwant  %q (%v)", err, tt.want, tt.is)
			}
		})
	}
}

// No large file takes time out of proportion to its size.
func TestCallableTime(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	for name, text := range map[string]string{
		"classes":     strings.Repeat("class A: CALLABLE = {}\n", 1e4),
		"calls":       strings.Repeat("class A:\n  CALLABLE = f()\n", 1e4),
		"assignments": "class A:\n" + strings.Repeat("  CALLABLE = {'incores': []}\n", 1e4),
		"changes":     "class A:\n  CALLABLE = {}\n" + strings.Repeat("  CALLABLE.x()\n", 1e4),
		"incores":     "class A: CALLABLE = {'incores': [" + strings.Repeat("{'func_id': 0, 'name': 'a'},", 1e4) + "]}",
		"keys":        "class A: CALLABLE = {" + strings.Repeat("'incores': X,", 1e4) + "'incores': []}",
		"unpacked":    "class A: CALLABLE = {" + strings.Repeat("**X,", 1e4) + "'incores': []}",
		"lambdas":     "class A: CALLABLE = {'x': " + strings.Repeat("lambda a,b:", 1e4) + "0, 'incores': []}",
		"parentheses": strings.Repeat("class A: CALLABLE = "+strings.Repeat("(", 60)+strings.Repeat(")", 60)+"\n", 2e3),
		"joined":      "class A:\n" + strings.Repeat("  \\\n", 1e4) + "  CALLABLE = {}\n",
		"blank":       "class A:\n" + strings.Repeat("  \n", 1e4) + strings.Repeat(" ", 1e6) + "CALLABLE = {}\n",
	} {
		begin := parity.CPUTime()
		_, _, err := names.ParseKernelConfig("k.py", []byte(text))
		d := parity.CPUTime() - begin
		t.Logf("%s: %v for %d bytes", name, d, len(text))
		if d > 10*time.Second {
			t.Errorf("%s: %v for %d bytes, error %.100v", name, d, len(text), err)
		}
	}
}
