package timeline

import (
	"cmp"
	"slices"

	"swimlane/capture"
)

// GraphRun is one expansion of a graph task (spec/converter.md §3.7). Times are cycles.
type GraphRun struct {
	Task               uint64 // the outer graph task
	Run                int32  // index into capture.Records.Runs
	Nodes              int    // distinct in-graph indexes seen
	MinIndex, MaxIndex uint32
	Prepare            uint64 // earliest graph_prepare
	PrepareCycles      uint64 // sum of their lengths
	Prepares           int
	ExecStart, ExecEnd uint64
	Lane               int
}

// GraphRuns finds the graph expansions, in the order they are drawn, with their lanes.
func (t *Timeline) GraphRuns() []GraphRun {
	ids := t.Rec.Dialect.IDs
	var runs []*GraphRun
	type key struct {
		run  int32
		task uint64
	}
	byTask := map[key]*GraphRun{}
	for n := range t.Rec.Streams {
		p := &t.Rec.Streams[n].Phases
		for j, k := range p.Kind {
			if k != capture.KindGraphPrepare || p.Flags[j]&capture.HasTask == 0 || !ids.GraphOuter(p.Task[j]) {
				continue
			}
			of := key{runAt(p.Run, j), p.Task[j]}
			g := byTask[of]
			if g == nil {
				g = &GraphRun{Task: of.task, Run: of.run, Prepare: p.Start[j]}
				byTask[of] = g
				runs = append(runs, g)
			}
			g.Prepare = min(g.Prepare, p.Start[j])
			g.PrepareCycles += p.End[j] - min(p.End[j], p.Start[j])
			g.Prepares++
		}
	}
	if len(runs) == 0 {
		return nil
	}
	seen := map[*GraphRun]map[uint32]bool{}
	member := func(run int32, id, start, end uint64) {
		outer, index, ok := ids.GraphMember(id)
		g := byTask[key{run, outer}]
		if !ok || g == nil {
			return
		}
		if seen[g] == nil {
			seen[g] = map[uint32]bool{}
			g.MinIndex, g.MaxIndex, g.ExecStart, g.ExecEnd = index, index, start, end
		}
		seen[g][index] = true
		g.MinIndex, g.MaxIndex = min(g.MinIndex, index), max(g.MaxIndex, index)
		g.ExecStart, g.ExecEnd = min(g.ExecStart, start), max(g.ExecEnd, end)
	}
	for row := range t.Rows.Core {
		start, end := t.Rows.Receive[row], t.Rows.End[row]
		if t.Rows.Timed(row) {
			start, end = t.Rows.Dispatch[row], t.Rows.Finish[row]
		}
		member(t.Tasks.RunOf(t.Rows.Task[row]), t.IDOf(row), start, end)
	}
	for n := range t.Rec.Streams {
		p := &t.Rec.Streams[n].Phases
		for j, k := range p.Kind {
			if k == capture.KindDummyTask && p.Flags[j]&capture.HasTask != 0 {
				member(runAt(p.Run, j), p.Task[j], p.Start[j], p.End[j])
			}
		}
	}
	return graphLanes(runs, seen)
}

// runAt is the run of a record; records that name none belong to the first.
func runAt(run []int32, j int) int32 {
	if run == nil {
		return 0
	}
	return run[j]
}

// graphLanes drops the graphs that nothing was seen of and gives the others lanes.
func graphLanes(runs []*GraphRun, seen map[*GraphRun]map[uint32]bool) []GraphRun {
	var out []GraphRun
	for _, g := range runs {
		if g.Nodes = len(seen[g]); g.Nodes > 0 {
			out = append(out, *g)
		}
	}
	slices.SortStableFunc(out, func(a, b GraphRun) int { return cmp.Compare(a.Prepare, b.Prepare) })
	var ends []uint64
	for i := range out {
		g := &out[i]
		g.Lane = slices.IndexFunc(ends, func(end uint64) bool { return end <= g.Prepare })
		if g.Lane < 0 {
			g.Lane = len(ends)
			ends = append(ends, 0)
		}
		ends[g.Lane] = g.ExecEnd
	}
	return out
}
