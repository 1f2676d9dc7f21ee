package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ByCore orders row numbers by core and token. Rows of one core mostly stand in
// the order of their tokens, so a counting sort by core leaves little to do.
func ByCore(core []int32, reg []uint64) []int32 {
	n := len(core)
	order := make([]int32, n)
	if n == 0 {
		return order
	}
	if top := slices.Max(core); int(top) < 4*n+1024 {
		start := make([]int32, top+2)
		for _, c := range core {
			start[c+1]++
		}
		for c := range top + 1 {
			start[c+1] += start[c]
		}
		for i, c := range core {
			order[start[c]] = int32(i)
			start[c]++
		}
	} else {
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(core[a], core[b]) })
	}
	for lo := 0; lo < n; {
		hi, sorted := lo+1, true
		for hi < n && core[order[hi]] == core[order[lo]] {
			sorted = sorted && reg[order[hi-1]] <= reg[order[hi]]
			hi++
		}
		if !sorted {
			slices.SortStableFunc(order[lo:hi], func(a, b int32) int { return cmp.Compare(reg[a], reg[b]) })
		}
		lo = hi
	}
	return order
}

// firstRepeat returns the first row whose key stood in an earlier row, −1 if none.
func firstRepeat(order, core []int32, reg []uint64) (row, earlier int32) {
	row = -1
	for k := 1; k < len(order); k++ {
		a, b := order[k-1], order[k]
		// The order is stable, so the second row of a group is the first repeat in it.
		if core[a] == core[b] && reg[a] == reg[b] && (k < 2 || core[order[k-2]] != core[a] || reg[order[k-2]] != reg[a]) {
			if row < 0 || b < row {
				row, earlier = b, a
			}
		}
	}
	return row, earlier
}

// Key is the join key of a row (spec/records.md §4.4).
type Key struct {
	Core int32
	Reg  uint64
}

func (k Key) String() string { return fmt.Sprintf("(%d, %d)", k.Core, k.Reg) }

// checkRows runs the checks of kernel and scheduler rows that need all rows:
// repeated keys, timing, and that every kernel row has a scheduler row.
func (d *reader) checkRows() {
	t, q := &d.out.Tasks, &d.out.Sched
	taskOrder := ByCore(t.Core, t.Reg)
	if row, earlier := firstRepeat(taskOrder, t.Core, t.Reg); row >= 0 {
		if e := d.errs[stepTasks]; e == nil || e.Row >= 0 && int(row) < e.Row {
			d.errs[stepTasks] = &Error{File: d.file, Section: "aicore_tasks", Row: int(row), Class: ErrInvalid,
				Text:  fmt.Sprintf("duplicate aicore_tasks join key: %s", Key{t.Core[row], t.Reg[row]}),
				Found: fmt.Sprintf("rows %d (task %d) and %d (task %d), expected one row for each (core_id, reg_task_id)", earlier, t.Task[earlier], row, t.Task[row])}
		}
	}
	schedOrder := ByCore(q.Core, q.Reg)
	d.errs[stepSchedRows] = d.schedRange
	if row, earlier := firstRepeat(schedOrder, q.Core, q.Reg); row >= 0 {
		d.bad(stepSchedRows, "scheduler_tasks", int(row), fmt.Sprintf("rows %d and %d with %s", earlier, row, Key{q.Core[row], q.Reg[row]}),
			"scheduler_tasks contains duplicate (core_id, reg_task_id) join keys")
	}
	for i := range q.Core {
		if a, b := q.Dispatch[i], q.Finish[i]; a == 0 || a > b {
			found := fmt.Sprintf("dispatch_cycles %d, finish_cycles %d", a, b)
			if d.schedSigned.found != "" && d.schedSigned.row == i {
				found = d.schedSigned.found
			}
			d.bad(stepSchedRows, "scheduler_tasks", i, found,
				"scheduler_tasks.records[%d] has invalid timing: expected 0 < dispatch_cycles <= finish_cycles", i)
			break
		}
	}
	if d.out.Level >= 2 {
		d.checkComplete(taskOrder, schedOrder)
	}
}

// checkComplete demands a scheduler row for every kernel row, unless the file says that records were lost.
func (d *reader) checkComplete(taskOrder, schedOrder []int32) {
	t, q := &d.out.Tasks, &d.out.Sched
	missing := 0
	var shown []string
	k := 0
	for _, i := range taskOrder {
		c, reg := t.Core[i], t.Reg[i]
		for k < len(schedOrder) && (q.Core[schedOrder[k]] < c || q.Core[schedOrder[k]] == c && q.Reg[schedOrder[k]] < reg) {
			k++
		}
		if k < len(schedOrder) && q.Core[schedOrder[k]] == c && q.Reg[schedOrder[k]] == reg {
			continue
		}
		missing++
		if len(shown) < 3 {
			shown = append(shown, Key{c, reg}.String())
		}
	}
	if missing == 0 {
		return
	}
	if d.sumLoss(); d.out.Loss.Declared {
		d.warn("kernel-rows-without-scheduler", int64(missing),
			"%d kernel row(s) have no Scheduler task timing: the capture lost records; they are drawn without dispatch and finish", missing)
		return
	}
	d.bad(stepComplete, "aicore_tasks", -1, fmt.Sprintf("%d of %d rows without a partner", missing, t.Len()),
		"level %d requires Scheduler task timing for every AICore task; missing %d join key(s): %s", d.out.Level, missing, strings.Join(shown, ", "))
	d.errs[stepComplete].Hint = "the file declares no loss, so its sections do not belong together or were cut; capture again"
}
