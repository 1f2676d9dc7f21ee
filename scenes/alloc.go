package scenes

import "swimlane/scene"

// moments is the size of a sum in parts: rows of values, each in some chunks.
type moments struct{ rows, chunks, width int }

// AllocAccumulate sums up rows of numbers and their squares: for each row a scope
// with two alloc'ed accumulators, to which one task a chunk adds as InOut, and one
// that puts the mean of the row and of its squares into the result. Nothing clears
// an alloc: the first task does. It exercises edges to a creator that is no task and
// complete at once, InOut chains over two tensors, scopes inside scopes (the ids are
// of ring 2), and storage that is free again when a scope has ended and its tasks
// have been consumed.
func AllocAccumulate() *scene.Scene {
	add := &scene.Incore{FuncID: 0, Name: "ACCUMULATE", Core: scene.AIV, Run: runAccumulate}
	mean := &scene.Incore{FuncID: 1, Name: "MEAN", Core: scene.AIV, Run: runMean}
	return &scene.Scene{
		Class: "TestAllocAccumulate", About: "accumulators that no task makes, in scopes of their own", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{add, mean},
			Orchestration: scene.Orchestration{Name: "AllocAccumulate", Run: func(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
				p := c.Params.(moments)
				o.Scope(func() {
					for row := range p.rows {
						o.Scope(func() {
							sum := scene.Shape(scene.Float32, p.width)
							_, sums := o.Alloc(sum, sum)
							for chunk := range p.chunks {
								values := args[0].Slice([]int{(row*p.chunks + chunk) * p.width}, []int{p.width})
								o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(values), scene.InOut(sums[0]), scene.InOut(sums[1])}, Scalars: []uint64{uint64(chunk)}})
							}
							result := args[1].Slice([]int{row * line}, []int{line})
							o.Submit(scene.Task{AIV0: mean, Args: []scene.Arg{scene.In(sums[0]), scene.In(sums[1]), scene.Into(result)}, Scalars: []uint64{uint64(p.chunks * p.width)}})
						})
					}
				})
			}},
		},
		Cases: []scene.Case{{Name: "Case1", Platforms: simulators, Config: eight, Params: moments{rows: 6, chunks: 5, width: 64}}},
		Inputs: func(c *scene.Case) []scene.Data {
			p := c.Params.(moments)
			return []scene.Data{
				floats("values", func(i int) float32 { return float32(i*29%127-40) / 16 }, p.rows*p.chunks*p.width),
				result("means", p.rows*line),
			}
		},
		Golden: func(c *scene.Case, in []scene.Data) []scene.Data {
			p := c.Params.(moments)
			n := p.chunks * p.width
			for row := range p.rows {
				sum, squares := 0.0, 0.0
				for _, x := range in[0].F32[row*n : (row+1)*n] {
					sum += float64(x)
					squares += float64(x) * float64(x)
				}
				in[1].F32[row*line], in[1].F32[row*line+1] = float32(sum/float64(n)), float32(squares/float64(n))
			}
			return in[1:]
		},
	}
}

// runAccumulate adds values and their squares to two sums, element by element.
func runAccumulate(c *scene.Call) uint64 {
	in, sum, squares := scene.Use[float32](c, 0).Row(0), scene.Use[float32](c, 1).Row(0), scene.Use[float32](c, 2).Row(0)
	if c.Scalars[0] == 0 {
		clear(sum)
		clear(squares)
	}
	for i, x := range in {
		sum[i] += x
		squares[i] += x * x
	}
	return 500 + vectorCycles(2*len(in))
}

// runMean divides the sums of the elements of two vectors by a number.
func runMean(c *scene.Call) uint64 {
	n, out := float32(c.Scalars[0]), scene.Use[float32](c, 2).Row(0)
	for k := range 2 {
		sum := float32(0)
		row := scene.Use[float32](c, k).Row(0)
		for _, x := range row {
			sum += x
		}
		out[k] = sum / n
	}
	return vectorCycles(2 * line)
}
