package scene_test

import (
	"strings"
	"testing"

	"swimlane/scene"
)

// gated is a scene whose second task runs if a predicate says so, when the first one
// has written 7 into the only tensor.
func gated(predicate func(x, out scene.Tensor) bool) *scene.Scene {
	write := &scene.Incore{FuncID: 0, Name: "WRITE", Core: scene.AIV, Run: func(c *scene.Call) uint64 {
		row := scene.Use[float32](c, 0).Row(0)
		row[len(row)-1] += 7
		return 500
	}}
	return &scene.Scene{
		Class: "TestGated", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{Incores: []*scene.Incore{write}, Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
			x := args[0]
			_, out := o.Submit(scene.Task{AIV0: write, Args: []scene.Arg{scene.InOut(x), scene.Out(scene.Shape(scene.Float32, 4))}})
			o.Submit(scene.Task{AIV0: write, Args: []scene.Arg{scene.InOut(x)}, Predicate: func() bool { return predicate(x, out[1]) }})
		}}},
		Cases: []scene.Case{{Name: "basic", Platforms: []string{scene.A2A3Sim}, Config: scene.Config{Clusters: 1}}},
		Inputs: func(*scene.Case) []scene.Data {
			return []scene.Data{{Name: "x", Shape: []int{4}, F32: make([]float32, 4), Check: true}}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			in[0].F32[3] = 14
			return in
		},
	}
}

// TestNow: a predicate sees what its dependencies wrote, in a tensor of the case and
// in a part of one; another tensor or type ends the run.
func TestNow(t *testing.T) {
	for want, predicate := range map[string]func(x, out scene.Tensor) bool{
		"":  func(x, _ scene.Tensor) bool { return scene.Now[float32](x).Row(0)[3] == 7 },
		" ": func(x, _ scene.Tensor) bool { return scene.Now[float32](x.Slice([]int{3}, []int{1})).Row(0)[0] == 7 },
		"what the tensor holds now: a tensor of FLOAT32 elements is used as one of INT32": func(x, _ scene.Tensor) bool { return scene.Now[int32](x).Row(0)[0] == 0 },
		"what the tensor holds now: ": func(_, out scene.Tensor) bool { return scene.Now[float32](out).Row(0)[0] == 0 },
	} {
		r, err := first(gated(predicate)).Run(scene.A2A3Sim, scene.CallConfig{})
		switch want = strings.TrimPrefix(want, " "); {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		case err != nil || r.Golden != nil:
			t.Errorf("%v, %+v: want the second task to run", err, r)
		}
	}
}
