//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"swimlane/bench/process"
)

// ownPeak returns the peak memory of this process, the floor of measure, or 0.
// It is not the figure of getrusage, in which the peak of the go command that
// started this program is included.
func ownPeak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib * 1024
		}
	}
	return 0
}

// bencher measures captures.
type bencher struct {
	cfg      *config
	swimlane string
	self     string
	tmp      string
}

// result is what was measured of one capture. Where there is a yardstick,
// Runs[i] and Yardstick[i] belong together: one ran right after the other.
type result struct {
	Name      string           `json:"capture"`
	Tasks     int              `json:"tasks"`
	BytesIn   int64            `json:"bytes_in"`
	BytesOut  int64            `json:"bytes_out"`
	Runs      []process.Sample `json:"runs"`
	Yardstick []process.Sample `json:"yardstick,omitempty"`
	Tokens    []process.Sample `json:"yardstick_tokens,omitempty"`

	Seconds float64   `json:"seconds_median"`
	CPU     float64   `json:"cpu_seconds_median"`
	PeakRSS int64     `json:"peak_rss_bytes"` // the highest of all runs
	Ratios  []float64 `json:"ratios,omitempty"`
	Ratio   float64   `json:"ratio_median,omitempty"`

	Reference float64 `json:"reference_seconds,omitempty"`
}

// capture prepares and measures one capture and cleans up after it.
func (b *bencher) capture(ctx context.Context, c *capture) (*result, error) {
	if !c.keep {
		c.dir = filepath.Join(b.tmp, "capture")
		defer os.RemoveAll(c.dir)
	}
	progress("%s: preparing", c.name)
	if err := c.prepare(ctx, c.dir); err != nil {
		return nil, err
	}
	if err := b.inForm(ctx, c.dir); err != nil {
		return nil, err
	}
	files, size, err := inputs(c.dir)
	if err != nil {
		return nil, err
	}
	r := &result{Name: c.name, Tasks: c.tasks, BytesIn: size, Reference: c.reference}
	if c.paired {
		err = b.pairs(ctx, r, files)
	} else {
		err = b.runs(ctx, r, files)
	}
	if err != nil {
		return nil, err
	}
	r.summarise()
	return r, nil
}

func (b *bencher) runs(ctx context.Context, r *result, files []string) error {
	for i := range b.cfg.runs {
		s, err := b.convert(ctx, r, files)
		if err != nil {
			return err
		}
		progress("%s: run %d: %.3f s", r.Name, i+1, s.Wall)
		r.Runs = append(r.Runs, s)
	}
	return nil
}

// pairs runs conversion and yardstick alternately, after one run of each that
// does not count, so that a slow moment of the machine falls on both.
func (b *bencher) pairs(ctx context.Context, r *result, files []string) error {
	compare := append([]string{b.self, "-yardstick"}, files...)
	if _, err := b.convert(ctx, r, files); err != nil {
		return err
	}
	if _, err := process.Measure(ctx, compare...); err != nil {
		return err
	}
	for i := range b.cfg.pairs {
		ours, err := b.convert(ctx, r, files)
		if err != nil {
			return err
		}
		other, err := process.Measure(ctx, compare...)
		if err != nil {
			return err
		}
		progress("%s: pair %d: %.3f s, yardstick %.3f s", r.Name, i+1, ours.Wall, other.Wall)
		r.Runs = append(r.Runs, ours)
		r.Yardstick = append(r.Yardstick, other)
	}
	compare[1] = "-yardstick-tokens"
	for range b.cfg.tokens {
		s, err := process.Measure(ctx, compare...)
		if err != nil {
			return err
		}
		progress("%s: token yardstick %.3f s", r.Name, s.Wall)
		r.Tokens = append(r.Tokens, s)
	}
	return nil
}

// convert measures one conversion and removes its output.
func (b *bencher) convert(ctx context.Context, r *result, files []string) (process.Sample, error) {
	out := filepath.Join(b.tmp, "trace.json")
	defer os.Remove(out)
	s, err := process.Measure(ctx, b.swimlane, "convert", files[0], "-o", out)
	if err != nil {
		return s, err
	}
	info, err := os.Stat(out)
	if err != nil {
		return s, fmt.Errorf("the conversion left no output: %w", err)
	}
	if info.Size() == 0 {
		return s, fmt.Errorf("the conversion left an empty output for %s", files[0])
	}
	r.BytesOut = info.Size()
	return s, nil
}

// progress says what goes on, apart from the result.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
