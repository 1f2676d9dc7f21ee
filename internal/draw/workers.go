package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"swimlane/internal/names"
	"swimlane/timeline"
	"swimlane/trace"
)

// workerView is the layout of process 4: what ran on the cores, and what ran on
// no core (spec/converter.md §4.4, §4.5).
type workerView struct {
	process int
	cores   []group
	aicpu   []group
	subs    []int           // sub-lanes per core
	moved   int             // rows that are not on the first
	sub     []uint16        // sub-lane per row; nil if all lie on the first
	inner   map[int32]int64 // per row, start of the first bar nested in it
	// Arrows that run against their edge, per row: the tasks at the true ends.
	before, after map[int32][]uint64
}

func (d *drawing) placeWorkers() (err error) {
	w := &d.workers
	w.inner = map[int32]int64{}
	rows := &d.t.Rows
	w.subs, w.moved, err = d.placeRows(placer{strict: true, inner: func(outer int32, start int64) {
		if _, ok := w.inner[outer]; !ok {
			w.inner[outer] = start
		}
	}}, func(row int) (int64, int64, bool) {
		return d.t.Clock.Ns(rows.Receive[row]), d.t.Clock.Ns(rows.End[row]), d.rowKept(row)
	}, &w.sub)
	return err
}

func (d *drawing) layOutWorkers() error {
	w := &d.workers
	w.process = d.pic.process(pidWorkers, "Worker View")
	w.before, w.after = map[int32][]uint64{}, map[int32][]uint64{}
	d.pic.Report.Moved += w.moved
	w.cores = d.coreGroups(w.subs, timeline.LostKernel)
	next := d.pic.lanes(w.process, tidCore, 10, w.cores)
	d.markCores(timeline.LostKernel, w.cores)
	return d.layOutAICPU(max(next, tidAICPU))
}

// placeRows gives the rows of every core their sub-lanes. subs has the number
// of sub-lanes per core, 0 where no row of the core is drawn.
func (d *drawing) placeRows(p placer, span func(row int) (start, end int64, ok bool), sub *[]uint16) (subs []int, moved int, err error) {
	rows := &d.t.Rows
	subs = make([]int, len(d.t.Cores))
	count := make([]int32, len(d.t.Cores)+1)
	for _, c := range rows.Core {
		count[c+1]++
	}
	for i := range d.t.Cores {
		count[i+1] += count[i]
	}
	byCore := make([]int32, rows.Len())
	fill := append([]int32(nil), count...)
	for row, c := range rows.Core {
		byCore[fill[c]] = int32(row)
		fill[c]++
	}
	var bars []interval
	for c := range d.t.Cores {
		bars = bars[:0]
		for _, row := range byCore[count[c]:count[c+1]] {
			if start, end, ok := span(int(row)); ok {
				bars = append(bars, interval{row, start, end})
			}
		}
		if len(bars) == 0 {
			continue
		}
		subs[c], err = p.place(bars, func(row int32, s uint16) {
			if s == 0 {
				return
			}
			if *sub == nil {
				*sub = make([]uint16, rows.Len())
			}
			(*sub)[row] = s
			moved++
		})
		if err != nil {
			return nil, 0, fmt.Errorf("core %d of %s: %w", d.t.Cores[c].ID, d.t.Rec.Source, err)
		}
	}
	return subs, moved, nil
}

// coreGroups names a lane for every core that has rows, and behind them for the
// cores that only lost some.
func (d *drawing) coreGroups(subs []int, loss timeline.LossKind) []group {
	out := make([]group, len(d.t.Cores))
	here := map[int32]bool{}
	named := func(id int32, kind string, subs int) group {
		here[id] = true
		return group{name: fmt.Sprintf("%s_%d", strings.ToUpper(kind), id), at: uint32(id), subs: subs, lost: d.lost(loss, id)}
	}
	for c := range d.t.Cores {
		core := &d.t.Cores[c]
		out[c] = named(core.ID, core.Type, subs[c])
	}
	for _, id := range d.lostCores(loss) {
		if !here[id] {
			g := named(id, d.t.Rec.Meta.CoreType(id), 0)
			g.bare = true
			out = append(out, g)
		}
	}
	return out
}

// workerLane is the lane of a row in the Worker View.
func (d *drawing) workerLane(row int) int32 {
	lane := d.workers.cores[d.t.Rows.Core[row]].lane
	if d.workers.sub != nil {
		lane += int32(d.workers.sub[row])
	}
	return lane
}

// workerSpan is the bar of a row in the Worker View, in ns, and where a bar nested in it starts.
func (d *drawing) workerSpan(row int) (start, end, inner int64) {
	c := &d.t.Clock
	return c.Ns(d.t.Rows.Receive[row]), c.Ns(d.t.Rows.End[row]), d.workers.inner[int32(row)]
}

type workerSection struct {
	*drawing
	on func(task int32) bool // tasks that keep their names; nil: all
}

// Marked is the picture with the bars of the Worker View renamed whose tasks are not
// on a path, so that a viewer shows the path (spec/sched-overhead.md §10.5).
func (p *Picture) Marked(on func(task int32) bool) *trace.Picture {
	out := p.Picture
	out.Sections = slices.Clone(out.Sections)
	for i, s := range out.Sections {
		if w, ok := s.(workerSection); ok {
			out.Sections[i] = workerSection{w.drawing, on}
		}
	}
	return &out
}

func (s workerSection) Len() int { return s.t.Rows.Len() }

func (s workerSection) Walk(from, to int, sink trace.Sink) {
	rows, clock := &s.t.Rows, &s.t.Clock
	var text textBuf
	var args [10]trace.Arg
	for row := from; row < to; row++ {
		if !s.rowKept(row) {
			continue
		}
		task := rows.Task[row]
		id := s.t.Tasks.ID[task]
		receive, start, end := rows.Receive[row], rows.Start[row], rows.End[row]
		text.reset()
		var name []byte
		if s.on == nil || s.on(task) {
			name = text.put(s.appendLabel(text.tail(), rows.Func[row], s.t.Tasks.SPMD[task], id))
		} else {
			name = text.put(append(s.appendID(append(text.tail(), "·("...), id), ')'))
		}
		fanout, fanin := s.hints(&text, task)
		args := append(args[:0],
			trace.Arg{Key: "event-hint", Kind: trace.Text, Text: s.eventHint(&text, row, id)},
			trace.Arg{Key: "fanout-hint", Kind: trace.Text, Text: fanout},
			trace.Arg{Key: "fanin-hint", Kind: trace.Text, Text: fanin},
			micros("duration-us", clock.Span(end-receive)),
			micros("kernel-duration-us", clock.Span(end-start)),
			micros("local_setup_us", clock.Span(start-receive)),
			trace.Arg{Key: "taskId", Num: id})
		args = s.runArg(args, s.t.Tasks.RunOf(task))
		args = s.directions(&text, args, s.workers.after[int32(row)], s.workers.before[int32(row)])
		sink.Slice(&trace.Slice{
			Lane: s.workerLane(row), Start: clock.Ns(receive), End: clock.Ns(end),
			ID: int64(row), Name: name, Category: "event", Args: args,
		})
	}
}

func micros(key string, ns int64) trace.Arg {
	return trace.Arg{Key: key, Kind: trace.Micros, Num: uint64(ns)}
}

func (d *drawing) eventHint(text *textBuf, row int, id uint64) []byte {
	b := append(text.tail(), "Task:"...)
	b = d.appendID(b, id)
	b = append(b, ", FuncId:"...)
	b = strconv.AppendInt(b, int64(d.t.Rows.Func[row]), 10)
	b = append(b, ", CoreId:"...)
	return text.put(strconv.AppendInt(b, int64(d.t.CoreOf(row).ID), 10))
}

// hints list the successors and predecessors of a task.
func (d *drawing) hints(text *textBuf, task int32) (fanout, fanin []byte) {
	if d.t.Tasks.Node == nil || d.t.Tasks.Node[task] < 0 {
		return noTasks, noTasks
	}
	g, node := d.t.Graph, d.t.Tasks.Node[task]
	list := func(nodes []int32) []byte {
		if len(nodes) == 0 {
			return noTasks
		}
		b := strconv.AppendInt(text.tail(), int64(len(nodes)), 10)
		b = append(b, ": ["...)
		for i, n := range nodes {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = names.AppendTaskID(b, d.t.Rec.Dialect.IDs, g.ID(n))
		}
		return text.put(append(b, ']'))
	}
	return list(g.Succ(node)), list(g.Pred(node))
}

var noTasks = []byte("0: []")

// directions appends the true direction of arrows that run against their edge.
func (d *drawing) directions(text *textBuf, args []trace.Arg, after, before []uint64) []trace.Arg {
	list := func(key string, ids []uint64) {
		if len(ids) == 0 {
			return
		}
		b := append(text.tail(), '[')
		for i, id := range ids {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = d.appendID(b, id)
		}
		args = append(args, trace.Arg{Key: key, Kind: trace.Text, Text: text.put(append(b, ']'))})
	}
	list("hb-violation-successors", after)
	list("hb-violation-predecessors", before)
	return args
}

// textBuf holds the texts of one event in one buffer.
type textBuf struct{ b []byte }

func (t *textBuf) reset() { t.b = t.b[:0] }

// tail is where the next text is appended.
func (t *textBuf) tail() []byte {
	if cap(t.b)-len(t.b) < 256 {
		// Earlier texts of the event keep their old buffer.
		t.b = make([]byte, 0, max(2048, 2*cap(t.b)))
	}
	return t.b[len(t.b):]
}

// put takes what was appended to tail, and returns it.
func (t *textBuf) put(text []byte) []byte {
	if n := len(t.b) + len(text); n <= cap(t.b) && len(text) > 0 && &t.b[:n][n-1] == &text[len(text)-1] {
		t.b = t.b[:n]
	}
	return text[:len(text):len(text)]
}
