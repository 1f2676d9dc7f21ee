package collector_test

import (
	"bytes"
	"fmt"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
)

// TestShardsGiveTheSameFile: the same production through any number of shards, over
// both transports, in one run or in the second of a collector, is the same file
// to the last byte.
func TestShardsGiveTheSameFile(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		shardCounts := []int{1, 2, 4}
		if arch == abi.A5 {
			shardCounts = []int{1, 5}
		}
		// Threads drive several cores, and each thread has its own ready queue.
		l := load{tasks: 2500, phases: 700, submits: 900}
		var want []byte
		for _, shards := range shardCounts {
			for _, shadow := range []bool{false, true} {
				name := fmt.Sprintf("%s/shards=%d/shadow=%v", arch.Name, shards, shadow)
				t.Run(name, func(t *testing.T) {
					c := newChip(t, setup{arch: arch, shadow: shadow, cores: 4, threads: arch.MaxThreads, shards: shards, level: abi.OrchPhases})
					if shadow {
						run := c.begin() // whose records must not show
						c.operateInOrder(load{tasks: 1100, phases: 100, submits: 100, leave: 1})
						run.Stop()
					}
					run := c.begin()
					c.operateInOrder(l)
					run.Stop()
					o := run.Outcome()
					checkSums(t, o)
					for kind, total := range [abi.Kinds]uint64{
						abi.KindAicpuTask: 4 * 2500, abi.KindAicoreTask: 4 * 2500,
						abi.KindSchedPhase: 700 * uint64(arch.MaxThreads-1), abi.KindOrchPhase: 900,
					} {
						if got, want := o.Capture.Accounting.Kinds[kind], (collector.Account{Total: total, Collected: total}); got != want {
							t.Errorf("kind %d: %+v, want %+v", kind, got, want)
						}
					}
					var file bytes.Buffer
					if err := o.Capture.Write(&file); err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want = file.Bytes()
					}
					if !bytes.Equal(file.Bytes(), want) {
						t.Errorf("the file differs from that of 1 shard in shared memory: %d bytes and %d", file.Len(), len(want))
					}
				})
			}
		}
	}
}

// operateInOrder runs all threads of a device in one goroutine, a few tasks of
// each in turn, so that the order of all records is the same each time.
func (c *chip) operateInOrder(l load) {
	d := c.launch()
	scheds := c.threads - 1
	orch := d.Thread(scheds)
	d.AnnounceOrchestrator(scheds)
	owners, cores := make([]int8, c.cores), make([]*producer.Core, c.cores)
	for i := range owners {
		owners[i], cores[i] = int8(i%scheds), d.Core(i)
	}
	if err := d.PublishCores(owners); err != nil {
		c.t.Fatal(err)
	}
	phases, submits := 0, 0
	for n := range l.tasks {
		for i, owner := range owners {
			task(d.Thread(int(owner)), cores[i], i, n)
		}
		for ; phases < l.phases*(n+1)/l.tasks; phases++ {
			for t := range scheds {
				p := schedRecord(t, phases)
				d.Thread(t).SchedPhase(&p)
			}
		}
		for ; submits < l.submits*(n+1)/l.tasks; submits++ {
			o := orchRecord(submits)
			orch.OrchPhase(&o)
		}
	}
	if l.leave > 0 {
		return
	}
	for t := range scheds {
		var mine []int
		for i, owner := range owners {
			if int(owner) == t {
				mine = append(mine, i)
			}
		}
		d.Thread(t).Flush(mine, nil)
	}
	orch.FlushOrch()
}
