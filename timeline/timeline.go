package timeline

import (
	"swimlane/capture"
	"swimlane/internal/taskgraph"
)

// Timeline is one capture on one time axis.
type Timeline struct {
	Rec   *capture.Records
	Clock Clock
	Host  *Host // nil unless the host orchestrated the run
	// Placed: a saved clock alignment, or Placement, puts the device on the host's axis.
	Placed bool
	// Placement is the axis that the capture was given; nil if it has its own.
	Placement *Placement

	Cores []Core // the cores that have rows, by ascending id
	Rows  Rows
	Tasks Tasks
	// Counted: dispatch tokens count what each core was given. AICore schedulers use
	// the task id instead (spec/records.md §2.3); at level 1 nothing else tells them.
	Counted bool

	// Threads is the number of scheduler threads: orchestrator lane i is AICPU
	// worker Threads+i (spec/converter.md §3.3).
	Threads int
	Streams []Stream

	// Graph is nil if the capture has no task graph.
	Graph *taskgraph.Graph

	Unmatched int64  // scheduler rows without a kernel row
	Untimed   int64  // kernel rows without a scheduler row, in a capture of a level that has them
	Losses    []Loss // where records are missing
	Warnings  []capture.Warning
}

// Core is one core that ran kernels.
type Core struct {
	ID     int32
	Type   string // "aic", "aiv"
	Thread int32  // scheduler thread that serves it (spec/converter.md §3.8), −1 if unknown
}

// Rows are the joined task rows, sorted by run and task id. Times are cycles.
type Rows struct {
	Core    []int32 // index into Timeline.Cores
	Task    []int32 // index into Timeline.Tasks
	Func    []int32 // function id, −1 if unknown
	Receive []uint64
	Start   []uint64
	End     []uint64
	// Dispatch and Finish are 0 where the scheduler's times are absent; a time
	// that is there is never 0. Nil if absent everywhere.
	Dispatch []uint64
	Finish   []uint64
}

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.Core) }

// Timed reports whether the scheduler's times of a row are known.
func (r *Rows) Timed(i int) bool { return r.Dispatch != nil && r.Dispatch[i] != 0 }

// Tasks are the distinct tasks that have rows, run by run, by ascending id. The
// same id in two runs is two tasks.
type Tasks struct {
	ID   []uint64
	Run  []int32 // index into capture.Records.Runs; nil: all belong to the first
	runs []int32 // tasks of run r are runs[r] … runs[r+1]−1
	Off  []int32 // rows of task i are Off[i] … Off[i+1]−1
	Node []int32 // node in the graph, −1 if it is not there; nil without a graph
	SPMD []bool
}

// Len is the number of tasks.
func (t *Tasks) Len() int { return len(t.ID) }

// Rows returns the row numbers of a task as a half-open range.
func (t *Tasks) Rows(i int32) (from, to int) { return int(t.Off[i]), int(t.Off[i+1]) }

// RunOf is the run of a task.
func (t *Tasks) RunOf(i int32) int32 {
	if t.Run == nil {
		return 0
	}
	return t.Run[i]
}

// Find returns the index of a task id of a run, −1 if it has no rows.
func (t *Tasks) Find(run int32, id uint64) int32 {
	lo, hi := int(t.runs[run]), int(t.runs[run+1])
	end := hi
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); t.ID[m] < id {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < end && t.ID[lo] == id {
		return int32(lo)
	}
	return -1
}

// Timed reports whether any row has scheduler times.
func (t *Timeline) Timed() bool { return t.Rows.Dispatch != nil }

// New joins a capture and its graph, which may be nil.
func New(rec *capture.Records, graph *taskgraph.Graph) (*Timeline, error) {
	t, err := Join(rec)
	if err != nil {
		return nil, err
	}
	t.Attach(graph)
	return t, nil
}

// Join does the part of New that needs no graph, so that it can be done while
// the graph is still being read. Attach must follow. The kernel and scheduler
// columns of rec are consumed: their memory is handed on to the rows.
func Join(rec *capture.Records) (*Timeline, error) { return JoinPlaced(rec, nil) }

// Placement puts a capture on an axis of the host's time that it shares with
// others: the device time Cycles at Ns, the host's own times by Origin.
type Placement struct {
	Cycles uint64
	Ns     int64  // from the axis's zero
	Origin uint64 // host time of the axis's zero, in ns
}

// JoinPlaced is Join on an axis that was found elsewhere; nil is that of the capture
// itself. A saved alignment does not count beside it.
func JoinPlaced(rec *capture.Records, p *Placement) (*Timeline, error) {
	t := &Timeline{Rec: rec, Placement: p}
	if p != nil {
		rec.Meta.Alignment = nil
	}
	base, last := extent(rec)
	if rec.HostMode() || len(rec.Uploads) > 0 {
		h, err := newHost(rec)
		if err != nil {
			return nil, err
		}
		t.Host = h
	}
	t.setClock(base)
	if t.Placed && p == nil && last > 0 && t.Clock.before(base) {
		t.unplace(base)
	}
	if last > 0 {
		if err := t.Clock.check(base, last, rec.Source); err != nil {
			return nil, err
		}
	}
	t.join()
	t.loseStreams(base, last)
	t.loseSubmits()
	t.scanStreams()
	t.assignThreads()
	return t, nil
}

// Attach adds the task graph, nil if there is none, to a joined capture.
func (t *Timeline) Attach(graph *taskgraph.Graph) {
	t.Graph = graph
	t.resolveFunctions()
	t.findSPMD()
}

// CoreOf is the core of a row.
func (t *Timeline) CoreOf(row int) *Core { return &t.Cores[t.Rows.Core[row]] }

// IDOf is the task id of a row.
func (t *Timeline) IDOf(row int) uint64 { return t.Tasks.ID[t.Rows.Task[row]] }
