package names_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"swimlane/internal/names"
)

// checkMap compares an accepted map with what encoding/json makes of the same
// bytes, and checks what every map promises.
func checkMap(t *testing.T, m *names.Map, data []byte) {
	t.Helper()
	if !utf8.Valid(data) {
		t.Fatal("accepted bytes that are not UTF-8")
	}
	// Fields as raw messages: a struct would match keys in any letter case.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatalf("accepted what encoding/json refuses: %v", err)
	}
	var callables map[string]string
	if raw, ok := fields["callable_id_to_name"]; ok {
		if err := json.Unmarshal(raw, &callables); err != nil {
			t.Fatal(err)
		}
	}
	orchestrator := ""
	if raw, ok := fields["orchestrator_name"]; ok {
		if err := json.Unmarshal(raw, &orchestrator); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, e := range m.Sorted() {
		got[e.Key] = e.Name
	}
	if m.Orchestrator != orchestrator || len(got) != len(callables) || len(got) > 0 && !reflect.DeepEqual(got, callables) {
		t.Fatalf("orchestrator %q, names %q; encoding/json has %q, %q", m.Orchestrator, got, orchestrator, callables)
	}
	checkEntries(t, m)
}

// checkEntries checks order, lookup and text of the entries of a map.
func checkEntries(t *testing.T, m *names.Map) {
	t.Helper()
	entries := m.Sorted()
	if len(entries) != m.Len() {
		t.Fatalf("%d entries, length %d", len(entries), m.Len())
	}
	last, odd := int64(0), false
	for i, e := range entries {
		id, err := strconv.ParseInt(e.Key, 10, 64)
		if err != nil || strconv.FormatInt(id, 10) != e.Key {
			if odd && entries[i-1].Key >= e.Key {
				t.Fatalf("key %q after %q", e.Key, entries[i-1].Key)
			}
			odd = true
			continue
		}
		if odd || i > 0 && id <= last {
			t.Fatalf("key %q after %q", e.Key, entries[i-1].Key)
		}
		last = id
		if name, ok := m.Name(id); !ok || name != e.Name {
			t.Fatalf("Name(%d) = %q, %v; listed as %q", id, name, ok, e.Name)
		}
	}
	for _, e := range entries {
		if !utf8.ValidString(e.Name) || !utf8.ValidString(e.Key) {
			t.Fatalf("%q is not UTF-8", e)
		}
	}
}

// checkError checks what every refusal promises.
func checkError(t *testing.T, err error, source string, size int) {
	t.Helper()
	if !strings.Contains(err.Error(), source) {
		t.Fatalf("error %q does not name the file", err)
	}
	var syntax *names.SyntaxError
	if errors.As(err, &syntax) && (syntax.Line < 1 || syntax.Column < 1 || syntax.Offset < 0 || syntax.Offset > size) {
		t.Fatalf("error %q at an impossible place", err)
	}
}

func FuzzMap(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, level2Map, level3Map, plainMap,
		`{"level":"2","orchestrator_name":null,"callable_id_to_name":{"10":"k","x":"l","-0":"m","007":"\ud83d\ude80","":"\u0000"}}`,
		`{"level":2,"level":2}`, `{"callable_id_to_name":{"0":"a","\u0030":"b"}}`,
		"\xef\xbb\xbf{}", "{\"a\":\"\xff\"}", `{"a":"\ud83d"}`, `{"a":NaN}`, `{"a":-Infinity}`, `{}x`, `{"a":[1,]}`,
		`{"level":1e999,"a":-0.0E-0}`, `{"level":-9223372036854775809}`, `{"LEVEL":3,"Callable_Id_To_Name":{"0":"no"}}`,
		`{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, strings.Repeat(`{"a":`, 200), strings.Repeat("[", 5000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := names.ParseMap("map.json", data)
		if err != nil {
			if m != nil {
				t.Fatal("a map beside an error")
			}
			if !errors.Is(err, names.ErrSyntax) {
				t.Fatalf("error %v is no SyntaxError", err)
			}
			checkError(t, err, "map.json", len(data))
			return
		}
		checkMap(t, m, data)
		// Writing the names and reading them again changes nothing.
		again := map[string]any{"orchestrator_name": m.Orchestrator, "level": m.Level}
		if m.Level == 0 {
			delete(again, "level")
		}
		callables := map[string]string{}
		for _, e := range m.Sorted() {
			callables[e.Key] = e.Name
		}
		again["callable_id_to_name"] = callables
		text, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		m2, err := names.ParseMap("map.json", text)
		if err != nil || !reflect.DeepEqual(m2.Sorted(), m.Sorted()) || m2.Level != m.Level || m2.Orchestrator != m.Orchestrator {
			t.Fatalf("%+v became %+v, %v", m, m2, err)
		}
	})
}

func FuzzKernelConfig(f *testing.F) {
	for _, seed := range []string{
		``, `KERNELS = []`, `KERNELS`, `KERNELS =`, `KERNELS = (`, `KERNELS: list = ()`, `KERNELS += 1`, "\xef\xbb\xbfKERNELS = [{}]",
		`KERNELS = [{"func_id": 0, "name": "a"}, {"func_id": 0x1, 'name': r'b' "\x41"}, dict(func_id=-2, name=u"""c"""), {**x}]`,
		"if x:\n\tKERNELS = []\nKERNELS = [{'func_id': 1, # c\n 'name': '''\\\r\n\\N{BULLET}'''}],\n",
		`KERNELS = [f"{a:{b!r}}{{" rf'\{x}' f"\N{DASH}{y["]"]:=5}", {"func_id": 1__0}]`,
		`KERNELS = [{"name": "\ud800", "func_id": 9223372036854775808, lambda: 0: 1, :}, , *a]`,
		"KERNELS = [\\\n]; KERNELS.append(1); A = KERNELS = ((((({},)))))",
		`x = "` + "\xff", "\x00", `KERNELS = ` + strings.Repeat("[", 100), strings.Repeat("f'{", 100), "f'{a" + strings.Repeat(":{a", 100), `'''`, `"\`, `f"{`, `f"\N{`, `0x`, `KERNELS = [--`,
		`KERNELS=,\`,
		sceneTest, sceneTest + "KERNELS: list = []\n", strings.ReplaceAll(sceneTest, "    ", "\t"),
		`class A: CALLABLE = {"incores": [{"func_id": 0, "name": "a"}]}`, "class A(B, c={1: 2}):X=1;CALLABLE:dict=dict(incores=(dict(func_id=1,name='b'),));CALLABLE|={}",
		"@d\nclass A:\n\t'''d'''\n\tdef f(s):\n\t\tCALLABLE = {}\n\tCALLABLE = {**x, 'incores': [], 'f': lambda a, **b: 0, **y}\n",
		"class A: CALLABLE = {'callables': []}", "class A: CALLABLE = {}\nclass B:\n  CALLABLE = {'incores': X}\n", "class A:\n CALLABLE = {k: v for k in x}\nclass B:\n CALLABLE = None",
		"class A:\n \\\n  CALLABLE = {'incores': [*x]}\n \f CALLABLE, y = 1\n", "class", "class A", "class A:", "class A[:", "class A:\n  CALLABLE", "CALLABLE = {}\nclass A: CALLABLE = {1}, 2",
	} {
		f.Add([]byte(seed), false)
	}
	for _, seed := range []string{`[]`, `{"KERNELS": [{"func_id": 0, "name": "a"}, {"name": null}, 5]}`, `{}`, `{"KERNELS": null}`, `[{"func_id": 1.5}`} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		source := "k.py"
		if asJSON {
			source = "k.json"
		}
		m, warnings, err := names.ParseKernelConfig(source, data)
		for _, w := range warnings {
			if !utf8.ValidString(w) || strings.ContainsAny(w, "\n\r\x1b\x00") {
				t.Fatalf("warning %q is not fit for one line", w)
			}
		}
		if len(warnings) > 104 {
			t.Fatalf("%d warnings", len(warnings))
		}
		if err != nil {
			if m != nil {
				t.Fatal("a map beside an error")
			}
			if !errors.Is(err, names.ErrSyntax) && !errors.Is(err, names.ErrNoKernels) {
				t.Fatalf("error %v is of no known kind", err)
			}
			checkError(t, err, source, len(data))
			return
		}
		checkEntries(t, m)
		// What follows in comments and blank lines changes nothing, unless a
		// backslash at the end takes the first of them into the last statement.
		if !asJSON && !bytes.HasSuffix(data, []byte("\\")) {
			m2, warnings2, err := names.ParseKernelConfig(source, append(data[:len(data):len(data)], "\n\n  # KERNELS = 1\n"...))
			if err == nil && (!reflect.DeepEqual(m2, m) || !reflect.DeepEqual(warnings2, warnings)) {
				t.Fatalf("%+v %q became %+v %q", m, warnings, m2, warnings2)
			}
		}
	})
}
