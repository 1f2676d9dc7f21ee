package scenes

import (
	"fmt"
	"math"

	"swimlane/scene"
)

// nodeVector is how long the vectors of the scenes for a node are.
const nodeVector = 16384

// vectorKernel is the chip callable of the scenes for a node: VectorExample's program,
// with the names that real captures have.
func vectorKernel() *scene.NodeCallable {
	c := vectorCallable("vector_example", nodeVector, [3]string{"add", "add_scalar", "mul"})
	c.Orchestration.Signature = []scene.Direction{scene.Reads, scene.Reads, scene.Writes}
	return &scene.NodeCallable{Name: "vector_kernel", Chip: &c}
}

// vectorOf is what that program computes from a and b.
func vectorOf(a, b float32) float32 {
	s := float64(a) + float64(b)
	return float32(s*s + 4*s + 2)
}

// nodeInputs are a, b and out for each chip, other ones for each, and a counter.
func nodeInputs(c *scene.Case) []scene.Data {
	shape := []int{nodeVector}
	var all []scene.Data
	for w := range c.Config.DeviceCount {
		a, b := make([]float32, nodeVector), make([]float32, nodeVector)
		for i := range a {
			a[i], b[i] = float32((i+7*w)%251)/8, float32((i+3*w)%13)
		}
		all = append(all, scene.Data{Name: fmt.Sprintf("a%d", w), Shape: shape, F32: a}, scene.Data{Name: fmt.Sprintf("b%d", w), Shape: shape, F32: b},
			scene.Data{Name: fmt.Sprintf("out%d", w), Shape: shape, F32: make([]float32, nodeVector), Check: true})
	}
	return append(all, scene.Data{Name: "verified", Shape: []int{1}, I32: make([]int32, 1), Check: true})
}

// nodeGolden are the golden values of those: verify has been called in every run.
func nodeGolden(c *scene.Case, in []scene.Data) (want []scene.Data) {
	for w := range c.Config.DeviceCount {
		out := in[3*w+2]
		for i := range out.F32 {
			out.F32[i] = vectorOf(in[3*w].F32[i], in[3*w+1].F32[i])
		}
		want = append(want, out)
	}
	verified := in[len(in)-1]
	verified.I32[0] = int32(max(c.Config.Runs, 1))
	return append(want, verified)
}

// nodeVerify is a sub-worker that compares each chip's vectors, on the host, and counts.
func nodeVerify() *scene.NodeCallable {
	return &scene.NodeCallable{Name: "verify", Sub: func(_ *scene.Case, args []scene.Data) error {
		last := len(args) - 1
		for w := range last / 3 {
			a, b, out := args[3*w].F32, args[3*w+1].F32, args[3*w+2].F32
			for i := range out {
				if want := vectorOf(a[i], b[i]); math.Abs(float64(out[i]-want)) > 1e-5*(1+math.Abs(float64(want))) {
					return fmt.Errorf("element %d of chip %d is %v, expected %v", i, w, out[i], want)
				}
			}
		}
		args[last].I32[0]++
		return nil
	}}
}

// verifyAll are the arguments of nodeVerify.
func verifyAll(args []scene.NodeTensor) (list []scene.NodeArg) {
	last := len(args) - 1
	for _, t := range args[:last] {
		list = append(list, t.In())
	}
	return append(list, args[last].InOut())
}

// L3Vectors runs the vector program on every chip of a node, several times, each time
// as a task of its own, and verifies all of it on the host.
func L3Vectors() *scene.Scene {
	kernel, verify := vectorKernel(), nodeVerify()
	return &scene.Scene{
		Class: "TestL3Vectors", About: "a node: the vector example on every chip, several times, verified on the host", Runtime: scene.TensormapAndRingbuffer, Level: 3,
		Node: &scene.Node{
			Name: "run_dag", Callables: []*scene.NodeCallable{kernel, verify},
			Run: func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
				for w := range c.Config.DeviceCount {
					o.Submit(scene.NodeTask{Callable: kernel, Worker: w, Args: []scene.NodeArg{args[3*w].In(), args[3*w+1].In(), args[3*w+2].Out()}})
				}
				o.Submit(scene.NodeTask{Callable: verify, Args: verifyAll(args)})
			},
		},
		Cases: []scene.Case{
			{Name: "2x2", Platforms: simulators, Config: scene.Config{DeviceCount: 2, SubWorkers: 1, Runs: 2, Clusters: 8}},
			{Name: "3x4", Platforms: simulators, Config: scene.Config{DeviceCount: 3, SubWorkers: 1, Runs: 4, Clusters: 8}},
		},
		Inputs: nodeInputs, Golden: nodeGolden,
	}
}

// HostL3Vectors is [L3Vectors] with the graphs of its chips built by their workers.
func HostL3Vectors() *scene.Scene {
	s := onHost(L3Vectors(), "TestL3VectorsHostBuildGraph")
	s.Cases = s.Cases[:1]
	return s
}

// L3Group runs the vector program on two chips as one group.
func L3Group() *scene.Scene {
	kernel, verify := vectorKernel(), nodeVerify()
	return &scene.Scene{
		Class: "TestL3Group", About: "a node: the vector example on two chips as one group", Runtime: scene.TensormapAndRingbuffer, Level: 3,
		Node: &scene.Node{
			Name: "run_dag", Callables: []*scene.NodeCallable{kernel, verify},
			Run: func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
				var group []scene.NodeMember
				for w := range c.Config.DeviceCount {
					group = append(group, scene.NodeMember{Worker: w, Args: []scene.NodeArg{args[3*w].In(), args[3*w+1].In(), args[3*w+2].Out()}})
				}
				o.Submit(scene.NodeTask{Callable: kernel, Group: group})
				o.Submit(scene.NodeTask{Callable: verify, Args: verifyAll(args)})
			},
		},
		Cases:  []scene.Case{{Name: "default", Platforms: simulators, Config: scene.Config{DeviceCount: 2, SubWorkers: 1, Clusters: 8}}},
		Inputs: nodeInputs, Golden: nodeGolden,
	}
}

// L3Chain hands the result of one chip to another: chip 0 computes, chip 1 halves what
// it computed, and the host verifies.
func L3Chain() *scene.Scene {
	kernel := vectorKernel()
	half := elementwise(0, "half", func(in []float32, _ uint64) float32 { return in[0] / 2 })
	halve := &scene.NodeCallable{Name: "halve_kernel", Chip: &scene.Callable{
		Incores: []*scene.Incore{half},
		Orchestration: scene.Orchestration{Name: "halve_example", Signature: []scene.Direction{scene.Reads, scene.Writes},
			Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				const part = nodeVector / 4
				for i := range 4 {
					at, shape := []int{i * part}, []int{part}
					o.Submit(scene.Task{AIV0: half, Args: []scene.Arg{scene.In(args[0].Slice(at, shape)), scene.Into(args[1].Slice(at, shape))}})
				}
			}},
	}}
	verify := &scene.NodeCallable{Name: "verify", Sub: func(_ *scene.Case, args []scene.Data) error {
		for i, got := range args[1].F32 {
			if want := args[0].F32[i] / 2; got != want {
				return fmt.Errorf("element %d is %v after chip 1, expected %v, half of what chip 0 made", i, got, want)
			}
		}
		return nil
	}}
	return &scene.Scene{
		Class: "TestL3Chain", About: "a node: a chip that needs what another one has computed", Runtime: scene.TensormapAndRingbuffer, Level: 3,
		Node: &scene.Node{
			Name: "run_chain", Callables: []*scene.NodeCallable{kernel, halve, verify},
			Run: func(o *scene.NodeOrchestrator, _ *scene.Case, args []scene.NodeTensor) {
				mid := o.Alloc("mid", scene.Float32, nodeVector)
				o.Submit(scene.NodeTask{Callable: kernel, Worker: 0, Args: []scene.NodeArg{args[0].In(), args[1].In(), mid.Out()}})
				o.Submit(scene.NodeTask{Callable: halve, Worker: 1, Args: []scene.NodeArg{mid.In(), args[2].Out()}})
				o.Submit(scene.NodeTask{Callable: verify, Args: []scene.NodeArg{mid.In(), args[2].In()}})
			},
		},
		Cases: []scene.Case{{Name: "default", Platforms: simulators, Config: scene.Config{DeviceCount: 2, SubWorkers: 1, Clusters: 8}}},
		Inputs: func(*scene.Case) []scene.Data {
			one := &scene.Case{Config: scene.Config{DeviceCount: 1}}
			return nodeInputs(one)[:3]
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			want := in[2]
			for i := range want.F32 {
				want.F32[i] = vectorOf(in[0].F32[i], in[1].F32[i]) / 2
			}
			return []scene.Data{want}
		},
	}
}
