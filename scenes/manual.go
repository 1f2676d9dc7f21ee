package scenes

import "swimlane/scene"

// ManualScope is x ← (x·2 + 1)·3 + (x·2 + 1)·5 in a manual scope: tasks that share
// tensors and depend on what they declare only. In each of three rounds one task
// prepares, two read what it made, and one joins them and writes over the input of
// the first, where no map would see that it must wait for the readers. Arguments
// make no edges there, not even those of outputs; all edges are explicit ones.
func ManualScope() *scene.Scene {
	prepare := elementwise(0, "PREPARE", func(in []float32, _ uint64) float32 { return in[0]*2 + 1 })
	times := elementwise(1, "TIMES", func(in []float32, scalar uint64) float32 { return in[0] * float32(scalar) })
	join := elementwise(2, "JOIN", func(in []float32, _ uint64) float32 { return in[0] + in[1] })
	const n, rounds = 256, 3
	return &scene.Scene{
		Class: "TestManualScope", About: "declared dependencies only", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{prepare, times, join},
			Orchestration: scene.Orchestration{Name: "ManualScope", Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				x, like := args[0], scene.Shape(scene.Float32, n)
				o.ManualScope(func() {
					var last []scene.ID
					for range rounds {
						first, p := o.Submit(scene.Task{AIV0: prepare, Args: []scene.Arg{scene.In(x), scene.Out(like)}, After: last})
						three, a := o.Submit(scene.Task{AIV0: times, Args: []scene.Arg{scene.In(p[1]), scene.Out(like)}, Scalars: []uint64{3}, After: []scene.ID{first}})
						five, b := o.Submit(scene.Task{AIV0: times, Args: []scene.Arg{scene.In(p[1]), scene.Out(like)}, Scalars: []uint64{5}, After: []scene.ID{first}})
						joined, _ := o.Submit(scene.Task{AIV0: join, Args: []scene.Arg{scene.In(a[1]), scene.In(b[1]), scene.Into(x)}, After: []scene.ID{three, five}})
						last = []scene.ID{joined}
					}
				})
			}},
		},
		Cases: []scene.Case{{Name: "Diamonds", Platforms: simulators, Config: eight}},
		Inputs: func(*scene.Case) []scene.Data {
			x := floats("x", func(i int) float32 { return float32(i%32) / 8 }, n)
			x.Check = true
			return []scene.Data{x}
		},
		// A round is 16·x + 8, and three of them 4096·x + 8·(1 + 16 + 256).
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			for i, x := range in[0].F32 {
				in[0].F32[i] = 4096*x + 2184
			}
			return in
		},
	}
}
