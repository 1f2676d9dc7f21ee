package capture_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"swimlane/capture"
)

const exactKeys = "must contain exactly ['end_cycles', 'kind', 'loop_iter', 'start_cycles', 'task_id', 'tasks_processed']"

// spec/records.md §2.6: the shape of the section.
func TestSchedulerRecordsShape(t *testing.T) {
	base := level3("[]")
	tests := []struct{ section, want string }{
		{`[]`, "scheduler_records must be an object"},
		{`"x"`, "scheduler_records must be an object"},
		{`{}`, "Unsupported scheduler_records schema_version: 0"},
		{`{"streams": []}`, "Unsupported scheduler_records schema_version: 0"},
		{`{"schema_version": 3, "streams": []}`, "Unsupported scheduler_records schema_version: 3"},
		{`{"schema_version": 1}`, "scheduler_records.streams must be an array"},
		{`{"schema_version": 1, "streams": null}`, "scheduler_records.streams must be an array"},
		{`{"schema_version": 1, "streams": {}}`, "scheduler_records.streams must be an array"},
		{`{"schema_version": 1, "streams": 5}`, "scheduler_records.streams must be an array"},
		{`{"schema_version": 1, "streams": [5]}`, "scheduler_records.streams[0] must be an object"},
		{`{"schema_version": 1, "streams": [{"records": []}, null]}`, "scheduler_records.streams[1] must be an object"},
		{`{"schema_version": 1, "streams": [{}]}`, "scheduler stream 0 records/metrics must be arrays"},
		{`{"schema_version": 1, "streams": [{"records": null}]}`, "scheduler stream 0 records/metrics must be arrays"},
		{`{"schema_version": 1, "streams": [{"records": {}}]}`, "scheduler stream 0 records/metrics must be arrays"},
		{`{"schema_version": 1, "streams": [{"records": []}, {"records": [], "metrics": {}}]}`, "scheduler stream 1 records/metrics must be arrays"},
		{`{"schema_version": 1, "streams": [{"metrics": 5, "records": []}]}`, "scheduler stream 0 records/metrics must be arrays"},
		// In the order of the table, whatever the order of the keys.
		{`{"streams": [5], "schema_version": 2}`, "Unsupported scheduler_records schema_version: 2"},
		{`{"streams": 5, "schema_version": 2}`, "Unsupported scheduler_records schema_version: 2"},
		{`{"streams": [{"metrics": [5], "records": 5}], "schema_version": 1}`, "scheduler stream 0 records/metrics must be arrays"},
		{`{"schema_version": 1, "streams": [{"records": [5], "metrics": 5}]}`, "scheduler stream 0 records/metrics must be arrays"},
	}
	for _, tt := range tests {
		e := refuse(t, base.with("scheduler_records", raw(tt.section)).String(), tt.want)
		if e != nil && !errors.Is(e, capture.ErrInvalid) {
			t.Errorf("%s: class %v", tt.section, e.Class)
		}
	}
	accept(t, base.with("scheduler_records", raw(`{"schema_version": "1", "streams": [{"records": [], "metrics": null}, {"records": []}]}`)).String())
}

// spec/records.md §2.6: the records of a stream.
func TestStreamRecordRules(t *testing.T) {
	without := func(key string) string {
		fields := strings.Split(strings.Trim(phase, "{}"), ", ")
		var kept []string
		for _, f := range fields {
			if !strings.HasPrefix(f, `"`+key+`"`) {
				kept = append(kept, f)
			}
		}
		return "{" + strings.Join(kept, ", ") + "}"
	}
	tests := []struct{ records, want string }{
		{`[5]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[[]]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[null]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[{}]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[{"kind": "idle"}]`, "scheduler stream 0 record 0 " + exactKeys}, // R12
		{`[` + phase + `, ` + strings.Replace(phase, `"loop_iter"`, `"loop"`, 1) + `]`, "scheduler stream 0 record 1 " + exactKeys},
		{`[` + phase + `, ` + strings.Replace(phase, `}`, `, "pop_hit": 1}`, 1) + `]`, "scheduler stream 0 record 1 " + exactKeys},
		{`[` + strings.Replace(phase, `{`, `{"shared_at_start": [0, 0, 0], `, 1) + `]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[` + strings.Replace(phase, `20`, `9`, 1) + `]`, "scheduler stream 0 record 0 has a negative interval"},
		{`[` + phase + `,` + phase + `,` + strings.Replace(phase, `10`, `21`, 1) + `,5]`, "scheduler stream 0 record 2 has a negative interval"},
		{`[` + strings.Replace(strings.Replace(phase, `20`, `9`, 1), `}`, `, "x": 1}`, 1) + `]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[{"kind": "idle"},` + strings.Replace(phase, `20`, `9`, 1) + `]`, "scheduler stream 0 record 0 " + exactKeys},
		{`[` + strings.Replace(phase, `20`, `9`, 1) + `,{"kind": "idle"}]`, "scheduler stream 0 record 0 has a negative interval"},
	}
	for _, key := range []string{"start_cycles", "end_cycles", "loop_iter", "kind", "tasks_processed", "task_id"} {
		tests = append(tests, struct{ records, want string }{`[` + without(key) + `]`, "scheduler stream 0 record 0 " + exactKeys})
	}
	for _, tt := range tests {
		refuse(t, level3(`[`+stream(tt.records, "[]")+`]`).String(), tt.want)
		// The first stream that breaks a rule is named.
		second := strings.Replace(tt.want, "stream 0", "stream 1", 1)
		refuse(t, level3(`[`+stream("["+phase+"]", "[]")+`,`+stream(tt.records, "[]")+`,`+stream("[5]", "5")+`]`).String(), second)
	}
	// Equal ends are fine, and so is a record at zero.
	accept(t, level3(`[`+stream(`[`+strings.Replace(phase, `20`, `10`, 1)+`,`+strings.NewReplacer(`20`, `0`, `10`, `0`).Replace(phase)+`]`, "[]")+`]`).String())
}

// spec/records.md §2.6: metrics, in order, and each with its rules in order.
func TestMetricRules(t *testing.T) {
	two := `[` + phase + `,` + phase + `]`
	tests := []struct{ metrics, want string }{
		{`[5]`, "scheduler stream 0 has malformed metrics"},
		{`[null]`, "scheduler stream 0 has malformed metrics"},
		{`[[]]`, "scheduler stream 0 has malformed metrics"},
		{`[{}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"pop_hit": 1}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": null}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": "x"}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": [0]}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": 1.5}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": 2}]`, "scheduler stream 0 metric record_index 2 is out of range"},
		{`[{"record_index": -1}]`, "scheduler stream 0 metric record_index -1 is out of range"},
		{`[{"record_index": 9000000000000000000}]`, "scheduler stream 0 metric record_index 9000000000000000000 is out of range"},
		{`[{"record_index": 18446744073709551615}]`, "scheduler stream 0 metric record_index 18446744073709551615 is out of range"},
		{`[{"record_index": -18446744073709551615}]`, "scheduler stream 0 metric record_index -18446744073709551615 is out of range"},
		{`[{"record_index": "2"}]`, "scheduler stream 0 metric record_index 2 is out of range"},
		{`[{"record_index": 0, "start_cycles": 30}]`, "scheduler stream 0 metric overwrites fixed record fields: ['start_cycles']"}, // R12
		{`[{"task_id": 1, "record_index": 0, "end_cycles": 30, "kind": "x"}]`, "scheduler stream 0 metric overwrites fixed record fields: ['end_cycles', 'kind', 'task_id']"},
		{
			`[{"task_id": 1, "tasks_processed": 1, "loop_iter": 1, "kind": 1, "start_cycles": 1, "end_cycles": 1, "record_index": 1}]`,
			"scheduler stream 0 metric overwrites fixed record fields: ['end_cycles', 'kind', 'loop_iter', 'start_cycles', 'task_id', 'tasks_processed']",
		},
		{`[{"record_index": 2, "kind": 1}]`, "scheduler stream 0 metric record_index 2 is out of range"},
		{`[{"kind": 1}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": 0}, {"record_index": 7}, {}]`, "scheduler stream 0 metric record_index 7 is out of range"},
		{`[{"record_index": 0}, {}, {"record_index": 7}]`, "scheduler stream 0 has malformed metrics"},
		{`[{"record_index": 7}, {"record_index": 0, "kind": 1}]`, "scheduler stream 0 metric record_index 7 is out of range"},
		{`[{"record_index": 0, "kind": 1}, {"record_index": 7}]`, "scheduler stream 0 metric overwrites fixed record fields: ['kind']"},
	}
	for _, tt := range tests {
		refuse(t, level3(`[`+stream(two, tt.metrics)+`]`).String(), tt.want)
		// Also when the metrics stand in front of the records.
		first := `{"metrics": ` + tt.metrics + `, "records": ` + two + `, "producer": "aicpu", "scheduler_id": 0}`
		refuse(t, level3(`[`+first+`]`).String(), tt.want)
		// A bad record is told before a bad metric.
		refuse(t, level3(`[{"metrics": `+tt.metrics+`, "records": [5]}]`).String(), "scheduler stream 0 record 0 "+exactKeys)
	}
	refuse(t, level3(`[`+stream("[]", `[{"record_index": 0}]`)+`]`).String(), "scheduler stream 0 metric record_index 0 is out of range")
}

func TestStreamFields(t *testing.T) {
	text := level3(`[{"platform": "a5", "runtime": "host_build_graph", "producer": "aicore", "scheduler_id": 0, "worker_id": 6, "core_type": "aiv",
		"physical_core_id": 9, "capture": {"committed": 2, "dropped": 0, "truncated": false, "more": []}, "later": {"key": [1]},
		"records": [
			{"start_cycles": 100, "end_cycles": 110, "loop_iter": 3, "kind": "ready_claim", "tasks_processed": 1, "task_id": 7},
			{"task_id": null, "kind": "idle", "tasks_processed": null, "loop_iter": null, "end_cycles": 119, "start_cycles": 111},
			{"start_cycles": "120", "end_cycles": "18446744073709551615", "loop_iter": "-4", "kind": null, "tasks_processed": "5", "task_id": "18446744073709551615"}
		], "metrics": [{"record_index": 0, "claim_retries": 2}]}]`).String()
	rec := accept(t, text)
	if len(rec.Streams) != 1 {
		t.Fatalf("got %d streams", len(rec.Streams))
	}
	st := rec.Streams[0]
	ph := st.Phases
	st.Phases = capture.Phases{}
	equal(t, st, capture.Stream{
		Platform: "a5", Runtime: "host_build_graph", Producer: "aicore", CoreType: "aiv",
		SchedulerID: some(0), WorkerID: some(6), PhysicalCore: some(9),
	})
	if !st.AICore() {
		t.Error("AICore() is false")
	}
	const all = capture.HasTask | capture.HasProcessed | capture.HasLoop
	equal(t, ph.Flags, []uint8{all, 0, all})
	equal(t, ph.Start, []uint64{100, 111, 120})
	equal(t, ph.End, []uint64{110, 119, math.MaxUint64})
	equal(t, ph.Loop, []int64{3, 0, -4})
	equal(t, ph.Processed, []int64{1, 0, 5})
	equal(t, []uint64{ph.Task[0], ph.Task[2]}, []uint64{7, math.MaxUint64})
	equal(t, kindNames(rec, &ph), []string{"ready_claim", "idle", "unknown"})
	if ph.Depth != nil || ph.Extra != nil {
		t.Errorf("depths %v, extras %v", ph.Depth, ph.Extra)
	}
	rec, err := read(text, capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	extra := rec.Streams[0].Phases.Extra
	if len(extra) != 3 || string(extra[0]) != `"claim_retries":2` || extra[1] != nil || extra[2] != nil {
		t.Errorf("got %q", extra)
	}
	// A missing description is absent, and so is one of another type.
	bare := accept(t, level3(`[{"records": [], "platform": 5, "producer": null, "scheduler_id": true, "worker_id": "x", "capture": 7}]`).String())
	equal(t, bare.Streams, []capture.Stream{{}})
}

func kindNames(rec *capture.Records, p *capture.Phases) (names []string) {
	for _, k := range p.Kind {
		names = append(names, rec.Kinds[k].Name)
	}
	return names
}

// spec/records.md §2.6: the extras are merged into the records they name.
func TestMetricsMerge(t *testing.T) {
	three := `[` + phase + `,` + phase + `,` + phase + `]`
	metrics := `[
		{"record_index": 2, "shared_at_start": [1, 2, 3], "shared_at_end": [4, 5, 6], "pop_hit": 7, "pop_miss": 8},
		{"shared_at_start": [9, 9, 9], "record_index": 0},
		{"record_index": 0, "shared_at_end": ["1", 2147483647, 0], "pop_hit": 1},
		{"record_index": 1, "shared_at_start": [1, 2], "shared_at_end": [1, 2, 3]},
		{"record_index": 0, "pop_hit": 2, "a": {"b": [1]}}
	]`
	rec, err := read(level3(`[`+stream(three, metrics)+`]`).String(), capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &rec.Streams[0].Phases
	has := []bool{p.Flags[0]&capture.HasDepths != 0, p.Flags[1]&capture.HasDepths != 0, p.Flags[2]&capture.HasDepths != 0}
	equal(t, has, []bool{true, false, true})
	equal(t, p.Depth[0], capture.Depths{Start: [3]int32{9, 9, 9}, End: [3]int32{1, math.MaxInt32, 0}})
	equal(t, p.Depth[2], capture.Depths{Start: [3]int32{1, 2, 3}, End: [3]int32{4, 5, 6}})
	equal(t, string(p.Extra[2]), `"pop_hit":7,"pop_miss":8`)
	equal(t, string(p.Extra[0]), `"pop_hit":2,"a":{"b":[1]}`) // a later value of the same key counts
	for depths, wantErr := range map[string]bool{
		`[1, 2, 3, 4]`: false, `[]`: false, `{}`: false, `null`: false, `5`: false, `[1, null, 3]`: false, `[[1], 2, 3]`: false,
		`[1, 2147483648, 3]`: true, `[1, 2, -3]`: true, `[1, 2.5, 3]`: true, `["2147483648", 2, 3]`: true,
	} {
		text := level3(`[` + stream(three, `[{"record_index": 0, "shared_at_start": [1, 2, 3], "shared_at_end": `+depths+`}]`) + `]`).String()
		rec, err := read(text, capture.Options{})
		if (err != nil) != wantErr {
			t.Errorf("%s: %v", depths, err)
		}
		if err == nil && rec.Streams[0].Phases.Flags[0]&capture.HasDepths != 0 {
			t.Errorf("%s counts as depths", depths)
		}
		if err != nil && !strings.Contains(err.Error(), "byte ") {
			t.Errorf("%s: no place in %v", depths, err)
		}
	}
}

// spec/records.md §9 no. 3, spec/newest.md §5.4: a stream's place is its scheduler_id.
func TestStreamPlacement(t *testing.T) {
	tests := []struct {
		name  string
		ids   []string // JSON values, in the order of the file
		place []int    // index in the file at each place, −1 for a gap
	}{
		{"in order", []string{"0", "1", "2"}, []int{0, 1, 2}},
		{"out of order", []string{"2", "0", "1"}, []int{1, 2, 0}},
		{"first one missing", []string{"1", "2", "3"}, []int{-1, 0, 1, 2}},
		{"one stream of scheduler 2", []string{"2"}, []int{-1, -1, 0}},
		{"gaps", []string{"3", "1"}, []int{-1, 1, -1, 0}},
		{"repeated", []string{"0", "2", "2"}, []int{0, 1, 2}},
		{"the largest", []string{"255"}, append(gaps(255), 0)},
		{"too large", []string{"256"}, []int{0}},
		{"negative", []string{"-1", "0"}, []int{0, 1}},
		{"missing id", []string{"null", "5"}, []int{0, 1}},
		{"no integer", []string{"true", "5"}, []int{0, 1}},
		{"text", []string{`"x"`, "5"}, []int{0, 1}},
		{"digits", []string{`"1"`, "0"}, []int{1, 0}},
		{"beyond 64 bits with sign", []string{`18446744073709551615`, "0"}, []int{0, 1}},
		{"none", nil, nil},
	}
	for _, tt := range tests {
		var streams []string
		for i, id := range tt.ids {
			streams = append(streams, fmt.Sprintf(`{"scheduler_id": %s, "worker_id": 70, "producer": "aicore", "platform": "p%d", "records": []}`, id, i))
		}
		text := level3("[" + strings.Join(streams, ",") + "]").String()
		checkPlaces(t, tt.name, accept(t, text).Streams, tt.place, len(tt.ids) > 0)
		byOrder, err := read(text, capture.Options{StreamsByAppearance: true})
		if err != nil {
			t.Fatal(err)
		}
		var straight []int
		for i := range tt.ids {
			straight = append(straight, i)
		}
		checkPlaces(t, tt.name+", by appearance", byOrder.Streams, straight, false)
	}
}

func gaps(n int) (place []int) {
	for range n {
		place = append(place, -1)
	}
	return place
}

func checkPlaces(t *testing.T, name string, got []capture.Stream, place []int, common bool) {
	t.Helper()
	if len(got) != len(place) {
		t.Errorf("%s: %d streams, want %d", name, len(got), len(place))
		return
	}
	for i, from := range place {
		if from >= 0 {
			if got[i].Gap || got[i].Platform != fmt.Sprintf("p%d", from) {
				t.Errorf("%s: place %d has %+v, want stream %d", name, i, got[i], from)
			}
			continue
		}
		want := capture.Stream{Gap: true, SchedulerID: some(int64(i)), WorkerID: some(int64(i))}
		if common {
			want.Producer = "aicore"
		}
		equal(t, got[i], want)
	}
}

// A gap inherits the producer only if all streams agree.
func TestGapProducer(t *testing.T) {
	for producers, want := range map[[2]string]string{
		{`"aicpu"`, `"aicpu"`}: "aicpu", {`"aicore"`, `"aicore"`}: "aicore", {`"aicpu"`, `"aicore"`}: "", {`"aicpu"`, `null`}: "",
	} {
		rec := accept(t, level3(fmt.Sprintf(`[{"scheduler_id": 1, "producer": %s, "records": []}, {"scheduler_id": 2, "producer": %s, "records": []}]`, producers[0], producers[1])).String())
		if len(rec.Streams) != 3 || !rec.Streams[0].Gap || rec.Streams[0].Producer != want {
			t.Errorf("%v: got %+v, want %q", producers, rec.Streams, want)
		}
	}
}

// spec/records.md §2.7.
func TestArchivedPhases(t *testing.T) {
	d := doc{
		"chip_swimlane_level": 3, "metadata": clock, "aicpu_tasks": raw("[]"),
		"aicpu_scheduler_phases": raw(`[
			[{"kind": "dispatch", "start_cycles": 5, "end_cycles": 9, "loop_iter": 1, "tasks_processed": 2, "pop_hit": 3, "pop_miss": 4,
			  "shared_at_start": [1, 2, 3], "shared_at_end": [4, 5, 6], "new": "x"},
			 {}, {"kind": "scan", "start_cycles": 9, "end_cycles": 5, "task_id": 18446744073709551615},
			 {"start_cycles": null, "end_cycles": null, "loop_iter": null, "tasks_processed": null, "task_id": null, "kind": null}],
			[], null,
			[{"kind": "frobnicate", "shared_at_start": [1, 2, 3]}]
		]`),
	}
	rec, err := read(d.String(), capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Streams) != 4 {
		t.Fatalf("got %d streams, want 4", len(rec.Streams))
	}
	for i, st := range rec.Streams {
		st.Phases = capture.Phases{}
		equal(t, st, capture.Stream{Order: i, Producer: "aicpu", CoreType: "aicpu", SchedulerID: some(int64(i)), WorkerID: some(int64(i))})
	}
	p := &rec.Streams[0].Phases
	const both = capture.HasProcessed | capture.HasLoop
	equal(t, p.Flags, []uint8{both | capture.HasDepths, 0, capture.HasTask, 0})
	equal(t, p.Start, []uint64{5, 0, 9, 0})
	equal(t, p.End, []uint64{9, 0, 5, 0}) // no rule against negative intervals here
	equal(t, p.Task[2], uint64(math.MaxUint64))
	equal(t, kindNames(rec, p), []string{"dispatch", "unknown", "scan", "unknown"})
	equal(t, p.Depth[0], capture.Depths{Start: [3]int32{1, 2, 3}, End: [3]int32{4, 5, 6}})
	equal(t, string(p.Extra[0]), `"pop_hit":3,"pop_miss":4,"new":"x"`)
	if rec.Streams[1].Phases.Len() != 0 || rec.Streams[2].Phases.Len() != 0 {
		t.Error("empty lists are not empty")
	}
	last := &rec.Streams[3].Phases
	if last.Flags[0]&capture.HasDepths != 0 {
		t.Error("one of the two depth arrays counts as both")
	}
	k := rec.Kinds[last.Kind[0]]
	if k.Name != "frobnicate" || k.Class != capture.Unknown {
		t.Errorf("got %+v", k)
	}
}

func TestArchivedPhasesShape(t *testing.T) {
	base := doc{"chip_swimlane_level": 3, "metadata": clock}
	for _, v := range []string{`{}`, `5`, `[5]`, `[{}]`, `[[5]]`, `[[[]]]`, `[[null]]`, `[[], {}]`} {
		d := base.with("aicpu_scheduler_phases", raw(v))
		refuse(t, d.String(), "aicpu_scheduler_phases must be an array of arrays of objects")
		// Beside scheduler_records the section is ignored without a message.
		d["scheduler_records"] = raw(`{"schema_version": 1, "streams": [` + stream("["+phase+"]", "[]") + `]}`)
		for _, order := range [][]string{sections, reversed(sections)} {
			rec := accept(t, d.text(order))
			if len(rec.Streams) != 1 || rec.Streams[0].Phases.Len() != 1 || len(rec.Warnings) != 0 {
				t.Errorf("%s: got %d streams, warnings %v", v, len(rec.Streams), rec.Warnings)
			}
		}
	}
	// An object without a null in it is told from an absent section.
	if rec := accept(t, base.with("aicpu_scheduler_phases", nil).String()); len(rec.Streams) != 0 {
		t.Errorf("got %d streams", len(rec.Streams))
	}
}

// Kinds of spec/records.md §2.11 and what converter.md says about the unknown ones.
func TestKinds(t *testing.T) {
	classes := map[string]capture.Class{
		"complete": capture.Bar, "async_poll": capture.Bar, "dispatch": capture.Bar, "release": capture.Bar, "dummy": capture.Bar,
		"early_dispatch": capture.Bar, "drain": capture.Bar, "drain_prepare": capture.Bar, "drain_publish": capture.Bar,
		"graph_prepare": capture.Bar, "resolve": capture.Bar, "resolve_standalone": capture.Bar, "bootstrap": capture.Bar,
		"state_probe": capture.Bar, "worksteal": capture.Bar, "refill": capture.Bar, "idle": capture.Bar, "fanin": capture.Bar,
		"ready_claim": capture.Bar, "ready_steal": capture.Bar, "direct_refill": capture.Bar,
		"dummy_task": capture.Marker, "predicated_skip": capture.Marker,
		"scan": capture.Legacy, "poll": capture.Legacy, "fanout": capture.Legacy, "prestage": capture.Legacy, "wire": capture.Legacy,
		"unknown": capture.Unknown, "quantum_leap": capture.Unknown, "Complete": capture.Unknown, "": capture.Unknown,
	}
	var records []string
	for name := range classes {
		records = append(records, strings.Replace(phase, "idle", name, 1))
		records = append(records, strings.Replace(phase, "idle", name, 1))
	}
	rec := accept(t, level3(`[`+stream("["+strings.Join(records, ",")+"]", "[]")+`]`).String())
	seen := map[string]int{}
	for _, k := range rec.Streams[0].Phases.Kind {
		kind := rec.Kinds[k]
		if kind.Class != classes[kind.Name] {
			t.Errorf("%q: class %d, want %d", kind.Name, kind.Class, classes[kind.Name])
		}
		seen[kind.Name]++
	}
	for name := range classes {
		if seen[name] != 2 {
			t.Errorf("%q: %d records, want 2", name, seen[name])
		}
	}
	for i, name := range map[int]string{
		capture.KindComplete: "complete", capture.KindDispatch: "dispatch", capture.KindResolve: "resolve",
		capture.KindResolveStandalone: "resolve_standalone", capture.KindDummy: "dummy", capture.KindGraphPrepare: "graph_prepare",
		capture.KindDummyTask: "dummy_task", capture.KindPredicatedSkip: "predicated_skip", capture.KindIdle: "idle", capture.KindMissing: "unknown",
	} {
		if rec.Kinds[i].Name != name {
			t.Errorf("kind %d is %q, want %q", i, rec.Kinds[i].Name, name)
		}
	}
}

// A file with more kinds than any capture can have is refused.
func TestTooManyKinds(t *testing.T) {
	var records []string
	for i := range 5000 {
		records = append(records, strings.Replace(phase, "idle", fmt.Sprint("kind", i), 1))
	}
	refuse(t, level3(`[`+stream("["+strings.Join(records, ",")+"]", "[]")+`]`).String(), "cannot read "+fileName+": line ")
	accept(t, level3(`[`+stream("["+strings.Join(records[:3000], ",")+"]", "[]")+`]`).String())
}

// spec/converter.md §3.7: which ids can name a graph, and which belong to one.
func TestGraphIDs(t *testing.T) {
	tests := []struct {
		id     uint64
		outer  bool
		graph  uint64
		index  uint32
		member bool
	}{
		{7, true, 0, 7, false},
		{1<<32 | 3073, false, 3, 1, true},
		{1<<32 | (1<<32 - 1), false, 1<<22 - 1, 1023, true},
		{2<<32 | 3073, false, 3, 1, false},
		{math.MaxUint64, false, 1<<22 - 1, 1023, false},
	}
	for _, tt := range tests {
		graph, index, member := capture.HighLow.GraphMember(tt.id)
		if outer := capture.HighLow.GraphOuter(tt.id); outer != tt.outer || member != tt.member || member && (graph != tt.graph || index != tt.index) {
			t.Errorf("%#x: outer %v, graph %d, index %d, member %v", tt.id, outer, graph, index, member)
		}
	}
}
