package scene

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// Orchestrator is what an orchestration submits tasks to. What a submit refuses
// ends the run with an error.
type Orchestrator struct {
	o       *tmr.Orchestrator
	kernels map[*Incore]*sim.Kernel
}

// ID names a submitted task.
type ID struct{ id uint64 }

// Task is what is submitted: kernels of the scene's Incores for the AIC and the two
// AIVs of a cluster. Without any it is a dummy, which only orders others.
type Task struct {
	AIC, AIV0, AIV1 *Incore
	Args            []Arg
	Scalars         []uint64
	After           []ID // declared dependencies
	Blocks          int  // runs of the kernels, on as many places; 0 is 1
	// Predicate decides, when the last dependency has finished, whether the task
	// runs; nil: it does.
	Predicate func() bool
	SyncStart bool  // all blocks start together
	Early     bool  // consumers may be placed on cores before the task has finished
	Slot      *Slot // measured under this task-timing slot; nil: under none
}

// Slot is a task-timing slot, 0 to 15.
type Slot int

// Arg is an argument of a task.
type Arg struct {
	use abi.ArgType
	t   Tensor
}

// In is an argument that the task reads.
func In(t Tensor) Arg { return Arg{abi.ArgInput, t} }

// Out is a tensor that the task makes; see [Shape].
func Out(t Tensor) Arg { return Arg{abi.ArgOutput, t} }

// InOut is an argument that the task reads and writes.
func InOut(t Tensor) Arg { return Arg{abi.ArgInOut, t} }

// Into is an argument that the task writes and does not read.
func Into(t Tensor) Arg { return Arg{abi.ArgOutputExisting, t} }

// NoDep is an argument whose use makes no dependency but on the task that made it.
func NoDep(t Tensor) Arg { return Arg{abi.ArgNoDep, t} }

// Submit submits a task. The tensors are its arguments, outputs with their storage.
func (o *Orchestrator) Submit(t Task) (ID, []Tensor) {
	if t.Blocks < 0 {
		panic(fmt.Sprintf("a task has %d blocks: expected 1 or more, or 0 for 1", t.Blocks))
	}
	spec := &tmr.Task{
		Scalars: t.Scalars, Blocks: t.Blocks, Predicate: t.Predicate, SyncStart: t.SyncStart, Early: t.Early,
	}
	for lane, k := range []*Incore{t.AIC, t.AIV0, t.AIV1} {
		if k == nil {
			continue
		}
		kernel := o.kernels[k]
		if kernel == nil {
			panic(fmt.Sprintf("the task uses the kernel %q, which is no incore of the scene", k.Name))
		}
		if err := signed(k.Signature, t.Args); err != nil {
			panic(fmt.Sprintf("the task of the kernel %q %v", k.Name, err))
		}
		spec.Kernels[lane] = kernel
	}
	for _, a := range t.Args {
		spec.Args = append(spec.Args, tmr.Arg{Type: a.use, Tensor: a.t.t})
	}
	for _, d := range t.After {
		spec.Deps = append(spec.Deps, producer.Dep{Producer: d.id})
	}
	if t.Slot != nil {
		if *t.Slot < 0 || *t.Slot >= tmr.TimingSlots {
			panic(fmt.Sprintf("the task has the timing slot %d: expected 0 to %d", *t.Slot, tmr.TimingSlots-1))
		}
		spec.Slot = int(*t.Slot) + 1
	}
	return submitted(o.o.Submit(spec))
}

// signed compares arguments with a signature.
func signed(want []Direction, args []Arg) error {
	if want == nil {
		return nil
	}
	if len(args) != len(want) {
		return fmt.Errorf("has %d arguments: expected the %d of its signature", len(args), len(want))
	}
	for i, a := range args {
		is := Reads
		switch a.use {
		case abi.ArgOutput, abi.ArgOutputExisting:
			is = Writes
		case abi.ArgInOut:
			is = ReadWrites
		}
		if is != want[i] {
			return fmt.Errorf("has an argument %d that is %s: expected %s, as its signature has", i, is, want[i])
		}
	}
	return nil
}

// Alloc makes tensors that no task computes.
func (o *Orchestrator) Alloc(shapes ...Tensor) (ID, []Tensor) {
	var list []abi.Tensor
	for _, s := range shapes {
		list = append(list, s.t)
	}
	return submitted(o.o.Alloc(list...))
}

func submitted(s tmr.Submitted) (ID, []Tensor) {
	var out []Tensor
	for _, t := range s.Args {
		out = append(out, Tensor{t: t})
	}
	return ID{s.ID}, out
}

// Scope runs a part of the orchestration in a scope of its own: the storage of
// outputs that were made there is free again when the scope has ended and all
// their consumers have.
func (o *Orchestrator) Scope(body func()) { o.o.Scope(body) }

// ManualScope is a scope in which tasks depend on what they declare and on nothing
// else.
func (o *Orchestrator) ManualScope(body func()) { o.o.ManualScope(body) }
