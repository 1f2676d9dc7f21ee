package collector_test

import (
	"fmt"
	"os"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
)

// A run at level 4 with dep_gen beside it, on a chip of one cluster that this
// process plays. Errors are left out where they could only be programming errors
// of the example.
func Example() {
	memory, _ := transport.New(0x1000_0000, 256<<20)
	defer memory.Close()

	// The host: pools that fit all runs to come.
	swimlane, err := collector.New(collector.Options{
		Arch: abi.A2A3, Cores: 3, Threads: 2, Level: abi.OrchPhases, Memory: transport.Mapped(memory),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer swimlane.Finalize()
	depGen, _ := collector.NewDepGen(collector.DepGenOptions{Arch: abi.A2A3, Threads: 2, Memory: transport.Mapped(memory)})
	defer depGen.Finalize()

	// One run of it. Begin and Start come before the device is launched.
	run, _ := swimlane.Begin(collector.RunOptions{
		Level: abi.OrchPhases, Runtime: "tensormap_and_ringbuffer", CoCaptured: []string{"dep_gen"},
	})
	deps, _ := depGen.Begin()
	run.Start()
	deps.Start()

	// The device: a leader attaches, and gives a writer to each thread and core.
	// Thread 0 schedules all cores, thread 1 is the orchestrator.
	enable := abi.EnableSwimlane | abi.EnableDepGen
	device, _ := producer.Attach(producer.Config{
		Region: swimlane.Layout(), Space: memory.Space(), RegionAddr: swimlane.DataBase(), RotationTable: swimlane.RotationTable(),
		Enable: enable, Cores: 3,
	})
	device.InitPhases(1, 1)
	device.AnnounceOrchestrator(1)
	submits, _ := producer.AttachDepGen(producer.DepGenConfig{
		Region: depGen.Layout(), Space: memory.Space(), RegionAddr: depGen.DataBase(), Enable: enable,
	})
	submits.Announce(1)
	scheduler, orchestrator, core := device.Thread(0), device.Thread(1), device.Core(0)
	device.PublishCores([]int8{0, 0, 0})

	var tokens producer.Tokens
	for n := range uint64(3) {
		id, at := abi.TaskID(0, uint32(n)), 1000+100*n
		submits.Submit(&producer.Submit{TaskID: id, KernelIDs: [3]int32{7, -1, -1}})
		orchestrator.OrchPhase(&abi.OrchPhase{StartTime: at - 50, EndTime: at - 40, TaskID: id, SubmitIdx: uint32(n)})
		token := tokens.Next()
		scheduler.Dispatch(0, token)
		core.Reserve() // then the core acknowledges
		scheduler.Ack(0, token)
		core.Commit(id, token, at+5, at+10, at+60) // behind FIN
		scheduler.Task(0, token, at, at+70)
		scheduler.SchedPhase(&abi.SchedPhase{StartTime: at + 65, EndTime: at + 72, Kind: abi.Complete, TasksProcessed: 1})
	}
	orchestrator.FlushOrch()
	submits.Flush()
	scheduler.Flush([]int{0, 1, 2}, nil) // nil: the cores have left their loops

	// The device has ended: what it waited, and what became of the run.
	stalls := device.Stalls()
	run.Stalled(stalls.Count, stalls.Total)
	run.Stop()
	deps.Stop()
	out, graph := run.Outcome(), deps.Outcome()
	fmt.Println(out.Summary())
	fmt.Println(graph.Submits, "submits, clean:", graph.Clean)

	dir, _ := os.MkdirTemp("", "swimlane")
	defer os.RemoveAll(dir)
	_, err = out.Capture.Export(dir)
	fmt.Println("exported:", err == nil)
	// Output:
	// 12 of 12 records collected, 0 dropped, 0 lost by the host, 0 not flushed
	// 3 submits, clean: true
	// exported: true
}
