package collector

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"swimlane/internal/abi"
	"swimlane/internal/outfile"
)

// RecordsFile is the name of the file that Export writes.
const RecordsFile = "chip_swimlane_records.json"

// Why a capture is not written (spec/collector.md §7.1).
var (
	ErrNoData         = errors.New("Warning: No performance data to export.")
	ErrTwoSchedulers  = errors.New("Both runtime and AICPU scheduler records are present; refusing ambiguous export")
	ErrTwoTaskSources = errors.New("Both runtime and platform task records are present; refusing ambiguous export")
	ErrMixedClocks    = errors.New("Both host and AICPU orchestrator records are present; refusing mixed clock-domain export")
)

// check applies the guards that need no file, in the order of spec/collector.md §7.1.
func (c *Capture) check() error {
	n, s := &c.records.counts, &c.Sections
	switch {
	case c.Arch == nil || c.Cores < 1 || c.Level < abi.TaskTiming || c.Level > abi.OrchPhases:
		return fmt.Errorf("the capture is of no run (%d cores, level %d); initialize a collector at level 1 to 4 before the launch", c.Cores, c.Level)
	case s.hasStreams && n[abi.KindSchedPhase] > 0:
		return ErrTwoSchedulers
	case s.hasKernels && n[abi.KindAicoreTask] > 0, s.hasTimings && n[abi.KindAicpuTask] > 0:
		return ErrTwoTaskSources
	case *n == [abi.Kinds]int{} && (c.Host == nil || c.Host.Pool == 0) && !s.any() && c.Clock == nil:
		return ErrNoData
	case c.Host != nil && n[abi.KindOrchPhase] > 0:
		return ErrMixedClocks
	}
	return checkNames(append([]string{c.Runtime}, c.CoCaptured...))
}

// checkNames refuses names that could not stand in the file as they are.
func checkNames(names []string) error {
	for _, name := range names {
		if !plain(name, "-_") {
			return fmt.Errorf("the name %q cannot be written into a capture; expected letters, digits, - and _", name)
		}
	}
	return nil
}

// Export writes the capture to its file in a directory, which is made if need be:
// beside its place first and renamed when it is complete, so that whatever fails
// leaves what was there. A capture is written once to each place: as long as its
// file is there, a further Export returns the path and does nothing.
func (c *Capture) Export(dir string) (path string, err error) {
	if err := c.check(); err != nil {
		return "", err
	}
	path = filepath.Join(dir, RecordsFile)
	place, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot write %s: %w", path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := os.Stat(place); err == nil && c.written[place] {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("cannot make the directory of %s: %w; choose another output prefix", RecordsFile, err)
	}
	files := &outfile.Process
	f, err := files.Create(place)
	if err != nil {
		return "", err
	}
	defer f.Discard()
	if err := c.write(f); err != nil {
		return "", fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := f.Commit(); err != nil {
		return "", fmt.Errorf("cannot write %s: %w", path, err)
	}
	if c.written == nil {
		c.written = map[string]bool{}
	}
	c.written[place] = true
	return path, nil
}

// Write writes the capture as chip_swimlane_records.json has it. It refuses what
// Export refuses before it writes anything.
func (c *Capture) Write(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.write(w)
}

// write writes the layout of spec/collector.md §7.2.
func (c *Capture) write(w io.Writer) error {
	o := newOutput(w)
	o.text("{\n  \"chip_swimlane_level\": ")
	o.uint(uint64(c.Level))
	c.writeMetadata(o)
	c.writeAicoreTasks(o)
	if c.Level >= abi.ScheduleTiming {
		c.writeSchedulerTasks(o)
	}
	if c.Level >= abi.SchedPhases {
		c.writeSchedulerRecords(o)
		if c.records.counts[abi.KindOrchPhase] > 0 {
			c.writeOrchestrator(o)
		}
		if c.Host != nil && len(c.Host.Submits) > 0 {
			writeHostSubmits(o, c.Host.Submits)
		}
		if c.Host != nil && len(c.Host.Uploads) > 0 {
			writeHostUploads(o, c.Host.Uploads)
		}
	}
	if c.Sections.hasLifecycle {
		writeLifecycle(o, c.Sections.lifecycle)
	}
	o.text("\n}\n")
	return o.close()
}
