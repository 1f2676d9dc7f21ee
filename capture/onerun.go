package capture

import (
	"fmt"
	"strconv"
	"strings"
)

// NoEpoch is how a run is chosen that the records do not name.
const NoEpoch = "none"

// Epochs lists the epochs of the runs that a capture holds, "none" for one that
// the records do not name. Of many it lists the first.
func (r *Records) Epochs() string {
	const most = 16
	var list []string
	for _, run := range r.Runs[:min(len(r.Runs), most)] {
		list = append(list, run.text())
	}
	if len(r.Runs) > most {
		list = append(list, fmt.Sprintf("… %d in all", len(r.Runs)))
	}
	return strings.Join(list, ", ")
}

func (r Run) text() string {
	if !r.Known {
		return NoEpoch
	}
	return strconv.FormatUint(r.Epoch, 10)
}

// RunOf finds the run of an epoch, given as in Epochs; −1 if there is no such.
func (r *Records) RunOf(epoch string) int {
	for i, run := range r.Runs {
		if run.text() == epoch {
			return i
		}
	}
	return -1
}

// Only leaves of a capture the device's records of one run, Runs[run], which
// becomes the only one. What belongs to no run stays: what the host recorded, and
// what the file says about itself and its losses.
func (r *Records) Only(run int) {
	if len(r.Runs) < 2 {
		return
	}
	t := &r.Tasks
	keep := rowsOf(t.Run, t.Len(), run)
	t.Core, t.Task, t.Reg = pick(t.Core, keep), pick(t.Task, keep), pick(t.Reg, keep)
	t.Start, t.End, t.Receive = pick(t.Start, keep), pick(t.End, keep), pick(t.Receive, keep)
	q := &r.Sched
	keep = rowsOf(q.Run, q.Len(), run)
	q.Core, q.Reg, q.Dispatch, q.Finish = pick(q.Core, keep), pick(q.Reg, keep), pick(q.Dispatch, keep), pick(q.Finish, keep)
	t.Run, q.Run = nil, nil
	for i := range r.Streams {
		p := &r.Streams[i].Phases
		keep := rowsOf(p.Run, p.Len(), run)
		p.Kind, p.Flags, p.Start, p.End = pick(p.Kind, keep), pick(p.Flags, keep), pick(p.Start, keep), pick(p.End, keep)
		p.Loop, p.Processed, p.Task = pick(p.Loop, keep), pick(p.Processed, keep), pick(p.Task, keep)
		p.Depth, p.Extra, p.Pops = pick(p.Depth, keep), pick(p.Extra, keep), pick(p.Pops, keep)
		p.Run = nil
	}
	for i := range r.DeviceOrc {
		s := &r.DeviceOrc[i]
		keep := rowsOf(s.Run, s.Len(), run)
		s.Index, s.Task, s.Has = pick(s.Index, keep), pick(s.Task, keep), pick(s.Has, keep)
		s.Start, s.End, s.Extra = pick(s.Start, keep), pick(s.End, keep), pick(s.Extra, keep)
		s.Run = nil
	}
	if r.Launches != nil {
		r.Launches = r.Launches[run : run+1 : run+1]
		var kept []Lifecycle
		for _, l := range r.Lifecycle {
			if int(l.Run) == run {
				l.Run = 0
				kept = append(kept, l)
			}
		}
		r.Lifecycle = kept
	}
	r.Runs = r.Runs[run : run+1 : run+1]
}

// rowsOf lists the rows of a run. Rows that name none belong to the first.
func rowsOf(runs []int32, n, run int) []int32 {
	var keep []int32
	for i := range n {
		own := 0
		if runs != nil {
			own = int(runs[i])
		}
		if own == run {
			keep = append(keep, int32(i))
		}
	}
	return keep
}

// pick takes rows out of a column; nil stays nil.
func pick[T any](column []T, keep []int32) []T {
	if column == nil {
		return nil
	}
	out := make([]T, len(keep))
	for i, row := range keep {
		out[i] = column[row]
	}
	return out
}
