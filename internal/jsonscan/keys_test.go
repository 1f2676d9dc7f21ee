package jsonscan_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"swimlane/internal/jsonscan"
)

// spellings of one key: plain, with one character escaped, with all of them escaped.
func spelling(r *rand.Rand, key string) string {
	var b strings.Builder
	b.WriteByte('"')
	mode := r.IntN(3)
	pick := r.IntN(max(len(key), 1))
	for i := range len(key) {
		if mode == 2 || mode == 1 && i == pick {
			fmt.Fprintf(&b, `\u%04x`, key[i])
		} else {
			b.WriteByte(key[i])
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Random objects, alike and different, in one array: a key comes back as it was
// written, and an object is refused exactly when a map says that a key came twice.
func TestKeysAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var vocabulary []string
	for i := range 200 {
		vocabulary = append(vocabulary, fmt.Sprintf("key%d", i))
	}
	vocabulary = append(vocabulary, "", "a", "ab", strings.Repeat("long", 20), strings.Repeat("long", 20)+"x", "kéy")
	for round := range 3000 {
		var text strings.Builder
		text.WriteByte('[')
		var want [][]string
		dup := false
		words := 1 + r.IntN(len(vocabulary))
		for obj := 0; obj < 1+r.IntN(5) && !dup; obj++ {
			if obj > 0 {
				text.WriteByte(',')
			}
			text.WriteByte('{')
			seen := map[string]bool{}
			var keys []string
			for k := range r.IntN(100) {
				key := vocabulary[r.IntN(words)]
				if r.IntN(4) > 0 {
					key = vocabulary[(round+k)%words] // mostly in a fixed order
				}
				if seen[key] && r.IntN(50) > 0 {
					continue
				}
				if k > 0 && len(keys) > 0 {
					text.WriteByte(',')
				}
				text.WriteString(spelling(r, key) + ":0")
				if seen[key] {
					dup = true
					break
				}
				seen[key] = true
				keys = append(keys, key)
			}
			text.WriteByte('}')
			want = append(want, keys)
		}
		text.WriteByte(']')
		checkKeys(t, text.String(), want, dup)
	}
}

func checkKeys(t *testing.T, text string, want [][]string, dup bool) {
	t.Helper()
	s := jsonscan.New(strings.NewReader(text))
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		var keys []string
		s.BeginObject()
		for {
			key, ok := s.Key()
			if !ok {
				break
			}
			keys = append(keys, string(key))
			s.Int()
		}
		if fmt.Sprint(keys) != fmt.Sprint(want[i]) {
			t.Fatalf("%s: object %d: got %q, want %q", text, i, keys, want[i])
		}
	}
	if err := s.End(); (err != nil) != dup || dup && !strings.Contains(err.Error(), "twice in one object") {
		t.Fatalf("%s: got %v, duplicate %v", text, err, dup)
	}
}

func TestManyKeys(t *testing.T) {
	for _, n := range []int{63, 64, 65, 66, 128, 129, 130, 5000} {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		if err := skip(b.String() + `"last":1}`); err != nil {
			t.Errorf("%d keys: %v", n, err)
		}
		for _, again := range []string{`"k0"`, `"\u006b0"`, fmt.Sprintf(`"k%d"`, n-1), fmt.Sprintf(`"k%d"`, n/2)} {
			if err := skip(b.String() + again + `:1}`); err == nil || !strings.Contains(err.Error(), "twice") {
				t.Errorf("%d keys and %s again: got %v", n, again, err)
			}
		}
	}
}

// A key may end exactly at the edge of what is read, and so may its colon.
func TestKeyAtTheEdge(t *testing.T) {
	text := `[{"alpha":1,"beta":2},{"alpha":1,"beta" : 2},{"beta"  :1,"alpha":2}]`
	want := [][]string{{"alpha", "beta"}, {"alpha", "beta"}, {"beta", "alpha"}}
	for name, r := range rereads(text) {
		s := jsonscan.New(r)
		s.BeginArray()
		for i := 0; s.Elem(); i++ {
			var keys []string
			s.BeginObject()
			for {
				key, ok := s.Key()
				if !ok {
					break
				}
				keys = append(keys, string(key))
				s.Skip()
			}
			if fmt.Sprint(keys) != fmt.Sprint(want[i]) {
				t.Errorf("%s: got %v, want %v", name, keys, want[i])
			}
		}
		if err := s.End(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
