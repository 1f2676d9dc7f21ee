package scenes_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/names"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/scene"
	"swimlane/scenes"
	"swimlane/timeline"
)

// real are the captures of scenes that ours have the names, kernels and graphs of.
var real = map[string]string{
	"TestPagedAttentionUnroll::SimSmall":                  "a2a3sim_tmr_paged_attention_unroll_l4_deps",
	"TestSpmdBasic::Case1":                                "a2a3sim_tmr_spmd_basic_l4_deps",
	"TestSpmdMultiblockMix::Case1":                        "a2a3sim_tmr_spmd_multiblock_mix_l4_deps",
	"TestSyncStartDrainPhases::global_aiv":                "a2a3sim_tmr_sync_start_drain_l4_deps",
	"TestSpmdSyncStartEarlyDispatch::Case1":               "a2a3sim_tmr_spmd_sync_start_early_l4_deps",
	"TestMixedExample::case1":                             "a5sim_tmr_mixed_example_l4_deps__TestMixedExample_case1",
	"TestMixedExample::case2":                             "a2a3sim_tmr_mixed_example_l4_deps__TestMixedExample_case2",
	"TestDummyTask::SingleDummyAutoDep":                   "a2a3sim_tmr_dummy_task_l4_deps__TestDummyTask_SingleDummyAutoDep",
	"TestDummyTask::DummyExplicitDepBarrier":              "a2a3sim_tmr_dummy_task_l4_deps__TestDummyTask_DummyExplicitDepBarrier",
	"TestDummyTask::LongDummyChain":                       "a2a3sim_tmr_dummy_task_l4_deps__TestDummyTask_LongDummyChain",
	"TestDummyTask::DenseFanoutFanin":                     "a5sim_tmr_dummy_task_l4_deps__TestDummyTask_DenseFanoutFanin",
	"TestPredicatedDispatch::PredicateTrueDispatches":     "a2a3sim_tmr_predicated_dispatch_l4_deps__TestPredicatedDispatch_PredicateTrueDispatches",
	"TestPredicatedDispatch::PredicateFalseSkips":         "a5sim_tmr_predicated_dispatch_l4_deps__TestPredicatedDispatch_PredicateFalseSkips",
	"TestFaninLookupPerf::SwimlaneProducers64Consumers64": "a2a3sim_tmr_fanin_l4_deps",

	"TestVectorExampleHostBuildGraph::four":                         "a2a3sim_hbg_vector_example_l4_deps",
	"TestPagedAttentionHostBuildGraph::small1":                      "a2a3sim_hbg_paged_attention_l4_deps",
	"TestPagedAttentionHostBuildGraph::SimMedium":                   "a2a3sim_hbg_paged_attention_medium_l4_deps",
	"TestPredicatedDispatchHostBuildGraph::PredicateTrueDispatches": "a2a3sim_hbg_predicated_dispatch_l4_deps__TestPredicatedDispatch_PredicateTrueDispatches",
	"TestPredicatedDispatchHostBuildGraph::PredicateFalseSkips":     "a2a3sim_hbg_predicated_dispatch_l4_deps__TestPredicatedDispatch_PredicateFalseSkips",
	"TestGraphExecutionHostBuildGraph::record_then_replay_1d":       "a2a3sim_hbg_graph_execution_l4_deps__TestGraphExecutionHostBuildGraph_record_then_replay_1d",
	"TestGraphExecutionHostBuildGraph::record_then_replay_2d":       "a2a3sim_hbg_graph_execution_l4_deps__TestGraphExecutionHostBuildGraph_record_then_replay_2d",
}

// otherTypes are those whose elements are of other types than ours.
var otherTypes = map[string]bool{"TestPagedAttentionHostBuildGraph::small1": true, "TestPagedAttentionHostBuildGraph::SimMedium": true}

// TestLikeRealCaptures runs the scenes that real captures exist of, on the platform
// of each, and compares graphs, names, cores and how many rows each task has.
func TestLikeRealCaptures(t *testing.T) {
	shared := parity.Shared(t)
	for _, label := range slices.Sorted(maps.Keys(real)) {
		platform, _, _ := strings.Cut(real[label], "_")
		cases, err := scene.Select(scenes.All(), scene.Selection{Platform: platform, Manual: scene.Include, Cases: []string{label}})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(label, func(t *testing.T) {
			want := openCapture(t, filepath.Join(shared, "captures", real[label]))
			ours := t.TempDir()
			if _, err := cases[0].Run(platform, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: ours}); err != nil {
				t.Fatal(err)
			}
			got := openCapture(t, ours)
			if len(want.names.Sorted()) == 0 { // then ours is drawn without names too
				got.names = want.names
			}
			if got.rec.Meta.ClockHz != want.rec.Meta.ClockHz || got.rec.Tasks.Len() != want.rec.Tasks.Len() {
				t.Errorf("%d rows at %d Hz, want %d at %d Hz", got.rec.Tasks.Len(), got.rec.Meta.ClockHz, want.rec.Tasks.Len(), want.rec.Meta.ClockHz)
			}
			if !slices.Equal(got.rec.Meta.CoreTypes, want.rec.Meta.CoreTypes) || !slices.Equal(got.rec.Meta.CoreToThread, want.rec.Meta.CoreToThread) {
				t.Errorf("cores %v of the threads %v, want %v of %v", got.rec.Meta.CoreTypes, got.rec.Meta.CoreToThread, want.rec.Meta.CoreTypes, want.rec.Meta.CoreToThread)
			}
			if !slices.Equal(got.tasks(), want.tasks()) {
				t.Errorf("tasks\n%v, want\n%v", got.tasks(), want.tasks())
			}
			if !slices.Equal(got.edges(), want.edges()) {
				t.Errorf("%d edges, want %d:\n%v, want\n%v", len(got.edges()), len(want.edges()), got.edges(), want.edges())
			}
			if got, want := got.asked(t, otherTypes[label]), want.asked(t, otherTypes[label]); !reflect.DeepEqual(got, want) {
				t.Errorf("deps.json says\n%+v, want\n%+v", got, want)
			}
			if !slices.Equal(got.submits(), want.submits()) {
				t.Errorf("submits\n%v, want\n%v", got.submits(), want.submits())
			}
			if got, want := hostDid(t, ours), hostDid(t, filepath.Join(shared, "captures", real[label])); !slices.Equal(got, want) {
				t.Errorf("the host did\n%v, want\n%v", got, want)
			}
			for _, e := range want.names.Sorted() {
				if !slices.Contains(got.names.Sorted(), e) {
					t.Errorf("no function %s is named %q; there are %v", e.Key, e.Name, got.names.Sorted())
				}
			}
			reference := parsePicture(t, parity.Unpacked(t, filepath.Join(shared, "captures", real[label], "reference", "trace.json.gz")))
			if got, want := got.picture(t).counts(), reference.counts(); !maps.Equal(got, want) {
				t.Errorf("the picture has\n%v, want\n%v", got, want)
			}
			for kind := range want.kinds() {
				if kind != "resolve" && kind != "release" && !got.kinds()[kind] { // these two depend on how long something takes
					t.Errorf("no record of the kind %s; there are %v", kind, slices.Sorted(maps.Keys(got.kinds())))
				}
			}
		})
	}
}

// opened is a directory with a capture, its graph and its names.
type opened struct {
	rec   *capture.Records
	path  string // of deps.json
	graph *taskgraph.Graph
	names *names.Map
}

// asked is what deps.json says of submits and of why tasks depend on each other,
// without shapes and the numbers of tensors.
type asked struct {
	Tasks []struct {
		TaskID string `json:"task_id"`
		Scope  string
		Early  bool `json:"early_dispatch"`
		Args   []struct {
			Idx         int
			Type, Dtype string
		}
	}
	Edges []struct {
		Pred, Succ string
		Arg        int
		Source     string
		Flags      []string
		Overlap    string
	}
}

func (o *opened) asked(t *testing.T, noTypes bool) (a asked) {
	t.Helper()
	if err := json.Unmarshal(parity.Unpacked(t, o.path), &a); err != nil {
		t.Fatal(err)
	}
	for i := range a.Tasks {
		for k := range a.Tasks[i].Args {
			if noTypes {
				a.Tasks[i].Args[k].Dtype = ""
			}
		}
	}
	return a
}

// hostDid is what a host did that built a graph, in any order and without times: what
// was submitted and recorded, by the thread that orchestrates or another one, and how
// many bytes the definitions of graphs have. Nothing, if it built none.
func hostDid(t *testing.T, dir string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "host_phase_records.jsonl*"))
	if err != nil || len(files) != 1 {
		return nil
	}
	var file struct {
		Pid     int
		Records []struct {
			Phase  string
			Detail uint64
			Tid    int
		}
	}
	if err := json.Unmarshal(parity.Unpacked(t, files[0]), &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Records {
		if r.Phase == "shared_mem" || r.Phase == "arena_h2d" { // ours have other sizes
			r.Detail = 0
		}
		out = append(out, fmt.Sprintf("%s %d, by another thread: %v", r.Phase, r.Detail, r.Tid != file.Pid))
	}
	slices.Sort(out)
	return out
}

func openCapture(t *testing.T, dir string) *opened {
	t.Helper()
	one := func(pattern string) string {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has %d files %s (%v), want one", dir, len(files), pattern, err)
		}
		return files[0]
	}
	rec, err := capture.Read(one("chip_swimlane_records.json*"), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := one("deps.json*")
	deps, err := capture.ReadDeps(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	m := &names.Map{}
	if files, _ := filepath.Glob(filepath.Join(dir, "name_map_*.json")); len(files) > 0 { // some have none
		if m, err = names.ReadMap(one("name_map_*.json")); err != nil {
			t.Fatal(err)
		}
	}
	return &opened{rec, path, graph, m}
}

func (o *opened) picture(t *testing.T) *picture {
	t.Helper()
	tl, err := timeline.New(o.rec, o.graph)
	if err != nil {
		t.Fatal(err)
	}
	_, text := drawn(t, tl, o.names)
	return parsePicture(t, text)
}

// counts are what of a picture does not depend on how long things take: the names of
// processes, bars by process and function, and arrows by process and name.
func (p *picture) counts() map[string]int {
	out := map[string]int{}
	for _, name := range p.process {
		out["process "+name]++
	}
	for _, pid := range []int{orchestrator, schedulerView, workerView} {
		for _, bar := range p.on(pid) {
			name, _, _ := strings.Cut(bar.Name, "(")
			out[p.process[pid]+" "+name]++
		}
	}
	for name, from := range p.arrows {
		if name == "hb_violation" {
			name = "dependency"
		}
		for pid, n := range from {
			if name != "complete→ready" {
				out[p.process[pid]+" "+name] += n
			}
		}
	}
	return out
}

// task is a task of a graph, and how many rows it has.
type task struct {
	id      uint64
	kernels [3]int32
	blocks  int32
	rows    int
}

// tasks are those of the graph that have kernels or none, by ascending id.
func (o *opened) tasks() (out []task) {
	rows := map[uint64]int{}
	for _, id := range o.rec.Tasks.Task {
		rows[id]++
	}
	for n := range int32(o.graph.Nodes()) {
		if kernels, ok := o.graph.Kernel(n); ok {
			id := o.graph.ID(n)
			out = append(out, task{id, kernels, o.graph.Block(n), rows[id]})
		}
	}
	slices.SortFunc(out, func(a, b task) int { return cmp.Compare(a.id, b.id) })
	return out
}

// edges are the pairs of tasks, sorted.
func (o *opened) edges() (out [][2]uint64) {
	for _, from := range o.graph.Preds() {
		for _, to := range o.graph.Succ(from) {
			out = append(out, [2]uint64{o.graph.ID(from), o.graph.ID(to)})
		}
	}
	slices.SortFunc(out, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	return out
}

// submits are the tasks and allocs in the order in which they were submitted.
func (o *opened) submits() (out []uint64) {
	for _, lane := range slices.Concat(o.rec.DeviceOrc, o.rec.HostOrc) {
		out = append(out, lane.Task...)
	}
	return out
}

func (o *opened) kinds() map[string]bool {
	out := map[string]bool{}
	for i := range o.rec.Streams {
		for _, k := range o.rec.Streams[i].Phases.Kind {
			out[o.rec.Kinds[k].Name] = true
		}
	}
	return out
}
