package scenes

import "swimlane/scene"

// onHost is a scene with the same orchestration on the host, which builds the whole
// graph before the chip begins.
func onHost(s *scene.Scene, class string) *scene.Scene {
	s.Class, s.Runtime = class, scene.HostBuildGraph
	return s
}

// HostVectorExample is [VectorExample] with its graph built on the host. The case
// four has the graph of real captures: out = (a+b+1)·(a+b+2).
func HostVectorExample() *scene.Scene {
	s := onHost(VectorExample(), "TestVectorExampleHostBuildGraph")
	five, golden := s.Callable.Orchestration.Run, s.Golden
	add, addScalar, mul := s.Callable.Incores[0], s.Callable.Incores[1], s.Callable.Incores[2]
	s.Callable.Orchestration.Run = func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
		if c.Params == nil {
			five(o, c, args)
			return
		}
		like := scene.Shape(scene.Float32, args[0].Shape()...)
		_, sum := o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(args[0]), scene.In(args[1]), scene.Out(like)}})
		_, one := o.Submit(scene.Task{AIV0: addScalar, Args: []scene.Arg{scene.In(sum[2]), scene.Out(like)}, Scalars: []uint64{1}})
		_, two := o.Submit(scene.Task{AIV0: addScalar, Args: []scene.Arg{scene.In(sum[2]), scene.Out(like)}, Scalars: []uint64{2}})
		o.Submit(scene.Task{AIV0: mul, Args: []scene.Arg{scene.In(one[1]), scene.In(two[1]), scene.Into(args[2])}})
	}
	s.Cases = append(s.Cases, scene.Case{Name: "four", Platforms: simulators, Config: eight, Params: 4})
	s.Golden = func(c *scene.Case, in []scene.Data) []scene.Data {
		want := golden(c, in)
		for i := range want[0].F32 {
			if sum := in[0].F32[i] + in[1].F32[i]; c.Params != nil {
				want[0].F32[i] -= sum
			}
		}
		return want
	}
	return s
}

// HostPagedAttention is [PagedAttention] with its graph built on the host. The cases
// small1 and SimMedium have the graphs of real captures of those names.
func HostPagedAttention() *scene.Scene {
	s := onHost(PagedAttention(), "TestPagedAttentionHostBuildGraph")
	s.Cases = []scene.Case{
		{Name: "small1", Platforms: simulators, Config: eight, Params: paged{requests: 1, blocks: 1, rows: 16, block: 16, dim: 16, update: true}},
		{Name: "SimMedium", Platforms: simulators, Config: eight, Params: paged{requests: 8, blocks: 64, rows: 16, block: 16, dim: 16, update: true}},
		{Name: "basic", Platforms: simulators, Params: paged{requests: 1, blocks: 3, rows: 16, block: 16, dim: 16}},
		{Name: "medium", Platforms: simulators, Params: paged{requests: 16, blocks: 128, rows: 8, block: 8, dim: 8}},
	}
	return s
}

// HostPagedAttentionUnroll is [PagedAttentionUnroll] with its graph built on the host.
func HostPagedAttentionUnroll() *scene.Scene {
	return onHost(PagedAttentionUnroll(), "TestPagedAttentionUnrollHostBuildGraph")
}

// HostPredicatedDispatch is [PredicatedDispatch] with its graph built on the host.
func HostPredicatedDispatch() *scene.Scene {
	return onHost(PredicatedDispatch(), "TestPredicatedDispatchHostBuildGraph")
}

// HostDummyTask is [DummyTask] with its graph built on the host.
func HostDummyTask() *scene.Scene { return onHost(DummyTask(), "TestDummyTaskHostBuildGraph") }

// HostAsyncWait has tasks that go on when their kernels have finished, as one does
// that starts a copy: of eight chains each task waits for longer than its kernel
// takes, and the next one adds to what it wrote.
func HostAsyncWait() *scene.Scene {
	const chains, length = 8, 3
	add := elementwise(0, "ADD_ONE", func(in []float32, _ uint64) float32 { return in[0] + 1 })
	return &scene.Scene{
		Class: "TestAsyncWaitHostBuildGraph", Runtime: scene.HostBuildGraph,
		Callable: scene.Callable{
			Incores: []*scene.Incore{add},
			Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				like := scene.Shape(scene.Float32, line)
				for i := range chains {
					at := lineOf(args[0], i)
					for k := range length {
						out := scene.Out(like)
						if k == length-1 {
							out = scene.Into(lineOf(args[1], i))
						}
						_, made := o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(at), out}, Wait: uint64(200 + 50*i)})
						at = made[1]
					}
				}
			}},
		},
		Cases: []scene.Case{{Name: "Chains", Platforms: simulators, Config: scene.Config{Clusters: 8, AicpuSchedulers: true}}},
		Inputs: func(*scene.Case) []scene.Data {
			return []scene.Data{floats("in", func(i int) float32 { return float32(i) }, chains*line), result("out", chains*line)}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			for i, x := range in[0].F32 {
				in[1].F32[i] = x + length
			}
			return in[1:]
		},
	}
}
