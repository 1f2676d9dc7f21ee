package scene

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// Orchestrator is what an orchestration submits tasks to. What a submit refuses
// ends the run with an error.
type Orchestrator struct {
	o        orchestrator
	kernels  map[*Incore]*sim.Kernel
	readOnly map[uint64]bool // addresses of tensors that the orchestration's signature lets be read only
}

// orchestrator is that of a runtime.
type orchestrator interface {
	Submit(*sim.Task) sim.Submitted
	Alloc(...abi.Tensor) sim.Submitted
	Scope(body func())
	ManualScope(body func())
}

// orchestrator is what the scene's orchestration submits to, with its kernels.
func (r *runner) orchestrator() *Orchestrator {
	o := &Orchestrator{kernels: map[*Incore]*sim.Kernel{}, readOnly: map[uint64]bool{}}
	for i, d := range r.Scene.Callable.Orchestration.Signature {
		if d == Reads && i < len(r.args) {
			o.readOnly[r.args[i].t.BufferAddr] = true
		}
	}
	for _, k := range r.Scene.Callable.Incores {
		kind := abi.AIV
		if k.Core == AIC {
			kind = abi.AIC
		}
		o.kernels[k] = &sim.Kernel{ID: k.FuncID, Name: k.Name, Type: kind, Run: r.kernel(k)}
	}
	return o
}

// ID names a submitted task. The zero value names none, and is refused.
type ID struct{ next uint64 } // the id and 1

// Task is what is submitted: kernels of the scene's Incores for the AIC and the two
// AIVs of a cluster. Without any it is a dummy, which only orders others.
type Task struct {
	AIC, AIV0, AIV1 *Incore
	Args            []Arg
	Scalars         []uint64
	After           []ID // declared dependencies: these tasks have completed, and what they made stays until this one has
	Behind          []ID // the same, but what they made need not stay
	Keeps           []ID // what these tasks made stays until this one has completed; nobody waits
	Blocks          int  // runs of the kernels, on as many places; 0 is 1
	// Predicate decides, when the last dependency has finished, whether the task
	// runs; nil: it does.
	Predicate func() bool
	SyncStart bool // all blocks start together
	Early     bool // consumers may be placed on cores before the task has finished
	// Wait is how many cycles of the chip's counter come behind the kernels, for what is
	// done outside of the cores. AICores that schedule themselves refuse it.
	Wait uint64
	Slot *Slot // measured under this task-timing slot; nil: under none
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
	spec := &sim.Task{
		Scalars: t.Scalars, Blocks: t.Blocks, Predicate: t.Predicate, SyncStart: t.SyncStart, Early: t.Early, Wait: t.Wait,
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
	o.check(t.Args)
	spec.Args = specArgs(t.Args)
	for _, d := range []struct {
		ids  []ID
		kind abi.DepKind
	}{{t.After, 0}, {t.Behind, abi.DepWait}, {t.Keeps, abi.DepRetain}} {
		for _, id := range d.ids {
			if id == (ID{}) {
				panic("a declared dependency is the zero ID, which names no task: expected what a submit has returned")
			}
			spec.Deps = append(spec.Deps, producer.Dep{Producer: id.next - 1, Kind: d.kind})
		}
	}
	if t.Slot != nil {
		if *t.Slot < 0 || *t.Slot >= sim.TimingSlots {
			panic(fmt.Sprintf("the task has the timing slot %d: expected 0 to %d", *t.Slot, sim.TimingSlots-1))
		}
		spec.Slot = int(*t.Slot) + 1
	}
	return submitted(o.o.Submit(spec))
}

// check refuses arguments that are none: a tensor to be made that exists, and one to be
// used that nothing has made. Tensors that the orchestration only reads, by its
// signature, are not written.
func (o *Orchestrator) check(args []Arg) {
	for i, a := range args {
		switch made := a.t.t.BufferAddr != 0; {
		case a.t.t.NDims == 0:
			panic(fmt.Sprintf("argument %d is the zero Tensor: expected one of the case or of a submit, or a Shape", i))
		case a.use == abi.ArgOutput && made:
			panic(fmt.Sprintf("argument %d is to be made, and exists already: expected Out(Shape(…)), or Into", i))
		case a.use != abi.ArgOutput && !made:
			panic(fmt.Sprintf("argument %d is a Shape, and no task has made it: expected Out, or what a submit has returned", i))
		case o.readOnly[a.t.t.BufferAddr] && (a.use == abi.ArgInOut || a.use == abi.ArgOutputExisting):
			panic(fmt.Sprintf("argument %d writes a tensor of the case that is %s in the orchestration's signature", i, Reads))
		}
	}
}

func specArgs(args []Arg) (out []sim.Arg) {
	for _, a := range args {
		out = append(out, sim.Arg{Type: a.use, Tensor: a.t.t})
	}
	return out
}

// Graph is a part of an orchestration that is a task to all others, for the runtime
// host_build_graph. Run is called when the graph is submitted for the first time, or
// with arguments of other shapes, and what it submits is recorded; after that the
// same is done with other tensors, so it must depend on nothing but shapes. What it
// submits reads and writes its arguments and what it makes itself; a predicate can look
// at tensors of the case only.
type Graph struct {
	Run func(o *Orchestrator, args []Tensor)
}

// Graph submits a graph. The tensors are its arguments, outputs with their storage.
func (o *Orchestrator) Graph(g *Graph, args ...Arg) (ID, []Tensor) {
	h, ok := o.o.(*hbg.Host)
	if !ok {
		panic("the runtime " + TensormapAndRingbuffer + " has no graphs: expected " + HostBuildGraph)
	}
	o.check(args)
	return submitted(h.Graph(g, specArgs(args), func(params []abi.Tensor) {
		g.Run(o, tensors(params))
	}))
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

func submitted(s sim.Submitted) (ID, []Tensor) {
	return ID{s.ID + 1}, tensors(s.Args)
}

func tensors(list []abi.Tensor) (out []Tensor) {
	for _, t := range list {
		out = append(out, Tensor{t: t})
	}
	return out
}

// Scope runs a part of the orchestration in a scope of its own: the storage of
// outputs that were made there is free again when the scope has ended and all
// their consumers have.
func (o *Orchestrator) Scope(body func()) { o.o.Scope(body) }

// ManualScope is a scope in which tasks depend on what they declare and on nothing
// else.
func (o *Orchestrator) ManualScope(body func()) { o.o.ManualScope(body) }
