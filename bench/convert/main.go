//go:build linux

// Convert measures "swimlane convert" as a whole process: time, peak memory and
// how both grow with the capture, on made-up captures and on real ones. See
// bench/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

type config struct {
	swimlane string
	captures string
	sizes    []int
	real     bool
	runs     int
	pairs    int
	tokens   int
	seed     uint64
	json     string
	keep     string
	form     string
	quick    bool
	enforce  bool
}

func main() {
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			if err := role(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, "Error:", err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(run())
}

// run returns the exit status: 1 if a bar is missed and that matters, 2 if
// nothing could be measured, 130 if interrupted.
func run() int {
	cfg, err := parseFlags(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
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

func parseFlags(args []string) (*config, error) {
	cfg := &config{}
	fs := flag.NewFlagSet("convert", flag.ContinueOnError)
	fs.StringVar(&cfg.swimlane, "swimlane", "", "measure this `binary` instead of building ./cmd/swimlane")
	fs.StringVar(&cfg.captures, "captures", "", "`directory` of the real captures (default ../shared/captures beside the module)")
	sizes := fs.String("sizes", "1k,3k,10k,30k,100k,300k,1M", "numbers of tasks of the made-up captures, or none")
	fs.BoolVar(&cfg.real, "real", true, "measure the real captures")
	fs.IntVar(&cfg.runs, "runs", 3, "runs of a made-up capture that has no yardstick")
	fs.IntVar(&cfg.pairs, "pairs", 5, "pairs of a capture that is compared with the yardstick")
	fs.IntVar(&cfg.tokens, "tokens", 1, "runs of the token yardstick after the pairs")
	fs.Uint64Var(&cfg.seed, "seed", 1, "seed of the made-up captures")
	fs.StringVar(&cfg.json, "json", "", "write the figures to this `file` too")
	fs.StringVar(&cfg.keep, "keep", "", "make the made-up captures in this `directory` and keep them")
	fs.StringVar(&cfg.form, "form", "", "write every capture in this `form` of records file (gs, newest) before it is measured")
	fs.BoolVar(&cfg.quick, "quick", false, "only 1k, 10k and the medium real capture")
	fs.BoolVar(&cfg.enforce, "enforce", false, "exit 1 if a bar is missed")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if cfg.runs < 1 || cfg.pairs < 1 || cfg.tokens < 0 {
		return nil, errors.New("-runs and -pairs must be at least 1, -tokens at least 0")
	}
	if cfg.quick {
		*sizes = "1k,10k"
	}
	var err error
	cfg.sizes, err = parseSizes(*sizes)
	return cfg, err
}

// parseSizes reads a list like "1k,30k,1M". The word none is the empty list.
func parseSizes(list string) ([]int, error) {
	if list == "none" || list == "" {
		return nil, nil
	}
	var sizes []int
	for item := range strings.SplitSeq(list, ",") {
		digits, unit := strings.TrimSpace(item), 1
		if d, ok := strings.CutSuffix(digits, "k"); ok {
			digits, unit = d, 1000
		} else if d, ok := strings.CutSuffix(digits, "M"); ok {
			digits, unit = d, 1_000_000
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 100_000_000/unit {
			return nil, fmt.Errorf("%q is not a number of tasks", item)
		}
		sizes = append(sizes, n*unit)
	}
	return sizes, nil
}

// sizeName is the inverse of parseSizes for one size.
func sizeName(n int) string {
	switch {
	case n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}
