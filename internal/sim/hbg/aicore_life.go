package hbg

import (
	"fmt"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// aicoreLife is what AICPU threads do for a run: they begin it and end it, and
// schedule nothing (spec/collector.md §14).
type aicoreLife struct {
	threads                      []*sim.Thread
	greeted, configured, offered int // threads that have come so far
}

// startLife starts the AICPU threads.
func (r *aicoreRun) startLife(at sim.Time) {
	for i := range r.Threads {
		r.life.threads = append(r.life.threads, nil)
		r.life.threads[i] = r.engine.Start(fmt.Sprintf("AICPU thread %d", i), at, func(t *sim.Thread) { r.live(i, t) })
	}
}

// await waits until something is so that another thread brings about.
func (r *aicoreRun) await(t *sim.Thread, so func() bool) {
	for !so() {
		t.Sleep(sim.Never)
	}
}

// call wakes the AICPU threads.
func (l *aicoreLife) call(at sim.Time) {
	for _, t := range l.threads {
		t.Wake(at)
	}
}

// live is the life of an AICPU thread. Its stamps are there from ScheduleTiming on.
func (r *aicoreRun) live(index int, t *sim.Thread) {
	trace := abi.View[abi.AicpuThreadLifecycleTrace](r.mem, r.layout.Of(abi.LifecycleTraces, index))
	stamp := func(at *uint64) {
		if r.Level >= abi.ScheduleTiming {
			t.Advance(r.cost(sim.SchedSample))
			*at = r.Chip.Counter(t.Now())
		}
	}
	if r.Level >= abi.ScheduleTiming {
		trace.AicpuThreadID = uint64(index)
	}
	var cores []*sim.Core
	for _, c := range r.Chip.Cores {
		if c.Cluster%r.Threads == index {
			cores = append(cores, c)
		}
	}
	each := func(k sim.Cost) { t.Advance(sim.Time(len(cores)) * r.cost(k)) }
	l := &r.life

	stamp(&trace.HandshakeStart)
	each(sim.LifeHandshake)
	stamp(&trace.HandshakeComplete)
	l.greeted++
	l.call(t.Now())
	if index == 0 {
		r.await(t, func() bool { return l.greeted == r.Threads })
		stamp(&trace.ConfigStart)
		t.Advance(r.cost(sim.LifeTopology))
		stamp(&trace.TopologyComplete)
		l.configured++
		l.call(t.Now())
	}
	r.await(t, func() bool { return l.configured > 0 })
	stamp(&trace.ContextPublishStart)
	each(sim.LifeContext)
	stamp(&trace.ContextPublishComplete)
	if l.offered++; l.offered == r.Threads {
		r.report.Start = t.Now()
		r.wakeAll(t.Now())
	}
	stamp(&trace.BootstrapWaitStart)
	r.await(t, func() bool { return r.control.BootstrapComplete != 0 })
	stamp(&trace.BootstrapComplete)
	stamp(&trace.RegisterReleaseStart)
	each(sim.LifeRelease)
	stamp(&trace.RegisterReleaseEnd)
	r.await(t, r.finished)
	stamp(&trace.ExitSignalStart)
	each(sim.LifeExit)
	stamp(&trace.ExitSignalEnd)
	stamp(&trace.ExitWaitStart)
	r.await(t, func() bool { return r.left(cores) })
	t.Advance(r.cost(sim.LifeExitWait))
	stamp(&trace.ExitWaitEnd)
	r.end = max(r.end, t.Now())
}

// left tells whether the schedulers of some cores have come to their end.
func (r *aicoreRun) left(cores []*sim.Core) bool {
	for _, c := range cores {
		if !r.scheds[c.Cluster].left {
			return false
		}
	}
	return true
}
