package draw

import (
	"fmt"

	"swimlane/timeline"
	"swimlane/trace"
)

// layOutGraphs names the lanes of expanded graphs (spec/converter.md §4.2).
func (d *drawing) layOutGraphs() error {
	d.graphs = d.t.GraphRuns()
	if len(d.graphs) == 0 {
		return nil
	}
	process := d.pic.process(pidGraphs, "Graph Execution")
	lanes := 0
	for i := range d.graphs {
		lanes = max(lanes, d.graphs[i].Lane+1)
	}
	d.graphLanes = make([]group, lanes)
	for i := range d.graphLanes {
		d.graphLanes[i] = group{name: fmt.Sprintf("Graph_%d", i), at: uint32(i), subs: 1}
	}
	d.pic.lanes(process, tidGraph, 1, d.graphLanes)
	return nil
}

type graphSection struct{ *drawing }

func (s graphSection) Len() int { return len(s.graphs) }

func (s graphSection) Walk(from, to int, sink trace.Sink) {
	clock, words := &s.t.Clock, &s.t.Rec.Dialect.Graph
	for i := from; i < to; i++ {
		g := &s.graphs[i]
		name := append(s.appendID([]byte("GraphExecution("), g.Task), fmt.Sprintf(", %d visible %s)", g.Nodes, words.Things)...)
		start := clock.Ns(g.Prepare)
		sink.Slice(&trace.Slice{
			Lane: s.graphLanes[g.Lane].lane, Start: start, End: max(start, clock.Ns(g.ExecEnd)), ID: trace.NoID,
			Name: name, Category: "graph_execution", Color: "rail_animation", Args: s.graphArgs(g),
		})
	}
}

func (d *drawing) graphArgs(g *timeline.GraphRun) []trace.Arg {
	clock, words := &d.t.Clock, &d.t.Rec.Dialect.Graph
	args := []trace.Arg{
		{Key: "outer_task_id", Num: g.Task},
		{Key: words.Count, Num: uint64(g.Nodes)},
		{Key: words.Min, Num: uint64(g.MinIndex)},
		{Key: words.Max, Num: uint64(g.MaxIndex)},
		{Key: "prepare_slice_count", Num: uint64(g.Prepares)},
		micros("prepare_duration_us", clock.Span(g.PrepareCycles)),
		micros("execution_start_us", clock.Ns(g.ExecStart)),
		micros("execution_duration_us", clock.Span(g.ExecEnd-min(g.ExecStart, g.ExecEnd))),
		{Key: "synthetic_id_layout", Kind: trace.Text, Text: []byte(words.Layout)},
	}
	return d.runArg(args, g.Run)
}
