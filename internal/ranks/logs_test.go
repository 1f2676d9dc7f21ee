package ranks

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLogNamedTwice: every run of a log that was read twice would be drawn twice.
func TestLogNamedTwice(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "host.1.log"), filepath.Join(dir, "host.2.log")
	for _, path := range []string{one, two} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := namedLogs([]string{one, two, dir + "/./host.1.log"})
	if err != nil || !slices.Equal(logs, []string{one, two}) {
		t.Errorf("got %q, %v; want each log once", logs, err)
	}
}

// TestLogSearch is the search set of spec/newest.md §10.2, and what is said if it is empty.
func TestLogSearch(t *testing.T) {
	root := grow(t, member{0, 0, [3]int{}}, member{1, 3, [3]int{}})
	p := &Plan{Choice: &Choice{Root: root}}
	spool := t.TempDir()
	t.Setenv("TMPDIR", spool)
	put(t, filepath.Join(spool, "simpler-host-logs-7-empty/x.log"), "")
	for runtime, want := range map[string]string{
		"": "no host.*.log under " + root + ": cross-Rank placement ",
		"host_build_graph": "no host_clock_alignment.*.log or host.*.log under " + root + ": cross-Rank placement reads each Rank's device work out of the chip.run.runner_run window that contains it. " +
			"Pass --host-log, or re-run with a Host log threshold of TIMING or finer.",
	} {
		p.runtime = runtime
		if _, err := p.findLogs(nil); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "or finer.") {
			t.Errorf("%q: %v, want %s", runtime, err, want)
		}
	}
	put(t, filepath.Join(spool, "simpler-host-logs-7-ab/host.8.log"), "")
	if _, err := p.findLogs(nil); err == nil || !strings.HasSuffix(err.Error(), "or finer. Runs that have not ended keep their logs in "+filepath.Join(spool, "simpler-host-logs-7-ab")+".") {
		t.Error(err)
	}
	want := []string{"host.7.log", "host_clock_alignment.9.log", "rank0/d0/host_clock_alignment.7.log", "rank0/d0/swimlane-0/host_clock_alignment.7.log", "rank1/d3/host_clock_alignment.8.log"}
	for _, name := range append(want, "rank1/d3/host.8.log", "rank1/host_clock_alignment.8.log", "host_clock_alignment.log.txt", "rank0/d0/swimlane-1/host_clock_alignment.7.log") {
		put(t, filepath.Join(root, name), "")
	}
	p.Captures = []Capture{{Records: filepath.Join(root, "rank0/d0/swimlane-0/records_e5.json")}, {Records: filepath.Join(root, "rank1/d3/chip_swimlane_records.json")}}
	logs, err := p.findLogs(nil)
	for i := range logs {
		logs[i], _ = filepath.Rel(root, logs[i])
	}
	if err != nil || !slices.Equal(logs, want) {
		t.Errorf("got %q, %v; want %q", logs, err, want)
	}
}

// TestSpansOfTwoLogs: a span that the log of a process and an extract of it both
// have is one; what one log has twice is two (spec/newest.md §10.2).
func TestSpansOfTwoLogs(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		dir := t.TempDir()
		var paths []string
		most := map[string]int{} // of one log, by the line without what is no part of the key
		order := map[string]int{}
		for n := range 1 + random.IntN(4) {
			var text strings.Builder
			in := map[string]int{}
			for range random.IntN(20) {
				key := fmt.Sprintf("pid=%d inv=%d depth=%d name=chip.%d ts=%d dur=%d", random.IntN(3)+1, random.IntN(2), random.IntN(2), random.IntN(2), random.IntN(2), random.IntN(2))
				f := strings.Fields(key)
				fmt.Fprintf(&text, "[STRACE] v=1 %s tid=%d %s hid=0 %s %s %s %s\n", f[0], random.IntN(9), f[1], f[2], f[3], f[4], f[5])
				if in[key]++; order[key] == 0 {
					order[key] = n + 1
				}
			}
			for key, k := range in {
				if order[key] == n+1 {
					most[key] = k
				}
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprintf("host.%d.log", n)))
			put(t, paths[n], text.String())
		}
		rec := logReader{paths: paths, most: mostHeld}
		if err := rec.read(); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, s := range rec.all {
			got[fmt.Sprintf("pid=%d inv=%d depth=%d name=%s ts=%d dur=%d", s.PID, s.Inv, s.Depth, s.Name, s.TS, s.Dur)]++
		}
		if !maps.Equal(got, most) {
			t.Fatalf("got %v, want %v", got, most)
		}
	}
}
