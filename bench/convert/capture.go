//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"swimlane/bench/gen"
	"swimlane/bench/process"
)

// capture is one input to convert.
type capture struct {
	name      string
	tasks     int
	paired    bool    // compared with the yardstick
	reference float64 // seconds the reference takes, 0 if unknown
	prepare   func(ctx context.Context, dir string) error
	dir       string // where it lies, once prepared
	keep      bool   // dir outlives the run
}

// The real captures, with the seconds that the reference took for them on a
// quiet machine.
const (
	largeDeps = "large"
	largeBare = "large, no deps"
	medium    = "medium"
	large     = "a2a3sim_tmr_paged_attention_large_l4_deps"
)

func realCaptures(from string, quick bool) []*capture {
	list := []*capture{
		{name: medium, tasks: 8192, reference: 3.8, prepare: unpack(from, "a2a3sim_tmr_paged_attention_medium_l4_deps", true)},
		{name: largeBare, tasks: 102_400, reference: 21.6, prepare: unpack(from, large, false)},
		{name: largeDeps, tasks: 102_400, reference: referenceSeconds, prepare: unpack(from, large, true)},
	}
	for _, c := range list {
		c.paired = true
	}
	if quick {
		list = list[:1]
	}
	return list
}

func madeCaptures(cfg *config) []*capture {
	var list []*capture
	for _, n := range cfg.sizes {
		c := &capture{name: "made " + sizeName(n), tasks: n, paired: n == 100_000}
		c.prepare = func(ctx context.Context, dir string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			cmd := exec.CommandContext(ctx, self, "-generate", dir, strconv.Itoa(n), strconv.FormatUint(cfg.seed, 10))
			cmd.Stderr = os.Stderr
			return cmd.Run()
		}
		if cfg.keep != "" {
			c.dir, c.keep = filepath.Join(cfg.keep, sizeName(n)), true
		}
		list = append(list, c)
	}
	return list
}

// errNoCapture says that a real capture is not there, which is no failure.
var errNoCapture = errors.New("capture not found")

// unpack returns a function that copies a real capture, unpacking what is
// stored compressed. Without deps the graph is left out.
func unpack(from, name string, deps bool) func(context.Context, string) error {
	return func(ctx context.Context, dir string) error {
		src := filepath.Join(from, name)
		if _, err := os.Stat(src); err != nil {
			return fmt.Errorf("%w: %w", errNoCapture, err)
		}
		names, err := filepath.Glob(filepath.Join(src, "name_map*.json"))
		if err != nil {
			return err
		}
		names = append(names, filepath.Join(src, gen.RecordsFile))
		if deps {
			names = append(names, filepath.Join(src, gen.DepsFile))
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		for _, path := range names {
			if err := errors.Join(ctx.Err(), process.CopyPlain(path, filepath.Join(dir, filepath.Base(path)))); err != nil {
				return err
			}
		}
		return nil
	}
}

// inForm rewrites the records of a capture in the form that is asked for. All
// captures that are measured are of one runtime.
func (b *bencher) inForm(ctx context.Context, dir string) error {
	if b.cfg.form == "" {
		return nil
	}
	records := filepath.Join(dir, gen.RecordsFile)
	cmd := exec.CommandContext(ctx, b.swimlane, "read", records, "--as", b.cfg.form, "--runtime", "tensormap_and_ringbuffer", "-o", records+".new")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return os.Rename(records+".new", records)
}

// inputs returns the files that a conversion of the capture in dir reads, and
// their size together.
func inputs(dir string) (files []string, size int64, err error) {
	maps, err := filepath.Glob(filepath.Join(dir, "name_map*.json"))
	if err != nil {
		return nil, 0, err
	}
	for _, path := range append([]string{filepath.Join(dir, gen.RecordsFile), filepath.Join(dir, gen.DepsFile)}, maps...) {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && filepath.Base(path) == gen.DepsFile {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("no capture: %w", err)
		}
		files = append(files, path)
		size += info.Size()
	}
	return files, size, nil
}
