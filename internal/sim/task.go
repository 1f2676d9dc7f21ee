package sim

import (
	"fmt"
	"strings"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// Task is what an orchestration submits, to whatever runtime.
type Task struct {
	Kernels [abi.CoresPerCluster]*Kernel // on the AIC and the AIVs of a cluster; none at all: a dummy
	Args    []Arg
	Scalars []uint64
	Deps    []producer.Dep // declared ones
	Blocks  int            // ≤ 0 is 1
	// Predicate decides, when the last dependency has finished, whether the task
	// runs; nil: it does.
	Predicate func() bool
	// SyncStart: all blocks start together. There must be room for them on the chip.
	SyncStart bool
	// Early: consumers may be placed on cores before the task has finished, as soon
	// as all of it has been dispatched.
	Early bool
	Wait  uint64 // cycles that it takes beside its kernels, until something outside the cores is done
	Slot  int    // task-timing slot + 1; 0: none
}

// Arg is an argument of a task. An output has the shape and type of the tensor
// that the task makes; its address is chosen at submit.
type Arg struct {
	Type   abi.ArgType
	Tensor abi.Tensor
}

// Submitted is a task after its submit.
type Submitted struct {
	ID   uint64
	Args []abi.Tensor // with the addresses of outputs
}

// TimingSlots is how many task-timing slots there are (spec/host-log.md §4.5).
const TimingSlots = 16

// ShapeDummy is the shape of a task without kernels, beside those of abi.
const ShapeDummy = abi.QueueShapes

// Lanes are cores of a cluster, a bit each: the AIC, then the two AIVs. They are
// the active mask of a task too (spec/collector.md §12.1).
type Lanes uint8

// The lanes.
const (
	LaneAIC Lanes = 1 << iota
	LaneAIV0
	LaneAIV1
)

// Form is what a task looks like to a scheduler.
type Form struct {
	Kernels          [abi.CoresPerCluster]*Kernel
	Lanes            Lanes // those with kernels
	Shape            int   // of abi, or ShapeDummy
	Blocks, Subtasks int
}

// Sync tells whether all blocks of a task must start together.
func (t *Task) Sync() bool {
	return t.SyncStart && t.Blocks > 1 && t.Kernels != [abi.CoresPerCluster]*Kernel{}
}

// Form checks a task for a chip of so many clusters.
func (t *Task) Form(clusters int) (Form, error) {
	f := Form{Kernels: t.Kernels, Blocks: max(t.Blocks, 1)}
	if f.Kernels[0] == nil && f.Kernels[1] == nil { // a lone AIV1 is an AIV0
		f.Kernels[1], f.Kernels[2] = f.Kernels[2], nil
	}
	used := 0
	for lane, k := range f.Kernels {
		if k == nil {
			continue
		}
		used++
		f.Lanes |= 1 << lane
		if (k.Type == abi.AIC) != (lane == 0) {
			return f, fmt.Errorf("kernel %s for an %v is on lane %d of a task: expected an AIC on lane 0, AIVs on lanes 1 and 2", k.Name, k.Type, lane)
		}
	}
	switch {
	case used == 0:
		f.Shape = ShapeDummy
	case used > 1:
		f.Shape = abi.ShapeMIX
	case f.Kernels[0] != nil:
		f.Shape = abi.ShapeAIC
	default:
		f.Shape = abi.ShapeAIV
	}
	f.Subtasks = used * f.Blocks
	if t.Sync() {
		room := clusters
		if f.Shape == abi.ShapeAIV {
			room = 2 * clusters
		}
		if f.Blocks > room {
			return f, fmt.Errorf("a task of %d blocks that start together does not fit: expected at most %d on %d clusters (%s)", f.Blocks, room, clusters, f.names())
		}
	}
	if len(t.Args) > abi.DepGenMaxTensors {
		return f, fmt.Errorf("a task has %d tensors: expected at most %d (%s)", len(t.Args), abi.DepGenMaxTensors, f.names())
	}
	if used == 0 && t.Wait > 0 {
		return f, fmt.Errorf("a task without kernels waits for %d cycles: expected a kernel, or no wait", t.Wait)
	}
	if t.Slot < 0 || t.Slot > TimingSlots {
		return f, fmt.Errorf("a task has the timing slot %d: expected 0 to %d", t.Slot-1, TimingSlots-1)
	}
	return f, nil
}

// names are those of the kernels.
func (f *Form) names() string {
	var names []string
	for _, k := range f.Kernels {
		if k != nil {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, " + ")
}

// KernelIDs are the ids of kernels as a graph shows them, -1 for none.
func KernelIDs(kernels [abi.CoresPerCluster]*Kernel) (ids [abi.CoresPerCluster]int32) {
	for i, k := range kernels {
		ids[i] = -1
		if k != nil {
			ids[i] = k.ID
		}
	}
	return ids
}
