package strace

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"swimlane/internal/hostlog"
)

// Trees has a tree of medians for every callable (spec/host-log.md §6.3).
type Trees struct {
	Callables []Tree `json:"callables"` // those with the most runs first
}

// Tree is what runs of a callable consist of. Its shape is that of the last run,
// its times are medians over all of them.
type Tree struct {
	HID         string  `json:"hid"`
	Label       string  `json:"label"`
	Invocations int     `json:"invocations"`
	Roots       []*Node `json:"roots"`
}

// Node is a span of a tree.
type Node struct {
	Name     string  `json:"name"`
	Device   bool    `json:"device,omitempty"`
	Count    int     `json:"count"` // runs that have such a span
	MedianNS float64 `json:"median_ns"`
	// EffectiveNS is the median of the times from the first start to the last end of
	// orch and sched, which run side by side; nil if not both are below this node.
	EffectiveNS *float64 `json:"effective_ns,omitempty"`
	Children    []*Node  `json:"children,omitempty"`
}

// NewTrees makes the trees.
func NewTrees(runs []hostlog.Invocation) *Trees {
	out := &Trees{Callables: []Tree{}}
	for i, b := range ranked(runs) {
		t := Tree{HID: b.HID, Label: label(i, &b), Invocations: len(b.Invocations), Roots: []*Node{}}
		durations := map[string][]int64{}
		for _, v := range b.Invocations {
			for _, s := range v.ByName() {
				durations[s.Name] = append(durations[s.Name], s.Dur)
			}
		}
		for _, n := range b.Invocations[len(b.Invocations)-1].Tree() {
			t.Roots = append(t.Roots, node(n, &b, durations))
		}
		out.Callables = append(out.Callables, t)
	}
	return out
}

func node(n *hostlog.TreeNode, b *hostlog.Bucket, durations map[string][]int64) *Node {
	list := durations[n.Name]
	out := &Node{Name: n.Name, Device: n.Device(), Count: len(list), MedianNS: median(list)}
	for _, child := range n.Children {
		out.Children = append(out.Children, node(child, b, durations))
	}
	if out.child("orch") != nil && out.child("sched") != nil {
		var list []int64
		for _, v := range b.Invocations {
			if ns, ok := effective(v.Named(n.Name+".orch"), v.Named(n.Name+".sched")); ok {
				list = append(list, ns)
			}
		}
		ns := median(list)
		out.EffectiveNS = &ns
	}
	return out
}

// leaf is the last word of the name.
func (n *Node) leaf() string { return n.Name[strings.LastIndexByte(n.Name, '.')+1:] }

func (n *Node) child(leaf string) *Node {
	for _, c := range n.Children {
		if c.leaf() == leaf {
			return c
		}
	}
	return nil
}

// Text prints the trees.
func (t *Trees) Text(to io.Writer) error {
	w := bufio.NewWriter(to)
	if len(t.Callables) == 0 {
		fmt.Fprintln(w, Nothing)
	}
	for _, c := range t.Callables {
		what := "1 invocation"
		if c.Invocations > 1 {
			what = fmt.Sprintf("median of %d invocation(s)", c.Invocations)
		}
		fmt.Fprintf(w, "callable hid=%s (%s) — %s\n", c.HID, c.Label, what)
		for _, n := range c.Roots {
			n.text(w, 0)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func (n *Node) text(w *bufio.Writer, indent int) {
	tag := ""
	if n.Device {
		tag = " [dev]"
	}
	fmt.Fprintf(w, "%*s%-22s%6s  %12s us\n", 2*indent, "", n.leaf(), tag, us(n.MedianNS))
	n.below(w, indent+1)
}

// below prints what is below a node. Orch and sched run side by side, so their
// times do not add up: together they have one line.
func (n *Node) below(w *bufio.Writer, indent int) {
	for _, c := range n.Children {
		leaf := c.leaf()
		if n.EffectiveNS == nil || leaf != "orch" && leaf != "sched" {
			c.text(w, indent)
			continue
		}
		if leaf == "orch" {
			fmt.Fprintf(w, "%*s%-22s [dev]  %12s us\n", 2*indent, "", "Effective", us(*n.EffectiveNS))
			fmt.Fprintf(w, "%*sorch %s  ∥  sched %s   (concurrent)\n", 2*indent+2, "", us(c.MedianNS), us(n.child("sched").MedianNS))
		}
		c.below(w, indent+1)
	}
}
