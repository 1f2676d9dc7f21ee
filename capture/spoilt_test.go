package capture_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where a fuzzer changes bytes, this changes values: one to three nodes of a
// sound document are replaced, dropped or repeated. The same promises must hold.
func TestSpoiltDocuments(t *testing.T) {
	rounds := 4_000
	if testing.Short() {
		rounds = 500
	}
	r := rand.New(rand.NewPCG(9, 10))
	for dir, check := range map[string]func(*testing.T, string){"records": checkRecordsText, "deps": checkDepsText} {
		var sound []string
		paths, _ := filepath.Glob(filepath.Join("testdata", dir, "*"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if json.Valid(text) {
				sound = append(sound, string(text))
			}
		}
		if len(sound) < 3 {
			t.Fatalf("only %d documents in %s", len(sound), dir)
		}
		for range rounds {
			text := sound[r.IntN(len(sound))]
			for range 1 + r.IntN(3) {
				text = spoil(t, r, text)
			}
			check(t, text)
			if t.Failed() {
				t.Fatalf("with %s", text)
			}
		}
	}
}

var oddValues = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `2`, `3`, `5`, `7`, `1.5`, `1e3`, `4294967296`, `2147483647`, `2147483648`, `9223372036854775807`,
	`9223372036854775808`, `18446744073709551615`, `18446744073709551616`, `-9223372036854775809`, `"1"`, `"-1"`, `""`, `"x"`, `"aicpu"`,
	`"aicore"`, `"host"`, `"idle"`, `[]`, `{}`, `[[]]`, `[{}]`, `[0,1,1,5,6]`, `[0,1,2,9]`, `[1,2,3]`, `{"record_index":0}`, `{"kind":"idle"}`,
}

// spoil changes one node of a document.
func spoil(t *testing.T, r *rand.Rand, text string) string {
	var root any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	walkNodes(&root, func(*any) { nodes++ })
	at := r.IntN(nodes)
	walkNodes(&root, func(node *any) {
		if at--; at != -1 {
			return
		}
		switch v := (*node).(type) {
		case []any:
			if len(v) > 0 && r.IntN(3) > 0 {
				i := r.IntN(len(v))
				if r.IntN(2) == 0 {
					*node = append(append([]any{}, v[:i]...), v[i+1:]...)
				} else {
					*node = append(append([]any{}, v...), v[i])
				}
				return
			}
		case map[string]any:
			if len(v) > 0 && r.IntN(3) > 0 {
				keys := slices.Sorted(maps.Keys(v))
				delete(v, keys[r.IntN(len(keys))])
				return
			}
		}
		*node = json.RawMessage(oddValues[r.IntN(len(oddValues))])
	})
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// walkNodes visits a node and everything below it.
func walkNodes(node *any, visit func(*any)) {
	switch v := (*node).(type) {
	case []any:
		for i := range v {
			walkNodes(&v[i], visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := v[key]
			walkNodes(&below, visit)
			v[key] = below
		}
	}
	visit(node)
}
