package sim

import (
	"fmt"
	"slices"

	"swimlane/internal/abi"
)

// Hazards finds tasks whose order matters and which nothing has ordered: they use
// the same elements, one of them writes, and in the model's time the later submitted
// one began before the other was over. What kernels compute does not show that, as
// they compute at once; on a chip it would. The zero value is ready for use.
type Hazards struct {
	Found int    // pairs of tasks
	First []Race // the first of them

	buffers map[uint64][]use // by address
	tasks   map[int]*stretch // by order: those that may still conflict
	started int              // all tasks before it in the order of submits have begun, or will never
	skipped map[int]bool     // those behind it that never will
}

// Race is a pair of tasks that nothing has ordered.
type Race struct{ Earlier, Later Ran }

// Ran is one of the two.
type Ran struct {
	Task       uint64
	Kernel     string
	Arg        int
	Write      bool
	Start, End Time
}

// keptRaces is how many are told one by one.
const keptRaces = 8

// stretch is when a task ran: from the start of its first subtask to the end of the
// last one so far.
type stretch struct {
	order      int
	task       uint64
	kernel     string
	start, end Time
	told       map[int]bool // pairs that were found, by the order of the other
}

// use is what a task did with a tensor.
type use struct {
	by     *stretch
	arg    int
	write  bool
	tensor abi.Tensor
}

// Ran says that a subtask of a task ran. Orders are those of submits: 0, 1, 2, …
func (h *Hazards) Ran(order int, task uint64, kernel string, args []Arg, tensors []abi.Tensor, start, end Time) {
	if h == nil {
		return
	}
	if h.tasks == nil {
		h.buffers, h.tasks, h.skipped = map[uint64][]use{}, map[int]*stretch{}, map[int]bool{}
	}
	s := h.tasks[order]
	if s == nil {
		s = &stretch{order: order, task: task, kernel: kernel, start: start, end: end}
		h.tasks[order] = s
	}
	s.start, s.end = min(s.start, start), max(s.end, end)
	for i := range tensors {
		u := use{by: s, arg: i, tensor: tensors[i]}
		switch args[i].Type {
		case abi.ArgNoDep:
			continue
		case abi.ArgOutput, abi.ArgOutputExisting, abi.ArgInOut:
			u.write = true
		}
		h.add(u)
	}
	h.skip(order)
}

// Skip says that a task will not run.
func (h *Hazards) Skip(order int) {
	if h == nil {
		return
	}
	if h.tasks == nil {
		h.buffers, h.tasks, h.skipped = map[uint64][]use{}, map[int]*stretch{}, map[int]bool{}
	}
	h.skip(order)
}

// skip notes that a task has begun, or never will.
func (h *Hazards) skip(order int) {
	h.skipped[order] = true
	for h.skipped[h.started] {
		delete(h.skipped, h.started)
		h.started++
	}
}

// add compares a use with those that were before, and keeps it.
func (h *Hazards) add(u use) {
	list := h.buffers[u.tensor.BufferAddr]
	known := false
	for _, v := range list {
		if v.by == u.by {
			known = known || v.arg == u.arg
			continue
		}
		earlier, later := v, u
		if u.by.order < v.by.order {
			earlier, later = u, v
		}
		if (u.write || v.write) && later.by.start < earlier.by.end && overlap(&u.tensor, &v.tensor) {
			h.found(earlier, later)
		}
	}
	// What was over before all that can still come began is no danger any more.
	if len(list) >= 16 {
		list = slices.DeleteFunc(list, func(v use) bool { return v.by.order < h.started && v.by.end <= u.by.start && v.by != u.by })
	}
	if !known {
		list = append(list, u)
	}
	h.buffers[u.tensor.BufferAddr] = list
	if len(h.tasks) >= 4096 && h.tasks[h.started-4096] != nil {
		for order, s := range h.tasks {
			if order < h.started-2048 && s != u.by {
				delete(h.tasks, order)
			}
		}
	}
}

func (h *Hazards) found(earlier, later use) {
	if later.by.told[earlier.by.order] {
		return
	}
	if later.by.told == nil {
		later.by.told = map[int]bool{}
	}
	later.by.told[earlier.by.order] = true
	if h.Found++; len(h.First) < keptRaces {
		h.First = append(h.First, Race{earlier.ran(), later.ran()})
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
	return fmt.Sprintf("task %s (%s) %s its argument %d from %.2f to %.2f µs, and task %s (%s), submitted before it, %s the same as its argument %d from %.2f to %.2f µs",
		TaskName(l.Task), l.Kernel, did(l.Write), l.Arg, µs(l.Start-begin), µs(l.End-begin),
		TaskName(e.Task), e.Kernel, did(e.Write), e.Arg, µs(e.Start-begin), µs(e.End-begin))
}

func µs(t Time) float64 { return float64(t) / 1e3 }

// TaskName is a task's id as traces have it.
func TaskName(id uint64) string {
	if id>>32 == 0 {
		return fmt.Sprintf("t%d", uint32(id))
	}
	return fmt.Sprintf("r%dt%d", id>>32, uint32(id))
}
