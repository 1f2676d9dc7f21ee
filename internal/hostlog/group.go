package hostlog

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Invocation is one run as the spans of one (PID, Inv) show it: that key is all
// that holds them together, however they are mixed with others in the log.
type Invocation struct {
	PID   int
	Inv   uint64
	HID   string  // of the first span
	Spans []*Span // in the order of the input
	Root  *Span   // the first span of depth 0, nil if there is none
}

// Group puts spans of any family together that have the same PID and Inv. The
// groups are in the order of these two, and point into spans.
func Group(spans []Span) []Invocation {
	return group(each(spans), func(*Span) bool { return true })
}

// Invocations are the groups of all spans but those of dispatchers and of foreign
// producers, which belong to no run of a chip.
func Invocations(spans []Span) []Invocation { return InvocationsOf(each(spans)) }

// InvocationsOf is Invocations of spans that do not lie in one list. It goes
// through them twice.
func InvocationsOf(spans iter.Seq[*Span]) []Invocation {
	return group(spans, func(s *Span) bool {
		f := s.Family()
		return f != Node && f != External
	})
}

func each(spans []Span) iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		for i := range spans {
			if !yield(&spans[i]) {
				return
			}
		}
	}
}

func group(spans iter.Seq[*Span], keep func(*Span) bool) []Invocation {
	n := 0
	for s := range spans {
		if keep(s) {
			n++
		}
	}
	kept := make([]*Span, 0, n)
	for s := range spans {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, func(a, b *Span) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Inv, b.Inv))
	})
	var out []Invocation
	for len(kept) > 0 {
		first := kept[0]
		end := 1
		for end < len(kept) && kept[end].PID == first.PID && kept[end].Inv == first.Inv {
			end++
		}
		v := Invocation{PID: first.PID, Inv: first.Inv, HID: first.HID, Spans: kept[:end:end]}
		if i := slices.IndexFunc(v.Spans, func(s *Span) bool { return s.Depth == 0 }); i >= 0 {
			v.Root = v.Spans[i]
		}
		out = append(out, v)
		kept = kept[end:]
	}
	return out
}

// ByName has one span for every name, the earliest by its start, the first of
// equal ones; in the order in which the names appear. The tables are made of it.
func (v *Invocation) ByName() []*Span {
	var out []*Span
	place := map[string]int{}
	for _, s := range v.Spans {
		i, ok := place[s.Name]
		switch {
		case !ok:
			place[s.Name] = len(out)
			out = append(out, s)
		case s.TS < out[i].TS:
			out[i] = s
		}
	}
	return out
}

// Named is the span that ByName has for a name, nil if there is none.
func (v *Invocation) Named(name string) *Span {
	var found *Span
	for _, s := range v.Spans {
		if s.Name == name && (found == nil || s.TS < found.TS) {
			found = s
		}
	}
	return found
}

// Last is the last span of a name in the order of the input, nil if there is none.
// The placement of captures asks for it (spec/l3.md §7.1).
func (v *Invocation) Last(name string) *Span {
	for _, s := range slices.Backward(v.Spans) {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// TreeNode is a span of a tree, with the spans below it by their starts.
type TreeNode struct {
	*Span
	Children []*TreeNode
}

// Tree links the spans of ByName by their names: a span lies below the one whose
// name is its own up to the last dot, and is a root if there is none. So device
// spans find their place although their clock is another one; depths take no part.
// Roots, too, are in the order of their starts.
func (v *Invocation) Tree() []*TreeNode {
	spans := v.ByName()
	nodes := make([]TreeNode, len(spans))
	byName := make(map[string]*TreeNode, len(spans))
	for i, s := range spans {
		nodes[i].Span = s
		byName[s.Name] = &nodes[i]
	}
	var roots []*TreeNode
	for i := range nodes {
		n := &nodes[i]
		if dot := strings.LastIndexByte(n.Name, '.'); dot >= 0 {
			if parent := byName[n.Name[:dot]]; parent != nil {
				parent.Children = append(parent.Children, n)
				continue
			}
		}
		roots = append(roots, n)
	}
	byStart := func(a, b *TreeNode) int { return cmp.Compare(a.TS, b.TS) }
	slices.SortStableFunc(roots, byStart)
	for i := range nodes {
		slices.SortStableFunc(nodes[i].Children, byStart)
	}
	return roots
}

// Bucket are the invocations of one callable.
type Bucket struct {
	HID         string
	Invocations []*Invocation // by ascending Inv
}

// Buckets puts invocations of the same callable together, in the order in which
// callables appear.
func Buckets(all []Invocation) []Bucket {
	var out []Bucket
	place := map[string]int{}
	for i := range all {
		v := &all[i]
		at, ok := place[v.HID]
		if !ok {
			at = len(out)
			place[v.HID] = at
			out = append(out, Bucket{HID: v.HID})
		}
		out[at].Invocations = append(out[at].Invocations, v)
	}
	for _, b := range out {
		slices.SortStableFunc(b.Invocations, func(x, y *Invocation) int { return cmp.Compare(x.Inv, y.Inv) })
	}
	return out
}
