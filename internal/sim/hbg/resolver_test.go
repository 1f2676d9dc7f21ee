package hbg_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// script runs a resolver of which all that takes time is known, in cycles of a5, which
// are ns: an iteration 100, a poll 20, a look into a queue 30, a sample of depths 10, the
// time of a dummy 10, a record 40. A sample at a time has a tenth of that as the depth of the AIV queue.
func script(t *testing.T, spin bool, resolved int, steps ...hbg.ScriptStep) []abi.SchedPhase {
	t.Helper()
	b := newBench(t, abi.A5, 1, abi.SchedPhases)
	b.threads, b.spin = 2, spin
	for k := range b.costs {
		b.costs[k].Ns = 0
	}
	for k, ns := range map[sim.Cost]sim.Time{
		sim.OrchScope: 1, sim.SchedLoop: 100, sim.SchedPoll: 20, sim.SchedPop: 30, sim.SchedDepth: 10, sim.SchedSample: 10, sim.SchedPhaseRecord: 40,
	} {
		b.costs[k].Ns = ns
	}
	if _, err := b.collect(func(c hbg.Config) (*hbg.Report, error) { return nil, hbg.RunScript(c, steps, resolved, 10, 1000) }); err != nil {
		t.Fatal(err)
	}
	return b.phases(1)
}

// TestResolverScript: what a resolver records, to the cycle, where all is known that
// happens (spec/collector.md §13, P iteration; §2.12).
func TestResolverScript(t *testing.T) {
	const finishes, waits, dummies = hbg.Finishes, hbg.Waits, hbg.DummyReady
	for _, v := range []struct {
		name     string
		resolved int
		steps    []hbg.ScriptStep
		want     []abi.SchedPhase // times since the threads began; depths of the AIV queue
	}{
		// The thread begins with a sample until 10. Iterations begin at 10, 140 and 260:
		// each takes 100, then polls, and the first one samples before its poll, at 120. The
		// task is due at 370, so the third poll, until 380, resolves it.
		{"a poll that resolves one task ends its record", 1, []hbg.ScriptStep{{At: 52, Kind: waits, Wait: 318}}, []abi.SchedPhase{
			phase(abi.AsyncPoll, 3, 320, 380, 1, 12, 39),
		}},
		// Both are due when the second poll looks.
		{"a poll that resolves two", 2, []hbg.ScriptStep{{At: 52, Kind: waits, Wait: 200, Count: 2}}, []abi.SchedPhase{
			phase(abi.AsyncPoll, 2, 220, 260, 2, 12, 27),
		}},
		// One poll, 120 to 140, then a task has finished when the second iteration looks, at
		// 240: the polls are recorded before the pass takes its sample, 10 and 40 later. The
		// poll behind the pass is the first of the next record.
		{"a pass flushes polls at its beginning", 2, []hbg.ScriptStep{{At: 52, Kind: waits, Wait: 448}, {At: 152, Kind: finishes}}, []abi.SchedPhase{
			phase(abi.AsyncPoll, 2, 220, 240, 0, 12, 25), phase(abi.ResolveStandalone, 2, 240, 340, 1, 30, 34),
			// Sample until 390, poll until 410; the next iteration polls from 510 until 530.
			phase(abi.AsyncPoll, 3, 490, 530, 1, 39, 54),
		}},
		// A dummy is ready when the second iteration looks: behind its poll, which is counted, and
		// behind the look into the queue, at 290.
		{"so does a pass of dummies, behind the poll", 3, []hbg.ScriptStep{{At: 52, Kind: waits, Wait: 448}, {At: 152, Kind: dummies, Count: 2}}, []abi.SchedPhase{
			phase(abi.AsyncPoll, 2, 250, 290, 0, 12, 30), phase(abi.Dummy, 2, 290, 380, 2, 35, 38),
			// From 420 on: a sample at 530, polls until 550.
			phase(abi.AsyncPoll, 3, 530, 550, 1, 53, 56),
		}},
		// All three in one iteration: the pass, the poll, which resolves one, the dummies.
		{"order of an iteration", 3, []hbg.ScriptStep{{At: 52, Kind: finishes}, {At: 54, Kind: dummies}, {At: 56, Kind: waits, Wait: 1}}, []abi.SchedPhase{
			phase(abi.ResolveStandalone, 1, 110, 160, 1, 12, 16), phase(abi.AsyncPoll, 1, 210, 230, 1, 21, 24), phase(abi.Dummy, 1, 310, 340, 1, 32, 34),
		}},
		// Nine dummies are two batches, and one record.
		{"batches of dummies", 9, []hbg.ScriptStep{{At: 52, Kind: dummies, Count: 9}}, []abi.SchedPhase{
			phase(abi.Dummy, 1, 140, 280, 9, 15, 28),
		}},
		// The thread leaves although something is waited for: its polls are recorded then.
		{"the end flushes polls", 1, []hbg.ScriptStep{{At: 52, Kind: waits, Wait: 1 << 30}, {At: 152, Kind: finishes}}, []abi.SchedPhase{
			phase(abi.AsyncPoll, 2, 220, 240, 0, 12, 25), phase(abi.ResolveStandalone, 2, 240, 340, 1, 30, 34),
			phase(abi.AsyncPoll, 2, 490, 510, 0, 39, 52),
		}},
	} {
		for _, spin := range []bool{false, true} {
			got := script(t, spin, v.resolved, v.steps...)
			for i := range got {
				got[i].StartTime -= uint64(sim.Boot)
				got[i].EndTime -= uint64(sim.Boot)
			}
			if !slices.Equal(got, v.want) {
				t.Errorf("%s (every iteration: %v):\n%+v, want\n%+v", v.name, spin, got, v.want)
			}
		}
	}
}

// phase is a record of the resolver.
func phase(k abi.PhaseKind, iter uint32, start, end uint64, tasks uint32, from, to int16) abi.SchedPhase {
	p := abi.SchedPhase{Kind: k, LoopIter: iter, StartTime: start, EndTime: end, TasksProcessed: tasks}
	p.SharedDepthAtStart[abi.ShapeAIV], p.SharedDepthAtEnd[abi.ShapeAIV] = from, to
	return p
}
