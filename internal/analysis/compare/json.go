package compare

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
)

type document struct {
	A         jsonSide       `json:"a"`
	B         jsonSide       `json:"b"`
	Graphs    jsonGraphs     `json:"graphs"`
	Match     jsonMatch      `json:"match"`
	Notes     []string       `json:"notes"`
	Makespan  jsonChange     `json:"makespan_us"`
	Span      *jsonChange    `json:"dispatch_to_finish_us"`
	Critical  []jsonFigure   `json:"critical_path"`
	Overhead  []jsonFigure   `json:"scheduler_overhead"`
	Functions []jsonFunction `json:"functions"`
	Tasks     []jsonTask     `json:"tasks"`
}

type jsonSide struct {
	Records string `json:"records"`
	Deps    string `json:"deps"`
	Level   int    `json:"level"`
	Tasks   int    `json:"tasks"`
	Rows    int    `json:"rows"`
	Cores   int    `json:"cores"`
}

type jsonGraphs struct {
	A            bool `json:"a"`
	B            bool `json:"b"`
	Equal        bool `json:"equal"`
	TasksOnlyA   int  `json:"tasks_only_in_a"`
	TasksOnlyB   int  `json:"tasks_only_in_b"`
	EdgesOnlyA   int  `json:"edges_only_in_a"`
	EdgesOnlyB   int  `json:"edges_only_in_b"`
	OtherKernels int  `json:"tasks_with_other_kernels"`
}

type jsonMatch struct {
	Matched  int  `json:"matched"`
	ByID     int  `json:"by_task_id"`
	ByBefore int  `json:"by_what_they_run_and_depend_on"`
	ByOrder  int  `json:"by_what_they_run_in_order"`
	OnlyA    int  `json:"only_in_a"`
	OnlyB    int  `json:"only_in_b"`
	Unproven bool `json:"unproven"`
}

// jsonChange has no percentage where A is 0.
type jsonChange struct {
	A       float64  `json:"a"`
	B       float64  `json:"b"`
	Change  float64  `json:"change"`
	Percent *float64 `json:"change_percent"`
}

type jsonFigure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	jsonChange
}

type jsonFunction struct {
	Name    string      `json:"name"`
	CountA  int         `json:"count_a"`
	CountB  int         `json:"count_b"`
	Verdict string      `json:"verdict"`
	Median  *jsonChange `json:"median_us"` // null where only one side has the function
	Mean    *jsonChange `json:"mean_us"`
	Total   jsonChange  `json:"total_us"`
	Noise   *[2]float64 `json:"median_change_lies_in_us"`
}

type jsonTask struct {
	A        string     `json:"a"`
	B        string     `json:"b"`
	IDA      string     `json:"id_a"`
	IDB      string     `json:"id_b"`
	Start    jsonChange `json:"start_us"`
	Duration jsonChange `json:"kernel_us"`
}

// JSON writes all of the comparison. Times are µs; those of tasks count from the
// first kernel start.
func (r *Result) JSON(w io.Writer) error {
	d := &document{
		A: r.A.json(), B: r.B.json(),
		Graphs: jsonGraphs{
			r.Graphs.A, r.Graphs.B, r.Graphs.Equal(), r.Graphs.OnlyA, r.Graphs.OnlyB, r.Graphs.MoreA, r.Graphs.MoreB, r.Graphs.Kernels,
		},
		Match: jsonMatch{
			len(r.Match.Pairs), r.Match.ByID, r.Match.ByBefore, r.Match.ByOrder, r.Match.OnlyA, r.Match.OnlyB, r.Match.Unproven,
		},
		Notes: append([]string{}, r.Notes...), Makespan: r.Makespan.json(),
		Critical: figures(r.Critical), Overhead: figures(r.Overhead),
		Functions: make([]jsonFunction, 0, len(r.Functions)), Tasks: make([]jsonTask, 0, len(r.Tasks)),
	}
	if r.Span != nil {
		span := r.Span.json()
		d.Span = &span
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		out := jsonFunction{Name: f.Name, CountA: f.CountA, CountB: f.CountB, Verdict: f.Verdict(), Total: f.Total.json()}
		if f.CountA > 0 && f.CountB > 0 {
			median, mean := f.Median.json(), f.Mean.json()
			out.Median, out.Mean, out.Noise = &median, &mean, &[2]float64{f.NoiseLo, f.NoiseHi}
		}
		d.Functions = append(d.Functions, out)
	}
	id := func(s *Side, task int32) string { return strconv.FormatUint(s.Timeline.Tasks.ID[task], 10) }
	for _, t := range r.Tasks {
		d.Tasks = append(d.Tasks, jsonTask{r.A.label(t.A), r.B.label(t.B), id(r.A, t.A), id(r.B, t.B), t.Start.json(), t.Duration.json()})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

func (s *Side) json() jsonSide {
	t := s.Timeline
	return jsonSide{t.Rec.Source, s.Deps, t.Rec.Level, t.Tasks.Len(), t.Rows.Len(), len(t.Cores)}
}

func (c Change) json() jsonChange {
	out := jsonChange{A: c.A, B: c.B, Change: c.Diff()}
	if p := c.Percent(); !math.IsInf(p, 0) {
		out.Percent = &p
	}
	return out
}

func figures(of []Figure) []jsonFigure {
	out := make([]jsonFigure, 0, len(of))
	for _, f := range of {
		out = append(out, jsonFigure{f.Name, f.Unit, f.json()})
	}
	return out
}
