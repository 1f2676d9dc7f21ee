package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swimlane/internal/depview"
	"swimlane/internal/graphviz"
)

// Budget is how long a layout may take.
const Budget = 10 * time.Second

// The largest pictures that are SVG.
const (
	MaxSVG      = 2_000 // tasks
	maxSVGEdges = 6_000
)

// The forms of a page.
const (
	formSVG    = "svg"
	formCanvas = "canvas"
	formNear   = "near" // no layout: the neighbourhood of one task
)

// Engines and Directions are the values that Options may have, the defaults first.
var (
	Engines    = []string{"dot", "neato", "sfdp", "fdp", "circo", "twopi"}
	Directions = []string{"LR", "TB", "BT", "RL"}
)

// Options say how a graph is shown.
type Options struct {
	Engine     string // of Engines
	Direction  string // of Directions: where the flow goes
	TensorInfo bool   // tasks are tables of their arguments
	Budget     time.Duration
}

// picture is a view with everything that is drawn of it.
type picture struct {
	view    *depview.View
	options Options
	title   string
	form    string

	key, label, hint []string
	lines            [][]string // of the labels
	look             []look
	size             []point
	rows             [][]row // tensor view only
	fill             map[int32]inferred
	placed           *placed // nil: no layout
}

func newPicture(ctx context.Context, v *depview.View, o Options) (*picture, error) {
	m := v.Model
	p := &picture{view: v, options: o, key: keys(m), label: []string{}}
	p.title = fmt.Sprintf("deps.json — %d nodes, %d edges", m.Nodes(), v.ShownEdges())
	for i := range m.Nodes() {
		n := int32(i)
		p.label = append(p.label, Label(m, n))
		p.hint = append(p.hint, m.Hint(n))
		p.look = append(p.look, lookOf(m, n))
		p.lines = append(p.lines, wrap(p.look[i], p.label[i]))
	}
	p.measure()
	p.form = formSVG
	if m.Nodes() > MaxSVG || m.Edges() > maxSVGEdges {
		p.form = formCanvas
	}
	a := &arranger{engine: o.Engine, direction: o.Direction, route: p.form == formSVG && !o.TensorInfo, size: p.size, apart: 0.2}
	if o.Direction == "TB" || o.Direction == "BT" {
		a.apart = p.between()
	}
	for i := range p.size {
		outline := looks[p.look[i]].outline
		if p.rows != nil && m.Entry(int32(i)) >= 0 {
			outline = "box"
		}
		a.shape = append(a.shape, outline)
	}
	for e := range m.Edges() {
		s, t := m.Edge(int32(e))
		a.pred, a.succ = append(a.pred, s), append(a.succ, t)
	}
	var err error
	p.placed, err = a.arrange(ctx, o.Budget)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errBudget):
		p.form = formNear
	case err != nil:
		if f := (*graphviz.Failure)(nil); errors.As(err, &f) {
			err = fmt.Errorf("%w; another --engine may lay this graph out", f)
		}
		return nil, err
	}
	return p, nil
}

// measure finds the sizes of the nodes. Tasks of one function are equally wide.
func (p *picture) measure() {
	m := p.view.Model
	if p.options.TensorInfo {
		p.fill = backfill(m)
		p.rows = make([][]row, m.Nodes())
	}
	type class struct {
		look  look
		hint  string
		table bool
	}
	widest := map[class]point{}
	of := make([]class, m.Nodes())
	for i := range of {
		n := int32(i)
		c := class{look: p.look[i], hint: p.hint[i]}
		text := textSize(p.lines[i])
		if p.rows != nil && m.Entry(n) >= 0 {
			p.rows[i] = rows(m, n, p.fill)
			c.table = true
			text = tableSize(p.label[i], p.rows[i])
		}
		of[i] = c
		widest[c] = point{max(widest[c].x, text.x), max(widest[c].y, text.y)}
	}
	for i, c := range of {
		s := shapeSize(c.look, widest[c])
		if c.table {
			s = point{widest[c].x, tableSize("", p.rows[i]).y}
		}
		p.size = append(p.size, s)
	}
}

// between is the room between tasks side by side, in inches: xN stands there.
func (p *picture) between() float64 {
	for n := range p.view.Nodes() {
		if p.view.Block(int32(n)) > 1 {
			return 0.55
		}
	}
	return 0.2
}
