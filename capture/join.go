package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// checkRows runs the checks of kernel and scheduler rows that need all rows:
// ids, repeated keys, timing, and that every kernel row has a scheduler row.
func (d *reader) checkRows() {
	t, q := &d.out.Tasks, &d.out.Sched
	d.checkIDs()
	taskOrder := t.Keys().Order()
	if row, earlier := t.Keys().firstRepeat(taskOrder); row >= 0 {
		d.badTaskRow(row, fmt.Sprintf("rows %d (task %d) and %d (task %d), expected one row for each %s",
			d.kernelRow(earlier), t.Task[earlier], d.kernelRow(row), t.Task[row], d.keyNames()),
			"duplicate aicore_tasks join key: %s", d.keyText(t.Keys(), row))
		d.countRepeats(stepTasks, t.Keys(), taskOrder, d.kernelRow)
	}
	schedOrder := q.Keys().Order()
	d.errs[stepSchedRows] = d.schedRange
	of := "" // the section, where the words of the format name the other one
	if d.keys["aicpu_tasks"] {
		of = " of aicpu_tasks"
	}
	if row, earlier := q.Keys().firstRepeat(schedOrder); row >= 0 {
		d.bad(stepSchedRows, "scheduler_tasks", d.schedRow(row), fmt.Sprintf("rows %d and %d%s with %s", d.schedRow(earlier), d.schedRow(row), of, d.keyText(q.Keys(), row)),
			"scheduler_tasks contains duplicate %s join keys", d.keyNames())
		d.countRepeats(stepSchedRows, q.Keys(), schedOrder, d.schedRow)
	}
	for i := range q.Core {
		if a, b := q.Dispatch[i], q.Finish[i]; a == 0 || a > b {
			found := fmt.Sprintf("dispatch_cycles %d, finish_cycles %d", a, b)
			if d.schedSigned.found != "" && d.schedSigned.row == i {
				found = d.schedSigned.found
			}
			at := d.schedRow(int32(i))
			if of != "" {
				found = fmt.Sprintf("row %d%s with %s", at, of, found)
			}
			d.bad(stepSchedRows, "scheduler_tasks", at, found,
				"scheduler_tasks.records[%d] has invalid timing: expected 0 < dispatch_cycles <= finish_cycles", at)
			if d.all == nil {
				break
			}
		}
	}
	if t.Len() > 0 && q.Len() > 0 && d.taskEpochs != d.schedEpochs {
		found := "run_epoch in aicore_tasks only"
		if d.schedEpochs {
			found = "run_epoch in scheduler_tasks only"
		}
		d.bad(stepComplete, "aicore_tasks", -1, found,
			"aicore_tasks carry run_epoch but scheduler_tasks do not (or the reverse); the sections come from different runtimes")
	}
	if d.out.Level >= 2 && d.errs[stepComplete] == nil && !d.lacksSchedRows() {
		d.checkComplete(taskOrder, schedOrder)
	}
}

// badTaskRow reports a fault of a kernel row, unless an earlier row has one.
func (d *reader) badTaskRow(row int32, found, format string, args ...any) {
	at := d.kernelRow(row)
	if e := d.errs[stepTasks]; e == nil || e.Row >= 0 && at < e.Row {
		d.errs[stepTasks] = nil
	}
	d.bad(stepTasks, "aicore_tasks", at, found, format, args...)
}

// checkIDs refuses task ids that the file's runtime does not mint.
func (d *reader) checkIDs() {
	t, ids := &d.out.Tasks, d.out.Dialect.IDs
	if ids == HighLow {
		return // every id is one
	}
	for i, id := range t.Task {
		if wrong := ids.Check(id); wrong != "" {
			epoch := "null"
			if run := d.out.Runs[t.Keys().run(int32(i))]; run.Known {
				epoch = fmt.Sprint(run.Epoch)
			}
			d.badTaskRow(int32(i), fmt.Sprintf("aicore_tasks[%d]", i), "%s -- carried by an aicore_tasks row with core_id=%d, run_epoch=%s", wrong, t.Core[i], epoch)
			return
		}
	}
}

// checkComplete demands a scheduler row for every kernel row, unless the file says that records were lost.
func (d *reader) checkComplete(taskOrder, schedOrder []int32) {
	t, q := d.out.Tasks.Keys(), d.out.Sched.Keys()
	var missing []int32
	k := 0
	for _, i := range taskOrder {
		for k < len(schedOrder) && q.Compare(schedOrder[k], t, i) < 0 {
			k++
		}
		if k == len(schedOrder) || q.Compare(schedOrder[k], t, i) != 0 {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return
	}
	if d.sumLoss(); d.out.Loss.Declared {
		d.warn("kernel-rows-without-scheduler", int64(len(missing)),
			"%d kernel row(s) have no Scheduler task timing: the capture lost records; they are drawn without dispatch and finish", len(missing))
		return
	}
	// Messages list the runs one after another.
	slices.SortStableFunc(missing, func(a, b int32) int { return cmp.Compare(t.run(a), t.run(b)) })
	var shown []string
	for _, i := range missing[:min(3, len(missing))] {
		shown = append(shown, d.keyText(t, i))
	}
	d.bad(stepComplete, "aicore_tasks", -1, fmt.Sprintf("%d of %d rows without a partner", len(missing), len(t.Core)),
		"level %d requires Scheduler task timing for every AICore task; missing %d join key(s): %s", d.out.Level, len(missing), strings.Join(shown, ", "))
	d.errs[stepComplete].Hint = "the file declares no loss, so its sections do not belong together or were cut; capture again"
}
