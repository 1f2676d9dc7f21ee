//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// The bars. The reference takes 50 s and 1.27 GB for the large capture with its
// graph, and the yardstick a ninth of that time. Forty times as fast as the
// reference is therefore 9/40 of the yardstick, measured on the same machine at
// the same moment. The other captures have no such bar: the ninth is a figure of
// the large capture, and elsewhere the reference's work is not in the same
// proportion to the size of the input.
const (
	referenceSeconds = 50.0
	referenceShare   = 9 // reference time / yardstick time
	barRatio         = 9.0 / 40
	barLargeRSS      = 127 * mb // a tenth of 1.27 GB
	barMillionRSS    = 600 * mib
	barSlope         = 1.1
	slopeFrom        = 10_000
	slopeTo          = 1_000_000
)

const (
	mb  = 1e6
	mib = 1 << 20
)

// States of a bar.
const (
	statePass = "PASS"
	stateMiss = "MISS"
	stateSkip = "SKIP" // nothing was measured that it judges
)

// bar is one requirement: the value must not exceed the limit.
type bar struct {
	What  string  `json:"bar"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit"`
	State string  `json:"state"`
}

// report is everything that was found out, in the form of the JSON file.
type report struct {
	Time      time.Time `json:"time"`
	Go        string    `json:"go"`
	System    string    `json:"system"`
	CPUs      int       `json:"cpus"`
	Seed      uint64    `json:"seed"`
	Floor     int64     `json:"peak_rss_floor_bytes"`
	Results   []*result `json:"results"`
	Bars      []bar     `json:"bars"`
	TimeSlope float64   `json:"time_slope"` // 0 if not measured
	RSSSlope  float64   `json:"rss_slope"`
}

func newReport(cfg *config, results []*result) *report {
	r := &report{
		Time:    time.Now().UTC().Truncate(time.Second),
		Go:      runtime.Version(),
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:    runtime.NumCPU(),
		Seed:    cfg.seed,
		Floor:   ownPeak(),
		Results: results,
	}
	var n, seconds, rss []float64
	var largeRatio, largeRSS, millionRSS float64
	for _, x := range results {
		switch {
		case x.Name == largeDeps:
			largeRatio, largeRSS = x.Ratio, float64(x.PeakRSS)
		case x.Reference == 0 && x.Tasks >= slopeFrom && x.Tasks <= slopeTo:
			n = append(n, float64(x.Tasks))
			seconds = append(seconds, x.Seconds)
			rss = append(rss, float64(x.PeakRSS))
		}
		if x.Tasks == slopeTo {
			millionRSS = float64(x.PeakRSS)
		}
	}
	r.TimeSlope, r.RSSSlope = slope(n, seconds), slope(n, rss)
	r.Bars = []bar{
		newBar("large: time / yardstick, median of the pairs", largeRatio, barRatio, ""),
		newBar("large: peak RSS", largeRSS/mb, barLargeRSS/mb, "MB"),
		newBar("made 1M: peak RSS", millionRSS/mib, barMillionRSS/mib, "MiB"),
		newBar("slope of log time over log tasks, 10k to 1M", r.TimeSlope, barSlope, ""),
		newBar("slope of log RSS over log tasks, 10k to 1M", r.RSSSlope, barSlope, ""),
	}
	return r
}

// newBar judges a value. 0 stands for not measured; a slope that cannot be
// computed is 0 too, and one that is negative passes.
func newBar(what string, value, limit float64, unit string) bar {
	b := bar{what, value, limit, unit, statePass}
	switch {
	case value == 0:
		b.State = stateSkip
	case value > limit:
		b.State = stateMiss
	}
	return b
}

func (r *report) print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %s, %d CPUs, %s\n\n", r.Go, r.System, r.CPUs, r.Time.Format(time.DateTime))
	r.table(out)
	r.pairs(out)
	r.reference(out)

	fmt.Fprintln(out, "\nBars")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, b := range r.Bars {
		value := "not measured"
		if b.State != stateSkip {
			value = fmt.Sprintf("%.3g %s", b.Value, b.Unit)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\tat most %.4g %s\n", b.State, b.What, value, b.Limit, b.Unit)
	}
	w.Flush()

	if r.TimeSlope != 0 {
		fmt.Fprintf(out, "\nSlopes (1 is linear): time %.3f, peak RSS %.3f\n", r.TimeSlope, r.RSSSlope)
	}
	_, err := fmt.Fprintf(out, "Floor of peak RSS: %.1f MiB; a process smaller than that shows as that.\n", float64(r.Floor)/mib)
	return err
}

func (r *report) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "capture\ttasks\tMB in\tMB out\tseconds\tCPU s\tMB/s in\tpeak RSS MiB\tratio\t")
	for _, x := range r.Results {
		ratio := "-"
		if len(x.Ratios) > 0 {
			ratio = fmt.Sprintf("%.3f", x.Ratio)
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.3f\t%.3f\t%.0f\t%.1f\t%s\t\n", x.Name, x.Tasks,
			float64(x.BytesIn)/mb, float64(x.BytesOut)/mb, x.Seconds, x.CPU,
			float64(x.BytesIn)/mb/x.Seconds, float64(x.PeakRSS)/mib, ratio)
	}
	w.Flush()
}

// pairs prints the comparisons with the yardstick one by one.
func (r *report) pairs(out io.Writer) {
	for _, x := range r.Results {
		if len(x.Ratios) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s: time / yardstick\n", x.Name)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for i, ratio := range x.Ratios {
			fmt.Fprintf(w, "  pair %d\t%.3f s\t%.3f s\t%.3f\t\n", i+1, x.Runs[i].Wall, x.Yardstick[i].Wall, ratio)
		}
		w.Flush()
		fmt.Fprintf(out, "  median %.3f, min %.3f, max %.3f\n", x.Ratio, slices.Min(x.Ratios), slices.Max(x.Ratios))
		yard := medianOf(x.Yardstick, wall)
		fmt.Fprintf(out, "  yardstick: median %.3f s, peak %.0f MiB\n", yard, float64(x.Yardstick[0].RSS)/mib)
		if len(x.Tokens) > 0 {
			tokens := medianOf(x.Tokens, wall)
			fmt.Fprintf(out, "  token yardstick: median %.3f s, %.2f times the other; time / token yardstick %.3f\n",
				tokens, tokens/yard, x.Seconds/tokens)
		}
	}
}

// reference prints how much faster than the reference that would be: by the
// seconds it took on another, quiet machine, and by those seconds scaled with
// the speed that the yardstick shows this machine to have.
func (r *report) reference(out io.Writer) {
	scale := 0.0
	for _, x := range r.Results {
		if x.Name == largeDeps {
			scale = medianOf(x.Yardstick, wall) * referenceShare / referenceSeconds
		}
	}
	for i, x := range r.Results {
		if x.Reference == 0 {
			continue
		}
		if i == 0 || r.Results[i-1].Reference == 0 {
			fmt.Fprintln(out, "\nFor information: times as fast as the reference")
		}
		fmt.Fprintf(out, "  %s: %.1f s / %.3f s = %.0f", x.Name, x.Reference, x.Seconds, x.Reference/x.Seconds)
		if scale > 0 {
			fmt.Fprintf(out, " (%.0f if the reference slows down here as the yardstick does)", x.Reference*scale/x.Seconds)
		}
		fmt.Fprintln(out)
	}
}

func (r *report) writeJSON(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o666)
}
