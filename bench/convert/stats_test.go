//go:build linux

package main

import (
	"math"
	"slices"
	"testing"

	"swimlane/bench/process"
)

func TestSlope(t *testing.T) {
	x := []float64{1e4, 3e4, 1e5, 1e6}
	for _, want := range []float64{0.5, 1, 1.1, 2} {
		var y []float64
		for _, v := range x {
			y = append(y, 3*math.Pow(v, want))
		}
		if got := slope(x, y); math.Abs(got-want) > 1e-9 {
			t.Errorf("slope %v, want %v", got, want)
		}
	}
	if got := slope(x[:1], x[:1]); got != 0 {
		t.Errorf("one point: slope %v", got)
	}
}

func TestMedian(t *testing.T) {
	in := []float64{5, 1, 3}
	if got := process.Median(in); got != 3 || in[0] != 5 {
		t.Errorf("median %v, left %v", got, in)
	}
	if got := process.Median([]float64{4, 1}); got != 2.5 {
		t.Errorf("median %v of two", got)
	}
}

func TestSizes(t *testing.T) {
	got, err := parseSizes("1k,250, 3M")
	if err != nil || !slices.Equal(got, []int{1000, 250, 3_000_000}) {
		t.Errorf("%v, %v", got, err)
	}
	for i, want := range []string{"1k", "250", "3M"} {
		if s := sizeName(got[i]); s != want {
			t.Errorf("%d is called %q", got[i], s)
		}
	}
	for _, bad := range []string{"k", "-1", "1k,", "1e3", "999999M"} {
		if _, err := parseSizes(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestBars(t *testing.T) {
	for value, want := range map[float64]string{0: stateSkip, 1: statePass, 2: statePass, 2.1: stateMiss, -1: statePass} {
		if got := newBar("", value, 2, "").State; got != want {
			t.Errorf("%v: %s, want %s", value, got, want)
		}
	}
}
