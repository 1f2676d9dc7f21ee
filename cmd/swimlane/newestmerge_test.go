package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/parity"
	"swimlane/internal/trace/check"
)

// newestTree is the tree of spec/newest.md §17 N9: two ranks, four repeated runs each,
// of which the captures are the third; in time as the worked example B of
// spec/l3.md §9.5, with a dispatcher. The files are those of a default run:
// change them as a case needs it.
type newestTree struct {
	t       *testing.T
	root    string
	chip    [2]string // log of the chip's process
	extract [2]string // what of it is about the third run
}

func newNewestTree(t *testing.T, launch string) *newestTree {
	n := &newestTree{t: t, root: t.TempDir()}
	for r := range 2 {
		base, shift, dir := 100+100000*r, 10000*r, fmt.Sprintf("rank%d/d0/", r)
		n.put(dir+"chip_swimlane_records.json", fmt.Sprintf(`{"chip_swimlane_level": 4, "metadata": {"runtime": "host_build_graph", "clock_freq_hz": 1000000000, "num_cores": 1, "core_types": ["aic"],
  "orchestrator_source": "host", "host_orchestration_origin_ns": %d, "host_capture": {"status": "complete", "dropped_records": 0, "recorded_records": 1, "expected_records": 1},
  "host_clock_domain_id": "linux-boot-id:a"},
 "aicore_tasks": [[0, 5, 1, %d, %d, 0, 3]],
 "scheduler_tasks": {"producer": "aicpu", "records": [[0, 1, %d, %d, 3]]},
 "scheduler_records": {"streams": [{"platform": "a2a3", "producer": "aicpu", "scheduler_id": 0, "worker_id": null, "core_type": null, "physical_core_id": null,
   "capture": {"committed": 1, "dropped": 0, "truncated": false},
   "records": [{"start_cycles": %d, "end_cycles": %d, "run_epoch": 3, "loop_iter": 0, "kind": "dispatch", "tasks_processed": 1, "task_id": null}], "metrics": []}]},
 "host_orchestrator_phases": [[{"submit_idx": 0, "task_id": 5, "start_host_ns": %d, "end_host_ns": %d}]]}`,
			shift+1500, base+1000, base+1100, base+900, base+1200, base+800, base+850, shift+1500, shift+1800))
		n.put(dir+"dispatch_identity.json", fmt.Sprintf(`{"schema_version": 1, "run_id": 17, "task_slot": 5, "group_index": %d, "group_size": 2, "host_pid": %d, "chip_rank": %d,
  "local_capture_index": 0, "endpoint_dispatch_id": 3, "pipeline_slot": 0, "pipeline_generation": 1, "callable_digest": "%s"}`, r, 1000+r, r, strings.Repeat("ab", 32)))
		for inv := 1; inv <= 4; inv++ {
			at := shift + 30000*((inv+1)%4) // the third is the first in time: the order does not matter
			var text strings.Builder
			span := func(depth int, name string, ts, dur int, attrs string) {
				fmt.Fprintf(&text, "[STRACE] v=1 pid=%d tid=%[1]d inv=%d hid=ab depth=%d name=%s ts=%d dur=%d %s\n", 1000+r, inv, depth, name, ts, dur, attrs)
			}
			span(1, "chip.run.runner_run", at+1000, 8000, "")
			if launch != "" {
				span(2, "chip.run.runner_run.aicpu_launch", at+1500, 0, launch)
			}
			span(2, "chip.run.runner_run.device_wall", 0, 2000, "clk=dev")
			span(2, "chip.run.runner_run.device_boundaries", at+3000, 0, "clk=dev dev_id=0 ts_hz=1000000000")
			span(3, "chip.run.runner_run.device_wall.sched", 700, 100, "clk=dev")
			span(0, "chip.run", at+900, 8200, fmt.Sprintf("run_id=17 dispatch_id=%d slot_id=0 generation=1 run_epoch=%[1]d", inv))
			n.chip[r] += text.String()
			if inv == 3 {
				n.extract[r] = text.String()
			}
		}
		n.put(fmt.Sprintf("host.%d.log", 1000+r), n.chip[r])
	}
	var node strings.Builder
	for _, s := range []string{"inv=17 hid=0 depth=0 name=node.graph_build ts=200 dur=100", "inv=17 hid=0 depth=0 name=node.dispatch ts=600 dur=500",
		"inv=0 hid=0 depth=0 name=node.scheduler_loop ts=300 dur=100", "inv=0 hid=0 depth=0 name=node.scheduler_loop ts=9600 dur=100"} {
		fmt.Fprintf(&node, "[STRACE] v=1 pid=900 tid=900 %s\n", s)
	}
	n.put("host.900.log", node.String())
	return n
}

func (n *newestTree) put(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newestTree) read(name string) string {
	n.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.root, name))
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}

func (n *newestTree) remove(names ...string) {
	n.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(n.root, name)); err != nil {
			n.t.Fatal(err)
		}
	}
}

// edit replaces text in a file.
func (n *newestTree) edit(name, from, to string) {
	n.t.Helper()
	text := n.read(name)
	if !strings.Contains(text, from) {
		n.t.Fatalf("%s does not hold %s", name, from)
	}
	n.put(name, strings.ReplaceAll(text, from, to))
}

const extracts = "rank%d/d0/host_clock_alignment.%d.log"

// TestNewestMerge is the worked example N9 of spec/newest.md §17 in all the forms in
// which its files can lie there: every one is the same picture.
func TestNewestMerge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*newestTree)
		args   []string
		source string // of both pairings
	}{
		{"logs of the processes", func(*newestTree) {}, nil, `capture_sidecar [host_pid dispatch]`},
		{"pins", func(n *newestTree) { n.remove("rank0/d0/dispatch_identity.json", "rank1/d0/dispatch_identity.json") },
			[]string{"--rank-pid", "0=1000:3", "--rank-pid", "1=1001:3"}, `pinned <nil>`},
		{"extracts only", func(n *newestTree) {
			for r := range 2 {
				n.remove(fmt.Sprintf("host.%d.log", 1000+r))
				n.put(fmt.Sprintf(extracts, r, 1000+r), n.extract[r])
			}
		}, nil, `capture_sidecar [host_pid dispatch]`},
		{"logs and extracts", func(n *newestTree) {
			n.put(fmt.Sprintf(extracts, 0, 1000), n.extract[0])
			n.put("host_clock_alignment.1001.log", n.extract[1])
		}, nil, `capture_sidecar [host_pid dispatch]`},
		{"runs that were submitted directly", func(n *newestTree) {
			for r := range 2 {
				for id := 1; id <= 4; id++ {
					n.edit(fmt.Sprintf("host.%d.log", 1000+r), fmt.Sprintf("run_id=17 dispatch_id=%d ", id), "run_id=0 dispatch_id=0 ")
				}
			}
		}, nil, `capture_sidecar [host_pid run_epoch]`},
		{"and whose log has no epoch", func(n *newestTree) {
			for r := range 2 {
				for id := 1; id <= 4; id++ {
					n.edit(fmt.Sprintf("host.%d.log", 1000+r), fmt.Sprintf("run_id=17 dispatch_id=%d slot_id=0 generation=1 run_epoch=%[1]d", id), "run_id=0 dispatch_id=0 slot_id=0 generation=1")
				}
			}
		}, nil, `capture_sidecar [host_pid host_records]`},
		{"retained", func(n *newestTree) {
			for r := range 2 {
				dir := fmt.Sprintf("rank%d/d0/", r)
				n.put(dir+"swimlane-0/records_e3.json", strings.Replace(n.read(dir+"chip_swimlane_records.json"), `"clock_freq_hz"`,
					`"collection": {"run_epoch": 3, "session_id": 0, "processing_complete": true, "metadata_complete": true, "not_received_buffers": 0, "verdict": "published"}, "clock_freq_hz"`, 1))
				n.remove(dir + "chip_swimlane_records.json")
			}
		}, nil, `capture_sidecar [host_pid dispatch]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNewestTree(t, "")
			c.change(n)
			bars, metadata, _, stderr, code := converted(t, append([]string{n.root, "--dispatch", "d0"}, c.args...)...)
			if code != 0 || stderr != "" && !strings.Contains(stderr, "no usable deps.json") {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			n.check(bars, metadata, c.source, 0)
			if metadata["trace_status"] != "complete" {
				t.Errorf("trace_status %v", metadata["trace_status"])
			}
			report, err := check.File(filepath.Join(n.root, "l3_swimlane.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				if f.Severity != check.Note {
					t.Errorf("the viewer would object: %v: %v", f.Rule, f.Examples)
				}
			}
		})
	}
}

// check holds the picture against the example: its bars lie later by the instant at
// which the device was launched, as far into the window as launch says (ns).
func (n *newestTree) check(bars []bar, metadata map[string]any, source string, launch float64) {
	n.t.Helper()
	if metadata["global_origin_ns"] != 200.0 || metadata["runtime"] != "host_build_graph" || fmt.Sprint(metadata["dispatcher_pids"]) != "[900]" ||
		metadata["cross_rank_uncertainty_ns"] != 12000-2*launch {
		n.t.Errorf("metadata %v", metadata)
	}
	for i, r := range metadata["ranks"].([]any) {
		pairing, place := r.(map[string]any)["host_pairing"].(map[string]any), r.(map[string]any)["placement"].(map[string]any)
		said := fmt.Sprintf("%v %v", pairing["source"], pairing["sidecar_keys"])
		if pairing["pid"] != 1000.0+float64(i) || pairing["inv"] != 3.0 || said != source || place["place_lo_ns"] != 1000+10000*float64(i)+launch || place["slack_ns"] != 6000-launch {
			n.t.Errorf("rank %d: paired %v, placed %v", i, pairing, place)
		}
	}
	at := map[string][]float64{}
	for _, b := range bars {
		if b.Ph == "X" {
			at[fmt.Sprintf("%d %s", b.PID, b.Name)] = append(at[fmt.Sprintf("%d %s", b.PID, b.Name)], b.TS)
		}
	}
	us := launch / 1000
	for key, want := range map[string][]float64{
		"1 node.dispatch": {0.4}, "1 node.scheduler_loop": {0.1, 9.4}, "1 node.graph_build": {0},
		"11 chip.run": {0.7}, "14 chip.run": {10.7}, "11 chip.run.runner_run": {0.8}, "14 chip.run.runner_run": {10.8},
		"11 chip.run.runner_run.device_boundaries": {2.8},
		"12 chip.run.runner_run.device_wall":       {0.8 + us}, "12 chip.run.runner_run.device_wall.sched": {1.5 + us},
		"104 task(t5)": {1.725 + us}, "204 task(t5)": {11.725 + us},
		"13 chip.run.runner_run (rank0)": {0.8}, fmt.Sprintf("13 slack %.1f us", 6-us): {0.8 + us},
	} {
		if len(at[key]) != len(want) {
			n.t.Errorf("%s is there %d times, want %d: %v", key, len(at[key]), len(want), at)
			continue
		}
		for i, ts := range want {
			if math.Abs(at[key][i]-ts) > 0.0001 {
				n.t.Errorf("%s is at %v, want %v", key, at[key], want)
			}
		}
	}
}

// TestNewestMergeLaunch: nothing of the device lies before it was launched (spec/newest.md §10.1).
func TestNewestMergeLaunch(t *testing.T) {
	n := newNewestTree(t, "stage=1")
	bars, metadata, stdout, stderr, code := converted(t, n.root, "-v")
	if code != 0 || !strings.Contains(stdout, " is of pid 1000 inv 3 (capture_sidecar: host_pid, dispatch), placed within 5.5 us, residual 0.1 us\n") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	n.check(bars, metadata, `capture_sidecar [host_pid dispatch]`, 500)
	found := 0
	for _, b := range bars {
		if b.Name == "chip.run.runner_run.aicpu_launch" && b.PID == 11 && b.TS == 1.3 && b.Dur == 0 {
			found++
		}
		if b.Name == "chip.run.runner_run (rank0)" && (b.Args["aicpu_launch_ns"] != 1500.0 || b.Args["outer_slack_ns"] != 6000.0 || b.Args["causal_constraint"] != "aicpu_launch<=device_start") {
			t.Errorf("%+v", b)
		}
	}
	if found != 1 {
		t.Errorf("the marker is drawn %d times", found)
	}
	n = newNewestTree(t, "clk=dev")
	if _, _, _, stderr, code := converted(t, n.root); code != 1 || !strings.Contains(stderr, "Error: invalid AICPU launch marker: expected Host clock, zero duration, and time within runner window (pid 1000 inv 3: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestNewestMergePartial: a retained run that is not whole makes the picture partial,
// and is told of (spec/newest.md §9).
func TestNewestMergePartial(t *testing.T) {
	n := newNewestTree(t, "")
	n.put("rank1/d0/swimlane-2/records_e3.json", strings.Replace(n.read("rank1/d0/chip_swimlane_records.json"), `"clock_freq_hz"`,
		`"collection": {"run_epoch": 3, "not_received_buffers": 2, "verdict": "partial_safe"}, "clock_freq_hz"`, 1))
	n.remove("rank1/d0/chip_swimlane_records.json")
	_, metadata, _, stderr, code := converted(t, n.root, "--dispatch-id", "17:5")
	said := fmt.Sprintf("Warning: rank1: %s: collection verdict partial_safe (not_received_buffers=2)\n", filepath.Join(n.root, "rank1/d0/swimlane-2/records_e3.json"))
	if code != 0 || !strings.Contains(stderr, said) || metadata["trace_status"] != "partial" {
		t.Errorf("exit %d, %v: %s", code, metadata["trace_status"], stderr)
	}
	ranks := metadata["ranks"].([]any)
	if a, b := ranks[0].(map[string]any)["trace_status"], ranks[1].(map[string]any)["trace_status"]; a != "complete" || b != "partial" {
		t.Errorf("ranks are %v and %v", a, b)
	}
}

// TestNewestMergeRefusals are those of spec/newest.md §10.
func TestNewestMergeRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*newestTree)
		want   string
	}{
		{"an epoch that the log does not have", func(n *newestTree) {
			n.edit("rank0/d0/chip_swimlane_records.json", `"run_epoch": 3`, `"run_epoch": 12`)
			n.edit("rank0/d0/chip_swimlane_records.json", `1200, 0, 3]]`, `1200, 0, 12]]`)
			n.edit("rank0/d0/chip_swimlane_records.json", `1300, 3]]`, `1300, 12]]`)
		}, "rank0: the records are of run_epoch 12, but the run that the sidecar names is pid 1000 inv 3 of run_epoch 3; "},
		{"two runtimes", func(n *newestTree) {
			n.edit("rank1/d0/chip_swimlane_records.json", "host_build_graph", "tensormap_and_ringbuffer")
		},
			"Ranks of this run name different runtimes (host_build_graph, tensormap_and_ringbuffer); one merged trace carries one TaskId layout, so these captures cannot be spliced together."},
		{"no log", func(n *newestTree) { n.remove("host.900.log", "host.1000.log", "host.1001.log") },
			"no host_clock_alignment.*.log or host.*.log under "},
		{"no clock", func(n *newestTree) {
			n.edit("rank1/d0/chip_swimlane_records.json", `"clock_freq_hz": 1000000000, `, "")
		},
			"capture metadata has no usable clock_freq_hz: "},
		{"no sidecar", func(n *newestTree) { n.remove("rank0/d0/dispatch_identity.json", "rank1/d0/dispatch_identity.json") },
			"the captures pair ambiguously with the Host log's invocations: "},
	} {
		n := newNewestTree(t, "")
		c.change(n)
		if _, _, _, stderr, code := converted(t, n.root, "--dispatch", "d0"); code != 1 || !strings.Contains(stderr, "Error: "+c.want) {
			t.Errorf("%s: exit %d, want %s\n%s", c.name, code, c.want, stderr)
		}
		if _, err := os.Stat(filepath.Join(n.root, "l3_swimlane.json")); err == nil {
			t.Errorf("%s: left an output", c.name)
		}
	}
}

// TestConvertedTrees merges trees of older captures in today's form: the picture must
// be the same one, as all times are.
func TestConvertedTrees(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	for _, c := range []struct {
		tree, runtime string
		args          []string
	}{
		{"l3/individual_4ranks", "tensormap_and_ringbuffer", []string{"--dispatch", "d0"}},
		{"l3/individual_4ranks", "tensormap_and_ringbuffer", []string{"--dispatch", "d1"}},
		{"l3/hbg_aicore", "host_build_graph", []string{"--dispatch", "d0"}},
		{"l3/node_and_network_logs", "tensormap_and_ringbuffer", []string{"--dispatch", "d0"}},
		{"a2a3sim_hbg_l3_vector2x2_l4_deps", "host_build_graph", []string{"--dispatch", "d0", "--rank-pid", "0=25486:1", "--rank-pid", "1=25487:1"}},
	} {
		root := copyTree(t, filepath.Join(captures, c.tree))
		merged := func() (bars []string, ranks []any) {
			t.Helper()
			all, metadata, _, stderr, code := converted(t, append([]string{root}, c.args...)...)
			if code != 0 {
				t.Fatalf("%s: exit %d: %s", c.tree, code, stderr)
			}
			for _, b := range all {
				if b.Ph == "X" {
					bars = append(bars, fmt.Sprintf("%d %.3f %.3f", b.PID, b.TS, b.Dur))
				}
			}
			slices.Sort(bars)
			return bars, metadata["ranks"].([]any)
		}
		bars, ranks := merged()
		files, _ := filepath.Glob(filepath.Join(root, "rank*/d*/chip_swimlane_records.json"))
		for _, file := range files {
			var stdout, stderr bytes.Buffer
			args := []string{"read", file, "--as", "newest", "-o", file + ".new", "--runtime", c.runtime}
			if code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), args); code != 0 {
				t.Fatalf("%v: exit %d: %s", args, code, stderr.String())
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		}
		now, nowRanks := merged()
		if len(bars) == 0 || !slices.Equal(bars, now) {
			t.Errorf("%s: %d bars before, %d now, at other places", c.tree, len(bars), len(now))
		}
		for i := range ranks {
			for _, key := range []string{"placement", "host_pairing", "trace_status"} {
				if a, b := ranks[i].(map[string]any)[key], nowRanks[i].(map[string]any)[key]; !reflect.DeepEqual(a, b) {
					t.Errorf("%s: rank %d: %s %v, before %v", c.tree, i, key, b, a)
				}
			}
		}
	}
}
