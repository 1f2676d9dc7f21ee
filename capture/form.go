package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Form is a shape that records files are written in.
type Form uint8

// The forms that can be written.
const (
	// FormSeed: schema_version 1, rows without a run, ids of a high and a low word
	// (spec/records.md §2).
	FormSeed Form = iota
	// FormNewest: a named runtime, rows with a run, ids in that runtime's layout
	// (spec/newest.md §3).
	FormNewest
)

// FormNames are the names of the forms, in their order.
var FormNames = []string{"gs", "newest"}

func (f Form) String() string { return FormNames[f] }

// ParseForm finds a form by its name.
func ParseForm(name string) (Form, bool) {
	i := slices.Index(FormNames, name)
	return Form(max(i, 0)), i >= 0
}

// Origin is what a file says of the capture that it was converted from, because
// its own form has no place for it (metadata.converted_from).
type Origin struct {
	Runtime string // "" if that was not known
	Epoch   uint64
	HasRun  bool // Epoch is there
	Assumed bool // the file names a run because its form wants one; the capture named none
	// Seam is whether uploads count in the seam, where that differs from what
	// the form would have: the picture must not move. Valid with HasSeam.
	Seam, HasSeam bool
}

func (d *reader) origin() {
	o := &Origin{}
	d.object(func(key string) {
		switch key {
		case "runtime":
			o.Runtime = d.text()
		case "run_epoch":
			o.Epoch, o.HasRun = d.s.Uint64(), true
		case "run_epoch_assumed":
			o.Assumed = d.s.Bool()
		case "uploads_in_seam":
			o.Seam, o.HasSeam = d.s.Bool(), true
		default:
			d.s.Skip()
		}
	})
	d.out.Meta.Origin = o
}

// Conversion writes a capture in another form.
type Conversion struct {
	rec     *Records
	form    Form
	runtime string // "" only where the form needs none
	mapID   func(uint64) (uint64, bool)
	epoch   uint64 // of the only run, where the form wants one and the file names none
	assumed bool   // epoch is nothing that the capture says
	lost    []string
	notes   []string
}

// Convert prepares to write r, which must have been read with Options.Extras,
// in a form. The runtime is taken from the capture; runtime is what else is
// known of it, "" if nothing is. It is an error if the form needs one and
// nothing names it, or if the two disagree.
func Convert(r *Records, form Form, runtime string) (*Conversion, error) {
	c := &Conversion{rec: r, form: form, runtime: OwnRuntime(r)}
	switch {
	case c.runtime == "":
		c.runtime = runtime
	case runtime != "" && runtime != c.runtime:
		return nil, fmt.Errorf("%s is of the runtime '%.40s', not '%.40s'", r.Source, c.runtime, runtime)
	}
	if shown, why := ShownRuntime(r); c.runtime != "" && shown != "" && shown != c.runtime {
		return nil, fmt.Errorf("%s is of the runtime '%s', not '%.40s': it has %s", r.Source, shown, c.runtime, why)
	}
	if form == FormNewest && c.runtime != RuntimeTMR && c.runtime != RuntimeHBG {
		if c.runtime != "" {
			return nil, fmt.Errorf("%s is of the runtime '%.40s'; expected '%s' or '%s'", r.Source, c.runtime, RuntimeHBG, RuntimeTMR)
		}
		return nil, ErrNoRuntime
	}
	c.mapID = mapIDs(r.Dialect.IDs, c.dialect().IDs)
	c.findLosses()
	c.takeNotes()
	return c, nil
}

// ErrNoRuntime says that a form names the runtime and the capture does not.
var ErrNoRuntime = fmt.Errorf("the form names the runtime that made the task ids, and the capture does not say it")

// OwnRuntime is the runtime that a capture names in any place, "" if it names none.
func OwnRuntime(r *Records) string {
	switch {
	case r.Meta.Runtime != "":
		return r.Meta.Runtime
	case r.Meta.Origin != nil && r.Meta.Origin.Runtime != "":
		return r.Meta.Origin.Runtime
	}
	return commonRuntime(slices.DeleteFunc(slices.Clone(r.Streams), func(s Stream) bool { return s.Gap }))
}

// dialect is that of the written file.
func (c *Conversion) dialect() Dialect {
	d := c.formDialect()
	if c.keepsSeam() {
		d.SeamCountsUploads = c.rec.Dialect.SeamCountsUploads
	}
	return d
}

// ShownRuntime is the runtime whose captures alone hold what r holds, "" if there
// is nothing of that kind, and what it is (spec/records.md §2.9–§2.11).
func ShownRuntime(r *Records) (runtime, why string) {
	switch {
	case r.HostMode() || len(r.Uploads) > 0:
		return RuntimeHBG, "records of a host orchestrator"
	case len(r.DeviceOrc) > 0:
		return RuntimeTMR, "records of an AICPU orchestrator"
	}
	for i := range r.Streams {
		if r.Streams[i].AICore() {
			return RuntimeHBG, "records of AICore schedulers"
		}
		for _, k := range r.Streams[i].Phases.Kind {
			if k == KindGraphPrepare || k == KindResolveStandalone {
				return RuntimeHBG, fmt.Sprintf("%q records", r.Kinds[k].Name)
			}
		}
	}
	return "", ""
}

func (c *Conversion) formDialect() Dialect {
	if c.form == FormSeed {
		return seedDialect
	}
	return runtimeDialect(c.runtime)
}

// keepsSeam reports whether the file must say how its seam is found, because the
// form would have another.
func (c *Conversion) keepsSeam() bool {
	return len(c.rec.Uploads) > 0 && c.formDialect().SeamCountsUploads != c.rec.Dialect.SeamCountsUploads
}

// Lost says, one line each, what the form cannot hold of the capture.
func (c *Conversion) Lost() []string { return c.lost }

// Notes say, one line each, what is written that the capture did not say, and
// what it said that stands in another place.
func (c *Conversion) Notes() []string { return c.notes }

// Records are the records as a reader of the written file will understand them,
// but for the numbers of tasks. They share their columns with the capture.
func (c *Conversion) Records() *Records {
	out := *c.rec
	out.Dialect = c.dialect()
	return &out
}

// Holds reports whether the form has a number for a task id.
func (c *Conversion) Holds(id uint64) bool {
	_, ok := c.mapID(id)
	return ok
}

// Renames reports whether a task has another number in the form.
func (c *Conversion) Renames(id uint64) bool {
	out, ok := c.mapID(id)
	return ok && out != id
}

const noTask = 1<<64 - 1 // the invalid sentinel of all layouts

// mapIDs gives the number of a task in another layout; false if it has none
// there (spec/records.md §0.3, spec/newest.md §4.1).
func mapIDs(from, to IDLayout) func(uint64) (uint64, bool) {
	same := func(id uint64) (uint64, bool) { return id, true }
	switch {
	case from == to:
		return same
	case from == Rings || to == Rings: // a ring is the high word
		return func(id uint64) (uint64, bool) { return id, id == noTask || id>>32 <= 0xff }
	case from == Spaces: // to HighLow
		return func(id uint64) (uint64, bool) {
			parent, local := id>>32&0xfffff, id&0xffffffff
			switch {
			case id == noTask || id>>32 == 0:
				return id, true
			case id>>52 == SpaceSubTask<<10 && local < 1<<10:
				return 1<<32 | parent<<10 | local, true
			}
			return id, false
		}
	}
	return func(id uint64) (uint64, bool) { // HighLow to Spaces
		graph, index := id&0xffffffff>>10, id&0x3ff
		switch {
		case id == noTask || id>>32 == 0:
			return id, true
		case id>>32 == 1 && graph < 1<<20:
			return SpaceSubTask<<62 | graph<<32 | index, true
		}
		return id, false
	}
}

func (c *Conversion) lose(n int64, format string, args ...any) {
	if n > 0 {
		c.lost = append(c.lost, fmt.Sprintf(format, args...))
	}
}

// findLosses compares what the capture holds with what the form can.
func (c *Conversion) findLosses() {
	c.loseRuns()
	c.loseRuntimes()
	c.loseIDs()
	c.loseRecords()
}

// loseRuns: the one form has no place for several runs, the other none for the
// starts of launches.
func (c *Conversion) loseRuns() {
	r := c.rec
	if r.Launches != nil {
		if r.RunsReplaced {
			c.lose(1, "the runs that its records name beside its kernel launches")
		}
		if c.form == FormNewest {
			c.lose(1, "where its %d kernel launches begin, and the lane that shows them: rows name a run, and nothing says when one started", len(r.Launches))
		}
		return
	}
	if len(r.Runs) < 2 {
		return
	}
	var epochs []string
	unnamed := false
	for _, run := range r.Runs {
		if run.Known {
			epochs = append(epochs, fmt.Sprint(run.Epoch))
		}
		unnamed = unnamed || !run.Known
	}
	const most = 8
	if n := len(epochs) - most; n > 0 {
		epochs = append(epochs[:most], fmt.Sprintf("and %d more", n))
	}
	if unnamed {
		epochs = append(epochs, "none named")
	}
	switch {
	case c.form == FormSeed:
		c.lose(1, "which run a record belongs to: the file holds %d runs (epochs %s), and rows of this form name none", len(r.Runs), strings.Join(epochs, ", "))
	case unnamed && c.rowsWithoutRun():
		c.lose(1, "that some records name no run: in this form each row names one")
	}
}

// loseRuntimes: in one of the forms streams name no runtime of their own.
func (c *Conversion) loseRuntimes() {
	if c.form != FormNewest {
		return
	}
	n := int64(0)
	for i := range c.rec.Streams {
		if r := c.rec.Streams[i].Runtime; r != "" && r != c.runtime {
			n++
		}
	}
	c.lose(n, "the runtime that %d scheduler stream(s) name, which is not '%s'", n, c.runtime)
}

// rowsWithoutRun reports whether rows or phase records name no run, although the
// file names runs.
func (c *Conversion) rowsWithoutRun() bool {
	first := func(run []int32, n int) bool { return n > 0 && (run == nil || slices.Contains(run, 0)) }
	r := c.rec
	if first(r.Tasks.Run, r.Tasks.Len()) || first(r.Sched.Run, r.Sched.Len()) {
		return true
	}
	return slices.ContainsFunc(r.Streams, func(s Stream) bool { return first(s.Phases.Run, s.Phases.Len()) })
}

// loseIDs counts the task ids that the form's layout has no number for.
func (c *Conversion) loseIDs() {
	var n int64
	example := uint64(0)
	lose := func(id uint64) {
		if n == 0 {
			example = id
		}
		n++
	}
	check := func(id uint64) {
		if !c.Holds(id) {
			lose(id)
		}
	}
	r, ids := c.rec, c.dialect().IDs
	for _, id := range r.Tasks.Task {
		if out, ok := c.mapID(id); !ok || ids.Check(out) != "" { // a kernel row must be of a task
			lose(id)
		}
	}
	for i := range r.Streams {
		p := &r.Streams[i].Phases
		for j, id := range p.Task {
			if p.Flags[j]&HasTask != 0 {
				check(id)
			}
		}
	}
	for _, lanes := range [][]Submits{r.DeviceOrc, r.HostOrc} {
		for i := range lanes {
			for j, id := range lanes[i].Task {
				if lanes[i].Has[j] {
					check(id)
				}
			}
		}
	}
	c.lose(n, "which task %d record(s) are about: the ids of this form have no number for theirs (the first is %d)", n, example)
}

// loseRecords counts the phase records that present sections may not hold.
func (c *Conversion) loseRecords() {
	var reversed, indexed int64
	for i := range c.rec.Streams {
		p := &c.rec.Streams[i].Phases
		for j := range p.Start {
			if p.End[j] < p.Start[j] {
				reversed++
			}
			if p.Extra != nil && bytes.Contains(p.Extra[j], []byte(`"record_index":`)) {
				indexed++
			}
		}
	}
	c.lose(reversed, "%d phase record(s) that end before they start, which this form does not allow", reversed)
	c.lose(indexed, "the record_index of %d phase record(s): metrics have one of their own", indexed)
}

// takeNotes says what stands elsewhere, and what is assumed.
func (c *Conversion) takeNotes() {
	r := c.rec
	run := r.Runs[0]
	origin := r.Meta.Origin
	switch {
	case origin != nil && origin.Assumed && r.Launches == nil && len(r.Runs) == 1 && run.Known:
		c.assumed = true
	case c.form == FormSeed && r.Launches == nil && run.Known:
		c.notes = append(c.notes, fmt.Sprintf("run_epoch %d has no place in this form; it stands in metadata.converted_from", run.Epoch))
	case c.form == FormNewest && r.Launches == nil && len(r.Runs) == 1 && !run.Known:
		switch kept := r.Meta.Collection; {
		case origin != nil && origin.HasRun:
			c.epoch = origin.Epoch
		case kept != nil && kept.RunEpoch.Set && kept.RunEpoch.V >= 0:
			c.epoch = uint64(kept.RunEpoch.V)
		default:
			c.epoch, c.assumed = 1, true
			c.notes = append(c.notes, "the capture names no run; run_epoch 1 is written")
		}
	}
	if c.form == FormNewest && OwnRuntime(r) == "" {
		c.notes = append(c.notes, fmt.Sprintf("the capture names no runtime; '%s' is written", c.runtime))
	}
}
