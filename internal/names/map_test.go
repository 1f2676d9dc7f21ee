package names_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"swimlane/internal/names"
)

// mustParse reads a map that is right.
func mustParse(t *testing.T, text string) *names.Map {
	t.Helper()
	m, err := names.ParseMap("map.json", []byte(text))
	if err != nil {
		t.Fatalf("ParseMap: %v", err)
	}
	return m
}

// writeFile puts a file into a directory and returns its path.
func writeFile(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The maps are those of spec/name-map.md §1 and §2.3.
func TestParseMap(t *testing.T) {
	for _, tt := range []struct {
		name, text   string
		level        int
		orchestrator string
		entries      []names.Entry
	}{
		{"paged attention",
			`{"level": 2, "orchestrator_name": "PagedAttn", "callable_id_to_name": {"0": "QK", "1": "SF", "2": "PV", "3": "UP"}}`,
			2, "PagedAttn", []names.Entry{{"0", "QK"}, {"1", "SF"}, {"2", "PV"}, {"3", "UP"}}},
		{"orchestrator only", `{"level":2,"orchestrator_name":"X"}`, 2, "X", nil},
		{"null orchestrator", `{"level":2,"orchestrator_name":null}`, 2, "", nil},
		{"node", `{"level":3,"orchestrator_name":"run_dag","callable_id_to_name":{"0":"vector_kernel","1":"verify"}}`,
			3, "run_dag", []names.Entry{{"0", "vector_kernel"}, {"1", "verify"}}},
		{"nothing stated", `{}`, 0, "", nil},
		{"absent is null", `{"level":null,"orchestrator_name":null,"callable_id_to_name":null}`, 0, "", nil},
		{"level in quotes", `{"level":"2"}`, 2, "", nil},
		{"level in quotes, escaped", `{"level":"\u0032"}`, 2, "", nil},
		{"extra keys", `{"x":[1,{"y":null},-0.5e+3,true],"level":2,"callable_id_to_name":{"1":"b"},"z":{}}`, 2, "", []names.Entry{{"1", "b"}}},
		{"flat map is the viewer's", `{"0":"a"}`, 0, "", nil},
		{"numeric order, other keys last", `{"callable_id_to_name":{"10":"k","x":"l","2":"c","-1":"m","007":"n","99999999999999999999":"o","":"p"}}`,
			0, "", []names.Entry{{"-1", "m"}, {"2", "c"}, {"10", "k"}, {"", "p"}, {"007", "n"}, {"99999999999999999999", "o"}, {"x", "l"}}},
		{"any characters", `{"callable_id_to_name":{"0":"q\"uote's","1":"back\\slash\\n","2":"ctl\u0001\t\n\u007f\u0000end","3":"\ud83d\ude80 </b>"}}`,
			0, "", []names.Entry{{"0", `q"uote's`}, {"1", `back\slash\n`}, {"2", "ctl\x01\t\n\x7f\x00end"}, {"3", "🚀 </b>"}}},
		{"every escape", `{"orchestrator_name":"\"\\\/\b\f\n\r\t\u00e9\u00E9"}`, 0, "\"\\/\b\f\n\r\té\u00e9", nil},
		{"64 levels deep", `{"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, 0, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := mustParse(t, tt.text)
			if m.Level != tt.level || m.Orchestrator != tt.orchestrator || m.Source != "map.json" {
				t.Errorf("level %d, orchestrator %q, source %q; want %d, %q, map.json", m.Level, m.Orchestrator, m.Source, tt.level, tt.orchestrator)
			}
			if got := m.Sorted(); len(got) != m.Len() || len(got)+len(tt.entries) > 0 && !reflect.DeepEqual(got, tt.entries) {
				t.Errorf("entries %q (length %d), want %q", got, m.Len(), tt.entries)
			}
		})
	}
}

func TestMapLookup(t *testing.T) {
	m := mustParse(t, `{"callable_id_to_name":{"7":"seven","08":"x","0":""}}`)
	for _, tt := range []struct {
		id   int64
		name string
		ok   bool
	}{{7, "seven", true}, {0, "", true}, {8, "", false}, {-1, "", false}} {
		if name, ok := m.Name(tt.id); name != tt.name || ok != tt.ok {
			t.Errorf("Name(%d) = %q, %v; want %q, %v", tt.id, name, ok, tt.name, tt.ok)
		}
	}

	var none *names.Map
	if name, ok := none.Name(0); name != "" || ok || none.Len() != 0 || none.Sorted() != nil {
		t.Error("a nil map has names")
	}

	from := map[int64]string{2: "c", 10: "k"}
	m = names.NewMap("orch", from)
	from[2] = "changed"
	if want := []names.Entry{{"2", "c"}, {"10", "k"}}; !reflect.DeepEqual(m.Sorted(), want) || m.Orchestrator != "orch" || m.Level != 0 {
		t.Errorf("NewMap: %+v", m)
	}
	if m := names.NewMap("", nil); m.Len() != 0 {
		t.Error("NewMap of nothing has names")
	}
}

// Every refusal of spec/records.md §9 no. 15 says where and what.
func TestParseMapRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty file", ``, `map.json:1:1 (byte 0): found the end of the file, expected a value; the file is incomplete`},
		{"only space", " \n ", `map.json:2:2 (byte 3): found the end of the file, expected a value; the file is incomplete`},
		{"byte order mark", "\xef\xbb\xbf{}", `map.json:1:1 (byte 0): found a byte order mark, expected a JSON value; save the file as UTF-8 without one`},
		{"UTF-16", "\xff\xfe{\x00", `map.json:1:1 (byte 0): found "\xff", expected a value`},
		{"array", `[]`, `map.json:1:1 (byte 0): found an array, expected an object with the names of functions under "callable_id_to_name"`},
		{"trailing garbage", "{}\n{}", `map.json:2:1 (byte 3): found "{" behind the JSON value, expected the end of the file`},
		{"trailing comma", `{"level":2,}`, `map.json:1:12 (byte 11): found "}", expected a key in double quotes`},
		{"trailing comma in array", `{"x":[1,]}`, `map.json:1:9 (byte 8): found "]", expected a value behind the comma`},
		{"leading comma in array", `{"x":[,1]}`, `map.json:1:7 (byte 6): found ",", expected a value`},
		{"duplicate key", `{"level":2,"level":2}`, `map.json:1:12 (byte 11): found the key "level" twice in one object`},
		{"duplicate id, spelt differently", `{"callable_id_to_name":{"0":"a","\u0030":"b"}}`, `map.json:1:33 (byte 32): found the key "0" twice in one object`},
		{"duplicate key in what is ignored", `{"x":[{"é":1,"é":2}]}`, `map.json:1:15 (byte 14): found the key "é" twice in one object`},
		{"NaN", `{"x":NaN}`, `map.json:1:6 (byte 5): found "NaN", expected a value; NaN and Infinity are not JSON`},
		{"Infinity", `{"x":-Infinity}`, `map.json:1:6 (byte 5): found "-Infinity", expected a number`},
		{"NaN as level", `{"level":NaN}`, `map.json:1:10 (byte 9): found "NaN", expected a value; NaN and Infinity are not JSON`},
		{"65 levels deep", `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, `map.json:1:69 (byte 68): found nesting deeper than 64`},
		{"a million brackets", `{"x":` + strings.Repeat("[", 1e6), `map.json:1:69 (byte 68): found nesting deeper than 64`},
		{"bad UTF-8 in a name", `{"callable_id_to_name":{"0":"` + "a\xff" + `"}}`, `map.json:1:31 (byte 30): found the byte 0xff inside a string, expected UTF-8`},
		{"surrogate written as UTF-8", `{"x":"` + "\xed\xa0\x80" + `"}`, `map.json:1:7 (byte 6): found the byte 0xed inside a string, expected UTF-8`},
		{"lone high surrogate", `{"orchestrator_name":"\ud83d!"}`, `map.json:1:23 (byte 22): found "\\ud83d", expected an escape sequence of JSON`},
		{"lone low surrogate", `{"orchestrator_name":"\ude80"}`, `map.json:1:23 (byte 22): found "\\ude80", expected an escape sequence of JSON`},
		{"high surrogate twice", `{"orchestrator_name":"\ud83d\ud83d"}`, `map.json:1:23 (byte 22): found "\\ud83d", expected an escape sequence of JSON`},
		{"short \\u", `{"x":"\u12"}`, `map.json:1:7 (byte 6): found "\\u12", expected an escape sequence of JSON`},
		{"unknown escape", `{"x":"\x41"}`, `map.json:1:7 (byte 6): found "\\x41", expected an escape sequence of JSON`},
		{"raw newline in a string", "{\"x\":\"a\nb\"}", `map.json:1:8 (byte 7): found the control character 0x0a inside a string, expected it escaped`},
		{"cut inside a string", `{"level":2,"orchestrator_name":"Pag`, `map.json:1:32 (byte 31): found the end of the file inside a string; the file is incomplete`},
		{"cut inside an escape", `{"x":"\`, `map.json:1:6 (byte 5): found the end of the file inside a string; the file is incomplete`},
		{"cut after a value", `{"level":2`, `map.json:1:11 (byte 10): found the end of the file, expected ',' or '}'; the file is incomplete`},
		{"no colon", `{"level" 2}`, `map.json:1:10 (byte 9): found "2", expected ':' behind a key`},
		{"no value", `{"level":}`, `map.json:1:10 (byte 9): found "}", expected a value`},
		{"key without quotes", `{level:2}`, `map.json:1:2 (byte 1): found "level:2", expected a key in double quotes`},
		{"comment", "{} // x", `map.json:1:4 (byte 3): found "//" behind the JSON value, expected the end of the file`},
		{"leading zero", `{"x":01}`, `map.json:1:6 (byte 5): found "01", expected a number`},
		{"fraction without digits", `{"x":1.}`, `map.json:1:6 (byte 5): found "1.", expected a number`},
		{"exponent without digits", `{"x":1e}`, `map.json:1:6 (byte 5): found "1e", expected a number`},
		{"only a sign", `{"x":-}`, `map.json:1:6 (byte 5): found "-", expected a number`},
		{"level true", `{"level":true}`, `map.json:1:10 (byte 9): found true, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level false", `{"level":false}`, `map.json:1:10 (byte 9): found false, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level with fraction", `{"level":2.0}`, `map.json:1:10 (byte 9): found 2.0, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level with exponent", `{"level":2e0}`, `map.json:1:10 (byte 9): found 2e0, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level zero", `{"level":0}`, `map.json:1:10 (byte 9): found 0, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level beyond integers", `{"level":99999999999999999999}`, `map.json:1:10 (byte 9): found 99999999999999999999, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level in words", `{"level":"two"}`, `map.json:1:10 (byte 9): found "two", expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level with space", `{"level":" 2"}`, `map.json:1:10 (byte 9): found " 2", expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"level with leading zero in quotes", `{"level":"02"}`, `map.json:1:10 (byte 9): found "02", expected a whole number for "level"`},
		{"level empty", `{"level":""}`, `map.json:1:10 (byte 9): found "", expected a whole number for "level"`},
		{"level negative", `{"level":-2}`, `map.json:1:10 (byte 9): found -2, expected a whole number for "level"`},
		{"level object", `{"level":{"a":2}}`, `map.json:1:10 (byte 9): found an object, expected a whole number for "level"`},
		{"level misspelt", `{"level":tru}`, `map.json:1:10 (byte 9): found "tru", expected true`},
		{"level with very many digits", `{"level":` + strings.Repeat("9", 1000) + `}`, `found ` + strings.Repeat("9", 37) + `..., expected a whole number for "level"`},
		{"level list", `{"level":[2]}`, `map.json:1:10 (byte 9): found an array, expected a whole number for "level", 2 for a chip or 3 for a node`},
		{"orchestrator number", `{"orchestrator_name":5}`, `map.json:1:22 (byte 21): found a number, expected a string or null for "orchestrator_name"`},
		{"names as a list", `{"callable_id_to_name":["a"]}`, `map.json:1:24 (byte 23): found an array, expected an object such as {"0": "QK"} for "callable_id_to_name"`},
		{"name null", `{"callable_id_to_name":{"3":null}}`, `map.json:1:29 (byte 28): found null, expected a string for the name of "3"`},
		{"name number", `{"callable_id_to_name":{"3":1}}`, `map.json:1:29 (byte 28): found a number, expected a string for the name of "3"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := names.ParseMap("map.json", []byte(tt.text))
			if err == nil || m != nil {
				t.Fatalf("accepted as %+v", m)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q\nwant  %q", err, tt.want)
			}
			var syntax *names.SyntaxError
			if !errors.Is(err, names.ErrSyntax) || !errors.As(err, &syntax) || syntax.Path != "map.json" {
				t.Errorf("%v is no SyntaxError that names the file", err)
			}
		})
	}
}

// A map cut at any byte is an error, never a panic or half a map.
func TestParseMapCut(t *testing.T) {
	whole := `{"level": 2, "orchestrator_name": "o\ud83d\ude80é", "callable_id_to_name": {"0": "QK"}, "x": [-1.5e-3, null]}`
	mustParse(t, whole)
	for n := range whole {
		if m, err := names.ParseMap("map.json", []byte(whole[:n])); err == nil {
			t.Errorf("cut at %d accepted as %+v", n, m)
		}
	}
}

func TestReadMap(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no.json")
	_, err := names.ReadMap(missing)
	if err == nil || err.Error() != "Func names JSON not found: "+missing || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err = names.ReadMap(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("directory: %v", err)
	}

	path := writeFile(t, dir, "m.json", `{"callable_id_to_name":{"0":"a"}}`)
	m, err := names.ReadMap(path)
	if err != nil || m.Source != path || m.Len() != 1 {
		t.Errorf("ReadMap = %+v, %v", m, err)
	}

	// A file of holes: nothing is read, so the test costs nothing.
	big := writeFile(t, dir, "big.json", "")
	if err := os.Truncate(big, 64<<20+1); err != nil {
		t.Skip("no sparse files here:", err)
	}
	_, err = names.ReadMap(big)
	if !errors.Is(err, names.ErrTooLarge) || !strings.Contains(err.Error(), big+" is above the 64 MiB a name map may have") {
		t.Errorf("big file: %v", err)
	}
}
