package depview

import "slices"

// Mode says which edges of a graph are shown (spec/deps.md §6.5).
type Mode string

// The edge modes.
const (
	Full            Mode = "full"
	Reduced         Mode = "reduced"
	Omitted         Mode = "omitted"
	ReducedDataflow Mode = "reduced_dataflow"
	OmittedDataflow Mode = "omitted_dataflow"
)

// Modes are all edge modes, the default first.
var Modes = []string{string(Full), string(Reduced), string(Omitted), string(ReducedDataflow), string(OmittedDataflow)}

// omits reports whether a mode shows the redundant edges instead of the others.
func (m Mode) omits() bool { return m == Omitted || m == OmittedDataflow }

// View is a model with some of its edges left out. All tasks stay.
type View struct {
	*Model
	Mode      Mode   // Full also where a cycle forbids anything else
	Cyclic    bool   // the graph has a cycle, so the mode that was asked for does not count
	Redundant []bool // by edge; nil with Full
	shown     []bool // nil: all
	edges     int
	rows      int
}

// View applies an edge mode. progress is told the part of the work that is done, of
// 1000; it may be nil.
func (m *Model) View(mode Mode, progress func(permille int64)) *View {
	v := &View{Model: m, Mode: Full, edges: m.Edges(), rows: len(m.row)}
	if mode == Full || mode == "" {
		return v
	}
	redundant, ok := m.redundant(progress)
	if !ok {
		v.Cyclic = true
		return v
	}
	for e, is := range redundant {
		if !is || !m.creator[e] {
			continue
		}
		redundant[e] = (mode == ReducedDataflow || mode == OmittedDataflow) && m.covered(int32(e))
	}
	v.Mode, v.Redundant = mode, redundant
	v.shown = slices.Clone(redundant)
	v.edges, v.rows = 0, 0
	for e := range v.shown {
		if !mode.omits() {
			v.shown[e] = !redundant[e]
		}
		if v.shown[e] {
			v.edges++
			v.rows += len(m.Rows(int32(e)))
		}
	}
	return v
}

// Shown reports whether an edge is shown.
func (v *View) Shown(e int32) bool { return v.shown == nil || v.shown[e] }

// ShownEdges is the number of edges that are shown.
func (v *View) ShownEdges() int { return v.edges }

// ShownRows is the number of rows of the edges that are shown.
func (v *View) ShownRows() int { return v.rows }

// RedundantEdges is the number of edges that are redundant; 0 with Full.
func (v *View) RedundantEdges() int {
	n := 0
	for _, is := range v.Redundant {
		if is {
			n++
		}
	}
	return n
}

// out calls visit for the edges that leave a node and are shown, by consumer.
func (v *View) out(n int32, visit func(e, succ int32)) {
	for e, to := v.Out(n); e < to; e++ {
		if v.Shown(e) {
			visit(e, v.succ[e])
		}
	}
}

// into calls visit for the edges that reach a node and are shown, by producer.
func (v *View) intoNode(n int32, visit func(e, pred int32)) {
	for _, e := range v.In(n) {
		if v.Shown(e) {
			visit(e, v.pred[e])
		}
	}
}

// fan counts the shown edges of a node.
func (v *View) fan(n int32) (in, out int) {
	if v.shown == nil {
		return v.FanIn(n), v.FanOut(n)
	}
	v.intoNode(n, func(_, _ int32) { in++ })
	v.out(n, func(_, _ int32) { out++ })
	return in, out
}
