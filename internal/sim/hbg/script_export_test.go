package hbg

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
)

// ScriptStep is something that a scheduler does at a time: a task finishes, or begins
// to wait for so many cycles behind its kernels, or is ready and has no kernels.
type ScriptStep struct {
	At    sim.Time // since the threads began
	Kind  ScriptKind
	Wait  uint64
	Count int // of equal ones; 0 is 1
}

// ScriptKind is what happens.
type ScriptKind int

// The kinds.
const (
	Finishes ScriptKind = iota
	Waits
	DummyReady
)

// RunScript runs a resolver beside a scheduler that does nothing but what a script
// says, until so many tasks are resolved. For some length of time one more task becomes
// ready every tick, in the middle of it, and none is taken: so a sample of the queues'
// depths tells when it was taken.
func RunScript(c Config, script []ScriptStep, resolved int, tick, length sim.Time) error {
	r := newRuntime(c)
	r.total = resolved
	if err := r.addThreads(); err != nil {
		return err
	}
	var one sim.Task
	task := func(wait uint64) *aicpu.Task {
		t := &aicpu.Task{}
		t.Init(&sim.Task{Wait: wait}, sim.Form{Shape: sim.ShapeDummy, Blocks: 1})
		return t
	}
	r.Launch(sim.Boot, func(s *aicpu.Scheduler) {
		if s == r.resolver.Scheduler {
			r.resolver.run()
			return
		}
		until := func(at sim.Time) {
			for s.Now() < sim.Boot+at {
				s.Spend(sim.OrchScope) // a ns
			}
		}
		next := tick / 2
		for next < length {
			step := ScriptStep{At: sim.Never}
			if len(script) > 0 {
				step = script[0]
			}
			if next < step.At {
				until(next)
				t := &aicpu.Task{}
				t.Init(&one, sim.Form{Shape: abi.ShapeAIV, Blocks: 1})
				r.Route(t, s.Now())
				next += tick
				continue
			}
			until(step.At)
			script = script[1:]
			for range max(step.Count, 1) {
				switch t := task(step.Wait); step.Kind {
				case Finishes:
					r.finished[0].Push(t)
					r.Changed(s.Now())
				case Waits:
					r.Await(t, s.Now())
				case DummyReady:
					r.Route(t, s.Now())
				}
			}
		}
		s.Leave()
	})
	return r.Engine.Run()
}
