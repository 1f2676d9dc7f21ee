package hbg

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// aicoreBlock is the scheduler-state block of a run in the chip's memory
// (spec/device-abi.md §9).
type aicoreBlock struct {
	layout   *abi.SchedulerState
	mem      abi.Mem
	control  *abi.RunControl
	contexts []abi.WorkerContext
	controls []abi.TaskControl
	traces   []abi.TaskTrace
}

// openAicoreBlock finds the block, and gives it the values that are not 0.
func openAicoreBlock(c *AicoreConfig, g *Graph) (*aicoreBlock, error) {
	layout, err := AicoreLayout(g, c.Level)
	if err != nil {
		return nil, err
	}
	if c.State%abi.SchedulerStateAlign != 0 {
		return nil, fmt.Errorf("the scheduler state cannot begin at address %#x: expected a multiple of %d", c.State, abi.SchedulerStateAlign)
	}
	mem, err := c.Space.At(c.State, int(layout.Size))
	if err != nil {
		return nil, fmt.Errorf("the scheduler state: %w", err)
	}
	layout.Init(mem)
	return &aicoreBlock{
		layout: layout, mem: mem,
		control:  abi.View[abi.RunControl](mem, layout.Of(abi.RunControls, 0)),
		contexts: elements[abi.WorkerContext](layout, mem, abi.WorkerContexts),
		controls: elements[abi.TaskControl](layout, mem, abi.TaskControls),
		traces:   elements[abi.TaskTrace](layout, mem, abi.TaskTraces),
	}, nil
}

// elements are all of an array of the block.
func elements[T any](s *abi.SchedulerState, mem abi.Mem, array abi.SchedulerArray) []T {
	return abi.Views[T](mem, s.Arrays[array].Offset, s.Arrays[array].Count)
}

// slot is a dispatch slot of a worker.
func (b *aicoreBlock) slot(worker, pending int) *abi.DispatchSlot {
	return abi.View[abi.DispatchSlot](b.mem, b.layout.Of(abi.DispatchSlots, worker*abi.PendingSlots+pending))
}

// physicalCore is the number of a core on the whole chip: AICs first, then the AIVs
// of each cluster, as abi.CoreTypes has them for all clusters.
func physicalCore(c *sim.Core, clusters int) int32 {
	if c.Type == abi.AIC {
		return int32(c.Index)
	}
	return int32(abi.A5.MaxClusters + c.Index - clusters)
}

// load writes what the host tells the device: the graph, and who is who.
func (r *aicoreRun) load() {
	chip, clusters := r.Chip, r.Chip.Clusters()
	metadata := elements[abi.TaskMetadata](r.layout, r.mem, abi.TaskMetadatas)
	for _, t := range r.tasks {
		metadata[t.index] = t.metadata()
		if t.of.Alloc {
			c := &r.controls[t.index]
			c.State, c.WakeListHead = abi.TaskDone, abi.WakeListClosed
			continue
		}
		if !t.inline {
			r.Hazards.Submit(t.order, uint64(t.index), t.of.Form.Subtasks, t.of.Spec.Args, t.of.Args)
		}
		r.control.ExpectedTaskCount++
		if metadata[t.index].ActiveMask&uint8(sim.LaneAIC) != 0 {
			r.control.AicTaskCount++
		}
		if metadata[t.index].ActiveMask&^uint8(sim.LaneAIC) != 0 {
			r.control.AivTaskCount++
		}
	}
	r.control.ActiveWorkerCount, r.control.SchedulerCount = uint64(len(chip.Cores)), uint64(clusters)
	r.control.ChipSwimlaneLevel = uint64(r.Level)
	offset := func(a abi.SchedulerArray) uint64 { return r.layout.Arrays[a].Offset }
	for i, core := range chip.Cores {
		cores := chip.Cluster(core.Cluster)
		w := &r.contexts[i]
		w.CoreType, w.PhysicalCoreID, w.Active, w.WorkerIndex = core.Type, physicalCore(core, clusters), 1, uint64(i)
		w.TypeRank = int32(i)
		if core.Type == abi.AIV {
			w.TypeRank -= int32(clusters)
		}
		w.RunControlOffset, w.TaskControlsOffset, w.TraceCellsOffset = offset(abi.RunControls), offset(abi.TaskControls), offset(abi.TaskTraces)
		w.AicpuLifecycleTracesOffset, w.WorkerContextsOffset = offset(abi.LifecycleTraces), offset(abi.WorkerContexts)
		if r.Level >= abi.SchedPhases {
			w.ActivityBuffersOffset = offset(abi.ActivityBuffers)
		}
		w.SchedulerStateBaseAddress, w.GraphTaskCount = r.State, uint64(len(r.tasks))
		w.SchedulerCount, w.ClusterCount, w.ClusterIndex = uint64(clusters), uint64(clusters), uint64(core.Cluster)
		w.SchedulerWorkerID = uint64(cores[schedulerLane].Index)
		for k, c := range cores {
			w.ClusterWorkerIDs[k] = uint64(c.Index)
		}
		if core == cores[schedulerLane] {
			w.IsScheduler, w.SchedulerIndex = 1, uint64(core.Cluster)
		}
	}
}
