package scenes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/parity"
	"swimlane/scene"
	"swimlane/scenes"
)

// The level-2 name maps of the chip callables (spec/name-map.md §2.1); those of real
// captures are the first.
const (
	vectorNames = "{\n  \"level\": 2,\n  \"orchestrator_name\": \"vector_example\",\n  \"callable_id_to_name\": {\n    \"0\": \"add\",\n    \"1\": \"add_scalar\",\n    \"2\": \"mul\"\n  }\n}"
	halveNames  = "{\n  \"level\": 2,\n  \"orchestrator_name\": \"halve_example\",\n  \"callable_id_to_name\": {\n    \"0\": \"half\"\n  }\n}"
)

// nodeSizes is what each case for a node runs, worked out by hand.
var nodeSizes = map[string]struct {
	chips, runs, dispatches int // of chips
	tasks                   int // of all chips
	callables               []string
}{
	"TestL3Vectors::2x2":               {2, 2, 4, 4 * 5, []string{"vector_kernel", "verify"}},
	"TestL3Vectors::3x4":               {3, 4, 12, 12 * 5, []string{"vector_kernel", "verify"}},
	"TestL3VectorsHostBuildGraph::2x2": {2, 2, 4, 4 * 5, []string{"vector_kernel", "verify"}},
	"TestL3Group::default":             {2, 1, 2, 2 * 5, []string{"vector_kernel", "verify"}},
	"TestL3Chain::default":             {2, 1, 2, 5 + 4, []string{"vector_kernel", "halve_kernel", "verify"}},
}

// forNodes are the cases for a node.
func forNodes(t *testing.T, platform string, labels ...string) (list []scene.Selected) {
	t.Helper()
	cases, err := scene.Select(scenes.All(), scene.Selection{Platform: platform, Manual: scene.Include})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Scene.Node != nil && (len(labels) == 0 || slices.Contains(labels, c.Label())) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		t.Fatalf("none of the cases %q", labels)
	}
	return list
}

// runTree runs a case, and checks the whole tree that it leaves.
func runTree(t *testing.T, c scene.Selected, platform string, level int, deps bool) (*tree, *scene.Result) {
	t.Helper()
	return runTreeWith(t, c, platform, level, deps, nil)
}

// runTreeWith is runTree with other costs of the model.
func runTreeWith(t *testing.T, c scene.Selected, platform string, level int, deps bool, costs *scene.Costs) (*tree, *scene.Result) {
	t.Helper()
	root := t.TempDir()
	r, err := c.RunWith(scene.Setup{Platform: platform, Costs: costs, Call: scene.CallConfig{EnableChipSwimlane: level, EnableDepGen: deps, OutputPrefix: root}})
	if err != nil {
		t.Fatal(err)
	}
	want := nodeSizes[c.Label()]
	if r.Golden != nil || len(r.Notes) > 0 || len(r.Dispatches) != want.dispatches || r.Tasks != want.tasks || r.Submits != want.tasks {
		t.Errorf("level %d: golden %v, notes %q, %d dispatches, %d tasks in %d submits, want %d and %d", level, r.Golden, r.Notes, len(r.Dispatches), r.Tasks, r.Submits, want.dispatches, want.tasks)
	}
	kernels := map[string]string{}
	for _, d := range r.Dispatches {
		names := vectorNames
		if d.Callable == "halve_kernel" {
			names = halveNames
		}
		_, m, err := object(filepath.Join(d.Dir, "dispatch_identity.json"))
		if err != nil {
			t.Fatal(err)
		}
		kernels[fmt.Sprint(m["callable_digest"])[:16]] = names
	}
	tr, faults := checkTree(root, treeWant{
		chips: want.chips, runs: want.runs, callables: want.callables, kernels: kernels, label: c.FileLabel(), level: level, deps: deps, sidecars: true,
		built: c.Scene.Runtime == scene.HostBuildGraph,
	})
	for _, f := range faults {
		t.Errorf("level %d: %s", level, f)
	}
	for _, d := range r.Dispatches {
		if tr.ranks[int64(d.PID)] != int64(d.Rank) || d.Err != nil || d.Makespan <= 0 {
			t.Errorf("level %d: %+v, and the sidecars say that this process is rank %d", level, d, tr.ranks[int64(d.PID)])
		}
	}
	return tr, r
}

// TestNodeTrees runs the cases for a node and checks all that they leave.
func TestNodeTrees(t *testing.T) {
	for _, c := range forNodes(t, scene.A2A3Sim) {
		t.Run("a2a3sim/"+c.Label(), func(t *testing.T) {
			tr, _ := runTree(t, c, scene.A2A3Sim, 4, true)
			checkOrder(t, tr, c.Scene.Class == "TestL3Chain")
		})
	}
	for level := 1; level < 5; level++ {
		c := forNodes(t, scene.A5Sim, "TestL3VectorsHostBuildGraph::2x2")[0]
		t.Run(fmt.Sprintf("a5sim/%s/%d", c.Label(), level), func(t *testing.T) { runTree(t, c, scene.A5Sim, level, true) })
	}
	for level := range 5 {
		c := forNodes(t, scene.A5Sim, "TestL3Group::default", "TestL3Chain::default")[level%2]
		// Level 0 is the graph alone.
		t.Run(fmt.Sprintf("a5sim/%s/%d", c.Label(), level), func(t *testing.T) { runTree(t, c, scene.A5Sim, level, level%2 == 0) })
	}
}

// TestNodeOfAicpuSchedulers: a case says who schedules on the chips of a node, as on one chip.
func TestNodeOfAicpuSchedulers(t *testing.T) {
	for threads, want := range map[bool]string{false: capture.ProducerAICore, true: capture.ProducerAICPU} {
		c := forNodes(t, scene.A5Sim, "TestL3VectorsHostBuildGraph::2x2")[0]
		one := *c.Case
		one.Config.AicpuSchedulers = threads
		r, err := scene.Selected{Scene: c.Scene, Case: &one}.Run(scene.A5Sim, scene.CallConfig{EnableChipSwimlane: 3, OutputPrefix: t.TempDir()})
		if err != nil || r.Golden != nil || len(r.Dispatches) != 4 {
			t.Fatalf("%v, golden %v, %d dispatches", err, r.Golden, len(r.Dispatches))
		}
		for _, d := range r.Dispatches {
			if rec, err := capture.Read(d.Records, capture.Options{}); err != nil || rec.Sched.Producer != want {
				t.Errorf("AICPU schedulers: %v, and %v scheduled (%v): want %s", threads, rec.Sched.Producer, err, want)
			}
		}
	}
}

// checkOrder: verify, the last task of a run, is dispatched when all others have completed;
// in a chain every task when the one before has.
func checkOrder(t *testing.T, tr *tree, chain bool) {
	t.Helper()
	completes := tr.byKey("complete")
	for k, d := range tr.byKey("dispatch") {
		last := true
		for other := range completes {
			last = last && (other.run != k.run || other.slot <= k.slot)
		}
		for other, c := range completes {
			if other.run == k.run && other.slot < k.slot && (last || chain) && d.ts < c.ts {
				t.Errorf("%v is dispatched at %d, and %v completes at %d", k, d.ts, other, c.ts)
			}
		}
	}
}

// TestRealTrees: what the checker says of trees of the reference's simulator. They have no sidecars, and
// their runs of a chip no identity.
func TestRealTrees(t *testing.T) {
	shared := parity.Shared(t)
	for name, want := range map[string]treeWant{
		"a2a3sim_tmr_l3_vector2x2_l4_deps":     {chips: 2, runs: 2, level: 4, deps: true},
		"a2a3sim_tmr_l3_vector3x4_l4_deps":     {chips: 3, runs: 4, level: 4, deps: true},
		"a2a3sim_hbg_l3_vector2x2_l4_deps":     {chips: 2, runs: 2, level: 4, deps: true, built: true},
		"a5sim_tmr_l3_vector2x2_l4_deps":       {chips: 2, runs: 2, level: 4, deps: true},
		"a2a3sim_tmr_l3_group_strace_rounds10": {chips: 2, runs: 10},
		"a2a3sim_tmr_l3_group_scene_deps":      {chips: 2, runs: 1},
	} {
		root := filepath.Join(shared, "captures", name)
		if text, err := os.ReadFile(filepath.Join(root, "reference", "rank_pids.json")); err == nil {
			if err := json.Unmarshal(text, &want.pids); err != nil {
				t.Fatal(err)
			}
		}
		_, faults := checkTree(root, want)
		for _, f := range faults {
			t.Errorf("%s: %s", name, f)
		}
	}
}

// relative are the records of a capture with all cycles from the first one on, and without
// what the host's clock says; and the spans of the device that its log has.
func relative(t *testing.T, tr *tree, d scene.Dispatch) (records map[string]any, device []string) {
	t.Helper()
	_, m, err := object(d.Records)
	if err != nil {
		t.Fatal(err)
	}
	device = deviceSpans(tr, int64(d.PID), int64(d.Run))
	if len(device) == 0 {
		t.Fatalf("process %d has no spans of the device in run %d", d.PID, d.Run)
	}
	return withoutBase(m), device
}

func deviceSpans(tr *tree, pid, run int64) (device []string) {
	for _, s := range tr.logs[pid] {
		if s.attrs["clk"] == "dev" && s.inv == run {
			device = append(device, fmt.Sprint(s.name, s.ts, s.dur))
		}
	}
	return device
}

// withoutBase changes records so that their cycles begin at 0.
func withoutBase(m map[string]any) map[string]any {
	var base *big.Int
	cycles(m, func(_ string, start, _ *big.Int) {
		if base == nil || start.Cmp(base) < 0 {
			base = new(big.Int).Set(start)
		}
	})
	cut := func(list []any, i int) {
		n, _ := new(big.Int).SetString(fmt.Sprint(list[i]), 10)
		list[i] = json.Number(n.Sub(n, base).String())
	}
	rows, _ := m["aicore_tasks"].([]any)
	for _, r := range rows {
		cut(r.([]any), 3)
		cut(r.([]any), 4)
	}
	tasks, _ := m["scheduler_tasks"].(map[string]any)
	rows, _ = tasks["records"].([]any)
	for _, r := range rows {
		cut(r.([]any), 2)
		cut(r.([]any), 3)
	}
	phase := func(r any) {
		for _, key := range []string{"start_cycles", "end_cycles"} {
			one := []any{r.(map[string]any)[key]}
			cut(one, 0)
			r.(map[string]any)[key] = one[0]
		}
	}
	streams, _ := m["scheduler_records"].(map[string]any)
	rows, _ = streams["streams"].([]any)
	for _, s := range rows {
		for _, r := range s.(map[string]any)["records"].([]any) {
			phase(r)
		}
	}
	rows, _ = m["aicpu_orchestrator_phases"].([]any)
	for _, l := range rows {
		for _, r := range l.([]any) {
			phase(r)
		}
	}
	meta := m["metadata"].(map[string]any)
	for _, key := range []string{"clock_anchors", "host_timeline_origin_ns", "host_clock_domain_id"} {
		delete(meta, key)
	}
	return m
}

// TestNodeIsDeterministic: but for where the counter begins, two runs of a case leave the same
// captures, and each is that of the chip callable as a scene for one chip, whose
// clock is virtual.
func TestNodeIsDeterministic(t *testing.T) {
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		c := forNodes(t, platform, "TestL3Vectors::2x2")[0]
		tr1, one := runTree(t, c, platform, 4, true)
		tr2, two := runTree(t, c, platform, 4, true)

		alone := &scene.Scene{
			Class: "TestAlone", Runtime: c.Scene.Runtime, Callable: *c.Scene.Node.Callables[0].Chip,
			Cases:  []scene.Case{{Name: "one", Platforms: []string{platform}, Config: scene.Config{Clusters: c.Case.Config.Clusters}}},
			Inputs: func(*scene.Case) []scene.Data { return c.Scene.Inputs(c.Case)[:3] },
		}
		dir := t.TempDir()
		single, err := scene.Selected{Scene: alone, Case: &alone.Cases[0]}.Run(platform, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: dir})
		if err != nil {
			t.Fatal(err)
		}
		_, m, err := object(single.Records)
		if err != nil {
			t.Fatal(err)
		}
		want := withoutBase(m)
		wantGraph, err := os.ReadFile(single.Graph)
		if err != nil {
			t.Fatal(err)
		}
		plain := &tree{root: dir, logs: map[int64][]span{}}
		plain.readLogs()
		var wantDevice []string
		for pid := range plain.logs {
			for run := range plain.invocations(pid) {
				wantDevice = deviceSpans(plain, pid, run)
			}
		}
		for name, v := range map[string]struct {
			tr *tree
			r  *scene.Result
		}{"first": {tr1, one}, "second": {tr2, two}} {
			for _, d := range v.r.Dispatches {
				got, device := relative(t, v.tr, d)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %s run: the records of rank %d, run %d differ from those of one chip alone:\n%v\n%v", platform, name, d.Rank, d.Run, got, want)
				}
				if !slices.Equal(device, wantDevice) {
					t.Errorf("%s, %s run: the device tells\n%v\nand alone\n%v", platform, name, device, wantDevice)
				}
				if graph, err := os.ReadFile(d.Graph); err != nil || !bytes.Equal(graph, wantGraph) {
					t.Errorf("%s, %s run: the graph of rank %d, run %d is another one (%v)", platform, name, d.Rank, d.Run, err)
				}
			}
		}
	}
}

// TestSlowModel: a device that takes longer in the model than its simulation here still ends within
// chip.run.runner_run, and what it records is not later than that.
func TestSlowModel(t *testing.T) {
	costs, err := scene.DefaultCosts(scene.A2A3Sim)
	if err != nil {
		t.Fatal(err)
	}
	const slow = 250_000_000 // ns
	if err := costs.Read(strings.NewReader(fmt.Sprintf(`{"run.sm_reset": {"ns": %d, "source": "a test"}}`, slow))); err != nil {
		t.Fatal(err)
	}
	tr, r := runTreeWith(t, forNodes(t, scene.A2A3Sim, "TestL3Group::default")[0], scene.A2A3Sim, 4, false, costs)
	for _, d := range r.Dispatches {
		run := tr.invocations(int64(d.PID))[1]
		runner, wall := run["chip.run.runner_run"], run["chip.run.runner_run.device_wall"]
		if wall.dur < slow || runner.dur < wall.dur {
			t.Errorf("rank %d: chip.run.runner_run takes %d ns, the device %d: expected at least %d, and the first to be longer", d.Rank, runner.dur, wall.dur, slow)
		}
	}
}

// TestNodeRounds: rounds are runs of the same processes, and nothing is recorded.
func TestNodeRounds(t *testing.T) {
	c := forNodes(t, scene.A2A3Sim, "TestL3Vectors::2x2")[0]
	root := t.TempDir()
	r, err := c.RunWith(scene.Setup{Platform: scene.A2A3Sim, Rounds: 3, Devices: []int{4, 6, 9}, Call: scene.CallConfig{OutputPrefix: root}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Golden != nil || r.Rounds != 3 || len(r.Dispatches) != 12 || r.Tasks != 20 {
		t.Errorf("%+v", r)
	}
	devices := map[int]int{}
	for _, d := range r.Dispatches {
		devices[d.Rank] = d.Device
		if d.Dir != "" {
			t.Errorf("a dispatch has the directory %s", d.Dir)
		}
	}
	if !maps.Equal(devices, map[int]int{0: 4, 1: 6}) {
		t.Errorf("the ranks have the devices %v", devices)
	}
	if found, _ := filepath.Glob(filepath.Join(root, "rank*")); len(found) > 0 {
		t.Errorf("there is %v", found)
	}
	_, faults := checkTree(root, treeWant{chips: 2, runs: 6})
	for _, f := range faults {
		t.Error(f)
	}
	if _, err := c.RunWith(scene.Setup{Platform: scene.A2A3Sim, Rounds: 2, Call: scene.CallConfig{OutputPrefix: root, EnableDepGen: true}}); err == nil {
		t.Error("two rounds with a diagnostic run")
	}
}

// TestTreeChecker: a tree that is changed in one place is not as it must be.
func TestTreeChecker(t *testing.T) {
	c := forNodes(t, scene.A2A3Sim, "TestL3Group::default")[0]
	tr, _ := runTree(t, c, scene.A2A3Sim, 4, false)
	if t.Failed() {
		return
	}
	main := fmt.Sprintf("host.%d.log", tr.main)
	chip := ""
	for pid, rank := range tr.ranks {
		if rank == 1 {
			chip = fmt.Sprintf("host.%d.log", pid)
		}
	}
	for name, v := range map[string]struct{ file, from, to, want string }{
		"sidecar of another rank":   {"rank1/d0/dispatch_identity.json", `"chip_rank": 1`, `"chip_rank": 0`, "the sidecar says"},
		"sidecar of another run":    {"rank1/d0/dispatch_identity.json", `"run_id": 1`, `"run_id": 2`, "fits no run"},
		"sidecar with a boolean":    {"rank1/d0/dispatch_identity.json", `"group_size": 2`, `"group_size": true`, "not of the form"},
		"index twice":               {"rank1/d0/dispatch_identity.json", `"group_index": 1`, `"group_index": 0`, "indexes"},
		"other callable":            {"rank0/d0/dispatch_identity.json", `"callable_digest": "`, `"callable_digest": "f`, "not of the form"},
		"no sidecar":                {"rank0/d0/dispatch_identity.json", "", "", "lacks"},
		"wrong names":               {"rank0/d0/name_map_TestL3Group_default.json", `"level": 2`, `"level": 3`, "the name map is"},
		"no names":                  {"name_map_TestL3Group_default.json", `"verify"`, `"other"`, "callable 1"},
		"a cycle outside":           {"rank0/d0/chip_swimlane_records.json", `"start_cycles": `, `"start_cycles": 1`, "not in chip.run.runner_run"},
		"an anchor elsewhere":       {"rank0/d0/chip_swimlane_records.json", `"device_cycles": `, `"device_cycles": 1`, "anchor 0"},
		"another clock":             {"rank0/d0/chip_swimlane_records.json", `linux-boot-id:`, `linux-boot-id:x`, "clocks of the host"},
		"a torn record":             {main, `node.complete ts=`, `node.complete ts=-`, "is no span"},
		"a failed task":             {main, `outcome=0`, `outcome=1`, "outcome 1"},
		"a submit too many":         {main, `name=node.submit`, `name=node.graph_build`, "attributes"},
		"an attribute too few":      {main, ` slot_id=0 generation=1`, ` generation=1`, "attributes"},
		"a dispatch id":             {main, `dispatch_id=1 `, `dispatch_id=2 `, "dispatch_id=2"},
		"facade on another thread":  {main, fmt.Sprintf("tid=%d ", tr.main), "tid=7 ", "thread 7"},
		"no anchor":                 {main, "clock_anchor: [CLOCK_ANCHOR]", "clock_anchor: ", "anchors"},
		"no identity":               {chip, ` run_epoch=1`, ``, "attributes"},
		"another generation":        {chip, ` generation=1`, ` generation=2`, "fits no run"},
		"a wall that is too long":   {chip, `device_wall ts=0 dur=`, `device_wall ts=0 dur=9999`, "the device was busy"},
		"a phase that is too long":  {chip, `device_wall.sched ts=`, `device_wall.sched ts=9`, "is not in"},
		"a span outside its parent": {chip, `chip.run.bind.args ts=`, `chip.run.bind.args ts=1`, "ended at"},
		"a phase too few":           {chip, `device_wall.orch `, `device_wall.orch2 `, "has no chip.run.runner_run.device_wall.orch"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.CopyFS(root, os.DirFS(tr.root)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, v.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if v.from == "" {
				err = os.Remove(path)
			} else if !strings.Contains(string(text), v.from) {
				t.Fatalf("%s does not contain %q", v.file, v.from)
			} else {
				err = os.WriteFile(path, []byte(strings.Replace(string(text), v.from, v.to, 1)), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, faults := checkTree(root, tr.want)
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, v.want) }) {
				t.Errorf("it finds %q, want something with %q", faults, v.want)
			}
		})
	}
}

// TestNodeNamesOfCaptures: the name map of a node is that of the reference's, but for where it lies.
func TestNodeNamesOfCaptures(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(parity.Shared(t), "captures", "a2a3sim_tmr_l3_group_scene_deps", "name_map_TestL3Group_default.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := scenes.L3Group().Node.NameMap(); !bytes.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	chip, err := os.ReadFile(filepath.Join(parity.Shared(t), "captures", "a2a3sim_tmr_l3_vector2x2_l4_deps", "rank0", "d0", "name_map_l3.json"))
	if err != nil || string(chip) != vectorNames {
		t.Errorf("%s (%v), want %s", chip, err, vectorNames)
	}
}

// logOrder is what a log tells, in its order, without numbers.
func logOrder(t *testing.T, path string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`depth=(\d) name=(chip[a-z_.]+) `).FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1]+" "+m[2])
	}
	return list
}

// TestChipLogAsReal: the log of a chip has the spans of a real one in their order; ours has
// three more, which the reference's simulator does not measure.
func TestChipLogAsReal(t *testing.T) {
	shared := parity.Shared(t)
	want := logOrder(t, filepath.Join(shared, "captures", "a2a3sim_tmr_l3_vector2x2_l4_deps", "host.24710.log"))
	tr, r := runTree(t, forNodes(t, scene.A2A3Sim, "TestL3Vectors::2x2")[0], scene.A2A3Sim, 4, true)
	more := []string{"1 chip.run.claim_release", "3 chip.run.runner_run.device_wall.preamble", "3 chip.run.runner_run.device_wall.graph_build"}
	for _, d := range r.Dispatches {
		got := slices.DeleteFunc(logOrder(t, filepath.Join(tr.root, fmt.Sprintf("host.%d.log", d.PID))), func(s string) bool { return slices.Contains(more, s) })
		if !slices.Equal(got, want) {
			t.Errorf("rank %d writes\n%s\nthe real one\n%s", d.Rank, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
