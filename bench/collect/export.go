//go:build linux

package main

import (
	"fmt"
	"runtime"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
)

// exportTasks is how many tasks the exported capture has: both kinds of task
// records, and a phase record for each fourth.
const exportTasks = 4_000_000

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

// measureExport collects a capture as a run does, and measures the memory of the
// kept records and the speed of the export.
func measureExport(b *bars) error {
	j := job{transport: "mapped", kind: "aicpu", pools: 72}
	dev, mem, err := j.device()
	if err != nil {
		return err
	}
	defer dev.Close()
	c, err := collector.New(collector.Options{Arch: abi.A2A3, Cores: j.pools, Threads: 2, Level: abi.SchedPhases, Shards: 1, Memory: mem})
	if err != nil {
		return err
	}
	defer c.Finalize()
	run, err := c.Begin(collector.RunOptions{Level: abi.SchedPhases, Runtime: "tensormap_and_ringbuffer"})
	if err != nil {
		return err
	}
	before := heap()
	if err := run.Start(); err != nil {
		return err
	}
	d, err := producer.Attach(producer.Config{
		Region: c.Layout(), Space: dev.Space(), RegionAddr: c.DataBase(), RotationTable: c.RotationTable(),
		Enable: abi.EnableSwimlane, Cores: j.pools,
	})
	if err != nil {
		return err
	}
	if err := d.InitPhases(1, 0); err != nil {
		return err
	}
	t := d.Thread(0)
	cores := make([]*producer.Core, j.pools)
	for i := range cores {
		cores[i] = d.Core(i)
	}
	const start = 88_932_781_237_285_536 // as long a number as a real device's clock shows
	for i := range exportTasks {
		core, token, at := i%j.pools, uint32(i/j.pools+1), start+uint64(i)*40
		t.Dispatch(core, token)
		cores[core].Reserve()
		t.Ack(core, token)
		cores[core].Commit(abi.TaskID(1, uint32(i)), token, at+60, at+100, at+2000)
		t.Task(core, token, at, at+2100)
		if i%4 == 0 {
			p := abi.SchedPhase{StartTime: at, EndTime: at + 30, LoopIter: uint32(i), Kind: abi.Dispatch, TasksProcessed: 4}
			p.SetPops(4, 1)
			t.SchedPhase(&p)
		}
	}
	t.Flush(j.cores(), nil)
	run.Stop()
	out := run.Outcome()
	kept := heap() - before
	raw := 0
	for kind, shape := range abi.Buffers {
		raw += out.Capture.Count(abi.Kind(kind)) * shape.RecordSize
	}
	b.retained = float64(kept) / float64(raw)
	var size counter
	from := time.Now()
	if err := out.Capture.Write(&size); err != nil {
		return err
	}
	took := time.Since(from)
	b.export = float64(size.n) / 1e6 / took.Seconds()
	fmt.Printf("\nExport: %d tasks, %.0f MB of records kept in %.0f MB, %.0f MB of JSON in %.2f s\n", exportTasks, float64(raw)/1e6, float64(kept)/1e6, float64(size.n)/1e6, took.Seconds())
	runtime.KeepAlive(out)
	return nil
}

// heap is how much memory Go's live objects take.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// soak sends many records through every transport and kind and checks each sum.
func soak(cfg config) error {
	for _, transport := range cfg.transport {
		for _, kind := range cfg.kinds {
			for _, pools := range cfg.pools {
				j := job{transport: transport, kind: kind, pools: pools, records: cfg.soak, shards: cfg.shards, policy: cfg.policy}
				all, err := j.run(1)
				if err != nil {
					return fmt.Errorf("%s, %s records, %d pools: %w", transport, kind, pools, err)
				}
				r := all[0]
				sum := "checksum ok"
				if r.lost > 0 {
					sum = "no checksum of what is left"
				}
				fmt.Printf("%s, %s records, %d pools: %d collected, %d lost, %s, %.1f s, %.1f M records/s, %d stalls of %.1f ms\n",
					transport, kind, pools, r.collected, r.lost, sum, r.wall.Seconds(), r.rate()/1e6, r.stalls.Count, float64(r.stalls.Total.Microseconds())/1e3)
			}
		}
	}
	return nil
}
