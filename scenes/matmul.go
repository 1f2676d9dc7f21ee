package scenes

import "swimlane/scene"

// matmul is the size of a matrix product in tiles: C of rows × cols tiles, and depth
// of them along K; a tile is tile × tile.
type matmul struct{ rows, cols, depth, tile int }

var (
	matmulTile = &scene.Incore{FuncID: 0, Name: "MATMUL_TILE", Core: scene.AIC, Run: runMatmulTile}
	epilogue   = &scene.Incore{FuncID: 1, Name: "EPILOGUE", Core: scene.AIV, Run: runEpilogue}
)

// BlockMatmul is out = max(A·B + bias, 0), A and B in bfloat16, sums in float32. The
// tiles of A·B are summed up along K by AIC tasks that are InOut of an alloc'ed
// tile, so that each waits for the one before it by the tensor map; a vector task
// finishes the tile. Tiles are independent, and there are more than AICs: it
// exercises the pending slot of a core, and both queues of single cores at once.
func BlockMatmul() *scene.Scene {
	return &scene.Scene{
		Class: "TestBlockMatmul", About: "matrix tiles that accumulate, then a vector epilogue; tasks wait behind others on a core", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores:       []*scene.Incore{matmulTile, epilogue},
			Orchestration: scene.Orchestration{Name: "BlockMatmul", Run: orchestrateMatmul},
		},
		Cases: []scene.Case{
			{Name: "square", Platforms: simulators, Config: eight, Params: matmul{rows: 4, cols: 4, depth: 4, tile: 16}},
			{Name: "deep", Platforms: simulators, Config: eight, Params: matmul{rows: 2, cols: 3, depth: 9, tile: 8}},
		},
		Inputs: matmulInputs, Golden: matmulGolden,
	}
}

func matmulInputs(c *scene.Case) []scene.Data {
	p := c.Params.(matmul)
	m, n, k := p.rows*p.tile, p.cols*p.tile, p.depth*p.tile
	return []scene.Data{
		bfloats("a", func(i int) float32 { return float32(i*37%101-50) / 32 }, m, k),
		bfloats("b", func(i int) float32 { return float32(i*53%97-48) / 64 }, k, n),
		floats("bias", func(i int) float32 { return float32(i%5) - 2 }, 1, n),
		result("out", m, n),
	}
}

func orchestrateMatmul(o *scene.Orchestrator, c *scene.Case, args []scene.Tensor) {
	p := c.Params.(matmul)
	a, b, bias, out := args[0], args[1], args[2], args[3]
	size := []int{p.tile, p.tile}
	tile := func(t scene.Tensor, i, j int) scene.Tensor { return t.Slice([]int{i * p.tile, j * p.tile}, size) }
	for i := range p.rows {
		for j := range p.cols {
			o.Scope(func() {
				_, sum := o.Alloc(scene.Shape(scene.Float32, size...))
				for k := range p.depth {
					o.Submit(scene.Task{AIC: matmulTile, Args: []scene.Arg{scene.In(tile(a, i, k)), scene.In(tile(b, k, j)), scene.InOut(sum[0])}, Scalars: []uint64{uint64(k)}})
				}
				o.Submit(scene.Task{AIV0: epilogue, Args: []scene.Arg{
					scene.In(sum[0]), scene.In(bias.Slice([]int{0, j * p.tile}, []int{1, p.tile})), scene.Into(tile(out, i, j)),
				}})
			})
		}
	}
}

// runMatmulTile adds a product of tiles to a sum, which it begins with 0. Moving the
// tiles takes most of its time.
func runMatmulTile(c *scene.Call) uint64 {
	a, b, sum := scene.Use[scene.BF16](c, 0), scene.Use[scene.BF16](c, 1), scene.Use[float32](c, 2)
	n := 0
	for i, row := range sum.Rows() {
		if c.Scalars[0] == 0 {
			clear(row)
		}
		for k, x := range a.Row(i) {
			for j, y := range b.Row(k) {
				row[j] += x.Float32() * y.Float32()
			}
			n += len(row)
		}
	}
	return 100_000 + cubeCycles(n)
}

// runEpilogue adds a bias and cuts off below 0.
func runEpilogue(c *scene.Call) uint64 {
	sum, bias, out := scene.Use[float32](c, 0), scene.Use[float32](c, 1).Row(0), scene.Use[float32](c, 2)
	n := 0
	for i, row := range out.Rows() {
		for j, x := range sum.Row(i) {
			row[j] = max(x+bias[j], 0)
		}
		n += len(row)
	}
	return vectorCycles(2 * n)
}

// matmulGolden is the product of whole matrices, in float64.
func matmulGolden(c *scene.Case, in []scene.Data) []scene.Data {
	p := c.Params.(matmul)
	m, n, k := p.rows*p.tile, p.cols*p.tile, p.depth*p.tile
	out := in[3]
	for i := range m {
		for j := range n {
			sum := float64(in[2].F32[j])
			for x := range k {
				sum += float64(in[0].BF16[i*k+x].Float32()) * float64(in[1].BF16[x*n+j].Float32())
			}
			out.F32[i*n+j] = float32(max(sum, 0))
		}
	}
	return []scene.Data{out}
}
