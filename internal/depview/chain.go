package depview

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Chain is how one task leads to another: figures about all paths between them, and the
// shortest one. Paths are counted, never listed, as there can be more than anyone could read.
type Chain struct {
	*View
	From, To int32
	Path     []int32 // edges of the shortest path, of several the one of the smallest ids; nil: there is none
	Shortest uint64  // how many paths are as short; MaxUint64 and more count as MaxUint64
	Between  int     // tasks on any path, without the two ends
	// Looped: a cycle lies on the way, so that neither the paths can be counted nor the
	// longest be found.
	Looped  bool
	Paths   uint64  // all paths; MaxUint64 and more count as MaxUint64
	Longest int     // edges of the longest path
	Every   []int32 // tasks on every path, in order, without the two ends
	Reverse int     // where there is no path: edges of the shortest one the other way, 0 if there is none
}

// Chain looks for the paths between two tasks.
func (v *View) Chain(from, to int32) (*Chain, error) {
	if from == to {
		return nil, fmt.Errorf("both ends of the chain are task %s: expected two tasks", v.Text(from))
	}
	c := &Chain{View: v, From: from, To: to}
	c.shortest()
	if c.Path == nil {
		other := &Chain{View: v, From: to, To: from}
		other.shortest()
		c.Reverse = len(other.Path)
		return c, nil
	}
	c.all()
	return c, nil
}

func addSaturated(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// shortest finds the shortest paths by breadth.
func (c *Chain) shortest() {
	distance := make([]int32, c.Nodes())
	for n := range distance {
		distance[n] = -1
	}
	ways := make([]uint64, c.Nodes())
	via := make([]int32, c.Nodes()) // the edge that came first
	distance[c.From], ways[c.From] = 0, 1
	for level := []int32{c.From}; len(level) > 0 && distance[c.To] < 0; {
		var more []int32
		for _, n := range level {
			c.out(n, func(e, s int32) {
				switch {
				case distance[s] < 0:
					distance[s], ways[s], via[s] = distance[n]+1, ways[n], e
					more = append(more, s)
				case distance[s] == distance[n]+1:
					ways[s] = addSaturated(ways[s], ways[n])
				}
			})
		}
		level = more
	}
	if distance[c.To] < 0 {
		return
	}
	c.Shortest = ways[c.To]
	for n := c.To; n != c.From; n, _ = c.Edge(via[n]) {
		c.Path = append(c.Path, via[n])
	}
	slices.Reverse(c.Path)
}

// all finds what concerns all paths, by going once over the tasks that are on any.
func (c *Chain) all() {
	on := c.reached(c.From, c.View.out)
	back := c.reached(c.To, c.intoNode)
	waits := make([]int32, c.Nodes())
	nodes := 0
	for n := range on {
		if on[n] = on[n] && back[n]; !on[n] {
			continue
		}
		nodes++
		c.intoNode(int32(n), func(_, p int32) {
			if p != int32(n) && on[p] && back[p] {
				waits[n]++
			}
		})
	}
	c.Between = nodes - 2
	// Nothing on a path leads back to its begin, unless there is a cycle.
	if waits[c.From] > 0 {
		c.Looped = true
		return
	}
	ways, length := make([]uint64, c.Nodes()), make([]int, c.Nodes())
	ways[c.From] = 1
	at := make([]int, c.Nodes())
	order := make([]int32, 0, nodes)
	order = append(order, c.From)
	for i := 0; i < len(order); i++ {
		n := order[i]
		at[n] = i
		c.out(n, func(_, s int32) {
			if !on[s] || !back[s] {
				return
			}
			if s == n {
				c.Looped = true
				return
			}
			ways[s] = addSaturated(ways[s], ways[n])
			length[s] = max(length[s], length[n]+1)
			if waits[s]--; waits[s] == 0 {
				order = append(order, s)
			}
		})
	}
	if c.Looped = c.Looped || len(order) < nodes; c.Looped {
		return
	}
	c.Paths, c.Longest = ways[c.To], length[c.To]
	c.everywhere(order, at, on)
}

// everywhere finds the tasks that no path goes around: those over which no edge leads
// from an earlier task to a later one.
func (c *Chain) everywhere(order []int32, at []int, on []bool) {
	far := 0 // the farthest place that an edge from before leads to
	for i, n := range order {
		if i > 0 && far <= i && n != c.To {
			c.Every = append(c.Every, n)
		}
		c.out(n, func(_, s int32) {
			if on[s] {
				far = max(far, at[s])
			}
		})
	}
}

// reached marks the nodes that can be reached from one, itself included.
func (c *Chain) reached(from int32, next func(n int32, visit func(e, other int32))) []bool {
	seen := make([]bool, c.Nodes())
	seen[from] = true
	for stack := []int32{from}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		next(n, func(_, m int32) {
			if !seen[m] {
				seen[m] = true
				stack = append(stack, m)
			}
		})
	}
	return seen
}

// WriteText writes the figures and the shortest path, and why its edges exist.
func (c *Chain) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	from, to := c.Text(c.From), c.Text(c.To)
	fmt.Fprintf(out, "CHAIN %s -> %s\n", from, to)
	if c.Path == nil {
		fmt.Fprintf(out, "  no path: %s does not need %s", to, from)
		if c.Reverse > 0 {
			fmt.Fprintf(out, "; it is %s that needs %s, %s away", from, to, plural(c.Reverse, "edge"))
		}
		fmt.Fprintln(out)
		return out.Flush()
	}
	of := "the only one as short"
	if c.Shortest > 1 {
		of = "one of " + many(c.Shortest) + " as short"
	}
	fmt.Fprintf(out, "  shortest path  %s, %s\n", plural(len(c.Path), "edge"), of)
	if c.Looped {
		fmt.Fprintf(out, "  a cycle lies on the way: paths are not counted\n")
	} else {
		fmt.Fprintf(out, "  longest path   %s\n", plural(c.Longest, "edge"))
		fmt.Fprintf(out, "  paths          %s\n", many(c.Paths))
	}
	fmt.Fprintf(out, "  tasks between  %d\n", c.Between)
	if !c.Looped && c.Between > 0 {
		fmt.Fprintf(out, "  on every path  %s\n", c.someOf(c.Every))
	}
	b := append([]byte("\nSHORTEST PATH\n  "), from...)
	b = append(c.appendCalled(b, c.From), '\n')
	for _, e := range c.Path {
		_, s := c.Edge(e)
		b = c.AppendText(append(b, "  -> "...), s)
		b = append(c.appendCalled(b, s), '\n')
		for _, row := range c.Rows(e) {
			b = append(c.appendWhy(append(b, "     "...), row), '\n')
		}
	}
	out.Write(b)
	return out.Flush()
}

// someOf lists tasks as far as one cares to read.
func (c *Chain) someOf(nodes []int32) string {
	const most = 20
	if len(nodes) == 0 {
		return "none"
	}
	var list []string
	for _, n := range nodes[:min(len(nodes), most)] {
		list = append(list, c.Text(n))
	}
	text := strings.Join(list, ", ")
	if more := len(nodes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// many is a number of paths.
func many(n uint64) string {
	if n == math.MaxUint64 {
		return "more than 10^19"
	}
	return fmt.Sprint(n)
}
