package scenes

import "swimlane/scene"

// SpmdMultiblockMix has tasks of AIC, AIV0 and AIV1 together, of 2, 8, 12, 24 and 48
// blocks on eight clusters: graph, kernels, tensor and number of rows (282) are those
// of a real capture of that name. A block takes the three cores of one cluster at
// once. It exercises whole clusters as places, idle and behind running tasks, and
// tasks that go back to the queue because there are more blocks than clusters.
func SpmdMultiblockMix() *scene.Scene {
	aic := writeLines(0, "SPMD_MIX_AIC", scene.AIC, 3, 0)
	aiv0 := writeLines(1, "SPMD_MIX_AIV0", scene.AIV, 3, 1)
	aiv1 := writeLines(2, "SPMD_MIX_AIV1", scene.AIV, 3, 2)
	return &scene.Scene{
		Class: "TestSpmdMultiblockMix", About: "more blocks than there are clusters", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores:       []*scene.Incore{aic, aiv0, aiv1},
			Orchestration: scene.Orchestration{Run: chain(scene.Task{AIC: aic, AIV0: aiv0, AIV1: aiv1}, 3)},
		},
		Cases: []scene.Case{
			{Name: "Case1", Platforms: simulators, Config: eight, Params: spmd{lines: 282, blocks: []int{2, 8, 12, 24, 48}}},
		},
		Inputs: spmdInputs, Golden: spmdGolden(3),
	}
}

// SpmdBasic is one such task of one block: what a kernel sees of its place. Kernels,
// tensor and rows are those of a real capture of that name.
func SpmdBasic() *scene.Scene {
	aic := writeLines(0, "SPMD_READ_AIC", scene.AIC, 3, 0)
	aiv0 := writeLines(1, "SPMD_READ_AIV0", scene.AIV, 3, 1)
	aiv1 := writeLines(2, "SPMD_READ_AIV1", scene.AIV, 3, 2)
	return &scene.Scene{
		Class: "TestSpmdBasic", About: "one task on a whole cluster", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores:       []*scene.Incore{aic, aiv0, aiv1},
			Orchestration: scene.Orchestration{Run: chain(scene.Task{AIC: aic, AIV0: aiv0, AIV1: aiv1}, 3)},
		},
		Cases:  []scene.Case{{Name: "Case1", Platforms: simulators, Config: eight, Params: spmd{lines: 3, blocks: []int{1}}}},
		Inputs: spmdInputs, Golden: spmdGolden(3),
	}
}
