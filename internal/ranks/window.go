package ranks

import (
	"errors"
	"strings"

	"swimlane/internal/hostlog"
)

// Names of the spans that placement goes by.
const (
	outerSpan = "chip.run.runner_run"
	wallSpan  = outerSpan + ".device_wall"
	phaseHead = wallSpan + "."
	slotHead  = "task_slot_"
	rootSpan  = "chip.run"
)

// Key names a run of the log.
type Key struct {
	PID int
	Inv uint64
}

// Phase is a phase of a run on the device's own axis, in ns.
type Phase struct{ Start, Dur int64 }

// Window is what the log says about a run on a chip (spec/l3.md §7.1).
type Window struct {
	Key
	Start, Dur int64 // of chip.run.runner_run: host ns
	Wall       int64 // ns that the device took
	Phases     map[string]Phase
	Dispatch   *Dispatch // nil if the log does not name it
	spans      []*hostlog.Span
}

// SlotsOnly reports whether the only phases are those of task-timing slots. These
// count from the first tagged dispatch then, and not from where the wall begins
// (spec/host-log.md §4.5), so they take no part in placement (spec/l3.md §12 D8).
func (w *Window) SlotsOnly() bool {
	for name := range w.Phases {
		if !strings.HasPrefix(name, slotHead) {
			return false
		}
	}
	return true
}

// Windows finds the runs that device work can be placed in, by pid and invocation.
func Windows(spans []hostlog.Span) ([]Window, error) {
	var out []Window
	for _, v := range hostlog.Group(spans) {
		last := map[string]*hostlog.Span{}
		for _, s := range v.Spans {
			last[s.Name] = s
		}
		outer, wall := last[outerSpan], last[wallSpan]
		if outer == nil || wall == nil {
			continue
		}
		w := Window{Key: Key{v.PID, v.Inv}, Start: outer.TS, Dur: outer.Dur, Wall: wall.Dur, Phases: map[string]Phase{}, spans: v.Spans}
		for name, s := range last {
			if phase, ok := strings.CutPrefix(name, phaseHead); ok && s.Dur > 0 {
				w.Phases[phase] = Phase{s.TS, s.Dur}
			}
		}
		if root := last[rootSpan]; root != nil {
			w.Dispatch = dispatchOf(root)
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return nil, errors.New("the Host logs hold no chip.run.runner_run / chip.run.runner_run.device_wall pair; nothing brackets the device work")
	}
	return out, nil
}

// dispatchOf is the dispatch that chip.run names, nil if it does not name it whole.
func dispatchOf(root *hostlog.Span) *Dispatch {
	var v [4]int64
	for i, key := range []string{"run_id", "dispatch_id", "slot_id", "generation"} {
		value, ok := root.Attr(key)
		if ok {
			v[i], ok = value.Int()
		}
		if !ok {
			return nil
		}
	}
	return &Dispatch{v[0], v[1], v[2], v[3]}
}
