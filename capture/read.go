package capture

import (
	"fmt"
	"io"
	"math"

	"swimlane/internal/jsonscan"
)

// Options steer the reader.
type Options struct {
	// StreamsByAppearance places scheduler streams in the order of the file
	// instead of by scheduler_id (spec/records.md §9 no. 3).
	StreamsByAppearance bool
	// Extras keeps what no picture shows as JSON text: metrics (pop_hit, …), the
	// streams' descriptions and further keys of records.
	Extras bool
	// Pops fills Phases.Pops. With Extras they are kept as text only.
	Pops bool
	// Clockless reads a file that states no clock_freq_hz, too: Meta.ClockHz is 0.
	Clockless bool
	// Progress is called now and then with the number of bytes read.
	Progress func(bytes int64)
}

// The steps of the reader's checks. When a file breaks several rules the
// earliest step is reported, whatever the order of the sections in the file
// (spec/records.md §4.1).
type step int

const (
	stepLevel step = iota
	stepClock
	stepSchedShape
	stepLifecycle
	stepStreams
	stepOrchestrator
	stepRuntime
	stepTasks
	stepSchedRows
	stepComplete
	stepHost
	steps
)

// reader holds the state of reading one file.
type reader struct {
	s    *jsonscan.Scanner
	opt  Options
	file string
	out  *Records
	errs [steps]*Error
	all  *faults // nil unless every fault is wanted

	where      place           // what is being read, for errors of the scanner
	keys       map[string]bool // top-level keys that are present and not null
	level      jsonscan.Int
	hasLevel   bool
	clock      jsonscan.Int
	kinds      kinds
	unknown    []string
	hasRuntime bool   // metadata names one, be it an empty name
	identity   string // what shows a generation of rows with a run identity, if anything does
	bounds     boundaries
	runs       runTable
	aligned    alignment

	taskEpochs  bool // kernel rows name their run
	taskWidth   int  // columns of the first kernel row
	schedEpochs bool // scheduler rows do

	taskCols taskColumns
	tasksOK  bool // rows are still being kept: no row was bad yet

	schedCols   schedColumns
	schedSect   versioned
	schedShape  *Error // the first row of scheduler_tasks with another shape
	legacyShape *Error // the same for aicpu_tasks
	schedRange  *Error // the first row with a core or token beyond the columns' range
	schedSigned signedRow

	laneAt []int // places in the file of the host lanes that are kept

	streamSect versioned
	streams    []Stream
	streamErr  *Error // the first fault inside a stream
	legacy     []Stream
	legacyErr  *Error // a fault of aicpu_scheduler_phases
}

// place is where in the document the reader is.
type place struct {
	section string // top-level key
	list    int    // stream or lane, −1 where there is none
	part    string // list inside it: "records", "metrics"
	row     int    // −1 before the first
}

// enter begins a section.
func (d *reader) enter(section string) { d.where = place{section: section, list: -1, row: -1} }

// back says that what follows stands elsewhere. An error keeps the place it happened at.
func (d *reader) back(to place) {
	if d.s.Err() == nil {
		d.where = to
	}
}

func (p *place) String() string {
	if p.section == "" {
		return ""
	}
	text := printable(p.section) // a key that nobody knows may be anything
	if p.list >= 0 {
		text = fmt.Sprintf("%s[%d]", text, p.list)
	}
	if p.part != "" {
		text += "." + p.part
	}
	if p.row >= 0 {
		text = fmt.Sprintf("%s[%d]", text, p.row)
	}
	return text
}

// versioned is what the head of scheduler_tasks or scheduler_records says.
type versioned struct {
	notObject string // what stands there instead of an object
	schema    jsonscan.Int
	hasSchema bool
	producer  string
	list      bool // records or streams is an array
}

// Read reads the records file at path, which may be compressed with gzip. One that
// is written to meanwhile is refused as ErrChanged.
func Read(path string, opt Options) (*Records, error) {
	in, err := open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(in, path, opt, in.changed)
}

// ReadFrom reads a records file from r; name is what errors call it.
func ReadFrom(r io.Reader, name string, opt Options) (*Records, error) {
	return read(r, name, opt, func() *Error { return nil })
}

func newReader(r io.Reader, name string, opt Options) *reader {
	if opt.Progress != nil {
		r = &progressReader{r: r, report: opt.Progress}
	}
	return &reader{
		s: jsonscan.New(r), opt: opt, file: name, tasksOK: true,
		out:  &Records{Source: name},
		keys: map[string]bool{},
	}
}

// read reads a records file; changed is asked once there is nothing left to read.
func read(r io.Reader, name string, opt Options, changed func() *Error) (*Records, error) {
	d := newReader(r, name, opt)
	d.document()
	err := d.s.End()
	if e := changed(); e != nil {
		e.Text = cannotRead + name + ": " + e.Text
		return nil, e
	}
	if err != nil {
		return nil, d.syntaxError(err)
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// bad remembers the first failure of a step.
func (d *reader) bad(at step, section string, row int, found, format string, args ...any) {
	if d.errs[at] != nil && d.all == nil {
		return
	}
	e := &Error{File: d.file, Section: section, Row: row, Text: fmt.Sprintf(format, args...), Found: found, Class: ErrInvalid}
	d.also(at, format, e)
	if d.errs[at] == nil {
		d.errs[at] = e
	}
}

func (d *reader) here() string { return fmt.Sprintf("byte %d", d.s.Offset()) }

// document reads the top-level object.
func (d *reader) document() {
	s := d.s
	if k := s.Peek(); k != jsonscan.Object && s.Err() == nil {
		s.Fail("found %s, expected the object of a chip_swimlane_records.json", k)
	}
	s.BeginObject()
	for {
		d.back(place{})
		key, ok := s.Key()
		if !ok {
			return
		}
		name := string(key)
		if s.TakeNull() {
			continue
		}
		d.keys[name] = true
		d.enter(name)
		if d.all != nil {
			d.all.enter(name)
		}
		switch name {
		case "chip_swimlane_level":
			d.level, d.hasLevel = s.Int(), true
		case "l2_swimlane_level": // the former name, which counts where the present one is missing
			if v := s.Int(); !d.keys["chip_swimlane_level"] {
				d.level, d.hasLevel = v, true
			}
		case "l2_perf_level": // the name before that
			if v := s.Int(); !d.keys["chip_swimlane_level"] && !d.keys["l2_swimlane_level"] {
				d.level, d.hasLevel = v, true
			}
		case "metadata":
			d.metadata()
		case "aicore_tasks":
			d.aicoreTasks()
		case "scheduler_tasks":
			d.schedulerTasks()
		case "aicpu_tasks":
			d.aicpuTasks()
		case "scheduler_records":
			d.schedulerRecords()
		case "aicpu_scheduler_phases":
			d.schedulerPhases()
		case "aicpu_lifecycle_records":
			d.lifecycle()
		case "aicpu_orchestrator_phases":
			d.out.DeviceOrc = d.submitLanes("aicpu_orchestrator_phases", "start_cycles", "end_cycles", false)
		case "host_orchestrator_phases":
			d.out.HostOrc = d.submitLanes("host_orchestrator_phases", "start_host_ns", "end_host_ns", true)
		case "host_device_uploads":
			d.uploads()
		case "tasks":
			// Joined files of the time before cycles: refused by their missing clock.
			d.keepSection(name)
		default:
			d.unknown = append(d.unknown, name)
			d.keepSection(name)
		}
	}
}

// keepSection passes over a section that no reader knows.
func (d *reader) keepSection(name string) {
	var text []byte
	if d.keep(&text); text != nil {
		d.out.Further = append(d.out.Further, Field{name, text})
	}
}

// int32 reads an integer that the format keeps within 32 bits; beyond, the file is refused with the place.
func (d *reader) int32(what string) int32 {
	d.s.Peek()
	at := d.s.Offset()
	v := d.s.Int()
	i, ok := v.Int64()
	if !ok || i < math.MinInt32 || i > math.MaxInt32 {
		d.s.FailAt(at, "found %s, expected %s within 32 bits", v, what)
		return 0
	}
	return int32(i)
}

// text reads a descriptive string; any other value counts as absent.
func (d *reader) text() string {
	if d.s.Peek() == jsonscan.String {
		return string(d.s.Text())
	}
	d.s.Skip()
	return ""
}

// optInt reads a descriptive integer. A value that is no number, or beyond 64
// bits, counts as absent; a fraction is refused like in every integer column.
func (d *reader) optInt() OptInt {
	var v jsonscan.Int
	if d.s.Peek() == jsonscan.Number {
		v = d.s.Int()
	} else {
		var ok bool
		if v, ok = d.s.TryInt(); !ok {
			d.s.Skip()
			return OptInt{}
		}
	}
	i, ok := v.Int64()
	if !ok {
		return OptInt{}
	}
	return OptInt{V: i, Set: true}
}

// uint64OrNull reads an unsigned integer; null counts as a missing key, which is 0.
func (d *reader) uint64OrNull() uint64 {
	if d.s.TakeNull() {
		return 0
	}
	return d.s.Uint64()
}
