package producer

import "swimlane/internal/abi"

// DepGenConfig is what an orchestrator finds of dep_gen in its kernel arguments,
// and how its writer waits.
type DepGenConfig struct {
	Region     *abi.DepGenRegion
	Space      abi.Space // the device's memory
	RegionAddr uint64    // dep_gen_data_base
	Enable     uint32    // enable_profiling_flag
	Waiting
}

// DepGen records what each task was submitted with (spec/collector.md §10). Nil
// records nothing.
type DepGen struct {
	pool
	cfg      DepGenConfig
	form     *abi.DepGenForm
	region   abi.Mem
	overflow *uint32 // total_overflow_record_count
	out      *port   // nil until the orchestrator's thread is known
	faults   faults  // what happened before
	startup  error
}

// AttachDepGen begins a run: it takes the first buffer. The writer is nil when
// the capture is off: by its bit or, with an error, because the host's numbers
// cannot be. A missing buffer does not keep it off; see [DepGen.Startup].
func AttachDepGen(c DepGenConfig) (*DepGen, error) {
	if c.Enable&abi.EnableDepGen == 0 {
		return nil, nil
	}
	region, err := regionAt(c.Space, c.RegionAddr, c.Region.TotalSize, "the dep_gen region")
	if err != nil {
		return nil, err
	}
	s, shape := abi.View[abi.DepGenState](region, c.Region.State), c.Region.Form.Buffer()
	w := &DepGen{cfg: c, form: c.Region.Form, region: region, overflow: &s.TotalOverflowRecordCount, pool: pool{
		n: new(uint32), total: &s.TotalRecordCount, free: &s.Free, current: &s.CurrentBufPtr, seq: &s.CurrentBufSeq, dropped: &s.DroppedRecordCount,
		space: c.Space, shape: &shape,
	}}
	var f faults
	w.prime(&f)
	w.startup = f.first
	return w, nil
}

// Startup says that the first buffer was missing, nil if not. The capture goes
// on without it.
func (w *DepGen) Startup() error {
	if w == nil {
		return nil
	}
	return w.startup
}

// Announce says which thread runs the orchestrator: its ready queue takes the
// buffers. Submits before it are lost, and counted.
func (w *DepGen) Announce(thread int) {
	if w == nil {
		return
	}
	out := newPort(w.cfg.Waiting, w.region, &w.cfg.Region.QueueHeader, thread)
	out.faults = w.faults
	w.out = &out
}

// Submit is what a task was submitted with.
type Submit struct {
	TaskID        uint64
	ManualScope   bool
	EarlyDispatch bool
	Args          []Arg // at most abi.DepGenMaxTensors
	Deps          []Dep // declared ones
	KernelIDs     [3]int32
	BlockNum      int32 // ≤ 0 is 1
}

// Arg is an argument of a task. The tensor of an output is not recorded: it does
// not exist yet.
type Arg struct {
	Type   abi.ArgType
	Tensor abi.Tensor
}

// Dep is a declared dependency. Kind 0 is the default, to wait and to retain.
type Dep struct {
	Producer uint64
	Kind     abi.DepKind
}

// Submit records a submit, after the task's id was allocated and before the
// tensor map is consulted.
func (w *DepGen) Submit(s *Submit) {
	if w == nil {
		return
	}
	w.submit(s)
}

func (w *DepGen) submit(s *Submit) {
	*w.total++
	if w.out == nil {
		*w.dropped++
		w.faults.add("task %#x was submitted before the orchestrator's thread was announced: expected Announce first; the record is lost", s.TaskID)
		return
	}
	deps := s.Deps
	need := w.form.Slots(len(deps))
	if !w.ready() {
		return
	}
	if *w.n > 0 && int(*w.n)+need > w.shape.Capacity {
		w.switchBuffer(w.out)
		if !w.ready() {
			return
		}
	}
	if room := w.shape.Capacity - int(*w.n); need > room {
		w.out.faults.add("task %#x has %d declared dependencies: expected at most %d, which fit into a buffer; the others are cut off", s.TaskID, len(deps), w.form.Deps(room))
		deps, need = deps[:w.form.Deps(room)], room
	}
	w.writeChain(s, deps, need)
	*w.overflow += uint32(need - 1)
	*w.n += uint32(need)
	*w.active.count = *w.n // one store for the whole chain
}

// ready finds a buffer if there is none. False: the record is lost, and counted.
func (w *DepGen) ready() bool {
	if w.active.addr == 0 && !w.pop(w.out, w.seq.Load()) {
		*w.dropped++
		return false
	}
	return true
}

// writeChain writes the base record and the overflow records behind it.
func (w *DepGen) writeChain(s *Submit, deps []Dep, need int) {
	r := w.form.Record(w.active.mem, int(*w.n))
	args := s.Args
	if len(args) > abi.DepGenMaxTensors {
		w.out.faults.add("task %#x has %d arguments: expected at most %d; the others are cut off", s.TaskID, len(args), abi.DepGenMaxTensors)
		args = args[:abi.DepGenMaxTensors]
	}
	r.TaskID, r.Flags, r.TensorCount = s.TaskID, s.flags(), uint16(len(args))
	for i := range args {
		r.ArgTypes[i] = args[i].Type
		r.Tensors[i] = abi.Tensor{}
		if args[i].Type != abi.ArgOutput {
			r.Tensors[i] = args[i].Tensor
		}
	}
	r.KernelID, r.BlockNum = s.KernelIDs, uint32(max(s.BlockNum, 1))
	if need > 1 {
		r.Flags |= abi.DepGenHasOverflow
	}
	n := writeDeps(r.ExplicitDeps[:], r.Kinds, deps)
	r.ExplicitDepCount = uint16(n)
	for i := 1; i < need; i++ {
		deps = deps[n:]
		o := w.form.Overflow(w.active.mem, int(*w.n)+i)
		n = writeDeps(o.Deps, o.Kinds, deps)
		*o.DepGenOverflowHead = abi.DepGenOverflowHead{TaskID: s.TaskID, Flags: abi.DepGenOverflowed, DepCount: uint16(n)}
		if i == need-1 {
			o.Flags |= abi.DepGenLastOverflow
		}
	}
}

func (s *Submit) flags() (f uint32) {
	if s.ManualScope {
		f |= abi.DepGenManualScope
	}
	if s.EarlyDispatch {
		f |= abi.DepGenEarlyDispatch
	}
	return f
}

// writeDeps writes as many dependencies as fit, and says how many. Kinds is nil
// in the form without.
func writeDeps(to []uint64, kinds []abi.DepKind, deps []Dep) int {
	n := min(len(to), len(deps))
	for i, d := range deps[:n] {
		to[i] = d.Producer
		if kinds == nil {
			continue
		}
		if d.Kind == 0 {
			d.Kind = abi.DepWait | abi.DepRetain
		}
		kinds[i] = d.Kind
	}
	return n
}

// Flush hands over what the buffer holds when orchestration has ended.
func (w *DepGen) Flush() {
	if w == nil || w.out == nil {
		return
	}
	w.flush(w.out)
}

// Stalls are the waits of this writer.
func (w *DepGen) Stalls() Stalls {
	if w == nil || w.out == nil {
		return Stalls{}
	}
	return w.out.stalls
}

// Faults is how many things went wrong that the writer could not mend, and the
// first of them.
func (w *DepGen) Faults() (count uint64, first error) {
	switch {
	case w == nil:
		return 0, nil
	case w.out == nil:
		return w.faults.count, w.faults.first
	}
	return w.out.faults.count, w.out.faults.first
}
