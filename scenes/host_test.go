package scenes_test

import (
	"cmp"
	"slices"
	"testing"

	"swimlane/scene"
	"swimlane/scenes"
)

// hosted tells whether the host has built the graph of the run.
func (r *ran) hosted() bool { return len(r.Rec.HostOrc) > 0 }

// isTask tells whether an id is of a task, with or without kernels, and not of an alloc.
func (r *ran) isTask(id uint64) bool {
	n, _ := r.graph.Node(id)
	_, ok := r.graph.Kernel(n)
	return ok
}

// untold are the tasks of cases that a predicate skips: where the host has built the
// graph no record tells of them (spec/collector.md §13, question 8).
var untold = map[string][]uint64{"TestPredicatedDispatchHostBuildGraph::PredicateFalseSkips": {2}, "TestPredicatedDispatch::PredicateFalseSkips": {2}}

// dummiesUntold tells whether the run has dummies that no record tells of: those of
// a5 where the host has built the graph.
func (r *ran) dummiesUntold() bool {
	return r.hosted() && len(r.phases("dummy")) > 0 && len(r.phases("dummy_task")) == 0
}

// checkResolver: the last thread resolves, polls and completes dummies, in records
// that are apart from each other, and the others do nothing of that
// (spec/collector.md §13).
func (r *ran) checkResolver() {
	r.Helper()
	last := len(r.Rec.Streams) - 1
	if served := int(slices.Max(r.Rec.Meta.CoreToThread)) + 1; last != served {
		r.Errorf("%d threads have records, want the %d that serve cores and one more", last+1, served)
	}
	own := map[string]bool{"resolve_standalone": true, "async_poll": true, "dummy": true}
	var outer []phase
	for kind := range own {
		for _, p := range r.phases(kind) {
			if p.thread != last {
				r.Errorf("thread %d has a record of the kind %s: want only thread %d to have some", p.thread, kind, last)
			}
			outer = append(outer, p)
		}
	}
	for i := range r.Rec.Kinds {
		kind := r.Rec.Kinds[i].Name
		for _, p := range r.phases(kind) {
			if kind == "resolve" || kind == "release" || kind == "predicated_skip" || p.thread == last && !own[kind] && kind != "dummy_task" {
				r.Errorf("thread %d has a record of the kind %s", p.thread, kind)
			}
		}
	}
	slices.SortFunc(outer, func(a, b phase) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(outer); i++ {
		if outer[i-1].end > outer[i].start {
			r.Errorf("thread %d: %+v and %+v overlap", last, outer[i-1], outer[i])
		}
	}
	// Each task that ran is resolved once: in a pass, in a poll, or as a dummy.
	ran := map[uint64]bool{}
	for i := range r.Rows.Len() {
		ran[r.IDOf(i)] = true
	}
	if got, want := processed(outer), len(ran)+processed(r.phases("dummy")); got != want {
		r.Errorf("thread %d resolved %d tasks, want %d", last, got, want)
	}
}

func init() {
	for label, check := range map[string]func(*ran){
		"TestVectorExampleHostBuildGraph::basic":                        sources("creator"), // spec/deps.md §4.5
		"TestVectorExampleHostBuildGraph::four":                         sources("creator"),
		"TestPredicatedDispatchHostBuildGraph::PredicateTrueDispatches": hostPredicated(true),
		"TestPredicatedDispatchHostBuildGraph::PredicateFalseSkips":     hostPredicated(false),
		"TestDummyTaskHostBuildGraph::SingleDummyAutoDep":               hostDummies(1),
		"TestDummyTaskHostBuildGraph::DummyExplicitDepBarrier":          hostDummies(2),
		"TestDummyTaskHostBuildGraph::LongDummyChain":                   hostDummies(1, 2, 3, 4),
		"TestDummyTaskHostBuildGraph::GroupBarrier":                     hostDummies(8),
		"TestGraphExecutionHostBuildGraph::record_then_replay_1d":       graphs,
		"TestGraphExecutionHostBuildGraph::record_then_replay_2d":       graphs,
		"TestAsyncWaitHostBuildGraph::Chains":                           asyncChains,
	} {
		facts[label] = check
	}
}

// hostPredicated: the guarded task runs behind the gate or is completed without a
// record of its own, and what depends on it comes after.
func hostPredicated(open bool) func(*ran) {
	return func(r *ran) {
		rows := r.subtasks()
		gate, dummies := last(rows[0], finishOf), r.phases("dummy")
		at := gate
		if open {
			if len(rows[2]) != 1 || len(dummies) != 0 {
				r.Fatalf("with the gate open: %d rows of the task, and dummies %+v: want 1 and none", len(rows[2]), dummies)
			}
			if at = rows[2][0].finish; rows[2][0].dispatch < gate {
				r.Errorf("the task was dispatched at %d, before the gate was written until %d", rows[2][0].dispatch, gate)
			}
		} else {
			if len(rows[2]) != 0 || len(dummies) != 1 || dummies[0].processed != 1 || dummies[0].start < gate {
				r.Fatalf("with the gate closed: %d rows of the task, and dummies %+v: want 0, and one after %d", len(rows[2]), dummies, gate)
			}
			at = dummies[0].start
		}
		if d := rows[3][0].dispatch; d < at {
			r.Errorf("the reader was dispatched at %d, before the task was done with at %d", d, at)
		}
	}
}

// hostDummies: each of these tasks has a record on a2a3 and none on a5, and is in a
// batch on both.
func hostDummies(tasks ...uint64) func(*ran) {
	return func(r *ran) {
		if n := processed(r.phases("dummy")); n != len(tasks) {
			r.Errorf("%d dummies in batches, want %d", n, len(tasks))
		}
		want := tasks
		if r.Rec.Meta.ClockHz != 50_000_000 {
			want = nil
		}
		if got := ids(r.phases("dummy_task")); !slices.Equal(got, want) {
			r.Errorf("dummy_task records of the tasks %d, want %d", got, want)
		}
	}
}

// graphs: the nodes 0, 2, 3 and 4 of three graphs run, in the order of what they
// make, behind what the graphs wait for. All five of each are expanded before, four
// at a time.
func graphs(r *ran) {
	rows := r.subtasks()
	if len(rows) != 1+3*4 {
		r.Fatalf("%d tasks ran, want one and four of each graph", len(rows))
	}
	prepared, until := map[uint64][]int{}, map[uint64]uint64{}
	for _, p := range r.phases("graph_prepare") {
		prepared[p.task] = append(prepared[p.task], p.processed)
		until[p.task] = max(until[p.task], p.end)
	}
	for outer := uint64(1); outer <= 3; outer++ {
		if got := prepared[outer]; !slices.Equal(slices.Sorted(slices.Values(got)), []int{1, 4}) {
			r.Errorf("graph %d was expanded by %d nodes at a time, want 4 and 1", outer, got)
		}
		after := rows[0]
		for _, node := range []uint64{0, 2, 3, 4} {
			list := rows[1<<32|outer<<10|node]
			if len(list) != 1 {
				r.Fatalf("node %d of graph %d has %d rows, want one", node, outer, len(list))
			}
			if d := list[0].dispatch; d < until[outer] {
				r.Errorf("node %d of graph %d was dispatched at %d, before the graph was expanded at %d", node, outer, d, until[outer])
			}
			if d, f := list[0].dispatch, after[0].finish; d < f {
				r.Errorf("node %d of graph %d was dispatched at %d, before what it waits for had finished at %d", node, outer, d, f)
			}
			after = list
		}
	}
	runs := r.GraphRuns()
	for i, g := range runs {
		if g.Nodes != 4 || g.MinIndex != 0 || g.MaxIndex != 4 || g.Prepares != 2 || g.Lane != i {
			r.Errorf("graph run %+v: want the nodes 0 to 4 but one, expanded in two steps, on a lane of its own", g)
		}
	}
	if len(runs) != 3 {
		r.Errorf("the timeline has %d graphs, want three", len(runs))
	}
}

// asyncChains: what follows a task that waits comes so much later than its kernel
// has finished, and polls resolve all tasks.
func asyncChains(r *ran) {
	rows := r.subtasks()
	if n := processed(r.phases("async_poll")); n != 24 {
		r.Errorf("polls resolved %d tasks, want 24", n)
	}
	for i, from := range r.deps.Pred {
		wait := 200 + 50*(from/3)
		if f, d := rows[from][0].finish, rows[r.deps.Succ[i]][0].dispatch; d < f+wait {
			r.Errorf("task %d was dispatched at %d, want at least %d cycles after %d", r.deps.Succ[i], d, wait, f)
		}
	}
}

// sameFacts are the cases that show the same whoever builds the graph: blocks that start
// together, drains, early dispatch, places behind running tasks.
var sameFacts = map[string]bool{
	"TestBlockMatmul::square": true, "TestSpmdMultiblockAiv::Case1": true, "TestSpmdMultiblockMix::Case1": true,
	"TestSyncStartDrainPhases::global_aiv": true, "TestSyncStartDrainPhases::whole_chip": true,
	"TestEarlyDispatchChain::single": true, "TestEarlyDispatchChain::blocks": true, "TestEarlyDispatchChain::plain": true,
	"TestManualScope::Diamonds": true, "TestFaninLookupPerf::SwimlaneProducers64Consumers64": true, "TestFaninLookupPerf::TensorMap64": true,
}

// TestOrchestrationsRunOnTheHost: what is written for the runtime that builds the graph
// on the device runs unchanged where the host builds it.
func TestOrchestrationsRunOnTheHost(t *testing.T) {
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		if testing.Short() && platform == scene.A5Sim {
			continue
		}
		cases, err := scene.Select(scenes.All(), scene.Selection{Platform: platform, Manual: scene.Exclude})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			want := sizes[c.Label()]
			if c.Scene.Runtime != scene.TensormapAndRingbuffer || c.Scene.Node != nil || want.rows > small {
				continue
			}
			t.Run(platform+"/"+c.Label(), func(t *testing.T) {
				other := *c.Scene
				other.Runtime = scene.HostBuildGraph
				dir := t.TempDir()
				result, err := onThreads(scene.Selected{Scene: &other, Case: c.Case}).Run(platform, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: dir})
				if err != nil || result.Golden != nil {
					t.Fatalf("%v, values %v", err, result.Golden)
				}
				rec := readCapture(t, result.Records)
				if rec.Tasks.Len() != want.rows || result.Tasks != want.tasks || result.Submits != want.submits || len(result.Notes) > 0 {
					t.Errorf("%d rows of %d tasks in %d submits, want %d, %d and %d; notes %q", rec.Tasks.Len(), result.Tasks, result.Submits, want.rows, want.tasks, want.submits, result.Notes)
				}
				r := join(t, c.Label(), rec, result.Graph, want)
				r.checkRun()
				if sameFacts[c.Label()] {
					facts[c.Label()](r)
				}
			})
		}
	}
}
