package parity

import (
	"math"
	"strings"
	"testing"
)

func TestCanonicalNumber(t *testing.T) {
	for in, want := range map[string]string{
		"2":                      "2",
		"2.0":                    "2",
		"-0.0":                   "0",
		"-0":                     "0",
		"1e3":                    "1000",
		"1.5E-3":                 "0.0015",
		"18446744073709551615":   "18446744073709551615",
		"18446744073709551615.0": "18446744073709551615",
		"0.1000":                 "0.1",
		"-2.50":                  "-2.5",
	} {
		if got := canonicalNumber(in); got != want {
			t.Errorf("canonicalNumber(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestMatchIsMaximal pairs values of which each greedy order takes a wrong one.
func TestMatchIsMaximal(t *testing.T) {
	m := matcher[float64]{
		key:  func(float64) string { return "" },
		time: func(v float64) float64 { return v },
		same: func(r, o float64) bool { return math.Abs(r-o) <= 1 },
	}
	for _, c := range []struct {
		ref, ours        []float64
		nMissing, nExtra int
	}{
		{[]float64{0, 1, 2}, []float64{1, 2, 3}, 0, 0},
		{[]float64{0, 1, 2}, []float64{-1, 0, 1}, 0, 0},
		{[]float64{5, 5, 5}, []float64{5, 5}, 1, 0},
		{[]float64{5}, []float64{5, 5}, 0, 1},
		{[]float64{0, 10}, []float64{10, 20}, 1, 1},
	} {
		missing, extra := m.match(c.ref, c.ours)
		if len(missing) != c.nMissing || len(extra) != c.nExtra {
			t.Errorf("match(%v, %v) leaves %v and %v", c.ref, c.ours, missing, extra)
		}
	}
}

// TestMatchByMoreThanTime: order of time pairs these wrongly, so that they
// must be paired anew.
func TestMatchByMoreThanTime(t *testing.T) {
	type ab struct{ a, b float64 }
	m := matcher[ab]{
		key:  func(ab) string { return "" },
		time: func(v ab) float64 { return v.a },
		same: func(r, o ab) bool { return math.Abs(r.a-o.a) <= 1 && math.Abs(r.b-o.b) <= 1 },
	}
	missing, extra := m.match(
		[]ab{{0, 0}, {0.5, 9}, {0.9, 0}},
		[]ab{{0, 9}, {0.1, 1}, {1.9, 0}})
	if len(missing)+len(extra) != 0 {
		t.Errorf("match leaves %v and %v", missing, extra)
	}
}

func TestReadRefuses(t *testing.T) {
	const m = `{"args":{"name":"W"},"cat":"__metadata","name":"process_name","ph":"M","pid":4}`
	for in, want := range map[string]string{
		`[]`:                       "found [",
		`{}`:                       "no traceEvents",
		`{"traceEvents":[]} x`:     "data after",
		`{"traceEvents":[],"a":1}`: `unexpected top-level key "a"`,
		`{"traceEvents":[` + strings.Replace(m, `4`, `"4"`, 1) + `]}`:       "not an integer",
		`{"traceEvents":[` + strings.Replace(m, `"pid"`, `"pod"`, 1) + `]}`: "unknown field",
	} {
		_, err := Read(strings.NewReader(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s): %v, want %q", in, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	slice := `{"args":{},"cat":"event","id":1,"name":"a","ph":"X","pid":4,"tid":1,"ts":1,"dur":2}`
	start := `{"cat":"flow","id":7,"name":"d","ph":"s","pid":4,"tid":1,"ts":1}`
	for in, want := range map[string]string{
		slice + "," + slice: "used twice",
		start:               "only one half",
		start + "," + start: `a second "s"`,
		strings.Replace(slice, `"dur":2`, `"dur":-2`, 1):          "negative duration",
		strings.Replace(slice, `"ts":1,`, ``, 1):                  "no ts",
		strings.Replace(slice, `"ts":1,`, `"ts":1,"bp":"e",`, 1):  "unexpected bp",
		strings.Replace(slice, `"X"`, `"i"`, 1):                   `unexpected phase "i"`,
		strings.Replace(start, `"ts":1`, `"ts":1,"bind_id":9`, 1): "names no slice",
	} {
		tr, err := Read(strings.NewReader(`{"traceEvents":[` + in + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(tr.faults, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: faults %q, want %q", in, got, want)
		}
	}
}
