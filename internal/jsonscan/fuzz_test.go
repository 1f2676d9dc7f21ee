package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"swimlane/internal/jsonscan"
)

// FuzzScanner holds the scanner against encoding/json and our stricter rules
// (spec/records.md §9 no. 15), and against itself behind readers that cut the
// text elsewhere.
func FuzzScanner(f *testing.F) {
	seeds, err := filepath.Glob("testdata/seeds/*")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range seeds {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := raw(text)
		if want := strictlyValid(text); (err == nil) != want {
			t.Fatalf("got %v, want accepted: %v", err, want)
		}
		if err == nil {
			sameJSON(t, text, got)
		}
		for name, r := range rereads(text) {
			for how, read := range map[string]func(s *jsonscan.Scanner){
				"skip": func(s *jsonscan.Scanner) { s.Skip() },
				"raw":  func(s *jsonscan.Scanner) { s.Raw(nil) },
				"walk": walk,
			} {
				r = rereads(text)[name]
				s := jsonscan.NewSize(r, 8) // so that short texts have window edges too
				read(s)
				again := s.End()
				if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
					t.Fatalf("%s, %s: got %v, at once %v", how, name, again, err)
				}
			}
		}
	})
}

// strictlyValid judges by encoding/json what that can judge, and by its tokens
// the rules that only we have.
func strictlyValid(text string) bool {
	return json.Valid([]byte(text)) && utf8.ValidString(text) && !loneSurrogate(text) && fineNesting(text)
}

// fineNesting reports whether valid JSON is nested no deeper than allowed and
// repeats no key in one object.
func fineNesting(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	type level struct {
		keys    map[string]bool
		wantKey bool
	}
	var open []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return true
		}
		top := len(open) - 1
		if d, ok := tok.(json.Delim); ok {
			switch d {
			case '{':
				open = append(open, level{keys: map[string]bool{}, wantKey: true})
			case '[':
				open = append(open, level{})
			default:
				open = open[:top]
				if top > 0 {
					open[top-1].wantKey = open[top-1].keys != nil
				}
			}
			if len(open) > jsonscan.MaxDepth {
				return false
			}
			continue
		}
		if top < 0 || open[top].keys == nil {
			continue
		}
		if open[top].wantKey {
			key, _ := tok.(string)
			if open[top].keys[key] {
				return false
			}
			open[top].keys[key] = true
		}
		open[top].wantKey = !open[top].wantKey
	}
}

// sameJSON fails unless both texts mean the same.
func sameJSON(t *testing.T, a, b string) {
	t.Helper()
	if !reflect.DeepEqual(decode(t, a), decode(t, b)) {
		t.Fatalf("%s became %s", a, b)
	}
	var small bytes.Buffer
	if err := json.Compact(&small, []byte(b)); err != nil || small.String() != b {
		t.Fatalf("%s holds white space: %v", b, err)
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
