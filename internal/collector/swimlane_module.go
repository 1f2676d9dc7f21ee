package collector

import (
	"fmt"

	"swimlane/internal/abi"
)

// swimlaneModule is the swimlane on the exchange.
type swimlaneModule struct {
	opt    *Options
	layout *abi.Region
	specs  []kindSpec
	places []poolSpec
	first  [abi.Kinds]int // index in places of the first pool of each kind
	sink   func(shard int, d *handoff) (hold bool)
}

func newSwimlaneModule(o *Options, l *abi.Region) *swimlaneModule {
	m := &swimlaneModule{opt: o, layout: l}
	batches := [abi.Kinds]int{4, 2, 4, 1}
	for k := range abi.Kind(abi.Kinds) {
		_, option := o.Depths.of(k)
		m.specs = append(m.specs, kindSpec{name: abi.Buffers[k].Name, buffer: abi.Buffers[k], batch: batches[k], target: m.target(k), option: option})
	}
	for _, k := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask, abi.KindSchedPhase, abi.KindOrchPhase} {
		m.first[k] = len(m.places)
		n := l.Pools(k)
		if k == abi.KindAicpuTask || k == abi.KindAicoreTask {
			n = o.Cores
		}
		for i := range n {
			at := l.Pool(k, i)
			m.places = append(m.places, poolSpec{kind: int(k), index: i, pool: at, current: at, queue: at + abi.PoolFreeOffset})
		}
	}
	return m
}

// target is how many free buffers of a kind each shard keeps ready
// (spec/collector.md §4.5): half of what the cores' pools have beyond a full free
// queue.
func (m *swimlaneModule) target(k abi.Kind) func(shards int) int {
	depth, _ := m.opt.Depths.of(k)
	switch k {
	case abi.KindAicpuTask, abi.KindAicoreTask:
		return func(shards int) int {
			want := (max(depth-abi.SlotCount, 0)*((m.opt.Arch.MaxCores+shards-1)/shards) + 1) / 2
			if k == abi.KindAicoreTask {
				want = max(want, 1)
			}
			return want
		}
	}
	return nil
}

func (m *swimlaneModule) name() string             { return "ChipSwimlane" }
func (m *swimlaneModule) header() *abi.QueueHeader { return &m.layout.QueueHeader }
func (m *swimlaneModule) freeQueue() abi.FreeQueueLayout {
	return abi.FreeQueueLayout{Slots: abi.SlotCount}
}
func (m *swimlaneModule) kinds() []kindSpec              { return m.specs }
func (m *swimlaneModule) maxShards() int                 { return m.opt.Arch.MaxThreads }
func (m *swimlaneModule) pools() []poolSpec              { return m.places }
func (m *swimlaneModule) collect(s int, d *handoff) bool { return m.sink(s, d) }

func (m *swimlaneModule) resolve(e *abi.ReadyEntry) (pool int, err error) {
	n := m.opt.Cores
	switch e.Kind {
	case abi.KindAicpuTask, abi.KindAicoreTask:
		if e.CoreIndex >= uint32(n) {
			return -1, fmt.Errorf("invalid task entry: core=%d kind=%d", e.CoreIndex, e.Kind)
		}
	case abi.KindSchedPhase, abi.KindOrchPhase:
		if e.CoreIndex >= uint32(m.opt.Arch.MaxThreads) {
			return -1, fmt.Errorf("invalid phase entry: thread=%d", e.CoreIndex)
		}
	default:
		return -1, fmt.Errorf("invalid entry kind=%d", uint32(e.Kind))
	}
	return m.first[e.Kind] + int(e.CoreIndex), nil
}

// live takes the phase pools in that the device has announced. A count that
// cannot be is none.
func (m *swimlaneModule) live(p *port) (func(kind, index int) bool, error) {
	sched, err := p.load32(m.layout.NumSchedPhaseThreads)
	if err != nil {
		return nil, err
	}
	orch, err := p.load32(m.layout.NumOrchPhaseThreads)
	if err != nil {
		return nil, err
	}
	threads := uint32(m.opt.Arch.MaxThreads)
	if sched > threads {
		sched = 0
	}
	if orch > threads {
		orch = 0
	}
	return func(kind, index int) bool {
		switch abi.Kind(kind) {
		case abi.KindSchedPhase:
			return index < int(sched)
		case abi.KindOrchPhase:
			return index < int(orch)
		}
		return true
	}, nil
}
