package scene_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/scene"
)

// vectorKernel computes the last argument from the ones before it.
func vectorKernel(id int32, name string, f func(in []float32) float32) *scene.Incore {
	return &scene.Incore{FuncID: id, Name: name, Core: scene.AIV, Run: func(c *scene.Call) uint64 {
		last := len(c.Args) - 1
		out := scene.Use[float32](c, last)
		in, n := make([]float32, last), 0
		for i, row := range out.Rows() {
			for k := range row {
				for a := range in {
					in[a] = scene.Use[float32](c, a).Row(i)[k]
				}
				row[k] = f(in)
			}
			n += len(row)
		}
		return uint64(10 + n/64)
	}}
}

// vectors is out = (a+b+1)·(a+b+2) + (a+b), wrong by an amount.
func vectors(wrong float32) *scene.Scene {
	add := vectorKernel(0, "ADD", func(in []float32) float32 { return in[0] + in[1] })
	one := vectorKernel(1, "ADD_ONE", func(in []float32) float32 { return in[0] + 1 })
	two := vectorKernel(2, "ADD_TWO", func(in []float32) float32 { return in[0] + 2 })
	mul := vectorKernel(3, "MUL", func(in []float32) float32 { return in[0]*in[1] + wrong })
	const n = 512
	return &scene.Scene{
		Class: "TestVectors", Runtime: scene.TensormapAndRingbuffer,
		Callable: scene.Callable{
			Incores: []*scene.Incore{add, one, two, mul},
			Orchestration: scene.Orchestration{Name: "VectorOrch", Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				like := scene.Shape(scene.Float32, n)
				_, sum := o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(args[0]), scene.In(args[1]), scene.Out(like)}})
				o.Scope(func() {
					_, x := o.Submit(scene.Task{AIV0: one, Args: []scene.Arg{scene.In(sum[2]), scene.Out(like)}})
					_, y := o.Submit(scene.Task{AIV0: two, Args: []scene.Arg{scene.In(sum[2]), scene.Out(like)}})
					_, z := o.Submit(scene.Task{AIV0: mul, Args: []scene.Arg{scene.In(x[1]), scene.In(y[1]), scene.Out(like)}})
					o.Submit(scene.Task{AIV0: add, Args: []scene.Arg{scene.In(z[2]), scene.In(sum[2]), scene.Into(args[2])}})
				})
			}},
		},
		Cases: []scene.Case{{Name: "basic", Platforms: []string{scene.A2A3Sim, scene.A5Sim, scene.A2A3}, Config: scene.Config{Clusters: 8}}},
		Inputs: func(*scene.Case) []scene.Data {
			a, b := make([]float32, n), make([]float32, n)
			for i := range a {
				a[i], b[i] = float32(i), 2
			}
			shape := []int{n}
			return []scene.Data{{Name: "a", Shape: shape, F32: a}, {Name: "b", Shape: shape, F32: b}, {Name: "out", Shape: shape, F32: make([]float32, n), Check: true}}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			want := in[2]
			for i := range want.F32 {
				s := in[0].F32[i] + in[1].F32[i]
				want.F32[i] = (s+1)*(s+2) + s
			}
			return []scene.Data{want}
		},
	}
}

func first(s *scene.Scene) scene.Selected { return scene.Selected{Scene: s, Case: &s.Cases[0]} }

func TestRun(t *testing.T) {
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		for level := range 5 {
			dir := filepath.Join(t.TempDir(), "made", "by", "the", "run")
			r, err := first(vectors(0)).Run(platform, scene.CallConfig{EnableChipSwimlane: level, EnableDepGen: level != 2, OutputPrefix: dir})
			if err != nil {
				t.Fatal(err)
			}
			if r.Golden != nil || r.Tasks != 5 || r.Submits != 5 || r.Makespan <= 0 || len(r.Notes) > 0 {
				t.Errorf("%s, level %d: %+v", platform, level, r)
			}
			if level > 0 {
				c, err := capture.Read(r.Records, capture.Options{})
				if err != nil || c.Level != level || c.Tasks.Len() != 5 || len(c.Warnings) > 0 {
					t.Errorf("%s, level %d: %v, records %+v", platform, level, err, c)
				}
				if text, err := os.ReadFile(filepath.Join(dir, "name_map_TestVectors_basic.json")); err != nil || !strings.Contains(string(text), `"3": "MUL"`) {
					t.Errorf("the name map is %s (%v)", text, err)
				}
			}
			if level != 2 {
				if d, err := capture.ReadDeps(r.Graph, nil); err != nil || len(d.Task) != 5 {
					t.Errorf("%s, level %d: graph %+v (%v)", platform, level, d, err)
				}
			}
		}
	}
}

func TestRunWrongValues(t *testing.T) {
	r, err := first(vectors(0.5)).Run(scene.A2A3Sim, scene.CallConfig{})
	if err != nil {
		t.Fatal(err)
	}
	// The worst is any of them: all are off by a half, within 1e-5 relative only
	// where 0.5 ≤ 1e-5 + 1e-5·|golden|.
	if r.Golden == nil || !strings.Contains(r.Golden.Error(), `values of "out" are wrong`) || r.Records != "" || r.Graph != "" {
		t.Errorf("%+v, want wrong values and no files", r)
	}
}

func TestRunRefused(t *testing.T) {
	for want, f := range map[string]func(*scene.Scene, *scene.CallConfig) (platform string){
		"use the simulator, a2a3sim": func(*scene.Scene, *scene.CallConfig) string { return scene.A2A3 },
		`platform "npu" is unknown`:  func(*scene.Scene, *scene.CallConfig) string { return "npu" },
		"capture level 5 is unknown": func(_ *scene.Scene, c *scene.CallConfig) string { c.EnableChipSwimlane = 5; return scene.A2A3Sim },
		"output prefix is empty": func(_ *scene.Scene, c *scene.CallConfig) string {
			c.EnableDepGen = true
			return scene.A2A3Sim
		},
		"expected at most 1023": func(_ *scene.Scene, c *scene.CallConfig) string {
			c.OutputPrefix = strings.Repeat("x", 1024)
			return scene.A2A3Sim
		},
		"no incore of the scene": func(s *scene.Scene, _ *scene.CallConfig) string {
			s.Callable.Incores = s.Callable.Incores[1:]
			return scene.A2A3Sim
		},
		"the orchestration has no Run": func(s *scene.Scene, _ *scene.CallConfig) string {
			s.Callable.Orchestration.Run = nil
			return scene.A2A3Sim
		},
		`incore 1 ("ADD_ONE") has no Run`: func(s *scene.Scene, _ *scene.CallConfig) string {
			s.Callable.Incores[1].Run = nil
			return scene.A2A3Sim
		},
		"incore 2 is nil": func(s *scene.Scene, _ *scene.CallConfig) string {
			s.Callable.Incores[2] = nil
			return scene.A2A3Sim
		},
		"Golden gives values for 0 tensors: expected the 1 with Check": func(s *scene.Scene, _ *scene.CallConfig) string {
			s.Golden = func(*scene.Case, []scene.Data) []scene.Data { return []scene.Data{} }
			return ""
		},
		"512, 0 and 512 values": func(s *scene.Scene, _ *scene.CallConfig) string {
			inputs := s.Inputs
			s.Inputs = func(c *scene.Case) []scene.Data {
				in := inputs(c)
				in[1].I32 = make([]int32, 512)
				return in
			}
			return scene.A2A3Sim
		},
	} {
		s, c := vectors(0), scene.CallConfig{}
		platform := f(s, &c)
		if platform == "" { // a run that ends, with a verdict
			r, err := first(s).Run(scene.A5Sim, c)
			if err != nil || r.Golden == nil || !strings.Contains(r.Golden.Error(), want) {
				t.Errorf("%+v (%v), want golden values that are refused with %q", r, err, want)
			}
			continue
		}
		if _, err := first(s).Run(platform, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestHazards: a dependency that is missing is told, although the values are right.
func TestHazards(t *testing.T) {
	for name, v := range map[string]struct {
		after bool
		want  int
	}{"declared": {true, 0}, "missing": {false, 1}} {
		const n = 65536
		make4 := &scene.Incore{FuncID: 0, Name: "MAKE", Core: scene.AIC, Run: func(c *scene.Call) uint64 {
			for _, row := range scene.Use[float32](c, 0).Rows() {
				for i := range row {
					row[i] = 4
				}
			}
			return 36_000
		}}
		twice := &scene.Incore{FuncID: 1, Name: "TWICE", Core: scene.AIV, Run: func(c *scene.Call) uint64 {
			out := scene.Use[float32](c, 1).Row(0)
			for i, x := range scene.Use[float32](c, 0).Row(0) {
				out[i] = 2 * x
			}
			return 1000
		}}
		s := &scene.Scene{
			Class: "TestRace", Runtime: scene.TensormapAndRingbuffer, Callable: scene.Callable{
				Incores: []*scene.Incore{make4, twice},
				Orchestration: scene.Orchestration{Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
					o.ManualScope(func() {
						a, _ := o.Submit(scene.Task{AIC: make4, Args: []scene.Arg{scene.Into(args[0])}})
						t := scene.Task{AIV0: twice, Args: []scene.Arg{scene.In(args[0]), scene.Into(args[1])}}
						if v.after {
							t.After = []scene.ID{a}
						}
						o.Submit(t)
					})
				}},
			},
			Cases: []scene.Case{{Name: "basic", Platforms: []string{scene.A2A3Sim}}},
			Inputs: func(*scene.Case) []scene.Data {
				return []scene.Data{{Name: "x", Shape: []int{1, n}, F32: make([]float32, n)}, {Name: "y", Shape: []int{1, n}, F32: make([]float32, n), Check: true}}
			},
			Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
				for i := range in[1].F32 {
					in[1].F32[i] = 8
				}
				return in[1:]
			},
		}
		r, err := first(s).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
		if err != nil || r.Golden != nil {
			t.Fatal(err, r.Golden)
		}
		if r.Hazards != v.want || len(r.Notes) != v.want {
			t.Errorf("%s: %d hazards, %q; want %d", name, r.Hazards, r.Notes, v.want)
		}
		if v.want > 0 && !strings.Contains(r.Notes[0], "task r1t1 (TWICE) reads its argument 0 from ") {
			t.Errorf("%s: %q", name, r.Notes)
		}
	}
}
