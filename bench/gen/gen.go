// Package gen writes made-up profiling captures of any size, for benchmarks
// and tests.
//
// A capture looks like one of the tensormap-and-ringbuffer runtime on a chip
// with 24 cores and a 50 MHz counter, recorded at level 4: six-column task
// rows, one scheduler stream for each of three AICPU threads, one orchestrator
// submit a task, and (with Options.Deps) a task graph whose tasks have
// arguments and whose edges carry every key a real graph carries.
//
// Everything is computed from the index of a task and the seed, nothing is
// remembered. That is what keeps the memory of the generator the same for a
// thousand tasks and for a million: each section of the file walks the tasks
// in its own order and computes the same times again.
package gen

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// MinTasks is the smallest capture the schedule makes sense for: every core
// runs one task.
const MinTasks = numCores

// Names of the files that Write makes.
const (
	RecordsFile = "chip_swimlane_records.json"
	DepsFile    = "deps.json"
	NameMapFile = "name_map_Generated.json"
)

// Options says which capture to make. Equal options make equal bytes.
type Options struct {
	Tasks int    // number of tasks, at least MinTasks
	Seed  uint64 // varies durations, edges and queue depths, never the counts
	Deps  bool   // write deps.json too

	domain string // of the host's clock, "" for none
}

// Phases returns the number of scheduler phase records in a capture of the
// given number of tasks: a dispatch and a complete record for every four
// tasks, that is half a record a task.
func Phases(tasks int) int { return 2 * (tasks / groupSize) }

// Edges returns the number of edges in the graph of a capture: two for each
// task but those of the first two rounds, which start without predecessors.
func Edges(tasks int) int { return 2 * max(0, tasks-firstDependent) }

// Write makes the capture o in the directory dir, which is created if needed.
func Write(dir string, o Options) error {
	if o.Tasks < MinTasks {
		return fmt.Errorf("gen: %d tasks asked for, at least %d needed", o.Tasks, MinTasks)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	s := newSchedule(o.Tasks, o.Seed)
	s.domain = o.domain
	if err := writeFile(filepath.Join(dir, RecordsFile), s.records); err != nil {
		return err
	}
	if o.Deps {
		if err := writeFile(filepath.Join(dir, DepsFile), s.deps); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(dir, NameMapFile), nameMap)
}

// writeFile creates path and lets fill write it.
func writeFile(path string, fill func(*text)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	t := &text{w: bufio.NewWriterSize(f, 1<<18)}
	fill(t)
	return errors.Join(t.w.Flush(), f.Close())
}

// text is a writer of JSON text. Errors stay in the bufio.Writer until Flush.
type text struct {
	w *bufio.Writer
	b [20]byte // room for the digits of one number
}

// s writes the strings as they stand.
func (t *text) s(parts ...string) *text {
	for _, p := range parts {
		t.w.WriteString(p)
	}
	return t
}

// n writes a decimal number.
func (t *text) n(v uint64) *text {
	t.w.Write(strconv.AppendUint(t.b[:0], v, 10))
	return t
}

// row writes one line of a list: indentation, and a comma before every row but
// the first.
func (t *text) row(first bool, indent string) *text {
	if !first {
		t.w.WriteByte(',')
	}
	t.w.WriteByte('\n')
	t.w.WriteString(indent)
	return t
}

func nameMap(t *text) {
	t.s("{\n  \"level\": 2,\n  \"orchestrator_name\": \"GeneratedAttention\",\n  \"callable_id_to_name\": {\n",
		"    \"0\": \"QK\",\n    \"1\": \"SF\",\n    \"2\": \"PV\",\n    \"3\": \"UP\"\n  }\n}")
}
