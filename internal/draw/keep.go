package draw

import (
	"path"
	"strings"
)

// Only says which tasks are drawn. Bars that belong to no task stay: they are
// the surroundings of those that do.
type Only struct {
	// Funcs are globs on function names, as labels show them; tasks that one of
	// them fits are kept, without any all.
	Funcs []string
	// Tasks are the ids of the tasks that are kept; nil keeps all.
	Tasks map[uint64]bool
}

// all reports whether every task is drawn.
func (o *Only) all() bool { return len(o.Funcs) == 0 && o.Tasks == nil }

// chooseRows finds the rows that are drawn; the result is nil if all are.
func (d *drawing) chooseRows() error {
	only := &d.opt.Only
	if only.all() {
		return nil
	}
	for _, glob := range only.Funcs {
		if _, err := path.Match(glob, ""); err != nil {
			return err
		}
	}
	fits := map[int32]bool{}
	for f, name := range d.plainNames {
		fits[f] = len(only.Funcs) == 0
		for _, glob := range only.Funcs {
			ok := NameFits(glob, name)
			fits[f] = fits[f] || ok
		}
	}
	d.kept = make([]bool, d.t.Rows.Len())
	for row := range d.kept {
		d.kept[row] = fits[d.t.Rows.Func[row]] && (only.Tasks == nil || only.Tasks[d.t.IDOf(row)])
		if !d.kept[row] {
			d.pic.Report.HiddenRows++
		}
	}
	return nil
}

// NameFits reports whether a glob fits the name of a function. Unlike in paths a
// slash is a letter like any other.
func NameFits(glob, name string) bool {
	const other = "\x00" // no name has it
	ok, err := path.Match(strings.ReplaceAll(glob, "/", other), strings.ReplaceAll(name, "/", other))
	return ok && err == nil
}

// rowKept reports whether a row is drawn.
func (d *drawing) rowKept(row int) bool { return d.kept == nil || d.kept[row] }

// taskKept reports whether the bars of a task that are no rows are drawn.
func (d *drawing) taskKept(run int32, id uint64) bool {
	only := &d.opt.Only
	if only.all() {
		return true
	}
	if only.Tasks != nil && !only.Tasks[id] {
		return false
	}
	if len(only.Funcs) == 0 {
		return true
	}
	// A function was named: only what belongs to tasks that ran it is left.
	if i := d.t.Tasks.Find(run, id); i >= 0 {
		from, to := d.t.Tasks.Rows(i)
		for row := from; row < to; row++ {
			if d.rowKept(row) {
				return true
			}
		}
	}
	return false
}
