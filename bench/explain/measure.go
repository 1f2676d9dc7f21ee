//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"swimlane/bench/process"
)

// yardstickRole makes this program a process that only decodes the files it is
// given with encoding/json, which has to be a process of its own to be measured.
const yardstickRole = "-yardstick"

func yardstick(files []string) error {
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		var v any
		err = json.NewDecoder(bufio.NewReader(f)).Decode(&v)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// result is what was measured of one command and capture.
type result struct {
	command, capture string
	bytes            int64 // that it reads
	seconds, cpu     float64
	rss              int64 // the highest of all runs
	yardstick, ratio float64
}

// pairs runs a command and the yardstick alternately, after one run of each that
// does not count, so that a slow moment of the machine falls on both.
func pairs(ctx context.Context, cfg *config, c command, dir, out string) (*result, error) {
	args, files := c.args(dir, out)
	argv := append([]string{cfg.swimlane}, args...)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	compare := append([]string{self, yardstickRole}, files...)
	r := &result{command: c.name}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		r.bytes += info.Size()
	}
	var seconds, cpu, others, ratios []float64
	for i := range cfg.pairs + 1 {
		ours, err := process.Measure(ctx, argv...)
		if err != nil {
			return nil, err
		}
		other, err := process.Measure(ctx, compare...)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		progress("%s, %s: pair %d: %.3f s, yardstick %.3f s", c.name, filepath.Base(dir), i, ours.Wall, other.Wall)
		seconds, cpu, others = append(seconds, ours.Wall), append(cpu, ours.CPU), append(others, other.Wall)
		ratios = append(ratios, ours.Wall/other.Wall)
		r.rss = max(r.rss, ours.RSS)
	}
	r.seconds, r.cpu, r.yardstick, r.ratio = process.Median(seconds), process.Median(cpu), process.Median(others), process.Median(ratios)
	return r, nil
}

// quiet is the time that the command takes where and when the bars are meant.
func (r *result) quiet() float64 { return r.ratio * quietMB[r.capture] * float64(r.bytes) / mb }

const mb = 1e6

// report is everything that was found out.
type report struct {
	results []*result
	bars    []string
	missed  bool
}

// judge compares a result with its bars.
func (p *report) judge(c command, r *result) {
	limits := c.bars[r.capture]
	for i, limit := range limits {
		what, value, unit := "seconds of a quiet machine", r.quiet(), "s"
		if i == 1 {
			what, value, unit = "peak RSS", float64(r.rss)/mb, "MB"
		}
		if limit == 0 {
			continue
		}
		state := "PASS"
		if value > limit {
			state, p.missed = "MISS", true
		}
		p.bars = append(p.bars, fmt.Sprintf("  %s\t%s, %s: %s\t%.3g %s\tat most %.4g %s", state, c.name, r.capture, what, value, unit, limit, unit))
	}
}

func (p *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "command\tcapture\tMB in\tseconds\tCPU s\tpeak RSS MiB\tyardstick s\tratio\t")
	for _, r := range p.results {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.3f\t%.3f\t%.1f\t%.3f\t%.3f\t\n", r.command, r.capture, float64(r.bytes)/mb, r.seconds, r.cpu, float64(r.rss)/(1<<20), r.yardstick, r.ratio)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nBars")
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, line := range p.bars {
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// unpack copies a real capture, unpacking what is stored compressed.
func unpack(ctx context.Context, src, dir string) error {
	names, err := filepath.Glob(filepath.Join(src, "name_map*.json"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, path := range append(names, filepath.Join(src, records), filepath.Join(src, graph)) {
		if err := errors.Join(ctx.Err(), process.CopyPlain(path, filepath.Join(dir, filepath.Base(path)))); err != nil {
			return err
		}
	}
	return nil
}
