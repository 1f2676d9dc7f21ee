// Package stats sums up what the tasks of a capture cost, by function
// (spec/converter.md §9). Sums are exact in cycles; they become µs when shown.
package stats

import (
	"cmp"
	"slices"

	"swimlane/internal/names"
	"swimlane/timeline"
)

// Function is what the rows of one function add up to. Times are cycles.
type Function struct {
	ID    int32 // −1: the rows whose function is unknown
	Name  string
	Count int
	Timed int // rows with scheduler times
	Exec  uint64
	// Of the timed rows:
	TimedExec uint64 // kernel time
	Latency   uint64 // dispatch → finish
	Head      int64  // dispatch → kernel start, may be negative
	HeadMax   int64  // the longest of them
	Tail      int64  // kernel end → finish, may be negative
	Prop      int64  // dispatch → receive, may be negative
	Local     uint64 // receive → kernel start, of all rows
}

// Thread is the idle time of one scheduler thread.
type Thread struct {
	Name   string
	Busy   int64 // ns from the first work record to the last without the idle time
	Idle   int64 // ns
	Stated bool  // the capture has idle records; otherwise the gaps between work were summed
}

// Table is the statistics of one capture.
type Table struct {
	Source    string
	Level     int
	Producer  string
	Hz        uint64
	Timed     bool // some row has scheduler times
	ValidOnly bool // the words of the table say that it counts rows with scheduler times
	Functions []Function
	Total     Function
	// Span is from the earliest dispatch to the latest finish, or, without
	// scheduler times, from the earliest receive to the latest end. In cycles.
	Span    uint64
	HasSpan bool
	Threads []Thread
	Tasks   int
	Cores   int
}

// Compute sums a capture up. threads names the scheduler threads, as many as there are streams.
func Compute(t *timeline.Timeline, m *names.Map, threads []string) *Table {
	out := &Table{
		Source: t.Rec.Source, Level: t.Rec.Level, Producer: t.Rec.Sched.Producer, Hz: t.Clock.Hz,
		Timed: t.Timed(), ValidOnly: t.Rec.Dialect.ValidRowStats, Tasks: t.Tasks.Len(), Cores: len(t.Cores), Total: Function{Name: "TOTAL"},
	}
	byID := map[int32]*Function{}
	for row := range t.Rows.Core {
		id := t.Rows.Func[row]
		f := byID[id]
		if f == nil {
			f = &Function{ID: id, Name: m.Function(int64(id))}
			byID[id] = f
		}
		f.add(t, row)
		out.Total.add(t, row)
	}
	for _, f := range byID {
		out.Functions = append(out.Functions, *f)
	}
	slices.SortFunc(out.Functions, func(a, b Function) int { return cmp.Compare(a.ID, b.ID) })
	out.span(t)
	for n := range t.Streams {
		s := &t.Streams[n]
		if t.Rec.Streams[n].Gap {
			continue
		}
		out.Threads = append(out.Threads, Thread{Name: threads[n], Busy: s.BusyNs, Idle: s.IdleNs, Stated: s.RecordsIdle})
	}
	return out
}

func (f *Function) add(t *timeline.Timeline, row int) {
	r := &t.Rows
	f.Count++
	exec := r.End[row] - r.Start[row]
	f.Exec += exec
	f.Local += r.Start[row] - r.Receive[row]
	if !r.Timed(row) {
		return
	}
	f.Timed++
	f.TimedExec += exec
	f.Latency += r.Finish[row] - r.Dispatch[row]
	head := int64(r.Start[row] - r.Dispatch[row])
	if f.Timed == 1 || head > f.HeadMax {
		f.HeadMax = head
	}
	f.Head += head
	f.Tail += int64(r.Finish[row] - r.End[row])
	f.Prop += int64(r.Receive[row] - r.Dispatch[row])
}

func (out *Table) span(t *timeline.Timeline) {
	var first, last uint64
	at := func(a, b uint64) {
		if !out.HasSpan || a < first {
			first = a
		}
		last = max(last, b)
		out.HasSpan = true
	}
	for row := range t.Rows.Core {
		switch {
		case !out.Timed:
			at(t.Rows.Receive[row], t.Rows.End[row])
		case t.Rows.Timed(row):
			at(t.Rows.Dispatch[row], t.Rows.Finish[row])
		}
	}
	out.Span = last - first
}

// Micros turns cycles into µs.
func (out *Table) Micros(cycles float64) float64 { return cycles * 1e6 / float64(out.Hz) }

// Mean values in µs; ok is false where the table shows a dash.

// AvgExec is the mean kernel time.
func (out *Table) AvgExec(f *Function) float64 { return out.Micros(float64(f.Exec) / float64(f.Count)) }

// AvgLocal is the mean time from receive to kernel start.
func (out *Table) AvgLocal(f *Function) float64 {
	return out.Micros(float64(f.Local) / float64(f.Count))
}

func (out *Table) mean(f *Function, sum float64) (float64, bool) {
	if f.Timed == 0 {
		return 0, false
	}
	return out.Micros(sum / float64(f.Timed)), true
}

// AvgLatency is the mean time from dispatch to finish.
func (out *Table) AvgLatency(f *Function) (float64, bool) { return out.mean(f, float64(f.Latency)) }

// AvgHead is the mean time from dispatch to kernel start.
func (out *Table) AvgHead(f *Function) (float64, bool) { return out.mean(f, float64(f.Head)) }

// AvgTail is the mean time from kernel end to finish.
func (out *Table) AvgTail(f *Function) (float64, bool) { return out.mean(f, float64(f.Tail)) }

// AvgProp is the mean time from dispatch to receive.
func (out *Table) AvgProp(f *Function) (float64, bool) { return out.mean(f, float64(f.Prop)) }

// ExecPercent is the share of the latency that the kernels ran.
func (out *Table) ExecPercent(f *Function) (float64, bool) {
	if f.Timed == 0 {
		return 0, false
	}
	if f.Latency == 0 {
		return 0, true
	}
	return 100 * float64(f.TimedExec) / float64(f.Latency), true
}

// Captions say what a level collects (spec/records.md §2.1).
func Caption(level int) string {
	switch level {
	case 1:
		return "AICore timing only"
	case 2:
		return "AICore + Scheduler task timing"
	case 3:
		return "AICore + Scheduler task timing + scheduler phases"
	case 4:
		return "full collection with orchestrator phases"
	}
	return "unknown"
}
