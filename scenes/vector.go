package scenes

import "swimlane/scene"

// VectorExample is out = (a+b+1)·(a+b+2) + (a+b) in five tasks on vector cores: one
// in the outer scope, four inside.
func VectorExample() *scene.Scene {
	const n = 16384
	return &scene.Scene{
		Class: "TestVectorExample", About: "(a+b+1)·(a+b+2) + (a+b): scopes, and dependencies on what makes a tensor", Runtime: scene.TensormapAndRingbuffer,
		Callable: vectorCallable("VectorExample", n, [3]string{"ADD", "ADD_SCALAR", "MUL"}),
		Cases:    []scene.Case{{Name: "basic", Platforms: simulators}},
		Inputs: func(*scene.Case) []scene.Data {
			a, b := make([]float32, n), make([]float32, n)
			for i := range a {
				a[i], b[i] = float32(i%251)/8, float32(i%13)
			}
			shape := []int{n}
			return []scene.Data{{Name: "a", Shape: shape, F32: a}, {Name: "b", Shape: shape, F32: b}, {Name: "out", Shape: shape, F32: make([]float32, n), Check: true}}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			want := in[2]
			for i := range want.F32 {
				s := float64(in[0].F32[i]) + float64(in[1].F32[i])
				want.F32[i] = float32(s*s + 4*s + 2)
			}
			return []scene.Data{want}
		},
	}
}

// vectorCallable is that program for vectors of n elements: it reads a and b, and
// writes out.
func vectorCallable(name string, n int, kernels [3]string) scene.Callable {
	add := elementwise(0, kernels[0], func(in []float32, _ uint64) float32 { return in[0] + in[1] })
	addScalar := elementwise(1, kernels[1], func(in []float32, scalar uint64) float32 { return in[0] + float32(scalar) })
	mul := elementwise(2, kernels[2], func(in []float32, _ uint64) float32 { return in[0] * in[1] })
	return scene.Callable{
		Incores: []*scene.Incore{add, addScalar, mul},
		Orchestration: scene.Orchestration{Name: name, Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
			a, b, result := args[0], args[1], args[2]
			like := scene.Shape(scene.Float32, n)
			_, c := o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(a), scene.In(b), scene.Out(like)}})
			sum := c[2]
			o.Scope(func() {
				_, d := o.Submit(scene.Task{AIV0: addScalar, Args: []scene.Arg{scene.In(sum), scene.Out(like)}, Scalars: []uint64{1}})
				_, e := o.Submit(scene.Task{AIV0: addScalar, Args: []scene.Arg{scene.In(sum), scene.Out(like)}, Scalars: []uint64{2}})
				_, f := o.Submit(scene.Task{AIV0: mul, Args: []scene.Arg{scene.In(d[1]), scene.In(e[1]), scene.Out(like)}})
				o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(f[2]), scene.In(sum), scene.Into(result)}})
			})
		}},
	}
}

// elementwise is a vector kernel that computes its last argument from the ones
// before it and a scalar.
func elementwise(id int32, name string, f func(in []float32, scalar uint64) float32) *scene.Incore {
	return &scene.Incore{FuncID: id, Name: name, Core: scene.AIV, Run: func(c *scene.Call) uint64 {
		last := len(c.Args) - 1
		var scalar uint64
		if len(c.Scalars) > 0 {
			scalar = c.Scalars[0]
		}
		out := scene.Use[float32](c, last)
		in, rows := make([]float32, last), make([][]float32, last)
		n := 0
		for i, row := range out.Rows() {
			for a := range rows {
				rows[a] = scene.Use[float32](c, a).Row(i)
			}
			for k := range row {
				for a := range in {
					in[a] = rows[a][k]
				}
				row[k] = f(in, scalar)
			}
			n += len(row)
		}
		return vectorCycles(n)
	}}
}

// vectorCycles is how long an AIV takes for so many elements, in cycles of its clock:
// some for the start, and two elements in each, which is what memory gives one core.
func vectorCycles(elements int) uint64 { return 700 + uint64(elements)/2 }

// cubeCycles is how long an AIC takes for so many multiplications: 128 in each cycle.
func cubeCycles(products int) uint64 { return 1000 + uint64(products)/128 }
