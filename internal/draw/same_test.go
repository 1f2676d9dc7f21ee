package draw_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/names"
	"swimlane/internal/parity"
	"swimlane/trace/chrome"
)

// The same capture told in two ways must give the same picture.

// pair is a capture with its graph and names.
type pair struct {
	name    string
	records object
	choices settings
}

// clone copies the records, so that a test may change them.
func (c *pair) clone(t *testing.T) object { return decode(t, []byte(jsonText(t, c.records))) }

func decode(t *testing.T, text []byte) object {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var o object
	if err := dec.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// plain reads a file that may be stored packed; nil if there is none.
func plain(t *testing.T, path string) []byte {
	t.Helper()
	for _, name := range []string{path, path + ".gz"} {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return parity.Unpacked(t, name)
		}
	}
	return nil
}

// realCaptures are captures of every shape: archived and present form, 50 MHz
// and 1 GHz, both runtimes, schedulers of both kinds, host and device orchestrators.
var realCaptures = []string{
	"a2a3sim_hbg_paged_attention_l4_deps", "a2a3sim_tmr_fanin_l4_deps", "a2a3sim_tmr_spmd_multiblock_mix_l4_deps",
	"a2a3sim_tmr_dummy_task_l4_deps__TestDummyTask_LongDummyChain", "a2a3sim_tmr_chip_swimlane_l1", "a2a3sim_hbg_graph_execution_l4_deps__TestGraphExecutionHostBuildGraph_record_then_replay_1d",
	"a5sim_tmr_mixed_example_l4_deps__TestMixedExample_case1", "a5sim_hbg_vector_example_l4_deps",
	"gs_a2a3_tmr_drain_l4", "gs_a2a3_hbg_graph_nodes_l4", "gs_a2a3_tmr_mix_spmd_l4", "gs_a2a3_tmr_mixed_l2",
	"gs_a5_hbg_aicore_medium_l3", "gs_a5_hbg_aicore_tiny_l4", "gs_a5_tmr_predicated_l4",
	"edge/overlap_on_core", "edge/spmd_128_to_64", "edge/mix_three_cores", "edge/happens_before_violation", "edge/clock_30mhz", "edge/start_near_9e16",
}

// mediumCapture is larger than the others: 8,192 tasks.
const mediumCapture = "a2a3sim_tmr_paged_attention_medium_l4_deps"

// realCapture reads a capture of ../shared/captures with what belongs to it.
func realCapture(t *testing.T, root, name string) *pair {
	t.Helper()
	dir := filepath.Join(root, name)
	c := &pair{name: name, records: decode(t, plain(t, filepath.Join(dir, "chip_swimlane_records.json")))}
	c.choices.deps = string(plain(t, filepath.Join(dir, "deps.json")))
	if found, err := names.Find(names.Request{Input: filepath.Join(dir, "chip_swimlane_records.json"), Level: 2}); err == nil {
		c.choices.names = found.Map
	}
	return c
}

// captures gives real captures, which are skipped where they are absent, and made ones.
func captures(t *testing.T, test func(t *testing.T, c *pair), more ...string) {
	t.Helper()
	capturesThat(t, func(*pair) bool { return true }, test, more...)
}

// capturesThat gives those of the captures that a test has something to say about.
func capturesThat(t *testing.T, applies func(*pair) bool, test func(t *testing.T, c *pair), more ...string) {
	t.Helper()
	t.Run("real", func(t *testing.T) {
		root := filepath.Join(parity.Shared(t), "captures")
		for _, name := range slices.Concat(realCaptures, more) {
			if c := realCapture(t, root, name); applies(c) {
				t.Run(name, func(t *testing.T) { test(t, c) })
			}
		}
	})
	t.Run("made", func(t *testing.T) {
		c1 := &pair{name: "C1", records: decode(t, []byte(testdata(t, "c1.records.json")))}
		c1.choices.deps = testdata(t, "c1.deps.json")
		if applies(c1) {
			t.Run(c1.name, func(t *testing.T) { test(t, c1) })
		}
		for _, seed := range []uint64{1, 2, 3, 5, 8, 13, 21, 34} {
			g := randomCapture(seed)
			c := &pair{name: fmt.Sprint("random ", seed), records: decode(t, []byte(g.text(t)))}
			c.choices.deps = deps(t, g.tasks, g.edges...)
			if applies(c) {
				t.Run(c.name, func(t *testing.T) { test(t, c) })
			}
		}
	})
}

func (c *pair) draw(t *testing.T, records object) *drawn {
	t.Helper()
	return convert(t, jsonText(t, records), c.choices)
}

// rows is a list of rows, wherever the file has it.
func rows(records object, section string) list {
	v := records[section]
	if o, ok := v.(object); ok {
		v = o["records"]
	}
	l, _ := v.(list)
	return l
}

func shuffle(l list, seed uint64) {
	rand.New(rand.NewPCG(seed, 3)).Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
}

func TestShuffledKernelRows(t *testing.T) {
	captures(t, func(t *testing.T, c *pair) {
		c.choices.raw = true
		want := c.draw(t, c.records)
		for seed := range uint64(1) {
			records := c.clone(t)
			shuffle(rows(records, "aicore_tasks"), seed)
			if got := c.draw(t, records); !bytes.Equal(got.text, want.text) {
				t.Fatalf("the order of aicore_tasks shows: %s", firstDifference(got.text, want.text))
			}
		}
	}, mediumCapture)
}

func firstDifference(a, b []byte) string {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, %d lines", len(x), len(y))
}

// TestShuffledSchedulerRows: the order of scheduler rows decides about the order
// of the rows of one task, and thereby about numbers, but not about what is drawn.
func TestShuffledSchedulerRows(t *testing.T) {
	section := func(c *pair) string {
		if c.records["scheduler_tasks"] == nil {
			return "aicpu_tasks"
		}
		return "scheduler_tasks"
	}
	// Where rows of one task tie, the order of the file decides (spec/converter.md §4.6, §5.3).
	untied := func(c *pair) bool {
		return len(rows(c.records, section(c))) > 0 && !(strings.HasPrefix(c.name, "random") && ties(t, c.records, section(c)))
	}
	capturesThat(t, untied, func(t *testing.T, c *pair) {
		section := section(c)
		want := c.draw(t, c.records).normal(0)
		for seed := range uint64(1) {
			records := c.clone(t)
			shuffle(rows(records, section), seed)
			if diff := difference(c.draw(t, records).normal(0), want); diff != "" {
				t.Fatalf("the order of %s shows:\n%s", section, diff)
			}
		}
	})
}

// ties reports whether two rows of one task have a dispatch or a finish in common.
func ties(t *testing.T, records object, section string) bool {
	t.Helper()
	type key struct{ core, reg int64 }
	task := map[key]string{}
	for _, row := range rows(records, "aicore_tasks") {
		row := row.(list)
		task[key{number(t, row[0]), number(t, row[2])}] = row[1].(json.Number).String()
	}
	seen := map[string]bool{}
	for _, row := range rows(records, section) {
		row := row.(list)
		id := task[key{number(t, row[0]), number(t, row[1])}]
		for column := 2; column < 4; column++ {
			at := fmt.Sprint(id, " ", column, " ", row[column])
			if seen[at] {
				return true
			}
			seen[at] = true
		}
	}
	return false
}

// normal lists everything that is drawn, without the numbers of slices and
// arrows, sorted. Times are moved forward by shift.
func (d *drawn) normal(shift int64) []string {
	byID := map[int64]*event{}
	for i := range d.events {
		if e := &d.events[i]; e.ph == "X" && e.id >= 0 {
			byID[e.id] = e
		}
	}
	var out []string
	for _, e := range d.events {
		if e.ph == "X" || e.ph == "C" {
			out = append(out, d.describe(&e, shift))
		}
	}
	for _, a := range d.arrows() {
		text := fmt.Sprintf("arrow %s %d %d", a.name, a.from.out, a.from.in)
		for _, e := range []event{a.from, a.to} {
			text += fmt.Sprintf(" | %v %s", e.lane, us(e.ts+shift))
			if e.bind >= 0 {
				b := byID[e.bind]
				text += fmt.Sprintf(" %s %v %s+%s", b.name, b.lane, us(b.ts+shift), us(b.dur))
			}
		}
		out = append(out, text)
	}
	for l, name := range d.lane {
		out = append(out, fmt.Sprintf("lane %v %s", l, name))
	}
	for pid, name := range d.process {
		out = append(out, fmt.Sprintf("process %d %s", pid, name))
	}
	slices.Sort(out)
	return out
}

// timeArgs are the args that are places on the axis.
var timeArgs = []string{"dispatch-time-us", "finish-time-us", "execution_start_us"}

func (d *drawn) describe(e *event, shift int64) string {
	args := e.args
	for _, key := range timeArgs {
		if v, ok := args[key]; ok {
			args = maps.Clone(args)
			args[key] = us(ns(d.t, key, v.(json.Number)) + shift)
		}
	}
	return fmt.Sprintf("%s %s %s %s %v %s+%s %s %v", e.ph, e.cat, e.cname, e.name, e.lane, us(e.ts+shift), us(e.dur), jsonText(d.t, args), e.id >= 0)
}

// difference says in what two sorted lists differ.
func difference(got, want []string) string {
	var out []string
	i, j := 0, 0
	for i < len(got) || j < len(want) {
		switch {
		case j == len(want) || i < len(got) && got[i] < want[j]:
			out = append(out, "unexpected: "+got[i])
			i++
		case i == len(got) || got[i] > want[j]:
			out = append(out, "missing: "+want[j])
			j++
		default:
			i++
			j++
		}
	}
	if len(out) > 12 {
		out = append(out[:12], fmt.Sprintf("… %d in all", len(out)))
	}
	return strings.Join(out, "\n")
}

// TestCutToLevel2: a capture of level 4 without what level 2 doesn't collect
// gives the same bars and arrows in the two views of tasks, later or earlier by a constant.
func TestCutToLevel2(t *testing.T) {
	timed := func(c *pair) bool {
		return len(rows(c.records, "scheduler_tasks"))+len(rows(c.records, "aicpu_tasks")) > 0
	}
	capturesThat(t, timed, func(t *testing.T, c *pair) {
		records := c.clone(t)
		for _, section := range []string{"scheduler_records", "aicpu_scheduler_phases", "aicpu_orchestrator_phases", "host_orchestrator_phases", "host_device_uploads"} {
			delete(records, section)
		}
		meta := records["metadata"].(object)
		for _, key := range []string{"core_to_thread", "orchestrator_source", "host_capture"} {
			delete(meta, key)
		}
		records["chip_swimlane_level"] = 2
		whole, cut := c.draw(t, c.records), c.draw(t, records)
		shift := whole.timeline.Clock.Ns(cut.timeline.Clock.Base)
		if c.name == "edge/clock_30mhz" && shift != 0 {
			return // at 30 MHz a shift of the zero moves every rounding
		}
		if diff := difference(cut.normal(shift), whole.tasksOnly()); diff != "" {
			t.Fatalf("the level-2 picture differs:\n%s", diff)
		}
	})
}

// tasksOnly is normal for what a capture of level 2 can show: tasks, what joins
// them, and life cycles.
func (d *drawn) tasksOnly() []string {
	d.t.Helper()
	o := &drawn{t: d.t, process: map[int64]string{}, lane: map[lane]string{}}
	tasks, texts := map[int64]bool{}, map[string]bool{}
	for _, e := range d.events {
		if hint, ok := e.args["event-hint"].(string); ok && strings.HasPrefix(hint, "Task:") {
			text, _, _ := strings.Cut(strings.TrimPrefix(hint, "Task:"), ",")
			texts[text] = true
		}
	}
	for _, e := range d.events {
		if _, ok := e.args["taskId"]; ok && e.ph == "X" {
			tasks[e.id] = true
			e.args = violationsAmong(e.args, texts)
			o.events = append(o.events, e)
		} else if e.pid == 6 || e.cat == "loss" && (e.pid == 3 || e.pid == 4) {
			o.events = append(o.events, e)
		}
	}
	for _, a := range d.arrows("dependency", "hb_violation") {
		if tasks[a.from.bind] && tasks[a.to.bind] {
			o.events = append(o.events, a.from, a.to)
		}
	}
	for l, name := range d.lane {
		if l.pid == 6 || l.pid == 3 || l.pid == 4 && !strings.HasPrefix(name, "AICPU_") {
			o.lane[l] = name
		}
	}
	for pid, name := range d.process {
		if pid == 3 || pid == 4 || pid == 6 {
			o.process[pid] = name
		}
	}
	return o.normal(0)
}

// violationsAmong drops the tasks that have no rows, such as dummies, from what
// the args say about arrows against their edge.
func violationsAmong(args object, tasks map[string]bool) object {
	out := maps.Clone(args)
	for _, key := range []string{"hb-violation-successors", "hb-violation-predecessors"} {
		text, ok := args[key].(string)
		if !ok {
			continue
		}
		ids := slices.DeleteFunc(strings.Split(strings.Trim(text, "[]"), ", "), func(id string) bool { return !tasks[id] })
		if out[key] = "[" + strings.Join(ids, ", ") + "]"; len(ids) == 0 {
			delete(out, key)
		}
	}
	return out
}

// TestTwentyTimesFaster: a clock of 1 GHz that counts twenty times as far is one of 50 MHz.
func TestTwentyTimesFaster(t *testing.T) {
	slow := func(c *pair) bool {
		return jsonText(t, c.records["metadata"].(object)["clock_freq_hz"]) == "50000000"
	}
	capturesThat(t, slow, func(t *testing.T, c *pair) {
		records := c.clone(t)
		meta := records["metadata"].(object)
		meta["clock_freq_hz"] = 1_000_000_000
		for _, row := range rows(records, "aicore_tasks") {
			times20(t, row.(list), 3, 4, 5)
		}
		for _, section := range []string{"scheduler_tasks", "aicpu_tasks"} {
			for _, row := range rows(records, section) {
				times20(t, row.(list), 2, 3)
			}
		}
		cycles20(t, records)
		c.choices.raw = true
		if got, want := c.draw(t, records), c.draw(t, c.records); !bytes.Equal(got.text, want.text) {
			t.Fatalf("the unit of the clock shows: %s", firstDifference(got.text, want.text))
		}
	}, mediumCapture)
}

func times20(t *testing.T, row list, columns ...int) {
	t.Helper()
	for _, i := range columns {
		if i < len(row) {
			row[i] = number(t, row[i]) * 20
		}
	}
}

// cycles20 multiplies every value whose key says that it is cycles.
func cycles20(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case object:
		for key, x := range v {
			if n, ok := x.(json.Number); ok && strings.HasSuffix(key, "_cycles") {
				i, err := n.Int64()
				if err != nil {
					t.Fatal(err)
				}
				v[key] = i * 20
				continue
			}
			cycles20(t, x)
		}
	case list:
		for _, x := range v {
			cycles20(t, x)
		}
	}
}

// TestWorkers: how many formatters work side by side doesn't show.
func TestWorkers(t *testing.T) {
	captures(t, func(t *testing.T, c *pair) {
		c.choices.overhead, c.choices.idle, c.choices.raw, c.choices.workers = true, true, true, 1
		want := c.draw(t, c.records)
		for _, n := range []int{2, 7, 0} {
			var got bytes.Buffer
			counts, err := chrome.Write(t.Context(), &got, want.picture.Trace(), chrome.Options{Workers: n})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.text) {
				t.Fatalf("%d workers: %s", n, firstDifference(got.Bytes(), want.text))
			}
			equal(t, "counts", counts, want.counts)
		}
	}, mediumCapture)
}

// TestRealCaptures: no viewer objects, every arrow lies in bars, and numbers are unique.
func TestRealCaptures(t *testing.T) {
	captures(t, func(t *testing.T, c *pair) {
		d := c.draw(t, c.records)
		d.unique()
		d.seated()
		equal(t, "arrows reported", d.picture.Report.Arrows, d.counts.Flows)
	})
}
