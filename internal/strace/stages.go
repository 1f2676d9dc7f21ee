package strace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"swimlane/internal/hostlog"
)

// Stages is the table of what runs consist of (spec/host-log.md §6.1).
type Stages struct {
	Callables []Callable `json:"callables"` // those with the most runs first
}

// Callable are the runs of one callable.
type Callable struct {
	HID         string  `json:"hid"`
	Invocations int     `json:"invocations"`
	Run         *Times  `json:"run,omitempty"` // of the outermost spans, nil if there is none
	Stages      []Stage `json:"stages"`        // those with the most samples first
}

// Times is what durations come to.
type Times struct {
	Count  int   `json:"count"`
	MeanNS int64 `json:"mean_ns"` // without what is behind the point
	MinNS  int64 `json:"min_ns"`
	MaxNS  int64 `json:"max_ns"`
}

// Stage is the time that spans of one name took.
type Stage struct {
	Name   string `json:"name"`
	Count  int    `json:"count"`
	MeanNS int64  `json:"mean_ns"` // without what is behind the point
}

// NewStages makes the table.
func NewStages(runs []hostlog.Invocation) *Stages {
	out := &Stages{Callables: []Callable{}}
	for _, b := range ranked(runs) {
		c := Callable{HID: b.HID, Invocations: len(b.Invocations), Stages: []Stage{}}
		var roots sum
		stages := map[string]*sum{}
		for _, v := range b.Invocations {
			if v.Root != nil {
				if c.Run == nil {
					c.Run = &Times{MinNS: v.Root.Dur}
				}
				c.Run.MinNS, c.Run.MaxNS = min(c.Run.MinNS, v.Root.Dur), max(c.Run.MaxNS, v.Root.Dur)
				roots.add(v.Root.Dur)
			}
			for _, s := range v.ByName() {
				if s.Depth == 0 {
					continue
				}
				if stages[s.Name] == nil {
					stages[s.Name] = &sum{}
				}
				stages[s.Name].add(s.Dur)
			}
		}
		if c.Run != nil {
			c.Run.Count, c.Run.MeanNS = roots.n, roots.whole()
		}
		for name, s := range stages {
			c.Stages = append(c.Stages, Stage{name, s.n, s.whole()})
		}
		slices.SortFunc(c.Stages, func(a, b Stage) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
		out.Callables = append(out.Callables, c)
	}
	return out
}

// Text prints the table.
func (t *Stages) Text(to io.Writer) error {
	w := bufio.NewWriter(to)
	if len(t.Callables) == 0 {
		fmt.Fprintln(w, Nothing)
	}
	for _, c := range t.Callables {
		fmt.Fprintf(w, "callable hid=%s — %d invocation(s)\n", c.HID, c.Invocations)
		if c.Run != nil {
			fmt.Fprintf(w, "  chip.run: mean=%sus min=%sus max=%sus\n", us(float64(c.Run.MeanNS)), us(float64(c.Run.MinNS)), us(float64(c.Run.MaxNS)))
		}
		for _, s := range c.Stages {
			fmt.Fprintf(w, "%*s%s: mean=%sus (n=%d)\n", 2+2*strings.Count(s.Name, "."), "", s.Name, us(float64(s.MeanNS)), s.Count)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
