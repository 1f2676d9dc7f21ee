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
