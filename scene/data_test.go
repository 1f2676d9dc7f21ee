package scene

import (
	"math"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f := func(v ...float32) Data { return Data{Name: "x", Shape: []int{len(v)}, F32: v} }
	b := func(v ...float32) Data {
		d := Data{Name: "x", Shape: []int{len(v)}}
		for _, e := range v {
			d.BF16 = append(d.BF16, ToBF16(e))
		}
		return d
	}
	for _, v := range []struct {
		got, golden Data
		wrong       string // "" = none
	}{
		{f(1, 2, 3), f(1, 2, 3), ""},
		{f(1000, 2), f(1000.5, 2), ""},                           // 1e-3 relative
		{f(1000, 2), f(1002, 2.0015), "1 of 2"},                  // 2 is too much, 0.0015 is within 0.001 + 0.001·2
		{f(0.0005, 0), f(0, 0), ""},                              // absolute
		{f(0.002, -0.003, 0), f(0, 0, 0), "element [1]: -0.003"}, // the worst
		{f(nan, inf), f(nan, inf), ""},
		{f(nan, 1), f(1, 1), "1 of 2"},
		{f(1, inf), f(1, 1), "1 of 2"},
		{f(1, 1), f(1, nan), "1 of 2"},
		{f(1, 1), f(1, inf), "1 of 2"}, // within a relative tolerance of infinity
		{b(1, 256), b(1, 256), ""},
		{b(1, 256), b(1, 258), "1 of 2"},
		{Data{Shape: []int{2}, I32: []int32{5, -7}}, Data{Shape: []int{2}, I32: []int32{5, -8}}, "1 of 2"},
		{Data{Shape: []int{2}, I32: []int32{5, 100001}}, Data{Shape: []int{2}, I32: []int32{5, 100000}}, "1 of 2"}, // integers are exact
		{f(1), b(1), "BFLOAT16"},
		{f(1, 2), f(1), "expected 2"},
		{f(1), Data{Shape: []int{1}}, "golden values: "},
	} {
		_, err := v.got.compare(&v.golden, 1e-3, 1e-3)
		if (err == nil) != (v.wrong == "") || err != nil && !strings.Contains(err.Error(), v.wrong) {
			t.Errorf("%+v against %+v: %v, want %q", v.got, v.golden, err, v.wrong)
		}
	}
}
