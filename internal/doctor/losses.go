package doctor

import (
	"fmt"

	"swimlane/capture"
	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/timeline"
)

// pool is a kind of records that a collector accounts for (spec/collector.md §7.3),
// and the number of buffers that it has (spec/device-abi.md §1).
type pool struct {
	what   string
	option string
	preset int
}

var pools = map[string]pool{
	"AICPU_TASK":  {"dispatch and finish", "PROF_BUFFERS_PER_CORE", 8},
	"AICORE_TASK": {"kernel times", "AICORE_BUFFERS_PER_CORE", 4},
	"SCHED_PHASE": {"scheduler phases", "SCHED_BUFFERS_PER_THREAD", 6},
	"ORCH_PHASE":  {"submits", "ORCH_BUFFERS_PER_THREAD", 8},
}

// losses tells what records are missing as far as the file says it, and which
// warnings say the same with less.
func (x *Exam) losses(c *convert.Examined) (said map[string]bool) {
	rec := c.Timeline.Rec
	before := len(x.Findings)
	if a := rec.Meta.Accounting; a != nil {
		for i := range a.Accounts {
			x.account(c, a, &a.Accounts[i])
		}
	}
	if s := rec.Meta.Stalls; s.Count > 0 {
		x.find(Finding{Code: "device-stalled", File: c.Records, Section: "metadata.capture_accounting", Count: s.Count,
			Found: fmt.Sprintf("the device waited for its host %s, %.3f ms together", times(s.Count), float64(s.Ns)/1e6)})
	}
	counted := false
	for _, k := range rec.Loss.Kinds {
		counted = counted || k.Kind == "SCHED_PHASE"
	}
	for i := range rec.Streams {
		s := &rec.Streams[i]
		if s.Dropped == 0 && !s.Truncated || counted && !s.Truncated {
			continue
		}
		who := "AICPU"
		if s.AICore() {
			who = "AICore"
		}
		text := fmt.Sprintf("%s scheduler %d dropped %s", who, i, console.Count(s.Dropped, "phase record"))
		if s.Dropped == 0 {
			text = fmt.Sprintf("the records of %s scheduler %d are truncated", who, i)
		}
		x.find(Finding{Code: "phases-dropped", File: c.Records, Section: fmt.Sprintf("scheduler_records.streams[%d].capture", s.Order), Count: s.Dropped, Found: text})
	}
	if h := rec.Meta.HostCapture; h != nil && (h.Status == "dropped" || h.Status == "incomplete" || h.Dropped.V > 0) {
		x.find(Finding{Code: "submits-lost", File: c.Records, Section: "metadata.host_capture", Count: max(h.Dropped.V, h.Expected.V-h.Recorded.V, 0),
			Found: fmt.Sprintf("host_capture is '%s': %s of %s submit records, %s dropped", stats.Printable(h.Status), optional(h.Recorded), optional(h.Expected), optional(h.Dropped))})
	}
	// The warning sums up what the findings say part by part.
	said = map[string]bool{"records-lost": len(x.Findings) > before}
	if n := c.Timeline.SubmitGaps(); n > 0 {
		x.find(Finding{Code: "submit-gaps", File: c.Records, Count: n, Found: console.Count(n, "submit record") + " missing in their numbers"})
	}
	if n := tokenGaps(c.Timeline); n > 0 {
		x.find(Finding{Code: "token-gaps", File: c.Records, Section: "aicore_tasks", Count: n,
			Found: fmt.Sprintf("gaps in the dispatch numbers of cores: %s of neither section", console.Count(n, "row"))})
	}
	return said
}

// tokenGaps counts the tasks of which neither a kernel's nor a scheduler's row is there.
func tokenGaps(t *timeline.Timeline) (n int64) {
	for _, l := range t.Losses {
		if l.Kind == timeline.LostKernel {
			n += l.N
		}
	}
	return n - t.Unmatched
}

// account tells what became of the records of a kind.
func (x *Exam) account(c *convert.Examined, all *capture.Accounting, a *capture.Account) {
	section := "metadata.capture_accounting.kinds." + stats.Printable(a.Kind)
	p, ok := pools[a.Kind]
	if !ok {
		p = pool{what: "a kind that is not known"}
	}
	of := fmt.Sprintf("%s of %s %s records (%s)", "%s", console.Thousands(a.Total), stats.Printable(a.Kind), p.what)
	add := func(code string, n int64, how, do string) {
		if n > 0 {
			x.find(Finding{Code: code, File: c.Records, Section: section, Count: n, Found: fmt.Sprintf(of, console.Thousands(n)) + how, Do: do})
		}
	}
	raise := ""
	if p.option != "" {
		raise = fmt.Sprintf("raise %s (%d; in the runtime PLATFORM_%s): it is the number of buffers that counts, not their size", p.option, p.preset, p.option)
		if all.Policy == "drop" {
			raise += "; or let the device wait (policy block)"
		} else if all.Policy == "block" {
			raise += "; the device waits 30 s for its host before it drops, so see what held the host up"
		}
	}
	add("records-dropped", a.Dropped, " were dropped by the device", raise)
	add("records-host-lost", a.HostLost, " reached the host and were lost there", "")
	add("records-unflushed", a.Unflushed, " were still in the device when it was stopped", "")
	if !a.Balanced() {
		x.find(Finding{Code: "accounting-sum", File: c.Records, Section: section, Count: a.Total,
			Found: fmt.Sprintf("total %d, but collected %d, dropped %d, host_lost %d and unflushed %d", a.Total, a.Collected, a.Dropped, a.HostLost, a.Unflushed)})
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return console.Thousands(n) + " times"
}

func optional(n capture.OptInt) string {
	if !n.Set {
		return "an unknown number"
	}
	return console.Thousands(n.V)
}
