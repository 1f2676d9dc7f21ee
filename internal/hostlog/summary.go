package hostlog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Anchor is one instant of a process on both its clocks.
type Anchor struct {
	PID            int
	MonoNS, WallNS int64
}

// Wall is the wall time of an instant of the process's monotonic clock, if it is
// not before the anchor.
func (a Anchor) Wall(mono int64) (wallNS int64, ok bool) {
	since := mono - a.MonoNS
	if mono < a.MonoNS || since > math.MaxInt64-a.WallNS {
		return 0, false
	}
	return a.WallNS + since, true
}

// FormatWall is a wall time as YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ.
func FormatWall(wallNS int64) string {
	return time.Unix(0, wallNS).UTC().Format("2006-01-02T15:04:05.000000000Z")
}

// Drops is a report of a process about records that it lost. All numbers but New
// count from its start.
type Drops struct {
	PID            int
	New            uint64 // since the report before
	Total          uint64
	QueueFull      uint64
	ClaimExhausted uint64
	OutputFailed   uint64
	NotAdmitted    uint64
}

// Warning is something odd that did not stop the reader.
type Warning struct {
	Code  string // stable short name, for counting
	Count int64
	Text  string // what follows "warning: " on the console
}

// Summary is what logs say beside spans. The zero value is that of no log.
type Summary struct {
	Heads         int64 // beginnings of [STRACE] records
	Parsed        int64 // those that were whole: spans
	OtherVersions int64 // spans whose format version is not 1; they were read as if it were

	anchors map[int]anchors
	drops   map[int]Drops
	pids    map[int]bool // those of spans
	lastPID int          // in pids, if that has any
	changed []Warning    // files that were written to meanwhile
}

// anchors are those of a process.
type anchors struct {
	last Anchor
	n    int
}

func (s *Summary) spanOf(pid int) {
	s.Parsed++
	if s.pids != nil && s.lastPID == pid {
		return
	}
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	s.pids[pid] = true
	s.lastPID = pid
}

func (s *Summary) anchor(a Anchor) {
	if s.anchors == nil {
		s.anchors = map[int]anchors{}
	}
	s.anchors[a.PID] = anchors{a, s.anchors[a.PID].n + 1}
}

func (s *Summary) drop(d Drops) {
	if s.drops == nil {
		s.drops = map[int]Drops{}
	}
	if old, ok := s.drops[d.PID]; !ok || d.Total >= old.Total {
		s.drops[d.PID] = d
	}
}

// Incomplete is how many records were torn, or said what cannot be.
func (s *Summary) Incomplete() int64 { return s.Heads - s.Parsed }

// PIDs are the processes that wrote spans, ascending.
func (s *Summary) PIDs() []int { return slices.Sorted(maps.Keys(s.pids)) }

// Anchor is the clock anchor of a process, the last one if it has several.
func (s *Summary) Anchor(pid int) (Anchor, bool) {
	a, ok := s.anchors[pid]
	return a.last, ok
}

// Anchors are the clock anchors, one a process, by ascending pid.
func (s *Summary) Anchors() []Anchor {
	var out []Anchor
	for _, pid := range slices.Sorted(maps.Keys(s.anchors)) {
		out = append(out, s.anchors[pid].last)
	}
	return out
}

// Drops are the reports of losses, of each process the one with the largest
// total, by ascending pid.
func (s *Summary) Drops() []Drops {
	var out []Drops
	for _, pid := range slices.Sorted(maps.Keys(s.drops)) {
		out = append(out, s.drops[pid])
	}
	return out
}

// Wall is the wall time of the start of a span. Spans of the device have none, nor
// have those of processes without an anchor or from before it.
func (s *Summary) Wall(span *Span) (wallNS int64, ok bool) {
	a, ok := s.Anchor(span.PID)
	if !ok || span.Device() {
		return 0, false
	}
	return a.Wall(span.TS)
}

// Warnings are what a user should know, in the order and the words of
// spec/host-log.md §3.3. Missing anchors are worth a word only where some process
// has one: not every version of the runtimes writes them.
func (s *Summary) Warnings() []Warning {
	var out []Warning
	for _, pid := range slices.Sorted(maps.Keys(s.anchors)) {
		if n := s.anchors[pid].n; n > 1 {
			out = append(out, Warning{"anchor-repeated", int64(n),
				fmt.Sprintf("multiple [CLOCK_ANCHOR] records found for pid %d (%d records); using the last one", pid, n)})
		}
	}
	var without []string
	for _, pid := range s.PIDs() {
		if _, ok := s.anchors[pid]; !ok {
			without = append(without, strconv.Itoa(pid))
		}
	}
	if len(without) > 0 && len(s.anchors) > 0 {
		out = append(out, Warning{"anchor-missing", int64(len(without)),
			fmt.Sprintf("no [CLOCK_ANCHOR] record for pid(s) %s that emitted spans; their timestamps stay monotonic-only. "+
				"Each process writes its anchor before its first record, so check that every input is complete and that no process's stream is missing.",
				strings.Join(without, ", "))})
	}
	if lost := s.Incomplete(); lost > 0 {
		out = append(out, Warning{"spans-incomplete", lost,
			fmt.Sprintf("%d of %d [STRACE] records are incomplete and are excluded from the timing below", lost, s.Heads)})
	}
	for _, d := range s.Drops() {
		out = append(out, Warning{"records-dropped", int64(min(d.Total, math.MaxInt64)),
			fmt.Sprintf("pid %d dropped %d host-log record(s) before they reached the destination (queue_full=%d claim_exhausted=%d output_failed=%d not_admitted=%d); "+
				"the timing below is computed from an incomplete log", d.PID, d.Total, d.QueueFull, d.ClaimExhausted, d.OutputFailed, d.NotAdmitted)})
	}
	if s.OtherVersions > 0 {
		out = append(out, Warning{"version-unknown", s.OtherVersions,
			fmt.Sprintf("%d [STRACE] records have another format version than 1; they are read as if they had version 1", s.OtherVersions)})
	}
	return append(out, s.changed...)
}
