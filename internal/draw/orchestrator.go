package draw

import (
	"fmt"
	"strconv"

	"swimlane/capture"
	"swimlane/timeline"
	"swimlane/trace"
)

// submits is the layout of process 1: what the orchestrator did, and the
// uploads of a host orchestrator (spec/converter.md §4.8, §4.9).
type submits struct {
	process int
	lanes   []capture.Submits
	host    bool
	byID    map[uint64][]int32 // see tasksOf
	groups  []group
	sub     [][]uint16 // per lane and record; nil if all lie on the first sub-lane
	inner   []map[int32]int64
	uploads group
	upSub   []uint16
}

func (d *drawing) layOutSubmits() error {
	s := &d.submits
	s.lanes, s.host = d.t.Rec.DeviceOrc, false
	if len(d.t.Rec.HostOrc) > 0 {
		s.lanes, s.host = d.t.Rec.HostOrc, true
	}
	if len(s.lanes) == 0 {
		return nil
	}
	s.process = d.pic.process(pidOrchestrator, d.orchestratorName())
	s.sub = make([][]uint16, len(s.lanes))
	s.inner = make([]map[int32]int64, len(s.lanes))
	for i := range s.lanes {
		g := group{name: fmt.Sprintf("Orch_%d", i), at: uint32(i), subs: 1, lost: d.lost(timeline.LostSubmit, int32(i))}
		if s.host {
			g.name = fmt.Sprintf("Host_%d", i)
		}
		inner := map[int32]int64{}
		bars := make([]interval, s.lanes[i].Len())
		for j := range bars {
			start, end := d.submitSpan(i, j)
			bars[j] = interval{int32(j), start, end}
		}
		pl := placer{strict: true, inner: func(outer int32, start int64) {
			if _, ok := inner[outer]; !ok {
				inner[outer] = start
			}
		}}
		if len(bars) > 0 {
			subs, err := pl.place(bars, func(j int32, sub uint16) {
				if sub == 0 {
					return
				}
				if s.sub[i] == nil {
					s.sub[i] = make([]uint16, s.lanes[i].Len())
				}
				s.sub[i][j] = sub
				d.pic.Report.Moved++
			})
			if err != nil {
				return fmt.Errorf("orchestrator lane %d of %s: %w", i, d.t.Rec.Source, err)
			}
			g.subs = subs
		}
		s.inner[i] = inner
		s.groups = append(s.groups, g)
	}
	d.pic.lanes(s.process, tidSubmit, 1, s.groups)
	for i, g := range s.groups {
		if g.lost {
			d.markLosses(timeline.LostSubmit, int32(i), g.lossLane)
		}
	}
	d.collectAllocations()
	return nil
}

func (d *drawing) orchestratorName() string {
	if d.submits.host {
		return "Host Orchestrator"
	}
	if d.opt.Names != nil && d.opt.Names.Orchestrator != "" {
		return "AICPU " + d.opt.Names.Orchestrator
	}
	return "AICPU Orchestrator"
}

// submitSpan is the bar of an orchestrator record in ns.
func (d *drawing) submitSpan(lane, j int) (start, end int64) {
	s := &d.submits.lanes[lane]
	if d.submits.host {
		return d.t.Host.Ns(s.Start[j]), d.t.Host.Ns(s.End[j])
	}
	return d.t.Clock.Ns(s.Start[j]), d.t.Clock.Ns(max(s.End[j], s.Start[j]))
}

func (d *drawing) submitLane(lane, j int) int32 {
	l := d.submits.groups[lane].lane
	if d.submits.sub[lane] != nil {
		l += int32(d.submits.sub[lane][j])
	}
	return l
}

// collectAllocations finds the submits that allocated memory: tasks that are
// neither kernels nor dummies nor skipped (spec/converter.md §4.9).
func (d *drawing) collectAllocations() {
	s, m := &d.submits, &d.marks
	m.submit = make([]map[int32]int32, len(s.lanes))
	skipped, dummies, expanded := m.skipped, m.dummies, d.expandedTasks()
	if s.host { // its submits name no run: they may be of any
		skipped, dummies, expanded = ofAnyRun(skipped), ofAnyRun(dummies), ofAnyRun(expanded)
	}
	var missing []uint64
	warned := map[uint64]bool{}
	// AICore schedulers record no dummies; what the graph has without kernels is a graph task there.
	marked := d.t.Rec.Sched.Producer != capture.ProducerAICore
	for i := range s.lanes {
		lane := &s.lanes[i]
		for j, id := range lane.Task {
			of := runTask{runAt(lane.Run, j), id}
			if s.host {
				of.run = anyRun
			}
			if !lane.Has[j] || skipped[of] {
				continue
			}
			regular, dummy, listed := d.nodeKind(id)
			if !listed {
				regular, dummy = d.ran(of), dummies[of]
			} else if dummy && marked && !dummies[of] && !expanded[of] && !warned[id] {
				warned[id] = true
				missing = append(missing, id)
			}
			if regular || dummy {
				continue
			}
			if m.submit[i] == nil {
				m.submit[i] = map[int32]int32{}
			}
			start, end := d.submitSpan(i, j)
			m.submit[i][int32(j)] = d.addMark(mark{task: id, run: max(of.run, 0), named: true, fn: -1,
				start: start, end: max(end, start+shortestMark), worker: int32(d.t.Threads + i)})
		}
	}
	for k, id := range missing {
		if k == 3 {
			d.warn("dummy-without-record", int64(len(missing)-k), "%d more dummies have no dummy_task scheduler record.", len(missing)-k)
			break
		}
		d.warn("dummy-without-record", 1, "dummy(%s) has no dummy_task scheduler record; its Worker View bar cannot be rendered.", d.appendID(nil, id))
	}
}

// anyRun stands for the run of a submit of the host.
const anyRun = -1

// ofAnyRun adds every task of a set as one of any run.
func ofAnyRun(set map[runTask]bool) map[runTask]bool {
	out := make(map[runTask]bool, len(set))
	for of := range set {
		out[runTask{anyRun, of.id}] = true
	}
	return out
}

// ran reports whether a task has rows.
func (d *drawing) ran(of runTask) bool {
	if of.run == anyRun {
		return len(d.tasksOf(of.id)) > 0
	}
	return d.t.Tasks.Find(of.run, of.id) >= 0
}

// tasksOf are the tasks of all runs that have an id, by ascending run.
func (d *drawing) tasksOf(id uint64) []int32 {
	s := &d.submits
	if len(d.t.Rec.Runs) == 1 {
		if i := d.t.Tasks.Find(0, id); i >= 0 {
			return []int32{i}
		}
		return nil
	}
	if s.byID == nil {
		s.byID = make(map[uint64][]int32, d.t.Tasks.Len())
		for i, of := range d.t.Tasks.ID { // run by run
			s.byID[of] = append(s.byID[of], int32(i))
		}
	}
	return s.byID[id]
}

// expandedTasks are the graph tasks that a scheduler expanded. They run nothing
// themselves, like dummies, but have no dummy record: their bar is that of the graph.
func (d *drawing) expandedTasks() map[runTask]bool {
	out := map[runTask]bool{}
	for n := range d.t.Rec.Streams {
		p := &d.t.Rec.Streams[n].Phases
		for j, k := range p.Kind {
			if k == capture.KindGraphPrepare && p.Flags[j]&capture.HasTask != 0 {
				out[runTask{runAt(p.Run, j), p.Task[j]}] = true
			}
		}
	}
	return out
}

func (d *drawing) warn(code string, n int64, format string, args ...any) {
	d.pic.Report.Warnings = append(d.pic.Report.Warnings, capture.Warning{Code: code, Count: n, Text: fmt.Sprintf(format, args...)})
}

// nodeKind asks the graph what a task is.
func (d *drawing) nodeKind(id uint64) (regular, dummy, listed bool) {
	if d.t.Graph == nil {
		return false, false, false
	}
	node, ok := d.t.Graph.Node(id)
	if !ok {
		return false, false, false
	}
	k, ok := d.t.Graph.Kernel(node)
	if !ok {
		return false, false, false
	}
	dummy = k[0] < 0 && k[1] < 0 && k[2] < 0
	return !dummy, dummy, true
}

type submitSection struct {
	*drawing
	lane int
}

func (s submitSection) Len() int { return s.submits.lanes[s.lane].Len() }

func (s submitSection) Walk(from, to int, sink trace.Sink) {
	lane := &s.submits.lanes[s.lane]
	var text textBuf
	phase := []byte("orch_submit")
	args := make([]trace.Arg, 3)
	for j := from; j < to; j++ {
		if lane.Has[j] && !s.taskKept(runAt(lane.Run, j), lane.Task[j]) {
			continue
		}
		text.reset()
		b := append(text.tail(), "submit("...)
		args = append(args[:0],
			trace.Arg{Key: "phase", Kind: trace.Text, Text: phase},
			trace.Arg{Key: "submit_idx", Kind: trace.Int, Num: uint64(lane.Index[j])},
			trace.Arg{Key: "task_id", Num: lane.Task[j]})
		if lane.Has[j] {
			b = s.appendID(b, lane.Task[j])
		} else {
			b = strconv.AppendInt(b, lane.Index[j], 10)
			minusOne := int64(-1)
			args[2] = trace.Arg{Key: "task_id", Kind: trace.Int, Num: uint64(minusOne)}
		}
		if !s.submits.host { // host records name no run
			args = s.runArg(args, runAt(lane.Run, j))
		}
		start, end := s.submitSpan(s.lane, j)
		sink.Slice(&trace.Slice{
			Lane: s.submitLane(s.lane, j), Start: start, End: end, ID: trace.NoID,
			Name: text.put(append(b, ')')), Category: "orchestrator", Color: "rail_animation", Args: args,
		})
		if i, ok := s.marks.submit[s.lane][int32(j)]; ok {
			s.allocation(i, &text, sink)
		}
	}
}

func (d *drawing) allocation(i int32, text *textBuf, sink trace.Sink) {
	mk := &d.marks.list[i]
	name := text.put(append(d.appendID(append(text.tail(), "alloc("...), mk.task), ')'))
	args := []trace.Arg{
		{Key: "phase", Kind: trace.Text, Text: []byte("alloc")},
		{Key: "task_id", Num: mk.task},
		{Key: "event-hint", Kind: trace.Text, Text: name},
	}
	if !d.submits.host {
		args = d.runArg(args, mk.run)
	}
	args = d.directions(text, args, mk.after, mk.before)
	sink.Slice(&trace.Slice{
		Lane: d.markLane(i), Start: mk.start, End: mk.end, ID: d.markID(i), Name: name, Category: "event", Color: "olive", Args: args,
	})
}

func (d *drawing) layOutUploads() error {
	s := &d.submits
	ups := d.t.Rec.Uploads
	if len(ups) == 0 {
		return nil
	}
	if len(s.lanes) == 0 {
		s.process = d.pic.process(pidOrchestrator, "Host Prepare")
	}
	s.upSub = make([]uint16, len(ups))
	bars := make([]interval, len(ups))
	for i := range ups {
		bars[i] = interval{int32(i), d.t.Host.Ns(ups[i].Start), d.t.Host.Ns(ups[i].End)}
	}
	subs, err := placer{}.place(bars, func(i int32, sub uint16) {
		s.upSub[i] = sub
		if sub > 0 {
			d.pic.Report.Moved++
		}
	})
	if err != nil {
		return fmt.Errorf("host uploads of %s: %w", d.t.Rec.Source, err)
	}
	base := uint32(tidUpload)
	for _, l := range d.pic.Lanes {
		if l.Process == s.process {
			base = max(base, l.TID+1)
		}
	}
	groups := []group{{name: "H2D", subs: subs}}
	d.pic.lanes(s.process, base, 1, groups)
	s.uploads = groups[0]
	return nil
}

type uploadSection struct{ *drawing }

func (s uploadSection) Len() int { return len(s.t.Rec.Uploads) }

func (s uploadSection) Walk(from, to int, sink trace.Sink) {
	for i := from; i < to; i++ {
		u := &s.t.Rec.Uploads[i]
		sink.Slice(&trace.Slice{
			Lane: s.submits.uploads.lane + int32(s.submits.upSub[i]), Start: s.t.Host.Ns(u.Start), End: s.t.Host.Ns(u.End),
			ID: trace.NoID, Name: []byte(u.Phase), NameFirst: true, Category: "host_h2d", Color: "thread_state_iowait",
			Args: []trace.Arg{{Key: "bytes", Kind: trace.Int, Num: uint64(u.Bytes)}},
		})
	}
}
