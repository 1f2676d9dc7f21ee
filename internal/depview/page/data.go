package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/depview"
)

// data is what the page's script knows of the graph. Lists are by node or by edge;
// texts stand once in a list of their own.
type data struct {
	View      string `json:"view"` // svg, canvas, or near: no layout
	Title     string `json:"title"`
	Engine    string `json:"engine"`
	Direction string `json:"direction"`
	Mode      string `json:"mode"`
	Shown     int    `json:"shown"`
	Tensors   bool   `json:"tensors"` // the tensor view

	Key   []string            `json:"key"`
	ID    []string            `json:"id"`
	High  []uint64            `json:"high"` // of the raw id
	Low   []uint64            `json:"low"`
	Label []string            `json:"label"`
	Wrap  map[string][]string `json:"wrap"` // by number of the node: the lines of longer labels
	Look  string              `json:"look"` // a letter each
	Kind  string              `json:"kind"` // likewise: submit, alloc, dummy
	Hints []string            `json:"hints"`
	Hint  []int               `json:"hint"`
	Funcs []string            `json:"funcs"`
	Func  []int               `json:"func"`

	Spmd map[string]int32 `json:"spmd"` // blocks, of tasks with several

	Took  []json.RawMessage `json:"took,omitempty"` // µs of the primary row's kernel, or null
	Core  []int32           `json:"core,omitempty"` // its core, −1: none
	Start []json.RawMessage `json:"start,omitempty"`

	Texts  []string `json:"texts"`
	ArgEnd []int    `json:"argEnd"`
	Arg    []int    `json:"arg"`

	Pred   []int32 `json:"pred"`
	Succ   []int32 `json:"succ"`
	Hidden []int32 `json:"hidden"`
	WhyEnd []int   `json:"whyEnd"`
	Why    []int   `json:"why"`

	X     []json.RawMessage `json:"x,omitempty"`
	Y     []json.RawMessage `json:"y,omitempty"`
	Sizes [][2]float64      `json:"sizes"`
	Size  []int             `json:"size"`

	Rows [][]dataRow `json:"rows,omitempty"` // of the tensor view

	Nodes map[string]dataNode `json:"nodes,omitempty"` // where View is svg; the script makes them otherwise
}

type dataRow struct {
	Out   int   `json:"o"`
	Lines []int `json:"l"`
}

// dataNode is what the details panel shows of a node (spec/deps.md §6.6).
type dataNode struct {
	Label      string  `json:"label"`
	NameHint   string  `json:"name_hint"`
	FanIn      int     `json:"fanin"`
	FanOut     int     `json:"fanout"`
	PredByHint []count `json:"pred_by_hint"`
	SuccByHint []count `json:"succ_by_hint"`
}

// count is written as [hint, count].
type count struct {
	hint string
	n    int
}

func (c count) MarshalJSON() ([]byte, error) { return json.Marshal([]any{c.hint, c.n}) }

// byHint counts hints, largest first, then by name.
func byHint(hints []string) []count {
	n := map[string]int{}
	for _, h := range hints {
		n[h]++
	}
	list := make([]count, 0, len(n))
	for h, k := range n {
		list = append(list, count{h, k})
	}
	slices.SortFunc(list, func(a, b count) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.hint, b.hint)
	})
	return list
}

// table gives equal texts one number.
type table struct {
	list  []string
	index map[string]int
}

func (t *table) number(s string) int {
	if t.index == nil {
		t.index = map[string]int{}
	}
	i, ok := t.index[s]
	if !ok {
		i = len(t.list)
		t.list = append(t.list, s)
		t.index[s] = i
	}
	return i
}

func (t *table) texts() []string {
	if t.list == nil {
		return []string{}
	}
	return t.list
}

// decimal writes a number with at most a number of decimals.
func decimal(v float64, decimals int) json.RawMessage {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return json.RawMessage(s)
}

func (p *picture) data() *data {
	m, v := p.view.Model, p.view
	nodes, edges := m.Nodes(), m.Edges()
	d := &data{
		View: p.form, Title: p.title, Engine: p.options.Engine, Direction: p.options.Direction, Mode: string(v.Mode),
		Shown: v.ShownEdges(), Tensors: p.options.TensorInfo, Key: p.key, Label: p.label, Spmd: map[string]int32{}, Wrap: map[string][]string{},
		// The script wants lists, also where they are empty.
		Hidden: []int32{}, Arg: []int{}, Why: []int{}, ArgEnd: []int{}, WhyEnd: []int{}, Pred: []int32{}, Succ: []int32{},
		ID: []string{}, High: []uint64{}, Low: []uint64{}, Hint: []int{}, Func: []int{}, Sizes: [][2]float64{}, Size: []int{},
	}
	var hints, funcs, texts table
	argNumber, whyNumber := map[capture.DepsArg]int{}, map[capture.DepsRow]int{} // of their texts
	look, kind := make([]byte, nodes), make([]byte, nodes)
	for i := range nodes {
		n := int32(i)
		id := m.ID(n)
		d.ID = append(d.ID, m.Text(n))
		d.High, d.Low = append(d.High, id>>32), append(d.Low, id&math.MaxUint32)
		look[i], kind[i] = looks[p.look[i]].letter[0], m.Kind(n).String()[0]
		d.Hint = append(d.Hint, hints.number(p.hint[i]))
		d.Func = append(d.Func, funcs.number(funcText(m, n)))
		if b := m.Block(n); b > 1 {
			d.Spmd[p.key[i]] = b
		}
		if len(p.lines[i]) > 1 {
			d.Wrap[strconv.Itoa(i)] = p.lines[i]
		}
		args := m.Args(n)
		for k := range args {
			i, ok := argNumber[args[k]]
			if !ok {
				i = texts.number(argText(m, &args[k]))
				argNumber[args[k]] = i
			}
			d.Arg = append(d.Arg, i)
		}
		d.ArgEnd = append(d.ArgEnd, len(d.Arg))
	}
	d.Look, d.Kind = string(look), string(kind)
	d.times(m)
	for i := range edges {
		e := int32(i)
		a, b := m.Edge(e)
		d.Pred, d.Succ = append(d.Pred, a), append(d.Succ, b)
		if !v.Shown(e) {
			d.Hidden = append(d.Hidden, e)
		}
		for _, r := range m.Rows(e) {
			row := &m.Graph.Rows[r]
			k, ok := whyNumber[*row]
			if !ok {
				k = texts.number(why(m, row))
				whyNumber[*row] = k
			}
			d.Why = append(d.Why, k)
		}
		d.WhyEnd = append(d.WhyEnd, len(d.Why))
	}
	p.placesOf(d)
	if p.rows != nil {
		d.Rows = make([][]dataRow, nodes)
		for i, list := range p.rows {
			d.Rows[i] = []dataRow{}
			for _, r := range list {
				row := dataRow{}
				if r.out {
					row.Out = 1
				}
				for _, line := range r.lines {
					row.Lines = append(row.Lines, texts.number(line))
				}
				d.Rows[i] = append(d.Rows[i], row)
			}
		}
	}
	d.Hints, d.Funcs, d.Texts = hints.texts(), funcs.texts(), texts.texts()
	if p.form == formSVG {
		d.Nodes = p.nodes()
	}
	return d
}

// times puts in how long kernels took, if the records tell.
func (d *data) times(m *depview.Model) {
	known := false
	for n := range m.Nodes() {
		t := m.Timing(int32(n))
		if t == nil {
			return
		}
		if t.Rows == 0 {
			d.Took, d.Start, d.Core = append(d.Took, json.RawMessage("null")), append(d.Start, json.RawMessage("null")), append(d.Core, -1)
			continue
		}
		known = true
		d.Took, d.Start, d.Core = append(d.Took, decimal(float64(t.Duration())/1e3, 3)), append(d.Start, decimal(float64(t.Start)/1e3, 3)), append(d.Core, t.Core)
	}
	if !known {
		d.Took, d.Start, d.Core = nil, nil, nil
	}
}

func (p *picture) placesOf(d *data) {
	number := map[point]int{}
	for i, s := range p.size {
		k, ok := number[s]
		if !ok {
			k = len(d.Sizes)
			number[s] = k
			d.Sizes = append(d.Sizes, [2]float64{s.x, s.y})
		}
		d.Size = append(d.Size, k)
		if p.placed != nil {
			b := p.placed.boxes[i]
			d.X, d.Y = append(d.X, decimal(b.x, 1)), append(d.Y, decimal(b.y, 1))
		}
	}
}

func (p *picture) nodes() map[string]dataNode {
	m := p.view.Model
	out := make(map[string]dataNode, m.Nodes())
	for i := range m.Nodes() {
		n := int32(i)
		var pred, succ []string
		for _, e := range m.In(n) {
			a, _ := m.Edge(e)
			pred = append(pred, p.hint[a])
		}
		for e, end := m.Out(n); e < end; e++ {
			_, b := m.Edge(e)
			succ = append(succ, p.hint[b])
		}
		out[p.key[i]] = dataNode{p.label[i], p.hint[i], len(pred), len(succ), byHint(pred), byHint(succ)}
	}
	return out
}

// funcText is the text of a task's slots, as in the text view.
func funcText(m *depview.Model, n int32) string {
	slots, ok := m.Slots(n)
	switch {
	case m.Kind(n) != depview.Submit:
		return "none"
	case !ok:
		return "unknown"
	}
	b := []byte{'['}
	for i, f := range slots {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(f), 10)
	}
	return string(append(b, ']'))
}

// encode writes the data as JSON, or packed where it is long. JSON of encoding/json has
// no <, so nothing in it can end the element it stands in.
func (d *data) encode(pack bool) ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil || !pack {
		return text, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.DefaultCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, packed.Bytes()), nil
}
