package scene

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"swimlane/internal/collector"
	"swimlane/internal/hostlog"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
	"swimlane/internal/sim/tmr"
)

// host is the simulated host in whose processes cases run. Its clock is virtual, so
// logs hold the same bytes every time, but for the process id and the time of day.
type host struct {
	mu   sync.Mutex
	now  int64 // ns of the monotonic clock
	wall int64 // ns of the wall clock when that is 0
	inv  uint64
	logs map[io.Writer]*hostlog.Log // of runs without a prefix
}

// process is this process as the logs of its runs have it: runs are counted, and
// its clock never goes back.
var process = &host{now: int64(sim.Boot) - 100_000_000, wall: time.Now().UnixNano() - int64(sim.Boot)}

// recordTime is how long the writing of a record to a log takes.
const recordTime = 2500

// Mono is the time, and lets pass what a record takes.
func (h *host) Mono() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now += recordTime
	return h.now
}

// Wall is the time of day.
func (h *host) Wall() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wall + h.now
}

// begin counts a run and tells when it begins: so that the device is switched on when
// the clock says so, if that is still to come.
func (h *host) begin(before int64) (start int64, inv uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = max(h.now, int64(sim.Boot)-before)
	h.inv++
	return h.now, h.inv
}

// until lets time pass.
func (h *host) until(at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = max(h.now, at)
}

// open begins the log of a case: in the directory of its artifacts, or else on a
// writer, nil for the standard error, where all cases of the process have one.
func (h *host) open(prefix string, w io.Writer, threshold hostlog.Level) (*hostlog.Log, error) {
	if w == nil {
		w = os.Stderr
	}
	options := hostlog.Options{Output: w, Clock: h, Thread: func() int64 { return int64(os.Getpid()) }, Threshold: threshold}
	var err error
	var l *hostlog.Log
	switch {
	case prefix != "":
		l = hostlog.New(options)
		err = l.Bind(prefix)
	case !reflect.TypeOf(w).Comparable():
		l = hostlog.New(options)
	default:
		h.mu.Lock()
		if h.logs == nil {
			h.logs = map[io.Writer]*hostlog.Log{}
		}
		if h.logs[w] == nil {
			h.logs[w] = hostlog.New(options)
		}
		l = h.logs[w].At(threshold)
		h.mu.Unlock()
	}
	l.Anchor()
	return l, err
}

// launch is a run of a case as its host sees it.
type launch struct {
	log     hostlog.ChipRun
	chip    *sim.Chip
	clock   *collector.ClockCorrelation // nil: none
	bound   int64                       // the first step of the binding begins
	ready   int64                       // the device is switched on
	collect bool                        // records are collected
}

// step is a part of binding a run, in ns since that began.
type step struct {
	name string
	hostlog.Interval
	attrs []hostlog.Attr
}

// prebuilt is the binding of a run whose graph is built on the device.
func prebuilt(chip *sim.Chip, tensors int) []step {
	args := int64(tensors) * int64(chip.Costs[sim.HostArg].Ns)
	return []step{
		{"args", hostlog.Interval{Start: 0, End: args}, []hostlog.Attr{hostlog.Int("ntensor", tensors)}},
		{"prebuilt", hostlog.Interval{Start: args, End: args + int64(chip.Costs[sim.HostBind].Ns)}, nil},
	}
}

// launch begins a run that is bound in steps. The clocks are compared when runner_run
// begins, or at first.
func (h *host) launch(c *Callable, chip *sim.Chip, steps []step, clock *collector.ClockCorrelation, first bool) *launch {
	l := &launch{chip: chip, clock: clock}
	bound := steps[len(steps)-1].End
	start, inv := h.begin(bound + l.anchors() + l.cost(sim.HostPrepare) + l.cost(sim.HostLaunch))
	from, end := start, start+bound // of the steps, and of the binding
	if first {
		from, end = start+l.anchors(), end+l.anchors()
	}
	l.bound = from
	runner := end + l.cost(sim.HostPrepare)
	anchors := runner
	if first {
		anchors = start
	}
	l.log = hostlog.ChipRun{
		Inv: inv, HID: c.hash(), Identity: &hostlog.Identity{Generation: inv, RunEpoch: inv}, Interval: hostlog.Interval{Start: start},
		Bind: &hostlog.Interval{Start: start, End: end}, RunnerRun: &hostlog.Interval{Start: runner},
	}
	for _, s := range steps {
		l.log.BindSteps = append(l.log.BindSteps, hostlog.BindStep{Name: s.name, Interval: hostlog.Interval{Start: from + s.Start, End: from + s.End}, Attrs: s.attrs})
	}
	l.ready = start + bound + l.anchors() + l.cost(sim.HostPrepare) + l.cost(sim.HostLaunch)
	if clock != nil {
		clock.Open(l.sample(anchors))
	}
	return l
}

func (l *launch) cost(k sim.Cost) int64 { return int64(l.chip.Costs[k].Ns) }

// anchors is how long the samples of both clocks at one end of a run take.
func (l *launch) anchors() int64 {
	if l.clock == nil {
		return 0
	}
	return collector.SamplesPerPosition * l.cost(sim.ClockAnchor)
}

// sample compares the clocks from a time on, one time after the other. The counter
// is that of the chip, which begins with the run.
func (l *launch) sample(from int64) func(*collector.AnchorSample) {
	return func(s *collector.AnchorSample) {
		trip := l.cost(sim.ClockAnchor)
		device := from + trip/2 - l.ready + int64(sim.Boot)
		s.HostBeforeNs, s.HostAfterNs, s.Raw = uint64(from), uint64(from+trip), l.chip.Counter(sim.Time(device))
		from += trip
	}
}

// ended fills in what is known when the device has ended.
func (l *launch) ended(h *host, r *aicpu.Report, phases []hostlog.DevicePhase) {
	end := l.ready + int64(r.Wall.End-r.Wall.Start) + l.cost(sim.HostComplete)
	if l.clock != nil {
		l.clock.Close(l.sample(end))
		end += l.anchors()
	}
	if l.collect {
		end += l.cost(sim.HostCollect)
	}
	l.log.RunnerRun.End = end
	claimed := end + l.cost(sim.HostClaim)
	l.log.ClaimRelease = &hostlog.Interval{Start: end, End: claimed}
	l.log.End = claimed + l.cost(sim.HostValidate)
	l.log.Validate = &hostlog.Interval{Start: claimed, End: l.log.End}
	l.device(r, phases)
	h.until(l.log.End)
}

// failed ends a run whose device has not come to its end: its host has seen that, and
// nothing more.
func (l *launch) failed(h *host) {
	end := l.ready + l.cost(sim.HostComplete)
	l.log.RunnerRun.End, l.log.End = end, end
	h.until(end)
}

// device notes what the device tells of the run, in ticks of its counter.
func (l *launch) device(r *aicpu.Report, phases []hostlog.DevicePhase) {
	if !hostlog.DeviceEnabled(os.Getenv(hostlog.DeviceSwitch)) {
		return
	}
	l.log.Device = &hostlog.DeviceRun{Wall: int64(r.Wall.End - r.Wall.Start), Phases: phases}
	for n, s := range r.Slots {
		if s.Set {
			l.log.Device.Tasks = append(l.log.Device.Tasks, hostlog.TimedTask{Slot: n, Dispatch: tick(l.chip, s.Start), Finish: tick(l.chip, s.End)})
		}
	}
}

// phases are the names that the host's log has for the phases of the device.
var phases = map[tmr.Phase]hostlog.Phase{
	tmr.Preamble: hostlog.Preamble, tmr.GraphBuild: hostlog.GraphBuild, tmr.ConfigValidate: hostlog.ConfigValidate, tmr.ArenaWire: hostlog.ArenaWire,
	tmr.SmReset: hostlog.SmReset, tmr.PostOrch: hostlog.PostOrch, tmr.Orch: hostlog.Orch, tmr.Sched: hostlog.Sched,
}

// tick is a time as the device's counter has it.
func tick(chip *sim.Chip, t sim.Time) int64 { return int64(chip.Duration(chip.Counter(t))) }

// devicePhases are the phases that the device has stamped.
func devicePhases(r *tmr.Report, chip *sim.Chip) (out []hostlog.DevicePhase) {
	for p, s := range r.Phases {
		if s.Set {
			out = append(out, hostlog.DevicePhase{Phase: phases[tmr.Phase(p)], Interval: hostlog.Interval{Start: tick(chip, s.Start), End: tick(chip, s.End)}})
		}
	}
	return out
}

// hash tells callables apart in logs.
func (c *Callable) hash() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q", c.Orchestration.Name)
	for _, k := range c.Incores {
		fmt.Fprintf(h, " %d %q %s", k.FuncID, k.Name, k.Core)
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// deviceLogName is the name of the log of the device, beside that of the host.
func deviceLogName() string { return fmt.Sprintf("device.%d.log", os.Getpid()) }

// deviceLines say what the orchestrator did, in µs and in cycles of the counter.
func deviceLines(inv uint64, thread int, r *tmr.Report, chip *sim.Chip) (lines []string) {
	head := fmt.Sprintf("thread=%d inv=%d", thread, inv)
	µs := func(t sim.Time) float64 { return float64(t) / 1e3 }
	orch := r.Phases[tmr.Orch]
	cost := orch.End - orch.Start
	lines = append(lines, fmt.Sprintf("%s submits=%d tasks=%d", head, r.Submits, r.Tasks))
	for s, total := range r.Steps {
		if total.N > 0 {
			lines = append(lines, fmt.Sprintf("%s step=%v total=%.3fus count=%d mean=%.3fus share=%.1f%%",
				head, tmr.Step(s), µs(total.Time), total.N, µs(total.Time)/float64(total.N), 100*float64(total.Time)/float64(max(cost, 1))))
		}
	}
	return append(lines, fmt.Sprintf("%s orch_start=%d orch_end=%d orch_cost=%.3fus", head, chip.Counter(orch.Start), chip.Counter(orch.End), µs(cost)))
}

// writeDeviceLog adds lines to the log of the device; without a directory they go to
// the host's log.
func writeDeviceLog(prefix string, log *hostlog.Log, lines []string) (path string, err error) {
	if len(lines) == 0 || !log.Enabled(hostlog.Timing) {
		return "", nil
	}
	if prefix == "" {
		for _, line := range lines {
			log.Message(hostlog.Timing, "aicpu_orchestrator", "%s", line)
		}
		return "", nil
	}
	path = filepath.Join(prefix, deviceLogName())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return path, err
	}
	for _, line := range lines {
		if _, werr := fmt.Fprintf(f, "[TIMING] aicpu_orchestrator: %s\n", line); err == nil {
			err = werr
		}
	}
	return path, errors.Join(err, f.Close())
}
