package scenes_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sidecarForm is the file of spec/l3.md §2.1: keys in this order, two blanks of
// indentation, a newline at the end.
var sidecarForm = regexp.MustCompile(`^\{
  "schema_version": 1,
  "run_id": [1-9]\d*,
  "task_slot": \d+,
  "group_index": \d+,
  "group_size": [1-9]\d*,
  "host_pid": [1-9]\d*,
  "chip_rank": \d+,
  "local_capture_index": \d+,
  "endpoint_dispatch_id": [1-9]\d*,
  "pipeline_slot": \d+,
  "pipeline_generation": [1-9]\d*,
  "callable_digest": "[0-9a-f]{64}"
\}
$`)

// sidecar is one, as it was read.
type sidecar struct {
	Schema     int64  `json:"schema_version"`
	Run        int64  `json:"run_id"`
	Slot       int64  `json:"task_slot"`
	Index      int64  `json:"group_index"`
	Size       int64  `json:"group_size"`
	PID        int64  `json:"host_pid"`
	Rank       int64  `json:"chip_rank"`
	Local      int64  `json:"local_capture_index"`
	Dispatch   int64  `json:"endpoint_dispatch_id"`
	Pipeline   int64  `json:"pipeline_slot"`
	Generation int64  `json:"pipeline_generation"`
	Digest     string `json:"callable_digest"`
}

// checkDirectories holds rankN/dN and what lies there against spec/l3.md §2 and §4.
func (t *tree) checkDirectories() {
	entries, err := os.ReadDir(t.root)
	if err != nil {
		t.fault("%v", err)
		return
	}
	ranks := 0
	var cards []sidecar
	clocks := map[string]bool{}
	for _, e := range entries {
		rank, ok := strings.CutPrefix(e.Name(), "rank")
		if !ok {
			continue
		}
		ranks++
		dirs, err := os.ReadDir(filepath.Join(t.root, e.Name()))
		if err != nil || fmt.Sprint(number(rank)) != rank || number(rank) >= int64(t.want.chips) {
			t.fault("%s is no rank of 0 to %d (%v)", e.Name(), t.want.chips-1, err)
			continue
		}
		for i := range dirs {
			if !slices.ContainsFunc(dirs, func(d os.DirEntry) bool { return d.Name() == fmt.Sprintf("d%d", i) && d.IsDir() }) {
				t.fault("%s has %d entries, and no directory d%d", e.Name(), len(dirs), i)
				continue
			}
			if card := t.checkCapture(number(rank), int64(i), clocks); card != nil {
				cards = append(cards, *card)
			}
		}
	}
	if ranks != t.want.chips {
		t.fault("%d ranks, want %d", ranks, t.want.chips)
	}
	if t.want.level > 0 && t.want.sidecars && len(clocks) != 1 {
		t.fault("the captures name %d clocks of the host", len(clocks))
	}
	if t.want.sidecars {
		t.checkGroups(cards)
	}
	if t.want.label != "" {
		t.checkNodeNames()
	}
}

// checkGroups: members of a group share run and slot and nothing else does; every
// dispatch to a chip has a capture.
func (t *tree) checkGroups(cards []sidecar) {
	groups := map[[2]int64][]sidecar{}
	for _, c := range cards {
		k := [2]int64{c.Run, c.Slot}
		groups[k] = append(groups[k], c)
	}
	submits := t.of("submit")
	if len(groups) != len(submits) {
		t.fault("the captures are of %d tasks, and %d were submitted to chips", len(groups), len(submits))
	}
	for _, s := range submits {
		members := groups[[2]int64{s.n("run_id"), s.n("task_slot")}]
		size := s.n("group_size")
		if int64(len(members)) != size {
			t.fault("run %d, task slot %d has %d captures, want %d", s.n("run_id"), s.n("task_slot"), len(members), size)
			continue
		}
		indexes, ranks := map[int64]bool{}, map[int64]bool{}
		for _, m := range members {
			indexes[m.Index], ranks[m.Rank] = true, true
			if m.Size != size || m.Digest != members[0].Digest || m.Index >= size || m.Digest[:16] != s.hid {
				t.fault("run %d, task slot %d: a member says %+v, its submit has the hash %s", s.n("run_id"), s.n("task_slot"), m, s.hid)
			}
		}
		if int64(len(indexes)) != size || int64(len(ranks)) != size {
			t.fault("run %d, task slot %d: %d indexes on %d ranks, want %d", s.n("run_id"), s.n("task_slot"), len(indexes), len(ranks), size)
		}
	}
}

// checkCapture holds one directory against the logs.
func (t *tree) checkCapture(rank, index int64, clocks map[string]bool) *sidecar {
	dir := filepath.Join(t.root, fmt.Sprintf("rank%d", rank), fmt.Sprintf("d%d", index))
	where := fmt.Sprintf("rank%d/d%d", rank, index)
	var want []string
	if t.want.label != "" {
		want = append(want, "name_map_"+t.want.label+".json")
	}
	if t.want.sidecars {
		want = append(want, "dispatch_identity.json")
	}
	if t.want.level > 0 {
		want = append(want, "chip_swimlane_records.json")
	}
	if t.want.deps {
		want = append(want, "deps.json")
	}
	if t.want.built && t.want.level >= 4 {
		want = append(want, "host_phase_records.jsonl")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.fault("%v", err)
		return nil
	}
	for _, e := range entries {
		i := slices.Index(want, e.Name())
		if i < 0 && t.want.label != "" {
			t.fault("%s holds %s", where, e.Name())
		} else if i >= 0 {
			want = slices.Delete(want, i, i+1)
		}
	}
	if len(want) > 0 {
		t.fault("%s lacks %v", where, want)
		return nil
	}
	if !t.want.sidecars {
		// A real tree: its processes are known, and they captured every run.
		if run := t.invocations(t.want.pids[fmt.Sprintf("rank%d", rank)])[index+1]; t.want.level > 0 && run != nil {
			t.checkRecords(where, dir, run, clocks)
		} else if t.want.level > 0 {
			t.fault("%s: process %d has no run %d", where, t.want.pids[fmt.Sprintf("rank%d", rank)], index+1)
		}
		return nil
	}
	text, _ := os.ReadFile(filepath.Join(dir, "dispatch_identity.json"))
	var card sidecar
	if !sidecarForm.Match(text) || json.Unmarshal(text, &card) != nil {
		t.fault("%s: the sidecar is not of the form that it must have:\n%s", where, text)
		return nil
	}
	if card.Rank != rank || card.Local != index || card.Index >= card.Size {
		t.fault("%s: the sidecar says %+v", where, card)
	}
	run := t.window(where, &card)
	if run == nil {
		return nil
	}
	t.checkDispatch(where, &card, run)
	if t.want.label != "" {
		t.checkChipNames(where, dir, &card)
	}
	if t.want.level > 0 {
		t.checkRecords(where, dir, run, clocks)
	}
	return &card
}

// window is the only run of a chip that a sidecar fits (spec/l3.md §7.3, §8.2).
func (t *tree) window(where string, card *sidecar) (found invocation) {
	if old, ok := t.ranks[card.PID]; ok && old != card.Rank {
		t.fault("process %d is rank %d and rank %d", card.PID, old, card.Rank)
	}
	t.ranks[card.PID] = card.Rank
	if card.PID == t.main {
		t.fault("%s is of the dispatcher's process", where)
	}
	for inv, run := range t.invocations(card.PID) {
		root := run["chip.run"]
		if root == nil || root.n("run_id") != card.Run || root.n("dispatch_id") != card.Dispatch || root.n("slot_id") != card.Pipeline || root.n("generation") != card.Generation {
			continue
		}
		if found != nil {
			t.fault("%s fits run %d of process %d, and another one", where, inv, card.PID)
		}
		found = run
	}
	if found == nil {
		t.fault("%s fits no run of process %d: %+v", where, card.PID, card)
	}
	return found
}

// checkDispatch: the dispatcher dispatched that, and its spans lie around the run of the
// chip, on one clock.
func (t *tree) checkDispatch(where string, card *sidecar, run invocation) {
	k := key{card.Run, card.Slot, card.Index}
	d, c := t.byKey("dispatch")[k], t.byKey("complete")[k]
	root := run["chip.run"]
	switch {
	case d == nil || c == nil:
		t.fault("%s: the dispatcher knows no %v", where, k)
	case d.n("worker_id") != card.Rank || d.n("dispatch_id") != card.Dispatch || d.n("generation") != card.Generation || d.hid != card.Digest[:16] || root.hid != d.hid:
		t.fault("%s: the sidecar says %+v, the dispatcher %v of %s, chip.run has the hash %s", where, card, d.attrs, d.hid, root.hid)
	case root.ts < d.ts || root.end() > c.end():
		t.fault("%s: chip.run is from %d to %d, dispatched at %d and completed at %d", where, root.ts, root.end(), d.ts, c.end())
	}
}

// checkNodeNames: the level-3 map lies in the case root (spec/name-map.md §2.2).
func (t *tree) checkNodeNames() {
	_, m, err := object(filepath.Join(t.root, "name_map_"+t.want.label+".json"))
	names, _ := m["callable_id_to_name"].(map[string]any)
	if err != nil || fmt.Sprint(m["level"]) != "3" || len(names) != len(t.want.callables) {
		t.fault("the node's name map is %v (%v)", m, err)
		return
	}
	for i, want := range t.want.callables {
		if names[fmt.Sprint(i)] != want {
			t.fault("callable %d is %v in the node's name map, want %s", i, names[fmt.Sprint(i)], want)
		}
	}
}

// checkChipNames: beside a capture lies the level-2 map of what ran there.
func (t *tree) checkChipNames(where, dir string, card *sidecar) {
	text, err := os.ReadFile(filepath.Join(dir, "name_map_"+t.want.label+".json"))
	if want := t.want.kernels[card.Digest[:16]]; err != nil || want == "" || string(text) != want {
		t.fault("%s: the name map is %s (%v), want %s", where, text, err, want)
	}
}

// cycles calls a function with the cycles in a capture, in pairs that belong together.
func cycles(m map[string]any, f func(section string, start, end *big.Int)) {
	n := func(v any) *big.Int {
		x, ok := new(big.Int).SetString(fmt.Sprint(v), 10)
		if !ok {
			return big.NewInt(-1)
		}
		return x
	}
	rows, _ := m["aicore_tasks"].([]any)
	for _, r := range rows {
		row := r.([]any)
		f("tasks", new(big.Int).Sub(n(row[3]), n(row[5])), n(row[4]))
	}
	tasks, _ := m["scheduler_tasks"].(map[string]any)
	rows, _ = tasks["records"].([]any)
	for _, r := range rows {
		row := r.([]any)
		f("tasks", n(row[2]), n(row[3]))
	}
	streams, _ := m["scheduler_records"].(map[string]any)
	list, _ := streams["streams"].([]any)
	for _, s := range list {
		records, _ := s.(map[string]any)["records"].([]any)
		for _, r := range records {
			f("sched", n(r.(map[string]any)["start_cycles"]), n(r.(map[string]any)["end_cycles"]))
		}
	}
	rows, _ = m["aicpu_tasks"].([]any) // of archived captures
	for _, r := range rows {
		row := r.([]any)
		f("tasks", n(row[2]), n(row[3]))
	}
	lanes, _ := m["aicpu_scheduler_phases"].([]any)
	for _, l := range lanes {
		for _, r := range l.([]any) {
			f("sched", n(r.(map[string]any)["start_cycles"]), n(r.(map[string]any)["end_cycles"]))
		}
	}
	lanes, _ = m["aicpu_orchestrator_phases"].([]any)
	for _, l := range lanes {
		for _, r := range l.([]any) {
			f("orch", n(r.(map[string]any)["start_cycles"]), n(r.(map[string]any)["end_cycles"]))
		}
	}
}

// checkRecords: the capture lies in its window on the host's clock, because cycles = ns ·
// rate / 10⁹ (spec/collector.md §7.5), its streams fit their phases (spec/l3.md §8.3,
// §9.1), and its anchors are true.
func (t *tree) checkRecords(where, dir string, run invocation, clocks map[string]bool) {
	_, m, err := object(filepath.Join(dir, "chip_swimlane_records.json"))
	meta, _ := m["metadata"].(map[string]any)
	if err != nil || fmt.Sprint(m["chip_swimlane_level"]) != fmt.Sprint(t.want.level) || meta == nil {
		t.fault("%s: records of level %v (%v)", where, m["chip_swimlane_level"], err)
		return
	}
	clocks[fmt.Sprint(meta["host_clock_domain_id"])] = true
	hz, _ := new(big.Int).SetString(fmt.Sprint(meta["clock_freq_hz"]), 10)
	billion := big.NewInt(1_000_000_000)
	// ns is a time on the host's clock, at most a tick before the real one.
	ns := func(c *big.Int) int64 {
		x := new(big.Int).Mul(c, billion)
		return x.Div(x, hz).Int64()
	}
	tick := ns(big.NewInt(1))
	runner, wall := run["chip.run.runner_run"], run["chip.run.runner_run.device_wall"]
	bounds := map[string][2]int64{}
	n := 0
	cycles(m, func(section string, start, end *big.Int) {
		n++
		from, to := ns(start), ns(end)
		if start.Cmp(end) > 0 || from < runner.ts-tick || to > runner.end() {
			t.fault("%s: %s from %d to %d ns is not in chip.run.runner_run, from %d to %d", where, section, from, to, runner.ts, runner.end())
		}
		for _, name := range []string{section, "all"} {
			b, ok := bounds[name]
			if !ok {
				b = [2]int64{from, to}
			}
			bounds[name] = [2]int64{min(b[0], from), max(b[1], to)}
		}
	})
	if n == 0 {
		t.fault("%s: the capture holds no cycles", where)
		return
	}
	// Where the zero of the device's phases can be: what each pair of bounds allows.
	lo, hi := int64(0), int64(1)<<62
	join := func(section, name string) {
		b, ok := bounds[section]
		s := run[name]
		if !ok || s == nil {
			return
		}
		if b[1]-b[0] > s.dur+tick {
			t.fault("%s: %s is %d ns long, and its window %s %d", where, section, b[1]-b[0], name, s.dur)
		}
		lo, hi = max(lo, b[1]-s.end()-tick), min(hi, b[0]-s.ts+tick)
	}
	join("sched", wall.name+".sched")
	join("orch", wall.name+".orch")
	join("all", wall.name)
	if lo > hi || hi < runner.ts || lo+wall.dur > runner.end() {
		t.fault("%s: the device's zero is from %d to %d ns, with %d ns in a window from %d to %d", where, lo, hi, wall.dur, runner.ts, runner.end())
	}
	within := runner
	if t.want.built {
		t.checkHostPhases(where, m, run)
		within = run["chip.run"] // the clocks are compared before the graph is built
	}
	if !t.want.sidecars {
		return
	}
	t.checkAnchors(where, meta, hz, bounds["all"], within)
}

// checkHostPhases: what the host did lies in its chip.run.bind, on its own clock, and before
// the device began.
func (t *tree) checkHostPhases(where string, m map[string]any, run invocation) {
	if t.want.level < 4 {
		return
	}
	bind := run["chip.run.bind"]
	n := 0
	for _, section := range []string{"host_orchestrator_phases", "host_device_uploads"} {
		var rows func(v any)
		rows = func(v any) {
			switch x := v.(type) {
			case []any:
				for _, y := range x {
					rows(y)
				}
			case map[string]any:
				n++
				if from, to := number(fmt.Sprint(x["start_host_ns"])), number(fmt.Sprint(x["end_host_ns"])); from < bind.ts || to > bind.end() || from > to {
					t.fault("%s: %s from %d to %d ns is not in chip.run.bind, from %d to %d", where, section, from, to, bind.ts, bind.end())
				}
			}
		}
		rows(m[section])
	}
	if n == 0 {
		t.fault("%s: there are no phases of the host", where)
	}
}

// checkAnchors: three samples at each end, around the records, on the host's clock.
func (t *tree) checkAnchors(where string, meta map[string]any, hz *big.Int, all [2]int64, runner *span) {
	anchors, _ := meta["clock_anchors"].(map[string]any)
	samples, _ := anchors["samples"].([]any)
	if anchors["provider"] != "sim_syscnt" || len(samples) != 6 {
		t.fault("%s: %d anchors of the provider %v", where, len(samples), anchors["provider"])
		return
	}
	for i, s := range samples {
		a := s.(map[string]any)
		position := "pre_host_orchestration"
		if i >= 3 {
			position = "post_device_execution"
		}
		before, after := number(fmt.Sprint(a["host_before_ns"])), number(fmt.Sprint(a["host_after_ns"]))
		at := func(ns int64) *big.Int {
			x := new(big.Int).Mul(big.NewInt(ns), hz)
			return x.Div(x, big.NewInt(1_000_000_000))
		}
		c, _ := new(big.Int).SetString(fmt.Sprint(a["device_cycles"]), 10)
		switch {
		case a["position"] != position || before < runner.ts || after > runner.end() || before > after || c == nil || c.Cmp(at(before)) < 0 || c.Cmp(at(after)) > 0:
			t.fault("%s: anchor %d is %v, in a window from %d to %d", where, i, a, runner.ts, runner.end())
		case i < 3 && after > all[0], i >= 3 && before < all[1]:
			t.fault("%s: anchor %d at %d to %d ns is not beside the records, from %d to %d", where, i, before, after, all[0], all[1])
		}
	}
}
