package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"swimlane/capture"
	"swimlane/internal/depview"
)

// look is how a node is drawn (spec/deps.md §6.6).
type look uint8

const (
	lookAIC look = iota
	lookAIV
	lookMix
	lookAlloc
	lookOther // dummies, and tasks whose core type is not known
)

// looks are the class, the letter in the data, the fill, and the outline of each as
// Graphviz calls it.
var looks = [...]struct{ class, letter, fill, outline string }{
	lookAIC:   {"aic", "c", "#66A3FF", "box"},
	lookAIV:   {"aiv", "v", "#FFB366", "ellipse"},
	lookMix:   {"mix", "m", "#66CC99", "diamond"},
	lookAlloc: {"alloc", "a", "#EAEAEA", "box"},
	lookOther: {"other", "o", "#E0E0E0", "box"},
}

func lookOf(m *depview.Model, n int32) look {
	switch m.Kind(n) {
	case depview.Alloc:
		return lookAlloc
	case depview.Dummy:
		return lookOther
	}
	switch m.CoreType(n) {
	case depview.AIC:
		return lookAIC
	case depview.AIV:
		return lookAIV
	case depview.Mix:
		return lookMix
	}
	return lookOther
}

// Label is the text of a node: marks, id, what it runs, and how many tasks it needs
// and serves, counted over all edges whatever is shown.
func Label(m *depview.Model, n int32) string {
	var b strings.Builder
	marks := ""
	if m.Fire(n) {
		marks = "🔥"
	}
	if m.Star(n) {
		marks += "⭐"
	}
	if marks != "" {
		b.WriteString(marks + " ")
	}
	b.WriteString(m.Text(n))
	what := m.Name(n)
	switch k := m.Kind(n); k {
	case depview.Alloc, depview.Dummy:
		what = k.String()
	}
	if what != "" {
		b.WriteString(" · " + what)
	}
	fmt.Fprintf(&b, " ↓%d ↑%d", m.FanIn(n), m.FanOut(n))
	return b.String()
}

// key names a node in the data of the page: T<high byte>_<local>. Where ids use more
// bits than that, those that would share a name have their raw id behind it.
func keys(m *depview.Model) []string {
	list := make([]string, m.Nodes())
	used := make(map[string]bool, len(list))
	for n := range list {
		id := m.ID(int32(n))
		k := "T" + strconv.FormatUint(id>>32&0xff, 10) + "_" + strconv.FormatUint(id&math.MaxUint32, 10)
		if used[k] {
			k += "_" + strconv.FormatUint(id, 10)
		}
		used[k] = true
		list[n] = k
	}
	return list
}

// row is an argument in a node of the tensor view.
type row struct {
	out   bool  // below the header
	slot  int32 // −1: none stated
	lines []string
}

// inferred is an output slot whose tensor a creator row tells (spec/deps.md §6.6, back-fill).
type inferred struct {
	tensor uint64
	arg    int // index in the task's arguments
}

// backfill finds the output slots without a tensor that a consumer names.
func backfill(m *depview.Model) map[int32]inferred {
	found := map[int32]inferred{}
	for e := range m.Edges() {
		p, _ := m.Edge(int32(e))
		for _, i := range m.Rows(int32(e)) {
			r := &m.Graph.Rows[i]
			if r.Source != capture.SourceCreator || r.Has&capture.HasTensorID == 0 {
				continue
			}
			if _, done := found[p]; done {
				continue
			}
			free, named := -1, false
			count := 0
			for k, a := range m.Args(p) {
				switch {
				case !a.Type.Writes():
				case a.Has&capture.HasTensorID != 0:
					named = named || a.Tensor == r.Tensor
				case a.Type == capture.ArgOutput:
					free, count = k, count+1
				}
			}
			if count == 1 && !named {
				found[p] = inferred{r.Tensor, free}
			}
		}
	}
	return found
}

// outSlot is the index of the argument by which a task gives a tensor away, −1 for none.
func outSlot(m *depview.Model, n int32, tensor uint64, fill map[int32]inferred) int {
	for k, a := range m.Args(n) {
		if a.Type.Writes() && a.Has&capture.HasTensorID != 0 && a.Tensor == tensor {
			return k
		}
	}
	if f, ok := fill[n]; ok && f.tensor == tensor {
		return f.arg
	}
	return -1
}

// argLines is the text of an argument: one line in a tip, five in the tensor view.
func argLines(m *depview.Model, a *capture.DepsArg, fill *inferred) []string {
	slot := "arg" + strconv.Itoa(int(a.Idx))
	if a.Idx < 0 {
		slot = "arg?"
	}
	tensor, has := a.Tensor, a.Has&capture.HasTensorID != 0
	mark := ""
	if !has && fill != nil {
		tensor, has, mark = fill.tensor, true, " ?"
	}
	if !has {
		return []string{slot + " " + a.Type.String() + " (alloc)"}
	}
	g := m.Graph
	dtype, shape, strides, storage := g.DTypeName(a.DType), g.List(a.Shape), g.List(a.Strides), "?"
	offset := "?"
	if a.Has&capture.HasOffset != 0 {
		offset = strconv.FormatUint(a.Offset, 10)
	}
	if i := m.Tensor(tensor); i >= 0 {
		t := &g.Tensors[i]
		if dtype == "" {
			dtype = g.DTypeName(t.DType)
		}
		if t.Has&capture.HasNumel != 0 && t.Numel > 0 {
			storage = strconv.FormatUint(t.Numel, 10) + " elems"
			if mark != "" && shape == nil && t.Numel <= math.MaxUint32 {
				shape = []uint32{uint32(t.Numel)}
			}
		}
	}
	if mark != "" {
		if strides == nil {
			strides = []uint32{1}
		}
		if offset == "?" {
			offset = "0"
		}
	}
	if dtype == "" {
		dtype = "?"
	}
	if offset != "?" {
		offset += " (elem)"
	}
	return []string{
		slot + " " + a.Type.String() + mark + " " + m.TensorName(tensor) + ":" + strings.ToLower(dtype),
		"storage: " + storage,
		"shape: " + sizes(shape),
		"strides: " + sizes(strides),
		"start_offset: " + offset,
	}
}

// sizes is the text of a list, as [2, 4]; one that is not stated is ?.
func sizes(list []uint32) string {
	if list == nil {
		return "?"
	}
	b := []byte{'['}
	for i, v := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendUint(b, uint64(v), 10)
	}
	return string(append(b, ']'))
}

// argText is the text of an argument in one line.
func argText(m *depview.Model, a *capture.DepsArg) string {
	l := argLines(m, a, nil)
	if len(l) == 1 {
		return l[0]
	}
	text := l[0]
	if s := strings.TrimPrefix(l[2], "shape: "); s != "?" {
		text += " " + s
	}
	if o := strings.TrimPrefix(l[4], "start_offset: "); o != "?" && o != "0 (elem)" {
		text += " @" + strings.TrimSuffix(o, " (elem)")
	}
	return text
}

// why is the text of an annotation row: what made the edge, and by which tensor.
func why(m *depview.Model, r *capture.DepsRow) string {
	b := []byte(r.Source.String())
	if r.Arg >= 0 {
		b = append(b, " arg"...)
		b = strconv.AppendInt(b, int64(r.Arg), 10)
	}
	if r.Has&capture.HasTensorID != 0 {
		b = append(append(b, ' '), m.TensorName(r.Tensor)...)
	}
	if r.Overlap != capture.OverlapNone {
		b = append(append(b, ", overlap "...), r.Overlap.String()...)
	}
	if r.Has&capture.HasFlags != 0 {
		switch {
		case r.Flags&capture.FlagWait != 0 && r.Flags&capture.FlagRetain != 0:
			b = append(b, ", wait + retain"...)
		case r.Flags&capture.FlagWait != 0:
			b = append(b, ", wait"...)
		case r.Flags&capture.FlagRetain != 0:
			b = append(b, ", retain"...)
		}
	}
	return string(b)
}

// rows are the arguments of a node in the tensor view, inputs first; an INOUT is there twice.
func rows(m *depview.Model, n int32, fill map[int32]inferred) []row {
	if m.Entry(n) < 0 {
		return nil
	}
	var in, out []row
	args := m.Args(n)
	for k := range args {
		a := &args[k]
		var f *inferred
		if x, ok := fill[n]; ok && x.arg == k {
			f = &x
		}
		lines := argLines(m, a, f)
		if a.Type.Reads() || !a.Type.Writes() {
			in = append(in, row{false, a.Idx, lines})
		}
		if a.Type.Writes() {
			out = append(out, row{true, a.Idx, lines})
		}
	}
	return append(in, out...)
}

// Sizes of what nodes consist of, in px. Text is monospaced, 11 px high in labels and
// 10 px in the rows of the tensor view.
const (
	advance      = 6.7 // of a character of a label
	rowAdvance   = 6.1
	lineHeight   = 12.5
	headerHeight = 24
	rowPadding   = 6
	labelHeight  = 13.5 // of a line of a label
)

func columns(s string) float64 { return float64(uniseg.StringWidth(s)) }

// wrap breaks a label that is too long for one line: behind each function of several,
// and before the counts. The lines put together are the label.
func wrap(l look, label string) []string {
	most := 44.0
	if l == lookMix {
		most = 26 // a diamond is half as high as it should be, or twice as wide
	}
	if columns(label) <= most {
		return []string{label}
	}
	lines := strings.SplitAfter(label, " + ")
	last := lines[len(lines)-1]
	if i := strings.LastIndex(last, " ↓"); i > 0 {
		lines = append(lines[:len(lines)-1], last[:i+1], last[i+1:])
	}
	return lines
}

// textSize is the size of a label's lines.
func textSize(lines []string) point {
	s := point{0, labelHeight * float64(len(lines)-1)}
	for _, line := range lines {
		s.x = max(s.x, columns(strings.TrimRight(line, " "))*advance)
	}
	return s
}

// shapeSize is the size of a shape around a text, to whose height one line comes.
func shapeSize(l look, text point) point {
	switch l {
	case lookAIV: // the ellipse goes round the corners of the text
		return point{math.Ceil(text.x/0.86 + 8), 30 + text.y*1.5}
	case lookMix: // so does the diamond
		if text.y == 0 {
			return point{math.Ceil(text.x/0.70 + 10), 52}
		}
		return point{math.Ceil(text.x/0.62 + 8), math.Ceil((text.y + labelHeight) / 0.38)}
	}
	return point{math.Ceil(text.x + 18), 26 + text.y}
}

// tableSize is the size of a node in the tensor view.
func tableSize(label string, list []row) point {
	w, h := columns(label)*advance+18, float64(headerHeight)
	for _, r := range list {
		for _, line := range r.lines {
			w = max(w, columns(line)*rowAdvance+2*rowPadding)
		}
		h += rowHeight(r)
	}
	return point{math.Ceil(w), math.Ceil(h)}
}

func rowHeight(r row) float64 { return float64(len(r.lines))*lineHeight + rowPadding }
