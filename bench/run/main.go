// Run measures a run on a simulated chip as a whole: a scene without profiling, the
// same with everything recorded, and the conversion of what it left behind. See
// bench/README.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"swimlane/scene"
	"swimlane/scenes"
)

// maxWhole is how long the large case may take with everything, conversion included.
const maxWhole = 20 * time.Second

func main() {
	platform := flag.String("p", scene.A2A3Sim, "platform")
	name := flag.String("case", "TestPagedAttention::large", "case to run")
	runs := flag.Int("runs", 3, "runs of each kind; the median is shown")
	enforce := flag.Bool("enforce", false, "exit with 1 if the bar is missed")
	flag.Parse()
	missed, err := bench(*platform, *name, *runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if missed && *enforce {
		os.Exit(1)
	}
}

func bench(platform, name string, runs int) (missed bool, err error) {
	if flag.NArg() > 0 || runs < 1 {
		return false, errors.New("expected no arguments, and -runs of at least 1")
	}
	cases, err := scene.Select(scenes.All(), scene.Selection{Platform: platform, Manual: scene.Include, Cases: []string{name}})
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "swimlane-bench")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "swimlane")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/swimlane").CombinedOutput(); err != nil {
		return false, fmt.Errorf("build ./cmd/swimlane in the root of the repository: %w\n%s", err, out)
	}
	fmt.Printf("%s %s/%s, GOMAXPROCS %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	fmt.Println("| case | tasks | level 0 | tasks/s | level 4, dep_gen | tasks/s | conversion | model: level 0 | level 4 |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	bar := ""
	for _, c := range cases {
		whole, err := measure(c, platform, dir, program, runs)
		if err != nil {
			return false, err
		}
		if c.Label() != "TestPagedAttention::large" {
			continue
		}
		verdict := "pass"
		if missed = whole > maxWhole; missed {
			verdict = "MISSED"
		}
		bar = fmt.Sprintf("\n| Bar | Measured | Limit | |\n| --- | --- | --- | --- |\n| %d tasks, everything recorded and converted | %.1f s | %.0f s | %s |\n",
			largeTasks, whole.Seconds(), maxWhole.Seconds(), verdict)
	}
	fmt.Print(bar)
	return missed, nil
}

const largeTasks = 102_400

// measure prints the row of a case, and is how long it takes with everything.
func measure(c scene.Selected, platform, dir, program string, runs int) (whole time.Duration, err error) {
	var off, on, conversion []time.Duration
	var bare, full *scene.Result
	for range runs {
		if bare, err = c.Run(platform, scene.CallConfig{}); err != nil {
			return 0, err
		}
		prefix := filepath.Join(dir, c.FileLabel())
		if full, err = c.Run(platform, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: prefix}); err != nil {
			return 0, err
		}
		if err := errors.Join(bare.Golden, full.Golden); err != nil {
			return 0, err
		}
		from := time.Now()
		if out, err := exec.Command(program, "convert", "--quiet", prefix).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("convert %s: %w\n%s", prefix, err, out)
		}
		off, on, conversion = append(off, bare.Wall), append(on, full.Wall), append(conversion, time.Since(from))
	}
	a, b, v := median(off), median(on), median(conversion)
	rate := func(d time.Duration) float64 { return float64(full.Tasks) / d.Seconds() }
	fmt.Printf("| %s | %d | %.2f s | %.0f | %.2f s | %.0f | %.2f s | %.3f ms | %.3f ms |\n", c.Label(), full.Tasks, a.Seconds(), rate(a), b.Seconds(), rate(b), v.Seconds(),
		float64(bare.Makespan.Microseconds())/1e3, float64(full.Makespan.Microseconds())/1e3)
	return b + v, nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
