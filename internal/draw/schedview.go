package draw

import (
	"swimlane/timeline"
	"swimlane/trace"
)

// schedView is the layout of process 3: tasks from dispatch to finish
// (spec/converter.md §4.6). Tasks of one core overlap there by design.
type schedView struct {
	process       int
	cores         []group
	index         []int // core → cores, −1 if it is not drawn
	sub           []uint16
	subs          []int // sub-lanes per core
	stacked       int   // rows that are not on the first
	before, after map[int32][]uint64
}

func (d *drawing) placeScheds() (err error) {
	if !d.t.Timed() {
		return nil
	}
	v, rows := &d.scheds, &d.t.Rows
	// In ns, as everywhere: what a clock above 1 GHz puts into one ns would hide
	// each other on one lane.
	v.subs, v.stacked, err = d.placeRows(placer{flat: true}, func(row int) (int64, int64, bool) {
		return d.t.Clock.Ns(rows.Dispatch[row]), d.t.Clock.Ns(rows.Finish[row]), rows.Timed(row) && d.rowKept(row)
	}, &v.sub)
	return err
}

func (d *drawing) layOutSchedView() error {
	if !d.t.Timed() {
		return nil
	}
	v := &d.scheds
	v.process = d.pic.process(pidSchedView, "Scheduler View")
	v.before, v.after = map[int32][]uint64{}, map[int32][]uint64{}
	d.pic.Report.Stacked = v.stacked
	v.index = make([]int, len(d.t.Cores))
	for c, g := range d.coreGroups(v.subs, timeline.LostTiming) {
		if c < len(v.index) {
			v.index[c] = -1
		}
		if g.subs > 0 || g.lost {
			if c < len(v.index) {
				v.index[c] = len(v.cores)
			}
			v.cores = append(v.cores, g)
		}
	}
	d.pic.lanes(v.process, tidCore, 10, v.cores)
	d.markCores(timeline.LostTiming, v.cores)
	return nil
}

func (d *drawing) schedLane(row int) int32 {
	lane := d.scheds.cores[d.scheds.index[d.t.Rows.Core[row]]].lane
	if d.scheds.sub != nil {
		lane += int32(d.scheds.sub[row])
	}
	return lane
}

// schedID is the number of a row's bar in the Scheduler View.
func (d *drawing) schedID(row int) int64 { return int64(d.t.Rows.Len() + row) }

type schedViewSection struct{ *drawing }

func (s schedViewSection) Len() int {
	if !s.t.Timed() {
		return 0
	}
	return s.t.Rows.Len()
}

func (s schedViewSection) Walk(from, to int, sink trace.Sink) {
	rows, clock := &s.t.Rows, &s.t.Clock
	var text textBuf
	var args [8]trace.Arg
	for row := from; row < to; row++ {
		if !rows.Timed(row) || !s.rowKept(row) {
			continue
		}
		task := rows.Task[row]
		id := s.t.Tasks.ID[task]
		dispatch, finish := rows.Dispatch[row], rows.Finish[row]
		text.reset()
		name := text.put(s.appendLabel(text.tail(), rows.Func[row], s.t.Tasks.SPMD[task], id))
		args := append(args[:0],
			trace.Arg{Key: "event-hint", Kind: trace.Text, Text: s.eventHint(&text, row, id)},
			micros("dispatch-time-us", clock.Ns(dispatch)),
			micros("finish-time-us", clock.Ns(finish)),
			micros("scheduler-duration-us", clock.Span(finish-dispatch)),
			trace.Arg{Key: "taskId", Num: id})
		args = s.runArg(args, s.t.Tasks.RunOf(task))
		args = s.directions(&text, args, s.scheds.after[int32(row)], s.scheds.before[int32(row)])
		sink.Slice(&trace.Slice{
			Lane: s.schedLane(row), Start: clock.Ns(dispatch), End: clock.Ns(finish),
			ID: s.schedID(row), Name: name, Category: "event", Args: args,
		})
	}
}
