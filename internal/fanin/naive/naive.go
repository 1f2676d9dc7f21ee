// Package naive is test support: what a task depends on, found the slow way, to
// judge package fanin and the replay of dep_gen by. Slices are sets of elements,
// the map is a list, and rows are sorted out after all of them are known. For
// small buffers only; it shares no code with what it judges.
package naive

import (
	"slices"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// Row is a reason for a task to depend on another, as deps.json words it.
type Row struct {
	Pred    uint64
	Arg     int
	Source  string
	Flags   abi.DepKind
	Overlap string
	Slice   *abi.Tensor // the registered one
}

// Written is a registered slice.
type Written struct {
	By     uint64
	Tensor abi.Tensor
}

// Graph is what was submitted so far: what was written and is not superseded,
// oldest first.
type Graph struct{ Written []Written }

// Submit returns the rows of a task, and what it wants of each producer. Live
// says which producers have not retired.
func (g *Graph) Submit(s *producer.Submit, live func(uint64) bool) ([]Row, map[uint64]abi.DepKind) {
	var all []Row
	for _, d := range s.Deps {
		kind := d.Kind
		if kind == 0 {
			kind = 3
		}
		all = append(all, Row{Pred: d.Producer, Arg: -1, Source: "explicit", Flags: kind})
	}
	if !s.ManualScope {
		for i, a := range s.Args {
			if a.Type == abi.ArgOutput {
				continue
			}
			if a.Tensor.OwnerTaskID != abi.NoOwner {
				all = append(all, Row{Pred: a.Tensor.OwnerTaskID, Arg: i, Source: "creator", Flags: 3})
			}
			if (a.Type == abi.ArgInput || a.Type == abi.ArgInOut) && a.Tensor.ManualDep == 0 {
				all = append(all, g.hits(i, a, live)...)
			}
		}
		for _, a := range s.Args {
			if (a.Type == abi.ArgInOut || a.Type == abi.ArgOutputExisting) && a.Tensor.ManualDep == 0 {
				g.Written = append(g.Written, Written{s.TaskID, a.Tensor})
			}
		}
	}
	all = slices.DeleteFunc(all, func(r Row) bool { return !live(r.Pred) })

	want := map[uint64]abi.DepKind{}
	for _, r := range all {
		want[r.Pred] |= r.Flags
	}
	var rows []Row
	for i, r := range all {
		same := func(o Row) bool { return o.Pred == r.Pred }
		if first := slices.IndexFunc(all, same); first == i {
			for _, o := range all[i+1:] { // those that get no row of their own
				if same(o) && o.Source != "tensormap" {
					r.Flags |= o.Flags
				}
			}
		} else if r.Source != "tensormap" {
			continue
		}
		rows = append(rows, r)
	}
	return rows, want
}

// hits looks up an argument, newest first.
func (g *Graph) hits(slot int, a producer.Arg, live func(uint64) bool) (rows []Row) {
	var gone []int
	for i := len(g.Written) - 1; i >= 0; i-- {
		w := g.Written[i]
		if w.Tensor.BufferAddr != a.Tensor.BufferAddr {
			continue
		}
		word := Overlap(&a.Tensor, &w.Tensor)
		if word == "no_overlap" {
			continue
		}
		rows = append(rows, Row{Pred: w.By, Arg: slot, Source: "tensormap", Flags: 1, Overlap: word, Slice: &w.Tensor})
		if word == "covered" && a.Type == abi.ArgInOut && live(w.By) {
			gone = append(gone, i)
		}
	}
	for _, i := range gone { // largest first
		g.Written = slices.Delete(g.Written, i, i+1)
	}
	return rows
}

// Overlap compares sets of elements (spec/deps.md §4.1.1).
func Overlap(arg, registered *abi.Tensor) string {
	if arg.Version > registered.Version {
		return "other"
	}
	mine, theirs := elements(arg), elements(registered)
	if len(mine) == 0 || len(theirs) == 0 || slices.Max(mine) < slices.Min(theirs) || slices.Max(theirs) < slices.Min(mine) {
		return "no_overlap" // their ranges are apart
	}
	n := arg.NDims
	if arg.DType != registered.DType || n != registered.NDims || !slices.Equal(arg.Strides[:n], registered.Strides[:n]) || !block(arg) || !block(registered) {
		return "other"
	}
	common := 0
	for _, e := range theirs {
		if slices.Contains(mine, e) {
			common++
		}
	}
	switch common {
	case 0:
		return "no_overlap"
	case len(theirs):
		return "covered"
	}
	return "other"
}

// elements lists the elements of a slice.
func elements(t *abi.Tensor) []uint64 {
	list := []uint64{t.StartOffset}
	for d := range t.NDims {
		var next []uint64
		for _, e := range list {
			for i := range t.Shapes[d] {
				next = append(next, e+uint64(i*t.Strides[d]))
			}
		}
		list = next
	}
	return list
}

// block tells whether a slice is a block of the array that its strides make of
// the buffer: it looks for the array's coordinates of the first element among
// those of all elements.
func block(t *abi.Tensor) bool {
	n := int(t.NDims)
	if n == 0 || t.Strides[n-1] != 1 || t.DType.Size() == 0 {
		return false
	}
	buffer := uint32(t.BufferSize) / uint32(t.DType.Size())
	outer := append([]uint32{buffer}, t.Strides[:n-1]...)
	var shape []uint32
	for d := range n {
		if outer[d]%t.Strides[d] != 0 {
			return false
		}
		shape = append(shape, outer[d]/t.Strides[d])
	}
	at := make([]uint32, n)
	for first := uint64(0); first != t.StartOffset; first++ { // counts up in the array
		d := n - 1
		for ; d >= 0; d-- {
			if at[d]++; at[d] < shape[d] {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return false // behind the buffer
		}
	}
	for d := range n {
		if at[d]+t.Shapes[d] > shape[d] {
			return false
		}
	}
	return true
}
