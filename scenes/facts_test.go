package scenes_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/scene"
)

// subtask is a row of a run. Times are cycles.
type subtask struct {
	task                                  uint64
	core, cluster, lane                   int // lane 0: the AIC of the cluster, 1 and 2: its AIVs
	dispatch, receive, start, end, finish uint64
}

// subtasks are the rows of each task, in the order of their dispatch on a core.
// Cores are numbered AICs first, then the AIVs cluster by cluster.
func (r *ran) subtasks() map[uint64][]subtask {
	clusters := 0
	for _, c := range r.Rec.Meta.CoreTypes {
		if c == "aic" {
			clusters++
		}
	}
	out := map[uint64][]subtask{}
	for i := range r.Rows.Len() {
		s := subtask{
			task: r.IDOf(i), core: int(r.CoreOf(i).ID),
			dispatch: r.Rows.Dispatch[i], receive: r.Rows.Receive[i], start: r.Rows.Start[i], end: r.Rows.End[i], finish: r.Rows.Finish[i],
		}
		s.cluster = s.core
		if s.core >= clusters {
			s.cluster, s.lane = (s.core-clusters)/2, 1+(s.core-clusters)%2
		}
		out[s.task] = append(out[s.task], s)
	}
	return out
}

// first and last are the least and the largest of a time.
func first(rows []subtask, of func(subtask) uint64) uint64 {
	return of(slices.MinFunc(rows, func(a, b subtask) int { return cmp.Compare(of(a), of(b)) }))
}

func last(rows []subtask, of func(subtask) uint64) uint64 {
	return of(slices.MaxFunc(rows, func(a, b subtask) int { return cmp.Compare(of(a), of(b)) }))
}

func dispatchOf(s subtask) uint64 { return s.dispatch }
func startOf(s subtask) uint64    { return s.start }
func endOf(s subtask) uint64      { return s.end }
func finishOf(s subtask) uint64   { return s.finish }

// cores are the cores of some rows, each once.
func cores(rows []subtask) []int {
	var out []int
	for _, s := range rows {
		out = append(out, s.core)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// phase is a record of a scheduler. Times are cycles.
type phase struct {
	thread     int
	start, end uint64
	processed  int
	task       uint64
}

// phases are the records of a kind.
func (r *ran) phases(kind string) (out []phase) {
	for thread := range r.Rec.Streams {
		p := &r.Rec.Streams[thread].Phases
		for i := range p.Len() {
			if r.Rec.Kinds[p.Kind[i]].Name == kind {
				out = append(out, phase{thread, p.Start[i], p.End[i], int(p.Processed[i]), p.Task[i]})
			}
		}
	}
	return out
}

func processed(list []phase) (n int) {
	for _, p := range list {
		n += p.processed
	}
	return n
}

// ids are the tasks that records name, in ascending order.
func ids(list []phase) (out []uint64) {
	for _, p := range list {
		out = append(out, p.task)
	}
	slices.Sort(out)
	return out
}

// early are the cases whose tasks may be dispatched before their producers finish.
var early = map[string]bool{"TestEarlyDispatchChain::single": true, "TestEarlyDispatchChain::blocks": true}

// checkRun holds a run against its graph (spec/collector.md §12.1, §12.7): rows of
// each task, their places, and times along edges.
func (r *ran) checkRun() {
	r.Helper()
	rows := r.subtasks()
	skipped := ids(r.phases("predicated_skip"))
	if r.hosted() {
		r.checkResolver()
		skipped = untold[r.label]
	}
	byCore := map[int][]subtask{}
	for n := range int32(r.graph.Nodes()) {
		id := r.graph.ID(n)
		kernels, ok := r.graph.Kernel(n)
		if !ok {
			continue // an alloc
		}
		var lanes []int
		for lane, k := range kernels {
			if k >= 0 {
				lanes = append(lanes, lane)
			}
		}
		blocks := int(r.graph.Block(n))
		want := blocks * len(lanes)
		if slices.Contains(skipped, id) {
			want = 0
		}
		if len(rows[id]) != want {
			r.Errorf("task %#x has %d rows, want %d", id, len(rows[id]), want)
		}
		r.checkPlaces(rows[id], lanes, blocks)
		for _, s := range rows[id] {
			byCore[s.core] = append(byCore[s.core], s)
			if s.dispatch > s.receive || s.receive > s.start || s.start > s.end || s.end > s.finish {
				r.Errorf("%+v is not in this order", s)
			}
		}
	}
	for core, list := range byCore {
		slices.SortFunc(list, func(a, b subtask) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(list); i++ {
			if list[i-1].end > list[i].receive {
				r.Errorf("core %d runs %+v and %+v at once", core, list[i-1], list[i])
			}
		}
	}
	for i, from := range r.deps.Pred {
		a, b := rows[from], rows[r.deps.Succ[i]]
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		if early[r.label] {
			if last(a, endOf) > first(b, startOf) {
				r.Errorf("task %#x starts at %d, before %#x ends at %d", b[0].task, first(b, startOf), from, last(a, endOf))
			}
		} else if last(a, finishOf) > first(b, dispatchOf) {
			r.Errorf("task %#x is dispatched at %d, before %#x is seen to finish at %d", b[0].task, first(b, dispatchOf), from, last(a, finishOf))
		}
	}
}

// checkPlaces: a task of one kernel is on cores of its kind, and a block of several
// takes them in one cluster at one dispatch time.
func (r *ran) checkPlaces(rows []subtask, lanes []int, blocks int) {
	r.Helper()
	if len(lanes) == 1 {
		for _, s := range rows {
			if (s.lane == 0) != (lanes[0] == 0) {
				r.Errorf("%+v is on a core of the wrong kind", s)
			}
		}
		return
	}
	type place struct {
		cluster  int
		dispatch uint64
	}
	places := map[place][]int{}
	for _, s := range rows {
		p := place{s.cluster, s.dispatch}
		places[p] = append(places[p], s.lane)
	}
	for p, used := range places {
		slices.Sort(used)
		if !slices.Equal(used, lanes) {
			r.Errorf("a block in cluster %d, dispatched at %d, is on the cores %v of it, want %v", p.cluster, p.dispatch, used, lanes)
		}
	}
	if len(rows) > 0 && len(places) != blocks {
		r.Errorf("%d places for %d blocks", len(places), blocks)
	}
}

// facts are what only some cases show.
var facts = map[string]func(*ran){
	"TestPagedAttentionUnroll::SimSmall":  inRing(1),
	"TestPagedAttentionUnroll::Remainder": inRing(1),
	"TestAllocAccumulate::Case1":          inRing(2),
	"TestMixedExample::case1":             inRing(1),

	"TestBlockMatmul::square": func(r *ran) {
		// Sixteen tiles on eight AICs: some tasks wait behind running ones.
		if behind(r.subtasks()) == 0 {
			r.Error("no task was dispatched to a core that ran another")
		}
	},
	"TestSpmdMultiblockAiv::Case1": func(r *ran) {
		rows := r.subtasks()
		// While another thread has an idle core, none fills pending slots: 16 blocks
		// have a core each, and more take all of them (spec/collector.md §12.6).
		for task, want := range map[uint64]int{0: 1, 1: 16, 2: 16, 3: 16} {
			if n := len(cores(rows[task])); n != want {
				r.Errorf("task %d ran on %d cores, want %d", task, n, want)
			}
		}
		if behind(rows) == 0 {
			r.Error("no block was dispatched to a core that ran another")
		}
	},
	"TestSpmdMultiblockMix::Case1": func(r *ran) {
		rows := r.subtasks()
		for task, want := range map[uint64]int{0: 2 * 3, 1: 24, 2: 24, 3: 24, 4: 24} {
			if n := len(cores(rows[task])); n != want {
				r.Errorf("task %d ran on %d cores, want %d", task, n, want)
			}
		}
	},
	"TestSyncStartDrainPhases::global_aiv": syncStart(1, 3),
	"TestSyncStartDrainPhases::whole_chip": func(r *ran) {
		syncStart(1, 2)(r)
		rows := r.subtasks()
		if from, to := last(rows[0], endOf), first(rows[1], dispatchOf); to < from {
			r.Errorf("a task that needs every AIV was dispatched at %d, while one ran until %d", to, from)
		}
		if n := processed(r.phases("drain")); n != 16 {
			r.Errorf("%d blocks were placed in drains, want the 16 of one task", n)
		}
	},
	"TestSpmdSyncStartEarlyDispatch::Case1": func(r *ran) {
		syncStart(1<<32 + 1)(r)
		if n := len(cores(r.subtasks()[1<<32])); n != 8 {
			r.Errorf("50 blocks ran on %d AICs, want all eight", n)
		}
	},

	"TestDummyTask::SingleDummyAutoDep":      dummyTasks(1),
	"TestDummyTask::DummyExplicitDepBarrier": dummyTasks(2),
	"TestDummyTask::LongDummyChain":          dummyTasks(1, 2, 3, 4),
	"TestDummyTask::DenseFanoutFanin":        dummyTasks(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18),
	"TestDummyTask::GroupBarrier": func(r *ran) {
		dummyTasks(8)(r)
		rows := r.subtasks()
		at := r.phases("dummy_task")[0].start
		for i := range uint64(8) {
			if f := last(rows[i], finishOf); f > at {
				r.Errorf("task %d was seen to finish at %d, after the barrier was completed at %d", i, f, at)
			}
			if d := first(rows[9+i], dispatchOf); d < at {
				r.Errorf("task %d was dispatched at %d, before the barrier was completed at %d", 9+i, d, at)
			}
		}
		for i := range r.deps.Pred {
			if r.deps.Pred[i] != 8 && r.deps.Succ[i] != 8 {
				r.Errorf("the edge %d → %d goes past the barrier", r.deps.Pred[i], r.deps.Succ[i])
			}
		}
	},

	"TestPredicatedDispatch::PredicateTrueDispatches": predicated(true),
	"TestPredicatedDispatch::PredicateFalseSkips":     predicated(false),

	"TestManualScope::Diamonds": func(r *ran) {
		for i, edge := range r.words("edges", "source") {
			if edge != "explicit" {
				r.Errorf("edge %d is %q, want explicit ones only", i, edge)
			}
		}
		for i, task := range r.words("tasks", "scope") {
			if task != "manual" {
				r.Errorf("task %d is in the scope %q", i, task)
			}
		}
	},
	"TestFaninLookupPerf::SwimlaneProducers64Consumers64": sources("explicit"),
	"TestFaninLookupPerf::TensorMap64":                    sources("tensormap"),

	"TestEarlyDispatchChain::single": earlyChain(7),
	"TestEarlyDispatchChain::blocks": earlyChain(7 * 4),
	"TestEarlyDispatchChain::plain": func(r *ran) {
		if n := len(r.phases("early_dispatch")); n != 0 {
			r.Errorf("%d records of early dispatch in a chain without", n)
		}
	},
}

// behind counts the subtasks that were dispatched while their core ran another.
func behind(rows map[uint64][]subtask) (n int) {
	byCore := map[int][]subtask{}
	for _, list := range rows {
		for _, s := range list {
			byCore[s.core] = append(byCore[s.core], s)
		}
	}
	for _, list := range byCore {
		slices.SortFunc(list, func(a, b subtask) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(list); i++ {
			if list[i].dispatch < list[i-1].end {
				n++
			}
		}
	}
	return n
}

// inRing: what the orchestration submits inside of n scopes has ids of ring n.
func inRing(n uint64) func(*ran) {
	return func(r *ran) {
		for _, lane := range r.Rec.DeviceOrc {
			for _, id := range lane.Task {
				if id>>32 != n {
					r.Errorf("task %#x is of ring %d, want %d", id, id>>32, n)
				}
			}
		}
	}
}

// syncStart: the blocks of each of the tasks are on cores of their own, and when
// the last one starts none has ended. One publication has one dispatch time, and
// there is at most one for each thread, where a drain placed the task.
func syncStart(tasks ...uint64) func(*ran) {
	return func(r *ran) {
		rows := r.subtasks()
		blocks, subtasks := 0, 0
		for _, task := range tasks {
			list := rows[task]
			if n := len(cores(list)); n != len(list) {
				r.Errorf("the %d blocks of task %d are on %d cores", len(list), task, n)
			}
			if start, end := last(list, startOf), first(list, endOf); start >= end {
				r.Errorf("a block of task %d starts at %d, when another one has ended at %d", task, start, end)
			}
			byThread := map[int32]map[uint64]bool{}
			for _, s := range list {
				thread := r.Rec.Meta.Thread(int32(s.core))
				if byThread[thread] == nil {
					byThread[thread] = map[uint64]bool{}
				}
				byThread[thread][s.dispatch] = true
			}
			for thread, times := range byThread {
				if len(times) != 1 {
					r.Errorf("thread %d dispatched blocks of task %d at %d times, want one", thread, task, len(times))
				}
			}
			node, _ := r.graph.Node(task)
			if len(byThread) > 1 || len(list) > 6 { // no thread has more than six cores of a kind
				blocks, subtasks = blocks+int(r.graph.Block(node)), subtasks+len(list)
			}
		}
		for kind, least := range map[string]int{"drain": blocks, "drain_prepare": subtasks, "drain_publish": subtasks} {
			if n := processed(r.phases(kind)); n < least {
				r.Errorf("%s: %d, want at least %d, of the tasks on several threads", kind, n, least)
			}
		}
		if blocks == 0 {
			r.Error("no task needed the cores of several threads")
		}
	}
}

// dummyTasks: each of these tasks has a record, and no rows.
func dummyTasks(tasks ...uint64) func(*ran) {
	return func(r *ran) {
		if got := ids(r.phases("dummy_task")); !slices.Equal(got, tasks) {
			r.Errorf("dummy_task records of the tasks %d, want %d", got, tasks)
		}
		rows := r.subtasks()
		for _, id := range tasks {
			if len(rows[id]) != 0 {
				r.Errorf("the dummy %d ran: %+v", id, rows[id])
			}
		}
		for _, p := range r.phases("dummy") {
			if p.processed > 8 {
				r.Errorf("a batch of %d dummies, want at most eight", p.processed)
			}
		}
		if n := processed(r.phases("dummy")); n != len(tasks) {
			r.Errorf("%d dummies in batches, want %d", n, len(tasks))
		}
	}
}

// predicated: the guarded task runs behind the gate, or is skipped then; the reader
// comes after either.
func predicated(open bool) func(*ran) {
	return func(r *ran) {
		rows, skips := r.subtasks(), r.phases("predicated_skip")
		gate := last(rows[0], finishOf)
		var at uint64
		if open {
			if len(skips) != 0 || len(rows[2]) != 1 {
				r.Fatalf("with the gate open: %d skips, and %d rows of the task: want 0 and 1", len(skips), len(rows[2]))
			}
			if rows[2][0].dispatch < gate {
				r.Errorf("the task was dispatched at %d, before the gate was written until %d", rows[2][0].dispatch, gate)
			}
			at = rows[2][0].finish
		} else {
			if !slices.Equal(ids(skips), []uint64{2}) || len(rows[2]) != 0 {
				r.Fatalf("with the gate closed: skips of %d, and %d rows of the task: want one of task 2, and none", ids(skips), len(rows[2]))
			}
			if at = skips[0].start; at < gate || skips[0].end != at {
				r.Errorf("the task was skipped from %d to %d: want a moment after the gate was written until %d", at, skips[0].end, gate)
			}
		}
		if d := rows[3][0].dispatch; d < at {
			r.Errorf("the reader was dispatched at %d, before the task was done with at %d", d, at)
		}
	}
}

// earlyChain: so many blocks were placed early, those of every task but the first.
// An idle core is always there, nothing else is ready, and all is submitted while
// the first task runs.
func earlyChain(blocks int) func(*ran) {
	return func(r *ran) {
		if n := processed(r.phases("early_dispatch")); n != blocks {
			r.Errorf("%d blocks were dispatched early, want %d", n, blocks)
		}
		rows := r.subtasks()
		for task := uint64(1); task < 8; task++ {
			if d, f := last(rows[task], dispatchOf), first(rows[task-1], finishOf); d >= f {
				r.Errorf("task %d was dispatched at %d, after its producer had finished at %d", task, d, f)
			}
		}
	}
}

// sources: all edges of the graph are of one source.
func sources(want string) func(*ran) {
	return func(r *ran) {
		for i, edge := range r.words("edges", "source") {
			if edge != want {
				r.Errorf("edge %d is %q, want %q", i, edge, want)
			}
		}
	}
}

// words are what the entries of a list of deps.json say under a key.
func (r *ran) words(list, key string) (out []string) {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "deps.json"))
	if err != nil {
		r.Fatal(err)
	}
	var doc map[string]json.RawMessage
	var entries []map[string]any
	err = json.Unmarshal(text, &doc)
	if err == nil {
		err = json.Unmarshal(doc[list], &entries)
	}
	if err != nil || len(entries) == 0 {
		r.Fatalf("deps.json has %d %s (%v)", len(entries), list, err)
	}
	for _, e := range entries {
		word, _ := e[key].(string)
		out = append(out, word)
	}
	return out
}

// TestFactsNameCases: facts and sizes are of cases that there are.
func TestFactsNameCases(t *testing.T) {
	cases, err := scene.Select(forOneChip(), scene.Selection{Platform: scene.A2A3Sim, Manual: scene.Include})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range cases {
		known[c.Label()] = true
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(facts)), slices.Collect(maps.Keys(sizes)), slices.Collect(maps.Keys(early))} {
		for _, label := range list {
			if !known[label] {
				t.Errorf("there is no case %s; there are %s", label, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
		}
	}
}
