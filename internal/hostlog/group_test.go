package hostlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
)

// twoRuns is the input of the worked example of spec/host-log.md §6.3.
func twoRuns() string {
	var b strings.Builder
	for inv, d := range [][4]int64{{10000, 50000, 20000, 100000}, {11001, 50000, 24000, 120000}} {
		for _, s := range []struct {
			depth   int
			name    string
			ts, dur int64
			attrs   string
		}{
			{1, "chip.run.bind", 1100, d[0], ""},
			{1, "chip.run.runner_run", 20000, d[1], ""},
			{2, "chip.run.runner_run.device_wall", 0, d[2], "clk=dev"},
			{3, "chip.run.runner_run.device_wall.orch", 700, 5000, "clk=dev"},
			{3, "chip.run.runner_run.device_wall.sched", 900, 9000, "clk=dev"},
			{3, "chip.run.runner_run.device_wall.task_slot_3", 950, 900, "clk=dev"},
			{0, "chip.run", 1000, d[3], ""},
		} {
			b.WriteString(record("pid=1 tid=1 inv=%d hid=abc depth=%d name=%s ts=%d dur=%d %s\n", inv+1, s.depth, s.name, s.ts, s.dur, s.attrs))
		}
	}
	return b.String()
}

func TestWorkedExample(t *testing.T) { // §6.3: the first block of its output, and the shape of the third
	r := read(t, twoRuns())
	want := `callable hid=abc — 2 invocation(s)
  chip.run: mean=110.0us min=100.0us max=120.0us
      chip.run.bind: mean=10.5us (n=2)
      chip.run.runner_run: mean=50.0us (n=2)
        chip.run.runner_run.device_wall: mean=22.0us (n=2)
          chip.run.runner_run.device_wall.orch: mean=5.0us (n=2)
          chip.run.runner_run.device_wall.sched: mean=9.0us (n=2)
          chip.run.runner_run.device_wall.task_slot_3: mean=0.9us (n=2)

`
	if got := table(r); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	all := hostlog.Invocations(r.Spans)
	var lines []string
	for node, depth := range walk(all[1].Tree(), 0) {
		leaf := node.Name[strings.LastIndexByte(node.Name, '.')+1:]
		lines = append(lines, fmt.Sprintf("%s%s %d", strings.Repeat(" ", depth), leaf, node.Dur))
	}
	tree := []string{"run 120000", " bind 11001", " runner_run 50000", "  device_wall 24000", "   orch 5000", "   sched 9000", "   task_slot_3 900"}
	if !slices.Equal(lines, tree) {
		t.Errorf("tree %q, want %q", lines, tree)
	}
}

// walk visits trees from above, with depths.
func walk(nodes []*hostlog.TreeNode, depth int) func(func(*hostlog.TreeNode, int) bool) {
	return func(yield func(*hostlog.TreeNode, int) bool) {
		for _, n := range nodes {
			yield(n, depth)
			walk(n.Children, depth+1)(yield)
		}
	}
}

func TestGrouping(t *testing.T) { // §5.1
	var b strings.Builder
	add := func(pid, inv int, hid string, depth int, name string, ts int) {
		b.WriteString(record("pid=%d tid=1 inv=%d hid=%s depth=%d name=%s ts=%d dur=1 \n", pid, inv, hid, depth, name, ts))
	}
	add(2, 1, "bb", 1, "chip.run.bind", 9)
	add(1, 7, "aa", 0, "node.submit", 1)   // another family
	add(1, 2, "bb", 0, "odd.name", 5)      // unknown families stay
	add(1, 2, "cc", 0, "chip.run", 4)      // the second of depth 0; another hash
	add(2, 1, "bb", 1, "chip.run.bind", 8) // earlier, but later in the log
	add(1, 10, "aa", 1, "core.x", 1)
	add(1, 2, "bb", 1, "odd.name", 5) // as early as the first
	add(0, 0, "0", 0, "ext.pypto.a", 1)
	add(3, 1, "aa", 0, "chip.run", 1)
	r := read(t, b.String())
	all := hostlog.Invocations(r.Spans)
	var got []string
	for i := range all {
		v := &all[i]
		root := -1
		if v.Root != nil {
			root = slices.Index(v.Spans, v.Root)
		}
		got = append(got, fmt.Sprintf("%d/%d %s: %d spans, root %d", v.PID, v.Inv, v.HID, len(v.Spans), root))
	}
	want := []string{"1/2 bb: 3 spans, root 0", "1/10 aa: 1 spans, root -1", "2/1 bb: 2 spans, root -1", "3/1 aa: 1 spans, root 0"}
	if !slices.Equal(got, want) {
		t.Errorf("groups\n%q, want\n%q", got, want)
	}

	bind := &all[2]
	if s := bind.Named("chip.run.bind"); s == nil || s.TS != 8 || bind.ByName()[0] != s {
		t.Errorf("by name %+v, want the one that began at 8", s)
	}
	if s := bind.Last("chip.run.bind"); s == nil || s.TS != 8 {
		t.Errorf("last %+v, want the one that began at 8", s)
	}
	odd := &all[0]
	if s := odd.Named("odd.name"); s != odd.Spans[0] || odd.ByName()[0] != s || odd.Last("odd.name") != odd.Spans[2] {
		t.Error("of equal starts the first counts by name, and the last of all is the last")
	}
	if bind.Named("x") != nil || bind.Last("x") != nil {
		t.Error("a span that is not there was found")
	}

	var buckets []string
	for _, b := range hostlog.Buckets(all) {
		line := b.HID
		for _, v := range b.Invocations {
			line += fmt.Sprintf(" %d/%d", v.PID, v.Inv)
		}
		buckets = append(buckets, line)
	}
	if want := []string{"bb 2/1 1/2", "aa 3/1 1/10"}; !slices.Equal(buckets, want) {
		t.Errorf("buckets %q, want %q", buckets, want)
	}

	if n := len(hostlog.Group(r.Spans)); n != 6 {
		t.Errorf("%d groups of all families, want 6", n)
	}
}

func TestTreeWithoutParents(t *testing.T) { // §5.2
	var b strings.Builder
	for _, s := range []struct {
		name string
		ts   int
	}{{"a.b.c", 9}, {"x", 3}, {"a.b", 5}, {"a.b.d", 9}, {"chip.prewarm.run", 3}, {"a.b.e", 1}} {
		b.WriteString(record("pid=1 tid=1 inv=1 hid=0 depth=7 name=%s ts=%d dur=1 \n", s.name, s.ts))
	}
	all := hostlog.Invocations(read(t, b.String()).Spans)
	var got []string
	for n, depth := range walk(all[0].Tree(), 0) {
		got = append(got, strings.Repeat(" ", depth)+n.Name)
	}
	if want := []string{"x", "chip.prewarm.run", "a.b", " a.b.e", " a.b.c", " a.b.d"}; !slices.Equal(got, want) {
		t.Errorf("tree %q, want %q", got, want)
	}
}
