package scenes

import "swimlane/scene"

// PredicatedDispatch has a task that runs only if another one has opened a gate: the
// predicate is asked when the last dependency has finished. Graph, kernels, tensors
// and rows are those of real captures of these names: with the gate open CLOBBER
// overwrites what is copied then, and with the gate closed it is skipped without a
// core, and what depends on it goes on.
func PredicatedDispatch() *scene.Scene {
	write, copied, clobber := writeConst(0, "WRITE_CONST"), copyFirst(1, "COPY_FIRST"), writeConst(2, "CLOBBER")
	gate := &scene.Incore{FuncID: 3, Name: "WRITE_GATE", Core: scene.AIC, Run: func(c *scene.Call) uint64 {
		row := scene.Use[int32](c, 0).Row(0)
		for i := range row {
			row[i] = int32(c.Scalars[0])
		}
		return 3000
	}}
	config := scene.Config{Clusters: 8, AicpuThreads: 2}
	return &scene.Scene{
		Class: "TestPredicatedDispatch", About: "a task that runs, or is skipped", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{write, copied, clobber, gate},
			Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
				open, data, out := args[0], args[1], args[2]
				opened, _ := o.Submit(scene.Task{AIC: gate, Args: []scene.Arg{scene.InOut(open)}, Scalars: []uint64{c.Params.(uint64)}})
				o.Submit(scene.Task{AIC: write, Args: []scene.Arg{scene.InOut(data)}, Scalars: []uint64{42}})
				o.Submit(scene.Task{AIC: clobber, Args: []scene.Arg{scene.InOut(data)}, Scalars: []uint64{99}, After: []scene.ID{opened}, Predicate: func() bool {
					return scene.Now[int32](open).Row(0)[0] == 1
				}})
				o.Submit(scene.Task{AIC: copied, Args: []scene.Arg{scene.In(data), scene.InOut(out)}})
			}},
		},
		Cases: []scene.Case{
			{Name: "PredicateTrueDispatches", Platforms: simulators, Config: config, Params: uint64(1)},
			{Name: "PredicateFalseSkips", Platforms: simulators, Config: config, Params: uint64(0)},
		},
		Inputs: func(c *scene.Case) []scene.Data {
			// The gate stands the wrong way before the run.
			open := scene.Data{Name: "gate", Shape: []int{line}, I32: make([]int32, line)}
			open.I32[0] = 1 - int32(c.Params.(uint64))
			return []scene.Data{open, floats("data", func(int) float32 { return -1 }, line), result("out", line)}
		},
		Golden: func(c *scene.Case, in []scene.Data) []scene.Data {
			in[2].F32[0] = map[uint64]float32{1: 99, 0: 42}[c.Params.(uint64)]
			return in[2:]
		},
	}
}
