package capture

import (
	"cmp"
	"fmt"
	"slices"
)

// Keys are the join keys of a section's rows: core, run and dispatch token
// (spec/records.md §4.4, spec/newest.md §5.3).
type Keys struct {
	Core []int32
	Run  []int32 // nil: all rows belong to one run
	Reg  []uint64
}

// Keys of the kernel rows.
func (t *TaskRows) Keys() Keys { return Keys{t.Core, t.Run, t.Reg} }

// Keys of the scheduler rows.
func (t *SchedRows) Keys() Keys { return Keys{t.Core, t.Run, t.Reg} }

func (k Keys) run(i int32) int32 {
	if k.Run == nil {
		return 0
	}
	return k.Run[i]
}

// Compare orders row i of k and row j of other by core, run and token.
func (k Keys) Compare(i int32, other Keys, j int32) int {
	if c := cmp.Compare(k.Core[i], other.Core[j]); c != 0 {
		return c
	}
	if c := cmp.Compare(k.run(i), other.run(j)); c != 0 {
		return c
	}
	return cmp.Compare(k.Reg[i], other.Reg[j])
}

// Order gives the row numbers in the order of their keys, equal ones in place.
// Rows of one core mostly stand in the order of their tokens, so a counting sort
// by core leaves little to do.
func (k Keys) Order() []int32 {
	n := len(k.Core)
	order := make([]int32, n)
	if n == 0 {
		return order
	}
	if top := slices.Max(k.Core); int(top) < 4*n+1024 {
		start := make([]int32, top+2)
		for _, c := range k.Core {
			start[c+1]++
		}
		for c := range top + 1 {
			start[c+1] += start[c]
		}
		for i, c := range k.Core {
			order[start[c]] = int32(i)
			start[c]++
		}
	} else {
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(k.Core[a], k.Core[b]) })
	}
	for lo := 0; lo < n; {
		hi, sorted := lo+1, true
		for hi < n && k.Core[order[hi]] == k.Core[order[lo]] {
			sorted = sorted && k.Compare(order[hi-1], k, order[hi]) <= 0
			hi++
		}
		if !sorted {
			slices.SortStableFunc(order[lo:hi], func(a, b int32) int { return k.Compare(a, k, b) })
		}
		lo = hi
	}
	return order
}

// firstRepeat returns the first row whose key stood in an earlier row, −1 if none.
func (k Keys) firstRepeat(order []int32) (row, earlier int32) {
	row = -1
	for n := 1; n < len(order); n++ {
		a, b := order[n-1], order[n]
		if k.Compare(a, k, b) != 0 {
			continue
		}
		// The order is stable, so the second row of a group is the first repeat in it.
		if n >= 2 && k.Compare(order[n-2], k, a) == 0 {
			continue
		}
		if row < 0 || b < row {
			row, earlier = b, a
		}
	}
	return row, earlier
}

// keyText writes the key of a row as messages do: with the run where rows name one.
func (d *reader) keyText(k Keys, i int32) string {
	if run := d.out.Runs[k.run(i)]; run.Known {
		return fmt.Sprintf("(%d, %d, %d)", run.Epoch, k.Core[i], k.Reg[i])
	}
	return fmt.Sprintf("(%d, %d)", k.Core[i], k.Reg[i])
}

// keyNames names the parts of a join key in messages.
func (d *reader) keyNames() string {
	if d.out.Runs[len(d.out.Runs)-1].Known {
		return "(run_epoch, core_id, reg_task_id)"
	}
	return "(core_id, reg_task_id)"
}
