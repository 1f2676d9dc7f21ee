package strace

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"swimlane/internal/hostlog"
)

const (
	chipRun    = "chip.run"
	deviceWall = "chip.run.runner_run.device_wall"
)

// Rounds is the table of the runs of the callable that ran most (spec/host-log.md §6.2).
type Rounds struct {
	HID  string  `json:"hid,omitempty"`
	Rows []Round `json:"rounds"` // by ascending inv

	// The means of the shown columns, in ns: of the host over all rows, of the others
	// over those that have a value.
	Means []Mean `json:"means"`
	// Trimmed are means without the ten least and the ten largest values, if there are
	// more than 20.
	Trimmed []Mean `json:"trimmed_means,omitempty"`

	found bool // there were runs at all
}

// Round is a run. What the log does not say is 0.
type Round struct {
	PID         int    `json:"pid"`
	Inv         uint64 `json:"inv"`
	HostNS      int64  `json:"host_ns"`
	DeviceNS    int64  `json:"device_ns"`
	EffectiveNS int64  `json:"effective_ns"` // from the first start to the last end of orch and sched
	OrchNS      int64  `json:"orch_ns"`
	SchedNS     int64  `json:"sched_ns"`
}

// Mean is the mean of a column.
type Mean struct {
	Column string  `json:"column"` // host, device, effective, orch, sched
	MeanNS float64 `json:"mean_ns"`
	Rounds int     `json:"rounds"` // how many values it is the mean of
}

// columns are those of the table in their order.
var columns = []struct {
	name string
	of   func(*Round) int64
}{
	{"Host", func(r *Round) int64 { return r.HostNS }},
	{"Device", func(r *Round) int64 { return r.DeviceNS }},
	{"Effective", func(r *Round) int64 { return r.EffectiveNS }},
	{"Orch", func(r *Round) int64 { return r.OrchNS }},
	{"Sched", func(r *Round) int64 { return r.SchedNS }},
}

// trimmed is how many values are left out at each end of a trimmed mean.
const trimmed = 10

// NewRounds makes the table. What has no chip.run span is no round (decision D6).
func NewRounds(runs []hostlog.Invocation) *Rounds {
	out := &Rounds{Rows: []Round{}, Means: []Mean{}, found: len(runs) > 0}
	var real []hostlog.Invocation
	for i := range runs {
		if runs[i].Named(chipRun) != nil {
			real = append(real, runs[i])
		}
	}
	if len(real) == 0 {
		return out
	}
	most := ranked(real)[0]
	out.HID = most.HID
	for _, v := range most.Invocations {
		r := Round{PID: v.PID, Inv: v.Inv, HostNS: v.Named(chipRun).Dur}
		if wall := v.Named(deviceWall); wall != nil {
			r.DeviceNS = wall.Dur
		}
		orch, sched := v.Named(deviceWall+".orch"), v.Named(deviceWall+".sched")
		r.EffectiveNS, _ = effective(orch, sched)
		if orch != nil {
			r.OrchNS = orch.Dur
		}
		if sched != nil {
			r.SchedNS = sched.Dur
		}
		out.Rows = append(out.Rows, r)
	}
	out.average()
	return out
}

// effective is the time from the first start to the last end of those two that are there.
func effective(orch, sched *hostlog.Span) (ns int64, ok bool) {
	switch {
	case orch == nil && sched == nil:
		return 0, false
	case orch == nil:
		return sched.Dur, true
	case sched == nil:
		return orch.Dur, true
	}
	return max(orch.End(), sched.End()) - min(orch.TS, sched.TS), true
}

func (t *Rounds) average() {
	for i, c := range columns {
		var values []int64
		var all sum
		for k := range t.Rows {
			if ns := c.of(&t.Rows[k]); i == 0 || ns > 0 {
				values = append(values, ns)
				all.add(ns)
			}
		}
		if i > 0 && all.n == 0 {
			continue
		}
		name := strings.ToLower(c.name)
		t.Means = append(t.Means, Mean{name, all.mean(), all.n})
		if i > 1 || len(values) <= 2*trimmed {
			continue
		}
		slices.Sort(values)
		var inner sum
		for _, ns := range values[trimmed : len(values)-trimmed] {
			inner.add(ns)
		}
		t.Trimmed = append(t.Trimmed, Mean{name, inner.mean(), inner.n})
	}
}

// mean is the mean of a column in a list, nil if it is not in it.
func mean(list []Mean, column string) *Mean {
	i := slices.IndexFunc(list, func(m Mean) bool { return m.Column == strings.ToLower(column) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Text prints the table.
func (t *Rounds) Text(to io.Writer) error {
	w := bufio.NewWriter(to)
	switch {
	case !t.found:
		fmt.Fprintln(w, Nothing)
		return w.Flush()
	case len(t.Rows) == 0:
		fmt.Fprintln(w, "No chip.run spans found, so there are no rounds.")
		return w.Flush()
	}
	shown := columns[:0:0]
	header := fmt.Sprintf("  %-6s", "Round")
	for _, c := range columns {
		if mean(t.Means, c.name) != nil {
			shown = append(shown, c)
			header += fmt.Sprintf("  %12s", c.name+" (us)")
		}
	}
	fmt.Fprintf(w, "%s\n  %s\n", header, strings.Repeat("-", len(header)-2))
	for i := range t.Rows {
		fmt.Fprintf(w, "  %-6d", i)
		for _, c := range shown {
			fmt.Fprintf(w, "  %12s", us(float64(c.of(&t.Rows[i]))))
		}
		fmt.Fprintln(w)
	}
	for i, c := range shown {
		m := mean(t.Means, c.name)
		if i == 0 {
			fmt.Fprintf(w, "  Avg Host: %s us", us(m.MeanNS))
			continue
		}
		fmt.Fprintf(w, "  |  Avg %s: %s us", c.name, us(m.MeanNS))
		if c.name == "Device" {
			fmt.Fprintf(w, " [%d/%d]", m.Rounds, len(t.Rows))
		}
	}
	fmt.Fprintf(w, "  (%d rounds)\n", len(t.Rows))
	if host := mean(t.Trimmed, "Host"); host != nil {
		fmt.Fprintf(w, "  Trimmed Avg Host: %s us", us(host.MeanNS))
		if device := mean(t.Trimmed, "Device"); device != nil {
			fmt.Fprintf(w, "  |  Trimmed Avg Device: %s us", us(device.MeanNS))
		}
		fmt.Fprintf(w, "  (dropped %d low + %d high, %d rounds used)\n", trimmed, trimmed, len(t.Rows)-2*trimmed)
	}
	return w.Flush()
}
