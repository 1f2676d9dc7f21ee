//go:build linux

// Explain measures the commands that explain a capture, "swimlane overhead",
// "swimlane critical-path" and "swimlane deps", as whole processes: time and peak
// memory, on the medium and the large real capture. See bench/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"swimlane/bench/process"
)

type config struct {
	swimlane string
	captures string
	commands string
	pairs    int
	quick    bool
	enforce  bool
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == yardstickRole {
		if err := yardstick(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run())
}

// run returns the exit status: 1 if a bar is missed and that matters, 2 if
// nothing could be measured, 130 if interrupted.
func run() int {
	cfg := &config{}
	flag.StringVar(&cfg.swimlane, "swimlane", "", "measure this `binary` instead of building ./cmd/swimlane")
	flag.StringVar(&cfg.captures, "captures", "", "`directory` of the real captures (default ../shared/captures beside the module)")
	flag.StringVar(&cfg.commands, "commands", "overhead,critical-path,deps", "measure these")
	flag.IntVar(&cfg.pairs, "pairs", 5, "pairs of a command and the yardstick")
	flag.BoolVar(&cfg.quick, "quick", false, "only the medium capture")
	flag.BoolVar(&cfg.enforce, "enforce", false, "exit 1 if a bar is missed")
	flag.Parse()
	if flag.NArg() > 0 || cfg.pairs < 1 {
		fmt.Fprintln(os.Stderr, "Error: expected no arguments, and -pairs of at least 1")
		return 2
	}
	// Everything that takes long is a child process under this context, so an
	// interrupt gets back here at once and the temporary directory goes.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	tmp, err := os.MkdirTemp("", "swimlane-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 2
	}
	defer os.RemoveAll(tmp)
	missed, err := bench(ctx, cfg, tmp)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 2
	case missed && cfg.enforce:
		return 1
	}
	return 0
}

// command is one that is measured. args says how it is called for the capture in
// a directory, and which of its files it reads.
type command struct {
	name string
	args func(dir, out string) (argv, reads []string)
	bars map[string][2]float64 // by capture: seconds, MB (0: no bar)
}

const (
	records = "chip_swimlane_records.json"
	graph   = "deps.json"
	medium  = "medium"
	large   = "large"
)

// The bars in seconds are those of the machine of docs/performance.md when it is
// quiet: a median of ratios times what the yardstick takes there, so that they mean
// the same on a busy machine. The reference tool takes 145 s and 1.0 GB for the
// overhead report of the large capture.
var commands = []command{
	{"overhead", func(dir, _ string) (argv, reads []string) {
		r, g := filepath.Join(dir, records), filepath.Join(dir, graph)
		return []string{"overhead", r}, []string{r, g}
	}, map[string][2]float64{medium: {0.3, 0}, large: {3, 600}}},
	{"critical-path", func(dir, _ string) (argv, reads []string) {
		return []string{"critical-path", dir}, []string{filepath.Join(dir, records), filepath.Join(dir, graph)}
	}, map[string][2]float64{medium: {0.3, 0}, large: {3, 600}}},
	{"deps", func(dir, out string) (argv, reads []string) {
		g := filepath.Join(dir, graph)
		return []string{"deps", g, "-o", out}, []string{g}
	}, map[string][2]float64{medium: {0.3, 0}, large: {1.5, 600}}},
}

var captures = []struct{ name, dir string }{
	{medium, "a2a3sim_tmr_paged_attention_medium_l4_deps"},
	{large, "a2a3sim_tmr_paged_attention_large_l4_deps"},
}

// quietMB is what the yardstick takes for 10^6 bytes on that machine: 3.805 s for
// the 169.7 MB of the large capture, and 0.339 s for the 13.8 MB of the medium.
var quietMB = map[string]float64{medium: 0.339 / 13.8, large: 3.805 / 169.7}

// bench measures everything and reports whether a bar was missed.
func bench(ctx context.Context, cfg *config, tmp string) (missed bool, err error) {
	root, err := process.Root(ctx)
	if err != nil {
		return false, err
	}
	if cfg.swimlane == "" {
		if cfg.swimlane, err = process.Build(ctx, tmp); err != nil {
			return false, err
		}
	} else if cfg.swimlane, err = filepath.Abs(cfg.swimlane); err != nil {
		return false, err
	}
	if cfg.captures == "" {
		cfg.captures = filepath.Join(root, "..", "shared", "captures")
	}
	var rep report
	for _, c := range captures {
		if cfg.quick && c.name != medium {
			continue
		}
		dir := filepath.Join(tmp, c.name)
		progress("%s: preparing", c.name)
		switch err := unpack(ctx, filepath.Join(cfg.captures, c.dir), dir); {
		case errors.Is(err, os.ErrNotExist):
			progress("%s: skipped, not in %s", c.name, cfg.captures)
			continue
		case err != nil:
			return false, err
		}
		for _, cmd := range commands {
			if !slices.Contains(strings.Split(cfg.commands, ","), cmd.name) {
				continue
			}
			if !known(ctx, cfg.swimlane, cmd.name) {
				progress("%s: skipped, the program has no such command", cmd.name)
				continue
			}
			r, err := pairs(ctx, cfg, cmd, dir, filepath.Join(tmp, "out"))
			if err != nil {
				return false, fmt.Errorf("%s of %s: %w", cmd.name, c.name, err)
			}
			r.capture = c.name
			rep.results = append(rep.results, r)
			rep.judge(cmd, r)
		}
		if err := os.RemoveAll(dir); err != nil {
			return false, err
		}
	}
	if err := rep.print(os.Stdout); err != nil {
		return false, err
	}
	return rep.missed, nil
}

// known reports whether the program has a command.
func known(ctx context.Context, swimlane, name string) bool {
	return exec.CommandContext(ctx, swimlane, "help", name).Run() == nil
}

// progress says what goes on, apart from the result.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
