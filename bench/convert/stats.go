//go:build linux

package main

import (
	"math"

	"swimlane/bench/process"
)

func (r *result) summarise() {
	r.Seconds = medianOf(r.Runs, wall)
	r.CPU = medianOf(r.Runs, func(s process.Sample) float64 { return s.CPU })
	for _, s := range r.Runs {
		r.PeakRSS = max(r.PeakRSS, s.RSS)
	}
	for i, y := range r.Yardstick {
		r.Ratios = append(r.Ratios, r.Runs[i].Wall/y.Wall)
	}
	if len(r.Ratios) > 0 {
		r.Ratio = process.Median(r.Ratios)
	}
}

func wall(s process.Sample) float64 { return s.Wall }

func medianOf(samples []process.Sample, of func(process.Sample) float64) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, of(s))
	}
	return process.Median(values)
}

// slope fits log(y) = a + b·log(x) by least squares and returns b: 1 is linear
// growth. It is 0 for fewer than two different x.
func slope(x, y []float64) float64 {
	var mx, my, xx, xy float64
	for i := range x {
		mx += math.Log(x[i]) / float64(len(x))
		my += math.Log(y[i]) / float64(len(x))
	}
	for i := range x {
		dx := math.Log(x[i]) - mx
		xx += dx * dx
		xy += dx * (math.Log(y[i]) - my)
	}
	if xx < 1e-9 {
		return 0
	}
	return xy / xx
}
