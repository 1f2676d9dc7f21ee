package scenes

import "swimlane/scene"

// elements is the number of elements of a shape.
func elements(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// floats is a tensor of float32 with values by position.
func floats(name string, value func(i int) float32, shape ...int) scene.Data {
	d := scene.Data{Name: name, Shape: shape, F32: make([]float32, elements(shape))}
	for i := range d.F32 {
		d.F32[i] = value(i)
	}
	return d
}

// bfloats is a tensor of bfloat16 with values by position, rounded.
func bfloats(name string, value func(i int) float32, shape ...int) scene.Data {
	d := scene.Data{Name: name, Shape: shape, BF16: make([]scene.BF16, elements(shape))}
	for i := range d.BF16 {
		d.BF16[i] = scene.ToBF16(value(i))
	}
	return d
}

// result is a tensor of float32 zeros that is compared after the run.
func result(name string, shape ...int) scene.Data {
	return scene.Data{Name: name, Shape: shape, F32: make([]float32, elements(shape)), Check: true}
}

// line is the number of float32 in a cache line. Kernels of the SPMD scenes write
// lines of their own, as cores of a chip must.
const line = 16

// lineOf is a line of a tensor.
func lineOf(t scene.Tensor, i int) scene.Tensor { return t.Slice([]int{i * line}, []int{line}) }

// eight is the part of a chip that real captures of these scenes were taken on:
// eight clusters, 24 cores.
var eight = scene.Config{Clusters: 8}
