package tmr_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// TestSwitch: from the end of a kernel to the start of the next one that its core has
// already are 0.8 µs where cores record (spec/sched-overhead.md §1), at every level:
// a core does not know it (spec/collector.md §2.1).
func TestSwitch(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		for level := abi.TaskTiming; level <= abi.OrchPhases; level++ {
			b := newBench(t, arch, 1, level)
			b.mustRun(func(o *tmr.Orchestrator) {
				o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, arch.ClockHz/50_000)}, Blocks: 4}) // 20 µs each
			})
			n := 0
			var last uint64
			for batch := range b.capture.Capture.AicoreTasks(0) {
				for _, r := range batch {
					if want := arch.ClockHz * 8 / 10_000_000; n > 0 && r.StartTime-last != want {
						t.Errorf("%s level %d: block %d starts %d cycles after the last one, want %d", arch.Name, level, n, r.StartTime-last, want)
					}
					last = r.EndTime
					n++
				}
			}
			if n != 4 {
				t.Errorf("%s level %d: %d records, want 4", arch.Name, level, n)
			}
			b.memory.Close()
		}
	}
}

// paid are the costs of profiling that runs of this runtime pay, and the lowest level
// at which they do (spec/collector.md §2.1). The others are those of a host and of
// AICores that schedule.
var paid = map[sim.Cost]abi.Level{
	sim.CoreRecord: abi.TaskTiming, sim.SchedRotate: abi.TaskTiming,
	sim.SchedSample: abi.ScheduleTiming, sim.SchedTaskRecord: abi.ScheduleTiming,
	sim.SchedPhaseRecord: abi.SchedPhases, sim.SchedDepth: abi.SchedPhases,
	sim.OrchRecord: abi.OrchPhases,
}

// observed runs what every cost of profiling has a part in: more blocks than a buffer
// of a core holds, behind a submit of two arguments, and tasks behind them.
func observed(t *testing.T, level abi.Level, prepare func(*bench)) tmr.Report {
	t.Helper()
	b := newBench(t, abi.A2A3, 1, level)
	b.noDeps = true
	if prepare != nil {
		prepare(b)
	}
	x := b.floats(1, func(int) float32 { return 0 })
	report := b.mustRun(func(o *tmr.Orchestrator) {
		first := o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 1)}, Args: []tmr.Arg{in(x), into(x)}}).ID
		many := o.Submit(&tmr.Task{Kernels: [3]*sim.Kernel{busy(abi.AIC, 1)}, Blocks: abi.AicoreBufferSize, Deps: after(first)}).ID
		o.Submit(&tmr.Task{Kernels: aiv(1), Deps: after(many)})
	})
	b.memory.Close()
	return *report
}

// slow makes a cost a hundred times as large.
func slow(costs ...sim.Cost) func(*bench) {
	return func(b *bench) {
		for _, k := range costs {
			b.costs[k].Ns *= 100
		}
	}
}

// TestRunsPayForWhatTheyRecord: each cost of profiling makes runs longer from its
// level on, and changes nothing below it.
func TestRunsPayForWhatTheyRecord(t *testing.T) {
	var plain [abi.OrchPhases + 1]tmr.Report
	for level := range plain {
		plain[level] = observed(t, abi.Level(level), nil)
	}
	var others []sim.Cost
	for k := range sim.DefaultCosts(abi.A2A3) {
		k := sim.Cost(k)
		from, ours := paid[k]
		switch {
		case !k.Observer():
			continue
		case !ours:
			others = append(others, k)
			continue
		}
		for _, level := range []abi.Level{from, abi.OrchPhases} {
			if r := observed(t, level, slow(k)); r.Wall.End <= plain[level].Wall.End {
				t.Errorf("%v: a run at level %d ends at %d, want later than %d where it takes 100 times as long", k, level, r.Wall.End, plain[level].Wall.End)
			}
		}
		if below := from - 1; observed(t, below, slow(k)) != plain[below] {
			t.Errorf("%v: it changes a run at level %d, want from %d on", k, below, from)
		}
	}
	if observed(t, abi.OrchPhases, slow(others...)) != plain[abi.OrchPhases] {
		t.Errorf("some of %v change a run whose records are others", others)
	}
	every := append(others, sim.DepGenSubmit, sim.DepGenArg)
	for k := range paid {
		every = append(every, k)
	}
	if observed(t, abi.Disabled, slow(every...)) != plain[abi.Disabled] {
		t.Error("a run at level 0 pays for profiling")
	}
}

// TestRunsPayForTheirGraph: a submit pays for its dep_gen record and for each
// argument of it, where dep_gen is on, at any level.
func TestRunsPayForTheirGraph(t *testing.T) {
	const submits, args = 3, 2 // of observed
	for _, level := range []abi.Level{abi.Disabled, abi.OrchPhases} {
		profiled := func(on bool, prepare func(*bench)) sim.Time {
			r := observed(t, level, func(b *bench) {
				b.noDeps, b.onlyDeps = !on, on
				if prepare != nil {
					prepare(b)
				}
			})
			return r.Steps[tmr.StepProfile].Time
		}
		costs := sim.DefaultCosts(abi.A2A3)
		off, on := profiled(false, nil), profiled(true, nil)
		if want := submits*costs[sim.DepGenSubmit].Ns + args*costs[sim.DepGenArg].Ns; on-off != want {
			t.Errorf("level %d: dep_gen takes %d ns, want %d", level, on-off, want)
		}
		for k, n := range map[sim.Cost]sim.Time{sim.DepGenSubmit: submits, sim.DepGenArg: args} {
			if got, want := profiled(true, slow(k))-on, 99*n*costs[k].Ns; got != want {
				t.Errorf("level %d: %v takes %d ns more where it is 100 times as long, want %d", level, k, got, want)
			}
			if got := profiled(false, slow(k)); got != off {
				t.Errorf("level %d: %v takes %d ns in a run without dep_gen", level, k, got-off)
			}
		}
	}
}
