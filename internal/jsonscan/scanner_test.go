package jsonscan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"swimlane/internal/jsonscan"
)

// skip reads text as one value and returns the first error.
func skip(text string) error {
	s := jsonscan.New(strings.NewReader(text))
	s.Skip()
	return s.End()
}

// raw reads text as one value and returns it without white space.
func raw(text string) (string, error) {
	s := jsonscan.New(strings.NewReader(text))
	out := s.Raw(nil)
	return string(out), s.End()
}

// place returns where an error is said to be.
func place(t *testing.T, err error) (e *jsonscan.Error) {
	t.Helper()
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error with a place", err)
	}
	return e
}

// rereads gives the same text through readers that cut it differently.
func rereads(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"at once":   strings.NewReader(text),
		"unsized":   struct{ io.Reader }{strings.NewReader(text)},
		"one byte":  iotest.OneByteReader(strings.NewReader(text)),
		"halves":    iotest.HalfReader(strings.NewReader(text)),
		"data+EOF":  iotest.DataErrReader(strings.NewReader(text)),
		"odd sizes": &oddReader{r: strings.NewReader(text)},
	}
}

// oddReader returns 1, 2, 3, … bytes at a time.
type oddReader struct {
	r io.Reader
	n int
}

func (o *oddReader) Read(p []byte) (int, error) {
	o.n++
	return o.r.Read(p[:min(len(p), o.n)])
}

func TestAccepted(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `""`, `0`, `-0`, `null`, `true`, `false`, " \t\r\n[1] \n",
		`{"a":{"a":{"a":[]}}}`, `[[],[[]],{}]`, `[1,-2,3.5,1e9,1E-9,0.0,-0.1e+1]`,
		`{"":1,"a":2,"A":3}`, `[{"a":1},{"a":2}]`, `{"a":{"b":1},"b":{"b":2}}`,
		`"\"\\\/\b\f\n\r\t\u0041"`, `"ü€😀"`, `"\ud83d\ude00"`, `"\u0000"`, "\"\x7f\"",
		strings.Repeat("[", jsonscan.MaxDepth) + strings.Repeat("]", jsonscan.MaxDepth),
		strings.Repeat(`{"a":`, jsonscan.MaxDepth-1) + `[1]` + strings.Repeat("}", jsonscan.MaxDepth-1),
	} {
		if err := skip(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := raw(text); err != nil {
			t.Errorf("raw %s: %v", text, err)
		}
	}
}

const deepest = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" // MaxDepth brackets

// refusals are texts that are no JSON, or none that we read.
var refusals = []struct {
	text         string
	line, column int64
	message      string // part of what must be said
}{
	{"", 1, 1, "found the end of the file, expected a value; the file is incomplete"},
	{"  \n ", 2, 2, "end of the file"},
	{"[1,2", 1, 5, "found the end of the file, expected ',' or ']'; the file is incomplete"},
	{"[1,", 1, 4, "end of the file"},
	{"[", 1, 2, "end of the file"},
	{"{", 1, 2, "end of the file, expected a key"},
	{`{"a"`, 1, 5, "end of the file, expected ':'"},
	{`{"a":`, 1, 6, "end of the file, expected a value"},
	{`{"a":1`, 1, 7, "end of the file, expected ',' or '}'"},
	{`{"a":1,`, 1, 8, "end of the file, expected a key"},
	{`"abc`, 1, 1, "end of the file inside a string"},
	{`"abc\`, 1, 1, "end of the file inside a string"},
	{`"ä`, 1, 1, "end of the file inside a string"},
	{"tru", 1, 1, `found "tru", expected true; the file is incomplete`},
	{"[n", 1, 2, `found "n", expected null; the file is incomplete`},
	{"[-", 1, 2, `found "-", expected a number; the file is incomplete`},
	{"[1.", 1, 2, `found "1.", expected a number; the file is incomplete`},
	{"[1e+", 1, 2, `found "1e+", expected a number; the file is incomplete`},
	{"nul]", 1, 1, `found "nul", expected null`},
	{"falsy", 1, 1, `found "falsy", expected false`},
	{"truex", 1, 5, `found "x" behind the JSON value`},
	{"[1,]", 1, 4, `found "]", expected a value behind the comma`},
	{"[,1]", 1, 2, `found ","`},
	{"[1 2]", 1, 4, `found "2", expected ',' or ']'`},
	{"[1}", 1, 3, `found "}", expected ',' or ']'`},
	{`{"a":1]`, 1, 7, `found "]", expected ',' or '}'`},
	{`{"a":1,}`, 1, 8, `found "}", expected a key in double quotes`},
	{`{a:1}`, 1, 2, `found "a:1", expected a key in double quotes`},
	{`{"a" 1}`, 1, 6, `found "1", expected ':' behind a key`},
	{`{"a",1}`, 1, 5, `found ",", expected ':' behind a key`},
	{`{1:2}`, 1, 2, `expected a key in double quotes`},
	{"{}\n{}", 2, 1, `found "{" behind the JSON value`},
	{"[]x", 1, 3, `found "x" behind the JSON value`},
	{"[]\x00", 1, 3, "found a zero byte"},
	{"\x00[]", 1, 1, "found a zero byte"},
	{"[\x01]", 1, 2, `expected a value`},
	{"[\x01", 1, 2, `expected a value`},
	{"[\v1]", 1, 2, `expected a value`},
	{"\xef\xbb\xbf[]", 1, 1, "found a byte order mark"},
	{"\xff\xfe[\x00]\x00", 1, 1, `found "\xff"`},
	{"NaN", 1, 1, `found "NaN", expected a value; NaN and Infinity are not JSON`},
	{"[1,\n Infinity]", 2, 2, `found "Infinity", expected a value; NaN and Infinity are not JSON`},
	{"-Infinity", 1, 1, `found "-Infinity", expected a number`},
	{"01", 1, 1, `found "01", expected a number`},
	{"-", 1, 1, `expected a number`},
	{"-a", 1, 1, `expected a number`},
	{"1.", 1, 1, `expected a number`},
	{".5", 1, 1, `found ".5", expected a value`},
	{"+1", 1, 1, `found "+1", expected a value`},
	{"1e", 1, 1, `expected a number`},
	{"1e+", 1, 1, `expected a number`},
	{"0x10", 1, 1, `found "0x10", expected a number`},
	{"1_000", 1, 1, `expected a number`},
	{"[1\x002]", 1, 2, `expected a number`},
	{"/* */ 1", 1, 1, `expected a value`},
	{"'a'", 1, 1, `expected a value`},
	{"\"a\nb\"", 1, 3, "found the control character 0x0a inside a string"},
	{"\"a\tb\"", 1, 3, "found the control character 0x09 inside a string"},
	{`"\x41"`, 1, 2, `expected an escape sequence of JSON`},
	{`"\u12"`, 1, 2, `expected an escape sequence`},
	{`"\u12g4"`, 1, 2, `expected an escape sequence`},
	{`"\u+123"`, 1, 2, `expected an escape sequence`},
	{`"ab\ud83d"`, 1, 4, `expected an escape sequence`},
	{`"\ud83dx"`, 1, 2, `expected an escape sequence`},
	{`"\ud83d\u0041"`, 1, 2, `expected an escape sequence`},
	{`"\ude00"`, 1, 2, `expected an escape sequence`},
	{"\"a\xffb\"", 1, 3, "found the byte 0xff inside a string, expected UTF-8"},
	{"\"\xc0\xaf\"", 1, 2, "found the byte 0xc0 inside a string"},
	{"\"\xed\xa0\x80\"", 1, 2, "found the byte 0xed inside a string"}, // a surrogate as UTF-8
	{"\"\xf4\x90\x80\x80\"", 1, 2, "found the byte 0xf4 inside a string"},
	{"{\"\xff\":1}", 1, 3, "found the byte 0xff inside a string"},
	{deepest + "[", 1, jsonscan.MaxDepth + 1, "found nesting deeper than 64"},
	{deepest + "{}", 1, jsonscan.MaxDepth + 1, "found nesting deeper than 64"},
	{deepest + "[1,2]", 1, jsonscan.MaxDepth + 1, "found nesting deeper than 64"},
	{`{"a":1,"a":2}`, 1, 8, `found the key "a" twice in one object`},
	{"{\"a\":1,\n  \"\\u0061\":2}", 2, 3, `found the key "a" twice in one object`},
	{`{"\u0061":1,"a":2}`, 1, 13, `found the key "a" twice in one object`},
	{`{"ä":1,"\u00e4":2}`, 1, 9, `twice in one object`},
	{`{"":1,"":2}`, 1, 7, `twice in one object`},
	{`{"b":{"a":1,"a":1}}`, 1, 13, `twice in one object`},
	{`[{"a":1,"b":2},{"b":1,"a":2,"b":3}]`, 1, 29, `found the key "b" twice in one object`},
}

func TestRefused(t *testing.T) {
	if len(deepest) != jsonscan.MaxDepth {
		t.Fatalf("%d brackets", len(deepest))
	}
	for _, tt := range refusals {
		for name, read := range map[string]func(string) error{
			"skip": skip, "raw": func(s string) error { _, err := raw(s); return err },
		} {
			err := read(tt.text)
			if err == nil {
				t.Errorf("%s %q: accepted", name, tt.text)
				continue
			}
			e := place(t, err)
			if !strings.Contains(e.Msg, tt.message) {
				t.Errorf("%s %q: got %q, want %q in it", name, tt.text, e.Msg, tt.message)
			}
			offset := byteAt(tt.text, tt.line, tt.column)
			if e.Line != tt.line || e.Column != tt.column || e.Offset != offset {
				t.Errorf("%s %q: got line %d column %d byte %d, want %d %d %d", name, tt.text, e.Line, e.Column, e.Offset, tt.line, tt.column, offset)
			}
		}
	}
}

// byteAt is the offset of a line and column.
func byteAt(text string, line, column int64) int64 {
	var before int64
	for _, l := range strings.SplitAfter(text, "\n")[:line-1] {
		before += int64(len(l))
	}
	return before + column - 1
}

func TestErrorText(t *testing.T) {
	err := skip("[1,\n 2 3]")
	const want = `line 2 column 4 (byte 7): found "3", expected ',' or ']'`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Messages quote what a file says; they must stay short whatever it says.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, text := range []string{
		`[` + long, `{"` + long + `":1,"` + long + `":2}`, strings.Repeat("9", 100_000) + "x", `"\u` + long + `"`,
	} {
		if err := skip(text); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.20q…: got %.400v", text, err)
		}
	}
	s := jsonscan.New(strings.NewReader(strings.Repeat("9", 100_000)))
	s.Int()
	if err := s.Err(); err == nil || len(err.Error()) > 300 {
		t.Errorf("got %.400v", err)
	}
}

// The position must be right wherever the window stood when the error came up.
func TestErrorPlaceAfterRefills(t *testing.T) {
	line := `{"key": "some text", "n": [1, 2, 3]}` + "\n"
	for _, n := range []int{0, 1, 100, 6999, 7000, 8000, 30_000} {
		text := "[\n" + strings.Repeat(line[:len(line)-1]+",\n", n) + "  x]"
		for name, r := range rereads(text) {
			if n > 100 && name != "at once" && name != "halves" && name != "unsized" && name != "odd sizes" {
				continue
			}
			s := jsonscan.New(r)
			s.Skip()
			e := place(t, s.End())
			if e.Line != int64(n+2) || e.Column != 3 || e.Offset != int64(len(text)-2) {
				t.Errorf("%d lines, %s: got line %d column %d byte %d, want %d 3 %d", n, name, e.Line, e.Column, e.Offset, n+2, len(text)-2)
			}
		}
	}
	// One line that is longer than the window.
	text := "\n" + "[" + strings.Repeat("1234567, ", 100_000) + "]"
	e := place(t, skip(text))
	if e.Line != 2 || e.Column != int64(len(text)-1) || e.Offset != int64(len(text)-1) {
		t.Errorf("got line %d column %d byte %d, want 2 %d %d", e.Line, e.Column, e.Offset, len(text)-1, len(text)-1)
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken disk")
	text := `{"a":["12345678901234567890","x",[1,2,3],{"b":"c\n"}], "d":  -12.5e3, "e": null}`
	for cut := range len(text) {
		for name, read := range map[string]func(s *jsonscan.Scanner){
			"skip": func(s *jsonscan.Scanner) { s.Skip() },
			"raw":  func(s *jsonscan.Scanner) { s.Raw(nil) },
			"walk": walk,
		} {
			s := jsonscan.New(io.MultiReader(strings.NewReader(text[:cut]), iotest.ErrReader(broken)))
			read(s)
			if err := s.End(); !errors.Is(err, broken) {
				t.Errorf("%s, cut at %d: got %v", name, cut, err)
			}
			s = jsonscan.New(io.MultiReader(iotest.OneByteReader(strings.NewReader(text[:cut])), iotest.ErrReader(broken)))
			read(s)
			if err := s.End(); !errors.Is(err, broken) {
				t.Errorf("%s by bytes, cut at %d: got %v", name, cut, err)
			}
		}
	}
	s := jsonscan.New(stuck{})
	s.Skip()
	if err := s.End(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that returns nothing: got %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// walk reads with every typed reader there is.
func walk(s *jsonscan.Scanner) {
	switch s.Peek() {
	case jsonscan.Object:
		s.BeginObject()
		for {
			if _, ok := s.Key(); !ok {
				return
			}
			walk(s)
		}
	case jsonscan.Array:
		var row [8]uint64
		if _, ok := s.Row(row[:]); ok {
			return
		}
		s.BeginArray()
		for s.Elem() {
			walk(s)
		}
	case jsonscan.Null:
		s.TakeNull()
	case jsonscan.True, jsonscan.False:
		s.Bool()
	default:
		if _, ok := s.TryInt(); !ok {
			s.Skip()
		}
	}
}

// After a failure every call returns zero values and every loop ends.
func TestFirstErrorSticks(t *testing.T) {
	s := jsonscan.New(strings.NewReader(`[1, x, 2]`))
	s.BeginArray()
	n := 0
	for s.Elem() {
		s.Int()
		n++
	}
	first := s.Err()
	if n != 2 || first == nil {
		t.Fatalf("got %d elements and %v", n, first)
	}
	s.Fail("later")
	s.FailAt(0, "later")
	s.Skip()
	walk(s)
	var row [2]uint64
	_, isRow := s.Row(row[:])
	_, isInt := s.TryInt()
	_, isKey := s.Key()
	if isRow || isInt || isKey || s.Elem() || s.Bool() || s.TakeNull() || s.Text() != nil || s.Int() != (jsonscan.Int{}) ||
		s.Uint64() != 0 || s.Int64() != 0 || s.Peek() != jsonscan.None || s.BeginArray() || s.BeginObject() || len(s.Raw(nil)) != 0 {
		t.Error("a call behind the error returned something")
	}
	if s.Err() != first || s.End() != first {
		t.Errorf("got %v, want %v", s.Err(), first)
	}
}

func TestFailAt(t *testing.T) {
	s := jsonscan.New(strings.NewReader("[\n 12345, 6]"))
	s.BeginArray()
	s.Elem()
	at := s.Offset()
	s.Int()
	s.FailAt(at, "found %d", 12345)
	if e := place(t, s.End()); e.Line != 2 || e.Column != 2 || e.Offset != 3 || e.Msg != "found 12345" {
		t.Errorf("got %v", e)
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]jsonscan.Kind{
		`{}`: jsonscan.Object, `[]`: jsonscan.Array, `""`: jsonscan.String, `-1`: jsonscan.Number, `0`: jsonscan.Number,
		`true`: jsonscan.True, `false`: jsonscan.False, `null`: jsonscan.Null, `x`: jsonscan.None, ``: jsonscan.None,
	} {
		if got := jsonscan.New(strings.NewReader(text)).Peek(); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	words := map[jsonscan.Kind]string{
		jsonscan.Object: "an object", jsonscan.Array: "an array", jsonscan.String: "a string", jsonscan.Number: "a number",
		jsonscan.True: "true", jsonscan.False: "false", jsonscan.Null: "null", jsonscan.None: "nothing",
	}
	for k, want := range words {
		if k.String() != want {
			t.Errorf("got %q, want %q", k.String(), want)
		}
	}
}

// A typed reader says what it found where something else was due.
func TestWrongKind(t *testing.T) {
	tests := []struct {
		text, message string
		read          func(s *jsonscan.Scanner)
	}{
		{`[]`, "found an array, expected an integer", func(s *jsonscan.Scanner) { s.Int() }},
		{`"12a"`, `found the string "12a", expected an integer`, func(s *jsonscan.Scanner) { s.Int() }},
		{`null`, "found null, expected an integer", func(s *jsonscan.Scanner) { s.Uint64() }},
		{`1.5`, "found 1.5, expected an integer without fraction or exponent", func(s *jsonscan.Scanner) { s.Int() }},
		{`1e3`, "found 1e3, expected an integer without fraction or exponent", func(s *jsonscan.Scanner) { s.Uint64() }},
		{`18446744073709551616`, "found 18446744073709551616, expected an integer of at most 64 bits", func(s *jsonscan.Scanner) { s.Int() }},
		{`-1`, "found -1, expected an integer that is not negative", func(s *jsonscan.Scanner) { s.Uint64() }},
		{`9223372036854775808`, "found 9223372036854775808, expected an integer of 64 bits with sign", func(s *jsonscan.Scanner) { s.Int64() }},
		{`-9223372036854775809`, "found -9223372036854775809, expected an integer of 64 bits with sign", func(s *jsonscan.Scanner) { s.Int64() }},
		{`1`, "found a number, expected true or false", func(s *jsonscan.Scanner) { s.Bool() }},
		{`1`, "found a number, expected a string", func(s *jsonscan.Scanner) { s.Text() }},
		{`1`, `found "1", expected an array`, func(s *jsonscan.Scanner) { s.BeginArray() }},
		{`[]`, `found "[", expected an object`, func(s *jsonscan.Scanner) { s.BeginObject() }},
	}
	for _, tt := range tests {
		s := jsonscan.New(strings.NewReader("\n  " + tt.text))
		tt.read(s)
		if s.Err() == nil {
			t.Errorf("%s: accepted, want %q", tt.text, tt.message)
			continue
		}
		if e := place(t, s.Err()); e.Msg != tt.message || e.Line != 2 || e.Column != 3 {
			t.Errorf("%s: got %v, want %q at line 2 column 3", tt.text, e, tt.message)
		}
	}
}

func TestTypedReaders(t *testing.T) {
	text := ` { "b" : true , "c":false,"n":null,"t":"x\ny","i":"-7","u":18446744073709551615,"s":[ "a" , "" ],"o":{},"z":[] } `
	for name, r := range rereads(text) {
		var got []string
		s := jsonscan.New(r)
		s.BeginObject()
		for {
			key, ok := s.Key()
			if !ok {
				break
			}
			k := string(key)
			var v any
			switch k {
			case "b", "c":
				v = s.Bool()
			case "n":
				v = s.TakeNull()
			case "t":
				v = string(s.Text())
			case "i":
				v = s.Int64()
			case "u":
				v = s.Uint64()
			default:
				v = string(s.Raw(nil))
			}
			got = append(got, fmt.Sprintf("%s=%v", k, v))
		}
		if err := s.End(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		const want = "b=true c=false n=true t=x\ny i=-7 u=18446744073709551615 s=[\"a\",\"\"] o={} z=[]"
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if s.Offset() != int64(len(text)) {
			t.Errorf("%s: offset %d, want %d", name, s.Offset(), len(text))
		}
	}
}

// A value larger than the limit is refused before it fills the memory; a reader
// without end must not be read for ever.
func TestEndlessToken(t *testing.T) {
	for _, c := range []byte{'a', '9', '\\'} {
		head := `["`
		if c == '9' {
			head = "[9"
		}
		s := jsonscan.New(io.MultiReader(strings.NewReader(head), endless(c)))
		s.Skip()
		if err := s.End(); err == nil || !strings.Contains(err.Error(), "longer than 64 MiB") {
			t.Errorf("%q…: got %v", head, err)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// White space of any length needs no window.
func TestLongWhiteSpace(t *testing.T) {
	s := jsonscan.New(io.MultiReader(io.LimitReader(endless(' '), 8<<20), strings.NewReader("1")))
	if got := s.Int64(); got != 1 || s.End() != nil {
		t.Errorf("got %d, %v", got, s.Err())
	}
}

func TestLargeValuesAcrossWindows(t *testing.T) {
	long := strings.Repeat("abcdefg", 100_000)
	for _, text := range []string{
		`["` + long + `",1]`, `["ä` + long + `",1]`, `["` + long + `\n",1]`, `{"` + long + `":1}`, `{"` + long + `\n":1}`,
		`[` + strings.Repeat("1", 700_000) + `,2]`, `[` + strings.Repeat("[1,2],", 100_000) + `3]`,
	} {
		for _, name := range []string{"at once", "halves", "unsized", "odd sizes"} {
			s := jsonscan.New(rereads(text)[name])
			got := s.Raw(nil)
			if err := s.End(); err != nil || !bytes.Equal(got, []byte(text)) {
				t.Errorf("%s %.10q…: got %d bytes, %v, want %d", name, text, len(got), err, len(text))
			}
		}
	}
}
