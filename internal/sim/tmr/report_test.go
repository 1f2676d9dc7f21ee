package tmr_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// TestReport: the phases are as spec/host-log.md §4.4 has their structure, and the
// steps of the orchestrator are all that it did.
func TestReport(t *testing.T) {
	b := newBench(t, abi.A2A3, 1, abi.OrchPhases)
	r := b.mustRun(func(o *tmr.Orchestrator) {
		for range 4 { // of 8 MiB
			o.Scope(func() {
				made := o.Submit(&tmr.Task{Kernels: aiv(5000), Args: []tmr.Arg{out(megabytes(t, 4))}})
				o.Submit(&tmr.Task{Kernels: aiv(5000), Args: []tmr.Arg{{Type: abi.ArgInput, Tensor: made.Args[0]}}, Deps: after(made.ID)})
			})
		}
	})
	cost := func(k sim.Cost) sim.Time { return b.costs[k].Ns }
	length := func(p tmr.Phase) sim.Time { return r.Phases[p].End - r.Phases[p].Start }
	begin := sim.Boot + cost(sim.Preamble)
	if r.Wall.Start != sim.Boot || r.Phases[tmr.GraphBuild].Start != begin {
		t.Errorf("the wall begins at %d and the graph at %d, want %d and %d", r.Wall.Start, r.Phases[tmr.GraphBuild].Start, sim.Boot, begin)
	}
	for _, p := range []struct {
		phase tmr.Phase
		want  sim.Cost
	}{{tmr.Preamble, sim.Preamble}, {tmr.ConfigValidate, sim.ConfigValidate}, {tmr.ArenaWire, sim.ArenaWire}, {tmr.SmReset, sim.SmReset}, {tmr.PostOrch, sim.PostOrch}} {
		if length(p.phase) != cost(p.want) {
			t.Errorf("phase %d takes %d ns, want %d", p.phase, length(p.phase), cost(p.want))
		}
	}
	if got, want := r.Wall.End-r.Wall.Start, length(tmr.Preamble)+length(tmr.GraphBuild)+length(tmr.PostOrch); got != want {
		t.Errorf("the wall is %d ns, its parts %d", got, want)
	}
	effective := max(r.Phases[tmr.Orch].End, r.Phases[tmr.Sched].End) - min(r.Phases[tmr.Orch].Start, r.Phases[tmr.Sched].Start)
	before := length(tmr.ConfigValidate) + length(tmr.ArenaWire) + length(tmr.SmReset)
	if got := length(tmr.GraphBuild); got != before+effective {
		t.Errorf("the graph takes %d ns, its parts %d", got, before+effective)
	}
	if r.Phases[tmr.Sched].Start != r.Start || r.Phases[tmr.Sched].End != r.End {
		t.Errorf("schedulers ran in %+v, want %d to %d", r.Phases[tmr.Sched], r.Start, r.End)
	}
	all := sim.Time(0)
	for _, s := range r.Steps {
		all += s.Time
	}
	if all != length(tmr.Orch) {
		t.Errorf("the steps take %d ns, the orchestration %d", all, length(tmr.Orch))
	}
	if s := r.Steps[tmr.StepScope]; s.N != 10 || s.Time != 10*cost(sim.OrchScope) {
		t.Errorf("scopes: %+v, want 5 begun and 5 ended of %d ns", s, cost(sim.OrchScope))
	}
	if s := r.Steps[tmr.StepWait]; s.Time < 2*5000*20 { // the third and the fourth wait for the pair two before them, 200 µs
		t.Errorf("waits: %+v, want at least those for two kernels of 5000 cycles", s)
	}
}
