package depgen

import (
	"fmt"
	"iter"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// rings is how many there are; the high half of a task id is one of them.
const rings = 4

// trace are the records of a run, in the order of submits.
type trace struct {
	form    *abi.DepGenForm
	records iter.Seq2[abi.Mem, int]
}

// each reads the submits, and checks every record as it reads. A submit is valid
// until do returns.
func (t *trace) each(do func(*producer.Submit) error) error {
	r := reader{form: t.form, do: do}
	for buffer, slot := range t.records {
		if err := r.next(buffer, slot); err != nil {
			return err
		}
		r.record++
	}
	if r.open {
		return r.broken("the trace ends inside the chain of task %#x: expected overflow records up to one that is marked as the last", r.submit.TaskID)
	}
	return nil
}

// reader puts submits together. Its memory serves all of them.
type reader struct {
	form   *abi.DepGenForm
	do     func(*producer.Submit) error
	submit producer.Submit
	record int     // its number, from 0
	open   bool    // overflow records are to follow
	buffer abi.Mem // that the open chain is in
}

func (r *reader) broken(format string, args ...any) error {
	return fmt.Errorf("%w: record %d: %s; the capture cannot be used, run it again", ErrRecord, r.record, fmt.Sprintf(format, args...))
}

func (r *reader) next(buffer abi.Mem, slot int) error {
	base := r.form.Record(buffer, slot)
	if base.Flags&abi.DepGenOverflowed != 0 {
		return r.overflow(buffer, slot)
	}
	if r.open {
		return r.broken("found task %#x inside the chain of task %#x: expected an overflow record", base.TaskID, r.submit.TaskID)
	}
	if err := r.base(&base); err != nil {
		return err
	}
	if r.open = base.Flags&abi.DepGenHasOverflow != 0; r.open {
		r.buffer = buffer
		return nil
	}
	return r.do(&r.submit)
}

// base begins a submit.
func (r *reader) base(b *abi.DepGenRecord) error {
	const known = abi.DepGenManualScope | abi.DepGenHasOverflow | abi.DepGenEarlyDispatch
	switch {
	case b.TaskID>>32 >= rings:
		return r.broken("found task %#x, of ring %d: expected a ring below %d", b.TaskID, b.TaskID>>32, rings)
	case b.Flags&^known != 0:
		return r.broken("task %#x has the flags %#x: expected none but %#x", b.TaskID, b.Flags, known)
	case int(b.TensorCount) > abi.DepGenMaxTensors:
		return r.broken("task %#x has %d arguments: expected at most %d", b.TaskID, b.TensorCount, abi.DepGenMaxTensors)
	case int(b.ExplicitDepCount) > abi.DepGenInlineDeps:
		return r.broken("task %#x has %d dependencies in its first record: expected at most %d", b.TaskID, b.ExplicitDepCount, abi.DepGenInlineDeps)
	}
	s := &r.submit
	*s = producer.Submit{
		TaskID: b.TaskID, ManualScope: b.Flags&abi.DepGenManualScope != 0, EarlyDispatch: b.Flags&abi.DepGenEarlyDispatch != 0,
		KernelIDs: b.KernelID, BlockNum: max(int32(b.BlockNum), 1), Args: s.Args[:0], Deps: s.Deps[:0],
	}
	for i := range int(b.TensorCount) {
		s.Args = append(s.Args, producer.Arg{Type: b.ArgTypes[i], Tensor: b.Tensors[i]})
		if err := r.argument(i, &s.Args[i]); err != nil {
			return err
		}
	}
	return r.deps(b.ExplicitDeps[:b.ExplicitDepCount], b.Kinds)
}

func (r *reader) argument(slot int, a *producer.Arg) error {
	bad := func(format string, args ...any) error {
		return r.broken("argument %d of task %#x %s", slot, r.submit.TaskID, fmt.Sprintf(format, args...))
	}
	if a.Type > abi.ArgNoDep {
		return bad("has the type %d: expected 0 to %d", a.Type, abi.ArgNoDep)
	}
	if a.Type == abi.ArgOutput {
		return nil // what stands there means nothing
	}
	t := &a.Tensor
	if int64(t.NDims) > int64(len(t.Shapes)) {
		return bad("has %d dimensions: expected at most %d", t.NDims, len(t.Shapes))
	}
	for d := range t.NDims {
		if t.Strides[d] == 0 {
			return bad("has the stride 0 in dimension %d: expected strides above 0", d)
		}
	}
	if t.OwnerTaskID != abi.NoOwner && t.OwnerTaskID>>32 >= rings {
		return bad("belongs to task %#x, of ring %d: expected a ring below %d", t.OwnerTaskID, t.OwnerTaskID>>32, rings)
	}
	return nil
}

// deps adds declared dependencies. Kinds is nil in the form without.
func (r *reader) deps(ids []uint64, kinds []abi.DepKind) error {
	for i, id := range ids {
		d := producer.Dep{Producer: id}
		if kinds != nil {
			d.Kind = kinds[i]
		}
		if unknown := d.Kind &^ (abi.DepWait | abi.DepRetain); unknown != 0 {
			return fmt.Errorf("%w: record %d: task %#x depends on task %#x with the kind %#x: expected no bits but 1 (wait) and 2 (retain); the device's dep_gen may be newer than this program",
				ErrKind, r.record, r.submit.TaskID, id, uint8(d.Kind))
		}
		if id>>32 >= rings {
			return r.broken("task %#x depends on task %#x, of ring %d: expected a ring below %d", r.submit.TaskID, id, id>>32, rings)
		}
		r.submit.Deps = append(r.submit.Deps, d)
	}
	return nil
}

// overflow goes on with a submit.
func (r *reader) overflow(buffer abi.Mem, slot int) error {
	o := r.form.Overflow(buffer, slot)
	switch {
	case !r.open:
		return r.broken("found an overflow record of task %#x behind a record without more to come", o.TaskID)
	case o.TaskID != r.submit.TaskID:
		return r.broken("found an overflow record of task %#x inside the chain of task %#x", o.TaskID, r.submit.TaskID)
	case &buffer[0] != &r.buffer[0]:
		return r.broken("the chain of task %#x goes on in another buffer: expected all of it in one", o.TaskID)
	case o.Flags&^(abi.DepGenOverflowed|abi.DepGenLastOverflow) != 0:
		return r.broken("an overflow record of task %#x has the flags %#x: expected none but %#x", o.TaskID, o.Flags, abi.DepGenOverflowed|abi.DepGenLastOverflow)
	case int(o.DepCount) > r.form.OverflowDeps:
		return r.broken("an overflow record of task %#x has %d dependencies: expected at most %d", o.TaskID, o.DepCount, r.form.OverflowDeps)
	}
	if err := r.deps(o.Deps[:o.DepCount], o.Kinds); err != nil {
		return err
	}
	if r.open = o.Flags&abi.DepGenLastOverflow == 0; r.open {
		return nil
	}
	return r.do(&r.submit)
}
