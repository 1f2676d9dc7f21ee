package sim

import (
	"cmp"
	"fmt"
	"slices"

	"swimlane/internal/abi"
)

// Hazards finds tasks whose order matters and which nothing has ordered: they use
// the same elements, one of them writes, and in the model's time the later submitted
// one began before the other was over. What kernels compute does not show that, as
// they compute at once; on a chip it would. The zero value is ready for use; a nil
// one finds nothing.
type Hazards struct {
	Found int    // pairs of tasks
	First []Race // the first of them

	tasks   map[int]*pending // by order, until they have run
	buffers map[uint64]*uses // by address
	ran     []*pending       // have run, and may not be over
	pairs   []pair           // found just now
}

type pair struct{ earlier, later *use }

// Race is a pair of tasks that nothing has ordered.
type Race struct{ Earlier, Later Ran }

// Ran is one of the two.
type Ran struct {
	Task       uint64
	Kernel     string // "" if it has not run yet
	Arg        int
	Write      bool
	Start, End Time
}

// keptRaces is how many are told one by one.
const keptRaces = 8

// pending is a submitted task.
type pending struct {
	order      int
	task       uint64
	kernel     string
	left       int // subtasks that have not run
	start, end Time
	uses       []use
	told       map[int]bool // pairs that were found, by the order of the earlier one
}

// over tells whether the task was over at a time.
func (p *pending) over(at Time) bool { return p.left == 0 && p.end <= at }

// use is what a task does with a tensor.
type use struct {
	by     *pending
	arg    int
	write  bool
	tensor abi.Tensor
	of     *region
}

// uses are those of a buffer, by the part that is used.
type uses struct {
	regions map[regionKey]*region
	writers int // in all of them
}

type regionKey struct {
	start, extent   uint64
	shapes, strides [5]uint32
}

type region struct {
	key     regionKey
	tensor  abi.Tensor
	writers []*use
	readers []*use
}

// Submit says that a task of so many subtasks was submitted. Orders are those of
// submits: 0, 1, 2, …
func (h *Hazards) Submit(order int, task uint64, subtasks int, args []Arg, tensors []abi.Tensor) {
	if h == nil || subtasks == 0 {
		return
	}
	if h.tasks == nil {
		h.tasks, h.buffers = map[int]*pending{}, map[uint64]*uses{}
	}
	p := &pending{order: order, task: task, left: subtasks}
	h.tasks[order] = p
	for i := range tensors {
		if args[i].Type == abi.ArgNoDep {
			continue
		}
		p.uses = append(p.uses, use{by: p, arg: i, write: args[i].Type != abi.ArgInput, tensor: tensors[i]})
	}
	for i := range p.uses {
		h.add(&p.uses[i])
	}
}

// add keeps a use for comparison with those of later tasks.
func (h *Hazards) add(u *use) {
	t := &u.tensor
	b := h.buffers[t.BufferAddr]
	if b == nil {
		b = &uses{regions: map[regionKey]*region{}}
		h.buffers[t.BufferAddr] = b
	}
	key := regionKey{t.StartOffset, t.Extent, t.Shapes, t.Strides}
	r := b.regions[key]
	if r == nil {
		r = &region{key: key, tensor: *t}
		b.regions[key] = r
	}
	u.of = r
	if u.write {
		b.writers++
		r.writers = append(r.writers, u)
	} else {
		r.readers = append(r.readers, u)
	}
}

// forget drops the uses of a task that is over.
func (h *Hazards) forget(p *pending) {
	for i := range p.uses {
		u := &p.uses[i]
		b, r := h.buffers[u.tensor.BufferAddr], u.of
		drop := func(v *use) bool { return v == u }
		if u.write {
			b.writers--
			r.writers = slices.DeleteFunc(r.writers, drop)
		} else {
			r.readers = slices.DeleteFunc(r.readers, drop)
		}
		if len(r.writers)+len(r.readers) > 0 {
			continue
		}
		if delete(b.regions, r.key); len(b.regions) == 0 {
			delete(h.buffers, u.tensor.BufferAddr)
		}
	}
}

// Ran says that a subtask of a task runs from a time to another. Nothing will be
// said to start before now.
func (h *Hazards) Ran(order int, kernel string, start, end, now Time) {
	if h == nil {
		return
	}
	p := h.tasks[order]
	if p == nil {
		return
	}
	if p.kernel == "" {
		p.kernel, p.start = kernel, start
	}
	p.start, p.end = min(p.start, start), max(p.end, end)
	p.left--
	for i := range p.uses {
		u := &p.uses[i]
		b := h.buffers[u.tensor.BufferAddr]
		if b.writers == 0 {
			continue
		}
		for _, r := range b.regions {
			if r != u.of && !overlap(&r.tensor, &u.tensor) {
				continue
			}
			h.compare(r.writers, u, start)
			if u.write {
				h.compare(r.readers, u, start)
			}
		}
	}
	h.tell()
	if p.left == 0 {
		delete(h.tasks, order)
		h.ran = append(h.ran, p)
	}
	n := 0
	for n < len(h.ran) && h.ran[n].over(now) {
		h.forget(h.ran[n])
		n++
	}
	h.ran = h.ran[:copy(h.ran, h.ran[n:])]
}

// compare looks for earlier tasks with conflicting uses that are not over when one
// starts.
func (h *Hazards) compare(list []*use, u *use, start Time) {
	for _, v := range list {
		if v.by.order < u.by.order && !v.by.over(start) {
			h.pairs = append(h.pairs, pair{v, u})
		}
	}
}

// tell counts what was found just now, each pair of tasks once, in the order of the
// earlier ones.
func (h *Hazards) tell() {
	slices.SortFunc(h.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.earlier.by.order, b.earlier.by.order), cmp.Compare(a.later.arg, b.later.arg), cmp.Compare(a.earlier.arg, b.earlier.arg))
	})
	for _, p := range h.pairs {
		told := p.later.by.told
		if told[p.earlier.by.order] {
			continue
		}
		if told == nil {
			told = map[int]bool{}
			p.later.by.told = told
		}
		told[p.earlier.by.order] = true
		if h.Found++; len(h.First) < keptRaces {
			h.First = append(h.First, Race{p.earlier.ran(), p.later.ran()})
		}
	}
	clear(h.pairs)
	h.pairs = h.pairs[:0]
}

// Skip says that a task will not run.
func (h *Hazards) Skip(order int) {
	if h == nil {
		return
	}
	if p := h.tasks[order]; p != nil && p.kernel == "" {
		delete(h.tasks, order)
		h.forget(p)
	}
}

func (u *use) ran() Ran {
	return Ran{Task: u.by.task, Kernel: u.by.kernel, Arg: u.arg, Write: u.write, Start: u.by.start, End: u.by.end}
}

// overlap tells whether two tensors of a buffer share elements for certain: parts of
// one tensor by their place in it, all others if both are without gaps.
func overlap(a, b *abi.Tensor) bool {
	if a.StartOffset+a.Extent <= b.StartOffset || b.StartOffset+b.Extent <= a.StartOffset {
		return false
	}
	if a.IsContiguous != 0 && b.IsContiguous != 0 {
		return true
	}
	n := int(a.NDims)
	if b.NDims != a.NDims || a.Strides != b.Strides {
		return false // who knows
	}
	offA, offB := a.StartOffset, b.StartOffset
	for i := range n {
		stride := uint64(max(a.Strides[i], 1))
		atA, atB := offA/stride, offB/stride
		offA, offB = offA%stride, offB%stride
		if atA+uint64(a.Shapes[i]) <= atB || atB+uint64(b.Shapes[i]) <= atA {
			return false
		}
	}
	return true
}

// String says what happened, with times from a begin on.
func (r *Race) String(begin Time) string {
	did := func(write bool) string {
		if write {
			return "writes"
		}
		return "reads"
	}
	e, l := &r.Earlier, &r.Later
	earlier := fmt.Sprintf("task %s, submitted before it, %s the same as its argument %d and has not run yet", TaskName(e.Task), did(e.Write), e.Arg)
	if e.Kernel != "" {
		earlier = fmt.Sprintf("task %s (%s), submitted before it, %s the same as its argument %d from %.2f to %.2f µs",
			TaskName(e.Task), e.Kernel, did(e.Write), e.Arg, µs(e.Start-begin), µs(e.End-begin))
	}
	return fmt.Sprintf("task %s (%s) %s its argument %d from %.2f to %.2f µs, and %s",
		TaskName(l.Task), l.Kernel, did(l.Write), l.Arg, µs(l.Start-begin), µs(l.End-begin), earlier)
}

func µs(t Time) float64 { return float64(t) / 1e3 }

// TaskName is a task's id as traces have it.
func TaskName(id uint64) string {
	if id>>32 == 0 {
		return fmt.Sprintf("t%d", uint32(id))
	}
	return fmt.Sprintf("r%dt%d", id>>32, uint32(id))
}
