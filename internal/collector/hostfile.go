package collector

import (
	"fmt"
	"path/filepath"
	"strconv"

	"swimlane/internal/outfile"
)

// HostPhasesFile is the name of what a host did while it prepared runs, a line for
// each (spec/host-log.md §6.6).
const HostPhasesFile = "host_phase_records.jsonl"

// WriteFile writes all phases that the pool holds as the only line of a file in a
// directory: those of run inv of a process.
func (p *HostPhasePool) WriteFile(dir string, pid int, inv uint64) (path string, err error) {
	path = filepath.Join(dir, HostPhasesFile)
	var files outfile.Set
	f, err := files.Create(path)
	if err != nil {
		return "", fmt.Errorf("no %s: %w", HostPhasesFile, err)
	}
	defer f.Discard()
	if _, err := f.Write(p.line(pid, inv)); err != nil {
		return "", fmt.Errorf("no %s: %w", path, err)
	}
	if err := f.Commit(); err != nil {
		return "", fmt.Errorf("no %s: %w", path, err)
	}
	return path, nil
}

func (p *HostPhasePool) line(pid int, inv uint64) []byte {
	b := strconv.AppendInt([]byte(`{"pid": `), int64(pid), 10)
	b = strconv.AppendUint(append(b, `, "inv": `...), inv, 10)
	b = strconv.AppendUint(append(b, `, "clock": "host_monotonic_ns", "dropped": `...), p.dropped(), 10)
	b = append(b, `, "records": [`...)
	for i, r := range p.Records() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, `{"phase": "`...), HostPhaseKind(r.Kind).String()...), `", "start_ns": `...)
		b = strconv.AppendUint(b, r.StartNs, 10)
		b = strconv.AppendUint(append(b, `, "end_ns": `...), r.EndNs, 10)
		b = strconv.AppendUint(append(b, `, "detail": `...), r.Payload, 10)
		b = append(strconv.AppendUint(append(b, `, "tid": `...), uint64(r.ThreadID), 10), '}')
	}
	return append(b, "]}\n"...)
}
