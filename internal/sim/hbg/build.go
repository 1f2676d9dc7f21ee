package hbg

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
)

// BuildConfig is what a host builds a graph with.
type BuildConfig struct {
	Chip     *sim.Chip
	Tensors  int    // of the run, which the host binds
	Heap     uint64 // address of the memory for outputs,
	HeapSize uint64 // and its bytes
	Record   bool   // host phases are recorded, which takes time
	DepGen   bool   // and so does dep_gen
}

// Built is what the host has built, and what it did for that.
type Built struct {
	Graph   *Graph
	Submits int     // allocs and graph tasks included
	Tasks   int     // without allocs
	Phases  []Phase // by start
	End     sim.Time
}

// PhaseKind is what a host does in a phase of building (spec/collector.md §7.4).
type PhaseKind uint8

// The kinds, in the order in which the host comes to them.
const (
	Args PhaseKind = iota
	ArenaBuild
	StaticArena
	GMHeap
	RuntimeInit
	HostOrch
	SubmitTask
	AllocTensors
	GraphSubmit
	RecordNode
	BuildDefinition
	GraphUpload
	SharedMem
	ArenaH2D
	HostViewClose
)

// Phase is something that the host did while it built a graph.
type Phase struct {
	Kind       PhaseKind
	Start, End sim.Time // since the host began to bind the run
	Detail     uint64   // a submit's task; a node's graph task and its number in it, added; of a definition its nodes; bytes
	Index      uint32   // of a submit
	Worker     int      // the thread that records a graph, from 1; 0: the one that orchestrates
}

// Segment tells whether the phase is a part of the binding by itself, one behind the
// other, and not inside of the orchestration.
func (p *Phase) Segment() bool { return p.Kind < SubmitTask || p.Kind > BuildDefinition }

// Host is the orchestrator. Its methods are called by the orchestration only.
type Host struct {
	c       BuildConfig
	now     sim.Time // of the thread that does what is done
	ended   sim.Time // when the last recording ends
	workers int
	heap    uint64 // bytes in use
	out     *Built
	run     space // of the tasks of the run
	at      *space
	graphs  map[any]map[string]*definition
	nodes   []int // of each definition
	submit  producer.Submit
}

// space is what submits go into: the graph of the run, or a graph that is recorded.
type space struct {
	high   uint64 // half of its ids
	outer  uint32 // of a recording: the graph task that it is for
	worker int
	tasks  []*Task
	writes *fanin.Map
	manual []bool // of the scopes
	heap   uint64 // of a recording: bytes of outputs
}

// entries is what the tensor map of a host may hold: nothing retires before the run.
const entries = 1 << 24

// outputAlign is how outputs are packed (spec/collector.md §12.1).
const outputAlign = 1024

// refusal ends an orchestration.
type refusal struct{ error }

func fail(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// Build runs an orchestration on the host. What was built so far is returned with
// an error too.
func Build(c BuildConfig, orchestrate func(*Host)) (b *Built, err error) {
	b = &Built{Graph: &Graph{}}
	h := &Host{c: c, out: b, run: space{high: Global}, graphs: map[any]map[string]*definition{}}
	h.at = &h.run
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = r.error
		case sim.Failure:
			err = errors.New(string(r))
		default:
			err = fmt.Errorf("orchestrator: panic: %v\n%s", r, debug.Stack())
		}
		b.Graph.Tasks, b.End = h.run.tasks, h.now
		slices.SortStableFunc(b.Phases, func(x, y Phase) int { return cmp.Compare(x.Start, y.Start) })
	}()
	if h.run.writes, err = fanin.New(fanin.Options{Entries: entries}); err != nil {
		return b, err
	}
	h.segment(Args, 0, sim.Time(c.Tensors)*h.cost(sim.HostArg))
	h.segment(ArenaBuild, 0, h.cost(sim.HostArenaBuild))
	h.segment(StaticArena, 0, h.cost(sim.HostStaticArena))
	h.segment(GMHeap, 0, h.cost(sim.HostHeap))
	h.segment(RuntimeInit, 0, h.cost(sim.HostInit))
	start := h.now
	h.Scope(func() { orchestrate(h) })
	h.now = max(h.now, h.ended)
	h.phase(Phase{Kind: HostOrch, Start: start, End: h.now})
	graphs, image, arena := h.sizes()
	h.segment(GraphUpload, graphs, h.upload(graphs))
	h.segment(SharedMem, image, h.lines(image, sim.HostImageLine))
	h.segment(ArenaH2D, arena, h.upload(arena))
	h.segment(HostViewClose, 0, h.cost(sim.HostViewClose))
	return b, nil
}

func (h *Host) cost(k sim.Cost) sim.Time { return h.c.Chip.Costs[k].Ns }

func (h *Host) spend(k sim.Cost) { h.now += h.cost(k) }

// lines is how long something takes that costs so much for each 64 bytes.
func (h *Host) lines(bytes uint64, k sim.Cost) sim.Time { return sim.Time((bytes+63)/64) * h.cost(k) }

func (h *Host) upload(bytes uint64) sim.Time {
	return h.cost(sim.HostUpload) + h.lines(bytes, sim.HostUploadLine)
}

// segment is a part of the binding.
func (h *Host) segment(k PhaseKind, detail uint64, d sim.Time) {
	start := h.now
	h.now += d
	h.phase(Phase{Kind: k, Start: start, End: h.now, Detail: detail})
}

// phase records a phase.
func (h *Host) phase(p Phase) {
	h.out.Phases = append(h.out.Phases, p)
	if h.c.Record {
		h.spend(sim.HostRecord)
	}
}

// Sizes of what is copied to the device, in bytes. Those of real runs are like them.
const (
	imageHead, imageTask, imageArg, imageScalars = 192, 384, 128, 64
	arenaHead, arenaGraph, arenaNode             = 704, 144, 48
	graphHead, graphNode                         = 36, 404
)

// sizes are how many bytes the definitions of graphs, the image of the shared memory
// and the arena around it have.
func (h *Host) sizes() (graphs, image, arena uint64) {
	for _, n := range h.nodes {
		graphs += graphHead + uint64(n)*graphNode
	}
	image = imageHead
	arena = arenaHead
	for _, t := range h.run.tasks {
		image += imageTask
		if t.Nodes != nil {
			arena += arenaGraph + uint64(len(t.Nodes))*arenaNode
			continue
		}
		image += uint64(len(t.Args))*imageArg + uint64(len(t.Spec.Scalars)+7)/8*imageScalars
	}
	return graphs, image, image + arena
}

// Scope runs a part of the orchestration in a scope. A host keeps everything until
// the run has ended, so a scope only hides the manual one around it.
func (h *Host) Scope(body func()) { h.scope(false, body) }

// ManualScope is a scope in which tasks depend on what they declare and on nothing
// else.
func (h *Host) ManualScope(body func()) { h.scope(true, body) }

func (h *Host) scope(manual bool, body func()) {
	at := h.at
	h.spend(sim.HostScope)
	at.manual = append(at.manual, manual)
	body()
	h.spend(sim.HostScope)
	at.manual = at.manual[:len(at.manual)-1]
}

// Submit submits a task, or records it as a node of a graph. Its outputs are
// arguments of the task that it returns.
func (h *Host) Submit(spec *sim.Task) sim.Submitted {
	start := h.now
	f, err := spec.Form(h.c.Chip.Clusters())
	if err != nil {
		panic(refusal{err})
	}
	t := &Task{Spec: spec, Form: f}
	h.begin(t, spec.Args)
	h.wire(t)
	h.end(SubmitTask, start, t)
	return sim.Submitted{ID: t.ID, Args: t.Args}
}

// Alloc makes tensors that no task computes.
func (h *Host) Alloc(tensors ...abi.Tensor) sim.Submitted {
	start := h.now
	args := make([]sim.Arg, len(tensors))
	for i := range tensors {
		args[i] = sim.Arg{Type: abi.ArgOutput, Tensor: tensors[i]}
	}
	t := &Task{Spec: &sim.Task{}, Form: sim.Form{Shape: sim.ShapeDummy, Blocks: 1}, Alloc: true}
	h.begin(t, args)
	h.end(AllocTensors, start, t)
	return sim.Submitted{ID: t.ID, Args: t.Args}
}

// begin gives a task its id and its outputs their memory.
func (h *Host) begin(t *Task, args []sim.Arg) {
	at := h.at
	h.spend(sim.HostSubmit)
	if at.high == InGraph && len(at.tasks) == maxNodes {
		fail("a graph has more than %d nodes: expected at most so many", maxNodes)
	}
	t.ID = abi.TaskID(uint32(at.high), uint32(len(at.tasks)))
	t.Manual = at.manual[len(at.manual)-1]
	at.tasks = append(at.tasks, t)
	t.Args = make([]abi.Tensor, len(args))
	for i := range args {
		h.spend(sim.HostSubmitArg)
		t.Args[i] = args[i].Tensor
		if args[i].Type == abi.ArgOutput {
			t.Args[i].BufferAddr, t.Args[i].OwnerTaskID = h.take(args[i].Tensor.BufferSize), t.ID
		} else if at.high == InGraph && t.Args[i].BufferAddr < paramBase {
			fail("argument %d of a node of a graph is neither one of the graph nor made in it: give it to the graph as an argument", i)
		}
	}
}

// take is memory for an output.
func (h *Host) take(n uint64) (addr uint64) {
	n = (n + outputAlign - 1) / outputAlign * outputAlign
	if at := h.at; at.high == InGraph {
		addr = madeBase + at.heap
		at.heap += n
		return addr
	}
	if n > h.c.HeapSize-h.heap {
		fail("the heap is full: outputs take %d bytes and %d more, expected at most %d in all, as none is free again before the run has ended", h.heap, n, h.c.HeapSize)
	}
	addr = h.c.Heap + h.heap
	h.heap += n
	return addr
}

// wire finds the producers of a task.
func (h *Host) wire(t *Task) {
	at, s := h.at, &h.submit
	for _, d := range t.Spec.Deps {
		if d.Producer>>32 != at.high || d.Producer&0xFFFF_FFFF >= uint64(len(at.tasks))-1 {
			fail("task %#x declares that it depends on task %#x: expected a task that was submitted before it, and in a graph a node of it", t.ID, d.Producer)
		}
	}
	t.fill(s)
	if h.c.DepGen && at.high == Global {
		h.now += h.cost(sim.DepGenSubmit) + sim.Time(len(s.Args))*h.cost(sim.DepGenArg)
	}
	deps := at.writes.Resolve(s, func(*fanin.Row) { h.spend(sim.HostEntry) })
	for _, d := range deps {
		h.spend(sim.HostEdge)
		i := int(uint32(d.Producer))
		if d.Kind&abi.DepWait != 0 && !at.tasks[i].Alloc && at.tasks[i] != t {
			t.Producers = append(t.Producers, i)
		}
	}
	slices.Sort(t.Producers)
	if err := at.writes.Register(s); err != nil {
		if errors.Is(err, fanin.ErrFull) {
			err = fmt.Errorf("%w: it holds %d slices, and none retires before the run", err, entries)
		}
		panic(refusal{err})
	}
}

// fill describes a task as dep_gen does.
func (t *Task) fill(s *producer.Submit) {
	*s = producer.Submit{
		TaskID: t.ID, ManualScope: t.Manual, Args: s.Args[:0], EarlyDispatch: t.Spec.Early, Deps: t.Spec.Deps, KernelIDs: sim.KernelIDs(t.Form.Kernels), BlockNum: int32(t.Form.Blocks),
	}
	for i := range t.Args {
		s.Args = append(s.Args, producer.Arg{Type: t.Spec.Args[i].Type, Tensor: t.Args[i]})
	}
}

// end records a submit, or a node.
func (h *Host) end(k PhaseKind, start sim.Time, t *Task) {
	at := h.at
	if at.high == InGraph {
		h.spend(sim.HostRecordNode)
		h.phase(Phase{Kind: RecordNode, Start: start, End: h.now, Detail: uint64(at.outer) + uint64(len(at.tasks)-1), Worker: at.worker})
		return
	}
	h.phase(Phase{Kind: k, Start: start, End: h.now, Detail: t.ID, Index: uint32(h.out.Submits)})
	h.out.Submits++
	if !t.Alloc {
		h.out.Tasks++
	}
}

// Recorded are the submits as dep_gen has them, in their order: without allocs, and
// of graph tasks without their nodes. One is good until the next.
func (b *Built) Recorded() iter.Seq[*producer.Submit] {
	return func(yield func(*producer.Submit) bool) {
		var s producer.Submit
		for _, t := range b.Graph.Tasks {
			if t.Alloc {
				continue
			}
			t.fill(&s)
			if !yield(&s) {
				return
			}
		}
	}
}
