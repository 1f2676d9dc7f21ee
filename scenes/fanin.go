package scenes

import "swimlane/scene"

// fanIn is how many tasks write a line, and how many of another tensor read them.
type fanIn struct{ producers, consumers int }

// FaninLookupPerf is 64 tasks that write a line each, and 64 that each come after all
// of them. SwimlaneProducers64Consumers64 has the graph of a real capture of that
// name: the 4096 edges are declared. In TensorMap64 consumers read the whole tensor
// instead, so that each of their lookups meets 64 entries of one buffer, and one more
// task reads what the consumers wrote. It exercises declared edges that fill several
// dep_gen records, long consumer lists, whose walk is a Resolve of its own, and many
// tasks that become ready at once.
func FaninLookupPerf() *scene.Scene {
	write := writeConst(0, "WRITE_CONST")
	sum := &scene.Incore{FuncID: 1, Name: "SUM_LINES", Core: scene.AIC, Run: runSumLines}
	all := fanIn{64, 64}
	return &scene.Scene{
		Class: "TestFaninLookupPerf", About: "64 × 64 dependencies, declared and found", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{write, sum},
			Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
				p := c.Params.(fanIn)
				var before []scene.ID
				for i := range p.producers {
					before = append(before, writeLine(o, write, args[0], i))
				}
				for i := range p.consumers {
					if c.Name != "TensorMap64" {
						o.Submit(scene.Task{AIC: write, Args: []scene.Arg{scene.InOut(lineOf(args[1], i))}, Scalars: []uint64{uint64(7 + i)}, After: before})
						continue
					}
					o.Submit(scene.Task{AIC: sum, Args: []scene.Arg{scene.In(args[0]), scene.InOut(lineOf(args[1], i))}, Scalars: []uint64{uint64(7 + i)}})
				}
				if c.Name == "TensorMap64" {
					o.Submit(scene.Task{AIC: sum, Args: []scene.Arg{scene.In(args[1]), scene.InOut(args[2])}, Scalars: []uint64{1}})
				}
			}},
		},
		Cases: []scene.Case{
			{Name: "SwimlaneProducers64Consumers64", Platforms: simulators, Config: eight, Params: all},
			{Name: "TensorMap64", Platforms: simulators, Config: eight, Params: all},
		},
		Inputs: func(c *scene.Case) []scene.Data {
			p := c.Params.(fanIn)
			return []scene.Data{result("produced", p.producers*line), result("consumed", p.consumers*line), result("last", line)}
		},
		Golden: func(c *scene.Case, in []scene.Data) []scene.Data {
			p := c.Params.(fanIn)
			of := func(i int) float64 { return float64(7 + i) }
			if c.Name == "TensorMap64" { // Σ (42 + i) over the producers, and then Σ (7 + i) times that
				n, m := float64(p.producers), float64(p.consumers)
				sum := 42*n + n*(n-1)/2
				of = func(i int) float64 { return float64(7+i) * sum }
				for i := range in[2].F32 {
					in[2].F32[i] = float32((7*m + m*(m-1)/2) * sum)
				}
			}
			for i := range in[0].F32 {
				in[0].F32[i] = float32(42 + i/line)
			}
			for i := range in[1].F32 {
				in[1].F32[i] = float32(of(i / line))
			}
			return in
		},
	}
}

// runSumLines is the sum of the lines of a tensor, times a scalar.
func runSumLines(c *scene.Call) uint64 {
	in, out := scene.Use[float32](c, 0).Row(0), scene.Use[float32](c, 1).Row(0)
	clear(out)
	for i, x := range in {
		out[i%line] += x * float32(c.Scalars[0])
	}
	return 1000 + vectorCycles(len(in))
}
