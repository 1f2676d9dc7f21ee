package scenes

import "swimlane/scene"

// SyncStartDrainPhases has vector tasks whose blocks start together. On eight
// clusters and three schedulers a thread owns six AIVs at most: five blocks fit one
// thread's cores, and eight need a drain, in which all threads place their share at
// the same time. Kernel, graph and tensor of the case global_aiv, and its 15 rows,
// are those of a real capture of that name.
//
// The case whole_chip needs every AIV while a task of one block still holds one: the
// drain finds too little room, everyone goes on, and the task is tried again.
func SyncStartDrainPhases() *scene.Scene {
	k := writeLines(0, "SPMD_WRITE_AIV", scene.AIV, 1, 0)
	config := scene.Config{Clusters: 8, AicpuThreads: 4}
	return &scene.Scene{
		Class: "TestSyncStartDrainPhases", About: "blocks that start together, and drains to make room for them", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{Incores: []*scene.Incore{k}, Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
			if c.Name == "global_aiv" {
				chain(scene.Task{AIV0: k}, 1)(o, c, args)
				return
			}
			for i, n := range c.Params.(spmd).blocks { // independent: each has a part of the tensor
				part := args[0].Slice([]int{i * 16 * line}, []int{n * line})
				o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.InOut(part)}, Scalars: []uint64{0}, Blocks: n, SyncStart: n > 1})
			}
		}}},
		Cases: []scene.Case{
			{Name: "global_aiv", Platforms: simulators, Config: config, Params: spmd{lines: 48, blocks: []int{1, 5, 1, 8}, sync: true}},
			{Name: "whole_chip", Platforms: simulators, Config: config, Params: spmd{lines: 48, blocks: []int{1, 16, 2}, sync: true}},
		},
		Inputs: spmdInputs,
		Golden: func(c *scene.Case, in []scene.Data) []scene.Data {
			if c.Name == "global_aiv" {
				return spmdGolden(1)(c, in)
			}
			for i, blocks := range c.Params.(spmd).blocks {
				for n := range blocks * line {
					in[0].F32[i*16*line+n] += float32(1000*blocks + n/line)
				}
			}
			return in
		},
	}
}

// SpmdSyncStartEarlyDispatch is a manual scope with an AIC task of 50 blocks, more
// than there are AICs, that lets its consumers onto cores early, and behind it a task
// of whole clusters whose blocks start together on all eight of them: it starts in a
// drain, when the last AIC is idle. Graph, kernels, tensor and rows are those of a
// real capture of that name.
func SpmdSyncStartEarlyDispatch() *scene.Scene {
	const blocks, mixed = 50, 8
	write := writeLines(0, "SPMD_WRITE_AIC", scene.AIC, 1, 0)
	aic := writeLines(1, "SPMD_MIX_AIC", scene.AIC, 3, 0)
	aiv0 := writeLines(2, "SPMD_MIX_AIV0", scene.AIV, 3, 1)
	aiv1 := writeLines(3, "SPMD_MIX_AIV1", scene.AIV, 3, 2)
	return &scene.Scene{
		Class: "TestSpmdSyncStartEarlyDispatch", About: "whole clusters that start together behind a task of many blocks", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{write, aic, aiv0, aiv1},
			Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				use := []scene.Arg{scene.InOut(args[0])}
				o.ManualScope(func() {
					first, _ := o.Submit(scene.Task{AIC: write, Args: use, Scalars: []uint64{0}, Blocks: blocks, Early: true})
					o.Submit(scene.Task{AIC: aic, AIV0: aiv0, AIV1: aiv1, Args: use, Scalars: []uint64{blocks}, Blocks: mixed, SyncStart: true, After: []scene.ID{first}})
				})
			}},
		},
		Cases:  []scene.Case{{Name: "Case1", Platforms: simulators, Config: eight, Params: spmd{lines: 122}}},
		Inputs: spmdInputs,
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			for i := range blocks * line {
				in[0].F32[i] += float32(1000*blocks + i/line)
			}
			for i := range mixed * 3 * line {
				in[0].F32[blocks*line+i] += float32(1000*mixed + i/(3*line))
			}
			return in
		},
	}
}
