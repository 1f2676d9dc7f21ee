package draw

import (
	"fmt"

	"swimlane/capture"
	"swimlane/trace"
)

// shortestMark is the length of a mark whose record is shorter, in ns: marks of
// no length hide under other bars (spec/converter.md §4.7).
const shortestMark = 20

// mark is a bar of the Worker View for a task that ran on no core: a dummy, a
// predicated skip, an allocation.
type mark struct {
	task       uint64
	run        int32
	start, end int64 // ns
	worker     int32 // AICPU worker
	sub        uint16
	fn         int32 // predicated skip: its function
	named      bool  // the record names a task; only then arrows use the mark
	before     []uint64
	after      []uint64
}

// marks are all marks of a picture, in the order they are drawn.
type marks struct {
	list    []mark
	record  []map[int32]int32 // stream → record → mark
	submit  []map[int32]int32 // orchestrator lane → record → mark
	inner   map[int32]int64
	byTask  map[runTask][]int32
	dummies map[runTask]bool // tasks with a dummy_task record
	skipped map[runTask]bool // tasks with a predicated_skip record
}

// runTask is a task of one run.
type runTask struct {
	run int32
	id  uint64
}

func (m *mark) key() runTask { return runTask{m.run, m.task} }

// collectMarks finds the marks among the scheduler records.
func (d *drawing) collectMarks() error {
	m := &d.marks
	m.byTask = map[runTask][]int32{}
	m.dummies, m.skipped = map[runTask]bool{}, map[runTask]bool{}
	m.record = make([]map[int32]int32, len(d.t.Rec.Streams))
	for n := range d.t.Rec.Streams {
		p := &d.t.Rec.Streams[n].Phases
		for j, k := range p.Kind {
			if d.t.Rec.Kinds[k].Class != capture.Marker {
				continue
			}
			named := p.Flags[j]&capture.HasTask != 0
			start := d.t.Clock.Ns(p.Start[j])
			mk := mark{task: p.Task[j], run: runAt(p.Run, j), named: named, worker: int32(n), fn: -1,
				start: start, end: max(d.t.Clock.Ns(max(p.End[j], p.Start[j])), start+shortestMark)}
			if k == capture.KindPredicatedSkip {
				mk.fn = d.skippedFunction(p.Task[j], named)
				if named {
					m.skipped[mk.key()] = true
				}
			} else if named {
				m.dummies[mk.key()] = true
			}
			if m.record[n] == nil {
				m.record[n] = map[int32]int32{}
			}
			m.record[n][int32(j)] = d.addMark(mk)
		}
	}
	return nil
}

func (d *drawing) addMark(mk mark) int32 {
	m := &d.marks
	i := int32(len(m.list))
	m.list = append(m.list, mk)
	if mk.named {
		if m.byTask == nil {
			m.byTask = map[runTask][]int32{}
		}
		m.byTask[mk.key()] = append(m.byTask[mk.key()], i)
	}
	return i
}

// skippedFunction is the first kernel of a predicated task, −1 if the graph names none.
func (d *drawing) skippedFunction(task uint64, named bool) int32 {
	if !named || d.t.Graph == nil {
		return -1
	}
	if node, ok := d.t.Graph.Node(task); ok {
		if k, ok := d.t.Graph.Kernel(node); ok {
			for _, f := range k {
				if f >= 0 {
					d.nameFunction(f)
					return f
				}
			}
		}
	}
	return -1
}

// layOutAICPU names the AICPU workers' lanes, whether or not anything is drawn
// there, and places the marks on them.
func (d *drawing) layOutAICPU(base uint32) error {
	m := &d.marks
	workers := d.t.Threads + len(d.submits.lanes)
	d.workers.aicpu = make([]group, workers)
	bars := make([][]interval, workers)
	for i := range m.list {
		mk := &m.list[i]
		bars[mk.worker] = append(bars[mk.worker], interval{int32(i), mk.start, mk.end})
	}
	m.inner = map[int32]int64{}
	pl := placer{strict: true, inner: func(outer int32, start int64) {
		if _, ok := m.inner[outer]; !ok {
			m.inner[outer] = start
		}
	}}
	for w := range d.workers.aicpu {
		g := group{name: fmt.Sprintf("AICPU_%d", w), at: uint32(w), subs: 1}
		if len(bars[w]) > 0 {
			subs, err := pl.place(bars[w], func(i int32, sub uint16) {
				m.list[i].sub = sub
				if sub > 0 {
					d.pic.Report.Moved++
				}
			})
			if err != nil {
				return fmt.Errorf("AICPU worker %d of %s: %w", w, d.t.Rec.Source, err)
			}
			g.subs = subs
		}
		d.workers.aicpu[w] = g
	}
	d.pic.lanes(d.workers.process, base, 1, d.workers.aicpu)
	return nil
}

func (d *drawing) markLane(i int32) int32 {
	mk := &d.marks.list[i]
	return d.workers.aicpu[mk.worker].lane + int32(mk.sub)
}

// markID is the number of a mark's bar.
func (d *drawing) markID(i int32) int64 { return int64(2*d.t.Rows.Len()) + int64(i) }

// marker draws the mark of a scheduler record.
func (d *drawing) marker(n, j int, sink trace.Sink) {
	i := d.marks.record[n][int32(j)]
	mk := &d.marks.list[i]
	p := &d.t.Rec.Streams[n].Phases
	var text textBuf
	var name []byte
	skip := p.Kind[j] == capture.KindPredicatedSkip
	switch {
	case skip:
		name = text.put(d.appendLabel(text.tail(), mk.fn, d.skipSPMD(mk), mk.task))
	case !mk.named:
		name = []byte("dummy(unknown)")
	default:
		name = text.put(append(d.appendID(append(text.tail(), "dummy("...), mk.task), ')'))
	}
	args := []trace.Arg{
		{Key: "loop_iter", Kind: trace.Int, Num: uint64(p.Loop[j])},
		{Key: "task_id", Num: mk.task},
		{Key: "event-hint", Kind: trace.Text, Text: name},
	}
	if !mk.named {
		args[1].Kind = trace.Null
	}
	if skip {
		args = append(args, trace.Arg{Key: "predicated_pass", Kind: trace.Bool})
	} else {
		args = append(args, trace.Arg{Key: "phase", Kind: trace.Text, Text: []byte("dummy_task")})
	}
	args = d.runArg(args, runAt(p.Run, j))
	args = d.directions(&text, args, mk.after, mk.before)
	sink.Slice(&trace.Slice{
		Lane: d.markLane(i), Start: mk.start, End: mk.end, ID: d.markID(i), Name: name, Category: "event", Args: args,
	})
}

// skipSPMD applies the rule for tasks of several blocks to a skipped task.
func (d *drawing) skipSPMD(mk *mark) bool {
	if i := d.t.Tasks.Find(mk.run, mk.task); i >= 0 {
		return d.t.Tasks.SPMD[i]
	}
	if d.t.Graph == nil {
		return false
	}
	node, ok := d.t.Graph.Node(mk.task)
	return ok && d.t.SPMDNode(node)
}
