package scenes

import "swimlane/scene"

// writeLines is a kernel whose block adds to its own line of a tensor, argument 0:
// the block's number, and a thousand for each block of the task. Scalars: the line
// of the first block; lanes and lane say which of the lines of a block is its own.
// What runs twice, or not at all, or as another block leaves another value.
func writeLines(id int32, name string, core scene.Core, lanes, lane int) *scene.Incore {
	return &scene.Incore{FuncID: id, Name: name, Core: core, Run: func(c *scene.Call) uint64 {
		all := scene.Use[float32](c, 0).Row(0)
		at := (int(c.Scalars[0]) + c.Block*lanes + lane) * line
		for i := range all[at : at+line] {
			all[at+i] += float32(c.Block + 1000*c.Blocks)
		}
		return 4000 + vectorCycles(line)
	}}
}

// spmd is a chain of tasks of so many blocks, each with lines of its own in one
// tensor. A task waits for the one before it, as all are InOut of the whole tensor.
type spmd struct {
	lines  int // of the tensor
	blocks []int
	sync   bool // the blocks of a task start together
}

// chain is the orchestration of an spmd. The task has the kernels; lanes is how many
// lines a block writes.
func chain(kernels scene.Task, lanes int) func(*scene.Orchestrator, *scene.Case, []scene.Tensor) {
	return func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
		p := c.Params.(spmd)
		first := 0
		for _, n := range p.blocks {
			t := kernels
			t.Args, t.Scalars = []scene.Arg{scene.InOut(args[0])}, []uint64{uint64(first)}
			t.Blocks, t.SyncStart = n, p.sync && n > 1
			o.Submit(t)
			first += n * lanes
		}
	}
}

func spmdInputs(c *scene.Case) []scene.Data {
	d := result("out", c.Params.(spmd).lines*line)
	for i := range d.F32 {
		d.F32[i] = float32(i % line)
	}
	return []scene.Data{d}
}

// spmdGolden goes through the lines in their order and counts.
func spmdGolden(lanes int) func(c *scene.Case, in []scene.Data) []scene.Data {
	return func(c *scene.Case, in []scene.Data) []scene.Data {
		at := 0
		for _, blocks := range c.Params.(spmd).blocks {
			for i := range blocks * lanes * line {
				in[0].F32[at] += float32(1000*blocks + i/(lanes*line))
				at++
			}
		}
		return in
	}
}

// SpmdMultiblockAiv has vector tasks of one block, of as many as the chip has AIVs,
// and of more: what does not fit goes back to the queue at once, for every thread,
// and into the pending slots of cores. Kernel and tensor are as in the real captures
// of SPMD_WRITE_AIV; block numbers are our own.
func SpmdMultiblockAiv() *scene.Scene {
	k := writeLines(0, "SPMD_WRITE_AIV", scene.AIV, 1, 0)
	return &scene.Scene{
		Class: "TestSpmdMultiblockAiv", About: "more blocks than there are vector cores", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{Incores: []*scene.Incore{k}, Orchestration: scene.Orchestration{Run: chain(scene.Task{AIV0: k}, 1)}},
		Cases: []scene.Case{
			{Name: "Case1", Platforms: simulators, Config: eight, Params: spmd{lines: 1 + 16 + 17 + 72, blocks: []int{1, 16, 17, 72}}},
		},
		Inputs: spmdInputs, Golden: spmdGolden(1),
	}
}
