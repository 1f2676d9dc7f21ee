package scenes

import "swimlane/scene"

// HostGraphExecution submits graphs: parts of an orchestration that the host records
// once, and that are a task to all others. Two are recorded, and then the first one
// is submitted again with another result, in which nothing is recorded any more.
// Graph, kernels and nodes are those of real captures of these names, in one
// dimension and in two.
//
// A graph makes s = x+y, u = s+k, v = u·s in a tensor that it allocates, and v+s.
func HostGraphExecution() *scene.Scene {
	const n = 16384
	double := flat(1, "init", func(in []float32, _ uint64) float32 { return 2 * in[0] })
	sum := flat(2, "node_a", func(in []float32, _ uint64) float32 { return in[0] + in[1] })
	add := flat(4, "node_c", func(in []float32, k uint64) float32 { return in[0] + float32(k) })
	mul := flat(5, "node_d", func(in []float32, _ uint64) float32 { return in[0] * in[1] })
	graph := func(k uint64) *scene.Graph {
		return &scene.Graph{Run: func(o *scene.Orchestrator, args []scene.Tensor) {
			x, y, out := args[0], args[1], args[2]
			like := scene.Shape(scene.Float32, n)
			_, s := o.Submit(scene.Task{AIV0: sum, Args: []scene.Arg{scene.In(x), scene.In(y), scene.Out(like)}})
			_, room := o.Alloc(like)
			_, u := o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(s[2]), scene.Out(like)}, Scalars: []uint64{k}})
			o.Submit(scene.Task{AIV0: mul, Args: []scene.Arg{scene.In(u[1]), scene.In(s[2]), scene.Into(room[0])}})
			o.Submit(scene.Task{AIV0: sum, Args: []scene.Arg{scene.In(room[0]), scene.In(s[2]), scene.Into(out)}})
		}}
	}
	one, three := graph(1), graph(3)
	return &scene.Scene{
		Class: "TestGraphExecutionHostBuildGraph", Runtime: scene.HostBuildGraph,
		Callable: scene.Callable{
			Incores: []*scene.Incore{double, sum, add, mul},
			Orchestration: scene.Orchestration{Name: "replayed_graph", Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				_, x := o.Submit(scene.Task{AIV0: double, Args: []scene.Arg{scene.In(args[0]), scene.Out(scene.Shape(scene.Float32, n))}})
				for i, g := range []*scene.Graph{one, three, one} {
					o.Graph(g, scene.In(x[1]), scene.In(args[1]), scene.Into(args[2+i]))
				}
			}},
		},
		Cases: []scene.Case{
			{Name: "record_then_replay_1d", Platforms: simulators, Config: eight, Params: []int{n}},
			{Name: "record_then_replay_2d", Platforms: simulators, Config: eight, Params: []int{n, 1}},
		},
		Inputs: func(c *scene.Case) []scene.Data {
			shape := c.Params.([]int)
			return []scene.Data{
				floats("x", func(i int) float32 { return float32(i%61) / 4 }, shape...), floats("y", func(i int) float32 { return float32(i % 17) }, shape...),
				result("first", shape...), result("other", shape...), result("again", shape...),
			}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			for i := range in[0].F32 {
				s := 2*float64(in[0].F32[i]) + float64(in[1].F32[i])
				for g, k := range []float64{1, 3, 1} {
					in[2+g].F32[i] = float32(s * (s + k + 1))
				}
			}
			return in[2:]
		},
	}
}

// flat is a vector kernel that computes each element of its last argument from those
// at the same place of the ones before it and a scalar, whatever their shapes.
func flat(id int32, name string, f func(in []float32, scalar uint64) float32) *scene.Incore {
	return &scene.Incore{FuncID: id, Name: name, Core: scene.AIV, Run: func(c *scene.Call) uint64 {
		last := len(c.Args) - 1
		var scalar uint64
		if len(c.Scalars) > 0 {
			scalar = c.Scalars[0]
		}
		args, in := make([][]float32, last), make([]float32, last)
		for a := range args {
			for _, row := range scene.Use[float32](c, a).Rows() {
				args[a] = append(args[a], row...)
			}
		}
		n := 0
		for _, row := range scene.Use[float32](c, last).Rows() {
			for k := range row {
				for a := range args {
					in[a] = args[a][n]
				}
				row[k] = f(in, scalar)
				n++
			}
		}
		return vectorCycles(n)
	}}
}
