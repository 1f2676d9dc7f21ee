package hbg_test

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
	"swimlane/internal/transport"
)

// A graph of two tasks on a chip of one cluster, and what a host makes of its records.
// Errors are left out where they could only be programming errors of the example.
func ExampleRunAicore() {
	memory, _ := transport.New(0x1000_0000, 64<<20)
	defer memory.Close()
	costs := sim.DefaultCosts(abi.A5)
	chip, _ := sim.NewChip(abi.A5, 1, &costs)

	var tasks []*hbg.Task
	for i, core := range []abi.CoreType{abi.AIC, abi.AIV} {
		spec := &sim.Task{}
		spec.Kernels[core] = &sim.Kernel{ID: int32(i), Name: "K", Type: core, Run: func(*sim.Call) uint64 { return 700 }}
		form, _ := spec.Form(chip.Clusters())
		tasks = append(tasks, &hbg.Task{ID: uint64(i), Spec: spec, Form: form})
	}
	tasks[1].Producers = []int{0}
	graph := &hbg.Graph{Tasks: tasks}

	// The host: a collector, whose pools stay empty, and the block.
	swimlane, err := collector.New(collector.Options{Arch: abi.A5, Cores: len(chip.Cores), Threads: 2, Level: abi.SchedPhases, Memory: transport.Shadow(memory)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer swimlane.Finalize()
	run, _ := swimlane.Begin(collector.RunOptions{Level: abi.SchedPhases, Runtime: "host_build_graph"})
	run.Start()
	layout, _ := hbg.AicoreLayout(graph, abi.SchedPhases)
	block, _ := collector.NewSchedulerBlock(transport.Shadow(memory), layout)
	defer block.Free()

	// The device.
	report, err := hbg.RunAicore(hbg.AicoreConfig{Chip: chip, Threads: 2, Space: memory.Space(), State: block.Addr(), Level: abi.SchedPhases}, graph)
	if err != nil {
		fmt.Println(err)
		return
	}

	// The host again.
	run.Stop()
	out := run.Outcome()
	for _, n := range append(out.Notices, block.Sections(&out.Capture.Sections, abi.SchedPhases)...) {
		if n.Severity > collector.Info {
			fmt.Println(n.Text)
		}
	}
	fmt.Println("the schedulers ran longer than two kernels:", report.End-report.Start > 1400)
	// Output:
	// the schedulers ran longer than two kernels: true
}
