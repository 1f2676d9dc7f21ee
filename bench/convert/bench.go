//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"swimlane/bench/process"
)

// bench measures everything and reports whether a bar was missed.
func bench(ctx context.Context, cfg *config, tmp string) (missed bool, err error) {
	b := &bencher{cfg: cfg, swimlane: cfg.swimlane, tmp: tmp}
	if b.self, err = os.Executable(); err != nil {
		return false, err
	}
	root, err := process.Root(ctx)
	if err != nil {
		return false, err
	}
	if b.swimlane == "" {
		if b.swimlane, err = process.Build(ctx, tmp); err != nil {
			return false, err
		}
	} else if b.swimlane, err = filepath.Abs(b.swimlane); err != nil {
		return false, err
	}
	from := cfg.captures
	if from == "" {
		from = filepath.Join(root, "..", "shared", "captures")
	}
	list := madeCaptures(cfg)
	if cfg.real {
		list = append(list, realCaptures(from, cfg.quick)...)
	}
	var results []*result
	for _, c := range list {
		r, err := b.capture(ctx, c)
		if errors.Is(err, errNoCapture) {
			progress("%s: skipped, not in %s", c.name, from)
			continue
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results, r)
	}
	rep := newReport(cfg, results)
	if err := rep.print(os.Stdout); err != nil {
		return false, err
	}
	if cfg.json != "" {
		if err := rep.writeJSON(cfg.json); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(rep.Bars, func(b bar) bool { return b.State == stateMiss }), nil
}
