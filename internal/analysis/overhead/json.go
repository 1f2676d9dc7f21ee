package overhead

import (
	"encoding/json"
	"io"
)

// JSON writes the figures for scripts. Times are µs, shares percent.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r.document())
}

type document struct {
	Records  string       `json:"records"`
	Deps     string       `json:"deps"`
	Level    int          `json:"level"`
	Producer string       `json:"producer"`
	Bridged  bool         `json:"bridged"`
	Rows     int          `json:"rows"`
	Tasks    int          `json:"tasks"`
	Verdict  jsonVerdict  `json:"verdict"`
	Switches jsonSwitches `json:"switches"`
	Head     jsonSpread   `json:"head_us"`
	Tail     jsonSpread   `json:"tail_us"`
	Phases   *jsonPhases  `json:"phases"`  // null without records of AICPU schedulers
	Streams  *jsonStreams `json:"streams"` // null without records of AICore schedulers
	Path     *jsonPath    `json:"critical_path"`
}

type jsonVerdict struct {
	Verdict    string       `json:"verdict"`
	Window     float64      `json:"window_us"`
	Engines    []jsonEngine `json:"engines"`
	All        float64      `json:"all_overhead_us"`
	AllPercent float64      `json:"all_overhead_percent"`
	Has        float64      `json:"has_overhead_us"`
	HasPercent float64      `json:"has_overhead_percent"`
}

type jsonEngine struct {
	Engine  string  `json:"engine"`
	Cores   int     `json:"cores"`
	Time    float64 `json:"overhead_us"`
	Percent float64 `json:"overhead_percent"`
}

type jsonSwitches struct {
	Engines []jsonSwitch `json:"engines"`
	Bound   [2]float64   `json:"makespan_bound_us"`
}

type jsonSwitch struct {
	Engine string  `json:"engine"`
	Min    float64 `json:"min_us_per_core"`
	Mean   float64 `json:"mean_us_per_core"`
	Max    float64 `json:"max_us_per_core"`
	Events int     `json:"events"`
	Each   float64 `json:"us_per_event"`
	During float64 `json:"during_overhead_percent"`
}

type jsonSpread struct {
	N     int     `json:"n"`
	P10   float64 `json:"p10"`
	P25   float64 `json:"p25"`
	P50   float64 `json:"p50"`
	P75   float64 `json:"p75"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
	Total float64 `json:"total"`
}

type jsonPhases struct {
	Threads   []jsonThread `json:"threads"`
	Finishes  int64        `json:"finishes"`
	Phases    []jsonPhase  `json:"phases"`
	Fanout    jsonDegrees  `json:"fanout"`
	Fanin     jsonDegrees  `json:"fanin"`
	Hit       int64        `json:"pop_hit"`
	Miss      int64        `json:"pop_miss"`
	LoopNs    float64      `json:"ns_per_scheduler_loop"`
	TailLoops *float64     `json:"tail_in_scheduler_loops"` // null without loops
	Busiest   string       `json:"busiest_phase"`
}

type jsonThread struct {
	Thread int     `json:"thread"`
	Role   string  `json:"role"`
	Loops  int64   `json:"loops"`
	Tasks  int64   `json:"tasks"`
	LoopNs float64 `json:"ns_per_loop"`
	Total  float64 `json:"total_us"`
}

type jsonPhase struct {
	Phase   string  `json:"phase"`
	Total   float64 `json:"total_us"`
	Percent float64 `json:"percent"`
	PerTask float64 `json:"us_per_task"`
}

type jsonDegrees struct {
	Edges int64   `json:"edges"`
	Max   int     `json:"max_degree"`
	Mean  float64 `json:"avg_degree"`
}

type jsonStreams struct {
	Count   int        `json:"count"`
	Kinds   []jsonKind `json:"kinds"`
	Dropped int64      `json:"dropped"`
}

type jsonKind struct {
	Kind    string  `json:"kind"`
	Records int64   `json:"records"`
	Total   float64 `json:"total_us"`
}

type jsonPath struct {
	Hops         int     `json:"hops"`
	Span         float64 `json:"span_us"`
	Exec         float64 `json:"exec_us"`
	Sched        float64 `json:"scheduler_us"`
	SchedPercent float64 `json:"scheduler_percent"`
	Other        float64 `json:"other_us"`
}

// verdictWords are those of scripts.
var verdictWords = [...]string{ComputeBound: "compute_or_dependency_bound", PartlyLimited: "partially_scheduler_limited", SchedulerBound: "scheduler_bound"}

func (r *Report) document() *document {
	d := &document{
		Records: r.Records, Deps: r.Deps, Level: r.Level, Producer: "aicpu", Bridged: r.Bridged, Rows: r.Rows, Tasks: r.Tasks,
		Verdict: jsonVerdict{
			Verdict: verdictWords[r.Verdict()], Window: r.us(r.Window),
			All: r.us(r.All), AllPercent: r.Percent(r.All), Has: r.us(r.Has), HasPercent: r.Percent(r.Has),
		},
		Switches: jsonSwitches{Bound: [2]float64{r.us(r.SwitchLow), r.us(r.SwitchHigh)}},
		Head:     r.jsonSpread(&r.Head), Tail: r.jsonSpread(&r.Tail),
	}
	if r.AICore {
		d.Producer = "aicore"
	}
	for i := range r.Engines {
		e := &r.Engines[i]
		d.Verdict.Engines = append(d.Verdict.Engines, jsonEngine{e.Type, e.Cores, r.us(e.Overhead), r.Percent(e.Overhead)})
		d.Switches.Engines = append(d.Switches.Engines, jsonSwitch{
			e.Type, r.us(e.Min), r.Micros(float64(e.Sum) / float64(e.Cores)), r.us(e.Max), e.Events,
			r.Micros(ratio(float64(e.Sum), float64(e.Events))), share(float64(e.During), float64(e.Sum)),
		})
	}
	if r.Phases != nil {
		d.Phases = r.jsonPhases()
	}
	if s := r.Streams; s != nil {
		d.Streams = &jsonStreams{Count: s.Count, Dropped: s.Dropped}
		for _, k := range s.Kinds {
			d.Streams.Kinds = append(d.Streams.Kinds, jsonKind{k.Name, k.Records, r.us(k.Time)})
		}
	}
	if p := &r.Path; p.Found {
		d.Path = &jsonPath{p.Hops, r.us(p.Span()), r.us(p.Exec), r.us(p.Sched), share(float64(p.Sched), float64(p.Span())), r.us(p.Other())}
	}
	return d
}

func (r *Report) jsonSpread(s *Spread) jsonSpread {
	p := s.P
	return jsonSpread{s.N, r.us(p[0]), r.us(p[1]), r.us(p[2]), r.us(p[3]), r.us(p[4]), r.us(p[5]), r.us(p[6]), r.us(s.Max), r.mean(s), r.us(s.Sum)}
}

func (r *Report) jsonPhases() *jsonPhases {
	f := r.Phases
	total := f.Sum(all)
	tasks := float64(total.Tasks)
	d := &jsonPhases{
		Finishes: total.Finishes, Hit: total.Hit, Miss: total.Miss, LoopNs: r.loopNs(),
		Fanout: jsonDegrees{f.Fanout.Edges, f.Fanout.Max, ratio(float64(f.Fanout.Edges), tasks)},
		Fanin:  jsonDegrees{f.Fanin.Edges, f.Fanin.Max, ratio(float64(f.Fanin.Edges), tasks)},
	}
	if d.LoopNs > 0 {
		loops := r.mean(&r.Tail) * 1000 / d.LoopNs
		d.TailLoops = &loops
	}
	if best := f.Busiest(); best >= 0 {
		d.Busiest = PhaseName(best)
	}
	for i := range f.Threads {
		th := &f.Threads[i]
		role := "scheduler"
		if th.Resolver {
			role = "resolution"
		}
		d.Threads = append(d.Threads, jsonThread{th.Index, role, th.Loops, th.Tasks, r.rate.Ns(th.perLoop()), r.us(th.Total())})
	}
	for p, seen := range f.Seen {
		if seen {
			t := float64(total.Time[p])
			d.Phases = append(d.Phases, jsonPhase{PhaseName(p), r.Micros(t), share(t, float64(total.Total())), r.Micros(ratio(t, tasks))})
		}
	}
	return d
}
