package ranks

import (
	"fmt"
	"math"
	"strconv"

	"swimlane/internal/jsonscan"
)

// Placement says where the device's time of a run lies on the host's clock
// (spec/l3.md §9). It lies somewhere between Low and Low + slack, and is drawn at Low.
type Placement struct {
	window *Window
	joined *join   // nil without a capture
	head   float64 // ns of the device's axis before its zero that are drawn, ≤ 0
	extent float64 // ns that are drawn
	outer  float64 // ns that are left of the window
	low    int64   // host time at which it is drawn
	slack  float64 // ns that are left of the window behind low
}

// join says which cycle the device's phases count from.
type join struct {
	sources  []string
	e        Extent
	origin   float64 // cycles from the first record to the zero: not positive, as a rule
	residual float64 // ns by which that may be off
}

// joinCapture intersects what "records lie inside their phase" says about the cycle
// at the device's zero. Cycles are counted from the first record: so no digit of
// a large counter is lost.
func joinCapture(w *Window, e Extent) (*join, error) {
	j := &join{e: e}
	lo, hi := math.Inf(-1), math.Inf(1)
	rel := func(cycles uint64) float64 {
		if cycles < e.All.First {
			return -float64(e.All.First - cycles)
		}
		return float64(cycles - e.All.First)
	}
	narrow := func(source string, p Phase, b Bounds) {
		lo = max(lo, rel(b.Last)-e.Rate.Cycles(float64(p.Start+p.Dur)))
		hi = min(hi, rel(b.First)-e.Rate.Cycles(float64(p.Start)))
		j.sources = append(j.sources, source)
	}
	for _, name := range streams {
		if p, ok := w.Phases[name]; ok && e.stream(name).Last > 0 {
			narrow(name, p, e.stream(name))
		}
	}
	narrow("device_wall", Phase{0, w.Wall}, e.All)
	if lo > hi {
		return nil, fmt.Errorf("pid %d inv %d and this capture cannot describe one run: the device windows they report do not overlap", w.PID, w.Inv)
	}
	j.origin, j.residual = (lo+hi)/2, e.Rate.Ns(hi-lo)
	return j, nil
}

// cycle is the device's zero in cycles, rounded to the nearest, ties to even.
func (j *join) cycle() int64 {
	whole := math.Floor(j.origin)
	n := int64(j.e.All.First) + int64(whole)
	if rest := j.origin - whole; rest > 0.5 || rest == 0.5 && n&1 != 0 {
		n++
	}
	return n
}

// phase is where a device time lies on the axis of the phases, in ns.
func (j *join) phase(cycles uint64) float64 {
	from := j.e.All.First
	if cycles < from {
		return j.e.Rate.Ns(-float64(from-cycles) - j.origin)
	}
	return j.e.Rate.Ns(float64(cycles-from) - j.origin)
}

// Place finds the place of a capture in its window; e is nil if there is no capture.
func Place(w *Window, e *Extent) (*Placement, error) {
	p := &Placement{window: w}
	lo, hi := 0.0, float64(w.Wall)
	first := true
	draw := func(from, to float64) {
		if first {
			lo, hi, first = from, to, false
		}
		lo, hi = min(lo, from, to), max(hi, from, to)
	}
	if e != nil {
		var err error
		if p.joined, err = joinCapture(w, *e); err != nil {
			return nil, err
		}
		draw(p.joined.phase(e.All.First), p.joined.phase(e.All.Last))
	}
	if !w.SlotsOnly() {
		for _, x := range w.Phases {
			draw(float64(x.Start), float64(x.Start+x.Dur))
		}
	}
	p.head = min(0, lo)
	p.extent = max(float64(w.Wall), hi) - p.head
	if p.outer = float64(w.Dur) - p.extent; p.outer < 0 {
		return nil, fmt.Errorf("pid %d inv %d draws %.1f us of device work but its chip.run.runner_run window is only %.1f us wide",
			w.PID, w.Inv, p.extent/1000, float64(w.Dur)/1000)
	}
	if err := p.causal(); err != nil {
		return nil, err
	}
	return p, nil
}

// causal moves the place behind the instant at which the host launched the device,
// if the log has it: nothing of the device came before (spec/newest.md §10.1).
func (p *Placement) causal() error {
	w := p.window
	p.low, p.slack = w.Start, p.outer
	l := w.Launch
	if l == nil {
		return nil
	}
	if l.Device || l.Dur != 0 || l.At < w.Start || l.At-w.Start > w.Dur {
		return fmt.Errorf("invalid AICPU launch marker: expected Host clock, zero duration, and time within runner window (pid %d inv %d: %s)", w.PID, w.Inv, l.fault(w))
	}
	p.low = max(w.Start, l.At)
	if p.slack = p.outer - float64(p.low-w.Start); p.slack < 0 {
		return fmt.Errorf("pid %d inv %d has no legal placement: its chip.run.runner_run.aicpu_launch marker would put the device block outside the runner window", w.PID, w.Inv)
	}
	return nil
}

// fault says what of a marker is not as it must be.
func (l *Launch) fault(w *Window) string {
	switch {
	case l.Device:
		return "it is on the device's clock"
	case l.Dur != 0:
		return fmt.Sprintf("it lasts %d ns", l.Dur)
	}
	return fmt.Sprintf("it is at %d, the window from %d to %d", l.At, w.Start, w.Start+w.Dur)
}

// Slack is the room that is left in the window behind Low, in ns.
func (p *Placement) Slack() int64 { return round(p.slack) }

// Length is how long what is drawn of the device is, in ns.
func (p *Placement) Length() int64 { return round(p.extent) }

// Residual is by how many ns records may be off against the phases of the log.
func (p *Placement) Residual() int64 {
	if p.joined == nil {
		return 0
	}
	return round(p.joined.residual)
}

// Low is the earliest host time of what is drawn, in ns.
func (p *Placement) Low() int64 { return p.low }

// Phase is the host time of a time on the axis of the phases, in ns, rounded.
func (p *Placement) Phase(ns float64) int64 { return p.low + round(ns-p.head) }

// Device is the host time of a device time, in ns, rounded.
func (p *Placement) Device(cycles uint64) int64 { return p.Phase(p.joined.phase(cycles)) }

// round rounds to the nearest, ties to even.
func round(v float64) int64 { return int64(math.RoundToEven(v)) }

// fields are the published placement as keys and JSON (spec/l3.md §9.3, with a marker
// also those of spec/newest.md §10.1).
func (p *Placement) fields() [][2]string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	out := [][2]string{
		{"method", `"span_containment_v1"`},
		{"outer_span", `"` + outerSpan + `"`},
		{"outer_pid", n(int64(p.window.PID))},
		{"outer_inv", strconv.FormatUint(p.window.Inv, 10)},
		{"outer_start_ns", n(p.window.Start)},
		{"outer_duration_ns", n(p.window.Dur)},
		{"device_wall_ns", n(p.window.Wall)},
		{"device_extent_ns", n(p.Length())},
		{"slack_ns", n(p.Slack())},
		{"place_lo_ns", n(p.low)},
		{"place_hi_ns", n(p.window.Start + round(p.outer))},
	}
	if l := p.window.Launch; l != nil {
		out = append(out,
			[2]string{"outer_slack_ns", n(round(p.outer))},
			[2]string{"aicpu_launch_ns", n(l.At)},
			[2]string{"causal_constraint", `"aicpu_launch<=device_start"`})
	}
	if j := p.joined; j != nil {
		b := []byte(`{"sources":[`)
		for i, s := range j.sources {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsonscan.AppendString(b, s)
		}
		b = fmt.Appendf(b, `],"origin_cycles":%d,"residual_ns":%d}`, j.cycle(), p.Residual())
		out = append(out, [2]string{"join", string(b)})
	}
	return out
}

// Uncertainty is how far apart things on two ranks must be for their order to be
// known, in ns: the sum of the two largest slacks. There is none with fewer ranks.
func Uncertainty(slacks []int64) (ns int64, ok bool) {
	var most [2]int64
	for _, s := range slacks {
		switch {
		case s > most[0]:
			most = [2]int64{s, most[0]}
		case s > most[1]:
			most[1] = s
		}
	}
	return most[0] + most[1], len(slacks) > 1
}
