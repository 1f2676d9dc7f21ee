package jsonscan_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/jsonscan"
)

func TestParseInt(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 64)
	texts := []string{
		"0", "-0", "1", "-1", "9", "10", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "-18446744073709551615",
		"-18446744073709551616", "99999999999999999999", "184467440737095516150", "9999999999999999999", "10000000000000000000",
	}
	for _, text := range texts {
		want, _ := new(big.Int).SetString(text, 10)
		v, ok := jsonscan.ParseInt([]byte(text))
		if fits := new(big.Int).Abs(want).Cmp(limit) < 0; ok != fits {
			t.Errorf("%s: accepted %v, want %v", text, ok, fits)
			continue
		}
		if !ok {
			continue
		}
		if v.String() != want.String() {
			t.Errorf("%s: got %s, want %s", text, v, want)
		}
		if i, ok := v.Int64(); ok != want.IsInt64() || ok && i != want.Int64() {
			t.Errorf("%s: Int64 %d %v", text, i, ok)
		}
		if u, ok := v.Uint64(); ok != want.IsUint64() || ok && u != want.Uint64() {
			t.Errorf("%s: Uint64 %d %v", text, u, ok)
		}
		folded := new(big.Int).Mod(want, limit)
		if v.Wrap() != folded.Uint64() {
			t.Errorf("%s: folded to %d, want %s", text, v.Wrap(), folded)
		}
	}
	for _, text := range []string{"", "-", "--1", "+1", " 1", "1 ", "01", "00", "-01", "1.0", "1e3", "a", "0x1", "1_0", "١"} {
		if v, ok := jsonscan.ParseInt([]byte(text)); ok {
			t.Errorf("%q: accepted as %s", text, v)
		}
	}
}

// Int accepts numbers and strings of digits; TryInt leaves what it does not take.
func TestTryInt(t *testing.T) {
	for text, want := range map[string]string{
		`5`: "5", `"5"`: "5", `-5`: "-5", `"-5"`: "-5", `0`: "0", `-0`: "0", `"-0"`: "0", `"18446744073709551615"`: "18446744073709551615",
		`"-18446744073709551615"`: "-18446744073709551615", `9999999999999999999`: "9999999999999999999", `18446744073709551615`: "18446744073709551615",
	} {
		for name, r := range rereads(" " + text + " ") {
			s := jsonscan.New(r)
			v, ok := s.TryInt()
			if err := s.End(); !ok || err != nil || v.String() != want {
				t.Errorf("%s %s: got %s %v %v", name, text, v, ok, err)
			}
		}
	}
	for _, text := range []string{
		`1.5`, `1e3`, `-1E-1`, `18446744073709551616`, `"18446744073709551616"`, `"1.5"`, `"a"`, `""`, `"01"`, `" 1"`, `"\u0031"`,
		`"1234567890123456789012"`, `"123456789012345678901234567890"`, `"ä"`, `null`, `true`, `[1]`, `{"a":1}`,
	} {
		for name, r := range rereads("[ " + text + ",7]") {
			s := jsonscan.New(r)
			s.BeginArray()
			s.Elem()
			if v, ok := s.TryInt(); ok {
				t.Errorf("%s %s: accepted as %s", name, text, v)
			}
			left := string(s.Raw(nil))
			if s.Elem() && s.Int64() == 7 && !s.Elem() && s.End() == nil && sameValue(left, text) {
				continue
			}
			t.Errorf("%s %s: left %q, %v", name, text, left, s.Err())
		}
	}
}

func sameValue(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// Row and the slow way must say the same about random rows, and about the text
// behind them; encoding/json is the judge.
func TestRowAgainstEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	blank := func() string { return []string{"", "", "", " ", "\n\t ", "\r\n"}[r.IntN(6)] }
	number := func() string {
		switch r.IntN(30) {
		case 0:
			return "0"
		case 1:
			return fmt.Sprint(uint64(math.MaxUint64) - uint64(r.IntN(3)))
		case 2:
			return fmt.Sprint(r.Uint64())
		case 3:
			return fmt.Sprint(-r.Int64N(100))
		case 4:
			return `"` + fmt.Sprint(r.IntN(1000)) + `"`
		case 5:
			return []string{"01", "1.5", "1e3", "x", "", "-", "18446744073709551616", "[1]", "null", "9999999999999999999"}[r.IntN(10)]
		default:
			return fmt.Sprint(r.Uint64N(1 << r.IntN(40)))
		}
	}
	fast := 0
	for range 50_000 {
		var cells []string
		for range r.IntN(10) {
			cells = append(cells, blank()+number()+blank())
		}
		row := "[" + strings.Join(cells, ",") + "]"
		if r.IntN(20) == 0 {
			row = strings.Replace(row, "]", ",]", 1)
		}
		text := "[" + blank() + row + blank() + `,"behind"]`
		if checkRow(t, text, row) {
			fast++
		}
	}
	if fast < 10_000 {
		t.Errorf("only %d of 50000 rows took the fast path", fast)
	}
}

// checkRow reads a row the fast way, if that takes it, and the slow way.
func checkRow(t *testing.T, text, row string) bool {
	t.Helper()
	s := jsonscan.New(strings.NewReader(text))
	s.BeginArray()
	s.Elem()
	var got [8]uint64
	n, ok := s.Row(got[:])
	if ok {
		var want []uint64
		if err := json.Unmarshal([]byte(row), &want); err != nil || !slices.Equal(want, got[:n]) {
			t.Fatalf("%s: Row gave %v, want %v (%v)", row, got[:n], want, err)
		}
		if !s.Elem() || string(s.Text()) != "behind" || s.Elem() || s.End() != nil {
			t.Fatalf("%s: Row lost its place: %v", text, s.Err())
		}
	}
	slow, err := slowRow(text)
	plain := err == nil && len(slow) > 0 && len(slow) <= len(got)
	for _, v := range slow {
		_, fits := v.Uint64()
		plain = plain && fits
	}
	if ok {
		if !plain || len(slow) != n {
			t.Fatalf("%s: Row gave %v, BeginArray %v %v", row, got[:n], slow, err)
		}
		for i := range slow {
			if slow[i].Mag != got[i] {
				t.Fatalf("%s: Row gave %v, BeginArray %v", row, got[:n], slow)
			}
		}
	}
	if valid := json.Valid([]byte(text)); err == nil && !valid {
		t.Fatalf("%s: accepted, but it is no JSON", text)
	}
	return ok
}

func slowRow(text string) (out []jsonscan.Int, err error) {
	s := jsonscan.New(strings.NewReader(text))
	s.BeginArray()
	s.Elem()
	s.BeginArray()
	for s.Elem() {
		out = append(out, s.Int())
	}
	for s.Elem() {
		s.Skip()
	}
	return out, s.End()
}

// Rows that lie across the edge of the window, at every offset.
func TestRowsAcrossTheWindow(t *testing.T) {
	row := "[12, 18446744073709551615, 3, 84118822850, 84118877895, 59],"
	for shift := range 70 {
		var b strings.Builder
		b.WriteString("[" + strings.Repeat(" ", shift))
		const rows = 10_000
		for range rows {
			b.WriteString(row)
		}
		b.WriteString("[]]")
		s := jsonscan.New(struct{ io.Reader }{strings.NewReader(b.String())})
		s.BeginArray()
		n := 0
		for s.Elem() {
			var dst [6]uint64
			k, ok := s.Row(dst[:])
			if !ok {
				s.BeginArray()
				for k = 0; s.Elem(); k++ {
					dst[k] = s.Uint64()
				}
			}
			if k == 6 && dst == [6]uint64{12, math.MaxUint64, 3, 84118822850, 84118877895, 59} {
				n++
			}
		}
		if err := s.End(); err != nil || n != rows {
			t.Fatalf("shift %d: %d rows, %v", shift, n, err)
		}
	}
}

func TestRowLimits(t *testing.T) {
	var dst [3]uint64
	for _, text := range []string{"[]", "[1,2,3,4]", "[1,2,", "[1 2]", "[1,,2]", "[,1]", "[1,]", "{}", "1", "", "[-1]", `["1"]`, "[1.0]", "[01]", "[[1]]"} {
		s := jsonscan.New(strings.NewReader(text))
		if n, ok := s.Row(dst[:]); ok || n != 0 || s.Offset() != 0 {
			t.Errorf("%s: took %d numbers", text, n)
		}
	}
	// Nesting is limited for rows too.
	s := jsonscan.New(strings.NewReader(strings.Repeat("[", jsonscan.MaxDepth) + "[1]"))
	for range jsonscan.MaxDepth {
		s.BeginArray()
		s.Elem()
	}
	if _, ok := s.Row(dst[:]); ok || s.BeginArray() {
		t.Error("a row below the deepest level was read")
	}
}
