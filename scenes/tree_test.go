package scenes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A checker of whole trees of spec/l3.md §2. It shares no code with what writes them:
// logs are read with patterns of its own, files as plain JSON.

// treeWant is what a tree must hold.
type treeWant struct {
	chips, runs int
	callables   []string          // names, by index
	kernels     map[string]string // hash of a callable → its level-2 name map
	label       string
	level       int // of the swimlane, 0: off
	deps        bool
	sidecars    bool             // the captures have them
	pids        map[string]int64 // rank0 → the process that served it, where no sidecar says so
	built       bool             // hosts build the graphs
}

// span is a record of a log, as it stands there.
type span struct {
	pid, tid, inv, depth int64
	hid, name            string
	ts, dur              int64
	attrs                map[string]string
	keys                 string // of the attributes, in order
	line                 int
	emitted              int64
}

func (s *span) end() int64 { return s.ts + s.dur }

func (s *span) n(key string) int64 {
	v, err := strconv.ParseInt(s.attrs[key], 10, 64)
	if err != nil {
		return -99
	}
	return v
}

// tree is what was read of one.
type tree struct {
	root   string
	want   treeWant
	faults []string
	logs   map[int64][]span // by process
	main   int64            // the dispatcher
	ranks  map[int64]int64  // process of a chip → rank, as sidecars say
}

func (t *tree) fault(format string, args ...any) {
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// checkTree returns what is wrong with a tree.
func checkTree(root string, want treeWant) (*tree, []string) {
	t := &tree{root: root, want: want, logs: map[int64][]span{}, ranks: map[int64]int64{}}
	t.readLogs()
	if t.main == 0 || len(t.faults) > 0 {
		return t, append(t.faults, fmt.Sprintf("%d logs could be read", len(t.logs)))
	}
	t.checkDispatcher()
	t.checkChips()
	if want.level > 0 || want.deps {
		t.checkDirectories()
	}
	return t, t.faults
}

var (
	envelope = regexp.MustCompile(`^\[mono_ns=(\d+)\]\[T0x([0-9a-f]+)\]\[(DEBUG|INFO|TIMING|WARN|ERROR)\] ([^ :]+): (.*)$`)
	anchor   = regexp.MustCompile(`^\[CLOCK_ANCHOR\] v=1 pid=(\d+) mono_ns=(\d+) wall_ns=(\d+)$`)
	record   = regexp.MustCompile(`^\[STRACE\] v=1 pid=(\d+) tid=(\d+) inv=(\d+) hid=([0-9a-f]+) depth=(\d+) name=([a-z0-9_.]+) ts=(\d+) dur=(\d+) (.*)$`)
	logName  = regexp.MustCompile(`^host\.(\d+)\.log$`)
)

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -99
	}
	return n
}

// readLogs reads all logs of the case root by the grammar of spec/host-log.md §1 to §3.
func (t *tree) readLogs() {
	entries, err := os.ReadDir(t.root)
	if err != nil {
		t.fault("%v", err)
		return
	}
	for _, e := range entries {
		m := logName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		pid := number(m[1])
		text, err := os.ReadFile(filepath.Join(t.root, e.Name()))
		if err != nil {
			t.fault("%v", err)
			continue
		}
		spans := t.readLog(e.Name(), pid, string(text))
		t.logs[pid] = spans
		if slices.ContainsFunc(spans, func(s span) bool { return strings.HasPrefix(s.name, "node.") }) {
			if t.main != 0 {
				t.fault("both %d and %d are dispatchers", t.main, pid)
			}
			t.main = pid
		}
	}
	if len(t.logs) != t.want.chips+1 {
		t.fault("there are %d logs, want those of the dispatcher and of %d chips", len(t.logs), t.want.chips)
	}
}

func (t *tree) readLog(name string, pid int64, text string) (spans []span) {
	if !strings.HasSuffix(text, "\n") {
		t.fault("%s does not end with a line", name)
	}
	anchors := 0
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		m := envelope.FindStringSubmatch(line)
		if m == nil || len(line) > 511 {
			t.fault("%s:%d is no record of at most 512 bytes: %q", name, i+1, line)
			continue
		}
		at, function, message := number(m[1]), m[4], m[5]
		switch {
		case strings.Contains(message, "[CLOCK_ANCHOR]"):
			a := anchor.FindStringSubmatch(message)
			if anchors++; a == nil || function != "clock_anchor" || number(a[1]) != pid || number(a[2]) > at || i != 0 {
				t.fault("%s:%d: the anchor %q is not of process %d, or not the first record", name, i+1, message, pid)
			}
		case strings.Contains(message, "[STRACE]"):
			r := record.FindStringSubmatch(message)
			if r == nil || function != "emit_host_span" || m[3] != "TIMING" {
				t.fault("%s:%d: %q is no span", name, i+1, line)
				continue
			}
			s := span{pid: number(r[1]), tid: number(r[2]), inv: number(r[3]), hid: r[4], depth: number(r[5]), name: r[6],
				ts: number(r[7]), dur: number(r[8]), attrs: map[string]string{}, line: i + 1, emitted: at}
			var keys []string
			for _, item := range strings.Fields(r[9]) {
				key, value, ok := strings.Cut(item, "=")
				if !ok {
					t.fault("%s:%d: attribute %q", name, i+1, item)
				}
				s.attrs[key] = value
				keys = append(keys, key)
			}
			s.keys = strings.Join(keys, " ")
			device := s.attrs["clk"] == "dev"
			if s.pid != pid || !device && s.end() > at {
				t.fault("%s:%d: %s of process %d, ended at %d and written at %d", name, i+1, s.name, s.pid, s.end(), at)
			}
			spans = append(spans, s)
		}
	}
	if anchors != 1 {
		t.fault("%s has %d anchors, want one", name, anchors)
	}
	return spans
}

// The attributes of the dispatcher's spans, as real logs have them.
var nodeKeys = map[string][]string{
	"graph_build":           {"run_id role"},
	"submit":                {"run_id task_slot group_index group_size worker_id role", "run_id task_slot group_index group_size role"},
	"frame_submit":          {"run_id task_slot group_index worker_id dispatch_id endpoint_kind prepare_only role"},
	"dispatch":              {"run_id task_slot group_index worker_id dispatch_id endpoint_kind prepare_only role slot_id generation"},
	"complete":              {"run_id task_slot group_index worker_id dispatch_id endpoint_kind prepare_only role outcome"},
	"post_fence_retirement": {"run_id slot_id generation role"},
	"scheduler_loop":        {"role drained dispatched drain_ns spins"},
}

var nodeRoles = map[string]string{
	"graph_build": "facade", "submit": "facade", "frame_submit": "worker", "dispatch": "scheduler", "complete": "worker",
	"post_fence_retirement": "facade", "scheduler_loop": "scheduler",
}

// key is one member of a task.
type key struct{ run, slot, member int64 }

func keyOf(s *span) key { return key{s.n("run_id"), s.n("task_slot"), s.n("group_index")} }

// of are the dispatcher's spans of a name.
func (t *tree) of(leaf string) (list []*span) {
	for i := range t.logs[t.main] {
		if s := &t.logs[t.main][i]; s.name == "node."+leaf {
			list = append(list, s)
		}
	}
	return list
}

// byKey are they by the member that they are of; one each.
func (t *tree) byKey(leaf string) map[key]*span {
	out := map[key]*span{}
	for _, s := range t.of(leaf) {
		if out[keyOf(s)] != nil {
			t.fault("two %s of %v", s.name, keyOf(s))
		}
		out[keyOf(s)] = s
	}
	return out
}

// checkDispatcher holds the spans of the dispatcher against spec/host-log.md §4.3.
func (t *tree) checkDispatcher() {
	schedulers := map[int64]bool{}
	for i := range t.logs[t.main] {
		s := &t.logs[t.main][i]
		leaf := strings.TrimPrefix(s.name, "node.")
		if !slices.Contains(nodeKeys[leaf], s.keys) || s.attrs["role"] != nodeRoles[leaf] || s.depth != 0 {
			t.fault("%s (depth %d) has the attributes %q, role %q", s.name, s.depth, s.keys, s.attrs["role"])
		}
		if run := s.n("run_id"); leaf != "scheduler_loop" && run != s.inv || leaf == "scheduler_loop" && s.inv != 0 {
			t.fault("%s of run %d has inv %d", s.name, run, s.inv)
		}
		if facade := nodeRoles[leaf] == "facade"; facade != (s.tid == t.main) {
			t.fault("%s is on thread %d of process %d", s.name, s.tid, t.main)
		} else if !facade {
			schedulers[s.tid] = true
		}
		switch leaf {
		case "graph_build", "post_fence_retirement", "scheduler_loop":
			if s.hid != "0" {
				t.fault("%s has the hash %s", s.name, s.hid)
			}
		default:
			if s.hid == "0" {
				t.fault("%s has no hash", s.name)
			}
		}
	}
	if len(schedulers) != 1 {
		t.fault("%d threads schedule, want one", len(schedulers))
	}
	t.checkRuns()
	t.checkFlights()
}

// checkRuns: each run has one graph_build around its submits, and one retirement.
func (t *tree) checkRuns() {
	builds, retired := t.of("graph_build"), t.of("post_fence_retirement")
	if len(builds) != t.want.runs || len(retired) != t.want.runs {
		t.fault("%d runs were built and %d retired, want %d", len(builds), len(retired), t.want.runs)
		return
	}
	for i, b := range builds {
		run := int64(i + 1)
		if b.inv != run || retired[i].inv != run || retired[i].n("generation") != run || retired[i].n("slot_id") != 0 || retired[i].ts < b.end() {
			t.fault("run %d: graph_build of run %d, retirement of run %d with generation %d", run, b.inv, retired[i].inv, retired[i].n("generation"))
		}
		if i > 0 && b.ts < retired[i-1].end() {
			t.fault("run %d begins before run %d is retired", run, i)
		}
		slots := map[int64]bool{}
		for _, s := range t.of("submit") {
			if s.inv != run {
				continue
			}
			if slots[s.n("task_slot")] || s.ts < b.ts || s.end() > b.end() {
				t.fault("the submit of task slot %d is outside of graph_build of run %d, or there are two", s.n("task_slot"), run)
			}
			slots[s.n("task_slot")] = true
			group := s.attrs["worker_id"] == ""
			if group != (s.n("group_index") == -1) || !group && (s.n("group_index") != 0 || s.n("group_size") != 1) {
				t.fault("the submit of task slot %d is of member %d of %d for worker %q", s.n("task_slot"), s.n("group_index"), s.n("group_size"), s.attrs["worker_id"])
			}
		}
		for _, s := range t.of("complete") {
			if s.inv == run && (s.end() > retired[i].ts || s.ts < b.ts) {
				t.fault("task slot %d of run %d completes outside of its run", s.n("task_slot"), run)
			}
		}
	}
}

// checkFlights: a member is dispatched once, its frame is sent meanwhile, and it
// completes later; the counters of the endpoints count.
func (t *tree) checkFlights() {
	frames, completes, dispatches := t.byKey("frame_submit"), t.byKey("complete"), t.byKey("dispatch")
	if len(frames) != len(dispatches) || len(completes) != len(dispatches) {
		t.fault("%d dispatches, %d frames, %d completions", len(dispatches), len(frames), len(completes))
	}
	type endpoint struct {
		worker int64
		chip   bool
	}
	counted := map[endpoint]int64{}
	submitted := map[[2]int64]*span{}
	for _, s := range t.of("submit") {
		submitted[[2]int64{s.n("run_id"), s.n("task_slot")}] = s
	}
	for _, d := range t.of("dispatch") {
		k := keyOf(d)
		f, c := frames[k], completes[k]
		if f == nil || c == nil || f.ts < d.ts || f.end() > d.end() || c.ts < d.ts {
			t.fault("dispatch %v at %d: its frame or completion is missing or at another time", k, d.ts)
			continue
		}
		for _, x := range []*span{f, c} {
			for _, name := range []string{"worker_id", "dispatch_id", "endpoint_kind", "prepare_only"} {
				if x.attrs[name] != d.attrs[name] {
					t.fault("%s of %v has %s=%s, its dispatch %s", x.name, k, name, x.attrs[name], d.attrs[name])
				}
			}
			if x.hid != d.hid {
				t.fault("%s of %v has the hash %s, its dispatch %s", x.name, k, x.hid, d.hid)
			}
		}
		if c.n("outcome") != 0 || d.n("prepare_only") != 0 || d.attrs["endpoint_kind"] != "local_mailbox" || d.n("generation") != k.run || d.n("slot_id") != 0 {
			t.fault("dispatch %v: %v, outcome %d", k, d.attrs, c.n("outcome"))
		}
		s := submitted[[2]int64{k.run, k.slot}]
		e := endpoint{d.n("worker_id"), s != nil}
		if counted[e]++; counted[e] != d.n("dispatch_id") {
			t.fault("dispatch %v is number %d of its endpoint, want %d", k, d.n("dispatch_id"), counted[e])
		}
		if s == nil {
			continue // of a sub-worker: these have none
		}
		if s.hid != d.hid || d.ts < s.ts || s.attrs["worker_id"] != "" && s.attrs["worker_id"] != d.attrs["worker_id"] || k.member >= s.n("group_size") {
			t.fault("dispatch %v of %s does not follow its submit at %d: %v", k, d.hid, s.ts, s.attrs)
		}
	}
}

// chipDepths are the spans of a run of a chip, and how deep they are (spec/host-log.md
// §4.2). What is false may be absent.
var chipDepths = map[string]struct {
	depth int64
	must  bool
}{
	"chip.run": {0, true}, "chip.run.bind": {1, true}, "chip.run.runner_run": {1, true}, "chip.run.validate": {1, true}, "chip.run.claim_release": {1, false},
	"chip.run.bind.args": {2, true}, "chip.run.bind.prebuilt": {2, true}, "chip.run.runner_run.device_wall": {2, true},
	"chip.run.runner_run.device_wall.preamble": {3, false}, "chip.run.runner_run.device_wall.so_load": {3, false}, "chip.run.runner_run.device_wall.graph_build": {3, false},
	"chip.run.runner_run.device_wall.config_validate": {3, true}, "chip.run.runner_run.device_wall.arena_wire": {3, true}, "chip.run.runner_run.device_wall.sm_reset": {3, true},
	"chip.run.runner_run.device_wall.post_orch": {3, true}, "chip.run.runner_run.device_wall.orch": {3, true}, "chip.run.runner_run.device_wall.sched": {3, true},
}

// builtDepths are those of a run whose graph the host builds: its device stamps no phases.
var builtDepths = map[string]struct {
	depth int64
	must  bool
}{
	"chip.run": {0, true}, "chip.run.bind": {1, true}, "chip.run.runner_run": {1, true}, "chip.run.validate": {1, true}, "chip.run.claim_release": {1, false},
	"chip.run.bind.args": {2, false}, "chip.run.bind.arena_build": {2, false}, "chip.run.bind.static_arena": {2, false}, "chip.run.bind.gm_heap": {2, false},
	"chip.run.bind.shared_mem": {2, false}, "chip.run.bind.runtime_init": {2, false}, "chip.run.bind.host_orch": {2, false}, "chip.run.bind.graph_upload": {2, false},
	"chip.run.bind.arena_h2d": {2, false}, "chip.run.bind.host_view_close": {2, false}, "chip.run.runner_run.device_wall": {2, true},
}

// invocation is a run of a chip by the names of its spans.
type invocation map[string]*span

// invocations are those of a process, by number.
func (t *tree) invocations(pid int64) map[int64]invocation {
	out := map[int64]invocation{}
	for i := range t.logs[pid] {
		s := &t.logs[pid][i]
		if out[s.inv] == nil {
			out[s.inv] = invocation{}
		}
		if out[s.inv][s.name] != nil {
			t.fault("process %d, run %d: two %s", pid, s.inv, s.name)
		}
		out[s.inv][s.name] = s
	}
	return out
}

// checkChips holds the spans of each chip's process against spec/host-log.md §4.2 and
// spec/l3.md §7.1.
func (t *tree) checkChips() {
	total := 0
	for pid := range t.logs {
		if pid == t.main {
			continue
		}
		all := t.invocations(pid)
		total += len(all)
		for inv := int64(1); inv <= int64(len(all)); inv++ {
			run := all[inv]
			if run == nil {
				t.fault("process %d has %d runs, and none with the number %d", pid, len(all), inv)
				continue
			}
			t.checkChip(pid, inv, run)
		}
	}
	chips := 0
	for _, d := range t.of("dispatch") {
		for _, s := range t.of("submit") {
			if s.n("run_id") == d.n("run_id") && s.n("task_slot") == d.n("task_slot") {
				chips++
			}
		}
	}
	if total != chips {
		t.fault("the chips ran %d times, and %d dispatches were theirs", total, chips)
	}
}

func (t *tree) checkChip(pid, inv int64, run invocation) {
	where := fmt.Sprintf("process %d, run %d", pid, inv)
	depths := chipDepths
	if t.want.built {
		depths = builtDepths
	}
	for name, want := range depths {
		s := run[name]
		if s == nil {
			if want.must {
				t.fault("%s has no %s", where, name)
			}
			continue
		}
		device := strings.Contains(name, "device_wall")
		if s.depth != want.depth || s.tid != pid || device != (s.attrs["clk"] == "dev") {
			t.fault("%s: %s has depth %d, thread %d, clock %q", where, name, s.depth, s.tid, s.attrs["clk"])
		}
		cut := strings.LastIndexByte(name, '.')
		parent := run[name[:max(cut, 0)]]
		switch {
		case want.depth == 0:
		case parent == nil:
			t.fault("%s: %s has no parent", where, name)
		case !device && (s.ts < parent.ts || s.end() > parent.end()), want.depth == 3 && s.end() > parent.dur:
			t.fault("%s: %s from %d to %d is not in %s from %d to %d", where, name, s.ts, s.end(), parent.name, parent.ts, parent.end())
		case device && want.depth == 2 && (s.ts != 0 || s.dur > parent.dur):
			t.fault("%s: the device was busy for %d ns from %d on, and chip.run.runner_run has %d", where, s.dur, s.ts, parent.dur)
		}
		if parent != nil && parent.line < s.line && !device {
			t.fault("%s: %s was written after %s", where, name, parent.name)
		}
	}
	for name := range run {
		if _, ok := depths[name]; !ok {
			t.fault("%s: %s", where, name)
		}
	}
	if root := run["chip.run"]; root != nil && t.want.sidecars {
		if root.keys != "run_id dispatch_id slot_id generation run_epoch" || root.n("run_epoch") != inv || root.n("run_id") < 1 || root.n("dispatch_id") < 1 {
			t.fault("%s: chip.run has the attributes %v", where, root.attrs)
		}
	}
}

// object reads a JSON object with its numbers as they stand there.
func object(path string) (text string, out map[string]any, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	err = d.Decode(&out)
	return string(b), out, err
}
