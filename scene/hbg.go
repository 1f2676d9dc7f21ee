package scene

import (
	"errors"
	"fmt"
	"os"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/depgen"
	"swimlane/internal/hostlog"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
	"swimlane/internal/sim/tmr"
)

// hostPhases are the kinds of host phases by what a host does when it builds a graph.
var hostPhases = [...]collector.HostPhaseKind{
	hbg.Args: collector.HostArgs, hbg.ArenaBuild: collector.HostArenaBuild, hbg.StaticArena: collector.HostStaticArena, hbg.GMHeap: collector.HostGMHeap,
	hbg.RuntimeInit: collector.HostRuntimeInit, hbg.HostOrch: collector.HostOrch, hbg.SubmitTask: collector.HostSubmitTask,
	hbg.AllocTensors: collector.HostAllocTensors, hbg.GraphSubmit: collector.HostGraphSubmit, hbg.RecordNode: collector.HostRecordNode,
	hbg.BuildDefinition: collector.HostBuildDefinition, hbg.GraphUpload: collector.HostGraphUpload, hbg.SharedMem: collector.HostSharedMem,
	hbg.ArenaH2D: collector.HostArenaH2D, hbg.HostViewClose: collector.HostViewClose,
}

// executeBuilt builds the graph on the host, runs it on the chip, and writes what was
// recorded: of a run that failed too, and the task graph as soon as it is built.
func (r *runner) executeBuilt(threads int, heap uint64) error {
	level := abi.Level(r.Call.EnableChipSwimlane)
	var clock *collector.ClockCorrelation
	if level >= abi.OrchPhases || r.Call.CaptureClockAnchors && level > 0 {
		clock = collector.NewClockCorrelation(collector.ProviderSimSyscnt, r.arch)
	}
	o := r.orchestrator()
	r.seat.build(r.chip, clock)
	built, err := hbg.Build(hbg.BuildConfig{
		Chip: r.chip, Tensors: len(r.args), Heap: heap, HeapSize: tmr.Rings * ringHeap, Record: level >= abi.OrchPhases, DepGen: r.Call.EnableDepGen,
	}, func(h *hbg.Host) {
		o.o = h
		r.orchestrate(o)
	})
	if steps := bindSteps(built, len(r.args)); r.seat != nil {
		r.launch = r.seat.launchBuilt(r.chip, steps, clock)
	} else {
		r.launch = process.launch(&r.Scene.Callable, r.chip, steps, clock, true)
	}
	r.launch.collect = r.Call.diagnostics()
	errs := []error{err}
	if level >= abi.OrchPhases {
		errs = append(errs, r.hostPhases(built))
	}
	if err == nil {
		errs = append(errs, r.writeBuilt(built))
	}
	device, failed := r.attach(threads)
	switch errs = append(errs, failed); {
	case err != nil || failed != nil:
	case r.aicores():
		errs = append(errs, r.runAicores(built, threads))
	default:
		errs = append(errs, r.runBuilt(built, threads, device))
	}
	return r.finish(device, errors.Join(errs...))
}

// runBuilt runs a graph that the host has built: by AICPU threads, whatever the platform.
func (r *runner) runBuilt(built *hbg.Built, threads int, device *producer.Device) error {
	var hazards sim.Hazards
	r.seat.boot(r.chip)
	report, err := hbg.Run(hbg.Config{Chip: r.chip, Threads: threads, Space: r.memory.Space(), Device: device, Hazards: &hazards, Progress: r.Progress}, built.Graph)
	if err != nil {
		return err
	}
	report.Submits, report.Tasks = built.Submits, built.Tasks
	r.hazards(&hazards, report.Start)
	return r.done(report, nil, nil)
}

// bindSteps are the parts of the binding, of what was built so far too.
func bindSteps(b *hbg.Built, tensors int) (steps []step) {
	for i := range b.Phases {
		p := &b.Phases[i]
		if !p.Segment() {
			continue
		}
		s := step{hostPhases[p.Kind].String(), hostlog.Interval{Start: int64(p.Start), End: int64(p.End)}, nil}
		if p.Kind == hbg.Args {
			s.attrs = []hostlog.Attr{hostlog.Int("ntensor", tensors)}
		}
		steps = append(steps, s)
	}
	return steps
}

// hostPhases records what the host did, and writes it.
func (r *runner) hostPhases(b *hbg.Built) error {
	pool := collector.NewHostPhasePool()
	pid := os.Getpid()
	for _, p := range b.Phases {
		pool.Add(abi.HostPhase{
			StartNs: uint64(r.launch.bound) + uint64(p.Start), EndNs: uint64(r.launch.bound) + uint64(p.End),
			Payload: p.Detail, Kind: uint32(hostPhases[p.Kind]), Index: p.Index, ThreadID: uint32(pid + p.Worker),
		})
	}
	r.phases = pool.Take(uint64(b.Submits))
	path, err := pool.WriteFile(r.Call.OutputPrefix, pid, r.launch.log.Inv)
	r.result.Phases = path
	return err
}

// writeBuilt writes the task graph.
func (r *runner) writeBuilt(b *hbg.Built) error {
	if !r.Call.EnableDepGen {
		return nil
	}
	graph, err := depgen.WriteBuilt(r.Call.OutputPrefix, b.Recorded())
	if err != nil {
		return fmt.Errorf("the task graph of the host: %w", err)
	}
	r.result.Graph = graph.Path
	return nil
}
