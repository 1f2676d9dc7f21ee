package hbg_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// at places tasks at indices, with allocations between them: so a test says whose they are.
func at(tasks map[int]*hbg.Task) *hbg.Graph {
	var list []*hbg.Task
	for n := 0; n < len(tasks); {
		t := tasks[len(list)]
		if t == nil {
			t = &hbg.Task{Spec: &sim.Task{}, Alloc: true}
		} else {
			n++
		}
		list = append(list, t)
	}
	return graphOf(list...)
}

// launch is how a task was published, by whom and when, and its probe.
func (r *records) launch(id uint64) (kind string, scheduler int, published, probe record) {
	for _, s := range r.Schedulers.Streams {
		for _, v := range s.Records {
			switch {
			case v.Task == nil || *v.Task != id:
			case v.Kind == "dispatch" || v.Kind == "worksteal" || v.Kind == "refill":
				kind, scheduler, published = v.Kind, s.Scheduler, v
			case v.Kind == "state_probe":
				probe = v
			}
		}
	}
	return kind, scheduler, published, probe
}

// TestWhatIsStolen: schedulers leave to another one what it has idle cores for, and take
// what is beyond that, each for idle cores of its own. A stolen task costs more.
func TestWhatIsStolen(t *testing.T) {
	b := newAicoreBench(t, 4, abi.SchedPhases)
	// Of scheduler 0 are 0, 4, 8, …: a task, and behind it seven for its two AIVs.
	tasks := map[int]*hbg.Task{0: b.task(on(abi.AIC, 2000))}
	for i := 1; i <= 7; i++ {
		tasks[4*i] = b.task(on(abi.AIV, 9000), 0)
	}
	b.run(at(tasks))
	n := map[string]int{}
	by := map[int]int{}
	for i := 1; i <= 7; i++ {
		kind, scheduler, _, probe := b.records.launch(uint64(4 * i))
		n[kind]++
		by[scheduler]++
		want := b.costs[sim.CoreSchedProbe].Ns + b.costs[sim.CoreSample].Ns
		if kind == "worksteal" {
			want += b.costs[sim.CoreSchedSteal].Ns
		}
		if got := sim.Time(probe.End - probe.Start); got != want { // a cycle is a ns
			t.Errorf("task %d, by %s, is probed for %d ns, want %d", 4*i, kind, got, want)
		}
	}
	// Two run at once on the owner's AIVs; the thieves have six, for the other five.
	if n["dispatch"] != 2 || n["worksteal"] != 5 || by[0] != 2 || slices.Max([]int{by[1], by[2], by[3]}) != 2 {
		t.Errorf("tasks are published as %v, by schedulers %v: want two dispatched by 0, and five stolen", n, by)
	}
}

// TestMixedTasksAreStolen: a MIX task is left to its owner as long as that has the cores
// for it, and the next one is stolen by who has.
func TestMixedTasksAreStolen(t *testing.T) {
	b := newAicoreBench(t, 2, abi.SchedPhases)
	b.costs[sim.CoreSchedDispatch].Ns = 3000 // the owner would take the next one for the slots behind
	mix := func() *hbg.Task {
		return b.task(&sim.Task{Kernels: [3]*sim.Kernel{kernel(0, abi.AIC, 9000), kernel(1, abi.AIV, 9000)}}, 0)
	}
	b.run(at(map[int]*hbg.Task{0: b.task(on(abi.AIV, 2000)), 2: mix(), 4: mix()}))
	first, owner, _, _ := b.records.launch(2)
	second, thief, _, _ := b.records.launch(4)
	if first != "dispatch" || owner != 0 || second != "worksteal" || thief != 1 {
		t.Errorf("the MIX tasks are published by %s of %d and %s of %d, want dispatch of 0 and worksteal of 1", first, owner, second, thief)
	}
}

// TestOwnerThatComputes: what is ready at a scheduler that runs a kernel itself is taken by
// others, although it has an idle core.
func TestOwnerThatComputes(t *testing.T) {
	b := newAicoreBench(t, 2, abi.SchedPhases)
	b.run(at(map[int]*hbg.Task{
		0: b.task(on(abi.AIV, 40_000)), 2: b.task(on(abi.AIV, 40_000)), // on both AIVs of cluster 0
		1: b.task(on(abi.AIV, 9000)), 4: b.task(on(abi.AIC, 100), 1),
	}))
	var end uint64
	for _, k := range b.records.Kernels {
		if k[0] == 2 { // the core that schedules cluster 0
			end = k[4]
		}
	}
	kind, thief, published, _ := b.records.launch(4)
	if end == 0 || kind != "worksteal" || thief != 1 || published.End > end {
		t.Errorf("the task is published by %s of %d at %d, want worksteal of 1 while scheduler 0 computes, until %d", kind, thief, published.End, end)
	}
}

// TestRefillComesBehindInlineTasks: what a completed task makes ready through one that runs
// on no core can take its slot at once.
func TestRefillComesBehindInlineTasks(t *testing.T) {
	b := newAicoreBench(t, 1, abi.SchedPhases)
	b.run(graphOf(b.task(on(abi.AIC, 1000)), b.task(&sim.Task{}, 0), b.task(on(abi.AIC, 1000), 1)))
	type step struct {
		kind string
		task uint64
	}
	var got []step
	first := b.records.of(0)["complete"]
	for _, v := range b.records.Schedulers.Streams[0].Records {
		if v.Start >= first.Start && v.Loop == first.Loop && v.Task != nil {
			got = append(got, step{v.Kind, *v.Task})
		}
	}
	if want := []step{{"complete", 0}, {"resolve", 0}, {"resolve", 1}, {"state_probe", 2}, {"refill", 2}}; !slices.Equal(got, want) {
		t.Errorf("the iteration has %v, want %v", got, want)
	}
}

// TestSchedulersLeave: a scheduler leaves in the iteration in which it sees that nothing is
// left, which is not counted and ends its idle interval; its AICPU thread waits for
// it, and for no other one.
func TestSchedulersLeave(t *testing.T) {
	b := newAicoreBench(t, 3, abi.SchedPhases)
	b.threads = 2 // of clusters 0 and 2, and 1
	for k, c := range b.costs {
		if sim.Cost(k).Observer() || c.Ns > 0 && k >= int(sim.LifeHandshake) && k <= int(sim.LifeExitWait) {
			b.costs[k].Ns = 0
		}
	}
	const period = 3000
	b.costs[sim.CoreSchedLoop].Ns, b.costs[sim.CoreSchedClassify].Ns, b.costs[sim.SchedSample].Ns = period, 700, 0
	b.run(graphOf(b.task(on(abi.AIC, 100_000)), &hbg.Task{Spec: &sim.Task{}, Alloc: true}, &hbg.Task{Spec: &sim.Task{}, Alloc: true}, &hbg.Task{Spec: &sim.Task{}, Alloc: true},
		&hbg.Task{Spec: &sim.Task{}, Alloc: true}))
	var left [3]uint64
	last := b.records.of(0)["resolve"]
	left[0] = last.End + period
	for i, s := range b.records.Schedulers.Streams {
		context := of[abi.WorkerContext](b, abi.WorkerContexts, 3+2*i)
		if i == 0 {
			if context.ProfilingLoopIter != last.Loop {
				t.Errorf("scheduler 0 counts %d iterations, want %d: the one in which it leaves is none", context.ProfilingLoopIter, last.Loop)
			}
			continue
		}
		if len(s.Records) != 2 || s.Records[1].Kind != "idle" {
			t.Fatalf("scheduler %d has %+v, want a bootstrap and an idle interval", i, s.Records)
		}
		boot, idle := s.Records[0], s.Records[1]
		left[i] = idle.End
		if idle.Start != boot.End || idle.Loop != 1 || idle.End < last.End || idle.End > last.End+period || (idle.End-boot.End)%period != 0 {
			t.Errorf("scheduler %d: %+v: want it from %d on to the first iteration behind %d", i, idle, boot.End, last.End)
		}
		if want := (idle.End-boot.End)/period - 1; context.ProfilingLoopIter != want || context.IdleIterationCount != 1 {
			t.Errorf("scheduler %d counts %d iterations and %d idle intervals, want %d and one", i, context.ProfilingLoopIter, context.IdleIterationCount, want)
		}
	}
	if left[1] == left[2] {
		t.Fatalf("schedulers 1 and 2 both leave at %d: the test shows nothing", left[1])
	}
	for thread, want := range []uint64{max(left[0], left[2]), left[1]} {
		if got := uint64(b.records.Lifecycle[thread]["exit_wait_end_cycles"].(float64)); got != want {
			t.Errorf("AICPU thread %d waits until %d, want %d; schedulers leave at %v", thread, got, want, left)
		}
	}
	if uint64(b.report.End) != max(left[0], left[1], left[2]) {
		t.Errorf("the run ends at %d, want %v", b.report.End, left)
	}
}

// TestOwnerThatHolds: a core that is kept for a MIX task is none that the owner has: what
// waits for it is taken by another, who looks again when the core is kept.
func TestOwnerThatHolds(t *testing.T) {
	b := newAicoreBench(t, 2, abi.SchedPhases)
	b.costs[sim.CoreSchedClassify].Ns, b.costs[sim.CoreSchedProbe].Ns = 50_000, 5000
	mix := b.task(&sim.Task{Kernels: [3]*sim.Kernel{kernel(0, abi.AIC, 10), nil, kernel(1, abi.AIV, 10)}}, 3)
	const us = 1000 // cycles
	// Scheduler 1 has less to classify, and so begins first. It fills both slots of its second
	// AIV, and runs 3 itself. When that is done the MIX task waits for that AIV, and keeps the AIC.
	b.run(at(map[int]*hbg.Task{
		1: b.task(on(abi.AIV, 900*us)), 3: b.task(on(abi.AIV, 100*us)), 5: b.task(on(abi.AIV, 900*us)), 7: mix, 9: b.task(on(abi.AIC, us), 3),
		10: b.task(&sim.Task{}),
	}))
	kind, thief, published, _ := b.records.launch(9)
	if held := b.records.of(7); kind != "worksteal" || thief != 0 || published.Start < held["state_probe"].End || published.End > held["dispatch"].Start {
		t.Errorf("the AIC task is published by %s of %d at %d, want worksteal of 0 while the MIX task is held, from %d to %d",
			kind, thief, published.End, held["state_probe"].End, held["dispatch"].Start)
	}
}

// TestOwnerThatBeginsToCompute: what an owner could have placed and has not seen, because it
// came while it placed something else, is taken when the owner begins to compute.
func TestOwnerThatBeginsToCompute(t *testing.T) {
	b := newAicoreBench(t, 2, abi.SchedPhases)
	b.costs[sim.CoreSchedDispatch].Ns, b.costs[sim.CoreSchedResolve].Ns = 20_000, 60_000
	const us = 1000 // cycles
	// Task 2 of scheduler 0 is done 30 µs before task 1 of scheduler 1. So 0 has resolved it
	// after 60 µs and publishes 4 until 80 µs, 6 behind it until 100 µs; at 90 µs 8 is ready, for
	// which 0 has an idle AIC. Then 0 runs 4.
	b.run(at(map[int]*hbg.Task{
		0: b.task(on(abi.AIV, 2000*us)), 2: b.task(on(abi.AIC, 100*us)), 1: b.task(on(abi.AIC, 130*us)),
		4: b.task(on(abi.AIV, 500*us), 2), 6: b.task(on(abi.AIV, 500*us), 2), 8: b.task(on(abi.AIC, us), 1),
	}))
	var run [6]uint64
	for _, k := range b.records.Kernels {
		if k[1] == 4 {
			run = k
		}
	}
	kind, thief, published, _ := b.records.launch(8)
	if _, _, last, _ := b.records.launch(6); run[0] != 2 || b.records.of(1)["resolve"].End < last.Start || b.records.of(1)["resolve"].End > last.End {
		t.Fatalf("task 8 is ready at %d, want it while task 6 is published, from %d to %d; task 4 runs on core %d", b.records.of(1)["resolve"].End, last.Start, last.End, run[0])
	}
	if kind != "worksteal" || thief != 1 || published.End > run[4] {
		t.Errorf("task 8 is published by %s of %d at %d, want worksteal of 1 while scheduler 0 runs task 4, from %d to %d", kind, thief, published.End, run[3], run[4])
	}
}

// TestOwnerThatRunsWhatItPlaced: what became ready at an owner behind its last look at its
// slots, and behind all that it placed, is taken as soon as the owner runs a kernel itself.
func TestOwnerThatRunsWhatItPlaced(t *testing.T) {
	b := newAicoreBench(t, 2, abi.ScheduleTiming) // resolving leaves no record, so 1 looks again at once
	const us, line = 1000, 50_000
	b.costs[sim.CoreSchedDispatch].Ns, b.costs[sim.CoreSchedResolve].Ns, b.costs[sim.CoreSchedRecord].Ns = 20_000, 60_000, line
	// Task 1 keeps scheduler 1 busy while 0 places 4 on its own core and 6 behind task 0. While
	// 0 writes its line about 6, task 8 is ready, for which it has an idle AIC. Then 0 runs 4.
	b.run(at(map[int]*hbg.Task{
		0: b.task(on(abi.AIV, 2000*us)), 2: b.task(on(abi.AIC, 100*us)), 1: b.task(on(abi.AIC, 210*us)),
		4: b.task(on(abi.AIV, 500*us), 2), 6: b.task(on(abi.AIV, 500*us), 2), 8: b.task(on(abi.AIC, us), 1),
	}))
	var kernels [9][6]uint64
	for _, k := range b.records.Kernels {
		kernels[k[1]] = k
	}
	var timings [9][4]uint64
	for _, v := range b.records.Timings.Records {
		timings[v[1]] = v
	}
	ready := timings[1][3] + 2*line + uint64(b.costs[sim.CoreSchedComplete].Ns+b.costs[sim.CoreSchedResolve].Ns)
	if end := timings[6][2]; ready <= end-line || ready+us >= end || timings[6][0] != timings[0][0] || kernels[4][0] != 2 {
		t.Fatalf("task 8 is ready at %d, want it while the line about task 6 is written, until %d; tasks 0, 6 and 4 run on cores %d, %d and %d, want one for 0 and 6, and 2 for 4",
			ready, end, timings[0][0], timings[6][0], kernels[4][0])
	}
	if kernels[8][0] != 1 || kernels[8][4] > kernels[4][4] {
		t.Errorf("task 8 runs on core %d until %d, want the AIC of cluster 1 while scheduler 0 runs task 4, until %d", kernels[8][0], kernels[8][4], kernels[4][4])
	}
}

// TestOwnerThatIdles: what becomes ready at an owner that has idle cores for it is left to
// it, also if it sees that later than the one that made it ready; whether it has run a
// kernel itself before does not matter.
func TestOwnerThatIdles(t *testing.T) {
	for _, computed := range []bool{false, true} {
		for name, kernels := range map[string][3]*sim.Kernel{
			"aic": {kernel(0, abi.AIC, 100)}, "aiv": {nil, kernel(1, abi.AIV, 100)}, "mix": {kernel(0, abi.AIC, 100), kernel(1, abi.AIV, 100)},
		} {
			b := newAicoreBench(t, 2, abi.SchedPhases)
			b.costs[sim.CoreSchedLoop].Ns = 20_000
			const us = 1000 // cycles
			tasks := map[int]*hbg.Task{1: b.task(on(abi.AIC, 500*us)), 8: b.task(&sim.Task{Kernels: kernels}, 1)}
			if computed {
				tasks[0], tasks[2] = b.task(on(abi.AIV, 10*us)), b.task(on(abi.AIV, 10*us)) // on both AIVs of cluster 0
			}
			b.run(at(tasks))
			own := slices.ContainsFunc(b.records.Kernels, func(k [6]uint64) bool { return k[0] == 2 && k[1] < 8 })
			if own != computed {
				t.Fatalf("%s: scheduler 0 has run a kernel before: %v, want %v", name, own, computed)
			}
			kind, scheduler, published, _ := b.records.launch(8)
			resolved := b.records.of(1)["resolve"]
			if kind != "dispatch" || scheduler != 0 {
				t.Errorf("%s, after a kernel of its own %v: the task is published by %s of %d, want dispatch of 0", name, computed, kind, scheduler)
			} else if published.Start < resolved.End+us {
				t.Errorf("%s: the task is published at %d, and ready before %d: there was no time to steal it", name, published.Start, resolved.End)
			}
		}
	}
}
