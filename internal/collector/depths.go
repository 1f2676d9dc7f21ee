package collector

import (
	"fmt"
	"strconv"
	"strings"

	"swimlane/internal/abi"
)

// Depths say how many buffers of each kind are allocated before a run, under the
// names that kernel engineers know (spec/device-abi.md §1). More buffers ride out
// a slower host. How many records a buffer holds is fixed by the device.
type Depths struct {
	ProfBuffersPerCore    int // PROF_BUFFERS_PER_CORE: AicpuTask, per core
	AicoreBuffersPerCore  int // AICORE_BUFFERS_PER_CORE: AicoreTask, per core
	SchedBuffersPerThread int // SCHED_BUFFERS_PER_THREAD
	OrchBuffersPerThread  int // ORCH_BUFFERS_PER_THREAD
}

// Names of the depths.
const (
	profBuffersPerCore    = "PROF_BUFFERS_PER_CORE"
	aicoreBuffersPerCore  = "AICORE_BUFFERS_PER_CORE"
	schedBuffersPerThread = "SCHED_BUFFERS_PER_THREAD"
	orchBuffersPerThread  = "ORCH_BUFFERS_PER_THREAD"
)

// maxDepth keeps a typing error from taking all memory.
const maxDepth = 4096

// DefaultDepths are the depths of spec/device-abi.md §1.
func DefaultDepths() Depths {
	return Depths{abi.ProfBuffersPerCore, abi.AicoreBuffersPerCore, abi.SchedBuffersPerThread, abi.OrchBuffersPerThread}
}

// Set sets one depth from NAME=COUNT.
func (d *Depths) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	field := d.field(name)
	if !ok || field == nil {
		return fmt.Errorf("%q sets no pool depth: expected %s, %s, %s or %s, then = and a number", text,
			profBuffersPerCore, aicoreBuffersPerCore, schedBuffersPerThread, orchBuffersPerThread)
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxDepth {
		return fmt.Errorf("%s=%s: expected a number of buffers from 1 to %d", name, value, maxDepth)
	}
	*field = n
	return nil
}

func (d *Depths) field(name string) *int {
	switch name {
	case profBuffersPerCore:
		return &d.ProfBuffersPerCore
	case aicoreBuffersPerCore:
		return &d.AicoreBuffersPerCore
	case schedBuffersPerThread:
		return &d.SchedBuffersPerThread
	case orchBuffersPerThread:
		return &d.OrchBuffersPerThread
	}
	return nil
}

// of is the depth for a kind, and its name.
func (d *Depths) of(k abi.Kind) (n int, name string) {
	name = [abi.Kinds]string{
		abi.KindAicpuTask: profBuffersPerCore, abi.KindAicoreTask: aicoreBuffersPerCore,
		abi.KindSchedPhase: schedBuffersPerThread, abi.KindOrchPhase: orchBuffersPerThread,
	}[k]
	return *d.field(name), name
}

// rings are the capacities of spec/collector.md §3.3, and more where the pools
// are deeper: a lane holds whatever is seeded beyond the free queues, even with
// one shard for all cores.
func (d *Depths) rings(a *abi.Arch) capacities {
	prof, aicore := max(d.ProfBuffersPerCore, abi.ProfBuffersPerCore), max(d.AicoreBuffersPerCore, abi.AicoreBuffersPerCore)
	sched, orch := max(d.SchedBuffersPerThread, abi.SchedBuffersPerThread), max(d.OrchBuffersPerThread, abi.OrchBuffersPerThread)
	return capacities{
		handoff:  a.ReadyQueueSize,
		done:     a.MaxCores*(prof+aicore) + a.MaxThreads*(sched+orch),
		recycled: max(a.MaxCores*max(prof, aicore), a.MaxThreads*max(sched, orch)),
	}
}

func (d *Depths) check() error {
	for k := range abi.Kind(abi.Kinds) {
		if n, name := d.of(k); n < 1 || n > maxDepth {
			return fmt.Errorf("%s is %d: expected 1 to %d buffers", name, n, maxDepth)
		}
	}
	return nil
}
