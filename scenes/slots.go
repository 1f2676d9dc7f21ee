package scenes

import "swimlane/scene"

// TaskTimingSlots has tasks that are measured under the first and the last of the 16
// task-timing slots, two of them under one slot, and tasks that are not measured. The
// runtime notes the first dispatch and the last finish of a slot at every level, also
// without a capture.
func TaskTimingSlots() *scene.Scene {
	const n = 1024
	add := elementwise(0, "ADD_SCALAR", func(in []float32, scalar uint64) float32 { return in[0] + float32(scalar) })
	first, last := scene.Slot(0), scene.Slot(15)
	return &scene.Scene{
		Class: "TestTaskTimingSlots", About: "the first and the last timing slot", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{add},
			Orchestration: scene.Orchestration{Name: "TimingSlots", Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				x := args[0]
				for i, slot := range []*scene.Slot{&first, nil, &first, nil, &last} {
					shape, use := scene.Shape(scene.Float32, n), scene.Out
					if slot == &last {
						shape, use = args[1], scene.Into
					}
					_, out := o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(x), use(shape)}, Scalars: []uint64{1 << i}, Slot: slot})
					x = out[1]
				}
			}},
		},
		Cases: []scene.Case{{Name: "FirstAndLast", Platforms: simulators, Config: eight}},
		Inputs: func(*scene.Case) []scene.Data {
			return []scene.Data{floats("x", func(i int) float32 { return float32(i % 100) }, n), result("out", n)}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			for i := range in[1].F32 {
				in[1].F32[i] = float32(i%100 + 31) // 1 + 2 + 4 + 8 + 16
			}
			return in[1:]
		},
	}
}
