package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

// Diagnosis is what is wrong with a records file, as far as can be known. Read says
// the first fault and gives nothing else; a Diagnosis names every rule that is
// broken, how often, and what of the file is whole.
type Diagnosis struct {
	File string
	// Err is what Read says of the file, nil if it accepts it.
	Err error
	// Broken is where the text stops being what can be read, nil if all of it was:
	// nothing behind that place was looked at.
	Broken *Error
	Bytes  int64 // that were read, unpacked if need be: up to Broken, or all

	Level    int       // 0 if the part that was read names none that exists
	Sections []Section // that were found, in the order of the file
	Faults   []Fault   // by step of spec/records.md §4.1, each rule once
}

// Section is what stands under a top-level key.
type Section struct {
	Name string
	Rows int64 // whole rows or records; −1 where it holds none
	Cut  bool  // Broken lies in it
}

// Fault is a rule that the file breaks.
type Fault struct {
	Step  string // short name of the step of the checks: "level", "kernel rows", …
	First *Error // the first place
	Count int64
	Rows  []int // the first rows of First.Section that break it, at most eight; nil where no row does
}

// stepNames are the steps as diagnoses name them.
var stepNames = [steps]string{
	stepLevel: "level", stepClock: "clock", stepSchedShape: "scheduler shape", stepLifecycle: "lifecycle",
	stepStreams: "streams", stepOrchestrator: "orchestrators", stepRuntime: "runtime", stepTasks: "kernel rows",
	stepSchedRows: "scheduler rows", stepComplete: "partners", stepHost: "host records",
}

// faults collects what a diagnosis is made of while the file is read.
type faults struct {
	list       []fault
	sections   []string
	kernelRows []int32 // rows of aicore_tasks that are in no column, ascending
	schedRows  []int32 // the same of scheduler_tasks
	records    int64   // of streams that are in no column
	cutRecords int64   // whole records of the stream that the text breaks in
}

// fault is a Fault and what tells it apart.
type fault struct {
	at   step
	rule string
	Fault
}

// mostRows is how many rows a fault lists.
const mostRows = 8

// knownSections are the keys that hold rows.
var knownSections = []string{
	"aicore_tasks", "scheduler_tasks", "aicpu_tasks", "scheduler_records", "aicpu_scheduler_phases", "aicpu_lifecycle_records",
	"aicpu_orchestrator_phases", "host_orchestrator_phases", "host_device_uploads",
}

// enter notes a section. Of unknown keys there may be any number.
func (f *faults) enter(name string) {
	if name == "metadata" || slices.Contains(knownSections, name) {
		f.sections = append(f.sections, name)
	}
}

// also notes a fault if all are wanted. rule is the same for all that break it.
func (d *reader) also(at step, rule string, e *Error) {
	if d.all == nil {
		return
	}
	f := d.all.find(at, rule)
	if f == nil {
		d.all.list = append(d.all.list, fault{at, rule, Fault{Step: stepNames[at], First: e}})
		f = &d.all.list[len(d.all.list)-1]
	}
	f.Count++
	if e.Row >= 0 && len(f.Rows) < mostRows && e.Section == f.First.Section {
		f.Rows = append(f.Rows, e.Row)
	}
}

func (f *faults) find(at step, rule string) *fault {
	for i := range f.list {
		if f.list[i].at == at && f.list[i].rule == rule {
			return &f.list[i]
		}
	}
	return nil
}

// badRecord takes a fault of a stream's record. There may be many streams, so all
// that break a rule count together.
func (d *reader) badRecord(first **Error, rule string, e *Error) {
	d.also(stepStreams, rule, e)
	if d.all != nil {
		d.all.records++
	}
	if *first == nil {
		*first = e
	}
}

// leftOut notes a scheduler row that is in no column.
func (d *reader) leftOut(row int) {
	if d.all != nil {
		d.all.schedRows = append(d.all.schedRows, int32(row))
	}
}

// lacksSchedRows: whether a kernel row has a partner cannot be told where
// scheduler rows could not be understood.
func (d *reader) lacksSchedRows() bool { return d.all != nil && len(d.all.schedRows) > 0 }

// kernelRow is the row of the file that is row i of the columns.
func (d *reader) kernelRow(i int32) int {
	if d.all == nil {
		return int(i)
	}
	return inFile(i, d.all.kernelRows)
}

// schedRow is kernelRow for scheduler rows.
func (d *reader) schedRow(i int32) int {
	if d.all == nil {
		return int(i)
	}
	return inFile(i, d.all.schedRows)
}

// inFile counts rows that were left out, which are ascending, back in: row i of the
// columns is i + k in the file if k of them stand before it.
func inFile(i int32, out []int32) int {
	return int(i) + sort.Search(len(out), func(k int) bool { return int(out[k])-k > int(i) })
}

// countRepeats counts the rows that repeat a key, where only the first one is told of.
func (d *reader) countRepeats(at step, k Keys, order []int32, inFile func(int32) int) {
	if d.all == nil {
		return
	}
	rule := "duplicate aicore_tasks join key: %s"
	if at == stepSchedRows {
		rule = "scheduler_tasks contains duplicate %s join keys"
	}
	f := d.all.find(at, rule)
	if f == nil {
		return
	}
	f.Count, f.Rows = 0, nil
	var rows []int
	for n := 1; n < len(order); n++ {
		if k.Compare(order[n-1], k, order[n]) == 0 {
			f.Count++
			rows = append(rows, inFile(order[n]))
		}
	}
	slices.Sort(rows)
	f.Rows = rows[:min(len(rows), mostRows)]
}

// Diagnose looks at a records file that Read refuses, and at any other. It never
// fails: what cannot be opened has an Err and nothing else.
func Diagnose(path string, opt Options) *Diagnosis {
	in, err := open(path)
	if err != nil {
		return &Diagnosis{File: path, Err: err}
	}
	defer in.Close()
	return diagnose(in, path, opt, in.changed)
}

// DiagnoseFrom is Diagnose for what r gives; name is what messages call it.
func DiagnoseFrom(r io.Reader, name string, opt Options) *Diagnosis {
	return diagnose(r, name, opt, func() *Error { return nil })
}

func diagnose(r io.Reader, name string, opt Options, changed func() *Error) *Diagnosis {
	d := newReader(r, name, opt)
	d.all = &faults{}
	d.document()
	err := d.s.End()
	out := &Diagnosis{File: name, Bytes: d.s.Offset()}
	if e := changed(); e != nil {
		e.Text = cannotRead + name + ": " + e.Text
		out.Err = e
		return out
	}
	out.Sections = d.sections()
	if err != nil {
		out.Err = d.syntaxError(err)
		errors.As(out.Err, &out.Broken)
		if n := len(out.Sections); n > 0 && d.where.section != "" {
			out.Sections[n-1].Cut = true
		}
		d.flatten()
		d.checkRows() // of no level, so nothing is said of rows without a partner
	} else {
		out.Err = d.finish()
	}
	if level, ok := d.level.Int64(); ok && level >= 1 && level <= 4 {
		out.Level = int(level)
	}
	// Faults that only one place can have, or of which the first is enough.
	for at, e := range d.errs {
		d.once(step(at), e)
	}
	d.once(stepStreams, d.streamErr)
	slices.SortStableFunc(d.all.list, func(a, b fault) int { return cmp.Compare(a.at, b.at) })
	for i := range d.all.list {
		out.Faults = append(out.Faults, d.all.list[i].Fault)
	}
	return out
}

// once notes a fault unless it is noted.
func (d *reader) once(at step, e *Error) {
	if e == nil || slices.ContainsFunc(d.all.list, func(f fault) bool { return f.First == e }) {
		return
	}
	d.also(at, e.Text, e)
}

// sections counts what was read of each section. It must come before the columns
// are laid out flat.
func (d *reader) sections() []Section {
	var out []Section
	for _, name := range d.all.sections {
		out = append(out, Section{Name: name, Rows: d.wholeRows(name)})
	}
	return out
}

func (d *reader) wholeRows(section string) int64 {
	streams := func(list []Stream) (n int64) {
		for i := range list {
			n += int64(list[i].Phases.Len())
		}
		return n
	}
	submits := func(list []Submits) (n int64) {
		for i := range list {
			n += int64(list[i].Len())
		}
		return n
	}
	switch section {
	case "aicore_tasks":
		return int64(d.taskCols.core.len() + len(d.all.kernelRows))
	case "scheduler_tasks", "aicpu_tasks":
		return int64(d.schedCols.core.len() + len(d.all.schedRows))
	case "scheduler_records":
		return streams(d.streams) + d.all.records + d.all.cutRecords
	case "aicpu_scheduler_phases":
		return streams(d.legacy)
	case "aicpu_lifecycle_records":
		return int64(len(d.out.Lifecycle))
	case "aicpu_orchestrator_phases":
		return submits(d.out.DeviceOrc)
	case "host_orchestrator_phases":
		return submits(d.out.HostOrc)
	case "host_device_uploads":
		return int64(len(d.out.Uploads))
	}
	return -1
}

// String is the section in words: "aicore_tasks 5 rows".
func (s Section) String() string {
	if s.Rows < 0 {
		return s.Name
	}
	rows := "rows"
	if s.Rows == 1 {
		rows = "row"
	}
	return fmt.Sprintf("%s %d %s", s.Name, s.Rows, rows)
}
