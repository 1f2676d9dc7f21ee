package scenes

import "swimlane/scene"

// mixed is how often the five shapes of a mixed example come, and the rows of its
// matrices, which are passed as vectors of rows · rows. Linked: they depend on each
// other.
type mixed struct {
	rounds, rows int
	linked       bool
}

// The kernels of the mixed example. Those of a task for several cores take their
// three arguments from an offset on.
var (
	mixMatmul        = &scene.Incore{FuncID: 0, Name: "MATMUL", Core: scene.AIC, Run: func(c *scene.Call) uint64 { return runSquare(c, 0) }}
	mixAdd           = &scene.Incore{FuncID: 1, Name: "ADD", Core: scene.AIV, Run: func(c *scene.Call) uint64 { return runAdd(c, 3) }}
	mixMul           = &scene.Incore{FuncID: 2, Name: "MUL", Core: scene.AIV, Run: func(c *scene.Call) uint64 { return runMul(c, 6) }}
	mixAddStandalone = &scene.Incore{FuncID: 3, Name: "ADD_STANDALONE", Core: scene.AIV, Run: func(c *scene.Call) uint64 { return runAdd(c, 0) }}
	mixMulStandalone = &scene.Incore{FuncID: 4, Name: "MUL_STANDALONE", Core: scene.AIV, Run: func(c *scene.Call) uint64 { return runMul(c, 3) }}
)

// MixedExample submits tasks of all shapes in turn: AIC+AIV0+AIV1, AIC, AIV0,
// AIV0+AIV1, AIC+AIV0. It exercises the choice between queues of different shapes:
// MIX first, and single cores only when none of it is left. In case1 and case2, which
// have shapes, kernels, ids and numbers of arguments and rows as real captures of
// these names (vectors are shorter), no task depends on another. In the case linked
// each reads what one before it made.
func MixedExample() *scene.Scene {
	return &scene.Scene{
		Class: "TestMixedExample", About: "tasks of all shapes in turn, alone and linked", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores:       []*scene.Incore{mixMatmul, mixAdd, mixMul, mixAddStandalone, mixMulStandalone},
			Orchestration: scene.Orchestration{Run: orchestrateMixed},
		},
		Cases: []scene.Case{
			{Name: "case1", Platforms: simulators, Config: eight, Params: mixed{rounds: 4, rows: 32}},
			{Name: "case2", Platforms: simulators, Config: eight, Params: mixed{rounds: 1, rows: 32}},
			{Name: "linked", Platforms: simulators, Config: eight, Params: mixed{rounds: 3, rows: 32, linked: true}},
		},
		Inputs: mixedInputs, Golden: mixedGolden, RTol: 1e-5, ATol: 1e-5,
	}
}

// mixedOutputs are the results of a round: of the MIX task three, of the AIC and the
// AIV task one each, and two of the tasks with a part of a cluster.
var mixedOutputs = []string{"mix_matmul", "mix_add", "mix_mul", "matmul", "add", "pair_add", "pair_mul", "part_matmul", "part_add"}

// mixedInputs are six vectors a…f and the outputs of all rounds.
func mixedInputs(c *scene.Case) []scene.Data {
	p := c.Params.(mixed)
	n := p.rows * p.rows
	var in []scene.Data
	for k, name := range []string{"a", "b", "c", "d", "e", "f"} {
		in = append(in, floats(name, func(i int) float32 { return float32((i*(2*k+3)+i/n)%17-8) / 64 }, n))
	}
	for _, name := range mixedOutputs {
		in = append(in, result(name, p.rounds*n))
	}
	return in
}

func orchestrateMixed(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
	p := c.Params.(mixed)
	n := p.rows * p.rows
	a, b, x, y, v, w := args[0], args[1], args[2], args[3], args[4], args[5]
	use := func(in ...scene.Tensor) (list []scene.Arg) { // two inputs and an output, several times
		for i, t := range in {
			if i%3 == 2 {
				list = append(list, scene.Into(t))
			} else {
				list = append(list, scene.In(t))
			}
		}
		return list
	}
	o.Scope(func() {
		for round := range p.rounds {
			var out []scene.Tensor
			for _, t := range args[6:] {
				out = append(out, t.Slice([]int{round * n}, []int{n}))
			}
			o.Submit(scene.Task{AIC: mixMatmul, AIV0: mixAdd, AIV1: mixMul, Args: use(a, b, out[0], x, y, out[1], v, w, out[2])})
			if !p.linked {
				o.Submit(scene.Task{AIC: mixMatmul, Args: use(a, b, out[3])})
				o.Submit(scene.Task{AIV0: mixAddStandalone, Args: use(x, y, out[4])})
				o.Submit(scene.Task{AIV0: mixAddStandalone, AIV1: mixMulStandalone, Args: use(x, y, out[5], v, w, out[6])})
				o.Submit(scene.Task{AIC: mixMatmul, AIV0: mixAdd, Args: use(a, b, out[7], x, y, out[8])})
				continue
			}
			o.Submit(scene.Task{AIC: mixMatmul, Args: use(out[0], b, out[3])})
			o.Submit(scene.Task{AIV0: mixAddStandalone, Args: use(out[1], out[2], out[4])})
			o.Submit(scene.Task{AIV0: mixAddStandalone, AIV1: mixMulStandalone, Args: use(out[4], y, out[5], out[1], out[2], out[6])})
			o.Submit(scene.Task{AIC: mixMatmul, AIV0: mixAdd, Args: use(out[3], b, out[7], out[5], out[6], out[8])})
			a, x = out[7], out[8]
		}
	})
}

// runSquare multiplies square matrices that lie in vectors.
func runSquare(c *scene.Call, at int) uint64 {
	a, b, out := scene.Use[float32](c, at).Row(0), scene.Use[float32](c, at+1).Row(0), scene.Use[float32](c, at+2).Row(0)
	rows := 1
	for rows*rows < len(out) {
		rows++
	}
	clear(out)
	for i := range rows {
		for k := range rows {
			for j := range rows {
				out[i*rows+j] += a[i*rows+k] * b[k*rows+j]
			}
		}
	}
	return 1000 + cubeCycles(rows*rows*rows)
}

func runAdd(c *scene.Call, at int) uint64 {
	a, b, out := scene.Use[float32](c, at).Row(0), scene.Use[float32](c, at+1).Row(0), scene.Use[float32](c, at+2).Row(0)
	for i := range out {
		out[i] = a[i] + b[i]
	}
	return 500 + vectorCycles(len(out))
}

func runMul(c *scene.Call, at int) uint64 {
	a, b, out := scene.Use[float32](c, at).Row(0), scene.Use[float32](c, at+1).Row(0), scene.Use[float32](c, at+2).Row(0)
	for i := range out {
		out[i] = a[i] * b[i]
	}
	return 500 + vectorCycles(len(out))
}

// mixedGolden is the same formulas round by round, in float64.
func mixedGolden(c *scene.Case, in []scene.Data) []scene.Data {
	p := c.Params.(mixed)
	n := p.rows * p.rows
	vector := func(d scene.Data) (v []float64) {
		for _, x := range d.F32 {
			v = append(v, float64(x))
		}
		return v
	}
	dot := func(a, b []float64, i int) (sum float64) {
		for k := range p.rows {
			sum += a[i/p.rows*p.rows+k] * b[k*p.rows+i%p.rows]
		}
		return sum
	}
	a, b, x, y, v, w := vector(in[0]), vector(in[1]), vector(in[2]), vector(in[3]), vector(in[4]), vector(in[5])
	for round := range p.rounds {
		var r [9][]float64
		each := func(k int, f func(i int) float64) {
			for i := range n {
				r[k] = append(r[k], f(i))
				in[6+k].F32[round*n+i] = float32(r[k][i])
			}
		}
		each(0, func(i int) float64 { return dot(a, b, i) })
		each(1, func(i int) float64 { return x[i] + y[i] })
		each(2, func(i int) float64 { return v[i] * w[i] })
		if !p.linked {
			for k, same := range []int{3: 0, 4: 1, 5: 1, 6: 2, 7: 0, 8: 1} {
				if k >= 3 {
					each(k, func(i int) float64 { return r[same][i] })
				}
			}
			continue
		}
		each(3, func(i int) float64 { return dot(r[0], b, i) })
		each(4, func(i int) float64 { return x[i] + y[i] + v[i]*w[i] })
		each(5, func(i int) float64 { return x[i] + 2*y[i] + v[i]*w[i] })
		each(6, func(i int) float64 { return (x[i] + y[i]) * v[i] * w[i] })
		each(7, func(i int) float64 { return dot(r[3], b, i) })
		each(8, func(i int) float64 { return r[5][i] + r[6][i] })
		a, x = r[7], r[8]
	}
	return in[6:]
}
