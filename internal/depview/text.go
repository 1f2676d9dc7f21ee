package depview

import (
	"bufio"
	"io"
	"strconv"
)

// WriteText writes the view as text (spec/deps.md §6.4). Lines are for grep and diff:
// names, types and tensors are not in it.
func (v *View) WriteText(w io.Writer) error {
	out := bufio.NewWriterSize(w, 256<<10)
	b := make([]byte, 0, 4096)
	line := func(key string, value string) {
		b = append(append(append(append(append(b, "  "...), key...), ": "...), value...), '\n')
	}
	b = append(b, "SUMMARY\n"...)
	line("source_deps_json", v.Source)
	line("tasks", strconv.Itoa(v.Nodes()))
	line("unique_task_edges", strconv.Itoa(v.edges))
	line("annotated_edges", strconv.Itoa(v.rows))
	line("tensors", strconv.Itoa(len(v.Graph.Tensors)))
	line("perf_sidecar", yes(v.Sidecar != ""))
	line("func_name_map", yes(v.named))
	b = append(b, "\nTASK INDEX\n"...)
	for n := range int32(v.Nodes()) {
		in, fanout := v.fan(n)
		b = v.appendHead(append(b, "TASK "...), n)
		b = strconv.AppendInt(append(b, " fanin="...), int64(in), 10)
		b = strconv.AppendInt(append(b, " fanout="...), int64(fanout), 10)
		b = append(b, '\n')
		out.Write(b) // keeps its error until Flush
		b = b[:0]
	}
	for n := range int32(v.Nodes()) {
		in, fanout := v.fan(n)
		b = v.appendHead(append(b, "\n=== TASK "...), n)
		b = strconv.AppendInt(append(b, " ===\nFANIN "...), int64(in), 10)
		b = append(b, '\n')
		v.intoNode(n, func(_, p int32) { b = append(v.AppendText(append(b, "  <- "...), p), '\n') })
		b = strconv.AppendInt(append(b, "FANOUT "...), int64(fanout), 10)
		b = append(b, '\n')
		v.out(n, func(_, s int32) { b = append(v.AppendText(append(b, "  -> "...), s), '\n') })
		out.Write(b)
		b = b[:0]
	}
	out.Write(b)
	return out.Flush()
}

// appendHead appends what both parts of the text say of a task.
func (m *Model) appendHead(b []byte, n int32) []byte {
	kind := m.Kind(n)
	b = append(append(m.AppendText(b, n), " kind="...), kind.String()...)
	b = append(b, " func_id="...)
	slots, known := m.Slots(n)
	switch {
	case kind != Submit:
		b = append(b, "none"...)
	case !known:
		b = append(b, "unknown"...)
	default:
		b = appendSlots(b, slots)
	}
	if block := m.Block(n); block > 1 {
		b = strconv.AppendInt(append(b, " SPMD block num = "...), int64(block), 10)
	}
	return b
}

func appendSlots(b []byte, slots [3]int32) []byte {
	b = append(b, '[')
	for i, f := range slots {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(f), 10)
	}
	return append(b, ']')
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// WriteReduction writes what a mode has found redundant, as the standard output has it
// (spec/deps.md §6.5): nothing with Full.
func (v *View) WriteReduction(w io.Writer) error {
	out := bufio.NewWriter(w)
	all, gone := strconv.Itoa(v.Edges()), strconv.Itoa(v.RedundantEdges())
	kept := strconv.Itoa(v.Edges() - v.RedundantEdges())
	switch v.Mode {
	case Reduced:
		out.WriteString("Transitive reduction: removed " + gone + " redundant edge(s) of " + all + " (" + kept + " kept)\n")
	case Omitted:
		out.WriteString("Redundant edges only: showing " + gone + " redundant edge(s) of " + all + "\n")
	case ReducedDataflow:
		out.WriteString("Dataflow-verified transitive reduction: removed " + gone + " redundant edge(s) of " + all + " (" + kept + " kept)\n")
	case OmittedDataflow:
		out.WriteString("Dataflow-verified redundant edges only: showing " + gone + " redundant edge(s) of " + all + "\n")
	}
	var b []byte
	for e, is := range v.Redundant {
		if !is {
			continue
		}
		b = v.AppendText(append(b[:0], "  - "...), v.pred[e])
		b = append(v.AppendText(append(b, " -> "...), v.succ[e]), '\n')
		out.Write(b)
	}
	return out.Flush()
}
