package capture_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

// A sound capture in which every step of spec/records.md §4.1 has something to
// check, as values that can be spoilt one by one.
func soundDoc(t *testing.T) map[string]any {
	t.Helper()
	const text = `{
		"chip_swimlane_level": 4,
		"metadata": {"clock_freq_hz": 1000000, "orchestrator_source": "host", "host_orchestration_origin_ns": 1000},
		"aicore_tasks": [[0, 7, 1, 100, 110, 0], [0, 8, 2, 120, 130, 0]],
		"scheduler_tasks": {"schema_version": 1, "producer": "aicpu", "records": [[0, 1, 90, 120], [0, 2, 91, 140]]},
		"scheduler_records": {"schema_version": 1, "streams": [{"records": [` + phase + `], "metrics": []}]},
		"aicpu_lifecycle_records": [{"aicpu_thread_id": 0, "handshake_start_cycles": 5}],
		"aicpu_orchestrator_phases": [],
		"host_orchestrator_phases": [[{"submit_idx": 0, "task_id": 7, "start_host_ns": 1000, "end_host_ns": 3000}]],
		"host_device_uploads": [{"phase": "sm_h2d", "start_host_ns": 1000, "end_host_ns": 3000, "detail": 1}]
	}`
	var out map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// violation spoils a document and says what must be reported.
type violation struct {
	name  string
	spoil func(d map[string]any)
	want  string
}

func object(v any) map[string]any { return v.(map[string]any) }

// violations are in the order of spec/records.md §4.1.
var violations = []violation{
	{"no level", func(d map[string]any) { delete(d, "chip_swimlane_level") }, "missing chip_swimlane_level"},
	{"level", func(d map[string]any) { d["chip_swimlane_level"] = 5 }, "Unsupported chip_swimlane_level: 5 (expected 1, 2, 3, or 4)"},
	{"clock", func(d map[string]any) { delete(object(d["metadata"]), "clock_freq_hz") }, "metadata missing/zero clock_freq_hz: 0"},
	{"both", func(d map[string]any) { d["aicpu_tasks"] = []any{} }, "both scheduler_tasks and legacy aicpu_tasks are present"},
	{"version", func(d map[string]any) { delete(object(d["scheduler_tasks"]), "schema_version") }, "Unsupported scheduler_tasks schema_version: 0"},
	{"producer", func(d map[string]any) { object(d["scheduler_tasks"])["producer"] = "host" }, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
	{"columns", func(d map[string]any) {
		s := object(d["scheduler_tasks"])
		s["records"] = append(slices.Clone(s["records"].([]any)), []any{0, 3, 1})
	}, "scheduler_tasks.records must contain four-column arrays"},
	{"lifecycle", func(d map[string]any) { d["aicpu_lifecycle_records"] = map[string]any{} }, "aicpu_lifecycle_records must be an array of objects"},
	{"streams", func(d map[string]any) { object(d["scheduler_records"])["streams"] = 5 }, "scheduler_records.streams must be an array"},
	{"record", func(d map[string]any) {
		s := object(d["scheduler_records"])
		if list, ok := s["streams"].([]any); ok {
			s["streams"] = append(slices.Clone(list), map[string]any{"records": []any{5}})
		}
	}, "scheduler stream 1 record 0 must contain exactly "},
	{"orchestrators", func(d map[string]any) { d["aicpu_orchestrator_phases"] = []any{[]any{}} },
		"both AICPU and host orchestrator phases are present; clock-domain source is ambiguous"},
	{"task row", func(d map[string]any) {
		d["aicore_tasks"] = append(slices.Clone(d["aicore_tasks"].([]any)), []any{1, 9, 1, 110, 100})
	}, "aicore_tasks[2] has invalid timing: expected 0 < start_cycles <= end_cycles"},
	{"task key", func(d map[string]any) {
		d["aicore_tasks"] = append(slices.Clone(d["aicore_tasks"].([]any)), []any{0, 9, 1, 100, 110})
	}, "duplicate aicore_tasks join key: (0, 1)"},
	{"scheduler key", func(d map[string]any) {
		s := object(d["scheduler_tasks"])
		s["records"] = append(slices.Clone(s["records"].([]any)), []any{0, 1, 90, 120})
	}, "scheduler_tasks contains duplicate (core_id, reg_task_id) join keys"},
	{"scheduler timing", func(d map[string]any) {
		s := object(d["scheduler_tasks"])
		s["records"] = append([]any{[]any{5, 5, 120, 90}}, s["records"].([]any)...)
	}, "scheduler_tasks.records[0] has invalid timing: expected 0 < dispatch_cycles <= finish_cycles"},
	{"completeness", func(d map[string]any) {
		d["aicore_tasks"] = append(slices.Clone(d["aicore_tasks"].([]any)), []any{6, 9, 6, 100, 110})
	}, "level 4 requires Scheduler task timing for every AICore task; missing 1 join key(s): (6, 6)"},
	{"upload", func(d map[string]any) {
		d["host_device_uploads"] = []any{map[string]any{"start_host_ns": 999, "end_host_ns": 3000}}
	}, "invalid host device upload: origin=1000, start=999, end=3000"},
	{"submit", func(d map[string]any) {
		d["host_orchestrator_phases"] = []any{[]any{map[string]any{"start_host_ns": 999, "end_host_ns": 3000}}}
	}, "invalid host orchestrator phase: origin=1000, start=999, end=3000"},
}

// excludes names pairs that cannot stand in one file.
func excludes(a, b string) bool {
	switch a + "+" + b {
	case "no level+level", "task row+task key", "streams+record":
		return true
	}
	return false
}

// A file that breaks two rules reports the earlier step, whatever the order of
// its sections and of the keys inside them.
func TestOrderOfChecks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	accept(t, writeDoc(soundDoc(t), sections))
	for i, a := range violations {
		for j, b := range violations {
			if j < i || excludes(a.name, b.name) {
				continue
			}
			d := soundDoc(t)
			a.spoil(d)
			if j > i {
				b.spoil(d)
			}
			orders := [][]string{sections, reversed(sections)}
			for range 4 {
				mixed := slices.Clone(sections)
				r.Shuffle(len(mixed), func(x, y int) { mixed[x], mixed[y] = mixed[y], mixed[x] })
				orders = append(orders, mixed)
			}
			for _, order := range orders {
				if e := refuse(t, writeDoc(d, order), a.want); e == nil || !strings.HasPrefix(e.Error(), a.want) {
					t.Fatalf("%s and %s, order %v", a.name, b.name, order)
				}
			}
		}
	}
}

// writeDoc writes a document with its sections in the given order.
func writeDoc(d map[string]any, order []string) string {
	out := doc{}
	for k, v := range d {
		out[k] = v
	}
	return out.text(order)
}

// Text that is no JSON is refused as such, whatever else is wrong.
func TestSyntaxComesFirst(t *testing.T) {
	for _, v := range violations {
		d := soundDoc(t)
		v.spoil(d)
		text := writeDoc(d, sections)
		for _, bad := range []string{text[:len(text)-1], text + "x", text[:len(text)-1] + ",}"} {
			if e := refuse(t, bad, "cannot read "+fileName+": line "); e != nil && !errors.Is(e, capture.ErrSyntax) {
				t.Errorf("%s: class %v", v.name, e.Class)
			}
		}
	}
}

// spec/records.md §4.1, steps 1 and 2.
func TestLevelAndClock(t *testing.T) {
	for level, want := range map[string]string{
		"0": "Unsupported chip_swimlane_level: 0 (expected 1, 2, 3, or 4)", "5": "Unsupported chip_swimlane_level: 5 (expected 1, 2, 3, or 4)",
		"-1":                    "Unsupported chip_swimlane_level: -1 (expected 1, 2, 3, or 4)",
		"18446744073709551615":  "Unsupported chip_swimlane_level: 18446744073709551615 (expected 1, 2, 3, or 4)",
		"-18446744073709551615": "Unsupported chip_swimlane_level: -18446744073709551615 (expected 1, 2, 3, or 4)",
		`"7"`:                   "Unsupported chip_swimlane_level: 7 (expected 1, 2, 3, or 4)",
		"null":                  "missing chip_swimlane_level",
		"true":                  "cannot read ", "4.0": "cannot read ", "4e0": "cannot read ", `"four"`: "cannot read ", "[4]": "cannot read ",
	} {
		refuse(t, doc{"chip_swimlane_level": raw(level), "metadata": clock}.String(), want)
	}
	for _, meta := range []string{`{}`, `{"clock_freq_hz": 0}`, `{"clock_freq_hz": null}`, `{"clock_freq_hz": "0"}`, `{"clock_freq_hz": -0}`, `null`} {
		refuse(t, doc{"chip_swimlane_level": 1, "metadata": raw(meta)}.String(), "metadata missing/zero clock_freq_hz: 0")
	}
	refuse(t, doc{"chip_swimlane_level": 1}.String(), "metadata missing/zero clock_freq_hz: 0")
	refuse(t, doc{"chip_swimlane_level": 1, "metadata": raw(`{"clock_freq_hz": -5}`)}.String(), "metadata missing/zero clock_freq_hz: -5")
	refuse(t, doc{"chip_swimlane_level": 1, "metadata": raw(`{"clock_freq_hz": 5e7}`)}.String(), "cannot read ")
	for level := 1; level <= 4; level++ {
		for _, text := range []string{itoa(level), `"` + itoa(level) + `"`} {
			rec := accept(t, doc{"chip_swimlane_level": raw(text), "metadata": raw(`{"clock_freq_hz": 18446744073709551615}`)}.String())
			if rec.Level != level || rec.Meta.ClockHz != 1<<64-1 {
				t.Errorf("level %d, clock %d", rec.Level, rec.Meta.ClockHz)
			}
		}
	}
}

// spec/records.md §3: the former name of the level, and files of joined µs.
func TestFormerNames(t *testing.T) {
	old := doc{"l2_swimlane_level": 2, "metadata": clock, "aicpu_tasks": raw("[]")}
	if rec := accept(t, old.String()); rec.Level != 2 || len(rec.Warnings) != 0 {
		t.Errorf("level %d, warnings %v", rec.Level, rec.Warnings)
	}
	for _, order := range [][]string{sections, reversed(sections)} {
		if rec := accept(t, old.with("chip_swimlane_level", 3).text(order)); rec.Level != 3 {
			t.Errorf("level %d, want 3", rec.Level)
		}
		if rec := accept(t, old.with("chip_swimlane_level", nil).text(order)); rec.Level != 2 {
			t.Errorf("level %d, want 2", rec.Level)
		}
	}
	refuse(t, old.with("l2_swimlane_level", 7).String(), "Unsupported chip_swimlane_level: 7 (expected 1, 2, 3, or 4)")
	for _, text := range []string{
		`{"l2_swimlane_level": 2, "tasks": [{"task_id": 1, "start_time_us": 1.5, "duration_us": 2e3}]}`,
		`{"chip_swimlane_level": 2, "tasks": []}`,
		`{"version": 2, "tasks": [{"task_id": 1, "start_time_us": 1.5}]}`,
		`{"version": 1, "tasks": []}`,
	} {
		e := refuse(t, text, "metadata missing/zero clock_freq_hz: 0")
		if e != nil && !strings.Contains(e.Error(), "joined µs") {
			t.Error(e)
		}
	}
	refuse(t, `{"version": 2}`, "missing chip_swimlane_level")
}

// Files that show a later generation and do not say whose ids they carry are
// refused in words (spec/newest.md §2, §5.2).
func TestLaterGenerations(t *testing.T) {
	const unknown = fileName + ": metadata.runtime is 'x', which this module does not decode; expected 'host_build_graph' or 'tensormap_and_ringbuffer'. " +
		"A task id has no self-describing layout, so an unrecognised runtime cannot be decoded by guessing."
	const nameless = fileName + ": metadata.runtime is missing; this capture predates the runtime name and its TaskId layout cannot be determined. " +
		"Re-capture with a current build, which writes 'host_build_graph' or 'tensormap_and_ringbuffer'."
	sevenRow, fiveRow := `[[0,7,7,120,180,10,4]]`, `[[0,7,115,185,4]]`
	epoch := strings.Replace(phase, "}", `, "run_epoch": 4}`, 1)
	named := raw(`{"runtime": "host_build_graph", "clock_freq_hz": 1}`)
	base := doc{"chip_swimlane_level": 3, "metadata": clock, "aicore_tasks": raw("[]")}
	noVersion := raw(`{"producer": "aicpu", "records": []}`)
	tests := []struct {
		name string
		d    doc
		want string
	}{
		{"kernel rows", base.with("aicore_tasks", raw(sevenRow)), nameless},
		{"scheduler rows", base.with("scheduler_tasks", raw(`{"producer": "aicpu", "records": `+fiveRow+`}`)), nameless},
		{"scheduler rows with a version", base.with("scheduler_tasks", schedTasks("1", `"aicpu"`, fiveRow)), nameless},
		{"archived rows", base.with("aicpu_tasks", raw(fiveRow)), nameless},
		{"phases", base.with("scheduler_records", raw(`{"streams": [{"records": []}, {"records": [`+epoch+`, `+epoch+`]}]}`)), nameless},
		{"streams name the runtime", base.with("scheduler_records", raw(`{"streams": [{"runtime": "x", "records": [`+epoch+`]}, {"runtime": "x", "records": []}]}`)), unknown},
		{"streams disagree", base.with("scheduler_records", raw(`{"streams": [{"runtime": "x", "records": [`+epoch+`]}, {"runtime": "y", "records": []}]}`)), nameless},
		{"submits", base.with("aicpu_orchestrator_phases", raw(`[[{"submit_idx": 0, "run_epoch": 1}]]`)), nameless},
		{"a runtime that nobody knows", base.with("metadata", raw(`{"runtime": "x", "clock_freq_hz": 1}`)), unknown},
	}
	for _, tt := range tests {
		for _, order := range [][]string{sections, reversed(sections)} {
			e := refuse(t, tt.d.text(order), tt.want)
			if e != nil && !errors.Is(e, capture.ErrUnsupported) {
				t.Errorf("%s: class %v", tt.name, e.Class)
			}
		}
		// Rules of earlier steps still come first.
		refuse(t, tt.d.with("chip_swimlane_level", 9).String(), "Unsupported chip_swimlane_level: 9")
	}
	// What stands in the place of a name is none, but it is not absent; and nothing of it reaches a terminal unseen.
	for value, shown := range map[string]string{`5`: `5`, `""`: ``, `["x"]`: `["x"]`, `"a\u001b[31m\n"`: "a\ufffd[31m\ufffd"} {
		d := base.with("chip_swimlane_level", 1, "metadata", raw(`{"runtime": `+value+`, "clock_freq_hz": 1}`))
		e := refuse(t, d.String(), fileName+": metadata.runtime is '"+shown+"', which this module does not decode")
		if e != nil && !errors.Is(e, capture.ErrUnsupported) {
			t.Errorf("%s: class %v", value, e.Class)
		}
		refuse(t, d.with("scheduler_records", raw(`{"streams": [{"runtime": "b\u001b", "records": []}]}`)).String(),
			"metadata.runtime is '"+shown+"' but scheduler stream 0 says 'b\ufffd'")
	}
	accept(t, base.with("metadata", raw(`{"runtime": null, "clock_freq_hz": 1}`)).String())
	// With a runtime they are read, versions or not.
	for _, d := range []doc{
		base.with("metadata", named),
		base.with("metadata", named, "scheduler_tasks", noVersion, "scheduler_records", raw(`{"streams": []}`)),
		base.with("metadata", named, "aicore_tasks", raw(sevenRow), "scheduler_tasks", raw(`{"producer": "aicore", "records": `+fiveRow+`}`)),
	} {
		for _, order := range [][]string{sections, reversed(sections)} {
			if rec := accept(t, d.text(order)); rec.Meta.Runtime != "host_build_graph" || rec.Dialect.IDs != capture.Spaces {
				t.Errorf("runtime %q, layout %d", rec.Meta.Runtime, rec.Dialect.IDs)
			}
		}
	}
	// Two places that name different runtimes contradict each other.
	refuse(t, base.with("metadata", named, "scheduler_records", raw(`{"streams": [{"runtime": "host_build_graph", "records": []}, {"runtime": "tensormap_and_ringbuffer", "records": []}]}`)).String(),
		"metadata.runtime is 'host_build_graph' but scheduler stream 1 says 'tensormap_and_ringbuffer'")
	// A version that is there must be 1 in every generation.
	refuse(t, base.with("metadata", named, "scheduler_tasks", schedTasks("2", `"aicpu"`, "[]")).String(), "Unsupported scheduler_tasks schema_version: 2")
	refuse(t, base.with("metadata", named, "scheduler_records", raw(`{"schema_version": 0, "streams": []}`)).String(), "Unsupported scheduler_records schema_version: 0")
	// The first row shows the generation; a later odd one is an error of this one.
	refuse(t, base.with("chip_swimlane_level", 1, "aicore_tasks", raw(`[[0,7,7,120,180,10],[0,8,8,120,180,10,4]]`)).String(), "aicore_tasks[1] must contain five or six columns")
	refuse(t, base.with("scheduler_tasks", schedTasks("1", `"aicpu"`, `[[0,7,115,185],[0,7,115,185,4]]`)).String(), "scheduler_tasks.records mixes row widths [4, 5]")
	refuse(t, base.with("scheduler_records", raw(`{"schema_version": 1, "streams": [{"records": [`+phase+`, `+epoch+`]}]}`)).String(), "scheduler stream 0 record 1 "+exactKeys)
	refuse(t, base.with("scheduler_records", raw(`{"schema_version": 1, "streams": [{"records": [`+epoch+`, `+phase+`]}]}`)).String(),
		"scheduler stream 0 record 1 must contain exactly ['end_cycles', 'kind', 'loop_iter', 'run_epoch', 'start_cycles', 'task_id', 'tasks_processed']")
}
