//go:build linux

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
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

// sample is one run of a process.
type sample struct {
	wall, cpu float64 // seconds; cpu is user and system
	rss       int64   // peak, bytes
}

// measure runs a command from start to exit. The peak comes from the kernel's
// account of the process; its floor is the peak of this program.
func measure(ctx context.Context, argv ...string) (sample, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, text[max(0, len(text)-2000):])
	}
	state := cmd.ProcessState
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, fmt.Errorf("no resource usage for %s", argv[0])
	}
	return sample{wall.Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), usage.Maxrss * 1024}, nil // Linux counts in KiB
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
		ours, err := measure(ctx, argv...)
		if err != nil {
			return nil, err
		}
		other, err := measure(ctx, compare...)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		progress("%s, %s: pair %d: %.3f s, yardstick %.3f s", c.name, filepath.Base(dir), i, ours.wall, other.wall)
		seconds, cpu, others = append(seconds, ours.wall), append(cpu, ours.cpu), append(others, other.wall)
		ratios = append(ratios, ours.wall/other.wall)
		r.rss = max(r.rss, ours.rss)
	}
	r.seconds, r.cpu, r.yardstick, r.ratio = median(seconds), median(cpu), median(others), median(ratios)
	return r, nil
}

// quiet is the time that the command takes where and when the bars are meant.
func (r *result) quiet() float64 { return r.ratio * quietMB[r.capture] * float64(r.bytes) / mb }

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

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
		if err := errors.Join(ctx.Err(), copyPlain(path, filepath.Join(dir, filepath.Base(path)))); err != nil {
			return err
		}
	}
	return nil
}

// copyPlain copies src, or src.gz unpacked, to dst.
func copyPlain(src, dst string) error {
	in, err := os.Open(src)
	zipped := errors.Is(err, fs.ErrNotExist)
	if zipped {
		in, err = os.Open(src + ".gz")
	}
	if err != nil {
		return err
	}
	defer in.Close()
	var r io.Reader = in
	if zipped {
		if r, err = gzip.NewReader(in); err != nil {
			return err
		}
	}
	out, err := os.Create(dst)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}
