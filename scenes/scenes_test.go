package scenes_test

import (
	"path/filepath"
	"slices"
	"testing"

	"swimlane/capture"
	"swimlane/internal/taskgraph"
	"swimlane/scene"
	"swimlane/scenes"
	"swimlane/timeline"
)

// size is how many tasks a case has, submits (allocs included), rows of subtasks,
// and pairs of tasks in its graph.
type size struct{ tasks, submits, rows, edges int }

// sizes are those of each case, worked out by hand.
var sizes = map[string]size{
	"TestVectorExample::basic": {5, 5, 5, 6}, // spec/collector.md §15
	// Per block QK→SF, SF→PV, SF→UP, PV→UP, alloc→UP, and UP→UP between blocks.
	"TestPagedAttention::basic":  {12, 13, 12, 3*5 + 2},
	"TestPagedAttention::medium": {8192, 8208, 8192, 16 * (128*5 + 127)},
	"TestPagedAttention::half":   {51200, 51250, 51200, 50 * (256*5 + 255)},
	"TestPagedAttention::large":  {102400, 102500, 102400, 100 * (256*5 + 255)},
	// The same per group.
	"TestPagedAttentionUnroll::SimSmall":  {12, 15, 12, 3 * 5},
	"TestPagedAttentionUnroll::Remainder": {24, 26, 24, 2 * (3*5 + 2)},
	// Per tile: alloc→ all of K and the epilogue, K→K, and the last of K → epilogue.
	"TestBlockMatmul::square": {16 * 5, 16 * 6, 16 * 5, 16 * (5 + 3 + 1)},
	"TestBlockMatmul::deep":   {6 * 10, 6 * 11, 6 * 10, 6 * (10 + 8 + 1)},

	"TestSpmdBasic::Case1":                  {1, 1, 3, 0},
	"TestSpmdMultiblockAiv::Case1":          {4, 4, 1 + 16 + 17 + 72, 3},
	"TestSpmdMultiblockMix::Case1":          {5, 5, 3 * (2 + 8 + 12 + 24 + 48), 4},
	"TestSyncStartDrainPhases::global_aiv":  {4, 4, 1 + 5 + 1 + 8, 3},
	"TestSyncStartDrainPhases::whole_chip":  {3, 3, 1 + 16 + 2, 0},
	"TestSpmdSyncStartEarlyDispatch::Case1": {2, 2, 50 + 8*3, 1},
	// A round has 3 + 1 + 1 + 2 + 2 subtasks. Linked: six edges a round, and from the
	// last task of one to the first of the next.
	"TestMixedExample::case1":  {20, 20, 4 * 9, 0},
	"TestMixedExample::case2":  {5, 5, 9, 0},
	"TestMixedExample::linked": {15, 15, 3 * 9, 3*6 + 2},

	"TestDummyTask::SingleDummyAutoDep":      {3, 3, 2, 2},
	"TestDummyTask::DummyExplicitDepBarrier": {4, 4, 3, 4}, // and from the writer to the reader
	"TestDummyTask::LongDummyChain":          {6, 6, 2, 5},
	"TestDummyTask::DenseFanoutFanin":        {20, 20, 2, 18 + 18 + 1},
	"TestDummyTask::GroupBarrier":            {17, 17, 16, 8 + 8},

	"TestPredicatedDispatch::PredicateTrueDispatches": {4, 4, 4, 3},
	"TestPredicatedDispatch::PredicateFalseSkips":     {4, 4, 3, 3},

	// Per row: alloc → five chunks and the mean, chunk → chunk, last chunk → mean.
	"TestAllocAccumulate::Case1": {6 * 6, 6 * 7, 6 * 6, 6 * (6 + 4 + 1)},
	"TestManualScope::Diamonds":  {12, 12, 12, 3*4 + 2},

	"TestFaninLookupPerf::SwimlaneProducers64Consumers64": {128, 128, 128, 64 * 64},
	"TestFaninLookupPerf::TensorMap64":                    {129, 129, 129, 64*64 + 64},

	"TestEarlyDispatchChain::single":    {8, 8, 8, 7},
	"TestEarlyDispatchChain::blocks":    {8, 8, 32, 7},
	"TestEarlyDispatchChain::plain":     {8, 8, 8, 7},
	"TestTaskTimingSlots::FirstAndLast": {5, 5, 5, 4},

	// Graphs that the host has built.
	"TestVectorExampleHostBuildGraph::basic":                        {5, 5, 5, 6},
	"TestVectorExampleHostBuildGraph::four":                         {4, 4, 4, 4},
	"TestPagedAttentionHostBuildGraph::small1":                      {4, 5, 4, 5},
	"TestPagedAttentionHostBuildGraph::SimMedium":                   {2048, 2056, 2048, 8 * (64*5 + 63)},
	"TestPagedAttentionHostBuildGraph::basic":                       {12, 13, 12, 3*5 + 2},
	"TestPagedAttentionHostBuildGraph::medium":                      {8192, 8208, 8192, 16 * (128*5 + 127)},
	"TestPagedAttentionUnrollHostBuildGraph::SimSmall":              {12, 15, 12, 3 * 5},
	"TestPagedAttentionUnrollHostBuildGraph::Remainder":             {24, 26, 24, 2 * (3*5 + 2)},
	"TestPredicatedDispatchHostBuildGraph::PredicateTrueDispatches": {4, 4, 4, 3},
	"TestPredicatedDispatchHostBuildGraph::PredicateFalseSkips":     {4, 4, 3, 3},
	"TestDummyTaskHostBuildGraph::SingleDummyAutoDep":               {3, 3, 2, 2},
	"TestDummyTaskHostBuildGraph::DummyExplicitDepBarrier":          {4, 4, 3, 4},
	"TestDummyTaskHostBuildGraph::LongDummyChain":                   {6, 6, 2, 5},
	"TestDummyTaskHostBuildGraph::DenseFanoutFanin":                 {20, 20, 2, 18 + 18 + 1},
	"TestDummyTaskHostBuildGraph::GroupBarrier":                     {17, 17, 16, 8 + 8},
	"TestAsyncWaitHostBuildGraph::Chains":                           {24, 24, 24, 16},
	// A task and three graphs of four tasks and an alloc.
	"TestGraphExecutionHostBuildGraph::record_then_replay_1d": {4, 4, 1 + 3*4, 3},
	"TestGraphExecutionHostBuildGraph::record_then_replay_2d": {4, 4, 1 + 3*4, 3},
}

// small is how many rows a case may have that runs at every level and is drawn.
const small = 1000

// ran is a case that was run with everything recorded, and read again.
type ran struct {
	*testing.T
	label, dir string
	deps       *capture.Deps
	graph      *taskgraph.Graph
	*timeline.Timeline
}

// forOneChip are the scenes that one chip runs: those for a node are tested in
// node_test.go.
func forOneChip() []*scene.Scene {
	return slices.DeleteFunc(scenes.All(), func(s *scene.Scene) bool { return s.Node != nil })
}

// TestScenes runs every case for one chip on every simulator with everything recorded, and the
// small ones at every level.
func TestScenes(t *testing.T) {
	mode := scene.Include
	if testing.Short() {
		mode = scene.Exclude
	}
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		cases, err := scene.Select(forOneChip(), scene.Selection{Platform: platform, Manual: mode})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			c = onThreads(c) // the others are for TestAICores
			t.Run(platform+"/"+c.Label(), func(t *testing.T) {
				want, ok := sizes[c.Label()]
				if !ok {
					t.Fatal("the case is not in the table of sizes")
				}
				if want.rows > small {
					for level := 4; level > 0 && (level == 4 || want.rows < 10_000 && !testing.Short()); level-- {
						run(t, c, platform, level, want)
					}
					return
				}
				t.Parallel()
				run(t, c, platform, 0, want)
				for level := 1; level < 4 && !testing.Short(); level++ {
					run(t, c, platform, level, want)
				}
				r := run(t, c, platform, 4, want)
				r.checkRun()
				if check := facts[c.Label()]; check != nil {
					check(r)
				}
				r.checkPicture()
			})
		}
	}
}

// run runs a case at a level and reads what it recorded. The result is nil but at
// level 4, which has a graph too.
func run(t *testing.T, c scene.Selected, platform string, level int, want size) *ran {
	t.Helper()
	cfg := scene.CallConfig{EnableChipSwimlane: level, EnableDepGen: level == 4}
	if level > 0 {
		cfg.OutputPrefix = t.TempDir()
	}
	result, err := c.Run(platform, cfg)
	if err != nil {
		t.Fatalf("level %d: %v", level, err)
	}
	if result.Golden != nil {
		t.Errorf("level %d: %v", level, result.Golden)
	}
	if result.Tasks != want.tasks || result.Submits != want.submits || len(result.Notes) > 0 {
		t.Errorf("level %d: %d tasks in %d submits, want %d in %d; notes %q", level, result.Tasks, result.Submits, want.tasks, want.submits, result.Notes)
	}
	if level == 0 {
		return nil
	}
	rec := readCapture(t, result.Records)
	sched, phases, submits := 0, 0, 0
	if level >= 2 {
		sched = want.rows
	}
	if level >= 4 {
		submits = want.submits
	}
	for i := range rec.Streams {
		phases += rec.Streams[i].Phases.Len()
	}
	lanes := 0
	for _, lane := range slices.Concat(rec.DeviceOrc, rec.HostOrc) {
		lanes += lane.Len()
	}
	if rec.Level != level || rec.Tasks.Len() != want.rows || rec.Sched.Len() != sched || (phases > 0) != (level >= 3) || lanes != submits || len(rec.Warnings) > 0 {
		t.Errorf("level %d: a capture of level %d with %d rows, %d of schedulers, %d phases, %d submits: want %d, %d, phases from level 3 on, %d; warnings %v",
			level, rec.Level, rec.Tasks.Len(), rec.Sched.Len(), phases, lanes, want.rows, sched, submits, rec.Warnings)
	}
	if level < 4 {
		return nil
	}
	return join(t, c.Label(), rec, result.Graph, want)
}

func readCapture(t *testing.T, path string) *capture.Records {
	t.Helper()
	rec, err := capture.Read(path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// join reads the graph and puts both on one axis.
func join(t *testing.T, label string, rec *capture.Records, path string, want size) *ran {
	t.Helper()
	deps, err := capture.ReadDeps(path, nil)
	if err != nil || deps == nil {
		t.Fatalf("the graph %v (%v)", deps, err)
	}
	graph, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	if len(deps.Task) != want.tasks || graph.Edges() != want.edges || deps.Skipped != 0 {
		t.Errorf("a graph of %d tasks and %d edges, want %d and %d", len(deps.Task), graph.Edges(), want.tasks, want.edges)
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		t.Fatal(err)
	}
	if len(tl.Warnings) > 0 || tl.Unmatched != 0 || tl.Untimed != 0 || len(tl.Losses) > 0 {
		t.Errorf("warnings %v, %d and %d rows of one side only, losses %v", tl.Warnings, tl.Unmatched, tl.Untimed, tl.Losses)
	}
	return &ran{T: t, label: label, dir: filepath.Dir(path), deps: deps, graph: graph, Timeline: tl}
}
