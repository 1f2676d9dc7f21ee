//go:build linux

// Ranks measures how `swimlane convert DIR` grows with the number of ranks that it
// merges: time and peak memory as a whole process, on made-up trees. See
// bench/README.md.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"swimlane/bench/gen"
	"swimlane/bench/process"
)

// maxGrowth is the bar: the peak memory of the most ranks over that of the fewest.
// Ranks are read and drawn one after another, so it must not grow with their number.
const maxGrowth = 1.5

// evenly is how many ranks are merged of each tree, in several runs if it has fewer: a
// peak is the most of many moments, and should have as many chances with few ranks.
const evenly = 32

func main() { os.Exit(run()) }

// run returns the exit status: 1 if the bar is missed and that matters, 2 if nothing
// could be measured, 130 if interrupted.
func run() int {
	b := &bench{}
	list := flag.String("ranks", "2,8,32,128", "numbers of ranks")
	flag.IntVar(&b.tasks, "tasks", 20_000, "tasks of each rank")
	flag.IntVar(&b.distinct, "distinct", 4, "captures that differ; further ranks link to these")
	flag.BoolVar(&b.deps, "deps", true, "with task graphs")
	flag.IntVar(&b.runs, "runs", 1, "runs of each tree, at least; seconds are the median, memory the most")
	flag.StringVar(&b.swimlane, "swimlane", "", "measure this `binary` instead of building ./cmd/swimlane")
	enforce := flag.Bool("enforce", false, "exit 1 if the bar is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	missed, err := b.all(ctx, *list)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 2
	case missed && *enforce:
		return 1
	}
	return 0
}

type bench struct {
	tasks, distinct, runs int
	deps                  bool
	swimlane, tmp         string
}

// row is what was measured of a tree.
type row struct {
	ranks   int
	in, out int64 // bytes
	seconds float64
	peak    float64 // bytes
}

func (b *bench) all(ctx context.Context, list string) (missed bool, err error) {
	counts, err := numbers(list)
	if err != nil {
		return false, err
	}
	if flag.NArg() > 0 || b.runs < 1 || b.distinct < 1 {
		return false, errors.New("expected no arguments, and -runs and -distinct of at least 1")
	}
	if b.tmp, err = os.MkdirTemp("", "swimlane-bench-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(b.tmp)
	if b.swimlane == "" {
		if b.swimlane, err = process.Build(ctx, b.tmp); err != nil {
			return false, err
		}
	}
	fmt.Printf("%s %s/%s, GOMAXPROCS %d, %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), time.Now().UTC().Format(time.DateOnly))
	fmt.Println("| Ranks | Tasks | In (MB) | Out (MB) | Seconds | Tasks/s | Peak RSS (MiB) |")
	fmt.Println("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	var rows []row
	for _, n := range counts {
		r, err := b.measure(ctx, n)
		if err != nil {
			return false, fmt.Errorf("%d ranks: %w", n, err)
		}
		rows = append(rows, r)
		tasks := n * b.tasks
		fmt.Printf("| %d | %d | %.1f | %.1f | %.2f | %.0f | %.1f |\n", n, tasks, float64(r.in)/1e6, float64(r.out)/1e6, r.seconds, float64(tasks)/r.seconds, r.peak/(1<<20))
	}
	first, last := rows[0], rows[len(rows)-1]
	growth, verdict := last.peak/first.peak, "pass"
	if growth > maxGrowth {
		verdict, missed = "MISSED", true
	}
	fmt.Printf("\n| Bar | Measured | Limit | |\n| --- | --- | --- | --- |\n| peak memory, %d ranks / %d ranks | %.2f | %.1f | %s |\n",
		last.ranks, first.ranks, growth, maxGrowth, verdict)
	return missed, nil
}

// numbers reads the list of ranks, which must ascend.
func numbers(list string) (out []int, err error) {
	for item := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(item)
		if err != nil || n < 1 || len(out) > 0 && n <= out[len(out)-1] {
			return nil, fmt.Errorf("-ranks %s: expected ascending numbers", list)
		}
		out = append(out, n)
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("-ranks %s: expected at least two numbers, which are compared", list)
	}
	return out, nil
}

// measure makes a tree, merges it and removes it.
func (b *bench) measure(ctx context.Context, ranks int) (r row, err error) {
	root := filepath.Join(b.tmp, "tree")
	defer os.RemoveAll(root)
	fmt.Fprintf(os.Stderr, "%d ranks: preparing\n", ranks)
	o := gen.TreeOptions{Ranks: ranks, Distinct: b.distinct, Options: gen.Options{Tasks: b.tasks, Seed: 1, Deps: b.deps}}
	if err := gen.WriteTree(root, o); err != nil {
		return r, err
	}
	r.ranks = ranks
	if r.in, err = size(root); err != nil {
		return r, err
	}
	var seconds []float64
	for range max(b.runs, (evenly+ranks-1)/ranks) {
		var problems bytes.Buffer
		var out counter // a file of 12 GB would measure the disk
		cmd := exec.CommandContext(ctx, b.swimlane, "convert", root, "-o", "-", "-q")
		cmd.Stdout, cmd.Stderr = &out, &problems
		s, err := process.Run(cmd)
		if err != nil || problems.Len() > 0 { // a warning is not the case that is meant to be measured
			return r, fmt.Errorf("swimlane convert: %w\n%s", errors.Join(err, errors.New("it did not go as it should")), &problems)
		}
		seconds = append(seconds, s.Wall)
		r.peak = max(r.peak, float64(s.RSS))
		r.out = int64(out)
		fmt.Fprintf(os.Stderr, "%d ranks: %.2f s, %.1f MiB\n", ranks, s.Wall, float64(s.RSS)/(1<<20))
	}
	r.seconds = process.Median(seconds)
	return r, nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// size is that of all files of a tree; links count as what they are of.
func size(root string) (n int64, err error) {
	err = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		st, err := e.Info()
		if err == nil {
			n += st.Size()
		}
		return err
	})
	return n, err
}
