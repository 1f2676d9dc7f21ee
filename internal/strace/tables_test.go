package strace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"swimlane/internal/strace"
)

// golden is the input of the golden output of spec/host-log.md §6.3.
func golden() string {
	const wall = "chip.run.runner_run.device_wall"
	var lines []span
	for i, long := range []struct{ bind, wall, run int64 }{{10000, 20000, 100000}, {11001, 24000, 120000}} {
		inv := uint64(i + 1)
		for _, s := range []span{
			{depth: 1, name: "chip.run.bind", ts: 1100, dur: long.bind},
			{depth: 1, name: "chip.run.runner_run", ts: 20000, dur: 50000},
			{depth: 2, name: wall, dur: long.wall, attrs: "clk=dev"},
			{depth: 3, name: wall + ".orch", ts: 700, dur: 5000, attrs: "clk=dev"},
			{depth: 3, name: wall + ".sched", ts: 900, dur: 9000, attrs: "clk=dev"},
			{depth: 3, name: wall + ".task_slot_3", ts: 950, dur: 900, attrs: "clk=dev"},
			{name: "chip.run", ts: 1000, dur: long.run},
		} {
			s.pid, s.tid, s.inv = 1, 1, inv
			lines = append(lines, s)
		}
	}
	return text(lines...)
}

type texter interface{ Text(io.Writer) error }

func printed(t *testing.T, r texter) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGoldenTables is the golden output of the three tables (spec/host-log.md §6.3).
func TestGoldenTables(t *testing.T) {
	r := runs(t, golden())
	equal(t, "stages", printed(t, strace.NewStages(r)), `callable hid=abc — 2 invocation(s)
  chip.run: mean=110.0us min=100.0us max=120.0us
      chip.run.bind: mean=10.5us (n=2)
      chip.run.runner_run: mean=50.0us (n=2)
        chip.run.runner_run.device_wall: mean=22.0us (n=2)
          chip.run.runner_run.device_wall.orch: mean=5.0us (n=2)
          chip.run.runner_run.device_wall.sched: mean=9.0us (n=2)
          chip.run.runner_run.device_wall.task_slot_3: mean=0.9us (n=2)

`)
	equal(t, "rounds", printed(t, strace.NewRounds(r)), `  Round      Host (us)   Device (us)  Effective (us)     Orch (us)    Sched (us)
  ------------------------------------------------------------------------------
  0              100.0          20.0           9.2           5.0           9.0
  1              120.0          24.0           9.2           5.0           9.0
  Avg Host: 110.0 us  |  Avg Device: 22.0 us [2/2]  |  Avg Effective: 9.2 us  |  Avg Orch: 5.0 us  |  Avg Sched: 9.0 us  (2 rounds)
`)
	equal(t, "tree", printed(t, strace.NewTrees(r)), `callable hid=abc (decode) — median of 2 invocation(s)
run                                  110.0 us
  bind                                  10.5 us
  runner_run                            50.0 us
    device_wall            [dev]          22.0 us
      Effective              [dev]           9.2 us
        orch 5.0  ∥  sched 9.0   (concurrent)
      task_slot_3            [dev]           0.9 us

`)
}

// TestJSONOfTables: whole ns under stable keys, from the input of the golden output.
func TestJSONOfTables(t *testing.T) {
	r := runs(t, golden())
	for _, x := range []struct {
		table any
		want  string
	}{
		{strace.NewStages(r), `{"callables":[{"hid":"abc","invocations":2,"run":{"count":2,"mean_ns":110000,"min_ns":100000,"max_ns":120000},"stages":[` +
			`{"name":"chip.run.bind","count":2,"mean_ns":10500},{"name":"chip.run.runner_run","count":2,"mean_ns":50000},` +
			`{"name":"chip.run.runner_run.device_wall","count":2,"mean_ns":22000},{"name":"chip.run.runner_run.device_wall.orch","count":2,"mean_ns":5000},` +
			`{"name":"chip.run.runner_run.device_wall.sched","count":2,"mean_ns":9000},{"name":"chip.run.runner_run.device_wall.task_slot_3","count":2,"mean_ns":900}]}]}`},
		{strace.NewRounds(r), `{"hid":"abc","rounds":[` +
			`{"pid":1,"inv":1,"host_ns":100000,"device_ns":20000,"effective_ns":9200,"orch_ns":5000,"sched_ns":9000},` +
			`{"pid":1,"inv":2,"host_ns":120000,"device_ns":24000,"effective_ns":9200,"orch_ns":5000,"sched_ns":9000}],"means":[` +
			`{"column":"host","mean_ns":110000,"rounds":2},{"column":"device","mean_ns":22000,"rounds":2},{"column":"effective","mean_ns":9200,"rounds":2},` +
			`{"column":"orch","mean_ns":5000,"rounds":2},{"column":"sched","mean_ns":9000,"rounds":2}]}`},
		{strace.NewTrees(r), `{"callables":[{"hid":"abc","label":"decode","invocations":2,"roots":[{"name":"chip.run","count":2,"median_ns":110000,"children":[` +
			`{"name":"chip.run.bind","count":2,"median_ns":10500.5},{"name":"chip.run.runner_run","count":2,"median_ns":50000,"children":[` +
			`{"name":"chip.run.runner_run.device_wall","device":true,"count":2,"median_ns":22000,"effective_ns":9200,"children":[` +
			`{"name":"chip.run.runner_run.device_wall.orch","device":true,"count":2,"median_ns":5000},` +
			`{"name":"chip.run.runner_run.device_wall.sched","device":true,"count":2,"median_ns":9000},` +
			`{"name":"chip.run.runner_run.device_wall.task_slot_3","device":true,"count":2,"median_ns":900}]}]}]}]}]}`},
	} {
		got, err := json.Marshal(x.table)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("%T", x.table), string(got), x.want)
	}
}

// round is a run with a length of its own and of the device, and nothing else; no
// device span for 0.
func round(pid int, inv uint64, hid string, host, device int64) []span {
	out := []span{{pid: pid, tid: pid, inv: inv, hid: hid, name: "chip.run", ts: 1000, dur: host}}
	if device > 0 {
		out = append(out, span{pid: pid, tid: pid, inv: inv, hid: hid, depth: 2, name: "chip.run.runner_run.device_wall", dur: device, attrs: "clk=dev"})
	}
	return out
}

// TestRounds has the examples of spec/host-log.md §6.2, and what it says of columns,
// averages, the largest callable and trimmed means.
func TestRounds(t *testing.T) {
	many := func(n, devices int) []span {
		var out []span
		for i := range n {
			device := int64(0)
			if i < devices {
				device = 1000 * int64(i+1)
			}
			// Times are n−i squared, so order and inv disagree.
			out = append(out, round(1, uint64(i), "a", 1000*int64((n-i)*(n-i)), device)...)
		}
		return out
	}
	for _, x := range []struct {
		what string
		log  []span
		want string // all, or if it begins with …, the end
	}{
		{"two rounds", append(round(1, 1, "a", 100000, 20000), round(1, 2, "a", 120000, 24000)...), `  Round      Host (us)   Device (us)
  ----------------------------------
  0              100.0          20.0
  1              120.0          24.0
  Avg Host: 110.0 us  |  Avg Device: 22.0 us [2/2]  (2 rounds)
`},
		{"prewarm is no round", append(round(1, 1, "0", 100000, 20000), span{pid: 1, tid: 1, hid: "0", name: "chip.prewarm.run", dur: 800000}), `  Round      Host (us)   Device (us)
  ----------------------------------
  0              100.0          20.0
  Avg Host: 100.0 us  |  Avg Device: 20.0 us [1/1]  (1 rounds)
`},
		// Two callables without a chip.run do not become the largest one (D6).
		{"prewarm of another callable", append([]span{{pid: 1, tid: 1, hid: "f", name: "chip.prewarm.run", dur: 5}, {pid: 1, tid: 1, inv: 9, hid: "f", name: "chip.prewarm.run", dur: 5}},
			round(1, 1, "0", 100000, 0)...), `  Round      Host (us)
  --------------------
  0              100.0
  Avg Host: 100.0 us  (1 rounds)
`},
		{"an average is over the rounds that have a value", append(round(1, 1, "a", 100000, 20000), round(2, 1, "a", 300000, 0)...), `…
  0              100.0          20.0
  1              300.0           0.0
  Avg Host: 200.0 us  |  Avg Device: 20.0 us [1/2]  (2 rounds)
`},
		{"the first of equal callables", append(round(1, 1, "b", 1000, 0), round(1, 2, "a", 2000, 0)...), `…
  0                1.0
  Avg Host: 1.0 us  (1 rounds)
`},
		// 20 rounds are not trimmed; of 21 the one in the middle is left: 11² and 11.
		{"20 rounds", many(20, 20), "…  Avg Host: 143.5 us  |  Avg Device: 10.5 us [20/20]  (20 rounds)\n"},
		{"21 rounds", many(21, 21), "…  Avg Host: 157.7 us  |  Avg Device: 11.0 us [21/21]  (21 rounds)\n" +
			"  Trimmed Avg Host: 121.0 us  |  Trimmed Avg Device: 11.0 us  (dropped 10 low + 10 high, 1 rounds used)\n"},
		{"22 rounds, few of the device", many(22, 20), "…  Avg Host: 172.5 us  |  Avg Device: 10.5 us [20/22]  (22 rounds)\n" +
			"  Trimmed Avg Host: 132.5 us  (dropped 10 low + 10 high, 2 rounds used)\n"},
		{"only a dispatcher", []span{{pid: 1, tid: 1, inv: 1, name: "node.submit", dur: 5}}, "No [STRACE] markers found.\n"},
		{"only prewarm", []span{{pid: 1, tid: 1, name: "chip.prewarm.run", dur: 5}}, "No chip.run spans found, so there are no rounds.\n"},
	} {
		got := printed(t, strace.NewRounds(runs(t, text(x.log...))))
		if end, ok := strings.CutPrefix(x.want, "…"); ok && strings.HasSuffix(got, end) {
			continue
		}
		equal(t, x.what, got, x.want)
	}
}

// TestStages: the order of callables and stages, roots of any name, truncated means,
// and the earliest of several spans of a name (spec/host-log.md §5.1, §6.1).
func TestStages(t *testing.T) {
	equal(t, "no runs", printed(t, strace.NewStages(nil)), "No [STRACE] markers found.\n")
	equal(t, "order", printed(t, strace.NewStages(runs(t, text(
		span{pid: 1, tid: 1, inv: 1, hid: "a", depth: 1, name: "z", ts: 5, dur: 1000},
		span{pid: 1, tid: 1, inv: 2, hid: "B", depth: 1, name: "rare.a.b", ts: 5, dur: 149},
		span{pid: 1, tid: 1, inv: 2, hid: "b", depth: 1, name: "x", ts: 5, dur: 50},
		span{pid: 1, tid: 1, inv: 2, hid: "b", depth: 1, name: "x", ts: 4, dur: 3000},
		span{pid: 1, tid: 1, inv: 2, hid: "b", name: "odd.root", ts: 4, dur: 4000},
		span{pid: 1, tid: 1, inv: 2, hid: "b", name: "chip.run", ts: 4, dur: 9000},
		span{pid: 1, tid: 1, inv: 3, hid: "b", depth: 1, name: "x", ts: 4, dur: 3000},
		span{pid: 1, tid: 1, inv: 3, hid: "b", depth: 1, name: "a", ts: 4, dur: 150},
		span{pid: 1, tid: 1, inv: 7, hid: "c", name: "ext.pypto.layer", ts: 4, dur: 150},
	)))), `callable hid=b — 2 invocation(s)
  chip.run: mean=4.0us min=4.0us max=4.0us
  x: mean=3.0us (n=2)
  a: mean=0.1us (n=1)
      rare.a.b: mean=0.1us (n=1)

callable hid=a — 1 invocation(s)
  z: mean=1.0us (n=1)

`)
}

// TestMeansOfLargeTimes: sums do not overflow, and means are truncated to whole ns
// before they are printed.
func TestMeansOfLargeTimes(t *testing.T) {
	const huge = 1<<63 - 1
	got := strace.NewStages(runs(t, text(
		span{pid: 1, tid: 1, inv: 1, name: "chip.run", dur: huge},
		span{pid: 1, tid: 1, inv: 2, name: "chip.run", dur: huge},
		span{pid: 1, tid: 1, inv: 3, name: "chip.run", dur: huge - 1},
	))).Callables[0].Run
	equal(t, "times", *got, strace.Times{Count: 3, MeanNS: huge - 1, MinNS: huge - 1, MaxNS: huge})
}

// TestTree: labels, the shape of the last run, medians over all of them
// (spec/host-log.md §6.3).
func TestTree(t *testing.T) {
	var lines []span
	for i, hid := range []string{"aaaaaaaaaa", "aaaaaaaaaa", "aaaaaaaaaa", "bbbbbbbbbb", "bbbbbbbbbb", "c"} {
		lines = append(lines, span{pid: 1, tid: 1, inv: uint64(i), hid: hid, name: "chip.run", ts: 10, dur: 1000 * int64(i+1)})
	}
	lines = append(lines,
		span{pid: 1, tid: 1, inv: 0, hid: "aaaaaaaaaa", depth: 1, name: "chip.run.gone", ts: 10, dur: 70},
		span{pid: 1, tid: 1, inv: 0, hid: "aaaaaaaaaa", depth: 1, name: "chip.run.late", ts: 11, dur: 5000},
		span{pid: 1, tid: 1, inv: 2, hid: "aaaaaaaaaa", depth: 1, name: "chip.run.late", ts: 30, dur: 7000},
		span{pid: 1, tid: 1, inv: 2, hid: "aaaaaaaaaa", depth: 7, name: "chip.run.early", ts: 20, dur: 100},
		span{pid: 1, tid: 1, inv: 2, hid: "aaaaaaaaaa", depth: 1, name: "chip.lost.orphan", ts: 5, dur: 100},
	)
	equal(t, "trees", printed(t, strace.NewTrees(runs(t, text(lines...)))), `callable hid=aaaaaaaaaa (decode) — median of 3 invocation(s)
orphan                                 0.1 us
run                                    2.0 us
  early                                  0.1 us
  late                                   6.0 us

callable hid=bbbbbbbbbb (bbbbbbbb) — median of 2 invocation(s)
run                                    4.5 us

callable hid=c (prefill) — 1 invocation
run                                    6.0 us

`)
	equal(t, "no runs", printed(t, strace.NewTrees(nil)), "No [STRACE] markers found.\n")
}

// TestTreeOfUnknownNames: a name below orch, and orch alone, are printed like others.
func TestTreeOfUnknownNames(t *testing.T) {
	equal(t, "trees", printed(t, strace.NewTrees(runs(t, text(
		span{pid: 1, tid: 1, inv: 1, name: "w", ts: 0, dur: 9000},
		span{pid: 1, tid: 1, inv: 1, depth: 1, name: "w.orch", ts: 0, dur: 1000},
		span{pid: 1, tid: 1, inv: 1, depth: 2, name: "w.orch.new", ts: 1, dur: 500},
		span{pid: 1, tid: 1, inv: 1, depth: 1, name: "w.sched", ts: 500, dur: 1000},
		span{pid: 1, tid: 1, inv: 1, name: "v", ts: 9000, dur: 9000},
		span{pid: 1, tid: 1, inv: 1, depth: 1, name: "v.orch", ts: 9000, dur: 1000},
	)))), `callable hid=abc (prefill) — 1 invocation
w                                      9.0 us
  Effective              [dev]           1.5 us
    orch 1.0  ∥  sched 1.0   (concurrent)
    new                                    0.5 us
v                                      9.0 us
  orch                                   1.0 us

`)
}

// native is a run with a full identity and the three spans that the assertion asks for.
func native(inv, dispatch uint64, bind, device [2]int64, release int64) []span {
	attrs := fmt.Sprintf("run_id=7 dispatch_id=%d slot_id=%d generation=1 run_epoch=%d", dispatch, inv%2, inv)
	return []span{
		{pid: 1, tid: 1, inv: inv, name: "chip.run", ts: bind[0], dur: 1000, attrs: attrs},
		{pid: 1, tid: 1, inv: inv, depth: 1, name: "chip.run.bind", ts: bind[0], dur: bind[1]},
		{pid: 1, tid: 1, inv: inv, depth: 1, name: "chip.run.runner_run", ts: device[0], dur: device[1]},
		{pid: 1, tid: 1, inv: inv, depth: 1, name: "chip.run.claim_release", ts: release, dur: 0},
	}
}

// TestOverlap is the test data of spec/host-log.md §6.7, and each of its messages.
func TestOverlap(t *testing.T) {
	first := native(1, 0, [2]int64{50, 20}, [2]int64{100, 100}, 200)
	good := native(2, 0, [2]int64{150, 30}, [2]int64{240, 100}, 340)
	with := func(list []span, change func(s *span)) []span {
		out := append([]span(nil), list...)
		for i := range out {
			change(&out[i])
		}
		return out
	}
	root := func(old, new string) func(*span) {
		return func(s *span) { s.attrs = strings.ReplaceAll(s.attrs, old, new) }
	}
	for _, x := range []struct {
		what          string
		first, second []span
		hidden        bool
		want          string // the error, or 1→2
	}{
		{"accepted", first, good, false, "1→2"},
		{"accepted, hidden", first, good, true, "1→2"},
		{"not fully hidden is accepted", first, native(2, 0, [2]int64{190, 40}, [2]int64{240, 100}, 340), false, "1→2"},
		{"not fully hidden", first, native(2, 0, [2]int64{190, 40}, [2]int64{240, 100}, 340), true,
			"preparation was not fully hidden: sequence=2 prepare_end=230 predecessor_device_end=200"},
		{"did not overlap", first, native(2, 0, [2]int64{210, 20}, [2]int64{240, 100}, 340), false,
			"preparation did not overlap: sequence=2 prepare=[210,230] predecessor_device=[100,200]"},
		{"touches at the end", first, native(2, 0, [2]int64{200, 20}, [2]int64{240, 100}, 340), false,
			"preparation did not overlap: sequence=2 prepare=[200,220] predecessor_device=[100,200]"},
		{"touches at the begin", first, native(2, 0, [2]int64{60, 40}, [2]int64{240, 100}, 340), false,
			"preparation did not overlap: sequence=2 prepare=[60,100] predecessor_device=[100,200]"},
		{"reordered", native(1, 0, [2]int64{50, 20}, [2]int64{100, 100}, 250), native(2, 0, [2]int64{150, 30}, [2]int64{240, 100}, 400), false,
			"device execution reordered before the claim release: sequence=2 device_start=240 predecessor_release=250"},
		{"dispatches", native(1, 10, [2]int64{50, 20}, [2]int64{100, 100}, 200), native(2, 11, [2]int64{150, 30}, [2]int64{240, 100}, 340), false, "10→11"},
		{"not monotonic", native(1, 11, [2]int64{50, 20}, [2]int64{100, 100}, 200), native(2, 10, [2]int64{150, 30}, [2]int64{240, 100}, 340), false,
			"launch order is not monotonic: predecessor=11 successor=10"},
		{"missing identity", first, with(good, root("slot_id=0 generation=1 ", "")), false,
			"chip.run (pid=1 inv=2) is missing identity field(s): slot_id, generation"},
		{"odd identity", first, with(good, root("run_id=7", "run_id=seven")), false, "chip.run has a non-integer identity"},
		{"duplicate", first, with(first, func(s *span) { s.inv = 2 }), false, "duplicate identity for pid=1 sequence=1"},
		{"missing spans", first, good[:1], false, "sequence=2 is missing span(s): chip.run.bind, chip.run.runner_run, chip.run.claim_release"},
		{"one run", first, nil, false, "need at least two complete native runs on one process lane"},
		{"two processes", first, with(good, func(s *span) { s.pid = 2 }), false, "need at least two complete native runs on one process lane"},
		{"no identity", first, with(good, func(s *span) { s.attrs = "" }), false, "need at least two complete native runs on one process lane"},
		{"sequence 0", first, with(good, root("run_epoch=2", "run_epoch=0")), false, "need at least two complete native runs on one process lane"},
		{"no root", first, good[1:], false, "need at least two complete native runs on one process lane"},
	} {
		got, err := strace.NewOverlap(runs(t, text(append(append([]span(nil), x.first...), x.second...)...)), x.hidden)
		said := ""
		switch {
		case err != nil:
			said = err.Error()
		case len(got.Pairs) == 1:
			said = fmt.Sprintf("%d→%d", got.Pairs[0].Predecessor, got.Pairs[0].Successor)
			equal(t, x.what, printed(t, got), "Native overlap verified for 1 adjacent dispatch pair(s).\n")
		}
		equal(t, x.what, said, x.want)
	}
}
