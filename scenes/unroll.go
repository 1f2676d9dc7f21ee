package scenes

import (
	"math"
	"math/rand/v2"

	"swimlane/scene"
)

// unrolled is the size of a paged attention whose tasks take a group of blocks each.
type unrolled struct {
	requests, blocks, group int // blocks of a request, and of a group
	rows, block, dim        int
}

// The kernels of the unrolled paged attention. UP is that of [PagedAttention]: to it
// a group is a large block.
var (
	groupQK = &scene.Incore{FuncID: 0, Name: "QK", Core: scene.AIC, Run: runGroupQK}
	groupSF = &scene.Incore{FuncID: 1, Name: "SF", Core: scene.AIV, Run: runGroupSF}
	groupPV = &scene.Incore{FuncID: 2, Name: "PV", Core: scene.AIC, Run: runGroupPV}
)

// PagedAttentionUnroll is paged attention in fewer and larger tasks: four for each
// group of up to N blocks of a request. Its keys, values and weights are bfloat16,
// and the kernels find the blocks of a group by the block table. It exercises edges
// to creators (of outputs and of an alloc), the tensor map between the groups of a
// request, and requests that are independent of each other.
//
// The case SimSmall has the graph of a real capture of that name: three requests of
// one group of eight blocks, with ids of ring 1 and an alloc each. The case
// Remainder has groups of 4, 4 and 3 blocks.
func PagedAttentionUnroll() *scene.Scene {
	return &scene.Scene{
		Class: "TestPagedAttentionUnroll", About: "a task for a group of blocks, with a remainder", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores:       []*scene.Incore{groupQK, groupSF, groupPV, up},
			Orchestration: scene.Orchestration{Run: orchestrateUnrolled},
		},
		Cases: []scene.Case{
			{Name: "SimSmall", Platforms: simulators, Config: eight, Params: unrolled{requests: 3, blocks: 8, group: 8, rows: 16, block: 16, dim: 32}},
			{Name: "Remainder", Platforms: simulators, Config: eight, Params: unrolled{requests: 2, blocks: 11, group: 4, rows: 8, block: 8, dim: 16}},
		},
		// Weights are at most half a unit of the last of eight bits off, 2^-9 of
		// themselves, and so is the mean of values up to 1.
		Inputs: unrolledInputs, Golden: unrolledGolden, RTol: 1e-5, ATol: 1.0/512 + 1e-5,
	}
}

func unrolledInputs(c *scene.Case) []scene.Data {
	p := c.Params.(unrolled)
	rng := rand.New(rand.NewPCG(3, 5))
	random := func(int) float32 { return rng.Float32()*2 - 1 }
	table := scene.Data{Name: "block_table", Shape: []int{p.requests, p.blocks}}
	for _, b := range rng.Perm(p.requests * p.blocks) {
		table.I32 = append(table.I32, int32(b))
	}
	pool := p.requests * p.blocks * p.block
	return []scene.Data{
		bfloats("query", random, p.requests*p.rows, p.dim), bfloats("keys", random, pool, p.dim), bfloats("values", random, pool, p.dim),
		table, result("out", p.requests*p.rows, p.dim),
	}
}

func orchestrateUnrolled(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
	p := c.Params.(unrolled)
	query, keys, values, table, out := args[0], args[1], args[2], args[3], args[4]
	perRow, size := scene.Shape(scene.Float32, p.rows, 1), []int{p.rows, p.dim}
	o.Scope(func() {
		for r := range p.requests {
			_, sums := o.Alloc(perRow, perRow, scene.Shape(scene.Float32, size...))
			at := []int{r * p.rows, 0}
			for b := 0; b < p.blocks; b += p.group {
				n := min(p.group, p.blocks-b)
				last := uint64(0)
				if b+n == p.blocks {
					last = 1
				}
				where := []uint64{uint64(r), uint64(b), uint64(p.block)}
				width := n * p.block
				_, s := o.Submit(scene.Task{AIC: groupQK, Args: []scene.Arg{
					scene.In(query.Slice(at, size)), scene.In(keys), scene.In(table), scene.Out(scene.Shape(scene.Float32, p.rows, width)),
				}, Scalars: where})
				_, w := o.Submit(scene.Task{AIV0: groupSF, Args: []scene.Arg{
					scene.In(s[3]), scene.Out(scene.Shape(scene.BFloat16, p.rows, width)), scene.Out(perRow), scene.Out(perRow),
				}})
				_, v := o.Submit(scene.Task{AIC: groupPV, Args: []scene.Arg{
					scene.In(w[1]), scene.In(values), scene.In(table), scene.Out(scene.Shape(scene.Float32, size...)),
				}, Scalars: where})
				o.Submit(scene.Task{AIV0: up, Args: []scene.Arg{
					scene.In(w[2]), scene.In(w[3]), scene.In(v[3]), scene.InOut(sums[0]), scene.InOut(sums[1]), scene.InOut(sums[2]), scene.InOut(out.Slice(at, size)),
				}, Scalars: []uint64{uint64(b), last}})
			}
		}
	})
}

// pooled is where the keys and values of a group lie in the pool.
func pooled(c *scene.Call, table int) func(key int) int {
	blocks, size := scene.Use[int32](c, table).Row(int(c.Scalars[0]))[c.Scalars[1]:], int(c.Scalars[2])
	return func(key int) int { return int(blocks[key/size])*size + key%size }
}

// runGroupQK is the scores of a group of blocks: q · kᵀ / √dim.
func runGroupQK(c *scene.Call) uint64 {
	q, k, s := scene.Use[scene.BF16](c, 0), scene.Use[scene.BF16](c, 1), scene.Use[float32](c, 3)
	at, n := pooled(c, 2), 0
	for i, row := range s.Rows() {
		a := q.Row(i)
		scale := float32(1 / math.Sqrt(float64(len(a))))
		for j := range row {
			sum := float32(0)
			for d, x := range k.Row(at(j)) {
				sum += a[d].Float32() * x.Float32()
			}
			row[j] = sum * scale
			n += len(a)
		}
	}
	return cubeCycles(n)
}

// runGroupSF is the softmax of a group, before it is divided by its sum, which is
// that of the rounded weights.
func runGroupSF(c *scene.Call) uint64 {
	s, w, m, l := scene.Use[float32](c, 0), scene.Use[scene.BF16](c, 1), scene.Use[float32](c, 2), scene.Use[float32](c, 3)
	n := 0
	for i, row := range w.Rows() {
		scores := s.Row(i)
		most, sum := scores[0], float32(0)
		for _, x := range scores {
			most = max(most, x)
		}
		for j, x := range scores {
			row[j] = scene.ToBF16(exp(x - most))
			sum += row[j].Float32()
		}
		m.Row(i)[0], l.Row(i)[0] = most, sum
		n += len(row)
	}
	return vectorCycles(8 * n)
}

// runGroupPV sums up the values of a group by their weights, block by block.
func runGroupPV(c *scene.Call) uint64 {
	w, v, out := scene.Use[scene.BF16](c, 0), scene.Use[scene.BF16](c, 1), scene.Use[float32](c, 3)
	at, n := pooled(c, 2), 0
	for i, row := range out.Rows() {
		clear(row)
		for j, x := range w.Row(i) {
			for d, y := range v.Row(at(j)) {
				row[d] += x.Float32() * y.Float32()
			}
			n += len(row)
		}
	}
	return cubeCycles(n)
}

// unrolledGolden is attention over all keys of a request at once, in float64.
func unrolledGolden(c *scene.Case, in []scene.Data) []scene.Data {
	p := c.Params.(unrolled)
	query, keys, values, table, out := in[0].BF16, in[1].BF16, in[2].BF16, in[3].I32, in[4]
	value := func(v scene.BF16) float64 { return float64(v.Float32()) }
	for row := range p.requests * p.rows {
		sum, total := make([]float64, p.dim), 0.0
		for _, b := range table[row/p.rows*p.blocks:][:p.blocks] {
			for key := int(b) * p.block; key < int(b+1)*p.block; key++ {
				dot := 0.0
				for d := range p.dim {
					dot += value(query[row*p.dim+d]) * value(keys[key*p.dim+d])
				}
				w := math.Exp(dot / math.Sqrt(float64(p.dim)))
				total += w
				for d := range sum {
					sum[d] += w * value(values[key*p.dim+d])
				}
			}
		}
		for d, x := range sum {
			out.F32[row*p.dim+d] = float32(x / total)
		}
	}
	return []scene.Data{out}
}
