package page

import (
	"html"
	"math"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/graphviz"
)

// svgWriter writes a laid out picture as SVG. Numbers have one decimal.
type svgWriter struct {
	*picture
	b []byte
}

func (w *svgWriter) add(parts ...string) {
	for _, s := range parts {
		w.b = append(w.b, s...)
	}
}

func (w *svgWriter) attr(name string, v float64) { w.add(" ", name, `="`, short(v), `"`) }

// short is a number with at most one decimal.
func short(v float64) string { return string(decimal(v, 1)) }

// clean is text for HTML. Characters that no XML has would make an SVG file of it invalid.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return '\uFFFD'
		}
		return r
	}, s)
	return html.EscapeString(s)
}

// svg is the whole picture. Edges that are not shown lie below all else.
func (p *picture) svg() []byte {
	w := &svgWriter{picture: p}
	w.add(`<svg id="graph" role="img" aria-label="task graph"><defs>`)
	for _, m := range [...][2]string{{"arrow", "#888"}, {"arrow-up", "#2563eb"}, {"arrow-down", "#c2410c"}, {"arrow-explicit", "#B0B0B0"}} {
		w.add(`<marker id="`, m[0], `" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 .8 8 4 0 7.2z" fill="`, m[1], `"/></marker>`)
	}
	w.add(`</defs><g id="world"><g class="edges">`)
	for _, shown := range [...]bool{false, true} {
		for e := range p.view.Edges() {
			if p.view.Shown(int32(e)) == shown {
				w.edge(e, shown)
			}
		}
	}
	w.add(`</g><g class="nodes">`)
	for n := range p.view.Nodes() {
		w.node(n)
	}
	w.add(`</g></g></svg>`)
	return w.b
}

func (w *svgWriter) node(n int) {
	b := w.placed.boxes[n]
	shape := w.size[n]
	blocks := w.view.Block(int32(n))
	class := looks[w.look[n]].class
	if w.look[n] == lookOther {
		class += " " + w.view.Kind(int32(n)).String()
	}
	if blocks > 1 {
		class += " spmd"
	}
	w.add(`<g class="node `, class, `" id="`, w.key[n], `" data-n="`, strconv.Itoa(n), `" transform="translate(`, short(b.x), ` `, short(b.y), `)">`)
	table := w.rows != nil && w.view.Entry(int32(n)) >= 0
	if table {
		w.table(n, shape)
	} else {
		w.shapeOf(n, shape)
		w.text(n)
	}
	if blocks > 1 {
		x := strconv.Itoa(int(blocks))
		w.add(`<text class="blocks"`)
		w.attr("x", shape.x/2+3)
		w.attr("y", -8)
		w.add(`>x`, x, `<title>SPMD block num: `, x, `</title></text>`)
	}
	w.add(`</g>`)
}

// text writes a label around 0, 0.
func (w *svgWriter) text(n int) {
	lines := w.lines[n]
	w.add(`<text class="label"`)
	if len(lines) == 1 {
		w.add(`>`, clean(lines[0]), `</text>`)
		return
	}
	w.attr("y", -labelHeight*float64(len(lines)-1)/2)
	w.add(`>`)
	for i, line := range lines {
		w.add(`<tspan x="0"`)
		if i > 0 {
			w.attr("dy", labelHeight)
		}
		w.add(`>`, clean(line), `</tspan>`)
	}
	w.add(`</text>`)
}

// shapeOf draws the outline of a node around 0, 0.
func (w *svgWriter) shapeOf(n int, s point) {
	x, y := s.x/2, s.y/2
	switch w.look[n] {
	case lookAIV:
		w.add(`<ellipse class="shape" rx="`, short(x), `" ry="`, short(y), `"`)
	case lookMix:
		w.add(`<path class="shape" d="M`, short(-x), ` 0 0 `, short(-y), ` `, short(x), ` 0 0 `, short(y), `z"`)
	case lookAlloc: // a note, its corner folded
		const fold = 7
		w.add(`<path class="shape" stroke-dasharray="4 3" d="M`, short(-x), ` `, short(-y), `H`, short(x-fold), `l`, short(fold), ` `, short(fold), `V`, short(y), `H`, short(-x), `zM`, short(x-fold), ` `, short(-y), `v`, short(fold), `h`, short(fold), `"`)
	default:
		w.add(`<rect class="shape" rx="6"`)
		w.attr("x", -x)
		w.attr("y", -y)
		w.attr("width", s.x)
		w.attr("height", s.y)
	}
	w.add(` fill="`, looks[w.look[n]].fill, `"`)
	if w.view.Block(int32(n)) > 1 {
		w.add(` stroke="#C62828" stroke-width="1.5"`)
	}
	w.add(`/>`)
}

// The fills of the rows of the tensor view.
const (
	inputFill   = "#EAF2FF"
	outputFill  = "#FFF2E5"
	unknownFill = "#D8D8D8" // of the header
)

// table draws a node of the tensor view: inputs, header, outputs.
func (w *svgWriter) table(n int, s point) {
	top := -s.y / 2
	list := w.rows[n]
	fill := looks[w.look[n]].fill
	if w.look[n] == lookOther {
		fill = unknownFill
	}
	header := func() {
		w.add(`<rect class="head" fill="`, fill, `"`)
		w.attr("x", -s.x/2)
		w.attr("y", top)
		w.attr("width", s.x)
		w.attr("height", headerHeight)
		w.add(`/><text class="label"`)
		w.attr("y", top+headerHeight/2)
		w.add(`>`, clean(w.label[n]), `</text>`)
		top += headerHeight
	}
	headed := false
	for _, r := range list {
		if r.out && !headed {
			header()
			headed = true
		}
		class, color := "in", inputFill
		if r.out {
			class, color = "out", outputFill
		}
		h := rowHeight(r)
		w.add(`<g class="arg `, class, `"><rect fill="`, color, `"`)
		w.attr("x", -s.x/2)
		w.attr("y", top)
		w.attr("width", s.x)
		w.attr("height", h)
		w.add(`/>`)
		for i, line := range r.lines {
			w.add(`<text`)
			w.attr("x", -s.x/2+rowPadding)
			w.attr("y", top+rowPadding/2+lineHeight*(float64(i)+0.5))
			w.add(`>`, clean(line), `</text>`)
		}
		w.add(`</g>`)
		top += h
	}
	if !headed {
		header()
	}
	w.add(`<rect class="shape frame" fill="none"`)
	w.attr("x", -s.x/2)
	w.attr("y", -s.y/2)
	w.attr("width", s.x)
	w.attr("height", s.y)
	if w.view.Block(int32(n)) > 1 {
		w.add(` stroke="#C62828" stroke-width="1.5"`)
	}
	w.add(`/>`)
}

// rowAt is the height of the middle of a row above or below the middle of a node.
func (p *picture) rowAt(n int32, out bool, slot int32) (float64, bool) {
	y := -p.size[n].y / 2
	headed := false
	for _, r := range p.rows[n] {
		if r.out && !headed {
			y += headerHeight
			headed = true
		}
		if r.out == out && r.slot == slot {
			return y + rowHeight(r)/2, true
		}
		y += rowHeight(r)
	}
	return 0, false
}

func (w *svgWriter) edge(e int, shown bool) {
	class, marker := "edge", "arrow"
	if !shown {
		class = "edge hidden"
	}
	if w.rows == nil {
		curve := w.path(e)
		if shown && w.far(e, curve) {
			class += " far"
		}
		w.line(e, class, marker, curve, shown)
		return
	}
	a, b := w.view.Edge(int32(e))
	for _, i := range w.view.Rows(int32(e)) {
		r := &w.view.Graph.Rows[i]
		from, to := w.ends(int(a), int(b))
		if k := outSlotOf(w.picture, a, r); k >= 0 {
			if y, ok := w.rowAt(a, true, w.view.Args(a)[k].Idx); ok {
				from = w.side(a, y, true)
			}
		}
		if r.Arg >= 0 {
			if y, ok := w.rowAt(b, false, r.Arg); ok {
				to = w.side(b, y, false)
			} else if y, ok := w.rowAt(b, true, r.Arg); ok {
				to = w.side(b, y, false)
			}
		}
		c, m := class, marker
		if r.Source == capture.SourceExplicit {
			c, m = class+" explicit", "arrow-explicit"
		}
		curve := w.bend(from, to, true)
		w.line(e, c, m, curve, shown)
		if shown && r.Overlap != capture.OverlapNone && r.Overlap != capture.OverlapCovered {
			mid := middle(curve)
			w.add(`<text class="overlap"`)
			w.attr("x", mid.X)
			w.attr("y", mid.Y-3)
			w.add(`>`, r.Overlap.String(), `</text>`)
		}
	}
}

// far reports whether an edge is drawn across others that Graphviz has not seen it with.
func (p *picture) far(e int, curve []graphviz.Point) bool {
	if _, routed := p.placed.curves[e]; routed {
		return false
	}
	a, b := curve[0], curve[len(curve)-1]
	return math.Abs(a.X-b.X)+math.Abs(a.Y-b.Y) > farAway
}

// farAway is how long a plain curve may be to be drawn as strongly as others, in px.
const farAway = 900

func outSlotOf(p *picture, n int32, r *capture.DepsRow) int {
	if r.Has&capture.HasTensorID == 0 {
		return -1
	}
	return outSlot(p.view.Model, n, r.Tensor, p.fill)
}

func (w *svgWriter) line(e int, class, marker string, curve []graphviz.Point, shown bool) {
	w.add(`<path class="`, class, `" data-e="`, strconv.Itoa(e), `" d="`)
	for i, q := range curve {
		switch i {
		case 0:
			w.add("M")
		case 1:
			w.add("C")
		default:
			w.add(" ")
		}
		w.add(short(q.X), " ", short(q.Y))
	}
	w.add(`"`)
	if shown {
		w.add(` marker-end="url(#`, marker, `)"`)
	}
	w.add(`/>`)
}

// path is the line of an edge in the plain view.
func (p *picture) path(e int) []graphviz.Point {
	if c, ok := p.placed.curves[e]; ok {
		return c
	}
	a, b := p.view.Edge(int32(e))
	from, to := p.ends(int(a), int(b))
	return p.bend(from, to, p.options.Engine == "dot")
}

// side is the place at the left or right edge of a node that an arrow leaves or reaches.
func (p *picture) side(n int32, y float64, out bool) graphviz.Point {
	b, x := p.placed.boxes[n], p.size[n].x/2
	if out == (p.options.Direction == "RL") {
		x = -x
	}
	return graphviz.Point{X: b.x + x, Y: b.y + y}
}

// ends are where the line of an edge begins and ends if nobody has routed it: at the
// sides that face the flow, or where the straight line between the middles leaves them.
func (p *picture) ends(a, b int) (from, to graphviz.Point) {
	q, r := p.placed.boxes[a], p.placed.boxes[b]
	if p.options.Engine != "dot" {
		return border(q, p.size[a], r), border(r, p.size[b], q)
	}
	s, t := p.size[a], p.size[b]
	switch p.options.Direction {
	case "TB":
		return graphviz.Point{X: q.x, Y: q.y + s.y/2}, graphviz.Point{X: r.x, Y: r.y - t.y/2}
	case "BT":
		return graphviz.Point{X: q.x, Y: q.y - s.y/2}, graphviz.Point{X: r.x, Y: r.y + t.y/2}
	case "RL":
		return graphviz.Point{X: q.x - s.x/2, Y: q.y}, graphviz.Point{X: r.x + t.x/2, Y: r.y}
	}
	return graphviz.Point{X: q.x + s.x/2, Y: q.y}, graphviz.Point{X: r.x - t.x/2, Y: r.y}
}

// border is where the line from the middle of a node to another leaves its box.
func border(b box, s point, other box) graphviz.Point {
	dx, dy := other.x-b.x, other.y-b.y
	if dx == 0 && dy == 0 {
		return graphviz.Point{X: b.x, Y: b.y}
	}
	k := min(s.x/2/math.Abs(dx), s.y/2/math.Abs(dy))
	return graphviz.Point{X: b.x + dx*k, Y: b.y + dy*k}
}

// bend is a curve between two places: along the flow at both ends, or straight.
func (p *picture) bend(from, to graphviz.Point, curved bool) []graphviz.Point {
	if !curved {
		return []graphviz.Point{from, from, to, to}
	}
	c, d := from, to
	reach := func(v float64) float64 { return max(18, min(math.Abs(v)/2, 160)) }
	upright := p.options.Direction == "TB" || p.options.Direction == "BT"
	sign := 1.0
	if p.options.Direction == "RL" || p.options.Direction == "BT" {
		sign = -1
	}
	if upright && p.rows == nil {
		k := sign * reach(to.Y-from.Y)
		c.Y, d.Y = c.Y+k, d.Y-k
	} else {
		if upright {
			sign = 1
		}
		k := sign * reach(to.X-from.X)
		c.X, d.X = c.X+k, d.X-k
	}
	return []graphviz.Point{from, c, d, to}
}

// middle is a place near the middle of a curve.
func middle(c []graphviz.Point) graphviz.Point {
	i := (len(c) - 1) / 3 / 2 * 3
	a, b, d, e := c[i], c[i+1], c[i+2], c[i+3]
	return graphviz.Point{X: (a.X + 3*b.X + 3*d.X + e.X) / 8, Y: (a.Y + 3*b.Y + 3*d.Y + e.Y) / 8}
}
