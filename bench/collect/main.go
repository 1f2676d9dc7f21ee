//go:build linux

// Collect measures the capture path: one device thread writes records at full
// rate into shared memory, and the host collector drains them into a callback
// that checksums every record. See bench/README.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"swimlane/internal/abi"
)

type config struct {
	pools     []int
	transport []string
	kinds     []string
	records   int
	shards    int
	runs      int
	soak      int
	policy    abi.Policy
	export    bool
	enforce   bool
	profile   string
}

func main() {
	cfg, err := parseFlags(os.Args[1:])
	if err == nil {
		var missed bool
		if missed, err = bench(cfg); err == nil && missed && cfg.enforce {
			os.Exit(1)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
}

func parseFlags(args []string) (cfg config, err error) {
	fs := flag.NewFlagSet("collect", flag.ExitOnError)
	fs.Usage = func() {
		fmt.Fprintln(fs.Output(), "Usage: go run ./bench/collect [flags]\n\nMeasures the device's writers and the host's collector; see bench/README.md.\n\nFlags:")
		fs.PrintDefaults()
	}
	pools := fs.String("pools", "1,8,72", "how many cores' pools the device thread writes to in turn")
	transports := fs.String("transport", "mapped,shadow", "how the host reaches the device's memory")
	kinds := fs.String("kind", "aicpu,aicore", "records: aicpu (the scheduler's view of a task), aicore (the core's view)")
	fs.IntVar(&cfg.records, "records", 5_000_000, "records per measurement")
	fs.IntVar(&cfg.shards, "shards", 1, "drain and collector shards")
	fs.IntVar(&cfg.runs, "runs", 15, "measurements of each combination")
	fs.IntVar(&cfg.soak, "soak", 0, "instead of the table: this many records through every transport and kind, checking the checksum")
	policy := fs.String("policy", "block", "what the device does without room: block or drop")
	fs.BoolVar(&cfg.export, "export", true, "measure the export and the memory of what is kept, too")
	fs.BoolVar(&cfg.enforce, "enforce", false, "exit with 1 if a bar is missed")
	fs.StringVar(&cfg.profile, "cpuprofile", "", "write a CPU profile")
	if err := fs.Parse(args); err != nil { // which exits by itself
		return cfg, err
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	for _, text := range strings.Split(*pools, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 72 {
			return cfg, fmt.Errorf("-pools %s: %q is no number of cores from 1 to 72", *pools, text)
		}
		cfg.pools = append(cfg.pools, n)
	}
	if cfg.transport, err = words("transport", *transports, "mapped", "shadow"); err != nil {
		return cfg, err
	}
	if cfg.kinds, err = words("kind", *kinds, "aicpu", "aicore"); err != nil {
		return cfg, err
	}
	if _, err := words("policy", *policy, "block", "drop"); err != nil {
		return cfg, err
	}
	if *policy == abi.Drop.String() {
		cfg.policy = abi.Drop
	}
	if cfg.records < 1 || cfg.runs < 1 || cfg.shards < 1 {
		return cfg, errors.New("-records, -runs and -shards must be at least 1")
	}
	return cfg, nil
}

func words(flag, list string, known ...string) ([]string, error) {
	out := strings.Split(list, ",")
	for _, w := range out {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("-%s %s: expected %s", flag, list, strings.Join(known, " or "))
		}
	}
	return out, nil
}

// bars of the capture path.
const (
	maxProducerNs = 5    // CPU ns per record of a writer, without stalls
	minRate       = 50e6 // records/s, best run, from the device's store to the callback, one shard
	minExport     = 300  // MB/s of JSON
	maxRetained   = 1.1  // memory of kept records over their bytes
)

// bench prints the table and tells whether a bar was missed.
func bench(cfg config) (missed bool, err error) {
	stop, err := startProfile(cfg.profile)
	if err != nil {
		return false, err
	}
	defer stop()
	fmt.Printf("%s %s/%s, GOMAXPROCS %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	if cfg.soak > 0 {
		return false, soak(cfg)
	}
	fmt.Println("| transport | records | pools | device ns/record | AICPU share | plain stores | stalls | stalled ms | M records/s, best | median | host ns/record | buffers in flight | collected / dropped / host lost / unflushed | plain copy M records/s |")
	fmt.Println("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	bars := bars{}
	for _, transport := range cfg.transport {
		for _, kind := range cfg.kinds {
			for _, pools := range cfg.pools {
				r, err := medianOf(cfg, job{transport: transport, kind: kind, pools: pools, records: cfg.records, shards: cfg.shards, policy: cfg.policy})
				if err != nil {
					return false, err
				}
				r.print()
				bars.add(r)
			}
		}
	}
	if cfg.export {
		if err := measureExport(&bars); err != nil {
			return false, err
		}
	}
	return bars.print(cfg), nil
}

// medianOf measures a job several times and returns the run with the median rate.
// CPU times of the device are the least of all runs, each of its own: other work on
// the machine only ever adds to them.
func medianOf(cfg config, j job) (result, error) {
	all, err := j.run(cfg.runs)
	if err != nil {
		return result{}, fmt.Errorf("%s, %s records, %d pools: %w", j.transport, j.kind, j.pools, err)
	}
	slices.SortFunc(all, func(a, b result) int {
		if a.rate() < b.rate() {
			return -1
		}
		return 1
	})
	middle := all[len(all)/2]
	for _, r := range all {
		middle.allNs, middle.loopNs = min(middle.allNs, r.allNs), min(middle.loopNs, r.loopNs)
		middle.idleNs, middle.storeNs = min(middle.idleNs, r.idleNs), min(middle.storeNs, r.storeNs)
		middle.best = max(middle.best, r.best)
	}
	return middle, nil
}
