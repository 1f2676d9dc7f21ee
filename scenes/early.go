package scenes

import "swimlane/scene"

// EarlyDispatchChain is x ← 2·x + 1, eight times, by vector tasks in a row that let
// their consumers onto cores early: as soon as all of a task is on cores, and nothing
// else is ready, the next one is placed on an idle core behind a gate, and starts by
// a doorbell when its producer has finished. Of the case blocks each task has four
// blocks, so that a task may be placed only when the last block of the one before it
// has been; in the case plain no task is Early, for comparison.
func EarlyDispatchChain() *scene.Scene {
	const links, n = 8, 4 * line
	step := &scene.Incore{FuncID: 0, Name: "STEP", Core: scene.AIV, Run: func(c *scene.Call) uint64 {
		x := scene.Use[float32](c, 0).Row(0)
		part := len(x) / c.Blocks
		for i := range part {
			x[c.Block*part+i] = 2*x[c.Block*part+i] + 1
		}
		return 10_000
	}}
	return &scene.Scene{
		Class: "TestEarlyDispatchChain", About: "tasks that wait on their cores behind a gate", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{step},
			Orchestration: scene.Orchestration{Name: "EarlyChain", Run: func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
				for range links {
					o.Submit(scene.Task{AIV0: step, Args: []scene.Arg{scene.InOut(args[0])}, Blocks: c.Params.(int), Early: c.Name != "plain"})
				}
			}},
		},
		Cases: []scene.Case{
			{Name: "single", Platforms: simulators, Config: eight, Params: 1},
			{Name: "blocks", Platforms: simulators, Config: eight, Params: 4},
			{Name: "plain", Platforms: simulators, Config: eight, Params: 1},
		},
		Inputs: func(*scene.Case) []scene.Data {
			x := floats("x", func(i int) float32 { return float32(i) }, n)
			x.Check = true
			return []scene.Data{x}
		},
		// x + 1 doubles in each step.
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			for i := range in[0].F32 {
				in[0].F32[i] = float32((i+1)<<links - 1)
			}
			return in
		},
	}
}
