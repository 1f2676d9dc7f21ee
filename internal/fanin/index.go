package fanin

import (
	"cmp"
	"slices"
)

// many entries of one buffer are indexed, so that a lookup does not pass by all of
// those that lie elsewhere.
const many = 256

// generation is a binary search tree of a buffer's entries of one version, by where
// they start. It is a treap: with its priorities, which are hashes, it is a heap.
type generation struct {
	version int32
	root    int32 // −1: none
}

// node is what the index has of an entry.
type node struct {
	left, right int32 // −1: none
	priority    uint32
	reach       uint64 // the largest end in the subtree
	age         uint64 // larger: registered later
}

// index makes the index of a buffer.
func (m *Map) index(b *buffer) {
	b.indexed = true
	var oldest int32 = -1
	for at := b.newest; at >= 0; at = m.pool[at].next {
		oldest = at
	}
	for at := oldest; at >= 0; at = m.pool[at].prev {
		m.plant(b, at)
	}
}

// plant adds an entry to the index of its buffer.
func (m *Map) plant(b *buffer, at int32) {
	for len(m.nodes) < len(m.pool) {
		m.nodes = append(m.nodes, node{})
	}
	m.age++
	e := &m.pool[at]
	m.nodes[at] = node{left: -1, right: -1, priority: uint32(m.age * 0x9E3779B97F4A7C15 >> 32), reach: e.end, age: m.age}
	i := slices.IndexFunc(b.generations, func(g generation) bool { return g.version == e.version })
	if i < 0 {
		i = len(b.generations)
		b.generations = append(b.generations, generation{e.version, -1})
	}
	g := &b.generations[i]
	g.root = m.insertNode(g.root, at)
}

// uproot takes an entry out of the index of its buffer.
func (m *Map) uproot(b *buffer, at int32) {
	i := slices.IndexFunc(b.generations, func(g generation) bool { return g.version == m.pool[at].version })
	g := &b.generations[i]
	if g.root = m.removeNode(g.root, at); g.root < 0 {
		b.generations = slices.Delete(b.generations, i, i+1)
	}
}

// left tells whether an entry belongs to the left of another.
func (m *Map) left(a, b int32) bool {
	if x, y := m.pool[a].start, m.pool[b].start; x != y {
		return x < y
	}
	return m.nodes[a].age < m.nodes[b].age
}

// update works out what a node says of its subtree.
func (m *Map) update(at int32) {
	n := &m.nodes[at]
	n.reach = m.pool[at].end
	for _, child := range [...]int32{n.left, n.right} {
		if child >= 0 {
			n.reach = max(n.reach, m.nodes[child].reach)
		}
	}
}

func (m *Map) insertNode(root, at int32) int32 {
	switch n := &m.nodes[at]; {
	case root < 0:
		return at
	case n.priority > m.nodes[root].priority:
		n.left, n.right = m.split(root, at)
		root = at
	case m.left(at, root):
		m.nodes[root].left = m.insertNode(m.nodes[root].left, at)
	default:
		m.nodes[root].right = m.insertNode(m.nodes[root].right, at)
	}
	m.update(root)
	return root
}

// split parts a subtree into what belongs to the left of an entry and the rest.
func (m *Map) split(root, at int32) (low, high int32) {
	if root < 0 {
		return -1, -1
	}
	n := &m.nodes[root]
	if m.left(root, at) {
		low = root
		n.right, high = m.split(n.right, at)
	} else {
		high = root
		low, n.left = m.split(n.left, at)
	}
	m.update(root)
	return low, high
}

func (m *Map) removeNode(root, at int32) int32 {
	n := &m.nodes[root]
	switch {
	case root == at:
		return m.merge(n.left, n.right)
	case m.left(at, root):
		n.left = m.removeNode(n.left, at)
	default:
		n.right = m.removeNode(n.right, at)
	}
	m.update(root)
	return root
}

// merge joins two subtrees, of which all of the first belongs to the left of the
// second.
func (m *Map) merge(low, high int32) int32 {
	switch {
	case low < 0:
		return high
	case high < 0:
		return low
	case m.nodes[low].priority > m.nodes[high].priority:
		m.nodes[low].right = m.merge(m.nodes[low].right, high)
		m.update(low)
		return low
	}
	m.nodes[high].left = m.merge(low, m.nodes[high].left)
	m.update(high)
	return high
}

// near are those entries of an indexed buffer that an argument may overlap, newest
// first. Not ok: they are so many that it is faster to pass by all.
func (m *Map) near(b *buffer, arg *region) (found []int32, ok bool) {
	m.found = m.found[:0]
	limit := b.entries / 8
	for _, g := range b.generations {
		start, end := arg.StartOffset, arg.end
		if arg.Version > g.version { // wherever they lie
			start, end = 0, ^uint64(0)
		}
		if !m.collect(g.root, start, end, limit) {
			return nil, false
		}
	}
	slices.SortFunc(m.found, func(a, b int32) int { return cmp.Compare(m.nodes[b].age, m.nodes[a].age) })
	return m.found, true
}

// collect finds the entries of a subtree in a range, up to a limit.
func (m *Map) collect(at int32, start, end uint64, limit int) bool {
	for at >= 0 && m.nodes[at].reach >= start {
		n, e := &m.nodes[at], &m.pool[at]
		if !m.collect(n.left, start, end, limit) {
			return false
		}
		if e.start > end {
			break
		}
		if e.end >= start {
			if len(m.found) == limit {
				return false
			}
			m.found = append(m.found, at)
		}
		at = n.right
	}
	return true
}
