package hbg_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// payment is a runtime as far as its runs pay for what they record: which costs of
// profiling they pay, from which level on, and how a run ends that all of them have a part
// in, with some costs a hundred times as large.
type payment struct {
	name string
	paid map[sim.Cost]abi.Level
	run  func(level abi.Level, slow ...sim.Cost) hbg.Report
}

// check: each cost of profiling makes runs longer from its level on, and changes nothing
// below it; the costs that are paid by others never do.
func (p *payment) check(t *testing.T) {
	t.Helper()
	var plain [abi.OrchPhases + 1]hbg.Report
	for level := range plain {
		plain[level] = p.run(abi.Level(level))
	}
	var others, all []sim.Cost
	for k := range sim.DefaultCosts(abi.A5) {
		k := sim.Cost(k)
		if !k.Observer() {
			continue
		}
		all = append(all, k)
		from, ours := p.paid[k]
		if !ours {
			others = append(others, k)
			continue
		}
		for _, level := range slices.Compact([]abi.Level{from, abi.OrchPhases}) {
			if r := p.run(level, k); r.Wall.End <= plain[level].Wall.End {
				t.Errorf("%s: %v: a run at level %d ends at %d, want later than %d where it takes 100 times as long", p.name, k, level, r.Wall.End, plain[level].Wall.End)
			}
		}
		if p.run(from-1, k) != plain[from-1] {
			t.Errorf("%s: %v changes a run at level %d, want from %d on", p.name, k, from-1, from)
		}
	}
	if p.run(abi.OrchPhases, others...) != plain[abi.OrchPhases] {
		t.Errorf("%s: some of %v change a run whose records are others", p.name, others)
	}
	if p.run(abi.Disabled, all...) != plain[abi.Disabled] {
		t.Errorf("%s: a run at level 0 pays for profiling", p.name)
	}
}

// TestRunsPayForWhatTheyRecord: threads of a run that the host has built pay for their
// records as those of the other runtime do (spec/collector.md §2.1). More blocks than a
// buffer of a core holds, and what the resolver has a record of, behind them.
func TestRunsPayForWhatTheyRecord(t *testing.T) {
	(&payment{"AICPU threads", map[sim.Cost]abi.Level{
		sim.CoreRecord: abi.TaskTiming, sim.SchedRotate: abi.TaskTiming, sim.SchedSample: abi.ScheduleTiming, sim.SchedTaskRecord: abi.ScheduleTiming,
		sim.SchedPhaseRecord: abi.SchedPhases, sim.SchedDepth: abi.SchedPhases,
	}, func(level abi.Level, slow ...sim.Cost) hbg.Report {
		b := newBench(t, abi.A2A3, 1, level)
		defer b.memory.Close()
		b.threads = 2
		for _, k := range slow {
			b.costs[k].Ns *= 100
		}
		return *b.run(func(h *hbg.Host) {
			many := h.Submit(&sim.Task{Kernels: aic(1), Blocks: abi.AicoreBufferSize + 1}).ID
			dummy := h.Submit(&sim.Task{Deps: after(many)}).ID
			h.Submit(&sim.Task{Kernels: aiv(1), Deps: after(dummy)})
		})
	}}).check(t)
}

// TestAicoresPayForWhatTheyRecord: so do AICores that schedule: for what executors note in
// their slots, for looks at the counter, and for lines of the trace; and AICPU threads for
// the times of their life.
func TestAicoresPayForWhatTheyRecord(t *testing.T) {
	p := payment{"AICores", map[sim.Cost]abi.Level{
		sim.CoreStage: abi.TaskTiming, sim.CoreSchedRecord: abi.TaskTiming, sim.CoreSample: abi.ScheduleTiming, sim.SchedSample: abi.ScheduleTiming,
	}, func(level abi.Level, slow ...sim.Cost) hbg.Report {
		b := newAicoreBench(t, 2, level)
		defer b.memory.Close()
		for _, k := range slow {
			b.costs[k].Ns *= 100
		}
		b.run(fanOut(b))
		return *b.report
	}}
	p.check(t)
	// A line of a trace, and a look at the counter, are paid each time: levels 1 to 3 are
	// longer and longer.
	var ends []sim.Time
	for level := range abi.OrchPhases {
		ends = append(ends, p.run(level).Wall.End)
	}
	if !slices.IsSorted(ends) || len(slices.Compact(ends)) != 4 {
		t.Errorf("runs end at %v by level, want each later than the last", ends)
	}
}

// TestHostsPayForWhatTheyRecord: a phase of the host costs the same each, and only if phases
// are recorded; a submit and its arguments only if dep_gen is on.
func TestHostsPayForWhatTheyRecord(t *testing.T) {
	const submits, args = 3, 4
	b := newBench(t, abi.A2A3, 1, abi.Disabled)
	x := b.tensor(func(int) int32 { return 0 })
	build := func(record, depGen bool, slow ...sim.Cost) (sim.Time, *hbg.Built) {
		b.costs = sim.DefaultCosts(abi.A2A3)
		for _, k := range slow {
			b.costs[k].Ns *= 100
		}
		built, err := hbg.Build(hbg.BuildConfig{Chip: b.chip(), Heap: b.heap, HeapSize: heapSize, Record: record, DepGen: depGen}, func(h *hbg.Host) {
			h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{in(x), inOut(x)}})
			h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{inOut(x)}})
			h.Graph("g", []sim.Arg{inOut(x)}, func(p []abi.Tensor) { // its node is not in dep_gen
				h.Submit(&sim.Task{Kernels: aiv(1), Args: []sim.Arg{inOut(p[0])}})
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return built.End, built
	}
	costs := sim.DefaultCosts(abi.A2A3)
	plain, _ := build(false, false)
	for k := range costs {
		if k := sim.Cost(k); k.Observer() {
			if got, _ := build(false, false, k); got != plain {
				t.Errorf("%v takes %d ns of a host that records nothing", k, got-plain)
			}
		}
	}
	graph, _ := build(false, true)
	if want := submits*costs[sim.DepGenSubmit].Ns + args*costs[sim.DepGenArg].Ns; graph-plain != want {
		t.Errorf("dep_gen takes %d ns, want %d", graph-plain, want)
	}
	for k, n := range map[sim.Cost]sim.Time{sim.DepGenSubmit: submits, sim.DepGenArg: args} {
		if got, _ := build(false, true, k); got-graph != 99*n*costs[k].Ns {
			t.Errorf("%v takes %d ns more where it is 100 times as long, want %d", k, got-graph, 99*n*costs[k].Ns)
		}
	}
	phases, built := build(true, false)
	// Phases of the thread that records the graph lie beside those of the orchestration, which
	// goes on; it waits for them at its end.
	own, worker := sim.Time(0), sim.Time(0)
	for _, p := range built.Phases {
		if p.Worker == 0 {
			own++
		} else {
			worker++
		}
	}
	if own != 10+3 || worker != 2 {
		t.Fatalf("%d phases of the orchestration and %d of a recording, want ten segments and three submits, a node and a definition", own, worker)
	}
	if got, most := phases-plain, (own+worker)*costs[sim.HostRecord].Ns; got < own*costs[sim.HostRecord].Ns || got > most {
		t.Errorf("%d phases take %d ns, want %d to %d", own, got, own*costs[sim.HostRecord].Ns, most)
	}
}
