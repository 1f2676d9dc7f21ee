package scene

import (
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// aicores tells whether the AICores schedule what the host has built: on a5, unless
// the case wants AICPU threads.
func (r *runner) aicores() bool { return r.arch == abi.A5 && !r.Case.Config.AicpuSchedulers }

// runAicores runs a graph that the AICores schedule. What they record lies in a block
// of the run, which export makes sections of.
func (r *runner) runAicores(built *hbg.Built, threads int) error {
	level := abi.Level(r.Call.EnableChipSwimlane)
	layout, err := hbg.AicoreLayout(built.Graph, level)
	if err != nil {
		return err
	}
	if r.block, err = collector.NewSchedulerBlock(r.host(), layout); err != nil {
		return err
	}
	var hazards sim.Hazards
	r.seat.boot(r.chip)
	report, err := hbg.RunAicore(hbg.AicoreConfig{
		Chip: r.chip, Threads: threads, Space: r.memory.Space(), State: r.block.Addr(), Level: level, Hazards: &hazards, Progress: r.Progress,
	}, built.Graph)
	if err != nil {
		return err
	}
	report.Submits, report.Tasks = built.Submits, built.Tasks
	r.hazards(&hazards, report.Start)
	return r.done(report, nil, nil)
}
