package capture

import (
	"cmp"
	"slices"
)

// runTable numbers the runs of a file while its sections are read: first in
// order of appearance, at the end in their order.
type runTable struct {
	epochs []uint64
	index  map[uint64]int32
}

// unnamedRun is the number, until the end, of records that name no run in a
// section where others do.
const unnamedRun = -1

func (r *runTable) number(epoch uint64) int32 {
	if i, ok := r.index[epoch]; ok {
		return i
	}
	if r.index == nil {
		r.index = map[uint64]int32{}
	}
	i := int32(len(r.epochs))
	r.index[epoch] = i
	r.epochs = append(r.epochs, epoch)
	return i
}

// column numbers the runs of a section's records; nil stays nil.
func (r *runTable) column(epochs []uint64) []int32 {
	if len(epochs) == 0 {
		return nil
	}
	out := make([]int32, len(epochs))
	for i, e := range epochs {
		// Records of one run stand together.
		if i > 0 && e == epochs[i-1] {
			out[i] = out[i-1]
			continue
		}
		out[i] = r.number(e)
	}
	return out
}

// settle puts the runs in order and renumbers the sections' columns.
func (r *runTable) settle(out *Records) {
	sections := []struct {
		run *[]int32
		n   int
	}{{&out.Tasks.Run, out.Tasks.Len()}, {&out.Sched.Run, out.Sched.Len()}}
	for i := range out.Streams {
		p := &out.Streams[i].Phases
		sections = append(sections, struct {
			run *[]int32
			n   int
		}{&p.Run, p.Len()})
	}
	for i := range out.DeviceOrc {
		s := &out.DeviceOrc[i]
		sections = append(sections, struct {
			run *[]int32
			n   int
		}{&s.Run, s.Len()})
	}
	unnamed := len(r.epochs) == 0
	for _, s := range sections {
		if s.n > 0 && (*s.run == nil || slices.Contains(*s.run, unnamedRun)) {
			unnamed = true
		}
	}
	if unnamed {
		out.Runs = []Run{{}}
	}
	order := make([]int32, len(r.epochs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(r.epochs[a], r.epochs[b]) })
	number := make([]int32, len(order))
	for _, i := range order {
		number[i] = int32(len(out.Runs))
		out.Runs = append(out.Runs, Run{Epoch: r.epochs[i], Known: true})
	}
	for _, s := range sections {
		if len(out.Runs) == 1 {
			*s.run = nil // all belong to the only one
		}
		for i, v := range *s.run {
			if v == unnamedRun {
				(*s.run)[i] = 0
			} else {
				(*s.run)[i] = number[v]
			}
		}
	}
}
