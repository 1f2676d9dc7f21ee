package capture

import (
	"fmt"
	"math"
	"strings"

	"swimlane/internal/jsonscan"
)

type taskColumns struct {
	core                           column[int32]
	task, reg, start, end, receive column[uint64]
	epoch                          column[uint64] // empty if the rows name no run
}

func (c *taskColumns) flat() TaskRows {
	return TaskRows{
		Core: c.core.flat(), Task: c.task.flat(), Reg: c.reg.flat(),
		Start: c.start.flat(), End: c.end.flat(), Receive: c.receive.flat(),
	}
}

type schedColumns struct {
	core                  column[int32]
	reg, dispatch, finish column[uint64]
	epoch                 column[uint64] // empty if the rows name no run
}

func (c *schedColumns) flat() SchedRows {
	return SchedRows{Core: c.core.flat(), Reg: c.reg.flat(), Dispatch: c.dispatch.flat(), Finish: c.finish.flat()}
}

// aicoreTasks reads the kernel rows (spec/records.md §2.3).
func (d *reader) aicoreTasks() {
	const section = "aicore_tasks"
	s := d.s
	if s.Peek() != jsonscan.Array {
		d.bad(stepTasks, section, -1, s.Peek().String(), "aicore_tasks must be an array of rows")
		s.Skip()
		return
	}
	var row [maxColumns]uint64
	s.BeginArray()
	for i := 0; s.Elem(); i++ {
		d.where.row = i
		at := s.Offset()
		n, ok := s.Row(row[:])
		if !ok {
			d.taskRowSlow(i, at)
			continue
		}
		d.taskRow(i, n, at, &row)
	}
}

// maxColumns is more than any generation has.
const maxColumns = 8

// taskRow checks and keeps a row of plain integers that begins at byte at.
func (d *reader) taskRow(i, n int, at int64, row *[maxColumns]uint64) {
	d.firstTaskRow(i, n)
	if !d.tasksOK {
		return
	}
	start, end := row[3], row[4]
	switch {
	case d.taskEpochs != (n == 7) || n < 5 || n > 7:
		found := fmt.Sprintf("%d columns", n)
		if n >= 5 && n <= 7 {
			found += fmt.Sprintf(" where row 0 has %d", d.taskWidth)
		}
		d.badTask(i, at, found, badTaskColumns)
	case start == 0 || start > end:
		d.badTask(i, at, fmt.Sprintf("start_cycles %d, end_cycles %d", start, end), badTaskTiming)
	case n >= 6 && row[5] >= start:
		d.badTask(i, at, fmt.Sprintf("receive_to_start_cycles %d, start_cycles %d", row[5], start), badTaskReceive)
	case row[0] > math.MaxInt32:
		d.badTask(i, at, fmt.Sprintf("core_id %d", row[0]), badCore)
	default:
		receive := start
		if n >= 6 {
			receive -= row[5]
		}
		if n == 7 {
			d.taskCols.epoch.add(row[6])
		}
		d.taskCols.core.add(int32(row[0]))
		d.taskCols.task.add(row[1])
		d.taskCols.reg.add(row[2])
		d.taskCols.start.add(start)
		d.taskCols.end.add(end)
		d.taskCols.receive.add(receive)
	}
}

const (
	badTaskColumns = "must contain five or six columns"
	badWideColumns = "must contain five, six or seven columns"
	badTaskTiming  = "has invalid timing: expected 0 < start_cycles <= end_cycles"
	badTaskReceive = "has invalid receive_to_start_cycles: expected 0 <= receive_to_start_cycles < start_cycles"
	badCore        = "has an invalid core_id: expected 0 <= core_id < 2147483648"
	badToken       = "has a negative id: expected unsigned integers of 64 bits"
	badSchedShape  = "scheduler_tasks.records must contain four-column arrays"
	badWideShape   = "scheduler_tasks.records must contain four- or five-column arrays"
	badSchedMix    = "scheduler_tasks.records mixes row widths [4, 5]"
)

// widen puts a refused width into the words of the file's generation, which may
// only show behind the row (spec/newest.md §2).
func (d *reader) widen(errs ...*Error) {
	if d.identity == "" && !d.hasRuntime {
		return
	}
	for _, e := range errs {
		if e != nil {
			e.Text = strings.Replace(e.Text, badTaskColumns, badWideColumns, 1)
			e.Text = strings.Replace(e.Text, badSchedShape, badWideShape, 1)
		}
	}
}

func (d *reader) badTask(i int, at int64, found, rule string) {
	if d.all == nil {
		d.tasksOK = false
	} else {
		d.all.kernelRows = append(d.all.kernelRows, int32(i))
	}
	d.bad(stepTasks, "aicore_tasks", i, fmt.Sprintf("%s, byte %d", found, at), "aicore_tasks[%d] "+rule, i)
}

func (d *reader) setIdentity(why string) {
	if d.identity == "" {
		d.identity = why
	}
}

// rowSlow reads a row that Row did not take: one with signs or strings, at the
// edge of the window, or no row at all. It returns the number of columns, −1 if
// the value is no array, and the columns beyond the row as 0.
func (d *reader) rowSlow(row *[maxColumns]jsonscan.Int) int {
	s := d.s
	if s.Peek() != jsonscan.Array {
		s.Skip()
		return -1
	}
	n := 0
	s.BeginArray()
	for ; s.Elem(); n++ {
		v := s.Int()
		if n < len(row) {
			row[n] = v
		}
	}
	return n
}

// firstTaskRow: the first row shows the generation (spec/newest.md §2).
func (d *reader) firstTaskRow(i, n int) {
	if i > 0 {
		return
	}
	d.taskWidth = n
	if n == 7 {
		d.setIdentity("rows of seven columns")
		d.taskEpochs = true
	}
}

func (d *reader) taskRowSlow(i int, at int64) {
	var signed [maxColumns]jsonscan.Int
	n := d.rowSlow(&signed)
	switch {
	case d.s.Err() != nil || !d.tasksOK:
		return
	case n < 0:
		d.badTask(i, at, "a value that is no array", badTaskColumns)
		return
	case n >= 5 && n <= 7 && (i == 0 || d.taskEpochs == (n == 7)): // of a row of another width nothing else is looked at
		d.firstTaskRow(i, n)
		if d.badSign(i, at, &signed) {
			return
		}
	}
	var row [maxColumns]uint64
	for k, v := range signed {
		row[k] = v.Mag
	}
	d.taskRow(i, n, at, &row)
}

// badSign refuses a row with a negative number, with the text of the first rule that it breaks.
func (d *reader) badSign(i int, at int64, row *[maxColumns]jsonscan.Int) bool {
	core, token, reg, start, end, receive := row[0], row[1], row[2], row[3], row[4], row[5]
	timing := !start.Neg && !end.Neg && start.Mag > 0 && start.Mag <= end.Mag
	switch {
	case !timing:
		d.badTask(i, at, fmt.Sprintf("start_cycles %s, end_cycles %s", start, end), badTaskTiming)
	case receive.Neg:
		d.badTask(i, at, fmt.Sprintf("receive_to_start_cycles %s, start_cycles %s", receive, start), badTaskReceive)
	case receive.Mag >= start.Mag:
		return false // taskRow says so
	case core.Neg:
		d.badTask(i, at, "core_id "+core.String(), badCore)
	case token.Neg || reg.Neg:
		d.badTask(i, at, fmt.Sprintf("task_token_raw %s, reg_task_id %s", token, reg), badToken)
	case row[6].Neg:
		d.badTask(i, at, "run_epoch "+row[6].String(), badToken)
	default:
		return false
	}
	return true
}

// schedulerTasks reads the section of the seeds (spec/records.md §2.4).
func (d *reader) schedulerTasks() {
	s, v := d.s, &d.schedSect
	if k := s.Peek(); k != jsonscan.Object {
		v.notObject = k.String()
		s.Skip()
		return
	}
	d.object(func(key string) {
		switch key {
		case "schema_version":
			d.schemaVersion(v)
		case "producer":
			v.producer = d.text()
		case "records":
			if v.list = s.Peek() == jsonscan.Array; v.list {
				d.schedShape = d.schedRows("scheduler_tasks.records")
			} else {
				s.Skip()
			}
		default:
			s.Skip()
		}
	})
}

// aicpuTasks reads the archived section of the same rows (spec/records.md §2.5).
func (d *reader) aicpuTasks() {
	switch k := d.s.Peek(); {
	case k != jsonscan.Array:
		d.legacyShape = &Error{File: d.file, Section: "aicpu_tasks", Row: -1, Text: badSchedShape, Found: k.String() + " for aicpu_tasks", Class: ErrInvalid}
		d.s.Skip()
	case d.keys["scheduler_tasks"]:
		d.s.Skip() // refused later; its rows must not mix with the others
	default:
		d.legacyShape = d.schedRows("aicpu_tasks")
	}
}

// schemaVersion reads a version; what is no integer counts as 0, as a missing one does.
func (d *reader) schemaVersion(v *versioned) {
	if d.s.TakeNull() {
		return
	}
	v.hasSchema = true
	if d.s.Peek() == jsonscan.Number {
		v.schema = d.s.Int()
		return
	}
	var ok bool
	if v.schema, ok = d.s.TryInt(); !ok {
		d.s.Skip()
	}
}

// signedRow is the first scheduler row with a negative time. Its columns hold 0
// instead, which breaks the same rule; this is what stood in the file.
type signedRow struct {
	row   int
	found string
}

// schedRows reads rows of core, token, dispatch and finish. It returns the
// first row of another shape; timing is checked later, when the kernel rows are
// known to be good.
func (d *reader) schedRows(section string) (first *Error) {
	s := d.s
	var row [maxColumns]uint64
	width := 4
	s.BeginArray()
	if section != d.where.section {
		d.where.part = "records"
	}
	for i := 0; s.Elem(); i++ {
		d.where.row = i
		at := s.Offset()
		n, ok := s.Row(row[:])
		if !ok {
			if n = d.schedRowSlow(section, i, at, &row); s.Err() != nil {
				return nil
			}
		}
		if n == 5 && i == 0 {
			d.setIdentity("scheduler rows of five columns")
			width = 5
			d.schedEpochs = true
		}
		if n != width {
			if first == nil || d.all != nil {
				rule := badSchedShape
				if n == 4 || n == 5 {
					rule = badSchedMix
				}
				found := fmt.Sprintf("%s[%d] with %d columns, byte %d", section, i, n, at)
				if n < 0 {
					found = fmt.Sprintf("%s[%d] that is no array, byte %d", section, i, at)
				}
				e := &Error{File: d.file, Section: section, Row: i, Class: ErrInvalid, Text: rule, Found: found}
				d.also(stepSchedShape, rule, e)
				d.leftOut(i)
				if first == nil {
					first = e
				}
			}
			continue
		}
		if row[0] > math.MaxInt32 {
			d.badSchedRange(section, i, at, fmt.Sprintf("core_id %d", row[0]), badCore)
			d.leftOut(i)
			continue
		}
		d.schedCols.core.add(int32(row[0]))
		d.schedCols.reg.add(row[1])
		d.schedCols.dispatch.add(row[2])
		d.schedCols.finish.add(row[3])
		if width == 5 {
			d.schedCols.epoch.add(row[4])
		}
	}
	d.back(place{d.where.section, -1, "", -1})
	return first
}

// schedRowSlow reads a row that Row did not take and returns the number of its columns.
func (d *reader) schedRowSlow(section string, i int, at int64, row *[maxColumns]uint64) int {
	var signed [maxColumns]jsonscan.Int
	n := d.rowSlow(&signed)
	for k, v := range signed {
		row[k] = v.Mag
	}
	if n != 4 && n != 5 {
		return n
	}
	core, reg, dispatch, finish := signed[0], signed[1], signed[2], signed[3]
	switch {
	case core.Neg:
		d.badSchedRange(section, i, at, "core_id "+core.String(), badCore)
	case reg.Neg:
		d.badSchedRange(section, i, at, "reg_task_id "+reg.String(), badToken)
	case signed[4].Neg:
		d.badSchedRange(section, i, at, "run_epoch "+signed[4].String(), badToken)
	}
	if dispatch.Neg || finish.Neg {
		row[2], row[3] = 0, 0
		if d.schedSigned.found == "" {
			d.schedSigned = signedRow{i, fmt.Sprintf("dispatch_cycles %s, finish_cycles %s, byte %d", dispatch, finish, at)}
		}
	}
	return n
}

func (d *reader) badSchedRange(section string, i int, at int64, found, rule string) {
	if d.schedRange != nil && d.all == nil {
		return
	}
	e := &Error{File: d.file, Section: section, Row: i, Class: ErrInvalid,
		Text: fmt.Sprintf("%s[%d] %s", section, i, rule), Found: fmt.Sprintf("%s, byte %d", found, at)}
	d.also(stepSchedRows, rule, e)
	if d.schedRange == nil {
		d.schedRange = e
	}
}
