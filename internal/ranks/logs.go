package ranks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/hostlog"
)

// findLogs lists the logs that are read: those that were named, or else those of
// the tree (spec/l3.md §6.1, spec/newest.md §10.2).
func (p *Plan) findLogs(named []string) ([]string, error) {
	if len(named) > 0 {
		return namedLogs(named)
	}
	logs, err := hostlog.Discover(p.Root)
	if err != nil {
		return nil, err
	}
	dirs := []string{p.Root}
	for _, rank := range subdirectories(p.Root, "rank") {
		for _, d := range subdirectories(filepath.Join(p.Root, rank), "d") {
			dirs = append(dirs, filepath.Join(p.Root, rank, d))
		}
	}
	for _, c := range p.Captures { // of a retained run also beside its records
		dirs = append(dirs, capture.Dirs(c.Records)[0])
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		extracts, err := hostlog.DiscoverExtracts(dir)
		if err != nil {
			return nil, err
		}
		logs = append(logs, extracts...)
	}
	if len(logs) == 0 {
		what := "host.*.log"
		if p.runtime != "" {
			what = "host_clock_alignment.*.log or host.*.log"
		}
		return nil, fmt.Errorf("no %s under %s: cross-Rank placement reads each Rank's device work out of the chip.run.runner_run window that contains it. "+
			"Pass --host-log, or re-run with a Host log threshold of TIMING or finer.%s", what, p.Root, spools())
	}
	slices.Sort(logs)
	return logs, nil
}

// spools names the directories in which runtimes keep logs until their run ends, ""
// if there is none (spec/newest.md §11). Of which run they are nobody knows but the user.
func spools() string {
	var dirs []string
	for _, name := range subdirectories(os.TempDir(), "simpler-host-logs-") {
		dir := filepath.Join(os.TempDir(), name)
		if logs, err := hostlog.Discover(dir); err == nil && len(logs) > 0 {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return ""
	}
	return fmt.Sprintf(" Runs that have not ended keep their logs in %s.", some(dirs))
}

// namedLogs are the logs that the user named, each once.
func namedLogs(named []string) ([]string, error) {
	var missing, logs []string
	var seen []os.FileInfo
	for _, path := range named {
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() {
			missing = append(missing, path)
			continue
		}
		same := func(other os.FileInfo) bool { return os.SameFile(st, other) }
		if !slices.ContainsFunc(seen, same) { // a log read twice would hold every run twice
			seen, logs = append(seen, st), append(logs, path)
		}
	}
	if len(missing) > 0 {
		return nil, errors.New("--host-log names a file that does not exist: " + strings.Join(missing, ", "))
	}
	return logs, nil
}

// event is what makes two records of a span one (spec/newest.md §10.2).
type event struct {
	pid   int
	inv   uint64
	depth int
	name  string
	ts    int64
	dur   int64
}

// readLogs reads the spans of logs. A span that several of them have is kept once,
// that of the first: the extract of a capture repeats what the log of its process
// has. What one log has twice happened twice.
func readLogs(paths []string) (*hostlog.Records, error) {
	out := &hostlog.Records{}
	var from []int         // log of each span
	in := map[int][2]int{} // first and last log of a process
	at := 0
	r := hostlog.Reader{Span: func(s *hostlog.Span) error {
		out.Spans = append(out.Spans, *s)
		from = append(from, at)
		ends, ok := in[s.PID]
		if !ok {
			ends[0] = at
		}
		in[s.PID] = [2]int{ends[0], at}
		return nil
	}}
	for i, path := range paths {
		at = i
		if err := r.ReadSource(path, nil); err != nil {
			return nil, err
		}
	}
	out.Summary = r.Summary
	seen := map[event]int{}
	kept := out.Spans[:0]
	for i, s := range out.Spans {
		if ends := in[s.PID]; ends[0] != ends[1] {
			e := event{s.PID, s.Inv, s.Depth, s.Name, s.TS, s.Dur}
			first, ok := seen[e]
			if !ok {
				seen[e] = from[i]
			} else if first != from[i] {
				continue
			}
		}
		kept = append(kept, s)
	}
	clear(out.Spans[len(kept):])
	out.Spans = kept
	return out, nil
}

// Pin says which process, and perhaps which run of it, a rank's capture is of.
type Pin struct {
	PID    int
	Inv    uint64
	HasInv bool
}

// parsePins reads RANK=PID[:INV]; the last one for a rank wins (spec/l3.md §6.2).
func parsePins(items []string) (map[int]Pin, error) {
	out := map[int]Pin{}
	for _, item := range items {
		rank, rest, ok := strings.Cut(item, "=")
		pid, inv, _ := strings.Cut(rest, ":")
		r, okRank := decimal(rank)
		p, okPID := decimal(pid)
		if !ok || !okRank || !okPID || r > maxRank || p > 1<<62 {
			return nil, fmt.Errorf("--rank-pid must be RANK=PID or RANK=PID:INV (for example, 0=4242), not '%s'", item)
		}
		pin := Pin{PID: int(p)}
		if strings.TrimSpace(inv) != "" {
			if pin.Inv, pin.HasInv = decimal(inv); !pin.HasInv {
				return nil, fmt.Errorf("--rank-pid invocation must be a number, as RANK=PID:INV, not '%s'", item)
			}
		}
		out[int(r)] = pin
	}
	return out, nil
}

// decimal reads digits, with blanks around them.
func decimal(text string) (uint64, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}
