package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/hostlog"
)

// examineRun looks at a directory without records for what else a run leaves. nil:
// it has nothing of that kind.
func examineRun(dir string, p *console.Progress) *Exam {
	x := &Exam{Path: dir, Kind: OfRun, dir: dir}
	graph := capture.Beside(filepath.Join(dir, capture.FileName), capture.DepsFileName)
	hasGraph := isFile(graph)
	logs, _ := hostlog.Discover(dir)
	var signs []string
	for _, pattern := range []string{"name_map*.json", "pmu.csv", "args_dump", "scope_stats", "merged_swimlane*.json*", "device.*.log"} {
		signs = append(signs, here(dir, pattern)...)
	}
	cut := x.unfinished(dir)
	if !hasGraph && len(logs) == 0 && len(signs) == 0 && !cut {
		return nil
	}
	runs := x.logs(logs, p)
	rounds := int64(0)
	for _, n := range runs {
		rounds = max(rounds, n)
	}
	switch {
	case cut:
		x.find(Finding{Code: "no-records", File: dir, Found: "no " + capture.FileName + ", but a file that was not finished"})
	case hasGraph:
		x.bareGraph(graph)
		x.find(Finding{Code: "graph-only", File: dir, Found: "a task graph and no " + capture.FileName})
	case rounds > 1 && len(signs) == 0:
		x.find(Finding{Code: "rounds-only", File: dir, Count: rounds, Found: fmt.Sprintf("host logs of %s of one process and no %s", console.Count(rounds, "run"), capture.FileName)})
	default:
		what := "what other diagnostics leave"
		if len(logs) > 0 {
			what = "the host's log"
		}
		x.find(Finding{Code: "no-records", File: dir, Found: "no " + capture.FileName + ", only " + what})
	}
	x.otherTools(dir)
	return x
}

// logs looks at host logs and tells how many runs each process has in them.
func (x *Exam) logs(logs []string, p *console.Progress) map[int]int64 {
	runs := map[int]int64{}
	if len(logs) == 0 {
		return runs
	}
	p.Reading("reading logs", logs...)
	defer p.Done()
	chips, spans := int64(0), int64(0)
	rec := hostlog.Reader{Progress: p.Part(), Span: func(s *hostlog.Span) error {
		spans++
		if s.Name == "chip.run" {
			runs[s.PID]++
			chips++
		}
		return nil
	}}
	var err error
	for _, log := range logs {
		if err = rec.ReadSource(log, nil); err != nil {
			x.find(Finding{Code: "log-unreadable", File: log, Found: err.Error()})
			break
		}
	}
	file := logs[0]
	if len(logs) > 1 {
		file = filepath.Dir(logs[0])
	}
	warned := false
	for _, w := range rec.Warnings() {
		x.logWarned(file, w)
		warned = true
	}
	if spans == 0 && err == nil {
		x.find(Finding{Code: "log-without-invocations", File: file, Found: "no span in " + console.Count(int64(len(logs)), "host log")})
		warned = true
	}
	if !warned && err == nil {
		x.ok("log", fmt.Sprintf("%s: %s, %s on chips", console.Count(int64(len(logs)), "host log"), console.Count(spans, "span"), console.Count(chips, "run")))
	}
	return runs
}

func (x *Exam) logWarned(file string, w hostlog.Warning) {
	x.find(Finding{Code: "log-" + strings.TrimPrefix(w.Code, "log-"), File: file, Count: w.Count, Found: w.Text})
}

// hostPhases looks at the host's phase records.
func (x *Exam) hostPhases(dir string) {
	path := filepath.Join(dir, "host_phase_records.jsonl")
	if !isFile(path) {
		return
	}
	n := int64(0)
	if err := hostlog.ReadPhases(path, func(*hostlog.Pass) { n++ }); err != nil {
		x.find(Finding{Code: "host-phases-bad", File: path, Found: err.Error()})
		return
	} else if n == 0 {
		x.find(Finding{Code: "host-phases-bad", File: path, Found: "no line of it is an orchestration of the host"})
		return
	}
	x.ok("host", fmt.Sprintf("%s: %s", filepath.Base(path), console.Count(n, "orchestration")))
}

// unfinished finds what writers left that were interrupted.
func (x *Exam) unfinished(dir string) bool {
	var found []string
	for _, path := range slices.Concat(here(dir, "*.tmp"), here(dir, ".*.tmp")) {
		if isFile(path) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	for _, path := range found {
		x.find(Finding{Code: "unfinished-file", File: path, Found: filepath.Base(path) + ", which was never renamed"})
	}
	return len(found) > 0
}

// otherTools names what lies beside a capture and is no part of a trace.
func (x *Exam) otherTools(dir string) {
	var found []string
	for _, name := range []string{"args_dump", "scope_stats"} {
		if isDir(filepath.Join(dir, name)) {
			found = append(found, name+"/")
		}
	}
	if isFile(filepath.Join(dir, "pmu.csv")) {
		found = append(found, "pmu.csv")
	}
	for _, path := range here(dir, "core_swimlane*") {
		found = append(found, filepath.Base(path))
	}
	if len(found) > 0 {
		x.find(Finding{Code: "other-tools", File: dir, Count: int64(len(found)), Found: "no part of a trace: " + strings.Join(found, ", ")})
	}
}

// trace looks for the picture of a capture.
func (x *Exam) trace(records, deps, names string) {
	base := "merged_swimlane"
	if epoch, ok := capture.RetainedEpoch(records); ok {
		base += "_e" + epoch
	}
	dir := filepath.Dir(records)
	for _, name := range []string{base + ".json", base + ".json.gz"} {
		path := filepath.Join(dir, name)
		made, ok := modified(path)
		if !ok {
			continue
		}
		for _, input := range []string{records, deps, names} {
			if at, ok := modified(input); ok && at.After(made) {
				x.find(Finding{Code: "trace-stale", File: path, Found: name + " is older than " + filepath.Base(input)})
				return
			}
		}
		x.ok("trace", name)
		return
	}
	x.find(Finding{Code: "no-trace", File: filepath.Join(dir, base+".json"), Found: "no " + base + ".json beside the records"})
}

// asPath is what is said of an error of the system.
func asPath(err error) string {
	if text, ok := console.PathText(err); ok {
		return text
	}
	var e *capture.Error
	if errors.As(err, &e) {
		return e.Text
	}
	return err.Error()
}
