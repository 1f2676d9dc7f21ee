package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/bench/gen"
	"swimlane/internal/console"
	"swimlane/internal/parity"
)

// The field reports about several ranks (docs/field-reports.md).

// madeTree is a made-up directory of ranks with graphs, whose captures are all alike.
func madeTree(t *testing.T, ranks, tasks int) string {
	t.Helper()
	root := t.TempDir()
	o := gen.TreeOptions{Ranks: ranks, Distinct: 1, Options: gen.Options{Tasks: tasks, Seed: 1, Deps: true}}
	if err := gen.WriteTree(root, o); err != nil {
		t.Fatal(err)
	}
	return root
}

// events are those of a trace, as they stand in the file.
func events(t *testing.T, path string) []map[string]any {
	t.Helper()
	var doc struct {
		TraceEvents []map[string]any
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc.TraceEvents
}

// numberOf is a member of an event that is an integer, 0 if it is not there.
func numberOf(e map[string]any, key string) int {
	v, _ := e[key].(float64)
	return int(v)
}

// TestField28FlowIDs: two ranks whose arrows have the same ids when drawn alone keep
// their arrows apart in one file.
func TestField28FlowIDs(t *testing.T) {
	root := madeTree(t, 2, 200)
	var alone [2][]int
	for r := range 2 {
		out := filepath.Join(t.TempDir(), "alone.json")
		done(t, "convert", filepath.Join(root, fmt.Sprintf("rank%d/d0", r)), "-o", out)
		for _, e := range events(t, out) {
			if e["ph"] == "s" {
				alone[r] = append(alone[r], numberOf(e, "id"))
			}
		}
	}
	if len(alone[0]) < 100 || !slices.Equal(alone[0], alone[1]) {
		t.Fatalf("%d and %d arrows, whose ids should be the same", len(alone[0]), len(alone[1]))
	}
	done(t, "convert", root)
	from, ends, arrows := map[int]int{}, map[int]int{}, map[int]int{}
	bars := map[int]int{}
	for _, e := range events(t, filepath.Join(root, "l3_swimlane.json")) {
		rank, id := numberOf(e, "pid")/100-1, numberOf(e, "id")
		switch e["ph"] {
		case "s":
			if _, again := from[id]; again {
				t.Fatalf("two arrows have the id %d", id)
			}
			from[id] = rank
		case "f":
			if ends[id]++; ends[id] > 1 || from[id] != rank {
				t.Fatalf("the arrow %d of rank %d ends in rank %d", id, from[id], rank)
			}
			arrows[rank]++
		case "X":
			if _, numbered := e["id"]; numbered {
				if bars[id]++; bars[id] > 1 {
					t.Fatalf("two bars have the id %d", id)
				}
			}
		}
	}
	if arrows[0] != len(alone[0]) || arrows[1] != len(alone[1]) || len(arrows) != 2 {
		t.Errorf("arrows by rank %v, want %d each", arrows, len(alone[0]))
	}
}

// TestField35NamesOfADispatch: the names of one dispatch are not taken for another's.
func TestField35NamesOfADispatch(t *testing.T) {
	root := madeTree(t, 2, 100)
	for r := range 2 {
		from, to := filepath.Join(root, fmt.Sprintf("rank%d/d0", r)), filepath.Join(root, fmt.Sprintf("rank%d/d1", r))
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{gen.RecordsFile, gen.DepsFile} {
			if err := os.Link(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	labels := func(args ...string) (own, anonymous int) {
		done(t, append([]string{"convert", root, "-q"}, args...)...)
		for _, e := range events(t, filepath.Join(root, "l3_swimlane.json")) {
			name, _ := e["name"].(string)
			switch {
			case numberOf(e, "pid")%100 != 4 || e["ph"] != "X":
			case strings.HasPrefix(name, "QK("):
				own++
			case strings.HasPrefix(name, "func_0_a("):
				anonymous++
			}
		}
		return own, anonymous
	}
	if own, anonymous := labels("--dispatch-id", "1:0"); own == 0 || anonymous > 0 {
		t.Errorf("with its names: %d bars of QK, %d of func_0", own, anonymous)
	}
	if own, anonymous := labels("--dispatch", "d1", "--rank-pid", "0=5001", "--rank-pid", "1=5002"); own > 0 || anonymous == 0 {
		t.Errorf("without names: %d bars of QK, %d of func_0", own, anonymous)
	}
}

// TestField66Skew: counters 11.56 s apart say nothing; windows 1.60 ms apart do.
func TestField66Skew(t *testing.T) {
	root := exampleBAt(t, 2, 0, 11_560_000_000, 1_600_000)
	bars, metadata, _, stderr, code := converted(t, root)
	if code != 0 {
		t.Fatal(stderr)
	}
	at := map[int]float64{}
	for _, b := range bars {
		if b.Name == "task(t5)" && b.PID%100 == 4 {
			at[b.PID] = b.TS
			if b.Args["slack_ns"] != 6000.0 {
				t.Errorf("%+v does not say how far it may be off", b)
			}
		}
	}
	if at[104] != 0.925 || at[204] != 1600.925 || metadata["cross_rank_uncertainty_ns"] != 12000.0 {
		t.Errorf("tasks at %v, uncertainty %v ns", at, metadata["cross_rank_uncertainty_ns"])
	}
}

// TestField67States: a reader sees whether host and device lie on one axis, how well
// that is known, and that nothing is drawn where it cannot be known.
func TestField67States(t *testing.T) {
	root := exampleB(t, 2, 0)
	alone := filepath.Join(root, "rank0/d0/merged_swimlane.json")
	done(t, "convert", filepath.Join(root, "rank0/d0"))
	var doc struct{ Metadata map[string]any }
	data, err := os.ReadFile(alone)
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if m := doc.Metadata; err != nil || m["layout"] != "causal_composite" || m["cross_domain_latency_available"] != false || m["cross_domain_gap_unknown"] != true {
		t.Errorf("not placed: %v, %v", m, err)
	}
	_, m, _, stderr, code := converted(t, root)
	list, _ := m["ranks"].([]any)
	if code != 0 || m["layout"] != "containment_spliced_multi_rank" || len(list) != 2 {
		t.Fatalf("placed: %v: %s", m, stderr)
	}
	for _, x := range list {
		place, _ := x.(map[string]any)["placement"].(map[string]any)
		if place["slack_ns"] != 6000.0 || place["place_hi_ns"].(float64)-place["place_lo_ns"].(float64) != 6000 {
			t.Errorf("its bounds are not there: %v", x)
		}
	}
	log := filepath.Join(root, "host.1000.log")
	text, err := os.ReadFile(log)
	if err == nil { // a device that took longer than the host saw it run
		err = os.WriteFile(log, bytes.ReplaceAll(text, []byte("dur=8000"), []byte("dur=1500")), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "l3_swimlane.json")); err != nil {
		t.Fatal(err)
	}
	_, _, stdout, stderr, code := converted(t, root, "--dispatch", "d0")
	_, left := os.Stat(filepath.Join(root, "l3_swimlane.json"))
	if code != 1 || stdout != "" || left == nil || !strings.Contains(stderr, "Error: pid 1000 inv 1 draws 2.0 us of device work but its chip.run.runner_run window is only 1.5 us wide") {
		t.Errorf("cannot be placed: exit %d, %v: %s%s", code, left, stdout, stderr)
	}
}

// TestField71WhichRun: of several runs in the log the one is taken that the sidecar
// names; if nothing names it the merge is refused.
func TestField71WhichRun(t *testing.T) {
	root := exampleB(t, 1, 100)
	log := filepath.Join(root, "host.1000.log")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for inv := 1; inv <= 3; inv++ {
		fmt.Fprintf(&all, "[STRACE] v=1 pid=1000 tid=1000 inv=%d hid=ab depth=0 name=chip.run ts=%d dur=9000 run_id=7 dispatch_id=%[1]d slot_id=0 generation=1\n", inv, 500+100_000*inv)
		all.WriteString(strings.NewReplacer("inv=1", fmt.Sprintf("inv=%d", inv), "ts=1000", fmt.Sprintf("ts=%d", 1000+100_000*inv)).Replace(string(text)))
	}
	if err := os.WriteFile(log, []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, _, stderr, code := converted(t, root); code != 1 || !strings.Contains(stderr, "\nError: the captures pair ambiguously with the Host log's invocations") {
		t.Errorf("nothing names the run: exit %d: %s", code, stderr)
	}
	id := fmt.Sprintf(`{"schema_version": 1, "run_id": 7, "task_slot": 0, "group_index": 0, "group_size": 1, "chip_rank": 0, "local_capture_index": 0,
  "endpoint_dispatch_id": 2, "pipeline_slot": 0, "pipeline_generation": 1, "callable_digest": "%s"}`, strings.Repeat("ab", 32))
	if err := os.WriteFile(filepath.Join(root, "rank0/d0/dispatch_identity.json"), []byte(id), 0o644); err != nil {
		t.Fatal(err)
	}
	bars, metadata, _, stderr, code := converted(t, root)
	if code != 0 {
		t.Fatal(stderr)
	}
	if got := fmt.Sprint(metadata["ranks"]); !strings.Contains(got, "inv:2 ") || !strings.Contains(got, "source:capture_sidecar") {
		t.Errorf("paired with %s", got)
	}
	for _, b := range bars {
		if b.Name == "chip.run" && b.TS+metadata["global_origin_ns"].(float64)/1000 != 200.5 {
			t.Errorf("another run is drawn: %+v", b)
		}
	}
}

// TestField74Parts: parts of a merged picture share its axis, names and numbers of
// processes, so that a viewer which loads them all shows the whole.
func TestField74Parts(t *testing.T) {
	root := madeTree(t, 3, 100)
	count := func(path string) map[string]int {
		out := map[string]int{}
		for _, e := range events(t, path) {
			delete(e, "id") // its own file's
			delete(e, "bind_id")
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			out[string(text)]++
		}
		return out
	}
	done(t, "convert", root)
	whole := count(filepath.Join(root, "l3_swimlane.json"))
	if len(whole) < 1000 {
		t.Fatalf("%d different events", len(whole))
	}
	sum := map[string]int{}
	for r := range 3 {
		part := filepath.Join(root, fmt.Sprintf("part%d.json", r))
		done(t, "convert", root, "--rank", fmt.Sprint(r), "-o", part)
		for e, n := range count(part) {
			if strings.Contains(e, `"pid":1,`) || strings.Contains(e, `"pid":1}`) { // the dispatcher is in each of them
				sum[e] = n
			} else {
				sum[e] += n
			}
		}
	}
	for e, n := range whole {
		if sum[e] != n {
			t.Errorf("%d times in the whole, %d in the parts: %s", n, sum[e], e)
		}
	}
	if len(sum) != len(whole) {
		t.Errorf("%d different events in the parts, %d in the whole", len(sum), len(whole))
	}
}

// liveHeap is a place for output that looks how much memory is in use while it is written.
type liveHeap struct {
	left int
	seen []uint64
}

func (w *liveHeap) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		w.left = 1 << 20
		runtime.GC()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // without what others have allocated since
		metrics.Read(live)
		w.seen = append(w.seen, live[0].Value.Uint64())
	}
	return len(p), nil
}

// TestField75Memory: nothing of a rank stays in memory but a few numbers, so the last of
// many finds as much in use as the first. How much that is depends on the moment, so
// medians are compared.
func TestField75Memory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	root := madeTree(t, 16, 3000)
	var w liveHeap
	var stderr bytes.Buffer
	if code := run(context.Background(), console.New(strings.NewReader(""), &w, &stderr), []string{"convert", root, "-o", "-", "-q"}); code != 0 {
		t.Fatal(stderr.String())
	}
	quarter := len(w.seen) / 4
	if quarter < 10 {
		t.Fatalf("looked %d times", len(w.seen))
	}
	median := func(all []uint64) uint64 { return slices.Sorted(slices.Values(all))[len(all)/2] }
	first, last := median(w.seen[:quarter]), median(w.seen[len(w.seen)-quarter:])
	t.Logf("in use: %d kB in the first quarter, %d kB in the last", first>>10, last>>10)
	if last > first*3/2 {
		t.Errorf("in use: %d bytes in the first quarter, %d in the last", first, last)
	}
}

// TestField84HostLanes: what the host did before a device started stands above the ranks,
// at the times of its log on the axis of the picture, and without a slack.
func TestField84HostLanes(t *testing.T) {
	root := copyTree(t, filepath.Join(parity.Shared(t), "captures", "l3", "swapped_groups"))
	const group = "17:5" // run 1 of rank 0's process, run 2 of rank 1's
	runs := map[string]string{"4101": "1", "4102": "2"}
	done(t, "convert", root, "--dispatch-id", group)
	out := filepath.Join(root, "l3_swimlane.json")
	var doc mergedTrace
	data, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	origin, err := strconv.ParseInt(fmt.Sprintf("%.0f", doc.Metadata["global_origin_ns"]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	host, highest, views := map[string]int{}, 0, []int{}
	for _, e := range doc.Events {
		process := e.PID
		switch {
		case e.Ph == "M" && e.Name == "process_name":
			if strings.HasSuffix(e.Args["name"].(string), " View") {
				views = append(views, process)
			}
		case e.Ph != "X" || e.Args["os_pid"] == nil:
		case e.Args["slack_ns"] != nil:
			t.Errorf("%s of the host has a slack: %v", e.Name, e.Args)
		default:
			highest = max(highest, process)
			host[fmt.Sprintf("%v %s %.3f %.3f", e.Args["os_pid"], e.Name, e.TS, e.Dur)]++
		}
	}
	if len(views) < 4 || highest == 0 || highest >= slices.Min(views) {
		t.Errorf("lanes of the host go up to process %d, views are %v", highest, views)
	}
	span := regexp.MustCompile(`\[STRACE\] v=1 pid=(\d+) tid=\d+ inv=(\d+) .* name=(\S+) ts=(\d+) dur=(\d+) ?(.*)`)
	found := 0
	for pid, inv := range runs {
		text := string(parity.Unpacked(t, filepath.Join(root, "host."+pid+".log")))
		for _, m := range span.FindAllStringSubmatch(text, -1) {
			if m[2] != inv || strings.Contains(m[6], "clk=dev") {
				continue
			}
			found++
			ts, _ := strconv.ParseInt(m[4], 10, 64)
			dur, _ := strconv.ParseInt(m[5], 10, 64)
			if want := fmt.Sprintf("%s %s %.3f %.3f", pid, m[3], float64(ts-origin)/1000, float64(dur)/1000); host[want] != 1 {
				t.Errorf("%d bars are %q, want 1", host[want], want)
			}
		}
	}
	if found < 10 {
		t.Errorf("the logs have %d spans of the two runs", found)
	}
}
