package names_test

import (
	"errors"
	"strings"
	"testing"

	"swimlane/internal/names"
	"swimlane/internal/parity"
)

// A verdict is what must happen with a file of the corpus: an error of this kind
// with these words in it, or so many names and these warnings.
type verdict struct {
	is       error
	text     string
	names    int
	warnings []string
}

func malformed(text string) verdict { return verdict{is: names.ErrSyntax, text: text} }

func TestCorpus(t *testing.T) {
	parity.Corpus(t, "FuzzMap", map[string]verdict{
		"ids_negative_and_beyond_64_bits":      {names: 4},
		"one_id_plain_and_with_a_leading_zero": {names: 2},
		"level_beyond_every_hierarchy":         {names: 1},
		"level_in_digits_of_another_script":    malformed(`map.json:1:10 (byte 9): found "٢", expected a whole number for "level", 2 for a chip or 3 for a node`),
		"names_are_pairs":                      malformed(`map.json:1:34 (byte 33): found an array, expected an object such as {"0": "QK"} for "callable_id_to_name"`),
		"map_cut_between_the_halves_of_a_pair": malformed("map.json:1:29 (byte 28): found the end of the file inside a string; the file is incomplete"),
		"one_id_twice_by_escape_and_text":      malformed(`map.json:1:33 (byte 32): found the key "1" twice in one object`),
		"zero_byte_inside_a_name":              malformed("map.json:1:31 (byte 30): found the control character 0x00 inside a string"),
	}, func(t *testing.T, args []string, want verdict) {
		m, err := names.ParseMap("map.json", []byte(args[0]))
		want.check(t, m, nil, err)
	})

	parity.Corpus(t, "FuzzKernelConfig", map[string]verdict{
		"kernels_come_from_a_call":               {is: names.ErrNoKernels, text: `k.py:1:11 (byte 10): found load("kernels.json"); expected a list of entries`},
		"string_is_never_closed":                 malformed("k.py:1:35 (byte 34): the string that begins here is not closed before the end of its line"),
		"bracket_closed_by_another":              malformed(`k.py:1:39 (byte 38): found ']'; expected '}' for the '{' at 1:12`),
		"parentheses_65_deep":                    malformed("k.py:1:75 (byte 74): nested deeper than 64 levels"),
		"byte_that_is_not_utf_8_in_a_comment":    malformed("k.py:1:6 (byte 5): found byte 0xe9, which is not valid UTF-8"),
		"scene_callable_is_a_call":               malformed("k.py:2:16 (byte 39): found make_callable("),
		"scene_of_a_node":                        malformed("k.py:2:43 (byte 67): the CALLABLE of class TestL3 describes a node"),
		"two_scenes_in_one_file":                 malformed("k.py:4:1 (byte 56): found CALLABLE in 2 classes: TestA (line 1), TestB (line 4)"),
		"json_with_the_trailing_comma_of_python": malformed(`k.json:1:31 (byte 30): found "]", expected a value behind the comma`),
		"scene_indented_by_tabs_and_blanks":      {names: 1},
		"scene_names_come_from_calls": {names: 1, warnings: []string{
			skipping(`{"func_id": next(ids), "name": "QK"}`), skipping(`{"func_id": 1, "name": str(SF)}`)}},
		"func_ids_at_and_beyond_63_bits": {names: 1, warnings: []string{
			skipping(`{"func_id": 9223372036854775808, "name": "b"}`), skipping(`{"func_id": 0x8000_0000_0000_0000, "name": "c"}`)}},
	}, func(t *testing.T, args []string, want verdict) {
		source := "k.py"
		if args[1] == "true" {
			source = "k.json"
		}
		m, warnings, err := names.ParseKernelConfig(source, []byte(args[0]))
		want.check(t, m, warnings, err)
	})
}

func (v verdict) check(t *testing.T, m *names.Map, warnings []string, err error) {
	t.Helper()
	if v.is != nil {
		if !errors.Is(err, v.is) || !strings.Contains(err.Error(), v.text) {
			t.Errorf("got %v, want %s", err, v.text)
		}
		return
	}
	if err != nil || m.Len() != v.names || strings.Join(warnings, "\n") != strings.Join(v.warnings, "\n") {
		t.Errorf("got %v, %d names, warnings %q; want %d, %q", err, m.Len(), warnings, v.names, v.warnings)
	}
}
