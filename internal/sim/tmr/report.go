package tmr

import "swimlane/internal/sim"

// Phase is a phase of a run, as the device stamps it for its host
// (spec/host-log.md §4.2).
type Phase int

// The phases. GraphBuild is all from the preamble to PostOrch.
const (
	Preamble Phase = iota
	GraphBuild
	ConfigValidate
	ArenaWire
	SmReset
	PostOrch
	Orch  // from the first submit to the end of the outermost scope
	Sched // from the first scheduler's begin to the last one's end
	phases
)

// preparations are what the orchestrator does before the schedulers begin.
var preparations = []struct {
	phase Phase
	cost  sim.Cost
}{{ConfigValidate, sim.ConfigValidate}, {ArenaWire, sim.ArenaWire}, {SmReset, sim.SmReset}}

func (o *Orchestrator) preparation() (d sim.Time) {
	for _, p := range preparations {
		d += o.r.Cost(p.cost)
	}
	return d
}

// Step is a part of what an orchestrator does.
type Step int

// The steps.
const (
	StepSubmit  Step = iota // a submit or an alloc, beside what follows
	StepAlloc               // storage of outputs
	StepArgs                // copies arguments
	StepLookup              // compares entries of the tensor map
	StepWire                // wires edges, and queues what is ready
	StepScope               // begins and ends scopes
	StepWait                // waits for room in a ring or in the tensor map
	StepProfile             // records of profiling
	steps
)

var stepNames = [steps]string{"submit", "alloc", "args", "lookup", "wire", "scope", "wait", "profile"}

func (s Step) String() string { return stepNames[s] }

// stepOf is the step that a cost of the orchestrator belongs to.
var stepOf = []Step{
	sim.OrchSubmit: StepSubmit, sim.OrchAlloc: StepAlloc, sim.OrchArg: StepArgs, sim.OrchEntry: StepLookup,
	sim.OrchEdge: StepWire, sim.SchedPush: StepWire, sim.OrchScope: StepScope, sim.OrchRecord: StepProfile,
}

// Total is how long a step took in all, and how often it took any time.
type Total struct {
	Time sim.Time
	N    int
}

func (t *Total) add(d sim.Time) {
	if d > 0 {
		t.Time += d
		t.N++
	}
}

// flush hands over what threads have recorded that did not come to their end.
func (r *runtime) flush() {
	r.Flush()
	if !r.orch.flushed {
		_ = r.orch.flush() // the run has failed already
	}
}
