package ranks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
)

// spans reads a log of lines "pid tid inv depth name ts dur attributes".
func spans(t *testing.T, lines ...string) []hostlog.Span {
	t.Helper()
	var out []hostlog.Span
	r := hostlog.Reader{Span: func(s *hostlog.Span) error { out = append(out, *s); return nil }}
	var log strings.Builder
	for _, line := range lines {
		f := append(strings.SplitN(line, " ", 8), "")
		fmt.Fprintf(&log, "[STRACE] v=1 pid=%s tid=%s inv=%s hid=0 depth=%s name=%s ts=%s dur=%s %s\n", f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])
	}
	if err := r.Read("test", strings.NewReader(log.String())); err != nil || len(out) != len(lines) {
		t.Fatalf("%d spans, %v", len(out), err)
	}
	return out
}

// lanesOf lays spans out as those of dispatchers.
func lanesOf(all []hostlog.Span) string {
	var picked []*hostlog.Span
	for i := range all {
		picked = append(picked, &all[i])
	}
	var out []string
	for _, d := range dispatchersOf(picked) {
		out = append(out, d.label)
		for k, l := range d.lanes {
			n := 0
			for _, on := range d.on {
				if on == k {
					n++
				}
			}
			out = append(out, fmt.Sprintf("%d %s ×%d", l.tid, l.name, n))
		}
	}
	return strings.Join(out, "; ")
}

// TestDispatcherLanes are examples of spec/host-log.md §6.5.
func TestDispatcherLanes(t *testing.T) {
	slots := []string{
		"52 7 1 0 chip.run 50 160 slot_id=0", "52 7 2 0 chip.run 150 200 slot_id=1", "52 7 3 0 chip.run 300 190 slot_id=0",
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"facade and scheduler", []string{"41 410 7 0 node.graph_build 1000 900", "41 410 7 0 node.submit 1100 100 run_id=7 task_slot=12 worker_id=3", "41 411 7 0 node.dispatch 1400 80 dispatch_id=99 role=scheduler"},
			"simpler node (pid=41); 410 orchestrator / facade ×2; 411 scheduler ×1"},
		{"a scheduler that targets workers", []string{"41 5 7 0 node.frame_submit 1 1 role=worker worker_id=0", "41 5 7 0 node.dispatch 2 1 role=scheduler", "41 5 7 0 node.complete 4 1 role=worker worker_id=0"},
			"simpler node (pid=41); 5 scheduler ×3"},
		{"one worker", []string{"41 5 7 0 node.complete 1 1 role=worker worker_id=3"}, "simpler node (pid=41); 5 worker 3 ×1"},
		{"two workers", []string{"41 5 7 0 node.complete 1 1 role=worker worker_id=3", "41 5 7 0 node.complete 1 1 role=worker worker_id=4"}, "simpler node (pid=41); 5 worker ×2"},
		{"pipeline slots", slots, "simpler chip child (pid=52); 8 pipeline slot 0 (tid 7) ×2; 9 pipeline slot 1 (tid 7) ×1"},
		{"slots that do not overlap", []string{"52 7 1 0 chip.run 50 160 slot_id=0", "52 7 3 0 chip.run 300 170 slot_id=1"}, "simpler chip child (pid=52); 7 chip child ×2"},
		{"slots beside a foreign span", append(slices.Clone(slots), "52 7 0 0 ext.pypto.decode_layer 60 10 slot_id=99 role=facade"),
			"simpler chip child (pid=52); 7 ext pypto ×1; 8 pipeline slot 0 (tid 7) ×2; 9 pipeline slot 1 (tid 7) ×1"},
		{"foreign", []string{"9 3 0 0 ext.b.x 1 1", "9 3 0 0 ext.a.y 1 1", "9 4 0 0 ext.a 1 1"}, "external producer a/b (pid=9); 3 ext a/b ×2; 4 tid 4 ×1"},
		{"foreign without a name", []string{"9 4 0 0 ext..x 1 1"}, "external producer unattributed (pid=9); 4 tid 4 ×1"},
		{"phase threads", []string{"9 4 0 0 odd.name 1 1 host_phase_thread=graph_submit_main", "9 5 0 0 odd.name 1 1 host_phase_thread=graph_record_worker", "9 6 0 0 odd 1 1"},
			"simpler chip child (pid=9); 4 graph submit main ×1; 5 graph record worker ×1; 6 tid 6 ×1"},
	} {
		if got := lanesOf(spans(t, c.lines...)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestDispatcherSpans is the choice of example C (spec/l3.md §9.5).
func TestDispatcherSpans(t *testing.T) {
	all := spans(t,
		"1000 1 3 0 chip.run 12000 40000",
		"900 1 17 0 node.graph_build 10000 500", "900 1 17 0 node.submit 10600 200",
		"900 2 17 0 node.dispatch 11000 300", "900 2 17 0 node.dispatch 11900 400", "900 2 17 0 node.complete 52100 80", "900 2 17 0 node.complete 52600 80",
		"900 2 0 0 node.scheduler_loop 1000 50", "900 2 0 0 node.scheduler_loop 10900 1500", "900 2 0 0 node.scheduler_loop 52050 700",
		"900 1 16 0 node.submit 2000 100", "1002 1 3 0 chip.run 12000 100", "900 2 17 0 node.x 1 1 clk=dev",
	)
	var got []string
	for _, s := range dispatcherSpans(all, map[int]bool{1000: true}, nil, 12000, 52500) {
		got = append(got, fmt.Sprintf("%s %d", strings.TrimPrefix(s.Name, "node."), s.TS))
	}
	want := "graph_build 10000, submit 10600, dispatch 11000, dispatch 11900, complete 52100, complete 52600, scheduler_loop 10900, scheduler_loop 52050"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	// What only touches the window is outside of it.
	for _, line := range []string{"900 1 4 0 node.submit 11900 100", "900 1 4 0 node.submit 52500 100", "900 1 0 0 node.scheduler_loop 11900 100"} {
		if out := dispatcherSpans(spans(t, line), nil, nil, 12000, 52500); len(out) > 0 {
			t.Errorf("%s is chosen", line)
		}
	}
}

// TestDispatcherOfSlowWorkers: a run that dispatched the ranks is there although none
// of its spans lies beside them: they started after the last dispatch had returned, and
// ended before the first completion.
func TestDispatcherOfSlowWorkers(t *testing.T) {
	all := spans(t,
		"900 1 17 0 node.submit 9000 200", "900 2 17 0 node.dispatch 9500 2500", "900 2 17 0 node.complete 52500 80",
		"900 2 0 0 node.scheduler_loop 9400 2600", "900 2 0 0 node.scheduler_loop 1000 50",
		"901 1 17 0 node.submit 2000 100", "901 1 17 0 node.complete 11000 1000", // of a node whose runs have the same numbers, before
		"902 1 17 0 node.submit 52500 100",
		"900 1 18 0 node.submit 9000 200", "900 2 18 0 node.complete 52500 80", // dispatched none of the ranks
		"903 1 17 0 odd.begin 9000 200", "903 1 17 0 odd.end 52500 80", // its numbers are no runs
	)
	for _, c := range []struct {
		served map[uint64]bool
		want   string
	}{
		{map[uint64]bool{17: true}, "900 submit 9000, 900 dispatch 9500, 900 complete 52500, 900 scheduler_loop 9400"},
		{nil, ""},
	} {
		var got []string
		for _, s := range dispatcherSpans(all, map[int]bool{1000: true}, c.served, 12000, 52500) {
			got = append(got, fmt.Sprintf("%d %s %d", s.PID, s.Leaf(), s.TS))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v: got %v, want %s", c.served, got, c.want)
		}
	}
}

// TestLayout: process numbers are those of the format as long as it has any, and
// beyond they do not collide (spec/l3.md §10.3, §12 D21).
func TestLayout(t *testing.T) {
	l := layoutOf(3, 28)
	if l.host(0) != 11 || l.host(2) != 17 || l.host(28)+2 != 97 || l.views(0)+4 != 104 || l.views(2)+4 != 304 {
		t.Errorf("%+v", l)
	}
	for _, c := range [][2]int{{0, 0}, {10, 28}, {10, 29}, {11, 28}, {500, 0}, {2, 1000}, {77, 127}} {
		l, used := layoutOf(c[0], c[1]), map[uint32]bool{}
		take := func(pid uint32) {
			if pid == 0 || used[pid] {
				t.Errorf("%v: process %d is there twice", c, pid)
			}
			used[pid] = true
		}
		for d := range c[0] {
			take(uint32(d + 1))
		}
		for r := range c[1] + 1 {
			for k := range uint32(3) {
				take(l.host(r) + k)
			}
			for view := range uint32(stride) {
				if pid := l.views(r) + view; view > 0 {
					take(pid)
				}
			}
		}
		if last := l.host(c[1]) + 2; last >= l.views(0) {
			t.Errorf("%v: the host's part reaches %d, views begin at %d", c, last, l.views(0))
		}
	}
}

// TestWindows: the last span of a name counts, and a window needs both.
func TestWindows(t *testing.T) {
	all := spans(t,
		"10 1 2 1 chip.run.runner_run 100 50", "10 1 2 1 chip.run.runner_run 200 60",
		"10 1 2 2 chip.run.runner_run.device_wall 0 40 clk=dev", "10 1 2 3 chip.run.runner_run.device_wall.sched 5 20 clk=dev",
		"10 1 2 3 chip.run.runner_run.device_wall.orch 5 0 clk=dev", "10 1 2 3 chip.run.runner_run.device_wall.task_slot_3 6 7 clk=dev",
		"10 1 2 0 chip.run 90 200 run_id=1 dispatch_id=2 slot_id=0 generation=4", "10 1 3 1 chip.run.runner_run 100 50",
		"9 1 3 1 chip.run.runner_run 100 50", "9 1 3 2 chip.run.runner_run.device_wall 0 40 clk=dev", "9 1 3 0 chip.run 90 200 run_id=1 dispatch_id=x slot_id=0 generation=4",
	)
	got, err := Windows(all)
	if err != nil || len(got) != 2 || got[0].Key != (Key{9, 3}) || got[0].Dispatch != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	w := got[1]
	if w.Key != (Key{10, 2}) || w.Start != 200 || w.Dur != 60 || w.Wall != 40 || *w.Dispatch != (Dispatch{1, 2, 0, 4}) ||
		len(w.Phases) != 2 || w.Phases["sched"] != (Phase{5, 20}) || w.Phases["task_slot_3"] != (Phase{6, 7}) {
		t.Errorf("%+v", w)
	}
}

// TestNewestWindows: what spec/newest.md §10.1 and §11 add to the log.
func TestNewestWindows(t *testing.T) {
	run := func(pid int, root string) []string {
		return []string{
			fmt.Sprintf("%d 1 1 0 %s", pid, root),
			fmt.Sprintf("%d 1 1 1 chip.run.runner_run 100 50", pid),
			fmt.Sprintf("%d 1 1 2 chip.run.runner_run.device_wall 0 40 clk=dev", pid),
			fmt.Sprintf("%d 1 1 2 chip.run.runner_run.device_boundaries 120 0 clk=dev dev_id=0", pid),
			fmt.Sprintf("%d 1 1 2 chip.run.runner_run.aicpu_launch 110 0", pid),
		}
	}
	got, err := Windows(spans(t, slices.Concat(
		run(1, "chip.run 90 200 run_id=0 dispatch_id=0 slot_id=0 generation=1 run_epoch=7"),
		run(2, "chip.run 90 200 run_id=17 dispatch_id=3 slot_id=0 generation=1 run_epoch=18446744073709551615"),
		run(3, "chip.run 90 200 run_id=0 dispatch_id=3 slot_id=0 generation=1 run_epoch=x"),
		run(4, "chip.prewarm.run 90 200 run_epoch=1"),
		run(5, "chip.run.bind 90 3"),
	)...))
	if err != nil || len(got) != 4 {
		t.Fatalf("%+v, %v; want the runs of pids 1, 2, 3 and 5: none of a warm-up", got, err)
	}
	for _, w := range got {
		if len(w.Phases) != 0 || w.Launch == nil || *w.Launch != (Launch{At: 110}) {
			t.Errorf("pid %d: phases %v, launch %v", w.PID, w.Phases, w.Launch)
		}
	}
	if w := got[0]; w.Dispatch != nil || !w.Direct || *w.Epoch != 7 || *w.Run != (Phase{90, 200}) {
		t.Errorf("direct: %+v", w)
	}
	if w := got[1]; *w.Dispatch != (Dispatch{17, 3, 0, 1}) || w.Direct || *w.Epoch != math.MaxUint64 {
		t.Errorf("of a dispatcher: %+v", w)
	}
	if w := got[2]; *w.Dispatch != (Dispatch{0, 3, 0, 1}) || w.Direct || w.Epoch != nil {
		t.Errorf("half of zeros: %+v", w)
	}
	if w := got[3]; w.PID != 5 || w.Run != nil || w.Dispatch != nil || w.Direct || w.Epoch != nil {
		t.Errorf("without a root: %+v", w)
	}
}

// TestDispatcherArgs: attributes overwrite, in place.
func TestDispatcherArgs(t *testing.T) {
	s := spans(t, `41 410 7 0 node.submit 1 1 depth=9 name=a%20b big=123456789012345678901234567890 "k=1`)[0]
	var got []string
	for _, a := range dispatcherArgs(&s) {
		if a.Text != nil {
			got = append(got, a.Key+"="+string(a.Text))
		} else {
			got = append(got, fmt.Sprintf("%s=%d", a.Key, a.Num))
		}
	}
	want := `inv=7 os_pid=41 os_tid=410 depth=9 name=a b big=123456789012345678901234567890 "k=1`
	if strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}
