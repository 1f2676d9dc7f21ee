package scene

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"swimlane/internal/sim"
)

// maxCycles is how long a kernel may take: more than a second is a mistake.
const maxCycles = 1 << 31

// kernel is what a core runs of an incore.
func (r *runner) kernel(k *Incore) func(*sim.Call) uint64 {
	return func(c *sim.Call) (ticks uint64) {
		call := &Call{Case: r.Case, Scalars: c.Scalars, Block: c.Block, Blocks: c.Blocks, Lane: c.Lane, call: c}
		for i := range c.Args {
			call.Args = append(call.Args, Tensor{t: c.Args[i], space: c.Space})
		}
		defer func() {
			if p := recover(); p != nil {
				panic(sim.Failure(fmt.Sprintf("kernel %q (func_id %d), task %s, block %d of %d: %s", k.Name, k.FuncID, sim.TaskName(c.Task), c.Block, c.Blocks, panicked(p))))
			}
		}()
		cycles := k.Run(call)
		if cycles > maxCycles {
			panic(fmt.Sprintf("it takes %d cycles: expected at most %d", cycles, uint64(maxCycles)))
		}
		return r.chip.Cycles(sim.Time(cycles) * r.costs[sim.CoreKilocycle].Ns / 1000)
	}
}

// orchestrate runs the orchestration.
func (r *runner) orchestrate(o *Orchestrator) {
	c := &r.Scene.Callable.Orchestration
	defer func() {
		switch p := recover(); {
		case p == nil:
		case sim.Unwinding(p):
			panic(p)
		default:
			panic(sim.Failure(fmt.Sprintf("orchestration %q: %s", c.Name, panicked(p))))
		}
	}()
	c.Run(o, r.Case, r.args)
}

// guard turns a panic of a scene's function into an error.
func guard(name string, f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %s", name, panicked(p))
		}
	}()
	f()
	return nil
}

// own are the packages in which nobody looks for the mistakes of a scene.
var own = []string{"runtime.", "swimlane/scene.", "swimlane/internal/"}

// panicked says what a function of a scene has panicked with, and in which of its
// lines. It is called while that is recovered.
func panicked(p any) string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for inside := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			inside = true
		case inside && !isOwn(f.Function):
			return fmt.Sprintf("%v (%s:%d)", p, path.Join(path.Base(path.Dir(f.File)), path.Base(f.File)), f.Line)
		}
		if !more {
			return fmt.Sprint(p)
		}
	}
}

func isOwn(function string) bool {
	for _, prefix := range own {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
