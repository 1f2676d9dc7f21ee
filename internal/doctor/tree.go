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
	"swimlane/internal/ranks"
)

// tree examines a directory of several ranks: first what concerns all of them
// together, then every capture.
func (s *search) tree(root string) []*Exam {
	x := &Exam{Path: root, Kind: OfRanks, dir: root}
	out := []*Exam{x}
	found, err := ranks.Look(root)
	if err != nil {
		x.find(Finding{Code: rankCode(err.Error(), "rank-directories"), File: root, Found: err.Error()})
		return append(out, s.below(root)...)
	}
	for _, name := range found.Ranks {
		x.find(Finding{Code: "rank-empty", File: filepath.Join(root, name), Found: "no d0, d1, … in " + name})
	}
	for _, d := range found.Directories {
		rel, err := filepath.Rel(root, d.Path)
		if err != nil {
			rel = d.Path
		}
		if d.Err != nil {
			file := d.Path
			if d.Sidecar != "" {
				file = d.Sidecar
			}
			x.find(Finding{Code: rankCode(d.Err.Error(), "sidecar-invalid"), File: file, Found: d.Err.Error()})
		}
		records := capture.In(d.Path)
		if d.Records == "" && len(records) == 0 {
			if run := examineRun(d.Path, s.progress); run != nil {
				out = append(out, run)
			} else {
				x.find(Finding{Code: "rank-empty", File: d.Path, Found: "no " + capture.FileName + " in " + rel})
			}
		}
		for _, path := range records {
			c := examineRecords(path, d.Path, s.progress)
			c.Findings = slices.DeleteFunc(c.Findings, func(f Finding) bool { return f.Code == "no-trace" }) // that of the tree is what counts
			out = append(out, c)
		}
	}
	if kept := capture.In(root); len(kept) > 0 {
		x.find(Finding{Code: "retained-unmerged", File: kept[0], Count: int64(len(kept)), Found: console.Count(int64(len(kept)), "records file") + " in this directory itself, of no rank"})
		for _, path := range kept {
			out = append(out, examineRecords(path, root, s.progress))
		}
	}
	x.sidecars(found)
	x.logsOf(root, s.progress)
	x.sets(root, out, s.progress)
	x.unfinished(root)
	x.hostPhases(root)
	return out
}

// refused are the captures that cannot be drawn.
func refused(all []*Exam) map[string]bool {
	out := map[string]bool{}
	for _, x := range all {
		if x.Kind == OfCapture && x.Worst() == Error {
			out[x.Path] = true
		}
	}
	return out
}

// below examines what lies in the directories of a tree that makes no sense as a whole.
func (s *search) below(root string) []*Exam {
	before := s.report.Exams
	s.report.Exams = nil
	for _, name := range subdirectories(root) {
		s.directory(filepath.Join(root, name), 1)
	}
	out := s.report.Exams
	s.report.Exams = before
	return out
}

// sidecars tells of captures that lost theirs: those of one dK have all one or none
// (spec/l3.md §4.2).
func (x *Exam) sidecars(found *ranks.Survey) {
	type set struct {
		with    int
		without []string
	}
	of := map[string]*set{}
	var names []string
	valid := 0
	for _, d := range found.Directories {
		if d.Records == "" {
			continue
		}
		if of[d.Dispatch] == nil {
			of[d.Dispatch] = &set{}
			names = append(names, d.Dispatch)
		}
		if d.Identity != nil {
			valid++
		}
		if s := of[d.Dispatch]; d.Sidecar != "" {
			s.with++
		} else {
			s.without = append(s.without, fmt.Sprintf("rank%d", d.Rank))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		s := of[name]
		if s.with == 0 || len(s.without) == 0 {
			continue
		}
		x.find(Finding{Code: "sidecar-missing", File: x.Path, Count: int64(len(s.without)),
			Found: fmt.Sprintf("%s has %s for only %d/%d ranks: not for %s", name, ranks.IdentityFile, s.with, s.with+len(s.without), strings.Join(s.without, ", "))})
	}
	if valid > 0 {
		x.ok("sidecars", console.Count(int64(valid), "capture")+" with "+ranks.IdentityFile)
	}
}

// logsOf looks at the logs of a tree.
func (x *Exam) logsOf(root string, p *console.Progress) {
	for _, discover := range []func(string) ([]string, error){hostlog.Discover, hostlog.DiscoverExtracts} {
		logs, err := discover(root)
		if err != nil {
			x.find(Finding{Code: "log-unreadable", File: root, Found: err.Error()})
			return
		}
		x.logs(logs, p)
	}
}

// sets tries to merge every set of captures that belong together, as convert would.
// all are the exams of its captures.
func (x *Exam) sets(root string, all []*Exam, p *console.Progress) {
	bad := refused(all)
	targets, err := ranks.FindTargets(root)
	if err != nil {
		x.refusal(root, "", err)
		extracts, _ := filepath.Glob(filepath.Join(root, "rank*", "d*", "host*.log"))
		if len(here(root, "host*.log"))+len(extracts) == 0 { // which would be next
			x.find(Finding{Code: "log-missing", File: root, Found: "no host.*.log in this directory"})
		}
		return
	}
	if targets.Warning != "" {
		x.find(Finding{Code: rankCode(targets.Warning, "merge-warning"), Severity: Warning, File: root, Found: targets.Warning})
	}
	if len(targets.Targets) > 1 {
		var options []string
		for i := range targets.Targets {
			options = append(options, targets.Targets[i].Option())
		}
		x.find(Finding{Code: "several-sets", File: root, Count: int64(len(options)), Found: someOf(options)})
	}
	x.domains(targets, all)
	merged := false
	for i := range targets.Targets {
		t := &targets.Targets[i]
		stem := "l3_swimlane"
		if len(targets.Targets) > 1 {
			stem = t.Stem
		}
		merged = merged || isFile(filepath.Join(root, stem+".json")) || isFile(filepath.Join(root, "l3_swimlane.json"))
		if slices.ContainsFunc(t.Captures, func(c ranks.Capture) bool { return bad[c.Records] }) {
			x.find(Finding{Code: "merge-refused", File: root, Found: t.Option() + ": a capture of it cannot be read, see below",
				Do: "mend or replace that capture, or draw the others one by one"})
			continue
		}
		x.set(root, t, p)
	}
	if !merged && len(targets.Targets) > 0 {
		x.find(Finding{Code: "ranks-no-trace", File: root, Found: "no l3_swimlane*.json"})
	}
}

// domains tells of captures that do not say which host's clock they mean. Where no
// capture does they were made before there was such a thing.
func (x *Exam) domains(targets *ranks.Targets, all []*Exam) {
	f := Finding{Code: "clock-domain-missing", File: x.Path}
	known := false
	merged := map[string]bool{}
	for i := range targets.Targets {
		for _, c := range targets.Targets[i].Captures {
			merged[c.Records] = true
		}
	}
	for _, y := range all {
		switch {
		case !merged[y.Path] || !y.drawn:
		case y.domain != "":
			known = true
		default:
			if f.Count++; f.Count == 1 {
				f.File = y.Path
			}
		}
	}
	if f.Count == 0 {
		return
	}
	f.Found = console.Count(f.Count, "capture") + " without metadata.host_clock_domain_id"
	if known {
		f.Severity = Warning
		f.Found += ", beside others that have one"
	}
	x.find(f)
}

// set tries to merge one set.
func (x *Exam) set(root string, t *ranks.Target, p *console.Progress) {
	choice, err := ranks.Choose(root, t.Dispatch, t.DispatchID)
	if err != nil {
		x.refusal(root, t.Option(), err)
		return
	}
	defer p.Done()
	logs := func(files []string) func(int64) {
		p.Reading("reading logs", files...)
		return p.Part()
	}
	plan, err := choice.Plan(ranks.Options{Reading: logs}, func(path string) (*capture.Records, error) {
		p.Reading("placing", path)
		return capture.Read(path, capture.Options{Progress: p.Part()})
	})
	if plan != nil {
		for _, text := range plan.Warnings {
			if strings.Contains(text, "[STRACE] records") || strings.Contains(text, "host-log record") {
				continue // the logs themselves were looked at
			}
			if code := rankCode(text, "merge-warning"); code != "clock-domain-missing" {
				x.once(Finding{Code: code, File: root, Found: text})
			}
		}
	}
	if err != nil {
		x.refusal(root, t.Option(), err)
		return
	}
	least, most := int64(0), int64(0)
	for i, m := range plan.Members {
		slack := m.Placement.Slack()
		if i == 0 {
			least, most = slack, slack
		}
		least, most = min(least, slack), max(most, slack)
	}
	slack := fmt.Sprintf("%.1f", float64(least)/1000)
	if most != least {
		slack += fmt.Sprintf("–%.1f", float64(most)/1000)
	}
	x.ok("set", fmt.Sprintf("%s: %s, each placed within %s us", t.Option(), console.Count(int64(len(plan.Members)), "rank"), slack))
}

// refusal tells why a set, or the whole tree, cannot be merged.
func (x *Exam) refusal(root, option string, err error) {
	text := err.Error()
	var refused *capture.Error
	if errors.As(err, &refused) {
		text = refused.Text
	}
	code := rankCode(text, "merge-refused")
	if code == "sidecar-missing" || code == "sidecar-invalid" || code == "retained-several" || code == "capture-directories" {
		return // said of the directories themselves
	}
	if option != "" {
		text = option + ": " + text
	}
	x.once(Finding{Code: code, File: root, Found: text})
}

// once adds a finding that may be found for several sets.
func (x *Exam) once(f Finding) {
	if !slices.ContainsFunc(x.Findings, func(g Finding) bool { return g.Code == f.Code && g.Found == f.Found }) {
		x.find(f)
	}
}

// someOf lists the first few of many texts.
func someOf(list []string) string {
	const most = 8
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %s more", strings.Join(list[:most], ", "), console.Thousands(int64(more)))
	}
	return strings.Join(list, ", ")
}
