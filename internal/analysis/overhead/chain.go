package overhead

import (
	"fmt"
	"slices"

	"swimlane/internal/names"
	"swimlane/timeline"
)

// Path is the chain of tasks that determined when everything was finished
// (spec/sched-overhead.md §7). In cycles.
type Path struct {
	Hops  int
	Exec  uint64 // kernels on the path
	Sched uint64 // what the scheduler put between them
	Start uint64 // where the path begins
	End   uint64
	Found bool // there is a path, of a length above 0
}

// Span is how long the path is.
func (p *Path) Span() uint64 { return less(p.End, p.Start) }

// Other is what is neither, 0 if the two make up more than the path.
func (p *Path) Other() uint64 { return less(p.Span(), p.Exec+p.Sched) }

// path is part 6. The graph has no cycle, but one that expands tasks can have one
// with them.
func (r *Report) path(t *timeline.Timeline, ready *readiness) error {
	p := &r.Path
	row := 0
	for i, f := range t.Rows.Finish {
		if f > t.Rows.Finish[row] {
			row = i
		}
	}
	at := t.Rows.Task[row]
	p.End = t.Rows.Finish[row]
	start := func(i int32) uint64 {
		from, to := t.Tasks.Rows(i)
		return slices.Min(t.Rows.Start[from:to])
	}
	for first := true; ; first = false {
		begin := start(at)
		if first {
			p.Start = begin
		}
		p.Exec += less(ready.end[at], begin)
		from := ready.producer(at)
		if from < 0 {
			a, b := t.Tasks.Rows(at)
			dispatch := slices.Min(t.Rows.Dispatch[a:b])
			p.Sched += less(begin, dispatch)
			p.Start = min(p.Start, dispatch)
			break
		}
		p.Sched += less(begin, ready.end[from])
		if p.Hops++; p.Hops >= t.Tasks.Len() {
			return fmt.Errorf("%s: a task of an expanded graph waits, with --bridge, for task %s, which waits for that graph; the file is of another run or corrupt",
				r.Deps, names.AppendTaskID(nil, t.Rec.Dialect.IDs, t.Tasks.ID[at]))
		}
		p.Start = min(p.Start, start(from))
		at = from
	}
	p.Found = p.Span() > 0
	return nil
}
