package depview

import (
	"container/heap"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// redundant finds the edges (u, v) whose v can be reached from u on a longer path too.
// It returns false if the graph has a cycle.
//
// The work is done for blocks of consumers that lie near each other in the order of
// submission. A path between two nodes stays between their places in a topological
// order, so a block looks only at the stretch from the earliest producer of its edges
// on. With graphs whose tasks depend on tasks submitted not long before, which is what
// programs make, that is a small part of the graph; at worst it is V·E/64 steps
// altogether, and the memory is that of one block.
func (m *Model) redundant(progress func(int64)) ([]bool, bool) {
	order, ok := m.topological()
	if !ok {
		return nil, false
	}
	r := &reduction{m: m, order: order, at: make([]int32, len(order)), redundant: make([]bool, m.Edges())}
	for i, n := range order {
		r.at[n] = int32(i)
	}
	r.plan()
	r.run(progress)
	return r.redundant, true
}

type reduction struct {
	m         *Model
	order     []int32 // nodes, each behind what it needs
	at        []int32 // the place of a node in order
	redundant []bool  // by edge
	column    []int32 // by node: its block and its column there, −1 if it has none
	blocks    []block
	work      int64 // of all blocks
}

// block is a run of consumers, and the stretch of the order that matters to them.
type block struct {
	id       int32
	from, to int32 // places
}

// A block has blockColumns columns, a bit each. Going over a node costs about the same
// for one word and for many, as it waits for memory.
const (
	blockShift   = 11
	blockColumns = 1 << blockShift
	blockWords   = blockColumns / 64
)

// plan makes the blocks. Only an edge from a task with other consumers to a task with
// other producers can be redundant.
func (r *reduction) plan() {
	m := r.m
	r.column = make([]int32, len(r.order))
	cur := block{from: math.MaxInt32}
	used := int32(0)
	flush := func() {
		if used > 0 {
			cur.id = int32(len(r.blocks))
			r.blocks = append(r.blocks, cur)
			r.work += int64(cur.to - cur.from)
		}
		cur, used = block{from: math.MaxInt32}, 0
	}
	for i, v := range r.order {
		r.column[v] = -1
		if m.FanIn(v) < 2 {
			continue
		}
		earliest := int32(math.MaxInt32)
		for _, e := range m.In(v) {
			if u := m.pred[e]; m.FanOut(u) > 1 {
				earliest = min(earliest, r.at[u])
			}
		}
		if earliest == math.MaxInt32 {
			continue
		}
		r.column[v] = int32(len(r.blocks))<<blockShift | used
		cur.from, cur.to = min(cur.from, earliest), int32(i)+1
		if used++; used == blockColumns {
			flush()
		}
	}
	flush()
}

// run does the blocks, several at a time as long as their memory stays small.
func (r *reduction) run(progress func(int64)) {
	const memory = 256 << 20
	largest := int32(0)
	for _, b := range r.blocks {
		largest = max(largest, b.to-b.from)
	}
	workers := min(runtime.GOMAXPROCS(0), len(r.blocks), max(1, memory/(int(largest+1)*blockWords*8)))
	var next atomic.Int32
	var done atomic.Int64
	var all sync.WaitGroup
	var mu sync.Mutex
	for range workers {
		all.Go(func() {
			reach := make([][blockWords]uint64, largest)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(r.blocks) {
					return
				}
				b := r.blocks[i]
				r.one(b, reach)
				if n := done.Add(int64(b.to - b.from)); progress != nil {
					mu.Lock()
					progress(n * 1000 / r.work)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
}

// one tests the edges to the consumers of a block. reach[i] are the consumers that can
// be reached from the node at place b.from+i.
func (r *reduction) one(b block, reach [][blockWords]uint64) {
	m := r.m
	for i := b.to - 1; i >= b.from; i-- {
		n := r.order[i]
		var far, near [blockWords]uint64 // over another node, and at once
		for e, end := m.Out(n); e < end; e++ {
			s := m.succ[e]
			if at := r.at[s]; at < b.to {
				for w, x := range &reach[at-b.from] {
					far[w] |= x
				}
			}
			if c := r.column[s]; c>>blockShift == b.id {
				near[c>>6&(blockWords-1)] |= 1 << (c & 63)
			}
		}
		both := false
		for w := range far {
			both = both || far[w]&near[w] != 0
		}
		if both {
			for e, end := m.Out(n); e < end; e++ {
				if c := r.column[m.succ[e]]; c>>blockShift == b.id && far[c>>6&(blockWords-1)]>>(c&63)&1 != 0 {
					r.redundant[e] = true
				}
			}
		}
		for w := range far {
			far[w] |= near[w]
		}
		reach[i-b.from] = far
	}
}

// topological orders the nodes, each behind what it needs, and otherwise as they were
// submitted. It returns false if there is a cycle.
func (m *Model) topological() ([]int32, bool) {
	q := &queue{key: m.submission()}
	waits := make([]int32, len(m.id))
	for n := range waits {
		if waits[n] = int32(m.FanIn(int32(n))); waits[n] == 0 {
			q.nodes = append(q.nodes, int32(n))
		}
	}
	heap.Init(q)
	order := make([]int32, 0, len(m.id))
	for len(q.nodes) > 0 {
		n := heap.Pop(q).(int32)
		order = append(order, n)
		for e, end := m.Out(n); e < end; e++ {
			s := m.succ[e]
			if waits[s]--; waits[s] == 0 {
				heap.Push(q, s)
			}
		}
	}
	return order, len(order) == len(m.id)
}

// submission gives every node its place in the order of submission: that of its entry;
// what has no entry stands just before the first task that needs it, or at the end.
func (m *Model) submission() []int64 {
	key := make([]int64, len(m.id))
	for n := range key {
		key[n] = math.MaxInt64
		if i := m.entry[n]; i >= 0 {
			key[n] = 2*int64(i) + 1
		}
	}
	for n := range key {
		if m.entry[n] >= 0 {
			continue
		}
		for e, end := m.Out(int32(n)); e < end; e++ {
			if i := m.entry[m.succ[e]]; i >= 0 {
				key[n] = min(key[n], 2*int64(i))
			}
		}
	}
	return key
}

// queue holds nodes, the earliest on top.
type queue struct {
	key   []int64
	nodes []int32
}

func (q *queue) Len() int { return len(q.nodes) }
func (q *queue) Less(i, j int) bool {
	a, b := q.nodes[i], q.nodes[j]
	return q.key[a] < q.key[b] || q.key[a] == q.key[b] && a < b
}
func (q *queue) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *queue) Push(x any)    { q.nodes = append(q.nodes, x.(int32)) }
func (q *queue) Pop() any {
	n := len(q.nodes) - 1
	x := q.nodes[n]
	q.nodes = q.nodes[:n]
	return x
}
