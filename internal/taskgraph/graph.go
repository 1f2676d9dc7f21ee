// Package taskgraph is the task graph of one capture over dense node numbers:
// who waits for whom, in both directions, what each task runs and on how many
// blocks.
//
// The orders of the formats are kept, because drawing follows them
// (spec/records.md §5.2): predecessors in order of first appearance, the
// successors of one in order of first appearance under it, and repeated pairs
// collapsed to the first.
package taskgraph

import (
	"fmt"
	"math"
	"math/bits"

	"swimlane/capture"
)

// Graph is immutable once built and safe for concurrent use.
type Graph struct {
	ids   []uint64
	slots []int32 // hash table of node+1, by id

	kernel [][3]int32 // nil if no task names kernels
	has    []bool     // the task has an entry in kernel
	block  []int32    // 0: not in the block map

	order   []int32 // nodes with successors, in order of first appearance
	succOff []int32
	succ    []int32
	predOff []int32
	pred    []int32
}

// New builds the graph of deps. It fails only when there are more nodes or
// edges than 31 bits can number.
func New(deps *capture.Deps) (*Graph, error) {
	if len(deps.Pred) >= math.MaxInt32/2 || len(deps.Task) >= math.MaxInt32/2 {
		return nil, fmt.Errorf("%s has %d edges and %d tasks, more than this version can hold", deps.Source, len(deps.Pred), len(deps.Task))
	}
	g := &Graph{}
	pred := make([]int32, len(deps.Pred))
	succ := make([]int32, len(deps.Pred))
	for i := range deps.Pred {
		pred[i] = g.add(deps.Pred[i])
		succ[i] = g.add(deps.Succ[i])
	}
	g.tasks(deps)
	g.edges(pred, succ)
	return g, nil
}

func (g *Graph) tasks(deps *capture.Deps) {
	for i, id := range deps.Task {
		n := int(g.add(id))
		g.block = grow(g.block, len(g.ids))
		g.block[n] = deps.Block[i]
		if deps.Has[i]&capture.HasKernel != 0 {
			g.kernel = grow(g.kernel, len(g.ids))
			g.has = grow(g.has, len(g.ids))
			g.kernel[n] = deps.Kernel[i]
			g.has[n] = true
		}
	}
	if g.block != nil {
		g.block = grow(g.block, len(g.ids))
	}
	if g.kernel != nil {
		g.kernel = grow(g.kernel, len(g.ids))
		g.has = grow(g.has, len(g.ids))
	}
}

func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	t := make([]T, n, n+n/4+16)
	copy(t, s)
	return t
}

// edges lays the successors out behind one another, without repetitions, then turns them round.
func (g *Graph) edges(pred, succ []int32) {
	n := len(g.ids)
	off := make([]int32, n+1)
	seen := make([]bool, n)
	for _, p := range pred {
		off[p+1]++
		if !seen[p] {
			seen[p] = true
			g.order = append(g.order, p)
		}
	}
	for i := range n {
		off[i+1] += off[i]
	}
	raw := make([]int32, len(succ))
	fill := make([]int32, n)
	for i, p := range pred {
		raw[off[p]+fill[p]] = succ[i]
		fill[p]++
	}
	g.succOff = make([]int32, n+1)
	stamp := make([]int32, n) // p+1 of the last predecessor that listed the node
	kept := int32(0)
	for p := range int32(n) {
		g.succOff[p] = kept
		for _, s := range raw[off[p]:off[p+1]] {
			if stamp[s] != p+1 {
				stamp[s] = p + 1
				raw[kept] = s // never ahead of where it is read
				kept++
			}
		}
	}
	g.succOff[n] = kept
	g.succ = append(make([]int32, 0, kept), raw[:kept]...)

	g.predOff = make([]int32, n+1)
	for _, s := range g.succ {
		g.predOff[s+1]++
	}
	for i := range n {
		g.predOff[i+1] += g.predOff[i]
		fill[i] = g.predOff[i]
	}
	g.pred = make([]int32, kept)
	for _, p := range g.order {
		for _, s := range g.Succ(p) {
			g.pred[fill[s]] = p
			fill[s]++
		}
	}
}

// Nodes is the number of tasks that appear anywhere in the graph.
func (g *Graph) Nodes() int { return len(g.ids) }

// Edges is the number of distinct edges.
func (g *Graph) Edges() int { return len(g.succ) }

// HasKernels reports whether any task names its kernels.
func (g *Graph) HasKernels() bool { return g.kernel != nil }

// ID is the task id of a node.
func (g *Graph) ID(n int32) uint64 { return g.ids[n] }

// Preds are the nodes that have successors, in the order of the file. Do not change it.
func (g *Graph) Preds() []int32 { return g.order }

// Succ are the successors of a node, in order. Do not change it.
func (g *Graph) Succ(n int32) []int32 { return g.succ[g.succOff[n]:g.succOff[n+1]] }

// FirstEdge is the number of a node's first edge; its others follow in the order
// of Succ. Edges are numbered from 0.
func (g *Graph) FirstEdge(n int32) int { return int(g.succOff[n]) }

// Pred are the predecessors of a node, in the order of Preds. Do not change it.
func (g *Graph) Pred(n int32) []int32 { return g.pred[g.predOff[n]:g.predOff[n+1]] }

// Kernel gives the function ids [aic, aiv0, aiv1] of a node, −1 = unused slot.
func (g *Graph) Kernel(n int32) (ids [3]int32, ok bool) {
	if g.kernel == nil || !g.has[n] {
		return ids, false
	}
	return g.kernel[n], true
}

// Block is the number of SPMD blocks of a node, 0 if the graph does not list the task.
func (g *Graph) Block(n int32) int32 {
	if g.block == nil {
		return 0
	}
	return g.block[n]
}

// Around returns the given nodes and everything within n edges of them, in
// either direction.
func (g *Graph) Around(nodes []int32, n int) []int32 {
	seen := make([]bool, len(g.ids))
	var out []int32
	add := func(v int32) {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	for _, v := range nodes {
		add(v)
	}
	from := 0
	for range n {
		to := len(out)
		if from == to {
			break
		}
		for _, v := range out[from:to] {
			for _, s := range g.Succ(v) {
				add(s)
			}
			for _, p := range g.Pred(v) {
				add(p)
			}
		}
		from = to
	}
	return out
}

// Chain returns the given nodes, all that they need and all that needs them.
func (g *Graph) Chain(nodes []int32) []int32 {
	chain := make([]bool, len(g.ids))
	var out []int32
	for _, next := range []func(int32) []int32{g.Pred, g.Succ} {
		seen := make([]bool, len(g.ids))
		var todo []int32
		visit := func(v int32) {
			if seen[v] {
				return
			}
			seen[v] = true
			todo = append(todo, v)
			if !chain[v] {
				chain[v] = true
				out = append(out, v)
			}
		}
		for _, v := range nodes {
			visit(v)
		}
		for len(todo) > 0 {
			v := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, w := range next(v) {
				visit(w)
			}
		}
	}
	return out
}

// Node finds a task.
func (g *Graph) Node(id uint64) (int32, bool) {
	if len(g.slots) == 0 {
		return 0, false
	}
	for i := g.home(id); ; i = (i + 1) & (len(g.slots) - 1) {
		switch v := g.slots[i]; {
		case v == 0:
			return 0, false
		case g.ids[v-1] == id:
			return v - 1, true
		}
	}
}

func (g *Graph) home(id uint64) int {
	hi, lo := bits.Mul64(id^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return int(hi^lo) & (len(g.slots) - 1)
}

// add returns the node of id, a new one if need be.
func (g *Graph) add(id uint64) int32 {
	if n, ok := g.Node(id); ok {
		return n
	}
	if 2*(len(g.ids)+1) > len(g.slots) {
		g.slots = make([]int32, max(64, 2*len(g.slots)))
		for n, old := range g.ids {
			g.place(old, int32(n))
		}
	}
	n := int32(len(g.ids))
	g.ids = append(g.ids, id)
	g.place(id, n)
	return n
}

func (g *Graph) place(id uint64, n int32) {
	i := g.home(id)
	for g.slots[i] != 0 {
		i = (i + 1) & (len(g.slots) - 1)
	}
	g.slots[i] = n + 1
}
