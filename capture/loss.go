package capture

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// sumLoss gathers what the file says was lost (spec/records.md §9 no. 14).
func (d *reader) sumLoss() {
	l := &d.out.Loss
	*l = Loss{Accounting: l.Accounting, Kinds: l.Kinds, EndedEarly: l.EndedEarly}
	for i := range d.out.Streams {
		s := &d.out.Streams[i]
		l.Streams = addCount(l.Streams, s.Dropped)
		l.Declared = l.Declared || s.Truncated
	}
	if h := d.out.Meta.HostCapture; h != nil {
		l.Host = addCount(0, h.Dropped.V)
		// "incomplete" is a mismatch of counts without loss (spec/records.md §2.2).
		l.Declared = l.Declared || h.Status == "dropped"
	}
	if c := d.out.Meta.Collection; c != nil && !c.Whole() {
		l.Retained, l.Declared = true, true
	}
	l.Declared = l.Declared || l.Streams > 0 || l.Host > 0 || l.Accounting > 0 || l.EndedEarly
}

// addCount adds a count to a sum. Counts come from a file: they may be negative or absurdly large.
func addCount(sum, n int64) int64 {
	if n <= 0 {
		return sum
	}
	if sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + n
}

// warnHalfNamed tells of records that name no run beside others that do: nothing
// joins them, and nothing would show it.
func (d *reader) warnHalfNamed() {
	out := d.out
	if out.Launches != nil || len(out.Runs) < 2 || out.Runs[0].Known {
		return
	}
	var parts []string
	count := func(run []int32, n int, what string) {
		nameless := int64(0)
		if run == nil {
			nameless = int64(n)
		}
		for _, r := range run {
			if r == 0 {
				nameless++
			}
		}
		if nameless > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", nameless, what))
		}
	}
	count(out.Tasks.Run, out.Tasks.Len(), "kernel row(s)")
	count(out.Sched.Run, out.Sched.Len(), "scheduler row(s)")
	for i := range out.Streams {
		p := &out.Streams[i].Phases
		count(p.Run, p.Len(), fmt.Sprintf("record(s) of scheduler stream %d", i))
	}
	for i := range out.DeviceOrc {
		s := &out.DeviceOrc[i]
		count(s.Run, s.Len(), fmt.Sprintf("record(s) of orchestrator lane %d", i))
	}
	const most = 4
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprintf("and others in %d more places", n))
	}
	d.warn("runs-half-named", int64(len(parts)), "%s names the runs of some records and not of others: %s; arrows between them are missing", d.file, strings.Join(parts, ", "))
}

// warnCores tells of cores whose kind is not known: they count as vector cores
// (spec/records.md §4.4), and their tasks get the names of vector kernels.
func (d *reader) warnCores() {
	types := d.out.Meta.CoreTypes
	if len(types) == 0 {
		return
	}
	seen := map[int32]bool{}
	var beyond []int32
	last := int32(-1)
	for _, core := range d.out.Tasks.Core {
		if core == last || int(core) < len(types) || seen[core] {
			continue
		}
		last, seen[core] = core, true
		beyond = append(beyond, core)
	}
	if len(beyond) == 0 {
		return
	}
	slices.Sort(beyond)
	const most = 8
	var shown []string
	for _, core := range beyond[:min(len(beyond), most)] {
		shown = append(shown, fmt.Sprint(core))
	}
	if n := len(beyond) - most; n > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", n))
	}
	d.warn("core-types", int64(len(beyond)), "metadata.core_types of %s has %d entries, and none for core(s) %s; they count as aiv", d.file, len(types), strings.Join(shown, ", "))
}

func (d *reader) warn(code string, n int64, format string, args ...any) {
	d.out.Warnings = append(d.out.Warnings, Warning{Code: code, Count: n, Text: fmt.Sprintf(format, args...)})
}

// warnUnknown names the top-level and metadata keys that were ignored (spec/records.md §9 no. 15).
func (d *reader) warnUnknown() {
	if len(d.unknown) == 0 {
		return
	}
	slices.Sort(d.unknown)
	const most = 8
	var shown []string
	for _, name := range d.unknown[:min(len(d.unknown), most)] {
		shown = append(shown, printable(name))
	}
	more := ""
	if n := len(d.unknown) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	d.warn("unknown-keys", int64(len(d.unknown)), "%s has keys that no generation of captures writes; they were ignored: %s%s",
		d.file, strings.Join(shown, ", "), more)
}

// printable makes a name from a file fit for one line of a terminal.
func printable(name string) string {
	const longest = 60
	runes := []rune(name[:min(len(name), 4*longest)])
	if len(runes) > longest {
		runes = append(runes[:longest], '…')
	}
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = unicode.ReplacementChar
		}
	}
	return string(runes)
}
