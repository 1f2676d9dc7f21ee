package scenes

import (
	"math"
	"math/rand/v2"

	"swimlane/scene"
)

// paged is the size of a paged attention: for each of some requests a query of rows
// × dim, and keys and values in blocks of block × dim that lie anywhere in a pool.
type paged struct {
	requests, blocks int
	rows, block, dim int
	update           bool // what is written in the end is an argument that is read too, as in some real captures
}

// The kernels of paged attention. What it sums up over the blocks of a request are
// the maximum, the sum and the output of an online softmax.
var (
	qk = &scene.Incore{FuncID: 0, Name: "QK", Core: scene.AIC, Run: runQK}
	sf = &scene.Incore{FuncID: 1, Name: "SF", Core: scene.AIV, Run: runSF}
	pv = &scene.Incore{FuncID: 2, Name: "PV", Core: scene.AIC, Run: runPV}
	up = &scene.Incore{FuncID: 3, Name: "UP", Core: scene.AIV, Run: runUP}
)

// PagedAttention is attention over keys and values in blocks, four tasks a block:
// scores, softmax, weighted values, and the update of what a request has so far.
func PagedAttention() *scene.Scene {
	small := paged{requests: 1, blocks: 3, rows: 16, block: 16, dim: 16}
	medium := paged{requests: 16, blocks: 128, rows: 8, block: 8, dim: 8}
	half := paged{requests: 50, blocks: 256, rows: 4, block: 4, dim: 4}
	large := paged{requests: 100, blocks: 256, rows: 4, block: 4, dim: 4}
	return &scene.Scene{
		Class: "TestPagedAttention", About: "four tasks a block of keys: long chains, as large as real ones", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores:       []*scene.Incore{qk, sf, pv, up},
			Orchestration: scene.Orchestration{Name: "PagedAttn", Run: orchestratePaged},
		},
		Cases: []scene.Case{
			{Name: "basic", Platforms: simulators, Params: small},
			{Name: "medium", Platforms: simulators, Params: medium},
			{Name: "half", Platforms: simulators, Params: half, Manual: scene.Manual{Everywhere: true}},
			{Name: "large", Platforms: simulators, Params: large, Manual: scene.Manual{Everywhere: true}},
		},
		Inputs: pagedInputs, Golden: pagedGolden, RTol: 1e-4, ATol: 1e-4,
	}
}

// table is which block of the pool a request's block is: scattered, each once.
func (p *paged) table() []int { return rand.New(rand.NewPCG(11, 7)).Perm(p.requests * p.blocks) }

func pagedInputs(c *scene.Case) []scene.Data {
	p := c.Params.(paged)
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(name string, shape ...int) scene.Data {
		n := 1
		for _, s := range shape {
			n *= s
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = rng.Float32()*2 - 1
		}
		return scene.Data{Name: name, Shape: shape, F32: values}
	}
	pool := p.requests * p.blocks * p.block
	out := scene.Data{Name: "out", Shape: []int{p.requests * p.rows, p.dim}, F32: make([]float32, p.requests*p.rows*p.dim), Check: true}
	return []scene.Data{random("query", p.requests*p.rows, p.dim), random("keys", pool, p.dim), random("values", pool, p.dim), out}
}

func orchestratePaged(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
	p := c.Params.(paged)
	query, keys, values, out := args[0], args[1], args[2], args[3]
	table := p.table()
	perRow := scene.Shape(scene.Float32, p.rows, 1)
	into := scene.Into
	if p.update {
		into = scene.InOut
	}
	for r := range p.requests {
		o.Scope(func() {
			_, sums := o.Alloc(perRow, perRow, scene.Shape(scene.Float32, p.rows, p.dim))
			q := query.Slice([]int{r * p.rows, 0}, []int{p.rows, p.dim})
			result := out.Slice([]int{r * p.rows, 0}, []int{p.rows, p.dim})
			for b := range p.blocks {
				at, size := []int{table[r*p.blocks+b] * p.block, 0}, []int{p.block, p.dim}
				last := uint64(0)
				if b == p.blocks-1 {
					last = 1
				}
				o.Scope(func() {
					_, s := o.Submit(scene.Task{AIC: qk, Args: []scene.Arg{scene.In(q), scene.In(keys.Slice(at, size)), scene.Out(scene.Shape(scene.Float32, p.rows, p.block))}})
					_, w := o.Submit(scene.Task{AIV0: sf, Args: []scene.Arg{scene.In(s[2]), scene.Out(scene.Shape(scene.Float32, p.rows, p.block)), scene.Out(perRow), scene.Out(perRow)}})
					_, v := o.Submit(scene.Task{AIC: pv, Args: []scene.Arg{scene.In(w[1]), scene.In(values.Slice(at, size)), scene.Out(scene.Shape(scene.Float32, p.rows, p.dim))}})
					o.Submit(scene.Task{AIV0: up, Args: []scene.Arg{
						scene.In(w[2]), scene.In(w[3]), scene.In(v[2]), scene.InOut(sums[0]), scene.InOut(sums[1]), scene.InOut(sums[2]), into(result),
					}, Scalars: []uint64{uint64(b), last}})
				})
			}
		})
	}
}

// runQK is the scores of a block: q · kᵀ / √dim.
func runQK(c *scene.Call) uint64 {
	q, k, s := scene.Use[float32](c, 0), scene.Use[float32](c, 1), scene.Use[float32](c, 2)
	n := 0
	for i, row := range s.Rows() {
		a := q.Row(i)
		scale := float32(1 / math.Sqrt(float64(len(a))))
		for j := range row {
			sum := float32(0)
			for d, x := range k.Row(j) {
				sum += a[d] * x
			}
			row[j] = sum * scale
			n += len(a)
		}
	}
	return cubeCycles(n)
}

// runSF is the softmax of a block, before it is divided by its sum.
func runSF(c *scene.Call) uint64 {
	s, w, m, l := scene.Use[float32](c, 0), scene.Use[float32](c, 1), scene.Use[float32](c, 2), scene.Use[float32](c, 3)
	n := 0
	for i, row := range w.Rows() {
		scores := s.Row(i)
		most, sum := scores[0], float32(0)
		for _, x := range scores {
			most = max(most, x)
		}
		for j, x := range scores {
			row[j] = exp(x - most)
			sum += row[j]
		}
		m.Row(i)[0], l.Row(i)[0] = most, sum
		n += len(row)
	}
	return vectorCycles(8 * n)
}

// runPV is the values of a block by their weights.
func runPV(c *scene.Call) uint64 {
	w, v, out := scene.Use[float32](c, 0), scene.Use[float32](c, 1), scene.Use[float32](c, 2)
	n := 0
	for i, row := range out.Rows() {
		clear(row)
		for j, x := range w.Row(i) {
			for d, y := range v.Row(j) {
				row[d] += x * y
			}
			n += len(row)
		}
	}
	return cubeCycles(n)
}

// runUP adds a block to what its request has so far, and divides after the last one.
func runUP(c *scene.Call) uint64 {
	mb, lb, ob := scene.Use[float32](c, 0), scene.Use[float32](c, 1), scene.Use[float32](c, 2)
	m, l, o, out := scene.Use[float32](c, 3), scene.Use[float32](c, 4), scene.Use[float32](c, 5), scene.Use[float32](c, 6)
	first, last := c.Scalars[0] == 0, c.Scalars[1] == 1
	n := 0
	for i, sum := range o.Rows() {
		block, most := ob.Row(i), mb.Row(i)[0]
		before, now := float32(0), float32(1) // the factors of what there was, and of the block
		if !first {
			most = max(most, m.Row(i)[0])
			before, now = exp(m.Row(i)[0]-most), exp(mb.Row(i)[0]-most)
		} else {
			l.Row(i)[0] = 0
			clear(sum)
		}
		m.Row(i)[0] = most
		l.Row(i)[0] = l.Row(i)[0]*before + lb.Row(i)[0]*now
		for d := range sum {
			sum[d] = sum[d]*before + block[d]*now
			if last {
				out.Row(i)[d] = sum[d] / l.Row(i)[0]
			}
		}
		n += len(sum)
	}
	return vectorCycles(4 * n)
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }

// pagedGolden is attention over all keys of a request at once, in float64.
func pagedGolden(c *scene.Case, in []scene.Data) []scene.Data {
	p := c.Params.(paged)
	table := p.table()
	query, keys, values, out := in[0].F32, in[1].F32, in[2].F32, in[3]
	weights := make([]float64, p.blocks*p.block)
	for row := range p.requests * p.rows {
		q := query[row*p.dim : (row+1)*p.dim]
		total := 0.0
		at := func(k int) int { return (table[row/p.rows*p.blocks+k/p.block]*p.block + k%p.block) * p.dim }
		for k := range weights {
			dot := 0.0
			for d, x := range keys[at(k) : at(k)+p.dim] {
				dot += float64(q[d]) * float64(x)
			}
			weights[k] = math.Exp(dot / math.Sqrt(float64(p.dim)))
			total += weights[k]
		}
		sum := make([]float64, p.dim)
		for k, w := range weights {
			for d, x := range values[at(k) : at(k)+p.dim] {
				sum[d] += w / total * float64(x)
			}
		}
		for d, x := range sum {
			out.F32[row*p.dim+d] = float32(x)
		}
	}
	return []scene.Data{out}
}
