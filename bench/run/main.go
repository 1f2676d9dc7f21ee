//go:build linux

// Run measures `swimlane run` as a whole process: a scene without profiling, and the
// same with everything recorded and converted. See bench/README.md.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"swimlane/bench/process"
)

// The bars: how long the large case may take with everything, and how its memory may
// grow with the tasks: the slope of log memory over log tasks; 1 is linear, and below
// is a constant part.
const (
	maxWhole = 20 * time.Second
	maxSlope = 1.1
)

// sizes are the cases of paged attention by size.
var sizes = []string{"medium", "half", "large"}

func main() {
	b := bench{}
	flag.StringVar(&b.platform, "p", "a2a3sim", "platform")
	flag.IntVar(&b.runs, "runs", 3, "runs of each kind; times are medians")
	enforce := flag.Bool("enforce", false, "exit with 1 if a bar is missed")
	flag.Parse()
	missed, err := b.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if missed && *enforce {
		os.Exit(1)
	}
}

type bench struct {
	platform     string
	runs         int
	dir, program string
}

func (b *bench) run() (missed bool, err error) {
	if flag.NArg() > 0 || b.runs < 1 {
		return false, errors.New("expected no arguments, and -runs of at least 1")
	}
	if b.dir, err = os.MkdirTemp("", "swimlane-bench"); err != nil {
		return false, err
	}
	defer os.RemoveAll(b.dir)
	if b.program, err = process.Build(context.Background(), b.dir); err != nil {
		return false, err
	}
	fmt.Printf("%s %s/%s, GOMAXPROCS %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	fmt.Println("| case | tasks | level 0 | tasks/s | level 4, dep_gen | tasks/s | and converted | peak MiB | model: level 0 | level 4 |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	var rows []row
	for _, name := range sizes {
		r, err := b.measure(name)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, r)
		fmt.Printf("| %s | %d | %.2f s | %.0f | %.2f s | %.0f | %.2f s | %.0f | %s | %s |\n", name, r.tasks, r.off.Seconds(), float64(r.tasks)/r.off.Seconds(),
			r.on.Seconds(), float64(r.tasks)/r.on.Seconds(), r.whole.Seconds(), r.peak/(1<<20), r.modelOff, r.modelOn)
	}
	first, last := rows[0], rows[len(rows)-1]
	slope := math.Log(last.peak/first.peak) / math.Log(float64(last.tasks)/float64(first.tasks))
	fmt.Print("\n| Bar | Measured | Limit | |\n| --- | --- | --- | --- |\n")
	bar := func(ok bool, format string, args ...any) {
		verdict := "pass"
		if !ok {
			verdict, missed = "MISSED", true
		}
		fmt.Printf(format+" | %s |\n", append(args, verdict)...)
	}
	bar(last.whole <= maxWhole, "| %d tasks, everything recorded and converted | %.1f s | %.0f s", last.tasks, last.whole.Seconds(), maxWhole.Seconds())
	bar(slope <= maxSlope, "| memory: slope of log MiB over log tasks, %d to %d | %.2f | %.1f", first.tasks, last.tasks, slope, maxSlope)
	return missed, nil
}

// row is a case, measured.
type row struct {
	tasks             int
	off, on, whole    time.Duration // the run without profiling, with everything, and the whole process
	peak              float64       // bytes
	modelOff, modelOn string
}

func (b *bench) measure(name string) (r row, err error) {
	var off, on, whole []time.Duration
	for range b.runs {
		bare, err := b.child(name)
		if err != nil {
			return r, err
		}
		full, err := b.child(name, "--enable-chip-swimlane", "--enable-dep-gen", "--root", filepath.Join(b.dir, name))
		if err != nil {
			return r, err
		}
		if err := os.RemoveAll(filepath.Join(b.dir, name)); err != nil {
			return r, err
		}
		off, on, whole = append(off, bare.here), append(on, full.here), append(whole, full.whole)
		r.peak = max(r.peak, full.peak)
		r.tasks, r.modelOff, r.modelOn = full.tasks, bare.model, full.model
	}
	r.off, r.on, r.whole = median(off), median(on), median(whole)
	return r, nil
}

// printed finds what a run prints of itself.
var printed = regexp.MustCompile(`(?s)model   ([0-9.]+ .s) of model time.*?: ([0-9,]+) tasks.*here    ([0-9.]+) s`)

// took is what one process took.
type took struct {
	here, whole time.Duration
	peak        float64
	tasks       int
	model       string
}

// child runs a case in a process of its own.
func (b *bench) child(name string, more ...string) (p took, err error) {
	args := append([]string{"run", "TestPagedAttention", "--case", name, "--manual", "include", "-p", b.platform, "--log-level", "warn"}, more...)
	cmd := exec.Command(b.program, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	s, err := process.Run(cmd)
	if err != nil {
		return p, fmt.Errorf("swimlane %s: %w\n%s%s", strings.Join(args, " "), err, &out, &problems)
	}
	p.whole, p.peak = time.Duration(s.Wall*float64(time.Second)), float64(s.RSS)
	m := printed.FindStringSubmatch(out.String())
	if m == nil {
		return p, fmt.Errorf("swimlane %s does not say what it did:\n%s", strings.Join(args, " "), &out)
	}
	seconds, _ := strconv.ParseFloat(m[3], 64)
	p.here, p.model = time.Duration(seconds*float64(time.Second)), m[1]
	p.tasks, _ = strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
	return p, nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
