package critical

import (
	"math"
	"slices"
	"strconv"
)

// Cycles is a length of time for scripts: exact, and in µs.
type Cycles struct {
	Ticks   uint64  `json:"ticks"`
	Micros  float64 `json:"us"`
	Percent float64 `json:"percent"` // of the makespan
}

// Figures are the figures of a rank for scripts.
type Figures struct {
	Label        string         `json:"label"`
	Records      string         `json:"records"`
	Tasks        int            `json:"tasks"`
	Edges        int            `json:"happens_before_edges"`
	Bridged      int            `json:"bridged_edges"`
	Contradicted int            `json:"contradicted_dependencies"`
	Untimed      int            `json:"dependencies_on_tasks_without_rows"`
	Makespan     Cycles         `json:"makespan"`
	Static       StaticFigures  `json:"static"`
	Observed     WalkFigures    `json:"observed"`
	Families     []ShareFigures `json:"families"`
	Functions    []ShareFigures `json:"functions"`
}

// StaticFigures are those of the static path.
type StaticFigures struct {
	Length Cycles        `json:"length"`
	Excess Cycles        `json:"beyond_makespan"` // left out of the length: overlaps within the tolerance
	Tasks  []TaskFigures `json:"tasks"`
}

// WalkFigures are those of the observed path.
type WalkFigures struct {
	Compute Cycles            `json:"compute"`
	Stall   Cycles            `json:"stall"`
	ByKind  map[string]Cycles `json:"stall_by_kind"`
	// The parts of the stalls before and behind the dispatch of the task that stalled,
	// null where no dispatch is known.
	Before *Cycles       `json:"stall_before_dispatch"`
	Behind *Cycles       `json:"stall_behind_dispatch"`
	Steps  []StepFigures `json:"steps"`
}

// TaskFigures are those of a task. Its start counts from the zero of the picture.
type TaskFigures struct {
	ID       string  `json:"id"`
	Label    string  `json:"task"`
	Kernel   string  `json:"kernel"`
	Core     string  `json:"core"`
	Start    float64 `json:"start_us"`
	Duration float64 `json:"duration_us"`
}

// StepFigures are those of a task on the observed path.
type StepFigures struct {
	TaskFigures
	ComputeTicks uint64  `json:"compute_ticks"`
	Compute      float64 `json:"compute_us"`
	StallTicks   uint64  `json:"stall_ticks"`
	Stall        float64 `json:"stall_us"`
	// Before is null where the dispatch is not known.
	Before *float64 `json:"stall_before_dispatch_us"`
	Kind   string   `json:"kind"`
	Waited *Waited  `json:"waited_for"`
}

// Waited is what a step waited for.
type Waited struct {
	ID    string `json:"id"`
	Label string `json:"task"`
	Core  string `json:"core"`
	Via   string `json:"via,omitempty"`
}

// ShareFigures are what tasks of one name have of the observed path.
type ShareFigures struct {
	Name         string  `json:"name"`
	Tasks        int     `json:"tasks"`
	ComputeTicks uint64  `json:"compute_ticks"`
	Compute      float64 `json:"compute_us"`
	Percent      float64 `json:"compute_percent"`
	StallTicks   uint64  `json:"stall_ticks"`
	Stall        float64 `json:"stall_us"`
	DataWait     float64 `json:"data_wait_us"`
	CoreWait     float64 `json:"core_wait_us"`
	FrontGap     float64 `json:"front_gap_us"`
}

// Cycles gives a length of time in all units.
func (r *Rank) Cycles(c uint64) Cycles { return Cycles{c, r.micros(c), round(r.percent(c))} }

// micros is a length of time for scripts, without what binary fractions leave behind.
func (r *Rank) micros(c uint64) float64 { return round(r.us(c)) }

func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

func (r *Rank) kindFigures(by [kinds]uint64) map[string]Cycles {
	out := map[string]Cycles{}
	for _, k := range Kinds {
		out[k.String()] = r.Cycles(by[k])
	}
	return out
}

// Figures gives all figures of a rank.
func (r *Rank) Figures() *Figures {
	out := &Figures{
		Label: r.Label, Records: r.T.Rec.Source, Tasks: len(r.Tasks), Edges: r.Edges, Bridged: r.Bridged,
		Contradicted: r.Skipped, Untimed: r.Untimed, Makespan: r.Cycles(r.Makespan()),
		Static: StaticFigures{Length: r.Cycles(r.Floor), Excess: r.Cycles(r.Excess)},
		Observed: WalkFigures{
			Compute: r.Cycles(r.Compute), Stall: r.Cycles(r.Stall), ByKind: r.kindFigures(r.ByKind),
		},
	}
	if r.T.Timed() {
		before, behind := r.Cycles(r.Before), r.Cycles(r.Behind)
		out.Observed.Before, out.Observed.Behind = &before, &behind
	}
	for _, task := range r.Static {
		out.Static.Tasks = append(out.Static.Tasks, r.taskFigures(task, r.T.Rows.Core[r.Tasks[task].First]))
	}
	for i := range r.Observed {
		s := &r.Observed[i]
		f := StepFigures{
			TaskFigures: r.taskFigures(s.Task, s.Core), ComputeTicks: s.Compute, Compute: r.micros(s.Compute),
			StallTicks: s.Stall, Stall: r.micros(s.Stall), Kind: s.Kind.String(),
		}
		if s.Timed {
			before := r.micros(s.Before)
			f.Before = &before
		}
		if s.Waited != None {
			f.Waited = &Waited{ID: r.number(s.Waited), Label: r.plainLabel(s.Waited), Core: r.core(s.WaitedCore)}
			if s.Via != None {
				f.Waited.Via = r.id(r.T.Graph.ID(s.Via))
			}
		}
		out.Observed.Steps = append(out.Observed.Steps, f)
	}
	out.Families = r.shareFigures(r.Shares(func(task int32) string { return Family(r.Kernel(task, r.Names)) }))
	out.Functions = r.shareFigures(r.Shares(func(task int32) string { return r.Kernel(task, r.Names) }))
	return out
}

func (r *Rank) taskFigures(task, core int32) TaskFigures {
	t := &r.Tasks[task]
	return TaskFigures{
		ID: r.number(task), Label: r.plainLabel(task), Kernel: r.Kernel(task, r.Names), Core: r.core(core),
		Start: float64(r.T.Clock.Ns(t.Start)) / 1e3, Duration: r.micros(t.End - t.Start),
	}
}

func (r *Rank) number(task int32) string { return strconv.FormatUint(r.T.Tasks.ID[task], 10) }

func (r *Rank) plainLabel(task int32) string {
	return r.Kernel(task, r.Names) + "(" + r.id(r.T.Tasks.ID[task]) + ")"
}

func (r *Rank) shareFigures(shares []Share) []ShareFigures {
	out := make([]ShareFigures, 0, len(shares))
	for _, s := range shares {
		out = append(out, ShareFigures{
			s.Name, s.Tasks, s.Compute, r.micros(s.Compute), round(r.percent(s.Compute)), s.Stall, r.micros(s.Stall),
			r.micros(s.ByKind[DataWait]), r.micros(s.ByKind[CoreWait]), r.micros(s.ByKind[FrontGap]),
		})
	}
	return out
}

// Path gives the ids of all tasks on either path, in ascending order.
func (r *Result) Path() []uint64 {
	var out []uint64
	for _, task := range r.Static {
		out = append(out, r.T.Tasks.ID[task])
	}
	for i := range r.Observed {
		out = append(out, r.T.Tasks.ID[r.Observed[i].Task])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// On gives for each path whether a task is on it.
func (r *Result) On() (static, observed []bool) {
	static, observed = make([]bool, len(r.Tasks)), make([]bool, len(r.Tasks))
	for _, task := range r.Static {
		static[task] = true
	}
	for i := range r.Observed {
		observed[r.Observed[i].Task] = true
	}
	return static, observed
}
