package overhead

import (
	"slices"

	"swimlane/capture"
	"swimlane/timeline"
)

// readiness knows what tasks waited for.
type readiness struct {
	t     *timeline.Timeline
	end   []uint64 // latest end of a task's rows, by task
	task  []int32  // task of a node of the graph, −1 if it has no rows; nil in a capture of several runs
	best  []int32  // with bridges: the best node behind one without rows, −1 if there is none
	inner []int32  // with bridges: the member of a graph that ended last, by the node of its graph task
}

func newReadiness(t *timeline.Timeline) *readiness {
	r := &readiness{t: t, end: make([]uint64, t.Tasks.Len())}
	for i := range r.end {
		from, to := t.Tasks.Rows(int32(i))
		r.end[i] = slices.Max(t.Rows.End[from:to])
	}
	if len(t.Rec.Runs) == 1 && t.Graph != nil {
		r.task = make([]int32, t.Graph.Nodes())
		for n := range r.task {
			r.task[n] = -1
		}
		for i, n := range t.Tasks.Node {
			if n >= 0 {
				r.task[n] = int32(i)
			}
		}
	}
	return r
}

// bridge makes tasks that ran on no core count as what they wait for themselves.
// order is that of Graph.Order. A graph task has no rows either, but its members
// do: it ends when the last of them does. Where ids do not tell its members, what
// waits for it is not known to wait for anything.
func (r *readiness) bridge(order []int32) {
	g := r.t.Graph
	r.members()
	at := func(n int32) int32 {
		if r.task[n] >= 0 {
			return r.task[n]
		}
		return r.inner[n]
	}
	// AICore schedulers have no dummies (spec/sched-overhead.md §9): a task of theirs without kernels is a graph.
	aicore := madeByAICore(r.t.Rec)
	opaque := func(n int32) bool {
		k, ok := g.Kernel(n)
		return aicore && ok && max(k[0], k[1], k[2]) < 0
	}
	best := g.Through(order, func(n int32) bool { return at(n) >= 0 || opaque(n) }, func(a, b int32) bool {
		return at(a) >= 0 && (at(b) < 0 || r.beats(at(a), at(b)))
	})
	for n := range r.task {
		switch {
		case r.task[n] >= 0:
			best[n] = -1
		case r.inner[n] >= 0:
			best[n] = r.inner[n]
		case best[n] >= 0:
			best[n] = at(best[n])
		}
	}
	r.best = best
}

// behind is how many tasks would have another producer with bridges. order is that of
// Graph.Order.
func (r *readiness) behind(order []int32) int {
	if r.task == nil {
		return 0
	}
	bridged := &readiness{t: r.t, end: r.end, task: r.task}
	bridged.bridge(order)
	n := 0
	for i := range r.end {
		if r.producer(int32(i)) != bridged.producer(int32(i)) {
			n++
		}
	}
	return n
}

// madeByAICore reports whether AICore schedulers made a capture.
func madeByAICore(rec *capture.Records) bool {
	return rec.Sched.Producer == capture.ProducerAICore ||
		slices.ContainsFunc(rec.Streams, func(s capture.Stream) bool { return s.AICore() })
}

// members finds the member that ended last of every graph task that was expanded.
func (r *readiness) members() {
	t := r.t
	r.inner = make([]int32, t.Graph.Nodes())
	for n := range r.inner {
		r.inner[n] = -1
	}
	ids := t.Rec.Dialect.IDs
	expanded := t.Rec.GraphTasks()
	always := ids == capture.Spaces || capture.OwnRuntime(t.Rec) == capture.RuntimeHBG // the other runtime has rings there
	for i, id := range t.Tasks.ID {
		outer, _, ok := ids.GraphMember(id)
		if !ok || !always && !expanded[outer] {
			continue
		}
		if n, ok := t.Graph.Node(outer); ok && (r.inner[n] < 0 || r.beats(int32(i), r.inner[n])) {
			r.inner[n] = int32(i)
		}
	}
}

// beats orders tasks by end, then by id.
func (r *readiness) beats(a, b int32) bool {
	if r.end[a] != r.end[b] {
		return r.end[a] > r.end[b]
	}
	return r.t.Tasks.ID[a] > r.t.Tasks.ID[b]
}

// producer is the task that ended last, of equal ones the one with the greatest
// id, of those that task i waited for; −1 if none of them has rows.
func (r *readiness) producer(i int32) int32 {
	t := r.t
	if t.Tasks.Node == nil || t.Tasks.Node[i] < 0 {
		return -1
	}
	node, last := t.Tasks.Node[i], int32(-1)
	for _, p := range t.Graph.Pred(node) {
		if p == node {
			continue
		}
		var k int32
		switch {
		case r.task == nil:
			k = t.Tasks.Find(t.Tasks.RunOf(i), t.Graph.ID(p))
		case r.task[p] < 0 && r.best != nil:
			k = r.best[p]
		default:
			k = r.task[p]
		}
		if k >= 0 && (last < 0 || r.beats(k, last)) {
			last = k
		}
	}
	return last
}
