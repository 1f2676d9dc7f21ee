package depview

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/timeline"
)

// Kind is what a task of the graph is.
type Kind uint8

// The kinds of tasks.
const (
	// Alloc creates storage; it has no entry in tasks[] and was never submitted as a kernel.
	Alloc Kind = iota
	// Submit runs kernels.
	Submit
	// Dummy was submitted for its dependencies alone.
	Dummy
)

func (k Kind) String() string { return [...]string{"alloc", "submit", "dummy"}[k] }

// The core types of tasks. AnyCore: neither the graph nor the records tell.
const (
	AnyCore = ""
	AIC     = "aic"
	AIV     = "aiv"
	Mix     = "mix"
)

// Model is a task graph with what is known about its tasks. Nodes are numbered in the
// order of their ids, edges in the order of producer and consumer.
type Model struct {
	Source   string // the graph file, as errors call it
	Graph    *capture.DepsDetail
	Runtime  string // that of the graph, or where it names none that of the records; for display
	IDs      capture.IDLayout
	Names    *names.Map // nil: none
	Sidecar  string     // the records file whose times are joined, "": none
	Warnings []string   // what was passed over, and what does not fit together

	id    []uint64
	entry []int32 // the task's last entry in tasks[], −1 if there is none
	bare  bool    // ids are shown as local numbers
	named bool    // some task's function has a name in the map

	// Edges leave node n as from[n] … from[n+1]−1, and reach it as in[into[n]] … in[into[n+1]−1].
	pred, succ []int32
	from, into []int32
	in         []int32
	rowFrom    []int32 // the rows of edge e are row[rowFrom[e]] … row[rowFrom[e+1]−1]
	row        []int32
	creator    []bool // by edge: some row says that the producer owns the storage

	tensor map[uint64]int32 // index in Graph.Tensors, by tensor_id

	ran  []bool   // by node: it has a timed row; nil without records
	time []Timing // nil unless times were asked for
}

// Timing is what the records say of a task.
type Timing struct {
	Rows     int    // kernel rows; 0: it has not run, or its records were lost
	CoreType string // AIC, AIV or Mix, of all rows
	Core     int32  // of the primary row: the first on an AIC core, otherwise the first one
	Start    int64  // of the primary row, in ns from the picture's zero
	End      int64
	First    int64 // the earliest start of all rows
	Last     int64 // the latest end
}

// Duration is how long the primary row's kernel took, in ns.
func (t *Timing) Duration() int64 { return t.End - t.Start }

// New builds the model of a graph. ran are ids of tasks that have kernel rows, in any
// order; nil if there are no records. functions may be nil.
func New(graph *capture.DepsDetail, functions *names.Map, ran []uint64) (*Model, error) {
	const most = math.MaxInt32 / 2
	if len(graph.Pred) >= most || len(graph.Task) >= most || len(ran) >= most {
		return nil, fmt.Errorf("%s has %d edges and %d tasks, more than this version can hold", graph.Source, len(graph.Pred), len(graph.Task))
	}
	m := &Model{Source: graph.Source, Graph: graph, Runtime: graph.Runtime, Names: functions}
	switch graph.Runtime {
	case capture.RuntimeTMR:
		m.IDs = capture.Rings
	case capture.RuntimeHBG:
		m.IDs = capture.Spaces
	case "":
	default:
		m.warn("%s names the runtime '%.40s', which this version does not know; task ids are split into a high and a low word", m.Source, graph.Runtime)
	}
	m.nodes(ran)
	m.edges()
	m.tensors()
	m.idText()
	m.checkNames()
	m.told()
	return m, nil
}

func (m *Model) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

// nodes numbers every task that appears anywhere.
func (m *Model) nodes(ran []uint64) {
	g := m.Graph
	m.id = slices.Clone(g.Task)
	slices.Sort(m.id)
	m.id = slices.Compact(m.id)
	var more []uint64 // few as a rule
	for _, list := range [][]uint64{g.Pred, g.Succ, ran} {
		at := m.cursor()
		for _, id := range list {
			if n := at.node(id); int(n) == len(m.id) || m.id[n] != id {
				more = append(more, id)
			}
		}
	}
	slices.Sort(more)
	m.id = append(m.id, slices.Compact(more)...)
	slices.Sort(m.id)
	m.entry = make([]int32, len(m.id))
	for n := range m.entry {
		m.entry[n] = -1
	}
	at := m.cursor()
	for i, id := range g.Task {
		m.entry[at.node(id)] = int32(i) // the last one wins
	}
	if ran != nil {
		m.ran = make([]bool, len(m.id))
		for _, id := range ran {
			m.ran[at.node(id)] = true
		}
	}
}

// cursor finds where ids stand among those of the nodes. Neighbouring lookups are often
// of neighbouring ids.
type cursor struct {
	m    *Model
	last int32
}

func (m *Model) cursor() *cursor { return &cursor{m: m} }

func (c *cursor) node(id uint64) int32 {
	for _, n := range [...]int32{c.last, c.last + 1} {
		if int(n) < len(c.m.id) && c.m.id[n] == id {
			c.last = n
			return n
		}
	}
	n, _ := slices.BinarySearch(c.m.id, id)
	c.last = int32(n)
	return c.last
}

// edges sorts the rows by producer and consumer, and counts pairs once.
func (m *Model) edges() {
	g := m.Graph
	pred, succ := make([]int32, len(g.Pred)), make([]int32, len(g.Pred))
	p, s := m.cursor(), m.cursor()
	for i := range g.Pred {
		pred[i], succ[i] = p.node(g.Pred[i]), s.node(g.Succ[i])
	}
	// By consumer first, then by producer, each in place: rows of a pair stay in the order of the file.
	byPair := sortBy(sortBy(nil, succ, len(m.id)), pred, len(m.id))
	m.from = make([]int32, len(m.id)+1)
	m.into = make([]int32, len(m.id)+1)
	for k, i := range byPair {
		if e := len(m.pred) - 1; k == 0 || pred[i] != m.pred[e] || succ[i] != m.succ[e] {
			m.pred, m.succ = append(m.pred, pred[i]), append(m.succ, succ[i])
			m.rowFrom = append(m.rowFrom, int32(k))
			m.creator = append(m.creator, false)
			m.from[pred[i]+1]++
			m.into[succ[i]+1]++
		}
		if g.Rows[i].Source == capture.SourceCreator {
			m.creator[len(m.creator)-1] = true
		}
	}
	m.row, m.rowFrom = byPair, append(m.rowFrom, int32(len(byPair)))
	for n := range m.id {
		m.from[n+1] += m.from[n]
		m.into[n+1] += m.into[n]
	}
	m.in = sortBy(nil, m.succ, len(m.id))
}

// sortBy orders positions by their keys below n; equal ones keep the order they have
// in order, nil being that of the positions.
func sortBy(order, key []int32, n int) []int32 {
	at := make([]int32, n+1)
	for _, k := range key {
		at[k+1]++
	}
	for k := range n {
		at[k+1] += at[k]
	}
	out := make([]int32, len(key))
	put := func(i int32) {
		out[at[key[i]]] = i
		at[key[i]]++
	}
	if order == nil {
		for i := range key {
			put(int32(i))
		}
	} else {
		for _, i := range order {
			put(i)
		}
	}
	return out
}

func (m *Model) tensors() {
	m.tensor = make(map[uint64]int32, len(m.Graph.Tensors))
	for i := range m.Graph.Tensors {
		t := &m.Graph.Tensors[i]
		if _, again := m.tensor[t.ID]; !again && t.Has&capture.HasTensorID != 0 {
			m.tensor[t.ID] = int32(i)
		}
	}
}

// idText finds how ids are shown (spec/deps.md §6.3, spec/newest.md §12).
func (m *Model) idText() {
	odd, first := 0, uint64(0)
	wide := 0
	m.bare = m.IDs != capture.Rings
	for _, id := range m.id {
		if m.IDs.Check(id) != "" {
			if odd++; odd == 1 {
				first = id
			}
		}
		switch m.IDs {
		case capture.HighLow:
			m.bare = m.bare && (id>>32)&0xff == 0
			if id>>40 != 0 {
				wide++
			}
		case capture.Spaces:
			m.bare = m.bare && id>>62 == capture.SpaceGlobal
		}
	}
	if odd > 0 {
		m.warn("%s in %s; %s like that, and tasks that show the same id may be different ones", m.IDs.Check(first), m.Source, plural(odd, "id"))
	}
	if wide > 0 {
		m.warn("%s in %s with bits above the high byte, which ids do not show: tasks that show the same id may be different ones", plural(wide, "id"), m.Source)
	}
}

// checkNames finds out whether the name map names anything.
func (m *Model) checkNames() {
	if m.Names == nil {
		return
	}
	for n := range m.id {
		slots, _ := m.Slots(int32(n))
		for _, f := range slots {
			if _, ok := m.Names.Name(int64(f)); ok && f >= 0 {
				m.named = true
				return
			}
		}
	}
}

// told says what of the file was passed over.
func (m *Model) told() {
	g := m.Graph
	if g.NoEdges {
		m.warn("%s has no 'edges' array; the view shows tasks without dependencies", m.Source)
	}
	if g.Skipped > 0 {
		m.warn("%s has %s without two task ids; skipped", m.Source, plural(int(g.Skipped), "edge"))
	}
	if g.Nameless > 0 {
		m.warn("%s has %s without a task id; skipped", m.Source, plural(int(g.Nameless), "task"))
	}
	if g.Odd > 0 {
		m.warn("%s has %s that the format does not have there; taken as absent", m.Source, plural(int(g.Odd), "value"))
	}
	unlisted, members := 0, 0
	for n, id := range m.id {
		if !m.Ran(int32(n)) || m.entry[n] >= 0 {
			continue
		}
		// A graph task is listed, the tasks that it was expanded to are not.
		if outer, _, ok := m.IDs.GraphMember(id); ok && m.listed(outer) {
			members++
		} else {
			unlisted++
		}
	}
	if members > 0 {
		m.warn("%s that ran and that %s does not list: expanded from graph tasks, shown as alloc", plural(members, "task"), m.Source)
	}
	if unlisted > 0 {
		why := "it may be the graph of another run"
		if m.taskless() { // no id tells a member where AICore schedulers ran a graph task
			why = "they may be expanded from graph tasks, or it is the graph of another run"
		}
		m.warn("%s that ran and that %s does not list: shown as alloc; %s", plural(unlisted, "task"), m.Source, why)
	}
}

// taskless reports whether there is an entry without kernels, which may be a graph task.
func (m *Model) taskless() bool {
	for n := range m.id {
		if slots, ok := m.Slots(int32(n)); ok && max(slots[0], slots[1], slots[2]) < 0 {
			return true
		}
	}
	return false
}

// listed reports whether a task has an entry in tasks[].
func (m *Model) listed(id uint64) bool {
	n, ok := m.Node(id)
	return ok && m.entry[n] >= 0
}

// Ran reports whether the records have rows of a task.
func (m *Model) Ran(n int32) bool { return m.ran != nil && m.ran[n] }

// Nodes is the number of tasks.
func (m *Model) Nodes() int { return len(m.id) }

// Edges is the number of distinct edges.
func (m *Model) Edges() int { return len(m.pred) }

// ID is the task id of a node.
func (m *Model) ID(n int32) uint64 { return m.id[n] }

// Node is the node of a task id.
func (m *Model) Node(id uint64) (int32, bool) {
	n, ok := slices.BinarySearch(m.id, id)
	return int32(n), ok
}

// AppendText appends the text of a node's id.
func (m *Model) AppendText(dst []byte, n int32) []byte {
	id := m.id[n]
	switch {
	case m.bare:
		return strconv.AppendUint(dst, id&0xffffffff, 10)
	case m.IDs != capture.HighLow:
		return names.AppendTaskID(dst, m.IDs, id)
	}
	dst = strconv.AppendUint(append(dst, '('), (id>>32)&0xff, 10)
	dst = strconv.AppendUint(append(dst, ", "...), id&0xffffffff, 10)
	return append(dst, ')')
}

// Text is the text of a node's id: 7, (1, 3), r1t3 or g2t5.
func (m *Model) Text(n int32) string { return string(m.AppendText(nil, n)) }

// Entry is the index of a node's entry in Graph.Task, −1 if it has none.
func (m *Model) Entry(n int32) int32 { return m.entry[n] }

// Slots are the function ids [aic, aiv0, aiv1] of a task, −1 = unused. False: the
// graph does not tell.
func (m *Model) Slots(n int32) ([3]int32, bool) {
	i := m.entry[n]
	if i < 0 || m.Graph.Has[i]&capture.HasKernel == 0 {
		return [3]int32{-1, -1, -1}, false
	}
	return m.Graph.Kernel[i], true
}

// Kind is what a task is (spec/deps.md §6.3). One whose entry states no kernels, as in
// the oldest files, is a submit; one without an entry is an alloc, also if it has run.
func (m *Model) Kind(n int32) Kind {
	slots, ok := m.Slots(n)
	switch {
	case ok && max(slots[0], slots[1], slots[2]) < 0:
		return Dummy
	case m.entry[n] >= 0:
		return Submit
	}
	return Alloc
}

// Func is the function that a task goes by: that of its first used slot, −1 if none is known.
func (m *Model) Func(n int32) int32 {
	slots, _ := m.Slots(n)
	for _, f := range slots {
		if f >= 0 {
			return f
		}
	}
	return -1
}

// Name is what the used slots of a task run, as "QK + SF"; f<id> stands for a function
// that the name map does not name. It is "" without a map.
func (m *Model) Name(n int32) string {
	if m.Names == nil {
		return ""
	}
	slots, _ := m.Slots(n)
	var list []string
	for _, f := range slots {
		if f < 0 {
			continue
		}
		name, ok := m.Names.Name(int64(f))
		if !ok {
			name = "f" + strconv.Itoa(int(f))
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return strings.Join(list, " + ")
}

// Hint is what tasks are grouped by: alloc, dummy, the name, f<id>, or unknown.
func (m *Model) Hint(n int32) string {
	switch k := m.Kind(n); k {
	case Alloc, Dummy:
		return k.String()
	}
	if name := m.Name(n); name != "" {
		return name
	}
	if f := m.Func(n); f >= 0 {
		return "f" + strconv.Itoa(int(f))
	}
	return "unknown"
}

// CoreType is where a task runs: what its rows say, otherwise its slots.
func (m *Model) CoreType(n int32) string {
	if m.time != nil && m.time[n].Rows > 0 {
		return m.time[n].CoreType
	}
	slots, _ := m.Slots(n)
	aic, aiv := slots[0] >= 0, slots[1] >= 0 || slots[2] >= 0
	switch {
	case aic && aiv:
		return Mix
	case aic:
		return AIC
	case aiv:
		return AIV
	}
	return AnyCore
}

// Block is the number of SPMD blocks of a task, at least 1.
func (m *Model) Block(n int32) int32 {
	if i := m.entry[n]; i >= 0 {
		return m.Graph.Block[i]
	}
	return 1
}

// Early reports whether the submit allowed its consumers to be staged early.
func (m *Model) Early(n int32) bool {
	i := m.entry[n]
	return i >= 0 && m.Graph.Has[i]&capture.HasEarlyDispatch != 0
}

// Manual reports whether the task was submitted in a manual scope.
func (m *Model) Manual(n int32) bool {
	i := m.entry[n]
	return i >= 0 && m.Graph.Has[i]&capture.HasManualScope != 0
}

// Fire reports whether consumers of the task can be staged before it is done: it allows
// that, or is an alloc.
func (m *Model) Fire(n int32) bool { return m.Early(n) || m.Kind(n) == Alloc }

// Star reports whether all that the task needs is Fire, and not only allocs.
func (m *Model) Star(n int32) bool {
	star := false
	for _, e := range m.In(n) {
		p := m.pred[e]
		if !m.Fire(p) {
			return false
		}
		star = star || m.Kind(p) != Alloc
	}
	return star
}

// Args are the arguments of a task. Do not change them.
func (m *Model) Args(n int32) []capture.DepsArg {
	if i := m.entry[n]; i >= 0 {
		return m.Graph.ArgsOf(int(i))
	}
	return nil
}

// Arg is the argument in a slot of a task, nil if there is none. Of several it is the last.
func (m *Model) Arg(n, slot int32) *capture.DepsArg {
	args := m.Args(n)
	for i := range slices.Backward(args) {
		if args[i].Idx == slot && slot >= 0 {
			return &args[i]
		}
	}
	return nil
}

// Edge gives the producer and the consumer of an edge.
func (m *Model) Edge(e int32) (pred, succ int32) { return m.pred[e], m.succ[e] }

// Out are the edges that leave a node, as a half-open range, by consumer.
func (m *Model) Out(n int32) (from, to int32) { return m.from[n], m.from[n+1] }

// In are the edges that reach a node, by producer. Do not change it.
func (m *Model) In(n int32) []int32 { return m.in[m.into[n]:m.into[n+1]] }

// FanIn is the number of tasks that a task needs.
func (m *Model) FanIn(n int32) int { return int(m.into[n+1] - m.into[n]) }

// FanOut is the number of tasks that need a task.
func (m *Model) FanOut(n int32) int { return int(m.from[n+1] - m.from[n]) }

// Find returns the edge between two nodes, −1 if there is none.
func (m *Model) Find(pred, succ int32) int32 {
	from, to := m.Out(pred)
	i, ok := slices.BinarySearch(m.succ[from:to], succ)
	if !ok {
		return -1
	}
	return from + int32(i)
}

// Rows are why an edge exists: indices into Graph.Rows. Do not change it.
func (m *Model) Rows(e int32) []int32 { return m.row[m.rowFrom[e]:m.rowFrom[e+1]] }

// Creator reports whether the producer of an edge owns storage that the consumer uses.
func (m *Model) Creator(e int32) bool { return m.creator[e] }

// Tensor is the index of a tensor in Graph.Tensors, −1 if it is not listed.
func (m *Model) Tensor(id uint64) int32 {
	if i, ok := m.tensor[id]; ok {
		return i
	}
	return -1
}

// TensorName is the display name of a tensor: T<index>, or T? and four digits of an
// id that the file does not list.
func (m *Model) TensorName(id uint64) string {
	if i := m.Tensor(id); i >= 0 {
		return "T" + strconv.Itoa(int(i))
	}
	return fmt.Sprintf("T?%04x", id&0xffff)
}

// Timing is what the records say of a task; nil if they were not asked.
func (m *Model) Timing(n int32) *Timing {
	if m.time == nil {
		return nil
	}
	return &m.time[n]
}

// join takes the times of the tasks out of the records' first run.
func (m *Model) join(t *timeline.Timeline) {
	m.time = make([]Timing, len(m.id))
	for i := range t.Tasks.ID {
		if t.Tasks.RunOf(int32(i)) != 0 {
			continue
		}
		n, ok := m.Node(t.Tasks.ID[i])
		if !ok {
			continue
		}
		x := &m.time[n]
		primary := -1
		from, to := t.Tasks.Rows(int32(i))
		for row := from; row < to; row++ {
			core := t.CoreOf(row).Type
			switch {
			case x.Rows == 0:
				x.CoreType, primary = core, row
			case core != x.CoreType:
				x.CoreType = Mix
			}
			if core == AIC && t.CoreOf(primary).Type != AIC {
				primary = row
			}
			start, end := t.Clock.Ns(t.Rows.Start[row]), t.Clock.Ns(t.Rows.End[row])
			if x.Rows == 0 {
				x.First, x.Last = start, end
			}
			x.First, x.Last = min(x.First, start), max(x.Last, end)
			x.Rows++
		}
		x.Core, x.Start, x.End = t.CoreOf(primary).ID, t.Clock.Ns(t.Rows.Start[primary]), t.Clock.Ns(t.Rows.End[primary])
	}
}
