package jsonscan_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"swimlane/internal/jsonscan"
)

func TestStrings(t *testing.T) {
	tests := map[string]string{
		`""`:                       "",
		`"plain"`:                  "plain",
		`"\"\\\/\b\f\n\r\t"`:       "\"\\/\b\f\n\r\t",
		`"\u0041\u00e4\u20AC"`:     "Aä€",
		`"\ud83d\ude00"`:           "😀",
		`"a\uD83D\uDE00b"`:         "a😀b",
		`"\u0000"`:                 "\x00",
		`"ä€😀"`:                    "ä€😀",
		`"\uFFFD"`:                 "\ufffd",
		`"` + "\ufffd" + `"`:       "\ufffd",
		`"1234567\n"`:              "1234567\n",
		`"12345678\u0031"`:         "123456781",
		`"{}[],:"`:                 "{}[],:",
		"\"\x7f\"":                 "\x7f",
		`"\udbff\udfff"`:           "\U0010ffff",
		`"\\u0041"`:                `\u0041`,
		`"` + "\u2028" + `"`:       "\u2028",
		`"` + "\U0010ffff" + `aa"`: "\U0010ffffaa",
	}
	for text, want := range tests {
		for name, r := range rereads(text) {
			s := jsonscan.New(r)
			got := string(s.Text())
			if err := s.End(); err != nil || got != want {
				t.Errorf("%s %s: got %q %v, want %q", name, text, got, err, want)
			}
		}
	}
}

// Random bytes in quotes: accepted exactly when encoding/json accepts them, the
// text is UTF-8 and every surrogate has its partner; and then with the same result.
func TestStringsAgainstEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	parts := []string{
		"a", "bcdefgh", "12345678", `\n`, `\"`, `\\`, `\u0041`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\u00`, `\x`, `\`, `"`, "ä", "€", "😀",
		"\x00", "\x1f", "\x20", "\x7f", "\x80", "\xc3", "\xff", "\xed\xa0\x80", "\n", "\u2028", "abcdefghijklmnopqrstuvwxyz",
	}
	accepted := 0
	for range 100_000 {
		var b strings.Builder
		b.WriteByte('"')
		for range r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		b.WriteByte('"')
		text := b.String()
		s := jsonscan.New(strings.NewReader(text))
		got := string(s.Text())
		err := s.End()
		var want string
		valid := json.Unmarshal([]byte(text), &want) == nil && utf8.ValidString(text) && !loneSurrogate(text)
		if (err == nil) != valid || err == nil && got != want {
			t.Fatalf("%q: got %q %v, want %q %v", text, got, err, want, valid)
		}
		if err == nil {
			accepted++
		}
	}
	if accepted < 10_000 {
		t.Errorf("only %d strings were accepted", accepted)
	}
}

// loneSurrogate reports whether a JSON string has an escaped surrogate without its partner.
func loneSurrogate(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if i+4 >= len(text) || text[i] != 'u' {
			continue
		}
		switch surrogate(text[i+1:]) {
		case 'L':
			return true
		case 'H':
			if i+6 >= len(text) || text[i+5] != '\\' || text[i+6] != 'u' || surrogate(text[i+7:]) != 'L' {
				return true
			}
			i += 10
		}
	}
	return false
}

// surrogate says whether four hexadecimal digits are a high or a low surrogate.
func surrogate(hex string) byte {
	if len(hex) < 2 || hex[0] != 'd' && hex[0] != 'D' {
		return 0
	}
	switch {
	case strings.ContainsRune("89abAB", rune(hex[1])):
		return 'H'
	case strings.ContainsRune("cdefCDEF", rune(hex[1])):
		return 'L'
	}
	return 0
}

func TestAppendString(t *testing.T) {
	tests := map[string]string{
		"":              `""`,
		"plain":         `"plain"`,
		"a\"b\\c":       `"a\"b\\c"`,
		"\n\t\r\b\x00/": `"\n\t\r\u0008\u0000/"`,
		"ä€😀\u2028":     "\"ä€😀\u2028\"",
		"\x7f\x1f":      "\"\x7f\\u001f\"",
	}
	for text, want := range tests {
		if got := string(jsonscan.AppendString(nil, text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if got := string(jsonscan.AppendString([]byte("x"), []byte(text))); got != "x"+want {
			t.Errorf("%q: got %s, want x%s", text, got, want)
		}
		var back string
		if err := json.Unmarshal([]byte(want), &back); err != nil || back != text {
			t.Errorf("%s means %q, %v", want, back, err)
		}
	}
}

func TestRaw(t *testing.T) {
	tests := map[string]string{
		` { "a" : [ 1 , -2.50e+3 , "x\u0041\n" , null , true , false ] , "b" : { } } `: `{"a":[1,-2.50e+3,"xA\n",null,true,false],"b":{}}`,
		`[]`:                     `[]`,
		` 18446744073709551616 `: `18446744073709551616`,
		`{"\u0061":"\/"}`:        `{"a":"/"}`,
		"[ [ 1 ,\n 2 ] ]":        `[[1,2]]`,
	}
	for text, want := range tests {
		got, err := raw(text)
		if err != nil || got != want {
			t.Errorf("%s: got %s %v, want %s", text, got, err, want)
		}
	}
}
