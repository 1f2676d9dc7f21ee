package depview

import (
	"bufio"
	"io"
	"math"
	"strconv"

	"swimlane/capture"
	"swimlane/internal/jsonscan"
)

// WriteJSON writes the view as one JSON object, a task, tensor or edge a line. Numbers
// of 64 bits are strings, as in the graph file; times are µs from the picture's zero.
func (v *View) WriteJSON(w io.Writer) error {
	j := newJSON(w, v)
	j.summary()
	j.list("tasks", v.Nodes(), func(b []byte, i int) []byte { return v.appendTaskJSON(b, int32(i)) })
	j.list("tensors", len(v.Graph.Tensors), v.appendTensorJSON)
	var edges []int32
	for e := range int32(v.Edges()) {
		if v.Shown(e) {
			edges = append(edges, e)
		}
	}
	j.list("edges", len(edges), func(b []byte, i int) []byte { return v.appendEdgeJSON(b, edges[i]) })
	return j.end()
}

// WriteJSON writes the task, the tasks on both sides with how far away they are, and
// the edges between them.
func (x *Near) WriteJSON(w io.Writer) error {
	j := newJSON(w, x.View)
	j.summary()
	j.field("task", func(b []byte) []byte { return x.appendTaskJSON(b, x.Task) })
	j.side("needs", x, &x.Up)
	j.side("needed_by", x, &x.Down)
	return j.end()
}

// WriteJSON writes the figures, and the tasks and edges of the shortest path.
func (c *Chain) WriteJSON(w io.Writer) error {
	j := newJSON(w, c.View)
	j.summary()
	j.text("from", idString(c.ID(c.From)))
	j.text("to", idString(c.ID(c.To)))
	if c.Path == nil {
		j.text("paths", "0")
		j.int("reverse_edges", c.Reverse)
		return j.end()
	}
	j.int("shortest_edges", len(c.Path))
	j.count("shortest_paths", c.Shortest)
	j.int("tasks_between", c.Between)
	if j.flag("cycle", c.Looped); !c.Looped {
		j.int("longest_edges", c.Longest)
		j.count("paths", c.Paths)
		j.list("on_every_path", len(c.Every), func(b []byte, i int) []byte { return jsonscan.AppendString(b, idString(c.ID(c.Every[i]))) })
	}
	j.list("tasks", len(c.Path)+1, func(b []byte, i int) []byte {
		if i == 0 {
			return c.appendTaskJSON(b, c.From)
		}
		_, s := c.Edge(c.Path[i-1])
		return c.appendTaskJSON(b, s)
	})
	j.list("edges", len(c.Path), func(b []byte, i int) []byte { return c.appendEdgeJSON(b, c.Path[i]) })
	return j.end()
}

// jsonWriter writes the fields of one object.
type jsonWriter struct {
	*View
	out   *bufio.Writer // keeps its error until Flush
	b     []byte
	begun bool
}

func newJSON(w io.Writer, v *View) *jsonWriter {
	return &jsonWriter{View: v, out: bufio.NewWriterSize(w, 256<<10)}
}

func (j *jsonWriter) key(name string) {
	sep := "{\n"
	if j.begun {
		sep = ",\n"
	}
	j.begun = true
	j.b = append(jsonscan.AppendString(append(j.b[:0], sep...), name), ": "...)
}

func (j *jsonWriter) field(name string, value func(b []byte) []byte) {
	j.key(name)
	j.out.Write(value(j.b))
}

func (j *jsonWriter) text(name, value string) {
	j.field(name, func(b []byte) []byte { return jsonscan.AppendString(b, value) })
}

func (j *jsonWriter) int(name string, value int) {
	j.field(name, func(b []byte) []byte { return strconv.AppendInt(b, int64(value), 10) })
}

func (j *jsonWriter) flag(name string, value bool) {
	j.field(name, func(b []byte) []byte { return strconv.AppendBool(b, value) })
}

// count writes a number of paths; name_exceeded stands beside one that is too large.
func (j *jsonWriter) count(name string, value uint64) {
	j.text(name, idString(value))
	if value == math.MaxUint64 {
		j.flag(name+"_exceeded", true)
	}
}

func (j *jsonWriter) list(name string, n int, elem func(b []byte, i int) []byte) {
	j.key(name)
	j.b = append(j.b, '[')
	for i := range n {
		if i > 0 {
			j.b = append(j.b, ',')
		}
		j.b = elem(append(j.b, "\n  "...), i)
		j.out.Write(j.b)
		j.b = j.b[:0]
	}
	if n > 0 {
		j.b = append(j.b, '\n')
	}
	j.out.Write(append(j.b, ']'))
}

func (j *jsonWriter) end() error {
	j.out.WriteString("\n}\n")
	return j.out.Flush()
}

func (j *jsonWriter) summary() {
	j.text("source_deps_json", j.Source)
	if j.Runtime != "" {
		j.text("runtime", j.Runtime)
	}
	j.text("edge_mode", string(j.Mode))
	if j.Cyclic {
		j.flag("cycle", true)
	}
	j.field("summary", func(b []byte) []byte {
		number := func(name string, n int) {
			b = strconv.AppendInt(append(b, name...), int64(n), 10)
		}
		number(`{"tasks": `, j.Nodes())
		number(`, "unique_task_edges": `, j.edges)
		number(`, "annotated_edges": `, j.rows)
		number(`, "tensors": `, len(j.Graph.Tensors))
		if j.Mode != Full {
			number(`, "redundant_edges": `, j.RedundantEdges())
		}
		b = strconv.AppendBool(append(b, `, "perf_sidecar": `...), j.Sidecar != "")
		b = strconv.AppendBool(append(b, `, "func_name_map": `...), j.named)
		return append(b, '}')
	})
}

func (j *jsonWriter) side(name string, x *Near, s *Side) {
	j.field(name, func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `{"direct": `...), int64(s.Direct), 10)
		b = strconv.AppendInt(append(b, `, "all": `...), int64(s.Total), 10)
		return strconv.AppendInt(append(b, `, "farthest": `...), int64(s.Depth), 10)
	})
	var nodes, levels, edges []int32
	for i, level := range s.Levels {
		for _, n := range level {
			nodes, levels = append(nodes, n), append(levels, int32(i+1))
			x.edgesOf(s, n, func(e, _ int32) { edges = append(edges, e) })
		}
	}
	inner := &jsonWriter{View: j.View, out: j.out, begun: true}
	inner.list("tasks", len(nodes), func(b []byte, i int) []byte {
		b = strconv.AppendInt(append(b, `{"away": `...), int64(levels[i]), 10)
		b = append(b, `, "task": `...)
		return append(x.appendTaskJSON(b, nodes[i]), '}')
	})
	inner.list("edges", len(edges), func(b []byte, i int) []byte { return x.appendEdgeJSON(b, edges[i]) })
	j.out.WriteByte('}')
}

func idString(id uint64) string { return strconv.FormatUint(id, 10) }

func appendID(b []byte, key string, id uint64) []byte {
	return append(strconv.AppendUint(append(append(b, key...), '"'), id, 10), '"')
}

// appendTaskJSON appends a task, on a line.
func (v *View) appendTaskJSON(b []byte, n int32) []byte {
	in, out := v.fan(n)
	b = appendID(b, `{"task_id": `, v.ID(n))
	b = jsonscan.AppendString(append(b, `, "id": `...), v.Text(n))
	b = jsonscan.AppendString(append(b, `, "kind": `...), v.Kind(n).String())
	if slots, ok := v.Slots(n); ok {
		b = append(appendSlots(append(b, `, "kernel_ids": `...), slots), `, "func_id": `...)
		b = strconv.AppendInt(b, int64(v.Func(n)), 10)
	}
	if name := v.Name(n); name != "" {
		b = jsonscan.AppendString(append(b, `, "name": `...), name)
	}
	if core := v.CoreType(n); core != AnyCore {
		b = jsonscan.AppendString(append(b, `, "core_type": `...), core)
	}
	b = strconv.AppendInt(append(b, `, "block_num": `...), int64(v.Block(n)), 10)
	if v.Entry(n) >= 0 {
		scope := "auto"
		if v.Manual(n) {
			scope = "manual"
		}
		b = jsonscan.AppendString(append(b, `, "scope": `...), scope)
		b = strconv.AppendBool(append(b, `, "early_dispatch": `...), v.Early(n))
	}
	b = strconv.AppendInt(append(b, `, "fanin": `...), int64(in), 10)
	b = strconv.AppendInt(append(b, `, "fanout": `...), int64(out), 10)
	if t := v.Timing(n); t != nil && t.Rows > 0 {
		b = strconv.AppendInt(append(b, `, "rows": `...), int64(t.Rows), 10)
		b = strconv.AppendInt(append(b, `, "core_id": `...), int64(t.Core), 10)
		b = appendMicros(append(b, `, "start_us": `...), t.Start)
		b = appendMicros(append(b, `, "duration_us": `...), t.Duration())
		b = appendMicros(append(b, `, "first_start_us": `...), t.First)
		b = appendMicros(append(b, `, "last_end_us": `...), t.Last)
	}
	if v.Entry(n) >= 0 {
		b = append(b, `, "args": [`...)
		args := v.Args(n)
		for i := range args {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = v.appendArgJSON(b, &args[i])
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (m *Model) appendArgJSON(b []byte, a *capture.DepsArg) []byte {
	b = strconv.AppendInt(append(b, `{"idx": `...), int64(a.Idx), 10)
	b = jsonscan.AppendString(append(b, `, "type": `...), a.Type.String())
	if a.Has&capture.HasTensorID != 0 {
		b = m.appendTensorRef(b, a.Tensor)
	}
	b = m.appendSliceJSON(b, "", a.DType, a.Shape, a.Strides, a.Offset, a.Has&capture.HasOffset != 0)
	return append(b, '}')
}

// appendTensorRef appends the name of a tensor and its id.
func (m *Model) appendTensorRef(b []byte, id uint64) []byte {
	b = jsonscan.AppendString(append(b, `, "tensor": `...), m.TensorName(id))
	return appendID(b, `, "tensor_id": `, id)
}

func (m *Model) appendSliceJSON(b []byte, side string, dtype capture.DType, shape, strides capture.List, offset uint64, placed bool) []byte {
	key := func(name string) { b = append(append(append(append(b, `, "`...), side...), name...), `": `...) }
	if dtype != 0 {
		key("dtype")
		b = jsonscan.AppendString(b, m.Graph.DTypeName(dtype))
	}
	if shape != 0 {
		key("shape")
		b = appendSizes(b, m.Graph.List(shape))
	}
	if placed {
		key("start_offset")
		b = appendID(b, "", offset)
	}
	if strides != 0 {
		key("strides")
		b = appendSizes(b, m.Graph.List(strides))
	}
	return b
}

func (m *Model) appendTensorJSON(b []byte, i int) []byte {
	t := &m.Graph.Tensors[i]
	b = jsonscan.AppendString(append(b, `{"tensor": `...), "T"+strconv.Itoa(i))
	if t.Has&capture.HasTensorID != 0 {
		b = appendID(b, `, "tensor_id": `, t.ID)
	}
	if t.Has&capture.HasAddr != 0 {
		b = appendID(b, `, "buffer_addr": `, t.Addr)
	}
	b = strconv.AppendInt(append(b, `, "version": `...), t.Version, 10)
	if t.DType != 0 {
		b = jsonscan.AppendString(append(b, `, "dtype": `...), m.Graph.DTypeName(t.DType))
	}
	if t.Has&capture.HasNumel != 0 {
		b = appendID(b, `, "buffer_numel": `, t.Numel)
	}
	return append(b, '}')
}

// appendEdgeJSON appends an edge and why it exists, on a line.
func (v *View) appendEdgeJSON(b []byte, e int32) []byte {
	p, s := v.Edge(e)
	b = appendID(b, `{"pred": `, v.ID(p))
	b = appendID(b, `, "succ": `, v.ID(s))
	b = append(b, `, "rows": [`...)
	for i, row := range v.Rows(e) {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = v.appendRowJSON(b, &v.Graph.Rows[row])
	}
	return append(b, `]}`...)
}

func (m *Model) appendRowJSON(b []byte, r *capture.DepsRow) []byte {
	b = jsonscan.AppendString(append(b, `{"source": `...), r.Source.String())
	b = strconv.AppendInt(append(b, `, "arg": `...), int64(r.Arg), 10)
	if flags, stated := r.EdgeFlags(); stated {
		b = append(b, `, "flags": [`...)
		sep := ""
		for i, name := range []string{"wait", "retain"} {
			if flags>>i&1 != 0 {
				b = jsonscan.AppendString(append(b, sep...), name)
				sep = ", "
			}
		}
		b = append(b, ']')
	}
	if r.Overlap != capture.OverlapNone {
		b = jsonscan.AppendString(append(b, `, "overlap": `...), r.Overlap.String())
	}
	if r.Has&capture.HasTensorID != 0 {
		b = m.appendTensorRef(b, r.Tensor)
	}
	b = m.appendSliceJSON(b, "consumer_", r.DType, r.Shape, r.Strides, r.Offset, r.Has&capture.HasOffset != 0)
	b = m.appendSliceJSON(b, "producer_", 0, r.ProducerShape, r.ProducerStrides, r.ProducerOffset, r.Has&capture.HasProducerOffset != 0)
	return append(b, '}')
}
