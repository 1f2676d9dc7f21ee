package critical

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// graph is what the two paths are looked for in.
type graph struct {
	*Result
	opt    Options
	taskOf []int32 // per node of the graph; None: it has no rows

	// Of the search through tasks without rows:
	seenNode []int32 // s+1 of the last task that reached the node
	seenTask []int32
	todo     []reached
	steps    int
}

type reached struct{ node, via int32 }

// maxSteps bounds the search through tasks without rows: a graph that was made for
// it can hold as many pairs as there are squares.
const maxSteps = 1 << 28

// preds visits the tasks that s depends on and that time agrees with: they end
// before s starts, up to the tolerance, and start before it. via is the first node
// without rows in between. count counts what is visited, and what is not.
func (g *graph) preds(s int32, count bool, visit func(p, via int32)) error {
	if g.T.Graph == nil || g.T.Tasks.Node[s] < 0 {
		return nil
	}
	g.todo = append(g.todo[:0], reached{g.T.Tasks.Node[s], None})
	if g.opt.Bridge && g.seenNode == nil {
		g.seenNode, g.seenTask = make([]int32, g.T.Graph.Nodes()), make([]int32, len(g.Tasks))
	}
	mark := s + 1
	if !count {
		mark = -mark
	}
	for i := 0; i < len(g.todo); i++ {
		at := g.todo[i]
		for _, node := range g.T.Graph.Pred(at.node) {
			if g.steps++; g.steps > maxSteps && g.opt.Bridge {
				return fmt.Errorf("the graph of %s has too many ways through tasks without rows to follow them all; leave out --bridge", g.T.Rec.Source)
			}
			p := g.taskOf[node]
			switch {
			case p == s:
			case p >= 0:
				if g.opt.Bridge {
					if g.seenTask[p] == mark {
						continue
					}
					g.seenTask[p] = mark
				}
				agrees := g.happensBefore(p, s)
				if count {
					g.counted(agrees, at.via != None)
				}
				if agrees {
					visit(p, at.via)
				}
			case g.opt.Bridge && g.seenNode[node] != mark:
				g.seenNode[node] = mark
				via := at.via
				if via == None {
					via = node
				}
				g.todo = append(g.todo, reached{node, via})
			}
			if count && p == None && at.via == None {
				g.Untimed++
			}
		}
	}
	return nil
}

func (g *graph) counted(agrees, bridged bool) {
	switch {
	case !agrees:
		g.Skipped++
	case bridged:
		g.Edges++
		g.Bridged++
	default:
		g.Edges++
	}
}

func (g *graph) happensBefore(p, s int32) bool {
	a, b := &g.Tasks[p], &g.Tasks[s]
	return g.before(a.End, b.Start) && a.Start < b.Start
}

// before reports whether a time is not later than another, up to the tolerance.
func (g *graph) before(end, start uint64) bool { return end <= start || end-start <= g.opt.Tolerance }

// compareID compares the ids of two tasks as texts, as the format's tool has it.
func (g *graph) compareID(a, b int32) int {
	if a == b {
		return 0
	}
	var x, y [20]byte
	return bytes.Compare(strconv.AppendUint(x[:0], g.T.Tasks.ID[a], 10), strconv.AppendUint(y[:0], g.T.Tasks.ID[b], 10))
}

// holder is the task that held the core of another one until that started.
type holder struct {
	task, core int32 // core: index into Timeline.Cores
	end        uint64
}

// holders finds for every task which one held a core that it starts on: on each
// core the row that ended last of those that start earlier. Of several cores
// that one counts which was held longest.
func (g *graph) holders() []holder {
	rows := &g.T.Rows
	hold := make([]holder, len(g.Tasks))
	for i := range hold {
		hold[i].task = None
	}
	order := make([]int32, rows.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(rows.Core[a], rows.Core[b]), cmp.Compare(rows.Start[a], rows.Start[b]),
			cmp.Compare(rows.End[a], rows.End[b]), g.compareID(rows.Task[a], rows.Task[b]))
	})
	last := int32(None) // the row of the core that ends last so far
	for _, row := range order {
		if last != None && rows.Core[last] != rows.Core[row] {
			last = None
		}
		s := rows.Task[row]
		if last != None && rows.Start[row] == g.Tasks[s].Start && rows.Task[last] != s && g.before(rows.End[last], rows.Start[row]) {
			found := holder{rows.Task[last], rows.Core[row], rows.End[last]}
			if h := &hold[s]; h.task == None || cmp.Or(cmp.Compare(found.end, h.end), g.compareID(found.task, h.task)) > 0 {
				*h = found
			}
		}
		if last == None || rows.End[row] > rows.End[last] {
			last = row
		}
	}
	return hold
}
