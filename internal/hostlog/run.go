package hostlog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Names of the spans of a chip's run.
const (
	ChipRunName      = "chip.run"
	BindName         = "chip.run.bind"
	RunnerRunName    = "chip.run.runner_run"
	ClaimReleaseName = "chip.run.claim_release"
	ValidateName     = "chip.run.validate"
	DeviceWallName   = "chip.run.runner_run.device_wall"
)

// TaskSlots is how many task-timing slots a run has.
const TaskSlots = 16

// DeviceSwitch is the environment variable that turns the spans of the device off.
const DeviceSwitch = "SIMPLER_DEVICE_STRACE_ENABLE"

// DeviceEnabled tells what a value of DeviceSwitch means, "" for unset: only 0 is off.
func DeviceEnabled(value string) bool { return value != "0" }

// Interval is from one instant to a later one, in ns.
type Interval struct{ Start, End int64 }

// Identity says which dispatch a run served.
type Identity struct {
	RunID      uint64 // of the parent scheduler, 0 on a run that was submitted directly
	DispatchID uint64 // counter of the worker, 0 on such a run
	SlotID     uint64 // slot of the pipeline,
	Generation uint64 // and how often it was leased
	RunEpoch   uint64 // counter of the process, never 0
}

// BindStep is a part of what precedes a run: args, prebuilt, host_orch, …
type BindStep struct {
	Name string // last word
	Interval
	Attrs []Attr
}

// ChipRun is one run of a chip as its process sees it (spec/host-log.md §4.2). A
// span that is nil did not happen. Host times are of the host's monotonic clock.
type ChipRun struct {
	TID      int64 // 0: the calling thread
	Inv      uint64
	HID      string
	Identity *Identity // nil: the run names none
	Interval

	Bind         *Interval
	BindSteps    []BindStep // in the order in which they ended
	RunnerRun    *Interval
	ClaimRelease *Interval
	Validate     *Interval
	Device       *DeviceRun // nil: no spans of the device
}

// DeviceRun is what the device noted during a run, in ns: who converts its cycles
// does it with timeline.Clock. All instants are on one axis of the device, whose
// zero does not matter.
type DeviceRun struct {
	Wall   int64         // the whole time on the device
	Phases []DevicePhase // as stamped by the threads, in any order
	Tasks  []TimedTask   // of the tasks that were tagged with a slot, in any order
}

// DevicePhase is what one thread stamped of a phase.
type DevicePhase struct {
	Phase Phase
	Interval
}

// TimedTask is when a part of a tagged task was dispatched, and seen to finish.
type TimedTask struct {
	Slot             int // 0 to 15
	Dispatch, Finish int64
}

// Phase is a phase of the device.
type Phase uint8

// The phases, in the order in which they are written.
const (
	Preamble Phase = iota
	SoLoad
	GraphBuild
	ConfigValidate
	ArenaWire
	SmReset
	PostOrch
	Orch
	Sched
	phases
)

var phaseNames = [phases]string{
	"preamble", "so_load", "graph_build", "config_validate", "arena_wire", "sm_reset", "post_orch", "orch", "sched",
}

func (p Phase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase %d", uint8(p))
}

// ChipRun writes the spans of a run: those of the host in the order in which they
// ended, then those of the device, which the host has read back only now, the root
// last. A run that cannot be (a phase or a slot that does not exist, an interval
// that ends before it begins) is an error, and nothing of it is written.
func (l *Log) ChipRun(r *ChipRun) error {
	entries, err := r.entries()
	if err != nil {
		return fmt.Errorf("run %d of the chip cannot be logged: %w", r.Inv, err)
	}
	for _, e := range entries {
		l.Span(e)
	}
	return nil
}

func (r *ChipRun) entries() ([]Entry, error) {
	var out []Entry
	add := func(depth int, name string, i Interval, attrs []Attr) error {
		if i.Start < 0 || i.End < i.Start {
			return fmt.Errorf("%s is from %d to %d ns, expected an end at or after the start, and both from 0", name, i.Start, i.End)
		}
		out = append(out, Entry{TID: r.TID, Inv: r.Inv, HID: r.HID, Depth: depth, Name: name, TS: i.Start, Dur: i.End - i.Start, Attrs: attrs})
		return nil
	}
	for _, s := range r.BindSteps {
		if err := add(2, BindName+"."+s.Name, s.Interval, s.Attrs); err != nil {
			return nil, err
		}
	}
	steps := len(out)
	for _, s := range []struct {
		name string
		*Interval
	}{{BindName, r.Bind}, {RunnerRunName, r.RunnerRun}, {ClaimReleaseName, r.ClaimRelease}, {ValidateName, r.Validate}} {
		if s.Interval == nil {
			continue
		}
		if err := add(1, s.name, *s.Interval, nil); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out[steps:], func(a, b Entry) int { return cmp.Compare(a.TS+a.Dur, b.TS+b.Dur) })
	if r.Device != nil {
		if err := r.Device.entries(add); err != nil {
			return nil, err
		}
	}
	var attrs []Attr
	if id := r.Identity; id != nil {
		attrs = []Attr{
			Int("run_id", id.RunID), Int("dispatch_id", id.DispatchID), Int("slot_id", id.SlotID),
			Int("generation", id.Generation), Int("run_epoch", id.RunEpoch),
		}
	}
	err := add(0, ChipRunName, r.Interval, attrs)
	return out, err
}

// window is the union of what several threads stamped.
type window struct {
	Interval
	stamped bool
}

func (w *window) join(start, end int64) {
	if !w.stamped {
		*w = window{Interval{start, end}, true}
		return
	}
	w.Start, w.End = min(w.Start, start), max(w.End, end)
}

// entries adds the spans of the device. Their zero is the earliest start of a
// phase; where none was stamped, that of a tagged task.
func (d *DeviceRun) entries(add func(int, string, Interval, []Attr) error) error {
	var stamps [phases]window
	var tasks [TaskSlots]window
	var phase, task window
	for _, p := range d.Phases {
		if p.Phase >= phases {
			return fmt.Errorf("%v of the device, expected one of the %d that there are", p.Phase, phases)
		}
		stamps[p.Phase].join(p.Start, p.End)
		phase.join(p.Start, p.End)
	}
	for _, t := range d.Tasks {
		if t.Slot < 0 || t.Slot >= TaskSlots {
			return fmt.Errorf("task-timing slot %d, expected 0 to %d", t.Slot, TaskSlots-1)
		}
		tasks[t.Slot].join(t.Dispatch, t.Finish)
		task.join(t.Dispatch, t.Finish)
	}
	zero := phase.Start
	if !phase.stamped {
		zero = task.Start
	}
	attrs := []Attr{{"clk", "dev"}}
	if err := add(2, DeviceWallName, Interval{0, d.Wall}, attrs); err != nil {
		return err
	}
	for p, w := range stamps {
		if w.Start == w.End {
			continue
		}
		if err := add(3, DeviceWallName+"."+phaseNames[p], Interval{w.Start - zero, w.End - zero}, attrs); err != nil {
			return err
		}
	}
	for n, w := range tasks {
		if w.End <= w.Start {
			continue // it was not seen to finish
		}
		if err := add(3, DeviceWallName+".task_slot_"+strconv.Itoa(n), Interval{w.Start - zero, w.End - zero}, attrs); err != nil {
			return err
		}
	}
	return nil
}
