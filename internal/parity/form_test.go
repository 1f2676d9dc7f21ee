package parity

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// former rewrites a reference trace in the form that ours has.
type former struct {
	tr    *tree
	names map[laneID]string
	at    map[laneID][]drawn
	byID  map[json.Number]drawn
}

// drawn is a slice event with its times.
type drawn struct {
	start, end float64
	event      map[string]any
}

// near tells whether an arrow's end may belong to a slice; both are rounded.
func (d drawn) near(ts float64) bool { return d.start-0.001 <= ts && ts <= d.end+0.001 }

// ownForm returns a reference trace in the form that ours has: whole
// nanoseconds, named sub-lanes with numbers of their own, other ids, arrows
// inside their slices and forward in time.
func ownForm(t *testing.T, tr *tree) *tree {
	t.Helper()
	f := &former{
		tr: tr, names: map[laneID]string{},
		at: map[laneID][]drawn{}, byID: map[json.Number]drawn{},
	}
	for _, e := range tr.Events {
		if e["ph"] == "X" {
			d := roundSlice(e)
			f.at[laneIDOf(e)] = append(f.at[laneIDOf(e)], d)
			if id, ok := e["id"].(json.Number); ok {
				f.byID[id] = d
			}
		}
	}
	f.arrows()
	f.lanes()
	for _, e := range tr.Events {
		for _, k := range []string{"id", "bind_id"} {
			if id, ok := e[k]; ok {
				e[k] = jsonInt(integerOf(id)*7 + 3)
			}
		}
	}
	return tr
}

func laneIDOf(e map[string]any) laneID { return laneID{integerOf(e["pid"]), integerOf(e["tid"])} }

func ns(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', 3, 64)) }

// roundSlice rounds both ends of a slice to whole nanoseconds.
func roundSlice(e map[string]any) drawn {
	end := num(ns(num(e["ts"]) + num(e["dur"])))
	e["ts"] = ns(num(e["ts"]))
	d := drawn{num(e["ts"]), end, e}
	e["dur"] = ns(end - d.start)
	args := argsOf(e)
	for _, k := range timeArgs {
		if v, ok := args[k]; ok {
			args[k] = ns(num(v))
		}
	}
	return d
}

// arrows rewrites the arrows.
func (f *former) arrows() {
	type pair struct{ s, f map[string]any }
	pairs := map[json.Number]*pair{}
	for _, e := range f.tr.Events {
		if e["ph"] == "s" || e["ph"] == "f" {
			id := e["id"].(json.Number)
			if pairs[id] == nil {
				pairs[id] = &pair{}
			}
			if e["ph"] == "s" {
				pairs[id].s = e
			} else {
				pairs[id].f = e
			}
		}
	}
	drop := map[json.Number]bool{}
	for id, p := range pairs {
		from, to := f.place(p.s), f.place(p.f)
		if from == nil || to == nil {
			drop[id] = true
			continue
		}
		if p.s["name"] == "hb_violation" && num(p.f["ts"]) < num(p.s["ts"]) {
			for _, k := range []string{"pid", "tid", "ts", "bind_id"} {
				p.s[k], p.f[k] = p.f[k], p.s[k]
			}
			argsOf(from)[successorsArg] = "t1"
			argsOf(to)[predecessorsArg] = "t0"
		}
	}
	f.tr.Events = slices.DeleteFunc(f.tr.Events, func(e map[string]any) bool {
		id, _ := e["id"].(json.Number)
		return (e["ph"] == "s" || e["ph"] == "f") && drop[id]
	})
}

// place puts an end of an arrow inside its slice and returns that, or nil if
// there is none.
func (f *former) place(e map[string]any) map[string]any {
	ts := num(e["ts"])
	lane := f.at[laneIDOf(e)]
	var own drawn
	if bind, ok := e["bind_id"].(json.Number); ok {
		own = f.byID[bind]
		if !own.near(ts) { // the id of another execution of the same task and core
			hint := argsOf(own.event)["event-hint"]
			own = lane[slices.IndexFunc(lane, func(d drawn) bool {
				return d.near(ts) && argsOf(d.event)["event-hint"] == hint
			})]
			e["bind_id"] = own.event["id"]
		}
	} else if i := slices.IndexFunc(lane, func(d drawn) bool { return d.near(ts) }); i >= 0 {
		own = lane[i]
	} else {
		return nil
	}
	if ts > own.end-0.0008 {
		ts = own.end - 0.001
	}
	e["ts"] = ns(max(own.start, ts))
	return own.event
}

// lanes renumbers and names the lanes and the processes.
func (f *former) lanes() {
	processes := map[int64]string{}
	f.tr.Events = slices.DeleteFunc(f.tr.Events, func(e map[string]any) bool {
		name, _ := argsOf(e)["name"].(string)
		switch e["name"] {
		case "process_name":
			processes[integerOf(e["pid"])] = name
		case "thread_name":
			f.names[laneIDOf(e)] = name
		}
		return e["ph"] == "M"
	})
	for id := range f.at {
		if _, ok := f.names[id]; !ok {
			f.names[id] = ""
		}
	}
	for id := range f.names {
		if sub := id.tid % tidStep; id.pid == 3 || id.pid == 2 && id.tid > firstStreamTID {
			f.names[id] = f.names[laneID{id.pid, id.tid - sub}]
			if f.names[id] == "" { // only the second of a repeated execution's lanes is used
				f.names[id] = f.names[laneID{4, id.tid - sub}]
			}
		}
	}
	renamed := map[laneID]string{}
	for id, name := range f.names {
		if sub := id.tid % tidStep; sub > 0 && (id.pid == 3 || id.pid == 2 && id.tid > firstStreamTID) {
			name += " (" + strconv.FormatInt(sub+1, 10) + ")"
		}
		renamed[id] = name
	}
	meta := func(e map[string]any, name, key string, v any) {
		e = maps.Clone(e)
		e["name"], e["ph"], e["cat"], e["args"] = name, "M", "__metadata", map[string]any{key: v}
		f.tr.Events = append(f.tr.Events, e)
	}
	for _, e := range f.tr.Events {
		if e["tid"] != nil {
			e["tid"] = jsonInt(integerOf(e["tid"])*3 + 1)
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(processes)) {
		e := map[string]any{"pid": jsonInt(pid)}
		meta(e, "process_name", "name", processes[pid])
		meta(e, "process_sort_index", "sort_index", jsonInt(pid))
	}
	byID := func(a, b laneID) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid)) }
	for _, id := range slices.SortedFunc(maps.Keys(renamed), byID) {
		name := renamed[id]
		e := map[string]any{"pid": jsonInt(id.pid), "tid": jsonInt(id.tid*3 + 1)}
		meta(e, "thread_name", "name", name)
		meta(e, "thread_sort_index", "sort_index", jsonInt(id.tid))
	}
}

// formCase changes a trace in our form; want is what must be reported.
type formCase struct {
	name, capture, want string
	options             Options
	do                  func(t *testing.T, tr *tree)
}

// eventWith returns the first event of a phase whose field or arg is v.
func eventWith(t *testing.T, tr *tree, ph, key string, v any) map[string]any {
	t.Helper()
	return tr.Events[tr.find(t, 0, func(e map[string]any) bool {
		return e["ph"] == ph && (e[key] == v || argsOf(e)[key] == v)
	})]
}

// reversedSlice returns a slice that has one of the args of a reversed edge.
func reversedSlice(t *testing.T, tr *tree, key string) map[string]any {
	t.Helper()
	return tr.Events[tr.find(t, 0, func(e map[string]any) bool {
		return argsOf(e)[key] != nil
	})]
}

// unknownKind appends a slice for a phase kind that is in no table.
func unknownKind(t *testing.T, tr *tree) {
	t.Helper()
	e := maps.Clone(eventWith(t, tr, "X", "cat", "scheduler"))
	e["name"], e["cname"] = "quantum_leap(0)", "generic_work"
	tr.Events = append(tr.Events, e)
}

// lossMark appends a slice that shows where records were lost, and its lane.
func lossMark(t *testing.T, tr *tree) {
	t.Helper()
	core := eventWith(t, tr, "M", "name", "AIC_0")
	tid := jsonInt(integerOf(core["tid"]) + 2) // in own form all others are one more than a multiple of three
	name, sort := maps.Clone(core), maps.Clone(core)
	name["tid"], name["args"] = tid, map[string]any{"name": "AIC_0 (lost)"}
	sort["tid"], sort["name"], sort["args"] = tid, "thread_sort_index", map[string]any{"sort_index": tid}
	e := maps.Clone(eventWith(t, tr, "X", "cat", "event"))
	e["pid"], e["tid"], e["cat"], e["name"] = core["pid"], tid, "loss", "2 kernel rows lost"
	delete(e, "id")
	tr.Events = append(tr.Events, name, sort, e)
}

func formCases() []formCase {
	return []formCase{
		{"swap two sub-lanes", "edge/overlap_on_core", "sub-lane reference 0, ours 1", Options{}, func(t *testing.T, tr *tree) {
			a := eventWith(t, tr, "M", "name", "AIC_0 (2)")
			b := tr.Events[tr.find(t, 0, func(e map[string]any) bool {
				return e["ph"] == "M" && e["pid"] == a["pid"] && argsOf(e)["name"] == "AIC_0"
			})]
			a["args"], b["args"] = b["args"], a["args"]
		}},
		{"a process out of order", "edge/overlap_on_core", "pid 4 has process_sort_index 5", Options{}, func(t *testing.T, tr *tree) {
			eventWith(t, tr, "M", "name", "process_sort_index")["args"] = map[string]any{"sort_index": jsonInt(4)}
			for _, e := range tr.Events {
				if e["name"] == "process_sort_index" && integerOf(e["pid"]) == 4 {
					e["args"] = map[string]any{"sort_index": jsonInt(5)}
				}
			}
		}},
		{"a lane out of order", "edge/overlap_on_core", "thread_sort_index of pid", Options{}, func(t *testing.T, tr *tree) {
			eventWith(t, tr, "M", "name", "thread_sort_index")["args"] = map[string]any{"sort_index": jsonInt(1 << 40)}
			eventWith(t, tr, "M", "name", "AIC_0 (3)")["tid"] = jsonInt(1 << 20)
		}},
		{"a reversed edge as in the reference", "edge/receive_before_everything_l1", "arrow differs: reference hb_violation", Options{}, func(t *testing.T, tr *tree) {
			s, f := eventWith(t, tr, "s", "name", "hb_violation"), eventWith(t, tr, "f", "name", "hb_violation")
			for _, k := range []string{"pid", "tid", "ts", "bind_id"} {
				s[k], f[k] = f[k], s[k]
			}
		}},
		{"a reversed edge without its arg", "edge/receive_before_everything_l1", "doesn't say so", Options{}, func(t *testing.T, tr *tree) {
			delete(argsOf(reversedSlice(t, tr, successorsArg)), successorsArg)
		}},
		{"the arg of the other end", "edge/receive_before_everything_l1", "args." + predecessorsArg + " reference absent", Options{}, func(t *testing.T, tr *tree) {
			argsOf(reversedSlice(t, tr, successorsArg))[predecessorsArg] = "t9"
		}},
		{"the arg where there is no such edge", "a2a3sim_tmr_fanin_l4_deps", "args." + successorsArg + " reference absent", Options{}, func(t *testing.T, tr *tree) {
			argsOf(eventWith(t, tr, "X", "cat", "event"))[successorsArg] = "t9"
		}},
		{"an unknown kind", "edge/unknown_phase_kinds", "", Options{UnknownKinds: true}, unknownKind},
		{"an unknown kind unasked", "edge/unknown_phase_kinds", "slice unexpected", Options{}, unknownKind},
		{"a mark of lost records", "edge/overlap_on_core", "", Options{LossMarks: true}, lossMark},
		{"a mark of lost records unasked", "edge/overlap_on_core", "slice unexpected", Options{}, lossMark},
		{"an arrow that can't be drawn", "edge/two_sibling_maps", "outside of every slice", Options{}, func(t *testing.T, tr *tree) {
			s := eventWith(t, tr, "s", "name", "dependency")
			f := eventWith(t, tr, "f", "id", s["id"])
			s, f = maps.Clone(s), maps.Clone(f)
			for _, e := range []map[string]any{s, f} {
				e["name"], e["id"] = "dispatch", jsonInt(1<<30)
				delete(e, "bind_id")
			}
			s["ts"] = jsonFloat(1e6)
			tr.Events = append(tr.Events, s, f)
		}},
		{"an arrow beside its slice", "a2a3sim_tmr_fanin_l4_deps", "arrow end outside of its slice", Options{}, func(t *testing.T, tr *tree) {
			e := eventWith(t, tr, "s", "name", "complete")
			e["ts"] = ns(num(e["ts"]) + 5)
		}},
		{"an arrow on another lane", "a2a3sim_tmr_fanin_l4_deps", "arrow end on another lane", Options{}, func(t *testing.T, tr *tree) {
			e := eventWith(t, tr, "s", "name", "complete")
			e["tid"] = jsonInt(integerOf(e["tid"]) + 30)
		}},
		{"an arrow moved too far", "a2a3sim_tmr_fanin_l4_deps", "arrow differs: reference submit", Options{}, func(t *testing.T, tr *tree) {
			e := eventWith(t, tr, "s", "name", "submit→dispatch")
			e["ts"] = ns(num(e["ts"]) - 0.002)
		}},
		{"an execution's arrow at another one", "edge/spmd_128_to_64", "arrow end outside of its slice", Options{}, func(t *testing.T, tr *tree) {
			e := tr.Events[tr.find(t, 0, func(e map[string]any) bool {
				return e["ph"] == "f" && e["name"] == "dispatch" && e["bind_id"] != nil
			})]
			own := eventWith(t, tr, "X", "id", e["bind_id"])
			hint := argsOf(own)["event-hint"]
			other := tr.Events[tr.find(t, 0, func(o map[string]any) bool {
				return o["pid"] == own["pid"] && argsOf(o)["event-hint"] == hint && o["id"] != own["id"]
			})]
			e["bind_id"] = other["id"]
		}},
	}
}

func TestOurForm(t *testing.T) {
	for _, c := range formCases() {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(Shared(t), "captures", c.capture, "reference/trace.json.gz")
			ref, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tr := ownForm(t, load(t, path))
			c.do(t, tr)
			got := strings.Join(Compare(ref, tr.trace(t), c.options), "\n")
			if !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("want %q, got:\n%s", c.want, got)
			}
		})
	}
}

// TestMovedEnds checks the rules for an arrow's end that cannot stay where the
// reference has it.
func TestMovedEnds(t *testing.T) {
	s := &slice{name: "own", start: 10, end: 20}
	top := &slice{name: "top", start: 14, end: 16}
	tiny := &slice{name: "tiny", start: 30, end: 30.004}
	lanes := &laneSlices{slices: []*slice{s, top, tiny}}
	lanes.index()
	c := &comparison{
		Options: Options{Tolerance: defaultTolerance},
		ours:    &side{onLane: map[laneID]*laneSlices{{}: lanes}},
	}
	for _, x := range []struct {
		own       *slice
		bound     bool
		ref, ours float64
		want      bool
	}{
		{s, false, 20, 19.999, true},
		{s, false, 20.001, 20, true},
		{s, false, 20, 19.998, false},
		{s, false, 19, 18.999, false},
		{s, true, 15, 14, true},
		{s, true, 15, 13.5, true},
		{s, true, 15, 14.5, false},
		{s, true, 13, 12, false},
		{s, false, 15, 14, false},
		{tiny, false, 29.994, 30, true},
		{tiny, false, 29.994, 30.002, false},
		{s, false, 19.99, 10, false},
	} {
		ref := &endItem{half: &half{ts: x.ref}}
		ours := &endItem{half: &half{ts: x.ours}, on: []*slice{x.own}}
		if x.bound {
			ref.bind, ours.bind = x.own, x.own
		}
		if got := c.sameEnd(ref, ours); got != x.want {
			t.Errorf("%s bound %v: reference %v, ours %v: %v, want %v", x.own.name, x.bound, x.ref, x.ours, got, x.want)
		}
	}
}

// TestResidual: what bars of ours say beside the slack is what the reference's metadata
// say of their rank, and is asked of no others.
func TestResidual(t *testing.T) {
	number := func(n string) any { return json.Number(n) }
	of := func(rank, residual string) any {
		return map[string]any{"rank": number(rank), "placement": map[string]any{"join": map[string]any{"residual_ns": number(residual)}}}
	}
	s := &side{trace: &Trace{metadata: map[string]any{"ranks": []any{of("0", "50"), of("3", "0"), map[string]any{"rank": number("4")}}}}}
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"rank": number("0"), "slack_ns": number("7")}, `{"rank": 0, "residual_ns": 50, "slack_ns": 7}`},
		{map[string]any{"rank": number("0"), "slack_ns": number("7"), "device_ts_ns": number("0")}, `{"device_ts_ns": 0, "rank": 0, "slack_ns": 7}`},
		{map[string]any{"rank": number("0")}, `{"rank": 0}`},
		{map[string]any{"rank": number("3"), "slack_ns": number("7")}, `{"rank": 3, "slack_ns": 7}`},
		{map[string]any{"rank": number("4"), "slack_ns": number("7")}, `{"rank": 4, "slack_ns": 7}`},
		{map[string]any{"rank": number("9"), "slack_ns": number("7")}, `{"rank": 9, "slack_ns": 7}`},
	} {
		if got := canonical(s.withResidual(c.args)); got != c.want {
			t.Errorf("%v: got %s, want %s", c.args, got, c.want)
		}
	}
}
