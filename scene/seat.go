package scene

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"swimlane/internal/collector"
	"swimlane/internal/hostlog"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// seat is a chip worker's place during one dispatch: its clock is the real one, and
// the chip's counter runs on it. A nil seat is no place in a node.
type seat struct {
	clock  hostlog.Clock
	root   string // case root, "" if nothing is written
	run    hostlog.ChipRun
	built  int64 // when the building of a graph on the host began, ns of the clock
	booted int64 // when the device began
}

// newSeat begins a run of the chip.
func newSeat(clock hostlog.Clock, root, digest string, inv uint64, o *order) *seat {
	return &seat{clock: clock, root: root, run: hostlog.ChipRun{
		TID: int64(os.Getpid()), Inv: inv, HID: hashOf(digest),
		Identity: &hostlog.Identity{RunID: o.RunID, DispatchID: o.DispatchID, SlotID: o.Slot, Generation: o.Generation, RunEpoch: inv},
		Interval: hostlog.Interval{Start: clock.Mono()},
	}}
}

// bound notes how long it took to bring the arguments, and all else, to the chip.
func (s *seat) bound(arguments hostlog.Interval, tensors int) {
	end := s.clock.Mono()
	s.run.Bind = &hostlog.Interval{Start: s.run.Start, End: end}
	s.run.BindSteps = []hostlog.BindStep{
		{Name: "args", Interval: arguments, Attrs: []hostlog.Attr{hostlog.Int("ntensor", tensors)}},
		{Name: "prebuilt", Interval: hostlog.Interval{Start: arguments.End, End: end}},
	}
}

// bootID is the identity of the host's clock, "" where that is virtual.
func (s *seat) bootID() string {
	if s == nil {
		return ""
	}
	return collector.ReadBootID(collector.BootIDPath)
}

// launch begins chip.run.runner_run.
func (s *seat) launch(chip *sim.Chip, clock *collector.ClockCorrelation) *launch {
	s.run.RunnerRun = &hostlog.Interval{Start: s.clock.Mono()}
	l := &launch{log: s.run, chip: chip, clock: clock}
	if clock != nil {
		clock.Open(s.sample(chip))
	}
	return l
}

// build begins the building of a graph on the host: the clocks are compared before it
// (spec/collector.md §7.5).
func (s *seat) build(chip *sim.Chip, clock *collector.ClockCorrelation) {
	if s == nil {
		return
	}
	if clock != nil {
		clock.Open(s.sample(chip))
	}
	s.built = s.clock.Mono()
}

// launchBuilt begins chip.run.runner_run for a graph that was built on the host, in steps
// that the model has: they must have passed on the real clock.
func (s *seat) launchBuilt(chip *sim.Chip, steps []step, clock *collector.ClockCorrelation) *launch {
	end := s.built
	s.run.BindSteps = nil
	for _, x := range steps {
		i := hostlog.Interval{Start: s.built + x.Start, End: s.built + x.End}
		s.run.BindSteps = append(s.run.BindSteps, hostlog.BindStep{Name: x.name, Interval: i, Attrs: x.attrs})
		end = max(end, i.End)
	}
	_ = s.wait(end) // the device says so too
	s.run.Bind.End = s.clock.Mono()
	s.run.RunnerRun = &hostlog.Interval{Start: s.run.Bind.End}
	return &launch{log: s.run, chip: chip, clock: clock, bound: s.built}
}

// wait lets real time pass until an instant. It fails when the run is to end before.
func (s *seat) wait(until int64) error {
	for now := s.clock.Mono(); now < until; now = s.clock.Mono() {
		if sim.Interrupted() {
			return sim.ErrInterrupted
		}
		time.Sleep(min(time.Duration(until-now), 50*time.Millisecond))
	}
	return nil
}

// sample compares the clocks: the counter is a function of the host's.
func (s *seat) sample(chip *sim.Chip) func(*collector.AnchorSample) {
	return func(a *collector.AnchorSample) {
		a.HostBeforeNs = uint64(s.clock.Mono())
		a.Raw = chip.Cycles(sim.Time(s.clock.Mono()))
		a.HostAfterNs = uint64(s.clock.Mono())
	}
}

// boot lets the device begin now.
func (s *seat) boot(chip *sim.Chip) {
	if s != nil {
		s.booted = chip.BootAt(s.clock.Mono())
	}
}

// ended waits until the device has ended on the host's clock too: its wall must lie
// inside chip.run.runner_run (spec/l3.md §1).
func (s *seat) ended(l *launch, r *aicpu.Report, phases []hostlog.DevicePhase) error {
	if err := s.wait(s.booted + int64(r.Wall.End-r.Wall.Start)); err != nil {
		return err
	}
	if l.clock != nil {
		l.clock.Close(s.sample(l.chip))
	}
	l.device(r, phases)
	return nil
}

// collected ends chip.run.runner_run: what the device recorded has been written.
func (s *seat) collected(l *launch) {
	end := s.clock.Mono()
	l.log.RunnerRun.End = end
	l.log.ClaimRelease = &hostlog.Interval{Start: end, End: s.clock.Mono()}
}

// validated ends the run: the results have been taken from the chip.
func (s *seat) validated(l *launch) {
	l.log.Validate = &hostlog.Interval{Start: l.log.ClaimRelease.End, End: s.clock.Mono()}
	l.log.End = s.clock.Mono()
}

// writeSidecar says beside a capture which dispatch it is of (spec/l3.md §2.1).
func writeSidecar(dir string, rank, index int, o *order, digest string) error {
	text := fmt.Sprintf(`{
  "schema_version": 1,
  "run_id": %d,
  "task_slot": %d,
  "group_index": %d,
  "group_size": %d,
  "host_pid": %d,
  "chip_rank": %d,
  "local_capture_index": %d,
  "endpoint_dispatch_id": %d,
  "pipeline_slot": %d,
  "pipeline_generation": %d,
  "callable_digest": "%s"
}
`, o.RunID, o.TaskSlot, o.GroupIndex, o.GroupSize, os.Getpid(), rank, index, o.DispatchID, o.Slot, o.Generation, digest)
	return writeWhole(filepath.Join(dir, sidecarName), []byte(text))
}
