package draw

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sync/errgroup"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/timeline"
	"swimlane/trace"
)

// Options steer what is drawn.
type Options struct {
	Names    *names.Map // nil: no names
	Overhead bool       // counters of spec/converter.md §7
	Only     Only       // tasks that are drawn
	Idle     bool       // gaps between work records of scheduler threads
}

// Report says what became of the capture in the picture.
type Report struct {
	Lanes int // lanes that can carry bars
	Moved int // bars on a further sub-lane because they overlap another one
	// Stacked counts the same in the Scheduler View, where tasks overlap by design.
	Stacked int
	Edges   int // distinct edges of the graph
	Drawn   int // edges whose two ends are drawn, each with an arrow
	Arrows  int64
	// Reversed counts arrows that run against their edge, because the successor starts first.
	Reversed int64
	// Violations counts Worker View arrows named hb_violation.
	Violations int64
	// Violating are the first of them.
	Violating []Violation
	// Unbound counts arrows left out because no bar lies where they would start or end.
	Unbound map[string]int64
	// NoRecords are the scheduler threads that serve rows and have no stream, so
	// that arrows from and to their bars are left out.
	NoRecords []int
	Legacy    map[string]int64 // records of kinds that are read and not drawn
	Unknown   map[string]int64 // records of kinds in no table, drawn under their own name
	// IdleBars counts the reconstructed idle bars.
	IdleBars int
	// HiddenRows counts the rows that were not wanted (Options.Only).
	HiddenRows int
	SPMD       int // tasks of several blocks
	// LossLanes is the number of lanes that show where records are missing.
	LossLanes int
	// OverheadPoints counts counter samples of the overhead analysis.
	OverheadPoints int
	Warnings       []capture.Warning
}

// Violation is an edge whose successor starts before its predecessor has ended.
type Violation struct {
	Pred, Succ uint64
	Overlap    int64 // ns
}

// Picture is the picture of one capture, with what is known about it.
type Picture struct {
	trace.Picture
	Report Report
	// SliceIDs and FlowIDs are how many numbers slices and arrows have: those below.
	SliceIDs, FlowIDs int64
}

// Trace is what writers take.
func (p *Picture) Trace() *trace.Picture { return &p.Picture }

// drawing is the state of the layout. The sections keep it.
type drawing struct {
	t   *timeline.Timeline
	opt Options
	pic *Picture

	spmdNames, plainNames map[int32]string // label in front of the id, per function

	kept []bool // rows that are drawn; nil if all are

	workers    workerView
	scheds     schedView
	streams    []streamLayout
	marks      marks
	submits    submits
	plan       arrowPlan
	losses     losses
	life       []lifeBar
	launches   []launchBar
	launchLane int32
	graphs     []timeline.GraphRun
	graphLanes []group
	procSched  int // index of process 2
	hasStreams bool
	flowID     int64
}

// New lays the picture of t out.
func New(t *timeline.Timeline, opt Options) (*Picture, error) {
	d := &drawing{t: t, opt: opt, pic: &Picture{}, hasStreams: len(t.Rec.Streams) > 0}
	d.pic.Report.Unbound = map[string]int64{}
	d.pic.Report.Legacy = map[string]int64{}
	d.pic.Report.Unknown = map[string]int64{}
	d.functionNames()
	for _, spmd := range t.Tasks.SPMD {
		if spmd {
			d.pic.Report.SPMD++
		}
	}
	// Layout first, from the outside in: marks need to know the submits, arrows everything.
	d.collectLosses()
	if err := d.chooseRows(); err != nil {
		return nil, err
	}
	if err := d.layOut(); err != nil {
		return nil, err
	}
	d.sections()
	d.flows()
	if opt.Overhead {
		d.overhead()
	}
	d.metadata()
	d.report()
	d.pic.SliceIDs, d.pic.FlowIDs = d.markID(int32(len(d.marks.list))), d.flowID
	return d.pic, nil
}

func (d *drawing) layOut() error {
	for _, step := range []func() error{
		d.layOutLifecycle, d.layOutGraphs, d.layOutStreams, d.layOutSubmits, d.placeAllRows,
		d.layOutWorkers, d.layOutSchedView, d.layOutUploads, d.layOutLaunches,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// placeAllRows finds the sub-lanes of all rows, and prepares their arrows, side by side.
func (d *drawing) placeAllRows() error {
	var g errgroup.Group
	g.Go(d.placeWorkers)
	g.Go(d.placeScheds)
	g.Go(func() error { d.planRows(); return nil })
	return g.Wait()
}

// functionNames composes every label once.
func (d *drawing) functionNames() {
	d.spmdNames, d.plainNames = map[int32]string{}, map[int32]string{}
	d.nameFunction(-1) // marks may need it
	for _, f := range d.t.Rows.Func {
		if _, ok := d.plainNames[f]; !ok {
			d.nameFunction(f)
		}
	}
}

func (d *drawing) nameFunction(f int32) {
	d.plainNames[f] = d.opt.Names.TaskFunction(int64(f), false)
	d.spmdNames[f] = d.opt.Names.TaskFunction(int64(f), true)
}

// appendLabel appends the label of a task (spec/converter.md §2.3).
func (d *drawing) appendLabel(b []byte, f int32, spmd bool, id uint64) []byte {
	if spmd {
		b = append(b, d.spmdNames[f]...)
	} else {
		b = append(b, d.plainNames[f]...)
	}
	b = append(b, '(')
	b = d.appendID(b, id)
	return append(b, ')')
}

func (d *drawing) appendID(b []byte, id uint64) []byte {
	return names.AppendTaskID(b, d.t.Rec.Dialect.IDs, id)
}

func (d *drawing) add(s trace.Section) {
	if s.Len() > 0 {
		d.pic.Sections = append(d.pic.Sections, s)
	}
}

func (d *drawing) sections() {
	d.add(launchSection{d})
	d.add(lifecycleSection{d})
	d.add(graphSection{d})
	d.add(workerSection{drawing: d})
	d.add(schedViewSection{d})
	for n := range d.streams {
		d.add(streamSection{d, n})
		d.add(idleSection{d, n})
	}
	d.add(uploadSection{d})
	for i := range d.submits.lanes {
		d.add(submitSection{d, i})
	}
	d.add(lossSection{d})
}

// report counts what the layout found, and warns of what a user should know.
func (d *drawing) report() {
	r := &d.pic.Report
	r.Lanes = len(d.pic.Lanes)
	if len(r.Unknown) > 0 {
		var total int64
		kinds := slices.Sorted(maps.Keys(r.Unknown))
		for _, n := range r.Unknown {
			total += n
		}
		const most = 8
		more := ""
		if n := len(kinds) - most; n > 0 {
			kinds, more = kinds[:most], fmt.Sprintf(" and %d more", n)
		}
		for i, k := range kinds {
			if len(k) > 60 || strings.ContainsFunc(k, func(r rune) bool { return !unicode.IsPrint(r) }) {
				kinds[i] = fmt.Sprintf("%.60q", k)
			}
		}
		d.warn("unknown-kinds", total, "%d scheduler record(s) have kinds that this version does not know; they are drawn under their own names: %s%s",
			total, strings.Join(kinds, ", "), more)
	}
}

// Items is the number of items in all sections.
func (p *Picture) Items() int64 {
	var n int64
	for _, s := range p.Sections {
		n += int64(s.Len())
	}
	return n
}

// ThreadNames are the names of the scheduler streams' lanes.
func ThreadNames(t *timeline.Timeline) []string {
	d := drawing{t: t}
	out := make([]string, len(t.Rec.Streams))
	for n := range out {
		out[n] = d.streamName(n)
	}
	return out
}
