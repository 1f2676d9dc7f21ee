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

	launchSpan = outerSpan + ".aicpu_launch" // the host started the device
	warmUp     = "chip.prewarm.run"          // root of a run that serves no dispatch
)

// Key names a run of the log.
type Key struct {
	PID int
	Inv uint64
}

// Phase is a phase of a run on the device's own axis, in ns.
type Phase struct{ Start, Dur int64 }

// Launch is the instant at which the host launched the device, as the log has it.
type Launch struct {
	At, Dur int64
	Device  bool // it is said to be on the device's clock
}

// Window is what the log says about a run on a chip (spec/l3.md §7.1, spec/newest.md §10, §11).
type Window struct {
	Key
	Start, Dur int64 // of chip.run.runner_run: host ns
	Wall       int64 // ns that the device took
	Phases     map[string]Phase
	Dispatch   *Dispatch // nil if the log does not name it
	Direct     bool      // it was submitted directly: the log has an identity of zeros, which names nothing
	Launch     *Launch   // nil if the log does not say when that was
	Run        *Phase    // chip.run on the host's clock, nil if it is not in the log
	Epoch      *uint64   // run_epoch: counter of the process; nil if the log does not say
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
		if outer == nil || wall == nil || last[warmUp] != nil {
			continue
		}
		w := Window{Key: Key{v.PID, v.Inv}, Start: outer.TS, Dur: outer.Dur, Wall: wall.Dur, Phases: map[string]Phase{}, spans: v.Spans}
		for name, s := range last {
			if phase, ok := strings.CutPrefix(name, phaseHead); ok && s.Dur > 0 {
				w.Phases[phase] = Phase{s.TS, s.Dur}
			}
		}
		if s := last[launchSpan]; s != nil {
			w.Launch = &Launch{s.TS, s.Dur, s.Device()}
		}
		if root := last[rootSpan]; root != nil {
			w.Dispatch = dispatchOf(root)
			if d := w.Dispatch; d != nil && d.Run == 0 && d.ID == 0 { // spec/newest.md §10.1
				w.Dispatch, w.Direct = nil, true
			}
			w.Run = &Phase{root.TS, root.Dur}
			if v, ok := root.Attr("run_epoch"); ok {
				if n, ok := v.Uint(); ok {
					w.Epoch = &n
				}
			}
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
