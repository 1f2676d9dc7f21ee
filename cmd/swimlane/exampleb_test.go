package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/console"
)

// exampleB makes the tree of the second worked example of spec/l3.md §9.5 with any
// number of ranks, whose schedulers ran as long as shape says: 0 differs by rank.
func exampleB(t *testing.T, ranks int, shape int) string {
	t.Helper()
	return exampleBAt(t, ranks, shape, 100000, 10000)
}

// exampleBAt has the counters of two ranks apart cycles apart, and their windows later ns.
func exampleBAt(t *testing.T, ranks, shape, apart, later int) string {
	t.Helper()
	root := t.TempDir()
	put := func(text string, path ...string) {
		t.Helper()
		name := filepath.Join(append([]string{root}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for r := range ranks {
		base, shift, ran := 100+apart*r, later*r, shape
		if shape == 0 {
			ran = 100 + 100*r
		}
		put(fmt.Sprintf(`{"chip_swimlane_level": 4, "metadata": {"clock_freq_hz": 1000000000, "core_types": ["aic"], "host_clock_domain_id": "boot-a",
  "orchestrator_source": "host", "host_orchestration_origin_ns": %d, "host_capture": {"status": "complete", "dropped_records": 0, "recorded_records": 1, "expected_records": 1}},
 "aicore_tasks": [[0, 5, 1, %d, %d, 0]],
 "scheduler_tasks": {"schema_version": 1, "producer": "aicpu", "records": [[0, 1, %d, %d]]},
 "aicpu_scheduler_phases": [[{"kind": "dispatch", "start_cycles": %d, "end_cycles": %d, "loop_iter": 0, "tasks_processed": 1}]],
 "host_orchestrator_phases": [[{"submit_idx": 0, "task_id": 5, "start_host_ns": %d, "end_host_ns": %d}]]}`,
			shift+1500, base+1000, base+1100, base+900, base+1200, base+800, base+750+ran, shift+1500, shift+1800),
			fmt.Sprintf("rank%d", r), "d0", "chip_swimlane_records.json")
		const span = "[STRACE] v=1 pid=%d tid=%[1]d inv=1 hid=ab depth=%d name=%s ts=%d dur=%d %s\n"
		put(fmt.Sprintf(span, 1000+r, 1, "chip.run.runner_run", shift+1000, 8000, "")+
			fmt.Sprintf(span, 1000+r, 2, "chip.run.runner_run.device_wall", 0, 2000, "clk=dev")+
			fmt.Sprintf(span, 1000+r, 3, "chip.run.runner_run.device_wall.sched", 700, ran, "clk=dev"),
			fmt.Sprintf("host.%d.log", 1000+r))
	}
	return root
}

// bar is an event as example B asks for it.
type bar struct {
	Name, Cat, Ph string
	PID, TID      int
	TS, Dur       float64
	Args          map[string]any
}

func converted(t *testing.T, args ...string) (bars []bar, metadata map[string]any, stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), console.New(strings.NewReader(""), &out, &errs), append([]string{"convert"}, args...))
	if code == 0 {
		path := filepath.Join(args[0], "l3_swimlane.json")
		data, err := os.ReadFile(path)
		var doc struct {
			TraceEvents []bar
			Metadata    map[string]any
		}
		if err == nil {
			err = json.Unmarshal(data, &doc)
		}
		if err != nil {
			t.Fatal(err)
		}
		bars, metadata = doc.TraceEvents, doc.Metadata
		mustBeClean(t, path)
	}
	return bars, metadata, out.String(), errs.String(), code
}

func TestExampleB(t *testing.T) {
	bars, metadata, stdout, stderr, code := converted(t, exampleB(t, 2, 0))
	if code != 0 || !strings.HasPrefix(stderr, "Note: merging --dispatch d0, which is all that ") || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	const line = "  Bound:  each Rank placed within 6.0 us of its chip.run.runner_run window; a cross-Rank gap under 12.0 us is undecided\n"
	if !strings.Contains(stdout, line) {
		t.Errorf("no %q in\n%s", line, stdout)
	}
	for key, want := range map[string]any{"global_origin_ns": 1000.0, "cross_rank_uncertainty_ns": 12000.0, "dispatch_pairing": "local_capture_index",
		"dispatch": "d0", "dispatch_id": nil, "rank_count": 2.0, "trace_status": "complete", "host_clock_domain_id": "boot-a"} {
		if metadata[key] != want {
			t.Errorf("metadata.%s: %v, want %v", key, metadata[key], want)
		}
	}
	want := []struct {
		pid     int
		name    string
		ts, dur float64
	}{
		{104, "task(t5)", 0.925, 0.1}, {204, "task(t5)", 10.925, 0.1},
		{103, "task(t5)", 0.825, 0.3}, {203, "task(t5)", 10.825, 0.3},
		{101, "submit(t5)", 0.5, 0.3}, {201, "submit(t5)", 10.5, 0.3},
		{11, "chip.run.runner_run", 0, 8}, {14, "chip.run.runner_run", 10, 8},
		{12, "chip.run.runner_run.device_wall", 0, 2}, {15, "chip.run.runner_run.device_wall", 10, 2},
		{13, "slack 6.0 us", 0, 6}, {16, "slack 6.0 us", 10, 6},
	}
	for _, w := range want {
		found := false
		var there []string
		for _, b := range bars {
			if b.Ph != "X" || b.PID != w.pid {
				continue
			}
			there = append(there, fmt.Sprintf("%s %.3f %.3f", b.Name, b.TS, b.Dur))
			found = found || b.Name == w.name && math.Abs(b.TS-w.ts) < 1e-9 && math.Abs(b.Dur-w.dur) < 1e-9
		}
		if !found {
			t.Errorf("pid %d has no %+v but %v", w.pid, w, there)
		}
	}
}

// TestDispatcherBesideRanks: the run that dispatched the ranks of example B is drawn
// although none of its spans lies in their window, from 1 µs to 19 µs; and threads of a
// foreign producer whose ids no lane can have.
func TestDispatcherBesideRanks(t *testing.T) {
	root := exampleB(t, 2, 0)
	add := func(pid int, lines ...string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(root, fmt.Sprintf("host.%d.log", pid)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, line := range lines {
			if _, err := fmt.Fprintf(f, "[STRACE] v=1 pid=%d %s\n", pid, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(1000, "tid=1000 inv=1 hid=ab depth=0 name=chip.run ts=1000 dur=8000 run_id=17 dispatch_id=1 slot_id=0 generation=1")
	add(900, "tid=900 inv=17 hid=0 depth=0 name=node.submit ts=400 dur=50 run_id=17 role=facade",
		"tid=901 inv=17 hid=0 depth=0 name=node.dispatch ts=500 dur=200 run_id=17 role=scheduler",
		"tid=901 inv=17 hid=0 depth=0 name=node.complete ts=20000 dur=100 run_id=17 role=worker",
		"tid=900 inv=16 hid=0 depth=0 name=node.submit ts=300 dur=50 run_id=16 role=facade")
	add(950, "tid=139811234567890 inv=0 hid=0 depth=0 name=ext.lib.step ts=2000 dur=100 ", "tid=9223372036854775807 inv=0 hid=0 depth=0 name=ext.lib.step ts=3000 dur=100 ",
		"tid=0 inv=0 hid=0 depth=0 name=ext.lib.step ts=4000 dur=100 ")
	bars, metadata, _, stderr, code := converted(t, root)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if got := fmt.Sprint(metadata["global_origin_ns"], metadata["dispatcher_pids"]); got != "400 [900 950]" {
		t.Errorf("origin and dispatchers: %s", got)
	}
	var got []string
	lanes := map[int]bool{}
	for _, b := range bars {
		if b.Ph == "X" && b.PID <= 2 {
			got = append(got, fmt.Sprintf("%d %s %v", b.PID, b.Name, b.TS))
		}
		if b.Ph == "X" && b.PID == 2 {
			lanes[b.TID] = true
		}
	}
	want := "1 node.submit 0, 1 node.dispatch 0.1, 1 node.complete 19.6, 2 ext.lib.step 1.6, 2 ext.lib.step 2.6, 2 ext.lib.step 3.6"
	if strings.Join(got, ", ") != want || len(lanes) != 3 {
		t.Errorf("drawn beside the ranks: %v on %d lanes, want %s on three", got, len(lanes), want)
	}
	var ids []string // the true ones, of more digits than a float64 has
	data, err := os.ReadFile(filepath.Join(root, "l3_swimlane.json"))
	for _, id := range []string{`"os_tid":139811234567890`, `"os_tid":9223372036854775807`, `"os_tid":0`} {
		if strings.Count(string(data), id+",")+strings.Count(string(data), id+"}") == 1 {
			ids = append(ids, id)
		}
	}
	if err != nil || len(ids) != 3 {
		t.Errorf("of the true ids the args have %v, %v", ids, err)
	}
}

// TestMergeOfUnreadable: what is wrong with an input is not called a fault of the output,
// also where it is found while that is written.
func TestMergeOfUnreadable(t *testing.T) {
	root := exampleB(t, 2, 0)
	names := filepath.Join(root, "rank1/d0/name_map_x.json")
	if err := os.WriteFile(names, []byte(`{"level": 2,,}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, stdout, stderr, code := converted(t, root, "-o", filepath.Join(root, "out.json"))
	if code != 1 || stdout != "" || !strings.Contains(stderr, "\nError: "+names+":1:13 ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(root, "*out*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestExampleBAlike: ranks of one shape need pins.
func TestExampleBAlike(t *testing.T) {
	root := exampleB(t, 2, 100)
	if _, _, _, stderr, code := converted(t, root); code != 1 || !strings.Contains(stderr, "\nError: the captures pair ambiguously") ||
		!strings.HasSuffix(stderr, " The runs in the Host logs: pid 1000 (inv 1), pid 1001 (inv 1).\n") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	_, metadata, _, stderr, code := converted(t, root, "--rank-pid", "0=1000", "--rank-pid", "1=1001")
	if code != 0 || metadata["cross_rank_uncertainty_ns"] != 12000.0 {
		t.Errorf("exit %d, %v: %s", code, metadata, stderr)
	}
}

// TestManyRanks: more than the fixed numbers of processes have room for.
func TestManyRanks(t *testing.T) {
	const ranks = 40
	root := exampleB(t, ranks, 100)
	args := []string{root, "--dispatch", "d0"}
	for r := range ranks {
		args = append(args, "--rank-pid", fmt.Sprintf("%d=%d", r, 1000+r))
	}
	bars, metadata, _, stderr, code := converted(t, args...)
	if code != 0 || metadata["rank_count"] != float64(ranks) {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	tasks := map[int]bool{}
	for _, b := range bars {
		if b.Cat == "event" && b.Args["rank"] != nil && b.Dur == 0.1 {
			tasks[b.PID] = true
		}
	}
	// d + 4 + 3M = 131, so views begin at 200.
	if len(tasks) != ranks || !tasks[204] || !tasks[204+100*(ranks-1)] {
		t.Errorf("the tasks are in %v", tasks)
	}
}

// TestPartOfExampleB: what is said of the merge as a whole does not depend on which
// ranks are drawn.
func TestPartOfExampleB(t *testing.T) {
	root := exampleB(t, 3, 0)
	records := filepath.Join(root, "rank2/d0/chip_swimlane_records.json")
	text, err := os.ReadFile(records)
	if err == nil { // of one rank something is lost
		err = os.WriteFile(records, bytes.Replace(text, []byte(`"recorded_records": 1, "expected_records": 1`), []byte(`"recorded_records": 1, "expected_records": 2`), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, whole, table, stderr, code := converted(t, root, "--dispatch", "d0")
	if code != 0 || whole["trace_status"] != "partial" || whole["rank_count"] != 3.0 || whole["selection"] != nil {
		t.Fatalf("exit %d: %v: %s", code, whole, stderr)
	}
	// Tasks end at 2.025 µs of each window; windows begin 10 µs apart, and two ranks may be off by 6 µs each.
	const last = "  2              20.0          2.0          6.0          0.1         20.9         21.0"
	for _, line := range []string{"\n  0 ", "  20.0\n", "  10.0 undecided\n", last, "cross-Rank gap under 12.0 us is undecided\n"} {
		if !strings.Contains(table, line) {
			t.Errorf("no %q in\n%s", line, table)
		}
	}
	bars, part, one, stderr, code := converted(t, root, "--dispatch", "d0", "--rank", "0-1")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, key := range []string{"rank_count", "cross_rank_uncertainty_ns", "trace_status", "global_origin_ns"} {
		if part[key] != whole[key] {
			t.Errorf("%s: %v, of all %v", key, part[key], whole[key])
		}
	}
	if got := fmt.Sprint(part["selection"]); got != "map[ranks:[0 1]]" {
		t.Errorf("selection %s", got)
	}
	if list, _ := part["ranks"].([]any); len(list) != 2 {
		t.Errorf("%d ranks are described, want those that are drawn", len(list))
	}
	for _, b := range bars {
		if b.PID >= 300 || b.Args["rank"] == 2.0 {
			t.Fatalf("rank 2 is drawn: %+v", b)
		}
	}
	for _, line := range strings.SplitAfter(table, "\n") {
		if head, _, _ := strings.Cut(strings.TrimSpace(line), " "); (head == "0" || head == "1" || head == "Bound:") && !strings.Contains(one, line) {
			t.Errorf("no %q in\n%s", line, one)
		}
	}
	if want := "  Waits end with the last task of rank 2, which is not drawn: 21.0 us\n"; !strings.HasSuffix(one, want) || strings.Contains(one, last) {
		t.Errorf("no %q in\n%s", want, one)
	}
}

// TestSeveralTargets: who must choose hears of what is among none of the choices.
func TestSeveralTargets(t *testing.T) {
	root := exampleB(t, 2, 0)
	id := func(rank, d, slot int) {
		dir := filepath.Join(root, fmt.Sprintf("rank%d/d%d", rank, d))
		text := fmt.Sprintf(`{"schema_version": 1, "run_id": 1, "task_slot": %d, "group_index": %d, "group_size": 2, "chip_rank": %[2]d, "local_capture_index": %[3]d,
  "endpoint_dispatch_id": 1, "pipeline_slot": 0, "pipeline_generation": 1, "callable_digest": "%[4]s"}`, slot, rank, d, strings.Repeat("ab", 32))
		err := os.MkdirAll(dir, 0o755)
		for name, text := range map[string]string{"dispatch_identity.json": text, "chip_swimlane_records.json": "{}"} {
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for rank := range 2 {
		id(rank, 1, 5)
		id(rank, 2, 6)
	}
	if err := os.RemoveAll(filepath.Join(root, "rank1/d0")); err != nil {
		t.Fatal(err)
	}
	want := "Warning: refusing to pair asymmetric local capture indexes under " + root + ": rank0=['d0'], rank1=[]\n" +
		"Error: directory input requires exactly one of --dispatch dN or --dispatch-id RUN_ID:TASK_SLOT; found --dispatch-id 1:5, --dispatch-id 1:6\n"
	if _, _, _, stderr, code := converted(t, root); code != 1 || stderr != want {
		t.Errorf("exit %d: got %s, want %s", code, stderr, want)
	}
}

// TestRankOptions: what does not go together.
func TestRankOptions(t *testing.T) {
	root := exampleB(t, 2, 0)
	records := filepath.Join(root, "rank0/d0/chip_swimlane_records.json")
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{root, "--from", "1"}, "is a directory of several ranks, of which --rank chooses: parts of one are drawn from its records file", 2},
		{[]string{root, "--rank", "x"}, `Error: invalid --rank "x": expected numbers and ranges of ranks, as 0,3-5`, 2},
		{[]string{records, "--rank", "0"}, "Error: --host-log, --rank-pid and --rank are only valid when input is a directory of several ranks", 1},
		{[]string{root, "-o", filepath.Join(root, "host.1000.log")}, "Error: ", 1},
	} {
		if _, _, _, stderr, code := converted(t, c.args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, stderr)
		}
	}
	// What can be known from names alone is told before a capture is read, after what is missing.
	many := exampleB(t, 5, 0)
	for r := range 5 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprintf("rank%d/d0/chip_swimlane_records.json", r)), []byte("no JSON"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for list, want := range map[string]string{
		"1,7":   "Error: --rank 1,7: rank 7 is not in the merge, which has ranks 0-4\n",
		"0,7-9": "Error: --rank 0,7-9: none of the ranks 7 to 9 is in the merge, which has ranks 0-4\n",
		"3-1":   "Error: invalid --rank \"3-1\": expected numbers and ranges of ranks, as 0,3-5\n",
		"4":     "Error: cannot read " + filepath.Join(many, "rank0/d0/chip_swimlane_records.json"),
	} {
		if _, _, _, stderr, code := converted(t, many, "--dispatch", "d0", "--rank", list); code == 0 || !strings.HasPrefix(stderr, want) {
			t.Errorf("--rank %s: exit %d: %s", list, code, stderr)
		}
	}
	if err := os.Remove(filepath.Join(many, "rank3/d0/chip_swimlane_records.json")); err != nil {
		t.Fatal(err)
	}
	if _, _, _, stderr, code := converted(t, many, "--dispatch", "d0", "--rank", "0"); code != 1 || stderr != "Error: rank3 is missing d0/chip_swimlane_records.json\n" {
		t.Errorf("a rank that is not wanted is missing: exit %d: %s", code, stderr)
	}
	if st, err := os.Stat(filepath.Join(root, "host.1000.log")); err != nil || st.Size() < 100 {
		t.Errorf("the log is gone: %v", err)
	}
}
