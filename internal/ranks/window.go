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

// sighting is a window while the spans of its run come by. Of several spans of a name the
// last counts (spec/l3.md §7.1).
type sighting struct {
	Window
	outer, wall, warm bool // spans of these names were there
}

// tells says whether spans of that name tell something about a window.
func tells(name string) bool {
	switch name {
	case outerSpan, wallSpan, launchSpan, rootSpan, warmUp:
		return true
	}
	return strings.HasPrefix(name, phaseHead)
}

func (w *sighting) take(s *hostlog.Span) {
	switch s.Name {
	case outerSpan:
		w.Start, w.Dur, w.outer = s.TS, s.Dur, true
	case wallSpan:
		w.Wall, w.wall = s.Dur, true
	case launchSpan:
		w.Launch = &Launch{s.TS, s.Dur, s.Device()}
	case warmUp:
		w.warm = true
	case rootSpan:
		w.takeRoot(s)
	default:
		phase, ok := strings.CutPrefix(s.Name, phaseHead)
		if !ok {
			return
		}
		if s.Dur <= 0 {
			delete(w.Phases, phase)
			return
		}
		if w.Phases == nil {
			w.Phases = map[string]Phase{}
		}
		w.Phases[phase] = Phase{s.TS, s.Dur}
	}
}

// takeRoot takes what chip.run says.
func (w *sighting) takeRoot(root *hostlog.Span) {
	w.Run, w.Dispatch, w.Direct, w.Epoch = &Phase{root.TS, root.Dur}, dispatchOf(root), false, nil
	if d := w.Dispatch; d != nil && d.Run == 0 && d.ID == 0 { // spec/newest.md §10.1
		w.Dispatch, w.Direct = nil, true
	}
	if v, ok := root.Attr("run_epoch"); ok {
		if n, ok := v.Uint(); ok {
			w.Epoch = &n
		}
	}
}

// brackets reports whether device work can be placed in the run.
func (w *sighting) brackets() bool { return w.outer && w.wall && !w.warm }

// Windows finds the runs that device work can be placed in, by pid and invocation.
func Windows(spans []hostlog.Span) ([]Window, error) {
	var out []Window
	for _, v := range hostlog.Group(spans) {
		w := sighting{Window: Window{Key: Key{v.PID, v.Inv}, spans: v.Spans}}
		for _, s := range v.Spans {
			w.take(s)
		}
		if w.brackets() {
			out = append(out, w.Window)
		}
	}
	return out, orNone(out)
}

// orNone says that there are no windows if there are none.
func orNone(windows []Window) error {
	if len(windows) == 0 {
		return errors.New("the Host logs hold no chip.run.runner_run / chip.run.runner_run.device_wall pair; nothing brackets the device work")
	}
	return nil
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
