package scenes

import "swimlane/scene"

// writeConst is an AIC kernel that fills its first argument with a scalar.
func writeConst(id int32, name string) *scene.Incore {
	return &scene.Incore{FuncID: id, Name: name, Core: scene.AIC, Run: func(c *scene.Call) uint64 {
		row := scene.Use[float32](c, 0).Row(0)
		for i := range row {
			row[i] = float32(c.Scalars[0])
		}
		return 1000 + 500*(c.Scalars[0]%4) + vectorCycles(len(row))
	}}
}

// copyFirst is an AIC kernel that adds the first element of each line of its first
// argument to the elements of the second, one after the other.
func copyFirst(id int32, name string) *scene.Incore {
	return &scene.Incore{FuncID: id, Name: name, Core: scene.AIC, Run: func(c *scene.Call) uint64 {
		in, out := scene.Use[float32](c, 0).Row(0), scene.Use[float32](c, 1).Row(0)
		for i := 0; i*line < len(in); i++ {
			out[i] += in[i*line]
		}
		return 1000 + vectorCycles(len(in))
	}}
}

// dummies is a case of dummy tasks: lines of the tensors that are written and
// copied, and the orchestration.
type dummies struct {
	lines, copies int
	run           func(o *scene.Orchestrator, write, copied *scene.Incore, data, out scene.Tensor)
}

// DummyTask has tasks without kernels, which only order others; schedulers complete
// them without a core. The first four cases have the graphs of real captures of
// these names: a dummy that its argument orders, a barrier of declared dependencies,
// a chain of dummies that is longer than the queues' batches are deep in a step, and
// one that fans out to 18 dummies and in again, more than a batch of eight.
//
// In GroupBarrier eight tasks read what eight others wrote through views that make
// no dependencies: nothing but the dummy between them orders the two groups.
func DummyTask() *scene.Scene {
	write, copied := writeConst(0, "WRITE_CONST"), copyFirst(1, "COPY_FIRST")
	config := scene.Config{Clusters: 8, AicpuThreads: 2}
	return &scene.Scene{
		Class: "TestDummyTask", About: "tasks that only order others: in a chain, as a barrier, in batches", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{write, copied},
			Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
				c.Params.(dummies).run(o, write, copied, args[0], args[1])
			}},
		},
		Cases: []scene.Case{
			{Name: "SingleDummyAutoDep", Platforms: simulators, Config: config, Params: dummies{1, 1, dummyChain(1)}},
			{Name: "DummyExplicitDepBarrier", Platforms: simulators, Config: config, Params: dummies{2, 1, explicitBarrier}},
			{Name: "LongDummyChain", Platforms: simulators, Config: config, Params: dummies{1, 1, dummyChain(4)}},
			{Name: "DenseFanoutFanin", Platforms: simulators, Config: config, Params: dummies{1, 1, fanOutFanIn}},
			{Name: "GroupBarrier", Platforms: simulators, Config: eight, Params: dummies{8, 8, groupBarrier}},
		},
		Inputs: func(c *scene.Case) []scene.Data {
			p := c.Params.(dummies)
			data := floats("data", func(int) float32 { return -1 }, p.lines*line)
			return []scene.Data{data, result("out", p.copies*line)}
		},
		// Line i of the data is written with 42 + i. A copy adds up lines 0, 1, …
		// only where it reads several, and the first of its own lines else.
		Golden: func(c *scene.Case, in []scene.Data) []scene.Data {
			p := c.Params.(dummies)
			for copied := range p.copies {
				in[1].F32[copied*line] = 42
				for i := 1; p.copies > 1 && i < p.lines; i++ {
					in[1].F32[copied*line+i] = float32(42 + i)
				}
			}
			return in[1:]
		},
	}
}

func writeLine(o *scene.Orchestrator, write *scene.Incore, data scene.Tensor, i int) scene.ID {
	id, _ := o.Submit(scene.Task{AIC: write, Args: []scene.Arg{scene.InOut(lineOf(data, i))}, Scalars: []uint64{uint64(42 + i)}})
	return id
}

// dummyChain is a task, n dummies that have its tensor as an argument, and a reader.
func dummyChain(n int) func(o *scene.Orchestrator, write, copied *scene.Incore, data, out scene.Tensor) {
	return func(o *scene.Orchestrator, write, copied *scene.Incore, data, out scene.Tensor) {
		writeLine(o, write, data, 0)
		for range n {
			o.Submit(scene.Task{Args: []scene.Arg{scene.InOut(data)}})
		}
		o.Submit(scene.Task{AIC: copied, Args: []scene.Arg{scene.In(data), scene.InOut(out)}})
	}
}

// explicitBarrier is two writers, a dummy that declares both, and a reader of one
// that declares the dummy.
func explicitBarrier(o *scene.Orchestrator, write, copied *scene.Incore, data, out scene.Tensor) {
	before := []scene.ID{writeLine(o, write, data, 0), writeLine(o, write, data, 1)}
	barrier, _ := o.Submit(scene.Task{After: before})
	o.Submit(scene.Task{AIC: copied, Args: []scene.Arg{scene.In(lineOf(data, 0)), scene.InOut(out)}, After: []scene.ID{barrier}})
}

// fanOutFanIn is a writer, 18 dummies behind it, and a reader behind all of them.
func fanOutFanIn(o *scene.Orchestrator, write, copied *scene.Incore, data, out scene.Tensor) {
	first := writeLine(o, write, data, 0)
	var all []scene.ID
	for range 18 {
		d, _ := o.Submit(scene.Task{After: []scene.ID{first}})
		all = append(all, d)
	}
	o.Submit(scene.Task{AIC: copied, Args: []scene.Arg{scene.In(data), scene.InOut(out)}, After: all})
}

// groupBarrier is eight writers, a dummy that declares them, and eight readers of
// all lines that declare the dummy.
func groupBarrier(o *scene.Orchestrator, write, copied *scene.Incore, data, out scene.Tensor) {
	var before []scene.ID
	for i := range 8 {
		before = append(before, writeLine(o, write, data, i))
	}
	barrier, _ := o.Submit(scene.Task{After: before})
	for i := range 8 {
		o.Submit(scene.Task{AIC: copied, Args: []scene.Arg{scene.In(data.Manual()), scene.InOut(lineOf(out, i))}, After: []scene.ID{barrier}})
	}
}
