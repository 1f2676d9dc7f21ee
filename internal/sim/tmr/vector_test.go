package tmr_test

import (
	"cmp"
	"slices"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/depgen"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// vectorOp is an AIV kernel out = f(arguments before it), element by element.
func vectorOp(id int32, name string, f func(in []float32) float32) *sim.Kernel {
	return &sim.Kernel{ID: id, Name: name, Type: abi.AIV, Run: func(c *sim.Call) uint64 {
		last := len(c.Args) - 1
		out := sim.Use[float32](c, last)
		in := make([]float32, last)
		n := 0
		for i, row := range out.Rows() {
			for k := range row {
				for a := range in {
					in[a] = sim.Use[float32](c, a).Row(i)[k]
				}
				row[k] = f(in)
			}
			n += len(row)
		}
		return uint64(10 + n/64)
	}}
}

var (
	add    = vectorOp(0, "ADD", func(in []float32) float32 { return in[0] + in[1] })
	addOne = vectorOp(1, "ADD_SCALAR", func(in []float32) float32 { return in[0] + 1 })
	addTwo = vectorOp(1, "ADD_SCALAR", func(in []float32) float32 { return in[0] + 2 })
	mul    = vectorOp(2, "MUL", func(in []float32) float32 { return in[0] * in[1] })
)

func in(t abi.Tensor) tmr.Arg    { return tmr.Arg{Type: abi.ArgInput, Tensor: t} }
func inOut(t abi.Tensor) tmr.Arg { return tmr.Arg{Type: abi.ArgInOut, Tensor: t} }
func out(t abi.Tensor) tmr.Arg   { return tmr.Arg{Type: abi.ArgOutput, Tensor: t} }
func into(t abi.Tensor) tmr.Arg  { return tmr.Arg{Type: abi.ArgOutputExisting, Tensor: t} }

func vector(k *sim.Kernel, args ...tmr.Arg) *tmr.Task {
	return &tmr.Task{Kernels: [3]*sim.Kernel{1: k}, Args: args}
}

// floats is a tensor of the chip's memory with values.
func (b *bench) floats(n int, f func(i int) float32) abi.Tensor {
	b.t.Helper()
	t, err := sim.NewTensor(b.alloc(4*n), abi.Float32, n)
	if err != nil {
		b.t.Fatal(err)
	}
	for i, v := 0, b.values(t); i < n; i++ {
		v[i] = f(i)
	}
	return t
}

func (b *bench) values(t abi.Tensor) []float32 {
	b.t.Helper()
	v, err := sim.ViewOf[float32](b.memory.Space(), &t)
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Row(0)
}

// vectorExample is out = (a+b+1)·(a+b+2) + (a+b), in five tasks: the first in the
// outer scope, the others in one inside it.
func vectorExample(a, b, result abi.Tensor, shape abi.Tensor) func(*tmr.Orchestrator) {
	return func(o *tmr.Orchestrator) {
		sum := o.Submit(vector(add, in(a), in(b), out(shape))).Args[2]
		o.Scope(func() {
			one := o.Submit(vector(addOne, in(sum), out(shape))).Args[1]
			two := o.Submit(vector(addTwo, in(sum), out(shape))).Args[1]
			product := o.Submit(vector(mul, in(one), in(two), out(shape))).Args[2]
			o.Submit(vector(add, in(product), in(sum), into(result)))
		})
	}
}

func TestVectorExample(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		for level := abi.Disabled; level <= abi.OrchPhases; level++ {
			t.Run(arch.Name+"/"+string(rune('0'+level)), func(t *testing.T) {
				const n = 1024
				b := newBench(t, arch, 8, level)
				x := b.floats(n, func(i int) float32 { return float32(i) })
				y := b.floats(n, func(i int) float32 { return 2 })
				result := b.floats(n, func(int) float32 { return -1 })
				report, err := b.run(vectorExample(x, y, result, x))
				if err != nil {
					t.Fatal(err)
				}
				for i, got := range b.values(result) {
					s := float32(i) + 2
					if want := (s+1)*(s+2) + s; got != want {
						t.Fatalf("element %d is %v, want %v", i, got, want)
					}
				}
				if report.Submits != 5 || report.Tasks != 5 {
					t.Errorf("%d submits of %d tasks, want 5 of 5", report.Submits, report.Tasks)
				}
				if level == abi.Disabled {
					return
				}
				c := b.capture.Capture
				want := [abi.Kinds]int{abi.KindAicoreTask: 5}
				if level >= abi.ScheduleTiming {
					want[abi.KindAicpuTask] = 5
				}
				if level >= abi.OrchPhases {
					want[abi.KindOrchPhase] = 5
				}
				for _, k := range []abi.Kind{abi.KindAicoreTask, abi.KindAicpuTask, abi.KindOrchPhase} {
					if got := c.Count(k); got != want[k] {
						t.Errorf("%d records of kind %d, want %d", got, k, want[k])
					}
				}
				if phases := c.Count(abi.KindSchedPhase); (phases > 0) != (level >= abi.SchedPhases) {
					t.Errorf("%d phase records at level %d", phases, level)
				}
				dir := t.TempDir()
				if _, err := c.Export(dir); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestVectorExampleFiles: what a run leaves behind is read without a warning, and
// the graph is that of spec/deps.md §4.5.
func TestVectorExampleFiles(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		for level := abi.TaskTiming; level <= abi.OrchPhases; level++ {
			b := newBench(t, arch, 8, level)
			x := b.floats(64, func(i int) float32 { return float32(i) })
			if _, err := b.run(vectorExample(x, x, x, x)); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			path, err := b.capture.Capture.Export(dir)
			if err != nil {
				t.Fatal(err)
			}
			records, err := capture.Read(path, capture.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(records.Warnings) > 0 || records.Level != int(level) || records.Tasks.Len() != 5 {
				t.Errorf("%s level %d: level %d, %d rows, warnings %v", arch.Name, level, records.Level, records.Tasks.Len(), records.Warnings)
			}
			graph, err := depgen.Write(dir, b.graph)
			if err != nil {
				t.Fatal(err)
			}
			deps, err := capture.ReadDeps(graph.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			const inner = 1 << 32 // the second ring
			want := []edge{{0, inner}, {0, inner + 1}, {inner, inner + 2}, {inner + 1, inner + 2}, {0, inner + 3}, {inner + 2, inner + 3}}
			var got []edge
			for i := range deps.Pred {
				got = append(got, edge{deps.Pred[i], deps.Succ[i]})
			}
			slices.SortFunc(got, func(a, b edge) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
			if !slices.Equal(slices.Compact(got), want) {
				t.Errorf("%s: the edges are %x, want %x", arch.Name, got, want)
			}
		}
	}
}
