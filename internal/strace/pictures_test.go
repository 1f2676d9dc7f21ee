package strace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/strace"
)

// TestLanesOfDispatcher: the first two examples of spec/host-log.md §6.5.
func TestLanesOfDispatcher(t *testing.T) {
	d := written(t, hosts(t, read(t, strace.KeepAll, text(
		span{pid: 41, tid: 410, inv: 7, name: "node.graph_build", ts: 1000, dur: 900, attrs: "run_id=7 role=facade"},
		span{pid: 41, tid: 410, inv: 7, name: "node.submit", ts: 1100, dur: 100, attrs: "run_id=7 task_slot=12 group_index=0 worker_id=3 role=facade"},
		span{pid: 41, tid: 411, inv: 7, name: "node.dispatch", ts: 1400, dur: 80, attrs: "run_id=7 task_slot=12 group_index=0 worker_id=3 dispatch_id=99 role=scheduler"},
	)), nil).Picture)
	equal(t, "processes", d.names("process_name"), []string{"41:simpler node (pid=41)"})
	equal(t, "lanes", d.names("thread_name"), []string{"41/410:orchestrator / facade", "41/411:scheduler"})
	equal(t, "arrows", d.points(), []string{"s1 41/410 1.199", "f1 41/411 1.400"})
	flow := d.of("f")[0]
	equal(t, "flow", []string{flow.Name, flow.Cat, flow.BP}, []string{"task dispatch", "host.scheduler", "e"})
	equal(t, "key", d.of("X")[2].Args["dispatch_key"], any("dispatch:41:7:12:0:3:99"))

	d = written(t, hosts(t, read(t, strace.KeepAll, text(
		span{pid: 1, tid: 9, inv: 7, name: "node.frame_submit", ts: 100, dur: 5, attrs: "role=worker worker_id=1"},
		span{pid: 1, tid: 9, inv: 7, name: "node.dispatch", ts: 200, dur: 5, attrs: "role=scheduler"},
		span{pid: 1, tid: 9, inv: 7, name: "node.complete", ts: 300, dur: 5, attrs: "role=worker worker_id=1"},
	)), nil).Picture)
	equal(t, "lanes", d.names("thread_name"), []string{"1/9:scheduler"})
}

// TestArrows: the third example of spec/host-log.md §6.5, and dispatches that no submit
// precedes. Arrows leave 1 ns before the end of their bar, where a viewer finds it.
func TestArrows(t *testing.T) {
	node := func(tid int, name string, ts, dur int64, attrs string) span {
		return span{pid: 41, tid: tid, inv: 7, name: "network1." + name, ts: ts, dur: dur, attrs: attrs}
	}
	const key = "run_id=7 task_slot=12 group_index=0 worker_id=3"
	for _, x := range []struct {
		what   string
		log    []span
		arrows []string
		keys   []any
	}{
		{"each dispatch has the submit before it",
			[]span{
				node(1, "submit", 100, 20, key), node(2, "dispatch", 200, 10, key+" dispatch_id=1"),
				node(1, "submit", 300, 20, key), node(2, "dispatch", 400, 10, key+" dispatch_id=2"),
			},
			[]string{"s1 41/1 0.119", "f1 41/2 0.200", "s2 41/1 0.319", "f2 41/2 0.400"},
			[]any{"dispatch:41:7:12:0:3:1", "dispatch:41:7:12:0:3:2"}},
		{"a dispatch inside its submit, values that are left out, the older word for the slot",
			[]span{node(1, "submit", 100, 200, "run_id=7 slot=12"), node(2, "dispatch", 150, 10, "run_id=007 slot=12")},
			[]string{"s1 41/1 0.150", "f1 41/2 0.150"}, []any{"dispatch:41:7:12:-1:-1:0"}},
		{"no submit, one that comes later, one of another run, one of another process",
			[]span{
				node(2, "dispatch", 50, 10, key), node(1, "submit", 60, 10, key), node(2, "dispatch", 200, 10, "run_id=8 task_slot=12"),
				{pid: 42, tid: 2, name: "node.dispatch", ts: 300, dur: 5, attrs: key}, node(2, "dispatch", 400, 10, "run_id=7"),
			}, nil, nil},
		{"another bar on top of the submit",
			[]span{node(1, "submit", 100, 50, key), node(1, "graph_build", 120, 10, "role=facade"), node(2, "dispatch", 200, 10, key)},
			[]string{"s1 41/1 0.119", "f1 41/2 0.200"}, []any{"dispatch:41:7:12:0:3:0"}},
		{"a submit without length",
			[]span{node(1, "submit", 100, 0, key), node(2, "dispatch", 200, 10, key)},
			[]string{"s1 41/1 0.100", "f1 41/2 0.200"}, []any{"dispatch:41:7:12:0:3:0"}},
	} {
		t.Run(x.what, func(t *testing.T) {
			d := written(t, hosts(t, read(t, strace.KeepAll, text(x.log...)), nil).Picture)
			equal(t, "arrows", d.points(), x.arrows)
			var keys []any
			for _, e := range d.of("X") {
				if k, ok := e.Args["dispatch_key"]; ok {
					keys = append(keys, k)
				}
			}
			equal(t, "keys", keys, x.keys)
		})
	}
}

// pipeline is a thread that serves three runs in two slots (spec/host-log.md §6.5).
func pipeline(second, third [2]int64) []span {
	var out []span
	for i, r := range [][2]int64{{50, 210}, second, third} {
		out = append(out, span{pid: 5, tid: 7, inv: uint64(i + 1), name: "chip.run", ts: r[0], dur: r[1] - r[0],
			attrs: fmt.Sprintf("run_id=0 dispatch_id=0 slot_id=%d generation=1 run_epoch=%d", i%2, i+1)})
	}
	return out
}

// TestPipelineSlots: a thread is split by the slots that it serves (spec/host-log.md §6.5).
func TestPipelineSlots(t *testing.T) {
	good := pipeline([2]int64{150, 350}, [2]int64{300, 490})
	without := append([]span(nil), good...)
	without[1].attrs = ""
	later := span{pid: 5, tid: 9, inv: 2, depth: 1, name: "chip.run.x", ts: 600, dur: 1, attrs: "slot_id=1"}
	for _, x := range []struct {
		what  string
		log   []span
		lanes []string
		bars  []int // on each lane
	}{
		{"two slots", good, []string{"5/8:pipeline slot 0 (tid 7)", "5/9:pipeline slot 1 (tid 7)"}, []int{2, 1}},
		// Run 3 begins while run 1 is in its slot: no split.
		{"overlap within a slot", pipeline([2]int64{150, 350}, [2]int64{200, 470}), []string{"5/7:chip child", "5/8:chip child (2)", "5/9:chip child (3)"}, []int{1, 1, 1}},
		{"one slot", []span{good[0], good[2]}, []string{"5/7:chip child"}, []int{2}},
		{"no overlap", pipeline([2]int64{210, 300}, [2]int64{300, 470}), []string{"5/7:chip child"}, []int{3}},
		{"a foreign producer on the thread", append(good[:3:3], span{pid: 5, tid: 7, name: "ext.pypto.decode_layer", ts: 60, dur: 300, attrs: "slot_id=99 role=facade"}),
			[]string{"5/7:ext pypto", "5/8:pipeline slot 0 (tid 7)", "5/9:pipeline slot 1 (tid 7)"}, []int{1, 2, 1}},
		{"a run without a slot", without, []string{"5/7:chip child", "5/8:chip child (2)"}, []int{2, 1}},
		{"whose slot another thread says", append(without[:3:3], later), []string{"5/9:chip child", "5/10:pipeline slot 0 (tid 7)", "5/11:pipeline slot 1 (tid 7)"}, []int{1, 2, 1}},
	} {
		t.Run(x.what, func(t *testing.T) {
			d := written(t, hosts(t, read(t, strace.KeepAll, text(x.log...)), nil).Picture)
			equal(t, "lanes", d.names("thread_name"), x.lanes)
			count := map[string]int{}
			for _, e := range d.of("X") {
				lane := fmt.Sprintf("%d/%d", e.PID, e.TID)
				count[lane]++
				if tid := fmt.Sprint(e.Args["os_tid"]); tid != "7" && e.Name != later.name {
					t.Errorf("os_tid is %s", tid)
				}
			}
			var bars []int
			for _, lane := range d.names("thread_name") {
				id, _, _ := strings.Cut(lane, ":")
				bars = append(bars, count[id])
			}
			equal(t, "bars", bars, x.bars)
		})
	}
}

// TestLaneNames: each rule of spec/host-log.md §6.5, in the order of precedence.
func TestLaneNames(t *testing.T) {
	for _, x := range []struct {
		want  string
		spans []span
	}{
		{"graph record worker", []span{{name: "chip.a", attrs: "host_phase_thread=graph_submit_main"}, {name: "node.submit", attrs: "host_phase_thread=graph_record_worker"}}},
		{"graph submit main", []span{{name: "chip.a", attrs: "host_phase_thread=graph_submit_main"}, {name: "node.submit"}}},
		{"orchestrator / facade", []span{{name: "node.complete", attrs: "role=worker"}, {name: "network3.graph_build", attrs: "role=worker"}, {name: "node.x", attrs: "role=scheduler"}}},
		{"orchestrator / facade", []span{{name: "chip.a", attrs: "role=facade"}}},
		{"scheduler", []span{{name: "node.complete", attrs: "role=worker"}, {name: "node.x", attrs: "role=scheduler"}, {name: "chip.a"}}},
		{"worker 3", []span{{name: "node.complete", attrs: "role=worker worker_id=3"}, {name: "node.x"}, {name: "node.y", attrs: "role=worker worker_id=03"}}},
		{"worker", []span{{name: "node.complete", attrs: "role=worker worker_id=3"}, {name: "node.complete", attrs: "role=worker worker_id=4"}}},
		{"worker", []span{{name: "node.complete", attrs: "role=worker worker_id=3"}, {name: "node.complete", attrs: "role=worker"}}},
		{"worker", []span{{name: "node.new"}, {name: "chip.a"}}},
		{"chip child", []span{{name: "other"}, {name: "chip.a"}, {name: "ext.p.q", attrs: "role=scheduler"}}},
		{"ext a/p", []span{{name: "ext.p.q"}, {name: "ext.a.q"}, {name: "ext.p.q.r"}, {name: "ext.lost"}}},
		{"ext node", []span{{name: "ext.node.foo"}}},
		{"tid 77", []span{{name: "ext.p"}, {name: "ext..q"}}},
		{"tid 77", []span{{name: "core.x"}, {name: "ext.p.q"}}},
	} {
		for i := range x.spans {
			s := &x.spans[i]
			s.pid, s.tid, s.ts, s.dur = 6, 77, int64(10*i), 5
		}
		d := written(t, hosts(t, read(t, strace.KeepAll, text(x.spans...)), nil).Picture)
		equal(t, fmt.Sprint(x.spans), d.names("thread_name"), []string{"6/77:" + x.want})
	}
}

// TestProcessNames: by the families of all spans, those of the device too
// (spec/host-log.md §6.5).
func TestProcessNames(t *testing.T) {
	for _, x := range []struct {
		want  []string
		spans []span
	}{
		{[]string{"41:simpler chip child (pid=41)"}, []span{{pid: 41, name: "ext.pypto.decode_layer"}, {pid: 41, name: "chip.run.runner_run.device_wall", attrs: "clk=dev"}}},
		{[]string{"41:simpler node (pid=41)"}, []span{{pid: 41, name: "chip.run"}, {pid: 41, name: "network2.x"}}},
		{[]string{"41:external producer a/pypto (pid=41)"}, []span{{pid: 41, name: "ext.pypto.x"}, {pid: 41, name: "ext.a.x"}, {pid: 41, name: "ext.lost"}}},
		{[]string{"41:external producer unattributed (pid=41)"}, []span{{pid: 41, name: "ext.pypto"}}},
		{[]string{"2:simpler chip child (pid=2)", "30:simpler chip child (pid=30)"}, []span{{pid: 30, name: "odd"}, {pid: 2, name: "chip.run"}, {pid: 1, name: "chip.x", attrs: "clk=dev"}}},
	} {
		for i := range x.spans {
			s := &x.spans[i]
			s.tid, s.ts, s.dur = 5, int64(10*i), 5
		}
		d := written(t, hosts(t, read(t, strace.KeepAll, text(x.spans...)), nil).Picture)
		equal(t, fmt.Sprint(x.spans), d.names("process_name"), x.want)
	}
}

// TestDeviceSpans: they stand beside the picture (example of spec/host-log.md §6.5), also
// where there is nothing else (D8). Boundaries of the device are an instant of the
// host (spec/newest.md §11).
func TestDeviceSpans(t *testing.T) {
	l := read(t, strace.KeepAll, text(span{pid: 52, tid: 520, inv: 8, name: "chip.run.runner_run.device_wall", ts: 300, dur: 40, attrs: "clk=dev rank=1"}))
	h := hosts(t, l, nil)
	d := written(t, h.Picture)
	equal(t, "spans", d.UnalignedDeviceSpans, []any{map[string]any{
		"name": "chip.run.runner_run.device_wall", "ts_ns": 300, "dur_ns": 40, "pid": 52, "tid": 520, "inv": 8, "hid": "abc", "depth": 0,
		"attrs": map[string]any{"raw": "clk=dev rank=1", "clk": "dev", "rank": 1},
	}})
	equal(t, "counts", []int{len(d.TraceEvents), h.Host, h.Device}, []int{0, 0, 1})

	l = read(t, strace.KeepAll, text(
		span{pid: 2, tid: 2, inv: 8, name: "chip.b", ts: 300, attrs: "clk=dev"}, span{pid: 1, tid: 3, inv: 9, name: "chip.c", ts: 1, attrs: "clk=dev"},
		span{pid: 1, tid: 3, inv: 8, name: "chip.d", ts: 2, attrs: "clk=dev"}, span{pid: 1, tid: 2, inv: 8, name: "chip.e", ts: 2, attrs: "clk=dev"},
		span{pid: 1, tid: 2, inv: 8, name: "chip.a", ts: 2, attrs: "clk=dev"},
		span{pid: 1, tid: 2, inv: 8, depth: 2, name: "chip.run.runner_run.device_boundaries", ts: 2000, attrs: "clk=dev dev_id=0 ts_hz=50000000"},
	))
	h = hosts(t, l, nil)
	d = written(t, h.Picture)
	var order []string
	for _, s := range d.UnalignedDeviceSpans {
		order = append(order, s.(map[string]any)["name"].(string))
	}
	equal(t, "order", order, []string{"chip.a", "chip.e", "chip.d", "chip.c", "chip.b"})
	if bars := d.of("X"); len(bars) != 1 || bars[0].TS != "2.000" || fmt.Sprint(bars[0].Args["ts_hz"]) != "50000000" {
		t.Errorf("bars: %+v", bars)
	}
}

// TestSchedulerLoop: in the picture of hosts and in no view of runs (spec/host-log.md §6.5).
func TestSchedulerLoop(t *testing.T) {
	log := text(span{pid: 1, tid: 2, name: "node.scheduler_loop", ts: 5, dur: 50, attrs: "role=scheduler drained=2 dispatched=1 drain_ns=40 spins=917"})
	d := written(t, hosts(t, read(t, strace.KeepAll, log), nil).Picture)
	equal(t, "lanes", d.names("thread_name"), []string{"1/2:scheduler"})
	equal(t, "spins", fmt.Sprint(d.of("X")[0].Args["spins"]), "917")
	l := read(t, strace.KeepRuns, log)
	if p, n := l.RunsPicture(l.Runs()); n != 0 || len(p.Processes) != 0 {
		t.Errorf("%d bars in the picture of runs", n)
	}
}

// TestArgs: values of attributes are numbers of any size or decoded text, the last of a
// key counts and may hide the span's own, and keys may be any text.
func TestArgs(t *testing.T) {
	d := written(t, hosts(t, read(t, strace.KeepAll, text(span{pid: 1, tid: 2, inv: 4294967303, depth: 3, name: "host.odd%20name", ts: 5, dur: 50,
		attrs: `run_id=7 reason=submit%20failed%3A%20%5Bfatal%5D role=facade inv=1 x=1 x=-02 big=18446744073709551615 huge=-123456789012345678901 a"b=1 none= lone`})), nil).Picture)
	bar := d.of("X")[0]
	equal(t, "name", bar.Name, "host.odd name")
	equal(t, "args", bar.Args, map[string]any{
		"inv": 1, "hid": "abc", "depth": 3, "os_tid": 2, "run_id": 7, "reason": "submit failed: [fatal]", "role": "facade", "x": -2,
		"big": "18446744073709551615", "huge": "-123456789012345678901", `a"b`: 1, "none": "",
		"attrs": `run_id=7 reason=submit%20failed%3A%20%5Bfatal%5D role=facade inv=1 x=1 x=-02 big=18446744073709551615 huge=-123456789012345678901 a"b=1 none= lone`,
	})
	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf("k%d=%d", i%100, i))
	}
	d = written(t, hosts(t, read(t, strace.KeepAll, text(span{pid: 1, tid: 2, name: "x", attrs: strings.Join(many, " ")})), nil).Picture)
	args := d.of("X")[0].Args
	equal(t, "many", []string{fmt.Sprint(len(args)), fmt.Sprint(args["k7"]), fmt.Sprint(args["k99"])}, []string{"105", "107", "199"})
}

// anchor is a clock anchor as a log has it.
func anchor(pid int, mono, wall int64) string {
	return fmt.Sprintf("[mono_ns=%d][T0x1][TIMING] clock_anchor: [CLOCK_ANCHOR] v=1 pid=%d mono_ns=%d wall_ns=%d", mono, pid, mono, wall)
}

// TestWallTime: the examples of spec/host-log.md §3.1, in both pictures.
func TestWallTime(t *testing.T) {
	log := text(anchor(64, 2000, 2000000000000000000), anchor(41, 1000, 1700000000000000000), anchor(52, 1000, 1900000000000000000))
	for _, pid := range []int{41, 52, 63, 64} {
		log += text(span{pid: pid, tid: pid, inv: 1, name: "chip.run", ts: 1500, dur: 1}, span{pid: pid, tid: pid, inv: 1, depth: 1, name: "chip.run.w", ts: 1500, dur: 1, attrs: "clk=dev"})
	}
	log += text(span{pid: 41, tid: 41, inv: 2, name: "chip.run", ts: 1250, dur: 1})
	want := map[string]string{
		"41 1.500": "1700000000000000500 2023-11-14T22:13:20.000000500Z", "52 1.500": "1900000000000000500 2030-03-17T17:46:40.000000500Z",
		"63 1.500": "<nil> <nil>", "64 1.500": "<nil> <nil>", "41 1.250": "1700000000000000250 2023-11-14T22:13:20.000000250Z",
	}
	l := read(t, strace.KeepAll, log)
	runsPicture, n := l.RunsPicture(l.Runs())
	equal(t, "bars", n, 9)
	for i, d := range []document{written(t, hosts(t, l, nil).Picture), written(t, runsPicture)} {
		seen := 0
		for _, e := range d.of("X") {
			pid := e.PID
			if i == 1 { // processes are runs there: (pid, inv) in order
				pid = []int64{41, 41, 52, 63, 64}[e.PID-1]
			}
			got := fmt.Sprint(e.Args["wall_ts_ns"], " ", e.Args["wall_time"])
			if e.Name == "chip.run.w" {
				equal(t, "device", got, "<nil> <nil>")
				continue
			}
			seen++
			equal(t, fmt.Sprintf("wall time of pid %d", pid), got, want[fmt.Sprintf("%d %s", pid, e.TS)])
		}
		equal(t, "seen", seen, 5)
		equal(t, "anchors", d.ClockAnchors, []any{
			map[string]any{"pid": 41, "mono_ns": "1000", "wall_ns": "1700000000000000000"},
			map[string]any{"pid": 52, "mono_ns": "1000", "wall_ns": "1900000000000000000"},
			map[string]any{"pid": 64, "mono_ns": "2000", "wall_ns": "2000000000000000000"},
		})
	}
}

// TestRunsPicture: one process a run, lanes of the host and of the device, and further
// ones for what overlaps (spec/host-log.md §6.4, D13).
func TestRunsPicture(t *testing.T) {
	l := read(t, strace.KeepRuns, golden()+text(
		span{pid: 3, tid: 3, inv: 1, hid: "0123456789", name: "chip.run", ts: 5, dur: 5, attrs: "run_id=1"},
		span{pid: 3, tid: 4, inv: 1, hid: "0123456789", depth: 1, name: "chip.other", ts: 8, dur: 5},
		span{pid: 3, tid: 3, inv: 5, name: "node.submit", ts: 5, dur: 5},
	))
	p, n := l.RunsPicture(l.Runs())
	equal(t, "bars", n, 16)
	d := written(t, p)
	equal(t, "processes", d.names("process_name"), []string{"1:decode inv=1 (pid=1)", "2:decode inv=2 (pid=1)", "3:prefill inv=1 (pid=3)"})
	equal(t, "lanes", d.names("thread_name"), []string{
		"1/1:host", "1/2:device (clk=dev)", "1/3:device (clk=dev) (2)",
		"2/1:host", "2/2:device (clk=dev)", "2/3:device (clk=dev) (2)",
		"3/1:host", "3/2:device (clk=dev)", "3/3:host (2)",
	})
	var bars []string
	for _, e := range d.of("X") {
		if e.PID != 2 {
			bars = append(bars, fmt.Sprintf("%d/%d %s %s+%s", e.PID, e.TID, e.Name[strings.LastIndex(e.Name, ".")+1:], e.TS, e.Dur))
		}
	}
	equal(t, "bars", strings.Join(bars, "\n"), strings.Join([]string{
		"1/1 bind 1.100+10.000", "1/1 runner_run 20.000+50.000", "1/2 device_wall 0.000+20.000", "1/2 orch 0.700+5.000", "1/3 sched 0.900+9.000",
		"1/2 task_slot_3 0.950+0.900", "1/1 run 1.000+100.000", "3/1 run 0.005+0.005", "3/3 other 0.008+0.005",
	}, "\n"))
	equal(t, "args", d.of("X")[14].Args, map[string]any{"inv": 1, "hid": "0123456789", "depth": 0, "attrs": "run_id=1"})
}

// phasesOf attaches records to a log.
func phasesOf(t *testing.T, l *strace.Log, lines string) *strace.Phases {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host_phase_records.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := l.ReadPhases([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPhaseRecords: both examples of spec/host-log.md §6.6.
func TestPhaseRecords(t *testing.T) {
	l := read(t, strace.KeepAll, text(span{pid: 9, tid: 9, inv: 5, depth: 1, name: "chip.run.bind", ts: 900, dur: 1000}))
	const line = `{"pid": 9, "inv": 5, "records": [{"phase": "args", "start_ns": 1000, "end_ns": 1100%[1]s9},` +
		` {"phase": "record_in_graph_task", "start_ns": 1150, "end_ns": 1230%[1]s42}, {"phase": "graph_submit", "start_ns": 1240, "end_ns": 1250%[1]s9}]}`
	h := hosts(t, l, phasesOf(t, l, fmt.Sprintf(line, `, "tid": `)))
	d := written(t, h.Picture)
	equal(t, "lanes", d.names("thread_name"), []string{"9/9:graph submit main", "9/42:graph record worker"})
	var bars []string
	for _, e := range d.of("X") {
		bars = append(bars, fmt.Sprintf("%s %d %s+%s %v %v %v", e.Name, e.TID, e.TS, e.Dur, e.Args["depth"], e.Args["inv"], e.Args["attrs"]))
	}
	equal(t, "bars", strings.Join(bars, "\n"), `chip.run.bind 9 0.900+1.000 1 5 
chip.run.bind.args 9 1.000+0.100 2 5 detail=0 src=host_phase_records host_phase_thread=host_main
chip.run.bind.host_orch.record_in_graph_task 42 1.150+0.080 3 5 detail=0 src=host_phase_records host_phase_thread=graph_record_worker
chip.run.bind.host_orch.graph_submit 9 1.240+0.010 3 5 detail=0 src=host_phase_records host_phase_thread=graph_submit_main`)

	d = written(t, hosts(t, l, phasesOf(t, l, fmt.Sprintf(line, `, "none": `))).Picture)
	equal(t, "lanes", d.names("thread_name"), []string{"9/9:graph submit main"})
}

// TestOddPhaseRecords: what is passed over, what is dropped, what is there already
// (spec/host-log.md §6.6).
func TestOddPhaseRecords(t *testing.T) {
	l := read(t, strace.KeepAll, text(
		span{pid: 9, tid: 9, inv: 5, depth: 1, name: "chip.run.bind", ts: 900, dur: 1000},
		span{pid: 9, tid: 9, inv: 5, depth: 2, name: "chip.run.bind.args", ts: 900, dur: 10},
		span{pid: 9, tid: 9, inv: 5, depth: 2, name: "chip.run.bind.gm_heap", ts: 900, dur: 10, attrs: "clk=dev"},
	))
	p := phasesOf(t, l, strings.Join([]string{
		``, `not JSON`, `[1]`, `7`, `{"pid": 9, "inv": 5, "records": {}}`, `{"pid": 9, "inv": 5, "records": null}`, `{"pid": 9, "inv": 5`,
		`{"pid": 9, "inv": 6, "records": []}`, `{"pid": 9, "inv": "5"}`, `{"inv": 5}`, `{"pid": 9, "inv": 5}`,
		`{"pid": 9, "inv": 5, "records": [7, {}, {"phase": "args"}, {"phase": 3, "start_ns": 1, "end_ns": 2}, {"phase": "x", "start_ns": 1.5, "end_ns": 2},` +
			`{"phase": "x", "start_ns": "1", "end_ns": 2}, {"phase": "x", "start_ns": 1}, {"start_ns": 1, "end_ns": 2},` +
			`{"phase": "args", "start_ns": 1, "end_ns": 2}, {"phase": "gm_heap", "start_ns": 1, "end_ns": 2, "tid": 77},` +
			`{"phase": "own", "start_ns": 8, "end_ns": 2, "tid": -1, "detail": "a b"}, {"phase": "own", "start_ns": 8, "end_ns": 9, "tid": 12, "detail": 18446744073709551615},` +
			`{"phase": "record_node", "start_ns": 8, "end_ns": 9, "tid": 9, "detail": null}]}`,
	}, "\n"))
	equal(t, "dropped, present", []int{p.Dropped, p.Present}, []int{3, 1})
	var got []string
	for _, s := range p.Spans {
		got = append(got, strings.Join([]string{s.Name, strconv.FormatInt(s.TID, 10), fmt.Sprint(s.TS, "+", s.Dur), s.Attrs}, " "))
	}
	equal(t, "spans", strings.Join(got, "\n"), `chip.run.bind.gm_heap 9 1+1 detail=0 src=host_phase_records host_phase_thread=host_main
chip.run.bind.host_orch.own 9 8+0 detail=a%20b src=host_phase_records host_phase_thread=host_main
chip.run.bind.host_orch.own 12 8+1 detail=18446744073709551615 src=host_phase_records host_phase_thread=host_main
chip.run.bind.host_orch.record_node 9 8+1 detail=0 src=host_phase_records host_phase_thread=host_main`)
}

// TestHostileIDs: numbers that the format cannot hold, and 0, get others, and the bar
// says what its thread really is.
func TestHostileIDs(t *testing.T) {
	d := written(t, hosts(t, read(t, strace.KeepAll, text(
		span{pid: 1 << 40, tid: 0, name: "chip.a", ts: 1, dur: 5}, span{pid: 0, tid: 1 << 35, name: "chip.b", ts: 1, dur: 5},
		span{pid: 3, tid: 1<<32 - 1, name: "chip.c", ts: 1, dur: 5},
	)), nil).Picture)
	equal(t, "processes", d.names("process_name"), []string{"4:simpler chip child (pid=0)", "3:simpler chip child (pid=3)", "5:simpler chip child (pid=1099511627776)"})
	equal(t, "lanes", d.names("thread_name"), []string{"4/1:chip child", "3/4294967295:chip child", "5/2:chip child"})
	equal(t, "tid", fmt.Sprint(d.of("X")[0].Args["os_tid"]), "34359738368")
}

// TestManyOverlapping: spans that all overlap need ever more lanes; there is an end to it.
func TestManyOverlapping(t *testing.T) {
	var lines []span
	for i := range int64(5000) {
		lines = append(lines, span{pid: 1, tid: 1, inv: 1, name: fmt.Sprint("odd", i), ts: i, dur: 9000})
	}
	l := read(t, strace.KeepRuns, text(lines...))
	p, n := l.RunsPicture(l.Runs())
	equal(t, "bars", n, 5000)
	d := written(t, p, "slice-overlap")
	equal(t, "lanes", len(d.names("thread_name")), 65) // 64 of the host, one of the device
}

// TestKeep: what is kept for tables has no attributes but those of outermost spans.
func TestKeep(t *testing.T) {
	log := text(
		span{pid: 1, tid: 1, inv: 1, name: "chip.run", attrs: "run_id=1"}, span{pid: 1, tid: 1, inv: 1, depth: 1, name: "chip.run.x", attrs: "n=1"},
		span{pid: 1, tid: 1, inv: 1, depth: 1, name: "chip.run.w", attrs: "rank=1 clk=dev"}, span{pid: 1, tid: 1, name: "node.x", attrs: "a=1"}, span{pid: 1, tid: 1, name: "ext.p.x", attrs: "a=1"},
	)
	for keep, want := range map[strace.Keep]string{
		strace.KeepTimes: "[run_id=1]  [clk=dev]", strace.KeepRuns: "[run_id=1] [n=1] [rank=1 clk=dev]", strace.KeepAll: "[run_id=1] [n=1] [rank=1 clk=dev] [a=1] [a=1]",
	} {
		var got []string
		for s := range read(t, keep, log).Spans() {
			if s.Attrs != "" {
				s.Attrs = "[" + s.Attrs + "]"
			}
			got = append(got, s.Attrs)
		}
		equal(t, "attributes", strings.Join(got, " "), want)
	}
}
