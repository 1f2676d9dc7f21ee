package hbg_test

import (
	"cmp"
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// records of one task, by kind.
func (r *records) of(id uint64) map[string]record {
	out := map[string]record{}
	for _, s := range r.Schedulers.Streams {
		for _, v := range s.Records {
			if v.Task != nil && *v.Task == id {
				out[v.Kind] = v
			}
		}
	}
	return out
}

// TestLifeOfAicpuThreads: AICPU threads begin and end the run in the order of
// spec/collector.md §14, and only the first one works out the topology.
func TestLifeOfAicpuThreads(t *testing.T) {
	b := newAicoreBench(t, 3, abi.SchedPhases)
	b.threads = 5 // more than clusters: two of them have no cores
	b.run(fanOut(b))
	if len(b.records.Lifecycle) != 5 {
		t.Fatalf("%d life cycles, want 5", len(b.records.Lifecycle))
	}
	at := func(row map[string]any, key string) uint64 { return uint64(row[key+"_cycles"].(float64)) }
	topology := at(b.records.Lifecycle[0], "topology_complete")
	offered, bootstraps, last := uint64(0), uint64(0), uint64(0)
	for _, row := range b.records.Lifecycle {
		offered = max(offered, at(row, "context_publish_complete"))
	}
	for _, s := range b.records.Schedulers.Streams {
		if s.Records[0].Start < offered {
			t.Errorf("scheduler %d begins at %d, before it has its context at %d", s.Scheduler, s.Records[0].Start, offered)
		}
		bootstraps = max(bootstraps, s.Records[0].End)
		for _, v := range s.Records {
			if v.Kind == "resolve" {
				last = max(last, v.End)
			}
		}
	}
	for i, row := range b.records.Lifecycle {
		steps := []string{"handshake_start", "handshake_complete", "config_start", "topology_complete", "context_publish_start", "context_publish_complete",
			"bootstrap_wait_start", "bootstrap_complete", "register_release_start", "register_release_end", "exit_signal_start", "exit_signal_end", "exit_wait_start", "exit_wait_end"}
		if row["aicpu_thread_id"] != float64(i) {
			t.Errorf("row %d is of thread %v", i, row["aicpu_thread_id"])
		}
		if i > 0 {
			if at(row, "config_start") != 0 || at(row, "topology_complete") != 0 {
				t.Errorf("thread %d works out the topology: %v", i, row)
			}
			steps = slices.Delete(steps, 2, 4)
		}
		for k := 1; k < len(steps); k++ {
			if from, to := at(row, steps[k-1]), at(row, steps[k]); from == 0 || from > to {
				t.Errorf("thread %d: %s at %d, %s at %d", i, steps[k-1], from, steps[k], to)
			}
		}
		if at(row, "context_publish_start") < topology || at(row, "bootstrap_complete") < bootstraps || at(row, "exit_signal_start") < last {
			t.Errorf("thread %d goes on before the topology is known at %d, bootstraps have ended at %d, all is resolved at %d: %v", i, topology, bootstraps, last, row)
		}
	}
	for level, rows := range map[abi.Level]int{abi.TaskTiming: 0, abi.ScheduleTiming: 5} {
		b.level = level
		b.records = records{}
		b.run(fanOut(b))
		if len(b.records.Lifecycle) != rows {
			t.Errorf("level %d has %d life cycles, want %d", level, len(b.records.Lifecycle), rows)
		}
	}
}

// TestSectionsByLevel: spec/collector.md §7.6.
func TestSectionsByLevel(t *testing.T) {
	for level := abi.TaskTiming; level <= abi.OrchPhases; level++ {
		b := newAicoreBench(t, 2, level)
		b.run(fanOut(b))
		if len(b.records.Kernels) != 35 || (b.records.Timings != nil) != (level >= 2) || (b.records.Lifecycle != nil) != (level >= 2) || (b.records.Schedulers != nil) != (level >= 3) {
			t.Errorf("level %d has %d rows, scheduler tasks: %v, life cycles: %v, scheduler records: %v", level, len(b.records.Kernels), b.records.Timings != nil, b.records.Lifecycle != nil, b.records.Schedulers != nil)
		}
		b.read("")
		// What a level does not ask for is not written at all.
		trace := of[abi.TaskTrace](b, abi.TaskTraces, 3)
		for _, v := range []struct {
			from abi.Level
			is   bool
		}{
			{1, trace.Valid != 0 && trace.KernelStart != 0 && trace.KernelEnd != 0 && trace.ReadyObserve != 0},
			{2, trace.DispatchEnd != 0}, {2, trace.CompleteStart != 0},
			{3, trace.StateProbeStart != 0}, {3, trace.DispatchStart != 0}, {3, trace.CompleteEnd != 0}, {3, of[abi.TaskControl](b, abi.TaskControls, 3).CompletionResolveStart != 0},
			{3, of[abi.WorkerContext](b, abi.WorkerContexts, 2).BootstrapStartCycles != 0},
		} {
			if v.is != (level >= v.from) {
				t.Errorf("level %d, of level %d: %v: %+v", level, v.from, v.is, *trace)
			}
		}
	}
}

// gang is a run in which cores are busy for different times when a task becomes ready
// whose blocks start together, with other tasks behind it, MIX tasks among them or not.
func gang(t *testing.T, clusters int, kernels [3]*sim.Kernel, behind int, mixed bool) (b *aicoreBench, id int) {
	b = newAicoreBench(t, clusters, abi.SchedPhases)
	spec := &sim.Task{Kernels: kernels, Blocks: clusters, SyncStart: true}
	if kernels[0] == nil {
		spec.Blocks = 2 * clusters
	}
	tasks := []*hbg.Task{b.task(on(abi.AIV, 10))}
	for i := range clusters {
		tasks = append(tasks, b.task(on(abi.AIC, 4000+uint64(i)*500)), b.task(on(abi.AIV, 3000+uint64(i)*700)))
	}
	id = len(tasks)
	tasks = append(tasks, b.task(spec, 0))
	for range behind {
		mix := &sim.Task{Kernels: [3]*sim.Kernel{kernel(0, abi.AIC, 20), kernel(1, abi.AIV, 20)}}
		tasks = append(tasks, b.task(on(abi.AIC, 20), 0), b.task(on(abi.AIV, 20), 0))
		if mixed {
			tasks = append(tasks, b.task(mix, 0))
		}
	}
	b.run(graphOf(tasks...))
	return b, id
}

var gangs = map[string][3]*sim.Kernel{
	"aic": {kernel(0, abi.AIC, 300)}, "aiv": {nil, kernel(1, abi.AIV, 300)}, "mix": {kernel(0, abi.AIC, 300), kernel(1, abi.AIV, 300), kernel(2, abi.AIV, 300)},
}

// TestStartTogether: all blocks of a task that asks for it start at one moment, when
// there is room for all. Cores that schedule begin when they come to it.
func TestStartTogether(t *testing.T) {
	const clusters = 4
	for name, want := range map[string][2]int{"aic": {4, 0}, "aiv": {8, 4}, "mix": {12, 4}} {
		b, id := gang(t, clusters, gangs[name], 0, false)
		ends := uint64(0)
		for _, k := range b.records.Kernels {
			if int(k[1]) < id && (k[0] < clusters || name != "aic") {
				ends = max(ends, k[4])
			}
		}
		var schedulers, others []uint64 // when they start
		for worker := range 3 * clusters {
			s := of[abi.DispatchSlot](b, abi.DispatchSlots, worker*abi.PendingSlots).Staged
			switch {
			case s.KernelEnd != s.KernelStart+300:
			case worker >= clusters && (worker-clusters)%2 == 0:
				schedulers = append(schedulers, s.KernelStart)
			default:
				others = append(others, s.KernelStart)
			}
		}
		if len(schedulers)+len(others) != want[0] || len(schedulers) != want[1] {
			t.Fatalf("%s: subtasks start at %v, and on schedulers at %v; want %v", name, others, schedulers, want)
		}
		first, last := slices.Min(others), slices.Max(others)
		if first != last || first < ends {
			t.Errorf("%s: cores start from %d to %d, and were busy until %d", name, first, last, ends)
		}
		for _, at := range schedulers {
			if at+100 < first || at > first+2000 {
				t.Errorf("%s: a scheduler starts at %d, the others at %d", name, at, first)
			}
		}
	}
}

// TestNothingElseWhileCoresAreGathered: until such a task starts nothing is published
// that was not claimed before.
func TestNothingElseWhileCoresAreGathered(t *testing.T) {
	for name, kernels := range gangs {
		for _, mixed := range []bool{true, false} { // MIX tasks keep slots from being filled again at once
			b, id := gang(t, 4, kernels, 12, mixed)
			r := b.records.of(uint64(id))
			later := 0
			for _, k := range b.records.Timings.Records {
				if int(k[1]) != id && k[2] > r["state_probe"].End+200 && k[2] < r["dispatch"].End {
					t.Errorf("%s, with MIX tasks %v: task %d is published at %d, while cores are gathered from %d to %d", name, mixed, k[1], k[2], r["state_probe"].End, r["dispatch"].End)
				}
				if k[2] > r["dispatch"].End {
					later++
				}
			}
			if later == 0 {
				t.Errorf("%s, with MIX tasks %v: nothing had to wait", name, mixed)
			}
		}
	}
}

// TestDeferredPlacement: a task that was claimed and finds a core busy is published
// later, which leaves a gap between its probe and its publication; nobody overtakes it
// on its cores.
func TestDeferredPlacement(t *testing.T) {
	b := newAicoreBench(t, 1, abi.SchedPhases)
	mix := &sim.Task{Kernels: [3]*sim.Kernel{kernel(0, abi.AIC, 100), nil, kernel(1, abi.AIV, 100)}}
	b.run(graphOf(
		b.task(on(abi.AIC, 5000)), b.task(on(abi.AIC, 5000)), b.task(on(abi.AIC, 5000)), // two have slots, one waits
		b.task(on(abi.AIV, 100)), b.task(mix, 3),
	))
	r := b.records.of(4)
	if gap := int64(r["dispatch"].Start - r["state_probe"].End); gap < 3000 || r["state_probe"].Kind == "" {
		t.Errorf("the task is probed until %d and published from %d: want a gap of thousands", r["state_probe"].End, r["dispatch"].Start)
	}
	if other := b.records.of(2); other["dispatch"].Start+other["refill"].Start < r["dispatch"].End {
		t.Errorf("the AIC task behind it is published from %d, before it at %d", other["dispatch"].Start+other["refill"].Start, r["dispatch"].End)
	}
}

// TestMixedTasksAreNotKeptOut: tasks for one core each do not fill every slot that
// becomes free while a task waits that needs several.
func TestMixedTasksAreNotKeptOut(t *testing.T) {
	b := newAicoreBench(t, 1, abi.SchedPhases)
	mix := &sim.Task{Kernels: [3]*sim.Kernel{kernel(0, abi.AIC, 100), kernel(1, abi.AIV, 100), kernel(1, abi.AIV, 100)}}
	tasks := []*hbg.Task{b.task(on(abi.AIV, 100)), b.task(on(abi.AIV, 5000), 0), b.task(mix, 1)}
	for i := range 60 {
		tasks = append(tasks, b.task(on(abi.CoreType(i%2), 1000+uint64(i)*13), 0))
	}
	b.run(graphOf(tasks...))
	ready, published := b.records.of(1)["resolve"].End, b.records.of(2)["dispatch"].End
	if published < ready || published > ready+5000 {
		t.Errorf("the task is ready at %d and published at %d: want it behind what is in the slots", ready, published)
	}
}

// TestOrderOfReadyTasks: what becomes ready together runs in the order of ids, and on
// the core that schedules only if there is no other.
func TestOrderOfReadyTasks(t *testing.T) {
	b := newAicoreBench(t, 1, abi.SchedPhases)
	tasks := []*hbg.Task{b.task(on(abi.AIV, 100))}
	for range 6 {
		tasks = append(tasks, b.task(on(abi.AIC, 1000), 0))
	}
	b.run(graphOf(tasks...))
	if !slices.IsSortedFunc(b.records.Kernels[1:], func(a, b [6]uint64) int { return cmp.Compare(a[3], b[3]) }) {
		t.Errorf("tasks do not start in the order of their ids: %v", b.records.Kernels)
	}
	if core := b.records.Kernels[0][0]; core != 2 {
		t.Errorf("the AIV task ran on core %d, want 2", core)
	}
}

// TestBootstrapCountsInitialTasks: a task whose producer has finished before its
// scheduler came to it is ready in the bootstrap, and none of the initial ones.
func TestBootstrapCountsInitialTasks(t *testing.T) {
	b := newAicoreBench(t, 3, abi.SchedPhases)
	b.costs[sim.CoreSchedClassify].Ns = 20_000
	alloc := func() *hbg.Task { return &hbg.Task{Spec: &sim.Task{}, Alloc: true} }
	// Of the first scheduler are 0, 3 and 6: an allocation, a task that waits for nothing, and one that does no more when it is classified.
	b.run(graphOf(alloc(), b.task(on(abi.AIC, 100)), alloc(), b.task(on(abi.AIC, 100)), alloc(), alloc(), b.task(on(abi.AIC, 100), 1)))
	var boots [3]record
	for i, s := range b.records.Schedulers.Streams {
		boots[i] = s.Records[0]
	}
	first := boots[0]
	if finished := b.records.of(1)["resolve"].End; finished >= first.End {
		t.Fatalf("the producer is resolved at %d, after the bootstrap has ended at %d", finished, first.End)
	}
	if got := [3]uint64{first.Tasks, boots[1].Tasks, boots[2].Tasks}; got != [3]uint64{1, 1, 0} || len(b.records.Kernels) != 3 {
		t.Errorf("bootstraps published %d tasks, want 1, 1 and 0; %d ran", got, len(b.records.Kernels))
	}
}

// TestBlocksHaveOneRow: the row of a task of several blocks has the kernel times of the
// block that completed it.
func TestBlocksHaveOneRow(t *testing.T) {
	for longest := range 6 {
		b := newAicoreBench(t, 2, abi.SchedPhases)
		spmd := &sim.Task{Blocks: 6}
		spmd.Kernels[0] = &sim.Kernel{Type: abi.AIC, Run: func(c *sim.Call) uint64 {
			if c.Block == longest {
				return 7000
			}
			return 101 + uint64(c.Block)
		}}
		b.run(graphOf(b.task(spmd), b.task(on(abi.AIV, 10), 0)))
		if len(b.records.Kernels) != 2 {
			t.Fatalf("%d rows, want one a task", len(b.records.Kernels))
		}
		k, r := b.records.Kernels[0], b.records.of(0)
		// The long one is the last to finish, unless others wait behind it on its core.
		if d := k[4] - k[3]; d != 7000 && (d < 101 || d > 106) || d != 7000 && k[3] < r["dispatch"].End+7000 {
			t.Errorf("longest %d: the row says %d ns from %d", longest, d, k[3])
		}
		if r["dispatch"].End > k[3] || r["complete"].Start < k[4] || b.records.of(1)["state_probe"].Start < r["dispatch"].End+7000 {
			t.Errorf("longest %d: dispatched at %d, complete at %d, the next one probed at %d", longest, r["dispatch"].End, r["complete"].Start, b.records.of(1)["state_probe"].Start)
		}
	}
}

// TestInlineTasks: what runs on no core is resolved by the scheduler that finds it
// ready, and leaves nothing else.
func TestInlineTasks(t *testing.T) {
	b := newAicoreBench(t, 2, abi.SchedPhases)
	no, yes := on(abi.AIC, 100), on(abi.AIC, 100)
	asked := []string{}
	done := false
	no.Predicate = func() bool { asked = append(asked, "no"); return false }
	yes.Predicate = func() bool { asked = append(asked, "yes"); return done }
	first := on(abi.AIV, 50)
	first.Kernels[1].Run = func(*sim.Call) uint64 { done = true; return 50 }
	node := b.task(&sim.Task{})
	graph := b.task(&sim.Task{}, 3)
	graph.Nodes = []*hbg.Task{node, b.task(on(abi.AIV, 30), 0)}
	b.run(graphOf(
		b.task(&sim.Task{}),        // 0: a dummy that waits for nothing
		b.task(first, 0),           // 1
		b.task(no, 1),              // 2
		b.task(yes, 1, 2),          // 3
		graph,                      // 4: nodes 6 (a dummy) and 7
		b.task(on(abi.AIV, 20), 4), // 5
	))
	if !slices.Equal(asked, []string{"no", "yes"}) {
		t.Errorf("predicates were asked as %q", asked)
	}
	for id, want := range [][]string{{"resolve"}, nil, {"resolve"}, nil, {"resolve"}, nil, {"resolve"}, nil} {
		var kinds []string
		for kind := range b.records.of(uint64(id)) {
			kinds = append(kinds, kind)
		}
		if want == nil && len(kinds) != 4 || want != nil && !slices.Equal(kinds, want) {
			t.Errorf("task %d has the records %q", id, kinds)
		}
	}
	c := of[abi.RunControl](b, abi.RunControls, 0)
	if c.InlineCompletedCount != 4 || c.ExecutedTaskCount != 4 || c.ResolvedTaskCount != 8 || c.ExpectedTaskCount != 8 {
		t.Errorf("%d inline, %d executed, %d resolved of %d: want 4, 4, 8, 8", c.InlineCompletedCount, c.ExecutedTaskCount, c.ResolvedTaskCount, c.ExpectedTaskCount)
	}
	if order := []uint64{b.records.of(3)["complete"].Start, b.records.of(6)["resolve"].Start, b.records.of(7)["state_probe"].Start, b.records.of(4)["resolve"].Start, b.records.of(5)["state_probe"].Start}; !slices.IsSorted(order) {
		t.Errorf("the graph task is not between what it waits for and what waits for it: %v", order)
	}
}

// TestWhereTasksAreFound: what is ready at one scheduler goes to the others too, and
// freed slots take what is at hand.
func TestWhereTasksAreFound(t *testing.T) {
	b := newAicoreBench(t, 4, abi.SchedPhases)
	var tasks []*hbg.Task
	for i := range 64 {
		if i%4 == 0 {
			tasks = append(tasks, b.task(on(abi.AIC, 3000)))
		} else {
			tasks = append(tasks, &hbg.Task{Spec: &sim.Task{}, Alloc: true})
		}
	}
	b.run(graphOf(tasks...))
	for _, s := range b.records.Schedulers.Streams {
		n := map[string]int{}
		for i, v := range s.Records {
			n[v.Kind]++
			if v.Kind == "refill" && (s.Records[i-1].Kind != "state_probe" || s.Records[i-2].Kind != "resolve" || s.Records[i-3].Kind != "complete" || v.Loop != s.Records[i-3].Loop) {
				t.Errorf("scheduler %d: a refill follows %+v", s.Scheduler, s.Records[i-3:i])
			}
		}
		if home := s.Scheduler == 0; home && (n["worksteal"] != 0 || n["dispatch"] != 2 || n["refill"] == 0) || !home && (n["worksteal"] == 0 || n["dispatch"]+n["refill"] != 0) {
			t.Errorf("scheduler %d has %v", s.Scheduler, n)
		}
	}
}

// TestHazardsOfAicores: two tasks that write the same and wait for nothing are told of
// by the ids that records have; one that is skipped and one behind are not.
func TestHazardsOfAicores(t *testing.T) {
	b := newAicoreBench(t, 2, abi.Disabled)
	x := b.vector(4)
	writes := func(core abi.CoreType) *sim.Task {
		t := on(core, 500)
		t.Args = []sim.Arg{{Type: abi.ArgInOut, Tensor: x}}
		return t
	}
	skipped := writes(abi.AIC)
	skipped.Predicate = func() bool { return false }
	graph := b.task(&sim.Task{})
	graph.Nodes = []*hbg.Task{b.task(writes(abi.AIV))}
	b.run(graphOf(b.task(writes(abi.AIC)), b.task(skipped), graph, b.task(writes(abi.AIC), 0, 2)))
	h := &b.hazards
	if h.Found != 1 || h.First[0].Earlier.Task != 0 || h.First[0].Later.Task != 4 || h.First[0].Later.Kernel != "k" {
		t.Errorf("found %d: %+v", h.Found, h.First)
	}
}

// TestTimingSlotsOfAicores: a slot is from the first dispatch to the last finish.
func TestTimingSlotsOfAicores(t *testing.T) {
	for level := range abi.OrchPhases + 1 {
		b := newAicoreBench(t, 2, level)
		g := fanOut(b)
		for _, i := range []int{1, 7, 9} {
			g.Tasks[i].Spec.Slot = 16
		}
		b.run(g)
		got := b.report.Slots[15]
		if !got.Set || got.Start >= got.End || b.report.Slots[0].Set {
			t.Errorf("level %d: slots are %v", level, b.report.Slots)
		}
		if level < abi.ScheduleTiming {
			continue
		}
		start, end := ^uint64(0), uint64(0)
		for _, i := range []int{1, 7, 9} {
			start, end = min(start, b.records.Timings.Records[i][2]), max(end, b.records.Timings.Records[i][3])
		}
		if uint64(got.Start) != start || uint64(got.End) != end { // a cycle is a ns
			t.Errorf("level %d: slot 15 is from %d to %d, want %d to %d", level, got.Start, got.End, start, end)
		}
	}
}

// TestStepsOfAicores: what each step of a scheduler takes, and what it pays for its records
// then, to the cycle, which is a ns: a task, and one behind it.
func TestStepsOfAicores(t *testing.T) {
	const (
		loop, complete, resolve, waiter, probe, dispatch = 1000, 100, 200, 30, 40, 50
		sample, line                                     = 1, 7
	)
	b := newAicoreBench(t, 1, abi.SchedPhases)
	for k, ns := range map[sim.Cost]sim.Time{
		sim.CoreSchedLoop: loop, sim.CoreSchedComplete: complete, sim.CoreSchedResolve: resolve, sim.CoreSchedWaiter: waiter, sim.CoreSchedProbe: probe,
		sim.CoreSchedDispatch: dispatch, sim.CoreSample: sample, sim.CoreSchedRecord: line,
	} {
		b.costs[k].Ns = ns
	}
	b.run(graphOf(b.task(on(abi.AIC, 20_000)), b.task(on(abi.AIC, 20_000), 0)))
	var got []record
	for _, v := range b.records.Schedulers.Streams[0].Records {
		got = append(got, record{Start: v.Start, End: v.End, Loop: v.Loop, Kind: v.Kind})
	}
	if len(got) != 11 {
		t.Fatalf("the scheduler has %d records, want bootstrap, and of each task probe, publication, idle, complete and resolve: %+v", len(got), got)
	}
	// Of a step are known how long after the last one it begins and how long it takes. A step
	// begins with a look at the counter, and ends with one; a line is written behind that, but
	// that of a publication before its end, and that of an idle interval with the next step.
	at := got[0].End
	for i, v := range []struct {
		kind       string
		gap, takes uint64
	}{
		{"state_probe", line + loop + sample + sample, probe + sample}, // behind an iteration, in which an idle interval could open
		{"dispatch", sample, dispatch + sample + line},
		{"idle", 0, 0},
		{"complete", line + sample, complete + sample},
		{"resolve", 2*line + sample, resolve + waiter + sample},
		{"state_probe", line + sample, probe + sample},
		{"refill", sample, dispatch + sample + line},
		{"idle", 0, 0},
		{"complete", line + sample, complete + sample},
		{"resolve", 2*line + sample, resolve + sample},
	} {
		r := got[i+1]
		if v.kind == "idle" && v.takes == 0 { // until the first iteration that sees the end of the kernel
			v.takes = r.End - r.Start
			if v.takes%(loop+sample) != 0 {
				t.Errorf("record %d, %+v, lasts %d ns, want iterations of %d", i+1, r, v.takes, loop+sample)
			}
		}
		if r.Kind != v.kind || r.Start != at+v.gap || r.End != r.Start+v.takes {
			t.Errorf("record %d is %+v, want %s from %d on, %d ns", i+1, r, v.kind, at+v.gap, v.takes)
		}
		at = r.End
	}
}
