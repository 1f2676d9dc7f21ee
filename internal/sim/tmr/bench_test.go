package tmr_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
)

// BenchmarkChains is a run of b.N tasks in chains of four, as paged attention has
// them, with everything recorded and without.
func BenchmarkChains(b *testing.B) {
	for name, level := range map[string]abi.Level{"off": abi.Disabled, "level 4": abi.OrchPhases} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(b, abi.A2A3, 24, level)
			kernels := [3]*sim.Kernel{}
			for i, core := range []abi.CoreType{abi.AIC, abi.AIV, abi.AIV} {
				kernels[i] = &sim.Kernel{ID: int32(i), Name: core.String(), Type: core, Run: func(*sim.Call) uint64 { return 100 }}
			}
			x := bench.floats(64, func(int) float32 { return 0 })
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := bench.run(func(o *tmr.Orchestrator) {
				for n := 0; n < b.N; n += 4 {
					o.Scope(func() {
						last := x
						for k := range 4 {
							task := &tmr.Task{Args: []tmr.Arg{in(last), out(x)}}
							task.Kernels[k%2] = kernels[k%2]
							last = o.Submit(task).Args[1]
						}
					})
				}
			}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
